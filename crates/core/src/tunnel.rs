//! Tunnels of the core network, as a capture of a link shows them.

use crate::{NodeId, Packet, PacketId};

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

/// Message between the base stations of a split bearer (NR-U).
///
/// Standard: TS 38.425 §5.5.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserPlane {
    /// DL USER DATA.
    Data {
        /// NR-U sequence number.
        number: u64,
        /// True if the frame asks for a status.
        polls: bool,
        /// Sequence number of the PDCP PDU up to which nothing need be sent.
        discards_through: Option<u32>,
    },
    /// DL DATA DELIVERY STATUS.
    Status {
        /// Desired buffer size in bytes.
        desired: u64,
        /// First and one past the last NR-U sequence number of lost frames.
        lost: Vec<(u64, u64)>,
        /// Sequence number of the latest PDCP PDU that has gone, with all before it.
        through: Option<u32>,
        /// True if the PDU was delivered. False if it was only sent.
        is_delivered: bool,
    },
}

/// A frame between the base stations of a split bearer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceFrame {
    /// NR-U message. `None` with an uplink PDU.
    pub user_plane: Option<UserPlane>,
    /// The PDCP PDU in it.
    pub pdu: Option<InterfacePdu>,
}

/// A PDCP PDU between base stations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfacePdu {
    /// PDCP's header, and SDAP's.
    pub header: Vec<u8>,
    /// The packet; none that has left the bearer.
    pub packet: Option<PacketId>,
    /// Bytes of the PDU.
    pub size: u32,
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
        /// True for the uplink of a PDU session (N3), false for its downlink. `None` if the tunnel
        /// is of no PDU session.
        session: Option<bool>,
    },
    /// A frame between the base stations of a split bearer.
    Interface {
        /// The tunnel.
        tunnel: Tunnel,
        /// The frame.
        frame: &'a InterfaceFrame,
        /// The packet in its PDU.
        packet: Option<&'a Packet>,
    },
    /// The end marker of a tunnel.
    EndMarker(Tunnel),
}
