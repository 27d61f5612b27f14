//! The states of RRC, and the ways between them.

use super::AccessConfig;
use fadeout_core::Span;

/// The state that a connection is released to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleasedTo {
    /// RRC_IDLE: the core pages, and the connection is set up anew, with security and bearers.
    Idle,
    /// RRC_INACTIVE: the base station pages, and the connection is resumed.
    Inactive,
}

/// States of RRC: when a connection is released, and how a UE comes back.
///
/// Standard: TS 38.331 §4.2.1, §5.3.3, §5.3.13; TS 36.331 §5.3.3; TS 38.304 §7.1; TS 36.304 §7.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StatesConfig {
    /// How long nothing may come until the connection is released.
    pub inactivity: Span,
    /// Where it goes then.
    pub released_to: ReleasedTo,
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

impl StatesConfig {
    /// From the end of random access to the first data.
    pub fn procedure(&self) -> Span {
        let resumed = self.setup_processing + self.message_delay;
        match self.released_to {
            // The complete message goes up; what follows on it may be data.
            ReleasedTo::Inactive => resumed,
            // The core answers the complete message; two commands and their answers.
            ReleasedTo::Idle => {
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
