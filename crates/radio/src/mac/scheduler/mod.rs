//! MAC schedulers, which divide a slot among UEs.
//!
//! A slot is divided into *units*. If UEs share the band in frequency, a unit is a resource block
//! group. If an analog beam serves one UE at a time, a unit is a symbol. With a CQI for the whole
//! band, a scheduler decides only the number of units of each UE. With CQIs of sub-bands,
//! [`BandShares`] also decides the sub-bands of these units. Retransmissions are scheduled earlier,
//! so a scheduler divides only the remaining units.

mod bands;
mod best_first;
mod max_ci;
mod proportional_fair;
mod round_robin;

use fadeout_core::{Span, UeId};

pub(crate) use bands::best_of;
pub use bands::{BandShare, BandShares, BandView};
pub use max_ci::{MaxCi, MaxCiConfig};
pub use proportional_fair::{ProportionalFair, ProportionalFairConfig};
pub use round_robin::{RoundRobin, RoundRobinConfig};

/// UE with data and a free HARQ process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// UE of this candidate.
    pub ue: UeId,
    /// Units that would empty the UE's buffer, at least one.
    pub wanted: u32,
    /// Bytes that the UE could send on all units of a slot.
    pub rate: f64,
    /// Bits per resource element on all layers of the UE, computed from its CQI report only. The
    /// outer loop's correction is not included. Zero if no CQI report leads to the present MCS.
    pub reported: f64,
}

/// Slot as a scheduler sees it.
#[derive(Debug, Clone, Copy)]
pub struct SlotView<'a> {
    /// Number of the slot.
    pub slot: u64,
    /// Units to divide.
    pub units: u32,
    /// Minimum units of a grant. Fewer units carry no data.
    pub least: u32,
    /// Maximum number of UEs that may be served.
    pub most_ues: u32,
    /// Candidates for the units. Each UE is listed once.
    pub candidates: &'a [Candidate],
}

/// Units of a slot that a candidate gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Index into [`SlotView::candidates`].
    pub candidate: usize,
    /// Number of units.
    pub units: u32,
}

/// Scheduler that divides a slot among UEs.
pub trait MacScheduler {
    /// Writes the shares of a slot to `shares`. Each candidate has at most one share. All shares
    /// together have at most [`SlotView::units`], and each has at least [`SlotView::least`].
    fn allocate(&mut self, view: &SlotView<'_>, shares: &mut Vec<Share>);
    /// Returns the weight by which a UE's rate is multiplied before it is compared with other UEs'
    /// rates. `None` if the scheduler ignores the channel. The UEs then get their best sub-bands in
    /// turn.
    fn weight(&self, slot: u64, ue: UeId) -> Option<f64>;
    /// Returns the position of a UE among UEs with equal metrics. The smallest value is served
    /// first.
    fn turn(&self, _ue: UeId) -> u64 {
        0
    }
    /// Records that a UE was sent or granted `bytes` of new data in a slot.
    fn on_served(&mut self, slot: u64, ue: UeId, bytes: u32);
}

fadeout_core::registry! {
    /// Every scheduler that a scenario can name.
    pub static MAC_SCHEDULERS;

    /// A scheduler and its parameters.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum MacSchedulerKind;

    /// A built-in scheduler.
    #[derive(Debug, Clone)]
    pub enum BuiltInScheduler {
        ProportionalFair(ProportionalFairConfig => ProportionalFair),
        RoundRobin(RoundRobinConfig => RoundRobin),
        MaxCi(MaxCiConfig => MaxCi),
    }
    macro kinds, schedulers;
}

impl MacSchedulerKind {
    /// Creates the scheduler of a cell with slots of length `slot`, for UEs with ids below `ues`.
    pub fn start(self, ues: usize, slot: Span) -> BuiltInScheduler {
        kinds!(self, config => BuiltInScheduler(config.start(ues, slot)))
    }
}

impl MacScheduler for BuiltInScheduler {
    fn allocate(&mut self, view: &SlotView<'_>, shares: &mut Vec<Share>) {
        schedulers!(self, scheduler => scheduler.allocate(view, shares));
    }
    fn weight(&self, slot: u64, ue: UeId) -> Option<f64> {
        schedulers!(self, scheduler => scheduler.weight(slot, ue))
    }
    fn turn(&self, ue: UeId) -> u64 {
        schedulers!(self, scheduler => scheduler.turn(ue))
    }
    fn on_served(&mut self, slot: u64, ue: UeId, bytes: u32) {
        schedulers!(self, scheduler => scheduler.on_served(slot, ue, bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::random::Stream;
    use fadeout_core::registry::Parameters;

    const SLOT: Span = Span::from_millis(1);

    #[test]
    fn no_scheduler_gives_more_than_there_is_or_twice_to_one() {
        let mut random = Stream::new(1, "schedulers", 0);
        for entry in MAC_SCHEDULERS {
            let kind = MacSchedulerKind::new(entry.name, Parameters::NONE).expect(entry.name);
            let mut scheduler = kind.start(40, SLOT);
            for slot in 0..5_000 {
                let mut candidates: Vec<Candidate> = (0..40)
                    .map(|ue| Candidate {
                        ue: UeId(ue),
                        wanted: 1 + random.below(30) as u32,
                        rate: random.exponential(1000.0),
                        reported: 1.0,
                    })
                    .collect();
                candidates.retain(|_| random.chance(0.2));
                let view = SlotView {
                    slot,
                    units: random.below(28) as u32,
                    least: 1 + random.below(3) as u32,
                    most_ues: 1 + random.below(10) as u32,
                    candidates: &candidates,
                };
                let mut shares = Vec::new();
                scheduler.allocate(&view, &mut shares);
                let given: u32 = shares.iter().map(|share| share.units).sum();
                assert!(given <= view.units);
                assert!(shares.len() <= view.most_ues as usize);
                for (n, share) in shares.iter().enumerate() {
                    assert!(share.units >= view.least);
                    let earlier = &shares[..n];
                    assert!(earlier.iter().all(|s| s.candidate != share.candidate));
                    scheduler.on_served(slot, candidates[share.candidate].ue, 10);
                }
                let demand: u32 = candidates.iter().map(|c| c.wanted.max(view.least)).sum();
                let may_serve_all = candidates.len() <= view.most_ues as usize;
                if may_serve_all && demand <= view.units {
                    assert_eq!(shares.len(), candidates.len(), "{kind:?}: all fit");
                }
            }
        }
    }

    const fn candidate(ue: u32, wanted: u32) -> Candidate {
        Candidate {
            ue: UeId(ue),
            wanted,
            rate: 1000.0,
            reported: 1.0,
        }
    }

    fn kind(name: &str) -> MacSchedulerKind {
        MacSchedulerKind::new(name, Parameters::NONE).expect(name)
    }

    #[test]
    fn a_slot_without_units_is_given_to_nobody() {
        for entry in MAC_SCHEDULERS {
            let view = SlotView {
                slot: 0,
                units: 0,
                least: 0,
                most_ues: 8,
                candidates: &[candidate(0, 5), candidate(1, 5)],
            };
            let mut shares = Vec::new();
            kind(entry.name).start(2, SLOT).allocate(&view, &mut shares);
            assert!(shares.is_empty(), "{}", entry.name);
        }
    }

    #[test]
    fn a_scheduler_learns_what_was_served() {
        let mut scheduler = kind("proportional-fair").start(2, SLOT);
        let mut winners = Vec::new();
        for slot in 0..4 {
            let view = SlotView {
                slot,
                units: 10,
                least: 1,
                most_ues: 1,
                candidates: &[candidate(0, 10), candidate(1, 10)],
            };
            let mut shares = Vec::new();
            scheduler.allocate(&view, &mut shares);
            let winner = shares[0].candidate;
            scheduler.on_served(slot, UeId(winner as u32), 1000);
            winners.push(winner);
        }
        assert_eq!(winners, [0, 1, 0, 1]);
    }
}
