//! Rule on the crates that are published: a registry needs their descriptions, and the versions of
//! the crates that they need.

use serde_json::Value;
use std::collections::BTreeMap;

/// Crates whose users are people. The others are published because these need them.
const FOR_USERS: [&str; 4] = [
    "fadeout",
    "fadeout-congestion",
    "fadeout-core",
    "fadeout-transport",
];

/// Returns the packages of the workspace by name.
fn packages() -> BTreeMap<String, Value> {
    let name = |package: &Value| package["name"].as_str().expect("a name").to_owned();
    let all = super::dependency_rule::packages().into_iter();
    all.map(|package| (name(&package), package)).collect()
}

/// Returns true if `publish = false` is not set.
fn is_published(package: &Value) -> bool {
    package["publish"].is_null()
}

#[test]
fn a_published_crate_needs_only_published_crates_of_its_own_version() {
    let packages = packages();
    for name in FOR_USERS {
        assert!(is_published(&packages[name]), "{name} is for users");
    }
    for (name, package) in packages.iter().filter(|(_, it)| is_published(it)) {
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let needed = dependency["name"].as_str().expect("a name");
            let Some(own) = packages.get(needed) else {
                continue;
            };
            if dependency["kind"] == "dev" {
                continue;
            }
            assert!(
                is_published(own),
                "{name} is published and needs {needed}, which is not"
            );
            let version = package["version"].as_str().expect("a version");
            assert_eq!(
                dependency["req"],
                format!("={version}").as_str(),
                "{name} needs {needed}: see [workspace.dependencies] of Cargo.toml"
            );
        }
    }
}

#[test]
fn a_published_crate_has_what_a_registry_shows() {
    for (name, package) in packages().iter().filter(|(_, it)| is_published(it)) {
        for key in [
            "description",
            "license",
            "repository",
            "readme",
            "rust_version",
        ] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            let count = package[key].as_array().map_or(0, Vec::len);
            assert!(
                (1..=5).contains(&count),
                "{name} has {count} {key}; a registry accepts 1 to 5"
            );
        }
    }
}

#[test]
fn a_crate_for_users_has_an_example() {
    let packages = packages();
    for name in FOR_USERS {
        let targets = packages[name]["targets"].as_array().expect("targets");
        let examples = targets
            .iter()
            .filter(|target| target["kind"][0] == "example");
        assert!(examples.count() > 0, "{name} has no example");
    }
}
