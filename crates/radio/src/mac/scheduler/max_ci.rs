//! Maximum C/I scheduler: the UE with the best channel is first.

use super::best_first::best_first;
use super::{MacScheduler, Share, SlotView};
use fadeout_core::registry::{Entry, Registered, Settings};
use fadeout_core::{Span, UeId};

/// Parameters of [`MaxCi`], which has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxCiConfig;

impl Registered for MaxCiConfig {
    const ENTRY: Entry = Entry::new(
        "max-ci",
        "channel-aware",
        "Serves first the UE with the best reported channel. Among UEs with equal channels it \
         serves the UE that waited longest. The throughput of the cell is maximal, but UEs with \
         different channels are not treated fairly.",
        "R. Knopp, P. Humblet, Information capacity and power control in single-cell multiuser \
         communications, IEEE ICC 1995",
    )
    .with_aliases(&["max-c-i", "max-rate"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        MaxCiConfig
    }
}

impl MaxCiConfig {
    pub(super) fn start(self, ues: usize, _slot: Span) -> MaxCi {
        MaxCi::new(ues)
    }
}

/// Maximum C/I scheduler. Its metric is the efficiency of a UE's reported CQI. The CQI is coarse,
/// so UEs with similar channels have equal metrics. Among them, the UE that waited longest is
/// served first.
///
/// The metric does not include the correction of the outer loop, because this correction rises with
/// a UE's own transmissions. A UE that was served once would then always be served before equal
/// UEs.
#[derive(Debug, Clone)]
pub struct MaxCi {
    metrics: Vec<f64>,
    /// Count of services at which each UE was last served. Zero before the UE's first service.
    served: Vec<u64>,
    services: u64,
}

impl MaxCi {
    /// Creates a scheduler for UEs with ids below `ues`.
    pub fn new(ues: usize) -> MaxCi {
        MaxCi {
            metrics: Vec::new(),
            served: vec![0; ues],
            services: 0,
        }
    }
}

impl MacScheduler for MaxCi {
    fn allocate(&mut self, view: &SlotView<'_>, shares: &mut Vec<Share>) {
        let candidates = view.candidates;
        let served = &self.served;
        best_first(
            view,
            &mut self.metrics,
            shares,
            |index| candidates[index].reported,
            |index| served[candidates[index].ue.index()],
        );
    }

    fn weight(&self, _slot: u64, _ue: UeId) -> Option<f64> {
        Some(1.0)
    }

    fn turn(&self, ue: UeId) -> u64 {
        self.served[ue.index()]
    }

    fn on_served(&mut self, _: u64, ue: UeId, _: u32) {
        self.services += 1;
        self.served[ue.index()] = self.services;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::scheduler::Candidate;

    fn candidate(ue: u32, wanted: u32, reported: f64) -> Candidate {
        Candidate {
            ue: UeId(ue),
            wanted,
            rate: 1.0,
            reported,
        }
    }

    /// Returns the candidate's index and the units of each share, for a slot with `units` units.
    fn shared(scheduler: &mut MaxCi, units: u32, candidates: &[Candidate]) -> Vec<(usize, u32)> {
        let view = SlotView {
            slot: 0,
            units,
            least: 1,
            most_ues: 8,
            candidates,
        };
        let mut shares = Vec::new();
        scheduler.allocate(&view, &mut shares);
        for share in &shares {
            let ue = candidates[share.candidate].ue;
            scheduler.on_served(0, ue, share.units);
        }
        shares.iter().map(|s| (s.candidate, s.units)).collect()
    }

    #[test]
    fn the_best_channel_takes_all_it_wants() {
        let candidates = [
            candidate(0, 20, 1.0),
            candidate(1, 6, 3.0),
            candidate(2, 9, 2.0),
        ];
        let mut scheduler = MaxCi::new(3);
        for _ in 0..10 {
            let found = shared(&mut scheduler, 17, &candidates);
            assert_eq!(found, [(1, 6), (2, 9), (0, 2)]);
        }
    }

    #[test]
    fn equal_channels_that_were_never_served_go_by_the_order_of_the_candidates() {
        let candidates = [4, 2, 3].map(|ue| candidate(ue, 5, 1.0));
        let found = shared(&mut MaxCi::new(5), 12, &candidates);
        assert_eq!(found, [(0, 5), (1, 5), (2, 2)]);
    }

    #[test]
    fn equal_channels_have_equal_shares_over_time_and_a_worse_one_nothing() {
        for (ues, wanted) in [(2_u32, 100), (3, 100), (3, 10), (7, 4)] {
            let mut candidates: Vec<Candidate> =
                (0..ues).map(|ue| candidate(ue, wanted, 2.0)).collect();
            candidates.push(candidate(ues, 100, 1.0));
            let mut scheduler = MaxCi::new(ues as usize + 1);
            let mut total = vec![0_u32; candidates.len()];
            // The number of slots is a multiple of each turn cycle, so the shares are exactly
            // equal.
            for _ in 0..2 * 3 * 5 * 7 {
                for (position, units) in shared(&mut scheduler, 17, &candidates) {
                    total[position] += units;
                }
            }
            let equal = &total[..ues as usize];
            assert!(equal.iter().all(|&units| units == equal[0]), "{total:?}");
            assert!(total[ues as usize] == 0 || ues * wanted < 17, "{total:?}");
        }
    }
}
