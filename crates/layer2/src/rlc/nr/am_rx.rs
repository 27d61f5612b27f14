//! Receiving side of NR acknowledged mode.
//!
//! Standard: TS 38.322 §5.2.3.2, §5.3.4.

use crate::rlc::pieces::{Insertion, Received};
use crate::rlc::reception::Reception;
use crate::rlc::{AmConfig, Generation, Pdu, RlcConfig, Sdu, SduPart};
use fadeout_core::Time;

#[derive(Clone, Debug)]
pub(in crate::rlc) struct AmRx {
    pub(in crate::rlc) reception: Reception,
}

impl AmRx {
    pub(in crate::rlc) fn new(config: &RlcConfig, am: &AmConfig) -> AmRx {
        AmRx {
            reception: Reception::new(Generation::Nr, config, am),
        }
    }

    #[inline]
    pub(in crate::rlc) fn on_pdu(
        &mut self,
        now: Time,
        pdu: &Pdu,
        part: &SduPart,
        delivered: &mut Vec<Sdu>,
    ) {
        let rx_next = self.reception.window.first();
        let number = self.reception.space.extend(pdu.sn, rx_next);
        let is_placed = number < self.reception.limit() && self.place(number, part, delivered);
        self.reception
            .on_pdu(now, number, is_placed, pdu.is_polling);
    }

    /// Stores a part of an SDU. Returns false if it has no new bytes.
    #[inline]
    fn place(&mut self, number: u64, part: &SduPart, delivered: &mut Vec<Sdu>) -> bool {
        let reception = &mut self.reception;
        let window = &mut reception.window;
        // The usual case is a complete next SDU while no other is incomplete.
        if number == window.end() && window.is_empty() && part.is_whole() {
            window.advance_to(number + 1);
            reception.decided = number + 1;
            delivered.push(part.sdu);
            return true;
        }
        window.extend_to(number + 1);
        let is_complete = match window[number] {
            Received::All => return false,
            Received::Nothing if part.is_whole() => true,
            _ => match reception.insert(number, (part.offset, part.end()), part.is_last()) {
                Insertion::Duplicate => return false,
                Insertion::Incomplete => false,
                Insertion::Complete => true,
            },
        };
        if is_complete {
            delivered.push(part.sdu);
            reception.complete(number);
        }
        true
    }
}
