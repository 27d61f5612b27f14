//! Check of the list that names a test for each reference value of handover, or a reason for its
//! absence.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const TABLE: &str = include_str!("../handover_vectors.csv");
/// Numbers of reference values by group: values compared with their numbers, values compared as a
/// rule with other numbers, and values that are not compared.
const COUNTS: [usize; 3] = [89, 31, 51];

#[test]
fn every_vector_is_checked_somewhere_or_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).skip(1);
    let (mut names, mut counts) = (BTreeSet::new(), [0; 3]);
    for row in rows {
        let mut parts = row.splitn(4, ',');
        let mut part = || {
            parts
                .next()
                .unwrap_or_else(|| panic!("four columns: {row}"))
        };
        let (name, how, file, last) = (part(), part(), part(), part());
        assert!(names.insert(name), "{name} is there twice");
        if how == "none" {
            assert!(file.is_empty() && last.len() > 10, "a reason: {row}");
            counts[2] += 1;
            continue;
        }
        counts[usize::from(how == "rule")] += 1;
        assert!(how == "rule" || how == "numbers", "{row}");
        let path = root.join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_there = ["fn", "def"]
            .iter()
            .any(|word| text.contains(&format!("{word} {last}(")));
        assert!(is_there, "{file} has no {last}, which checks {name}");
    }
    assert_eq!(names.len(), 171, "as many as the sheet has");
    // The documentation of handover states these numbers.
    assert_eq!(counts, COUNTS);
}
