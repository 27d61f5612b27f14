//! Tests of the handshake without an endpoint.

use super::*;
use crate::tcp::config::AccurateEcn;
use fadeout_core::Ecn;

fn time_at_ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Returns the Linux profile with exact timers.
fn config() -> TcpConfig {
    TcpConfig::linux().changed(|tcp| tcp.timers.wheel = false)
}

fn contents() -> SynContents {
    SynContents {
        next: 1,
        window: 64_000,
        window_scale: 7,
        unsent: 0,
        needed_ecn: EcnFeedback::None,
    }
}

/// Returns a SYN or SYN-ACK with all options.
fn syn(flags: Flags) -> Segment {
    Segment {
        flags: Flags::SYN | flags,
        ack: u64::from(flags.has(Flags::ACK)),
        mss: 1460,
        window: 30_000,
        window_scale: Some(3),
        sack_permitted: true,
        has_timestamps: true,
        ..Segment::default()
    }
}

/// Returns the times of `count` SYNs, ms.
fn times(opening: &mut Opening, count: usize) -> Vec<u64> {
    let mut now = time_at_ms(0);
    let mut times = Vec::new();
    for _ in 0..count {
        times.push(now.as_millis());
        opening.syn(now, &contents(), None);
        now = opening.wake_at();
    }
    times
}

#[test]
fn a_syn_goes_again_linearly_at_first_then_after_twice_the_time() {
    let linear = config().changed(|tcp| {
        tcp.timers.linear_syn_timeouts = 2;
        tcp.timers.initial_rto = Span::from_secs(1);
    });
    let expected = [0, 1_000, 2_000, 3_000, 5_000, 9_000];
    assert_eq!(
        times(&mut Opening::new(&Arc::new(linear.clone())), 6),
        expected
    );
    let mut limited = Opening::new(&Arc::new(linear.clone()));
    limited.limit_syns(3);
    assert_eq!(times(&mut limited, 4), [0, 1_000, 3_000, 7_000]);
}

#[test]
fn a_syn_ack_backs_off_from_the_first_and_never_beyond_the_longest_timeout() {
    let capped = config().changed(|tcp| {
        tcp.timers.linear_syn_timeouts = 4;
        tcp.timers.initial_rto = Span::from_secs(1);
        tcp.timers.maximum_rto = Span::from_secs(3);
    });
    let mut opening = Opening::new(&Arc::new(capped.clone()));
    opening.on_call(&syn(Flags::default()));
    assert_eq!(times(&mut opening, 5), [0, 1_000, 3_000, 6_000, 9_000]);
}

#[test]
fn syns_and_syn_acks_have_their_own_limits() {
    let limited = config().changed(|tcp| {
        tcp.timers.maximum_syns = 2;
        tcp.timers.linear_syn_timeouts = 1;
        tcp.timers.maximum_syn_acks = 2;
    });
    let mut opens = Opening::new(&Arc::new(limited.clone()));
    assert!(!opens.has_begun());
    times(&mut opens, 2);
    assert!(opens.has_begun() && opens.may_repeat());
    times(&mut opens, 1);
    assert!(!opens.may_repeat());
    assert_eq!(opens.syns(), 3);
    let mut answers = Opening::new(&Arc::new(limited.clone()));
    answers.on_call(&syn(Flags::default()));
    times(&mut answers, 1);
    assert!(answers.may_repeat());
    times(&mut answers, 1);
    assert!(!answers.may_repeat());
    answers.end();
    assert!(answers.wake_at().is_never());
}

#[test]
fn a_syn_offers_all_and_its_answer_what_both_can() {
    let mut opens = Opening::new(&Arc::new(config()));
    let first = opens.syn(time_at_ms(5), &contents(), None);
    assert_eq!((first.seq, first.ack, first.len), (0, 0, 0));
    assert_eq!(first.flags, Flags::SYN);
    assert_eq!((first.mss, first.window), (1460, 64_000));
    assert_eq!(first.window_scale, Some(7));
    assert!(first.sack_permitted && first.has_timestamps);
    assert_eq!(first.ts_value, 5);

    let mut answers = Opening::new(&Arc::new(config()));
    let bare = Segment {
        window_scale: None,
        sack_permitted: false,
        ..syn(Flags::default())
    };
    let terms = answers.on_call(&bare);
    assert!(!terms.window_scaling && terms.timestamps);
    assert_eq!(terms.answer_mss, Some(1448));
    let answer = answers.syn(time_at_ms(0), &contents(), None);
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
    assert_eq!(answer.ack, 1);
    assert_eq!(answer.window_scale, None);
    assert!(!answer.sack_permitted && answer.has_timestamps);

    let mut plain = Opening::new(&Arc::new(config()));
    let without = Segment {
        has_timestamps: false,
        ..syn(Flags::default())
    };
    let terms = plain.on_call(&without);
    assert_eq!((terms.timestamps, terms.answer_mss), (false, Some(1460)));
    assert!(!plain.syn(time_at_ms(0), &contents(), None).has_timestamps);
}

#[test]
fn what_this_end_lacks_is_neither_offered_nor_agreed_on() {
    let poor = config().changed(|tcp| {
        tcp.timestamps = false;
        tcp.buffers.window_scaling = false;
        tcp.recovery.method = crate::tcp::LossRecovery::NewReno;
    });
    let mut opening = Opening::new(&Arc::new(poor.clone()));
    let sent = opening.syn(time_at_ms(0), &contents(), None);
    assert!(!sent.has_timestamps && !sent.sack_permitted);
    assert_eq!(sent.window_scale, None);
    let terms = opening.on_syn(&syn(Flags::ACK));
    assert!(!terms.timestamps && !terms.window_scaling);
    assert_eq!(terms.answer_mss, None);
    let agreed = opening.agreed(&syn(Flags::ACK), EcnFeedback::None, 0, (None, false));
    assert!(!agreed.timestamps && !agreed.sack);
    assert_eq!(agreed.mss, 1460);
}

#[test]
fn segments_leave_room_for_the_options_of_both() {
    let mut opening = Opening::new(&Arc::new(config()));
    opening.on_syn(&Segment {
        mss: 1_000,
        ..syn(Flags::ACK)
    });
    let answer = syn(Flags::ACK);
    let rtt = (Some(Span::from_millis(3)), true);
    let agreed = opening.agreed(&answer, EcnFeedback::Classic, 0, rtt);
    assert_eq!(agreed.mss, 1_000 - 12);
    assert!(agreed.sack && agreed.timestamps && agreed.starts_from_one);
    assert_eq!(
        (agreed.ecn, agreed.peer_window),
        (EcnFeedback::Classic, 30_000)
    );
    assert_eq!(agreed.handshake_rtt, Some(Span::from_millis(3)));
    let with_option = opening.agreed(&answer, EcnFeedback::Accurate, 12, rtt);
    assert_eq!(with_option.mss, 1_000 - 24);
    let mut multipath = Opening::new(&Arc::new(TcpConfig {
        multipath: true,
        ..config()
    }));
    multipath.on_syn(&answer);
    let agreed = multipath.agreed(&answer, EcnFeedback::None, 0, rtt);
    assert_eq!(agreed.mss, 1460 - 12 - MptcpOption::MAPPING_LEN);
}

#[test]
fn ecn_is_what_both_ends_can_do() {
    let (ae, cwr, ece) = (Flags::AE, Flags::CWR, Flags::ECE);
    for (mode, needed, flags) in [
        (EcnMode::Off, EcnFeedback::Dctcp, Flags::default()),
        (EcnMode::Automatic, EcnFeedback::None, Flags::default()),
        (EcnMode::Automatic, EcnFeedback::Dctcp, ece | cwr),
        (EcnMode::Classic, EcnFeedback::None, ece | cwr),
        (EcnMode::Dctcp, EcnFeedback::None, ece | cwr),
        (EcnMode::Accurate, EcnFeedback::None, ae | ece | cwr),
    ] {
        let mut opening = Opening::new(&Arc::new(config().changed(|tcp| tcp.acks.ecn = mode)));
        let contents = SynContents {
            needed_ecn: needed,
            ..contents()
        };
        let sent = opening.syn(time_at_ms(0), &contents, None);
        assert_eq!(sent.flags, Flags::SYN | flags, "{mode:?}");
        // The peer requests classic ECN, so the SYN-ACK agrees with ECE.
        let mut answers = Opening::new(&Arc::new(config().changed(|tcp| tcp.acks.ecn = mode)));
        answers.on_call(&syn(ece | cwr));
        let common = answers.common_ecn(needed);
        let expected = match mode {
            EcnMode::Off => EcnFeedback::None,
            EcnMode::Automatic => needed,
            EcnMode::Dctcp => EcnFeedback::Dctcp,
            EcnMode::Classic | EcnMode::Accurate => EcnFeedback::Classic,
        };
        assert_eq!(common, expected, "{mode:?}");
        let echo = if expected == EcnFeedback::None {
            Flags::default()
        } else {
            ece
        };
        let answer = answers.syn(time_at_ms(0), &contents, None);
        assert_eq!(answer.flags, Flags::SYN | Flags::ACK | echo, "{mode:?}");
        // The peer does not request ECN, so the SYN-ACK has no ECN flag.
        answers.on_call(&syn(Flags::default()));
        assert_eq!(answers.common_ecn(needed), EcnFeedback::None);
    }
    let mut accurate = Opening::new(&Arc::new(
        config().changed(|tcp| tcp.acks.ecn = EcnMode::Accurate),
    ));
    accurate.on_call(&syn(ae | ece | cwr));
    assert_eq!(
        accurate.common_ecn(EcnFeedback::None),
        EcnFeedback::Accurate
    );
    let answer = accurate.syn(time_at_ms(0), &contents(), None);
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK | cwr);
}

#[test]
fn accurate_ecn_on_the_wire_writes_its_own_flags_and_an_option_into_the_answer() {
    let rules = AccurateEcn {
        sends_option: true,
        validates: true,
    };
    let wire = config().changed(|tcp| {
        tcp.acks.ecn = EcnMode::Accurate;
        tcp.acks.accurate_ecn = Some(rules);
    });
    let all = Flags::AE | Flags::CWR | Flags::ECE;
    let mut accurate = Accurate::new(rules);
    let mut opening = Opening::new(&Arc::new(wire.clone()));
    let first = opening.syn(time_at_ms(0), &contents(), Some(&accurate));
    assert_eq!(first.flags, Flags::SYN | all);
    assert!(!first.accurate.is_present());
    let mut answers = Opening::new(&Arc::new(wire.clone()));
    let call = syn(all);
    let state = crate::tcp::ConnectionState::Listen;
    accurate.decode(state, &call, Ecn::Ce, 0, || unreachable!("it is no ACK"));
    answers.on_call(&call);
    let answer = answers.syn(time_at_ms(0), &contents(), Some(&accurate));
    // The SYN arrived with a congestion mark, which the SYN-ACK reports with AE and CWR.
    let reflected = Flags::AE | Flags::CWR;
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK | reflected);
    assert!(answer.accurate.is_present());
    // A peer without accurate ECN gets neither the flags nor the option.
    answers.on_call(&syn(Flags::ECE | Flags::CWR));
    let classic = answers.syn(time_at_ms(0), &contents(), Some(&accurate));
    assert_eq!(classic.flags, Flags::SYN | Flags::ACK | Flags::ECE);
    assert!(!classic.accurate.is_present());
}

#[test]
fn only_an_acknowledgment_of_the_syn_answers_it() {
    let mut opening = Opening::new(&Arc::new(config()));
    opening.syn(time_at_ms(0), &contents(), None);
    let (ack, rst) = (Flags::ACK, Flags::RST);
    let answer = |opening: &mut Opening, flags, number| {
        let segment = Segment {
            ack: number,
            flags,
            ..Segment::default()
        };
        opening.on_answer(time_at_ms(10), &segment, 1)
    };
    let opening = &mut opening;
    assert_eq!(answer(opening, Flags::SYN, 0), Answer::CrossedSyn);
    assert_eq!(answer(opening, Flags::SYN | rst, 0), Answer::Nothing);
    assert_eq!(answer(opening, Flags::default(), 1), Answer::Nothing);
    assert_eq!(answer(opening, ack, 1), Answer::Nothing);
    assert_eq!(answer(opening, ack | rst, 1), Answer::Reset);
    assert_eq!(answer(opening, ack | Flags::SYN, 1), Answer::Accepted);
}

#[test]
fn an_answer_to_something_else_is_reset_and_the_syn_goes_again_soon() {
    let ticking = config().changed(|tcp| tcp.timers.tick = Span::from_millis(4));
    for number in [0, 2] {
        let mut opening = Opening::new(&Arc::new(ticking.clone()));
        opening.syn(time_at_ms(0), &contents(), None);
        let other = Segment {
            ack: number,
            ..syn(Flags::ACK)
        };
        let Answer::Refused(Some(reset)) = opening.on_answer(time_at_ms(10), &other, 1) else {
            panic!("{number} is refused");
        };
        assert_eq!((reset.flags, reset.seq), (Flags::RST, number));
        assert_eq!(opening.wake_at(), time_at_ms(18));
        // The SYN is not repeated a second time, and a reset is never answered.
        opening.syn(time_at_ms(18), &contents(), None);
        let then = opening.wake_at();
        let reset = Segment {
            flags: Flags::RST | Flags::ACK,
            ..other
        };
        assert_eq!(
            opening.on_answer(time_at_ms(20), &reset, 1),
            Answer::Refused(None)
        );
        assert_eq!(opening.wake_at(), then);
    }
}

#[test]
fn an_echo_of_a_timestamp_that_was_never_sent_is_refused() {
    for (echo, is_refused) in [
        (0, false),
        (100, false),
        (130, false),
        (99, true),
        (131, true),
    ] {
        let mut opening = Opening::new(&Arc::new(config()));
        opening.syn(time_at_ms(100), &contents(), None);
        let then = opening.wake_at();
        let answer = Segment {
            ts_echo: echo,
            ..syn(Flags::ACK)
        };
        let taken = opening.on_answer(time_at_ms(130), &answer, 1);
        assert_eq!(
            matches!(taken, Answer::Refused(Some(_))),
            is_refused,
            "{echo}"
        );
        assert_eq!(opening.wake_at(), then, "its number was right");
    }
    let mut without = Opening::new(&Arc::new(TcpConfig {
        timestamps: false,
        ..config()
    }));
    without.syn(time_at_ms(100), &contents(), None);
    let answer = Segment {
        ts_echo: 99,
        ..syn(Flags::ACK)
    };
    assert_eq!(
        without.on_answer(time_at_ms(130), &answer, 1),
        Answer::Accepted
    );
}

#[test]
fn the_round_trip_is_told_by_the_first_syn_or_by_an_echo() {
    let echo = |millis| Segment {
        ts_echo: millis,
        ..syn(Flags::ACK)
    };
    let bare = Segment {
        has_timestamps: false,
        ..syn(Flags::ACK)
    };
    let mut opening = Opening::new(&Arc::new(config()));
    opening.syn(time_at_ms(100), &contents(), None);
    opening.on_syn(&echo(100));
    let now = time_at_ms(140);
    let rtt = |opening: &Opening, segment: &Segment| opening.round_trip(now, segment).0;
    assert_eq!(rtt(&opening, &echo(120)), Some(Span::from_millis(40)));
    opening.syn(time_at_ms(120), &contents(), None);
    assert_eq!(rtt(&opening, &echo(120)), Some(Span::from_millis(20)));
    assert_eq!(rtt(&opening, &echo(140)), Some(Span::from_millis(1)));
    assert_eq!(rtt(&opening, &bare), None);
    opening.config_mut().timestamps = false;
    assert_eq!(rtt(&opening, &echo(120)), None, "they were not agreed on");
}

#[test]
fn lost_syns_make_the_window_begin_with_one_segment_unless_they_are_forgiven() {
    let after = |forgiven, syns: u32, is_passive: bool, echo: u32| {
        let mut opening = Opening::new(&Arc::new(
            config().changed(|tcp| tcp.timers.forgiven_syns = forgiven),
        ));
        let peer = syn(if is_passive {
            Flags::default()
        } else {
            Flags::ACK
        });
        if is_passive {
            opening.on_call(&peer);
        }
        for number in 0..syns {
            opening.syn(time_at_ms(1_000 * u64::from(number + 1)), &contents(), None);
        }
        if !is_passive {
            opening.on_syn(&peer);
        }
        let answer = Segment {
            ts_echo: echo,
            ..peer
        };
        opening.round_trip(time_at_ms(4_050), &answer).1
    };
    assert!(!after(0, 1, false, 1_000));
    assert!(after(0, 2, false, 2_000), "RFC 5681 forgives none");
    assert!(after(0, 2, true, 2_000));
    assert!(!after(1, 2, false, 2_000), "Linux forgives one");
    assert!(after(1, 3, false, 3_000));
    assert!(!after(1, 3, true, 3_000), "and any number of SYN-ACKs");
    assert!(!after(1, 3, false, 1_000), "the first was answered, late");
}

#[test]
fn data_rides_on_the_first_syn_alone_and_counts_as_sent() {
    let mut opening = Opening::new(&Arc::new(config()));
    opening.open_fast(500);
    assert!(opening.is_early() && !opening.has_agreed_early());
    let much = SynContents {
        unsent: 900,
        ..contents()
    };
    assert_eq!(opening.syn(time_at_ms(0), &much, None).len, 500);
    assert_eq!(opening.most_acknowledged(1), 501);
    assert_eq!(opening.most_acknowledged(700), 700);
    assert_eq!(opening.syn(time_at_ms(1_000), &much, None).len, 0);
    assert_eq!(opening.most_acknowledged(1), 501);
    assert_eq!(opening.on_early_answer(1), (501, false));
    assert!(!opening.has_taken_early());
    assert_eq!(opening.on_early_answer(501), (501, true));
    assert!(opening.has_taken_early());
    let mut nothing = Opening::new(&Arc::new(config()));
    nothing.open_fast(500);
    assert_eq!(nothing.syn(time_at_ms(0), &contents(), None).len, 0);
    assert_eq!(nothing.on_early_answer(1), (1, true));
    assert!(!nothing.has_taken_early());
}

#[test]
fn data_on_the_peers_syn_is_taken_by_the_end_that_answers() {
    let mut answers = Opening::new(&Arc::new(config()));
    answers.open_fast(0);
    answers.on_call(&syn(Flags::default()));
    assert!(answers.has_agreed_early() && !answers.has_taken_early());
    answers.take_early();
    assert!(answers.has_taken_early());
    let mut opens = Opening::new(&Arc::new(config()));
    opens.open_fast(0);
    opens.syn(time_at_ms(0), &contents(), None);
    opens.on_syn(&syn(Flags::ACK));
    opens.take_early();
    assert!(!opens.has_taken_early());
}

#[test]
fn a_crossed_syn_is_answered_by_our_own_again() {
    let mut opening = Opening::new(&Arc::new(config()));
    opening.open_fast(500);
    let much = SynContents {
        unsent: 500,
        ..contents()
    };
    opening.syn(time_at_ms(0), &much, None);
    let then = opening.wake_at();
    // The peer's SYN has no options, although the endpoint's SYN had them.
    opening.on_syn(&Segment {
        flags: Flags::SYN,
        ..Segment::default()
    });
    let answer = opening.crossed_syn(time_at_ms(20), &much, None);
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
    assert_eq!((answer.ack, answer.len), (1, 0));
    assert_eq!(answer.window_scale, Some(7));
    assert!(answer.sack_permitted && answer.has_timestamps);
    assert_eq!((opening.syns(), opening.wake_at()), (1, then));
    assert!(opening.is_crossed() && !opening.is_early());
    let completes = |segment: Segment, next| opening.is_crossed_answer(&segment, 1, next);
    let right = Segment {
        ack: 501,
        ..syn(Flags::ACK)
    };
    assert!(completes(right, 1));
    assert!(!completes(right, 2));
    assert!(!completes(Segment { ack: 500, ..right }, 1));
    assert!(!completes(Segment { len: 1, ..right }, 1));
    let unasked = Segment {
        flags: Flags::SYN,
        ..right
    };
    assert!(!completes(unasked, 1));
    let mut alone = Opening::new(&Arc::new(config()));
    alone.on_call(&syn(Flags::default()));
    assert!(!alone.is_crossed_answer(&syn(Flags::ACK), 1, 1));
}

#[test]
fn the_first_syn_tells_when_the_handshake_began() {
    let mut opening = Opening::new(&Arc::new(config()));
    for millis in [7, 1_007] {
        opening.syn(time_at_ms(millis), &contents(), None);
        assert_eq!(opening.first_sent_at(), time_at_ms(7));
    }
}
