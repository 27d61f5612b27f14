//! Tests of connections with a peer of plain TCP.

use super::*;

/// End of a connection with a lossless pipe to the other end.
enum End {
    Multipath(Box<MultipathConnection>),
    Tcp(Box<TcpEndpoint>),
}

impl End {
    fn multipath(scheduler: &str, paths: usize) -> End {
        let pipes = vec![pipe(100, 10); paths];
        End::Multipath(Box::new(connection(&config(scheduler), &pipes)))
    }

    fn tcp() -> End {
        let config = TcpConfig::linux()
            .changed(|tcp| tcp.buffers.receive_window = ReceiveWindow::Fixed { bytes: 200_000 });
        End::Tcp(Box::new(TcpEndpoint::new(&config, FlowId(0), reno())))
    }

    fn wake_at(&self) -> Time {
        match self {
            End::Multipath(end) => end.wake_at(),
            End::Tcp(end) => end.wake_at(),
        }
    }
}

/// Action of one end.
enum Act {
    App(AppCommand),
    Segment(Segment),
    Wake,
}

/// Two ends with a delay of 10 ms between them.
struct Pair {
    now: Time,
    ends: [End; 2],
    air: Vec<(Time, usize, Segment)>,
    sent: Vec<(usize, Segment)>,
    delivered: [u64; 2],
    events: Vec<(usize, AppEvent)>,
    /// Number of the sent segment that is lost. `None` if none is lost.
    lost: Option<usize>,
}

impl Pair {
    fn new(ends: [End; 2]) -> Pair {
        Pair {
            now: Time::ZERO,
            ends,
            air: Vec::new(),
            sent: Vec::new(),
            delivered: [0; 2],
            events: Vec::new(),
            lost: None,
        }
    }

    fn act(&mut self, index: usize, act: Act) {
        let now = self.now;
        let mut own = Outbox::default();
        let mut out = PathOutbox::default();
        match (&mut self.ends[index], act) {
            (End::Tcp(end), Act::App(command)) => {
                end.on_app(now, command, &mut own, &mut NullProbe);
            }
            (End::Tcp(end), Act::Segment(segment)) => {
                end.on_segment(now, &segment, Ecn::NotEct, &mut own, &mut NullProbe);
            }
            (End::Tcp(end), Act::Wake) => end.on_wake(now, &mut own, &mut NullProbe),
            (End::Multipath(end), Act::App(command)) => {
                end.on_app(now, command, &mut out, &mut NullProbe);
            }
            (End::Multipath(end), Act::Segment(segment)) => {
                let first = PathId(0);
                end.on_segment(now, first, &segment, Ecn::NotEct, &mut out, &mut NullProbe);
            }
            (End::Multipath(end), Act::Wake) => end.on_wake(now, &mut out, &mut NullProbe),
        }
        assert!(out.segments.iter().all(|(path, _)| *path == PathId(0)));
        let sent = out.segments.iter().map(|(_, one)| one).chain(&own.segments);
        for outgoing in sent {
            self.sent.push((index, outgoing.segment));
            if self.lost != Some(self.sent.len() - 1) {
                let at = now + Span::from_millis(10);
                self.air.push((at, 1 - index, outgoing.segment));
            }
        }
        self.delivered[index] += out.delivered_bytes + own.delivered_bytes;
        let events = out.events.iter().chain(&own.events);
        self.events.extend(events.map(|event| (index, *event)));
    }

    fn run(&mut self, until: Time) {
        loop {
            let arrives_at = self.air.first().map_or(Time::NEVER, |first| first.0);
            let wakes = [self.ends[0].wake_at(), self.ends[1].wake_at()];
            let at = arrives_at.min(wakes[0]).min(wakes[1]);
            if at > until {
                return;
            }
            self.now = self.now.max(at);
            if arrives_at == at {
                let (_, end, segment) = self.air.remove(0);
                self.act(end, Act::Segment(segment));
            } else {
                self.act(usize::from(wakes[1] == at), Act::Wake);
            }
        }
    }

    fn has(&self, end: usize, event: AppEvent) -> bool {
        self.events.contains(&(end, event))
    }
}

/// Transfers data in both directions and closes both ends. Checks the segments of the multipath end
/// `multipath`, which has sent its SYN or SYN-ACK as its first segment.
fn transfer(mut pair: Pair, multipath: usize) {
    pair.act(1, Act::App(AppCommand::Listen));
    pair.act(0, Act::App(AppCommand::Connect));
    for (end, bytes) in [(0, 150_000), (1, 40_000)] {
        pair.act(end, Act::App(AppCommand::Write(Bytes(bytes))));
    }
    pair.run(ms(3_000));
    assert_eq!(pair.delivered, [40_000, 150_000]);
    pair.act(0, Act::App(AppCommand::Close));
    pair.run(ms(4_000));
    assert!(pair.has(1, AppEvent::PeerClosed) && !pair.has(0, AppEvent::Closed));
    pair.act(1, Act::App(AppCommand::Close));
    pair.run(ms(6_000));
    for end in 0..2 {
        assert!(pair.has(end, AppEvent::Established) && pair.has(end, AppEvent::PeerClosed));
        assert!(pair.has(end, AppEvent::Closed) && !pair.has(end, AppEvent::Aborted));
    }
    let End::Multipath(connection) = &pair.ends[multipath] else {
        panic!("the end is multipath");
    };
    assert!(connection.has_fallen_back());
    let sent = pair.sent.iter().filter(|(end, _)| *end == multipath);
    for (_, segment) in sent.skip(1) {
        assert!(segment.mptcp.is_empty(), "{segment:?}");
    }
    // A full segment has the size of a full segment of plain TCP.
    let largest = pair.sent.iter().map(|(_, segment)| segment.len).max();
    assert_eq!(largest, Some(1460 - 12));
}

#[test]
fn an_opener_falls_back_if_the_answer_has_no_option() {
    for scheduler in ["linux", "lowest-rtt"] {
        for paths in 1..3 {
            transfer(Pair::new([End::multipath(scheduler, paths), End::tcp()]), 0);
        }
    }
}

#[test]
fn a_listener_falls_back_if_the_syn_has_no_option() {
    for scheduler in ["linux", "lowest-rtt"] {
        for paths in 1..3 {
            transfer(Pair::new([End::tcp(), End::multipath(scheduler, paths)]), 1);
        }
    }
}

#[test]
fn a_connection_that_fell_back_repairs_losses() {
    for lost in [0, 1, 2, 4, 6, 9, 20, 40] {
        for ends in [
            [End::multipath("linux", 2), End::tcp()],
            [End::tcp(), End::multipath("linux", 2)],
        ] {
            let multipath = usize::from(matches!(ends[1], End::Multipath(_)));
            let mut pair = Pair::new(ends);
            pair.lost = Some(lost);
            // A repeated SYN carries MP_CAPABLE again.
            if lost > 1 {
                transfer(pair, multipath);
            } else {
                pair.act(1, Act::App(AppCommand::Listen));
                pair.act(0, Act::App(AppCommand::Connect));
                pair.act(0, Act::App(AppCommand::Write(Bytes(9_000))));
                pair.run(ms(9_000));
                assert_eq!(pair.delivered, [0, 9_000], "{lost}");
            }
        }
    }
}

#[test]
fn a_listener_falls_back_if_the_third_packet_has_no_option() {
    let mut pair = Pair::new([End::tcp(), End::multipath("linux", 2)]);
    pair.act(1, Act::App(AppCommand::Listen));
    let syn = Segment {
        flags: Flags::SYN,
        mss: 1460,
        window: 60_000,
        mptcp: MptcpOption::Capable,
        ..Segment::default()
    };
    pair.act(1, Act::Segment(syn));
    assert_eq!(pair.sent[0].1.mptcp, MptcpOption::Capable);
    let third = Segment {
        seq: 1,
        ack: 1,
        flags: Flags::ACK,
        window: 60_000,
        ..Segment::default()
    };
    pair.act(1, Act::Segment(third));
    pair.act(1, Act::App(AppCommand::Write(Bytes(1_000))));
    let (_, data) = pair.sent.last().expect("it sends");
    assert_eq!((data.len, data.mptcp), (1_000, MptcpOption::None));
    let join = Segment {
        mptcp: MptcpOption::Join { backup: false },
        ..syn
    };
    let End::Multipath(end) = &mut pair.ends[1] else {
        unreachable!("it is multipath");
    };
    let mut out = PathOutbox::default();
    end.on_segment(
        pair.now,
        PathId(1),
        &join,
        Ecn::NotEct,
        &mut out,
        &mut NullProbe,
    );
    assert!(out.segments.is_empty(), "no other subflow joins");
}

#[test]
fn a_fast_close_that_the_subflow_does_not_accept_has_no_effect() {
    let mut end = connection(&config("linux"), &[pipe(100, 10)]);
    let mut out = PathOutbox::default();
    end.on_app(Time::ZERO, AppCommand::Listen, &mut out, &mut NullProbe);
    let mut pass = |segment: Segment| {
        out.clear();
        let first = PathId(0);
        end.on_segment(
            Time::ZERO,
            first,
            &segment,
            Ecn::NotEct,
            &mut out,
            &mut NullProbe,
        );
        (
            out.segments.clone(),
            out.events.contains(&AppEvent::Aborted),
        )
    };
    let segment = |seq, flags, mptcp| Segment {
        seq,
        ack: u64::from(seq > 0),
        flags,
        mss: 1460,
        window: 60_000,
        mptcp,
        ..Segment::default()
    };
    pass(segment(0, Flags::SYN, MptcpOption::Capable));
    pass(segment(1, Flags::ACK, MptcpOption::Capable));
    for (seq, flags) in [(0, Flags::ACK), (9, Flags::RST), (0, Flags::RST)] {
        let (_, is_aborted) = pass(segment(seq, flags, MptcpOption::FastClose));
        assert!(!is_aborted, "{seq} {flags:?}");
    }
    // An acknowledgment is answered with a reset (RFC 8684 section 3.5, option A).
    let (sent, is_aborted) = pass(segment(1, Flags::ACK, MptcpOption::FastClose));
    assert!(is_aborted);
    let answers: Vec<MptcpOption> = sent.iter().map(|(_, one)| one.segment.mptcp).collect();
    assert_eq!(answers, [MptcpOption::Reset { reason: 0 }]);
    assert!(sent[0].1.segment.flags.has(Flags::RST));
}
