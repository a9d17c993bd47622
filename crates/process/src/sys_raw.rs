//! System calls without libc: for code that shares memory with another process (CLONE_VM), where libc's
//! `errno` and everything else in thread-local storage belong to that other process.

use std::arch::asm;
use std::ffi::c_void;

/// What a process made by [`clone_with`] runs.
pub(crate) type Entry = unsafe extern "C" fn(*mut c_void) -> !;

/// A system call; the kernel's answer: a result, or an error number negated.
///
/// # Safety
/// The call with these arguments must be sound: pointers are valid for what the kernel does with them, and
/// no memory or descriptor that others own is touched.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn syscall(number: i64, a: [usize; 6]) -> isize {
    let result;
    // SAFETY: the registers are those of the x86_64 system call convention, rcx and r11, which the kernel
    // overwrites, are named as clobbered, and nothing is pushed. That the call itself is sound is demanded above.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4], in("r9") a[5],
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// A system call; the kernel's answer: a result, or an error number negated.
///
/// # Safety
/// The call with these arguments must be sound: pointers are valid for what the kernel does with them, and
/// no memory or descriptor that others own is touched.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) unsafe fn syscall(number: i64, a: [usize; 6]) -> isize {
    let result;
    // SAFETY: the registers are those of the aarch64 system call convention, which overwrites only x0, and
    // nothing is pushed. That the call itself is sound is demanded above.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a[0] => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4], in("x5") a[5],
            options(nostack),
        );
    }
    result
}

/// clone(2) or clone3(2), by number, with a new stack: the new process runs `entry(argument)` there. The
/// answer is the caller's: a process id, or an error number negated.
///
/// # Safety
/// The arguments must name a stack of at least a few pages, 16-byte aligned at its top, that nothing else
/// uses until the new process has executed another program or is dead; `argument` must be what `entry`
/// takes, for as long. With CLONE_VM, `entry` must not touch thread-local storage, allocate or lock.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(crate) unsafe fn clone_with(number: i64, a: [usize; 5], entry: Entry, argument: *mut c_void) -> isize {
    let result;
    // SAFETY: in the parent this is a plain system call. In the child, rax is 0 and rsp is the new stack;
    // it keeps all other registers, so r12 and r13 still hold entry and argument, and `call` leaves the
    // stack aligned as the C convention demands. The child never comes back here.
    unsafe {
        asm!(
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") number as isize => result,
            in("rdi") a[0], in("rsi") a[1], in("rdx") a[2], in("r10") a[3], in("r8") a[4],
            in("r12") entry, in("r13") argument,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// clone(2) or clone3(2), by number, with a new stack: the new process runs `entry(argument)` there. The
/// answer is the caller's: a process id, or an error number negated.
///
/// # Safety
/// The arguments must name a stack of at least a few pages, 16-byte aligned at its top, that nothing else
/// uses until the new process has executed another program or is dead; `argument` must be what `entry`
/// takes, for as long. With CLONE_VM, `entry` must not touch thread-local storage, allocate or lock.
#[cfg(target_arch = "aarch64")]
#[inline(never)]
pub(crate) unsafe fn clone_with(number: i64, a: [usize; 5], entry: Entry, argument: *mut c_void) -> isize {
    let result;
    // SAFETY: in the parent this is a plain system call. In the child, x0 is 0 and sp is the new stack; it
    // keeps all other registers, so x20 and x21 still hold argument and entry. The child never comes back.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x20",
            "blr x21",
            "brk #1",
            "2:",
            in("x8") number,
            inlateout("x0") a[0] => result,
            in("x1") a[1], in("x2") a[2], in("x3") a[3], in("x4") a[4],
            in("x20") argument, in("x21") entry,
            lateout("x30") _,
        );
    }
    result
}

/// Arguments of clone(2) in the order of this architecture.
pub(crate) fn clone_arguments(flags: usize, stack_top: usize, parent_tid: usize) -> [usize; 5] {
    // The orders differ only in the last two (tls and child tid), which are not used.
    [flags, stack_top, parent_tid, 0, 0]
}

/// A call of up to three arguments.
///
/// # Safety
/// The call with these arguments must be sound: pointers are valid for what the kernel does with them, and
/// no memory or descriptor that others own is touched.
#[inline(always)]
pub(crate) unsafe fn call3(number: i64, a: usize, b: usize, c: usize) -> isize {
    // SAFETY: the caller's arguments are sound for this call; a call of three does not read the zeroes behind them.
    unsafe { syscall(number, [a, b, c, 0, 0, 0]) }
}

/// A call of up to five arguments.
///
/// # Safety
/// The call with these arguments must be sound: pointers are valid for what the kernel does with them, and
/// no memory or descriptor that others own is touched.
#[inline(always)]
pub(crate) unsafe fn call5(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize) -> isize {
    // SAFETY: the caller's arguments are sound for this call; a call of five does not read the zero behind them.
    unsafe { syscall(number, [a, b, c, d, e, 0]) }
}
