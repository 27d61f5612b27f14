//! Cross-layer notices: what a hop tells the ends of a flow, and when.
//!
//! Rates and blockages of a link do not depend on its traffic, and neither do the blockages of a
//! radio channel; so the notices of a whole run are known when the world is built. What happens to a UE
//! that changes cells is not: its notices come with it.

use fadeout_core::random::Stream;
use fadeout_core::{FlowId, LinkInfo, Rate, Span, Time};
use fadeout_link::Link;
use fadeout_scenario::LinkInfoSettings;

/// Rate changes closer together than this are told as one.
const RATE_RESOLUTION: Span = Span::from_millis(1);

/// The rates and blockages of a hop until the end of a run.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// Its rate from each instant on; none of a radio bearer, whose rate its scheduler makes.
    pub(crate) rates: Vec<(Time, Rate)>,
    /// From when to when nothing passes.
    pub(crate) outages: Vec<(Time, Time)>,
}

impl Outlook {
    /// That of a link.
    pub(crate) fn of_link(link: &Link, end: Time) -> Outlook {
        Outlook {
            rates: link.rate_changes(end, RATE_RESOLUTION),
            outages: link.outages(end),
        }
    }
}

/// The notices of one flow, in order of time.
#[derive(Debug)]
pub(crate) struct Notices {
    pub(crate) flow: FlowId,
    list: Vec<(Time, LinkInfo)>,
    next: usize,
    settings: LinkInfoSettings,
    random: Stream,
    /// Draws which notices are lost, apart from the errors: these do not depend on what is lost.
    losses: Stream,
}

impl Notices {
    /// The notices that a hop with this outlook gives to `flow`. Of `random` and `losses` the first draws the
    /// errors of predictions, two numbers a blockage, the second what is lost.
    pub(crate) fn new(
        flow: FlowId,
        outlook: Outlook,
        settings: &LinkInfoSettings,
        (mut random, losses): (Stream, Stream),
    ) -> Notices {
        let mut list = Vec::new();
        for (at, rate) in outlook.rates {
            list.push((at.saturating_add(settings.delay), LinkInfo::Rate(rate)));
        }
        for (start, stop) in outlook.outages {
            let (early, longer) = (random.normal(), random.normal());
            if let Some(ahead) = settings.prediction {
                let told_at = start.saturating_sub(ahead).saturating_add(settings.delay);
                let length = stop.since(start);
                let info = LinkInfo::BlockagePredicted {
                    starts_at: Time::ZERO + off_by(start.since(Time::ZERO), early, settings.error),
                    lasts: off_by(length, longer, settings.error),
                };
                list.push((told_at, info));
            }
            list.push((
                start.saturating_add(settings.delay),
                LinkInfo::BlockageBegan,
            ));
            list.push((stop.saturating_add(settings.delay), LinkInfo::BlockageEnded));
        }
        // Stable: a rate of zero is told before the blockage that makes it.
        list.sort_by_key(|(at, _)| *at);
        debug_assert!(
            list.first().is_none_or(|(at, _)| !at.is_never()),
            "a notice never arrives"
        );
        Notices {
            flow,
            list,
            next: 0,
            settings: *settings,
            random,
            losses,
        }
    }

    /// Something of the hop that was not known ahead: it is told after the signalling delay, a prediction
    /// with its errors, and only where there are predictions. When a notice arrives next, if none was
    /// under way.
    pub(crate) fn tell(&mut self, now: Time, info: LinkInfo) -> Option<Time> {
        let info = match info {
            LinkInfo::BlockagePredicted { starts_at, lasts } => {
                self.settings.prediction?;
                let error = self.settings.error;
                let (early, longer) = (self.random.normal(), self.random.normal());
                LinkInfo::BlockagePredicted {
                    starts_at: Time::ZERO + off_by(starts_at.since(Time::ZERO), early, error),
                    lasts: off_by(lasts, longer, error),
                }
            }
            other => other,
        };
        self.pass_on(now, info)
    }

    /// A unit's own prediction, or what it sees: told as it is after the signalling delay. When a notice arrives next,
    /// if none was under way.
    pub(crate) fn pass_on(&mut self, now: Time, info: LinkInfo) -> Option<Time> {
        let is_first = self.next == self.list.len();
        if is_first {
            self.list.clear();
            self.next = 0;
        }
        let at = now.saturating_add(self.settings.delay);
        debug_assert!(
            self.list.last().is_none_or(|&(last, _)| last <= at),
            "a notice arrives before the one told before it"
        );
        self.list.push((at, info));
        is_first.then_some(at)
    }

    /// From the event to the notice.
    pub(crate) fn delay(&self) -> Span {
        self.settings.delay
    }

    /// When the next notice arrives.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.list.get(self.next).map(|(at, _)| *at)
    }

    /// The notice that arrives now, and whether it reaches the sender of the data and its receiver.
    pub(crate) fn take(&mut self) -> (LinkInfo, [bool; 2]) {
        let (_, info) = self.list[self.next];
        self.next += 1;
        let loss = self.settings.loss;
        debug_assert!(
            (0.0..=1.0).contains(&loss),
            "a share of notices lost of {loss}"
        );
        let reaches = match loss > 0.0 {
            true => [(); 2].map(|()| !self.losses.chance(loss)),
            false => [true; 2],
        };
        (info, reaches)
    }
}

/// `span` with an error of `deviations` standard deviations, not below zero.
fn off_by(span: Span, deviations: f64, deviation: Span) -> Span {
    let error = deviations * deviation.as_secs_f64();
    if error >= 0.0 {
        Span::from_nanos(
            span.as_nanos()
                .saturating_add(Span::from_secs_f64(error).as_nanos()),
        )
    } else {
        span.saturating_sub(Span::from_secs_f64(-error))
    }
}
