//! A state taken apart: which of its functions a script needs.

use exec_protocol::limits::{SNAPSHOT_DEMAND_FUNCTIONS, SNAPSHOT_EMPTY_LINES};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::context::{Context, Found};
use super::scan::prove;
use crate::inventory::Name;

/// What a state is made of.
#[derive(Debug)]
pub(in crate::dialect::bash) struct Source<'a> {
    /// All of it.
    pub(in crate::dialect::bash) text: &'a [u8],
    /// Functions in the order of their definitions, which follow one another in `text` up to `functions_end`.
    pub(in crate::dialect::bash) functions: &'a [(Name, Vec<u8>)],
    pub(in crate::dialect::bash) functions_end: usize,
    /// Where what prepares the reading of functions begins: nothing of it is needed for such as are proven.
    pub(in crate::dialect::bash) head_end: usize,
    /// What follows the functions, less what undoes that.
    pub(in crate::dialect::bash) unguarded_group: Vec<u8>,
    /// Functions that are there whatever the script needs: what they reach is not, unless they are needed.
    pub(in crate::dialect::bash) kept: BTreeSet<&'a [u8]>,
    pub(in crate::dialect::bash) aliases: HashMap<Name, Vec<u8>>,
    /// Variables that evaluate what is assigned to them.
    pub(in crate::dialect::bash) integers: BTreeSet<Name>,
    /// Variables that are arrays.
    pub(in crate::dialect::bash) arrays: BTreeSet<Name>,
    /// Commands that traps run.
    pub(in crate::dialect::bash) traps: Vec<Vec<u8>>,
}

/// A state, ready to be cut down to what a script needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Demand {
    context: Context,
    functions: Vec<Function>,
    /// Where the definitions stand.
    definitions: Range<usize>,
    /// The number of the line behind the definitions.
    last_line: usize,
    /// As in [`Source`].
    head_end: usize,
    unguarded_group: Vec<u8>,
    /// Needed by every script.
    always: Found,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    definition: Range<usize>,
    /// The number of its first line: messages and LINENO tell.
    line: usize,
    is_kept: bool,
    /// What it does. `None`: it may reach any.
    found: Option<Found>,
}

impl Demand {
    /// Takes a state apart. `None`: every script needs all of it.
    pub(in crate::dialect::bash) fn new(source: Source<'_>) -> Option<Self> {
        let Source {
            text,
            functions,
            functions_end,
            head_end,
            unguarded_group,
            kept,
            aliases,
            integers,
            arrays,
            traps,
        } = source;
        if functions.is_empty() || functions.len() > SNAPSHOT_DEMAND_FUNCTIONS {
            return None;
        }
        let mut context = Context {
            functions: HashMap::new(),
            aliases,
            integers,
            arrays,
        };
        for (index, (name, _)) in functions.iter().enumerate() {
            context.functions.insert(name.clone(), u32::try_from(index).ok()?);
        }
        let length: usize = functions.iter().map(|(_, definition)| definition.len()).sum();
        let start = functions_end.checked_sub(length)?;
        let mut line = 1 + count_lines(&text[..start]);
        let mut at = start;
        let mut read = Vec::with_capacity(functions.len());
        for (name, definition) in functions {
            let head = [b"function ", &name[..], b" () \n"].concat();
            let found = definition
                .strip_prefix(&head[..])
                .and_then(|body| prove(body, &context, false).ok());
            read.push(Function {
                definition: at..at + definition.len(),
                line,
                is_kept: kept.contains(&name[..]),
                found: found.map(without_doubles),
            });
            at += definition.len();
            line += count_lines(definition);
        }
        let mut always = Found::default();
        if let Some(&function) = context.functions.get(&b"command_not_found_handle"[..]) {
            always.functions.push(function);
        }
        for trap in &traps {
            always.extend(&prove(trap, &context, true).ok()?);
        }
        let demand = Self {
            context,
            functions: read,
            definitions: start..functions_end,
            last_line: line,
            head_end,
            unguarded_group,
            always,
        };
        // What every script needs must not need all.
        demand.needed(Found::default())?;
        Some(demand)
    }

    /// The state with no more of its functions than a script needs. `None`: it needs all, or may.
    pub(in crate::dialect::bash) fn cut(&self, state: &[u8], script: &[u8]) -> Option<Vec<u8>> {
        let needed = self.needed(prove(script, &self.context, true).ok()?)?;
        let kept: Vec<&Function> = self
            .functions
            .iter()
            .zip(needed)
            .filter_map(|(function, is_needed)| (is_needed || function.is_kept).then_some(function))
            .collect();
        // What was proven was read, and holds none of the patterns that have to be turned on.
        let is_guarded = kept.iter().any(|function| function.found.is_none());
        let head_end = if is_guarded {
            self.definitions.start
        } else {
            self.head_end
        };
        let head = state.get(..head_end)?;
        let mut cut = head.to_vec();
        let mut at = self.definitions.start;
        let mut line = 1 + count_lines(head);
        for function in kept {
            if function.line != line {
                continue_at(function.line, line, &mut cut);
            }
            let definition = state.get(function.definition.clone())?;
            cut.extend(definition);
            line = function.line + count_lines(definition);
            at = function.definition.end;
        }
        if !is_guarded {
            cut.extend(&self.unguarded_group);
            return Some(cut);
        }
        if at != self.definitions.end {
            continue_at(self.last_line, line, &mut cut);
        }
        cut.extend(state.get(self.definitions.end..)?);
        Some(cut)
    }

    /// For each function, whether it is needed by what a script does. `None`: all may be.
    fn needed(&self, script: Found) -> Option<Vec<bool>> {
        let mut needed = vec![false; self.functions.len()];
        let mut all = script;
        all.extend(&self.always);
        while let Some(function) = all.functions.pop() {
            let function = function as usize;
            if !std::mem::replace(&mut needed[function], true) {
                all.extend(self.functions[function].found.as_ref()?);
            }
        }
        let is_array = |name: &Name| self.context.arrays.contains(name) || all.arrays.contains(name);
        (!all.declared.iter().any(is_array)).then_some(needed)
    }
}

/// Has the shell count on from a line with this number, as if what is left out stood there, where the next would have
/// the number `line`. What is far away takes a line that uses nothing that could be shadowed: a redirection that changes
/// nothing has the shell assign to LINENO.
fn continue_at(wanted: usize, line: usize, text: &mut Vec<u8>) {
    match wanted.checked_sub(line) {
        Some(missing) if missing <= SNAPSHOT_EMPTY_LINES => text.extend(std::iter::repeat_n(b'\n', missing)),
        _ => text.extend(format!("{{ [[ x ]]; }} 9<&${{BASH:LINENO={}:0}}-\n", wanted - 1).into_bytes()),
    }
}

fn count_lines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

fn without_doubles(mut found: Found) -> Found {
    found.functions.sort_unstable();
    found.functions.dedup();
    for names in [&mut found.arrays, &mut found.declared] {
        names.sort_unstable();
        names.dedup();
    }
    found
}
