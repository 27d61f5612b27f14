//! Tests of accurate ECN without an endpoint.

use super::*;
use ConnectionState as S;

fn agreed(sends_option: bool) -> Accurate {
    let mut accurate = Accurate::new(AccurateEcn {
        sends_option,
        validates: true,
    });
    accurate.agree();
    accurate.has_option = true;
    accurate
}

fn reporting(number: u32) -> Segment {
    Segment {
        flags: Flags::ACK | flags(number),
        ..Segment::default()
    }
}

fn delivery(packets: u32) -> Delivery {
    Delivery {
        packets,
        bytes: u64::from(packets) * 1_000,
        is_progress: true,
        mss: 1_000,
    }
}

#[test]
fn a_wrap_is_assumed_where_one_is_possible_and_large_acks_are_rare() {
    let mut rare = agreed(false);
    assert_eq!(rare.on_ack(&reporting(5), &delivery(1)), 0);
    assert_eq!(rare.on_ack(&reporting(5), &delivery(9)), 8);
    let mut usual = agreed(false);
    assert_eq!(usual.on_ack(&reporting(5), &delivery(10)), 0);
    assert_eq!(usual.on_ack(&reporting(4), &delivery(10)), 7);
}

#[test]
fn what_acknowledges_nothing_reports_nothing() {
    let mut accurate = agreed(false);
    let stale = Delivery {
        is_progress: false,
        ..delivery(0)
    };
    assert_eq!(accurate.on_ack(&reporting(6), &stale), 0);
    assert_eq!(accurate.on_ack(&reporting(6), &delivery(1)), 1);
}

#[test]
fn a_block_makes_room_for_the_counters_that_changed() {
    let mut accurate = agreed(true);
    let data = Segment {
        len: 1_000,
        ..Segment::default()
    };
    accurate.on_received(&data, Ecn::Ce);
    let mut ack = Segment {
        has_timestamps: true,
        ..Segment::default()
    };
    for start in [5_001, 3_001, 1_001] {
        let end = start + 1_000;
        assert!(ack.sack.push(fadeout_core::SackBlock { start, end }));
    }
    accurate.stamp(&mut ack, &mut Ecn::NotEct.clone(), false);
    assert_eq!((ack.sack.as_slice().len(), ack.accurate.fields()), (2, 2));
    assert_eq!(ack.accurate.counter(1), Some(1_000));
    assert!(ack.flags.has(Flags::AE | Flags::CWR));
}

/// Returns an acknowledgment with this ACE number and this count of marked bytes.
fn counted(number: u32, marked_bytes: u32) -> Segment {
    Segment {
        accurate: AccurateEcnOption::new([1, marked_bytes, 1], 3, false),
        ..reporting(number)
    }
}

fn fresh(validates: bool) -> Accurate {
    Accurate::new(AccurateEcn {
        sends_option: true,
        validates,
    })
}

fn syn(flags: Flags) -> Segment {
    Segment {
        flags: Flags::SYN | flags,
        ..Segment::default()
    }
}

/// Passes a segment that delivers no data.
fn process_segment(
    accurate: &mut Accurate,
    state: ConnectionState,
    segment: &Segment,
    field: Ecn,
) -> u32 {
    let nothing = || Delivery {
        is_progress: false,
        ..delivery(0)
    };
    accurate
        .decode(state, segment, field, 1, nothing)
        .ce_packets
}

/// Returns the ECN field and the flags of an acknowledgment to send.
fn stamped(accurate: &mut Accurate) -> (Ecn, u32) {
    let mut ack = reporting(0);
    let mut field = Ecn::NotEct;
    accurate.stamp(&mut ack, &mut field, false);
    (field, ace(&ack))
}

const FIELDS: [(Ecn, u32); 4] = [
    (Ecn::NotEct, 2),
    (Ecn::Ect1, 3),
    (Ecn::Ect0, 4),
    (Ecn::Ce, 6),
];

#[test]
fn a_syn_asks_twice_and_its_answer_reflects_the_field_that_it_came_with() {
    let accurate = fresh(true);
    let asks = [1, 2, 3].map(|number| accurate.syn_flags(true, number));
    assert_eq!(asks, [flags(7), flags(7), Flags::default()]);
    for (field, reflected) in FIELDS {
        let mut accurate = fresh(true);
        process_segment(&mut accurate, S::Listen, &syn(flags(7)), field);
        let answers = [1, 2, 3].map(|number| accurate.syn_flags(false, number));
        let reflected = flags(reflected);
        assert_eq!(answers, [reflected, reflected, Flags::default()]);
    }
}

#[test]
fn the_option_is_on_the_first_answer_to_a_syn_that_came_once() {
    let mut accurate = fresh(true);
    process_segment(&mut accurate, S::Listen, &syn(flags(7)), Ecn::NotEct);
    assert_eq!(accurate.syn_option(1).fields(), 3);
    assert!(!accurate.syn_option(2).is_present());
    process_segment(&mut accurate, S::SynReceived, &syn(flags(7)), Ecn::NotEct);
    assert!(!accurate.syn_option(1).is_present());
    let off = Accurate::new(AccurateEcn {
        sends_option: false,
        validates: true,
    });
    assert!(!off.syn_option(1).is_present());
}

#[test]
fn a_syn_that_comes_again_without_its_flags_shows_a_path_that_clears_them() {
    for (number, field) in [(7, Ecn::Ect0), (0, Ecn::NotEct)] {
        let mut accurate = fresh(true);
        process_segment(&mut accurate, S::Listen, &syn(flags(7)), Ecn::NotEct);
        process_segment(
            &mut accurate,
            S::SynReceived,
            &syn(flags(number)),
            Ecn::NotEct,
        );
        accurate.agree();
        assert_eq!(stamped(&mut accurate).0, field);
    }
}

#[test]
fn the_answer_to_a_syn_ack_reflects_its_field_once_and_its_mark_counts() {
    for (field, reflected) in FIELDS {
        let mut accurate = fresh(true);
        let answer = syn(Flags::ACK | flags(2));
        process_segment(&mut accurate, S::SynSent, &answer, field);
        accurate.agree();
        assert_eq!(stamped(&mut accurate).1, reflected);
        let marks = u32::from(field == Ecn::Ce);
        assert_eq!(stamped(&mut accurate).1, 5 + marks);
        assert_eq!(accurate.received().ce, marks);
        // A repeated segment is reported again, but its mark is not counted again.
        process_segment(&mut accurate, S::Established, &answer, field);
        assert_eq!(stamped(&mut accurate).1, reflected);
        assert_eq!(accurate.received().ce, marks);
    }
}

#[test]
fn the_option_is_sent_to_a_peer_that_sent_it() {
    for (rules, sent, room) in [(true, true, 12), (true, false, 0), (false, true, 0)] {
        let mut accurate = Accurate::new(AccurateEcn {
            sends_option: rules,
            validates: true,
        });
        let mut answer = syn(Flags::ACK | flags(2));
        if sent {
            answer.accurate = AccurateEcnOption::new(FIRST_BYTES, 3, false);
        }
        process_segment(&mut accurate, S::SynSent, &answer, Ecn::NotEct);
        assert_eq!(accurate.room(), 0, "not agreed on");
        accurate.agree();
        assert_eq!(accurate.room(), room);
    }
    let mut later = fresh(true);
    later.agree();
    process_segment(&mut later, S::Established, &reporting(5), Ecn::NotEct);
    assert_eq!(later.room(), 0);
    process_segment(&mut later, S::Established, &counted(5, 0), Ecn::NotEct);
    assert_eq!(later.room(), 12);
}

#[test]
fn the_third_packet_tells_what_the_path_did_to_the_syn_ack() {
    for (number, len, validates, field, marks) in [
        (0, 0, true, Ecn::NotEct, 0),
        (0, 9, true, Ecn::NotEct, 0),
        (1, 0, true, Ecn::Ect0, 0),
        (5, 0, true, Ecn::Ect0, 0),
        (7, 0, true, Ecn::Ect0, 0),
        (2, 0, true, Ecn::Ect0, 0),
        (3, 0, true, Ecn::NotEct, 0),
        (4, 0, true, Ecn::NotEct, 0),
        (6, 0, true, Ecn::NotEct, 0),
        (3, 1, true, Ecn::Ect0, 0),
        (6, 1, true, Ecn::Ect0, 0),
        (3, 0, false, Ecn::Ect0, 0),
        (6, 0, false, Ecn::Ect0, 1),
        (6, 1, false, Ecn::Ect0, 0),
    ] {
        let mut accurate = fresh(validates);
        accurate.agree();
        let third = Segment {
            len,
            ..reporting(number)
        };
        process_segment(&mut accurate, S::SynReceived, &third, Ecn::NotEct);
        let case = (number, len, validates);
        assert_eq!(stamped(&mut accurate).0, field, "{case:?}");
        assert_eq!(accurate.delivered().ce, marks, "{case:?}");
    }
}

#[test]
fn packets_are_counted_by_their_mark_and_bytes_by_their_field() {
    let mut accurate = agreed(true);
    let data = |len| Segment {
        len,
        ..reporting(5)
    };
    for (field, len) in [
        (Ecn::NotEct, 10),
        (Ecn::Ect1, 20),
        (Ecn::Ce, 30),
        (Ecn::Ect0, 40),
        (Ecn::Ce, 0),
    ] {
        process_segment(&mut accurate, S::Established, &data(len), field);
    }
    let expected = AccurateCounters {
        ce: 2,
        bytes: [20, 30, 40],
    };
    assert_eq!(accurate.received(), expected);
    assert_eq!(accurate.delivered(), AccurateCounters::default());
}

#[test]
fn the_option_has_the_counters_that_changed_at_least() {
    for (field, len, least) in [
        (Ecn::Ect1, 1, 1),
        (Ecn::Ce, 1, 2),
        (Ecn::Ect0, 1, 3),
        (Ecn::Ect0, 0, 0),
        (Ecn::NotEct, 1, 0),
    ] {
        let mut accurate = agreed(true);
        let data = Segment {
            len,
            ..reporting(5)
        };
        process_segment(&mut accurate, S::Established, &data, field);
        assert_eq!(accurate.least_fields, least, "{field:?}");
        // An ACK without SACK blocks has enough option space for all three counters.
        let mut ack = reporting(0);
        accurate.stamp(&mut ack, &mut Ecn::NotEct.clone(), false);
        assert_eq!((ack.accurate.fields(), accurate.least_fields), (3, 0));
    }
}

#[test]
fn a_segment_that_comes_a_third_time_ends_the_option() {
    let data = |seq, len| Segment {
        seq,
        len,
        ..reporting(5)
    };
    let see = |accurate: &mut Accurate, segment: Segment, next| {
        accurate.notice_repetition(&segment, next);
        accurate.room()
    };
    let mut accurate = agreed(true);
    assert_eq!(see(&mut accurate, data(1, 100), 1), 12, "it is new");
    assert_eq!(
        see(&mut accurate, data(1, 100), 101),
        12,
        "it is sent again"
    );
    assert_eq!(see(&mut accurate, data(1, 50), 101), 12, "another one is");
    assert_eq!(see(&mut accurate, data(1, 100), 101), 12);
    assert_eq!(see(&mut accurate, data(101, 100), 101), 12);
    assert_eq!(see(&mut accurate, data(0, 0), 101), 12);
    assert_eq!(see(&mut accurate, data(0, 0), 101), 12, "no data");
    assert_eq!(see(&mut accurate, data(1, 100), 101), 0);
}

#[test]
fn what_acknowledges_nothing_counts_if_its_timestamp_is_later() {
    let mut accurate = agreed(false);
    let stale = Delivery {
        is_progress: false,
        ..delivery(0)
    };
    let stamped = |number, value| Segment {
        has_timestamps: true,
        ts_value: value,
        ..reporting(number)
    };
    assert_eq!(accurate.on_ack(&stamped(6, 100), &stale), 1);
    assert_eq!(accurate.on_ack(&stamped(7, 100), &stale), 1, "as old");
    assert_eq!(accurate.on_ack(&stamped(7, 99), &stale), 1, "older");
    let without = Segment {
        has_timestamps: false,
        ..stamped(7, 101)
    };
    assert_eq!(accurate.on_ack(&without, &stale), 1);
    assert_eq!(accurate.on_ack(&stamped(7, 101), &stale), 2);
    // The third packet of the handshake gives the first timestamp. An ACK with the same timestamp
    // is not newer, so its count is ignored.
    let mut begun = agreed(false);
    begun.on_third_ack(&stamped(2, 100));
    assert_eq!(begun.on_ack(&stamped(6, 100), &stale), 0);
}

#[test]
fn the_average_of_packets_moves_by_a_sixty_fourth() {
    let mut accurate = agreed(false);
    for (packets, average) in [(1, 64), (9, 72), (0, 72), (72, 142)] {
        accurate.on_ack(&reporting(5), &delivery(packets));
        assert_eq!(accurate.average, average);
    }
    // The rule for large ACKs applies if the average exceeds seven packets (448 / 64), and not at
    // or below seven.
    let mut at = agreed(false);
    at.average = 447;
    assert_eq!(at.on_ack(&reporting(5), &delivery(8)), 8);
    assert_eq!(at.average, 448);
    let mut above = agreed(false);
    above.average = 448;
    assert_eq!(above.on_ack(&reporting(5), &delivery(8)), 0);
}

#[test]
fn bytes_decide_how_often_the_three_bits_wrapped() {
    for (number, packets, marked_bytes, marks) in [
        // If no bytes are marked, no packet is marked.
        (5, 15, 0, 0),
        // Below sixteen packets the counter may have wrapped once. It did if the marked bytes
        // exceed those of the smallest possible count.
        (6, 15, 1_000, 1),
        (6, 15, 1_001, 9),
        (7, 15, 2_000, 2),
        (7, 15, 2_001, 10),
        // From sixteen packets on, the share of marked bytes decides how often the counter wrapped.
        (5, 16, 8_000, 8),
        (5, 16, 9_500, 8),
        (5, 16, 7_000, 0),
        (5, 16, 16_000, 16),
        (6, 16, 8_000, 9),
        (6, 16, 16_000, 9),
        // Seven packets cannot wrap the counter, so it is exact.
        (6, 7, 7_000, 1),
    ] {
        let mut accurate = agreed(true);
        let ack = counted(number, marked_bytes);
        let reported = accurate.on_ack(&ack, &delivery(packets));
        assert_eq!(reported, marks, "{number} {packets} {marked_bytes}");
        assert_eq!(accurate.delivered().bytes[1], marked_bytes);
    }
}

#[test]
fn byte_counters_go_forward_and_wrap_at_three_bytes() {
    let mut accurate = agreed(true);
    let ack = |bytes: u32| counted(5, bytes & 0xff_ffff);
    for (counter, known) in [
        (0x7f_ffff, 0x7f_ffff),
        (0x7f_fffe, 0x7f_ffff),
        (0xff_ffff, 0x7f_ffff),
        (0xff_fffe, 0xff_fffe),
        (0x00_0003, 0x100_0003),
    ] {
        accurate.on_ack(&ack(counter), &delivery(1));
        assert_eq!(accurate.delivered().bytes[1], known, "{counter:x}");
    }
}

#[test]
fn a_reset_says_nothing_and_a_connection_that_is_over_no_counts() {
    let mut accurate = agreed(true);
    let mut reset = Segment {
        flags: Flags::RST | Flags::ACK | flags(7),
        ..Segment::default()
    };
    let mut field = Ecn::NotEct;
    accurate.stamp(&mut reset, &mut field, false);
    assert_eq!((field, ace(&reset)), (Ecn::NotEct, 7));
    let mut last = reporting(7);
    accurate.stamp(&mut last, &mut field, true);
    assert_eq!((field, ace(&last)), (Ecn::Ect0, 0));
    assert!(!last.accurate.is_present());
    let mut off = fresh(true);
    assert_eq!(stamped(&mut off), (Ecn::NotEct, 0));
    let mut marked = Ecn::Ect1;
    accurate.stamp(&mut reporting(0), &mut marked, false);
    assert_eq!(marked, Ecn::Ect1);
}

#[test]
fn segments_that_are_no_part_of_the_handshake_do_not_count_in_it() {
    let data = Segment {
        len: 100,
        ..reporting(5)
    };
    for state in [S::Closed, S::Listen, S::SynSent] {
        let mut accurate = fresh(true);
        process_segment(&mut accurate, state, &data, Ecn::Ce);
        assert_eq!(accurate.received(), AccurateCounters::default());
        accurate.agree();
        assert_eq!(stamped(&mut accurate), (Ecn::Ect0, 5), "{state:?}");
    }
    let mut answering = fresh(true);
    answering.agree();
    let bare = Segment::default();
    process_segment(&mut answering, S::SynReceived, &bare, Ecn::NotEct);
    assert_eq!(stamped(&mut answering).0, Ecn::Ect0);
}
