//! Which carrier a UE measures in a gap: one at a time, each as often as the standard asks.

use crate::rlc::Generation;
use fadeout_core::{Span, Time};

/// From one measurement of a carrier to the next where it is the only one: in LTE
/// T_Measurement_Period_Inter, in NR eight gaps and at least 200 ms. Several share the gaps.
///
/// Standard: TS 36.133 §8.1.2.3.1; TS 38.133 §9.3.5.
pub(crate) fn inter_frequency_period(generation: Generation, gap_period: Span) -> Span {
    match generation {
        Generation::Lte => Span::from_millis(480),
        // SS/PBCH blocks come each 20 ms.
        Generation::Nr => (gap_period.max(Span::from_millis(20)) * 8).max(Span::from_millis(200)),
    }
}

/// The carriers that a UE measures, and when each is due.
#[derive(Debug)]
pub(crate) struct Turns {
    /// By cell, the number of its carrier.
    carriers: Vec<usize>,
    /// By carrier: when it is due, and when it was measured.
    due: Vec<(Time, Option<Time>)>,
}

impl Turns {
    /// Cells with these carriers, numbered from zero.
    pub(crate) fn new(carriers: Vec<usize>) -> Turns {
        let count = carriers.iter().max().map_or(0, |most| most + 1);
        Turns {
            carriers,
            due: vec![(Time::ZERO, None); count],
        }
    }

    /// Whether two cells have one carrier.
    pub(crate) fn share(&self, one: usize, other: usize) -> bool {
        self.carriers[one] == self.carriers[other]
    }

    /// Whether the cell is on this carrier.
    pub(crate) fn is_on(&self, position: usize, carrier: usize) -> bool {
        self.carriers[position] == carrier
    }

    /// The gap of now is for the carrier that is due longest, of equals the first. The cells of `served` are on
    /// carriers that need none. Its number, and how long ago it was measured; `period` says of a cell how often its
    /// carrier is, were it the only one.
    pub(crate) fn take(
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
        let mut turns = Turns::new(vec![0, 1, 2, 0]);
        assert!(turns.share(0, 3) && !turns.share(0, 1) && turns.is_on(3, 0));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let ms = Span::from_millis;
        let mut take = |now, served: &[usize]| turns.take(at(now), served, |_| ms(480));
        // Two carriers, either of them each 960 ms.
        let found: Vec<_> = (0..15).map(|n| take(200 * n, &[3])).collect();
        let expected = [Some((1, ms(960))), Some((2, ms(960))), None, None, None];
        assert_eq!(found[..5], expected);
        assert_eq!(
            found[5..10],
            [Some((1, ms(1000))), Some((2, ms(1000))), None, None, None]
        );
        // With a secondary cell on the second one, the third alone.
        assert_eq!(take(3200, &[0, 1]), Some((2, ms(1000))));
        assert_eq!(take(3600, &[0, 1]), None);
        assert_eq!(take(3680, &[0, 1]), Some((2, ms(480))));
        assert_eq!(take(9000, &[0, 1, 2]), None);
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
