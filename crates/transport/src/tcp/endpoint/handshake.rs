//! Handshake, as far as it concerns several state machines of an endpoint.

use super::opening::{Answer, SynContents};
use super::{TcpEndpoint, push_ack};
use crate::congestion::EcnFeedback;
use crate::tcp::outbox::{AppEvent, Outbox};
use crate::tcp::sender::SenderContext;
use fadeout_core::{Ecn, Flags, Probe, RetransmitCause, RetransmitRow, Segment, Span, Time};

impl TcpEndpoint {
    /// Returns the fields of the next SYN that the sending and receiving halves determine.
    fn syn_contents(&self) -> SynContents {
        SynContents {
            next: self.receiver.rcv_nxt(),
            window: self.receiver.initial_window(),
            window_scale: self.receiver.window_scale(),
            unsent: self.sender.awaited(),
            needed_ecn: self.sender.needs_ecn(),
        }
    }

    pub(super) fn send_syn(&mut self, now: Time, out: &mut Outbox) {
        let contents = self.syn_contents();
        let syn = self.opening.syn(now, &contents, self.accurate.as_deref());
        if syn.len > 0 {
            self.sender.on_early_sent();
        }
        out.push(syn);
    }

    pub(super) fn on_syn_timeout(&mut self, now: Time, out: &mut Outbox, probe: &mut impl Probe) {
        if !self.opening.may_repeat() {
            self.abort(out);
            return;
        }
        probe.retransmit(RetransmitRow {
            time_s: now,
            flow: self.flow,
            end: self.sender.end(),
            offset_bytes: 0,
            payload_bytes: 0,
            cause: RetransmitCause::Syn,
            attempt: self.opening.syns(),
        });
        self.send_syn(now, out);
    }

    /// Processes a segment that arrives while this end listens (a SYN).
    pub(super) fn on_call(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return;
        }
        let terms = self.opening.on_call(segment);
        self.receiver.on_syn(segment, terms);
        self.life.answer();
        let is_early = self.opening.is_early();
        if is_early {
            self.agree(now, segment, (None, false));
            self.take_early(now, segment, out);
        }
        self.send_syn(now, out);
        if is_early {
            self.sender.transmit(&mut SenderContext { now, out, probe });
        }
    }

    /// Processes a segment that arrives while the SYN waits for its answer.
    pub(super) fn on_syn_sent(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let snd_nxt = self.sender.snd_nxt();
        match self.opening.on_answer(now, segment, snd_nxt) {
            Answer::Nothing => {}
            Answer::Reset => self.abort(out),
            Answer::Refused(reset) => {
                if let Some(reset) = reset {
                    out.push(reset);
                }
            }
            // Data on a crossed SYN is ignored, because the peer sends it again.
            Answer::CrossedSyn => {
                let terms = self.opening.on_syn(segment);
                self.receiver.on_syn(segment, terms);
                self.life.answer();
                let contents = self.syn_contents();
                let accurate = self.accurate.as_deref();
                out.push(self.opening.crossed_syn(now, &contents, accurate));
            }
            Answer::Accepted => {
                let terms = self.opening.on_syn(segment);
                self.receiver.on_syn(segment, terms);
                self.establish(now, segment, out, probe);
                self.sender.record_state(now, probe);
                self.take_answer(now, segment, out, probe);
            }
        }
    }

    /// Applies the options that both ends agreed on.
    fn agree(&mut self, now: Time, segment: &Segment, handshake: (Option<Span>, bool)) {
        let ecn = self.opening.common_ecn(self.sender.needs_ecn());
        let mut option_room = 0;
        if let Some(accurate) = &mut self.accurate
            && ecn == EcnFeedback::Accurate
        {
            accurate.agree();
            option_room = accurate.room();
        }
        let agreed = self.opening.agreed(segment, ecn, option_room, handshake);
        self.receiver.on_established(now, &agreed);
        self.sender.on_established(now, agreed);
    }

    /// Completes the handshake at this end.
    pub(super) fn establish(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let handshake = self.opening.round_trip(now, segment);
        if self.opening.has_agreed_early() {
            self.sender.on_early_established(now, handshake.0);
        } else {
            self.agree(now, segment, handshake);
        }
        self.opening.end();
        self.life.establish(self.sender.is_finishing());
        out.events.push(AppEvent::Established);
        let mut cx = SenderContext { now, out, probe };
        self.sender.report(&mut cx, "established");
        if self.opening.is_crossed() {
            let end = self.opening.most_acknowledged(self.sender.snd_nxt());
            let sent_at = self.opening.first_sent_at();
            self.sender
                .on_early_answer(&mut cx, (segment.ack, end), sent_at);
        }
    }

    /// Processes the peer's answer to this end's SYN after the two SYNs crossed.
    pub(super) fn on_crossed_answer(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let from = out.segments.len();
        self.establish(now, segment, out, probe);
        self.sender.transmit(&mut SenderContext { now, out, probe });
        // The peer's SYN had arrived before. So the ACK reports the repeated SYN as a duplicate
        // (RFC 2883).
        let repeated = Segment {
            seq: 0,
            len: 1,
            flags: Flags::ACK,
            ..*segment
        };
        let rtt = self.sender.rtt();
        let times = (rtt.rto(), rtt.srtt());
        self.receiver
            .on_segment(now, &repeated, Ecn::NotEct, times, false);
        if out.segments.len() == from {
            push_ack(&self.sender, out);
        }
    }

    /// Processes the peer's answer to a SYN. Data of the SYN that the peer did not accept is sent
    /// again, and new data follows. Without data an acknowledgment is sent.
    ///
    /// Standard: RFC 7413 §4.2.2.
    fn take_answer(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if !self.opening.is_early() {
            push_ack(&self.sender, out);
            self.sender.transmit(&mut SenderContext { now, out, probe });
            return;
        }
        let (end, is_complete) = self.opening.on_early_answer(segment.ack);
        let from = out.segments.len();
        let sent_at = self.opening.first_sent_at();
        let mut cx = SenderContext { now, out, probe };
        self.sender
            .on_early_answer(&mut cx, (segment.ack, end), sent_at);
        if is_complete {
            self.take_early(now, segment, out);
        }
        self.sender.transmit(&mut SenderContext { now, out, probe });
        if out.segments.len() == from {
            push_ack(&self.sender, out);
        } else if is_complete {
            // A write waited for the answer, so the two ends send in turn. The connection counts as
            // interactive.
            self.receiver.expect_reply();
        }
    }

    /// Accepts the data on the peer's SYN or SYN-ACK. The SYN-ACK of this end acknowledges data on
    /// a SYN. Data on a SYN-ACK is acknowledged at once.
    fn take_early(&mut self, now: Time, segment: &Segment, out: &mut Outbox) {
        let data = Segment {
            seq: 1,
            flags: Flags(segment.flags.0 & !Flags::SYN.0),
            ..*segment
        };
        if data.seq_len() == 0 {
            return;
        }
        let received = self.receiver.on_early_segment(now, &data);
        out.delivered_bytes += received.bytes;
        self.receiver.on_acknowledged();
        self.opening.take_early();
        self.follow_close(received.fin, out);
    }
}
