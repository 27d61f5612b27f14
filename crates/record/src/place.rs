//! The order of the rows of a table.

use fadeout_core::table::Row;
use fadeout_core::{
    BearerRow, BlockageRow, CongestionRow, DatagramRow, DropRow, FlowEventRow, HandoverRow,
    LinkHandoverRow, MeasurementRow, QueueRow, RadioDelayRow, RadioDropRow, RetransmitRow, RrcRow,
    SecondaryChangeRow, ThroughputRow, Time, TimeoutRow, TransportBlockRow,
};

/// A row that knows its place among the rows of its table.
pub(crate) trait Placed: Row {
    /// Its time, and what else orders rows that are told before the run. Never less than that of the row before.
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
    /// All are known, and told, before the run.
    fn place(&self) -> (Time, u32) {
        (Time::ZERO, self.link.0)
    }
}
