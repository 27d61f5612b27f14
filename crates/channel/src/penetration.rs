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
