//! Transport blocks as bytes, for captures of the radio.

use crate::{CellId, Direction, PacketId, PacketPool, Time, UeId};

/// One transmission of a transport block, when its receiver has tried to decode it.
///
/// The bytes are those of the standards, from the MAC subheaders to the PDCP headers. The packets
/// in them are zeros. `packets` gives the place of each packet's bytes, for a reader that knows the
/// format of their headers.
#[derive(Debug, Clone, Copy)]
pub struct MacPdu<'a> {
    /// When the receiver was done with it.
    pub received_at: Time,
    /// Cell.
    pub cell: CellId,
    /// UE.
    pub ue: UeId,
    /// Direction.
    pub direction: Direction,
    /// NR; LTE otherwise.
    pub is_nr: bool,
    /// One band for both directions.
    pub is_tdd: bool,
    /// System frame number (SFN), 0 to 1023, of the slot it was sent in.
    pub frame: u16,
    /// Index of that slot in its frame: NR's slot, LTE's subframe.
    pub slot: u16,
    /// HARQ process.
    pub process: u8,
    /// Transmission of this block, zero the first.
    pub round: u32,
    /// Modulation and coding scheme.
    pub mcs: u32,
    /// Bits of a symbol of its modulation.
    pub modulation_bits: u32,
    /// Resource blocks that it occupies.
    pub n_prb: u32,
    /// Bytes of the transport block.
    pub size: u32,
    /// Result of the reception.
    pub reception: Reception,
    /// The MAC PDU; empty unless it was decoded in this transmission.
    pub bytes: &'a [u8],
    /// The packets in it, in order.
    pub packets: &'a [PacketBytes],
    /// Where the packets are.
    pub pool: &'a PacketPool,
}

/// The outcome of a transmission at its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// Decoded.
    Decoded,
    /// Not decoded: the CRC failed.
    Failed,
    /// Sent again although it had been decoded, for an ACK was taken for a NACK.
    Repeated,
}

/// Some bytes of an IP packet in a MAC PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketBytes {
    /// First byte in the PDU.
    pub at: u32,
    /// The packet.
    pub packet: PacketId,
    /// First byte in the packet.
    pub offset: u32,
    /// Number of bytes.
    pub len: u32,
}

/// A scheduling request of a UE, sent without a MAC PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulingRequest {
    /// When it is sent. Not before now, and perhaps later: the UE knows its opportunity.
    pub sent_at: Time,
    /// Cell.
    pub cell: CellId,
    /// UE.
    pub ue: UeId,
    /// NR; LTE otherwise.
    pub is_nr: bool,
    /// One band for both directions.
    pub is_tdd: bool,
    /// System frame number (SFN), 0 to 1023.
    pub frame: u16,
    /// Slot in the frame: NR's slot, LTE's subframe.
    pub slot: u16,
}
