//! Search for cells at one site.

use super::CellConfig;
use crate::antenna::Angles;
use fadeout_core::CellId;

/// Distance in metres below which two cells are at one site.
const APART: f64 = 1.0;

/// Returns the cells at the site of `primary` on other carriers, with the same technology and DRX.
/// Cells with a similar antenna direction come first. Cells with equal directions keep their order.
pub(crate) fn co_sited<'a>(
    cells: impl Iterator<Item = &'a CellConfig>,
    primary: &CellConfig,
) -> Vec<CellId> {
    let own = primary.channel.base_antenna.boresight();
    let is_co_sited = |other: &CellConfig| {
        let (dx, dy) = (other.site.x - primary.site.x, other.site.y - primary.site.y);
        other.carrier != primary.carrier
            && other.pilot.is_none()
            && primary.pilot.is_none()
            && other.is_nr() == primary.is_nr()
            && other.drx == primary.drx
            && dx * dx + dy * dy < APART * APART
    };
    // Angles are rounded to 0.001 degrees, so that equal angles to the left and to the right are
    // treated as equal.
    let turned = |other: Option<Angles>| match (own, other) {
        (Some(own), Some(other)) => (other.relative_to(own).azimuth_deg.abs() * 1e3).round() as u32,
        _ => 0,
    };
    let others = (0..).map(CellId).zip(cells);
    let others = others.filter(|(_, other)| is_co_sited(other));
    let turns = others.map(|(id, other)| (turned(other.channel.base_antenna.boresight()), id));
    let mut turns: Vec<(u32, CellId)> = turns.collect();
    turns.sort_unstable();
    turns.into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::antenna::{Antenna, LteSector, Mounted};
    use fadeout_core::{Hertz, Point};

    #[test]
    fn cells_of_a_site_on_other_carriers_come_as_they_are_turned() {
        let cell = |x: f64, carrier: f64, azimuth_deg: f64| {
            let mut cell = CellConfig::lte(Point::new(x, 0.0, 25.0), Hertz(carrier), 50);
            cell.channel.base_antenna = Antenna::Sector(Mounted {
                pattern: LteSector::default(),
                boresight: Angles {
                    azimuth_deg,
                    elevation_deg: 0.0,
                },
            });
            cell
        };
        let mut cells: Vec<CellConfig> = [0.0, 120.0, 240.0]
            .into_iter()
            .flat_map(|azimuth| [cell(0.0, 8e8, azimuth), cell(0.0, 2e9, azimuth)])
            .collect();
        cells.push(cell(500.0, 2e9, 0.0));
        cells.push(CellConfig::nr(cells[0].site, Hertz(3.5e9), 1, 51).expect("a cell"));
        let cells_with = |primary: usize| -> Vec<u32> {
            let others = co_sited(cells.iter(), &cells[primary]);
            others.into_iter().map(|cell| cell.0).collect()
        };
        assert_eq!(cells_with(0), [1, 3, 5]);
        assert_eq!(cells_with(3), [2, 0, 4]);
        assert_eq!(cells_with(4), [5, 1, 3]);
        assert!(cells_with(6).is_empty() && cells_with(7).is_empty());
    }
}
