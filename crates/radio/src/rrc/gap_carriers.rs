//! Choice of the carrier that a UE measures in a gap. Each gap is for one carrier, and each carrier
//! is measured as often as the standard requires.

use crate::rlc::Generation;
use fadeout_core::{Span, Time};

/// Returns the time between two measurements of a carrier, if all gaps are used for that carrier.
/// In LTE the time is T_Measurement_Period_Inter. In NR it is eight gap periods, and at least 200
/// ms.
///
/// Standard: TS 36.133 §8.1.2.3.1; TS 38.133 §9.3.5.
pub(crate) fn inter_frequency_period(generation: Generation, gap_period: Span) -> Span {
    match generation {
        Generation::Lte => Span::from_millis(480),
        // SS/PBCH blocks have a period of 20 ms.
        Generation::Nr => (gap_period.max(Span::from_millis(20)) * 8).max(Span::from_millis(200)),
    }
}

/// Carriers that a UE measures in gaps, and the times at which their measurements are due.
#[derive(Debug)]
pub(crate) struct GapCarriers {
    /// Carrier number of each cell.
    carriers: Vec<usize>,
    /// For each carrier, the time at which its next measurement is due, and the time of its last
    /// measurement.
    due: Vec<(Time, Option<Time>)>,
}

impl GapCarriers {
    /// Returns the state for cells with these carrier numbers, which count from zero.
    pub(crate) fn new(carriers: Vec<usize>) -> GapCarriers {
        let count = carriers.iter().max().map_or(0, |most| most + 1);
        GapCarriers {
            carriers,
            due: vec![(Time::ZERO, None); count],
        }
    }

    /// True if two cells are on the same carrier.
    pub(crate) fn share(&self, one: usize, other: usize) -> bool {
        self.carriers[one] == self.carriers[other]
    }

    /// True if the cell is on this carrier.
    pub(crate) fn is_on(&self, position: usize, carrier: usize) -> bool {
        self.carriers[position] == carrier
    }

    /// Assigns the present gap to the carrier whose measurement has been due for the longest time.
    /// Among equal times the first carrier gets the gap. Carriers of the cells in `served` need no
    /// gaps. `period` gives the measurement period of a cell's carrier if no other carrier used the
    /// gaps. Returns the carrier and the time since its last measurement. `None` if no carrier is
    /// due.
    pub(crate) fn assign_gap(
        &mut self,
        now: Time,
        served: &[usize],
        period: impl Fn(usize) -> Span,
    ) -> Option<(usize, Span)> {
        let is_served = |carrier: usize| served.iter().any(|&cell| self.carriers[cell] == carrier);
        let others = (0..self.due.len()).filter(|&carrier| !is_served(carrier));
        let count = others.clone().count() as u64;
        let due = others.filter(|&carrier| self.due[carrier].0 <= now);
        let carrier = due.min_by_key(|&carrier| (self.due[carrier].0, carrier))?;
        let cell = self.carriers.iter().position(|&other| other == carrier)?;
        let period = period(cell) * count;
        let last = self.due[carrier].1;
        self.due[carrier] = (now.saturating_add(period), Some(now));
        Some((carrier, last.map_or(period, |last| now.since(last))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_share_the_gaps_and_those_of_serving_cells_need_none() {
        let mut carriers = GapCarriers::new(vec![0, 1, 2, 0]);
        assert!(carriers.share(0, 3) && !carriers.share(0, 1) && carriers.is_on(3, 0));
        let time_at_ms = |ms| Time::ZERO + Span::from_millis(ms);
        let ms = Span::from_millis;
        let mut assign =
            |now, served: &[usize]| carriers.assign_gap(time_at_ms(now), served, |_| ms(480));
        // Carriers 1 and 2 share the gaps. A carrier alone is measured every 480 ms, so each of the
        // two is due every 960 ms.
        let found: Vec<_> = (0..15).map(|n| assign(200 * n, &[3])).collect();
        let expected = [Some((1, ms(960))), Some((2, ms(960))), None, None, None];
        assert_eq!(found[..5], expected);
        assert_eq!(
            found[5..10],
            [Some((1, ms(1000))), Some((2, ms(1000))), None, None, None]
        );
        // Carrier 1 now has a secondary cell and needs no gaps. Carrier 2 uses all gaps, so its
        // measurement is due every 480 ms.
        assert_eq!(assign(3200, &[0, 1]), Some((2, ms(1000))));
        assert_eq!(assign(3600, &[0, 1]), None);
        assert_eq!(assign(3680, &[0, 1]), Some((2, ms(480))));
        assert_eq!(assign(9000, &[0, 1, 2]), None);
    }

    #[test]
    fn periods_are_those_of_the_generations() {
        let ms = Span::from_millis;
        for (generation, gap_ms, period_ms) in [
            (Generation::Lte, 40, 480),
            (Generation::Lte, 80, 480),
            (Generation::Nr, 20, 200),
            (Generation::Nr, 40, 320),
            (Generation::Nr, 160, 1280),
        ] {
            assert_eq!(
                inter_frequency_period(generation, ms(gap_ms)),
                ms(period_ms)
            );
        }
    }
}
