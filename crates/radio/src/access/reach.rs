//! Causes, known to the radio, for which no data of a UE gets through.

use super::RadioAccess;
use crate::rrc::mobility::Stage;
use fadeout_core::{CellId, Direction, Time, UeId};

/// Cause for which no data of a UE gets through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unreached {
    /// The UE has data, but even the lowest MCS of its cell cannot carry it.
    OutOfRange {
        /// Cell of the UE.
        cell: CellId,
        /// Direction of the data.
        direction: Direction,
        /// SINR in dB without fading. In the uplink, with all power in one resource block.
        sinr_db: f64,
        /// SINR in dB that the lowest CQI needs.
        least_db: f64,
    },
    /// The UE has no connection.
    Unconnected,
}

/// Returns the cause for which no data of a UE gets through at `now`. `None` if the radio knows
/// none.
pub fn unreached(access: &RadioAccess, ue: UeId, now: Time) -> Option<Unreached> {
    let mut managed = access.mobility.iter().flat_map(|all| all.states());
    let is_released = managed.any(|(known, state)| {
        let has_none = matches!(
            state.stage,
            Stage::Released { .. } | Stage::Selecting { .. }
        );
        known == ue && has_none
    });
    if is_released {
        return Some(Unreached::Unconnected);
    }
    let stack = &access.service.stack;
    let &leg = stack.ues[ue.index()].legs().first()?;
    let state = &stack.legs[leg.index()];
    let cell = state.config.cell;
    // The uplink comes first because a UE's own SYN needs it.
    let direction = [Direction::Uplink, Direction::Downlink]
        .into_iter()
        .find(|&direction| state.half(direction).is_out_of_range())?;
    let plan = &access.service.cells[cell.index()].plan;
    let adaptation = plan.resources(direction).adaptation()?;
    Some(Unreached::OutOfRange {
        cell,
        direction,
        sinr_db: stack.air.quality_db(leg, now)[direction.index()],
        least_db: adaptation.sinr_of_cqi(1),
    })
}
