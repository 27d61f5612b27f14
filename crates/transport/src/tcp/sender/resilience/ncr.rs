//! Non-congestion robustness: a loss is inferred only when about a window has passed a hole, so
//! that reordering is not taken for loss.
//!
//! Extended limited transmit keeps the ACK clock: the careful variant sends one new segment for
//! two duplicates, the aggressive one for each.
//!
//! Standard: RFC 4653.

use super::Sender;
use crate::congestion::{RecoveryState, Window};
use crate::tcp::config::LossResponse;

/// State of a series of duplicate ACKs.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::tcp::sender) struct NonCongestion {
    /// Number of outstanding segments at the first duplicate ACK, and the threshold computed from
    /// it. `None` without duplicates.
    episode: Option<(u32, u32)>,
}

/// Returns the number of duplicate ACKs that indicate a loss, with `flight` segments outstanding
/// (section 3.2, with LT_F of 2/3 and 1/2).
fn threshold(is_careful: bool, flight: u32, least: u32) -> u32 {
    let extended = if is_careful {
        2 * flight / 3
    } else {
        flight / 2
    };
    extended.max(least)
}

/// Sets the window after the hole was filled without a retransmission. No burst follows, and slow
/// start returns to the saved window (section 3.2 rules T.1 and T.2).
fn end_window(window: &mut Window, flight: u32, saved: f64) {
    window.cwnd = (f64::from(flight) + 1.0).min(saved).max(1.0);
    window.ssthresh = window.ssthresh.max(saved);
}

impl Sender {
    pub(in crate::tcp::sender) fn uses_ncr(&self) -> bool {
        matches!(
            self.config.resilience.loss,
            LossResponse::NcrCareful | LossResponse::NcrAggressive
        )
    }

    fn is_careful(&self) -> bool {
        self.config.resilience.loss == LossResponse::NcrCareful
    }

    /// Returns the number of duplicate ACKs that indicate a loss now.
    pub(in crate::tcp::sender) fn loss_threshold(&mut self) -> u32 {
        let least = self.config.recovery.duplicate_threshold;
        if !self.uses_ncr() {
            return least;
        }
        let flight = self.board.packets_out();
        let is_careful = self.is_careful();
        let (_, threshold) = *self
            .resilience
            .ncr
            .episode
            .get_or_insert((flight, threshold(is_careful, flight, least)));
        threshold
    }

    /// Returns the number of segments that extended limited transmit holds back.
    pub(in crate::tcp::sender) fn held_back_by_ncr(&self) -> u32 {
        let in_episode =
            self.resilience.ncr.episode.is_some() && self.state == RecoveryState::Disorder;
        if in_episode && self.is_careful() {
            self.board.sacked_out.div_ceil(2)
        } else {
            0
        }
    }

    /// Ends the episode after an ACK that advanced and filled its hole.
    pub(in crate::tcp::sender) fn end_ncr_episode(&mut self) {
        if self.resilience.ncr.episode.is_none() {
            return;
        }
        self.resilience.ncr.episode = None;
        if self.board.left_out() == 0
            && matches!(self.state, RecoveryState::Open | RecoveryState::Disorder)
        {
            let (flight, saved) = (self.board.packets_out(), self.window.cwnd);
            end_window(&mut self.window, flight, saved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::config::LossResponse;
    use crate::tcp::sender::tests::{Bench, linux};

    #[test]
    fn half_of_what_was_sacked_is_held_back_in_disorder_and_in_an_episode() {
        let mut config = linux();
        config.resilience.loss = LossResponse::NcrCareful;
        let mut b = Bench::sent(&config, 20);
        b.sack(0, &[(2, 4)]);
        assert_eq!(b.state(), RecoveryState::Disorder);
        assert_eq!(b.sender.held_back_by_ncr(), 2);
        b.sender.state = RecoveryState::Open;
        assert_eq!(b.sender.held_back_by_ncr(), 0);
        b.sender.state = RecoveryState::Disorder;
        b.sender.resilience.ncr.episode = None;
        assert_eq!(b.sender.held_back_by_ncr(), 0);
    }

    #[test]
    fn the_threshold_is_a_share_of_the_flight() {
        // Reference vector NC-1: the number of duplicate ACKs that indicate a loss.
        assert_eq!(threshold(true, 30, 3), 20);
        assert_eq!(threshold(false, 30, 3), 15);
        assert_eq!(threshold(true, 4, 3), 3);
    }

    #[test]
    fn a_filled_hole_costs_no_window_but_sends_no_burst() {
        let mut window = Window {
            cwnd: 30.0,
            ssthresh: 20.0,
            mss: 1448,
        };
        end_window(&mut window, 12, 30.0);
        assert_eq!((window.cwnd, window.ssthresh), (13.0, 30.0));
    }
}
