//! Tests of the commands in the header comments of the examples.

use crate::common::unobserved;
use crate::common::{examples, read};

/// Returns the overrides in each command of an example's header comment, as a shell would pass
/// them.
fn tried(text: &str) -> Vec<Vec<String>> {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let words = |line: &str| line.split("--set ").skip(1).map(first_word).collect();
    let lines = comments.map(words);
    lines
        .filter(|line: &Vec<String>| !line.is_empty())
        .collect()
}

fn first_word(line: &str) -> String {
    let mut quote = None;
    let mut word = String::new();
    for one in line.chars() {
        match (quote, one) {
            (Some(open), _) if one == open => quote = None,
            (None, '\'' | '"') => quote = Some(one),
            (None, ' ') => break,
            _ => word.push(one),
        }
    }
    word
}

#[test]
fn what_the_examples_say_to_try_can_be_tried() {
    let (mut count, mut wrong) = (0, Vec::new());
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("a readable scenario");
        for overrides in tried(&text) {
            count += 1;
            println!("{}: {overrides:?}", path.display());
            let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
            if let Err(error) = unobserved(&read(&path, &overrides)) {
                wrong.push(format!("{} {overrides:?}: {error:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 50, "{count}");
}
