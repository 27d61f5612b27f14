//! Tunnels of the core network, as recorded by a capture of a link.

use crate::{NodeId, PacketId, WholePacket};

/// GTP-U tunnel in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunnel {
    /// Node at which the tunnel begins.
    pub from: NodeId,
    /// Node at which the tunnel ends, and which chose the identifier.
    pub to: NodeId,
    /// Tunnel endpoint identifier.
    pub teid: u32,
}

/// PDCP number of a forwarded packet. It belongs to the PDU in which the packet was or will be
/// sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PdcpNumber {
    /// COUNT, whose lower bits are the sequence number.
    pub count: u32,
    /// Number of bits of the sequence number.
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
        /// PDCP sequence number up to which no PDU has to be sent any more. `None` if the frame
        /// does not contain this field.
        discards_through: Option<u32>,
    },
    /// DL DATA DELIVERY STATUS.
    Status {
        /// Desired buffer size in bytes.
        desired: u64,
        /// Ranges of NR-U sequence numbers of lost frames, from the first to one past the last.
        lost: Vec<(u64, u64)>,
        /// PDCP sequence number up to which all PDUs have been sent or delivered. `None` if the
        /// status does not contain this field.
        through: Option<u32>,
        /// True if `through` is of delivered PDUs. False if it is of PDUs that were only sent.
        is_delivered: bool,
    },
}

/// Frame between the base stations of a split bearer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfaceFrame {
    /// NR-U message. `None` for an uplink PDU.
    pub user_plane: Option<UserPlane>,
    /// PDCP PDU of the frame.
    pub pdu: Option<InterfacePdu>,
}

/// PDCP PDU between base stations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterfacePdu {
    /// Headers of PDCP and SDAP.
    pub header: Vec<u8>,
    /// Packet of the PDU. `None` if it has left the bearer.
    pub packet: Option<PacketId>,
    /// Size of the PDU in bytes.
    pub size: u32,
}

/// Packet or end marker on a link.
#[derive(Debug, Clone, Copy)]
pub enum Carried<'a> {
    /// Packet without a tunnel.
    Plain(WholePacket<'a>),
    /// Packet in a tunnel.
    Tunnelled {
        /// Packet.
        packet: WholePacket<'a>,
        /// Tunnel.
        tunnel: Tunnel,
        /// Number of a forwarded PDCP SDU. `None` if the packet has no number.
        number: Option<PdcpNumber>,
        /// True for the uplink of a PDU session (N3), false for its downlink. `None` if the tunnel
        /// does not belong to a PDU session.
        session: Option<bool>,
    },
    /// Frame between the base stations of a split bearer.
    Interface {
        /// Tunnel.
        tunnel: Tunnel,
        /// Frame.
        frame: &'a InterfaceFrame,
        /// Packet in the frame's PDU.
        packet: Option<WholePacket<'a>>,
    },
    /// End marker of a tunnel.
    EndMarker(Tunnel),
}
