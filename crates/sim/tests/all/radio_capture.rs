//! Tests of captures of the radio: they do not change the run, they are complete, and tshark can
//! read them.

use crate::common::parse;
use fadeout_core::random::Stream;
use fadeout_core::{
    CellId, Direction, Fingerprint, MacPdu, NodeId, Packet, PacketPool, Probe, ProbeSettings,
    RadioSubject, Reception, Span, Time, UeId,
};
use fadeout_radio::pdcp::{Ledger, PdcpConfig};
use fadeout_radio::rlc::{
    AmConfig, Entity, Generation, Mode, PduKind, RlcConfig, Sdu, TransportBlock, UmConfig,
};
use fadeout_radio::wire::{BearerFormat, BufferStatus, Encoder, Form, Load, Run};
use fadeout_record::{
    Destination, RadioChannel, RadioChannelForm, RadioInfo, Recorded, Recorder, RecorderConfig,
    RunFolder, RunInfo, Summary,
};
use fadeout_sim::{Control, Simulation};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An LTE cell at an SINR where link adaptation fails one block in ten and RLC segments packets.
const LTE: &str = "radio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"5 MHz\"\n\
                   channel = { path-loss = \"uma\" }\n\
                   [ue.phone]\ndownlink-sinr = \"6 dB\"\nuplink-sinr = \"2 dB\"\n";
const NR: &str = "radio = { kind = \"nr\", numerology = 3 }\ncarrier = \"28 GHz\"\n\
                  bandwidth = \"100 MHz\"\nchannel = { path-loss = \"umi\" }\n\
                  [ue.phone]\ndownlink-sinr = \"6 dB\"\nuplink-sinr = \"2 dB\"\n";

const FILE: &str = "captures/base.radio.pcapng";

fn scenario(cell: &str, mode: &str, probe: &str) -> String {
    format!(
        "duration = \"400 ms\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"10 Gbit/s\"\ndelay = \"5 ms\"\n\
         [cell.base]\n{cell}rlc = \"{mode}\"\n[flow.bulk]\nfrom = \"server\"\nto = \"phone\"\n\
         [probe]\ntransport-blocks = true\nradio-delay = true\n{probe}\n"
    )
}

fn run(text: &str, destination: Destination) -> (Fingerprint, Recorded) {
    let scenario = parse(text, ".".into(), &[]);
    let simulation = Simulation::new(scenario, destination).expect("a world");
    let outcome = simulation.run(|_| Control::Continue).expect("a run");
    (outcome.fingerprint, outcome.recorded)
}

fn rows(recorded: &Recorded, table: &str) -> u64 {
    let manifest: Value = serde_json::from_str(&recorded.manifest).expect("JSON");
    let tables = manifest["tables"].as_array().expect("a list");
    let found = tables.iter().find(|one| one["name"] == table);
    found.and_then(|one| one["rows"].as_u64()).expect(table)
}

#[test]
fn a_capture_changes_nothing_else() {
    for cell in [LTE, NR] {
        let (without, plain) = run(&scenario(cell, "am", ""), Destination::Memory);
        let captured = scenario(cell, "am", "radio-capture = [\"base\", \"phone\"]");
        let (with, recorded) = run(&captured, Destination::Memory);
        assert_eq!(with, without);
        assert_eq!(recorded.tables, plain.tables);
        assert_eq!(recorded.summary, plain.summary);
        let names: Vec<_> = recorded.captures.iter().map(|(name, _)| &**name).collect();
        let (base, phone) = ("captures/base.radio.pcapng", "captures/phone.radio.pcapng");
        assert_eq!(names, [base, phone]);
    }
}

/// A temporary folder that is removed when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let name = format!("fadeout-radio-capture-{name}-{}", std::process::id());
        Scratch(std::env::temp_dir().join(name))
    }
    fn destination(&self) -> Destination {
        Destination::Folder(RunFolder::create(&self.0, true).expect("a writable folder"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Errors are ignored, because the system cleans its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the fields of each packet as tshark prints them with the run's configuration. The values
/// of a repeated field are joined by commas. `None` if tshark is not installed.
fn tshark(folder: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let output = Command::new("tshark")
        .env("WIRESHARK_CONFIG_DIR", folder.join("captures/wireshark"))
        .arg("-r")
        .arg(folder.join(FILE))
        .args(["-T", "fields", "-E", "separator=|"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .output();
    let Ok(output) = output else {
        fadeout_testkit::skip_without("tshark");
        return None;
    };
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let text = String::from_utf8_lossy(&output.stdout);
    let split = |line: &str| line.split('|').map(str::to_owned).collect();
    Some(text.lines().map(split).collect())
}

#[test]
fn tshark_reads_whole_runs_from_mac_to_tcp() {
    for (cell, mode, mac, sn) in [
        (LTE, "am", "mac-lte", "rlc-lte.am.fixed.sn"),
        (LTE, "um", "mac-lte", "rlc-lte.um.sn"),
        (NR, "am", "mac-nr", "rlc-nr.am.sn"),
        (NR, "um", "mac-nr", "rlc-nr.um.sn"),
    ] {
        let scratch = Scratch::new(&format!("{mac}-{mode}"));
        let text = scenario(cell, mode, "radio-capture = [\"base\"]");
        let (_, recorded) = run(&text, scratch.destination());
        let fields = [
            "frame.protocols",
            "frame.comment",
            "_ws.malformed",
            sn,
            "tcp.len",
            "tcp.ack",
            "mac-lte.sr-req",
            "mac-lte.control.bsr",
            "mac-nr.ulsch.lcid",
        ];
        let Some(packets) = tshark(&scratch.0, &fields) else {
            return;
        };
        let (mut blocks, mut failed, mut numbers) = (0, 0, 0);
        let (mut segments, mut acknowledgments) = (0, 0);
        for packet in &packets {
            let [layers, comment, malformed, sn, data, ack, request, lte, nr] = &packet[..] else {
                panic!("{packet:?}");
            };
            assert!(layers.contains(mac), "{packet:?}");
            if !request.is_empty() {
                continue;
            }
            blocks += 1;
            if comment.starts_with("CRC failed") {
                failed += 1;
                continue;
            }
            assert_eq!(malformed, "", "{packet:?}");
            // Decoded blocks go on to RLC, except reports without data.
            let is_report = !lte.is_empty() || nr.split(',').any(|lcid| lcid == "62");
            assert!(layers.contains(":rlc-") || is_report, "{packet:?}");
            numbers += u32::from(!sn.is_empty());
            segments += data.split(',').filter(|&len| len == "1448").count();
            acknowledgments += ack.split(',').filter(|&ack| ack.len() > 4).count();
        }
        assert_eq!(blocks, rows(&recorded, "transport_blocks"), "{mac} {mode}");
        assert!(failed > 0 && failed < blocks / 2, "{failed} of {blocks}");
        let seen = (numbers, segments, acknowledgments);
        assert!(
            numbers > 10 && segments > 20 && acknowledgments > 5,
            "{seen:?}"
        );
    }
}

const fn with_sn(config: RlcConfig, sn_bits: u8) -> RlcConfig {
    let mode = match config.mode {
        Mode::Am(am) => Mode::Am(AmConfig { sn_bits, ..am }),
        Mode::Um(um) => Mode::Um(UmConfig { sn_bits, ..um }),
        Mode::Tm => Mode::Tm,
    };
    RlcConfig { mode, ..config }
}

/// Values that tshark has to find in a capture.
#[derive(Debug, Default, PartialEq)]
struct Sent {
    sns: Vec<u32>,
    nacks: Vec<u32>,
}

/// Exchanges packets between two RLC entities in one format while blocks are lost. Everything they
/// send is captured.
fn talk(format: &BearerFormat, rlc: &RlcConfig, recorder: &mut Recorder) -> Sent {
    let mut draws = Stream::new(1, "talk", u64::from(format.lcid));
    let mut ends = [0, 1].map(|_| Entity::new(rlc).expect("allowed"));
    let (mut ledger, mut pool) = (Ledger::new(), PacketPool::new());
    let mut encoder = Encoder::new();
    let mut sent = Sent::default();
    let is_nr = rlc.generation == Generation::Nr;
    for step in 0..300_u32 {
        let now = Time::ZERO + Span::from_millis(u64::from(step) * 7);
        let from = step as usize % 2;
        if from == 0 {
            let packet = pool.insert(Packet::default());
            let serial = ledger.enter(packet);
            // The packet is removed at once, because no test needs its headers.
            ledger.leave(serial);
            let sdu = Sdu {
                packet,
                size: 50 + draws.below(900) as u32,
                count: serial,
                serial,
                entered_at: now,
            };
            ends[0].push_sdu(sdu).expect("the buffer has room");
        }
        let size = 8 + draws.below(1200) as u32;
        let direction = [Direction::Downlink, Direction::Uplink][from];
        let status = (from == 1).then(|| BufferStatus::Lte.index(draws.below(500)));
        let mut block = TransportBlock::new();
        ends[from].pull(now, size - 4, &mut block);
        if block.is_empty() && status.is_none() {
            continue;
        }
        for pdu in &block.pdus {
            if pdu.kind == PduKind::Status {
                sent.nacks
                    .extend(block.nacks_of(pdu).iter().map(|nack| nack.sn));
            } else if !matches!(pdu.kind, PduKind::Tmd | PduKind::UmdComplete) {
                sent.sns.push(pdu.sn);
            }
        }
        let load = Load {
            is_nr,
            direction,
            size,
            block: &block,
            status,
        };
        let run = Run {
            format,
            ledger: &ledger,
            pdus: &block.pdus,
        };
        encoder.write(&load, std::iter::once(run));
        recorder.mac_pdu(&MacPdu {
            received_at: now,
            cell: CellId(0),
            ue: UeId(0),
            direction,
            is_nr,
            is_tdd: false,
            frame: (step * 7 / 10) as u16,
            slot: (step * 7 % 10) as u16,
            process: 0,
            round: 0,
            mcs: 9,
            modulation_bits: 2,
            n_prb: 6,
            size,
            reception: Reception::Decoded,
            bytes: encoder.bytes(),
            packets: encoder.packets(),
            pool: &pool,
        });
        if draws.below(4) > 0 {
            ends[1 - from].on_block(now, &block, &mut Vec::new());
        }
        for end in &mut ends {
            end.on_wake(now, &mut Vec::new());
        }
    }
    sent
}

#[test]
fn tshark_reads_every_form_of_rlc() {
    let (nr, lte) = (PdcpConfig::NR, PdcpConfig::LTE);
    for (rlc, pdcp, sn, nack) in [
        (RlcConfig::NR_AM, nr, "rlc-nr.am.sn", "rlc-nr.am.nack-sn"),
        (
            with_sn(RlcConfig::NR_AM, 12),
            nr,
            "rlc-nr.am.sn",
            "rlc-nr.am.nack-sn",
        ),
        (RlcConfig::NR_UM, nr, "rlc-nr.um.sn", "rlc-nr.am.nack-sn"),
        (
            with_sn(RlcConfig::NR_UM, 6),
            nr,
            "rlc-nr.um.sn",
            "rlc-nr.am.nack-sn",
        ),
        (
            RlcConfig::LTE_AM,
            lte,
            "rlc-lte.am.fixed.sn",
            "rlc-lte.am.nack-sn",
        ),
        (
            with_sn(RlcConfig::LTE_AM, 16),
            lte,
            "rlc-lte.am.fixed.sn",
            "rlc-lte.am.nack-sn",
        ),
        (
            RlcConfig::LTE_UM,
            lte,
            "rlc-lte.um.sn",
            "rlc-lte.am.nack-sn",
        ),
        (
            with_sn(RlcConfig::LTE_UM, 5),
            lte,
            "rlc-lte.um.sn",
            "rlc-lte.am.nack-sn",
        ),
        (RlcConfig::TM, nr, "rlc-nr.um.sn", "rlc-nr.am.nack-sn"),
    ] {
        let format = BearerFormat::new(&rlc, &pdcp, 0);
        let form = match format.rlc {
            Form::Tm => RadioChannelForm::Transparent,
            Form::Um(bits) => RadioChannelForm::Unacknowledged(bits),
            Form::Am(bits) => RadioChannelForm::Acknowledged(bits),
        };
        let config = RecorderConfig {
            cells: vec!["base".into()],
            ues: vec!["phone".into()],
            radio: RadioInfo {
                cell_nodes: vec![NodeId(0)],
                ue_nodes: vec![NodeId(1)],
                channels: vec![RadioChannel {
                    is_nr: format.generation == Generation::Nr,
                    lcid: format.lcid,
                    drb: format.drb(),
                    form,
                    pdcp_sn_bits: pdcp.sn_bits,
                }],
            },
            ..RecorderConfig::new(ProbeSettings {
                radio_capture: vec![RadioSubject::Cell(CellId(0))],
                ..ProbeSettings::NOTHING
            })
        };
        let scratch = Scratch::new(&format!("{:?}-{:?}", format.generation, format.rlc));
        let mut recorder = Recorder::new(&config, scratch.destination()).expect("a folder");
        let sent = talk(&format, &rlc, &mut recorder);
        let info = RunInfo {
            version: "1".into(),
            commit: None,
            scenario: json!({}),
            seed: 1,
            fingerprint: Fingerprint::default(),
            complete: true,
            summary: Summary::default(),
        };
        recorder.finish(Time::ZERO, info).expect("written");
        let fields = ["frame.protocols", "_ws.malformed", sn, nack];
        let Some(packets) = tshark(&scratch.0, &fields) else {
            return;
        };
        assert!(
            packets.iter().all(|packet| packet[1].is_empty()),
            "{form:?}"
        );
        let numbers = |field: usize| -> Vec<u32> {
            let texts = packets.iter().flat_map(|packet| packet[field].split(','));
            let texts = texts.filter(|text| !text.is_empty());
            texts.map(|text| text.parse().expect("a number")).collect()
        };
        let found = Sent {
            sns: numbers(2),
            nacks: numbers(3),
        };
        assert_eq!(found, sent, "{form:?}");
        let is_am = matches!(format.rlc, Form::Am(_));
        assert_eq!(sent.nacks.len() > 10, is_am, "{form:?}");
        let has = |layer| packets.iter().any(|packet| packet[0].contains(layer));
        assert!(has(":rlc-"), "{form:?}");
        assert_eq!(has(":pdcp-"), format.rlc != Form::Tm, "{form:?}");
    }
}
