//! Handovers from one link or bearer of 2G or 3G to another.

use super::route::Ends;
use super::*;

/// The handover of this name.
pub(super) fn handover(
    builder: &mut Builder<'_, '_>,
    name: &str,
    fields: &Fields,
) -> Option<Handover> {
    let own = handover_ends(builder, fields);
    let own = own.and_then(|(from, to, phone, bases)| {
        let forwarding = match fields.item("forwarding-route") {
            None => None,
            Some(item) => {
                let Content::List(links) = &item.content else {
                    return None;
                };
                let (from, to) = bases;
                let member = None;
                Some(builder.hops(links, item.place, &Ends { from, to, member })?)
            }
        };
        Some((name.to_owned(), phone, from, to, forwarding))
    });
    Handover::read(fields, own, builder)
}

/// What is left, what takes its place, the phone at their ends, and the base stations.
fn handover_ends(
    builder: &mut Builder<'_, '_>,
    fields: &Fields,
) -> Option<(Medium, Medium, NodeId, (NodeId, NodeId))> {
    let (source, target) = (fields.item("from")?, fields.item("to")?);
    let from = handover_medium(builder, source);
    let to = handover_medium(builder, target);
    let ((from, (source_base, phone)), (to, (target_base, other))) = (from?, to?);
    if from == to {
        let message = "a handover from a link to itself";
        builder.mistake(target.place, message, "two different links");
        return None;
    }
    if phone != other {
        let name = |node: NodeId| builder.nodes.list[node.index()].name.clone();
        let message = format!(
            "it ends at `{}`, not at the phone `{}`",
            name(other),
            name(phone)
        );
        let expected = format!("a link or RAB whose `to` is `{}`", name(phone));
        builder.mistake(target.place, message, &expected);
        return None;
    }
    Some((from, to, phone, (source_base, target_base)))
}

fn handover_medium(
    builder: &mut Builder<'_, '_>,
    item: &Item,
) -> Option<(Medium, (NodeId, NodeId))> {
    let Content::Text(name) = &item.content else {
        return None;
    };
    let found = builder.media.get(name).copied();
    if found.is_none() {
        let names: Vec<String> = builder.media.keys().cloned().collect();
        let names = names.iter().map(String::as_str);
        refer_to_nothing(&mut builder.reader.mistakes, item, "link", names);
    }
    found
}
