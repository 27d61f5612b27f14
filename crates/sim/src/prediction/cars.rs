//! SNR measurements of vehicles on copies of the radio channels. Channels are functions of seed,
//! time and positions, so the measurements do not change the run.

use fadeout_core::{CellId, Kinematics, Motion, Point, Span, Time, UeId};
use fadeout_mobility::Places;
use fadeout_radio::access::{CellConfig, UeConfig};
use fadeout_radio::channel::ConfigError;
use fadeout_radio::channel::knife_edge::clear_beyond;
use fadeout_radio::channel::knife_edges::cascaded_loss;
use fadeout_radio::channel::path_loss::wavelength;
use fadeout_radio::path_state::PathStates;

/// Vehicles with UEs and the cells that they measure. The times of the measurements must not
/// decrease.
#[derive(Debug)]
pub(crate) struct Cars {
    cells: Vec<CellConfig>,
    ues: Vec<UeConfig>,
    path_states: PathStates,
    places: Places,
}

impl Cars {
    /// Creates the measurements of a run. `seed` is the seed of the run.
    pub(crate) fn new(
        (cells, ues): (Vec<CellConfig>, Vec<UeConfig>),
        places: Places,
        seed: u64,
    ) -> Cars {
        Cars {
            path_states: PathStates::new(cells.clone(), seed),
            cells,
            ues,
            places,
        }
    }

    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn len(&self) -> usize {
        self.ues.len()
    }

    pub(super) fn gain_period(&self, cell: CellId) -> Span {
        self.cells[cell.index()].gain_period
    }

    /// Returns the horizontal position of a cell's antenna, metres.
    pub(super) fn mast(&self, cell: CellId) -> (f64, f64) {
        let site = self.cells[cell.index()].site;
        (site.x, site.y)
    }

    pub(super) fn place(&mut self, ue: UeId, now: Time) -> Kinematics {
        self.places.kinematics_at(self.ues[ue.index()].node, now)
    }

    /// Returns the signal-to-noise ratio of a cell at a UE, dB. `None` if the scenario gives the
    /// UE's SINR.
    pub(super) fn snr_db(
        &mut self,
        ue: UeId,
        cell: CellId,
        now: Time,
    ) -> Result<Option<f64>, ConfigError> {
        let subject = (ue, &self.ues[ue.index()]);
        let state = self
            .path_states
            .state_at(subject, cell, now, &mut self.places)?;
        Ok(state.map(|state| state.snr_db))
    }

    /// True if a building is between a cell and a position.
    pub(super) fn is_behind_building(&mut self, cell: CellId, place: Point) -> bool {
        let cell = &self.cells[cell.index()];
        let clear = clear_beyond(wavelength(cell.carrier));
        self.places.obstruction((cell.site, place), clear) > 0.0
    }

    /// Returns the loss by vehicles on the direct path from a cell to a future position of a UE,
    /// dB. All vehicles are assumed to continue straight on for `ahead` seconds.
    pub(super) fn vehicles_db(
        &mut self,
        (ue, now): (UeId, Time),
        cell: CellId,
        (ahead, place): (f64, Point),
    ) -> f64 {
        let cell = &self.cells[cell.index()];
        let (site, node) = (cell.site, self.ues[ue.index()].node);
        let wavelength = wavelength(cell.carrier);
        let line = ((site, place), clear_beyond(wavelength));
        let edges = self.places.vehicles_ahead((node, now), ahead, line);
        if edges.is_empty() {
            return 0.0;
        }
        cascaded_loss(edges, site.distance_to(place), wavelength.0).0
    }
}
