//! What execve(2) takes of a command. A shell can hold more than it can hand on, and a command must start all the same.

use std::ffi::{OsStr, OsString};

use exec_process::environment::Environment;
use rustix::process::{Resource, getrlimit};

/// Of one argument or variable, with its NUL (`MAX_ARG_STRLEN`).
const STRING_BYTES: usize = 128 * 1024;

/// Of all of them, whatever the limit of the stack is (`ARG_MAX`).
const LEAST_BYTES: u64 = 128 * 1024;

/// Of all of them, at most: three quarters of what a stack has by default.
const MOST_BYTES: u64 = 6 * 1024 * 1024;

/// What each of them takes besides.
const POINTER_BYTES: usize = size_of::<usize>();

/// The path of the program and, where it is a script, that of its interpreter.
const PATHS_BYTES: usize = 2 * 4096;

/// Whether a variable can be handed to a program at all.
pub(crate) fn takes_variable(name: &[u8], value: &[u8]) -> bool {
    name.len() + value.len() + 2 <= STRING_BYTES
}

/// Whether each of these can be an argument.
pub(crate) fn takes_arguments(argv: &[OsString]) -> bool {
    argv.iter().all(|argument| argument.len() < STRING_BYTES)
}

/// Bytes that a command may have of arguments and environment, which start with our own limit of the stack.
pub(crate) fn room() -> usize {
    let stack = getrlimit(Resource::Stack).current;
    let room = stack.map_or(MOST_BYTES, |bytes| (bytes / 4).clamp(LEAST_BYTES, MOST_BYTES));
    usize::try_from(room).unwrap_or(usize::MAX)
}

/// Bytes that these take.
pub(crate) fn taken(argv: &[OsString], environment: &Environment) -> usize {
    let arguments = argv.iter().map(|argument| argument.len() + 1 + POINTER_BYTES);
    let variables = environment.iter().map(|(name, value)| variable(name, value));
    PATHS_BYTES + arguments.chain(variables).sum::<usize>()
}

/// Bytes that one variable takes.
pub(crate) fn variable(name: &OsStr, value: &OsStr) -> usize {
    name.len() + value.len() + 2 + POINTER_BYTES
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Whether the system starts a program with that one more variable.
    fn starts(name: &str, value: &str) -> bool {
        let started = Command::new("/bin/true").env_clear().env(name, value).status();
        started.is_ok_and(|status| status.success())
    }

    #[test]
    fn a_variable_is_taken_up_to_what_the_system_takes() {
        let longest = STRING_BYTES - "V=_".len();
        for (bytes, taken) in [(0, true), (longest, true), (longest + 1, false)] {
            let value = "x".repeat(bytes);
            assert_eq!(takes_variable(b"V", value.as_bytes()), taken, "{bytes}");
            assert_eq!(starts("V", &value), taken, "{bytes}");
        }
        assert!(takes_arguments(&["x".repeat(STRING_BYTES - 1).into()]));
        assert!(!takes_arguments(&["x".repeat(STRING_BYTES).into()]));
    }

    #[test]
    fn what_is_counted_to_fit_fits() {
        let argv = ["/bin/true".into()];
        let mut environment = Environment::new();
        let mut number = 0;
        // To the last string that fits.
        while taken(&argv, &environment) + 1024 + 32 <= room() {
            environment.insert(format!("V{number}").into(), "x".repeat(1024).into());
            number += 1;
        }
        let started = Command::new("/bin/true").env_clear().envs(&environment).status();
        assert!(started.unwrap().success());
    }
}
