//! What one endpoint does, segment by segment: losses and how they are found, timers, undoing,
//! the receiver's window and acknowledgments, handshake and close.

mod common;

use common::script::{FULL, Script, linux, profile};
use fadeout_core::{Ecn, Flags, RetransmitCause, Segment, Span};
use fadeout_transport::tcp::{
    AppCommand, AppEvent, ConnectionState, EcnMode, ReceiveWindow, TcpConfig,
};

/// `linux` with timers to the millisecond.
fn exact() -> TcpConfig {
    TcpConfig {
        timer_wheel: false,
        ..linux()
    }
}

/// `linux` with what the text of a test does not mean switched off.
fn without_probes() -> TcpConfig {
    TcpConfig {
        tail_loss_probe: false,
        ..exact()
    }
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
    // Six more are delivered of a window of 10 that goes to 5.
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
    // One SACK is no loss yet: a quarter of the round trip must pass.
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
    // What left after the retransmission is delivered, the retransmission is not.
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
    let mut s = Script::connected(&TcpConfig {
        timer_tick: Span::from_millis(10),
        ..linux()
    });
    s.write(4);
    s.left();
    let since = s.now_ms();
    s.wait(250);
    // Set to 202 ms, which is 21 ticks; it fires at the tick after.
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
    let config = TcpConfig {
        maximum_retries: 3,
        ..without_probes()
    };
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
    // The originals were late, not lost.
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
    // RFC 5682: the first ACK lets new data go, the second covers what was never sent again.
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
    // The original arrives, and then the copy.
    s.sack(4, &[(5, 5)]);
    s.sack(5, &[(1, 1)]);
    assert!(s.log.events.contains(&"undo"), "{:?}", s.log.events);
    assert!(s.row().ssthresh_segments > 5.0);
}

#[test]
fn without_undo_a_spurious_timeout_stands() {
    let config = TcpConfig {
        undo: false,
        frto: false,
        ..without_probes()
    };
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

// --- flow control --------------------------------------------------------------------------------

#[test]
fn a_closed_window_is_probed_until_it_opens() {
    let mut s = Script::connected(&linux());
    s.write(5);
    s.left();
    s.wait(100);
    s.peer_window = 0;
    s.ack(5);
    s.write(5);
    s.sends_nothing();
    s.wait(2000);
    let probes = s.left();
    assert!((2..=4).contains(&probes.len()), "{} probes", probes.len());
    assert!(
        probes
            .iter()
            .all(|left| left.segment.seq == 5000 && left.segment.len == 0),
        "below the window, without data"
    );
    assert!(
        probes[1].at_ms - probes[0].at_ms > probes[0].at_ms - 200,
        "they back off"
    );
    s.peer_window = 64_000;
    s.ack(5);
    s.sends(&[6, 7, 8, 9, 10]);
}

#[test]
fn a_peer_that_answers_probes_is_never_given_up() {
    let config = TcpConfig {
        maximum_retries: 3,
        ..linux()
    };
    let mut s = Script::connected(&config);
    s.peer_window = 0;
    s.ack(0);
    s.write(1);
    for _ in 0..20_000 {
        s.wait(100);
        if !s.left().is_empty() {
            s.ack(0);
        }
    }
    assert_eq!(s.state(), ConnectionState::Established);
    s.wait(1_000_000);
    assert_eq!(s.events.last(), Some(&AppEvent::Aborted), "silence");
}

#[test]
fn a_receiver_that_does_not_read_closes_its_window_and_says_when_it_opens() {
    let config = TcpConfig {
        receive_window: ReceiveWindow::Fixed { bytes: 4 * FULL },
        ..linux()
    };
    let mut s = Script::connected(&config);
    s.command(AppCommand::PauseReading);
    for number in 1..=4 {
        let data = s.data(number);
        s.arrive(data);
    }
    s.wait(100);
    let last = s.left().last().expect("an ACK left").segment;
    assert_eq!((last.ack, last.window), (4001, 0));
    s.command(AppCommand::ResumeReading);
    assert_eq!(s.sends_ack().window, 4000);
}

#[test]
fn the_window_is_said_in_units_of_its_scale() {
    let config = TcpConfig {
        receive_window: ReceiveWindow::Fixed { bytes: 1 << 20 },
        ..linux()
    };
    let mut s = Script::closed(&config);
    s.command(AppCommand::Connect);
    let syn = s.sends_ack();
    assert_eq!((syn.window_scale, syn.window), (Some(5), 65_535));
    let answer = s.syn(Flags::SYN | Flags::ACK, &config);
    s.arrive(answer);
    assert_eq!(s.sends_ack().window, 1 << 20);
}

// --- acknowledgments -----------------------------------------------------------------------------

#[test]
fn every_second_segment_is_acknowledged_and_a_single_one_after_the_timer() {
    let mut s = Script::connected(&profile("rfc"));
    let (first, second, third) = (s.data(1), s.data(2), s.data(3));
    s.arrive(first);
    s.sends_nothing();
    s.arrive(second);
    assert_eq!(s.sends_ack().ack, 2001);
    s.arrive(third);
    s.wait(199);
    assert!(s.left().is_empty());
    s.wait(1);
    assert_eq!(s.sends_ack().ack, 3001);
}

#[test]
fn linux_acknowledges_the_first_segments_at_once() {
    let mut s = Script::connected(&linux());
    for number in 1..=10 {
        let data = s.data(number);
        s.arrive(data);
        assert_eq!(s.sends_ack().ack, 1 + number * FULL);
    }
}

#[test]
fn a_gap_is_reported_at_once_and_a_duplicate_first() {
    let mut s = Script::connected(&profile("rfc"));
    let (first, third) = (s.data(1), s.data(3));
    s.arrive(third);
    let ack = s.sends_ack();
    assert_eq!(ack.ack, 1);
    assert_eq!(format!("{:?}", ack.sack), "[2001:3001]");
    s.arrive(first);
    s.left();
    s.arrive(first);
    let ack = s.sends_ack();
    assert_eq!(format!("{:?}", ack.sack), "[1:1001, 2001:3001]");
}

// --- sending -------------------------------------------------------------------------------------

#[test]
fn the_peers_segment_size_is_kept() {
    let config = linux();
    let mut s = Script::closed(&config);
    s.command(AppCommand::Connect);
    let answer = Segment {
        mss: 512,
        ..s.syn(Flags::SYN | Flags::ACK, &config)
    };
    s.arrive(answer);
    s.left();
    s.command(AppCommand::Write(fadeout_core::Bytes(1000)));
    let sizes: Vec<u32> = s.left().iter().map(|left| left.segment.len).collect();
    assert_eq!(sizes, [500, 500]);
}

#[test]
fn a_peer_cannot_ask_for_tiny_segments() {
    let config = linux();
    let mut s = Script::closed(&config);
    s.command(AppCommand::Connect);
    let answer = Segment {
        mss: 1,
        ..s.syn(Flags::SYN | Flags::ACK, &config)
    };
    s.arrive(answer);
    s.left();
    s.command(AppCommand::Write(fadeout_core::Bytes(72)));
    assert_eq!(s.left().len(), 2);
}

/// Minshall's form of Nagle's algorithm, which Linux has: a small segment waits for a small one.
#[test]
fn nagle_holds_a_small_segment_while_a_small_one_is_outstanding() {
    for (nagle, sizes) in [(true, vec![1000, 10]), (false, vec![1000, 10, 20])] {
        let mut s = Script::connected(&TcpConfig { nagle, ..linux() });
        s.write(1);
        s.command(AppCommand::Write(fadeout_core::Bytes(10)));
        s.command(AppCommand::Write(fadeout_core::Bytes(20)));
        let found: Vec<u32> = s.left().iter().map(|left| left.segment.len).collect();
        assert_eq!(found, sizes);
    }
}

#[test]
fn an_idle_connection_starts_again_with_a_smaller_window() {
    for (shrinks, window) in [(true, 10), (false, 20)] {
        let config = TcpConfig {
            slow_start_after_idle: shrinks,
            ..linux()
        };
        let mut s = Script::connected(&config);
        s.write(10);
        s.wait(100);
        (1..=10).for_each(|acked| s.ack(acked));
        assert_eq!(s.cwnd(), 20);
        s.wait(5000);
        s.write(1);
        assert_eq!(s.cwnd(), window);
    }
}

#[test]
fn congestion_marks_are_negotiated_and_reduce_once_a_window() {
    let config = TcpConfig {
        ecn: EcnMode::Classic,
        ..linux()
    };
    let mut s = Script::connected(&config);
    s.write(40);
    assert!(s.left().iter().all(|left| left.ecn == Ecn::Ect0));
    s.wait(100);
    for acked in 1..=8 {
        let echo = Segment {
            flags: Flags::ACK | Flags::ECE,
            ..s.bare(acked)
        };
        s.arrive(echo);
    }
    assert_eq!(
        s.row().ssthresh_segments,
        4.5,
        "one reduction, of 9 in flight"
    );
    assert_eq!(
        s.log.events.iter().filter(|event| **event == "cwr").count(),
        1
    );
    let left = s.left();
    let told = left
        .iter()
        .filter(|left| left.segment.flags.has(Flags::CWR));
    assert_eq!(told.count(), 1, "the receiver is told once");
}

#[test]
fn a_mark_is_echoed_until_the_sender_has_heard() {
    let config = TcpConfig {
        ecn: EcnMode::Classic,
        ..linux()
    };
    let mut s = Script::connected(&config);
    let (marked, plain, heard) = (s.data(1), s.data(2), s.data(3));
    s.arrive_marked(marked, Ecn::Ce);
    assert!(s.sends_ack().flags.has(Flags::ECE));
    s.arrive_marked(plain, Ecn::Ect0);
    assert!(s.sends_ack().flags.has(Flags::ECE));
    let heard = Segment {
        flags: Flags::ACK | Flags::CWR,
        ..heard
    };
    s.arrive_marked(heard, Ecn::Ect0);
    assert!(!s.sends_ack().flags.has(Flags::ECE));
}

#[test]
fn a_bare_fin_is_not_ecn_capable() {
    let config = TcpConfig {
        ecn: EcnMode::Classic,
        ..linux()
    };
    let mut s = Script::connected(&config);
    s.command(AppCommand::Close);
    let left = s.left();
    assert!(left[0].segment.flags.has(Flags::FIN));
    assert_eq!(left[0].ecn, Ecn::NotEct);
}

// --- handshake and close -------------------------------------------------------------------------

#[test]
fn a_syn_without_an_answer_is_repeated_and_then_given_up() {
    let mut s = Script::closed(&exact());
    s.command(AppCommand::Connect);
    s.wait(200_000);
    let times: Vec<u64> = s.left().iter().map(|left| left.at_ms).collect();
    assert_eq!(times, [0, 1000, 3000, 7000, 15_000, 31_000, 63_000]);
    assert_eq!(s.events, [AppEvent::Aborted]);
}

#[test]
fn what_was_written_and_closed_before_the_handshake_goes_after_it() {
    let config = linux();
    let mut s = Script::closed(&config);
    s.command(AppCommand::Connect);
    s.write(1);
    s.command(AppCommand::Close);
    s.left();
    let answer = s.syn(Flags::SYN | Flags::ACK, &config);
    s.arrive(answer);
    let last = s.left().last().expect("data left").segment;
    assert_eq!((last.len, last.flags.has(Flags::FIN)), (1000, true));
    assert_eq!(s.state(), ConnectionState::FinWait1);
}

#[test]
fn a_close_before_anything_was_written_drops_the_attempt() {
    let mut s = Script::closed(&linux());
    s.command(AppCommand::Connect);
    s.command(AppCommand::Close);
    assert_eq!(s.state(), ConnectionState::Closed);
    s.command(AppCommand::Close);
    assert_eq!(s.events, [AppEvent::Closed], "said once");
}

#[test]
fn nothing_follows_a_fin() {
    let mut s = Script::connected(&linux());
    s.command(AppCommand::Close);
    s.left();
    s.write(3);
    s.sends_nothing();
}

#[test]
fn both_ends_may_close_at_once() {
    let mut s = Script::connected(&linux());
    s.command(AppCommand::Close);
    s.left();
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..s.bare(0)
    };
    s.arrive(fin);
    assert_eq!(s.state(), ConnectionState::Closing);
    assert_eq!(s.sends_ack().ack, 2);
    let ack = Segment {
        ack: 2,
        ..s.bare(0)
    };
    s.arrive(ack);
    assert_eq!(s.state(), ConnectionState::TimeWait);
    assert_eq!(s.events.last(), Some(&AppEvent::Closed));
}

#[test]
fn a_fin_that_comes_again_is_acknowledged_again() {
    let mut s = Script::connected(&linux());
    let fin = Segment {
        flags: Flags::ACK | Flags::FIN,
        ..s.bare(0)
    };
    s.arrive(fin);
    s.sends_nothing();
    // The application's own FIN would carry it.
    s.wait(41);
    assert_eq!(s.sends_ack().ack, 2);
    s.arrive(fin);
    assert_eq!(s.sends_ack().ack, 2);
}

#[test]
fn an_endpoint_serves_one_connection() {
    let mut s = Script::connected(&linux());
    s.command(AppCommand::Connect);
    s.command(AppCommand::Listen);
    s.sends_nothing();
    assert_eq!(s.state(), ConnectionState::Established);
}
