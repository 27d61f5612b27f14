//! Reassembly of SDUs by LTE's receivers, in the order of the SN.

use crate::rlc::sequence::{START, Window};
use crate::rlc::{Sdu, SduPart};

const NONE: u32 = u32::MAX;

/// Reassembler of consecutive parts.
#[derive(Clone, Default, Debug)]
pub(in crate::rlc) struct Reassembler {
    /// Next expected byte of the incomplete SDU. `None` if there is none.
    expects: Option<u32>,
}

impl Reassembler {
    /// Adds the next part in order.
    #[inline]
    pub(in crate::rlc) fn on_part(&mut self, part: &SduPart, delivered: &mut Vec<Sdu>) {
        let continues = part.is_first() || self.expects == Some(part.offset);
        self.expects = (continues && !part.is_last()).then(|| part.end());
        if continues && part.is_last() {
            delivered.push(part.sdu);
        }
    }
    /// Drops a partly assembled SDU at a missing PDU, because it cannot be completed.
    pub(in crate::rlc) fn on_gap(&mut self) {
        self.expects = None;
    }
}

/// Stored part, and its position in the data field of its PDU.
#[derive(Clone, Copy, Debug)]
struct Node {
    part: SduPart,
    position: u32,
    next: u32,
}

/// Index of the first node of a PDU plus one. Zero if there is none.
#[derive(Clone, Copy, Default, Debug)]
struct Head(u32);

/// Parts of PDUs that cannot be reassembled yet, in recycled nodes.
#[derive(Clone, Debug)]
pub(in crate::rlc) struct Store {
    heads: Window<Head>,
    nodes: Vec<Node>,
    free: u32,
}

impl Store {
    pub(in crate::rlc) fn new() -> Store {
        Store {
            heads: Window::new(START),
            nodes: Vec::new(),
            free: NONE,
        }
    }

    /// Stores the parts of PDU `number`. The first part is at `position` of the data field.
    pub(in crate::rlc) fn put(&mut self, number: u64, mut position: u32, parts: &[SduPart]) {
        self.heads.extend_to(number + 1);
        for part in parts {
            self.put_part(number, position, *part);
            position += part.len;
        }
    }

    fn put_part(&mut self, number: u64, position: u32, part: SduPart) {
        let mut before = NONE;
        let mut after = self.heads[number].0.wrapping_sub(1);
        while after != NONE && self.nodes[after as usize].position <= position {
            before = after;
            after = self.nodes[after as usize].next;
        }
        let node = Node {
            part,
            position,
            next: after,
        };
        let id = if self.free == NONE {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let id = self.free;
            self.free = self.nodes[id as usize].next;
            self.nodes[id as usize] = node;
            id
        };
        if before == NONE {
            self.heads[number] = Head(id + 1);
        } else {
            self.nodes[before as usize].next = id;
        }
    }

    /// Reassembles and removes the PDUs below `end`, in order. A PDU without parts is a gap.
    pub(in crate::rlc) fn take_below(
        &mut self,
        end: u64,
        reassembler: &mut Reassembler,
        delivered: &mut Vec<Sdu>,
    ) {
        for number in self.heads.first()..end {
            let mut id = if self.heads.contains(number) {
                self.heads[number].0.wrapping_sub(1)
            } else {
                NONE
            };
            if id == NONE {
                reassembler.on_gap();
            }
            // Segments of a PDU may overlap, so bytes that were already used are skipped.
            let mut taken = 0;
            while id != NONE {
                let Node {
                    mut part,
                    position,
                    next,
                } = self.nodes[id as usize];
                let overlap = u32::saturating_sub(taken, position);
                if overlap < part.len {
                    taken = position + part.len;
                    part.offset += overlap;
                    part.len -= overlap;
                    reassembler.on_part(&part, delivered);
                }
                self.nodes[id as usize].next = self.free;
                self.free = id;
                id = next;
            }
        }
        self.heads.advance_to(end.max(self.heads.first()));
    }

    /// Reassembles and removes all PDUs, including those after gaps. An SDU with a gap is lost.
    pub(in crate::rlc) fn take_all(
        &mut self,
        reassembler: &mut Reassembler,
        delivered: &mut Vec<Sdu>,
    ) {
        let end = self.heads.end();
        self.take_below(end, reassembler, delivered);
    }

    /// Returns true if PDU `number` is received.
    #[inline]
    pub(in crate::rlc) fn holds(&self, number: u64) -> bool {
        self.heads.contains(number) && self.heads[number].0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(offset: u32, len: u32) -> SduPart {
        let sdu = Sdu {
            size: 100,
            ..Sdu::default()
        };
        SduPart { sdu, offset, len }
    }

    #[test]
    fn an_sdu_with_a_gap_in_it_is_never_delivered() {
        let mut delivered = Vec::new();
        let mut reassembler = Reassembler::default();
        reassembler.on_part(&part(0, 50), &mut delivered);
        reassembler.on_gap();
        reassembler.on_part(&part(50, 50), &mut delivered);
        assert!(delivered.is_empty(), "a PDU is missing");
        reassembler.on_part(&part(50, 20), &mut delivered);
        reassembler.on_part(&part(70, 30), &mut delivered);
        assert!(delivered.is_empty(), "the beginning is missing");
        reassembler.on_part(&part(0, 50), &mut delivered);
        reassembler.on_part(&part(70, 30), &mut delivered);
        assert!(delivered.is_empty(), "the middle is missing");
        reassembler.on_part(&part(0, 50), &mut delivered);
        reassembler.on_part(&part(50, 50), &mut delivered);
        assert_eq!(delivered.len(), 1);
    }
}
