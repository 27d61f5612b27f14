//! Free-space path loss, and the close-in model that extends it.

use super::{Condition, Ends, PathLossModel, Places, StateProbabilities, tr38901};
use crate::error::ConfigError;
use fadeout_core::math::log10;
use fadeout_core::registry::{Entry, Registered, Settings, number};
use fadeout_core::{Decibel, Hertz, Meters};

/// Speed of light in vacuum in m/s (exact, SI).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Returns the free-space path loss between isotropic antennas, `20 log10(4 pi d f / c)`. The
/// source is H. T. Friis, "A note on a simple transmission formula", Proc. IRE 34, 1946. The
/// formula is valid in the far field, and negative at very short distances.
///
/// Standard: ITU-R P.525-4 equation 3.
pub fn free_space(distance: Meters, carrier: Hertz) -> Decibel {
    let ratio = 4.0 * std::f64::consts::PI * distance.0 * carrier.0 / SPEED_OF_LIGHT;
    Decibel(20.0 * log10(ratio))
}

/// Returns the close-in path loss: free space up to 1 m, then `10 n log10(d)`.
///
/// Source: S. Sun et al., "Investigation of prediction accuracy, sensitivity, and parameter
/// stability of large-scale propagation path loss models for 5G wireless communications", IEEE
/// Transactions on Vehicular Technology 65(5), 2016, equation 3.
pub fn close_in(distance: Meters, carrier: Hertz, exponent: f64) -> Decibel {
    Decibel(free_space(Meters(1.0), carrier).0 + 10.0 * exponent * log10(distance.0))
}

/// Returns the wavelength with the speed of light that 3GPP uses, 3.0e8 m/s (TR 38.901 Table
/// 7.4.1-1, note 1).
pub fn wavelength(carrier: Hertz) -> Meters {
    Meters(3.0e8 / carrier.0)
}

/// Free-space model. It is always LOS and has no shadowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace;

impl Registered for FreeSpace {
    const ENTRY: Entry = Entry::new(
        "free-space",
        "physics",
        "Free space between isotropic antennas, always in line of sight and without shadowing.",
        "Friis 1946; ITU-R P.525-4 equation 3",
    );

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        FreeSpace
    }
}

impl PathLossModel for FreeSpace {
    fn loss_db(&self, ends: &Ends, _: Condition) -> f64 {
        free_space(Meters(ends.slant_m.max(1.0)), Hertz(ends.carrier_ghz * 1e9)).0
    }

    fn state_probabilities(&self, _: &Ends) -> StateProbabilities {
        StateProbabilities::los(1.0)
    }

    fn shadowing_sigma_db(&self, _: &Ends, _: Condition) -> f64 {
        0.0
    }

    fn steepest_db(&self, _: Condition) -> Option<f64> {
        Some(20.0)
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }
}

fadeout_core::parameters! {
    /// Free-space loss up to 1 m, then a loss with an exponent. The defaults are those of the
    /// street canyon of S. Sun et al., IEEE Transactions on Vehicular Technology 65(5), 2016.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct CloseIn {
        /// Path loss exponent in line of sight. The default is that of a street canyon.
        pub los_exponent: f64 = number((1.0, 6.0, ""), "1.98"),
        /// Path loss exponent without line of sight. The default is that of a street canyon.
        pub nlos_exponent: f64 = number((1.0, 6.0, ""), "3.19"),
        /// Standard deviation of the shadowing in line of sight.
        pub los_sigma_db as "los-sigma": f64 = number((0.0, 20.0, "dB"), "3.1"),
        /// Standard deviation of the shadowing without line of sight.
        pub nlos_sigma_db as "nlos-sigma": f64 = number((0.0, 20.0, "dB"), "8.2"),
    }
}

impl Registered for CloseIn {
    const ENTRY: Entry = Entry::new(
        "close-in",
        "measurement",
        "Close-in model: free space up to 1 m, and a path loss exponent beyond.",
        "Sun et al., IEEE TVT 65(5), 2016",
    )
    .with_parameters(CloseIn::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        CloseIn::read(settings)
    }
}

impl PathLossModel for CloseIn {
    fn loss_db(&self, ends: &Ends, condition: Condition) -> f64 {
        let exponent = match condition {
            Condition::Los => self.los_exponent,
            Condition::Nlos => self.nlos_exponent,
        };
        let carrier = Hertz(ends.carrier_ghz * 1e9);
        close_in(Meters(ends.slant_m.max(1.0)), carrier, exponent).0
    }

    /// Returns the LOS probabilities of UMi, because the default exponents are those of a street
    /// canyon.
    fn state_probabilities(&self, ends: &Ends) -> StateProbabilities {
        StateProbabilities::los(tr38901::umi_los_probability(ends.ground_m))
    }

    fn shadowing_sigma_db(&self, _: &Ends, condition: Condition) -> f64 {
        match condition {
            Condition::Los => self.los_sigma_db,
            Condition::Nlos => self.nlos_sigma_db,
        }
    }

    fn steepest_db(&self, condition: Condition) -> Option<f64> {
        Some(match condition {
            Condition::Los => 10.0 * self.los_exponent,
            Condition::Nlos => 10.0 * self.nlos_exponent,
        })
    }

    fn places(&self) -> Places {
        Places::URBAN_MICRO
    }

    fn check(&self) -> Result<(), ConfigError> {
        for exponent in [self.los_exponent, self.nlos_exponent] {
            ConfigError::within("path loss exponent", exponent, 0.0..=10.0, "")?;
        }
        for sigma in [self.los_sigma_db, self.nlos_sigma_db] {
            ConfigError::within("shadowing deviation", sigma, 0.0..=30.0, "dB")?;
        }
        Ok(())
    }
}
