//! Handovers between links: the routes of packets, of forwarded packets and of messages, before and
//! after each handover.

use super::BuildError;
use crate::crossing::{Crossing, Data, RouteChange, Signal, Times};
use crate::hop::{Hop, MAX_HOPS};
use crate::routing::Topology;
use crate::world::{Crossings, Parts};
use fadeout_core::{
    EndpointId, HandoverOutcome, LinkHandoverRow, LinkId, NodeId, RouteId, Span, Time,
};
use fadeout_scenario::{
    self as scenario, HandoverFate, HandoverSignalling, Medium, Scenario, TargetOrder,
};

/// Default of `bicast-before`. The paper behind this procedure has two times, and the default is
/// the shorter one.
const BICAST_BEFORE: Span = Span::from_millis(10);

/// Maximum number of handovers, because a hop stores the number of its handover in two bytes.
const MOST: usize = 65_536;

/// Adds the handovers of a scenario, sorted by time.
pub(super) fn add(
    scenario: &Scenario,
    topology: &Topology,
    parts: &mut Parts,
) -> Result<(), BuildError> {
    let mut described: Vec<&scenario::Handover> = scenario.handovers.iter().collect();
    if described.is_empty() {
        return Ok(());
    }
    if let Some(last) = described.get(MOST) {
        return Err(refuse(last, "too many handovers; expected at most 65536"));
    }
    described.sort_by_key(|handover| handover.at);
    let mut plan = Plan {
        topology,
        current: parts.endpoints.iter().map(|end| end.route).collect(),
        parts,
        scenario,
    };
    let list = described.iter().enumerate();
    let list = list.map(|(index, handover)| plan.crossing(index as u16, handover));
    let list = list.collect::<Result<Vec<_>, _>>()?;
    parts.crossings = Some(Crossings::new(list));
    Ok(())
}

fn refuse(handover: &scenario::Handover, reason: impl Into<String>) -> BuildError {
    BuildError::Handover {
        handover: handover.name.clone(),
        reason: reason.into(),
    }
}

struct Plan<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    parts: &'a mut Parts,
    /// Route of each endpoint after all handovers that have been added so far.
    current: Vec<RouteId>,
}

/// Nodes and links of a handover.
struct Places<'a> {
    described: &'a scenario::Handover,
    index: u16,
    phone: NodeId,
    bases: [NodeId; 2],
    source: [LinkId; 2],
    target: [LinkId; 2],
}

impl Plan<'_> {
    /// Returns the base station of a link or a 2G or 3G bearer, and the numbers of its two
    /// directions.
    fn medium(&self, medium: Medium) -> (NodeId, [LinkId; 2]) {
        match medium {
            Medium::Link(link) => {
                let from = self.scenario.links[link].from;
                (from, self.parts.directory.link(link))
            }
            Medium::Rab(rab) => {
                let from = self.scenario.rabs[rab].from;
                (from, self.parts.directory.rab(rab))
            }
            Medium::RadioBearer(_) => {
                unreachable!("the reader takes links and bearers of 2G and 3G")
            }
        }
    }

    fn crossing(
        &mut self,
        index: u16,
        described: &scenario::Handover,
    ) -> Result<Crossing, BuildError> {
        let (source_base, source) = self.medium(described.from);
        let (target_base, target) = self.medium(described.to);
        let places = Places {
            described,
            index,
            phone: described.phone,
            bases: [source_base, target_base],
            source,
            target,
        };
        let row = LinkHandoverRow {
            time_s: Time::ZERO,
            node: described.phone,
            source: source[0],
            target: target[0],
            outcome: HandoverOutcome::Success,
            decided_s: f64::NAN,
            bicast_s: f64::NAN,
            commanded_s: f64::NAN,
            resumed_s: f64::NAN,
            switched_s: f64::NAN,
            end_marker_s: f64::NAN,
            downlink_gap_s: f64::NAN,
            forwarded_waiting: 0,
            forwarded_later: 0,
            bicast: 0,
            doubled: 0,
            reordered: 0,
            lost_waiting: 0,
            lost_later: 0,
            lost_forwarding: 0,
            lost_at_target: 0,
        };
        let mut forwarding_end = None;
        let data = match described.data {
            HandoverFate::None => Data::Dropped,
            HandoverFate::Bicasting => Data::Bicast,
            HandoverFate::Forwarding => {
                let hops = self.forwarding(&places)?;
                let end = Hop::Signal {
                    handover: index,
                    signal: Signal::ForwardingEnd,
                };
                forwarding_end = Some(self.route(&places, &hops, end)?);
                Data::Forwarded(self.route(&places, &hops, Hop::Target { handover: index })?)
            }
        };
        let mut crossing = Crossing::new(row, [source, target], data);
        crossing.forwarding_end = forwarding_end;
        crossing.forwarded_first = described.target_order == TargetOrder::ForwardedFirst;
        crossing.interruption = described.interruption;
        crossing.preparation_timeout = described.preparation_timeout;
        for endpoint in 0..self.current.len() {
            self.add_route_change(EndpointId(endpoint as u32), &places, &mut crossing)?;
        }
        crossing.times = times(described);
        if described.signalling == HandoverSignalling::Links {
            crossing.messages = self.messages(&places, &crossing)?;
        }
        Ok(crossing)
    }

    /// Returns the route of forwarded packets between the base stations.
    fn forwarding(&self, places: &Places<'_>) -> Result<Vec<Hop>, BuildError> {
        let given = places.described.forwarding.clone();
        let [source, target] = places.bases;
        let hops = given.or_else(|| {
            self.topology
                .shortest_around((source, target), places.phone)
        });
        let hops = hops.ok_or_else(|| {
            let reason = "no links connect its base stations; expected links for forwarding, or \
                another `data`";
            refuse(places.described, reason)
        })?;
        Ok(self.hops(&hops))
    }

    fn hops(&self, hops: &[scenario::Hop]) -> Vec<Hop> {
        let directory = &self.parts.directory;
        hops.iter().map(|&hop| directory.hop(hop)).collect()
    }

    fn route(
        &mut self,
        places: &Places<'_>,
        hops: &[Hop],
        last: Hop,
    ) -> Result<RouteId, BuildError> {
        let hops: Vec<Hop> = hops.iter().copied().chain([last]).collect();
        if hops.len() > MAX_HOPS {
            let reason = "a route has more than 255 links";
            return Err(refuse(places.described, reason));
        }
        Ok(self.parts.routes.over(&hops))
    }

    /// Adds the new route of an endpoint to the handover, if its current route crosses the source.
    fn add_route_change(
        &mut self,
        endpoint: EndpointId,
        places: &Places<'_>,
        crossing: &mut Crossing,
    ) -> Result<(), BuildError> {
        let old = self.current[endpoint.index()];
        let hops = self.parts.routes.hops(old).to_vec();
        let [down, up] = places.source.map(Hop::Link);
        let is_down = hops.contains(&down);
        if !is_down && !hops.contains(&up) {
            return Ok(());
        }
        let is_at_end = if is_down {
            hops.last() == Some(&down)
        } else {
            hops.first() == Some(&up)
        };
        if !is_at_end {
            let reason = "a flow continues behind the phone; expected flows that end at the phone";
            return Err(refuse(places.described, reason));
        }
        let directory = &self.parts.directory;
        let entry = &directory.endpoints()[endpoint.index()];
        let (own, peer, flow) = (entry.node, entry.peer, entry.flow);
        let far = directory.endpoints()[peer.index()].node;
        let other_end = if is_down { own } else { far };
        let new = self.hops_by_target(places, other_end, is_down)?;
        let pairs = hops.iter().zip(&new);
        let fork = pairs.take_while(|(one, other)| one == other).count();
        let new = self.parts.routes.over(&new);
        self.current[endpoint.index()] = new;
        let marker = if is_down {
            let end = Hop::Signal {
                handover: places.index,
                signal: Signal::OldPathEnd,
            };
            self.route(places, &hops[fork..hops.len() - 1], end)?
        } else {
            new
        };
        let change = RouteChange {
            endpoint,
            receiver: peer,
            flow,
            old,
            new,
            fork: fork as u8,
            marker,
        };
        match is_down {
            true => crossing.downlinks.push(change),
            false => crossing.uplinks.push(change),
        }
        Ok(())
    }

    /// Returns the hops of a flow over the handover's target, between the phone and the flow's
    /// other end. The hops lead to the phone if `is_down`, and away from it otherwise.
    fn hops_by_target(
        &mut self,
        places: &Places<'_>,
        other_end: NodeId,
        is_down: bool,
    ) -> Result<Vec<Hop>, BuildError> {
        let [_, base] = places.bases;
        let ends = match is_down {
            true => (other_end, base),
            false => (base, other_end),
        };
        let wired = self.topology.shortest_around(ends, places.phone);
        let wired = wired.ok_or_else(|| {
            let reason = "no links connect its target with the other end of a flow; expected some";
            refuse(places.described, reason)
        })?;
        let wired = self.hops(&wired);
        let [target_down, target_up] = places.target.map(Hop::Link);
        let new: Vec<Hop> = if is_down {
            wired.into_iter().chain([target_down]).collect()
        } else {
            [target_up].into_iter().chain(wired).collect()
        };
        if new.len() > MAX_HOPS {
            let reason = "a route has more than 255 links";
            return Err(refuse(places.described, reason));
        }
        Ok(new)
    }

    /// Returns the routes of the handover messages through the anchor. The anchor is the node where
    /// the old and the new route of the first downlink flow diverge. `None` without downlink flows.
    fn messages(
        &mut self,
        places: &Places<'_>,
        crossing: &Crossing,
    ) -> Result<Option<[RouteId; 5]>, BuildError> {
        let Some(change) = crossing.downlinks.first() else {
            return Ok(None);
        };
        let hops = self.parts.routes.hops(change.old);
        let ends = self
            .parts
            .directory
            .ends(hops[usize::from(change.fork)], |_| None);
        let Some((anchor, _)) = ends else {
            return Ok(None);
        };
        let [source, target] = places.bases;
        let mut routes = [RouteId::default(); 5];
        let messages = [
            (Signal::Required, source, anchor),
            (Signal::Request, anchor, target),
            (Signal::Answer, target, anchor),
            (Signal::Order, anchor, source),
            (Signal::Complete, target, anchor),
        ];
        for (route, (signal, from, to)) in routes.iter_mut().zip(messages) {
            let hops = self.topology.shortest_around((from, to), places.phone);
            let hops = hops.ok_or_else(|| {
                let reason = "no links carry its messages to and from the anchor; expected such \
                    links, or `signalling = \"given\"`";
                refuse(places.described, reason)
            })?;
            let hops = self.hops(&hops);
            let end = Hop::Signal {
                handover: places.index,
                signal,
            };
            *route = self.route(places, &hops, end)?;
        }
        Ok(Some(routes))
    }
}

/// Returns the times of the handover's steps. With `signalling = "links"` the scenario gives the
/// time of the first step only.
fn times(described: &scenario::Handover) -> Times {
    let at = described.at;
    if described.signalling == HandoverSignalling::Links {
        return Times {
            decide: at,
            ..Times::NONE
        };
    }
    let switch = described.path_switch.unwrap_or(described.interruption);
    let bicast = match described.bicast_after {
        Some(after) => at.saturating_add(after),
        None => at.saturating_sub(described.bicast_before.unwrap_or(BICAST_BEFORE)),
    };
    Times {
        bicast: match described.data {
            HandoverFate::Bicasting => bicast,
            _ => Time::NEVER,
        },
        command: at,
        switch: at.saturating_add(switch),
        resume: at.saturating_add(described.interruption),
        ..Times::NONE
    }
}
