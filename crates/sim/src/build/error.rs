//! Mistakes that the simulator's layers find in a scenario.

/// Mistakes in a scenario that passed the checks of the scenario reader. Only the simulator's
/// layers can find these mistakes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// The parameters do not describe a valid link.
    #[error("link \"{link}\": {reason}")]
    Link {
        /// Name of the link.
        link: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid radio access bearer.
    #[error("RAB \"{rab}\": {reason}")]
    Rab {
        /// Name of the radio access bearer.
        rab: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid blockage.
    #[error("blockage \"{blockage}\": {reason}")]
    Blockage {
        /// Name of the blockage.
        blockage: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// A file does not describe channels of the scenario.
    #[error("channel-file \"{name}\": {reason}")]
    ChannelFile {
        /// Name of the scenario's table that names the file.
        name: String,
        /// Description of the mistake, with the file, the line and the expected value.
        reason: String,
    },
    /// A group of vehicles does not fit on its road, or its trace is not valid.
    #[error("vehicles \"{group}\": {reason}")]
    Vehicles {
        /// Name of the group.
        group: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid cell.
    #[error("cell \"{cell}\": {reason}")]
    Cell {
        /// Name of the cell.
        cell: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// No links can carry the messages or data of mobility management.
    #[error("mobility-management: {reason}")]
    Backhaul {
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The parameters do not describe a valid UE.
    #[error("UE \"{ue}\": {reason}")]
    Ue {
        /// Name of the UE.
        ue: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The catalog does not have a name that a flow uses.
    #[error("flow \"{flow}\": there is no {kind} \"{name}\"")]
    Unknown {
        /// Name of the flow that uses the unknown name.
        flow: String,
        /// Kind of the unknown name.
        kind: &'static str,
        /// Name that the catalog does not have.
        name: String,
    },
    /// No links connect the two ends of the flow.
    #[error("flow \"{0}\": no links connect its ends")]
    NoRoute(String),
    /// The flow uses notices from a link, UE or cell that its data does not cross.
    #[error(
        "flow \"{flow}\": `link-info` names \"{link}\", which its data does not cross; \
         expected a link, UE or cell of its path"
    )]
    ForeignLink {
        /// Name of the flow.
        flow: String,
        /// Name of the link, UE or cell.
        link: String,
    },
    /// The flow uses notices of blockages from a UE that is never blocked.
    #[error(
        "flow \"{flow}\": `link-info` names UE \"{ue}\", whose SINR or gain is given, so that nothing \
         is known to block it; expected a UE without `downlink-sinr`, `uplink-sinr` and `channel-file`"
    )]
    NeverBlocked {
        /// Name of the flow.
        flow: String,
        /// Name of the UE.
        ue: String,
    },
    /// A flow of datagrams has a key that only connections can have.
    #[error(
        "flow \"{flow}\": its application \"{application}\" sends UDP datagrams, for which there is no \
         `{key}`; expected a flow without it"
    )]
    Datagrams {
        /// Name of the flow.
        flow: String,
        /// Name of the flow's application.
        application: String,
        /// Key that only connections can have.
        key: &'static str,
    },
    /// A flow responds to outages, but no link or UE sends it notices of outages.
    #[error("flow \"{flow}\": its outage-response is never told of an outage; expected {expected}")]
    Uninformed {
        /// Name of the flow.
        flow: String,
        /// Setting that is missing.
        expected: &'static str,
    },
    /// Mobility management cannot change the routes of the flow.
    #[error("flow \"{flow}\": {reason}")]
    Immobile {
        /// Name of the flow.
        flow: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The flow has a setting that a Linux kernel at its ends does not support.
    #[error("flow \"{flow}\": {reason}")]
    Kernel {
        /// Name of the flow.
        flow: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The flow has a setting that QUIC does not support.
    #[error("flow \"{flow}\": {reason}")]
    Quic {
        /// Name of the flow.
        flow: String,
        /// Key of the setting.
        key: &'static str,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// A node has a setting that needs a Linux kernel.
    #[error("node \"{node}\": {reason}")]
    Node {
        /// Name of the node.
        node: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// A handover between links is not possible as the scenario describes it.
    #[error("handover \"{handover}\": {reason}")]
    Handover {
        /// Name of the handover.
        handover: String,
        /// Description of the mistake, with the expected value.
        reason: String,
    },
    /// The scenario asks for several worlds, but it cannot be divided. The text is the reason.
    #[error("worlds: {0}")]
    Undivided(String),
    /// The route of a flow, which the value names, has too many hops.
    #[error("flow \"{0}\": its route has more than 255 links")]
    LongRoute(String),
    /// A flow cannot open its connection by Fast Open.
    #[error("flow \"{flow}\": {reason}")]
    FastOpen {
        /// Name of the flow.
        flow: String,
        /// Description of the mistake, with the expected value.
        reason: &'static str,
    },
    /// A flow's datagrams are larger than the largest SDU of PDCP.
    #[error(
        "flow \"{flow}\": its datagrams are IP packets of {size} B, and PDCP of UE \"{ue}\" takes {most} B at most; \
         expected a smaller {key}"
    )]
    LongDatagram {
        /// Name of the flow.
        flow: String,
        /// Name of the UE that receives the datagrams.
        ue: String,
        /// Size of the IP packets, bytes.
        size: u64,
        /// Size of the largest SDU of PDCP, bytes.
        most: u64,
        /// Key that determines the size.
        key: &'static str,
    },
    /// Several mistakes at once.
    #[error("{}", lines(.0))]
    Several(Vec<BuildError>),
}

/// Returns the texts of several mistakes, one a line.
fn lines(errors: &[BuildError]) -> String {
    let errors: Vec<String> = errors.iter().map(BuildError::to_string).collect();
    errors.join("\n")
}

/// Maximum number of mistakes in one error message. A scenario with a mistake in each UE would have
/// thousands.
const MAX_REPORTED_ERRORS: usize = 100;

/// Collects the values of all results. If there are errors, returns each different error once.
pub(super) fn all<T>(
    built: impl Iterator<Item = Result<T, BuildError>>,
) -> Result<Vec<T>, BuildError> {
    let (mut good, mut wrong) = (Vec::new(), Vec::new());
    for one in built {
        match one {
            Ok(one) => good.push(one),
            // Each mistake is listed once. Both directions of a link report the same mistake, and
            // so do all UEs that one `count` creates.
            Err(error) if !wrong.contains(&error) => wrong.push(error),
            Err(_) => {}
        }
        if wrong.len() == MAX_REPORTED_ERRORS {
            break;
        }
    }
    match wrong.len() {
        0 => Ok(good),
        1 => Err(wrong.remove(0)),
        _ => Err(BuildError::Several(wrong)),
    }
}
