//! Handover of a phone from one link or radio access bearer to another, at a given time.

use super::{Hop, Medium};
use crate::build::Builder;
use crate::keys::{RRC_TIME, TIME};
use crate::read::Fields;
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{key_table, word_choice};
use fadeout_core::{NodeId, Span, Time};

key_table! {
    /// Change of a phone from one link or radio access bearer to another, such as from LTE to 3G.
    /// All flows of the phone change with it.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Handover {
        own {
            /// Name of the handover in the file.
            name: String,
            /// Phone at which both links or bearers end.
            phone: NodeId,
            /// Link or radio access bearer that the phone leaves, never a bearer of a cell.
            from: Medium,
            /// Link or radio access bearer that the phone changes to.
            to: Medium,
            /// Route of forwarded packets between the base stations. None for the route with the
            /// fewest hops.
            forwarding: Option<Vec<Hop>>,
        }
        check = Handover::with_one_start;
        /// Link or radio access bearer that the phone leaves. One of its ends is the phone.
        "from" = Shape::Reference, Required;
        /// Link or radio access bearer that the phone changes to. One of its ends is the phone.
        "to" = Shape::Reference, Required;
        /// Time at which the source commands the handover and stops sending. With `signalling =
        /// "links"`, time at which the source decides to hand over.
        at: Time = TIME, Required;
        /// Time from the command until the target begins to send and to receive.
        interruption: Span = TIME, Default("\"100 ms\"");
        /// Time from the command until the anchor sends only to the target. Used only with
        /// `signalling = "given"`. Default: the `interruption`.
        path_switch: Option<Span> = TIME, Optional;
        /// Transport of the handover messages for preparation, completion and path switch.
        signalling: HandoverSignalling = HandoverSignalling::SHAPE, Default("\"given\"");
        /// Longest time that the source waits for the handover command, if links carry the
        /// messages.
        preparation_timeout: Span = RRC_TIME, Default("\"5 s\"");
        /// Treatment of the downlink data that waits at the source of a handover.
        data: HandoverFate = HandoverFate::SHAPE, Default("\"forwarding\"");
        /// Time before the command at which bicasting begins. Used only with `signalling =
        /// "given"`. Default: 10 ms.
        bicast_before: Option<Span> = TIME, Optional;
        /// Time after the command at which bicasting begins, in place of `bicast-before`.
        bicast_after: Option<Span> = TIME, Optional;
        /// Largest amount of data that waits at the source for the phone: the data that the link
        /// sends in this number of round-trip times. The round-trip time is that of the flow
        /// without load. With several flows it is the longest. The source drops more data. This
        /// limit replaces the queue limit of the link `from`.
        source_limit: Option<f64> = Shape::Number(Range::positive(1e6)), Optional;
        /// Order in which the target sends forwarded packets and packets from the anchor.
        target_order: TargetOrder = TargetOrder::SHAPE, Default("\"forwarded-first\"");
        /// Links over which the source forwards packets, in order. Default: the route with the
        /// fewest hops.
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
                "bicasting has two start times",
                "one of `bicast-before` and `bicast-after`",
            );
        } else if let Some(key) = self.bicast_key() {
            if !is_bicast {
                wrong(
                    key,
                    "a start time of bicasting, but no bicasting",
                    "`data = \"bicasting\"`",
                );
            } else if over_links {
                let message = "a start time of bicasting with `signalling = \"links\"`";
                wrong(
                    key,
                    message,
                    "no such key: bicasting begins when the anchor has the target's answer",
                );
            }
        }
        if over_links && self.path_switch.is_some() {
            let message = "a time of the path switch with `signalling = \"links\"`";
            wrong(
                "path-switch",
                message,
                "no `path-switch`: the target's message triggers it",
            );
        }
        if self.forwarding.is_some() && self.data != HandoverFate::Forwarding {
            let message = "a route of forwarded packets, but no forwarding";
            wrong("forwarding-route", message, "`data = \"forwarding\"`");
        }
        Some(self)
    }

    fn bicast_key(&self) -> Option<&'static str> {
        let after = self.bicast_after.map(|_| "bicast-after");
        self.bicast_before.map(|_| "bicast-before").or(after)
    }
}

word_choice! {
    /// The transport of the messages of a handover.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverSignalling {
        /// No messages are sent. The scenario gives the times of the handover.
        Given = "given",
        /// The links between source, anchor and target carry the messages as packets.
        Links = "links",
    }
}

word_choice! {
    /// The fate of downlink data at the source of a handover between links.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverFate {
        /// The source drops the data.
        None = "none",
        /// The data is forwarded to the target over links of the scenario.
        Forwarding = "forwarding",
        /// The data is dropped. The anchor sends each packet to source and target for some time.
        Bicasting = "bicasting",
    }
}

word_choice! {
    /// The order in which the target of a handover sends.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TargetOrder {
        /// Forwarded packets have a queue of their own, which the target sends first.
        ForwardedFirst = "forwarded-first",
        /// All packets are in one queue, which the target sends in the order of arrival.
        Arrival = "arrival",
    }
}
