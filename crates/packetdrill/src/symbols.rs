//! Symbols: words of a script that are replaced by values (`--define=NAME=VALUE`).

use std::borrow::Cow;

/// Replaces the words in `symbols` and the words that the script defines by their values. `None` if
/// the text grows beyond `most` bytes.
pub(crate) fn replace<'a>(
    text: &'a str,
    symbols: &[(String, String)],
    most: usize,
) -> Option<Cow<'a, str>> {
    let own = text.lines().filter_map(|line| {
        let assignment = line.strip_prefix("--define=")?;
        assignment.trim().split_once('=')
    });
    let given = symbols
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let all: Vec<(&str, &str)> = own.chain(given).collect();
    if all.is_empty() {
        return Some(Cow::Borrowed(text));
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with("--define=") {
            result.push_str(line);
            continue;
        }
        let mut rest = line;
        while let Some(start) = rest.find(is_word) {
            let (before, from) = rest.split_at(start);
            let end = from.find(|c| !is_word(c)).unwrap_or(from.len());
            let (word, after) = from.split_at(end);
            let value = all.iter().find(|(name, _)| *name == word);
            result.push_str(before);
            result.push_str(value.map_or(word, |(_, value)| value));
            rest = after;
            if result.len() > most {
                return None;
            }
        }
        result.push_str(rest);
    }
    Some(Cow::Owned(result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_replaced() {
        let given = [("ONE".to_owned(), "1".to_owned())];
        let text = "--define=TWO=2\nONE TWO ONE_ TWO,\nONE";
        let replaced = replace(text, &given, 100);
        assert_eq!(replaced.as_deref(), Some("--define=TWO=2\n1 2 ONE_ 2,\n1"));
        assert_eq!(replace("ONE", &[], 100).as_deref(), Some("ONE"));
        assert_eq!(replace("ONE ONE ONE", &given, 2), None, "it ends");
    }
}
