//! One endpoint whose peer the test plays. The lines of a test read like packetdrill scripts.
//!
//! Full segments carry 1000 bytes, so the n-th segment begins at 1000 n - 999.

use fadeout_core::{
    Bytes, CongestionRow, Ecn, Flags, FlowEventRow, FlowId, Probe, RetransmitCause, RetransmitRow,
    SackBlock, Segment, Span, Time, TimeoutRow,
};
use fadeout_core::{random::Stream, registry::Parameters};
use fadeout_testkit::Notation;
use fadeout_transport::congestion::Congestion;
use fadeout_transport::tcp::{
    AppCommand, AppEvent, ConnectionState, EcnMode, Outbox, SocketOption, TcpConfig, TcpEndpoint,
};

/// Payload of a full segment.
pub(crate) const FULL: u64 = 1000;

/// Reports of an endpoint.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) causes: Vec<RetransmitCause>,
    pub(crate) timeouts: Vec<Span>,
    pub(crate) events: Vec<&'static str>,
}

impl Probe for Log {
    fn retransmit(&mut self, row: RetransmitRow) {
        self.causes.push(row.cause);
    }
    fn timeout(&mut self, row: TimeoutRow) {
        self.timeouts.push(row.rto_s);
    }
    fn flow_event(&mut self, row: FlowEventRow) {
        self.events.push(row.event);
    }
}

/// A segment that the endpoint sent, with its time.
#[derive(Clone, Copy)]
pub(crate) struct Left {
    pub(crate) at_ms: u64,
    pub(crate) segment: Segment,
    pub(crate) ecn: Ecn,
}

/// An endpoint under test.
pub(crate) struct Script {
    tcp: TcpEndpoint,
    out: Outbox,
    now: Time,
    has_timestamps: bool,
    /// Fields of the peer's segments.
    peer_seq: u64,
    peer_ack: u64,
    /// Newest timestamp of the endpoint. The peer echoes it unless the test sets another.
    echo: u32,
    pub(crate) peer_window: u64,
    left: Vec<Left>,
    pub(crate) log: Log,
    pub(crate) events: Vec<AppEvent>,
    pub(crate) read: u64,
}

/// Returns the Linux profile with 1000-byte segments, without bursts and with NewReno, whose window
/// is easy to predict.
pub(crate) fn linux() -> TcpConfig {
    with_round_segments(TcpConfig::linux())
}

/// Returns the profile `name` with 1000-byte segments.
pub(crate) fn profile(name: &str) -> TcpConfig {
    with_round_segments(TcpConfig::new(name, &Parameters::default()).expect("a profile"))
}

fn with_round_segments(mut config: TcpConfig) -> TcpConfig {
    config.mss = FULL as u32 + if config.timestamps { 12 } else { 0 };
    config.host.tso_bursts = false;
    config
}

impl Script {
    /// Returns a closed endpoint.
    pub(crate) fn closed(config: &TcpConfig) -> Script {
        let none = Parameters::default();
        let congestion = Congestion::new("newreno", &none, Stream::new(1, "script", 0));
        let congestion = congestion.expect("newreno is registered");
        Script {
            tcp: TcpEndpoint::new(config, FlowId(0), congestion),
            out: Outbox::default(),
            now: Time::ZERO,
            has_timestamps: config.timestamps,
            peer_seq: 1,
            peer_ack: 1,
            echo: 0,
            peer_window: 64_000,
            left: Vec::new(),
            log: Log::default(),
            events: Vec::new(),
            read: 0,
        }
    }

    /// Returns a connected endpoint after a handshake of 100 ms. Its output has been removed.
    pub(crate) fn connected(config: &TcpConfig) -> Script {
        let mut script = Script::closed(config);
        script.command(AppCommand::Connect);
        script.wait(100);
        let syn_ack = script.syn(Flags::SYN | Flags::ACK, config);
        script.arrive(syn_ack);
        script.left.clear();
        script
    }

    /// Returns a SYN or SYN-ACK of a peer that supports all options of `config`.
    pub(crate) fn syn(&self, flags: Flags, config: &TcpConfig) -> Segment {
        Segment {
            ack: u64::from(flags.has(Flags::ACK)),
            window: self.peer_window.min(65_535),
            flags: if config.acks.ecn != EcnMode::Off {
                flags | Flags::ECE
            } else {
                flags
            },
            mss: config.mss as u16,
            window_scale: Some(7),
            sack_permitted: config.recovery.method.uses_sack(),
            has_timestamps: config.timestamps,
            ts_echo: self.echo,
            ..Segment::default()
        }
    }

    /// Returns the endpoint.
    pub(crate) fn tcp(&mut self) -> &mut TcpEndpoint {
        &mut self.tcp
    }

    /// Sets an option of the socket.
    pub(crate) fn set(&mut self, option: SocketOption) {
        self.tcp.set(self.now, option);
    }

    /// Passes a command of the application to the endpoint.
    pub(crate) fn command(&mut self, command: AppCommand) {
        let Script { tcp, out, log, .. } = self;
        tcp.on_app(self.now, command, out, log);
        self.collect();
    }

    /// Writes `segments` full segments.
    pub(crate) fn write(&mut self, segments: u64) {
        self.command(AppCommand::Write(Bytes(segments * FULL)));
    }

    /// Lets time pass and timers expire.
    pub(crate) fn wait(&mut self, millis: u64) {
        let until = self.now + Span::from_millis(millis);
        while self.tcp.wake_at() <= until {
            self.now = self.tcp.wake_at().max(self.now);
            let Script { tcp, out, log, .. } = self;
            tcp.on_wake(self.now, out, log);
            self.collect();
        }
        self.now = until;
    }

    /// Passes a segment of the peer to the endpoint.
    pub(crate) fn arrive(&mut self, segment: Segment) {
        self.arrive_marked(segment, Ecn::NotEct);
    }

    pub(crate) fn arrive_marked(&mut self, segment: Segment, ecn: Ecn) {
        self.peer_seq = self.peer_seq.max(segment.end_seq());
        let Script { tcp, out, log, .. } = self;
        tcp.on_segment(self.now, &segment, ecn, out, log);
        self.collect();
    }

    /// Returns an ACK without data up to full segment `segments`. A test may change it.
    pub(crate) fn bare(&self, segments: u64) -> Segment {
        Segment {
            seq: self.peer_seq,
            ack: 1 + segments * FULL,
            window: self.peer_window,
            flags: Flags::ACK,
            has_timestamps: self.has_timestamps,
            ts_value: self.now.as_millis() as u32,
            ts_echo: self.echo,
            ..Segment::default()
        }
    }

    /// Acknowledges all data up to full segment `segments`.
    pub(crate) fn ack(&mut self, segments: u64) {
        self.arrive(self.bare(segments));
        self.peer_ack = self.peer_ack.max(1 + segments * FULL);
    }

    /// Acknowledges up to full segment `segments` and SACKs the ranges `from..to`, the newest
    /// first. Segments are counted from 1, and both ends of a range are included.
    pub(crate) fn sack(&mut self, segments: u64, ranges: &[(u64, u64)]) {
        let mut ack = self.bare(segments);
        for &(from, to) in ranges {
            ack.sack.push(SackBlock {
                start: 1 + (from - 1) * FULL,
                end: 1 + to * FULL,
            });
        }
        self.arrive(ack);
    }

    /// Returns data of the peer: full segment `number`, counted from 1.
    pub(crate) fn data(&self, number: u64) -> Segment {
        Segment {
            seq: 1 + (number - 1) * FULL,
            ack: self.peer_ack,
            len: FULL as u32,
            ..self.bare(0)
        }
    }

    fn collect(&mut self) {
        self.read += self.out.delivered_bytes;
        self.events.append(&mut self.out.events);
        for outgoing in self.out.segments.drain(..) {
            if outgoing.segment.has_timestamps {
                self.echo = outgoing.segment.ts_value;
            }
            self.left.push(Left {
                at_ms: self.now.as_millis(),
                segment: outgoing.segment,
                ecn: outgoing.ecn,
            });
        }
        self.out.clear();
    }

    /// Removes and returns the segments that were sent since the last call.
    pub(crate) fn left(&mut self) -> Vec<Left> {
        std::mem::take(&mut self.left)
    }

    /// Asserts that these full segments left, in this order.
    #[track_caller]
    pub(crate) fn sends(&mut self, numbers: &[u64]) {
        let left = self.left();
        let lines: Vec<String> = left
            .iter()
            .map(|left| format!("{} ms {}", left.at_ms, Notation(&left.segment)))
            .collect();
        let found: Vec<u64> = left
            .iter()
            .filter(|left| left.segment.len > 0)
            .map(|left| (left.segment.seq - 1) / FULL + 1)
            .collect();
        assert_eq!(found, numbers, "{}", lines.join("\n"));
    }

    /// Asserts that one segment without data left, and returns it.
    #[track_caller]
    pub(crate) fn sends_ack(&mut self) -> Segment {
        let left = self.left();
        assert_eq!(left.len(), 1, "one segment leaves");
        assert_eq!(left[0].segment.len, 0, "{}", Notation(&left[0].segment));
        left[0].segment
    }

    /// Asserts that no segment left.
    #[track_caller]
    pub(crate) fn sends_nothing(&mut self) {
        self.sends(&[]);
    }

    /// Returns the time since the start in milliseconds.
    pub(crate) fn now_ms(&self) -> u64 {
        self.now.as_millis()
    }
    /// Returns the state of the connection.
    pub(crate) fn state(&self) -> ConnectionState {
        self.tcp.state()
    }
    /// Returns the congestion state of the sender.
    pub(crate) fn row(&self) -> CongestionRow {
        self.tcp.congestion_row(self.now)
    }
    /// Returns the congestion window in whole segments.
    pub(crate) fn cwnd(&self) -> u64 {
        self.row().cwnd_segments as u64
    }
}
