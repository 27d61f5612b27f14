//! Endpoint of a connection. The endpoint passes segments, timers and commands between state
//! machines that do not depend on each other.
//!
//! - [`opening`]: the handshake
//! - [`lifecycle`]: the states of the connection, and its close
//! - `sender`, `receiver`: the two halves
//! - `accurate`: accurate ECN on the wire
//! - [`prediction`]: data segments that change the receiving half alone
//! - [`subflow`]: interface for a multipath connection
//!
//! Standard: RFC 9293.

pub(crate) mod fallback;
mod handshake;
mod lifecycle;
mod opening;
mod prediction;
mod socket;
mod subflow;

pub use lifecycle::ConnectionState;
pub use opening::Calls;
pub use socket::SocketOption;
pub(crate) use subflow::{SubflowView, receiver_of};

use super::accurate::Accurate;
use super::config::TcpConfig;
use super::outbox::{AppEvent, Outbox};
use super::receiver::{Coalesced, Receiver, shared};
use super::sender::{Delivery, Sender, SenderContext, SenderStatistics, TimerOutcome};
use crate::congestion::{Congestion, Window};
use fadeout_core::{Bytes, Ecn, Flags, FlowEnd, FlowId, LinkInfo, Probe, Segment, Time};
use lifecycle::{Close, Lifecycle, Reset};
use opening::Opening;
use std::sync::Arc;

/// Commands of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppCommand {
    /// Wait for a peer that opens the connection.
    Listen,
    /// Open a connection.
    Connect,
    /// Send this many bytes more.
    Write(Bytes),
    /// Send data without an end.
    WriteForever,
    /// Close the sending direction once all written data is sent.
    Close,
    /// Stop reading, so that arriving data fills the receive buffer.
    PauseReading,
    /// Continue to read after a pause.
    ResumeReading,
    /// Take this many bytes out of the receive buffer while reading is paused.
    Read(Bytes),
    /// Drop the connection at once.
    Abort,
}

/// Number of bytes that an application writes that sends without end.
const FOREVER: u64 = u64::MAX / 4;

/// Endpoint of a TCP connection, without clock or I/O. Segments, timers and application commands
/// arrive through `on_*`, and actions leave through the [`Outbox`]. [`TcpEndpoint::wake_at`]
/// returns the time to call [`TcpEndpoint::on_wake`].
///
/// TIME-WAIT has no timer, because simulated port numbers are never used again.
#[derive(Debug)]
pub struct TcpEndpoint {
    flow: FlowId,
    life: Lifecycle,
    opening: Opening,
    sender: Sender,
    receiver: Receiver,
    accurate: Option<Box<Accurate>>,
    /// True if predicted segments take the short path. Each step of the general path computes it.
    is_predicting: bool,
}

impl TcpEndpoint {
    /// Returns a closed endpoint.
    pub fn new(config: &TcpConfig, flow: FlowId, congestion: Congestion) -> TcpEndpoint {
        TcpEndpoint::sharing(&Arc::new(config.clone()), flow, congestion)
    }

    /// Returns a closed endpoint with a configuration shared with other endpoints.
    pub fn sharing(config: &Arc<TcpConfig>, flow: FlowId, congestion: Congestion) -> TcpEndpoint {
        TcpEndpoint {
            flow,
            life: Lifecycle::new(),
            opening: Opening::new(config),
            sender: Sender::new(config, flow, congestion),
            receiver: Receiver::new(config),
            accurate: config.acks.accurate_ecn.map(Accurate::new).map(Box::new),
            is_predicting: false,
        }
    }

    /// Sets which end of the flow this endpoint is. The default is the end that sends the data.
    #[must_use]
    pub fn with_end(mut self, end: FlowEnd) -> TcpEndpoint {
        self.sender.set_end(end);
        self
    }

    /// Processes a command of the application.
    pub fn on_app(
        &mut self,
        now: Time,
        command: AppCommand,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        match command {
            // An endpoint serves one connection (RFC 9293 section 3.10.1: it already exists).
            AppCommand::Listen | AppCommand::Connect if self.opening.has_begun() => {}
            AppCommand::Listen => self.life.listen(),
            AppCommand::Connect => {
                if self.life.connect() {
                    self.send_syn(now, out);
                }
            }
            AppCommand::Write(bytes) => self.sender.write(now, bytes.0),
            AppCommand::WriteForever => self.sender.write(now, FOREVER),
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
            self.sender.transmit(&mut SenderContext { now, out, probe });
        }
        self.stamp(now, out, from);
    }

    /// Processes a segment whose IP packet carried `ecn`.
    #[inline]
    pub fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if self.is_predicting
            && self.receiver.predicts(segment)
            && self.sender.changes_nothing(segment)
        {
            self.on_predicted(now, segment, ecn, out);
        } else {
            self.on_any_segment(now, segment, ecn, out, probe);
        }
    }

    #[inline]
    fn assert_invariants(&self) {
        self.sender.assert_invariants();
        self.receiver.assert_invariants();
    }

    /// Processes a segment on the general path.
    fn on_any_segment(
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
        if let Some(accurate) = &mut self.accurate {
            let delivery = || self.sender.preview_delivery(segment);
            let next = self.receiver.rcv_nxt();
            decoded = accurate.decode(self.life.state(), segment, ecn, next, delivery);
            segment = &decoded;
        }
        match self.life.state() {
            ConnectionState::Closed => return,
            ConnectionState::Listen | ConnectionState::SynSent => {
                self.on_handshake(now, segment, out, probe);
            }
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

    /// Processes a segment before the connection is synchronised.
    #[cold]
    fn on_handshake(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if self.life.state() == ConnectionState::Listen {
            self.on_call(now, segment, out, probe);
        } else {
            self.on_syn_sent(now, segment, out, probe);
        }
    }

    /// Processes segments that were merged into one.
    pub fn on_coalesced(
        &mut self,
        now: Time,
        merged: &Coalesced,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        shared::set_parts(&mut self.receiver, Some(merged.parts()));
        self.on_any_segment(now, merged.segment(), merged.ecn(), out, probe);
        shared::set_parts(&mut self.receiver, None);
    }

    /// Processes a wake-up. A stale wake-up has no effect.
    pub fn on_wake(&mut self, now: Time, out: &mut Outbox, probe: &mut impl Probe) {
        let from = out.segments.len();
        if self.opening.wake_at() <= now {
            self.on_syn_timeout(now, out, probe);
        }
        if self.life.state() != ConnectionState::Closed {
            let outcome = self.sender.on_wake(&mut SenderContext { now, out, probe });
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

    /// Processes information from a link on the path.
    pub fn on_link_info(
        &mut self,
        now: Time,
        info: &LinkInfo,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        self.sender.notify_congestion_control(now, info);
        if self.may_send() {
            let mut cx = SenderContext { now, out, probe };
            self.sender.on_link_info(&mut cx, info);
            self.sender.transmit(&mut cx);
        }
        let srtt = self.sender.rtt().srtt();
        for _ in 0..self.receiver.on_link_info(now, info, srtt) {
            push_ack(&self.sender, out);
        }
        self.stamp(now, out, from);
    }

    /// Returns the time of the next call of [`TcpEndpoint::on_wake`]. [`Time::NEVER`] if only a
    /// segment or a command can change the state.
    #[inline]
    pub fn wake_at(&self) -> Time {
        if self.life.state() == ConnectionState::Closed {
            return Time::NEVER;
        }
        let opening = self.opening.wake_at();
        opening
            .min(self.sender.wake_at())
            .min(self.receiver.wake_at())
    }

    /// Returns the connection state.
    pub fn state(&self) -> ConnectionState {
        self.life.state()
    }
    /// Returns the number and the times of the SYNs or SYN-ACKs that this end sent. `None` if it
    /// sent none.
    pub fn calls(&self) -> Option<Calls> {
        self.opening.calls()
    }
    /// Returns the counters of the sending half.
    pub fn statistics(&self) -> SenderStatistics {
        self.sender.statistics()
    }
    /// Returns the segments delivered and lost so far.
    pub fn delivery(&self) -> Delivery {
        self.sender.delivery()
    }
    /// Returns the congestion window and threshold.
    pub fn window(&self) -> &Window {
        self.sender.window()
    }
    /// Returns the number of bytes acknowledged by the peer.
    pub fn acked_bytes(&self) -> u64 {
        self.sender.snd_una().saturating_sub(1)
    }
    /// Returns a row of the congestion table.
    pub fn congestion_row(&self, now: Time) -> fadeout_core::CongestionRow {
        self.sender.congestion_row(now)
    }

    /// Returns the sending half. Used by a multipath connection.
    #[inline]
    pub(crate) fn sender(&self) -> &Sender {
        &self.sender
    }
    /// Returns the sending half for changes by a multipath connection.
    #[inline]
    pub(crate) fn sender_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }

    /// Sends the offered data as far as the windows allow.
    pub(crate) fn push(&mut self, now: Time, out: &mut Outbox, probe: &mut impl Probe) {
        let from = out.segments.len();
        if self.may_send() {
            self.sender.transmit(&mut SenderContext { now, out, probe });
        }
        self.stamp(now, out, from);
    }

    /// Ends the subflow after the connection has lost its path. No segment is sent any more.
    pub(crate) fn vanish(&mut self) {
        self.life.end();
        self.opening.end();
        self.is_predicting = false;
    }

    fn may_send(&self) -> bool {
        self.life.may_send(self.opening.is_early())
    }

    fn close(&mut self, out: &mut Outbox) {
        let carries_data = self.sender.awaited() > 0;
        match self.life.close(carries_data, self.opening.is_early()) {
            Close::Nothing => {}
            Close::Finish => self.sender.finish(self.may_send()),
            Close::Over => {
                self.opening.end();
                out.events.push(AppEvent::Closed);
            }
        }
    }

    /// Drops the connection for the application.
    fn reset(&mut self, out: &mut Outbox) {
        let reset = self.life.reset();
        if reset == Reset::Nothing {
            return;
        }
        if reset == Reset::Sent {
            out.push(Segment {
                seq: self.sender.snd_nxt(),
                flags: Flags::RST | Flags::ACK,
                ..Segment::default()
            });
        }
        self.abort(out);
    }

    fn abort(&mut self, out: &mut Outbox) {
        self.vanish();
        out.events.push(AppEvent::Aborted);
    }

    /// Processes a segment of a connection whose handshake is complete or half complete.
    ///
    /// Standard: RFC 9293 §3.10.7.4.
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
        let sender = || {
            let changes =
                segment.ack != self.sender.snd_una() || self.sender.may_update_window(segment);
            (changes, self.sender.rtt().rto())
        };
        if self.receiver.is_outdated(segment, sender) {
            if self.receiver.answers_outdated(now, segment) {
                push_ack(&self.sender, out);
            }
            return;
        }
        // Almost every segment has an ACK and neither RST nor SYN, so one comparison is enough.
        if !segment.flags.is_acknowledgment() {
            return self.on_control(now, segment, out, probe);
        }
        let most = self.opening.most_acknowledged(self.sender.snd_nxt());
        if segment.ack > most {
            return; // RFC 9293 section 3.10.7.4: data that was not sent cannot be acknowledged
        }
        let state = self.life.state();
        let was_early = state == ConnectionState::SynReceived && self.opening.is_early();
        if self.opening.wake_at() != Time::NEVER && segment.ack >= 1 {
            self.establish(now, segment, out, probe);
        }
        self.sender
            .on_ack(&mut SenderContext { now, out, probe }, segment);
        let rtt = self.sender.rtt();
        let times = (rtt.rto(), rtt.srtt());
        let may_reply = self.life.state() == ConnectionState::Established && !was_early;
        let received = self
            .receiver
            .on_segment(now, segment, ecn, times, may_reply);
        out.delivered_bytes += received.bytes;
        if received.ack_now && out.segments.len() == from {
            push_ack(&self.sender, out);
        }
        self.follow_close(received.fin, out);
    }

    /// Processes a segment with RST or SYN. A segment with none of RST, SYN and ACK is ignored.
    ///
    /// Standard: RFC 9293 §3.10.7.4; RFC 5961 §3.2.
    #[cold]
    fn on_control(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if segment.flags.has(Flags::RST) {
            // RFC 5961 section 3.2: an RST resets the connection only if it has the next sequence
            // number. Another RST within the window causes a challenge ACK.
            let next = self.receiver.rcv_nxt();
            if segment.seq == next {
                self.abort(out);
            } else if self.receiver.is_within_window(segment.seq) {
                push_ack(&self.sender, out);
            }
        } else if segment.flags.has(Flags::SYN) {
            let (snd_nxt, next) = (self.sender.snd_nxt(), self.receiver.rcv_nxt());
            if self.life.state() != ConnectionState::SynReceived {
                push_ack(&self.sender, out);
            } else if self.opening.is_crossed_answer(segment, snd_nxt, next) {
                self.on_crossed_answer(now, segment, out, probe);
            } else {
                // The peer repeated its SYN, so it did not receive the SYN-ACK. The SYN-ACK is sent
                // again.
                self.send_syn(now, out);
            }
        }
    }

    #[inline]
    fn follow_close(&mut self, fin: bool, out: &mut Outbox) {
        let is_open = self.life.state() == ConnectionState::Established;
        if !is_open || self.receiver.has_received_fin() {
            self.process_fins(fin, out);
        }
    }

    fn process_fins(&mut self, fin: bool, out: &mut Outbox) {
        if fin && self.life.reports_fin() {
            out.events.push(AppEvent::PeerClosed);
        }
        let own_is_acked = self.sender.has_sent_fin() && self.sender.is_drained();
        let peers_came = self.receiver.has_received_fin();
        if self.life.follow_fins(own_is_acked, peers_came) {
            out.events.push(AppEvent::Closed);
            // The memory is released now. A simulation may have thousands of finished flows, of
            // which only the statistics are needed.
            self.sender.release();
        }
    }

    /// Ends a step of the general path. Writes acknowledgment, window, timestamps and SACK blocks
    /// into segments to send.
    #[inline]
    fn stamp(&mut self, now: Time, out: &mut Outbox, from: usize) {
        if out.segments.len() > from {
            self.stamp_all(now, out, from);
        }
        self.is_predicting = self.may_predict();
        self.assert_invariants();
    }

    /// Writes the fields of [`stamp`](Self::stamp) into at least one segment. Adds an ACK if
    /// reading has opened the window.
    fn stamp_all(&mut self, now: Time, out: &mut Outbox, from: usize) {
        for outgoing in &mut out.segments[from..] {
            let Segment { flags, .. } = outgoing.segment;
            if flags.has(Flags::RST) && !flags.has(Flags::ACK) {
                continue; // a reset without an ACK belongs to no connection
            }
            if !flags.has(Flags::SYN) {
                self.receiver.stamp(now, &mut outgoing.segment);
                if let Some(accurate) = &mut self.accurate {
                    let is_over = self.life.state() == ConnectionState::TimeWait;
                    accurate.stamp(&mut outgoing.segment, &mut outgoing.ecn, is_over);
                }
            } else if flags.has(Flags::ACK) {
                outgoing.segment.ts_echo = self.receiver.ts_recent();
            }
        }
        if self.receiver.take_update() {
            let from = out.segments.len();
            push_ack(&self.sender, out);
            self.stamp_all(now, out, from);
        }
    }
}

/// Queues an acknowledgment without data. Its other fields are written when the segment is sent.
fn push_ack(sender: &Sender, out: &mut Outbox) {
    out.push(Segment {
        seq: sender.snd_nxt(),
        flags: Flags::ACK,
        ..Segment::default()
    });
}

#[cfg(test)]
mod tests;
