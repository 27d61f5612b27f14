//! Downlink scheduling by sub-bands, used if UEs report a CQI for each sub-band. Each transport
//! block uses the best sub-bands of its UE.

use super::competition::{Competition, Entrant, Offer};
use super::downlink::SlotResources;
use super::{CellMac, Served};
use crate::config::LegId;
use crate::mac::scheduler::{BandShares, BandView, BuiltInScheduler, best_of};
use crate::phy::sub_band::{BandSet, MOST_SUB_BANDS};
use crate::plan::{BandCqi, SubBands};

/// Unallocated units of a slot in each sub-band, and the units allocated to UEs.
#[derive(Debug, Default)]
pub(super) struct Bands {
    free: [u8; MOST_SUB_BANDS],
    count: usize,
    rates: Vec<f64>,
    shares: BandShares,
}

/// Number of units allocated to one UE, and their sub-bands.
pub(super) struct BandAllocation {
    pub units: u32,
    pub set: BandSet,
    by_band: [u8; MOST_SUB_BANDS],
}

impl Bands {
    /// Begins a slot with `units` units. If the slot has fewer units than the band, synchronisation
    /// signals occupy the missing units in the middle of the band.
    pub(super) fn begin_slot(&mut self, sub_bands: &SubBands, units: u32) {
        self.count = sub_bands.count();
        self.free[..self.count].copy_from_slice(sub_bands.units());
        let all: u32 = sub_bands.units().iter().map(|&n| u32::from(n)).sum();
        let mut taken = all.saturating_sub(units);
        // Missing units are removed from the middle of the band outwards.
        for n in 0..self.count {
            let step = n.div_ceil(2);
            let middle = self.count / 2;
            let band = if n % 2 == 0 {
                middle + step
            } else {
                middle - step
            };
            let from = u32::from(self.free[band]).min(taken);
            self.free[band] -= from as u8;
            taken -= from;
        }
    }

    /// Allocates up to `units` unallocated units, beginning with those in the sub-bands with the
    /// highest CQI.
    fn take_best(&mut self, units: u32, cqi: &BandCqi) -> BandSet {
        let (mut set, mut left) = (BandSet::default(), units);
        while left > 0 {
            // Without a report, all sub-bands have the same rate.
            let rate = |band: usize| 1.0 + f64::from(cqi[band]);
            let Some(band) = best_of(&self.free[..self.count], rate) else {
                break;
            };
            let taken = u32::from(self.free[band]).min(left);
            self.free[band] -= taken as u8;
            left -= taken;
            set.insert(band);
        }
        set
    }

    /// Allocates the unallocated units to the UEs of a competition. `rate` returns the rate of one
    /// unit of a sub-band for a UE.
    pub(super) fn decide(
        &mut self,
        competition: &Competition,
        offer: &Offer,
        scheduler: &mut BuiltInScheduler,
        mut rate: impl FnMut(Entrant, usize) -> f64,
    ) {
        self.rates.clear();
        for (position, entrant) in competition.entrants().enumerate() {
            let weight = competition.weight_at(position);
            let rates = (0..self.count).map(|band| weight * rate(entrant, band));
            self.rates.extend(rates);
        }
        let view = BandView {
            slot: competition.view(offer),
            free: &self.free[..self.count],
            rates: &self.rates,
        };
        self.shares.decide(&view, scheduler);
    }

    /// Returns the index of a UE in the competition, and the UE's allocation. `None` if fewer UEs
    /// have an allocation.
    pub(super) fn winner(&self, number: usize) -> Option<(usize, BandAllocation)> {
        let share = self.shares.shares().get(number)?;
        let mut set = BandSet::default();
        for (band, _) in share
            .units
            .iter()
            .enumerate()
            .filter(|(_, units)| **units > 0)
        {
            set.insert(band);
        }
        let part = BandAllocation {
            units: share.total(),
            set,
            by_band: share.units,
        };
        Some((share.candidate, part))
    }
}

impl CellMac {
    /// Begins a downlink slot with this number of units.
    pub(super) fn begin_bands(&mut self, units: u32) {
        if let (Some(bands), Some(sub_bands)) = (&mut self.bands, &self.plan.sub_bands) {
            bands.begin_slot(sub_bands, units);
        }
    }

    /// Returns the sub-bands for a retransmission on this number of units.
    pub(super) fn bands_to_repeat(
        &mut self,
        leg: LegId,
        units: u32,
        served: &impl Served,
    ) -> BandSet {
        match &mut self.bands {
            None => BandSet::default(),
            Some(bands) => bands.take_best(units, served.sub_band_cqi(leg)),
        }
    }

    /// Allocates the remaining units of a slot by sub-bands. Returns false, and allocates nothing,
    /// if the cell does not schedule by sub-bands.
    pub(super) fn share_bands(
        &mut self,
        competition: &Competition,
        offer: &Offer,
        remaining: &mut SlotResources,
        served: &mut impl Served,
    ) -> bool {
        let Some(mut bands) = self.bands.take() else {
            return false;
        };
        if !competition.is_empty() && offer.most_ues > 0 {
            let adaptation = self.plan.down.adaptation();
            let legs = &self.served;
            bands.decide(
                competition,
                offer,
                &mut self.down.scheduler,
                |entrant, band| {
                    let (leg, _) = legs[entrant.rnti.index()];
                    let cqi = served.sub_band_cqi(leg)[band];
                    let of_layer = adaptation.map_or(0.0, |it| it.efficiency_of_cqi(cqi));
                    of_layer * f64::from(self.plan.down.scheme(entrant.scheme.into()).layers)
                },
            );
            let mut number = 0;
            while let Some((position, part)) = bands.winner(number) {
                number += 1;
                let entrant = competition.entrant(position);
                let (leg, _) = self.served[entrant.rnti.index()];
                let by_band = &part.by_band;
                if let Some((scheme, cqi)) = served.scheme_over(&self.plan, leg, by_band) {
                    let rnti = entrant.rnti;
                    let chosen = Entrant { rnti, scheme, cqi };
                    self.send_new(chosen, (part.units, part.set), remaining, served);
                }
            }
        }
        self.bands = Some(bands);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CellConfig;
    use crate::plan::CellPlan;
    use fadeout_core::{CellId, Hertz, Point};

    #[test]
    fn a_block_that_is_sent_again_lies_where_its_ue_hears_best_of_what_is_left() {
        let config = CellConfig {
            cqi_sub_band: Some(8),
            ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
        };
        let plan = CellPlan::new(CellId(0), config).expect("a cell");
        let sub_bands = plan.sub_bands.as_ref().expect("sub-bands");
        let mut bands = Bands::default();
        bands.begin_slot(sub_bands, 25);
        let mut cqi = [5; MOST_SUB_BANDS];
        (cqi[3], cqi[9]) = (9, 8);
        // 100 resource blocks form thirteen sub-bands. Twelve of them have two resource block
        // groups, and the last has one.
        let first = bands.take_best(3, &cqi);
        assert_eq!(
            [3, 9, 0].map(|band| first.contains(band)),
            [true, true, false]
        );
        let second = bands.take_best(2, &cqi);
        assert_eq!(
            [3, 9, 0].map(|band| second.contains(band)),
            [false, true, true]
        );
        let rest = bands.take_best(100, &cqi);
        assert!(!rest.contains(3) && !rest.contains(9) && rest.contains(12));
        assert!(bands.take_best(1, &cqi).is_empty());
    }

    #[test]
    fn what_signals_take_lies_in_the_middle() {
        let config = CellConfig {
            cqi_sub_band: Some(8),
            ..CellConfig::lte(Point::default(), Hertz(2e9), 100)
        };
        let plan = CellPlan::new(CellId(0), config).expect("a cell");
        let mut bands = Bands::default();
        bands.begin_slot(plan.sub_bands.as_ref().expect("sub-bands"), 25 - 5);
        assert_eq!(bands.free[..13], [2, 2, 2, 2, 2, 0, 0, 1, 2, 2, 2, 2, 1]);
    }
}
