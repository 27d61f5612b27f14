//! Small catalog for the tests. It has one parameter of each kind.

use fadeout_core::agreed::{BeamPrediction, LineOfSight, ReleasedState};
use fadeout_core::registry::{Catalog, Entry, Kind, Parameter, ParameterKind, Part};

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
        depends: false,
    }
}

/// Returns a number parameter with a default.
const fn quantity(name: &'static str, unit: &'static str, default: &'static str) -> Parameter {
    Parameter {
        default,
        ..number(name, unit)
    }
}

/// Returns a whole-number parameter with a default.
const fn whole(name: &'static str, default: &'static str) -> Parameter {
    let (min, max) = (0, 1_000);
    parameter(name, ParameterKind::Integer { min, max, unit: "" }, default)
}

/// Returns a number parameter with a wide range.
const fn number(name: &'static str, unit: &'static str) -> Parameter {
    let (min, max) = (-1e9, 1e9);
    parameter(name, ParameterKind::Number { min, max, unit }, "0")
}

pub(crate) static CATALOG: Catalog = Catalog {
    parts: &[
        Part {
            name: "channel",
            parameters: &[
                parameter(
                    "line-of-sight",
                    ParameterKind::Choice(LineOfSight::NAMES),
                    "drawn",
                ),
                parameter("shadowing", ParameterKind::Bool, "true"),
                whole("sub-bands", "16"),
                quantity("environment-speed", "km/h", "3"),
                whole("receive-antennas", "1"),
                parameter("fading", ParameterKind::Named("fading"), "clusters"),
                quantity("k-factor", "", "drawn"),
                parameter("delay-spread", ParameterKind::Span, "drawn"),
                parameter("oxygen", ParameterKind::Bool, "true"),
                quantity("rain", "", "0"),
            ],
        },
        Part {
            name: "ue",
            parameters: &[
                quantity("tx-power", "dBm", "23"),
                quantity("noise-figure", "dB", "9"),
            ],
        },
        Part {
            name: "logical-channel",
            parameters: &[
                whole("priority", "8"),
                parameter("bucket-size-duration", ParameterKind::Span, "100 ms"),
            ],
        },
        Part {
            name: "link-budget",
            parameters: &[
                quantity("tx-height", "m", "10"),
                quantity("rx-height", "m", "1"),
                quantity("noise-figure", "dB", "10"),
                quantity("implementation-loss", "dB", "1"),
                quantity("elevation-beamwidth", "deg", "65"),
                quantity("antenna-efficiency", "", "0.7"),
                whole("layers", "1"),
                quantity("overhead", "", "0.18"),
            ],
        },
        Part {
            name: "mobility-management",
            parameters: &[
                parameter("station-delay", ParameterKind::Span, "5 ms"),
                parameter("core-delay", ParameterKind::Span, "5 ms"),
                parameter("admission-delay", ParameterKind::Span, "10 ms"),
                parameter("interruption", ParameterKind::Span, "35 ms"),
                parameter("utra-interruption", ParameterKind::Span, "190 ms"),
                parameter("preamble-period", ParameterKind::Span, "10 ms"),
                parameter("response-window", ParameterKind::Span, "10 ms"),
                parameter("backoff", ParameterKind::Span, "20 ms"),
                parameter("t304", ParameterKind::Span, "1 s"),
                parameter("preparation-timeout", ParameterKind::Span, "1 s"),
                parameter("overall-timeout", ParameterKind::Span, "5 s"),
                parameter("end-marker-timeout", ParameterKind::Span, "100 ms"),
                parameter("t310", ParameterKind::Span, "1 s"),
                parameter("t311", ParameterKind::Span, "3 s"),
                parameter("t301", ParameterKind::Span, "400 ms"),
                parameter("cell-selection-delay", ParameterKind::Span, "200 ms"),
                parameter("t300", ParameterKind::Span, "1 s"),
                quantity("q-rx-lev-min", "dBm", "-130"),
                whole("max-preambles", "10"),
                whole("contention-preambles", "54"),
                whole("n310", "1"),
                whole("n311", "1"),
                quantity("q-out", "dB", "-8"),
                quantity("q-in", "dB", "-6"),
            ],
        },
        Part {
            name: "driving",
            parameters: &[
                parameter("following", ParameterKind::Choice(&["none"]), "none"),
                quantity("headway", "s", "1"),
                quantity("min-gap", "m", "2.5"),
                quantity("dawdling", "", "0.5"),
                quantity("speed-deviation", "", "0.1"),
            ],
        },
        Part {
            name: "cell",
            parameters: &[
                quantity("tx-power", "dBm", "30"),
                quantity("noise-figure", "dB", "5"),
            ],
        },
        Part {
            name: "rrc-states",
            parameters: &[
                parameter("inactivity", ParameterKind::Span, "10 s"),
                parameter("state", ParameterKind::Choice(ReleasedState::NAMES), "idle"),
                whole("paging-cycle", "128"),
                whole("paging-frames", "128"),
                parameter("message-delay", ParameterKind::Span, "4 ms"),
                parameter("setup-delay", ParameterKind::Span, "10 ms"),
                parameter("security-delay", ParameterKind::Span, "5 ms"),
                parameter("reconfiguration-delay", ParameterKind::Span, "10 ms"),
                parameter("core-delay", ParameterKind::Span, "5 ms"),
            ],
        },
        Part {
            name: "multipath-path",
            parameters: &[
                parameter("backup", ParameterKind::Bool, "false"),
                parameter("announced", ParameterKind::Bool, "false"),
                parameter("from", ParameterKind::Span, "0 s"),
            ],
        },
        Part {
            name: "beam-management",
            parameters: &[
                parameter("beam-switching-delay", ParameterKind::Span, "7 ms"),
                parameter("beam-recovery-delay", ParameterKind::Span, "20 ms"),
                parameter(
                    "beam-prediction",
                    ParameterKind::Choice(BeamPrediction::NAMES),
                    "none",
                ),
                parameter(
                    "beam-failure-threshold",
                    ParameterKind::Number {
                        min: 0.0,
                        max: 100.0,
                        unit: "dB",
                    },
                    "10",
                ),
            ],
        },
    ],
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
            name: "radio-access-bearer",
            plural: "radio-access-bearers",
            entries: &[
                entry(
                    "hspa",
                    &["hsdpa"],
                    &[
                        number("sinr", "dB"),
                        parameter("radio-states", ParameterKind::Bool, "false"),
                    ],
                ),
                entry("umts", &[], &[]),
            ],
        },
        Kind {
            name: "radio",
            plural: "radios",
            entries: &[
                entry(
                    "nr",
                    &[],
                    &[
                        parameter(
                            "numerology",
                            ParameterKind::Integer {
                                min: 0,
                                max: 5,
                                unit: "",
                            },
                            "1",
                        ),
                        parameter("duplex", ParameterKind::Choice(&["fdd", "DDDSU"]), "fdd"),
                        parameter(
                            "mcs-table",
                            ParameterKind::Choice(&["64qam", "256qam"]),
                            "64qam",
                        ),
                        whole("layers", "1"),
                        whole("sr-period", "8"),
                    ],
                ),
                entry(
                    "lte",
                    &[],
                    &[number("sr-period", "slots"), whole("layers", "1")],
                ),
                entry("utra", &[], &[]),
            ],
        },
        Kind {
            name: "deployment",
            plural: "deployments",
            entries: fadeout_scenario::DEPLOYMENTS,
        },
        Kind {
            name: "path-loss",
            plural: "path-losses",
            entries: &[
                entry(
                    "umi",
                    &[],
                    &[parameter("street", ParameterKind::Bool, "true")],
                ),
                entry("rma", &[], &[]),
                entry("uma", &[], &[]),
                entry("hetnet-macro", &[], &[]),
                entry("hetnet-pico", &[], &[]),
                entry("lte-macro", &[], &[]),
                entry("v2x-urban", &[], &[]),
                entry("v2x-highway", &[], &[]),
            ],
        },
        Kind {
            name: "fading",
            plural: "fadings",
            entries: &[
                entry("none", &[], &[]),
                entry("rayleigh", &[], &[]),
                entry("clusters", &[], &[]),
            ],
        },
        Kind {
            name: "blockage-model",
            plural: "blockage-models",
            entries: &[entry("crowd", &[], &[]), entry("deafness", &[], &[])],
        },
        Kind {
            name: "antenna",
            plural: "antennas",
            entries: &[
                entry("isotropic", &[], &[number("gain", "dBi")]),
                entry(
                    "beam",
                    &[],
                    &[number("width", "deg"), number("height", "deg")],
                ),
                entry(
                    "array",
                    &[],
                    &[
                        number("rows", ""),
                        number("columns", ""),
                        number("azimuth", "deg"),
                    ],
                ),
                entry(
                    "sector",
                    &[],
                    &[number("tilt", "deg"), number("azimuth", "deg")],
                ),
                entry(
                    "column",
                    &[],
                    &[
                        number("rows", ""),
                        number("spacing", "wavelengths"),
                        number("tilt", "deg"),
                        number("azimuth", "deg"),
                    ],
                ),
            ],
        },
        Kind {
            name: "mac-scheduler",
            plural: "mac-schedulers",
            entries: &[
                entry("proportional-fair", &["pf"], &[]),
                entry("round-robin", &[], &[]),
            ],
        },
        Kind {
            name: "handover-policy",
            plural: "handover-policies",
            entries: &[
                entry("a3", &[], &[]),
                entry("load-aware", &["mlb"], &[number("most-offset", "dB")]),
                entry("timetable", &[], &[]),
            ],
        },
        Kind {
            name: "rlc",
            plural: "rlc-modes",
            entries: &[
                entry(
                    "am",
                    &[],
                    &[
                        parameter("t-reassembly", ParameterKind::Span, "35 ms"),
                        number("buffer", "bytes"),
                        parameter("aqm", ParameterKind::Named("aqm"), "drop-tail"),
                    ],
                ),
                entry("um", &[], &[]),
            ],
        },
        Kind {
            name: "aqm",
            plural: "aqms",
            entries: &[
                entry("drop-tail", &["fifo"], &[]),
                entry(
                    "codel",
                    &[],
                    &[
                        parameter("target", ParameterKind::Span, "5 ms"),
                        parameter("ecn", ParameterKind::Bool, "true"),
                    ],
                ),
            ],
        },
        Kind {
            name: "pdcp",
            plural: "pdcps",
            entries: &[entry("nr", &[], &[])],
        },
        Kind {
            name: "mobility",
            plural: "mobility-models",
            entries: &[
                entry("static", &[], &[]),
                entry(
                    "line",
                    &[],
                    &[
                        parameter(
                            "x-speed",
                            ParameterKind::Number {
                                min: -100.0,
                                max: 100.0,
                                unit: "m/s",
                            },
                            "0",
                        ),
                        number("y-speed", "m/s"),
                    ],
                ),
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
                entry(
                    "rfc",
                    &[],
                    &[
                        parameter("minimum-rto", ParameterKind::Span, "1 s"),
                        parameter("timestamps", ParameterKind::Bool, "true"),
                        parameter(
                            "receive-window",
                            ParameterKind::Integer {
                                min: 1000,
                                max: 1 << 30,
                                unit: "bytes",
                            },
                            "16777216",
                        ),
                    ],
                ),
            ],
        },
        Kind {
            name: "transport",
            plural: "transports",
            entries: &[entry(
                "port",
                &[],
                &[parameter(
                    "mtu",
                    ParameterKind::Integer {
                        min: 68,
                        max: 65_535,
                        unit: "bytes",
                    },
                    "1500 B",
                )],
            )],
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
            name: "path-scheduler",
            plural: "path-schedulers",
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
                        "1 MB",
                    )],
                ),
                entry(
                    "packet-stream",
                    &[],
                    &[number("rate", "bit/s"), number("size", "bytes")],
                ),
                entry(
                    "echo",
                    &[],
                    &[parameter("period", ParameterKind::Span, "100 ms")],
                ),
            ],
        },
    ],
};
