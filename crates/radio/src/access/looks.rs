//! UEs under mobility management look at their links: all that look at an instant do so one after the other, in
//! their order, whatever else each of them was woken for.
//!
//! A UE that listens all the time would look each 10 ms, and hardly ever find anything. The mean over 20
//! looks is no less than what a few of them add to it, since none is below zero. So after a look that is good
//! enough the UE waits for as long as the mean is surely above Qout, and does not even look at interferers
//! whose bounds say that: while T310 does not run and nothing was out of sync, nothing else counts. When a
//! later look does not suffice, what was left out is looked at then, as of the times at which it was due: the
//! gains follow from the places, a UE that goes straight on may be asked where it was, and what the cells
//! sent is kept.

use super::managed::Managed;
use super::utra::Utran;
use super::{Event, RadioAccess};
use crate::air::{Air, LinkLook, Watched};
use crate::config::{Env, LegId, Monitoring};
use crate::rrc::monitor::{Indication, LinkWatch};
use crate::rrc::pace::{Evaluation, MOST_EVALUATIONS};
use fadeout_core::{Motion, Probe, RrcEvent, Span, Time, UeId};

/// The next looks.
#[derive(Debug)]
pub(super) struct Looks {
    /// By UE; never where none is to come.
    next_at: Vec<Time>,
    /// The next instant at which UEs look that listen all the time, whoever looks then.
    regular_at: Time,
    period: Span,
}

impl Looks {
    /// UEs that listen all the time look at the multiples of `period`; the first looks of all are at these times.
    pub(super) fn new(next_at: Vec<Time>, period: Span) -> Looks {
        Looks {
            next_at,
            regular_at: Time::ZERO.saturating_add(period),
            period,
        }
    }

    /// The next look of a UE is at this time.
    #[inline]
    pub(super) fn set(&mut self, ue: UeId, at: Time) {
        self.next_at[ue.index()] = at;
    }

    /// The first UE from `from` on whose look is due.
    fn due(&self, from: usize, now: Time) -> Option<UeId> {
        let rest = self.next_at.get(from..)?;
        let place = rest.iter().position(|&at| at <= now)?;
        Some(UeId((from + place) as u32))
    }

    /// Whether those that listen all the time look now.
    fn is_regular(&self, now: Time) -> bool {
        self.regular_at <= now
    }

    /// When somebody may look next.
    pub(super) fn wake_at(&self) -> Time {
        let looks = self.next_at.iter().copied().min();
        looks.map_or(Time::NEVER, |at| at.min(self.regular_at))
    }

    /// All looks by `now` are done.
    fn go_on(&mut self, now: Time) {
        if self.is_regular(now) {
            self.regular_at = self.regular_at.saturating_add(self.period);
        }
    }
}

impl RadioAccess {
    /// UEs look at their links.
    pub(super) fn on_looks<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        let looks = self.mobility.as_ref().map(|it| &it.looks);
        if looks.is_some_and(|looks| looks.is_regular(env.now)) {
            Watched(&mut self.service.stack.air).keep_loads(MOST_EVALUATIONS);
        }
        let mut from = 0;
        while let Some(ue) = self
            .mobility
            .as_ref()
            .and_then(|it| it.looks.due(from, env.now))
        {
            self.with_managed(ue, |managed| managed.evaluate(motion, env));
            from = ue.index() + 1;
        }
        if let Some(mobility) = &mut self.mobility {
            mobility.looks.go_on(env.now);
            let at = mobility.looks.wake_at();
            self.service.stack.events.schedule(at, Event::Looks);
        }
    }
}

impl Managed<'_> {
    /// The UE looks whether its link is in sync.
    pub(super) fn evaluate<M: Motion>(&mut self, motion: &mut M, env: &mut Env<'_, impl Probe>) {
        if self.state.link.next_at() > env.now {
            return;
        }
        // While T310 runs the UE looks as if it did not sleep (TS 36.133 clause 7.6.2.2).
        let is_in_trouble = self.state.link.is_in_trouble();
        let sleep = self.service.sleep(self.ue, env.now);
        let over = Evaluation::of(self.config, sleep.filter(|_| !is_in_trouble));
        self.state.link.begin(env.now, over);
        let leg = self.service.stack.ues[self.ue.index()]
            .legs()
            .first()
            .copied();
        // What 3G does about a link is not modelled.
        let is_there = self.state.has_link() && !Utran(self).is_there();
        let Some(leg) = leg.filter(|_| is_there) else {
            return;
        };
        let look = LinkLook {
            at: env.now,
            back: 0,
        };
        // With DRX fewer looks count, some time apart.
        let may_wait = self.config.may_leave_out_looks() && !self.service.may_sleep(leg);
        let mut air = Watched(&mut self.service.stack.air);
        let link = &mut self.state.link;
        let enough = link.enough();
        let least = may_wait.then(|| air.least_quality(leg, look, enough, motion));
        match least.filter(|&(sinr, is_found)| is_found || sinr >= enough) {
            Some((sinr, is_found)) => link.note(sinr, is_found),
            None => link.note(air.quality(leg, look, motion), true),
        }
        let air = &mut self.service.stack.air;
        let monitoring = &self.config.monitoring;
        let mut said = None;
        if !may_wait || !link.is_settled() {
            catch_up((leg, link), (env.now, monitoring), air, motion);
            said = link.judge(env.now, monitoring, over);
        }
        if may_wait {
            let looks = (monitoring.period, MOST_EVALUATIONS);
            let until = Watched(air).keep_until(leg, env.now, looks, motion);
            if link.next_at() >= until {
                catch_up((leg, link), (env.now, monitoring), air, motion);
            }
            link.wait(until, monitoring);
        }
        match said {
            Some(Indication::OutOfSync) => self.note(RrcEvent::OutOfSync, env),
            Some(Indication::InSync) => self.note(RrcEvent::InSync, env),
            None => {}
        }
    }
}

/// Makes the looks at a link that were left out.
fn catch_up<M: Motion>(
    (leg, link): (LegId, &mut LinkWatch),
    (now, config): (Time, &Monitoring),
    air: &mut Air,
    motion: &mut M,
) {
    while let Some(back) = link.unknown() {
        let at = now - config.period * back as u64;
        let sinr = Watched(air).quality(leg, LinkLook { at, back }, motion);
        link.fill(back, sinr);
    }
}
