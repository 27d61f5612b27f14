//! Active queue management: the laws by which a queue signals congestion, without the queue.
//!
//! A law knows times and bytes, and no packets. The queue of a link and the transmission buffer of
//! RLC keep their packets in their own way. Both follow the same laws, under the same names and
//! with the same parameters.
//!
//! [`pie`] decides on arrival. [`codel`] and [`ecn_step`] decide about the [head](Heads) of a
//! queue as it comes to be sent.

pub mod codel;
pub mod ecn_step;
mod even;
pub mod pie;

pub use codel::CoDelConfig;
pub use ecn_step::EcnStepConfig;
pub use even::Even;
pub use pie::PieConfig;

use crate::registry::{Entry, Registered, Settings};
use crate::{Ecn, Span, Time};

/// No active management: packets that do not fit are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DropTailConfig;

impl<Context> Registered<Context> for DropTailConfig {
    const ENTRY: Entry = Entry::new(
        "drop-tail",
        "passive",
        "First in, first out. An arriving packet that does not fit is dropped.",
        "RFC 2309 section 2 (tail drop)",
    )
    .with_aliases(&["fifo", "droptail"]);

    fn with(_: &Settings<'_>, _: Context) -> Self {
        DropTailConfig
    }
}

/// The packet at the head of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// When it entered the queue.
    pub entered_at: Time,
    /// Bytes that wait behind it.
    pub behind: u64,
}

/// A queue whose head is about to leave, as a law at the head sees it.
pub trait Heads {
    /// The head; `None` when the queue is empty.
    fn head(&self) -> Option<Head>;
    /// ECN field of the head, if there is one.
    fn ecn(&self) -> Option<Ecn>;
    /// Sets Congestion Experienced at the head. False when it is not ECN-capable.
    fn mark_head(&mut self) -> bool;
    /// Drops the head.
    fn drop_head(&mut self);
}

/// The first of `at`, `at + every`, … that is later than `now`. A law whose state no longer moves
/// skips the updates until then.
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
    //! A queue for tests of the laws.

    use super::{Head, Heads};
    use crate::{Ecn, Span, Time};
    use std::collections::VecDeque;

    pub(crate) const SIZE: u64 = 1500;

    /// Packets of 1500 bytes.
    #[derive(Debug, Default)]
    pub(crate) struct Queue {
        pub(crate) packets: VecDeque<(Time, Ecn)>,
        pub(crate) dropped: usize,
        pub(crate) marked: usize,
    }

    impl Queue {
        /// A queue that stands at `length` packets, all of the age `delay` at `now`.
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
