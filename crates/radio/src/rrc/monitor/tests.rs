use super::*;
use fadeout_core::Decibel;
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;

const AWAKE: Evaluation = Evaluation {
    period: Span::from_millis(10),
    out: 20,
    in_sync: 10,
};

impl Quality {
    fn on_sinr(&mut self, over: Evaluation, sinr: f64) -> Option<Indication> {
        self.push(sinr, true);
        self.indication(over)
    }
}

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

/// Returns the times at which T310 starts and stops and the link fails. `runs` are strings of
/// indications (O or I), each 10 ms, with their start times.
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

/// Test vectors rlf_* of handover_vectors.csv, except those of T304 and T312. The test below covers
/// T312.
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

/// Test vector rlf_t312 of handover_vectors.csv.
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
    // T312 starts at 950 ms and would expire at 1,150 ms. T310 expires first, at 1,020 ms.
    late.on_report(at_ms(950), &config);
    assert_eq!(late.wake_at(), at_ms(1020));
}

#[test]
fn a_link_that_is_out_of_range_whenever_something_waits_is_lost_after_t310_and_t311() {
    let config = Monitoring::default();
    assert_eq!(lost_after(true, &config), Span::from_millis(1000), "T310");
    let lost_after = lost_after(false, &config);
    let apart = Span::from_millis(80);
    let evaluate = |link: &mut LinkEvaluations, ms: u64, in_range: bool| {
        if in_range {
            link.record_in_range();
            return false;
        }
        link.record_out_of_range(at_ms(ms), lost_after, apart)
    };
    let lost_at = |evaluations: &[(u64, bool)]| {
        let mut link = LinkEvaluations::new();
        let mut evaluations = evaluations.iter();
        evaluations
            .find(|&&(ms, in_range)| evaluate(&mut link, ms, in_range))
            .map(|&(ms, _)| ms)
    };
    let evaluations = |from: u64, count: u64, in_range_at: u64| -> Vec<(u64, bool)> {
        let times = (0..count).map(|n| from + 40 * n);
        times.map(|ms| (ms, ms == in_range_at)).collect()
    };
    assert_eq!(lost_at(&evaluations(10_000, 200, 0)), Some(14_000));
    // The time out of range starts anew after one evaluation in range, and after a pause without
    // evaluations.
    assert_eq!(lost_at(&evaluations(10_000, 200, 13_000)), Some(17_040));
    let paused = [evaluations(10_000, 90, 0), evaluations(20_000, 200, 0)].concat();
    assert_eq!(lost_at(&paused), Some(24_000));
    // The time out of range also starts anew after the loss of the link.
    let mut link = LinkEvaluations::new();
    let mut lost = evaluations(10_000, 250, 0);
    lost.retain(|&(ms, in_range)| evaluate(&mut link, ms, in_range));
    assert_eq!(lost, [(14_000, false), (18_040, false)]);
}

#[test]
fn a_ue_that_sleeps_evaluates_soon_again_when_t310_starts() {
    let config = config(1, 1, 300);
    let asleep = Evaluation {
        period: Span::from_millis(1280),
        out: 5,
        in_sync: 5,
    };
    let mut link = LinkWatch::new(at_ms(10), &config);
    let evaluate = |link: &mut LinkWatch, sinr_db| {
        let now = link.next_at();
        link.begin(now, asleep);
        link.record_sinr(from_db(sinr_db), true);
        link.count_indication(now, &config, asleep)
    };
    assert_eq!(evaluate(&mut link, 10.0), None, "T310 did not run");
    assert_eq!(link.next_at(), at_ms(1290));
    link.reset(at_ms(15), &config);
    assert_eq!(link.next_at(), at_ms(1290), "it sleeps on");
    assert_eq!(evaluate(&mut link, -20.0), Some(Indication::OutOfSync));
    assert_eq!(link.next_at(), at_ms(1300));
    assert_eq!(link.fails_at(), at_ms(1590));
    assert!(!link.has_failed(at_ms(1589)) && link.has_failed(at_ms(1590)));
    assert_eq!(evaluate(&mut link, -20.0), None, "it runs already");
    link.reset(at_ms(1300), &config);
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
    // Evaluations are -20 dB, then 0 dB. With three at 0 dB, the mean over 20 exceeds Qout (0.1585)
    // and the mean over 10 exceeds Qin (0.251). The third evaluation at 0 dB therefore gives an
    // in-sync indication.
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
    // The SINR drops from 0 dB to no signal. With DRX, the first 4 evaluations without signal keep
    // the mean over 5 above Qout. Without DRX, the first 16 keep the mean over 20 above Qout.
    assert_eq!((count(asleep), count(AWAKE)), (4, 16));
}

/// Monitors a link whose linear SINR changes every 10 ms. Returns a text with the times at which
/// T310 starts, stops and expires, and the number of evaluations that were made.
fn watch(config: &Monitoring, sinr: &[f64], may_wait: bool, corner_ms: u64) -> (String, usize) {
    let mut link = LinkWatch::new(at_ms(10), config);
    let sinr_at = |ms: u64| sinr[(ms / 10) as usize];
    let (mut seen, mut made) = (String::new(), 0);
    for ms in (10..10 * sinr.len() as u64).step_by(10) {
        let now = at_ms(ms);
        if link.has_failed(now) || ms % 7_770 == 0 {
            seen.push_str(&format!("{ms} anew "));
            link.reset(now, config);
            assert!(link.next_at() <= at_ms(ms + 10));
            // The evaluation at the time of a reset gives no indication.
            link.begin(now, AWAKE);
        }
        if link.next_at() > now {
            continue;
        }
        link.begin(now, AWAKE);
        // A lower bound of the SINR is recorded if the bound suffices. Otherwise the exact SINR is
        // recorded.
        let least = sinr_at(ms) / (1.0 + (ms / 10 % 7) as f64);
        match may_wait && least >= link.sufficient_sinr() {
            true => link.record_sinr(least, least >= sinr_at(ms)),
            false => link.record_sinr(sinr_at(ms), true),
        }
        made += 1;
        let catch_up = |link: &mut LinkWatch| {
            while let Some(back) = link.latest_inexact() {
                link.set_exact_sinr(back, sinr_at(ms - 10 * back as u64));
            }
        };
        if !may_wait || !link.is_settled() {
            catch_up(&mut link);
            if let Some(what) = link.count_indication(now, config, AWAKE) {
                seen.push_str(&format!("{ms} {what:?} {:?} ", link.fails_at()));
            }
        }
        if may_wait {
            // Skipped evaluations can be made later only until the next corner of the UE's path.
            let until = at_ms(ms / corner_ms * corner_ms + corner_ms);
            if link.next_at() >= until {
                catch_up(&mut link);
            }
            link.skip_evaluations(until, config);
            assert!(link.next_at() == at_ms(ms + 10) || link.next_at() < until);
        }
    }
    (seen, made)
}

#[test]
fn skipping_evaluations_that_cannot_matter_changes_nothing() {
    let (mut all, mut made, mut rows) = (0, 0, 0);
    Cases::new(300).run(|seed| {
        let mut random = Stream::new(seed, "looks", 0);
        let config = Monitoring {
            t312: None,
            ..config(
                1 + random.below(3) as u32,
                1 + random.below(3) as u32,
                random.below(600),
            )
        };
        let (mut level_db, mut fade_db) = (random.uniform_in(-10.0, 20.0), 0.0);
        let sinr: Vec<f64> = (0..2_000)
            .map(|_| {
                level_db = (level_db + 0.3 * random.normal()).clamp(-20.0, 30.0);
                if random.chance(0.01) {
                    fade_db = random.uniform_in(0.0, 25.0) * f64::from(u8::from(fade_db == 0.0));
                }
                from_db(level_db - fade_db)
            })
            .collect();
        let corner_ms = [50, 200, 330, 1_000, 100_000][random.below(5) as usize];
        let every = watch(&config, &sinr, false, corner_ms);
        let needed = watch(&config, &sinr, true, corner_ms);
        assert_eq!(every.0, needed.0, "seed {seed}");
        rows += every.0.matches("OutOfSync").count();
        (all, made) = (all + every.1, made + needed.1);
    });
    assert!(
        rows > 0 && 3 * made < 2 * all,
        "{made} of {all}, {rows} failures"
    );
}

#[test]
fn a_good_link_is_looked_at_once_in_a_mean_over_twenty() {
    let config = Monitoring::default();
    let good = vec![from_db(12.0); 2_001];
    // Without skipping, the link is evaluated at all 2,000 times except the two at which it is
    // reset.
    assert_eq!(watch(&config, &good, false, 100_000).1, 1_998);
    let (seen, made) = watch(&config, &good, true, 100_000);
    assert!(made <= 110 && !seen.contains("OutOfSync"), "{made} {seen}");
}
