//! Handover without random access and L1/L2-triggered mobility, configured from a scenario.

use fadeout_core::Span;
use fadeout_radio::access::{
    ConditionalConfig, EarlySync, FirstGrant, LtmConfig, MOST_CANDIDATES, RachLess, TargetTiming,
};
use fadeout_scenario::{EarlySynchronisation, MobilityManagement, TargetAdvance};

pub(super) fn rach_less(described: &MobilityManagement) -> Option<RachLess> {
    Some(RachLess {
        timing: match described.rach_less? {
            TargetAdvance::Zero => TargetTiming::Zero,
            TargetAdvance::Source => TargetTiming::Source,
        },
        grant: match described.rach_less_grant_interval {
            Some(interval) => FirstGrant::Preallocated(interval),
            None => FirstGrant::ON_PDCCH,
        },
    })
}

pub(super) fn ltm(described: &MobilityManagement) -> LtmConfig {
    let usual = LtmConfig::default();
    let early = described.early_synchronisation;
    LtmConfig {
        report_period: described.l1_report_period.unwrap_or(usual.report_period),
        offset: described.switch_offset.unwrap_or(usual.offset),
        reports: described.switch_reports.unwrap_or(usual.reports),
        processing: described.switch_processing.unwrap_or(usual.processing),
        synchronisation: (described.switch_synchronisation).unwrap_or(usual.synchronisation),
        early: match early.unwrap_or(EarlySynchronisation::None) {
            EarlySynchronisation::None => EarlySync::None,
            EarlySynchronisation::Downlink => EarlySync::Downlink,
            EarlySynchronisation::Both => EarlySync::Both,
        },
    }
}

/// Returns the configuration of candidate cells for L1/L2-triggered mobility. Without a timeout,
/// candidates keep their resources until the network releases them.
pub(super) fn candidates(described: &MobilityManagement) -> ConditionalConfig {
    let most = described.max_candidates.map(|most| most as usize);
    ConditionalConfig {
        conditions: Vec::new(),
        most_candidates: most.unwrap_or(MOST_CANDIDATES),
        hold: described.candidate_timeout.unwrap_or(Span::MAX),
        recovers: described.switch_recovery.unwrap_or(true),
        forwards_early: false,
        commanding: Vec::new(),
    }
}
