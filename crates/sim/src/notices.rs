//! Cross-layer notices: messages from links and UEs to the ends of a flow.
//!
//! Rates and blockages of a link do not depend on its traffic. The same is true for blockages of a
//! radio channel. So these notices are known for the whole run when the simulation is built.
//! Handovers of a UE are not known in advance, so their notices are added during the run.

use fadeout_core::random::Stream;
use fadeout_core::{FlowId, LinkInfo, Rate, Span, Time};
use fadeout_link::Link;
use fadeout_scenario::LinkInfoSettings;

/// Minimum time between two notices of rate changes. Several changes within this time cause one
/// notice.
const RATE_RESOLUTION: Span = Span::from_millis(1);

/// The rates and outages of a hop until the end of a run.
#[derive(Debug, Default)]
pub(crate) struct Outlook {
    /// Rate of the hop, each with the time from which it applies. Empty for a radio bearer, whose
    /// rate depends on its scheduler.
    pub(crate) rates: Vec<(Time, Rate)>,
    /// Start and end of each period in which no packet crosses the hop.
    pub(crate) outages: Vec<(Time, Time)>,
}

impl Outlook {
    /// Returns the rates and outages of a link.
    pub(crate) fn of_link(link: &Link, end: Time) -> Outlook {
        Outlook {
            rates: link.rate_changes(end, RATE_RESOLUTION),
            outages: link.outages(end),
        }
    }
}

/// The notices of one flow, in the order of time.
#[derive(Debug)]
pub(crate) struct Notices {
    pub(crate) flow: FlowId,
    list: Vec<(Time, LinkInfo)>,
    next: usize,
    settings: LinkInfoSettings,
    random: Stream,
    /// Random stream that selects the lost notices. It is separate from `random`, so that losses do
    /// not change the prediction errors.
    losses: Stream,
}

impl Notices {
    /// Creates the notices from a hop to `flow`. `outlook` contains the rates and outages of the
    /// hop. `random` draws the errors of predictions, two numbers for each blockage. `losses`
    /// selects the lost notices.
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
                let arrives_at = start.saturating_sub(ahead).saturating_add(settings.delay);
                let length = stop.since(start);
                let info = LinkInfo::BlockagePredicted {
                    starts_at: Time::ZERO + off_by(start.since(Time::ZERO), early, settings.error),
                    lasts: off_by(length, longer, settings.error),
                };
                list.push((arrives_at, info));
            }
            list.push((
                start.saturating_add(settings.delay),
                LinkInfo::BlockageBegan,
            ));
            list.push((stop.saturating_add(settings.delay), LinkInfo::BlockageEnded));
        }
        // The sort is stable. So a notice of rate zero stays before the notice of the blockage that
        // causes it.
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

    /// Adds a notice of an event that was not known in advance. The notice arrives after the
    /// signalling delay. A prediction gets random errors, and is left out if the flow uses no
    /// predictions. Returns the time of the next notice if the list was empty before. `None` if it
    /// was not.
    pub(crate) fn add_with_error(&mut self, now: Time, info: LinkInfo) -> Option<Time> {
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
        self.add(now, info)
    }

    /// Adds a notice without errors, which arrives after the signalling delay. Returns the time of
    /// the next notice if the list was empty before. `None` if it was not.
    pub(crate) fn add(&mut self, now: Time, info: LinkInfo) -> Option<Time> {
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

    /// Returns the delay between an event and its notice.
    pub(crate) fn delay(&self) -> Span {
        self.settings.delay
    }

    /// Returns the time of the next notice. `None` if there is none.
    pub(crate) fn next_at(&self) -> Option<Time> {
        self.list.get(self.next).map(|(at, _)| *at)
    }

    /// Removes and returns the notice that is due. The two other values are true if the notice
    /// reaches the sender and the receiver of the data.
    pub(crate) fn take_due(&mut self) -> (LinkInfo, [bool; 2]) {
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

/// Returns `span` plus an error of `deviations` standard deviations. A negative sum becomes zero.
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
