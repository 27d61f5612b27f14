//! Retransmission of lost segments (Linux `tcp_xmit_retransmit_queue`).

use super::recovery::Repair;
use super::{Sender, SenderContext, TimerKind};
use crate::congestion::RecoveryState;
use crate::tcp::config::LossRecovery;
use crate::tcp::scoreboard::{SentSegment, Tags};
use fadeout_core::{Flags, Probe, RetransmitCause, RetransmitRow};

/// Progress of this recovery's retransmissions (HighRxt).
///
/// Standard: RFC 6675 §2.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NextSeg {
    /// End of the highest segment retransmitted (HighRxt), except by a rescue, and of the SACKed
    /// range behind it.
    high_rxt: u64,
    /// Sequence number that SND.UNA must pass before a segment is retransmitted as a rescue
    /// (RescueRxt).
    rescue_rxt: u64,
}

impl NextSeg {
    /// Begins a recovery with the repair of `head`, the oldest segment outstanding. Retransmissions
    /// of the recovery before are still in the network.
    ///
    /// Standard: RFC 6675 §5, step 4.3.
    pub(super) fn begin(&mut self, head: Option<&SentSegment>) {
        let end = head.map_or(0, SentSegment::end_seq);
        self.high_rxt = self.high_rxt.max(end);
        self.rescue_rxt = end;
    }

    /// Resets the progress, because all outstanding segments and retransmissions are believed lost.
    pub(super) fn forget(&mut self) {
        *self = NextSeg::default();
    }
}

impl Sender {
    /// Retransmits the segments that an ACK showed to be lost, or first sends new data to test a
    /// timeout.
    pub(super) fn repair<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>, repair: Repair) {
        match repair {
            Repair::None => return,
            Repair::Lost => {}
            Repair::NewDataFirst => {
                self.transmit(cx);
                if self.snd_nxt > self.high_seq {
                    return;
                }
                // RFC 5682 step 2b: without new data to send, the timeout counts as genuine.
                self.frto = false;
            }
        }
        self.retransmit_lost(cx);
    }

    /// Returns true if a loss may be unrepaired, because more segments are lost than retransmitted.
    /// With RFC 6675 any loss counts, because some retransmitted segments are not lost.
    ///
    /// Standard: RFC 6675 §5.
    #[inline]
    pub(super) fn has_losses_to_repair(&self) -> bool {
        self.board.lost_out > self.board.retrans_out
            || (self.config.recovery.method == LossRecovery::Sack && self.board.lost_out > 0)
    }

    /// Retransmits segments marked lost, in sequence, as the window allows.
    pub(super) fn retransmit_lost<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if self.is_suspended() {
            return;
        }
        let cause = match (self.state, self.config.recovery.method) {
            (RecoveryState::Loss, _) => RetransmitCause::Rto,
            (_, LossRecovery::Rack) => RetransmitCause::Rack,
            _ => RetransmitCause::FastRetransmit,
        };
        let mut number = self.retransmit_hint.max(self.board.first());
        let mut rearm = false;
        while number < self.board.end() {
            if self.waits_for_pacer(cx.now) {
                break;
            }
            self.retransmit_hint = number;
            let room = (self.window.cwnd as u32).saturating_sub(self.in_flight());
            if room == 0 && !self.is_unconditional(number) || !self.has_losses_to_repair() {
                break;
            }
            let tags = self.board.get(number).tags;
            if !tags.has(Tags::LOST) || tags.has(Tags::SACKED) || tags.has(Tags::RETRANSMITTED) {
                number += 1;
                continue;
            }
            let count = self.resend_piece(cx, number, room, cause);
            if count == 0 {
                break;
            }
            if self.in_reduction() {
                self.recovery.on_sent(count);
            }
            rearm |= number == self.board.first()
                && self.pending() != Some(TimerKind::Reordering)
                && !(self.state == RecoveryState::Recovery && self.classic.is_timer_settled);
            number += u64::from(count);
        }
        if rearm {
            self.arm_after(TimerKind::Rto, cx.now, self.rtt.rto());
        }
    }

    /// Retransmits the lost segments of one sk_buff from segment `number` on, up to `room`
    /// segments, but at least one. Returns their number. If there are several, the last one carries
    /// PSH, as with new segments.
    fn resend_piece<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        number: u64,
        room: u32,
        cause: RetransmitCause,
    ) -> u32 {
        let mut end = number + 1;
        if room > 1 && self.is_more_to_repair(end) {
            let most = number + u64::from(room.min(self.burst_segments()));
            while end < most && self.is_more_to_repair(end) {
                end += 1;
            }
        }
        let mut wire = 0;
        for each in number..end {
            self.board.mark_retransmitted(each);
            let ends_burst = end - number > 1 && each + 1 == end;
            if !self.put_again(cx, each, cause, ends_burst) {
                self.board.clear_retransmitted(each);
                end = each;
                break;
            }
            let sent = self.board.get(each);
            wire += u64::from(sent.len);
            self.next_seg.high_rxt = self.next_seg.high_rxt.max(sent.end_seq());
        }
        if end > number {
            self.separate(number, end);
            self.pace(cx.now, wire);
        }
        (end - number) as u32
    }

    /// Returns true if segment `number` exists, is lost, and was sent together with the segment
    /// before it.
    fn is_more_to_repair(&self, number: u64) -> bool {
        if number >= self.board.end() {
            return false;
        }
        let tags = self.board.get(number).tags;
        tags.has(Tags::JOINED)
            && tags.has(Tags::LOST)
            && !tags.has(Tags::RETRANSMITTED)
            && !tags.has(Tags::SACKED)
    }

    /// Splits segments `first..end` off into an sk_buff of their own.
    fn separate(&mut self, first: u64, end: u64) {
        self.board.split_before(first);
        self.board.split_before(end);
    }

    /// Returns true if the retransmission of segment `number` ignores the window. This holds for
    /// the first one of a recovery, and without SACK for each retransmission of the head. With
    /// proportional rate reduction the rule is not needed, because the reduction allows the
    /// retransmission.
    ///
    /// Standard: RFC 6675 §5, step 4.3; RFC 5681 §3.2, step 3; RFC 6582 §3.2, step 3.
    fn is_unconditional(&self, number: u64) -> bool {
        self.state == RecoveryState::Recovery
            && !self.config.recovery.prr
            && match self.config.recovery.method {
                LossRecovery::Rack => false,
                LossRecovery::Sack => {
                    number == self.board.first() && self.recovery.has_sent_nothing()
                }
                LossRecovery::NewReno | LossRecovery::Reno | LossRecovery::Tahoe => {
                    number == self.board.first()
                }
            }
    }

    /// Applies NextSeg's rules 3 and 4 when no new data may be sent. First each hole that is not
    /// counted as lost is retransmitted once, and then the rescue is sent. Both copies of a hole
    /// count as in the network until the hole is lost or filled.
    ///
    /// Standard: RFC 6675 §4.
    #[inline(never)]
    pub(super) fn repair_beyond_losses<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if self.state != RecoveryState::Recovery {
            return;
        }
        let mut number = self.board.at_or_after(self.next_seg.high_rxt);
        let fack = self.fack_or_una();
        let mut may_repair = false;
        while number < self.board.end() && self.board.get(number).seq < fack {
            if !may_repair && !self.has_room_to_repair(cx) {
                return;
            }
            let segment = *self.board.get(number);
            may_repair = segment.tags.has(Tags::SACKED);
            if !may_repair {
                self.board.mark_retransmitted(number);
                if !self.resend(cx, number, RetransmitCause::FastRetransmit) {
                    self.board.clear_retransmitted(number);
                    return;
                }
                if self.in_reduction() {
                    self.recovery.on_sent(1);
                }
            }
            self.next_seg.high_rxt = segment.end_seq();
            number += 1;
        }
        self.rescue(cx);
    }

    /// Applies NextSeg's rule 4. Once every hole that SACKs show is repaired, the last outstanding
    /// segment is retransmitted once in a recovery. So a loss at the end of the data need not wait
    /// for the timer. The count of its first copy stays unchanged.
    ///
    /// Standard: RFC 6675 §4, rule 4.
    fn rescue<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if self.snd_una <= self.next_seg.rescue_rxt || !self.has_room_to_repair(cx) {
            return;
        }
        let is_sacked = |number: &u64| self.board.get(*number).tags.has(Tags::SACKED);
        let mut outstanding = (self.board.first()..self.board.end()).rev();
        let Some(last) = outstanding.find(|number| !is_sacked(number)) else {
            return;
        };
        if self.resend(cx, last, RetransmitCause::FastRetransmit) {
            self.next_seg.rescue_rxt = self.high_seq;
            if self.in_reduction() {
                self.recovery.on_sent(1);
            }
        }
    }

    /// Returns true if the window and the pacer allow a retransmission now.
    fn has_room_to_repair<P: Probe>(&mut self, cx: &SenderContext<'_, P>) -> bool {
        self.in_flight() < self.window.cwnd as u32 && !self.waits_for_pacer(cx.now)
    }

    /// Retransmits segment `number` alone. Returns false if the segment is beyond the peer's
    /// window.
    pub(super) fn resend<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        number: u64,
        cause: RetransmitCause,
    ) -> bool {
        let is_sent = self.put_again(cx, number, cause, false);
        if is_sent {
            self.separate(number, number + 1);
            self.pace(cx.now, u64::from(self.board.get(number).len));
        }
        is_sent
    }

    fn put_again<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        number: u64,
        cause: RetransmitCause,
        ends_burst: bool,
    ) -> bool {
        let in_flight = self.in_flight();
        let window_end = self.window_end();
        let una = self.snd_una;
        let segment = self.board.get_mut(number);
        if segment.seq >= window_end && segment.seq != una {
            return false;
        }
        segment.sent_at = cx.now;
        segment.retries = segment.retries.saturating_add(1);
        segment.tags.set(Tags::EVER_RETRANSMITTED);
        self.rate
            .on_send(cx.now, false, in_flight.saturating_sub(1), segment);
        let sent = *segment;
        self.board.list_again(number);
        if cause != RetransmitCause::TailLossProbe {
            self.undo.on_retransmit(cx.now.as_millis() as u32);
        }
        self.statistics.retransmitted_segments += 1;
        cx.probe.retransmit(RetransmitRow {
            time_s: cx.now,
            flow: self.flow,
            end: self.end,
            offset_bytes: sent.seq.saturating_sub(1),
            payload_bytes: sent.len - u32::from(sent.tags.has(Tags::FIN)),
            cause,
            attempt: u32::from(sent.retries),
        });
        let pushes = ends_burst || sent.tags.has(Tags::PUSHED);
        let ecn = self.marks.codepoint_of_retransmission();
        self.emit(cx, &sent, Flags::default(), pushes, ecn);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, ms, without_probes};
    use super::*;
    use crate::tcp::config::{Pacing, TcpConfig};
    use fadeout_core::{Rate, Span};

    /// Returns a sender with ten outstanding segments that were sent in one sk_buff. Two segments
    /// before them were acknowledged.
    fn in_one_piece(change: impl FnOnce(&mut TcpConfig)) -> Bench {
        let mut config = without_probes();
        change(&mut config);
        let mut b = Bench::new(&config);
        b.write(2);
        b.wait(100);
        b.ack(2);
        b.sender.window.cwnd = 20.0;
        b.write(10);
        b.left();
        let first = b.sender.board.first();
        for number in first + 1..b.sender.board.end() {
            b.sender.board.get_mut(number).tags.set(Tags::JOINED);
            b.sender.board.pieces -= 1;
        }
        assert!(b.sender.board.counts_agree() && b.sender.board.pieces == 1);
        b.sender.bursts.is_on = true;
        b.sender.bursts.minimum = 65;
        b.sender.state = RecoveryState::Recovery;
        b
    }

    /// Marks these segments, counted from 0, as lost.
    fn lose(b: &mut Bench, lost: impl IntoIterator<Item = u64>) {
        let first = b.sender.board.first();
        for number in lost {
            b.sender.lose(first + number);
        }
    }

    fn repair(b: &mut Bench) -> Vec<u64> {
        b.run_step(|sender, cx| sender.retransmit_lost(cx));
        b.numbers()
    }

    #[test]
    fn only_what_is_lost_and_not_under_way_goes_again() {
        let mut b = in_one_piece(|_| ());
        lose(&mut b, [0, 2, 4]);
        let first = b.sender.board.first();
        b.sender.board.mark_retransmitted(first + 2);
        b.sender.board.mark_sacked(first + 1);
        assert_eq!(repair(&mut b), [3, 7]);
    }

    #[test]
    fn a_repair_ends_with_the_room_and_is_a_piece_of_its_own() {
        let mut b = in_one_piece(|_| ());
        lose(&mut b, 1..7);
        // Six of ten segments are lost, so four are in flight. A window of seven allows three more
        // segments.
        b.sender.window.cwnd = 7.0;
        assert_eq!(repair(&mut b), [4, 5, 6]);
        assert_eq!(b.sender.board.pieces, 3, "before it, it, and behind it");
        assert!(b.sender.board.counts_agree());
    }

    #[test]
    fn a_repair_goes_on_while_the_next_is_of_the_same_piece_lost_and_not_under_way() {
        let tags = |set: &[Tags], cleared: &[Tags]| {
            let mut b = in_one_piece(|_| ());
            let number = b.sender.board.first() + 3;
            let known = &mut b.sender.board.get_mut(number).tags;
            known.set(Tags::LOST);
            set.iter().for_each(|tag| known.set(*tag));
            cleared.iter().for_each(|tag| known.clear(*tag));
            b.sender.is_more_to_repair(number)
        };
        assert!(tags(&[], &[]));
        assert!(!tags(&[], &[Tags::JOINED]));
        assert!(!tags(&[], &[Tags::LOST]));
        assert!(!tags(&[Tags::RETRANSMITTED], &[]));
        assert!(!tags(&[Tags::SACKED], &[]));
        assert!(!tags(&[Tags::RETRANSMITTED], &[Tags::LOST]));
        assert!(!tags(&[Tags::SACKED], &[Tags::LOST]));
        let b = in_one_piece(|_| ());
        assert!(!b.sender.is_more_to_repair(b.sender.board.end()));
    }

    #[test]
    fn what_goes_again_alone_parts_the_piece_on_either_side() {
        let mut b = in_one_piece(|_| ());
        let number = b.sender.board.first() + 4;
        b.run_step(|sender, cx| sender.resend(cx, number, RetransmitCause::TailLossProbe));
        assert_eq!((b.numbers(), b.sender.board.pieces), (vec![7], 3));
    }

    #[test]
    fn a_repair_is_paced_by_all_that_it_sends() {
        // At 8 Mbit/s a segment of 1,000 bytes takes a millisecond.
        let mut b = in_one_piece(|config| config.host.pacing = Pacing::On);
        lose(&mut b, 0..3);
        b.sender.pacer.rate = Rate::from_bits_per_sec(8_000_000);
        b.sender.pacer.next_at = b.now;
        assert_eq!(repair(&mut b), [3, 4, 5]);
        let waits = b.sender.pacer.next_at.since(b.now);
        assert!(waits > Span::from_micros(2_900), "{waits:?}");
    }

    #[test]
    fn the_repair_of_the_head_alone_starts_the_timer_anew() {
        for (lost, pending, kind, is_new) in [
            (0, TimerKind::Rto, TimerKind::Rto, true),
            (1, TimerKind::Rto, TimerKind::Rto, false),
            (0, TimerKind::Reordering, TimerKind::Reordering, false),
            (1, TimerKind::Reordering, TimerKind::Reordering, false),
        ] {
            let mut b = in_one_piece(|_| ());
            let at = b.now + Span::from_millis(60);
            b.sender.timer = Some((pending, at));
            b.now += Span::from_millis(50);
            lose(&mut b, [lost]);
            assert_eq!(repair(&mut b), [3 + lost]);
            let (found, left) = b.timer().expect("one runs");
            assert_eq!(found, kind, "{lost}");
            assert_eq!(left > Span::from_millis(10), is_new, "{lost} {pending:?}");
        }
        // A partial acknowledgment of an impatient sender does not restart the timer.
        let mut b = in_one_piece(|_| ());
        b.sender.timer = Some((TimerKind::Rto, b.now + Span::from_millis(60)));
        b.sender.classic.is_timer_settled = true;
        lose(&mut b, [0]);
        repair(&mut b);
        assert_eq!(b.timer(), Some((TimerKind::Rto, Span::from_millis(60))));
    }

    #[test]
    fn where_no_new_data_tests_a_timeout_the_loss_is_repaired() {
        // RFC 5682 step 2b sends new data after a timeout. Without new data the loss is repaired.
        let mut b = in_one_piece(|_| ());
        b.sender.high_seq = b.sender.snd_nxt;
        b.sender.frto = true;
        lose(&mut b, [0]);
        b.run_step(|sender, cx| sender.repair(cx, Repair::NewDataFirst));
        assert_eq!((b.numbers(), b.sender.frto), (vec![3], false));
        let mut b = in_one_piece(|_| ());
        b.sender.high_seq = b.sender.snd_nxt;
        b.sender.frto = true;
        b.sender.write_end += 1_000;
        lose(&mut b, [0]);
        b.run_step(|sender, cx| sender.repair(cx, Repair::NewDataFirst));
        assert_eq!((b.numbers(), b.sender.frto), (vec![13], true));
    }

    #[test]
    fn a_paced_repair_waits_for_the_departure_clock() {
        let mut b = in_one_piece(|config| config.host.pacing = Pacing::On);
        lose(&mut b, [0]);
        b.sender.pacer.next_at = b.now + ms(5);
        assert_eq!(repair(&mut b), []);
        assert_eq!(b.sender.pacer.wake_at, b.now + ms(5));
        b.now += ms(5);
        assert_eq!(repair(&mut b), [3]);
    }
}
