//! Activation and deactivation of PDCP duplication, leg by leg.
//!
//! ```text
//! set_downlink ─► downlink duplication changes at once
//!        └► MAC control element in a block of the first leg's PCell ──► uplink duplication changes
//! ```
//!
//! Standard: TS 38.321 §5.10; TS 38.323 §5.11.

use super::service::Service;
use crate::bearer::split;
use crate::config::{Env, LEG_NUMBERS};
use crate::leg::DuplicationControl;
use fadeout_core::{Direction, DrbId, Probe};

/// Activates duplication on the legs of the bit mask `legs` and deactivates it on all other legs.
pub(crate) fn set_downlink(
    service: &mut Service,
    bearer: DrbId,
    legs: u8,
    env: &mut Env<'_, impl Probe>,
) {
    let Some(config) = service.stack.bearers[bearer.index()].config().split else {
        return;
    };
    set_legs(service, (bearer, Direction::Downlink), legs, env);
    let leg = service
        .stack
        .leg_of(bearer)
        .filter(|_| config.duplicates[1]);
    let Some(leg) = leg else { return };
    let count = usize::from(config.leg.is_some()) + config.carriers.cells().len();
    let control = DuplicationControl {
        bearer,
        legs,
        has_many_legs: count > 1,
    };
    // A newer control element replaces an older one of the same bearer that was not sent yet.
    let controls = &mut service.stack.legs[leg.index()].controls;
    controls.retain(|before| before.bearer != bearer);
    controls.push(control);
    service.activate(env.now, Some(leg), Direction::Downlink, 0);
}

/// Handles the control element at the UE, which changes the duplication of its uplink data.
pub(crate) fn on_control(
    service: &mut Service,
    control: DuplicationControl,
    env: &mut Env<'_, impl Probe>,
) {
    let uplink = (control.bearer, Direction::Uplink);
    set_legs(service, uplink, control.legs, env);
}

fn set_legs(
    service: &mut Service,
    (bearer, direction): (DrbId, Direction),
    legs: u8,
    env: &mut Env<'_, impl Probe>,
) {
    let Some(mut split) = split(&mut service.stack.bearers[bearer.index()]) else {
        return;
    };
    for number in 0..LEG_NUMBERS as u8 {
        split.activate((number, direction), legs & 1 << number != 0, env.now);
    }
    service.stack.declare_lost(bearer, direction, env);
}
