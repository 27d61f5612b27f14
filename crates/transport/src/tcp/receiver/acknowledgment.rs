//! Timing of acknowledgments (RFC 5681 section 4.2; Linux `__tcp_ack_snd_check`,
//! `tcp_send_delayed_ack`).
//!
//! An ACK is sent for every second segment or after a timer. Quick ACKs are sent while the sender
//! starts. ACKs of out-of-order data are thinned.

#[cfg(test)]
mod tests;

use crate::tcp::config::{AckRule, TcpConfig};
use crate::tcp::timer::TimerClock;
use fadeout_core::{Span, Time};

/// Urgency of the ACK after an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Urgency {
    /// The segment is in order, and no data is missing.
    Normal,
    /// The segment is out of order, because data is missing before it.
    OutOfOrder,
    /// The segment is a duplicate, or it filled the last gap.
    Now,
}

/// Largest number of quick ACKs in a row (Linux `TCP_MAX_QUICKACKS`).
pub(super) const MAX_QUICK_ACKS: u64 = 16;
/// Number of duplicate ACKs that are never thinned out, so that the sender reaches DupThresh.
const UNCOMPRESSED_DUPLICATES: u32 = 3;
/// Largest number of ACKs that one thinned ACK replaces (Linux `tcp_comp_sack_nr`).
const MAX_COMPRESSED: u32 = 44;
/// Longest delay of a thinned ACK (Linux `tcp_comp_sack_delay_ns`).
const MAX_COMPRESSION_DELAY: Span = Span::from_millis(1);
/// Slack of the timer of thinned ACKs. The timer fires that much later if nothing else wakes the
/// processor (`tcp_comp_sack_slack_ns`).
const COMPRESSION_SLACK: Span = Span::from_micros(100);
/// Longest delay of an ACK (Linux `TCP_DELACK_MAX`).
const MAX_DELAY: Span = Span::from_millis(200);

/// State of the receiver on which the timing of an ACK depends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unacknowledged {
    /// Next sequence number that is expected (RCV.NXT).
    pub(super) next: u64,
    /// True if more than one full segment is unacknowledged and the window would not shrink.
    pub(super) is_full: bool,
    /// True if the peer supports SACK.
    pub(super) has_sack: bool,
    /// Round-trip time measured by the receiver.
    pub(super) rtt: Span,
    /// Smoothed round-trip time of the sending half.
    pub(super) srtt: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct AckPolicy {
    rule: AckRule,
    clock: TimerClock,
    /// Fixed delay, or smallest delay of Linux, in ticks.
    delay: u64,
    /// Largest delay of Linux, in ticks.
    longest: u64,
    /// One tick less than the smallest retransmission timeout.
    before_timeout: u64,
    compresses: bool,
    /// Adaptive delay of Linux (`icsk_ack.ato`) in ticks. Zero before the first data.
    adaptive: u64,
    /// Tick in which the last data arrived in order, or in which the handshake ended.
    last_data: u64,
    quick: u64,
    /// True if both ends send data, so that ACKs wait for a data segment that carries them. Set
    /// when data is sent soon after data arrived (Linux `pingpong`).
    is_interactive: bool,
    is_pending: bool,
    timer_at: Time,
    /// Expiry of the timer that was set last. The timer keeps running even after its data was
    /// acknowledged, because Linux does not stop it (`inet_csk_clear_xmit_timer`).
    runs_out_at: Time,
    /// Number of ACKs of out-of-order data since RCV.NXT was `duplicates_at`.
    duplicates: u32,
    duplicates_at: u64,
    compressed: u32,
    /// Time at which the timer of thinned ACKs expires.
    compressed_at: Time,
    /// Time at which the last ACK was held back for a thinned ACK.
    last_compressed_at: Time,
}

impl AckPolicy {
    pub(super) fn new(config: &TcpConfig) -> AckPolicy {
        let clock = TimerClock::new(config);
        AckPolicy {
            rule: config.acks.rule,
            clock,
            delay: clock.ticks(config.acks.delay),
            longest: clock.ticks(MAX_DELAY),
            before_timeout: clock.ticks(config.timers.minimum_rto).max(2) - 1,
            compresses: config.acks.sack_compression,
            adaptive: 0,
            last_data: 0,
            quick: 0,
            is_interactive: false,
            is_pending: false,
            timer_at: Time::NEVER,
            runs_out_at: Time::NEVER,
            duplicates: 0,
            duplicates_at: 0,
            compressed: 0,
            compressed_at: Time::NEVER,
            last_compressed_at: Time::ZERO,
        }
    }

    /// Returns the urgency of an ACK for data that fills a gap or a part of a gap. `otherwise` is
    /// the urgency if the configured rule treats gaps like other data.
    pub(super) fn urgency_in_gaps(&self, otherwise: Urgency) -> Urgency {
        match self.rule {
            AckRule::EverySecondInGaps => Urgency::Normal,
            _ => otherwise,
        }
    }

    pub(super) fn rule(&self) -> AckRule {
        self.rule
    }

    /// Records that data must be acknowledged, now or later.
    pub(super) fn schedule(&mut self) {
        self.is_pending = true;
    }

    /// Returns true if received data is not acknowledged yet.
    pub(super) fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Returns true if the ACK of received data waits for the delayed-ACK timer (Linux
    /// `ICSK_ACK_TIMER`).
    pub(super) fn is_delayed(&self) -> bool {
        !self.timer_at.is_never()
    }

    /// Records the end of the handshake, from which the spacing of the first data is measured
    /// (`tcp_finish_connect`, `tcp_create_openreq_child`).
    pub(super) fn on_established(&mut self, now: Time) {
        self.last_data = self.clock.tick_at(now);
    }

    /// Adapts the delay to the spacing of in-order data.
    pub(super) fn on_data(&mut self, now: Time, rto: Span, window: u64, mss: u32) {
        if self.rule != AckRule::Linux {
            return;
        }
        let tick = self.clock.tick_at(now);
        let gap = tick.saturating_sub(self.last_data);
        self.last_data = tick;
        if self.adaptive == 0 {
            self.grant_quick_acks(window, mss, MAX_QUICK_ACKS);
            self.adaptive = self.delay;
            return;
        }
        if gap <= self.delay / 2 {
            self.adaptive = self.adaptive / 2 + self.delay / 2;
            return;
        }
        let rto = self.clock.ticks(rto);
        if gap < self.adaptive {
            self.adaptive = (self.adaptive / 2 + gap).min(rto).min(self.longest);
        } else if gap > rto {
            // The sender restarts after a pause and needs quick ACKs to grow its window.
            self.grant_quick_acks(window, mss, MAX_QUICK_ACKS);
        }
    }

    /// Records that data was sent. Data sent soon after an arrival counts as a reply and makes the
    /// connection interactive.
    pub(super) fn on_data_sent(&mut self, now: Time) {
        if self.rule == AckRule::Linux
            && !self.is_interactive
            && self.adaptive > 0
            && self.clock.tick_at(now).saturating_sub(self.last_data) < self.adaptive
        {
            self.is_interactive = true;
        }
    }

    pub(super) fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Lets the next ACK wait for a data segment, as after a reply.
    pub(super) fn expect_reply(&mut self) {
        self.is_interactive = true;
    }

    /// Grants a quick ACK after the window grew, so that the sender may send more.
    pub(super) fn on_window_growth(&mut self) {
        if self.rule == AckRule::Linux {
            self.quick |= 1;
        }
    }

    /// Returns true if quick ACKs are granted.
    pub(super) fn is_quick(&self) -> bool {
        self.quick > 0
    }

    /// Ends quick ACKs because the buffer is half full.
    pub(super) fn forgo_quick_acks(&mut self) {
        self.quick = 0;
    }

    /// Returns true if ACKs of out-of-order data are held back for a thinned ACK.
    pub(super) fn holds_compressed(&self) -> bool {
        self.compressed > 0
    }

    /// Grants at most `most` quick ACKs, or fewer if the window is small (Linux
    /// `tcp_incr_quickack`).
    fn grant_quick_acks(&mut self, window: u64, mss: u32, most: u64) {
        let budget = match window / (2 * u64::from(mss.max(1))) {
            0 => 2,
            budget => budget.min(most),
        };
        self.quick = self.quick.max(budget);
    }

    /// Switches quick ACKs on or off at the request of the application.
    pub(super) fn set_quick(&mut self, is_on: bool, window: u64, mss: u32) {
        if is_on {
            self.enter_quick_mode(window, mss, MAX_QUICK_ACKS);
        } else {
            self.quick = 0;
            self.is_interactive = true;
        }
    }

    /// Grants at most `most` quick ACKs after an unusual arrival.
    pub(super) fn enter_quick_mode(&mut self, window: u64, mss: u32, most: u64) {
        if self.rule == AckRule::Linux {
            self.grant_quick_acks(window, mss, most);
            self.is_interactive = false;
            self.adaptive = self.delay;
        }
    }

    /// Returns true if an ACK must be sent now. Otherwise sets a timer.
    pub(super) fn decide(&mut self, now: Time, urgency: Urgency, cx: &Unacknowledged) -> bool {
        let is_full = cx.is_full;
        let is_immediate = match self.rule {
            AckRule::EverySegment => true,
            AckRule::EverySecond | AckRule::EverySecondInGaps => {
                is_full || urgency != Urgency::Normal
            }
            AckRule::Linux => {
                is_full || urgency == Urgency::Now || (self.quick > 0 && !self.is_interactive)
            }
        };
        if is_immediate {
            return true;
        }
        if urgency == Urgency::OutOfOrder {
            return !self.compress(now, cx);
        }
        self.arm_delayed(now, cx.srtt)
    }

    /// Returns true if an ACK must be sent now, by Linux's rule, after data in order. Otherwise
    /// sets a timer.
    #[inline]
    pub(super) fn decide_in_order(&mut self, now: Time, is_full: bool, srtt: Span) -> bool {
        is_full || (self.quick > 0 && !self.is_interactive) || self.arm_delayed(now, srtt)
    }

    /// Holds back an ACK of out-of-order data. Returns false if the ACK must be sent now.
    fn compress(&mut self, now: Time, cx: &Unacknowledged) -> bool {
        if !self.compresses || !cx.has_sack || self.compressed >= MAX_COMPRESSED {
            return false;
        }
        if self.duplicates_at != cx.next {
            self.duplicates_at = cx.next;
            self.duplicates = 0;
        }
        if self.duplicates < UNCOMPRESSED_DUPLICATES {
            self.duplicates += 1;
            return false;
        }
        self.compressed += 1;
        self.last_compressed_at = now;
        if self.runs_out_at <= now {
            self.runs_out_at = Time::NEVER;
        }
        if self.compressed_at.is_never() {
            self.compressed_at = now + MAX_COMPRESSION_DELAY.min(cx.rtt / 20) + COMPRESSION_SLACK;
        }
        true
    }

    /// Sets the timer unless it is set for an earlier time. Returns true if the ACK must be sent at
    /// once because the timer is about to fire.
    fn arm_delayed(&mut self, now: Time, srtt: Span) -> bool {
        let mut delay = self.delay;
        if self.rule == AckRule::Linux {
            delay = self.adaptive;
            if delay > self.delay {
                let longest = match self.clock.ticks(srtt) {
                    0 => delay,
                    rtt => rtt.max(self.delay),
                };
                delay = delay.min(longest).min(self.longest);
            }
            delay = delay.min(self.before_timeout);
            if !self.timer_at.is_never() && self.timer_at <= self.clock.fires_after(now, delay / 4)
            {
                return true;
            }
        }
        let at = self.clock.fires_after(now, delay);
        debug_assert!(at >= now, "a delayed ACK is set for the past");
        self.timer_at = self.timer_at.min(at);
        if self.rule == AckRule::Linux {
            self.runs_out_at = self.timer_at;
        }
        false
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(
            self.quick <= MAX_QUICK_ACKS | 1,
            "{} quick ACKs are granted",
            self.quick
        );
        debug_assert!(
            self.compressed <= MAX_COMPRESSED,
            "a thinned ACK stands for {} others",
            self.compressed
        );
        debug_assert!(
            (self.compressed > 0) != self.compressed_at.is_never(),
            "thinned ACKs have no timer, or a timer has no ACKs"
        );
        debug_assert!(
            self.duplicates <= UNCOMPRESSED_DUPLICATES,
            "{} duplicate ACKs left before they were thinned out",
            self.duplicates
        );
        debug_assert!(
            self.adaptive <= self.longest.max(self.delay),
            "the delay of an ACK is over its maximum"
        );
    }

    /// Records that an ACK left, alone or with data.
    pub(super) fn on_ack_sent(&mut self) {
        if self.is_pending && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.adaptive = self.delay;
            }
        }
        self.is_pending = false;
        self.timer_at = Time::NEVER;
        self.compressed = 0;
        self.compressed_at = Time::NEVER;
    }

    /// Returns the timestamp of an ACK that is sent now. The timer of thinned ACKs does not update
    /// the clock. So a thinned ACK has the timestamp of the last ACK held back (Linux
    /// `tcp_compressed_ack_kick`).
    pub(super) fn stamped_at(&self, now: Time) -> Time {
        if self.compressed > 0 && self.compressed_at <= now {
            self.last_compressed_at
        } else {
            now
        }
    }

    pub(super) fn wake_at(&self) -> Time {
        self.timer_at.min(self.thinned_at())
    }

    /// Returns the time at which thinned ACKs are sent at the latest. This is the expiry of their
    /// own timer or of the delayed-ACK timer (Linux `tcp_delack_timer_handler`).
    fn thinned_at(&self) -> Time {
        if self.compressed > 0 {
            self.compressed_at.min(self.runs_out_at)
        } else {
            Time::NEVER
        }
    }

    /// Processes a wake-up. Returns true if an ACK must be sent because a timer expired.
    pub(super) fn on_wake(&mut self, now: Time, rto: Span) -> bool {
        if self.compressed == 0 && self.timer_at <= now {
            if self.rule == AckRule::Linux {
                // Neither a second segment nor a reply came within the delay. So the next delay is
                // longer, or ACKs no longer wait for replies (Linux `tcp_delack_timer_handler`).
                self.adaptive = if self.is_interactive {
                    self.delay
                } else {
                    (self.adaptive * 2)
                        .min(self.clock.ticks(rto))
                        .min(self.longest)
                };
                self.is_interactive = false;
            }
            return true;
        }
        self.wake_at() <= now
    }
}
