//! The air: signal, noise and interference between UEs and cells.
//!
//! A UE has a path to every cell on its carriers. The large-scale gain of a path is evaluated when
//! the path is used and the stored gain has reached a certain age. Paths to cells that do not serve
//! the UE only cause interference, so their gains are evaluated rarely. The interference in a slot
//! is computed from the other cells' transmissions in that slot and the paths' gains without
//! fading. Channel reports use the mean interference over time.
//!
//! The caller reports each transmission to [`Air`], which returns the quality of its reception.
//! [`Air`] does not know packets.

pub(crate) mod beams;
mod geometry;
mod history;
mod interference;
mod levels;
pub(crate) mod measure;
mod path;
mod power;
mod quality;
mod spectrum;
#[cfg(test)]
mod tests;
mod ue;
mod uplink;
mod watch;

use crate::channel::fading::MAX_SUB_BANDS;
use crate::channel::recorded::{Quantity, Series};
use crate::config::{
    CellConfig, Channels, FixedSinr, LegId, RadioError, RecordedPath, Serving, UeConfig,
};
use crate::phy::frame::Frame;
use crate::phy::sub_band::BandSet;
use crate::plan::{
    LayeredScheme, MOST_BAND_GAINS, Resources, SubBands, frame, split_db, wideband_quality,
};
use fadeout_core::math::to_db;
use fadeout_core::{CellId, Direction, Motion, Point, Span, Time, UeId, prefetch};
pub use geometry::{Geometry, geometry};
use interference::{CrossLink, Downlinks};
use levels::Levels;
use path::{Fade, PathChannel, RadioPath};
pub(crate) use power::{share_power, uplink_power};
use spectrum::Spectrum;
use std::collections::BTreeMap;
use std::ops::Range;
use ue::{AirUe, INTERFERING_PERIOD, latest};
use uplink::Uplinks;
pub(crate) use watch::{LinkEvaluation, LinkMonitoring};
pub(crate) use {measure::Bounded, path::InstantCache};

/// State of the radio channel: all paths, and the recent transmissions of all cells.
#[derive(Debug)]
pub(crate) struct Air {
    cells: Vec<AirCell>,
    spectrum: Spectrum,
    /// Downlinks as sources of interference.
    downlinks: Downlinks,
    /// Uplinks as sources of interference.
    uplinks: Uplinks,
    ues: Vec<AirUe>,
    /// Legs by [`LegId`].
    legs: Vec<AirLeg>,
    /// Received over transmitted power of each path without fading, linear. Stored apart from
    /// `paths`, because every slot reads the gains of a UE's paths. These gains are adjacent in
    /// memory here.
    gains: Vec<f64>,
    /// Evaluation times of the paths, with the index of `gains`.
    paths: Vec<RadioPath>,
    /// Channels of the paths, with the index of `gains`. They are read rarely.
    channels: Vec<PathChannel>,
    built: Channels,
    /// Cross-link interference. `None` if no cell models it.
    cross_link: Option<CrossLink>,
    /// Recordings of paths, which are read when paths and legs are created.
    recorded: BTreeMap<(UeId, CellId), RecordedPath>,
    /// Shortest gain period of all cells. UEs measure at multiples of this period.
    least_period: Span,
    /// True if `least_period` is the gain period of every cell.
    has_one_period: bool,
    past: watch::PastGains,
}

/// Antenna of a cell.
#[derive(Debug)]
struct AirCell {
    config: CellConfig,
    frame: Frame,
    levels: Levels,
    /// Position at which the cell's beam pointed at the last evaluation. `None` before the first
    /// evaluation.
    beam_at: Option<Point>,
}

/// Link between a UE and a cell that serves it.
#[derive(Debug, Clone)]
struct AirLeg {
    ue: UeId,
    cell: CellId,
    signal: SinrSource,
    /// True if the gains of all paths of the leg depend on positions only.
    follows_from_the_places: bool,
}

impl AirLeg {
    /// Returns the start time of a slot of the leg's cell.
    fn start_of(&self, cells: &[AirCell], slot: u64) -> Time {
        cells[self.cell.index()].frame.start_of(slot)
    }
}

/// Source of a leg's SINR.
#[derive(Debug, Clone)]
enum SinrSource {
    /// Constant SINR that the scenario gives.
    Given(FixedSinr),
    /// Recorded downlink and uplink SINR.
    Recorded(Series, Series),
    /// Index of the path to the serving cell, and indexes of all paths on the carrier.
    Paths(usize, Range<usize>),
}

/// Part of the band that a transport block occupies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Extent<'a> {
    /// Whole band.
    Whole,
    /// Some of the sub-bands.
    Part(BandSet, &'a SubBands),
}

/// Purpose of a SINR. A transmission uses the interference of its slot. A report uses the mean
/// interference over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SinrPurpose {
    Transmission,
    Report,
}

impl AirCell {
    fn new(id: CellId, config: &CellConfig) -> Result<AirCell, RadioError> {
        let error = |error| RadioError::Phy {
            cell: id.index(),
            error,
        };
        Ok(AirCell {
            frame: frame(config).map_err(error)?,
            levels: Levels::new(config),
            beam_at: None,
            config: config.clone(),
        })
    }

    /// Returns the effective SINR in dB of a transport block with this MCS. `mean` is the linear
    /// SINR without fading for a single layer.
    fn sinr_db(
        &self,
        channel: &PathChannel,
        at: Time,
        (LayeredScheme { mcs, layers }, extent): (LayeredScheme<'_>, Extent<'_>),
        mean: f64,
    ) -> f64 {
        let mean = mean / f64::from(layers);
        let method = self.config.effective_sinr;
        let sinr = match (channel.fade(at, &mut [0.0; MAX_SUB_BANDS]), extent) {
            (Fade::Flat(gain), _) => mean * gain,
            (Fade::Wideband(gains), Extent::Whole) => method.effective(mcs, mean, gains),
            (Fade::Wideband(gains), Extent::Part(bands, sub_bands)) => {
                let mut found = [0.0; MOST_BAND_GAINS];
                method.effective(
                    mcs,
                    mean,
                    sub_bands.overlapping_gains(bands, gains, &mut found),
                )
            }
        };
        to_db(self.config.sinr_range.clip(sinr))
    }
}

impl Air {
    /// Builds the air between these cells and UEs.
    ///
    /// # Errors
    /// Returns an error if the channel of a cell cannot be built.
    pub(crate) fn new(
        cells: &[CellConfig],
        ues: &[UeConfig],
        recorded: &[RecordedPath],
        seed: u64,
    ) -> Result<Air, RadioError> {
        let recorded = recorded.iter().map(|one| ((one.ue, one.cell), one.clone()));
        let spectrum = Spectrum::new(cells);
        let least_period = cells.iter().map(|cell| cell.gain_period).min();
        let has_one_period = cells
            .iter()
            .all(|cell| Some(cell.gain_period) == least_period);
        let cells = (0..).map(CellId).zip(cells);
        let cells = cells.map(|(id, cell)| AirCell::new(id, cell));
        let cells = cells.collect::<Result<Vec<_>, _>>()?;
        let measuring = ues.iter().filter(|ue| ue.serving == Serving::Strongest);
        let paths = measuring.count() * cells.len();
        let mut air = Air {
            downlinks: Downlinks::new(&cells),
            uplinks: Uplinks::new(cells.len()),
            cells,
            spectrum,
            ues: Vec::with_capacity(ues.len()),
            legs: Vec::with_capacity(ues.len()),
            gains: Vec::with_capacity(paths),
            paths: Vec::with_capacity(paths),
            channels: Vec::with_capacity(paths),
            built: Channels::new(seed),
            cross_link: None,
            recorded: recorded.collect(),
            least_period: least_period.unwrap_or(INTERFERING_PERIOD),
            has_one_period,
            past: watch::PastGains::new(),
        };
        if air.cells.iter().any(|cell| cell.config.cross_link) {
            air.cross_link = Some(CrossLink::new(air.cells.len()));
        }
        for (id, &config) in (0..).map(UeId).zip(ues) {
            let has_recorded_sinr = air.has_recorded_sinr(id);
            air.ues.push(AirUe::new(config, has_recorded_sinr));
            if config.fixed_sinr.is_some() || has_recorded_sinr {
                continue;
            }
            match config.serving {
                // The serving cells of this UE are configured, so the UE needs no paths on other
                // carriers.
                Serving::Cell(serving) => {
                    air.add_carrier(id, serving)?;
                    if let Some(pscell) = config.pscell {
                        air.add_carrier(id, pscell)?;
                    }
                }
                Serving::StrongestOnCarrier(cell) => {
                    air.add_carrier(id, cell)?;
                }
                Serving::Strongest => {
                    for cell in (0..air.cells.len() as u32).map(CellId) {
                        air.add_carrier(id, cell)?;
                    }
                }
            }
        }
        Ok(air)
    }

    /// Returns the paths of a UE on the carrier of `cell`, and creates the paths if needed.
    fn add_carrier(&mut self, ue: UeId, cell: CellId) -> Result<Range<usize>, RadioError> {
        let carrier = self.spectrum.carrier_number(cell);
        let is_it = |paths: &&Range<usize>| {
            self.spectrum.carrier_number(self.paths[paths.start].cell) == carrier
        };
        if let Some(paths) = self.ues[ue.index()].carriers.iter().find(is_it) {
            return Ok(paths.clone());
        }
        let first = self.paths.len();
        let config = &self.ues[ue.index()].config;
        let behind = (config.draws_of(ue), config.penetration);
        for &id in self.spectrum.cells_on_carrier(cell) {
            let cells = self.cells.iter().map(|cell| &cell.config);
            let channel = self.built.between(behind, id, cells);
            let mut channel =
                channel
                    .map(PathChannel::new)
                    .map_err(|error| RadioError::Channel {
                        cell: id.index(),
                        error,
                    })?;
            if let Some(recorded) = self.recorded.get(&(ue, id))
                && let Quantity::Gain(series) = &recorded.quantity
            {
                channel.record(series.clone(), recorded.has_fading);
            }
            self.gains.push(0.0);
            self.paths.push(RadioPath::new(id, &channel));
            self.channels.push(channel);
        }
        let paths = first..self.paths.len();
        self.ues[ue.index()].add_carrier(paths.clone());
        if self.ues[ue.index()].changes_cells {
            self.uplinks.record_separately(paths.end);
        }
        Ok(paths)
    }

    /// Connects a UE to a cell. `leg` must be the number after that of the last leg.
    ///
    /// # Errors
    /// Returns an error if the channel of a cell on the carrier cannot be built.
    pub(crate) fn connect(&mut self, leg: LegId, ue: UeId, cell: CellId) -> Result<(), RadioError> {
        debug_assert_eq!(leg.index(), self.legs.len(), "legs are numbered in order");
        let signal = match (
            self.ues[ue.index()].config.fixed_sinr,
            self.recorded_sinr(ue, cell),
        ) {
            (Some(sinr), _) => SinrSource::Given(sinr),
            (None, Some((downlink, uplink))) => {
                SinrSource::Recorded(downlink.clone(), uplink.clone())
            }
            (None, None) => {
                let paths = self.add_carrier(ue, cell)?;
                let mut of_carrier = self.paths[paths.clone()].iter();
                let serving = of_carrier.position(|path| path.cell == cell);
                let serving = paths.start + serving.unwrap_or_default();
                self.paths[serving].is_serving = true;
                self.channels[serving].make_full();
                SinrSource::Paths(serving, paths)
            }
        };
        let follows_from_the_places = match &signal {
            SinrSource::Given(_) | SinrSource::Recorded(..) => false,
            SinrSource::Paths(_, paths) => self.paths[paths.clone()]
                .iter()
                .all(|path| path.is_constant),
        };
        self.legs.push(AirLeg {
            ue,
            cell,
            signal,
            follows_from_the_places,
        });
        if let Some(cross_link) = &mut self.cross_link {
            cross_link.connect();
        }
        Ok(())
    }

    /// Returns the recorded downlink and uplink SINR of a UE in a cell. `None` if there is no
    /// recording.
    fn recorded_sinr(&self, ue: UeId, cell: CellId) -> Option<(&Series, &Series)> {
        match &self.recorded.get(&(ue, cell))?.quantity {
            Quantity::Sinr { downlink, uplink } => Some((downlink, uplink)),
            Quantity::Gain(_) => None,
        }
    }

    /// Returns true if a recording describes the path between a UE and a cell.
    pub(crate) fn is_recorded(&self, ue: UeId, cell: CellId) -> bool {
        self.recorded.contains_key(&(ue, cell))
    }

    fn has_recorded_sinr(&self, ue: UeId) -> bool {
        let mut of_ue = self
            .recorded
            .range((ue, CellId(0))..=(ue, CellId(u32::MAX)));
        of_ue.any(|((_, cell), _)| self.recorded_sinr(ue, *cell).is_some())
    }

    /// Returns the SINR in dB of a direction of a leg if the scenario gives it as a constant.
    /// `None` otherwise.
    pub(crate) fn given_sinr_db(&self, leg: LegId, direction: Direction) -> Option<f64> {
        match (&self.legs[leg.index()].signal, direction) {
            (SinrSource::Given(sinr), Direction::Downlink) => Some(sinr.downlink.0),
            (SinrSource::Given(sinr), Direction::Uplink) => Some(sinr.uplink.0),
            (SinrSource::Recorded(..) | SinrSource::Paths(..), _) => None,
        }
    }

    /// Measures every cell to which a UE has a path, for cell selection. Reports the received power
    /// in dBm, or a recorded SINR in dB. If the SINR is given, reports the negative distance in
    /// metres.
    pub(crate) fn measure_cells<M: Motion>(
        &mut self,
        ue: UeId,
        now: Time,
        motion: &mut M,
        mut report: impl FnMut(CellId, f64),
    ) {
        if self.ues[ue.index()].has_recorded_sinr {
            for id in (0..self.cells.len() as u32).map(CellId) {
                if let Some((downlink, _)) = self.recorded_sinr(ue, id) {
                    report(id, downlink.value_at(now));
                }
            }
            return;
        }
        let ue = &mut self.ues[ue.index()];
        let placement = ue.place(now, motion);
        if ue.config.fixed_sinr.is_some() {
            for (id, cell) in (0..).map(CellId).zip(&self.cells) {
                let at = placement.ue.position;
                let site = cell.config.site + cell.config.shift_toward(at);
                report(id, -site.distance_to(at));
            }
            return;
        }
        let mut cache = InstantCache::default();
        for index in ue.carriers.iter().cloned().flatten() {
            let path = &mut self.paths[index];
            let cell = &self.cells[path.cell.index()];
            let found = (&mut self.channels[index], &mut self.gains[index]);
            path.evaluate(found, (now, &mut cache), &placement, cell, motion);
            report(
                path.cell,
                cell.config.power.0 + self.channels[index].gain_db,
            );
        }
    }

    /// Asks the processor for the entry of the path of a leg.
    #[inline]
    pub(crate) fn prefetch_path(&self, leg: LegId) {
        if let SinrSource::Paths(serving, _) = self.legs[leg.index()].signal {
            prefetch(&self.paths[serving]);
            prefetch(&self.channels[serving]);
        }
    }

    /// Asks the processor for the channel of the path of a leg.
    #[inline]
    pub(crate) fn prefetch_channel(&self, leg: LegId) {
        if let SinrSource::Paths(serving, _) = self.legs[leg.index()].signal {
            self.channels[serving].prefetch();
        }
    }

    /// Evaluates the gains of a leg's paths that are due. Evaluation times lie on a grid of
    /// instants, so that the channel does not depend on the times at which the gains are used. The
    /// serving path uses the grid of its cell's gain period. If a gain depends on positions only,
    /// another path uses the grid of [`INTERFERING_PERIOD`]. Otherwise it is evaluated together
    /// with the serving path.
    pub(crate) fn refresh<M: Motion>(&mut self, leg: LegId, now: Time, motion: &mut M) {
        if let SinrSource::Paths(serving, _) = self.legs[leg.index()].signal
            && now >= self.paths[serving].due_at
        {
            self.evaluate_paths(leg, now, motion);
        }
    }

    fn evaluate_paths<M: Motion>(&mut self, leg: LegId, now: Time, motion: &mut M) {
        let leg = &self.legs[leg.index()];
        let SinrSource::Paths(serving, carrier) = &leg.signal else {
            return;
        };
        let gain_period = self.cells[leg.cell.index()].config.gain_period;
        let at = latest(now, gain_period);
        let mut placement = self.ues[leg.ue.index()].place(at, motion);
        let path = &mut self.paths[*serving];
        let found = (&mut self.channels[*serving], &mut self.gains[*serving]);
        let cell = &self.cells[leg.cell.index()];
        let mut cache = InstantCache::default();
        path.evaluate(found, (at, &mut cache), &placement, cell, motion);
        path.due_at = at.saturating_add(gain_period);
        let shift = cache.shift(&cell.config, placement.ue.position);
        placement.serving_site = Some(cell.config.site + shift);
        let ue = &mut self.ues[leg.ue.index()];
        if at >= ue.others_due_at {
            let instant = latest(at, INTERFERING_PERIOD);
            let on_grid = ue.place_on_grid(instant).unwrap_or(placement);
            let mut grid_cache = InstantCache::default();
            let may_go_back = !motion.has_vehicles();
            let mut due_at = Time::NEVER;
            let paths = self.paths[carrier.clone()].iter_mut();
            let channels = self.channels[carrier.clone()].iter_mut();
            let found = channels.zip(&mut self.gains[carrier.clone()]);
            for (path, found) in paths.zip(found) {
                // If a path serves another leg, it is evaluated when that leg is refreshed.
                if path.is_serving {
                    continue;
                }
                if at >= path.due_at {
                    let cell = &self.cells[path.cell.index()];
                    if may_go_back && path.is_constant {
                        let when = (instant, &mut grid_cache);
                        path.evaluate(found, when, &on_grid, cell, motion);
                    } else {
                        path.evaluate(found, (at, &mut cache), &placement, cell, motion);
                    }
                    path.due_at = instant.saturating_add(INTERFERING_PERIOD);
                }
                due_at = due_at.min(path.due_at);
            }
            ue.on_paths_evaluated(due_at);
        }
        self.cells[leg.cell.index()].beam_at = Some(placement.ue.position + shift * -1.0);
    }

    /// Records that a cell sends downlink data on a share of its band.
    pub(crate) fn on_downlink_sent(&mut self, cell: CellId, slot: u64, share: f64) {
        self.downlinks.on_sent(cell, slot, share);
    }

    /// Returns the SINR in dB of a downlink transmission in a slot, with the gains of the last
    /// refresh.
    pub(crate) fn downlink_sinr_db(
        &self,
        leg: LegId,
        slot: u64,
        (scheme, extent): (LayeredScheme<'_>, Extent<'_>),
    ) -> f64 {
        let leg = &self.legs[leg.index()];
        match &leg.signal {
            SinrSource::Given(sinr) => sinr.downlink.0 - split_db(scheme.layers),
            SinrSource::Recorded(downlink, _) => {
                downlink.value_at(leg.start_of(&self.cells, slot)) - split_db(scheme.layers)
            }
            SinrSource::Paths(serving, carrier) => {
                let mean =
                    self.downlink_mean(leg, *serving, carrier, slot, SinrPurpose::Transmission);
                let cell = &self.cells[leg.cell.index()];
                let at = cell.frame.start_of(slot);
                cell.sinr_db(&self.channels[*serving], at, (scheme, extent), mean)
            }
        }
    }

    /// Returns the CQI and the rank index that a UE reports for `slot`, with the gains of the last
    /// refresh.
    pub(crate) fn downlink_report(&self, leg: LegId, slot: u64, resources: &Resources) -> (u8, u8) {
        let leg = &self.legs[leg.index()];
        let (serving, carrier) = match &leg.signal {
            SinrSource::Given(sinr) => {
                return resources.report(|adaptation, layers| {
                    adaptation.quality(sinr.downlink.0 - split_db(layers))
                });
            }
            SinrSource::Recorded(downlink, _) => {
                let sinr_db = downlink.value_at(leg.start_of(&self.cells, slot));
                return resources
                    .report(|adaptation, layers| adaptation.quality(sinr_db - split_db(layers)));
            }
            SinrSource::Paths(serving, carrier) => (*serving, carrier),
        };
        let cell = &self.cells[leg.cell.index()];
        let mean = self.downlink_mean(leg, serving, carrier, slot, SinrPurpose::Report);
        let mut gains = [0.0; MAX_SUB_BANDS];
        let at = cell.frame.start_of(slot);
        let fade = self.channels[serving].fade(at, &mut gains);
        resources.report(|adaptation, layers| {
            let mean = mean / f64::from(layers);
            match &fade {
                Fade::Flat(gain) => {
                    adaptation.quality(to_db(cell.config.sinr_range.clip(mean * gain)))
                }
                Fade::Wideband(gains) => wideband_quality(&cell.config, adaptation, mean, gains),
            }
        })
    }
}
