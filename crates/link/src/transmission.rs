//! When a packet is on the air.

use fadeout_core::Time;

/// One packet's time on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// First instant.
    pub(crate) first: Time,
    /// Last instant, inclusive.
    pub(crate) last: Time,
    /// Time at which the last bit is out, after any repetition of broken blocks. [`Time::NEVER`] if
    /// that never happens.
    pub(crate) departs_at: Time,
}

pub(crate) const NEVER: Transmission = Transmission {
    first: Time::NEVER,
    last: Time::NEVER,
    departs_at: Time::NEVER,
};
