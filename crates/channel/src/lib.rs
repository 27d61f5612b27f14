//! The channel between two antennas, and the antennas.
//!
//! [`Environment`] contains the data that all links of a carrier share. [`LinkChannel`] is the link
//! between one UE and one cell. [`ChannelConfig`] configures both. The models are in the submodules
//! and can be used alone.

pub mod antenna;
pub mod atmosphere;
pub mod blockage;
pub mod blockage_model_b;
pub mod clusters;
mod config;
mod ends;
mod error;
pub mod fading;
mod field;
pub mod knife_edge;
pub mod knife_edges;
pub mod large_scale;
mod link;
pub mod noise;
mod normal;
pub mod path_loss;
pub mod penetration;
mod phasor;
pub mod recorded;
pub mod shadowing;
mod small_scale;
mod transition;
mod wide;

pub use config::{ChannelConfig, LineOfSight, Shadowing};
pub use ends::{LinkEnds, LinkKey};
pub use error::ConfigError;
pub use link::{
    Causes, CommonShadowing, Environment, LargeScale, LinkChannel, OUTAGE_LOSS_DB, Shadow, Smooth,
    State, SurroundingsCache,
};
pub use path_loss::wavelength;
