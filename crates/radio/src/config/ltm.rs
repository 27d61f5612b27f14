//! L1/L2-triggered mobility: RRC prepares candidates, and the network switches the UE among them by
//! MAC.

use fadeout_core::{Decibel, Span};

/// L1/L2-triggered mobility (LTM) among cells of one base station.
///
/// Standard: TS 38.300 §9.2.3.5; TS 38.321 §5.18.35; TS 38.133 §6.3.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LtmConfig {
    /// Time between two reports of L1-RSRP.
    pub report_period: Span,
    /// Amount by which a candidate's L1-RSRP must exceed that of the serving cell.
    pub offset: Decibel,
    /// Number of consecutive reports in which a candidate must exceed the offset.
    pub reports: u32,
    /// Processing time of the UE. The processing starts 3 ms after the feedback of the command and
    /// ends when the UE applies the target's configuration.
    pub processing: Span,
    /// Time for the synchronisation with the target's downlink. The synchronisation follows the
    /// processing time, unless the UE is already synchronised.
    pub synchronisation: Span,
    /// Kind of synchronisation with candidates before the command.
    pub early: EarlySync,
}

/// Synchronisation of a UE with a candidate before the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarlySync {
    /// There is no early synchronisation: the UE only measures the candidate.
    #[default]
    None,
    /// Downlink synchronisation: TCI states of the candidate are active.
    Downlink,
    /// Downlink synchronisation and timing advance. The network orders a preamble to measure the
    /// timing advance, so the cell switch needs no random access.
    Both,
}

impl LtmConfig {
    /// Returns the time from 3 ms after the feedback of the command until the UE may send in the
    /// target.
    pub(crate) fn interruption(&self) -> Span {
        match self.early {
            EarlySync::None => self.processing + self.synchronisation,
            EarlySync::Downlink | EarlySync::Both => self.processing,
        }
    }
}

impl Default for LtmConfig {
    /// Values of frequency range 1. The processing time consists of 10 ms for RRC and 20 ms for
    /// other steps. The synchronisation time consists of 20 ms until the first synchronisation
    /// signal block and 2 ms to process that block.
    ///
    /// Standard: TS 38.133 §6.3.1.2.
    fn default() -> LtmConfig {
        LtmConfig {
            report_period: Span::from_millis(20),
            offset: Decibel(3.0),
            reports: 4,
            processing: Span::from_millis(30),
            synchronisation: Span::from_millis(22),
            early: EarlySync::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors ltm_rach_default and ltm_fast_early_tci of handover_vectors.csv. Each delay
    /// includes 4 ms until the feedback, 3 ms after the feedback, and 20 ms until a random access
    /// occasion.
    #[test]
    fn delays_are_those_of_the_tests_of_the_standard() {
        let whole_ms = |config: LtmConfig| 4 + 3 + config.interruption().as_millis() + 20;
        assert_eq!(whole_ms(LtmConfig::default()), 79);
        let fast = LtmConfig {
            processing: Span::from_millis(10),
            early: EarlySync::Downlink,
            ..LtmConfig::default()
        };
        assert_eq!(whole_ms(fast), 37);
    }
}
