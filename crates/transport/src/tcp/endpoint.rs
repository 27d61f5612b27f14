//! One end of a connection: handshake, close, and the two halves in between.
//!
//! Standard: RFC 9293.

mod crossed;
mod early;
mod handshake;
mod socket;

use super::accurate::Accurate;
use super::config::TcpConfig;
use super::outbox::{AppEvent, Outbox, Outgoing};
use super::receiver::Receiver;
use super::sender::{Sender, SenderStatistics, Step, TimerOutcome};
use crate::congestion::{Congestion, RecoveryState, Window};
use crate::multipath::coupling::PathState;
use early::Early;
use fadeout_core::{
    Bytes, Ecn, Flags, FlowEnd, FlowId, LinkInfo, Probe, Rate, Segment, Span, Time,
};
use handshake::Offer;

/// Connection states.
///
/// Standard: RFC 9293 §3.3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the standard's names")]
pub enum ConnectionState {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// By how many milliseconds a timestamp may go back (Linux `TCP_PAWS_WINDOW`).
const PAWS_WINDOW: u32 = 1;

/// What an application may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppCommand {
    /// Wait for a peer.
    Listen,
    /// Open a connection.
    Connect,
    /// Send this many bytes more.
    Write(Bytes),
    /// Send without end.
    WriteForever,
    /// Send no more once everything written is sent.
    Close,
    /// Stop reading: what arrives fills the receive buffer.
    PauseReading,
    /// Read again.
    ResumeReading,
    /// Take this many bytes out of the receive buffer while reading is paused.
    Read(Bytes),
    /// Drop the connection at once.
    Abort,
}

/// One end of a TCP connection, without clock or I/O: segments, timers and application commands
/// come in through `on_*`, what must happen leaves through the [`Outbox`], and
/// [`TcpEndpoint::wake_at`] says when to call [`TcpEndpoint::on_wake`].
///
/// TIME-WAIT lasts without a timer: simulated port numbers are never used again.
#[derive(Debug)]
pub struct TcpEndpoint {
    config: TcpConfig,
    flow: FlowId,
    state: ConnectionState,
    sender: Sender,
    receiver: Receiver,
    /// Handshake timer and how often the SYN or SYN-ACK was sent.
    syn_at: Time,
    syn_sent_at: Time,
    /// When the first SYN or SYN-ACK was sent.
    first_syn_at: Time,
    syns: u32,
    /// What the peer's SYN offered, once it came.
    offer: Offer,
    has_offer: bool,
    early: Early,
    /// Both ends opened, and the SYNs crossed.
    is_crossed: bool,
    accurate: Option<Box<Accurate>>,
}

/// What a multipath connection looks at in a subflow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubflowView {
    pub(crate) srtt: Span,
    pub(crate) variance: Span,
    pub(crate) rto: Span,
    /// When the sender's timer expires: retransmission, loss probe or reordering.
    pub(crate) timer_at: Option<Time>,
    pub(crate) pacing_rate: Rate,
    pub(crate) in_flight: u32,
    pub(crate) snd_una: u64,
    pub(crate) snd_nxt: u64,
    pub(crate) rcv_nxt: u64,
    pub(crate) receiver_rtt: Option<Span>,
    pub(crate) recovery_state: RecoveryState,
    pub(crate) timeouts_in_a_row: u32,
    pub(crate) may_send: bool,
}

impl TcpEndpoint {
    /// A closed endpoint.
    pub fn new(config: &TcpConfig, flow: FlowId, congestion: Congestion) -> TcpEndpoint {
        TcpEndpoint {
            config: config.clone(),
            flow,
            state: ConnectionState::Closed,
            sender: Sender::new(config, flow, congestion),
            receiver: Receiver::new(config),
            syn_at: Time::NEVER,
            syn_sent_at: Time::ZERO,
            first_syn_at: Time::ZERO,
            syns: 0,
            offer: Offer::default(),
            has_offer: false,
            early: Early::default(),
            is_crossed: false,
            accurate: config.accurate_ecn.map(Accurate::new).map(Box::new),
        }
    }

    /// Says which end of its flow this is; the one that sends the data unless said.
    #[must_use]
    pub fn at(mut self, end: FlowEnd) -> TcpEndpoint {
        self.sender.set_end(end);
        self
    }

    /// Takes a command of the application.
    pub fn on_app(
        &mut self,
        now: Time,
        command: AppCommand,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        match command {
            AppCommand::Listen if self.is_unused() => self.state = ConnectionState::Listen,
            AppCommand::Connect if self.is_unused() => {
                self.state = ConnectionState::SynSent;
                self.send_syn(now, out);
            }
            // An endpoint serves one connection (RFC 9293 section 3.10.1: it already exists).
            AppCommand::Listen | AppCommand::Connect => {}
            AppCommand::Write(bytes) => self.sender.write(now, bytes.0),
            AppCommand::WriteForever => self.sender.write(now, u64::MAX / 4),
            AppCommand::Close => self.close(out),
            AppCommand::PauseReading => {
                self.receiver.set_reading(now, false);
            }
            AppCommand::ResumeReading => {
                if self.receiver.set_reading(now, true) {
                    push_ack(&self.sender, out);
                }
            }
            AppCommand::Read(bytes) => {
                if self.receiver.read(now, bytes.0) {
                    push_ack(&self.sender, out);
                }
            }
            AppCommand::Abort => self.reset(out),
        }
        if self.may_send() {
            self.sender.transmit(&mut Step { now, out, probe });
        }
        self.stamp(now, out, from);
    }

    /// Takes a segment whose IP packet carried `ecn`.
    pub fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let mut from = out.segments.len();
        let decoded;
        let mut segment = segment;
        if self.accurate.is_some() {
            decoded = self.decode_accurate(segment, ecn);
            segment = &decoded;
        }
        match self.state {
            ConnectionState::Closed => return,
            ConnectionState::Listen => self.on_listen(now, segment, out, probe),
            ConnectionState::SynSent => self.on_syn_sent(now, segment, out, probe),
            _ => {
                if self.receiver.must_acknowledge_before(segment, ecn) {
                    push_ack(&self.sender, out);
                    self.stamp(now, out, from);
                    from = out.segments.len();
                }
                self.on_synchronised(now, segment, ecn, out, probe);
            }
        }
        self.stamp(now, out, from);
    }

    /// A wake-up; stale ones do nothing.
    pub fn on_wake(&mut self, now: Time, out: &mut Outbox, probe: &mut impl Probe) {
        let from = out.segments.len();
        if self.syn_at <= now {
            self.on_syn_timeout(now, out, probe);
        }
        if self.state != ConnectionState::Closed {
            let outcome = self.sender.on_wake(&mut Step { now, out, probe });
            if outcome == TimerOutcome::GiveUp {
                self.abort(out);
            } else if self.receiver.on_wake(now, self.sender.rtt().rto())
                && out.segments.len() == from
            {
                push_ack(&self.sender, out);
            }
        }
        self.stamp(now, out, from);
    }

    /// A link on the path tells something of itself.
    pub fn on_link_info(
        &mut self,
        now: Time,
        info: &LinkInfo,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        self.sender.tell_congestion_control(now, info);
        if self.may_send() {
            let mut cx = Step { now, out, probe };
            self.sender.on_link_info(&mut cx, info);
            self.sender.transmit(&mut cx);
        }
        let srtt = self.sender.rtt().srtt();
        for _ in 0..self.receiver.on_link_info(now, info, srtt) {
            push_ack(&self.sender, out);
        }
        self.stamp(now, out, from);
    }

    /// When the endpoint next wants [`TcpEndpoint::on_wake`]; [`Time::NEVER`] when only a segment
    /// or a command can change anything.
    #[inline]
    pub fn wake_at(&self) -> Time {
        if self.state == ConnectionState::Closed {
            return Time::NEVER;
        }
        self.syn_at
            .min(self.sender.wake_at())
            .min(self.receiver.wake_at())
    }

    /// Connection state.
    pub fn state(&self) -> ConnectionState {
        self.state
    }
    /// What the sending half counted.
    pub fn statistics(&self) -> SenderStatistics {
        self.sender.statistics()
    }
    /// The congestion window and threshold.
    pub fn window(&self) -> &Window {
        self.sender.window()
    }
    /// Smallest round-trip time seen; `None` before the first sample.
    pub fn min_rtt(&self) -> Option<Span> {
        Some(self.sender.rtt().min()).filter(|rtt| *rtt != Span::MAX)
    }
    /// Bytes acknowledged by the peer.
    pub fn acked_bytes(&self) -> u64 {
        self.sender.snd_una().saturating_sub(1)
    }
    /// A row of the congestion table.
    pub fn congestion_row(&self, now: Time) -> fadeout_core::CongestionRow {
        self.sender.congestion_row(now)
    }

    /// Lets a subflow send up to `bytes` of new data in the next step; see `Sender::offer`.
    #[inline]
    pub(crate) fn offer(&mut self, bytes: u64, holds_back: bool) {
        self.sender.offer(bytes, holds_back);
    }

    /// Sends what was offered, as far as the windows allow.
    pub(crate) fn push(&mut self, now: Time, out: &mut Outbox, probe: &mut impl Probe) {
        let from = out.segments.len();
        if self.may_send() {
            self.sender.transmit(&mut Step { now, out, probe });
        }
        self.stamp(now, out, from);
    }

    /// Puts an acknowledgment without data into the outbox.
    pub(crate) fn acknowledge(&mut self, now: Time, out: &mut Outbox) {
        let from = out.segments.len();
        push_ack(&self.sender, out);
        self.stamp(now, out, from);
    }

    /// Halves the window of a subflow that holds the others up.
    pub(crate) fn penalise(&mut self) {
        self.sender.penalise();
    }

    /// What a multipath connection looks at in a subflow.
    pub(crate) fn subflow_view(&self) -> SubflowView {
        let rtt = self.sender.rtt();
        SubflowView {
            srtt: rtt.srtt(),
            variance: rtt.variance(),
            rto: rtt.rto(),
            timer_at: self.sender.timer_at(),
            pacing_rate: self.sender.pacing_rate(),
            in_flight: self.sender.segments_in_flight(),
            snd_una: self.sender.snd_una(),
            snd_nxt: self.sender.snd_nxt(),
            rcv_nxt: self.receiver.rcv_nxt(),
            receiver_rtt: self.receiver.rtt(),
            recovery_state: self.sender.recovery_state(),
            timeouts_in_a_row: self.sender.timeouts_in_a_row(),
            may_send: self.may_send(),
        }
    }

    /// What a coupled congestion control tells the other subflows.
    pub(crate) fn coupled_state(&self, srtt: Span) -> PathState {
        let window = self.sender.window();
        let repairs = matches!(
            self.sender.recovery_state(),
            RecoveryState::Recovery | RecoveryState::Loss
        );
        let cwnd = if repairs {
            window.ssthresh.min(window.cwnd.max(2.0))
        } else {
            window.cwnd
        };
        match self.sender.congestion() {
            Congestion::Coupled(coupled) => coupled.state(cwnd, srtt.as_secs_f64()),
            _ => PathState::default(),
        }
    }

    /// Shows a coupled congestion control all subflows.
    pub(crate) fn see_paths(&mut self, on: usize, paths: &[PathState]) {
        if let Congestion::Coupled(coupled) = self.sender.congestion_mut() {
            coupled.see(on, paths);
        }
    }

    /// The connection has lost this subflow's path: nothing is sent any more.
    pub(crate) fn vanish(&mut self) {
        self.state = ConnectionState::Closed;
        self.syn_at = Time::NEVER;
    }

    fn may_send(&self) -> bool {
        matches!(
            self.state,
            ConnectionState::Established
                | ConnectionState::CloseWait
                | ConnectionState::FinWait1
                | ConnectionState::LastAck
                | ConnectionState::Closing
        ) || (self.state == ConnectionState::SynReceived && self.early.is_on)
    }

    fn close(&mut self, out: &mut Outbox) {
        match self.state {
            ConnectionState::SynSent if self.sender.awaited() > 0 => self.sender.finish(),
            ConnectionState::Listen | ConnectionState::SynSent => {
                self.state = ConnectionState::Closed;
                self.syn_at = Time::NEVER;
                out.events.push(AppEvent::Closed);
            }
            // It closes once it is established.
            ConnectionState::SynReceived if !self.early.is_on => self.sender.finish(),
            ConnectionState::Established | ConnectionState::SynReceived => {
                self.sender.finish();
                self.state = ConnectionState::FinWait1;
            }
            ConnectionState::CloseWait => {
                self.sender.finish();
                self.state = ConnectionState::LastAck;
            }
            _ => {}
        }
    }

    /// The application drops the connection: where the peer may know of it, it is told.
    ///
    /// Standard: RFC 9293 §3.10.5.
    fn reset(&mut self, out: &mut Outbox) {
        use ConnectionState as S;
        match self.state {
            S::Closed => return,
            S::Listen | S::SynSent | S::Closing | S::LastAck | S::TimeWait => {}
            S::SynReceived | S::Established | S::FinWait1 | S::FinWait2 | S::CloseWait => {
                let segment = Segment {
                    seq: self.sender.snd_nxt(),
                    flags: Flags::RST | Flags::ACK,
                    ..Segment::default()
                };
                out.segments.push(Outgoing {
                    segment,
                    ecn: Ecn::NotEct,
                });
            }
        }
        self.abort(out);
    }

    /// Whether no connection was ever opened with it.
    fn is_unused(&self) -> bool {
        self.syns == 0
            && matches!(
                self.state,
                ConnectionState::Closed | ConnectionState::Listen
            )
    }

    fn abort(&mut self, out: &mut Outbox) {
        self.state = ConnectionState::Closed;
        self.syn_at = Time::NEVER;
        out.events.push(AppEvent::Aborted);
    }

    #[inline]
    fn on_synchronised(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        if self.is_outdated(segment) {
            if self.receiver.answers_outdated(now, segment) {
                push_ack(&self.sender, out);
            }
            return;
        }
        if segment.flags.has(Flags::RST) {
            // RFC 5961 section 3.2: only the next sequence number resets; what is merely within
            // the window is questioned.
            let next = self.receiver.next();
            if segment.seq == next {
                self.abort(out);
            } else if self.receiver.is_within_window(segment.seq) {
                push_ack(&self.sender, out);
            }
            return;
        }
        if segment.flags.has(Flags::SYN) {
            if self.completes_crossing(segment) {
                self.on_crossed_answer(now, segment, out, probe);
                return;
            }
            // The peer did not hear the answer: say it again.
            if self.state == ConnectionState::SynReceived {
                self.send_syn(now, out);
            } else {
                push_ack(&self.sender, out);
            }
            return;
        }
        if !segment.flags.has(Flags::ACK) || segment.ack > self.most_acknowledged() {
            return; // RFC 9293 section 3.10.7.4: what was never sent cannot be acknowledged
        }
        let was_early = self.early.is_on && self.state == ConnectionState::SynReceived;
        if self.syn_at != Time::NEVER && segment.ack >= 1 {
            self.establish(now, segment, out, probe);
            self.resolve_crossing(now, segment, out, probe);
        }
        self.sender.on_ack(&mut Step { now, out, probe }, segment);
        let rtt = self.sender.rtt();
        let times = (rtt.rto(), rtt.srtt());
        let may_reply = self.state == ConnectionState::Established && !was_early;
        let received = self
            .receiver
            .on_segment(now, segment, ecn, times, may_reply);
        out.delivered_bytes += received.bytes;
        if received.ack_now && out.segments.len() == from {
            push_ack(&self.sender, out);
        }
        self.follow_close(received.fin, out);
    }

    /// Whether the timestamp shows an old segment. One that would change nothing, an acknowledgment
    /// overtaken on its way, passes (Linux `tcp_disordered_ack`).
    ///
    /// Standard: RFC 7323 §5.
    #[inline]
    fn is_outdated(&self, segment: &Segment) -> bool {
        let age = self.receiver.timestamp_age(segment);
        if age <= PAWS_WINDOW || segment.flags.has(Flags::RST) || segment.flags.has(Flags::SYN) {
            return false;
        }
        let changes_nothing = segment.seq_len() == 0
            && segment.seq == self.receiver.next()
            && segment.ack == self.sender.snd_una()
            && !self.sender.may_update_window(segment);
        !(changes_nothing && u64::from(age) <= self.sender.rtt().rto().as_millis())
    }

    /// State changes of the close.
    ///
    /// Standard: RFC 9293 §3.6.
    #[inline]
    fn follow_close(&mut self, fin: bool, out: &mut Outbox) {
        let is_open = self.state == ConnectionState::Established;
        if !is_open || self.receiver.has_received_fin() {
            self.close_further(fin, out);
        }
    }

    fn close_further(&mut self, fin: bool, out: &mut Outbox) {
        use ConnectionState as S;
        let fin_acked = self.sender.has_sent_fin() && self.sender.is_drained();
        let peer_done = self.receiver.has_received_fin();
        if fin && matches!(self.state, S::Established | S::FinWait1 | S::FinWait2) {
            out.events.push(AppEvent::PeerClosed);
        }
        let next = match self.state {
            S::Established if peer_done => S::CloseWait,
            S::FinWait1 if fin_acked && peer_done => S::TimeWait,
            S::FinWait1 if fin_acked => S::FinWait2,
            S::FinWait1 if peer_done => S::Closing,
            S::FinWait2 if peer_done => S::TimeWait,
            S::Closing if fin_acked => S::TimeWait,
            S::LastAck if fin_acked => S::Closed,
            same => same,
        };
        if next != self.state && matches!(next, S::TimeWait | S::Closed) {
            out.events.push(AppEvent::Closed);
            // Of thousands of flows most are over: they keep their statistics alone.
            self.sender.release();
        }
        self.state = next;
    }

    /// Writes acknowledgment, window, timestamps and SACK into what leaves.
    fn stamp(&mut self, now: Time, out: &mut Outbox, from: usize) {
        for outgoing in &mut out.segments[from..] {
            let Segment { flags, .. } = outgoing.segment;
            if flags.has(Flags::RST) && !flags.has(Flags::ACK) {
                continue; // it answers for no connection
            }
            if !flags.has(Flags::SYN) {
                self.receiver.stamp(now, &mut outgoing.segment);
                if let Some(accurate) = &mut self.accurate {
                    let is_over = self.state == ConnectionState::TimeWait;
                    accurate.stamp(&mut outgoing.segment, &mut outgoing.ecn, is_over);
                }
            } else if flags.has(Flags::ACK) {
                outgoing.segment.ts_echo = self.receiver.ts_recent();
            }
        }
    }
}

/// Queues an acknowledgment without data; its other fields are stamped when it leaves.
fn push_ack(sender: &Sender, out: &mut Outbox) {
    let segment = Segment {
        seq: sender.snd_nxt(),
        flags: Flags::ACK,
        ..Segment::default()
    };
    out.segments.push(Outgoing {
        segment,
        ecn: Ecn::NotEct,
    });
}
