//! Maximum C/I: the best channel first.

use super::best_first::best_first;
use super::{MacScheduler, Share, SlotView};
use fadeout_core::UeId;
use fadeout_core::registry::{Entry, Registered, Settings};

/// Parameters of [`MaxCi`]: none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxCiConfig;

impl Registered for MaxCiConfig {
    const ENTRY: Entry = Entry::new(
        "max-ci",
        "channel-aware",
        "Serves the UE with the best channel first. It has the highest throughput and no fairness.",
        "R. Knopp, P. Humblet, Information capacity and power control in single-cell multiuser \
         communications, IEEE ICC 1995",
    )
    .with_aliases(&["max-c-i", "max-rate"]);

    fn with(_: &Settings<'_>, (): ()) -> Self {
        MaxCiConfig
    }
}

impl MaxCiConfig {
    pub(super) fn start(self, _ues: usize) -> MaxCi {
        MaxCi::default()
    }
}

/// Maximum C/I.
#[derive(Debug, Clone, Default)]
pub struct MaxCi {
    metrics: Vec<f64>,
}

impl MacScheduler for MaxCi {
    fn allocate(&mut self, view: &SlotView<'_>, shares: &mut Vec<Share>) {
        best_first(view, &mut self.metrics, shares, |index| {
            view.candidates[index].rate
        });
    }

    fn weight(&self, _slot: u64, _ue: UeId) -> Option<f64> {
        Some(1.0)
    }

    fn on_served(&mut self, _: u64, _: UeId, _: u32) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::scheduler::Candidate;

    #[test]
    fn the_best_channel_takes_all_it_wants() {
        let candidate = |ue, wanted, rate| Candidate {
            ue: UeId(ue),
            wanted,
            rate,
        };
        let candidates = [
            candidate(0, 20, 1.0),
            candidate(1, 6, 3.0),
            candidate(2, 9, 2.0),
        ];
        let view = SlotView {
            slot: 0,
            units: 17,
            least: 1,
            most_ues: 8,
            candidates: &candidates,
        };
        let mut shares = Vec::new();
        MaxCi::default().allocate(&view, &mut shares);
        let found: Vec<_> = shares.iter().map(|s| (s.candidate, s.units)).collect();
        assert_eq!(found, [(1, 6), (2, 9), (0, 2)]);
    }

    #[test]
    fn equal_channels_go_by_the_order_of_the_candidates() {
        let candidates = [4, 2, 3].map(|ue| Candidate {
            ue: UeId(ue),
            wanted: 5,
            rate: 1.0,
        });
        let view = SlotView {
            slot: 0,
            units: 12,
            least: 1,
            most_ues: 8,
            candidates: &candidates,
        };
        let mut shares = Vec::new();
        MaxCi::default().allocate(&view, &mut shares);
        let found: Vec<_> = shares.iter().map(|s| (s.candidate, s.units)).collect();
        assert_eq!(found, [(0, 5), (1, 5), (2, 2)]);
    }
}
