//! Reaction of the path model to losses, which set its bounds (section 5.5.10).

use super::super::super::{AckSample, Window};
use super::model::inflight_at_loss;
use super::{BbrV3, State};

impl BbrV3 {
    /// Updates the path model with the delivery rate of an ACK. If the ACK ends a round, the losses
    /// of the round count too.
    pub(super) fn update_model(&mut self, window: &Window, ack: &AckSample) {
        // A probe for bandwidth provokes losses. Losses of a probe set the long-term bound and not
        // the short-term bounds.
        let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if self.model.on_ack(ack) && !is_probing {
            self.model
                .lower_short_term(window.cwnd, self.constants.beta);
        }
        if self.model.round.is_start {
            self.probe.rounds_since += 1;
        }
    }

    /// Records lost segments for the round, and ends the bandwidth probe if its loss rate is too
    /// high.
    pub(super) fn on_loss(&mut self, window: &Window, ack: &AckSample) {
        if self.model.on_loss(ack) {
            self.saved_state = None;
        }
        if self.probe.is_sampling && self.is_loss_too_high(ack) {
            let inflight = inflight_at_loss(
                self.constants.loss_threshold,
                f64::from(ack.rate.tx_in_flight),
                f64::from(ack.rate.lost),
                f64::from(ack.lost_now.min(ack.rate.lost).min(ack.rate.tx_in_flight)),
            );
            self.on_probe_too_high(window, ack, inflight);
        }
    }

    pub(super) fn is_loss_too_high(&self, ack: &AckSample) -> bool {
        f64::from(ack.rate.lost) > self.constants.loss_threshold * f64::from(ack.rate.tx_in_flight)
    }

    /// Ends the probe because the loss rate exceeded its threshold with `inflight` segments in
    /// flight (section 5.5.10.2).
    fn on_probe_too_high(&mut self, window: &Window, ack: &AckSample, inflight: f64) {
        self.probe.was_too_high = true;
        self.probe.is_sampling = false;
        if !self.model.is_limited(ack) {
            let target = self.constants.beta * self.model.target_inflight(window.cwnd);
            self.model.bounds.long_inflight = inflight.max(target);
        }
        if self.state == State::Up {
            self.saved_state = Some(State::Up);
            self.start_down(ack.now, ack.delivered);
        }
    }
}
