//! The IPv4, TCP and UDP headers of simulated packets.

use super::mptcp::{self, Identity};
use crate::EndpointInfo;
use fadeout_core::{AccurateEcnOption, EndpointId, Flags, NodeId, Protocol, Segment, WholePacket};
use std::net::Ipv4Addr;

const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Maximum length of the TCP options, in bytes. The data offset field allows a header of 15 words.
///
/// Standard: RFC 9293 §3.1.
const MAX_OPTIONS: usize = 40;
const INITIAL_TTL: u8 = 64;
/// Kind of the option of TCP Fast Open.
///
/// Standard: RFC 7413 §4.1.1.
const FAST_OPEN: u8 = 34;

/// Returns the address of a node's interface to a path. The first node has 10.0.0.1, and later
/// nodes follow in 10.0.0.0/8. Addresses for the second path of a multipath connection start at
/// 10.32.0.0, for the third at 10.64.0.0, and so on.
pub fn address_of(node: NodeId, path: u8) -> Ipv4Addr {
    let network = u32::from(path & 7) << 21;
    Ipv4Addr::from_bits(0x0a00_0000 | network | (node.0.wrapping_add(1) & 0x00ff_ffff))
}

/// Packet with the data that its headers need in addition.
#[derive(Debug)]
pub(super) struct Addressed<'a> {
    pub(super) packet: WholePacket<'a>,
    pub(super) from: EndpointId,
    pub(super) sender: &'a EndpointInfo,
    pub(super) receiver: &'a EndpointInfo,
    /// Window scale of the sender. Zero if the endpoints did not agree on window scaling.
    pub(super) window_scale: u8,
    /// Identities of sender and receiver in a multipath connection. `None` for other connections.
    pub(super) multipath: Option<(Identity, Identity)>,
}

/// Writes headers into a buffer that is reused.
#[derive(Debug)]
pub(super) struct Headers {
    bytes: [u8; IP_HEADER + TCP_HEADER + MAX_OPTIONS],
}

impl Default for Headers {
    fn default() -> Self {
        Headers {
            bytes: [0; IP_HEADER + TCP_HEADER + MAX_OPTIONS],
        }
    }
}

impl Headers {
    /// Returns the headers of a packet with their checksums: 28 bytes for a datagram, and 40 to 80
    /// bytes for a segment. A payload without bytes is all zeros, so only its length affects a
    /// checksum.
    pub(super) fn build(&mut self, packet: &Addressed<'_>) -> &[u8] {
        match packet.packet.protocol {
            Protocol::Tcp => self.build_tcp(packet),
            Protocol::Udp => self.build_udp(packet),
        }
    }

    fn build_udp(&mut self, packet: &Addressed<'_>) -> &[u8] {
        let (ip, udp) = self.bytes.split_at_mut(IP_HEADER);
        let udp = &mut udp[..UDP_HEADER];
        write_ip(ip, packet);
        let length = UDP_HEADER as u32 + packet.packet.segment.len;
        udp[0..2].copy_from_slice(&packet.sender.port.to_be_bytes());
        udp[2..4].copy_from_slice(&packet.receiver.port.to_be_bytes());
        udp[4..6].copy_from_slice(&u16::try_from(length).unwrap_or(0).to_be_bytes());
        udp[6..8].copy_from_slice(&[0, 0]);
        // A UDP checksum of zero means no checksum. So a computed zero is sent as 0xffff (RFC 768).
        let payload = sum_of_payload(packet.packet.payload);
        let sum = pseudo_header(packet, u64::from(length)) + sum_of(udp) + payload;
        let checksum = match checksum_of(sum) {
            0 => u16::MAX,
            checksum => checksum,
        };
        udp[6..8].copy_from_slice(&checksum.to_be_bytes());
        &self.bytes[..IP_HEADER + UDP_HEADER]
    }

    fn build_tcp(&mut self, packet: &Addressed<'_>) -> &[u8] {
        let segment = &packet.packet.segment;
        let (ip, tcp) = self.bytes.split_at_mut(IP_HEADER);
        let options = write_options(&mut tcp[TCP_HEADER..], segment, packet);
        let tcp = &mut tcp[..TCP_HEADER + options];
        write_tcp(tcp, packet);
        write_ip(ip, packet);

        let length = tcp.len() as u64 + u64::from(segment.len);
        let payload = sum_of_payload(packet.packet.payload);
        let checksum = checksum_of(pseudo_header(packet, length) + sum_of(tcp) + payload);
        tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
        &self.bytes[..IP_HEADER + TCP_HEADER + options]
    }
}

/// Returns the sum over the pseudo-header of a transport header and its payload.
///
/// Standard: RFC 9293 §3.1; RFC 768.
fn pseudo_header(packet: &Addressed<'_>, length: u64) -> u64 {
    sum_of(&packet.sender.address.octets())
        + sum_of(&packet.receiver.address.octets())
        + u64::from(packet.packet.protocol as u8)
        + (length >> 16)
        + (length & 0xffff)
}

fn write_ip(ip: &mut [u8], packet: &Addressed<'_>) {
    ip[0] = 0x45; // version 4, header of five words
    ip[1] = packet.packet.ecn as u8;
    // A packet larger than IP allows gets length zero, as in a capture taken before segmentation.
    let length = u16::try_from(packet.packet.wire_len()).unwrap_or(0);
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    // The identification of an atomic datagram may have any value (RFC 6864 section 4.1).
    ip[4..6].copy_from_slice(&[0, 0]);
    ip[6..8].copy_from_slice(&0x4000_u16.to_be_bytes()); // don't fragment
    ip[8] = INITIAL_TTL.saturating_sub(packet.packet.hop);
    ip[9] = packet.packet.protocol as u8;
    ip[10..12].copy_from_slice(&[0, 0]);
    ip[12..16].copy_from_slice(&packet.sender.address.octets());
    ip[16..20].copy_from_slice(&packet.receiver.address.octets());
    let checksum = checksum_of_header(ip);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
}

fn write_tcp(tcp: &mut [u8], packet: &Addressed<'_>) {
    let segment = &packet.packet.segment;
    let own = initial_sequence(packet.sender, packet.from);
    let peer = initial_sequence(packet.receiver, packet.packet.to);
    let has_ack = segment.flags.has(Flags::ACK);
    // The window of a SYN is never scaled (RFC 7323 section 2.2).
    let shift = if segment.flags.has(Flags::SYN) {
        0
    } else {
        packet.window_scale
    };
    let window = segment.window.checked_shr(u32::from(shift)).unwrap_or(0);
    let words = (tcp.len() / 4) as u16;

    tcp[0..2].copy_from_slice(&packet.sender.port.to_be_bytes());
    tcp[2..4].copy_from_slice(&packet.receiver.port.to_be_bytes());
    tcp[4..8].copy_from_slice(&wrapped(own, segment.seq).to_be_bytes());
    let ack = if has_ack {
        wrapped(peer, segment.ack)
    } else {
        0
    };
    tcp[8..12].copy_from_slice(&ack.to_be_bytes());
    tcp[12..14].copy_from_slice(&(words << 12 | (segment.flags.0 & 0x1ff)).to_be_bytes());
    tcp[14..16].copy_from_slice(&u16::try_from(window).unwrap_or(u16::MAX).to_be_bytes());
    tcp[16..20].copy_from_slice(&[0; 4]); // checksum, filled in last, and urgent pointer
}

/// Writes the TCP options and returns their length. Order and padding are those of Linux (RFC 9293
/// section 3.2, no-operation). On a SYN the options follow each other without padding. On other
/// segments each option fills whole words.
fn write_options(bytes: &mut [u8], segment: &Segment, packet: &Addressed<'_>) -> usize {
    // SACK blocks that do not fit into the header are left out.
    let fixed = Segment {
        sack: fadeout_core::SackList::EMPTY,
        ..*segment
    };
    let room = MAX_OPTIONS.saturating_sub(fixed.options_len() as usize + 2) / 8;
    let is_syn = segment.flags.has(Flags::SYN);
    // A SYN carries no SACK blocks, and only a SYN carries options for negotiation.
    let blocks = if is_syn { &[] } else { segment.sack.as_slice() };
    let blocks = &blocks[..blocks.len().min(room)];

    let mut options = OptionWriter {
        bytes,
        at: 0,
        last: 0,
        stands_close: is_syn,
    };
    if is_syn && segment.mss != 0 {
        options.put(2, &segment.mss.to_be_bytes());
    }
    if is_syn && segment.sack_permitted {
        options.put(4, &[]);
    }
    if segment.has_timestamps {
        let mut stamps = [0; 8];
        stamps[..4].copy_from_slice(&segment.ts_value.to_be_bytes());
        stamps[4..].copy_from_slice(&segment.ts_echo.to_be_bytes());
        options.put(8, &stamps);
    }
    if let Some(scale) = segment.window_scale
        && is_syn
    {
        options.put(3, &[scale]);
    }
    if options.stands_close {
        options.pad();
    }
    if segment.has_cookie && is_syn {
        let cookie = initial_sequence(packet.receiver, packet.packet.to).to_be_bytes();
        options.put(FAST_OPEN, &cookie.repeat(2));
        options.pad();
    }
    if segment.accurate.is_present() {
        let (kind, counters, length) = accurate_ecn(&segment.accurate);
        options.put(kind, &counters[..length]);
        options.pad();
    }
    if let Some((own, peer)) = &packet.multipath
        && !segment.mptcp.is_empty()
    {
        options.put(mptcp::KIND, mptcp::value(segment, own, peer).as_slice());
        options.pad();
    }
    if !blocks.is_empty() {
        let base = initial_sequence(packet.receiver, packet.packet.to);
        let mut edges = [0; 32];
        for (block, edges) in blocks.iter().zip(edges.chunks_exact_mut(8)) {
            edges[..4].copy_from_slice(&wrapped(base, block.start).to_be_bytes());
            edges[4..].copy_from_slice(&wrapped(base, block.end).to_be_bytes());
        }
        options.put(5, &edges[..8 * blocks.len()]);
    }
    options.pad();
    options.at
}

/// Returns the option kind, the counters and their length for an accurate ECN option.
///
/// Standard: RFC 9768 §3.2.3.
fn accurate_ecn(option: &AccurateEcnOption) -> (u8, [u8; 9], usize) {
    let (kind, order) = if option.ect0_leads() {
        (172, [2, 1, 0])
    } else {
        (174, [0, 1, 2])
    };
    let (mut bytes, mut length) = ([0; 9], 0);
    for counter in order.into_iter().map_while(|index| option.counter(index)) {
        bytes[length..length + 3].copy_from_slice(&counter.to_be_bytes()[1..]);
        length += 3;
    }
    (kind, bytes, length)
}

struct OptionWriter<'a> {
    bytes: &'a mut [u8],
    at: usize,
    /// Position of the last option. Padding is inserted in front of this option.
    last: usize,
    stands_close: bool,
}

impl OptionWriter<'_> {
    /// Adds an option. The option is left out if the header has no space for it.
    fn put(&mut self, kind: u8, value: &[u8]) {
        let end = self.at + 2 + value.len();
        if end.next_multiple_of(4) > self.bytes.len() {
            return;
        }
        self.last = self.at;
        self.bytes[self.at] = kind;
        self.bytes[self.at + 1] = 2 + value.len() as u8;
        self.bytes[self.at + 2..][..value.len()].copy_from_slice(value);
        self.at += 2 + value.len();
        if !self.stands_close {
            self.pad();
        }
    }

    fn pad(&mut self) {
        const NO_OPERATION: u8 = 1;
        let whole = self.at.next_multiple_of(4);
        let padding = whole - self.at;
        self.bytes
            .copy_within(self.last..self.at, self.last + padding);
        self.bytes[self.last..self.last + padding].fill(NO_OPERATION);
        self.at = whole;
    }
}

/// Returns the initial sequence number of an endpoint. The number is a hash, so that sequence
/// numbers in captures differ and wrap around as real ones do.
fn initial_sequence(endpoint: &EndpointInfo, id: EndpointId) -> u32 {
    (scrambled(u64::from(endpoint.flow.0) << 32 | u64::from(id.0)) >> 32) as u32
}

/// Returns a hash of a number. The hash function is the finaliser of SplitMix64 (Steele, Lea, Flood
/// 2014).
pub(super) fn scrambled(id: u64) -> u64 {
    let mut x = id ^ 0x9e37_79b9_7f4a_7c15;
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// Converts a 64-bit offset in a stream to a 32-bit sequence number.
fn wrapped(initial: u32, offset: u64) -> u32 {
    initial.wrapping_add(offset as u32)
}

/// Returns the sum of 16-bit big-endian words before carries are added.
///
/// Standard: RFC 1071.
fn sum_of(bytes: &[u8]) -> u64 {
    bytes
        .chunks_exact(2)
        .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum()
}

/// Returns the sum of the words of a payload. A last single byte is the upper half of a word.
///
/// Standard: RFC 1071.
fn sum_of_payload(payload: &[u8]) -> u64 {
    let last = match payload.len() % 2 {
        0 => 0,
        _ => payload.last().map_or(0, |&byte| u64::from(byte) << 8),
    };
    sum_of(payload) + last
}

/// Returns the checksum of an IP header whose checksum field is zero.
pub(super) fn checksum_of_header(ip: &[u8]) -> u16 {
    checksum_of(sum_of(ip))
}

fn checksum_of(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}
