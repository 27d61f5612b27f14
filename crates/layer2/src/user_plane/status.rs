//! Status reports of the corresponding node.

/// Largest number of ranges of lost frames in a status.
pub const MOST_LOST_RANGES: usize = 16;

/// DL DATA DELIVERY STATUS.
///
/// Standard: TS 38.425 §5.5.2.2.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DeliveryStatus {
    /// NR-U sequence number below which the result of every frame is known. A frame was delivered
    /// (acknowledged mode), sent on the air (unacknowledged mode), or reported as lost by this or
    /// an earlier status.
    pub through: u64,
    /// NR-U sequence number below which RLC has begun to send each received frame. If this is
    /// unknown, the value is at most `through`.
    pub transmitted: u64,
    /// Desired buffer size in bytes.
    pub desired: u64,
    /// Desired data rate in bytes per second. `None` until the node knows the rate at which its
    /// cell serves the bearer.
    pub rate: Option<u64>,
    /// Ranges of lost frames, oldest first. Each has the first number and the number after the
    /// last.
    lost: [(u64, u64); MOST_LOST_RANGES],
    lost_count: u8,
}

impl DeliveryStatus {
    /// Returns a status without lost frames.
    pub(super) fn new(through: u64, desired: u64) -> DeliveryStatus {
        DeliveryStatus {
            through,
            desired,
            ..DeliveryStatus::default()
        }
    }

    /// Adds a range of lost frames. Returns false if there is no room.
    pub(super) fn name_lost(&mut self, range: (u64, u64)) -> bool {
        let Some(place) = self.lost.get_mut(usize::from(self.lost_count)) else {
            return false;
        };
        *place = range;
        self.lost_count += 1;
        true
    }

    /// Returns the ranges of lost frames, oldest first. Each has the first number and the number
    /// after the last.
    pub fn lost(&self) -> &[(u64, u64)] {
        &self.lost[..usize::from(self.lost_count)]
    }
}
