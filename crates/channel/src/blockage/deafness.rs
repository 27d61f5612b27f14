//! Deafness: the beam of the other end points elsewhere, so that it does not receive a request.
//!
//! Backoffs and retries are those of the distributed coordination function of IEEE 802.11.

use super::{BlockageModel, Process, View};
use crate::error::ConfigError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, integer, number, span};
use fadeout_core::{Span, Time};

/// Loss of a path while the other end is deaf, dB.
const DEAF_DB: f64 = 200.0;

fadeout_core::parameters! {
    /// Deafness: times at which the other end's beam points elsewhere, and the contention that
    /// follows. A node sends a request, receives no answer, backs off and repeats the request until
    /// the other end's beam is back. After a number of attempts the node gives up and starts again.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Deafness {
        /// Mean time until the other end's beam turns away. The times are exponentially
        /// distributed.
        pub mean_clear: Span = span("1 s"),
        /// Mean time for which the other end's beam points in another direction. The times are
        /// exponentially distributed.
        pub dwell: Span = span("2 ms"),
        /// Slot time of the backoff.
        pub slot: Span = span("9 us"),
        /// Largest backoff before the first attempt to send a request.
        pub min_window: u32 = integer((0, 32_767, "slots"), "15"),
        /// Largest backoff before any attempt to send a request.
        pub max_window: u32 = integer((0, 32_767, "slots"), "1023"),
        /// Number of attempts after which a node gives up and starts again with the smallest
        /// backoff.
        pub attempts: u32 = integer((1, 255, ""), "7"),
        /// Duration of a request to send and the wait for the answer, in one sector.
        pub request: Span = span("100 us"),
        /// Number of sectors in which a request is sent, one after the other.
        pub sectors: u32 = integer((1, 1024, ""), "1"),
        /// Factor by which backoffs are longer, because their countdown stops while other nodes
        /// send.
        pub freezing: f64 = number((1.0, 1000.0, ""), "1"),
    }
}

impl Registered for Deafness {
    const ENTRY: Entry = Entry::new(
        "deafness",
        "random",
        "Deafness: at times the other end's beam points in another direction, and no request is \
         received. Contention decides when the next request succeeds after the beam has returned.",
        "R. Choudhury, N. Vaidya, Deafness: A MAC Problem in Ad Hoc Networks When Using Directional \
         Antennas, IEEE ICNP 2004",
    )
    .with_parameters(Deafness::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Deafness::read(settings)
    }
}

impl Deafness {
    /// Returns the largest backoff before an attempt, in slots. It doubles with each attempt.
    /// Attempts are counted from 0.
    fn window(&self, attempt: u32) -> u32 {
        let grown = (u64::from(self.min_window) + 1) << attempt.min(20);
        u32::try_from(grown - 1).map_or(self.max_window, |window| window.min(self.max_window))
    }

    /// Returns the mean time of all backoffs until a node gives up, without freezing.
    pub fn mean_backoff(&self) -> Span {
        let slots: u64 = (0..self.attempts).map(|n| u64::from(self.window(n))).sum();
        Span::from_nanos(self.slot.as_nanos() * slots / 2)
    }

    /// Returns the start and the end of each period before `until` in which the other end is deaf.
    /// `None` if there are more than `most` periods.
    ///
    /// # Errors
    /// Returns an error if a parameter is out of its range.
    pub fn spells(
        &self,
        until: Time,
        stream: Stream,
        most: usize,
    ) -> Result<Option<Vec<(Time, Time)>>, ConfigError> {
        self.check()?;
        let mut process = self.start(stream);
        let mut found = Vec::new();
        while process.from < until {
            if found.len() == most {
                return Ok(None);
            }
            found.push((process.from, process.until));
            process.next();
        }
        Ok(Some(found))
    }

    /// Returns the duration of a request in all its sectors.
    pub fn request_time(&self) -> Span {
        self.request * u64::from(self.sectors)
    }
}

impl BlockageModel for Deafness {
    type Process = DeafnessProcess;

    fn check(&self) -> Result<(), ConfigError> {
        for (what, time, most) in [
            ("mean time clear", self.mean_clear, 1e6),
            ("time for which the other end is away", self.dwell, 1.0),
            ("slot of the backoff", self.slot, 1.0),
            ("time of a request to send", self.request, 1.0),
        ] {
            ConfigError::within(what, time.as_secs_f64(), 1e-6..=most, "s")?;
        }
        Ok(())
    }

    fn start(&self, stream: Stream) -> DeafnessProcess {
        let mut process = DeafnessProcess {
            model: *self,
            stream,
            from: Time::ZERO,
            until: Time::ZERO,
            gave_up: 0,
        };
        process.next();
        process
    }
}

/// Current or next period in which the other end is deaf.
#[derive(Debug)]
pub(crate) struct DeafnessProcess {
    model: Deafness,
    stream: Stream,
    from: Time,
    until: Time,
    /// Number of times that the node gave up during this period.
    gave_up: u32,
}

impl DeafnessProcess {
    /// Draws the next period of deafness.
    fn next(&mut self) {
        let clear = self.stream.exponential(self.model.mean_clear.as_secs_f64());
        self.from = self.until.saturating_add(Span::from_secs_f64(clear));
        let away = self.stream.exponential(self.model.dwell.as_secs_f64());
        let lasts = self.contend(away);
        let end = self.from.saturating_add(Span::from_secs_f64(lasts));
        self.until = end.max(self.from.saturating_add(Span::from_nanos(1)));
    }

    /// Returns the seconds until a request is received, if the other end is deaf for `away` seconds
    /// from now.
    fn contend(&mut self, away: f64) -> f64 {
        let (slot, request) = (
            self.model.slot.as_secs_f64() * self.model.freezing,
            self.model.request_time().as_secs_f64(),
        );
        self.gave_up = 0;
        let mut passed = 0.0;
        loop {
            for attempt in 0..self.model.attempts {
                let window = u64::from(self.model.window(attempt)) + 1;
                passed += slot * self.stream.below(window) as f64;
                let is_heard = passed >= away;
                passed += request;
                if is_heard {
                    return passed;
                }
            }
            self.gave_up += 1;
        }
    }
}

impl Process for DeafnessProcess {
    fn loss_at(&mut self, view: &View) -> f64 {
        while self.until <= view.now && !self.until.is_never() {
            self.next();
        }
        if self.from <= view.now { DEAF_DB } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares backoffs with the reference values `deaf_backoff_*` and `deaf_circular_rts` of the
    /// reference sheet.
    #[test]
    fn backoffs_take_as_long_as_the_reference_says() {
        let deafness_with = |slot: u64, min_window| Deafness {
            slot: Span::from_micros(slot),
            min_window,
            ..Deafness::default()
        };
        assert_eq!(
            deafness_with(9, 15).mean_backoff(),
            Span::from_nanos(9_112_500)
        );
        assert_eq!(
            deafness_with(5, 15).mean_backoff(),
            Span::from_nanos(5_062_500)
        );
        assert_eq!(
            deafness_with(20, 31).mean_backoff(),
            Span::from_nanos(30_330_000)
        );
        let circular = Deafness {
            request: Span::from_micros(30),
            sectors: 12,
            ..Deafness::default()
        };
        assert_eq!(circular.request_time(), Span::from_micros(360));
    }

    /// The reference value `deaf_P_drop` uses the mean instant of the last attempt. The test draws
    /// these instants. Its result is slightly larger, because the exponential function is convex.
    #[test]
    fn it_gives_up_as_often_as_the_other_end_is_away_for_longer() {
        let model = Deafness {
            dwell: Span::from_millis(10),
            ..Deafness::default()
        };
        let mut process = model.start(Stream::new(1, "test.deafness", 0));
        let n = 40_000;
        let dropped = (0..n).filter(|_| {
            process.next();
            process.gave_up > 0
        });
        let share = dropped.count() as f64 / f64::from(n);
        assert!((0.374..0.43).contains(&share), "{share}");
    }

    #[test]
    fn a_path_is_deaf_for_the_share_of_time_of_its_spells() {
        let model = Deafness {
            mean_clear: Span::from_millis(50),
            ..Deafness::default()
        };
        let mut process = model.start(Stream::new(2, "test.deafness", 0));
        let (mut spells, mut whole) = (0.0, Time::ZERO);
        for _ in 0..20_000 {
            process.next();
            spells += process.until.since(process.from).as_secs_f64();
            whole = process.until;
        }
        let mean = spells / 20_000.0;
        // The mean is at least the dwell time. It exceeds the dwell time by at most the duration of
        // the next attempt.
        assert!((0.002..0.006).contains(&mean), "{mean}");
        let share = spells / whole.since(Time::ZERO).as_secs_f64();
        assert!((share - mean / (mean + 0.05)).abs() < 0.002, "{share}");
    }
}
