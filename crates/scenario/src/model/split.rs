//! Split bearers of dual connectivity.

use crate::build::Builder;
use crate::keys::{POSITIVE_TIME, SIZE, TIME};
use crate::quantity::Dimension;
use crate::read::{Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue, key_table, list, nested, optional_list, word_choice};
use fadeout_core::{Bytes, Span, Time};
use serde_json::Value;

const SIZE_OR_ZERO: Shape = Shape::Quantity(Dimension::Size, Range::closed(0.0, 1e12));

key_table! {
    /// Additional legs of a bearer. The first leg is that of the UE's `cell`, whose base station
    /// hosts PDCP. An additional leg is in the `pscell` (split bearer, TS 37.340 clause 4.2.2) or
    /// over one of the `carriers` (TS 38.300 clause 16.1.3). Links carry the messages and data
    /// between the two base stations.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Split {
        own {}
        check = Split::with_room_for_statuses;
        /// Leg that carries all data while less data waits than the thresholds (primaryPath, TS
        /// 38.331 clause 6.3.2). While this leg has failed, the other leg carries all data.
        primary_path: SplitPath = SplitPath::SHAPE, Default("\"master\"");
        /// Amount of waiting data from which on the UE also uses the leg other than the primary
        /// path (TS 38.323 clause 5.2.1). The value must be one of TS 38.331 clause 6.3.2. Default:
        /// infinite, so that the UE never uses the other leg.
        ul_data_split_threshold: Option<Bytes> = SIZE_OR_ZERO, Optional;
        /// Amount of waiting data from which on the base station also uses the leg other than the
        /// primary path. The standard leaves this value to the base station.
        downlink_threshold: Bytes = SIZE_OR_ZERO, Default("\"0 B\"");
        /// Directions in which PDCP sends each packet on all legs (pdcp-Duplication, TS 38.323
        /// clause 5.11). After one leg has confirmed a packet, the other legs discard it. In these
        /// directions the thresholds have no effect. Default: none.
        duplication: Option<Duplication> = Duplication::SHAPE, Optional;
        /// Secondary cells of the UE that are separate legs with `duplication`. The RLC entity of
        /// such a leg uses only its own cell (allowedServingCells, TS 38.331 clause 6.3.2). `cell`
        /// and the other secondary cells carry the first leg. Including the `pscell` there are at
        /// most four legs (moreThanTwoRLC). Default: none.
        carriers: Vec<String> = Shape::List(&Shape::Reference), Optional;
        /// Changes over time of the legs that carry copies. The base station applies a change at
        /// once. The UE learns of the change by a MAC control element (TS 38.321 clauses 5.10,
        /// 6.1.3.11 and 6.1.3.32). Default: all legs carry copies.
        duplication_changes: Vec<DuplicationChange> =
            Shape::List(&Shape::Table(DuplicationChange::KEYS)), Optional;
        /// Rule by which the base station with PDCP chooses the leg of a downlink packet, if both
        /// legs could carry it.
        leg_choice: LegChoice = LegChoice::SHAPE, Default("\"expected-delay\"");
        /// Desired buffer size of the secondary node (TS 38.425 clause 5.4.2.1). It counts data
        /// that was sent to the node and is not yet delivered. Default: the data that the node
        /// recently delivered in `buffer-time`.
        desired_buffer: Option<Bytes> = SIZE, Optional;
        /// Time over which delivered data is counted to give the desired buffer size. It must be
        /// longer than the time from a frame to the status that reports its delivery.
        buffer_time: Span = POSITIVE_TIME, Default("\"60 ms\"");
        /// Smallest desired buffer size, used for a secondary node that has delivered little data.
        least_buffer: Bytes = SIZE, Default("\"50 kB\"");
        /// Smallest time between two delivery statuses of the secondary node.
        status_period: Span = POSITIVE_TIME, Default("\"5 ms\"");
        /// Time without a delivery status after which the base station with PDCP requests one.
        poll_after: Span = TIME, Default("\"100 ms\"");
    }
}

nested!(Split, DuplicationChange);

key_table! {
    /// A change of the legs that carry copies.
    #[derive(Debug, Clone, PartialEq)]
    pub struct DuplicationChange {
        own {}
        /// Time at which the base station decides on the change.
        at: Time = TIME, Required;
        /// Cells whose legs carry copies in addition to the primary path: `pscell` or some of
        /// `carriers`. Default: duplication is deactivated.
        legs: Vec<String> = Shape::List(&Shape::Reference), Optional;
    }
}

impl KeyValue for Vec<DuplicationChange> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        optional_list(fields, name, builder)
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
            let message = "`poll-after` is not longer than `status-period`";
            builder.mistake(place, message, "a time longer than `status-period`");
            return None;
        }
        Some(self)
    }
}

word_choice! {
    /// The directions in which PDCP duplicates packets.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Duplication {
        /// PDCP duplicates packets from the base stations to the UE.
        Downlink = "downlink",
        /// PDCP duplicates packets from the UE to the base stations.
        Uplink = "uplink",
        /// PDCP duplicates packets in both directions.
        Both = "both",
    }
}

word_choice! {
    /// The rule that chooses the leg of a downlink packet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum LegChoice {
        /// The leg over which the packet is expected to arrive first. The estimate uses the data
        /// that waits for each leg, the rate at which each cell serves its leg, and the delay of
        /// the links.
        ExpectedDelay = "expected-delay",
        /// The secondary leg, as long as the secondary node requests more data.
        Demand = "demand",
        /// The legs in turn, so that each carries the same number of bytes.
        Turns = "turns",
    }
}

word_choice! {
    /// A leg of a split bearer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SplitPath {
        /// The primary path is the leg of the UE's `cell`.
        Master = "master",
        /// The primary path is the leg of the UE's `pscell`.
        Secondary = "secondary",
    }
}
