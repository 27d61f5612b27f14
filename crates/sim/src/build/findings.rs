//! Mistakes, each with the table, name and key of the scenario file that it concerns.

use super::BuildError;
use fadeout_scenario::Finding;

impl BuildError {
    /// Returns each mistake with its table of the scenario file, for [`fadeout_scenario::locate`].
    pub fn findings(&self) -> Vec<Finding> {
        match self {
            BuildError::Several(errors) => errors.iter().flat_map(BuildError::findings).collect(),
            one => vec![one.finding()],
        }
    }

    fn finding(&self) -> Finding {
        let (table, name, key) = self.subject();
        let message = self.to_string();
        // The message begins with a name that may look like a key. So the search for a key begins
        // after the name.
        let reason = message.split_once("\": ").map_or(&*message, |it| it.1);
        Finding {
            table,
            name: name.map(str::to_owned),
            key,
            reason: reason.to_owned(),
            message,
        }
    }

    /// Returns the table of the mistake, and the name of its entry. The third value is the key, if
    /// the mistake always concerns the same key.
    fn subject(&self) -> (&'static str, Option<&str>, Option<&'static str>) {
        match self {
            BuildError::Link { link, .. } => ("link", Some(link), None),
            BuildError::Rab { rab, .. } => ("rab", Some(rab), None),
            BuildError::Blockage { blockage, .. } => ("blockage", Some(blockage), None),
            BuildError::ChannelFile { name, .. } => ("channel-file", Some(name), None),
            BuildError::Vehicles { group, .. } => ("vehicles", Some(group), None),
            BuildError::Cell { cell, .. } => ("cell", Some(cell), None),
            BuildError::Ue { ue, .. } => ("ue", Some(ue), None),
            BuildError::Node { node, .. } => ("node", Some(node), None),
            BuildError::Handover { handover, .. } => ("handover", Some(handover), None),
            BuildError::Backhaul { .. } => ("mobility-management", None, None),
            BuildError::Undivided(_) => ("worlds", None, None),
            BuildError::Immobile { flow, .. } | BuildError::Kernel { flow, .. } => {
                ("flow", Some(flow), None)
            }
            BuildError::Unknown { flow, kind, .. } => ("flow", Some(flow), Some(key_of(kind))),
            BuildError::Datagrams { flow, key, .. }
            | BuildError::LongDatagram { flow, key, .. }
            | BuildError::Quic { flow, key, .. } => ("flow", Some(flow), Some(*key)),
            BuildError::NoRoute(flow) => ("flow", Some(flow), Some("to")),
            BuildError::LongRoute(flow) => ("flow", Some(flow), Some("route")),
            BuildError::FastOpen { flow, .. } => ("flow", Some(flow), Some("fast-open")),
            BuildError::Uninformed { flow, .. } => ("flow", Some(flow), Some("outage-response")),
            BuildError::ForeignLink { flow, .. } | BuildError::NeverBlocked { flow, .. } => {
                ("flow", Some(flow), Some("link-info"))
            }
            BuildError::Several(_) => ("", None, None),
        }
    }
}

/// Returns the key of a flow that names an entry of this kind.
fn key_of(kind: &'static str) -> &'static str {
    match kind {
        "congestion control" => "congestion-control",
        "path scheduler" => "path-scheduler",
        other => other,
    }
}
