//! Uplink of a leg: grants of the base station, and their use by the UE.

use super::{ContentId, Leg, UplinkRequests};
use crate::config::{NO_SLOT, Shape};
use crate::plan::CellPlan;
use fadeout_core::{Direction, Time};

/// Maximum bytes of MAC and RLC headers. A transport block of at most this size may return empty,
/// even if the waiting data can be segmented.
const MOST_HEADERS: u32 = 16;

/// Resources of a new transport block, and the CQI from which its MCS was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    pub shape: Shape,
    pub cqi: u8,
}

impl Leg {
    /// Returns the bytes that the base station intends to grant. A scheduling request is answered
    /// only in the cell in which the UE sent it.
    pub(crate) fn uplink_wanted(&self, requests: &UplinkRequests, plan: &CellPlan) -> u64 {
        let wanted = if requests.known > 0 {
            requests.known + u64::from(requests.status.size())
        } else if requests.is_asked && self.carriers.requesting_leg().is_none() {
            u64::from(plan.config.requests.first_grant)
        } else {
            return 0;
        };
        match requests.unfit {
            0 => wanted,
            unfit => wanted.max(u64::from(unfit) + 1),
        }
    }

    /// Returns true if the UE may get a grant in `slot` for slot `target`.
    pub(crate) fn may_be_granted(&self, slot: u64, target: u64) -> bool {
        self.up.last_slot != target
            && self.up.harq.free(slot).is_some()
            && self.is_reachable(Direction::Uplink, slot, target)
    }

    /// Returns the first slot after `slot` in which the UE may get a grant.
    pub(crate) fn uplink_ready(
        &mut self,
        requests: &UplinkRequests,
        plan: &CellPlan,
        slot: u64,
        is_out_of_range: bool,
    ) -> u64 {
        let wants = self.uplink_wanted(requests, plan) > 0;
        let half = &mut self.up;
        let mut ready = half.harq.waiting_from().unwrap_or(NO_SLOT);
        half.is_stalled = false;
        if is_out_of_range {
            ready = slot + plan.recheck_slots();
        } else if wants {
            match half.harq.free_from(slot + 1) {
                Some(from) => ready = ready.min(from),
                None => half.is_stalled = true,
            }
        }
        // The UE receives grants in the downlink.
        self.clear_from(ready.max(slot + 1), Direction::Downlink)
    }

    /// Returns a HARQ process for a transport block that is granted in `slot`. `None` if all HARQ
    /// processes are busy.
    pub(crate) fn free_uplink(&self, slot: u64) -> Option<u8> {
        self.up.harq.free(slot)
    }

    /// Grants a new transport block in the later slot `target`.
    pub(crate) fn grant(
        &mut self,
        requests: &mut UplinkRequests,
        plan: &CellPlan,
        (process, block): (u8, Block),
        target: u64,
    ) {
        let first_at = plan.frame.start_of(target);
        self.stay_awake(plan, first_at);
        requests.on_grant(block.shape.bytes);
        let started = self.up.harq.start(process, block.shape, first_at);
        started.cqi = block.cqi;
        self.up.last_slot = target;
    }

    /// Handles a new uplink transport block that the UE has filled. The block reports that `left`
    /// bytes remain. If any bytes remain, the UE sends another request at the time of
    /// [`UplinkRequests::arm_repeat`](super::request::UplinkRequests::arm_repeat). Returns the time
    /// of the scheduling request that led to the grant. `None` if no request led to the grant.
    pub(crate) fn on_filled(
        &mut self,
        requests: &mut UplinkRequests,
        plan: &CellPlan,
        now: Time,
        process: u8,
        (content, left): (Option<ContentId>, u64),
    ) -> Option<Time> {
        let block = self.up.harq.process_mut(process);
        block.status = requests.status.reported(left);
        block.content = content;
        let filled = (block.shape.bytes, content.is_some(), left);
        let requested_at = requests.on_granted_slot(plan, now, filled);
        block.begun = requests.begun();
        requested_at
    }

    /// Skips a grant for which the UE has no data that fits.
    pub(crate) fn skip_grant(&mut self, requests: &mut UplinkRequests, process: u8, slot: u64) {
        self.up.harq.skip(process, slot);
        requests.known = 0;
    }

    /// Sends an uplink transport block in `slot` with the given power per resource block, in dBm.
    /// Returns the time at which the base station has decoded it.
    pub(crate) fn send_uplink(
        &mut self,
        plan: &CellPlan,
        (process, slot): (u8, u64),
        block_power_dbm: f64,
    ) -> Time {
        let timing = &plan.config.timing;
        let end_at = plan.frame.start_of(slot + 1);
        let again_from = timing.answer_slot(&plan.frame, slot);
        self.up.sent(process, slot, again_from);
        self.up.harq.process_mut(process).block_power_dbm = block_power_dbm;
        end_at.saturating_add(timing.base_decoding)
    }

    /// Reads the buffer status report in a new transport block that the base station has decoded.
    pub(crate) fn on_report(&self, requests: &mut UplinkRequests, process: u8) {
        let block = self.up.harq.process(process);
        let is_latest = requests.on_report(block.status, block.begun);
        if block.content.is_some() {
            requests.unfit = 0;
        } else if is_latest && self.channels.has_whole_only() {
            let bytes = block.shape.bytes;
            requests.on_unfit(block.status, bytes);
        } else if is_latest && block.status > 0 && block.shape.bytes <= MOST_HEADERS {
            // The outstanding grants seem to cover the reported bytes. Without this record, the
            // base station would repeat grants of the same size for ever.
            requests.unfit = requests.unfit.max(block.shape.bytes);
        }
    }

    /// Returns the first slot in which the base station may send another grant after it received a
    /// transport block. If that block failed, the grant does not come before its retransmission.
    /// `None` if there is nothing to grant.
    pub(crate) fn uplink_resumes(
        &self,
        requests: &UplinkRequests,
        plan: &CellPlan,
        process: u8,
    ) -> Option<u64> {
        let wants = self.uplink_wanted(requests, plan) > 0;
        let harq = &self.up.harq;
        let again_from = harq.process(process).again_from();
        let free = wants.then(|| harq.free_from(again_from)).flatten();
        harq.waiting_from().into_iter().chain(free).min()
    }
}
