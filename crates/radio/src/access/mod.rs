//! The radio access of a scenario.

mod config;
mod error;

pub use config::{
    Adaptation, AirInterface, BearerConfig, CellConfig, ConfiguredGrant, FixedSinr, HarqConfig,
    RadioConfig, ReportedAdaptation, Serving, Sharing, UeConfig, UplinkPower,
};
pub use error::RadioError;
