//! A small catalog with one parameter of each kind.

use fadeout_core::registry::{Catalog, Entry, Kind, Parameter, ParameterKind};

const fn entry(
    name: &'static str,
    aliases: &'static [&'static str],
    parameters: &'static [Parameter],
) -> Entry {
    Entry {
        name,
        aliases,
        family: "",
        summary: "An entry.",
        citation: "",
        parameters,
    }
}

const fn parameter(name: &'static str, kind: ParameterKind, default: &'static str) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        doc: "A parameter.",
    }
}

pub(crate) static CATALOG: Catalog = Catalog {
    kinds: &[
        Kind {
            name: "congestion-control",
            plural: "congestion-controls",
            entries: &[
                entry(
                    "cubic",
                    &[],
                    &[parameter(
                        "beta",
                        ParameterKind::Number {
                            min: 0.1,
                            max: 0.9,
                            unit: "",
                        },
                        "0.7",
                    )],
                ),
                entry("newreno", &["new-reno"], &[]),
            ],
        },
        Kind {
            name: "profile",
            plural: "profiles",
            entries: &[
                entry(
                    "linux",
                    &[],
                    &[
                        parameter("minimum-rto", ParameterKind::Span, "200 ms"),
                        parameter("undo", ParameterKind::Bool, "true"),
                        parameter(
                            "initial-window",
                            ParameterKind::Integer {
                                min: 1,
                                max: 1000,
                                unit: "segments",
                            },
                            "10",
                        ),
                        parameter("ack", ParameterKind::Choice(&["every", "second"]), "second"),
                    ],
                ),
                entry("newreno", &[], &[]),
            ],
        },
        Kind {
            name: "scheduler",
            plural: "schedulers",
            entries: &[
                entry("linux", &["default"], &[]),
                entry("lowest-rtt", &[], &[]),
            ],
        },
        Kind {
            name: "coupling",
            plural: "couplings",
            entries: &[entry("uncoupled", &[], &[]), entry("lia", &[], &[])],
        },
        Kind {
            name: "queue-discipline",
            plural: "queue-disciplines",
            entries: &[entry("drop-tail", &["fifo"], &[])],
        },
        Kind {
            name: "application",
            plural: "applications",
            entries: &[
                entry("bulk", &[], &[]),
                entry(
                    "transfer",
                    &[],
                    &[parameter(
                        "size",
                        ParameterKind::Integer {
                            min: 1,
                            max: 1 << 50,
                            unit: "bytes",
                        },
                        "10 MB",
                    )],
                ),
            ],
        },
    ],
};
