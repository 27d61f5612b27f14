//! Configuration of RRC states and of the transitions between them.

use super::AccessConfig;
use fadeout_core::Span;
use fadeout_core::registry::{Parameter, choice, integer, span};

pub use fadeout_core::agreed::ReleasedState;

/// Configuration of RRC states: rules for the release of a connection and for the return of the UE.
///
/// Standard: TS 38.331 §4.2.1, §5.3.3, §5.3.13; TS 36.331 §5.3.3; TS 38.304 §7.1; TS 36.304 §7.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatesConfig {
    /// Time without data after which the connection is released.
    pub inactivity: Span,
    /// RRC state after the release.
    pub released_to: ReleasedState,
    /// Paging cycle T in radio frames.
    pub cycle_frames: u32,
    /// Number N of paging frames in a cycle. The number must divide the cycle.
    pub paging_frames: u32,
    /// Parameters of random access in the cell.
    pub access: AccessConfig,
    /// One-way time of an RRC message over the radio interface, including the wait for a grant.
    pub message_delay: Span,
    /// RRC processing time of a setup or a resume.
    pub setup_processing: Span,
    /// RRC processing time of the security command. Used from idle mode only.
    pub security_processing: Span,
    /// RRC processing time of the reconfiguration that adds the bearers. Used from idle mode only.
    pub reconfiguration_processing: Span,
    /// One-way delay between base station and core. In idle mode, paging and the initial context
    /// take two such delays each.
    pub core_delay: Span,
}

fadeout_core::parameters! {
    /// Default parameters of RRC states, with the names of the scenario's keys.
    struct StatesKeys {
        /// Time without data after which the connection is released.
        inactivity: Span = span("10 s"),
        /// RRC state to which the connection is released.
        state: ReleasedState = choice(ReleasedState::NAMES, "idle"),
        /// Paging cycle in radio frames.
        paging_cycle: u32 = integer((32, 1024, ""), "128"),
        /// Number of paging frames in a cycle.
        paging_frames: u32 = integer((1, 1024, ""), "128"),
        /// One-way time of an RRC message over the air.
        message_delay: Span = span("4 ms"),
        /// RRC processing time of a setup or a resume.
        setup_delay: Span = span("10 ms"),
        /// RRC processing time of the security command.
        security_delay: Span = span("5 ms"),
        /// RRC processing time of the reconfiguration that adds the bearers.
        reconfiguration_delay: Span = span("10 ms"),
        /// One-way time between base station and core network.
        core_delay: Span = span("5 ms"),
    }
}

impl Default for StatesConfig {
    fn default() -> StatesConfig {
        let keys = StatesKeys::default();
        StatesConfig {
            inactivity: keys.inactivity,
            released_to: keys.state,
            cycle_frames: keys.paging_cycle,
            paging_frames: keys.paging_frames,
            access: AccessConfig::default(),
            message_delay: keys.message_delay,
            setup_processing: keys.setup_delay,
            security_processing: keys.security_delay,
            reconfiguration_processing: keys.reconfiguration_delay,
            core_delay: keys.core_delay,
        }
    }
}

impl StatesConfig {
    /// Parameters that a scenario may give as keys of a UE's `rrc-states`.
    pub const PARAMETERS: &'static [Parameter] = StatesKeys::PARAMETERS;

    /// Returns the time from the end of random access to the first data.
    pub fn procedure(&self) -> Span {
        let resumed = self.setup_processing + self.message_delay;
        match self.released_to {
            // The UE may send uplink data directly after its resume complete message.
            ReleasedState::Inactive => resumed,
            // The core's answer to the UE's message takes two core delays. Then the base station
            // sends two commands, and the UE answers each.
            ReleasedState::Idle => {
                resumed
                    + self.core_delay * 2
                    + (self.message_delay + self.security_processing)
                    + self.message_delay
                    + (self.message_delay + self.reconfiguration_processing)
                    + self.message_delay
            }
        }
    }
}
