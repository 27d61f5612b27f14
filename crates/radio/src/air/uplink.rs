//! The uplink: power that a base station receives from the UEs of its own cell and of other cells.

use super::history::{Histories, Mean};
use super::path::Fade;
use super::{Air, Extent, SinrPurpose, SinrSource};
use crate::channel::fading::MAX_SUB_BANDS;
use crate::config::LegId;
use crate::plan::{LayeredScheme, Measurement, split_db};
use fadeout_core::CellId;
use fadeout_core::math::{from_db, to_db};

/// Uplinks of UEs, as received by the base stations of other cells.
#[derive(Debug)]
pub(super) struct Uplinks {
    /// Interference power in mW per resource block that UEs of other cells cause in a cell,
    /// averaged over the band.
    pub received: Histories,
    /// Contribution of each path's UE to the mean of `received`. Stored only if the UE changes
    /// cells.
    contributions: Vec<Mean>,
}

impl Uplinks {
    /// Builds uplinks into this number of cells.
    pub(super) fn new(cells: usize) -> Uplinks {
        Uplinks {
            received: Histories::new(cells),
            contributions: Vec::new(),
        }
    }

    /// Records the contributions of the first `paths` paths separately, because some of their UEs
    /// change cells.
    pub(super) fn record_separately(&mut self, paths: usize) {
        self.contributions.resize(paths, Mean::default());
    }

    /// Returns the mean interference power in mW in a cell as of `slot`. If the UE of `path`
    /// changes cells, its own earlier transmissions to other cells are not included.
    fn mean_of_others(&self, (cell, path): (CellId, usize), slot: u64) -> f64 {
        match self.contributions.get(path) {
            Some(part) => self.received.mean_without(cell, slot, part),
            None => self.received.mean(cell, slot),
        }
    }
}

impl Air {
    /// Records that a UE sends on a share of the band. The other cells on the carrier receive this
    /// transmission as interference.
    pub(crate) fn on_uplink_sent(
        &mut self,
        id: LegId,
        slot: u64,
        block_power_dbm: f64,
        share: f64,
    ) {
        let leg = &self.legs[id.index()];
        let SinrSource::Paths(_, carrier) = &leg.signal else {
            return;
        };
        if carrier.len() < 2 {
            return;
        }
        let length = self.cells[leg.cell.index()].frame.slot();
        let block_power_mw = from_db(block_power_dbm);
        if let Some(cross_link) = &mut self.cross_link {
            cross_link.on_sent((id, leg.cell), slot, block_power_mw, share);
        }
        let cells = self.spectrum.cells_on_carrier(leg.cell);
        let changes_cells = self.ues[leg.ue.index()].changes_cells;
        for (&cell, path) in cells.iter().zip(carrier.clone()) {
            if cell == leg.cell {
                continue;
            }
            let slot = self.cells[cell.index()].frame.slot_as_of(length, slot);
            let received_mw = block_power_mw * self.gains[path] * share;
            self.uplinks.received.add(cell, slot, received_mw);
            if changes_cells {
                self.uplinks.contributions[path].add(slot, received_mw);
            }
        }
    }

    /// Returns the linear uplink SINR in `slot` without fading. The UE sends with `block_power_dbm`
    /// in each resource block over `path` to `cell`.
    pub(super) fn uplink_mean(
        &self,
        (cell, path): (CellId, usize),
        (slot, purpose): (u64, SinrPurpose),
        block_power_dbm: f64,
    ) -> f64 {
        let interference_mw = match purpose {
            SinrPurpose::Transmission => self.uplinks.received.value_at(cell, slot),
            SinrPurpose::Report => self.uplinks.mean_of_others((cell, path), slot),
        };
        let cross_link_mw = self.cross_link_mw(cell, slot, purpose);
        let thermal_mw = self.cells[cell.index()].levels.block_noise_mw;
        let disturbance_mw = thermal_mw + interference_mw + cross_link_mw;
        from_db(block_power_dbm) * self.gains[path] / disturbance_mw
    }

    /// Returns the SINR in dB of an uplink transmission with `block_power_dbm` in each resource
    /// block, with the gains of the last refresh.
    pub(crate) fn uplink_sinr_db(
        &self,
        leg: LegId,
        (slot, scheme): (u64, LayeredScheme<'_>),
        block_power_dbm: f64,
    ) -> f64 {
        let leg = &self.legs[leg.index()];
        match &leg.signal {
            SinrSource::Given(sinr) => sinr.uplink.0 - split_db(scheme.layers),
            SinrSource::Recorded(_, uplink) => {
                uplink.value_at(leg.start_of(&self.cells, slot)) - split_db(scheme.layers)
            }
            &SinrSource::Paths(serving, _) => {
                let cell = &self.cells[leg.cell.index()];
                let asked = (slot, SinrPurpose::Transmission);
                let mean = self.uplink_mean((leg.cell, serving), asked, block_power_dbm);
                let at = cell.frame.start_of(slot);
                let sent = (scheme, Extent::Whole);
                cell.sinr_db(&self.channels[serving], at, sent, mean)
            }
        }
    }

    /// Measures the uplink in `slot` at the base station, for one resource block at full power.
    /// Gains are those of the last refresh.
    pub(crate) fn measure_uplink(&self, leg: LegId, slot: u64, measurement: &mut Measurement) {
        let leg = &self.legs[leg.index()];
        measurement.gains.clear();
        match &leg.signal {
            SinrSource::Given(sinr) => {
                measurement.is_given = true;
                measurement.sinr_db = sinr.uplink.0;
            }
            SinrSource::Recorded(_, uplink) => {
                measurement.is_given = true;
                measurement.sinr_db = uplink.value_at(leg.start_of(&self.cells, slot));
            }
            &SinrSource::Paths(serving, _) => {
                let cell = &self.cells[leg.cell.index()];
                let power_dbm = self.ues[leg.ue.index()].config.power_of_carrier().0;
                let asked = (slot, SinrPurpose::Report);
                let mean = self.uplink_mean((leg.cell, serving), asked, power_dbm);
                let mut gains = [0.0; MAX_SUB_BANDS];
                let at = cell.frame.start_of(slot);
                let sinr = match self.channels[serving].fade(at, &mut gains) {
                    Fade::Flat(gain) => mean * gain,
                    Fade::Wideband(gains) => {
                        measurement.gains.extend_from_slice(gains);
                        mean
                    }
                };
                measurement.sinr_db = to_db(sinr);
            }
        }
    }
}
