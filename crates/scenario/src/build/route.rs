//! Ways from one node to another.

use super::*;

/// The ends of a flow.
#[derive(Debug, Clone)]
pub(super) struct Ends {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    /// Where one of them is of a group of UEs: the group, and which of it.
    pub(super) member: Option<(String, usize)>,
}

impl Ends {
    /// The hop that `name` means for this flow: where a flow for each UE of a group names the
    /// group, its own UE.
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
    /// The route that a flow names, when it does; the outer nothing after a mistake.
    pub(super) fn flow_route(&mut self, flow: &Fields, ends: &Ends) -> Option<Option<Vec<Hop>>> {
        let Some(item) = flow.item("route") else {
            return Some(None);
        };
        if flow.item("multipath").is_some() {
            let message = "a `route` beside `multipath`";
            self.mistake(item.place, message, "the `paths` of `multipath` alone");
            return None;
        }
        let Content::List(links) = &item.content else {
            return None;
        };
        self.hops(links, item.place, ends).map(Some)
    }

    /// The links as a way from one end to the other.
    pub(super) fn hops(&mut self, links: &[Item], place: Place, ends: &Ends) -> Option<Vec<Hop>> {
        let mut hops = Vec::with_capacity(links.len());
        let mut at = ends.from;
        for item in links {
            let Content::Text(name) = &item.content else {
                return None;
            };
            let name = ends.own_name(name);
            let Some((medium, sides)) = self.media.get(&name).copied() else {
                let names: Vec<String> = self.media.keys().cloned().collect();
                let names = names.iter().map(String::as_str);
                refer_to_nothing(&mut self.reader.mistakes, item, "link", names);
                return None;
            };
            let is_reverse = at == sides.1;
            if !is_reverse && at != sides.0 {
                let node = self.nodes.list[at.index()].name.clone();
                let message = format!("link `{}` does not start at `{node}`", shortened(&name));
                let expected = format!("a link that touches `{node}`");
                self.mistake(item.place, message, &expected);
                return None;
            }
            at = if is_reverse { sides.0 } else { sides.1 };
            hops.push(Hop { medium, is_reverse });
        }
        if at != ends.to {
            let name = |node: NodeId| self.nodes.list[node.index()].name.clone();
            let message = format!("the path ends at `{}`", name(at));
            let expected = format!("a path that ends at `{}`", name(ends.to));
            self.mistake(place, message, &expected);
            return None;
        }
        Some(hops)
    }
}
