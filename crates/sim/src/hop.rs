//! Hops, and the routes that packets take over them.

use crate::crossing::Signal;
use fadeout_core::{Direction, DrbId, LinkId, RouteId};
use fadeout_radio::access::Backhaul;
use std::collections::{BTreeMap, BTreeSet};

/// One hop of a packet's route: a link or bearer that carries the packet in one direction.
///
/// Links between base stations or to the core network (X2, Xn, S1) are ordinary links. A middlebox
/// between two hops would be a new variant of this type. An endpoint outside the simulation would
/// be a new variant of `Transport` in `world`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hop {
    /// A direction of a link, or of a radio access bearer of 2G or 3G.
    Link(LinkId),
    /// A direction of a radio bearer.
    Bearer {
        /// Number of the bearer.
        bearer: DrbId,
        /// Downlink from the base station to the UE, or uplink.
        direction: Direction,
    },
    /// A base station or the core network as the receiver of handover messages, forwarded packets
    /// and end markers.
    Backhaul(Backhaul),
    /// The receiver of a message of a handover between links.
    Signal {
        /// Number of the handover in the scenario file.
        handover: u16,
        /// Message of the handover.
        signal: Signal,
    },
    /// The target of a handover between links, as the receiver of packets that the source forwards.
    Target {
        /// Number of the handover in the scenario file.
        handover: u16,
    },
}

/// Maximum number of hops of a route. A packet counts its hops in one byte.
pub(crate) const MAX_HOPS: usize = u8::MAX as usize;

/// The routes of all packets. Each route is stored once.
///
/// A packet carries the number of its route, and a route never changes. A sender whose path changes
/// uses another route. Packets in the network keep the old route.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    list: Vec<Box<[Hop]>>,
    known: BTreeMap<Box<[Hop]>, RouteId>,
}

impl Routes {
    /// Returns the number of the route over `hops`, which has one to [`MAX_HOPS`] hops. Flows
    /// between the same nodes share one route. With many flows this saves most routes.
    pub(crate) fn over(&mut self, hops: &[Hop]) -> RouteId {
        assert!(
            (1..=MAX_HOPS).contains(&hops.len()),
            "a route has 1 to {MAX_HOPS} hops"
        );
        if let Some(&known) = self.known.get(hops) {
            return known;
        }
        let id = RouteId(self.list.len() as u32);
        self.list.push(hops.into());
        self.known.insert(hops.into(), id);
        id
    }

    /// Returns the routes for one of several worlds. The numbers stay the same. Routes that
    /// `is_used` rejects have no hops. No route may be added to the result.
    pub(crate) fn part(&self, is_used: impl Fn(RouteId) -> bool) -> Routes {
        let numbered = (0..).map(RouteId).zip(&self.list);
        let list = numbered.map(|(id, hops)| match is_used(id) {
            true => hops.clone(),
            false => Box::default(),
        });
        Routes {
            list: list.collect(),
            known: BTreeMap::new(),
        }
    }

    /// Returns the links that are part of routes for forwarded packets between base stations.
    pub(crate) fn links_of_forwarded(&self) -> BTreeSet<LinkId> {
        let forwarded = self
            .list
            .iter()
            .filter(|hops| matches!(hops.last(), Some(Hop::Backhaul(Backhaul::Forwarded { .. }))));
        let links = forwarded
            .flat_map(|hops| hops.iter())
            .filter_map(|hop| match hop {
                Hop::Link(link) => Some(*link),
                _ => None,
            });
        links.collect()
    }

    /// Returns the number of routes.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the first hop of a route.
    #[inline]
    pub(crate) fn first(&self, route: RouteId) -> Hop {
        debug_assert!(
            !self.list[route.index()].is_empty(),
            "route {route:?} is of another world"
        );
        self.list[route.index()][0]
    }

    /// Returns the hop at an index of a route. `None` after the last hop.
    #[inline]
    pub(crate) fn hop_at(&self, route: RouteId, position: u8) -> Option<Hop> {
        self.list[route.index()].get(usize::from(position)).copied()
    }

    /// Returns all hops of a route.
    pub(crate) fn hops(&self, route: RouteId) -> &[Hop] {
        &self.list[route.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_kept_once_and_ends_after_its_last_hop() {
        let (there, back) = (Hop::Link(LinkId(0)), Hop::Link(LinkId(1)));
        let mut routes = Routes::default();
        let one = routes.over(&[there, back]);
        let other = routes.over(&[back]);
        assert_ne!(one, other);
        assert_eq!(routes.over(&[there, back]), one);
        assert_eq!(routes.first(other), back);
        assert_eq!(routes.hop_at(one, 1), Some(back));
        assert_eq!(routes.hop_at(one, 2), None);
    }
}
