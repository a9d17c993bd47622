//! Where this process's cgroups can be.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use exec_protocol::limits::PROC_READ_BYTES;

/// Where this process's cgroups can be made.
pub(in crate::warden) fn own_cgroup() -> Option<PathBuf> {
    let mounts = read_proc("/proc/self/mountinfo").ok()?;
    let cgroup = read_proc("/proc/self/cgroup").ok()?;
    own_directory(&mounts, &cgroup)
}

/// Reads a file of proc(5), which has no size. Each read costs the kernel the writing of what it returns and of
/// what did not fit: with room for most machines' mounts there are few, where a growing buffer has eight.
fn read_proc(path: &str) -> io::Result<String> {
    let mut text = String::with_capacity(PROC_READ_BYTES);
    fs::File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// The cgroup v2 directory this process is in, by `/proc/self/mountinfo` and `/proc/self/cgroup`.
fn own_directory(mountinfo: &str, cgroup: &str) -> Option<PathBuf> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    mountinfo.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (unescape(fields.next()?), unescape(fields.next()?));
        // A mount may show a part of the hierarchy; a path outside of it ("/..") cannot be reached.
        let below = Path::new(path).strip_prefix(&root).ok()?;
        let reachable = below
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        reachable.then(|| Path::new(&point).join(below))
    })
}

/// mountinfo writes space, tab, newline and backslash as `\040`.
fn unescape(field: &str) -> String {
    let mut out = String::new();
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        match after
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok())
        {
            Some(byte) => {
                out.push(char::from(byte));
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

    #[test]
    fn the_own_directory_is_found() {
        let cases: &[(&str, &str, Option<&str>)] = &[
            (MOUNTS, "1:cpu:/x\n0::/\n", Some("/sys/fs/cgroup/unified")),
            (MOUNTS, "0::/a/b\n", Some("/sys/fs/cgroup/unified/a/b")),
            (MOUNTS, "0::/../a\n", None),
            (MOUNTS, "1:cpu:/x\n", None),
            (
                "41 31 0:38 /a /my\\040cg rw - cgroup2 cgroup2 rw",
                "0::/a/b\n",
                Some("/my cg/b"),
            ),
            ("41 31 0:38 /a /cg rw - cgroup2 cgroup2 rw", "0::/c\n", None),
            ("", "0::/\n", None),
        ];
        for (mounts, cgroup, want) in cases {
            assert_eq!(
                own_directory(mounts, cgroup),
                want.map(PathBuf::from),
                "{mounts} {cgroup}"
            );
        }
    }
}
