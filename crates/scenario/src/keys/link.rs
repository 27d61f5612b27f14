//! Links, their rates, queues and losses.

use super::blockage::SCHEDULE;
use super::*;
use crate::model::{Changes, Radio};

/// The keys of a link.
pub(super) static LINK: &[Key] = &[
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
        DELAY_MODEL,
        Required,
        "One-way propagation delay, after transmission.",
    ),
    key(
        "jitter",
        TIME,
        Default("\"0 s\""),
        "Largest extra delay, drawn uniformly from zero to this for each packet.",
    ),
    ORDER_KEY,
    CHANGES_KEY,
    FRAMING_KEY,
    QUEUE_KEY,
    LOSS_KEY,
    key(
        "reverse",
        Shape::Table(REVERSE),
        Default("{}"),
        "The direction from `to` to `from`.",
    ),
];

// What both directions say alike.
const FRAMING_KEY: Key = key(
    "framing",
    FRAMING,
    Default("\"0 B\""),
    "Bytes that each packet takes on the link besides its IP packet: 14 for an Ethernet \
         header, 38 for Ethernet with preamble, checksum and gap.",
);
const QUEUE_KEY: Key = key(
    "queue",
    Shape::Table(QUEUE),
    Default("{}"),
    "The queue in front of the transmitter.",
);
pub(super) const LOSS_KEY: Key = key(
    "loss",
    LOSS,
    Optional,
    "Loss on arrival, random or listed; none without it.",
);
const ORDER_KEY: Key = key(
    "keeps-order",
    Shape::Bool,
    Default("true"),
    "Whether packets keep their order where jitter or a shorter delay would let one overtake another.",
);
const CHANGES_KEY: Key = key(
    "changes",
    Changes::SHAPE,
    Default("\"at-once\""),
    "When a change of rate or delay begins to count.",
);

static REVERSE: &[Key] = &[
    key(
        "rate",
        RATE_MODEL,
        Default("\"unlimited\""),
        "How fast this direction sends.",
    ),
    key(
        "delay",
        DELAY_MODEL,
        Optional,
        "One-way propagation delay; the forward direction's without it.",
    ),
    key(
        "jitter",
        TIME,
        Default("\"0 s\""),
        "Largest extra delay, as for the link.",
    ),
    ORDER_KEY,
    CHANGES_KEY,
    FRAMING_KEY,
    QUEUE_KEY,
    LOSS_KEY,
];

const RATE_MODEL: Shape = Shape::AnyOf(&[
    RATE,
    Shape::Word("unlimited"),
    Shape::Variants(&[STEPS, OFF, TRACE, RATE_SERIES, BUDGET]),
]);

const DELAY_MODEL: Shape = Shape::AnyOf(&[TIME, Shape::Variants(&[DELAY_STEPS, DELAY_SERIES])]);

const DELAY_STEPS: Variant = Variant {
    key: "steps",
    doc: "A delay that steps at given instants.",
    keys: &[
        key(
            "steps",
            Shape::List(&Shape::Pair(&TIME, &TIME)),
            Required,
            "Start of each step and its delay. The first starts at \"0 s\"; starts increase.",
        ),
        REPEAT_KEY,
    ],
};

const REPEAT_KEY: Key = key(
    "repeat-every",
    POSITIVE_TIME,
    Optional,
    "After this long the steps start over; without it the last one stays.",
);

const RATE_SERIES: Variant = Variant {
    key: "series",
    doc: "A measured rate, from a file that may hold a delay too.",
    keys: SERIES,
};
const DELAY_SERIES: Variant = Variant {
    key: "series",
    doc: "A measured delay, from a file that may hold a rate too.",
    keys: SERIES,
};

static SERIES: &[Key] = &[
    key(
        "series",
        Shape::Text,
        Required,
        "Path, relative to the scenario file. Its first line names the columns, separated by commas: \
         `time_s` with `rate_mbps`, `delay_ms` or both; each row holds until the time of the next.",
    ),
    REPEAT_KEY,
];

pub(super) const STEPS: Variant = Variant {
    key: "steps",
    doc: "A rate that steps at given instants.",
    keys: &[
        key(
            "steps",
            Shape::List(&Shape::Pair(&TIME, &RATE_OR_ZERO)),
            Required,
            "Start of each step and its rate. The first starts at \"0 s\"; starts increase.",
        ),
        REPEAT_KEY,
    ],
};

pub(super) const OFF: Variant = Variant {
    key: "off",
    doc: "A link that is on at a constant rate, and off at times.",
    keys: &[
        key("rate", RATE, Required, "The rate while on."),
        key("off", SCHEDULE, Required, "When it is off."),
    ],
};

pub(super) const TRACE: Variant = Variant {
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
};

const BUDGET: Variant = Variant {
    key: "radio",
    doc: "The rate that a directional link budget gives.",
    keys: &[key(
        "radio",
        Shape::Table(Radio::KEYS),
        Required,
        "The link budget.",
    )],
};

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
    DISCIPLINE_KEY,
];

pub(super) const DISCIPLINE_KEY: Key = key(
    "discipline",
    Shape::Named {
        kind: "queue-discipline",
        tag: "name",
    },
    FirstOfKind,
    "Which packets the queue drops or marks.",
);

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
    Variant {
        key: "arrivals",
        doc: "Listed packets, by the order of their arrival.",
        keys: &[key(
            "arrivals",
            Shape::AnyOf(&[
                Shape::Text,
                Shape::List(&Shape::Integer {
                    min: 1,
                    max: i64::MAX as u64,
                }),
            ]),
            Required,
            "Ordinals of the arrivals that are lost, increasing, 1 the first packet; or the path of a \
             file with one a line, relative to the scenario file.",
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
