//! Distributions from which the parameters of clusters are drawn.

use crate::large_scale::{self, PlaceLaw};
use crate::path_loss::{Condition, Ends, PathLoss};
use fadeout_core::math::{atan, log10, pow};

const PARAMETERS: &str = include_str!("../../data/cluster_parameters.csv");

/// Largest number of clusters of any scenario.
pub(crate) const MOST_CLUSTERS: usize = 20;

/// Distribution of the parameters of clusters in one LOS state.
///
/// Standard: TR 38.901 Table 7.5-6.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterLaw {
    /// Number of clusters.
    pub clusters: usize,
    /// Delay scaling parameter r_tau: ratio of the standard deviation of cluster delays to the RMS
    /// delay spread, which weights delays by power.
    pub delay_scaling: f64,
    /// Standard deviation of a cluster's power around the power-delay profile, dB.
    pub shadowing_db: f64,
    /// RMS spreads of the rays within a cluster, degrees: azimuth of departure, azimuth of arrival,
    /// zenith of arrival.
    pub within_deg: [f64; 3],
    /// Scaling factors of azimuths and zeniths for this number of clusters, if there is no direct
    /// path.
    pub scaling: [f64; 2],
    /// Correlation distance of the parameters of a cluster, metres.
    pub distance_m: f64,
    /// Distributions of the decimal logarithms of the angular spreads in degrees. The order is
    /// azimuth of departure, azimuth of arrival, zenith of arrival, zenith of departure. The mean
    /// for the zenith of departure excludes the term that depends on the distance.
    pub spreads: [PlaceLaw; 4],
    condition: Condition,
    zenith: ZenithLaw,
    carrier_ghz: f64,
    scenario: &'static str,
}

/// Coefficients of the mean zenith spread of departure, which depends on distance and height.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ZenithLaw {
    floor: f64,
    per_km: f64,
    /// True if the term uses the UE's height relative to the base station. False if it uses the
    /// height above 1.5 m.
    is_above_base: bool,
    per_m: f64,
    per_m_below: f64,
}

impl ClusterLaw {
    /// Returns the distribution for the scenario of a path-loss model in one LOS state.
    pub fn new(path_loss: &PathLoss, condition: Condition, carrier_ghz: f64) -> ClusterLaw {
        let scenario = path_loss.places().scenario;
        let prefix = match condition {
            Condition::Los => format!("{scenario},LOS,"),
            Condition::Nlos => format!("{scenario},NLOS,"),
        };
        let row = PARAMETERS
            .lines()
            .find_map(|line| line.strip_prefix(&prefix))
            .expect("the table has every scenario");
        let cells: Vec<&str> = row.split(',').collect();
        let number = |column: usize| -> f64 { cells[column].parse().expect("a number") };
        let spread = |name| large_scale::angular_spread_lg(path_loss, condition, name, carrier_ghz);
        ClusterLaw {
            clusters: number(0) as usize,
            delay_scaling: number(1),
            shadowing_db: number(2),
            within_deg: [number(3), number(4), number(5)],
            scaling: [number(6), number(7)],
            distance_m: number(8),
            spreads: [spread("ASD"), spread("ASA"), spread("ZSA"), spread("ZSD")],
            zenith: ZenithLaw {
                floor: number(9),
                per_km: number(10),
                is_above_base: cells[11] == "base",
                per_m: number(12),
                per_m_below: number(13),
            },
            condition,
            carrier_ghz,
            scenario,
        }
    }

    /// Returns the mean logarithm (base 10) of the zenith spread of departure, in degrees.
    ///
    /// Standard: TR 38.901 Table 7.5-7, Table 7.5-8, Table 7.5-9, Table 7.5-10.
    pub fn zenith_departure_lg(&self, ends: &Ends) -> f64 {
        let law = &self.zenith;
        let reference = if law.is_above_base {
            ends.base_height_m
        } else {
            1.5
        };
        let above = ends.ue_height_m - reference;
        let per_m = if above < 0.0 {
            law.per_m_below
        } else {
            law.per_m
        };
        let mean = self.spreads[3].mean + law.per_km * ends.ground_m / 1000.0 + per_m * above;
        mean.max(law.floor)
    }

    /// Returns the zenith angle in degrees by which the clusters depart below the direct path.
    /// Negative if the clusters depart above the direct path.
    ///
    /// Standard: TR 38.901 Table 7.5-7, Table 7.5-8, Table 7.5-9.
    pub fn zenith_departure_offset_deg(&self, ends: &Ends) -> f64 {
        if self.condition == Condition::Los {
            return 0.0;
        }
        let (ground, height) = (ends.ground_m, ends.ue_height_m);
        match self.scenario {
            "UMi" => -pow(10.0, -1.5 * log10(ground.max(10.0)) + 3.3),
            "UMa" => {
                let lg = log10(self.carrier_ghz.max(6.0));
                let (a, b, c) = (0.208 * lg - 0.782, 25.0_f64, -0.13 * lg + 2.03);
                let exponent = a * log10(ground.max(b)) + c - 0.07 * (height - 1.5);
                7.66 * lg - 5.96 - pow(10.0, exponent)
            }
            "RMa" => {
                let ground = ground.max(1.0);
                (atan((35.0 - 3.5) / ground) - atan((35.0 - 1.5) / ground)).to_degrees()
            }
            _ => 0.0,
        }
    }

    /// Returns the divisors of azimuths, zeniths and delays for a K factor in dB.
    ///
    /// Standard: TR 38.901 §7.5.
    pub fn divisors(&self, k_db: f64) -> [f64; 3] {
        let [azimuth, zenith] = self.scaling;
        if self.condition == Condition::Nlos {
            return [azimuth, zenith, 1.0];
        }
        let by = |polynomial: [f64; 4]| {
            let [a, b, c, d] = polynomial;
            a + k_db * (b + k_db * (c + k_db * d))
        };
        [
            azimuth * by([1.1035, -0.028, -0.002, 0.0001]),
            zenith * by([1.3086, 0.0339, -0.0077, 0.0002]),
            by([0.7705, -0.0433, 0.0002, 0.000017]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::{IndoorOpen, RuralMacro, UrbanMacro, UrbanMicro};

    fn ends(ground_m: f64) -> Ends {
        Ends {
            ground_m,
            slant_m: ground_m,
            base_height_m: 10.0,
            ue_height_m: 1.5,
            carrier_ghz: 28.0,
            environment_height_m: 1.0,
        }
    }

    #[test]
    fn every_scenario_has_its_clusters() {
        for (path_loss, los, nlos) in [
            (PathLoss::UrbanMicro(UrbanMicro), 12, 19),
            (PathLoss::UrbanMacro(UrbanMacro), 12, 20),
            (PathLoss::RuralMacro(RuralMacro::default()), 11, 10),
            (PathLoss::IndoorOpen(IndoorOpen), 15, 19),
        ] {
            let clusters_in = |condition| ClusterLaw::new(&path_loss, condition, 28.0).clusters;
            assert_eq!(
                (clusters_in(Condition::Los), clusters_in(Condition::Nlos)),
                (los, nlos)
            );
            assert!(los.max(nlos) <= MOST_CLUSTERS);
        }
    }

    #[test]
    fn zenith_spreads_and_offsets_are_those_of_the_tables() {
        let micro = PathLoss::UrbanMicro(UrbanMicro);
        let los = ClusterLaw::new(&micro, Condition::Los, 28.0);
        let nlos = ClusterLaw::new(&micro, Condition::Nlos, 28.0);
        // In LOS at 20 m, the value is -14.8 * 0.02 + 0.01 * 8.5 + 0.83. The second value is the
        // lower limit. The third value is -3.1 * 0.1 + 0.2.
        assert!((los.zenith_departure_lg(&ends(20.0)) - 0.619).abs() < 1e-12);
        assert_eq!(los.zenith_departure_lg(&ends(300.0)), -0.21);
        assert!((nlos.zenith_departure_lg(&ends(100.0)) + 0.11).abs() < 1e-12);
        // The expected offset is -10^(-1.5 lg 100 + 3.3).
        assert!((nlos.zenith_departure_offset_deg(&ends(100.0)) + 1.99526).abs() < 1e-5);
        assert_eq!(los.zenith_departure_offset_deg(&ends(100.0)), 0.0);
        let macro_cell = PathLoss::UrbanMacro(UrbanMacro);
        let nlos = ClusterLaw::new(&macro_cell, Condition::Nlos, 6.0);
        // The expected offset is 7.66 lg 6 - 5.96 - 10^((0.208 lg 6 - 0.782) lg 100 - 0.13 lg 6 +
        // 2.03), with lg 6 = 0.77815.
        assert!((nlos.zenith_departure_offset_deg(&ends(100.0)) + 4.880_84).abs() < 1e-4);
    }

    #[test]
    fn a_direct_path_narrows_the_scaling() {
        let micro = PathLoss::UrbanMicro(UrbanMicro);
        let law = ClusterLaw::new(&micro, Condition::Los, 28.0);
        let [azimuth, zenith, delay] = law.divisors(9.0);
        // The expected divisors are 1.146 (1.1035 - 0.252 - 0.162 + 0.0729) and 1.104 (1.3086 +
        // 0.3051 - 0.6237 + 0.1458).
        assert!((azimuth - 1.146 * 0.7624).abs() < 1e-9);
        assert!((zenith - 1.104 * 1.1358).abs() < 1e-9);
        assert!((delay - 0.409_393).abs() < 1e-6, "{delay}");
    }
}
