//! Multipath TCP connections.

use super::route::Ends;
use super::*;
use crate::keys::MAX_PATHS;

impl Builder<'_, '_> {
    /// The multipath part of a flow between two nodes.
    pub(super) fn multipath(
        &mut self,
        fields: &Fields,
        flow: &Fields,
        ends: &Ends,
    ) -> Option<Multipath> {
        let paths: Vec<Option<FlowPath>> = fields
            .list("paths")
            .iter()
            .map(|item| self.path(item, ends))
            .collect();
        let coupling = fields.named("coupling");
        if paths.len() > MAX_PATHS {
            let message = format!("{} paths", paths.len());
            let expected = format!("at most {MAX_PATHS} paths");
            self.mistake(fields.place_of("paths"), message, &expected);
        }
        if let Some(coupling) = &coupling
            && coupling.name != "uncoupled"
        {
            if paths.len() == 1 {
                let message = format!("coupling `{}` on a single path", coupling.name);
                let expected = "two paths or more, or `coupling = \"uncoupled\"`";
                self.mistake(fields.place_of("coupling"), message, expected);
            }
            if flow.item("congestion-control").is_some() {
                let message = format!(
                    "a `congestion-control` beside coupling `{}`, which is one itself",
                    coupling.name
                );
                self.mistake(
                    flow.place_of("congestion-control"),
                    message,
                    "one of the two",
                );
            }
        }
        if flow.item("link-info").is_some() {
            let message = "`link-info` on a multipath flow";
            self.mistake(flow.place_of("link-info"), message, "a flow of one path");
        }
        coupling?;
        Multipath::read(fields, (paths.into_iter().collect::<Option<_>>()?,))
    }

    fn path(&mut self, item: &Item, ends: &Ends) -> Option<FlowPath> {
        let (links, place, fields) = match &item.content {
            Content::List(links) => (links.as_slice(), item.place, None),
            Content::Fields(fields) => {
                (fields.list("links"), fields.place_of("links"), Some(fields))
            }
            _ => return None,
        };
        let hops = self.hops(links, place, ends)?;
        let time = |key| {
            fields
                .and_then(|fields| fields.item(key))
                .and_then(Item::time)
        };
        let (begin, until) = (time("from").unwrap_or(Time::ZERO), time("until"));
        if until.is_some_and(|until| until <= begin) {
            let message = "the path goes away before it comes up";
            self.mistake(fields?.place_of("until"), message, "a time after `from`");
        }
        let mut backup_changes = Vec::new();
        if let Some(fields) = fields {
            for item in fields.list("backup-changes") {
                let at = item.time()?;
                if backup_changes.last().is_some_and(|&before| at <= before) {
                    let message = "a change of `backup` that is not after the one before it";
                    self.mistake(item.place, message, "times in order");
                }
                backup_changes.push(at);
            }
        }
        Some(FlowPath {
            hops,
            announced: fields
                .and_then(|fields| fields.flag("announced"))
                .unwrap_or(false),
            backup_changes,
            backup: fields
                .and_then(|fields| fields.flag("backup"))
                .unwrap_or(false),
            from: begin,
            until,
        })
    }
}
