//! Cell levels as a UE measures them, and bounds of these levels for which no channel is evaluated.

use super::Air;
use super::path::InstantCache;
use super::ue::latest;
use crate::channel::Shadow;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Kinematics, Motion, Point, Span, Time, UeId};

/// Speed of light in vacuum in m/s (exact, SI).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Upper limit of the rounding error of a level in dB.
const ROUNDING_DB: f64 = 1e-6;

/// Upper bound of a cell's level along the track of a UE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelRise {
    /// Upper bound of the level in dBm, without shadowing.
    pub level_dbm: f64,
    /// Upper bound of the level's increase per metre, dB.
    pub db_per_m: f64,
    /// Distance in metres for which the bound holds.
    pub within_m: f64,
    pub shadow: Shadow,
}

/// Returns the propagation time from a UE to a cell and back, along a straight line.
pub(crate) fn round_trip<M: Motion>(
    air: &mut Air,
    (ue, cell): (UeId, CellId),
    now: Time,
    motion: &mut M,
) -> Span {
    let at = air.ues[ue.index()].place(now, motion).ue.position;
    let config = &air.cells[cell.index()].config;
    let site = config.site + config.shift_toward(at);
    Span::from_secs_f64(2.0 * site.distance_to(at) / SPEED_OF_LIGHT)
}

impl Air {
    /// Measures the RSRP in dBm of every cell to which a UE has a path. Fading is ignored, because
    /// the measurement averages over fading. The gains are those of the cell's latest periodic
    /// update. The cell's beams point at the UE.
    ///
    /// Standard: TS 36.214 §5.1.1; TS 38.215 §5.1.1.
    pub(crate) fn measure_levels<M: Motion>(
        &mut self,
        ue: UeId,
        now: Time,
        motion: &mut M,
        mut report: impl FnMut(CellId, f64),
    ) {
        let now = latest(now, self.least_period);
        let ue = &mut self.ues[ue.index()];
        let placement = ue.place(now, motion);
        let mut cache = InstantCache::default();
        for index in ue.carriers.iter().cloned().flatten() {
            let path = &self.paths[index];
            let cell = &self.cells[path.cell.index()];
            let found = (&mut self.channels[index], self.gains[index]);
            let gain = path.measure_gain(found, (now, &mut cache), &placement, cell, motion);
            report(path.cell, cell.levels.element_dbm + to_db(gain));
        }
    }

    /// Measures one cell, as [`Air::measure_levels`] does. `None` if the UE has no path to the
    /// cell. `cache` may only be used for one UE and one instant.
    pub(crate) fn measure_level<M: Motion>(
        &mut self,
        (ue, cell): (UeId, CellId),
        (now, cache): (Time, &mut InstantCache),
        motion: &mut M,
    ) -> Option<f64> {
        let now = latest(now, self.least_period);
        let index = path_between(self, ue, cell)?;
        let placement = self.ues[ue.index()].place(now, motion);
        let cell = &self.cells[cell.index()];
        let found = (&mut self.channels[index], self.gains[index]);
        let gain = self.paths[index].measure_gain(found, (now, cache), &placement, cell, motion);
        Some(cell.levels.element_dbm + to_db(gain))
    }

    /// Returns the levels in dBm that a UE would have measured at the earlier positions `places`,
    /// at which only bounds were computed. Then resets the channel to the UE's position at `now`.
    pub(crate) fn levels_at<M: Motion>(
        &mut self,
        (ue, cell): (UeId, CellId),
        places: impl Iterator<Item = Point>,
        (now, motion): (Time, &mut M),
        mut report: impl FnMut(f64),
    ) {
        let Some(index) = path_between(self, ue, cell) else {
            return;
        };
        let now = latest(now, self.least_period);
        let node = self.ues[ue.index()].config.node;
        let channel = &mut self.channels[index];
        let config = &self.cells[cell.index()].config;
        let element_dbm = self.cells[cell.index()].levels.element_dbm;
        for place in places {
            let ends = config.ends((node, now), Kinematics::at_rest(place), motion);
            report(element_dbm + to_db(from_db(channel.large_scale_db(now, &ends))));
        }
        let placement = self.ues[ue.index()].place(now, motion);
        let ends = config.ends((node, now), placement.ue, motion);
        self.channels[index].large_scale_db(now, &ends);
    }
}

/// Access to the air for measurements that use bounds instead of channel evaluations.
pub(crate) struct Bounded<'a>(pub &'a mut Air);

impl Bounded<'_> {
    /// Returns the position of a UE at its measurement.
    pub(crate) fn place<M: Motion>(&mut self, ue: UeId, now: Time, motion: &mut M) -> Point {
        let now = latest(now, self.0.least_period);
        self.0.ues[ue.index()].place(now, motion).ue.position
    }

    /// Returns bounds in dBm of the level that [`Air::measure_level`] would measure at `place`.
    /// `None` if no bound is known. `known` returns the shadowing loss of a site at `place`, if
    /// that loss was computed before.
    pub(crate) fn bound_level(
        &mut self,
        (ue, cell): (UeId, CellId),
        place: Point,
        motion: &impl Motion,
        known: impl FnOnce(Shadow) -> Option<[f64; 2]>,
    ) -> Option<[f64; 2]> {
        if motion.has_vehicles() {
            return None;
        }
        let index = path_between(self.0, ue, cell)?;
        let its = &self.0.cells[cell.index()];
        let channel = &self.0.channels[index];
        let smooth = channel.smooth(its)?;
        let common = &mut self.0.ues[ue.index()].common;
        let shadowing_db =
            known(smooth.shadow).unwrap_or_else(|| channel.shadowing_db(place, common));
        let [low_db, high_db] = smooth.bounds_db(place, shadowing_db)?;
        let element_dbm = its.levels.element_dbm;
        Some([
            element_dbm + low_db - ROUNDING_DB,
            element_dbm + high_db + ROUNDING_DB,
        ])
    }

    /// Returns an upper bound of a cell's level along the UE's track from `place`. `None` if no
    /// bound is known.
    pub(crate) fn rise(
        &self,
        (ue, cell): (UeId, CellId),
        place: Point,
        motion: &impl Motion,
    ) -> Option<LevelRise> {
        if motion.has_vehicles() {
            return None;
        }
        let index = path_between(self.0, ue, cell)?;
        let its = &self.0.cells[cell.index()];
        let smooth = self.0.channels[index].smooth(its)?;
        let distance_m = smooth.distance_m(place)?;
        let most_db = smooth.gain_db + smooth.turned_db + smooth.db_per_m * distance_m;
        Some(LevelRise {
            level_dbm: its.levels.element_dbm + most_db + ROUNDING_DB,
            db_per_m: smooth.db_per_m,
            within_m: smooth.within_m - distance_m,
            shadow: smooth.shadow,
        })
    }

    /// Returns close bounds in dB of the shadowing loss between a cell and a UE at `place`.
    pub(crate) fn shadowing_db(&mut self, (ue, cell): (UeId, CellId), place: Point) -> [f64; 2] {
        let index = path_between(self.0, ue, cell);
        let common = &mut self.0.ues[ue.index()].common;
        index.map_or([0.0; 2], |index| {
            self.0.channels[index].shadowing_db(place, common)
        })
    }
}

/// Returns the index of the path between a UE and a cell. `None` if there is no path.
fn path_between(air: &Air, ue: UeId, cell: CellId) -> Option<usize> {
    let carriers = air.ues[ue.index()].carriers.iter();
    carriers.cloned().find_map(|of_carrier| {
        let paths = &air.paths[of_carrier.clone()];
        // The cells of a carrier usually have consecutive ids, so this index is tried first.
        let row = cell.0.checked_sub(paths.first()?.cell.0)? as usize;
        let is_there = paths.get(row).is_some_and(|path| path.cell == cell);
        let place = match is_there {
            true => row,
            false => paths.binary_search_by_key(&cell, |path| path.cell).ok()?,
        };
        Some(of_carrier.start + place)
    })
}
