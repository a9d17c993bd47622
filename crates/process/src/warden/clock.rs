//! CLOCK_MONOTONIC across processes.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Now, nanoseconds.
pub(super) fn monotonic() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec.cast_unsigned())
}

/// The instant that another process read as `at`.
pub(super) fn instant(at: u64) -> Instant {
    let now = Instant::now();
    now.checked_sub(Duration::from_nanos(monotonic().saturating_sub(at)))
        .unwrap_or(now)
}
