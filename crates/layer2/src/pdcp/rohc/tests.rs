//! Sizes are computed by hand from the formats of RFC 6846 (clauses 7.1, 7.3, 6.3 and 8.2) and RFC
//! 5225 (6.8.2).

use super::*;
use fadeout_core::{Ecn, EndpointId, Flags, FlowId, Protocol, SackBlock, SackList, Segment};
use fadeout_testkit::Cases;
use proptest::prelude::*;

const CONFIG: RohcConfig = RohcConfig {
    max_cid: 15,
    repetitions: 4,
    refresh: Span::from_millis(500),
    continues: false,
};
const MSS: u32 = 1448;

/// Sender of a flow, and the compressor of its packets.
struct Rig {
    rohc: Rohc,
    now: Time,
    next: u32,
    packet: Packet,
}

impl Rig {
    fn new(packet: Packet) -> Rig {
        Rig {
            rohc: Rohc::new(&CONFIG),
            now: Time::ZERO,
            next: 0,
            packet,
        }
    }

    /// Returns a sender of data with timestamps.
    fn data() -> Rig {
        Rig::new(Packet {
            segment: Segment {
                seq: 1,
                ack: 1,
                window: 65_535,
                len: MSS,
                ts_value: 1000,
                ts_echo: 900,
                flags: Flags::ACK,
                has_timestamps: true,
                ..Segment::default()
            },
            ..Packet::default()
        })
    }

    /// Returns a receiver that acknowledges data.
    fn acknowledgments() -> Rig {
        let mut rig = Rig::data();
        rig.packet.segment.len = 0;
        rig
    }

    /// Sends the packet. Returns its serial number, and the bytes of its header.
    fn send(&mut self) -> (u32, u32) {
        let serial = self.next;
        self.next += 1;
        let bytes = self.rohc.compress(self.now, &self.packet, 0);
        (serial, bytes - self.packet.segment.len)
    }

    /// Sends and receives the next packet. Its sequence number is `payloads` higher, and both
    /// clocks are `ms` later. Returns the bytes of its header.
    fn pass(&mut self, payloads: u32, ms: u32) -> u32 {
        self.advance_packet(payloads, ms);
        let (serial, bytes) = self.send();
        assert!(self.rohc.decompress(serial), "packet {serial}");
        bytes
    }

    fn advance_packet(&mut self, payloads: u32, ms: u32) {
        let segment = &mut self.packet.segment;
        match segment.len {
            0 => segment.ack += u64::from(payloads * MSS),
            len => segment.seq += u64::from(payloads * len),
        }
        segment.ts_value += ms;
        segment.ts_echo += ms;
    }

    /// Sends the first packets, which have whole headers.
    fn settled(mut self) -> Rig {
        (0..4).for_each(|_| {
            self.pass(1, 1);
        });
        self
    }
}

#[test]
fn whole_headers_come_first_as_often_as_is_said() {
    let mut rig = Rig::data();
    // Type, profile and CRC take 3 bytes. The static chains of IPv4 (10) and TCP (4) and their
    // dynamic chains (3 and 12) follow. The acknowledgment number takes 4 bytes. A list of three
    // options follows: two no-operations and timestamps. Its number of items takes 1 byte, three
    // fields of 4 bits take 2 bytes, and the timestamps take 8.
    let whole = 3 + 14 + 3 + 12 + 4 + 11;
    for _ in 0..4 {
        assert_eq!(rig.pass(1, 1), whole);
    }
    assert!(rig.pass(1, 1) < 10);
    let counts = *rig.rohc.counts();
    assert_eq!((counts.packets, counts.initialisations), (5, 4));
    assert_eq!(counts.header_bytes, 5 * 52);
}

#[test]
fn headers_have_the_bytes_of_their_formats() {
    // rnd_2 takes 2 bytes, the checksum of TCP takes 2 bytes, and each of the two timestamps takes
    // one.
    let mut data = Rig::data().settled();
    assert_eq!(data.pass(1, 1), 6);
    // An unchanged timestamp does not fit into 7 or 14 bits (lsb(7, -1)), so it takes 21 bits in 3
    // bytes.
    assert_eq!(data.pass(1, 0), 2 + 2 + 3 + 3);
    // Four bits cannot encode a gap of this many payloads, so the format is rnd_1.
    assert_eq!(data.pass(9, 1), 4 + 2 + 2);
    // An acknowledgment uses rnd_3. A changed window needs rnd_7 until four references contain it.
    let mut acks = Rig::acknowledgments().settled();
    assert_eq!(acks.pass(2, 1), 3 + 2 + 2);
    acks.packet.segment.window -= 100;
    for _ in 0..4 {
        assert_eq!(acks.pass(2, 1), 6 + 2 + 2);
    }
    assert_eq!(acks.pass(2, 1), 3 + 2 + 2);
    // A packet with new data and a new acknowledgment uses rnd_6.
    let mut both = Rig::data().settled();
    both.packet.segment.ack += 100;
    assert_eq!(both.pass(1, 1), 4 + 2 + 2);
    // With FIN, rnd_8 has no room for a larger sequence number (lsb(16, 65535)). So the format is
    // co_common: 5 bytes, and two of the sequence number.
    let mut last = Rig::data().settled();
    last.packet.segment.flags = Flags::ACK | Flags::FIN;
    assert_eq!(last.pass(1, 1), 5 + 2 + 2 + 2);
}

#[test]
fn a_new_option_is_listed_as_often_as_whole_headers_are() {
    let mut rig = Rig::acknowledgments().settled();
    let (start, end) = (1 + 20 * u64::from(MSS), 1 + 21 * u64::from(MSS));
    assert!(rig.packet.segment.sack.push(SackBlock { start, end }));
    // rnd_8 takes 7 bytes, and a list of six items takes 1 + 3. A SACK option with one block takes
    // 1 byte and 2 for each edge. The checksum and the timestamps take 2 each.
    for _ in 0..4 {
        assert_eq!(rig.pass(0, 1), 7 + 4 + 5 + 2 + 2);
    }
    // The block is known, so a byte that says "unchanged" is enough.
    assert_eq!(rig.pass(0, 1), 3 + 2 + 2 + 1);
    rig.packet.segment.sack = SackList::EMPTY;
    let end = end + u64::from(MSS);
    assert!(rig.packet.segment.sack.push(SackBlock { start, end }));
    assert_eq!(rig.pass(0, 1), 3 + 2 + 2 + 5);
    // Without the block the list differs, but all its options are known.
    rig.packet.segment.sack = SackList::EMPTY;
    assert_eq!(rig.pass(2, 1), 7 + 3 + 2 + 2);
}

#[test]
fn marks_take_a_byte_in_each_header_while_there_are_some() {
    let mut rig = Rig::acknowledgments().settled();
    rig.packet.ecn = Ecn::Ect0;
    assert_eq!(rig.pass(1, 1), 7 + 2 + 2 + 1, "rnd_8 says that they come");
    (0..3).for_each(|_| {
        rig.pass(1, 1);
    });
    rig.packet.ecn = Ecn::Ce;
    assert_eq!(rig.pass(1, 1), 3 + 2 + 2 + 1);
}

#[test]
fn datagrams_take_three_bytes() {
    let mut rig = Rig::new(Packet {
        protocol: Protocol::Udp,
        segment: Segment {
            len: 1000,
            ..Segment::default()
        },
        ..Packet::default()
    });
    for bytes in [25, 25, 25, 25, 3, 3] {
        assert_eq!(rig.send().1, bytes);
    }
    rig.packet.hop = 1;
    assert_eq!(rig.send().1, 4 + 1 + 2);
    // Earlier losses have no effect, because the packet needs only an existing context.
    assert!(!rig.rohc.decompress(5) && rig.rohc.decompress(3) && rig.rohc.decompress(5));
}

/// Four bits of a scaled sequence number cover eight payloads (lsb(4, 7)). The library `rohc` of D.
/// Barvaux (commit 70589cc) tolerates the same number of consecutive losses for a flow of this
/// simulator.
#[test]
fn after_eight_losses_in_a_row_headers_are_not_found_before_a_whole_one() {
    for (lost, is_found) in [(7, true), (8, false)] {
        let mut rig = Rig::data().settled();
        for _ in 0..lost {
            rig.advance_packet(1, 1);
            rig.send();
        }
        rig.advance_packet(1, 1);
        let (after, _) = rig.send();
        assert_eq!(rig.rohc.decompress(after), is_found);
        rig.now += CONFIG.refresh;
        rig.advance_packet(1, 1);
        let (refreshed, bytes) = rig.send();
        assert_eq!(bytes, 47);
        assert!(rig.rohc.decompress(refreshed));
        assert_eq!(rig.pass(1, 1), 6);
        assert_eq!(rig.rohc.counts().failures, u64::from(!is_found));
    }
}

#[test]
fn a_reset_begins_with_whole_headers_and_makes_what_was_under_way_useless() {
    let mut rig = Rig::data().settled();
    rig.advance_packet(1, 1);
    let (early, _) = rig.send();
    rig.advance_packet(1, 1);
    let (late, _) = rig.send();
    assert!(rig.rohc.decompress(early));
    rig.rohc.reset();
    assert!(rig.rohc.decompress(early), "what was found stays found");
    assert!(!rig.rohc.decompress(late));
    let again = rig.rohc.compress_again(rig.now, late, &rig.packet);
    assert_eq!(again - MSS, 47);
    assert!(rig.rohc.decompress(late));
}

#[test]
fn more_flows_than_contexts_take_them_from_each_other() {
    let mut rohc = Rohc::new(&RohcConfig {
        max_cid: 1,
        repetitions: 1,
        ..CONFIG
    });
    let mut send = |flow: u32| {
        let packet = Packet {
            flow: FlowId(flow),
            to: EndpointId(flow),
            ..Rig::data().packet
        };
        rohc.compress(Time::ZERO, &packet, 0) - MSS
    };
    // The second CID adds a byte before each header.
    assert_eq!([0, 1].map(&mut send), [47, 48]);
    assert!(send(0) < 47 && send(1) < 48);
    assert_eq!(send(2), 47, "that of flow 0, which was silent longest");
    assert_eq!(send(0), 48);
}

/// Changes of a flow from one packet to the next.
#[derive(Debug, Clone, Copy)]
struct Step {
    payloads: i64,
    acked: u64,
    ms: u32,
    window: u64,
    flags: u16,
    ecn: u8,
    hop: u8,
    len: u32,
    blocks: u8,
    /// Age of the context, ms.
    age_ms: u64,
    is_lost: bool,
    resets: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let numbers = (
        prop_oneof![6 => Just(1i64), 1 => -60i64..60],
        prop_oneof![3 => Just(0u64), 1 => 0u64..100_000],
        prop_oneof![4 => 0u32..20, 1 => 0u32..5_000_000],
        prop_oneof![6 => Just(0u64), 1 => 0u64..70_000],
    );
    let header = (
        prop_oneof![8 => Just(0u16), 1 => Just(1), 1 => Just(8), 1 => Just(0x40), 1 => Just(4)],
        prop_oneof![8 => Just(0u8), 1 => 0u8..4],
        prop_oneof![12 => Just(0u8), 1 => 0u8..9],
        prop_oneof![4 => Just(MSS), 1 => 0u32..1448, 2 => Just(0u32)],
        prop_oneof![6 => Just(0u8), 1 => 0u8..4],
    );
    let delivery = (
        prop_oneof![20 => Just(0u64), 1 => 0u64..600],
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.02),
    );
    let step = (numbers, header, delivery).prop_map(|(numbers, header, delivery)| Step {
        payloads: numbers.0,
        acked: numbers.1,
        ms: numbers.2,
        window: numbers.3,
        flags: header.0,
        ecn: header.1,
        hop: header.2,
        len: header.3,
        blocks: header.4,
        age_ms: delivery.0,
        is_lost: delivery.1,
        resets: delivery.2,
    });
    prop::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(Cases::new(2000).proptest())]

    /// A decompressor that received one of the latest packets decompresses every header, and no
    /// header is longer than the original. The number of latest packets is that of whole headers at
    /// the start.
    #[test]
    fn headers_are_found_as_long_as_one_of_the_latest_was(steps in steps()) {
        let mut rig = Rig::data();
        let mut lost_in_a_row = 0;
        for step in steps {
            let packet = &mut rig.packet;
            packet.ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(step.ecn)];
            packet.hop = step.hop;
            let segment = &mut packet.segment;
            segment.seq = segment.seq.wrapping_add_signed(step.payloads * i64::from(segment.len));
            segment.ack += step.acked;
            segment.ts_value = segment.ts_value.wrapping_add(step.ms);
            segment.ts_echo = segment.ts_echo.wrapping_add(step.ms / 2);
            segment.window = 65_535 - step.window.min(65_535);
            segment.flags = Flags::ACK | Flags(step.flags);
            segment.len = step.len;
            segment.sack = SackList::EMPTY;
            for block in 0..u64::from(step.blocks) {
                let start = segment.ack + 1000 * block + u64::from(step.ms);
                segment.sack.push(SackBlock { start, end: start + 500 });
            }
            rig.now += Span::from_millis(step.age_ms);
            if step.resets {
                rig.rohc.reset();
                lost_in_a_row = 0;
            }
            let before = rig.packet.wire_len() - rig.packet.segment.len;
            let (serial, bytes) = rig.send();
            prop_assert!(bytes <= before, "{bytes} of {before}");
            if step.is_lost && lost_in_a_row < 3 {
                lost_in_a_row += 1;
                continue;
            }
            lost_in_a_row = 0;
            prop_assert!(rig.rohc.decompress(serial), "packet {serial}");
        }
    }
}
