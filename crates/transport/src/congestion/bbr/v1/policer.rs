//! Recognising a token-bucket policer: heavy loss at the same average rate twice running.

use super::super::super::AckSample;
use fadeout_core::Time;

/// Rounds an interval takes at least; one of four times as many is given up.
const INTERVAL_ROUNDS: u32 = 4;
/// Loss from which an interval ends: a fifth of what was delivered.
const LOSS_RATIO: f64 = 50.0 / 256.0;
/// Two intervals agree within an eighth, or within this many bytes per second.
const RATIO: f64 = 1.0 / 8.0;
const DIFFERENCE: f64 = 500.0;
/// Rounds for which the policer's rate is used.
const USE_ROUNDS: u32 = 48;

/// What the policer detection needs of an ACK.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample<'a> {
    pub(super) ack: &'a AckSample,
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
    since: Time,
    delivered: u64,
    lost: u64,
    /// A timeout counts as a loss on the next ACK.
    has_timed_out: bool,
}

impl Policer {
    /// The policer's rate, if one is there.
    pub(super) fn rate(&self) -> Option<f64> {
        self.is_used.then_some(self.bandwidth)
    }

    pub(super) fn on_timeout(&mut self) {
        self.has_timed_out = true;
    }

    /// Takes an ACK; true when the rate has been used long enough and probing starts again.
    pub(super) fn on_ack(&mut self, sample: Sample<'_>) -> bool {
        let Sample {
            ack,
            is_round_start,
            is_probing,
            is_limited,
            ..
        } = sample;
        let has_lost = ack.lost_now > 0 || std::mem::take(&mut self.has_timed_out);
        if self.is_used {
            if is_probing && is_round_start {
                self.rounds += 1;
                if self.rounds >= USE_ROUNDS {
                    self.forget(ack);
                    return true;
                }
            }
            return false;
        }
        if !self.is_sampling {
            if has_lost {
                self.start_interval(ack);
                self.is_sampling = true;
            } else {
                return false;
            }
        }
        if is_limited {
            self.forget(ack);
            return false;
        }
        self.rounds += u32::from(is_round_start);
        if self.rounds > 4 * INTERVAL_ROUNDS {
            self.forget(ack);
        } else if self.rounds >= INTERVAL_ROUNDS && has_lost {
            self.end_interval(&sample);
        }
        false
    }

    fn end_interval(&mut self, sample: &Sample<'_>) {
        let ack = sample.ack;
        let lost = (ack.lost - self.lost) as f64;
        let delivered = (ack.delivered - self.delivered) as f64;
        let elapsed = ack.now.since(self.since);
        if delivered == 0.0 || lost < LOSS_RATIO * delivered || elapsed.as_millis() == 0 {
            return;
        }
        let bandwidth = delivered / elapsed.as_secs_f64();
        if self.bandwidth > 0.0 {
            let difference = (bandwidth - self.bandwidth).abs();
            if difference <= RATIO * self.bandwidth || difference * sample.mss <= DIFFERENCE {
                self.bandwidth = f64::midpoint(bandwidth, self.bandwidth);
                self.is_used = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = bandwidth;
        self.start_interval(ack);
    }

    fn start_interval(&mut self, ack: &AckSample) {
        self.since = ack.now;
        self.delivered = ack.delivered;
        self.lost = ack.lost;
        self.rounds = 0;
    }

    fn forget(&mut self, ack: &AckSample) {
        *self = Policer::default();
        self.start_interval(ack);
    }
}
