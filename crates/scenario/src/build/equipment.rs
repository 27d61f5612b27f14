//! Check of the delays of equipment.

use super::*;

/// Checks that the cells of a node have the same delays of equipment.
pub(super) fn check(
    builder: &mut Builder<'_, '_>,
    named: &[(String, Fields)],
    cells: &[Option<Cell>],
) {
    for (index, ((_, fields), cell)) in named.iter().zip(cells).enumerate() {
        let Some(cell) = cell else { continue };
        let Some(delay) = cell.equipment_delay else {
            continue;
        };
        let differs = |other: &&Cell| {
            let is_other_delay = other.equipment_delay.is_some_and(|it| it != delay);
            other.node == cell.node && is_other_delay
        };
        if let Some(other) = cells[..index].iter().flatten().find(differs) {
            let message = format!(
                "`{}` and `{}` belong to one node, but have different delays of equipment",
                other.name, cell.name
            );
            let expected = "the same `equipment-delay`, or another `node`";
            builder.mistake(fields.place_of("equipment-delay"), message, expected);
        }
    }
}
