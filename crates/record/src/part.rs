//! Rows of a run whose parts are simulated in parallel.
//!
//! Each part of the run has a [`PartRecorder`] that stores its rows. A [`Merger`] sorts the stored
//! rows from time to time. Rows are sorted by time, then by part, then in the order of their
//! recording. So the tables do not depend on the speed of the threads.

use crate::RecorderConfig;
use crate::kept::{Due, Kept, wanted_rows};
use crate::place::Placed;
use fadeout_core::{
    BbrRow, BearerRow, BlockageRow, CongestionRow, DatagramRow, DropRow, FlowEventRow, HandoverRow,
    LinkHandoverRow, MeasurementRow, QueueRow, QuicRow, RadioDelayRow, RadioDropRow, RetransmitRow,
    RrcRow, SecondaryChangeRow, SegmentRow, ThroughputRow, TimeoutRow, TransportBlockRow,
};
use fadeout_core::{DrbId, FlowId, Probe, Time, UeId, recorded_tables};

/// Ids of UEs and bearers in the whole run, indexed by their ids within the part. If the lists are
/// empty, the ids are the same.
#[derive(Debug, Clone, Default)]
pub struct PartNumbers {
    /// Ids in the whole run of the part's UEs.
    pub ues: Vec<UeId>,
    /// Ids in the whole run of the part's radio bearers.
    pub bearers: Vec<DrbId>,
}

impl PartNumbers {
    fn ue(&self, ue: UeId) -> UeId {
        self.ues.get(ue.index()).copied().unwrap_or(ue)
    }

    fn bearer(&self, bearer: DrbId) -> DrbId {
        self.bearers.get(bearer.index()).copied().unwrap_or(bearer)
    }
}

/// Row that a part of a run records.
trait OfPart: Kept + Placed {
    /// Returns the row with the ids of the whole run.
    #[inline]
    fn renumbered(self, _: &PartNumbers) -> Self {
        self
    }
}

macro_rules! of_part {
    ($($row:ident $(|$own:ident, $numbers:ident| $renumbered:expr)?;)+) => {$(
        impl OfPart for $row {
            $(
                #[inline]
                fn renumbered(self, $numbers: &PartNumbers) -> Self {
                    let $own = self;
                    $renumbered
                }
            )?
        }
    )+};
}

of_part! {
    BlockageRow;
    CongestionRow;
    BbrRow;
    ThroughputRow;
    QuicRow;
    QueueRow;
    DropRow;
    RetransmitRow;
    TimeoutRow;
    FlowEventRow;
    SegmentRow;
    DatagramRow;
    TransportBlockRow |row, numbers| TransportBlockRow { ue: numbers.ue(row.ue), ..row };
    BearerRow |row, numbers| BearerRow { bearer: numbers.bearer(row.bearer), ..row };
    RadioDelayRow |row, numbers| RadioDelayRow { bearer: numbers.bearer(row.bearer), ..row };
    RadioDropRow |row, numbers| RadioDropRow { bearer: numbers.bearer(row.bearer), ..row };
    MeasurementRow |row, numbers| MeasurementRow { ue: numbers.ue(row.ue), ..row };
    HandoverRow |row, numbers| HandoverRow { ue: numbers.ue(row.ue), ..row };
    SecondaryChangeRow |row, numbers| SecondaryChangeRow { ue: numbers.ue(row.ue), ..row };
    LinkHandoverRow;
    RrcRow |row, numbers| RrcRow { ue: numbers.ue(row.ue), ..row };
}

macro_rules! part_tables {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $table:ident: $row:ident; )+) => {
        /// Stored rows of each recorded table.
        #[derive(Debug)]
        struct PartTables {
            $( $table: Option<Vec<$row>>, )+
        }

        impl PartTables {
            fn new(config: &RecorderConfig) -> Self {
                PartTables { $( $table: $row::is_kept(config).then(Vec::new), )+ }
            }

            /// Appends the stored rows of another part.
            fn append(&mut self, other: &mut PartTables) {
                $( if let (Some(rows), Some(others)) = (&mut self.$table, &mut other.$table) {
                    rows.append(others);
                } )+
            }

            /// Sorts the rows of each table.
            fn sort(&mut self) {
                $( if let Some(rows) = &mut self.$table {
                    rows.sort_by_key(|row| row.place());
                } )+
            }

            /// Passes all rows with times up to `until` to `probe`, including those at `until`.
            fn report_rows(&mut self, until: Time, probe: &mut impl Probe) {
                $($( if let Some(rows) = &mut self.$table {
                    let due = rows.partition_point(|row| row.place().0 <= until);
                    rows.drain(..due).for_each(|row| probe.$method(row));
                } )?)+
            }
        }
    };
}

recorded_tables!(part_tables);

/// Recorder of a part of a run. It stores rows until a [`Merger`] takes them.
#[derive(Debug)]
pub struct PartRecorder {
    tables: PartTables,
    due: Due,
    /// Bytes that were delivered to the receivers of flows. `None` if they are not recorded.
    delivered: Option<Vec<(Time, FlowId, u64)>>,
    numbers: PartNumbers,
}

impl PartRecorder {
    /// Creates a recorder for one part. `config` is the configuration of the whole run. A part
    /// makes no captures.
    pub fn new(config: &RecorderConfig, numbers: PartNumbers) -> PartRecorder {
        let mut due = Due::new(config);
        PartRecorder {
            tables: PartTables::new(config),
            delivered: due.bins.take().map(|_| Vec::new()),
            due,
            numbers,
        }
    }
}

macro_rules! store_rows {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $table:ident: $row:ident; )+) => {$($(
        #[inline]
        fn $method(&mut self, row: $row) {
            row.update_due(&mut self.due);
            if let Some(rows) = &mut self.tables.$table {
                rows.push(row.renumbered(&self.numbers));
            }
        }
    )?)+};
}

impl Probe for PartRecorder {
    recorded_tables!(store_rows);
    wanted_rows!();

    #[inline]
    fn delivered(&mut self, now: Time, flow: FlowId, bytes: u64) {
        if let Some(delivered) = &mut self.delivered {
            delivered.push((now, flow, bytes));
        }
    }
}

/// Merger of the rows of all parts into one order.
#[derive(Debug)]
pub struct Merger {
    tables: PartTables,
    delivered: Vec<(Time, FlowId, u64)>,
}

impl Merger {
    /// Creates a merger for parts with this configuration.
    pub fn new(config: &RecorderConfig) -> Merger {
        Merger {
            tables: PartTables::new(config),
            delivered: Vec::new(),
        }
    }

    /// Moves the rows that a part has stored into the merger. The caller must pass the parts in
    /// order.
    pub fn collect_rows(&mut self, part: &mut PartRecorder) {
        self.tables.append(&mut part.tables);
        if let Some(delivered) = &mut part.delivered {
            self.delivered.append(delivered);
        }
    }

    /// Passes all rows with times up to `until` to `probe`, including those at `until`. Every part
    /// must have been simulated up to this time.
    pub fn report_rows(&mut self, until: Time, probe: &mut impl Probe) {
        self.tables.sort();
        self.delivered.sort_by_key(|&(at, ..)| at);
        // Throughput bins need delivered bytes and ends of flows in the order of time.
        let events = self.tables.flow_events.iter_mut();
        let mut events = events.flatten().peekable();
        let mut reported = 0;
        for (at, flow, bytes) in self.delivered.drain(..) {
            while let Some(event) = events.next_if(|event| event.place().0 <= at) {
                probe.flow_event(*event);
                reported += 1;
            }
            probe.delivered(at, flow, bytes);
        }
        if let Some(events) = &mut self.tables.flow_events {
            events.drain(..reported);
        }
        self.tables.report_rows(until, probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::{DropCause, LinkId, ProbeSettings, Span};

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn dropped(ms: u64, link: u32) -> DropRow {
        DropRow {
            time_s: time_at_ms(ms),
            link: LinkId(link),
            flow: FlowId(0),
            size_bytes: 1500,
            cause: DropCause::QueueFull,
        }
    }

    #[derive(Default)]
    struct Drops(Vec<(u64, u32)>);

    impl Probe for Drops {
        fn dropped(&mut self, row: DropRow) {
            self.0.push((row.time_s.as_millis(), row.link.0));
        }
    }

    #[test]
    fn rows_come_by_time_then_by_part_and_what_is_ahead_of_time_waits() {
        let config = RecorderConfig::new(ProbeSettings {
            drops: true,
            ..ProbeSettings::NOTHING
        });
        let part = || PartRecorder::new(&config, PartNumbers::default());
        let (mut one, mut other, mut merger) = (part(), part(), Merger::new(&config));
        let mut drops = Drops::default();
        for (ms, link) in [(2, 0), (4, 1), (12, 2)] {
            one.dropped(dropped(ms, link));
        }
        for (ms, link) in [(1, 10), (4, 11), (4, 12)] {
            other.dropped(dropped(ms, link));
        }
        merger.collect_rows(&mut one);
        merger.collect_rows(&mut other);
        merger.report_rows(time_at_ms(10), &mut drops);
        other.dropped(dropped(11, 13));
        merger.collect_rows(&mut one);
        merger.collect_rows(&mut other);
        merger.report_rows(time_at_ms(20), &mut drops);
        let expected = [(1, 10), (2, 0), (4, 1), (4, 11), (4, 12), (11, 13), (12, 2)];
        assert_eq!(drops.0, expected);
    }
}
