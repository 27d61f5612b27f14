//! The transmission buffer: SDUs of which nothing was sent yet.

use super::Sdu;
use fadeout_core::{Bytes, Ring, Time};

/// Active queue management at the head of the transmission buffer.
///
/// Asked about each SDU as it is about to be sent. An arrival is the caller's to refuse before
/// it is pushed.
pub trait HeadDrop {
    /// Whether to drop `head` instead of sending it. `waiting` are the bytes in the buffer, the
    /// head's included; `head.entered_at` says since when it waits.
    fn should_drop(&mut self, now: Time, head: &Sdu, waiting: Bytes) -> bool;
}

/// Drops nothing at the head: a full buffer is the only reason to drop.
#[derive(Clone, Copy, Default, Debug)]
pub struct DropTail;

impl HeadDrop for DropTail {
    #[inline]
    fn should_drop(&mut self, _now: Time, _head: &Sdu, _waiting: Bytes) -> bool {
        false
    }
}

/// First in, first out, with a limit in bytes.
#[derive(Clone, Debug)]
pub(super) struct TxBuffer {
    sdus: Ring<Sdu>,
    bytes: u64,
    limit: u64,
    closes_gaps: bool,
    /// COUNTs freed by drops, which the SDUs behind move down by.
    gaps: u32,
}

impl TxBuffer {
    pub(super) fn new(limit: Bytes, closes_gaps: bool) -> TxBuffer {
        TxBuffer {
            sdus: Ring::new(),
            bytes: 0,
            limit: limit.0,
            closes_gaps,
            gaps: 0,
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
        self.bytes += u64::from(sdu.size);
        self.sdus.push(sdu);
        Ok(())
    }
    /// Takes the head to send it.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Sdu> {
        let mut sdu = self.sdus.pop()?;
        self.bytes -= u64::from(sdu.size);
        sdu.count = sdu.count.wrapping_sub(self.gaps);
        Some(sdu)
    }
    /// Takes the head to drop it.
    pub(super) fn drop_head(&mut self) -> Option<Sdu> {
        let sdu = self.pop()?;
        self.gaps += u32::from(self.closes_gaps);
        Some(sdu)
    }
    /// Drops heads as `aqm` wants and shows the first that stays.
    #[inline]
    pub(super) fn next(
        &mut self,
        now: Time,
        aqm: &mut impl HeadDrop,
        dropped: &mut Vec<Sdu>,
    ) -> Option<Sdu> {
        loop {
            let head = *self.sdus.front()?;
            if !aqm.should_drop(now, &head, Bytes(self.bytes)) {
                return Some(head);
            }
            dropped.extend(self.drop_head());
        }
    }
    /// Empties the buffer into `out`; returns the COUNTs that drops freed and starts afresh.
    pub(super) fn flush(&mut self, out: &mut Vec<Sdu>) -> u32 {
        while let Some(sdu) = self.pop() {
            out.push(sdu);
        }
        std::mem::take(&mut self.gaps)
    }
}
