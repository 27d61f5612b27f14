//! Actions that mobility management asks of the network around the radio, and arrivals from that
//! network.

use crate::rrc::backhaul::NetworkNode;
use fadeout_core::{CellId, DrbId, FlowId, LinkInfo, PacketId, PdcpNumber, UeId};

/// Change of a route, or a transmission over links, that mobility management asks the caller to
/// carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Uplink packets of a UE now leave the radio access at this cell.
    Uplink {
        /// UE whose uplink moves.
        ue: UeId,
        /// Cell at which the packets leave.
        cell: CellId,
    },
    /// The core now sends downlink packets of a UE to this cell, and end markers over the old path.
    /// The caller passes the number of end markers to
    /// [`RadioAccess::on_path_switched`](crate::access::RadioAccess::on_path_switched).
    Path {
        /// UE whose downlink moves.
        ue: UeId,
        /// New cell.
        cell: CellId,
    },
    /// The core also sends downlink packets of a UE to this cell, until it switches the path.
    Bicast {
        /// UE whose packets are bicast.
        ue: UeId,
        /// Cell that receives the packets too.
        cell: CellId,
    },
    /// The core stops bicasting for a UE.
    BicastEnd {
        /// UE whose bicasting ends.
        ue: UeId,
    },
    /// The 3G base station of a UE stops sending. The caller hands its buffered downlink packets
    /// again to [`RadioAccess::on_packet_at`](crate::access::RadioAccess::on_packet_at) of the same
    /// base station.
    Recall {
        /// UE whose packets come back.
        ue: UeId,
        /// Cell of the UE.
        cell: CellId,
    },
    /// A UE has left a cell of 3G. The caller hands its buffered uplink packets again to
    /// [`RadioAccess::on_packet`](crate::access::RadioAccess::on_packet).
    Left {
        /// UE that left.
        ue: UeId,
        /// Cell that the UE left.
        cell: CellId,
    },
    /// Notice to listeners of a UE's link. A handover is expected, the UE has lost or left its
    /// cell, or the UE is connected again.
    LinkNotice {
        /// UE whose link changes.
        ue: UeId,
        /// Notice to pass on. Interruptions are reported as blockages.
        info: LinkInfo,
    },
    /// One network node sends a message to another over links. The message arrives as
    /// [`Backhaul::Message`].
    Message {
        /// UE that the message is about.
        ue: UeId,
        /// Number of the message, unique among all messages.
        number: u64,
        /// Sender of the message.
        from: NetworkNode,
        /// Destination of the message.
        to: NetworkNode,
        /// Bytes of the IP packet.
        size: u32,
    },
    /// One base station forwards a downlink packet to another. The packet arrives as
    /// [`Backhaul::Forwarded`].
    Forwarded {
        /// Bearer of the packet.
        bearer: DrbId,
        /// Packet, owned by the caller until it arrives.
        packet: PacketId,
        /// PDCP number of the packet, which is kept between cells of one generation. `None` if the
        /// target assigns a new number.
        number: Option<PdcpNumber>,
        /// Base station that forwards the packet.
        from: u32,
        /// Base station that receives the packet.
        to: u32,
    },
    /// An end marker follows the forwarded packets of a bearer. The end marker arrives as
    /// [`Backhaul::ForwardedEnd`].
    ForwardedEnd {
        /// Bearer of the end marker.
        bearer: DrbId,
        /// Base station that sends the end marker.
        from: u32,
        /// Base station that receives the end marker.
        to: u32,
    },
    /// A base station sends a frame to another base station, for a split bearer or as an early
    /// copy. The frame arrives as `what`. The sequence number of the frame's packet is `number`.
    Frame {
        /// Arrival that the frame causes at its destination.
        what: Backhaul,
        /// Number of the frame.
        number: u64,
        /// Bytes of the PDU or message in the frame.
        size: u32,
        /// Flow whose packet is in the frame, or for which the frame is sent.
        flow: FlowId,
        /// Cell whose base station sends the frame.
        from: CellId,
        /// Cell whose base station receives the frame.
        to: CellId,
    },
}

/// Arrivals over links at a base station or the core, other than user packets of bearers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backhaul {
    /// End marker of an old path, at the source of a handover.
    EndMarker {
        /// Bearer of the end marker.
        bearer: DrbId,
    },
    /// Message about a UE. The sequence number of the message's packet is the number of the
    /// message.
    Message {
        /// UE that the message is about.
        ue: UeId,
    },
    /// Downlink packet at the core for a UE that is not attached and so has no bearer.
    Unattached {
        /// Bearer that the packet would use if the UE were attached.
        bearer: DrbId,
    },
    /// Forwarded downlink packet.
    Forwarded {
        /// Bearer of the packet.
        bearer: DrbId,
        /// Base station that receives the packet.
        station: u32,
    },
    /// End marker that follows the forwarded packets.
    ForwardedEnd {
        /// Bearer of the end marker.
        bearer: DrbId,
    },
    /// Frame with a downlink PDU for the other base station of a split bearer (DL USER DATA, TS
    /// 38.425 clause 5.5.2.1).
    DownlinkPdu {
        /// Split bearer.
        bearer: DrbId,
    },
    /// Copy of an SDU for the target of a handover. The source sends the same SDU to the UE.
    Copy {
        /// Bearer of the SDU.
        bearer: DrbId,
    },
    /// Frame without a PDU that requests a delivery status from the other base station.
    Poll {
        /// Split bearer.
        bearer: DrbId,
    },
    /// Frame without a PDU that discards all PDUs up to a number, because another leg has delivered
    /// them (DL discard blocks, TS 38.425 clause 5.5.2.1).
    Discard {
        /// Split bearer.
        bearer: DrbId,
    },
    /// DL DATA DELIVERY STATUS (TS 38.425 clause 5.5.2.2), for the base station with PDCP.
    DeliveryStatus {
        /// Split bearer.
        bearer: DrbId,
    },
    /// Message in which the other base station reports that its link to the UE has failed (TS
    /// 37.340 clause 7.7).
    LegFailure {
        /// Split bearer.
        bearer: DrbId,
    },
    /// Uplink PDU that the other base station has received.
    UplinkPdu {
        /// Split bearer.
        bearer: DrbId,
    },
}
