//! The worlds of a divided run as one again, for its summary.

use super::{Transport, World};
use fadeout_core::{EndpointId, Fingerprint, FlowId, LinkId, NodeId, Probe, Time};
use fadeout_link::Link;

/// Puts every machine of several worlds, which have come to one time, into the first: each endpoint and link from the world
/// that has it by `world_of` its node, each flow as its ends know it, and the parts of the radio access side by side. The
/// fingerprint is that of theirs, in their order.
pub(crate) fn gathered<P: Probe>(
    worlds: Vec<World<P>>,
    world_of: impl Fn(NodeId) -> usize,
) -> World<P> {
    let mut fingerprint = Fingerprint::default();
    for world in &worlds {
        fingerprint.mix(world.now(), world.fingerprint().value());
    }
    let events = worlds.iter().map(World::events).sum();
    let delivered = worlds.iter().map(World::delivered_packets).sum();
    let mut worlds = worlds.into_iter();
    let mut first = worlds.next().expect("a run has a world");
    for (number, mut other) in (1..).zip(worlds) {
        let directory = std::sync::Arc::clone(&first.directory);
        let is_here = |node: NodeId| world_of(node) == number;
        let known = first.endpoints.connections() as u32;
        for (id, info) in (0..).map(EndpointId).zip(directory.endpoints()) {
            if is_here(info.node) {
                std::mem::swap(&mut first.endpoints[id], &mut other.endpoints[id]);
                if let Transport::Subflow { connection, .. } = &mut first.endpoints[id].transport {
                    *connection += known;
                }
            }
        }
        first.endpoints.append(&mut other.endpoints);
        for index in 0..first.links.iter().count() {
            let id = LinkId(index as u32);
            if is_here(directory.start_of(id)) {
                let theirs: &mut Link = other.links.get_mut(id);
                std::mem::swap(first.links.get_mut(id), theirs);
            }
        }
        for index in 0..first.flows.len() {
            let entry = directory.flow(FlowId(index as u32));
            let receiver = entry.expect("it has every flow").receiver;
            let has_data = is_here(directory.endpoints()[receiver.index()].node);
            let (mine, theirs) = (&mut first.flows[index], &mut other.flows[index]);
            if has_data {
                // What was delivered its receiver knows alone.
                std::mem::swap(mine, theirs);
            }
            mine.established_at = earliest(mine.established_at, theirs.established_at);
            mine.aborted_at = earliest(mine.aborted_at, theirs.aborted_at);
        }
        if let Some(radio) = other.radio.take() {
            match &mut first.radio {
                Some(mine) => mine.others.push(*radio),
                none => *none = Some(radio),
            }
        }
    }
    first.agenda.count(events);
    first.fingerprint = fingerprint;
    first.delivered_packets = delivered;
    first
}

fn earliest(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.into_iter().chain(other).min()
}
