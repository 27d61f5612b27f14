//! Length limit of a file.

use std::fs;

use super::source::{files, root};

/// Maximum number of lines of a file. A longer file seldom has a single purpose, and its reader
/// cannot keep it in mind. A file near the limit may have a second responsibility.
const MOST_LINES: usize = 600;

#[test]
fn no_file_is_longer_than_one_reads() {
    let root = root();
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
