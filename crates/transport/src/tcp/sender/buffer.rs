//! Writes into the send buffer of the socket, and the waits of the writer (Linux 6.12
//! `tcp_sendmsg_locked`).

use super::transmit::Push;
use super::{Sender, SenderContext};
use crate::congestion::CongestionControl;
use crate::tcp::socket::linux::LinuxSocket;
use crate::tcp::socket::memory::memory_of_windows;
use fadeout_core::{Probe, Time};

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
        self.socket.backlog()
    }

    /// Queues the FIN, because the application writes no more. If `may_send` is false and data
    /// waits, the FIN is queued once the data was pushed.
    pub(in crate::tcp) fn finish(&mut self, may_send: bool) {
        let is_written = self.socket.close();
        self.closes_after_push =
            is_written && !may_send && !self.config.host.fin_with_data && self.unsent() > 0;
        self.fin_queued = is_written && !self.closes_after_push;
    }

    /// Returns true if the application will write no more.
    pub(in crate::tcp) fn is_finishing(&self) -> bool {
        self.fin_queued || self.closes_after_push || self.socket.is_closing()
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
        if let Some(header) = self.socket.header_memory() {
            let wanted = self.wanted_buffer(header);
            self.writing().expand(wanted);
        }
    }

    /// Returns the memory of all written and unacknowledged data.
    #[inline]
    fn memory(&self) -> u64 {
        let bytes = self.write_end - self.snd_una;
        self.socket.memory(bytes, self.board.pieces)
    }

    /// Returns true if the memory reaches the limit.
    fn is_full(&self) -> bool {
        self.socket.is_full(self.memory())
    }

    /// Grows the buffer if the writer waits while the window has free space. Lets the writer
    /// continue once a third of the buffer is free (Linux `tcp_check_space`).
    #[inline]
    pub(super) fn check_space(&mut self, now: Time) {
        if !self.socket.makes_wait() {
            return;
        }
        if self.has_room() {
            // Linux restarts the measurement of window use when the buffer grows (`tcp_new_space`).
            self.expand_buffer();
            self.usage.stamp(now);
        }
        let memory = self.memory();
        self.writing().wake_writer(memory);
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
            let lacks_push = self.bursts.lacks_push(self.write_end, &self.stream());
            self.end_piece(!self.has_more || lacks_push);
            self.push_out(cx, Push::Pending);
            if is_last && !self.fin_queued {
                self.fin_queued = true;
                self.push_out(cx, Push::Pending);
            }
        }
    }

    /// Returns the buffer of a sender that writes. Must not be called without a buffer.
    fn writing(&mut self) -> &mut LinuxSocket {
        self.socket.writer().expect("what is written has a buffer")
    }

    /// Begins or continues a write of the application. Returns false if there is no data to write.
    fn begin_call(&mut self) -> bool {
        if self.writing().begin_call() {
            self.note_app_limit();
        }
        self.writing().is_in_call()
    }

    /// Writes the remaining data of the current write. Returns false if the writer must wait.
    fn write_block<P: Probe>(&mut self, cx: &mut SenderContext<'_, P>) -> bool {
        let size = self.piece();
        loop {
            let is_idle = self.board.is_empty();
            let (stream, record) = (self.stream(), self.record_ahead());
            let mut room = self.writing().open_room(&stream, record);
            if room == 0 {
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
            let copied = (self.writing()).copy(&stream, room, record, room == size);
            self.write_end += copied.bytes;
            if copied.ends_call {
                return true;
            }
            if copied.bytes < room {
                continue;
            }
            if self.bursts.lacks_push(self.write_end, &stream) {
                self.end_piece(true);
                self.push_out(cx, Push::Forced);
            } else if copied.is_in_head {
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
        if buffer.has_copied() {
            self.end_piece(true);
            self.push_out(cx, Push::Forced);
        }
        let sleeps = self.is_full();
        self.writing().waits = sleeps;
        sleeps
    }

    /// Marks the end of a write, with PSH or without.
    fn end_piece(&mut self, pushes: bool) {
        if pushes && self.writing().push_last() {
            self.bursts.pushed_end = self.write_end;
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
