//! Flows, one by one or by the thousand.

use super::*;
use crate::keys::MAX_FLOWS;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Value, find};
use fadeout_core::{Distribution, DistributionKind};
use std::collections::BTreeSet;

impl Builder<'_, '_> {
    /// The flows with `count` expanded. Those with mistakes are left out.
    pub(super) fn flows(
        &mut self,
        named: &[(String, Fields)],
        links: &BTreeMap<&str, usize>,
    ) -> Vec<Flow> {
        let mut flows = Vec::new();
        let mut names = BTreeSet::new();
        for (index, (name, fields)) in named.iter().enumerate() {
            let Some(flow) = self.flow(name, fields, links) else {
                continue;
            };
            let count = fields.integer("count");
            let spacing = fields.span("start-spacing").unwrap_or(Span::ZERO);
            if count.is_none() && fields.item("start-spacing").is_some() {
                let message = "a `start-spacing` without a `count`";
                self.mistake(
                    fields.place_of("start-spacing"),
                    message,
                    "`count` beside it",
                );
            }
            if let Some(arrivals) = fields.fields("arrivals") {
                if count.is_some() {
                    let message = "`arrivals` and a `count`";
                    self.mistake(fields.place_of("arrivals"), message, "one of the two");
                }
                let stream = Stream::new(self.seed, "arrivals", index as u64);
                let room = MAX_FLOWS.saturating_sub(flows.len() as u64);
                if let Some(arrived) = self.arrivals(&flow, fields, arrivals, room, stream) {
                    let is_new = arrived.iter().all(|flow| names.insert(flow.name.clone()));
                    if !is_new {
                        let message = format!("two flows are called like one of `{name}`");
                        self.mistake(fields.place, message, "another name");
                    }
                    flows.extend(arrived);
                }
                continue;
            }
            if flows.len() as u64 + count.unwrap_or(1) > MAX_FLOWS {
                let message = format!("more than {MAX_FLOWS} flows");
                self.mistake(fields.place_of("count"), message, "fewer flows");
                return flows;
            }
            for index in 0..count.unwrap_or(1) {
                let mut flow = flow.clone();
                if count.is_some() {
                    flow.name = format!("{name}-{index}");
                    flow.start = flow.start.saturating_add(spacing.saturating_mul(index));
                }
                if !names.insert(flow.name.clone()) {
                    let message = format!("two flows are called `{}`", flow.name);
                    self.mistake(fields.place, message, "another name");
                    break;
                }
                flows.push(flow);
            }
        }
        flows
    }

    /// The flows of a Poisson process, each like `flow` with a size of its own; at most `room`.
    fn arrivals(
        &mut self,
        flow: &Flow,
        fields: &Fields,
        arrivals: &Fields,
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
            kind: DistributionKind::new(arrivals.text("distribution")?)?,
            mean: arrivals.quantity("size")?,
            shape: arrivals.number("shape")?,
        };
        let mean_gap = 1.0 / arrivals.number("rate")?;
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

    fn flow(&mut self, name: &str, fields: &Fields, links: &BTreeMap<&str, usize>) -> Option<Flow> {
        let from = fields.item("from").and_then(|item| self.node(item));
        let to = fields.item("to").and_then(|item| self.node(item));
        let (from, to) = (from?, to?);
        if from == to {
            let message = format!("`{name}` starts and ends at the same node");
            self.mistake(fields.place_of("to"), message, "two different nodes");
        } else if !self.nodes.are_connected(from, to) {
            let (from, to) = (fields.text("from")?, fields.text("to")?);
            let message = format!("no links lead from `{from}` to `{to}`");
            self.mistake(fields.place_of("to"), message, "nodes that links connect");
        }
        let multipath = match fields.fields("multipath") {
            Some(multipath) => Some(self.multipath(multipath, fields, (from, to))?),
            None => None,
        };
        Some(Flow {
            name: name.to_owned(),
            from,
            to,
            start: fields.item("start")?.time()?,
            application: fields.named("application")?,
            profile: fields.text("profile")?.to_owned(),
            tcp: match fields.item("tcp").map(|item| &item.content) {
                Some(Content::Parameters(parameters)) => parameters.clone(),
                _ => Default::default(),
            },
            congestion_control: fields.named("congestion-control"),
            multipath,
            link_info: match fields.fields("link-info") {
                Some(info) => Some(self.link_info(info, links)?),
                None => None,
            },
        })
    }

    fn link_info(
        &mut self,
        fields: &Fields,
        links: &BTreeMap<&str, usize>,
    ) -> Option<LinkInfoSettings> {
        Some(LinkInfoSettings {
            link: self.link_index(fields.item("link")?, links)?,
            delay: fields.span("delay")?,
            prediction: fields.span("prediction"),
            error: fields.span("error")?,
        })
    }
}
