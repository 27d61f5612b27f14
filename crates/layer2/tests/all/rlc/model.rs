//! Simple model of a bearer's direction: sets of bytes, without windows and timers. It shares no
//! code with the entities and knows both ends.

use fadeout_layer2::rlc::{
    Generation, MacSubheader, Mode, Nack, Pdu, PduKind, RlcConfig, Sdu, SduPart, TransportBlock,
};
use std::collections::{BTreeMap, BTreeSet};

/// True for each byte of an SDU that has been marked, for each serial number of an SDU.
#[derive(Default)]
struct Bytes(BTreeMap<u32, Vec<bool>>);

impl Bytes {
    /// Marks the bytes. Returns the number of bytes that were not marked before.
    fn mark(&mut self, part: &SduPart) -> u32 {
        let bytes = self.0.entry(part.sdu.serial).or_default();
        bytes.resize(part.sdu.size as usize, false);
        let range = &mut bytes[part.offset as usize..part.end() as usize];
        let fresh = range.iter().filter(|&&is_marked| !is_marked).count();
        range.fill(true);
        fresh as u32
    }
    fn marked(&self, part: &SduPart) -> usize {
        self.0.get(&part.sdu.serial).map_or(0, |bytes| {
            let range = &bytes[part.offset as usize..part.end() as usize];
            range.iter().filter(|&&is_marked| is_marked).count()
        })
    }
    fn is_whole(&self, sdu: &Sdu) -> bool {
        self.marked(&SduPart::whole(*sdu)) == sdu.size as usize
    }
}

/// One direction of a bearer: the bytes that its sender sent, and those that arrived.
pub(crate) struct Direction {
    config: RlcConfig,
    sent: Bytes,
    arrived: Bytes,
    /// Content of each SN of acknowledged mode, in order of first transmission.
    numbered: Vec<Vec<SduPart>>,
    /// Indexes of numbers that the sender knows to be received.
    acknowledged: BTreeSet<usize>,
    lowest_unacknowledged: usize,
    pdu_without_poll: u32,
    byte_without_poll: u64,
    /// Serial numbers of delivered SDUs, and how many times each was delivered.
    delivered: BTreeMap<u32, u32>,
    pub(crate) retransmitted_bytes: u64,
}

impl Direction {
    pub(crate) fn new(config: &RlcConfig) -> Direction {
        Direction {
            config: *config,
            sent: Bytes::default(),
            arrived: Bytes::default(),
            numbered: Vec::new(),
            acknowledged: BTreeSet::new(),
            lowest_unacknowledged: 0,
            pdu_without_poll: 0,
            byte_without_poll: 0,
            delivered: BTreeMap::new(),
            retransmitted_bytes: 0,
        }
    }

    fn sn_bits(&self) -> u32 {
        match self.config.mode {
            Mode::Tm => 0,
            Mode::Um(um) => um.sn_bits.into(),
            Mode::Am(am) => am.sn_bits.into(),
        }
    }

    /// Returns the size of a data PDU from its fields, in bits.
    fn size(&self, pdu: &Pdu, parts: &[SduPart]) -> u32 {
        let offset = if parts[0].offset > 0 { 16 } else { 0 };
        let header = match (self.config.generation, pdu.kind, self.sn_bits()) {
            (_, PduKind::Tmd, _) => 0,
            (Generation::Nr, PduKind::UmdComplete, _) => 8,
            (Generation::Nr, PduKind::Umd, 6) => 8 + offset,
            (Generation::Nr, PduKind::Umd, 12) => 16 + offset,
            (Generation::Nr, PduKind::Amd, 12) => 16 + offset,
            (Generation::Nr, PduKind::Amd, 18) => 24 + offset,
            (Generation::Lte, PduKind::Umd, 5) => 8,
            (Generation::Lte, PduKind::Umd, 10) => 16,
            (Generation::Lte, PduKind::Amd, 10) => 16,
            (Generation::Lte, PduKind::AmdSegment, 10) => 32,
            (Generation::Lte, PduKind::Amd, 16) => 24,
            (Generation::Lte, PduKind::AmdSegment, 16) => 40,
            other => panic!("no such PDU: {other:?}"),
        };
        let indicator = if self.sn_bits() == 16 { 16 } else { 12 };
        let indicators = (parts.len() as u32 - 1) * indicator;
        let bytes: u32 = parts.iter().map(|part| part.len).sum();
        header / 8 + indicators.div_ceil(8) + bytes
    }

    /// Processes a block of the sender. `is_drained`: true if the sender has nothing more to send.
    pub(crate) fn on_sent(&mut self, block: &TransportBlock, is_drained: bool) {
        let mut total = 0;
        let last_data = block.pdus.iter().rposition(|p| p.kind != PduKind::Status);
        for (index, pdu) in block.pdus.iter().enumerate() {
            let long_from = match self.config.subheader {
                MacSubheader::None => panic!("the random runs have subheaders"),
                MacSubheader::Nr => 256,
                MacSubheader::Lte => 128,
            };
            total += pdu.size + if pdu.size < long_from { 2 } else { 3 };
            if pdu.kind == PduKind::Status {
                continue;
            }
            let parts = block.parts_of(pdu);
            assert_eq!(pdu.size, self.size(pdu, parts), "{pdu:?} {parts:?}");
            assert!(parts.iter().all(|p| p.len > 0 && p.end() <= p.sdu.size));
            for pair in parts.windows(2) {
                assert!(pair[0].is_last() && pair[1].is_first(), "{parts:?}");
            }
            let bytes: u32 = parts.iter().map(|part| part.len).sum();
            let fresh: u32 = parts.iter().map(|part| self.sent.mark(part)).sum();
            assert!(fresh == 0 || fresh == bytes, "new and old bytes in one PDU");
            self.retransmitted_bytes += u64::from(bytes - fresh);
            if let Mode::Am(_) = self.config.mode {
                self.number(pdu, parts, fresh > 0);
                let is_last = is_drained && Some(index) == last_data;
                self.check_poll(pdu, fresh, is_last);
            }
        }
        assert_eq!(block.bytes, total);
    }

    /// Checks that SNs count up from zero and stay in the window.
    fn number(&mut self, pdu: &Pdu, parts: &[SduPart], is_fresh: bool) {
        let modulus = 1_usize << self.sn_bits();
        let follows = parts[0].offset > 0 && self.config.generation == Generation::Nr;
        if is_fresh && follows {
            let last = self.numbered.len() - 1;
            assert_eq!(pdu.sn as usize, last % modulus, "a further segment");
            self.numbered[last].extend_from_slice(parts);
        } else if is_fresh {
            let number = self.numbered.len();
            assert_eq!(pdu.sn as usize, number % modulus, "SNs count up");
            let limit = self.lowest_unacknowledged + modulus / 2;
            assert!(
                number < limit,
                "{number} is beyond the window's end {limit}"
            );
            self.numbered.push(parts.to_vec());
        } else {
            let number = self.unwrap(pdu.sn);
            let known = &self.numbered[number];
            let is_part = |part: &SduPart| {
                known.iter().any(|k| {
                    k.sdu == part.sdu
                        && (self.config.generation == Generation::Nr
                            || (k.offset <= part.offset && part.end() <= k.end()))
                })
            };
            assert!(parts.iter().all(is_part), "{parts:?} is not of SN {number}");
        }
    }

    fn unwrap(&self, sn: u32) -> usize {
        let modulus = 1 << self.sn_bits();
        let base = self.lowest_unacknowledged;
        base + (sn as usize + modulus - base % modulus) % modulus
    }

    fn check_poll(&mut self, pdu: &Pdu, fresh: u32, is_last: bool) {
        let Mode::Am(am) = self.config.mode else {
            return;
        };
        self.pdu_without_poll += u32::from(fresh > 0);
        self.byte_without_poll += u64::from(fresh);
        let by_pdu = am.poll_pdu.is_some_and(|n| self.pdu_without_poll >= n);
        let by_byte = am.poll_byte.is_some_and(|n| self.byte_without_poll >= n.0);
        assert!(
            pdu.is_polling || !(by_pdu || by_byte || is_last),
            "{pdu:?} should poll"
        );
        if pdu.is_polling {
            self.pdu_without_poll = 0;
            self.byte_without_poll = 0;
        }
    }

    /// Processes a block that arrived. Returns the SDUs that it completes, in order.
    pub(crate) fn on_arrival(&mut self, block: &TransportBlock) -> Vec<Sdu> {
        let mut complete = Vec::new();
        for pdu in &block.pdus {
            if pdu.kind == PduKind::Status {
                continue;
            }
            for part in block.parts_of(pdu) {
                let fresh = self.arrived.mark(part);
                if fresh > 0 && self.arrived.is_whole(&part.sdu) {
                    complete.push(part.sdu);
                }
            }
        }
        complete
    }

    /// Checks that a status report of the receiver is true.
    pub(crate) fn check_status(&self, block: &TransportBlock) {
        for pdu in block.pdus.iter().filter(|p| p.kind == PduKind::Status) {
            let nacks = block.nacks_of(pdu);
            let ack = self.unwrap(pdu.sn);
            assert!(ack <= self.numbered.len(), "ACK_SN was not sent");
            assert_eq!(pdu.size, self.status_size(nacks));
            for number in self.lowest_unacknowledged..ack {
                let mut position = 0;
                for part in &self.numbered[number] {
                    // Each byte is checked alone: it is missing if and only if a NACK covers it.
                    for byte in 0..part.len {
                        let byte_part = SduPart {
                            offset: part.offset + byte,
                            len: 1,
                            ..*part
                        };
                        let is_nacked = nacks.iter().any(|nack| {
                            let first = self.unwrap(nack.sn);
                            let (start, end) = nack.segment.unwrap_or((0, Nack::TO_THE_END));
                            (first..first + usize::from(nack.range)).contains(&number)
                                && (start..=end).contains(&(position + byte))
                        });
                        let is_missing = self.arrived.marked(&byte_part) == 0;
                        // A report that is shortened to the grant may end within an SDU.
                        let is_cut = nacks.last().is_some_and(|last| {
                            let end = last.segment.map_or(Nack::TO_THE_END, |s| s.1);
                            self.unwrap(last.sn) == number && position + byte > end
                        });
                        assert!(is_nacked == is_missing || (is_cut && is_missing));
                    }
                    position += part.len;
                }
            }
        }
    }

    fn status_size(&self, nacks: &[Nack]) -> u32 {
        let (header, sn, segment) = match (self.config.generation, self.sn_bits()) {
            (Generation::Nr, 12) => (24, 16, 32),
            (Generation::Nr, _) => (24, 24, 32),
            (Generation::Lte, 10) => (15, 12, 30),
            (Generation::Lte, _) => (21, 18, 32),
        };
        let bits = |nack: &Nack| {
            let segment = if nack.segment.is_some() { segment } else { 0 };
            let range = if nack.range > 1 { 8 } else { 0 };
            sn + segment + range
        };
        (header + nacks.iter().map(bits).sum::<u32>()).div_ceil(8)
    }

    /// Processes a block with a report at the sender.
    pub(crate) fn on_report(&mut self, block: &TransportBlock) {
        for pdu in block.pdus.iter().filter(|p| p.kind == PduKind::Status) {
            let nacks = block.nacks_of(pdu);
            let ack = self.unwrap(pdu.sn);
            if ack > self.numbered.len() {
                continue; // A later report overtook this one.
            }
            let nacked: BTreeSet<usize> = nacks
                .iter()
                .flat_map(|nack| {
                    let first = self.unwrap(nack.sn);
                    first..first + usize::from(nack.range)
                })
                .collect();
            let acked = (self.lowest_unacknowledged..ack).filter(|n| !nacked.contains(n));
            self.acknowledged.extend(acked);
            while self.acknowledged.contains(&self.lowest_unacknowledged) {
                self.lowest_unacknowledged += 1;
            }
        }
    }

    /// Checks SDUs that the receiver delivered.
    pub(crate) fn on_delivered(&mut self, sdus: &[Sdu]) {
        for sdu in sdus {
            assert!(self.arrived.is_whole(sdu), "{sdu:?} is not complete");
            *self.delivered.entry(sdu.serial).or_default() += 1;
        }
    }

    /// Returns the serial numbers of the SDUs that arrived completely.
    pub(crate) fn arrived(&self) -> Vec<u32> {
        let whole = self
            .arrived
            .0
            .iter()
            .filter(|(_, bytes)| bytes.iter().all(|&b| b));
        whole.map(|(&serial, _)| serial).collect()
    }

    /// Returns the serial numbers of the SDUs that RLC delivered.
    pub(crate) fn delivered(&self) -> Vec<u32> {
        self.delivered.keys().copied().collect()
    }

    pub(crate) fn has_duplicates(&self) -> bool {
        self.delivered.values().any(|&times| times > 1)
    }
}
