//! Detector of a bandwidth plateau, where probing no longer finds more bandwidth.
//!
//! Source: draft-ietf-ccwg-bbr section 5.3.1.2.

/// Growth factor per round from which the bandwidth counts as still growing.
const GROWTH: f64 = 1.25;
/// Number of rounds with less growth than `GROWTH` after which the bandwidth has reached a plateau.
const ROUNDS: u32 = 3;

/// Detector of a plateau: three rounds in which the bandwidth grew by less than a quarter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plateau {
    bandwidth: f64,
    rounds: u32,
    is_reached: bool,
}

impl Plateau {
    /// Returns a detector that starts from `bandwidth`, in segments per second.
    pub(super) fn above(bandwidth: f64) -> Plateau {
        Plateau {
            bandwidth,
            ..Plateau::default()
        }
    }

    /// Compares the delivery rate of a round with the best earlier rate. The caller omits rounds
    /// that the application limited.
    pub(super) fn on_round(&mut self, rate: f64) {
        if rate >= self.bandwidth * GROWTH {
            *self = Plateau::above(rate);
            return;
        }
        self.rounds += 1;
        self.is_reached = self.rounds >= ROUNDS;
    }

    /// Returns true if the plateau is reached.
    pub(super) fn is_reached(&self) -> bool {
        self.is_reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rounds_without_a_quarter_more_are_a_plateau() {
        let mut plateau = Plateau::default();
        let reached = [100.0, 120.0, 126.0, 130.0, 140.0, 150.0].map(|rate| {
            plateau.on_round(rate);
            (plateau.bandwidth, plateau.is_reached())
        });
        assert_eq!(
            reached,
            [
                (100.0, false),
                (100.0, false),
                (126.0, false),
                (126.0, false),
                (126.0, false),
                (126.0, true),
            ]
        );
    }
}
