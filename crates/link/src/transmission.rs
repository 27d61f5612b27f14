//! Transmission times of packets.

use fadeout_core::Time;

/// Transmission time of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// First instant of the transmission.
    pub(crate) first: Time,
    /// Last instant of the transmission, inclusive.
    pub(crate) last: Time,
    /// End of the transmission, including retransmissions of broken blocks. [`Time::NEVER`] if the
    /// packet is never sent.
    pub(crate) departs_at: Time,
}

pub(crate) const NEVER: Transmission = Transmission {
    first: Time::NEVER,
    last: Time::NEVER,
    departs_at: Time::NEVER,
};
