//! The paths between UEs and cells.

use super::AirCell;
use crate::channel::fading::MAX_SUB_BANDS;
use crate::channel::recorded::Series;
use crate::channel::{Beside, CommonShadowing, LinkChannel, LinkEnds, Smooth, State};
use crate::config::CellConfig;
use fadeout_core::math::from_db;
use fadeout_core::{CellId, Kinematics, Lattice, Motion, NodeId, Point, Time, Vector};

/// When the gain of the path between a UE and a cell is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct RadioPath {
    /// When the gain is looked at again.
    pub due_at: Time,
    /// The rest of the UE that the gain was found in; see [`Placement`].
    found_in: u64,
    pub cell: CellId,
    /// Whether the cell serves the UE.
    pub is_serving: bool,
    /// Whether the gain stays while the UE and everything around it does.
    pub stays: bool,
}

/// The channel behind a path.
#[derive(Debug)]
pub(super) struct PathChannel {
    channel: LinkChannel,
    /// Received by transmitted power without fading, in dB.
    pub gain_db: f64,
    /// The gain in place of the channel's.
    recorded: Option<Box<RecordedGain>>,
}

/// A gain that comes from a recording.
#[derive(Debug)]
struct RecordedGain {
    series: Series,
    /// Whether the channel's fading lies on top.
    has_fading: bool,
}

/// Where a UE is, and the cell that its beam points at if that is not the one at the path's other
/// end: the image of it that the UE hears.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub node: NodeId,
    pub ue: Kinematics,
    /// The number of the UE's stay at this place, from 1 on; a UE that moves begins another with each look.
    pub rest: u64,
    pub serving_site: Option<Point>,
}

/// Looks at paths of one UE one after the other, at one instant: what the cells of a site have in common is found
/// once.
#[derive(Debug, Default)]
pub(crate) struct Round {
    /// A site in a plane that repeats itself, and how far its image that is nearest to the UE is shifted.
    shifted: Option<(Point, Lattice, Vector)>,
    beside: Beside,
}

impl Round {
    /// How far the image of the cell's site that is nearest to the UE is shifted.
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

/// Fading power gain, linear.
pub(super) enum Fade<'a> {
    /// The same over the band.
    Flat(f64),
    /// Of each sub-band.
    Wideband(&'a [f32]),
}

impl RadioPath {
    pub(super) fn new(cell: CellId, channel: &PathChannel) -> RadioPath {
        RadioPath {
            due_at: Time::ZERO,
            found_in: 0,
            cell,
            is_serving: false,
            stays: channel.stays(),
        }
    }

    /// Looks at the gain for a measurement. What data goes by stays: it is looked at on a grid of its own.
    pub(super) fn look_aside<M: Motion>(
        mut self,
        (channel, mut gain): (&mut PathChannel, f64),
        at: (Time, &mut Round),
        placement: &Placement,
        cell: &AirCell,
        motion: &mut M,
    ) -> f64 {
        let before_db = channel.gain_db;
        let now = at.0;
        self.look((&mut *channel, &mut gain), at, placement, cell, motion);
        if channel.channel.holds_beams() {
            // What is measured of a cell are all its beams, not the one that is in use.
            let ends = cell
                .config
                .ends((placement.node, now), placement.ue, motion);
            gain = from_db(channel.candidate_db(now, &ends, false));
        }
        channel.gain_db = before_db;
        gain
    }

    /// Looks at the slow gain as of `at`: received by transmitted power without fading, linear.
    pub(super) fn look<M: Motion>(
        &mut self,
        (channel, gain): (&mut PathChannel, &mut f64),
        (at, round): (Time, &mut Round),
        placement: &Placement,
        cell: &AirCell,
        motion: &mut M,
    ) {
        if self.stays && self.found_in == placement.rest && !motion.has_vehicles() {
            return;
        }
        self.found_in = placement.rest;
        if let Some(recorded) = &channel.recorded {
            channel.gain_db = recorded.series.at(at);
            *gain = from_db(channel.gain_db);
            if !recorded.has_fading {
                return;
            }
        }
        let shift = round.shift(&cell.config, placement.ue.position);
        let site = cell.config.site + shift;
        let mut ends = cell
            .config
            .ends_from(site, (placement.node, at), placement.ue, motion);
        // Beams of a path that only disturbs point at others.
        if let Some(serving) = placement.serving_site
            && !self.stays
        {
            ends.ue_beam_at = Some(serving);
            ends.base_beam_at = cell.beam_at.map(|at| at + shift);
        }
        let gain_db = channel
            .channel
            .large_scale_beside_db(at, &ends, &mut round.beside);
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

    /// How the slow gain without shadowing may change from where it was looked at last; none where no bound is known.
    pub(super) fn smooth(&self, cell: &AirCell) -> Option<Smooth> {
        match self.recorded {
            None => self.channel.smooth(cell.levels.unique_m),
            Some(_) => None,
        }
    }

    /// As [`LinkChannel::shadowing_db`].
    pub(super) fn shadowing_db(&self, ue: Point, common: &mut CommonShadowing) -> [f64; 2] {
        self.channel.shadowing_db(ue, common)
    }

    /// The slow gain at given ends. Another look is needed before anything else is asked.
    pub(super) fn find_db(&mut self, at: Time, ends: &LinkEnds) -> f64 {
        self.channel.large_scale_db(at, ends)
    }

    /// As [`LinkChannel::tell_of_beams`].
    pub(super) fn tell_of_beams(&mut self) {
        self.channel.tell_of_beams();
    }

    /// As [`LinkChannel::hold_beams`].
    pub(super) fn hold_beams(&mut self, now: Time, is_failing: bool) {
        self.channel.hold_beams(now, is_failing);
    }

    /// As [`LinkChannel::candidate_db`]; a recorded gain has no other beams.
    pub(super) fn candidate_db(&mut self, at: Time, ends: &LinkEnds, is_taken: bool) -> f64 {
        match self.recorded {
            None => self.channel.candidate_db(at, ends, is_taken),
            Some(_) => self.gain_db,
        }
    }

    /// Whether its gain stays while nothing moves.
    fn stays(&self) -> bool {
        self.recorded.is_none() && self.channel.follows_from_the_places()
    }

    /// Its state when it was last looked at.
    pub(super) fn state(&self) -> State {
        let last = self.channel.last_db();
        last.map_or(State::Outage, |(_, state)| state)
    }

    /// More than its mean gain is asked for from now on.
    pub(super) fn bring_near(&mut self) {
        self.channel.bring_near();
    }

    /// Takes the gain from a recording.
    pub(super) fn record(&mut self, series: Series, has_fading: bool) {
        self.recorded = Some(Box::new(RecordedGain { series, has_fading }));
    }

    /// The fading at `at`; that of the sub-bands goes into `gains`.
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
