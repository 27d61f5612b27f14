//! The states of RRC, and the ways between them.

use super::AccessConfig;
use fadeout_core::Span;
use fadeout_core::registry::{Parameter, choice, integer, span};

pub use fadeout_core::agreed::ReleasedState;

/// States of RRC: when a connection is released, and how a UE comes back.
///
/// Standard: TS 38.331 §4.2.1, §5.3.3, §5.3.13; TS 36.331 §5.3.3; TS 38.304 §7.1; TS 36.304 §7.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatesConfig {
    /// How long nothing may come until the connection is released.
    pub inactivity: Span,
    /// Where it goes then.
    pub released_to: ReleasedState,
    /// The paging cycle T, in radio frames.
    pub cycle_frames: u32,
    /// N: paging frames in a cycle, of those that divide it.
    pub paging_frames: u32,
    /// Random access in the cell.
    pub access: AccessConfig,
    /// One way of a message of RRC over the air, with the grant for it.
    pub message_delay: Span,
    /// RRC processing of a setup or a resume.
    pub setup_processing: Span,
    /// Of the security command, in idle mode alone.
    pub security_processing: Span,
    /// Of the reconfiguration that adds the bearers, in idle mode alone.
    pub reconfiguration_processing: Span,
    /// One way between base station and core: paging and the initial context take two each, in idle mode alone.
    pub core_delay: Span,
}

fadeout_core::parameters! {
    /// The defaults of the states, under the names that a scenario has for them.
    struct Keys {
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
        let keys = Keys::default();
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
    /// The parameters that a scenario may give, as keys of a UE's `rrc-states`.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;

    /// From the end of random access to the first data.
    pub fn procedure(&self) -> Span {
        let resumed = self.setup_processing + self.message_delay;
        match self.released_to {
            // The complete message goes up; what follows on it may be data.
            ReleasedState::Inactive => resumed,
            // The core answers the complete message; two commands and their answers.
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
