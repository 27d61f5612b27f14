//! Parts of the worlds that a scenario is divided into.

use super::link::shortest_delay;
use super::{BuildError, ChooseCongestion, chosen, radio, serving, wires};
use crate::directory::Directory;
use crate::division::NodeDivision;
use crate::hop::Hop;
use crate::routing::Topology;
use crate::world::{Endpoint, Flow, Parts, Transport};
use fadeout_core::{CellId, EndpointId, FlowEnd, FlowId, LinkId, NodeId, RouteId, Span, UeId};
use fadeout_link::{Link, LinkConfig};
use fadeout_scenario::{self as scenario, LinkDirection, Scenario};
use std::sync::Arc;

/// The worlds of a scenario before they run.
#[derive(Debug)]
pub(crate) struct Divided {
    pub(crate) worlds: Vec<Parts>,
    pub(crate) division: NodeDivision,
}

/// Builds the parts of the worlds that a scenario is divided into.
///
/// # Errors
/// Returns the errors of an undivided scenario, and [`BuildError::Undivided`] if the scenario
/// cannot be divided.
pub(crate) fn divided(
    scenario: &Scenario,
    congestion: ChooseCongestion<'_>,
) -> Result<Divided, BuildError> {
    let serving = match chosen(scenario)? {
        Some(chosen) => chosen,
        None => serving(scenario),
    };
    let parting: Vec<Option<Span>> = scenario.links.iter().map(parting_delay).collect();
    let division =
        NodeDivision::divide(scenario, &serving, &parting).map_err(BuildError::Undivided)?;
    let directory = Directory::new(scenario);
    let mut topology = Topology::new(scenario, &serving);
    let mut whole = Parts::default();
    let mut owned = None;
    wires(
        scenario,
        (directory, &mut topology),
        &mut whole,
        &mut |flow| {
            let chosen = congestion(flow);
            if chosen.is_some() {
                owned.get_or_insert_with(|| flow.name.clone());
            }
            chosen
        },
    )?;
    if let Some(flow) = owned {
        return Err(BuildError::Undivided(format!(
            "flow \"{flow}\" has a user-written congestion control, which does not run in several \
             worlds; expected built-in ones, or `worlds = \"one\"`"
        )));
    }
    refuse_of_one_piece(scenario, &division, &whole)?;
    let mut worlds = Vec::new();
    for number in 0..division.count() {
        worlds.push(Parts {
            directory: Arc::clone(&whole.directory),
            radio: radio_of(scenario, (&division, &serving), number)?,
            hosts: super::host::hosts(scenario, &whole),
            ..Parts::default()
        });
    }
    let mut parting = Parting {
        division: &division,
        whole,
        serving: &serving,
        worlds: &mut worlds,
    };
    parting.links();
    parting.connections();
    parting.routes();
    parting.endpoints();
    parting.flows();
    Ok(Divided { worlds, division })
}

/// Returns the shortest delay of a link over time and both directions. `None` if both ends of the
/// link must be in one world. This applies to links without delay, and to links whose queue limit
/// includes the packets in the delay line.
fn parting_delay(link: &scenario::Link) -> Option<Span> {
    let delay_of = |direction: &LinkDirection| {
        let delay = shortest_delay(direction);
        (!delay.is_zero() && !direction.queue.counts_delay_line).then_some(delay)
    };
    Some(delay_of(&link.forward)?.min(delay_of(&link.reverse)?))
}

/// Returns the radio access for the UEs of one world. `None` if the world has no UEs.
fn radio_of(
    scenario: &Scenario,
    (division, serving): (&NodeDivision, &[Option<CellId>]),
    world: usize,
) -> Result<Option<crate::radio::Radio>, BuildError> {
    let ues = (0..).map(UeId).zip(&scenario.ues);
    let ues = ues.filter(|(_, ue)| division.world_of(ue.node) == world);
    let ues: Vec<UeId> = ues.map(|(ue, _)| ue).collect();
    if ues.is_empty() {
        return Ok(None);
    }
    radio::part(scenario, &ues, serving).map(Some)
}

/// Refuses flows whose ends are in different worlds, if the application is a single program that
/// acts at both ends.
fn refuse_of_one_piece(
    scenario: &Scenario,
    division: &NodeDivision,
    whole: &Parts,
) -> Result<(), BuildError> {
    for (described, flow) in scenario.flows.iter().zip(&whole.flows) {
        let worlds = [described.from, described.to].map(|node| division.world_of(node));
        if worlds[0] != worlds[1] && flow.application.acts_as_one() {
            return Err(BuildError::Undivided(format!(
                "flow \"{}\": application \"{}\" is one program at both ends, which are in \
                 different worlds; expected another application, or `worlds = \"one\"`",
                described.name, described.application.name
            )));
        }
    }
    Ok(())
}

/// State of the division of a scenario's parts among its worlds.
struct Parting<'a> {
    division: &'a NodeDivision,
    whole: Parts,
    serving: &'a [Option<CellId>],
    worlds: &'a mut [Parts],
}

impl Parting<'_> {
    fn world_of_end(&self, endpoint: EndpointId) -> usize {
        let info = &self.whole.directory.endpoints()[endpoint.index()];
        self.division.world_of(info.node)
    }

    fn ends_of(&self, link: LinkId) -> [usize; 2] {
        let directory = &self.whole.directory;
        [directory.start_of(link), directory.end_of(link)].map(|node| self.division.world_of(node))
    }

    /// Moves each link into the world where the link starts. The world where the link ends contains
    /// the receiving end of the link. All other worlds have an empty link under the same number.
    fn links(&mut self) {
        for (index, link) in std::mem::take(&mut self.whole.links)
            .into_iter()
            .enumerate()
        {
            let id = LinkId(index as u32);
            let [from, to] = self.ends_of(id);
            for world in self.worlds.iter_mut() {
                let empty = Link::new(id, LinkConfig::default(), 0);
                world.links.push(empty.expect("a link that does nothing"));
            }
            self.worlds[from].links[index] = link;
            if from != to {
                self.worlds[from].outgoing_links.push((id, to));
            }
        }
        for (ids, states) in std::mem::take(&mut self.whole.radio_states) {
            let [world, _] = self.ends_of(ids[0]);
            self.worlds[world].radio_states.push((ids, states));
        }
    }

    fn connections(&mut self) {
        let mut numbers = Vec::new();
        for host in std::mem::take(&mut self.whole.connections) {
            let world = self.world_of_end(host.endpoints[0]);
            let connections = &mut self.worlds[world].connections;
            numbers.push(connections.len() as u32);
            connections.push(host);
        }
        for endpoint in &mut self.whole.endpoints {
            if let Transport::Subflow { connection, .. } = &mut endpoint.transport {
                *connection = numbers[*connection as usize];
            }
        }
    }

    /// Gives each world the routes of its own endpoints, and the routes that cross the world.
    fn routes(&mut self) {
        let routes = &self.whole.routes;
        let mut worlds_of = vec![0_u64; routes.len()];
        for (index, passed) in worlds_of.iter_mut().enumerate() {
            for &hop in routes.hops(RouteId(index as u32)) {
                for world in self.passed_by(hop) {
                    *passed |= 1 << (world % 64);
                }
            }
        }
        for (number, world) in self.worlds.iter_mut().enumerate() {
            world.routes = routes.part(|id| worlds_of[id.index()] & (1 << (number % 64)) != 0);
        }
    }

    fn passed_by(&self, hop: Hop) -> Vec<usize> {
        match hop {
            Hop::Link(link) => self.ends_of(link).to_vec(),
            Hop::Bearer { bearer, .. } => {
                let ue = self.whole.directory.ue_of(bearer);
                let cell = self.serving[ue.index()];
                let base: Option<NodeId> = cell.map(|cell| self.whole.directory.base(cell));
                base.into_iter()
                    .map(|node| self.division.world_of(node))
                    .collect()
            }
            Hop::Backhaul(_) | Hop::Signal { .. } | Hop::Target { .. } => Vec::new(),
        }
    }

    fn endpoints(&mut self) {
        let endpoints = std::mem::take(&mut self.whole.endpoints);
        for world in self.worlds.iter_mut() {
            world.endpoints.reserve_exact(endpoints.len());
        }
        for (index, endpoint) in endpoints.into_iter().enumerate() {
            let here = self.world_of_end(EndpointId(index as u32));
            for world in self.worlds.iter_mut() {
                let (flow, peer, route) = (endpoint.flow, endpoint.peer, endpoint.route);
                let elsewhere = Endpoint::new(Transport::Elsewhere, flow, peer, route);
                world.endpoints.push(elsewhere);
            }
            self.worlds[here].endpoints[index] = endpoint;
        }
    }

    /// Adds the applications of flows. The world of each end of a flow has a copy of the
    /// application. The copy handles this end only.
    fn flows(&mut self) {
        let flows = std::mem::take(&mut self.whole.flows);
        for world in self.worlds.iter_mut() {
            world.flows.reserve_exact(flows.len());
        }
        for (index, flow) in flows.into_iter().enumerate() {
            let entry = self.whole.directory.flow(FlowId(index as u32));
            let entry = entry.expect("the directory has every flow");
            let ends = [entry.sender, entry.receiver].map(|end| self.world_of_end(end));
            let woken = match flow.application.woken_end() {
                FlowEnd::Sender => ends[0],
                FlowEnd::Receiver => ends[1],
            };
            for (number, world) in self.worlds.iter_mut().enumerate() {
                let part: Flow = Flow {
                    is_woken: number == woken,
                    ..flow.clone()
                };
                world.flows.push(part);
            }
        }
    }
}
