//! Random streams of one direction of a link.

use fadeout_core::random::Stream;

/// Source of random streams that are functions of seed and entity alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams {
    pub(crate) seed: u64,
    pub(crate) entity: u64,
}

impl Streams {
    /// Returns the stream of `domain`.
    pub(crate) fn stream(self, domain: &str) -> Stream {
        Stream::new(self.seed, domain, self.entity)
    }
}
