//! Bursts of segments that are sent together, as in a kernel with segmentation offload, and the
//! pushes that are due while much data is written.

use super::stream::{LARGEST_BURST, Stream};
use crate::tcp::config::HostConfig;
use fadeout_core::{Rate, Span};

/// Position of a segment in a burst. A burst consists of the segments that are sent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) enum Place {
    Alone,
    /// The segment is a burst of its own and carries PSH.
    Pushed,
    First,
    Within,
    /// The segment is the last of the burst and carries PSH.
    End,
}

/// Segmentation offload of a sender's host.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct Bursts {
    /// True if segments are sent in bursts.
    pub(in crate::tcp) is_on: bool,
    /// Smallest burst, segments (`tcp_min_tso_segs`).
    pub(in crate::tcp) minimum: u32,
    /// Divisor of the window. A sender does not wait for more if it may send this fraction of the
    /// window (`tcp_tso_win_divisor`).
    window_divisor: u32,
    /// Sequence number of the last PSH (`pushed_seq`).
    pub(in crate::tcp) pushed_end: u64,
}

impl Bursts {
    pub(in crate::tcp) fn new(config: &HostConfig) -> Bursts {
        Bursts {
            is_on: config.tso_bursts,
            minimum: config.minimum_burst.max(1),
            window_divisor: config.burst_window_divisor.max(1),
            pushed_end: 1,
        }
    }

    /// Returns the number of segments of `mss` bytes in a burst, about a millisecond of data at
    /// `rate` (Linux `tcp_tso_autosize`).
    pub(in crate::tcp) fn segments(&self, rate: Rate, min_rtt: Span, mss: u32) -> u32 {
        if !self.is_on {
            return 1;
        }
        let mut bytes = rate.as_bits_per_sec() / 8 / 1024;
        // On short paths Linux adds up to 64 kB to a burst. The addition is halved for each 512 us
        // of round-trip time (tcp_tso_rtt_log).
        let doublings = min_rtt.as_micros() >> 9;
        if doublings < 32 {
            bytes = bytes.saturating_add(LARGEST_BURST >> doublings);
        }
        let segments = (bytes.min(LARGEST_BURST) / u64::from(mss)) as u32;
        segments.max(self.minimum)
    }

    /// Returns the place of segment `number` in a burst of `count` segments. Numbers begin with 1.
    #[inline]
    pub(in crate::tcp) fn place(&self, number: u32, count: u32) -> Place {
        match number {
            _ if !self.is_on || count == 1 => Place::Alone,
            1 => Place::First,
            _ if number == count => Place::End,
            _ => Place::Within,
        }
    }

    /// Returns true if a burst may wait for an ACK that allows a larger one (Linux
    /// `tcp_tso_should_defer`).
    #[inline]
    pub(in crate::tcp) fn may_wait(&self) -> bool {
        self.is_on
    }

    /// Returns true if the last segment of a burst may be small because the receiver's window ends
    /// (Linux `tcp_mss_split_point`).
    #[inline]
    pub(in crate::tcp) fn may_fill_window(&self) -> bool {
        self.is_on
    }

    /// Returns the smallest number of bytes of a burst that does not wait, for a window of `window`
    /// bytes.
    pub(in crate::tcp) fn enough(&self, window: u64) -> u64 {
        window / u64::from(self.window_divisor)
    }

    /// Returns true if data up to `end` needs a PSH, because more than half of the peer's largest
    /// window was sent without one (Linux `forced_push`).
    #[inline]
    pub(in crate::tcp) fn lacks_push(&self, end: u64, stream: &Stream) -> bool {
        self.is_on && end > self.pushed_end + stream.largest_window / 2
    }
}
