//! Reasons for which a script did not pass.

/// Reason for which a script did not pass, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) kind: ProblemKind,
    /// Line of the script, from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// Expected packet or value, in the notation of scripts. `None` for problems that are no
    /// comparison.
    /// Packet or value that the endpoint produced instead.
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
}

/// Kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProblemKind {
    /// The endpoint behaved differently from the script.
    Failed,
    /// The text is not in the packetdrill language.
    Invalid,
    /// The script uses a feature that this runner does not support.
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
    /// Adds the expected and the actual text to the problem.
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
