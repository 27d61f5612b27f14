//! Drop-tail: what does not fit is dropped.

use super::Limit;

/// The admission rule of a drop-tail queue. The packets themselves are in the link's
/// [`Transit`](crate::transit::Transit), since their departures are known on arrival.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DropTail {
    pub(crate) limit: Option<Limit>,
}

impl DropTail {
    #[inline]
    pub(crate) fn admits(self, packets: u64, bytes: u64, size: u32) -> bool {
        self.limit
            .is_none_or(|limit| limit.admits(packets, bytes, size))
    }
}
