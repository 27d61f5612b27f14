//! Tests of the retransmission timeout, of F-RTO and of zero-window probes.

use super::*;
use crate::congestion::CongestionKind;
use crate::tcp::config::LossRecovery;
use crate::tcp::scoreboard::Tags;
use fadeout_core::RetransmitCause;

fn kinds(b: &mut Bench) -> Vec<CongestionKind> {
    b.control_calls()
        .events
        .iter()
        .map(|event| event.kind)
        .collect()
}

/// Returns the configuration `without_probes` with undo switched off.
fn final_losses() -> TcpConfig {
    without_probes().changed(|tcp| {
        tcp.recovery.undo = false;
        tcp.recovery.frto = false;
    })
}

#[test]
fn a_row_of_timeouts_reduces_once_and_progress_begins_another_row() {
    use CongestionKind::Rto;
    let mut b = Bench::sent(&final_losses(), 10);
    b.wait(1000);
    assert_eq!(b.sender.statistics.timeouts, 2);
    assert_eq!(kinds(&mut b), [Rto]);
    b.ack(1);
    b.wait(2000);
    assert!(b.sender.statistics.timeouts > 2);
    assert_eq!(kinds(&mut b), [Rto]);
    let backoffs: Vec<u32> = b.rows.timeouts.iter().map(|row| row.backoff).collect();
    assert_eq!(backoffs[..2], [1, 2]);
    assert_eq!(b.rows.retransmits[0].cause, RetransmitCause::Rto);
    assert_eq!(b.rows.retransmits[0].payload_bytes, FULL as u32);
}

#[test]
fn a_timeout_reduces_unless_a_reduction_for_the_same_data_is_under_way() {
    // Linux `tcp_enter_loss`. RFC 5681 section 4.3 asks for one reduction in a window of data.
    use CongestionKind::{Ecn, FastRecovery, Rto};
    let mut b = Bench::sent(&final_losses(), 10);
    b.sack(0, &[(2, 2)]);
    b.sender.timer = Some((TimerKind::Rto, b.now));
    b.wait(0);
    assert_eq!(kinds(&mut b), [Rto], "in disorder");

    let mut b = Bench::sent(&final_losses(), 10);
    b.sack(0, &[(2, 4)]);
    b.wait(1000);
    assert_eq!(kinds(&mut b), [FastRecovery], "in recovery");

    for (acked, expected) in [(9, vec![Ecn]), (10, vec![Ecn, Rto])] {
        let mut b = Bench::with_ecn(&final_losses(), EcnFeedback::Classic);
        b.write(20);
        b.wait(100);
        let mut echo = b.bare(2);
        echo.flags |= Flags::ECE;
        b.arrive(echo);
        b.sender.high_seq = 1 + 10 * FULL;
        b.ack(acked);
        assert_eq!(b.state(), RecoveryState::Cwr);
        b.wait(500);
        assert_eq!(b.state(), RecoveryState::Loss);
        assert_eq!(kinds(&mut b), expected, "up to {acked}");
    }
}

#[test]
fn what_was_sent_within_a_round_trip_is_not_lost_by_a_timeout() {
    // RFC 8985 section 6.3 spares recently sent segments. RFC 6298 does not.
    for (name, in_flight, cwnd) in [("linux", 4, 4.0), ("rfc", 1, 1.0)] {
        let config = profile(name).changed(|tcp| {
            tcp.recovery.frto = false;
            tcp.recovery.tail_loss_probe = false;
            tcp.timers.wheel = false;
        });
        let mut b = Bench::sent(&config, 13);
        b.ack(3);
        assert_eq!(b.numbers(), [11, 12, 13], "{name}");
        b.wait(50);
        b.sender.timer = Some((TimerKind::Rto, b.now));
        b.wait(0);
        // The retransmitted oldest segment and the spared segments are in flight. The window equals
        // their number, so it allows only this one retransmission.
        assert_eq!(
            (b.sender.in_flight(), b.cwnd()),
            (in_flight, cwnd),
            "{name}"
        );
        assert_eq!(b.numbers(), [4], "{name}");
    }
}

#[test]
fn a_timeout_forgets_the_sacks_of_a_receiver_that_reneged() {
    // RFC 2018 section 8: after reneging all segments count as lost, no matter when they were sent.
    for reneged in [false, true] {
        let mut b = Bench::sent(&final_losses(), 20);
        b.sack(3, &[(5, 5)]);
        b.wait(50);
        if reneged {
            b.ack(4);
            assert!(b.sender.board.get(b.sender.board.first()).seq == 1 + 4 * FULL);
        }
        b.sender.timer = Some((TimerKind::Rto, b.now));
        b.wait(0);
        let board = &b.sender.board;
        assert_eq!(board.sacked_out, u32::from(!reneged));
        let spared = board.packets_out() - board.sacked_out - board.lost_out;
        assert_eq!(spared > 0, !reneged, "{spared}");
    }
}

#[test]
fn a_user_timeout_runs_from_the_first_departure_of_what_stalls() {
    let config = without_probes().changed(|tcp| tcp.timers.user_timeout = Some(Span::from_secs(5)));
    let mut b = Bench::new(&config);
    b.write(1);
    let since = b.now;
    b.wait(20_000);
    let gave_up_at = b.gave_up_at.expect("it gave up");
    assert_eq!(gave_up_at.since(since), Span::from_secs(5));
    assert_eq!(
        b.numbers(),
        [1, 1, 1, 1, 1],
        "at 0, 0.3, 0.9, 2.1 and 4.5 s"
    );
}

#[test]
fn f_rto_begins_with_an_episode_and_with_each_timeout_after_the_first() {
    // Linux `tcp_enter_loss`: a timeout during a recovery does not begin a new episode.
    let mut b = Bench::sent(&without_probes(), 10);
    b.wait(250);
    assert!(b.sender.frto);
    let mut b = Bench::sent(&without_probes(), 10);
    b.sack(0, &[(2, 4)]);
    b.wait(350);
    assert_eq!(b.sender.statistics.timeouts, 1);
    assert!(!b.sender.frto);
    b.wait(700);
    assert_eq!(b.sender.statistics.timeouts, 2);
    assert!(b.sender.frto);
}

/// Returns a sender after a timeout without timestamps. Only F-RTO can find out if the timeout was
/// spurious.
fn timed_out() -> Bench {
    let config = TcpConfig {
        timestamps: false,
        mss: FULL as u32,
        ..without_probes()
    };
    let mut b = Bench::sent(&config, 20);
    b.wait(250);
    assert_eq!(b.numbers(), [1]);
    b
}

#[test]
fn f_rto_waits_for_the_retransmissions_ack_and_then_sends_new_data() {
    // RFC 5682 section 3.1, step 2: the sender sends new data after the ACK of the retransmission.
    let mut b = timed_out();
    b.ack(0);
    assert!(b.sender.frto, "a duplicate leaves it in step 2");
    b.sender.window.cwnd = 3.0;
    b.ack(1);
    assert_eq!(b.numbers(), [11, 12, 13], "step 2b");
    assert_eq!(b.sender.statistics.undos, 0);
}

#[test]
fn f_rto_tells_a_real_timeout_by_duplicates_behind_new_data() {
    // Step 3a: duplicate ACKs show that the timeout was genuine. A SACK of segment 11 proves
    // nothing, because the segment was sent after the timeout.
    for sacked in [&[][..], &[(11, 11)]] {
        let mut b = timed_out();
        b.sender.window.cwnd = 3.0;
        b.ack(1);
        b.left();
        b.sender.window.cwnd = 4.0;
        b.sack(1, sacked);
        assert!(!b.sender.frto, "{sacked:?}");
        assert_eq!(b.sender.statistics.undos, 0);
        assert_eq!(b.state(), RecoveryState::Loss);
        assert_eq!(b.numbers()[0], 2);
    }
}

#[test]
fn f_rto_tells_a_spurious_timeout_by_what_was_sent_once() {
    // Step 3b: the timeout was spurious if data that was never retransmitted is acknowledged or
    // SACKed.
    let arrivals: [fn(&mut Bench); 2] = [|b| b.ack(2), |b| b.sack(1, &[(5, 5)])];
    for arrive in arrivals {
        let mut b = timed_out();
        b.sender.window.cwnd = 3.0;
        b.ack(1);
        arrive(&mut b);
        assert_eq!(b.sender.statistics.undos, 1);
        assert_eq!(b.cwnd(), 10.0);
    }
}

#[test]
fn what_fits_into_a_window_below_a_segment_goes_when_the_timer_expires() {
    // Linux `tcp_write_wakeup`; RFC 9293 section 3.8.6.2.1 overrides silly windows by a timer.
    let mut b = Bench::new(&without_probes());
    b.peer_window = 400;
    b.ack(0);
    b.write(2);
    assert_eq!(b.numbers(), []);
    b.wait(300);
    let sent = b.left()[0].segment;
    assert_eq!((sent.seq, sent.len), (1, 400));
    assert!(sent.flags.has(Flags::PSH));
}

#[test]
fn a_closed_window_is_asked_for_by_an_old_number_ever_more_seldom() {
    // RFC 9293 section 3.8.6.1: the intervals between probes grow.
    let mut b = Bench::new(&without_probes());
    b.peer_window = 0;
    b.ack(0);
    b.write(2);
    let since = b.now;
    b.wait(1000);
    let probes = b.left();
    assert_eq!(probes.len(), 2, "after 300 and 900 ms");
    for probe in &probes {
        assert_eq!((probe.segment.seq, probe.segment.len), (0, 0));
        assert_eq!(probe.segment.flags, Flags::ACK);
    }
    assert_eq!(b.timer().map(|(kind, _)| kind), Some(TimerKind::Persist));
    assert_eq!(b.sender.wake_at().since(since), ms(300 + 600 + 1200));
    assert_eq!(b.sender.info().probes, 2);
    b.peer_window = 10_000;
    b.ack(0);
    assert_eq!(b.numbers(), [1, 2]);
    assert_eq!(b.sender.info().probes, 0);
}

#[test]
fn a_timeout_thinks_repairs_lost_that_left_before_their_first_copy_was() {
    // RFC 6675: NextSeg's rule 3 retransmits a hole that does not count as lost.
    let mut b = Bench::sent(&profile("rfc"), 10);
    assert_eq!(b.sender.config.recovery.method, LossRecovery::Sack);
    let first = b.sender.board.first();
    b.sender.lose(first + 1);
    for number in [first + 1, first + 3] {
        b.sender.board.mark_retransmitted(number);
    }
    let lost = b.sender.rate.lost;
    b.sender.timer = Some((TimerKind::Rto, b.now));
    b.wait(0);
    assert_eq!(b.numbers(), [1]);
    let board = &b.sender.board;
    for number in first + 1..board.end() {
        let tags = board.get(number).tags;
        assert!(tags.has(Tags::LOST) && !tags.has(Tags::RETRANSMITTED));
    }
    // All ten segments count as lost, and the second segment counts twice because its
    // retransmission was lost.
    assert_eq!(b.sender.rate.lost - lost, 10);
}
