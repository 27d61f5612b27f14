//! Transmission buffer: SDUs of which no part was sent.

use super::Sdu;
use fadeout_core::{Bytes, Ring, Time};

/// Active queue management at the head of the transmission buffer.
///
/// The caller drops or marks arriving SDUs before they are pushed.
pub trait QueueManagement {
    /// True if the algorithm never acts and need not be called.
    const IS_PASSIVE: bool = false;

    /// Drops or marks SDUs at the head until one remains. Called once for each SDU that is sent,
    /// even if the SDU then waits for a larger grant. Also called if a grant finds no SDU.
    fn drop_or_mark_head(&mut self, now: Time, queue: &mut SduQueue<'_>);
}

/// Queue management that never drops at the head. Only a full buffer drops.
#[derive(Clone, Copy, Default, Debug)]
pub struct DropTail;

impl QueueManagement for DropTail {
    const IS_PASSIVE: bool = true;

    #[inline]
    fn drop_or_mark_head(&mut self, _now: Time, _queue: &mut SduQueue<'_>) {}
}

/// View of the unsent SDUs for queue management.
#[derive(Debug)]
pub struct SduQueue<'a> {
    buffer: &'a mut TxBuffer,
    dropped: &'a mut Vec<Sdu>,
}

impl SduQueue<'_> {
    /// Returns the SDU that is sent next. It has waited since `entered_at`. `None` if the buffer is
    /// empty.
    #[inline]
    pub fn head(&self) -> Option<&Sdu> {
        self.buffer.head()
    }
    /// Returns the bytes in the buffer, including the head.
    #[inline]
    pub fn bytes(&self) -> Bytes {
        Bytes(self.buffer.bytes)
    }
    /// Drops the head.
    pub fn drop_head(&mut self) {
        self.dropped.extend(self.buffer.drop_head());
    }
}

/// First-in, first-out buffer with a limit in bytes.
#[derive(Clone, Debug)]
pub(super) struct TxBuffer {
    sdus: Ring<Sdu>,
    bytes: u64,
    limit: u64,
    closes_gaps: bool,
    /// Number of COUNTs freed by drops. Later SDUs move down by this number.
    gaps: u32,
    /// Number below which queue management has decided on every SDU.
    settled_to: u64,
}

impl TxBuffer {
    pub(super) fn new(limit: Bytes, closes_gaps: bool) -> TxBuffer {
        TxBuffer {
            sdus: Ring::new(),
            bytes: 0,
            limit: limit.0,
            closes_gaps,
            gaps: 0,
            settled_to: 0,
        }
    }
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.sdus.len() as u64
    }
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.sdus.is_empty()
    }
    #[inline]
    pub(super) fn head(&self) -> Option<&Sdu> {
        self.sdus.front()
    }
    #[inline]
    pub(super) fn has_room(&self, size: u32) -> bool {
        self.bytes + u64::from(size) <= self.limit
    }
    #[inline]
    pub(super) fn push(&mut self, sdu: Sdu) -> Result<(), Sdu> {
        if !self.has_room(sdu.size) {
            return Err(sdu);
        }
        debug_assert!(sdu.size > 0, "an SDU of no bytes waits");
        self.bytes += u64::from(sdu.size);
        self.sdus.push(sdu);
        debug_assert!(
            self.bytes <= self.limit,
            "{} bytes wait in a buffer of {}",
            self.bytes,
            self.limit
        );
        Ok(())
    }
    /// Appends an SDU that was in the buffer before, without checking the limit.
    pub(super) fn push_again(&mut self, sdu: Sdu) {
        self.bytes += u64::from(sdu.size);
        self.sdus.push(sdu);
    }
    /// Removes the head in order to send it.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Sdu> {
        let mut sdu = self.sdus.pop()?;
        self.bytes -= u64::from(sdu.size);
        debug_assert!(
            !self.sdus.is_empty() || self.bytes == 0,
            "{} bytes wait in no SDU",
            self.bytes
        );
        sdu.count = sdu.count.wrapping_sub(self.gaps);
        Some(sdu)
    }
    /// Removes the head because it is dropped.
    pub(super) fn drop_head(&mut self) -> Option<Sdu> {
        let sdu = self.pop()?;
        self.gaps += u32::from(self.closes_gaps);
        debug_assert!(
            self.settled_to <= self.sdus.end() + 1,
            "the queue management has looked at SDUs to come"
        );
        Some(sdu)
    }
    /// Drops SDUs at the head as `aqm` decides, and returns the first one that remains.
    #[inline]
    pub(super) fn next<Q: QueueManagement>(
        &mut self,
        now: Time,
        aqm: &mut Q,
        dropped: &mut Vec<Sdu>,
    ) -> Option<Sdu> {
        if !Q::IS_PASSIVE && self.settled_to <= self.sdus.first() {
            let buffer = &mut *self;
            aqm.drop_or_mark_head(now, &mut SduQueue { buffer, dropped });
            self.settled_to = self.sdus.first() + u64::from(!self.sdus.is_empty());
        }
        self.sdus.front().copied()
    }
    /// Freezes COUNTs, so that drops no longer change them. Returns the number of COUNTs freed by
    /// drops so far.
    pub(super) fn settle_counts(&mut self) -> u32 {
        for number in self.sdus.first()..self.sdus.end() {
            let count = &mut self.sdus[number].count;
            *count = count.wrapping_sub(self.gaps);
        }
        self.closes_gaps = false;
        std::mem::take(&mut self.gaps)
    }
    /// Empties the buffer into `out`. Returns the number of COUNTs freed by drops, and resets it.
    pub(super) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        while let Some(sdu) = self.pop() {
            out.push(sdu);
        }
        std::mem::take(&mut self.gaps)
    }
}
