//! Numbers and names of everything that has an identifier in a simulation and its results.
//!
//! Identifiers are consecutive numbers in the order of the scenario file. Only this module assigns
//! identifiers. The build, the recorder, the summary and the captures read them here.

use crate::hop::Hop;
use fadeout_core::{CellId, Direction, DrbId, EndpointId, FlowId, LinkId, NodeId, Time, UeId};
use fadeout_record::{EndpointInfo, FlowInfo, SubflowInfo, address_of};
use fadeout_scenario::{self as scenario, Medium, Scenario};
use std::ops::Range;

/// First port of the sending ends. All receiving ends listen on [`SERVICE_PORT`].
const FIRST_PORT: u16 = 40_000;
/// Number of ports of the sending ends. Later flows use the same ports again, and a capture then
/// shows several flows as one.
const PORTS: usize = 20_000;
/// Port of the receiving ends, which is that of iperf3.
const SERVICE_PORT: u16 = 5201;

/// Numbers and names of all parts of a scenario that have an id.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    links: Vec<LinkEntry>,
    /// Number of the first direction of the first radio access bearer of 2G or 3G. The bearers are
    /// numbered after the links.
    first_rab: u32,
    bearers: Vec<BearerEntry>,
    /// Base station of each cell.
    cells: Vec<NodeId>,
    flows: Vec<FlowEntry>,
    endpoints: Vec<EndpointInfo>,
}

/// One direction of a link, or of a radio access bearer of 2G or 3G.
#[derive(Debug)]
struct LinkEntry {
    name: String,
    from: NodeId,
    to: NodeId,
}

/// A radio bearer.
#[derive(Debug)]
struct BearerEntry {
    name: String,
    ue: UeId,
    node: NodeId,
}

/// A flow, or a path of a multipath flow. Each path has rows of its own in the results.
#[derive(Debug, Clone)]
pub(crate) struct FlowEntry {
    /// Name in the results: the flow's name in the scenario file. For a path, the flow's name and
    /// the path's number.
    pub(crate) name: String,
    pub(crate) start: Time,
    /// Sending end of the flow. For a multipath flow, the sending end of its first path.
    pub(crate) sender: EndpointId,
    /// Receiving end of the flow. For a multipath flow, the receiving end of its first path.
    pub(crate) receiver: EndpointId,
    /// Numbers of the flow's paths, in order. Empty if the entry is itself a path, or a flow with a
    /// single path.
    paths: Range<u32>,
}

impl FlowEntry {
    /// Returns the paths of a multipath flow.
    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = FlowId> + use<> {
        self.paths.clone().map(FlowId)
    }

    /// True if the entry is a multipath flow and not one of its paths.
    pub(crate) fn is_multipath(&self) -> bool {
        !self.paths.is_empty()
    }
}

impl Directory {
    /// Assigns numbers to everything in `scenario`.
    pub(crate) fn new(scenario: &Scenario) -> Directory {
        let mut directory = Directory {
            first_rab: 2 * scenario.links.len() as u32,
            ..Directory::default()
        };
        directory.number_links(scenario);
        let bearers = scenario.bearers().map(|bearer| BearerEntry {
            name: bearer.name(),
            ue: UeId(bearer.ue as u32),
            node: bearer.described.node,
        });
        directory.bearers = bearers.collect();
        directory.cells = scenario.cells.iter().map(|cell| cell.node).collect();
        directory.number_flows(scenario);
        directory
    }

    /// Numbers both directions of each link, the forward direction first. The numbers of the
    /// downlink and uplink of each 2G and 3G bearer follow.
    fn number_links(&mut self, scenario: &Scenario) {
        for link in &scenario.links {
            let names = [link.name.clone(), format!("{}/reverse", link.name)];
            self.push_directions(names, link.from, link.to);
        }
        for bearer in &scenario.rabs {
            let names = both_directions_of(&bearer.name);
            self.push_directions(names, bearer.from, bearer.to);
        }
    }

    fn push_directions(&mut self, [forward, reverse]: [String; 2], from: NodeId, to: NodeId) {
        self.links.push(LinkEntry {
            name: forward,
            from,
            to,
        });
        self.links.push(LinkEntry {
            name: reverse,
            from: to,
            to: from,
        });
    }

    /// Numbers all flows, and then the paths of multipath flows, in the order of the scenario file.
    /// Each flow or path has two endpoints, its sender and then its receiver.
    fn number_flows(&mut self, scenario: &Scenario) {
        let mut paths = Vec::new();
        let first_path = scenario.flows.len() as u32;
        for (index, flow) in scenario.flows.iter().enumerate() {
            let whole = FlowId(index as u32);
            let count = flow.multipath.as_ref().map_or(0, |it| it.paths.len());
            let port = FIRST_PORT + (index % PORTS) as u16;
            let first = FlowId(first_path + paths.len() as u32);
            let entry = FlowEntry {
                name: flow.name.clone(),
                start: flow.start,
                sender: EndpointId(self.endpoints.len() as u32),
                receiver: EndpointId(self.endpoints.len() as u32 + 1),
                paths: first.0..first.0 + count as u32,
            };
            if count == 0 {
                self.push_endpoints(flow, whole, port, None);
            }
            for (number, id) in entry.paths().enumerate() {
                let (sender, receiver) =
                    self.push_endpoints(flow, id, port, Some((number, &entry)));
                paths.push(FlowEntry {
                    name: format!("{}/{number}", flow.name),
                    start: flow.start,
                    sender,
                    receiver,
                    paths: 0..0,
                });
            }
            self.flows.push(entry);
        }
        self.flows.append(&mut paths);
    }

    /// Numbers the two ends of a flow with one path, or of one path of a multipath flow. For a
    /// path, the arguments contain its number and its flow.
    fn push_endpoints(
        &mut self,
        flow: &scenario::Flow,
        id: FlowId,
        port: u16,
        path: Option<(usize, &FlowEntry)>,
    ) -> (EndpointId, EndpointId) {
        let sender = EndpointId(self.endpoints.len() as u32);
        let receiver = EndpointId(sender.0 + 1);
        let number = path.map_or(0, |(number, _)| number as u8);
        let subflow = |first: fn(&FlowEntry) -> EndpointId| {
            path.map(|(_, whole)| SubflowInfo {
                first: first(whole),
                path: number,
            })
        };
        let info = |node, peer, port, subflow| EndpointInfo {
            flow: id,
            node,
            peer,
            address: address_of(node, number),
            port,
            subflow,
        };
        let sending = info(flow.from, receiver, port, subflow(|whole| whole.sender));
        let receiving = info(
            flow.to,
            sender,
            SERVICE_PORT,
            subflow(|whole| whole.receiver),
        );
        self.endpoints.extend([sending, receiving]);
        (sender, receiver)
    }

    /// Returns both directions of a link, the forward direction first. `link` is the link's number
    /// in the scenario file.
    pub(crate) fn link(&self, link: usize) -> [LinkId; 2] {
        let first = 2 * link as u32;
        [LinkId(first), LinkId(first + 1)]
    }

    /// Returns the numbers of downlink and uplink of the 2G or 3G bearer with number `bearer` in
    /// the scenario file.
    pub(crate) fn rab(&self, bearer: usize) -> [LinkId; 2] {
        let first = self.first_rab + 2 * bearer as u32;
        [LinkId(first), LinkId(first + 1)]
    }

    /// Returns the simulator's hop over a link or a bearer of the scenario.
    pub(crate) fn hop(&self, hop: scenario::Hop) -> Hop {
        let direction = usize::from(hop.is_reverse);
        match hop.medium {
            Medium::Link(link) => Hop::Link(self.link(link)[direction]),
            Medium::Rab(bearer) => Hop::Link(self.rab(bearer)[direction]),
            Medium::RadioBearer(bearer) => Hop::Bearer {
                bearer: DrbId(bearer as u32),
                direction: if hop.is_reverse {
                    Direction::Uplink
                } else {
                    Direction::Downlink
                },
            },
        }
    }

    /// Returns the hop over the same link or bearer in the opposite direction.
    pub(crate) fn reversed(&self, hop: Hop) -> Hop {
        match hop {
            // The two directions of a link have consecutive numbers, and the first number is even.
            Hop::Link(LinkId(id)) => Hop::Link(LinkId(id ^ 1)),
            Hop::Bearer { bearer, direction } => Hop::Bearer {
                bearer,
                direction: direction.opposite(),
            },
            // These hops exist in one direction only.
            Hop::Backhaul(_) | Hop::Signal { .. } | Hop::Target { .. } => hop,
        }
    }

    /// Returns the nodes at which a hop starts and ends. `serving` has the serving cell of each UE.
    /// `None` if the hop does not exist, or if no cell serves its bearer.
    pub(crate) fn ends(
        &self,
        hop: Hop,
        serving: impl Fn(UeId) -> Option<CellId>,
    ) -> Option<(NodeId, NodeId)> {
        match hop {
            Hop::Link(link) => {
                let link = self.links.get(link.index())?;
                Some((link.from, link.to))
            }
            Hop::Bearer { bearer, direction } => {
                let bearer = self.bearers.get(bearer.index())?;
                let base = self.cells[serving(bearer.ue)?.index()];
                Some(match direction {
                    Direction::Downlink => (base, bearer.node),
                    Direction::Uplink => (bearer.node, base),
                })
            }
            Hop::Backhaul(_) | Hop::Signal { .. } | Hop::Target { .. } => None,
        }
    }

    /// Returns the node at which a direction of a link starts.
    pub(crate) fn start_of(&self, link: LinkId) -> NodeId {
        self.links[link.index()].from
    }

    /// Returns the node at which a direction of a link ends.
    pub(crate) fn end_of(&self, link: LinkId) -> NodeId {
        self.links[link.index()].to
    }

    /// Returns the bearers of a UE.
    pub(crate) fn bearers_of(&self, ue: UeId) -> impl Iterator<Item = DrbId> + '_ {
        let numbered = (0..).map(DrbId).zip(&self.bearers);
        numbered
            .filter(move |(_, it)| it.ue == ue)
            .map(|(id, _)| id)
    }

    /// Returns the base station of a cell.
    pub(crate) fn base(&self, cell: CellId) -> NodeId {
        self.cells[cell.index()]
    }

    /// Returns the UE of a bearer.
    pub(crate) fn ue_of(&self, bearer: DrbId) -> UeId {
        self.bearers[bearer.index()].ue
    }

    /// Returns the name of a direction of a link.
    pub(crate) fn link_name(&self, link: LinkId) -> &str {
        &self.links[link.index()].name
    }

    /// Returns the names of all directions of links, in the order of their ids.
    pub(crate) fn link_names(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| link.name.as_str())
    }

    /// Returns the names of the radio bearers, in the order of their ids.
    pub(crate) fn bearer_names(&self) -> impl Iterator<Item = &str> {
        self.bearers.iter().map(|bearer| bearer.name.as_str())
    }

    /// Returns the flow or path with number `id`. `None` if there is no such flow or path.
    pub(crate) fn flow(&self, id: FlowId) -> Option<&FlowEntry> {
        self.flows.get(id.index())
    }

    /// Returns names and start times of flows and paths, in the order of their identifiers.
    pub(crate) fn flow_infos(&self) -> impl Iterator<Item = FlowInfo> {
        self.flows.iter().map(|flow| FlowInfo {
            name: flow.name.clone(),
            start: flow.start,
        })
    }

    /// Returns the endpoints of all flows and paths, in the order of their ids.
    pub(crate) fn endpoints(&self) -> &[EndpointInfo] {
        &self.endpoints
    }
}

/// Returns the name of a bearer or UE with its direction, as in the results.
pub(crate) fn direction_of(name: &str, direction: Direction) -> String {
    format!("{name}/{}", direction.name())
}

/// Returns the names of both directions of a bearer.
pub(crate) fn both_directions_of(name: &str) -> [String; 2] {
    [Direction::Downlink, Direction::Uplink].map(|direction| direction_of(name, direction))
}
