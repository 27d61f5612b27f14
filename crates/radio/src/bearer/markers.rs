//! End of a change of cell: end markers, and the packets of the new path that follow them.
//!
//! Standard: TS 38.300 §9.2.3.2; TS 36.300 §10.1.2.

use super::transfer::{CellChange, MobileBearer};
use crate::config::Fate;
use fadeout_core::{Span, Time};

impl MobileBearer<'_> {
    /// Handles the path switch. The core now sends over the new path, after it has sent `markers`
    /// end markers over the old path.
    pub(crate) fn on_path_switch(&mut self, now: Time, markers: u32, marker_timeout: Span) {
        if let Some(change) = self.change() {
            change.markers = Some(change.markers.unwrap_or(0) + markers);
            if change.guard_at.is_never() {
                // The first packet of the new path may never come, so the timer starts here too.
                change.guard_at = now.saturating_add(marker_timeout * 2);
            }
        }
        self.conclude(now);
    }

    /// Handles an end marker at the source. Returns true if the source keeps the end marker,
    /// because the UE's new cell is not known yet.
    pub(crate) fn keep_marker(&mut self) -> bool {
        let kept = |change: &&mut CellChange| change.fate == Fate::Kept && change.has_left;
        let change = self.change().filter(kept);
        change.map(|change| change.kept_markers += 1).is_some()
    }

    /// Returns the number of end markers that the source has kept, and resets it.
    pub(crate) fn take_markers(&mut self) -> u32 {
        let change = self.change();
        change.map_or(0, |change| std::mem::take(&mut change.kept_markers))
    }

    /// Handles an end marker at the target.
    pub(crate) fn on_end_marker(&mut self, now: Time) {
        if let Some(change) = self.change() {
            change.markers = change.markers.map(|markers| markers.saturating_sub(1));
        }
        self.conclude(now);
    }

    /// Handles the timeout of an end marker, which is then considered lost.
    pub(crate) fn on_guard(&mut self, now: Time) {
        if let Some(change) = self.change()
            && change.guard_at <= now
        {
            change.guard_at = Time::NEVER;
            change.markers = Some(0);
        }
        self.conclude(now);
    }

    /// Ends the change of cell if the UE is in the target and no end marker is awaited. Packets of
    /// the new path are then sent.
    pub(super) fn conclude(&mut self, now: Time) {
        let Some(transfer) = &mut self.drb.transfer.0 else {
            return;
        };
        let is_over = |change: &mut CellChange| change.has_resumed && change.markers == Some(0);
        if let Some(mut change) = transfer.change.take_if(is_over) {
            let last = self.drb.inlet.back().map_or(now, |&(at, _)| at.max(now));
            for packet in change.direct.drain(..) {
                self.drb.inlet.push((last, packet));
            }
            if let Some(copies) = &mut transfer.copies {
                copies.on_change_ended();
            }
        }
    }
}
