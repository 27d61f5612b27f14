//! What the corresponding node tells.

/// Most ranges of lost frames that a status names.
pub const MOST_LOST_RANGES: usize = 16;

/// DL DATA DELIVERY STATUS.
///
/// Standard: TS 38.425 §5.5.2.2.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DeliveryStatus {
    /// NR-U sequence number below which each frame was delivered (acknowledged mode) or sent on the air
    /// (unacknowledged mode), or is among those that this status or one before it names as lost.
    pub through: u64,
    /// NR-U sequence number below which RLC has begun to send each frame that came; no more than `through` where that is
    /// not known.
    pub transmitted: u64,
    /// Desired buffer size in bytes.
    pub desired: u64,
    /// Desired data rate in bytes a second, once the node knows how fast its cell serves the bearer.
    pub rate: Option<u64>,
    /// First and one past the last of lost frames, oldest first.
    lost: [(u64, u64); MOST_LOST_RANGES],
    lost_count: u8,
}

impl DeliveryStatus {
    /// One that names no lost frame.
    pub(super) fn new(through: u64, desired: u64) -> DeliveryStatus {
        DeliveryStatus {
            through,
            desired,
            ..DeliveryStatus::default()
        }
    }

    /// Names a range of lost frames. False when there is no place for it.
    pub(super) fn name_lost(&mut self, range: (u64, u64)) -> bool {
        let Some(place) = self.lost.get_mut(usize::from(self.lost_count)) else {
            return false;
        };
        *place = range;
        self.lost_count += 1;
        true
    }

    /// First and one past the last of lost frames, oldest first.
    pub fn lost(&self) -> &[(u64, u64)] {
        &self.lost[..usize::from(self.lost_count)]
    }
}
