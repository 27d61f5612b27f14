//! Reports of a UE's data rate to listeners of its link.

use super::effect::{Effect, Effects, ReportEffect};
use fadeout_core::{LinkInfo, Rate};

/// Smallest relative change of a rate that is reported.
const LEAST_CHANGE: f64 = 0.05;

/// State of the reports about one UE: the rate in bit/s that was last reported. `None` if no flow
/// uses the rate.
#[derive(Debug, Default)]
pub(crate) struct RateReports(Option<f64>);

impl RateReports {
    /// Begins the reports. The rate before the first report is zero.
    pub(crate) fn begin(&mut self) {
        self.0 = Some(0.0);
    }

    /// True if a flow uses the rate.
    pub(crate) fn are_used(&self) -> bool {
        self.0.is_some()
    }

    /// Handles a new rate of the UE's link in bit/s.
    pub(crate) fn on_measured(&mut self, rate: f64, effects: &mut Effects) {
        let is_change = |before: &f64| (rate - before).abs() > LEAST_CHANGE * before;
        if self.0.as_ref().is_some_and(is_change) {
            self.report(rate, effects);
        }
    }

    /// Handles the loss of the UE's cell. The UE has no rate then.
    pub(crate) fn on_left(&mut self, effects: &mut Effects) {
        if self.0.is_some_and(|before| before > 0.0) {
            self.report(0.0, effects);
        }
    }

    fn report(&mut self, rate: f64, effects: &mut Effects) {
        self.0 = Some(rate);
        let rate = Rate::from_bits_per_sec(rate as u64);
        effects.push_back(Effect::Report(ReportEffect::Notify(LinkInfo::Rate(rate))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rates in bit/s that are reported for measured rates. A negative rate stands for
    /// the loss of the cell.
    fn reported(begins: bool, rates: &[f64]) -> Vec<u64> {
        let (mut reports, mut effects) = (RateReports::default(), Effects::new());
        if begins {
            reports.begin();
        }
        for &rate in rates {
            match rate < 0.0 {
                true => reports.on_left(&mut effects),
                false => reports.on_measured(rate, &mut effects),
            }
        }
        let rates = effects.into_iter().map(|effect| match effect {
            Effect::Report(ReportEffect::Notify(LinkInfo::Rate(rate))) => rate.as_bits_per_sec(),
            other => panic!("{other:?} is no rate"),
        });
        rates.collect()
    }

    #[test]
    fn without_a_listener_no_rate_is_reported() {
        assert!(!RateReports::default().are_used());
        assert_eq!(reported(false, &[1e6, -1.0, 2e6]), [0; 0]);
    }

    #[test]
    fn the_first_rate_is_reported() {
        assert_eq!(reported(true, &[1e6]), [1_000_000]);
        assert_eq!(reported(true, &[0.5]), [0], "any rate is more than none");
    }

    #[test]
    fn a_rate_of_zero_is_no_news_at_first() {
        assert_eq!(reported(true, &[0.0]), [0; 0]);
    }

    #[test]
    fn a_change_of_five_percent_is_not_reported_and_a_larger_one_is() {
        assert_eq!(reported(true, &[1e6, 1.05e6, 0.95e6]), [1_000_000]);
        assert_eq!(reported(true, &[1e6, 1.051e6]), [1_000_000, 1_051_000]);
        assert_eq!(reported(true, &[1e6, 0.949e6]), [1_000_000, 949_000]);
    }

    #[test]
    fn small_changes_add_up_to_a_report() {
        let rates = [1e6, 1.04e6, 1.08e6, 1.12e6];
        assert_eq!(reported(true, &rates), [1_000_000, 1_080_000]);
    }

    #[test]
    fn a_ue_without_a_cell_has_no_rate_and_says_so_once() {
        assert_eq!(reported(true, &[1e6, -1.0, -1.0]), [1_000_000, 0]);
        assert_eq!(reported(true, &[-1.0]), [0; 0], "it had none before");
    }

    #[test]
    fn the_rate_of_the_next_cell_is_reported_even_if_it_is_the_same() {
        assert_eq!(reported(true, &[1e6, -1.0, 1e6]), [1_000_000, 0, 1_000_000]);
    }
}
