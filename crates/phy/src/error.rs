//! Errors in a configuration of the physical layer.

/// A value of a configuration that the physical layer has no use for. The text says which values
/// there are.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PhyError {
    /// No table has the bandwidth.
    #[error("no {kind} channel of {bandwidth_mhz} MHz at {spacing_khz} kHz; there are {valid}")]
    Bandwidth {
        /// Which table was asked.
        kind: &'static str,
        /// Channel bandwidth asked for.
        bandwidth_mhz: f64,
        /// Subcarrier spacing.
        spacing_khz: u32,
        /// The bandwidths of the table, or the spacings it has.
        valid: String,
    },
    /// More resource blocks than a channel has, or none.
    #[error("{blocks} resource blocks; {channel} has 1 to {most}")]
    Blocks {
        /// Resource blocks asked for.
        blocks: u32,
        /// The channel.
        channel: String,
        /// The most that it has.
        most: u32,
    },
    /// A number lies outside its range.
    #[error("{what} is {value}; expected {expected}")]
    Range {
        /// Name of the value.
        what: &'static str,
        /// The value given.
        value: f64,
        /// The values allowed.
        expected: &'static str,
    },
    /// A slot pattern does not parse.
    #[error("slot pattern \"{pattern}\": {problem}; expected for example {example}")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// The mistake.
        problem: String,
        /// One without.
        example: &'static str,
    },
}

impl PhyError {
    /// Checks that `value` is what `is_valid` says.
    pub(crate) fn check(
        what: &'static str,
        value: f64,
        is_valid: bool,
        expected: &'static str,
    ) -> Result<(), PhyError> {
        if is_valid {
            Ok(())
        } else {
            Err(PhyError::Range {
                what,
                value,
                expected,
            })
        }
    }
}
