//! Stacks for processes that share the warden's memory.

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use exec_protocol::limits::{POOLED_STACKS, STACK_BYTES, STACK_GUARD_BYTES};

/// Two stacks, each with a guard below: one for a command's child, one for its keeper.
#[derive(Debug)]
pub(crate) struct Stacks(NonNull<c_void>);

impl Stacks {
    const WHOLE: usize = 2 * (STACK_BYTES + STACK_GUARD_BYTES);

    fn new() -> io::Result<Self> {
        // SAFETY: a new private anonymous mapping at an address of the kernel's choice touches nothing.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                Self::WHOLE,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stacks = Self(NonNull::new(base).ok_or(io::ErrorKind::OutOfMemory)?);
        for top in [stacks.child_top(), stacks.keeper_top()] {
            // SAFETY: the range lies inside the mapping just made, which nothing else knows.
            let done = unsafe {
                libc::mprotect(
                    (top - STACK_BYTES) as *mut c_void,
                    STACK_BYTES,
                    libc::PROT_READ | libc::PROT_WRITE,
                )
            };
            if done != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(stacks)
    }

    /// One past the highest byte of the child's stack; page-aligned.
    pub(crate) fn child_top(&self) -> usize {
        self.0.as_ptr() as usize + STACK_GUARD_BYTES + STACK_BYTES
    }

    /// One past the highest byte of the keeper's stack; page-aligned.
    pub(crate) fn keeper_top(&self) -> usize {
        self.0.as_ptr() as usize + Self::WHOLE
    }

    /// Lowest usable byte and length of the child's stack, as clone3(2) wants them.
    pub(crate) fn child(&self) -> (usize, usize) {
        (self.child_top() - STACK_BYTES, STACK_BYTES)
    }
}

impl Drop for Stacks {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, of this size, and its owner says that no process runs on it
        // any more (see `Memory` in sys_spawn.rs, which leaks it otherwise).
        unsafe {
            libc::munmap(self.0.as_ptr(), Self::WHOLE);
        }
    }
}

/// Stacks that are free.
#[derive(Debug, Default)]
pub(crate) struct StackPool(Vec<Stacks>);

impl StackPool {
    /// A free one, or a new one.
    pub(crate) fn take(&mut self) -> io::Result<Stacks> {
        self.0.pop().map_or_else(Stacks::new, Ok)
    }

    /// Takes one back.
    pub(crate) fn give_back(&mut self, stacks: Stacks) {
        if self.0.len() < POOLED_STACKS {
            self.0.push(stacks);
        }
    }
}
