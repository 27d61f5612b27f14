//! Reasons for which a script did not pass.

/// Reason for which a script did not pass, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    /// Line of the script, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// Expected and actual packets in the notation of scripts.
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
}

/// Kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// Difference between the endpoint and the script.
    Failed,
    /// Text that is not in the language.
    Invalid,
    /// Feature that this runner does not have.
    Unsupported,
}

impl Problem {
    fn new(kind: ProblemKind, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            kind,
            line,
            message: message.into(),
            expected: None,
            actual: None,
        }
    }
    pub(crate) fn invalid(line: usize, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Invalid, line, message)
    }
    pub(crate) fn unsupported(line: usize, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Unsupported, line, message)
    }
    pub(crate) fn failed(line: usize, message: impl Into<String>) -> Problem {
        Problem::new(ProblemKind::Failed, line, message)
    }
    /// Adds the expected and the actual text.
    pub(crate) fn between(
        mut self,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        self.expected = Some(expected.into());
        self.actual = Some(actual.into());
        self
    }
}
