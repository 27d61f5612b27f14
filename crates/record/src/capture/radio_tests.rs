//! Tests of radio captures. The tests read the files back byte by byte.

use super::tests::endpoint;
use super::*;
use crate::{RadioChannel, RadioChannelForm, RadioInfo};
use fadeout_core::{
    Bytes, Direction, EndpointId, Flags, Packet, PacketBytes, PacketId, PacketPool, ProbeSettings,
    RadioSubject, Reception, Segment, Span,
};

const CELL: CellId = CellId(0);
const UE: UeId = UeId(1);

/// Returns a configuration with a server on node 0, a cell on node 1, and UEs on nodes 2 and 3. A
/// flow runs from the server to the second UE.
fn config(capture: Vec<RadioSubject>, snaplen: u64) -> RecorderConfig {
    RecorderConfig {
        nodes: ["server", "macro", "near", "far"].map(String::from).into(),
        cells: vec!["macro".into()],
        ues: vec!["near".into(), "far".into()],
        endpoints: vec![endpoint(0, 1, 40_000), endpoint(3, 0, 5201)],
        radio: RadioInfo {
            cell_nodes: vec![NodeId(1)],
            ue_nodes: vec![NodeId(2), NodeId(3)],
            channels: Vec::new(),
        },
        ..RecorderConfig::new(ProbeSettings {
            radio_capture: capture,
            radio_capture_snap: Bytes(snaplen),
            ..ProbeSettings::NOTHING
        })
    }
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Returns a transport block of 8 bytes from the second UE that the receiver did not decode.
fn block(pool: &PacketPool) -> MacPdu<'_> {
    MacPdu {
        received_at: at_us(1500),
        cell: CELL,
        ue: UE,
        direction: Direction::Uplink,
        is_nr: true,
        is_tdd: true,
        frame: 1023,
        slot: 79,
        process: 5,
        round: 0,
        mcs: 17,
        modulation_bits: 6,
        n_prb: 24,
        size: 8,
        reception: Reception::Failed,
        bytes: &[],
        packets: &[],
        pool,
    }
}

struct Captured {
    nanos: u64,
    original: usize,
    bytes: Vec<u8>,
    comment: Option<String>,
}

/// Returns the packets of a file. The file's interface must have the link type of exported PDUs.
fn read(mut file: &[u8]) -> Vec<Captured> {
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    };
    let mut packets = Vec::new();
    while !file.is_empty() {
        let (kind, length) = (word(file, 0), word(file, 4) as usize);
        let body = &file[8..length - 4];
        match kind {
            1 => assert_eq!(body[..2], [252, 0], "LINKTYPE_WIRESHARK_UPPER_PDU"),
            6 => {
                let captured = word(body, 12) as usize;
                let options = &body[20 + captured.next_multiple_of(4)..];
                let comment = (!options.is_empty()).then(|| {
                    assert_eq!(options[..2], [1, 0], "opt_comment");
                    let length = usize::from(options[2]);
                    String::from_utf8(options[4..4 + length].to_vec()).expect("text")
                });
                packets.push(Captured {
                    nanos: u64::from(word(body, 4)) << 32 | u64::from(word(body, 8)),
                    original: word(body, 16) as usize,
                    bytes: body[20..20 + captured].to_vec(),
                    comment,
                });
            }
            _ => {}
        }
        file = &file[length..];
    }
    packets
}

fn captures(subjects: &[RadioSubject], snaplen: u64) -> Captures {
    Captures::open(&config(subjects.to_vec(), snaplen), None)
        .expect("memory needs no files")
        .expect("something is captured")
}

fn packets(captures: Captures) -> Vec<Captured> {
    let mut files = captures.finish().expect("memory is large");
    assert_eq!(files.len(), 1);
    let file = files.pop().expect("one file");
    let packets = read(&file.bytes.expect("it was kept in memory"));
    assert_eq!(packets.len() as u64, file.packets);
    packets
}

/// Returns the tags in front of a packet from a UE at 10.0.0.4 to a base station at 10.0.0.2.
fn envelope(tag: u8, name: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, tag, 0, name.len() as u8];
    bytes.extend(name);
    bytes.extend([
        0, 20, 0, 4, 10, 0, 0, 4, 0, 21, 0, 4, 10, 0, 0, 2, 0, 0, 0, 0,
    ]);
    bytes
}

#[test]
fn an_nr_block_that_failed_has_its_context_and_length_but_no_bytes() {
    let mut captures = captures(&[RadioSubject::Cell(CELL)], 0);
    let pool = PacketPool::new();
    captures.on_mac_pdu(&block(&pool)).expect("written");
    let packets = packets(captures);
    let [packet] = &packets[..] else {
        panic!("one packet")
    };
    let mut expected = envelope(13, b"mac_nr_udp\0\0");
    expected.extend(b"mac-nr");
    // The fields are: TDD, uplink and C-RNTI, RNTI, UE, SFN and slot, HARQ process, payload.
    expected.extend([2, 0, 3, 2, 0x46, 2, 3, 0, 2]);
    expected.extend([7, 3, 255, 0, 79, 6, 5, 1]);
    assert_eq!(packet.bytes, expected);
    assert_eq!(packet.original, expected.len() + 8);
    assert_eq!(packet.nanos, 1_500_000);
    assert_eq!(
        packet.comment.as_deref(),
        Some("CRC failed, transmission 1")
    );
}

#[test]
fn an_lte_block_tells_the_crc_and_the_grant() {
    let mut captures = captures(&[RadioSubject::Ue(UE)], 0);
    let pool = PacketPool::new();
    let uplink = MacPdu {
        is_nr: false,
        is_tdd: false,
        slot: 9,
        ..block(&pool)
    };
    captures.on_mac_pdu(&uplink).expect("written");
    let downlink = MacPdu {
        direction: Direction::Downlink,
        round: 2,
        reception: Reception::Decoded,
        bytes: &[1, 2, 3, 4, 5, 6, 7, 8],
        ..uplink
    };
    captures.on_mac_pdu(&downlink).expect("written");
    let packets = packets(captures);
    let [up, down] = &packets[..] else {
        panic!("two packets")
    };
    let mut expected = envelope(12, b"mac-lte-framed\0\0");
    expected.extend([1, 0, 3, 2, 0x46, 2, 3, 0, 2, 4, 0x3f, 0xf9]);
    // The fields are: CRC, modulation, MCS, blocks, first block, process, new data, payload.
    expected.extend([7, 0, 0x0b, 6, 6, 17, 24, 0, 5, 1, 1]);
    assert_eq!(up.bytes, expected);
    let context = [7, 1, 0x0b, 10, 0, 0, 0, 17, 3, 24, 5, 0, 0, 2, 1];
    let expected = [&context[..], &[1, 2, 3, 4, 5, 6, 7, 8]].concat();
    assert!(down.bytes.ends_with(&expected), "{:?}", down.bytes);
    assert_eq!(down.comment.as_deref(), Some("decoded, transmission 3"));
    // The packet goes from the base station to the UE.
    assert_eq!(down.bytes[24..28], [10, 0, 0, 2]);
}

/// Captures a decoded block of 300 bytes with three parts of a packet. All other bytes of the block
/// are 0xee. Returns the bytes of the block in the capture, and the packet's headers.
fn captured_parts(pool: &PacketPool, id: PacketId) -> (Vec<u8>, Vec<u8>) {
    let part = |at, offset, len| PacketBytes {
        at,
        packet: id,
        offset,
        len,
    };
    // The parts are within the headers, across their end, and within the payload.
    let parts = [part(2, 0, 12), part(20, 20, 200), part(250, 100, 50)];
    let bytes = [0xee; 300];
    let decoded = MacPdu {
        reception: Reception::Decoded,
        bytes: &bytes,
        packets: &parts,
        size: 300,
        ..block(pool)
    };
    let mut captures = captures(&[RadioSubject::Cell(CELL)], 0);
    captures.on_mac_pdu(&decoded).expect("written");
    let headers = captures.hosts.headers(pool.whole(id, &pool.packet(id)));
    let headers = headers.to_vec();
    let packets = packets(captures);
    assert_eq!(packets[0].comment, None);
    let block = &packets[0].bytes[packets[0].bytes.len() - 300..];
    (block.to_vec(), headers)
}

#[test]
fn packets_in_a_block_have_their_headers() {
    let segment = Segment {
        flags: Flags::ACK,
        seq: 1000,
        len: 500,
        ..Segment::default()
    };
    let packet = Packet {
        to: EndpointId(1),
        segment,
        ..Packet::default()
    };
    let mut pool = PacketPool::new();
    let id = pool.insert(packet);
    let (pdu, expected) = captured_parts(&pool, id);
    assert_eq!(expected.len(), 40);
    assert_eq!(pdu[2..14], expected[..12]);
    assert_eq!(pdu[20..40], expected[20..]);
    let untouched = [&pdu[..2], &pdu[14..20], &pdu[40..]].concat();
    assert!(untouched.iter().all(|&byte| byte == 0xee));
}

#[test]
fn packets_with_bytes_have_their_payload_in_every_part() {
    let segment = Segment {
        len: 500,
        ..Segment::default()
    };
    let packet = Packet {
        to: EndpointId(1),
        segment,
        ..Packet::default()
    };
    let payload: Vec<u8> = (0..500_u32).map(|n| n as u8).collect();
    let mut pool = PacketPool::new();
    let id = pool.insert_with_bytes(&packet, payload.clone());
    let (pdu, headers) = captured_parts(&pool, id);
    let whole = [headers, payload].concat();
    assert_eq!(pdu[2..14], whole[..12]);
    assert_eq!(pdu[20..220], whole[20..220]);
    assert_eq!(pdu[250..], whole[100..150]);
    assert!(pdu[14..20].iter().all(|&byte| byte == 0xee));
}

#[test]
fn a_snap_cuts_a_block_and_keeps_its_length() {
    let pool = PacketPool::new();
    let bytes = [7; 1000];
    let decoded = MacPdu {
        reception: Reception::Decoded,
        bytes: &bytes,
        size: 1000,
        ..block(&pool)
    };
    let mut captures = captures(&[RadioSubject::Cell(CELL)], 128);
    captures.on_mac_pdu(&decoded).expect("written");
    let packets = packets(captures);
    assert_eq!(packets[0].bytes.len(), 128);
    assert!(packets[0].original > 1000);
}

#[test]
fn only_the_cells_and_ues_asked_for_are_wanted() {
    let by_cell = captures(&[RadioSubject::Cell(CELL)], 0);
    assert!(by_cell.wants_radio(CELL, UeId(0)) && by_cell.wants_radio(CELL, UE));
    let by_ue = captures(&[RadioSubject::Ue(UE), RadioSubject::Ue(UE)], 0);
    assert!(by_ue.wants_radio(CELL, UE) && !by_ue.wants_radio(CELL, UeId(0)));
    let files = by_ue.finish().expect("memory is large");
    assert_eq!(files.len(), 1, "named twice, captured once");
    assert_eq!(files[0].name, "captures/far.radio.pcapng");
    let nothing = Captures::open(&config(Vec::new(), 0), None).expect("no files");
    assert!(nothing.is_none());
}

#[test]
fn a_block_is_in_the_captures_of_its_cell_and_its_ue() {
    let pool = PacketPool::new();
    let mut captures = captures(&[RadioSubject::Ue(UE), RadioSubject::Cell(CELL)], 0);
    captures.on_mac_pdu(&block(&pool)).expect("written");
    let other = MacPdu {
        ue: UeId(0),
        ..block(&pool)
    };
    captures.on_mac_pdu(&other).expect("written");
    let files = captures.finish().expect("memory is large");
    let found: Vec<_> = files
        .iter()
        .map(|file| (&*file.name, file.packets))
        .collect();
    let (far, cell) = ("captures/far.radio.pcapng", "captures/macro.radio.pcapng");
    assert_eq!(found, [(far, 1), (cell, 2)]);
}

#[test]
fn a_request_waits_for_its_time() {
    let request = |us| SchedulingRequest {
        sent_at: at_us(us),
        cell: CELL,
        ue: UE,
        is_nr: false,
        is_tdd: false,
        frame: 2,
        slot: 4,
    };
    let pool = PacketPool::new();
    let mut captures = captures(&[RadioSubject::Cell(CELL)], 0);
    captures.on_request(request(9000));
    captures.on_request(request(1000));
    // MAC-NR has no frame for a scheduling request.
    captures.on_request(SchedulingRequest {
        is_nr: true,
        ..request(500)
    });
    captures.on_mac_pdu(&block(&pool)).expect("written");
    let packets = packets(captures);
    let times: Vec<_> = packets.iter().map(|packet| packet.nanos / 1000).collect();
    assert_eq!(times, [1000, 1500, 9000]);
    // The packet has one request, of UE 2 with its RNTI.
    let expected = [1, 0, 0, 4, 0, 0x24, 0x11, 0, 1, 0, 2, 0x46, 2, 1];
    assert!(
        packets[0].bytes.ends_with(&expected),
        "{:?}",
        packets[0].bytes
    );
}

#[test]
fn the_new_data_indicator_toggles_with_each_block_of_a_process() {
    let pool = PacketPool::new();
    let pdu_of = |process, round| MacPdu {
        is_nr: false,
        process,
        round,
        ..block(&pool)
    };
    let mut captures = captures(&[RadioSubject::Cell(CELL)], 0);
    for pdu in [
        pdu_of(0, 0),
        pdu_of(1, 0),
        pdu_of(0, 1),
        pdu_of(0, 0),
        pdu_of(1, 0),
        pdu_of(1, 0),
    ] {
        captures.on_mac_pdu(&pdu).expect("written");
    }
    let packets = packets(captures);
    let indicators: Vec<_> = packets
        .iter()
        .map(|packet| packet.bytes[packet.bytes.len() - 2])
        .collect();
    assert_eq!(indicators, [1, 1, 1, 0, 0, 1]);
}

#[test]
fn the_profile_has_the_channels_in_wiresharks_words() {
    let channel = |is_nr, lcid, form, pdcp_sn_bits| RadioChannel {
        is_nr,
        lcid,
        drb: lcid - 2,
        form,
        pdcp_sn_bits,
    };
    let channels = [
        channel(true, 5, RadioChannelForm::Unacknowledged(12), 18),
        channel(true, 4, RadioChannelForm::Acknowledged(18), 12),
        channel(true, 4, RadioChannelForm::Acknowledged(18), 12),
        channel(false, 3, RadioChannelForm::Acknowledged(10), 12),
        channel(false, 5, RadioChannelForm::Acknowledged(16), 12),
        channel(false, 7, RadioChannelForm::Transparent, 12),
    ];
    let [preferences, heuristics, nr, lte] = profile::files(&channels);
    assert_eq!(
        nr,
        (
            "drb_bearerconfig",
            "\"LCID 4\",\"2\",\"AM, SN Len=18\",\"AM, SN Len=18\"\n\
             \"LCID 5\",\"3\",\"UM, SN Len=12\",\"UM, SN Len=12\"\n"
                .to_owned()
        )
    );
    assert_eq!(
        lte,
        (
            "drb_logchans",
            "\"LCID 3\",\"1\",\"AM\"\n\
             \"LCID 5\",\"3\",\"AM, SN Len=16, UL/DL Extended LI Field\"\n\
             \"LCID 7\",\"5\",\"TM\"\n"
                .to_owned()
        )
    );
    assert_eq!(
        heuristics,
        ("heuristic_protos", "mac_nr_udp,1\n".to_owned())
    );
    let has = |line: &str| preferences.1.lines().any(|known| known == line);
    assert!(has("rlc-nr.call_pdcp_for_dl_drb: 18-bit SN"));
    assert!(has("rlc-nr.call_pdcp_for_ul_drb: 18-bit SN"));
    assert!(has("rlc-lte.call_pdcp_for_drb: 12-bit SN"));
}
