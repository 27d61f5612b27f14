//! Measurements of the air for purposes other than data: levels of all cells, and the quality of a
//! link without fading.

use super::path::Fade;
use super::{Air, AirLeg, SinrPurpose, SinrSource};
use crate::channel::fading::MAX_SUB_BANDS;
use crate::config::{LegId, RadioError};
use crate::phy::sub_band::reported;
use crate::plan::{BandCqi, Resources, SubBands, wideband_quality};
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Time, UeId};

impl Air {
    /// Prepares a UE to measure these cells and to change between them. Creates the paths to these
    /// cells.
    ///
    /// # Errors
    /// Returns an error if the channel of a cell cannot be built.
    pub(crate) fn prepare_measurements(
        &mut self,
        ue: UeId,
        cells: &[CellId],
    ) -> Result<(), RadioError> {
        for &cell in cells {
            self.add_carrier(ue, cell)?;
        }
        self.ues[ue.index()].changes_cells = true;
        self.uplinks.record_separately(self.paths.len());
        Ok(())
    }

    /// Returns true if a leg has paths, so that its level can be measured. If a leg has no paths,
    /// its SINR is given or recorded.
    pub(crate) fn has_level(&self, leg: LegId) -> bool {
        matches!(self.legs[leg.index()].signal, SinrSource::Paths(..))
    }

    /// Records that the UE does not use a leg any more. The leg's path now only causes
    /// interference.
    pub(crate) fn stop_using(&mut self, leg: LegId) {
        set_serving(self, leg, false);
    }

    /// Records that the UE uses a leg again.
    pub(crate) fn use_again(&mut self, leg: LegId) {
        set_serving(self, leg, true);
    }

    /// Returns the downlink and uplink SINR in dB of a leg, without fading and with the mean
    /// interference. The downlink SINR covers the whole band. The uplink SINR is that of one
    /// resource block at full power. Both SINRs include the gain of several receive antennas. Gains
    /// are those of the last refresh.
    pub(crate) fn quality_db(&self, id: LegId, now: Time) -> [f64; 2] {
        let leg = &self.legs[id.index()];
        match &leg.signal {
            SinrSource::Given(sinr) => [sinr.downlink.0, sinr.uplink.0],
            SinrSource::Recorded(downlink, uplink) => {
                [downlink.value_at(now), uplink.value_at(now)]
            }
            SinrSource::Paths(serving, _) => {
                let cell = &self.cells[leg.cell.index()];
                let slot = cell.frame.slot_at(now);
                let power_dbm = self.ues[leg.ue.index()].config.power_of_carrier().0;
                let asked = (slot, SinrPurpose::Report);
                let up = self.uplink_mean((leg.cell, *serving), asked, power_dbm);
                let antennas = f64::from(cell.config.channel.receive_antennas);
                [to_db(self.downlink_quality(id, now)), to_db(up * antennas)]
            }
        }
    }

    /// Returns the linear downlink SINR, as [`Air::quality_db`] does.
    pub(crate) fn downlink_quality(&self, leg: LegId, now: Time) -> f64 {
        let leg = &self.legs[leg.index()];
        match &leg.signal {
            SinrSource::Given(sinr) => from_db(sinr.downlink.0),
            SinrSource::Recorded(downlink, _) => from_db(downlink.value_at(now)),
            SinrSource::Paths(serving, carrier) => {
                let cell = &self.cells[leg.cell.index()];
                let slot = cell.frame.slot_at(now);
                let mean = self.downlink_mean(leg, *serving, carrier, slot, SinrPurpose::Report);
                mean * f64::from(cell.config.channel.receive_antennas)
            }
        }
    }

    /// Returns the CQI of each sub-band, as the UE reports it to the base station for `slot`. The
    /// wideband CQI of the report is `wideband`. `rank` is the rank index of all sub-bands. Gains
    /// are those of the last refresh.
    pub(crate) fn sub_band_report(
        &self,
        leg: LegId,
        slot: u64,
        (resources, sub_bands): (&Resources, &SubBands),
        (wideband, rank): (u8, u8),
    ) -> BandCqi {
        let mut known = [0; _];
        known[..sub_bands.count()].fill(wideband);
        let leg = &self.legs[leg.index()];
        let (SinrSource::Paths(serving, carrier), Some(adaptation)) =
            (&leg.signal, resources.adaptation())
        else {
            return known;
        };
        let cell = &self.cells[leg.cell.index()];
        let mut gains = [0.0; MAX_SUB_BANDS];
        let at = cell.frame.start_of(slot);
        if let Fade::Wideband(gains) = self.channels[*serving].fade(at, &mut gains) {
            let mean = self.downlink_mean(leg, *serving, carrier, slot, SinrPurpose::Report);
            let layers = resources.ranks()[usize::from(rank)];
            let mean = mean / f64::from(layers);
            for (band, known) in known[..sub_bands.count()].iter_mut().enumerate() {
                let gains = sub_bands.gains_in(band, gains);
                let found = wideband_quality(&cell.config, adaptation, mean, gains).cqi;
                *known = reported(wideband, found);
            }
        }
        known
    }
}

fn set_serving(air: &mut Air, leg: LegId, is_serving: bool) {
    let AirLeg { ue, ref signal, .. } = air.legs[leg.index()];
    if let &SinrSource::Paths(serving, _) = signal {
        let path = &mut air.paths[serving];
        path.is_serving = is_serving;
        path.due_at = Time::ZERO;
        air.ues[ue.index()].others_due_at = Time::ZERO;
    }
}
