//! Vehicles whose movement is read from a trace.

use crate::vehicle::Pose;
use fadeout_core::{Span, Time, math};

/// Pose of a vehicle at a time step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub(super) at: Time,
    pub(super) pose: Pose,
    /// True if the vehicle jumps to the next step's position instead of driving there.
    pub(super) jumps: bool,
}

/// Vehicle of a trace. It drives straight between time steps. Before its first time step and after
/// its last it does not exist.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedVehicle {
    /// Name of the vehicle's type. `None` if the file has no type.
    pub kind: Option<String>,
    /// Time steps of the vehicle in order. There is at least one.
    steps: Vec<Step>,
    /// Index of the step that contains the latest time requested.
    current: usize,
}

impl TracedVehicle {
    /// Returns a vehicle with these time steps, which must be sorted and not empty.
    pub(super) fn new(kind: Option<String>, mut steps: Vec<Step>) -> TracedVehicle {
        for number in 1..steps.len() {
            let (from, to) = (steps[number - 1], steps[number]);
            let lasts = to.at.since(from.at).as_secs_f64();
            let (x, y) = (
                to.pose.front.0 - from.pose.front.0,
                to.pose.front.1 - from.pose.front.1,
            );
            steps[number - 1].pose.velocity = match from.jumps || lasts <= 0.0 {
                true => (0.0, 0.0),
                false => (x / lasts, y / lasts),
            };
        }
        if let Some(last) = steps.last_mut() {
            last.pose.velocity = (0.0, 0.0);
        }
        TracedVehicle {
            kind,
            steps,
            current: 0,
        }
    }

    /// Returns the times of the vehicle's first and last time step.
    pub fn span(&self) -> (Time, Time) {
        let last = self.steps.len() - 1;
        (self.steps[0].at, self.steps[last].at)
    }

    /// Returns the vehicle with another time zero: `start` of its trace. `None` if the vehicle has
    /// disappeared by then.
    pub fn starting_at(mut self, start: Span) -> Option<TracedVehicle> {
        let zero = Time::ZERO.saturating_add(start);
        if self.span().1 < zero {
            return None;
        }
        self.advance(zero);
        let (pose, is_there) = self.pose_at(zero);
        let mut steps = self.steps.split_off(self.current);
        if is_there && steps[0].at < zero {
            steps[0].at = zero;
            steps[0].pose = pose;
        }
        for step in &mut steps {
            step.at = Time::ZERO + step.at.since(zero);
        }
        self.steps = steps;
        self.current = 0;
        Some(self)
    }

    /// Returns the vehicle's highest speed in metres per second.
    pub fn fastest(&self) -> f64 {
        let speeds = self.steps.iter().map(|step| {
            let (x, y) = step.pose.velocity;
            math::hypot(x, y)
        });
        speeds.fold(0.0, f64::max)
    }

    /// Advances the vehicle to `time`.
    pub fn advance(&mut self, time: Time) {
        while let Some(next) = self.steps.get(self.current + 1)
            && next.at <= time
        {
            self.current += 1;
        }
    }

    /// Returns the vehicle's pose, and true if the vehicle exists at that time.
    pub fn pose_at(&self, time: Time) -> (Pose, bool) {
        let step = &self.steps[self.current];
        let is_before = time < step.at;
        let Some(next) = self.steps.get(self.current + 1).filter(|_| !is_before) else {
            let still = Pose {
                velocity: (0.0, 0.0),
                ..step.pose
            };
            return (still, time == step.at || is_before && self.current > 0);
        };
        let share = time.since(step.at).as_secs_f64() / next.at.since(step.at).as_secs_f64();
        match step.jumps {
            true => (step.pose, true),
            false => (step.pose.towards(&next.pose, share.min(1.0)), true),
        }
    }
}
