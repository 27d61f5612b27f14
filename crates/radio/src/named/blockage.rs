//! Blockages by name.

use super::entry;
use crate::channel::blockage::{
    Blockage, Crossing, Crowd, FourState, ModelA, Onset, Passing, Periodic, Phase, Surroundings,
    TwoState,
};
use fadeout_core::registry::{Entry, Parameter, Parameters, choice, flag, integer, number, span};
use fadeout_core::{Span, Time};

const LOSS: (f64, f64, &str) = (0.0, 300.0, "dB");
const SIZE: (f64, f64, &str) = (0.01, 100.0, "m");
const SPEED: (f64, f64, &str) = (0.01, 300.0, "m/s");

const fn loss(default: &'static str) -> Parameter {
    number("loss", LOSS, default, "Loss while blocked.")
}

const fn phase(default: &'static str) -> Parameter {
    choice(
        "phase",
        &["fixed", "random"],
        default,
        "Whether the first starts at `first`, or has its middle anywhere in the first period, drawn \
         for each link.",
    )
}

const FIRST: Parameter = span(
    "first",
    "5 s",
    "Start of the first, with the phase `fixed`.",
);
const PERIOD: Parameter = span("period", "5 s", "From one start to the next.");

/// Every blockage that a scenario can name.
pub static BLOCKAGES: &[Entry] = &[
    entry(
        ("periodic", "scripted"),
        "At regular times, of a given loss.",
        "none",
        &[
            phase("fixed"),
            FIRST,
            PERIOD,
            span("duration", "500 ms", "How long each lasts."),
            loss("15"),
        ],
    ),
    entry(
        ("two-state", "random"),
        "Blocked and clear for exponential times.",
        "continuous-time Markov chain",
        &[
            span("mean-blocked", "300 ms", "Mean time blocked."),
            span("mean-clear", "5 s", "Mean time clear."),
            loss("25"),
        ],
    ),
    entry(
        ("four-state", "random"),
        "A pedestrian crowd: decay, shadow, rise.",
        "MacCartney, Rappaport and Rangan, IEEE GLOBECOM 2017; NYUSIM 3 defaults",
        &[number(
            "beamwidth",
            (1.0, 180.0, "deg"),
            "30",
            "Azimuth beamwidth of the UE's antenna, from which rates and depth follow.",
        )],
    ),
    entry(
        ("crowd", "random"),
        "Blockers of a density on the ground, as a Poisson process.",
        "Jain, Kumar and Panwar, Driven by Capacity or Blockage?, 2018",
        &[
            number(
                "density",
                (0.0, 10.0, ""),
                "0.1",
                "Blockers a square metre.",
            ),
            number("speed", SPEED, "1", "Their speed."),
            number("height", (0.1, 10.0, "m"), "1.8", "Their height."),
            span("mean-blocked", "500 ms", "Mean duration of a blockage."),
            loss("25"),
        ],
    ),
    entry(
        ("model-a", "geometric"),
        "Angular blocking regions around the UE, and the user's own body.",
        "TR 38.901 clause 7.6.4.1",
        &[
            flag(
                "indoor",
                "false",
                "Whether the regions are those of an office.",
            ),
            integer("blockers", (0, 64, ""), "4", "Number K of blockers."),
            number("speed", SPEED, "1", "Speed of the blockers."),
        ],
    ),
    entry(
        ("crossing", "geometric"),
        "Persons or vehicles that cross the path at exponential times.",
        "TR 38.901 clause 7.6.4.2 (model B)",
        &[
            choice(
                "blocker",
                &["person", "vehicle"],
                "person",
                "A screen of 0.3 by 1.7 m, or of 4.8 by 1.4 m (TR 38.901 Table 7.6.4.2-5).",
            ),
            number(
                "speed",
                SPEED,
                "0.8333333333333333",
                "Speed across the path; 3 km/h.",
            ),
            number(
                "nearest",
                (0.01, 1e5, "m"),
                "0.5",
                "Nearest distance from the UE.",
            ),
            number(
                "farthest",
                (0.01, 1e5, "m"),
                "5",
                "Farthest distance from the UE.",
            ),
            span(
                "mean-gap",
                "10 s",
                "Mean time from one crossing to the next.",
            ),
        ],
    ),
    entry(
        ("passing", "geometric"),
        "A vehicle that blocks the path at regular times, each time for a given duration.",
        "TR 38.901 clause 7.6.4.2 (model B)",
        &[
            number(
                "width",
                SIZE,
                "4.8",
                "Width across the path (TR 38.901 Table 7.6.4.2-5).",
            ),
            number(
                "height",
                SIZE,
                "1.4",
                "Height above the ground (same table).",
            ),
            number(
                "nearest",
                (0.01, 1e5, "m"),
                "0.5",
                "Nearest distance from the UE; each blockage draws its own.",
            ),
            number(
                "farthest",
                (0.01, 1e5, "m"),
                "1",
                "Farthest distance from the UE.",
            ),
            phase("random"),
            FIRST,
            PERIOD,
            span(
                "duration",
                "200 ms",
                "From the instant one side meets the path to the instant the other leaves it.",
            ),
            choice(
                "onset",
                &["moving", "sudden"],
                "moving",
                "Whether it moves across the path, at the speed that its width and `duration` make, \
                 or stands in the middle of it for `duration`.",
            ),
        ],
    ),
];

/// The blockage called `name`.
pub fn blockage(name: &str, parameters: &Parameters) -> Option<Blockage> {
    Some(match name {
        "periodic" => {
            let default = Periodic::default();
            Blockage::Periodic(Periodic {
                phase: begins(parameters, "fixed"),
                period: parameters.span("period", default.period),
                duration: parameters.span("duration", default.duration),
                loss_db: parameters.number("loss", default.loss_db),
            })
        }
        "two-state" => {
            let default = TwoState::default();
            Blockage::TwoState(TwoState {
                mean_blocked: parameters.span("mean-blocked", default.mean_blocked),
                mean_clear: parameters.span("mean-clear", default.mean_clear),
                loss_db: parameters.number("loss", default.loss_db),
            })
        }
        "four-state" => {
            let width = parameters.number("beamwidth", 30.0);
            Blockage::FourState(FourState::for_beamwidth(width))
        }
        "crowd" => {
            let default = Crowd::default();
            Blockage::Crowd(Crowd {
                density: parameters.number("density", default.density),
                speed: parameters.number("speed", default.speed),
                height_m: parameters.number("height", default.height_m),
                mean_blocked: parameters.span("mean-blocked", default.mean_blocked),
                loss_db: parameters.number("loss", default.loss_db),
                ..default
            })
        }
        "model-a" => {
            let default = ModelA::default();
            Blockage::ModelA(ModelA {
                surroundings: if parameters.flag("indoor", false) {
                    Surroundings::Indoor
                } else {
                    Surroundings::Outdoor
                },
                blockers: parameters.number("blockers", f64::from(default.blockers)) as u32,
                speed: parameters.number("speed", default.speed),
                ..default
            })
        }
        "crossing" => {
            let default = Crossing::default();
            let (width_m, height_m) = match parameters.choice("blocker", "person") {
                "vehicle" => (4.8, 1.4),
                _ => (default.width_m, default.height_m),
            };
            let (near, far) = default.from_ue_m;
            Blockage::Crossing(Crossing {
                width_m,
                height_m,
                speed: parameters.number("speed", default.speed),
                from_ue_m: (
                    parameters.number("nearest", near),
                    parameters.number("farthest", far),
                ),
                mean_gap: default.mean_gap.map(|gap| parameters.span("mean-gap", gap)),
                ..default
            })
        }
        "passing" => {
            let default = Passing::default();
            let (near, far) = default.from_ue_m;
            Blockage::Passing(Passing {
                width_m: parameters.number("width", default.width_m),
                height_m: parameters.number("height", default.height_m),
                from_ue_m: (
                    parameters.number("nearest", near),
                    parameters.number("farthest", far),
                ),
                phase: begins(parameters, "random"),
                period: parameters.span("period", default.period),
                duration: parameters.span("duration", default.duration),
                onset: match parameters.choice("onset", "moving") {
                    "sudden" => Onset::Sudden,
                    _ => Onset::Moving,
                },
            })
        }
        _ => return None,
    })
}

/// Where regular blockages begin.
fn begins(parameters: &Parameters, default: &str) -> Phase {
    match parameters.choice("phase", default) {
        "random" => Phase::Drawn,
        _ => Phase::At(Time::ZERO + parameters.span("first", Span::from_secs(5))),
    }
}
