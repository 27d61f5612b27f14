//! Transmission of new data within the windows, in bursts or single segments (Linux
//! `tcp_write_xmit`).

use super::host::{Below, HostQueue, Space};
use super::{Sender, SenderContext, TimerKind};
use crate::congestion::{Congestion, CongestionControl, CongestionKind, Custom, SentSample};
use crate::tcp::config::LossRecovery;
use crate::tcp::outbox::Outgoing;
use crate::tcp::scoreboard::{SentSegment, Tags};
use crate::tcp::socket::bursts::Place;
use crate::tcp::socket::{Head, Newest};
use fadeout_core::{Ecn, Flags, Probe, Segment, Time};

/// Largest amount of data of a connection without pacing in the host's queue, bytes (Linux
/// `tcp_limit_output_bytes`).
const MOST_UNPACED: u64 = 1 << 20;

/// Amount of the socket's data to send, and rule for a small segment (`push_one` and `nonagle` of
/// Linux `tcp_write_xmit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Push {
    /// All data that Nagle's rule allows is sent.
    Pending,
    /// All data is sent, including small segments, because the writer waits for memory or has
    /// written half a window.
    Forced,
    /// One sk_buff of any size is sent, because it is full and is the first in the queue.
    One,
}

impl Sender {
    pub(in crate::tcp) fn has_new_data(&self) -> bool {
        self.unsent() > 0 || (self.fin_queued && !self.fin_sent)
    }

    /// Returns true if the peer's window allows the next segment of new data.
    pub(super) fn has_sendable_new_data(&self) -> bool {
        let next = self.unsent().min(u64::from(self.window.mss));
        self.has_new_data() && self.snd_nxt + next <= self.window_end()
    }

    /// Returns true if no data is outstanding and none waits, as at an end that only receives.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.board.is_empty()
            && !self.has_new_data()
            && !self.socket.is_growing()
            && self.backlog() == 0
            && self.window.cwnd >= 1.0
    }

    /// Performs the steps of [`Sender::transmit`] that apply to a sender without data.
    #[inline]
    pub(super) fn note_idle(&mut self) {
        if !self.is_suspended() && !self.holds_back && self.socket.marks_app_limit() {
            self.rate.on_app_limited(0);
        }
    }

    /// Marks rate samples as application-limited. Called if less than a segment is unsent and
    /// neither the window nor repairs limit the sender (Linux `tcp_rate_check_app_limited`).
    pub(super) fn note_app_limit(&mut self) {
        let in_flight = self.in_flight();
        if self.socket.marks_app_limit()
            && self.unsent() < u64::from(self.window.mss)
            && in_flight < self.window.cwnd as u32
            && self.board.lost_out <= self.board.retrans_out
        {
            self.rate.on_app_limited(in_flight);
        }
    }

    /// Sends new data as the windows allow. Then the application writes if the send buffer has
    /// space or if a write has just begun.
    pub(in crate::tcp) fn transmit<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        if !self.socket.is_writing() {
            self.push_out(cx, Push::Pending);
            self.check_space(cx.now);
        }
        if self.socket.is_writing() {
            self.write_out(cx);
        }
        if std::mem::take(&mut self.closes_after_push) {
            self.fin_queued = true;
            self.push_out(cx, Push::Pending);
        }
    }

    /// Records the state of the host's queue before a step.
    pub(in crate::tcp) fn set_host_queue(&mut self, queue: HostQueue) {
        self.below = Some(Below::new(queue, self.below));
    }

    /// Returns true if data waited for the host's queue. The data no longer waits.
    pub(in crate::tcp) fn take_host_wait(&mut self) -> bool {
        self.below.as_mut().is_some_and(Below::take_wait)
    }

    /// Returns how many of `quota` new segments the host's queue accepts. Zero if the data must
    /// wait. A full queue reduces the window (Linux `tcp_small_queue_check`, `__tcp_transmit_skb`).
    fn room_below<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>, quota: u32) -> u32 {
        let Some(mut below) = self.below else {
            return quota;
        };
        let burst = u64::from(quota) * u64::from(self.window.mss);
        // About a millisecond of data: 2^-10 s, in bytes.
        let mut limit = self.pacer.rate.as_bits_per_sec() >> 13;
        if !self.is_pacing() {
            limit = limit.min(MOST_UNPACED);
        }
        let space = below.space(quota, burst, limit, self.pieces_in_flight());
        self.below = Some(below);
        match space {
            Space::For(segments) => segments,
            Space::Crowded => 0,
            Space::Full => {
                self.enter_cwr(cx, CongestionKind::Local);
                0
            }
        }
    }

    /// Sends the socket's data as far as the windows allow (Linux `tcp_write_xmit`).
    pub(super) fn push_out<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>, push: Push) {
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
            if self.holds_small_segment(push) {
                break;
            }
            // Linux sends at most half a window in one packet (tcp_cwnd_test).
            let quota = room.min((cwnd / 2).max(1)).min(burst);
            let most = u64::from(quota) * u64::from(self.window.mss);
            self.socket.grow_head(self.snd_nxt, most);
            if push != Push::One
                && let Some(waits_for_window) = self.defers(cx.now, room, burst)
            {
                is_cwnd_limited = waits_for_window;
                break;
            }
            let quota = self.room_below(cx, quota);
            if quota == 0 {
                break;
            }
            let count = self.send_burst(cx, quota, push);
            sent += count;
            self.report_room();
            self.check_space(cx.now);
            self.grow_piece();
            if count == 0 || push == Push::One {
                break;
            }
        }
        is_cwnd_limited |= self.in_flight() >= self.window.cwnd as u32;
        self.socket.settle_piece(&self.stream());
        if sent > 0 {
            if self.in_reduction() {
                self.recovery.on_sent(sent);
            }
            self.schedule_loss_probe(cx.now, false);
        }
        if sent > 0 || is_cwnd_limited {
            self.validate_window(cx.now, is_cwnd_limited);
        }
        if self.config.recovery.method == LossRecovery::Sack && !self.has_sendable_new_data() {
            self.repair_beyond_losses(cx);
        }
        if !self.has_new_data() {
            if !self.holds_back && self.backlog() == 0 {
                self.note_app_limit();
            }
        } else if self.board.is_empty() {
            self.arm_persist_timer(cx.now);
        }
    }

    /// Moves the end of a growing sk_buff forward.
    #[inline]
    fn grow_piece(&mut self) {
        let stream = self.stream();
        self.socket.grow_piece(&stream, &mut self.bursts);
    }

    /// Returns the payload of the next segment in bytes.
    pub(super) fn next_payload(&self) -> u64 {
        let len = self.unsent().min(u64::from(self.window.mss));
        match self.records.front() {
            Some(end) => len.min(end.saturating_sub(self.snd_nxt)),
            None => len,
        }
    }

    /// Returns true if Nagle's rule delays a small segment because another small one is
    /// outstanding. This is Minshall's variant, as in Linux. In RFC 9293 section 3.7.4, the segment
    /// must also wait while full segments are outstanding.
    ///
    /// Standard: RFC 9293 §3.7.4.
    pub(super) fn holds_small_segment(&self, push: Push) -> bool {
        self.unsent() < u64::from(self.window.mss) && !self.fin_queued && self.holds_tail(push)
    }

    /// Returns true if a small segment at the end of the data has to wait.
    fn holds_tail(&self, push: Push) -> bool {
        // A small last segment does not wait if a record ends within the data.
        let continues = self
            .records
            .front()
            .is_none_or(|end| *end >= self.write_end);
        continues && !self.holds_back && !self.pushes_small && self.waits_when_small(push)
    }

    /// Returns true if a small segment has to wait for more data, or for the acknowledgment of
    /// another small segment.
    fn waits_when_small(&self, push: Push) -> bool {
        push == Push::Pending
            && (self.is_corked || (self.config.host.nagle && self.small_end > self.snd_una))
    }

    /// Returns true if a small segment may fill the rest of the receiver's window although more
    /// data follows. A subflow sends only whole segments within the connection's window.
    fn fills_window(&self, push: Push) -> bool {
        self.bursts.may_fill_window() && !self.config.multipath && !self.waits_when_small(push)
    }

    /// Returns the number of segments that are sent together, at most `limit`. The last segment may
    /// be small. It ends with the data or with the receiver's window (Linux `tcp_mss_split_point`).
    fn burst_len(&self, limit: u32, push: Push) -> u32 {
        let mss = u64::from(self.window.mss);
        let Head {
            bytes: queued,
            is_last,
        } = self.socket.burst_source(&self.stream());
        let window = self.window_end() - self.snd_nxt;
        let room = queued.min(window);
        let is_cut = room < queued && room > mss && self.fills_window(push);
        let is_held = (is_last || window < u64::from(limit) * mss) && self.holds_tail(push);
        let has_tail = !room.is_multiple_of(mss) && (is_cut || room == queued && !is_held);
        let whole = (room / mss) as u32 + u32::from(has_tail);
        whole.min(limit).max(1)
    }

    /// Sends up to `limit` segments together and returns their number. If there are several, the
    /// last carries PSH, as in the kernel's segmentation-offload packets.
    fn send_burst<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        limit: u32,
        push: Push,
    ) -> u32 {
        let count = self.burst_len(limit, push);
        let mut wire = 0;
        for n in 1..=count {
            let mut payload = self.next_payload() as u32;
            if n > 1 {
                // The payload was filled up from the next sk_buff, so it is limited to the peer's
                // window here.
                payload = payload.min((self.window_end() - self.snd_nxt) as u32);
            }
            let place = self.bursts.place(n, count);
            self.send_new_segment(cx, payload, place);
            wire += u64::from(payload);
        }
        self.pace(cx.now, wire);
        count
    }

    /// Sends one new segment of `payload` bytes. PSH is set if it ends a burst, the data, or a wait
    /// for the window.
    pub(super) fn send_new_segment<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
        payload: u32,
        place: Place,
    ) {
        let in_flight = self.in_flight();
        if in_flight == 0 {
            let idle = cx.now.since(self.last_sent_at);
            self.congestion
                .on_idle_restart(&mut self.window, cx.now, idle);
        }
        let mut sent = self.new_segment(cx.now, payload, place);
        let was_empty = self.board.is_empty();
        self.rate.on_send(cx.now, was_empty, in_flight, &mut sent);
        self.board.push(sent);
        self.snd_nxt += u64::from(sent.len);
        let flags = if payload > 0 {
            self.marks.flags_of_data()
        } else {
            Flags::default()
        };
        let pushes = self.pushes_newest(payload, place);
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

    /// Returns the next segment for the scoreboard. A FIN is part of the segment with the last
    /// data.
    #[inline]
    fn new_segment(&mut self, now: Time, payload: u32, place: Place) -> SentSegment {
        let fin = self.fin_queued && u64::from(payload) == self.unsent();
        let mut sent = SentSegment {
            seq: self.snd_nxt,
            len: payload + u32::from(fin),
            sent_at: now,
            ..SentSegment::default()
        };
        debug_assert!(
            u64::from(payload) <= self.unsent(),
            "a segment of {payload} bytes carries more than was written"
        );
        debug_assert!(
            payload <= self.window.mss,
            "a segment of {payload} bytes is larger than agreed"
        );
        if fin {
            sent.tags.set(Tags::FIN);
            self.fin_sent = true;
        }
        if matches!(place, Place::Within | Place::End) {
            sent.tags.set(Tags::JOINED);
        }
        if self.socket.begins_mapping(sent.seq) {
            sent.tags.set(Tags::BEGINS);
        }
        sent
    }

    /// Returns true if the newest segment carries PSH. Removes the records that end with this
    /// segment, and records the end of a small segment.
    #[inline(always)]
    fn pushes_newest(&mut self, payload: u32, place: Place) -> bool {
        let mut ends_record = false;
        while self.records.front().is_some_and(|end| *end <= self.snd_nxt) {
            self.records.pop_front();
            ends_record = true;
        }
        if payload < self.window.mss {
            self.small_end = self.snd_nxt;
        }
        let stream = self.stream();
        // A FIN without data does not push data.
        let ends_data = ends_record || (!self.has_more && self.socket.ends_data(&stream));
        let newest = Newest {
            is_small: payload < self.window.mss,
            ends_data,
            is_followed: matches!(place, Place::First | Place::Within),
        };
        let is_pushed = self.socket.pushes(newest, &stream, &mut self.bursts);
        let pushes = payload > 0 && (matches!(place, Place::End | Place::Pushed) || is_pushed);
        if ends_data {
            self.bursts.pushed_end = self.snd_nxt;
        }
        if pushes && is_pushed {
            let newest = self.board.end() - 1;
            self.board.get_mut(newest).tags.set(Tags::PUSHED);
        }
        pushes
    }

    /// Sends one new segment beyond the congestion window as a probe. Returns true if the peer's
    /// window allows it.
    pub(super) fn send_one_new<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let may_send = self.has_sendable_new_data();
        if may_send {
            let payload = self.next_payload() as u32;
            self.send_new_segment(cx, payload, Place::Alone);
        }
        may_send
    }

    #[inline(always)]
    pub(super) fn emit<P: Probe>(
        &mut self,
        cx: &mut SenderContext<'_, P>,
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
        debug_assert!(
            segment.end_seq() <= self.snd_nxt,
            "a segment leaves that is not counted as sent"
        );
        debug_assert!(
            self.last_sent_at <= cx.now,
            "a segment leaves before the one sent last"
        );
        self.statistics.sent_segments += 1;
        self.last_sent_at = cx.now;
        if let Some(below) = &mut self.below {
            below.count(segment.len);
        }
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
