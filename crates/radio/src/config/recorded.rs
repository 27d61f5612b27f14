//! Paths whose gain or SINR is read from a recording instead of the channel model.

use super::{RadioError, Serving, UeConfig};
use crate::channel::recorded::Quantity;
use fadeout_core::{CellId, UeId};

/// Recording of the path between a UE and a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedPath {
    /// UE of the path.
    pub ue: UeId,
    /// Cell of the path.
    pub cell: CellId,
    /// Gain or SINR over time. A recorded SINR replaces the channel model and the interference.
    pub quantity: Quantity,
    /// True if the fading of the cell's channel is added to a recorded gain.
    pub has_fading: bool,
}

/// Checks the recordings. Each recording must name an existing UE and cell, and each pair may have
/// one recording. If a UE has a recorded SINR for one possible serving cell, the UE must have a
/// recorded SINR for all of them.
pub(crate) fn check_recorded(
    recorded: &[RecordedPath],
    ues: &[UeConfig],
    cells: usize,
) -> Result<(), RadioError> {
    let is_sinr = |one: &RecordedPath| matches!(one.quantity, Quantity::Sinr { .. });
    for (index, one) in recorded.iter().enumerate() {
        let error = |what, value: String, expected: &str| RadioError::Ue {
            ue: one.ue.index(),
            what,
            value,
            expected: expected.to_owned(),
        };
        let of_cell = || format!("of cell {}", one.cell.0);
        let Some(ue) = ues.get(one.ue.index()) else {
            return Err(error("recording", of_cell(), "a UE that is there"));
        };
        if one.cell.index() >= cells {
            return Err(error("recording", of_cell(), "a cell that is there"));
        }
        let is_same = |other: &&RecordedPath| (other.ue, other.cell) == (one.ue, one.cell);
        if recorded[..index].iter().any(|other| is_same(&other)) {
            return Err(error("recording", of_cell(), "one of each cell"));
        }
        if ue.fixed_sinr.is_some() {
            let expected = "a given SINR or a recording";
            return Err(error("recording", of_cell(), expected));
        }
        if !is_sinr(one) {
            continue;
        }
        let may_serve: Vec<CellId> = match ue.serving {
            Serving::Cell(cell) => std::iter::once(cell).chain(ue.pscell).collect(),
            Serving::Strongest | Serving::StrongestOnCarrier(_) => {
                (0..cells as u32).map(CellId).collect()
            }
        };
        for cell in may_serve {
            let is_there = |other: &RecordedPath| (other.ue, other.cell) == (one.ue, cell);
            let is_covered = recorded
                .iter()
                .any(|other| is_there(other) && is_sinr(other));
            if !is_covered {
                let value = format!("not recorded for cell {}", cell.0);
                let expected = "that of every cell which may serve it, as of others there is one";
                return Err(error("SINR", value, expected));
            }
        }
    }
    Ok(())
}
