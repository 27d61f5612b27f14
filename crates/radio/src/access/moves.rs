//! What mobility asks of the network around the radio, and what comes from there.

use crate::rrc::backhaul::Place;
use fadeout_core::{CellId, DrbId, FlowId, LinkInfo, PacketId, PdcpNumber, UeId};

/// A change of route that mobility asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Uplink packets of a UE leave at this cell from now on.
    Uplink {
        /// UE.
        ue: UeId,
        /// Cell.
        cell: CellId,
    },
    /// The core sends downlink packets of a UE to this cell from now on, and end markers over the old
    /// way: [`RadioAccess::on_path_switched`](super::RadioAccess::on_path_switched) says how many.
    Path {
        /// UE.
        ue: UeId,
        /// Cell.
        cell: CellId,
    },
    /// The core sends downlink packets of a UE to this cell too from now on, until it switches the path.
    Bicast {
        /// UE.
        ue: UeId,
        /// Cell.
        cell: CellId,
    },
    /// It does not any more.
    BicastEnd {
        /// UE.
        ue: UeId,
    },
    /// The base station of 3G that a UE is in stops: its downlink packets that wait there go to
    /// [`RadioAccess::on_packet_at`](super::RadioAccess::on_packet_at) of that one again.
    Recall {
        /// UE.
        ue: UeId,
        /// Its cell.
        cell: CellId,
    },
    /// A UE has left a cell of 3G: uplink packets that wait at it go to
    /// [`RadioAccess::on_packet`](super::RadioAccess::on_packet) again.
    Left {
        /// UE.
        ue: UeId,
        /// The cell.
        cell: CellId,
    },
    /// Notice for those who ask about a UE's link: a handover is expected, it has left its cell or lost it,
    /// or it is in one again.
    Told {
        /// UE.
        ue: UeId,
        /// The notice; an interruption is a blockage.
        info: LinkInfo,
    },
    /// A message leaves one place for another, where links carry them: [`Backhaul::Message`] there.
    Message {
        /// UE that it is about.
        ue: UeId,
        /// Number, of no other message.
        number: u64,
        /// Where it begins.
        from: Place,
        /// Where it ends.
        to: Place,
        /// Bytes of the IP packet.
        size: u32,
    },
    /// A downlink packet leaves one base station for another: [`Backhaul::Forwarded`] there.
    Forwarded {
        /// Bearer.
        bearer: DrbId,
        /// Packet, which is the caller's until it is there.
        packet: PacketId,
        /// The number that it has, between cells of one generation.
        number: Option<PdcpNumber>,
        /// Base station that has it.
        from: u32,
        /// Base station that it is for.
        to: u32,
    },
    /// An end marker follows the forwarded packets of a bearer: [`Backhaul::ForwardedEnd`] there.
    ForwardedEnd {
        /// Bearer.
        bearer: DrbId,
        /// Base station that sends it.
        from: u32,
        /// Base station that it is for.
        to: u32,
    },
    /// One base station of a split bearer sends the other a frame, which is `what` there; the sequence number of its
    /// packet is `number`.
    Frame {
        /// What it is at its end.
        what: Backhaul,
        /// Number of the frame.
        number: u64,
        /// Bytes of the PDU in it, or of the message.
        size: u32,
        /// Flow whose packet it carries, or for whose sake it is sent.
        flow: FlowId,
        /// Cell whose base station sends it.
        from: CellId,
        /// Cell whose base station it is for.
        to: CellId,
    },
}

/// Arrivals over links at a base station or the core, beside the packets of bearers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backhaul {
    /// The end marker of an old path, at the source of a handover.
    EndMarker {
        /// Bearer.
        bearer: DrbId,
    },
    /// A message about a UE; the sequence number of its packet is its own.
    Message {
        /// UE.
        ue: UeId,
    },
    /// A downlink packet at the core, which has no bearer for it as its UE has not attached.
    Unattached {
        /// The bearer that it would take.
        bearer: DrbId,
    },
    /// A forwarded downlink packet.
    Forwarded {
        /// Bearer.
        bearer: DrbId,
        /// Base station.
        station: u32,
    },
    /// The end marker behind the forwarded packets.
    ForwardedEnd {
        /// Bearer.
        bearer: DrbId,
    },
    /// A frame for the other base station of a split bearer, with a downlink PDU (DL USER DATA, TS 38.425 clause
    /// 5.5.2.1).
    DownlinkPdu {
        /// Bearer.
        bearer: DrbId,
    },
    /// A copy of an SDU that the source of a handover sends to the UE itself, for the target.
    Copy {
        /// Bearer.
        bearer: DrbId,
    },
    /// One without a PDU, which asks for a status.
    Poll {
        /// Bearer.
        bearer: DrbId,
    },
    /// One without a PDU, which says up to which number nothing need be sent: it was confirmed on another leg (DL discard
    /// blocks, TS 38.425 clause 5.5.2.1).
    Discard {
        /// Bearer.
        bearer: DrbId,
    },
    /// DL DATA DELIVERY STATUS (TS 38.425 clause 5.5.2.2), for the base station with PDCP.
    DeliveryStatus {
        /// Bearer.
        bearer: DrbId,
    },
    /// A message of the other base station: its link to the UE has failed (TS 37.340 clause 7.7).
    LegFailure {
        /// Bearer.
        bearer: DrbId,
    },
    /// An uplink PDU that the other base station has received.
    UplinkPdu {
        /// Bearer.
        bearer: DrbId,
    },
}
