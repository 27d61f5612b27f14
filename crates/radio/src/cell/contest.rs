//! The UEs that want a slot, and what the scheduler gives them.

use crate::config::Rnti;
use crate::mac::scheduler::{Candidate, MacScheduler, Scheduler, Share, SlotView};

/// A slot to be shared.
pub(super) struct Offer {
    pub slot: u64,
    pub units: u32,
    /// Least units that carry something.
    pub least: u32,
    pub most_ues: u32,
}

/// A candidate beside its [`Candidate`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Entrant {
    pub rnti: Rnti,
    pub scheme: u8,
    pub cqi: u8,
}

/// The contest for one slot, in recycled storage.
#[derive(Debug, Default)]
pub(super) struct Contest {
    candidates: Vec<Candidate>,
    entrants: Vec<Entrant>,
    shares: Vec<Share>,
}

impl Contest {
    pub(super) fn clear(&mut self) {
        self.candidates.clear();
        self.entrants.clear();
        self.shares.clear();
    }
    pub(super) fn enter(&mut self, candidate: Candidate, entrant: Entrant) {
        self.candidates.push(candidate);
        self.entrants.push(entrant);
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
    /// Who gets something, and how many units.
    pub(super) fn winners(&self) -> impl Iterator<Item = (Entrant, u32)> {
        let winner = |share: &Share| (self.entrants[share.candidate], share.units);
        self.shares.iter().map(winner)
    }
}
