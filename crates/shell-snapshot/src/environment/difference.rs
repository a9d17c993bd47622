//! What startup files did to their environment: kept as a difference, so that a variable which came with a request
//! and was left alone is never stale.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use exec_process::environment::{self, Environment, OF_ONE_CALL, is_private};
use exec_protocol::{EnvPolicy, Inherit};

use super::{execve, proxy};
use crate::capture::GUARD;

/// Variables that belong to one shell or one terminal, and not to the user's setup.
const OF_ONE_SHELL: &[&str] = &["PWD", "OLDPWD", "LINES", "COLUMNS", "SHLVL", "_"];

/// What was set, changed or unset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Set or changed.
    set: Environment,
    /// Unset.
    unset: BTreeSet<OsString>,
}

/// What of a request comes after the snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Overrides<'a> {
    /// The request's policy.
    pub(crate) policy: Option<&'a EnvPolicy>,
    /// The names in the request's `env`.
    pub(crate) env_names: &'a BTreeSet<String>,
}

impl Overrides<'_> {
    /// Whether a variable is as the request states it, whatever the snapshot has.
    pub(crate) fn has(&self, name: &OsStr) -> bool {
        self.policy.is_some() && name.to_str().is_some_and(|name| self.env_names.contains(name))
    }
}

impl Difference {
    /// From the environment a capture was given to the one it left. Under a managed proxy what startup files made
    /// of the proxy's variables is left out: the proxy is another one the next time.
    pub(crate) fn between(given: &Environment, left: &Environment) -> Self {
        let managed = proxy::is_managed(given);
        let kept = |name: &OsStr| is_kept(name) && !(managed && proxy::is_variable(name));
        let set = left
            .iter()
            .filter(|(name, value)| kept(name) && given.get(*name) != Some(*value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let unset = given
            .keys()
            .filter(|name| kept(name) && !left.contains_key(*name))
            .cloned()
            .collect();
        Self { set, unset }
    }

    /// Names set or changed.
    pub(crate) fn set_names(&self) -> impl Iterator<Item = &OsStr> {
        self.set.keys().map(OsString::as_os_str)
    }

    /// Names unset.
    pub(crate) fn unset_names(&self) -> impl Iterator<Item = &OsStr> {
        self.unset.iter().map(OsString::as_os_str)
    }

    /// Takes those variables out of an environment, of those that it set, without which a command can be started;
    /// the largest first. Gives their number.
    pub(crate) fn withdraw(
        &self,
        environment: &mut Environment,
        prepared: &Environment,
        bytes: usize,
    ) -> usize {
        let mut largest: Vec<(usize, &OsString)> = self
            .set
            .iter()
            .filter(|(name, value)| environment.get(*name) == Some(*value))
            .map(|(name, value)| (execve::variable(name, value), name))
            .collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let (mut gained, mut withdrawn) = (0, 0);
        for (takes, name) in largest {
            if gained >= bytes {
                break;
            }
            environment.remove(name);
            gained += takes;
            withdrawn += 1;
            // As the request has it, where that is less.
            if let Some(value) = prepared.get(name)
                && execve::variable(name, value) < takes
            {
                gained -= execve::variable(name, value);
                environment.insert(name.clone(), value.clone());
            }
        }
        withdrawn
    }

    /// What it takes in an environment, as execve(2) counts: `NAME=value` and a NUL.
    pub(crate) fn bytes(&self) -> usize {
        self.set
            .iter()
            .map(|(name, value)| name.len() + value.len() + 2)
            .sum()
    }

    /// Lays it over the prepared environment of a request. The policy filters what startup files exported, as if
    /// the daemon itself had it: the user wished for these variables, whatever `inherit` says of the daemon's own.
    /// With a policy, `env` is a list of overrides, and they win; without one it is the environment that startup
    /// files were given, and what they made of it wins.
    pub(crate) fn apply(&self, prepared: &Environment, overrides: Overrides<'_>) -> Environment {
        let filtered = overrides.policy.map(|policy| {
            let policy = EnvPolicy {
                inherit: Inherit::All,
                ..policy.clone()
            };
            // What cannot be was refused when the request was prepared.
            environment::apply(&self.set, &policy).unwrap_or_default()
        });
        let wins = |name: &OsStr| !overrides.has(name);
        let mut environment = prepared.clone();
        environment.retain(|name, _| !(self.unset.contains(name) && wins(name)));
        for (name, value) in filtered.as_ref().unwrap_or(&self.set) {
            if wins(name) {
                environment.insert(name.clone(), value.clone());
            }
        }
        environment
    }
}

/// Whether a variable can be part of a snapshot.
fn is_kept(name: &OsStr) -> bool {
    let mut never = [GUARD].iter().chain(OF_ONE_SHELL).chain(OF_ONE_CALL);
    !is_private(name) && !never.any(|known| name == *known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NO_OVERRIDES: Overrides<'_> = Overrides {
        policy: None,
        env_names: &BTreeSet::new(),
    };

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_was_left_alone_is_not_part_of_it() {
        let given = environment(&[("A", "1"), ("B", "1"), ("C", "1"), ("PWD", "/a")]);
        let left = environment(&[
            ("A", "1"),
            ("B", "2"),
            ("D", ""),
            ("PWD", "/b"),
            ("SHLVL", "1"),
            ("EXEC_SERVER_SNAPSHOT", "1"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
            ("TRACEPARENT", "x"),
        ]);
        let difference = Difference::between(&given, &left);
        assert_eq!(
            difference,
            Difference {
                set: environment(&[("B", "2"), ("D", "")]),
                unset: BTreeSet::from(["C".into()]),
            }
        );
        let prepared = environment(&[("A", "new"), ("B", "1"), ("C", "1"), ("PWD", "/a")]);
        assert_eq!(
            difference.apply(&prepared, NO_OVERRIDES),
            environment(&[("A", "new"), ("B", "2"), ("D", ""), ("PWD", "/a")])
        );
        assert_eq!(difference.bytes(), "B=2_D=_".len());
    }

    #[test]
    fn the_policy_filters_what_startup_files_exported_whatever_it_inherits() {
        let exported = environment(&[
            ("PROFILE_ALLOWED", "1"),
            ("PROFILE_DENIED", "1"),
            ("PROFILE_SECRET", "1"),
            ("OTHER", "1"),
        ]);
        let difference = Difference::between(&Environment::new(), &exported);
        for inherit in [Inherit::All, Inherit::Core, Inherit::None] {
            let policy = EnvPolicy {
                inherit,
                exclude: strings(&["PROFILE_DENIED"]),
                set: [("PROFILE_ALLOWED".to_owned(), "override".to_owned())].into(),
                include_only: strings(&["PROFILE_*"]),
                ..EnvPolicy::default()
            };
            let overrides = Overrides {
                policy: Some(&policy),
                ..NO_OVERRIDES
            };
            assert_eq!(
                difference.apply(&Environment::new(), overrides),
                environment(&[("PROFILE_ALLOWED", "override")]),
                "{inherit:?}"
            );
        }
    }

    #[test]
    fn env_wins_with_a_policy_and_is_what_startup_files_were_given_without() {
        let given = environment(&[("PATH", "/bin"), ("GONE", "1")]);
        let left = environment(&[("PATH", "/home/bin:/bin")]);
        let difference = Difference::between(&given, &left);
        let policy = EnvPolicy::default();
        let with = Overrides {
            policy: Some(&policy),
            env_names: &BTreeSet::from(["PATH".to_owned(), "GONE".to_owned()]),
        };
        assert_eq!(difference.apply(&given, with), given);
        let without = Overrides { policy: None, ..with };
        assert_eq!(difference.apply(&given, without), left);
    }

    #[test]
    fn a_managed_proxy_is_never_kept_and_a_users_own_is() {
        let own = environment(&[("HTTP_PROXY", "http://corp:3128"), ("no_proxy", "localhost")]);
        let given = Environment::new();
        assert_eq!(Difference::between(&given, &own).set, own);
        let given = environment(&[("CODEX_NETWORK_PROXY_ACTIVE", "1"), ("HTTP_PROXY", "managed")]);
        let mut left = given.clone();
        left.extend(environment(&[
            ("http_proxy", "managed"),
            ("ALL_PROXY", "managed"),
            ("EDITOR", "vi"),
        ]));
        left.remove(OsStr::new("HTTP_PROXY"));
        let difference = Difference::between(&given, &left);
        assert_eq!(difference.set, environment(&[("EDITOR", "vi")]));
        assert_eq!(difference.unset, BTreeSet::new());
    }

    #[test]
    fn the_largest_are_withdrawn_until_there_is_room() {
        let prepared = environment(&[("A", "1"), ("P", "/bin")]);
        let left = environment(&[
            ("A", "1"),
            ("B", &"b".repeat(99)),
            ("C", "c"),
            ("P", &"/".repeat(50)),
        ]);
        let difference = Difference::between(&prepared, &left);
        for (bytes, names, path) in [
            (0, &["A", "B", "C", "P"][..], 50),
            (1, &["A", "C", "P"], 50),
            (111, &["A", "C", "P"], 4),
            (10_000, &["A", "P"], 4),
        ] {
            let mut environment = left.clone();
            difference.withdraw(&mut environment, &prepared, bytes);
            assert!(environment.keys().eq(names.iter()), "{bytes}: {environment:?}");
            assert_eq!(environment[OsStr::new("P")].len(), path, "{bytes}");
        }
    }

    fn any_environment() -> impl Strategy<Value = Environment> {
        let name = prop_oneof!["[A-C]{1,2}", Just("PWD".to_owned()), Just("_".to_owned())];
        let variable = (
            name.prop_map(OsString::from),
            "[a-b]{0,2}".prop_map(OsString::from),
        );
        proptest::collection::btree_map(variable.0, variable.1, 0..12)
    }

    proptest! {
        #[test]
        fn applied_to_what_was_given_it_makes_what_was_left(given in any_environment(), left in any_environment()) {
            let difference = Difference::between(&given, &left);
            let made = difference.apply(&given, NO_OVERRIDES);
            let (kept, others): (Environment, Environment) =
                made.into_iter().partition(|(name, _)| is_kept(name));
            let want_kept: Environment = left.into_iter().filter(|(name, _)| is_kept(name)).collect();
            let want_others: Environment = given.into_iter().filter(|(name, _)| !is_kept(name)).collect();
            prop_assert_eq!(kept, want_kept);
            prop_assert_eq!(others, want_others);
        }
    }
}
