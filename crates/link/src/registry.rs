//! The queue disciplines that a scenario can name.

use fadeout_core::registry::{Entry, Parameter, ParameterKind};

/// Every queue discipline of this crate.
pub static QUEUE_DISCIPLINES: &[Entry] = &[Entry {
    name: "drop-tail",
    aliases: &["fifo", "droptail"],
    family: "passive",
    summary: "First in, first out; an arrival that does not fit is dropped.",
    citation: "RFC 2309 section 2 (tail drop); tc-netem(8) for the limit that counts the delay line",
    parameters: &[Parameter {
        name: "counts-delay-line",
        kind: ParameterKind::Bool,
        default: "false",
        doc: "Whether the limit also counts packets in the delay line, as netem's does.",
    }],
}];
