//! New data and retransmissions out: window, pacing, bursts (Linux `tcp_write_xmit`,
//! `tcp_xmit_retransmit_queue`).

use super::buffer::SendBuffer;
use super::pieces::Place;
use super::recovery::Repair;
use super::{Sender, Step, TimerKind};
use crate::congestion::{Congestion, CongestionControl, Custom, RecoveryState, SentSample};
use crate::tcp::config::{LossRecovery, Pacing};
use crate::tcp::outbox::Outgoing;
use crate::tcp::scoreboard::{SentSegment, Tags};
use fadeout_core::{Bytes, Ecn, Flags, Probe, Rate, RetransmitCause, RetransmitRow, Segment, Time};

/// Departure clock of a paced sender.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pacer {
    /// The next segment leaves no earlier.
    pub(super) next_at: Time,
    /// When to try again; [`Time::NEVER`] when nothing waits for the clock.
    pub(super) wake_at: Time,
    /// Rate that is paced at, or that would be (Linux `sk_pacing_rate`).
    pub(super) rate: Rate,
}

impl Default for Pacer {
    fn default() -> Self {
        Pacer {
            next_at: Time::ZERO,
            wake_at: Time::NEVER,
            rate: Rate::UNLIMITED,
        }
    }
}

/// Segments that leave unpaced at the start of a connection (Linux, and sch_fq before it).
const UNPACED_SEGMENTS: u64 = 10;
impl Sender {
    pub(super) fn is_pacing(&self) -> bool {
        self.config.pacing == Pacing::On
            || self.congestion.pacing_rate().is_some()
            || self.is_resuming()
    }

    /// Linux `tcp_update_pacing_rate`: twice the window per round trip in slow start, 1.2 times
    /// after it; or what the congestion control asks for.
    pub(super) fn update_pacing_rate(&mut self) {
        if let Some(rate) = self.congestion.pacing_rate() {
            self.pacer.rate = rate.min(self.config.maximum_pacing_rate);
            return;
        }
        let srtt = self.rtt.srtt().as_nanos();
        if srtt == 0 {
            return;
        }
        let window = self.window.cwnd.max(f64::from(self.board.packets_out()));
        let ratio = if self.window.cwnd < self.window.ssthresh / 2.0 {
            2.0
        } else {
            1.2
        };
        let bits = ratio * window * f64::from(self.window.mss) * 8e9 / srtt as f64;
        self.pacer.rate = Rate::from_bits_per_sec(bits as u64).min(self.config.maximum_pacing_rate);
    }

    pub(in crate::tcp) fn has_new_data(&self) -> bool {
        self.unsent() > 0 || (self.fin_queued && !self.fin_sent)
    }

    /// Whether the window has room for the next segment.
    pub(super) fn has_sendable_new_data(&self) -> bool {
        let next = self.unsent().min(u64::from(self.window.mss));
        self.has_new_data() && self.snd_nxt + next <= self.window_end()
    }

    /// Whether nothing is outstanding and nothing waits, as where data is received alone.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.board.is_empty()
            && !self.has_new_data()
            && !self.is_growing()
            && self.backlog() == 0
            && self.window.cwnd >= 1.0
    }

    /// What is left of [`Sender::transmit`] for an idle sender.
    #[inline]
    pub(super) fn note_idle(&mut self) {
        if !self.is_suspended() && !self.holds_back {
            self.rate.on_app_limited(0);
        }
    }

    /// Sends what the windows allow. Where that makes room, or the application has just come with
    /// something, it writes.
    pub(in crate::tcp) fn transmit<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        let is_writing =
            |sender: &Sender| sender.buffer.as_ref().is_some_and(SendBuffer::is_writing);
        if !is_writing(self) {
            self.push_out(cx, false);
            self.check_space(cx.now);
        }
        if is_writing(self) {
            self.write_out(cx);
        }
    }

    /// Sends what the socket has, as far as the windows allow; of it `one` piece, or all (Linux
    /// `tcp_write_xmit`).
    pub(super) fn push_out<P: Probe>(&mut self, cx: &mut Step<'_, P>, one: bool) {
        if self.is_suspended() {
            return;
        }
        let burst = self.burst_segments();
        let paces = self.is_pacing();
        let mut sent = 0;
        let mut is_cwnd_limited = false;
        self.grow_piece();
        while self.has_new_data() {
            if paces && self.pacer.next_at > cx.now {
                self.pacer.wake_at = self.pacer.next_at;
                break;
            }
            let cwnd = (self.window.cwnd as u32 + self.limited_transmit_allowance())
                .saturating_sub(self.held_back_by_ncr());
            let in_flight = self.in_flight();
            let room = cwnd.saturating_sub(in_flight);
            if room == 0 || !self.has_sendable_new_data() {
                break;
            }
            if self.holds_small_segment() {
                break;
            }
            let quota = room.min((cwnd / 2).max(1)).min(burst);
            if let Some(buffer) = &mut self.buffer {
                buffer.grow_head(self.snd_nxt, u64::from(quota) * u64::from(self.window.mss));
            }
            if !one && let Some(waits_for_window) = self.defers(cx.now, room, burst) {
                is_cwnd_limited = waits_for_window;
                break;
            }
            let count = self.send_burst(cx, quota);
            sent += count;
            self.check_space(cx.now);
            self.grow_piece();
            if count == 0 || one {
                break;
            }
        }
        is_cwnd_limited |= self.in_flight() >= self.window.cwnd as u32;
        self.settle_piece();
        if sent > 0 {
            if self.in_reduction() {
                self.recovery.on_sent(sent);
            }
            self.schedule_loss_probe(cx.now, false);
        }
        if sent > 0 || is_cwnd_limited {
            self.validate_window(cx.now, is_cwnd_limited);
        }
        if !self.has_new_data() {
            if self.config.recovery == LossRecovery::Sack {
                self.repair_beyond_losses(cx);
            }
            if !self.holds_back
                && self.backlog() == 0
                && self.in_flight() < self.window.cwnd as u32
                && self.board.lost_out <= self.board.retrans_out
            {
                self.rate.on_app_limited(self.in_flight());
            }
        } else if self.board.is_empty() {
            self.arm_persist_timer(cx.now);
        }
    }

    /// Payload of the next segment.
    pub(super) fn next_payload(&self) -> u64 {
        let len = self.unsent().min(u64::from(self.window.mss));
        match self.records.front() {
            Some(end) => len.min(end.saturating_sub(self.snd_nxt)),
            None => len,
        }
    }

    /// Nagle: a small segment waits while another small one is outstanding. This is Minshall's
    /// rule, as Linux has it: RFC 9293 section 3.7.4 would wait for full segments too.
    pub(super) fn holds_small_segment(&self) -> bool {
        let is_small = self.unsent() < u64::from(self.window.mss)
            && !self.fin_queued
            && self
                .records
                .front()
                .is_none_or(|end| *end >= self.write_end);
        is_small
            && !self.pushes_small
            && (self.is_corked || (self.config.nagle && self.small_end > self.snd_una))
    }

    /// Whether a small segment may fill the receiver's window up with more behind it. A subflow is given
    /// what the connection's window allows, in whole segments.
    fn fills_window(&self) -> bool {
        let waits = self.is_corked || (self.config.nagle && self.small_end > self.snd_una);
        self.config.tso_bursts && !self.config.multipath && !waits
    }

    /// Sends up to `limit` segments in one piece; returns how many. The last of several carries
    /// PSH, as the kernel forces it on segmentation-offload packets.
    fn send_burst<P: Probe>(&mut self, cx: &mut Step<'_, P>, limit: u32) -> u32 {
        let mss = u64::from(self.window.mss);
        let queued = match &self.buffer {
            Some(buffer) => buffer.head(self.snd_nxt).0,
            None => self.unsent(),
        };
        let room = queued.min(self.window_end() - self.snd_nxt);
        // A segment that the end of the data cuts short is sent, and behind whole ones one that the
        // receiver's window does (Linux `tcp_mss_split_point`).
        let is_cut = room < queued && room > mss && self.fills_window();
        let has_tail = !room.is_multiple_of(mss) && (room == queued || is_cut);
        let whole = (room / mss) as u32 + u32::from(has_tail);
        let count = whole.min(limit).max(1);
        let mut wire = 0;
        for n in 1..=count {
            let mut payload = self.next_payload() as u32;
            if n > 1 {
                // One that is filled up from the next piece stays within the window too.
                payload = payload.min((self.window_end() - self.snd_nxt) as u32);
            }
            if n > 1 && self.holds_small_segment() {
                return n - 1;
            }
            let place = match n {
                _ if !self.config.tso_bursts || count == 1 => Place::Alone,
                1 => Place::First,
                _ if n == count => Place::End,
                _ => Place::Within,
            };
            self.send_new_segment(cx, payload, place);
            wire += u64::from(payload);
        }
        self.pace(cx.now, wire);
        count
    }

    /// `bytes` left: a paced sender's departure clock moves on by the time that they take, from the
    /// piece that completes the first ten segments on. Lateness shortens the wait by up to a half,
    /// as in the kernel.
    fn pace(&mut self, now: Time, bytes: u64) {
        if !self.is_pacing() {
            return;
        }
        let late = now.since(self.pacer.next_at);
        self.pacer.next_at = now.max(self.pacer.next_at);
        if self.statistics.sent_segments >= UNPACED_SEGMENTS {
            let wait = self.pacer.rate.time_to_send(Bytes(bytes));
            let wait = wait.saturating_sub(late.min(wait / 2));
            self.pacer.next_at = self.pacer.next_at.saturating_add(wait);
        }
    }

    /// Sends one new segment of `payload` bytes, with PSH when it ends a burst, the data, or a wait for the window.
    pub(super) fn send_new_segment<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
        payload: u32,
        place: Place,
    ) {
        let in_flight = self.in_flight();
        if in_flight == 0 {
            let idle = cx.now.since(self.last_sent_at);
            self.congestion
                .on_idle_restart(&mut self.window, cx.now, idle);
        }
        let fin = self.fin_queued && u64::from(payload) == self.unsent();
        let mut sent = SentSegment {
            seq: self.snd_nxt,
            len: payload + u32::from(fin),
            sent_at: cx.now,
            ..SentSegment::default()
        };
        if fin {
            sent.tags.set(Tags::FIN);
            self.fin_sent = true;
        }
        if matches!(place, Place::Within | Place::End) {
            sent.tags.set(Tags::JOINED);
        }
        let was_empty = self.board.is_empty();
        self.rate.on_send(cx.now, was_empty, in_flight, &mut sent);
        self.board.push(sent);
        self.snd_nxt += u64::from(sent.len);
        let mut ends_record = false;
        while self.records.front().is_some_and(|end| *end <= self.snd_nxt) {
            self.records.pop_front();
            ends_record = true;
        }
        let flags = if payload > 0 {
            self.marks.flags_of_data()
        } else {
            Flags::default()
        };
        if payload < self.window.mss {
            self.small_end = self.snd_nxt;
        }
        // A FIN alone pushes nothing.
        let ends_data =
            ends_record || (self.buffer.is_none() && self.unsent() == 0 && !self.has_more);
        // A piece that ends within a burst was filled up from the next: the burst carries its PSH.
        let is_filled_up = matches!(place, Place::First | Place::Within);
        let is_pushed = self.ends_pushed_piece() && !is_filled_up || ends_data;
        let pushes = payload > 0 && (matches!(place, Place::End | Place::Pushed) || is_pushed);
        if ends_data {
            self.pushed_end = self.snd_nxt;
        }
        if pushes && is_pushed {
            let newest = self.board.end() - 1;
            self.board.get_mut(newest).tags.set(Tags::PUSHED);
        }
        // A bare FIN is not ECN-capable, as in Linux.
        let ecn = if payload > 0 {
            self.marks.codepoint()
        } else {
            Ecn::NotEct
        };
        self.emit(cx, &sent, flags, pushes, ecn);
        if self.is_expendable(sent.seq)
            && let Some(outgoing) = cx.out.segments.last_mut()
        {
            outgoing.segment.is_expendable = true;
        }
        if was_empty || self.pending() == Some(TimerKind::LossProbe) {
            self.rearm_rto(cx.now);
        }
    }

    /// Sends one new segment beyond the congestion window if the peer's window allows (a probe).
    pub(super) fn send_one_new<P: Probe>(&mut self, cx: &mut Step<'_, P>) -> bool {
        let may_send = self.has_sendable_new_data();
        if may_send {
            let payload = self.next_payload() as u32;
            self.send_new_segment(cx, payload, Place::Alone);
        }
        may_send
    }

    /// Sends what an ACK found lost, or first new data to test a timeout.
    pub(super) fn repair<P: Probe>(&mut self, cx: &mut Step<'_, P>, repair: Repair) {
        match repair {
            Repair::None => return,
            Repair::Lost => {}
            Repair::NewDataFirst => {
                self.transmit(cx);
                if self.snd_nxt > self.high_seq {
                    return;
                }
                self.frto = false;
            }
        }
        self.retransmit_lost(cx);
    }

    /// Retransmits segments marked lost, in sequence, as the window allows.
    pub(super) fn retransmit_lost<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        if self.is_suspended() {
            return;
        }
        let cause = match (self.state, self.config.recovery) {
            (RecoveryState::Loss, _) => RetransmitCause::Rto,
            (_, LossRecovery::Rack) => RetransmitCause::Rack,
            _ => RetransmitCause::FastRetransmit,
        };
        let mut number = self.retransmit_hint.max(self.board.first());
        let mut rearm = false;
        while number < self.board.end() {
            if self.is_pacing() && self.pacer.next_at > cx.now {
                self.pacer.wake_at = self.pacer.next_at;
                break;
            }
            self.retransmit_hint = number;
            let room = (self.window.cwnd as u32).saturating_sub(self.in_flight());
            if room == 0 && !self.is_unconditional(number)
                || self.board.retrans_out >= self.board.lost_out
            {
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

    /// Retransmits what is lost of the piece from segment `number` on, as far as there is `room`, but at
    /// least one segment; returns how many. The last of several carries PSH, as that of new ones does.
    fn resend_piece<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
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
            wire += u64::from(self.board.get(each).len);
        }
        if end > number {
            self.separate(number, end);
            self.pace(cx.now, wire);
        }
        (end - number) as u32
    }

    /// Whether segment `number` exists, left with the one before it, and is lost.
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

    /// Segments `first..end` are a piece of their own from now on.
    fn separate(&mut self, first: u64, end: u64) {
        self.board.split_before(first);
        self.board.split_before(end);
    }

    /// Whether the repair of segment `number` leaves however full the window is: the first of a
    /// recovery, and without SACK each repair of the head. Rate reduction makes room by itself.
    ///
    /// Standard: RFC 6675 §5, step 4.3; RFC 5681 §3.2, step 3; RFC 6582 §3.2, step 3.
    fn is_unconditional(&self, number: u64) -> bool {
        self.state == RecoveryState::Recovery
            && !self.config.prr
            && match self.config.recovery {
                LossRecovery::Rack => false,
                LossRecovery::Sack => self.recovery.has_sent_nothing(),
                LossRecovery::NewReno | LossRecovery::Reno | LossRecovery::Tahoe => {
                    number == self.board.first()
                }
            }
    }

    /// NextSeg's rules 3 and 4, when there is no new data: holes not yet counted lost, then once
    /// the last segment, so that the ACK clock does not stop.
    ///
    /// Standard: RFC 6675 §4.
    fn repair_beyond_losses<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        if self.state != RecoveryState::Recovery {
            return;
        }
        let mut number = self.board.first();
        let fack = self.fack_or_una();
        while number < self.board.end() && self.in_flight() < self.window.cwnd as u32 {
            let segment = *self.board.get(number);
            if segment.seq >= fack {
                break;
            }
            if !segment.tags.has(Tags::SACKED) && !segment.tags.has(Tags::EVER_RETRANSMITTED) {
                self.lose(number);
                self.retransmit_lost(cx);
            }
            number += 1;
        }
    }

    /// Puts segment `number` on the wire again, alone. Returns false when the peer's window has
    /// closed over it.
    pub(super) fn resend<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
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
        cx: &mut Step<'_, P>,
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
        // Retransmissions are not ECN-capable (RFC 3168 section 6.1.5).
        let pushes = ends_burst || sent.tags.has(Tags::PUSHED);
        self.emit(cx, &sent, Flags::default(), pushes, Ecn::NotEct);
        true
    }

    #[inline]
    fn emit<P: Probe>(
        &mut self,
        cx: &mut Step<'_, P>,
        sent: &SentSegment,
        mut flags: Flags,
        push: bool,
        ecn: Ecn,
    ) {
        flags |= Flags::ACK;
        let fin = sent.tags.has(Tags::FIN);
        if fin {
            flags |= Flags::FIN;
        }
        if push {
            flags |= Flags::PSH;
        }
        let segment = Segment {
            seq: sent.seq,
            len: sent.len - u32::from(fin),
            flags,
            ..Segment::default()
        };
        self.statistics.sent_segments += 1;
        self.last_sent_at = cx.now;
        cx.out.segments.push(Outgoing { segment, ecn });
        let in_flight = self.in_flight();
        if let Congestion::Custom(Custom(own)) = &mut self.congestion
            && segment.len > 0
        {
            let sent = SentSample {
                now: cx.now,
                seq: segment.seq,
                len: segment.len,
                in_flight,
                is_retransmission: sent.tags.has(Tags::EVER_RETRANSMITTED),
            };
            own.on_sent(&mut self.window, &sent);
        }
    }
}
