//! Failure of a UE's secondary leg: the side that finds it tells the other one, and only then the network acts.
//!
//! ```text
//! UE finds it:      UE ── SCGFailureInformation over the master's leg ──► master's base station ─┐
//! its cell does:    secondary base station ── message over links ───────► master's base station ─┤
//!                                                                                                ▼
//!                   data recovery; the leg carries again after the time that re-establishment takes
//! ```
//!
//! Standard: TS 38.331 §5.7.3; TS 37.340 §7.7.

use super::scg::Scg;
use super::service::Service;
use super::split::fails_with;
use super::stack::Stack;
use super::states::tell;
use super::{Event, RadioAccess};
use crate::bearer::{Finder, fail_leg, split};
use crate::config::{BearerConfig, Env, LegId};
use crate::leg::{LegConfig, rlc_of};
use fadeout_core::{Direction, DrbId, Packet, Probe, RrcEvent, Span, Time, UeId};

/// Bytes of SCGFailureInformation with a measurement: a usual size.
const REPORT: u32 = 50;
/// Until somebody acts, a failed leg carries nothing: longer than any message takes.
const UNTOLD: Span = Span::from_secs(3600);

/// Numbers of failures are apart from those of RRC's other messages.
const FIRST_NUMBER: u64 = 1 << 63;

/// Whether a message with this number tells of a failure.
pub(super) fn is_report(number: u64) -> bool {
    number >= FIRST_NUMBER
}

/// A failure that the master's base station does not know of.
#[derive(Debug, Clone, Copy)]
struct Untold {
    number: u64,
    leg: LegId,
    ue: UeId,
    finder: Finder,
    found_at: Time,
    /// When the master's base station finds out by itself, if its own link has failed meanwhile.
    known_at: Time,
}

/// The failures of secondary legs that are on their way to be known.
#[derive(Debug, Default)]
pub(super) struct SecondaryFailures {
    untold: Vec<Untold>,
    next_number: u64,
    /// UEs with a failure that the network has come to know and is to see to, and since when they have it.
    known: Vec<(UeId, Time)>,
}

impl SecondaryFailures {
    /// Whether a leg has failed and the master's base station does not know yet.
    pub(super) fn is_untold(&self, leg: LegId) -> bool {
        self.untold.iter().any(|it| it.leg == leg)
    }

    /// Whether the network is to see to some.
    #[inline]
    pub(super) fn are_known(&self) -> bool {
        !self.known.is_empty()
    }

    /// A leg is released: nobody need know of its failure any more.
    pub(super) fn forget(&mut self, leg: LegId) {
        self.untold.retain(|it| it.leg != leg);
    }

    fn take(&mut self, number: u64) -> Option<Untold> {
        let place = self.untold.iter().position(|it| it.number == number)?;
        Some(self.untold.remove(place))
    }
}

impl Service {
    /// A leg to a cell of the secondary node has failed, as one side finds; or RLC of one in a secondary cell, which is kept
    /// to it, has.
    ///
    /// Standard: TS 38.331 §5.3.10.3, §5.7.3, §5.7.5.
    #[cold]
    pub(super) fn fail_secondary(
        &mut self,
        (id, finder): (LegId, Finder),
        env: &mut Env<'_, impl Probe>,
    ) {
        if self.secondary.is_untold(id) {
            return;
        }
        let LegConfig { ue, .. } = self.stack.legs[id.index()].config;
        let number = FIRST_NUMBER + self.secondary.next_number;
        self.secondary.next_number += 1;
        self.secondary.untold.push(Untold {
            number,
            leg: id,
            ue,
            finder,
            found_at: env.now,
            known_at: Time::NEVER,
        });
        self.stack.ues[ue.index()].on_link_failure(env.now, Span::ZERO);
        tell(
            env.now,
            (ue, RrcEvent::SecondaryFailed),
            &self.stack,
            env.probe,
        );
        let until = env.now.saturating_add(UNTOLD);
        silence(self, id, until);
        self.stack.lose_content(id, env);
        let knowing: &[Direction] = match finder {
            Finder::Ue => &[Direction::Uplink],
            Finder::Station => &[],
        };
        self.stack.suspend((id, until), knowing, env);
        let is_carrier = self.stack.legs[id.index()].primary() != id;
        match finder {
            Finder::Ue => self.report(ue, number, env),
            // Of a carrier the base station with PDCP finds it itself.
            Finder::Station if is_carrier => self.act_on_failure(number, env),
            Finder::Station => self.tell_master(number, env.now),
        }
        self.serve_split(id, env);
    }

    /// The UE sends SCGFailureInformation.
    fn report(&mut self, ue: UeId, number: u64, env: &mut Env<'_, impl Probe>) {
        let Some(bearer) = self.signalling_of(ue) else {
            return;
        };
        let packet = env.pool.insert(Packet::message(number, REPORT));
        let entering = (bearer, Direction::Uplink, packet);
        self.admit(env.now, entering, env.pool, env.probe);
    }

    /// The signalling bearer of a UE with two legs, which exists as soon as it says something.
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

    /// The secondary base station sends a message, and again until it is answered: a link may lose it.
    fn tell_master(&mut self, number: u64, now: Time) {
        let known = &self.secondary.untold;
        let Some(&Untold { leg, .. }) = known.iter().find(|it| it.number == number) else {
            return;
        };
        let stack = &mut self.stack;
        let Some(bearer) = stack.bearer_at(leg, 0) else {
            return;
        };
        if let Some(mut split) = split(&mut stack.bearers[bearer.index()]) {
            let again_after = split.tell_failure(number, &mut stack.storage);
            let at = now.saturating_add(again_after);
            stack.events.schedule(at, Event::Secondary(number));
        }
    }

    /// Time to tell again, or to go on.
    pub(super) fn on_secondary(&mut self, number: u64, env: &mut Env<'_, impl Probe>) {
        let known = self.secondary.untold.iter();
        let Some(&untold) = known.clone().find(|it| it.number == number) else {
            return;
        };
        if untold.known_at <= env.now {
            self.act_on_failure(number, env);
        } else if untold.finder == Finder::Station && untold.known_at.is_never() {
            self.tell_master(number, env.now);
        }
    }

    /// The link to the master's cell has failed too, until `until`: its re-establishment tells what the message would
    /// have, which went with the link.
    ///
    /// Standard: TS 38.331 §5.3.7.
    pub(super) fn on_master_failed(&mut self, ue: UeId, until: Time) {
        let untold = self.secondary.untold.iter_mut();
        for failure in untold.filter(|it| it.ue == ue) {
            failure.known_at = until;
            let event = Event::Secondary(failure.number);
            self.stack.events.schedule(until, event);
        }
    }

    /// The master's base station knows of a failure: both sides start afresh, and the leg carries again after the time
    /// that re-establishment takes.
    pub(super) fn act_on_failure(&mut self, number: u64, env: &mut Env<'_, impl Probe>) {
        let Some(Untold {
            leg, ue, found_at, ..
        }) = self.secondary.take(number)
        else {
            return;
        };
        tell(
            env.now,
            (ue, RrcEvent::SecondaryFailureKnown),
            &self.stack,
            env.probe,
        );
        if self.stack.ues[ue.index()].has_managed_node {
            let until = env.now.saturating_add(UNTOLD);
            silence(self, leg, until);
            self.stack.fail_bearers((leg, Time::NEVER), env);
            self.serve_split(leg, env);
            self.secondary.known.push((ue, found_at));
            return;
        }
        let cell = self.stack.legs[leg.index()].config.cell;
        let takes = self.cells[cell.index()].plan.config.reestablish_after;
        let until = env.now.saturating_add(takes);
        silence(self, leg, until);
        self.stack.fail_bearers((leg, until), env);
        self.stack.events.schedule(until, Event::Returned(leg));
        self.serve_split(leg, env);
    }

    /// A failed leg carries again: what waits at either end may use it.
    pub(super) fn on_returned(&mut self, leg: LegId, env: &mut Env<'_, impl Probe>) {
        if !self.secondary.is_untold(leg) {
            self.serve_split(leg, env);
        }
    }
}

/// Nothing is under way on a leg any more, which carries nothing before `until`.
fn silence(service: &mut Service, id: LegId, until: Time) {
    let stack = &mut service.stack;
    stack.requests[id.index()].reset();
    let leg = &mut stack.legs[id.index()];
    leg.fail(until, &mut stack.lost);
    service.cells[leg.config.cell.index()].forget_grants(id);
}

impl Stack {
    /// The bearers of a leg send nothing on it any more. Of those that know, the ends that send in these directions start
    /// afresh.
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

impl RadioAccess {
    /// The network has come to know of failures that it manages.
    pub(super) fn on_known_failures(&mut self, env: &mut Env<'_, impl Probe>) {
        let mut known = std::mem::take(&mut self.service.secondary.known);
        for (ue, found_at) in known.drain(..) {
            self.with_managed(ue, |managed| Scg(managed).on_failed(found_at, env));
        }
        self.service.secondary.known = known;
    }

    /// SCGFailureInformation has come.
    pub(super) fn on_report(&mut self, number: u64, env: &mut Env<'_, impl Probe>) {
        self.service.act_on_failure(number, env);
    }
}

#[cfg(test)]
mod tests;
