//! The terminal of a capture, at which nobody types: its input has ended, and it answers what programs ask of it.

/// What programs ask, and what a terminal without a name says.
const ANSWERS: &[(&[u8], &[u8])] = &[
    // Where is the cursor? In the corner.
    (b"\x1b[6n", b"\x1b[1;1R"),
    // Are you well? Yes.
    (b"\x1b[5n", b"\x1b[0n"),
    // What are you? A VT100 with advanced video.
    (b"\x1b[c", b"\x1b[?1;2c"),
    (b"\x1b[0c", b"\x1b[?1;2c"),
    // Which version? None.
    (b"\x1b[>c", b"\x1b[>0;0;0c"),
    (b"\x1b[>0c", b"\x1b[>0;0;0c"),
];

/// The longest of the questions.
const LONGEST: usize = 5;

/// The end-of-file character: a line read gets end of file, a raw one gets this byte.
pub(super) const END_OF_INPUT: u8 = 0x04;

/// Finds questions in what a capture prints.
#[derive(Debug)]
pub(super) struct Terminal {
    /// The end of what came, where a question may have begun.
    tail: Vec<u8>,
    /// How many more are answered.
    left: usize,
}

impl Terminal {
    /// A terminal that answers at most `answers` questions.
    pub(super) fn new(answers: usize) -> Self {
        Self {
            tail: Vec::new(),
            left: answers,
        }
    }

    /// Takes what was printed, drops it, and gives the answers to what was asked in it.
    pub(super) fn answer(&mut self, printed: &[u8]) -> Vec<u8> {
        let mut answers = Vec::new();
        if self.left == 0 {
            return answers;
        }
        self.tail.extend_from_slice(printed);
        let mut done = 0;
        for at in memchr::memchr_iter(0x1b, &self.tail) {
            let asked = ANSWERS
                .iter()
                .find(|(question, _)| self.tail[at..].starts_with(question));
            if let Some((question, answer)) = asked
                && self.left > 0
            {
                self.left -= 1;
                answers.extend_from_slice(answer);
                done = at + question.len();
            }
        }
        let keep = done.max(self.tail.len().saturating_sub(LONGEST - 1));
        self.tail.drain(..keep);
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_answered_once_wherever_the_pieces_part() {
        let printed = b"a\x1b[6nb\x1b[c\x1b[>c\x1b[5n\x1b[0m";
        let want = b"\x1b[1;1R\x1b[?1;2c\x1b[>0;0;0c\x1b[0n";
        for at in 0..=printed.len() {
            let mut terminal = Terminal::new(10);
            let (first, second) = printed.split_at(at);
            let answers = [terminal.answer(first), terminal.answer(second)].concat();
            assert_eq!(answers, want, "{at}");
        }
        let mut terminal = Terminal::new(10);
        let bytewise: Vec<u8> = printed
            .iter()
            .flat_map(|byte| terminal.answer(&[*byte]))
            .collect();
        assert_eq!(bytewise, want);
    }

    #[test]
    fn so_many_and_no_more() {
        let mut terminal = Terminal::new(2);
        assert_eq!(terminal.answer(&b"\x1b[5n".repeat(5)), b"\x1b[0n".repeat(2));
        assert_eq!(terminal.answer(b"\x1b[5n"), b"");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_dropped(pieces: Vec<Vec<u8>>) {
            let mut terminal = Terminal::new(10);
            for piece in pieces {
                terminal.answer(&piece);
                assert!(terminal.tail.len() < LONGEST);
            }
        }
    }
}
