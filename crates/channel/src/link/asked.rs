//! Time and ends of the latest evaluation of a link.

use crate::ends::LinkEnds;
use fadeout_core::{Kinematics, Point, Time, Vector};

/// Time and ends of the latest evaluation of a link. Every pair of a UE and a cell has such a
/// record, so data that most links lack is boxed to save memory.
#[derive(Debug)]
pub(super) struct Asked {
    at: Time,
    base: Kinematics,
    ue: Kinematics,
    /// Data other than positions. `None` until an evaluation has some.
    more: Option<Box<More>>,
}

/// Data of [`LinkEnds`] other than the positions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct More {
    obstruction: Option<f64>,
    vehicles_db: f64,
    base_beam_at: Option<Point>,
    ue_beam_at: Option<Point>,
}

impl More {
    const NONE: More = More {
        obstruction: None,
        vehicles_db: 0.0,
        base_beam_at: None,
        ue_beam_at: None,
    };

    fn of(ends: &LinkEnds) -> More {
        More {
            obstruction: ends.obstruction,
            vehicles_db: ends.vehicles_db,
            base_beam_at: ends.base_beam_at,
            ue_beam_at: ends.ue_beam_at,
        }
    }
}

impl Asked {
    pub(super) fn new(at: Time, ends: &LinkEnds) -> Asked {
        let more = More::of(ends);
        Asked {
            at,
            base: ends.base,
            ue: ends.ue,
            more: (more != More::NONE).then(|| Box::new(more)),
        }
    }

    /// Records another evaluation. An existing box is reused.
    pub(super) fn again(&mut self, at: Time, ends: &LinkEnds) {
        let more = More::of(ends);
        (self.at, self.base, self.ue) = (at, ends.base, ends.ue);
        match &mut self.more {
            Some(known) => **known = more,
            None if more != More::NONE => self.more = Some(Box::new(more)),
            None => {}
        }
    }

    /// Returns the time of the latest evaluation.
    pub(super) fn at(&self) -> Time {
        self.at
    }

    /// Returns the ends of the latest evaluation.
    pub(super) fn ends(&self) -> LinkEnds {
        let more = self.more.as_deref().unwrap_or(&More::NONE);
        LinkEnds {
            base: self.base,
            ue: self.ue,
            obstruction: more.obstruction,
            vehicles_db: more.vehicles_db,
            base_beam_at: more.base_beam_at,
            ue_beam_at: more.ue_beam_at,
        }
    }

    /// Returns true if the latest evaluation was at this time and with these ends.
    pub(super) fn is(&self, at: Time, ends: &LinkEnds) -> bool {
        let more = self.more.as_deref().unwrap_or(&More::NONE);
        (self.at, self.base, self.ue) == (at, ends.base, ends.ue) && *more == More::of(ends)
    }

    /// Returns the position of the UE relative to the base station at `t`, which may be before or
    /// after the evaluation.
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
        let way = velocity * elapsed;
        Vector::new(position.x + way.x, position.y + way.y, position.z + way.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_known_again_with_all_that_it_was_asked_with() {
        let place = |x| Kinematics::at_rest(Point::new(x, 0.0, 1.5));
        let plain = LinkEnds::new(place(0.0), place(50.0));
        let beside = LinkEnds {
            obstruction: Some(-1.0),
            ue_beam_at: Some(Point::new(1.0, 2.0, 3.0)),
            ..plain
        };
        let mut asked = Asked::new(Time::ZERO, &plain);
        assert!(asked.more.is_none() && asked.is(Time::ZERO, &plain));
        for ends in [beside, plain, beside] {
            asked.again(Time::from_nanos(7), &ends);
            assert!(asked.is(Time::from_nanos(7), &ends) && !asked.is(Time::ZERO, &ends));
            assert_eq!((asked.ends(), asked.at().as_nanos()), (ends, 7));
        }
        assert!(!asked.is(Time::from_nanos(7), &plain));
    }
}
