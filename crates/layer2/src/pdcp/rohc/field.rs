//! Fields of a header, and recovery of a field from its low bits.

use fadeout_core::{Ecn, Flags, Packet, Protocol, Segment};

/// Header fields of a packet that change within a flow.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Header {
    pub protocol: Protocol,
    pub ecn: Ecn,
    /// Number of links that the packet has passed. The TTL is lower by this number.
    pub hop: u8,
    /// Window field of the header, not scaled.
    pub window: u16,
    pub segment: Segment,
}

impl Header {
    /// Returns the header of a packet whose sender scales its windows by `shift`.
    pub(super) fn from_packet(packet: &Packet, shift: u8) -> Header {
        let segment = packet.segment;
        let shift = match segment.flags.has(Flags::SYN) {
            true => 0,
            false => u32::from(shift),
        };
        let window = segment.window.checked_shr(shift).unwrap_or(0);
        Header {
            protocol: packet.protocol,
            ecn: packet.ecn,
            hop: packet.hop,
            window: u16::try_from(window).unwrap_or(u16::MAX),
            segment,
        }
    }

    pub(super) fn seq(&self) -> u32 {
        self.segment.seq as u32
    }

    /// Returns the acknowledgment number. Zero if the segment acknowledges nothing.
    pub(super) fn ack(&self) -> u32 {
        match self.segment.flags.has(Flags::ACK) {
            true => self.segment.ack as u32,
            false => 0,
        }
    }

    /// Returns true if an ECN bit is set in the IP or TCP header.
    pub(super) fn has_ecn(&self) -> bool {
        const BITS: u16 = Flags::ECE.0 | Flags::CWR.0 | Flags::AE.0;
        self.ecn != Ecn::NotEct || self.segment.flags.0 & BITS != 0
    }

    /// Returns the flags RST, SYN and FIN.
    pub(super) fn rsf(&self) -> u16 {
        self.segment.flags.0 & (Flags::RST.0 | Flags::SYN.0 | Flags::FIN.0)
    }
}

/// Returns true if the `bits` least significant bits of a value identify it with a known
/// `reference`. The value must be at most `below` under it, and less than `2^bits - below` above.
///
/// Standard: RFC 6846 §8.2.
#[inline]
pub(super) fn lsb(reference: u32, value: u32, bits: u32, below: i64) -> bool {
    let distance = i64::from(value.wrapping_sub(reference) as i32);
    (-below..(1 << bits) - below).contains(&distance)
}
