//! Construction of routes from one node to another.

use super::*;

/// The two ends of a flow.
#[derive(Debug, Clone)]
pub(super) struct FlowEnds {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// Group of UEs that one end of the flow names, and the index of the flow's UE in the group.
    /// `None` if no end names a group.
    pub(super) member: Option<(String, usize)>,
}

impl FlowEnds {
    /// Returns the name of the hop that `name` means for this flow. The name of a group of UEs is
    /// replaced by the name of the flow's own UE.
    pub(super) fn own_name(&self, name: &str) -> String {
        if let Some((group, number)) = &self.member
            && let Some(bearer) = name.strip_prefix(group.as_str())
            && (bearer.is_empty() || bearer.starts_with('/'))
        {
            return format!("{group}-{number}{bearer}");
        }
        name.to_owned()
    }
}

impl Builder<'_, '_> {
    /// Returns the route that a flow gives. The inner value is `None` if the flow gives none.
    /// `None` after a mistake.
    pub(super) fn flow_route(
        &mut self,
        flow: &Fields,
        ends: &FlowEnds,
    ) -> Option<Option<Vec<Hop>>> {
        let Some(item) = flow.item("route") else {
            return Some(None);
        };
        if flow.item("multipath").is_some() {
            let message = "both `route` and `multipath`";
            self.mistake(item.place, message, "the `paths` of `multipath` alone");
            return None;
        }
        let Content::List(links) = &item.content else {
            return None;
        };
        self.route_names().hops(links, item.place, ends).map(Some)
    }

    /// Returns the links, bearers and nodes for routes, and the list of mistakes.
    pub(super) fn route_names(&mut self) -> RouteNames<'_> {
        RouteNames {
            nodes: &self.nodes,
            media: &self.media,
            mistakes: &mut self.reader.mistakes,
        }
    }
}

/// Links and bearers by name with their ends, the nodes, and the list of mistakes.
pub(super) struct RouteNames<'a> {
    nodes: &'a Nodes,
    media: &'a BTreeMap<String, (Medium, (NodeId, NodeId))>,
    mistakes: &'a mut Mistakes,
}

impl RouteNames<'_> {
    /// Returns the name of a node.
    pub(super) fn node(&self, node: NodeId) -> &str {
        &self.nodes.names[node.index()]
    }

    pub(super) fn mistake(&mut self, place: Place, message: String, expected: &str) {
        self.mistakes.add(place, message, expected);
    }

    /// Returns the link or bearer called `name`, with the nodes at its ends. An unknown name is
    /// reported as a mistake at `item`. `None` after a mistake.
    pub(super) fn medium(&mut self, item: &Item, name: &str) -> Option<(Medium, (NodeId, NodeId))> {
        let found = self.media.get(name).copied();
        if found.is_none() {
            let names = self.media.keys().map(String::as_str);
            refer_to_nothing(self.mistakes, item, "link", names);
        }
        found
    }

    /// Converts a list of names to hops from one end to the other. `None` after a mistake.
    pub(super) fn hops(
        &mut self,
        links: &[Item],
        place: Place,
        ends: &FlowEnds,
    ) -> Option<Vec<Hop>> {
        let mut hops = Vec::with_capacity(links.len());
        let mut at = ends.from;
        for item in links {
            let Content::Text(name) = &item.content else {
                return None;
            };
            let name = ends.own_name(name);
            let (medium, sides) = self.medium(item, &name)?;
            let is_reverse = at == sides.1;
            if !is_reverse && at != sides.0 {
                let node = self.node(at);
                let message = format!("link `{}` does not start at `{node}`", shortened(&name));
                let expected = format!("a link that touches `{node}`");
                self.mistake(item.place, message, &expected);
                return None;
            }
            at = if is_reverse { sides.0 } else { sides.1 };
            hops.push(Hop { medium, is_reverse });
        }
        if at != ends.to {
            let message = format!("the path ends at `{}`", self.node(at));
            let expected = format!("a path that ends at `{}`", self.node(ends.to));
            self.mistake(place, message, &expected);
            return None;
        }
        Some(hops)
    }
}
