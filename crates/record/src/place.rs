//! Order of the rows of a table.

use fadeout_core::table::Row;
use fadeout_core::{
    BbrRow, BearerRow, BlockageRow, CongestionRow, DatagramRow, DropRow, FlowEventRow, HandoverRow,
    LinkHandoverRow, MeasurementRow, QueueRow, QuicRow, RadioDelayRow, RadioDropRow, RetransmitRow,
    RrcRow, SecondaryChangeRow, SegmentRow, ThroughputRow, Time, TimeoutRow, TransportBlockRow,
};

/// Row with a position in the order of its table.
pub(crate) trait Placed: Row {
    /// Returns the row's time, and a number that orders rows recorded before the run. Both together
    /// never decrease from one row to the next.
    fn place(&self) -> (Time, u32);
}

macro_rules! placed_by_time {
    ($($row:ident)+) => {$(
        impl Placed for $row {
            #[inline]
            fn place(&self) -> (Time, u32) {
                (self.time_s, 0)
            }
        }
    )+};
}

placed_by_time! {
    BbrRow BearerRow CongestionRow DatagramRow DropRow FlowEventRow HandoverRow LinkHandoverRow
    MeasurementRow QueueRow QuicRow RadioDelayRow RadioDropRow RetransmitRow RrcRow
    SecondaryChangeRow SegmentRow ThroughputRow TimeoutRow TransportBlockRow
}

impl Placed for BlockageRow {
    /// Returns the link as the number, because all blockages are recorded before the run.
    fn place(&self) -> (Time, u32) {
        (Time::ZERO, self.link.0)
    }
}
