//! `helper supervise`: a program below a supervisor that catches all it may leave.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::target;

/// Starts it. The program has `stdio`; the supervisor's own stdin and stdout are pipes, for orders and reports.
pub(crate) fn spawn(
    options: &[String],
    program: &[String],
    env: &[(String, String)],
    directory: Option<&Path>,
    stdio: [OwnedFd; 3],
) -> Child {
    let placed: [RawFd; 3] = [0, 1, 2].map(|i| stdio[i].as_raw_fd());
    let mut command = Command::new(target::helper_path());
    command
        .arg("supervise")
        .args(options)
        .arg("--")
        .args(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .envs(env.iter().cloned());
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    // SAFETY: between fork and exec only fcntl and dup2 are called, on descriptors that stay open in the parent
    // until after the spawn; no allocation, no lock.
    unsafe {
        command.pre_exec(move || {
            // Out of the way first: one of them may be 3, 4 or 5 already.
            let mut high = [0; 3];
            for (place, fd) in high.iter_mut().zip(placed) {
                *place = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 100);
                if *place < 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            for (i, fd) in high.into_iter().enumerate() {
                if libc::dup2(fd, 3 + i as RawFd) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    let supervisor = command.spawn().expect("the supervisor starts");
    drop(stdio);
    supervisor
}
