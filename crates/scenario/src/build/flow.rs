//! Flows, one by one or by the thousand.

use super::*;
use crate::keys::MAX_FLOWS;
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
        for (name, fields) in named {
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
