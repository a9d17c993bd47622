//! A report as a page of text: at most [`WIDTH`] columns, but for words that are longer.

use std::fmt::Write;
use std::path::Path;

use exec_protocol::snapshot::{SnapshotContents, SnapshotFailure};
use exec_shell_snapshot::ShellKind;

use super::reason::{CODE, advice, has_a_place, own_trace};
use super::report::{Ending, Failed, FileTime, Report, Traced};

const WIDTH: usize = 80;
/// Files told by name of those that took time.
const SLOWEST_FILES: usize = 12;
/// Less is told of all such files together.
const NOTICED_MICROS: u64 = 1_000;

/// The page. `home`: what is shown as `~`.
pub(super) fn page(report: &Report, home: &Path) -> String {
    let mut page = Page {
        text: String::new(),
        home,
    };
    let shell = format!("{} ({})", report.shell.name, shown(&report.shell.path));
    if let Some(failed) = &report.failure {
        page.failure(report, failed, &shell);
    }
    if let Some(contents) = &report.snapshot {
        page.contents(contents, &shell);
        if !contents.interactive {
            page.paragraph(
                "This is of a startup that is not interactive: the one at a terminal does not come to its end, and what \
                 the files make that only it reads is missing.",
            );
            page.stop(report, SnapshotFailure::MissingOutput);
        }
        page.files(report);
    }
    if let Some(traced) = &report.trace
        && report.is_profile
    {
        page.times(traced, report.kind);
    }
    page.text
}

struct Page<'a> {
    text: String,
    home: &'a Path,
}

impl Page<'_> {
    fn contents(&mut self, contents: &SnapshotContents, shell: &str) {
        let SnapshotContents {
            functions,
            aliases,
            exported,
            unset,
            variables,
            options,
            left_out,
            ..
        } = contents;
        self.paragraph(&format!(
            "{shell}: {}, {}, {}, {} and {}. Its startup took {} ms, once; a command that starts from the snapshot ({} \
             of state, {} of environment) does not wait for it again.",
            count(functions.len(), "function", "functions"),
            count(aliases.len(), "alias", "aliases"),
            count(exported.len(), "exported variable", "exported variables"),
            count(variables.len(), "other variable", "other variables"),
            count(options.len(), "option", "options"),
            contents.duration_ms,
            size(contents.state_bytes),
            size(contents.environment_bytes),
        ));
        for (title, names) in [
            ("Functions", functions),
            ("Aliases", aliases),
            ("Exported variables, new or changed", exported),
            ("Variables taken out of the environment", unset),
            ("Other variables", variables),
            ("Options that are not as in a bare shell", options),
        ] {
            if !names.is_empty() {
                self.title(&format!("{title} ({})", names.len()));
                let names: Vec<String> = names.iter().map(|name| shown(name)).collect();
                self.words(&names, "  ", "  ");
            }
        }
        if !left_out.is_empty() {
            self.title(&format!("Left out ({})", left_out.len()));
            for left in left_out {
                let words = format!("{}: {}", shown(&left.what), left.why);
                self.flow(&words, "  ", "    ");
            }
        }
    }

    fn files(&mut self, report: &Report) {
        let (there, missing): (Vec<_>, Vec<_>) = report.watched_files.iter().partition(|file| file.present);
        if there.is_empty() && missing.is_empty() {
            return;
        }
        self.title("Watched files: a change, or a new one, is seen by the next command");
        for file in there {
            let path = self.path(&file.path.to_string_lossy());
            self.line(&format!("  {path}"));
        }
        if !missing.is_empty() {
            let mut words = vec!["not there:".to_owned()];
            words.extend(missing.iter().map(|file| self.path(&file.path.to_string_lossy())));
            self.words(&words, "  ", "    ");
        }
    }

    fn failure(&mut self, report: &Report, failed: &Failed, shell: &str) {
        self.paragraph(&format!("There is no snapshot of {shell}: {}.", failed.message));
        self.stop(report, failed.reason);
        self.paragraph(
            "Until then commands run with the shell's normal startup or, where that would fail too, without any startup \
             file.",
        );
    }

    /// Where startup stopped, and what to do.
    fn stop(&mut self, report: &Report, failure: SnapshotFailure) {
        let mut paragraphs = advice(failure, report.kind);
        if let Some(traced) = &report.trace {
            self.place(traced);
        } else if has_a_place(failure) {
            let own = own_trace(report.kind, &shown(&report.shell.path));
            paragraphs.splice(..0, own);
        }
        for paragraph in paragraphs {
            if paragraph.starts_with(CODE) {
                self.text.push('\n');
                self.line(&paragraph);
            } else {
                self.paragraph(&paragraph);
            }
        }
    }

    fn place(&mut self, traced: &Traced) {
        let place = traced.last.as_ref().map(|place| {
            let path = self.path(&place.path);
            format!("{path}, line {}", place.line)
        });
        let told = match (traced.ending, place) {
            (Ending::Complete, _) => {
                "A second run, traced, came to its end: it does not fail every time, or not where it is traced."
                    .to_owned()
            }
            (Ending::Exited { exit_code }, Some(place)) => {
                format!("It ended at {place}, with status {exit_code} (seen in a second run, traced).")
            }
            (Ending::TimedOut, Some(place)) => {
                format!("It hung at {place} (seen in a second run, traced).")
            }
            (Ending::Exited { exit_code }, None) => {
                format!("It ended with status {exit_code}, in no startup file (seen in a second run, traced).")
            }
            (Ending::TimedOut, None) => "It hung, in no startup file (seen in a second run, traced).".to_owned(),
        };
        self.paragraph(&told);
    }

    fn times(&mut self, traced: &Traced, shell: ShellKind) {
        self.title(&format!(
            "Time by file, in a second run that was traced: {}",
            millis(traced.total_micros)
        ));
        let stderr = match shell {
            ShellKind::Zsh => " What runs while stderr is sent elsewhere counts for the line before.",
            ShellKind::Bash | ShellKind::Sh | ShellKind::Fish => "",
        };
        self.flow(
            &format!("Tracing slows it down. A function counts for the file that defines it.{stderr}"),
            "  ",
            "  ",
        );
        let is_worth_a_line = |file: &&FileTime| file.micros >= NOTICED_MICROS;
        let told = traced.files.iter().take_while(is_worth_a_line).count();
        let (told, rest) = traced.files.split_at(told.min(SLOWEST_FILES));
        for file in told {
            let FileTime {
                path,
                micros,
                slowest_line,
                slowest_line_micros,
            } = file;
            let share = micros.saturating_mul(100) / traced.total_micros.max(1);
            let path = self.path(path);
            self.line(&format!("  {:>9}  {share:>3} %  {path}", millis(*micros)));
            // Where it is one line, that is the one to look at.
            if share >= 5 && slowest_line_micros.saturating_mul(2) > *micros {
                self.line(&format!(
                    "                    {} of it at line {slowest_line}",
                    millis(*slowest_line_micros)
                ));
            }
        }
        if !rest.is_empty() {
            let micros = rest.iter().map(|file| file.micros).sum();
            let files = count(rest.len(), "other file", "other files");
            self.line(&format!("  {:>9}         {files}", millis(micros)));
        }
        if traced.untraced_micros > 0 {
            let after = traced.last.as_ref().map_or_else(String::new, |place| {
                format!(", after {}, line {}", self.path(&place.path), place.line)
            });
            self.flow(
                &format!(
                    "{:>9} were not traced{after}: startup files turned the trace off or, in zsh, sent stderr elsewhere.",
                    millis(traced.untraced_micros)
                ),
                "  ",
                "            ",
            );
        }
    }

    fn path(&self, path: &str) -> String {
        match Path::new(path).strip_prefix(self.home) {
            Ok(below) if !self.home.as_os_str().is_empty() => {
                format!("~/{}", shown(&below.to_string_lossy()))
            }
            _ => shown(path),
        }
    }

    fn title(&mut self, title: &str) {
        self.text.push('\n');
        self.line(title);
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// After an empty line, unless it is the first.
    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.flow(text, "", "");
    }

    fn flow(&mut self, text: &str, first: &str, further: &str) {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        self.words(&words, first, further);
    }

    /// Words in lines that begin with `first`, and `further` from the second on.
    fn words(&mut self, words: &[String], first: &str, further: &str) {
        let mut line = first.to_owned();
        let mut is_empty = true;
        for word in words {
            if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
                self.line(&line);
                line = further.to_owned();
                is_empty = true;
            }
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
            is_empty = false;
        }
        self.line(&line);
    }
}

/// A name as a terminal may be given it.
fn shown(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn count(count: usize, one: &str, more: &str) -> String {
    match count {
        0 => format!("no {more}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {more}"),
    }
}

fn size(bytes: u64) -> String {
    if bytes < 1024 {
        format!("{bytes} bytes")
    } else {
        format!("{} KiB", bytes.div_ceil(1024))
    }
}

/// Tenths where there is less than ten.
fn millis(micros: u64) -> String {
    let mut text = String::new();
    // Memory can be written to.
    let _ = if micros < 10_000 {
        write!(text, "{}.{} ms", micros / 1000, micros % 1000 / 100)
    } else {
        write!(text, "{} ms", micros / 1000)
    };
    text
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use exec_protocol::snapshot::{LeftOut, Shell, SnapshotReplay};

    use super::super::report::{File, Place};
    use super::*;

    fn report() -> Report {
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let many: Vec<String> = (0..40).map(|number| format!("_a_function_{number}")).collect();
        Report {
            shell: Shell {
                name: "bash".to_owned(),
                path: "/bin/bash".to_owned(),
            },
            kind: ShellKind::Bash,
            cwd: PathBuf::from("/w"),
            snapshot: Some(SnapshotContents {
                age_ms: 0,
                duration_ms: 312,
                state_bytes: 70_000,
                environment_bytes: 900,
                replay: SnapshotReplay::File,
                interactive: true,
                functions: many,
                aliases: names(&["ll"]),
                exported: names(&["PATH", "odd\u{1b}[31m"]),
                unset: Vec::new(),
                variables: Vec::new(),
                options: names(&["extglob"]),
                left_out: vec![LeftOut {
                    what: "trap EXIT".to_owned(),
                    why: "it is for the end of the shell, and a typed command does not end it".to_owned(),
                }],
            }),
            failure: None,
            watched_files: [("/h/.bashrc", true), ("/h/.profile", false)]
                .map(|(path, present)| File {
                    path: path.into(),
                    present,
                })
                .to_vec(),
            trace: None,
            is_profile: true,
        }
    }

    fn traced(ending: Ending) -> Traced {
        Traced {
            ending,
            total_micros: 500_000,
            files: vec![
                FileTime {
                    path: "/h/.nvm/nvm.sh".to_owned(),
                    micros: 412_345,
                    slowest_line: 12,
                    slowest_line_micros: 380_000,
                },
                FileTime {
                    path: "/etc/profile".to_owned(),
                    micros: 1_250,
                    slowest_line: 3,
                    slowest_line_micros: 1_200,
                },
            ],
            last: Some(Place {
                path: "/h/.bashrc".to_owned(),
                line: 7,
            }),
            untraced_micros: 45_000,
        }
    }

    #[test]
    fn a_page_fits_a_terminal_and_cannot_write_to_it() {
        let mut report = report();
        report.trace = Some(traced(Ending::Complete));
        let page = page(&report, Path::new("/h"));
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        assert!(
            !page.contains('\u{1b}') && page.contains("odd\\u{1b}[31m"),
            "{page}"
        );
        for said in [
            "bash (/bin/bash): 40 functions, 1 alias, 2 exported variables",
            "\nFunctions (40)\n  _a_function_0 _a_function_1 ",
            "\nLeft out (1)\n  trap EXIT: it is for the end",
            "\n  ~/.bashrc\n  not there: ~/.profile\n",
            "traced: 500 ms\n",
            "     412 ms   82 %  ~/.nvm/nvm.sh\n                    380 ms of it at line 12\n",
            "     1.2 ms    0 %  /etc/profile\n",
            "      45 ms were not traced, after ~/.bashrc, line 7: startup",
        ] {
            assert!(page.contains(said), "{said:?} in\n{page}");
        }
    }

    #[test]
    fn a_snapshot_of_half_a_startup_says_so() {
        let mut report = report();
        report.snapshot.as_mut().expect("there").interactive = false;
        report.trace = Some(traced(Ending::Exited { exit_code: 0 }));
        let page = page(&report, Path::new("/h"));
        assert!(
            page.contains("\nThis is of a startup that is not interactive: "),
            "{page}"
        );
        assert!(
            page.contains("It ended at ~/.bashrc, line 7, with status 0"),
            "{page}"
        );
    }

    #[test]
    fn a_failure_is_told_with_its_line_and_what_to_do() {
        let mut report = report();
        report.snapshot = None;
        report.failure = Some(Failed {
            reason: SnapshotFailure::NonzeroExit,
            message: "its startup files ended it with an error".to_owned(),
        });
        for (ending, said) in [
            (
                Ending::Exited { exit_code: 7 },
                "It ended at ~/.bashrc, line 7, with status 7",
            ),
            (Ending::TimedOut, "It hung at ~/.bashrc, line 7"),
            (Ending::Complete, "came to its end"),
        ] {
            report.trace = Some(traced(ending));
            let page = page(&report, Path::new("/h"));
            assert!(page.contains(said), "{page}");
            assert!(
                page.contains("\n    [ -n \"$EXEC_SERVER_SNAPSHOT\" ] || COMMAND\n"),
                "{page}"
            );
            assert!(
                page.starts_with("There is no snapshot of bash (/bin/bash): its startup"),
                "{page}"
            );
        }
    }
}
