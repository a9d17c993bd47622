//! Every promise runs: cargo takes the files of this directory by name, and would not miss one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn every_file_of_promises_stands_in_the_manifest() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap();
    let listed: BTreeSet<String> = manifest
        .split("[[test]]\n")
        .skip(1)
        .map(|entry| {
            let member = |name: &str| {
                let line = entry.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_else(|| panic!("no {name}in {entry}"))
                    .trim_matches('"')
            };
            let (name, path) = (member("name = "), member("path = "));
            assert_eq!(path, format!("{name}.rs"), "a test is called as its file");
            path.to_owned()
        })
        .collect();
    let files: BTreeSet<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".rs"))
        .collect();
    assert!(files.len() > 50, "{} files", files.len());
    assert_eq!(files, listed, "files, and what tests/Cargo.toml lists");
}
