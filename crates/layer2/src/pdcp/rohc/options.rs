//! TCP options in a compressed header. They consist of a list of the present options, items with
//! their content, and the irregular chain with changing values.
//!
//! Standard: RFC 6846 §6.3, §8.2.

use super::field::{Header, lsb};
use fadeout_core::{Flags, MptcpOption, SackBlock, Segment};

/// Options of a header, and their lengths if these vary. The number of no-operation options follows
/// from the lengths.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Structure {
    has_timestamps: bool,
    has_sack: bool,
    has_mss: bool,
    has_scale: bool,
    has_permission: bool,
    accurate: u8,
    mptcp: u8,
}

impl Structure {
    pub(super) fn from_segment(segment: &Segment) -> Structure {
        let is_syn = segment.flags.has(Flags::SYN);
        Structure {
            has_timestamps: segment.has_timestamps,
            has_sack: !is_syn && !segment.sack.is_empty(),
            has_mss: is_syn && segment.mss != 0,
            has_scale: is_syn && segment.window_scale.is_some(),
            has_permission: is_syn && segment.sack_permitted,
            accurate: accurate_len(segment),
            mptcp: mptcp_len(segment),
        }
    }

    /// Returns the options that have content.
    fn kinds(&self) -> Items {
        let mut kinds = Items::default();
        for (is_there, kind) in [
            (self.has_timestamps, Items::TIMESTAMPS),
            (self.has_sack, Items::SACK),
            (self.has_mss, Items::MSS),
            (self.has_scale, Items::SCALE),
            (self.accurate > 0, Items::ACCURATE),
            (self.mptcp > 0, Items::MPTCP),
        ] {
            if is_there {
                kinds.add(kind);
            }
        }
        kinds
    }
}

/// Set of options.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Items(u8);

impl Items {
    const TIMESTAMPS: Items = Items(1);
    const SACK: Items = Items(2);
    const MSS: Items = Items(4);
    const SCALE: Items = Items(8);
    const ACCURATE: Items = Items(16);
    const MPTCP: Items = Items(32);
    /// Options whose new content only a list transmits.
    const FIXED: Items = Items(4 | 8);
    /// Options whose new content the irregular chain transmits, except timestamps.
    const CHANGING: Items = Items(2 | 16 | 32);

    fn has(self, other: Items) -> bool {
        self.0 & other.0 != 0
    }
    fn add(&mut self, other: Items) {
        self.0 |= other.0;
    }
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Returns the options that are in both sets.
    fn and(self, other: Items) -> Items {
        Items(self.0 & other.0)
    }
    /// Returns the options that are not in the other set.
    fn without(self, other: Items) -> Items {
        Items(self.0 & !other.0)
    }
}

/// Option contents that a decompressor knows, the latest of each option.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Known {
    /// Options that were in a list.
    items: Items,
    /// Options of `items` whose content is known for certain.
    is_sure: Items,
    /// Lengths of options whose content determines the length.
    accurate: u8,
    mptcp: u8,
    /// Latest content of each option, in the fields of a segment.
    content: Segment,
}

impl Known {
    /// Returns the known contents after a compressed header.
    pub(super) fn after(&self, header: &Header, structure: &Structure) -> Known {
        let mut known = *self;
        let (now, segment) = (structure.kinds(), &header.segment);
        known.items.add(now);
        known.is_sure.add(now);
        let content = &mut known.content;
        if now.has(Items::TIMESTAMPS) {
            (content.ts_value, content.ts_echo) = (segment.ts_value, segment.ts_echo);
        }
        if now.has(Items::SACK) {
            content.sack = segment.sack;
        }
        if now.has(Items::MSS) {
            content.mss = segment.mss;
        }
        if now.has(Items::SCALE) {
            content.window_scale = segment.window_scale;
        }
        if now.has(Items::ACCURATE) {
            (known.accurate, content.accurate) = (structure.accurate, segment.accurate);
        }
        if now.has(Items::MPTCP) {
            (known.mptcp, content.mptcp) = (structure.mptcp, segment.mptcp);
        }
        known
    }

    /// Returns the contents that all candidates have in common. The decompressor knows these for
    /// certain.
    pub(super) fn common<'a>(mut all: impl Iterator<Item = &'a Known>) -> Known {
        let mut common = all.next().copied().unwrap_or_default();
        for known in all {
            let mut differ = changed(&common.content, &known.content);
            differ.add(fixed(
                &common,
                &known.content,
                (known.accurate, known.mptcp),
            ));
            if (common.content.ts_value, common.content.ts_echo)
                != (known.content.ts_value, known.content.ts_echo)
            {
                differ.add(Items::TIMESTAMPS);
            }
            common.items = common.items.and(known.items);
            common.is_sure = common.is_sure.and(known.is_sure).without(differ);
        }
        common
    }

    /// Returns the options of a header that a list must transmit in full. These are new options,
    /// and changed options that only a list can transmit.
    fn lacks(&self, segment: &Segment, structure: &Structure) -> Items {
        let there = structure.kinds();
        let mut lacks = there.without(self.items);
        let lengths = (structure.accurate, structure.mptcp);
        lacks.add(there.and(fixed(self, segment, lengths)));
        lacks.add(there.and(Items::FIXED).without(self.is_sure));
        lacks
    }

    /// Returns the options of a segment whose content may have changed.
    fn changed(&self, segment: &Segment) -> Items {
        let mut changed = changed(&self.content, segment);
        changed.add(Items::CHANGING.without(self.is_sure));
        changed
    }

    /// Returns true if `bytes` bytes are enough to identify the timestamps of a segment.
    fn gives_stamp(&self, of: fn(&Segment) -> u32, segment: &Segment, bytes: u8) -> bool {
        self.is_sure.has(Items::TIMESTAMPS) && stamp(of(&self.content), of(segment), bytes)
    }
}

/// Encoding of the options of a header.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Content {
    /// True if the header has a list.
    pub has_list: bool,
    /// Items of the list.
    items: Items,
    /// Bytes of the timestamps' value and echo in the irregular chain.
    timestamps: [u8; 2],
    /// Unchanged options in the irregular chain.
    is_same: Items,
}

impl Content {
    /// Returns the shortest encoding of a header's options. Decompressors with any of the states
    /// `known` can decompress it.
    pub(super) fn choose<'a>(
        header: &Header,
        structure: &Structure,
        known: &(impl Iterator<Item = (&'a Structure, &'a Known)> + Clone),
    ) -> Content {
        let segment = &header.segment;
        let mut content = Content {
            has_list: known.clone().any(|(before, _)| before != structure),
            is_same: structure.kinds(),
            ..Content::default()
        };
        for (_, known) in known.clone() {
            content.items.add(known.lacks(segment, structure));
            content.is_same = content.is_same.without(known.changed(segment));
        }
        if structure.has_timestamps && !content.items.has(Items::TIMESTAMPS) {
            let bytes = |of: fn(&Segment) -> u32| {
                let fits = |bytes: &u8| {
                    let mut all = known.clone();
                    all.all(|(_, it)| it.gives_stamp(of, segment, *bytes))
                };
                (1..=4).find(fits)
            };
            match (bytes(|it| it.ts_value), bytes(|it| it.ts_echo)) {
                (Some(value), Some(echo)) => content.timestamps = [value, echo],
                _ => content.items.add(Items::TIMESTAMPS),
            }
        }
        content.has_list |= !content.items.is_empty();
        content
    }

    /// Returns true if a decompressor with these known contents can decompress the options of a
    /// header.
    pub(super) fn means(
        &self,
        header: &Header,
        structure: &Structure,
        (before, known): (&Structure, &Known),
    ) -> bool {
        if !self.has_list && before != structure {
            return false;
        }
        let segment = &header.segment;
        let lacks = known.lacks(segment, structure).without(self.items);
        let assumed = self.is_same.and(Items::CHANGING).without(self.items);
        if !lacks.is_empty() || !known.changed(segment).and(assumed).is_empty() {
            return false;
        }
        let [value, echo] = self.timestamps;
        !structure.has_timestamps
            || self.items.has(Items::TIMESTAMPS)
            || (known.gives_stamp(|it| it.ts_value, segment, value)
                && known.gives_stamp(|it| it.ts_echo, segment, echo))
    }

    /// Returns the bytes of the list in the header.
    pub(super) fn list_bytes(&self, header: &Header, structure: &Structure) -> u32 {
        match self.has_list {
            true => list_bytes(header, structure, self.items),
            false => 0,
        }
    }

    /// Returns the bytes of the irregular chain.
    pub(super) fn irregular_bytes(&self, header: &Header, structure: &Structure) -> u32 {
        let there = structure.kinds().without(self.items);
        let full = |kind: Items, bytes: u32| match (there.has(kind), self.is_same.has(kind)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => bytes,
        };
        let stamps = match there.has(Items::TIMESTAMPS) {
            true => u32::from(self.timestamps[0] + self.timestamps[1]),
            false => 0,
        };
        // The list has type and length of the other options. A discriminator precedes their
        // content.
        stamps
            + full(Items::SACK, sack_bytes(header))
            + full(Items::ACCURATE, u32::from(structure.accurate).max(1) - 1)
            + full(Items::MPTCP, u32::from(structure.mptcp).max(1) - 1)
    }
}

/// Returns the bytes of a list with all its items.
pub(super) fn full_list_bytes(header: &Header, structure: &Structure) -> u32 {
    list_bytes(header, structure, structure.kinds())
}

/// Returns the bytes of a list: one byte for the number of items, one XI for each item, and the
/// items. An XI has 8 bits if an index exceeds 7.
///
/// Standard: RFC 6846 §6.3.3, §6.3.4.
fn list_bytes(header: &Header, structure: &Structure, items: Items) -> u32 {
    let lengths = [
        (structure.has_timestamps, 10),
        (
            structure.has_sack,
            2 + 8 * header.segment.sack.as_slice().len() as u32,
        ),
        (structure.has_mss, 4),
        (structure.has_scale, 3),
        (structure.has_permission, 2),
        (structure.accurate > 0, u32::from(structure.accurate)),
        (structure.mptcp > 0, u32::from(structure.mptcp)),
    ];
    let there = lengths.iter().filter(|(is_there, _)| *is_there);
    let (count, bytes) = there.fold((0, 0), |(count, bytes), (_, len)| (count + 1, bytes + len));
    let no_operations = header.segment.options_len().saturating_sub(bytes);
    let fields: u32 = count + no_operations;
    let has_two_generic = structure.accurate > 0 && structure.mptcp > 0;
    let indices = match has_two_generic {
        true => fields,
        false => fields.div_ceil(2),
    };
    let item = |kind: Items, bytes: u32| if items.has(kind) { bytes } else { 0 };
    1 + indices
        + item(Items::TIMESTAMPS, 8)
        + item(Items::SACK, sack_bytes(header))
        + item(Items::MSS, 2)
        + item(Items::SCALE, 1)
        + item(Items::ACCURATE, u32::from(structure.accurate))
        + item(Items::MPTCP, u32::from(structure.mptcp))
}

/// Returns the changing options whose content differs.
fn changed(known: &Segment, segment: &Segment) -> Items {
    let sack = choose(known.sack != segment.sack, Items::SACK);
    let accurate = choose(known.accurate != segment.accurate, Items::ACCURATE);
    let mptcp = choose(known.mptcp != segment.mptcp, Items::MPTCP);
    Items(sack.0 | accurate.0 | mptcp.0)
}

/// Returns the options with a change that only a list can transmit.
fn fixed(known: &Known, segment: &Segment, (accurate, mptcp): (u8, u8)) -> Items {
    let before = &known.content;
    let mss = choose(before.mss != segment.mss, Items::MSS);
    let scale = choose(before.window_scale != segment.window_scale, Items::SCALE);
    let accurate = choose(known.accurate != accurate, Items::ACCURATE);
    let mptcp = choose(known.mptcp != mptcp, Items::MPTCP);
    Items(mss.0 | scale.0 | accurate.0 | mptcp.0)
}

fn choose(is_so: bool, item: Items) -> Items {
    if is_so { item } else { Items::default() }
}

/// Returns true if `bytes` bytes of a timestamp identify it: 7, 14, 21 or 29 bits. The short forms
/// accept no unchanged timestamp.
///
/// Standard: RFC 6846 §8.2.
fn stamp(known: u32, value: u32, bytes: u8) -> bool {
    match bytes {
        1 => lsb(known, value, 7, -1),
        2 => lsb(known, value, 14, -1),
        3 => lsb(known, value, 21, 0x0004_0000),
        4 => lsb(known, value, 29, 0x0400_0000),
        _ => false,
    }
}

/// Returns the number of bytes of a SACK option: one byte, and both edges of each block. Each edge
/// is a distance from the one before, starting at the acknowledgment.
///
/// Standard: RFC 6846 §8.2.
fn sack_bytes(header: &Header) -> u32 {
    let distance = |from: u32, to: u32| match to.wrapping_sub(from) {
        0..0x8000 => 2,
        0x8000..0x40_0000 => 3,
        0x40_0000..0x2000_0000 => 4,
        _ => 5,
    };
    let mut from = header.ack();
    let blocks = header.segment.sack.as_slice().iter();
    let edges = blocks.map(|&SackBlock { start, end }| {
        let (start, end) = (start as u32, end as u32);
        let bytes = distance(from, start) + distance(start, end);
        from = end;
        bytes
    });
    1 + edges.sum::<u32>()
}

fn accurate_len(segment: &Segment) -> u8 {
    match segment.accurate.is_present() {
        true => 2 + 3 * segment.accurate.fields(),
        false => 0,
    }
}

/// Returns the length of the MPTCP option without its padding.
///
/// Standard: RFC 8684 §3.3.
fn mptcp_len(segment: &Segment) -> u8 {
    match segment.mptcp {
        MptcpOption::Dss(dss) if dss.data_len > 0 => segment.mptcp.len(segment.flags) as u8 - 2,
        option => option.len(segment.flags) as u8,
    }
}
