//! State of one pull: the part of a transport block that a transmitting side may fill.

use super::buffer::{QueueManagement, TxBuffer};
use super::{Pdu, Sdu, SduPart, TransportBlock};
use fadeout_core::Time;

/// Grant in an incomplete block, and the queue management of its data.
#[derive(Debug)]
pub(super) struct Pull<'a, Q> {
    pub(super) now: Time,
    /// Bytes of the block at which the grant is used up, with MAC subheaders.
    pub(super) limit: u32,
    pub(super) block: &'a mut TransportBlock,
    pub(super) aqm: &'a mut Q,
    /// SDUs that queue management dropped.
    pub(super) dropped: &'a mut Vec<Sdu>,
}

impl<Q: QueueManagement> Pull<'_, Q> {
    /// Returns the remaining bytes of the grant.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.limit - self.block.bytes
    }

    /// Returns the next SDU of `buffer` that queue management accepts. `None` if there is none.
    #[inline]
    pub(super) fn next(&mut self, buffer: &mut TxBuffer) -> Option<Sdu> {
        buffer.next(self.now, self.aqm, self.dropped)
    }

    /// Adds a PDU of one part with a MAC subheader.
    #[inline]
    pub(super) fn push(&mut self, pdu: Pdu, part: SduPart, subheader: u32) {
        self.block.push(pdu, part, subheader);
    }
}
