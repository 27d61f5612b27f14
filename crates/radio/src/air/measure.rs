//! Levels of cells as a UE measures them, and bounds of them that need no look at the channel.

use super::Air;
use super::path::Round;
use super::ue::latest;
use crate::channel::CommonShadowing;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::{CellId, Kinematics, Motion, Point, Span, Time, UeId};

/// Speed of light in vacuum in m/s (exact, SI).
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// More than powers and logarithms round a level by, dB.
const ROUNDING_DB: f64 = 1e-6;

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

    /// Bounds of the level that [`Air::measure_levels`] would measure of each cell, dBm; equal where nothing
    /// but a look tells.
    pub(crate) fn bound_levels<M: Motion>(
        &mut self,
        ue: UeId,
        now: Time,
        motion: &mut M,
        mut report: impl FnMut(CellId, [f64; 2]),
    ) -> Point {
        let may_bound = !motion.has_vehicles();
        let now = latest(now, self.grain);
        let ue = &mut self.ues[ue.index()];
        let placement = ue.place(now, motion);
        let place = placement.ue.position;
        let (mut round, mut common) = (Round::default(), CommonShadowing::default());
        for index in ue.carriers.iter().cloned().flatten() {
            let path = &self.paths[index];
            let cell = &self.cells[path.cell.index()];
            let channel = &mut self.channels[index];
            let bounds_db = match may_bound {
                true => channel.bounds_db(place, cell, &mut common),
                false => [f64::NEG_INFINITY, f64::INFINITY],
            };
            let levels_dbm = if bounds_db[1] < f64::INFINITY {
                let [low_db, high_db] = bounds_db.map(|bound| cell.levels.element_dbm + bound);
                [low_db - ROUNDING_DB, high_db + ROUNDING_DB]
            } else {
                let (found, at) = ((channel, self.gains[index]), (now, &mut round));
                let gain = path.look_aside(found, at, &placement, cell, motion);
                [cell.levels.element_dbm + to_db(gain); 2]
            };
            report(path.cell, levels_dbm);
        }
        place
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

/// Where the path between a UE and a cell is, if there is one.
fn path_between(air: &Air, ue: UeId, cell: CellId) -> Option<usize> {
    let carriers = air.ues[ue.index()].carriers.iter();
    carriers.cloned().find_map(|of_carrier| {
        let paths = &air.paths[of_carrier.clone()];
        let place = paths.binary_search_by_key(&cell, |path| path.cell).ok()?;
        Some(of_carrier.start + place)
    })
}
