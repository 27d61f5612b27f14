use super::super::filter::FILTER_PERIOD;
use super::*;
use crate::config::Scope;
use fadeout_core::math;

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn event(kind: EventKind, hysteresis_db: f64, ttt_ms: u64, filter: u8) -> MeasurementEvent {
    MeasurementEvent {
        kind,
        hysteresis_db,
        time_to_trigger: Span::from_millis(ttt_ms),
        filter,
        report_interval: Span::from_millis(240),
        report_amount: None,
        scope: Scope::Any,
    }
}

const ALL: fn(&MeasurementEvent, usize) -> Option<f64> = |_, _| Some(0.0);

const A3: EventKind = EventKind::A3 { offset: 3.0 };

/// Returns the time in ms at which the second cell is first reported. `samples` contains the levels
/// of the second cell, one every `period` ms. The first cell is the serving cell, with a level of 0
/// dBm.
fn first_report(event: MeasurementEvent, period: u64, samples: &[f64]) -> Option<u64> {
    let mut state = EventState::new(event, Span::from_millis(period), 2);
    let mut found = None;
    for (n, &sample) in (0..).zip(samples) {
        state.on_samples(at_ms(n * period), 0, &[0.0, sample], ALL, |_, _| {});
        while state.wake_at() < at_ms((n + 1) * period) && found.is_none() {
            let now = state.wake_at();
            state.on_wake(now, |_| found = Some(now.as_nanos() / 1_000_000));
        }
    }
    found
}

#[test]
fn filter_and_conditions_match_the_reference_values() {
    let evaluate = |quantity: &str, inputs: &[f64]| match (quantity, inputs) {
        ("weight", &[k, period]) => {
            let period = Span::from_secs_f64(period / 1e3);
            vec![Filter::new(k as u8, period).weight()]
        }
        ("sequence", &[k, ref samples @ ..]) => {
            let filter = Filter::new(k as u8, FILTER_PERIOD);
            let mut value = None;
            let next = samples.iter().map(|&sample| {
                let filtered = filter.next(value, sample);
                value = Some(filtered);
                filtered
            });
            next.collect()
        }
        ("time constant", &[k]) => {
            let weight = Filter::new(k as u8, FILTER_PERIOD).weight();
            vec![-200.0 / math::ln(1.0 - weight)]
        }
        (condition, &[serving, neighbour, hysteresis, first, second]) => {
            let (name, side) = condition.split_once(' ').expect("event and side");
            let kind = match name {
                "a1" => EventKind::A1 { threshold: first },
                "a2" => EventKind::A2 { threshold: first },
                "a3" => EventKind::A3 { offset: first },
                "a6" => EventKind::A6 { offset: first },
                "a4" => EventKind::A4 { threshold: first },
                "b1" => EventKind::B1 { threshold: first },
                "b2" => EventKind::B2 {
                    serving: first,
                    neighbour: second,
                },
                _ => EventKind::A5 {
                    serving: first,
                    neighbour: second,
                },
            };
            let holds = match side {
                "enter" => kind.enters(serving, neighbour, hysteresis),
                _ => kind.leaves(serving, neighbour, hysteresis),
            };
            vec![f64::from(u8::from(holds))]
        }
        _ => panic!("{quantity} with {inputs:?}"),
    };
    let table = include_str!("../vectors.csv");
    // The table gives values with six digits, so a tolerance of 5e-6 suffices.
    let count = fadeout_testkit::vectors::check(table, evaluate, |_| 5e-6);
    assert_eq!(count, 50);
}

/// Test vectors ttt_* and filter_then_a3 of handover_vectors.csv.
#[test]
fn a_time_to_trigger_ends_as_soon_as_the_entering_condition_fails() {
    let a3 = event(A3, 0.0, 100, 0);
    let report = |event, samples: &[f64]| first_report(event, 40, samples);
    assert_eq!(report(a3, &[4.0, 4.0, 2.0, 4.0, 4.0, 4.0, 4.0]), Some(220));
    assert_eq!(report(a3, &[0.0, 4.0, 4.0, 4.0, 4.0]), Some(140));
    let at_once = event(A3, 0.0, 0, 0);
    assert_eq!(report(at_once, &[0.0, 2.0, 4.0, 4.0]), Some(80));
    let dead_zone = event(A3, 1.0, 100, 0);
    let samples = [5.0, 5.0, 3.5, 5.0, 5.0, 5.0];
    assert_eq!(report(dead_zone, &samples), Some(220));
    assert_eq!(report(a3, &[4.0, 4.0, 2.9, 4.0, 4.0, 2.9]), None);
    let filtered = event(A3, 0.0, 160, 4);
    let samples = [-4.0, 6.0, 6.0, 6.0, 6.0];
    assert_eq!(first_report(filtered, 200, &samples), Some(560));
}

/// Test vectors l3_step_delay and l3_domain of handover_vectors.csv.
#[test]
fn the_filter_is_in_db_and_takes_three_samples_for_most_of_a_step() {
    let filter = Filter::new(4, FILTER_PERIOD);
    assert_eq!(filter.next(Some(-80.0), -100.0), -90.0);
    let mut value = 0.0;
    let needed = (1..).find(|_| {
        value = filter.next(Some(value), 6.0);
        value >= 5.0
    });
    assert_eq!(needed, Some(3));
}

/// Test vector l3_rescale_same_at_200ms of handover_vectors.csv.
#[test]
fn five_samples_in_the_period_filter_as_one_of_it() {
    let filter = Filter::new(4, Span::from_millis(40));
    let mut value = Some(0.0);
    for _ in 0..5 {
        value = Some(filter.next(value, 1.0));
    }
    assert!((value.expect("a value") - 0.5).abs() < 1e-12);
}

#[test]
fn a_sample_of_a_longer_period_counts_as_the_samples_that_it_stands_for() {
    let a3 = event(A3, 0.0, 0, 4);
    let mut often = EventState::new(a3, FILTER_PERIOD, 2);
    let mut seldom = EventState::new(a3, FILTER_PERIOD, 2);
    for state in [&mut often, &mut seldom] {
        state.on_samples(at_ms(0), 0, &[-80.0, -90.0], ALL, |_, _| {});
    }
    for _ in 0..8 {
        often.on_samples(at_ms(1600), 0, &[-80.0, -70.0], ALL, |_, _| {});
    }
    seldom.set_period(FILTER_PERIOD * 8);
    seldom.on_samples(at_ms(1600), 0, &[-80.0, -70.0], ALL, |_, _| {});
    let filtered_of = |state: &EventState| state.filtered(1).expect("a value");
    // The filter weight is 1/2 for 200 ms. After 8 x 200 ms, 1/256 of the 20 dB step remains.
    assert!((filtered_of(&seldom) - (-70.0 - 20.0 / 256.0)).abs() < 1e-9);
    assert!((filtered_of(&seldom) - filtered_of(&often)).abs() < 1e-9);
}

#[test]
fn reports_follow_each_other_until_the_amount_is_reached_or_the_event_left() {
    let limited = MeasurementEvent {
        report_amount: Some(2),
        ..event(A3, 1.0, 0, 0)
    };
    let mut state = EventState::new(limited, Span::from_millis(40), 2);
    let mut heard = Vec::new();
    let reports = |state: &mut EventState, ms| {
        let mut count = 0;
        state.on_wake(at_ms(ms), |cell| count += cell);
        count
    };
    state.on_samples(at_ms(0), 0, &[0.0, 5.0], ALL, |cell, holds| {
        heard.push((cell, holds));
    });
    assert_eq!(reports(&mut state, 0), 1);
    assert_eq!(state.wake_at(), at_ms(240));
    assert_eq!(reports(&mut state, 240), 1);
    assert!(state.wake_at().is_never(), "as often as it may be");
    // At 3 dB neither the entering nor the leaving condition holds, so nothing changes. At 1.5 dB
    // the leaving condition holds. Afterwards the cell may be reported again.
    state.on_samples(at_ms(280), 0, &[0.0, 3.0], ALL, |cell, holds| {
        heard.push((cell, holds));
    });
    state.on_samples(at_ms(320), 0, &[0.0, 5.0], ALL, |_, _| {});
    assert!(state.wake_at().is_never());
    state.on_samples(at_ms(360), 0, &[0.0, 1.5], ALL, |cell, holds| {
        heard.push((cell, holds));
    });
    assert_eq!(heard, [(1, true), (1, false)]);
    state.on_samples(at_ms(400), 0, &[0.0, 5.0], ALL, |_, _| {});
    assert_eq!(state.wake_at(), at_ms(400));
}

#[test]
fn the_serving_cell_is_no_neighbour_and_a_neighbour_no_serving_cell() {
    let mut a3 = EventState::new(event(A3, 0.0, 0, 0), FILTER_PERIOD, 2);
    a3.on_samples(at_ms(0), 1, &[-90.0, -80.0], ALL, |_, _| {});
    assert!(a3.wake_at().is_never());
    let a2 = EventKind::A2 { threshold: -85.0 };
    let mut a2 = EventState::new(event(a2, 0.0, 0, 0), FILTER_PERIOD, 2);
    a2.on_samples(at_ms(0), 1, &[-90.0, -80.0], ALL, |_, _| {});
    assert!(a2.wake_at().is_never());
    a2.on_samples(at_ms(200), 1, &[-80.0, -90.0], ALL, |_, _| {});
    assert_eq!(a2.wake_at(), at_ms(200));
    a2.on_new_serving_cell();
    assert!(a2.wake_at().is_never());
    assert_eq!(a2.filtered(1), Some(-90.0), "the history stays");
}

/// Moves a UE along parallel lines through a circular pico cell. Returns the shares of lines
/// without a handover, with a link failure, and with a ping-pong handover.
fn circular_pico(speed_kmh: f64, ttt_ms: u64) -> [f64; 3] {
    const LINES: u32 = 1000;
    let (outer_m, inner_m, least_stay_ms) = (50.0_f64, 40.0, 1000);
    let at_a_ms = speed_kmh / 3600.0;
    let event = event(EventKind::A3 { offset: 0.0 }, 0.0, ttt_ms, 0);
    let mut counts = [0; 3];
    for line in 0..LINES {
        let offset_m = outer_m * (f64::from(line) + 0.5) / f64::from(LINES);
        let chord_m = 2.0 * (outer_m * outer_m - offset_m * offset_m).sqrt();
        let mut state = EventState::new(event, Span::from_millis(1), 2);
        let (mut serving, mut entered, mut failed) = (0, None, false);
        let mut left = None;
        let length = (chord_m / at_a_ms) as u64 + ttt_ms + 10;
        for ms in 0..length {
            let along_m = at_a_ms * ms as f64 - chord_m / 2.0;
            let distance_m = (along_m * along_m + offset_m * offset_m).sqrt();
            // The pico cell's level falls with the distance, and equals the macro cell's level at
            // the outer circle.
            let samples = [0.0, outer_m - distance_m];
            state.on_samples(at_ms(ms), serving, &samples, ALL, |_, _| {});
            if serving == 0 && distance_m < inner_m {
                // The UE has reached the inner circle before its report. There the macro cell is
                // below Qout, so the link fails.
                failed = true;
                break;
            }
            let mut is_reported = false;
            state.on_wake(at_ms(ms), |_| is_reported = true);
            if is_reported {
                if serving == 0 {
                    entered = Some(ms);
                } else {
                    left = Some(ms);
                }
                serving = 1 - serving;
                state.on_new_serving_cell();
            }
        }
        let stay = left.zip(entered).map(|(left, entered)| left - entered);
        counts[0] += u32::from(!failed && entered.is_none());
        counts[1] += u32::from(failed);
        // The expected ping-pong share refers to all lines, whether or not the UE fails in the
        // inner circle.
        let is_short = chord_m / at_a_ms < least_stay_ms as f64;
        let is_handed_over = chord_m / at_a_ms >= ttt_ms as f64;
        counts[2] += u32::from(is_short && is_handed_over);
        let is_counted = stay.is_none_or(|stay| (stay < least_stay_ms) == is_short);
        assert!(is_counted, "{stay:?} ms on a chord of {chord_m} m");
    }
    counts.map(|count| f64::from(count) / f64::from(LINES))
}

/// Test vectors pico_geometry_* of handover_vectors.csv, except for the slowest. The result is
/// accurate to about 0.003, because one line is a share of 0.001. At 120 km/h the UE moves by 0.03
/// m in a sample period of 1 ms.
#[test]
fn lines_through_a_circular_pico_cell_end_as_geometry_has_it() {
    for (speed_kmh, ttt_ms, expected) in [
        (120.0, 480, [0.012883, 0.691371, 0.044308]),
        (60.0, 1024, [0.014671, 0.716088, 0.0]),
        (30.0, 480, [0.000800, 0.0, 0.002678]),
        (60.0, 480, [0.003205, 0.0, 0.010782]),
        (120.0, 160, [0.001423, 0.0, 0.055768]),
    ] {
        let found = circular_pico(speed_kmh, ttt_ms);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 0.003, "{found} and {expected}");
        }
    }
}
