//! Handshake: SYNs and their repeats, the options that both ends offer, and the agreed options.
//!
//! Standard: RFC 9293 §3.5, §3.10.7.3.

mod early;
mod offer;
#[cfg(test)]
mod tests;

use crate::congestion::EcnFeedback;
use crate::tcp::accurate::Accurate;
use crate::tcp::config::{EcnMode, TcpConfig};
use crate::tcp::receiver::SynTerms;
use crate::tcp::sender::Agreed;
use crate::tcp::timer::TimerClock;
use early::Early;
use fadeout_core::{AccurateEcnOption, Flags, MptcpOption, Segment, Span, Time};
use offer::Offer;
use std::sync::Arc;

/// Number of bytes that the timestamps option occupies in each segment.
const TIMESTAMPS_LEN: u32 = 12;

/// Role of this end in the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The end opens the connection, or neither end has begun.
    Opens,
    /// The peer opens and this end answers.
    Answers,
    /// The SYNs of the two ends crossed.
    Crossed,
}

/// Receiver's and sender's fields of a SYN.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SynContents {
    /// Next sequence number that is expected from the peer (RCV.NXT).
    pub(super) next: u64,
    pub(super) window: u64,
    pub(super) window_scale: u8,
    /// Bytes that wait to be sent.
    pub(super) unsent: u64,
    /// ECN feedback that the congestion control needs.
    pub(super) needed_ecn: EcnFeedback,
}

/// Number and times of the SYNs or SYN-ACKs that an end sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// Number of SYNs or SYN-ACKs.
    pub count: u32,
    /// Time at which the first left.
    pub first_at: Time,
    /// Time at which the last left.
    pub last_at: Time,
}

/// Classification of a segment in SYN-SENT.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    /// The segment does not answer the SYN.
    Nothing,
    /// The peer sent a SYN of its own.
    CrossedSyn,
    /// The segment answers another connection. The reset makes the peer close that connection.
    /// `None` if no reset is sent.
    Refused(Option<Segment>),
    /// The peer has no listener.
    Reset,
    /// The peer accepts the connection.
    Accepted,
}

/// Largest size of the options of a segment (Linux `MAX_TCP_OPTION_SPACE`). The data of a SYN
/// leaves this room.
const OPTION_SPACE: u32 = 40;

/// State of the handshake.
#[derive(Debug)]
pub(super) struct Opening {
    config: Arc<TcpConfig>,
    role: Role,
    /// Time at which the SYN or SYN-ACK is repeated.
    again_at: Time,
    sent_at: Time,
    /// Time at which the first SYN or SYN-ACK was sent.
    first_sent_at: Time,
    /// Number of SYNs or SYN-ACKs sent.
    syns: u32,
    /// Options of the peer's SYN. `None` until it arrives.
    offer: Option<Offer>,
    early: Early,
}

impl Opening {
    pub(super) fn new(config: &Arc<TcpConfig>) -> Opening {
        let mut early = Early::default();
        if config.host.fast_open {
            early.turn_on(config.mss.saturating_sub(OPTION_SPACE));
        }
        Opening {
            config: Arc::clone(config),
            role: Role::Opens,
            again_at: Time::NEVER,
            sent_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            syns: 0,
            offer: None,
            early,
        }
    }

    /// Returns the configuration for changes. From now on this end has its own copy.
    fn config_mut(&mut self) -> &mut TcpConfig {
        Arc::make_mut(&mut self.config)
    }

    /// Limits the number of SYNs to `syns`. The timeout doubles with each SYN.
    pub(super) fn limit_syns(&mut self, syns: u32) {
        let config = self.config_mut();
        config.timers.maximum_syns = syns;
        config.timers.linear_syn_timeouts = 0;
    }

    /// Reserves no room for an MPTCP option in segments.
    pub(super) fn leave_multipath(&mut self) {
        self.config_mut().multipath = false;
    }

    /// Returns true if a SYN was sent.
    pub(super) fn has_begun(&self) -> bool {
        self.syns > 0
    }

    /// Returns number and times of the SYNs or SYN-ACKs sent. `None` if none was sent.
    pub(super) fn calls(&self) -> Option<Calls> {
        self.has_begun().then_some(Calls {
            count: self.syns,
            first_at: self.first_sent_at,
            last_at: self.sent_at,
        })
    }

    /// Returns the number of SYNs and SYN-ACKs sent.
    pub(super) fn syns(&self) -> u32 {
        self.syns
    }

    /// Returns the time at which the SYN or SYN-ACK is repeated.
    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.again_at
    }

    /// Returns the time at which the first SYN or SYN-ACK was sent.
    pub(super) fn first_sent_at(&self) -> Time {
        self.first_sent_at
    }

    /// Stops the timer once the handshake is complete or obsolete.
    pub(super) fn end(&mut self) {
        self.again_at = Time::NEVER;
    }

    /// Returns true if an unanswered SYN is repeated.
    pub(super) fn may_repeat(&self) -> bool {
        let most = match self.role {
            Role::Opens => self.config.timers.maximum_syns + self.config.timers.linear_syn_timeouts,
            Role::Answers | Role::Crossed => self.config.timers.maximum_syn_acks,
        };
        self.syns < most
    }

    /// Returns the SYN or SYN-ACK that is sent now.
    pub(super) fn syn(
        &mut self,
        now: Time,
        contents: &SynContents,
        accurate: Option<&Accurate>,
    ) -> Segment {
        self.syns += 1;
        self.sent_at = now;
        if self.syns == 1 {
            self.first_sent_at = now;
        }
        let is_reply = self.role != Role::Opens;
        let (buffers, timers) = (self.config.buffers, self.config.timers);
        let linear = if is_reply {
            0
        } else {
            timers.linear_syn_timeouts
        };
        let doublings = (self.syns - 1).saturating_sub(linear).min(20);
        let backoff = timers.initial_rto.saturating_mul(1 << doublings);
        let backoff = backoff.min(timers.maximum_rto);
        self.set_timer(now, backoff);
        let common = self.common_ecn(contents.needed_ecn);
        let accurate = accurate.filter(|_| common == EcnFeedback::Accurate);
        let early = if is_reply || self.syns > 1 {
            0 // RFC 7413 section 4.2.1: a SYN that is sent again carries no data
        } else {
            self.early.leave(contents.unsent)
        };
        // The answer to a crossed SYN repeats the options of this end's own SYN, not the agreed
        // ones.
        let offer = self.offer.filter(|_| self.role == Role::Answers);
        let offers = |own: bool, peers: fn(Offer) -> bool| own && offer.is_none_or(peers);
        Segment {
            seq: 0,
            ack: if is_reply { contents.next } else { 0 },
            len: early,
            window: contents.window,
            flags: self.syn_flags(is_reply, common, accurate),
            mss: self.config.mss as u16,
            window_scale: offers(buffers.window_scaling, |offer| offer.window_scaling)
                .then_some(contents.window_scale),
            sack_permitted: offers(self.config.recovery.method.uses_sack(), |offer| offer.sack),
            has_cookie: self.config.host.fast_open && self.role == Role::Opens && self.syns == 1,
            has_timestamps: offers(self.config.timestamps, |offer| offer.timestamps),
            ts_value: now.as_millis() as u32,
            accurate: accurate
                .filter(|_| is_reply)
                .map_or_else(AccurateEcnOption::default, |accurate| {
                    accurate.syn_option(self.syns)
                }),
            ..Segment::default()
        }
    }

    /// Returns the answer to a SYN that crossed this end's SYN. The answer repeats this end's SYN.
    /// The timer and the count of SYNs stay unchanged.
    pub(super) fn crossed_syn(
        &mut self,
        now: Time,
        contents: &SynContents,
        accurate: Option<&Accurate>,
    ) -> Segment {
        self.role = Role::Crossed;
        self.early.turn_off();
        let (syns, again_at) = (self.syns, self.again_at);
        let syn = self.syn(now, contents, accurate);
        (self.syns, self.again_at) = (syns, again_at);
        syn
    }

    /// Returns the flags of a SYN or SYN-ACK. For classic ECN the SYN sets two flags, the SYN-ACK
    /// only ECE. For accurate ECN the SYN sets all three. A SYN-ACK with CWR alone reports that the
    /// SYN was not marked.
    ///
    /// Standard: RFC 3168 §6.1.1; RFC 9768 §3.1.1.
    fn syn_flags(&self, is_reply: bool, common: EcnFeedback, accurate: Option<&Accurate>) -> Flags {
        let mut flags = Flags::SYN;
        if is_reply {
            flags |= Flags::ACK;
        }
        let of_ecn = match (is_reply, common) {
            (_, EcnFeedback::None) => Flags::default(),
            (false, EcnFeedback::Accurate) => Flags::AE | Flags::ECE | Flags::CWR,
            (false, _) => Flags::ECE | Flags::CWR,
            (true, EcnFeedback::Accurate) => Flags::CWR,
            (true, _) => Flags::ECE,
        };
        let of_accurate = accurate.map(|it| it.syn_flags(!is_reply, self.syns));
        flags | of_accurate.unwrap_or(of_ecn)
    }

    fn set_timer(&mut self, now: Time, after: Span) {
        self.again_at = TimerClock::new(&self.config).fires_at(now, after);
    }

    /// Processes the peer's SYN at a listening end.
    pub(super) fn on_call(&mut self, segment: &Segment) -> SynTerms {
        self.role = Role::Answers;
        if self.config.host.fast_open && !segment.has_cookie {
            self.early.turn_off();
        }
        let terms = self.on_syn(segment);
        let options = if terms.timestamps { TIMESTAMPS_LEN } else { 0 };
        SynTerms {
            answer_mss: Some(self.config.mss - options),
            ..terms
        }
    }

    /// Records the options that the peer's SYN or SYN-ACK offers.
    pub(super) fn on_syn(&mut self, segment: &Segment) -> SynTerms {
        let offer = Offer::from_segment(segment, self.config.acks.accurate_ecn.is_some());
        self.offer = Some(offer);
        SynTerms {
            window_scaling: self.config.buffers.window_scaling && offer.window_scaling,
            timestamps: self.config.timestamps && offer.timestamps,
            answer_mss: None,
        }
    }

    /// Classifies a segment in SYN-SENT.
    ///
    /// Standard: RFC 9293 §3.10.7.3.
    pub(super) fn on_answer(&mut self, now: Time, segment: &Segment, snd_nxt: u64) -> Answer {
        let Segment { flags, ack, .. } = *segment;
        if !flags.has(Flags::ACK) {
            let opens = flags.has(Flags::SYN) && !flags.has(Flags::RST);
            return if opens {
                Answer::CrossedSyn
            } else {
                Answer::Nothing
            };
        }
        let is_known = (1..=self.most_acknowledged(snd_nxt)).contains(&ack);
        if !is_known || self.echoes_the_unsent(now, segment) {
            return Answer::Refused(self.refuse(now, segment, is_known));
        }
        if flags.has(Flags::RST) {
            Answer::Reset
        } else if flags.has(Flags::SYN) {
            Answer::Accepted
        } else {
            Answer::Nothing
        }
    }

    /// Returns true if the timestamp echo does not belong to a SYN that this end sent.
    ///
    /// Standard: RFC 7323 §5.
    fn echoes_the_unsent(&self, now: Time, segment: &Segment) -> bool {
        let clock = now.as_millis() as u32;
        let oldest = clock.wrapping_sub(self.first_sent_at.as_millis() as u32);
        self.config.timestamps
            && segment.has_timestamps
            && segment.ts_echo != 0
            && clock.wrapping_sub(segment.ts_echo) > oldest
    }

    /// Returns the reset for an answer to another SYN, perhaps of an earlier connection. If
    /// `is_known` is true, the peer received this end's SYN. Otherwise the SYN is repeated soon.
    /// `None` if the answer is a reset itself.
    fn refuse(&mut self, now: Time, segment: &Segment, is_known: bool) -> Option<Segment> {
        if !is_known && self.syns == 1 {
            // The repeat uses the shortest timer that Linux allows (`TCP_TIMEOUT_MIN`).
            self.set_timer(now, self.config.timers.tick.saturating_mul(2));
        }
        (!segment.flags.has(Flags::RST)).then(|| Segment {
            seq: segment.ack,
            flags: Flags::RST,
            ..Segment::default()
        })
    }

    /// Returns the largest acknowledgment number that the peer may send. `snd_nxt` is SND.NXT of
    /// the sending half. Before the handshake is complete, data on the SYN counts too.
    #[inline]
    pub(super) fn most_acknowledged(&self, snd_nxt: u64) -> u64 {
        snd_nxt.max(self.early.end())
    }

    /// Returns true if the SYNs crossed.
    pub(super) fn is_crossed(&self) -> bool {
        self.role == Role::Crossed
    }

    /// Returns true if the segment is the peer's answer to this end's SYN after the SYNs crossed.
    /// No other segment came before it.
    pub(super) fn is_crossed_answer(&self, segment: &Segment, snd_nxt: u64, next: u64) -> bool {
        self.is_crossed()
            && segment.flags.has(Flags::ACK)
            && segment.len == 0
            && next == 1
            && segment.ack == self.most_acknowledged(snd_nxt)
    }

    /// Returns the options that both ends support. The accurate ECN option occupies `option_room`
    /// bytes of each segment. The tuple has the round-trip time of the handshake and a flag. The
    /// time is `None` if unknown. The flag is true if the initial window is one segment.
    pub(super) fn agreed(
        &self,
        segment: &Segment,
        ecn: EcnFeedback,
        option_room: u32,
        (handshake_rtt, starts_from_one): (Option<Span>, bool),
    ) -> Agreed {
        let offer = self.offer.unwrap_or_default();
        let timestamps = self.config.timestamps && offer.timestamps;
        let mapping = if self.config.multipath {
            MptcpOption::MAPPING_LEN
        } else {
            0
        };
        let options = mapping + option_room + if timestamps { TIMESTAMPS_LEN } else { 0 };
        let mss = self.config.mss.min(u32::from(offer.mss));
        Agreed {
            mss: mss.saturating_sub(options).max(1),
            sack: self.config.recovery.method.uses_sack() && offer.sack,
            timestamps,
            ecn,
            peer_window: segment.window,
            handshake_rtt,
            starts_from_one,
            is_crossed: self.is_crossed(),
        }
    }

    /// Returns the round-trip time of the handshake that `segment` completes. `None` if it is
    /// ambiguous. The flag is true if lost SYNs reduce the initial window to one segment.
    pub(super) fn round_trip(&self, now: Time, segment: &Segment) -> (Option<Span>, bool) {
        let is_first = self.syns <= 1;
        let offer = self.offer.unwrap_or_default();
        let timestamps = self.config.timestamps && offer.timestamps;
        // The timestamp echo identifies which copy of the SYN was answered (RFC 7323 section 4).
        let by_echo = (timestamps && segment.has_timestamps)
            .then(|| {
                (now.as_millis() as u32)
                    .wrapping_sub(segment.ts_echo)
                    .max(1)
            })
            .map(|millis| Span::from_millis(millis.into()));
        let first_was_answered =
            by_echo.is_some_and(|rtt| now.since(self.first_sent_at) < rtt + Span::from_millis(1));
        let forgiven = self.config.timers.forgiven_syns;
        let is_forgiven = forgiven > 0
            && (self.role != Role::Opens || self.syns - 1 <= forgiven || first_was_answered);
        let rtt = if is_first {
            Some(now.since(self.sent_at))
        } else {
            by_echo
        };
        (rtt, !is_first && !is_forgiven)
    }

    /// Returns the ECN feedback that both ends support. Before the peer's SYN, returns the feedback
    /// that this end requests. `needed` is the feedback that the congestion control needs. DCTCP
    /// cannot be distinguished from classic ECN in a handshake.
    pub(super) fn common_ecn(&self, needed: EcnFeedback) -> EcnFeedback {
        let own = match self.config.acks.ecn {
            EcnMode::Automatic => needed,
            EcnMode::Off => EcnFeedback::None,
            EcnMode::Classic => EcnFeedback::Classic,
            EcnMode::Dctcp => EcnFeedback::Dctcp,
            EcnMode::Accurate => EcnFeedback::Accurate,
        };
        match (own, self.offer.map(|offer| offer.ecn)) {
            (_, None) => own,
            (_, Some(EcnFeedback::None)) => EcnFeedback::None,
            (EcnFeedback::Accurate, Some(EcnFeedback::Classic)) => EcnFeedback::Classic,
            _ => own,
        }
    }

    /// Opens the connection by Fast Open. See [`super::SocketOption::FastOpen`].
    pub(super) fn open_fast(&mut self, room: u32) {
        self.early.turn_on(room);
    }

    /// Returns true if this end opens by Fast Open.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        self.early.is_on()
    }

    /// Returns true if the agreed options took effect already with the peer's SYN.
    pub(super) fn has_agreed_early(&self) -> bool {
        self.early.is_on() && self.role == Role::Answers
    }

    /// Processes the answer to a SYN that may have carried data. Returns the first sequence number
    /// after the data, and true if the peer accepted all of it.
    pub(super) fn on_early_answer(&mut self, ack: u64) -> (u64, bool) {
        self.early.on_answer(ack)
    }

    /// Records that data on the peer's SYN or on its answer was accepted.
    pub(super) fn take_early(&mut self) {
        if self.role == Role::Answers {
            self.early.record_accepted();
        }
    }

    /// Returns true if data on the SYN was accepted: the peer's data by this end, or all of this
    /// end's data by the peer.
    pub(super) fn has_taken_early(&self) -> bool {
        self.early.is_taken()
    }
}
