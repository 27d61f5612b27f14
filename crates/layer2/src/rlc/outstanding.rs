//! Unacknowledged PDUs in acknowledged mode, for LTE and NR: polls, their timer, and the
//! retransmission if no answer arrives.
//!
//! Standard: TS 38.322 §5.3.3; TS 36.322 §5.2.2.

use super::poll::Poll;
use super::unacked::Unacked;
use super::{AmConfig, Nack, Pdu};
use fadeout_core::Time;

/// State of the bytes that were never sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum New {
    /// Bytes wait, and the window allows sending them.
    Ready,
    /// No bytes wait.
    Nothing,
    /// The window is stalled.
    Stalled,
}

/// PDUs that were sent and are not acknowledged, and the polls about them.
#[derive(Clone, Debug)]
pub(super) struct Outstanding<T> {
    pub(super) unacked: Unacked<T>,
    poll: Poll,
}

impl<T: Copy + Default> Outstanding<T> {
    pub(super) fn new(am: &AmConfig) -> Self {
        Outstanding {
            unacked: Unacked::new(am),
            poll: Poll::new(am),
        }
    }

    /// Counts a PDU with `bytes` that were not sent before.
    #[inline]
    pub(super) fn on_new(&mut self, bytes: u32) {
        self.poll.on_new(bytes);
    }

    /// Returns true if the current PDU polls, because a poll is due or no PDU can follow.
    #[inline]
    pub(super) fn polls(&mut self, now: Time, new: New) -> bool {
        let is_last = new == New::Stalled || self.nothing_goes(new);
        self.poll.decide(now, is_last, self.unacked.highest())
    }

    /// Returns true if no bytes can be sent, neither new nor retransmitted ones.
    #[inline]
    fn nothing_goes(&self, new: New) -> bool {
        self.unacked.pending_pieces == 0 && new != New::Ready
    }

    /// Starts t-PollRetransmit if no other event would cause an answer: nothing can be sent, and
    /// something is not acknowledged. This covers two cases that the standard misses. First, the
    /// SDUs after the last PDU may be dropped, so that PDU did not poll. Second, a STATUS PDU older
    /// than the poll may stop the timer, and the answer may be lost. POLL_SN of a stalled window
    /// stays the same, which makes this possible.
    pub(super) fn ensure_answer(&mut self, now: Time, new: New) {
        if self.nothing_goes(new) && !self.unacked.is_empty() {
            self.poll.expect_answer(now, self.unacked.highest());
        }
    }

    /// Processes a STATUS PDU. Returns false if it is older than the window.
    pub(super) fn on_status(&mut self, pdu: &Pdu, nacks: &[Nack]) -> bool {
        let ack = self.unacked.on_status(pdu, nacks);
        if let Some(ack) = ack {
            self.poll.on_status(ack);
        }
        ack.is_some()
    }

    /// Handles a possible expiry of t-PollRetransmit. If no new bytes can carry the poll, a sent
    /// PDU is retransmitted.
    pub(super) fn on_wake(&mut self, now: Time, new: New) {
        let carries_nothing = new == New::Stalled || self.nothing_goes(new);
        if self.poll.expires(now) && !self.unacked.is_empty() && carries_nothing {
            self.unacked.retransmit_one();
        }
    }

    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.poll.wake_at()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rlc::{Mode, RlcConfig};
    use fadeout_core::Span;

    fn parameters() -> AmConfig {
        match RlcConfig::NR_AM.mode {
            Mode::Am(am) => am,
            _ => unreachable!("acknowledged mode"),
        }
    }

    /// Returns one item of 100 bytes, sent at time zero, with or without a poll.
    fn sent(polled: bool) -> Outstanding<u8> {
        let mut outstanding = Outstanding::new(&parameters());
        outstanding.unacked.push(0, 100);
        outstanding.on_new(100);
        if polled {
            assert!(outstanding.polls(Time::ZERO, New::Nothing));
        }
        outstanding
    }

    #[test]
    fn the_last_pdu_before_a_stall_polls_and_one_with_others_behind_does_not() {
        for (new, polls) in [
            (New::Ready, false),
            (New::Nothing, true),
            (New::Stalled, true),
        ] {
            assert_eq!(sent(false).polls(Time::ZERO, new), polls, "{new:?}");
        }
    }

    #[test]
    fn an_expired_poll_sends_again_when_nothing_new_can_carry_it() {
        for (new, again) in [(New::Ready, 0), (New::Nothing, 100), (New::Stalled, 100)] {
            let mut outstanding = sent(true);
            let at = outstanding.wake_at();
            assert_eq!(at, Time::ZERO + parameters().t_poll_retransmit);
            outstanding.on_wake(at - Span::from_nanos(1), new);
            assert_eq!(outstanding.unacked.pending_bytes, 0, "too early");
            outstanding.on_wake(at, new);
            assert_eq!(outstanding.unacked.pending_bytes, again, "{new:?}");
        }
    }

    #[test]
    fn an_expired_poll_of_a_stalled_window_sends_again_though_retransmissions_wait() {
        let mut outstanding = sent(true);
        outstanding.unacked.push(0, 50);
        let first = Pdu {
            sn: 1,
            ..Pdu::default()
        };
        let missing = Nack {
            sn: 0,
            range: 1,
            segment: None,
        };
        assert!(outstanding.on_status(&first, &[missing]));
        assert_eq!(outstanding.unacked.pending_bytes, 100);
        outstanding.ensure_answer(Time::ZERO, New::Stalled);
        assert!(
            outstanding.wake_at().is_never(),
            "the retransmission will poll"
        );
        assert!(outstanding.polls(Time::ZERO, New::Stalled));
        outstanding.on_wake(outstanding.wake_at(), New::Stalled);
        assert_eq!(outstanding.unacked.pending_bytes, 150);
    }

    #[test]
    fn a_timer_runs_only_while_something_is_not_acknowledged() {
        let mut outstanding = sent(false);
        outstanding.ensure_answer(Time::ZERO, New::Ready);
        assert!(outstanding.wake_at().is_never());
        outstanding.ensure_answer(Time::ZERO, New::Stalled);
        assert!(!outstanding.wake_at().is_never());
        let all = Pdu {
            sn: 1,
            ..Pdu::default()
        };
        assert!(outstanding.on_status(&all, &[]));
        outstanding.ensure_answer(Time::ZERO, New::Stalled);
        assert!(outstanding.wake_at().is_never());
    }

    #[test]
    fn a_poll_is_answered_by_a_status_beyond_its_pdu_only() {
        let mut outstanding = sent(false);
        outstanding.unacked.push(0, 100);
        assert!(outstanding.polls(Time::ZERO, New::Nothing));
        for (sn, is_answered) in [(1, false), (2, true)] {
            let status = Pdu {
                sn,
                ..Pdu::default()
            };
            assert!(outstanding.on_status(&status, &[]));
            assert_eq!(outstanding.wake_at().is_never(), is_answered, "ACK_SN {sn}");
        }
    }
}
