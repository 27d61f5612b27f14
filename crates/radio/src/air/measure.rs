//! Levels of cells as a UE measures them, and bounds of them that need no look at the channel.

use super::Air;
use super::path::Round;
use super::ue::latest;
use crate::channel::Shadow;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Kinematics, Motion, Point, Span, Time, UeId};

/// Speed of light in vacuum in m/s (exact, SI).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// More than powers and logarithms round a level by, dB.
const ROUNDING_DB: f64 = 1e-6;

/// How a cell's level may rise on the way of a UE.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LevelRise {
    /// The level at most, dBm, without what shadowing takes from it.
    pub level_dbm: f64,
    /// By how many dB at most the same rises with each metre.
    pub db_per_m: f64,
    /// For so many metres.
    pub within_m: f64,
    pub shadow: Shadow,
}

/// How long a signal takes from a UE to a cell and back, along the straight line.
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
    /// Measures RSRP in dBm of every cell that a UE has a path to, without fading: the measurement
    /// averages over it, as of the cells' latest gain period. Beams point at the UE.
    ///
    /// Standard: TS 36.214 §5.1.1; TS 38.215 §5.1.1.
    pub(crate) fn measure_levels<M: Motion>(
        &mut self,
        ue: UeId,
        now: Time,
        motion: &mut M,
        mut report: impl FnMut(CellId, f64),
    ) {
        let now = latest(now, self.grain);
        let ue = &mut self.ues[ue.index()];
        let placement = ue.place(now, motion);
        let mut round = Round::default();
        for index in ue.carriers.iter().cloned().flatten() {
            let path = &self.paths[index];
            let cell = &self.cells[path.cell.index()];
            let found = (&mut self.channels[index], self.gains[index]);
            let gain = path.look_aside(found, (now, &mut round), &placement, cell, motion);
            report(path.cell, cell.levels.element_dbm + to_db(gain));
        }
    }

    /// As [`Air::measure_levels`] of one cell; none that the UE has no path to. A round is of one UE and time.
    pub(crate) fn measure_level<M: Motion>(
        &mut self,
        (ue, cell): (UeId, CellId),
        (now, round): (Time, &mut Round),
        motion: &mut M,
    ) -> Option<f64> {
        let now = latest(now, self.grain);
        let index = path_between(self, ue, cell)?;
        let placement = self.ues[ue.index()].place(now, motion);
        let cell = &self.cells[cell.index()];
        let found = (&mut self.channels[index], self.gains[index]);
        let gain = self.paths[index].look_aside(found, (now, round), &placement, cell, motion);
        Some(cell.levels.element_dbm + to_db(gain))
    }

    /// Levels that a UE would have measured of a cell at these places, where [`Air::bound_levels`] bounded
    /// it, dBm; `now` it is measured again.
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
        let now = latest(now, self.grain);
        let node = self.ues[ue.index()].config.node;
        let channel = &mut self.channels[index];
        let config = &self.cells[cell.index()].config;
        let element_dbm = self.cells[cell.index()].levels.element_dbm;
        for place in places {
            let ends = config.ends((node, now), Kinematics::at_rest(place), motion);
            report(element_dbm + to_db(from_db(channel.find_db(now, &ends))));
        }
        let placement = self.ues[ue.index()].place(now, motion);
        let ends = config.ends((node, now), placement.ue, motion);
        self.channels[index].find_db(now, &ends);
    }
}

/// The air as a UE sees it that need not look at all cells.
pub(crate) struct Bounded<'a>(pub &'a mut Air);

impl Bounded<'_> {
    /// Where a UE is as it measures.
    pub(crate) fn place<M: Motion>(&mut self, ue: UeId, now: Time, motion: &mut M) -> Point {
        let now = latest(now, self.0.grain);
        self.0.ues[ue.index()].place(now, motion).ue.position
    }

    /// Bounds of the level that [`Air::measure_level`] would find where a UE is, `place`, dBm; none where nothing but a look
    /// tells. `known` says what the shadowing of a site takes there, if that is known.
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

    /// How the level of a cell may rise from where a UE is, `place`; none where no bound is known.
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
        let way_m = smooth.way_m(place)?;
        let most_db = smooth.gain_db + smooth.turned_db + smooth.db_per_m * way_m;
        Some(LevelRise {
            level_dbm: its.levels.element_dbm + most_db + ROUNDING_DB,
            db_per_m: smooth.db_per_m,
            within_m: smooth.within_m - way_m,
            shadow: smooth.shadow,
        })
    }

    /// Bounds of the loss by the shadowing of a UE's path to a cell at a place, close to each other, dB.
    pub(crate) fn shadowing_db(&mut self, (ue, cell): (UeId, CellId), place: Point) -> [f64; 2] {
        let index = path_between(self.0, ue, cell);
        let common = &mut self.0.ues[ue.index()].common;
        index.map_or([0.0; 2], |index| {
            self.0.channels[index].shadowing_db(place, common)
        })
    }
}

/// Where the path between a UE and a cell is, if there is one.
fn path_between(air: &Air, ue: UeId, cell: CellId) -> Option<usize> {
    let carriers = air.ues[ue.index()].carriers.iter();
    carriers.cloned().find_map(|of_carrier| {
        let paths = &air.paths[of_carrier.clone()];
        // The cells of a carrier mostly have numbers in a row.
        let row = cell.0.checked_sub(paths.first()?.cell.0)? as usize;
        let is_there = paths.get(row).is_some_and(|path| path.cell == cell);
        let place = match is_there {
            true => row,
            false => paths.binary_search_by_key(&cell, |path| path.cell).ok()?,
        };
        Some(of_carrier.start + place)
    })
}
