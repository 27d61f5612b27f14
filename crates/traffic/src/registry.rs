//! The names of the applications.

use crate::download::Defaults;
use fadeout_core::registry::{
    Entry, Parameter, ParameterKind, Parameters, choice, integer, number, span,
};
use fadeout_core::{Distribution, DistributionKind, Span};

/// Size of a transfer whose scenario gives none.
pub(crate) const DEFAULT_TRANSFER_BYTES: f64 = 10e6;
/// A control line and a file.
pub(crate) const FTP: Defaults = Defaults {
    request: 100.0,
    size: 10e6,
};
/// A browser's request and a page with what it refers to.
pub(crate) const WEB: Defaults = Defaults {
    request: 400.0,
    size: 2e6,
};

const fn bytes(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    integer(name, (1, 1 << 50, "bytes"), default, doc)
}

const fn kind(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    choice(name, DistributionKind::NAMES, default, doc)
}

const fn shape(name: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Number {
            min: 0.1,
            max: 10.0,
            unit: "",
        },
        default: "1.5",
        doc: "Tail index of a Pareto distribution, or standard deviation of the logarithm of a \
              log-normal one.",
    }
}

/// The distribution under `name`, `name-distribution` and `name-shape`; `mean` where nothing is
/// given, a time in seconds.
pub(crate) fn distribution(given: &Parameters, name: &str, mean: f64) -> Distribution {
    let kind = given.choice(&format!("{name}-distribution"), "");
    // Sizes do not vary unless they are told to; times do.
    let default = if name == "size" {
        DistributionKind::Constant
    } else {
        DistributionKind::Exponential
    };
    let time = given.span(name, Span::from_secs_f64(mean)).as_secs_f64();
    Distribution {
        kind: DistributionKind::new(kind).unwrap_or(default),
        mean: if name == "size" {
            given.number(name, mean)
        } else {
            time
        },
        shape: given.number(&format!("{name}-shape"), 1.5),
    }
}

const fn application(
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    parameters: &'static [Parameter],
) -> Entry {
    Entry {
        name,
        aliases,
        family: "application",
        summary,
        citation: "",
        parameters,
    }
}

/// The applications a scenario may name.
pub static APPLICATIONS: &[Entry] = &[
    application(
        "bulk",
        &["iperf", "greedy"],
        "Always has data to send, until the run ends.",
        &[
            integer(
                "greeting",
                (0, 65_535, "bytes"),
                "0 B",
                "A first small write that stands alone; iperf3's cookie takes 37 bytes.",
            ),
            span(
                "pause",
                "0 s",
                "From opening the connection to the rest of the data, with a greeting.",
            ),
        ],
    ),
    application(
        "transfer",
        &["file"],
        "Sends a file of a given size and closes; its completion time is reported.",
        &[bytes("size", "10 MB", "Bytes to send.")],
    ),
    application(
        "ftp",
        &[],
        "The receiver opens the connection and asks for a file, which the sender sends before it \
         closes.",
        &[
            bytes("size", "10 MB", "Size of the file."),
            bytes("request-size", "100 B", "Size of the request."),
        ],
    ),
    application(
        "web",
        &["page"],
        "The receiver asks for a page and gets it; its completion time is the download time. \
         Several connections to a host are several flows: see `count`.",
        &[
            bytes(
                "size",
                "2 MB",
                "Size of the page with all that it refers to.",
            ),
            bytes("request-size", "400 B", "Size of the request."),
        ],
    ),
    application(
        "on-off",
        &["bursts"],
        "Sends at a constant rate for a while, pauses, and so on.",
        &[
            number("rate", (1.0, 1e13, "bit/s"), "1 Mbit/s", "Rate while on."),
            bytes(
                "chunk",
                "1448 B",
                "What is written at a time: a full segment.",
            ),
            span("on", "1 s", "Mean length of an on time."),
            kind(
                "on-distribution",
                "exponential",
                "Distribution of on times.",
            ),
            shape("on-shape"),
            span("off", "1 s", "Mean length of a pause."),
            kind("off-distribution", "exponential", "Distribution of pauses."),
            shape("off-shape"),
        ],
    ),
    application(
        "request-response",
        &["dialogue", "rpc"],
        "The receiver asks, waits for the answer, thinks, and asks again on the same connection.",
        &[
            integer("requests", (0, 1 << 40, ""), "0", "How many; 0 for no end."),
            bytes("request-size", "400 B", "Size of a request."),
            bytes("size", "100 kB", "Mean size of an answer."),
            kind("size-distribution", "constant", "Distribution of answers."),
            shape("size-shape"),
            span(
                "think",
                "1 s",
                "Mean time between an answer and the next request.",
            ),
            kind(
                "think-distribution",
                "exponential",
                "Distribution of think times.",
            ),
            shape("think-shape"),
        ],
    ),
];
