//! The movement models that a scenario can name.

use fadeout_core::registry::{Entry, number, span};

const METRES: (f64, f64, &str) = (-1e6, 1e6, "m");
const SPEED: (f64, f64, &str) = (0.0, 1000.0, "m/s");
const SIGNED_SPEED: (f64, f64, &str) = (-1000.0, 1000.0, "m/s");

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
            number("x-speed", SIGNED_SPEED, "0", "Speed towards east."),
            number("y-speed", SIGNED_SPEED, "0", "Speed towards north."),
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
            number("x-min", METRES, "0", "Western edge of the area."),
            number("x-max", METRES, "100", "Eastern edge."),
            number("y-min", METRES, "0", "Southern edge."),
            number("y-max", METRES, "100", "Northern edge."),
            number("min-speed", SPEED, "0.5", "Lowest speed; above zero."),
            number("max-speed", SPEED, "1.5", "Highest speed."),
            span("pause", "2 s", "Pause at each place."),
        ],
    },
];
