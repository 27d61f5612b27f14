//! Round-robin scheduler: equal shares in turn.

use super::{MacScheduler, Share, SlotView};
use fadeout_core::registry::{Entry, Registered, Settings};
use fadeout_core::{Span, UeId};

/// Parameters of [`RoundRobin`], which has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundRobinConfig;

impl Registered for RoundRobinConfig {
    const ENTRY: Entry = Entry::new(
        "round-robin",
        "channel-blind",
        "Gives UEs equal shares of the slot in turn, independent of their channels. Other UEs use \
         the resources that a UE does not need.",
        "S. Sesia, I. Toufik, M. Baker, LTE: The UMTS Long Term Evolution, 2nd ed., section 12.3",
    )
    .with_aliases(&["rr"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        RoundRobinConfig
    }
}

impl RoundRobinConfig {
    pub(super) fn start(self, _ues: usize, _slot: Span) -> RoundRobin {
        RoundRobin::default()
    }
}

/// Round-robin scheduler with equal shares in turn. If a slot has too few units for all UEs, the
/// next UEs by id get the minimum grant. Otherwise all UEs get the same number of units, and the
/// remainder goes to one UE after another in turn.
#[derive(Debug, Clone, Default)]
pub struct RoundRobin {
    next: u32,
    order: Vec<u32>,
}

impl MacScheduler for RoundRobin {
    fn allocate(&mut self, view: &SlotView<'_>, shares: &mut Vec<Share>) {
        shares.clear();
        let candidates = view.candidates;
        let most = (view.units / view.least.max(1)).min(view.most_ues) as usize;
        let served = candidates.len().min(most);
        if served == 0 {
            return;
        }
        let next = self.next;
        let turn = |&index: &u32| candidates[index as usize].ue.0.wrapping_sub(next);
        self.order.clear();
        self.order.extend(0..candidates.len() as u32);
        if candidates.len() > 1 {
            self.order.sort_unstable_by_key(turn);
        }
        // Each UE gets an equal share, or fewer units if it has less data.
        let (each, extra) = (view.units / served as u32, view.units % served as u32);
        let mut left = view.units;
        for (n, &index) in self.order[..served].iter().enumerate() {
            let share = each + u32::from((n as u32) < extra);
            let units = share.min(candidates[index as usize].wanted).max(view.least);
            left -= units;
            shares.push(Share {
                candidate: index as usize,
                units,
            });
        }
        // Remaining units go in turn to UEs whose data needs more units.
        for share in shares.iter_mut() {
            let more = candidates[share.candidate]
                .wanted
                .saturating_sub(share.units)
                .min(left);
            share.units += more;
            left -= more;
        }
        debug_assert!(
            left + shares.iter().map(|share| share.units).sum::<u32>() == view.units,
            "shares and rest are not the slot's units"
        );
        // If all UEs are served, the next slot's remainder goes to the next UE. Otherwise the next
        // slot begins with the first UE that was not served.
        let last = if served == candidates.len() {
            0
        } else {
            served - 1
        };
        self.next = candidates[self.order[last] as usize].ue.0.wrapping_add(1);
    }

    /// Returns `None`, because turns do not depend on the channel.
    fn weight(&self, _: u64, _: UeId) -> Option<f64> {
        None
    }

    /// Does nothing, because turns follow the shares of a slot and not the bytes in them.
    fn on_served(&mut self, _: u64, _: UeId, _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::scheduler::Candidate;
    use fadeout_core::UeId;

    fn shares_of(ues: u32, units: u32, slots: u64) -> Vec<u64> {
        let candidates: Vec<Candidate> = (0..ues)
            .map(|ue| Candidate {
                ue: UeId(ue),
                wanted: 1000,
                rate: f64::from(ue),
                reported: f64::from(ue),
            })
            .collect();
        let mut scheduler = RoundRobin::default();
        let mut total = vec![0; ues as usize];
        let mut shares = Vec::new();
        for slot in 0..slots {
            let view = SlotView {
                slot,
                units,
                least: 1,
                most_ues: 100,
                candidates: &candidates,
            };
            scheduler.allocate(&view, &mut shares);
            for share in &shares {
                total[share.candidate] += u64::from(share.units);
            }
        }
        total
    }

    #[test]
    fn shares_are_equal_whether_units_or_ues_are_more() {
        for (ues, units) in [(2, 17), (3, 25), (7, 13), (40, 25), (25, 25)] {
            // The number of slots is a multiple of each turn cycle, so all shares are exactly
            // equal.
            let total = shares_of(ues, units, 4200);
            assert!(total.iter().all(|&units| units == total[0]), "{total:?}");
            let given: u64 = total.iter().sum();
            assert_eq!(given, 4200 * u64::from(units));
        }
    }

    #[test]
    fn what_one_does_not_need_goes_to_the_others() {
        let candidate = |ue, wanted| Candidate {
            ue: UeId(ue),
            wanted,
            rate: 1.0,
            reported: 1.0,
        };
        let candidates = [candidate(0, 2), candidate(1, 100), candidate(2, 9)];
        let view = SlotView {
            slot: 0,
            units: 24,
            least: 1,
            most_ues: 8,
            candidates: &candidates,
        };
        let mut shares = Vec::new();
        RoundRobin::default().allocate(&view, &mut shares);
        let units: Vec<u32> = shares.iter().map(|share| share.units).collect();
        assert_eq!(units, [2, 14, 8]);
    }

    #[test]
    fn the_remainder_is_one_unit_each_for_those_next_in_turn() {
        let candidates: Vec<Candidate> = (0..4)
            .map(|ue| Candidate {
                ue: UeId(ue),
                wanted: 1000,
                rate: 1.0,
                reported: 1.0,
            })
            .collect();
        let view = SlotView {
            slot: 0,
            units: 18,
            least: 1,
            most_ues: 8,
            candidates: &candidates,
        };
        let mut shares = Vec::new();
        RoundRobin::default().allocate(&view, &mut shares);
        let units: Vec<u32> = shares.iter().map(|share| share.units).collect();
        assert_eq!(units, [5, 5, 4, 4]);
    }
}
