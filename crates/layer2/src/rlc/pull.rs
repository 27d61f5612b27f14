//! One pull of a transmitting side: the part of a transport block that it may fill.

use super::buffer::{QueueManagement, TxBuffer};
use super::{Pdu, Sdu, SduPart, TransportBlock};
use fadeout_core::Time;

/// Grant in a block that is being made, and the queue management of its data.
#[derive(Debug)]
pub(super) struct Pull<'a, Q> {
    pub(super) now: Time,
    /// Bytes of the block, with MAC subheaders, when the grant is used up.
    pub(super) limit: u32,
    pub(super) block: &'a mut TransportBlock,
    pub(super) aqm: &'a mut Q,
    /// SDUs that queue management dropped.
    pub(super) dropped: &'a mut Vec<Sdu>,
}

impl<Q: QueueManagement> Pull<'_, Q> {
    /// Bytes of the grant that are left.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.limit - self.block.bytes
    }

    /// The SDU that goes next from `buffer`, once queue management let it pass.
    #[inline]
    pub(super) fn next(&mut self, buffer: &mut TxBuffer) -> Option<Sdu> {
        buffer.next(self.now, self.aqm, self.dropped)
    }

    /// Adds a PDU of one part behind a MAC subheader.
    #[inline]
    pub(super) fn push(&mut self, pdu: Pdu, part: SduPart, subheader: u32) {
        self.block.push(pdu, part, subheader);
    }
}
