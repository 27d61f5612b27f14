//! UEs in cells of 3G: links that carry what leaves their bearers there.

use super::World;
use super::paths::UePath;
use crate::hop::Hop;
use fadeout_core::{Direction, DrbId, EndpointId, LinkId, NodeId, PacketId, Probe, RouteId, UeId};
use std::collections::BTreeMap;

/// The links of UEs in cells of 3G, and who is there.
#[derive(Debug, Default)]
pub(crate) struct Utran {
    /// Downlink and uplink, by UE and node of the cell.
    links: BTreeMap<(UeId, NodeId), [LinkId; 2]>,
    /// The way on for what leaves the radio for these ends of flows.
    there: BTreeMap<EndpointId, (RouteId, LinkId)>,
}

impl Utran {
    /// Links carry the packets of a UE in the cell of a node.
    pub(crate) fn add(&mut self, way: (UeId, NodeId), links: [LinkId; 2]) {
        self.links.insert(way, links);
    }

    /// The uplink of a UE in the cell of a node, if it is of 3G.
    pub(super) fn uplink(&self, way: (UeId, NodeId)) -> Option<Hop> {
        let [_, uplink] = *self.links.get(&way)?;
        Some(Hop::Link(uplink))
    }

    /// A UE is in the cell of a node, with these ways of flows.
    pub(super) fn enter<P: Probe>(
        &mut self,
        world: &mut World<P>,
        (ue, base): (UeId, NodeId),
        ways: &[UePath],
    ) {
        if self.links.is_empty() {
            return;
        }
        let links = self.links.get(&(ue, base));
        for way in ways.iter().filter(|way| way.ue == ue) {
            match links {
                Some(&[link, _]) => {
                    let route = world.routes.over(&[Hop::Link(link)]);
                    self.there.insert(way.near, (route, link));
                }
                None => {
                    self.there.remove(&way.near);
                }
            }
        }
    }

    /// What waits in the downlink or the uplink of a UE, in the cell of a node, is the radio's again.
    pub(super) fn give_back<P: Probe>(
        &self,
        world: &mut World<P>,
        ((ue, base), direction): ((UeId, NodeId), Direction),
        ways: &[UePath],
    ) {
        let Some(links) = self.links.get(&(ue, base)) else {
            return;
        };
        let link = links[direction.index()];
        let mut taken = Vec::new();
        let (agenda, pool, probe) = (&mut world.agenda, &mut world.pool, &mut world.probe);
        world.links.close(link, agenda, pool, &mut taken, probe);
        world.links.open(link, agenda, pool, probe);
        for packet in taken {
            let to = world.pool[packet].to;
            let is_its = |way: &&UePath| way.ue == ue && [way.near, way.far].contains(&to);
            if let Some(way) = ways.iter().find(is_its) {
                give(world, (way.bearer, direction, base), packet);
            }
        }
    }
}

/// A packet is a bearer's again, at the base station `base` or at the UE.
fn give<P: Probe>(
    world: &mut World<P>,
    (bearer, direction, base): (DrbId, Direction, NodeId),
    packet: PacketId,
) {
    let Some(radio) = &mut world.radio else {
        return;
    };
    let (pool, probe, now) = (&mut world.pool, &mut world.probe, world.agenda.now());
    match direction {
        Direction::Downlink => {
            radio
                .access
                .on_packet_at(now, base.0, bearer, packet, pool, probe);
        }
        Direction::Uplink => {
            // It leaves the bearer again, and takes the way of then.
            pool[packet].hop = 0;
            radio
                .access
                .on_packet(now, bearer, direction, packet, pool, probe);
        }
    }
    radio.arm(&mut world.agenda);
}

/// A packet leaves the radio: on its way, or in 3G into a link to its UE.
#[inline]
pub(super) fn leave_radio<P: Probe>(world: &mut World<P>, id: PacketId) {
    let utran = world.paths.as_ref().map(|paths| &paths.utran);
    let there = utran.filter(|utran| !utran.there.is_empty());
    let on = there.and_then(|utran| utran.there.get(&world.pool[id].to));
    match on {
        Some(&(route, link)) => {
            let packet = &mut world.pool[id];
            (packet.route, packet.hop) = (route, 0);
            world.enter(Hop::Link(link), id);
        }
        None => world.forward(id),
    }
}
