//! Tests of loss detection and recovery: RACK, SACK and rate reduction.

use super::*;
use crate::congestion::CongestionKind;
use crate::tcp::scoreboard::{SentSegment, Tags};
use crate::tcp::sender::ack::AckFlags;

/// Returns a segment that was sent at `sent_at`, as an original or a retransmission.
fn segment(sent_at: Time, again: bool) -> SentSegment {
    let mut segment = SentSegment {
        seq: 1,
        len: FULL as u32,
        sent_at,
        ..SentSegment::default()
    };
    if again {
        segment.tags.set(Tags::EVER_RETRANSMITTED);
    }
    segment
}

#[test]
fn a_retransmission_that_came_back_too_soon_says_nothing() {
    // RFC 8985 section 6.2, step 2: the ACK belongs to the first copy, because the smallest round
    // trip is 100 ms.
    for (again, rtt, counts) in [
        (true, 99, false),
        (true, 100, true),
        (true, 150, true),
        (false, 99, true),
    ] {
        let mut b = Bench::new(&linux());
        let sent = segment(b.now, again);
        b.now += ms(rtt);
        b.sender.advance_rack(b.now, &sent);
        assert_eq!(b.sender.rack.advanced, counts, "{again} {rtt}");
        assert_eq!(b.sender.rack.sent_at == sent.sent_at, counts);
    }
}

#[test]
fn an_echo_from_before_the_retransmission_is_of_the_first_copy() {
    let b = Bench::new(&linux());
    let sent_ms = b.now.as_millis() as u32;
    for (again, has_timestamps, echo, is_spurious) in [
        (true, true, sent_ms - 1, true),
        (true, true, sent_ms, false),
        (true, true, sent_ms + 1, false),
        (false, true, sent_ms - 1, false),
        (true, false, sent_ms - 1, false),
    ] {
        let ack = Segment {
            has_timestamps,
            ts_echo: echo,
            ..b.bare(1)
        };
        let sent = segment(b.now, again);
        let found = b.sender.is_spurious_retransmission(&sent, &ack);
        assert_eq!(found, is_spurious, "{again} {has_timestamps} {echo}");
    }
}

/// Returns a sender after reordering: segment 2 overtakes segment 1, and then both are
/// acknowledged.
fn reordered() -> Bench {
    let mut b = Bench::sent(&linux(), 4);
    b.sack(0, &[(2, 2)]);
    b.ack(4);
    assert_eq!(b.sender.rack.reorderings, 1);
    b
}

/// Returns the time from a SACK of the last of three new segments to the loss of the first.
fn patience(b: &mut Bench) -> Span {
    let (first, sent_at) = (b.sender.snd_nxt, b.now);
    b.write(3);
    b.wait(100);
    let from = (first - 1) / FULL;
    b.left();
    b.sack(from, &[(from + 3, from + 3)]);
    b.wait(200);
    let again = b.rows.retransmits.drain(..).next();
    let again = again.expect("a retransmission");
    assert_eq!(again.offset_bytes + 1, first);
    let waited = again.time_s.since(sent_at + ms(100));
    b.ack(from + 3);
    waited
}

#[test]
fn each_round_trip_with_a_duplicate_widens_the_reordering_window_by_a_quarter() {
    // RFC 8985 section 6.2, step 4: the reordering window is a quarter of the smallest round trip.
    // Each round trip with a DSACK adds another quarter, up to SRTT. The tolerance is 2 ms.
    let mut b = reordered();
    let before = patience(&mut b);
    assert_eq!(before, ms(25 + 2));
    for quarters in [2, 3] {
        // A DSACK reports that one of the two retransmissions was unnecessary.
        let last = (b.sender.snd_nxt - 1) / FULL;
        b.write(2);
        b.wait(100);
        b.sack(last + 1, &[(last, last)]);
        b.sack(last + 2, &[]);
        assert_eq!(patience(&mut b), ms(quarters * 25 + 2));
    }
}

#[test]
fn the_reordering_window_widens_once_a_round_trip() {
    for (delivered_when_sent, widens) in [(4, false), (5, true), (6, true)] {
        let mut b = Bench::new(&linux());
        b.sender.rate.delivered = 5;
        let send = |b: &mut Bench, delivered| {
            let mut sent = segment(b.now, false);
            sent.delivered = delivered;
            b.sender.rate.delivered = delivered.max(5);
            b.sender.rate.begin();
            b.sender.rate.on_delivered(b.now, &sent);
            b.sender.rack.dsack_seen = true;
            b.sender.adapt_reordering_window();
            assert!(!b.sender.rack.dsack_seen);
            // The reordering window is kept for 16 recoveries after it last widened.
            std::mem::take(&mut b.sender.rack.persist) == 16
        };
        assert!(send(&mut b, 5));
        assert_eq!(send(&mut b, delivered_when_sent), widens);
    }
}

#[test]
fn a_duplicate_widens_the_window_where_reordering_is_known_and_no_probe_caused_it() {
    for (reorderings, is_of_probe, widens) in [
        (0, false, false),
        (1, false, true),
        (1, true, false),
        (0, true, false),
    ] {
        let mut b = Bench::sent(&linux(), 10);
        b.sender.statistics.retransmitted_segments = 1;
        b.sender.rack.reorderings = reorderings;
        b.ack(2);
        b.sender.probe.high_seq = is_of_probe.then_some(1 + 2 * FULL);
        b.sender.probe.is_retransmission = true;
        b.sack(2, &[(2, 2)]);
        assert_eq!(
            b.sender.rack.dsack_seen, widens,
            "{reorderings} {is_of_probe}"
        );
    }
}

#[test]
fn a_duplicate_of_what_was_never_sent_is_none() {
    let mut b = Bench::sent(&linux(), 10);
    b.sender.statistics.retransmitted_segments = 9;
    b.sack(2, &[(12, 12), (12, 13)]);
    assert_eq!(b.sender.rack.duplicates_reported, 0);
}

#[test]
fn the_timer_of_reordering_gives_way_to_that_of_retransmission() {
    let mut b = Bench::sent(&linux(), 3);
    b.sender.timer = None;
    b.run_step(|sender, cx| sender.on_reordering_timeout(cx));
    assert_eq!(b.numbers(), []);
    assert_eq!(b.timer().map(|(kind, _)| kind), Some(TimerKind::Rto));
}

#[test]
fn a_loss_found_by_time_alone_lets_one_segment_go() {
    let mut b = Bench::sent(&linux(), 20);
    b.sack(0, &[(2, 2)]);
    assert_eq!(b.numbers(), [11]);
    b.wait(30);
    assert_eq!((b.state(), b.numbers()), (RecoveryState::Recovery, vec![1]));
}

#[test]
fn a_retransmission_lost_after_a_timeout_begins_a_recovery() {
    let mut b = Bench::sent(&without_probes(), 10);
    b.wait(250);
    assert_eq!((b.state(), b.numbers()), (RecoveryState::Loss, vec![1]));
    b.sender.window.cwnd = 10.0;
    b.ack(0);
    assert_eq!(b.numbers(), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let mut rows = b.rows.retransmits.iter();
    assert!(rows.all(|row| row.cause == fadeout_core::RetransmitCause::Rto));
    b.wait(110);
    b.sender.frto = false;
    b.sack(0, &[(3, 3)]);
    assert_eq!(b.state(), RecoveryState::Recovery);
}

#[test]
fn a_recovery_is_one_however_many_acks_it_takes() {
    let mut b = Bench::sent(&linux(), 20);
    for last in 4..=9 {
        b.sack(0, &[(2, last)]);
    }
    assert_eq!(b.sender.statistics.recoveries, 1);
}

#[test]
fn only_the_first_repair_leaves_however_full_the_window_is() {
    // RFC 6675 section 5, step 4.3: only the first retransmission is sent at once, regardless of
    // the window.
    let mut b = Bench::sent(&profile("rfc"), 20);
    b.sack(0, &[(3, 5)]);
    assert_eq!((b.cwnd(), b.numbers()), (5.0, vec![1]));
    b.sack(0, &[(3, 6)]);
    assert_eq!(b.numbers(), [], "the window is full");
    b.sack(0, &[(3, 7)]);
    assert_eq!(b.numbers(), [2]);
    // After a timeout, too, the second retransmission is not sent at once.
    let mut b = Bench::sent(&profile("rfc"), 10);
    b.wait(1000);
    assert_eq!(b.numbers(), [1]);
    b.ack(0);
    assert_eq!(b.numbers(), []);
}

#[test]
fn holes_that_are_not_yet_lost_are_filled_when_there_is_nothing_new() {
    // RFC 6675 section 4, NextSeg rule 3: holes below SACKed data are retransmitted once each, as
    // the window allows.
    let mut b = Bench::sent(&profile("rfc"), 10);
    b.sack(0, &[(2, 5), (7, 7)]);
    assert_eq!(b.numbers(), [1], "then the window is full");
    let mut b = Bench::sent(&profile("rfc"), 10);
    b.sack(0, &[(2, 6)]);
    assert_eq!(b.numbers(), [1], "nothing is missing below");
    b.sack(0, &[(2, 6), (8, 8)]);
    assert_eq!(b.numbers(), [7]);
    b.sack(0, &[(2, 6), (8, 8), (10, 10)]);
    assert_eq!(b.numbers(), [9]);
    b.sack(0, &[(2, 6), (8, 8), (10, 10)]);
    assert_eq!(b.numbers(), [], "each of them once");
}

#[test]
fn a_hole_filled_before_it_is_lost_is_in_the_network_twice() {
    // RFC 6675 section 4, SetPipe: segment 7 and its copy both count in the pipe. So segment 9
    // cannot be retransmitted yet.
    let mut b = Bench::sent(&profile("rfc"), 10);
    b.sack(0, &[(2, 4)]);
    assert_eq!(b.numbers(), [1]);
    b.sack(0, &[(2, 4), (6, 6), (8, 8), (10, 10)]);
    assert_eq!((b.cwnd(), b.numbers()), (5.0, vec![5, 7]));
    assert_eq!(b.sender.in_flight(), 5);
    // After segment 7 has arrived, neither of its copies counts in the pipe.
    b.sack(0, &[(2, 4), (6, 8), (10, 10)]);
    assert_eq!((b.numbers(), b.sender.in_flight()), (vec![9], 4));
    // A timeout marks everything in flight as lost, including copies.
    b.wait(3000);
    assert_eq!(b.sender.in_flight(), 1);
    assert_eq!(b.sender.board.lost_out, 3);
    assert!(b.sender.board.counts_agree());
}

#[test]
fn pure_duplicates_move_no_window_in_a_reduction() {
    let mut b = Bench::sent(&linux(), 20);
    b.sack(0, &[(2, 4)]);
    let before = b.cwnd();
    b.ack(0);
    b.sack(0, &[(2, 4)]);
    assert_eq!(b.cwnd(), before);
    // An ECN echo does not reduce the window before any segment is delivered.
    let mut b = Bench::with_ecn(&linux(), EcnFeedback::Classic);
    b.write(20);
    b.wait(100);
    let mut echo = b.bare(0);
    echo.flags |= Flags::ECE;
    b.arrive(echo);
    assert_eq!((b.state(), b.cwnd()), (RecoveryState::Cwr, 10.0));
}

#[test]
fn the_window_grows_back_by_one_more_where_an_ack_is_progress_without_loss() {
    // RFC 9937 section 6.2, SafeACK: the window grows by one more segment if an ACK makes progress
    // without a loss.
    for (lost, una_advanced, grows) in [(0, true, 2), (1, true, 1), (0, false, 1)] {
        let mut b = Bench::sent(&linux(), 10);
        b.run_step(|sender, cx| sender.begin_reduction(cx, CongestionKind::FastRecovery));
        let first = b.sender.board.first();
        for number in first + 1..first + 8 {
            b.sender.board.mark_sacked(number);
        }
        b.sender.recovery.on_sent(7);
        b.sender.reduce_window(1, lost, una_advanced);
        assert_eq!(b.cwnd(), f64::from(3 + grows), "{lost} {una_advanced}");
    }
}

#[test]
fn an_ack_below_what_was_sacked_tells_nothing() {
    // RFC 2018 section 8: the receiver dropped data that it had SACKed.
    let mut b = Bench::sent(&linux(), 20);
    b.sack(0, &[(2, 4)]);
    assert_eq!(b.numbers(), [1, 11]);
    b.sack(0, &[(2, 8), (11, 11)]);
    b.ack(10);
    assert_eq!(b.state(), RecoveryState::Recovery);
    b.ack(11);
    assert_eq!(b.state(), RecoveryState::Open);
}

#[test]
fn a_retransmission_is_outstanding_from_its_departure_to_its_ack() {
    let is = |b: &Bench| b.sender.any_retransmission_outstanding();
    let mut b = Bench::sent(&linux(), 10);
    let first = b.sender.board.first();
    assert!(!is(&b));
    b.sender.board.mark_retransmitted(first + 1);
    assert!(is(&b));
    b.sender.board.clear_retransmitted(first + 1);
    assert!(!is(&b));
    let head = b.sender.board.get_mut(first);
    head.tags.set(Tags::EVER_RETRANSMITTED);
    assert!(
        is(&b),
        "of the head, even where it was SACKed or lost again"
    );
}

#[test]
fn the_first_retransmissions_time_is_kept_while_one_is_outstanding() {
    for is_out in [true, false] {
        let mut b = Bench::sent(&linux(), 10);
        b.sender.undo.first_retransmission = Some(5);
        if is_out {
            let second = b.sender.board.first() + 1;
            b.sender.board.mark_retransmitted(second);
        }
        b.run_step(|sender, cx| sender.try_to_open(cx, &AckFlags::default()));
        assert_eq!(b.sender.undo.first_retransmission.is_some(), is_out);
    }
}

#[test]
fn the_threshold_to_go_back_to_is_three_quarters_of_the_window() {
    // Linux `tcp_current_ssthresh` is three quarters of the window.
    let mut b = Bench::new(&linux());
    for (state, cwnd, ssthresh, expected) in [
        (RecoveryState::Open, 10.0, 5.0, 7.0),
        (RecoveryState::Open, 10.0, 9.0, 9.0),
        (RecoveryState::Cwr, 10.0, 5.0, 5.0),
    ] {
        b.sender.state = state;
        b.sender.window.cwnd = cwnd;
        b.sender.window.ssthresh = ssthresh;
        assert_eq!(b.sender.current_ssthresh(), expected);
    }
}

#[test]
fn reordering_counts_after_a_timeout_only_where_that_may_be_undone() {
    // As in Linux `tcp_sacktag_write_queue`, reordering counts after a timeout only if the
    // reduction can be undone. A reduction for a mark cannot be undone.
    for (is_marked, reorderings) in [(false, 1), (true, 0)] {
        let mut b = Bench::with_ecn(&without_probes(), EcnFeedback::Classic);
        b.write(10);
        b.wait(100);
        let mut ack = b.bare(0);
        if is_marked {
            ack.flags |= Flags::ECE;
        }
        b.arrive(ack);
        b.wait(250);
        assert_eq!(b.state(), RecoveryState::Loss);
        b.sender.frto = false;
        b.sack(0, &[(8, 8)]);
        b.sack(0, &[(5, 5), (8, 8)]);
        assert_eq!(b.sender.rack.reorderings, reorderings, "{is_marked}");
    }
}
