//! Simulated time, and what is to happen next.

use super::Event;
use fadeout_core::{EventQueue, Time, Wake};

/// The clock and the events to come. Time only goes on, from event to event.
#[derive(Debug)]
pub(super) struct Agenda {
    now: Time,
    events: EventQueue<Event>,
    processed: u64,
}

impl Agenda {
    pub(super) fn new() -> Agenda {
        Agenda {
            now: Time::ZERO,
            events: EventQueue::new(),
            processed: 0,
        }
    }

    #[inline]
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// Events taken so far.
    pub(super) fn processed(&self) -> u64 {
        self.processed
    }

    /// So many events were taken in all, in other worlds too.
    pub(super) fn count(&mut self, processed: u64) {
        self.processed = processed;
    }

    /// When the next event is; none when nothing is left to do.
    pub(super) fn next_at(&self) -> Option<Time> {
        self.events.next_at()
    }

    /// Lets `event` happen at `at`, or now if that has passed.
    #[inline(always)]
    pub(super) fn schedule(&mut self, at: Time, event: Event) {
        self.events.schedule(at.max(self.now), event);
    }

    /// Lets a machine be woken at `at`, unless it will be by then; `event` makes its wake-up of
    /// the generation.
    #[inline]
    pub(super) fn arm(&mut self, wake: &mut Wake, at: Time, event: impl FnOnce(u32) -> Event) {
        if let Some(generation) = wake.arm(at) {
            self.schedule(at, event(generation));
        }
    }

    /// Goes on to the next event up to and including `until`, and takes it; to `until` when there
    /// is none.
    #[inline]
    pub(super) fn take(&mut self, until: Time) -> Option<Event> {
        let Some((at, event)) = self.events.pop_by(until) else {
            self.now = self.now.max(until);
            return None;
        };
        debug_assert!(at >= self.now, "time does not go back");
        self.now = at;
        self.processed += 1;
        Some(event)
    }

    #[cfg(test)]
    pub(super) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    /// Takes every event, and leaves the time as it is.
    #[cfg(test)]
    pub(super) fn drain(&mut self) -> Vec<(Time, Event)> {
        std::iter::from_fn(|| self.events.pop()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::FlowId;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn radio(generation: u32) -> Event {
        Event::Radio { generation }
    }

    #[test]
    fn time_goes_to_the_events_up_to_the_limit_and_then_to_the_limit() {
        let mut agenda = Agenda::new();
        agenda.schedule(at(20), Event::Start { flow: FlowId(1) });
        agenda.schedule(at(10), Event::Start { flow: FlowId(0) });
        let first = agenda.take(at(20));
        assert!(matches!(first, Some(Event::Start { flow: FlowId(0) })));
        assert_eq!((agenda.now(), agenda.next_at()), (at(10), Some(at(20))));
        assert!(agenda.take(at(15)).is_none());
        assert_eq!(agenda.now(), at(15));
        let second = agenda.take(at(20));
        assert!(matches!(second, Some(Event::Start { flow: FlowId(1) })));
        assert!(agenda.take(at(12)).is_none());
        assert_eq!((agenda.now(), agenda.processed()), (at(20), 2));
    }

    #[test]
    fn what_was_due_happens_now() {
        let mut agenda = Agenda::new();
        agenda.set_now(at(30));
        agenda.schedule(at(10), radio(0));
        assert_eq!(agenda.next_at(), Some(at(30)));
    }

    #[test]
    fn only_an_earlier_wake_up_is_an_event_and_none_is_never() {
        let (mut agenda, mut wake) = (Agenda::new(), Wake::default());
        agenda.arm(&mut wake, Time::NEVER, radio);
        agenda.arm(&mut wake, at(20), radio);
        agenda.arm(&mut wake, at(30), radio);
        agenda.arm(&mut wake, at(10), radio);
        let times: Vec<Time> = agenda.drain().iter().map(|&(at, _)| at).collect();
        assert_eq!(times, [at(10), at(20)]);
    }
}
