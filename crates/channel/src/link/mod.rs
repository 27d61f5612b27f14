//! Link between one UE and one cell: everything between the connectors of their antennas.

use crate::ends::LinkEnds;
use fadeout_core::{Point, Time};

mod caller_beams;
mod causes;
mod environment;
mod full_link;
mod latest_ends;
mod link_path;
mod parts;
mod reach;
mod surroundings;

pub use causes::Causes;
pub use environment::Environment;
pub use parts::{LargeScale, State};
pub use reach::{CommonShadowing, Shadow, Smooth};
pub use surroundings::SurroundingsCache;

use full_link::FullLink;
use link_path::LinkPath;

/// Loss in dB of a link in outage or without a beam. The UE receives nothing.
pub const OUTAGE_LOSS_DB: f64 = 500.0;

/// Link between one UE and one cell.
///
/// First call [`large_scale_db`](LinkChannel::large_scale_db) at times that do not go back. Then
/// call [`fading`](LinkChannel::fading) at any time near the last one. The results depend only on
/// times and positions, not on the number of earlier calls. If the times do not depend on traffic,
/// every congestion control meets the same channel. This holds for the times of channel reports and
/// for a fixed time grid.
#[derive(Debug)]
pub struct LinkChannel(Form);

/// Reduced or full form of a link.
#[derive(Debug)]
enum Form {
    /// Reduced form, which computes only the mean gain.
    Reduced(LinkPath),
    Full(Box<FullLink>),
}

impl LinkChannel {
    fn new(path: LinkPath) -> LinkChannel {
        let is_plain = path.shared.is_plain;
        let mut link = LinkChannel(Form::Reduced(path));
        if !is_plain {
            link.make_full();
        }
        link
    }

    /// Turns a reduced link into a full link, with the state of the last evaluation.
    pub fn make_full(&mut self) {
        if let Form::Reduced(path) = &self.0 {
            let mut full = Box::new(FullLink::new(path.fresh_copy()));
            if let Some((at, ends)) = path.last.map(|last| last.time_and_ends()) {
                full.cached_large_scale_db(at, &ends, &mut SurroundingsCache::default());
            }
            self.0 = Form::Full(full);
        }
    }

    fn path(&self) -> &LinkPath {
        match &self.0 {
            Form::Reduced(path) => path,
            Form::Full(full) => &full.path,
        }
    }

    fn full(&self) -> Option<&FullLink> {
        match &self.0 {
            Form::Reduced(_) => None,
            Form::Full(full) => Some(full),
        }
    }

    fn full_mut(&mut self) -> Option<&mut FullLink> {
        match &mut self.0 {
            Form::Reduced(_) => None,
            Form::Full(full) => Some(full),
        }
    }

    /// Returns the ratio of received to transmitted power in dB, including antenna gains and
    /// without fading. A repeated call for the same time and ends returns the stored result.
    pub fn large_scale_db(&mut self, now: Time, ends: &LinkEnds) -> f64 {
        self.cached_large_scale_db(now, ends, &mut SurroundingsCache::default())
    }

    /// Returns the result of [`large_scale_db`](LinkChannel::large_scale_db). `cache` contains path
    /// losses of this UE. If another antenna of the same mast has filled the cache, its values are
    /// used. Otherwise this call fills the cache.
    pub fn cached_large_scale_db(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        cache: &mut SurroundingsCache,
    ) -> f64 {
        if let Form::Reduced(path) = &mut self.0 {
            if path.is_enough(ends) {
                return path.gain_db(now, ends, cache);
            }
            self.make_full();
        }
        let full = self.full_mut().expect("it was brought near");
        full.cached_large_scale_db(now, ends, cache)
    }

    /// Returns true if [`large_scale_db`](LinkChannel::large_scale_db) depends only on the ends and
    /// on obstacles between them. Time and beams toward other nodes then have no effect.
    pub fn follows_from_the_places(&self) -> bool {
        self.path().shared.follows_from_the_places()
    }

    /// Returns the parts of the last large-scale gain. A reduced link does not store the parts, so
    /// they are unknown.
    pub fn large_scale(&self) -> &LargeScale {
        self.full()
            .map_or(&LargeScale::UNKNOWN, |it| &it.large_scale)
    }

    /// Returns the last large-scale gain in dB and its LOS state. `None` before the first
    /// evaluation.
    pub fn last_db(&self) -> Option<(f64, State)> {
        self.path().last.map(|last| (last.gain_db, last.state))
    }

    /// Returns bounds of the gain without shadowing around the UE's position at the last
    /// evaluation. `None` if no bound is known. The base station may have several images, of which
    /// only the nearest is used. It must remain the nearest while the UE moves by less than
    /// `unique_m` on the ground.
    pub fn smooth(&self, unique_m: f64) -> Option<Smooth> {
        self.path().smooth(unique_m)
    }

    /// Returns the lower and upper bound of the [shadowing](Shadow) loss with the UE at `ue`, dB.
    /// The bounds are valid only if [`smooth`](LinkChannel::smooth) returns bounds.
    pub fn shadowing_db(&self, ue: Point, common: &mut CommonShadowing) -> [f64; 2] {
        self.path().shadowing_db(ue, common)
    }

    /// Asks the processor for the fields from which the fading is computed.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(full) = self.full() {
            fadeout_core::prefetch(full);
        }
    }

    /// Computes the fading power gain of each sub-band at `t`, linear. Its mean over positions is 1
    /// for each receive antenna. `out` has one entry for each sub-band of the configuration. For a
    /// flat channel all entries are equal. For a reduced link, and before the first
    /// [`large_scale_db`](LinkChannel::large_scale_db), all entries are 1.
    pub fn fading(&self, t: Time, out: &mut [f32]) {
        match self.full() {
            Some(full) => full.fading(t, out),
            None => out.fill(1.0),
        }
    }

    /// Returns the fading power gain of the whole band at `t`. For a wideband channel it is the
    /// mean over the sub-bands.
    pub fn fading_flat(&self, t: Time) -> f64 {
        self.full().map_or(1.0, |full| full.fading_flat(t))
    }

    /// Returns the number of sub-bands with different fading at the last large-scale gain. `None`
    /// if all sub-bands have the same fading.
    pub fn sub_bands(&self) -> Option<usize> {
        self.full().and_then(FullLink::sub_bands)
    }

    /// Returns the losses by their causes at the last evaluation. `None` before the first
    /// evaluation, and for a reduced link. The call does not change later results of the link.
    pub fn causes(&mut self) -> Option<Causes> {
        self.full_mut().and_then(FullLink::causes)
    }

    /// Leaves beam failure detection and recovery to the caller. The link then counts no failure
    /// instances, and recovery never interrupts reception.
    pub fn disable_beam_failure_model(&mut self) {
        if let Some(full) = self.full_mut() {
            full.disable_beam_failure_model();
        }
    }

    /// Freezes the beams in use while `is_failing` is true, because reports of better beams do not
    /// arrive. The call has no effect unless
    /// [`disable_beam_failure_model`](LinkChannel::disable_beam_failure_model) was called.
    pub fn hold_beams(&mut self, now: Time, is_failing: bool) {
        if let Some(full) = self.full_mut() {
            full.hold_beams(now, is_failing);
        }
    }

    /// Returns true if the beams in use are frozen.
    pub fn holds_beams(&self) -> bool {
        self.full().is_some_and(FullLink::holds_beams)
    }

    /// Returns the ratio of received to transmitted power in dB with the candidate beams of
    /// recovery. The candidates are the beams of the latest measurement, or beams along the
    /// reflected path if that path is better. If `is_taken` is true, the candidates become the
    /// beams in use. Otherwise the link does not change.
    pub fn candidate_db(&mut self, now: Time, ends: &LinkEnds, is_taken: bool) -> f64 {
        match self.full_mut() {
            Some(full) => full.candidate_db(now, ends, is_taken),
            None => self.large_scale_db(now, ends),
        }
    }
}
