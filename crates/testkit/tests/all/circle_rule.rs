//! Rule that no two files need each other, because such files would be one file in two places. A
//! file needs another if a path in it (in `use` or in code) leads to a definition of the other.

use std::collections::{BTreeMap, BTreeSet};

use super::shrinking::{self, Counts};
use super::source::{Token, is_test_file, root, sources, tokens, without_tests};

/// Files that list the entries of a kind. An entry may use the trait of its kind, which is in the
/// list or above it. So the arrows from a list to its folder are not followed.
const REGISTRIES: [&str; 17] = [
    "channel/antenna/registry.rs",
    "channel/blockage/mod.rs",
    "channel/fading/registry.rs",
    "channel/path_loss/mod.rs",
    "congestion/coupling/mod.rs",
    "congestion/registry.rs",
    "layer2/pdcp/registry.rs",
    "layer2/rlc/aqm.rs",
    "layer2/rlc/registry.rs",
    "link/queue/discipline.rs",
    "link/rab/mod.rs",
    "mobility/registry.rs",
    "radio/config/technology/mod.rs",
    "radio/mac/scheduler/mod.rs",
    "scenario/deployment/registry.rs",
    "traffic/registry.rs",
    "transport/multipath/scheduler/mod.rs",
];

/// Folders whose files may not use the files around them: crate, folder, and the folder around it.
/// The user plane of the radio access knows no procedure of mobility.
const CLOSED: [(&str, &str, &str); 1] = [("radio", "access/plane/", "access/")];

/// Path of a module, from the root of its crate.
type Module = Vec<String>;

/// A name that a module imports.
struct Import {
    /// Path from the root of the crate. `None` if it begins in another crate.
    path: Option<Module>,
    /// `*` for all names of the path.
    name: String,
    is_public: bool,
}

/// Content of one source without its tests.
#[derive(Default)]
struct Source {
    file: String,
    children: BTreeSet<String>,
    defined: BTreeSet<String>,
    imports: Vec<Import>,
    /// Paths in code, from the root of the crate.
    paths: BTreeSet<Module>,
    /// Paths in code that begin with another name, which may be an imported one.
    relative: BTreeSet<Module>,
    /// Words outside of `use`.
    words: BTreeSet<String>,
}

impl Source {
    /// Returns the full path of a path whose first name is imported. The result begins at the root
    /// of the crate. `None` if the name is not imported.
    fn behind_import(&self, path: &[String]) -> Option<Module> {
        let (name, rest) = path.split_first()?;
        let import = self.imports.iter().find(|import| import.name == *name)?;
        let behind = import.path.as_ref()?.iter().chain(rest);
        Some(behind.cloned().collect())
    }
}

/// The sources of a crate, indexed by their module.
type Crate = BTreeMap<Module, Source>;

/// Returns the module of a file. `file` is the path below `src/`.
fn module_of(file: &str) -> Module {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let mut module: Module = stem.split('/').map(str::to_owned).collect();
    if module
        .last()
        .is_some_and(|last| last == "mod" || last == "lib" || last == "main")
    {
        module.pop();
    }
    module
}

/// Reads the tokens of one source.
struct Reader<'a> {
    tokens: &'a [Token],
    source: Source,
    /// Current module: that of the file, or one in braces in the file.
    module: Module,
    /// Depth of braces at which each module in braces began.
    inside: Vec<usize>,
    depth: usize,
}

impl Reader<'_> {
    fn text(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &token.text)
    }

    /// Reads all tokens. A path is read at its first name, which has no `::` in front.
    fn read(&mut self) {
        let mut i = 0;
        while i < self.tokens.len() {
            let is_first = i == 0 || self.text(i - 1) != "::";
            i = match self.text(i) {
                "use" if self.text(i + 1) != "<" => self.read_use(i),
                "mod" => self.read_mod(i),
                "in" if i > 1 && self.text(i - 1) == "(" && self.text(i - 2) == "pub" => {
                    // `pub(in crate::a)` only sets the visibility.
                    (i..self.tokens.len())
                        .find(|&at| self.text(at) == ")")
                        .unwrap_or(i)
                        + 1
                }
                "{" => {
                    self.depth += 1;
                    i + 1
                }
                "}" => {
                    self.depth -= 1;
                    if self.inside.last() == Some(&self.depth) {
                        self.inside.pop();
                        self.module.pop();
                    }
                    i + 1
                }
                _ if is_first && self.text(i + 1) == "::" => self.read_path(i),
                _ => self.read_word(i),
            };
        }
    }

    /// Reads `mod name;` or the head of `mod name { … }`.
    fn read_mod(&mut self, at: usize) -> usize {
        let name = self.text(at + 1).to_owned();
        match self.text(at + 2) {
            ";" => {
                self.source.children.insert(name);
            }
            "{" => {
                self.module.push(name);
                self.inside.push(self.depth);
                self.depth += 1;
            }
            _ => return at + 1,
        }
        at + 3
    }

    fn read_word(&mut self, at: usize) -> usize {
        let word = self.text(at).to_owned();
        let kinds = [
            "fn", "struct", "enum", "trait", "const", "static", "type", "union",
        ];
        if kinds.contains(&word.as_str()) {
            let name = self.text(at + 1).to_owned();
            self.source.defined.insert(name);
        }
        self.source.words.insert(word);
        at + 1
    }

    /// Reads a path in code. It ends before the first sign that cannot be a part of it.
    fn read_path(&mut self, at: usize) -> usize {
        let mut path = vec![self.text(at).to_owned()];
        let mut next = at + 1;
        while self.text(next) == "::"
            && self
                .text(next + 1)
                .starts_with(|c: char| c.is_alphabetic() || c == '_')
        {
            path.push(self.text(next + 1).to_owned());
            next += 2;
        }
        self.source.words.extend(path.iter().cloned());
        match self.module_at(&path) {
            Some(path) => self.source.paths.insert(path),
            None => self.source.relative.insert(path),
        };
        next.max(at + 1)
    }

    /// Returns a path from the root of the crate. `None` unless it begins with `crate`, `self`,
    /// `super` or a module of the current one.
    fn module_at(&self, path: &[String]) -> Option<Module> {
        let mut base = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => {
                base.clear();
                rest = &rest[1..];
            }
            Some("self") => rest = &rest[1..],
            Some("super") => {}
            Some(name) if self.source.children.contains(name) => {}
            _ => return None,
        }
        while rest.first().is_some_and(|first| first == "super") {
            base.pop();
            rest = &rest[1..];
        }
        base.extend(rest.iter().cloned());
        Some(base)
    }

    /// Reads a `use` with its braces.
    fn read_use(&mut self, at: usize) -> usize {
        // `pub use`, `pub(crate) use`, `pub(in a::b) use`.
        let is_public = at > 0 && matches!(self.text(at - 1), "pub" | ")");
        let end = (at..self.tokens.len()).find(|&index| self.text(index) == ";");
        let end = end.unwrap_or(self.tokens.len());
        let words: Vec<&str> = (at + 1..end).map(|index| self.text(index)).collect();
        let mut leaves = Vec::new();
        leaves_of(&words, &mut Vec::new(), &mut leaves);
        for (path, name) in leaves {
            let path = self.module_at(&path);
            self.source.imports.push(Import {
                path,
                name,
                is_public,
            });
        }
        end + 1
    }
}

/// Adds the paths of a tree of `use` with their local names. Each path begins with the names
/// `before`.
fn leaves_of(tree: &[&str], before: &mut Vec<String>, leaves: &mut Vec<(Module, String)>) {
    let known = before.len();
    let mut i = 0;
    while i < tree.len() {
        match tree[i] {
            "::" => {}
            "{" => {
                let inner = &tree[i + 1..tree.len() - 1];
                let mut depth = 0;
                let branches = inner.split(|&word| {
                    depth += i32::from(word == "{") - i32::from(word == "}");
                    depth == 0 && word == ","
                });
                for branch in branches.filter(|branch| !branch.is_empty()) {
                    leaves_of(branch, before, leaves);
                }
                before.truncate(known);
                return;
            }
            "as" => {
                leaves.push((before.clone(), tree[i + 1].to_owned()));
                before.truncate(known);
                return;
            }
            "*" => {
                leaves.push((before.clone(), "*".to_owned()));
                before.truncate(known);
                return;
            }
            // `a::{self}` is `a`.
            "self" if !before.is_empty() => {}
            name => before.push(name.to_owned()),
        }
        i += 1;
    }
    let name = before.last().cloned().unwrap_or_default();
    leaves.push((before.clone(), name));
    before.truncate(known);
}

/// Reads the sources of a crate. Their names are paths below `src/`.
fn read_crate<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> Crate {
    let mut all = Crate::new();
    for (file, text) in files {
        let tokens = without_tests(&tokens(text));
        let mut reader = Reader {
            tokens: &tokens,
            source: Source {
                file: file.to_owned(),
                ..Source::default()
            },
            module: module_of(file),
            inside: Vec::new(),
            depth: 0,
        };
        reader.source.children = children_of(&tokens);
        reader.read();
        all.insert(module_of(file), reader.source);
    }
    all
}

/// Returns the modules that a source declares. A path may come before its `mod`.
fn children_of(tokens: &[Token]) -> BTreeSet<String> {
    let declared = tokens
        .windows(3)
        .filter(|three| three[0].text == "mod" && three[2].text == ";");
    declared.map(|three| three[1].text.clone()).collect()
}

/// Returns the module whose file defines the end of `path`. Imported names are followed.
fn resolve(all: &Crate, path: &[String], hops: usize) -> Option<Module> {
    let mut module = Module::new();
    for (i, name) in path.iter().enumerate() {
        let source = all.get(&module)?;
        if source.children.contains(name) {
            module.push(name.clone());
            continue;
        }
        // The compiler rejects a name that leads back to itself.
        if hops > 20 || source.defined.contains(name) {
            return Some(module);
        }
        if source.imports.iter().any(|import| import.name == *name) {
            let behind = source.behind_import(&path[i..])?;
            return resolve(all, &behind, hops + 1);
        }
        let globs = source
            .imports
            .iter()
            .filter(|import| import.name == "*" && import.is_public);
        for import in globs {
            let Some(path) = &import.path else { continue };
            let of_all = resolve(all, path, hops + 1)?;
            if all
                .get(&of_all)
                .is_some_and(|source| source.defined.contains(name))
            {
                return Some(of_all);
            }
        }
        return Some(module);
    }
    all.contains_key(&module).then_some(module)
}

/// Arrows from file to file. The first file needs the second.
type Arrows = BTreeSet<(String, String)>;

/// Returns the arrows of a crate. A name that a file only re-exports makes no arrow, because the
/// file does not need it.
fn arrows(all: &Crate) -> Arrows {
    let mut arrows = Arrows::new();
    for source in all.values() {
        let imports = source
            .imports
            .iter()
            .filter(|import| !import.is_public || source.words.contains(&import.name));
        let imports = imports.filter_map(|import| import.path.clone());
        let relative = source
            .relative
            .iter()
            .filter_map(|path| source.behind_import(path));
        for path in imports.chain(relative).chain(source.paths.iter().cloned()) {
            let to = resolve(all, &path, 0).and_then(|module| all.get(&module));
            if let Some(to) = to.filter(|to| to.file != source.file) {
                arrows.insert((source.file.clone(), to.file.clone()));
            }
        }
    }
    arrows
}

/// Returns the arrows that are part of a circle, because their end leads back to their beginning.
fn in_circles(arrows: &Arrows) -> Arrows {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(from).or_default().push(to);
    }
    let reached = |from: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = next.get(from).cloned().unwrap_or_default();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(next.get(at).into_iter().flatten());
            }
        }
        seen.into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let reached: BTreeMap<&str, BTreeSet<String>> =
        next.keys().map(|&from| (from, reached(from))).collect();
    let leads_back = |from: &String, to: &String| {
        reached
            .get(to.as_str())
            .is_some_and(|seen| seen.contains(from))
    };
    arrows
        .iter()
        .filter(|(from, to)| leads_back(from, to))
        .cloned()
        .collect()
}

/// True if the file `to` is in the folder of the registry `from`, or below it. Both paths begin
/// with their crate.
fn is_entry(from: &str, to: &str) -> bool {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let below = to.strip_prefix(folder);
    REGISTRIES.contains(&from) && below.is_some_and(|below| below.starts_with('/'))
}

/// Returns the arrows of each crate.
fn arrows_of_crates() -> BTreeMap<String, Arrows> {
    let all = sources(&["src"]);
    let mut by_crate: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in all.iter().filter(|(path, _)| !is_test_file(path)) {
        let (of, file) = path.split_once("/src/").expect("a source of a crate");
        let of = of.strip_prefix("crates/").expect("a crate").to_owned();
        by_crate.entry(of).or_default().push((file, text));
    }
    let arrows_of = |files: Vec<(&str, &str)>| arrows(&read_crate(files.into_iter()));
    let all = by_crate.into_iter();
    all.map(|(of, files)| (of, arrows_of(files))).collect()
}

#[test]
fn files_use_each_other_in_no_circle() {
    let (mut found, mut count) = (Counts::new(), 0);
    for (of, mut arrows) in arrows_of_crates() {
        count += arrows.len();
        arrows.retain(|(from, to)| !is_entry(&format!("{of}/{from}"), &format!("{of}/{to}")));
        let circles = in_circles(&arrows);
        found.extend(
            circles
                .into_iter()
                .map(|(from, to)| (format!("{of},{from},{to}"), 1)),
        );
    }
    assert!(count > 1000, "only {count} arrows were found");
    let rule = "a file uses another that leads back to it";
    shrinking::check("circles.csv", rule, &found);
}

#[test]
fn a_closed_folder_uses_no_file_around_it() {
    let all = arrows_of_crates();
    for (of, folder, around) in CLOSED {
        let inside = |file: &str| file.starts_with(folder);
        let mut from_inside = all[of].iter().filter(|(from, _)| inside(from)).peekable();
        assert!(from_inside.peek().is_some(), "{folder} has no arrow");
        let wrong: Vec<_> = from_inside
            .filter(|(_, to)| to.starts_with(around) && !inside(to))
            .collect();
        assert!(wrong.is_empty(), "{of}: {folder} is closed: {wrong:#?}");
    }
}

/// Returns the arrows of a small crate, as `from to`.
fn arrows_of(files: &[(&str, &str)]) -> Vec<String> {
    let arrows = arrows(&read_crate(files.iter().copied()));
    arrows
        .into_iter()
        .map(|(from, to)| format!("{from} {to}"))
        .collect()
}

#[test]
fn a_path_leads_to_the_file_that_defines_its_end() {
    let found = arrows_of(&[
        ("lib.rs", "mod a; pub mod b; pub use b::deep::Deep; fn top() {} fn f() { a::run() }"),
        (
            "a.rs",
            "use crate::{b::{self, Handed as Other, deep::*}, Deep}; pub fn run() { super::top(); b::inner::g::<u8>() }
             pub(in crate::b) fn h() {}",
        ),
        ("b/mod.rs", "pub(crate) mod deep; pub(super) mod inner; pub use self::deep::Handed; mod tests;"),
        ("b/deep.rs", "pub struct Deep; pub struct Handed; mod own { use super::super::inner; }"),
        ("b/inner.rs", "pub use super::deep::*; pub fn g() { let x: std::deep::Deep = 1; }"),
        ("c.rs", "use crate::b::inner::Deep; // use crate::a::X;\n #[cfg(test)] mod tests { use crate::a::run; }"),
    ]);
    let expected = [
        "a.rs b/deep.rs",
        "a.rs b/inner.rs",
        "a.rs b/mod.rs",
        "a.rs lib.rs",
        "b/deep.rs b/inner.rs",
        "c.rs b/deep.rs",
        "lib.rs a.rs",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_registry_names_its_entries_and_nothing_else_freely() {
    let registry = "channel/fading/registry.rs";
    assert!(REGISTRIES.contains(&registry));
    assert!(is_entry(registry, "channel/fading/jakes.rs"));
    assert!(is_entry(registry, "channel/fading/clusters/draw.rs"));
    assert!(!is_entry(registry, "channel/fading_of.rs"));
    assert!(!is_entry(registry, "channel/link/mod.rs"));
    assert!(!is_entry("channel/fading/jakes.rs", registry));
}

#[test]
fn every_registry_is_there() {
    for registry in REGISTRIES {
        let (of, file) = registry.split_once('/').expect("a crate and a file");
        let path = root().join("crates").join(of).join("src").join(file);
        assert!(
            path.is_file(),
            "{registry} is gone: remove it from the rule"
        );
    }
}

#[test]
fn what_is_in_a_circle_is_found_and_what_leads_to_one_is_not() {
    let arrows = ["a b", "b c", "c a", "x a", "c y", "y z", "p q", "q p"];
    let arrow = |text: &str| {
        let (from, to) = text.split_once(' ').expect("two names");
        (from.to_owned(), to.to_owned())
    };
    let arrows: Arrows = arrows.into_iter().map(arrow).collect();
    let expected: Arrows = ["a b", "b c", "c a", "p q", "q p"]
        .into_iter()
        .map(arrow)
        .collect();
    assert_eq!(in_circles(&arrows), expected);
}
