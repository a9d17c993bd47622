//! What the `names` of a capture say, and what was taken away before it.

use crate::Failure;
use crate::inventory::{Inventory, LeftOut, Name};

/// Reads records of a kind, a space and a name, each ended by NUL. `traps`: the listing of `trap`.
///
/// # Errors
/// [`Failure::InvalidCapture`] for a record of no known kind.
pub(super) fn read(names: &[u8], traps: &[u8]) -> Result<Inventory, Failure> {
    let mut inventory = Inventory::default();
    for record in names.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
        let space = memchr::memchr(b' ', record).ok_or(Failure::InvalidCapture)?;
        let (kind, name) = (&record[..space], record[space + 1..].to_vec());
        match kind {
            b"function" => inventory.functions.insert(name),
            b"alias" => inventory.aliases.insert(name),
            b"variable" => !is_constant(&name) && inventory.variables.insert(name),
            b"option" => inventory.options.insert(name),
            b"left" => {
                inventory.left_out.push(left_out(name));
                true
            }
            b"completion" => {
                inventory.left_out.push(LeftOut {
                    what: [b"variable ", name.as_slice()].concat(),
                    why: "only completion reads it, at a prompt",
                });
                true
            }
            b"unreadable" => {
                inventory.left_out.push(LeftOut {
                    what: [b"function ", name.as_slice()].concat(),
                    why: "zsh cannot read again what it lists of it",
                });
                true
            }
            _ => return Err(Failure::InvalidCapture),
        };
    }
    for signal in ["EXIT", "DEBUG"] {
        let ending = format!(" {signal}");
        if traps
            .split(|&byte| byte == b'\n')
            .any(|line| line.starts_with(b"trap -- ") && line.ends_with(ending.as_bytes()))
        {
            inventory
                .left_out
                .push(left_out(format!("trap {signal}").into_bytes()));
        }
    }
    Ok(inventory)
}

fn left_out(what: Name) -> LeftOut {
    LeftOut {
        what,
        why: "it would run at every command or at its end",
    }
}

/// Whether every zsh of that build has it by itself, with the same value.
fn is_constant(name: &[u8]) -> bool {
    matches!(
        name,
        b"CPUTYPE"
            | b"MACHTYPE"
            | b"OSTYPE"
            | b"VENDOR"
            | b"ZSH_NAME"
            | b"ZSH_PATCHLEVEL"
            | b"ZSH_VERSION"
            | b"signals"
    )
}
