//! Tests of the times at which acknowledgments are sent.

use super::*;

#[test]
fn the_quick_budget_is_half_the_window_in_segments_up_to_sixteen() {
    // Reference vector DACK-1 of delayed ACKs.
    let mut policy = AckPolicy::new(&TcpConfig::linux());
    policy.grant_quick_acks(65_535, 1448, MAX_QUICK_ACKS);
    assert_eq!(policy.quick, 16);
    policy.quick = 0;
    policy.grant_quick_acks(20_000, 1448, MAX_QUICK_ACKS);
    assert_eq!(policy.quick, 6);
}

#[test]
fn a_single_segment_waits_for_the_timer() {
    let config = TcpConfig::linux().changed(|tcp| {
        tcp.acks.rule = AckRule::EverySecond;
        tcp.timers.wheel = false;
    });
    let mut policy = AckPolicy::new(&config);
    policy.on_data(Time::ZERO, Span::from_secs(1), 65_535, 1448);
    let one = Unacknowledged {
        next: 1449,
        is_full: false,
        has_sack: true,
        rtt: Span::ZERO,
        srtt: Span::ZERO,
    };
    assert!(!policy.decide(Time::ZERO, Urgency::Normal, &one));
    assert_eq!(policy.wake_at(), Time::ZERO + Span::from_millis(40));
    let two = Unacknowledged {
        next: 2897,
        is_full: true,
        ..one
    };
    assert!(policy.decide(Time::ZERO, Urgency::Normal, &two));
    policy.on_ack_sent();
    assert!(policy.wake_at().is_never());
}

#[test]
fn what_fills_a_gap_waits_only_where_gaps_are_nothing_special() {
    for (rule, expected) in [
        (AckRule::EverySecond, Urgency::Now),
        (AckRule::Linux, Urgency::Now),
        (AckRule::EverySecondInGaps, Urgency::Normal),
    ] {
        let policy = AckPolicy::new(&TcpConfig::linux().changed(|tcp| tcp.acks.rule = rule));
        assert_eq!(policy.urgency_in_gaps(Urgency::Now), expected);
    }
}

fn time_at_ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn ms(millis: u64) -> u64 {
    Span::from_millis(millis).as_nanos()
}

/// Returns Linux's policy with an exact clock. A tick is a nanosecond, and the smallest delay is 40
/// ms.
fn linux() -> AckPolicy {
    AckPolicy::new(&TcpConfig::linux().changed(|tcp| {
        tcp.timers.wheel = false;
        tcp.acks.sack_compression = true;
    }))
}

/// Returns a policy with an adaptive delay of `adaptive` ms. Earlier data has used up all quick
/// ACKs.
fn adapted(adaptive: u64) -> AckPolicy {
    let mut policy = linux();
    data(&mut policy, 0, 1_000);
    policy.adaptive = ms(adaptive);
    policy.quick = 0;
    policy
}

fn data(policy: &mut AckPolicy, millis: u64, rto: u64) {
    policy.on_data(time_at_ms(millis), Span::from_millis(rto), 65_535, 1448);
}

/// Returns the receiver's state after a segment that is not full.
fn unacknowledged(next: u64, srtt: u64) -> Unacknowledged {
    Unacknowledged {
        next,
        is_full: false,
        has_sack: true,
        rtt: Span::from_millis(10),
        srtt: Span::from_millis(srtt),
    }
}

fn later(policy: &mut AckPolicy, millis: u64, srtt: u64) -> bool {
    policy.decide(
        time_at_ms(millis),
        Urgency::Normal,
        &unacknowledged(1, srtt),
    )
}

#[test]
fn the_first_data_is_acknowledged_quickly_and_sets_the_delay() {
    let mut policy = linux();
    assert!(!policy.is_quick());
    data(&mut policy, 0, 1_000);
    assert_eq!((policy.adaptive, policy.quick), (ms(40), 16));
    assert!(policy.is_quick() && later(&mut policy, 0, 0));
    policy.forgo_quick_acks();
    assert!(!policy.is_quick() && !later(&mut policy, 0, 0));
}

#[test]
fn the_delay_follows_the_spacing_of_data() {
    for (adaptive, gap, rto, then) in [
        (100, 20, 1_000, 70),
        (100, 21, 1_000, 71),
        (100, 99, 1_000, 149),
        (100, 99, 120, 120),
        (300, 150, 1_000, 200),
        (100, 100, 1_000, 100),
        (100, 500, 1_000, 100),
    ] {
        let mut policy = adapted(adaptive);
        data(&mut policy, gap, rto);
        assert_eq!(policy.adaptive, ms(then), "{gap} ms after {adaptive}");
        assert!(!policy.is_quick());
    }
}

#[test]
fn a_sender_that_pauses_for_a_timeout_gets_quick_acks_again() {
    for (gap, is_quick) in [(300, false), (301, true)] {
        let mut policy = adapted(40);
        data(&mut policy, gap, 300);
        assert_eq!(policy.is_quick(), is_quick, "{gap}");
    }
}

#[test]
fn a_reply_within_the_delay_makes_a_connection_interactive() {
    let mut fresh = linux();
    fresh.on_data_sent(time_at_ms(0));
    assert!(!fresh.is_interactive(), "nothing came");
    for (after, is_interactive) in [(39, true), (40, false)] {
        let mut policy = adapted(40);
        policy.quick = 5;
        policy.on_data_sent(time_at_ms(after));
        assert_eq!(policy.is_interactive(), is_interactive);
        assert_eq!(later(&mut policy, after, 0), !is_interactive, "{after}");
    }
    let mut expecting = adapted(40);
    expecting.quick = 5;
    expecting.expect_reply();
    assert!(!later(&mut expecting, 1, 0));
}

#[test]
fn the_application_may_ask_for_quick_acks_or_none() {
    let mut policy = adapted(100);
    policy.set_quick(true, 65_535, 1448);
    assert!(later(&mut policy, 0, 0));
    assert_eq!(policy.adaptive, ms(40));
    policy.set_quick(false, 65_535, 1448);
    assert!(policy.is_interactive() && !policy.is_quick());
    assert!(!later(&mut policy, 0, 0));
    policy.enter_quick_mode(65_535, 1448, MAX_QUICK_ACKS);
    assert!(!policy.is_interactive() && policy.is_quick());
    let mut plain =
        AckPolicy::new(&TcpConfig::linux().changed(|tcp| tcp.acks.rule = AckRule::EverySecond));
    plain.enter_quick_mode(65_535, 1448, MAX_QUICK_ACKS);
    plain.on_window_growth();
    assert!(!plain.is_quick());
    let mut grown = adapted(40);
    grown.on_window_growth();
    assert!(grown.is_quick());
}

#[test]
fn the_delay_is_bounded_by_the_round_trip_and_the_timeouts() {
    for (adaptive, srtt, delay) in [
        (100, 0, 100),
        (100, 60, 60),
        (100, 10, 40),
        (40, 10, 40),
        (30, 10, 30),
    ] {
        let mut policy = adapted(adaptive);
        assert!(!later(&mut policy, 0, srtt));
        assert_eq!(policy.wake_at(), time_at_ms(delay), "{adaptive} {srtt}");
    }
    let mut long = adapted(250);
    long.before_timeout = ms(1_000);
    later(&mut long, 0, 0);
    assert_eq!(long.wake_at(), time_at_ms(200));
    let mut short = adapted(100);
    short.before_timeout = ms(30);
    later(&mut short, 0, 0);
    assert_eq!(short.wake_at(), time_at_ms(30));
}

#[test]
fn a_timer_keeps_its_time_and_one_about_to_fire_is_not_waited_for() {
    let mut policy = adapted(100);
    assert!(!later(&mut policy, 0, 0));
    assert!(!later(&mut policy, 74, 0));
    assert_eq!(policy.wake_at(), time_at_ms(100));
    assert!(later(&mut policy, 75, 0), "a quarter of the delay is left");
}

#[test]
fn quick_acks_are_used_up_by_acks_of_data() {
    let mut policy = adapted(100);
    policy.quick = 2;
    policy.on_ack_sent();
    assert_eq!(policy.quick, 2, "it acknowledged no data");
    assert!(!policy.is_pending());
    policy.schedule();
    assert!(policy.is_pending());
    policy.on_ack_sent();
    assert_eq!((policy.quick, policy.adaptive), (1, ms(100)));
    assert!(!policy.is_pending());
    policy.schedule();
    policy.on_ack_sent();
    assert_eq!((policy.quick, policy.adaptive), (0, ms(40)));
}

#[test]
fn a_delay_that_was_too_short_is_doubled_and_a_missing_reply_is_not_awaited_again() {
    for (adaptive, rto, then) in [(40, 1_000, 80), (40, 60, 60), (150, 1_000, 200)] {
        let mut policy = adapted(adaptive);
        later(&mut policy, 0, 0);
        let expires = policy.wake_at();
        let rto = Span::from_millis(rto);
        assert!(!policy.on_wake(Time::ZERO, rto));
        assert!(policy.on_wake(expires, rto));
        assert_eq!(policy.adaptive, ms(then));
    }
    let mut waiting = adapted(100);
    waiting.expect_reply();
    later(&mut waiting, 0, 0);
    assert!(waiting.on_wake(time_at_ms(100), Span::from_secs(1)));
    assert!(!waiting.is_interactive());
    assert_eq!(waiting.adaptive, ms(40));
}

/// Returns true if the ACK of an out-of-order segment is held back.
fn is_thinned(policy: &mut AckPolicy, next: u64, rtt: u64) -> bool {
    let cx = Unacknowledged {
        rtt: Span::from_millis(rtt),
        ..unacknowledged(next, 0)
    };
    !policy.decide(time_at_ms(0), Urgency::OutOfOrder, &cx)
}

#[test]
fn acks_of_data_out_of_order_are_thinned_after_three() {
    let mut policy = adapted(40);
    let first = [(); 5].map(|()| is_thinned(&mut policy, 7, 10));
    assert_eq!(first, [false, false, false, true, true]);
    assert!(policy.holds_compressed());
    let soon = Time::ZERO + Span::from_micros(500) + COMPRESSION_SLACK;
    assert_eq!(policy.wake_at(), soon, "a twentieth of the round trip");
    assert!(!policy.on_wake(time_at_ms(0), Span::from_secs(1)));
    assert!(policy.on_wake(soon, Span::from_secs(1)));
    // A thinned ACK has the timestamp of the last ACK held back. An ACK that is sent before its
    // timer expires has the present time.
    let before = Time::ZERO + Span::from_micros(500);
    assert_eq!(
        [soon, before].map(|at| policy.stamped_at(at)),
        [time_at_ms(0), before]
    );
    policy.on_ack_sent();
    assert_eq!(policy.stamped_at(soon), soon);
    assert!(!policy.holds_compressed() && policy.wake_at().is_never());
    assert!(is_thinned(&mut policy, 7, 100), "the same gap");
    let latest = time_at_ms(1) + COMPRESSION_SLACK;
    assert_eq!(policy.wake_at(), latest, "and no longer than this");
    policy.on_ack_sent();
    let next = [(); 4].map(|()| is_thinned(&mut policy, 8, 10));
    assert_eq!(next, [false, false, false, true], "another gap");
}

#[test]
fn the_timer_of_an_ack_that_has_left_lets_thinned_ones_leave_when_it_runs_out() {
    let mut policy = adapted(40);
    let out_of_order = |policy: &mut AckPolicy, micros| {
        let cx = Unacknowledged {
            rtt: Span::from_millis(100),
            ..unacknowledged(7, 0)
        };
        let now = Time::ZERO + Span::from_micros(micros);
        policy.decide(now, Urgency::OutOfOrder, &cx)
    };
    assert!(!later(&mut policy, 0, 0), "it is set");
    policy.on_ack_sent();
    assert!(policy.wake_at().is_never(), "it has nothing to say");
    for _ in 0..3 {
        assert!(out_of_order(&mut policy, 39_500));
    }
    assert!(!out_of_order(&mut policy, 39_500));
    assert_eq!(
        policy.wake_at(),
        time_at_ms(40),
        "before a millisecond has passed"
    );
    assert!(policy.on_wake(time_at_ms(40), Span::from_secs(1)));
    assert_eq!(policy.adaptive, ms(40), "no delay was too short");
    policy.on_ack_sent();
    assert!(!out_of_order(&mut policy, 40_500));
    let own = Time::ZERO + Span::from_micros(41_500) + COMPRESSION_SLACK;
    assert_eq!(policy.wake_at(), own, "it has run out");
}

#[test]
fn one_thinned_ack_stands_for_forty_four_at_most() {
    let mut policy = adapted(40);
    let thinned = (0..48)
        .map(|_| is_thinned(&mut policy, 7, 10))
        .collect::<Vec<_>>();
    assert_eq!(thinned.iter().filter(|is_thinned| **is_thinned).count(), 44);
    assert!(!thinned[47]);
}

#[test]
fn nothing_is_thinned_without_sack_or_where_it_is_off() {
    let mut policy = adapted(40);
    let cx = Unacknowledged {
        has_sack: false,
        ..unacknowledged(7, 0)
    };
    for _ in 0..6 {
        assert!(policy.decide(time_at_ms(0), Urgency::OutOfOrder, &cx));
    }
    let mut off = adapted(40);
    off.compresses = false;
    for _ in 0..6 {
        assert!(!is_thinned(&mut off, 7, 10));
    }
    assert!(!off.holds_compressed());
}

#[test]
fn data_that_leaves_soon_after_data_came_makes_a_connection_interactive() {
    let config = |ack_rule| {
        TcpConfig::linux().changed(|tcp| {
            tcp.acks.rule = ack_rule;
            tcp.timers.wheel = false;
        })
    };
    for (rule, millis, is_interactive) in [
        (AckRule::Linux, 39, true),
        (AckRule::Linux, 40, false),
        (AckRule::Linux, 100, false),
        (AckRule::EverySecond, 1, false),
    ] {
        let mut policy = AckPolicy::new(&config(rule));
        policy.on_data_sent(time_at_ms(0));
        assert!(!policy.is_interactive(), "nothing came");
        policy.on_data(time_at_ms(0), Span::from_secs(1), 65_535, 1448);
        policy.on_data_sent(time_at_ms(millis));
        assert_eq!(policy.is_interactive(), is_interactive, "{rule:?} {millis}");
    }
}

#[test]
fn more_than_a_segment_and_what_is_urgent_are_acknowledged_without_a_budget_too() {
    let mut policy = AckPolicy::new(&TcpConfig::linux());
    let mut decides = |urgency, is_full| {
        let cx = Unacknowledged {
            next: 1449,
            is_full,
            has_sack: true,
            rtt: Span::ZERO,
            srtt: Span::ZERO,
        };
        policy.on_ack_sent();
        policy.decide(Time::ZERO, urgency, &cx)
    };
    assert!(decides(Urgency::Normal, true));
    assert!(decides(Urgency::Now, false));
    assert!(!decides(Urgency::Normal, false));
}

#[test]
fn data_close_behind_data_leaves_the_least_delay() {
    // Linux `tcp_event_data_recv`: for gaps of up to half of the smallest delay, 20 ms, the delay
    // moves halfway to its minimum.
    for gap in [1, 15, 20] {
        let mut policy =
            AckPolicy::new(&TcpConfig::linux().changed(|tcp| tcp.timers.wheel = false));
        policy.on_data(time_at_ms(0), Span::from_secs(1), 65_535, 1448);
        policy.on_data(time_at_ms(gap), Span::from_secs(1), 65_535, 1448);
        let adaptive = Span::from_nanos(policy.adaptive);
        assert_eq!(adaptive, Span::from_millis(40), "{gap}");
    }
}
