//! Processing of one acknowledgment, in the order of Linux's `tcp_ack`.

use super::recovery::Repair;
use super::sack::SackNews;
use super::{Sender, SenderContext};
use crate::congestion::{AckArrival, AckSample, CongestionControl, RecoveryState};
use crate::tcp::outbox::AppEvent;
use crate::tcp::scoreboard::Tags;
use crate::tcp::sender::TimerKind;
use fadeout_core::{Probe, Segment, Span, Time};

/// Effects of one ACK (Linux `FLAG_*`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AckFlags {
    /// True if the segment carried payload.
    pub(super) carries_data: bool,
    /// True if the ACK changed the peer's window.
    pub(super) window_update: bool,
    /// True if the ACK acknowledged data cumulatively.
    pub(super) data_acked: bool,
    /// True if the ACK acknowledged new data cumulatively (SND.UNA moved).
    pub(super) una_advanced: bool,
    /// True if the ACK SACKed new data.
    pub(super) data_sacked: bool,
    /// True if data below `high_seq` that was never retransmitted was acknowledged.
    pub(super) original_acked: bool,
    /// True if retransmitted data was acknowledged cumulatively.
    pub(super) retransmitted_acked: bool,
    /// True if the ACK carried a DSACK.
    pub(super) dsack: bool,
    /// True if the DSACK is for a tail loss probe.
    pub(super) dsack_for_probe: bool,
    /// True if the retransmission timer or the probe timer must be set again.
    pub(super) set_timer: bool,
    /// True if a retransmission was detected as lost.
    pub(super) lost_retransmission: bool,
    /// True if the ACK carried an ECN echo.
    pub(super) ece: bool,
}

impl AckFlags {
    /// Returns true if the ACK is not a duplicate (Linux `FLAG_NOT_DUP`).
    fn is_not_duplicate(&self) -> bool {
        self.carries_data || self.window_update || self.data_acked
    }
}

/// Departure times of the first and the last segment that an ACK covers unambiguously.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SentTimes {
    pub(super) first: Option<Time>,
    pub(super) last: Option<Time>,
}

impl SentTimes {
    #[inline]
    pub(super) fn record(&mut self, sent_at: Time) {
        self.first.get_or_insert(sent_at);
        self.last = Some(sent_at);
    }
}

/// State of the sender before an ACK.
#[derive(Debug, Clone, Copy)]
struct Before {
    una: u64,
    window: u64,
    in_flight: u32,
    delivered: u64,
    lost: u64,
    /// End of the highest segment SACKed before this ACK. Data below this number that the ACK newly
    /// reports arrived late, by reordering.
    fack: u64,
    /// True if data was outstanding.
    had_outstanding: bool,
}

impl Sender {
    /// Processes the acknowledgment in `segment`, and sends the data that the ACK allows.
    pub(in crate::tcp) fn on_ack<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        segment: &Segment,
    ) {
        self.take_loss_notification(segment);
        if self.may_pass() && self.changes_nothing(segment) {
            self.pass(segment);
            return;
        }
        let before = Before {
            una: self.snd_una,
            window: self.snd_wnd,
            in_flight: self.in_flight(),
            delivered: self.rate.delivered,
            lost: self.rate.lost,
            fack: self.fack_or_una(),
            had_outstanding: !self.board.is_empty(),
        };
        let (ece, marked) = self.marks.process_report(segment);
        let mut flags = AckFlags {
            carries_data: segment.len > 0,
            ece,
            ..AckFlags::default()
        };
        self.rate.begin();
        self.undo.latest_echo = segment.has_timestamps.then_some(segment.ts_echo);
        let acked = self.take_acknowledgment(cx.now, segment, &before, &mut flags);
        let delivered_ce = match marked {
            Some(count) => u64::from(count),
            None if flags.ece => self.rate.delivered - before.delivered,
            None => 0,
        };
        self.rate.delivered_ce += delivered_ce;
        let is_news = flags.una_advanced || flags.data_sacked;
        let resumes = self.ends_outage(cx, is_news, before.window == 0 && self.snd_wnd > 0);
        if segment.ack >= before.una {
            self.report_arrival(cx.now, segment, &before, &flags);
        }
        if !before.had_outstanding {
            self.answer_with_nothing_outstanding(cx, segment, before.una, flags);
            return;
        }
        let mut repair = self.find_repair(cx, segment, before.una, acked, &mut flags);
        if resumes {
            repair = Repair::Lost;
        }
        if flags.set_timer {
            self.set_retransmission_timer(cx.now);
        }
        self.adapt_window(cx.now, &before, acked, delivered_ce, &flags);
        self.repair(cx, repair);
        if self.socket.sends_after_ack() {
            self.transmit(cx);
        }

        debug_assert!(
            self.board.packets_out() > 512 || self.board.counts_agree(),
            "the scoreboard's counts equal its tags"
        );
        self.record_state(cx.now, cx.probe);
        if self.is_drained() {
            cx.out.events.push(AppEvent::AllAcknowledged);
        }
    }

    /// Processes the window, the SACK blocks and the cumulative acknowledgment of a segment.
    /// Returns the number of segments that it acknowledges cumulatively.
    #[inline]
    fn take_acknowledgment(
        &mut self,
        now: Time,
        segment: &Segment,
        before: &Before,
        flags: &mut AckFlags,
    ) -> u32 {
        let is_old = segment.ack < before.una;
        if !is_old {
            if segment.ack > before.una {
                self.retransmits = 0;
            }
            self.update_window(now, segment, flags);
        }
        let news = if !segment.sack.is_empty() && self.config.recovery.method.uses_sack() {
            self.take_sacks(now, segment, flags)
        } else {
            SackNews::default()
        };
        if is_old {
            0
        } else if before.had_outstanding {
            self.take_cumulative_ack(now, segment, flags, before.fack, news.times)
        } else {
            self.usage.rtt_is_fresh = false;
            0
        }
    }

    /// Reports an ACK to the congestion control before loss detection.
    #[inline]
    fn report_arrival(&mut self, now: Time, segment: &Segment, before: &Before, flags: &AckFlags) {
        let is_same = segment.window == before.window && segment.sack.is_empty() && !flags.ece;
        self.congestion.on_ack_arrival(&AckArrival {
            now,
            snd_una: self.snd_una,
            mss: self.window.mss,
            rtt: self.fresh_rtt(flags),
            is_plain: flags.una_advanced && is_same,
        });
    }

    /// Finishes the processing of an ACK that arrived while no data was outstanding.
    fn answer_with_nothing_outstanding<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        segment: &Segment,
        prior_una: u64,
        mut flags: AckFlags,
    ) {
        // A DSACK may prove that the last recovery was not needed.
        if flags.dsack && !self.is_suspended() {
            let repair = self.run_recovery(cx, prior_una, &mut flags);
            self.repair(cx, repair);
        }
        // The ACK of a loss probe may arrive after the first copy was acknowledged.
        if !self.is_suspended() {
            self.take_probe_ack(cx, segment.ack, &flags);
        }
        self.after_probe_ack();
        if self.is_idle() {
            self.note_idle();
        } else if self.socket.sends_after_ack() {
            self.transmit(cx);
        }
    }

    /// Runs loss detection and recovery for an ACK. Returns the repair that is due.
    #[inline]
    fn find_repair<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        segment: &Segment,
        prior_una: u64,
        acked: u32,
        flags: &mut AckFlags,
    ) -> Repair {
        self.adapt_reordering_window();
        if flags.una_advanced {
            self.end_ncr_episode();
        }
        if self.is_suspended() {
            // Segments that arrive now were in flight when the outage began, so their ACKs do not
            // show that the link is back.
            return Repair::None;
        }
        if !self.config.recovery.method.uses_sack() {
            return self.run_classic_recovery(cx, acked, flags);
        }
        self.take_probe_ack(cx, segment.ack, flags);
        let is_plain = flags.is_not_duplicate()
            && !flags.data_sacked
            && !flags.ece
            && !flags.dsack
            && self.state == RecoveryState::Open;
        if is_plain {
            return Repair::None;
        }
        self.run_recovery(cx, prior_una, flags)
    }

    /// Sets the window after an ACK, by proportional rate reduction (PRR) or by the congestion
    /// control. Then sets the pacing rate. `delivered_ce` is the number of delivered segments that
    /// had a congestion mark.
    #[inline]
    fn adapt_window(
        &mut self,
        now: Time,
        before: &Before,
        acked: u32,
        delivered_ce: u64,
        flags: &AckFlags,
    ) {
        let delivered_now = (self.rate.delivered - before.delivered) as u32;
        let lost_now = (self.rate.lost - before.lost) as u32;
        let rate = self.rate.finish(self.rtt.min());
        let reduces = self.in_reduction() && self.config.recovery.method.uses_sack();
        if reduces && !self.congestion.controls_window() {
            self.reduce_window(delivered_now, lost_now, flags.una_advanced);
        }
        let may_grow = !reduces && !self.is_suspended() && self.may_raise_window(flags);
        let sample = AckSample {
            now,
            acked,
            delivered_now,
            delivered_ce_now: delivered_ce as u32,
            lost_now,
            rtt: self.fresh_rtt(flags),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            in_flight: self.in_flight(),
            prior_in_flight: before.in_flight,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            delivered: self.rate.delivered,
            lost: self.rate.lost,
            rate,
            is_cwnd_limited: self.usage.is_cwnd_limited(&self.window),
            may_grow,
            ece: flags.ece,
            is_paced: self.is_pacing(),
            pacing_rate: self.pacer.rate,
            departs_in: self.pacer.next_at.since(now),
            state: self.state,
        };
        self.assert_sample(&sample);
        if delivered_now > 0 || acked > 0 || flags.ece || lost_now > 0 {
            self.congestion.on_ack(&mut self.window, &sample);
        }
        self.statistics.max_cwnd = self.statistics.max_cwnd.max(self.window.cwnd);
        self.update_pacing_rate();
    }

    /// Returns true if this half is idle, so that a segment that [changes
    /// nothing](Self::changes_nothing) may pass it. Nearly all segments that a pure receiver gets
    /// do.
    #[inline]
    pub(in crate::tcp) fn may_pass(&self) -> bool {
        self.is_idle() && self.probe.high_seq.is_none() && !self.marks.is_agreed()
    }

    /// Returns true if a segment has neither a new acknowledgment nor another window.
    #[inline]
    pub(in crate::tcp) fn changes_nothing(&self, segment: &Segment) -> bool {
        segment.ack == self.snd_una && segment.window == self.snd_wnd && segment.sack.is_empty()
    }

    /// Processes a segment that changes nothing in this idle half.
    #[inline]
    pub(in crate::tcp) fn pass(&mut self, segment: &Segment) {
        self.snd_wl1 = self.snd_wl1.max(segment.seq);
        self.unanswered_probes = 0;
        self.note_idle();
    }

    /// Returns the round-trip time that this ACK measured. `None` if it measured none.
    fn fresh_rtt(&self, flags: &AckFlags) -> Option<Span> {
        (self.usage.rtt_is_fresh && (flags.data_acked || flags.data_sacked))
            .then(|| self.rtt.latest())
    }

    /// Updates the peer's window, unless the segment is older than the segment with the last
    /// update.
    ///
    /// Standard: RFC 9293 §3.10.7.4.
    fn update_window(&mut self, now: Time, segment: &Segment, flags: &mut AckFlags) {
        if self.may_update_window(segment) {
            flags.window_update = segment.window != self.snd_wnd;
            self.snd_wl1 = segment.seq;
            if segment.window != self.snd_wnd && self.board.is_empty() && self.unsent() > 0 {
                self.restart_after_idle(now);
            }
            self.snd_wnd = segment.window;
            self.max_window = self.max_window.max(segment.window);
        }
    }

    /// Removes cumulatively acknowledged segments and measures the round-trip time. Returns the
    /// number of segments removed. `prior_fack` is the end of the data SACKed before this ACK.
    /// `sacked` has the departure times of the segments that this ACK newly SACKed.
    #[inline]
    fn take_cumulative_ack(
        &mut self,
        now: Time,
        segment: &Segment,
        flags: &mut AckFlags,
        prior_fack: u64,
        sacked: SentTimes,
    ) -> u32 {
        let ack = segment.ack;
        let mut times = SentTimes::default();
        let mut reordered = u64::MAX;
        let mut acked = 0;
        if ack > self.snd_una {
            flags.una_advanced = true;
            self.snd_una = ack;
        }
        while let Some(head) = self.board.head() {
            if head.end_seq() > ack {
                if head.seq < ack {
                    self.board.trim_head(ack);
                    flags.data_acked = true;
                }
                break;
            }
            let head = self.board.pop();
            if head.tags.has(Tags::EVER_RETRANSMITTED) {
                flags.retransmitted_acked = true;
            } else if !head.tags.has(Tags::SACKED) {
                times.record(head.sent_at);
                reordered = reordered.min(head.seq);
                if head.end_seq() <= self.high_seq {
                    flags.original_acked = true;
                }
            }
            // A segment that was SACKed earlier already gave a round-trip time sample then.
            if !head.tags.has(Tags::SACKED) {
                self.rate.delivered += 1;
                self.rate.on_delivered(now, &head);
                if !self.is_spurious_retransmission(&head, segment) {
                    self.advance_rack(now, &head);
                }
            }
            flags.data_acked = true;
            acked += 1;
        }
        self.board.settle_head();
        self.fack = self.fack.max(self.snd_una);
        self.retransmit_hint = self.retransmit_hint.max(self.board.first());

        let sampled = self.sample_rtt(now, segment, flags, times, sacked);
        self.usage.rtt_is_fresh = sampled;
        if flags.data_acked {
            flags.set_timer = true;
            // Linux checks for reordering on a cumulative ACK too (tcp_clean_rtx_queue).
            if reordered < prior_fack && self.config.recovery.method.uses_sack() {
                self.note_reordering(reordered);
            }
        } else if sampled {
            // A SACK of a segment sent after the oldest one restarts the timer. RFC 6298 restarts
            // the timer on new acknowledgments, and this SACK counts as one.
            let head_sent = self.board.head().map_or(Time::NEVER, |head| head.sent_at);
            if sacked.first.is_some_and(|first| first < head_sent) {
                flags.set_timer = true;
            }
        }
        acked
    }

    /// Measures the round-trip time with the acknowledged segments (Karn, and RFC 7323 section 4
    /// for timestamps). Returns true if a sample was unambiguous.
    fn sample_rtt(
        &mut self,
        now: Time,
        segment: &Segment,
        flags: &AckFlags,
        acked: SentTimes,
        sacked: SentTimes,
    ) -> bool {
        let mut rtt = None;
        let mut latest = None;
        if !flags.retransmitted_acked {
            rtt = acked.first.map(|at| now.since(at));
            latest = acked.last.map(|at| now.since(at));
        }
        if let (Some(first), Some(last)) = (sacked.first, sacked.last) {
            rtt = rtt.or(Some(now.since(first)));
            latest = Some(now.since(last));
        }
        if rtt.is_none() && flags.data_acked && segment.has_timestamps {
            let millis = (now.as_millis() as u32).wrapping_sub(segment.ts_echo);
            // The millisecond clock cannot measure less than one tick.
            rtt = Some(Span::from_millis(u64::from(millis.max(1))));
            latest = rtt;
        }
        let (Some(rtt), Some(latest)) = (rtt, latest.or(rtt)) else {
            return false;
        };
        self.take_rtt_sample(now, rtt, latest);
        true
    }

    /// Returns true if this ACK may grow the window. In RFC 5681 only cumulative acknowledgments
    /// grow the window. With much reordering any delivery does (Linux `tcp_may_raise_cwnd`).
    fn may_raise_window(&self, flags: &AckFlags) -> bool {
        if !self.config.recovery.method.uses_sack() {
            return flags.data_acked
                && self.state != RecoveryState::Recovery
                && !self.classic.has_just_left;
        }
        if self.reordering > self.config.recovery.duplicate_threshold {
            return flags.data_acked || flags.data_sacked;
        }
        flags.data_acked
    }

    /// Starts the probe timer if a probe may be sent. Otherwise starts the retransmission timer.
    fn set_retransmission_timer(&mut self, now: Time) {
        if !self.schedule_loss_probe(now, true) {
            self.rearm_rto(now);
        }
    }

    /// Restarts the retransmission timer, or stops it when nothing is outstanding. If a probe or
    /// reordering timer had replaced the retransmission timer, the time already waited counts.
    ///
    /// Standard: RFC 6298 rule 5.3.
    pub(super) fn rearm_rto(&mut self, now: Time) {
        if self.is_suspended() {
            return;
        }
        let Some(head) = self.board.head() else {
            self.timer = None;
            return;
        };
        let displaced = matches!(
            self.pending(),
            Some(TimerKind::LossProbe | TimerKind::Reordering)
        );
        let from = if displaced { head.sent_at } else { now };
        debug_assert!(from <= now, "the oldest segment was sent in the future");
        let left = (from + self.rtt.rto()).since(now);
        self.arm_after(TimerKind::Rto, now, left.max(self.config.timers.tick));
    }
}
