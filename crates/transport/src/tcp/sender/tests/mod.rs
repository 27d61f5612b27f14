//! Tests of the sending half. Each test passes acknowledgments to a sender, and checks its segments
//! and its state.

mod acks;
mod bursts;
mod limits;
mod losses;
mod nextseg;
mod schemes;
mod sending;
mod spurious;
mod timeouts;
mod without_sack;

use super::{Agreed, Sender, SenderContext, TimerKind, TimerOutcome};
use crate::congestion::{
    AckSample, Congestion, CongestionControl, CongestionEvent, Custom, EcnFeedback, RecoveryState,
    SentSample, Window,
};
use crate::tcp::config::{SocketKind, TcpConfig};
use crate::tcp::outbox::{AppEvent, Outbox, Outgoing};
use fadeout_core::registry::Parameters;
use fadeout_core::{
    Flags, FlowId, LinkInfo, Probe, RetransmitRow, SackBlock, Segment, Span, Time, TimeoutRow,
};
use std::sync::{Arc, Mutex};

/// Payload of a full segment, bytes. The n-th segment begins at 1000 n - 999.
pub(super) const FULL: u64 = 1000;

/// Calls that a congestion control received.
#[derive(Default)]
pub(super) struct ControlCalls {
    pub(super) acks: Vec<AckSample>,
    pub(super) events: Vec<CongestionEvent>,
    pub(super) idle: Vec<Span>,
    pub(super) sent: Vec<SentSample>,
    pub(super) notices: Vec<LinkInfo>,
    /// True if the congestion control ignores apparent losses.
    pub(super) holds: bool,
}

/// Rows that the sender recorded.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) timeouts: Vec<TimeoutRow>,
    pub(super) retransmits: Vec<RetransmitRow>,
}

impl Probe for Rows {
    fn timeout(&mut self, row: TimeoutRow) {
        self.timeouts.push(row);
    }
    fn retransmit(&mut self, row: RetransmitRow) {
        self.retransmits.push(row);
    }
}

/// A congestion control whose window halves and never grows.
struct Halving(Arc<Mutex<ControlCalls>>);

impl CongestionControl for Halving {
    fn on_ack(&mut self, _window: &mut Window, ack: &AckSample) {
        self.0.lock().expect("one thread").acks.push(*ack);
    }
    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        window.ssthresh = (window.cwnd / 2.0).max(2.0);
        self.0.lock().expect("one thread").events.push(*event);
    }
    fn on_sent(&mut self, _window: &mut Window, sent: &SentSample) {
        self.0.lock().expect("one thread").sent.push(*sent);
    }
    fn on_link_info(&mut self, _window: &mut Window, _now: Time, info: &LinkInfo) {
        self.0.lock().expect("one thread").notices.push(*info);
    }
    fn holds(&self, _now: Time, _rto: Span) -> bool {
        self.0.lock().expect("one thread").holds
    }
    fn on_idle_restart(&mut self, _window: &mut Window, _now: Time, idle: Span) {
        self.0.lock().expect("one thread").idle.push(idle);
    }
}

/// A sender under test. Its handshake took 100 ms and ended one second after the start.
pub(super) struct Bench {
    pub(super) sender: Sender,
    pub(super) now: Time,
    pub(super) peer_window: u64,
    pub(super) events: Vec<AppEvent>,
    pub(super) rows: Rows,
    /// Time at which the sender gave the connection up. `None` if it did not.
    pub(super) gave_up_at: Option<Time>,
    calls: Arc<Mutex<ControlCalls>>,
    left: Vec<Outgoing>,
}

/// Returns the Linux profile with 1000-byte segments that are sent singly, and with exact timers.
pub(super) fn linux() -> TcpConfig {
    round(TcpConfig::linux()).changed(|tcp| tcp.timers.wheel = false)
}

/// Returns `linux` without tail loss probes.
pub(super) fn without_probes() -> TcpConfig {
    linux().changed(|tcp| tcp.recovery.tail_loss_probe = false)
}

/// Returns the profile `name` with 1000-byte segments and an initial window of ten segments.
pub(super) fn profile(name: &str) -> TcpConfig {
    let config = TcpConfig::new(name, &Parameters::default()).expect("a profile");
    TcpConfig {
        initial_window: 10,
        ..round(config)
    }
}

fn round(mut config: TcpConfig) -> TcpConfig {
    config.mss = FULL as u32 + if config.timestamps { 12 } else { 0 };
    config.host.tso_bursts = false;
    config.buffers.send = SocketKind::Unbounded;
    config
}

pub(super) fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

impl Bench {
    pub(super) fn new(config: &TcpConfig) -> Bench {
        Bench::with_ecn(config, EcnFeedback::None)
    }

    pub(super) fn with_ecn(config: &TcpConfig, ecn: EcnFeedback) -> Bench {
        let calls = Arc::default();
        let control = Halving(Arc::clone(&calls));
        let control = Congestion::Custom(Custom(Box::new(control)));
        let mut bench = Bench {
            sender: Sender::new(&Arc::new(config.clone()), FlowId(0), control),
            now: Time::ZERO + Span::from_secs(1),
            peer_window: 64_000,
            events: Vec::new(),
            rows: Rows::default(),
            gave_up_at: None,
            calls,
            left: Vec::new(),
        };
        let agreed = Agreed {
            mss: FULL as u32,
            sack: config.recovery.method.uses_sack(),
            timestamps: config.timestamps,
            ecn,
            peer_window: bench.peer_window,
            handshake_rtt: Some(ms(100)),
            starts_from_one: false,
            is_crossed: false,
        };
        bench.sender.on_established(bench.now, agreed);
        bench
    }

    /// Returns a sender that sent `segments` segments one round trip ago.
    pub(super) fn sent(config: &TcpConfig, segments: u64) -> Bench {
        let mut bench = Bench::new(config);
        bench.write(segments);
        bench.wait(100);
        bench.left.clear();
        bench
    }

    /// Executes one step of the sender.
    pub(super) fn run_step<R>(
        &mut self,
        step: impl FnOnce(&mut Sender, &mut SenderContext<'_, Rows>) -> R,
    ) -> R {
        let mut out = Outbox::default();
        let mut cx = SenderContext {
            now: self.now,
            out: &mut out,
            probe: &mut self.rows,
        };
        let result = step(&mut self.sender, &mut cx);
        self.left.append(&mut out.segments);
        self.events.append(&mut out.events);
        result
    }

    pub(super) fn write_bytes(&mut self, bytes: u64) {
        self.sender.write(self.now, bytes);
        self.run_step(|sender, cx| sender.transmit(cx));
    }

    pub(super) fn write(&mut self, segments: u64) {
        self.write_bytes(segments * FULL);
    }

    /// Lets time pass and timers expire.
    pub(super) fn wait(&mut self, millis: u64) {
        let until = self.now + ms(millis);
        while self.sender.wake_at() <= until {
            self.now = self.now.max(self.sender.wake_at());
            if self.run_step(|sender, cx| sender.on_wake(cx)) == TimerOutcome::GiveUp {
                self.gave_up_at.get_or_insert(self.now);
            }
        }
        self.now = until;
    }

    /// Returns an ACK up to full segment `segments`. A test may change it.
    pub(super) fn bare(&self, segments: u64) -> Segment {
        Segment {
            seq: 1,
            ack: 1 + segments * FULL,
            window: self.peer_window,
            flags: Flags::ACK,
            ..Segment::default()
        }
    }

    pub(super) fn arrive(&mut self, segment: Segment) {
        self.run_step(|sender, cx| sender.on_ack(cx, &segment));
    }

    pub(super) fn ack(&mut self, segments: u64) {
        self.arrive(self.bare(segments));
    }

    /// Acknowledges up to full segment `segments`, and SACKs ranges of full segments, both ends
    /// included.
    pub(super) fn sack(&mut self, segments: u64, ranges: &[(u64, u64)]) {
        self.arrive(self.sacking(segments, ranges));
    }

    pub(super) fn sacking(&self, segments: u64, ranges: &[(u64, u64)]) -> Segment {
        let mut ack = self.bare(segments);
        for &(from, to) in ranges {
            ack.sack.push(SackBlock {
                start: 1 + (from - 1) * FULL,
                end: 1 + to * FULL,
            });
        }
        ack
    }

    /// Returns the segments that were sent since the last call.
    pub(super) fn left(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.left)
    }

    /// Returns the numbers of the data segments that were sent since the last call.
    pub(super) fn numbers(&mut self) -> Vec<u64> {
        let left = self.left().into_iter().map(|left| left.segment);
        let data = left.filter(|segment| segment.len > 0);
        data.map(|segment| (segment.seq - 1) / FULL + 1).collect()
    }

    /// Returns the calls of the congestion control since the last call.
    pub(super) fn control_calls(&mut self) -> ControlCalls {
        let mut calls = self.calls.lock().expect("one thread");
        let holds = calls.holds;
        std::mem::replace(
            &mut *calls,
            ControlCalls {
                holds,
                ..ControlCalls::default()
            },
        )
    }

    /// Lets the congestion control ignore apparent losses from now on, or not.
    pub(super) fn hold(&mut self, holds: bool) {
        self.calls.lock().expect("one thread").holds = holds;
    }

    /// Returns the only ACK sample since the last call.
    #[track_caller]
    pub(super) fn sample(&mut self) -> AckSample {
        let acks = self.control_calls().acks;
        assert_eq!(acks.len(), 1, "one ACK was told of");
        acks[0]
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.sender.window.cwnd
    }

    pub(super) fn state(&self) -> RecoveryState {
        self.sender.state
    }

    /// Returns the running timer and its remaining time. `None` if no timer runs.
    pub(super) fn timer(&self) -> Option<(TimerKind, Span)> {
        let (kind, at) = self.sender.timer?;
        Some((kind, at.since(self.now)))
    }
}
