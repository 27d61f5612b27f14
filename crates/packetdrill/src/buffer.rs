//! Send buffer of a socket. It determines how many bytes a write accepts, and when further writes
//! are possible. The functions of Linux are `tcp_sendmsg_locked`, `sk_stream_write_space` and
//! `tcp_sndbuf_expand`.
//!
//! Data is stored in `sk_buff`s of whole segments. The limits apply to their memory, not to their
//! payload.

use fadeout_core::Time;
use std::collections::VecDeque;

/// Memory that the kernel counts for the descriptor and headers of an `sk_buff`, in bytes.
const PIECE_OVERHEAD: u64 = 896;
/// Largest payload of an `sk_buff` in bytes: `GSO_LEGACY_MAX_SIZE` minus the space for headers.
const LARGEST_PIECE: u64 = 65_536 - 321;
/// Threshold of the largest peer window in bytes (`TCP_MSS_DEFAULT`). Above the threshold an
/// `sk_buff` holds at most half of the window. Otherwise an `sk_buff` may be as large as the
/// window.
const SMALL_WINDOW: u64 = 536;
/// Smallest number of segments for which a growing send buffer provides memory (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// Memory that the kernel reserves in each segment for headers and the shared info, in bytes.
const SEGMENT_MARGIN: u64 = 640;
/// Memory of an `sk_buff` descriptor, in bytes.
const DESCRIPTOR: u64 = 256;
/// Smallest send buffer that `SO_SNDBUF` can set, in bytes.
const SMALLEST: u64 = 4_608;

/// Send state of the endpoint. Positions are offsets in the byte stream, whose first byte is 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) una: u64,
    pub(crate) next: u64,
    pub(crate) cwnd: u64,
    pub(crate) in_flight: u64,
    /// Send window that the peer advertised, in bytes.
    pub(crate) window: u64,
    pub(crate) mss: u64,
    /// Size of a full segment in bytes, with the timestamps option included.
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
    /// Memory that the buffer may use now, in bytes.
    /// Memory up to which `limit` may grow, in bytes.
    limit: u64,
    largest: u64,
    /// True if `SO_SNDBUF` set the size. Then the buffer does not grow.
    is_fixed: bool,
    /// Number of unsent bytes from which no new `sk_buff` is allocated (`TCP_NOTSENT_LOWAT`).
    low_water: u64,
    pieces: VecDeque<Piece>,
    /// Memory that all `sk_buff`s use, in bytes.
    memory: u64,
    end: u64,
    largest_window: u64,
    lacks_room: bool,
    /// Number of times that memory became free for a waiting writer.
    openings: u64,
}

impl SendBuffer {
    /// Builds a send buffer. `sizes` are its initial and its largest memory in bytes.
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

    /// Sets the memory to twice the number of bytes given by `SO_SNDBUF`. The factor accounts for
    /// memory that is not payload.
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
    /// Returns true if a writer waits for free memory.
    pub(crate) fn lacks_room(&self) -> bool {
        self.lacks_room
    }
    /// Returns the number of times that memory became free for a waiting writer.
    pub(crate) fn openings(&self) -> u64 {
        self.openings
    }
    /// Records that a writer found no free memory and waits.
    pub(crate) fn miss(&mut self) {
        self.lacks_room = true;
    }

    /// Grows the buffer to two congestion windows when the connection is established.
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

    /// Returns true if a poll reports the socket as writable.
    pub(crate) fn is_writable(&self, progress: &Progress) -> bool {
        self.limit.saturating_sub(self.memory) >= self.memory / 2
            && self.has_memory(progress.next, 2)
    }

    /// Returns the payload of a full `sk_buff` in bytes.
    fn piece_len(&self, mss: u64) -> u64 {
        let bound = if self.largest_window > SMALL_WINDOW {
            self.largest_window / 2
        } else {
            self.largest_window
        };
        (LARGEST_PIECE.min(bound) / mss * mss).max(mss)
    }

    /// Accepts up to `wanted` bytes of a write and returns the number of accepted bytes. When an
    /// `sk_buff` is full, the windows may let its data be sent at once. The sent data is then split
    /// off.
    pub(crate) fn accept_write(&mut self, progress: &Progress, wanted: u64) -> u64 {
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

    /// Splits the `sk_buff` that contains offset `at` into two at this offset.
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

    /// Updates the buffer after a step of the endpoint. Frees the memory of acknowledged data and
    /// may wake a waiting writer. The buffer grows if the congestion window was not full before the
    /// latest `last_burst` segments were sent.
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

/// Reason for which the sender still has data to send or waits (Linux `tcp_chrono_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Nothing,
    /// The sender has unsent or unacknowledged data.
    Busy,
    /// The window of the peer is too small for the next segment.
    Window,
    /// The send buffer is full, and all its data was sent.
    Buffer,
}

/// Time spent under each limit, as `tcp_info` reports it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    now: Limit,
    since: Time,
    /// Time under each limit in microseconds, indexed by [`Limit`].
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

    /// Returns the time under `limit` up to `now`, in microseconds rounded down to milliseconds, as
    /// the kernel's clock does. The time of `Busy` includes the other limits.
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
        assert_eq!(buffer.accept_write(&open(), 59_000), 58_000);
        assert!(buffer.lacks_room());
    }

    #[test]
    fn unsent_bytes_end_a_write_before_the_memory_does() {
        for (low_water, taken) in [(32_000, 42_000), (4_000, 26_000)] {
            let mut buffer = SendBuffer::new((256 << 10, 4 << 20), low_water);
            assert_eq!(buffer.accept_write(&open(), 59_000), taken);
        }
    }

    #[test]
    fn room_is_told_when_a_third_is_free() {
        let mut buffer = SendBuffer::new((0, 4 << 20), u64::MAX);
        buffer.fix(21_000);
        assert_eq!(buffer.limit(), 42_000);
        let taken = buffer.accept_write(&open(), 61_000);
        assert!(taken < 61_000);
        let progress_at = |una| Progress {
            una,
            next: taken + 1,
            ..open()
        };
        buffer.follow(&progress_at(5_001), 0);
        assert_eq!(buffer.openings(), 0);
        buffer.follow(&progress_at(taken), 0);
        assert_eq!((buffer.openings(), buffer.lacks_room()), (1, false));
    }
}
