//! Transparent mode: SDUs are sent unchanged.
//!
//! Standard: TS 38.322 §5.2.1; TS 36.322 §5.1.1.

use super::buffer::{QueueManagement, TxBuffer};
use super::pull::Pull;
use super::{Backlog, MacSubheader, Pdu, PduKind, RlcConfig, Sdu, SduPart};

#[derive(Clone, Debug)]
pub(super) struct Tm {
    pub(super) buffer: TxBuffer,
    subheader: MacSubheader,
}

impl Tm {
    pub(super) fn new(config: &RlcConfig) -> Tm {
        Tm {
            buffer: TxBuffer::new(config.buffer, config.closes_count_gaps),
            subheader: config.subheader,
        }
    }
    pub(super) fn backlog(&self) -> Backlog {
        let subheaders = self.buffer.len() * u64::from(self.subheader.size(u32::MAX));
        Backlog {
            new: self.buffer.bytes() + subheaders,
            ..Backlog::default()
        }
    }
    /// Returns the bytes of the smallest grant that an SDU of `size` bytes fits into.
    pub(super) fn least_grant(&self, size: u32) -> u32 {
        size + self.subheader.size(size)
    }
    /// Fills a block with complete SDUs. An SDU that does not fit waits for a larger grant.
    pub(super) fn pull(&mut self, pull: &mut Pull<'_, impl QueueManagement>) {
        while let Some(Sdu { size, .. }) = pull.next(&mut self.buffer) {
            let overhead = self.subheader.size(size);
            if self.least_grant(size) > pull.room() {
                return;
            }
            let sdu = self.buffer.pop().expect("the head was just seen");
            let pdu = Pdu {
                kind: PduKind::Tmd,
                size,
                ..Pdu::default()
            };
            pull.push(pdu, SduPart::whole(sdu), overhead);
        }
    }
}
