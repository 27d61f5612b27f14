//! Linux's scheduler since 5.10 (net/mptcp/protocol.c, `mptcp_subflow_get_send`): the path whose
//! data in hand drains soonest at its pacing rate, in bursts of about 64 kB.
//!
//! The kernel fills a subflow's send queue ahead of its window. Here data is bound to a path when
//! it leaves, so what counts is what is in flight.

use super::{Choice, Demand, PathScheduler, PathView};
use fadeout_core::{Bytes, Span};

/// Linux's burst (`MPTCP_SEND_BURST_SIZE`), bytes.
const BURST: u64 = 65_428;

/// Shortest linger time first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linger;

fn linger(path: &PathView) -> Span {
    let bytes = u64::from(path.in_flight) * u64::from(path.mss);
    path.pacing_rate.time_to_send(Bytes(bytes))
}

impl PathScheduler for Linger {
    fn choose(&mut self, _demand: &Demand, paths: &[PathView]) -> Choice {
        let best = paths
            .iter()
            .filter(|path| path.has_room)
            .min_by_key(|path| (linger(path), path.id));
        match best {
            // Alone there is nothing to share out in bursts.
            Some(path) => Choice::Path {
                path: path.id,
                bytes: if paths.len() == 1 { u64::MAX } else { BURST },
            },
            None => Choice::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{demand, path};
    use super::*;
    use crate::multipath::PathId;
    use fadeout_core::Rate;

    #[test]
    fn the_path_that_drains_first_is_next() {
        let mut fast = path(0, 20, 100, 50);
        fast.pacing_rate = Rate::from_bits_per_sec(80_000_000);
        let slow = path(1, 20, 100, 10);
        let choice = Linger.choose(&demand(1, 1), &[fast, slow]);
        assert_eq!(
            choice,
            Choice::Path {
                path: PathId(0),
                bytes: BURST
            }
        );
    }
}
