//! Queues in front of the transmitter: admission, waiting packets, and the order of departure.
//!
//! Drop-tail decides on arrival alone and needs no event, because the link computes the departure
//! at once. Active queue management keeps its packets here. It passes the next packet to the
//! transmitter each time the transmitter becomes free. The path after the transmitter is the same.
//!
//! Each discipline has a file with its parameters, registry entry, state and tests. Algorithms that
//! other queues use too are in [`fadeout_core::aqm`], with their parameters and entries.

mod biased;
mod codel;
mod discipline;
mod drop_tail;
mod dual_pi2;
mod fifo;
mod fq_codel;
mod pie;
mod red;
#[cfg(test)]
mod rig;

pub use biased::BiasedConfig;
pub use discipline::{QUEUE_DISCIPLINES, QueueDiscipline};
pub use dual_pi2::{DualPi2Config, DualPi2Scheduler};
pub use fadeout_core::aqm::{CoDelConfig, DropTailConfig, PieConfig};
pub use fq_codel::FqCoDelConfig;
pub use red::{RedConfig, RedParameters};

pub(crate) use discipline::{Discipline, Effects, ManagedQueue};
pub(crate) use drop_tail::DropTail;
pub(crate) use fifo::{Fifo, Queued};

use crate::LinkError;
use fadeout_core::Bytes;

/// Queue of a link.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QueueConfig {
    /// Largest content of the queue, including the packet in transmission. `None` without a limit.
    /// An arrival that exceeds it is dropped (`queue-full`). FQ-CoDel drops from its longest queue
    /// instead.
    pub limit: Option<Limit>,
    /// True if the limit also counts packets in the delay line, as netem does. The decisions of a
    /// discipline ignore them.
    pub counts_delay_line: bool,
    /// Discipline, which drops or marks packets and determines the order in which they leave.
    pub discipline: QueueDiscipline,
}

/// Limit of packets or of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Largest number of packets.
    Packets(u32),
    /// Largest number of bytes. A packet that would exceed it does not fit.
    Bytes(Bytes),
}

impl Limit {
    /// Returns true if a packet of `size` bytes fits in addition to `packets` packets of `bytes`
    /// bytes.
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, size: u32) -> bool {
        match self {
            Limit::Packets(most) => packets < u64::from(most),
            Limit::Bytes(most) => bytes + u64::from(size) <= most.0,
        }
    }

    /// Returns a third of the limit, at least one packet or byte.
    pub(crate) fn third(self) -> Limit {
        match self {
            Limit::Packets(most) => Limit::Packets((most / 3).max(1)),
            Limit::Bytes(most) => Limit::Bytes(Bytes((most.0 / 3).max(1))),
        }
    }

    pub(crate) fn check(self, name: &'static str) -> Result<(), LinkError> {
        match self {
            Limit::Packets(0) | Limit::Bytes(Bytes(0)) => Err(LinkError::ZeroLimit(name)),
            _ => Ok(()),
        }
    }
}
