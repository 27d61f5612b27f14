//! What happens to the signal between two antennas.
//!
//! [`Environment`] holds what the links of a carrier share, [`LinkChannel`] is one UE's link to
//! one cell, and [`ChannelConfig`] says what both are made of. The models are in the submodules
//! and can be used alone.

pub mod atmosphere;
pub mod blockage;
pub mod blockage_model_b;
mod config;
pub mod fading;
mod field;
pub mod knife_edge;
pub mod large_scale;
mod link;
pub mod noise;
mod normal;
pub mod path_loss;
pub mod penetration;
mod phasor;
pub mod shadowing;
mod small_scale;
mod transition;

pub use config::{ChannelConfig, ConfigError, LineOfSight, Shadowing};
pub use link::{Environment, LargeScale, LinkChannel, LinkEnds, LinkKey, OUTAGE_LOSS_DB, State};

use fadeout_core::{Hertz, Meters};

/// Wavelength with the speed of light that 3GPP uses, 3.0e8 m/s (TR 38.901 Table 7.4.1-1,
/// note 1).
pub fn wavelength(carrier: Hertz) -> Meters {
    Meters(3.0e8 / carrier.0)
}
