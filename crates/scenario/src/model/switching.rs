//! L1/L2-triggered mobility and handover without random access: what belongs to them, and what does not fit them.

use super::conditional::HandoverProcedure;
use super::{EventKind, HandoverData, MobilityManagement};
use crate::table::words;
use fadeout_core::Span;

words! {
    /// What a UE does about candidates ahead of the command of MAC.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EarlySynchronisation {
        /// it measures them
        None = "none",
        /// it is in sync with their downlink too (early activation of TCI states)
        Downlink = "downlink",
        /// the network also has their timing advance, from a preamble that it ordered: random access is skipped
        Both = "both",
    }
}

words! {
    /// The timing advance in a target that is entered without random access.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TargetAdvance {
        /// none, for small cells (*ta0*, *zero*)
        Zero = "zero",
        /// that of the source, for cells at one place (*mcg-PTAG*, *source*)
        Source = "source",
    }
}

/// A key, what is wrong with it, what is expected.
pub(super) type Misfit = (&'static str, &'static str, &'static str);

impl MobilityManagement {
    /// A key of a procedure that is not this one's.
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
            let message = "a part of L1/L2-triggered mobility, but MAC switches nobody";
            Some((key, message, "`procedure = \"ltm\"`, or without it"))
        } else if self.rach_less.is_some() && !is_plain {
            let message = "random access is skipped after a command of RRC alone";
            let expected =
                "`procedure = \"plain\"`; with \"ltm\" `early-synchronisation = \"both\"` skips it";
            Some(("rach-less", message, expected))
        } else if self.rach_less_grant_interval.is_some() && self.rach_less.is_none() {
            let message = "a grant in place of random access, but that is not skipped";
            Some((
                "rach-less-grant-interval",
                message,
                "`rach-less`, or without it",
            ))
        } else if is_short(Span::from_micros(125)) {
            let message = "uplink grants that come faster than slots";
            let expected = "\"125 us\" or more, such as LTE's \"2 ms\", \"5 ms\" or \"10 ms\"";
            Some(("rach-less-grant-interval", message, expected))
        } else {
            None
        }
    }

    /// What does not fit L1/L2-triggered mobility.
    ///
    /// Standard: TS 38.300 §9.2.3.5.
    pub(super) fn misfit_of_ltm(&self) -> Option<Misfit> {
        let is_other = |kind| matches!(kind, EventKind::B1 | EventKind::B2);
        if self.data != HandoverData::Forwarding {
            let message = "cells of one node, between which nothing is forwarded or sent twice";
            return Some(("data", message, "\"forwarding\" with `procedure = \"ltm\"`"));
        }
        if !self.preparation.is_direct() {
            let message = "candidates by way of the core, but all are of one node";
            return Some(("preparation", message, "\"xn\" with `procedure = \"ltm\"`"));
        }
        let has_other = self.events.iter().any(|event| is_other(event.kind));
        has_other.then_some((
            "events",
            "events b1 and b2, but candidates are of NR",
            "others, or `procedure = \"plain\"`",
        ))
    }
}
