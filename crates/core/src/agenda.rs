//! Simulated time, and the pending events.

use crate::{EventQueue, Time, Wake};

/// Clock and pending events. Time only moves forward, from event to event.
#[derive(Debug)]
pub struct Agenda<E> {
    now: Time,
    events: EventQueue<E>,
    processed: u64,
}

impl<E: Copy> Default for Agenda<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> Agenda<E> {
    /// Returns an agenda at the start of simulated time, without events.
    pub fn new() -> Agenda<E> {
        Agenda {
            now: Time::ZERO,
            events: EventQueue::new(),
            processed: 0,
        }
    }

    /// Returns the simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the number of events processed so far.
    pub fn processed(&self) -> u64 {
        self.processed
    }

    /// Sets the number of processed events, so that it can include those of other agendas.
    pub fn count(&mut self, processed: u64) {
        self.processed = processed;
    }

    /// Returns the time of the next event. `None` if no event is pending.
    #[inline]
    pub fn next_at(&self) -> Option<Time> {
        self.events.next_at()
    }

    /// Schedules `event` for `at`, or for now if `at` is in the past.
    #[inline(always)]
    pub fn schedule(&mut self, at: Time, event: E) {
        self.events.schedule(at.max(self.now), event);
    }

    /// Schedules a wake-up of a state machine at `at`, unless an earlier wake-up is scheduled.
    /// `event` returns the event for the generation of the wake-up.
    #[inline]
    pub fn arm(&mut self, wake: &mut Wake, at: Time, event: impl FnOnce(u32) -> E) {
        if let Some(generation) = wake.arm(at) {
            self.schedule(at, event(generation));
        }
    }

    /// Advances time to `now`, unless it is later already.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Advances to the next event up to and including `until`, and returns this event. If there is
    /// none, advances to `until` and returns `None`.
    #[inline]
    pub fn next_event(&mut self, until: Time) -> Option<E> {
        let Some((at, event)) = self.events.pop_by(until) else {
            self.advance(until);
            return None;
        };
        debug_assert!(
            at >= self.now,
            "an event at {at:?} comes after {:?}",
            self.now
        );
        self.now = at;
        self.processed += 1;
        Some(event)
    }

    /// Removes all events with their times. The clock does not change.
    pub fn drain(&mut self) -> impl Iterator<Item = (Time, E)> + '_ {
        std::iter::from_fn(|| self.events.pop())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at_nanos(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn time_goes_to_the_events_up_to_the_limit_and_then_to_the_limit() {
        let mut agenda = Agenda::new();
        agenda.schedule(time_at_nanos(20), 1);
        agenda.schedule(time_at_nanos(10), 0);
        assert_eq!(agenda.next_event(time_at_nanos(20)), Some(0));
        assert_eq!(
            (agenda.now(), agenda.next_at()),
            (time_at_nanos(10), Some(time_at_nanos(20)))
        );
        assert_eq!(agenda.next_event(time_at_nanos(15)), None);
        assert_eq!(agenda.now(), time_at_nanos(15));
        assert_eq!(agenda.next_event(time_at_nanos(20)), Some(1));
        assert_eq!(agenda.next_event(time_at_nanos(12)), None);
        assert_eq!((agenda.now(), agenda.processed()), (time_at_nanos(20), 2));
    }

    #[test]
    fn an_event_of_the_past_happens_now() {
        let mut agenda = Agenda::new();
        agenda.advance(time_at_nanos(30));
        agenda.advance(time_at_nanos(20));
        agenda.schedule(time_at_nanos(10), 0);
        assert_eq!(agenda.next_at(), Some(time_at_nanos(30)));
    }

    #[test]
    fn only_an_earlier_wake_up_is_an_event_and_none_is_never() {
        let (mut agenda, mut wake) = (Agenda::new(), Wake::default());
        for nanos in [u64::MAX, 20, 30, 10] {
            agenda.arm(&mut wake, time_at_nanos(nanos), |generation| generation);
        }
        let times: Vec<Time> = agenda.drain().map(|(at, _)| at).collect();
        assert_eq!(times, [time_at_nanos(10), time_at_nanos(20)]);
    }
}
