//! Compression contexts at both ends.

use super::field::Header;
use super::options::{Known, Structure};
use super::{RohcConfig, tcp, udp};
use fadeout_core::{EndpointId, Flags, FlowId, Packet, Protocol, Span, Time};

/// Largest CID with the short encoding.
///
/// Standard: RFC 5795 §5.
const SMALL_CIDS: u16 = 15;

/// State of a flow that an end knows after a packet.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Reference {
    pub header: Header,
    pub structure: Structure,
    pub known: Known,
    /// True if each header carries the ECN bits.
    pub uses_ecn: bool,
}

/// Compressed header in flight.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct SentHeader {
    form: Form,
    cid: u16,
    /// Number of the context, because contexts may have the same CID one after the other.
    incarnation: u32,
    /// State of the decompressor after it has decompressed this header.
    new: Reference,
    /// Bytes of the header, including its CID.
    pub bytes: u16,
}

#[derive(Clone, Copy, Default, Debug)]
enum Form {
    #[default]
    Initialisation,
    Tcp(tcp::CompressedTcp),
    Udp(udp::CompressedUdp),
}

impl SentHeader {
    pub(super) fn is_ir(&self) -> bool {
        matches!(self.form, Form::Initialisation)
    }
}

/// Packets with the same static fields: addresses, ports and protocol.
type Stream = (FlowId, EndpointId, Protocol);

#[derive(Clone, Debug)]
struct Context {
    stream: Stream,
    incarnation: u32,
    /// States that the decompressor may have, one for each of the latest packets.
    references: Vec<Reference>,
    /// Position of the oldest reference.
    oldest: usize,
    refreshed_at: Time,
    /// Number of the last packet among all packets.
    used: u64,
    /// Window scale of the sender, from its SYN.
    shift: u8,
}

/// Compressor of one direction.
#[derive(Clone, Debug)]
pub(super) struct Compressor {
    /// Contexts by CID.
    contexts: Vec<Context>,
    most: usize,
    repetitions: usize,
    refresh: Span,
    incarnations: u32,
    packets: u64,
}

impl Compressor {
    pub(super) fn new(config: &RohcConfig) -> Compressor {
        Compressor {
            contexts: Vec::new(),
            most: usize::from(config.max_cid) + 1,
            repetitions: usize::from(config.repetitions.max(1)),
            refresh: config.refresh,
            incarnations: 0,
            packets: 0,
        }
    }

    pub(super) fn reset(&mut self) {
        for context in &mut self.contexts {
            self.incarnations += 1;
            context.incarnation = self.incarnations;
            context.references.clear();
        }
    }

    /// Returns the CID of a stream. If no CID is free, the stream takes that of the stream with the
    /// oldest last packet.
    ///
    /// Standard: RFC 5795 §5.
    fn context(&mut self, stream: Stream) -> usize {
        let mut known = self.contexts.iter();
        if let Some(cid) = known.position(|it| it.stream == stream) {
            return cid;
        }
        self.incarnations += 1;
        let new = Context {
            stream,
            incarnation: self.incarnations,
            references: Vec::with_capacity(self.repetitions),
            oldest: 0,
            refreshed_at: Time::ZERO,
            used: 0,
            shift: 0,
        };
        if self.contexts.len() < self.most {
            self.contexts.push(new);
            return self.contexts.len() - 1;
        }
        let by_use = self.contexts.iter().enumerate();
        let oldest = by_use.min_by_key(|(_, it)| it.used);
        let cid = oldest.map_or(0, |(cid, _)| cid);
        self.contexts[cid] = new;
        cid
    }

    pub(super) fn compress(&mut self, now: Time, packet: &Packet) -> SentHeader {
        let cid = self.context((packet.flow, packet.to, packet.protocol));
        let cid_bytes = match (self.most > usize::from(SMALL_CIDS) + 1, cid) {
            (false, 0) => 0,
            (false, _) | (true, 0..128) => 1,
            (true, _) => 2,
        };
        self.packets += 1;
        let context = &mut self.contexts[cid];
        context.used = self.packets;
        let segment = &packet.segment;
        if segment.flags.has(Flags::SYN)
            && let Some(shift) = segment.window_scale
        {
            context.shift = shift;
        }
        let header = Header::from_packet(packet, context.shift);
        let structure = Structure::from_segment(segment);
        let references = &mut context.references;
        let is_sure = references.len() == self.repetitions;
        let is_old =
            !self.refresh.is_zero() && now >= context.refreshed_at.saturating_add(self.refresh);
        let is_tcp = packet.protocol == Protocol::Tcp;
        // A context that is sent again contains only the fields of the packet.
        let known = match is_sure && !is_old {
            true => Known::common(references.iter().map(|it| &it.known)),
            false => Known::default(),
        };
        let new = Reference {
            header,
            structure,
            known: known.after(&header, &structure),
            uses_ecn: header.has_ecn() || references.iter().any(|it| it.header.has_ecn()),
        };
        let (form, bytes) = match (is_sure && !is_old, is_tcp) {
            (true, true) => {
                let (compressed, bytes) = tcp::CompressedTcp::choose(&new, references);
                (Form::Tcp(compressed), bytes)
            }
            (true, false) => {
                let (compressed, bytes) = udp::CompressedUdp::choose(&new, references);
                (Form::Udp(compressed), bytes)
            }
            (false, true) => (Form::Initialisation, tcp::initialisation_bytes(&new)),
            (false, false) => (Form::Initialisation, udp::INITIALISATION_BYTES),
        };
        if matches!(form, Form::Initialisation) {
            context.refreshed_at = now;
        }
        if is_sure {
            references[context.oldest] = new;
            context.oldest = (context.oldest + 1) % self.repetitions;
        } else {
            references.push(new);
            context.oldest = 0;
        }
        SentHeader {
            form,
            cid: cid as u16,
            incarnation: context.incarnation,
            new,
            bytes: (bytes + cid_bytes) as u16,
        }
    }
}

/// Decompressor of one direction.
#[derive(Clone, Default, Debug)]
pub(super) struct Decompressor {
    /// Last context of each CID, and its state after the last packet.
    contexts: Vec<Option<(u32, Reference)>>,
}

impl Decompressor {
    pub(super) fn reset(&mut self) {
        self.contexts.clear();
    }

    /// Decompresses a header. Returns false if that fails, which the CRC detects. The context then
    /// stays unchanged.
    pub(super) fn decompress(&mut self, sent: &SentHeader) -> bool {
        let cid = usize::from(sent.cid);
        if self.contexts.len() <= cid {
            self.contexts.resize(cid + 1, None);
        }
        let context = &mut self.contexts[cid];
        let reference = context.filter(|(incarnation, _)| *incarnation == sent.incarnation);
        let is_found = match (&sent.form, reference) {
            (Form::Initialisation, _) => true,
            (_, None) => false,
            (Form::Tcp(compressed), Some((_, reference))) => {
                compressed.means(&sent.new, &reference)
            }
            (Form::Udp(compressed), Some((_, reference))) => {
                compressed.means(&sent.new, &reference)
            }
        };
        if is_found {
            let known = match (&sent.form, reference) {
                (Form::Initialisation, _) | (_, None) => Known::default(),
                (_, Some((_, reference))) => reference.known,
            };
            let new = Reference {
                known: known.after(&sent.new.header, &sent.new.structure),
                ..sent.new
            };
            *context = Some((sent.incarnation, new));
        }
        is_found
    }
}
