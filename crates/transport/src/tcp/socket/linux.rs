//! Linux's socket with its send buffer. The buffer decides how much written data the socket
//! accepts, how this data is divided into sk_buffs, and when the writer waits.
//!
//! The memory of each sk_buff counts, sent or not, until its data is acknowledged. The writer fills
//! sk_buffs until the memory is used up, and waits until a third of it is free. The memory grows
//! with the window, but only while the writer waits and the window has room.
//!
//! Source: Linux 6.12 `tcp_sendmsg_locked`, `tcp_sndbuf_expand`, `sk_stream_write_space`.

use super::memory::{BLOCK, memory_overhead};
use super::stream::{Head, Stream};
use crate::tcp::config::SendBufferConfig;
use std::collections::VecDeque;

/// sk_buff that has not been sent completely.
#[derive(Debug, Clone, Copy)]
pub(in crate::tcp) struct Piece {
    pub(in crate::tcp) end: u64,
    pub(in crate::tcp) is_pushed: bool,
}

/// Result of a copy of written data into the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) struct Copied {
    /// Number of copied bytes.
    pub(in crate::tcp) bytes: u64,
    /// True if the write is complete.
    pub(in crate::tcp) ends_call: bool,
    /// True if the data went into the first sk_buff.
    pub(in crate::tcp) is_in_head: bool,
}

/// Buffer of one connection, and the writer that fills it.
#[derive(Debug, Clone)]
pub(in crate::tcp) struct LinuxSocket {
    config: SendBufferConfig,
    /// Limit of the buffer's memory (`sk_sndbuf`).
    pub(in crate::tcp) limit: u64,
    /// Unsent sk_buffs, oldest first.
    pub(in crate::tcp) pieces: VecDeque<Piece>,
    /// Number of bytes that the application has not written yet.
    backlog: u64,
    /// Number of bytes left in the current write.
    call: u64,
    /// True if the current write has copied data.
    has_copied: bool,
    /// True if the writer waits for free space (`SOCK_NOSPACE`).
    pub(in crate::tcp) waits: bool,
    /// True if the application closes once all data is written.
    closes: bool,
}

impl LinuxSocket {
    pub(in crate::tcp) fn new(config: SendBufferConfig) -> LinuxSocket {
        LinuxSocket {
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
    pub(in crate::tcp) fn overhead(&self) -> u64 {
        memory_overhead(self.config.head)
    }

    /// Returns the bytes that each sk_buff counts for headers when the buffer grows.
    pub(super) fn header(&self) -> u64 {
        self.config.header
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
    pub(in crate::tcp) fn expand(&mut self, wanted: u64) {
        self.limit = self.limit.max(wanted.min(self.config.maximum));
    }

    /// Returns true if the application has data to write and does not wait.
    #[inline]
    pub(super) fn is_writing(&self) -> bool {
        self.backlog > 0 && !self.waits
    }
    /// Returns the number of bytes that the application has yet to write.
    #[inline]
    pub(in crate::tcp) fn backlog(&self) -> u64 {
        self.backlog
    }
    pub(in crate::tcp) fn add(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_add(bytes);
    }
    /// Removes `bytes` that the SYN carried and that never were in the buffer.
    pub(in crate::tcp) fn skip(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_sub(bytes);
    }
    /// Closes the writer. Returns true if all data is written.
    pub(in crate::tcp) fn close(&mut self) -> bool {
        self.closes = true;
        self.backlog == 0
    }
    pub(in crate::tcp) fn is_closing(&self) -> bool {
        self.closes
    }

    /// Returns the memory of `bytes` of unacknowledged data, which contain `sent` sent sk_buffs
    /// (Linux `sk_wmem_queued`).
    #[inline]
    pub(super) fn memory(&self, bytes: u64, sent: u32) -> u64 {
        let pieces = self.pieces.len() as u64 + u64::from(sent);
        bytes + pieces * self.overhead()
    }

    /// Lets the writer continue once a third of the buffer is free. `memory` is the used memory
    /// (Linux `tcp_check_space`).
    pub(in crate::tcp) fn wake_writer(&mut self, memory: u64) {
        self.waits = memory >= self.limit || self.limit - memory < memory / 2;
    }

    /// Begins another write if the last one is complete and more data waits. Returns true if a
    /// write begins.
    pub(in crate::tcp) fn begin_call(&mut self) -> bool {
        if self.call > 0 {
            return false;
        }
        self.call = self.backlog.min(BLOCK);
        self.has_copied = false;
        self.call > 0
    }

    /// Returns true if a write is not complete.
    pub(in crate::tcp) fn is_in_call(&self) -> bool {
        self.call > 0
    }

    /// Returns true if the current write has copied data.
    pub(in crate::tcp) fn has_copied(&self) -> bool {
        self.has_copied
    }

    /// Returns the number of bytes that the last sk_buff still takes. Zero if a new one must begin.
    /// `record` is the number of bytes to the end of the record that is being written. Zero right
    /// after a record.
    pub(in crate::tcp) fn open_room(&self, stream: &Stream, record: u64) -> u64 {
        let begin = match self.pieces.len() {
            0 => return 0,
            1 => stream.next,
            more => self.pieces[more - 2].end,
        };
        if record == 0 {
            return 0;
        }
        stream.piece().saturating_sub(stream.end - begin)
    }

    /// Copies data of the write into an sk_buff that takes `room` bytes. `is_new` is true for a new
    /// sk_buff, and false for the last one. `stream` is the stream before the copy, and `record` as
    /// for [`LinuxSocket::open_room`].
    pub(in crate::tcp) fn copy(
        &mut self,
        stream: &Stream,
        room: u64,
        record: u64,
        is_new: bool,
    ) -> Copied {
        let copied = match record {
            0 | u64::MAX => room.min(self.call),
            record => room.min(self.call).min(record),
        };
        self.move_bytes(stream.end + copied, copied, is_new);
        Copied {
            bytes: copied,
            ends_call: self.call == 0,
            is_in_head: self.pieces.len() == 1,
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

    /// Lets the last sk_buff end with a push. Returns false if there is no sk_buff.
    pub(in crate::tcp) fn push_last(&mut self) -> bool {
        let last = self.pieces.back_mut();
        last.map(|last| last.is_pushed = true).is_some()
    }

    /// Returns the unsent part of the first sk_buff, whose next byte is `next`.
    #[inline]
    pub(in crate::tcp) fn head(&self, next: u64) -> Head {
        let first = self.pieces.front();
        Head {
            bytes: first.map_or(0, |head| head.end.saturating_sub(next)),
            is_last: self.pieces.len() <= 1,
        }
    }

    /// Extends the first sk_buff up to `bytes`, with data of the sk_buff after it (Linux
    /// `tcp_grow_skb`).
    #[inline]
    pub(in crate::tcp) fn grow_head(&mut self, next: u64, bytes: u64) {
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

    /// Removes the data sent before `next`. Returns true if a pushed sk_buff ended at `next`.
    #[inline]
    pub(in crate::tcp) fn leave(&mut self, next: u64) -> bool {
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

#[cfg(test)]
mod tests;
