//! Contents of transport blocks, in reused storage.

use super::DuplicationControl;
use crate::rlc::TransportBlock;
use fadeout_core::DrbId;
use std::ops::Range;

/// Number of a transport block's content in the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentId(u32);

/// Content of a transport block: RLC PDUs of one or more bearers. The PDUs of one bearer are
/// adjacent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    pub block: TransportBlock,
    /// Bearers, each with the index after the bearer's last PDU.
    pub bearers: Vec<(DrbId, u32)>,
    /// MAC control elements in front of the PDUs.
    pub controls: Vec<DuplicationControl>,
}

impl Content {
    /// Returns each bearer with the index range of its PDUs.
    #[inline]
    pub(crate) fn runs(&self) -> impl Iterator<Item = (DrbId, Range<usize>)> + Clone + '_ {
        let mut first = 0;
        self.bearers.iter().map(move |&(bearer, end)| {
            let pdus = first..end as usize;
            debug_assert!(
                pdus.start <= pdus.end && pdus.end <= self.block.pdus.len(),
                "bearer {bearer:?} has PDUs {pdus:?} of {}",
                self.block.pdus.len()
            );
            first = pdus.end;
            (bearer, pdus)
        })
    }
}

/// Pool of all contents. The content that was freed last is reused first, because its memory is
/// still in the processor's cache.
///
/// All contents have the capacity that the fullest content has needed so far. The initial capacity
/// suffices for a few packets or ACKs. Without a common capacity, rarely used contents would still
/// allocate memory late in a run.
#[derive(Debug)]
pub(crate) struct Contents {
    contents: Vec<Content>,
    free: Vec<ContentId>,
    capacity: BlockCapacity,
}

/// Capacity for PDUs, parts of SDUs and NACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct BlockCapacity {
    pdus: usize,
    parts: usize,
    nacks: usize,
}

impl BlockCapacity {
    fn from_block(block: &TransportBlock) -> BlockCapacity {
        BlockCapacity {
            pdus: block.pdus.capacity(),
            parts: block.parts.capacity(),
            nacks: block.nacks.capacity(),
        }
    }
    fn max(self, other: BlockCapacity) -> BlockCapacity {
        BlockCapacity {
            pdus: self.pdus.max(other.pdus),
            parts: self.parts.max(other.parts),
            nacks: self.nacks.max(other.nacks),
        }
    }
    /// Ensures that an empty transport block has at least this capacity.
    fn reserve_in(self, block: &mut TransportBlock) {
        block.pdus.reserve(self.pdus);
        block.parts.reserve(self.parts);
        block.nacks.reserve(self.nacks);
    }
}

/// Bytes of a small packet in a transport block: an IPv4 ACK with timestamps and lower-layer
/// headers.
const SMALL_SDU: u64 = 60;

/// Maximum number of PDUs for which memory is reserved at the start. Thousands of transport blocks
/// may be under way, so memory for more PDUs is allocated only when needed.
const MOST_ROOM: u64 = 32;

impl Contents {
    /// Creates storage for transport blocks of up to `largest_block` bytes.
    pub(crate) fn new(largest_block: u64) -> Contents {
        let small = (largest_block / SMALL_SDU).clamp(4, MOST_ROOM);
        let places = small.next_power_of_two() as usize;
        Contents {
            contents: Vec::new(),
            free: Vec::new(),
            capacity: BlockCapacity {
                pdus: places,
                parts: places,
                nacks: 4,
            },
        }
    }
    /// Returns an empty content from the pool.
    pub(crate) fn claim(&mut self) -> ContentId {
        if self.free.is_empty() {
            self.double();
        }
        let id = self.free.pop().expect("there are some now");
        debug_assert!(
            self.content(id).block.is_empty() && self.content(id).bearers.is_empty(),
            "a content is given out that holds something"
        );
        id
    }
    /// Doubles the number of contents, because all contents are in use. Doubling keeps the number
    /// of allocations small.
    #[cold]
    fn double(&mut self) {
        let first = self.contents.len();
        let count = first.max(4);
        self.contents.resize_with(first + count, Content::default);
        for index in (first..first + count).rev() {
            let content = &mut self.contents[index];
            self.capacity.reserve_in(&mut content.block);
            content.bearers.reserve(1);
            self.free.push(ContentId(index as u32));
        }
    }
    pub(crate) fn content(&self, id: ContentId) -> &Content {
        &self.contents[id.0 as usize]
    }
    pub(crate) fn content_mut(&mut self, id: ContentId) -> &mut Content {
        &mut self.contents[id.0 as usize]
    }
    pub(crate) fn free(&mut self, id: ContentId) {
        let content = self.content_mut(id);
        content.block.clear();
        content.bearers.clear();
        content.controls.clear();
        let has = BlockCapacity::from_block(&content.block);
        debug_assert!(
            self.free.len() < self.contents.len(),
            "a content is freed a second time"
        );
        self.free.push(id);
        if has != self.capacity {
            self.grow(id, has);
        }
    }
    /// Gives all free contents the capacity `has`, which is the largest capacity needed so far.
    #[cold]
    fn grow(&mut self, id: ContentId, has: BlockCapacity) {
        let capacity = self.capacity.max(has);
        if capacity == self.capacity {
            capacity.reserve_in(&mut self.contents[id.0 as usize].block);
            return;
        }
        self.capacity = capacity;
        // A content that is in use gets the capacity when it is freed.
        for id in &self.free {
            capacity.reserve_in(&mut self.contents[id.0 as usize].block);
        }
    }
    /// Removes a content from the pool. [`Contents::put_back`] returns it to the pool.
    pub(crate) fn take_content(&mut self, id: ContentId) -> Content {
        std::mem::take(self.content_mut(id))
    }
    /// Returns a content to the pool and frees it.
    pub(crate) fn put_back(&mut self, id: ContentId, content: Content) {
        *self.content_mut(id) = content;
        self.free(id);
    }
}
