//! Checks an endpoint in arbitrary states with arbitrary segments, commands and wake-ups. The
//! endpoint never panics or loops without end, and its segments are well formed.
//!
//! The input is read as a list of operations. The caller of an endpoint unwraps sequence numbers
//! and scales windows, so these stay in the range that results. Everything else is arbitrary.

#![no_main]

use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Ecn, Flags, FlowId, NullProbe, SackBlock, Segment, Span, Time};
use fadeout_transport::congestion::{CONGESTION_CONTROLS, Congestion};
use fadeout_transport::tcp::{
    AppCommand, ConnectionState, EcnMode, Outbox, PROFILES, TcpConfig, TcpEndpoint,
};
use libfuzzer_sys::fuzz_target;

/// Maximum number of operations in one input, and of wake-ups between two operations.
const MOST_OPERATIONS: usize = 400;
const MOST_WAKES: usize = 200;
/// Number of sent segments after which an input ends. The window doubles with each round trip in
/// the input, so more segments would only take time.
const MOST_SEGMENTS: usize = 20_000;

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }
    fn word(&mut self) -> u64 {
        u64::from(self.byte()) << 8 | u64::from(self.byte())
    }
    /// Returns a number near one of `places`, or an arbitrary number.
    fn near(&mut self, places: &[u64]) -> u64 {
        let choice = self.byte();
        let place = places[usize::from(choice & 15) % places.len()];
        match choice >> 4 {
            0..8 => place,
            8..10 => place.saturating_add(u64::from(self.byte())),
            10..12 => place.saturating_sub(u64::from(self.byte())),
            12 => place.saturating_add(self.word()),
            13 => place.saturating_sub(self.word()),
            14 => self.word(),
            _ => self.word() << 32 | self.word(),
        }
    }
}

struct Bench {
    tcp: TcpEndpoint,
    out: Outbox,
    now: Time,
    /// First sequence number that the endpoint never sent, its last acknowledgment, and the end of
    /// the data sent to the endpoint.
    next: u64,
    acknowledged: u64,
    given: u64,
    stamp: u32,
    sent: usize,
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let mut bench = bench(&mut input);
    for _ in 0..MOST_OPERATIONS {
        if input.0.is_empty() || bench.sent > MOST_SEGMENTS {
            break;
        }
        bench.process_byte(&mut input);
    }
});

fn bench(input: &mut Input<'_>) -> Bench {
    let profile = PROFILES[usize::from(input.byte()) % PROFILES.len()].name;
    let congestion =
        CONGESTION_CONTROLS[usize::from(input.byte()) % CONGESTION_CONTROLS.len()].name;
    let none = Parameters::default();
    let mut config = TcpConfig::new(profile, &none).expect("the profile exists");
    let choices = input.byte();
    config.acks.ecn = match choices >> 6 {
        0 => EcnMode::Automatic,
        1 => EcnMode::Classic,
        2 => EcnMode::Dctcp,
        _ => EcnMode::Accurate,
    };
    config.recovery.tail_loss_probe ^= choices & 1 != 0;
    config.host.nagle = choices & 2 != 0;
    config.timestamps ^= choices & 4 != 0;
    if choices & 8 != 0 {
        config.mss = 88 + u32::from(input.byte());
    }
    if choices & 16 != 0 {
        config.timers.tick = Span::ZERO;
    }
    let congestion = Congestion::new(congestion, &none, Stream::new(1, "fuzz", 0));
    let congestion = congestion.expect("the congestion control exists");
    Bench {
        tcp: TcpEndpoint::new(&config, FlowId(0), congestion),
        out: Outbox::default(),
        now: Time::ZERO,
        next: 0,
        acknowledged: 0,
        given: 0,
        stamp: 0,
        sent: 0,
    }
}

impl Bench {
    fn process_byte(&mut self, input: &mut Input<'_>) {
        match input.byte() % 8 {
            0 => self.command(input),
            1 | 2 => self.wait(input),
            3 => self.arrive(&handshake(input), Ecn::NotEct),
            4 => {
                // Some ACKs are regular, so that inputs reach states deep in the protocol.
                let ack = input.near(&[self.next]);
                let segment = Segment {
                    seq: self.given,
                    ack,
                    window: 1 << 20,
                    flags: Flags::ACK,
                    has_timestamps: true,
                    ts_value: self.now.as_millis() as u32,
                    ts_echo: self.stamp,
                    ..Segment::default()
                };
                self.arrive(&segment, Ecn::NotEct);
            }
            _ => {
                let (segment, ecn) = self.any_segment(input);
                self.arrive(&segment, ecn);
            }
        }
    }

    fn command(&mut self, input: &mut Input<'_>) {
        let command = match input.byte() % 8 {
            0 => AppCommand::Listen,
            1 => AppCommand::Connect,
            2 | 3 => AppCommand::Write(Bytes(input.word())),
            4 => AppCommand::WriteForever,
            5 => AppCommand::Close,
            6 => {
                if input.byte() % 2 == 0 {
                    AppCommand::PauseReading
                } else {
                    AppCommand::ResumeReading
                }
            }
            _ => AppCommand::Abort,
        };
        self.tcp
            .on_app(self.now, command, &mut self.out, &mut NullProbe);
        self.check();
    }

    fn wait(&mut self, input: &mut Input<'_>) {
        let until = self.now + Span::from_micros(input.word() << (input.byte() % 12));
        for _ in 0..MOST_WAKES {
            let at = self.tcp.wake_at().max(self.now);
            if at > until {
                break;
            }
            self.now = at;
            self.tcp.on_wake(at, &mut self.out, &mut NullProbe);
            let is_stuck = self.tcp.wake_at() <= at && self.out.segments.is_empty();
            self.check();
            if is_stuck {
                self.tcp.on_wake(at, &mut self.out, &mut NullProbe);
                assert!(
                    self.tcp.wake_at() > at || !self.out.segments.is_empty(),
                    "a wake-up that does nothing is not asked for again"
                );
                self.check();
            }
        }
        self.now = self.now.max(until);
    }

    fn any_segment(&mut self, input: &mut Input<'_>) -> (Segment, Ecn) {
        let flags = u16::from(input.byte()) | Flags::ACK.0 * u16::from(input.byte() & 7 != 0);
        // Resets and SYNs end connections. So they make up less than a quarter of the segments.
        let rare = (Flags::RST | Flags::SYN).0;
        let flags = if input.byte() < 250 {
            flags & !rare
        } else {
            flags
        };
        let mut segment = Segment {
            seq: input.near(&[self.given, self.acknowledged, 0]),
            ack: input.near(&[self.next, 1]),
            window: input.near(&[1 << 20, 0, 3000]).min(65_535 << 14),
            len: input.near(&[0, 0, 1448, 1]).min(65_535) as u32,
            ts_value: input.near(&[self.now.as_millis()]) as u32,
            ts_echo: input.near(&[u64::from(self.stamp)]) as u32,
            flags: Flags(flags),
            has_timestamps: input.byte() & 1 != 0,
            ..Segment::default()
        };
        for _ in 0..input.byte() % 5 {
            let places = [self.next, segment.ack, 1, 1449, 2897, 5793];
            let start = input.near(&places);
            let end = input.near(&[self.next, start.saturating_add(1448), 2897]);
            segment.sack.push(SackBlock { start, end });
        }
        let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(input.byte() & 3)];
        (segment, ecn)
    }

    fn arrive(&mut self, segment: &Segment, ecn: Ecn) {
        self.tcp
            .on_segment(self.now, segment, ecn, &mut self.out, &mut NullProbe);
        if segment.seq <= self.acknowledged.max(1) {
            self.given = self.given.max(segment.end_seq());
        }
        self.check();
    }

    /// Asserts that the sent segments are well formed.
    fn check(&mut self) {
        for outgoing in &self.out.segments {
            let segment = &outgoing.segment;
            let is_syn = segment.flags.has(Flags::SYN);
            assert!(
                segment.seq <= self.next,
                "{segment:?} leaves a hole above {}",
                self.next
            );
            assert!(!is_syn || (segment.seq == 0 && segment.len == 0));
            assert!(is_syn || segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST));
            assert!(!(is_syn && segment.flags.has(Flags::FIN)));
            assert!(
                outgoing.ecn == Ecn::NotEct || segment.len > 0,
                "only data is ECN-capable"
            );
            assert!(segment.options_len() <= 40, "options fit the header");
            if segment.flags.has(Flags::ACK) && !is_syn && !segment.flags.has(Flags::RST) {
                assert!(segment.ack >= self.acknowledged, "acknowledgments do not go back");
                self.acknowledged = segment.ack;
            }
            self.next = self.next.max(segment.end_seq());
            if segment.has_timestamps {
                self.stamp = segment.ts_value;
            }
        }
        self.sent += self.out.segments.len();
        assert!(self.out.events.len() < 8, "a step reports little");
        let row = self.tcp.congestion_row(self.now);
        assert!(
            row.cwnd_segments >= 1.0 && row.cwnd_segments.is_finite(),
            "{row:?}"
        );
        if self.tcp.state() == ConnectionState::Closed {
            assert!(self.tcp.wake_at().is_never(), "a closed endpoint sleeps");
        }
        self.out.clear();
    }
}

/// Returns a SYN or SYN-ACK with arbitrary options.
fn handshake(input: &mut Input<'_>) -> Segment {
    let choices = input.byte();
    let mut flags = Flags::SYN;
    if choices & 1 != 0 {
        flags |= Flags::ACK;
    }
    if choices & 2 != 0 {
        flags |= Flags::ECE;
    }
    Segment {
        seq: 0,
        ack: u64::from(choices & 1),
        window: input.near(&[65_535]).min(65_535),
        flags,
        mss: input.near(&[1460, 0, 536]) as u16,
        window_scale: (choices & 4 != 0).then_some(7),
        sack_permitted: choices & 8 != 0,
        has_timestamps: choices & 16 != 0,
        ..Segment::default()
    }
}
