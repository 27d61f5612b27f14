//! Radio link monitoring: in and out of sync, their counters, T310.
//!
//! Standard: TS 38.331 §5.3.10.1, §5.3.10.2, §5.3.10.3; TS 36.331 §5.3.11; TS 36.133 §7.6.1.

use super::pace::{Evaluation, MOST_EVALUATIONS};
use crate::config::Monitoring;
use fadeout_core::math::from_db;
use fadeout_core::{Span, Time};

const WINDOW: usize = MOST_EVALUATIONS;

/// The quality of a link over time, as indications.
#[derive(Debug, Clone)]
pub(crate) struct Quality {
    /// Linear SINR of the latest evaluations, the latest at `next - 1`.
    latest: [f64; WINDOW],
    count: usize,
    next: usize,
    /// Qout and Qin, linear.
    thresholds: [f64; 2],
}

/// Indication of the physical layer about the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Indication {
    /// Below Qout.
    OutOfSync,
    /// Above Qin.
    InSync,
}

impl Quality {
    /// Nothing is known yet.
    pub(crate) fn new(config: &Monitoring) -> Quality {
        Quality {
            latest: [0.0; WINDOW],
            count: 0,
            next: 0,
            thresholds: [config.q_out, config.q_in].map(|it| from_db(it.0)),
        }
    }

    /// Forgets the evaluations of another link.
    fn begin_anew(&mut self) {
        (self.count, self.next) = (0, 0);
    }

    /// The link has this linear SINR. Between Qin and Qout there is no indication.
    ///
    /// Standard: TS 36.133 §7.6.1.
    pub(crate) fn on_sinr(&mut self, over: Evaluation, sinr: f64) -> Option<Indication> {
        self.latest[self.next] = sinr;
        self.next = (self.next + 1) % WINDOW;
        self.count = (self.count + 1).min(WINDOW);
        let [out, in_sync] = self.thresholds;
        if self.mean(over.out) < out {
            return Some(Indication::OutOfSync);
        }
        (self.mean(over.in_sync) > in_sync).then_some(Indication::InSync)
    }

    /// The mean of the latest `most`, or of as many as there are.
    fn mean(&self, most: usize) -> f64 {
        let count = self.count.min(most);
        let latest = (1..=count).map(|back| self.latest[(self.next + WINDOW - back) % WINDOW]);
        latest.sum::<f64>() / count.max(1) as f64
    }
}

/// The counters and T310 of one link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkMonitor {
    out_of_sync: u32,
    in_sync: u32,
    /// When T310 expires.
    expires_at: Time,
    /// When T312 expires.
    hurried_at: Time,
}

impl LinkMonitor {
    pub(crate) fn new() -> LinkMonitor {
        LinkMonitor {
            out_of_sync: 0,
            in_sync: 0,
            expires_at: Time::NEVER,
            hurried_at: Time::NEVER,
        }
    }

    /// A report about a neighbour was triggered: while T310 runs it starts T312, which does not wait as long.
    ///
    /// Standard: TS 38.331 §5.5.4.1, §7.1.1; TS 36.331 §5.5.4.1, §7.3.
    pub(crate) fn on_report(&mut self, now: Time, config: &Monitoring) {
        if let Some(t312) = config.t312
            && self.is_in_trouble()
            && self.hurried_at.is_never()
        {
            self.hurried_at = now.saturating_add(t312);
        }
    }

    /// An indication while none of T300, T301, T304 and T311 runs. One of the other sort breaks a run.
    pub(crate) fn on_indication(&mut self, now: Time, config: &Monitoring, what: Indication) {
        match what {
            Indication::OutOfSync => {
                self.in_sync = 0;
                self.out_of_sync += 1;
                if self.expires_at.is_never() && self.out_of_sync >= config.n310 {
                    self.expires_at = now.saturating_add(config.t310);
                }
            }
            Indication::InSync => {
                self.out_of_sync = 0;
                self.in_sync += 1;
                if self.in_sync >= config.n311 {
                    self.expires_at = Time::NEVER;
                    self.hurried_at = Time::NEVER;
                }
            }
        }
    }

    /// Whether T310 or T312 has expired: the radio link has failed.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.wake_at() <= now
    }

    /// Whether T310 runs.
    pub(crate) fn is_in_trouble(&self) -> bool {
        !self.expires_at.is_never()
    }

    /// When T310 expires, or T312 before it.
    pub(crate) fn wake_at(&self) -> Time {
        self.expires_at.min(self.hurried_at)
    }
}

/// The link of a UE under mobility management: when the UE looks at it, and what it makes of that.
#[derive(Debug)]
pub(crate) struct LinkWatch {
    quality: Quality,
    monitor: LinkMonitor,
    next_at: Time,
}

impl LinkWatch {
    /// A link that the UE looks at from `first` on.
    pub(crate) fn new(first: Time, config: &Monitoring) -> LinkWatch {
        LinkWatch {
            quality: Quality::new(config),
            monitor: LinkMonitor::new(),
            next_at: first,
        }
    }

    /// When the UE looks next.
    pub(crate) fn next_at(&self) -> Time {
        self.next_at
    }

    /// The UE looks now, and next as `over` has it.
    pub(crate) fn begin(&mut self, now: Time, over: Evaluation) {
        self.next_at = now.saturating_add(over.period);
    }

    /// The link has this linear SINR. The indication, if T310 starts or stops with it: what counts then is
    /// looked at without delay.
    pub(crate) fn on_sinr(
        &mut self,
        now: Time,
        config: &Monitoring,
        (over, sinr): (Evaluation, f64),
    ) -> Option<Indication> {
        let what = self.quality.on_sinr(over, sinr)?;
        let was_in_trouble = self.is_in_trouble();
        self.monitor.on_indication(now, config, what);
        if was_in_trouble == self.is_in_trouble() {
            return None;
        }
        let soon = now.saturating_add(config.period);
        self.next_at = self.next_at.min(soon);
        Some(what)
    }

    /// As [`LinkMonitor::on_report`].
    pub(crate) fn on_report(&mut self, now: Time, config: &Monitoring) {
        self.monitor.on_report(now, config);
    }

    /// The link is left: nothing is known of the next one.
    pub(crate) fn begin_anew(&mut self) {
        self.quality.begin_anew();
        self.monitor = LinkMonitor::new();
    }

    /// Whether T310 runs.
    pub(crate) fn is_in_trouble(&self) -> bool {
        self.monitor.is_in_trouble()
    }

    /// Whether the link has failed.
    pub(crate) fn has_failed(&self, now: Time) -> bool {
        self.monitor.has_expired(now)
    }

    /// When it has failed unless it recovers.
    pub(crate) fn fails_at(&self) -> Time {
        self.monitor.wake_at()
    }
}

/// Looks at a link that nobody monitors: one whenever something waits to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looks {
    /// Since when every look found it out of range; never when the last one did not.
    out_since: Time,
    /// The latest look that found it out of range.
    latest_at: Time,
}

impl Looks {
    pub(crate) const fn new() -> Looks {
        Looks {
            out_since: Time::NEVER,
            latest_at: Time::ZERO,
        }
    }

    /// A look that found the link in range.
    #[inline]
    pub(crate) fn on_look_in_range(&mut self) {
        self.out_since = Time::NEVER;
    }

    /// A look that found the link out of range; looks less than `apart` from each other are taken for all
    /// that happened between them. Whether the connection is lost with this one: N310 and T310 say that
    /// the link has failed, and for the whole of T311 no cell was found. It begins anew then.
    ///
    /// Standard: TS 38.331 §5.3.10.1, §5.3.10.3, §5.3.7.3, §5.3.7.6; TS 36.331 §5.3.11, §5.3.7.
    pub(crate) fn on_look_out_of_range(
        &mut self,
        now: Time,
        config: &Monitoring,
        apart: Span,
    ) -> bool {
        let is_stale = now.since(self.latest_at) > apart;
        self.latest_at = now;
        if self.out_since.is_never() || is_stale {
            self.out_since = now;
        }
        let is_lost = now.since(self.out_since) >= config.t310 + config.t311;
        if is_lost {
            self.out_since = Time::NEVER;
        }
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Decibel;

    const AWAKE: Evaluation = Evaluation {
        period: Span::from_millis(10),
        out: 20,
        in_sync: 10,
    };

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn config(n310: u32, n311: u32, t310: u64) -> Monitoring {
        Monitoring {
            n310,
            n311,
            t310: Span::from_millis(t310),
            ..Monitoring::default()
        }
    }

    /// When T310 starts and stops, and when the link fails, with indications of `text` (O or I) each
    /// 10 ms from the times given.
    fn run(config: &Monitoring, runs: &[(u64, &str)]) -> (Option<u64>, Option<u64>, Option<u64>) {
        let mut monitor = LinkMonitor::new();
        let (mut started, mut stopped) = (None, None);
        for &(from, text) in runs {
            for (n, sign) in (0..).zip(text.chars()) {
                let ms = from + 10 * n;
                let what = match sign {
                    'O' => Indication::OutOfSync,
                    _ => Indication::InSync,
                };
                let was_running = monitor.is_in_trouble();
                monitor.on_indication(at_ms(ms), config, what);
                match (was_running, monitor.is_in_trouble()) {
                    (false, true) => started = Some(ms),
                    (true, false) => stopped = Some(ms),
                    _ => {}
                }
            }
        }
        let at = monitor.wake_at();
        let failed = (!at.is_never()).then(|| {
            assert!(monitor.has_expired(at) && !monitor.has_expired(at - Span::from_nanos(1)));
            at.as_nanos() / 1_000_000
        });
        (started, stopped, failed)
    }

    /// Vectors rlf_* of the handover sheet but for those of T304 and of T312, which is below.
    #[test]
    fn t310_starts_and_stops_with_consecutive_indications() {
        let started = |at, fails| (Some(at), None, Some(fails));
        assert_eq!(run(&config(3, 1, 1000), &[(0, "OOO")]), started(20, 1020));
        assert_eq!(
            run(&config(3, 1, 1000), &[(0, "OOIOO")]),
            (None, None, None)
        );
        let again = run(&config(3, 2, 1000), &[(0, "OOIOOO")]);
        assert_eq!(again, started(50, 1050));
        let recovered = run(&config(3, 2, 1000), &[(0, "OOO"), (300, "II")]);
        assert_eq!(recovered, (Some(20), Some(310), None));
        let broken = run(&config(3, 2, 1000), &[(0, "OOO"), (300, "IOII")]);
        assert_eq!(broken, (Some(20), Some(330), None));
        assert_eq!(run(&config(3, 1, 0), &[(0, "OOO")]), started(20, 20));
        let of_ns3 = run(&config(6, 2, 1000), &[(0, "OOOOOO")]);
        assert_eq!(of_ns3, started(50, 1050));
    }

    /// Vector rlf_t312 of the handover sheet.
    #[test]
    fn t312_ends_what_t310_would_wait_for() {
        let config = Monitoring {
            t312: Some(Span::from_millis(200)),
            ..config(3, 1, 1000)
        };
        let mut monitor = LinkMonitor::new();
        monitor.on_report(at_ms(0), &config);
        for ms in [0, 10, 20] {
            assert!(monitor.wake_at().is_never(), "T310 does not run");
            monitor.on_indication(at_ms(ms), &config, Indication::OutOfSync);
        }
        let mut late = monitor;
        monitor.on_report(at_ms(200), &config);
        monitor.on_report(at_ms(350), &config);
        assert_eq!(monitor.wake_at(), at_ms(400), "it is not started again");
        let mut recovered = monitor;
        recovered.on_indication(at_ms(390), &config, Indication::InSync);
        assert!(recovered.wake_at().is_never());
        assert!(monitor.has_expired(at_ms(400)) && !monitor.has_expired(at_ms(399)));
        // T310 may be there first.
        late.on_report(at_ms(950), &config);
        assert_eq!(late.wake_at(), at_ms(1020));
    }

    #[test]
    fn a_link_that_is_out_of_range_whenever_something_waits_is_lost_after_t310_and_t311() {
        let config = Monitoring::default();
        let apart = Span::from_millis(80);
        let look = |link: &mut Looks, ms: u64, in_range: bool| {
            if in_range {
                link.on_look_in_range();
                return false;
            }
            link.on_look_out_of_range(at_ms(ms), &config, apart)
        };
        let lost_at = |looks: &[(u64, bool)]| {
            let mut link = Looks::new();
            let mut looks = looks.iter();
            looks
                .find(|&&(ms, in_range)| look(&mut link, ms, in_range))
                .map(|&(ms, _)| ms)
        };
        let looks = |from: u64, count: u64, in_range_at: u64| -> Vec<(u64, bool)> {
            let times = (0..count).map(|n| from + 40 * n);
            times.map(|ms| (ms, ms == in_range_at)).collect()
        };
        assert_eq!(lost_at(&looks(10_000, 200, 0)), Some(14_000));
        // One look in range, or a time without any, and the timers begin anew.
        assert_eq!(lost_at(&looks(10_000, 200, 13_000)), Some(17_040));
        let paused = [looks(10_000, 90, 0), looks(20_000, 200, 0)].concat();
        assert_eq!(lost_at(&paused), Some(24_000));
        // So they do after the loss.
        let mut link = Looks::new();
        let mut lost = looks(10_000, 250, 0);
        lost.retain(|&(ms, in_range)| look(&mut link, ms, in_range));
        assert_eq!(lost, [(14_000, false), (18_040, false)]);
    }

    #[test]
    fn a_ue_that_sleeps_looks_soon_again_when_t310_starts() {
        let config = config(1, 1, 300);
        let asleep = Evaluation {
            period: Span::from_millis(1280),
            out: 5,
            in_sync: 5,
        };
        let mut link = LinkWatch::new(at_ms(10), &config);
        let look = |link: &mut LinkWatch, sinr_db| {
            let now = link.next_at();
            link.begin(now, asleep);
            link.on_sinr(now, &config, (asleep, from_db(sinr_db)))
        };
        assert_eq!(look(&mut link, 10.0), None, "T310 did not run");
        assert_eq!(link.next_at(), at_ms(1290));
        link.begin_anew();
        assert_eq!(look(&mut link, -20.0), Some(Indication::OutOfSync));
        assert_eq!(link.next_at(), at_ms(1300));
        assert_eq!(link.fails_at(), at_ms(1590));
        assert!(!link.has_failed(at_ms(1589)) && link.has_failed(at_ms(1590)));
        assert_eq!(look(&mut link, -20.0), None, "it runs already");
        link.begin_anew();
        assert!(!link.is_in_trouble());
    }

    #[test]
    fn quality_between_the_thresholds_is_no_indication() {
        let config = Monitoring {
            q_out: Decibel(-8.0),
            q_in: Decibel(-6.0),
            ..Monitoring::default()
        };
        let first = |sinr_db| Quality::new(&config).on_sinr(AWAKE, from_db(sinr_db));
        assert_eq!(first(-8.1), Some(Indication::OutOfSync));
        assert_eq!(first(-7.0), None);
        assert_eq!(first(-5.9), Some(Indication::InSync));
    }

    #[test]
    fn out_of_sync_looks_back_twice_as_far_as_in_sync() {
        let config = Monitoring::default();
        let mut quality = Quality::new(&config);
        for _ in 0..WINDOW {
            quality.on_sinr(AWAKE, from_db(-20.0));
        }
        // Of -20 dB and 0 dB the mean is above Qout, 0.1585, with 3 of 20 at 0 dB, and above Qin, 0.251,
        // with 3 of 10.
        let indications: Vec<_> = (0..4).map(|_| quality.on_sinr(AWAKE, 1.0)).collect();
        let out = Some(Indication::OutOfSync);
        let is_in = Some(Indication::InSync);
        assert_eq!(indications, [out, out, is_in, is_in]);
        for _ in 0..WINDOW {
            quality.on_sinr(AWAKE, 1.0);
        }
        let count = (0..)
            .take_while(|_| quality.on_sinr(AWAKE, 0.0) != out)
            .count();
        assert_eq!(count, 16, "of 20 evaluations, 3 at 0 dB are too few");
    }

    #[test]
    fn a_ue_that_sleeps_judges_by_fewer_evaluations() {
        let config = Monitoring::default();
        let asleep = Evaluation {
            period: Span::from_millis(1280),
            out: 5,
            in_sync: 5,
        };
        let count = |over| {
            let mut quality = Quality::new(&config);
            for _ in 0..WINDOW {
                quality.on_sinr(over, 1.0);
            }
            let is_out = |_: &i32| quality.on_sinr(over, 0.0) != Some(Indication::OutOfSync);
            (1..).take_while(is_out).count()
        };
        // At 0 dB one of 5 is above Qout, and 3 of 20 are below.
        assert_eq!((count(asleep), count(AWAKE)), (4, 16));
    }
}
