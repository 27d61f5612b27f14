//! Radio access bearers of 2G and 3G.

use super::link::{DISCIPLINE, LOSS};
use super::{Loss, Named, QueueLimit, RateModel};
use crate::keys::RATE;
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Shape, chosen};
use crate::table::{nested, table};
use fadeout_core::NodeId;

table! {
    /// A radio access bearer (RAB, TS 23.107) of 2G or 3G between a base station and a phone, `rab`
    /// in a file. The data radio bearers of UEs are [`Bearer`](super::Bearer)s.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Rab {
        own {
            /// Its name in the file.
            name: String,
            /// The base station, where the downlink starts.
            from: NodeId,
            /// The phone, where it ends.
            to: NodeId,
        }
        /// Node of the base station, where the downlink starts.
        "from" = Shape::Reference, Required;
        /// Node of the phone, where the downlink ends.
        "to" = Shape::Reference, Required;
        /// The radio technology, with rates, intervals, delays and errors.
        technology: Named = Shape::Named { kind: "radio-access-bearer", tag: "name" }, Required;
        /// Keys of the direction `from` to `to` alone.
        downlink: RabDirection = Shape::Table(RabDirection::KEYS), Default("{}");
        /// Keys of the direction `to` to `from` alone.
        uplink: RabDirection = Shape::Table(RabDirection::KEYS), Default("{}");
    }
}

table! {
    /// The keys of one direction of a radio access bearer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RabDirection {
        own {}
        /// How fast it sends, instead of the technology's rate; still in the technology's blocks and
        /// with its errors, but for a trace, whose opportunities have them in.
        rate: Option<RateModel> = Shape::AnyOf(&[
            RATE,
            Shape::Variants(&chosen(RateModel::VARIANTS, ["steps", "off", "trace"])),
        ]), Optional;
        /// The queue in front of the transmitter; a packet counts until it is through.
        queue: RabQueue = Shape::Table(RabQueue::KEYS), Default("{}");
        /// Loss on arrival, random or listed; none without it.
        loss: Option<Loss> = LOSS, Optional;
    }
}

table! {
    /// The queue of a radio access bearer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RabQueue {
        own {}
        /// How much the queue holds: packets, bytes, or the time to send it at the bearer's rate.
        /// Without it what is sent in 300 ms, and at least 30 kB.
        limit: Option<QueueLimit> = QueueLimit::SHAPE, Optional;
        /// Which packets the queue drops or marks.
        discipline: Named = DISCIPLINE, FirstOfKind;
    }
}

nested!(RabDirection, RabQueue);
