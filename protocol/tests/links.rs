//! Links in the documents lead somewhere, and a type named behind one stands in the file.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "support/mod.rs"]
mod support;

/// Every document of the repository's root and of docs/.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for directory in ["..", "../docs", "../docs/adr"] {
        let entries = fs::read_dir(support::crate_path(directory)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    found
}

/// The links of a text that lead to files, each with what stands behind it.
fn links(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("](").skip(1).filter_map(|from| {
        let (target, behind) = from.split_once(')')?;
        let file = target.split('#').next()?;
        (!file.is_empty() && !file.contains("://")).then_some((file, behind))
    })
}

/// The names in a bracket that a link is followed by: ``(`A`, `B`)``.
fn named(behind: &str) -> Vec<&str> {
    let bracket = behind.trim_start().strip_prefix("(`");
    let inside = bracket.and_then(|bracket| bracket.split_once("`)"));
    inside.map_or(Vec::new(), |(names, _)| names.split("`, `").collect())
}

fn defines(file: &Path, name: &str) -> bool {
    let source = fs::read_to_string(file).unwrap();
    ["struct", "enum", "trait", "type", "fn"].iter().any(|kind| {
        let definition = format!("pub {kind} {name}");
        let mut places = source.match_indices(&definition);
        places.any(|(at, _)| {
            !source[at + definition.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    })
}

#[test]
fn links_lead_to_files_that_hold_what_is_named() {
    let (mut files, mut names) = (0, 0);
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for (link, behind) in links(&text) {
            let file = document.parent().unwrap().join(link);
            assert!(file.exists(), "{}: {link} is not there", document.display());
            files += 1;
            for name in named(behind).into_iter().filter(|_| link.ends_with(".rs")) {
                assert!(
                    defines(&file, name),
                    "{}: {link} has no {name}",
                    document.display()
                );
                names += 1;
            }
        }
    }
    assert!(files > 50, "{files} links");
    assert!(names > 5, "{names} names");
}
