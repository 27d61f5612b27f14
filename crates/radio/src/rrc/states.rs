//! RRC states of a UE: release of the connection, paging, and return to the connected state.
//!
//! A [`Connection`] stores the state and the times. The caller stores the packets that wait. All
//! messages of random access and RRC are assumed to arrive, so a weak link does not delay the UE's
//! return.
//!
//! Standard: TS 38.331 §5.3.3, §5.3.8, §5.3.13; TS 38.304 §7.1; TS 36.304 §7.1.

use super::random_access::{CellAccess, Progress, RandomAccess};
use crate::config::{ReleasedState, StatesConfig};
use crate::phy::frame::Frame;
use fadeout_core::random::Stream;
use fadeout_core::{Direction, Span, Time};

/// Length of a radio frame.
const FRAME: Span = Span::from_millis(10);

/// RRC state of a UE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RrcState {
    /// The UE is connected, and no data was sent since this time.
    Connected { idle_since: Time },
    /// The UE is idle or inactive.
    Released,
    /// The UE is returning to the connected state.
    Returning,
}

/// Decision about a packet that is about to enter its bearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// The packet may enter the bearer.
    Open,
    /// The packet waits. The UE is already returning to the connected state.
    Wait,
    /// The packet waits, and the UE begins to return. The UE is connected at `open_at`. `paged_at`
    /// is `None` for uplink packets, which need no paging.
    Return {
        paged_at: Option<Time>,
        open_at: Time,
    },
}

/// RRC connection of one UE.
#[derive(Debug)]
pub(crate) struct Connection {
    config: StatesConfig,
    /// UE_ID, derived from the identity of the subscription.
    id: u64,
    state: RrcState,
    draws: Stream,
}

impl Connection {
    /// Returns a connection in the connected state.
    pub(crate) fn new(config: StatesConfig, id: u64, draws: Stream) -> Connection {
        Connection {
            config,
            id,
            state: RrcState::Connected {
                idle_since: Time::ZERO,
            },
            draws,
        }
    }

    /// Returns the time of the next check for inactivity.
    pub(crate) fn check_at(&self) -> Time {
        match self.state {
            RrcState::Connected { idle_since } => idle_since.saturating_add(self.config.inactivity),
            RrcState::Released | RrcState::Returning => Time::NEVER,
        }
    }

    /// Handles a packet to or from the UE. `frame` is the frame of the cell to which the UE
    /// returns.
    pub(crate) fn on_packet(
        &mut self,
        now: Time,
        direction: Direction,
        frame: &Frame,
    ) -> Admission {
        match &mut self.state {
            RrcState::Connected { idle_since } => {
                *idle_since = now;
                Admission::Open
            }
            RrcState::Returning => Admission::Wait,
            RrcState::Released => {
                let paged_at = (direction == Direction::Downlink).then(|| self.paged_at(now));
                let open_at = self.open_at(paged_at.unwrap_or(now), frame);
                self.state = RrcState::Returning;
                Admission::Return { paged_at, open_at }
            }
        }
    }

    /// Handles the check for inactivity. `is_busy` is true if data is waiting. Returns the UE's new
    /// state if its connection is released, and `None` otherwise.
    pub(crate) fn on_check(&mut self, now: Time, is_busy: bool) -> Option<ReleasedState> {
        if self.check_at() > now {
            return None;
        }
        if is_busy {
            self.on_open(now);
            return None;
        }
        self.state = RrcState::Released;
        Some(self.config.released_to)
    }

    /// Records that the UE is connected again.
    pub(crate) fn on_open(&mut self, now: Time) {
        self.state = RrcState::Connected { idle_since: now };
    }

    /// Returns the UE's next paging occasion for a packet that arrives at `now`.
    fn paged_at(&self, now: Time) -> Time {
        let asked_at = match self.config.released_to {
            // The core receives the packet and then requests paging from the base station, which
            // takes two core delays.
            ReleasedState::Idle => now.saturating_add(self.config.core_delay * 2),
            ReleasedState::Inactive => now,
        };
        let StatesConfig {
            cycle_frames,
            paging_frames,
            ..
        } = self.config;
        paging_frame_from(asked_at, (cycle_frames, paging_frames), self.id)
    }

    /// Returns the time at which the UE's bearers are set up if random access begins at `from`.
    fn open_at(&mut self, from: Time, frame: &Frame) -> Time {
        let config = self.config.access;
        let cell = CellAccess {
            config: &config,
            frame,
        };
        let mut access = RandomAccess::new(cell, from, false);
        loop {
            let now = access.wake_at();
            let draws = &mut self.draws;
            let progress = access.on_wake(now, cell, draws, |_| true);
            if progress != Progress::Running {
                return now.saturating_add(self.config.procedure());
            }
        }
    }
}

/// Returns a UE's first paging frame from `at` on. The frame number satisfies SFN mod T = (T div N)
/// * (UE_ID mod N). T is the paging cycle, and N is the number of paging frames in a cycle.
///
/// Standard: TS 38.304 §7.1; TS 36.304 §7.1.
fn paging_frame_from(at: Time, (cycle, frames): (u32, u32), id: u64) -> Time {
    let (cycle, frames) = (
        u64::from(cycle.max(1)),
        u64::from(frames.clamp(1, cycle.max(1))),
    );
    let own = (cycle / frames) * (id % frames);
    let frame = at.as_nanos().div_ceil(FRAME.as_nanos());
    let wait = (own + cycle - frame % cycle) % cycle;
    Time::from_nanos((frame + wait) * FRAME.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rrc::random_access::tests::fdd;

    fn at_ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn config(released_to: ReleasedState) -> StatesConfig {
        let ms = Span::from_millis;
        StatesConfig {
            inactivity: ms(1000),
            released_to,
            cycle_frames: 128,
            paging_frames: 32,
            core_delay: ms(15),
            ..StatesConfig::default()
        }
    }

    fn connection(released_to: ReleasedState, id: u64) -> Connection {
        Connection::new(config(released_to), id, Stream::new(1, "test", 0))
    }

    #[test]
    fn a_paging_frame_is_where_the_standard_has_it() {
        for id in 0..200 {
            for start in [0, 3, 777, 10_243] {
                let found = paging_frame_from(at_ms(start), (128, 32), id);
                let frame = found.as_nanos() / FRAME.as_nanos();
                assert_eq!(found.as_nanos() % FRAME.as_nanos(), 0);
                assert_eq!(frame % 128, (128 / 32) * (id % 32), "UE_ID {id}");
                let wait = found.since(at_ms(start)).as_nanos();
                assert!(found >= at_ms(start) && wait < 128 * FRAME.as_nanos());
            }
        }
    }

    #[test]
    fn a_connection_is_released_after_its_timer_and_not_while_something_waits() {
        let mut ue = connection(ReleasedState::Idle, 0);
        assert_eq!(
            ue.on_packet(at_ms(200), Direction::Uplink, &fdd()),
            Admission::Open
        );
        assert_eq!(ue.check_at(), at_ms(1200));
        assert_eq!(ue.on_check(at_ms(1000), false), None);
        assert_eq!(ue.on_check(at_ms(1200), true), None);
        assert_eq!(ue.on_check(at_ms(2200), false), Some(ReleasedState::Idle));
        assert!(ue.check_at().is_never());
    }

    /// The UE sends the preamble at the next multiple of 10 ms. Contention resolution ends 3 + 6 +
    /// 6 ms later, and the RRC messages follow.
    #[test]
    fn the_way_back_takes_its_parts() {
        for (released_to, direction, paged, open) in [
            // Resuming the connection takes 10 + 4 ms.
            (
                ReleasedState::Inactive,
                Direction::Uplink,
                None,
                1510 + 15 + 14,
            ),
            // The UE with UE_ID 5 is paged in frame 20 of every 128 frames. The next such frame
            // begins at 1,480 ms.
            (
                ReleasedState::Inactive,
                Direction::Downlink,
                Some(1480),
                1480 + 15 + 14,
            ),
            // The 75 ms consist of 14 ms for the setup, 30 ms for the core, 13 ms for security and
            // 18 ms for the reconfiguration.
            (ReleasedState::Idle, Direction::Uplink, None, 1510 + 15 + 75),
        ] {
            let mut ue = connection(released_to, 5);
            assert!(ue.on_check(at_ms(1000), false).is_some());
            let asked = if paged.is_some() { 1300 } else { 1501 };
            let admission = Admission::Return {
                paged_at: paged.map(at_ms),
                open_at: at_ms(open),
            };
            assert_eq!(ue.on_packet(at_ms(asked), direction, &fdd()), admission);
            assert_eq!(
                ue.on_packet(at_ms(asked + 1), Direction::Uplink, &fdd()),
                Admission::Wait
            );
            ue.on_open(at_ms(open));
            assert_eq!(ue.check_at(), at_ms(open + 1000));
        }
    }
}
