//! The UEs that want a slot, and what the scheduler gives them.

use crate::mac::scheduler::{Candidate, MacScheduler, Scheduler, Share, SlotView};
use fadeout_core::UeId;

/// A slot to be shared.
pub(super) struct Offer {
    pub slot: u64,
    pub units: u32,
    /// Least units that carry something.
    pub least: u32,
    pub most_ues: u32,
}

/// The contest for one slot, in recycled storage.
#[derive(Debug, Default)]
pub(super) struct Contest {
    candidates: Vec<Candidate>,
    /// Scheme and CQI of each candidate.
    schemes: Vec<(u8, u8)>,
    shares: Vec<Share>,
}

impl Contest {
    pub(super) fn clear(&mut self) {
        self.candidates.clear();
        self.schemes.clear();
        self.shares.clear();
    }
    pub(super) fn enter(&mut self, candidate: Candidate, scheme: (u8, u8)) {
        self.candidates.push(candidate);
        self.schemes.push(scheme);
    }
    pub(super) fn decide(&mut self, offer: &Offer, scheduler: &mut Scheduler) {
        if self.candidates.is_empty() || offer.most_ues == 0 {
            return;
        }
        let view = SlotView {
            slot: offer.slot,
            units: offer.units,
            least: offer.least,
            most_ues: offer.most_ues,
            candidates: &self.candidates,
        };
        scheduler.allocate(&view, &mut self.shares);
    }
    /// Who gets something: the UE, its scheme and CQI, and its units.
    pub(super) fn winners(&self) -> impl Iterator<Item = (UeId, (u8, u8), u32)> {
        self.shares.iter().map(|share| {
            let candidate = share.candidate;
            let ue = self.candidates[candidate].ue;
            (ue, self.schemes[candidate], share.units)
        })
    }
}
