//! Division of a scenario into worlds, which are simulations that can run in parallel.
//!
//! Cells on one carrier interfere with each other in every slot. A base station receives signals of
//! its UEs within less than a slot. So the cells of a carrier form one world, together with their
//! base stations and UEs. All other nodes, servers and routers, form one further world. Links with
//! a delay connect the worlds. An event in one world cannot affect another before the shortest of
//! these delays, the *lookahead*, has passed.

use fadeout_core::{CellId, NodeId, Span};
use fadeout_scenario::{Flow, Scenario};

/// Shortest delay of a link between two worlds. Nodes with a shorter link share a world if
/// possible, because a short lookahead would make the time windows too short.
const WORTHWHILE: Span = Span::from_millis(1);

/// Assignment of nodes to worlds.
#[derive(Debug)]
pub(crate) struct NodeDivision {
    /// Number of each node's world.
    worlds: Vec<usize>,
    count: usize,
    /// Shortest delay between worlds. [`Span::MAX`] if no link connects two worlds.
    pub(crate) lookahead: Span,
}

impl NodeDivision {
    /// Divides a scenario. `parting` is for each link its shortest delay over time and both
    /// directions, or `None` for links whose ends must be in one world.
    ///
    /// # Errors
    /// Returns the reason why the scenario cannot be divided, with the keys of the scenario and the
    /// expected values.
    pub(crate) fn divide(
        scenario: &Scenario,
        serving: &[Option<CellId>],
        parting: &[Option<Span>],
    ) -> Result<NodeDivision, String> {
        refuse(scenario)?;
        let (carriers, of_cell) = carriers(scenario);
        let mut sets = Sets::new(scenario.nodes.len(), carriers);
        let carrier_of = |cell: usize| scenario.nodes.len() + of_cell[cell];
        for (index, cell) in scenario.cells.iter().enumerate() {
            sets.join(cell.node.index(), carrier_of(index), || {
                let node = &scenario.nodes[cell.node.index()].name;
                let cell = &cell.name;
                format!("cell \"{cell}\" shares node \"{node}\" with a cell of another carrier")
            });
        }
        for (ue, serving) in scenario.ues.iter().zip(serving) {
            let first = serving.iter().map(|cell| cell.index());
            for cell in first.chain(ue.secondary_cells.iter().copied()) {
                sets.join(ue.node.index(), carrier_of(cell), || {
                    format!("UE \"{}\" has cells of several carriers", ue.name)
                });
            }
        }
        for rab in &scenario.rabs {
            sets.join(rab.from.index(), rab.to.index(), || {
                format!("bearer \"{}\" joins two worlds", rab.name)
            });
        }
        let mut delays: Vec<(Span, usize)> = Vec::with_capacity(scenario.links.len());
        for (index, link) in scenario.links.iter().enumerate() {
            match parting[index] {
                Some(delay) => delays.push((delay, index)),
                None => sets.join(link.from.index(), link.to.index(), || {
                    format!(
                        "link \"{}\" joins two worlds, and has no delay or counts its delay line \
                         in its queue",
                        link.name
                    )
                }),
            }
        }
        // The ends of links with a short delay are merged into one world first, so that the windows
        // become longer. A link that would merge two carriers stays between worlds.
        delays.sort_unstable();
        for &(_, index) in delays.iter().filter(|(delay, _)| *delay < WORTHWHILE) {
            let link = &scenario.links[index];
            let ends = [link.from, link.to].map(NodeId::index);
            let is_possible = sets.has_carrier(ends).iter().any(|has| !has) || sets.are_one(ends);
            if !is_possible {
                break;
            }
            sets.join(ends[0], ends[1], String::new);
        }
        sets.number(scenario).map(|(worlds, count)| {
            let between = delays.iter().filter(|(_, index)| {
                let link = &scenario.links[*index];
                worlds[link.from.index()] != worlds[link.to.index()]
            });
            let lookahead = between.map(|(delay, _)| *delay).min();
            NodeDivision {
                lookahead: lookahead.unwrap_or(Span::MAX),
                worlds,
                count,
            }
        })
    }

    /// Returns the number of the world that contains a node.
    pub(crate) fn world_of(&self, node: NodeId) -> usize {
        self.worlds[node.index()]
    }

    /// Returns the number of worlds.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Returns the number of carriers, and the carrier of each cell.
fn carriers(scenario: &Scenario) -> (usize, Vec<usize>) {
    let mut known = Vec::new();
    let cells = scenario.cells.iter();
    let numbers = cells.map(|cell| {
        let position = known.iter().position(|carrier| *carrier == cell.carrier);
        position.unwrap_or_else(|| {
            known.push(cell.carrier);
            known.len() - 1
        })
    });
    let numbers = numbers.collect();
    (known.len(), numbers)
}

/// Refuses settings that affect several worlds at the same instant.
fn refuse(scenario: &Scenario) -> Result<(), String> {
    let probe = &scenario.probe;
    let ues = &scenario.ues;
    let flow = |key: &str, has: fn(&Flow) -> bool| {
        let flow = scenario.flows.iter().find(|&flow| has(flow));
        flow.map(|flow| format!("`flow.{}.{key}`", flow.name))
    };
    let kernel = scenario.nodes.iter().find(|node| node.kernel.is_some());
    let dual = ues.iter().find(|ue| ue.pscell.is_some());
    let found = [
        (
            scenario
                .mobility
                .as_ref()
                .map(|_| "`mobility-management`".to_owned()),
            "moves UEs and their flows between cells during the run",
        ),
        (
            scenario
                .handovers
                .first()
                .map(|it| format!("`handover.{}`", it.name)),
            "moves packets between links at one instant",
        ),
        (
            scenario
                .prediction
                .as_ref()
                .map(|_| "`blockage-prediction`".to_owned()),
            "follows cars in all cells",
        ),
        (
            flow("link-info", |flow| flow.link_info.is_some()),
            "tells both ends of a link at one instant",
        ),
        (
            flow("transport", |flow| flow.transport.is_some()),
            "has payload bytes, which stay in one world",
        ),
        (
            kernel.map(|node| format!("`node.{}.kernel`", node.name)),
            "is a process of its own",
        ),
        (
            dual.map(|ue| format!("`ue.{}.pscell`", ue.name)),
            "joins base stations of two cells",
        ),
        (
            (!probe.capture.is_empty()).then(|| "`probe.capture`".to_owned()),
            "writes all packets in one order",
        ),
        (
            (!probe.link_capture.is_empty()).then(|| "`probe.link-capture`".to_owned()),
            "writes all packets in one order",
        ),
        (
            (!probe.radio_capture.is_empty()).then(|| "`probe.radio-capture`".to_owned()),
            "writes all blocks in one order",
        ),
    ];
    match found.into_iter().find_map(|(key, why)| Some((key?, why))) {
        None => Ok(()),
        Some((key, why)) => Err(format!(
            "{key} {why}, so that the scenario cannot be divided; expected `worlds = \"one\"`, or \
             a scenario without it"
        )),
    }
}

/// Sets of nodes that share a world, as a union-find structure. The elements are all nodes,
/// followed by all carriers.
struct Sets {
    parents: Vec<usize>,
    /// For the first element of each set, true if the set contains a carrier.
    has_carrier: Vec<bool>,
    nodes: usize,
    /// Reason why two carriers are in one set. `None` if each set has at most one carrier.
    joined: Option<String>,
}

impl Sets {
    fn new(nodes: usize, carriers: usize) -> Sets {
        Sets {
            parents: (0..nodes + carriers).collect(),
            has_carrier: (0..nodes + carriers).map(|it| it >= nodes).collect(),
            nodes,
            joined: None,
        }
    }

    fn first(&mut self, mut element: usize) -> usize {
        while self.parents[element] != element {
            let parent = self.parents[element];
            self.parents[element] = self.parents[parent];
            element = parent;
        }
        element
    }

    fn are_one(&mut self, [one, other]: [usize; 2]) -> bool {
        self.first(one) == self.first(other)
    }

    fn has_carrier(&mut self, elements: [usize; 2]) -> [bool; 2] {
        elements.map(|element| {
            let first = self.first(element);
            self.has_carrier[first]
        })
    }

    /// Merges the sets of two elements. `why` returns the reason. The reason is stored if both sets
    /// contain carriers.
    fn join(&mut self, one: usize, other: usize, why: impl FnOnce() -> String) {
        let (one, other) = (self.first(one), self.first(other));
        if one == other {
            return;
        }
        if self.has_carrier[one] && self.has_carrier[other] {
            self.joined.get_or_insert_with(why);
        }
        let (first, second) = (one.min(other), one.max(other));
        self.has_carrier[first] |= self.has_carrier[second];
        self.parents[second] = first;
    }

    /// Returns the world of each node, and the number of worlds. Sets with carriers come first, in
    /// the order of the carriers. All other nodes share the last world.
    fn number(mut self, scenario: &Scenario) -> Result<(Vec<usize>, usize), String> {
        let (nodes, elements) = (self.nodes, self.parents.len());
        let mut firsts: Vec<usize> = Vec::new();
        for carrier in nodes..elements {
            let first = self.first(carrier);
            if !firsts.contains(&first) {
                firsts.push(first);
            }
        }
        if firsts.len() < 2 {
            let why = match (elements - nodes, self.joined) {
                (0, _) => "the scenario has no cells".to_owned(),
                (1, _) => format!(
                    "all cells are on one carrier, {} GHz, and interfere with each other in every \
                     slot",
                    scenario.cells[0].carrier.0 / 1e9
                ),
                (_, why) => format!(
                    "its carriers cannot be separated: {}",
                    why.unwrap_or_default()
                ),
            };
            return Err(format!(
                "{why}; expected cells on at least two carriers, with base stations, UEs and links \
                 of their own, and links with a `delay` between them; or `worlds = \"one\"`"
            ));
        }
        let rest = firsts.len();
        let mut has_rest = false;
        let worlds = (0..nodes).map(|node| {
            let first = self.first(node);
            let known = firsts.iter().position(|&it| it == first);
            known.unwrap_or_else(|| {
                has_rest = true;
                rest
            })
        });
        let worlds = worlds.collect();
        Ok((worlds, rest + usize::from(has_rest)))
    }
}
