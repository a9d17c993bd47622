//! A state taken apart: which of its functions a script needs.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::context::{Context, Found};
use super::scan::prove;
use crate::inventory::Name;

/// Where exported functions may come out in another order if some are away: bash gives its table of functions more
/// room from this many on.
const MAX_FUNCTIONS: usize = 1000;

/// What a state is made of.
#[derive(Debug)]
pub(in crate::dialect::bash) struct Source<'a> {
    /// All of it.
    pub(in crate::dialect::bash) text: &'a [u8],
    /// Functions in the order of their definitions, which follow one another in `text` up to `functions_end`.
    pub(in crate::dialect::bash) functions: &'a [(Name, Vec<u8>)],
    pub(in crate::dialect::bash) functions_end: usize,
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
            kept,
            aliases,
            integers,
            arrays,
            traps,
        } = source;
        if functions.is_empty() || functions.len() > MAX_FUNCTIONS {
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
            always,
        };
        // What every script needs must not need all.
        demand.needed(Found::default())?;
        Some(demand)
    }

    /// The state with no more of its functions than a script needs. `None`: it needs all, or may.
    pub(in crate::dialect::bash) fn cut(&self, state: &[u8], script: &[u8]) -> Option<Vec<u8>> {
        let needed = self.needed(prove(script, &self.context, true).ok()?)?;
        let mut cut = state.get(..self.definitions.start)?.to_vec();
        let mut at = self.definitions.start;
        let kept = self
            .functions
            .iter()
            .zip(needed)
            .filter(|(function, is_needed)| *is_needed || function.is_kept);
        for (function, _) in kept {
            if function.definition.start != at {
                cut.extend(continue_at(function.line));
            }
            cut.extend(state.get(function.definition.clone())?);
            at = function.definition.end;
        }
        if at != self.definitions.end {
            cut.extend(continue_at(self.last_line));
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

/// A line behind which the shell counts on from this number, as if what is left out stood there. It uses nothing that
/// could be shadowed: a redirection that changes nothing has it assign to LINENO.
fn continue_at(line: usize) -> Vec<u8> {
    format!("{{ [[ x ]]; }} 9<&${{BASH:LINENO={}:0}}-\n", line - 1).into_bytes()
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
