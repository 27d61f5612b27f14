//! Mobility management: measurements, handover and link failures.

use super::Named;
use super::conditional::{ExecutionCondition, HandoverProcedure};
use super::handover::HandoverSignalling;
use super::secondary_node::SecondaryNode;
use super::switching::{EarlySynchronisation, TargetAdvance};
use super::timetable::{self, ServingCells, TimetableEntry};
use crate::build::Builder;
use crate::keys::{POSITIVE_TIME, RRC_TIME, SIZE, TIME};
use crate::quantity::Dimension;
use crate::read::{Fields, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, key_table, list, nested, word_choice};
use fadeout_core::{Bytes, Dbm, Decibel, NodeId, Span};
use serde_json::Value;

/// Range of RSRP values: the reporting range of LTE and NR, with a margin.
const LEVEL: Shape = Shape::Quantity(Dimension::Power, Range::closed(-200.0, 50.0));
const OFFSET: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-30.0, 30.0));
const HYSTERESIS: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 30.0));
const RAMPING: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 6.0));
const QUALITY: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-50.0, 50.0));
const POLICY: Shape = Shape::Named {
    kind: "handover-policy",
    tag: "name",
};
/// Presence of keys whose default value is that of the radio layer.
const MOBILITY: Presence = Presence::OfPart("mobility-management");
const INSTANCES: Shape = Shape::Integer { min: 1, max: 10 };
const COUNT: Shape = Shape::Integer { min: 1, max: 1000 };

/// Values of mgrp and mgl of GapConfig that a network can configure, in microseconds.
///
/// Standard: TS 38.331 §6.3.2.
const GAP_PERIODS_US: [u64; 4] = [20_000, 40_000, 80_000, 160_000];
const GAP_LENGTHS_US: [u64; 6] = [1_500, 3_000, 3_500, 4_000, 5_500, 6_000];

key_table! {
    /// Handover of all UEs that have a channel, among the cells of their generation. With an event
    /// b1 or b2, UEs are handed over among the cells of both generations.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MobilityManagement {
        own {
            /// Node of the core network at which its messages begin and end, and which bicasts
            /// packets. Present with messages over links and with bicasting.
            core: Option<NodeId>,
        }
        check = MobilityManagement::with_core;
        /// Measurement events that UEs report. After a report about a neighbour cell the network
        /// hands the UE over to that cell.
        events: Vec<MeasurementEvent> =
            Shape::List(&Shape::Table(MeasurementEvent::KEYS)), Default("[{ kind = \"a3\" }]");
        /// Handover policy. It chooses the cell to which the network hands a UE over.
        policy: Named = POLICY, FirstOfKind;
        /// Handovers at given times. Required with `policy = "timetable"`, and used only with it.
        timetable: Option<Vec<TimetableEntry>> =
            Shape::List(&Shape::Table(TimetableEntry::KEYS)), Optional;
        /// Serving cells of a measurement, such as a drive-test log. Their changes become the
        /// `timetable`. Used only with `policy = "timetable"`.
        serving_cells: Option<ServingCells> = Shape::Table(ServingCells::KEYS), Optional;
        /// Procedure of a handover. It determines when a UE leaves its cell.
        procedure: HandoverProcedure = HandoverProcedure::SHAPE, Default("\"plain\"");
        /// Conditions on which a UE moves to a prepared cell, at most two. If there are two, both
        /// must be fulfilled. Used only with `procedure = "conditional"`. Default: one condition a3
        /// with its defaults.
        conditions: Option<Vec<ExecutionCondition>> =
            Shape::List(&Shape::Table(ExecutionCondition::KEYS)), Optional;
        /// Largest number of cells that are prepared for a UE (maxNrofCondCells). Used only with
        /// the procedures `conditional` and `ltm`. Default: 8.
        max_candidates: Option<u32> = Shape::Integer { min: 1, max: 8 }, Optional;
        /// Longest time for which a prepared cell keeps resources for a UE that does not come. Used
        /// only with the procedures `conditional` and `ltm`. Default: 10 s with `conditional`, no
        /// limit with `ltm`.
        candidate_timeout: Option<Span> = RRC_TIME, Optional;
        /// True if a UE whose link failed enters a prepared cell that it selects, without
        /// re-establishment (attemptCondReconfig). Used only with `procedure = "conditional"`.
        /// Default: true.
        conditional_recovery: Option<bool> = Shape::Bool, Optional;
        /// Secondary nodes of UEs with a split bearer. Measurement events add, change and release
        /// them. Default: a UE keeps its `pscell` until the first change of the master's cell, and
        /// gets no other secondary node.
        secondary_node: Option<SecondaryNode> = Shape::Table(SecondaryNode::KEYS), Optional;
        /// True if the source sends copies of its data to prepared cells of other nodes (early data
        /// forwarding), for bearers in acknowledged mode. Used only with `procedure =
        /// "conditional"`. Default: false.
        early_forwarding: Option<bool> = Shape::Bool, Optional;
        /// Time between two reports of L1-RSRP. Used only with `procedure = "ltm"`. Default: 20 ms.
        l1_report_period: Option<Span> = RRC_TIME, Optional;
        /// Offset by which a candidate's L1-RSRP must exceed that of the serving cell. Used only
        /// with `procedure = "ltm"`. Default: 3 dB.
        switch_offset: Option<Decibel> = OFFSET, Optional;
        /// Number of consecutive reports in which a candidate must be better by `switch-offset`
        /// before the network commands a switch. Used only with `procedure = "ltm"`. Default: 4.
        switch_reports: Option<u32> = Shape::Integer { min: 1, max: 64 }, Optional;
        /// Time until the UE uses the target's configuration. The time starts 3 ms after the UE's
        /// HARQ feedback to the command (TS 38.133 clause 6.3.1.2). UEs that process in advance
        /// need 10 ms. Used only with `procedure = "ltm"`. Default: 30 ms, of which RRC processing
        /// takes 10 ms.
        switch_processing: Option<Span> = TIME, Optional;
        /// Time that a UE needs after `switch-processing` to synchronise with the target's
        /// downlink, if it was not synchronised before. Used only with `procedure = "ltm"`.
        /// Default: 22 ms.
        switch_synchronisation: Option<Span> = TIME, Optional;
        /// Synchronisation of a UE with candidate cells before the command. Used only with
        /// `procedure = "ltm"`. Default: `none`.
        early_synchronisation: Option<EarlySynchronisation> = EarlySynchronisation::SHAPE, Optional;
        /// True if a UE whose link failed enters a candidate cell that it selects, without
        /// re-establishment (attemptLTM-Switch). Used only with `procedure = "ltm"`. Default: true.
        switch_recovery: Option<bool> = Shape::Bool, Optional;
        /// Timing advance with which UEs enter their target without random access (*rach-Skip* of
        /// LTE, *rach-LessHO* of NR). In NR the target must belong to the same `node`. UEs enter
        /// other cells by random access. Used only with `procedure = "plain"`. Default: random
        /// access to every target.
        rach_less: Option<TargetAdvance> = TargetAdvance::SHAPE, Optional;
        /// Time between two uplink grants that the handover command contains (*ul-SchedInterval*),
        /// for handovers without random access. Used only with `rach-less`. Default: the UE waits
        /// for a grant on PDCCH.
        rach_less_grant_interval: Option<Span> = POSITIVE_TIME, Optional;
        /// Time between two RSRP measurements (TS 36.133 clause 8.1.2.2.1, TS 38.133 Table
        /// 9.2.5.2-1).
        measurement_period: Span = RRC_TIME, Default("\"200 ms\"");
        /// Standard deviation of the error of each RSRP measurement.
        measurement_error: Decibel = HYSTERESIS, Default("\"0 dB\"");
        /// Time between two measurement gaps (MGRP): 20, 40, 80 or 160 ms, with LTE 40 or 80 ms.
        /// UEs measure other carriers only in gaps. In a gap a UE neither receives nor sends.
        /// Default: no gaps, because UEs have a second receiver.
        measurement_gap_period: Option<Span> = POSITIVE_TIME, Optional;
        /// Length of a measurement gap (MGL): 1.5, 3, 3.5, 4, 5.5 or 6 ms, with LTE 6 ms. Default:
        /// 6 ms.
        measurement_gap_length: Option<Span> = POSITIVE_TIME, Optional;
        /// Offset of the measurement gaps: time from a multiple of `measurement-gap-period` to the
        /// next gap, in whole milliseconds. Default: each UE has its own offset.
        measurement_gap_offset: Option<Span> = TIME, Optional;
        /// Treatment of the downlink data that waits at the source of a handover.
        data: HandoverData = HandoverData::SHAPE, Default("\"forwarding\"");
        /// Time between the source's request for bicasting and its handover command. After the
        /// request the core network sends to both base stations. Used only with `data =
        /// "bicasting"`. Default: 0 s.
        bicast_before: Option<Span> = TIME, Optional;
        /// Time after the handover command at which the source requests bicasting, in place of
        /// `bicast-before`.
        bicast_after: Option<Span> = TIME, Optional;
        /// Largest amount of bicast data that a target keeps for a UE. Default: no limit.
        target_buffer: Option<Bytes> = SIZE, Optional;
        /// Nodes that prepare a handover: base stations directly, or through the core network.
        preparation: HandoverPreparation = HandoverPreparation::SHAPE, Default("\"x2\"");
        /// Transport of the messages between base stations and the core network, and of forwarded
        /// packets.
        signalling: HandoverSignalling = HandoverSignalling::SHAPE, Default("\"given\"");
        /// Node of the core network (MME and serving gateway, AMF and UPF). It sends and receives
        /// the messages over links, and it bicasts.
        "core" = Shape::Reference, Optional;
        /// Longest time that the source waits for the target's answer, if links carry the messages
        /// (TX2RELOCprep).
        preparation_timeout: Span = RRC_TIME, MOBILITY;
        /// One-way delay between two base stations (X2, Xn), for messages and forwarded data. Used
        /// only with `signalling = "given"`.
        station_delay: Span = TIME, MOBILITY;
        /// Delay from the UE's last message to the path switch in the core network. It is also the
        /// one-way delay between a base station and the core network. Used only with `signalling =
        /// "given"`.
        core_delay: Span = TIME, MOBILITY;
        /// Duration of the admission control at the target. Its median if `admission-delay-p90` is
        /// given.
        admission_delay: Span = TIME, MOBILITY;
        /// 90th percentile of the duration of the admission control. The durations then have a
        /// log-normal distribution with the median `admission-delay`. Default: each admission takes
        /// the same time.
        admission_delay_p90: Option<Span> = TIME, Optional;
        /// Largest number of UEs in a cell. A cell with this number of UEs refuses handovers.
        /// Default: no limit.
        max_ues: Option<u32> = Shape::Integer { min: 1, max: u32::MAX as u64 }, Optional;
        /// Time from the reception of the handover command until the UE can send a preamble in the
        /// target. It includes RRC processing, search and synchronisation (TS 36.133 clause
        /// 5.1.2.1, for a known cell). In NR it is 52 ms in FR1 (TS 38.133 clause 6.1.1).
        interruption: Span = TIME, MOBILITY;
        /// Time from the reception of the handover command until the UE sends and receives in a 3G
        /// cell. It includes 50 ms for RRC and 140 ms for a known cell (TS 36.133 clause 5.3.1.1).
        utra_interruption: Span = TIME, MOBILITY;
        /// Time between two occasions for preambles.
        preamble_period: Span = RRC_TIME, MOBILITY;
        /// Longest time that a UE waits for the response to a preamble (ra-ResponseWindow).
        response_window: Span = POSITIVE_TIME, MOBILITY;
        /// Largest number of preambles of a random access procedure (preambleTransMax). MAC then
        /// starts a new procedure.
        max_preambles: u32 = COUNT, MOBILITY;
        /// Number of a cell's preambles for contention-based random access (numberOfRA-Preambles,
        /// CB-PreamblesPerSSB). A UE without a dedicated preamble draws one of them. UEs that draw
        /// the same preamble at the same occasion contend.
        contention_preambles: u32 = Shape::Integer { min: 1, max: 64 }, MOBILITY;
        /// Power with which the first preamble should arrive at the base station
        /// (preambleInitialReceivedTargetPower, preambleReceivedTargetPower). The UE compensates
        /// the path loss. Default: UEs send each preamble with full power.
        preamble_target_power: Option<Dbm> = LEVEL, Optional;
        /// Increase of the transmit power from each preamble to the next (powerRampingStep). Used
        /// only with `preamble-target-power`. Default: 2 dB.
        power_ramping_step: Option<Decibel> = RAMPING, Optional;
        /// Longest backoff before the next preamble. Each backoff is drawn uniformly from zero to
        /// this value.
        backoff: Span = TIME, MOBILITY;
        /// Longest time that a UE tries to enter the target of a handover (T304).
        t304: Span = RRC_TIME, MOBILITY;
        /// Longest time that the source of a handover waits for the UE to leave before it continues
        /// to serve the UE (TX2RELOCoverall).
        overall_timeout: Span = RRC_TIME, MOBILITY;
        /// Longest time that the target of a handover waits for a lost end marker.
        end_marker_timeout: Span = RRC_TIME, MOBILITY;
        /// SINR below which a link is out of sync, Qout (TR 36.839).
        q_out: Decibel = QUALITY, MOBILITY;
        /// SINR above which a link is in sync, Qin (TR 36.839).
        q_in: Decibel = QUALITY, MOBILITY;
        /// Number of consecutive out-of-sync indications that start T310 (N310).
        n310: u32 = COUNT, MOBILITY;
        /// Number of consecutive in-sync indications that stop T310 (N311).
        n311: u32 = COUNT, MOBILITY;
        /// Time that a link may stay out of sync before it has failed (T310).
        t310: Span = TIME, MOBILITY;
        /// Time that a link may stay out of sync after its UE has reported a neighbour cell, before
        /// it has failed (T312). Default: until T310 expires.
        t312: Option<Span> = TIME, Optional;
        /// Number of beam failure instances in an NR cell that make a beam failure
        /// (beamFailureInstanceMaxCount): 1, 2, 3, 4, 5, 6, 8 or 10. Default: beam failures are not
        /// detected.
        beam_failure_instance_max_count: Option<u32> = INSTANCES, Optional;
        /// Number of reporting periods without a beam failure instance after which the count of
        /// instances restarts (beamFailureDetectionTimer). It is 1, 2, 3, 4, 5, 6, 8 or 10.
        beam_failure_detection_timer: Option<u32> = INSTANCES, Optional;
        /// RSRP from which on a candidate beam has a dedicated preamble for beam failure recovery
        /// (rsrp-ThresholdSSB of BeamFailureRecoveryConfig). Default: recovery has no dedicated
        /// preambles.
        rsrp_threshold_ssb: Option<Dbm> = LEVEL, Optional;
        /// Time for which beam failure recovery has dedicated preambles (beamFailureRecoveryTimer):
        /// 10, 20, 40, 60, 80, 100, 150 or 200 ms. Default: the duration of the recovery.
        beam_failure_recovery_timer: Option<Span> = POSITIVE_TIME, Optional;
        /// Longest time that a UE searches for a cell after a radio link failure (T311).
        t311: Span = RRC_TIME, MOBILITY;
        /// Longest time that a UE tries to re-establish its connection in a cell (T301).
        t301: Span = RRC_TIME, MOBILITY;
        /// Time that a UE needs to select a cell.
        cell_selection_delay: Span = RRC_TIME, MOBILITY;
        /// Longest time that an idle UE tries to set up a connection in a cell (T300).
        t300: Span = RRC_TIME, MOBILITY;
        /// RSRP that a cell must exceed to be suitable for an idle UE (q-RxLevMin, Qrxlevmin of TS
        /// 36.304 and 38.304 clause 5.2.3.2).
        q_rx_lev_min: Dbm = LEVEL, MOBILITY;
    }
}

impl MobilityManagement {
    /// Returns the node of the core network. `None` if links carry no messages.
    pub fn core_of_links(&self) -> Option<NodeId> {
        self.core
            .filter(|_| self.signalling == HandoverSignalling::Links)
    }

    /// Checks that the measurement gaps are among those that a network can configure.
    ///
    /// Standard: TS 38.331 §6.3.2.
    fn has_gaps_of_the_list(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        let keys = [
            (
                "measurement-gap-period",
                self.measurement_gap_period,
                &GAP_PERIODS_US[..],
            ),
            (
                "measurement-gap-length",
                self.measurement_gap_length,
                &GAP_LENGTHS_US[..],
            ),
        ];
        for (key, given, list) in keys {
            let Some(given) = given else { continue };
            let us = given.as_nanos() / 1000;
            if given.as_nanos() % 1000 == 0 && list.contains(&us) {
                continue;
            }
            let nearest = list.iter().min_by_key(|known| known.abs_diff(us));
            let ms = |us: &u64| format!("\"{} ms\"", *us as f64 / 1e3);
            let all: Vec<String> = list.iter().map(ms).collect();
            let nearest = nearest.map(ms).unwrap_or_default();
            let message = format!("`{key}` has a value that the standard does not allow");
            let expected = format!("one of {}; the nearest is {nearest}", all.join(", "));
            builder.mistake(fields.place_of(key), message, &expected);
            return false;
        }
        let others = [
            (
                "measurement-gap-length",
                self.measurement_gap_length.is_some(),
            ),
            (
                "measurement-gap-offset",
                self.measurement_gap_offset.is_some(),
            ),
        ];
        let Some(period) = self.measurement_gap_period else {
            let given = others.iter().find(|(_, is_given)| *is_given);
            if let Some((key, _)) = given {
                let message = "this key needs measurement gaps, but there are none";
                let expected = "`measurement-gap-period`, such as \"40 ms\", or no such key";
                builder.mistake(fields.place_of(key), message, expected);
            }
            return given.is_none();
        };
        let offset = self.measurement_gap_offset.unwrap_or_default();
        let is_good = offset < period && offset.as_nanos().is_multiple_of(1_000_000);
        if !is_good {
            let message = "the offset of a measurement gap is not in whole milliseconds, or not \
                within its period";
            let most = period.as_nanos() / 1_000_000 - 1;
            let expected = format!("a whole number of milliseconds, at most \"{most} ms\"");
            builder.mistake(
                fields.place_of("measurement-gap-offset"),
                message,
                &expected,
            );
        }
        is_good
    }

    /// Checks that the 90th percentile of the admission is not below a positive median.
    fn has_p90_above_median(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        let (median, p90) = (self.admission_delay, self.admission_delay_p90);
        let Some(p90) = p90 else { return true };
        if median > Span::ZERO && p90 >= median {
            return true;
        }
        let (message, expected) = match median > Span::ZERO {
            true => (
                "`admission-delay-p90` is shorter than the median `admission-delay`",
                format!("at least \"{median}\""),
            ),
            false => (
                "`admission-delay-p90` with a median `admission-delay` of zero",
                "a positive `admission-delay`, or no `admission-delay-p90`".to_owned(),
            ),
        };
        builder.mistake(fields.place_of("admission-delay-p90"), message, &expected);
        false
    }

    fn with_core(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let has_gaps = self.has_gaps_of_the_list(fields, builder);
        if !has_gaps
            || !self.has_p90_above_median(fields, builder)
            || !self.watches_beams_well(fields, builder)
            || !self.fits_procedure(fields, builder)
        {
            return None;
        }
        let timetable = (self.timetable.as_deref(), self.serving_cells.is_some());
        if !timetable::fits_policy(&self.policy.name, timetable, fields, builder) {
            return None;
        }
        if self.power_ramping_step.is_some() && self.preamble_target_power.is_none() {
            let message = "`power-ramping-step` without `preamble-target-power`";
            let expected = "`preamble-target-power`, such as \"-104 dBm\", or no \
                `power-ramping-step`";
            builder.mistake(fields.place_of("power-ramping-step"), message, expected);
            return None;
        }
        let over_links = self.signalling == HandoverSignalling::Links;
        if over_links && self.core.is_none() {
            let message = "messages over links without a node of the core network";
            let expected =
                "`core`, such as \"core\": the node where the routes to the base stations part";
            builder.mistake(fields.place_of("signalling"), message, expected);
            return None;
        }
        let is_bicast = self.data == HandoverData::Bicasting;
        if is_bicast && self.core.is_none() {
            let message = "bicasting without a node of the core network";
            let expected = "`core`, such as \"core\": the node that sends to both base stations";
            builder.mistake(fields.place_of("data"), message, expected);
            return None;
        }
        let keys = [
            ("bicast-before", self.bicast_before.is_some()),
            ("bicast-after", self.bicast_after.is_some()),
            ("target-buffer", self.target_buffer.is_some()),
        ];
        let given = keys.iter().find(|(_, is_given)| *is_given);
        if let Some((key, _)) = given.filter(|_| !is_bicast) {
            let message = "this key needs bicasting, but there is none";
            let expected = "`data = \"bicasting\"`, or no such key";
            builder.mistake(fields.place_of(key), message, expected);
            return None;
        }
        if self.bicast_before.is_some() && self.bicast_after.is_some() {
            let message = "bicasting has two start times";
            let expected = "one of `bicast-before` and `bicast-after`";
            builder.mistake(fields.place_of("bicast-after"), message, expected);
            return None;
        }
        Some(self)
    }
}

key_table! {
    /// A measurement event (TS 38.331 clause 5.5.4, TS 36.331 clause 5.5.4). The events b1 and b2
    /// compare cells of the other generation, or 3G cells with `threshold-rscp`. The event 3a is
    /// reported by UEs in 3G. All other events compare cells of the UE's own generation.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct MeasurementEvent {
        own {}
        check = MeasurementEvent::with_levels;
        /// Kind of the measurement event: the condition that triggers a report.
        kind: EventKind = EventKind::SHAPE, Required;
        /// RSRP threshold. In a1 and a2 it is compared with the serving cell, in a4, a5, b1, b2 and
        /// 3a with the neighbour cell.
        threshold: Option<Dbm> = LEVEL, Optional;
        /// RSRP threshold of the serving cell in the events a5 and b2.
        serving_threshold: Option<Dbm> = LEVEL, Optional;
        /// RSCP threshold of a 3G cell in the events b1 and b2, in place of `threshold`
        /// (b1-ThresholdUTRA, b2-Threshold2UTRA).
        threshold_rscp: Option<Dbm> = LEVEL, Optional;
        /// RSCP threshold of the UE's 3G cell in the event 3a.
        serving_threshold_rscp: Option<Dbm> = LEVEL, Optional;
        /// Offset by which the neighbour cell must be better than the UE's cell in the events a3
        /// and a6.
        offset: Decibel = OFFSET, Default("\"3 dB\"");
        /// Hysteresis of the event.
        hysteresis: Decibel = HYSTERESIS, Default("\"1 dB\"");
        /// Time for which the event's condition must hold before the first report (time to
        /// trigger).
        time_to_trigger: Span = TIME, Default("\"160 ms\"");
        /// Filter coefficient k of the layer 3 filter. 0 disables the filter.
        filter: u8 = Shape::Integer { min: 0, max: 19 }, Default("4");
        /// Time between two reports of the same event.
        report_interval: Span = RRC_TIME, Default("\"240 ms\"");
        /// True if a report of this event makes the network command a handover, which also ends the
        /// UE's prepared cells. Used only with `procedure = "conditional"`. With this procedure the
        /// events b1 and b2 have no other effect.
        command: bool = Shape::Bool, Default("false");
        /// Largest number of reports about a cell. Default: reports continue until the event's
        /// condition ends.
        report_amount: Option<u32> = Shape::Integer { min: 1, max: 64 }, Optional;
    }
}

nested!(MeasurementEvent);

impl MeasurementEvent {
    /// Returns true if the event leads to a 3G cell.
    pub fn is_to_utra(&self) -> bool {
        self.threshold_rscp.is_some()
    }

    /// Checks that levels of 3G cells are given for the events that need them, and only for these
    /// events.
    fn fits_utra(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        let (is_b, is_3a) = (
            matches!(self.kind, EventKind::B1 | EventKind::B2),
            self.kind == EventKind::E3a,
        );
        let both = self.threshold_rscp.is_some() && self.threshold.is_some();
        let wrong = match () {
            () if self.threshold_rscp.is_some() && !is_b => Some((
                "threshold-rscp",
                "a threshold for 3G cells in an event without one",
                "event `b1` or `b2`, or the key `threshold`",
            )),
            () if both => Some((
                "threshold-rscp",
                "an event with a threshold for 3G cells and one for other cells",
                "one of `threshold` and `threshold-rscp`",
            )),
            () if self.serving_threshold_rscp.is_some() && !is_3a => Some((
                "serving-threshold-rscp",
                "a threshold for 3G cells in an event without one",
                "event `3a`, or the key `serving-threshold`",
            )),
            () => None,
        };
        if let Some((key, message, expected)) = wrong {
            builder.mistake(fields.place_of(key), message, expected);
        }
        wrong.is_none()
    }

    fn with_levels(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if !self.fits_utra(fields, builder) {
            return None;
        }
        let needed = match self.kind {
            EventKind::A3 | EventKind::A6 => return Some(self),
            EventKind::A1 | EventKind::A2 | EventKind::A4 => self.threshold.is_some(),
            EventKind::B1 => self.threshold.or(self.threshold_rscp).is_some(),
            EventKind::A5 => self.threshold.is_some() && self.serving_threshold.is_some(),
            EventKind::B2 => {
                let of_neighbour = self.threshold.or(self.threshold_rscp);
                of_neighbour.is_some() && self.serving_threshold.is_some()
            }
            EventKind::E3a => self.threshold.is_some() && self.serving_threshold_rscp.is_some(),
        };
        if !needed {
            let message = format!("event {} lacks a threshold", self.kind.word());
            let expected = match self.kind {
                EventKind::A5 => "a `threshold` and a `serving-threshold`",
                EventKind::B2 => {
                    "a `serving-threshold` and a `threshold`, or a `threshold-rscp` for 3G cells"
                }
                EventKind::B1 => {
                    "a `threshold`, such as \"-110 dBm\", or a `threshold-rscp` for \
                    3G cells"
                }
                EventKind::E3a => "a `threshold` and a `serving-threshold-rscp`",
                _ => "a `threshold`, such as \"-110 dBm\"",
            };
            builder.mistake(fields.place, message, expected);
            return None;
        }
        Some(self)
    }
}

word_choice! {
    /// The condition of a measurement event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EventKind {
        /// The serving cell is better than a threshold.
        A1 = "a1",
        /// The serving cell is worse than a threshold.
        A2 = "a2",
        /// A neighbour cell is better than the serving cell by an offset.
        A3 = "a3",
        /// A neighbour cell is better than a threshold.
        A4 = "a4",
        /// The serving cell is worse than a threshold, and a neighbour cell is better than a second
        /// threshold.
        A5 = "a5",
        /// A neighbour cell is better by an offset than the UE's secondary cell on the same
        /// carrier.
        A6 = "a6",
        /// A neighbour cell of the other generation is better than a threshold.
        B1 = "b1",
        /// The serving cell is worse than a threshold, and a neighbour cell of the other generation
        /// is better than a second threshold.
        B2 = "b2",
        /// The UE's 3G cell is worse than a threshold, and a cell of LTE or NR is better than a
        /// second threshold.
        E3a = "3a",
    }
}

word_choice! {
    /// The nodes that prepare a handover.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverPreparation {
        /// LTE base stations prepare a handover directly, if a link connects them. Otherwise as
        /// with `s1`.
        X2 = "x2",
        /// NR base stations prepare a handover directly, if a link connects them. Otherwise as with
        /// `n2`.
        Xn = "xn",
        /// LTE base stations prepare a handover through the core network, which also carries
        /// forwarded packets.
        S1 = "s1",
        /// NR base stations prepare a handover through the core network, which also carries
        /// forwarded packets.
        N2 = "n2",
    }
}

impl HandoverPreparation {
    /// Returns true if base stations prepare a handover directly.
    pub fn is_direct(self) -> bool {
        matches!(self, HandoverPreparation::X2 | HandoverPreparation::Xn)
    }
}

word_choice! {
    /// The fate of downlink data at the source of a handover.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverData {
        /// The source drops the data.
        None = "none",
        /// The data is forwarded to the target. In acknowledged mode it keeps its PDCP sequence
        /// numbers.
        Forwarding = "forwarding",
        /// The data is dropped. The core network sends each packet to both base stations for some
        /// time.
        Bicasting = "bicasting",
    }
}

impl KeyValue for Vec<MeasurementEvent> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.iter()
            .map(|event| KeyValue::written(event, shape))
            .collect()
    }
}
