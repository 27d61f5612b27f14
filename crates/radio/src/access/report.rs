//! What the scheduler knows of a UE's channel before it sends: the downlink as the UE reports it,
//! the uplink as the base station measures it.
//!
//! A CQI stands for a scheme that would keep the target error rate. On a channel that differs over
//! the band, that is a question to the effective SINR of the CQI's own scheme, as it is later for
//! the transmission.

use super::link::{Fade, Link, Purpose};
use super::{CellConfig, Env, RadioAccess};
use crate::channel::fading::MAX_SUB_BANDS;
use crate::phy::link_adaptation::LinkAdaptation;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Motion, Probe, Time, UeId};

/// The latest report of one direction.
#[derive(Debug)]
pub(super) struct Report {
    pub measured_at: Time,
    /// Downlink: what the UE reported.
    pub cqi: u8,
    /// Uplink: SINR of one resource block at full power, in dB; of a wideband channel without its
    /// fading.
    sinr_db: f64,
    /// Uplink: fading of the sub-bands; empty for a flat channel.
    gains: Vec<f32>,
}

impl Report {
    /// Nothing is known yet.
    pub(super) const UNKNOWN: Report = Report {
        measured_at: Time::NEVER,
        cqi: 0,
        sinr_db: f64::NEG_INFINITY,
        gains: Vec::new(),
    };
}

/// The CQI of a cell's table for sub-bands with `mean` times each of `gains`, all linear.
fn wideband_cqi(cell: &CellConfig, adaptation: &LinkAdaptation, mean: f64, gains: &[f32]) -> u8 {
    let db = |sinr| to_db(cell.sinr_range.clip(sinr));
    let of_band = f64::from(gains.iter().sum::<f32>()) / gains.len() as f64;
    adaptation.wideband_cqi(db(mean * of_band), |scheme| {
        db(cell.effective_sinr.effective(scheme, mean, gains))
    })
}

impl RadioAccess {
    /// The CQI that the UE reports of `slot`; nothing without link adaptation.
    pub(super) fn downlink_cqi<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) -> Option<u8> {
        self.refresh_paths(ue, env);
        let cell = &self.cells[id.index()];
        let adaptation = cell.down.resources.adaptation()?;
        let paths = match &self.ues[ue.index()].link {
            Link::Fixed(sinr) => return Some(adaptation.cqi(sinr.downlink.0)),
            Link::Paths(paths) => paths,
        };
        let mean = self.downlink_mean(ue, paths, slot, Purpose::Report);
        let mut gains = [0.0; MAX_SUB_BANDS];
        Some(match paths[0].fade(cell.frame.start_of(slot), &mut gains) {
            Fade::Flat(gain) => adaptation.cqi(to_db(cell.config.sinr_range.clip(mean * gain))),
            Fade::Wideband(gains) => wideband_cqi(&cell.config, adaptation, mean, gains),
        })
    }

    /// The base station measures the uplink in `slot`: one resource block at full power.
    pub(super) fn measure_uplink<M: Motion, P: Probe>(
        &mut self,
        id: CellId,
        ue: UeId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) {
        self.refresh_paths(ue, env);
        let state = &mut self.ues[ue.index()];
        let report = &mut state.up.report;
        report.gains.clear();
        let paths = match &state.link {
            Link::Fixed(sinr) => {
                report.sinr_db = sinr.uplink.0;
                return;
            }
            Link::Paths(paths) => paths,
        };
        let cell = &self.cells[id.index()];
        let mean = cell.uplink_mean(&paths[0], slot, state.config.power.0, Purpose::Report);
        let mut gains = [0.0; MAX_SUB_BANDS];
        report.sinr_db = to_db(match paths[0].fade(cell.frame.start_of(slot), &mut gains) {
            Fade::Flat(gain) => mean * gain,
            Fade::Wideband(gains) => {
                report.gains.extend_from_slice(gains);
                mean
            }
        });
    }

    /// The CQI of the measured uplink for blocks with `more_db` of power beside one at full power;
    /// nothing without link adaptation.
    pub(super) fn uplink_cqi(&self, id: CellId, ue: UeId, more_db: f64) -> Option<u8> {
        let cell = &self.cells[id.index()];
        let adaptation = cell.up.resources.adaptation()?;
        let state = &self.ues[ue.index()];
        let report = &state.up.report;
        let sinr_db = report.sinr_db + more_db;
        Some(match &state.link {
            Link::Fixed(_) => adaptation.cqi(sinr_db),
            Link::Paths(_) if report.gains.is_empty() => {
                adaptation.cqi(cell.config.sinr_range.clip_db(sinr_db))
            }
            Link::Paths(_) => {
                wideband_cqi(&cell.config, adaptation, from_db(sinr_db), &report.gains)
            }
        })
    }
}
