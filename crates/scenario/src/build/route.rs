//! Ways from one node to another.

use super::*;

impl Builder<'_, '_> {
    /// The route that a flow names, when it does; the outer nothing after a mistake.
    pub(super) fn flow_route(
        &mut self,
        flow: &Fields,
        (from, to): (NodeId, NodeId),
    ) -> Option<Option<Vec<Hop>>> {
        let Some(item) = flow.item("route") else {
            return Some(None);
        };
        let refused = if flow.item("multipath").is_some() {
            Some((
                "a `route` beside `multipath`",
                "the `paths` of `multipath` alone",
            ))
        } else if self.is_group(flow, "from") || self.is_group(flow, "to") {
            Some((
                "a `route` to a group of UEs",
                "a flow for each UE, or no `route`",
            ))
        } else {
            None
        };
        if let Some((message, expected)) = refused {
            self.mistake(item.place, message, expected);
            return None;
        }
        let Content::List(links) = &item.content else {
            return None;
        };
        self.hops(links, item.place, from, to).map(Some)
    }

    fn is_group(&self, flow: &Fields, end: &str) -> bool {
        flow.text(end)
            .is_some_and(|name| self.groups.contains_key(name))
    }

    /// The links as a way from one node to another.
    pub(super) fn hops(
        &mut self,
        links: &[Item],
        place: Place,
        from: NodeId,
        to: NodeId,
    ) -> Option<Vec<Hop>> {
        let mut hops = Vec::with_capacity(links.len());
        let mut at = from;
        for item in links {
            let Content::Text(name) = &item.content else {
                return None;
            };
            let Some((index, ends)) = self.link_ends.get(name.as_str()).copied() else {
                let names: Vec<String> = self.link_ends.keys().cloned().collect();
                let names = names.iter().map(String::as_str);
                refer_to_nothing(&mut self.reader.mistakes, item, "link", names);
                return None;
            };
            let is_reverse = at == ends.1;
            if !is_reverse && at != ends.0 {
                let node = self.nodes.list[at.index()].name.clone();
                let message = format!("link `{}` does not start at `{node}`", shortened(name));
                self.mistake(
                    item.place,
                    message,
                    &format!("a link that touches `{node}`"),
                );
                return None;
            }
            at = if is_reverse { ends.0 } else { ends.1 };
            hops.push(Hop {
                link: index,
                is_reverse,
            });
        }
        if at != to {
            let name = |node: NodeId| self.nodes.list[node.index()].name.clone();
            let message = format!("the path ends at `{}`", name(at));
            let expected = format!("a path that ends at `{}`", name(to));
            self.mistake(place, message, &expected);
            return None;
        }
        Some(hops)
    }
}
