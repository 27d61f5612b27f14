//! What transport blocks carry, in recycled storage.

use crate::rlc::TransportBlock;
use fadeout_core::BearerId;

/// A content in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentId(u32);

/// RLC PDUs of one or more bearers, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Content {
    pub block: TransportBlock,
    /// Whose PDUs, and one past the last of them.
    pub bearers: Vec<(BearerId, u32)>,
}

/// All contents, the last one freed used first while it is in the cache.
#[derive(Debug, Default)]
pub(super) struct Contents {
    contents: Vec<Content>,
    free: Vec<ContentId>,
}

impl Contents {
    /// An empty content.
    pub(super) fn claim(&mut self) -> ContentId {
        self.free.pop().unwrap_or_else(|| {
            self.contents.push(Content::default());
            ContentId(self.contents.len() as u32 - 1)
        })
    }
    pub(super) fn content(&self, id: ContentId) -> &Content {
        &self.contents[id.0 as usize]
    }
    pub(super) fn content_mut(&mut self, id: ContentId) -> &mut Content {
        &mut self.contents[id.0 as usize]
    }
    pub(super) fn free(&mut self, id: ContentId) {
        let content = self.content_mut(id);
        content.block.clear();
        content.bearers.clear();
        self.free.push(id);
    }
    /// Takes a content out, to be put back.
    pub(super) fn take(&mut self, id: ContentId) -> Content {
        std::mem::take(self.content_mut(id))
    }
    /// Puts a content back and frees it.
    pub(super) fn put(&mut self, id: ContentId, content: Content) {
        *self.content_mut(id) = content;
        self.free(id);
    }
}
