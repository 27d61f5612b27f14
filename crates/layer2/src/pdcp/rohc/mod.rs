//! Robust header compression, as PDCP has it for IP, TCP and UDP over one direction of a bearer.
//!
//! ```text
//! packet ─► Compressor: IR until it is sure, then the shortest header that will do ─► Sent
//!                                                                                      │ lost, or
//! packet ◄─ Decompressor: does the header mean the same with what it knows? ◄──────────┘
//! ```
//!
//! Nothing is written as bytes. A header that is sent is its format, how many bits of which field it has, and the
//! header that it stands for; the decompressor finds the same fields from its own context, or does not, and
//! then the CRC tells it. The flow of feedback is not modelled: the compressor relies on repetition (the
//! optimistic approach) and refreshes its contexts now and then.
//!
//! Standard: TS 38.323 §5.7; TS 36.323 §5.5; RFC 5795 §5.

mod context;
mod field;
mod options;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

use context::{Compressor, Decompressor, Sent};
use fadeout_core::{Packet, Ring, Span, Time};

/// Parameters of header compression (headerCompression of PDCP-Config) and of the compressor.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RohcConfig {
    /// maxCID: contexts beside the first. Up to 15 the CIDs are small ones.
    pub max_cid: u16,
    /// How often the compressor sends what is new before it relies on it, 1 to 16.
    pub repetitions: u8,
    /// After how long a context is sent anew; zero is never.
    pub refresh: Span,
    /// drb-ContinueROHC: contexts outlast a handover within a base station.
    pub continues: bool,
}

/// What header compression did in one direction of a bearer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RohcCounts {
    /// Headers compressed, those that were compressed anew for another cell included.
    pub packets: u64,
    /// Those of them that were sent as IR.
    pub initialisations: u64,
    /// Bytes of them before.
    pub header_bytes: u64,
    /// Bytes of them as they were sent.
    pub compressed_bytes: u64,
    /// Packets whose header the decompressor could not find.
    pub failures: u64,
    /// Times that all contexts were reset.
    pub resets: u64,
}

/// Compressor and decompressor of one direction of a bearer, and what is under way between them, by serial number.
#[derive(Clone, Debug)]
pub struct Rohc {
    compressor: Compressor,
    decompressor: Decompressor,
    under_way: Ring<UnderWay>,
    counts: RohcCounts,
}

#[derive(Clone, Copy, Default, Debug)]
struct UnderWay {
    sent: Sent,
    /// Its header has been found, whatever becomes of the packet.
    is_whole: bool,
}

impl Rohc {
    /// Without a context.
    pub fn new(config: &RohcConfig) -> Rohc {
        Rohc {
            compressor: Compressor::new(config),
            decompressor: Decompressor::default(),
            under_way: Ring::new(),
            counts: RohcCounts::default(),
        }
    }

    /// What it did so far.
    pub fn counts(&self) -> &RohcCounts {
        &self.counts
    }

    /// The packet with the next serial number is compressed; `first` is that of the oldest one under way. Bytes of
    /// the packet with its compressed header.
    pub fn compress(&mut self, now: Time, packet: &Packet, first: u32) -> u32 {
        while self.under_way.first() < u64::from(first) && self.under_way.pop().is_some() {}
        let (sent, size) = self.encode(now, packet);
        self.under_way.push(UnderWay {
            sent,
            is_whole: false,
        });
        size
    }

    /// A packet is compressed once more, to be sent again after contexts were reset or went on. Bytes of the packet
    /// with its compressed header.
    pub fn compress_again(&mut self, now: Time, serial: u32, packet: &Packet) -> u32 {
        let serial = u64::from(serial);
        if !self.under_way.contains(serial) {
            return packet.wire_len();
        }
        let (sent, size) = self.encode(now, packet);
        self.under_way[serial].sent = sent;
        size
    }

    fn encode(&mut self, now: Time, packet: &Packet) -> (Sent, u32) {
        let sent = self.compressor.compress(now, packet);
        let header = packet.wire_len().saturating_sub(packet.segment.len);
        let bytes = u32::from(sent.bytes);
        self.counts.packets += 1;
        self.counts.initialisations += u64::from(sent.is_ir());
        self.counts.header_bytes += u64::from(header);
        self.counts.compressed_bytes += u64::from(bytes);
        (sent, packet.segment.len + bytes)
    }

    /// A packet has arrived. Whether its header was found.
    pub fn decompress(&mut self, serial: u32) -> bool {
        let serial = u64::from(serial);
        if !self.under_way.contains(serial) {
            return true;
        }
        let under_way = &mut self.under_way[serial];
        if under_way.is_whole {
            return true;
        }
        under_way.is_whole = self.decompressor.decompress(&under_way.sent);
        let is_whole = under_way.is_whole;
        self.counts.failures += u64::from(!is_whole);
        is_whole
    }

    /// PDCP is re-established: both ends forget their contexts.
    ///
    /// Standard: TS 38.323 §5.1.2; TS 36.323 §5.2.
    pub fn reset(&mut self) {
        self.compressor.reset();
        self.decompressor.reset();
        self.counts.resets += 1;
    }
}
