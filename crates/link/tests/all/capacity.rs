//! Tests of the long-run capacity of links against closed forms.

use crate::common::{Bench, mbps};
use fadeout_core::random::Stream;
use fadeout_core::{DropCause, Rate, Span, Time};
use fadeout_link::schedule::intervals;
use fadeout_link::{Limit, LinkConfig, QueueConfig, RateConfig, Schedule};

#[test]
fn an_overloaded_link_is_always_busy() {
    let config = LinkConfig {
        rate: RateConfig::Constant(mbps(12)),
        queue: QueueConfig {
            limit: Some(Limit::Packets(10)),
            counts_delay_line: false,
            ..QueueConfig::default()
        },
        ..LinkConfig::default()
    };
    let mut bench = Bench::new(config);
    let mut random = Stream::new(1, "arrivals", 0);
    let mut now = Time::ZERO;
    let end = Time::ZERO + Span::from_secs(20);
    while now < end {
        bench.send(now, 1500);
        now += Span::from_secs_f64(random.exponential(0.0002));
    }
    bench.run_until(end);
    // One packet leaves each millisecond. Five times as many arrive, so the link is never idle.
    assert_eq!(bench.arrived.len(), 20_000);
    assert!(bench.dropped(DropCause::QueueFull).len() > 70_000);
}

#[test]
fn an_on_off_link_carries_its_on_time_exactly() {
    let schedule = Schedule::Exponential {
        mean_gap: Span::from_millis(30),
        mean_length: Span::from_millis(10),
    };
    let rate = mbps(12);
    let end = Time::ZERO + Span::from_secs(20);
    // The random stream of the link has seed 1 and link 0.
    let off = intervals(&schedule, end, Stream::new(1, "link.on-off", 0)).expect("valid");
    let off_time: u64 = off
        .iter()
        .map(|(start, stop)| (*(stop.min(&end)) - *start).as_nanos())
        .sum();

    let config = RateConfig::OnOff {
        on: rate,
        off: Rate::ZERO,
        schedule,
    };
    let mut bench = Bench::new(LinkConfig {
        rate: config,
        ..LinkConfig::default()
    });
    for _ in 0..20_000 {
        bench.send(Time::ZERO, 1500);
    }
    bench.run_until(end);
    let on_time = end.as_nanos() - off_time;
    // One packet leaves in each millisecond of on-time. The last packet may be half sent.
    assert_eq!(bench.arrived.len() as u64, on_time / 1_000_000);
}

#[test]
fn the_mean_wait_is_that_of_an_m_d_1_queue() {
    let load = 0.8;
    let rate = RateConfig::Constant(mbps(12));
    let mut bench = Bench::new(LinkConfig {
        rate,
        ..LinkConfig::default()
    });
    let mut random = Stream::new(2, "arrivals", 0);
    let mut now = Time::ZERO;
    let n = 1_000_000;
    let mut waited = 0.0;
    for _ in 0..n {
        now += Span::from_secs_f64(random.exponential(0.001 / load));
        waited += bench.link.queue_delay(now).as_secs_f64();
        bench.send(now, 1500);
    }
    // The formula of Pollaczek-Khinchine gives the mean wait for constant service S: load S / (2 (1
    // - load)) = 2 ms. Waits are correlated over about 1 / (1 - load)^2 = 25 packets, so the
    // standard error is about 0.5 %. Five standard errors are 2.5 %.
    let mean = waited / f64::from(n);
    assert!((mean / 0.002 - 1.0).abs() < 0.025, "{mean}");
}
