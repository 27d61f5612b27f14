//! Split bearers of dual connectivity.

use crate::build::Builder;
use crate::keys::{POSITIVE_TIME, SIZE, TIME};
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue, nested, table, words};
use fadeout_core::{Bytes, Span, Time};
use serde_json::Value;

const SIZE_OR_ZERO: Shape = Shape::Quantity(Dimension::Size, Range::closed(0.0, 1e12));

table! {
    /// The legs of a bearer beside that of the `cell` of its UE, whose base station hosts PDCP: one in the `pscell`, of a
    /// split bearer (TS 37.340 clause 4.2.2), and those over `carriers` (TS 38.300 clause 16.1.3). Links carry what the two
    /// base stations send each other.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Split {
        own {}
        check = Split::with_room_for_statuses;
        /// The leg that is used while less waits than the thresholds say (primaryPath, TS 38.331 clause 6.3.2); the
        /// other one while it has failed.
        primary_path: SplitPath = SplitPath::SHAPE, Default("\"master\"");
        /// Bytes that have to wait at the UE for it to use the other leg too (TS 38.323 clause 5.2.1), one of the
        /// values of TS 38.331 clause 6.3.2; never without it.
        ul_data_split_threshold: Option<Bytes> = SIZE_OR_ZERO, Optional;
        /// The same at the base station, whose choice it is.
        downlink_threshold: Bytes = SIZE_OR_ZERO, Default("\"0 B\"");
        /// Directions in which each packet goes to all legs (pdcp-Duplication, TS 38.323 clause 5.11); what one has
        /// confirmed the others discard. Thresholds mean nothing there.
        duplication: Option<Duplication> = Duplication::SHAPE, Optional;
        /// Secondary cells of the UE that are legs of their own with `duplication`: RLC is kept to each of them
        /// (allowedServingCells, TS 38.331 clause 6.3.2), and to `cell` and the other ones on the first leg. With the
        /// `pscell` there are four legs at most (moreThanTwoRLC).
        carriers: Vec<String> = Shape::List(&Shape::Reference), Optional;
        /// When copies go to other legs than all: the UE hears of it by a MAC control element (TS 38.321 clauses 5.10,
        /// 6.1.3.11 and 6.1.3.32), the base station's own copies change at once.
        duplication_changes: Vec<DuplicationChange> =
            Shape::List(&Shape::Table(DuplicationChange::KEYS)), Optional;
        /// Which leg takes a downlink packet that both may have: the choice of the base station with PDCP.
        leg_choice: LegChoice = LegChoice::SHAPE, Default("\"expected-delay\"");
        /// Desired buffer size of the secondary node (TS 38.425 clause 5.4.2.1): what is sent to it and not yet
        /// delivered. Without it that is what it has delivered of late within `buffer-time`.
        desired_buffer: Option<Bytes> = SIZE, Optional;
        /// It has to be longer than from a frame to the status that says that it was delivered.
        buffer_time: Span = POSITIVE_TIME, Default("\"60 ms\"");
        /// Desired buffer size of a node that has delivered little.
        least_buffer: Bytes = SIZE, Default("\"50 kB\"");
        /// Least time between two delivery statuses.
        status_period: Span = POSITIVE_TIME, Default("\"5 ms\"");
        /// The base station with PDCP asks for a status when it has heard none for so long.
        poll_after: Span = TIME, Default("\"100 ms\"");
    }
}

nested!(Split, DuplicationChange);

table! {
    /// To which legs copies go from a time on.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DuplicationChange {
        own {}
        /// When the base station decides it.
        at: Time = TIME, Required;
        /// The cells of the legs that have copies beside that of the primary path: `pscell`, or one of `carriers`. Without it
        /// duplication is deactivated.
        legs: Vec<String> = Shape::List(&Shape::Reference), Optional;
    }
}

impl KeyValue for Vec<DuplicationChange> {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::List(items) = &item.content else {
            return None;
        };
        let all = items
            .iter()
            .map(|item| DuplicationChange::of(item, builder));
        // Each mistake is told, not only the first.
        let all: Vec<_> = all.collect();
        all.into_iter().collect()
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match fields.item(name) {
            Some(item) => Self::of(item, builder),
            None => Some(Vec::new()),
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        if self.is_empty() {
            return None;
        }
        self.iter()
            .map(|change| KeyValue::written(change, shape))
            .collect()
    }
}

impl Split {
    fn with_room_for_statuses(
        self,
        fields: &Fields,
        builder: &mut Builder<'_, '_>,
    ) -> Option<Self> {
        if self.poll_after <= self.status_period {
            let place = fields.place_of("poll-after");
            let message = "a poll before a status is due";
            builder.mistake(place, message, "more than `status-period`");
            return None;
        }
        Some(self)
    }
}

words! {
    /// Directions in which PDCP duplicates.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Duplication {
        /// from the base stations to the UE
        Downlink = "downlink",
        /// from the UE
        Uplink = "uplink",
        /// both
        Both = "both",
    }
}

words! {
    /// Which leg takes a packet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LegChoice {
        /// that over which it is expected to arrive first, by what waits for each, the rates at which the cells serve it
        /// and the time that the links take
        ExpectedDelay = "expected-delay",
        /// the secondary one, as long as its node asks for more
        Demand = "demand",
        /// as many bytes to each
        Turns = "turns",
    }
}

words! {
    /// A leg of a split bearer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SplitPath {
        /// that of the `cell`
        Master = "master",
        /// that of the `pscell`
        Secondary = "secondary",
    }
}
