//! A receiver's measurement of a channel, and the CQI computed from it.
//!
//! The CQI indicates the best MCS that keeps the target error rate. If the channel varies over the
//! band, the CQI is computed from the effective SINR of the band for that MCS. The later
//! transmission is evaluated by the same method.

use crate::config::CellConfig;
use crate::phy::link_adaptation::{LinkAdaptation, Quality};
use crate::phy::mcs::Mcs;
use fadeout_core::math::{from_db, to_db};

/// Measurement of a UE's uplink by its base station.
#[derive(Debug, Clone)]
pub(crate) struct Measurement {
    /// SINR of one resource block at full power, in dB. The SINR excludes fading if `gains` is not
    /// empty.
    pub sinr_db: f64,
    /// Fading gains over the band, linear. Empty for a flat channel.
    pub gains: Vec<f32>,
    /// True if the scenario gives the SINR. A given SINR is used without limits.
    pub is_given: bool,
}

impl Measurement {
    /// Measurement of an unknown channel.
    pub(crate) const UNKNOWN: Measurement = Measurement {
        sinr_db: f64::NEG_INFINITY,
        gains: Vec::new(),
        is_given: false,
    };

    /// Returns the quality of transport blocks whose power per resource block is `more_db` above
    /// that of one block at full power.
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

/// Returns the quality of a channel according to the tables of a cell. The linear SINRs over the
/// band are `mean` times each of `gains`.
pub(crate) fn wideband_quality(
    cell: &CellConfig,
    adaptation: &LinkAdaptation,
    mean: f64,
    gains: &[f32],
) -> Quality {
    let db = |sinr| to_db(cell.sinr_range.clip(sinr));
    let of_band = f64::from(gains.iter().sum::<f32>()) / gains.len() as f64;
    let method = cell.effective_sinr;
    let mut latest: Option<(Mcs, f64)> = None;
    adaptation.wideband_quality(db(mean * of_band), |scheme| match latest {
        Some((of, sinr_db)) if method.is_same_for(&of, scheme) => sinr_db,
        _ => {
            let sinr_db = db(method.effective(scheme, mean, gains));
            latest = Some((*scheme, sinr_db));
            sinr_db
        }
    })
}
