//! Starting a command with nothing between: posix_spawn(3), two pipes read to end, waitpid(2).

use std::ffi::CStr;
use std::io::{self, PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr;
use std::time::{Duration, Instant};

/// The environment of the servers' commands.
const ENVIRONMENT: [&CStr; 2] = [c"PATH=/usr/local/bin:/usr/bin:/bin", c"LC_ALL=C.UTF-8"];

/// Runs a program without arguments to its end.
///
/// # Errors
/// A pipe or the spawn failed, or it exited other than with 0.
pub(crate) fn run(program: &CStr) -> io::Result<Duration> {
    let begun = Instant::now();
    let (mut stdout, stdout_child) = io::pipe()?;
    let (mut stderr, stderr_child) = io::pipe()?;
    let pid = spawn(program, stdout_child.as_raw_fd(), stderr_child.as_raw_fd())?;
    drop((stdout_child, stderr_child));
    read_to_end(&mut stdout)?;
    read_to_end(&mut stderr)?;
    let mut status = 0;
    // SAFETY: `status` lives until the call returns; `pid` is a child of ours that nobody else waits for.
    if unsafe { libc::waitpid(pid, &raw mut status, 0) } != pid {
        return Err(io::Error::last_os_error());
    }
    let took = begun.elapsed();
    if status != 0 {
        return Err(io::Error::other(format!(
            "{program:?} ended with status {status}"
        )));
    }
    Ok(took)
}

fn spawn(program: &CStr, stdout: i32, stderr: i32) -> io::Result<libc::pid_t> {
    let argv = [program.as_ptr().cast_mut(), ptr::null_mut()];
    let environment = [
        ENVIRONMENT[0].as_ptr().cast_mut(),
        ENVIRONMENT[1].as_ptr().cast_mut(),
        ptr::null_mut(),
    ];
    let mut actions = MaybeUninit::<libc::posix_spawn_file_actions_t>::uninit();
    let mut pid = 0;
    // SAFETY: `actions` is initialised by the first call before any other uses it and destroyed once after
    // the last. The path, argv and environment are NUL-terminated, their arrays null-terminated, and all
    // outlive the calls. The descriptors are open: the caller holds them. Attributes may be null.
    let failed = unsafe {
        let actions = actions.as_mut_ptr();
        let mut failed = libc::posix_spawn_file_actions_init(actions);
        if failed == 0 {
            failed = [
                libc::posix_spawn_file_actions_addopen(actions, 0, c"/dev/null".as_ptr(), libc::O_RDONLY, 0),
                libc::posix_spawn_file_actions_adddup2(actions, stdout, 1),
                libc::posix_spawn_file_actions_adddup2(actions, stderr, 2),
            ]
            .into_iter()
            .find(|&failed| failed != 0)
            .unwrap_or_else(|| {
                libc::posix_spawn(
                    &raw mut pid,
                    program.as_ptr(),
                    actions,
                    ptr::null(),
                    argv.as_ptr(),
                    environment.as_ptr(),
                )
            });
            libc::posix_spawn_file_actions_destroy(actions);
        }
        failed
    };
    if failed == 0 {
        Ok(pid)
    } else {
        Err(io::Error::from_raw_os_error(failed))
    }
}

fn read_to_end(pipe: &mut PipeReader) -> io::Result<()> {
    let mut buffer = [0; 4096];
    while pipe.read(&mut buffer)? > 0 {}
    Ok(())
}
