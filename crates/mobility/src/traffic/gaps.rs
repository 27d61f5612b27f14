//! Placement of vehicles on a lane at the start.

use crate::vehicle::Mix;
use fadeout_core::math;
use fadeout_core::random::Stream;

pub use fadeout_core::agreed::GapRule;

/// Smallest distance from bumper to bumper of two vehicles, in metres.
///
/// Standard: TR 37.885 §6.1.2.
pub(super) const LEAST_GAP_M: f64 = 2.0;

/// Returns the mean distance between the fronts of successive vehicles, in metres. `mean_length` is
/// the mean length of the vehicles, and `speed` their speed.
///
/// Standard: TR 37.885 §6.1.2; TR 36.885 §A.1.2.
pub fn mean_spacing(rule: GapRule, speed: f64, mean_length: f64) -> f64 {
    match rule {
        GapRule::Tr37885 => {
            let mean = 2.0 * speed;
            let above = mean * math::exp(-LEAST_GAP_M / mean);
            mean_length + LEAST_GAP_M + above
        }
        GapRule::Tr36885 => 2.5 * speed,
    }
}

/// Draws the gap from a vehicle's rear bumper to the front bumper of the next vehicle. Negative if
/// they overlap.
///
/// Standard: TR 37.885 §6.1.2; TR 36.885 §A.1.2.
fn draw(rule: GapRule, speed: f64, length: f64, random: &mut Stream) -> f64 {
    match rule {
        GapRule::Tr37885 => random.exponential(2.0 * speed).max(LEAST_GAP_M),
        GapRule::Tr36885 => random.exponential(2.5 * speed) - length,
    }
}

/// Vehicle on a lane: the index of its type, and the position of its front in metres.
pub(super) type Placed = (usize, f64);

/// Places vehicles with gaps drawn by the rule, from the end of a lane to its start. The lane is a
/// ring, or a section of a longer road.
pub(super) fn by_rule(
    rule: GapRule,
    (length, speed): (f64, f64),
    mix: &Mix,
    random: &mut Stream,
) -> Vec<Placed> {
    let mut placed = Vec::new();
    // The first vehicle is at a random place within its gap. The remaining length closes the ring.
    let mut front = length * (1.0 - 1e-9);
    let spacing = mean_spacing(rule, speed, mix.mean_length());
    front -= random.uniform() * spacing.min(length);
    loop {
        let body = mix.draw_row(random);
        let vehicle = &mix.bodies()[body];
        for number in 0..vehicle.platoon.max(1) {
            let gap = match number + 1 < vehicle.platoon {
                true => LEAST_GAP_M,
                false => draw(rule, speed, vehicle.length, random),
            };
            // The last vehicle must keep its distance from the first vehicle, because the lane is a
            // ring.
            let first = placed.first().map_or(front, |&(_, first): &Placed| first);
            if front - vehicle.length < LEAST_GAP_M - (length - first)
                || front < 0.0
                || placed.len() > super::drive::MAX_VEHICLES
            {
                return placed;
            }
            debug_assert!(
                front <= length,
                "a vehicle stands {front} m along a lane of {length} m"
            );
            placed.push((body, front));
            front -= vehicle.length + gap;
        }
    }
}

/// Places `number` vehicles on a lane, uniformly and without overlap. `None` if they do not fit.
pub(super) fn by_number(
    number: usize,
    length: f64,
    mix: &Mix,
    random: &mut Stream,
) -> Option<Vec<Placed>> {
    let bodies: Vec<usize> = (0..number).map(|_| mix.draw(random)).collect();
    let taken = |&body: &usize| mix.bodies()[body].length + LEAST_GAP_M;
    let free = length - bodies.iter().map(taken).sum::<f64>();
    if free < 0.0 {
        return None;
    }
    let mut cuts: Vec<f64> = (0..number).map(|_| free * random.uniform()).collect();
    cuts.sort_by(f64::total_cmp);
    let mut before = 0.0;
    let mut placed = Vec::with_capacity(number);
    for (body, cut) in bodies.into_iter().zip(cuts) {
        before += taken(&body);
        placed.push((body, cut + before - 0.5 * LEAST_GAP_M));
    }
    debug_assert!(
        placed
            .iter()
            .all(|&(_, front)| (0.0..=length).contains(&front)),
        "a vehicle stands beside the lane"
    );
    placed.reverse();
    debug_assert!(
        placed.windows(2).all(|pair| pair[0].1 > pair[1].1),
        "vehicles stand out of order"
    );
    Some(placed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::Body;
    use crate::vehicle::tests::{CAR, TRUCK};

    fn cars() -> Mix {
        Mix::new(vec![CAR]).expect("a type")
    }

    /// Reference values `gap37885_*` and `dens*` of the reference sheet.
    #[test]
    fn gaps_and_densities_are_those_of_the_reference() {
        let kmh = |speed: f64| speed / 3.6;
        for (speed, gap) in [
            (50.08, 27.892_42),
            (60.0, 33.392_15),
            (70.0, 38.939_45),
            (140.0, 77.803_27),
        ] {
            let found = mean_spacing(GapRule::Tr37885, kmh(speed), 0.0);
            assert!((found - gap).abs() < 1e-5, "{found}");
        }
        let density = |speed, length| 1.0 / mean_spacing(GapRule::Tr37885, kmh(speed), length);
        assert!((density(50.08, 5.0) - 0.030_402_15).abs() < 1e-8);
        assert!((density(50.08, 6.6) - 0.028_991_88).abs() < 1e-8);
        assert!((4.0 * density(50.08, 5.0) - 0.121_608_6).abs() < 1e-7);
        assert!((4.0 * density(50.08, 6.6) - 0.115_967_5).abs() < 1e-7);
        assert!((6.0 * density(50.08, 5.0) - 0.182_412_9).abs() < 1e-7);
        assert!((density(140.0, 5.0) - 0.012_076_82).abs() < 1e-8);
        let poisson = 4.0 / mean_spacing(GapRule::Tr36885, kmh(50.08), 5.0);
        assert!((poisson - 0.115_016).abs() < 1e-6);
    }

    /// Reference values `gap37885_P_at_floor_50.08` and `gap37885_median_60` of the reference
    /// sheet.
    #[test]
    fn drawn_gaps_have_the_floor_and_the_median_of_the_reference() {
        let mut random = Stream::new(2, "test", 0);
        let n = 40_000;
        let mut drawn = |speed: f64| draw(GapRule::Tr37885, speed / 3.6, 5.0, &mut random);
        let floor = (0..n).filter(|_| drawn(50.08) == 2.0).count() as f64 / f64::from(n);
        // The limit is five standard errors of a share of 0.069.
        assert!((floor - 0.069_362_07).abs() < 0.0064, "{floor}");
        let below = (0..n).filter(|_| drawn(60.0) < 23.104_91).count() as f64 / f64::from(n);
        assert!((below - 0.5).abs() < 0.0125, "{below}");
    }

    #[test]
    fn a_long_lane_has_the_density_of_its_rule() {
        let mix = Mix::new(vec![
            Body { share: 0.8, ..CAR },
            Body {
                share: 0.2,
                platoon: 6,
                ..TRUCK
            },
        ])
        .expect("shares");
        for (mix, rule, share) in [
            (&cars(), GapRule::Tr37885, 0.0),
            (&cars(), GapRule::Tr36885, 0.0),
            (&mix, GapRule::Tr36885, 0.2),
        ] {
            let placed = by_rule(rule, (1e6, 20.0), mix, &mut Stream::new(4, "test", 0));
            let trucks = placed.iter().filter(|(body, _)| *body == 1).count() as f64;
            // Trucks are placed in rows of six, so the variance of their share is six times as
            // large.
            assert!((trucks / placed.len() as f64 - share).abs() < 0.02);
            if share == 0.0 {
                let spacing = mean_spacing(rule, 20.0, mix.mean_length());
                let expected = 1e6 / spacing;
                // The limit is five standard deviations of a Poisson-distributed number.
                assert!((placed.len() as f64 - expected).abs() < 5.0 * expected.sqrt());
            }
        }
    }

    #[test]
    fn vehicles_of_a_number_keep_their_distance() {
        let mut random = Stream::new(6, "test", 0);
        let placed = by_number(14, 100.0, &cars(), &mut random).expect("room for 14");
        assert_eq!(placed.len(), 14);
        assert!(
            placed
                .windows(2)
                .all(|pair| pair[0].1 - 5.0 - pair[1].1 >= 2.0 - 1e-9)
        );
        assert!(placed[0].1 <= 100.0 && placed[13].1 >= 5.0);
        assert_eq!(by_number(15, 100.0, &cars(), &mut random), None);
    }
}
