//! Loss of listed arrivals: the n-th packets to reach the link, of any kind.
//!
//! With a list from another program's run, a run here loses the same packets as long as it sends
//! the same ones. So a comparison does not depend on random draws.

use crate::lines::{meaningful, shown};
use crate::{LinkError, OrdinalsError};
use std::sync::Arc;

/// Ordinals of arrivals that are lost. The first packet that arrives has 1. Clones share the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrivals {
    /// Ordinals above zero, in increasing order.
    ordinals: Arc<[u64]>,
}

impl Arrivals {
    /// Returns the arrivals with these ordinals, each at least 1 and greater than the one before.
    ///
    /// # Errors
    /// Returns an error if an ordinal is zero or not greater than the one before.
    pub fn new(ordinals: impl Into<Arc<[u64]>>) -> Result<Arrivals, LinkError> {
        let ordinals = ordinals.into();
        let mut previous = 0;
        for &ordinal in ordinals.iter() {
            if ordinal <= previous {
                return Err(LinkError::Ordinal { ordinal, previous });
            }
            previous = ordinal;
        }
        Ok(Arrivals { ordinals })
    }

    /// Reads a list of increasing ordinals, one in each line. Blank lines and lines that begin with
    /// `#` are skipped.
    ///
    /// # Errors
    /// Returns an error with the number of the first wrong line.
    pub fn parse(text: &[u8]) -> Result<Arrivals, OrdinalsError> {
        let mut ordinals: Vec<u64> = Vec::new();
        for (line, word) in meaningful(text) {
            let ordinal = number(word).ok_or_else(|| OrdinalsError::NotAnOrdinal {
                line,
                found: shown(word),
            })?;
            let previous = ordinals.last().copied().unwrap_or(0);
            if ordinal <= previous {
                return Err(OrdinalsError::OutOfOrder {
                    line,
                    ordinal,
                    previous,
                });
            }
            ordinals.push(ordinal);
        }
        Ok(Arrivals {
            ordinals: ordinals.into(),
        })
    }
}

/// Parses a number above zero that has decimal digits only.
fn number(word: &[u8]) -> Option<u64> {
    if !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(word).ok()?.parse().ok()?;
    (number > 0).then_some(number)
}

/// Counter of arrivals along the list.
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    arrivals: Arrivals,
    /// Index of the next ordinal in the list.
    next: usize,
    arrived: u64,
}

impl Counted {
    pub(crate) fn new(arrivals: Arrivals) -> Self {
        Counted {
            arrivals,
            next: 0,
            arrived: 0,
        }
    }

    #[inline]
    pub(crate) fn is_lost(&mut self) -> bool {
        self.arrived += 1;
        debug_assert!(
            self.arrivals
                .ordinals
                .get(self.next)
                .is_none_or(|&next| next >= self.arrived),
            "a listed arrival was passed over"
        );
        let is_lost = self.arrivals.ordinals.get(self.next) == Some(&self.arrived);
        self.next += usize::from(is_lost);
        is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_listed_arrivals_are_lost() {
        let arrivals = Arrivals::new([1, 2, 5]).expect("increasing");
        let mut counted = Counted::new(arrivals);
        let lost: Vec<u64> = (1..=8).filter(|_| counted.is_lost()).collect();
        assert_eq!(lost, [1, 2, 5]);
    }

    #[test]
    fn a_file_has_an_ordinal_a_line_and_comments() {
        let arrivals = Arrivals::parse(b"# seed 11\n3\r\n\n 17\n# end\n200").expect("a list");
        assert_eq!(*arrivals.ordinals, [3, 17, 200]);
        assert_eq!(
            Arrivals::parse(b"").map(|none| none.ordinals.len()),
            Ok(0),
            "nothing is lost"
        );
    }

    #[test]
    fn errors_name_the_line_and_what_was_expected() {
        let error = |text: &str| {
            Arrivals::parse(text.as_bytes())
                .expect_err("a wrong list")
                .to_string()
        };
        assert_eq!(
            error("1\n# two\nx\n"),
            "line 3: found \"x\"; expected the ordinal of an arrival, a whole number from 1 on"
        );
        assert!(error("0").starts_with("line 1: found \"0\""));
        assert!(error("-1").starts_with("line 1: found \"-1\""));
        assert!(error("1.5").starts_with("line 1"));
        assert!(error("99999999999999999999").starts_with("line 1"));
        assert_eq!(
            error("4\n4\n"),
            "line 2: 4 comes after 4; expected increasing ordinals"
        );
    }

    #[test]
    fn a_list_out_of_order_is_an_error() {
        assert!(Arrivals::new([2, 1]).is_err());
        assert!(Arrivals::new([0]).is_err());
    }
}
