//! Construction of Multipath TCP and Multipath QUIC connections.

use super::route::FlowEnds;
use super::*;
use fadeout_core::agreed::{MOST_PATHS, UNCOUPLED};

impl Builder<'_, '_> {
    /// Builds the multipath part of a flow between two nodes. `None` after a mistake.
    pub(super) fn multipath(
        &mut self,
        fields: &Fields,
        flow: &Fields,
        ends: &FlowEnds,
    ) -> Option<Multipath> {
        let paths: Vec<Option<FlowPath>> = fields
            .list("paths")
            .iter()
            .map(|item| self.path(item, ends))
            .collect();
        let coupling = fields.named("coupling");
        if paths.len() > MOST_PATHS {
            let message = format!("{} paths", paths.len());
            let expected = format!("at most {MOST_PATHS} paths");
            self.mistake(fields.place_of("paths"), message, &expected);
        }
        if let Some(coupling) = &coupling
            && coupling.name != UNCOUPLED
        {
            if paths.len() == 1 {
                let message = format!("coupling `{}` on a single path", coupling.name);
                let expected = format!("two paths or more, or `coupling = \"{UNCOUPLED}\"`");
                self.mistake(fields.place_of("coupling"), message, &expected);
            }
            if flow.item("congestion-control").is_some() {
                let message = format!(
                    "both `congestion-control` and coupling `{}`, which is a congestion control",
                    coupling.name
                );
                self.mistake(
                    flow.place_of("congestion-control"),
                    message,
                    "one of the two keys",
                );
            }
        }
        if flow.named("transport").is_some_and(|it| it.name == "quic") {
            self.check_multipath_quic(fields);
        }
        if flow.item("link-info").is_some() {
            let message = "`link-info` on a multipath flow";
            self.mistake(flow.place_of("link-info"), message, "a flow of one path");
        }
        let paths = paths.into_iter().collect::<Option<_>>();
        Multipath::read(fields, paths.map(|paths| (paths,)), self)
    }

    /// Refuses keys of Multipath TCP in the paths of a flow over QUIC.
    fn check_multipath_quic(&mut self, fields: &Fields) {
        for key in Flow::KEYS_OF_MULTIPATH_TCP {
            if fields.is_given(key) {
                let message =
                    format!("`{key}` of a flow with the transport `quic`, which has its own");
                let expected = format!("no `{key}`, or no `transport`");
                self.mistake(fields.place_of(key), message, &expected);
            }
        }
        for path in fields.list("paths") {
            if let Content::Fields(path) = &path.content
                && let Some(Content::Bool(true)) = path.item("announced").map(|it| &it.content)
            {
                let message = "`announced` of a path of QUIC, whose ends know all paths";
                let expected = "no `announced`, or no `transport`";
                self.mistake(path.place_of("announced"), message, expected);
            }
        }
    }

    fn path(&mut self, item: &Item, ends: &FlowEnds) -> Option<FlowPath> {
        match &item.content {
            Content::List(links) => {
                let hops = self.route_names().hops(links, item.place, ends)?;
                let fields = self.reader.defaults(FlowPath::KEYS, item.place);
                FlowPath::read(&fields, Some((hops,)), self)
            }
            Content::Fields(fields) => {
                let place = fields.place_of("links");
                let hops = self.route_names().hops(fields.list("links"), place, ends)?;
                FlowPath::read(fields, Some((hops,)), self)
            }
            _ => None,
        }
    }
}
