//! The handshake: SYNs, when one goes again, what both ends offer, and what they agree on.
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

/// Bytes that timestamps take of each segment.
const TIMESTAMPS_LEN: u32 = 12;

/// Who began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// This end did, or nobody.
    Opens,
    /// The peer did.
    Answers,
    /// Both did, and the SYNs crossed.
    Crossed,
}

/// Receiver's and sender's fields of a SYN.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SynContents {
    /// RCV.NXT.
    pub(super) next: u64,
    pub(super) window: u64,
    pub(super) window_scale: u8,
    /// Bytes that wait to be sent.
    pub(super) unsent: u64,
    /// The feedback that the congestion control needs.
    pub(super) needed_ecn: EcnFeedback,
}

/// The SYNs or SYN-ACKs that an end sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// How many.
    pub count: u32,
    /// When the first left.
    pub first_at: Time,
    /// When the last did.
    pub last_at: Time,
}

/// Classification of a segment in SYN-SENT.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    /// No answer.
    Nothing,
    /// The peer's own SYN.
    CrossedSyn,
    /// Of another connection, which the peer is told to forget by this reset, if any.
    Refused(Option<Segment>),
    /// There is nobody.
    Reset,
    /// The peer takes the connection.
    Accepted,
}

/// The opening of a connection.
#[derive(Debug)]
pub(super) struct Opening {
    config: Arc<TcpConfig>,
    role: Role,
    /// When the SYN or SYN-ACK goes again.
    again_at: Time,
    sent_at: Time,
    /// When the first SYN or SYN-ACK was sent.
    first_sent_at: Time,
    /// How often it was.
    syns: u32,
    /// Options of the peer's SYN, once it came.
    offer: Option<Offer>,
    early: Early,
}

impl Opening {
    pub(super) fn new(config: &Arc<TcpConfig>) -> Opening {
        Opening {
            config: Arc::clone(config),
            role: Role::Opens,
            again_at: Time::NEVER,
            sent_at: Time::ZERO,
            first_sent_at: Time::ZERO,
            syns: 0,
            offer: None,
            early: Early::default(),
        }
    }

    /// The constants, which are its own from now on.
    fn config_mut(&mut self) -> &mut TcpConfig {
        Arc::make_mut(&mut self.config)
    }

    /// No more than `syns` SYNs are sent, each after twice the time of the one before.
    pub(super) fn limit_syns(&mut self, syns: u32) {
        let config = self.config_mut();
        config.maximum_syns = syns;
        config.linear_syn_timeouts = 0;
    }

    /// Whether a SYN was sent.
    pub(super) fn has_begun(&self) -> bool {
        self.syns > 0
    }

    /// What was sent of them; none where nothing was.
    pub(super) fn calls(&self) -> Option<Calls> {
        self.has_begun().then_some(Calls {
            count: self.syns,
            first_at: self.first_sent_at,
            last_at: self.sent_at,
        })
    }

    /// SYNs and SYN-ACKs sent.
    pub(super) fn syns(&self) -> u32 {
        self.syns
    }

    /// When the SYN or SYN-ACK goes again.
    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.again_at
    }

    /// When the first SYN or SYN-ACK was sent.
    pub(super) fn first_sent_at(&self) -> Time {
        self.first_sent_at
    }

    /// The handshake is complete, or of no use any more.
    pub(super) fn end(&mut self) {
        self.again_at = Time::NEVER;
    }

    /// Whether a SYN that was not answered goes again.
    pub(super) fn may_repeat(&self) -> bool {
        let most = match self.role {
            Role::Opens => self.config.maximum_syns + self.config.linear_syn_timeouts,
            Role::Answers | Role::Crossed => self.config.maximum_syn_acks,
        };
        self.syns < most
    }

    /// The SYN that leaves now, or the SYN-ACK.
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
        let linear = if is_reply {
            0
        } else {
            self.config.linear_syn_timeouts
        };
        let doublings = (self.syns - 1).saturating_sub(linear).min(20);
        let backoff = self.config.initial_rto.saturating_mul(1 << doublings);
        self.set_timer(now, backoff.min(self.config.maximum_rto));
        let common = self.common_ecn(contents.needed_ecn);
        let accurate = accurate.filter(|_| common == EcnFeedback::Accurate);
        let early = if is_reply || self.syns > 1 {
            0 // RFC 7413 section 4.2.1: a SYN that is sent again carries no data
        } else {
            self.early.leave(contents.unsent)
        };
        // After SYNs that crossed the answer repeats what the SYN offered.
        let offer = self.offer.filter(|_| self.role == Role::Answers);
        let offers = |own: bool, peers: fn(Offer) -> bool| own && offer.is_none_or(peers);
        Segment {
            seq: 0,
            ack: if is_reply { contents.next } else { 0 },
            len: early,
            window: contents.window,
            flags: self.syn_flags(is_reply, common, accurate),
            mss: self.config.mss as u16,
            window_scale: offers(self.config.window_scaling, |offer| offer.window_scaling)
                .then_some(contents.window_scale),
            sack_permitted: offers(self.config.recovery.uses_sack(), |offer| offer.sack),
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

    /// The answer to a SYN that crossed our own repeats it: neither its timer nor its number move.
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

    /// The flags of a SYN or SYN-ACK. For classic ECN the SYN sets two, the SYN-ACK only ECE; for accurate
    /// ECN the SYN sets all three, and CWR alone says that nothing was marked so far.
    ///
    /// Standard: RFC 3168 §6.1.1; RFC 9768 §3.1.1.
    fn syn_flags(&self, is_reply: bool, common: EcnFeedback, accurate: Option<&Accurate>) -> Flags {
        let mut flags = Flags::SYN;
        if is_reply {
            flags |= Flags::ACK;
        }
        flags |= match (is_reply, common) {
            _ if let Some(accurate) = accurate => accurate.syn_flags(!is_reply, self.syns),
            (_, EcnFeedback::None) => Flags::default(),
            (false, EcnFeedback::Accurate) => Flags::AE | Flags::ECE | Flags::CWR,
            (false, _) => Flags::ECE | Flags::CWR,
            (true, EcnFeedback::Accurate) => Flags::CWR,
            (true, _) => Flags::ECE,
        };
        flags
    }

    fn set_timer(&mut self, now: Time, after: Span) {
        self.again_at = TimerClock::new(&self.config).fires_at(now, after);
    }

    /// The peer's SYN came to an end that listens.
    pub(super) fn on_call(&mut self, segment: &Segment) -> SynTerms {
        self.role = Role::Answers;
        let terms = self.on_syn(segment);
        let options = if terms.timestamps { TIMESTAMPS_LEN } else { 0 };
        SynTerms {
            answer_mss: Some(self.config.mss - options),
            ..terms
        }
    }

    /// The peer's SYN or SYN-ACK came: takes what it offers.
    pub(super) fn on_syn(&mut self, segment: &Segment) -> SynTerms {
        let offer = Offer::of(segment, self.config.accurate_ecn.is_some());
        self.offer = Some(offer);
        SynTerms {
            window_scaling: self.config.window_scaling && offer.window_scaling,
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

    /// Whether a timestamp echo is of no SYN that was sent.
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

    /// An answer that is not to our SYN, perhaps to one of an earlier connection: the peer is told to
    /// forget it. Where the sequence number `is_known` the SYN was heard; otherwise it goes again soon.
    fn refuse(&mut self, now: Time, segment: &Segment, is_known: bool) -> Option<Segment> {
        if !is_known && self.syns == 1 {
            // Linux `TCP_TIMEOUT_MIN`.
            self.set_timer(now, self.config.timer_tick.saturating_mul(2));
        }
        (!segment.flags.has(Flags::RST)).then(|| Segment {
            seq: segment.ack,
            flags: Flags::RST,
            ..Segment::default()
        })
    }

    /// First sequence number beyond what may be acknowledged, `snd_nxt` being the sending half's:
    /// before the handshake is complete data on the SYN counts.
    #[inline]
    pub(super) fn most_acknowledged(&self, snd_nxt: u64) -> u64 {
        snd_nxt.max(self.early.end())
    }

    /// Whether the SYNs crossed.
    pub(super) fn is_crossed(&self) -> bool {
        self.role == Role::Crossed
    }

    /// Whether the peer answers our SYN after both crossed, nothing having come before.
    pub(super) fn is_crossed_answer(&self, segment: &Segment, snd_nxt: u64, next: u64) -> bool {
        self.is_crossed()
            && segment.flags.has(Flags::ACK)
            && segment.len == 0
            && next == 1
            && segment.ack == self.most_acknowledged(snd_nxt)
    }

    /// Intersection of both ends' options. The handshake told a round-trip time, or not, and whether the window
    /// begins with one segment; an option of accurate ECN takes `option_room` of each segment.
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
            sack: self.config.recovery.uses_sack() && offer.sack,
            timestamps,
            ecn,
            peer_window: segment.window,
            handshake_rtt,
            starts_from_one,
            is_crossed: self.is_crossed(),
        }
    }

    /// The round-trip time of the handshake that `segment` completes, where it can be told, and
    /// whether SYNs that were lost make the window begin with one segment.
    pub(super) fn round_trip(&self, now: Time, segment: &Segment) -> (Option<Span>, bool) {
        let is_first = self.syns <= 1;
        let offer = self.offer.unwrap_or_default();
        let timestamps = self.config.timestamps && offer.timestamps;
        // The echo tells which copy was answered (RFC 7323 section 4).
        let by_echo = (timestamps && segment.has_timestamps)
            .then(|| {
                (now.as_millis() as u32)
                    .wrapping_sub(segment.ts_echo)
                    .max(1)
            })
            .map(|millis| Span::from_millis(millis.into()));
        let first_was_answered =
            by_echo.is_some_and(|rtt| now.since(self.first_sent_at) < rtt + Span::from_millis(1));
        let forgiven = self.config.forgiven_syns;
        let is_forgiven = forgiven > 0
            && (self.role != Role::Opens || self.syns - 1 <= forgiven || first_was_answered);
        let rtt = if is_first {
            Some(now.since(self.sent_at))
        } else {
            by_echo
        };
        (rtt, !is_first && !is_forgiven)
    }

    /// ECN feedback that both ends support; this end's own wish before the peer's SYN. `needed` is what the
    /// congestion control is made for. DCTCP cannot be told from classic ECN in a handshake.
    pub(super) fn common_ecn(&self, needed: EcnFeedback) -> EcnFeedback {
        let own = match self.config.ecn {
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

    /// Opens by Fast Open; see [`super::SocketOption::FastOpen`].
    pub(super) fn open_fast(&mut self, room: u32) {
        self.early.turn_on(room);
    }

    /// Whether it opens by Fast Open.
    #[inline]
    pub(super) fn is_early(&self) -> bool {
        self.early.is_on()
    }

    /// Whether what is agreed took effect with the peer's SYN.
    pub(super) fn has_agreed_early(&self) -> bool {
        self.early.is_on() && self.role == Role::Answers
    }

    /// The peer answered a SYN that may have carried data. Returns the first sequence number behind
    /// the data, and whether all of it was taken.
    pub(super) fn on_early_answer(&mut self, ack: u64) -> (u64, bool) {
        self.early.on_answer(ack)
    }

    /// Data came on the peer's SYN, or on its answer, and was taken.
    pub(super) fn take_early(&mut self) {
        if self.role == Role::Answers {
            self.early.take();
        }
    }

    /// Whether data on the SYN was taken: the peer's here, or all of this end's there.
    pub(super) fn has_taken_early(&self) -> bool {
        self.early.is_taken()
    }
}
