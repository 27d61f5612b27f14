//! Delays of equipment. They are added to the links that end at the node of a cell, so they cost
//! no event.

use fadeout_core::{NodeId, Span};
use fadeout_scenario::{Link, Scenario};

/// Returns the delay of the equipment at the two ends of a link, for one direction. Links between
/// base stations have none, because their packets have already passed the equipment.
pub(super) fn delay(scenario: &Scenario, link: &Link, is_reverse: bool) -> Span {
    let (start, end) = match is_reverse {
        true => (link.to, link.from),
        false => (link.from, link.to),
    };
    if scenario.is_base_station(start) && scenario.is_base_station(end) {
        return Span::ZERO;
    }
    let of = |node: NodeId| scenario.equipment_delay(node);
    let downlink = of(end).map_or(Span::ZERO, |delay| delay.downlink);
    let uplink = of(start).map_or(Span::ZERO, |delay| delay.uplink);
    downlink.saturating_add(uplink)
}
