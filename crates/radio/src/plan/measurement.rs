//! A receiver's measurement of a channel, and the CQI that stands for it.
//!
//! A CQI stands for a scheme that would keep the target error rate. On a channel that differs over
//! the band, that is a question to the effective SINR of the CQI's own scheme, as it is later for
//! the transmission.

use crate::config::CellConfig;
use crate::phy::link_adaptation::{LinkAdaptation, Quality};
use fadeout_core::math::{from_db, to_db};

/// The uplink of a UE as its base station measures it.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    /// SINR of one resource block at full power, in dB; of a wideband channel without its fading.
    pub sinr_db: f64,
    /// Fading of the sub-bands; empty for a flat channel.
    pub gains: Vec<f32>,
    /// Whether the SINR is given, and taken as it is.
    pub is_given: bool,
}

impl Measurement {
    /// Nothing is known yet.
    pub(crate) const UNKNOWN: Measurement = Measurement {
        sinr_db: f64::NEG_INFINITY,
        gains: Vec::new(),
        is_given: false,
    };

    /// The quality for blocks with `more_db` of power beside one at full power.
    pub(crate) fn quality(
        &self,
        cell: &CellConfig,
        adaptation: &LinkAdaptation,
        more_db: f64,
    ) -> Quality {
        let sinr_db = self.sinr_db + more_db;
        if self.is_given {
            adaptation.quality(sinr_db)
        } else if self.gains.is_empty() {
            adaptation.quality(cell.sinr_range.clip_db(sinr_db))
        } else {
            wideband_quality(cell, adaptation, from_db(sinr_db), &self.gains)
        }
    }
}

/// The quality of sub-bands with `mean` times each of `gains`, all linear, by a cell's table.
pub(crate) fn wideband_quality(
    cell: &CellConfig,
    adaptation: &LinkAdaptation,
    mean: f64,
    gains: &[f32],
) -> Quality {
    let db = |sinr| to_db(cell.sinr_range.clip(sinr));
    let of_band = f64::from(gains.iter().sum::<f32>()) / gains.len() as f64;
    adaptation.wideband_quality(db(mean * of_band), |scheme| {
        db(cell.effective_sinr.effective(scheme, mean, gains))
    })
}
