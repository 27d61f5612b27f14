//! Detection of beam failure, and recovery from it.

use fadeout_core::{Dbm, Span};

/// Detection of beam failure; a UE looks for none where it is not configured.
///
/// Standard: TS 38.331 §6.3.2; TS 38.321 §5.17.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamMonitoring {
    /// beamFailureInstanceMaxCount.
    pub most_instances: u32,
    /// beamFailureDetectionTimer, in reporting periods.
    pub detection_periods: u32,
    /// Dedicated preambles for recovery (BeamFailureRecoveryConfig); without them preambles are drawn.
    pub dedicated: Option<DedicatedRecovery>,
}

/// Dedicated preambles for the recovery of beams.
///
/// Standard: TS 38.331 §6.3.2; TS 38.321 §5.1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DedicatedRecovery {
    /// rsrp-ThresholdSSB: RSRP of a candidate beam, at least.
    pub threshold: Dbm,
    /// beamFailureRecoveryTimer: how long they may be used; without it as long as recovery takes.
    pub timer: Option<Span>,
}
