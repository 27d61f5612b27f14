//! Construction of handovers between links or between bearers of 2G or 3G.

use super::route::{FlowEnds, RouteNames};
use super::*;

impl Builder<'_, '_> {
    /// Builds the handover called `name`. `None` after a mistake.
    pub(super) fn handover(&mut self, name: &str, fields: &Fields) -> Option<Handover> {
        let mut route_names = self.route_names();
        let own = Sides::read(fields, &mut route_names).and_then(|sides| {
            let forwarding = match fields.item("forwarding-route") {
                None => None,
                Some(item) => Some(sides.forwarding(item, &mut route_names)?),
            };
            let Sides {
                from, to, phone, ..
            } = sides;
            if let (Some(item), Medium::Rab(_)) = (fields.item("source-limit"), from) {
                let message = "a limit in round trips for a radio access bearer".to_owned();
                route_names.mistake(
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
    fn read(fields: &Fields, route_names: &mut RouteNames<'_>) -> Option<Sides> {
        let (source, target) = (fields.item("from")?, fields.item("to")?);
        let mut medium = |item: &Item| match &item.content {
            Content::Text(name) => route_names.medium(item, name),
            _ => None,
        };
        let (from, to) = (medium(source), medium(target));
        let ((from, (source_base, phone)), (to, (target_base, other))) = (from?, to?);
        if from == to {
            let message = "a handover from a link to itself".to_owned();
            route_names.mistake(target.place, message, "two different links");
            return None;
        }
        if phone != other {
            let (phone, other) = (route_names.node(phone), route_names.node(other));
            let message = format!("it ends at `{other}`, not at the phone `{phone}`");
            let expected = format!("a link or RAB whose `to` is `{phone}`");
            route_names.mistake(target.place, message, &expected);
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
    fn forwarding(&self, item: &Item, route_names: &mut RouteNames<'_>) -> Option<Vec<Hop>> {
        let Content::List(links) = &item.content else {
            return None;
        };
        let (from, to) = self.bases;
        let member = None;
        route_names.hops(links, item.place, &FlowEnds { from, to, member })
    }
}
