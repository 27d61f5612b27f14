//! Construction of links, and of the nodes at both ends of links and bearers.

use super::*;
use crate::table::KeyValue;

impl Builder<'_, '_> {
    pub(super) fn link(&mut self, name: &str, fields: &Fields) -> Option<Link> {
        let ends = self.ends(name, fields);
        let delay = DelayModel::read(fields, "delay", self);
        let forward = LinkDirection::read(fields, delay.clone().map(|delay| (delay,)), self);
        let reverse = fields.fields("reverse").and_then(|reverse| {
            let own = match reverse.item("delay") {
                Some(item) => DelayModel::from_item(item, self),
                None => delay,
            };
            LinkDirection::read(reverse, own.map(|delay| (delay,)), self)
        });
        let (from, to) = ends?;
        Link::read(
            fields,
            Some((name.to_owned(), from, to, forward?, reverse?)),
            self,
        )
    }

    pub(super) fn rab(&mut self, name: &str, fields: &Fields) -> Option<Rab> {
        let ends = self.ends(name, fields);
        Rab::read(
            fields,
            ends.map(|(from, to)| (name.to_owned(), from, to)),
            self,
        )
    }

    /// Returns the nodes at both ends, and records that they are connected. `None` after a mistake.
    pub(super) fn ends(&mut self, name: &str, fields: &Fields) -> Option<(NodeId, NodeId)> {
        let (from, to) = (self.end(fields, "from"), self.end(fields, "to"));
        let (from, to) = (from?, to?);
        if from == to {
            let message = format!("`{name}` connects a node with itself");
            self.mistake(fields.place_of("to"), message, "two different nodes");
        }
        self.nodes.connect(from, to);
        Some((from, to))
    }

    /// Returns the node at one end. A node exists once a link names it. `None` after a mistake.
    pub(super) fn end(&mut self, fields: &Fields, key: &str) -> Option<NodeId> {
        let name = fields.text(key)?;
        if !is_name(name) {
            let message = format!("`{}` is not a name", shortened(name));
            let expected = "1 to 64 letters, digits, hyphens and underscores";
            self.mistake(fields.place_of(key), message, expected);
            return None;
        }
        Some(self.nodes.add(name))
    }
}
