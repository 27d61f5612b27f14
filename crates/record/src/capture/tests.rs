//! Tests of captures. The reader of the tests shares no code with the writer.

use super::headers::{Addressed, Headers};
use super::stem::file_stem;
use super::*;
use crate::{EndpointInfo, FlowInfo};
use fadeout_core::{
    AccurateEcnOption, Bytes, Ecn, EndpointId, Flags, FlowId, Packet, ProbeSettings, SackBlock,
    SackList, Segment, Span,
};

/// Returns an endpoint of flow 0.
pub(super) fn endpoint(node: u32, peer: u32, port: u16) -> EndpointInfo {
    EndpointInfo {
        flow: FlowId(0),
        node: NodeId(node),
        peer: EndpointId(peer),
        address: address_of(NodeId(node), 0),
        port,
        subflow: None,
    }
}

/// Returns a client on node 0 (endpoint 0) and a server on node 1 (endpoint 1).
fn config(snaplen: u64) -> RecorderConfig {
    RecorderConfig {
        flows: vec![FlowInfo {
            name: "bulk".into(),
            start: Time::ZERO,
        }],
        nodes: vec!["client".into(), "server".into()],
        endpoints: vec![endpoint(0, 1, 40_000), endpoint(1, 0, 443)],
        ..RecorderConfig::new(ProbeSettings {
            capture: vec![NodeId(0)],
            capture_snap: Bytes(snaplen),
            ..ProbeSettings::NOTHING
        })
    }
}

fn packet(to: u32, segment: Segment) -> Packet {
    Packet {
        to: EndpointId(to),
        segment,
        ..Packet::default()
    }
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Fields of an enhanced packet block and of its headers, as read by the test.
#[derive(Debug, Default, PartialEq)]
struct Read {
    nanos: u64,
    original: usize,
    captured: usize,
    tos: u8,
    source: [u8; 4],
    destination: [u8; 4],
    ports: (u16, u16),
    seq: u32,
    ack: u32,
    flags: u16,
    window: u16,
    options: Vec<(u8, Vec<u8>)>,
}

fn le(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}
fn be(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Returns the one's complement sum of `bytes`. It is 0xffff if they contain a correct checksum.
fn ones_complement(bytes: &[u8]) -> u64 {
    let mut sum = 0;
    for pair in bytes.chunks(2) {
        sum += be(&[pair[0], pair.get(1).copied().unwrap_or(0)]);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn blocks(mut file: &[u8]) -> Vec<(u64, &[u8])> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = le(&file[4..8]) as usize;
        assert_eq!(length % 4, 0, "blocks are padded to 32 bits");
        assert_eq!(
            le(&file[length - 4..length]) as usize,
            length,
            "length stands at both ends"
        );
        blocks.push((le(&file[..4]), &file[8..length - 4]));
        file = &file[length..];
    }
    blocks
}

fn read(file: &[u8]) -> Vec<Read> {
    blocks(file)[2..]
        .iter()
        .map(|(kind, body)| {
            assert_eq!(*kind, 6, "an enhanced packet block");
            let captured = le(&body[12..16]) as usize;
            let original = le(&body[16..20]) as usize;
            let ip = &body[20..20 + captured];
            assert_eq!(ip[0], 0x45);
            assert_eq!(be(&ip[2..4]) as usize, original, "total length");
            assert_eq!(ones_complement(&ip[..20]), 0xffff, "IP checksum");
            let tcp = &ip[20..];
            let offset = usize::from(tcp[12] >> 4) * 4;
            let mut pseudo = ip[12..20].to_vec();
            pseudo.extend([0, 6]);
            pseudo.extend(((original - 20) as u16).to_be_bytes());
            pseudo.extend(&tcp[..offset]);
            pseudo.resize(pseudo.len() + original - 20 - offset, 0);
            assert_eq!(ones_complement(&pseudo), 0xffff, "TCP checksum");
            assert!(
                tcp[offset..].iter().all(|&byte| byte == 0),
                "the payload is zeros"
            );
            let mut options = Vec::new();
            let mut rest = &tcp[20..offset];
            while !rest.is_empty() {
                if rest[0] == 1 {
                    rest = &rest[1..];
                    options.push((1, Vec::new()));
                } else {
                    let length = usize::from(rest[1]);
                    options.push((rest[0], rest[2..length].to_vec()));
                    rest = &rest[length..];
                }
            }
            Read {
                nanos: le(&body[4..8]) << 32 | le(&body[8..12]),
                original,
                captured,
                tos: ip[1],
                source: ip[12..16].try_into().expect("four bytes"),
                destination: ip[16..20].try_into().expect("four bytes"),
                ports: (be(&tcp[..2]) as u16, be(&tcp[2..4]) as u16),
                seq: be(&tcp[4..8]) as u32,
                ack: be(&tcp[8..12]) as u32,
                flags: be(&tcp[12..14]) as u16 & 0x1ff,
                window: be(&tcp[14..16]) as u16,
                options,
            }
        })
        .collect()
}

#[test]
fn a_datagram_has_its_length_and_a_checksum_that_is_never_zero() {
    let (client, server) = (endpoint(0, 1, 40_000), endpoint(1, 0, 443));
    let mut headers = Headers::default();
    let mut checksums = Vec::new();
    for len in 0..4000 {
        let datagram = fadeout_core::Datagram {
            len,
            ..fadeout_core::Datagram::default()
        };
        let packet = Packet {
            protocol: fadeout_core::Protocol::Udp,
            ..packet(1, datagram.to_segment())
        };
        let bytes = headers.build(&Addressed {
            packet: WholePacket::of_zeros(&packet),
            from: EndpointId(0),
            sender: &client,
            receiver: &server,
            window_scale: 0,
            multipath: None,
        });
        assert_eq!(bytes.len(), 28);
        assert_eq!(be(&bytes[2..4]), u64::from(28 + len), "total length");
        assert_eq!((bytes[9], be(&bytes[24..26])), (17, u64::from(8 + len)));
        assert_eq!(ones_complement(&bytes[..20]), 0xffff, "IP checksum");
        let mut pseudo = bytes[12..20].to_vec();
        pseudo.extend([0, 17]);
        pseudo.extend(&bytes[24..26]);
        pseudo.extend(&bytes[20..]);
        assert_eq!(ones_complement(&pseudo), 0xffff, "UDP checksum");
        checksums.push(be(&bytes[26..28]));
    }
    assert!(checksums.iter().all(|&checksum| checksum != 0));
}

fn syn(flags: Flags, scale: Option<u8>) -> Segment {
    Segment {
        flags,
        window: 65_535,
        mss: 1460,
        sack_permitted: true,
        has_timestamps: true,
        window_scale: scale,
        ts_value: 1,
        ..Segment::default()
    }
}

fn data(seq: u64, len: u32) -> Segment {
    Segment {
        seq,
        ack: 1,
        len,
        window: 1 << 20,
        flags: Flags::ACK | Flags::PSH,
        has_timestamps: true,
        ts_value: 20,
        ts_echo: 11,
        ..Segment::default()
    }
}

/// Returns the capture of a handshake, three data segments and the server's acknowledgment with a
/// SACK block. The first data segment is lost after the client has sent it.
fn exchange(snaplen: u64, server_scale: Option<u8>) -> Vec<u8> {
    let mut captures = Captures::open(&config(snaplen), None)
        .expect("memory is writable")
        .expect("one node");
    let mut sent = |ms, segment| {
        let mut packet = packet(1, segment);
        packet.ecn = Ecn::Ect0;
        captures
            .on_sent(at_ms(ms), WholePacket::of_zeros(&packet))
            .expect("memory is writable");
        // The other host is not captured, so this call writes nothing.
        captures
            .on_received(at_ms(ms + 5), WholePacket::of_zeros(&packet))
            .expect("memory is writable");
    };
    sent(0, syn(Flags::SYN, Some(7)));
    let answer = Segment {
        ack: 1,
        ts_echo: 1,
        ..syn(Flags::SYN | Flags::ACK, server_scale)
    };
    captures
        .on_received(at_ms(10), WholePacket::of_zeros(&packet(0, answer)))
        .expect("memory is writable");
    let mut sent = |ms, segment| {
        captures
            .on_sent(at_ms(ms), WholePacket::of_zeros(&packet(1, segment)))
            .expect("memory is writable");
    };
    sent(
        10,
        Segment {
            flags: Flags::ACK,
            ..data(1, 0)
        },
    );
    for n in 0..3 {
        sent(11 + n, data(1 + 1448 * n, 1448));
    }
    let mut sack = SackList::EMPTY;
    sack.push(SackBlock {
        start: 1449,
        end: 4345,
    });
    let duplicate = Segment {
        seq: 1,
        ack: 1,
        window: 300_000,
        flags: Flags::ACK | Flags::ECE,
        has_timestamps: true,
        ts_value: 30,
        ts_echo: 20,
        sack,
        ..Segment::default()
    };
    captures
        .on_received(at_ms(22), WholePacket::of_zeros(&packet(0, duplicate)))
        .expect("memory is writable");
    let mut finished = captures.finish().expect("memory is writable");
    assert_eq!((finished.len(), finished[0].packets), (1, 7));
    assert_eq!(finished[0].name, "captures/client.pcapng");
    finished.remove(0).bytes.expect("kept in memory")
}

#[test]
fn a_file_begins_with_a_section_and_a_named_nanosecond_interface() {
    let file = exchange(0, Some(9));
    let blocks = blocks(&file);
    assert_eq!(blocks[0].0, 0x0a0d_0d0a);
    assert_eq!(le(&blocks[0].1[..4]), 0x1a2b_3c4d);
    let (kind, interface) = blocks[1];
    assert_eq!((kind, le(&interface[..2])), (1, 101));
    assert_eq!(&interface[8..18], b"\x02\x00\x06\x00client");
    assert_eq!(&interface[20..25], b"\x09\x00\x01\x00\x09");
}

#[test]
fn a_handshake_with_data_and_a_sack_reads_back() {
    let packets = read(&exchange(0, Some(9)));
    let [syn, syn_ack, ack, first, _, third, duplicate] = &packets[..] else {
        panic!("seven packets, not {}", packets.len());
    };
    assert_eq!(
        (syn.source, syn.destination),
        ([10, 0, 0, 1], [10, 0, 0, 2])
    );
    assert_eq!((syn.ports, syn_ack.ports), ((40_000, 443), (443, 40_000)));
    assert_eq!(
        (syn.flags, syn_ack.flags, duplicate.flags),
        (0x02, 0x12, 0x50)
    );
    assert_eq!((syn.tos, ack.tos), (0b10, 0b00));
    assert_eq!((syn.ack, syn_ack.ack), (0, syn.seq.wrapping_add(1)));
    assert_ne!(syn.seq, syn_ack.seq);
    assert_eq!(first.ack, syn_ack.seq.wrapping_add(1));
    assert_eq!(first.seq, syn.seq.wrapping_add(1));
    assert_eq!(third.seq.wrapping_sub(first.seq), 2896);
    assert_eq!(
        (first.original, first.captured, first.nanos),
        (1500, 1500, 11_000_000)
    );
    let kinds: Vec<u8> = syn.options.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(
        kinds,
        [2, 4, 8, 1, 3],
        "MSS, SACK permitted, timestamps, NOP, window scale"
    );
    assert_eq!(syn.options[0].1, 1460_u16.to_be_bytes());
    assert_eq!(first.options[2], (8, vec![0, 0, 0, 20, 0, 0, 0, 11]));
    let edges = &duplicate.options.last().expect("a SACK option").1;
    assert_eq!(be(&edges[..4]) as u32, first.seq.wrapping_add(1448));
    assert_eq!(be(&edges[4..]) as u32, first.seq.wrapping_add(4344));
}

#[test]
fn windows_are_shifted_by_the_scale_their_sender_offered() {
    let packets = read(&exchange(0, Some(9)));
    assert_eq!(
        (packets[0].window, packets[1].window),
        (65_535, 65_535),
        "unscaled on a SYN"
    );
    assert_eq!(packets[3].window, 1 << (20 - 7));
    assert_eq!(packets[6].window, (300_000_u32 >> 9) as u16);
}

#[test]
fn windows_are_whole_when_one_side_does_not_scale() {
    let packets = read(&exchange(0, None));
    assert_eq!((packets[3].window, packets[6].window), (65_535, 65_535));
}

#[test]
fn a_snapped_packet_keeps_its_length() {
    let whole = read(&exchange(1500, Some(7)));
    assert_eq!((whole[3].original, whole[3].captured), (1500, 1500));
    let file = exchange(60, Some(7));
    let (_, body) = blocks(&file)[5];
    assert_eq!((le(&body[12..16]), le(&body[16..20])), (60, 1500));
}

#[test]
fn blocks_beyond_the_headers_room_are_left_out() {
    let mut sack = SackList::EMPTY;
    for n in 0..4 {
        sack.push(SackBlock {
            start: 10 * n,
            end: 10 * n + 5,
        });
    }
    let config = config(0);
    let packet = packet(0, Segment { sack, ..data(1, 0) });
    let addressed = Addressed {
        packet: WholePacket::of_zeros(&packet),
        from: EndpointId(1),
        sender: &config.endpoints[1],
        receiver: &config.endpoints[0],
        window_scale: 0,
        multipath: None,
    };
    let mut headers = Headers::default();
    let bytes = headers.build(&addressed);
    assert_eq!(
        (bytes.len(), bytes[32] >> 4),
        (80, 15),
        "timestamps and three blocks"
    );
}

#[test]
fn files_of_nodes_with_awkward_names_do_not_collide() {
    let nodes: Vec<String> = ["a/b", "a_b", "UE", "..", ""].map(String::from).into();
    let stems: Vec<String> = (0..5).map(|n| file_stem(&nodes, n)).collect();
    assert_eq!(stems, ["a_b-0", "a_b-1", "UE", "__", "-4"]);
}

#[test]
fn tshark_decodes_a_capture_without_complaint() {
    let tool = std::process::Command::new("tshark");
    let Some(lines) = tshark(tool, &exchange(0, Some(9))) else {
        fadeout_testkit::skip_without("tshark");
        return;
    };
    assert_eq!(lines.len(), 7, "{lines:?}");
    for line in &lines {
        // tshark reports checksum status 1, "good". Its field for malformed packets is empty.
        assert!(line.starts_with("1|1||"), "{line}");
    }
    // tshark itself scales the windows by the window scale of the SYNs.
    assert!(lines[3].ends_with(&format!("|{}", 1 << 20)), "{}", lines[3]);
    assert!(
        lines[6].ends_with(&format!("|{}", 300_000 >> 9 << 9)),
        "{}",
        lines[6]
    );
}

fn tshark(mut tool: std::process::Command, file: &[u8]) -> Option<Vec<String>> {
    let path = std::env::temp_dir().join(format!("fadeout-capture-{}.pcapng", std::process::id()));
    std::fs::write(&path, file).expect("the temporary folder is writable");
    let fields = [
        "ip.checksum.status",
        "tcp.checksum.status",
        "_ws.malformed",
        "tcp.window_size",
    ];
    tool.args([
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-T",
        "fields",
    ]);
    tool.args(["-E", "separator=|", "-r"]).arg(&path);
    tool.args(fields.iter().flat_map(|field| ["-e", field]));
    let output = tool.output();
    std::fs::remove_file(&path).expect("the file was just written");
    let output = output.ok()?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(str::to_owned)
            .collect(),
    )
}

#[test]
fn accurate_ecn_stands_in_its_option_and_what_has_no_room_is_left_out() {
    let option = |ect0_leads| {
        let mut segment = data(1, 100);
        segment.accurate = AccurateEcnOption::new([1, 2, 3], 2, ect0_leads);
        segment
    };
    // These options exceed the space in the header. No endpoint sends them, but the capture must
    // stay valid.
    let mut crowded = option(true);
    crowded.mss = 1460;
    crowded.window_scale = Some(7);
    crowded.sack_permitted = true;
    crowded.has_timestamps = true;
    for n in 0..4 {
        crowded.sack.push(SackBlock {
            start: n,
            end: n + 1,
        });
    }
    let mut captures = Captures::open(&config(0), None)
        .expect("memory is there")
        .expect("a node is captured");
    for segment in [option(false), option(true)] {
        captures
            .on_sent(at_ms(1), WholePacket::of_zeros(&packet(1, segment)))
            .expect("memory is there");
    }
    let packet = packet(1, crowded);
    captures.hosts.headers(WholePacket::of_zeros(&packet));
    let files = captures.finish().expect("memory is there");
    let read = read(files[0].bytes.as_deref().expect("in memory"));
    let option_of = |index: usize| read[index].options.iter().find(|(kind, _)| *kind > 100);
    assert_eq!(option_of(0), Some(&(174, vec![0, 0, 1, 0, 0, 2])));
    assert_eq!(option_of(1), Some(&(172, vec![0, 0, 3, 0, 0, 2])));
}
