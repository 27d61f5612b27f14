//! Which path carries the next data.

mod blest;
mod ecf;
pub(super) mod linux;
mod min_rtt;
mod redundant;
mod round_robin;

use super::PathId;
use fadeout_core::registry::{Entry, Parameters, find};
use fadeout_core::{Rate, Span, Time};

/// What is to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Now.
    pub now: Time,
    /// Bytes that no path has sent yet.
    pub unsent: u64,
    /// Bytes that the peer's window holds, from the first unacknowledged one.
    pub window: u64,
}

/// A path that could carry data.
#[derive(Debug, Clone, Copy)]
pub struct PathView {
    /// Its id.
    pub id: PathId,
    /// Smoothed round-trip time; zero before the first sample.
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
    /// Pacing rate, or what it would be.
    pub pacing_rate: Rate,
    /// Whether its window has room now.
    pub has_room: bool,
}

impl PathView {
    /// Order by round-trip time; a path without a sample comes last.
    pub fn rtt_order(&self) -> (Span, PathId) {
        let srtt = if self.srtt.is_zero() {
            Span::MAX
        } else {
            self.srtt
        };
        (srtt, self.id)
    }
}

/// The fastest path, and the fastest with room.
pub(super) fn fastest(paths: &[PathView]) -> (Option<&PathView>, Option<&PathView>) {
    let all = paths.iter().min_by_key(|path| path.rtt_order());
    let with_room = paths
        .iter()
        .filter(|path| path.has_room)
        .min_by_key(|path| path.rtt_order());
    (all, with_room)
}

/// A scheduler's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Up to this many bytes on this path; it is asked again after that.
    Path {
        /// The path.
        path: PathId,
        /// Most bytes.
        bytes: u64,
    },
    /// Everything on every path.
    All,
    /// Nothing now.
    Wait,
}

/// Chooses paths.
pub trait PathScheduler {
    /// Where the next data goes. `paths` are those that may be used: established, working, and no
    /// backup while a regular one works.
    fn choose(&mut self, demand: &Demand, paths: &[PathView]) -> Choice;
    /// The peer's window is full while a path has room.
    fn on_blocked(&mut self) {}
}

const fn entry(
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    citation: &'static str,
) -> Entry {
    Entry {
        name,
        aliases,
        family: "scheduler",
        summary,
        citation,
        parameters: &[],
    }
}

/// The schedulers that a scenario can name.
pub static SCHEDULERS: &[Entry] = &[
    entry(
        "linux",
        &["default", "linger"],
        "What Linux does: data waits on the path whose send queue drains soonest",
        "Linux 6.12 net/mptcp/protocol.c (its only scheduler since 5.10)",
    ),
    entry(
        "lowest-rtt",
        &["min-rtt", "lowrtt"],
        "The lowest smoothed round-trip time that has room",
        "Raiciu et al., NSDI 2012; Paasch et al., CSWS 2014",
    ),
    entry(
        "round-robin",
        &["roundrobin"],
        "A segment on each path in turn",
        "Paasch et al., CSWS 2014",
    ),
    entry(
        "redundant",
        &[],
        "Every byte on every path",
        "Frömmgen et al., ICC 2016",
    ),
    entry(
        "blest",
        &[],
        "Leaves a slow path out where it would block the window",
        "Ferlin, Alay, Mehani, Boreli, IFIP Networking 2016",
    ),
    entry(
        "ecf",
        &[],
        "Waits for the fast path where that completes earlier",
        "Lim, Nahum, Towsley, Gibbens, CoNEXT 2017",
    ),
];

/// A built-in scheduler.
#[derive(Debug, Clone)]
pub enum Scheduler {
    /// Linux's since 5.10.
    Linux(linux::Linux),
    /// Lowest round-trip time.
    MinRtt(min_rtt::MinRtt),
    /// In turn.
    RoundRobin(round_robin::RoundRobin),
    /// All at once.
    Redundant(redundant::Redundant),
    /// Blocking estimation.
    Blest(blest::Blest),
    /// Earliest completion.
    Ecf(ecf::Ecf),
}

impl Scheduler {
    /// The scheduler called `name` or by an alias; `None` when there is none.
    pub fn new(name: &str, _parameters: &Parameters) -> Option<Scheduler> {
        Some(match find(SCHEDULERS, name)?.name {
            "linux" => Scheduler::Linux(linux::Linux),
            "lowest-rtt" => Scheduler::MinRtt(min_rtt::MinRtt),
            "round-robin" => Scheduler::RoundRobin(round_robin::RoundRobin::default()),
            "redundant" => Scheduler::Redundant(redundant::Redundant),
            "blest" => Scheduler::Blest(blest::Blest::default()),
            _ => Scheduler::Ecf(ecf::Ecf::default()),
        })
    }

    /// Whether each path sends every byte.
    pub(super) fn is_redundant(&self) -> bool {
        matches!(self, Scheduler::Redundant(_))
    }

    /// Whether the stack is today's Linux, which binds data to paths ahead of their windows; the
    /// one of the papers binds it when it leaves, reinjects at a subflow's timeout and retransmits
    /// opportunistically.
    pub fn is_upstream(&self) -> bool {
        matches!(self, Scheduler::Linux(_))
    }
}

impl PathScheduler for Scheduler {
    fn choose(&mut self, demand: &Demand, paths: &[PathView]) -> Choice {
        match self {
            Scheduler::Linux(scheduler) => scheduler.choose(demand, paths),
            Scheduler::MinRtt(scheduler) => scheduler.choose(demand, paths),
            Scheduler::RoundRobin(scheduler) => scheduler.choose(demand, paths),
            Scheduler::Redundant(scheduler) => scheduler.choose(demand, paths),
            Scheduler::Blest(scheduler) => scheduler.choose(demand, paths),
            Scheduler::Ecf(scheduler) => scheduler.choose(demand, paths),
        }
    }
    fn on_blocked(&mut self) {
        if let Scheduler::Blest(scheduler) = self {
            scheduler.on_blocked();
        }
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A path with 1000-byte segments.
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
    fn every_registered_scheduler_can_be_made() {
        let none = Parameters::default();
        assert!(
            SCHEDULERS
                .iter()
                .all(|entry| Scheduler::new(entry.name, &none).is_some())
        );
        assert!(Scheduler::new("minrt", &none).is_none());
    }

    #[test]
    fn every_scheduler_uses_the_only_path() {
        for entry in SCHEDULERS {
            let mut scheduler =
                Scheduler::new(entry.name, &Parameters::default()).expect("it is registered");
            let choice = scheduler.choose(&demand(1 << 20, 1 << 20), &[path(3, 50, 10, 2)]);
            assert!(
                matches!(choice, Choice::Path { path: PathId(3), bytes } if bytes >= 1000)
                    || choice == Choice::All,
                "{}: {choice:?}",
                entry.name
            );
        }
    }
}
