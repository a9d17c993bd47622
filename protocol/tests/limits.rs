//! Every limit is a constant of limits/, and docs/limits.md says what it is.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

#[path = "support/mod.rs"]
mod support;

fn document() -> String {
    fs::read_to_string(support::crate_path("../docs/limits.md")).unwrap()
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
    let text = document();
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

#[test]
fn limits_on_the_wire_are_those_of_the_table() {
    let text = document();
    let openrpc = fs::read(support::crate_path("schema/openrpc.json")).unwrap();
    let openrpc: Value = serde_json::from_slice(&openrpc).unwrap();
    let limits = &openrpc["components"]["schemas"]["WireLimits"]["properties"];
    for member in limits.as_object().unwrap().keys() {
        assert!(text.contains(&format!("| `{member}` |")), "{member}");
    }
}

/// The crates whose numbers are looked at.
const CRATES: [&str; 5] = ["client", "process", "server", "shell-snapshot", "telemetry"];

/// Numbers that are no limits, by the file they stand in, with the reason.
const NO_LIMITS: &[(&str, &[&str], &str)] = &[
    (
        "client/src/limits.rs",
        &[
            "EVENT_BUFFER_BYTES",
            "OUTGOING_BYTES",
            "MAX_INCOMING_LINE_BYTES",
            "LINE_PREFIX_BYTES",
            "READ_BUFFER_BYTES",
            "KEPT_BUFFER_BYTES",
            "DAEMON_CLOSE_MS",
        ],
        "limits of the program that the client is part of, and documented there",
    ),
    (
        "process/src/process/matcher.rs",
        &["CONTEXT_BYTES"],
        "what a regex looks back at: one character",
    ),
    (
        "process/src/process/launch_paths.rs",
        &["SHEBANG_BYTES"],
        "the kernel's, of a script's first line",
    ),
    (
        "process/src/sys_keeper.rs",
        &["RECORD_BYTES", "ANY_CHILD", "FORK_NO_EXEC"],
        "the size of one of our own records; flags of the kernel's",
    ),
    (
        "process/src/sys_spawn.rs",
        &["CLONE_INTO_CGROUP"],
        "a flag of the kernel's",
    ),
    (
        "process/src/warden/message.rs",
        &[
            "LAUNCH",
            "SIGNAL",
            "END",
            "LEAVE",
            "HELLO",
            "STARTED",
            "FAILED",
            "EXITED",
            "TREE_ENDED",
            "UNFIT",
            "TERMINAL",
            "HAS_STDIN",
            "HAS_OUTPUT",
        ],
        "kinds of messages, and their flags",
    ),
    (
        "process/src/warden/wire.rs",
        &["HEADER"],
        "the shape of a message",
    ),
    (
        "process/src/warden/main_loop.rs",
        &["SOCKET", "SIGNALS", "TRACKER", "CHILDREN"],
        "names of what is watched",
    ),
    (
        "server/src/handlers/environment.rs",
        &["PROTOCOL_VERSION"],
        "a version",
    ),
    (
        "server/src/cli/snapshot/trace/run.rs",
        &["END_OF_INPUT"],
        "a character",
    ),
    (
        "server/src/cli/snapshot/entry.rs",
        &["FAILED", "NOT_TRIED"],
        "exit codes",
    ),
    (
        "server/src/cli/snapshot/page.rs",
        &["WIDTH", "SLOWEST_FILES", "NOTICED_MICROS"],
        "how a page for people looks",
    ),
    (
        "server/src/cli/run/stdin.rs",
        &["END_OF_TRANSMISSION"],
        "a character",
    ),
    (
        "server/src/cli/run/failure.rs",
        &["NOT_RUN", "NOT_EXECUTABLE", "NOT_FOUND"],
        "exit codes",
    ),
    (
        "server/src/cli/run/exit.rs",
        &["SIGNAL_EXIT", "TIMED_OUT", "BROKEN_PIPE"],
        "exit codes",
    ),
    (
        "telemetry/src/process_ref.rs",
        &["HYPHENATED"],
        "the length of a UUID",
    ),
    (
        "process/src/sys.rs",
        &["COMM_BYTES"],
        "the kernel's, of a process's name",
    ),
    (
        "telemetry/src/scrape/http.rs",
        &["MAX_HEADERS"],
        "the size of an array: what SCRAPE_REQUEST_BYTES lets in and has more of is refused in the same way",
    ),
    (
        "shell-snapshot/src/dialect/zsh/place.rs",
        &["STATE_DESCRIPTOR"],
        "the number of a descriptor",
    ),
    (
        "shell-snapshot/src/dialect/real.rs",
        &["STREAM"],
        "the number of a descriptor",
    ),
    (
        "shell-snapshot/src/dialect/sh/replay.rs",
        &["DESCRIPTOR"],
        "the number of a descriptor",
    ),
    (
        "shell-snapshot/src/replay.rs",
        &["DESCRIPTOR"],
        "the number of a descriptor",
    ),
    (
        "shell-snapshot/src/capture/run.rs",
        &["DESCRIPTOR", "LOW_DESCRIPTOR"],
        "the number of a descriptor",
    ),
    (
        "shell-snapshot/src/environment/execve.rs",
        &[
            "STRING_BYTES",
            "LEAST_BYTES",
            "MOST_BYTES",
            "POINTER_BYTES",
            "PATHS_BYTES",
        ],
        "the kernel's, of what execve(2) takes",
    ),
    (
        "shell-snapshot/src/capture/terminal.rs",
        &["LONGEST", "END_OF_INPUT"],
        "the longest of the queries that are known; a character",
    ),
];

/// The source files of a crate, but for those of its tests.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The numbers and times that are constants of a module: not of a function, nor of a test.
fn numbers(source: &str) -> impl Iterator<Item = &str> {
    const TYPES: [&str; 13] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "isize", "f64", "Duration",
    ];
    source
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| {
            let (before, after) = line.split_once("const ")?;
            let (name, rest) = after.split_once(": ")?;
            let kind = rest.split(' ').next()?;
            let is_constant = before.is_empty() || (before.starts_with("pub") && before.ends_with(' '));
            (is_constant && TYPES.contains(&kind)).then_some(name)
        })
}

#[test]
fn no_limit_lies_beside_the_code() {
    let crates = support::crate_path("../crates");
    let mut files = Vec::new();
    for name in CRATES {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 50, "{} files", files.len());
    let mut exempt: Vec<(&str, &str)> = NO_LIMITS
        .iter()
        .filter(|(file, ..)| CRATES.iter().any(|name| file.starts_with(&format!("{name}/"))))
        .flat_map(|(file, names, _)| names.iter().map(|name| (*file, *name)))
        .collect();
    let mut beside = Vec::new();
    for path in files {
        let file = path.strip_prefix(&crates).unwrap().to_str().unwrap();
        let source = fs::read_to_string(&path).unwrap();
        for name in numbers(&source) {
            match exempt.iter().position(|one| *one == (file, name)) {
                Some(place) => drop(exempt.swap_remove(place)),
                None => beside.push(format!("{file}: {name}")),
            }
        }
    }
    assert_eq!(beside, Vec::<String>::new(), "these belong in limits/");
    assert_eq!(exempt, [], "these are not there any more");
}
