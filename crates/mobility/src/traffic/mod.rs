//! Groups of vehicles, which drive on roads or follow a trace.

mod drive;
mod following;
mod gaps;
mod network;
mod road;

pub use crate::vehicle::{Body, Mix, Pose};
pub use drive::{MAX_VEHICLES, Population, TrafficConfig};
pub use following::{CarFollowing, Driving, idm_equilibrium_gap};
pub use gaps::{GapRule, mean_spacing};
pub use network::{Street, StreetMap};
pub use road::{Motorway, Road, Streets};

use crate::import::TracedVehicle;
use crate::{MobilityError, Obstacle};
use drive::Drive;
use fadeout_core::Time;
use fadeout_core::random::Stream;

/// Group of vehicles whose positions change over time.
#[derive(Debug, Clone)]
pub struct Fleet(Source);

#[derive(Debug, Clone)]
enum Source {
    Driven(Box<Drive>),
    Traced {
        vehicles: Vec<(TracedVehicle, Body)>,
        fastest: f64,
    },
}

impl Fleet {
    /// Returns a fleet of vehicles that drive on a road.
    ///
    /// # Errors
    /// Returns an error if there is no vehicle, if there are too many, or if they do not fit on the
    /// road. The message contains the expected values.
    pub fn driven(config: TrafficConfig, random: Stream) -> Result<Fleet, MobilityError> {
        let drive = Drive::new(config, random)?;
        Ok(Fleet(Source::Driven(Box::new(drive))))
    }

    /// Returns a fleet of the vehicles of a trace.
    ///
    /// # Errors
    /// Returns an error if there is no vehicle, or if there are too many.
    pub fn traced(vehicles: Vec<(TracedVehicle, Body)>) -> Result<Fleet, MobilityError> {
        if vehicles.is_empty() || vehicles.len() > MAX_VEHICLES {
            return Err(MobilityError(format!(
                "{} vehicles in the trace; expected 1 to {MAX_VEHICLES}",
                vehicles.len()
            )));
        }
        let speeds = vehicles.iter().map(|(vehicle, _)| vehicle.fastest());
        let fastest = speeds.fold(0.0, f64::max);
        Ok(Fleet(Source::Traced { vehicles, fastest }))
    }

    /// Returns the number of vehicles.
    pub fn len(&self) -> usize {
        match &self.0 {
            Source::Driven(drive) => drive.len(),
            Source::Traced { vehicles, .. } => vehicles.len(),
        }
    }

    /// Returns false, because a fleet has at least one vehicle.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the body of a vehicle.
    pub fn body(&self, vehicle: usize) -> &Body {
        match &self.0 {
            Source::Driven(drive) => drive.body(vehicle),
            Source::Traced { vehicles, .. } => &vehicles[vehicle].1,
        }
    }

    /// Returns an upper bound of the vehicles' speed in metres per second. Jumps in a trace are
    /// ignored.
    pub fn fastest(&self) -> f64 {
        match &self.0 {
            Source::Driven(drive) => drive.fastest(),
            Source::Traced { fastest, .. } => *fastest,
        }
    }

    /// Advances all vehicles to `time`, which may be earlier than the last time by at most one
    /// step.
    pub fn advance(&mut self, time: Time) {
        match &mut self.0 {
            Source::Driven(drive) => drive.advance(time),
            Source::Traced { vehicles, .. } => {
                for (vehicle, _) in vehicles {
                    vehicle.advance(time);
                }
            }
        }
    }

    /// Returns the pose of a vehicle, and true if the vehicle is present. Vehicles of a trace
    /// appear and disappear.
    pub fn pose(&self, vehicle: usize, time: Time) -> (Pose, bool) {
        match &self.0 {
            Source::Driven(drive) => (drive.pose_at(vehicle, time), true),
            Source::Traced { vehicles, .. } => vehicles[vehicle].0.pose_at(time),
        }
    }

    /// Returns a vehicle as a box. `None` if the vehicle is not present at that time.
    pub fn obstacle(&self, vehicle: usize, time: Time) -> Option<Obstacle> {
        let (pose, is_there) = self.pose(vehicle, time);
        is_there.then(|| pose.obstacle(self.body(vehicle)))
    }
}

#[cfg(test)]
mod tests {
    use super::network::tests::village;
    use super::road::tests::town;
    use super::*;
    use crate::vehicle::tests::{CAR, TRUCK};
    use fadeout_core::{Span, math};

    fn motorway() -> Motorway {
        Motorway {
            start: (0.0, 0.0),
            heading: 0.0,
            length: 2000.0,
            lanes: vec![22.0, 27.0, 38.0],
            opposite: vec![22.0],
            lane_width: 4.0,
            median: 0.0,
        }
    }

    fn config(road: Road, population: Population, model: CarFollowing) -> TrafficConfig {
        TrafficConfig {
            road,
            population,
            mix: Mix::new(vec![
                Body { share: 0.8, ..CAR },
                Body {
                    share: 0.2,
                    ..TRUCK
                },
            ])
            .expect("shares"),
            driving: Driving {
                model,
                ..Driving::default()
            },
            warm_up: Span::from_secs(30),
            step: Span::from_millis(100),
        }
    }

    fn fleet(road: Road, population: Population, model: CarFollowing) -> Fleet {
        let random = Stream::new(7, "test", 0);
        Fleet::driven(config(road, population, model), random).expect("a good road")
    }

    fn time_at_secs(secs: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(secs)
    }

    #[test]
    fn on_a_free_motorway_all_keep_the_speed_and_the_place_of_their_lane() {
        let road = motorway().road().expect("lanes");
        let gaps = Population::Gaps(GapRule::Tr37885);
        let mut fleet = fleet(road, gaps, CarFollowing::None);
        assert!(fleet.len() > 80, "{}", fleet.len());
        let lanes = [(-10.0, 22.0), (-6.0, 27.0), (-2.0, 38.0), (2.0, -22.0)];
        let mut starts: Vec<Option<f64>> = vec![None; fleet.len()];
        for tick in 0..700 {
            let time = time_at_secs(0.137 * f64::from(tick));
            fleet.advance(time);
            for (vehicle, start) in starts.iter_mut().enumerate() {
                let (pose, _) = fleet.pose(vehicle, time);
                let lane = lanes.iter().find(|(y, _)| (y - pose.front.1).abs() < 1e-6);
                let &(_, speed) = lane.expect("a lane");
                assert!((pose.velocity.0 - speed).abs() < 1e-6);
                let home = pose.front.0 - speed * 0.137 * f64::from(tick);
                let home = home - 2000.0 * (home / 2000.0).floor();
                let known = *start.get_or_insert(home);
                let off = (home - known).abs();
                assert!(off < 1e-5 || (off - 2000.0).abs() < 1e-5, "{home} {known}");
            }
        }
    }

    /// Vehicles on the same lane never overlap, with either car-following model.
    #[test]
    fn who_follows_never_drives_into_another() {
        for model in [CarFollowing::Idm, CarFollowing::Krauss] {
            let road = motorway().road().expect("lanes");
            let mut fleet = fleet(road, Population::Number(140), model);
            let mut moved = 0.0;
            for tick in 0..600 {
                let time = time_at_secs(0.1 * f64::from(tick));
                fleet.advance(time);
                let mut fronts: Vec<(i64, f64, f64)> = (0..fleet.len())
                    .map(|vehicle| {
                        let (pose, _) = fleet.pose(vehicle, time);
                        let forward = pose.velocity.0 * math::cos(pose.heading).signum();
                        assert!(forward >= -1e-9, "{model:?}");
                        moved += forward;
                        let along = pose.front.0 * math::cos(pose.heading).signum();
                        (
                            pose.front.1.round() as i64,
                            along,
                            fleet.body(vehicle).length,
                        )
                    })
                    .collect();
                fronts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
                for pair in fronts.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
                    assert!(pair[1].1 - pair[1].2 > pair[0].1, "{model:?} at {time:?}");
                }
            }
            assert!(moved > 0.0);
        }
    }

    #[test]
    fn lights_make_queues_and_nobody_leaves_the_streets() {
        let town = town();
        let road = town.road().expect("a road");
        let mut fleet = fleet(road, Population::Number(100), CarFollowing::Idm);
        let (mut standing, mut samples, mut far) = (0.0, 0.0, 0.0);
        let half = town.half_width();
        let mut before: Vec<Pose> = Vec::new();
        for tick in 0..1800 {
            let time = time_at_secs(0.1 * f64::from(tick));
            fleet.advance(time);
            let poses: Vec<Pose> = (0..fleet.len())
                .map(|one| fleet.pose(one, time).0)
                .collect();
            for (number, pose) in poses.iter().enumerate() {
                let speed = math::hypot(pose.velocity.0, pose.velocity.1);
                standing += f64::from(u8::from(speed < 0.1));
                samples += 1.0;
                far += speed;
                let off = |at: f64, pitch: f64| (at - pitch * (at / pitch).round()).abs();
                let (x, y) = pose.front;
                assert!(off(x, 433.0) < half || off(y, 250.0) < half, "{x} {y}");
                if let Some(before) = before.get(number) {
                    let moved = math::hypot(x - before.front.0, y - before.front.1);
                    assert!(moved < 4.0, "a jump of {moved} m");
                }
            }
            before = poses;
        }
        let share: f64 = standing / samples;
        assert!((0.1..0.8).contains(&share), "{share} stand");
        assert!(far / samples > 2.0, "{}", far / samples);
    }

    #[test]
    fn on_the_streets_of_a_map_nobody_jumps_or_runs_a_red_light() {
        let map = village();
        let road = map.road().expect("streets");
        let mut fleet = fleet(road, Population::Number(30), CarFollowing::Krauss);
        let mut before: Vec<Pose> = Vec::new();
        let (mut far, mut crossed) = (0.0, [0; 2]);
        for tick in 0..3000 {
            let time = time_at_secs(0.1 * f64::from(tick));
            fleet.advance(time);
            let poses: Vec<Pose> = (0..fleet.len())
                .map(|one| fleet.pose(one, time).0)
                .collect();
            for (before, pose) in before.iter().zip(&poses) {
                let (x, y) = pose.front;
                let moved = math::hypot(x - before.front.0, y - before.front.1);
                assert!(moved < 2.5, "a jump of {moved} m");
                far += moved;
                // Vehicles enter the crossing from the west or from the south.
                let enters = |from: f64, to: f64| from < -7.0 && to >= -7.0;
                let in_lane = |across: f64| across.abs() < 7.0;
                // The vehicles drove for 30 s before the run. So half of the lights' cycle of 60 s
                // is over at the start of the run.
                let second = (0.1 * f64::from(tick) + 30.0) % 60.0;
                if enters(before.front.0, x) && in_lane(y) {
                    crossed[0] += 1;
                    assert!(!(4.0..29.0).contains(&second), "from the west at {second}");
                }
                if enters(before.front.1, y) && in_lane(x) {
                    crossed[1] += 1;
                    assert!(
                        !(34.0..59.0).contains(&second),
                        "from the south at {second}"
                    );
                }
            }
            before = poses;
        }
        assert!(crossed[0] > 20 && crossed[1] > 20, "{crossed:?}");
        assert!(far > 30.0 * 300.0 * 2.0, "{far}");
    }

    #[test]
    fn the_same_stream_makes_the_same_traffic_and_what_has_no_room_is_refused() {
        let make = || {
            let road = town().road().expect("a road");
            let mut fleet = fleet(road, Population::Number(30), CarFollowing::Krauss);
            fleet.advance(time_at_secs(20.0));
            (0..30)
                .map(|one| fleet.pose(one, time_at_secs(20.0)).0)
                .collect::<Vec<_>>()
        };
        assert_eq!(make(), make());
        let road = Motorway {
            length: 50.0,
            ..motorway()
        };
        let crowded = config(
            road.road().expect("lanes"),
            Population::Number(200),
            CarFollowing::Idm,
        );
        let refused = Fleet::driven(crowded, Stream::new(1, "test", 0));
        let error = refused.expect_err("no room").to_string();
        assert!(error.contains("longer road"), "{error}");
    }
}
