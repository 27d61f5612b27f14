//! The downlink of a leg, as its base station keeps it.

use super::{ContentId, Leg};
use crate::config::{NO_SLOT, Shape};
use crate::plan::CellPlan;
use fadeout_core::{Direction, Time};

/// A block of so many bytes has room for part of any SDU, and for a whole one of usual size.
const LARGE_SDU: u64 = 1600;

impl Leg {
    /// Whether new data may go out in `slot`: the UE listens, and a process is free.
    pub(crate) fn may_send_new(&self, plan: &CellPlan, slot: u64) -> bool {
        self.down.last_slot != slot
            && self.down.harq.free(slot).is_some()
            && self.listens_from(plan, slot) == slot
    }

    /// From which slot on it may next have something, after `slot`. `backlog` bytes wait, and the
    /// base station is ready with the next packet at `inlet_at`. A UE that is out of range is
    /// tried again later.
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

    /// The same after a block of `bytes` in `slot` stayed empty: it was too small for anything, or
    /// a window is closed until something opens it.
    pub(crate) fn ready_after_nothing(&self, slot: u64, bytes: u32, backlog: u64) -> u64 {
        let is_small = u64::from(bytes) < backlog.min(LARGE_SDU);
        if is_small {
            slot + 1
        } else {
            self.down.harq.waiting_from().unwrap_or(NO_SLOT)
        }
    }

    /// A new block goes out. Its process; none when all are busy.
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

    /// From which slot on there is something to do again after feedback for a block, if there is.
    pub(crate) fn downlink_resumes(&self) -> Option<u64> {
        let half = &self.down;
        let waiting = half.harq.waiting_from();
        let free = half.is_stalled.then(|| half.harq.free_from(0)).flatten();
        waiting.into_iter().chain(free).min()
    }
}
