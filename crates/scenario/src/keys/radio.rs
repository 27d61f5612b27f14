//! Cells, user equipment, buildings.

use super::*;

const PLACE: Shape = Shape::Quantity(Dimension::Length, Range::closed(-1e6, 1e6));
const POSITION: Shape = Shape::Pair(&PLACE, &PLACE);
const HEIGHT: Shape = Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e4));
const POWER: Shape = Shape::Quantity(Dimension::Power, Range::closed(-50.0, 80.0));
const NOISE_FIGURE: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 30.0));
const FREQUENCY: Shape = Shape::Quantity(Dimension::Frequency, Range::closed(1e5, 3e11));
const SINR: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-50.0, 100.0));
const SPEED: Shape = Shape::Quantity(Dimension::Speed, Range::closed(0.0, 1000.0));

/// Most UEs, after `count` is expanded.
pub(crate) const MAX_UES: u64 = 20_000;

const fn antenna(doc: &'static str) -> Key {
    key(
        "antenna",
        Shape::Named {
            kind: "antenna",
            tag: "kind",
        },
        FirstOfKind,
        doc,
    )
}

const fn mac_scheduler(name: &'static str, doc: &'static str) -> Key {
    key(
        name,
        Shape::Named {
            kind: "mac-scheduler",
            tag: "name",
        },
        FirstOfKind,
        doc,
    )
}

/// The keys of a cell.
pub(super) static CELL: &[Key] = &[
    key(
        "node",
        Shape::Text,
        Optional,
        "Node of the base station, to which links lead; the cell's own name without it. Several \
         cells may share a node.",
    ),
    key(
        "position",
        POSITION,
        Default("[\"0 m\", \"0 m\"]"),
        "Where its antenna stands: east and north.",
    ),
    key(
        "height",
        HEIGHT,
        Default("\"10 m\""),
        "Height of its antenna above ground.",
    ),
    key(
        "radio",
        Shape::Named {
            kind: "radio",
            tag: "kind",
        },
        FirstOfKind,
        "The radio technology, with frame structure, HARQ, scheduling requests and link \
         adaptation.",
    ),
    key("carrier", FREQUENCY, Required, "Carrier frequency."),
    key("bandwidth", FREQUENCY, Required, "Channel bandwidth."),
    key(
        "tx-power",
        POWER,
        Default("\"30 dBm\""),
        "Transmit power over the whole bandwidth.",
    ),
    key(
        "noise-figure",
        NOISE_FIGURE,
        Default("\"5 dB\""),
        "Noise figure of the base station's receiver (TR 36.942).",
    ),
    antenna("Antenna of the base station."),
    key(
        "channel",
        Shape::Table(CHANNEL),
        Required,
        "What happens to the signal between the cell and its UEs.",
    ),
    mac_scheduler("mac-scheduler", "Which UE the downlink serves next."),
    mac_scheduler("uplink-mac-scheduler", "Which UE the uplink serves next."),
];

/// The keys of a cell's channel.
static CHANNEL: &[Key] = &[
    key(
        "path-loss",
        Shape::Named {
            kind: "path-loss",
            tag: "model",
        },
        Required,
        "Path loss, with its own probabilities of line of sight and its own shadowing.",
    ),
    key(
        "line-of-sight",
        Shape::Choice(&[
            (
                "drawn",
                "By the model's probabilities, alike at neighbouring places.",
            ),
            (
                "soft",
                "Drawn, and one state passes into the other over a few metres (TR 38.901 clause \
                 7.6.3.3).",
            ),
            ("clear", "Always in sight."),
            ("obstructed", "Never in sight."),
            ("geometry", "Cut by the file's buildings."),
        ]),
        Default("\"drawn\""),
        "How it is decided whether a UE is in line of sight.",
    ),
    key(
        "shadowing",
        Shape::Bool,
        Default("true"),
        "Whether the loss varies around its median, with the model's deviation and correlation.",
    ),
    key(
        "fading",
        Shape::NameOf("fading"),
        Optional,
        "Small-scale fading in line of sight and out of it; without it Rician and Rayleigh.",
    ),
    key(
        "k-factor",
        Shape::AnyOf(&[
            Shape::Quantity(Dimension::Ratio, Range::closed(-60.0, 60.0)),
            Shape::Word("drawn"),
        ]),
        Default("\"9 dB\""),
        "Power of the direct path over that of all others, for Rician fading (mean of UMi in \
         TR 38.901 Table 7.5-6); \"drawn\" takes it from the place, by the path loss's law in that \
         table, in line of sight.",
    ),
    key(
        "delay-spread",
        Shape::AnyOf(&[
            Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e5)),
            Shape::Word("drawn"),
        ]),
        Default("\"100 ns\""),
        "RMS delay spread of tapped delay lines (nominal of TR 38.901 Table 7.7.3-1); \"drawn\" \
         takes it from the place, by the path loss's law in Table 7.5-6.",
    ),
    key(
        "sub-bands",
        Shape::Integer { min: 1, max: 64 },
        Default("16"),
        "Sub-bands in which wideband fading is sampled.",
    ),
    key(
        "environment-speed",
        SPEED,
        Default("\"3 km/h\""),
        "Speed of what moves around a UE; it makes the channel of a UE that stands still change.",
    ),
    key(
        "blockage",
        Shape::Named {
            kind: "blockage-model",
            tag: "model",
        },
        Optional,
        "What stands in the way at times; nothing without it.",
    ),
    key(
        "ue-antenna",
        Shape::Named {
            kind: "antenna",
            tag: "kind",
        },
        FirstOfKind,
        "Antenna of the UEs on this carrier.",
    ),
    key(
        "beam-tracking",
        POSITIVE_TIME,
        Optional,
        "From one beam measurement to the next, with recovery from beam failure; without it \
         steered beams always point right.",
    ),
    key(
        "beam-switching-delay",
        TIME,
        Default("\"5 ms\""),
        "From a beam measurement to the use of the new beam.",
    ),
    key(
        "beam-failure-threshold",
        Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 100.0)),
        Default("\"10 dB\""),
        "Loss by blockage and misalignment above which a beam measurement has failed; three in a \
         row are a beam failure.",
    ),
    key(
        "beam-recovery-delay",
        Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e10)),
        Default("\"20 ms\""),
        "From a beam failure to the use of the beam found instead; nothing is received meanwhile.",
    ),
    key(
        "reflected-path",
        Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 100.0)),
        Optional,
        "Loss, against the clear direct path, of a reflected path that recovery finds; without it \
         recovery comes back to the direct path.",
    ),
    key(
        "oxygen",
        Shape::Bool,
        Default("true"),
        "Whether oxygen absorbs, which it does from 52 to 68 GHz (TR 38.901 clause 7.6.1).",
    ),
    key(
        "rain",
        Shape::Number(Range::closed(0.0, 500.0)),
        Default("0"),
        "Rain in millimetres an hour (ITU-R P.838-3); 25 is heavy.",
    ),
];

/// The keys of a radio interface.
pub(super) static UE: &[Key] = &[
    key(
        "node",
        Shape::Text,
        Optional,
        "Node whose interface it is; the UE's own name without it. A node with several radio \
         interfaces has a UE for each, which all start and move alike.",
    ),
    key(
        "count",
        Shape::Integer {
            min: 1,
            max: MAX_UES,
        },
        Optional,
        "This many UEs and nodes, called NAME-0, NAME-1, … instead of one. A flow that names \
         NAME becomes a flow for each.",
    ),
    key(
        "cell",
        Shape::Reference,
        Optional,
        "Cell that serves it; without it the one received strongest at the start.",
    ),
    key(
        "position",
        POSITION,
        Default("[\"0 m\", \"0 m\"]"),
        "Where it starts: east and north.",
    ),
    key(
        "spread",
        Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e6)),
        Optional,
        "Each starts at a place drawn uniformly from the disc of this radius around `position`.",
    ),
    key(
        "height",
        HEIGHT,
        Default("\"1.5 m\""),
        "Height of its antenna above ground.",
    ),
    key(
        "mobility",
        Shape::Named {
            kind: "mobility",
            tag: "model",
        },
        FirstOfKind,
        "How it moves.",
    ),
    key(
        "waypoints",
        Shape::List(&Shape::Table(WAYPOINT)),
        Optional,
        "Places it passes in turn, instead of a `mobility` model; it rests at the last.",
    ),
    key(
        "trace",
        Shape::Table(TRACE),
        Optional,
        "A movement trace it follows, instead of a `mobility` model.",
    ),
    key(
        "tx-power",
        POWER,
        Default("\"23 dBm\""),
        "Most power it transmits (power class 3, TS 36.101 and 38.101-1).",
    ),
    key(
        "noise-figure",
        NOISE_FIGURE,
        Default("\"9 dB\""),
        "Noise figure of its receiver (TR 36.942).",
    ),
    key(
        "downlink-sinr",
        SINR,
        Optional,
        "A given SINR of the downlink, with `uplink-sinr`, instead of what the channel makes.",
    ),
    key("uplink-sinr", SINR, Optional, "A given SINR of the uplink."),
    key(
        "rlc",
        RLC,
        FirstOfKind,
        "RLC mode of its bearer, with timers and buffer.",
    ),
    key("pdcp", PDCP, FirstOfKind, "PDCP of its bearer."),
    key(
        "drb",
        Shape::Map(DRB),
        Optional,
        "Data radio bearers beside the default one, by name. A flow takes one if its `route` names \
         UE/NAME.",
    ),
];

const RLC: Shape = Shape::Named {
    kind: "rlc",
    tag: "mode",
};

const PDCP: Shape = Shape::Named {
    kind: "pdcp",
    tag: "name",
};

static DRB: &[Key] = &[
    key("rlc", RLC, FirstOfKind, "RLC mode, with timers and buffer."),
    key("pdcp", PDCP, FirstOfKind, "Its PDCP."),
    key(
        "priority",
        Shape::Integer { min: 1, max: 16 },
        Default("8"),
        "Priority of its logical channel: 1 is served first. The default bearer's is 8.",
    ),
    key(
        "prioritised-bit-rate",
        RATE,
        Optional,
        "Rate up to which each channel is served before the rest goes to the higher priorities \
         (prioritisedBitRate); without it a channel takes all it can in its turn.",
    ),
    key(
        "bucket-size-duration",
        POSITIVE_TIME,
        Default("\"100 ms\""),
        "How long an unused prioritised rate adds up (bucketSizeDuration).",
    ),
];

static WAYPOINT: &[Key] = &[
    key("position", POSITION, Required, "The place: east and north."),
    key("speed", SPEED, Required, "Speed on the way to it."),
    key("pause", TIME, Default("\"0 s\""), "How long to stay there."),
];

static TRACE: &[Key] = &[
    key(
        "file",
        Shape::Text,
        Required,
        "The trace file, relative to the scenario file.",
    ),
    key(
        "format",
        Shape::Choice(&[
            ("ns-2", "Commands of ns-2's `setdest`."),
            (
                "sumo-fcd",
                "Floating car data of SUMO, written by --fcd-output.",
            ),
        ]),
        Required,
        "Its format.",
    ),
    key(
        "id",
        Shape::Text,
        Required,
        "Number of the node or id of the vehicle in the file.",
    ),
];

/// The keys of a building.
pub(super) static BUILDING: &[Key] = &[
    key(
        "corner",
        POSITION,
        Required,
        "A corner of its footprint: east and north. Walls stand along the axes.",
    ),
    key("opposite", POSITION, Required, "The corner opposite."),
    key("height", LENGTH, Required, "Height of its roof."),
];
