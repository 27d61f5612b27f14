//! Check that base stations are outside of buildings. Walls let no signal through, so an antenna in
//! a building would serve no UE.

use super::{BuildError, vehicles};
use fadeout_core::{Point, polygon};
use fadeout_scenario::{Building, Scenario};

/// Checks the positions of all antennas.
///
/// # Errors
/// Returns an error with the first cell whose antenna is inside a building or a block of streets,
/// below the roof.
pub(super) fn check(scenario: &Scenario) -> Result<(), BuildError> {
    for cell in &scenario.cells {
        let at = cell.position;
        let building = scenario
            .buildings
            .iter()
            .find(|one| !one.foliage && holds(one, at));
        let (what, roof_m) = match building {
            Some(one) => (format!("building \"{}\"", one.name), one.height.0),
            None => match vehicles::block_around(scenario, at) {
                Some((group, roof_m)) => (format!("a block of vehicles \"{group}\""), roof_m),
                None => continue,
            },
        };
        return Err(BuildError::Cell {
            cell: cell.name.clone(),
            reason: format!(
                "it stands at {} m, {} m within {what}, {} m above ground and below a roof of \
                 {roof_m} m; expected a `position` outside, or a `height` above the roof",
                at.x, at.y, at.z
            ),
        });
    }
    Ok(())
}

/// True if a position is within a building's walls, below its roof and above its underside.
pub(crate) fn holds(building: &Building, at: Point) -> bool {
    let is_between = building.base.0 < at.z && at.z < building.height.0;
    let (low, high) = (building.low, building.high);
    let is_around = low.0 < at.x && at.x < high.0 && low.1 < at.y && at.y < high.1;
    // A position inside an odd number of rings is inside the building. Courtyards are outside.
    let around = building.outline.iter();
    let around = around.filter(|ring| polygon::holds(ring, (at.x, at.y)));
    is_between && is_around && (building.outline.is_empty() || around.count() % 2 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(more: &str) -> Option<String> {
        let text = format!(
            "duration = \"1 s\"\n[cell.unit]\nposition = [\"50 m\", \"50 m\"]\nheight = \"5 m\"\n\
             carrier = \"28 GHz\"\nbandwidth = \"50 MHz\"\nchannel = {{ path-loss = \"umi\" }}\n{more}"
        );
        let source = fadeout_scenario::Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        let parsed = fadeout_scenario::parse(&text, &source, &[], crate::catalog());
        let scenario = parsed.unwrap_or_else(|errors| panic!("{errors}"));
        check(&scenario).err().map(|error| error.to_string())
    }

    fn building(more: &str) -> String {
        format!(
            "[building.hall]\ncorner = [\"0 m\", \"0 m\"]\nopposite = [\"100 m\", \"100 m\"]\n{more}\n"
        )
    }

    #[test]
    fn a_unit_in_a_building_is_refused_with_the_building_and_its_roof() {
        let reason = refused(&building("height = \"20 m\"")).expect("it is inside");
        assert!(reason.contains("cell \"unit\""), "{reason}");
        assert!(reason.contains("building \"hall\""), "{reason}");
        assert!(reason.contains("below a roof of 20 m"), "{reason}");
    }

    #[test]
    fn a_unit_on_a_roof_under_a_bridge_or_in_a_courtyard_is_not() {
        let ring = |m: [u32; 2]| {
            let [low, high] = m;
            format!(
                "[[\"{low} m\", \"{low} m\"], [\"{high} m\", \"{low} m\"], [\"{high} m\", \"{high} m\"], \
                 [\"{low} m\", \"{high} m\"]]"
            )
        };
        let outline = |rings: &[[u32; 2]]| {
            let rings: Vec<String> = rings.iter().copied().map(ring).collect();
            format!("height = \"20 m\"\noutline = [{}]", rings.join(", "))
        };
        for (more, is_refused) in [
            ("height = \"4 m\"".to_owned(), false),
            ("height = \"20 m\"\nbase = \"6 m\"".to_owned(), false),
            (outline(&[[0, 100], [40, 60]]), false),
            (outline(&[[0, 100], [60, 80]]), true),
            (outline(&[[0, 30]]), false),
        ] {
            assert_eq!(refused(&building(&more)).is_some(), is_refused, "{more}");
        }
    }

    #[test]
    fn a_unit_in_a_block_of_streets_is_refused() {
        let streets = |corner: &str| {
            format!(
                "[vehicles.cars]\nnumber = 4\nfollowing = \"idm\"\nroad = {{ pitch = [\"200 m\", \"200 m\"], blocks = [2, 2], \
                 corner = [\"{corner}\", \"{corner}\"], roof = \"20 m\" }}\n"
            )
        };
        let reason = refused(&streets("-50 m")).expect("it is inside");
        assert!(reason.contains("a block of vehicles \"cars\""), "{reason}");
        assert_eq!(refused(&streets("50 m")), None, "that is a crossing");
    }
}
