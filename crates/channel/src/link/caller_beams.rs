//! Beams of a link whose caller detects beam failure and runs recovery.

use super::full_link::FullLink;
use super::surroundings::SurroundingsCache;
use crate::antenna::recovery::CallerBeams;
use crate::ends::LinkEnds;
use fadeout_core::Time;

impl FullLink {
    /// Implements
    /// [`LinkChannel::disable_beam_failure_model`](super::LinkChannel::disable_beam_failure_model).
    pub(super) fn disable_beam_failure_model(&mut self) {
        if let Some(beams) = &self.path.shared.config.beams {
            self.caller_beams = Some(Box::new(CallerBeams::new(beams)));
            self.monitor = None;
        }
    }

    /// Implements [`LinkChannel::hold_beams`](super::LinkChannel::hold_beams).
    pub(super) fn hold_beams(&mut self, now: Time, is_failing: bool) {
        match self.caller_beams.as_deref_mut() {
            Some(caller_beams) if is_failing => caller_beams.hold(now),
            Some(caller_beams) => caller_beams.release(),
            None => {}
        }
    }

    /// Implements [`LinkChannel::holds_beams`](super::LinkChannel::holds_beams).
    pub(super) fn holds_beams(&self) -> bool {
        self.caller_beams
            .as_deref()
            .is_some_and(CallerBeams::is_held)
    }

    /// Implements [`LinkChannel::candidate_db`](super::LinkChannel::candidate_db).
    pub(super) fn candidate_db(&mut self, now: Time, ends: &LinkEnds, is_taken: bool) -> f64 {
        let (Some(caller_beams), Some(beams)) = (
            self.caller_beams.as_deref().copied(),
            self.path.shared.config.beams,
        ) else {
            return self.cached_large_scale_db(now, ends, &mut SurroundingsCache::default());
        };
        let in_use = self.scattering.in_use();
        let latest = caller_beams.latest(&beams, now);
        self.evaluate_with(latest, now, ends);
        let candidate = latest.or_reflected(self.large_scale.blockage_db);
        let candidate_db = self.evaluate_with(candidate, now, ends);
        if !is_taken {
            self.scattering.restore(in_use);
            self.evaluate_with(caller_beams, now, ends);
        }
        candidate_db
    }

    fn evaluate_with(&mut self, beams: CallerBeams, now: Time, ends: &LinkEnds) -> f64 {
        // The boxed state is overwritten, so that recovery needs no allocation.
        if let Some(caller_beams) = self.caller_beams.as_deref_mut() {
            *caller_beams = beams;
        }
        self.latest_ends = None;
        self.cached_large_scale_db(now, ends, &mut SurroundingsCache::default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::LinkChannel;
    use super::*;
    use crate::antenna::{Angles, Antenna, Array, BeamFailure, BeamManagement, Mounted};
    use crate::blockage::{Blockage, Interval, Scripted};
    use crate::fading::Fading;
    use crate::{ChannelConfig, Environment, LineOfSight, LinkKey};
    use fadeout_core::{Kinematics, Point, Span, Vector};

    fn time_at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Returns the ends at a time in ms. The UE passes the base station at a distance of 30 m with
    /// 20 m/s.
    fn ends(ms: u64) -> LinkEnds {
        LinkEnds::new(
            Kinematics::at_rest(Point::new(0.0, 0.0, 10.0)),
            Kinematics {
                position: Point::new(30.0, 0.02 * ms as f64 - 10.0, 1.5),
                velocity: Vector::new(0.0, 20.0, 0.0),
            },
        )
    }

    /// Returns a link whose direct path loses 40 dB by blockage from 500 to 1000 ms.
    fn link(los_fading: Fading) -> LinkChannel {
        let array = Antenna::Array(Mounted {
            pattern: Array::default(),
            boresight: Angles::default(),
        });
        let wall = Interval {
            from: time_at_ms(500),
            until: time_at_ms(1000),
            loss_db: 40.0,
        };
        let config = ChannelConfig {
            line_of_sight: LineOfSight::Clear,
            los_fading,
            shadowing: None,
            base_antenna: array,
            beams: Some(BeamManagement {
                failure: Some(BeamFailure {
                    reflection_loss_db: Some(12.0),
                    ..BeamFailure::default()
                }),
                ..BeamManagement::default()
            }),
            blockages: vec![Blockage::Scripted(Scripted {
                intervals: [wall].into(),
            })],
            ..ChannelConfig::default()
        };
        let environment = Environment::new(config, 3).expect("a valid channel");
        let key = LinkKey {
            site: 0,
            cell: 0,
            ue: 0,
        };
        let mut link = environment.link(key);
        link.disable_beam_failure_model();
        link
    }

    #[test]
    fn held_beams_lose_what_a_candidate_has_and_looking_for_one_changes_nothing() {
        for fading in [
            Fading::None,
            Fading::Clusters {
                k_db: 9.0,
                delay_spread: Span::from_nanos(50),
            },
        ] {
            let (mut held, mut queried, mut tracked) = (link(fading), link(fading), link(fading));
            for ms in (0..450).step_by(5) {
                let (now, ends) = (time_at_ms(ms), ends(ms));
                for link in [&mut held, &mut queried] {
                    link.hold_beams(now, ms >= 100);
                }
                let in_use_db = held.large_scale_db(now, &ends);
                let found_db = queried.candidate_db(now, &ends, false);
                assert_eq!(in_use_db, queried.large_scale_db(now, &ends), "{ms} ms");
                let tracked_db = tracked.large_scale_db(now, &ends);
                assert!(
                    (found_db - tracked_db).abs() < 1.0,
                    "{found_db} {tracked_db}"
                );
                if ms == 445 {
                    assert!(found_db - in_use_db > 5.0, "{found_db} {in_use_db}");
                    assert_eq!(held.candidate_db(now, &ends, true), found_db);
                    assert_eq!(held.large_scale_db(now, &ends), found_db);
                    assert!(!held.holds_beams() && queried.holds_beams());
                }
            }
        }
    }

    #[test]
    fn behind_a_wall_the_candidate_is_the_reflected_path_until_the_direct_one_is_better() {
        let mut link = link(Fading::None);
        let mut reflected = Vec::new();
        for ms in (0..1200).step_by(20) {
            let (now, ends) = (time_at_ms(ms), ends(600));
            if ms == 600 {
                let blocked_db = link.large_scale_db(now, &ends);
                let found_db = link.candidate_db(now, &ends, true);
                assert!((found_db - blocked_db - 28.0).abs() < 1e-9);
            }
            link.large_scale_db(now, &ends);
            assert!(!link.large_scale().is_recovering);
            if link.large_scale().blockage_db == 12.0 {
                reflected.push(ms);
            }
        }
        let expected: Vec<u64> = (600..1000).step_by(20).collect();
        assert_eq!(reflected, expected);
    }
}
