//! Keys of L1/L2-triggered mobility (LTM) and of handover without random access, and checks of
//! their compatibility.

use super::conditional::HandoverProcedure;
use super::{EventKind, HandoverData, MobilityManagement};
use crate::table::word_choice;
use fadeout_core::Span;

word_choice! {
    /// The synchronisation of a UE with candidate cells before the MAC command.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EarlySynchronisation {
        /// The UE only measures the candidates.
        None = "none",
        /// The UE also synchronises with the downlink of the candidates (early activation of TCI
        /// states).
        Downlink = "downlink",
        /// The network also knows the timing advance, from a preamble that it ordered. The UE then
        /// skips random access in the target.
        Both = "both",
    }
}

word_choice! {
    /// The timing advance for a target that the UE enters without random access.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TargetAdvance {
        /// Zero, for small cells (*ta0*, *zero*).
        Zero = "zero",
        /// The timing advance of the source, for cells at the same position (*mcg-PTAG*, *source*).
        Source = "source",
    }
}

/// Mistake: the key, the message and the expected value.
pub(super) type Misfit = (&'static str, &'static str, &'static str);

impl MobilityManagement {
    /// Returns a key that belongs only to another handover procedure. `None` if there is none.
    pub(super) fn stray_of_switching(&self) -> Option<Misfit> {
        let is_ltm = self.procedure == HandoverProcedure::Ltm;
        let is_plain = self.procedure == HandoverProcedure::Plain;
        let keys = [
            ("l1-report-period", self.l1_report_period.is_some()),
            ("switch-offset", self.switch_offset.is_some()),
            ("switch-reports", self.switch_reports.is_some()),
            ("switch-processing", self.switch_processing.is_some()),
            (
                "switch-synchronisation",
                self.switch_synchronisation.is_some(),
            ),
            (
                "early-synchronisation",
                self.early_synchronisation.is_some(),
            ),
            ("switch-recovery", self.switch_recovery.is_some()),
        ];
        let given = keys.iter().find(|(_, is_given)| *is_given && !is_ltm);
        let is_short = |least: Span| {
            let interval = self.rach_less_grant_interval;
            interval.is_some_and(|interval| interval < least)
        };
        if let Some(&(key, _)) = given {
            let message = "this key has an effect only with `procedure = \"ltm\"`";
            Some((key, message, "`procedure = \"ltm\"`, or no such key"))
        } else if self.rach_less.is_some() && !is_plain {
            let message = "`rach-less` has an effect only with `procedure = \"plain\"`";
            let expected =
                "`procedure = \"plain\"`, or `early-synchronisation = \"both\"` with \"ltm\"";
            Some(("rach-less", message, expected))
        } else if self.rach_less_grant_interval.is_some() && self.rach_less.is_none() {
            let message = "this key has an effect only with `rach-less`";
            Some((
                "rach-less-grant-interval",
                message,
                "`rach-less`, or no such key",
            ))
        } else if is_short(Span::from_micros(125)) {
            let message = "uplink grants that are closer together than slots";
            let expected = "\"125 us\" or more, such as LTE's \"2 ms\", \"5 ms\" or \"10 ms\"";
            Some(("rach-less-grant-interval", message, expected))
        } else {
            None
        }
    }

    /// Returns a setting that cannot be combined with L1/L2-triggered mobility. `None` if there is
    /// none.
    ///
    /// Standard: TS 38.300 §9.2.3.5.
    pub(super) fn misfit_of_ltm(&self) -> Option<Misfit> {
        let is_other = |kind| matches!(kind, EventKind::B1 | EventKind::B2);
        if self.data != HandoverData::Forwarding {
            let message = "LTM among cells of one node, where data is neither dropped nor bicast";
            return Some(("data", message, "\"forwarding\" with `procedure = \"ltm\"`"));
        }
        if !self.preparation.is_direct() {
            let message = "LTM by way of the core network, but all cells belong to one node";
            return Some(("preparation", message, "\"xn\" with `procedure = \"ltm\"`"));
        }
        let has_other = self.events.iter().any(|event| is_other(event.kind));
        has_other.then_some((
            "events",
            "events b1 and b2 with LTM, whose candidates are NR cells",
            "other events, or `procedure = \"plain\"`",
        ))
    }
}
