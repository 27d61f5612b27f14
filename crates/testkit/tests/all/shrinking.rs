//! Lists of today's breaches of a rule. A list may only shrink.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{env, fs};

use super::source::root;

/// Breaches of a rule, with their number or size.
pub(crate) type Counts = BTreeMap<String, usize>;

/// Environment variable that updates the lists, if no count rose.
const RECORD: &str = "RECORD_FEWER";

/// Compares `found` with the list. Returns messages for new and larger counts, and messages for
/// smaller and missing ones.
fn compare(found: &Counts, listed: &Counts) -> (Vec<String>, Vec<String>) {
    let (mut rose, mut fell) = (Vec::new(), Vec::new());
    for (key, &count) in found {
        match listed.get(key) {
            None => rose.push(format!("{key}: {count}, new")),
            Some(&before) if count > before => {
                rose.push(format!("{key}: {count}, the list has {before}"));
            }
            Some(&before) if count < before => fell.push(format!(
                "{key}: {count}, the list has {before}: lower it in the list"
            )),
            Some(_) => {}
        }
    }
    let gone = listed.keys().filter(|key| !found.contains_key(*key));
    fell.extend(gone.map(|key| format!("{key}: gone, remove it from the list")));
    (rose, fell)
}

/// Reads a list. A line has a key, a comma and a count. Lines with `#` are comments.
fn read(text: &str) -> Counts {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (key, count) = line.rsplit_once(',').expect("a key, a comma and a count");
            let count = count.parse().expect("a count at the end of the line");
            (key.to_owned(), count)
        })
        .collect()
}

/// Checks `found` against the list `name` next to this crate's tests.
///
/// # Panics
///
/// Panics if a count is new or rose, with `rule` in the message. Also panics if a count of the list
/// fell.
pub(crate) fn check(name: &str, rule: &str, found: &Counts) {
    let path: PathBuf = root().join("crates/testkit/tests").join(name);
    let text = fs::read_to_string(&path).expect("the list can be read");
    let (rose, fell) = compare(found, &read(&text));
    assert!(rose.is_empty(), "{rule}: {rose:#?}");
    if !fell.is_empty() && env::var_os(RECORD).is_some() {
        let head = text.lines().filter(|line| line.starts_with('#'));
        let head: String = head.map(|line| format!("{line}\n")).collect();
        let rows = found.iter().map(|(key, count)| format!("{key},{count}\n"));
        let rows: String = rows.collect();
        fs::write(&path, head + &rows).expect("the list can be written");
        return;
    }
    assert!(
        fell.is_empty(),
        "crates/testkit/tests/{name} may only shrink, {RECORD}=1 writes it anew: {fell:#?}"
    );
}

#[test]
fn a_list_may_shrink_but_must_say_so() {
    let counts = |text: &str| read(text);
    let listed = counts("# head\na,b,2\nc,1\nd,1");
    assert_eq!(compare(&listed, &listed), (vec![], vec![]));
    let (rose, fell) = compare(&counts("a,b,3\nc,1\nd,1\ne,1"), &listed);
    assert_eq!(rose, ["a,b: 3, the list has 2", "e: 1, new"]);
    assert!(fell.is_empty());
    let (rose, fell) = compare(&counts("a,b,1\nc,1"), &listed);
    assert!(rose.is_empty());
    let expected = [
        "a,b: 1, the list has 2: lower it in the list",
        "d: gone, remove it from the list",
    ];
    assert_eq!(fell, expected);
}
