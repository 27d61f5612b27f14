//! Blockages of links and bearers.

use super::schedule::{SCHEDULE, Schedule};
use super::{Medium, Named};
use crate::build::Builder;
use crate::keys::{LENGTH, LENGTH_OR_ZERO, LOSS_DB, PACKETS, RATE, SIZE};
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue, key_table, nested, unchecked, variants, word_choice};
use fadeout_core::{Bytes, Decibel, Hertz, Meters, Rate};
use serde_json::{Value, json};

key_table! {
    /// A recurring interruption of a link or bearer. It is caused by a schedule, by contention, or
    /// by obstacles between the ends.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Blockage {
        own {
            /// Name of the blockage in the file.
            name: String,
            /// Link or bearer of 2G or 3G that is interrupted.
            medium: Medium,
        }
        check = Blockage::consistent;
        /// Link or bearer that is interrupted.
        "link" = Shape::Reference, Required;
        /// Direction that is interrupted.
        direction: Directions = Directions::SHAPE, Default("\"both\"");
        /// Times of the interruptions. Give exactly one of `schedule`, `contention` and
        /// `in-between`.
        schedule: Option<Schedule> = SCHEDULE, Optional;
        /// Interruptions of a directional link by contention at its ends: a station is not heard
        /// while the other's beam points elsewhere. The only model is `deafness`. Give exactly one
        /// of `schedule`, `contention` and `in-between`.
        contention: Option<Named> =
            Shape::Named { kind: "blockage-model", tag: "model" }, Optional;
        /// Interruptions while buildings, vehicles or foliage obstruct the straight path between
        /// the link's ends, which are nodes of UEs. Give exactly one of `schedule`, `contention`
        /// and `in-between`.
        in_between: Option<InBetween> = Shape::Table(InBetween::KEYS), Optional;
        /// Treatment of packets during the interruption.
        effect: BlockageEffect = BlockageEffect::SHAPE, Default("\"held\"");
        /// Limit of the packets that wait during an interruption with the effect `held`. Default:
        /// only the limit of the link's queue applies.
        hold_limit: Option<HoldLimit> = Shape::AnyOf(&[SIZE, PACKETS]), Optional;
        /// Depth of the interruption: no transmission, an additional loss, a lower rate, or a
        /// blocker.
        depth: BlockageDepth = Shape::AnyOf(&[
            Shape::Word("total"),
            Shape::Variants(BlockageDepth::VARIANTS),
        ]), Default("\"total\"");
    }
}

impl Blockage {
    fn consistent(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if self.hold_limit.is_some() && self.effect != BlockageEffect::Held {
            let message = "a `hold-limit`, but the effect is not \"held\"";
            let expected = "`effect = \"held\"`, or no `hold-limit`";
            builder.mistake(fields.place_of("hold-limit"), message, expected);
        }
        let variants = ["schedule", "contention", "in-between"];
        let given = variants
            .iter()
            .filter(|variant| fields.item(variant).is_some());
        let given = given.count();
        if given > 1 || given == 0 && builder.is_right_so_far() {
            let message = format!(
                "blockage \"{}\" does not give exactly one source of its times",
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
            let expected = "`contention = \"deafness\"`, the only model for links";
            builder.mistake(fields.place_of("contention"), message, expected);
            return None;
        }
        Some(self)
    }
}

key_table! {
    /// Obstacles between the two ends of a link.
    #[derive(Debug, Clone, PartialEq)]
    pub struct InBetween {
        own {}
        /// Carrier frequency of the link. It determines the loss behind vehicles and in foliage.
        carrier: Hertz = Shape::Quantity(Dimension::Frequency, Range::closed(1e5, 3e11)), Required;
        /// Loss behind vehicles and in foliage above which no packet passes. Buildings always let
        /// no packet pass.
        threshold: Decibel = LOSS_DB, Default("\"10 dB\"");
    }
}

nested!(InBetween);

word_choice! {
    /// The directions of a link that an interruption affects.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Directions {
        /// Both directions are interrupted.
        Both = "both",
        /// The direction from the link's `from` to its `to` is interrupted. For a bearer this is
        /// the downlink.
        Forward = "forward",
        /// The direction from the link's `to` to its `from` is interrupted. For a bearer this is
        /// the uplink.
        Reverse = "reverse",
    }
}

impl Directions {
    /// Returns true if the forward direction is interrupted.
    pub fn has_forward(self) -> bool {
        self != Directions::Reverse
    }
    /// Returns true if the reverse direction is interrupted.
    pub fn has_reverse(self) -> bool {
        self != Directions::Forward
    }
}

word_choice! {
    /// The fate of packets during an interruption.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BlockageEffect {
        /// Packets wait and are delivered after the interruption, as with RLC in acknowledged mode.
        Held = "held",
        /// Packets that are sent during the interruption are lost, as without link-layer
        /// retransmission.
        Lost = "lost",
        /// Packets that arrive during the interruption are dropped. Packets already in the link are
        /// delivered.
        DroppedOnArrival = "dropped-on-arrival",
    }
}

/// Limit of the packets that wait during an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldLimit {
    /// Limit as a number of packets.
    Packets(u64),
    /// Limit as a number of bytes.
    Bytes(Bytes),
}

impl KeyValue for HoldLimit {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Quantity(Dimension::Packets, packets) => {
                Some(HoldLimit::Packets(packets as u64))
            }
            _ => Bytes::from_item(item, builder).map(HoldLimit::Bytes),
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
    /// The depth of an interruption, which is its effect on the transmission of a link.
    #[derive(Debug, Clone, PartialEq)]
    pub enum BlockageDepth {
        alone {
            /// The link transmits nothing during the interruption.
            Total = "total",
        }
        check = unchecked;
        /// Additional loss in the link budget, for a link with a `radio` rate.
        Loss as "loss" {
            /// Additional loss in the link budget during the interruption.
            loss: Decibel = LOSS_DB, Required;
        }
        /// The link has a lower rate.
        Rate as "rate" {
            /// Rate of the link during the interruption.
            rate: Rate = RATE, Required;
        }
        /// A blocker stands in the path of a link with a `radio` rate.
        Geometry as "geometry" {
            /// Size and position of the blocker.
            geometry: Blocker = Shape::Table(Blocker::KEYS), Required;
        }
    }
}

key_table! {
    /// Blocker of a radio link: an upright rectangle between transmitter and receiver.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Blocker {
        own {}
        /// Width of the blocker across the path.
        width as "blocker-width": Meters = LENGTH, Required;
        /// Height of the blocker above ground.
        height as "blocker-height": Meters = LENGTH, Required;
        /// Distance of the blocker from the receiver. With a pair [nearest, farthest], each
        /// blockage draws a distance uniformly between them.
        distance as "blocker-distance": Distances =
            Shape::AnyOf(&[LENGTH, Shape::Pair(&LENGTH, &LENGTH)]), Required;
        /// Sideways distance of the blocker's centre from the path.
        offset as "blocker-offset": Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
    }
}

/// Nearest and farthest distance of a blocker. Both are equal if the blocker is fixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distances {
    /// Nearest distance of the blocker.
    pub near: Meters,
    /// Farthest distance of the blocker.
    pub far: Meters,
}

impl KeyValue for Distances {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let (near, far) = item.pair().unwrap_or((item, item));
        let (near, far) = (
            Meters::from_item(near, builder)?,
            Meters::from_item(far, builder)?,
        );
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
