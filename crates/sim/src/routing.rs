//! Search for routes between the nodes of a scenario.

use crate::utra::is_of_cell;
use fadeout_core::{CellId, NodeId};
use fadeout_scenario::{Flow, Hop, Medium, Scenario};
use std::collections::{BTreeMap, VecDeque};

/// Nodes and the hops between them.
///
/// A node with a single neighbour is a leaf. Routes begin and end at leaves, but never pass through
/// them. So the search visits only the other nodes. One search from a node serves all routes that
/// begin at this node or at its leaves. Thousands of UEs below a base station need no more searches
/// than one UE.
#[derive(Debug)]
pub(crate) struct Topology {
    /// Hops that leave each node, in the order of the scenario file.
    leaving: Vec<Vec<(NodeId, Hop)>>,
    is_leaf: Vec<bool>,
    /// True for nodes at the end of a radio bearer. Messages between base stations and the core
    /// never pass through them.
    is_phone: Vec<bool>,
    /// Result of the search from each start node. For each node, the result is the last hop of the
    /// route to it, and the node before this hop.
    searches: BTreeMap<NodeId, Vec<Option<(NodeId, Hop)>>>,
}

/// Maximum number of entries in all stored searches together. An entry occupies 24 bytes.
const KEPT_ENTRIES: usize = 1 << 21;

impl Topology {
    /// Creates the topology of a scenario. `serving` is the serving cell of each UE. Bearers that
    /// are used only by flows with an explicit route are left out.
    pub(crate) fn new(scenario: &Scenario, serving: &[Option<CellId>]) -> Topology {
        let mut leaving: Vec<Vec<(NodeId, Hop)>> = vec![Vec::new(); scenario.nodes.len()];
        let links = scenario.links.iter().enumerate();
        let links = links.map(|(index, link)| (Medium::Link(index), link.from, link.to));
        let plain = scenario.rabs.iter().enumerate();
        // The 3G bearers of a UE under mobility management carry only the packets of the UE's 3G
        // cell.
        let is_free = |&(index, _): &(usize, _)| {
            scenario.mobility.is_none() || !is_of_cell(scenario, Medium::Rab(index))
        };
        let plain = plain
            .filter(is_free)
            .map(|(index, bearer)| (Medium::Rab(index), bearer.from, bearer.to));
        let ues = scenario.ues.iter().zip(serving).enumerate();
        let ues = ues.filter_map(|(index, (ue, cell))| {
            let base = scenario.cells[(*cell)?.index()].node;
            Some((Medium::RadioBearer(index), base, ue.node))
        });
        for (medium, start, end) in links.chain(plain).chain(ues) {
            let there = Hop {
                medium,
                is_reverse: false,
            };
            leaving[start.index()].push((end, there));
            leaving[end.index()].push((start, there.reversed()));
        }
        let is_leaf = leaving.iter().map(|hops| {
            let mut neighbours = hops.iter().map(|(neighbour, _)| neighbour);
            let first = neighbours.next();
            neighbours.all(|other| Some(other) == first)
        });
        let mut is_phone = vec![false; scenario.nodes.len()];
        let phones = scenario.ues.iter().map(|ue| ue.node);
        for phone in phones.chain(scenario.rabs.iter().map(|bearer| bearer.to)) {
            is_phone[phone.index()] = true;
        }
        Topology {
            is_leaf: is_leaf.collect(),
            is_phone,
            searches: BTreeMap::new(),
            leaving,
        }
    }

    /// Returns the route of a flow with one path, from its sender to its receiver. This is the
    /// explicit route of the flow. Without an explicit route it is the route with the fewest hops.
    /// `None` if nothing connects the nodes.
    pub(crate) fn route_of(&mut self, flow: &Flow) -> Option<Vec<Hop>> {
        match &flow.route {
            Some(named) => Some(named.clone()),
            None => self.shortest(flow.from, flow.to),
        }
    }

    /// Returns the routes of a flow's data, one for each path.
    pub(crate) fn routes_of(&mut self, flow: &Flow) -> Vec<Vec<Hop>> {
        match &flow.multipath {
            Some(multipath) => {
                let paths = multipath.paths.iter();
                paths.map(|path| path.hops.clone()).collect()
            }
            None => Vec::from_iter(self.route_of(flow)),
        }
    }

    /// Returns the route of a flow with one path, from its receiver to its sender. This is the
    /// reverse of the flow's explicit route. Without an explicit route it is the route with the
    /// fewest hops. `None` if nothing connects the nodes.
    pub(crate) fn return_route_of(&mut self, flow: &Flow) -> Option<Vec<Hop>> {
        match &flow.route {
            Some(named) => Some(backward(named)),
            None => self.shortest(flow.to, flow.from),
        }
    }

    /// Returns the route with the fewest hops. If two routes are equally short, the order of their
    /// hops in the scenario file decides. `None` if nothing connects the nodes. In a checked
    /// scenario, every flow has a route.
    pub(crate) fn shortest(&mut self, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        if from == to {
            return Some(Vec::new());
        }
        let mut first = None;
        let mut start = from;
        if self.is_leaf[from.index()] {
            let &(neighbour, hop) = self.leaving[from.index()].first()?;
            first = Some(hop);
            start = neighbour;
        }
        let mut last = None;
        let mut end = to;
        if self.is_leaf[to.index()] && to != start {
            // The search ends at the only neighbour of the leaf. So it does not visit the
            // neighbour's other leaves, which may be thousands.
            let &(neighbour, hop) = self.leaving[to.index()].first()?;
            last = Some(hop.reversed());
            end = neighbour;
        }
        let mut hops: Vec<Hop> = last.into_iter().collect();
        let reached_by = self.search(start);
        while end != start {
            let (previous, hop) = reached_by[end.index()]?;
            hops.push(hop);
            end = previous;
        }
        hops.extend(first);
        hops.reverse();
        Some(hops)
    }

    /// True if the route with the fewest hops between two nodes contains `node`. The two ends
    /// count, too.
    pub(crate) fn passes(&mut self, (from, to): (NodeId, NodeId), node: NodeId) -> bool {
        let mut at = from;
        let mut is_passed = at == node;
        for hop in self.shortest(from, to).unwrap_or_default() {
            let mut leaving = self.leaving[at.index()].iter();
            let next = leaving.find(|&&(_, leaving)| leaving == hop);
            at = next.map_or(at, |&(next, _)| next);
            is_passed |= at == node;
        }
        is_passed
    }

    /// Returns the route with the fewest hops that does not pass `avoided`. `None` if there is
    /// none.
    pub(crate) fn shortest_around(
        &self,
        (from, to): (NodeId, NodeId),
        avoided: NodeId,
    ) -> Option<Vec<Hop>> {
        self.over((from, to), |node| node != avoided)
    }

    /// Returns the route with the fewest hops that passes no UE or phone. `None` if there is none.
    pub(crate) fn wired(&mut self, (from, to): (NodeId, NodeId)) -> Option<Vec<Hop>> {
        let hops = self.shortest(from, to)?;
        let is_wired = |hop: &Hop| matches!(hop.medium, Medium::Link(_));
        match hops.iter().all(is_wired) {
            true => Some(hops),
            false => self.over((from, to), |node| !self.is_phone[node.index()]),
        }
    }

    /// Returns the route with the fewest hops that passes neither `avoided` nor a UE or phone.
    /// `None` if there is none.
    pub(crate) fn wired_around(&self, ends: (NodeId, NodeId), avoided: NodeId) -> Option<Vec<Hop>> {
        self.over(ends, |node| node != avoided && !self.is_phone[node.index()])
    }

    /// Returns the route with the fewest hops over nodes that satisfy `may_enter`. `None` if there
    /// is none.
    fn over(
        &self,
        (from, to): (NodeId, NodeId),
        may_enter: impl Fn(NodeId) -> bool,
    ) -> Option<Vec<Hop>> {
        let reached_by = reach(&self.leaving, from, may_enter);
        let (mut hops, mut node) = (Vec::new(), to);
        while node != from {
            let (previous, hop) = reached_by[node.index()]?;
            hops.push(hop);
            node = previous;
        }
        hops.reverse();
        Some(hops)
    }

    /// Returns a function that is true for nodes that can be reached from `from` without passing
    /// `avoided` or a UE or phone. It is false for `from` itself.
    pub(crate) fn reached_around(&self, from: NodeId, avoided: NodeId) -> impl Fn(NodeId) -> bool {
        let may_enter = |node: NodeId| node != avoided && !self.is_phone[node.index()];
        let reached_by = reach(&self.leaving, from, may_enter);
        move |node| reached_by[node.index()].is_some()
    }

    /// Returns the last hop of the route from `start` to each node that is not a leaf. The result
    /// is stored for later calls.
    fn search(&mut self, start: NodeId) -> &[Option<(NodeId, Hop)>] {
        let nodes = self.leaving.len();
        if (self.searches.len() + 1) * nodes > KEPT_ENTRIES {
            self.searches.retain(|&begun_at, _| begun_at == start);
        }
        let (leaving, is_leaf) = (&self.leaving, &self.is_leaf);
        self.searches
            .entry(start)
            .or_insert_with(|| reach(leaving, start, |node| !is_leaf[node.index()]))
    }
}

/// Returns for each node the last hop of its route from `start`, and the node before this hop.
/// Routes only pass nodes that `may_enter` accepts.
fn reach(
    leaving: &[Vec<(NodeId, Hop)>],
    start: NodeId,
    may_enter: impl Fn(NodeId) -> bool,
) -> Vec<Option<(NodeId, Hop)>> {
    let mut reached_by = vec![None; leaving.len()];
    let mut frontier = VecDeque::from([start]);
    while let Some(node) = frontier.pop_front() {
        for &(next, hop) in &leaving[node.index()] {
            if next != start && may_enter(next) && reached_by[next.index()].is_none() {
                reached_by[next.index()] = Some((node, hop));
                frontier.push_back(next);
            }
        }
    }
    reached_by
}

/// Returns the hops of the reverse route: in reverse order, and each in the opposite direction.
pub(crate) fn backward(hops: &[Hop]) -> Vec<Hop> {
    hops.iter().rev().map(|hop| hop.reversed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use fadeout_core::random::Stream;
    use fadeout_scenario::Source;
    use fadeout_testkit::Cases;
    use std::fmt::Write as _;

    fn scenario(text: &str) -> Scenario {
        let source = Source {
            name: "test".to_owned(),
            base_dir: ".".into(),
        };
        fadeout_scenario::parse(text, &source, &[], catalog())
            .unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn link(name: &str, from: &str, to: &str) -> String {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\n"
        )
    }

    fn flow(from: &str, to: &str) -> String {
        format!("[flow.bulk]\nfrom = \"{from}\"\nto = \"{to}\"\n")
    }

    fn over(link: usize, is_reverse: bool) -> Hop {
        Hop {
            medium: Medium::Link(link),
            is_reverse,
        }
    }

    fn between(scenario: &Scenario, from: &str, to: &str) -> Option<Vec<Hop>> {
        let serving: Vec<_> = scenario.ues.iter().map(|_| Some(CellId(0))).collect();
        let node = |name| scenario.node(name).expect("a node");
        Topology::new(scenario, &serving).shortest(node(from), node(to))
    }

    #[test]
    fn a_route_takes_the_fewest_hops_in_either_direction() {
        let text = "duration = \"1 s\"\n".to_owned()
            + &link("a", "server", "router")
            + &link("b", "router", "client")
            + &link("c", "router", "other")
            + &link("d", "other", "client")
            + &flow("server", "client");
        let scenario = scenario(&text);
        let there = between(&scenario, "server", "client");
        assert_eq!(there, Some(vec![over(0, false), over(1, false)]));
        let back = between(&scenario, "client", "server");
        assert_eq!(back, Some(vec![over(1, true), over(0, true)]));
        assert_eq!(between(&scenario, "router", "router"), Some(Vec::new()));
    }

    #[test]
    fn of_two_links_alike_the_first_of_the_file_is_taken() {
        let text = "duration = \"1 s\"\n".to_owned()
            + &link("one", "client", "server")
            + &link("other", "server", "client")
            + &flow("server", "client");
        let scenario = scenario(&text);
        let there = between(&scenario, "server", "client");
        assert_eq!(there, Some(vec![over(0, true)]));
    }

    #[test]
    fn a_phone_is_reached_through_the_cell_that_serves_it() {
        let text = "duration = \"1 s\"\n".to_owned()
            + &link("core", "server", "macro")
            + "[cell.macro]\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
               channel = { path-loss = \"umi\" }\n[ue.phone]\n"
            + &flow("phone", "server");
        let scenario = scenario(&text);
        let up = Hop {
            medium: Medium::RadioBearer(0),
            is_reverse: true,
        };
        let there = between(&scenario, "phone", "server");
        assert_eq!(there, Some(vec![up, over(0, true)]));
        let node = |name| scenario.node(name).expect("a node");
        let mut unserved = Topology::new(&scenario, &[None]);
        assert_eq!(unserved.shortest(node("phone"), node("server")), None);
    }

    /// Reference search by the definition of a shortest route. It treats leaves like other nodes
    /// and stores no results.
    fn plain(topology: &Topology, from: NodeId, to: NodeId) -> Option<Vec<Hop>> {
        let mut reached_by = vec![None; topology.leaving.len()];
        let mut frontier = VecDeque::from([from]);
        while let Some(node) = frontier.pop_front() {
            for &(next, hop) in &topology.leaving[node.index()] {
                if next != from && reached_by[next.index()].is_none() {
                    reached_by[next.index()] = Some((node, hop));
                    frontier.push_back(next);
                }
            }
        }
        let (mut hops, mut node) = (Vec::new(), to);
        while node != from {
            let (previous, hop) = reached_by[node.index()]?;
            hops.push(hop);
            node = previous;
        }
        hops.reverse();
        Some(hops)
    }

    #[test]
    fn in_random_networks_every_route_is_that_of_a_plain_search() {
        Cases::new(60).run(|seed| {
            let mut random = Stream::new(seed, "test.routing", 0);
            let nodes = 2 + random.below(14);
            let mut text = "duration = \"1 s\"\n".to_owned();
            for number in 0..1 + random.below(2 * nodes) {
                let from = random.below(nodes);
                let to = (from + 1 + random.below(nodes - 1)) % nodes;
                let link = link(
                    &format!("l{number}"),
                    &format!("n{from}"),
                    &format!("n{to}"),
                );
                text.write_str(&link).expect("text grows");
            }
            let first = text.split('"').filter(|word| word.starts_with('n'));
            let ends: Vec<&str> = first.take(2).collect();
            let scenario = scenario(&format!("{text}{}", flow(ends[0], ends[1])));
            let mut topology = Topology::new(&scenario, &[]);
            let count = scenario.nodes.len() as u32;
            for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
                let (from, to) = (NodeId(from), NodeId(to));
                let expected = plain(&topology, from, to);
                assert_eq!(topology.shortest(from, to), expected, "seed {seed}\n{text}");
            }
        });
    }
}
