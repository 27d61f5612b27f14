//! Paths between UEs and cells.

use super::AirCell;
use crate::channel::fading::MAX_SUB_BANDS;
use crate::channel::recorded::Series;
use crate::channel::{CommonShadowing, LinkChannel, LinkEnds, Smooth, State, SurroundingsCache};
use crate::config::CellConfig;
use fadeout_core::math::from_db;
use fadeout_core::{CellId, Kinematics, Lattice, Motion, NodeId, Point, Time, Vector};

/// Evaluation state of the path between a UE and a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct RadioPath {
    /// Time of the next evaluation.
    pub due_at: Time,
    /// Number of the UE's position at which the gain was computed. See [`Placement::stay`].
    stay: u64,
    pub cell: CellId,
    /// True if the cell serves the UE.
    pub is_serving: bool,
    /// True if the gain is constant while the UE and the objects around it are at rest.
    pub is_constant: bool,
}

/// Channel of a path.
#[derive(Debug)]
pub(super) struct PathChannel {
    channel: LinkChannel,
    /// Received over transmitted power without fading, dB.
    pub gain_db: f64,
    /// Recorded gain, which replaces the channel's gain. `None` without a recording.
    recorded: Option<Box<RecordedGain>>,
}

/// Gain of a path that is read from a recording.
#[derive(Debug)]
struct RecordedGain {
    series: Series,
    /// True if the channel's fading is added to the recorded gain.
    has_fading: bool,
}

/// Position of a UE. On a path to a non-serving cell, the UE's beam points at `serving_site`. In a
/// repeating plane `serving_site` is the nearest image of the serving cell's site.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub node: NodeId,
    pub ue: Kinematics,
    /// Number of this position, counted from 1. The number stays the same while the UE is at rest.
    /// While the UE moves, each evaluation has a new number.
    pub stay: u64,
    pub serving_site: Option<Point>,
}

/// Results of one UE's path evaluations at one instant. Values that are equal for all cells of a
/// site are computed once.
#[derive(Debug, Default)]
pub(crate) struct InstantCache {
    /// Site in a repeating plane, and the shift to the image of the site that is nearest to the UE.
    /// `None` before the first use.
    shifted: Option<(Point, Lattice, Vector)>,
    surroundings: SurroundingsCache,
}

impl InstantCache {
    /// Returns the shift from the cell's site to the image of the site that is nearest to the UE.
    pub(super) fn shift(&mut self, cell: &CellConfig, ue: Point) -> Vector {
        let Some(lattice) = cell.repeats else {
            return Vector::default();
        };
        match self.shifted {
            Some((site, of, shift)) if site == cell.site && of == lattice => shift,
            _ => {
                let shift = lattice.shift(cell.site, ue);
                self.shifted = Some((cell.site, lattice, shift));
                shift
            }
        }
    }
}

/// Power gain by fading, linear.
pub(super) enum Fade<'a> {
    /// Equal gain over the whole band.
    Flat(f64),
    /// Gain of each sub-band.
    Wideband(&'a [f32]),
}

impl RadioPath {
    pub(super) fn new(cell: CellId, channel: &PathChannel) -> RadioPath {
        RadioPath {
            due_at: Time::ZERO,
            stay: 0,
            cell,
            is_serving: false,
            is_constant: channel.is_constant(),
        }
    }

    /// Returns the gain for a measurement. The gain stored for data does not change, because gains
    /// for data are evaluated at other times.
    pub(super) fn measure_gain<M: Motion>(
        mut self,
        (channel, mut gain): (&mut PathChannel, f64),
        at: (Time, &mut InstantCache),
        placement: &Placement,
        cell: &AirCell,
        motion: &mut M,
    ) -> f64 {
        let before_db = channel.gain_db;
        let now = at.0;
        self.evaluate((&mut *channel, &mut gain), at, placement, cell, motion);
        if channel.channel.holds_beams() {
            // A measurement may use any beam of the cell, not only the beam in use.
            let ends = cell
                .config
                .ends((placement.node, now), placement.ue, motion);
            gain = from_db(channel.candidate_db(now, &ends, false));
        }
        channel.gain_db = before_db;
        gain
    }

    /// Evaluates the gain without fading at the time `at`. The gain is received over transmitted
    /// power, linear.
    pub(super) fn evaluate<M: Motion>(
        &mut self,
        (channel, gain): (&mut PathChannel, &mut f64),
        (at, cache): (Time, &mut InstantCache),
        placement: &Placement,
        cell: &AirCell,
        motion: &mut M,
    ) {
        if self.is_constant && self.stay == placement.stay && !motion.has_vehicles() {
            return;
        }
        self.stay = placement.stay;
        if let Some(recorded) = &channel.recorded {
            channel.gain_db = recorded.series.value_at(at);
            *gain = from_db(channel.gain_db);
            if !recorded.has_fading {
                return;
            }
        }
        let shift = cache.shift(&cell.config, placement.ue.position);
        let site = cell.config.site + shift;
        let mut ends = cell
            .config
            .ends_from(site, (placement.node, at), placement.ue, motion);
        // On an interfering path, the UE's beam points at the serving cell, and the cell's beam at
        // another UE.
        if let Some(serving) = placement.serving_site
            && !self.is_constant
        {
            ends.ue_beam_at = Some(serving);
            ends.base_beam_at = cell.beam_at.map(|at| at + shift);
        }
        let gain_db = channel
            .channel
            .cached_large_scale_db(at, &ends, &mut cache.surroundings);
        if channel.recorded.is_none() {
            channel.gain_db = gain_db;
            *gain = from_db(gain_db);
        }
    }
}

impl PathChannel {
    pub(super) fn new(channel: LinkChannel) -> PathChannel {
        PathChannel {
            channel,
            gain_db: f64::NEG_INFINITY,
            recorded: None,
        }
    }

    /// Returns a bound of the gain's change along the UE's track, without fading and shadowing.
    /// `None` if no bound is known.
    pub(super) fn smooth(&self, cell: &AirCell) -> Option<Smooth> {
        match self.recorded {
            None => self.channel.smooth(cell.levels.unique_m),
            Some(_) => None,
        }
    }

    /// Returns the shadowing loss, as [`LinkChannel::shadowing_db`] does.
    pub(super) fn shadowing_db(&self, ue: Point, common: &mut CommonShadowing) -> [f64; 2] {
        self.channel.shadowing_db(ue, common)
    }

    /// Returns the gain without fading for given positions of both antennas. The path must be
    /// evaluated again before its next use.
    pub(super) fn large_scale_db(&mut self, at: Time, ends: &LinkEnds) -> f64 {
        self.channel.large_scale_db(at, ends)
    }

    /// Calls [`LinkChannel::disable_beam_failure_model`].
    pub(super) fn disable_beam_failure_model(&mut self) {
        self.channel.disable_beam_failure_model();
    }

    /// Calls [`LinkChannel::hold_beams`].
    pub(super) fn hold_beams(&mut self, now: Time, is_failing: bool) {
        self.channel.hold_beams(now, is_failing);
    }

    /// Returns the gain of the best beam other than the beam in use, as
    /// [`LinkChannel::candidate_db`] does. A recorded gain is the same for all beams.
    pub(super) fn candidate_db(&mut self, at: Time, ends: &LinkEnds, is_taken: bool) -> f64 {
        match self.recorded {
            None => self.channel.candidate_db(at, ends, is_taken),
            Some(_) => self.gain_db,
        }
    }

    /// Returns true if the gain is constant while the UE and all other objects are at rest.
    fn is_constant(&self) -> bool {
        self.recorded.is_none() && self.channel.follows_from_the_places()
    }

    /// Returns the state at the last evaluation. Before the first evaluation the state is an
    /// outage.
    pub(super) fn state(&self) -> State {
        let last = self.channel.last_db();
        last.map_or(State::Outage, |(_, state)| state)
    }

    /// Asks the processor for the fields that a channel report reads.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.channel.prefetch();
    }

    /// Prepares the channel for computations beyond its mean gain.
    pub(super) fn make_full(&mut self) {
        self.channel.make_full();
    }

    /// Replaces the channel's gain with a recording.
    pub(super) fn record(&mut self, series: Series, has_fading: bool) {
        self.recorded = Some(Box::new(RecordedGain { series, has_fading }));
    }

    /// Returns the fading at the time `at`. `gains` contains the gains of the sub-bands.
    pub(super) fn fade<'a>(&self, at: Time, gains: &'a mut [f32; MAX_SUB_BANDS]) -> Fade<'a> {
        if self.recorded.as_ref().is_some_and(|it| !it.has_fading) {
            return Fade::Flat(1.0);
        }
        match self.channel.sub_bands() {
            None => Fade::Flat(self.channel.fading_flat(at)),
            Some(sub_bands) => {
                let gains = &mut gains[..sub_bands];
                self.channel.fading(at, gains);
                Fade::Wideband(gains)
            }
        }
    }
}
