//! Contents of the receive buffer, and how the application reads them.

use super::Receiver;
use super::packets::Held;
use crate::tcp::config::AckRule;
use fadeout_core::Time;

impl Receiver {
    /// Contents of the buffer.
    #[inline]
    pub(super) fn held(&self) -> Held {
        if self.window.counts_memory() {
            Held::Memory(self.packets.memory())
        } else {
            Held::Payload(self.reassembly.buffered() + self.packets.unread())
        }
    }

    /// The application takes `bytes` out of the buffer.
    #[inline]
    pub(super) fn take_out(&mut self, now: Time, bytes: u64) {
        let first = self.packets.read(bytes);
        self.window.on_read(now, bytes, first, self.mss);
    }

    /// The application reads what it did not get to before an ACK left.
    #[inline]
    pub(super) fn read_what_waits(&mut self) {
        if let Some(at) = self.reads_since.take() {
            self.advertised = None;
            self.take_out(at, self.packets.unread());
        }
    }

    /// Whether the window is so small with `held` in the buffer that reading it sends another ACK at
    /// once: one is enough.
    #[inline]
    pub(super) fn is_closing(&self, held: Held) -> bool {
        let next = self.reassembly.next();
        let behind = Held::Memory(self.packets.memory_behind_a_gap());
        self.window.may_double(next, held, behind, self.peer_mss)
    }

    /// The application stops or resumes reading. Returns whether a window update should leave.
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
        // RFC 9293 section 3.8.6.2.2: announce an opening worth a segment or half the buffer.
        after >= before + u64::from(self.mss).min(after / 2)
    }

    /// The application takes up to `bytes` out of the buffer while it is not reading by itself.
    /// Returns whether an ACK should leave: one that is due, or for a window that doubles.
    pub(in crate::tcp) fn read(&mut self, now: Time, bytes: u64) -> bool {
        self.advertised = None;
        let bytes = bytes.min(self.packets.unread());
        let before = self.window.offered(self.reassembly.next());
        self.take_out(now, bytes);
        let after = self.window.preview(self.held(), self.peer_mss);
        self.is_answered_read(bytes) || (bytes > 0 && after > 0 && after >= 2 * before)
    }
}
