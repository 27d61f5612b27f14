//! Radio access bearers of 2G and 3G.

use super::link::DISCIPLINE;
use super::{Loss, Named, QueueLimit, RateModel};
use crate::keys::RATE;
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Shape, chosen};
use crate::table::{key_table, nested};
use fadeout_core::NodeId;

key_table! {
    /// A radio access bearer (RAB, TS 23.107) of 2G or 3G between a base station and a phone. It is
    /// called `rab` in a file. Data radio bearers of UEs have the type [`Bearer`](super::Bearer).
    #[derive(Debug, Clone, PartialEq)]
    pub struct Rab {
        own {
            /// Name of the bearer in the file.
            name: String,
            /// Base station of the bearer, where the downlink starts.
            from: NodeId,
            /// Phone of the bearer, where the downlink ends.
            to: NodeId,
        }
        /// Node of the base station, where the downlink starts.
        "from" = Shape::Reference, Required;
        /// Node of the phone, where the downlink ends.
        "to" = Shape::Reference, Required;
        /// Radio technology of the bearer. It determines rates, transmission intervals, delays and
        /// errors.
        technology: Named = Shape::Named { kind: "radio-access-bearer", tag: "name" }, Required;
        /// Settings of the downlink only, from `from` to `to`.
        downlink: RabDirection = Shape::Table(RabDirection::KEYS), Default("{}");
        /// Settings of the uplink only, from `to` to `from`.
        uplink: RabDirection = Shape::Table(RabDirection::KEYS), Default("{}");
    }
}

key_table! {
    /// The settings of one direction of a radio access bearer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RabDirection {
        own {}
        /// Rate in place of the technology's rate. Blocks and errors remain those of the
        /// technology. With a `trace` there are no blocks and errors, because its delivery
        /// opportunities include their effect.
        rate: Option<RateModel> = Shape::AnyOf(&[
            RATE,
            Shape::Variants(&chosen(RateModel::VARIANTS, ["steps", "off", "trace"])),
        ]), Optional;
        /// Queue in front of the transmitter. A packet stays in the queue until it has been
        /// transmitted.
        queue: RabQueue = Shape::Table(RabQueue::KEYS), Default("{}");
        /// Loss of arriving packets, random or listed. Default: no loss.
        loss: Option<Loss> = Shape::Variants(&chosen(
            Loss::VARIANTS,
            ["probability", "steps", "gilbert-elliott", "arrivals"],
        )), Optional;
    }
}

key_table! {
    /// The queue of a radio access bearer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RabQueue {
        own {}
        /// Limit of the queue. The limit is a number of packets, a number of bytes, or the time in
        /// which the bearer sends the queued bytes. Default: the bytes sent in 300 ms, but at least
        /// 30 kB.
        limit: Option<QueueLimit> = QueueLimit::SHAPE, Optional;
        /// Queue discipline. It determines which packets the queue drops or marks.
        discipline: Named = DISCIPLINE, FirstOfKind;
    }
}

nested!(RabDirection, RabQueue);
