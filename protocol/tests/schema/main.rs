//! `protocol/schema/` is what the types say: generated here, and stale files fail.
//! `UPDATE_SCHEMA=1 cargo test -p exec-protocol --features schema --test schema` rewrites them.

mod json_schema;
mod openrpc;
#[path = "../support/mod.rs"]
mod support;
mod typescript;

use std::fs;

#[track_caller]
fn check(file: &str, generated: &str) {
    let path = support::crate_path("schema").join(file);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if committed != generated {
        let differs = committed
            .lines()
            .zip(generated.lines())
            .position(|(old, new)| old != new)
            .map_or_else(
                || "in length".to_owned(),
                |line| format!("from line {}", line + 1),
            );
        panic!("protocol/schema/{file} is stale ({differs}): run the schema test with UPDATE_SCHEMA=1");
    }
}

fn pretty(document: &serde_json::Value) -> String {
    serde_json::to_string_pretty(document).unwrap() + "\n"
}

#[test]
fn json_schema_is_current() {
    check("exec-server.schema.json", &pretty(&json_schema::document()));
}

#[test]
fn openrpc_is_current() {
    check("openrpc.json", &pretty(&openrpc::document()));
}

#[test]
fn typescript_is_current() {
    check("exec-server.ts", &typescript::document());
}
