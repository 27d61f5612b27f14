//! Rule on the use of rooms. A room is a top-level module of a crate. It uses another if a path in
//! it, or in its unit tests, leads there from `crate::` or `super::`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Token, files, tokens};

/// Crates whose rooms must not use each other in a circle.
const CRATES: [&str; 8] = [
    "channel",
    "phy",
    "layer2",
    "radio",
    "link",
    "scenario",
    "transport",
    "sim",
];

/// Rooms that count as one. Tables of a scenario are declared with the functions that build their
/// structs. These functions use the builder, which knows the whole file. The builder in turn makes
/// the structs of the model.
const ONE_ROOM: [(&str, &str, &[&str]); 1] = [(
    "scenario",
    "format",
    &[
        "model",
        "keys",
        "table",
        "read",
        "build",
        "deployment",
        "presets",
    ],
)];

/// Rooms with a folder of unit tests that may use rooms above: a `World` is tested together with
/// its construction.
const TESTED_FROM_ABOVE: [(&str, &str); 1] = [("sim", "world")];

/// Crates in which each room has a line in [`MAY_USE`].
const ALL_LISTED: [&str; 2] = ["layer2", "radio"];

/// Crate, room, and the other rooms of the same crate that the room may use.
const MAY_USE: [(&str, &str, &[&str]); 24] = [
    ("channel", "error", &[]),
    ("channel", "antenna", &["error", "phasor"]),
    (
        "channel",
        "blockage",
        &["error", "field", "blockage_model_b"],
    ),
    ("phy", "error", &[]),
    ("layer2", "rlc", &[]),
    ("layer2", "pdcp", &["rlc"]),
    ("layer2", "wire", &["rlc", "pdcp"]),
    ("layer2", "user_plane", &["rlc"]),
    ("scenario", "shape", &["error", "quantity"]),
    (
        "scenario",
        "format",
        &["error", "quantity", "shape", "suggest", "tree"],
    ),
    ("scenario", "resolved", &["format", "quantity"]),
    (
        "scenario",
        "schema",
        &["format", "quantity", "shape", "tree"],
    ),
    ("radio", "link_budget", &[]),
    ("radio", "mac", &[]),
    ("radio", "config", &["mac"]),
    ("radio", "plan", &["config", "mac"]),
    ("radio", "air", &["config", "plan"]),
    ("radio", "bearer", &["config"]),
    ("radio", "cell", &["config", "mac", "plan"]),
    ("radio", "leg", &["config", "mac", "plan"]),
    ("radio", "rrc", &["config"]),
    (
        "radio",
        "access",
        &["config", "plan", "air", "bearer", "cell", "leg", "rrc"],
    ),
    ("radio", "outlook", &["config"]),
    ("radio", "path_state", &["config"]),
];

/// Top-level names of a crate that are not rooms: local names of other crates, and types.
const FLOORS: [(&str, &[&str]); 2] = [
    (
        "radio",
        &[
            "channel",
            "antenna",
            "phy",
            "pdcp",
            "rlc",
            "user_plane",
            "wire",
        ],
    ),
    ("scenario", &["OwnNames"]),
];

/// Use of a room by another room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Use {
    from: String,
    to: String,
    file: PathBuf,
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(name)
        .join("src")
}

/// Returns the module path of a file.
fn module(file: &Path, root: &Path) -> Vec<String> {
    let relative = file.strip_prefix(root).expect("a file of the crate");
    let mut module: Vec<String> = relative
        .with_extension("")
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib")
    {
        module.pop();
    }
    module
}

/// Returns the first name after `crate` of each path in a file. `module` is the module of the file.
fn first_names(source: &str, module: &[String]) -> BTreeSet<String> {
    let tokens = tokens(source);
    let token = |index: usize| tokens.get(index).map_or("", |token| &token.text);
    let mut names = BTreeSet::new();
    // Open modules within the file, with the depth of their braces.
    let mut inside: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    for i in 0..tokens.len() {
        match token(i) {
            "mod" if token(i + 2) == "{" => inside.push((token(i + 1).to_owned(), depth)),
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if inside.last().is_some_and(|&(_, opened)| opened == depth) {
                    inside.pop();
                }
            }
            "crate" if token(i + 1) == "::" => trees(&tokens, i + 2, &mut names),
            "super" if token(i + 1) == "::" && (i == 0 || token(i - 1) != "::") => {
                let mut path: Vec<String> = module.to_vec();
                path.extend(inside.iter().map(|(name, _)| name.clone()));
                let mut next = i;
                while token(next) == "super" && token(next + 1) == "::" {
                    path.pop();
                    next += 2;
                }
                match path.first() {
                    Some(room) => {
                        names.insert(room.clone());
                    }
                    None => trees(&tokens, next, &mut names),
                }
            }
            _ => {}
        }
    }
    names
}

/// Adds the first names after a `::`: a single name, or several names in braces.
fn trees(tokens: &[Token], from: usize, names: &mut BTreeSet<String>) {
    if tokens[from].text != "{" {
        names.insert(tokens[from].text.clone());
        return;
    }
    let mut depth = 0;
    for i in from..tokens.len() {
        match tokens[i].text.as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            "," => {}
            name if depth == 1 && matches!(tokens[i - 1].text.as_str(), "{" | ",") => {
                names.insert(name.to_owned());
            }
            _ => {}
        }
    }
}

/// Returns every use of a room by another room of the crate.
fn uses(name: &str) -> BTreeSet<Use> {
    let root = source(name);
    let mut found = Vec::new();
    files(&root, "rs", &mut found);
    let floors: BTreeMap<&str, &[&str]> = FLOORS.into_iter().collect();
    let floors = floors.get(name).copied().unwrap_or_default();
    let mut uses = BTreeSet::new();
    let room_of = |first: &str| {
        let mut groups = ONE_ROOM.iter().filter(|(of, ..)| *of == name);
        let group = groups.find(|(.., rooms)| rooms.contains(&first));
        group.map_or_else(|| first.to_owned(), |(_, room, _)| (*room).to_owned())
    };
    for file in found {
        let module = module(&file, &root);
        let Some(first) = module.first() else {
            continue;
        };
        let is_apart = TESTED_FROM_ABOVE.contains(&(name, first.as_str()));
        if is_apart && module.get(1).is_some_and(|inner| inner == "tests") {
            continue;
        }
        let room = &room_of(first);
        let text = fs::read_to_string(&file).expect("a source can be read");
        for to in first_names(&text, &module) {
            let to = room_of(&to);
            if to != *room && !floors.contains(&to.as_str()) {
                uses.insert(Use {
                    from: room.clone(),
                    to,
                    file: file
                        .strip_prefix(&root)
                        .expect("a file of the crate")
                        .into(),
                });
            }
        }
    }
    uses
}

#[test]
fn the_rooms_of_a_crate_use_each_other_in_no_circle() {
    for name in CRATES {
        let mut uses: BTreeSet<(String, String)> = uses(name)
            .into_iter()
            .map(|Use { from, to, .. }| (from, to))
            .collect();
        assert!(!uses.is_empty(), "{name}: no use was found at all");
        // A room that uses no other room is in no circle. The loop removes such rooms until none is
        // left.
        loop {
            let users: BTreeSet<String> = uses.iter().map(|(from, _)| from.clone()).collect();
            let before = uses.len();
            uses.retain(|(_, to)| users.contains(to));
            if uses.len() == before {
                break;
            }
        }
        assert!(
            uses.is_empty(),
            "{name}: in or on the way to a circle: {uses:#?}"
        );
    }
}

#[test]
fn a_room_uses_only_the_rooms_that_it_may_use() {
    let rule: BTreeMap<(&str, &str), &[&str]> = MAY_USE
        .into_iter()
        .map(|(name, room, may)| ((name, room), may))
        .collect();
    let mut wrong = Vec::new();
    for name in CRATES {
        for Use { from, to, file } in uses(name) {
            match rule.get(&(name, from.as_str())) {
                None if ALL_LISTED.contains(&name) => {
                    wrong.push(format!("{name}: room {from} has no line in this rule"));
                }
                Some(may) if !may.contains(&to.as_str()) => {
                    let file = file.display();
                    wrong.push(format!(
                        "{name}/{file}: {from} uses {to}, not one of {may:?}"
                    ));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_path_is_found_wherever_it_stands() {
    let module: Vec<String> = ["mac", "cell"].map(str::to_owned).to_vec();
    let source = r##"
        // use crate::comment::X;
        use crate::one::{self, Y};
        use crate::{two::A, three::{b, c}};
        use super::sibling::Z;
        pub(in crate::four) fn f<'a>(x: &'a str) -> crate::five::T { "crate::string"; r#"crate::raw"# }
        mod tests { use super::*; use super::super::super::six; fn g() { super::super::h() } }
        use super::super::seven;
        const C: char = '"'; const D: char = '\''; use crate::eight;
    "##;
    let found = first_names(source, &module);
    let expected = [
        "eight", "five", "four", "mac", "one", "seven", "six", "three", "two",
    ];
    assert_eq!(found, expected.map(str::to_owned).into_iter().collect());
}
