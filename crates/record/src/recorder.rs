//! The probe that keeps what it is told.

use crate::capture::{Captures, Finished};
use crate::columns::Names;
use crate::manifest::{CaptureEntry, Manifest, TableEntry, pretty};
use crate::sampler::Sampler;
use crate::table::TableWriter;
use crate::throughput::Throughput;
use crate::{Destination, RecordError, RecorderConfig, RunFolder, RunInfo, Sampling};
use arrow_array::StringArray;
use fadeout_core::table::{Row, Table};
use fadeout_core::{
    BearerId, BearerRow, BlockageRow, CellId, CongestionRow, DropRow, FlowEventRow, FlowId, LinkId,
    MacPdu, Packet, Probe, QueueRow, RadioDelayRow, RadioDropRow, RetransmitRow, SchedulingRequest,
    ThroughputRow, Time, TimeoutRow, TransportBlockRow, UeId,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Every table that can be recorded.
pub const TABLES: &[Table] = &[
    CongestionRow::TABLE,
    ThroughputRow::TABLE,
    QueueRow::TABLE,
    DropRow::TABLE,
    RetransmitRow::TABLE,
    TimeoutRow::TABLE,
    FlowEventRow::TABLE,
    BlockageRow::TABLE,
    TransportBlockRow::TABLE,
    BearerRow::TABLE,
    RadioDelayRow::TABLE,
    RadioDropRow::TABLE,
];

/// Keeps the rows of a run in memory, or writes them into its folder as the run goes.
///
/// A write that fails does not stop the simulation: the error is kept, [`Recorder::error`] shows
/// it, and [`Recorder::finish`] returns it.
#[derive(Debug)]
pub struct Recorder {
    // Tables before the folder: files are closed before a folder that is given up is removed.
    congestion: Option<TableWriter<CongestionRow>>,
    throughput: Option<TableWriter<ThroughputRow>>,
    queues: Option<TableWriter<QueueRow>>,
    drops: Option<TableWriter<DropRow>>,
    retransmissions: Option<TableWriter<RetransmitRow>>,
    timeouts: Option<TableWriter<TimeoutRow>>,
    flow_events: Option<TableWriter<FlowEventRow>>,
    blockages: Option<TableWriter<BlockageRow>>,
    transport_blocks: Option<TableWriter<TransportBlockRow>>,
    bearers: Option<TableWriter<BearerRow>>,
    radio_delay: Option<TableWriter<RadioDelayRow>>,
    radio_drops: Option<TableWriter<RadioDropRow>>,
    captures: Option<Captures>,
    congestion_due: Sampler,
    queue_due: Sampler,
    bearer_due: Sampler,
    bins: Option<Throughput>,
    error: Option<RecordError>,
    folder: Option<RunFolder>,
}

/// What a run left behind.
#[derive(Debug)]
pub struct Recorded {
    /// `manifest.json`.
    pub manifest: String,
    /// `summary.json`.
    pub summary: String,
    /// The folder, when the run was recorded into one.
    pub folder: Option<PathBuf>,
    /// Name and Arrow IPC stream of each table, when it was recorded in memory.
    pub tables: Vec<(&'static str, Vec<u8>)>,
    /// Path within a run folder and pcapng bytes of each capture, when recorded in memory.
    pub captures: Vec<(String, Vec<u8>)>,
}

impl Recorder {
    /// A recorder of what `config` asks for. Files are created at once, so that a folder that
    /// cannot be written fails before the run and not after it.
    ///
    /// # Errors
    /// [`RecordError::Write`] with the path that could not be created.
    pub fn new(config: &RecorderConfig, destination: Destination) -> Result<Self, RecordError> {
        let nothing;
        let (config, folder) = match destination {
            Destination::Nowhere => {
                nothing = config.without_records();
                (&nothing, None)
            }
            Destination::Memory => (config, None),
            Destination::Folder(folder) => (config, Some(folder)),
        };
        let opener = Opener {
            names: Names {
                flows: Arc::new(StringArray::from_iter_values(
                    config.flows.iter().map(|f| &f.name),
                )),
                links: Arc::new(StringArray::from_iter_values(&config.links)),
                nodes: Arc::new(StringArray::from_iter_values(&config.nodes)),
                cells: Arc::new(StringArray::from_iter_values(&config.cells)),
                ues: Arc::new(StringArray::from_iter_values(&config.ues)),
                bearers: Arc::new(StringArray::from_iter_values(&config.bearers)),
            },
            folder: folder.as_ref(),
        };
        let bins = config.throughput_bin.filter(|width| !width.is_zero());
        Ok(Recorder {
            congestion: opener.open(config.congestion != Sampling::Off)?,
            throughput: opener.open(bins.is_some())?,
            queues: opener.open(config.queues != Sampling::Off)?,
            drops: opener.open(config.drops)?,
            retransmissions: opener.open(config.retransmissions)?,
            timeouts: opener.open(config.timeouts)?,
            flow_events: opener.open(config.flow_events)?,
            blockages: opener.open(config.blockages)?,
            transport_blocks: opener.open(config.transport_blocks)?,
            bearers: opener.open(config.bearer_samples != Sampling::Off)?,
            radio_delay: opener.open(config.radio_delay)?,
            radio_drops: opener.open(config.radio_drops)?,
            captures: Captures::open(config, folder.as_ref())?,
            congestion_due: Sampler::new(config.congestion, config.flows.len()),
            queue_due: Sampler::new(config.queues, config.links.len()),
            bearer_due: Sampler::new(config.bearer_samples, config.bearers.len()),
            bins: bins.map(|width| Throughput::new(width, &config.flows)),
            error: None,
            folder,
        })
    }

    /// The first write that failed; there is no sense in simulating on.
    pub fn error(&self) -> Option<&RecordError> {
        self.error.as_ref()
    }

    /// Ends the record at simulated time `end`: completes every table, writes the manifest and
    /// the summary, and gives the folder its name.
    ///
    /// # Errors
    /// The first [`RecordError`] of the run or of its end, inside a [`RecordError::Kept`] when
    /// results were left in a partial folder.
    pub fn finish(mut self, end: Time, info: &RunInfo) -> Result<Recorded, RecordError> {
        if let (Some(bins), Some(table)) = (&mut self.bins, &mut self.throughput) {
            let error = &mut self.error;
            bins.finish(end, &mut |row| push(table, error, row));
        }
        let mut closing = Closing::default();
        closing.table(self.congestion.take());
        closing.table(self.throughput.take());
        closing.table(self.queues.take());
        closing.table(self.drops.take());
        closing.table(self.retransmissions.take());
        closing.table(self.timeouts.take());
        closing.table(self.flow_events.take());
        closing.table(self.blockages.take());
        closing.table(self.transport_blocks.take());
        closing.table(self.bearers.take());
        closing.table(self.radio_delay.take());
        closing.table(self.radio_drops.take());
        closing.captures(self.captures.take());

        let manifest = pretty(&Manifest {
            version: &info.version,
            seed: info.seed,
            fingerprint: info.fingerprint.to_string(),
            complete: info.complete,
            simulated_s: end.as_secs_f64(),
            tables: closing.table_entries,
            captures: closing.capture_entries,
            scenario: &info.scenario,
        });
        let summary = pretty(&info.summary);
        let mut error = self.error.take().or(closing.error);
        let mut committed = None;
        if let Some(mut folder) = self.folder.take() {
            error = error
                .or_else(|| folder.write("summary.json", summary.as_bytes()).err())
                .or_else(|| folder.write("manifest.json", manifest.as_bytes()).err());
            if let Some(error) = error {
                return Err(folder.keep(error));
            }
            committed = Some(folder.commit()?);
        } else if let Some(error) = error {
            return Err(error);
        }
        let (tables, captures) = (closing.tables, closing.captures);
        Ok(Recorded {
            manifest,
            summary,
            folder: committed,
            tables,
            captures,
        })
    }
}

/// Creates tables where the run goes.
struct Opener<'a> {
    names: Names,
    folder: Option<&'a RunFolder>,
}

impl Opener<'_> {
    fn open<R: Row>(&self, wanted: bool) -> Result<Option<TableWriter<R>>, RecordError> {
        if !wanted {
            return Ok(None);
        }
        Ok(Some(match self.folder {
            None => TableWriter::in_memory(&self.names),
            Some(folder) => TableWriter::to_file(&folder.path(&file_name::<R>()), &self.names)?,
        }))
    }
}

fn file_name<R: Row>() -> String {
    format!("{}.parquet", R::TABLE.name)
}

/// Collects what the tables and captures leave as they are completed. All are tried, whatever
/// becomes of the others.
#[derive(Default)]
struct Closing {
    table_entries: Vec<TableEntry>,
    capture_entries: Vec<CaptureEntry>,
    tables: Vec<(&'static str, Vec<u8>)>,
    captures: Vec<(String, Vec<u8>)>,
    error: Option<RecordError>,
}

impl Closing {
    fn table<R: Row>(&mut self, table: Option<TableWriter<R>>) {
        let Some(table) = table else { return };
        let name = R::TABLE.name;
        let rows = table.rows();
        let (file, definition) = (file_name::<R>(), (&R::TABLE).into());
        self.table_entries.push(TableEntry {
            name,
            file,
            rows,
            definition,
        });
        match table.finish() {
            Ok(bytes) => self.tables.extend(bytes.map(|bytes| (name, bytes))),
            Err(error) => self.fail(error),
        }
    }

    fn captures(&mut self, captures: Option<Captures>) {
        let Some(captures) = captures else { return };
        match captures.finish() {
            Ok(finished) => {
                for Finished {
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
fn push<R: Row>(table: &mut TableWriter<R>, error: &mut Option<RecordError>, row: R) {
    if table.push(row) {
        keep_first(error, table.flush());
    }
}

fn keep_first(first: &mut Option<RecordError>, result: Result<(), RecordError>) {
    if let Err(error) = result {
        first.get_or_insert(error);
    }
}

impl Probe for Recorder {
    #[inline]
    fn wants_congestion(&self, now: Time, flow: FlowId) -> bool {
        self.congestion_due.is_due(now, flow.index())
    }
    #[inline]
    fn congestion(&mut self, row: CongestionRow) {
        if let Some(table) = &mut self.congestion {
            self.congestion_due.on_sample(row.time_s, row.flow.index());
            push(table, &mut self.error, row);
        }
    }
    fn retransmit(&mut self, row: RetransmitRow) {
        if let Some(table) = &mut self.retransmissions {
            push(table, &mut self.error, row);
        }
    }
    fn timeout(&mut self, row: TimeoutRow) {
        if let Some(table) = &mut self.timeouts {
            push(table, &mut self.error, row);
        }
    }
    fn flow_event(&mut self, row: FlowEventRow) {
        if let Some(bins) = &mut self.bins
            && matches!(row.event, "completed" | "closed" | "aborted")
        {
            bins.on_done(row.flow);
        }
        if let Some(table) = &mut self.flow_events {
            push(table, &mut self.error, row);
        }
    }
    #[inline]
    fn wants_queue(&self, now: Time, link: LinkId) -> bool {
        self.queue_due.is_due(now, link.index())
    }
    #[inline]
    fn queue(&mut self, row: QueueRow) {
        if let Some(table) = &mut self.queues {
            self.queue_due.on_sample(row.time_s, row.link.index());
            push(table, &mut self.error, row);
        }
    }
    fn dropped(&mut self, row: DropRow) {
        if let Some(table) = &mut self.drops {
            push(table, &mut self.error, row);
        }
    }
    fn blockage(&mut self, row: BlockageRow) {
        if let Some(table) = &mut self.blockages {
            push(table, &mut self.error, row);
        }
    }
    #[inline]
    fn wants_transport_blocks(&self, _cell: CellId) -> bool {
        self.transport_blocks.is_some()
    }
    fn transport_block(&mut self, row: TransportBlockRow) {
        if let Some(table) = &mut self.transport_blocks {
            push(table, &mut self.error, row);
        }
    }
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
    fn wants_bearer(&self, now: Time, bearer: BearerId) -> bool {
        self.bearers.is_some() && self.bearer_due.is_due(now, bearer.index())
    }
    fn bearer(&mut self, row: BearerRow) {
        if let Some(table) = &mut self.bearers {
            self.bearer_due.on_sample(row.time_s, row.bearer.index());
            push(table, &mut self.error, row);
        }
    }
    #[inline]
    fn wants_radio_delay(&self, _bearer: BearerId) -> bool {
        self.radio_delay.is_some()
    }
    fn radio_delay(&mut self, row: RadioDelayRow) {
        if let Some(table) = &mut self.radio_delay {
            push(table, &mut self.error, row);
        }
    }
    fn radio_dropped(&mut self, row: RadioDropRow) {
        if let Some(table) = &mut self.radio_drops {
            push(table, &mut self.error, row);
        }
    }
    #[inline]
    fn delivered(&mut self, now: Time, flow: FlowId, bytes: u64) {
        if let (Some(bins), Some(table)) = (&mut self.bins, &mut self.throughput) {
            if bins.is_over(now) {
                let error = &mut self.error;
                bins.roll(now, &mut |row| push(table, error, row));
            }
            bins.add(flow, bytes);
        }
    }
    #[inline]
    fn sent(&mut self, now: Time, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_sent(now, packet));
        }
    }
    #[inline]
    fn received(&mut self, now: Time, packet: &Packet) {
        if let Some(captures) = &mut self.captures {
            keep_first(&mut self.error, captures.on_received(now, packet));
        }
    }
}
