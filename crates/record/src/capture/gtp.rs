//! GTP-U headers of packets in the tunnels of the core network, and of end markers.
//!
//! Standard: TS 29.281 §4.4.2, §5.1, §5.2; TS 38.415 §5.5.2.

use super::headers::checksum_of_header;
use super::user_plane;
use fadeout_core::{Ecn, NodeId, PdcpNumber, Tunnel, UserPlane};
use std::net::Ipv4Addr;

const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Length of the part of a GTP-U header that every message has, bytes.
const MANDATORY: usize = 8;
const PORT: u16 = 2152;
const TTL: u8 = 64;
const UDP: u8 = 17;

const END_MARKER: u8 = 254;
const G_PDU: u8 = 255;
/// Flags of a GTP-U header: version 1 and protocol type GTP.
const FLAGS: u8 = 0x30;
const HAS_EXTENSION: u8 = 0x04;

/// Types of GTP-U extension headers.
mod extension {
    pub(super) const LONG_PDCP_NUMBER: u8 = 0x82;
    pub(super) const NR_RAN_CONTAINER: u8 = 0x84;
    pub(super) const PDU_SESSION_CONTAINER: u8 = 0x85;
    pub(super) const PDCP_NUMBER: u8 = 0xc0;
    pub(super) const NONE: u8 = 0;
}

/// QoS flow identifier (QFI) that all packets carry.
const QFI: u8 = 1;

/// Returns the address of a node for GTP-U tunnels. The first node has the address 172.16.0.1.
pub(super) fn transport_address(node: NodeId) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xac10_0000 | (node.0.wrapping_add(1) & 0x000f_ffff))
}

/// Extension headers of a packet in a tunnel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extensions<'a> {
    pub(super) number: Option<PdcpNumber>,
    /// True in the uplink of a PDU session, false in its downlink. `None` outside a PDU session.
    pub(super) session: Option<bool>,
    pub(super) user_plane: Option<&'a UserPlane>,
}

/// Writes IP, UDP and GTP-U headers in front of a UE's packet of `inside` bytes.
pub(super) fn write_data(
    out: &mut Vec<u8>,
    tunnel: Tunnel,
    extensions: Extensions<'_>,
    (inside, ecn): (u32, Ecn),
) {
    let mut optional = Vec::new();
    write_extensions(&mut optional, extensions);
    let flags = match optional.is_empty() {
        true => FLAGS,
        false => FLAGS | HAS_EXTENSION,
    };
    let length = optional.len() as u32 + inside;
    write_outer(out, tunnel, (MANDATORY as u32 + length, ecn));
    write_mandatory(out, (flags, G_PDU), length, tunnel.teid);
    out.extend(optional);
}

/// Writes an end marker with its IP and UDP headers.
///
/// Standard: TS 29.281 §7.3.2.
pub(super) fn write_end_marker(out: &mut Vec<u8>, tunnel: Tunnel) {
    write_outer(out, tunnel, (MANDATORY as u32, Ecn::default()));
    write_mandatory(out, (FLAGS, END_MARKER), 0, tunnel.teid);
}

fn write_mandatory(out: &mut Vec<u8>, (flags, kind): (u8, u8), length: u32, teid: u32) {
    out.extend([flags, kind]);
    out.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
    out.extend(teid.to_be_bytes());
}

/// Writes the sequence number and the N-PDU number, which are not used, and the chain of extension
/// headers. Each extension header begins with its length in words of four bytes. It ends with the
/// type of the next extension header.
fn write_extensions(out: &mut Vec<u8>, extensions: Extensions<'_>) {
    let session = extensions.session.map(|is_uplink| {
        let kind = u8::from(is_uplink) << 4;
        (extension::PDU_SESSION_CONTAINER, vec![1, kind, QFI])
    });
    let number = extensions.number.map(|PdcpNumber { count, bits }| {
        let number = count & ((1_u32 << bits) - 1);
        match bits {
            18 => {
                let [_, high, middle, low] = number.to_be_bytes();
                let long = vec![2, high, middle, low, 0, 0, 0];
                (extension::LONG_PDCP_NUMBER, long)
            }
            _ => {
                let [_, _, high, low] = number.to_be_bytes();
                (extension::PDCP_NUMBER, vec![1, high, low])
            }
        }
    });
    let user_plane = extensions.user_plane.map(|user_plane| {
        let mut content = vec![0];
        user_plane::write(&mut content, user_plane);
        // The content is padded to whole words and preceded by its length. The loop then appends
        // the type of the next header.
        content.resize((content.len() + 1).next_multiple_of(4) - 1, 0);
        content[0] = u8::try_from((content.len() + 1) / 4).unwrap_or(0);
        (extension::NR_RAN_CONTAINER, content)
    });
    let chain: Vec<(u8, Vec<u8>)> = session
        .into_iter()
        .chain(number)
        .chain(user_plane)
        .collect();
    if chain.is_empty() {
        return;
    }
    out.extend([0, 0, 0]);
    for (kind, content) in chain {
        out.push(kind);
        out.extend(content);
    }
    out.push(extension::NONE);
}

/// Writes IP and UDP headers. The UDP checksum is zero, because it is not used. The ECN field of
/// the UE's packet is copied to the outer header.
///
/// Standard: RFC 6040 §4.1.
fn write_outer(out: &mut Vec<u8>, tunnel: Tunnel, (message, ecn): (u32, Ecn)) {
    let udp = UDP_HEADER as u32 + message;
    let whole = u16::try_from(IP_HEADER as u32 + udp).unwrap_or(0);
    let mut ip = [0; IP_HEADER];
    ip[0] = 0x45;
    ip[1] = ecn as u8;
    ip[2..4].copy_from_slice(&whole.to_be_bytes());
    ip[6..8].copy_from_slice(&0x4000_u16.to_be_bytes());
    ip[8] = TTL;
    ip[9] = UDP;
    ip[12..16].copy_from_slice(&transport_address(tunnel.from).octets());
    ip[16..20].copy_from_slice(&transport_address(tunnel.to).octets());
    let checksum = checksum_of_header(&ip);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    out.extend(ip);
    out.extend(PORT.to_be_bytes());
    out.extend(PORT.to_be_bytes());
    out.extend(u16::try_from(udp).unwrap_or(0).to_be_bytes());
    out.extend([0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::random::Stream;
    use fadeout_testkit::Cases;

    /// Fields of IP, UDP and GTP-U headers, as read by the test.
    #[derive(Debug, PartialEq)]
    struct Read {
        source: [u8; 4],
        destination: [u8; 4],
        kind: u8,
        teid: u32,
        /// Length of the UE's packet in the tunnel, bytes.
        inside: usize,
        number: Option<(u8, u32)>,
        session: Option<bool>,
    }

    /// Reads the headers as the standards define them, without any code of the writer.
    fn read(bytes: &[u8], inside: usize) -> Read {
        let word = |at: usize| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
        assert_eq!(bytes[0], 0x45);
        assert_eq!(word(2), bytes.len() + inside, "length of IP");
        assert_eq!(bytes[9], 17);
        let sum: usize = (0..10).map(|n| word(2 * n)).sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "checksum");
        assert_eq!((word(20), word(22)), (2152, 2152));
        assert_eq!(word(24), bytes.len() + inside - 20, "length of UDP");
        let gtp = &bytes[28..];
        assert_eq!(gtp[0] >> 4, 3, "version 1, GTP");
        assert_eq!(word(30) + 8, gtp.len() + inside, "length of GTP-U");
        let mut found = Read {
            source: bytes[12..16].try_into().expect("four"),
            destination: bytes[16..20].try_into().expect("four"),
            kind: gtp[1],
            teid: u32::from_be_bytes(gtp[4..8].try_into().expect("four")),
            inside,
            number: None,
            session: None,
        };
        let mut at = 8;
        if gtp[0] & 7 != 0 {
            let mut next = if gtp[0] & 4 != 0 { gtp[11] } else { 0 };
            at = 12;
            while next != 0 {
                let words = usize::from(gtp[at]);
                let content = &gtp[at + 1..at + 4 * words - 1];
                match next {
                    0xc0 => {
                        let number = u32::from(content[0]) << 8 | u32::from(content[1]);
                        found.number = Some((12, number));
                    }
                    0x82 => {
                        let high = u32::from(content[0] & 3) << 16;
                        let low = u32::from(content[1]) << 8 | u32::from(content[2]);
                        found.number = Some((18, high | low));
                    }
                    0x85 => found.session = Some(content[0] >> 4 == 1),
                    other => panic!("extension header {other:#x}"),
                }
                next = gtp[at + 4 * words - 1];
                at += 4 * words;
            }
        }
        assert_eq!(at, gtp.len(), "nothing is left before the user's packet");
        found
    }

    #[test]
    fn what_is_written_is_read() {
        Cases::new(500).run(|seed| {
            let mut random = Stream::new(seed, "gtp", 0);
            let mut below = |limit: u64| random.below(limit);
            let tunnel = Tunnel {
                from: NodeId(below(1000) as u32),
                to: NodeId(below(1000) as u32),
                teid: below(1 << 32) as u32,
            };
            let number = [None, Some(12), Some(18)][below(3) as usize].map(|bits| PdcpNumber {
                count: below(1 << 32) as u32,
                bits,
            });
            let session = [None, Some(false), Some(true)][below(3) as usize];
            let inside = 20 + below(9000) as u32;
            let mut bytes = Vec::new();
            let extensions = Extensions {
                number,
                session,
                user_plane: None,
            };
            write_data(&mut bytes, tunnel, extensions, (inside, Ecn::Ect0));
            let expected = Read {
                source: transport_address(tunnel.from).octets(),
                destination: transport_address(tunnel.to).octets(),
                kind: 255,
                teid: tunnel.teid,
                inside: inside as usize,
                number: number.map(|it| (it.bits, it.count % (1 << it.bits))),
                session,
            };
            assert_eq!(read(&bytes, inside as usize), expected);
        });
    }

    /// The 36 expected bytes of the end marker were written by hand.
    #[test]
    fn an_end_marker_has_only_the_mandatory_header() {
        let tunnel = Tunnel {
            from: NodeId(0),
            to: NodeId(4),
            teid: 0x1000_0002,
        };
        let mut bytes = Vec::new();
        write_end_marker(&mut bytes, tunnel);
        assert_eq!(bytes.len(), 36);
        assert_eq!(bytes[28..], [0x30, 254, 0, 0, 0x10, 0, 0, 2]);
        assert_eq!(bytes[12..20], [172, 16, 0, 1, 172, 16, 0, 5]);
        assert_eq!(read(&bytes, 0).kind, 254);
    }
}
