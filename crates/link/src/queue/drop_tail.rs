//! Drop-tail drops packets that do not fit.

use super::Limit;

/// Limit of a queue, the admission rule of every discipline. The packets of a drop-tail queue are
/// in the link's [`Transit`](crate::transit::Transit), because their departures are known on
/// arrival.
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

    /// Returns true if this amount is within the limit.
    pub(crate) fn holds(self, packets: u64, bytes: u64) -> bool {
        match self.limit {
            None => true,
            Some(Limit::Packets(most)) => packets <= u64::from(most),
            Some(Limit::Bytes(most)) => bytes <= most.0,
        }
    }
}
