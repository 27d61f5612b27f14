//! Discontinuous reception (DRX): the times at which a UE listens.
//!
//! Standard: TS 36.321 §5.7; TS 38.321 §5.7.

use fadeout_core::{Span, Time};

/// Long DRX cycle. A UE gets no new data outside its listening times. It still gets
/// retransmissions, because it listens while their timers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrxConfig {
    /// Time from one on-duration to the next (drx-LongCycle). Each UE has its own offset, drawn
    /// from its random stream.
    pub cycle: Span,
    /// Time for which a UE listens in each cycle (drx-onDurationTimer).
    pub on_duration: Span,
    /// Time for which a UE continues to listen after new data in either direction
    /// (drx-InactivityTimer).
    pub inactivity: Span,
}

impl DrxConfig {
    /// Returns the first time, not before `at`, at which a UE listens. The UE's on-durations start
    /// `offset` after each multiple of the cycle. The UE also listens until `awake_until`.
    pub fn awake_from(&self, at: Time, offset: Span, awake_until: Time) -> Time {
        if at < awake_until {
            return at;
        }
        let cycle = self.cycle.as_nanos();
        let phase = (at.as_nanos() + cycle - offset.as_nanos() % cycle) % cycle;
        if phase < self.on_duration.as_nanos() {
            at
        } else {
            at.saturating_add(Span::from_nanos(cycle - phase))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ue_listens_in_its_on_duration_and_after_data() {
        let drx = DrxConfig {
            cycle: Span::from_millis(40),
            on_duration: Span::from_millis(4),
            inactivity: Span::from_millis(10),
        };
        let time_at_ms = |millis| Time::ZERO + Span::from_millis(millis);
        let offset = Span::from_millis(7);
        for (asked, awake) in [(0, 7), (7, 7), (10, 10), (11, 47), (46, 47), (50, 50)] {
            let found = drx.awake_from(time_at_ms(asked), offset, Time::ZERO);
            assert_eq!(found, time_at_ms(awake), "{asked} ms");
        }
        assert_eq!(
            drx.awake_from(time_at_ms(20), offset, time_at_ms(21)),
            time_at_ms(20)
        );
    }
}
