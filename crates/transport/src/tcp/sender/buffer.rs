//! The send buffer: how much of what the application writes the socket takes, in which pieces, and when the
//! writer goes on.
//!
//! What counts is the memory of the pieces (`sk_buff` in Linux), sent or not, until they are acknowledged.
//! The writer fills pieces until the memory is used up, and waits until a third of it is free. The memory
//! grows with the window, but only where the writer waits and the window does not.
//!
//! Source: Linux 6.12 `tcp_sendmsg_locked`, `tcp_sndbuf_expand`, `sk_stream_write_space`.

use super::{Sender, Step};
use crate::congestion::CongestionControl;
use crate::tcp::config::SendBufferConfig;
use fadeout_core::{Probe, Time};
use std::collections::VecDeque;

/// A piece's descriptor and the part of it that its copies share (`SKB_TRUESIZE(0)` on 64 bits).
const DESCRIPTOR: u64 = 256;
const SHARED_PART: u64 = 320;
/// Segments that a buffer has room for at least (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// What an application writes in one call.
const BLOCK: u64 = 128 << 10;

/// A piece that has not left, or not all of it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    end: u64,
    is_pushed: bool,
}

/// The buffer of one connection, and the writer at its end.
#[derive(Debug, Clone)]
pub(super) struct SendBuffer {
    config: SendBufferConfig,
    /// Memory that it may take (`sk_sndbuf`).
    limit: u64,
    /// What is unsent, oldest first.
    pieces: VecDeque<Piece>,
    /// What the application has yet to write, and how much of it in this call.
    backlog: u64,
    call: u64,
    /// This call has written something.
    has_copied: bool,
    /// The writer waits for room (`SOCK_NOSPACE`).
    waits: bool,
    /// The application closes once all is written.
    closes: bool,
}

impl SendBuffer {
    pub(super) fn new(config: SendBufferConfig) -> SendBuffer {
        SendBuffer {
            config,
            limit: config.initial,
            pieces: VecDeque::new(),
            backlog: 0,
            call: 0,
            has_copied: false,
            waits: false,
            closes: false,
        }
    }

    /// Memory of a piece beside its payload.
    fn overhead(&self) -> u64 {
        self.config.header + DESCRIPTOR + SHARED_PART
    }

    /// Room for `factor` windows of `segments`, each in a piece of its own whose memory is rounded up
    /// to a power of two.
    fn expand(&mut self, factor: u64, segments: u64, largest_mss: u64) {
        let segment = largest_mss + self.config.header + SHARED_PART;
        let segment = segment.next_power_of_two() + DESCRIPTOR;
        let wanted = segments
            .max(LEAST_SEGMENTS)
            .saturating_mul(factor * segment);
        self.limit = self.limit.max(wanted.min(self.config.maximum));
    }

    /// Whether the application has something to write and does not wait.
    #[inline]
    pub(super) fn is_writing(&self) -> bool {
        self.backlog > 0 && !self.waits
    }
    /// What the application has yet to write.
    #[inline]
    pub(super) fn backlog(&self) -> u64 {
        self.backlog
    }
    pub(super) fn add(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_add(bytes);
    }
    /// `bytes` left without having been in the buffer (on the SYN).
    pub(super) fn skip(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_sub(bytes);
    }
    /// The application closes: at once if all is written.
    pub(super) fn close(&mut self) -> bool {
        self.closes = true;
        self.backlog == 0
    }
    pub(super) fn is_closing(&self) -> bool {
        self.closes
    }

    /// What is left of the piece whose head is at `next`, and whether it is the last.
    #[inline]
    pub(super) fn head(&self, next: u64) -> (u64, bool) {
        let len = self
            .pieces
            .front()
            .map_or(0, |head| head.end.saturating_sub(next));
        (len, self.pieces.len() <= 1)
    }

    /// The head of the queue grows up to `bytes`, out of the piece after it (Linux `tcp_grow_skb`).
    #[inline]
    pub(super) fn grow_head(&mut self, next: u64, bytes: u64) {
        if self.pieces.len() > 1 && self.pieces[0].end < next + bytes {
            let second = self.pieces[1];
            if second.end <= next + bytes {
                let head = self.pieces.pop_front();
                self.pieces[0].is_pushed |= head.is_some_and(|head| head.is_pushed);
            } else {
                self.pieces[0].end = next + bytes;
            }
        }
    }

    /// What lies before `next` has left. Returns whether a pushed piece ended there.
    #[inline]
    pub(super) fn leave(&mut self, next: u64) -> bool {
        let mut pushed = false;
        while let Some(head) = self.pieces.front()
            && head.end <= next
        {
            pushed = head.is_pushed;
            self.pieces.pop_front();
        }
        pushed
    }
}

impl Sender {
    /// Bytes in the socket and not sent.
    pub(in crate::tcp) fn unsent(&self) -> u64 {
        self.write_end.saturating_sub(self.snd_nxt)
    }

    /// Bytes that the application gave and that are not sent, whether the socket took them or not.
    pub(in crate::tcp) fn awaited(&self) -> u64 {
        self.unsent() + self.backlog()
    }

    /// Bytes that the socket has not taken yet.
    #[inline]
    pub(in crate::tcp) fn backlog(&self) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| buffer.backlog())
    }

    /// The handshake is complete: room for two windows (Linux `tcp_init_buffer_space`).
    pub(super) fn open_buffer(&mut self) {
        self.expand_buffer();
    }

    fn expand_buffer(&mut self) {
        let factor = u64::from(self.congestion.buffered_windows());
        let segments = (self.window.cwnd as u64).max(u64::from(self.reordering) + 1);
        let options = if self.config.timestamps { 12 } else { 0 };
        let largest_mss = u64::from(self.window.mss + options);
        if let Some(buffer) = &mut self.buffer {
            buffer.expand(factor, segments, largest_mss);
        }
    }

    /// Memory of all that is written and not acknowledged (Linux `sk_wmem_queued`).
    #[inline]
    fn memory(&self, buffer: &SendBuffer) -> u64 {
        let pieces = buffer.pieces.len() as u64 + u64::from(self.board.pieces);
        (self.write_end - self.snd_una) + pieces * buffer.overhead()
    }

    /// Where the writer waits, and the window has room: the buffer grows. Where a third of it is free,
    /// the writer waits no longer (Linux `tcp_check_space`).
    #[inline]
    pub(super) fn check_space(&mut self, now: Time) {
        if !self.buffer.as_ref().is_some_and(|buffer| buffer.waits) {
            return;
        }
        if self.in_flight() < self.window.cwnd as u32 {
            self.expand_buffer();
            self.usage.stamp(now);
        }
        let Some(buffer) = &self.buffer else { return };
        let memory = self.memory(buffer);
        if memory < buffer.limit
            && buffer.limit - memory >= memory / 2
            && let Some(buffer) = &mut self.buffer
        {
            buffer.waits = false;
        }
    }

    /// The application writes until all is written or the memory is used up; what it fills leaves as the
    /// window allows (Linux `tcp_sendmsg_locked`).
    pub(super) fn write_out<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        while self.begin_call() {
            if !self.write_block(cx) {
                return;
            }
            let is_last = self.is_finishing() && self.backlog() == 0;
            // It closed before the handshake was complete: the FIN leaves with the data.
            self.fin_queued |= is_last && self.snd_nxt == 1;
            self.end_piece(!self.has_more || self.lacks_push(self.write_end));
            self.push_out(cx, false);
            if is_last && !self.fin_queued {
                self.fin_queued = true;
                self.push_out(cx, false);
            }
        }
    }

    /// A call of the application begins, or goes on. Returns whether there is one.
    fn begin_call(&mut self) -> bool {
        let is_limited = self.unsent() < u64::from(self.window.mss)
            && self.in_flight() < self.window.cwnd as u32
            && self.board.lost_out <= self.board.retrans_out;
        let in_flight = self.in_flight();
        let Some(buffer) = &mut self.buffer else {
            return false;
        };
        if buffer.call == 0 {
            buffer.call = buffer.backlog.min(BLOCK);
            buffer.has_copied = false;
            if buffer.call > 0 && is_limited {
                self.rate.on_app_limited(in_flight);
            }
        }
        buffer.call > 0
    }

    /// Writes what is left of a call. Returns false when the writer must wait.
    fn write_block<P: Probe>(&mut self, cx: &mut Step<'_, P>) -> bool {
        let size = self.piece();
        loop {
            let is_idle = self.board.is_empty();
            let record = self.record_ahead();
            let Some(buffer) = &self.buffer else {
                return true;
            };
            let begin = match buffer.pieces.len() {
                0 => self.write_end,
                1 => self.snd_nxt,
                more => buffer.pieces[more - 2].end,
            };
            let is_open = buffer.pieces.back().is_some() && record != 0;
            let mut room = size.saturating_sub(self.write_end - begin);
            if !is_open || room == 0 {
                let is_full = self.memory(buffer) >= buffer.limit;
                if is_full {
                    self.wait_for_room(cx);
                    return false;
                }
                if is_idle {
                    self.restart_after_idle(cx.now);
                }
                self.pushes_small = false;
                room = size;
            }
            let Some(buffer) = &mut self.buffer else {
                return true;
            };
            let is_new = !is_open || room == size;
            let copied = match record {
                0 | u64::MAX => room.min(buffer.call),
                record => room.min(buffer.call).min(record),
            };
            self.write_end += copied;
            buffer.call -= copied;
            buffer.backlog -= copied;
            if is_new {
                let piece = Piece {
                    end: self.write_end,
                    is_pushed: false,
                };
                buffer.pieces.push_back(piece);
            } else if let Some(tail) = buffer.pieces.back_mut() {
                tail.end = self.write_end;
                tail.is_pushed &= buffer.has_copied;
            }
            buffer.has_copied = true;
            if buffer.call == 0 {
                return true;
            }
            if copied < room {
                continue;
            }
            let is_head = buffer.pieces.len() == 1;
            if self.lacks_push(self.write_end) {
                self.end_piece(true);
                self.push_out(cx, false);
            } else if is_head {
                self.push_out(cx, true);
            }
        }
    }

    /// No memory is left: what was written is pushed, and the writer sleeps until an ACK frees a third.
    fn wait_for_room<P: Probe>(&mut self, cx: &mut Step<'_, P>) {
        let Some(buffer) = &mut self.buffer else {
            return;
        };
        buffer.waits = true;
        if buffer.has_copied {
            self.end_piece(true);
            self.push_out(cx, false);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.waits = true;
        }
    }

    /// What was written ends in a push, or not.
    fn end_piece(&mut self, pushes: bool) {
        if pushes
            && let Some(buffer) = &mut self.buffer
            && let Some(tail) = buffer.pieces.back_mut()
        {
            tail.is_pushed = true;
            self.pushed_end = self.write_end;
        }
    }

    /// Bytes up to the end of the record that is being written; 0 where one just ended, and
    /// `u64::MAX` where none is.
    fn record_ahead(&self) -> u64 {
        let ends = self.records.iter().find(|end| **end >= self.write_end);
        ends.map_or(u64::MAX, |end| end - self.write_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(header: u64) -> SendBuffer {
        SendBuffer::new(SendBufferConfig {
            initial: 16_384,
            maximum: 4 << 20,
            header,
        })
    }

    #[test]
    fn the_memory_of_a_window_hangs_on_the_room_for_headers() {
        // What a socket of Linux 6.12 says after the handshake (SO_SNDBUF): recorded with the first,
        // and read from a common distribution's kernel with the other.
        for (header, limit) in [(256, 46_080), (320, 87_040)] {
            let mut buffer = buffer(header);
            buffer.expand(2, 4, 1_460);
            assert_eq!(buffer.limit, limit);
        }
    }

    #[test]
    fn it_grows_with_the_window_and_never_shrinks() {
        let mut buffer = buffer(256);
        buffer.expand(3, 20, 1_460);
        assert_eq!(buffer.limit, 3 * 20 * 2_304);
        buffer.expand(2, 10, 1_460);
        assert_eq!(buffer.limit, 3 * 20 * 2_304);
        buffer.expand(2, 10_000, 1_460);
        assert_eq!(buffer.limit, 4 << 20);
    }

    #[test]
    fn a_short_head_grows_out_of_the_piece_behind_it_alone() {
        let mut buffer = buffer(256);
        let piece = |end| Piece {
            end,
            is_pushed: false,
        };
        buffer
            .pieces
            .extend([piece(1_001), piece(4_001), piece(9_001)]);
        buffer.grow_head(1, 3_000);
        assert_eq!((buffer.head(1), buffer.pieces.len()), ((3_000, false), 3));
        buffer.grow_head(1, 8_000);
        assert_eq!((buffer.head(1), buffer.pieces.len()), ((4_000, false), 2));
        buffer.leave(4_001);
        assert_eq!(buffer.head(4_001), (5_000, true));
    }
}
