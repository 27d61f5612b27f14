//! Frames of a guest: their headers, and the split of large segments, which Linux leaves to its
//! network device.

use crate::Fault;
use crate::vhost::Offload;

/// Length of an Ethernet header, bytes.
pub const ETHERNET_LEN: usize = 14;
/// Ethernet type of IPv4.
pub const IPV4: u16 = 0x0800;
const TCP: u8 = 6;
const FIN: u8 = 1;
const PSH: u8 = 8;
const CWR: u8 = 0x80;

/// Fields of an IPv4 packet that its routing depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ip {
    /// Address of the sender.
    pub source: [u8; 4],
    /// Address of the receiver.
    pub destination: [u8; 4],
    /// ECN field of the IP header.
    pub ecn: u8,
    /// Length of the packet without its Ethernet header, bytes.
    pub len: usize,
    /// Length of the IP header, bytes.
    pub header_len: usize,
    /// The TCP header. `None` for other protocols.
    pub tcp: Option<Tcp>,
}

/// Fields of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tcp {
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Sequence number of the header.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags. FIN is the lowest bit.
    pub flags: u8,
    /// Window field, without scaling.
    pub window: u16,
    /// Length of the header with its options, bytes.
    pub header_len: usize,
    /// Length of the payload, bytes.
    pub payload: usize,
}

/// Returns the Ethernet type of a frame. `None` if the frame is too short.
pub fn ethernet_type(frame: &[u8]) -> Option<u16> {
    half(frame, 12)
}

impl Ip {
    /// Reads the IPv4 packet of a frame. `None` for other kinds of frames, and for inconsistent
    /// lengths. Fragments have no TCP header here.
    pub fn read(frame: &[u8]) -> Option<Ip> {
        if ethernet_type(frame)? != IPV4 {
            return None;
        }
        let ip = frame.get(ETHERNET_LEN..)?;
        let first = *ip.first()?;
        let header_len = usize::from(first & 15) * 4;
        let len = usize::from(half(ip, 2)?);
        if first >> 4 != 4 || header_len < 20 || len < header_len || ip.len() < len {
            return None;
        }
        let is_fragment = half(ip, 6)? & 0x3fff != 0;
        let tcp = (ip[9] == TCP && !is_fragment).then(|| Tcp::read(&ip[header_len..len]));
        Some(Ip {
            source: ip[12..16].try_into().expect("four"),
            destination: ip[16..20].try_into().expect("four"),
            ecn: ip[1] & 3,
            len,
            header_len,
            tcp: tcp.flatten(),
        })
    }
}

impl Tcp {
    fn read(segment: &[u8]) -> Option<Tcp> {
        let header_len = usize::from(*segment.get(12)? >> 4) * 4;
        if header_len < 20 || segment.len() < header_len {
            return None;
        }
        Some(Tcp {
            source_port: half(segment, 0)?,
            destination_port: half(segment, 2)?,
            seq: whole(segment, 4)?,
            ack: whole(segment, 8)?,
            flags: segment[13],
            window: half(segment, 14)?,
            header_len,
            payload: segment.len() - header_len,
        })
    }
}

/// Sets the codepoint CE (congestion experienced).
///
/// Standard: RFC 3168 §5.
pub fn mark(frame: &mut [u8]) {
    if let Some(ip) = frame.get_mut(ETHERNET_LEN..)
        && ip.len() >= 20
    {
        ip[1] |= 3;
        let len = (usize::from(ip[0] & 15) * 4).clamp(20, ip.len());
        sum_header(&mut ip[..len]);
    }
}

/// Splits a frame into the segments that the guest asks for, and completes their checksums. Calls
/// `sink` for each segment. A frame with a single segment is passed on.
///
/// # Errors
/// Returns a [`Fault`] if the segmentation does not fit the frame.
pub fn split(
    offload: Offload,
    frame: &mut [u8],
    buffer: &mut Vec<u8>,
    mut sink: impl FnMut(&[u8]),
) -> Result<(), Fault> {
    const BROKEN: Fault = Fault("a frame to split that is not TCP over IPv4");
    if offload.segment == 0 {
        if let Some((start, offset)) = offload.checksum {
            let (start, offset) = (usize::from(start), usize::from(offset));
            let place = start + offset;
            if place + 2 > frame.len() {
                return Err(Fault("a checksum beyond its frame"));
            }
            let sum = internet_sum(&frame[start..], 0);
            frame[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        }
        sink(frame);
        return Ok(());
    }
    let ip = Ip::read(frame).ok_or(BROKEN)?;
    let tcp = ip.tcp.ok_or(BROKEN)?;
    let tcp_at = ETHERNET_LEN + ip.header_len;
    let head_len = tcp_at + tcp.header_len;
    let data = frame.get(head_len..ETHERNET_LEN + ip.len).ok_or(BROKEN)?;
    let id = half(frame, ETHERNET_LEN + 4).ok_or(BROKEN)?;
    let count = data.len().div_ceil(usize::from(offload.segment)).max(1);
    let mut seq = tcp.seq;
    for n in 0..count {
        let start = n * usize::from(offload.segment);
        let part = &data[start..data.len().min(start + usize::from(offload.segment))];
        buffer.clear();
        buffer.extend_from_slice(&frame[..head_len]);
        buffer.extend_from_slice(part);
        let len = buffer.len() - ETHERNET_LEN;
        let put = |buffer: &mut Vec<u8>, at: usize, value: u16| {
            buffer[at..at + 2].copy_from_slice(&value.to_be_bytes());
        };
        put(buffer, ETHERNET_LEN + 2, len as u16);
        put(buffer, ETHERNET_LEN + 4, id.wrapping_add(n as u16));
        sum_header(&mut buffer[ETHERNET_LEN..tcp_at]);
        buffer[tcp_at + 4..tcp_at + 8].copy_from_slice(&seq.to_be_bytes());
        if n > 0 {
            buffer[tcp_at + 13] &= !CWR;
        }
        if n + 1 < count {
            buffer[tcp_at + 13] &= !(FIN | PSH);
        }
        put(buffer, tcp_at + 16, 0);
        let pseudo = pseudo_sum(&ip, len - ip.header_len);
        let sum = internet_sum(&buffer[tcp_at..], pseudo);
        put(buffer, tcp_at + 16, sum);
        sink(buffer);
        seq = seq.wrapping_add(part.len() as u32);
    }
    Ok(())
}

/// Returns the sum over a pseudo header.
///
/// Standard: RFC 9293 §3.1.
fn pseudo_sum(ip: &Ip, len: usize) -> u64 {
    let as_number = |address: [u8; 4]| u64::from(u32::from_be_bytes(address));
    let folded = |sum: u64| (sum >> 16) + (sum & 0xffff);
    folded(as_number(ip.source)) + folded(as_number(ip.destination)) + u64::from(TCP) + len as u64
}

/// Returns the Internet checksum of `bytes`. `sum` is the sum over preceding data.
///
/// Standard: RFC 1071 §1.
fn internet_sum(bytes: &[u8], mut sum: u64) -> u16 {
    let mut pairs = bytes.chunks_exact(4);
    for four in &mut pairs {
        sum += u64::from(u32::from_be_bytes(four.try_into().expect("four")));
    }
    let mut last = [0; 4];
    last[..pairs.remainder().len()].copy_from_slice(pairs.remainder());
    sum += u64::from(u32::from_be_bytes(last));
    while sum >> 16 != 0 {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

fn sum_header(ip: &mut [u8]) {
    ip[10..12].fill(0);
    let sum = internet_sum(ip, 0);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let half = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes(half.try_into().expect("two")))
}

fn whole(bytes: &[u8], at: usize) -> Option<u32> {
    let whole = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(whole.try_into().expect("four")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a frame of TCP over IPv4 with this payload.
    fn frame(payload: &[u8], flags: u8) -> Vec<u8> {
        let mut frame = vec![0; ETHERNET_LEN];
        frame[12..14].copy_from_slice(&IPV4.to_be_bytes());
        let len = 40 + payload.len() as u16;
        frame.extend([0x45, 2]);
        frame.extend(len.to_be_bytes());
        frame.extend([0, 7, 0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x9c, 0x40, 0x13, 0x88]);
        frame.extend([0xff, 0xff, 0xff, 0, 0, 0, 0, 9, 0x50, flags, 0, 100]);
        frame.extend([0; 4]);
        frame.extend(payload);
        frame
    }

    fn is_sound(frame: &[u8]) -> bool {
        let ip = Ip::read(frame).expect("a packet");
        let tcp_at = ETHERNET_LEN + ip.header_len;
        internet_sum(&frame[ETHERNET_LEN..tcp_at], 0) == 0
            && internet_sum(&frame[tcp_at..], pseudo_sum(&ip, frame.len() - tcp_at)) == 0
    }

    #[test]
    fn a_large_segment_is_split_and_every_checksum_is_right() {
        let payload: Vec<u8> = (0..250).map(|n| n as u8).collect();
        let mut large = frame(&payload, 0x10 | PSH | FIN | CWR);
        let (mut buffer, mut parts) = (Vec::new(), Vec::new());
        let offload = Offload {
            segment: 100,
            checksum: Some((34, 16)),
        };
        split(offload, &mut large, &mut buffer, |part| {
            parts.push(part.to_vec());
        })
        .expect("TCP over IPv4");
        let read: Vec<Tcp> = parts
            .iter()
            .map(|part| Ip::read(part).expect("a packet").tcp.expect("a segment"))
            .collect();
        let seqs: Vec<u32> = read.iter().map(|tcp| tcp.seq).collect();
        assert_eq!(seqs, [0xffff_ff00, 0xffff_ff64, 0xffff_ffc8]);
        let flags: Vec<u8> = read.iter().map(|tcp| tcp.flags).collect();
        assert_eq!(flags, [0x10 | CWR, 0x10, 0x10 | PSH | FIN]);
        assert!(parts.iter().all(|part| is_sound(part)));
        let joined: Vec<u8> = parts.iter().flat_map(|part| part[54..].to_vec()).collect();
        assert_eq!(joined, payload);
        mark(&mut parts[0]);
        assert_eq!(Ip::read(&parts[0]).map(|ip| ip.ecn), Some(3));
        assert!(is_sound(&parts[0]));
    }

    #[test]
    fn a_checksum_left_to_us_is_finished() {
        let mut one = frame(b"odd", 0x10);
        let ip = Ip::read(&one).expect("a packet");
        sum_header(&mut one[ETHERNET_LEN..34]);
        let pseudo = !internet_sum(&[], pseudo_sum(&ip, one.len() - 34));
        one[50..52].copy_from_slice(&pseudo.to_be_bytes());
        let offload = Offload {
            segment: 0,
            checksum: Some((34, 16)),
        };
        let mut sound = false;
        split(offload, &mut one, &mut Vec::new(), |part| {
            sound = is_sound(part);
        })
        .expect("a place for the checksum");
        assert!(sound);
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn no_frame_is_read_beyond_its_end(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
            segment in any::<u16>(),
            checksum in proptest::option::of(any::<(u16, u16)>()),
            is_ip in any::<bool>(),
        ) {
            if is_ip && bytes.len() > 34 {
                bytes[12..15].copy_from_slice(&[8, 0, 0x45]);
                bytes[23] = TCP;
            }
            let _ = Ip::read(&bytes);
            let offload = Offload { segment, checksum };
            let _ = split(offload, &mut bytes, &mut Vec::new(), |_| {});
            mark(&mut bytes);
        }
    }
}
