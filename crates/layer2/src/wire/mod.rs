//! Transport blocks as the bytes of the standards: MAC subheaders and control elements, RLC and
//! PDCP headers.
//!
//! The layers hold PDUs as short descriptions, because nothing in a simulation reads bytes. A
//! capture does. [`Encoder`] writes a block of descriptions as its MAC PDU, with zeros for the
//! packets inside and a list of where they are.
//!
//! Nothing is ciphered, no PDCP PDU has a MAC-I, and no header is compressed.

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

/// PDUs of one bearer, one after the other in a block.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Format of the PDUs.
    pub format: &'a BearerFormat,
    /// Ledger with the packets that are still on the bearer. The others are not in the pool any
    /// more.
    pub ledger: &'a Ledger,
    /// The PDUs.
    pub pdus: &'a [Pdu],
}

/// The PDUs that a transport block carries.
#[derive(Clone, Copy, Debug)]
pub struct Load<'a> {
    /// NR; LTE otherwise.
    pub is_nr: bool,
    /// Direction.
    pub direction: Direction,
    /// Bytes of the block.
    pub size: u32,
    /// Where the parts and NACKs of the PDUs are.
    pub block: &'a TransportBlock,
    /// Index of the buffer size in the buffer status report, where it has one.
    pub status: Option<u8>,
}

/// Writes MAC PDUs into storage that is used again.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
    packets: Vec<PacketBytes>,
}

impl Encoder {
    /// An encoder that has written nothing.
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

    /// The bytes of the latest PDU: as many as the block has.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The packets in it, in order.
    pub fn packets(&self) -> &[PacketBytes] {
        &self.packets
    }
}
