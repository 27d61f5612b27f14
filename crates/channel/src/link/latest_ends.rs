//! Time and ends of a link at its latest evaluation.

use crate::ends::LinkEnds;
use fadeout_core::{Kinematics, Point, Time, Vector};

/// Time and ends of a link at its latest evaluation. Every pair of a UE and a cell has such a
/// record. To save memory, data that most links do not have is in a box.
#[derive(Debug)]
pub(super) struct LatestEnds {
    at: Time,
    base: Kinematics,
    ue: Kinematics,
    /// Data other than positions. `None` until the first evaluation with such data.
    other_data: Option<Box<OtherData>>,
}

/// Data of [`LinkEnds`] other than the positions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OtherData {
    obstruction: Option<f64>,
    vehicles_db: f64,
    base_beam_at: Option<Point>,
    ue_beam_at: Option<Point>,
}

impl OtherData {
    const NONE: OtherData = OtherData {
        obstruction: None,
        vehicles_db: 0.0,
        base_beam_at: None,
        ue_beam_at: None,
    };

    fn from_ends(ends: &LinkEnds) -> OtherData {
        OtherData {
            obstruction: ends.obstruction,
            vehicles_db: ends.vehicles_db,
            base_beam_at: ends.base_beam_at,
            ue_beam_at: ends.ue_beam_at,
        }
    }
}

impl LatestEnds {
    pub(super) fn new(at: Time, ends: &LinkEnds) -> LatestEnds {
        let other_data = OtherData::from_ends(ends);
        LatestEnds {
            at,
            base: ends.base,
            ue: ends.ue,
            other_data: (other_data != OtherData::NONE).then(|| Box::new(other_data)),
        }
    }

    /// Records a new evaluation in place of the latest one. An existing box is reused.
    pub(super) fn replace(&mut self, at: Time, ends: &LinkEnds) {
        let other_data = OtherData::from_ends(ends);
        (self.at, self.base, self.ue) = (at, ends.base, ends.ue);
        match &mut self.other_data {
            Some(known) => **known = other_data,
            None if other_data != OtherData::NONE => self.other_data = Some(Box::new(other_data)),
            None => {}
        }
    }

    /// Returns the time of the latest evaluation.
    pub(super) fn time(&self) -> Time {
        self.at
    }

    /// Returns the ends of the latest evaluation.
    pub(super) fn ends(&self) -> LinkEnds {
        let other_data = self.other_data.as_deref().unwrap_or(&OtherData::NONE);
        LinkEnds {
            base: self.base,
            ue: self.ue,
            obstruction: other_data.obstruction,
            vehicles_db: other_data.vehicles_db,
            base_beam_at: other_data.base_beam_at,
            ue_beam_at: other_data.ue_beam_at,
        }
    }

    /// Returns true if the latest evaluation was at this time and with these ends.
    pub(super) fn is_at(&self, at: Time, ends: &LinkEnds) -> bool {
        let other_data = self.other_data.as_deref().unwrap_or(&OtherData::NONE);
        (self.at, self.base, self.ue) == (at, ends.base, ends.ue)
            && *other_data == OtherData::from_ends(ends)
    }

    /// Returns the position of the UE relative to the base station at `t`. The time `t` may be
    /// before or after the evaluation.
    #[inline]
    pub(super) fn relative(&self, t: Time) -> Vector {
        let elapsed = if t >= self.at {
            t.since(self.at).as_secs_f64()
        } else {
            -self.at.since(t).as_secs_f64()
        };
        let (base, ue) = (&self.base, &self.ue);
        let position = ue.position - base.position;
        let velocity = Vector::new(
            ue.velocity.x - base.velocity.x,
            ue.velocity.y - base.velocity.y,
            ue.velocity.z - base.velocity.z,
        );
        let moved = velocity * elapsed;
        Vector::new(
            position.x + moved.x,
            position.y + moved.y,
            position.z + moved.z,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_again_with_all_that_it_was_asked_with() {
        let place = |x| Kinematics::at_rest(Point::new(x, 0.0, 1.5));
        let plain = LinkEnds::new(place(0.0), place(50.0));
        let special = LinkEnds {
            obstruction: Some(-1.0),
            ue_beam_at: Some(Point::new(1.0, 2.0, 3.0)),
            ..plain
        };
        let mut latest_ends = LatestEnds::new(Time::ZERO, &plain);
        assert!(latest_ends.other_data.is_none() && latest_ends.is_at(Time::ZERO, &plain));
        for ends in [special, plain, special] {
            latest_ends.replace(Time::from_nanos(7), &ends);
            assert!(
                latest_ends.is_at(Time::from_nanos(7), &ends)
                    && !latest_ends.is_at(Time::ZERO, &ends)
            );
            assert_eq!(
                (latest_ends.ends(), latest_ends.time().as_nanos()),
                (ends, 7)
            );
        }
        assert!(!latest_ends.is_at(Time::from_nanos(7), &plain));
    }
}
