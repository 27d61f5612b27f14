//! A UE as the air knows it: where it is, and the paths to it.

use super::path::Placement;
use crate::channel::CommonShadowing;
use crate::config::UeConfig;
use fadeout_core::math::from_db;
use fadeout_core::{Kinematics, Motion, Span, Time, Vector};
use std::ops::Range;

/// How often the gains of paths that only interfere are looked at: at the multiples of this, whoever asks
/// when.
pub(super) const INTERFERING_PERIOD: Span = Span::from_millis(100);

/// A UE's antenna.
#[derive(Debug)]
pub(super) struct AirUe {
    pub config: UeConfig,
    /// Noise of its receiver over thermal noise.
    pub noise_factor: f64,
    /// Whether its SINR comes from recordings, to every cell that may serve it.
    pub has_recorded_sinr: bool,
    /// Whether it measures and changes cells.
    pub changes_cells: bool,
    /// Its paths, those of a carrier side by side in the order of the cells.
    pub carriers: Vec<Range<usize>>,
    /// Before then no path is looked at again that only interferes.
    pub others_due_at: Time,
    /// Where it was last seen, and when.
    pub seen: (Time, Option<Kinematics>),
    /// The number of its stay there.
    rest: u64,
    /// Where it was at the latest instants at which paths that only interfere are looked at, as far as that was
    /// asked; each at the place of its number.
    on_grid: [Option<(Time, Kinematics, u64)>; INSTANTS],
    /// The shadowing that its paths share, where it measures.
    pub common: CommonShadowing,
}

/// Instants that are remembered: more than looks are made later.
const INSTANTS: usize = 4;

/// The latest multiple of `period` by `at`.
pub(super) fn latest(at: Time, period: Span) -> Time {
    let nanos = at.as_nanos();
    Time::from_nanos(nanos - nanos % period.as_nanos())
}

impl AirUe {
    /// One without paths.
    pub(super) fn new(config: UeConfig, has_recorded_sinr: bool) -> AirUe {
        AirUe {
            noise_factor: from_db(config.noise_figure.0),
            config,
            has_recorded_sinr,
            changes_cells: false,
            carriers: Vec::new(),
            others_due_at: Time::ZERO,
            seen: (Time::ZERO, None),
            rest: 0,
            on_grid: [None; INSTANTS],
            common: CommonShadowing::default(),
        }
    }

    /// Paths of a further carrier.
    pub(super) fn add(&mut self, paths: Range<usize>) {
        self.carriers.push(paths);
        self.others_due_at = Time::ZERO;
    }

    /// All paths of a carrier were looked at that were due; the first is due again at `due_at`.
    pub(super) fn on_looked_around(&mut self, due_at: Time) {
        // Those of another carrier may be due before.
        if self.carriers.len() == 1 {
            self.others_due_at = due_at;
        }
    }

    /// Where it is at `at`.
    pub(super) fn place<M: Motion>(&mut self, at: Time, motion: &mut M) -> Placement {
        // On the way there, as nobody can ask for that later.
        let instant = latest(at, INTERFERING_PERIOD);
        let known = self.on_grid[number(instant)];
        if known.is_none_or(|(of, ..)| of < instant) {
            let there = self.find(instant, motion);
            self.on_grid[number(instant)] = Some((instant, there.ue, there.rest));
        }
        self.find(at, motion)
    }

    /// Where it is at `at`, which may be before what was asked, as long as motion may be asked in any order.
    pub(super) fn place_again<M: Motion>(&self, at: Time, motion: &mut M) -> Placement {
        let ue = motion.at(self.config.node, at);
        // Of no rest that a gain was found in.
        self.placement(ue, u64::MAX)
    }

    /// Where it was at an instant at which paths that only interfere are looked at, if that was asked lately.
    pub(super) fn place_on_grid(&self, instant: Time) -> Option<Placement> {
        let known = self.on_grid[number(instant)].filter(|&(of, ..)| of == instant);
        known.map(|(_, ue, rest)| self.placement(ue, rest))
    }

    /// Where it is at `at`. Legs look on grids of their own, so that one may ask for an instant
    /// before another's; motion is never asked to go back.
    fn find<M: Motion>(&mut self, at: Time, motion: &mut M) -> Placement {
        let ue = match self.seen {
            (seen_at, Some(seen)) if at < seen_at => {
                let back = seen_at.since(at).as_secs_f64();
                let position = seen.position + seen.velocity * -back;
                Kinematics { position, ..seen }
            }
            (_, seen) => {
                let place = motion.at(self.config.node, at);
                self.rest += u64::from(seen.is_none_or(|seen| seen.position != place.position));
                self.seen = (at, Some(place));
                place
            }
        };
        // While it moves, every look is another's.
        self.rest += u64::from(ue.velocity != Vector::default());
        self.placement(ue, self.rest)
    }

    fn placement(&self, ue: Kinematics, rest: u64) -> Placement {
        Placement {
            node: self.config.node,
            ue,
            rest,
            serving_site: None,
        }
    }
}

/// The place of an instant of the grid among those that are remembered.
fn number(instant: Time) -> usize {
    (instant.as_nanos() / INTERFERING_PERIOD.as_nanos()) as usize % INSTANTS
}
