//! The soft passage between LOS and NLOS.
//!
//! Near the border the channel is `w H_LOS + sqrt(1 - w^2) H_NLOS`, so both conditions' powers add
//! up with the shares `w^2` and `1 - w^2`.
//!
//! Where the border is the edge of a building, `w` is what diffraction leaves of the direct path.
//!
//! Standard: TR 38.901 §7.6.3.3; ITU-R P.526-15 §4.1.

use super::knife_edge;
use super::path_loss::Condition;
use fadeout_core::math::{atan, from_db, pow, to_db};
use std::f64::consts::FRAC_1_PI;

/// The weight w of LOS in the amplitude, from 0 to 1, where the Gaussian field of the state is
/// `beyond` standard deviations on the LOS side of its threshold:
/// `1/2 + atan(sqrt(20 / wavelength) beyond) / pi`.
pub(super) fn los_weight(beyond: f64, wavelength_m: f64) -> f64 {
    0.5 + atan((20.0 / wavelength_m).sqrt() * beyond) * FRAC_1_PI
}

/// The same behind an edge with the diffraction parameter `v`: what is left of the direct path's
/// amplitude, a half at the edge.
pub(super) fn weight_behind_an_edge(v: f64) -> f64 {
    pow(10.0, -knife_edge::loss(v).0 / 20.0)
}

/// Power that a weight gives LOS over what it leaves to NLOS, dB.
pub(super) fn lead_db(los_weight: f64) -> f64 {
    debug_assert!(
        (0.0..=1.0).contains(&los_weight),
        "LOS has a weight of {los_weight}"
    );
    let los = los_weight * los_weight;
    to_db(los / (1.0 - los))
}

/// The power of a condition while the other mixes in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transition {
    /// Share of LOS in the power.
    pub(super) los_share: f64,
    /// The power of the mix over that of the condition alone, dB.
    pub(super) gain_db: f64,
}

impl Transition {
    /// One condition alone.
    pub(super) fn none(condition: Condition) -> Transition {
        Transition {
            los_share: match condition {
                Condition::Los => 1.0,
                Condition::Nlos => 0.0,
            },
            gain_db: 0.0,
        }
    }

    /// In `condition`, with this weight of LOS; the other condition has a loss of `excess_db` more.
    pub(super) fn new(condition: Condition, los_weight: f64, excess_db: f64) -> Transition {
        let los = los_weight * los_weight;
        let other = from_db(-excess_db);
        let (los, nlos) = match condition {
            Condition::Los => (los, (1.0 - los) * other),
            Condition::Nlos => (los * other, 1.0 - los),
        };
        debug_assert!(
            (0.0..=1.0).contains(&los_weight),
            "LOS has a weight of {los_weight}"
        );
        debug_assert!(
            los + nlos > 0.0,
            "neither condition has any power, at an excess of {excess_db} dB"
        );
        Transition {
            los_share: los / (los + nlos),
            gain_db: to_db(los + nlos),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_the_same_from_either_side() {
        let los = Transition::new(Condition::Los, 0.6, 20.0);
        let nlos = Transition::new(Condition::Nlos, 0.6, -20.0);
        // 0.36 of LOS and 0.64 of a hundredth of it.
        assert!((los.gain_db - to_db(0.3664)).abs() < 1e-12, "{los:?}");
        assert!(
            (nlos.gain_db - los.gain_db - 20.0).abs() < 1e-12,
            "{nlos:?}"
        );
        assert!((los.los_share - nlos.los_share).abs() < 1e-12);
        assert!((los.los_share - 0.36 / 0.3664).abs() < 1e-12);
    }

    #[test]
    fn far_from_the_border_one_condition_is_left() {
        assert_eq!(los_weight(f64::INFINITY, 0.01), 1.0);
        assert_eq!(los_weight(f64::NEG_INFINITY, 0.01), 0.0);
        assert_eq!(los_weight(0.0, 0.01), 0.5);
        for condition in [Condition::Los, Condition::Nlos] {
            let weight = if condition == Condition::Los {
                1.0
            } else {
                0.0
            };
            let alone = Transition::new(condition, weight, 7.0);
            assert_eq!(alone, Transition::none(condition));
        }
    }

    #[test]
    fn the_passage_is_as_steep_as_the_wavelength_says() {
        // sqrt(20 / 0.05) is 20.
        let weight = los_weight(1.0, 0.05);
        assert!((weight - 0.984_097_748_743_823_6).abs() < 1e-12, "{weight}");
    }
}
