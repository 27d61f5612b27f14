//! Every name that a scenario can use, gathered from the crates that own them.

use fadeout_core::registry::{Catalog, Entry, Kind, find};

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
            name: "scheduler",
            plural: "schedulers",
            entries: fadeout_transport::multipath::SCHEDULERS,
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
    ],
};

/// The catalog.
pub fn catalog() -> &'static Catalog {
    &CATALOG
}

/// The entry of kind `kind` called `name` or by an alias.
pub fn find_entry(kind: &str, name: &str) -> Option<&'static Entry> {
    find(CATALOG.entries(kind), name)
}
