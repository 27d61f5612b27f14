//! Data on the SYN (Fast Open).
//!
//! Standard: RFC 7413 §2.

/// State of the data on the SYN.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Early {
    is_on: bool,
    /// Number of bytes that fit into the SYN.
    room: u32,
    /// Number of bytes that the SYN carried.
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

    /// Returns how many of the `unsent` bytes the SYN carries.
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

    /// Records that the data on the peer's SYN was accepted.
    pub(super) fn record_accepted(&mut self) {
        self.is_taken = true;
    }

    /// Returns true if data on a SYN was accepted: the peer's data by this end, or this end's data
    /// by the peer.
    pub(super) fn is_taken(&self) -> bool {
        self.is_taken
    }
}
