//! Limited or unlimited number of repetitions.

use fadeout_core::registry::{FromSetting, Settings};

/// Number of remaining repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Countdown {
    /// Limited number.
    Left(u64),
    /// Unlimited number.
    Endless,
}

impl FromSetting for Countdown {
    /// Returns the number of repetitions that the setting gives. Zero is unlimited.
    fn from_setting(settings: &Settings<'_>, name: &str) -> Self {
        match u64::from_setting(settings, name) {
            0 => Countdown::Endless,
            count => Countdown::Left(count),
        }
    }
}

impl Countdown {
    /// Counts one repetition. Returns false if none is left.
    pub(crate) fn use_one(&mut self) -> bool {
        match self {
            Countdown::Endless => true,
            Countdown::Left(0) => false,
            Countdown::Left(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Returns true if no repetition is left.
    pub(crate) fn is_over(self) -> bool {
        self == Countdown::Left(0)
    }

    /// Returns the number of remaining repetitions. `None` if it is unlimited.
    pub(crate) fn left(self) -> Option<u64> {
        match self {
            Countdown::Left(left) => Some(left),
            Countdown::Endless => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_are_taken_and_no_third() {
        let mut two = Countdown::Left(2);
        assert!(two.use_one() && !two.is_over());
        assert!(two.use_one() && two.is_over());
        assert!(!two.use_one());
        assert_eq!(two.left(), Some(0));
    }

    #[test]
    fn no_end_is_never_over() {
        let mut endless = Countdown::Endless;
        assert!((0..1000).all(|_| endless.use_one() && !endless.is_over()));
        assert_eq!(endless.left(), None);
    }
}
