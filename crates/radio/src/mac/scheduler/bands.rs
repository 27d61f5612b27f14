//! Allocation of sub-bands to UEs whose channel quality in each sub-band is known.
//!
//! A channel-aware scheduler gives each sub-band to the UE with the highest product of weight and
//! rate in that sub-band. A channel-blind scheduler decides only the number of units of each UE.
//! The UEs then get their best sub-bands in turn.

use super::{MacScheduler, Share, SlotView};
use crate::phy::sub_band::MOST_SUB_BANDS;

/// A slot to divide, whose units lie in sub-bands.
#[derive(Debug, Clone, Copy)]
pub struct BandView<'a> {
    /// Slot with the units of all sub-bands.
    pub slot: SlotView<'a>,
    /// Free units in each sub-band.
    pub free: &'a [u8],
    /// Rate of one unit in each sub-band, in any unit of measure. The rates of one candidate are
    /// adjacent, in the order of the candidates. A candidate gets no unit for which its rate is
    /// zero.
    pub rates: &'a [f64],
}

/// Units that a candidate gets in each sub-band of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BandShare {
    /// Index into the candidates.
    pub candidate: usize,
    /// Units in each sub-band.
    pub units: [u8; MOST_SUB_BANDS],
}

impl BandShare {
    /// Returns the units in all sub-bands.
    pub fn total(&self) -> u32 {
        self.units.iter().map(|&units| u32::from(units)).sum()
    }
}

/// Allocation of a slot's sub-bands, in reused storage.
#[derive(Debug, Default)]
pub struct BandShares {
    shares: Vec<BandShare>,
    counts: Vec<Share>,
    weights: Vec<f64>,
    /// Position of each candidate among candidates with equal metrics. The smallest value is served
    /// first.
    turns: Vec<u64>,
    /// Units that each candidate still wants.
    left: Vec<u32>,
    /// Index of each candidate's entry in `shares`. `None` if the candidate has no share.
    positions: Vec<Option<u32>>,
}

impl BandShares {
    /// Divides a slot among the candidates by the rules of `scheduler`. Each candidate has at most
    /// one share. All shares together do not exceed the free units.
    pub fn decide(
        &mut self,
        view: &BandView<'_>,
        scheduler: &mut impl MacScheduler,
    ) -> &[BandShare] {
        let candidates = view.slot.candidates;
        self.shares.clear();
        self.positions.clear();
        self.positions.resize(candidates.len(), None);
        self.left.clear();
        self.weights.clear();
        let weight = |ue| scheduler.weight(view.slot.slot, ue);
        self.weights
            .extend(candidates.iter().map_while(|one| weight(one.ue)));
        if self.weights.len() == candidates.len() {
            self.turns.clear();
            let turns = candidates.iter().map(|one| scheduler.turn(one.ue));
            self.turns.extend(turns);
            self.left.extend(candidates.iter().map(|one| one.wanted));
            self.allocate_by_metric(view);
        } else {
            self.left.resize(candidates.len(), 0);
            scheduler.allocate(&view.slot, &mut self.counts);
            self.allocate_in_turn(view);
        }
        self.assert_within(view);
        &self.shares
    }

    /// Returns the latest allocation.
    pub fn shares(&self) -> &[BandShare] {
        &self.shares
    }

    /// Asserts that no unit is given twice and that the number of UEs is allowed.
    fn assert_within(&self, view: &BandView<'_>) {
        for (band, &free) in view.free.iter().enumerate() {
            let given = self.shares.iter().map(|share| u32::from(share.units[band]));
            debug_assert!(
                given.sum::<u32>() <= u32::from(free),
                "more than the {free} units of sub-band {band} are shared out"
            );
        }
        debug_assert!(
            self.shares.len() <= view.slot.most_ues as usize,
            "{} UEs have a share of a slot for {}",
            self.shares.len(),
            view.slot.most_ues
        );
    }

    fn allocate_by_metric(&mut self, view: &BandView<'_>) {
        let bands = view.free.len();
        for (band, &free) in view.free.iter().enumerate() {
            let mut free = u32::from(free);
            while free > 0 {
                let is_full = self.shares.len() >= view.slot.most_ues as usize;
                let mut best: Option<(usize, f64, u64)> = None;
                for (index, &weight) in self.weights.iter().enumerate() {
                    let metric = weight * view.rates[index * bands + band];
                    let may = self.left[index] > 0 && !(is_full && self.positions[index].is_none());
                    let turn = self.turns[index];
                    let is_first = best.map_or(metric > 0.0, |(_, most, first)| {
                        metric > most || (metric == most && turn < first)
                    });
                    if may && is_first {
                        best = Some((index, metric, turn));
                    }
                }
                let Some((index, ..)) = best else { break };
                free -= self.give_units(index, band, free);
            }
        }
    }

    fn allocate_in_turn(&mut self, view: &BandView<'_>) {
        let bands = view.free.len();
        let mut free = [0; MOST_SUB_BANDS];
        free[..bands].copy_from_slice(view.free);
        for share in &self.counts {
            self.left[share.candidate] = share.units;
        }
        let counts = std::mem::take(&mut self.counts);
        loop {
            let mut has_given = false;
            for share in &counts {
                let index = share.candidate;
                let rates = &view.rates[index * bands..][..bands];
                if self.left[index] > 0
                    && let Some(band) = best_of(&free[..bands], |band| rates[band])
                {
                    let given = self.give_units(index, band, u32::from(free[band]));
                    free[band] -= given as u8;
                    has_given = true;
                }
            }
            if !has_given {
                break;
            }
        }
        self.counts = counts;
    }

    /// Gives a candidate up to `free` units of a sub-band. Returns the number of units given.
    fn give_units(&mut self, index: usize, band: usize, free: u32) -> u32 {
        let given = self.left[index].min(free);
        self.left[index] -= given;
        let position = *self.positions[index].get_or_insert_with(|| {
            self.shares.push(BandShare {
                candidate: index,
                units: [0; MOST_SUB_BANDS],
            });
            self.shares.len() as u32 - 1
        });
        self.shares[position as usize].units[band] += given as u8;
        given
    }
}

/// Returns the sub-band with the highest rate among sub-bands with free units and a rate above
/// zero. Among equal rates, the first sub-band is returned. `None` if there is no such sub-band.
pub(crate) fn best_of(free: &[u8], rate: impl Fn(usize) -> f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (band, _) in free.iter().enumerate().filter(|(_, units)| **units > 0) {
        let rate = rate(band);
        if rate > best.map_or(0.0, |(_, best)| best) {
            best = Some((band, rate));
        }
    }
    best.map(|(band, _)| band)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::scheduler::{
        Candidate, MAC_SCHEDULERS, MacSchedulerKind, MaxCi, ProportionalFair, RoundRobin,
    };
    use fadeout_core::random::Stream;
    use fadeout_core::registry::Parameters;
    use fadeout_core::{Span, UeId};

    const BANDS: usize = 8;

    /// UEs in a cell with eight sub-bands of one unit each. Their rates are drawn in each slot.
    struct Cell {
        candidates: Vec<Candidate>,
        rates: Vec<f64>,
        random: Stream,
    }

    impl Cell {
        fn new(ues: u32) -> Cell {
            let candidate = |ue| Candidate {
                ue: UeId(ue),
                wanted: 1000,
                rate: 1.0,
                reported: 1.0,
            };
            Cell {
                candidates: (0..ues).map(candidate).collect(),
                rates: vec![0.0; ues as usize * BANDS],
                random: Stream::new(11, "sub-bands", 0),
            }
        }

        fn view(&self, slot: u64) -> BandView<'_> {
            let slot = SlotView {
                slot,
                units: BANDS as u32,
                least: 1,
                most_ues: 100,
                candidates: &self.candidates,
            };
            BandView {
                slot,
                free: &[1; BANDS],
                rates: &self.rates,
            }
        }

        /// Runs a scheduler in slots whose SNRs are exponential with the given means. Rates are
        /// linear in the SNR. Returns the mean bytes of each UE in a slot, and the mean bytes of an
        /// oracle. The oracle gives each sub-band to the UE with the highest rate in that sub-band.
        fn run(&mut self, means: &[f64], scheduler: &mut impl MacScheduler) -> (Vec<f64>, f64) {
            const SLOTS: u64 = 20_000;
            let mut shares = BandShares::default();
            let (mut carried, mut oracle) = (vec![0.0; means.len()], 0.0);
            for slot in 0..SLOTS {
                for (index, rate) in self.rates.iter_mut().enumerate() {
                    *rate = self.random.exponential(means[index / BANDS]);
                }
                let (mut most, mut all) = (0.0, 0.0);
                for band in 0..BANDS {
                    let of_band = self.rates.iter().skip(band).step_by(BANDS);
                    most += of_band.fold(0.0, |a: f64, &b| a.max(b));
                }
                for share in shares.decide(&self.view(slot), scheduler) {
                    let rates = &self.rates[share.candidate * BANDS..];
                    let units = share.units.iter().zip(rates);
                    let bytes: f64 = units.map(|(&n, rate)| f64::from(n) * rate).sum();
                    scheduler.on_served(slot, UeId(share.candidate as u32), bytes as u32);
                    carried[share.candidate] += bytes / SLOTS as f64;
                    all += bytes;
                }
                assert!(all <= most * (1.0 + 1e-12), "no more than the oracle");
                oracle += most / SLOTS as f64;
            }
            (carried, oracle)
        }
    }

    #[test]
    fn the_gain_is_that_of_the_best_of_n_in_every_sub_band() {
        // N equal users have independent sub-bands. Each sub-band goes to the user with the largest
        // of N exponential draws. The mean of that draw is the common mean times the sum of 1/k for
        // k up to the number of users. The number of sub-bands does not matter.
        for ues in [1_u32, 2, 4, 8] {
            let means = vec![1e6; ues as usize];
            let mut cell = Cell::new(ues);
            let (carried, oracle) =
                cell.run(&means, &mut ProportionalFair::new(2000.0, ues as usize));
            let expected: f64 = (1..=ues).map(|k| 1.0 / f64::from(k)).sum();
            let gain = carried.iter().sum::<f64>() / (BANDS as f64 * 1e6);
            // 160,000 draws have a standard error of 0.25 %. The finite averaging time costs a
            // little more.
            assert!(
                (gain / expected - 1.0).abs() < 0.01,
                "{gain} beside {expected}"
            );
            let (most, _) = Cell::new(ues).run(&means, &mut MaxCi::new(ues as usize));
            let most = most.iter().sum::<f64>();
            assert!(
                (most / oracle - 1.0).abs() < 1e-9,
                "the best everywhere is the oracle"
            );
        }
    }

    #[test]
    fn the_whole_band_at_once_gains_far_less() {
        // The mean over eight sub-bands has a relative spread of 1/sqrt(8). The largest of four
        // such means is 1.381 times their average (Erlang distribution, integrated numerically).
        // With separate sub-bands, the factor is 2.08.
        let mut random = Stream::new(5, "whole", 0);
        let (slots, mut total) = (20_000, 0.0);
        for _ in 0..slots {
            let mut of_ue = || (0..BANDS).map(|_| random.exponential(1.0)).sum::<f64>();
            total += (0..4).map(|_| of_ue()).fold(0.0, f64::max) / BANDS as f64;
        }
        let whole = total / f64::from(slots);
        assert!((whole - 1.381).abs() < 0.01, "{whole}");
        let (carried, _) = Cell::new(4).run(&[1e6; 4], &mut ProportionalFair::new(2000.0, 4));
        let gain = carried.iter().sum::<f64>() / (BANDS as f64 * 1e6) / whole;
        assert!((gain - 2.083 / 1.381).abs() < 0.03, "{gain}");
    }

    #[test]
    fn unlike_ues_have_equal_parts_of_the_band_each_where_it_is_good() {
        let means = [1e5, 1e6, 1e7];
        let (carried, _) = Cell::new(3).run(&means, &mut ProportionalFair::new(2000.0, 3));
        for (carried, mean) in carried.iter().zip(means) {
            let expected = mean * (11.0 / 6.0) / 3.0 * BANDS as f64;
            assert!(
                (carried / expected - 1.0).abs() < 0.03,
                "{carried} beside {expected}"
            );
        }
    }

    #[test]
    fn in_turn_all_have_as_many_units_and_pick_their_best() {
        let means = [1.0, 1.0, 1.0, 1.0].map(|mean| mean * 1e6);
        let mut cell = Cell::new(4);
        let (carried, oracle) = cell.run(&means, &mut RoundRobin::default());
        let all: f64 = carried.iter().sum();
        let blind = BANDS as f64 * 1e6;
        assert!(all > 1.5 * blind && all < oracle);
        for one in &carried {
            // Each UE has two units in every slot, so all UEs carry equal shares.
            assert!((one * 4.0 / all - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn no_scheduler_gives_more_of_a_sub_band_than_is_free() {
        let mut random = Stream::new(2, "free", 0);
        for entry in MAC_SCHEDULERS {
            let kind = MacSchedulerKind::new(entry.name, Parameters::NONE).expect(entry.name);
            let mut scheduler = kind.start(20, Span::from_millis(1));
            let mut shares = BandShares::default();
            for slot in 0..3_000 {
                let mut candidates: Vec<Candidate> = (0..20)
                    .map(|ue| Candidate {
                        ue: UeId(ue),
                        wanted: 1 + random.below(12) as u32,
                        rate: 1.0,
                        reported: 1.0,
                    })
                    .collect();
                candidates.retain(|_| random.chance(0.3));
                let free: Vec<u8> = (0..BANDS).map(|_| random.below(4) as u8).collect();
                let rates: Vec<f64> = (0..candidates.len() * BANDS)
                    .map(|_| (random.exponential(1.0) - 0.2).max(0.0))
                    .collect();
                let most_ues = 1 + random.below(6) as u32;
                let units = free.iter().map(|&units| u32::from(units)).sum();
                let slot_view = SlotView {
                    slot,
                    units,
                    least: 1,
                    most_ues,
                    candidates: &candidates,
                };
                let view = BandView {
                    slot: slot_view,
                    free: &free,
                    rates: &rates,
                };
                let given = shares.decide(&view, &mut scheduler);
                assert!(given.len() <= most_ues as usize, "{}", entry.name);
                for (band, &free) in free.iter().enumerate() {
                    let all: u32 = given.iter().map(|one| u32::from(one.units[band])).sum();
                    assert!(all <= u32::from(free), "{}: {all} of {free}", entry.name);
                }
                for (n, one) in given.iter().enumerate() {
                    assert!(
                        given[..n]
                            .iter()
                            .all(|other| other.candidate != one.candidate)
                    );
                    let wanted = candidates[one.candidate].wanted;
                    assert!((1..=wanted).contains(&one.total()), "{}", entry.name);
                    for (band, &units) in one.units.iter().enumerate().take(BANDS) {
                        assert!(units == 0 || rates[one.candidate * BANDS + band] > 0.0);
                    }
                }
            }
        }
    }
}
