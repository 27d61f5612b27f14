//! Tests of one endpoint, segment by segment: losses and their detection, timers, undo, the
//! receiver's window and acknowledgments, handshake and close.

mod opening;
mod streams;

use crate::common::script::{FULL, Script, linux, profile};
use fadeout_core::{Ecn, Flags, RetransmitCause, Segment, Span};
use fadeout_transport::tcp::{
    AppCommand, AppEvent, ConnectionState, EcnMode, ReceiveWindow, TcpConfig,
};

/// Returns `linux` with timers of millisecond precision.
fn exact() -> TcpConfig {
    linux().changed(|tcp| tcp.timers.wheel = false)
}

/// Returns `linux` without the features that would disturb the tests.
fn without_probes() -> TcpConfig {
    exact().changed(|tcp| tcp.recovery.tail_loss_probe = false)
}

// --- losses found by acknowledgments -------------------------------------------------------------

#[test]
fn three_sacked_segments_make_a_fast_retransmit() {
    for name in ["linux", "rfc"] {
        let mut s = Script::connected(&profile(name));
        s.write(10);
        s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        s.wait(100);
        s.sack(0, &[(2, 2)]);
        s.sack(0, &[(2, 3)]);
        s.sends_nothing();
        s.sack(0, &[(2, 4)]);
        s.sends(&[1]);
        assert_eq!(s.row().state, "recovery", "{name}");
        assert_eq!(s.row().ssthresh_segments, 5.0, "{name}");
    }
}

#[test]
fn rate_reduction_sends_one_segment_for_two_delivered() {
    let mut s = Script::connected(&linux());
    s.write(30);
    s.left();
    s.wait(100);
    s.sack(0, &[(2, 4)]);
    s.sends(&[1, 11]);
    let mut sent = 0;
    for last in 5..=10 {
        s.sack(0, &[(2, last)]);
        sent += s.left().len();
    }
    // The window falls from ten segments to five. Six more deliveries then allow three segments.
    assert_eq!(sent, 3);
    s.ack(10);
    assert_eq!(s.row().state, "open");
    assert_eq!(s.cwnd(), 5);
}

#[test]
fn without_rate_reduction_the_window_halves_at_once() {
    let mut s = Script::connected(&profile("rfc"));
    s.write(10);
    s.wait(100);
    s.sack(0, &[(2, 4)]);
    assert_eq!(s.cwnd(), 5);
}

#[test]
fn a_segment_sent_a_reordering_window_before_a_delivered_one_is_lost() {
    let mut s = Script::connected(&linux());
    s.write(3);
    s.left();
    s.wait(100);
    // A single SACK does not mean a loss. A quarter of the round trip must pass first.
    s.sack(0, &[(2, 2)]);
    s.sends_nothing();
    let since = s.now_ms();
    s.wait(40);
    let left = s.left();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].segment.seq, 1);
    let waited = left[0].at_ms - since;
    assert!((25..=28).contains(&waited), "{waited} ms");
    assert_eq!(s.log.causes, [RetransmitCause::Rack]);
}

#[test]
fn a_lost_retransmission_is_found_by_a_later_delivery() {
    let mut s = Script::connected(&linux());
    s.write(30);
    s.left();
    s.wait(100);
    s.sack(0, &[(2, 4)]);
    s.sends(&[1, 11]);
    s.wait(20);
    s.sack(0, &[(2, 8)]);
    let new = s.left();
    assert!(
        new.iter().all(|left| left.segment.seq > 10_000),
        "new data leaves"
    );
    s.wait(110);
    // Segments sent after the retransmission were delivered, so the retransmission is lost, too.
    s.sack(0, &[(2, 11)]);
    assert!(s.left().iter().any(|left| left.segment.seq == 1));
    assert!(s.log.timeouts.is_empty());
}

#[test]
fn limited_transmit_sends_a_new_segment_for_each_of_two_duplicates() {
    let mut s = Script::connected(&profile("newreno"));
    s.write(10);
    s.sends(&[1, 2, 3]);
    s.wait(100);
    s.ack(0);
    s.sends(&[4]);
    s.ack(0);
    s.sends(&[5]);
    s.ack(0);
    s.sends(&[1]);
    assert_eq!(s.log.causes, [RetransmitCause::FastRetransmit]);
}

#[test]
fn a_partial_ack_keeps_newreno_in_recovery_and_ends_renos() {
    for (name, state, again) in [("newreno", "recovery", true), ("reno", "open", false)] {
        let config = TcpConfig {
            initial_window: 10,
            ..profile(name)
        };
        let mut s = Script::connected(&config);
        s.write(10);
        s.left();
        s.wait(100);
        (0..3).for_each(|_| s.ack(0));
        s.sends(&[1]);
        s.wait(100);
        s.ack(4);
        assert_eq!(s.row().state, state, "{name}");
        let repaired = s.left().iter().any(|left| left.segment.seq == 4001);
        assert_eq!(repaired, again, "{name}");
    }
}

#[test]
fn tahoe_starts_again_from_one_segment() {
    let config = TcpConfig {
        initial_window: 8,
        ..profile("tahoe")
    };
    let mut s = Script::connected(&config);
    s.write(8);
    s.left();
    s.wait(100);
    (0..3).for_each(|_| s.ack(0));
    s.sends(&[1]);
    assert_eq!(s.cwnd(), 1);
    s.ack(1);
    s.sends(&[2, 3]);
}

// --- timers --------------------------------------------------------------------------------------

#[test]
fn a_tail_loss_probe_goes_after_two_round_trips() {
    let mut s = Script::connected(&exact());
    s.write(4);
    s.left();
    let since = s.now_ms();
    s.wait(250);
    let left = s.left();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].segment.seq, 3001, "the last segment again");
    assert_eq!(left[0].at_ms - since, 202);
    assert_eq!(s.log.causes, [RetransmitCause::TailLossProbe]);
}

#[test]
fn a_timer_fires_on_the_wheels_ticks() {
    let mut s = Script::connected(&linux().changed(|tcp| tcp.timers.tick = Span::from_millis(10)));
    s.write(4);
    s.left();
    let since = s.now_ms();
    s.wait(250);
    // The timer is set to 202 ms, which is 21 ticks, and fires at the tick after.
    assert_eq!((s.left()[0].at_ms - since), 220);
}

#[test]
fn the_timeout_doubles_with_each_expiry_and_an_ack_resets_it() {
    let mut s = Script::connected(&without_probes());
    s.write(2);
    s.left();
    s.wait(10_000);
    let timeouts: Vec<u64> = s.log.timeouts.iter().map(|rto| rto.as_millis()).collect();
    assert_eq!(timeouts, [300, 600, 1200, 2400, 4800]);
    s.sends(&[1, 1, 1, 1, 1]);
    s.ack(2);
    assert!(s.row().rto_s < Span::from_secs(2), "{:?}", s.row().rto_s);
}

#[test]
fn a_timeout_takes_the_window_to_one_segment() {
    let mut s = Script::connected(&without_probes());
    s.write(10);
    s.left();
    s.wait(301);
    s.sends(&[1]);
    assert_eq!((s.cwnd(), s.row().ssthresh_segments), (1, 5.0));
    assert_eq!(s.row().state, "loss");
}

#[test]
fn a_connection_without_an_answer_is_given_up() {
    let config = without_probes().changed(|tcp| tcp.timers.maximum_retries = 3);
    let mut s = Script::connected(&config);
    s.write(1);
    s.wait(100_000);
    assert_eq!(s.events.last(), Some(&AppEvent::Aborted));
    assert_eq!(s.log.timeouts.len(), 3);
}

// --- reductions that were not needed ------------------------------------------------------------

#[test]
fn an_echo_older_than_the_retransmission_undoes_the_timeout() {
    let mut s = Script::connected(&without_probes());
    s.write(10);
    let original = s.left()[0].segment.ts_value;
    s.wait(310);
    s.sends(&[1]);
    assert_eq!(s.cwnd(), 1);
    // The timestamp echo shows that the original segments were late and not lost.
    let ack = Segment {
        ts_echo: original,
        ..s.bare(10)
    };
    s.arrive(ack);
    assert_eq!(s.row().state, "open");
    assert!(s.cwnd() >= 10, "{}", s.cwnd());
    assert!(s.log.events.contains(&"undo"));
}

#[test]
fn new_data_acknowledged_after_a_timeout_proves_it_spurious_without_timestamps() {
    let config = TcpConfig {
        timestamps: false,
        mss: 1000,
        ..without_probes()
    };
    let mut s = Script::connected(&config);
    s.write(12);
    s.sends(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    s.wait(310);
    s.sends(&[1]);
    // RFC 5682: the first ACK allows new data to be sent, and the second ACK covers data that was
    // never retransmitted.
    s.ack(1);
    s.sends(&[11, 12]);
    s.ack(2);
    assert!(s.log.events.contains(&"undo"), "{:?}", s.log.events);
    assert!(s.cwnd() >= 10, "{}", s.cwnd());
}

#[test]
fn a_duplicate_report_of_every_retransmission_undoes_fast_recovery() {
    let config = TcpConfig {
        timestamps: false,
        mss: 1000,
        ..linux()
    };
    let mut s = Script::connected(&config);
    s.write(20);
    s.left();
    s.wait(100);
    s.sack(0, &[(2, 4)]);
    s.sends(&[1, 11]);
    // The original segment arrives, and a DSACK then reports its copy. So the reduction is undone.
    s.sack(4, &[(5, 5)]);
    s.sack(5, &[(1, 1)]);
    assert!(s.log.events.contains(&"undo"), "{:?}", s.log.events);
    assert!(s.row().ssthresh_segments > 5.0);
}

#[test]
fn without_undo_a_spurious_timeout_stands() {
    let config = without_probes().changed(|tcp| {
        tcp.recovery.undo = false;
        tcp.recovery.frto = false;
    });
    let mut s = Script::connected(&config);
    s.write(10);
    let original = s.left()[0].segment.ts_value;
    s.wait(310);
    let ack = Segment {
        ts_echo: original,
        ..s.bare(10)
    };
    s.arrive(ack);
    assert!(!s.log.events.contains(&"undo"));
    assert!(s.cwnd() < 10);
}
