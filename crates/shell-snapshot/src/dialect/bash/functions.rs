//! What `declare -f` prints, taken apart.

use std::collections::BTreeMap;

use memchr::memmem;

use crate::Failure;
use crate::inventory::Name;

/// The functions of a capture.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Functions {
    /// Definitions by name, each ending in a line feed, in the form `function NAME () …`. Empty where the texts could
    /// not be told apart.
    pub(super) definitions: Vec<(Name, Vec<u8>)>,
    /// The whole as bash printed it, where they could not.
    pub(super) whole: Vec<u8>,
    /// Names by the attributes they have, as `declare -f` takes them (`x`, `r`, `t`).
    pub(super) attributes: BTreeMap<Vec<u8>, Vec<Name>>,
    /// All names.
    pub(super) names: Vec<Name>,
}

/// Reads `declare -f` and `declare -F`.
///
/// # Errors
/// [`Failure::InvalidCapture`] for a line of `declare -F` that is none.
pub(super) fn read(definitions: &[u8], listing: &[u8]) -> Result<Functions, Failure> {
    let mut functions = Functions::default();
    let mut heads = Vec::new();
    for line in listing
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let (attributes, name) = line
            .strip_prefix(b"declare -f")
            .and_then(|rest| {
                rest.iter()
                    .position(|&byte| byte == b' ')
                    .map(|at| (&rest[..at], &rest[at + 1..]))
            })
            .ok_or(Failure::InvalidCapture)?;
        if !attributes.is_empty() {
            functions
                .attributes
                .entry(attributes.to_vec())
                .or_default()
                .push(name.to_vec());
        }
        functions.names.push(name.to_vec());
        heads.push((attributes, name));
    }
    match split(definitions, &heads) {
        Some(definitions) => functions.definitions = definitions,
        None => functions.whole = with_final_line_feed(definitions),
    }
    Ok(functions)
}

/// Both lists have the same order, so each definition reaches to the next one's head. `None` if a head does not stand
/// where it must, or might stand in more than one place (a here-document may hold anything).
fn split(text: &[u8], heads: &[(&[u8], &[u8])]) -> Option<Vec<(Name, Vec<u8>)>> {
    let mut definitions = Vec::with_capacity(heads.len());
    let mut rest = text;
    for (index, (attributes, name)) in heads.iter().enumerate() {
        let after_name = rest
            .strip_prefix(b"function ")
            .unwrap_or(rest)
            .strip_prefix(*name)?;
        let body = after_name.strip_prefix(b" () \n")?;
        let end = match heads.get(index + 1) {
            None => body.len(),
            Some((_, next)) => end_before(body, next)?,
        };
        let mut body_end = end;
        if !attributes.is_empty() {
            // Printed behind the definition, but `declare` may be a function when it is read.
            let line = [b"declare -f", *attributes, b" ", name].concat();
            let printed = body[..end].trim_ascii_end().strip_suffix(&line[..])?;
            body_end = printed.len();
        }
        let definition = [
            b"function ",
            *name,
            b" () \n",
            body[..body_end].trim_ascii_end(),
            b"\n",
        ]
        .concat();
        definitions.push((name.to_vec(), definition));
        rest = &body[end..];
    }
    rest.is_empty().then_some(definitions)
}

/// Where the one head of that name begins.
fn end_before(body: &[u8], name: &[u8]) -> Option<usize> {
    let mut found = None;
    for keyword in [&b""[..], b"function "] {
        let head = [b"\n", keyword, name, b" () \n"].concat();
        for at in memmem::find_iter(body, &head) {
            if found.replace(at + 1).is_some() {
                return None;
            }
        }
    }
    found
}

fn with_final_line_feed(text: &[u8]) -> Vec<u8> {
    let mut text = text.trim_ascii_end().to_vec();
    if !text.is_empty() {
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definitions(text: &str, listing: &str) -> Vec<(String, String)> {
        let text_of = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        read(text.as_bytes(), listing.as_bytes())
            .unwrap()
            .definitions
            .into_iter()
            .map(|(name, definition)| (text_of(name), text_of(definition)))
            .collect()
    }

    #[test]
    fn each_definition_stands_alone() {
        let text = "-x () \n{ \n    :\n}\na=b () \n{ \n    echo\n} 1>&2\ndeclare -frx a=b\nfunction if () \n{ \n    :\n}";
        let listing = "declare -f -x\ndeclare -frx a=b\ndeclare -f if\n";
        assert_eq!(
            definitions(text, listing),
            [
                ("-x".into(), "function -x () \n{ \n    :\n}\n".into()),
                ("a=b".into(), "function a=b () \n{ \n    echo\n} 1>&2\n".into()),
                ("if".into(), "function if () \n{ \n    :\n}\n".into()),
            ]
        );
        let read = read(text.as_bytes(), listing.as_bytes()).unwrap();
        assert_eq!(
            read.attributes,
            BTreeMap::from([(b"rx".to_vec(), vec![b"a=b".to_vec()])])
        );
        assert_eq!(read.names, [b"-x".to_vec(), b"a=b".to_vec(), b"if".to_vec()]);
    }

    #[test]
    fn a_body_that_looks_like_the_next_head_is_not_cut() {
        let text = "f () \n{ \n    cat <<E\ng () \nE\n\n}\ng () \n{ \n    :\n}";
        let read = read(text.as_bytes(), b"declare -f f\ndeclare -f g\n").unwrap();
        assert!(read.definitions.is_empty());
        assert_eq!(read.whole, format!("{text}\n").into_bytes());
    }

    #[test]
    fn no_functions_are_no_error() {
        assert_eq!(read(b"", b""), Ok(Functions::default()));
        assert_eq!(read(b"", b"f\n"), Err(Failure::InvalidCapture));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(text: Vec<u8>, listing: Vec<u8>) {
            let _ = read(&text, &listing);
        }
    }
}
