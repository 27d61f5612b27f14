//! Limits of values, shapes that keys of several tables share, and former names of keys.

use crate::quantity::Dimension;
use crate::shape::{Range, Shape};

/// Longest time in a scenario, in nanoseconds: one million seconds.
const MAX_TIME: f64 = 1e15;
/// Shortest period or timer, in nanoseconds: 1 µs. A shorter one would make more rows than a disk
/// can store, and more events than a run can process.
pub(super) const MIN_TIME: f64 = 1e3;
/// Unit of the times and periods of RRC, in nanoseconds: 1 ms.
///
/// Standard: TS 36.331; TS 38.331 §6.3.2.
const MIN_RRC_TIME: f64 = 1e6;
/// Shortest time in a schedule of interruptions, in nanoseconds: 10 µs.
const MIN_OUTAGE: f64 = 1e4;
/// Highest rate, in bits per second.
const MAX_RATE: f64 = 1e13;
/// Maximum number of bytes in a buffer or a transfer, for keys of the scenario file.
const MAX_SIZE: f64 = 1e12;
/// Maximum number of packets in a buffer.
const MAX_PACKETS: f64 = 1e9;
/// Maximum number of UEs, including those that a `count` makes.
pub(crate) const MAX_UES: u64 = 20_000;
/// Maximum number of flows, including those that a `count` makes.
pub(crate) const MAX_FLOWS: u64 = 100_000;
/// Maximum number of links, of blockages and of nodes.
pub(crate) const MAX_ELEMENTS: usize = 100_000;

pub(crate) const TIME: Shape = Shape::Quantity(Dimension::Time, Range::closed(0.0, MAX_TIME));
pub(crate) const POSITIVE_TIME: Shape =
    Shape::Quantity(Dimension::Time, Range::closed(MIN_TIME, MAX_TIME));
pub(crate) const RRC_TIME: Shape =
    Shape::Quantity(Dimension::Time, Range::closed(MIN_RRC_TIME, MAX_TIME));
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
const DEGREES: Shape = Shape::Number(Range::closed(-180.0, 180.0));
/// Latitude and longitude.
pub(crate) const COORDINATES: Shape = Shape::Pair(&DEGREES, &DEGREES);

/// Former names of keys, with the present names. If several keys had the same former name, the key
/// that exists in the table is meant.
pub(crate) const RENAMED: &[(&str, &str)] = &[
    ("bearer", "rab"),
    ("scheduler", "mac-scheduler"),
    ("scheduler", "path-scheduler"),
    ("uplink-scheduler", "uplink-mac-scheduler"),
];
