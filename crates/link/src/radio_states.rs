//! Radio states of a 3G phone, which determine when its bearer can send.

use fadeout_core::{Span, Time};

/// Durations of a phone's radio states, and of the promotions between them.
///
/// Standard: TS 25.331 §7.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadioStateConfig {
    /// Time from idle to CELL_DCH.
    pub idle_promotion: Span,
    /// Time from CELL_FACH to CELL_DCH.
    pub fach_promotion: Span,
    /// Inactivity in CELL_DCH after which the phone falls to CELL_FACH.
    pub dch_timer: Span,
    /// Inactivity in CELL_FACH after which the phone falls to idle.
    pub fach_timer: Span,
}

impl Default for RadioStateConfig {
    /// Returns the values measured by Qian et al. ("Characterizing radio resource allocation for 3G
    /// networks", IMC 2010).
    fn default() -> Self {
        RadioStateConfig {
            idle_promotion: Span::from_secs(2),
            fach_promotion: Span::from_millis(1500),
            dch_timer: Span::from_secs(5),
            fach_timer: Span::from_secs(12),
        }
    }
}

/// RRC state of a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RadioState {
    /// No radio resources.
    Idle,
    /// Shared channel, which carries no data here.
    Fach,
    /// Channels of the bearer, or the promotion to them.
    Dch,
}

/// Radio states of one phone, shared by its uplink and downlink. They follow from the time since
/// the last activity, so they need no event.
#[derive(Debug, Clone)]
pub struct RadioStates {
    config: RadioStateConfig,
    /// Latest known end of activity. `None` before the first.
    active_until: Option<Time>,
    opens_at: Time,
}

impl RadioStates {
    /// Returns a phone that starts idle.
    pub fn new(config: RadioStateConfig) -> RadioStates {
        RadioStates {
            config,
            active_until: None,
            opens_at: Time::ZERO,
        }
    }

    /// Records a packet in either direction, which promotes the phone. Returns the time from which
    /// CELL_DCH is available, which may be in the past.
    pub fn on_packet(&mut self, now: Time) -> Time {
        let promotion = match self.state_at(now) {
            RadioState::Dch => Span::ZERO,
            RadioState::Fach => self.config.fach_promotion,
            RadioState::Idle => self.config.idle_promotion,
        };
        if !promotion.is_zero() {
            self.opens_at = now.saturating_add(promotion);
        }
        debug_assert!(
            promotion.is_zero() || self.opens_at >= now,
            "a promotion ends before it begins"
        );
        self.on_activity(self.opens_at.max(now));
        debug_assert!(
            self.state_at(self.opens_at.max(now)) == RadioState::Dch,
            "a promoted phone cannot send"
        );
        self.opens_at
    }

    /// Records that the phone sends or receives until `until`.
    pub fn on_activity(&mut self, until: Time) {
        self.active_until = self.active_until.max(Some(until));
    }

    /// Returns the state at `now`, which must not be before the last requested time.
    pub fn state_at(&self, now: Time) -> RadioState {
        let Some(active_until) = self.active_until else {
            return RadioState::Idle;
        };
        let idle = now.since(active_until);
        if idle <= self.config.dch_timer {
            RadioState::Dch
        } else if idle <= self.config.dch_timer + self.config.fach_timer {
            RadioState::Fach
        } else {
            RadioState::Idle
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn each_state_has_its_promotion_and_its_timer() {
        let mut states = RadioStates::new(RadioStateConfig::default());
        assert_eq!(states.state_at(ms(0)), RadioState::Idle);
        assert_eq!(states.on_packet(ms(100)), ms(2100));
        // A packet during a promotion does not change the time at which the promotion ends.
        assert_eq!(states.on_packet(ms(1000)), ms(2100));
        states.on_activity(ms(3000));
        assert_eq!(states.on_packet(ms(7999)), ms(2100));
        assert_eq!(states.state_at(ms(12_999)), RadioState::Dch);
        assert_eq!(states.state_at(ms(13_000)), RadioState::Fach);
        assert_eq!(states.on_packet(ms(13_000)), ms(14_500));
        assert_eq!(states.state_at(ms(14_500 + 17_000)), RadioState::Fach);
        assert_eq!(states.on_packet(ms(14_500 + 17_001)), ms(33_501));
    }

    #[test]
    fn activity_in_either_direction_counts() {
        let mut states = RadioStates::new(RadioStateConfig::default());
        states.on_packet(ms(0));
        states.on_activity(ms(60_000));
        states.on_activity(ms(30_000));
        assert_eq!(states.state_at(ms(65_000)), RadioState::Dch);
    }
}
