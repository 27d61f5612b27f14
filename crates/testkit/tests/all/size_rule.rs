//! How much one thing may be: methods of a type, lines of a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A type has at most so many methods of its own, wherever their `impl` blocks stand. One with more
/// is several machines: each has state of its own, and can be built alone in a test.
const MOST_METHODS: usize = 40;

/// A file has at most so many lines.
const MOST_LINES: usize = 600;

/// Crate and type that may have more methods.
const MAY_HAVE_MORE: [(&str, &str); 1] = [
    // TCP's sender is one state machine: every rule reads the scoreboard and writes the window.
    ("transport", "Sender"),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files that end in `extension` in a folder and those below it, but not what is built.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the sources can be read") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "target" && name != "node_modules" && !name.starts_with('.') {
                files(&path, extension, found);
            }
        } else if path.extension().is_some_and(|of_file| of_file == extension) {
            found.push(path);
        }
    }
}

/// The name of the type whose own methods an `impl` block has, when its head is `head`, from behind
/// the word `impl` to before the brace; none for the methods of a trait.
fn type_of(head: &str) -> Option<&str> {
    let head = head.split(" where ").next().unwrap_or(head).trim();
    let mut rest = head;
    if rest.starts_with('<') {
        let mut depth = 0;
        let end = rest.char_indices().find_map(|(at, sign)| {
            match sign {
                '<' => depth += 1,
                '>' if !rest[..at].ends_with('-') => depth -= 1,
                _ => {}
            }
            (depth == 0).then_some(at + 1)
        });
        rest = rest[end?..].trim_start();
    }
    if rest.split_whitespace().any(|word| word == "for") {
        return None;
    }
    let path = rest.split('<').next().unwrap_or(rest).trim();
    path.rsplit("::").next()
}

/// Adds the methods of a source's types to `counts`. The sources are formatted: a block begins with
/// its `impl` and ends with a brace, at the same depth, and its methods are one step deeper.
fn count_methods(source: &str, counts: &mut BTreeMap<String, usize>) {
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        let depth = line.len() - line.trim_start().len();
        let begins = line.trim_start().strip_prefix("impl");
        let Some(first) = begins.filter(|head| head.starts_with([' ', '<'])) else {
            continue;
        };
        let mut head = first.to_owned();
        while !head.trim_end().ends_with(['{', '}']) {
            let Some(more) = lines.next() else { return };
            head = format!("{head} {}", more.trim());
        }
        if head.trim_end().ends_with('}') {
            continue;
        }
        let name = type_of(head.trim_end().trim_end_matches('{')).map(str::to_owned);
        let end = format!("{}}}", " ".repeat(depth));
        let body = lines.by_ref().take_while(|line| *line != end);
        let methods = body
            .filter(|line| line.len() - line.trim_start().len() == depth + 4)
            .filter(|line| is_method(line.trim_start()))
            .count();
        if let Some(name) = name {
            *counts.entry(name).or_default() += methods;
        }
    }
}

/// Whether a line begins a function.
fn is_method(line: &str) -> bool {
    let mut words = line.split_whitespace().skip_while(|word| {
        word.starts_with("pub") || word.ends_with(')') || matches!(*word, "const" | "async")
    });
    words.next() == Some("fn")
}

#[test]
fn no_type_has_more_methods_than_one_thing_needs() {
    let mut wrong = Vec::new();
    for folder in fs::read_dir(crates()).expect("the crates can be read") {
        let folder = folder.expect("a crate").path();
        let of = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut counts = BTreeMap::new();
        let mut sources = Vec::new();
        files(&folder.join("src"), "rs", &mut sources);
        for source in sources {
            let source = fs::read_to_string(source).expect("a source can be read");
            count_methods(&source, &mut counts);
        }
        assert!(!counts.is_empty(), "{of}: no method was found at all");
        for (name, count) in counts {
            if count > MOST_METHODS && !MAY_HAVE_MORE.contains(&(&*of, &*name)) {
                wrong.push(format!("{of}: {name} has {count} methods"));
            }
        }
    }
    assert!(wrong.is_empty(), "over {MOST_METHODS} methods: {wrong:#?}");
}

#[test]
fn no_file_is_longer_than_one_reads() {
    let root = crates().join("..");
    let mut found = Vec::new();
    for folder in ["crates", "benches", "fuzz"] {
        files(&root.join(folder), "rs", &mut found);
    }
    for folder in ["python", "tests", "tools", "docs"] {
        files(&root.join(folder), "py", &mut found);
    }
    assert!(found.len() > 500, "only {} files were found", found.len());
    let mut wrong = Vec::new();
    for file in found {
        let text = fs::read_to_string(&file).expect("a source can be read");
        let lines = text.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines", file.display()));
        }
    }
    assert!(wrong.is_empty(), "over {MOST_LINES} lines: {wrong:#?}");
}

#[test]
fn methods_are_counted_over_blocks_and_those_of_traits_are_not() {
    let source = r"
impl Machine {
    pub(crate) fn one(&self) -> impl Fn() {
        fn inner() {}
        move || inner()
    }
    pub const fn two() {}
}
impl<'a, F: Fn() -> u8> inside::Machine<'a, F>
where
    F: Copy,
{
    pub(in crate::inside) fn three(&self) {}
}
impl Clone for Machine {
    fn clone(&self) -> Machine {}
}
impl<T> Trait for Machine<T> {}
mod tests {
    impl Machine {
        fn four() {}
    }
}
";
    let mut counts = BTreeMap::new();
    count_methods(source, &mut counts);
    assert_eq!(counts, BTreeMap::from([("Machine".to_owned(), 4)]));
}
