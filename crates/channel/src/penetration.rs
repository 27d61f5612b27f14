//! Walls and car bodies.
//!
//! Standard: TR 38.901 §7.4.3.

use fadeout_core::math::{from_db, to_db};
use fadeout_core::random::Stream;

/// What stands between the base station outdoors and the UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Penetration {
    /// Nothing.
    #[default]
    None,
    /// Outer walls of an old building, 30 % plain glass.
    LowLoss,
    /// Outer walls of a thermally efficient building, 70 % coated glass.
    HighLoss,
    /// A car without metal-coated windows.
    Car,
}

/// Loss of the low-loss outer wall in dB at a carrier in GHz (Table 7.4.3-2).
pub fn low_loss_wall_db(carrier_ghz: f64) -> f64 {
    wall_db(
        (0.3, 2.0 + 0.2 * carrier_ghz),
        (0.7, 5.0 + 4.0 * carrier_ghz),
    )
}

/// Loss of the high-loss outer wall in dB.
pub fn high_loss_wall_db(carrier_ghz: f64) -> f64 {
    wall_db(
        (0.7, 23.0 + 0.3 * carrier_ghz),
        (0.3, 5.0 + 4.0 * carrier_ghz),
    )
}

/// A wall of two materials, each with its share and loss in dB (equation 7.4-2).
fn wall_db(glass: (f64, f64), concrete: (f64, f64)) -> f64 {
    5.0 - to_db(glass.0 * from_db(-glass.1) + concrete.0 * from_db(-concrete.1))
}

impl Penetration {
    /// The loss of one UE in dB: wall, way inside (0.5 dB/m over the smaller of two uniform
    /// distances up to 25 m) and spread (4.4 or 6.5 dB); in a car 9 dB with a spread of 5 dB.
    pub fn draw_db(self, carrier_ghz: f64, stream: &mut Stream) -> f64 {
        let mut indoors = |wall: f64, sigma: f64| {
            let inside = stream
                .uniform_in(0.0, 25.0)
                .min(stream.uniform_in(0.0, 25.0));
            wall + 0.5 * inside + sigma * stream.normal()
        };
        match self {
            Penetration::None => 0.0,
            Penetration::LowLoss => indoors(low_loss_wall_db(carrier_ghz), 4.4).max(0.0),
            Penetration::HighLoss => indoors(high_loss_wall_db(carrier_ghz), 6.5).max(0.0),
            Penetration::Car => (9.0 + 5.0 * stream.normal()).max(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation 7.4-2 and Table 7.4.3-2; at 1 GHz the concrete counts too.
    #[test]
    fn walls_cost_what_the_table_says() {
        for (carrier_ghz, low, high) in [
            (1.0, 10.704_210_612_555_233, 18.867_724_538_539_75),
            (28.0, 17.828_787_452_687_028, 37.949_019_594_731_09),
        ] {
            assert!((low_loss_wall_db(carrier_ghz) - low).abs() < 1e-9);
            assert!((high_loss_wall_db(carrier_ghz) - high).abs() < 1e-9);
        }
    }

    /// Mean and deviation of 20,000 draws, within five of their own deviations.
    #[test]
    fn draws_have_the_moments_of_their_parts() {
        const DRAWS: u32 = 20_000;
        // The smaller of two uniform distances up to 25 m has the mean 25/3 and the variance
        // 25^2/18; a metre costs half a decibel.
        let (inside, inside_variance) = (25.0 / 6.0, 625.0 / 72.0);
        let indoors = |wall: f64, sigma: f64| {
            let deviation: f64 = inside_variance + sigma * sigma;
            (wall + inside, deviation.sqrt())
        };
        for (penetration, (mean, deviation)) in [
            (Penetration::LowLoss, indoors(low_loss_wall_db(28.0), 4.4)),
            (Penetration::HighLoss, indoors(high_loss_wall_db(28.0), 6.5)),
            // A normal number of mean 9 and deviation 5 whose negative values count as zero.
            (Penetration::Car, (9.0714, 4.8430)),
            (Penetration::None, (0.0, 0.0)),
        ] {
            let mut stream = Stream::new(1, "test.penetration", 0);
            let draws: Vec<f64> = (0..DRAWS)
                .map(|_| penetration.draw_db(28.0, &mut stream))
                .collect();
            assert!(draws.iter().all(|&db| db >= 0.0));
            let count = f64::from(DRAWS);
            let found = draws.iter().sum::<f64>() / count;
            let squares: f64 = draws.iter().map(|db| (db - found) * (db - found)).sum();
            let spread = (squares / count).sqrt();
            let tolerance = 5.0 * deviation / count.sqrt();
            assert!(
                (found - mean).abs() <= tolerance,
                "{penetration:?}: {found}, not {mean}"
            );
            assert!(
                (spread - deviation).abs() <= tolerance,
                "{penetration:?}: {spread}"
            );
        }
    }
}
