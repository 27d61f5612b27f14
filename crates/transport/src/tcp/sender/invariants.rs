//! Relations between the fields of a sender that hold after each event. They are checked in builds
//! with assertions.

use super::{Sender, TimerKind};
use crate::congestion::AckSample;

impl Sender {
    /// Asserts the relations that hold after each event. Costs a few comparisons.
    #[inline]
    pub(in crate::tcp) fn assert_invariants(&self) {
        self.assert_sequence_order();
        self.assert_window();
        self.assert_timer();
        self.assert_counters();
        self.board.assert_invariants(self.snd_una, self.snd_nxt);
        self.rtt.assert_invariants();
        self.pacer.assert_invariants();
        self.socket.assert_invariants();
    }

    /// Standard: RFC 9293 §3.3.1.
    fn assert_sequence_order(&self) {
        let (una, nxt) = (self.snd_una, self.snd_nxt);
        debug_assert!(una <= nxt, "SND.UNA {una} is beyond SND.NXT {nxt}");
        debug_assert!(
            nxt <= self.write_end + u64::from(self.fin_sent),
            "SND.NXT {nxt} is beyond what was written, {}",
            self.write_end
        );
        debug_assert!(
            !self.fin_sent || self.fin_queued,
            "a FIN left without a close"
        );
        debug_assert!(
            self.fack <= nxt,
            "the highest SACK {} is beyond SND.NXT {nxt}",
            self.fack
        );
        debug_assert!(
            self.high_seq <= nxt,
            "the recovery point {} is beyond SND.NXT {nxt}",
            self.high_seq
        );
        debug_assert!(
            self.undo.marker.is_none_or(|marker| marker <= una),
            "the reduction to undo began beyond SND.UNA {una}"
        );
        debug_assert!(
            self.probe.high_seq.is_none_or(|end| end <= nxt),
            "a loss probe ends beyond SND.NXT {nxt}"
        );
        debug_assert!(
            self.small_end <= nxt,
            "the last small segment ends beyond SND.NXT {nxt}"
        );
        debug_assert!(
            self.retransmit_hint <= self.board.end(),
            "the search for losses starts beyond the scoreboard"
        );
    }

    fn assert_window(&self) {
        let window = &self.window;
        debug_assert!(
            window.cwnd.is_finite() && window.cwnd >= 1.0,
            "a congestion window of {} segments",
            window.cwnd
        );
        debug_assert!(
            window.ssthresh > 0.0,
            "a slow-start threshold of {} segments",
            window.ssthresh
        );
        debug_assert!(window.mss > 0, "a segment carries no payload");
        debug_assert!(
            self.reordering > 0,
            "a loss is inferred from segments in order"
        );
    }

    fn assert_timer(&self) {
        let needs_data = matches!(
            self.pending(),
            Some(TimerKind::Rto | TimerKind::LossProbe | TimerKind::Reordering)
        );
        debug_assert!(
            !needs_data || !self.board.is_empty(),
            "{:?} runs with nothing outstanding",
            self.pending()
        );
        debug_assert!(
            self.pending() != Some(TimerKind::Persist) || self.board.is_empty(),
            "the window is probed with data outstanding"
        );
    }

    fn assert_counters(&self) {
        let counts = &self.statistics;
        debug_assert!(
            counts.retransmitted_segments <= counts.sent_segments,
            "more segments were sent again than were sent"
        );
        debug_assert!(
            counts.srtt_integral >= 0.0 && counts.srtt_time_s >= 0.0,
            "the integral of SRTT went down"
        );
        debug_assert!(
            self.retransmits == 0 || counts.timeouts > 0,
            "timeouts in a row that were not counted"
        );
    }

    /// Asserts the properties of an ACK sample that congestion controls rely on.
    #[inline]
    pub(super) fn assert_sample(&self, ack: &AckSample) {
        debug_assert!(
            ack.delivered >= u64::from(ack.delivered_now),
            "an ACK delivers more than was ever delivered"
        );
        debug_assert!(
            ack.lost >= u64::from(ack.lost_now),
            "an ACK loses more than was ever lost"
        );
        debug_assert!(
            ack.rate.prior_delivered <= ack.delivered,
            "a rate sample begins after its end"
        );
        debug_assert!(
            ack.rtt.is_none_or(|rtt| ack.min_rtt <= rtt),
            "a round-trip time is below the smallest"
        );
        debug_assert!(
            ack.srtt.is_zero() != self.rtt.has_sample(),
            "SRTT is zero only before the first sample"
        );
    }
}
