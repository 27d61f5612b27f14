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
