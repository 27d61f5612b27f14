//! Linux's own scheduler, the only one it has had since 5.10 (net/mptcp/protocol.c,
//! `mptcp_subflow_get_send`). The scheduler chooses the path whose send queue drains soonest at its
//! pacing rate, in bursts of about 64 kB.
//!
//! The scheduler chooses the queue in which data waits, before the data is sent: see
//! `connection::queues`. With a single path no data waits.

use super::{Choice, Demand, PathScheduler, PathView};
use fadeout_core::registry::{Entry, Registered, Settings};

/// Largest number of bytes bound to a path at once (`MPTCP_SEND_BURST_SIZE`).
pub(in crate::multipath) const BURST: u64 = 65_428;

/// Linux's scheduler: the path whose send queue drains first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linux;

/// Path with its send queue, as the scheduler sees it.
#[derive(Debug, Clone, Copy)]
pub(in crate::multipath) struct Queue {
    /// Memory of unacknowledged and waiting data, bytes (`sk_wmem_queued`).
    pub(in crate::multipath) memory: u64,
    /// Average pacing rate in bits per second. Zero before the path is first chosen.
    pub(in crate::multipath) pace: u64,
}

impl Queue {
    /// Returns the time until the queue is empty, in units of 2^-32 s.
    fn linger(&self) -> u128 {
        (u128::from(self.memory) << 35) / u128::from(self.pace.max(1))
    }

    /// Returns the average pacing rate after the path was chosen. The present rate is weighted with
    /// the burst, and the old average with the queued memory.
    pub(in crate::multipath) fn averaged(&self, rate: u64, burst: u64) -> u64 {
        let sum =
            u128::from(self.pace) * u128::from(self.memory) + u128::from(rate) * u128::from(burst);
        (sum / u128::from(self.memory + burst).max(1)) as u64
    }
}

/// Returns the key of the queue that drains first. If two queues drain at the same time, returns
/// the smaller key.
pub(in crate::multipath) fn soonest_drained(
    queues: impl Iterator<Item = (usize, Queue)>,
) -> Option<usize> {
    queues
        .min_by_key(|(index, queue)| (queue.linger(), *index))
        .map(|(index, _)| index)
}

impl Registered for Linux {
    const ENTRY: Entry = Entry::new(
        "linux",
        "scheduler",
        "The scheduler of Linux: data waits for the path whose send queue drains first.",
        "Linux 6.12 net/mptcp/protocol.c (its only scheduler since 5.10)",
    )
    .with_aliases(&["default", "linger"]);

    fn from_settings(_: &Settings<'_>, (): ()) -> Self {
        Linux
    }
}

impl PathScheduler for Linux {
    fn choose(&mut self, _demand: &Demand, paths: &[PathView]) -> Choice {
        Choice::whole(paths.iter().find(|path| path.has_room))
    }

    fn is_upstream(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_that_drains_first_is_next() {
        let fast = Queue {
            memory: 500_000,
            pace: 80_000_000,
        };
        let slow = Queue {
            memory: 100_000,
            pace: 8_000_000,
        };
        // The fast queue drains in 50 ms, the slow one in 100 ms.
        let both = [(0, slow), (1, fast)];
        assert_eq!(soonest_drained(both.into_iter()), Some(1));
        assert_eq!(soonest_drained([(0, fast), (1, fast)].into_iter()), Some(0));
        assert_eq!(soonest_drained(std::iter::empty()), None);
    }

    #[test]
    fn the_average_rate_follows_in_proportion_to_the_burst() {
        let queue = Queue {
            memory: 3_000,
            pace: 10_000_000,
        };
        assert_eq!(queue.averaged(20_000_000, 1_000), 12_500_000);
        let empty = Queue { memory: 0, pace: 7 };
        assert_eq!(empty.averaged(20_000_000, 1_000), 20_000_000);
    }
}
