//! UEs that are out of range or without a connection.

use super::RadioAccess;
use crate::rrc::attach::{Unattached, Unsuited};
use crate::rrc::stage::Stage;
use fadeout_core::{CellId, Direction, Time, UeId};

/// Cell in which a UE with data is out of range: its SINR is too low for the lowest CQI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RangeExceeded {
    /// The cell.
    pub cell: CellId,
    /// Direction of the data.
    pub direction: Direction,
    /// SINR of the UE in dB, without fading. In the uplink this is the SINR of one resource block
    /// at full power.
    pub sinr_db: f64,
    /// SINR in dB that the lowest CQI requires.
    pub least_db: f64,
}

/// Returns the UEs that were idle at the start and are not attached now, each with the reason.
pub fn unattached(access: &RadioAccess) -> impl Iterator<Item = (UeId, Unattached)> + '_ {
    let ues = access
        .mobility
        .iter()
        .flat_map(|mobility| mobility.states());
    ues.filter_map(|(ue, state)| {
        let begins_at = match state.stage {
            Stage::Released { at } => Some(at),
            _ => None,
        };
        Some((
            ue,
            state
                .attach
                .as_ref()?
                .unattached(begins_at, state.unsuited)?,
        ))
    })
}

/// Returns the UEs that lost their connection and are not connected now. Each UE comes with the
/// result of its latest cell selection. `None` as result means that the cell selection is under
/// way.
pub fn unconnected(access: &RadioAccess) -> impl Iterator<Item = (UeId, Option<Unsuited>)> + '_ {
    let managed = access.mobility.iter().flat_map(|all| all.states());
    managed.filter_map(|(ue, state)| {
        let is_released = matches!(
            state.stage,
            Stage::Released { .. } | Stage::Selecting { .. }
        );
        let attach = state.attach.as_ref();
        let is_lost = is_released && attach.is_none_or(|it| it.registration().is_registered);
        is_lost.then_some((ue, state.unsuited))
    })
}

/// Returns the cell and the direction for which a UE is out of range at `now`. `None` if the UE is
/// in range or has no data.
pub fn out_of_range(access: &RadioAccess, ue: UeId, now: Time) -> Option<RangeExceeded> {
    let stack = &access.service.stack;
    let &leg = stack.ues[ue.index()].legs().first()?;
    let state = &stack.legs[leg.index()];
    let cell = state.config.cell;
    let plan = &access.service.cells[cell.index()].plan;
    let least_db = |direction| {
        let adaptation = plan.resources(direction).adaptation()?;
        Some(adaptation.sinr_of_cqi(1))
    };
    // If the SINR of a UE is given and no block can carry its packets, they are dropped before any
    // slot is scheduled.
    let is_given_too_low = |direction| {
        let given_db = stack.air.given_sinr_db(leg, direction);
        given_db.is_some_and(|sinr_db| Some(sinr_db) < least_db(direction))
    };
    // The uplink is checked first, because already the first packet of the UE, its SYN, needs the
    // uplink.
    let direction = [Direction::Uplink, Direction::Downlink]
        .into_iter()
        .find(|&direction| {
            state.half(direction).is_out_of_range() || is_given_too_low(direction)
        })?;
    Some(RangeExceeded {
        cell,
        direction,
        sinr_db: stack.air.quality_db(leg, now)[direction.index()],
        least_db: least_db(direction)?,
    })
}
