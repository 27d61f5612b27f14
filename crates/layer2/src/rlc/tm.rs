//! Transparent mode (TS 38.322 and TS 36.322 clause 5.2.1 and 5.1.1): SDUs pass as they are.

use super::buffer::{QueueManagement, TxBuffer};
use super::{Backlog, MacSubheader, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock};
use fadeout_core::Time;

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
    /// An SDU that does not fit waits for a larger grant.
    pub(super) fn pull(
        &mut self,
        now: Time,
        grant: u32,
        block: &mut TransportBlock,
        aqm: &mut impl QueueManagement,
        dropped: &mut Vec<Sdu>,
    ) {
        let limit = block.bytes + grant;
        while let Some(Sdu { size, .. }) = self.buffer.next(now, aqm, dropped) {
            let overhead = self.subheader.size(size);
            if block.bytes + size + overhead > limit {
                return;
            }
            let sdu = self.buffer.pop().expect("the head was just seen");
            let pdu = Pdu {
                kind: PduKind::Tmd,
                size,
                ..Pdu::default()
            };
            block.push(pdu, SduPart::whole(sdu), overhead);
        }
    }
}
