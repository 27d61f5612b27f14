//! Send buffer. It decides how much written data the socket accepts, how this data is divided into
//! sk_buffs, and when the writer waits.
//!
//! The memory of each sk_buff counts, sent or not, until its data is acknowledged. The writer fills
//! sk_buffs until the memory is used up, and waits until a third of it is free. The memory grows
//! with the window, but only while the writer waits and the window has room.
//!
//! Source: Linux 6.12 `tcp_sendmsg_locked`, `tcp_sndbuf_expand`, `sk_stream_write_space`.

use super::transmit::Push;
use super::{Sender, SenderContext};
use crate::congestion::CongestionControl;
use crate::tcp::config::SendBufferConfig;
use fadeout_core::{Probe, Time};
use std::collections::VecDeque;

/// Memory of an sk_buff's descriptor and of its shared data (`SKB_TRUESIZE(0)` on 64 bits), bytes.
const DESCRIPTOR: u64 = 256;
const SHARED_PART: u64 = 320;
/// Smallest number of segments that fit into a buffer (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u64 = 10;
/// Bytes of one `write()` call.
pub(crate) const BLOCK: u64 = 128 << 10;

/// sk_buff that has not been sent completely.
#[derive(Debug, Clone, Copy)]
struct Piece {
    end: u64,
    is_pushed: bool,
}

/// Returns the memory of an sk_buff in addition to its payload, with `head` bytes for headers.
pub(crate) fn memory_overhead(head: u64) -> u64 {
    head + DESCRIPTOR + SHARED_PART
}

/// Returns the memory of `factor` windows of `segments`. Each segment has its own sk_buff, with
/// memory rounded up to a power of two (Linux `tcp_sndbuf_expand`).
pub(crate) fn memory_of_windows(factor: u64, segments: u64, largest_mss: u64, header: u64) -> u64 {
    let segment = largest_mss + header + SHARED_PART;
    let segment = segment.next_power_of_two() + DESCRIPTOR;
    segments
        .max(LEAST_SEGMENTS)
        .saturating_mul(factor * segment)
}

/// Returns true if the writer waits for free space in the buffer of `sender`.
pub(super) fn makes_wait(sender: &Sender) -> bool {
    sender.buffer.as_ref().is_some_and(|buffer| buffer.waits)
}

/// Buffer of one connection, and the writer that fills it.
#[derive(Debug, Clone)]
pub(super) struct SendBuffer {
    config: SendBufferConfig,
    /// Limit of the buffer's memory (`sk_sndbuf`).
    limit: u64,
    /// Unsent sk_buffs, oldest first.
    pieces: VecDeque<Piece>,
    /// Number of bytes that the application has not written yet.
    backlog: u64,
    /// Number of bytes left in the current write.
    call: u64,
    /// True if the current write has copied data.
    has_copied: bool,
    /// True if the writer waits for free space (`SOCK_NOSPACE`).
    waits: bool,
    /// True if the application closes once all data is written.
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

    /// Returns the memory of an sk_buff in addition to its payload.
    fn overhead(&self) -> u64 {
        memory_overhead(self.config.head)
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(
            self.call <= self.backlog,
            "a call writes more than the application gave"
        );
        debug_assert!(self.call <= BLOCK, "a call of {} bytes", self.call);
        debug_assert!(
            self.limit <= self.config.maximum.max(self.config.initial),
            "the buffer grew beyond its maximum"
        );
        let ends = (self.pieces.front(), self.pieces.back());
        debug_assert!(
            ends.0.map(|first| first.end) <= ends.1.map(|last| last.end),
            "the pieces are not in order"
        );
    }

    /// Raises the limit to `wanted` bytes, at most to the configured maximum.
    fn expand(&mut self, wanted: u64) {
        self.limit = self.limit.max(wanted.min(self.config.maximum));
    }

    /// Returns true if the application has data to write and does not wait.
    #[inline]
    pub(super) fn is_writing(&self) -> bool {
        self.backlog > 0 && !self.waits
    }
    /// Returns the number of bytes that the application has yet to write.
    #[inline]
    pub(super) fn backlog(&self) -> u64 {
        self.backlog
    }
    pub(super) fn add(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_add(bytes);
    }
    /// Removes `bytes` that the SYN carried and that never were in the buffer.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_sub(bytes);
    }
    /// Closes the writer. Returns true if all data is written.
    pub(super) fn close(&mut self) -> bool {
        self.closes = true;
        self.backlog == 0
    }
    pub(super) fn is_closing(&self) -> bool {
        self.closes
    }

    /// Returns the number of unsent bytes in the first sk_buff, whose next byte is `next`. The flag
    /// is true if this is the last sk_buff.
    #[inline]
    pub(super) fn head(&self, next: u64) -> (u64, bool) {
        let len = self
            .pieces
            .front()
            .map_or(0, |head| head.end.saturating_sub(next));
        (len, self.pieces.len() <= 1)
    }

    /// Extends the first sk_buff up to `bytes`, with data of the sk_buff after it (Linux
    /// `tcp_grow_skb`).
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

    /// Moves `copied` bytes of the write, up to `end`, into an sk_buff. `is_new` is true for a new
    /// sk_buff, and false for the last one.
    fn move_bytes(&mut self, end: u64, copied: u64, is_new: bool) {
        self.call -= copied;
        self.backlog -= copied;
        if is_new {
            self.pieces.push_back(Piece {
                end,
                is_pushed: false,
            });
        } else if let Some(tail) = self.pieces.back_mut() {
            tail.end = end;
            tail.is_pushed &= self.has_copied;
        }
        self.has_copied = true;
    }

    /// Removes the data sent before `next`. Returns true if a pushed sk_buff ended at `next`.
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
    /// Returns the number of unsent bytes in the socket.
    pub(in crate::tcp) fn unsent(&self) -> u64 {
        self.write_end.saturating_sub(self.snd_nxt)
    }

    /// Returns the number of unsent bytes that the application has written, including bytes that
    /// the socket has not accepted.
    pub(in crate::tcp) fn awaited(&self) -> u64 {
        self.unsent() + self.backlog()
    }

    /// Returns the number of bytes that the socket has not accepted.
    #[inline]
    pub(in crate::tcp) fn backlog(&self) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| buffer.backlog())
    }

    /// Queues the FIN, because the application writes no more. If `may_send` is false and data
    /// waits, the FIN is queued once the data was pushed.
    pub(in crate::tcp) fn finish(&mut self, may_send: bool) {
        let is_written = self.buffer.as_mut().is_none_or(SendBuffer::close);
        self.closes_after_push =
            is_written && !may_send && !self.config.host.fin_with_data && self.unsent() > 0;
        self.fin_queued = is_written && !self.closes_after_push;
    }

    /// Returns true if the application will write no more.
    pub(in crate::tcp) fn is_finishing(&self) -> bool {
        self.fin_queued
            || self.closes_after_push
            || self.buffer.as_ref().is_some_and(SendBuffer::is_closing)
    }

    /// Returns the target size of the buffer: the memory of as many windows as the congestion
    /// control requires. Each sk_buff counts `header` bytes for headers (Linux
    /// `tcp_sndbuf_expand`).
    pub(crate) fn wanted_buffer(&self, header: u64) -> u64 {
        let factor = u64::from(self.congestion.buffered_windows());
        let segments = (self.window.cwnd as u64).max(u64::from(self.reordering) + 1);
        let options = if self.config.timestamps { 12 } else { 0 };
        let largest_mss = u64::from(self.window.mss + options);
        memory_of_windows(factor, segments, largest_mss, header)
    }

    /// Grows the buffer when the handshake is complete, and when the buffer limits the sender. The
    /// buffer never shrinks.
    pub(super) fn expand_buffer(&mut self) {
        if let Some(buffer) = &self.buffer {
            let wanted = self.wanted_buffer(buffer.config.header);
            self.writing().expand(wanted);
        }
    }

    /// Returns the memory of all written and unacknowledged data (Linux `sk_wmem_queued`).
    #[inline]
    fn memory(&self) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| {
            let pieces = buffer.pieces.len() as u64 + u64::from(self.board.pieces);
            (self.write_end - self.snd_una) + pieces * buffer.overhead()
        })
    }

    /// Returns true if the memory reaches the limit.
    fn is_full(&self) -> bool {
        let memory = self.memory();
        self.buffer
            .as_ref()
            .is_some_and(|buffer| memory >= buffer.limit)
    }

    /// Grows the buffer if the writer waits while the window has free space. Lets the writer
    /// continue once a third of the buffer is free (Linux `tcp_check_space`).
    #[inline]
    pub(super) fn check_space(&mut self, now: Time) {
        if !makes_wait(self) {
            return;
        }
        if self.has_room() {
            // Linux restarts the measurement of window use when the buffer grows (`tcp_new_space`).
            self.expand_buffer();
            self.usage.stamp(now);
        }
        let memory = self.memory();
        let buffer = self.writing();
        buffer.waits = memory >= buffer.limit || buffer.limit - memory < memory / 2;
    }

    /// Writes until all data is written or the memory is used up. Full sk_buffs are sent as the
    /// window allows (Linux `tcp_sendmsg_locked`).
    pub(super) fn write_out<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) {
        while self.begin_call() {
            if !self.write_block(cx) {
                return;
            }
            let is_last = self.is_finishing() && self.backlog() == 0;
            let is_first = self.snd_nxt == 1;
            self.fin_queued |= is_last && is_first && self.config.host.fin_with_data;
            self.end_piece(!self.has_more || self.lacks_push(self.write_end));
            self.push_out(cx, Push::Pending);
            if is_last && !self.fin_queued {
                self.fin_queued = true;
                self.push_out(cx, Push::Pending);
            }
        }
    }

    /// Returns the buffer of a sender that writes. Must not be called without a buffer.
    fn writing(&mut self) -> &mut SendBuffer {
        self.buffer.as_mut().expect("what is written has a buffer")
    }

    /// Begins or continues a write of the application. Returns false if there is no data to write.
    fn begin_call(&mut self) -> bool {
        let buffer = self.writing();
        if buffer.call == 0 {
            buffer.call = buffer.backlog.min(BLOCK);
            buffer.has_copied = false;
            if buffer.call > 0 {
                self.note_app_limit();
            }
        }
        self.writing().call > 0
    }

    /// Writes the remaining data of the current write. Returns false if the writer must wait.
    fn write_block<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let size = self.piece();
        loop {
            let is_idle = self.board.is_empty();
            let record = self.record_ahead();
            let (write_end, snd_nxt) = (self.write_end, self.snd_nxt);
            let buffer = self.writing();
            let begin = match buffer.pieces.len() {
                0 => write_end,
                1 => snd_nxt,
                more => buffer.pieces[more - 2].end,
            };
            let is_open = buffer.pieces.back().is_some() && record != 0;
            let mut room = size.saturating_sub(write_end - begin);
            if !is_open || room == 0 {
                if self.is_full() {
                    if self.wait_for_room(cx) {
                        return false;
                    }
                    // The push before the wait may have sent or completed sk_buffs, so the last
                    // sk_buff is checked again.
                    continue;
                }
                if is_idle {
                    self.restart_after_idle(cx.now);
                }
                self.pushes_small = false;
                room = size;
            }
            let is_new = !is_open || room == size;
            let buffer = self.writing();
            let copied = match record {
                0 | u64::MAX => room.min(buffer.call),
                record => room.min(buffer.call).min(record),
            };
            let end = write_end + copied;
            buffer.move_bytes(end, copied, is_new);
            let (is_over, is_head) = (buffer.call == 0, buffer.pieces.len() == 1);
            self.write_end = end;
            if is_over {
                return true;
            }
            if copied < room {
                continue;
            }
            if self.lacks_push(end) {
                self.end_piece(true);
                self.push_out(cx, Push::Forced);
            } else if is_head {
                self.push_out(cx, Push::One);
            }
        }
    }

    /// Pushes written data because the memory is used up. The writer then waits until an ACK frees
    /// a third of the memory. If the push makes the buffer grow, the writer does not wait. Returns
    /// true if the writer waits (Linux `sk_stream_wait_memory`).
    fn wait_for_room<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let buffer = self.writing();
        buffer.waits = true;
        if buffer.has_copied {
            self.end_piece(true);
            self.push_out(cx, Push::Forced);
        }
        let sleeps = self.is_full();
        self.writing().waits = sleeps;
        sleeps
    }

    /// Marks the end of a write, with PSH or without.
    fn end_piece(&mut self, pushes: bool) {
        if pushes
            && let Some(buffer) = &mut self.buffer
            && let Some(tail) = buffer.pieces.back_mut()
        {
            tail.is_pushed = true;
            self.pushed_end = self.write_end;
        }
    }

    /// Returns the number of bytes up to the end of the record that is being written. Returns 0
    /// right after a record, and `u64::MAX` without a record.
    fn record_ahead(&self) -> u64 {
        let ends = self.records.iter().find(|end| **end >= self.write_end);
        ends.map_or(u64::MAX, |end| end - self.write_end)
    }
}

#[cfg(test)]
mod tests;
