//! Transport blocks in the byte formats of the standards: MAC subheaders and control elements, RLC
//! and PDCP headers.
//!
//! In the simulation PDUs are short descriptions, because no layer reads bytes. A capture needs
//! bytes. [`Encoder`] writes the descriptions of a block as its MAC PDU. The packets inside are
//! zeros, and a list has their positions.
//!
//! Nothing is ciphered, PDCP PDUs have no MAC-I, and headers are not compressed.

mod bits;
mod buffer_status;
mod format;
mod mac;
mod pdcp;
mod rlc;
#[cfg(test)]
mod tests;

pub use buffer_status::BufferStatus;
pub use format::{BearerFormat, Form};
pub use pdcp::pdcp_header;

use crate::pdcp::Ledger;
use crate::rlc::{Pdu, TransportBlock};
use fadeout_core::{Direction, PacketBytes};

/// Consecutive PDUs of one bearer in a block.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Format of the PDUs.
    pub format: &'a BearerFormat,
    /// Ledger with the packets that are still on the bearer. Other packets are no longer in the
    /// pool.
    pub ledger: &'a Ledger,
    /// The PDUs.
    pub pdus: &'a [Pdu],
}

/// PDUs of a transport block.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// True for NR, false for LTE.
    pub is_nr: bool,
    /// Direction.
    pub direction: Direction,
    /// Bytes of the block.
    pub size: u32,
    /// Parts and NACKs of the PDUs.
    pub block: &'a TransportBlock,
    /// Index of the buffer size in the buffer status report. `None` without a report.
    pub status: Option<u8>,
}

/// Writer of MAC PDUs, whose storage is reused.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
    packets: Vec<PacketBytes>,
}

impl Encoder {
    /// Returns an empty encoder.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// Writes the MAC PDU of `load`, whose PDUs are those of `runs`.
    pub fn write<'a>(&mut self, load: &Load<'_>, runs: impl Iterator<Item = Run<'a>> + Clone) {
        self.bytes.clear();
        self.packets.clear();
        if load.is_nr {
            mac::write_nr(self, load, runs);
        } else {
            mac::write_lte(self, load, runs);
        }
    }

    /// Returns the bytes of the latest PDU, as many as the block has.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the packets in the latest PDU, in order.
    pub fn packets(&self) -> &[PacketBytes] {
        &self.packets
    }
}
