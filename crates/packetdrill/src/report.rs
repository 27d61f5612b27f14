//! Outcome of a script.

use crate::problem::{Problem, ProblemKind};
use serde_json::json;
use std::fmt::Write;

/// Result of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The endpoint behaved as the script expects.
    Passed,
    /// The endpoint behaved differently from the script.
    Failed,
    /// The text is not in the packetdrill language.
    Invalid,
    /// The script uses a feature that this runner does not support.
    Unsupported,
}

impl Outcome {
    /// Returns the name of the outcome as used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Invalid => "invalid",
            Outcome::Unsupported => "unsupported",
        }
    }
}

/// Outcome of a script, with details.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Name of the script.
    pub name: String,
    /// Kind of the outcome.
    pub outcome: Outcome,
    /// Line at which the script ended, from 1. `None` if the script passed.
    pub line: Option<usize>,
    /// Text of that line.
    pub source: String,
    /// Error message. Empty if the script passed.
    pub message: String,
    /// Packet or value that the script expects at this line. `None` if the problem is no
    /// comparison.
    pub expected: Option<String>,
    /// Packet or value that the endpoint produced instead. `None` if the problem is no comparison.
    pub actual: Option<String>,
    /// Output of the script.
    pub output: Vec<String>,
    /// Number of segments, calls and statements that matched the script.
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

    /// Adds the output of the script.
    pub(crate) fn add_output(&mut self, lines: &[String]) {
        self.output.extend(lines.iter().map(|line| printable(line)));
    }

    /// Returns the report as JSON.
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

    /// Returns the report as text: the line, the error message, the expected and the actual packet.
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

/// Returns `text` with control characters escaped, because a terminal would execute them.
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
