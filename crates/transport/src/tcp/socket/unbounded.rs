//! Socket that accepts all data at once.

use super::bursts::Bursts;
use super::stream::{Head, Stream};

/// Division of the stream into sk_buffs while the application writes it. If more sk_buffs follow,
/// the last part of an sk_buff does not wait.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tcp) struct Unbounded {
    /// End of the sk_buff that contains the next segment.
    pub(in crate::tcp) end: u64,
    /// True if newly written data extends this sk_buff.
    pub(in crate::tcp) grows: bool,
    /// True if the last segment of the sk_buff carries PSH.
    pub(in crate::tcp) is_pushed: bool,
}

impl Unbounded {
    /// Extends the first sk_buff by newly written data that still fits. The sk_buff then grows
    /// while its first segments are sent.
    pub(super) fn extend(&mut self, stream: &Stream) {
        self.grows = self.end.saturating_sub(stream.next) >= stream.unsent();
    }

    /// Moves the end of a full sk_buff forward while the application writes and the first segments
    /// are sent. A push ends the sk_buff if more than half of the peer's largest window was sent
    /// without PSH (Linux `forced_push`).
    pub(super) fn grow(&mut self, stream: &Stream, bursts: &mut Bursts) {
        if !self.grows {
            return;
        }
        let end = stream.next + stream.piece();
        if self.is_pushed || end > stream.end {
            return;
        }
        self.end = end;
        if bursts.lacks_push(end, stream) {
            self.is_pushed = true;
            bursts.pushed_end = end;
        }
    }

    /// Fixes the end of the sk_buff if no more data can be sent now.
    pub(super) fn settle(&mut self, stream: &Stream) {
        if std::mem::take(&mut self.grows) {
            self.end = stream.next + stream.piece();
        }
    }

    /// Returns the rest of the first sk_buff.
    pub(super) fn head(&self, stream: &Stream) -> Head {
        let rest = self.end.saturating_sub(stream.next).max(stream.mss);
        Head {
            bytes: rest,
            is_last: rest >= stream.unsent(),
        }
    }

    /// Removes the data that was sent. Returns true if the last transmission ended an sk_buff with
    /// a push.
    pub(super) fn leave(&mut self, stream: &Stream, bursts: &mut Bursts) -> bool {
        let before = *self;
        if stream.next < before.end {
            return false;
        }
        self.end = stream.next + stream.piece();
        self.is_pushed = false;
        if stream.next == before.end && bursts.lacks_push(before.end, stream) {
            bursts.pushed_end = before.end;
            return true;
        }
        before.is_pushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::TcpConfig;

    struct Cut {
        socket: Unbounded,
        stream: Stream,
        bursts: Bursts,
    }

    /// Returns a stream written up to `write_end`, with 5,000 bytes sent. The sk_buff ends at
    /// `end`.
    fn cut(write_end: u64, end: u64) -> Cut {
        Cut {
            socket: Unbounded {
                end,
                ..Unbounded::default()
            },
            stream: Stream {
                next: 5_001,
                end: write_end,
                mss: 1_000,
                largest_window: 64_000,
                holds_back: false,
            },
            bursts: Bursts::new(&TcpConfig::linux().host),
        }
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
            b.socket.extend(&b.stream);
            assert_eq!(b.socket.grows, grows, "{write_end} {end}");
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
            b.socket.grows = grows;
            b.socket.is_pushed = is_pushed;
            b.bursts.pushed_end = 5_001;
            b.socket.grow(&b.stream, &mut b.bursts);
            assert_eq!(b.socket.end, end, "{grows} {is_pushed} {write_end}");
            assert_eq!(
                (b.socket.is_pushed, b.bursts.pushed_end),
                (is_pushed, 5_001)
            );
        }
        // More than half of the peer's window was sent without PSH, so the sk_buff ends with a
        // push.
        let mut b = cut(40_001, 6_001);
        b.socket.grows = true;
        b.bursts.pushed_end = 5_000;
        b.socket.grow(&b.stream, &mut b.bursts);
        assert_eq!((b.socket.is_pushed, b.bursts.pushed_end), (true, 37_001));
    }

    #[test]
    fn what_could_not_leave_fills_the_piece_up() {
        for (grows, end) in [(true, 37_001), (false, 6_001)] {
            let mut b = cut(8_001, 6_001);
            b.socket.grows = grows;
            b.socket.settle(&b.stream);
            assert_eq!((b.socket.end, b.socket.grows), (end, false));
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
            b.socket.is_pushed = was_pushed;
            b.bursts.pushed_end = pushed_end;
            assert_eq!(
                b.socket.leave(&b.stream, &mut b.bursts),
                pushes,
                "{end} {was_pushed}"
            );
            let found = (b.socket.end, b.socket.is_pushed, b.bursts.pushed_end);
            assert_eq!(found, then, "{end} {was_pushed}");
        }
        // A push is set if more than half of the peer's window, 32,000 bytes, was sent without PSH.
        for (snd_nxt, end, pushes) in [
            (32_002, 32_002, true),
            (32_001, 32_001, false),
            (40_001, 39_001, false),
        ] {
            let mut b = cut(90_001, end);
            b.stream.next = snd_nxt;
            b.bursts.pushed_end = 1;
            assert_eq!(
                b.socket.leave(&b.stream, &mut b.bursts),
                pushes,
                "{snd_nxt} {end}"
            );
            assert_eq!(b.bursts.pushed_end, if pushes { end } else { 1 });
        }
    }
}
