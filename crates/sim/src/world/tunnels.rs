//! Tunnels of the core network that carry packets over links, for captures.
//!
//! Each bearer has a tunnel between the core and its base station (S1, N3). It has another tunnel
//! when one base station forwards packets to the next (X2, Xn, or through the core). A tunnel
//! identifier is the number of the bearer. Its highest bits have the purpose of the tunnel.
//!
//! Standard: TS 29.281 §4.2, §5.1.

use super::World;
use crate::crossing::Signal;
use crate::directory::Directory;
use crate::hop::{Hop, Routes};
use fadeout_core::{
    Carried, Direction, DrbId, InterfaceFrame, LinkId, NodeId, PacketId, PdcpNumber, Probe, Tunnel,
    WholePacket,
};
use fadeout_radio::access::Backhaul;
use std::collections::{BTreeMap, BTreeSet};

/// High bits of tunnel identifiers (TEID), by purpose.
mod kind {
    pub(super) const DOWNLINK: u32 = 0x1000_0000;
    pub(super) const UPLINK: u32 = 0x2000_0000;
    pub(super) const FORWARDING: u32 = 0x3000_0000;
    /// Tunnels of handovers between links, with the number of the handover.
    pub(super) const OLD_PATH: u32 = 0x4000_0000;
    pub(super) const BETWEEN_LINKS: u32 = 0x5000_0000;
    /// Tunnels of split bearers, to the secondary base station and from it.
    pub(super) const TO_LEG: u32 = 0x6000_0000;
    pub(super) const FROM_LEG: u32 = 0x7000_0000;
}

/// End nodes of the tunnels, and the PDCP numbers of forwarded packets.
#[derive(Debug)]
pub(crate) struct Tunnels {
    /// End node of the base stations' tunnels. `None` if they end at the next node.
    core: Option<NodeId>,
    /// NR base stations.
    of_nr: BTreeSet<NodeId>,
    of_utra: BTreeSet<NodeId>,
    /// PDCP numbers of forwarded packets. Packet ids are reused, and each forwarded packet
    /// overwrites or removes the entry of its id.
    numbers: BTreeMap<PacketId, PdcpNumber>,
}

/// The part of a packet's route between two hops that are not links.
struct LinkSection<'a> {
    before: Option<Hop>,
    links: &'a [Hop],
    /// Index of the link that the packet crosses.
    at: usize,
    after: Option<Hop>,
}

impl<'a> LinkSection<'a> {
    fn around(hops: &'a [Hop], at: usize) -> LinkSection<'a> {
        let is_other = |hop: &Hop| !matches!(hop, Hop::Link(_));
        let from = hops[..at].iter().rposition(is_other).map_or(0, |it| it + 1);
        let to = hops[at..].iter().position(is_other).map(|it| at + it);
        LinkSection {
            before: from.checked_sub(1).map(|it| hops[it]),
            links: &hops[from..to.unwrap_or(hops.len())],
            at: at - from,
            after: to.map(|it| hops[it]),
        }
    }

    /// Returns the nodes that the links connect, beginning with the start of the first link.
    fn nodes(&self, directory: &Directory) -> Vec<NodeId> {
        let end = |&hop: &Hop| match hop {
            Hop::Link(link) => directory.end_of(link),
            _ => unreachable!("a stretch is of links"),
        };
        let start = self.links.first().map(|&first| directory.reversed(first));
        let start = start.iter().map(end);
        start.chain(self.links.iter().map(end)).collect()
    }
}

impl Tunnels {
    pub(crate) fn new(
        core: Option<NodeId>,
        of_nr: BTreeSet<NodeId>,
        of_utra: BTreeSet<NodeId>,
    ) -> Tunnels {
        Tunnels {
            core,
            of_nr,
            of_utra,
            numbers: BTreeMap::new(),
        }
    }

    /// True if two base stations are both LTE or both NR, and neither is a 3G one.
    pub(super) fn are_alike(&self, one: u32, other: u32) -> bool {
        let ends = [one, other].map(NodeId);
        let [one, other] = ends.map(|node| self.of_nr.contains(&node));
        one == other && !ends.iter().any(|node| self.of_utra.contains(node))
    }

    /// Records that a packet is forwarded. If `number` is `None`, an older entry of the packet is
    /// removed.
    pub(super) fn set_forwarded(&mut self, packet: PacketId, number: Option<PdcpNumber>) {
        match number {
            Some(number) => self.numbers.insert(packet, number),
            None => self.numbers.remove(&packet),
        };
    }

    /// Returns a packet as a link carries it, within its tunnel if it is in one. `None` for
    /// messages.
    fn carried<'a>(
        &self,
        (id, packet): (PacketId, WholePacket<'a>),
        frame: Option<(&'a InterfaceFrame, Option<WholePacket<'a>>)>,
        routes: &Routes,
        directory: &Directory,
    ) -> Option<Carried<'a>> {
        let section = LinkSection::around(routes.hops(packet.route), usize::from(packet.hop));
        let nodes = section.nodes(directory);
        let [first, .., last] = nodes[..] else {
            return Some(Carried::Plain(packet));
        };
        let tunnel = |kind: u32, number: u32| Tunnel {
            from: first,
            to: last,
            teid: kind | number.wrapping_add(1) & 0x0fff_ffff,
        };
        let inside = |tunnel, number| {
            Some(Carried::Tunnelled {
                packet,
                tunnel,
                number,
                session: None,
            })
        };
        let marker = |tunnel| Some(Carried::EndMarker(tunnel));
        let of_frame = |tunnel| {
            let (frame, packet) = frame?;
            Some(Carried::Interface {
                tunnel,
                frame,
                packet,
            })
        };
        match section.after {
            Some(Hop::Backhaul(
                Backhaul::Message { .. }
                | Backhaul::Copy { .. }
                | Backhaul::LegFailure { .. }
                | Backhaul::Unattached { .. },
            )) => None,
            Some(Hop::Backhaul(
                Backhaul::DownlinkPdu { bearer }
                | Backhaul::Poll { bearer }
                | Backhaul::Discard { bearer },
            )) => of_frame(tunnel(kind::TO_LEG, bearer.0)),
            Some(Hop::Backhaul(
                Backhaul::DeliveryStatus { bearer } | Backhaul::UplinkPdu { bearer },
            )) => of_frame(tunnel(kind::FROM_LEG, bearer.0)),
            Some(Hop::Backhaul(Backhaul::EndMarker { bearer })) => marker(Tunnel {
                from: self.core.unwrap_or(first),
                ..tunnel(kind::DOWNLINK, bearer.0)
            }),
            Some(Hop::Backhaul(Backhaul::ForwardedEnd { bearer })) => {
                marker(tunnel(kind::FORWARDING, bearer.0))
            }
            Some(Hop::Backhaul(Backhaul::Forwarded { bearer, .. })) => {
                let number = self.numbers.get(&id).copied();
                inside(tunnel(kind::FORWARDING, bearer.0), number)
            }
            Some(Hop::Signal { handover, signal }) => match signal {
                Signal::OldPathEnd => marker(tunnel(kind::OLD_PATH, handover.into())),
                Signal::ForwardingEnd => marker(tunnel(kind::BETWEEN_LINKS, handover.into())),
                _ => None,
            },
            // The last link of the section leads to the phone. Packets on it are in no tunnel.
            Some(Hop::Target { handover }) if section.at < section.links.len() => {
                inside(tunnel(kind::BETWEEN_LINKS, handover.into()), None)
            }
            after => {
                let down = after.and_then(|hop| self.of_bearer(hop, &section, &nodes));
                let found = down.or_else(|| {
                    let before = section.before?;
                    self.of_bearer(before, &section, &nodes)
                });
                Some(match found {
                    Some((tunnel, session)) => Carried::Tunnelled {
                        packet,
                        tunnel,
                        number: None,
                        session,
                    },
                    None => Carried::Plain(packet),
                })
            }
        }
    }

    /// Returns the tunnel of a bearer at the start or at the end of the section of links. `None` if
    /// the current link is outside the tunnel.
    fn of_bearer(
        &self,
        hop: Hop,
        section: &LinkSection<'_>,
        nodes: &[NodeId],
    ) -> Option<(Tunnel, Option<bool>)> {
        let Hop::Bearer {
            bearer: DrbId(bearer),
            direction,
        } = hop
        else {
            return None;
        };
        let last = nodes.len() - 1;
        let core = nodes.iter().position(|&node| Some(node) == self.core);
        let (kind, from, to, station) = match direction {
            Direction::Downlink => {
                let core = core.unwrap_or(last - 1);
                (kind::DOWNLINK, core, last, last)
            }
            Direction::Uplink => (kind::UPLINK, 0, core.unwrap_or(1), 0),
        };
        let is_in = (from..to).contains(&section.at);
        let session = self.of_nr.contains(&nodes[station]);
        is_in.then_some((
            Tunnel {
                from: nodes[from],
                to: nodes[to],
                teid: kind | bearer.wrapping_add(1) & 0x0fff_ffff,
            },
            session.then_some(direction == Direction::Uplink),
        ))
    }
}

/// Shows packets that have crossed a direction of a link to the probe, for captures.
#[cold]
pub(super) fn show_crossed<P: Probe>(world: &mut World<P>, link: LinkId, arrived: &[PacketId]) {
    let Some(tunnels) = &world.tunnels else {
        return;
    };
    if !world.probe.wants_link(link) {
        return;
    }
    let now = world.agenda.now();
    for &id in arrived {
        let packet = world.pool.packet(id);
        let frame = match (world.routes.hops(packet.route).last(), &world.radio) {
            (Some(&Hop::Backhaul(what)), Some(radio)) => {
                radio.access.frame(what, packet.segment.seq)
            }
            _ => None,
        };
        let inside = frame.as_ref().and_then(|frame| frame.pdu.as_ref()?.packet);
        let inside = inside.map(|id| (id, world.pool.packet(id)));
        let inside = inside.as_ref();
        let inside = inside.map(|(id, packet)| world.pool.whole(*id, packet));
        let frame = frame.as_ref().map(|frame| (frame, inside));
        let packet = world.pool.whole(id, &packet);
        let carried = tunnels.carried((id, packet), frame, &world.routes, &world.directory);
        if let Some(carried) = carried {
            world.probe.crossed(now, link, carried);
        }
    }
}
