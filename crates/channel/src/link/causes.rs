//! Losses of a link by their causes, for reports that explain a weak link.

use super::full_link::FullLink;
use crate::antenna::Angles;
use crate::blockage::Blockage;
use crate::path_loss::Condition;
use fadeout_core::{Point, Time};

/// Losses of a link at its last evaluation in dB, and azimuth of the base station's beam.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Causes {
    /// Loss by the blockage models of the channel, dB. Deafness and vehicles given by the caller
    /// are excluded.
    pub blockage_db: f64,
    /// Loss by deafness, dB. During deafness the beam of the other end points in another direction.
    pub deafness_db: f64,
    /// Loss by outdated beams, dB. It is the gain of beams steered to the current positions minus
    /// the gain of the beams in use.
    pub misalignment_db: f64,
    /// Azimuth of the base station's beam, counter-clockwise from east, degrees. `None` if the base
    /// station has no steered beam.
    pub beam_deg: Option<f64>,
}

impl FullLink {
    /// Implements [`LinkChannel::causes`](super::LinkChannel::causes).
    pub(super) fn causes(&mut self) -> Option<Causes> {
        let latest_ends = self.latest_ends.as_ref()?;
        let (now, ends) = (latest_ends.time(), latest_ends.ends());
        let (base, ue) = (ends.base.position, ends.ue.position);
        let condition = match self.large_scale.state {
            super::State::Los => Condition::Los,
            super::State::Nlos | super::State::Outage => Condition::Nlos,
        };
        let deafness_db = self.drawn_db(now, (base, ue), condition, |kind| {
            matches!(kind, Blockage::Deafness(_))
        });
        let blockage_db = self.drawn_db(now, (base, ue), condition, |kind| {
            !matches!(kind, Blockage::Deafness(_))
        });
        let (_, [base_beam, _]) = self.beams(now, &ends, 0.0);
        let is_steered = self.path.shared.config.base_antenna.is_steered();
        Some(Causes {
            blockage_db,
            deafness_db,
            misalignment_db: self.misalignment_db(now, &ends, 0.0),
            beam_deg: is_steered.then_some(base_beam.azimuth_deg),
        })
    }

    /// Returns the total loss of all blockages that `counts` selects. A repeated call for the same
    /// instant returns the same value.
    fn drawn_db(
        &mut self,
        now: Time,
        ends: (Point, Point),
        condition: Condition,
        counts: impl Fn(&Blockage) -> bool,
    ) -> f64 {
        let view = self.view(now, ends, condition);
        let kinds = &self.path.shared.config.blockages;
        let processes = kinds.iter().zip(&mut self.blockages);
        processes
            .filter(|(kind, _)| counts(kind))
            .map(|(_, process)| process.loss_at(&view))
            .sum()
    }

    /// Returns four directions: from base station and UE to each other, then of their beams. The
    /// time `at` is `earlier` seconds before that of `ends`.
    pub(super) fn beams(
        &self,
        at: Time,
        ends: &crate::ends::LinkEnds,
        earlier: f64,
    ) -> ([Angles; 2], [Angles; 2]) {
        let config = &self.path.shared.config;
        let (base, ue) = ends.before(earlier);
        let (down, up) = (Angles::between(base, ue), Angles::between(ue, base));
        let (mut base_beam, mut ue_beam) = (down, up);
        if let Some(beams) = &config.beams
            && (config.base_antenna.is_steered() || config.ue_antenna.is_steered())
        {
            let measured_at = match &self.caller_beams {
                Some(caller_beams) => caller_beams.measured_at(beams, at),
                None => beams.measured_at(at),
            };
            let age = at.since(measured_at).as_secs_f64();
            let (base, then) = ends.before(earlier + age);
            let ue = self.expected(base, (measured_at, at)).unwrap_or(then);
            (base_beam, ue_beam) = (Angles::between(base, ue), Angles::between(ue, base));
            ue_beam.azimuth_deg += beams.rotation_deg_per_s * age;
        }
        if let Some(target) = ends.base_beam_at {
            base_beam = Angles::between(base, target);
        }
        if let Some(target) = ends.ue_beam_at {
            ue_beam = Angles::between(ue, target);
        }
        ([down, up], [base_beam, ue_beam])
    }

    /// Returns the position of the UE at a time, predicted from the beam measurements. `None` if
    /// positions are not predicted.
    fn expected(&self, base: Point, (measured_at, at): (Time, Time)) -> Option<Point> {
        let (track, beams) = self
            .track
            .as_deref()
            .zip(self.path.shared.config.beams.as_ref())?;
        let caller_beams = self.caller_beams.as_deref();
        let at = caller_beams.map_or(at, |caller_beams| caller_beams.steered_at(at));
        track.expected(beams, base, (measured_at, at))
    }
}
