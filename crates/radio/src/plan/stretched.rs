//! Periods that a TDD pattern stretches, for a warning to the user.

use super::{frame, grant_occasions, request_occasions, slots_period};
use crate::config::{AirInterface, CellConfig};
use crate::mac::Occasions;
use crate::mac::request::request_periods;
use fadeout_core::Span;

/// Period of uplink occasions that the pattern of a cell stretches. Some occasions lie in slots
/// without symbols for an occasion, so the mean period is longer.
///
/// Standard: TS 38.213 §9.2.4; TS 36.213 §10.1.5; TS 38.321 §5.8.2.
#[derive(Debug, Clone, PartialEq)]
pub struct StretchedPeriod {
    /// Key of the cell's `radio` with the period.
    pub key: &'static str,
    /// Period in slots.
    pub slots: u32,
    /// Mean number of slots from one occasion with symbols to the next. Infinite if no occasion has
    /// symbols.
    pub mean_slots: f64,
    /// Length of a slot.
    pub slot: Span,
    /// Length of the pattern in slots.
    pub pattern: u64,
    /// Periods in slots that the pattern does not stretch.
    pub fitting: Vec<u32>,
}

impl StretchedPeriod {
    /// Returns the stretched periods of a cell. Empty if the configuration has no valid frame.
    pub fn find_all(config: &CellConfig) -> Vec<StretchedPeriod> {
        let Ok(frame) = frame(config) else {
            return Vec::new();
        };
        let mu = match config.air {
            AirInterface::Lte { .. } => None,
            AirInterface::Nr { mu } => Some(mu),
        };
        let pattern = frame.pattern_slots();
        let stretched = |key, slots, occasions: &Occasions, periods: &[u32]| {
            let is_kept =
                |period: &u32| occasions.with_period(*period).stretched_period().is_none();
            Some(StretchedPeriod {
                key,
                slots,
                mean_slots: occasions.stretched_period()?,
                slot: frame.slot(),
                pattern,
                fitting: periods.iter().copied().filter(is_kept).collect(),
            })
        };
        let period = config.requests.period;
        let of_requests = request_occasions(period, &config.timing, &frame);
        let requests = stretched("sr-period", period, &of_requests, request_periods(mu));
        let grants = config.configured_grant.and_then(|grant| {
            let multiples = [1, 2, 3].map(|n| n * pattern as u32);
            let of_grants = grant_occasions(config, &frame, slots_period(config, &frame))?;
            stretched(
                "configured-grant-period",
                grant.period,
                &of_grants,
                &multiples,
            )
        });
        requests.into_iter().chain(grants).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfiguredGrant;
    use crate::phy::frame::{Duplex, SpecialSlot, TddPattern};
    use fadeout_core::{Hertz, Point};

    fn nr(pattern: &str, sr_period: u32, grant_period: Option<u32>) -> CellConfig {
        let nr = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell");
        let mut requests = nr.requests;
        requests.period = sr_period;
        let pattern = TddPattern::new(pattern, SpecialSlot::default(), 14).expect("a pattern");
        CellConfig {
            duplex: Duplex::Tdd(pattern),
            requests,
            configured_grant: grant_period.map(|period| ConfiguredGrant {
                period,
                units: 1,
                scheme: 4,
            }),
            ..nr
        }
    }

    #[test]
    fn what_a_pattern_stretches_is_named_with_what_fits() {
        let found = StretchedPeriod::find_all(&nr("DDDSU", 8, Some(1)));
        let [requests, grants] = &found[..] else {
            panic!("two periods, not {found:?}");
        };
        assert_eq!((requests.key, requests.mean_slots), ("sr-period", 20.0));
        assert_eq!(requests.fitting, [10, 20, 40, 80, 160]);
        // The special slot has symbols for PUCCH but none for data, so the period of configured
        // grants is stretched too.
        let name = "configured-grant-period";
        assert_eq!((grants.key, grants.mean_slots), (name, 5.0));
        assert_eq!(grants.fitting, [5, 10, 15]);
    }

    #[test]
    fn what_fits_is_not_named() {
        assert_eq!(StretchedPeriod::find_all(&nr("DDDSU", 10, Some(5))), []);
        assert_eq!(StretchedPeriod::find_all(&nr("DDSU", 8, None)), []);
        let fdd = CellConfig::lte(Point::default(), Hertz(2e9), 50);
        assert_eq!(StretchedPeriod::find_all(&fdd), []);
    }
}
