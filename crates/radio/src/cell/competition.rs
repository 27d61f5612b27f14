//! UEs that compete for a slot, and the scheduler's allocation.

use super::served::Demand;
use crate::config::{LegId, Rnti};
use crate::mac::scheduler::{BuiltInScheduler, Candidate, MacScheduler, Share, SlotView};
use fadeout_core::UeId;

/// Slot whose units are divided among UEs.
pub(super) struct Offer {
    pub slot: u64,
    pub units: u32,
    /// Smallest number of units that can carry data in one block.
    pub least: u32,
    pub most_ues: u32,
}

/// Data of a competing UE that its [`Candidate`] does not contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entrant {
    pub rnti: Rnti,
    pub scheme: u8,
    pub cqi: u8,
}

/// UEs that compete for one slot, and their shares. The memory is reused for each slot.
#[derive(Debug, Default)]
pub(super) struct Competition {
    candidates: Vec<Candidate>,
    entrants: Vec<Entrant>,
    shares: Vec<Share>,
    whole: u32,
    /// Factor of each UE's rate, by the number of the UE. Empty if all factors are 1.
    weights: Vec<f64>,
}

impl Competition {
    pub(super) fn clear(&mut self) {
        self.candidates.clear();
        self.entrants.clear();
        self.shares.clear();
        self.whole = 0;
    }
    /// Returns the number of units that would empty all buffers.
    pub(super) fn total_demand(&self) -> u32 {
        self.whole
    }
    /// Requests the demand of each `active` UE that may have data in `slot`. Adds the UEs with a
    /// bid to the competition. Updates in `ready` the slot from which a UE may have data again.
    /// `ready` and `served` are indexed by RNTI.
    #[inline]
    pub(super) fn collect_bids(
        &mut self,
        slot: u64,
        active: &[Rnti],
        (ready, served): (&mut [u64], &[(LegId, UeId)]),
        mut demand: impl FnMut(Rnti, (LegId, UeId)) -> Demand,
    ) {
        for &rnti in active {
            if ready[rnti.index()] > slot {
                continue;
            }
            let (leg, ue) = served[rnti.index()];
            let demand = demand(rnti, (leg, ue));
            ready[rnti.index()] = demand.ready;
            if let Some(bid) = demand.bid {
                let (scheme, cqi) = (bid.scheme, bid.cqi);
                self.whole = self.whole.saturating_add(bid.whole);
                self.entrants.push(Entrant { rnti, scheme, cqi });
                debug_assert!(
                    bid.rate >= 0.0 && bid.rate.is_finite(),
                    "a UE bids at a rate of {}",
                    bid.rate
                );
                let weight = self.weight(ue);
                self.candidates.push(Candidate {
                    ue,
                    wanted: bid.wanted,
                    rate: bid.rate * weight,
                    reported: bid.reported * weight,
                });
            }
        }
    }
    /// Sets the factor by which the scheduler multiplies the rate of a UE.
    pub(super) fn set_weight(&mut self, ue: UeId, weight: f64) {
        if self.weights.len() <= ue.index() {
            self.weights.resize(ue.index() + 1, 1.0);
        }
        self.weights[ue.index()] = weight;
    }
    /// Returns the factor of a UE's rate.
    #[inline]
    pub(super) fn weight(&self, ue: UeId) -> f64 {
        self.weights.get(ue.index()).copied().unwrap_or(1.0)
    }
    /// Returns the factor of the rate of a competing UE. `position` is that of the UE among the
    /// candidates.
    pub(super) fn weight_at(&self, position: usize) -> f64 {
        self.weight(self.candidates[position].ue)
    }
    pub(super) fn decide(&mut self, offer: &Offer, scheduler: &mut BuiltInScheduler) {
        if self.candidates.is_empty() || offer.most_ues == 0 {
            return;
        }
        let mut shares = std::mem::take(&mut self.shares);
        scheduler.allocate(&self.view(offer), &mut shares);
        self.shares = shares;
        self.assert_within(offer);
    }
    /// Asserts that the allocation fits into the slot and that each UE has at most one share.
    fn assert_within(&self, offer: &Offer) {
        let given = self.shares.iter().map(|share| share.units);
        debug_assert!(
            given.clone().sum::<u32>() <= offer.units,
            "more than the {} units of slot {} are shared out",
            offer.units,
            offer.slot
        );
        debug_assert!(
            self.shares.len() <= offer.most_ues as usize,
            "{} UEs have a share of a slot for {}",
            self.shares.len(),
            offer.most_ues
        );
        debug_assert!(given.clone().all(|units| units > 0), "a share of nothing");
        let candidates = self.candidates.len();
        debug_assert!(
            self.shares.iter().all(|share| share.candidate < candidates),
            "a share is nobody's"
        );
        debug_assert!(
            self.shares.len() > 16
                || (1..self.shares.len()).all(|n| {
                    let candidate_of = |share: &Share| share.candidate;
                    !self.shares[..n]
                        .iter()
                        .map(candidate_of)
                        .any(|it| it == candidate_of(&self.shares[n]))
                }),
            "a UE has two shares of a slot"
        );
    }
    /// Returns the slot and its candidates in the form that a scheduler reads.
    pub(super) fn view(&self, offer: &Offer) -> SlotView<'_> {
        SlotView {
            slot: offer.slot,
            units: offer.units,
            least: offer.least,
            most_ues: offer.most_ues,
            candidates: &self.candidates,
        }
    }
    pub(super) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }
    /// Returns the UEs with a bid, in the order of the candidates.
    pub(super) fn entrants(&self) -> impl Iterator<Item = Entrant> {
        self.entrants.iter().copied()
    }
    pub(super) fn entrant(&self, position: usize) -> Entrant {
        self.entrants[position]
    }
    /// Returns the UEs with an allocation, each with its number of units.
    pub(super) fn winners(&self) -> impl Iterator<Item = (Entrant, u32)> {
        let winner = |share: &Share| (self.entrants[share.candidate], share.units);
        self.shares.iter().map(winner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::served::Bid;
    use super::*;

    #[test]
    fn only_ues_that_may_have_something_are_asked_and_only_those_that_bid_are_entered() {
        let mut competition = Competition::default();
        let mut ready = [0, 8, 5];
        let served = [0, 1, 2].map(|number| (LegId(10 + number), UeId(20 + number)));
        let mut asked = Vec::new();
        let active = [0, 1, 2].map(Rnti);
        competition.collect_bids(5, &active, (&mut ready, &served), |_, (leg, _)| {
            asked.push(leg);
            Demand {
                ready: 9,
                bid: (leg == LegId(12)).then_some(Bid {
                    scheme: 3,
                    cqi: 7,
                    wanted: 4,
                    whole: 4,
                    rate: 1e3,
                    reported: 1.0,
                    backlog: 100,
                }),
            }
        });
        assert_eq!(asked, [LegId(10), LegId(12)]);
        assert_eq!(ready, [9, 8, 9]);
        let ues: Vec<UeId> = competition.candidates.iter().map(|it| it.ue).collect();
        assert_eq!(ues, [UeId(22)]);
    }
}
