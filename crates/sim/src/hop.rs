//! Hops, and the routes that packets take over them.

use crate::crossing::Signal;
use fadeout_core::{Direction, DrbId, LinkId, RouteId};
use fadeout_radio::access::Backhaul;
use std::collections::{BTreeMap, BTreeSet};

/// One step of a packet's way: what carries it on, in one direction.
///
/// A link between base stations or to the core network (X2, Xn, S1) is a link like others. A
/// middlebox between two hops would be a variant here; an end outside the simulation would be a
/// kind of `Transport` in `world`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hop {
    /// A direction of a link, or of a bearer of 2G or 3G.
    Link(LinkId),
    /// A direction of a radio bearer.
    Bearer {
        /// The bearer.
        bearer: DrbId,
        /// Downlink from the base station to the UE, or uplink.
        direction: Direction,
    },
    /// A base station or the core, for what only they read: messages of handovers, forwarded packets,
    /// end markers.
    Backhaul(Backhaul),
    /// The end of a message of a handover between links, by its number in the file.
    Signal {
        /// The handover.
        handover: u16,
        /// The message.
        signal: Signal,
    },
    /// The target of a handover between links, for what the source forwards.
    Target {
        /// The handover.
        handover: u16,
    },
}

/// Most hops of a route: a packet counts them in a byte.
pub(crate) const MAX_HOPS: usize = u8::MAX as usize;

/// The routes of all packets, each kept once.
///
/// A packet carries the number of its route, so a route never changes. A sender that takes another
/// way takes another route, and what is under way goes on as it began.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    list: Vec<Box<[Hop]>>,
    known: BTreeMap<Box<[Hop]>, RouteId>,
}

impl Routes {
    /// The route over `hops`, of which there are one to [`MAX_HOPS`]. Flows between the same nodes
    /// share one; with many flows that is most of them.
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

    /// The same routes under their numbers, but for those that `is_used` does not name, which have no hops: for a world that has
    /// a part of the scenario. None is added to it.
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

    /// The links that forwarded packets take from one base station to another.
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

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The first hop of a route.
    #[inline]
    pub(crate) fn first(&self, route: RouteId) -> Hop {
        debug_assert!(
            !self.list[route.index()].is_empty(),
            "route {route:?} is of another world"
        );
        self.list[route.index()][0]
    }

    /// The hop of a route at a position; none beyond its end.
    #[inline]
    pub(crate) fn at(&self, route: RouteId, position: u8) -> Option<Hop> {
        self.list[route.index()].get(usize::from(position)).copied()
    }

    /// All hops of a route.
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
        assert_eq!(routes.at(one, 1), Some(back));
        assert_eq!(routes.at(one, 2), None);
    }
}
