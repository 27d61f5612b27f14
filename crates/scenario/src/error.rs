//! Mistakes of users in a scenario. Each mistake has a place in the text and the expected value.

use crate::tree::{Place, shortened};
use std::fmt;

/// A mistake in a scenario or in an override.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ScenarioError {
    /// Name of the file, or `--set` for an override.
    pub file: String,
    /// Line of the mistake, counted from 1.
    pub line: usize,
    /// Column of the mistake in characters, counted from 1.
    pub column: usize,
    /// Description of the mistake.
    pub message: String,
    /// Valid values. `None` if the message does not list them.
    pub expected: Option<String>,
    /// Valid name or value that is most similar to the wrong one. `None` if none is similar.
    pub suggestion: Option<String>,
    /// Line of the text, with a caret below the mistake.
    pub snippet: String,
}

impl ScenarioError {
    /// Returns the message with place, line of text, suggestion and expected values. The result has
    /// several lines and no final line break.
    pub fn render(&self) -> String {
        let gutter = self.line.to_string().len();
        let mut text = format!(
            "error: {}\n{:gutter$}--> {}:{}:{}\n{}",
            self.message, "", self.file, self.line, self.column, self.snippet
        );
        if let Some(suggestion) = &self.suggestion {
            text += &format!("\n{:gutter$} = help: did you mean {suggestion}?", "");
        }
        // Expected values that the message contains already are not repeated.
        if let Some(expected) = self
            .expected
            .as_ref()
            .filter(|e| !self.message.contains(*e))
        {
            text += &format!("\n{:gutter$} = expected {expected}", "");
        }
        text
    }
}

/// Mistakes of a scenario, sorted by place. Mistakes in the file come before those in overrides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioErrors {
    /// List of at least one mistake.
    pub errors: Vec<ScenarioError>,
    /// Number of mistakes that are not in the list, because the list is full.
    pub omitted: usize,
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{}", error.render())?;
        }
        match self.omitted {
            0 => Ok(()),
            omitted => write!(f, "\n\nand {omitted} more"),
        }
    }
}

impl std::error::Error for ScenarioErrors {}

/// Mistake whose line and column are not yet determined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) expected: Option<String>,
    pub(crate) suggestion: Option<String>,
}

impl Mistake {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Mistake {
        Mistake {
            place,
            message: message.into(),
            expected: None,
            suggestion: None,
        }
    }

    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Mistake {
        self.expected = Some(expected.into());
        self
    }

    /// Adds a suggestion of a name or key, printed in backticks.
    pub(crate) fn suggest(mut self, name: Option<String>) -> Mistake {
        self.suggestion = name.map(|name| format!("`{name}`"));
        self
    }

    /// Adds a suggestion of a value, printed as a user would type it.
    pub(crate) fn suggest_value(mut self, value: Option<String>) -> Mistake {
        self.suggestion = value;
        self
    }
}

/// Mistakes found so far.
#[derive(Debug, Default)]
pub(crate) struct Mistakes {
    list: Vec<Mistake>,
    omitted: usize,
}

impl Mistakes {
    /// Maximum number of reported mistakes. It limits the run time for hostile input.
    const MOST: usize = 100;

    /// Returns the number of mistakes.
    pub(crate) fn count(&self) -> usize {
        self.list.len() + self.omitted
    }

    pub(crate) fn push(&mut self, mistake: Mistake) {
        // An override for many flows repeats the same mistake.
        if self.list.contains(&mistake) {
            return;
        }
        if self.is_full() {
            self.omitted += 1;
        } else {
            self.list.push(mistake);
        }
    }

    /// Adds a mistake at a place, with the expected value.
    pub(crate) fn add(&mut self, place: Place, message: impl Into<String>, expected: &str) {
        self.push(Mistake::new(place, message).expected(expected));
    }

    /// True if the list is full. Further mistakes are then only counted, and need no suggestions.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= Self::MOST
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Determines lines and columns. `texts` contains the name and the text of the file and of each
    /// override.
    pub(crate) fn locate(mut self, texts: &[(&str, &str)]) -> ScenarioErrors {
        self.list
            .sort_by_key(|mistake| (mistake.place.origin, mistake.place.start));
        let errors = self.list.into_iter().map(|mistake| {
            let (file, text) = texts[mistake.place.origin as usize];
            locate(mistake, file, text)
        });
        ScenarioErrors {
            errors: errors.collect(),
            omitted: self.omitted,
        }
    }
}

fn locate(mistake: Mistake, file: &str, text: &str) -> ScenarioError {
    let clamp = |offset: u32| {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let (start, end) = (clamp(mistake.place.start), clamp(mistake.place.end));
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_text = text[line_start..]
        .split('\n')
        .next()
        .unwrap_or("")
        .trim_end_matches('\r');
    let line = text[..line_start].matches('\n').count() + 1;
    let column = text[line_start..start].chars().count();
    let width = text[start..end.max(start)]
        .split('\n')
        .next()
        .unwrap_or("")
        .chars()
        .count();
    ScenarioError {
        file: file.to_owned(),
        line,
        column: column + 1,
        message: mistake.message,
        expected: mistake.expected,
        suggestion: mistake.suggestion,
        snippet: snippet(line, line_text, column, width),
    }
}

/// Returns the line with a caret below `width` characters from `column` (counted from 0) on. A long
/// line is shortened.
fn snippet(line: usize, text: &str, column: usize, width: usize) -> String {
    const WIDEST: usize = 96;
    const BEFORE: usize = 60;
    let skipped = if column > BEFORE + 20 {
        column - BEFORE
    } else {
        0
    };
    let shown: String = text
        .chars()
        .skip(skipped)
        .take(WIDEST)
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    let shown = shown.trim_end();
    let lead = if skipped > 0 { "…" } else { "" };
    let tail = if text.chars().nth(skipped + WIDEST).is_some() {
        "…"
    } else {
        ""
    };
    let indent = column - skipped + lead.chars().count();
    let carets = width.clamp(1, WIDEST.saturating_sub(column - skipped).max(1));
    let number = line.to_string();
    let gutter = number.len();
    format!(
        "{:gutter$} |\n{number} | {lead}{shown}{tail}\n{:gutter$} | {:indent$}{}",
        "",
        "",
        "",
        "^".repeat(carets)
    )
}

/// Returns names for a message: "`a`, `b` or `c`". Long lists are shortened.
pub(crate) fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 24;
    let names: Vec<String> = names
        .into_iter()
        .take(MOST + 1)
        .map(|name| format!("`{}`", shortened(name)))
        .collect();
    match names.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        many if many.len() > MOST => format!("{}, …", many[..MOST].join(", ")),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
