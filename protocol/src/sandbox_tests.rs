use serde_json::{Value, json};

use super::*;
use crate::envelope::decode_params;
use crate::error::ErrorKind;

fn decode(sandbox: &Value) -> Result<SandboxRequest, (String, String)> {
    let raw = serde_json::value::to_raw_value(sandbox).unwrap();
    decode_params(Some(&raw)).map_err(|error| match error.kind() {
        Some(ErrorKind::InvalidParam { member, reason }) => (member, reason),
        other => panic!("{other:?}"),
    })
}

#[test]
fn the_whole_object() {
    let sandbox = json!({
        "permissions": {
            "type": "managed",
            "file_system": {
                "type": "restricted",
                "entries": [
                    {"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"},
                    {"path": {"type": "special", "value": {"kind": "project_roots", "subpath": ".git"}},
                     "access": "read", "missing_path_behavior": "skip"},
                    {"path": {"type": "special", "value": {"kind": "unknown", "path": "moon"}}, "access": "write"},
                    {"path": {"type": "path", "path": "file:///srv"}, "access": "write"},
                    {"path": {"type": "glob_pattern", "pattern": "~/**/*.pem"}, "access": "none"},
                ],
                "glob_scan_max_depth": 4,
            },
            "network": "restricted",
        },
        "cwd": "file:///srv",
        "workspaceRoots": ["file:///srv"],
        "userHomeDir": "file:///home/dev",
        "temporaryDirectories": null,
        "windowsSandboxLevel": "disabled",
        "useLegacyLandlock": false,
    });
    let entry = |path, access, missing_path_behavior| FileSystemEntry {
        path,
        access,
        missing_path_behavior,
    };
    let special = |value| EntryPath::Special { value };
    let uri = |text: &str| text.parse::<PathUri>().unwrap();
    let expected = SandboxRequest {
        permissions: Permissions::Managed {
            file_system: FileSystemPermissions::Restricted {
                entries: vec![
                    entry(special(SpecialPath::Root), Access::Read, None),
                    entry(
                        special(SpecialPath::ProjectRoots {
                            subpath: Some(".git".to_owned()),
                        }),
                        Access::Read,
                        Some(MissingPathBehavior::Skip),
                    ),
                    entry(
                        special(SpecialPath::Unknown {
                            path: Some("moon".to_owned()),
                        }),
                        Access::Write,
                        None,
                    ),
                    entry(
                        EntryPath::Path {
                            path: uri("file:///srv"),
                        },
                        Access::Write,
                        None,
                    ),
                    entry(
                        EntryPath::GlobPattern {
                            pattern: "~/**/*.pem".to_owned(),
                        },
                        Access::Deny,
                        None,
                    ),
                ],
                glob_scan_max_depth: Some(4),
            },
            network: NetworkAccess::Restricted,
        },
        cwd: Some(uri("file:///srv")),
        workspace_roots: vec![uri("file:///srv")],
        user_home_dir: Some(uri("file:///home/dev")),
        temporary_directories: vec![],
    };
    let decoded = decode(&sandbox).unwrap();
    assert_eq!(decoded, expected);
    assert!(!decoded.is_disabled());
    let again = serde_json::to_value(&decoded).unwrap();
    assert_eq!(decode(&again).unwrap(), expected);
}

#[test]
fn every_special_kind() {
    for kind in [
        "root",
        "minimal",
        "current_working_directory",
        "project_roots",
        "tmpdir",
        "slash_tmp",
        "unknown",
    ] {
        let value: SpecialPath = serde_json::from_value(json!({"kind": kind})).unwrap();
        assert_eq!(serde_json::to_value(value).unwrap()["kind"], kind);
    }
}

#[test]
fn disabled_means_disabled_only() {
    let of = |permissions: Value| {
        decode(&json!({"permissions": permissions}))
            .unwrap()
            .is_disabled()
    };
    assert!(of(json!({"type": "disabled"})));
    assert!(of(json!({"type": "disabled", "network": null})));
    assert!(!of(json!({"type": "external", "network": "enabled"})));
    assert!(!of(
        json!({"type": "managed", "file_system": {"type": "unrestricted"}, "network": "enabled"})
    ));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let managed = |file_system: Value| json!({"permissions": {"type": "managed", "network": "enabled", "file_system": file_system}});
    let entry = |entry: Value| managed(json!({"type": "restricted", "entries": [entry]}));
    let path = json!({"type": "path", "path": "file:///a"});
    for (sandbox, member) in [
        (json!({}), "permissions"),
        (json!({"permissions": []}), "permissions"),
        (json!({"permissions": {}}), "permissions.type"),
        (json!({"permissions": {"type": "Disabled"}}), "permissions.type"),
        (
            json!({"permissions": {"type": "external"}}),
            "permissions.network",
        ),
        (
            json!({"permissions": {"type": "external", "network": "some"}}),
            "permissions.network",
        ),
        (
            json!({"permissions": {"type": "managed", "network": "enabled"}}),
            "permissions.file_system",
        ),
        (
            managed(json!({"type": "restricted"})),
            "permissions.file_system.entries",
        ),
        (managed(json!({"type": "open"})), "permissions.file_system.type"),
        (
            entry(json!({"path": path})),
            "permissions.file_system.entries[0].access",
        ),
        (
            entry(json!({"path": path, "access": "execute"})),
            "permissions.file_system.entries[0].access",
        ),
        (
            entry(json!({"path": path, "access": "read", "missing_path_behavior": "make"})),
            "permissions.file_system.entries[0].missing_path_behavior",
        ),
        (
            entry(json!({"path": {"type": "path", "path": "/a"}, "access": "read"})),
            "permissions.file_system.entries[0].path.path",
        ),
        (
            entry(json!({"path": {"type": "special", "value": {"kind": "moon"}}, "access": "read"})),
            "permissions.file_system.entries[0].path.value.kind",
        ),
        (json!({"permissions": {"type": "disabled"}, "cwd": "srv"}), "cwd"),
    ] {
        let (named, reason) = decode(&sandbox).unwrap_err();
        assert_eq!(named, member, "{sandbox}: {reason}");
    }
}
