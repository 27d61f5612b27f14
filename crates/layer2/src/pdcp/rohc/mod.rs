//! Robust header compression (ROHC) of PDCP for IP, TCP and UDP, in one direction of a bearer.
//!
//! ```text
//! packet ─► Compressor: IR until it is sure, then the shortest header that will do ─► Sent
//!                                                                                      │ lost, or
//! packet ◄─ Decompressor: does the header mean the same with what it knows? ◄──────────┘
//! ```
//!
//! Headers are not written as bytes. A sent header consists of its format, the number of bits of
//! each field, and the original header. The decompressor recovers the fields from its own context.
//! If that fails, the CRC detects it. ROHC feedback is not modelled. The compressor repeats values
//! (the optimistic approach) and refreshes its contexts from time to time.
//!
//! Standard: TS 38.323 §5.7; TS 36.323 §5.5; RFC 5795 §5.

mod context;
mod field;
mod options;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

use context::{Compressor, Decompressor, SentHeader};
use fadeout_core::{Packet, Ring, Span, Time};

/// Parameters of header compression (headerCompression of PDCP-Config) and of the compressor.
///
/// Standard: TS 38.331 §6.3.2; TS 36.331 §6.3.2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RohcConfig {
    /// Number of contexts besides the first (maxCID). CIDs up to 15 have the short encoding.
    pub max_cid: u16,
    /// Number of times that the compressor sends new values before it relies on them, 1 to 16.
    pub repetitions: u8,
    /// Time after which a context is sent again. Zero for never.
    pub refresh: Span,
    /// True if contexts survive a handover within a base station (drb-ContinueROHC).
    pub continues: bool,
}

/// Counters of header compression in one direction of a bearer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RohcCounts {
    /// Headers compressed, including those compressed again for another cell.
    pub packets: u64,
    /// Headers sent as IR packets.
    pub initialisations: u64,
    /// Bytes of the headers before compression.
    pub header_bytes: u64,
    /// Bytes of the headers as sent.
    pub compressed_bytes: u64,
    /// Packets whose header the decompressor could not recover.
    pub failures: u64,
    /// Number of resets of all contexts.
    pub resets: u64,
}

/// Compressor and decompressor of one direction of a bearer, and the headers in flight between
/// them, by serial number.
#[derive(Clone, Debug)]
pub struct Rohc {
    compressor: Compressor,
    decompressor: Decompressor,
    under_way: Ring<UnderWay>,
    counts: RohcCounts,
}

#[derive(Clone, Copy, Default, Debug)]
struct UnderWay {
    sent: SentHeader,
    /// True if the decompressor has recovered the header. The packet may still be on the bearer.
    is_whole: bool,
}

impl Rohc {
    /// Returns compressor and decompressor without contexts.
    pub fn new(config: &RohcConfig) -> Rohc {
        Rohc {
            compressor: Compressor::new(config),
            decompressor: Decompressor::default(),
            under_way: Ring::new(),
            counts: RohcCounts::default(),
        }
    }

    /// Returns the counters.
    pub fn counts(&self) -> &RohcCounts {
        &self.counts
    }

    /// Compresses the packet with the next serial number. `first` is the serial number of the
    /// oldest packet in flight. Returns the bytes of the packet with its compressed header.
    pub fn compress(&mut self, now: Time, packet: &Packet, first: u32) -> u32 {
        while self.under_way.first() < u64::from(first) && self.under_way.pop().is_some() {}
        let (sent, size) = self.encode(now, packet);
        self.under_way.push(UnderWay {
            sent,
            is_whole: false,
        });
        size
    }

    /// Compresses a packet again, after contexts were reset or continued. Returns the bytes of the
    /// packet with its compressed header.
    pub fn compress_again(&mut self, now: Time, serial: u32, packet: &Packet) -> u32 {
        let serial = u64::from(serial);
        if !self.under_way.contains(serial) {
            return packet.wire_len();
        }
        let (sent, size) = self.encode(now, packet);
        self.under_way[serial].sent = sent;
        size
    }

    fn encode(&mut self, now: Time, packet: &Packet) -> (SentHeader, u32) {
        let sent = self.compressor.compress(now, packet);
        let header = packet.wire_len().saturating_sub(packet.segment.len);
        let bytes = u32::from(sent.bytes);
        self.counts.packets += 1;
        self.counts.initialisations += u64::from(sent.is_ir());
        self.counts.header_bytes += u64::from(header);
        self.counts.compressed_bytes += u64::from(bytes);
        (sent, packet.segment.len + bytes)
    }

    /// Processes a received packet. Returns true if its header was decompressed.
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

    /// Resets the contexts of both ends, because PDCP is re-established.
    ///
    /// Standard: TS 38.323 §5.1.2; TS 36.323 §5.2.
    pub fn reset(&mut self) {
        self.compressor.reset();
        self.decompressor.reset();
        self.counts.resets += 1;
    }
}
