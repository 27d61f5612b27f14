//! Contents of the receive buffer, and reads by the application.

use super::growth::Read;
use super::packets::Held;
use super::{Receiver, shared};
use crate::tcp::config::AckRule;
use fadeout_core::Time;

impl Receiver {
    /// Returns TS.Recent, the timestamp that the next ACK echoes.
    ///
    /// Standard: RFC 7323 §4.3.
    pub(in crate::tcp) fn ts_recent(&self) -> u32 {
        self.timestamps.recent()
    }

    /// Returns the amount of data in the buffer.
    #[inline]
    pub(super) fn held(&self) -> Held {
        if self.window.counts_memory() {
            Held::Memory(self.packets.memory())
        } else {
            Held::Payload(self.reassembly.buffered() + self.packets.unread())
        }
    }

    /// Removes `bytes` from the buffer for the application.
    #[inline]
    pub(super) fn take_out(&mut self, now: Time, bytes: u64) {
        let first = self.packets.read(bytes);
        let read = Read {
            bytes,
            first,
            beyond: self.reassembly.reach(),
        };
        self.window.on_read(now, read, self.mss);
    }

    /// Lets the application read data after the due ACK was sent. Returns true if another ACK must
    /// be sent.
    #[inline]
    pub(super) fn read_what_waits(&mut self) -> bool {
        let since = self.reads_since.take();
        since.is_some_and(|at| self.read(at, self.packets.unread()))
    }

    /// Returns true if the read after an ACK causes another ACK, and resets this flag.
    pub(in crate::tcp) fn take_update(&mut self) -> bool {
        std::mem::take(&mut self.owes_update)
    }

    /// Stops or resumes reading. Returns true if a window update should be sent.
    ///
    /// Standard: RFC 9293 §3.8.6.2.2.
    pub(in crate::tcp) fn set_reading(&mut self, now: Time, is_reading: bool) -> bool {
        self.read_what_waits();
        self.advertised = None;
        self.is_reading = is_reading;
        let unread = self.packets.unread();
        if !is_reading || unread == 0 {
            return false;
        }
        if self.policy.rule() == AckRule::Linux {
            return self.read(now, unread);
        }
        let before = self.window.offered(self.reassembly.next());
        self.take_out(now, unread);
        let after = self.window.preview(self.held(), self.peer_mss);
        // RFC 9293 section 3.8.6.2.2: a window update is sent if the window grows by a segment or
        // by half of the buffer.
        after >= before + u64::from(self.mss).min(after / 2)
    }

    /// Returns true if the application's read of `bytes` causes a due ACK to be sent. This is so if
    /// more than a segment is unacknowledged, or if a burst has ended and the buffer is empty
    /// (Linux `tcp_cleanup_rbuf`).
    pub(super) fn is_answered_read(&self, bytes: u64) -> bool {
        let is_drained = self.packets.unread() == 0
            && self.reassembly.buffered() == 0
            && self.of_connection.is_none_or(|info| info.drains);
        self.policy.rule() == AckRule::Linux
            && self.policy.is_pending()
            && !self.brings_nothing()
            && (self.is_more_than_a_segment_unacknowledged()
                || (bytes > 0 && is_drained && shared::ends_burst(self)))
    }

    /// Removes up to `bytes` from the buffer for the application. Returns true if an ACK should be
    /// sent, because it is due or because the window doubled (Linux `__tcp_cleanup_rbuf`).
    #[inline(always)]
    pub(in crate::tcp) fn read(&mut self, now: Time, bytes: u64) -> bool {
        self.advertised = None;
        let bytes = bytes.min(self.packets.unread());
        let before = self.window.offered(self.reassembly.next());
        self.take_out(now, bytes);
        let doubles = || {
            let goes_on = bytes > 0 && !self.has_received_fin();
            goes_on && self.window.doubles(before, self.held(), self.peer_mss)
        };
        self.is_answered_read(bytes) || doubles()
    }
}
