//! Tests of recorded runs. The readers of arrow and parquet read the results back.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, RecordBatch, StringArray};
use arrow_ipc::reader::StreamReader;
use fadeout_core::table::SummarySink;
use fadeout_core::{
    CongestionRow, DropCause, DropRow, Fingerprint, FlowId, LinkId, Probe, ProbeSettings, RadioRow,
    RunRow, Sampling, Span, Time,
};
use fadeout_record::{
    Destination, FlowInfo, RecordError, Recorded, Recorder, RecorderConfig, RunFolder, RunInfo,
    Summary, TABLES,
};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Temporary folder of a test. It is removed at the end of the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fadeout-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the temporary folder is writable");
        Scratch(path)
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder exists");
        let mut names: Vec<String> = entries
            .map(|e| e.expect("readable").file_name().to_string_lossy().into())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn config() -> RecorderConfig {
    let flow = |name: &str| FlowInfo {
        name: name.into(),
        start: Time::ZERO,
    };
    RecorderConfig {
        flows: vec![flow("first"), flow("second")],
        links: vec!["radio.down".into(), "radio.up".into()],
        nodes: vec!["ue".into()],
        bearers: vec!["ue.1".into()],
        has_mobility: true,
        has_rrc: true,
        has_datagrams: true,
        has_bbr: true,
        has_quic: true,
        has_link_handovers: true,
        has_secondary_changes: true,
        ..RecorderConfig::new(probes())
    }
}

/// Returns settings that record everything.
fn probes() -> ProbeSettings {
    ProbeSettings {
        congestion: Sampling::Every(Span::from_millis(10)),
        throughput: Some(Span::from_millis(100)),
        queue: Sampling::Every(Span::from_millis(10)),
        drops: true,
        retransmissions: true,
        timeouts: true,
        flow_events: true,
        segments: Sampling::All,
        datagrams: Sampling::All,
        blockages: true,
        transport_blocks: true,
        bearers: Sampling::All,
        radio_delay: true,
        measurements: true,
        handovers: true,
        rrc: true,
        ..ProbeSettings::NOTHING
    }
}

/// Returns [`config`] with these settings.
fn config_with(probes: ProbeSettings) -> RecorderConfig {
    RecorderConfig { probes, ..config() }
}

fadeout_core::table! {
    /// A link, one row each.
    struct TideRow = "tides" in summary {
        /// Link.
        link: String, "";
        /// Packets.
        packets: u64, "packets";
        /// Rate; none of a link without.
        rate_mbps: Option<f64>, "Mbit/s";
        /// Delay.
        delay_s: f64, "s";
    }
}

/// Returns the summary of a run with two links and a radio access, and without flows.
fn summary() -> Summary {
    let mut summary = Summary::default();
    summary.add(&RunRow {
        title: String::new(),
        seed: 1,
        duration_s: 2.0,
        events: 3,
        packets: 4,
        fingerprint: "0".to_owned(),
    });
    for (link, rate_mbps) in [("up", Some(2.5)), ("down", None)] {
        summary.add(&TideRow {
            link: link.to_owned(),
            packets: u64::from(u32::MAX) + 1,
            rate_mbps,
            delay_s: f64::NAN,
        });
    }
    summary.add(&RadioRow {
        slots: 7,
        scheduling_requests: 8,
        link_failures: 9,
    });
    summary
}

fn info(complete: bool) -> RunInfo {
    RunInfo {
        version: "0.1.0".into(),
        commit: None,
        scenario: serde_json::json!({ "duration": "1 s" }),
        seed: u64::MAX,
        fingerprint: Fingerprint::default(),
        complete,
        summary: summary(),
    }
}

fn congestion(n: u64, flow: u32) -> CongestionRow {
    CongestionRow {
        time_s: at_us(n),
        flow: FlowId(flow),
        cwnd_segments: n as f64,
        ssthresh_segments: f64::INFINITY,
        in_flight_segments: 3,
        acked_bytes: n * 1448,
        srtt_s: Span::from_millis(20),
        rtt_s: Span::from_millis(21),
        rto_s: Span::from_millis(220),
        pacing_rate_mbps: 0.0,
        state: if n.is_multiple_of(2) {
            "open"
        } else {
            "recovery"
        },
    }
}

fn drop_row(n: u64) -> DropRow {
    let cause = if n.is_multiple_of(2) {
        DropCause::QueueFull
    } else {
        DropCause::Blocked
    };
    DropRow {
        time_s: at_us(n),
        link: LinkId(1),
        flow: FlowId(1),
        size_bytes: 1500,
        cause,
    }
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn folder(path: &Path, force: bool) -> Result<RunFolder, RecordError> {
    RunFolder::create(path, force)
}

/// Records `rows` congestion rows and ends the run.
fn record(config: &RecorderConfig, destination: Destination, rows: u64) -> Recorded {
    let mut recorder = Recorder::new(config, destination).expect("the destination is writable");
    for n in 0..rows {
        recorder.congestion(congestion(n, (n % 2) as u32));
    }
    recorder.delivered(at_us(10), FlowId(0), 1000);
    recorder.dropped(drop_row(0));
    recorder.dropped(drop_row(1));
    recorder
        .finish(at_us(1_000_000), info(true))
        .expect("the destination is writable")
}

fn stream(bytes: &[u8]) -> Vec<RecordBatch> {
    let reader = StreamReader::try_new(bytes, None).expect("a stream");
    reader.map(|batch| batch.expect("a batch")).collect()
}

fn names(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).expect("the column exists");
    let dictionary = column.as_dictionary::<Int32Type>();
    let names = dictionary
        .downcast_dict::<StringArray>()
        .expect("names are strings");
    names
        .into_iter()
        .map(|name| name.expect("no name is null").to_owned())
        .collect()
}

#[test]
fn a_table_in_memory_reads_back_with_names_units_and_docs() {
    let recorded = record(&config(), Destination::Memory, 5);
    assert!(recorded.folder.is_none());
    let (_, bytes) = recorded
        .tables
        .iter()
        .find(|(name, _)| *name == "drops")
        .expect("drops are on");
    let batches = stream(bytes);
    assert_eq!(batches.len(), 1);
    assert_eq!(names(&batches[0], "cause"), ["queue-full", "blocked"]);
    assert_eq!(names(&batches[0], "flow"), ["second", "second"]);
    assert_eq!(names(&batches[0], "link"), ["radio.up", "radio.up"]);
    let schema = batches[0].schema();
    let size = schema
        .field_with_name("size_bytes")
        .expect("the column exists");
    assert_eq!(size.metadata().get("unit").map(|s| &**s), Some("bytes"));
    assert_eq!(
        size.metadata().get("doc").map(|s| &**s),
        Some("Size of the IP packet.")
    );
    assert!(
        schema
            .metadata()
            .get("doc")
            .is_some_and(|doc| doc.starts_with("A packet that"))
    );
}

#[test]
fn what_a_network_without_flows_drops_is_of_a_flow_without_a_name() {
    let config = RecorderConfig {
        flows: Vec::new(),
        ..config()
    };
    let mut recorder = Recorder::new(&config, Destination::Memory).expect("into memory");
    recorder.dropped(DropRow {
        flow: FlowId(0),
        ..drop_row(1)
    });
    let recorded = recorder.finish(at_us(2), info(true)).expect("into memory");
    let drops = recorded.tables.iter().find(|(name, _)| *name == "drops");
    let batches = stream(&drops.expect("it is there").1);
    assert_eq!(names(&batches[0], "flow"), [""]);
}

#[test]
fn every_table_that_is_on_is_there_even_when_empty() {
    let recorded = record(&config(), Destination::Memory, 0);
    let found: Vec<_> = recorded.tables.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        found,
        TABLES
            .iter()
            .map(|table| table.name)
            .chain(["tides"])
            .collect::<Vec<_>>()
    );
    let off = config_with(ProbeSettings {
        drops: false,
        queue: Sampling::Off,
        ..probes()
    });
    let recorded = record(&off, Destination::Memory, 0);
    assert!(
        recorded
            .tables
            .iter()
            .all(|(name, _)| !["drops", "queues"].contains(name))
    );
}

#[test]
fn nowhere_takes_no_rows_and_still_sums_up() {
    let recorder = Recorder::new(&config(), Destination::Nowhere).expect("nothing to create");
    assert!(!recorder.wants_congestion(Time::ZERO, FlowId(1)));
    let recorded = record(&config(), Destination::Nowhere, 3);
    let names: Vec<_> = recorded.tables.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["tides"], "only what sums up");
    assert_eq!(recorded.folder, None);
    assert!(recorded.manifest.contains("\"complete\": true"));
}

#[test]
fn a_long_table_is_written_in_row_groups_and_reads_back_whole() {
    let scratch = Scratch::new("row-groups");
    let destination = Destination::Folder(folder(&scratch.path("run"), false).expect("created"));
    let rows = 200_000;
    let config = config_with(ProbeSettings {
        congestion: Sampling::All,
        ..probes()
    });
    let recorded = record(&config, destination, rows);
    assert_eq!(
        recorded.folder.as_deref(),
        Some(scratch.path("run").as_path())
    );
    let file = File::open(scratch.path("run/congestion.parquet")).expect("the table is there");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a parquet file");
    // A row group contains at most 512 KiB of rows.
    let group = 512 * 1024 / size_of::<CongestionRow>();
    let groups = (rows as usize).div_ceil(group);
    assert_eq!(builder.metadata().num_row_groups(), groups);
    let unit = builder
        .schema()
        .field(0)
        .metadata()
        .get("unit")
        .map(|s| s.to_string());
    assert_eq!(unit.as_deref(), Some("s"));
    let mut n = 0;
    for batch in builder.build().expect("readable") {
        let batch = batch.expect("readable");
        let time = batch.column(0).as_primitive::<Float64Type>();
        let acked = batch.column_by_name("acked_bytes").expect("there");
        let acked = acked.as_primitive::<UInt64Type>();
        let (flow, state) = (names(&batch, "flow"), names(&batch, "state"));
        for i in 0..batch.num_rows() {
            let expected = congestion(n, 0);
            assert_eq!(
                time.value(i).to_bits(),
                expected.time_s.as_secs_f64().to_bits()
            );
            assert_eq!(acked.value(i), expected.acked_bytes);
            assert_eq!(flow[i], ["first", "second"][(n % 2) as usize]);
            assert_eq!(state[i], expected.state);
            n += 1;
        }
        assert_eq!(batch.column(0).null_count(), 0);
    }
    assert_eq!(n, rows);
}

#[test]
fn the_manifest_tells_what_was_run_and_what_is_there() {
    let scratch = Scratch::new("manifest");
    let destination = Destination::Folder(folder(&scratch.path("run"), false).expect("created"));
    record(&config(), destination, 3);
    let read = |name: &str| -> serde_json::Value {
        let text = fs::read_to_string(scratch.path("run").join(name)).expect("the file is there");
        serde_json::from_str(&text).expect("it is JSON")
    };
    let manifest = read("manifest.json");
    assert_eq!(manifest["seed"], u64::MAX);
    assert_eq!(manifest["complete"], true);
    assert_eq!(manifest["scenario"]["duration"], "1 s");
    assert_eq!(manifest["tables"][0]["file"], "congestion.parquet");
    assert_eq!(manifest["tables"][0]["rows"], 3);
    assert_eq!(manifest["tables"][0]["columns"][1]["kind"], "flow");
    let summary = read("summary.json");
    assert_eq!(summary["fingerprint"], "0");
    assert_eq!(summary["radio"]["slots"], 7);
    assert_eq!(summary.as_object().map(|keys| keys.len()), Some(7));
}

#[test]
fn rows_that_sum_up_are_a_table_in_memory_and_in_a_folder() {
    let scratch = Scratch::new("rows");
    let destination = Destination::Folder(folder(&scratch.path("run"), false).expect("created"));
    record(&config(), destination, 1);
    let file = File::open(scratch.path("run/tides.parquet")).expect("the table is there");
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).expect("a parquet file");
    let mut batches = builder.build().expect("readable");
    let file = batches.next().expect("a row group").expect("readable");
    let kept = record(&config(), Destination::Nowhere, 1);
    let tides = kept.tables.iter().find(|(name, _)| *name == "tides");
    let memory = stream(&tides.expect("also where nothing is recorded").1).remove(0);
    for batch in [file, memory] {
        assert_eq!(batch.num_rows(), 2);
        let links: Vec<_> = batch.column(0).as_string::<i32>().iter().collect();
        assert_eq!(links, [Some("up"), Some("down")]);
        let packets = batch.column(1).as_primitive::<Int64Type>();
        assert_eq!(packets.value(0), 1 << 32);
        let rates: Vec<_> = batch
            .column(2)
            .as_primitive::<Float64Type>()
            .iter()
            .collect();
        assert_eq!(rates, [Some(2.5), None]);
        assert_eq!(batch.column(3).null_count(), 2, "it is no number");
        assert_eq!(batch.schema().field(2).metadata()["unit"], "Mbit/s");
    }
}

#[test]
fn columns_of_what_sums_up_are_at_hand_without_the_files() {
    let scratch = Scratch::new("columns");
    let destination = Destination::Folder(folder(&scratch.path("run"), false).expect("created"));
    let recorded = record(&config(), destination, 1);
    fs::remove_dir_all(scratch.path("run")).expect("the run is there");
    let rows = recorded.rows.expect("it went into a folder");
    let names = ["rate_mbps", "link", "packets", "delay_s"];
    assert_eq!(
        rows.columns("tides", names),
        Some(serde_json::json!({
            "rate_mbps": [2.5, null],
            "link": ["up", "down"],
            "packets": [1_u64 << 32, 1_u64 << 32],
            "delay_s": [null, null],
        }))
    );
    assert_eq!(rows.columns("tides", ["moon"]), None);
    let none = serde_json::json!({ "flow": [] });
    assert_eq!(rows.columns("flows", ["flow"]), Some(none), "no row came");
    assert!(
        record(&config(), Destination::Memory, 1).rows.is_none(),
        "there they are streams"
    );
}

#[test]
fn an_interrupted_run_keeps_what_was_recorded_and_says_so() {
    let scratch = Scratch::new("interrupted");
    let destination = Destination::Folder(folder(&scratch.path("run"), false).expect("created"));
    let mut recorder = Recorder::new(&config(), destination).expect("writable");
    recorder.congestion(congestion(1, 0));
    recorder.finish(at_us(2), info(false)).expect("writable");
    let manifest = fs::read_to_string(scratch.path("run/manifest.json")).expect("there");
    assert!(manifest.contains("\"complete\": false"), "{manifest}");
    assert!(scratch.path("run/congestion.parquet").is_file());
}

#[test]
fn nothing_is_left_of_a_run_that_is_given_up() {
    let scratch = Scratch::new("given-up");
    let destination = Destination::Folder(folder(&scratch.path("run"), false).expect("created"));
    let recorder = Recorder::new(&config(), destination).expect("writable");
    assert_eq!(scratch.entries().len(), 1, "the partial folder");
    drop(recorder);
    assert_eq!(scratch.entries(), Vec::<String>::new());
}

#[test]
fn an_existing_run_is_replaced_only_by_force() {
    let scratch = Scratch::new("force");
    let run = scratch.path("run");
    let write = |force, rows| {
        folder(&run, force)
            .map(|f| record(&config(), Destination::Folder(f), rows))
            .map(|_| ())
    };
    write(false, 1).expect("nothing is there yet");
    let error = write(false, 2).expect_err("a run is there");
    assert!(matches!(error, RecordError::Exists(_)));
    assert!(
        error.to_string().contains(&run.display().to_string()),
        "{error}"
    );
    write(true, 2).expect("forced");
    let manifest = fs::read_to_string(run.join("manifest.json")).expect("there");
    assert!(manifest.contains("\"rows\": 2"), "the new one is there");
    assert_eq!(scratch.entries(), ["run"], "the old one is gone");
}

#[test]
fn a_folder_that_is_no_run_is_never_replaced() {
    let scratch = Scratch::new("no-run");
    let home = scratch.path("home");
    fs::create_dir(&home).expect("writable");
    folder(&home, false).expect("an empty folder may be used");
    fs::write(home.join("thesis.tex"), "years of work").expect("writable");
    assert!(matches!(folder(&home, false), Err(RecordError::Exists(_))));
    let error = folder(&home, true).expect_err("not a run");
    assert!(
        error.to_string().contains("not the folder of a run"),
        "{error}"
    );
    assert_eq!(scratch.entries(), ["home"]);
}

#[test]
fn an_empty_folder_is_filled() {
    let scratch = Scratch::new("empty");
    fs::create_dir(scratch.path("run")).expect("writable");
    let folder = folder(&scratch.path("run"), false).expect("empty");
    record(&config(), Destination::Folder(folder), 1);
    assert!(scratch.path("run/manifest.json").is_file());
    assert_eq!(scratch.entries(), ["run"]);
}

#[test]
fn a_path_through_a_file_is_an_error_that_names_it() {
    let scratch = Scratch::new("through-file");
    fs::write(scratch.path("file"), "").expect("writable");
    let target = scratch.path("file/run");
    for force in [false, true] {
        let error = folder(&target, force).expect_err("a file is no folder");
        assert!(
            error
                .to_string()
                .contains(&scratch.path("file").display().to_string()),
            "{error}"
        );
        assert!(error.path().starts_with(scratch.path("file")));
    }
    assert!(matches!(
        folder(Path::new("/"), false),
        Err(RecordError::NoName(_))
    ));
}

#[test]
fn a_target_that_appears_meanwhile_is_not_lost_and_neither_is_the_run() {
    let scratch = Scratch::new("meanwhile");
    let run = scratch.path("run");
    let folder = folder(&run, false).expect("created");
    let mut recorder = Recorder::new(&config(), Destination::Folder(folder)).expect("writable");
    recorder.congestion(congestion(1, 0));
    fs::create_dir(&run).expect("writable");
    fs::write(run.join("other"), "").expect("writable");
    let error = recorder
        .finish(at_us(2), info(true))
        .expect_err("the target is taken");
    let RecordError::Kept { kept, .. } = &error else {
        panic!("{error}")
    };
    assert!(kept.join("manifest.json").is_file());
    assert!(
        error.to_string().contains(&kept.display().to_string()),
        "{error}"
    );
    assert!(run.join("other").is_file());
}

#[test]
fn sampled_rows_are_wanted_once_an_interval() {
    let every = Sampling::Every(Span::from_millis(1));
    let config = config_with(ProbeSettings {
        congestion: every,
        ..probes()
    });
    let mut recorder = Recorder::new(&config, Destination::Memory).expect("memory");
    let mut taken = 0;
    for n in 0..10_000 {
        if recorder.wants_congestion(at_us(n), FlowId(1)) {
            recorder.congestion(congestion(n, 1));
            taken += 1;
        }
    }
    assert_eq!(taken, 10, "10 ms hold ten intervals of 1 ms");
    let off = config_with(ProbeSettings {
        congestion: Sampling::Off,
        ..probes()
    });
    let recorder = Recorder::new(&off, Destination::Memory).expect("memory");
    assert!(!recorder.wants_congestion(at_us(5), FlowId(0)));
}

#[test]
fn the_same_rows_give_the_same_bytes() {
    let once = record(&config(), Destination::Memory, 70_000);
    let again = record(&config(), Destination::Memory, 70_000);
    assert_eq!(once.tables, again.tables);
    assert_eq!(once.manifest, again.manifest);
}
