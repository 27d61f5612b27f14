//! Polling by the transmitting side of acknowledged mode.
//!
//! Standard: TS 38.322 §5.3.3; TS 36.322 §5.2.2.

use super::AmConfig;
use fadeout_core::{Span, Time};

#[derive(Clone, Debug)]
pub(super) struct Poll {
    t_poll_retransmit: Span,
    poll_pdu: u32,
    poll_byte: u64,
    pdu_without_poll: u32,
    byte_without_poll: u64,
    /// POLL_SN, valid while the timer runs.
    poll_sn: u64,
    /// t-PollRetransmit.
    expires_at: Time,
    /// True if the next PDU must poll.
    is_due: bool,
}

impl Poll {
    pub(super) fn new(config: &AmConfig) -> Poll {
        Poll {
            t_poll_retransmit: config.t_poll_retransmit,
            poll_pdu: config.poll_pdu.unwrap_or(u32::MAX),
            poll_byte: config.poll_byte.map_or(u64::MAX, |bytes| bytes.0),
            pdu_without_poll: 0,
            byte_without_poll: 0,
            poll_sn: 0,
            expires_at: Time::NEVER,
            is_due: false,
        }
    }
    /// Counts a PDU with bytes that were not sent before.
    #[inline]
    pub(super) fn on_new(&mut self, bytes: u32) {
        self.pdu_without_poll += 1;
        self.byte_without_poll += u64::from(bytes);
        self.is_due |=
            self.pdu_without_poll >= self.poll_pdu || self.byte_without_poll >= self.poll_byte;
    }
    /// Returns true if the current PDU polls. `is_last`: true if no PDU can follow now. `highest`
    /// is the highest number sent.
    #[inline]
    pub(super) fn decide(&mut self, now: Time, is_last: bool, highest: u64) -> bool {
        if !(self.is_due || is_last) {
            return false;
        }
        self.is_due = false;
        self.pdu_without_poll = 0;
        self.byte_without_poll = 0;
        self.poll_sn = highest;
        self.expires_at = now.saturating_add(self.t_poll_retransmit);
        true
    }
    /// Starts t-PollRetransmit for `highest` unless it is running.
    pub(super) fn expect_answer(&mut self, now: Time, highest: u64) {
        if self.expires_at.is_never() {
            self.poll_sn = highest;
            self.expires_at = now.saturating_add(self.t_poll_retransmit);
        }
    }
    /// Processes a STATUS PDU that acknowledges all numbers below `ack`, positively or negatively.
    #[inline]
    pub(super) fn on_status(&mut self, ack: u64) {
        if self.poll_sn < ack {
            self.expires_at = Time::NEVER;
        }
    }
    /// Returns true if t-PollRetransmit has expired. The next PDU then polls.
    pub(super) fn expires(&mut self, now: Time) -> bool {
        let expired = self.expires_at <= now;
        if expired {
            self.expires_at = Time::NEVER;
            self.is_due = true;
        }
        expired
    }
    #[inline]
    pub(super) fn wake_at(&self) -> Time {
        self.expires_at
    }
}
