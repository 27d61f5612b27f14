//! Construction of handovers between links or between bearers of 2G or 3G.

use super::route::{FlowEnds, Ways};
use super::*;

impl Builder<'_, '_> {
    /// Builds the handover called `name`. `None` after a mistake.
    pub(super) fn handover(&mut self, name: &str, fields: &Fields) -> Option<Handover> {
        let mut ways = self.ways();
        let own = Sides::read(fields, &mut ways).and_then(|sides| {
            let forwarding = match fields.item("forwarding-route") {
                None => None,
                Some(item) => Some(sides.forwarding(item, &mut ways)?),
            };
            let Sides {
                from, to, phone, ..
            } = sides;
            if let (Some(item), Medium::Rab(_)) = (fields.item("source-limit"), from) {
                let message = "a limit in round trips for a radio access bearer".to_owned();
                ways.mistake(
                    item.place,
                    message,
                    "a link as `from`, or `limit` of the [rab]",
                );
                return None;
            }
            Some((name.to_owned(), phone, from, to, forwarding))
        });
        Handover::read(fields, own, self)
    }
}

/// The two links or radio access bearers of a handover, with the nodes at their ends.
struct Sides {
    from: Medium,
    to: Medium,
    phone: NodeId,
    /// Base stations of the two links or bearers, in the same order.
    bases: (NodeId, NodeId),
}

impl Sides {
    fn read(fields: &Fields, ways: &mut Ways<'_>) -> Option<Sides> {
        let (source, target) = (fields.item("from")?, fields.item("to")?);
        let mut medium = |item: &Item| match &item.content {
            Content::Text(name) => ways.medium(item, name),
            _ => None,
        };
        let (from, to) = (medium(source), medium(target));
        let ((from, (source_base, phone)), (to, (target_base, other))) = (from?, to?);
        if from == to {
            let message = "a handover from a link to itself".to_owned();
            ways.mistake(target.place, message, "two different links");
            return None;
        }
        if phone != other {
            let (phone, other) = (ways.node(phone), ways.node(other));
            let message = format!("it ends at `{other}`, not at the phone `{phone}`");
            let expected = format!("a link or RAB whose `to` is `{phone}`");
            ways.mistake(target.place, message, &expected);
            return None;
        }
        Some(Sides {
            from,
            to,
            phone,
            bases: (source_base, target_base),
        })
    }

    /// Returns the route of forwarded packets between the base stations. `None` after a mistake.
    fn forwarding(&self, item: &Item, ways: &mut Ways<'_>) -> Option<Vec<Hop>> {
        let Content::List(links) = &item.content else {
            return None;
        };
        let (from, to) = self.bases;
        let member = None;
        ways.hops(links, item.place, &FlowEnds { from, to, member })
    }
}
