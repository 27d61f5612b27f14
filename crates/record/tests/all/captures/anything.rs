//! Captures of arbitrary packets and transport blocks that endpoints and radios could send. A
//! random test and a fuzz target supply the bytes from which these are made.
//!
//! `pcap-file` reads the captures back, and `etherparse` reads IP and TCP headers. This test parses
//! TCP options itself.

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use fadeout_core::{
    AccurateEcnOption, Bytes, CellId, Direction, Dss, Ecn, EndpointId, Fingerprint, Flags, FlowId,
    MacPdu, MptcpOption, NodeId, Packet, PacketBytes, PacketPool, Probe, ProbeSettings,
    RadioSubject, Reception, SackBlock, SchedulingRequest, Segment, Span, Time, UeId, WholePacket,
};
use fadeout_record::{
    Destination, EndpointInfo, RadioInfo, Recorder, RecorderConfig, RunInfo, SubflowInfo,
    address_of,
};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::{Block, PcapNgParser};

/// Maximum number of packets made from one input.
const MOST_PACKETS: usize = 200;
/// Maximum length of headers in bytes, and maximum size of a file.
const HEADERS: u32 = 80;
const MOST_BYTES: u64 = 8 << 20;

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }
    fn bool(&mut self) -> bool {
        self.byte() & 1 != 0
    }
    fn word(&mut self) -> u16 {
        u16::from(self.byte()) << 8 | u16::from(self.byte())
    }
    /// Returns a number from the input. Small numbers are the most frequent.
    fn number(&mut self) -> u64 {
        match self.byte() {
            0..160 => u64::from(self.byte()),
            160..230 => u64::from(self.word()),
            _ => (0..4).fold(0, |number, _| number << 16 | u64::from(self.word())),
        }
    }
    fn name(&mut self) -> String {
        let length = usize::from(self.byte() % 40) << (self.byte() % 4);
        let length = length.min(self.0.len());
        let (name, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(name).into_owned()
    }
}

/// Time and contents of a packet that a capture file must contain.
struct Expected {
    at: Time,
    kept: usize,
    length: u32,
    segment: Segment,
    ecn: Ecn,
}

/// Records the packets that `data` encodes, and reads the captures back.
///
/// # Panics
/// Panics if a capture differs from its packets.
pub(crate) fn check_captures(data: &[u8]) {
    let input = &mut Input(data);
    let config = config(input);
    let mut recorder = Recorder::new(&config, Destination::Memory).expect("memory is there");
    let mut expected = Vec::new();
    let (mut now, mut bytes) = (Time::ZERO, 0);
    for _ in 0..MOST_PACKETS {
        if input.0.is_empty() || bytes > MOST_BYTES {
            break;
        }
        now = now.saturating_add(Span::from_nanos(input.number()));
        match input.byte() % 8 {
            0 => recorder.scheduling_request(request(input, now)),
            1 => mac_pdu(input, now, &config, &mut recorder),
            _ => {
                let packet = packet(input, &config);
                let length = packet.segment.wire_len();
                let from = config.endpoints[packet.to.index()].peer;
                let is_sent = input.bool();
                let host = if is_sent { from } else { packet.to };
                if is_sent {
                    recorder.sent(now, WholePacket::of_zeros(&packet));
                } else {
                    recorder.received(now, WholePacket::of_zeros(&packet));
                }
                if config.endpoints[host.index()].node == NodeId(0) {
                    expected.push(Expected {
                        at: now,
                        kept: kept(length, config.probes.capture_snap),
                        length,
                        segment: packet.segment,
                        ecn: packet.ecn,
                    });
                    bytes += kept(length, config.probes.capture_snap) as u64;
                }
            }
        }
    }
    let recorded = recorder.finish(now, run_info()).expect("memory is there");
    let [(node, of_node), (cell, of_cell)] = &recorded.captures[..] else {
        panic!("a node's and a cell's");
    };
    check_node(node, of_node, &expected);
    check_cell(cell, of_cell);
}

fn kept(length: u32, snap: Bytes) -> usize {
    match snap.0 {
        0 => length as usize,
        snap => (length as usize).min(usize::try_from(snap).unwrap_or(usize::MAX)),
    }
}

fn config(input: &mut Input<'_>) -> RecorderConfig {
    let snap = |input: &mut Input<'_>| Bytes(input.number().min(1 << 33));
    let nodes = vec![input.name(), input.name()];
    let is_multipath = input.bool();
    let endpoint = |id: u32, path: u8| EndpointInfo {
        flow: FlowId(u32::from(path)),
        node: NodeId(id % 2),
        peer: EndpointId(id ^ 1),
        address: address_of(NodeId(id % 2), path),
        port: 40_000 + u16::from(path),
        subflow: is_multipath.then_some(SubflowInfo {
            first: EndpointId(id % 2),
            path,
        }),
    };
    RecorderConfig {
        endpoints: vec![
            endpoint(0, 0),
            endpoint(1, 0),
            endpoint(2, 1),
            endpoint(3, 1),
        ],
        nodes,
        cells: vec![input.name()],
        ues: vec![input.name()],
        radio: RadioInfo {
            cell_nodes: vec![NodeId(0)],
            ue_nodes: vec![NodeId(1)],
            channels: Vec::new(),
        },
        ..RecorderConfig::new(ProbeSettings {
            capture: vec![NodeId(0)],
            capture_snap: snap(input),
            radio_capture: vec![RadioSubject::Cell(CellId(0))],
            radio_capture_snap: snap(input),
            ..ProbeSettings::NOTHING
        })
    }
}

fn packet(input: &mut Input<'_>, config: &RecorderConfig) -> Packet {
    Packet {
        to: EndpointId(u32::from(input.byte()) % config.endpoints.len() as u32),
        hop: input.byte(),
        ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(input.byte() & 3)],
        segment: segment(input, config.endpoints[0].subflow.is_some()),
        ..Packet::default()
    }
}

/// Returns a segment with arbitrary fields. Its options fit into the header, as in all segments
/// that endpoints send.
fn segment(input: &mut Input<'_>, is_multipath: bool) -> Segment {
    let mut segment = Segment {
        seq: input.number(),
        ack: input.number(),
        window: input.number(),
        len: match input.byte() {
            0..200 => u32::from(input.word()) % 1500,
            200..250 => u32::from(input.word()),
            _ => u32::from(input.word()) << 4,
        },
        ts_value: input.number() as u32,
        ts_echo: input.number() as u32,
        flags: Flags(input.word() & 0x1ff),
        ..Segment::default()
    };
    let options = input.byte();
    if segment.flags.has(Flags::SYN) {
        segment.mss = input.word();
        segment.window_scale = (options & 1 != 0).then(|| input.byte());
        segment.sack_permitted = options & 2 != 0;
    }
    segment.has_timestamps = options & 4 != 0;
    if options & 8 != 0 && is_multipath {
        segment.mptcp = multipath(input);
    }
    if options & 16 != 0 {
        let counters = [(); 3].map(|()| input.number() as u32);
        segment.accurate = AccurateEcnOption::new(counters, input.byte(), input.bool());
    }
    if options & 32 != 0 {
        for _ in 0..input.byte() % 5 {
            let (start, end) = (input.number(), input.number());
            segment.sack.push(SackBlock { start, end });
        }
    }
    if segment.options_len() > 40 {
        segment.sack = Default::default();
    }
    if segment.options_len() > 40 {
        segment.accurate = AccurateEcnOption::default();
    }
    if segment.options_len() > 40 {
        segment.mptcp = MptcpOption::None;
    }
    segment
}

fn multipath(input: &mut Input<'_>) -> MptcpOption {
    match input.byte() % 9 {
        0 => MptcpOption::Capable,
        1 => MptcpOption::Join {
            backup: input.bool(),
        },
        2 | 3 => MptcpOption::Dss(Dss {
            data_ack: input.number(),
            data_seq: input.number(),
            data_len: input.word(),
            data_fin: input.bool(),
            has_long_ack: input.bool(),
        }),
        4 => MptcpOption::AddAddress {
            path: input.byte() % 8,
            is_echo: input.bool(),
        },
        5 => MptcpOption::RemoveAddress {
            path: input.byte() % 8,
        },
        6 => MptcpOption::Priority {
            backup: input.bool(),
        },
        7 => MptcpOption::Reset {
            reason: input.byte(),
        },
        _ => MptcpOption::FastClose,
    }
}

fn request(input: &mut Input<'_>, now: Time) -> SchedulingRequest {
    SchedulingRequest {
        sent_at: now,
        cell: CellId(0),
        ue: UeId(0),
        is_nr: input.bool(),
        is_tdd: input.bool(),
        frame: input.word() % 1024,
        slot: u16::from(input.byte() % 10),
    }
}

/// Records a transport block, which may contain packets at any position.
fn mac_pdu(input: &mut Input<'_>, now: Time, config: &RecorderConfig, recorder: &mut Recorder) {
    let mut pool = PacketPool::new();
    let bytes = vec![0; usize::from(input.word()) >> (input.byte() % 16)];
    let mut packets = Vec::new();
    for _ in 0..input.byte() % 4 {
        let packet = packet(input, config);
        let whole = packet.segment.wire_len();
        let at = u32::from(input.word()).min(bytes.len() as u32);
        let offset = u32::from(input.word()).min(whole);
        let len = u32::from(input.word())
            .min(whole - offset)
            .min(bytes.len() as u32 - at);
        packets.push(PacketBytes {
            at,
            packet: pool.insert(packet),
            offset,
            len,
        });
    }
    let is_decoded = input.bool();
    recorder.mac_pdu(&MacPdu {
        received_at: now,
        cell: CellId(0),
        ue: UeId(0),
        direction: [Direction::Downlink, Direction::Uplink][usize::from(input.bool())],
        is_nr: input.bool(),
        is_tdd: input.bool(),
        frame: input.word() % 1024,
        slot: u16::from(input.byte() % 10),
        process: input.byte() % 32,
        round: u32::from(input.byte()),
        mcs: input.number() as u32,
        modulation_bits: input.number() as u32,
        n_prb: input.number() as u32,
        size: bytes.len() as u32 + u32::from(input.word()),
        reception: if is_decoded {
            Reception::Decoded
        } else {
            [Reception::Failed, Reception::Repeated][usize::from(input.bool())]
        },
        bytes: if is_decoded { &bytes } else { &[] },
        packets: if is_decoded { &packets } else { &[] },
        pool: &pool,
    });
}

fn run_info() -> RunInfo {
    RunInfo {
        version: String::new(),
        commit: None,
        scenario: serde_json::Value::Null,
        seed: 0,
        fingerprint: Fingerprint::default(),
        complete: true,
        summary: fadeout_record::Summary::default(),
    }
}

/// Returns the packets of a file with one interface.
fn packets<'a>(name: &str, file: &'a [u8]) -> Vec<EnhancedPacketBlock<'a>> {
    let mut packets = Vec::new();
    let (mut rest, mut parser) =
        PcapNgParser::new(file).unwrap_or_else(|error| panic!("{name}: {error}"));
    while !rest.is_empty() {
        let (left, block) = parser
            .next_block(rest)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        rest = left;
        match block {
            Block::EnhancedPacket(packet) => packets.push(packet),
            other => assert!(
                matches!(other, Block::InterfaceDescription(_)),
                "{name}: {other:?}"
            ),
        }
    }
    assert_eq!(parser.interfaces().len(), 1, "{name}");
    packets
}

fn check_node(name: &str, file: &[u8], expected: &[Expected]) {
    let packets = packets(name, file);
    assert_eq!(packets.len(), expected.len());
    for (packet, expected) in packets.iter().zip(expected) {
        let at = u128::from(expected.at.as_nanos());
        assert_eq!(packet.timestamp.as_nanos(), at);
        let lengths = (packet.data.len(), packet.original_len);
        assert_eq!(lengths, (expected.kept, expected.length));
        check_packet(&packet.data, &expected.segment, expected.ecn);
    }
}

fn check_cell(name: &str, file: &[u8]) {
    for packet in packets(name, file) {
        assert!(packet.data.len() <= packet.original_len as usize);
        check_exported(&packet.data);
    }
}

/// Checks that the tags of an exported PDU end within the PDU. A truncated PDU is not checked.
fn check_exported(mut bytes: &[u8]) {
    while let Some((head, rest)) = bytes.split_at_checked(4) {
        let [tag, length] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_be_bytes);
        if tag == 0 {
            assert_eq!(length, 0);
            return;
        }
        assert!(matches!(tag, 12 | 13 | 20 | 21), "tag {tag}");
        let Some((_, rest)) = rest.split_at_checked(length.into()) else {
            return;
        };
        bytes = rest;
    }
}

fn check_packet(bytes: &[u8], segment: &Segment, ecn: Ecn) {
    let whole = segment.wire_len();
    // Packets larger than IP allows have no length field, and truncated packets are not checked.
    if bytes.len() < whole as usize || whole > 65_535 {
        return;
    }
    let packet =
        SlicedPacket::from_ip(bytes).unwrap_or_else(|error| panic!("{error}: {segment:?}"));
    let Some(NetSlice::Ipv4(ip)) = &packet.net else {
        panic!("IPv4: {segment:?}")
    };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    assert_eq!(header.ecn.value(), ecn as u8);
    assert_eq!(u32::from(header.total_len), whole);
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else {
        panic!("TCP: {segment:?}")
    };
    assert_eq!(tcp.payload().len(), segment.len as usize, "{segment:?}");
    assert!(tcp.payload().iter().all(|&byte| byte == 0));
    let sum = tcp.calc_checksum_ipv4(header.source, header.destination);
    assert_eq!(Ok(tcp.checksum()), sum, "{segment:?}");
    assert!(u32::from(header.header_len() as u16) + tcp.header_len() as u32 <= HEADERS);
    assert_eq!(tcp.syn(), segment.flags.has(Flags::SYN));
    check_options(tcp.options(), segment);
}

/// Checks that each option is complete, occurs once and belongs to the segment.
fn check_options(mut options: &[u8], segment: &Segment) {
    let mut kinds = Vec::new();
    while let Some(&kind) = options.first() {
        if kind == 1 {
            options = &options[1..];
            continue;
        }
        assert!(kind != 0, "no padding behind the last option");
        let length = usize::from(options[1]);
        assert!(
            length >= 2 && length <= options.len(),
            "option {kind} of {length} bytes"
        );
        let blocks = segment.sack.as_slice().len();
        let is_right = match kind {
            2 => length == 4 && segment.mss != 0,
            3 => length == 3 && segment.window_scale.is_some(),
            4 => length == 2 && segment.sack_permitted,
            5 => length == 2 + 8 * blocks && blocks > 0,
            8 => length == 10 && segment.has_timestamps,
            30 => length >= 3 && !segment.mptcp.is_empty(),
            172 | 174 => segment.accurate.is_present(),
            _ => false,
        };
        assert!(is_right, "option {kind} of {length} bytes in {segment:?}");
        kinds.push(kind);
        options = &options[length..];
    }
    let all = kinds.len();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), all, "each stands once");
}
