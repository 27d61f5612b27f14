//! Single wake-up of a machine in the event queue.

use crate::Time;

/// Wake-up that a machine has in the event queue.
///
/// A machine names the time of its next wake-up after every step. Most steps only move this time to
/// a later instant: for example, an ACK moves the retransmission timer. Then the scheduled event
/// stays in the queue and fires early. The machine has nothing to do at that time, and schedules an
/// event for the right time. Only an earlier wake-up needs a new event at once. The generation
/// number identifies an outdated event when it fires.
#[derive(Debug, Clone, Copy)]
pub struct Wake {
    armed_at: Time,
    generation: u32,
}

impl Default for Wake {
    fn default() -> Self {
        Wake {
            armed_at: Time::NEVER,
            generation: 0,
        }
    }
}

impl Wake {
    /// Asks for a wake-up at `at`. Returns the generation to schedule an event with. `None` if the
    /// armed event comes early enough.
    #[inline]
    pub fn arm(&mut self, at: Time) -> Option<u32> {
        if at >= self.armed_at {
            return None;
        }
        debug_assert!(!at.is_never(), "a wake-up is armed that never comes");
        self.armed_at = at;
        self.generation = self.generation.wrapping_add(1);
        Some(self.generation)
    }

    /// Processes an event that fired. Returns false if the event is outdated and must be ignored.
    #[inline]
    pub fn fire(&mut self, generation: u32) -> bool {
        let current = generation == self.generation;
        debug_assert!(
            !current || !self.armed_at.is_never(),
            "a wake-up fires that was not armed"
        );
        if current {
            self.armed_at = Time::NEVER;
        }
        current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_time_keeps_the_armed_event_and_an_earlier_one_replaces_it() {
        let mut wake = Wake::default();
        let first = wake.arm(Time::from_nanos(10)).expect("nothing was armed");
        assert_eq!(wake.arm(Time::from_nanos(20)), None);
        let second = wake
            .arm(Time::from_nanos(5))
            .expect("earlier than the armed one");
        assert!(!wake.fire(first), "replaced events are stale");
        assert!(wake.fire(second));
        assert!(wake.arm(Time::from_nanos(20)).is_some());
    }
}
