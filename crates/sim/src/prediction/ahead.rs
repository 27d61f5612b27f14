//! Search for blockages that a vehicle will meet if it continues in a straight line.

/// Time until the start of a blockage and its duration, both in seconds.
pub(super) type Ahead = (f64, f64);

/// Returns the time until the first blockage within `horizon`, and its duration. `None` if there is
/// no such blockage. The duration is at most `horizon`. All times are in seconds.
///
/// `is_cut` returns true if the path is blocked at a time, and is sampled every `step` seconds.
/// With `slot` a bisection finds each start and end of a blockage to within `slot`. Without `slot`
/// the start or end lies half a step before the first sample with the new state.
pub(super) fn first_cut(
    step: f64,
    horizon: f64,
    slot: Option<f64>,
    mut is_cut: impl FnMut(f64) -> bool,
) -> Option<Ahead> {
    let edge = |time: f64, found: bool, is_cut: &mut dyn FnMut(f64) -> bool| match slot {
        None => time - step / 2.0,
        Some(slot) => {
            let (mut before, mut after) = (time - step, time);
            while after - before > slot {
                let middle = f64::midpoint(before, after);
                if is_cut(middle) == found {
                    after = middle;
                } else {
                    before = middle;
                }
            }
            after
        }
    };
    let mut begins = None;
    let mut time = step;
    while time <= begins.map_or(horizon, |begins| begins + horizon) {
        match (is_cut(time), begins) {
            (true, None) => begins = Some(edge(time, true, &mut is_cut)),
            (false, Some(begins)) => {
                return Some((begins, edge(time, false, &mut is_cut) - begins));
            }
            _ => {}
        }
        time += step;
    }
    begins.map(|begins| (begins, horizon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_found_to_half_a_step_or_to_a_slot() {
        let is_cut = |time: f64| (1.03..1.76).contains(&time);
        let (begins, lasts) = first_cut(0.1, 5.0, None, is_cut).expect("one");
        assert!((begins - 1.03).abs() <= 0.05 + 1e-9, "{begins}");
        assert!((lasts - 0.73).abs() <= 0.1 + 1e-9, "{lasts}");
        let (begins, lasts) = first_cut(0.1, 5.0, Some(1e-4), is_cut).expect("one");
        assert!((begins - 1.03).abs() <= 1e-4, "{begins}");
        assert!((lasts - 0.73).abs() <= 2e-4, "{lasts}");
        assert_eq!(first_cut(0.1, 1.0, None, is_cut), None);
        // A blockage that begins within the horizon is followed to its end. Its duration is at most
        // as long as the horizon.
        let (_, lasts) = first_cut(0.1, 1.1, None, is_cut).expect("one");
        assert!((lasts - 0.73).abs() <= 0.1 + 1e-9, "{lasts}");
        let (_, lasts) = first_cut(0.1, 1.1, None, |time| time > 1.0).expect("one");
        assert!((lasts - 1.1).abs() < 1e-9, "{lasts}");
    }
}
