//! So many of something, or no end of it.

use fadeout_core::registry::{FromSetting, Settings};

/// Number of things left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Countdown {
    /// This many.
    Left(u64),
    /// No end of them.
    Endless,
}

impl FromSetting for Countdown {
    /// Zero is no end.
    fn from_setting(settings: &Settings<'_>, name: &str) -> Self {
        match u64::from_setting(settings, name) {
            0 => Countdown::Endless,
            count => Countdown::Left(count),
        }
    }
}

impl Countdown {
    /// Takes one away; `false` when there is none.
    pub(crate) fn take(&mut self) -> bool {
        match self {
            Countdown::Endless => true,
            Countdown::Left(0) => false,
            Countdown::Left(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Whether there is none left.
    pub(crate) fn is_over(self) -> bool {
        self == Countdown::Left(0)
    }

    /// How many are left; `None` for no end.
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
        assert!(two.take() && !two.is_over());
        assert!(two.take() && two.is_over());
        assert!(!two.take());
        assert_eq!(two.left(), Some(0));
    }

    #[test]
    fn no_end_is_never_over() {
        let mut endless = Countdown::Endless;
        assert!((0..1000).all(|_| endless.take() && !endless.is_over()));
        assert_eq!(endless.left(), None);
    }
}
