//! Bursts of segments, and the sk_buffs that contain them. The rules decide which segments are sent
//! together, wait for more data, or carry PSH, as in a kernel with segmentation offload.

use super::Sender;
use crate::congestion::RecoveryState;
use fadeout_core::{Span, Time};

/// Largest payload of one segmentation-offload packet (Linux `GSO_LEGACY_MAX_SIZE`).
const LARGEST_BURST: u64 = 65_536;
/// Longest time for which a small burst waits for an ACK.
const SOON: Span = Span::from_millis(1);
/// Number of bytes that the kernel reserves for headers in such a packet (`MAX_TCP_HEADER` and one
/// byte).
const BURST_HEADERS: u64 = 321;

/// Division of the stream into sk_buffs while the application writes it. If more sk_buffs follow,
/// the last part of an sk_buff does not wait.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pieces {
    /// End of the sk_buff that contains the next segment.
    end: u64,
    /// True if newly written data extends this sk_buff.
    grows: bool,
    /// True if the last segment of the sk_buff carries PSH.
    is_pushed: bool,
}

/// Position of a segment in a burst. A burst consists of the segments that are sent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Alone,
    /// The segment is a burst of its own and carries PSH.
    Pushed,
    First,
    Within,
    /// The segment is the last of the burst and carries PSH.
    End,
}

impl Sender {
    /// Returns the number of segments in a burst, about a millisecond of data (Linux
    /// `tcp_tso_autosize`).
    pub(super) fn burst_segments(&self) -> u32 {
        if !self.config.host.tso_bursts {
            return 1;
        }
        let mss = u64::from(self.window.mss);
        let mut bytes = self.pacer.rate.as_bits_per_sec() / 8 / 1024;
        // On short paths Linux adds up to 64 kB to a burst. The addition is halved for each 512 us
        // of round-trip time (tcp_tso_rtt_log).
        let doublings = self.rtt.min().as_micros() >> 9;
        if doublings < 32 {
            bytes = bytes.saturating_add(LARGEST_BURST >> doublings);
        }
        let segments = (bytes.min(LARGEST_BURST) / mss) as u32;
        segments.max(self.config.host.minimum_burst.max(1))
    }

    /// Returns the size of the kernel's sk_buffs in bytes. The size is a number of whole segments,
    /// limited by the largest burst and by half of the peer's largest window (Linux
    /// `tcp_xmit_size_goal`).
    pub(in crate::tcp) fn piece(&self) -> u64 {
        let mss = u64::from(self.window.mss);
        let largest = (LARGEST_BURST - BURST_HEADERS).min(self.max_window / 2);
        (largest / mss).max(1) * mss
    }

    /// Returns the number of sk_buffs with unacknowledged data.
    pub(in crate::tcp) fn pieces_in_flight(&self) -> u32 {
        self.board.pieces
    }

    /// Extends the first sk_buff by newly written data that still fits. The sk_buff then grows
    /// while its first segments are sent.
    pub(super) fn extend_piece(&mut self) {
        self.pieces.grows = self.pieces.end.saturating_sub(self.snd_nxt) >= self.unsent();
    }

    /// Moves the end of a full sk_buff forward while the application writes and the first segments
    /// are sent. A push ends the sk_buff if more than half of the peer's largest window was sent
    /// without PSH (Linux `forced_push`).
    pub(super) fn grow_piece(&mut self) {
        if !self.pieces.grows {
            return;
        }
        let end = self.snd_nxt + self.piece();
        if self.pieces.is_pushed || end > self.write_end {
            return;
        }
        self.pieces.end = end;
        if self.lacks_push(end) {
            self.pieces.is_pushed = true;
            self.pushed_end = end;
        }
    }

    /// Fixes the end of the sk_buff if no more data can be sent now.
    pub(super) fn settle_piece(&mut self) {
        if std::mem::take(&mut self.pieces.grows) {
            self.pieces.end = self.snd_nxt + self.piece();
        }
    }

    /// Returns true if newly written data extends the sk_buff that is sent next.
    pub(super) fn is_growing(&self) -> bool {
        self.pieces.grows
    }

    pub(super) fn lacks_push(&self, end: u64) -> bool {
        self.config.host.tso_bursts && end > self.pushed_end + self.max_window / 2
    }

    /// Returns true if the last transmission ended an sk_buff with a push.
    pub(super) fn ends_pushed_piece(&mut self) -> bool {
        if let Some(buffer) = &mut self.buffer {
            return buffer.leave(self.snd_nxt);
        }
        let pieces = self.pieces;
        if self.snd_nxt < pieces.end {
            return false;
        }
        self.pieces.end = self.snd_nxt + self.piece();
        self.pieces.is_pushed = false;
        if self.snd_nxt == pieces.end && self.lacks_push(pieces.end) {
            self.pushed_end = pieces.end;
            return true;
        }
        pieces.is_pushed
    }

    /// Decides whether a small burst waits for the next ACK (Linux `tcp_tso_should_defer`). It
    /// waits if the ACK is due soon and will allow a larger burst. Returns true if the congestion
    /// window causes the wait, and false if the peer's window does. `None` if the burst does not
    /// wait.
    pub(super) fn defers(&self, now: Time, quota: u32, burst: u32) -> Option<bool> {
        let mss = u64::from(self.window.mss);
        let unsent = self.unsent();
        // For a paced sender the time counts from the pacer's next departure (Linux
        // `tcp_wstamp_ns`).
        let last_left = self.last_sent_at.max(self.pacer.next_at);
        if !self.config.host.tso_bursts
            || unsent <= mss
            || matches!(self.state, RecoveryState::Recovery | RecoveryState::Loss)
            || now.since(last_left) > Span::from_millis(1)
        {
            return None;
        }
        let counted = self.counted_mss();
        let congestion_room = u64::from(quota) * counted;
        let receiver_room = self.window_end() - self.snd_nxt;
        let room = congestion_room.min(receiver_room);
        if room >= u64::from(burst) * counted {
            return None;
        }
        let head = self.board.head()?;
        let window = self.snd_wnd.min(self.window.cwnd as u64 * counted);
        let enough = window / u64::from(self.config.host.burst_window_divisor.max(1));
        let (rest_of_piece, is_last_piece) = match &self.buffer {
            Some(buffer) => buffer.head(self.snd_nxt),
            // The multipath connection offers a subflow one sk_buff at a time.
            None if self.config.host.is_linux_subflow => (unsent, !self.holds_back),
            None => {
                let rest = self.pieces.end.saturating_sub(self.snd_nxt).max(mss);
                (rest, rest >= unsent)
            }
        };
        if rest_of_piece <= mss && self.buffer.is_some() {
            return None;
        }
        if room >= enough || (!is_last_piece && room >= rest_of_piece) {
            return None;
        }
        let srtt = self.rtt.srtt();
        let wait = (head.sent_at + srtt).since(now);
        if wait > SOON.min(srtt / 2) {
            return None;
        }
        let piece = rest_of_piece.min(unsent);
        let gets_no_more = is_last_piece && (self.fin_queued || !self.records.is_empty());
        if gets_no_more && room > piece {
            return None;
        }
        Some(congestion_room < receiver_room && congestion_room <= piece)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, linux};
    use super::*;
    use crate::tcp::config::TcpConfig;
    use fadeout_core::Rate;

    fn bursts() -> TcpConfig {
        linux().changed(|tcp| tcp.host.tso_bursts = true)
    }

    #[test]
    fn a_burst_is_a_millisecond_of_data_and_more_on_short_paths() {
        // Linux `tcp_tso_autosize`: the burst is rate / 1024 bytes plus 64 kB, halved for each 512
        // us of round-trip time.
        for (mbit, rtt_us, segments) in [
            (100, 100_000, 12),
            (1, 100_000, 2),
            (1, 1000, 32),
            (8, 1500, 17),
            (10_000, 1000, 65),
        ] {
            let mut b = Bench::new(&bursts());
            b.sender.pacer.rate = Rate::from_bits_per_sec(mbit * 1_000_000);
            let rtt = Span::from_micros(rtt_us);
            b.sender.rtt.on_sample(b.now, rtt, rtt, 1, 1);
            b.now += Span::from_secs(400);
            b.sender.rtt.on_sample(b.now, rtt, rtt, 1, 1);
            assert_eq!(b.sender.burst_segments(), segments, "{mbit} {rtt_us}");
        }
        assert_eq!(Bench::new(&linux()).sender.burst_segments(), 1);
    }

    #[test]
    fn a_piece_is_the_largest_burst_or_half_of_the_peers_window() {
        for (mss, window, bytes) in [
            (300, 1_000_000, 217 * 300),
            (1000, 64_000, 32_000),
            (1000, 1500, 1000),
        ] {
            let mut b = Bench::new(&bursts());
            b.sender.window.mss = mss;
            b.sender.max_window = window;
            assert_eq!(b.sender.piece(), bytes);
        }
    }

    /// Returns a sender with ten outstanding segments and more data. The ACK of the first segment
    /// is due in half a millisecond.
    fn waiting(segments: u64) -> Bench {
        let mut b = Bench::new(&bursts());
        b.write(segments);
        b.sender.window.cwnd = 20.0;
        b.now += Span::from_micros(99_500);
        b.sender.last_sent_at = b.now;
        b
    }

    /// Returns the decision for two segments that may wait for a burst of ten. `change` changes the
    /// sender first.
    fn waits(change: impl FnOnce(&mut Bench)) -> Option<bool> {
        let mut b = waiting(60);
        change(&mut b);
        b.sender.defers(b.now, 2, 10)
    }

    #[test]
    fn a_small_burst_waits_for_an_ack_that_is_near() {
        // Each line changes one condition of Linux `tcp_tso_should_defer`.
        let us = Span::from_micros;
        assert_eq!(waits(|_| ()), Some(true));
        assert_eq!(
            waits(|b| b.sender.config_mut().host.tso_bursts = false),
            None
        );
        assert_eq!(waits(|b| b.sender.state = RecoveryState::Recovery), None);
        assert_eq!(waits(|b| b.sender.state = RecoveryState::Loss), None);
        // If the sender has sent nothing for more than a millisecond, the burst does not wait.
        let idle =
            |idle| waits(|b| b.sender.last_sent_at = Time::from_nanos(b.now.as_nanos() - idle));
        assert_eq!((idle(1_000_000), idle(1_000_001)), (Some(true), None));
        // For a paced sender this time counts from the pacer's next departure.
        let paced = |late| {
            waits(|b| {
                b.sender.last_sent_at = Time::ZERO;
                b.sender.pacer.next_at = Time::from_nanos(b.now.as_nanos() - late);
            })
        };
        assert_eq!((paced(1_000_000), paced(1_000_001)), (Some(true), None));
        // The burst waits if the ACK is due within a millisecond, and not if later.
        let due = |micros: u64| {
            waits(|b| {
                b.now = Time::ZERO + Span::from_secs(1) + us(100_000 - micros);
                b.sender.last_sent_at = b.now;
            })
        };
        assert_eq!((due(1000), due(1001)), (Some(true), None));
        // The peer's window is the smaller one, so the peer's window causes the wait.
        assert_eq!(waits(|b| b.sender.snd_wnd = 11_500), Some(false));
    }

    #[test]
    fn a_subflow_counts_a_segment_with_the_options_bytes() {
        // The offer is two segments and 40 bytes. A Linux subflow counts the option's bytes, so the
        // offer fits into two segments and does not wait.
        let waits = |is_linux_subflow| {
            let mut b = waiting(60);
            b.sender.config_mut().host.is_linux_subflow = is_linux_subflow;
            b.sender.holds_back = true;
            let unsent = 2 * u64::from(b.sender.window.mss) + 40;
            b.sender.offer(unsent, true);
            b.sender.buffer = None;
            b.sender.pieces.end = b.sender.snd_nxt + unsent;
            b.sender.defers(b.now, 2, 10)
        };
        assert_eq!((waits(true), waits(false)), (None, Some(true)));
    }

    #[test]
    fn what_fills_a_burst_or_a_third_of_the_window_does_not_wait() {
        let waits = |quota, burst| waiting(60).sender.defers(waiting(60).now, quota, burst);
        assert_eq!((waits(3, 4), waits(4, 4)), (Some(true), None));
        // A burst does not wait if it exceeds a third of the window of 20,000 bytes.
        assert_eq!((waits(6, 10), waits(7, 10)), (Some(true), None));
        // The last data of the stream is one segment, which never waits. With one more byte unsent,
        // the data waits.
        let mut b = waiting(11);
        assert_eq!(b.sender.defers(b.now, 2, 10), None);
        b.sender.write_end += 1;
        assert!(b.sender.defers(b.now, 2, 10).is_some());
    }

    /// Returns a stream written up to `write_end`, with 5,000 bytes sent. The sk_buff ends at
    /// `end`.
    fn cut(write_end: u64, end: u64) -> Bench {
        let mut b = Bench::new(&bursts());
        b.sender.snd_nxt = 5_001;
        b.sender.write_end = write_end;
        b.sender.pieces.end = end;
        b
    }

    #[test]
    fn what_is_written_goes_into_the_piece_that_holds_all_that_waits() {
        for (write_end, end, grows) in [
            (8_001, 8_001, true),
            (8_001, 9_001, true),
            (8_001, 8_000, false),
            (8_001, 4_001, false),
            (5_001, 4_001, true),
        ] {
            let mut b = cut(write_end, end);
            b.sender.extend_piece();
            assert_eq!(b.sender.is_growing(), grows, "{write_end} {end}");
        }
    }

    #[test]
    fn a_growing_piece_is_moved_along_while_it_is_full() {
        // An sk_buff has at most 32 segments, so its end moves from 6,001 to 37,001.
        for (grows, is_pushed, write_end, end) in [
            (true, false, 37_001, 37_001),
            (true, false, 40_001, 37_001),
            (true, false, 37_000, 6_001),
            (true, true, 40_001, 6_001),
            (false, false, 40_001, 6_001),
        ] {
            let mut b = cut(write_end, 6_001);
            b.sender.pieces.grows = grows;
            b.sender.pieces.is_pushed = is_pushed;
            b.sender.pushed_end = 5_001;
            b.sender.grow_piece();
            assert_eq!(b.sender.pieces.end, end, "{grows} {is_pushed} {write_end}");
            assert_eq!(
                (b.sender.pieces.is_pushed, b.sender.pushed_end),
                (is_pushed, 5_001)
            );
        }
        // More than half of the peer's window was sent without PSH, so the sk_buff ends with a
        // push.
        let mut b = cut(40_001, 6_001);
        b.sender.pieces.grows = true;
        b.sender.pushed_end = 5_000;
        b.sender.grow_piece();
        assert_eq!(
            (b.sender.pieces.is_pushed, b.sender.pushed_end),
            (true, 37_001)
        );
    }

    #[test]
    fn what_could_not_leave_fills_the_piece_up() {
        for (grows, end) in [(true, 37_001), (false, 6_001)] {
            let mut b = cut(8_001, 6_001);
            b.sender.pieces.grows = grows;
            b.sender.settle_piece();
            assert_eq!((b.sender.pieces.end, b.sender.is_growing()), (end, false));
        }
    }

    #[test]
    fn a_piece_ends_with_its_last_segment_and_pushes_after_half_a_window() {
        for (end, was_pushed, pushed_end, pushes, then) in [
            // The segment ends within the sk_buff, so the sk_buff stays.
            (5_002, true, 1, false, (5_002, true, 1)),
            // The segment ends with the sk_buff. It carries PSH only if a push was due.
            (5_001, false, 1, false, (37_001, false, 1)),
            (5_001, true, 1, true, (37_001, false, 1)),
            // The segment ends beyond the sk_buff, and its PSH is that of the sk_buff.
            (4_001, true, 1, true, (37_001, false, 1)),
            (4_001, false, 1, false, (37_001, false, 1)),
        ] {
            let mut b = cut(60_001, end);
            b.sender.pieces.is_pushed = was_pushed;
            b.sender.pushed_end = pushed_end;
            assert_eq!(b.sender.ends_pushed_piece(), pushes, "{end} {was_pushed}");
            let found = (
                b.sender.pieces.end,
                b.sender.pieces.is_pushed,
                b.sender.pushed_end,
            );
            assert_eq!(found, then, "{end} {was_pushed}");
        }
        // A push is set if more than half of the peer's window, 32,000 bytes, was sent without PSH.
        for (snd_nxt, end, pushes) in [
            (32_002, 32_002, true),
            (32_001, 32_001, false),
            (40_001, 39_001, false),
        ] {
            let mut b = cut(90_001, end);
            b.sender.snd_nxt = snd_nxt;
            b.sender.pushed_end = 1;
            assert_eq!(b.sender.ends_pushed_piece(), pushes, "{snd_nxt} {end}");
            assert_eq!(b.sender.pushed_end, if pushes { end } else { 1 });
        }
    }

    #[test]
    fn what_is_left_of_a_piece_does_not_wait_where_more_pieces_follow() {
        // If the sk_buff has at most two unsent segments and two may be sent, they do not wait.
        // With one byte more they wait.
        let rest = |rest| waits(|b| b.sender.pieces.end = b.sender.snd_nxt + rest);
        assert_eq!(
            (rest(1_500), rest(2_000), rest(2_001)),
            (None, None, Some(true))
        );
        // The last sk_buff contains all unsent data, so it waits for a larger burst.
        assert_eq!(rest(50_000), Some(true));
    }

    #[test]
    fn an_ack_is_near_within_half_a_round_trip() {
        let waits = |micros: u64| {
            let mut b = waiting(60);
            let rtt = Span::from_millis(1);
            b.sender.rtt = crate::tcp::rtt::RttEstimator::new(&bursts());
            b.sender.rtt.on_sample(b.now, rtt, rtt, 1, 1);
            b.now = Time::ZERO + Span::from_secs(1) + Span::from_micros(1_000 - micros);
            b.sender.last_sent_at = b.now;
            b.sender.defers(b.now, 2, 10).is_some()
        };
        assert!(waits(500) && !waits(501));
    }

    #[test]
    fn equal_windows_are_the_receivers() {
        assert_eq!(waits(|b| b.sender.snd_wnd = 12_000), Some(false));
        assert_eq!(waits(|b| b.sender.snd_wnd = 12_001), Some(true));
    }

    #[test]
    fn the_end_of_the_stream_waits_for_as_much_room_as_it_needs() {
        // 3,000 bytes are unsent. If only three segments may be sent, they wait, because the next
        // ACK may allow more. If four may be sent, they do not wait.
        let mut b = waiting(13);
        b.sender.fin_queued = true;
        assert!(b.sender.defers(b.now, 3, 10).is_some());
        assert!(b.sender.defers(b.now, 4, 10).is_none());
    }

    #[test]
    fn the_end_of_the_stream_waits_for_nothing() {
        let waits = |finishes: bool, has_records: bool| {
            let mut b = waiting(13);
            b.sender.fin_queued = finishes;
            if has_records {
                b.sender.records.push_back(b.sender.write_end);
            }
            // 3,000 bytes are unsent, and four segments may be sent. Data before a FIN or the end
            // of a record does not wait.
            b.sender.defers(b.now, 4, 10).is_some()
        };
        assert_eq!(
            [waits(false, false), waits(true, false), waits(false, true)],
            [true, false, false]
        );
    }
}
