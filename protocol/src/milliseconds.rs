//! Times as the wire says them: whole milliseconds.

use std::time::Duration;

/// Of a time that has passed, or a limit in force: rounded down.
#[must_use]
pub fn floor(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Of a time that is asked for: rounded up, so that one that is not nothing does not become nothing.
#[must_use]
pub fn ceil(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rounded_as_they_are_meant() {
        for (nanoseconds, down, up) in [(0, 0, 0), (1, 0, 1), (1_000_000, 1, 1), (1_999_999, 1, 2)] {
            let time = Duration::from_nanos(nanoseconds);
            assert_eq!((floor(time), ceil(time)), (down, up), "{time:?}");
        }
        assert_eq!((floor(Duration::MAX), ceil(Duration::MAX)), (u64::MAX, u64::MAX));
    }
}
