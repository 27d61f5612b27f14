//! Delivery of received transport blocks to bearers.

use super::service::Service;
use super::{capture, duplication};
use crate::bearer::{BlockTimes, Finder};
use crate::config::{Env, LegId};
use crate::leg::{Content, ContentId, LegConfig};
use fadeout_core::{Direction, DrbId, Motion, Probe};

/// Block whose PDUs were delivered. A failure that the delivery has revealed must be handled before
/// [`Service::finish_reception`].
pub(crate) struct ReceivedBlock {
    block: (LegId, Direction, u8),
    content: Option<(ContentId, Content)>,
    /// Bearer of which an RLC entity has failed, with its leg. `None` without a failure.
    pub failed: Option<(DrbId, (LegId, Finder))>,
}

impl Service {
    /// Handles the end of a block's decoding at the receiver. Delivers the block, or reports the
    /// loss of a block that HARQ abandoned. `None` if the block is void.
    pub(crate) fn on_received<M: Motion>(
        &mut self,
        block: (LegId, Direction, u8),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) -> Option<ReceivedBlock> {
        let (id, direction, process) = block;
        let LegConfig { cell, ue, .. } = self.stack.legs[id.index()].config;
        let plan = &self.cells[cell.index()].plan;
        let sinr_db = self.stack.sinr_db(plan, block, motion, env);
        let leg = &mut self.stack.legs[id.index()];
        let decoding = leg.decode(plan, (direction, process), sinr_db, env.probe)?;
        if env.probe.wants_mac_pdus(cell, ue) {
            capture::report_mac_pdu(&mut self.stack, plan, block, decoding, env);
        }
        let (leg, requests) = self.stack.leg_and_requests(id);
        if decoding.is_new && direction == Direction::Uplink {
            leg.on_report(requests, process);
        }
        let sent = leg.half(direction).block(process);
        let times = BlockTimes {
            first_at: sent.first_at,
            last_at: plan.frame.start_of(sent.slot),
            decoded_at: env.now,
        };
        let mut received = ReceivedBlock {
            block,
            content: None,
            failed: None,
        };
        if (decoding.is_new || decoding.is_lost)
            && let Some(content) = leg.half_mut(direction).take_content(process)
        {
            match decoding.is_new {
                true => self.deliver(&mut received, content, &times, env),
                false => self.stack.report_lost_block((id, direction), content, env),
            }
        }
        Some(received)
    }

    /// Delivers the content of a decoded transport block, up to a bearer that fails.
    fn deliver(
        &mut self,
        received: &mut ReceivedBlock,
        id: ContentId,
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (leg, direction, _) = received.block;
        let content = self.stack.contents.take_content(id);
        for &control in &content.controls {
            duplication::on_control(self, control, env);
        }
        for (bearer, pdus) in content.runs() {
            let pdus = (&content, pdus);
            let stack = &mut self.stack;
            stack.on_pdus((leg, direction), bearer, pdus, times, env);
            received.failed = self.failed_leg(bearer).map(|failed| (bearer, failed));
            if received.failed.is_some() {
                // The failure resets the RLC entities, so the RLC sequence numbers of the remaining
                // PDUs are invalid.
                break;
            }
            self.stack.arm(env.now, bearer, direction.opposite());
        }
        received.content = Some((id, content));
    }

    /// Ends the handling of a block, after the failure that it may have revealed was handled.
    pub(crate) fn finish_reception(
        &mut self,
        received: ReceivedBlock,
        env: &mut Env<'_, impl Probe>,
    ) {
        let (id, direction, process) = received.block;
        if let Some((bearer, _)) = received.failed {
            self.stack.arm(env.now, bearer, direction.opposite());
        }
        if let Some((number, content)) = received.content {
            self.stack.contents.put_back(number, content);
            // The received block may cause data in the opposite direction, such as a status report,
            // or new data because RLC's window has moved.
            self.on_backlog(Some(id), direction.opposite(), env);
        }
        let mut position = 0;
        while let Some(bearer) = self.stack.legs[id.index()].channels.bearer(position) {
            self.stack.declare_lost(bearer, direction, env);
            position += 1;
        }
        let (leg, requests) = self.stack.leg_and_requests(id);
        let plan = &self.cells[leg.config.cell.index()].plan;
        let from = match direction {
            Direction::Downlink => leg.downlink_resumes(),
            Direction::Uplink => leg.uplink_resumes(requests, plan, process),
        };
        if let Some(from) = from {
            self.activate(env.now, Some(id), direction, from);
        }
        if direction == Direction::Uplink {
            self.on_received_block(id, env.now);
        }
    }

    /// Returns the leg on which an RLC entity of a bearer has failed, and the end that has found
    /// the failure. `None` without a failure, or if a report of the failure is under way.
    pub(crate) fn failed_leg(&self, bearer: DrbId) -> Option<(LegId, Finder)> {
        let failed = self.stack.bearers[bearer.index()].failed_leg();
        failed.filter(|&(leg, _)| !self.secondary.is_unreported(leg))
    }
}
