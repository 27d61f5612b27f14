//! Walls and car bodies.
//!
//! Standard: TR 38.901 §7.4.3.

use fadeout_core::data::{cell, number};
use fadeout_core::math::{from_db, to_db};
use fadeout_core::random::Stream;

/// The wall or car body between the base station outdoors and the UE.
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

const NUMBERS: &str = include_str!("../../../data/penetration.csv");

/// A material: its loss is a line over the carrier.
#[derive(Debug, Clone, Copy)]
struct Material {
    constant_db: f64,
    slope_db_per_ghz: f64,
}

impl Material {
    const fn of(row: &str) -> Material {
        Material {
            constant_db: number(NUMBERS, row, 1),
            slope_db_per_ghz: number(NUMBERS, row, 2),
        }
    }

    fn loss_db(&self, carrier_ghz: f64) -> f64 {
        self.constant_db + self.slope_db_per_ghz * carrier_ghz
    }
}

/// An outer wall: a share of glass, and concrete.
#[derive(Debug, Clone, Copy)]
struct Wall {
    glass: Material,
    glass_share: f64,
    concrete_share: f64,
    sigma_db: f64,
}

const CONCRETE: Material = Material::of("concrete");
const LOW_LOSS: Wall = Wall::of("low-loss");
const HIGH_LOSS: Wall = Wall::of("high-loss");

impl Wall {
    const fn of(row: &str) -> Wall {
        Wall {
            glass: Material::of(cell(NUMBERS, row, 1)),
            glass_share: number(NUMBERS, row, 2),
            concrete_share: number(NUMBERS, row, 3),
            sigma_db: number(NUMBERS, row, 4),
        }
    }

    /// Equation 7.4-2.
    fn loss_db(&self, carrier_ghz: f64) -> f64 {
        let part = |share: f64, of: &Material| share * from_db(-of.loss_db(carrier_ghz));
        let glass = part(self.glass_share, &self.glass);
        5.0 - to_db(glass + part(self.concrete_share, &CONCRETE))
    }

    /// The loss of one UE behind it: the wall's, that of the way inside (0.5 dB/m over the smaller
    /// of two uniform distances up to 25 m), and their spread.
    fn draw_db(&self, carrier_ghz: f64, stream: &mut Stream) -> f64 {
        let mut distance = || stream.uniform_in(0.0, 25.0);
        let inside = distance().min(distance());
        let loss = self.loss_db(carrier_ghz) + 0.5 * inside;
        (loss + self.sigma_db * stream.normal()).max(0.0)
    }
}

/// Loss of the low-loss outer wall in dB at a carrier in GHz (Table 7.4.3-2).
pub fn low_loss_wall_db(carrier_ghz: f64) -> f64 {
    LOW_LOSS.loss_db(carrier_ghz)
}

/// Loss of the high-loss outer wall in dB.
pub fn high_loss_wall_db(carrier_ghz: f64) -> f64 {
    HIGH_LOSS.loss_db(carrier_ghz)
}

impl Penetration {
    /// The loss of one UE in dB, drawn from what `data/penetration.csv` says.
    pub fn draw_db(self, carrier_ghz: f64, stream: &mut Stream) -> f64 {
        const CAR: (f64, f64) = (number(NUMBERS, "car", 1), number(NUMBERS, "car", 2));
        match self {
            Penetration::None => 0.0,
            Penetration::LowLoss => LOW_LOSS.draw_db(carrier_ghz, stream),
            Penetration::HighLoss => HIGH_LOSS.draw_db(carrier_ghz, stream),
            Penetration::Car => (CAR.0 + CAR.1 * stream.normal()).max(0.0),
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
