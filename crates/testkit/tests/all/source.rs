//! Rust sources for the rules: files, tokens with their lines, and code without tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A word or sign of Rust.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    /// Line on which the token begins, counted from 1.
    pub(crate) line: usize,
}

/// Text of a token for a string, a byte string or a character, whose contents are not code.
pub(crate) const LITERAL: &str = "\"\"";

/// Returns the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds the files with an extension in a folder and below it, in the order of names. Build output
/// is left out.
pub(crate) fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("the sources can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
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

/// Returns the Rust files in the folders `parts` of each crate (`src`, `tests`), as paths below the
/// root with their text.
pub(crate) fn sources(parts: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    for folder in fs::read_dir(root.join("crates")).expect("the crates can be read") {
        for part in parts {
            let folder = folder.as_ref().expect("a crate").path().join(part);
            if folder.is_dir() {
                files(&folder, "rs", &mut found);
            }
        }
    }
    found.sort();
    assert!(found.len() > 500, "only {} files were found", found.len());
    let text = |file: PathBuf| {
        let name = file.strip_prefix(&root).expect("a file of the repository");
        let name = name.to_string_lossy().into_owned();
        (
            name,
            fs::read_to_string(&file).expect("a source can be read"),
        )
    };
    found.into_iter().map(text).collect()
}

/// Returns the words and signs of a source, without comments. `::` and `->` are one sign each.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let text: Vec<char> = source.chars().collect();
    let char_at = |index: usize| text.get(index).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let (mut i, mut line, mut counted) = (0, 1, 0);
    while i < text.len() {
        line += text[counted..i].iter().filter(|&&c| c == '\n').count();
        counted = i;
        let from = i;
        let mut push = |text: String| tokens.push(Token { text, line });
        match (char_at(i), char_at(i + 1)) {
            ('/', '/') => i = end_of_line(&text, i),
            ('/', '*') => i = end_of_comment(&text, i),
            ('b', '"') => i += 1,
            ('r', '"' | '#') if raw_string(&text, i).is_some() => {
                i = raw_string(&text, i).unwrap_or(i + 1);
                push(LITERAL.to_owned());
            }
            ('"', _) => {
                i += 1;
                while i < text.len() && char_at(i) != '"' {
                    i += if char_at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
                push(LITERAL.to_owned());
            }
            ('\'', '\\') => {
                i += 3;
                while i < text.len() && char_at(i) != '\'' {
                    i += 1;
                }
                i += 1;
                push(LITERAL.to_owned());
            }
            ('\'', _) if char_at(i + 2) == '\'' => {
                i += 3;
                push(LITERAL.to_owned());
            }
            (letter, _) if letter.is_alphanumeric() || letter == '_' => {
                while char_at(i).is_alphanumeric() || char_at(i) == '_' {
                    i += 1;
                }
                push(text[from..i].iter().collect());
            }
            (':', ':') | ('-', '>') => {
                i += 2;
                push(text[from..i].iter().collect());
            }
            (space, _) if space.is_whitespace() => i += 1,
            (sign, _) => {
                i += 1;
                push(sign.to_string());
            }
        }
    }
    tokens
}

/// Returns the end of the line that contains `from`.
fn end_of_line(text: &[char], from: usize) -> usize {
    let length = text[from..].iter().take_while(|&&c| c != '\n').count();
    from + length
}

/// Returns the end of the block comment that begins at `from`. Comments nest.
fn end_of_comment(text: &[char], from: usize) -> usize {
    let (mut i, mut depth) = (from, 0);
    while i < text.len() {
        match (text[i], text.get(i + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                i += 1;
            }
            ('*', Some('/')) => {
                depth -= 1;
                i += 1;
            }
            _ => {}
        }
        i += 1;
        if depth == 0 {
            break;
        }
    }
    i
}

/// Returns the end of the raw string that begins at `from`. `None` if no raw string begins there.
fn raw_string(text: &[char], from: usize) -> Option<usize> {
    let hashes = text[from + 1..].iter().take_while(|&&c| c == '#').count();
    let quote = from + 1 + hashes;
    if text.get(quote) != Some(&'"') {
        return None;
    }
    let ends = |at: usize| {
        text[at] == '"' && text[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes
    };
    (quote + 1..text.len())
        .find(|&at| ends(at))
        .map(|at| at + 1 + hashes)
}

/// Returns the tokens of a source without its `#[cfg(test)]` items.
pub(crate) fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mark = ["#", "[", "cfg", "(", "test", ")", "]"];
    let is_mark = |i: usize| {
        let mut ahead = tokens[i..].iter().map(|token| token.text.as_str());
        mark.iter().all(|sign| ahead.next() == Some(sign))
    };
    let (mut kept, mut i) = (Vec::new(), 0);
    while i < tokens.len() {
        if is_mark(i) {
            i = end_of_item(tokens, i + mark.len());
        } else {
            kept.push(tokens[i].clone());
            i += 1;
        }
    }
    kept
}

/// Returns the index after the item at `from`, which ends with `;` or with its braces.
fn end_of_item(tokens: &[Token], from: usize) -> usize {
    let (mut i, mut depth) = (from, 0);
    while i < tokens.len() {
        match tokens[i].text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        let ends = match tokens[i].text.as_str() {
            // A brace before `;` closes the list of `use a::{b, c};` and does not end the item.
            "}" => tokens.get(i + 1).is_none_or(|next| next.text != ";"),
            sign => sign == ";",
        };
        i += 1;
        if depth == 0 && ends {
            break;
        }
    }
    i
}

/// Returns the index of the bracket that closes the one at `from`.
pub(crate) fn closing(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i;
        }
    }
    tokens.len()
}

/// True if a file contains only tests, judged by its path below the root.
pub(crate) fn is_test_file(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"))
}

#[test]
fn tokens_know_their_line_and_leave_strings_and_comments_out() {
    let source = "a::b // c\n/* d /* e */ f */ 'g' 'h \"i\nj\" b\"k\" r#\"l\n\"#\n-> m";
    let found: Vec<(String, usize)> = tokens(source)
        .into_iter()
        .map(|Token { text, line }| (text, line))
        .collect();
    let expected = [
        ("a", 1),
        ("::", 1),
        ("b", 1),
        (LITERAL, 2),
        ("'", 2),
        ("h", 2),
        (LITERAL, 2),
        (LITERAL, 3),
        (LITERAL, 3),
        ("->", 5),
        ("m", 5),
    ];
    let expected = expected.map(|(text, line)| (text.to_owned(), line));
    assert_eq!(found, expected);
}

#[test]
fn items_of_tests_are_left_out() {
    let source = "fn a() {} #[cfg(test)] mod tests { fn b() {} } #[cfg(test)] use c::{d, e}; #[cfg(test)] \
                  #[allow(x)] fn f(g: [u8; 3]) -> u8 { h } fn i() {}";
    let kept: Vec<String> = without_tests(&tokens(source))
        .into_iter()
        .map(|token| token.text)
        .collect();
    let expected = ["fn", "a", "(", ")", "{", "}", "fn", "i", "(", ")", "{", "}"];
    assert_eq!(kept, expected);
}
