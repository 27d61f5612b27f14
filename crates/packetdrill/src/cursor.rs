//! Position in the text of a script.

use crate::problem::Problem;

/// Reader of a text from front to back, with the number of the line.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Cursor<'a> {
    /// Builds a cursor at the start of `text`, whose first line is `line`.
    pub(crate) fn new(text: &'a str, line: usize) -> Cursor<'a> {
        Cursor { text, at: 0, line }
    }
    pub(crate) fn line(&self) -> usize {
        self.line
    }
    pub(crate) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    pub(crate) fn is_done(&self) -> bool {
        self.at == self.text.len()
    }
    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }
    pub(crate) fn starts_with(&self, prefix: &str) -> bool {
        self.rest().starts_with(prefix)
    }

    /// Advances by `bytes`, which must end at a character boundary.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.line += self.rest()[..bytes].matches('\n').count();
        self.at += bytes;
    }

    /// If the text continues with `prefix`, skips `prefix` and returns true.
    pub(crate) fn skip_prefix(&mut self, prefix: &str) -> bool {
        let is_next = self.starts_with(prefix);
        if is_next {
            self.advance(prefix.len());
        }
        is_next
    }

    /// Skips spaces and `prefix`. Returns an error that `what` was expected if `prefix` does not
    /// follow.
    pub(crate) fn expect(&mut self, prefix: &str) -> Result<(), Problem> {
        self.skip_space();
        if self.skip_prefix(prefix) {
            return Ok(());
        }
        Err(self.expected(&format!("`{prefix}`")))
    }

    /// Returns the problem that `what` was expected at this position.
    pub(crate) fn expected(&self, what: &str) -> Problem {
        let found: String = self
            .rest()
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(30)
            .collect();
        let found = if found.is_empty() {
            "the end of the line".to_owned()
        } else {
            format!("`{found}`")
        };
        Problem::invalid(self.line, format!("expected {what}, found {found}"))
    }

    /// Reads characters as long as `wanted` returns true for them.
    pub(crate) fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.advance(end);
        &rest[..end]
    }

    /// Reads the text up to `end` and skips `end`. `None` if the remaining text does not contain
    /// `end`.
    pub(crate) fn take_until(&mut self, end: &str) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.find(end)?;
        self.advance(length + end.len());
        Some(&rest[..length])
    }

    /// Skips spaces and line breaks.
    pub(crate) fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Skips spaces, line breaks and comments, which are `//`, `/* */`, and `#` at the start of a
    /// line.
    pub(crate) fn skip_blank(&mut self) -> Result<(), Problem> {
        loop {
            self.skip_space();
            let line = self.line;
            if self.starts_with("//") || self.starts_with("#") {
                self.take_while(|c| c != '\n');
            } else if self.skip_prefix("/*") {
                if self.take_until("*/").is_none() {
                    return Err(Problem::invalid(
                        line,
                        "the comment never ends: no `*/` follows",
                    ));
                }
            } else {
                return Ok(());
            }
        }
    }

    /// Reads a name of letters, digits and underscores.
    pub(crate) fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Reads a whole number of 32 bits, decimal or hexadecimal.
    pub(crate) fn number(&mut self, what: &str) -> Result<u32, Problem> {
        self.skip_space();
        let before = self.clone();
        let parsed = if self.skip_prefix("0x") {
            u32::from_str_radix(self.take_while(|c| c.is_ascii_hexdigit()), 16)
        } else {
            self.take_while(|c| c.is_ascii_digit()).parse()
        };
        parsed.map_err(|_| before.expected(&format!("{what}, a whole number of 32 bits")))
    }
}
