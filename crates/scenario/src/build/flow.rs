//! Construction of flows. A table of the scenario may stand for many flows.

use super::route::FlowEnds;
use super::*;
use crate::keys::MAX_FLOWS;
use crate::table::KeyValue;
use fadeout_core::Distribution;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Value, find};
use std::collections::BTreeSet;

impl Builder<'_, '_> {
    /// Builds the flows. A group of UEs, a `count` and `arrivals` each give several flows. Flows
    /// with mistakes are left out.
    pub(super) fn flows(
        &mut self,
        named: &[(String, Fields)],
        sources: &BTreeMap<String, LinkInfoSource>,
    ) -> Vec<Flow> {
        let mut flows = Vec::new();
        let mut names = BTreeSet::new();
        for (index, (name, fields)) in named.iter().enumerate() {
            self.check_repetition(fields);
            let Some(members) = self.flow_ends(name, fields) else {
                continue;
            };
            for (member, (name, ends)) in members.iter().enumerate() {
                let Some(flow) = self.flow(name, fields, sources, ends) else {
                    break;
                };
                let room = MAX_FLOWS.saturating_sub(flows.len() as u64);
                let entity = index as u64 | (member as u64) << 32;
                let Some(repeated) = self.repeated(flow, fields, room, entity) else {
                    break;
                };
                let is_new = repeated.iter().all(|flow| names.insert(flow.name.clone()));
                if !is_new {
                    let message = match &repeated[..] {
                        [one] => format!("two flows have the name `{}`", one.name),
                        _ => format!("another flow has a name that `{name}` makes"),
                    };
                    self.mistake(fields.place, message, "another name");
                }
                flows.extend(repeated);
            }
        }
        flows
    }

    fn check_repetition(&mut self, fields: &Fields) {
        let has_count = fields.item("count").is_some();
        if !has_count && fields.item("start-spacing").is_some() {
            let message = "a `start-spacing` without a `count`";
            let place = fields.place_of("start-spacing");
            self.mistake(place, message, "`count`, or no `start-spacing`");
        }
        if has_count && fields.item("arrivals").is_some() {
            let message = "both `arrivals` and `count`";
            self.mistake(fields.place_of("arrivals"), message, "one of the two keys");
        }
    }

    /// Returns the name and the ends of a flow. If the flow names a group of UEs, there is one
    /// result for each UE. `None` after a mistake.
    fn flow_ends(&mut self, name: &str, fields: &Fields) -> Option<Vec<(String, FlowEnds)>> {
        let group = |key| self.groups.get(fields.text(key)?).cloned();
        let (senders, receivers) = (group("from"), group("to"));
        if senders.is_some() && receivers.is_some() {
            let message = "a group of UEs at both ends";
            self.mistake(fields.place_of("to"), message, "a single node at one end");
            return None;
        }
        let mut end = |key, group: &Option<Vec<NodeId>>| match group {
            // The first UE represents the group here. Below, each flow is given its own UE.
            Some(members) => members.first().copied(),
            None => fields.item(key).and_then(|item| self.node(item)),
        };
        let (from, to) = (end("from", &senders), end("to", &receivers));
        let (from, to) = (from?, to?);
        let (key, group, members) = match (senders, receivers) {
            (Some(senders), _) => ("from", fields.text("from")?, senders),
            (_, Some(receivers)) => ("to", fields.text("to")?, receivers),
            _ => {
                let member = None;
                return Some(vec![(name.to_owned(), FlowEnds { from, to, member })]);
            }
        };
        let of_member = members.into_iter().enumerate().map(|(number, node)| {
            let (from, to) = if key == "from" {
                (node, to)
            } else {
                (from, node)
            };
            let member = Some((group.to_owned(), number));
            (format!("{name}-{number}"), FlowEnds { from, to, member })
        });
        Some(of_member.collect())
    }

    /// Returns the flow, or the copies that `count` or `arrivals` require. At most `room` are
    /// returned.
    fn repeated(
        &mut self,
        flow: Flow,
        fields: &Fields,
        room: u64,
        entity: u64,
    ) -> Option<Vec<Flow>> {
        if fields.item("arrivals").is_some() {
            let arrivals = <Arrivals as KeyValue>::read(fields, "arrivals", self)?;
            let stream = Stream::new(self.seed, "arrivals", entity);
            return self.arrivals(&flow, fields, arrivals, room, stream);
        }
        let count = fields.integer("count");
        if count.unwrap_or(1) > room {
            let message = format!("more than {MAX_FLOWS} flows");
            self.mistake(fields.place_of("count"), message, "fewer flows");
            return None;
        }
        let Some(count) = count else {
            return Some(vec![flow]);
        };
        let spacing = fields.span("start-spacing").unwrap_or(Span::ZERO);
        let numbered = (0..count).map(|index| Flow {
            name: format!("{}-{index}", flow.name),
            start: flow.start.saturating_add(spacing.saturating_mul(index)),
            ..flow.clone()
        });
        Some(numbered.collect())
    }

    /// Returns the flows of a Poisson process, at most `room`. Each is a copy of `flow` with its
    /// own transfer size.
    fn arrivals(
        &mut self,
        flow: &Flow,
        fields: &Fields,
        arrivals: Arrivals,
        room: u64,
        mut random: Stream,
    ) -> Option<Vec<Flow>> {
        let entries = self.reader.catalog.entries("application");
        let has_size = find(entries, &flow.application.name)
            .is_some_and(|entry| entry.parameters.iter().any(|known| known.name == "size"));
        if !has_size {
            let message = format!(
                "`arrivals` of the application `{}`, which has no `size`",
                flow.application.name
            );
            let expected = "an application with a size, such as `transfer`";
            self.mistake(fields.place_of("arrivals"), message, expected);
            return None;
        }
        let sizes = Distribution {
            kind: arrivals.distribution,
            mean: arrivals.size,
            shape: arrivals.shape,
        };
        let mean_gap = 1.0 / arrivals.rate;
        let end = Time::ZERO.saturating_add(self.duration);
        let mut list = Vec::new();
        let mut at = flow.start;
        loop {
            at = at.saturating_add(Span::from_secs_f64(random.exponential(mean_gap)));
            if at >= end {
                return Some(list);
            }
            if list.len() as u64 >= room {
                let message = format!("more than {MAX_FLOWS} flows");
                self.mistake(fields.place_of("arrivals"), message, "fewer flows");
                return None;
            }
            let size = sizes.draw(&mut random).max(1.0).floor();
            let mut arrived = flow.clone();
            arrived.name = format!("{}-{}", flow.name, list.len());
            arrived.start = at;
            let given = &mut arrived.application.parameters.0;
            given.retain(|(key, _)| key != "size");
            given.push(("size".to_owned(), Value::Number(size)));
            list.push(arrived);
        }
    }

    fn flow(
        &mut self,
        name: &str,
        fields: &Fields,
        sources: &BTreeMap<String, LinkInfoSource>,
        ends: &FlowEnds,
    ) -> Option<Flow> {
        let (from, to) = (ends.from, ends.to);
        if from == to {
            let message = format!("`{name}` starts and ends at the same node");
            self.mistake(fields.place_of("to"), message, "two different nodes");
        } else if !self.nodes.are_connected(from, to) {
            let (from, to) = (fields.text("from")?, fields.text("to")?);
            let message = format!("no route leads from `{from}` to `{to}`");
            self.mistake(fields.place_of("to"), message, "nodes that links connect");
        }
        self.check_transport(fields);
        let route = self.flow_route(fields, ends)?;
        let multipath = match fields.fields("multipath") {
            Some(multipath) => Some(self.multipath(multipath, fields, ends)?),
            None => None,
        };
        let link_info = match fields.fields("link-info") {
            Some(info) => Some(self.link_info(info, sources, ends)?),
            None => None,
        };
        let own = (name.to_owned(), from, to, route, multipath, link_info);
        Flow::read(fields, Some(own), self)
    }

    /// Refuses keys of applications and connections in a flow whose ends are outside of the
    /// simulation, and keys of TCP in a flow over QUIC.
    fn check_transport(&mut self, fields: &Fields) {
        let Some(transport) = fields.named("transport") else {
            return;
        };
        let reason = match transport.name.as_str() {
            "quic" => "which is not TCP",
            _ => "whose datagrams come from the caller of the simulation",
        };
        for key in Flow::keys_without_effect(&transport.name) {
            if fields.is_given(key) {
                let message = format!(
                    "`{key}` of a flow with the transport `{}`, {reason}",
                    transport.name
                );
                let expected = format!("no `{key}`, or no `transport`");
                self.mistake(fields.place_of(key), message, &expected);
            }
        }
    }

    fn link_info(
        &mut self,
        fields: &Fields,
        sources: &BTreeMap<String, LinkInfoSource>,
        ends: &FlowEnds,
    ) -> Option<LinkInfoSettings> {
        let item = fields.item("link")?;
        let Content::Text(name) = &item.content else {
            return None;
        };
        let Some(&source) = sources.get(&ends.own_name(name)) else {
            let names = sources.keys().map(String::as_str);
            let mistakes = &mut self.reader.mistakes;
            refer_to_nothing(mistakes, item, "link, bearer, UE or cell", names);
            return None;
        };
        LinkInfoSettings::read(fields, Some((source,)), self)
    }
}
