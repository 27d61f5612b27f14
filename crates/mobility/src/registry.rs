//! The movement models that a scenario can name.

use fadeout_core::registry::{Entry, Parameter, ParameterKind};

const METRE: ParameterKind = ParameterKind::Number {
    min: -1e6,
    max: 1e6,
    unit: "m",
};
const SPEED: ParameterKind = ParameterKind::Number {
    min: 0.0,
    max: 1000.0,
    unit: "m/s",
};

const fn parameter(
    name: &'static str,
    kind: ParameterKind,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        doc,
    }
}

/// Movement models by name; the first is the default. Waypoints and traces are not here: a
/// scenario lists them.
pub static MOBILITY_MODELS: &[Entry] = &[
    Entry {
        name: "static",
        aliases: &["fixed"],
        family: "deterministic",
        summary: "Stays where it is.",
        citation: "none",
        parameters: &[],
    },
    Entry {
        name: "line",
        aliases: &["constant-velocity"],
        family: "deterministic",
        summary: "Goes straight on at one speed.",
        citation: "none",
        parameters: &[
            parameter("x-speed", SIGNED_SPEED, "0", "Speed towards east."),
            parameter("y-speed", SIGNED_SPEED, "0", "Speed towards north."),
        ],
    },
    Entry {
        name: "random-waypoint",
        aliases: &["rwp"],
        family: "random",
        summary: "Goes to places drawn uniformly from a rectangle, with pauses; stationary from \
                  the start.",
        citation: "W. Navidi, T. Camp, Stationary Distributions for the Random Waypoint Mobility \
                   Model, IEEE TMC 3(1), 2004",
        parameters: &[
            parameter("x-min", METRE, "0", "Western edge of the area."),
            parameter("x-max", METRE, "100", "Eastern edge."),
            parameter("y-min", METRE, "0", "Southern edge."),
            parameter("y-max", METRE, "100", "Northern edge."),
            parameter("min-speed", SPEED, "0.5", "Lowest speed; above zero."),
            parameter("max-speed", SPEED, "1.5", "Highest speed."),
            parameter("pause", ParameterKind::Span, "2 s", "Pause at each place."),
        ],
    },
];

const SIGNED_SPEED: ParameterKind = ParameterKind::Number {
    min: -1000.0,
    max: 1000.0,
    unit: "m/s",
};
