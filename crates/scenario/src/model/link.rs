//! Links: their rates, delays, queues and losses.

use super::measurement::refuse_measurement;
use super::schedule::{SCHEDULE, Schedule};
use super::{File, Named, Radio};
use crate::build::Builder;
use crate::keys::{FRAMING, PACKETS, POSITIVE_TIME, PROBABILITY, RATE, RATE_OR_ZERO, SIZE, TIME};
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Key, Shape, key, with_changed};
use crate::table::{KeyValue, key_table, nested, variants, word_choice};
use fadeout_core::agreed::Changes;
use fadeout_core::{Bytes, NodeId, Rate, Span, Time};
use serde_json::{Value, json};

key_table! {
    /// A link between two nodes. It has two directions.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Link {
        own {
            /// Name of the link in the file.
            name: String,
            /// Node where the forward direction starts.
            from: NodeId,
            /// Node where the forward direction ends.
            to: NodeId,
            /// Direction from `from` to `to`.
            forward: LinkDirection,
            /// Direction from `to` to `from`.
            reverse: LinkDirection,
        }
        /// Node where the forward direction starts.
        "from" = Shape::Reference, Required;
        /// Node where the forward direction ends.
        "to" = Shape::Reference, Required;
        ..LinkDirection;
        /// Direction from `to` to `from`. Keys that are not given have their own defaults, but the
        /// default of `delay` is that of the forward direction.
        "reverse" = Shape::Table(REVERSE), Default("{}");
    }
}

/// Keys of the reverse direction of a link.
const REVERSE: &[Key] = &with_changed::<{ LinkDirection::KEYS.len() }>(
    LinkDirection::KEYS,
    &[
        key(
            "rate",
            RATE_MODEL,
            Default("\"unlimited\""),
            "Rate at which this direction sends.",
        ),
        key(
            "delay",
            DELAY_MODEL,
            Optional,
            "One-way propagation delay of this direction. Default: the delay of the forward \
             direction.",
        ),
        key(
            "jitter",
            TIME,
            Default("\"0 s\""),
            "Largest additional delay of this direction. Each packet draws its own, uniformly from \
             zero to this value.",
        ),
    ],
);

key_table! {
    /// One direction of a link.
    #[derive(Debug, Clone, PartialEq)]
    pub struct LinkDirection {
        own {
            /// Propagation delay of a packet after its transmission.
            delay: DelayModel,
        }
        check = LinkDirection::with_a_limit;
        /// Rate at which the link sends.
        rate: RateModel = RATE_MODEL, Required;
        /// One-way propagation delay of a packet after its transmission.
        "delay" = DELAY_MODEL, Required;
        /// Largest additional delay of a packet. Each packet draws its delay uniformly from zero to
        /// this value.
        jitter: Span = TIME, Default("\"0 s\"");
        /// True if packets keep their order even when jitter or a shorter delay would let a packet
        /// overtake another packet.
        keeps_order: bool = Shape::Bool, Default("true");
        /// Time at which a change of rate or delay takes effect.
        changes: Changes = Shape::Choice(Changes::WORDS), Default("\"at-once\"");
        /// Bytes that each packet occupies on the link in addition to its IP packet. An Ethernet
        /// header has 14 B. Including preamble, checksum and gap, Ethernet adds 38 B.
        framing: Bytes = FRAMING, Default("\"0 B\"");
        /// Queue in front of the transmitter.
        queue: Queue = Shape::Table(Queue::KEYS), Default("{}");
        /// Loss of packets that arrive at the link: random, measured or listed. Default: no loss.
        loss: Option<Loss> = LOSS, Optional;
    }
}

impl LinkDirection {
    /// Rejects a queue limit in time for a link of unlimited rate, because such a link needs no
    /// time to send.
    fn with_a_limit(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if matches!(self.queue.limit, QueueLimit::Time(_))
            && self.rate == RateModel::Constant(Rate::UNLIMITED)
        {
            let queue = fields.fields("queue")?;
            let message = "a queue limit in time needs a link with a rate";
            let expected = "packets or bytes, for an unlimited rate";
            builder.mistake(queue.place_of("limit"), message, expected);
            return None;
        }
        Some(self)
    }

    /// Returns the direction with all its keys.
    pub(crate) fn whole(&self) -> serde_json::Map<String, Value> {
        let mut table = self.written();
        crate::table::put(&mut table, Self::KEYS, "delay", &self.delay);
        table
    }
}

const RATE_MODEL: Shape = Shape::AnyOf(&[
    RATE,
    Shape::Word("unlimited"),
    Shape::Variants(RateModel::VARIANTS),
]);

/// Declares a rate, a delay or a loss over time. The enum has the variants that all share. Its own
/// variants are before the shared variants, between them and after them.
macro_rules! over_time {
    (
        $(#[$meta:meta])*
        pub enum $name:ident of $type:ty {
            alone { $($alone:tt)* }
            own { $($first:tt)* }
            $(#[doc = $steps_doc:literal])+
            Steps = $shape:expr,
            $(#[doc = $step_doc:literal])+;
            own { $($before:tt)* }
            $(#[doc = $series_doc:literal])+
            Series;
            own { $($after:tt)* }
        }
    ) => {
        variants! {
            $(#[$meta])*
            pub enum $name {
                alone { $($alone)* }
                check = $name::in_order;
                $($first)*
                $(#[doc = $steps_doc])+
                Steps as "steps" {
                    $(#[doc = $step_doc])+
                    steps: Vec<(Time, $type)> = Shape::List(&Shape::Pair(&TIME, &$shape)), Required;
                    /// Time after which the steps repeat. Default: no repetition, so the last step
                    /// lasts to the end of the run.
                    repeat_every: Option<Span> = POSITIVE_TIME, Optional;
                }
                $($before)*
                $(#[doc = $series_doc])+
                Series as "series" {
                    /// Path of a text table, relative to the scenario file. Its first line names
                    /// the columns, separated by commas: `time_s`, and at least one of
                    /// `rate_mbps`, `delay_ms` and `loss_share`, the share of lost packets from 0
                    /// to 1. Each row is valid until the time of the next row.
                    series: File = SERIES, Required;
                    /// Time after which the rows repeat. Default: no repetition, so the last row is
                    /// valid to the end of the run.
                    repeat_every: Option<Span> = POSITIVE_TIME, Optional;
                }
                $($after)*
            }
        }
    };
}

over_time! {
    /// Rate of a link over time.
    #[derive(Debug, Clone, PartialEq)]
    pub enum RateModel of Rate {
        alone {
            /// Constant rate, which may be [`Rate::UNLIMITED`].
            Constant(Rate),
        }
        own {}
        /// Rate that changes in steps at given times.
        Steps = RATE_OR_ZERO,
        /// Start of each step and its rate. The first step starts at "0 s". Each step starts after
        /// the previous one.
        ;
        own {
            /// Constant rate, with intervals in which the link is off.
            OnOff as "off" {
                /// Rate of the link while it is on.
                rate: Rate = RATE, Required;
                /// Times at which the link is off.
                off: Schedule = SCHEDULE, Required;
            }
            /// Delivery opportunities from a mahimahi trace file.
            Trace as "trace" {
                /// Path of the trace file, relative to the scenario file.
                trace: File =
                    Shape::File("a mahimahi trace, relative to the scenario file"), Required;
                /// True if the trace starts again at its end. If false, the link sends nothing
                /// after the end of the trace.
                repeat: bool = Shape::Bool, Default("true");
            }
        }
        /// Measured rate from a file, which may also contain a delay and a loss.
        Series;
        own {
            /// Rate of a measurement.
            Measurement as "measurement" {
                /// Name of the measurement.
                measurement: String = Shape::Text, Required;
                /// Quantity of the measurement that is the rate.
                quantity: RateQuantity = RateQuantity::SHAPE, Default("\"rate\"");
            }
            /// Rate computed from the link budget of a directional radio link.
            Radio as "radio" {
                /// Link budget of the radio link.
                radio: Radio = Shape::Table(Radio::KEYS), Required;
            }
        }
    }
}

const SERIES: Shape =
    Shape::File("a table of times with rates, delays or losses, relative to the scenario file");

impl RateModel {
    /// Returns the parameters of the link budget. `None` if the rate is not computed from one.
    pub fn radio(&self) -> Option<&Radio> {
        match self {
            RateModel::Radio { radio } => Some(radio),
            _ => None,
        }
    }

    fn in_order(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if matches!(self, RateModel::Measurement { .. }) {
            refuse_measurement(fields, builder);
            return None;
        }
        if let RateModel::Steps {
            steps,
            repeat_every,
        } = &self
        {
            check_steps(steps, *repeat_every, fields, builder)?;
            if steps.iter().all(|(_, rate)| rate.is_zero()) {
                let message = "the rate is never above zero";
                let expected = "at least one rate above zero";
                builder.mistake(fields.place_of("steps"), message, expected);
            }
        }
        Some(self)
    }
}

word_choice! {
    /// The quantity of a measurement that is the rate of a link.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RateQuantity {
        /// The rate towards the phone.
        Rate = "rate",
        /// The rate from the phone.
        UplinkRate = "uplink-rate",
    }
}

const DELAY_MODEL: Shape = Shape::AnyOf(&[TIME, Shape::Variants(DelayModel::VARIANTS)]);

over_time! {
    /// Delay of a link over time.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum DelayModel of Span {
        alone {
            /// Constant delay.
            Constant(Span),
        }
        own {}
        /// Delay that changes in steps at given times.
        Steps = TIME,
        /// Start of each step and its delay. The first step starts at "0 s". Each step starts after
        /// the previous one.
        ;
        own {}
        /// Measured delay from a file, which may also contain a rate and a loss.
        Series;
        own {
            /// Delay of a measurement.
            Measurement as "measurement" {
                /// Name of the measurement.
                measurement: String = Shape::Text, Required;
                /// Quantity of the measurement that gives the delay.
                quantity: DelayQuantity = DelayQuantity::SHAPE, Default("\"delay\"");
            }
        }
    }
}

word_choice! {
    /// The quantity of a measurement that gives the delay of a link.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DelayQuantity {
        /// The one-way delay.
        Delay = "delay",
        /// Half of the round-trip time.
        RoundTrip = "round-trip",
    }
}

impl DelayModel {
    fn in_order(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if matches!(self, DelayModel::Measurement { .. }) {
            refuse_measurement(fields, builder);
            return None;
        }
        if let DelayModel::Steps {
            steps,
            repeat_every,
        } = &self
        {
            check_steps(steps, *repeat_every, fields, builder)?;
        }
        Some(self)
    }
}

/// Checks that steps start at zero, follow each other, and end before they repeat.
fn check_steps<T>(
    steps: &[(Time, T)],
    repeat_every: Option<Span>,
    fields: &Fields,
    builder: &mut Builder<'_, '_>,
) -> Option<()> {
    let mut before = None;
    for ((start, _), item) in steps.iter().zip(fields.list("steps")) {
        let place = item.pair()?.0.place;
        match before {
            None if *start != Time::ZERO => {
                builder.mistake(place, "the first step starts late", "\"0 s\"");
                return None;
            }
            Some(before) if *start <= before => {
                let message = format!("this step does not start after the one at {before}");
                builder.mistake(place, message, "starts that increase");
                return None;
            }
            _ => before = Some(*start),
        }
    }
    let last = before?;
    if repeat_every.is_some_and(|every| Time::ZERO + every <= last) {
        let message = format!("the steps repeat before the last one starts, at {last}");
        let place = fields.place_of("repeat-every");
        builder.mistake(place, message, "a time after the last start");
    }
    Some(())
}

key_table! {
    /// The queue in front of a link's transmitter.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Queue {
        own {}
        /// Limit of the queue. The limit is a number of packets, a number of bytes, or the time in
        /// which the link sends the queued bytes.
        limit: QueueLimit = QueueLimit::SHAPE, Default("\"1000 packets\"");
        /// True if packets in propagation also count towards the limit, as in netem.
        counts_delay_line: bool = Shape::Bool, Default("false");
        /// Queue discipline. It determines which packets the queue drops or marks.
        discipline: Named = DISCIPLINE, FirstOfKind;
    }
}

pub(super) const DISCIPLINE: Shape = Shape::Named {
    kind: "queue-discipline",
    tag: "name",
};

/// The limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueLimit {
    /// Limit as a number of packets.
    Packets(u64),
    /// Limit as a number of bytes.
    Bytes(Bytes),
    /// Limit as a time: the bytes that the link sends in this time. A link with a variable rate
    /// uses its mean rate.
    Time(Span),
}

impl QueueLimit {
    pub(super) const SHAPE: Shape = Shape::AnyOf(&[PACKETS, SIZE, POSITIVE_TIME]);
}

impl KeyValue for QueueLimit {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Quantity(Dimension::Packets, packets) => {
                Some(QueueLimit::Packets(packets as u64))
            }
            Content::Quantity(Dimension::Size, bytes) => {
                Some(QueueLimit::Bytes(Bytes(bytes as u64)))
            }
            _ => Span::from_item(item, builder).map(QueueLimit::Time),
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match self {
            QueueLimit::Packets(packets) => Some(json!(Dimension::Packets.format(*packets as f64))),
            QueueLimit::Bytes(bytes) => bytes.written(shape),
            QueueLimit::Time(span) => span.written(shape),
        }
    }
}

const LOSS: Shape = Shape::Variants(Loss::VARIANTS);

over_time! {
    /// Loss of packets on a link: random, measured or listed.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Loss of f64 {
        alone {}
        own {
            /// Independent loss of each packet.
            Independent as "probability" {
                /// Probability that a packet is lost.
                probability: f64 = PROBABILITY, Required;
            }
        }
        /// Independent loss of each packet, with a probability that changes at given times.
        Steps = PROBABILITY,
        /// Start of each step and its probability. The first step starts at "0 s". Each step starts
        /// after the previous one.
        ;
        own {}
        /// Measured loss from a file, which may also contain a rate and a delay.
        Series;
        own {
            /// Loss of a measurement.
            Measurement as "measurement" {
                /// Name of the measurement, which has the quantity `loss`.
                measurement: String = Shape::Text, Required;
            }
            /// Loss with two states, good and bad. The state may change before each packet
            /// (Gilbert-Elliott model).
            GilbertElliott as "gilbert-elliott" {
                /// The two states of the Gilbert-Elliott model.
                states as "gilbert-elliott": GilbertElliott =
                    Shape::Table(GilbertElliott::KEYS), Required;
            }
            /// Loss of listed packets, given by the order of their arrival.
            Arrivals as "arrivals" {
                /// Ordinals of the lost packets in the order of arrival, increasing, where 1 is the
                /// first packet. Or the path of a file with one ordinal in each line, relative to
                /// the scenario file.
                arrivals: LostArrivals = Shape::AnyOf(&[
                    Shape::File(
                        "a file with one ordinal in each line, relative to the scenario file",
                    ),
                    Shape::List(&Shape::Integer { min: 1, max: i64::MAX as u64 }),
                ]), Required;
            }
        }
    }
}

impl Loss {
    fn in_order(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match &self {
            Loss::Measurement { .. } => {
                refuse_measurement(fields, builder);
                return None;
            }
            Loss::Steps {
                steps,
                repeat_every,
            } => check_steps(steps, *repeat_every, fields, builder)?,
            _ => {}
        }
        Some(self)
    }
}

key_table! {
    /// The states of the Gilbert-Elliott loss model.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct GilbertElliott {
        own {}
        /// Probability that the state changes from good to bad before a packet.
        to_bad: f64 = PROBABILITY, Required;
        /// Probability that the state changes from bad to good before a packet.
        to_good: f64 = PROBABILITY, Required;
        /// Probability that a packet is lost in the good state.
        loss_good: f64 = PROBABILITY, Default("0.0");
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64 = PROBABILITY, Default("1.0");
    }
}

/// The packets that are lost, by the order of their arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LostArrivals {
    /// Ordinals of the lost packets in increasing order, where 1 is the first packet.
    Listed(Vec<u64>),
    /// Ordinals in a file, which the crate `link` parses.
    OfFile(File),
}

impl KeyValue for LostArrivals {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::List(items) = &item.content else {
            return File::from_item(item, builder).map(LostArrivals::OfFile);
        };
        let mut ordinals: Vec<u64> = Vec::with_capacity(items.len());
        for item in items {
            let ordinal = u64::from_item(item, builder)?;
            if let Some(before) = ordinals.last().filter(|before| ordinal <= **before) {
                let message = format!("{ordinal} comes after {before}");
                builder.mistake(item.place, message, "ordinals that increase");
                return None;
            }
            ordinals.push(ordinal);
        }
        Some(LostArrivals::Listed(ordinals))
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match self {
            LostArrivals::Listed(ordinals) => Some(json!(ordinals)),
            LostArrivals::OfFile(file) => file.written(shape),
        }
    }
}

nested!(Queue, GilbertElliott);
