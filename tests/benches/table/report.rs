//! The table, as text and as Markdown.

use std::fmt::Write;

use crate::bars::{self, Verdict};
use crate::figures::{Figure, Figures, Subject};
use crate::options::Options;

/// Everything a reader is told.
#[derive(Debug)]
pub(crate) struct Report {
    about: Vec<(&'static str, String)>,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    failures: Vec<String>,
    missed: usize,
    judged: usize,
    quick: bool,
}

const NOTHING: &str = "–";

impl Report {
    /// Puts it together.
    pub(crate) fn new(options: &Options, machine: Vec<(&'static str, String)>, figures: &Figures) -> Self {
        let mut about = machine;
        about.push(("server", shown(&options.ours)));
        if let Some(peer) = &options.peer {
            about.push(("peer", shown(peer)));
        }
        let sizes = options.sizes;
        about.push((
            "sizes",
            format!(
                "{} rounds; a crowd is {} processes; {} MB of output; {} pipelined requests",
                sizes.rounds,
                sizes.live,
                sizes.output_bytes / 1_000_000,
                sizes.pipelined_requests
            ),
        ));
        let subjects = if options.peer.is_some() {
            vec![Subject::Ours, Subject::Floor, Subject::Peer]
        } else {
            vec![Subject::Ours, Subject::Floor]
        };
        let mut header = vec!["p50, median of rounds (range)".to_owned()];
        header.extend(subjects.iter().map(|subject| subject.name().to_owned()));
        if options.peer.is_some() {
            header.push("better than peer".to_owned());
        }
        header.push("bar".to_owned());

        let mut report = Self {
            about,
            header,
            rows: Vec::new(),
            failures: figures.failures().to_vec(),
            missed: 0,
            judged: 0,
            quick: options.quick,
        };
        for figure in Figure::ALL {
            if subjects
                .iter()
                .all(|&subject| figures.spread(figure, subject).is_none())
            {
                continue;
            }
            let mut row = vec![figure.name().to_owned()];
            row.extend(subjects.iter().map(|&subject| value(figures, figure, subject)));
            if options.peer.is_some() {
                row.push(better(figures, figure));
            }
            let verdicts: Vec<Verdict> = bars::of(figure)
                .iter()
                .filter(|bar| options.peer.is_some() || !bar.needs_peer())
                .map(|bar| bar.judge(figure, figures))
                .collect();
            // A figure that this server does not give is a bar missed; one that the peer does not give, none.
            let given = figures.spread(figure, Subject::Ours).is_some();
            let judged = verdicts
                .iter()
                .filter(|verdict| verdict.measured.is_some() || !given);
            report.judged += judged.clone().count();
            report.missed += judged.filter(|verdict| !verdict.met).count();
            row.push(verdicts.iter().map(words).collect::<Vec<_>>().join("; "));
            report.rows.push(row);
        }
        report
    }

    /// For a terminal.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.about {
            let _ = writeln!(text, "{name:12} {value}");
        }
        text.push('\n');
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let widths: Vec<usize> = (0..self.header.len())
            .map(|column| lines().map(|row| row[column].chars().count()).max().unwrap_or(0))
            .collect();
        for row in lines() {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, &width)| format!("{cell:width$}"))
                .collect();
            let _ = writeln!(text, "{}", cells.join("  ").trim_end());
        }
        let _ = write!(text, "\n{}", self.summary());
        text
    }

    /// For a document.
    pub(crate) fn markdown(&self) -> String {
        let mut text = self.table();
        text.push('\n');
        for (name, value) in &self.about {
            let _ = writeln!(text, "- {name}: {value}");
        }
        let _ = write!(text, "\n{}", self.summary());
        text
    }

    /// The table alone, in Markdown.
    pub(crate) fn table(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "| {} |", self.header.join(" | "));
        let _ = writeln!(text, "|{}|", vec!["---"; self.header.len()].join("|"));
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text
    }

    fn summary(&self) -> String {
        let mut text = format!("{} of {} bars met.", self.judged - self.missed, self.judged);
        if self.quick {
            text.push_str(" A quick run: a look, not figures to keep.");
        }
        for failure in &self.failures {
            let _ = write!(text, "\nNot measured: {failure}");
        }
        text.push('\n');
        text
    }
}

fn value(figures: &Figures, figure: Figure, subject: Subject) -> String {
    let Some(spread) = figures.spread(figure, subject) else {
        return NOTHING.to_owned();
    };
    let places = match spread.median {
        median if median >= 100.0 => 0,
        median if median >= 10.0 => 1,
        _ => 2,
    };
    let unit = figure.unit();
    let (median, least, most) = (spread.median, spread.least, spread.most);
    if figure == Figure::Binary {
        return format!("{median:.places$} {unit}");
    }
    format!("{median:.places$} {unit} ({least:.places$}–{most:.places$})")
}

fn better(figures: &Figures, figure: Figure) -> String {
    let compared = figures.compared((figure, Subject::Ours), (figure, Subject::Peer), |ours, peer| {
        if figure.is_rate() {
            ours / peer
        } else {
            peer / ours
        }
    });
    compared.map_or_else(|| NOTHING.to_owned(), |times| format!("{times:.1}×"))
}

fn words(verdict: &Verdict) -> String {
    match &verdict.measured {
        None => format!("{} (not measured)", verdict.bar),
        Some(measured) => {
            format!(
                "{} {}: {measured}",
                if verdict.met { "✓" } else { "✗ missed" },
                verdict.bar
            )
        }
    }
}

/// A command without the folders of its program: where it lies on this machine is nobody's business.
fn shown(command: &[String]) -> String {
    let (program, arguments) = command
        .split_first()
        .map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
    let name = program.rsplit('/').next().unwrap_or(program);
    std::iter::once(name)
        .chain(arguments.iter().map(String::as_str))
        .collect::<Vec<_>>()
        .join(" ")
}
