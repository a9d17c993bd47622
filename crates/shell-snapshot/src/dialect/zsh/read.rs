//! What a capture wrote, made a snapshot.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use exec_process::environment::Environment;

use super::{inventory, quoting, replay};
use crate::Failure;
use crate::sections::Sections;
use crate::state::Captured;

/// Reads the sections of `capture.zsh`.
///
/// # Errors
/// [`Failure::InvalidCapture`] if one is missing (the shell could not read its own state again) or is not what that
/// script writes.
pub(super) fn read(sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
    if !["environment", "names", "functions", "state"]
        .iter()
        .all(|name| sections.has(name))
    {
        return Err(Failure::InvalidCapture);
    }
    let mut environment = environment(&sections.get("environment"))?;
    for (name, value) in given {
        // zsh hands these on as they came, and cannot name them.
        if !is_identifier(name.as_bytes()) {
            environment.insert(name.clone(), value.clone());
        }
    }
    let compiled = native_half(sections.get("compiled"));
    Ok(Captured {
        environment,
        state: replay::state(
            text(&sections.get("functions"), &sections.get("state")),
            compiled,
            !sections.has("place"),
        ),
        inventory: inventory::read(&sections.get("names"), &sections.get("traps"))?,
    })
}

/// The state as one text, that zsh can read a line at a time or in one piece. Functions are evaluated in the parts
/// they come in: the time zsh takes to read definitions in one piece grows with the square of their number.
fn text(functions: &[u8], state: &[u8]) -> Vec<u8> {
    let mut text = b"builtin emulate -R zsh; builtin setopt noaliases\n{\n".to_vec();
    for part in functions.split(|&byte| byte == 0).filter(|part| !part.is_empty()) {
        text.extend(b"builtin eval ");
        text.extend(quoting::quote(part));
        text.push(b'\n');
    }
    text.extend(state);
    text
}

/// Reads `NAME=VALUE` records, each ended by NUL.
fn environment(records: &[u8]) -> Result<Environment, Failure> {
    let records = records
        .split(|&byte| byte == 0)
        .filter(|record| !record.is_empty());
    records
        .map(|record| {
            let equals = memchr::memchr(b'=', record).ok_or(Failure::InvalidCapture)?;
            let (name, value) = (&record[..equals], &record[equals + 1..]);
            if !is_identifier(name) {
                return Err(Failure::InvalidCapture);
            }
            Ok((
                OsString::from_vec(name.to_vec()),
                OsString::from_vec(value.to_vec()),
            ))
        })
        .collect()
}

/// Whether zsh takes a variable of that name from its environment. It takes letters of the locale too.
fn is_identifier(name: &[u8]) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    name.first().is_some_and(|byte| !byte.is_ascii_digit()) && name.iter().all(|&byte| is_letter(byte))
}

/// A compiled file holds the same twice: as this machine reads it, then in the other byte order. Bytes 5 to 7, lowest
/// first whatever the machine, say where the second begins.
fn native_half(mut compiled: Vec<u8>) -> Vec<u8> {
    if let Some(&[low, middle, high]) = compiled.get(5..8) {
        let other = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
        if other > 0 {
            compiled.truncate(other);
        }
    }
    compiled
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn map(pairs: &[(&str, &[u8])]) -> Environment {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), OsString::from_vec(value.to_vec())))
            .collect()
    }

    fn stream(sections: &[(&str, &[u8])]) -> Vec<u8> {
        let mut stream = b"noise".to_vec();
        for (name, body) in sections {
            stream.extend(format!("\n{NONCE} {name}\n").bytes());
            stream.extend(*body);
        }
        stream
    }

    fn read_stream(sections: &[(&str, &[u8])], given: &Environment) -> Result<Captured, Failure> {
        let stream = stream(sections);
        read(&Sections::read(&stream, NONCE).unwrap(), given)
    }

    #[test]
    fn a_capture_is_read_byte_by_byte() {
        let compiled = [&[7, 6, 5, 4, 0, 10, 0, 0, b'a', b'b'][..], b"the other order"].concat();
        let given = map(&[("BASH_FUNC_f%%", b"() { :; }"), ("GONE", b"1")]);
        let captured = read_stream(
            &[
                ("begin", b""),
                ("traps", b"trap -- 'echo bye' EXIT\ntrap -- 'x' INT"),
                ("login", b""),
                ("place", b""),
                ("environment", b"A=1\n=2\0B=\xff\0C=\0"),
                (
                    "names",
                    b"function f\0alias - x\0variable v\0option xtrace\0left function TRAPEXIT\0",
                ),
                ("functions", b"f () {\n}\0g () {\n}"),
                ("state", b"line\n}"),
                ("compiled", &compiled),
                ("end", b""),
            ],
            &given,
        )
        .unwrap();
        assert_eq!(
            captured.environment,
            map(&[
                ("A", b"1\n=2"),
                ("B", b"\xff"),
                ("C", b""),
                ("BASH_FUNC_f%%", b"() { :; }")
            ])
        );
        assert_eq!(captured.state.file, compiled[..10]);
        assert_eq!(
            String::from_utf8(captured.state.text).unwrap(),
            "builtin emulate -R zsh; builtin setopt noaliases\n{\nbuiltin eval $'f () {\\n}'\n\
             builtin eval $'g () {\\n}'\nline\n}"
        );
        let inventory = captured.inventory;
        assert!(inventory.functions.contains(&b"f"[..]) && inventory.aliases.contains(&b"- x"[..]));
        assert!(inventory.variables.contains(&b"v"[..]) && inventory.options.contains(&b"xtrace"[..]));
        let left_out: Vec<_> = inventory
            .left_out
            .iter()
            .map(|left| left.what.as_slice())
            .collect();
        assert_eq!(left_out, [&b"function TRAPEXIT"[..], b"trap EXIT"]);
    }

    #[test]
    fn what_is_missing_or_is_none_of_ours_is_no_capture() {
        let whole: [(&str, &[u8]); 6] = [
            ("begin", b""),
            ("environment", b"A=1\0"),
            ("names", b""),
            ("functions", b""),
            ("state", b""),
            ("end", b""),
        ];
        read_stream(&whole, &Environment::new()).unwrap();
        for (at, body) in [
            (1, &b"A\0"[..]),
            (1, b"1=\0"),
            (1, b"=\0"),
            (2, b"function\0"),
            (2, b"x y\0"),
        ] {
            let mut broken = whole;
            broken[at].1 = body;
            assert_eq!(
                read_stream(&broken, &Environment::new()).unwrap_err(),
                Failure::InvalidCapture,
                "{broken:?}"
            );
        }
        for missing in 1..5 {
            let mut broken = whole.to_vec();
            broken.remove(missing);
            assert_eq!(
                read_stream(&broken, &Environment::new()).unwrap_err(),
                Failure::InvalidCapture,
                "{missing}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn any_environment_is_read_as_it_is(values: Vec<Vec<u8>>) {
            let values: Vec<Vec<u8>> =
                values.into_iter().map(|value| value.into_iter().filter(|&byte| byte != 0).collect()).collect();
            let mut records = Vec::new();
            let mut expected = Environment::new();
            for (number, value) in values.into_iter().enumerate() {
                let name = format!("V{number}");
                records.extend(name.bytes());
                records.push(b'=');
                records.extend(&value);
                records.push(0);
                expected.insert(name.into(), OsString::from_vec(value));
            }
            proptest::prop_assert_eq!(environment(&records), Ok(expected));
        }

        #[test]
        fn any_sections_are_read_or_refused(records: Vec<u8>, names: Vec<u8>, compiled: Vec<u8>) {
            let _ = read_stream(
                &[("begin", b""), ("environment", &records), ("names", &names), ("functions", b""), ("state", b""),
                  ("compiled", &compiled), ("end", b"")],
                &Environment::new(),
            );
        }
    }
}
