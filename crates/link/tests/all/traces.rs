//! Tests of trace links: exact use of opportunities, recorded traces, malformed input.

use crate::common::Bench;
use fadeout_core::{Rate, Span, Time};
use fadeout_link::{
    BlockageConfig, BlockageEffect, BlockageInterval, LinkConfig, OPPORTUNITY, RateConfig, Trace,
};
use proptest::prelude::*;
use std::path::PathBuf;

/// Keeps a backlog on the link for `length`. Returns the bytes that leave the link.
fn saturate(trace: &Trace, length: Span) -> u64 {
    let rate = RateConfig::Trace(trace.clone());
    let mut bench = Bench::new(LinkConfig {
        rate,
        ..LinkConfig::default()
    });
    let end = Time::ZERO + length;
    let mut now = Time::ZERO;
    while now < end {
        while bench.link.queue_delay(now) < Span::from_secs(1) {
            bench.send(now, OPPORTUNITY);
        }
        now += Span::from_millis(500);
        bench.run_until(now.min(end));
    }
    bench.link.stats().bytes_out.0
}

/// Returns the number of opportunities later than 0 and up to `end` in the repeating trace.
fn opportunities(times_ms: &[u64], end_ms: u64) -> u64 {
    let period = *times_ms.last().expect("a trace is not empty");
    (0..=end_ms / period)
        .flat_map(|cycle| times_ms.iter().map(move |time| cycle * period + time))
        .filter(|&time| 0 < time && time <= end_ms)
        .count() as u64
}

#[test]
fn a_backlogged_link_carries_exactly_the_opportunities() {
    let times = [0, 3, 3, 7, 20, 20, 20, 41];
    let text: String = times.iter().map(|time| format!("{time}\n")).collect();
    let trace = Trace::parse(text.as_bytes()).expect("a trace");
    let expected = opportunities(&times, 10_000) * u64::from(OPPORTUNITY);
    assert_eq!(saturate(&trace, Span::from_secs(10)), expected);
}

#[test]
fn recorded_cellular_traces_are_carried_whole() {
    let folder = std::env::var_os("FADEOUT_TRACES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
        PathBuf::from,
    );
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!(
            "skipped: no traces in {}; FADEOUT_TRACES names their folder",
            folder.display()
        );
        return;
    };
    let mut seen = 0;
    for file in files.map(|file| file.expect("a readable folder").path()) {
        if !file
            .extension()
            .is_some_and(|extension| extension == "up" || extension == "down")
        {
            continue;
        }
        let text = std::fs::read(&file).expect("a readable trace");
        let trace = Trace::parse(&text).expect("a valid trace");
        let times: Vec<u64> = String::from_utf8(text)
            .expect("a trace of digits")
            .lines()
            .map(|line| line.parse().expect("a number"))
            .collect();
        // The time is long enough for at least one repetition.
        let end = Span::from_nanos(trace.period().as_nanos() * 3 / 2);
        let expected = opportunities(&times, end.as_millis()) * u64::from(OPPORTUNITY);
        assert_eq!(saturate(&trace, end), expected, "{}", file.display());
        seen += 1;
    }
    assert!(seen > 0, "{} holds no .up or .down file", folder.display());
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

    #[test]
    fn hostile_text_is_a_trace_or_an_error(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Trace::parse(&text);
    }

    #[test]
    fn lines_of_numbers_and_almost_numbers_are_a_trace_or_an_error(text in "[0-9 \\n+-]{0,60}") {
        if let Ok(trace) = Trace::parse(text.as_bytes()) {
            prop_assert!(trace.opportunities() > 0 && !trace.period().is_zero());
        }
    }

    #[test]
    fn arrivals_equal_those_of_a_queue_served_opportunity_by_opportunity(
        gaps in prop::collection::vec(0..6_u64, 1..20),
        arrivals in prop::collection::vec((0..4_000_000_u64, 40..4000_u32), 1..100),
        blocked in prop::collection::vec((1..60_000_000_u64, 1..40_000_000_u64), 0..5),
        is_held in any::<bool>(),
    ) {
        let mut times: Vec<u64> = gaps
            .iter()
            .scan(0, |time, gap| { *time += gap; Some(*time) })
            .collect();
        times.push(times.last().map_or(1, |last| last + 1));
        let text: String = times.iter().map(|time| format!("{time}\n")).collect();
        let blockages: Vec<(u64, u64)> = blocked
            .iter()
            .scan(0, |at, (gap, length)| {
                let start = *at + gap;
                *at = start + length;
                Some((start, *at))
            })
            .collect();
        let interval = |&(start, end): &(u64, u64)| BlockageInterval {
            start: Time::from_nanos(start),
            end: Time::from_nanos(end),
            rate: Rate::ZERO,
            loss_db: 0.0,
        };
        let effect =
            if is_held { BlockageEffect::Held { limit: None } } else { BlockageEffect::Lost };
        let intervals = blockages.iter().map(interval).collect();
        let mut bench = Bench::new(LinkConfig {
            rate: RateConfig::Trace(Trace::parse(text.as_bytes()).expect("a trace")),
            blockage: Some(BlockageConfig { effect, intervals }),
            ..LinkConfig::default()
        });
        let (mut now, mut packets) = (0, Vec::new());
        for (gap, size) in arrivals {
            now += gap;
            bench.send(Time::from_nanos(now), size);
            packets.push((now, size));
        }
        bench.drain();
        let (arrived, lost) = serve(&times, &packets, &blockages, is_held);
        prop_assert_eq!(bench.arrived, arrived);
        let dropped: Vec<u32> = bench.log.drops.iter().map(|row| row.flow.0).collect();
        prop_assert_eq!(dropped, lost);
    }
}

/// Slow model that visits every opportunity in order and serves the packets that arrived before it.
/// Returns the arrivals. Also returns the packets whose transmission overlaps a blockage, on a link
/// that does not hold packets.
fn serve(
    times_ms: &[u64],
    packets: &[(u64, u32)],
    blockages: &[(u64, u64)],
    is_held: bool,
) -> (Vec<(Time, u32)>, Vec<u32>) {
    let (mut arrived, mut lost) = (Vec::new(), Vec::new());
    let period = *times_ms.last().expect("a trace is not empty");
    let (mut head, mut sent, mut first) = (0, 0, 0);
    for cycle in 0.. {
        for at in times_ms
            .iter()
            .map(|time| (cycle * period + time) * 1_000_000)
        {
            let is_blocked = blockages
                .iter()
                .any(|&(start, end)| start <= at && at < end);
            if is_blocked && is_held {
                continue;
            }
            let mut room = OPPORTUNITY;
            while room > 0 && head < packets.len() && packets[head].0 < at {
                if sent == 0 {
                    first = at;
                }
                let now = room.min(packets[head].1 - sent);
                sent += now;
                room -= now;
                if sent == packets[head].1 {
                    let meets = blockages
                        .iter()
                        .any(|&(start, end)| start <= at && first < end);
                    if meets && !is_held {
                        lost.push(head as u32);
                    } else {
                        arrived.push((Time::from_nanos(at), head as u32));
                    }
                    (head, sent) = (head + 1, 0);
                }
            }
        }
        if head == packets.len() {
            break;
        }
    }
    (arrived, lost)
}
