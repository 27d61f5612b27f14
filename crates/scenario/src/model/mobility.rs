//! Mobility management: measurements, handover and what follows a failure.

use super::Named;
use super::conditional::{ExecutionCondition, HandoverProcedure};
use super::handover::HandoverSignalling;
use super::secondary_node::SecondaryNode;
use super::switching::{EarlySynchronisation, TargetAdvance};
use crate::build::Builder;
use crate::keys::{POSITIVE_TIME, RRC_TIME, SIZE, TIME};
use crate::quantity::Dimension;
use crate::read::{Content, Fields, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, nested, table, words};
use fadeout_core::{Bytes, Dbm, Decibel, NodeId, Span};
use serde_json::Value;

/// RSRP as LTE and NR report it, and a margin around.
const LEVEL: Shape = Shape::Quantity(Dimension::Power, Range::closed(-200.0, 50.0));
const OFFSET: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-30.0, 30.0));
const HYSTERESIS: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 30.0));
const RAMPING: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 6.0));
const QUALITY: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-50.0, 50.0));
const POLICY: Shape = Shape::Named {
    kind: "handover-policy",
    tag: "name",
};
/// The defaults of the layer.
const MOBILITY: Presence = Presence::OfPart("mobility-management");
const INSTANCES: Shape = Shape::Integer { min: 1, max: 10 };
const COUNT: Shape = Shape::Integer { min: 1, max: 1000 };

/// mgrp and mgl of GapConfig, in microseconds.
///
/// Standard: TS 38.331 §6.3.2.
const GAP_PERIODS_US: [u64; 4] = [20_000, 40_000, 80_000, 160_000];
const GAP_LENGTHS_US: [u64; 6] = [1_500, 3_000, 3_500, 4_000, 5_500, 6_000];

table! {
    /// Handover of all UEs that have a channel, among the cells of their generation; of both with an event b1 or
    /// b2.
    #[derive(Debug, Clone, PartialEq)]
    pub struct MobilityManagement {
        own {
            /// Where the core's part of the messages begins and ends, and where bicast packets part; some with
            /// messages over links, and with bicasting.
            core: Option<NodeId>,
        }
        check = MobilityManagement::with_core;
        /// What a UE measures and reports. A report about a neighbour makes the network hand over to it.
        events: Vec<MeasurementEvent> =
            Shape::List(&Shape::Table(MeasurementEvent::KEYS)), Default("[{ kind = \"a3\" }]");
        /// To which cell the network hands a UE over.
        policy: Named = POLICY, FirstOfKind;
        /// Who decides when a UE goes.
        procedure: HandoverProcedure = HandoverProcedure::SHAPE, Default("\"plain\"");
        /// With `procedure = "conditional"`: when the UE goes to a cell that was prepared because a report named it. One or
        /// two, which must both be fulfilled; an a3 without it.
        conditions: Option<Vec<ExecutionCondition>> =
            Shape::List(&Shape::Table(ExecutionCondition::KEYS)), Optional;
        /// With the same: the most cells that are prepared (maxNrofCondCells); 8 without it.
        max_candidates: Option<u32> = Shape::Integer { min: 1, max: 8 }, Optional;
        /// With the same: how long a cell holds room for a UE that does not come; 10 s without it.
        candidate_timeout: Option<Span> = RRC_TIME, Optional;
        /// With the same: whether a UE whose link failed enters a prepared cell that it selects without re-establishment
        /// (attemptCondReconfig); it does without the key.
        conditional_recovery: Option<bool> = Shape::Bool, Optional;
        /// Secondary nodes of UEs with a split bearer, which come and go; without it a `pscell` goes with the first change of
        /// the master's cell, and none comes.
        secondary_node: Option<SecondaryNode> = Shape::Table(SecondaryNode::KEYS), Optional;
        /// With `procedure = "conditional"`: whether prepared cells of other nodes get copies of what the source sends, of bearers in
        /// acknowledged mode (early data forwarding); they do not without the key.
        early_forwarding: Option<bool> = Shape::Bool, Optional;
        /// With `procedure = "ltm"`: from one report of L1-RSRP to the next; 20 ms without it.
        l1_report_period: Option<Span> = RRC_TIME, Optional;
        /// With the same: by how much a candidate's L1-RSRP must exceed that of the serving cell; 3 dB without it.
        switch_offset: Option<Decibel> = OFFSET, Optional;
        /// With the same: in how many reports in a row it must, before the network commands; 4 without it.
        switch_reports: Option<u32> = Shape::Integer { min: 1, max: 64 }, Optional;
        /// With the same: from 3 ms behind the UE's feedback to the command until it has the target's configuration in use (TS
        /// 38.133 clause 6.3.1.2); 30 ms without it, of which RRC has 10, 10 ms where UEs process in advance.
        switch_processing: Option<Span> = TIME, Optional;
        /// With the same: how long it then takes to be in sync with the target's downlink, where it was not before; 22 ms
        /// without it.
        switch_synchronisation: Option<Span> = TIME, Optional;
        /// With the same: what a UE does about candidates ahead of the command; nothing but measuring them without it.
        early_synchronisation: Option<EarlySynchronisation> = EarlySynchronisation::SHAPE, Optional;
        /// With the same: whether a UE whose link failed enters a candidate that it selects without re-establishment
        /// (attemptLTM-Switch); it does without the key.
        switch_recovery: Option<bool> = Shape::Bool, Optional;
        /// With `procedure = "plain"`: UEs enter their target without random access, with this timing advance (*rach-Skip* of
        /// LTE, *rach-LessHO* of NR, there within one `node`); others than cells that fit are entered by random access.
        rach_less: Option<TargetAdvance> = TargetAdvance::SHAPE, Optional;
        /// With `rach-less`: from one opportunity of an uplink grant that comes with the command to the next (*ul-SchedInterval*);
        /// without it a UE waits for a grant on PDCCH.
        rach_less_grant_interval: Option<Span> = POSITIVE_TIME, Optional;
        /// From one measurement of RSRP to the next (TS 36.133 clause 8.1.2.2.1, TS 38.133 Table
        /// 9.2.5.2-1).
        measurement_period: Span = RRC_TIME, Default("\"200 ms\"");
        /// Standard deviation of the error of each measurement.
        measurement_error: Decibel = HYSTERESIS, Default("\"0 dB\"");
        /// From one measurement gap to the next (MGRP): 20, 40, 80 or 160 ms, with LTE 40 or 80. UEs measure other carriers
        /// in gaps alone, in which they neither hear nor send on their own. Without it they need no gaps, as they have a
        /// receiver more.
        measurement_gap_period: Option<Span> = POSITIVE_TIME, Optional;
        /// Length of a gap (MGL): 1.5, 3, 3.5, 4, 5.5 or 6 ms, with LTE 6; 6 ms without it.
        measurement_gap_length: Option<Span> = POSITIVE_TIME, Optional;
        /// From a multiple of the period to the gap, in whole milliseconds; without it each UE has its own.
        measurement_gap_offset: Option<Span> = TIME, Optional;
        /// The fate of downlink data at the source.
        data: HandoverData = HandoverData::SHAPE, Default("\"forwarding\"");
        /// How long the command waits after the source has asked the core to send to both base stations, with
        /// `data = "bicasting"`; at once without it.
        bicast_before: Option<Span> = TIME, Optional;
        /// How long after the command the source asks it to, instead.
        bicast_after: Option<Span> = TIME, Optional;
        /// The most that a target keeps of what the core sends to both, a UE; without it everything.
        target_buffer: Option<Bytes> = SIZE, Optional;
        /// Between which nodes a handover is prepared.
        preparation: HandoverPreparation = HandoverPreparation::SHAPE, Default("\"x2\"");
        /// What carries messages between base stations and the core, and forwarded packets.
        signalling: HandoverSignalling = HandoverSignalling::SHAPE, Default("\"given\"");
        /// Node of the core (MME and serving gateway, AMF and UPF), where messages over links begin and end, and
        /// which bicasts.
        "core" = Shape::Reference, Optional;
        /// How long the source waits for the target's answer over links (TX2RELOCprep).
        preparation_timeout: Span = RRC_TIME, MOBILITY;
        /// One way between two base stations (X2, Xn), for messages and forwarded data; with
        /// `signalling = "given"`.
        station_delay: Span = TIME, MOBILITY;
        /// From the UE's last message to the switch of the path in the core, and one way between a base
        /// station and the core; with `signalling = "given"`.
        core_delay: Span = TIME, MOBILITY;
        /// Admission control at the target.
        admission_delay: Span = TIME, MOBILITY;
        /// Most UEs that a cell takes by handover, with those that it has; without it any number.
        max_ues: Option<u32> = Shape::Integer { min: 1, max: u32::MAX as u64 }, Optional;
        /// From the command's reception until the UE can send a preamble in the target: RRC
        /// processing, search, synchronisation (TS 36.133 clause 5.1.2.1, for a known cell; with NR's
        /// requirements of TS 38.133 clause 6.1.1 it is 52 ms in FR1).
        interruption: Span = TIME, MOBILITY;
        /// From the command's reception until the UE sends and receives in a cell of 3G: 50 ms for RRC, and 140 ms for a
        /// known one (TS 36.133 clause 5.3.1.1).
        utra_interruption: Span = TIME, MOBILITY;
        /// From one occasion for preambles to the next.
        preamble_period: Span = RRC_TIME, MOBILITY;
        /// How long a UE waits for the answer to a preamble (ra-ResponseWindow).
        response_window: Span = POSITIVE_TIME, MOBILITY;
        /// Preambles until MAC starts random access anew (preambleTransMax).
        max_preambles: u32 = COUNT, MOBILITY;
        /// Preambles of a cell that UEs draw from which have no dedicated one (numberOfRA-Preambles,
        /// CB-PreamblesPerSSB): those that draw the same one at the same occasion contend.
        contention_preambles: u32 = Shape::Integer { min: 1, max: 64 }, MOBILITY;
        /// Power with which the first preamble is to arrive (preambleInitialReceivedTargetPower,
        /// preambleReceivedTargetPower), for which UEs make up the path loss; without it they send each with full power.
        preamble_target_power: Option<Dbm> = LEVEL, Optional;
        /// With it: by how much more each further preamble is sent with (powerRampingStep); 2 dB without it.
        power_ramping_step: Option<Decibel> = RAMPING, Optional;
        /// Longest wait until the next preamble, of which each is drawn.
        backoff: Span = TIME, MOBILITY;
        /// How long a UE tries to enter the target.
        t304: Span = RRC_TIME, MOBILITY;
        /// How long the source waits for the UE to leave before it goes on (TX2RELOCoverall).
        overall_timeout: Span = RRC_TIME, MOBILITY;
        /// How long the target waits for a lost end marker.
        end_marker_timeout: Span = RRC_TIME, MOBILITY;
        /// SINR below which a link is out of sync (TR 36.839).
        q_out: Decibel = QUALITY, MOBILITY;
        /// SINR above which it is in sync (TR 36.839).
        q_in: Decibel = QUALITY, MOBILITY;
        /// Out-of-sync indications in a row that start T310.
        n310: u32 = COUNT, MOBILITY;
        /// In-sync indications in a row that stop it.
        n311: u32 = COUNT, MOBILITY;
        /// How long a link may stay out of sync until it has failed.
        t310: Span = TIME, MOBILITY;
        /// How long a link that is out of sync may stay so after its UE has reported a neighbour (T312);
        /// without it until T310.
        t312: Option<Span> = TIME, Optional;
        /// Beam failure instances with which the beams have failed in a cell of NR (beamFailureInstanceMaxCount): 1, 2, 3, 4,
        /// 5, 6, 8 or 10. Without it no failure of beams is looked for.
        beam_failure_instance_max_count: Option<u32> = INSTANCES, Optional;
        /// Reporting periods after the latest instance in which the count of instances begins anew
        /// (beamFailureDetectionTimer): 1, 2, 3, 4, 5, 6, 8 or 10.
        beam_failure_detection_timer: Option<u32> = INSTANCES, Optional;
        /// RSRP of a candidate beam from which recovery has dedicated preambles for it (rsrp-ThresholdSSB of
        /// BeamFailureRecoveryConfig); without it preambles are drawn.
        rsrp_threshold_ssb: Option<Dbm> = LEVEL, Optional;
        /// How long recovery has dedicated preambles (beamFailureRecoveryTimer): 10, 20, 40, 60, 80, 100, 150 or 200 ms;
        /// without it as long as it takes.
        beam_failure_recovery_timer: Option<Span> = POSITIVE_TIME, Optional;
        /// How long a UE looks for a cell after a failure.
        t311: Span = RRC_TIME, MOBILITY;
        /// How long it tries to re-establish its connection there.
        t301: Span = RRC_TIME, MOBILITY;
        /// How long it takes to select a cell.
        cell_selection_delay: Span = RRC_TIME, MOBILITY;
        /// How long an idle UE tries to set up a connection in a cell (T300).
        t300: Span = RRC_TIME, MOBILITY;
        /// RSRP that a cell must exceed to suit an idle UE (q-RxLevMin; Qrxlevmin of TS 36.304 and 38.304 clause
        /// 5.2.3.2).
        q_rx_lev_min: Dbm = LEVEL, MOBILITY;
    }
}

impl MobilityManagement {
    /// The core, where links carry messages.
    pub fn core_of_links(&self) -> Option<NodeId> {
        self.core
            .filter(|_| self.signalling == HandoverSignalling::Links)
    }

    /// Checks that gaps are some that a network can configure.
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
            let message = format!("`{key}` is none that a network can configure");
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
                let message = "a part of measurement gaps, but there are none";
                let expected = "`measurement-gap-period`, such as \"40 ms\", or without it";
                builder.mistake(fields.place_of(key), message, expected);
            }
            return given.is_none();
        };
        let offset = self.measurement_gap_offset.unwrap_or_default();
        let is_good = offset < period && offset.as_nanos().is_multiple_of(1_000_000);
        if !is_good {
            let message = "a gap that does not begin in its period, or within a millisecond";
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

    fn with_core(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let has_gaps = self.has_gaps_of_the_list(fields, builder);
        if !has_gaps
            || !self.watches_beams_well(fields, builder)
            || !self.fits_procedure(fields, builder)
        {
            return None;
        }
        if self.power_ramping_step.is_some() && self.preamble_target_power.is_none() {
            let message = "`power-ramping-step` without `preamble-target-power`";
            let expected = "`preamble-target-power`, such as \"-104 dBm\", or without it";
            builder.mistake(fields.place_of("power-ramping-step"), message, expected);
            return None;
        }
        let over_links = self.signalling == HandoverSignalling::Links;
        if over_links && self.core.is_none() {
            let message = "messages over links, but no node for the core";
            let expected =
                "`core`, such as \"core\": the node where the ways to the base stations part";
            builder.mistake(fields.place_of("signalling"), message, expected);
            return None;
        }
        let is_bicast = self.data == HandoverData::Bicasting;
        if is_bicast && self.core.is_none() {
            let message = "bicasting without an anchor";
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
            let message = "a part of bicasting, but nothing is bicast";
            let expected = "`data = \"bicasting\"`, or without it";
            builder.mistake(fields.place_of(key), message, expected);
            return None;
        }
        if self.bicast_before.is_some() && self.bicast_after.is_some() {
            let message = "bicasting begins at two times";
            let expected = "`bicast-before` or `bicast-after`";
            builder.mistake(fields.place_of("bicast-after"), message, expected);
            return None;
        }
        Some(self)
    }
}

table! {
    /// A measurement event (TS 38.331 clause 5.5.4, TS 36.331 clause 5.5.4). b1 and b2 are about cells of the other
    /// generation, or with `threshold-rscp` of 3G, 3a about UEs in 3G, all others about cells of the UE's own generation.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct MeasurementEvent {
        own {}
        check = MeasurementEvent::with_levels;
        /// The condition.
        kind: EventKind = EventKind::SHAPE, Required;
        /// RSRP with which a1, a2 compare the serving cell, a4, a5, b1, b2, 3a the neighbour.
        threshold: Option<Dbm> = LEVEL, Optional;
        /// RSRP with which a5, b2 compare the serving cell.
        serving_threshold: Option<Dbm> = LEVEL, Optional;
        /// RSCP with which b1, b2 compare a cell of 3G instead (b1-ThresholdUTRA, b2-Threshold2UTRA).
        threshold_rscp: Option<Dbm> = LEVEL, Optional;
        /// RSCP with which 3a compares the cell of 3G that the UE is in.
        serving_threshold_rscp: Option<Dbm> = LEVEL, Optional;
        /// By how much a3's and a6's neighbour is better.
        offset: Decibel = OFFSET, Default("\"3 dB\"");
        /// Hysteresis.
        hysteresis: Decibel = HYSTERESIS, Default("\"1 dB\"");
        /// How long the condition must hold.
        time_to_trigger: Span = TIME, Default("\"160 ms\"");
        /// Coefficient k of the layer 3 filter; 0 does not filter.
        filter: u8 = Shape::Integer { min: 0, max: 19 }, Default("4");
        /// From one report to the next.
        report_interval: Span = RRC_TIME, Default("\"240 ms\"");
        /// With `procedure = "conditional"`: its report makes the network command the UE to go, which ends its candidates; b1 and
        /// b2 do nothing else there.
        command: bool = Shape::Bool, Default("false");
        /// Most reports of a cell; without it reports go on while the condition is not left.
        report_amount: Option<u32> = Shape::Integer { min: 1, max: 64 }, Optional;
    }
}

nested!(MeasurementEvent);

impl MeasurementEvent {
    /// Whether it leads to 3G.
    pub fn is_to_utra(&self) -> bool {
        self.threshold_rscp.is_some()
    }

    /// Checks that levels of 3G stand where there are some.
    fn fits_utra(&self, fields: &Fields, builder: &mut Builder<'_, '_>) -> bool {
        let (is_b, is_3a) = (
            matches!(self.kind, EventKind::B1 | EventKind::B2),
            self.kind == EventKind::E3a,
        );
        let both = self.threshold_rscp.is_some() && self.threshold.is_some();
        let wrong = match () {
            () if self.threshold_rscp.is_some() && !is_b => Some((
                "threshold-rscp",
                "a level of 3G in an event that has none",
                "`b1` or `b2`, or `threshold`",
            )),
            () if both => Some((
                "threshold-rscp",
                "a neighbour that is of 3G and is not",
                "`threshold` or `threshold-rscp`",
            )),
            () if self.serving_threshold_rscp.is_some() && !is_3a => Some((
                "serving-threshold-rscp",
                "a level of 3G in an event that has none",
                "`3a`, or `serving-threshold`",
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
            let message = format!("event {} without what it compares with", self.kind.word());
            let expected = match self.kind {
                EventKind::A5 => "a `threshold` and a `serving-threshold`",
                EventKind::B2 => {
                    "a `serving-threshold` and a `threshold`, or of 3G a `threshold-rscp`"
                }
                EventKind::B1 => "a `threshold`, such as \"-110 dBm\", or of 3G a `threshold-rscp`",
                EventKind::E3a => "a `threshold` and a `serving-threshold-rscp`",
                _ => "a `threshold`, such as \"-110 dBm\"",
            };
            builder.mistake(fields.place, message, expected);
            return None;
        }
        Some(self)
    }
}

words! {
    /// The condition of a measurement event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EventKind {
        /// the serving cell is better than a threshold
        A1 = "a1",
        /// the serving cell is worse than a threshold
        A2 = "a2",
        /// a neighbour is better than the serving cell by an offset
        A3 = "a3",
        /// a neighbour is better than a threshold
        A4 = "a4",
        /// the serving cell is worse than one threshold, a neighbour better than another
        A5 = "a5",
        /// a neighbour is better than the secondary cell on its carrier by an offset
        A6 = "a6",
        /// a neighbour of the other generation is better than a threshold
        B1 = "b1",
        /// the serving cell is worse than one threshold, a neighbour of the other generation better than another
        B2 = "b2",
        /// the cell of 3G that the UE is in is worse than one threshold, one of LTE or NR better than another
        E3a = "3a",
    }
}

words! {
    /// The nodes that prepare a handover.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverPreparation {
        /// LTE's base stations among each other, where a link connects them, else as `s1`
        X2 = "x2",
        /// the same between NR's
        Xn = "xn",
        /// the core between LTE's base stations, which also passes on forwarded packets
        S1 = "s1",
        /// the same between NR's
        N2 = "n2",
    }
}

impl HandoverPreparation {
    /// Whether base stations ask each other.
    pub fn is_direct(self) -> bool {
        matches!(self, HandoverPreparation::X2 | HandoverPreparation::Xn)
    }
}

words! {
    /// The fate of downlink data at the source of a handover.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum HandoverData {
        /// it is dropped
        None = "none",
        /// it goes to the target, with its sequence numbers in acknowledged mode
        Forwarding = "forwarding",
        /// it is dropped, but from some time on the core sends to both base stations
        Bicasting = "bicasting",
    }
}

impl KeyValue for Vec<MeasurementEvent> {
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        let Content::List(items) = &item.content else {
            return None;
        };
        let events = items.iter().map(|item| MeasurementEvent::of(item, builder));
        // Each mistake is told, not only the first.
        let events: Vec<_> = events.collect();
        events.into_iter().collect()
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        self.iter()
            .map(|event| KeyValue::written(event, shape))
            .collect()
    }
}
