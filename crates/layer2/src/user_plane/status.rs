//! Reports of the corresponding node.

/// Most ranges of lost frames that a status names.
pub const MOST_LOST_RANGES: usize = 16;

/// DL DATA DELIVERY STATUS.
///
/// Standard: TS 38.425 §5.5.2.2.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct DeliveryStatus {
    /// NR-U sequence number below which every frame has a known fate. The frame was delivered
    /// (acknowledged mode) or sent on the air (unacknowledged mode), or this or an earlier status
    /// names it as lost.
    pub through: u64,
    /// NR-U sequence number below which RLC has begun to send each received frame. No more than
    /// `through` if that is not known.
    pub transmitted: u64,
    /// Desired buffer size in bytes.
    pub desired: u64,
    /// Desired data rate in bytes per second. `None` until the node knows the speed at which its
    /// cell serves the bearer.
    pub rate: Option<u64>,
    /// First and one past the last of lost frames, oldest first.
    lost: [(u64, u64); MOST_LOST_RANGES],
    lost_count: u8,
}

impl DeliveryStatus {
    /// Returns a status that names no lost frame.
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
