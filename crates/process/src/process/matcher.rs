//! Finds a pattern in streams that come in chunks.

use std::ops::Range;

use bytes::Bytes;
use exec_protocol::Stream;
use exec_protocol::limits::REGEX_BYTES;
use exec_protocol::process::OutputMatch;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use super::WaitError;

/// Bytes kept before a window that has slid, so that `^` and `\b` see what stood there: one character.
const CONTEXT_BYTES: usize = 4;

/// What to find.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// These bytes.
    Literal(Box<Finder<'static>>),
    /// What a regular expression matches.
    Regex {
        regex: Regex,
        /// No match is longer, bytes.
        longest: usize,
    },
}

impl Pattern {
    /// Reads exactly one of a literal and a regular expression.
    pub(crate) fn new(
        literal: Option<&str>,
        regex: Option<&str>,
        max_match_bytes: usize,
    ) -> Result<Self, WaitError> {
        match (literal, regex) {
            (Some(""), None) => Err(invalid("until.literal", "must not be empty")),
            (Some(literal), None) if literal.len() > max_match_bytes => Err(invalid(
                "until.literal",
                &format!("must not be longer than {max_match_bytes} bytes"),
            )),
            (Some(literal), None) => Ok(Self::Literal(Box::new(Finder::new(literal).into_owned()))),
            (None, Some(regex)) => RegexBuilder::new(regex)
                .size_limit(REGEX_BYTES)
                .dfa_size_limit(REGEX_BYTES)
                .build()
                .map(|built| Self::Regex {
                    regex: built,
                    longest: longest_match(regex)
                        .map_or(max_match_bytes, |longest| longest.min(max_match_bytes)),
                })
                .map_err(|error| invalid("until.regex", &error.to_string())),
            _ => Err(invalid("until", "give exactly one of `literal` and `regex`")),
        }
    }
}

/// How long a match of an expression may be, if there is a bound: then less of what has come needs to be looked at
/// again with each chunk. What stands around a match (`\b`) may take a character more to tell.
fn longest_match(regex: &str) -> Option<usize> {
    let mut parser = regex_syntax::ParserBuilder::new().utf8(false).build();
    let bound = parser.parse(regex).ok()?.properties().maximum_len()?;
    bound.checked_add(CONTEXT_BYTES)
}

fn invalid(member: &'static str, reason: &str) -> WaitError {
    WaitError::Invalid {
        member,
        reason: reason.to_owned(),
    }
}

/// Looks for a pattern in one stream, or in each of all. Chunks of one stream are fed in order; the first match
/// to be complete is the one found. `$` is the end of what has come so far, as it is for a prompt.
#[derive(Debug)]
pub(crate) struct Matcher {
    pattern: Pattern,
    only: Option<Stream>,
    from_offset: u64,
    max_match_bytes: usize,
    windows: Vec<(Stream, Window)>,
    found: Option<OutputMatch>,
}

/// The end of a stream that may still be part of a match.
#[derive(Debug, Default)]
struct Window {
    bytes: Vec<u8>,
    /// Of `bytes[0]` in the stream.
    base: u64,
    /// Where in `bytes` a match may begin; what stands before is context.
    begin: usize,
}

impl Matcher {
    /// Looks in `only` (or every stream) from an offset of it.
    pub(crate) fn new(
        pattern: Pattern,
        only: Option<Stream>,
        from_offset: u64,
        max_match_bytes: usize,
    ) -> Self {
        Self {
            pattern,
            only,
            from_offset,
            max_match_bytes,
            windows: Vec::new(),
            found: None,
        }
    }

    /// The match, once found.
    pub(crate) fn found(&self) -> Option<OutputMatch> {
        self.found
    }

    /// Takes the next chunk of a stream; true when this one completed the match.
    pub(crate) fn feed(&mut self, stream: Stream, offset: u64, bytes: &Bytes) -> bool {
        if self.found.is_some() || self.only.is_some_and(|only| only != stream) || bytes.is_empty() {
            return false;
        }
        let index = match self.windows.iter().position(|(other, _)| *other == stream) {
            Some(index) => index,
            None => {
                self.windows.push((stream, Window::default()));
                self.windows.len() - 1
            }
        };
        let Some((_, window)) = self.windows.get_mut(index) else {
            return false;
        };
        let skip = usize::try_from(self.from_offset.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let (context, searched) = bytes.split_at(skip);
        let found = match &self.pattern {
            Pattern::Literal(finder) => window.find_literal(finder, offset + skip as u64, searched),
            Pattern::Regex { regex, longest } => {
                let max = self.max_match_bytes;
                window.find_regex(regex, *longest, offset, context, searched, max)
            }
        };
        self.found = found.map(|(offset, length)| OutputMatch {
            stream,
            offset,
            length: length as u64,
        });
        self.found.is_some()
    }
}

impl Window {
    /// Keeps only the needle's length less one, so each byte is looked at about once.
    fn find_literal(&mut self, finder: &Finder<'_>, offset: u64, bytes: &[u8]) -> Option<(u64, usize)> {
        let length = finder.needle().len();
        let overlap = length - 1;
        // What began in an earlier chunk is complete first.
        if !self.bytes.is_empty() {
            let kept = self.bytes.len();
            self.bytes.extend_from_slice(&bytes[..overlap.min(bytes.len())]);
            if let Some(at) = finder.find(&self.bytes) {
                return Some((self.base + at as u64, length));
            }
            if bytes.len() < overlap {
                let surplus = self.bytes.len().saturating_sub(overlap);
                self.bytes.drain(..surplus);
                self.base += surplus as u64;
                return None;
            }
            self.bytes.truncate(kept);
        }
        if let Some(at) = finder.find(bytes) {
            return Some((offset + at as u64, length));
        }
        let tail = bytes.len().saturating_sub(overlap);
        self.bytes.clear();
        self.bytes.extend_from_slice(&bytes[tail..]);
        self.base = offset + tail as u64;
        None
    }

    /// Keeps as much as the longest match may have; takes `bytes` in steps of a fixed length.
    fn find_regex(
        &mut self,
        regex: &Regex,
        longest: usize,
        offset: u64,
        context: &[u8],
        bytes: &[u8],
        max_match_bytes: usize,
    ) -> Option<(u64, usize)> {
        if self.bytes.is_empty() {
            self.base = offset;
            if offset > 0 {
                // The start of the log is not the start of the stream: `^` must not match here.
                self.bytes.push(0);
                self.base -= 1;
                self.begin = 1;
            }
        }
        if !context.is_empty() {
            self.bytes.extend_from_slice(context);
            self.begin = self.bytes.len();
            self.slide(self.begin);
        }
        let mut rest = bytes;
        // In steps, so that what is found does not hang on how large the chunks were.
        while !rest.is_empty() {
            let (step, after) = rest.split_at(rest.len().min(max_match_bytes));
            rest = after;
            self.bytes.extend_from_slice(step);
            if let Some(found) = self.find_short(regex, max_match_bytes) {
                return Some((self.base + found.start as u64, found.len()));
            }
            self.slide(self.bytes.len().saturating_sub(longest));
        }
        None
    }

    /// The leftmost match, if it is no longer than the limit; else one that begins later, for `a+b` at the end of
    /// too many `a`. Two searches at most, so that the time is as the bytes; a match that overlaps with both of
    /// two that are too long is not found.
    fn find_short(&self, regex: &Regex, max_match_bytes: usize) -> Option<Range<usize>> {
        let fits = |found: &Range<usize>| found.len() <= max_match_bytes;
        let first = regex.find_at(&self.bytes, self.begin)?.range();
        if fits(&first) {
            return Some(first);
        }
        // What ended before this step was found then. So what is still to be found, and ends no later than this
        // one, begins here or later.
        let later = first.end - max_match_bytes;
        regex
            .find_at(&self.bytes, later)
            .map(|found| found.range())
            .filter(fits)
    }

    /// No match begins before `begin` any more.
    fn slide(&mut self, begin: usize) {
        self.begin = self.begin.max(begin);
        let surplus = self.begin.saturating_sub(CONTEXT_BYTES);
        // Only once it is as much as what is kept: what is moved is then paid for by what has come.
        if surplus < self.bytes.len() - surplus {
            return;
        }
        self.bytes.drain(..surplus);
        self.base += surplus as u64;
        self.begin -= surplus;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: usize = 32;

    fn literal(text: &str) -> Pattern {
        Pattern::new(Some(text), None, MAX).expect("valid")
    }

    fn regex(text: &str) -> Pattern {
        Pattern::new(None, Some(text), MAX).expect("valid")
    }

    /// Feeds a text cut at the given places; gives the match and how many bytes had been fed.
    fn feed(pattern: &Pattern, from: u64, text: &[u8], cuts: &[usize]) -> Option<(u64, u64, usize)> {
        let mut matcher = Matcher::new(pattern.clone(), None, from, MAX);
        let mut begin = 0;
        let ends = cuts.iter().map(|cut| cut % (text.len() + 1)).chain([text.len()]);
        let mut ends: Vec<usize> = ends.collect();
        ends.sort_unstable();
        for end in ends {
            matcher.feed(
                Stream::Stdout,
                begin as u64,
                &Bytes::copy_from_slice(&text[begin..end]),
            );
            if let Some(found) = matcher.found() {
                return Some((found.offset, found.length, end));
            }
            begin = end;
        }
        None
    }

    proptest! {
        #[test]
        fn a_literal_is_found_as_in_the_whole(
            text in "[ab]{0,60}",
            needle in "[ab]{1,5}",
            cuts in prop::collection::vec(any::<usize>(), 0..12),
            from in 0..20u64,
        ) {
            let begin = (from as usize).min(text.len());
            let want = text[begin..].find(&needle).map(|at| ((begin + at) as u64, needle.len() as u64));
            let got = feed(&literal(&needle), from, text.as_bytes(), &cuts).map(|(at, length, _)| (at, length));
            prop_assert_eq!(got, want);
        }

        #[test]
        fn a_regex_is_found_as_in_what_has_come(
            text in "[abé\n ]{0,80}",
            pattern in prop::sample::select(vec![
                "ab", "a+b", "^b", "(?m)^b", "\\bab\\b", "b$", "a{3}", "(?m)a$", "^a", "\\Ba", "b\\b", "a b", "a\\B", "(a|bb)+ ", "é?\\b ", "",
            ]),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
            from in 0..20u64,
        ) {
            let pattern = regex(pattern);
            let Pattern::Regex { regex: model, .. } = &pattern else { unreachable!() };
            let got = feed(&pattern, from, text.as_bytes(), &cuts);
            // The model: after each step the whole of what has come is searched.
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).chain([text.len()]).collect();
            ends.sort_unstable();
            let mut steps = Vec::new();
            let mut begin = 0;
            for end in ends {
                let mut at = begin.max((from as usize).min(end));
                while at < end {
                    at = (at + MAX).min(end);
                    steps.push((at, end));
                }
                begin = end;
            }
            let want = steps.into_iter().find_map(|(come, end)| {
                let found = model.find_at(&text.as_bytes()[..come], (from as usize).min(come))?;
                Some((found.start() as u64, found.len() as u64, end))
            });
            // Longer matches than the limit are not promised.
            prop_assume!(want.is_none_or(|(_, length, _)| length as usize <= MAX));
            prop_assert_eq!(got, want);
        }
    }

    proptest! {
        #[test]
        fn no_match_is_longer_than_the_limit(
            text in "[ab\n]{0,20}a{0,90}[ab\n]{0,30}a{0,60}[ab]{0,20}",
            pattern in prop::sample::select(vec!["a+b", "a+", "(?s).*b", "a+$", "\\ba+\\n", "(?m)^a*b", "b.*\\n|ab"]),
            cuts in prop::collection::vec(any::<usize>(), 0..12),
            from in 0..20u64,
        ) {
            let pattern = regex(pattern);
            let Pattern::Regex { regex: model, .. } = &pattern else { unreachable!() };
            if let Some((at, length, come)) = feed(&pattern, from, text.as_bytes(), &cuts) {
                prop_assert!(length <= MAX as u64, "{length} bytes");
                // And it is one, of what had come within this chunk.
                let (at, end) = (at as usize, (at + length) as usize);
                let is_one = (end..=come).any(|come| {
                    model.find_at(&text.as_bytes()[..come], at).is_some_and(|found| found.range() == (at..end))
                });
                prop_assert!(is_one, "{at}..{end}");
            }
        }
    }

    #[test]
    fn of_a_match_that_is_too_long_the_end_is_found() {
        let text = "a".repeat(3 * MAX) + "b" + &"c".repeat(MAX);
        for cuts in [&[][..], &[3 * MAX], &[10, 3 * MAX - 1, 3 * MAX + 2]] {
            let (at, length, _) = feed(&regex("a+b"), 0, text.as_bytes(), cuts).expect("found");
            assert_eq!(at + length, 3 * MAX as u64 + 1, "{cuts:?}");
            assert!(length as usize <= MAX, "{length}");
        }
        // One that has no shorter part is none, and what follows is found.
        let text = "x".to_owned() + &"a".repeat(MAX) + "y" + &"a".repeat(MAX) + "xy";
        let found = feed(&regex("xa*y"), 0, text.as_bytes(), &[]);
        assert_eq!(
            found.map(|(at, length, _)| (at, length)),
            Some((2 * MAX as u64 + 2, 2))
        );
    }

    #[test]
    fn anchors_hold_after_the_window_slid() {
        let text = "x".repeat(10 * MAX) + "yes";
        assert_eq!(feed(&regex("^yes"), 0, text.as_bytes(), &[50, 100, 300]), None);
        assert_eq!(
            feed(&regex(r"\byes"), 0, text.as_bytes(), &[50, 100, 300, 320]),
            None
        );
        let text = "x".repeat(10 * MAX) + "\nyes";
        let got = feed(&regex("(?m)^yes"), 0, text.as_bytes(), &[50, 100, 321]);
        assert_eq!(got, Some((321, 3, 324)));
    }

    #[test]
    fn a_log_that_was_evicted_at_the_head_is_not_the_start_of_the_stream() {
        let mut matcher = Matcher::new(regex("^a"), None, 0, MAX);
        assert!(!matcher.feed(Stream::Stdout, 10, &Bytes::from_static(b"abc")));
        let mut matcher = Matcher::new(regex("b"), None, 0, MAX);
        assert!(matcher.feed(Stream::Stdout, 10, &Bytes::from_static(b"abc")));
        assert_eq!(matcher.found().map(|found| found.offset), Some(11));
    }

    #[test]
    fn streams_do_not_mix() {
        let mut matcher = Matcher::new(literal("ab"), None, 0, MAX);
        assert!(!matcher.feed(Stream::Stdout, 0, &Bytes::from_static(b"a")));
        assert!(!matcher.feed(Stream::Stderr, 0, &Bytes::from_static(b"b")));
        assert!(matcher.feed(Stream::Stdout, 1, &Bytes::from_static(b"b")));
        let mut matcher = Matcher::new(literal("b"), Some(Stream::Stdout), 0, MAX);
        assert!(!matcher.feed(Stream::Stderr, 0, &Bytes::from_static(b"b")));
    }

    #[test]
    fn what_is_no_pattern_is_refused_by_name() {
        let long = "x".repeat(MAX + 1);
        for (literal, regex, want) in [
            (None, None, "until"),
            (Some("a"), Some("a"), "until"),
            (Some(""), None, "until.literal"),
            (Some(long.as_str()), None, "until.literal"),
            (None, Some("("), "until.regex"),
            (None, Some("(a{1000}){1000}"), "until.regex"),
        ] {
            let Err(WaitError::Invalid { member, .. }) = Pattern::new(literal, regex, MAX) else {
                panic!("{literal:?} {regex:?}");
            };
            assert_eq!(member, want);
        }
    }

    #[test]
    fn a_bounded_expression_keeps_no_more_than_its_match() {
        for (text, want) in [
            ("never[0-9]{3}", Some(8 + CONTEXT_BYTES)),
            ("(?i)é", Some(2 + CONTEXT_BYTES)),
            (r"(?-u)\xff\b", Some(1 + CONTEXT_BYTES)),
            ("a+", None),
        ] {
            assert_eq!(longest_match(text), want, "{text}");
        }
        let pattern = Pattern::new(None, Some("never[0-9]{3}"), 65_536).expect("valid");
        let mut matcher = Matcher::new(pattern, None, 0, 65_536);
        let chunk = Bytes::from_static(b"neve");
        for index in 0..100_000 {
            assert!(!matcher.feed(Stream::Stdout, index * 4, &chunk));
        }
        assert!(
            matcher.windows[0].1.bytes.len() < 64,
            "what is looked at with each chunk"
        );
    }
}
