//! The paths between UEs and cells.

use super::AirCell;
use crate::channel::LinkChannel;
use crate::channel::State;
use crate::channel::fading::MAX_SUB_BANDS;
use crate::channel::recorded::Series;
use fadeout_core::math::from_db;
use fadeout_core::{CellId, Kinematics, Motion, NodeId, Point, Time};

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
    stays: bool,
}

/// The channel behind a path.
#[derive(Debug)]
pub(super) struct PathChannel {
    channel: LinkChannel,
    /// Received by transmitted power without fading, in dB.
    pub gain_db: f64,
    /// The gain in place of the channel's.
    recorded: Option<RecordedGain>,
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

    /// Looks at the slow gain as of `at`: received by transmitted power without fading, linear.
    pub(super) fn look<M: Motion>(
        &mut self,
        (channel, gain): (&mut PathChannel, &mut f64),
        at: Time,
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
        let mut ends = cell.config.ends((placement.node, at), placement.ue, motion);
        // Beams of a path that only disturbs point at others.
        if let Some(serving) = placement.serving_site {
            ends.ue_beam_at = Some(serving);
            ends.base_beam_at = cell
                .beam_at
                .map(|at| at + cell.config.shift_toward(placement.ue.position));
        }
        let gain_db = channel.channel.large_scale_db(at, &ends);
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

    /// Whether its gain stays while nothing moves.
    fn stays(&self) -> bool {
        self.recorded.is_none() && self.channel.follows_from_the_places()
    }

    /// Its state when it was last looked at.
    pub(super) fn state(&self) -> State {
        self.channel.large_scale().state
    }

    /// Takes the gain from a recording.
    pub(super) fn record(&mut self, series: Series, has_fading: bool) {
        self.recorded = Some(RecordedGain { series, has_fading });
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
