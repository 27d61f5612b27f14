//! The end of a bearer's way: end markers, and what comes behind them.
//!
//! Standard: TS 38.300 §9.2.3.2; TS 36.300 §10.1.2.

use super::transfer::{Journey, Travel};
use crate::config::Fate;
use fadeout_core::{Span, Time};

impl Travel<'_> {
    /// The core sends over the new path from now on, and `markers` end markers over the old one.
    pub(crate) fn on_path_switch(&mut self, now: Time, markers: u32, marker_timeout: Span) {
        if let Some(journey) = self.journey() {
            journey.markers = Some(journey.markers.unwrap_or(0) + markers);
            if journey.guard_at.is_never() {
                // The first packet of the new path may never come.
                journey.guard_at = now.saturating_add(marker_timeout * 2);
            }
        }
        self.conclude(now);
    }

    /// An end marker is at the source. Whether it waits there until it is known where the UE is.
    pub(crate) fn keep_marker(&mut self) -> bool {
        let kept = |journey: &&mut Journey| journey.fate == Fate::Kept && journey.has_left;
        let journey = self.journey().filter(kept);
        journey.map(|journey| journey.kept_markers += 1).is_some()
    }

    /// How many end markers have waited; none do from now on.
    pub(crate) fn take_markers(&mut self) -> u32 {
        let journey = self.journey();
        journey.map_or(0, |journey| std::mem::take(&mut journey.kept_markers))
    }

    /// An end marker is at the target.
    pub(crate) fn on_end_marker(&mut self, now: Time) {
        if let Some(journey) = self.journey() {
            journey.markers = journey.markers.map(|markers| markers.saturating_sub(1));
        }
        self.conclude(now);
    }

    /// An end marker is lost.
    pub(crate) fn on_guard(&mut self, now: Time) {
        if let Some(journey) = self.journey()
            && journey.guard_at <= now
        {
            journey.guard_at = Time::NEVER;
            journey.markers = Some(0);
        }
        self.conclude(now);
    }

    /// Once nothing comes from the source any more, what came over the new path follows.
    pub(super) fn conclude(&mut self, now: Time) {
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let is_over = |journey: &mut Journey| journey.has_resumed && journey.markers == Some(0);
        if let Some(mut journey) = transfer.journey.take_if(is_over) {
            let last = self.drb.inlet.back().map_or(now, |&(at, _)| at.max(now));
            for packet in journey.direct.drain(..) {
                self.drb.inlet.push((last, packet));
            }
            if let Some(copies) = &mut transfer.copies {
                copies.settle();
            }
        }
    }
}
