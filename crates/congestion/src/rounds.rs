//! Rounds and their round-trip times for Vegas and the delay-based algorithms of Linux that follow
//! it.
//!
//! Source: net/ipv4/tcp_vegas.c of Linux 6.12.

use super::{AckSample, RecoveryState};

/// Round-trip times of Vegas: the smallest of the connection and the smallest of the round.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundRtt {
    /// Smallest round-trip time of the connection, in microseconds.
    pub(super) base_us: u64,
    /// Smallest round-trip time since the round began, in microseconds.
    pub(super) min_us: u64,
    /// Number of samples since the round began.
    pub(super) samples: u32,
}

impl RoundRtt {
    /// The value of the kernel that means "no sample".
    pub(super) const NONE_US: u64 = 0x7fff_ffff;

    pub(super) fn new() -> Self {
        RoundRtt {
            base_us: Self::NONE_US,
            min_us: Self::NONE_US,
            samples: 0,
        }
    }

    /// Adds the sample of the ACK. One microsecond is added, so that no sample is zero.
    pub(super) fn sample(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            let us = (rtt.as_micros() + 1).min(Self::NONE_US);
            self.base_us = self.base_us.min(us);
            self.min_us = self.min_us.min(us);
            debug_assert!(
                self.base_us <= self.min_us,
                "the smallest of a round is below the smallest of all"
            );
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Starts a new round without samples.
    pub(super) fn start_round(&mut self) {
        self.min_us = Self::NONE_US;
        self.samples = 0;
    }
}

/// Vegas's rounds, which the delay-based algorithms of Linux share. Rounds are active only in the
/// Open state. A round ends when the data outstanding at its start is acknowledged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    pub(super) rtt: RoundRtt,
    end: u64,
    state: RecoveryState,
}

impl Rounds {
    pub(super) fn new() -> Self {
        Rounds {
            rtt: RoundRtt::new(),
            end: 0,
            state: RecoveryState::Open,
        }
    }

    /// Adds the sample of the ACK and records the recovery state. Must be called once for each ACK,
    /// before the other methods.
    pub(super) fn on_ack(&mut self, ack: &AckSample) {
        self.rtt.sample(ack);
        if ack.state == RecoveryState::Open && self.state != RecoveryState::Open {
            self.start(ack);
        }
        self.state = ack.state;
    }

    /// Returns true if delays may change the window, which is so in the Open state only.
    pub(super) fn is_active(&self) -> bool {
        self.state == RecoveryState::Open
    }

    /// Returns true if this ACK ends the round.
    pub(super) fn has_ended(&self, ack: &AckSample) -> bool {
        ack.snd_una > self.end
    }

    /// Begins a round at this ACK.
    pub(super) fn start(&mut self, ack: &AckSample) {
        self.end = ack.snd_nxt;
        self.rtt.start_round();
    }

    /// Discards the smallest round-trip time, because the path may have changed during an idle
    /// period.
    pub(super) fn forget(&mut self) {
        *self = Rounds::new();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, ack_with_rtt, at_ms};
    use super::*;

    #[test]
    fn the_smallest_of_a_round_is_its_own_and_that_of_the_connection_stays() {
        let mut rtt = RoundRtt::new();
        for (ms, base_us, min_us) in [
            (80.0, 80_001, 80_001),
            (60.0, 60_001, 60_001),
            (70.0, 60_001, 60_001),
        ] {
            rtt.sample(&ack_with_rtt(at_ms(0), 1, ms));
            assert_eq!((rtt.base_us, rtt.min_us), (base_us, min_us));
        }
        rtt.sample(&ack(at_ms(0), 1));
        assert_eq!(rtt.samples, 3);
        rtt.start_round();
        rtt.sample(&ack_with_rtt(at_ms(0), 1, 75.0));
        assert_eq!((rtt.base_us, rtt.min_us, rtt.samples), (60_001, 75_001, 1));
    }

    #[test]
    fn a_round_ends_behind_what_was_sent_when_it_began() {
        let mut rounds = Rounds::new();
        let heard = |snd_una, snd_nxt, state| AckSample {
            snd_una,
            snd_nxt,
            state,
            ..ack_with_rtt(at_ms(0), 1, 50.0)
        };
        let open = |una, nxt| heard(una, nxt, RecoveryState::Open);
        rounds.on_ack(&open(1, 100));
        assert!(rounds.is_active() && rounds.has_ended(&open(1, 100)));
        rounds.start(&open(1, 100));
        assert_eq!(rounds.rtt.samples, 0);
        rounds.on_ack(&open(100, 150));
        assert!(!rounds.has_ended(&open(100, 150)));
        assert!(rounds.has_ended(&open(101, 150)));
        assert_eq!(rounds.rtt.samples, 1);
        // Rounds stay inactive until the Open state returns, which begins a new round.
        rounds.on_ack(&heard(101, 200, RecoveryState::Disorder));
        assert!(!rounds.is_active());
        rounds.on_ack(&open(120, 300));
        assert!(rounds.is_active());
        assert_eq!(rounds.rtt.samples, 0);
        assert!(!rounds.has_ended(&open(300, 400)) && rounds.has_ended(&open(301, 400)));
        rounds.forget();
        assert_eq!((rounds.rtt.base_us, rounds.end), (RoundRtt::NONE_US, 0));
    }
}
