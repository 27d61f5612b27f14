//! Conversion of headers from a kernel's packets to headers of the packet pool.

use fadeout_core::{Dss, Flags, MptcpOption, SackBlock, SackList, Segment};
use fadeout_guest::frame::{ETHERNET_LEN, Ip, Tcp};

/// Sequence numbers of one end of a connection: 32-bit numbers of TCP headers, and stream offsets
/// that do not wrap around.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SequenceNumbers {
    first: u32,
    /// Highest stream offset so far, plus one.
    pub(crate) highest: u64,
}

impl SequenceNumbers {
    /// Sets the first sequence number from a SYN.
    fn begin(&mut self, seq: u32) {
        if self.first != seq || self.highest > 1 {
            *self = SequenceNumbers {
                first: seq,
                highest: 0,
            };
        }
    }

    /// Returns the stream offset of a sequence number. Several offsets have the same number, and
    /// the result is the offset nearest to the highest one so far.
    fn offset(&self, seq: u32) -> u64 {
        let near = self.first.wrapping_add(self.highest as u32);
        let distance = i64::from(seq.wrapping_sub(near) as i32);
        self.highest.saturating_add_signed(distance)
    }
}

/// Converts a frame to a segment. `own` are the sequence numbers of the sender, and `peer` those of
/// the other end, which the sender acknowledges. `scale` is the window scale of the sender. The
/// segment has the size of the frame.
pub(crate) fn segment(
    frame: &[u8],
    ip: &Ip,
    tcp: &Tcp,
    own: &mut SequenceNumbers,
    peer: &SequenceNumbers,
    scale: &mut u8,
) -> Segment {
    let flags = Flags(u16::from(tcp.flags & 0xdf));
    if flags.has(Flags::SYN) {
        own.begin(tcp.seq);
    }
    let mut segment = Segment {
        seq: own.offset(tcp.seq),
        flags,
        ..Segment::default()
    };
    if flags.has(Flags::ACK) {
        segment.ack = peer.offset(tcp.ack);
    }
    let options = ETHERNET_LEN + ip.header_len;
    let options = frame.get(options + 20..options + tcp.header_len);
    read_options(options.unwrap_or(&[]), peer, &mut segment);
    if flags.has(Flags::SYN) {
        *scale = segment.window_scale.unwrap_or(0).min(14);
    }
    let shift = if flags.has(Flags::SYN) { 0 } else { *scale };
    segment.window = u64::from(tcp.window) << shift;
    let rest = (ip.len as u32).saturating_sub(40 + segment.options_len());
    segment.len = rest;
    // The length of an unknown option is counted as payload. The highest sequence number must not
    // include it.
    let unknown = u64::from(segment.len).saturating_sub(tcp.payload as u64);
    own.highest = own.highest.max(segment.end_seq() - unknown);
    segment
}

/// Standard: RFC 9293 §3.2; RFC 7323 §2.2, §3.2; RFC 2018 §2, §3.
fn read_options(mut options: &[u8], peer: &SequenceNumbers, segment: &mut Segment) {
    while let Some((&kind, rest)) = options.split_first() {
        let len = match (kind, rest.first()) {
            (0, _) => return,
            (1, _) => {
                options = rest;
                continue;
            }
            (_, Some(&len)) if len >= 2 => usize::from(len),
            _ => return,
        };
        let Some(body) = options.get(2..len) else {
            return;
        };
        let word = |at: usize| {
            let bytes = body[at..at + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes)
        };
        match (kind, body.len()) {
            (2, 2) => segment.mss = u16::from_be_bytes([body[0], body[1]]),
            (3, 1) => segment.window_scale = Some(body[0]),
            (4, 0) => segment.sack_permitted = true,
            (5, len) if len % 8 == 0 => {
                let mut list = SackList::EMPTY;
                for at in (0..len).step_by(8) {
                    list.push(SackBlock {
                        start: peer.offset(word(at)),
                        end: peer.offset(word(at + 4)),
                    });
                }
                segment.sack = list;
            }
            (30, 2..) => segment.mptcp = multipath_option(body, segment.seq),
            (8, 8) => {
                segment.has_timestamps = true;
                segment.ts_value = word(0);
                segment.ts_echo = word(4);
            }
            _ => {}
        }
        options = &options[len..];
    }
}

/// Reads the size and the mapping of a Multipath TCP option from its `body`. `seq` is the first
/// sequence number of the option's segment. The kernel may send several segments as one, with a
/// single mapping. Then the result is the part of the mapping that begins with this segment.
///
/// Standard: RFC 8684 §3.
fn multipath_option(body: &[u8], seq: u64) -> MptcpOption {
    let number = |at: usize, len: usize| {
        let bytes = body.get(at..at + len).unwrap_or_default();
        bytes
            .iter()
            .fold(0, |all, &byte| all << 8 | u64::from(byte))
    };
    match body[0] >> 4 {
        0 => MptcpOption::Capable,
        1 => MptcpOption::Join {
            backup: body[0] & 1 != 0,
        },
        2 => {
            let flags = body[1];
            let ack_len = [0, 4, 0, 8][usize::from(flags & 3)];
            let seq_len = [0, 4, 0, 8][usize::from(flags >> 2 & 3)];
            let has_mapping = flags & 4 != 0;
            let subflow_at = 2 + ack_len + seq_len;
            let mapped = match has_mapping {
                true => number(subflow_at + 4, 2) as u16,
                false => 0,
            };
            let begins = number(subflow_at, 4);
            let before = match (begins, seq.checked_sub(begins)) {
                (1.., Some(before)) if before < mapped.into() => before,
                _ => 0,
            };
            MptcpOption::Dss(Dss {
                data_ack: number(2, ack_len),
                data_seq: number(2 + ack_len, seq_len).wrapping_add(before),
                data_len: mapped - before as u16,
                data_fin: flags & 0x10 != 0,
                has_long_ack: ack_len == 8,
            })
        }
        3 => MptcpOption::AddAddress {
            path: body[1],
            is_echo: body[0] & 1 != 0,
        },
        4 => MptcpOption::RemoveAddress { path: body[1] },
        5 => MptcpOption::Priority {
            backup: body[0] & 1 != 0,
        },
        7 => MptcpOption::FastClose,
        8 => MptcpOption::Reset { reason: body[1] },
        _ => MptcpOption::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(seq: u32, ack: u32, flags: u8, options: &[u8], payload: usize) -> Vec<u8> {
        let mut frame = vec![0; ETHERNET_LEN];
        frame[12] = 8;
        let header_len = 20 + options.len();
        frame.extend([0x45, 0]);
        frame.extend((20 + header_len as u16 + payload as u16).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0, 1, 0, 2]);
        frame.extend(seq.to_be_bytes());
        frame.extend(ack.to_be_bytes());
        frame.extend([(header_len as u8 / 4) << 4, flags, 1, 0, 0, 0, 0, 0]);
        frame.extend(options);
        frame.extend(vec![0; payload]);
        frame
    }

    fn read(
        frame: &[u8],
        own: &mut SequenceNumbers,
        peer: &SequenceNumbers,
        scale: &mut u8,
    ) -> Segment {
        let ip = Ip::read(frame).expect("a packet");
        segment(frame, &ip, &ip.tcp.expect("a segment"), own, peer, scale)
    }

    #[test]
    fn numbers_become_offsets_that_do_not_wrap_and_sizes_are_the_packets() {
        let (mut own, mut peer, mut scale) =
            (SequenceNumbers::default(), SequenceNumbers::default(), 0);
        let first = u32::MAX - 100;
        let syn = [
            2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7,
        ];
        let segment = read(&frame(first, 0, 2, &syn, 0), &mut own, &peer, &mut scale);
        assert_eq!((segment.seq, segment.mss, scale), (0, 1460, 7));
        assert_eq!(segment.wire_len(), 60);
        peer.begin(500);
        peer.highest = 2000;
        let stamps = [1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8];
        for n in 0..3u32 {
            let seq = first.wrapping_add(1 + 1448 * n);
            let data = frame(seq, 501, 0x18, &stamps, 1448);
            let segment = read(&data, &mut own, &peer, &mut scale);
            assert_eq!(segment.seq, u64::from(1 + 1448 * n));
            assert_eq!((segment.ack, segment.window), (1, 256 << 7));
            assert_eq!((segment.len, segment.wire_len()), (1448, 1500));
        }
        assert_eq!(own.highest, 1 + 3 * 1448);
        let again = frame(first.wrapping_add(1), 501, 0x10, &stamps, 1448);
        assert_eq!(read(&again, &mut own, &peer, &mut scale).seq, 1);
    }

    #[test]
    fn selective_acknowledgments_are_the_peers_numbers() {
        let (mut own, mut peer) = (SequenceNumbers::default(), SequenceNumbers::default());
        peer.begin(1000);
        peer.highest = 5000;
        let mut options = vec![1, 1, 5, 10];
        options.extend(3000u32.to_be_bytes());
        options.extend(4000u32.to_be_bytes());
        let ack = frame(7, 2000, 0x10, &options, 0);
        let segment = read(&ack, &mut own, &peer, &mut 0);
        let block = segment.sack.as_slice()[0];
        assert_eq!((segment.ack, block.start, block.end), (1000, 2000, 3000));
    }

    #[test]
    fn of_a_mapping_of_several_segments_each_has_the_rest_from_it_on() {
        // The option contains a DATA_ACK of 4 bytes and a data sequence number of 4 bytes. Its
        // mapping covers 31,328 bytes of the subflow from byte 2849 on.
        let mut body = vec![0x20, 0x05, 0, 0, 0, 9, 0, 0, 0x10, 0];
        body.extend(2_849_u32.to_be_bytes());
        body.extend(31_328_u16.to_be_bytes());
        let mapping = |seq| {
            let MptcpOption::Dss(dss) = multipath_option(&body, seq) else {
                panic!("a data sequence signal");
            };
            (dss.data_ack, dss.data_seq, dss.data_len)
        };
        assert_eq!(mapping(2_849), (9, 0x1000, 31_328));
        assert_eq!(mapping(4_273), (9, 0x1000 + 1_424, 31_328 - 1_424));
        // A segment outside the mapping leaves the mapping unchanged.
        for seq in [1, 2_849 + 31_328] {
            assert_eq!(mapping(seq), (9, 0x1000, 31_328));
        }
    }

    #[test]
    fn options_without_their_end_are_left() {
        let mut segment = Segment::default();
        for options in [&[8, 10, 1][..], &[8, 1], &[5], &[8, 0, 0], &[2, 200]] {
            read_options(options, &SequenceNumbers::default(), &mut segment);
        }
        assert_eq!(segment, Segment::default());
    }
}
