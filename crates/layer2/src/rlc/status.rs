//! STATUS PDU: content and length.
//!
//! Standard: TS 38.322 §6.2.2.5; TS 36.322 §6.2.1.6.

use super::pieces::Received;
use super::reception::Reception;
use super::{Generation, MacSubheader, Nack, Pdu, PduKind, TransportBlock};

/// Bits of the fields of a STATUS PDU.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusFormat {
    /// D/C, CPT, ACK_SN and E1. NR adds padding to whole bytes.
    header: u32,
    /// NACK_SN with its extension bits.
    nack: u32,
    /// SOstart and SOend.
    segment: u32,
    /// NACK range.
    range: u32,
    /// Largest number of SNs that one NACK covers.
    longest_range: u64,
    subheader: MacSubheader,
}

impl StatusFormat {
    pub(super) fn new(generation: Generation, sn_bits: u8, subheader: MacSubheader) -> Self {
        let (header, nack, segment) = match (generation, sn_bits) {
            (Generation::Nr, 18) => (24, 24, 32),
            (Generation::Nr, _) => (24, 16, 32),
            (Generation::Lte, 16) => (21, 18, 32),
            (Generation::Lte, _) => (15, 12, 30),
        };
        let (range, longest_range) = match generation {
            Generation::Nr => (8, 255),
            Generation::Lte => (0, 1),
        };
        StatusFormat {
            header,
            nack,
            segment,
            range,
            longest_range,
            subheader,
        }
    }

    fn bits(&self, nack: &Nack) -> u32 {
        self.nack
            + if nack.segment.is_some() {
                self.segment
            } else {
                0
            }
            + if nack.range > 1 { self.range } else { 0 }
    }

    /// Returns the bytes of the complete report, with its MAC subheader.
    pub(super) fn size(&self, reception: &Reception) -> u64 {
        let mut bits = self.header;
        self.for_each_nack(reception, |nack| {
            bits += self.bits(nack);
            true
        });
        let size = bits.div_ceil(8);
        u64::from(size + self.subheader.size(size))
    }

    /// Writes the part of a report that fits into `grant` bytes. Returns false if not even the
    /// header fits.
    pub(super) fn write(
        &self,
        reception: &Reception,
        grant: u32,
        block: &mut TransportBlock,
    ) -> bool {
        let room = self.subheader.largest_pdu(grant) * 8;
        if room < self.header {
            return false;
        }
        let first = block.nacks.len();
        let mut bits = self.header;
        let mut ack = reception.decided;
        self.for_each_nack(reception, |nack| {
            let more = self.bits(nack);
            let fits = bits + more <= room;
            if fits {
                bits += more;
                block.nacks.push(*nack);
            } else {
                ack = reception.space.extend(nack.sn, reception.window.first());
                if block.nacks[first..].last().is_some_and(|n| n.sn == nack.sn) {
                    // Some gaps of this number are reported, so ACK_SN is the next missing number.
                    ack = reception.first_missing(ack + 1).min(reception.decided);
                }
            }
            fits
        });
        let size = bits.div_ceil(8);
        block.bytes += size + self.subheader.size(size);
        block.pdus.push(Pdu {
            kind: PduKind::Status,
            sn: reception.space.on_air(ack),
            size,
            first: first as u32,
            count: (block.nacks.len() - first) as u32,
            ..Pdu::default()
        });
        true
    }

    /// Calls `report` for each missing range, in order, until it returns false.
    fn for_each_nack(&self, reception: &Reception, mut report: impl FnMut(&Nack) -> bool) {
        let (window, end) = (&reception.window, reception.decided);
        let mut number = window.first();
        while number < end {
            let sn = reception.space.on_air(number);
            match window[number] {
                Received::All => number += 1,
                Received::Nothing => {
                    let longest = end.min(number + self.longest_range);
                    let mut next = number + 1;
                    while next < longest && window[next] == Received::Nothing {
                        next += 1;
                    }
                    let range = (next - number) as u16;
                    let segment = None;
                    if !report(&Nack { sn, range, segment }) {
                        return;
                    }
                    number = next;
                }
                Received::Some(id) => {
                    for (start, end) in reception.pieces.missing(id) {
                        let last = end.map_or(Nack::TO_THE_END, |end| end - 1);
                        let nack = Nack {
                            sn,
                            range: 1,
                            segment: Some((start, last)),
                        };
                        if !report(&nack) {
                            return;
                        }
                    }
                    number += 1;
                }
            }
        }
    }
}
