//! Soft limits: `ulimit -S -a` against those of a process the capture's is like. And that process's umask.

use std::collections::BTreeMap;

/// Soft limits by the letter `ulimit` has for them; `None` is unlimited.
pub(super) type Limits = BTreeMap<char, Option<u64>>;

/// How /proc/PID/limits calls them, their letter, and how many of its units are one of `ulimit`'s.
const NAMES: &[(&str, char, u64)] = &[
    ("Max cpu time", 't', 1),
    ("Max file size", 'f', 1024),
    ("Max data size", 'd', 1024),
    ("Max stack size", 's', 1024),
    ("Max core file size", 'c', 1024),
    ("Max resident set", 'm', 1024),
    ("Max processes", 'u', 1),
    ("Max open files", 'n', 1),
    ("Max locked memory", 'l', 1024),
    ("Max address space", 'v', 1024),
    ("Max file locks", 'x', 1),
    ("Max pending signals", 'i', 1),
    ("Max msgqueue size", 'q', 1),
    ("Max nice priority", 'e', 1),
    ("Max realtime priority", 'r', 1),
    ("Max realtime timeout", 'R', 1),
];

/// Reads `ulimit -S -a`: `open files    (-n) 1024`, `stack size   (kbytes, -s) 8192`. Lines that are not that, and
/// limits that cannot be set, are passed over.
pub(super) fn of_ulimit(text: &[u8]) -> Limits {
    let text = String::from_utf8_lossy(text);
    let limit = |line: &str| {
        let (name, value) = line.rsplit_once(") ")?;
        let letter = name.rsplit_once('-')?.1.chars().next()?;
        NAMES.iter().any(|(_, known, _)| *known == letter).then_some(())?;
        Some((letter, number(value.trim())?))
    };
    text.lines().filter_map(limit).collect()
}

/// Reads /proc/PID/limits.
pub(super) fn of_process(text: &str) -> Limits {
    let limit = |line: &str| {
        let (name, letter, unit) = NAMES.iter().find(|(name, ..)| line.starts_with(name))?;
        let soft = number(line[name.len()..].split_whitespace().next()?)?;
        Some((*letter, soft.map(|soft| soft / unit)))
    };
    text.lines().filter_map(limit).collect()
}

/// Reads the umask of /proc/PID/status. `None`: a kernel that does not tell.
pub(super) fn umask_of_process(text: &str) -> Option<u32> {
    let mask = text.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(mask.trim(), 8).ok()
}

fn number(text: &str) -> Option<Option<u64>> {
    match text {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    }
}

/// The statement that sets the soft limits that `bare` has not.
pub(super) fn statement(captured: &Limits, bare: &Limits) -> String {
    let mut arguments = String::new();
    for (letter, limit) in captured
        .iter()
        .filter(|(letter, limit)| bare.get(letter) != Some(limit))
    {
        let limit = limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
        arguments.push_str(&format!(" -{letter} {limit}"));
    }
    if arguments.is_empty() {
        return String::new();
    }
    // A command may have been given lower hard limits: then it keeps them, and nothing is said.
    format!("\\builtin ulimit -S{arguments} 2>&-\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_limits_that_differ_are_set() {
        let captured = of_ulimit(
            b"core file size              (blocks, -c) 0\nstack size                  (kbytes, -s) 8192\n\
              open files                          (-n) 256\npipe size                (512 bytes, -p) 8\n\
              virtual memory              (kbytes, -v) unlimited\nreal-time non-blocking time  (microseconds, -R) unlimited\n",
        );
        assert_eq!(captured.len(), 5);
        let bare = of_process(
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max core file size        0                    unlimited            bytes     \n\
             Max stack size            8388608              unlimited            bytes     \n\
             Max open files            1024                 1048576              files     \n\
             Max address space         unlimited            unlimited            bytes     \n\
             Max realtime timeout      unlimited            unlimited            us        \n",
        );
        assert_eq!(statement(&captured, &bare), "\\builtin ulimit -S -n 256 2>&-\n");
        assert_eq!(statement(&bare, &bare), "");
    }

    #[test]
    fn the_umask_is_octal() {
        assert_eq!(
            umask_of_process("Name:\tbash\nUmask:\t0027\nState:\tR\n"),
            Some(0o27)
        );
        assert_eq!(umask_of_process("Name:\tbash\n"), None);
    }
}
