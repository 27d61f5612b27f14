//! Firing times of timers: exact, or as on the timer wheel of Linux (kernel/time/timer.c). There a
//! timer fires at the tick after its deadline, and long timers have coarser ticks.

use super::config::TcpConfig;
use fadeout_core::{Span, Time};

/// Number of buckets in a level of the wheel (`LVL_SIZE`). A level has timers of at most 63 of its
/// steps.
const BUCKETS: u64 = 64;
/// Logarithm of the step ratio of two levels. Each level has steps eight times as long as the level
/// below (`LVL_CLK_SHIFT`).
const LEVEL_SHIFT: u32 = 3;
/// Number of levels (`LVL_DEPTH` of kernels with more than 100 ticks per second).
const LEVELS: u32 = 9;

/// Clock of timers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimerClock {
    /// Length of a tick, ns. Zero if timers are exact.
    tick: u64,
}

impl TimerClock {
    pub(crate) fn new(config: &TcpConfig) -> TimerClock {
        let tick = config.timers.tick.as_nanos();
        TimerClock {
            tick: if config.timers.wheel { tick } else { 0 },
        }
    }

    /// Returns the firing time of a timer that is set at `now` to run for `after`.
    #[inline]
    pub(crate) fn fires_at(&self, now: Time, after: Span) -> Time {
        if self.tick == 0 {
            return now.saturating_add(after);
        }
        self.fires_after(now, after.as_nanos().div_ceil(self.tick))
    }

    /// Returns the firing time of a timer that is set at `now` to run for `ticks`.
    #[inline]
    pub(super) fn fires_after(&self, now: Time, ticks: u64) -> Time {
        if self.tick == 0 {
            return now.saturating_add(Span::from_nanos(ticks));
        }
        let mut expires = now.as_nanos() / self.tick + ticks;
        let (mut level, mut reach) = (0, BUCKETS - 1);
        while ticks >= reach && level < LEVELS - 1 {
            reach <<= LEVEL_SHIFT;
            level += 1;
        }
        let shift = level * LEVEL_SHIFT;
        expires = ((expires >> shift) + 1) << shift;
        let at = Time::from_nanos(expires.saturating_mul(self.tick));
        debug_assert!(at >= now, "a timer fires before it is set");
        at
    }

    /// Returns the number of the tick at `now`. Ticks are nanoseconds if timers are exact.
    #[inline]
    pub(super) fn tick_at(&self, now: Time) -> u64 {
        now.as_nanos() / self.tick.max(1)
    }

    /// Returns the number of ticks from `earlier` to `now`. Counts nanoseconds if timers are exact.
    #[inline]
    pub(super) fn ticks_between(&self, earlier: Time, now: Time) -> u64 {
        self.tick_at(now).saturating_sub(self.tick_at(earlier))
    }

    /// Returns the duration from `now` of a timer that fires at `at`. The result is one tick less
    /// than the ticks until `at`, because a timer fires one tick late.
    pub(crate) fn runs_from(&self, now: Time, at: Time) -> Span {
        match self.tick {
            0 => at.since(now),
            tick => Span::from_nanos(self.ticks_between(now, at).saturating_sub(1) * tick),
        }
    }

    /// Returns `span` in whole ticks, rounded up.
    #[inline]
    pub(super) fn ticks(&self, span: Span) -> u64 {
        span.as_nanos().div_ceil(self.tick.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_timer_was_set_for_is_told_from_when_it_fires() {
        for tick in [0, 4_000_000] {
            let clock = TimerClock { tick };
            let now = Time::from_nanos(103_700_000);
            let fires = clock.fires_at(now, Span::from_millis(200));
            assert_eq!(
                clock.runs_from(now, fires),
                Span::from_millis(200),
                "{tick}"
            );
            assert_eq!(clock.runs_from(fires, now), Span::ZERO);
        }
    }

    #[test]
    fn ticks_are_counted_by_their_numbers() {
        let clock = TimerClock { tick: 4_000_000 };
        let time_at_micros = |micros: u64| Time::from_nanos(micros * 1_000);
        assert_eq!(
            clock.ticks_between(time_at_micros(5_000), time_at_micros(13_000)),
            2
        );
        assert_eq!(
            clock.ticks_between(time_at_micros(7_999), time_at_micros(8_000)),
            1
        );
        assert_eq!(
            clock.ticks_between(time_at_micros(13_000), time_at_micros(5_000)),
            0
        );
    }

    fn clock(tick_ms: u64, timer_wheel: bool) -> TimerClock {
        TimerClock::new(&TcpConfig::linux().changed(|tcp| {
            tcp.timers.tick = Span::from_millis(tick_ms);
            tcp.timers.wheel = timer_wheel;
        }))
    }

    fn fires(clock: TimerClock, at_us: u64, after_us: u64) -> u64 {
        let at = Time::ZERO + Span::from_micros(at_us);
        clock.fires_at(at, Span::from_micros(after_us)).as_micros()
    }

    #[test]
    fn a_short_timer_fires_at_the_tick_after_its_own() {
        let hundred = clock(10, true);
        assert_eq!(fires(hundred, 3_000, 20_000), 30_000);
        assert_eq!(fires(hundred, 0, 20_000), 30_000);
        assert_eq!(fires(hundred, 9_999, 20_001), 40_000);
        assert_eq!(fires(hundred, 0, 620_000), 630_000);
    }

    #[test]
    fn a_longer_timer_fires_at_a_multiple_of_eight_ticks_and_of_sixty_four() {
        let thousand = clock(1, true);
        assert_eq!(fires(thousand, 0, 63_000), 64_000);
        assert_eq!(fires(thousand, 1_000, 62_000), 64_000);
        assert_eq!(fires(thousand, 1_000, 63_000), 72_000);
        assert_eq!(fires(thousand, 0, 64_000), 72_000);
        assert_eq!(fires(thousand, 5_000, 200_000), 208_000);
        assert_eq!(fires(thousand, 0, 503_000), 504_000);
        assert_eq!(fires(thousand, 0, 504_000), 512_000);
        assert_eq!(fires(thousand, 0, 1_000_000), 1_024_000);
    }

    #[test]
    fn no_timer_is_early_or_late_by_more_than_an_eighth_and_two_ticks() {
        let clock = clock(4, true);
        for after in (0..200_000).step_by(97).map(Span::from_millis) {
            let now = Time::from_nanos(after.as_nanos() * 31 % 1_000_000_007);
            let late = clock.fires_at(now, after).since(now + after);
            assert!(clock.fires_at(now, after) >= now + after);
            assert!(
                late <= after / 7 + Span::from_millis(8),
                "{after:?}: {late:?}"
            );
        }
    }

    #[test]
    fn without_the_wheel_timers_are_exact() {
        assert_eq!(fires(clock(10, false), 3_001, 20_003), 23_004);
    }

    /// The wheel has nine levels. The last level has steps of 8^8 ticks, however long the timer
    /// runs.
    #[test]
    fn the_longest_timers_share_the_last_level() {
        let days = 2_020_000_000_u64.div_ceil(1 << 24) << 24;
        assert_eq!(fires(clock(1, true), 0, 2_020_000_000_000), days * 1_000);
    }
}
