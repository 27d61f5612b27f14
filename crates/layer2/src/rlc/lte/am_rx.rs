//! Receiving side of LTE acknowledged mode.
//!
//! Standard: TS 36.322 §5.1.3.2, §5.2.3.

use super::order::{Reassembler, Store};
use crate::rlc::pieces::{Insertion, Received};
use crate::rlc::reception::Reception;
use crate::rlc::{AmConfig, Generation, Pdu, PduKind, RlcConfig, Sdu, SduPart};
use fadeout_core::Time;

#[derive(Clone, Debug)]
pub(in crate::rlc) struct AmRx {
    pub(in crate::rlc) reception: Reception,
    store: Store,
    reassembler: Reassembler,
}

impl AmRx {
    pub(in crate::rlc) fn new(config: &RlcConfig, am: &AmConfig) -> AmRx {
        AmRx {
            reception: Reception::new(Generation::Lte, config, am),
            store: Store::new(),
            reassembler: Reassembler::default(),
        }
    }

    pub(in crate::rlc) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) {
        let vr_r = self.reception.window.first();
        let number = self.reception.space.extend(pdu.sn, vr_r);
        let is_placed =
            number < self.reception.limit() && self.place(number, pdu, parts, delivered);
        self.reception
            .on_pdu(now, number, is_placed, pdu.is_polling);
    }

    /// Delivers the complete received SDUs in spite of gaps. A PDU with missing segments counts as
    /// a gap, so SDUs with a part in it are dropped.
    pub(in crate::rlc) fn hand_up(&mut self, held: &mut Vec<Sdu>) {
        self.store.take_all(&mut self.reassembler, held);
    }

    /// Stores a PDU or a segment of one. Returns false if it has no new bytes.
    fn place(
        &mut self,
        number: u64,
        pdu: &Pdu,
        parts: &[SduPart],
        delivered: &mut Vec<Sdu>,
    ) -> bool {
        let reception = &mut self.reception;
        reception.window.extend_to(number + 1);
        let is_segment = pdu.kind == PduKind::AmdSegment;
        let is_complete = match reception.window[number] {
            Received::All => return false,
            Received::Nothing if !is_segment => true,
            _ => {
                let len: u32 = parts.iter().map(|part| part.len).sum();
                let start = pdu.segment_offset;
                let is_last = !is_segment || pdu.is_last_segment;
                match reception.insert(number, (start, start + len), is_last) {
                    Insertion::Duplicate => return false,
                    Insertion::Incomplete => false,
                    Insertion::Complete => true,
                }
            }
        };
        self.store.put(number, pdu.segment_offset, parts);
        if is_complete && reception.complete(number) {
            let vr_r = reception.window.first();
            self.store
                .take_below(vr_r, &mut self.reassembler, delivered);
        }
        true
    }
}
