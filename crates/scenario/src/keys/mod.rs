//! The scenario format: every key with its shape, default and documentation.

mod blockage;
mod link;
mod multipath;
mod rab;

use crate::model::{BUILDING, Cell, LinkInfoSettings, Multipath, Ue};
use crate::quantity::Dimension;
use crate::shape::{Key, Presence, Range, Shape, Variant};
use Presence::{Default, FirstOfKind, Optional, Required};
use blockage::BLOCKAGE;
use link::LINK;
pub(crate) use multipath::{MAX_PATHS, PATH};
use rab::RAB;

pub(crate) const fn key(
    name: &'static str,
    shape: Shape,
    presence: Presence,
    doc: &'static str,
) -> Key {
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
/// Most UEs, after `count` is expanded.
pub(crate) const MAX_UES: u64 = 20_000;
/// Most flows, after `count` is expanded.
pub(crate) const MAX_FLOWS: u64 = 100_000;
/// Most links, blockages and nodes each.
pub(crate) const MAX_ELEMENTS: usize = 100_000;

pub(crate) const TIME: Shape = Shape::Quantity(Dimension::Time, Range::closed(0.0, MAX_TIME));
pub(crate) const POSITIVE_TIME: Shape = Shape::Quantity(Dimension::Time, Range::positive(MAX_TIME));
pub(crate) const OUTAGE: Shape =
    Shape::Quantity(Dimension::Time, Range::closed(MIN_OUTAGE, MAX_TIME));
pub(crate) const RATE: Shape = Shape::Quantity(Dimension::Rate, Range::positive(MAX_RATE));
pub(crate) const RATE_OR_ZERO: Shape =
    Shape::Quantity(Dimension::Rate, Range::closed(0.0, MAX_RATE));
pub(crate) const FRAMING: Shape = Shape::Quantity(Dimension::Size, Range::closed(0.0, 1500.0));
pub(crate) const SIZE: Shape = Shape::Quantity(Dimension::Size, Range::positive(MAX_SIZE));
pub(crate) const PACKETS: Shape = Shape::Quantity(Dimension::Packets, Range::positive(MAX_PACKETS));
pub(crate) const LENGTH: Shape = Shape::Quantity(Dimension::Length, Range::positive(1e6));
pub(crate) const LENGTH_OR_ZERO: Shape =
    Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e6));
pub(crate) const LOSS_DB: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 300.0));
pub(crate) const BEAMWIDTH: Shape = Shape::Quantity(Dimension::Angle, Range::positive(180.0));
pub(crate) const PROBABILITY: Shape = Shape::Number(Range::closed(0.0, 1.0));

/// Keys by their earlier names. An old name of several keys is told by the table it stands in.
pub(crate) const RENAMED: &[(&str, &str)] = &[
    ("bearer", "rab"),
    ("scheduler", "mac-scheduler"),
    ("scheduler", "path-scheduler"),
    ("uplink-scheduler", "uplink-mac-scheduler"),
];

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
        "rab",
        Shape::Map(RAB),
        Optional,
        "Radio access bearers of 2G and 3G by name, from a base station to a phone; hops as links are.",
    ),
    key(
        "cell",
        Shape::Map(Cell::KEYS),
        Optional,
        "Cells of base stations by name.",
    ),
    key(
        "ue",
        Shape::Map(Ue::KEYS),
        Optional,
        "Radio interfaces by name, each with a bearer to the cell that serves it.",
    ),
    key(
        "building",
        Shape::Map(BUILDING),
        Optional,
        "Buildings by name; they cut lines of sight where a channel takes them from geometry.",
    ),
    key(
        "blockage",
        Shape::Map(BLOCKAGE),
        Optional,
        "Interruptions of links and bearers, by name.",
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

/// The keys of a flow.
static FLOW: &[Key] = &[
    key(
        "from",
        Shape::Reference,
        Required,
        "Node that sends the data. A UE with a `count` makes a flow for each of its nodes, called \
         NAME-0, NAME-1, ….",
    ),
    key(
        "to",
        Shape::Reference,
        Required,
        "Node that receives the data.",
    ),
    key(
        "route",
        Shape::List(&Shape::Reference),
        Optional,
        "Links and radio interfaces that the data crosses, in order; what comes back takes them the \
         other way. Without it the fewest hops.",
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
    key(
        "arrivals",
        Shape::Table(ARRIVALS),
        Optional,
        "Flows that arrive at random times from `start` to the end of the run, called NAME-0, \
         NAME-1, … instead of one; each with an application of its own size.",
    ),
    key(
        "multipath",
        Shape::Table(Multipath::KEYS),
        Optional,
        "Makes the flow a Multipath TCP connection over several paths.",
    ),
    key(
        "link-info",
        Shape::Table(LinkInfoSettings::KEYS),
        Optional,
        "Cross-layer information: a hop of the path tells both ends its rate and its blockages. \
         Schemes that use it say so; without the key nobody is told.",
    ),
];

static ARRIVALS: &[Key] = &[
    key(
        "rate",
        Shape::Number(Range::positive(1e6)),
        Required,
        "Mean number of arrivals in a second; the gaps are exponential (a Poisson process).",
    ),
    key(
        "size",
        SIZE,
        Required,
        "Mean size, for the application's `size`.",
    ),
    key(
        "distribution",
        Shape::Choice(&[
            ("constant", "Every size is the mean."),
            ("exponential", "Exponential."),
            ("uniform", "Uniform from zero to twice the mean."),
            ("pareto", "Pareto; `shape` is its tail index, above 1."),
            (
                "log-normal",
                "Log-normal; `shape` is the standard deviation of the logarithm.",
            ),
        ]),
        Default("\"constant\""),
        "Distribution of sizes.",
    ),
    key(
        "shape",
        Shape::Number(Range::closed(0.1, 10.0)),
        Default("1.5"),
        "Shape of a Pareto or log-normal distribution.",
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
        "transport-blocks",
        Shape::Bool,
        Default("false"),
        "Each transport block of a radio interface: SINR, CQI, MCS, size, HARQ round and fate.",
    ),
    key(
        "bearers",
        Shape::AnyOf(&[POSITIVE_TIME, Shape::Word("every-packet"), Shape::False]),
        Default("\"10 ms\""),
        "RLC and PDCP buffers of each bearer: at most once in this long, or at every packet.",
    ),
    key(
        "radio-delay",
        Shape::Bool,
        Default("false"),
        "Each packet's delay on a bearer, split into its parts.",
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
    key(
        "radio-capture",
        Shape::AnyOf(&[Shape::List(&Shape::Reference), Shape::False]),
        Default("false"),
        "Cells and UEs whose transport blocks are written to a pcapng file, with MAC, RLC and PDCP \
         headers.",
    ),
    key(
        "radio-capture-snap",
        Shape::Quantity(Dimension::Size, Range::closed(128.0, 262_144.0)),
        Default("\"262144 B\""),
        "Bytes kept of each captured transport block.",
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
