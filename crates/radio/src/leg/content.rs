//! The contents of transport blocks, in recycled storage.

use super::DuplicationControl;
use crate::rlc::TransportBlock;
use fadeout_core::DrbId;
use std::ops::Range;

/// A content in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentId(u32);

/// RLC PDUs of one or more bearers, one after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    pub block: TransportBlock,
    /// Whose PDUs, and one past the last of them.
    pub bearers: Vec<(DrbId, u32)>,
    /// Control elements before them.
    pub controls: Vec<DuplicationControl>,
}

impl Content {
    /// Whose PDUs they are, and which.
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

/// All contents, the last one freed used first while it is in the cache.
///
/// All have the room that the fullest one needed, from the start room for some packets or ACKs: otherwise
/// those that are used seldom would go on growing for long, one by one.
#[derive(Debug)]
pub(crate) struct Contents {
    contents: Vec<Content>,
    free: Vec<ContentId>,
    room: Room,
}

/// Places for PDUs, parts of SDUs and NACKs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Room {
    pdus: usize,
    parts: usize,
    nacks: usize,
}

impl Room {
    fn of(block: &TransportBlock) -> Room {
        Room {
            pdus: block.pdus.capacity(),
            parts: block.parts.capacity(),
            nacks: block.nacks.capacity(),
        }
    }
    fn max(self, other: Room) -> Room {
        Room {
            pdus: self.pdus.max(other.pdus),
            parts: self.parts.max(other.parts),
            nacks: self.nacks.max(other.nacks),
        }
    }
    /// Gives an empty block at least this room.
    fn make(self, block: &mut TransportBlock) {
        block.pdus.reserve(self.pdus);
        block.parts.reserve(self.parts);
        block.nacks.reserve(self.nacks);
    }
}

/// Bytes of a small packet in its block: an ACK of IPv4 with timestamps and headers around it.
const SMALL_SDU: u64 = 60;

/// Beyond so many PDUs in a block, room is made when it is needed. Thousands of blocks may be under way.
const MOST_ROOM: u64 = 32;

impl Contents {
    /// Storage for blocks of up to `largest_block` bytes.
    pub(crate) fn new(largest_block: u64) -> Contents {
        let small = (largest_block / SMALL_SDU).clamp(4, MOST_ROOM);
        let places = small.next_power_of_two() as usize;
        Contents {
            contents: Vec::new(),
            free: Vec::new(),
            room: Room {
                pdus: places,
                parts: places,
                nacks: 4,
            },
        }
    }
    /// An empty content.
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
    /// All are in use: as many again, as a list grows, so that new maxima soon cost nothing.
    #[cold]
    fn double(&mut self) {
        let first = self.contents.len();
        let count = first.max(4);
        self.contents.resize_with(first + count, Content::default);
        for index in (first..first + count).rev() {
            let content = &mut self.contents[index];
            self.room.make(&mut content.block);
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
        let has = Room::of(&content.block);
        debug_assert!(
            self.free.len() < self.contents.len(),
            "a content is freed a second time"
        );
        self.free.push(id);
        if has != self.room {
            self.grow(id, has);
        }
    }
    /// Grows all content buffers to the largest.
    #[cold]
    fn grow(&mut self, id: ContentId, has: Room) {
        let room = self.room.max(has);
        if room == self.room {
            room.make(&mut self.contents[id.0 as usize].block);
            return;
        }
        self.room = room;
        // Those in use follow when they are freed.
        for id in &self.free {
            room.make(&mut self.contents[id.0 as usize].block);
        }
    }
    /// Takes a content out, to be put back.
    pub(crate) fn take(&mut self, id: ContentId) -> Content {
        std::mem::take(self.content_mut(id))
    }
    /// Puts a content back and frees it.
    pub(crate) fn put(&mut self, id: ContentId, content: Content) {
        *self.content_mut(id) = content;
        self.free(id);
    }
}
