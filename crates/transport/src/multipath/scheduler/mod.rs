//! Schedulers, which choose the path of the next data.

mod blest;
mod ecf;
pub(super) mod linux;
mod min_rtt;
mod redundant;
mod round_robin;

use super::PathId;
use fadeout_core::{Rate, Span, Time};

/// Data that a connection wants to send.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Present time.
    pub now: Time,
    /// Bytes that no path has sent yet.
    pub unsent: u64,
    /// Size of the peer's window in bytes, from the first unacknowledged byte on.
    pub window: u64,
}

/// Path that could carry data.
#[derive(Debug, Clone, Copy)]
pub struct PathView {
    /// Identifier of the path.
    pub id: PathId,
    /// Smoothed round-trip time. Zero before the first sample.
    pub srtt: Span,
    /// Variation of the round-trip time.
    pub variance: Span,
    /// Congestion window, whole segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: f64,
    /// Segments in flight.
    pub in_flight: u32,
    /// Maximum segment size, bytes.
    pub mss: u32,
    /// Pacing rate, also if the path does not pace.
    pub pacing_rate: Rate,
    /// True if the path's window allows another segment now.
    pub has_room: bool,
}

impl PathView {
    /// Returns the key for an order by round-trip time. A path without a sample comes last.
    pub fn rtt_order(&self) -> (Span, PathId) {
        let srtt = if self.srtt.is_zero() {
            Span::MAX
        } else {
            self.srtt
        };
        (srtt, self.id)
    }
}

/// Returns the fastest path, and the fastest path whose window allows another segment.
pub(super) fn fastest(paths: &[PathView]) -> (Option<&PathView>, Option<&PathView>) {
    let all = paths.iter().min_by_key(|path| path.rtt_order());
    let with_room = paths
        .iter()
        .filter(|path| path.has_room)
        .min_by_key(|path| path.rtt_order());
    (all, with_room)
}

/// Decision of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Send up to this many bytes on this path. The scheduler is called again after that.
    Path {
        /// Path that sends the data.
        path: PathId,
        /// Largest number of bytes.
        bytes: u64,
    },
    /// Send all data on every path.
    All,
    /// Send no data now.
    Wait,
}

impl Choice {
    /// Returns the choice to send all data on `path`.
    fn whole(path: Option<&PathView>) -> Choice {
        path.map_or(Choice::Wait, |path| Choice::Path {
            path: path.id,
            bytes: u64::MAX,
        })
    }

    /// Returns the choice to send one segment on `path`.
    fn segment(path: &PathView) -> Choice {
        Choice::Path {
            path: path.id,
            bytes: u64::from(path.mss),
        }
    }

    /// Returns a choice of all data on the fastest path. If that path is full, returns a choice of
    /// one segment on the fastest path that is not full, or a wait. `waits` receives these two
    /// paths and returns true for a wait.
    fn fastest_unless(
        paths: &[PathView],
        waits: impl FnOnce(&PathView, &PathView) -> bool,
    ) -> Choice {
        match fastest(paths) {
            (Some(fast), Some(next)) if fast.id == next.id => Choice::whole(Some(fast)),
            (Some(fast), Some(next)) if !waits(fast, next) => Choice::segment(next),
            _ => Choice::Wait,
        }
    }
}

/// Path scheduler, a rule that chooses paths.
pub trait PathScheduler {
    /// Chooses the path of the next data. `paths` are the paths that may be used: established,
    /// working, and no backup while a regular one works.
    fn choose(&mut self, demand: &Demand, paths: &[PathView]) -> Choice;
    /// Records that new data was sent on a path. The path may differ from the chosen one, because a
    /// subflow that has just received a segment sends first.
    fn on_sent(&mut self, _path: PathId) {}
    /// Records that the peer's window is full while the congestion window of a path is not full.
    fn on_blocked(&mut self) {}
    /// Returns true if the scheduler sends every byte on each path.
    fn is_redundant(&self) -> bool {
        false
    }
    /// Returns true if the scheduler belongs to present Linux, which binds data to paths ahead of
    /// their windows. False for the stack of the MPTCP papers. The papers' stack binds data at
    /// departure, reinjects at a subflow's timeout and retransmits opportunistically.
    fn is_upstream(&self) -> bool {
        false
    }
}

fadeout_core::registry! {
    /// Path schedulers that a scenario can name.
    pub static PATH_SCHEDULERS;

    /// A built-in scheduler.
    #[derive(Debug, Clone)]
    pub enum PathSchedulerKind {
        Linux(linux::Linux),
        MinRtt(min_rtt::MinRtt),
        RoundRobin(round_robin::RoundRobin),
        Redundant(redundant::Redundant),
        Blest(blest::Blest),
        Ecf(ecf::Ecf),
    }
    macro each;
}

impl PathScheduler for PathSchedulerKind {
    fn choose(&mut self, demand: &Demand, paths: &[PathView]) -> Choice {
        each!(self, scheduler => scheduler.choose(demand, paths))
    }
    fn on_sent(&mut self, path: PathId) {
        each!(self, scheduler => scheduler.on_sent(path));
    }
    fn on_blocked(&mut self) {
        each!(self, scheduler => scheduler.on_blocked());
    }
    fn is_redundant(&self) -> bool {
        each!(self, scheduler => scheduler.is_redundant())
    }
    fn is_upstream(&self) -> bool {
        each!(self, scheduler => scheduler.is_upstream())
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use fadeout_core::registry::Parameters;

    /// Returns a path with 1,000-byte segments.
    pub(in crate::multipath) fn path(id: u8, rtt_ms: u64, cwnd: u32, in_flight: u32) -> PathView {
        PathView {
            id: PathId(id),
            srtt: Span::from_millis(rtt_ms),
            variance: Span::from_millis(5),
            cwnd,
            ssthresh: 5.0,
            in_flight,
            mss: 1000,
            pacing_rate: Rate::from_bits_per_sec(8_000_000),
            has_room: in_flight < cwnd,
        }
    }

    pub(in crate::multipath) fn demand(unsent: u64, window: u64) -> Demand {
        Demand {
            now: Time::ZERO,
            unsent,
            window,
        }
    }

    #[test]
    fn every_scheduler_uses_the_only_path() {
        for entry in PATH_SCHEDULERS {
            let mut scheduler =
                PathSchedulerKind::new(entry.name, Parameters::NONE).expect("it is registered");
            let choice = scheduler.choose(&demand(1 << 20, 1 << 20), &[path(3, 50, 10, 2)]);
            assert!(
                matches!(choice, Choice::Path { path: PathId(3), bytes } if bytes >= 1000)
                    || choice == Choice::All,
                "{}: {choice:?}",
                entry.name
            );
        }
    }

    #[test]
    fn a_segment_goes_on_the_next_path_where_the_fastest_is_full_unless_it_is_better_to_wait() {
        let (fast, full) = (path(0, 20, 10, 2), path(0, 20, 10, 10));
        let (next, busy) = (path(1, 50, 10, 2), path(1, 50, 10, 10));
        let choose = |paths: &[PathView], waits| {
            Choice::fastest_unless(paths, |fast, next| {
                assert_eq!((fast.id, next.id), (PathId(0), PathId(1)));
                waits
            })
        };
        let on = |id, bytes| Choice::Path {
            path: PathId(id),
            bytes,
        };
        for waits in [false, true] {
            assert_eq!(choose(&[next, fast], waits), on(0, u64::MAX));
            assert_eq!(choose(&[busy, full], waits), Choice::Wait);
            assert_eq!(choose(&[], waits), Choice::Wait);
        }
        assert_eq!(choose(&[next, full], false), on(1, 1000));
        assert_eq!(choose(&[next, full], true), Choice::Wait);
    }

    #[test]
    fn only_linux_binds_data_ahead_and_only_redundant_sends_it_all_twice() {
        for entry in PATH_SCHEDULERS {
            let scheduler =
                PathSchedulerKind::new(entry.name, Parameters::NONE).expect("it is registered");
            assert_eq!(
                scheduler.is_upstream(),
                entry.name == "linux",
                "{}",
                entry.name
            );
            assert_eq!(
                scheduler.is_redundant(),
                entry.name == "redundant",
                "{}",
                entry.name
            );
        }
    }

    #[test]
    fn blest_hears_that_the_window_was_full() {
        // The fast path could send 60,000 bytes, and 73,000 bytes of the window are left. With a
        // lambda of 1.24 another segment of the slow path would block it. With a lambda of 1.19 it
        // would not.
        let paths = [path(0, 20, 10, 10), path(1, 100, 40, 26)];
        let later = Demand {
            now: Time::ZERO + Span::from_millis(100),
            ..demand(1 << 20, 100_000)
        };
        for is_blocked in [false, true] {
            let mut blest =
                PathSchedulerKind::new("blest", Parameters::NONE).expect("it is registered");
            if is_blocked {
                blest.on_blocked();
            }
            let waits = blest.choose(&later, &paths) == Choice::Wait;
            assert_eq!(waits, is_blocked);
        }
    }
}
