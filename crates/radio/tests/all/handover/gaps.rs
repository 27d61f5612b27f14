//! Tests of measurement gaps: the transmission time that they take, and measurements in the gaps.

use super::loses_only_with_the_connection;
use super::street::{Case, books_close, case, cell, mobility, rlc, run};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Direction, HandoverOutcome, Hertz, Span, Time, TransportBlockRow};
use fadeout_radio::access::{CellConfig, MeasurementGaps};
use fadeout_radio::channel::LineOfSight;
use fadeout_testkit::Cases;

fn gaps(period_ms: u64, length_us: u64) -> MeasurementGaps {
    MeasurementGaps {
        period: Span::from_millis(period_ms),
        length: Span::from_micros(length_us),
        offset: Some(Span::from_millis(7)),
    }
}

/// Returns a copy of a cell on another carrier.
fn on_carrier(cell: &CellConfig, number: u32) -> CellConfig {
    CellConfig {
        carrier: Hertz(cell.carrier.0 + 40e6 * f64::from(number)),
        ..cell.clone()
    }
}

/// Returns a case with a UE at rest in a cell. A cell on another carrier has the same level at the
/// UE's position.
fn at_rest(is_nr: bool, gaps: Option<MeasurementGaps>) -> Case {
    let mut random = Stream::new(1, "rest", 0);
    let mut case = case(&mut random, rlc(is_nr, true), is_nr);
    let mut first = cell(is_nr, 0.0, 30.0);
    first.resource_blocks = if is_nr { 11 } else { 6 };
    (first.channel.line_of_sight, first.channel.shadowing) = (LineOfSight::Clear, None);
    case.config.cells = vec![first.clone(), on_carrier(&first, 1)];
    case.mobility = mobility(2);
    case.mobility.gaps = gaps;
    (case.walk.speed, case.walk.length) = (0.0, 1e3);
    case.keeps_blocks = true;
    case
}

/// Returns the time since the start of the latest gap.
fn phase(gaps: &MeasurementGaps, at: Time) -> Span {
    let period = gaps.period.as_nanos();
    let offset = gaps.offset.unwrap_or_default().as_nanos();
    Span::from_nanos((at.as_nanos() + period - offset) % period)
}

/// Returns the bytes of first transmissions per direction in five seconds with full buffers, and
/// all blocks.
fn carried(is_nr: bool, gaps: Option<MeasurementGaps>) -> ([u64; 2], Vec<TransportBlockRow>) {
    let case = at_rest(is_nr, gaps);
    let outcomes = run(case, 2, Span::from_micros(200), Span::from_secs(6));
    books_close(&outcomes, 2);
    assert!(outcomes.rows.drops.is_empty());
    let within = Time::ZERO + Span::from_secs(1)..Time::ZERO + Span::from_secs(6);
    let blocks = outcomes.rows.blocks.into_iter();
    let blocks: Vec<_> = blocks.filter(|row| within.contains(&row.time_s)).collect();
    let bytes_of = |direction| {
        let blocks = blocks.iter();
        let ok = blocks.filter(|row| row.direction == direction && row.is_ok);
        ok.map(|row| u64::from(row.size_bytes)).sum()
    };
    (
        [Direction::Downlink, Direction::Uplink].map(bytes_of),
        blocks,
    )
}

#[test]
fn a_full_downlink_falls_by_the_share_of_the_gaps() {
    for (is_nr, patterns) in [
        (false, &[(40, 6000), (80, 6000)][..]),
        (true, &[(20, 6000), (40, 6000), (40, 3500), (160, 1500)]),
    ] {
        let (free, _) = carried(is_nr, None);
        for &(period_ms, length_us) in patterns {
            let gaps = gaps(period_ms, length_us);
            let (with, blocks) = carried(is_nr, Some(gaps));
            let share = gaps.length.as_secs_f64() / gaps.period.as_secs_f64();
            let left = with[0] as f64 / free[0] as f64;
            assert!(
                (left - (1.0 - share)).abs() < 0.01,
                "NR {is_nr}, {gaps:?}: {left}"
            );
            // No block lies in a gap. In LTE, no uplink block lies in the subframe after a gap.
            let behind = Span::from_millis(u64::from(!is_nr));
            for row in &blocks {
                let length = match row.direction {
                    Direction::Downlink => gaps.length,
                    Direction::Uplink => gaps.length + behind,
                };
                assert!(phase(&gaps, row.time_s) >= length, "{row:?}");
            }
            assert!(with[1] > 0);
        }
    }
}

/// Checks the loss of LTE's uplink. A grant that a gap prevents has its data four subframes later.
/// In this test the uplink keeps three quarters of its blocks.
#[test]
fn a_full_uplink_falls_by_what_cannot_be_granted_too() {
    let slots = |gaps| {
        let case = at_rest(false, gaps);
        let outcomes = run(case, 2, Span::from_micros(200), Span::from_secs(6));
        let within = Time::ZERO + Span::from_secs(1)..Time::ZERO + Span::from_secs(6);
        let blocks = outcomes.rows.blocks.iter();
        let up = blocks.filter(|row| row.direction == Direction::Uplink);
        up.filter(|row| within.contains(&row.time_s)).count()
    };
    let (free, with) = (slots(None), slots(Some(gaps(40, 6000))));
    let left = with as f64 / free as f64;
    assert!((left - 0.75).abs() < 0.01, "{left}: {with} of {free}");
}

#[test]
fn other_carriers_are_measured_in_gaps_alone_one_in_each() {
    for (is_nr, period_ms, apart_ms) in [(false, 40, 480), (false, 80, 480), (true, 160, 1280)] {
        let pattern = gaps(period_ms, 6000);
        let mut case = at_rest(is_nr, Some(pattern));
        let first = case.config.cells[0].clone();
        case.config.cells.push(on_carrier(&first, 2));
        case.config.cells.push(on_carrier(&first, 2));
        case.mobility.stations = (0..4).collect();
        case.keeps_measured = true;
        let outcomes = run(case, 2, Span::from_millis(100), Span::from_secs(6));
        let measured = &outcomes.rows.measured;
        assert!(
            measured
                .iter()
                .all(|row| phase(&pattern, row.time_s) < pattern.length)
        );
        let times = |cell: u32| -> Vec<Time> {
            let rows = measured.iter().filter(|row| row.cell == CellId(cell));
            rows.map(|row| row.time_s).collect()
        };
        let whole = Span::from_millis(200u64.div_ceil(period_ms) * period_ms);
        let own = times(0);
        assert!(own.windows(2).all(|pair| pair[1].since(pair[0]) == whole));
        assert_eq!(times(2), times(3), "cells of one carrier");
        let (one, other) = (times(1), times(2));
        assert!(
            one.iter().all(|at| !other.contains(at)),
            "one carrier a gap"
        );
        for times in [one, other] {
            // Gaps are used for two carriers in turn, so the time between measurements of a carrier
            // doubles.
            let least = Span::from_millis(apart_ms) * 2;
            let is_apart = |pair: &[Time]| {
                let apart = pair[1].since(pair[0]);
                apart >= least && apart < least + whole
            };
            assert!(
                times.len() > 5 && times.windows(2).all(is_apart),
                "{times:?}"
            );
        }
    }
}

#[test]
fn without_another_carrier_there_are_no_gaps() {
    let rows = |gaps| {
        let mut case = at_rest(true, gaps);
        case.config.cells.truncate(1);
        case.mobility.stations.truncate(1);
        let outcomes = run(case, 2, Span::from_millis(1), Span::from_secs(3));
        outcomes.rows.blocks
    };
    assert!(rows(None) == rows(Some(gaps(40, 6000))));
}

#[test]
fn walks_over_carriers_with_gaps_lose_nothing_but_with_the_connection() {
    let mut successes = 0;
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.gaps", 0);
        let is_nr = random.chance(0.5);
        let mut case = case(&mut random, rlc(is_nr, true), is_nr);
        for number in 0..case.config.cells.len() {
            let own = &case.config.cells[number];
            case.config.cells[number] = on_carrier(own, number as u32 % 2);
        }
        let lengths: &[u64] = match is_nr {
            true => &[1500, 3000, 3500, 4000, 5500, 6000],
            false => &[6000],
        };
        let periods: &[u64] = if is_nr { &[20, 40, 80, 160] } else { &[40, 80] };
        let one_of =
            |random: &mut Stream, list: &[u64]| list[random.below(list.len() as u64) as usize];
        let period_ms = one_of(&mut random, periods);
        case.mobility.gaps = Some(MeasurementGaps {
            offset: None,
            ..gaps(period_ms, one_of(&mut random, lengths))
        });
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close(&outcomes, seed);
        let rows = outcomes.rows.handovers.iter();
        successes += rows
            .filter(|row| row.outcome == HandoverOutcome::Success)
            .count();
        loses_only_with_the_connection(&outcomes, seed);
    });
    assert!(!cases.is_whole() || successes > 40, "{successes}");
}
