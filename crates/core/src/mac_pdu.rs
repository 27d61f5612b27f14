//! Transport blocks as bytes, for captures of the radio.

use crate::{CellId, Direction, PacketId, PacketPool, Time, UeId};

/// One transmission of a transport block, after its receiver has tried to decode it.
///
/// The bytes are those of the standards, from the MAC subheaders to the PDCP headers. The packets
/// inside are zeros. `packets` has the position of each packet's bytes, for a reader that knows the
/// format of their headers.
#[derive(Debug, Clone, Copy)]
pub struct MacPdu<'a> {
    /// Time at which the receiver had processed the transmission.
    pub received_at: Time,
    /// Cell of the transmission.
    pub cell: CellId,
    /// UE of the transmission.
    pub ue: UeId,
    /// Direction of the transmission.
    pub direction: Direction,
    /// True for NR, false for LTE.
    pub is_nr: bool,
    /// True if both directions share one band.
    pub is_tdd: bool,
    /// System frame number (SFN) of the slot of the transmission, 0 to 1023.
    pub frame: u16,
    /// Index of the slot in its frame. A slot is a subframe in LTE.
    pub slot: u16,
    /// Number of the HARQ process.
    pub process: u8,
    /// Number of this transmission of the block. Zero for the first.
    pub round: u32,
    /// Index of the modulation and coding scheme.
    pub mcs: u32,
    /// Bits per modulation symbol.
    pub modulation_bits: u32,
    /// Number of resource blocks of the transmission.
    pub n_prb: u32,
    /// Bytes of the transport block.
    pub size: u32,
    /// Result of the reception.
    pub reception: Reception,
    /// MAC PDU. Empty unless it was decoded in this transmission.
    pub bytes: &'a [u8],
    /// Packets in the PDU, in order.
    pub packets: &'a [PacketBytes],
    /// Pool that stores the packets.
    pub pool: &'a PacketPool,
}

/// Result of a transmission at its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// The block was decoded.
    Decoded,
    /// The block was not decoded, because the CRC failed.
    Failed,
    /// The block was sent again after it had been decoded, because an ACK was received as a NACK.
    Repeated,
}

/// Bytes of an IP packet in a MAC PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketBytes {
    /// Position of the first byte in the PDU.
    pub at: u32,
    /// Packet that the bytes belong to.
    pub packet: PacketId,
    /// Position of the first byte in the packet.
    pub offset: u32,
    /// Number of bytes.
    pub len: u32,
}

/// Scheduling request of a UE, which has no MAC PDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedulingRequest {
    /// Time at which the request is sent, now or later. The UE knows its next opportunity in
    /// advance.
    pub sent_at: Time,
    /// Cell that receives the request.
    pub cell: CellId,
    /// UE that sends the request.
    pub ue: UeId,
    /// True for NR, false for LTE.
    pub is_nr: bool,
    /// True if both directions share one band.
    pub is_tdd: bool,
    /// System frame number (SFN), 0 to 1023.
    pub frame: u16,
    /// Slot in the frame. A slot is a subframe in LTE.
    pub slot: u16,
}
