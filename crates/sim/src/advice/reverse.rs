//! Warnings about flows whose data crosses a link in the direction without a limited rate.

use crate::routing::Topology;
use fadeout_scenario::{Hop, Medium, RateModel, Scenario};
use std::collections::BTreeSet;

/// Returns a sentence for each link that limits the rate only in its forward direction, but carries
/// a flow's data in the reverse direction. Links are left out if another hop of the flow's route
/// has a limited rate.
pub(super) fn advise(scenario: &Scenario, topology: &mut Topology) -> Vec<String> {
    let mut named = BTreeSet::new();
    let mut sentences = Vec::new();
    for flow in &scenario.flows {
        for route in topology.routes_of(flow) {
            let mut rates = route.iter().map(|hop| rate(scenario, hop));
            if !rates.all(|rate| rate.is_some_and(is_unlimited)) {
                continue;
            }
            for hop in route.iter().filter(|hop| hop.is_reverse) {
                let Medium::Link(index) = hop.medium else {
                    continue;
                };
                let link = &scenario.links[index];
                if !is_unlimited(&link.forward.rate) && named.insert(index) {
                    sentences.push(format!(
                        "link \"{}\": the data of flow \"{}\" goes from its `to` to its `from`, where the rate is \
                         unlimited, as it is on the whole way; `reverse.rate` limits it",
                        link.name, flow.name
                    ));
                }
            }
        }
    }
    sentences
}

/// Returns the rate of a hop that is a direction of a link. `None` for bearers, whose rate comes
/// from the radio.
fn rate<'a>(scenario: &'a Scenario, hop: &Hop) -> Option<&'a RateModel> {
    let Medium::Link(index) = hop.medium else {
        return None;
    };
    let link = &scenario.links[index];
    Some(match hop.is_reverse {
        true => &link.reverse.rate,
        false => &link.forward.rate,
    })
}

fn is_unlimited(rate: &RateModel) -> bool {
    matches!(rate, RateModel::Constant(rate) if rate.is_unlimited())
}
