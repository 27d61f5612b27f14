//! Send buffer of a socket. It determines how many bytes a write accepts, and when further writes
//! are possible. The functions of Linux are `tcp_sendmsg_locked`, `sk_stream_write_space` and
//! `tcp_sndbuf_expand`.
//!
//! Data is stored in `sk_buff`s of whole segments. The limits apply to their memory, not to their
//! payload.

use fadeout_core::Time;
use std::collections::VecDeque;

/// Memory of an `sk_buff` without payload, for its descriptor and headers.
const PIECE_OVERHEAD: u64 = 896;
/// Largest payload of an `sk_buff` (`GSO_LEGACY_MAX_SIZE`), less the room for headers.
const LARGEST_PIECE: u64 = 65_536 - 321;
/// Largest window of a peer whose `sk_buff`s are as large as the window (`TCP_MSS_DEFAULT`).
const SMALL_WINDOW: u64 = 536;
/// Smallest number of segments for which a buffer has room (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// Memory that the kernel reserves for the headers of a segment and its shared part.
const SEGMENT_MARGIN: u64 = 640;
/// Memory of a descriptor.
const DESCRIPTOR: u64 = 256;
/// Smallest buffer that `SO_SNDBUF` sets.
const SMALLEST: u64 = 4_608;

/// State of the endpoint, as offsets of the stream, whose first byte is 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) una: u64,
    pub(crate) next: u64,
    pub(crate) cwnd: u64,
    pub(crate) in_flight: u64,
    /// The peer's window in bytes.
    pub(crate) window: u64,
    pub(crate) mss: u64,
    /// Largest segment with timestamps included.
    pub(crate) largest_mss: u64,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u64,
    end: u64,
}

/// Send buffer of a connection.
#[derive(Debug, Clone)]
pub(crate) struct SendBuffer {
    /// Memory that the buffer may take, and the limit of its growth.
    limit: u64,
    largest: u64,
    /// True if `SO_SNDBUF` set the size, so that the buffer does not grow.
    is_fixed: bool,
    /// Limit of unsent bytes for further writes (`TCP_NOTSENT_LOWAT`).
    low_water: u64,
    pieces: VecDeque<Piece>,
    /// Memory of all `sk_buff`s.
    memory: u64,
    end: u64,
    largest_window: u64,
    lacks_room: bool,
    /// Number of times that space became free for a waiting writer.
    openings: u64,
}

impl SendBuffer {
    /// Builds a buffer of `sizes` bytes at first and at most.
    pub(crate) fn new(sizes: (u64, u64), low_water: u64) -> SendBuffer {
        SendBuffer {
            limit: sizes.0,
            largest: sizes.1,
            is_fixed: false,
            low_water,
            pieces: VecDeque::new(),
            memory: 0,
            end: 1,
            largest_window: 0,
            lacks_room: false,
            openings: 0,
        }
    }

    /// Sets the size by `SO_SNDBUF`. It is twice the number, to include memory without payload.
    pub(crate) fn fix(&mut self, bytes: u64) {
        self.limit = (2 * bytes).max(SMALLEST);
        self.is_fixed = true;
    }
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
    pub(crate) fn set_low_water(&mut self, bytes: u64) {
        self.low_water = bytes;
    }
    /// Returns true if a writer waits for free space.
    pub(crate) fn lacks_room(&self) -> bool {
        self.lacks_room
    }
    /// Returns the number of times that space became free for a waiting writer.
    pub(crate) fn openings(&self) -> u64 {
        self.openings
    }
    /// Records that a writer found no free space and waits.
    pub(crate) fn miss(&mut self) {
        self.lacks_room = true;
    }

    /// Sets the size of the buffer when the connection is established, large enough for two
    /// windows.
    pub(crate) fn on_established(&mut self, progress: &Progress) {
        self.grow(progress);
    }

    fn grow(&mut self, progress: &Progress) {
        if self.is_fixed {
            return;
        }
        let mss = progress.largest_mss.max(progress.mss);
        let segment = (mss + SEGMENT_MARGIN).next_power_of_two() + DESCRIPTOR;
        let wanted = 2 * progress.cwnd.max(LEAST_SEGMENTS) * segment;
        self.limit = self.limit.max(wanted.min(self.largest));
    }

    fn has_memory(&self, next: u64, factor: u64) -> bool {
        self.memory < self.limit && (self.end - next.min(self.end)) * factor < self.low_water
    }

    /// Returns true if a poll reports free space.
    pub(crate) fn is_writable(&self, progress: &Progress) -> bool {
        self.limit.saturating_sub(self.memory) >= self.memory / 2
            && self.has_memory(progress.next, 2)
    }

    /// Returns the payload of a full `sk_buff`.
    fn piece_len(&self, mss: u64) -> u64 {
        let bound = if self.largest_window > SMALL_WINDOW {
            self.largest_window / 2
        } else {
            self.largest_window
        };
        (LARGEST_PIECE.min(bound) / mss * mss).max(mss)
    }

    /// Accepts up to `wanted` bytes and returns the number accepted. A full `sk_buff` may be sent
    /// at once. The bytes that the congestion window allows are then split off.
    pub(crate) fn take(&mut self, progress: &Progress, wanted: u64) -> u64 {
        self.largest_window = self.largest_window.max(progress.window);
        let full = self.piece_len(progress.mss);
        let (mut left, mut next) = (wanted, progress.next);
        let mut quota = progress.cwnd.saturating_sub(progress.in_flight) * progress.mss;
        while left > 0 {
            let tail = self.pieces.back().filter(|piece| piece.end > next);
            let mut room = tail.map_or(0, |piece| full.saturating_sub(piece.end - piece.start));
            if room == 0 {
                if !self.has_memory(next, 1) {
                    self.lacks_room = true;
                    break;
                }
                self.pieces.push_back(Piece {
                    start: self.end,
                    end: self.end,
                });
                self.memory += PIECE_OVERHEAD;
                room = full;
            }
            let taken = room.min(left);
            self.end += taken;
            self.memory += taken;
            left -= taken;
            if let Some(piece) = self.pieces.back_mut() {
                piece.end = self.end;
            }
            if taken == room && left > 0 {
                let window = (progress.una + progress.window).saturating_sub(next);
                let sent = (self.end - next).min(quota).min(window) / progress.mss * progress.mss;
                quota -= sent;
                next += sent;
                self.cut(next);
            }
        }
        wanted - left
    }

    /// Splits the `sk_buff` in which `at` lies.
    fn cut(&mut self, at: u64) {
        let index = self.pieces.partition_point(|piece| piece.end <= at);
        if let Some(piece) = self.pieces.get_mut(index)
            && piece.start < at
        {
            let end = std::mem::replace(&mut piece.end, at);
            self.pieces.insert(index + 1, Piece { start: at, end });
            self.memory += PIECE_OVERHEAD;
        }
    }

    /// Follows the progress of the endpoint. It frees acknowledged data and may give a waiting
    /// writer room. The buffer grows if the congestion window had room before the latest
    /// `last_burst` segments left.
    pub(crate) fn follow(&mut self, progress: &Progress, last_burst: u64) {
        self.largest_window = self.largest_window.max(progress.window);
        while let Some(head) = self.pieces.front_mut() {
            let start = head.start.max(progress.una.min(head.end));
            self.memory -= start - head.start;
            head.start = start;
            if head.end > progress.una {
                break;
            }
            self.pieces.pop_front();
            self.memory -= PIECE_OVERHEAD;
        }
        self.cut(progress.next);
        if !self.lacks_room {
            return;
        }
        if progress.in_flight < progress.cwnd + last_burst {
            self.grow(progress);
        }
        if self.is_writable(progress) {
            self.lacks_room = false;
            self.openings += 1;
        }
    }
}

/// Reason for which a sender is not done (Linux `tcp_chrono_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Nothing,
    /// Sender that has unsent or outstanding data.
    Busy,
    /// Window of the peer.
    Window,
    /// Send buffer, all of which was sent.
    Buffer,
}

/// Durations of the limits, as in `tcp_info`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    now: Limit,
    since: Time,
    /// Microseconds by limit.
    spent: [u64; 4],
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            now: Limit::Nothing,
            since: Time::ZERO,
            spent: [0; 4],
        }
    }
}

impl Limits {
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        self.spent[self.now as usize] += now.since(self.since).as_micros();
        (self.now, self.since) = (limit, now);
    }

    /// Returns the microseconds up to `now`. The time of a busy sender includes the other limits.
    /// Ticks of the kernel's clock are milliseconds.
    pub(crate) fn spent(&self, now: Time, limit: Limit) -> u64 {
        let mut all = *self;
        all.set(now, self.now);
        let micros = if limit == Limit::Busy {
            all.spent[1..].iter().sum()
        } else {
            all.spent[limit as usize]
        };
        micros / 1_000 * 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Progress {
        Progress {
            una: 1,
            next: 1,
            cwnd: 10,
            in_flight: 0,
            window: 32_896,
            mss: 1_000,
            largest_mss: 1_000,
        }
    }

    #[test]
    fn a_write_fills_the_piece_that_was_cut_and_ends_at_the_memory() {
        let mut buffer = SendBuffer::new((50_000, 4 << 20), u64::MAX);
        buffer.on_established(&open());
        assert_eq!(buffer.take(&open(), 59_000), 58_000);
        assert!(buffer.lacks_room());
    }

    #[test]
    fn unsent_bytes_end_a_write_before_the_memory_does() {
        for (low_water, taken) in [(32_000, 42_000), (4_000, 26_000)] {
            let mut buffer = SendBuffer::new((256 << 10, 4 << 20), low_water);
            assert_eq!(buffer.take(&open(), 59_000), taken);
        }
    }

    #[test]
    fn room_is_told_when_a_third_is_free() {
        let mut buffer = SendBuffer::new((0, 4 << 20), u64::MAX);
        buffer.fix(21_000);
        assert_eq!(buffer.limit(), 42_000);
        let taken = buffer.take(&open(), 61_000);
        assert!(taken < 61_000);
        let at = |una| Progress {
            una,
            next: taken + 1,
            ..open()
        };
        buffer.follow(&at(5_001), 0);
        assert_eq!(buffer.openings(), 0);
        buffer.follow(&at(taken), 0);
        assert_eq!((buffer.openings(), buffer.lacks_room()), (1, false));
    }
}
