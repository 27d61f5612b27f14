//! Constant powers and noise levels of a cell.

use crate::channel::noise;
use crate::config::CellConfig;
use fadeout_core::Decibel;
use fadeout_core::math::{from_db, to_db};

/// Constant powers and noise levels of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    /// Occupied bandwidth in Hz.
    pub bandwidth_hz: f64,
    /// Transmitted power over the occupied bandwidth in mW.
    pub power_mw: f64,
    /// Thermal noise over the occupied bandwidth in mW. The noise figure of a receiver is not
    /// included.
    pub thermal_mw: f64,
    /// Noise of the base station's receiver in one resource block, mW.
    pub block_noise_mw: f64,
    /// Transmitted power per resource element in dBm. In a 3G cell, the transmitted power of the
    /// pilot.
    pub element_dbm: f64,
    /// Ground distance in metres within which the cell itself is nearer to a UE than the
    /// wrap-around copies of the cell.
    pub unique_m: f64,
}

/// Subcarriers of a resource block.
const SUBCARRIERS: f64 = 12.0;

impl Levels {
    pub(crate) fn new(config: &CellConfig) -> Levels {
        let bandwidth = config.occupied();
        let elements = SUBCARRIERS * f64::from(config.resource_blocks);
        let noise_mw = |band, figure| from_db(noise::power(band, figure).0);
        Levels {
            bandwidth_hz: bandwidth.0,
            power_mw: from_db(config.power.0),
            thermal_mw: noise_mw(bandwidth, Decibel(0.0)),
            block_noise_mw: noise_mw(config.block(), config.noise_figure),
            element_dbm: config.power.0 + config.pilot.map_or(-to_db(elements), |share| share.0),
            unique_m: config
                .repeats
                .map_or(f64::INFINITY, |lattice| lattice.least_m() / 2.0),
        }
    }
}
