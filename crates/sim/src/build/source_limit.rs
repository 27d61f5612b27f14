//! Queue limit of a handover's source link, in round-trip times of the link's flows.

use super::BuildError;
use super::link::{longest_delay, rate};
use crate::routing::Topology;
use fadeout_core::{Bytes, Span};
use fadeout_scenario::{self as scenario, Hop, Medium, QueueLimit, Scenario};

/// Sizes of an IP packet with a full segment, and of an IP packet with an ACK.
const SIZES: [Bytes; 2] = [Bytes(1500), Bytes(40)];

/// Returns the queue limit of link number `index` in the direction towards a phone that leaves the
/// link. `None` if no handover gives such a limit. The limit is a multiple of the longest
/// round-trip time without load among the flows that cross the link.
///
/// # Errors
/// Returns an error if no flow crosses the link at the start of the run.
pub(super) fn find(
    scenario: &Scenario,
    topology: &mut Topology,
    index: usize,
) -> Result<Option<QueueLimit>, BuildError> {
    let from_here = scenario.handovers.iter();
    let limits = from_here
        .filter(|handover| handover.from == Medium::Link(index))
        .filter_map(|handover| handover.source_limit);
    let Some(round_trips) = limits.reduce(f64::min) else {
        return Ok(None);
    };
    let crosses = |hops: &[Hop]| hops.iter().any(|hop| hop.medium == Medium::Link(index));
    let mut longest = Span::ZERO;
    for flow in &scenario.flows {
        let routes = [topology.route_of(flow), topology.return_route_of(flow)];
        let [Some(there), Some(back)] = routes else {
            continue;
        };
        if !crosses(&there) && !crosses(&back) {
            continue;
        }
        // Data is sent towards the phone, even if the phone opened the flow.
        let is_down = there.iter().any(|hop| *hop == forward(index));
        let (data, acks) = if is_down {
            (there, back)
        } else {
            (back, there)
        };
        let routes = [data, acks].into_iter().zip(SIZES);
        let parts = routes.flat_map(|(hops, size)| {
            let of_hop = hops
                .into_iter()
                .map(move |hop| unloaded(scenario, hop, size));
            of_hop.collect::<Vec<Span>>()
        });
        longest = longest.max(parts.fold(Span::ZERO, |sum, part| sum + part));
    }
    if longest.is_zero() {
        return Err(BuildError::Link {
            link: scenario.links[index].name.clone(),
            reason: "a `source-limit` in round trips, but no flow uses the link when the run \
                begins; expected such a flow, or a limit of its `queue`"
                .to_owned(),
        });
    }
    let limit_s = longest.as_secs_f64() * round_trips;
    Ok(Some(QueueLimit::Time(Span::from_secs_f64(limit_s))))
}

fn forward(index: usize) -> Hop {
    Hop {
        medium: Medium::Link(index),
        is_reverse: false,
    }
}

/// Returns the time in which a packet crosses a link with an empty queue. Zero for radio access.
fn unloaded(scenario: &Scenario, hop: Hop, size: Bytes) -> Span {
    let Medium::Link(index) = hop.medium else {
        return Span::ZERO;
    };
    let link = &scenario.links[index];
    let direction: &scenario::LinkDirection = match hop.is_reverse {
        true => &link.reverse,
        false => &link.forward,
    };
    let mean = rate(&direction.rate).map(|(_, mean)| mean);
    let sending = mean.map_or(Span::ZERO, |mean| match mean.is_zero() {
        true => Span::ZERO,
        false => mean.time_to_send(size),
    });
    longest_delay(direction) + sending
}
