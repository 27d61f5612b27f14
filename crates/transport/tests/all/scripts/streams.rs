//! Tests of the receiver's window, of acknowledgments, and of the contents of a sender's segments.

use super::*;

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
    let config = linux().changed(|tcp| tcp.timers.maximum_retries = 3);
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
    let config = linux()
        .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 4 * FULL });
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
    let config =
        linux().changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 1 << 20 });
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

/// Minshall's form of Nagle's algorithm, as in Linux: a small segment waits while another small one
/// is outstanding.
#[test]
fn nagle_holds_a_small_segment_while_a_small_one_is_outstanding() {
    for (nagle, sizes) in [(true, vec![1000, 10]), (false, vec![1000, 10, 20])] {
        let mut s = Script::connected(&linux().changed(|tcp| tcp.host.nagle = nagle));
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
    let config = linux().changed(|tcp| tcp.acks.ecn = EcnMode::Classic);
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
    let reported = left
        .iter()
        .filter(|left| left.segment.flags.has(Flags::CWR));
    assert_eq!(reported.count(), 1, "the receiver is told once");
}

#[test]
fn a_mark_is_echoed_until_the_sender_has_heard() {
    let config = linux().changed(|tcp| tcp.acks.ecn = EcnMode::Classic);
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
    let config = linux().changed(|tcp| tcp.acks.ecn = EcnMode::Classic);
    let mut s = Script::connected(&config);
    s.command(AppCommand::Close);
    let left = s.left();
    assert!(left[0].segment.flags.has(Flags::FIN));
    assert_eq!(left[0].ecn, Ecn::NotEct);
}
