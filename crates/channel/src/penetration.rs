//! Penetration loss of walls and car bodies.
//!
//! Standard: TR 38.901 §7.4.3.

use fadeout_core::Decibel;
use fadeout_core::data::{cell, number};
use fadeout_core::math::{from_db, to_db};
use fadeout_core::random::Stream;

/// Wall or car body between an outdoor base station and the UE.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Penetration {
    /// No wall between base station and UE.
    #[default]
    None,
    /// Outer walls of an old building, with 30 % plain glass.
    LowLoss,
    /// Outer walls of a thermally efficient building, with 70 % coated glass.
    HighLoss,
    /// Body of a car without metal-coated windows.
    Car,
    /// Outer wall of 20 dB at any carrier, and a path of up to 25 m inside the building. TR 36.873
    /// has this model, and Table 7.4.3-3 keeps it for carriers below 6 GHz.
    Single,
    /// Fixed loss that is not drawn.
    Fixed(Decibel),
}

/// Penetration loss between an outdoor base station and one UE.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Walls {
    /// Loss of walls and of the path inside the building, dB.
    pub loss_db: f64,
    /// Distance on the ground from the outer wall to the UE (d2D-in), metres.
    pub inside_m: f64,
    /// True if the walls belong to a building.
    pub is_building: bool,
}

impl Walls {
    fn of_building(loss_db: f64, inside_m: f64) -> Walls {
        Walls {
            loss_db: loss_db.max(0.0),
            inside_m,
            is_building: true,
        }
    }

    /// Returns a fixed loss of walls that do not belong to a building.
    fn loss(loss_db: f64) -> Walls {
        Walls {
            loss_db: loss_db.max(0.0),
            ..Walls::default()
        }
    }
}

const NUMBERS: &str = include_str!("../data/penetration.csv");

/// Loss of a material as a linear function of the carrier frequency.
#[derive(Debug, Clone, Copy)]
struct Material {
    constant_db: f64,
    slope_db_per_ghz: f64,
}

impl Material {
    const fn from_row(row: &str) -> Material {
        Material {
            constant_db: number(NUMBERS, row, 1),
            slope_db_per_ghz: number(NUMBERS, row, 2),
        }
    }

    fn loss_db(&self, carrier_ghz: f64) -> f64 {
        self.constant_db + self.slope_db_per_ghz * carrier_ghz
    }
}

/// Outer wall that consists of glass and concrete.
#[derive(Debug, Clone, Copy)]
struct Wall {
    glass: Material,
    glass_share: f64,
    concrete_share: f64,
    sigma_db: f64,
}

/// Longest path inside a building, in metres.
const DEEPEST_M: f64 = 25.0;
const LOSS_INSIDE_DB_PER_M: f64 = 0.5;

const CONCRETE: Material = Material::from_row("concrete");
const LOW_LOSS: Wall = Wall::from_row("low-loss");
const HIGH_LOSS: Wall = Wall::from_row("high-loss");

impl Wall {
    const fn from_row(row: &str) -> Wall {
        Wall {
            glass: Material::from_row(cell(NUMBERS, row, 1)),
            glass_share: number(NUMBERS, row, 2),
            concrete_share: number(NUMBERS, row, 3),
            sigma_db: number(NUMBERS, row, 4),
        }
    }

    /// Returns the loss of the wall (equation 7.4-2).
    fn loss_db(&self, carrier_ghz: f64) -> f64 {
        let part = |share: f64, of: &Material| share * from_db(-of.loss_db(carrier_ghz));
        let glass = part(self.glass_share, &self.glass);
        5.0 - to_db(glass + part(self.concrete_share, &CONCRETE))
    }

    /// Draws the loss of one UE behind the wall. The loss is the sum of the wall's loss, the loss
    /// inside the building and a normal deviation. The loss inside is 0.5 dB/m over the smaller of
    /// two uniform distances up to 25 m.
    fn draw(&self, carrier_ghz: f64, stream: &mut Stream) -> Walls {
        let mut distance = || stream.uniform_in(0.0, DEEPEST_M);
        let inside = distance().min(distance());
        let loss = self.loss_db(carrier_ghz) + LOSS_INSIDE_DB_PER_M * inside;
        Walls::of_building(loss + self.sigma_db * stream.normal(), inside)
    }
}

/// Returns the loss of the low-loss outer wall in dB at a carrier in GHz.
///
/// Standard: TR 38.901 Table 7.4.3-2.
pub fn low_loss_wall_db(carrier_ghz: f64) -> f64 {
    LOW_LOSS.loss_db(carrier_ghz)
}

/// Returns the loss of the high-loss outer wall in dB at a carrier in GHz.
///
/// Standard: TR 38.901 Table 7.4.3-2.
pub fn high_loss_wall_db(carrier_ghz: f64) -> f64 {
    HIGH_LOSS.loss_db(carrier_ghz)
}

impl Penetration {
    /// Draws the walls around one UE, from the numbers in `data/penetration.csv`.
    ///
    /// Standard: TR 38.901 §7.4.3.
    pub fn draw(self, carrier_ghz: f64, stream: &mut Stream) -> Walls {
        const CAR: (f64, f64) = (number(NUMBERS, "car", 1), number(NUMBERS, "car", 2));
        match self {
            Penetration::None => Walls::default(),
            Penetration::LowLoss => LOW_LOSS.draw(carrier_ghz, stream),
            Penetration::HighLoss => HIGH_LOSS.draw(carrier_ghz, stream),
            Penetration::Car => Walls::loss(CAR.0 + CAR.1 * stream.normal()),
            Penetration::Single => {
                const WALL_DB: f64 = number(NUMBERS, "single", 1);
                let inside = stream.uniform_in(0.0, DEEPEST_M);
                Walls::of_building(WALL_DB + LOSS_INSIDE_DB_PER_M * inside, inside)
            }
            Penetration::Fixed(loss) => Walls::loss(loss.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wall losses agree with equation 7.4-2 and Table 7.4.3-2. At 1 GHz concrete contributes
    /// as well.
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

    /// The mean and the deviation of 20,000 draws are within five standard errors of the expected
    /// values.
    #[test]
    fn draws_have_the_moments_of_their_parts() {
        const DRAWS: u32 = 20_000;
        // The smaller of two uniform distances up to 25 m has the mean 25/3 and the variance
        // 25^2/18. The loss is 0.5 dB/m.
        let (inside, inside_variance) = (25.0 / 6.0, 625.0 / 72.0);
        let indoors = |wall: f64, sigma: f64| {
            let deviation: f64 = inside_variance + sigma * sigma;
            (wall + inside, deviation.sqrt())
        };
        for (penetration, (mean, deviation)) in [
            (Penetration::LowLoss, indoors(low_loss_wall_db(28.0), 4.4)),
            (Penetration::HighLoss, indoors(high_loss_wall_db(28.0), 6.5)),
            // The loss is normal with mean 9 and deviation 5. Negative values become zero.
            (Penetration::Car, (9.0714, 4.8430)),
            // The loss inside is 0.5 dB/m over a uniform distance up to 25 m.
            (Penetration::Single, (26.25, 12.5 / 12_f64.sqrt())),
            (Penetration::Fixed(Decibel(20.0)), (20.0, 0.0)),
            (Penetration::None, (0.0, 0.0)),
        ] {
            let mut stream = Stream::new(1, "test.penetration", 0);
            let draws: Vec<f64> = (0..DRAWS)
                .map(|_| penetration.draw(28.0, &mut stream).loss_db)
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
