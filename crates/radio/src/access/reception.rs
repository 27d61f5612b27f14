//! Delivery of received transport blocks to bearers, and handling of RLC failures.

use super::daps::DapsHandover;
use super::{RadioAccess, capture, duplication};
use crate::bearer::{BlockTimes, Finder};
use crate::config::{Env, LegId};
use crate::leg::{ContentId, Decoding, LegConfig};
use fadeout_core::{Direction, DrbId, Motion, Probe};

impl RadioAccess {
    /// Handles the end of a block's decoding at the receiver.
    pub(super) fn on_received<M: Motion>(
        &mut self,
        (id, direction, process): (LegId, Direction, u8),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let LegConfig { cell, ue, .. } = self.service.stack.legs[id.index()].config;
        let plan = &self.service.cells[cell.index()].plan;
        let block = (id, direction, process);
        let sinr_db = self.service.stack.sinr_db(plan, block, motion, env);
        let leg = &mut self.service.stack.legs[id.index()];
        let decoding = leg.decode(plan, (direction, process), sinr_db, env.probe);
        let Some(decoding) = decoding else { return };
        if env.probe.wants_mac_pdus(cell, ue) {
            capture::report_mac_pdu(&mut self.service.stack, plan, block, decoding, env);
        }
        let (leg, requests) = self.service.stack.leg_and_requests(id);
        if decoding.is_new && direction == Direction::Uplink {
            leg.on_report(requests, process);
        }
        let sent = leg.half(direction).block(process);
        let times = BlockTimes {
            first_at: sent.first_at,
            last_at: plan.frame.start_of(sent.slot),
            decoded_at: env.now,
        };
        self.finish_block(block, decoding, &times, env);
        let (leg, requests) = self.service.stack.leg_and_requests(id);
        let plan = &self.service.cells[cell.index()].plan;
        let from = match direction {
            Direction::Downlink => leg.downlink_resumes(),
            Direction::Uplink => leg.uplink_resumes(requests, plan, process),
        };
        if let Some(from) = from {
            self.service.activate(env.now, Some(id), direction, from);
        }
        if direction == Direction::Uplink {
            self.service.on_received_block(id, env.now);
        }
    }

    /// Delivers a decoded block, or reports the loss of a block that HARQ abandoned.
    fn finish_block(
        &mut self,
        (id, direction, process): (LegId, Direction, u8),
        decoding: Decoding,
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
    ) {
        let leg = &mut self.service.stack.legs[id.index()];
        if decoding.is_new {
            if let Some(content) = leg.half_mut(direction).take_content(process) {
                self.deliver((id, direction), content, times, env);
            }
        } else if decoding.is_lost
            && let Some(content) = leg.half_mut(direction).take_content(process)
        {
            self.service
                .stack
                .report_lost_block((id, direction), content, env);
        }
        let mut position = 0;
        while let Some(bearer) = self.service.stack.legs[id.index()]
            .channels
            .bearer(position)
        {
            self.service.stack.declare_lost(bearer, direction, env);
            position += 1;
        }
    }

    /// Delivers the content of a decoded transport block.
    fn deliver(
        &mut self,
        (leg, direction): (LegId, Direction),
        id: ContentId,
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
    ) {
        let content = self.service.stack.contents.take_content(id);
        for &control in &content.controls {
            duplication::on_control(&mut self.service, control, env);
        }
        for (bearer, pdus) in content.runs() {
            let pdus = (&content, pdus);
            let stack = &mut self.service.stack;
            stack.on_pdus((leg, direction), bearer, pdus, times, env);
            let has_failed = self.check_failure(bearer, env);
            self.service
                .stack
                .arm(env.now, bearer, direction.opposite());
            if has_failed {
                // The failure has reset the RLC entities, so the RLC sequence numbers of the
                // remaining PDUs are invalid.
                break;
            }
        }
        self.service.stack.contents.put_back(id, content);
        // The received block may cause data in the opposite direction, such as a status report, or
        // new data because RLC's window has moved.
        self.service
            .on_backlog(Some(leg), direction.opposite(), env);
    }

    /// Checks both ends of a bearer for an RLC failure and handles it. Returns true if an end has
    /// failed.
    pub(super) fn check_failure(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) -> bool {
        let failed = self.service.stack.bearers[bearer.index()].failed_leg();
        let failed = failed.filter(|&(leg, _)| !self.service.secondary.is_unreported(leg));
        if let Some(failed) = failed {
            self.on_link_failure(failed, env);
        }
        failed.is_some()
    }

    /// Handles a radio link failure. Mobility management handles the failure of a UE that it
    /// manages, unless the leg is secondary.
    #[cold]
    pub(super) fn on_link_failure(
        &mut self,
        (leg, finder): (LegId, Finder),
        env: &mut Env<'_, impl Probe>,
    ) {
        let ue = self.service.stack.legs[leg.index()].config.ue;
        let is_second = self.service.stack.ues[ue.index()].second_leg() == Some(leg);
        if self.is_managed(ue) && !is_second {
            self.with_managed(ue, |managed| {
                if !DapsHandover(managed).on_leg_failure(leg, env) {
                    managed.fail_link(env);
                }
            });
        } else {
            self.service.fail_link((leg, finder), env);
        }
    }
}
