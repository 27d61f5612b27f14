//! The probe that records a run.

use crate::capture::{Captures, FinishedCapture};
use crate::columns::Names;
use crate::kept::{Due, Kept, wanted_rows};
use crate::latest::Latest;
use crate::manifest::{CaptureEntry, Manifest, TableEntry, pretty};
use crate::place::Placed;
use crate::summary::{SummaryTable, stream_of_batch};
use crate::summed::SummedUp;
use crate::table::TableWriter;
use crate::{Destination, RecordError, RecorderConfig, RunFolder, RunInfo};
use arrow_array::StringArray;
use fadeout_core::table::{Row, Table};
use fadeout_core::{
    BbrRow, BearerRow, BlockageRow, CongestionRow, DatagramRow, DropRow, FlowEventRow, HandoverRow,
    LinkHandoverRow, MeasurementRow, QueueRow, QuicRow, RadioDelayRow, RadioDropRow, RetransmitRow,
    RrcRow, SecondaryChangeRow, SegmentRow, ThroughputRow, TimeoutRow, TransportBlockRow,
};
use fadeout_core::{
    Carried, CellId, FlowEnd, FlowId, LinkId, MacPdu, Probe, ProbeSettings, SchedulingRequest,
    Time, UeId, WholePacket, recorded_tables,
};
use std::path::PathBuf;
use std::sync::Arc;

macro_rules! table_writers {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $table:ident: $row:ident; )+) => {
        /// Every table that can be recorded.
        pub const TABLES: &[Table] = &[$( $row::TABLE ),+];

        /// The recorded tables.
        #[derive(Debug)]
        struct Tables {
            $( $table: Option<TableWriter<$row>>, )+
        }

        impl Tables {
            fn open(config: &RecorderConfig, opener: &Opener<'_>) -> Result<Self, RecordError> {
                Ok(Tables { $( $table: opener.open($row::is_kept(config))?, )+ })
            }

            fn close(self, closing: &mut Closing) {
                $( closing.table(self.$table); )+
            }
        }
    };
}

recorded_tables!(table_writers);

/// Stores the rows of a run in memory, or writes them into its folder during the run.
///
/// A failed write does not stop the simulation. [`Recorder::error`] shows the error, and
/// [`Recorder::finish`] returns it.
#[derive(Debug)]
pub struct Recorder {
    // Fields are dropped in this order, so files are closed before the folder of a failed run is
    // removed.
    tables: Tables,
    captures: Option<Captures>,
    due: Due,
    error: Option<RecordError>,
    folder: Option<RunFolder>,
}

/// Results of a completed run.
#[derive(Debug)]
pub struct Recorded {
    /// Contents of `manifest.json`.
    pub manifest: String,
    /// Contents of `summary.json`.
    pub summary: String,
    /// Folder of the run. `None` if it was not recorded into a folder.
    pub folder: Option<PathBuf>,
    /// Name and Arrow IPC stream of each table. Empty if the run was not recorded in memory.
    pub tables: Vec<(&'static str, Vec<u8>)>,
    /// Path within a run folder and bytes of each capture and each log of QUIC. Empty if the run
    /// was not recorded in memory.
    pub captures: Vec<(String, Vec<u8>)>,
    /// Summary rows of a run that was recorded into a folder. `None` for other destinations.
    pub rows: Option<SummedUp>,
}

impl Recorder {
    /// Creates a recorder for `config`. Files are created at once, so that an unwritable folder is
    /// reported before the run and not after it.
    ///
    /// # Errors
    /// Returns [`RecordError::Write`] with the path that could not be created.
    pub fn new(config: &RecorderConfig, destination: Destination) -> Result<Self, RecordError> {
        let nothing;
        let (config, folder) = match destination {
            Destination::Nowhere => {
                nothing = RecorderConfig {
                    probes: ProbeSettings::NOTHING,
                    ..config.clone()
                };
                (&nothing, None)
            }
            Destination::Memory => (config, None),
            Destination::Folder(folder) => (config, Some(folder)),
        };
        let opener = Opener {
            names: Names {
                flows: Arc::new(flow_names(config)),
                links: Arc::new(StringArray::from_iter_values(&config.links)),
                nodes: Arc::new(StringArray::from_iter_values(&config.nodes)),
                cells: Arc::new(StringArray::from_iter_values(&config.cells)),
                ues: Arc::new(StringArray::from_iter_values(&config.ues)),
                bearers: Arc::new(StringArray::from_iter_values(&config.bearers)),
            },
            folder: folder.as_ref(),
        };
        Ok(Recorder {
            tables: Tables::open(config, &opener)?,
            captures: Captures::open(config, folder.as_ref())?,
            due: Due::new(config),
            error: None,
            folder,
        })
    }

    /// Returns the error of the first failed write. The caller should then stop the run. `None` if
    /// all writes succeeded.
    pub fn error(&self) -> Option<&RecordError> {
        self.error.as_ref()
    }

    /// Returns the latest rows of the radio. `None` if they are not observed.
    pub fn latest(&self) -> Option<&Latest> {
        self.due.latest.as_deref()
    }

    /// Observes the rows of the radio from now on. `ues` and `cells` are the numbers of UEs and of
    /// cells in the simulation. Does nothing if the rows are observed already.
    pub fn observe_radio(&mut self, ues: usize, cells: usize) {
        let latest = &mut self.due.latest;
        latest.get_or_insert_with(|| Box::new(Latest::new(ues, cells)));
    }

    /// Writes the throughput bins that ended by the simulated time `now`. Without this call, the
    /// next delivered byte or [`Recorder::finish`] writes all of them at once.
    pub fn catch_up(&mut self, now: Time) {
        if let (Some(bins), Some(table)) = (&mut self.due.bins, &mut self.tables.throughput)
            && bins.is_over(now)
        {
            let error = &mut self.error;
            bins.roll(now, &mut |row| push(table, error, row));
        }
    }

    /// Ends the recording at the simulated time `end`: completes every table, writes the manifest
    /// and the summary, and renames the folder.
    ///
    /// After a failed write, the results so far are kept as an incomplete run. Each table can be
    /// read up to the failure.
    ///
    /// # Errors
    /// Returns the first [`RecordError`] of the run or of its end. The error is inside a
    /// [`RecordError::Kept`] if results were kept.
    pub fn finish(mut self, end: Time, info: RunInfo) -> Result<Recorded, RecordError> {
        if let (Some(bins), Some(table)) = (&mut self.due.bins, &mut self.tables.throughput) {
            let error = &mut self.error;
            bins.finish(end, &mut |row| push(table, error, row));
        }
        let mut closing = Closing::default();
        self.tables.close(&mut closing);
        closing.captures(self.captures.take());
        let summary = pretty(info.summary.document());
        closing.rows(info.summary.into_tables(), self.folder.as_ref());
        let error = self.error.take().or(closing.error);

        let manifest = pretty(&Manifest {
            version: &info.version,
            commit: info.commit.as_deref(),
            seed: info.seed,
            fingerprint: info.fingerprint.to_string(),
            complete: info.complete && error.is_none(),
            simulated_s: end.as_secs_f64(),
            tables: closing.table_entries,
            captures: closing.capture_entries,
            scenario: &info.scenario,
        });
        let rows = self.folder.is_some().then_some(closing.summed);
        let folder = match (self.folder.take(), error) {
            (None, None) => None,
            (None, Some(error)) => return Err(error),
            (Some(folder), error) => Some(folder.end(&summary, &manifest, error)?),
        };
        Ok(Recorded {
            manifest,
            summary,
            folder,
            tables: closing.tables,
            captures: closing.captures,
            rows,
        })
    }
}

/// Factory of tables for the destination of the run.
struct Opener<'a> {
    names: Names,
    folder: Option<&'a RunFolder>,
}

impl Opener<'_> {
    fn open<R: Placed>(&self, wanted: bool) -> Result<Option<TableWriter<R>>, RecordError> {
        if !wanted {
            return Ok(None);
        }
        Ok(Some(match self.folder {
            None => TableWriter::in_memory(&self.names),
            Some(folder) => {
                TableWriter::to_file(&folder.path(&file_name(R::TABLE.name)), &self.names)?
            }
        }))
    }
}

/// Returns the names of all flows. A run without flows has one empty name, because its network may
/// still drop messages.
fn flow_names(config: &RecorderConfig) -> StringArray {
    let names = config.flows.iter().map(|flow| flow.name.as_str());
    let of_none = config.flows.is_empty().then_some("");
    StringArray::from_iter_values(names.chain(of_none))
}

pub(crate) fn file_name(table: &str) -> String {
    format!("{table}.parquet")
}

/// Completed tables and captures. All of them are completed, even after an error.
#[derive(Default)]
struct Closing {
    table_entries: Vec<TableEntry>,
    capture_entries: Vec<CaptureEntry>,
    tables: Vec<(&'static str, Vec<u8>)>,
    captures: Vec<(String, Vec<u8>)>,
    summed: SummedUp,
    error: Option<RecordError>,
}

impl Closing {
    fn table<R: Placed>(&mut self, table: Option<TableWriter<R>>) {
        let Some(table) = table else { return };
        let name = R::TABLE.name;
        let finished = table.finish();
        self.table_entries.push(TableEntry {
            name,
            file: file_name(name),
            rows: finished.rows,
            definition: (&R::TABLE).into(),
        });
        self.tables
            .extend(finished.bytes.map(|bytes| (name, bytes)));
        if let Some(error) = finished.error {
            self.fail(error);
        }
    }

    /// Writes the summary rows into the folder, or stores them as streams.
    fn rows(&mut self, tables: Vec<SummaryTable>, folder: Option<&RunFolder>) {
        if let Some(folder) = folder {
            folder.release_reserve();
        }
        for rows in tables {
            let (table, count) = (rows.table, rows.rows);
            let batch = rows.into_batch();
            match folder.map(|folder| folder.write_table(table.name, &batch)) {
                None => self.tables.push((table.name, stream_of_batch(batch))),
                Some(Ok(())) => self.summed.add(table.name, batch),
                Some(Err(error)) => {
                    self.fail(error);
                    continue;
                }
            }
            self.table_entries.push(TableEntry {
                name: table.name,
                file: file_name(table.name),
                rows: count,
                definition: (&table).into(),
            });
        }
    }

    fn captures(&mut self, captures: Option<Captures>) {
        let Some(captures) = captures else { return };
        match captures.finish() {
            Ok(finished) => {
                for FinishedCapture {
                    subject,
                    name,
                    packets,
                    bytes,
                } in finished
                {
                    self.captures
                        .extend(bytes.map(|bytes| (name.clone(), bytes)));
                    self.capture_entries.push(CaptureEntry {
                        subject,
                        file: name,
                        packets,
                    });
                }
            }
            Err(error) => self.fail(error),
        }
    }

    fn fail(&mut self, error: RecordError) {
        self.error.get_or_insert(error);
    }
}

#[inline]
fn push<R: Placed>(table: &mut TableWriter<R>, error: &mut Option<RecordError>, row: R) {
    if table.push(row) {
        keep_first(error, table.flush());
    }
}

fn keep_first(first: &mut Option<RecordError>, result: Result<(), RecordError>) {
    if let Err(error) = result {
        first.get_or_insert(error);
    }
}

macro_rules! write_rows {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $table:ident: $row:ident; )+) => {$($(
        #[inline]
        fn $method(&mut self, row: $row) {
            row.update_due(&mut self.due);
            if let Some(table) = &mut self.tables.$table {
                push(table, &mut self.error, row);
            }
        }
    )?)+};
}

impl Probe for Recorder {
    recorded_tables!(write_rows);
    wanted_rows!();

    #[inline]
    fn wants_mac_pdus(&self, cell: CellId, ue: UeId) -> bool {
        let captures = self.captures.as_ref();
        captures.is_some_and(|captures| captures.wants_radio(cell, ue))
    }
    fn mac_pdu(&mut self, pdu: &MacPdu<'_>) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_mac_pdu(pdu));
        }
    }
    fn scheduling_request(&mut self, request: SchedulingRequest) {
        if let Some(captures) = &mut self.captures {
            captures.on_request(request);
        }
    }
    #[inline]
    fn delivered(&mut self, now: Time, flow: FlowId, bytes: u64) {
        self.catch_up(now);
        if let Some(bins) = &mut self.due.bins {
            bins.add(flow, bytes);
        }
    }
    #[inline]
    fn wants_link(&self, link: LinkId) -> bool {
        let captures = self.captures.as_ref();
        captures.is_some_and(|captures| captures.wants_link(link))
    }
    fn crossed(&mut self, now: Time, link: LinkId, what: Carried<'_>) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_crossed(now, link, what));
        }
    }
    #[inline]
    fn wants_packets(&self) -> bool {
        (self.captures.as_ref()).is_some_and(Captures::wants_packets)
    }
    fn quic_log(&mut self, flow: FlowId, end: FlowEnd, text: &[u8]) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_log(flow, end, text));
        }
    }
    fn secrets(&mut self, secrets: &str) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_secrets(secrets));
        }
    }
    #[inline]
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_sent(now, packet));
        }
    }
    #[inline]
    fn received(&mut self, now: Time, packet: WholePacket<'_>) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_received(now, packet));
        }
    }
}
