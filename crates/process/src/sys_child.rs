//! What runs between clone and exec, in memory shared with the warden: raw system calls only, no allocation,
//! no lock, no thread-local storage. Everything it needs is in a [`ChildPlan`], prepared before.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use exec_protocol::limits::MAX_INHERITED;

use crate::sys_raw::{call3, call5};

/// A descriptor above 2 that a child keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Where it is in the warden; above 2.
    pub(crate) source: i32,
    /// Where it belongs; above 2.
    pub(crate) target: i32,
    /// Of dup3(2).
    pub(crate) flags: i32,
}

/// The step of a child that failed.
pub(crate) mod step {
    /// None did.
    pub(crate) const NONE: u32 = 0;
    /// clone(2) of the leader by its keeper.
    pub(crate) const FORK: u32 = 1;
    /// Session, terminal, descriptors, rlimits.
    pub(crate) const SETUP: u32 = 2;
    /// chdir(2).
    pub(crate) const CWD: u32 = 3;
    /// execve(2).
    pub(crate) const EXEC: u32 = 4;
    /// It was told to end before exec.
    pub(crate) const ENDED: u32 = 5;
}

/// Whether a child may execute: decided once, by the child or by the warden, whoever is first.
pub(crate) mod gate {
    /// The child has not come to it.
    pub(crate) const OPEN: u32 = 0;
    /// The child went through: it is in execve(2), or has been.
    pub(crate) const PASSED: u32 = 1;
    /// The warden shut it: the child does not execute.
    pub(crate) const SHUT: u32 = 2;
    /// The child went through, and the warden killed it before it was known to execute.
    pub(crate) const KILLED: u32 = 3;
}

/// What a child has to do, and what became of it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ChildPlan {
    /// The process that must be its parent; if it is not, that one has died.
    pub(crate) parent: AtomicI32,
    /// Descriptors for 0, 1 and 2, all above 2.
    pub(crate) stdio: [i32; 3],
    /// Descriptors above 2 that are kept, with targets that all differ: first the report to the warden (a status pipe
    /// that exec closes, or the keepers' record pipe), then those that the command inherits.
    pub(crate) places: [Place; 1 + MAX_INHERITED],
    /// How many of them there are.
    pub(crate) place_count: u32,
    /// Descriptor 0 is a PTY slave to be made the controlling terminal.
    pub(crate) terminal: bool,
    /// Soft and hard RLIMIT_NOFILE.
    pub(crate) open_files: [u64; 2],
    /// Working directory, NUL-terminated.
    pub(crate) cwd: *const u8,
    /// Paths to try, each NUL-terminated.
    pub(crate) programs: *const *const u8,
    /// How many.
    pub(crate) program_count: u32,
    /// NULL-terminated.
    pub(crate) argv: *const *const u8,
    /// NULL-terminated.
    pub(crate) environment: *const *const u8,
    /// argv for a script without `#!`: the shell, a free place for the path, then `argv[1..]`.
    pub(crate) script_argv: *mut *const u8,
    /// The leader's stack, where a keeper starts it.
    pub(crate) child_stack_top: usize,
    /// The launch, for a keeper's records.
    pub(crate) id: u64,

    /// A value of [`step`].
    pub(crate) failed_step: AtomicU32,
    /// errno of that step.
    pub(crate) failed_errno: AtomicI32,
    /// Which program, if the step is EXEC.
    pub(crate) failed_program: AtomicU32,
    /// That program exists.
    pub(crate) failed_exists: AtomicBool,
    /// A value of [`gate`].
    pub(crate) gate: AtomicU32,
    /// The leader, written by the kernel before it runs.
    pub(crate) leader: AtomicI32,
    /// Set by a keeper before it reaps the leader: from then on its number may name another process.
    pub(crate) leader_reaped: AtomicBool,
    /// Set by a keeper when the leader has left this memory.
    pub(crate) executed: AtomicBool,
}

impl ChildPlan {
    /// The child may execute, and from now on nobody takes that back.
    fn pass_gate(&self) -> bool {
        self.gate
            .compare_exchange(gate::OPEN, gate::PASSED, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    /// Keeps the child from executing. False: it is in execve(2), or has been.
    pub(crate) fn shut_gate(&self) -> bool {
        let before = self
            .gate
            .compare_exchange(gate::OPEN, gate::SHUT, Ordering::SeqCst, Ordering::SeqCst);
        matches!(before, Ok(_) | Err(gate::SHUT))
    }

    /// Says that the child is about to be killed, wherever it is.
    pub(crate) fn note_kill(&self) {
        if !self.shut_gate() {
            self.gate.store(gate::KILLED, Ordering::SeqCst);
        }
    }

    /// The warden has killed it, or kept it from executing: it may be dead and never have executed.
    pub(crate) fn may_have_died(&self) -> bool {
        matches!(self.gate.load(Ordering::SeqCst), gate::SHUT | gate::KILLED)
    }

    /// The descriptors above 2 that are kept; the report is the first.
    pub(crate) fn places(&self) -> &[Place] {
        self.places.get(..self.place_count as usize).unwrap_or_default()
    }

    /// The descriptor that reports to the warden, once the descriptors are arranged.
    pub(crate) fn report(&self) -> i32 {
        let [report, ..] = self.places;
        report.target
    }

    fn fail(&self, step: u32, errno: i32) {
        self.failed_errno.store(errno, Ordering::SeqCst);
        self.failed_step.store(step, Ordering::SeqCst);
    }
}

/// Ends the calling process at once.
pub(crate) fn exit_raw(code: i32) -> ! {
    loop {
        // SAFETY: exit_group(2) takes no pointer and does not return.
        unsafe { call3(libc::SYS_exit_group, code as usize, 0, 0) };
    }
}

/// Dies with the parent. False: the parent had died before.
pub(crate) fn bind_to_parent(parent: i32) -> bool {
    // SAFETY: prctl(PR_SET_PDEATHSIG) and getppid(2) take no pointer.
    unsafe {
        call5(
            libc::SYS_prctl,
            libc::PR_SET_PDEATHSIG as usize,
            libc::SIGKILL as usize,
            0,
            0,
            0,
        );
        call3(libc::SYS_getppid, 0, 0, 0) == parent as isize
    }
}

/// Puts the plan's descriptors at 0–2 and at their places, and closes all others.
///
/// # Safety
/// For a process with a descriptor table of its own that owns nothing in it.
pub(crate) unsafe fn arrange_descriptors(plan: &ChildPlan) -> Result<(), i32> {
    let check = |done: isize| {
        if done < 0 {
            Err(-done as i32)
        } else {
            Ok(done as i32)
        }
    };
    for (target, source) in plan.stdio.iter().enumerate() {
        // SAFETY: dup3(2) takes no pointer; the table is this process's own. The sources are above 2, so
        // none is overwritten before it was used.
        check(unsafe { call3(libc::SYS_dup3, *source as usize, target, 0) })?;
    }
    let mut places = plan.places;
    let places = places.get_mut(..plan.place_count as usize).unwrap_or_default();
    let mut above = 3;
    for place in plan.places() {
        above = above.max(place.target + 1);
    }
    for place in places.iter_mut() {
        // It would be overwritten before it is used; or it is where it belongs, but would be closed by exec.
        let in_the_way = plan.places().iter().any(|other| other.target == place.source);
        let stays = place.source == place.target && place.flags & libc::O_CLOEXEC != 0;
        if in_the_way && !stays {
            // SAFETY: fcntl(F_DUPFD_CLOEXEC) takes no pointer; the table is this process's own.
            place.source = check(unsafe {
                call3(
                    libc::SYS_fcntl,
                    place.source as usize,
                    libc::F_DUPFD_CLOEXEC as usize,
                    above as usize,
                )
            })?;
        }
    }
    for place in places.iter() {
        if place.source != place.target {
            // SAFETY: dup3(2) takes no pointer; the table is this process's own. The stdio sources have been used, and
            // no source that is still to be used stands at a target.
            check(unsafe {
                call3(
                    libc::SYS_dup3,
                    place.source as usize,
                    place.target as usize,
                    place.flags as usize,
                )
            })?;
        }
    }
    close_others(plan);
    Ok(())
}

/// Closes every descriptor above 2 that is nobody's target.
fn close_others(plan: &ChildPlan) {
    let mut first = 3;
    loop {
        let targets = plan.places().iter().map(|place| place.target);
        let Some(next) = targets.filter(|target| *target >= first).min() else {
            break;
        };
        if first < next {
            close_range(first, next - 1);
        }
        first = next + 1;
    }
    close_range(first, i32::MAX);
}

/// Closes the descriptors from `first` to `last`, which are nobody's.
fn close_range(first: i32, last: i32) {
    // SAFETY: close_range(2) takes no pointer; the table is this process's own, and nothing in the range is used again.
    let done = unsafe { call3(libc::SYS_close_range, first as usize, last as usize, 0) };
    if done == 0 {
        return;
    }
    // Before Linux 5.9. The warden's descriptors are all closed on exec; until then they are held.
    let mut fd = first;
    while fd <= last.min(1023) {
        // SAFETY: close(2) takes no pointer; the table is this process's own, and nothing in the range is used again.
        unsafe { call3(libc::SYS_close, fd as usize, 0, 0) };
        fd += 1;
    }
}

/// The child of the warden: sets itself up and executes the command. Its status pipe ends either way.
///
/// # Safety
/// `argument` is a valid `ChildPlan` that lives until this process has executed or died; runs in a process
/// of its own with its own descriptor table.
pub(crate) unsafe extern "C" fn direct_child(argument: *mut c_void) -> ! {
    // SAFETY: `argument` points to a ChildPlan that `Memory` in sys_spawn.rs holds in place until this process has
    // left this memory; what changes in it meanwhile is atomic, but for script_argv's array, which only this
    // process touches.
    let plan = unsafe { &*argument.cast::<ChildPlan>() };
    // SAFETY: cloned without CLONE_FILES, this process has a table of its own and owns nothing in it; the plan's
    // pointers are into the strings and arrays that live as long as the plan.
    unsafe { run(plan, true) }
}

/// The child of a keeper, which has arranged the descriptors.
///
/// # Safety
/// `argument` is a valid `ChildPlan` that lives until this process has executed or died; runs in a process
/// of its own with its own descriptor table.
pub(crate) unsafe extern "C" fn kept_child(argument: *mut c_void) -> ! {
    // SAFETY: `argument` is the keeper's own plan. CLONE_VFORK stops the keeper until this process has executed or
    // died, and if the keeper is killed meanwhile, `Keeper::dead` in sys_spawn.rs leaks the plan.
    let plan = unsafe { &*argument.cast::<ChildPlan>() };
    // SAFETY: cloned without CLONE_FILES, this process has a table of its own, a copy of what the keeper has
    // arranged; the plan's pointers are into the strings and arrays that live as long as the plan.
    unsafe { run(plan, false) }
}

/// # Safety
/// The process has a descriptor table of its own and owns nothing in it. The plan's `cwd` and programs are
/// NUL-terminated, its arrays of argv, environment and script_argv NULL-terminated, and all of them live until
/// this process has executed or died.
unsafe fn run(plan: &ChildPlan, arrange: bool) -> ! {
    if !bind_to_parent(plan.parent.load(Ordering::SeqCst)) {
        exit_raw(127);
    }
    // SAFETY: the descriptor table is this process's own and the plan's `cwd` is NUL-terminated, as `run` demands.
    match unsafe { set_up(plan, arrange) } {
        Ok(()) => {
            if plan.pass_gate() {
                // SAFETY: `run` demands strings that are NUL-terminated and arrays that are NULL-terminated;
                // `Memory::new` in sys_spawn.rs made them so.
                unsafe { execute(plan) };
            } else {
                plan.fail(step::ENDED, libc::ECANCELED);
            }
        }
        Err((step, errno)) => plan.fail(step, errno),
    }
    exit_raw(127)
}

/// # Safety
/// The process has a descriptor table of its own and owns nothing in it; the plan's `cwd` is NUL-terminated.
unsafe fn set_up(plan: &ChildPlan, arrange: bool) -> Result<(), (u32, i32)> {
    let setup = |result: isize| {
        if result < 0 {
            Err((step::SETUP, -result as i32))
        } else {
            Ok(())
        }
    };
    // SAFETY: setsid(2) takes no arguments.
    setup(unsafe { call3(libc::SYS_setsid, 0, 0, 0) })?;
    if arrange {
        // SAFETY: the descriptor table is this process's own and it owns nothing in it.
        unsafe { arrange_descriptors(plan) }.map_err(|errno| (step::SETUP, errno))?;
    } else {
        // The keeper's record pipe is not the command's.
        // SAFETY: close(2) on this process's own table.
        unsafe { call3(libc::SYS_close, plan.report() as usize, 0, 0) };
    }
    if plan.terminal {
        // SAFETY: ioctl(TIOCSCTTY) takes no pointer.
        setup(unsafe { call3(libc::SYS_ioctl, 0, libc::TIOCSCTTY as usize, 0) })?;
    }
    // SAFETY: the new limits are read from the plan, nothing is written.
    setup(unsafe {
        call5(
            libc::SYS_prlimit64,
            0,
            libc::RLIMIT_NOFILE as usize,
            plan.open_files.as_ptr() as usize,
            0,
            0,
        )
    })?;
    // SAFETY: reads `cwd`, which is NUL-terminated and lives as long as the plan; without CLONE_FS the working
    // directory is this process's own.
    let done = unsafe { call3(libc::SYS_chdir, plan.cwd as usize, 0, 0) };
    if done < 0 {
        return Err((step::CWD, -done as i32));
    }
    let none: u64 = 0;
    // SAFETY: reads 8 bytes of an empty mask from this stack.
    setup(unsafe {
        call5(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK as usize,
            (&raw const none) as usize,
            0,
            8,
            0,
        )
    })
}

/// Tries each program, as execvp(3) does; comes back only if none could be executed, and the plan then says
/// which failure tells most: a forbidden file, then one whose interpreter is missing, then a missing one.
///
/// # Safety
/// The plan's strings and arrays are valid and terminated.
unsafe fn execute(plan: &ChildPlan) {
    // Written down only at the end: a failure that a later program makes good is none.
    let mut worst = (0, 0, false, libc::ENOENT);
    for index in 0..plan.program_count {
        // SAFETY: `programs` has `program_count` places, and index is below that.
        let path = unsafe { *plan.programs.add(index as usize) };
        // SAFETY: `path` is one of the plan's NUL-terminated programs; its argv and environment are NULL-terminated
        // arrays of NUL-terminated strings.
        let mut errno = unsafe { exec(path, plan.argv, plan.environment) };
        if errno == libc::ENOEXEC {
            // SAFETY: script_argv has the shell, this place and a NULL at least, and only this child uses it; what
            // is written there is NUL-terminated, so the array stays what execve(2) takes.
            errno = unsafe {
                *plan.script_argv.add(1) = path;
                exec(c"/bin/sh".as_ptr().cast(), plan.script_argv, plan.environment)
            };
        }
        // SAFETY: `path` is one of the plan's programs, NUL-terminated.
        let exists = unsafe { exists(path) };
        let (weight, go_on) = match errno {
            // An entry of PATH that no file can be reached through; or the name is too long for any.
            libc::ENAMETOOLONG => (1, true),
            libc::ENOENT | libc::ENOTDIR if exists => (3, true),
            libc::ENOENT | libc::ENOTDIR | libc::ESTALE | libc::ENODEV | libc::ETIMEDOUT => (2, true),
            libc::EACCES => (4, true),
            _ => (5, false),
        };
        if weight > worst.0 {
            worst = (weight, index, exists, errno);
        }
        if !go_on {
            break;
        }
    }
    let (_, index, exists, errno) = worst;
    plan.failed_program.store(index, Ordering::SeqCst);
    plan.failed_exists.store(exists, Ordering::SeqCst);
    plan.fail(step::EXEC, errno);
}

/// execve(2): comes back with errno only.
///
/// # Safety
/// `path` is NUL-terminated; `argv` and `environment` are NULL-terminated arrays of NUL-terminated strings.
unsafe fn exec(path: *const u8, argv: *const *const u8, environment: *const *const u8) -> i32 {
    // SAFETY: execve(2) reads `path` up to its NUL and both arrays up to their NULL, as demanded above; it writes
    // nothing of ours.
    -unsafe {
        call3(
            libc::SYS_execve,
            path as usize,
            argv as usize,
            environment as usize,
        )
    } as i32
}

/// The file is there, whoever may use it.
///
/// # Safety
/// `path` is NUL-terminated.
unsafe fn exists(path: *const u8) -> bool {
    // SAFETY: faccessat(2) reads `path` up to its NUL and writes nothing.
    unsafe {
        call3(
            libc::SYS_faccessat,
            libc::AT_FDCWD as usize,
            path as usize,
            libc::F_OK as usize,
        ) == 0
    }
}
