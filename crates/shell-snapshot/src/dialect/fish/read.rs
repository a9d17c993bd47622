//! Reads a capture of fish.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use exec_process::environment::Environment;

use super::values::{quote, unescape};
use crate::environment::execve::takes_variable;
use crate::inventory::Name;
use crate::sections::Sections;
use crate::state::{Captured, State};
use crate::{Failure, Inventory, LeftOut};

/// Variables that are the session's or the shell's own, not the user's state.
const OWN: &[&[u8]] = &[
    b"CMD_DURATION",
    b"COLUMNS",
    b"EUID",
    b"EXEC_SERVER_SNAPSHOT",
    b"LINES",
    b"OLDPWD",
    b"PWD",
    b"SHLVL",
    b"_",
    b"__fish_bin_dir",
    b"__fish_config_dir",
    b"__fish_data_dir",
    b"__fish_help_dir",
    b"__fish_sysconf_dir",
    b"__fish_user_data_dir",
    b"argv",
    b"fish_bind_mode",
    b"fish_killring",
    b"fish_private_mode",
    b"umask",
];

/// Variables that the system's own configuration makes, as far as they are in the state but not the user's.
const SYSTEM: &[&[u8]] = &[
    b"IFS",
    b"__fish_added_user_paths",
    b"__fish_initialized",
    b"__fish_vendor_completionsdirs",
    b"__fish_vendor_confdirs",
    b"__fish_vendor_functionsdirs",
    b"fish_complete_path",
    b"fish_function_path",
];

/// Events that only the end of the startup shell brings.
const END_EVENTS: &[&[u8]] = &[
    b" --on-event fish_exit",
    b" --on-process-exit ",
    b" --on-job-exit ",
];

/// A variable in one of its scopes.
#[derive(Debug, PartialEq, Eq)]
struct Variable<'a> {
    name: &'a [u8],
    scope: &'a [u8],
    exported: bool,
    path: bool,
    readonly: bool,
    elements: Vec<Vec<u8>>,
    /// Whether elements were left out when it was shown.
    shortened: bool,
}

impl Variable<'_> {
    /// As execve(2) hands it on.
    fn joined(&self) -> Vec<u8> {
        self.elements.join(if self.path { &b":"[..] } else { b" " })
    }
}

/// # Errors
/// [`Failure::InvalidCapture`] if a section is missing or is not what the shell prints.
pub(super) fn read(sections: &Sections<'_>, given: &Environment) -> Result<Captured, Failure> {
    for name in [
        "umask",
        "variables",
        "abbreviations",
        "limits",
        "files",
        "data",
        "known",
        "own",
        "names",
        "functions",
    ] {
        if !sections.has(name) {
            return Err(Failure::InvalidCapture);
        }
    }
    let mut inventory = Inventory::default();
    // A fresh shell without configuration keeps no history, and says so.
    let mut state = b"builtin set --erase fish_private_mode\n".to_vec();
    let environment = restore_variables(sections, given, &mut state, &mut inventory)?;
    let umask = sections.get("umask");
    let umask = umask.trim_ascii();
    if umask.is_empty() || !umask.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return Err(Failure::InvalidCapture);
    }
    push(&mut state, &[b"builtin set umask ", umask]);
    restore_limits(&sections.get("limits"), &sections.get("files"), &mut state);
    // Before a function can be called `abbr`.
    restore_abbreviations(&sections.get("abbreviations"), &mut state, &mut inventory);
    restore_functions(sections, &mut state, &mut inventory)?;
    // The status of the whole says whether it was read.
    push(&mut state, &[b"builtin true"]);
    Ok(Captured {
        environment,
        state: State {
            file: state,
            text: Vec::new(),
            demand: None,
        },
        inventory,
    })
}

fn push(state: &mut Vec<u8>, parts: &[&[u8]]) {
    state.extend(parts.iter().copied().flatten());
    state.push(b'\n');
}

/// What `set --show` prints:
/// ```text
/// $NAME: set in global scope, exported, a path variable with 2 elements
/// $NAME[1]: |escaped|
/// $NAME[2]: |escaped|
/// $NAME: originally inherited as |escaped|
/// ```
fn variables(text: &[u8]) -> Result<Vec<Variable<'_>>, Failure> {
    let mut variables: Vec<Variable<'_>> = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        // Whichever ellipsis the locale has.
        if matches!(line, b"..." | b"\xe2\x80\xa6" | b"\xe2\x8b\xaf") {
            variables.last_mut().ok_or(Failure::InvalidCapture)?.shortened = true;
            continue;
        }
        let colon = memchr::memmem::find(line, b": ").ok_or(Failure::InvalidCapture)?;
        let (name, what) = (
            line[..colon].strip_prefix(b"$").ok_or(Failure::InvalidCapture)?,
            &line[colon + 2..],
        );
        if let Some(what) = what.strip_prefix(b"set in ") {
            variables.push(header(name, what)?);
        } else if let Some(value) = what.strip_prefix(b"|").and_then(|value| value.strip_suffix(b"|")) {
            let last = variables.last_mut().ok_or(Failure::InvalidCapture)?;
            if !name.starts_with(last.name) || name.get(last.name.len()) != Some(&b'[') {
                return Err(Failure::InvalidCapture);
            }
            last.elements
                .push(unescape(value).ok_or(Failure::InvalidCapture)?);
        } else if !what.starts_with(b"originally inherited as |") {
            return Err(Failure::InvalidCapture);
        }
    }
    Ok(variables)
}

fn header<'a>(name: &'a [u8], what: &'a [u8]) -> Result<Variable<'a>, Failure> {
    let space = memchr::memchr(b' ', what).ok_or(Failure::InvalidCapture)?;
    let has = |needle: &[u8]| memchr::memmem::find(what, needle).is_some();
    if !is_name(name) || !what[space..].starts_with(b" scope, ") {
        return Err(Failure::InvalidCapture);
    }
    Ok(Variable {
        name,
        scope: &what[..space],
        exported: has(b" exported,"),
        path: has(b" a path variable "),
        readonly: has(b"(read-only)"),
        elements: Vec::new(),
        shortened: false,
    })
}

fn is_name(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
}

/// A variable's name and its elements.
type List = (Name, Vec<Vec<u8>>);

/// Lists that are too long to be shown in full, from the sections that hold one each.
fn long_lists(sections: &Sections<'_>) -> Result<Vec<List>, Failure> {
    (1..)
        .map(|number| format!("list:{number}"))
        .take_while(|section| sections.has(section))
        .map(|section| {
            let body = sections.get(&section);
            let mut lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            let name = lines.next().ok_or(Failure::InvalidCapture)?.to_vec();
            let elements = body[name.len()..]
                .strip_prefix(b"\n")
                .unwrap_or_default()
                .strip_suffix(b"\n")
                .unwrap_or_default()
                .split(|byte| *byte == b'\n')
                .map(|element| unescape(element).ok_or(Failure::InvalidCapture))
                .collect::<Result<_, _>>()?;
            Ok((name, elements))
        })
        .collect()
}

fn restore_variables(
    sections: &Sections<'_>,
    given: &Environment,
    state: &mut Vec<u8>,
    inventory: &mut Inventory,
) -> Result<Environment, Failure> {
    let shown = sections.get("variables");
    let lists = long_lists(sections)?;
    // A name that is none for the shell it hands on unseen.
    let mut environment: Environment = given
        .iter()
        .filter(|(name, _)| !is_name(name.as_bytes()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut universal = false;
    for mut variable in variables(&shown)? {
        if variable.shortened {
            // The value is that of the innermost scope. Of one that it hides no more is known than its ends.
            match lists.iter().find(|(name, _)| name == variable.name) {
                Some((_, elements)) => variable.elements.clone_from(elements),
                None => return Err(Failure::InvalidCapture),
            }
        }
        let name = OsString::from_vec(variable.name.to_vec());
        // Scopes are shown from the inside: the first one hides the others.
        let fits = takes_variable(variable.name, &variable.joined());
        if variable.exported && fits && !environment.contains_key(&name) {
            environment.insert(name, OsString::from_vec(variable.joined()));
        }
        let ephemeral = variable.name == b"fish_history" && variable.elements == [b""];
        if variable.readonly || ephemeral || OWN.contains(&variable.name) {
            continue;
        }
        let scope: &[u8] = match variable.scope {
            b"global" => b"--global",
            b"universal" => b"--universal",
            _ => continue,
        };
        universal |= variable.scope == b"universal";
        let auto_path = variable.name.ends_with(b"PATH");
        let values: Vec<u8> = variable
            .elements
            .iter()
            .flat_map(|element| [b" ".as_slice(), &quote(element)].concat())
            .collect();
        // fish takes no IFS from there.
        if variable.exported && fits && variable.name != b"IFS" {
            // The environment brings it. It cannot bring that it is a list, nor that it is joined with colons; that
            // is only right for the value that was captured.
            let whole = if variable.path {
                auto_path
            } else {
                variable.elements.len() == 1 && !auto_path
            };
            if !whole {
                let path: &[u8] = if variable.path { b" --path " } else { b" --unpath " };
                let parts: &[&[u8]] = &[
                    b"if builtin test \"$",
                    variable.name,
                    b"\" = ",
                    &quote(&variable.joined()),
                    b"; builtin set ",
                    scope,
                    b" --export",
                    path,
                    variable.name,
                    &values,
                    b"; end",
                ];
                push(state, parts);
            }
            continue;
        }
        if !SYSTEM.contains(&variable.name) && !variable.exported {
            inventory.variables.insert(variable.name.to_vec());
        }
        let exported: &[u8] = if variable.exported && fits {
            b" --export"
        } else {
            b" --unexport"
        };
        let path: &[u8] = if variable.path { b" --path " } else { b" " };
        push(
            state,
            &[b"builtin set ", scope, exported, path, variable.name, &values],
        );
    }
    if universal {
        inventory.left_out.push(LeftOut {
            what: b"universal variables".to_vec(),
            why: "have their values, but what a command makes of them is not kept: no configuration is read again",
        });
    }
    Ok(environment)
}

/// Soft limits that startup files speak of, from lines `what it is (unit, -LETTER) VALUE`.
fn restore_limits(limits: &[u8], files: &[u8], state: &mut Vec<u8>) {
    let spoken_of = |letter: u8| memchr::memmem::find(files, &[b'-', letter]).is_some() || letter == b'f';
    if files.trim_ascii().is_empty() {
        return;
    }
    for line in limits.split(|byte| *byte == b'\n') {
        let Some(end) = memchr::memmem::rfind(line, b") ") else {
            continue;
        };
        let value = &line[end + 2..];
        let number = value == b"unlimited" || (!value.is_empty() && value.iter().all(u8::is_ascii_digit));
        if let [.., b'-', letter] = line[..end]
            && number
            && spoken_of(letter)
        {
            push(
                state,
                &[b"builtin ulimit -S -", &[letter], b" ", value, b" 2>/dev/null"],
            );
        }
    }
}

/// A function's name and what is printed of it.
type Printed<'a> = (&'a [u8], &'a [u8]);

/// What `functions NAME…` prints, one definition after the other: a line `# Defined …`, `function NAME …`, the body.
fn functions<'a>(names: &'a [u8], printed: &'a [u8]) -> Result<Vec<Printed<'a>>, Failure> {
    const COMMENT: &[u8] = b"# Defined ";
    let begins = |at: usize, name: &[u8]| {
        let header = memchr::memchr(b'\n', &printed[at..]).map(|end| &printed[at + end + 1..]);
        header
            .and_then(|header| header.strip_prefix(b"function "))
            .is_some_and(|header| {
                // A name of other characters is quoted, one way or another.
                let plain = name
                    .iter()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte));
                !plain
                    || header
                        .strip_prefix(name)
                        .is_some_and(|after| after.first().is_none_or(u8::is_ascii_whitespace))
            })
    };
    let mut starts = Vec::new();
    let mut from = 0;
    for name in names.split(|byte| *byte == b'\n').filter(|name| !name.is_empty()) {
        let at = memchr::memmem::find_iter(&printed[from..], COMMENT)
            .map(|at| from + at)
            .find(|&at| (at == 0 || printed[at - 1] == b'\n') && begins(at, name))
            .ok_or(Failure::InvalidCapture)?;
        starts.push((name, at));
        from = at + COMMENT.len();
    }
    let ends = starts.iter().skip(1).map(|(_, at)| *at).chain([printed.len()]);
    Ok(starts
        .iter()
        .zip(ends)
        .map(|((name, at), end)| (*name, &printed[*at..end]))
        .collect())
}

fn restore_functions(
    sections: &Sections<'_>,
    state: &mut Vec<u8>,
    inventory: &mut Inventory,
) -> Result<(), Failure> {
    let (known, own, data) = (sections.get("known"), sections.get("own"), sections.get("data"));
    let own: BTreeSet<&[u8]> = own
        .split(|byte| *byte == b'\n')
        .filter_map(|file| file.strip_suffix(b".fish"))
        .collect();
    let names = known
        .split(|byte| *byte == b'\n')
        .filter(|name| !name.is_empty() && !own.contains(name));
    inventory.functions.extend(names.map(<[u8]>::to_vec));
    let of_system = [b"# Defined in ", data.trim_ascii(), b"/"].concat();
    let autoloaded = [&of_system, b"functions/".as_slice()].concat();

    let (names, printed) = (sections.get("names"), sections.get("functions"));
    for (name, text) in functions(&names, &printed)? {
        // Found again when it is called.
        if text.starts_with(&autoloaded) {
            continue;
        }
        let definition = match text.strip_prefix(b"#") {
            Some(comment) => &comment[memchr::memchr(b'\n', comment).ok_or(Failure::InvalidCapture)? + 1..],
            None => text,
        };
        let header = &definition[..memchr::memchr(b'\n', definition).ok_or(Failure::InvalidCapture)?];
        if !header.starts_with(b"function ") {
            return Err(Failure::InvalidCapture);
        }
        if text.starts_with(&of_system) {
            inventory.functions.remove(name);
        } else {
            inventory.functions.insert(name.to_vec());
        }
        if END_EVENTS
            .iter()
            .any(|event| memchr::memmem::find(header, event).is_some())
        {
            inventory.functions.remove(name);
            inventory.left_out.push(LeftOut {
                what: [b"function ".as_slice(), name].concat(),
                why: "runs at the end of the startup shell, not of a command",
            });
            continue;
        }
        if memchr::memmem::find(header, b" --description 'alias ").is_some() {
            inventory.aliases.insert(name.to_vec());
        }
        push(state, &[definition]);
    }
    Ok(())
}

/// Lines `abbr -a -- NAME EXPANSION`, which fish wrote to be read again.
fn restore_abbreviations(text: &[u8], state: &mut Vec<u8>, inventory: &mut Inventory) {
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"abbr "))
    {
        push(state, &[line]);
        if let Some(at) = memchr::memmem::find(line, b" -- ") {
            let name = line[at + 4..]
                .split(|byte| *byte == b' ')
                .next()
                .unwrap_or_default();
            inventory.aliases.insert(name.to_vec());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variables_are_read_as_they_are_shown() {
        let text = b"$EV: set in global scope, exported, with 2 elements\n$EV[1]: |one|\n$EV[2]: |a\\nb|c|\n\
            $P: set in universal scope, unexported, a path variable with 1 elements\n$P[1]: |/x|\n\
            $P: originally inherited as |y|\n$R: set in global scope, unexported, with 0 elements (read-only)\n";
        let read = variables(text).unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!(
            read[0],
            Variable {
                name: b"EV",
                scope: b"global",
                exported: true,
                path: false,
                readonly: false,
                elements: vec![b"one".to_vec(), b"a\nb|c".to_vec()],
                shortened: false,
            }
        );
        assert!(read[1].path && !read[1].exported && read[1].scope == b"universal");
        assert!(read[2].readonly && read[2].elements.is_empty());
        for text in [
            &b"EV: x"[..],
            b"$EV[1]: |x|",
            b"$EV: y",
            b"$EV: set in global scope, exported\n$X[1]: |x|",
            b"...",
        ] {
            assert_eq!(
                variables(text),
                Err(Failure::InvalidCapture),
                "{}",
                text.escape_ascii()
            );
        }
    }

    #[test]
    fn a_recorded_capture_becomes_a_state() {
        let nonce = "0123456789abcdef0123456789abcdef";
        let stream = "\n@ begin\n\n@ umask\n0027\n\n\
            @ variables\n$EV: set in global scope, exported, with 2 elements\n$EV[1]: |one|\n$EV[2]: |it's|\n\
            $HOME: set in global scope, exported, with 1 elements\n$HOME[1]: |/h|\n\
            $L: set in universal scope, unexported, a path variable with 1 elements\n$L[1]: |/x|\n\
            $status: set in global scope, unexported, with 1 elements (read-only)\n$status[1]: |0|\n\n\
            @ abbreviations\nabbr -a -- gco 'git checkout'\n\n@ limits\n\n@ files\n\n@ data\n/usr/share/fish\n\n\
            @ known\nf\nkill\nlazy\nls\n\n@ own\nls.fish\n\n@ names\nbye\nf\nkill\nls_helper\n\n\
            @ functions\n# Defined in /h/config.fish @ line 1\nfunction bye --on-event fish_exit\nend\n\
            # Defined via `source`\nfunction f --description 'alias f echo'\n echo $argv\nend\n\
            # Defined in /usr/share/fish/config.fish @ line 9\nfunction kill\nend\n\
            # Defined in /usr/share/fish/functions/ls.fish @ line 1\nfunction ls_helper\nend\n\n@ end\n"
            .replace("\n@ ", &format!("\n{nonce} "));
        let captured = read(
            &Sections::read(stream.as_bytes(), nonce).unwrap(),
            &Environment::new(),
        )
        .unwrap();
        assert_eq!(
            captured.environment,
            [("EV", "one it's"), ("HOME", "/h")]
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect()
        );
        assert_eq!(
            String::from_utf8(captured.state.file).unwrap(),
            "builtin set --erase fish_private_mode\n\
             if builtin test \"$EV\" = 'one it\\'s'; builtin set --global --export --unpath EV 'one' 'it\\'s'; end\n\
             builtin set --universal --unexport --path L '/x'\nbuiltin set umask 0027\nabbr -a -- gco 'git checkout'\n\
             function f --description 'alias f echo'\n echo $argv\nend\n\nfunction kill\nend\n\nbuiltin true\n"
        );
        let names = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        assert_eq!(captured.inventory.functions, names(&["f", "lazy"]));
        assert_eq!(captured.inventory.aliases, names(&["f", "gco"]));
        assert_eq!(captured.inventory.variables, names(&["L"]));
        let left_out: Vec<Vec<u8>> = captured
            .inventory
            .left_out
            .into_iter()
            .map(|left_out| left_out.what)
            .collect();
        assert_eq!(left_out, [&b"universal variables"[..], b"function bye"]);
    }

    #[test]
    fn limits_that_no_file_speaks_of_are_left_alone() {
        let limits =
            b"Maximum number of open file descriptors      (-n) 64\nMaximum stack size    (kB, -s) 8192\n";
        for (files, expected) in [
            (&b""[..], ""),
            (b"ulimit -S -n 64\n", "builtin ulimit -S -n 64 2>/dev/null\n"),
        ] {
            let mut state = Vec::new();
            restore_limits(limits, files, &mut state);
            assert_eq!(String::from_utf8(state).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: Vec<u8>) {
            let _ = variables(&text);
            restore_limits(&text, b"ulimit -n", &mut Vec::new());
            restore_abbreviations(&text, &mut Vec::new(), &mut Inventory::default());
        }

        #[test]
        fn any_section_is_read_or_refused(names in prop::collection::vec(prop::sample::select(vec![
            "umask", "variables", "abbreviations", "limits", "files", "data", "known", "own", "list:1", "names", "functions"]), 0..12),
            body in "[ -~\n]{0,60}")
        {
            let nonce = "0123456789abcdef0123456789abcdef";
            let mut stream = format!("{nonce} begin\n");
            for name in names {
                stream += &format!("\n{nonce} {name}\n{body}");
            }
            stream += &format!("\n{nonce} end\n");
            let sections = Sections::read(stream.as_bytes(), nonce).unwrap();
            let _ = read(&sections, &Environment::new());
        }
    }
}
