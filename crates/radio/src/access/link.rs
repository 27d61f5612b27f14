//! Signal and noise between a UE and its cell.

use super::cell::Cell;
use super::{Env, FixedSinr, RadioAccess, RadioError, UeConfig};
use fadeout_core::{CellId, Motion, Probe, UeId};

/// What a UE's SINR comes from.
#[derive(Debug)]
pub(super) enum Link {
    /// It is given.
    Fixed(FixedSinr),
}

impl Link {
    pub(super) fn new(
        _cells: &[Cell],
        index: usize,
        ue: &UeConfig,
        _seed: u64,
    ) -> Result<Link, RadioError> {
        ue.fixed_sinr.map(Link::Fixed).ok_or(RadioError::Ue {
            ue: index,
            what: "fixed_sinr",
            value: "missing".to_owned(),
            expected: "a given SINR".to_owned(),
        })
    }
}

impl RadioAccess {
    /// The cell for a UE that is served by the strongest: with a given SINR, the nearest.
    pub(super) fn strongest_cell<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        env: &mut Env<'_, M, P>,
    ) -> CellId {
        let node = self.ues[ue.index()].config.node;
        let place = env.motion.at(node, env.now).position;
        let distance = |cell: &Cell| cell.config.site.distance_to(place);
        let mut nearest = (CellId(0), f64::INFINITY);
        for (index, cell) in self.cells.iter().enumerate() {
            if distance(cell) < nearest.1 {
                nearest = (CellId(index as u32), distance(cell));
            }
        }
        nearest.0
    }

    /// SINR in dB of a downlink transmission in `slot`.
    pub(super) fn downlink_sinr_db<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        _slot: u64,
        _env: &mut Env<'_, M, P>,
    ) -> f64 {
        match &self.ues[ue.index()].link {
            Link::Fixed(sinr) => sinr.downlink.0,
        }
    }

    /// SINR in dB that the UE reports for `slot`.
    pub(super) fn downlink_report_db<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) -> f64 {
        self.downlink_sinr_db(ue, slot, env)
    }

    /// SINR in dB that the base station measures in `slot`, of one resource block at full power.
    pub(super) fn uplink_report_db<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        slot: u64,
        env: &mut Env<'_, M, P>,
    ) -> f64 {
        self.uplink_sinr_db(ue, slot, 0.0, env)
    }

    pub(super) fn uplink_block_power(&self, _id: CellId, _ue: UeId, _shape: super::Shape) -> f64 {
        0.0
    }
    pub(super) fn uplink_spread_db(
        &self,
        _id: CellId,
        _ue: UeId,
        _symbols: u8,
        _units: u32,
    ) -> f64 {
        0.0
    }
    pub(super) fn affordable_units(&self, _id: CellId, _ue: UeId, _symbols: u8, units: u32) -> u32 {
        units
    }
    pub(super) fn on_uplink_power(
        &mut self,
        _id: CellId,
        _ue: UeId,
        _slot: u64,
        _power: f64,
        _share: f32,
    ) {
    }

    /// SINR in dB of an uplink transmission in `slot` with `block_power_dbm` in each resource
    /// block.
    pub(super) fn uplink_sinr_db<M: Motion, P: Probe>(
        &mut self,
        ue: UeId,
        _slot: u64,
        _block_power_dbm: f64,
        _env: &mut Env<'_, M, P>,
    ) -> f64 {
        match &self.ues[ue.index()].link {
            Link::Fixed(sinr) => sinr.uplink.0,
        }
    }
}
