//! Failure of a UE's secondary leg. The side that detects the failure reports it to the master's
//! base station. The network acts only after this report.
//!
//! ```text
//! UE detects:      UE ── SCGFailureInformation over the master's leg ──► master's base station ─┐
//! cell detects:    secondary base station ── message over links ───────► master's base station ─┤
//!                                                                                               ▼
//!                  data recovery; the leg carries data again after the re-establishment time
//! ```
//!
//! Standard: TS 38.331 §5.7.3; TS 37.340 §7.7.

use super::event::Event;
use super::failures::{FIRST_NUMBER, UnreportedFailure};
use super::service::Service;
use super::stack::{Stack, fails_with};
use super::states::record_ue_event;
use crate::bearer::{Finder, fail_leg, split};
use crate::config::{BearerConfig, Env, LegId};
use crate::leg::{LegConfig, rlc_of};
use fadeout_core::{Direction, DrbId, Packet, Probe, RrcEvent, Span, Time, UeId};

/// Typical size in bytes of SCGFailureInformation with a measurement.
const FAILURE_INFORMATION_BYTES: u32 = 50;
/// Time for which a failed leg carries no data, unless the network acts first. The limit is longer
/// than the delay of any message.
const SILENCE_LIMIT: Span = Span::from_secs(3600);

impl Service {
    /// Handles the failure of a leg to a cell of the secondary node, detected by `finder`. Also
    /// handles the failure of an RLC entity that uses a single secondary cell.
    ///
    /// Standard: TS 38.331 §5.3.10.3, §5.7.3, §5.7.5.
    #[cold]
    pub(crate) fn fail_secondary(
        &mut self,
        (id, finder): (LegId, Finder),
        env: &mut Env<'_, impl Probe>,
    ) {
        if self.secondary.is_unreported(id) {
            return;
        }
        let LegConfig { ue, .. } = self.stack.legs[id.index()].config;
        let number = FIRST_NUMBER + self.secondary.next_number;
        self.secondary.next_number += 1;
        self.secondary.unreported.push(UnreportedFailure {
            number,
            leg: id,
            ue,
            finder,
            found_at: env.now,
            known_at: Time::NEVER,
        });
        self.stack.ues[ue.index()].on_link_failure(env.now, Span::ZERO);
        record_ue_event(
            env.now,
            (ue, RrcEvent::SecondaryFailed),
            &self.stack,
            env.probe,
        );
        let until = env.now.saturating_add(SILENCE_LIMIT);
        clear_leg(self, id, until);
        self.stack.lose_content(id, env);
        let knowing: &[Direction] = match finder {
            Finder::Ue => &[Direction::Uplink],
            Finder::Station => &[],
        };
        self.stack.suspend((id, until), knowing, env);
        let is_carrier = self.stack.legs[id.index()].primary() != id;
        match finder {
            Finder::Ue => self.send_failure_information(ue, number, env),
            // The base station with PDCP detects failures of its own carriers without a message.
            Finder::Station if is_carrier => self.act_on_failure(number, env),
            Finder::Station => self.send_failure(number, env.now),
        }
        self.serve_split(id, env);
    }

    /// Sends SCGFailureInformation from the UE.
    fn send_failure_information(&mut self, ue: UeId, number: u64, env: &mut Env<'_, impl Probe>) {
        let Some(bearer) = self.signalling_of(ue) else {
            return;
        };
        let packet = env
            .pool
            .insert(Packet::message(number, FAILURE_INFORMATION_BYTES));
        let entering = (bearer, Direction::Uplink, packet);
        self.admit(env.now, entering, env.pool, env.probe);
    }

    /// Returns the signalling bearer of a UE with two legs, and creates it for its first message.
    /// `None` if the bearer cannot be created.
    fn signalling_of(&mut self, ue: UeId) -> Option<DrbId> {
        let rrc = &self.stack.ues[ue.index()];
        if let Some(bearer) = rrc.signalling() {
            return Some(bearer);
        }
        let leg = *rrc.legs().first()?;
        let cell = self.stack.legs[leg.index()].config.cell;
        let is_nr = self.cells[cell.index()].plan.config.is_nr();
        let bearer = self
            .establish(BearerConfig::signalling(ue, is_nr), None)
            .ok()?;
        self.stack.bearers[bearer.index()].carry_signalling();
        self.stack.ues[ue.index()].on_signalling_bearer();
        Some(bearer)
    }

    /// Sends the failure message of the secondary base station. The message is repeated until an
    /// answer arrives, because a link may lose the message.
    fn send_failure(&mut self, number: u64, now: Time) {
        let known = &self.secondary.unreported;
        let Some(&UnreportedFailure { leg, .. }) = known.iter().find(|it| it.number == number)
        else {
            return;
        };
        let stack = &mut self.stack;
        let Some(bearer) = stack.bearer_at(leg, 0) else {
            return;
        };
        if let Some(mut split) = split(&mut stack.bearers[bearer.index()]) {
            let again_after = split.send_failure(number, &mut stack.storage);
            let at = now.saturating_add(again_after);
            stack.events.schedule(at, Event::SecondaryFailure(number));
        }
    }

    /// Repeats the failure message or handles the failure, whichever is due.
    pub(crate) fn on_secondary_failure(&mut self, number: u64, env: &mut Env<'_, impl Probe>) {
        let known = self.secondary.unreported.iter();
        let Some(&unreported) = known.clone().find(|it| it.number == number) else {
            return;
        };
        if unreported.known_at <= env.now {
            self.act_on_failure(number, env);
        } else if unreported.finder == Finder::Station && unreported.known_at.is_never() {
            self.send_failure(number, env.now);
        }
    }

    /// Handles a failure of the master's link while the secondary leg's failure is unreported. The
    /// UE's report is lost with the master's link. The master's base station learns of the failure
    /// by the re-establishment, which completes at `until`.
    ///
    /// Standard: TS 38.331 §5.3.7.
    pub(crate) fn on_master_failed(&mut self, ue: UeId, until: Time) {
        let unreported = self.secondary.unreported.iter_mut();
        for failure in unreported.filter(|it| it.ue == ue) {
            failure.known_at = until;
            let event = Event::SecondaryFailure(failure.number);
            self.stack.events.schedule(until, event);
        }
    }

    /// Handles a failure after the master's base station has learned of it. Both ends reset the
    /// leg. The leg carries data again after the re-establishment time.
    pub(crate) fn act_on_failure(&mut self, number: u64, env: &mut Env<'_, impl Probe>) {
        let Some(UnreportedFailure {
            leg, ue, found_at, ..
        }) = self.secondary.take_failure(number)
        else {
            return;
        };
        self.stack.changes.record(ue);
        record_ue_event(
            env.now,
            (ue, RrcEvent::SecondaryFailureKnown),
            &self.stack,
            env.probe,
        );
        if self.stack.ues[ue.index()].has_managed_node {
            let until = env.now.saturating_add(SILENCE_LIMIT);
            clear_leg(self, leg, until);
            self.stack.fail_bearers((leg, Time::NEVER), env);
            self.serve_split(leg, env);
            self.secondary.known.push((ue, found_at));
            return;
        }
        let cell = self.stack.legs[leg.index()].config.cell;
        let takes = self.cells[cell.index()].plan.config.reestablish_after;
        let until = env.now.saturating_add(takes);
        clear_leg(self, leg, until);
        self.stack.fail_bearers((leg, until), env);
        self.stack.events.schedule(until, Event::LegReturned(leg));
        self.serve_split(leg, env);
    }

    /// Starts transmission of waiting data on a leg that carries data again.
    pub(crate) fn on_returned(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        if !self.secondary.is_unreported(leg) {
            self.serve_split(leg, env);
        }
    }
}

/// Clears all HARQ content of a leg. The leg carries no data until `until`.
fn clear_leg(service: &mut Service, id: LegId, until: Time) {
    let stack = &mut service.stack;
    stack.requests[id.index()].reset();
    let leg = &mut stack.legs[id.index()];
    leg.fail(until, &mut stack.lost);
    service.cells[leg.config.cell.index()].forget_grants(id);
}

impl Stack {
    /// Stops all transmissions of bearers on a leg. The ends that send in the directions of
    /// `knowing` know of the failure. These ends reset their state of the leg.
    fn suspend(
        &mut self,
        (leg, until): (LegId, Time),
        knowing: &[Direction],
        env: &mut Env<'_, impl Probe>,
    ) {
        let mut position = 0;
        while let Some(bearer) = self.bearer_at(leg, position) {
            position += 1;
            if !fails_with(self, leg, bearer) {
                continue;
            }
            let number = rlc_of(&self.legs[leg.index()], bearer);
            let drb = &mut self.bearers[bearer.index()];
            if let Some(mut split) = split(drb) {
                split.suspend(number);
            }
            fail_leg((drb, number, until), knowing, env, &mut self.storage);
        }
    }
}

#[cfg(test)]
mod tests;
