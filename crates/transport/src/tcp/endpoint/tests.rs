//! Tests of an endpoint whose peer sends segments that fadeout's own endpoint would not send.

use super::*;
use crate::tcp::config::{AccurateEcn, ReceiveWindow};
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{NullProbe, SackBlock, Span};

/// Endpoint under test.
struct Bench {
    tcp: TcpEndpoint,
    now: Time,
    events: Vec<AppEvent>,
}

fn config() -> TcpConfig {
    TcpConfig::linux().changed(|tcp| {
        tcp.timers.wheel = false;
        tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 60_000 };
        tcp.mss = 1012;
    })
}

impl Bench {
    fn new(config: &TcpConfig) -> Bench {
        let none = Parameters::default();
        let congestion = Congestion::new("newreno", &none, Stream::new(1, "endpoint", 0));
        let congestion = congestion.expect("newreno is registered");
        Bench {
            tcp: TcpEndpoint::new(config, FlowId(0), congestion),
            now: Time::ZERO + Span::from_secs(1),
            events: Vec::new(),
        }
    }

    /// Returns a connected endpoint after a handshake of 100 ms.
    fn connected(config: &TcpConfig) -> Bench {
        let mut b = Bench::new(config);
        b.command(AppCommand::Connect);
        b.wait(100);
        b.arrive(b.syn(Flags::SYN | Flags::ACK));
        assert_eq!(b.tcp.state(), ConnectionState::Established);
        b
    }

    fn wait(&mut self, millis: u64) {
        self.now += Span::from_millis(millis);
    }

    /// Passes a command to the endpoint. Returns the segments that it sends.
    fn command(&mut self, command: AppCommand) -> Vec<Segment> {
        let mut out = Outbox::default();
        self.tcp.on_app(self.now, command, &mut out, &mut NullProbe);
        self.left(out)
    }

    /// Passes a segment to the endpoint. Returns the segments that it sends.
    fn arrive(&mut self, segment: Segment) -> Vec<Segment> {
        let mut out = Outbox::default();
        let probe = &mut NullProbe;
        self.tcp
            .on_segment(self.now, &segment, Ecn::NotEct, &mut out, probe);
        self.left(out)
    }

    fn left(&mut self, mut out: Outbox) -> Vec<Segment> {
        self.events.append(&mut out.events);
        out.segments.iter().map(|left| left.segment).collect()
    }

    fn millis(&self) -> u32 {
        self.now.as_millis() as u32
    }

    fn syn(&self, flags: Flags) -> Segment {
        Segment {
            ack: u64::from(flags.has(Flags::ACK)),
            mss: 1012,
            window: 5_000,
            window_scale: Some(0),
            sack_permitted: true,
            ts_echo: 1_000,
            ..segment(flags, 0, self.millis())
        }
    }
}

/// Returns a segment that acknowledges the SYN and offers a window of 5000 bytes.
fn segment(flags: Flags, seq: u64, ts_value: u32) -> Segment {
    Segment {
        seq,
        ack: 1,
        window: 5_000,
        flags,
        has_timestamps: true,
        ts_value,
        ..Segment::default()
    }
}

#[test]
fn an_endpoint_that_was_dropped_opens_no_second_connection() {
    for again in [AppCommand::Connect, AppCommand::Listen] {
        let mut b = Bench::connected(&config());
        b.command(AppCommand::Abort);
        assert_eq!(b.command(again), []);
        assert_eq!(b.tcp.state(), ConnectionState::Closed);
    }
}

#[test]
fn a_closed_endpoint_answers_nothing() {
    for flags in [Flags::SYN, Flags::SYN | Flags::ACK, Flags::ACK, Flags::RST] {
        let mut b = Bench::new(&config());
        assert_eq!(b.arrive(segment(flags, 0, 1_000)), []);
        assert_eq!(b.events, []);
    }
}

#[test]
fn only_a_syn_without_an_ack_calls() {
    for flags in [Flags::SYN | Flags::ACK, Flags::ACK, Flags(0)] {
        let mut b = Bench::new(&config());
        b.command(AppCommand::Listen);
        assert_eq!(b.arrive(b.syn(flags)), []);
        assert_eq!(b.tcp.state(), ConnectionState::Listen);
    }
}

#[test]
fn a_reset_says_what_was_sent_and_what_arrived() {
    let mut b = Bench::connected(&config());
    b.command(AppCommand::Write(Bytes(3_000)));
    let data = Segment {
        len: 700,
        ..segment(Flags::ACK, 1, b.millis())
    };
    b.arrive(data);
    let left = b.command(AppCommand::Abort);
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].seq, left[0].ack), (3_001, 701));
    assert!(left[0].flags.has(Flags::RST) && left[0].flags.has(Flags::ACK));
    assert!(left[0].has_timestamps);
}

#[test]
fn only_the_next_number_resets_and_one_within_the_window_is_questioned() {
    // A reset ends the connection only with the next sequence number. A reset with another number
    // in the window causes a challenge ACK (RFC 5961 section 3.2).
    for (seq, is_over, answers) in [(1, true, 0), (2, false, 1), (100_000, false, 0)] {
        let mut b = Bench::connected(&config());
        let left = b.arrive(segment(Flags::RST, seq, b.millis()));
        assert_eq!(left.len(), answers, "{seq}");
        assert_eq!(b.tcp.state() == ConnectionState::Closed, is_over, "{seq}");
        assert_eq!(b.events.contains(&AppEvent::Aborted), is_over, "{seq}");
    }
}

#[test]
fn an_old_ack_that_opens_the_window_is_outdated_and_one_that_changes_nothing_is_not() {
    // Linux `tcp_disordered_ack`: an old ACK that changes nothing is not answered. An old ACK with
    // a different window is answered.
    for (window, answers) in [(5_000, 0), (9_000, 1)] {
        let mut b = Bench::connected(&config());
        b.command(AppCommand::Write(Bytes(20_000)));
        b.arrive(segment(Flags::ACK, 1, b.millis()));
        let old = Segment {
            window,
            ..segment(Flags::ACK, 1, b.millis() - 10)
        };
        assert_eq!(b.arrive(old).len(), answers, "{window}");
        assert_eq!(b.tcp.sender().snd_nxt(), 5_001, "{window}");
    }
}

#[test]
fn two_ends_that_call_at_once_acknowledge_each_others_syn_once_more() {
    let mut b = Bench::new(&config());
    b.command(AppCommand::Connect);
    b.wait(50);
    let answer = b.arrive(b.syn(Flags::SYN));
    assert_eq!(answer.len(), 1);
    assert!(answer[0].flags.has(Flags::SYN) && answer[0].flags.has(Flags::ACK));
    b.wait(50);
    let left = b.arrive(b.syn(Flags::SYN | Flags::ACK));
    assert_eq!(b.tcp.state(), ConnectionState::Established);
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].seq, left[0].ack, left[0].len), (1, 1, 0));
    // The SACK block reports the SYN as a duplicate (RFC 2883).
    assert_eq!(left[0].sack.as_slice(), [SackBlock { start: 0, end: 1 }]);
    // Data that waits to be sent carries the ACK, so no separate ACK is sent.
    let mut b = Bench::new(&config());
    b.command(AppCommand::Connect);
    b.command(AppCommand::Write(Bytes(500)));
    b.arrive(b.syn(Flags::SYN));
    let left = b.arrive(b.syn(Flags::SYN | Flags::ACK));
    let lens: Vec<u32> = left.iter().map(|segment| segment.len).collect();
    assert_eq!(lens, [500]);
}

#[test]
fn the_fin_of_a_connection_opened_early_waits_for_the_reply_once_it_is_established() {
    let mut b = Bench::new(&config());
    b.tcp.set(b.now, SocketOption::FastOpen(1_000));
    b.command(AppCommand::Listen);
    let syn = Segment {
        len: 300,
        ..b.syn(Flags::SYN)
    };
    b.arrive(syn);
    assert!(b.tcp.info().has_taken_syn_data);
    b.wait(100);
    assert_eq!(b.arrive(segment(Flags::ACK, 301, b.millis())), []);
    assert_eq!(b.tcp.state(), ConnectionState::Established);
    let fin = segment(Flags::FIN | Flags::ACK, 301, b.millis());
    assert_eq!(b.arrive(fin), []);
    assert_eq!(b.tcp.state(), ConnectionState::CloseWait);
}

#[test]
fn the_info_tells_what_the_receiver_knows_of_its_peer() {
    let b = Bench::connected(&config());
    let info = b.tcp.info();
    // Before any data arrived, the assumed segment size of the peer is Linux's `TCP_MSS_DEFAULT`.
    assert_eq!((info.rcv_mss, info.has_taken_syn_data), (536, false));
    assert_eq!(info.accurate_ecn, None);
    let accurate = config().changed(|tcp| {
        tcp.acks.accurate_ecn = Some(AccurateEcn {
            sends_option: true,
            validates: true,
        });
    });
    assert!(Bench::new(&accurate).tcp.info().accurate_ecn.is_some());
}
