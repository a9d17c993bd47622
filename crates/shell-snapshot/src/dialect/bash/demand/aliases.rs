//! Aliases: those that a script uses must stand for plain words.

use super::context::{Proof, Unproven};
use super::grammar::is_reserved;
use super::scan::Scanner;
use super::words::Word;
use exec_protocol::limits::SNAPSHOT_ALIAS_CHAIN;

impl<'a> Scanner<'a> {
    /// What an unquoted word is an alias of.
    pub(super) fn alias(&self, word: &Word<'a>) -> Option<&'a [u8]> {
        let name = word.plain().filter(|_| self.has_aliases)?;
        self.context.aliases.get(name).map(Vec::as_slice)
    }

    /// A word that is not the name of a command: an alias that ends in a blank may have it expanded as well.
    pub(super) fn check_alias_elsewhere(&mut self, word: &Word<'a>) -> Proof {
        let Some(value) = self.alias(word) else {
            return Ok(());
        };
        if is_reserved(word.raw) {
            return Err(Unproven("has an alias of a reserved word"));
        }
        for word in plain_words(value)? {
            if super::builtins::is_builtin(word) {
                return Err(Unproven("may have an alias of a builtin as an argument"));
            }
            self.name(word);
        }
        Ok(())
    }

    /// The words of a command with its alias expanded. `None`: it has none.
    pub(super) fn with_alias(&mut self, words: &[Word<'a>]) -> Proof<Option<Vec<Word<'a>>>> {
        let Some(value) = words.first().and_then(|first| self.alias(first)) else {
            return Ok(None);
        };
        let mut value = value;
        let mut seen: Vec<&[u8]> = vec![words[0].raw];
        let mut expanded: Vec<Word<'a>> = words[1..].to_vec();
        loop {
            let mut put_in: Vec<Word<'a>> = plain_words(value)?.into_iter().map(Word::of_alias).collect();
            for word in &put_in {
                self.name(&word.text);
            }
            for word in &put_in[1..] {
                self.check_alias_elsewhere(word)?;
            }
            put_in.append(&mut expanded);
            expanded = put_in;
            let first = &expanded[0];
            match self.alias(first) {
                Some(next) if !seen.contains(&first.raw) && seen.len() < SNAPSHOT_ALIAS_CHAIN => {
                    seen.push(first.raw);
                    value = next;
                    expanded.remove(0);
                }
                Some(_) if !seen.contains(&first.raw) => return Err(Unproven("has many aliases in a row")),
                _ => return Ok(Some(expanded)),
            }
        }
    }
}

/// The words of an alias, all of them plain: nothing in them means anything to the shell.
fn plain_words(value: &[u8]) -> Proof<Vec<&[u8]>> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _./=:,+@%-".contains(byte);
    let words: Vec<&[u8]> = value
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty())
        .collect();
    let is_reserved = words.iter().any(|word| is_reserved(word));
    let has_command = words.first().is_some_and(|first| !first.contains(&b'='));
    if !value.iter().all(is_plain) || is_reserved || !has_command {
        return Err(Unproven("uses an alias that is more than plain words"));
    }
    Ok(words)
}
