//! Configuration of beam failure detection and recovery.

use fadeout_core::{Dbm, Span};

/// Configuration of beam failure detection. Without it a UE detects no beam failure.
///
/// Standard: TS 38.331 §6.3.2; TS 38.321 §5.17.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BeamMonitoring {
    /// Number of beam failure instances after which a beam failure is declared
    /// (beamFailureInstanceMaxCount).
    pub most_instances: u32,
    /// Time without a beam failure instance after which the count of instances is reset, in
    /// reporting periods (beamFailureDetectionTimer).
    pub detection_periods: u32,
    /// Dedicated preambles for the recovery (BeamFailureRecoveryConfig). `None` if the UE draws
    /// contention preambles.
    pub dedicated: Option<DedicatedRecovery>,
}

/// Dedicated preambles for beam failure recovery.
///
/// Standard: TS 38.331 §6.3.2; TS 38.321 §5.1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DedicatedRecovery {
    /// Least RSRP of a candidate beam (rsrp-ThresholdSSB).
    pub threshold: Dbm,
    /// Time for which dedicated preambles may be used (beamFailureRecoveryTimer). `None` if
    /// dedicated preambles may be used until the recovery ends.
    pub timer: Option<Span>,
}
