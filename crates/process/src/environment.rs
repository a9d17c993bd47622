//! The environment a child gets: envPolicy, then `env`, then trace context and metadata.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use exec_protocol::envelope::Trace;
use exec_protocol::process::ExecMetadata;
use exec_protocol::{EnvPolicy, Inherit};
use wildmatch::WildMatch;

use crate::{InvalidCommand, warden};

/// Environment variables, by name.
pub type Environment = BTreeMap<OsString, OsString>;

/// What `inherit: "core"` keeps.
const CORE: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TEMP", "TMP", "TMPDIR", "USER",
];

/// Dropped unless the policy says `ignoreDefaultExcludes`.
const DEFAULT_EXCLUDES: &[&str] = &["*KEY*", "*SECRET*", "*TOKEN*"];

const THREAD_ID: &str = "CODEX_THREAD_ID";
/// Names the call that a command belongs to.
pub const TOOL_CALL_ID: &str = "CODEX_TOOL_CALL_ID";
const TRACEPARENT: &str = "TRACEPARENT";
const TRACESTATE: &str = "TRACESTATE";

/// The variables that come from a request's `metadata` and `trace`: they differ from call to call.
pub const OF_ONE_CALL: &[&str] = &[THREAD_ID, TOOL_CALL_ID, TRACEPARENT, TRACESTATE];

/// Prepares a child's environment. `own` is the daemon's.
///
/// # Errors
/// A name that is empty or holds `=` or NUL, a value that holds NUL; the member at fault is named.
pub fn prepare(
    own: &Environment,
    policy: Option<&EnvPolicy>,
    env: &BTreeMap<String, String>,
    metadata: Option<&ExecMetadata>,
    trace: Option<&Trace>,
) -> Result<Environment, InvalidCommand> {
    let mut environment = match policy {
        Some(policy) => apply(own, policy)?,
        None => Environment::new(),
    };
    for (name, value) in env {
        check_member("env", name, value)?;
        environment.insert(name.into(), value.into());
    }
    // One context or none: a tracestate beside a foreign traceparent would be a lie.
    let named = env.contains_key(TRACEPARENT) || env.contains_key(TRACESTATE);
    if let Some(traceparent) = trace.and_then(|trace| trace.traceparent.as_ref())
        && !named
    {
        insert(&mut environment, "trace.traceparent", TRACEPARENT, traceparent)?;
        match trace.and_then(|trace| trace.tracestate.as_ref()) {
            Some(tracestate) => insert(&mut environment, "trace.tracestate", TRACESTATE, tracestate)?,
            None => drop(environment.remove(OsStr::new(TRACESTATE))),
        }
    }
    if let Some(metadata) = metadata {
        for (member, name, value) in [
            ("metadata.threadId", THREAD_ID, &metadata.thread_id),
            ("metadata.toolCallId", TOOL_CALL_ID, &metadata.tool_call_id),
        ] {
            if let Some(value) = value {
                insert(&mut environment, member, name, value)?;
            }
        }
    }
    Ok(environment)
}

/// What a policy makes of `own`: inherit → default excludes → exclude → set → includeOnly.
///
/// # Errors
/// A name or value in `set` that no environment can hold.
pub fn apply(own: &Environment, policy: &EnvPolicy) -> Result<Environment, InvalidCommand> {
    let mut environment: Environment = own
        .iter()
        .filter(|(name, _)| match policy.inherit {
            Inherit::All => !is_private(name),
            Inherit::Core => CORE.iter().any(|core| name.as_bytes() == core.as_bytes()),
            Inherit::None => false,
        })
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if !policy.ignore_default_excludes {
        let excludes = Patterns::new(DEFAULT_EXCLUDES);
        environment.retain(|name, _| !excludes.match_name(name));
    }
    if !policy.exclude.is_empty() {
        let excludes = Patterns::new(&policy.exclude);
        environment.retain(|name, _| !excludes.match_name(name));
    }
    for (name, value) in &policy.set {
        check_member("envPolicy.set", name, value)?;
        environment.insert(name.into(), value.into());
    }
    if !policy.include_only.is_empty() {
        let includes = Patterns::new(&policy.include_only);
        environment.retain(|name, _| includes.match_name(name));
    }
    Ok(environment)
}

/// Variables that are the daemon's own: its exporters' secrets, its warden's settings, and the names of an outer
/// session's call. No child inherits them.
#[must_use]
pub fn is_private(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name == THREAD_ID.as_bytes()
        || name == TOOL_CALL_ID.as_bytes()
        || name == warden::SETTINGS.as_bytes()
        // OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_{TRACES,METRICS,LOGS,PROFILES}_HEADERS.
        || (name.starts_with(b"OTEL_EXPORTER_OTLP_") && name.ends_with(b"HEADERS"))
}

/// Whole-name globs, case-insensitive.
struct Patterns(Vec<WildMatch>);

impl Patterns {
    fn new<S: AsRef<str>>(patterns: &[S]) -> Self {
        let compile = |pattern: &S| WildMatch::new_case_insensitive(pattern.as_ref());
        Self(patterns.iter().map(compile).collect())
    }

    fn match_name(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        self.0.iter().any(|pattern| pattern.matches(&name))
    }
}

fn check_member(map: &str, name: &str, value: &str) -> Result<(), InvalidCommand> {
    check(name.as_ref(), value.as_ref()).map_err(|reason| InvalidCommand {
        member: format!("{map}.{name}"),
        reason: reason.to_owned(),
    })
}

/// Refuses what no environment can hold, and says why.
pub(crate) fn check(name: &OsStr, value: &OsStr) -> Result<(), &'static str> {
    let (name, value) = (name.as_bytes(), value.as_bytes());
    if name.is_empty() {
        Err("a name must not be empty")
    } else if name.contains(&b'=') {
        Err("a name must not hold `=`")
    } else if name.contains(&0) {
        Err("a name must not hold NUL")
    } else if value.contains(&0) {
        Err("a value must not hold NUL")
    } else {
        Ok(())
    }
}

fn insert(
    environment: &mut Environment,
    member: &str,
    name: &str,
    value: &str,
) -> Result<(), InvalidCommand> {
    check(name.as_ref(), value.as_ref()).map_err(|_| InvalidCommand {
        member: member.to_owned(),
        // The names are this file's own.
        reason: "must not hold NUL".to_owned(),
    })?;
    environment.insert(name.into(), value.into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn own() -> Environment {
        [
            ("PATH", "/bin"),
            ("HOME", "/root"),
            ("LANG", "C"),
            ("EDITOR", "vi"),
            ("API_KEY", "1"),
            ("my_secret_thing", "2"),
            ("GithubToken", "3"),
            ("MONKEYS", "4"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x"),
            ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x"),
            ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x"),
            ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "y"),
            ("EXEC_SERVER_WARDEN", "1 500 7 1024 4096"),
            ("CODEX_THREAD_ID", "outer"),
            ("CODEX_TOOL_CALL_ID", "outer"),
            ("TRACESTATE", "stale"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn policy(inherit: Inherit) -> EnvPolicy {
        EnvPolicy {
            inherit,
            ..EnvPolicy::default()
        }
    }

    fn strings(patterns: &[&str]) -> Vec<String> {
        patterns.iter().map(|p| (*p).to_owned()).collect()
    }

    fn names(environment: &Environment) -> Vec<&str> {
        environment.keys().filter_map(|name| name.to_str()).collect()
    }

    #[test]
    fn without_a_policy_env_is_everything() {
        let env = map(&[("A", "1"), ("API_KEY", "kept")]);
        let got = prepare(&own(), None, &env, None, None).expect("valid");
        assert_eq!(names(&got), ["A", "API_KEY"]);
    }

    #[test]
    fn policies() {
        let all = [
            "EDITOR",
            "HOME",
            "LANG",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "PATH",
            "TRACESTATE",
        ];
        let everything = [
            "API_KEY",
            "EDITOR",
            "GithubToken",
            "HOME",
            "LANG",
            "MONKEYS",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "PATH",
            "TRACESTATE",
            "my_secret_thing",
        ];
        let cases: Vec<(&str, EnvPolicy, Vec<&str>)> = vec![
            ("all, default excludes", policy(Inherit::All), all.to_vec()),
            (
                "all, no default excludes",
                EnvPolicy {
                    ignore_default_excludes: true,
                    ..policy(Inherit::All)
                },
                everything.to_vec(),
            ),
            ("core", policy(Inherit::Core), vec!["HOME", "LANG", "PATH"]),
            ("none", policy(Inherit::None), vec![]),
            (
                "excludes match whole names, case-insensitively",
                EnvPolicy {
                    exclude: strings(&["ed?tor", "hom", "otel*", "traceSTATE"]),
                    ..policy(Inherit::All)
                },
                vec!["HOME", "LANG", "PATH"],
            ),
            (
                "set comes after the excludes",
                EnvPolicy {
                    exclude: strings(&["*"]),
                    set: map(&[("MY_TOKEN", "1")]),
                    ..policy(Inherit::All)
                },
                vec!["MY_TOKEN"],
            ),
            (
                "includeOnly filters set too",
                EnvPolicy {
                    set: map(&[("SET_A", "1"), ("B", "1")]),
                    include_only: strings(&["set_*", "path"]),
                    ..policy(Inherit::All)
                },
                vec!["PATH", "SET_A"],
            ),
        ];
        for (what, policy, want) in cases {
            let got = prepare(&own(), Some(&policy), &map(&[]), None, None).expect(what);
            assert_eq!(names(&got), want, "{what}");
        }
    }

    #[test]
    fn env_is_laid_over_and_never_filtered() {
        let policy = EnvPolicy {
            exclude: strings(&["*"]),
            set: map(&[("A", "policy")]),
            include_only: strings(&["A"]),
            ..policy(Inherit::All)
        };
        let got = prepare(
            &own(),
            Some(&policy),
            &map(&[("A", "env"), ("A_TOKEN", "t")]),
            None,
            None,
        );
        let want: Environment = [("A".into(), "env".into()), ("A_TOKEN".into(), "t".into())].into();
        assert_eq!(got, Ok(want));
    }

    #[test]
    fn metadata_wins_and_an_outer_one_is_not_inherited() {
        let metadata = ExecMetadata {
            thread_id: Some("t".into()),
            tool_call_id: None,
        };
        let env = map(&[("CODEX_THREAD_ID", "mine")]);
        let got = prepare(&own(), Some(&policy(Inherit::All)), &env, Some(&metadata), None).expect("valid");
        assert_eq!(got.get(OsStr::new(THREAD_ID)), Some(&OsString::from("t")));
        assert_eq!(got.get(OsStr::new(TOOL_CALL_ID)), None);
    }

    #[test]
    fn trace_context_is_one_or_none() {
        let trace = |state: Option<&str>| Trace {
            traceparent: Some("00-a-b-01".into()),
            tracestate: state.map(Into::into),
        };
        let get = |env: &[(&str, &str)], trace: Option<&Trace>| {
            let got = prepare(&own(), Some(&policy(Inherit::All)), &map(env), None, trace).expect("valid");
            [TRACEPARENT, TRACESTATE].map(|name| {
                got.get(OsStr::new(name))
                    .map(|value| value.to_string_lossy().into_owned())
            })
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            get(&[], Some(&trace(Some("k=v")))),
            [some("00-a-b-01"), some("k=v")]
        );
        assert_eq!(get(&[], Some(&trace(None))), [some("00-a-b-01"), None]);
        assert_eq!(get(&[], None), [None, some("stale")]);
        assert_eq!(
            get(&[("TRACEPARENT", "own")], Some(&trace(Some("k=v")))),
            [some("own"), some("stale")]
        );
    }

    #[test]
    fn names_that_are_not_utf8_survive_and_are_matched() {
        let odd = OsString::from_vec(b"ODD\xff".to_vec());
        let odd_key = OsString::from_vec(b"\xffKEY".to_vec());
        let own: Environment = [
            (odd.clone(), OsString::from_vec(b"\xfe".to_vec())),
            (odd_key, "x".into()),
        ]
        .into();
        let got = prepare(&own, Some(&policy(Inherit::All)), &map(&[]), None, None).expect("valid");
        assert_eq!(got.keys().collect::<Vec<_>>(), [&odd]);
    }

    #[test]
    fn what_no_environment_can_hold_is_refused_by_name() {
        let with_set = |name: &str| EnvPolicy {
            set: map(&[(name, "v")]),
            ..EnvPolicy::default()
        };
        let cases: Vec<(Option<EnvPolicy>, BTreeMap<String, String>, &str)> = vec![
            (None, map(&[("", "v")]), "env."),
            (None, map(&[("A=B", "v")]), "env.A=B"),
            (None, map(&[("A\0", "v")]), "env.A\0"),
            (None, map(&[("A", "v\0")]), "env.A"),
            (Some(with_set("A=B")), map(&[]), "envPolicy.set.A=B"),
        ];
        for (policy, env, member) in cases {
            let error = prepare(&own(), policy.as_ref(), &env, None, None).expect_err(member);
            assert_eq!(error.member, member);
        }
    }
}
