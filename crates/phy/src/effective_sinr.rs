//! Effective SINR: one SINR for all sub-bands of a block.
//!
//! *MIESM* averages the mutual information of the sub-bands. The effective SINR is the one with the
//! average information. It uses the same curves as the error model and has no parameter.
//!
//! *EESM* is `-beta ln(mean of exp(-sinr / beta))`, with a beta fitted to link simulations for each
//! scheme.

use super::error::PhyError;
use super::mcs::{Mcs, McsTable};
use super::mutual_information::Modulation;
use fadeout_core::Decibel;
use fadeout_core::math::{exp, from_db, ln};
use std::sync::LazyLock;

/// Method that maps the SINRs of a block's sub-bands to one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EffectiveSinr {
    /// Mean of the mutual information (MIESM).
    #[default]
    Miesm,
    /// Mean of exponentials (EESM), with the beta of the MCS ([`eesm_beta`]).
    Eesm,
}

impl EffectiveSinr {
    /// Returns true if the effective SINR of a block is the same for two MCSs. The mutual
    /// information depends on the modulation only.
    pub fn is_same_for(self, one: &Mcs, other: &Mcs) -> bool {
        match self {
            EffectiveSinr::Miesm => one.modulation == other.modulation,
            EffectiveSinr::Eesm => one == other,
        }
    }

    /// Returns the linear effective SINR of a block sent with the MCS `scheme`. The SINR of each
    /// sub-band is `mean_sinr` times its entry in `gains`, all linear. Without gains the result is
    /// `mean_sinr`.
    pub fn effective(self, scheme: &Mcs, mean_sinr: f64, gains: &[f32]) -> f64 {
        debug_assert!(mean_sinr >= 0.0, "a mean SINR of {mean_sinr}");
        let sinrs = gains.iter().map(|&gain| mean_sinr * f64::from(gain));
        match (self, gains) {
            (_, []) => mean_sinr,
            (EffectiveSinr::Miesm, _) => miesm(scheme.modulation, sinrs),
            (EffectiveSinr::Eesm, _) => eesm(eesm_beta(scheme), sinrs),
        }
    }
}

/// Lowest and highest SINR of a receiver. Its own distortion (error vector magnitude) limits the
/// SINR on any channel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SinrRange {
    least: f64,
    most: f64,
    least_db: f64,
    most_db: f64,
}

impl Default for SinrRange {
    /// Returns the range from -30 to 30 dB. Receivers made for 64QAM reach about 22 dB.
    fn default() -> Self {
        SinrRange {
            least: 1e-3,
            most: 1e3,
            least_db: -30.0,
            most_db: 30.0,
        }
    }
}

impl SinrRange {
    /// Returns a range from `least` to `most`.
    pub fn new(least: Decibel, most: Decibel) -> Result<SinrRange, PhyError> {
        let (low, high) = (least.0, most.0);
        let is_valid = low <= high && low.is_finite() && high.is_finite();
        PhyError::check("highest SINR in dB", high, is_valid, "at least the lowest")?;
        Ok(SinrRange {
            least: from_db(low),
            most: from_db(high),
            least_db: low,
            most_db: high,
        })
    }

    /// Returns the linear SINR, clamped to the range.
    pub fn clip(&self, sinr: f64) -> f64 {
        sinr.max(self.least).min(self.most)
    }

    /// Returns the SINR in dB, clamped to the range.
    pub fn clip_db(&self, sinr_db: f64) -> f64 {
        sinr_db.max(self.least_db).min(self.most_db)
    }
}

/// Returns the effective SINR by mean mutual information. All values are linear. Zero without
/// SINRs.
pub fn miesm(modulation: Modulation, sinrs: impl Iterator<Item = f64>) -> f64 {
    match modulation.mean_capacity(sinrs) {
        (_, 0) => 0.0,
        (capacity, _) => modulation.snr_of_capacity(capacity),
    }
}

/// Returns the effective SINR by the mean of exponentials. All values are linear. Zero without
/// SINRs.
pub fn eesm(beta: f64, sinrs: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = sinrs.clone().count();
    if count == 0 {
        return 0.0;
    }
    // The exponents are relative to the smallest SINR. Otherwise all exponentials of strong
    // sub-bands could underflow to zero.
    let least = sinrs.clone().fold(f64::INFINITY, f64::min);
    if least.is_infinite() {
        return least;
    }
    let sum: f64 = sinrs.map(|sinr| exp((least - sinr) / beta)).sum();
    // Each exponential is at most one.
    debug_assert!(
        sum > 0.0 && sum <= count as f64,
        "the exponentials of {count} bands add up to {sum}"
    );
    least - beta * ln(sum / count as f64)
}

struct Beta {
    modulation: Modulation,
    code_rate: f64,
    beta: f64,
}

static BETAS: LazyLock<Vec<Beta>> = LazyLock::new(|| {
    let table = include_str!("../data/eesm_beta.csv");
    let mut betas = Vec::new();
    for (column, schemes) in [(1, McsTable::Qam64), (2, McsTable::Qam256)] {
        let rows = schemes.rows().iter();
        let values = table.lines().filter(|line| !line.starts_with(['#', 'm']));
        for (mcs, line) in rows.zip(values) {
            if let Some(Ok(beta)) = line.split(',').nth(column).map(str::parse) {
                betas.push(Beta {
                    modulation: mcs.modulation,
                    code_rate: mcs.code_rate,
                    beta,
                });
            }
        }
    }
    betas
});

/// Returns the linear beta of EESM for an MCS. It is the beta of the MCS in TS 38.214 Tables
/// 5.1.3.1-1 and -2 with the same modulation and the nearest code rate. The source is S. Lagen et
/// al., "New Radio Physical Layer Abstraction for System-Level Simulations of 5G Networks", IEEE
/// ICC 2020.
///
/// Standard: TS 38.214 Table 5.1.3.1-1, Table 5.1.3.1-2.
pub fn eesm_beta(scheme: &Mcs) -> f64 {
    let distance = |beta: &&Beta| (beta.code_rate - scheme.code_rate).abs();
    let of_modulation = BETAS
        .iter()
        .filter(|beta| beta.modulation == scheme.modulation);
    of_modulation
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .map_or(1.0, |beta| beta.beta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::math::to_db;

    #[test]
    fn schemes_with_the_same_effective_sinr_are_known() {
        let gains = [0.2, 1.7, 0.9, 1.2];
        let schemes = McsTable::Qam64.rows();
        for method in [EffectiveSinr::Miesm, EffectiveSinr::Eesm] {
            for one in schemes {
                for other in schemes {
                    let [first, second] = [one, other].map(|it| method.effective(it, 8.0, &gains));
                    let is_same = method.is_same_for(one, other);
                    assert!(!is_same || first == second, "{method:?} {one:?} {other:?}");
                }
            }
        }
        let (lowest, next, highest) = (&schemes[0], &schemes[1], &schemes[28]);
        assert!(EffectiveSinr::Miesm.is_same_for(lowest, next));
        assert!(!EffectiveSinr::Miesm.is_same_for(lowest, highest));
        assert!(!EffectiveSinr::Eesm.is_same_for(lowest, next));
    }

    #[test]
    fn equal_bands_are_their_own_effective_sinr() {
        let scheme = McsTable::Qam64.rows()[15];
        for method in [EffectiveSinr::Miesm, EffectiveSinr::Eesm] {
            for sinr_db in [-25.0, 0.0, 12.0] {
                let found = method.effective(&scheme, from_db(sinr_db), &[1.0; 7]);
                // The gains have 32 bits, which limits the digits.
                assert!((to_db(found) - sinr_db).abs() < 1e-6, "{method:?} {found}");
            }
            assert_eq!(method.effective(&scheme, 3.0, &[]), 3.0);
        }
    }

    #[test]
    fn unequal_bands_are_worth_less_than_their_mean() {
        let scheme = McsTable::Qam64.rows()[20];
        for method in [EffectiveSinr::Miesm, EffectiveSinr::Eesm] {
            let found = method.effective(&scheme, from_db(12.0), &[0.1, 0.5, 2.0, 1.4]);
            assert!(found < from_db(12.0) && found > from_db(2.0), "{method:?}");
        }
    }

    #[test]
    fn every_scheme_has_the_beta_of_its_row() {
        let beta = |table: McsTable, index: usize| eesm_beta(&table.rows()[index]);
        assert_eq!(beta(McsTable::Qam64, 0), 1.6);
        assert_eq!(beta(McsTable::Qam64, 28), 34.28);
        assert_eq!(beta(McsTable::Qam256, 27), 132.54);
        // The lowest row of the low-efficiency table is nearest to MCS 0 of the first table.
        assert_eq!(beta(McsTable::Qam64LowSe, 0), 1.6);
    }

    #[test]
    fn a_receiver_bounds_the_signal() {
        let range = SinrRange::new(Decibel(-10.0), Decibel(22.0)).expect("a range");
        assert!((to_db(range.clip(1e9)) - 22.0).abs() < 1e-9);
        assert!((to_db(range.clip(0.0)) + 10.0).abs() < 1e-9);
        assert_eq!((range.clip_db(40.0), range.clip_db(-40.0)), (22.0, -10.0));
        assert_eq!(
            (range.clip(2.0), SinrRange::default().clip(1e9)),
            (2.0, 1e3)
        );
        assert!(SinrRange::new(Decibel(3.0), Decibel(2.0)).is_err());
        assert!(SinrRange::new(Decibel(3.0), Decibel(f64::NAN)).is_err());
    }

    #[test]
    fn hopeless_and_perfect_bands_do_not_break() {
        for sinrs in [[0.0, 0.0], [f64::INFINITY, f64::INFINITY]] {
            assert!(!eesm(1.6, sinrs.into_iter()).is_nan());
            assert!(!miesm(Modulation::Qpsk, sinrs.into_iter()).is_nan());
        }
        assert_eq!(eesm(1.6, [0.0, 1e9].into_iter().take(1)), 0.0);
        assert_eq!(miesm(Modulation::Qpsk, std::iter::empty()), 0.0);
    }
}
