//! What `declare -f` prints, taken apart.

use std::collections::{BTreeMap, HashMap};

use super::mend;
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
    /// Definitions that were mended, and may still not be what bash reads.
    pub(super) mended: Vec<Vec<u8>>,
    /// Names of those that are lost.
    pub(super) lost: Vec<Name>,
    /// Names by the attributes they have, as `declare -f` takes them (`x`, `r`, `t`).
    pub(super) attributes: BTreeMap<Vec<u8>, Vec<Name>>,
    /// All names.
    pub(super) names: Vec<Name>,
}

/// What the dump says of functions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Listings<'a> {
    /// `declare -f`.
    pub(super) definitions: &'a [u8],
    /// `declare -F`.
    pub(super) names: &'a [u8],
    /// If there are unreadable ones, the definitions of the others.
    pub(super) readable: &'a [u8],
    /// The names of those that bash prints so that it cannot read them, a line each.
    pub(super) unreadable: &'a [u8],
}

/// Takes the listings apart.
///
/// # Errors
/// [`Failure::InvalidCapture`] for a line of `declare -F` that is none.
pub(super) fn read(listings: Listings<'_>) -> Result<Functions, Failure> {
    let Listings {
        definitions,
        names: listing,
        readable,
        unreadable,
    } = listings;
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
    let unreadable: Vec<&[u8]> = unreadable
        .split(|&byte| byte == b'\n')
        .filter(|name| !name.is_empty())
        .collect();
    match split(definitions, &heads) {
        Some(definitions) => {
            for (name, definition) in definitions {
                let definition = mend::coprocesses(definition);
                if !unreadable.contains(&&name[..]) {
                    functions.definitions.push((name, definition));
                    continue;
                }
                match mend::here_documents(&definition) {
                    Some(mended) => functions.mended.push(mended),
                    None => functions.lost.push(name),
                }
            }
        }
        None => {
            // Each of these was read by itself, with `function` in front of names that need it.
            let whole = if readable.is_empty() {
                definitions
            } else {
                readable
            };
            functions.whole = mend::coprocesses(with_final_line_feed(whole));
            functions.lost = unreadable.iter().map(|name| name.to_vec()).collect();
        }
    }
    functions.names.retain(|name| !functions.lost.contains(name));
    for names in functions.attributes.values_mut() {
        names.retain(|name| !functions.lost.contains(name));
    }
    functions.attributes.retain(|_, names| !names.is_empty());
    Ok(functions)
}

/// Both lists have the same order, so each definition reaches to the next one's head. `None` if a head does not stand
/// where it must, or might stand in more than one place (a here-document may hold anything).
fn split(text: &[u8], heads: &[(&[u8], &[u8])]) -> Option<Vec<(Name, Vec<u8>)>> {
    let starts = starts(text, heads)?;
    if starts.first().is_some_and(|first| *first != 0) || (starts.is_empty() && !text.is_empty()) {
        return None;
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut definitions = Vec::with_capacity(heads.len());
    for ((attributes, name), (start, end)) in heads.iter().zip(starts.iter().copied().zip(ends)) {
        let printed = text[start..end].trim_ascii_end();
        let printed = printed.strip_prefix(b"function ").unwrap_or(printed);
        // Attributes may be printed behind the definition, but `declare` may be a function when it is read.
        let attributes = [b"declare -f", *attributes, b" ", name].concat();
        let definition = printed
            .strip_suffix(&attributes[..])
            .unwrap_or(printed)
            .trim_ascii_end();
        definitions.push((name.to_vec(), [b"function ", definition, b"\n"].concat()));
    }
    Some(definitions)
}

/// Where each definition starts: where, behind the start of the one before, the only line stands that is its head.
/// `None` if there is no such line or more than one.
fn starts(text: &[u8], heads: &[(&[u8], &[u8])]) -> Option<Vec<usize>> {
    let mut lines: HashMap<&[u8], Vec<usize>> = heads.iter().map(|(_, name)| (*name, Vec::new())).collect();
    let mut at = 0;
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if let Some(name) = line.strip_suffix(b" () \n")
            && let Some(lines) = lines.get_mut(name.strip_prefix(b"function ").unwrap_or(name))
        {
            lines.push(at);
        }
        at += line.len();
    }
    let mut starts = Vec::with_capacity(heads.len());
    for (_, name) in heads {
        let after = starts.last().map_or(0, |start| start + 1);
        let mut possible = lines[name].iter().filter(|line| **line >= after);
        match (possible.next(), possible.next()) {
            (Some(start), None) => starts.push(*start),
            _ => return None,
        }
    }
    Some(starts)
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

    fn read_both(text: &str, listing: &str) -> Result<Functions, Failure> {
        read(Listings {
            definitions: text.as_bytes(),
            names: listing.as_bytes(),
            ..Listings::default()
        })
    }

    fn definitions(text: &str, listing: &str) -> Vec<(String, String)> {
        let text_of = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        read_both(text, listing)
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
        let read = read_both(text, listing).unwrap();
        assert_eq!(
            read.attributes,
            BTreeMap::from([(b"rx".to_vec(), vec![b"a=b".to_vec()])])
        );
        assert_eq!(read.names, [b"-x".to_vec(), b"a=b".to_vec(), b"if".to_vec()]);
    }

    #[test]
    fn a_body_that_looks_like_the_next_head_is_not_cut() {
        let text = "f () \n{ \n    cat <<E\ng () \nE\n\n}\ng () \n{ \n    :\n}";
        let read = read_both(text, "declare -f f\ndeclare -f g\n").unwrap();
        assert!(read.definitions.is_empty());
        assert_eq!(read.whole, format!("{text}\n").into_bytes());
    }

    #[test]
    fn what_cannot_be_read_does_not_take_the_rest_with_it() {
        let good = "f () \n{ \n    :\n}\n";
        let broken = "g () \n{ \n    echo | cat <<E\nx\nE\n && echo\n}\n";
        let lost = "h () \n{ \n    case x in \n        esac)\n        ;;\n    esac\n}";
        let text = [good, broken, lost].concat();
        let listings = Listings {
            definitions: text.as_bytes(),
            names: b"declare -f f\ndeclare -fx g\ndeclare -f h\n",
            readable: good.as_bytes(),
            unreadable: b"g\n\nh\n",
        };
        let like_a_head = text.replace("\nx\n", "\nh () \n");
        let refused = read(Listings {
            definitions: like_a_head.as_bytes(),
            ..listings
        })
        .unwrap();
        assert_eq!(refused.whole, good.as_bytes(), "not taken apart");
        assert_eq!(refused.lost, [b"g".to_vec(), b"h".to_vec()]);
        assert!(refused.attributes.is_empty());

        let listings = Listings {
            names: b"declare -f f\ndeclare -f g\ndeclare -f h\n",
            ..listings
        };
        let read = read(listings).unwrap();
        assert_eq!(read.definitions.len(), 1);
        assert_eq!(read.mended.len(), 1);
        assert_eq!(read.lost, [b"h".to_vec()]);
        assert_eq!(read.names, [b"f".to_vec(), b"g".to_vec()]);
    }

    #[test]
    fn no_functions_are_no_error() {
        assert_eq!(read_both("", ""), Ok(Functions::default()));
        assert_eq!(read_both("", "f\n"), Err(Failure::InvalidCapture));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(definitions: Vec<u8>, names: Vec<u8>) {
            let _ = read(Listings { definitions: &definitions, names: &names, ..Listings::default() });
        }
    }
}
