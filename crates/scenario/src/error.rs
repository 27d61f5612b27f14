//! A user's mistakes. Each has its place in the scenario and the expected value.

use crate::tree::{Place, shortened};
use std::fmt;

/// A mistake in a scenario or in an override.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}")]
pub struct ScenarioError {
    /// Name of the file, or `--set` for an override.
    pub file: String,
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// Description of the mistake.
    pub message: String,
    /// The valid values. `None` if they are not listed.
    pub expected: Option<String>,
    /// The most similar valid name or value. `None` if there is none.
    pub suggestion: Option<String>,
    /// The line of text with a caret below the place.
    pub snippet: String,
}

impl ScenarioError {
    /// Returns the message with place, line of text, suggestion and expected values. It has several
    /// lines without a final line break.
    pub fn render(&self) -> String {
        let gutter = self.line.to_string().len();
        let mut text = format!(
            "error: {}\n{:gutter$}--> {}:{}:{}\n{}",
            self.message, "", self.file, self.line, self.column, self.snippet
        );
        if let Some(suggestion) = &self.suggestion {
            text += &format!("\n{:gutter$} = help: did you mean {suggestion}?", "");
        }
        // Many messages contain the expected values already.
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

/// The mistakes of a scenario, sorted by place. Those of the file come before those of overrides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioErrors {
    /// List of at least one mistake.
    pub errors: Vec<ScenarioError>,
    /// Number of further mistakes that are not in the list.
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

/// A mistake whose line and column are not yet determined.
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
    /// Maximum number of reported mistakes. It limits the cost of hostile input.
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

    /// True if further mistakes are only counted, so that suggestions need not be searched.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= Self::MOST
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Determines the lines and columns. `texts` has name and text of each origin.
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

/// Returns the line with a caret below `width` characters from `column` (counted from 0), shortened
/// to a readable part.
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
