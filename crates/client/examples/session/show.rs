//! Messages for people: one line where it fits, folded where it does not.

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use exec_protocol::Base64;
use serde_json::Value;

use crate::json::Json;

/// Columns that are used; a terminal of 80 has them.
const WIDTH: usize = 80;
/// Where messages begin, behind the time and the arrow.
const INDENT: usize = 13;
/// Longest string shown whole, in characters.
const LONGEST_STRING: usize = 56;
/// Longest array shown whole.
const LONGEST_ARRAY: usize = 6;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    FromServer,
}

/// Stdout, in colour when it is a terminal.
#[derive(Debug, Clone)]
pub(crate) struct Screen {
    colour: bool,
    start: Arc<Mutex<Instant>>,
}

#[derive(Debug, Clone, Copy)]
enum Style {
    Title,
    Dim,
    ToServer,
    FromServer,
    Bytes,
}

impl Screen {
    pub(crate) fn new() -> Self {
        Self {
            colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            start: Arc::new(Mutex::new(Instant::now())),
        }
    }

    pub(crate) fn start_clock(&self) {
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn style(&self, style: Style, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let code = match style {
            Style::Title => "1",
            Style::Dim => "2",
            Style::ToServer => "36",
            Style::FromServer => "32",
            Style::Bytes => "33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// One line of text.
    pub(crate) fn say(&self, line: &str) {
        // A reader that has seen enough (`| head`) is no failure of the session.
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    pub(crate) fn title(&self, title: &str) {
        self.say(&self.style(Style::Title, title));
    }

    /// A heading, and what is to be seen under it.
    pub(crate) fn chapter(&self, heading: &str, explanation: &str) {
        self.say("");
        self.title(heading);
        self.say(explanation);
        self.say("");
    }

    /// What was found out beside the messages.
    pub(crate) fn note(&self, text: &str) {
        self.say(&format!("{:INDENT$}{text}", ""));
    }

    /// One message.
    pub(crate) fn message(&self, direction: Direction, line: &[u8]) {
        let elapsed = self
            .start
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .elapsed();
        let time = format!("{:7.1} ms", elapsed.as_secs_f64() * 1e3);
        let (arrow, style) = match direction {
            Direction::ToServer => ("→", Style::ToServer),
            Direction::FromServer => ("←", Style::FromServer),
        };
        let (heading, body, bytes) = describe(line);
        let mut lines = fold(heading.chars().count() + 1, &body).into_iter();
        let first = lines.next().unwrap_or_default();
        let heading = self.style(style, &format!("{arrow} {heading}"));
        self.say(&format!("{} {heading} {first}", self.style(Style::Dim, &time)));
        for line in lines {
            self.say(&format!("{:INDENT$}{line}", ""));
        }
        if let Some(bytes) = bytes {
            self.say(&format!(
                "{:INDENT$}{}",
                "",
                self.style(Style::Bytes, &shown_bytes(&bytes))
            ));
        }
    }
}

/// A message's heading, its content in pieces that need not stand on one line, and the bytes it carries.
fn describe(line: &[u8]) -> (String, Vec<String>, Option<Vec<u8>>) {
    let Ok(message) = serde_json::from_slice::<Json>(line) else {
        let text = String::from_utf8_lossy(line).into_owned();
        return ("not a message:".to_owned(), vec![text], None);
    };
    let id = match message.member("id") {
        Some(Json::Scalar(id)) => format!("#{id} "),
        _ => String::new(),
    };
    let method = message.member("method").and_then(Json::as_str);
    let (heading, content) = match (method, message.member("error")) {
        (Some(method), _) => (method, message.member("params")),
        (None, Some(error)) => ("error", Some(error)),
        (None, None) => ("result", message.member("result")),
    };
    let nothing = Json::Object(Vec::new());
    let content = content.unwrap_or(&nothing);
    let bytes = ["chunk", "stdin"]
        .iter()
        .find_map(|name| content.member(name)?.as_str())
        .and_then(|chunk| serde_json::from_value(Value::from(chunk)).ok())
        .map(|Base64(bytes)| bytes);
    let mut pieces = Vec::new();
    let mut piece = String::new();
    shorten(content, &mut piece, &mut pieces);
    pieces.push(piece);
    (format!("{id}{heading}"), pieces, bytes)
}

/// Appends a value to `piece`, without null members and with long parts cut; a piece ends after each comma.
fn shorten(value: &Json, piece: &mut String, pieces: &mut Vec<String>) {
    match value {
        Json::Object(members) => {
            piece.push('{');
            let shown = members.iter().filter(|(_, value)| !value.is_null());
            for (index, (name, value)) in shown.enumerate() {
                if index > 0 {
                    piece.push(',');
                    pieces.push(std::mem::take(piece));
                }
                piece.push_str(&format!("{}:", Value::from(name.as_str())));
                shorten(value, piece, pieces);
            }
            piece.push('}');
        }
        Json::Array(items) => {
            piece.push('[');
            for (index, item) in items.iter().take(LONGEST_ARRAY).enumerate() {
                if index > 0 {
                    piece.push(',');
                    pieces.push(std::mem::take(piece));
                }
                shorten(item, piece, pieces);
            }
            if items.len() > LONGEST_ARRAY {
                piece.push_str(&format!(",… {} more", items.len() - LONGEST_ARRAY));
            }
            piece.push(']');
        }
        Json::Scalar(Value::String(text)) if text.chars().count() > LONGEST_STRING => {
            let cut: String = text.chars().take(LONGEST_STRING - 1).collect();
            piece.push_str(&Value::from(format!("{cut}…")).to_string());
        }
        Json::Scalar(other) => piece.push_str(&other.to_string()),
    }
}

/// Puts pieces on lines; `used` columns of the first line are taken.
fn fold(used: usize, pieces: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut columns = used + 2;
    for piece in pieces {
        let width = piece.chars().count();
        let is_empty = line.is_empty() && !lines.is_empty();
        if INDENT + columns + width > WIDTH && !is_empty {
            lines.push(std::mem::take(&mut line));
            columns = 0;
        }
        line.push_str(piece);
        columns += width;
    }
    lines.push(line);
    lines
}

/// Bytes as a string literal, cut to the width.
fn shown_bytes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = format!("= {text:?}");
    match shown.char_indices().nth(WIDTH - INDENT - 1) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}
