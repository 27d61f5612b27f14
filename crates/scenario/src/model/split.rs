//! Split bearers of dual connectivity.

use crate::build::Builder;
use crate::keys::{POSITIVE_TIME, SIZE, TIME};
use crate::quantity::Dimension;
use crate::read::Fields;
use crate::shape::Presence::{Default, Optional};
use crate::shape::{Range, Shape};
use crate::table::{nested, table, words};
use fadeout_core::{Bytes, Span};

const SIZE_OR_ZERO: Shape = Shape::Quantity(Dimension::Size, Range::closed(0.0, 1e12));

table! {
    /// How a bearer is split between the `cell` of its UE, whose base station hosts PDCP, and its `pscell` (TS 37.340
    /// clause 4.2.2). Links carry what the two base stations send each other.
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
        /// Directions in which each packet goes to both cells (pdcp-Duplication, TS 38.323 clause 5.11); what one has
        /// confirmed the other one discards. Thresholds mean nothing there.
        duplication: Option<Duplication> = Duplication::SHAPE, Optional;
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

nested!(Split);

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
    /// A leg of a split bearer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SplitPath {
        /// that of the `cell`
        Master = "master",
        /// that of the `pscell`
        Secondary = "secondary",
    }
}
