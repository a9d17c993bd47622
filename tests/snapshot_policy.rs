//! What a user's startup files export is filtered by the request's policy, after the capture; proxies that the client
//! manages are never kept.

use std::collections::BTreeMap;

use exec_tests::home::Shell;
use exec_tests::{BASH, FISH, Home, Launch, SH, Server, ZSH, ours_only};
use serde_json::{Value, json};

/// Every shell, with the startup file that its users export in.
const SHELLS: [(Shell, &str); 4] = [
    (BASH, ".bash_profile"),
    (ZSH, ".zshrc"),
    (SH, ".profile"),
    (FISH, ".config/fish/config.fish"),
];

const EXPORTS: &str = "export PROFILE_ALLOWED=profile\nexport PROFILE_DENIED=profile\n\
                       export PROFILE_SECRET=profile\nexport OTHER=profile\ncd /\n";

fn home(startup_file: &str, text: &str) -> Home {
    Home::new(&[(startup_file, text)])
}

fn environment(server: &Server, launch: Launch) -> BTreeMap<String, String> {
    let process = server.spawn(launch);
    assert_eq!(process.closed(), 0, "{}", process.text());
    assert_eq!(String::from_utf8(process.stream("stderr")).unwrap(), "");
    let output = String::from_utf8(process.stream("stdout")).unwrap();
    let pairs = output.split('\0').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn with_policy(home: &Home, shell: Shell, policy: Value) -> Launch {
    home.command(shell, "env -0").set("envPolicy", policy)
}

/// Those that came from the startup file or the policy.
fn profile(environment: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let is_one = |name: &str| name.starts_with("PROFILE_") || name == "OTHER";
    let pairs = environment.iter().filter(|(name, _)| is_one(name));
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

#[test]
fn exports_are_filtered_by_the_policy() {
    ours_only!();
    for (shell, file) in SHELLS {
        let home = home(file, EXPORTS);
        let server = Server::start();
        let policy = json!({
            "inherit": "all", "includeOnly": ["PROFILE_*"], "exclude": ["PROFILE_DENIED"],
            "set": {"PROFILE_ALLOWED": "override"},
        });
        let seen = environment(&server, with_policy(&home, shell, policy));
        assert_eq!(profile(&seen), [("PROFILE_ALLOWED", "override")], "{shell:?}");
        // Where the startup file went is not where the command is or was (zsh sets both by itself).
        let cwd = home.dir().to_str().unwrap();
        for name in ["PWD", "OLDPWD"] {
            assert!(seen.get(name).is_none_or(|is| is == cwd), "{shell:?}: {seen:?}");
        }
    }
}

#[test]
fn default_excludes_hold_for_exports_unless_they_are_ignored() {
    ours_only!();
    for (shell, file) in SHELLS {
        let home = home(file, EXPORTS);
        let server = Server::start();
        for ignored in [false, true] {
            let policy = json!({"inherit": "all", "ignoreDefaultExcludes": ignored});
            let seen = environment(&server, with_policy(&home, shell, policy));
            let mut expected = vec![
                ("OTHER", "profile"),
                ("PROFILE_ALLOWED", "profile"),
                ("PROFILE_DENIED", "profile"),
            ];
            if ignored {
                expected.push(("PROFILE_SECRET", "profile"));
            }
            assert_eq!(profile(&seen), expected, "{shell:?}");
        }
    }
}

#[test]
fn exports_survive_a_policy_that_inherits_little() {
    ours_only!();
    for (shell, file) in SHELLS {
        let home = home(file, EXPORTS);
        let server = Server::builder().env("DAEMONS_OWN", "1").start();
        for inherit in ["none", "core"] {
            let policy = json!({"inherit": inherit, "exclude": ["PROFILE_DENIED"]});
            let seen = environment(&server, with_policy(&home, shell, policy));
            assert_eq!(
                profile(&seen),
                [("OTHER", "profile"), ("PROFILE_ALLOWED", "profile")],
                "{shell:?}, {inherit}"
            );
            assert!(!seen.contains_key("DAEMONS_OWN"), "{shell:?}, {inherit}");
        }
    }
}

#[test]
fn what_the_policy_hides_is_hidden_from_startup_files_too() {
    ours_only!();
    for (shell, file) in SHELLS {
        let seen_by_rc = if shell == FISH {
            "export SEEN=\"$DAEMON_TOKEN$DAEMON_PLAIN\"\n"
        } else {
            "export SEEN=\"${DAEMON_TOKEN-}${DAEMON_PLAIN-}\"\n"
        };
        let home = home(file, seen_by_rc);
        let server = Server::builder()
            .env("DAEMON_TOKEN", "hidden")
            .env("DAEMON_PLAIN", "plain")
            .start();
        let seen = environment(&server, with_policy(&home, shell, json!({"inherit": "all"})));
        assert_eq!(seen["SEEN"], "plain", "{shell:?}");
    }
}

#[test]
fn what_the_request_itself_sets_wins_over_what_startup_files_set_and_do_not_export() {
    ours_only!();
    let home = home(
        ".zshrc",
        "PS1='profile> '; OTHER=profile; ZDOTDIR=~/z; typeset -a PROFILE_LIST=(1 2)\n",
    );
    let server = Server::start();
    let script = "print -rn -- \"PS1=$PS1\"$'\\0'\"OTHER=$OTHER\"$'\\0'; env -0";
    for own in [true, false] {
        let mut launch = home
            .command(ZSH, script)
            .set("envPolicy", json!({"inherit": "all"}));
        if own {
            let folder = home.dir().to_str().unwrap();
            launch = launch
                .env("PS1", "own> ")
                .env("ZDOTDIR", folder)
                .env("PROFILE_LIST", "own");
        }
        let seen = environment(&server, launch);
        let names = ["PS1", "OTHER", "ZDOTDIR", "PROFILE_LIST"];
        let values = names.map(|name| seen.get(name).map(String::as_str));
        let expected = if own {
            [Some("own> "), Some("profile"), home.dir().to_str(), Some("own")]
        } else {
            [Some("profile> "), Some("profile"), None, None]
        };
        assert_eq!(values, expected);
        assert!(
            !seen.keys().any(|name| name.starts_with("EXEC_SERVER")),
            "{seen:?}"
        );
    }
}

#[test]
fn a_managed_proxy_is_the_one_of_the_request() {
    ours_only!();
    for (shell, file) in SHELLS {
        // It adds to what it finds, as one for a company's network would.
        let home = home(
            file,
            "echo run >>~/runs\nexport HTTP_PROXY=\"$HTTP_PROXY/mine\"\nexport NO_PROXY=\"$NO_PROXY,mine\"\nexport OTHER=1\n",
        );
        let server = Server::start();
        for (port, outer) in [("1111", "one"), ("2222", "two"), ("1111", "one")] {
            let url = format!("http://127.0.0.1:{port}");
            let launch = home
                .command(shell, "env -0")
                .env("CODEX_NETWORK_PROXY_ACTIVE", "1")
                .env("HTTP_PROXY", &url)
                .env("NO_PROXY", outer);
            let seen = environment(&server, launch);
            assert_eq!(
                (&*seen["HTTP_PROXY"], &*seen["NO_PROXY"], &*seen["OTHER"]),
                (&*url, outer, "1"),
                "{shell:?}"
            );
        }
        assert_eq!(
            home.lines("runs"),
            2,
            "{shell:?}: one capture for each environment"
        );
    }
}

#[test]
fn a_users_own_proxy_is_kept() {
    ours_only!();
    for (shell, file) in SHELLS {
        let home = home(
            file,
            "export HTTP_PROXY=http://mine:1\nexport https_proxy=http://mine:2\nexport NO_PROXY=mine\n",
        );
        let server = Server::start();
        for policy in [Value::Null, json!({"inherit": "all"}), json!({"inherit": "none"})] {
            let seen = environment(&server, with_policy(&home, shell, policy));
            assert_eq!(
                (&*seen["HTTP_PROXY"], &*seen["https_proxy"], &*seen["NO_PROXY"]),
                ("http://mine:1", "http://mine:2", "mine"),
                "{shell:?}"
            );
        }
    }
}

#[test]
fn what_a_request_states_wins_even_where_the_shell_does_not_take_it_from_its_environment() {
    ours_only!();
    const NAMES: [&str; 8] = [
        "BASH_ENV",
        "EDITOR",
        "GLOBIGNORE",
        "PATH",
        "PLAIN",
        "PS1",
        "PS2",
        "PS4",
    ];
    let startup: String = NAMES
        .iter()
        .filter(|name| **name != "PATH")
        .map(|name| format!("export {name}='startup file'\n"))
        .collect();
    let home = home(
        ".bashrc",
        &format!("{startup}PATH=/nowhere:$PATH\nmarked() {{ :; }}\n"),
    );
    let server = Server::start();
    let script = "marked; echo \"$PS1|$PS4|$BASH_ENV\" >&2; /usr/bin/env -0";
    let mut launch = home
        .command(BASH, script)
        .set("envPolicy", json!({"inherit": "core"}));
    for name in NAMES {
        let value = if name == "PATH" {
            "/usr/bin:/bin"
        } else {
            "it's the\nrequest's"
        };
        launch = launch.env(name, value);
    }
    let process = server.spawn(launch);
    assert_eq!(process.closed(), 0, "{}", process.text());
    let wanted = "it's the\nrequest's";
    let stderr = String::from_utf8(process.stream("stderr")).unwrap();
    assert_eq!(stderr, format!("{wanted}|{wanted}|{wanted}\n"));
    let output = String::from_utf8(process.stream("stdout")).unwrap();
    for name in NAMES {
        let value = if name == "PATH" { "/usr/bin:/bin" } else { wanted };
        let pair = format!("{name}={value}");
        assert_eq!(
            output.split('\0').filter(|seen| *seen == pair).count(),
            1,
            "{name}: {output}"
        );
    }
}
