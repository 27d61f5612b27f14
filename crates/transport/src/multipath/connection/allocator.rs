//! Allocation of data to paths at departure. The allocator handles new data, data stranded on
//! failed paths, copies, and opportunistic retransmission.

#[cfg(test)]
mod tests;

use super::outbound::Outbound;
use super::path::{Mappings, Paths};
use crate::congestion::RecoveryState;
use crate::multipath::reinjection::{Reinjection, Stranded};
use crate::multipath::scheduler::fastest;
use crate::multipath::{
    Choice, Demand, MAX_PATHS, PathId, PathScheduler, PathSchedulerKind, PathView,
};
use arrayvec::ArrayVec;
use fadeout_core::Time;

/// Largest amount of data that the connection's timer retransmits at once, bytes. An sk_buff of a
/// subflow has about this size.
const DATA_TIMER_BYTES: u64 = 65_428;

/// Contiguous range of data offered to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: u64,
    pub(super) bytes: u64,
    pub(super) source: Source,
}

/// Origin of the data in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Nothing to send.
    Nothing,
    /// Data that was not sent before.
    New,
    /// Data that waited on the path.
    Waiting {
        /// True if the data was bound to a path before. The path then sends it again.
        is_again: bool,
    },
    /// Data that is stranded on another path. The number is its index in the reinjection queue.
    Stranded(usize),
    /// Copy that a redundant scheduler sends.
    Copy,
    /// Oldest unacknowledged data, retransmitted opportunistically on a faster path.
    Head,
}

impl Run {
    pub(super) const NOTHING: Run = Run {
        start: 0,
        bytes: 0,
        source: Source::Nothing,
    };
}

/// Next action of the allocator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Decision {
    /// Path and the data that it may send. `None` if nothing is sent.
    pub(super) run: Option<(usize, Run)>,
    /// Path whose window is halved first, because it blocks the other paths. `None` if there is
    /// none.
    pub(super) penalised: Option<usize>,
}

impl From<Option<(usize, Run)>> for Decision {
    fn from(run: Option<(usize, Run)>) -> Decision {
        Decision {
            run,
            penalised: None,
        }
    }
}

/// Allocator's state of one path.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    /// True if the retransmission timer of the path expired. Its data was then given to other
    /// paths.
    is_stranded: bool,
    timeouts_in_a_row: u32,
    /// Next data sequence number that a redundant scheduler sends on the path.
    cursor: u64,
    /// End of the data that was retransmitted opportunistically on this path.
    opportunistic_up_to: u64,
    penalised_at: Time,
}

/// Allocator of data to the paths of a connection.
#[derive(Debug)]
pub(super) struct Allocator {
    scheduler: PathSchedulerKind,
    opportunistic_retransmission: bool,
    penalisation: bool,
    reinjection: Reinjection,
    paths: ArrayVec<Record, MAX_PATHS>,
}

impl Allocator {
    /// Returns an allocator for `paths` paths. See [`crate::multipath::MultipathConfig`].
    pub(super) fn new(
        scheduler: PathSchedulerKind,
        paths: usize,
        opportunistic_retransmission: bool,
        penalisation: bool,
    ) -> Allocator {
        Allocator {
            scheduler,
            opportunistic_retransmission,
            penalisation,
            reinjection: Reinjection::default(),
            paths: (0..paths).map(|_| Record::default()).collect(),
        }
    }

    /// Returns the next data to send and its path. `expecting` is a path whose window is about to
    /// open. `refused` is a bit mask of paths that did not send an offered range.
    pub(super) fn next_run(
        &mut self,
        now: Time,
        data: &Outbound,
        paths: &impl Paths,
        expecting: Option<usize>,
        refused: u8,
    ) -> Decision {
        let unsent = data.unsent();
        if unsent == 0 && self.reinjection.is_empty() && !self.scheduler.is_redundant() {
            return Decision::default();
        }
        let views = views(paths, expecting, refused);
        let preferred = expecting
            .and_then(|index| views.iter().find(|view| view.id.index() == index))
            .or(fastest(&views).1)
            .filter(|view| view.has_room);
        let Some(preferred) = preferred.map(|view| view.id.index()) else {
            return Decision::default();
        };
        if let Some(run) = self.repeated(data, &views, preferred) {
            return Some(run).into();
        }
        if unsent == 0 {
            return Decision::default();
        }
        let mss = u64::from(paths.window(preferred).mss);
        let mut bytes = unsent;
        // With a single path the window of the path is also the connection's window.
        if self.paths.len() > 1 {
            let room = data.window_end().saturating_sub(data.nxt());
            if room < unsent.min(mss) {
                return self.when_blocked(now, preferred, &views, data, paths);
            }
            if room < unsent {
                bytes = room - room % mss;
            }
        }
        let demand = Demand {
            now,
            unsent,
            window: data.window_end().saturating_sub(data.una()),
        };
        let (index, most) = match self.scheduler.choose(&demand, &views) {
            Choice::Path { path, bytes } => (path.index(), bytes),
            Choice::All => (preferred, u64::MAX),
            Choice::Wait => return Decision::default(),
        };
        debug_assert!(most > 0, "a scheduler chose a path for no data");
        let run = Run {
            start: data.nxt(),
            bytes: bytes.min(most),
            source: Source::New,
        };
        Some((index, run)).into()
    }

    /// Returns data that another path sent before: stranded data, or copies. `preferred` is tried
    /// first. `None` if there is none.
    fn repeated(
        &mut self,
        data: &Outbound,
        views: &[PathView],
        preferred: usize,
    ) -> Option<(usize, Run)> {
        let with_room = views.iter().filter(|view| view.has_room);
        let candidates = std::iter::once(preferred).chain(with_room.map(|view| view.id.index()));
        if !self.reinjection.is_empty() {
            for index in candidates.clone() {
                let path = PathId(index as u8);
                if let Some((number, range)) = self.reinjection.next_for(path, data.una()) {
                    let run = Run {
                        start: range.start,
                        bytes: range.end - range.start,
                        source: Source::Stranded(number),
                    };
                    return Some((index, run));
                }
            }
        }
        if self.scheduler.is_redundant() {
            for index in candidates {
                let start = self.paths[index].cursor.max(data.una());
                if start < data.nxt() {
                    let run = Run {
                        start,
                        bytes: data.nxt() - start,
                        source: Source::Copy,
                    };
                    return Some((index, run));
                }
            }
        }
        None
    }

    /// Returns the decision when the peer's window is full. The head of the line may be
    /// retransmitted on a path that is much faster than the path that carried it first. The window
    /// of the slower path is halved.
    fn when_blocked(
        &mut self,
        now: Time,
        index: usize,
        views: &[PathView],
        data: &Outbound,
        paths: &impl Paths,
    ) -> Decision {
        self.scheduler.on_blocked();
        let una = data.una();
        if una == data.nxt() {
            // If no data is outstanding, the subflow probes the closed window with this data.
            let run = Run {
                start: una,
                bytes: u64::from(paths.window(index).mss).min(data.unsent()),
                source: Source::New,
            };
            let is_idle = paths.view(index).in_flight == 0;
            return is_idle.then_some((index, run)).into();
        }
        let nothing = Decision::default();
        if !self.opportunistic_retransmission {
            return nothing;
        }
        let Some(fast) = views.iter().find(|view| view.id.index() == index) else {
            return nothing;
        };
        if self.paths[index].opportunistic_up_to > una {
            return nothing;
        }
        let mut holders = (0..paths.count())
            .filter_map(|number| Some((number, paths.mappings(number).mapping_of(una)?)));
        let Some((slow, mapping)) = holders.next() else {
            return nothing;
        };
        if slow == index || paths.mappings(index).mapping_of(una).is_some() {
            return nothing;
        }
        let held_up = paths.view(slow);
        let mut penalised = None;
        if self.penalisation
            && fast.srtt < held_up.srtt
            && held_up.recovery_state == RecoveryState::Open
            && now.since(self.paths[slow].penalised_at) >= fast.srtt
        {
            self.paths[slow].penalised_at = now;
            penalised = Some(slow);
        }
        let is_much_faster = paths.window(slow).cwnd <= 4.0 || held_up.srtt > fast.srtt * 4;
        let run = Run {
            start: una,
            bytes: mapping.data_end() - una,
            source: Source::Head,
        };
        Decision {
            run: is_much_faster.then_some((index, run)),
            penalised,
        }
    }

    /// Records that path `index` sent `bytes` of a run. All data up to `nxt` has been sent at least
    /// once.
    pub(super) fn on_sent(&mut self, index: usize, run: Run, bytes: u64, nxt: u64) {
        match run.source {
            Source::New => {
                self.paths[index].cursor = nxt;
                if bytes > 0 {
                    self.scheduler.on_sent(PathId(index as u8));
                }
            }
            Source::Stranded(range) if bytes > 0 => self.reinjection.on_sent(range, bytes),
            Source::Copy => self.paths[index].cursor = run.start + bytes,
            Source::Head => self.paths[index].opportunistic_up_to = run.start + bytes,
            Source::Nothing | Source::Waiting { .. } | Source::Stranded(_) => {}
        }
    }

    /// Strands the outstanding data of a path, so that other paths carry it.
    pub(super) fn strand(&mut self, index: usize, una: u64, mappings: &Mappings) {
        for mapping in mappings.sent() {
            if mapping.data_end() > una {
                self.reinjection.add(Stranded {
                    start: mapping.data_seq,
                    end: mapping.data_end(),
                    from: PathId(index as u8),
                });
            }
        }
        self.paths[index].is_stranded = true;
    }

    /// Strands the data of a subflow after a timeout, and removes it from the queue once the
    /// subflow works again.
    pub(super) fn follow_timeouts(&mut self, index: usize, una: u64, paths: &impl Paths) {
        let timeouts = paths.view(index).timeouts_in_a_row;
        let record = &mut self.paths[index];
        let was = std::mem::replace(&mut record.timeouts_in_a_row, timeouts);
        if timeouts > was && !record.is_stranded {
            self.strand(index, una, paths.mappings(index));
        } else if timeouts == 0 && record.is_stranded && !paths.is_gone(index) {
            record.is_stranded = false;
            self.reinjection.forget(PathId(index as u8));
        }
    }

    /// Retransmits the data at `una` on an idle path, because it stayed unacknowledged for a
    /// timeout.
    pub(super) fn on_stalled(&mut self, una: u64, paths: &impl Paths) {
        let is_idle = |index: usize| {
            paths.is_usable(index)
                && paths.mappings(index).sent().next().is_none()
                && !self.paths[index].is_stranded
        };
        if !(0..paths.count()).any(is_idle) {
            return;
        }
        let holds = |index: &usize| paths.mappings(*index).mapping_of(una).is_some();
        let Some(holder) = (0..paths.count()).find(holds) else {
            return;
        };
        let mut end = una;
        for mapping in paths.mappings(holder).sent() {
            if mapping.data_seq <= end && mapping.data_end() > end && end < una + DATA_TIMER_BYTES {
                end = mapping.data_end();
            }
        }
        self.reinjection.add(Stranded {
            start: una,
            end,
            from: PathId(holder as u8),
        });
    }
}

/// Returns the paths that may carry data: regular paths that work, else backup paths that work,
/// else any path.
fn views(
    paths: &impl Paths,
    expecting: Option<usize>,
    refused: u8,
) -> ArrayVec<PathView, MAX_PATHS> {
    let mut best = u8::MAX;
    let mut views = ArrayVec::new();
    for index in 0..paths.count() {
        if !paths.may_carry(index) {
            continue;
        }
        let subflow = paths.view(index);
        if !subflow.may_send && expecting != Some(index) {
            continue;
        }
        let works = subflow.recovery_state != RecoveryState::Loss;
        let rank = match (works, paths.is_backup(index)) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        };
        if rank > best {
            continue;
        }
        if rank < best {
            best = rank;
            views.clear();
        }
        let window = paths.window(index);
        let cwnd = window.cwnd as u32;
        let is_refused = refused & (1 << index) != 0;
        views.push(PathView {
            id: PathId(index as u8),
            srtt: subflow.srtt,
            variance: subflow.variance,
            cwnd,
            ssthresh: window.ssthresh,
            in_flight: subflow.in_flight,
            mss: window.mss,
            pacing_rate: subflow.pacing_rate,
            has_room: !is_refused && (subflow.in_flight < cwnd || expecting == Some(index)),
        });
    }
    views
}
