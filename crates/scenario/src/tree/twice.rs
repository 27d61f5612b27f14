//! Messages for duplicate keys and tables, with the line of the first occurrence.

use crate::tree::{Place, SyntaxError};

/// Message of the TOML parser for a duplicate key or table.
const DUPLICATE: &str = "duplicate key";

/// Adds the names of duplicates to the syntax errors of `text`. A duplicate table is a single
/// mistake, so the errors of its keys are removed.
pub(crate) fn named(text: &str, errors: Vec<SyntaxError>) -> Vec<SyntaxError> {
    let mut named = Vec::new();
    let mut skipped_to = 0;
    for (message, place) in errors {
        let start = place.start as usize;
        if message != DUPLICATE {
            named.push((message, place));
        } else if start >= skipped_to {
            let line = line_of(text, start);
            if is_header(line) {
                skipped_to = end_of_table(text, start);
            }
            named.push((
                duplicate_message(text, start, line, place).unwrap_or(message),
                place,
            ));
        }
    }
    named
}

/// Returns the message for a duplicate key or table at `start`, with its name and the line of its
/// first occurrence. `None` if the first occurrence is not found.
fn duplicate_message(text: &str, start: usize, line: &str, place: Place) -> Option<String> {
    let before = text[..start].lines().enumerate();
    // The last line is the current one, so it is excluded from the search.
    let count = text[..start].matches('\n').count();
    let before = before.take(count);
    if is_header(line) {
        let name = plain(line);
        let first = before.into_iter().find(|(_, other)| plain(other) == name)?;
        return Some(format!(
            "the table {name} stands twice, first in line {}",
            first.0 + 1
        ));
    }
    let key = text.get(start..place.end as usize)?;
    let own: Vec<(usize, &str)> = before.collect();
    let first = own
        .iter()
        .rev()
        .take_while(|(_, other)| !is_header(other))
        .find(|(_, other)| {
            other
                .split('=')
                .next()
                .is_some_and(|name| name.trim() == key)
        })?;
    Some(format!(
        "`{key}` stands twice, first in line {}",
        first.0 + 1
    ))
}

fn line_of(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].lines().next().unwrap_or("")
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

/// Returns a table header without spaces and comments.
fn plain(line: &str) -> String {
    let head = line.split('#').next().unwrap_or("");
    head.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Returns the position of the end of the table that begins on the line at `start`.
fn end_of_table(text: &str, start: usize) -> usize {
    let mut end = start
        + text[start..]
            .find('\n')
            .map_or(text.len() - start, |at| at + 1);
    while end < text.len() && !is_header(line_of(text, end)) {
        end += text[end..].find('\n').map_or(text.len() - end, |at| at + 1);
    }
    end
}

#[cfg(test)]
mod tests {

    use crate::tree::parse_document;

    fn messages(text: &str) -> Vec<String> {
        let errors = parse_document(text).expect_err("something stands twice");
        errors.into_iter().map(|(message, _)| message).collect()
    }

    #[test]
    fn a_second_table_is_one_mistake_that_names_the_first() {
        let text = "# a\n[link.a]\nx = 1\n[b]\n [ link.a ] # again\nx = 2\ny = 3\n[c]\nz=1\nz=2\n";
        assert_eq!(
            messages(text),
            [
                "the table [link.a] stands twice, first in line 2",
                "`z` stands twice, first in line 9"
            ]
        );
    }

    #[test]
    fn what_is_not_found_keeps_the_parsers_words() {
        assert_eq!(messages("a.b = 1\na.b = 2\n").len(), 1);
        assert_eq!(messages("[\"é\"]\n\"ü\" = 1\n[\"é\"]\n\"ü\" = 1").len(), 1);
    }
}
