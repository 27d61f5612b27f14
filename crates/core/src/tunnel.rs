//! Tunnels of the core network, as a capture of a link shows them.

use crate::{NodeId, Packet};

/// A GTP-U tunnel in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunnel {
    /// Node that sends into it.
    pub from: NodeId,
    /// Node where it ends, which chose the identifier.
    pub to: NodeId,
    /// Tunnel endpoint identifier.
    pub teid: u32,
}

/// The sequence number of the PDCP PDU that a forwarded packet was, or is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PdcpNumber {
    /// COUNT, of which the lower bits are the sequence number.
    pub count: u32,
    /// Bits of the sequence number.
    pub bits: u8,
}

/// A packet or an end marker on a link.
#[derive(Debug, Clone, Copy)]
pub enum Carried<'a> {
    /// A packet as it is.
    Plain(&'a Packet),
    /// A packet in a tunnel.
    Tunnelled {
        /// The packet.
        packet: &'a Packet,
        /// The tunnel.
        tunnel: Tunnel,
        /// Its number, of a forwarded PDCP SDU that has one.
        number: Option<PdcpNumber>,
        /// Whether the tunnel is of a PDU session (N3), and then whether this is uplink.
        session: Option<bool>,
    },
    /// The end marker of a tunnel.
    EndMarker(Tunnel),
}
