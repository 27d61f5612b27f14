//! Car-following models.

use crate::vehicle::Body;
use fadeout_core::math;
use fadeout_core::registry::{choice, number};

pub use fadeout_core::agreed::CarFollowing;

fadeout_core::parameters! {
    /// Parameters of drivers. The defaults are those of SUMO.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Driving {
        /// Car-following model.
        pub model as "following": CarFollowing = choice(CarFollowing::NAMES, "none"),
        /// Time headway that drivers want, or the reaction time of drivers in Krauss's model, in
        /// seconds.
        pub headway: f64 = number((0.0, 1e9, "s"), "1"),
        /// Distance in metres between two vehicles that are standing.
        pub min_gap: f64 = number((0.0, 1e6, "m"), "2.5"),
        /// Imperfection of drivers in Krauss's model, from 0 to 1.
        pub dawdling: f64 = number((0.0, 1.0, ""), "0.5"),
        /// Relative standard deviation of the speeds that drivers want.
        pub speed_deviation: f64 = number((0.0, 1.0, ""), "0.1"),
    }
}

/// Vehicle ahead: the gap to its rear in metres, and its speed in metres per second.
pub(super) type Leader = (f64, f64);

impl Driving {
    /// Returns the driver's speed after `step` seconds. The current speed is `speed` and the
    /// desired one `desired`. `idleness` is a number from 0 to 1 that the model draws uniformly.
    pub(super) fn next_speed(
        &self,
        body: &Body,
        (speed, desired): (f64, f64),
        leader: Option<Leader>,
        (step, idleness): (f64, f64),
    ) -> f64 {
        debug_assert!(
            speed >= 0.0 && desired >= 0.0,
            "{speed} m/s, and {desired} m/s are wanted"
        );
        debug_assert!((0.0..=1.0).contains(&idleness), "an idleness of {idleness}");
        match self.model {
            CarFollowing::None => desired,
            CarFollowing::Idm => {
                let acceleration = self.idm(body, (speed, desired), leader);
                (speed + acceleration * step).max(0.0)
            }
            CarFollowing::Krauss => {
                let faster = (speed + body.acceleration * step)
                    .min(desired.max(speed - body.deceleration * step));
                let safe = leader.map_or(faster, |(gap, ahead)| {
                    let gap = (gap - self.min_gap).max(0.0);
                    krauss_safe_speed(gap, ahead, body.deceleration, self.headway)
                });
                let wanted = faster.min(safe).max(0.0);
                let idle = body.acceleration.min(wanted.max(0.0)) * step * self.dawdling * idleness;
                (wanted - idle).max(0.0)
            }
        }
    }

    /// Returns the acceleration in the intelligent driver model. The deceleration at a gap of zero
    /// is limited to the grip of tyres.
    fn idm(&self, body: &Body, (speed, desired): (f64, f64), leader: Option<Leader>) -> f64 {
        const HARDEST: f64 = 9.0;
        let (a, b) = (body.acceleration, body.deceleration);
        let free = match desired > 0.0 {
            true => {
                let ratio = speed / desired;
                ratio * ratio * ratio * ratio
            }
            false => 1.0,
        };
        let near = leader.map_or(0.0, |(gap, ahead)| {
            let approach = speed * (speed - ahead) / (2.0 * (a * b).sqrt());
            let wanted = self.min_gap + (speed * self.headway + approach).max(0.0);
            let share = wanted / gap.max(0.01);
            share * share
        });
        (a * (1.0 - free - near)).max(-HARDEST)
    }
}

/// Returns the speed in metres per second at which a driver can still stop behind the vehicle
/// ahead. The vehicle ahead is at a distance of `gap` metres and has a speed of `ahead` m/s. The
/// deceleration is `b` m/s² and the reaction time `tau` seconds.
pub(super) fn krauss_safe_speed(gap: f64, ahead: f64, b: f64, tau: f64) -> f64 {
    debug_assert!(gap >= 0.0, "the leader is overlapped by {gap} m");
    let lag = b * tau;
    (lag * lag + ahead * ahead + 2.0 * b * gap).sqrt() - lag
}

/// Returns the speed from which a vehicle can slow down to `slow` within a distance.
pub(super) fn approach_speed(slow: f64, distance: f64, deceleration: f64) -> f64 {
    (slow * slow + 2.0 * deceleration * distance.max(0.0)).sqrt()
}

/// Returns the ratio of a driver's desired speed to the speed limit, from a standard normal number.
pub(super) fn speed_factor(deviation: f64, normal: f64) -> f64 {
    (1.0 + deviation * normal).clamp(0.2, 2.0)
}

/// Returns the gap in metres at which a driver of the intelligent driver model keeps the same speed
/// as the vehicle ahead.
pub fn idm_equilibrium_gap(speed: f64, desired: f64, min_gap: f64, headway: f64) -> f64 {
    (min_gap + speed * headway) / (1.0 - math::pow(speed / desired, 4.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vehicle::tests::CAR;

    fn idm() -> Driving {
        Driving {
            model: CarFollowing::Idm,
            ..Driving::default()
        }
    }

    /// Compares both models with the reference values `idm_*` and `krauss_*` of the reference
    /// sheet.
    #[test]
    fn the_laws_are_those_of_the_reference() {
        let acceleration = |ahead| idm().idm(&CAR, (20.0, 33.33), Some((40.0, ahead)));
        assert!((acceleration(20.0) - 1.440_249).abs() < 1e-4);
        assert!((acceleration(15.0) - 0.024_112_25).abs() < 1e-4);
        let gap = idm_equilibrium_gap(13.911, 33.33, 2.5, 1.0);
        assert!((gap - 16.665_81).abs() < 1e-4, "{gap}");
        assert!((1.0 / (5.0 + gap) - 0.046_155_66).abs() < 1e-6);
        let at_rest = idm().idm(&CAR, (13.911, 33.33), Some((gap, 13.911)));
        assert!(at_rest.abs() < 1e-9);
        assert!((krauss_safe_speed(20.0, 15.0, 4.5, 1.0) - 16.121_59).abs() < 1e-5);
        let equal = krauss_safe_speed(13.911, 13.911, 4.5, 1.0);
        assert!((equal - 13.911).abs() < 1e-9);
    }

    #[test]
    fn nobody_drives_into_one_who_stands() {
        for model in [CarFollowing::Idm, CarFollowing::Krauss] {
            let driving = Driving { model, ..idm() };
            let (mut at, mut speed) = (0.0, 25.0);
            for _ in 0..1200 {
                let leader = Some((200.0 - at, 0.0));
                let next = driving.next_speed(&CAR, (speed, 30.0), leader, (0.1, 0.5));
                at += 0.05 * (speed + next);
                speed = next;
            }
            assert!(at < 200.0, "{model:?} {at}");
            assert!(at > 190.0 && speed < 0.1, "{model:?} {at} {speed}");
        }
    }
}
