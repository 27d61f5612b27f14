//! Packets of bearers whose UE is in a cell of 3G. The caller carries these packets over links.

use super::event::Event;
use super::stack::Stack;
use crate::bearer::UtraBearer;
use crate::config::Env;
use fadeout_core::{Direction, DrbId, Probe, Time};

/// Schedules the transfer of a bearer's packets to a link of the caller, if its UE is in a 3G cell.
pub(crate) fn schedule_pass_on(stack: &mut Stack, now: Time, bearer: DrbId) {
    if stack.bearers[bearer.index()].transfers().is_in_utra() {
        stack.events.schedule(now, Event::PassOn(bearer));
    }
}

/// Hands a bearer's packets to a link of the caller, if the bearer's UE is in a cell of 3G.
pub(crate) fn pass_on(stack: &mut Stack, bearer: DrbId, env: &mut Env<'_, impl Probe>) {
    let drb = &mut stack.bearers[bearer.index()];
    if !drb.transfers().is_in_utra() {
        return;
    }
    if let Some(at) = UtraBearer(drb).take_waiting(env, &mut stack.storage) {
        stack.events.schedule(at, Event::PassOn(bearer));
    }
    stack.declare_lost(bearer, Direction::Downlink, env);
    stack.declare_lost(bearer, Direction::Uplink, env);
}
