//! docs/clients.md shows programs as they are: every one is a file, and stands there word for word.

use std::path::Path;

#[test]
fn the_programs_of_the_client_guide_are_the_files_they_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| {
        let path = root.join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let guide = read("docs/clients.md");
    for (language, path) in [
        ("rust", "crates/client/examples/command.rs"),
        ("python", "docs/examples/client.py"),
        ("js", "docs/examples/client.mjs"),
    ] {
        let block = format!("```{language}\n{}```\n", read(path));
        assert!(
            guide.contains(&block),
            "docs/clients.md does not hold {path} as it is"
        );
    }
    let blocks = guide.lines().filter(|line| line.starts_with("```")).count() / 2;
    assert_eq!(
        blocks, 3,
        "a program in docs/clients.md that is no file is not checked"
    );
}
