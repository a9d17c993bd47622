//! What a snapshot holds, by name: never a value.

use std::collections::BTreeSet;

/// A name as the shell has it: it need not be UTF-8.
pub type Name = Vec<u8>;

/// What a snapshot holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Functions, autoloaded ones included.
    pub functions: BTreeSet<Name>,
    /// Aliases of every kind.
    pub aliases: BTreeSet<Name>,
    /// Variables that are not exported (the exported ones are the environment's difference).
    pub variables: BTreeSet<Name>,
    /// Options that are not as a bare shell has them.
    pub options: BTreeSet<Name>,
    /// What the startup files made and the snapshot does not hold.
    pub left_out: Vec<LeftOut>,
}

/// Something that a snapshot does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, with its kind where that is not clear: `trap EXIT`, `function f`.
    pub what: Name,
    /// Why, for people: "cannot be restored: made by eval, and dash cannot print functions".
    pub why: &'static str,
}
