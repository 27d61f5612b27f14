//! Merging of the worlds of a divided run into one, for the summary of the run.

use super::{Transport, World};
use fadeout_core::{EndpointId, Fingerprint, FlowId, LinkId, NodeId, Probe, Time};
use fadeout_link::Link;

/// Merges several worlds, which have reached the same time, into the first. Each endpoint and link
/// comes from the world of its node, which `world_of` returns. Each flow combines the states of its
/// two ends. The parts of the radio access are kept side by side. The fingerprint is computed from
/// those of the worlds, in their order.
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
                // Only the receiver's world knows the delivered data.
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
