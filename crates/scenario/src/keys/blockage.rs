//! Schedules and blockages.

use super::*;
use crate::model::{Blocker, Directions};

/// When something recurs.
pub(super) const SCHEDULE: Shape = Shape::Variants(&[
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
pub(super) static BLOCKAGE: &[Key] = &[
    key(
        "link",
        Shape::Reference,
        Required,
        "The link or bearer that is interrupted.",
    ),
    key(
        "direction",
        Directions::SHAPE,
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
            Shape::Table(Blocker::KEYS),
            Required,
            "The blocker.",
        )],
    },
];
