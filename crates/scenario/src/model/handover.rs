//! Handover from one link or radio access bearer to another, at a given time.

use super::{Hop, Medium};
use crate::build::Builder;
use crate::keys::{RRC_TIME, TIME};
use crate::read::Fields;
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{table, words};
use fadeout_core::{NodeId, Span, Time};

table! {
    /// A phone changes from one link or radio access bearer to another, such as from LTE to 3G, with all
    /// its flows.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Handover {
        own {
            /// Its name in the file.
            name: String,
            /// The phone, where both media end.
            phone: NodeId,
            /// The link or RAB that it leaves; never a bearer of a cell.
            from: Medium,
            /// The link or RAB that takes its place.
            to: Medium,
            /// The way of forwarded packets between the base stations; the one with the fewest hops
            /// without it.
            forwarding: Option<Vec<Hop>>,
        }
        check = Handover::with_one_start;
        /// Link or radio access bearer that the phone leaves; it ends at the phone.
        "from" = Shape::Reference, Required;
        /// The one that takes its place; it ends there too.
        "to" = Shape::Reference, Required;
        /// When the source commands the handover and stops; with `signalling = "links"` when it decides.
        at: Time = TIME, Required;
        /// From the command until the target begins to send and to receive.
        interruption: Span = TIME, Default("\"100 ms\"");
        /// From the command until the anchor sends to the target alone, with `signalling = "given"`;
        /// the interruption without it.
        path_switch: Option<Span> = TIME, Optional;
        /// Which way the messages of preparation, completion and path switch take.
        signalling: HandoverSignalling = HandoverSignalling::SHAPE, Default("\"given\"");
        /// How long the source waits for the command of a preparation over links.
        preparation_timeout: Span = RRC_TIME, Default("\"5 s\"");
        /// The fate of downlink data at the source.
        data: HandoverFate = HandoverFate::SHAPE, Default("\"forwarding\"");
        /// How long before the command bicasting begins, with `signalling = "given"`.
        bicast_before: Option<Span> = TIME, Optional;
        /// How long after the command it begins, instead.
        bicast_after: Option<Span> = TIME, Optional;
        /// Most that waits at the source for the phone, in unloaded round trips of the flow through it, the longest of
        /// several: what comes beyond is dropped. It takes the place of the queue's limit of `from`, which is a link.
        source_limit: Option<f64> = Shape::Number(Range::positive(1e6)), Optional;
        /// Which of forwarded packets and those of the anchor the target sends first.
        target_order: TargetOrder = TargetOrder::SHAPE, Default("\"forwarded-first\"");
        /// Links over which the source forwards, in order; the way with the fewest without it.
        "forwarding-route" = Shape::List(&Shape::Reference), Optional;
    }
}

impl Handover {
    fn with_one_start(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let mut wrong = |key: &str, message: &str, expected: &str| {
            builder.mistake(fields.place_of(key), message, expected);
        };
        let is_bicast = self.data == HandoverFate::Bicasting;
        let over_links = self.signalling == HandoverSignalling::Links;
        if self.bicast_before.is_some() && self.bicast_after.is_some() {
            wrong(
                "bicast-after",
                "bicasting begins at two times",
                "`bicast-before` or `bicast-after`",
            );
        } else if let Some(key) = self.bicast_key() {
            if !is_bicast {
                wrong(
                    key,
                    "a start of bicasting, but nothing is bicast",
                    "`data = \"bicasting\"`",
                );
            } else if over_links {
                let message = "a start of bicasting beside messages over links";
                wrong(
                    key,
                    message,
                    "none: it begins when the anchor has the target's answer",
                );
            }
        }
        if over_links && self.path_switch.is_some() {
            let message = "a time of the path switch beside messages over links";
            wrong(
                "path-switch",
                message,
                "none: the target's message asks for it",
            );
        }
        if self.forwarding.is_some() && self.data != HandoverFate::Forwarding {
            let message = "a way of forwarded packets, but nothing is forwarded";
            wrong("forwarding-route", message, "`data = \"forwarding\"`");
        }
        Some(self)
    }

    fn bicast_key(&self) -> Option<&'static str> {
        let after = self.bicast_after.map(|_| "bicast-after");
        self.bicast_before.map(|_| "bicast-before").or(after)
    }
}

words! {
    /// The way of the messages of a handover.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverSignalling {
        /// none: the times of the handover are given
        Given = "given",
        /// the links between source, anchor and target, as packets
        Links = "links",
    }
}

words! {
    /// The fate of downlink data at the source of a handover between links.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverFate {
        /// it is dropped
        None = "none",
        /// it goes to the target, over links of the scenario
        Forwarding = "forwarding",
        /// it is dropped, but from some time on the anchor sends to both
        Bicasting = "bicasting",
    }
}

words! {
    /// The order in which the target of a handover sends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TargetOrder {
        /// forwarded packets go before what comes from the anchor, in a queue of their own
        ForwardedFirst = "forwarded-first",
        /// in the order of arrival, in one queue
        Arrival = "arrival",
    }
}
