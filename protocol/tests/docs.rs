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
