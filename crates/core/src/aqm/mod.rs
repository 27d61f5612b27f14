//! Active queue management: algorithms that signal congestion, separate from the queues.
//!
//! An algorithm knows times and bytes, but no packets. The queue of a link and the transmission
//! buffer of RLC store packets in different ways. Both use the same algorithms, with the same names
//! and parameters.
//!
//! [`pie`] decides on arrival. [`codel`] and [`ecn_step`] decide on the [head](Heads) of a queue
//! before it is sent.

pub mod codel;
pub mod ecn_step;
mod even;
pub mod pie;

pub use codel::CoDelConfig;
pub use ecn_step::EcnStepConfig;
pub use even::Even;
pub use pie::PieConfig;

use crate::registry::{Entry, OutOfRange, Registered, Settings};
use crate::{Ecn, Span, Time};

/// No active management. Packets that do not fit are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DropTailConfig;

impl<Context> Registered<Context> for DropTailConfig {
    const ENTRY: Entry = Entry::new(
        "drop-tail",
        "passive",
        "First in, first out (drop-tail). An arriving packet that does not fit is dropped.",
        "RFC 2309 section 2 (tail drop)",
    )
    .with_aliases(&["fifo", "droptail"]);

    fn from_settings(_: &Settings<'_>, _: Context) -> Self {
        DropTailConfig
    }
}

/// Threshold that may change while the algorithm runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// Target delay of `CoDel`, PIE or `DualPI2`.
    Target(Span),
    /// Delay from which on packets are marked.
    Marking(Span),
    /// Average length in packets below which RED drops no packet.
    Minimum(f64),
    /// Average length in packets at which RED's drop probability has its maximum.
    Maximum(f64),
}

/// Reason why a threshold does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThresholdError {
    /// The algorithm of the queue does not have the threshold.
    Absent,
    /// The value is out of its range.
    OutOfRange(OutOfRange),
}

impl From<OutOfRange> for ThresholdError {
    fn from(error: OutOfRange) -> ThresholdError {
        ThresholdError::OutOfRange(error)
    }
}

/// State of the packet at the head of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Time at which the packet entered the queue.
    pub entered_at: Time,
    /// Number of bytes that wait behind the head.
    pub behind: u64,
}

/// Queue whose head is about to leave, as an algorithm sees it.
pub trait Heads {
    /// Returns the head. `None` if the queue is empty.
    fn head(&self) -> Option<Head>;
    /// Returns the ECN field of the head. `None` if the queue is empty.
    fn ecn(&self) -> Option<Ecn>;
    /// Sets Congestion Experienced at the head. Returns false if the head is not ECN-capable.
    fn mark_head(&mut self) -> bool;
    /// Drops the head.
    fn drop_head(&mut self);
}

/// Returns the first of `at`, `at + every`, … that is later than `now`. An algorithm whose state no
/// longer changes skips the updates until then.
pub fn next_on_grid(at: Time, every: Span, now: Time) -> Time {
    if at > now {
        return at;
    }
    debug_assert!(!every.is_zero(), "a grid has a width");
    let next = at + every * (now.since(at).as_nanos() / every.as_nanos() + 1);
    debug_assert!(next > now, "the next update is in the past");
    next
}

#[cfg(test)]
pub(crate) mod testing {
    //! Queue for tests of the algorithms.

    use super::{Head, Heads};
    use crate::{Ecn, Span, Time};
    use std::collections::VecDeque;

    pub(crate) const SIZE: u64 = 1500;

    /// Queue of packets of 1500 bytes.
    #[derive(Debug, Default)]
    pub(crate) struct Queue {
        pub(crate) packets: VecDeque<(Time, Ecn)>,
        pub(crate) dropped: usize,
        pub(crate) marked: usize,
    }

    impl Queue {
        /// Fills the queue with `length` packets, all with the age `delay` at `now`.
        pub(crate) fn stand(&mut self, length: usize, now: Time, delay: Span, ecn: Ecn) {
            self.packets.clear();
            self.packets
                .resize(length, (now.saturating_sub(delay), ecn));
        }
    }

    impl Heads for Queue {
        fn head(&self) -> Option<Head> {
            let behind = (self.packets.len() as u64).saturating_sub(1) * SIZE;
            let (entered_at, _) = *self.packets.front()?;
            Some(Head { entered_at, behind })
        }
        fn ecn(&self) -> Option<Ecn> {
            self.packets.front().map(|packet| packet.1)
        }
        fn mark_head(&mut self) -> bool {
            match self.packets.front_mut() {
                Some(packet) if packet.1 != Ecn::NotEct => {
                    packet.1 = Ecn::Ce;
                    self.marked += 1;
                    true
                }
                _ => false,
            }
        }
        fn drop_head(&mut self) {
            self.packets.pop_front();
            self.dropped += 1;
        }
    }

    pub(crate) fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_millis(n)
    }
}
