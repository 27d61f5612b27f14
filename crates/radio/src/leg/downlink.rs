//! Downlink of a leg at its base station.

use super::{ContentId, Leg};
use crate::config::{NO_SLOT, Shape};
use crate::plan::CellPlan;
use fadeout_core::{Direction, Time};

/// Size in bytes of a transport block that can surely carry a part of any SDU. The block also has
/// space for an unsegmented SDU of usual size.
const LARGE_SDU: u64 = 1600;

impl Leg {
    /// Returns true if new data may be sent in `slot`. The UE must listen in this slot, and a HARQ
    /// process must be free.
    pub(crate) fn may_send_new(&self, plan: &CellPlan, slot: u64) -> bool {
        self.down.last_slot != slot
            && self.down.harq.free(slot).is_some()
            && self.listens_from(plan, slot) == slot
    }

    /// Returns true if neither measurement gaps, blocks to retransmit nor packets that are never
    /// segmented affect the leg's demand.
    pub(crate) fn is_steady(&self) -> bool {
        let has_blocks = self.down.harq.waiting_from().is_some();
        self.gaps.is_none() && !has_blocks && !self.channels.has_whole_only()
    }

    /// Returns the first slot after `slot` in which the leg may have data to send. `backlog` bytes
    /// wait, and the base station's processing of the next packet ends at `inlet_at`. For a UE that
    /// is out of range, the slot is the time of the next attempt to serve the UE.
    pub(crate) fn downlink_ready(
        &mut self,
        plan: &CellPlan,
        slot: u64,
        (backlog, inlet_at): (u64, Option<Time>),
        is_out_of_range: bool,
    ) -> u64 {
        let listens_from = self.listens_from(plan, slot + 1);
        let half = &mut self.down;
        let mut ready = half.harq.waiting_from().unwrap_or(NO_SLOT);
        if let Some(at) = inlet_at {
            ready = ready.min(plan.frame.slot_from(at).max(listens_from));
        }
        half.is_stalled = false;
        if is_out_of_range {
            ready = slot + plan.recheck_slots();
        } else if backlog > 0 {
            match half.harq.free_from(listens_from) {
                Some(from) => ready = ready.min(from),
                None => half.is_stalled = true,
            }
        }
        self.clear_from(ready.max(slot + 1), Direction::Downlink)
    }

    /// Returns the first slot in which the leg may have data, after a transport block of `bytes`
    /// stayed empty in `slot`. Either the block was too small, or an RLC window is stalled until
    /// feedback arrives.
    pub(crate) fn ready_after_nothing(&self, slot: u64, bytes: u32, backlog: u64) -> u64 {
        let is_small = u64::from(bytes) < backlog.min(LARGE_SDU);
        if is_small {
            slot + 1
        } else {
            self.down.harq.waiting_from().unwrap_or(NO_SLOT)
        }
    }

    /// Starts a new downlink transport block. Returns its HARQ process. `None` if all processes are
    /// busy.
    pub(crate) fn start_downlink(
        &mut self,
        plan: &CellPlan,
        (now, slot): (Time, u64),
        (shape, cqi): (Shape, u8),
        content: ContentId,
    ) -> Option<u8> {
        let Some(process) = self.down.harq.free(slot) else {
            debug_assert!(false, "a candidate has a free process");
            return None;
        };
        let block = self.down.harq.start(process, shape, now);
        block.content = Some(content);
        block.cqi = cqi;
        self.down.last_slot = slot;
        self.stay_awake(plan, now);
        Some(process)
    }

    /// Returns the first slot in which the leg may send again, after feedback for a transport
    /// block. `None` if the leg has nothing to send.
    pub(crate) fn downlink_resumes(&self) -> Option<u64> {
        let half = &self.down;
        let waiting = half.harq.waiting_from();
        let free = half.is_stalled.then(|| half.harq.free_from(0)).flatten();
        waiting.into_iter().chain(free).min()
    }
}
