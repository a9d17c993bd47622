//! The warden, black box: every test in a process of its own, with each tracker, as root and as nobody.

mod failures;
mod fixture;
mod hang_up;
mod hygiene;
mod inherited;
mod ladder;
mod loss;
mod programs;
mod starts;

use std::io::Write;
use std::process::{Command, ExitCode};
use std::time::Instant;

use fixture::Fixture;

/// A test and its name.
type Test = (&'static str, fn(Fixture));

fn tests() -> Vec<Test> {
    [
        starts::TESTS,
        failures::TESTS,
        ladder::TESTS,
        loss::TESTS,
        hang_up::TESTS,
        hygiene::TESTS,
        inherited::TESTS,
    ]
    .concat()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        [_, "warden"] => exec_process::warden::run_replacement(),
        [_, "program", rest @ ..] => programs::run(rest),
        [_, "one", name, tracker, user] => {
            let Some((_, test)) = tests().into_iter().find(|(found, _)| found == name) else {
                return ExitCode::FAILURE;
            };
            test(Fixture::new(*tracker == "cgroup", *user == "nobody"));
            ExitCode::SUCCESS
        }
        [_, rest @ ..] => run_all(rest),
        [] => ExitCode::FAILURE,
    }
}

fn run_all(arguments: &[&str]) -> ExitCode {
    let mut out = std::io::stdout();
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let users: &[&str] = if rustix::process::geteuid().is_root() {
        &["root", "nobody"]
    } else {
        &["self"]
    };
    let (mut passed, mut failed) = (0, 0);
    for (name, _) in tests() {
        for (tracker, user) in ["cgroup", "subreaper"]
            .iter()
            .flat_map(|tracker| users.iter().map(move |user| (tracker, user)))
        {
            let whole = format!("{name} {tracker} {user}");
            // Without privileges there is no cgroup to write, so this would be the other tracker once more.
            if filter.is_some_and(|filter| !whole.contains(filter))
                || (*tracker, *user) == ("cgroup", "nobody")
            {
                continue;
            }
            let began = Instant::now();
            let status = Command::new("/proc/self/exe")
                .args(["one", name, tracker, user])
                .status();
            let ok = status.is_ok_and(|status| status.success());
            *(if ok { &mut passed } else { &mut failed }) += 1;
            let word = if ok { "ok" } else { "FAILED" };
            let _ = writeln!(
                out,
                "test {whole} ... {word} ({} ms)",
                began.elapsed().as_millis()
            );
        }
    }
    let _ = writeln!(out, "{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
