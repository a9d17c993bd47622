//! Writes the table into the documents that show it, between two marks.

use std::fs;
use std::path::Path;

use crate::Error;
use crate::options::workspace;
use crate::report::Report;

const BEGIN: &str = "<!-- bench: written by `make bench BENCH_ARGS=--record` -->\n";
const END: &str = "<!-- bench: end -->";

/// The table alone into README.md; the machine with it into docs/benchmarks.md.
///
/// # Errors
/// A document is missing or has no marks.
pub(crate) fn record(report: &Report) -> Result<(), Error> {
    let root = workspace();
    replace(&root.join("README.md"), &report.table())?;
    replace(&root.join("docs/benchmarks.md"), &report.markdown())
}

fn replace(document: &Path, text: &str) -> Result<(), Error> {
    let name = document.display();
    let old = fs::read_to_string(document).map_err(|error| format!("{name}: {error}"))?;
    let (before, rest) = old
        .split_once(BEGIN)
        .ok_or_else(|| format!("{name}: no line {BEGIN}"))?;
    let (_, after) = rest
        .split_once(END)
        .ok_or_else(|| format!("{name}: no line {END}"))?;
    fs::write(
        document,
        format!(
            "{before}{BEGIN}\n{}\n{END}{after}",
            text.trim_end().to_owned() + "\n"
        ),
    )?;
    Ok(())
}
