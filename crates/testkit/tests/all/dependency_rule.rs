//! Rule on the dependencies between crates: the graph of ARCHITECTURE.md, checked against `cargo
//! metadata`.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Crates of the workspace that each crate may use outside its tests. All others are forbidden.
const MAY_USE: [(&str, &[&str]); 21] = [
    ("core", &[]),
    ("congestion", &["core"]),
    ("transport", &["core", "congestion"]),
    ("quic", &["core", "transport"]),
    ("channel", &["core"]),
    ("phy", &["core"]),
    ("layer2", &["core"]),
    ("radio", &["core", "channel", "phy", "layer2"]),
    ("mobility", &["core"]),
    ("link", &["core"]),
    ("traffic", &["core"]),
    ("guest", &[]),
    ("capture", &[]),
    ("record", &["core"]),
    ("scenario", &["core"]),
    (
        "sim",
        &[
            "core",
            "transport",
            "quic",
            "radio",
            "mobility",
            "link",
            "traffic",
            "record",
            "scenario",
            "guest",
        ],
    ),
    (
        "fadeout",
        &[
            "core",
            "congestion",
            "transport",
            "record",
            "scenario",
            "sim",
        ],
    ),
    ("browser", &["fadeout"]),
    ("packetdrill", &["core", "transport"]),
    (
        "python",
        &[
            "core",
            "sim",
            "scenario",
            "record",
            "packetdrill",
            "guest",
            "capture",
        ],
    ),
    (
        "benches",
        &[
            "core",
            "transport",
            "radio",
            "link",
            "record",
            "scenario",
            "sim",
        ],
    ),
];

/// Crate that only tests may use. Its own dependencies are listed too.
const TESTKIT: &str = "testkit";

/// Libraries that only one crate may use.
const ONE_OWNER: [(&str, &str); 7] = [
    ("arrow", "record"),
    ("noq-proto", "quic"),
    ("parquet", "record"),
    ("pyo3", "python"),
    ("quick-xml", "mobility"),
    ("rustix", "guest"),
    ("toml", "scenario"),
];

/// True for a dependency of tests, which may be any crate of the workspace.
fn is_free_in_tests(kind: Option<&str>) -> bool {
    kind == Some("dev")
}

struct Edge {
    from: String,
    to: String,
    kind: Option<String>,
}

/// Returns the packages of the workspace, as `cargo metadata` describes them.
pub(crate) fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be run");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn edges() -> Vec<Edge> {
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let mut edges = Vec::new();
    for package in packages() {
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            edges.push(Edge {
                from: short(&text(&package["name"])),
                to: text(&dependency["name"]),
                kind: dependency["kind"].as_str().map(str::to_owned),
            });
        }
    }
    assert!(
        !edges.is_empty(),
        "cargo metadata lists no dependency at all"
    );
    edges
}

fn short(package: &str) -> String {
    package
        .strip_prefix("fadeout-")
        .unwrap_or(package)
        .to_owned()
}

#[test]
fn no_crate_uses_another_that_the_architecture_does_not_allow() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    let mut wrong = BTreeSet::new();
    for Edge { from, to, kind } in edges() {
        let to = match to.strip_prefix("fadeout-") {
            Some(to) => to,
            None if to == "fadeout" => "fadeout",
            None => continue,
        };
        if is_free_in_tests(kind.as_deref()) || from == TESTKIT {
            continue;
        }
        let may = allowed.get(from.as_str()).copied().unwrap_or_default();
        if !may.contains(&to) {
            wrong.insert(format!("{from} uses {to}; it may use only {may:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_tools_for_tests_are_used_by_tests_alone() {
    for Edge { from, to, kind } in edges() {
        if short(&to) == TESTKIT {
            assert!(
                is_free_in_tests(kind.as_deref()),
                "{from} uses {TESTKIT} outside its tests"
            );
        }
    }
}

#[test]
fn a_crate_that_is_not_in_the_rule_is_found() {
    let known: BTreeSet<&str> = MAY_USE
        .iter()
        .map(|(name, _)| *name)
        .chain([TESTKIT])
        .collect();
    for Edge { from, .. } in edges() {
        assert!(
            known.contains(from.as_str()),
            "{from} is in no line of this rule: add one"
        );
    }
}

#[test]
fn a_library_of_the_edges_is_known_to_its_owner_alone() {
    for Edge { from, to, kind } in edges() {
        for (library, owner) in ONE_OWNER {
            let family = to == library || to.starts_with(&format!("{library}-"));
            let allowed = from == owner || from == TESTKIT || is_free_in_tests(kind.as_deref());
            assert!(!family || allowed, "{from} uses {to}; only {owner} may");
        }
    }
}
