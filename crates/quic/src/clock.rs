//! Simulated time as the instants of the QUIC stack.

use crate::clocks::{Duration, Instant};
use fadeout_core::{Span, Time};

/// Conversion between simulated time and instants.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    pub(crate) fn new() -> Clock {
        #[allow(
            clippy::disallowed_methods,
            reason = "an `Instant` has no other constructor; only differences to it are used"
        )]
        let start = Instant::now();
        Clock { start }
    }

    pub(crate) fn instant(self, time: Time) -> Instant {
        self.start + Duration::from_nanos(time.as_nanos())
    }

    /// Returns the time of an instant. [`Time::NEVER`] if the time is out of range.
    pub(crate) fn time(self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.start).as_nanos();
        u64::try_from(since).map_or(Time::NEVER, Time::from_nanos)
    }
}

pub(crate) fn span(duration: Duration) -> Span {
    u64::try_from(duration.as_nanos()).map_or(Span::MAX, Span::from_nanos)
}

pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos())
}
