//! The handshake: SYNs, what both ends offer, and what they agree on.
//!
//! Standard: RFC 9293 §3.5.

use super::{ConnectionState, TcpEndpoint, push_ack};
use crate::congestion::EcnFeedback;
use crate::tcp::accurate;
use crate::tcp::config::EcnMode;
use crate::tcp::outbox::{AppEvent, Outbox, Outgoing};
use crate::tcp::sender::{Agreed, Step};
use crate::tcp::timer::TimerClock;
use fadeout_core::{
    AccurateEcnOption, Ecn, Flags, FlowEventRow, MptcpOption, Probe, RetransmitCause,
    RetransmitRow, Segment, Span, Time,
};

/// A peer that asks for smaller segments gets these (Linux `TCP_MIN_SND_MSS`): a window of tiny
/// segments would cost more than it carries.
const SMALLEST_MSS: u16 = 48;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Offer {
    pub(super) mss: u16,
    pub(super) timestamps: bool,
    pub(super) sack: bool,
    pub(super) ecn: EcnFeedback,
    pub(super) window_scaling: bool,
}

impl TcpEndpoint {
    pub(super) fn send_syn(&mut self, now: Time, out: &mut Outbox) {
        self.syns += 1;
        self.syn_sent_at = now;
        if self.syns == 1 {
            self.first_syn_at = now;
        }
        let is_reply = self.state != ConnectionState::SynSent;
        let linear = if is_reply {
            0
        } else {
            self.config.linear_syn_timeouts
        };
        let doublings = (self.syns - 1).saturating_sub(linear).min(20);
        let backoff = self.config.initial_rto.saturating_mul(1 << doublings);
        let clock = TimerClock::new(&self.config);
        self.syn_at = clock.fires_at(now, backoff.min(self.config.maximum_rto));
        let mut flags = Flags::SYN;
        if is_reply {
            flags |= Flags::ACK;
        }
        // RFC 3168 section 6.1.1: the SYN sets two flags, the SYN-ACK only ECE. RFC 9768 section
        // 3.1.1: the SYN sets all three, and CWR alone says that nothing was marked so far.
        let common = self.ecn_in_common();
        let accurate = self
            .accurate
            .as_ref()
            .filter(|_| common == EcnFeedback::Accurate);
        flags |= match (is_reply, common) {
            _ if let Some(accurate) = accurate => accurate.syn_flags(!is_reply, self.syns),
            (_, EcnFeedback::None) => Flags::default(),
            (false, EcnFeedback::Accurate) => Flags::AE | Flags::ECE | Flags::CWR,
            (false, _) => Flags::ECE | Flags::CWR,
            (true, EcnFeedback::Accurate) => Flags::CWR,
            (true, _) => Flags::ECE,
        };
        // After SYNs that crossed the answer repeats what the SYN offered.
        let offers = |own: bool, peers: bool| own && (!is_reply || self.is_crossed || peers);
        // A SYN that is sent again carries no data (RFC 7413 section 4.2.1).
        let early = if is_reply || self.syns > 1 {
            0
        } else {
            u64::from(self.early.room).min(self.sender.awaited()) as u32
        };
        self.early.sent = self.early.sent.max(early);
        let segment = Segment {
            seq: 0,
            ack: if is_reply { self.receiver.next() } else { 0 },
            len: early,
            window: self.receiver.initial_window(),
            flags,
            mss: self.config.mss as u16,
            window_scale: offers(self.config.window_scaling, self.offer.window_scaling)
                .then(|| self.receiver.window_scale()),
            sack_permitted: offers(self.config.recovery.uses_sack(), self.offer.sack),
            has_timestamps: offers(self.config.timestamps, self.offer.timestamps),
            ts_value: now.as_millis() as u32,
            accurate: accurate
                .filter(|_| is_reply)
                .map_or_else(AccurateEcnOption::default, |accurate| {
                    accurate.syn_option(self.syns)
                }),
            ..Segment::default()
        };
        out.segments.push(Outgoing {
            segment,
            ecn: Ecn::NotEct,
        });
    }

    pub(super) fn on_syn_timeout(&mut self, now: Time, out: &mut Outbox, probe: &mut impl Probe) {
        let most = if self.state == ConnectionState::SynReceived {
            self.config.maximum_syn_acks
        } else {
            self.config.maximum_syns + self.config.linear_syn_timeouts
        };
        if self.syns >= most {
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
            attempt: self.syns,
        });
        self.send_syn(now, out);
    }

    pub(super) fn take_offer(&mut self, segment: &Segment) {
        self.offer = Offer {
            mss: match segment.mss {
                0 => 536, // RFC 9293 section 3.7.1
                mss => mss.max(SMALLEST_MSS),
            },
            timestamps: segment.has_timestamps,
            sack: segment.sack_permitted,
            ecn: if self.accurate.is_some()
                && segment.flags.has(Flags::ACK)
                && accurate::is_agreed_by(segment)
            {
                EcnFeedback::Accurate
            } else {
                offered_ecn(segment)
            },
            window_scaling: segment.window_scale.is_some(),
        };
        if !(self.config.window_scaling && self.offer.window_scaling) {
            self.receiver.forgo_window_scaling();
        }
        self.has_offer = true;
        let is_passive = self.state == ConnectionState::Listen;
        let options = if self.config.timestamps && self.offer.timestamps {
            12
        } else {
            0
        };
        let answer_mss = is_passive.then(|| self.config.mss - options);
        self.receiver
            .agree_timestamps(self.config.timestamps && self.offer.timestamps);
        self.receiver.on_syn(segment, answer_mss);
    }

    pub(super) fn on_listen(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            self.take_offer(segment);
            self.state = ConnectionState::SynReceived;
            if self.early.is_on {
                self.agree(now, segment, (None, false));
                self.take_early(now, segment, out);
            }
            self.send_syn(now, out);
            if self.early.is_on {
                self.sender.transmit(&mut Step { now, out, probe });
            }
        }
    }

    pub(super) fn on_syn_sent(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        if !segment.flags.has(Flags::ACK) {
            if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::RST) {
                self.on_crossed_syn(now, segment, out);
            }
            return;
        }
        let acknowledges = (1..=self.most_acknowledged()).contains(&segment.ack);
        if !acknowledges || self.echoes_the_unsent(now, segment) {
            self.refuse_answer(now, segment, acknowledges, out);
            return;
        }
        if segment.flags.has(Flags::RST) {
            self.abort(out);
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.take_offer(segment);
        self.establish(now, segment, out, probe);
        if self.sender.wants_row(now, probe) {
            probe.congestion(self.sender.congestion_row(now));
        }
        if self.early.is_on {
            self.on_early_answer(now, segment, out, probe);
            return;
        }
        push_ack(&self.sender, out);
        self.sender.transmit(&mut Step { now, out, probe });
    }

    /// Whether a timestamp echo is of no SYN that was sent.
    ///
    /// Standard: RFC 7323 §5.
    fn echoes_the_unsent(&self, now: Time, segment: &Segment) -> bool {
        let clock = now.as_millis() as u32;
        let oldest = clock.wrapping_sub(self.first_syn_at.as_millis() as u32);
        self.config.timestamps
            && segment.has_timestamps
            && segment.ts_echo != 0
            && clock.wrapping_sub(segment.ts_echo) > oldest
    }

    /// An answer that is not to our SYN, perhaps to one of an earlier connection: the peer is told to
    /// forget it. Where the sequence number `is_known` the SYN was heard; otherwise it goes again soon.
    ///
    /// Standard: RFC 9293 §3.10.7.3.
    fn refuse_answer(&mut self, now: Time, segment: &Segment, is_known: bool, out: &mut Outbox) {
        if !is_known && self.syns == 1 {
            // Linux `TCP_TIMEOUT_MIN`.
            let soon = self.config.timer_tick.saturating_mul(2);
            self.syn_at = TimerClock::new(&self.config).fires_at(now, soon);
        }
        if segment.flags.has(Flags::RST) {
            return;
        }
        let segment = Segment {
            seq: segment.ack,
            flags: Flags::RST,
            ..Segment::default()
        };
        out.segments.push(Outgoing {
            segment,
            ecn: Ecn::NotEct,
        });
    }

    /// What both ends offered takes effect.
    pub(super) fn agree(
        &mut self,
        now: Time,
        segment: &Segment,
        (handshake_rtt, starts_from_one): (Option<Span>, bool),
    ) {
        let timestamps = self.config.timestamps && self.offer.timestamps;
        let ecn = self.ecn_in_common();
        let mapping = if self.config.multipath {
            MptcpOption::MAPPING_LEN
        } else {
            0
        };
        let mut options = mapping + if timestamps { 12 } else { 0 };
        if let Some(accurate) = &mut self.accurate
            && ecn == EcnFeedback::Accurate
        {
            accurate.agree();
            options += accurate.room();
        }
        let mss = self
            .config
            .mss
            .min(u32::from(self.offer.mss))
            .saturating_sub(options)
            .max(1);
        let sack = self.config.recovery.uses_sack() && self.offer.sack;
        self.receiver
            .on_established(now, mss, timestamps, sack, ecn);
        self.sender.on_established(
            now,
            Agreed {
                mss,
                sack,
                timestamps,
                ecn,
                peer_window: segment.window,
                handshake_rtt,
                starts_from_one,
            },
        );
    }

    /// The round-trip time of the handshake, where it can be told, and whether SYNs that were lost
    /// make the window begin with one segment.
    pub(super) fn handshake(&self, now: Time, segment: &Segment) -> (Option<Span>, bool) {
        let is_first = self.syns <= 1;
        let is_passive = self.state == ConnectionState::SynReceived;
        let timestamps = self.config.timestamps && self.offer.timestamps;
        // The echo tells which copy was answered (RFC 7323 section 4).
        let by_echo = (timestamps && segment.has_timestamps)
            .then(|| {
                (now.as_millis() as u32)
                    .wrapping_sub(segment.ts_echo)
                    .max(1)
            })
            .map(|millis| Span::from_millis(millis.into()));
        let first_was_answered =
            by_echo.is_some_and(|rtt| now.since(self.first_syn_at) < rtt + Span::from_millis(1));
        let forgiven = self.config.forgiven_syns;
        let is_forgiven =
            forgiven > 0 && (is_passive || self.syns - 1 <= forgiven || first_was_answered);
        let rtt = if is_first {
            Some(now.since(self.syn_sent_at))
        } else {
            by_echo
        };
        (rtt, !is_first && !is_forgiven)
    }

    /// The handshake is complete at this end.
    pub(super) fn establish(
        &mut self,
        now: Time,
        segment: &Segment,
        out: &mut Outbox,
        probe: &mut impl Probe,
    ) {
        let (handshake_rtt, starts_from_one) = self.handshake(now, segment);
        if self.early.is_on && self.state != ConnectionState::SynSent {
            self.sender.on_early_established(now, handshake_rtt);
        } else {
            self.agree(now, segment, (handshake_rtt, starts_from_one));
        }
        self.syn_at = Time::NEVER;
        self.state = if self.sender.is_finishing() {
            ConnectionState::FinWait1
        } else {
            ConnectionState::Established
        };
        out.events.push(AppEvent::Established);
        probe.flow_event(FlowEventRow {
            time_s: now,
            flow: self.flow,
            end: self.sender.end(),
            event: "established",
            cwnd_segments: self.sender.window().cwnd,
            ssthresh_segments: self.sender.window().ssthresh,
        });
    }

    /// The ECN feedback that this end is configured for, or that its congestion control needs.
    pub(super) fn own_ecn(&self) -> EcnFeedback {
        match self.config.ecn {
            EcnMode::Automatic => self.sender.needs_ecn(),
            EcnMode::Off => EcnFeedback::None,
            EcnMode::Classic => EcnFeedback::Classic,
            EcnMode::Dctcp => EcnFeedback::Dctcp,
            EcnMode::Accurate => EcnFeedback::Accurate,
        }
    }

    /// Takes what `segment` tells by accurate ECN, and writes the whole count of marks into it.
    #[cold]
    pub(super) fn decode_accurate(&mut self, segment: &Segment, ecn: Ecn) -> Segment {
        let mut decoded = *segment;
        let Some(accurate) = &mut self.accurate else {
            return decoded;
        };
        let is_syn = segment.flags.has(Flags::SYN);
        let is_ack = segment.flags.has(Flags::ACK);
        match self.state {
            ConnectionState::Closed => {}
            ConnectionState::Listen | ConnectionState::SynSent if is_syn && !is_ack => {
                accurate.on_syn(segment, ecn, true);
            }
            ConnectionState::SynReceived if is_syn => accurate.on_syn(segment, ecn, false),
            ConnectionState::SynSent if is_syn && is_ack => {
                accurate.on_syn_ack(segment, ecn, true);
            }
            ConnectionState::Listen | ConnectionState::SynSent => {}
            _ if is_syn => accurate.on_syn_ack(segment, ecn, false),
            ConnectionState::SynReceived if is_ack => {
                accurate.on_third_ack(segment);
                accurate.on_received(segment, ecn);
            }
            _ => {
                accurate.on_received(segment, ecn);
                accurate.notice_repetition(segment, self.receiver.next());
                let delivery = self.sender.preview_delivery(segment);
                decoded.ce_packets = accurate.on_ack(segment, &delivery);
            }
        }
        decoded
    }

    /// What both ends can do; this end's own wish before the peer's SYN. DCTCP cannot be told
    /// from classic ECN in a handshake.
    pub(super) fn ecn_in_common(&self) -> EcnFeedback {
        let own = self.own_ecn();
        match (own, self.offer.ecn) {
            _ if self.state == ConnectionState::SynSent && !self.has_offer => own,
            (_, EcnFeedback::None) => EcnFeedback::None,
            (EcnFeedback::Accurate, EcnFeedback::Classic) => EcnFeedback::Classic,
            _ => own,
        }
    }
}

/// The ECN feedback that a peer's SYN or SYN-ACK offers.
fn offered_ecn(segment: &Segment) -> EcnFeedback {
    let Flags(flags) = segment.flags;
    let bits = flags & (Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0);
    let is_reply = segment.flags.has(Flags::ACK);
    if !is_reply && bits == Flags::AE.0 | Flags::CWR.0 | Flags::ECE.0
        || is_reply && bits == Flags::CWR.0
    {
        EcnFeedback::Accurate
    } else if segment.flags.has(Flags::ECE) && segment.flags.has(Flags::CWR) != is_reply {
        // RFC 3168 section 6.1.1: both flags ask, ECE alone answers.
        EcnFeedback::Classic
    } else {
        EcnFeedback::None
    }
}
