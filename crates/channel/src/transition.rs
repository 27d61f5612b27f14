//! Soft transition between LOS and NLOS.
//!
//! Near the border between LOS and NLOS the channel is `w H_LOS + sqrt(1 - w^2) H_NLOS`. So the
//! powers of both states add up with the shares `w^2` and `1 - w^2`.
//!
//! If the border is the edge of a building, `w` is the amplitude of the direct path after
//! diffraction.
//!
//! Standard: TR 38.901 §7.6.3.3; ITU-R P.526-15 §4.1.

use super::knife_edge;
use super::path_loss::Condition;
use fadeout_core::math::{atan, from_db, pow, to_db};
use std::f64::consts::FRAC_1_PI;

/// Returns the weight w of LOS in the amplitude, from 0 to 1: `1/2 + atan(sqrt(20 / wavelength)
/// beyond) / pi`. `beyond` is the distance of the Gaussian state field from its threshold, in
/// standard deviations, positive on the LOS side.
pub(super) fn los_weight(beyond: f64, wavelength_m: f64) -> f64 {
    0.5 + atan((20.0 / wavelength_m).sqrt() * beyond) * FRAC_1_PI
}

/// Returns the weight of LOS behind an edge with the diffraction parameter `v`. It is the amplitude
/// of the direct path after diffraction, which is a half at the edge.
pub(super) fn weight_behind_an_edge(v: f64) -> f64 {
    pow(10.0, -knife_edge::loss(v).0 / 20.0)
}

/// Returns the power of LOS relative to NLOS, for this weight of LOS in the amplitude, in dB.
pub(super) fn lead_db(los_weight: f64) -> f64 {
    debug_assert!(
        (0.0..=1.0).contains(&los_weight),
        "LOS has a weight of {los_weight}"
    );
    let los = los_weight * los_weight;
    to_db(los / (1.0 - los))
}

/// Power shares of LOS and NLOS while both contribute to the channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transition {
    /// Share of LOS in the power.
    pub(super) los_share: f64,
    /// Power of the mixed channel relative to that of its main LOS state alone, dB.
    pub(super) gain_db: f64,
}

impl Transition {
    /// Returns a channel in one LOS state without a transition.
    pub(super) fn none(condition: Condition) -> Transition {
        Transition {
            los_share: match condition {
                Condition::Los => 1.0,
                Condition::Nlos => 0.0,
            },
            gain_db: 0.0,
        }
    }

    /// Returns the mix for this weight of LOS, relative to the state `condition`. The loss of the
    /// other state is `excess_db` higher.
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
        // LOS contributes a power of 0.36. The NLOS level is a hundredth, so NLOS contributes 0.64
        // * 0.01. The sum is 0.3664.
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
        // The factor sqrt(20 / 0.05) is 20.
        let weight = los_weight(1.0, 0.05);
        assert!((weight - 0.984_097_748_743_823_6).abs() < 1e-12, "{weight}");
    }
}
