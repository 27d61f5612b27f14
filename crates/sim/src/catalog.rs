//! The catalog of all names that a scenario can use. Each name comes from the crate that owns it.

use fadeout_core::registry::{Catalog, Entry, Kind, Part, find};

static CATALOG: Catalog = Catalog {
    kinds: &[
        Kind {
            name: "congestion-control",
            plural: "congestion-controls",
            entries: fadeout_transport::congestion::CONGESTION_CONTROLS,
        },
        Kind {
            name: "profile",
            plural: "profiles",
            entries: fadeout_transport::tcp::PROFILES,
        },
        Kind {
            name: "application",
            plural: "applications",
            entries: fadeout_traffic::APPLICATIONS,
        },
        Kind {
            name: "transport",
            plural: "transports",
            entries: fadeout_transport::TRANSPORTS,
        },
        Kind {
            name: "quic-congestion-control",
            plural: "quic-congestion-controls",
            entries: fadeout_transport::quic::QUIC_CONGESTION_CONTROLS,
        },
        Kind {
            name: "path-scheduler",
            plural: "path-schedulers",
            entries: fadeout_transport::multipath::PATH_SCHEDULERS,
        },
        Kind {
            name: "coupling",
            plural: "couplings",
            entries: fadeout_transport::multipath::COUPLINGS,
        },
        Kind {
            name: "queue-discipline",
            plural: "queue-disciplines",
            entries: fadeout_link::QUEUE_DISCIPLINES,
        },
        Kind {
            name: "radio-access-bearer",
            plural: "radio-access-bearers",
            entries: fadeout_link::rab::RABS,
        },
        Kind {
            name: "radio",
            plural: "radios",
            entries: fadeout_radio::technology::RADIOS,
        },
        Kind {
            name: "deployment",
            plural: "deployments",
            entries: fadeout_scenario::DEPLOYMENTS,
        },
        Kind {
            name: "timing",
            plural: "timings",
            entries: fadeout_scenario::TIMINGS,
        },
        Kind {
            name: "cell-preset",
            plural: "cell-presets",
            entries: fadeout_scenario::CELL_PRESETS,
        },
        Kind {
            name: "host-preset",
            plural: "host-presets",
            entries: fadeout_scenario::HOST_PRESETS,
        },
        Kind {
            name: "path-loss",
            plural: "path-losses",
            entries: fadeout_radio::channel::path_loss::PATH_LOSS_MODELS,
        },
        Kind {
            name: "fading",
            plural: "fadings",
            entries: fadeout_radio::channel::fading::FADING_MODELS,
        },
        Kind {
            name: "blockage-model",
            plural: "blockage-models",
            entries: fadeout_radio::channel::blockage::BLOCKAGES,
        },
        Kind {
            name: "antenna",
            plural: "antennas",
            entries: fadeout_radio::antenna::ANTENNAS,
        },
        Kind {
            name: "mac-scheduler",
            plural: "mac-schedulers",
            entries: fadeout_radio::mac::scheduler::MAC_SCHEDULERS,
        },
        Kind {
            name: "handover-policy",
            plural: "handover-policies",
            entries: fadeout_radio::access::HANDOVER_POLICIES,
        },
        Kind {
            name: "rlc",
            plural: "rlc-modes",
            entries: fadeout_radio::rlc::RLC_MODES,
        },
        Kind {
            name: "aqm",
            plural: "aqms",
            entries: fadeout_radio::rlc::AQMS,
        },
        Kind {
            name: "pdcp",
            plural: "pdcps",
            entries: fadeout_radio::pdcp::PDCPS,
        },
        Kind {
            name: "mobility",
            plural: "mobility-models",
            entries: fadeout_mobility::MOBILITY_MODELS,
        },
    ],
    parts: &[
        Part {
            name: "beam-management",
            parameters: fadeout_radio::antenna::BeamManagement::PARAMETERS,
        },
        Part {
            name: "cell",
            parameters: fadeout_radio::access::CellConfig::PARAMETERS,
        },
        Part {
            name: "channel",
            parameters: fadeout_radio::channel::ChannelConfig::PARAMETERS,
        },
        Part {
            name: "ue",
            parameters: fadeout_radio::access::UeConfig::PARAMETERS,
        },
        Part {
            name: "logical-channel",
            parameters: fadeout_radio::mac::LogicalChannel::PARAMETERS,
        },
        Part {
            name: "link-budget",
            parameters: fadeout_radio::LinkBudget::PARAMETERS,
        },
        Part {
            name: "rrc-states",
            parameters: fadeout_radio::access::StatesConfig::PARAMETERS,
        },
        Part {
            name: "mobility-management",
            parameters: fadeout_radio::access::MobilityConfig::PARAMETERS,
        },
        Part {
            name: "driving",
            parameters: fadeout_mobility::traffic::Driving::PARAMETERS,
        },
        Part {
            name: "multipath-path",
            parameters: fadeout_transport::multipath::PathConfig::PARAMETERS,
        },
    ],
};

/// Returns the catalog of all names.
pub fn catalog() -> &'static Catalog {
    &CATALOG
}

/// Returns the catalog entry of kind `kind` with the name or alias `name`. `None` if there is no
/// such entry.
pub fn find_entry(kind: &str, name: &str) -> Option<&'static Entry> {
    find(CATALOG.entries(kind), name)
}
