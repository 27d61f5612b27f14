//! Checks that arbitrary bytes are read as a table of channels, or are rejected with a line of the
//! file. At every time the value of a table is within the range of its rows.

#![no_main]

use fadeout_channel::recorded::{Interpolation, Quantity, Reading, Series, read};
use fadeout_core::{Span, Time};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let lines = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let reading = Reading {
            interpolation,
            ..Reading::whole()
        };
        match read(text, &reading, &mut |_, _| Ok(())) {
            Ok(recordings) => {
                assert!(!recordings.is_empty());
                for one in recordings {
                    match one.quantity {
                        Quantity::Gain(series) => follow(&series),
                        Quantity::Sinr { downlink, uplink } => {
                            follow(&downlink);
                            follow(&uplink);
                        }
                    }
                }
            }
            Err(error) => assert!((1..=lines).contains(&error.line), "{error}"),
        }
    }
});

/// Evaluates a series at instants with growing distances.
fn follow(series: &Series) {
    let values = series.rows().iter().map(|row| row.1);
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let (mut now, mut step) = (Time::ZERO, 1_u64);
    while now < Time::ZERO + Span::from_secs(2_000_000) {
        let value = series.value_at(now);
        // The margin allows for the rounding of linear interpolation.
        assert!(
            low - 1e-9 <= value && value <= high + 1e-9,
            "{value} at {now}"
        );
        now += Span::from_nanos(step);
        step += step / 3 + 1;
    }
}
