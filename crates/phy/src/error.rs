//! Errors in a configuration of the physical layer.

/// Invalid value in a configuration of the physical layer. The text has the valid values.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PhyError {
    /// No table has the bandwidth.
    #[error("no {kind} channel of {bandwidth_mhz} MHz at {spacing_khz} kHz; there are {valid}")]
    Bandwidth {
        /// Name of the table.
        kind: &'static str,
        /// Requested channel bandwidth.
        bandwidth_mhz: f64,
        /// Subcarrier spacing.
        spacing_khz: u32,
        /// Bandwidths of the table, or its subcarrier spacings.
        valid: String,
    },
    /// There are more resource blocks than the channel has, or none.
    #[error("{blocks} resource blocks; {channel} has 1 to {most}")]
    Blocks {
        /// Requested number of resource blocks.
        blocks: u32,
        /// Name of the channel.
        channel: String,
        /// Largest number of resource blocks of the channel.
        most: u32,
    },
    /// A number lies outside its range.
    #[error("{what} is {value}; expected {expected}")]
    Range {
        /// Name of the value.
        what: &'static str,
        /// Rejected value.
        value: f64,
        /// Allowed values.
        expected: &'static str,
    },
    /// A slot pattern does not parse.
    #[error("slot pattern \"{pattern}\": {problem}; expected for example {example}")]
    Pattern {
        /// The pattern as given.
        pattern: String,
        /// Description of the mistake.
        problem: String,
        /// Example of a valid pattern.
        example: &'static str,
    },
}

impl PhyError {
    /// Returns an error for `value` if `is_valid` is false.
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
