//! The order of the rows of a table.

use fadeout_core::table::Row;
use fadeout_core::{
    BearerRow, BlockageRow, CongestionRow, DatagramRow, DropRow, FlowEventRow, HandoverRow,
    LinkHandoverRow, MeasurementRow, QueueRow, RadioDelayRow, RadioDropRow, RetransmitRow, RrcRow,
    SecondaryChangeRow, ThroughputRow, Time, TimeoutRow, TransportBlockRow,
};

/// A row with a position in the order of its table.
pub(crate) trait Placed: Row {
    /// Returns the time, and a number that orders rows reported before the run. Both together never
    /// decrease from row to row.
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
    BearerRow CongestionRow DatagramRow DropRow FlowEventRow HandoverRow LinkHandoverRow MeasurementRow QueueRow
    RadioDelayRow RadioDropRow RetransmitRow RrcRow SecondaryChangeRow ThroughputRow TimeoutRow TransportBlockRow
}

impl Placed for BlockageRow {
    /// Returns an order by link, because all blockages are reported before the run.
    fn place(&self) -> (Time, u32) {
        (Time::ZERO, self.link.0)
    }
}
