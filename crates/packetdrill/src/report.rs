//! The outcome of a script.

use crate::problem::{Problem, ProblemKind};
use serde_json::json;
use std::fmt::Write;

/// How a script ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint did all that the script expects.
    Passed,
    /// It did something else.
    Failed,
    /// The script is not of the language.
    Invalid,
    /// The script uses something that this runner does not have.
    Unsupported,
}

impl Outcome {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Invalid => "invalid",
            Outcome::Unsupported => "unsupported",
        }
    }
}

/// The outcome of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Name of the script.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Line where it ended, from 1; `None` when it passed.
    pub line: Option<usize>,
    /// Text of that line.
    pub source: String,
    /// The mistake; empty when it passed.
    pub message: String,
    /// What the script expects there.
    pub expected: Option<String>,
    /// What came instead.
    pub actual: Option<String>,
    /// The output of the script.
    pub output: Vec<String>,
    /// Segments, calls and statements that were as expected.
    pub checks: usize,
}

impl Report {
    pub(crate) fn new(name: &str, text: &str, result: Result<(), Problem>) -> Report {
        let mut report = Report {
            name: printable(name),
            outcome: Outcome::Passed,
            line: None,
            source: String::new(),
            message: String::new(),
            expected: None,
            actual: None,
            output: Vec::new(),
            checks: 0,
        };
        if let Err(problem) = result {
            report.outcome = match problem.kind {
                ProblemKind::Failed => Outcome::Failed,
                ProblemKind::Invalid => Outcome::Invalid,
                ProblemKind::Unsupported => Outcome::Unsupported,
            };
            let line = text.lines().nth(problem.line.saturating_sub(1));
            let source: String = line.unwrap_or("").trim().chars().take(200).collect();
            report.source = printable(&source);
            report.line = Some(problem.line);
            report.message = printable(&problem.message);
            report.expected = problem.expected.map(|text| printable(&text));
            report.actual = problem.actual.map(|text| printable(&text));
        }
        report
    }

    /// Adds what the script printed.
    pub(crate) fn add_output(&mut self, lines: &[String]) {
        self.output.extend(lines.iter().map(|line| printable(line)));
    }

    /// The report as JSON.
    pub fn to_json(&self) -> String {
        json!({
            "name": self.name,
            "outcome": self.outcome.name(),
            "line": self.line,
            "source": self.source,
            "message": self.message,
            "expected": self.expected,
            "actual": self.actual,
            "output": self.output,
            "checks": self.checks,
            "text": self.render(),
        })
        .to_string()
    }

    /// The report in words: where, what, the line, and what was expected against what came.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        match self.line {
            None => {
                let _ = write!(text, "{}: passed, {} checks", self.name, self.checks);
            }
            Some(line) => {
                let _ = write!(
                    text,
                    "{}:{line}: {}: {}",
                    self.name,
                    self.outcome.name(),
                    self.message
                );
                if !self.source.is_empty() {
                    let _ = write!(text, "\n  line {line}: {}", self.source);
                }
                if let Some(expected) = &self.expected {
                    let _ = write!(text, "\n  expected: {expected}");
                }
                if let Some(actual) = &self.actual {
                    let _ = write!(text, "\n  actual:   {actual}");
                }
            }
        }
        text
    }
}

/// `text` without control characters: what a script says is shown on terminals, which obey them.
fn printable(text: &str) -> String {
    let shown = |c: char| {
        let is_plain = !c.is_control() || c == '\n' || c == '\t';
        let escaped = (!is_plain).then(|| c.escape_default());
        is_plain
            .then_some(c)
            .into_iter()
            .chain(escaped.into_iter().flatten())
    };
    text.chars().flat_map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let problem = Problem::invalid(1, "found `\u{1b}[2J`");
        let report = Report::new("a\u{7}.pkt", "\u{1b}]0;x", Err(problem));
        let text = report.render();
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
        assert!(text.contains("\\u{1b}[2J"), "{text:?}");
    }
}
