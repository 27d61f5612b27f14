//! Rounds and their round-trip times, as Vegas and its descendants in Linux keep them.
//!
//! Source: net/ipv4/tcp_vegas.c of Linux 6.12.

use super::{AckSample, RecoveryState};

/// Round-trip times as Vegas keeps them: the smallest ever and the smallest of the round.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundRtt {
    /// Smallest of the connection, in microseconds.
    pub(super) base_us: u64,
    /// Smallest since the round began.
    pub(super) min_us: u64,
    /// Samples since the round began.
    pub(super) samples: u32,
}

impl RoundRtt {
    /// The kernel's "no sample".
    pub(super) const NONE_US: u64 = 0x7fff_ffff;

    pub(super) fn new() -> Self {
        RoundRtt {
            base_us: Self::NONE_US,
            min_us: Self::NONE_US,
            samples: 0,
        }
    }

    /// Takes the ACK's sample. One microsecond is added, so that none is zero.
    pub(super) fn sample(&mut self, ack: &AckSample) {
        if let Some(rtt) = ack.rtt {
            let us = (rtt.as_micros() + 1).min(Self::NONE_US);
            self.base_us = self.base_us.min(us);
            self.min_us = self.min_us.min(us);
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Begins a round.
    pub(super) fn start_round(&mut self) {
        self.min_us = Self::NONE_US;
        self.samples = 0;
    }
}

/// Vegas's view of rounds, which the delay-based algorithms of Linux share: active only in the
/// Open state, a new round each time the data outstanding at the last one's start is acknowledged.
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

    /// Takes the ACK's sample and follows the recovery state. Call once an ACK, first.
    pub(super) fn on_ack(&mut self, ack: &AckSample) {
        self.rtt.sample(ack);
        if ack.state == RecoveryState::Open && self.state != RecoveryState::Open {
            self.start(ack);
        }
        self.state = ack.state;
    }

    /// Whether delays count now.
    pub(super) fn is_active(&self) -> bool {
        self.state == RecoveryState::Open
    }

    /// Whether this ACK ends the round.
    pub(super) fn has_ended(&self, ack: &AckSample) -> bool {
        ack.snd_una > self.end
    }

    /// Begins a round at this ACK.
    pub(super) fn start(&mut self, ack: &AckSample) {
        self.end = ack.snd_nxt;
        self.rtt.start_round();
    }

    /// Forgets the base: after an idle period the path may be another.
    pub(super) fn forget(&mut self) {
        *self = Rounds::new();
    }
}
