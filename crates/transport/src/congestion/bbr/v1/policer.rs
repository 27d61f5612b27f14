//! Recognising a token-bucket policer: heavy loss at the same average rate twice running.

use super::super::super::AckSample;

/// Rounds an interval takes at least; one of four times as many is given up.
const INTERVAL_ROUNDS: u32 = 4;
/// Loss from which an interval ends: a fifth of what was delivered.
const LOSS_RATIO: f64 = 50.0 / 256.0;
/// Two intervals agree within an eighth, or within this many bytes per second.
const RATIO: f64 = 1.0 / 8.0;
const DIFFERENCE: f64 = 500.0;
/// Rounds for which the policer's rate is used.
const USE_ROUNDS: u32 = 48;

/// What the policer detection needs to know besides what was delivered and lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) mss: f64,
    pub(super) is_round_start: bool,
    pub(super) is_probing: bool,
    pub(super) is_limited: bool,
}

/// The long-term bandwidth sampler.
#[derive(Debug, Clone, Default)]
pub(super) struct Policer {
    is_sampling: bool,
    is_used: bool,
    /// Segments per second of the last interval, or of the policer.
    bandwidth: f64,
    rounds: u32,
    since: Counts,
    /// As of the last ACK that delivered something.
    last: Counts,
}

/// What was delivered and lost by an instant, which is a whole millisecond.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    at_ms: u64,
    delivered: u64,
    lost: u64,
}

impl Policer {
    /// The policer's rate, if one is there.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_used.then_some(self.bandwidth)
    }

    /// Takes an ACK; true when the rate has been used long enough and probing starts again.
    pub(super) fn on_ack(&mut self, ack: &AckSample, step: Step) -> bool {
        if ack.delivered_now > 0 {
            self.last.at_ms = ack.now.as_millis();
        }
        (self.last.delivered, self.last.lost) = (ack.delivered, ack.lost);
        self.step(step, ack.lost_now > 0)
    }

    fn step(&mut self, step: Step, has_lost: bool) -> bool {
        if self.is_used {
            if step.is_probing && step.is_round_start {
                self.rounds += 1;
                if self.rounds >= USE_ROUNDS {
                    self.forget();
                    return true;
                }
            }
            return false;
        }
        if !self.is_sampling {
            if !has_lost {
                return false;
            }
            self.start_interval();
            self.is_sampling = true;
        }
        if step.is_limited {
            self.forget();
            return false;
        }
        self.rounds += u32::from(step.is_round_start);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            self.forget();
        } else if self.rounds >= INTERVAL_ROUNDS && has_lost {
            self.end_interval(step.mss);
        }
        false
    }

    /// A timeout counts as a loss and as the end of a round. True as for an ACK.
    pub(super) fn on_timeout(&mut self, lost: u64, mss: f64, is_probing: bool) -> bool {
        self.last.lost = lost;
        let step = Step {
            mss,
            is_round_start: true,
            is_probing,
            is_limited: false,
        };
        self.step(step, true)
    }

    fn end_interval(&mut self, mss: f64) {
        let lost = (self.last.lost - self.since.lost) as f64;
        let delivered = (self.last.delivered - self.since.delivered) as f64;
        let elapsed_ms = self.last.at_ms - self.since.at_ms;
        if delivered == 0.0 || lost < LOSS_RATIO * delivered || elapsed_ms == 0 {
            return;
        }
        let bandwidth = delivered / (elapsed_ms as f64 / 1e3);
        if self.bandwidth > 0.0 {
            let difference = (bandwidth - self.bandwidth).abs();
            if difference <= RATIO * self.bandwidth || difference * mss <= DIFFERENCE {
                self.bandwidth = f64::midpoint(bandwidth, self.bandwidth);
                self.is_used = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = bandwidth;
        self.start_interval();
    }

    fn start_interval(&mut self) {
        self.since = self.last;
        self.rounds = 0;
    }

    /// Begins anew.
    pub(super) fn forget(&mut self) {
        *self = Policer {
            last: self.last,
            ..Policer::default()
        };
        self.start_interval();
    }
}
