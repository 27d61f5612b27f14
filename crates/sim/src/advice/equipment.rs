//! Warning about delays of equipment that no packet has.

use super::by_kind::by_kind;
use fadeout_scenario::Scenario;

/// Returns a sentence about the cells whose `equipment-delay` has no effect. Their nodes have no
/// link to other nodes than base stations.
pub(super) fn advise(scenario: &Scenario) -> Vec<String> {
    let has_link = |node| {
        scenario.links.iter().any(|link| {
            let other = match (link.from == node, link.to == node) {
                (true, _) => link.to,
                (_, true) => link.from,
                _ => return false,
            };
            !scenario.is_base_station(other)
        })
    };
    let cells = scenario.cells.iter();
    let idle = cells.filter(|cell| cell.equipment_delay.is_some() && !has_link(cell.node));
    let named = idle.map(|cell| (cell.name.as_str(), ()));
    by_kind(
        "cell",
        named,
        |()| (),
        |(), _| {
            "no link to a server ends at the node, so no packet has the `equipment-delay`"
                .to_owned()
        },
    )
}
