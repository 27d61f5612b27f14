//! UEs in 3G cells: links carry the packets of their bearers there.

use super::World;
use super::paths::UePath;
use crate::hop::Hop;
use fadeout_core::{Direction, DrbId, EndpointId, LinkId, NodeId, PacketId, Probe, RouteId, UeId};
use std::collections::BTreeMap;

/// Links of UEs in 3G cells, and the endpoints that are there now.
#[derive(Debug, Default)]
pub(crate) struct Utran {
    /// Downlink and uplink, indexed by UE and node of the cell.
    links: BTreeMap<(UeId, NodeId), [LinkId; 2]>,
    /// Route and downlink for packets that leave the radio access, indexed by endpoint. Only
    /// endpoints of UEs in 3G have an entry.
    in_utran: BTreeMap<EndpointId, (RouteId, LinkId)>,
}

impl Utran {
    /// Adds the links that carry the packets of a UE in the cell of a node.
    pub(crate) fn add(&mut self, ue_and_base: (UeId, NodeId), links: [LinkId; 2]) {
        self.links.insert(ue_and_base, links);
    }

    /// Returns the uplink of a UE in the cell of a node. `None` if it is not a 3G cell.
    pub(super) fn uplink(&self, ue_and_base: (UeId, NodeId)) -> Option<Hop> {
        let [_, uplink] = *self.links.get(&ue_and_base)?;
        Some(Hop::Link(uplink))
    }

    /// Records that a UE is in the cell of a node. `paths` has the routes of its flows.
    pub(super) fn enter<P: Probe>(
        &mut self,
        world: &mut World<P>,
        (ue, base): (UeId, NodeId),
        paths: &[UePath],
    ) {
        if self.links.is_empty() {
            return;
        }
        let links = self.links.get(&(ue, base));
        for path in paths.iter().filter(|path| path.ue == ue) {
            match links {
                Some(&[link, _]) => {
                    let route = world.routes.over(&[Hop::Link(link)]);
                    self.in_utran.insert(path.near, (route, link));
                }
                None => {
                    self.in_utran.remove(&path.near);
                }
            }
        }
    }

    /// Moves packets that wait in the downlink or uplink of a 3G cell back to the radio access.
    pub(super) fn move_back<P: Probe>(
        &self,
        world: &mut World<P>,
        ((ue, base), direction): ((UeId, NodeId), Direction),
        paths: &[UePath],
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
            let is_its = |path: &&UePath| path.ue == ue && [path.near, path.far].contains(&to);
            if let Some(path) = paths.iter().find(is_its) {
                return_to_bearer(world, (path.bearer, direction, base), packet);
            }
        }
    }
}

/// Gives a packet back to its bearer, at the base station `base` or at the UE.
fn return_to_bearer<P: Probe>(
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
            // The packet leaves its bearer a second time, on the route that is valid then.
            pool[packet].hop = 0;
            radio
                .access
                .on_packet(now, bearer, direction, packet, pool, probe);
        }
    }
    radio.arm(&mut world.agenda);
}

/// Moves a packet that leaves the radio access to its next hop. In 3G this is the link to its UE.
#[inline]
pub(super) fn leave_radio<P: Probe>(world: &mut World<P>, id: PacketId) {
    let utran = world.paths.as_ref().map(|paths| &paths.utran);
    let there = utran.filter(|utran| !utran.in_utran.is_empty());
    let on = there.and_then(|utran| utran.in_utran.get(&world.pool[id].to));
    match on {
        Some(&(route, link)) => {
            let packet = &mut world.pool[id];
            (packet.route, packet.hop) = (route, 0);
            world.enter(Hop::Link(link), id);
        }
        None => world.forward(id),
    }
}
