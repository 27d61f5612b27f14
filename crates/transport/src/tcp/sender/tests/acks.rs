//! Tests of the effects of one ACK, and of its report to the congestion control.

use super::*;
use crate::tcp::config::LossRecovery;

#[test]
fn an_ack_is_told_with_what_it_measured() {
    let mut b = Bench::sent(&linux(), 20);
    b.ack(2);
    let sample = b.sample();
    assert_eq!(
        (sample.acked, sample.delivered_now, sample.lost_now),
        (2, 2, 0)
    );
    assert_eq!((sample.prior_in_flight, sample.in_flight), (10, 8));
    assert_eq!((sample.rtt, sample.may_grow), (Some(ms(100)), true));
    // A SACK gives a round-trip sample, but does not advance the acknowledgment.
    b.sack(2, &[(4, 4)]);
    let sample = b.sample();
    assert_eq!((sample.acked, sample.delivered_now), (0, 1));
    assert_eq!((sample.rtt, sample.may_grow), (Some(ms(100)), false));
    // A repeated ACK without new information is not reported to the congestion control.
    b.sack(2, &[(4, 4)]);
    b.ack(2);
    assert_eq!(b.control_calls().acks.len(), 0);
    // The ACK reports the loss of the third segment and two more deliveries.
    b.sack(2, &[(4, 6)]);
    let sample = b.sample();
    assert_eq!(
        (sample.delivered_now, sample.lost_now, sample.lost),
        (2, 1, 1)
    );
    // The ACK shows that segment 7 is missing as well, so one more segment is reported lost.
    b.sack(2, &[(8, 10), (4, 6)]);
    let sample = b.sample();
    assert_eq!((sample.lost_now, sample.lost), (1, 2));
}

#[test]
fn a_loss_that_duplicates_tell_of_is_told_without_a_delivery() {
    let mut b = Bench::sent(&profile("newreno"), 20);
    b.ack(0);
    b.ack(0);
    assert_eq!(b.control_calls().acks.len(), 0);
    b.ack(0);
    let sample = b.sample();
    assert_eq!(
        (sample.acked, sample.delivered_now, sample.lost_now),
        (0, 0, 1)
    );
}

#[test]
fn an_ack_of_what_was_sacked_before_is_told() {
    let mut b = Bench::sent(&linux(), 20);
    b.sack(0, &[(1, 1)]);
    b.control_calls();
    b.ack(1);
    let sample = b.sample();
    assert_eq!((sample.acked, sample.delivered_now), (1, 0));
}

#[test]
fn an_ack_of_a_retransmission_measures_nothing() {
    // Karn's rule: without timestamps, either copy may have caused the ACK.
    let config = TcpConfig {
        timestamps: false,
        mss: FULL as u32,
        ..without_probes()
    };
    let mut b = Bench::sent(&config, 1);
    b.wait(250);
    assert_eq!(b.sender.statistics.timeouts, 1);
    b.control_calls();
    b.ack(1);
    assert_eq!(b.sample().rtt, None);
}

#[test]
fn where_much_is_overtaken_a_sack_lets_the_window_grow() {
    // Linux `tcp_may_raise_cwnd` allows growth in spite of reordering.
    let mut b = Bench::sent(&linux(), 20);
    b.sack(0, &[(8, 8)]);
    assert!(!b.sample().may_grow);
    b.sack(0, &[(6, 6), (8, 8)]);
    assert!(!b.sample().may_grow, "overtaken by three");
    b.sack(0, &[(2, 2), (6, 6), (8, 8)]);
    assert!(b.sample().may_grow, "overtaken by seven");
    b.sender.reordering = 7;
    b.ack(2);
    assert!(b.sample().may_grow);
}

#[test]
fn a_classic_echo_marks_all_that_its_ack_delivers() {
    let config = linux().changed(|tcp| tcp.acks.ecn = crate::tcp::EcnMode::Classic);
    let mut b = Bench::with_ecn(&config, EcnFeedback::Classic);
    b.write(30);
    b.wait(100);
    let mut total = 0;
    for (segments, has_echo, marked) in [(2, false, 0), (4, true, 2), (5, true, 1), (8, false, 0)] {
        let mut ack = b.bare(segments);
        if has_echo {
            ack.flags |= Flags::ECE;
        }
        b.arrive(ack);
        assert_eq!(b.sample().delivered_ce_now, marked, "up to {segments}");
        total += u64::from(marked);
        assert_eq!(b.sender.rate.delivered_ce, total);
    }
    assert_eq!(b.state(), RecoveryState::Cwr);
}

#[test]
fn an_echo_with_nothing_outstanding_reduces_nothing() {
    let mut b = Bench::with_ecn(&linux(), EcnFeedback::Classic);
    b.write(1);
    b.wait(100);
    b.ack(1);
    let mut echo = b.bare(1);
    echo.flags |= Flags::ECE;
    b.arrive(echo);
    assert_eq!(b.state(), RecoveryState::Open);
    assert_eq!(b.control_calls().events.len(), 0);
}

#[test]
fn everything_acknowledged_is_told_once() {
    let mut b = Bench::sent(&linux(), 3);
    b.ack(2);
    b.ack(2);
    assert_eq!(b.events, []);
    b.ack(3);
    b.ack(3);
    assert_eq!(b.events, [AppEvent::AllAcknowledged]);
}

#[test]
fn a_new_ack_ends_a_row_of_timeouts() {
    let config = without_probes().changed(|tcp| {
        tcp.recovery.undo = false;
        tcp.recovery.frto = false;
    });
    let mut b = Bench::sent(&config, 10);
    b.wait(1000);
    assert_eq!(b.sender.retransmits, 2);
    b.ack(0);
    assert_eq!(b.sender.retransmits, 2, "a duplicate is no progress");
    b.ack(1);
    assert_eq!(b.sender.retransmits, 0);
}

#[test]
fn blocks_mean_nothing_where_sack_was_not_agreed() {
    let mut b = Bench::sent(&profile("newreno"), 10);
    b.sack(0, &[(2, 9)]);
    assert_eq!(b.sender.board.sacked_out, 0);
    b.ack(10);
    assert_eq!((b.sender.rack.reorderings, b.sender.reordering), (0, 3));
}

#[test]
fn acks_in_order_are_no_reordering() {
    let mut b = Bench::sent(&linux(), 10);
    for segments in [1, 3, 10] {
        b.ack(segments);
    }
    assert_eq!((b.sender.rack.reorderings, b.sender.reordering), (0, 3));
}

#[test]
fn part_of_a_segment_may_be_acknowledged() {
    let mut b = Bench::sent(&without_probes(), 3);
    let mut ack = b.bare(1);
    ack.ack += 400;
    b.arrive(ack);
    b.wait(1000);
    let again = b.left()[0].segment;
    assert_eq!((again.seq, again.len), (1401, 600));
}

#[test]
fn only_an_ack_of_something_new_restarts_the_timer() {
    // Only new acknowledgments restart the timer (RFC 6298 rule 5.3).
    let mut b = Bench::sent(&without_probes(), 10);
    assert_eq!(b.timer(), Some((TimerKind::Rto, ms(200))));
    b.ack(0);
    assert_eq!(b.timer(), Some((TimerKind::Rto, ms(200))));
    b.ack(1);
    let (kind, left) = b.timer().expect("a timer");
    assert_eq!((kind, left), (TimerKind::Rto, b.sender.rtt.rto()));
}

#[test]
fn a_sack_moves_the_timer_if_its_segment_was_sent_before_the_head() {
    // Linux `tcp_clean_rtx_queue`: a segment sent after the oldest one gives no information about
    // the oldest.
    let mut b = Bench::sent(&profile("rfc"), 20);
    b.sack(0, &[(2, 7)]);
    assert_eq!(b.numbers(), [1, 11]);
    b.wait(50);
    let before = b.sender.timer;
    b.sack(0, &[(2, 7), (11, 11)]);
    assert_eq!(b.sender.timer, before, "sent with the head");
    b.sack(0, &[(2, 8), (11, 11)]);
    assert_eq!(b.timer(), Some((TimerKind::Rto, b.sender.rtt.rto())));
}

#[test]
fn a_loss_shows_in_a_sack_that_brings_another_window_too() {
    for window in [64_000, 32_000] {
        let mut b = Bench::sent(&linux(), 10);
        b.peer_window = window;
        b.sack(0, &[(2, 4)]);
        assert_eq!(b.state(), RecoveryState::Recovery, "{window}");
    }
}

#[test]
fn an_echo_of_the_first_copy_is_no_delivery_of_the_second() {
    // RFC 8985 section 6.2, step 2: an echo of the first copy does not count for the second.
    for (age, advances) in [(1, false), (0, true)] {
        let mut b = Bench::sent(&linux(), 20);
        b.sack(0, &[(2, 4)]);
        assert_eq!(b.numbers(), [1, 11]);
        let sent_at = b.now;
        b.wait(110);
        let mut ack = b.bare(4);
        ack.has_timestamps = true;
        ack.ts_echo = sent_at.as_millis() as u32 - age;
        b.sender.config_mut().recovery.undo = false;
        b.arrive(ack);
        assert_eq!(b.sender.rack.sent_at == sent_at, advances, "{age}");
    }
}

#[test]
fn the_window_restarts_when_the_peers_opens_after_an_idle_time() {
    let mut b = Bench::new(&linux());
    b.sender.window.cwnd = 40.0;
    b.write(1);
    b.wait(100);
    b.peer_window = 0;
    b.ack(1);
    b.write(5);
    b.wait(350);
    b.ack(1);
    assert_eq!(b.cwnd(), 40.0, "it is closed yet");
    b.peer_window = 64_000;
    b.ack(1);
    // One timeout of about 300 ms has passed since data was sent, so the window is halved once.
    assert_eq!(b.cwnd(), 20.0);
}

#[test]
fn another_window_restarts_nothing_while_nothing_waits_or_data_is_out() {
    let mut b = Bench::new(&linux());
    b.sender.window.cwnd = 40.0;
    b.write(2);
    b.wait(100);
    b.ack(2);
    b.wait(1000);
    b.peer_window = 70_000;
    b.ack(2);
    assert_eq!(b.cwnd(), 40.0, "nothing waits");

    let mut b = Bench::new(&without_probes());
    b.sender.window.cwnd = 40.0;
    b.peer_window = 3_000;
    b.ack(0);
    b.write(10);
    assert_eq!(b.numbers(), [1, 2, 3]);
    b.wait(250);
    b.peer_window = 2_000;
    b.ack(1);
    b.wait(150);
    b.peer_window = 3_000;
    b.ack(1);
    assert_eq!(b.numbers(), [4]);
    assert_eq!(b.cwnd(), 40.0, "data is out");
}

#[test]
fn a_recovery_that_is_over_moves_the_window_no_more() {
    let mut b = Bench::sent(&linux(), 30);
    b.sack(0, &[(2, 4)]);
    assert_eq!(b.sender.config.recovery.method, LossRecovery::Rack);
    b.ack(11);
    let after = b.cwnd();
    for segments in [12, 13] {
        b.wait(100);
        b.ack(segments);
        assert_eq!(b.cwnd(), after);
    }
}

#[test]
fn the_smallest_round_trip_is_that_of_the_whole_connection() {
    // The smallest round trip is the handshake's 100 ms.
    let mut b = Bench::new(&without_probes());
    for segment in 1..=400 {
        b.write(1);
        b.wait(150);
        b.ack(segment);
        b.wait(850);
    }
    let of_five_minutes = b.sender.info().min_rtt;
    assert_eq!(of_five_minutes, Some(ms(150)));
    assert_eq!(b.sender.statistics().min_rtt, Some(ms(100)));
}
