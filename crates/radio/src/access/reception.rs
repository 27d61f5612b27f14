//! Blocks from the air into bearers, and what follows when RLC has given up.

use super::{RadioAccess, capture};
use crate::bearer::BlockTimes;
use crate::config::{Env, LegId};
use crate::leg::{ContentId, Decoding, LegConfig};
use fadeout_core::{Direction, DrbId, Motion, Probe};

impl RadioAccess {
    /// A receiver has tried to decode a block.
    pub(super) fn on_received<M: Motion>(
        &mut self,
        (id, direction, process): (LegId, Direction, u8),
        motion: &mut M,
        env: &mut Env<'_, impl Probe>,
    ) {
        let LegConfig { cell, ue, .. } = self.stack.legs[id.index()].config;
        let plan = &self.cells[cell.index()].plan;
        let block = (id, direction, process);
        let sinr_db = self.stack.sinr_db(plan, block, motion, env);
        let leg = &mut self.stack.legs[id.index()];
        let decoding = leg.decode(plan, (direction, process), sinr_db, env.probe);
        let Some(decoding) = decoding else { return };
        if env.probe.wants_mac_pdus(cell, ue) {
            capture::show_mac_pdu(&mut self.stack, plan, block, decoding, env);
        }
        let leg = &mut self.stack.legs[id.index()];
        if decoding.is_new && direction == Direction::Uplink {
            leg.on_report(process);
        }
        let sent = leg.half(direction).block(process);
        let times = BlockTimes {
            first_at: sent.first_at,
            last_at: plan.frame.start_of(sent.slot),
            decoded_at: env.now,
        };
        self.settle(block, decoding, &times, env);
        let (leg, plan) = (&self.stack.legs[id.index()], &self.cells[cell.index()].plan);
        let from = match direction {
            Direction::Downlink => leg.downlink_resumes(),
            Direction::Uplink => leg.uplink_resumes(plan, process),
        };
        if let Some(from) = from {
            self.activate(env.now, Some(id), direction, from);
        }
    }

    /// Delivers a decoded block, or loses one that was given up.
    fn settle(
        &mut self,
        (id, direction, process): (LegId, Direction, u8),
        decoding: Decoding,
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
    ) {
        let leg = &mut self.stack.legs[id.index()];
        if decoding.is_new {
            if let Some(content) = leg.half_mut(direction).take_content(process) {
                self.deliver((id, direction), content, times, env);
            }
        } else if decoding.is_lost
            && let Some(content) = leg.half_mut(direction).take_content(process)
        {
            self.stack.lose(direction, content, env);
        }
        let mut position = 0;
        while let Some(bearer) = self.stack.legs[id.index()].channels.bearer(position) {
            self.stack.close_books(bearer, direction, env);
            position += 1;
        }
    }

    /// A transport block was decoded.
    fn deliver(
        &mut self,
        (leg, direction): (LegId, Direction),
        id: ContentId,
        times: &BlockTimes,
        env: &mut Env<'_, impl Probe>,
    ) {
        let content = self.stack.contents.take(id);
        for (bearer, pdus) in content.runs() {
            let pdus = (&content, pdus);
            let stack = &mut self.stack;
            stack.on_pdus((leg, direction), bearer, pdus, times, env);
            let has_failed = self.check_failure(bearer, env);
            self.stack.arm(env.now, bearer, direction.opposite());
            if has_failed {
                // What follows was numbered by entities that are gone.
                break;
            }
        }
        self.stack.contents.put(id, content);
        // Status reports, and room in a window, are for the way back.
        self.on_backlog(Some(leg), direction.opposite(), env);
    }

    /// Handles a failure of either end of a bearer. Whether there was one.
    pub(super) fn check_failure(&mut self, bearer: DrbId, env: &mut Env<'_, impl Probe>) -> bool {
        let failed = self.stack.bearers[bearer.index()].failed_leg();
        if let Some(leg) = failed {
            self.on_link_failure(leg, env);
        }
        failed.is_some()
    }

    #[cold]
    pub(super) fn on_link_failure(&mut self, id: LegId, env: &mut Env<'_, impl Probe>) {
        let stack = &mut self.stack;
        let leg = &mut stack.legs[id.index()];
        let LegConfig { cell, ue, .. } = leg.config;
        if self.is_managed(ue) {
            return self.with_managed(ue, |managed| managed.fail_link(env));
        }
        let stack = &mut self.stack;
        let leg = &mut stack.legs[id.index()];
        let cell = &mut self.cells[cell.index()];
        let takes = cell.plan.config.reestablish_after;
        let until = stack.ues[ue.index()].on_link_failure(env.now, takes);
        leg.fail(until, &mut stack.lost);
        cell.forget_grants(id);
        for &secondary in &stack.legs[id.index()].carriers.secondary().to_vec() {
            stack.legs[secondary.index()].fail(until, &mut stack.lost);
        }
        stack.fail_bearers(id, env);
        // Whatever waited for a HARQ process or a grant waits for service now.
        self.activate(env.now, Some(id), Direction::Downlink, 0);
        self.activate_secondary(env.now, Some(id), env.now);
        self.on_uplink_data(Some(id), env);
    }
}
