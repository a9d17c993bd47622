//! The documents for client authors say what the types and constants say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use exec_protocol::method::{METHODS, NOTIFICATIONS};
use serde_json::Value;

#[path = "support/mod.rs"]
mod support;

fn document(name: &str) -> String {
    let path = support::crate_path("../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Generated, and held to the types by the test of the same name.
fn schema(name: &str) -> Value {
    let path = support::crate_path("schema").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The words inside `code spans` of a text; fenced blocks are left out, an example explains nothing.
fn code_words(text: &str) -> BTreeSet<&str> {
    let mut words = BTreeSet::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            for span in line.split('`').skip(1).step_by(2) {
                words.insert(span);
                words.extend(span.split(|c: char| !(c.is_alphanumeric() || c == '_')));
            }
        }
    }
    words
}

/// The sections under ``### `name` `` headings.
fn sections(text: &str) -> BTreeMap<&str, &str> {
    text.split("\n### ")
        .skip(1)
        .filter_map(|section| {
            let name = section.strip_prefix('`')?.split('`').next()?;
            let body = section.split("\n## ").next()?;
            Some((name, body))
        })
        .collect()
}

/// The members of an object schema, and what its `oneOf` variants add.
fn members(schema: &Value) -> Vec<&str> {
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    variants
        .chain([schema])
        .filter_map(|schema| schema["properties"].as_object())
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect()
}

/// Every string that a schema allows as a constant.
fn constants<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Object(object) => {
            found.extend(object.get("const").and_then(Value::as_str));
            if let Some(Value::Array(words)) = object.get("enum") {
                found.extend(words.iter().filter_map(Value::as_str));
            }
            object.values().for_each(|value| constants(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| constants(value, found)),
        _ => {}
    }
}

#[test]
fn every_method_has_a_section_with_its_members_and_errors() {
    let text = document("protocol.md");
    let sections = sections(&text);
    let openrpc = schema("openrpc.json");
    let schemas = &openrpc["components"]["schemas"];
    let methods = openrpc["methods"].as_array().unwrap();
    assert_eq!(methods.len(), METHODS.len() + NOTIFICATIONS.len());
    let mut missing = Vec::new();
    for method in methods {
        let name = method["name"].as_str().unwrap();
        let Some(section) = sections.get(name) else {
            missing.push(format!("a section for {name}"));
            continue;
        };
        let words = code_words(section);
        let params = method["params"].as_array().unwrap().iter();
        let mut expected: Vec<&str> = params.map(|param| param["name"].as_str().unwrap()).collect();
        if let Some(reference) = method["result"]["schema"]["$ref"].as_str() {
            let result = reference.rsplit('/').next().unwrap();
            expected.extend(members(&schemas[result]));
        }
        // Those that any request may be answered with are told once, before all sections.
        let errors = method["errors"].as_array().into_iter().flatten();
        expected.extend(
            errors
                .map(|error| error["$ref"].as_str().unwrap().rsplit('/').next().unwrap())
                .filter(|kind| {
                    !["wrongState", "invalidParam", "limitReached", "requestCancelled"].contains(kind)
                }),
        );
        for word in expected {
            if !words.contains(word) {
                missing.push(format!("{word} in the section on {name}"));
            }
        }
        if !section.contains("```json") {
            missing.push(format!("an example of {name}"));
        }
    }
    assert_eq!(missing, Vec::<String>::new(), "docs/protocol.md lacks these");
    for name in sections.keys() {
        assert!(
            METHODS.contains(name) || NOTIFICATIONS.contains(name),
            "docs/protocol.md documents {name}, which is not in the catalogue"
        );
    }
}

#[test]
fn every_member_and_word_of_every_type_is_told() {
    let text = document("protocol.md");
    let words = code_words(&text);
    let schema = schema("exec-server.schema.json");
    let mut missing = Vec::new();
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        let mut told = members(definition);
        constants(definition, &mut told);
        let untold = told.into_iter().filter(|word| !words.contains(word));
        missing.extend(untold.map(|word| format!("{word} of {name}")));
    }
    // Of the error object itself, which JSON-RPC defines.
    missing.retain(|entry| !entry.ends_with(" of RpcError"));
    assert_eq!(missing, Vec::<String>::new(), "docs/protocol.md lacks these");
}

#[test]
fn every_error_kind_is_told_with_its_code_and_members() {
    let text = document("protocol.md");
    for (name, kind) in support::error_kinds() {
        let code = kind.code().to_string();
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| {code} | `{name}` |")))
            .unwrap_or_else(|| panic!("docs/protocol.md has no row for {code} {name}"));
        let words = code_words(row);
        for member in serde_json::to_value(&kind).unwrap().as_object().unwrap().keys() {
            assert!(
                member == "kind" || words.contains(member.as_str()),
                "{name}: {member}"
            );
        }
    }
}

#[test]
fn examples_are_messages_of_the_catalogue() {
    use exec_protocol::envelope::{Envelope, decode_params};
    use exec_protocol::method::{self, Method, Notification, Visitor};
    use serde_json::value::RawValue;

    struct Check<'a>(&'a str, Option<&'a RawValue>, bool);
    impl Visitor for Check<'_> {
        fn method<M: Method>(&mut self) {
            if M::NAME == self.0 {
                self.2 = true;
                let decoded = decode_params::<M::Params>(self.1);
                assert!(decoded.is_ok(), "{}: {:?}", self.0, decoded.err());
            }
        }
        fn notification<N: Notification>(&mut self) {
            if N::NAME == self.0 {
                self.2 = true;
                let decoded = decode_params::<N::Params>(self.1);
                assert!(decoded.is_ok(), "{}: {:?}", self.0, decoded.err());
            }
        }
    }

    let text = document("protocol.md");
    let mut examples = 0;
    for line in text
        .lines()
        .filter(|line| line.starts_with("> {") || line.starts_with("< {"))
    {
        examples += 1;
        let (method, params) = match Envelope::parse(&line.as_bytes()[2..]) {
            Envelope::Request(request) => (request.method, request.params),
            Envelope::Notification(note) => (note.method, note.params),
            Envelope::Response(_) => continue,
            other => panic!("{line}: {other:?}"),
        };
        let mut check = Check(&method, params, false);
        method::visit(&mut check);
        assert!(check.2, "{line}: not in the catalogue");
    }
    assert!(examples > METHODS.len(), "{examples} examples");
}

/// The constants of limits/, with their values, by the file they are in.
fn limits() -> Vec<(String, String, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(support::crate_path("src/limits")).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let source = fs::read_to_string(&path).unwrap();
        for line in source.lines().filter_map(|line| line.strip_prefix("pub const ")) {
            let (name, rest) = line.split_once(':').unwrap();
            let value = rest.split_once('=').unwrap().1.trim().strip_suffix(';').unwrap();
            let factors = value.split('*').map(|factor| factor.trim().replace('_', ""));
            let value = factors.map(|factor| factor.parse::<u64>().unwrap()).product();
            found.push((file.clone(), name.to_owned(), value));
        }
    }
    found
}

#[test]
fn every_limit_is_told_with_its_value_and_unit() {
    let text = document("limits.md");
    // A section says which file it tells of.
    let rows: Vec<(&str, Vec<&str>)> = text
        .split("\n## ")
        .flat_map(|section| section.lines().map(move |line| (section, line)))
        .filter(|(_, line)| line.starts_with("| `"))
        .map(|(section, line)| {
            let row = line.trim_matches('|').split('|').map(str::trim);
            (section, row.collect())
        })
        .collect();
    let limits = limits();
    assert!(limits.len() > 20);
    for (file, name, value) in &limits {
        let (section, row) = rows
            .iter()
            .find(|(_, row)| row[0].trim_matches('`') == name)
            .unwrap_or_else(|| panic!("docs/limits.md has no row for {name}"));
        let link = format!("src/limits/{file})");
        assert!(
            section.contains(&link),
            "{name} stands in another section than {file}"
        );
        assert_eq!(row[1], value.to_string(), "{name}");
        let unit = match name.rsplit('_').next() {
            Some("BYTES") => "bytes",
            Some("MS") => "ms",
            _ => row[2],
        };
        assert_eq!(row[2], unit, "{name}");
        assert!(
            !row[2].is_empty() && !row[4].is_empty(),
            "{name}: no unit or no reason"
        );
    }
    for (_, row) in &rows {
        let name = row[0].trim_matches('`');
        assert!(
            limits.iter().any(|(_, limit, _)| limit == name),
            "no such limit: {name}"
        );
    }
}

/// Sizes and times that are no choice of ours.
const NO_LIMITS: [&str; 3] = [
    // What a regex looks back at: one character.
    "CONTEXT_BYTES",
    // The kernel's, of a script's first line.
    "SHEBANG_BYTES",
    // One of our own records.
    "RECORD_BYTES",
];

#[test]
fn no_limit_lies_beside_the_code() {
    let mut directories = Vec::from(["process", "server", "telemetry"].map(|name| {
        let directory = support::crate_path("../crates").join(name).join("src");
        assert!(directory.is_dir(), "{}", directory.display());
        directory
    }));
    let mut files = 0;
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.extend((!path.ends_with("tests")).then_some(path));
                continue;
            }
            files += 1;
            let source = fs::read_to_string(&path).unwrap();
            for line in source.lines() {
                // Of a module, not of a test's or a function's body.
                let Some((before, after)) = line.split_once("const ") else {
                    continue;
                };
                let Some((name, of)) = after.split_once(": ") else {
                    continue;
                };
                let is_limit =
                    name.ends_with("_BYTES") || name.ends_with("_MS") || of.starts_with("Duration");
                let elsewhere = !before.starts_with(' ') && is_limit && !NO_LIMITS.contains(&name);
                assert!(!elsewhere, "{}: {name} belongs in limits/", path.display());
            }
        }
    }
    assert!(files > 50, "{files} files");
}

#[test]
fn limits_on_the_wire_are_those_of_the_table() {
    let text = document("limits.md");
    let openrpc = schema("openrpc.json");
    for member in members(&openrpc["components"]["schemas"]["WireLimits"]) {
        assert!(text.contains(&format!("| `{member}` |")), "{member}");
    }
}
