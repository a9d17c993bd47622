//! Starting a command's child, or its keeper, in memory shared with the warden; and knowing when that memory
//! is free again.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use exec_protocol::limits::MAX_INHERITED;

use crate::sys::Reaped;
use crate::sys_child::{ChildPlan, Place, direct_child, gate, step};
use crate::sys_keeper::keeper;
use crate::sys_raw::{Entry, clone_arguments, clone_with};
use crate::sys_stack::Stacks;

/// clone3(2)'s flag for its `cgroup` member.
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// Whether the kernel has `CLONE_INTO_CGROUP` (Linux 5.7), and no filter keeps clone3(2) from us. Starts nothing:
/// the cgroup it names is no descriptor.
pub(crate) fn can_start_in_cgroups() -> bool {
    // SAFETY: clone_args is plain integers, all zero is its empty value.
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = libc::SIGCHLD as u64;
    arguments.cgroup = u64::MAX;
    // SAFETY: clone_args lives across the call, which reads it only. No process can come of it: a kernel that knows
    // the member refuses the number (EINVAL), an older one the member (E2BIG).
    let result = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw const arguments,
            size_of::<libc::clone_args>(),
        )
    };
    result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL)
}

/// The strings of a command: NUL-terminated, one after the other.
#[derive(Debug)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    /// Where each string begins: programs, then argv, then the environment, then cwd.
    starts: Vec<usize>,
    programs: usize,
    argv: usize,
}

impl Strings {
    /// Takes `bytes[from..]` apart. `None`: not exactly `programs + argv + environment + 1` strings, or no
    /// program, or no argv.
    pub(crate) fn parse(
        bytes: Vec<u8>,
        from: usize,
        programs: usize,
        argv: usize,
        environment: usize,
    ) -> Option<Self> {
        let total = programs
            .checked_add(argv)?
            .checked_add(environment)?
            .checked_add(1)?;
        let text = bytes.get(from..)?;
        if programs == 0 || argv == 0 || total > text.len() || text.last() != Some(&0) {
            return None;
        }
        let mut starts = Vec::with_capacity(total);
        let mut next = from;
        for end in memchr::memchr_iter(0, text) {
            starts.push(next);
            next = from + end + 1;
        }
        (starts.len() == total).then_some(Self {
            bytes,
            starts,
            programs,
            argv,
        })
    }
}

/// How a child is to be set up.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Names it.
    pub(crate) id: u64,
    /// Descriptors 0, 1 and 2.
    pub(crate) stdio: [i32; 3],
    /// Descriptor 0 becomes the controlling terminal.
    pub(crate) terminal: bool,
    /// Soft and hard RLIMIT_NOFILE.
    pub(crate) open_files: [u64; 2],
    /// Numbers and descriptors besides 0–2, all above 2: [`MAX_INHERITED`] at most, each number once.
    pub(crate) inherited: Vec<(i32, i32)>,
}

/// All that a child reads and writes: at one address until it has executed or died.
#[derive(Debug)]
struct Memory {
    plan: Box<ChildPlan>,
    strings: Option<(Strings, Vec<*const u8>, Vec<*const u8>)>,
    stacks: Option<Stacks>,
}

impl Memory {
    fn new(strings: Strings, setup: &Setup, report: i32, stacks: Stacks) -> Self {
        let at = |start: &usize| strings.bytes.as_ptr().wrapping_add(*start);
        let (programs, rest) = strings.starts.split_at(strings.programs);
        let (argv, rest) = rest.split_at(strings.argv);
        let (cwd, environment) = rest.split_last().map_or((&0, rest), |(cwd, rest)| (cwd, rest));
        let null = std::iter::once(std::ptr::null());
        // One array: programs, argv, NULL, environment, NULL.
        let pointers: Vec<*const u8> = programs
            .iter()
            .map(at)
            .chain(argv.iter().map(at))
            .chain(null.clone())
            .chain(environment.iter().map(at))
            .chain(null.clone())
            .collect();
        let script: Vec<*const u8> = [c"/bin/sh".as_ptr().cast(), std::ptr::null()]
            .into_iter()
            .chain(argv.iter().skip(1).map(at))
            .chain(null)
            .collect();
        let plan = Box::new(ChildPlan {
            parent: AtomicI32::new(std::process::id() as i32),
            stdio: setup.stdio,
            places: places(setup, report),
            place_count: setup.inherited.len().min(MAX_INHERITED) as u32 + 1,
            terminal: setup.terminal,
            open_files: setup.open_files,
            cwd: at(cwd),
            programs: pointers.as_ptr(),
            program_count: programs.len() as u32,
            argv: pointers.as_ptr().wrapping_add(programs.len()),
            environment: pointers.as_ptr().wrapping_add(programs.len() + argv.len() + 1),
            script_argv: script.as_ptr().cast_mut(),
            child_stack_top: stacks.child_top(),
            id: setup.id,
            failed_step: AtomicU32::new(step::NONE),
            failed_errno: AtomicI32::new(0),
            failed_program: AtomicU32::new(0),
            failed_exists: AtomicBool::new(false),
            gate: AtomicU32::new(gate::OPEN),
            leader: AtomicI32::new(0),
            leader_reaped: AtomicBool::new(false),
            executed: AtomicBool::new(false),
        });
        Self {
            plan,
            strings: Some((strings, pointers, script)),
            stacks: Some(stacks),
        }
    }

    fn argument(&self) -> *mut std::ffi::c_void {
        std::ptr::from_ref::<ChildPlan>(&self.plan).cast_mut().cast()
    }

    fn failure(&self) -> Option<Failure> {
        let failed = self.plan.failed_step.load(Ordering::SeqCst);
        (failed != step::NONE).then(|| Failure {
            step: failed,
            errno: self.plan.failed_errno.load(Ordering::SeqCst),
            program: self.plan.failed_program.load(Ordering::SeqCst) as u16,
            exists: self.plan.failed_exists.load(Ordering::SeqCst),
        })
    }
}

/// Where the report and the inherited descriptors go: the report first, to the lowest number that is free.
fn places(setup: &Setup, report: i32) -> [Place; 1 + MAX_INHERITED] {
    let taken = |number: &i32| setup.inherited.iter().any(|(taken, _)| taken == number);
    // One more candidate than there are numbers to avoid.
    let free = (3..=3 + MAX_INHERITED as i32).find(|number| !taken(number));
    let mut places = [Place {
        source: report,
        target: free.unwrap_or(3),
        flags: libc::O_CLOEXEC,
    }; 1 + MAX_INHERITED];
    for (place, (number, source)) in places.iter_mut().skip(1).zip(&setup.inherited) {
        *place = Place {
            source: *source,
            target: *number,
            flags: 0,
        };
    }
    places
}

/// A child that did not execute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Of [`step`].
    pub(crate) step: u32,
    /// errno.
    pub(crate) errno: i32,
    /// Which program.
    pub(crate) program: u16,
    /// It exists.
    pub(crate) exists: bool,
}

/// What a child has come to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It still prepares itself.
    Pending,
    /// It left this memory without a failure: it executed, or was killed.
    Left,
    /// It failed.
    Failed(Failure),
}

/// A child of the warden between clone and exec. Dropped before it is known to have left this memory, it
/// leaks what the child may still use.
#[derive(Debug)]
pub(crate) struct Child {
    memory: Option<Memory>,
    status: OwnedFd,
}

/// What tells that a child has executed or died: exec and exit close the child's end.
#[derive(Debug)]
pub(crate) struct StatusPipe {
    status: OwnedFd,
    report: OwnedFd,
}

impl StatusPipe {
    /// # Errors
    /// pipe2(2).
    pub(crate) fn new() -> io::Result<Self> {
        let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        let (status, report) = rustix::pipe::pipe_with(flags)?;
        Ok(Self { status, report })
    }
}

impl Child {
    /// Starts it, in `cgroup` if there is one (a directory). Gives its process id.
    ///
    /// # Errors
    /// clone3(2) or clone(2).
    pub(crate) fn start(
        strings: Strings,
        setup: &Setup,
        StatusPipe { status, report }: StatusPipe,
        stacks: Stacks,
        cgroup: Option<BorrowedFd<'_>>,
    ) -> Result<(Self, i32), (io::Error, Stacks)> {
        let mut memory = Memory::new(strings, setup, report.as_raw_fd(), stacks);
        match start(&memory, direct_child, cgroup) {
            Ok(pid) => Ok((
                Self {
                    memory: Some(memory),
                    status,
                },
                pid,
            )),
            Err(error) => match memory.stacks.take() {
                Some(stacks) => Err((error, stacks)),
                None => unreachable!("new memory has stacks"),
            },
        }
    }

    /// Its status pipe: readable when [`Child::outcome`] will not be pending.
    pub(crate) fn status(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    /// Keeps it from executing. False: it is in execve(2), or has been.
    pub(crate) fn shut_gate(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.plan.shut_gate())
    }

    /// What it has come to. Not pending: its memory is free, the stacks come back (once).
    pub(crate) fn outcome(&mut self) -> (Outcome, Option<Stacks>) {
        let mut byte = [0u8; 1];
        // End of file: exec or exit closed the other end, both after leaving this memory.
        match rustix::io::read(&self.status, &mut byte) {
            Ok(0) => self.left(),
            _ => (Outcome::Pending, None),
        }
    }

    fn left(&mut self) -> (Outcome, Option<Stacks>) {
        let Some(mut memory) = self.memory.take() else {
            return (Outcome::Left, None);
        };
        let outcome = memory.failure().map_or(Outcome::Left, Outcome::Failed);
        (outcome, memory.stacks.take())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        std::mem::forget(self.memory.take());
    }
}

/// A keeper, until it is reaped. Dropped before, it leaks what it may still use.
#[derive(Debug)]
pub(crate) struct Keeper {
    memory: Option<Memory>,
    pid: i32,
}

impl Keeper {
    /// Starts it; it starts the command and writes records to `records`.
    ///
    /// # Errors
    /// clone(2).
    pub(crate) fn start(
        strings: Strings,
        setup: &Setup,
        stacks: Stacks,
        records: BorrowedFd<'_>,
    ) -> Result<Self, (io::Error, Stacks)> {
        let mut memory = Memory::new(strings, setup, records.as_raw_fd(), stacks);
        match start(&memory, keeper, None) {
            Ok(pid) => Ok(Self {
                memory: Some(memory),
                pid,
            }),
            Err(error) => match memory.stacks.take() {
                Some(stacks) => Err((error, stacks)),
                None => unreachable!("new memory has stacks"),
            },
        }
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// The leader, once it exists.
    pub(crate) fn leader(&self) -> Option<i32> {
        let leader = self.memory.as_ref()?.plan.leader.load(Ordering::SeqCst);
        (leader > 0).then_some(leader)
    }

    /// The leader was reaped, or is about to be: its number may name another process.
    pub(crate) fn leader_reaped(&self) -> bool {
        self.memory
            .as_ref()
            .is_none_or(|memory| memory.plan.leader_reaped.load(Ordering::SeqCst))
    }

    /// Keeps the leader from executing. False: it is in execve(2), or has been.
    pub(crate) fn shut_gate(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.plan.shut_gate())
    }

    /// Says that the leader is about to be killed, whether it has executed or not.
    pub(crate) fn note_kill(&self) {
        if let Some(memory) = &self.memory {
            memory.plan.note_kill();
        }
    }

    /// Why it failed.
    pub(crate) fn failure(&self) -> Option<Failure> {
        self.memory.as_ref()?.failure()
    }

    /// Frees the strings, once the leader has executed.
    pub(crate) fn free_strings(&mut self) {
        if let Some(memory) = &mut self.memory
            && memory.plan.executed.load(Ordering::SeqCst)
        {
            memory.strings = None;
        }
    }

    /// Takes the memory back from a keeper that is dead, if `reaped` is this one.
    pub(crate) fn dead(&mut self, reaped: &Reaped) -> Option<Stacks> {
        if reaped.pid != self.pid {
            return None;
        }
        // A leader between clone and exec may outlive a keeper that was killed from outside: it uses the
        // stack and the strings for a moment still, so they are left to it.
        let memory = self.memory.take()?;
        let done = memory.plan.executed.load(Ordering::SeqCst)
            || memory.plan.leader_reaped.load(Ordering::SeqCst)
            || (memory.plan.leader.load(Ordering::SeqCst) == 0 && memory.failure().is_some());
        if done {
            let mut memory = memory;
            return memory.stacks.take();
        }
        std::mem::forget(memory);
        None
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        std::mem::forget(self.memory.take());
    }
}

fn start(memory: &Memory, entry: Entry, cgroup: Option<BorrowedFd<'_>>) -> io::Result<i32> {
    let Some(stacks) = &memory.stacks else {
        unreachable!("memory is started once")
    };
    let flags = (libc::CLONE_VM | libc::SIGCHLD) as usize;
    let result = if let Some(cgroup) = cgroup {
        let (stack, stack_size) = stacks.child();
        // SAFETY: clone_args is plain integers, all zero is its empty value.
        let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
        arguments.flags = libc::CLONE_VM as u64 | CLONE_INTO_CGROUP;
        arguments.exit_signal = libc::SIGCHLD as u64;
        arguments.stack = stack as u64;
        arguments.stack_size = stack_size as u64;
        arguments.cgroup = cgroup.as_raw_fd() as u64;
        let at = (&raw const arguments) as usize;
        // SAFETY: clone_args lives across the call, which reads it only. The stack is 64 KiB, page-aligned, and this
        // memory's alone: Child frees it and the plan only when the child has left this memory, and leaks them
        // otherwise. `entry` takes the ChildPlan that is its argument; direct_child and keeper make raw system
        // calls only, so they allocate and lock nothing and touch no thread-local storage.
        unsafe {
            clone_with(
                libc::SYS_clone3,
                [at, size_of::<libc::clone_args>(), 0, 0, 0],
                entry,
                memory.argument(),
            )
        }
    } else {
        // Two stacks: a keeper's own is the second, a lone child uses the first.
        let top = if entry as usize == keeper as *const () as usize {
            stacks.keeper_top()
        } else {
            stacks.child_top()
        };
        // SAFETY: the stack ending at `top` is 64 KiB, page-aligned, and this memory's alone: Child and Keeper free it
        // and the plan only when the process has left this memory, and leak them otherwise. No parent tid is
        // asked for, so the 0 is not written through. `entry` takes the ChildPlan that is its argument;
        // direct_child and keeper make raw system calls only, so they allocate and lock nothing and touch no
        // thread-local storage.
        unsafe {
            clone_with(
                libc::SYS_clone,
                clone_arguments(flags, top, 0),
                entry,
                memory.argument(),
            )
        }
    };
    if result < 0 {
        Err(io::Error::from_raw_os_error(-result as i32))
    } else {
        Ok(result as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::Strings;

    #[test]
    fn strings_are_counted() {
        let parse = |bytes: &[u8], p, a, e| Strings::parse(bytes.to_vec(), 0, p, a, e).is_some();
        assert!(parse(b"/bin/a\0a\0X=1\0/\0", 1, 1, 1));
        assert!(!parse(b"/bin/a\0a\0X=1\0/\0", 1, 1, 0));
        assert!(!parse(b"/bin/a\0a\0X=1\0/\0", 1, 1, 2));
        assert!(!parse(b"/bin/a\0a\0X=1\0/", 1, 1, 1));
        assert!(!parse(b"a\0/\0", 0, 1, 0));
        assert!(!parse(b"", 1, 1, usize::MAX));
    }
}
