//! Handovers from one link or bearer of 2G or 3G to another.

use super::route::Ends;
use super::*;

impl Builder<'_, '_> {
    pub(super) fn handover(&mut self, name: &str, fields: &Fields) -> Option<Handover> {
        let own = self.handover_ends(fields);
        let own = own.and_then(|(from, to, phone, bases)| {
            let forwarding = match fields.item("forwarding-route") {
                None => None,
                Some(item) => {
                    let Content::List(links) = &item.content else {
                        return None;
                    };
                    let (from, to) = bases;
                    let member = None;
                    Some(self.hops(links, item.place, &Ends { from, to, member })?)
                }
            };
            Some((name.to_owned(), phone, from, to, forwarding))
        });
        Handover::read(fields, own, self)
    }

    /// What is left, what takes its place, the phone at their ends, and the base stations.
    fn handover_ends(
        &mut self,
        fields: &Fields,
    ) -> Option<(Medium, Medium, NodeId, (NodeId, NodeId))> {
        let (source, target) = (fields.item("from")?, fields.item("to")?);
        let from = self.handover_medium(source);
        let to = self.handover_medium(target);
        let ((from, (source_base, phone)), (to, (target_base, other))) = (from?, to?);
        if from == to {
            let message = "a handover from a link to itself";
            self.mistake(target.place, message, "two different links");
            return None;
        }
        if phone != other {
            let name = |node: NodeId| self.nodes.list[node.index()].name.clone();
            let message = format!(
                "it ends at `{}`, not at the phone `{}`",
                name(other),
                name(phone)
            );
            let expected = format!("a link or RAB whose `to` is `{}`", name(phone));
            self.mistake(target.place, message, &expected);
            return None;
        }
        Some((from, to, phone, (source_base, target_base)))
    }

    fn handover_medium(&mut self, item: &Item) -> Option<(Medium, (NodeId, NodeId))> {
        let Content::Text(name) = &item.content else {
            return None;
        };
        let found = self.media.get(name).copied();
        if found.is_none() {
            let names: Vec<String> = self.media.keys().cloned().collect();
            let names = names.iter().map(String::as_str);
            refer_to_nothing(&mut self.reader.mistakes, item, "link", names);
        }
        found
    }
}
