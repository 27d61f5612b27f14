//! Test of two entities over a bearer that loses blocks. All PDUs are encoded, decoded and
//! compared.

use super::decode::{self, Rlc};
use super::*;
use crate::rlc::{Entity, Generation};
use fadeout_core::Time;
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;

const RUNS: u64 = 250;
const BLOCKS: u64 = 120;

/// Every RLC mode and SN length, each with parameters of PDCP.
const BEARERS: [(RlcConfig, PdcpConfig); 9] = [
    (RlcConfig::NR_AM, LONG_PDCP),
    (NR_AM12, SHORT_PDCP),
    (RlcConfig::NR_UM, LONG_PDCP),
    (NR_UM6, SHORT_PDCP),
    (RlcConfig::TM, LONG_PDCP),
    (RlcConfig::LTE_AM, SHORT_PDCP),
    (LTE_AM16, LONG_PDCP),
    (RlcConfig::LTE_UM, SHORT_PDCP),
    (LTE_UM5, SHORT_PDCP),
];

/// True for each kind of PDU or field that occurred in the test.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    polls: bool,
    segments: bool,
    lists: bool,
    nacks: bool,
    ranges: bool,
    offsets: bool,
    open_ends: bool,
}

#[test]
fn what_is_sent_is_what_is_decoded() {
    for (rlc, pdcp) in BEARERS {
        let mut seen = Seen::default();
        let cases = Cases::new(RUNS * BEARERS.len() as u64).among(BEARERS.len());
        cases.run(|seed| exchange(&rlc, &pdcp, seed, &mut seen));
        if !cases.is_whole() {
            continue;
        }
        let (is_nr, form) = (rlc.generation == Generation::Nr, Form::from_config(&rlc));
        let is_am = matches!(form, Form::Am(_));
        let expected = Seen {
            polls: is_am,
            segments: form != Form::Tm,
            lists: !is_nr,
            nacks: is_am,
            ranges: is_am && is_nr,
            offsets: is_am,
            open_ends: is_am,
        };
        assert_eq!(seen, expected, "{form:?}");
    }
}

fn exchange(rlc: &RlcConfig, pdcp: &PdcpConfig, seed: u64, seen: &mut Seen) {
    let format = BearerFormat::new(rlc, pdcp, 0);
    let mut draws = Stream::new(seed, "wire", u64::from(format.lcid));
    let mut ends = [0, 1].map(|_| Entity::new(rlc).expect("allowed"));
    let mut ledger = Ledger::new();
    let mut pool = PacketPool::new();
    let mut encoder = Encoder::new();
    let mut out = Vec::new();
    for step in 0..BLOCKS {
        let now = Time::ZERO + Span::from_millis(step * 7);
        let from = (step % 2) as usize;
        for _ in 0..if from == 0 { draws.below(4) } else { 0 } {
            let packet = pool.insert(Packet::default());
            let serial = ledger.enter(packet);
            let sdu = Sdu {
                packet,
                size: 40 + draws.below(1500) as u32 + pdcp.header(),
                count: serial,
                serial,
                entered_at: now,
            };
            ends[0].push_sdu(sdu).expect("the buffer has room");
        }
        let size = 8 + draws.below(3000) as u32;
        let status = (from == 1).then(|| BufferStatus::Nr.index(draws.below(60)) & 0x3f);
        let status_format = if rlc.generation == Generation::Nr {
            BufferStatus::Nr
        } else {
            BufferStatus::Lte
        };
        let report = status.map_or(0, |_| status_format.size());
        let mut block = TransportBlock::new();
        ends[from].pull(now, size - report, &mut block);
        let load = Load {
            is_nr: rlc.generation == Generation::Nr,
            direction: [Direction::Downlink, Direction::Uplink][from],
            size,
            block: &block,
            status,
        };
        let run = Run {
            format: &format,
            ledger: &ledger,
            pdus: &block.pdus,
        };
        if block.is_empty() && status.is_none() {
            continue;
        }
        encoder.write(&load, std::iter::once(run));
        check(&load, &format, &encoder, seen);
        if draws.below(4) > 0 {
            ends[1 - from].on_block(now, &block, &mut out);
        }
        for end in &mut ends {
            end.on_wake(now, &mut out);
        }
        out.clear();
    }
}

fn check(load: &Load<'_>, format: &BearerFormat, encoder: &Encoder, seen: &mut Seen) {
    let bytes = encoder.bytes();
    assert_eq!(bytes.len(), load.size as usize, "with padding, the block");
    let mac = if load.is_nr {
        decode::mac_nr(bytes)
    } else {
        decode::mac_lte(bytes)
    };
    assert_eq!(mac.status, load.status);
    assert_eq!(mac.sdus.len(), load.block.pdus.len());
    let used =
        load.block.bytes as usize + load.status.map_or(0, |_| if load.is_nr { 4 } else { 2 });
    if load.is_nr {
        assert_eq!(mac.padding, bytes.len() - used);
    } else {
        // RLC counts a length for each subheader, but the last one may have none.
        assert!(mac.padding >= bytes.len() - used);
    }
    let mut packets = encoder.packets().iter();
    for (pdu, &(lcid, sdu)) in load.block.pdus.iter().zip(&mac.sdus) {
        assert_eq!((lcid, sdu.len()), (format.lcid, pdu.size as usize));
        let rlc = if load.is_nr {
            decode::rlc_nr(sdu, format.rlc)
        } else {
            decode::rlc_lte(sdu, format.rlc)
        };
        check_pdu(load, format, pdu, &rlc, seen);
        for (part, data) in load.block.data_parts(pdu).iter().zip(&rlc.parts) {
            check_part(format, part, data);
            let header = format.pdcp.header();
            if part.end() > header {
                let named = packets.next().expect("every part of a packet is named");
                let first = part.offset.max(header);
                assert_eq!(named.packet, part.sdu.packet);
                assert_eq!(
                    (named.offset, named.len),
                    (first - header, part.end() - first)
                );
                let at = data.as_ptr() as usize - bytes.as_ptr() as usize;
                assert_eq!(named.at as usize, at + (first - part.offset) as usize);
            }
        }
    }
    assert_eq!(packets.next(), None);
}

fn check_pdu(load: &Load<'_>, format: &BearerFormat, pdu: &Pdu, rlc: &Rlc<'_>, seen: &mut Seen) {
    let parts = load.block.data_parts(pdu);
    assert_eq!(rlc.is_status, pdu.kind == PduKind::Status);
    assert_eq!(rlc.is_polling, pdu.is_polling);
    let has_sn = !matches!(pdu.kind, PduKind::Tmd | PduKind::UmdComplete);
    assert_eq!(rlc.sn, has_sn.then_some(pdu.sn));
    seen.polls |= pdu.is_polling;
    if rlc.is_status {
        let longest = if load.is_nr || format.rlc == Form::Am(16) {
            0xffff
        } else {
            0x7fff
        };
        let nacks = load.block.nacks_of(pdu).iter().map(|nack| {
            let segment = nack.segment.map(|(start, end)| (start, end.min(longest)));
            seen.nacks = true;
            seen.ranges |= nack.range > 1;
            seen.offsets |= nack.segment.is_some();
            seen.open_ends |= segment.is_some_and(|(_, end)| end == longest);
            (nack.sn, u32::from(nack.range), segment)
        });
        assert!(nacks.eq(rlc.nacks.iter().copied()), "{rlc:?}");
        return;
    }
    assert_eq!(rlc.parts.len(), parts.len());
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    if format.rlc != Form::Tm {
        assert_eq!(rlc.is_cut, (!first.is_first(), !last.is_last()));
    }
    let (offset, is_last) = match pdu.kind {
        PduKind::AmdSegment => (Some(pdu.segment_offset), Some(pdu.is_last_segment)),
        _ if load.is_nr && !first.is_first() => (Some(first.offset), None),
        _ => (None, None),
    };
    assert_eq!((rlc.offset, rlc.is_last_segment), (offset, is_last));
    seen.segments |= !first.is_first();
    seen.lists |= parts.len() > 1;
}

/// Checks that the data is the PDCP header, or the part of it in this segment, followed by zeros.
fn check_part(format: &BearerFormat, part: &SduPart, data: &[u8]) {
    assert_eq!(data.len(), part.len as usize);
    let sn = part.sdu.count;
    let header = if format.pdcp.sn_bits == 18 {
        vec![0x80 | (sn >> 16 & 3) as u8, (sn >> 8) as u8, sn as u8]
    } else {
        vec![0x80 | (sn >> 8 & 0xf) as u8, sn as u8]
    };
    for (position, &byte) in (part.offset as usize..).zip(data) {
        assert_eq!(byte, header.get(position).copied().unwrap_or(0));
    }
}
