//! What is right in a scenario and still hardly meant.

use crate::build;
use fadeout_core::Span;
use fadeout_scenario::{Flow, Scenario};
use std::collections::BTreeSet;

/// A sentence for each thing that ruins results silently: so far, an RLC buffer below the
/// bandwidth-delay product of the cell's peak rate (TS 38.306 clause 4.1.2) and the delays of the
/// links of a flow. The radio's own delay is left out, so a buffer that is named is too small
/// indeed.
pub fn advice(scenario: &Scenario) -> Vec<String> {
    let serving: Vec<usize> = scenario.ues.iter().map(|ue| ue.cell.unwrap_or(0)).collect();
    let mut sentences = Vec::new();
    let mut named = BTreeSet::new();
    for flow in &scenario.flows {
        for (number, links_delay) in bearers(scenario, flow, &serving) {
            if !named.insert(number) {
                continue;
            }
            let Some(bearer) = scenario.bearers().nth(number) else {
                continue;
            };
            let cell = serving[bearer.ue];
            let Some((peak, buffer)) = build::peak_and_buffer(scenario, &bearer, cell) else {
                continue;
            };
            let round_trip = links_delay.as_secs_f64();
            let product = peak.as_bytes_per_sec_f64() * round_trip;
            if (buffer.0 as f64) < product {
                sentences.push(format!(
                    "UE \"{}\": the RLC buffer of {:.0} kB is below the {:.0} kB that {:.0} Mbit/s \
                     and a round trip of {:.0} ms ask for; TCP cannot use the peak rate of the \
                     cell. A larger `rlc.buffer` can",
                    bearer.name(),
                    buffer.0 as f64 / 1e3,
                    product / 1e3,
                    peak.as_mbps(),
                    round_trip * 1e3,
                ));
            }
        }
    }
    sentences
}

/// The bearers that a flow crosses, by number, each with the delay of the links both ways.
fn bearers(scenario: &Scenario, flow: &Flow, serving: &[usize]) -> Vec<(usize, Span)> {
    let routes = match &flow.multipath {
        Some(multipath) => multipath
            .paths
            .iter()
            .map(|path| path.hops.clone())
            .collect(),
        None => Vec::from_iter(scenario.route_of(flow, serving)),
    };
    let mut crossed = Vec::new();
    for hops in routes {
        let links = hops.iter().filter_map(|hop| scenario.links.get(hop.link));
        let delay = links
            .map(|link| link.forward.delay + link.reverse.delay)
            .fold(Span::ZERO, |sum, delay| sum + delay);
        let bearers = hops
            .iter()
            .filter_map(|hop| hop.link.checked_sub(scenario.links.len()));
        crossed.extend(bearers.map(|bearer| (bearer, delay)));
    }
    crossed
}
