//! Record of the legs that have each PDU while PDCP sends every PDU on several legs.

use super::ByLeg;
use crate::pdcp::Ledger;
use fadeout_core::Ring;

/// Legs that have a PDU, and whether the PDU was confirmed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PduLegs {
    /// One bit for each leg number. The bit is set if the leg was given the PDU and is not known to
    /// have lost the PDU.
    on: u8,
    /// True if a leg has confirmed the PDU.
    is_confirmed: bool,
}

fn bit(leg: u8) -> u8 {
    1 << leg
}

/// PDUs of a direction in which PDCP duplicates, by serial number.
///
/// Standard: TS 38.323 §5.11.
#[derive(Debug)]
pub(super) struct DuplicatedPdus {
    is_acknowledged: bool,
    /// Records of the PDUs, beginning with the oldest PDU that is still needed.
    pdus: Ring<PduLegs>,
    /// Serial numbers of the unconfirmed PDUs in the RLC entity of each leg, in the order of that
    /// entity. Used in acknowledged mode only.
    given: ByLeg<Ring<u32>>,
}

impl DuplicatedPdus {
    pub(super) fn new(is_acknowledged: bool) -> DuplicatedPdus {
        DuplicatedPdus {
            is_acknowledged,
            pdus: Ring::new(),
            given: Default::default(),
        }
    }

    /// Adds the record of a PDU with its serial number. No leg has the PDU yet.
    pub(super) fn enter(&mut self, serial: u32) {
        let number = self.pdus.push(PduLegs::default());
        debug_assert_eq!(number, u64::from(serial), "each PDU is noted");
    }

    fn pdu_mut(&mut self, serial: u32) -> Option<&mut PduLegs> {
        let number = u64::from(serial);
        (self.pdus.contains(number)).then(|| &mut self.pdus[number])
    }

    /// Records that PDCP gives a PDU to a leg. Returns false if the leg already has the PDU, or if
    /// the PDU was confirmed.
    pub(super) fn give(&mut self, serial: u32, leg: u8) -> bool {
        match self.pdu_mut(serial) {
            Some(pdu) if pdu.on & bit(leg) == 0 && !pdu.is_confirmed => pdu.on |= bit(leg),
            _ => return false,
        }
        true
    }

    /// Records that the RLC entity of a leg has received a PDU.
    pub(super) fn on_pushed(&mut self, serial: u32, leg: u8) {
        if self.is_acknowledged {
            self.given[usize::from(leg)].push(serial);
        }
    }

    /// Returns true if a leg was given a PDU and is not known to have lost the PDU.
    pub(super) fn is_on(&self, serial: u32, leg: u8) -> bool {
        let number = u64::from(serial);
        self.pdus.contains(number) && self.pdus[number].on & bit(leg) != 0
    }

    /// Returns true if a PDU need not be sent on a leg, because another leg has the PDU or the PDU
    /// was confirmed.
    pub(super) fn is_elsewhere(&self, serial: u32, leg: u8) -> bool {
        let number = u64::from(serial);
        let on_others = |pdu: &PduLegs| pdu.is_confirmed || pdu.on & !bit(leg) != 0;
        !self.pdus.contains(number) || on_others(&self.pdus[number])
    }

    /// Returns true if any leg has a PDU.
    pub(super) fn is_anywhere(&self, serial: u32) -> bool {
        let number = u64::from(serial);
        self.pdus.contains(number) && self.pdus[number].on != 0
    }

    /// Returns true if a leg has confirmed a PDU. The PDU then need not be sent.
    pub(super) fn is_confirmed(&self, serial: u32) -> bool {
        let number = u64::from(serial);
        self.is_acknowledged && (!self.pdus.contains(number) || self.pdus[number].is_confirmed)
    }

    /// Returns the serial number below which all PDUs were confirmed or given up.
    pub(super) fn confirmed_below(&self) -> u32 {
        self.pdus.first() as u32
    }

    /// Records that a leg has confirmed a PDU.
    pub(super) fn confirm(&mut self, serial: u32) {
        if self.is_acknowledged
            && let Some(pdu) = self.pdu_mut(serial)
        {
            pdu.is_confirmed = true;
        }
    }

    /// Records that a leg has confirmed its PDUs before `oldest`. If `oldest` is `None`, the leg
    /// has confirmed all its PDUs.
    pub(super) fn confirm_before(&mut self, leg: u8, oldest: Option<u32>) {
        let index = usize::from(leg);
        while let Some(&serial) = self.given[index].front()
            && oldest != Some(serial)
        {
            self.given[index].pop();
            // If the leg has discarded the PDU unsent, the PDU does not count as confirmed.
            if self.is_on(serial, leg) {
                self.confirm(serial);
            }
        }
    }

    /// Records that a leg has lost or discarded a PDU. Returns true if no other leg has the PDU and
    /// no leg has delivered it.
    pub(super) fn lose_pdu(&mut self, serial: u32, leg: u8) -> bool {
        let is_acknowledged = self.is_acknowledged;
        let Some(pdu) = self.pdu_mut(serial) else {
            return !is_acknowledged;
        };
        pdu.on &= !bit(leg);
        !pdu.is_confirmed && pdu.on == 0
    }

    /// Clears the list of PDUs of a leg whose RLC entity is empty.
    pub(super) fn restart(&mut self, leg: u8) {
        let given = &mut self.given[usize::from(leg)];
        while given.pop().is_some() {}
    }

    /// Clears the lists of PDUs of all legs.
    pub(super) fn restart_all(&mut self) {
        for given in &mut self.given {
            while given.pop().is_some() {}
        }
        for number in self.pdus.first()..self.pdus.end() {
            self.pdus[number].on = 0;
        }
    }

    /// Removes the records of PDUs that are no longer needed. In unacknowledged mode the sender
    /// gets no confirmations, so a record is needed until its PDU has left the bearer.
    pub(super) fn trim(&mut self, ledger: &Ledger) {
        while let Some(pdu) = self.pdus.front() {
            // A PDU that is forwarded to another base station still belongs to the bearer. The
            // other base station sends the PDU on the same bearer.
            let is_gone = ledger.has_left(self.pdus.first() as u32);
            let is_done = match self.is_acknowledged {
                true => pdu.is_confirmed || (is_gone && pdu.on == 0),
                false => is_gone,
            };
            if !is_done {
                return;
            }
            self.pdus.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::{Packet, PacketPool};

    fn copies(is_acknowledged: bool, on: &[&[u8]]) -> (DuplicatedPdus, Ledger) {
        let (mut copies, mut ledger, mut pool) = (
            DuplicatedPdus::new(is_acknowledged),
            Ledger::new(),
            PacketPool::new(),
        );
        for legs in on {
            let serial = ledger.enter(pool.insert(Packet::default()));
            copies.enter(serial);
            for &leg in *legs {
                assert!(copies.give(serial, leg));
                copies.on_pushed(serial, leg);
            }
        }
        (copies, ledger)
    }

    #[test]
    fn a_pdu_is_lost_when_all_legs_have_lost_it() {
        let (mut copies, _) = copies(false, &[&[0, 1], &[0], &[0, 1, 2, 3]]);
        assert!(!copies.lose_pdu(0, 1));
        assert!(copies.lose_pdu(0, 0));
        assert!(copies.lose_pdu(1, 0), "the other leg never had it");
        assert_eq!(
            [2, 0, 3, 1].map(|leg| copies.lose_pdu(2, leg)),
            [false, false, false, true]
        );
    }

    #[test]
    fn what_a_leg_confirmed_the_other_need_not_send() {
        let (mut copies, ledger) = copies(true, &[&[0, 1], &[0, 1], &[0, 1]]);
        copies.confirm_before(1, Some(2));
        assert_eq!(
            [0, 1, 2].map(|it| copies.is_confirmed(it)),
            [true, true, false]
        );
        assert!(!copies.give(0, 0), "it is there");
        assert!(!copies.lose_pdu(1, 0), "it was delivered");
        copies.trim(&ledger);
        assert_eq!(copies.confirmed_below(), 2);
        assert!(copies.is_confirmed(0), "and stays so");
    }

    #[test]
    fn what_a_leg_discarded_it_has_not_confirmed() {
        let (mut copies, _) = copies(true, &[&[0, 1], &[0, 1]]);
        assert!(!copies.lose_pdu(0, 1), "its timer ended there");
        copies.confirm_before(1, None);
        assert!(!copies.is_confirmed(0) && copies.is_confirmed(1));
    }

    #[test]
    fn after_all_legs_have_started_afresh_each_takes_what_nobody_has_confirmed() {
        let (mut copies, _) = copies(true, &[&[0, 1], &[0, 1], &[0]]);
        copies.confirm_before(1, Some(1));
        copies.restart_all();
        let given = [0, 1, 2].map(|serial| copies.give(serial, 0));
        assert_eq!(given, [false, true, true]);
        // After the restart, leg 0 is given PDUs 1 and 2. The leg confirms PDU 1 only.
        copies.on_pushed(1, 0);
        copies.on_pushed(2, 0);
        copies.confirm_before(0, Some(2));
        assert_eq!(
            [0, 1, 2].map(|serial| copies.is_confirmed(serial)),
            [true, true, false]
        );
    }

    #[test]
    fn without_acknowledgments_nothing_is_confirmed_and_what_has_left_is_forgotten() {
        let (mut copies, mut ledger) = copies(false, &[&[0, 1], &[0, 1]]);
        copies.confirm_before(0, None);
        copies.confirm(0);
        assert!(!copies.is_confirmed(0));
        assert!(ledger.leave(0));
        copies.trim(&ledger);
        assert!(!copies.is_confirmed(0));
        assert!(!copies.give(0, 0) && copies.is_on(1, 0));
    }
}
