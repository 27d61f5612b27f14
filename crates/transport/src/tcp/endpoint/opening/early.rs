//! Data on the SYN.
//!
//! Standard: RFC 7413 §2.

/// State of the data on the SYN.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Early {
    is_on: bool,
    /// Bytes that fit into the SYN. The next field is the number of bytes that it carried.
    room: u32,
    sent: u32,
    is_taken: bool,
}

impl Early {
    pub(super) fn turn_on(&mut self, room: u32) {
        self.is_on = true;
        self.room = room;
    }

    pub(super) fn turn_off(&mut self) {
        self.is_on = false;
    }

    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Returns the number of the `unsent` bytes that leave on the SYN.
    pub(super) fn leave(&mut self, unsent: u64) -> u32 {
        let len = u64::from(self.room).min(unsent) as u32;
        self.sent = self.sent.max(len);
        len
    }

    /// Returns the first sequence number after the data on the SYN.
    #[inline]
    pub(super) fn end(&self) -> u64 {
        1 + u64::from(self.sent)
    }

    /// Processes the peer's acknowledgment up to `ack` of the SYN's data. Returns the end of that
    /// data, and true if `ack` covers all of it.
    pub(super) fn on_answer(&mut self, ack: u64) -> (u64, bool) {
        let end = self.end();
        let is_complete = ack == end;
        self.is_taken = end > 1 && is_complete;
        (end, is_complete)
    }

    /// The peer's data was taken.
    pub(super) fn take(&mut self) {
        self.is_taken = true;
    }

    /// The data was taken: the peer's by this end, or this end's by the peer.
    pub(super) fn is_taken(&self) -> bool {
        self.is_taken
    }
}
