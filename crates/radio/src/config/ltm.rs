//! L1/L2-triggered mobility: candidates are prepared by RRC, and the network switches the UE among them by MAC.

use fadeout_core::{Decibel, Span};

/// L1/L2-triggered mobility (LTM), of cells of one base station.
///
/// Standard: TS 38.300 §9.2.3.5; TS 38.321 §5.18.35; TS 38.133 §6.3.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LtmConfig {
    /// From one report of L1-RSRP to the next.
    pub report_period: Span,
    /// By how much a candidate's L1-RSRP must exceed that of the serving cell.
    pub offset: Decibel,
    /// In how many reports in a row.
    pub reports: u32,
    /// From 3 ms behind the feedback of the command until the UE has the target's configuration in use.
    pub processing: Span,
    /// From then on until it is in sync with the target's downlink, where it was not before.
    pub synchronisation: Span,
    /// What the UE does ahead of the command.
    pub early: EarlySync,
}

/// What a UE does about a candidate ahead of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EarlySync {
    /// It measures it, and no more.
    #[default]
    None,
    /// It is in sync with its downlink: TCI states are active.
    Downlink,
    /// The network has its timing advance too, from a preamble that it ordered: random access is skipped.
    Both,
}

impl LtmConfig {
    /// From 3 ms behind the feedback of the command until the UE may send in the target.
    pub(crate) fn interruption(&self) -> Span {
        match self.early {
            EarlySync::None => self.processing + self.synchronisation,
            EarlySync::Downlink | EarlySync::Both => self.processing,
        }
    }
}

impl Default for LtmConfig {
    /// Of FR1: 10 ms for RRC, 20 ms for the rest of the processing, the first block of synchronisation signals and 2 ms
    /// for it.
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

    /// Vectors ltm_rach_default and ltm_fast_early_tci of the handover sheet: 4 ms until the feedback, 3 ms behind it, and 20 ms
    /// from one occasion to the next.
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
