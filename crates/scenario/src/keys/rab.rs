//! Radio access bearers of 2G and 3G.

use super::link::{DISCIPLINE_KEY, LOSS_KEY, OFF, STEPS, TRACE};
use super::*;

/// The keys of a radio access bearer.
pub(super) static RAB: &[Key] = &[
    key(
        "from",
        Shape::Reference,
        Required,
        "Node of the base station, where the downlink starts.",
    ),
    key(
        "to",
        Shape::Reference,
        Required,
        "Node of the phone, where the downlink ends.",
    ),
    key(
        "technology",
        Shape::Named {
            kind: "radio-access-bearer",
            tag: "name",
        },
        Required,
        "The radio technology, with rates, intervals, delays and errors.",
    ),
    key(
        "downlink",
        Shape::Table(DIRECTION),
        Default("{}"),
        "What is special about the direction `from` to `to`.",
    ),
    key(
        "uplink",
        Shape::Table(DIRECTION),
        Default("{}"),
        "What is special about the direction `to` to `from`.",
    ),
];

static DIRECTION: &[Key] = &[
    key(
        "rate",
        Shape::AnyOf(&[RATE, Shape::Variants(&[STEPS, OFF, TRACE])]),
        Optional,
        "How fast it sends, instead of the technology's rate; still in the technology's blocks and \
         with its errors, but for a trace, whose opportunities have them in.",
    ),
    key(
        "queue",
        Shape::Table(QUEUE),
        Default("{}"),
        "The queue in front of the transmitter; a packet counts until it is through.",
    ),
    LOSS_KEY,
];

static QUEUE: &[Key] = &[
    key(
        "limit",
        Shape::AnyOf(&[PACKETS, SIZE, POSITIVE_TIME]),
        Optional,
        "How much the queue holds: packets, bytes, or the time to send it at the bearer's rate. \
         Without it what is sent in 300 ms, and at least 30 kB.",
    ),
    DISCIPLINE_KEY,
];
