//! How a scenario is divided into worlds that can be simulated side by side.
//!
//! Cells on one carrier disturb each other in every slot, and a UE is heard by its base station within less than one; so
//! the cells of a carrier with their base stations and UEs are one world. The other nodes, servers and routers, are one
//! more. What lies between worlds is links with a delay: what one world does another cannot notice before the
//! shortest of these delays, the *lookahead*, has passed.

use fadeout_core::{CellId, NodeId, Span};
use fadeout_scenario::Scenario;

/// A link shorter than this does not part nodes that may as well be in one world: windows of the lookahead would be short.
const WORTHWHILE: Span = Span::from_millis(1);

/// Which node is in which world.
#[derive(Debug)]
pub(crate) struct Division {
    /// By node.
    worlds: Vec<usize>,
    count: usize,
    /// The shortest delay between worlds; [`Span::MAX`] where nothing joins them.
    pub(crate) lookahead: Span,
}

impl Division {
    /// Divides a scenario whose UEs these cells serve. `parting` has for each link the shortest delay that it ever has in either
    /// direction, or none where it cannot lie between worlds.
    ///
    /// # Errors
    /// What keeps it together, by the scenario's keys, and what was expected.
    pub(crate) fn of(
        scenario: &Scenario,
        serving: &[Option<CellId>],
        parting: &[Option<Span>],
    ) -> Result<Division, String> {
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
        // Short links first, as long as they would join no two carriers: so the windows become longer. What is as short as one that
        // would lies between worlds too.
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
            Division {
                lookahead: lookahead.unwrap_or(Span::MAX),
                worlds,
                count,
            }
        })
    }

    /// The number of the world that a node is in.
    pub(crate) fn world_of(&self, node: NodeId) -> usize {
        self.worlds[node.index()]
    }

    /// How many worlds there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// The number of carriers, and that of each cell's.
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

/// What acts on several worlds at one instant keeps a scenario together.
fn refuse(scenario: &Scenario) -> Result<(), String> {
    let probe = &scenario.probe;
    let ues = &scenario.ues;
    let flow = |has: fn(&fadeout_scenario::Flow) -> bool| {
        let flow = scenario.flows.iter().find(|&flow| has(flow));
        flow.map(|flow| format!("`flow.{}.link-info`", flow.name))
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
            flow(|flow| flow.link_info.is_some()),
            "tells both ends of a link at one instant",
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

/// Nodes, and behind them carriers, in sets that are in one world.
struct Sets {
    parents: Vec<usize>,
    /// By the set's first element: whether cells are in it.
    has_carrier: Vec<bool>,
    nodes: usize,
    /// Why carriers are in one set.
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

    /// Makes one set of those that two elements are in; `why` says what joins two carriers.
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

    /// By node the number of its world, and how many there are: sets with cells in the order of their carriers, then one for
    /// all other nodes.
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
