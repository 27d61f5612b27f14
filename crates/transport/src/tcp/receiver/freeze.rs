//! Freeze-TCP at the receiver (Goff, Moronski, Phatak and Gupta, INFOCOM 2000). The receiver closes
//! its window about a round trip before a predicted outage. When the link is back it announces the
//! open window three times.

use fadeout_core::{LinkInfo, Span, Time};

/// Number of acknowledgments that announce the end of an outage.
const ANNOUNCEMENTS: u32 = 3;

/// State of the window that Freeze-TCP closes, and the time of the next close.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Freeze {
    is_frozen: bool,
    freeze_at: Time,
}

impl Default for Freeze {
    fn default() -> Self {
        Freeze {
            is_frozen: false,
            freeze_at: Time::NEVER,
        }
    }
}

impl Freeze {
    /// Processes a report of the link. The window closes `lead` before a predicted outage. Returns
    /// the number of acknowledgments to send now.
    pub(super) fn on_link_info(&mut self, info: &LinkInfo, lead: Span) -> u32 {
        match *info {
            LinkInfo::BlockagePredicted { starts_at, .. } => {
                self.freeze_at = starts_at.saturating_sub(lead);
                0
            }
            LinkInfo::BlockageEnded => {
                self.freeze_at = Time::NEVER;
                if std::mem::take(&mut self.is_frozen) {
                    ANNOUNCEMENTS
                } else {
                    0
                }
            }
            LinkInfo::BlockageBegan | LinkInfo::Rate(_) => 0,
        }
    }

    /// Returns true if the window closes now. An acknowledgment must then report the closed window.
    pub(super) fn on_wake(&mut self, now: Time) -> bool {
        let closes = self.freeze_at <= now;
        if closes {
            self.freeze_at = Time::NEVER;
            self.is_frozen = true;
        }
        closes
    }

    pub(super) fn wake_at(&self) -> Time {
        self.freeze_at
    }

    pub(super) fn is_frozen(&self) -> bool {
        self.is_frozen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_closes_ahead_and_its_opening_is_said_three_times() {
        let time_at_ms = |ms| Time::ZERO + Span::from_millis(ms);
        let lead = Span::from_millis(50);
        let mut freeze = Freeze::default();
        let predicted = LinkInfo::BlockagePredicted {
            starts_at: time_at_ms(300),
            lasts: Span::from_secs(1),
        };
        assert_eq!(freeze.on_link_info(&predicted, lead), 0);
        assert_eq!(freeze.wake_at(), time_at_ms(250));
        assert!(!freeze.on_wake(time_at_ms(249)) && freeze.on_wake(time_at_ms(250)));
        assert!(freeze.is_frozen());
        assert_eq!(freeze.on_link_info(&LinkInfo::BlockageEnded, lead), 3);
        assert!(!freeze.is_frozen());
        assert_eq!(freeze.on_link_info(&LinkInfo::BlockageEnded, lead), 0);
    }
}
