//! Size of bursts, and their wait for an ACK, as in a kernel with segmentation offload.

use super::Sender;
use crate::congestion::RecoveryState;
use crate::tcp::socket::Stream;
use fadeout_core::{Span, Time};

/// Longest time for which a small burst waits for an ACK.
const SOON: Span = Span::from_millis(1);

impl Sender {
    /// Returns the state of the sender that its socket uses.
    #[inline]
    pub(super) fn stream(&self) -> Stream {
        Stream {
            next: self.snd_nxt,
            end: self.write_end,
            mss: u64::from(self.window.mss),
            largest_window: self.max_window,
            holds_back: self.holds_back,
        }
    }

    /// Returns the number of segments in a burst.
    pub(super) fn burst_segments(&self) -> u32 {
        let (rate, min_rtt) = (self.pacer.rate, self.rtt.min());
        self.bursts.segments(rate, min_rtt, self.window.mss)
    }

    /// Returns the size of an sk_buff in bytes.
    pub(in crate::tcp) fn piece(&self) -> u64 {
        self.stream().piece()
    }

    /// Returns the number of sk_buffs with unacknowledged data.
    pub(in crate::tcp) fn pieces_in_flight(&self) -> u32 {
        self.board.pieces
    }

    /// Decides whether a small burst waits for the next ACK (Linux `tcp_tso_should_defer`). It
    /// waits if the ACK is due soon and will allow a larger burst. Returns true if the congestion
    /// window causes the wait, and false if the peer's window does. `None` if the burst does not
    /// wait.
    pub(super) fn defers(&self, now: Time, quota: u32, burst: u32) -> Option<bool> {
        let stream = self.stream();
        let unsent = stream.unsent();
        // For a paced sender the time counts from the pacer's next departure (Linux
        // `tcp_wstamp_ns`).
        let last_left = self.last_sent_at.max(self.pacer.next_at);
        if !self.bursts.may_wait()
            || unsent <= stream.mss
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
        let rest = self.socket.gathered(&stream)?;
        if room >= self.bursts.enough(window) || (!rest.is_last && room >= rest.bytes) {
            return None;
        }
        let srtt = self.rtt.srtt();
        let wait = (head.sent_at + srtt).since(now);
        if wait > SOON.min(srtt / 2) {
            return None;
        }
        let piece = rest.bytes.min(unsent);
        let gets_no_more = rest.is_last && (self.fin_queued || !self.records.is_empty());
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
    use crate::tcp::config::{SocketKind, TcpConfig};
    use crate::tcp::socket::SocketModel;
    use crate::tcp::socket::unbounded::Unbounded;
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

    /// Lets the first sk_buff end after `rest` unsent bytes.
    fn end_piece(b: &mut Bench, rest: u64) {
        b.sender.socket = SocketModel::Unbounded(Unbounded {
            end: b.sender.snd_nxt + rest,
            ..Unbounded::default()
        });
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
        assert_eq!(waits(|b| b.sender.bursts.is_on = false), None);
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
            let unsent = 2 * u64::from(b.sender.window.mss) + 40;
            b.sender.offer(unsent, true);
            if is_linux_subflow {
                b.sender.socket = SocketModel::new(SocketKind::LinuxSubflow);
            } else {
                end_piece(&mut b, unsent);
            }
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

    #[test]
    fn what_is_left_of_a_piece_does_not_wait_where_more_pieces_follow() {
        // If the sk_buff has at most two unsent segments and two may be sent, they do not wait.
        // With one byte more they wait.
        let rest = |rest| waits(|b| end_piece(b, rest));
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
