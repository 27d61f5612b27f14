//! One UE's link to one cell: everything between the two antennas' ports.

use crate::ends::LinkEnds;
use fadeout_core::{Point, Time};

mod asked;
mod beside;
mod causes;
mod environment;
mod parts;
mod reach;
mod told;
mod way;
mod whole;

pub use beside::Beside;
pub use causes::Causes;
pub use environment::Environment;
pub use parts::{LargeScale, State};
pub use reach::{CommonShadowing, Shadow, Smooth};

use way::Way;
use whole::Whole;

/// Loss in dB of a link in outage or without a beam: nothing is received.
pub const OUTAGE_LOSS_DB: f64 = 500.0;

/// One UE's link to one cell.
///
/// Ask [`large_scale_db`](LinkChannel::large_scale_db) at times that do not go back, then
/// [`fading`](LinkChannel::fading) at any time near. The answers depend on times and places alone,
/// not on how many questions came before: ask at instants that do not depend on traffic (report
/// instants, a fixed grid) and every congestion control meets the same channel.
#[derive(Debug)]
pub struct LinkChannel(Form);

/// How much of a link there is.
#[derive(Debug)]
enum Form {
    /// What its mean gain follows from.
    Aside(Way),
    Whole(Box<Whole>),
}

impl LinkChannel {
    fn new(way: Way) -> LinkChannel {
        let is_plain = way.shared.is_plain;
        let mut link = LinkChannel(Form::Aside(way));
        if !is_plain {
            link.bring_near();
        }
        link
    }

    /// More than its mean gain may be asked for from now on, as of the last look.
    pub fn bring_near(&mut self) {
        if let Form::Aside(way) = &self.0 {
            let mut whole = Box::new(Whole::new(way.again()));
            if let Some((at, ends)) = way.last.map(|last| last.question()) {
                whole.large_scale_beside_db(at, &ends, &mut Beside::default());
            }
            self.0 = Form::Whole(whole);
        }
    }

    fn way(&self) -> &Way {
        match &self.0 {
            Form::Aside(way) => way,
            Form::Whole(whole) => &whole.way,
        }
    }

    fn whole(&self) -> Option<&Whole> {
        match &self.0 {
            Form::Aside(_) => None,
            Form::Whole(whole) => Some(whole),
        }
    }

    fn whole_mut(&mut self) -> Option<&mut Whole> {
        match &mut self.0 {
            Form::Aside(_) => None,
            Form::Whole(whole) => Some(whole),
        }
    }

    /// Received by transmitted power in dB, with antennas and without fading. Asked again for the
    /// same time and ends it costs nothing.
    pub fn large_scale_db(&mut self, now: Time, ends: &LinkEnds) -> f64 {
        self.large_scale_beside_db(now, ends, &mut Beside::default())
    }

    /// The same, with what another antenna of the same mast has found of the way to the UE, if `beside` has
    /// it; it has this one's afterwards.
    pub fn large_scale_beside_db(
        &mut self,
        now: Time,
        ends: &LinkEnds,
        beside: &mut Beside,
    ) -> f64 {
        if let Form::Aside(way) = &mut self.0 {
            if way.is_enough(ends) {
                return way.gain_db(now, ends, beside);
            }
            self.bring_near();
        }
        let whole = self.whole_mut().expect("it was brought near");
        whole.large_scale_beside_db(now, ends, beside)
    }

    /// Whether [`large_scale_db`](LinkChannel::large_scale_db) finds the same whenever the ends and what
    /// is between them are the same, wherever the beams of others point.
    pub fn follows_from_the_places(&self) -> bool {
        self.way().shared.follows_from_the_places()
    }

    /// The parts of the last large-scale gain; of a link that stands aside they are not kept.
    pub fn large_scale(&self) -> &LargeScale {
        self.whole()
            .map_or(&LargeScale::UNKNOWN, |it| &it.large_scale)
    }

    /// The last large-scale gain in dB, and the state that it was found in; none before the first.
    pub fn last_db(&self) -> Option<(f64, State)> {
        self.way().last.map(|last| (last.gain_db, last.state))
    }

    /// How the gain without shadowing may change on the way from where it was found last; none where no bound is known. Only the
    /// nearest of the images of a base station counts, which is surely the same one while the UE is within `unique_m`
    /// of it on the ground.
    pub fn smooth(&self, unique_m: f64) -> Option<Smooth> {
        self.way().smooth(unique_m)
    }

    /// Bounds of the loss by its [shadowing](Shadow) with the UE at `ue`, close to each other, dB; only of a link that has a
    /// [smooth gain](LinkChannel::smooth).
    pub fn shadowing_db(&self, ue: Point, common: &mut CommonShadowing) -> [f64; 2] {
        self.way().shadowing_db(ue, common)
    }

    /// Fading power gain of each sub-band at `t`, linear, mean 1 over places for each antenna of the
    /// receiver. `out` has as many
    /// entries as the configuration has sub-bands; of a flat channel all are the same. Before the
    /// first [`large_scale_db`](LinkChannel::large_scale_db) there is no fading, and none of a link that stands aside.
    pub fn fading(&self, t: Time, out: &mut [f32]) {
        match self.whole() {
            Some(whole) => whole.fading(t, out),
            None => out.fill(1.0),
        }
    }

    /// Fading power gain at `t` of the band as a whole: of a wideband channel the mean over the
    /// sub-bands.
    pub fn fading_flat(&self, t: Time) -> f64 {
        self.whole().map_or(1.0, |whole| whole.fading_flat(t))
    }

    /// Number of sub-bands whose fading differs, as of the last large-scale gain; none when all
    /// fade alike.
    pub fn sub_bands(&self) -> Option<usize> {
        self.whole().and_then(Whole::sub_bands)
    }

    /// Why the link is as it was at the last look; none before the first, and of a link that stands aside. It changes
    /// nothing.
    pub fn causes(&mut self) -> Option<Causes> {
        self.whole_mut().and_then(Whole::causes)
    }

    /// Failure of the beams is found elsewhere from now on. The link's own count of failure instances, and the time that
    /// recovery takes with it, are no more.
    pub fn tell_of_beams(&mut self) {
        if let Some(whole) = self.whole_mut() {
            whole.tell_of_beams();
        }
    }

    /// While `is_failing` better beams are measured, but nobody hears of them: those in use stay. Of no effect on a link
    /// that is not told of its beams.
    pub fn hold_beams(&mut self, now: Time, is_failing: bool) {
        if let Some(whole) = self.whole_mut() {
            whole.hold_beams(now, is_failing);
        }
    }

    /// Whether those in use stay.
    pub fn holds_beams(&self) -> bool {
        self.whole().is_some_and(Whole::holds_beams)
    }

    /// Received by transmitted power in dB by the beams of the latest measurement, or along the reflected path where that
    /// is better: the candidate of recovery. `is_taken` puts them into use; otherwise the link stays as it was.
    pub fn candidate_db(&mut self, now: Time, ends: &LinkEnds, is_taken: bool) -> f64 {
        match self.whole_mut() {
            Some(whole) => whole.candidate_db(now, ends, is_taken),
            None => self.large_scale_db(now, ends),
        }
    }
}
