//! Checks that arbitrary text is read as a movement trace of ns-2 or SUMO, or is rejected. A node
//! that follows a trace always has a position within the trace's range.

#![no_main]

use fadeout_core::{Span, Time};
use fadeout_mobility::import::{Tracks, ns2, sumo_fcd};
use libfuzzer_sys::fuzz_target;

/// Largest coordinate of a trace, plus one metre for rounding.
const FARTHEST: f64 = 1e7 + 1.0;

fuzz_target!(|text: &str| {
    // SUMO's traces are XML.
    let tracks = if text.trim_start().starts_with('<') {
        sumo_fcd(text)
    } else {
        ns2(text)
    };
    match tracks {
        Ok(tracks) => follow(tracks),
        Err(error) => assert!(error.line >= 1 && error.line <= text.lines().count() + 1),
    }
});

/// Evaluates every track at instants with growing distances.
fn follow(tracks: Tracks) {
    for mut track in tracks.into_values() {
        let (mut now, mut step) = (Time::ZERO, 1_u64);
        while now < Time::ZERO + Span::from_secs(2_000_000) {
            let state = track.kinematics_at(now);
            let place = state.position;
            for coordinate in [place.x, place.y, place.z] {
                assert!(coordinate.abs() <= FARTHEST, "{place:?} at {now}");
            }
            let velocity = state.velocity;
            let is_finite = [velocity.x, velocity.y, velocity.z]
                .iter()
                .all(|v| v.is_finite());
            assert!(is_finite, "{velocity:?} at {now}");
            now += Span::from_nanos(step);
            step += step / 3 + 1;
        }
        let end = track.kinematics_at(now);
        let later = track.kinematics_at(now + Span::from_secs(1));
        assert!(
            end.position == later.position || end.velocity.length() > 0.0,
            "jumps at rest"
        );
    }
}
