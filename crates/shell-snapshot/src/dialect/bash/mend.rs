//! Mends what bash (5.2 and before) prints wrongly of a function.

/// A coprocess without a name is printed with the name bash gives it, `coproc COPROC cat`, and read as a command of
/// that name.
pub(super) fn coprocesses(definition: Vec<u8>) -> Vec<u8> {
    const PRINTED: &[u8] = b"coproc COPROC ";
    if memchr::memmem::find(&definition, PRINTED).is_none() {
        return definition;
    }
    let mut mended = Vec::with_capacity(definition.len());
    let mut rest = &definition[..];
    while let Some(at) = memchr::memmem::find(rest, PRINTED) {
        mended.extend(&rest[..at]);
        mended.extend(b"coproc ");
        rest = &rest[at + PRINTED.len()..];
    }
    mended.extend(rest);
    mended
}

/// What follows a pipeline that ends in a here-document, ` && …`, is printed behind the document, where nothing may
/// follow: the operator goes back to the line the document belongs to. `None` if there is no such line.
pub(super) fn here_documents(definition: &[u8]) -> Option<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = definition
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let mut is_mended = false;
    for index in 2..lines.len() {
        let Some((operator, rest)) = operator(&lines[index]) else {
            continue;
        };
        let delimiter = &lines[index - 1];
        let Some(start) = lines[..index - 1].iter().rposition(|line| opens(line, delimiter)) else {
            continue;
        };
        let rest = rest.to_vec();
        lines[start].extend(operator);
        lines[index] = rest;
        is_mended = true;
    }
    is_mended.then(|| lines.join(&b'\n'))
}

fn operator(line: &[u8]) -> Option<(&'static [u8], &[u8])> {
    const OPERATORS: &[&[u8]] = &[b" &&", b" ||", b" &"];
    OPERATORS
        .iter()
        .find_map(|operator| Some((*operator, line.strip_prefix(*operator)?)))
}

/// Whether a line opens a here-document that ends at such a line.
fn opens(line: &[u8], delimiter: &[u8]) -> bool {
    [&b"<<"[..], b"<<-"].iter().any(|redirection| {
        [&b""[..], b"'", b"\""]
            .iter()
            .any(|quote| line.ends_with(&[*redirection, *quote, delimiter, *quote].concat()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_goes_back_to_its_line() {
        assert_eq!(
            here_documents(b"    echo | cat <<'E'\nx\nE\n && echo y\n    a | b <<-F\n\tF\nF\n &\n}").unwrap(),
            b"    echo | cat <<'E' &&\nx\nE\n echo y\n    a | b <<-F &\n\tF\nF\n\n}"
        );
        assert_eq!(here_documents(b"    a <<E\nx\n && echo\nE\n"), None);
    }

    #[test]
    fn a_coprocess_has_no_name_twice() {
        assert_eq!(
            coprocesses(b"coproc COPROC cat; coproc X { a; }".to_vec()),
            b"coproc cat; coproc X { a; }"
        );
    }
}
