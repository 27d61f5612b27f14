//! The names of the applications.

use fadeout_core::registry::{Entry, Parameter, ParameterKind};

/// Size of a transfer whose scenario gives none.
pub(crate) const DEFAULT_TRANSFER_BYTES: u64 = 10_000_000;

/// The applications a scenario may name.
pub static APPLICATIONS: &[Entry] = &[
    Entry {
        name: "bulk",
        aliases: &["iperf", "greedy"],
        family: "application",
        summary: "Always has data to send, until the run ends.",
        citation: "",
        parameters: &[],
    },
    Entry {
        name: "transfer",
        aliases: &["file"],
        family: "application",
        summary: "Sends a file of a given size and closes; its completion time is reported.",
        citation: "",
        parameters: &[Parameter {
            name: "size",
            kind: ParameterKind::Integer {
                min: 1,
                max: 1 << 50,
                unit: "bytes",
            },
            default: "10 MB",
            doc: "Bytes to send.",
        }],
    },
];
