//! Distributions of K factor, delay spread and angular spreads over positions.

use super::path_loss::{Condition, PathLoss};
use fadeout_core::math::log10;

const PARAMETERS: &str = include_str!("../data/large_scale_parameters.csv");

/// Distribution of a parameter that varies over positions with a normal distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaceLaw {
    /// Mean over all positions.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
    /// Distance in metres at which the correlation has fallen to 1/e.
    pub distance_m: f64,
}

/// Returns the distribution of the K factor in dB in line of sight.
///
/// Standard: TR 38.901 Table 7.5-6.
pub fn k_factor_db(path_loss: &PathLoss) -> PlaceLaw {
    law(path_loss.places().scenario, Condition::Los, "K", 1.0)
}

/// Returns the distribution of the decimal logarithm of the RMS delay spread in seconds.
///
/// Standard: TR 38.901 Table 7.5-6.
pub fn delay_spread_lg(path_loss: &PathLoss, condition: Condition, carrier_ghz: f64) -> PlaceLaw {
    law(path_loss.places().scenario, condition, "DS", carrier_ghz)
}

/// Returns the distribution of the decimal logarithm of an angular spread in degrees. `parameter`
/// is `ASD`, `ASA`, `ZSA` or `ZSD`. The result for `ZSD` excludes the terms that depend on the
/// distance.
///
/// Standard: TR 38.901 Table 7.5-6.
pub fn angular_spread_lg(
    path_loss: &PathLoss,
    condition: Condition,
    parameter: &str,
    carrier_ghz: f64,
) -> PlaceLaw {
    law(
        path_loss.places().scenario,
        condition,
        parameter,
        carrier_ghz,
    )
}

fn law(scenario: &str, condition: Condition, parameter: &str, carrier_ghz: f64) -> PlaceLaw {
    let condition = match condition {
        Condition::Los => "LOS",
        Condition::Nlos => "NLOS",
    };
    let read = |line: &str| {
        let rest = line.strip_prefix(&format!("{scenario},{condition},{parameter},"))?;
        let mut numbers = rest.split(',').map_while(|number| number.parse().ok());
        let mut next = || -> Option<f64> { numbers.next() };
        let (offset, floor_ghz) = (next()?, next()?);
        let decades = log10((offset + carrier_ghz.max(floor_ghz)).max(1.0));
        let (mean_slope, mean) = (next()?, next()?);
        let (deviation_slope, deviation) = (next()?, next()?);
        Some(PlaceLaw {
            mean: mean_slope * decades + mean,
            deviation: deviation_slope * decades + deviation,
            distance_m: next()?,
        })
    };
    PARAMETERS
        .lines()
        .find_map(read)
        .expect("the table has every scenario")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::{IndoorMixed, IndoorOpen, RuralMacro, UrbanMacro, UrbanMicro};

    #[test]
    fn every_scenario_has_its_row_of_the_table() {
        let indoor = delay_spread_lg(&PathLoss::IndoorOpen(IndoorOpen), Condition::Nlos, 28.0);
        // The expected values are -0.28 lg 29 - 7.173 and 0.10 lg 29 + 0.055.
        assert!((indoor.mean + 7.5825).abs() < 1e-4, "{indoor:?}");
        assert!((indoor.deviation - 0.20124).abs() < 1e-5, "{indoor:?}");
        let macro_cell = delay_spread_lg(&PathLoss::UrbanMacro(UrbanMacro), Condition::Los, 2.0);
        // Carriers below 6 GHz use the values at 6 GHz, so the expected mean is -6.955 - 0.0963 lg
        // 6.
        assert!((macro_cell.mean + 7.02994).abs() < 1e-5, "{macro_cell:?}");
        for model in [
            PathLoss::UrbanMicro(UrbanMicro),
            PathLoss::UrbanMacro(UrbanMacro),
            PathLoss::IndoorMixed(IndoorMixed),
        ] {
            let law = k_factor_db(&model);
            assert!(
                (7.0..=9.0).contains(&law.mean) && law.deviation >= 3.5,
                "{law:?}"
            );
            for condition in [Condition::Los, Condition::Nlos] {
                let law = delay_spread_lg(&model, condition, 3.5);
                assert!((-8.0..-6.0).contains(&law.mean), "{law:?}");
            }
        }
        let rural = PathLoss::RuralMacro(RuralMacro::default());
        assert_eq!(k_factor_db(&rural).distance_m, 40.0);
        assert_eq!(delay_spread_lg(&rural, Condition::Nlos, 0.7).mean, -7.43);
    }
}
