//! Tests of duplicate ACKs without SACK.

use super::*;
use crate::tcp::config::{LossRecovery, LossResponse, RecoverGuard};
use std::collections::{BTreeSet, VecDeque};

fn dups(b: &mut Bench, segments: u64, count: u32) {
    for _ in 0..count {
        b.ack(segments);
    }
}

#[test]
fn linux_counts_a_duplicate_as_a_delivery_while_that_can_be_one() {
    // `tcp_add_reno_sack` counts at most all segments except the missing one.
    let linux = linux().changed(|tcp| {
        tcp.recovery.method = LossRecovery::NewReno;
        tcp.recovery.limited_transmit = false;
    });
    for (config, delivered) in [(linux, [1, 1, 1]), (profile("newreno"), [0, 0, 0])] {
        let mut b = Bench::sent(&config, 2);
        let before = b.sender.rate.delivered;
        for delivered in delivered {
            b.ack(0);
            assert_eq!(b.sender.rate.delivered - before, delivered);
        }
        b.ack(2);
        assert_eq!(b.sender.rate.delivered - before, 2);
    }
}

#[test]
fn duplicates_of_what_was_out_at_a_timeout_begin_no_recovery() {
    // RFC 6582 section 3.2, step 2, and section 4: only duplicates above `recover` begin a
    // recovery.
    let bytes = 10 * FULL;
    for (acked, begins) in [(4 * FULL, false), (bytes, false), (bytes + FULL, true)] {
        let mut b = Bench::sent(&profile("newreno"), 10);
        b.wait(1000);
        assert_eq!(b.state(), RecoveryState::Loss);
        b.write(5);
        b.sender.window.cwnd = 20.0;
        let mut ack = b.bare(0);
        ack.ack = 1 + acked;
        b.arrive(ack);
        assert!(b.sender.snd_nxt > 1 + bytes);
        for _ in 0..3 {
            b.arrive(ack);
        }
        let has_begun = b.sender.statistics.recoveries == 1;
        assert_eq!(has_begun, begins, "up to {acked}");
    }
}

#[test]
fn a_mark_reduces_until_more_than_its_window_is_acknowledged() {
    let config = profile("newreno");
    let mut b = Bench::with_ecn(&config, EcnFeedback::Classic);
    b.write(30);
    b.wait(100);
    let mut echo = b.bare(1);
    echo.flags |= Flags::ECE;
    b.arrive(echo);
    assert_eq!((b.state(), b.cwnd()), (RecoveryState::Cwr, 5.0));
    b.ack(10);
    assert_eq!(b.state(), RecoveryState::Cwr);
    b.ack(11);
    assert_eq!(b.state(), RecoveryState::Open);
    // The state Recovery, unlike CWR, does not end with the first new ACK.
    dups(&mut b, 11, 3);
    assert_eq!(b.state(), RecoveryState::Recovery);
}

/// Returns the profile `name` with a loss response that waits for a round trip.
fn delayed(name: &str) -> TcpConfig {
    let mut config = profile(name);
    config.resilience.loss = LossResponse::Delayed;
    config
}

#[test]
fn a_delayed_response_waits_a_round_trip_while_duplicates_let_new_data_go() {
    // With TCP-DCR each duplicate ACK allows a new segment. Without it, limited transmit stops at
    // two segments.
    let patient = profile("newreno").changed(|tcp| tcp.recovery.duplicate_threshold = 5);
    let mut b = Bench::sent(&patient, 20);
    dups(&mut b, 0, 4);
    assert_eq!(b.numbers(), [11, 12]);
    let mut b = Bench::sent(&delayed("newreno"), 20);
    dups(&mut b, 0, 5);
    assert_eq!(b.numbers(), [11, 12, 13, 14, 15]);
    assert_eq!(b.state(), RecoveryState::Open);
    assert_eq!(b.timer(), Some((TimerKind::LossDelay, ms(100))));
    b.wait(100);
    assert_eq!(b.state(), RecoveryState::Recovery);
    assert_eq!(b.numbers()[0], 1);
}

#[test]
fn a_delayed_response_needs_three_duplicates_too() {
    let mut b = Bench::sent(&delayed("newreno"), 20);
    dups(&mut b, 0, 2);
    b.left();
    b.wait(100);
    assert_eq!((b.state(), b.numbers()), (RecoveryState::Open, vec![]));
    // The wait is over, so the next duplicate begins the recovery.
    b.ack(0);
    assert_eq!(b.state(), RecoveryState::Recovery);
    assert_eq!(b.numbers()[0], 1);
}

#[test]
fn a_hole_that_is_filled_in_time_is_no_loss() {
    let mut b = Bench::sent(&delayed("newreno"), 20);
    dups(&mut b, 0, 4);
    b.wait(50);
    b.ack(5);
    b.left();
    b.wait(60);
    assert_eq!((b.state(), b.numbers()), (RecoveryState::Open, vec![]));
    // The next hole waits for a round trip of its own.
    b.ack(5);
    let (kind, left) = b.timer().expect("a timer");
    assert_eq!(kind, TimerKind::LossDelay);
    assert!(left > ms(90), "{left:?}");
}

#[test]
fn a_delayed_response_leaves_data_alone_that_was_recovered_once() {
    // Reno: the first new ACK ends the recovery below `recover`.
    for (acked, begins) in [
        (4 * FULL, false),
        (15 * FULL, false),
        (15 * FULL + FULL, true),
    ] {
        let mut config = delayed("reno");
        config.recovery.recover_guard = RecoverGuard::Above;
        let mut b = Bench::sent(&config, 30);
        dups(&mut b, 0, 5);
        b.wait(100);
        assert_eq!(b.sender.statistics.recoveries, 1);
        assert_eq!(b.sender.high_seq, 1 + 15 * FULL);
        b.sender.window.cwnd = 20.0;
        let mut ack = b.bare(0);
        ack.ack = 1 + acked;
        b.arrive(ack);
        assert_eq!(b.state(), RecoveryState::Open);
        for _ in 0..4 {
            b.arrive(ack);
        }
        b.wait(150);
        let recoveries = b.sender.statistics.recoveries;
        assert_eq!(recoveries == 2, begins, "up to {acked}");
    }
}

#[test]
fn a_pure_duplicate_begins_no_wait_where_sack_would_say_what_is_missing() {
    let mut config = linux();
    config.resilience.loss = LossResponse::Delayed;
    let mut b = Bench::sent(&config, 20);
    b.sender.state = RecoveryState::Disorder;
    b.ack(0);
    assert_ne!(b.timer().map(|(kind, _)| kind), Some(TimerKind::LossDelay));
}

/// Returns the number of retransmissions in 3000 deliveries, and the progress of the sender. The
/// receiver limits its window, and the segments in `lost` are lost once, in order.
fn retransmissions(name: &str, lost: &[u64]) -> (u64, u64) {
    let window = 32;
    let mut b = Bench::new(&profile(name));
    b.peer_window = window * FULL;
    b.sender.snd_wnd = b.peer_window;
    b.write(10_000);
    let mut lost = lost.to_vec();
    let mut air = VecDeque::new();
    let (mut arrived, mut next) = (BTreeSet::new(), 0);
    for delivery in 0..3000 {
        air.extend(b.numbers());
        let Some(segment) = air.pop_front() else {
            b.wait(10_000); // The retransmission timer expires.
            continue;
        };
        // A window of segments takes a round trip of 100 ms. The window grows meanwhile to the
        // receiver's limit.
        b.now += ms(100) / window;
        if let Some(at) = lost.iter().position(|n| *n == segment) {
            lost.remove(at);
            continue;
        }
        arrived.insert(segment);
        while arrived.contains(&(next + 1)) {
            next += 1;
        }
        assert!(delivery > 0 || next > 0);
        b.ack(next);
        b.sender.window.cwnd += 1.0;
    }
    (b.sender.statistics.retransmitted_segments, next)
}

#[test]
fn what_was_sent_again_in_vain_begins_no_recovery() {
    // RFC 6582 section 3.2, step 2: duplicate ACKs that unneeded retransmissions cause are at
    // `recover`, not above it. Without this rule they would start a recovery with more unneeded
    // retransmissions, without end.
    for name in ["tahoe", "newreno", "reno"] {
        for lost in [vec![200, 201], vec![200, 202, 210], vec![200, 215, 231]] {
            let (again, next) = retransmissions(name, &lost);
            assert!(again <= 2 * 32, "{name}: {again} for {lost:?}");
            assert!(next > 2800, "{name} got to {next} with {lost:?}");
        }
    }
}

#[test]
fn duplicates_at_recover_begin_a_recovery_by_the_guard() {
    // RFC 6582 section 3.2, step 2: "covers more than `recover`". RFC 5681 has no such condition.
    let bytes = 10 * FULL;
    for (name, guard, first) in [
        ("newreno", None, bytes + FULL),
        ("tahoe", None, bytes + FULL),
        ("newreno", Some(RecoverGuard::From), bytes),
        ("newreno", Some(RecoverGuard::None), bytes),
        ("reno", None, bytes),
    ] {
        for acked in [4 * FULL, bytes, bytes + FULL] {
            let mut config = profile(name);
            config.recovery.recover_guard = guard.unwrap_or(config.recovery.recover_guard);
            let mut b = Bench::sent(&config, 10);
            b.wait(1000);
            assert_eq!(b.state(), RecoveryState::Loss);
            b.write(20);
            let mut ack = b.bare(0);
            ack.ack = 1 + acked;
            b.sender.window.cwnd = 20.0;
            b.arrive(ack);
            b.left();
            let before = b.sender.statistics.recoveries;
            for _ in 0..3 {
                b.arrive(ack);
            }
            let begins = b.sender.statistics.recoveries > before;
            assert_eq!(begins, acked >= first, "{name} {guard:?} at {acked}");
        }
    }
}

#[test]
fn reno_recovers_a_second_loss_of_a_window_by_a_second_recovery() {
    // RFC 5681 alone: the first new ACK ends a recovery, and the next three duplicates begin
    // another.
    for (guard, recoveries) in [
        (RecoverGuard::None, 2),
        (RecoverGuard::From, 1),
        (RecoverGuard::Above, 1),
    ] {
        let mut config = profile("reno");
        config.recovery.recover_guard = guard;
        let mut b = Bench::sent(&config, 30);
        dups(&mut b, 0, 3);
        b.ack(4);
        assert_eq!(b.state(), RecoveryState::Open);
        dups(&mut b, 4, 3);
        assert_eq!(b.sender.statistics.recoveries, recoveries, "{guard:?}");
    }
}
