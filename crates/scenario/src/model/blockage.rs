//! Blockages of links and bearers.

use super::schedule::{SCHEDULE, Schedule};
use super::{Medium, Named};
use crate::build::Builder;
use crate::keys::{LENGTH, LENGTH_OR_ZERO, LOSS_DB, PACKETS, RATE, SIZE};
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue, nested, table, unchecked, variants, words};
use fadeout_core::{Bytes, Decibel, Hertz, Meters, Rate};
use serde_json::{Value, json};

table! {
    /// A recurring interruption of a link: at given times, by contention, or by what comes between its ends.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Blockage {
        own {
            /// Its name in the file.
            name: String,
            /// The link or bearer of 2G or 3G.
            medium: Medium,
        }
        check = Blockage::consistent;
        /// The link or bearer that is interrupted.
        "link" = Shape::Reference, Required;
        /// Which direction is interrupted.
        direction: Directions = Directions::SHAPE, Default("\"both\"");
        /// When it happens.
        schedule: Option<Schedule> = SCHEDULE, Optional;
        /// In place of a schedule: the link is directional, and contention at its ends says when it is not heard. The blockage
        /// model `deafness`.
        contention: Option<Named> =
            Shape::Named { kind: "blockage-model", tag: "model" }, Optional;
        /// In place of a schedule: it happens when buildings, vehicles or foliage are in the straight path between the link's
        /// ends, which are nodes of UEs.
        in_between: Option<InBetween> = Shape::Table(InBetween::KEYS), Optional;
        /// The fate of packets during the blockage.
        effect: BlockageEffect = BlockageEffect::SHAPE, Default("\"held\"");
        /// How much may wait when held; without it the link's queue limit alone applies.
        hold_limit: Option<HoldLimit> = Shape::AnyOf(&[SIZE, PACKETS]), Optional;
        /// How much of the link is left.
        depth: BlockageDepth = Shape::AnyOf(&[
            Shape::Word("total"),
            Shape::Variants(BlockageDepth::VARIANTS),
        ]), Default("\"total\"");
    }
}

impl Blockage {
    fn consistent(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if self.hold_limit.is_some() && self.effect != BlockageEffect::Held {
            let message = "a `hold-limit` without packets that are held";
            let expected = "`effect = \"held\"` with it";
            builder.mistake(fields.place_of("hold-limit"), message, expected);
        }
        let ways = ["schedule", "contention", "in-between"];
        let given = ways.iter().filter(|way| fields.item(way).is_some());
        let given = given.count();
        if given > 1 || given == 0 && builder.is_right_so_far() {
            let message = format!(
                "blockage \"{}\" does not say once when it happens",
                self.name
            );
            let expected = "one of `schedule`, `contention` and `in-between`";
            builder.mistake(fields.place, message, expected);
            return None;
        }
        if let Some(model) = &self.contention
            && model.name != "deafness"
        {
            let message = format!("the blockage model \"{}\" on a link", model.name);
            let expected = "`contention = \"deafness\"`; other models are of a cell's channel";
            builder.mistake(fields.place_of("contention"), message, expected);
            return None;
        }
        Some(self)
    }
}

table! {
    /// What may come between the ends of a link.
    #[derive(Debug, Clone, PartialEq)]
    pub struct InBetween {
        own {}
        /// Carrier, which says how much is lost behind vehicles and within foliage.
        carrier: Hertz = Shape::Quantity(Dimension::Frequency, Range::closed(1e5, 3e11)), Required;
        /// Loss behind vehicles and within foliage from which on nothing passes; a building leaves nothing.
        threshold: Decibel = LOSS_DB, Default("\"10 dB\"");
    }
}

nested!(InBetween);

words! {
    /// One direction of a link, or both.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Directions {
        /// both directions
        Both = "both",
        /// from the link's `from` to its `to`: a bearer's downlink
        Forward = "forward",
        /// from the link's `to` to its `from`: a bearer's uplink
        Reverse = "reverse",
    }
}

impl Directions {
    /// Whether the forward direction is among them.
    pub fn has_forward(self) -> bool {
        self != Directions::Reverse
    }
    /// Whether the reverse direction is among them.
    pub fn has_reverse(self) -> bool {
        self != Directions::Forward
    }
}

words! {
    /// The fate of packets during a blockage.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BlockageEffect {
        /// packets wait and are delivered afterwards, as by RLC acknowledged mode
        Held = "held",
        /// what is sent is lost, as without link-layer retransmission
        Lost = "lost",
        /// arriving packets are dropped, the ones inside go on
        DroppedOnArrival = "dropped-on-arrival",
    }
}

/// How much may wait during a blockage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldLimit {
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
}

impl KeyValue for HoldLimit {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Quantity(Dimension::Packets, packets) => {
                Some(HoldLimit::Packets(packets as u64))
            }
            _ => Bytes::of(item, builder).map(HoldLimit::Bytes),
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match self {
            HoldLimit::Packets(packets) => Some(json!(Dimension::Packets.format(*packets as f64))),
            HoldLimit::Bytes(bytes) => bytes.written(shape),
        }
    }
}

variants! {
    /// How much of the link is left during a blockage.
    #[derive(Debug, Clone, PartialEq)]
    pub enum BlockageDepth {
        alone {
            /// Nothing.
            Total = "total",
        }
        check = unchecked;
        /// The link budget loses this much more; the link has a `radio` rate.
        Loss as "loss" {
            /// Additional loss.
            loss: Decibel = LOSS_DB, Required;
        }
        /// The link falls to this rate.
        Rate as "rate" {
            /// Rate that is left.
            rate: Rate = RATE, Required;
        }
        /// A blocker stands in the path; the link has a `radio` rate.
        Geometry as "geometry" {
            /// The blocker.
            geometry: Blocker = Shape::Table(Blocker::KEYS), Required;
        }
    }
}

table! {
    /// An upright rectangle between transmitter and receiver.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Blocker {
        own {}
        /// Width across the path.
        width as "blocker-width": Meters = LENGTH, Required;
        /// Height above ground.
        height as "blocker-height": Meters = LENGTH, Required;
        /// Distance from the receiver; of a pair, nearest and farthest, one is drawn uniformly for
        /// each blockage.
        distance as "blocker-distance": Distances =
            Shape::AnyOf(&[LENGTH, Shape::Pair(&LENGTH, &LENGTH)]), Required;
        /// Distance of the blocker's centre from the path, sideways.
        offset as "blocker-offset": Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
    }
}

/// Nearest and farthest distance of a blocker; both are equal where it is fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distances {
    /// The nearest.
    pub near: Meters,
    /// The farthest.
    pub far: Meters,
}

impl KeyValue for Distances {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let (near, far) = item.pair().unwrap_or((item, item));
        let (near, far) = (Meters::of(near, builder)?, Meters::of(far, builder)?);
        if near > far {
            let message = "the nearest distance is beyond the farthest";
            builder.mistake(item.place, message, "[nearest, farthest]");
            return None;
        }
        Some(Distances { near, far })
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        Some(json!([self.near.written(shape)?, self.far.written(shape)?]))
    }
}

nested!(Blocker);
