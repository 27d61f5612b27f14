//! State of a UE in the air: its position, and its paths to cells.

use super::path::Placement;
use crate::channel::CommonShadowing;
use crate::config::UeConfig;
use fadeout_core::math::from_db;
use fadeout_core::{Kinematics, Motion, Span, Time, Vector};
use std::ops::Range;

/// Evaluation period of interfering paths. Evaluation times are multiples of this period,
/// independent of the times at which the gains are used.
pub(super) const INTERFERING_PERIOD: Span = Span::from_millis(100);

/// Antenna of a UE.
#[derive(Debug)]
pub(super) struct AirUe {
    pub config: UeConfig,
    /// Receiver noise over thermal noise (noise figure), linear.
    pub noise_factor: f64,
    /// True if recordings give the SINR to every cell that may serve the UE.
    pub has_recorded_sinr: bool,
    /// True if the UE measures and changes cells.
    pub changes_cells: bool,
    /// Index ranges of the UE's paths. Each range contains the paths of one carrier, in the order
    /// of the cells.
    pub carriers: Vec<Range<usize>>,
    /// Earliest time at which an interfering path must be evaluated.
    pub others_due_at: Time,
    /// Time of the latest position query, and the UE's position and velocity at that time. `None`
    /// before the first query.
    pub last_query: (Time, Option<Kinematics>),
    /// Number of the UE's latest position. See [`Placement::stay`].
    stay: u64,
    /// Positions at recent instants of the interfering paths' grid, each with its number. An entry
    /// exists only if the position at that instant was requested.
    on_grid: [Option<(Time, Kinematics, u64)>; INSTANTS_KEPT],
    /// Shadowing that the UE's paths share in measurements.
    pub common: CommonShadowing,
}

/// Number of recent grid instants whose positions are stored. No query goes back further.
const INSTANTS_KEPT: usize = 4;

/// Returns the latest multiple of `period` up to `at`.
pub(super) fn latest(at: Time, period: Span) -> Time {
    let nanos = at.as_nanos();
    Time::from_nanos(nanos - nanos % period.as_nanos())
}

impl AirUe {
    /// Builds a UE without paths.
    pub(super) fn new(config: UeConfig, has_recorded_sinr: bool) -> AirUe {
        AirUe {
            noise_factor: from_db(config.noise_figure.0),
            config,
            has_recorded_sinr,
            changes_cells: false,
            carriers: Vec::new(),
            others_due_at: Time::ZERO,
            last_query: (Time::ZERO, None),
            stay: 0,
            on_grid: [None; INSTANTS_KEPT],
            common: CommonShadowing::default(),
        }
    }

    /// Adds the paths on another carrier.
    pub(super) fn add_carrier(&mut self, paths: Range<usize>) {
        self.carriers.push(paths);
        self.others_due_at = Time::ZERO;
    }

    /// Records that all due paths of a carrier were evaluated. `due_at` is the time of the next
    /// evaluation.
    pub(super) fn on_paths_evaluated(&mut self, due_at: Time) {
        // With several carriers, the paths on another carrier may be due earlier.
        if self.carriers.len() == 1 {
            self.others_due_at = due_at;
        }
    }

    /// Returns the position of the UE at `at`.
    pub(super) fn place<M: Motion>(&mut self, at: Time, motion: &mut M) -> Placement {
        // The position at the grid instant is computed first, because motion queries must not go
        // back in time.
        let instant = latest(at, INTERFERING_PERIOD);
        let known = self.on_grid[ring_index(instant)];
        if known.is_none_or(|(of, ..)| of < instant) {
            let there = self.query_place(instant, motion);
            self.on_grid[ring_index(instant)] = Some((instant, there.ue, there.stay));
        }
        self.query_place(at, motion)
    }

    /// Returns the position of the UE at `at`, which may be earlier than a previous query. The
    /// motion must allow queries about `at` in any order.
    pub(super) fn place_earlier<M: Motion>(&self, at: Time, motion: &mut M) -> Placement {
        let ue = motion.kinematics_at(self.config.node, at);
        // No position has this number, so no stored gain is reused.
        self.placement(ue, u64::MAX)
    }

    /// Returns the position at an instant of the interfering paths' grid. `None` unless that
    /// position was requested recently.
    pub(super) fn place_on_grid(&self, instant: Time) -> Option<Placement> {
        let known = self.on_grid[ring_index(instant)].filter(|&(of, ..)| of == instant);
        known.map(|(_, ue, stay)| self.placement(ue, stay))
    }

    /// Returns the position of the UE at `at`. The grids of legs differ, so a query may go back in
    /// time a little. Motion queries must not go back in time, so an earlier position is
    /// extrapolated.
    fn query_place<M: Motion>(&mut self, at: Time, motion: &mut M) -> Placement {
        let ue = match self.last_query {
            (seen_at, Some(last_query)) if at < seen_at => {
                let back = seen_at.since(at).as_secs_f64();
                let position = last_query.position + last_query.velocity * -back;
                Kinematics {
                    position,
                    ..last_query
                }
            }
            (_, last_query) => {
                let place = motion.kinematics_at(self.config.node, at);
                self.stay += u64::from(
                    last_query.is_none_or(|last_query| last_query.position != place.position),
                );
                self.last_query = (at, Some(place));
                place
            }
        };
        // While the UE moves, every query gets a new number.
        self.stay += u64::from(ue.velocity != Vector::default());
        self.placement(ue, self.stay)
    }

    fn placement(&self, ue: Kinematics, stay: u64) -> Placement {
        Placement {
            node: self.config.node,
            ue,
            stay,
            serving_site: None,
        }
    }
}

/// Returns the index of a grid instant in `on_grid`.
fn ring_index(instant: Time) -> usize {
    (instant.as_nanos() / INTERFERING_PERIOD.as_nanos()) as usize % INSTANTS_KEPT
}
