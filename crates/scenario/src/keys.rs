//! The scenario format: every key with its shape, default and documentation.

use crate::quantity::Dimension;
use crate::shape::{Key, Presence, Range, Shape, Variant};
use Presence::{Default, FirstOfKind, Optional, Required};

const fn key(name: &'static str, shape: Shape, presence: Presence, doc: &'static str) -> Key {
    Key {
        name,
        shape,
        presence,
        doc,
    }
}

/// Longest time, in nanoseconds: a million seconds.
const MAX_TIME: f64 = 1e15;
/// Shortest time in a schedule of outages, in nanoseconds: 10 µs.
const MIN_OUTAGE: f64 = 1e4;
/// Highest rate, in bits per second.
const MAX_RATE: f64 = 1e13;
/// Most bytes in a buffer or a transfer of the file's own keys.
const MAX_SIZE: f64 = 1e12;
/// Most packets in a buffer.
const MAX_PACKETS: f64 = 1e9;
/// Most flows, after `count` is expanded.
pub(crate) const MAX_FLOWS: u64 = 100_000;
/// Most links, blockages and nodes each.
pub(crate) const MAX_ELEMENTS: usize = 100_000;

const TIME: Shape = Shape::Quantity(Dimension::Time, Range::closed(0.0, MAX_TIME));
const POSITIVE_TIME: Shape = Shape::Quantity(Dimension::Time, Range::positive(MAX_TIME));
const OUTAGE: Shape = Shape::Quantity(Dimension::Time, Range::closed(MIN_OUTAGE, MAX_TIME));
const RATE: Shape = Shape::Quantity(Dimension::Rate, Range::positive(MAX_RATE));
const RATE_OR_ZERO: Shape = Shape::Quantity(Dimension::Rate, Range::closed(0.0, MAX_RATE));
const SIZE: Shape = Shape::Quantity(Dimension::Size, Range::positive(MAX_SIZE));
const PACKETS: Shape = Shape::Quantity(Dimension::Packets, Range::positive(MAX_PACKETS));
const LENGTH: Shape = Shape::Quantity(Dimension::Length, Range::positive(1e6));
const LENGTH_OR_ZERO: Shape = Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e6));
const LOSS_DB: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 300.0));
const BEAMWIDTH: Shape = Shape::Quantity(Dimension::Angle, Range::positive(180.0));
const PROBABILITY: Shape = Shape::Number(Range::closed(0.0, 1.0));

/// The keys of a file.
pub(crate) static SCENARIO: &[Key] = &[
    key(
        "title",
        Shape::Text,
        Default("\"\""),
        "What the scenario is about; titles the figures.",
    ),
    key("duration", POSITIVE_TIME, Required, "How long to simulate."),
    key(
        "seed",
        Shape::Integer {
            min: 0,
            max: i64::MAX as u64,
        },
        Default("1"),
        "Seed of every random stream. The same seed gives the same run, bit for bit.",
    ),
    key(
        "node",
        Shape::Map(NODE),
        Optional,
        "Hosts and routers by name. A link declares the nodes it names, so this table is not \
         needed.",
    ),
    key("link", Shape::Map(LINK), Optional, "Links by name."),
    key(
        "blockage",
        Shape::Map(BLOCKAGE),
        Optional,
        "Interruptions of links, by name.",
    ),
    key(
        "flow",
        Shape::Map(FLOW),
        Optional,
        "Transport connections by name.",
    ),
    key(
        "probe",
        Shape::Table(PROBE),
        Default("{}"),
        "What is recorded.",
    ),
];

static NODE: &[Key] = &[];

/// The keys of a link.
pub(crate) static LINK: &[Key] = &[
    key(
        "from",
        Shape::Reference,
        Required,
        "Node where the forward direction starts.",
    ),
    key(
        "to",
        Shape::Reference,
        Required,
        "Node where the forward direction ends.",
    ),
    key("rate", RATE_MODEL, Required, "How fast the link sends."),
    key(
        "delay",
        TIME,
        Required,
        "One-way propagation delay, after transmission.",
    ),
    key(
        "jitter",
        TIME,
        Default("\"0 s\""),
        "Largest extra delay, drawn uniformly from zero to this for each packet. Packets are \
         never reordered.",
    ),
    key(
        "queue",
        Shape::Table(QUEUE),
        Default("{}"),
        "The queue in front of the transmitter.",
    ),
    key("loss", LOSS, Optional, "Random loss; none without it."),
    key(
        "reverse",
        Shape::Table(REVERSE),
        Default("{}"),
        "The direction from `to` to `from`.",
    ),
];

static REVERSE: &[Key] = &[
    key(
        "rate",
        RATE_MODEL,
        Default("\"unlimited\""),
        "How fast this direction sends.",
    ),
    key(
        "delay",
        TIME,
        Optional,
        "One-way propagation delay; the forward direction's without it.",
    ),
    key(
        "jitter",
        TIME,
        Default("\"0 s\""),
        "Largest extra delay, as for the link.",
    ),
    key(
        "queue",
        Shape::Table(QUEUE),
        Default("{}"),
        "The queue in front of the transmitter.",
    ),
    key("loss", LOSS, Optional, "Random loss; none without it."),
];

const RATE_MODEL: Shape = Shape::AnyOf(&[
    RATE,
    Shape::Word("unlimited"),
    Shape::Variants(RATE_VARIANTS),
]);

static RATE_VARIANTS: &[Variant] = &[
    Variant {
        key: "steps",
        doc: "A rate that steps at given instants.",
        keys: &[
            key(
                "steps",
                Shape::List(&Shape::Pair(&TIME, &RATE_OR_ZERO)),
                Required,
                "Start of each step and its rate. The first starts at \"0 s\"; starts increase.",
            ),
            key(
                "repeat-every",
                POSITIVE_TIME,
                Optional,
                "After this long the steps start over; without it the last one stays.",
            ),
        ],
    },
    Variant {
        key: "off",
        doc: "A link that is on at a constant rate, and off at times.",
        keys: &[
            key("rate", RATE, Required, "The rate while on."),
            key("off", SCHEDULE, Required, "When it is off."),
        ],
    },
    Variant {
        key: "trace",
        doc: "Delivery opportunities from a mahimahi trace file.",
        keys: &[
            key(
                "trace",
                Shape::Text,
                Required,
                "Path, relative to the scenario file.",
            ),
            key(
                "repeat",
                Shape::Bool,
                Default("true"),
                "Whether it starts over at its end.",
            ),
        ],
    },
    Variant {
        key: "radio",
        doc: "The rate that a directional link budget gives.",
        keys: &[key(
            "radio",
            Shape::Table(RADIO),
            Required,
            "The link budget.",
        )],
    },
];

static RADIO: &[Key] = &[
    key(
        "carrier",
        Shape::Quantity(Dimension::Frequency, Range::closed(1e8, 1e12)),
        Required,
        "Carrier frequency.",
    ),
    key(
        "bandwidth",
        Shape::Quantity(Dimension::Frequency, Range::closed(1e3, 1e11)),
        Required,
        "Occupied bandwidth.",
    ),
    key(
        "tx-power",
        Shape::Quantity(Dimension::Power, Range::closed(-100.0, 100.0)),
        Required,
        "Transmit power.",
    ),
    key(
        "tx-beamwidth",
        BEAMWIDTH,
        Required,
        "Half-power beamwidth at the transmitter.",
    ),
    key(
        "rx-beamwidth",
        BEAMWIDTH,
        Required,
        "Half-power beamwidth at the receiver.",
    ),
    key(
        "distance",
        LENGTH,
        Required,
        "Ground distance between transmitter and receiver.",
    ),
    key(
        "tx-height",
        LENGTH,
        Default("\"10 m\""),
        "Antenna height of the transmitter.",
    ),
    key(
        "rx-height",
        LENGTH,
        Default("\"1 m\""),
        "Antenna height of the receiver. At 1.5 m the path passes over a car of 1.4 m close by.",
    ),
    key(
        "noise-figure",
        Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 50.0)),
        Default("\"10 dB\""),
        "Noise figure of the receiver.",
    ),
    key(
        "implementation-loss",
        Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 50.0)),
        Default("\"1 dB\""),
        "Distance of code and receiver from the bound, as a loss of signal-to-noise ratio.",
    ),
    key(
        "elevation-beamwidth",
        BEAMWIDTH,
        Default("\"65 deg\""),
        "Half-power beamwidth of both antennas in elevation; only their gains depend on it.",
    ),
    key(
        "antenna-efficiency",
        Shape::Number(Range {
            min: 0.0,
            max: 1.0,
            is_open: true,
        }),
        Default("0.7"),
        "Share of the ideal directivity that the antennas reach.",
    ),
    key(
        "layers",
        Shape::Integer { min: 1, max: 8 },
        Default("1"),
        "Spatial layers, which share the power and each carry the full spectral efficiency.",
    ),
    key(
        "overhead",
        Shape::Number(Range::closed(0.0, 0.99)),
        Default("0.18"),
        "Share of resource elements that carry no data (TS 38.306 clause 4.1.2).",
    ),
    key(
        "mcs-table",
        Shape::Choice(&[
            ("64qam", "TS 38.214 Table 5.1.3.1-1"),
            ("256qam", "TS 38.214 Table 5.1.3.1-2"),
            ("64qam-low-se", "TS 38.214 Table 5.1.3.1-3"),
        ]),
        Default("\"64qam\""),
        "Modulation and coding schemes to choose from.",
    ),
    key("max-rate", RATE, Optional, "Upper bound on the rate."),
];

static QUEUE: &[Key] = &[
    key(
        "limit",
        Shape::AnyOf(&[PACKETS, SIZE, POSITIVE_TIME]),
        Default("\"1000 packets\""),
        "How much the queue holds: packets, bytes, or the time to send it at the link's rate.",
    ),
    key(
        "counts-delay-line",
        Shape::Bool,
        Default("false"),
        "Whether the limit also counts packets that are propagating, as netem's does.",
    ),
    key(
        "discipline",
        Shape::Named {
            kind: "queue-discipline",
            tag: "name",
        },
        FirstOfKind,
        "Which packets the queue drops or marks.",
    ),
];

const LOSS: Shape = Shape::Variants(&[
    Variant {
        key: "probability",
        doc: "Each packet alike, independently.",
        keys: &[key(
            "probability",
            PROBABILITY,
            Required,
            "Probability that a packet is lost.",
        )],
    },
    Variant {
        key: "gilbert-elliott",
        doc: "Two states, good and bad, that may change before each packet.",
        keys: &[key(
            "gilbert-elliott",
            Shape::Table(GILBERT_ELLIOTT),
            Required,
            "The states.",
        )],
    },
]);

static GILBERT_ELLIOTT: &[Key] = &[
    key(
        "to-bad",
        PROBABILITY,
        Required,
        "Probability to go from good to bad, per packet.",
    ),
    key(
        "to-good",
        PROBABILITY,
        Required,
        "Probability to go from bad to good, per packet.",
    ),
    key(
        "loss-good",
        PROBABILITY,
        Default("0.0"),
        "Loss probability in the good state.",
    ),
    key(
        "loss-bad",
        PROBABILITY,
        Default("1.0"),
        "Loss probability in the bad state.",
    ),
];

const SCHEDULE: Shape = Shape::Variants(&[
    Variant {
        key: "period",
        doc: "Periodic: from phase + k * period, for `duration` each, k = 0, 1, 2, …",
        keys: &[
            key("period", OUTAGE, Required, "Distance between two starts."),
            key(
                "duration",
                OUTAGE,
                Required,
                "Length of each; less than the period.",
            ),
            key(
                "phase",
                Shape::AnyOf(&[TIME, Shape::Word("random")]),
                Optional,
                "Start of the first, less than the period; \"random\" draws it uniformly. \
                 Without it the first ends with the first period.",
            ),
        ],
    },
    Variant {
        key: "intervals",
        doc: "Listed intervals.",
        keys: &[key(
            "intervals",
            Shape::List(&Shape::Pair(&TIME, &POSITIVE_TIME)),
            Required,
            "Start and end of each, in order and disjoint.",
        )],
    },
    Variant {
        key: "mean-clear",
        doc: "Alternating exponential lengths, stationary from the start.",
        keys: &[
            key(
                "mean-clear",
                OUTAGE,
                Required,
                "Mean length of a clear time.",
            ),
            key(
                "mean-blocked",
                OUTAGE,
                Required,
                "Mean length of a blocked time.",
            ),
        ],
    },
]);

/// The keys of a blockage.
pub(crate) static BLOCKAGE: &[Key] = &[
    key(
        "link",
        Shape::Reference,
        Required,
        "The link that is interrupted.",
    ),
    key(
        "direction",
        Shape::Choice(&[
            ("both", "both directions"),
            ("forward", "from the link's `from` to its `to`"),
            ("reverse", "from the link's `to` to its `from`"),
        ]),
        Default("\"both\""),
        "Which direction is interrupted.",
    ),
    key("schedule", SCHEDULE, Required, "When it happens."),
    key(
        "effect",
        Shape::Choice(&[
            (
                "held",
                "packets wait and are delivered afterwards, as by RLC acknowledged mode",
            ),
            (
                "lost",
                "what is sent is lost, as without link-layer retransmission",
            ),
            (
                "dropped-on-arrival",
                "arriving packets are dropped, the ones inside go on",
            ),
        ]),
        Default("\"held\""),
        "What becomes of packets during the blockage.",
    ),
    key(
        "hold-limit",
        Shape::AnyOf(&[SIZE, PACKETS]),
        Optional,
        "How much may wait when held; without it the link's queue limit alone applies.",
    ),
    key(
        "depth",
        Shape::AnyOf(&[Shape::Word("total"), Shape::Variants(DEPTH_VARIANTS)]),
        Default("\"total\""),
        "How much of the link is left.",
    ),
];

static DEPTH_VARIANTS: &[Variant] = &[
    Variant {
        key: "loss",
        doc: "The link budget loses this much more; the link has a `radio` rate.",
        keys: &[key("loss", LOSS_DB, Required, "Additional loss.")],
    },
    Variant {
        key: "rate",
        doc: "The link falls to this rate.",
        keys: &[key("rate", RATE, Required, "Rate that is left.")],
    },
    Variant {
        key: "geometry",
        doc: "A blocker stands in the path; the link has a `radio` rate.",
        keys: &[key(
            "geometry",
            Shape::Table(BLOCKER),
            Required,
            "The blocker.",
        )],
    },
];

static BLOCKER: &[Key] = &[
    key("blocker-width", LENGTH, Required, "Width across the path."),
    key("blocker-height", LENGTH, Required, "Height above ground."),
    key(
        "blocker-distance",
        Shape::AnyOf(&[LENGTH, Shape::Pair(&LENGTH, &LENGTH)]),
        Required,
        "Distance from the receiver; of a pair, nearest and farthest, one is drawn uniformly \
         for each blockage.",
    ),
    key(
        "blocker-offset",
        LENGTH_OR_ZERO,
        Default("\"0 m\""),
        "Distance of the blocker's centre from the path, sideways.",
    ),
];

/// The keys of a flow.
pub(crate) static FLOW: &[Key] = &[
    key(
        "from",
        Shape::Reference,
        Required,
        "Node that sends the data.",
    ),
    key(
        "to",
        Shape::Reference,
        Required,
        "Node that receives the data.",
    ),
    key(
        "start",
        TIME,
        Default("\"0 s\""),
        "When the connection opens.",
    ),
    key(
        "count",
        Shape::Integer {
            min: 1,
            max: MAX_FLOWS,
        },
        Optional,
        "This many flows, called NAME-0, NAME-1, … instead of one.",
    ),
    key(
        "start-spacing",
        TIME,
        Optional,
        "Distance between the starts of two of the `count`; all start together without it.",
    ),
    key(
        "application",
        Shape::Named {
            kind: "application",
            tag: "kind",
        },
        FirstOfKind,
        "What the flow sends.",
    ),
    key(
        "profile",
        Shape::NameOf("profile"),
        FirstOfKind,
        "Which transport stack the ends use.",
    ),
    key(
        "tcp",
        Shape::ParametersOf {
            kind: "profile",
            by: "profile",
        },
        Optional,
        "What differs from the profile.",
    ),
    key(
        "congestion-control",
        Shape::Named {
            kind: "congestion-control",
            tag: "name",
        },
        Optional,
        "The sender's congestion control; without it the profile's.",
    ),
];

static PROBE: &[Key] = &[
    key(
        "congestion",
        Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-ack"), Shape::False]),
        Default("\"10 ms\""),
        "Congestion state of each flow: at most once in this long, or at every ACK.",
    ),
    key(
        "throughput",
        Shape::AnyOf(&[POSITIVE_TIME, Shape::False]),
        Default("\"100 ms\""),
        "Length of the bins in which received bytes are counted.",
    ),
    key(
        "queue",
        Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
        Default("\"10 ms\""),
        "Length of each queue: at most once in this long, or at every packet.",
    ),
    key(
        "drops",
        Shape::Bool,
        Default("true"),
        "Each dropped packet with its cause.",
    ),
    key(
        "retransmissions",
        Shape::Bool,
        Default("true"),
        "Each retransmission with its cause.",
    ),
    key(
        "timeouts",
        Shape::Bool,
        Default("true"),
        "Each retransmission timeout.",
    ),
    key(
        "flow-events",
        Shape::Bool,
        Default("true"),
        "Opening, closing and completion of flows.",
    ),
    key(
        "blockages",
        Shape::Bool,
        Default("true"),
        "Begin and end of each blockage.",
    ),
    key(
        "capture",
        Shape::AnyOf(&[Shape::List(&Shape::Reference), Shape::False]),
        Default("false"),
        "Nodes whose packets are written to a pcapng file.",
    ),
    key(
        "capture-snap",
        Shape::Quantity(Dimension::Size, Range::closed(64.0, 262_144.0)),
        Default("\"96 B\""),
        "Bytes kept of each captured packet.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(keys: &[Key], path: &str) {
        for key in keys {
            let path = format!("{path}.{}", key.name);
            assert!(
                key.doc.ends_with('.') || key.doc.ends_with('…'),
                "{path}: {}",
                key.doc
            );
            let named = key
                .name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(named, "{path} is not kebab-case");
            check_shape(&key.shape, &path);
        }
    }

    fn check_shape(shape: &Shape, path: &str) {
        match shape {
            Shape::Table(keys) | Shape::Map(keys) => check(keys, path),
            Shape::AnyOf(shapes) => shapes.iter().for_each(|shape| check_shape(shape, path)),
            Shape::Variants(variants) => {
                for variant in *variants {
                    let own = variant.keys.iter().find(|key| key.name == variant.key);
                    assert!(own.is_some_and(|key| key.presence == Required), "{path}");
                    check(variant.keys, path);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn every_key_is_kebab_case_and_documented() {
        check(SCENARIO, "");
    }
}
