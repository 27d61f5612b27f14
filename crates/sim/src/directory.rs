//! Numbers and names of everything that the world and its results know by an id.
//!
//! Ids are dense and follow the order of the scenario file. They are given here alone: the build
//! takes them from here, and so do the recorder, the summary and the captures.

use crate::hop::Hop;
use fadeout_core::{CellId, Direction, DrbId, EndpointId, FlowId, LinkId, NodeId, Time, UeId};
use fadeout_record::{EndpointInfo, FlowInfo, SubflowInfo, address_of};
use fadeout_scenario::{self as scenario, Medium, Scenario};
use std::ops::Range;

/// First port of the sending ends; the receiving ends all listen on [`SERVICE_PORT`].
const FIRST_PORT: u16 = 40_000;
/// Ports of the sending ends. They repeat after so many flows; a capture then shows several flows
/// as one.
const PORTS: usize = 20_000;
/// Port of the receiving ends (iperf3's).
const SERVICE_PORT: u16 = 5201;

/// Everything that has an id.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    links: Vec<LinkEntry>,
    /// The first direction of the first bearer of 2G or 3G, which come after the links.
    first_rab: u32,
    bearers: Vec<BearerEntry>,
    /// The base station of each cell.
    cells: Vec<NodeId>,
    flows: Vec<FlowEntry>,
    endpoints: Vec<EndpointInfo>,
}

/// One direction of a link, or of a bearer of 2G or 3G.
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

/// A flow, or a path of a multipath flow, which has rows of its own.
#[derive(Debug, Clone)]
pub(crate) struct FlowEntry {
    /// Name in results: as in the file, or the flow's name and the path's number.
    pub(crate) name: String,
    pub(crate) start: Time,
    /// Its sending end; of a multipath flow that of its first path.
    pub(crate) sender: EndpointId,
    /// Its receiving end; of a multipath flow that of its first path.
    pub(crate) receiver: EndpointId,
    /// Its paths, in order; none of a flow of one path and of a path.
    paths: Range<u32>,
}

impl FlowEntry {
    /// The paths of a multipath flow.
    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = FlowId> + use<> {
        self.paths.clone().map(FlowId)
    }

    /// Whether it is a whole multipath flow.
    pub(crate) fn is_multipath(&self) -> bool {
        !self.paths.is_empty()
    }
}

impl Directory {
    /// Numbers what `scenario` has.
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

    /// The forward direction of each link and its reverse one, then downlink and uplink of each
    /// bearer of 2G or 3G.
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

    /// All flows, then the paths of multipath flows, in the order of the file; for the ends, sender
    /// and receiver of each flow or of each of its paths in turn.
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

    /// Numbers the two ends of a flow of one path, or of a path given with its number and its flow.
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

    /// The two directions of link number `link` of the file, the forward one first.
    pub(crate) fn link(&self, link: usize) -> [LinkId; 2] {
        let first = 2 * link as u32;
        [LinkId(first), LinkId(first + 1)]
    }

    /// Downlink and uplink of bearer of 2G or 3G number `bearer` of the file.
    pub(crate) fn rab(&self, bearer: usize) -> [LinkId; 2] {
        let first = self.first_rab + 2 * bearer as u32;
        [LinkId(first), LinkId(first + 1)]
    }

    /// The hop that crosses a medium of the scenario.
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

    /// The hop back over the same medium.
    pub(crate) fn reversed(&self, hop: Hop) -> Hop {
        match hop {
            // The two directions of a medium stand side by side, the first at an even number.
            Hop::Link(LinkId(id)) => Hop::Link(LinkId(id ^ 1)),
            Hop::Bearer { bearer, direction } => Hop::Bearer {
                bearer,
                direction: direction.opposite(),
            },
            // They go one way.
            Hop::Backhaul(_) | Hop::Signal { .. } | Hop::Target { .. } => hop,
        }
    }

    /// Where a hop starts and ends, with the cell that serves a UE from `serving`; none for a hop
    /// that does not exist and for a bearer that no cell serves.
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

    /// The node at the start of a direction of a link.
    pub(crate) fn start_of(&self, link: LinkId) -> NodeId {
        self.links[link.index()].from
    }

    /// The node at the end of a direction of a link.
    pub(crate) fn end_of(&self, link: LinkId) -> NodeId {
        self.links[link.index()].to
    }

    /// The bearers of a UE.
    pub(crate) fn bearers_of(&self, ue: UeId) -> impl Iterator<Item = DrbId> + '_ {
        let numbered = (0..).map(DrbId).zip(&self.bearers);
        numbered
            .filter(move |(_, it)| it.ue == ue)
            .map(|(id, _)| id)
    }

    /// The base station of a cell.
    pub(crate) fn base(&self, cell: CellId) -> NodeId {
        self.cells[cell.index()]
    }

    /// The UE that has a bearer.
    pub(crate) fn ue_of(&self, bearer: DrbId) -> UeId {
        self.bearers[bearer.index()].ue
    }

    /// Name of a direction of a link.
    pub(crate) fn link_name(&self, link: LinkId) -> &str {
        &self.links[link.index()].name
    }

    /// Names of the directions of links, by id.
    pub(crate) fn link_names(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| link.name.as_str())
    }

    /// Names of the radio bearers, by id.
    pub(crate) fn bearer_names(&self) -> impl Iterator<Item = &str> {
        self.bearers.iter().map(|bearer| bearer.name.as_str())
    }

    /// The flow or path with this id.
    pub(crate) fn flow(&self, id: FlowId) -> Option<&FlowEntry> {
        self.flows.get(id.index())
    }

    /// Names and starts of flows and paths, by id.
    pub(crate) fn flow_infos(&self) -> impl Iterator<Item = FlowInfo> {
        self.flows.iter().map(|flow| FlowInfo {
            name: flow.name.clone(),
            start: flow.start,
        })
    }

    /// The ends of flows and paths, by id.
    pub(crate) fn endpoints(&self) -> &[EndpointInfo] {
        &self.endpoints
    }
}

/// The name of a direction of a bearer or of a UE.
pub(crate) fn direction_of(name: &str, direction: Direction) -> String {
    format!("{name}/{}", direction.name())
}

/// The names of both directions of a bearer.
pub(crate) fn both_directions_of(name: &str) -> [String; 2] {
    [Direction::Downlink, Direction::Uplink].map(|direction| direction_of(name, direction))
}
