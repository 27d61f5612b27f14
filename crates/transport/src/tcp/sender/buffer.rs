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

/// Memory of `factor` windows of `segments`, each in a piece of its own whose memory is rounded up to a
/// power of two (Linux `tcp_sndbuf_expand`).
pub(crate) fn memory_of_windows(factor: u64, segments: u64, largest_mss: u64, header: u64) -> u64 {
    let segment = largest_mss + header + SHARED_PART;
    let segment = segment.next_power_of_two() + DESCRIPTOR;
    segments
        .max(LEAST_SEGMENTS)
        .saturating_mul(factor * segment)
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

    /// Room for what is `wanted`.
    fn expand(&mut self, wanted: u64) {
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

    /// Takes `copied` bytes of the call, up to `end`: into a new piece, or into the last one.
    fn take(&mut self, end: u64, copied: u64, is_new: bool) {
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

    /// Memory of the windows that the congestion control asks for, with `header` bytes for headers in a
    /// piece (Linux `tcp_sndbuf_expand`).
    pub(crate) fn wanted_buffer(&self, header: u64) -> u64 {
        let factor = u64::from(self.congestion.buffered_windows());
        let segments = (self.window.cwnd as u64).max(u64::from(self.reordering) + 1);
        let options = if self.config.timestamps { 12 } else { 0 };
        let largest_mss = u64::from(self.window.mss + options);
        memory_of_windows(factor, segments, largest_mss, header)
    }

    /// The buffer grows: when the handshake is complete, and where it is what limits. It never shrinks.
    pub(super) fn expand_buffer(&mut self) {
        if let Some(buffer) = &self.buffer {
            let wanted = self.wanted_buffer(buffer.config.header);
            self.writing().expand(wanted);
        }
    }

    /// Memory of all that is written and not acknowledged (Linux `sk_wmem_queued`).
    #[inline]
    fn memory(&self) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| {
            let pieces = buffer.pieces.len() as u64 + u64::from(self.board.pieces);
            (self.write_end - self.snd_una) + pieces * buffer.overhead()
        })
    }

    /// Whether the memory is used up.
    fn is_full(&self) -> bool {
        let memory = self.memory();
        self.buffer
            .as_ref()
            .is_some_and(|buffer| memory >= buffer.limit)
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
        let memory = self.memory();
        let buffer = self.writing();
        buffer.waits = memory >= buffer.limit || buffer.limit - memory < memory / 2;
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

    /// The buffer of a sender that writes.
    fn writing(&mut self) -> &mut SendBuffer {
        self.buffer.as_mut().expect("what is written has a buffer")
    }

    /// A call of the application begins, or goes on. Returns whether there is one.
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

    /// Writes what is left of a call. Returns false when the writer must wait.
    fn write_block<P: Probe>(&mut self, cx: &mut Step<'_, P>) -> bool {
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
                    // What left by the wait's push may have ended pieces.
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
            buffer.take(end, copied, is_new);
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
                self.push_out(cx, false);
            } else if is_head {
                self.push_out(cx, true);
            }
        }
    }

    /// No memory is left: what was written is pushed, and the writer sleeps until an ACK frees a third,
    /// unless the push let the buffer grow. Returns whether it sleeps (Linux
    /// `sk_stream_wait_memory`).
    fn wait_for_room<P: Probe>(&mut self, cx: &mut Step<'_, P>) -> bool {
        let buffer = self.writing();
        buffer.waits = true;
        if buffer.has_copied {
            self.end_piece(true);
            self.push_out(cx, false);
        }
        let sleeps = self.is_full();
        self.writing().waits = sleeps;
        sleeps
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
            assert_eq!(memory_of_windows(2, 4, 1_460, header), limit);
        }
    }

    #[test]
    fn it_grows_with_the_window_and_never_shrinks() {
        let mut buffer = buffer(256);
        let mut grown = |factor, segments| {
            buffer.expand(memory_of_windows(factor, segments, 1_460, 256));
            buffer.limit
        };
        assert_eq!(grown(3, 20), 3 * 20 * 2_304);
        assert_eq!(grown(2, 10), 3 * 20 * 2_304);
        assert_eq!(grown(2, 10_000), 4 << 20);
    }

    #[test]
    fn a_piece_takes_its_headers_and_what_describes_it() {
        assert_eq!((buffer(256).overhead(), buffer(320).overhead()), (832, 896));
    }

    #[test]
    fn what_left_on_the_syn_is_written_no_more_and_a_close_waits_for_the_rest() {
        let mut buffer = buffer(256);
        buffer.add(1_000);
        buffer.skip(400);
        assert_eq!(buffer.backlog(), 600);
        assert!(!buffer.close() && buffer.is_closing());
        buffer.skip(600);
        assert!(buffer.close());
    }

    #[test]
    fn a_head_that_is_long_enough_stays_and_one_that_is_swallowed_leaves_its_push() {
        let piece = |end, is_pushed| Piece { end, is_pushed };
        let mut long = buffer(256);
        long.pieces
            .extend([piece(3_500, false), piece(9_001, false)]);
        long.grow_head(2, 3_000);
        assert_eq!(long.head(2), (3_498, false));
        let mut short = buffer(256);
        short
            .pieces
            .extend([piece(1_001, false), piece(4_001, false)]);
        short.grow_head(2, 3_000);
        assert_eq!(short.head(2), (3_000, false));
        for (first, second, pushed) in [
            (true, false, true),
            (false, true, true),
            (false, false, false),
        ] {
            let mut both = buffer(256);
            both.pieces
                .extend([piece(1_001, first), piece(2_001, second)]);
            both.grow_head(1, 2_000);
            assert_eq!(both.pieces.len(), 1);
            assert_eq!(both.leave(2_001), pushed, "{first} {second}");
        }
    }

    use super::super::tests::{Bench, linux};

    /// A sender with a buffer of `limit`, of segments of 1000 bytes; half of the peer's window is 32 segments.
    fn bench(limit: u64) -> Bench {
        Bench::new(&crate::tcp::config::TcpConfig {
            send_buffer: Some(SendBufferConfig {
                initial: limit,
                maximum: 4 << 20,
                header: 256,
            }),
            tail_loss_probe: false,
            ..linux()
        })
    }

    fn pieces(b: &Bench) -> Vec<(u64, bool)> {
        let buffer = b.sender.buffer.as_ref().expect("it has one");
        let pieces = buffer.pieces.iter();
        pieces.map(|piece| (piece.end, piece.is_pushed)).collect()
    }

    fn limit(b: &Bench) -> u64 {
        b.sender.buffer.as_ref().expect("it has one").limit
    }

    #[test]
    fn memory_is_what_is_written_and_a_descriptor_for_each_piece() {
        // Ten of 60 segments have left, each on its own; a piece of 32 is left and one of 18.
        let mut b = bench(1 << 20);
        b.write(60);
        assert_eq!(pieces(&b), [(42_001, false), (60_001, true)]);
        assert_eq!(b.sender.memory(), 60_000 + 12 * 832);
        b.sender.window.cwnd = 1.0;
        b.wait(100);
        b.ack(4);
        assert_eq!(b.sender.memory(), 56_000 + 8 * 832);
    }

    #[test]
    fn a_call_fills_the_last_piece_before_it_begins_another() {
        let mut b = bench(1 << 20);
        b.write(60);
        b.sender.set_more(true);
        b.write(10);
        // The push at its end was of the call before.
        assert_eq!(pieces(&b), [(42_001, false), (70_001, false)]);
        b.sender.set_more(false);
        b.write(10);
        assert_eq!(
            pieces(&b),
            [(42_001, false), (74_001, false), (80_001, true)]
        );
    }

    #[test]
    fn a_record_ends_a_piece() {
        let mut b = bench(1 << 20);
        b.write(10);
        b.sender.end_record_after(1_500);
        b.write(4);
        assert_eq!(pieces(&b), [(11_501, false), (14_001, true)]);
    }

    #[test]
    fn the_way_to_the_end_of_a_record_is_what_is_left_of_it() {
        let mut b = Bench::new(&linux());
        assert_eq!(b.sender.record_ahead(), u64::MAX);
        b.sender.records.extend([501, 2_001]);
        for (write_end, ahead) in [(1, 500), (501, 0), (502, 1_499), (2_002, u64::MAX)] {
            b.sender.write_end = write_end;
            assert_eq!(b.sender.record_ahead(), ahead, "{write_end}");
        }
    }

    #[test]
    fn the_buffer_asks_for_windows_of_what_may_be_out_of_order_too() {
        let mut b = bench(1 << 20);
        let segment = |mss: u64| (mss + 576).next_power_of_two() + 256;
        for (cwnd, reordering, segments) in
            [(40.9, 3, 40), (12.0, 30, 31), (30.0, 30, 31), (4.0, 3, 10)]
        {
            b.sender.window.cwnd = cwnd;
            b.sender.reordering = reordering;
            assert_eq!(b.sender.wanted_buffer(256), 2 * segments * segment(1_012));
        }
        // The option for timestamps, 12 bytes, takes this one over a power of two.
        b.sender.window.mss = 1_465;
        assert_eq!(b.sender.wanted_buffer(256), 2 * 10 * (4_096 + 256));
        b.sender.config.timestamps = false;
        assert_eq!(b.sender.wanted_buffer(256), 2 * 10 * (2_048 + 256));
    }

    #[test]
    fn the_writer_goes_on_once_a_third_is_free() {
        // Linux `sk_stream_is_writeable`: what is free is half of what is used.
        let mut b = bench(1 << 20);
        b.write(10);
        let memory = b.sender.memory();
        assert_eq!(memory, 10_000 + 10 * 832);
        for (limit, waits) in [
            (memory - 1, true),
            (memory, true),
            (memory + memory / 2 - 1, true),
            (memory + memory / 2, false),
            (3 * memory, false),
        ] {
            let buffer = b.sender.writing();
            (buffer.limit, buffer.waits) = (limit, true);
            b.sender.check_space(b.now);
            assert_eq!(b.sender.writing().waits, waits, "{limit} of {memory}");
        }
    }

    #[test]
    fn the_buffer_grows_where_the_writer_waits_and_the_window_does_not() {
        for (cwnd, waits, grows) in [
            (10.0, true, false),
            (11.0, true, true),
            (11.0, false, false),
        ] {
            let mut b = bench(1 << 20);
            b.write(10);
            b.sender.window.cwnd = cwnd;
            let buffer = b.sender.writing();
            (buffer.limit, buffer.waits) = (1_000, waits);
            b.sender.check_space(b.now);
            assert_eq!(limit(&b) > 1_000, grows, "{cwnd} {waits}");
        }
    }

    #[test]
    fn a_close_sends_the_fin_behind_all_that_waits_in_the_buffer() {
        let mut b = bench(46_080);
        b.write(60);
        assert!(b.sender.backlog() > 0);
        b.sender.finish();
        let mut fins = Vec::new();
        for acked in 1..=60 {
            b.wait(1);
            b.ack(acked);
            let left = b.left().into_iter().map(|left| left.segment);
            fins.extend(left.filter(|segment| segment.flags.has(fadeout_core::Flags::FIN)));
        }
        let ends: Vec<u64> = fins
            .iter()
            .map(|fin| fin.seq + u64::from(fin.len))
            .collect();
        assert_eq!(ends, [60_001]);
        assert!(b.sender.has_sent_fin());
    }

    #[test]
    fn a_short_head_takes_a_burst_out_of_the_next_piece() {
        // Two segments are left of the first piece; half of the window of 30 leaves together.
        let mut b = bench(1 << 20);
        b.sender.config.tso_bursts = true;
        b.sender.config.minimum_burst = 65;
        b.sender.window.cwnd = 30.0;
        b.write(64);
        b.left();
        b.wait(100);
        b.ack(30);
        let left = b.left().into_iter().map(|left| left.segment);
        let pushed = left.filter(|segment| segment.flags.has(fadeout_core::Flags::PSH));
        let pushed: Vec<u64> = pushed.map(|segment| segment.seq / 1_000 + 1).collect();
        assert_eq!(pushed, [45, 60]);
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
