//! Keys of conditional handover, and checks of keys that cannot be combined with it.

use super::{EventKind, HandoverData, MeasurementEvent, MobilityManagement};
use crate::build::Builder;
use crate::keys::TIME;
use crate::quantity::Dimension;
use crate::read::{Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue, key_table, list, nested, word_choice};
use fadeout_core::{Dbm, Decibel, Span};
use serde_json::Value;

const LEVEL: Shape = Shape::Quantity(Dimension::Power, Range::closed(-200.0, 50.0));
const OFFSET: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-30.0, 30.0));
const HYSTERESIS: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 30.0));

word_choice! {
    /// The procedure of a handover. It determines when a UE leaves its cell.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverProcedure {
        /// The network commands the handover.
        Plain = "plain",
        /// The UE decides (conditional handover). It moves to a prepared cell when the `conditions`
        /// are fulfilled.
        Conditional = "conditional",
        /// The network commands the handover. The source serves the UE until the target serves it
        /// (DAPS).
        Daps = "daps",
        /// The network commands the handover in MAC, among prepared cells of one node
        /// (L1/L2-triggered mobility, LTM).
        Ltm = "ltm",
    }
}

key_table! {
    /// A condition on which a UE executes a conditional handover (TS 38.331 clause 5.3.5.13.4).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct ExecutionCondition {
        own {}
        check = ExecutionCondition::with_levels;
        /// Kind of the condition: the levels that it compares.
        kind: ConditionKind = ConditionKind::SHAPE, Required;
        /// RSRP threshold of the candidate cell in conditions a4 and a5.
        threshold: Option<Dbm> = LEVEL, Optional;
        /// RSRP threshold of the serving cell in condition a5.
        serving_threshold: Option<Dbm> = LEVEL, Optional;
        /// Offset by which the candidate cell must be better than the serving cell in condition a3.
        offset: Decibel = OFFSET, Default("\"3 dB\"");
        /// Hysteresis of the condition.
        hysteresis: Decibel = HYSTERESIS, Default("\"1 dB\"");
        /// Time for which the condition must hold (time to trigger).
        time_to_trigger: Span = TIME, Default("\"160 ms\"");
        /// Filter coefficient k of the layer 3 filter. 0 disables the filter.
        filter: u8 = Shape::Integer { min: 0, max: 19 }, Default("4");
    }
}

nested!(ExecutionCondition);

word_choice! {
    /// The kind of a condition: the levels that it compares.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ConditionKind {
        /// The candidate cell is better than the serving cell by an offset.
        A3 = "a3",
        /// The candidate cell is better than a threshold.
        A4 = "a4",
        /// The serving cell is worse than a threshold, and the candidate cell is better than a
        /// second threshold.
        A5 = "a5",
    }
}

impl ExecutionCondition {
    /// Condition a3 with its defaults. It is used if the scenario gives no condition.
    pub const USUAL: ExecutionCondition = ExecutionCondition {
        kind: ConditionKind::A3,
        threshold: None,
        serving_threshold: None,
        offset: Decibel(3.0),
        hysteresis: Decibel(1.0),
        time_to_trigger: Span::from_millis(160),
        filter: 4,
    };

    fn with_levels(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let (is_good, expected) = match self.kind {
            ConditionKind::A3 => (true, ""),
            ConditionKind::A4 => (
                self.threshold.is_some(),
                "a `threshold`, such as \"-100 dBm\"",
            ),
            ConditionKind::A5 => (
                self.threshold.is_some() && self.serving_threshold.is_some(),
                "a `threshold` and a `serving-threshold`",
            ),
        };
        if !is_good {
            let kind = self.kind.word();
            let message = format!("condition {kind} lacks a threshold");
            builder.mistake(fields.place, message, expected);
        }
        is_good.then_some(self)
    }
}

impl KeyValue for Vec<ExecutionCondition> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.iter()
            .map(|condition| KeyValue::written(condition, shape))
            .collect()
    }
}

impl MobilityManagement {
    /// Checks that keys of conditional handover are given only with this procedure, and that the
    /// other keys are compatible with the procedure.
    ///
    /// Standard: TS 38.300 §9.2.3.4.
    pub(super) fn fits_procedure(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        let is_candidates = matches!(
            self.procedure,
            HandoverProcedure::Conditional | HandoverProcedure::Ltm
        );
        let is_conditional = self.procedure == HandoverProcedure::Conditional;
        let keys = [
            ("conditions", self.conditions.is_some() && !is_conditional),
            (
                "max-candidates",
                self.max_candidates.is_some() && !is_candidates,
            ),
            (
                "candidate-timeout",
                self.candidate_timeout.is_some() && !is_candidates,
            ),
            (
                "conditional-recovery",
                self.conditional_recovery.is_some() && !is_conditional,
            ),
            (
                "early-forwarding",
                self.early_forwarding.is_some() && !is_conditional,
            ),
        ];
        let stray = keys.iter().find(|(_, is_stray)| *is_stray);
        let stray = stray.map(|&(key, _)| {
            let message = "this key has an effect only with `procedure = \"conditional\"`";
            let expected = "`procedure = \"conditional\"`, or no such key";
            (key, message, expected)
        });
        let commands = self.events.iter().any(|event| event.command);
        let stray = stray.or((commands && !is_conditional).then_some((
            "events",
            "`command` has an effect only with `procedure = \"conditional\"`",
            "`procedure = \"conditional\"`, or no `command`",
        )));
        let mistake = stray
            .or_else(|| self.stray_of_switching())
            .or_else(|| self.misfit_of_nodes())
            .or(match self.procedure {
                HandoverProcedure::Plain => None,
                HandoverProcedure::Conditional => self.misfit(),
                HandoverProcedure::Daps => self.misfit_of_daps(),
                HandoverProcedure::Ltm => self.misfit_of_ltm(),
            });
        if let Some((key, message, expected)) = mistake {
            builder.mistake(fields.place_of(key), message, expected);
        }
        mistake.is_none()
    }

    /// Returns a setting that cannot be combined with conditional handovers: the key, the mistake
    /// and the expected value. `None` if there is none.
    fn misfit(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let is_other = |event: &MeasurementEvent| {
            matches!(event.kind, EventKind::B1 | EventKind::B2) && !event.command
                || event.threshold_rscp.is_some()
                || event.kind == EventKind::E3a
        };
        match &self.conditions {
            Some(all) if all.len() > 2 => Some((
                "conditions",
                "more than two conditions of a handover",
                "one or two, which must both be fulfilled",
            )),
            _ if self.data == HandoverData::Bicasting => Some((
                "data",
                "bicasting with conditional handovers, whose time the network does not know",
                "\"forwarding\" or \"none\" with `procedure = \"conditional\"`",
            )),
            _ if self.early_forwarding == Some(true) && self.data != HandoverData::Forwarding => {
                Some((
                    "early-forwarding",
                    "`early-forwarding`, but the source forwards no data",
                    "`data = \"forwarding\"`, or no `early-forwarding`",
                ))
            }
            _ if !self.preparation.is_direct() => Some((
                "preparation",
                "conditional handovers by way of the core network",
                "\"x2\" or \"xn\" with `procedure = \"conditional\"`",
            )),
            _ if self.events.iter().any(is_other) => Some((
                "events",
                "candidates of another generation: a conditional reconfiguration contains the \
                 target's own RRC message (TS 38.331 clause 6.3.2)",
                "other events, `command = true` in b1 and b2 of LTE and NR, or `procedure = \
                 \"plain\"`",
            )),
            _ => None,
        }
    }

    /// Returns a setting that cannot be combined with DAPS handovers, in which the source continues
    /// to serve the UE. `None` if there is none.
    ///
    /// Standard: TS 38.300 §9.2.3.1, §9.2.3.2.
    fn misfit_of_daps(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let is_other = |kind| matches!(kind, EventKind::B1 | EventKind::B2);
        if self.data != HandoverData::Forwarding {
            return Some((
                "data",
                "in a DAPS handover the source forwards copies to the target",
                "\"forwarding\" with `procedure = \"daps\"`",
            ));
        }
        if !self.preparation.is_direct() {
            return Some((
                "preparation",
                "DAPS handovers by way of the core network",
                "\"xn\" with `procedure = \"daps\"`",
            ));
        }
        let has_other = self.events.iter().any(|event| is_other(event.kind));
        has_other.then_some((
            "events",
            "events b1 and b2 with DAPS, whose source and target are both NR cells",
            "other events, or `procedure = \"plain\"`",
        ))
    }
}
