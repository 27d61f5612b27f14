//! Mobility management: what a UE measures and reports, and what the network makes of it.

use super::{
    BeamMonitoring, ConditionalConfig, LtmConfig, MeasurementEvent, MeasurementGaps, PowerRamping,
    RachLess, SecondaryNodeConfig,
};
use fadeout_core::registry::{Parameter, integer, number, span};
use fadeout_core::{Bytes, CellId, Dbm, Decibel, Procedure, Span};
use std::collections::BTreeSet;

/// Mobility management of all UEs that have a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct MobilityConfig {
    /// The measurements that are configured, in order.
    pub events: Vec<MeasurementEvent>,
    /// From one measurement of a UE to the next.
    pub measurement_period: Span,
    /// Standard deviation of the error of a measurement, in dB.
    pub measurement_error_db: f64,
    /// Which cells are measured each time.
    pub sampling: Sampling,
    /// Gaps in which UEs measure carriers that none of their cells has; none need not, as they have a receiver
    /// more.
    pub gaps: Option<MeasurementGaps>,
    /// Radio link monitoring.
    pub monitoring: Monitoring,
    /// Detection of beam failure in cells of NR, and recovery from it; none is looked for without.
    pub beam_failure: Option<BeamMonitoring>,
    /// Random access in the target cell.
    pub access: AccessConfig,
    /// Times of the procedure.
    pub procedure: ProcedureConfig,
    /// Fate of downlink data at the source.
    pub data: DataForwarding,
    /// Conditional handovers take the place of commanded ones; none are there.
    pub conditional: Option<ConditionalConfig>,
    /// The network switches UEs among candidates by MAC; the candidates are those of `conditional`, whose conditions
    /// are none.
    pub ltm: Option<LtmConfig>,
    /// Commanded handovers between cells that fit skip random access; none do.
    pub rach_less: Option<RachLess>,
    /// The source serves a UE on while it enters the target (dual active protocol stack).
    ///
    /// Standard: TS 38.300 §9.2.3.2.
    pub daps: bool,
    /// Most UEs that a cell takes by handover, those it has included; none refuses nobody.
    pub most_ues: Option<u32>,
    /// By cell, those that may be secondary ones beside it: of each carrier the first is added to a UE that enters,
    /// others take its place when event A6 says so. Cells behind the last have none.
    pub secondaries: Vec<Vec<CellId>>,
    /// Who is given a secondary node and when; without it one goes with the first change of the master's cell.
    pub secondary_node: Option<SecondaryNodeConfig>,
    /// Base station of each cell: cells with the same number hand over without a path switch.
    pub stations: Vec<u32>,
    /// Those of them that are of 3G: they speak to others by way of the core.
    pub utra: BTreeSet<u32>,
    /// The way of messages and of forwarded packets.
    pub interface: Interface,
    /// Their transport: links, or given times.
    pub signalling: Signalling,
}

fadeout_core::parameters! {
    /// The defaults of mobility management, under the names that a scenario has for them.
    struct Keys {
        /// One-way delay between base stations.
        station_delay: Span = span("5 ms"),
        /// One-way delay between a base station and the core network.
        core_delay: Span = span("5 ms"),
        /// Time of the admission control at the target.
        admission_delay: Span = span("10 ms"),
        /// Time from the command until the UE can send a preamble. LTE has 15 ms for RRC, and 20 ms
        /// to synchronise with a known cell.
        interruption: Span = span("35 ms"),
        /// Time from the command until the UE sends and receives in a 3G cell.
        utra_interruption: Span = span("190 ms"),
        /// Time between two random access occasions.
        preamble_period: Span = span("10 ms"),
        /// Time for which a UE waits for the response to a preamble (ra-ResponseWindow).
        response_window: Span = span("10 ms"),
        /// Largest number of preambles of a random access procedure (preambleTransMax).
        max_preambles: u32 = integer((1, 1000, ""), "10"),
        /// Number of preambles of a cell for random access with contention.
        contention_preambles: u32 = integer((1, 64, ""), "54"),
        /// Largest back-off.
        backoff: Span = span("20 ms"),
        /// Time limit to enter the target (T304).
        t304: Span = span("1 s"),
        /// Time for which the source waits for the target's answer (TX2RELOCprep).
        preparation_timeout: Span = span("1 s"),
        /// Time for which the source waits for the UE to leave (TX2RELOCoverall).
        overall_timeout: Span = span("5 s"),
        /// Time for which the target waits for an end marker that may be lost.
        end_marker_timeout: Span = span("100 ms"),
        /// SINR below which a link is out of sync.
        q_out: Decibel = number((-50.0, 50.0, "dB"), "-8"),
        /// SINR above which a link is in sync.
        q_in: Decibel = number((-50.0, 50.0, "dB"), "-6"),
        /// Number of out-of-sync indications that start T310.
        n310: u32 = integer((1, 1000, ""), "1"),
        /// Number of in-sync indications that stop T310.
        n311: u32 = integer((1, 1000, ""), "1"),
        /// Time that a link may stay out of sync until it has failed (T310).
        t310: Span = span("1 s"),
        /// Time limit to find a cell after a failure (T311).
        t311: Span = span("3 s"),
        /// Time limit to re-establish the connection (T301).
        t301: Span = span("400 ms"),
        /// Time that a UE takes to select a cell.
        cell_selection_delay: Span = span("200 ms"),
        /// Time limit to set up a connection (T300).
        t300: Span = span("1 s"),
        /// RSRP that a cell must exceed to be suitable for an idle UE (Qrxlevmin).
        q_rx_lev_min: f64 = number((-200.0, 50.0, "dBm"), "-130"),
    }
}

/// Fate of downlink data that the source has not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It keeps it until it knows where the UE is.
    Kept,
    /// It forwards it.
    Forwarded(Way),
    /// It drops it.
    Dropped,
}

/// How packets come from one base station to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Forwarding takes this long.
    After(Span),
    /// Links of the caller carry them to this base station.
    Links { to: u32 },
}

impl MobilityConfig {
    /// The parameters that a scenario may give, as keys of its mobility management.
    pub const PARAMETERS: &'static [Parameter] = Keys::PARAMETERS;

    /// Nothing is measured, and there is no base station yet.
    #[cfg(test)]
    pub(crate) fn bare() -> MobilityConfig {
        MobilityConfig {
            events: Vec::new(),
            measurement_period: Span::from_millis(200),
            measurement_error_db: 0.0,
            sampling: Sampling::WhereNeeded,
            gaps: None,
            monitoring: Monitoring::default(),
            beam_failure: None,
            access: AccessConfig::default(),
            procedure: ProcedureConfig::default(),
            data: DataForwarding::Forwarded,
            conditional: None,
            ltm: None,
            rach_less: None,
            daps: false,
            most_ues: None,
            secondaries: Vec::new(),
            secondary_node: None,
            stations: Vec::new(),
            utra: BTreeSet::new(),
            interface: Interface::Direct,
            signalling: Signalling::Given,
        }
    }

    /// Whether a cell need not be measured when a bound of its level says what matters of it. The errors of
    /// measurements have no bound, and are drawn in the order of the measurements.
    pub(crate) fn may_bound(&self) -> bool {
        let is_wanted = self.sampling == Sampling::WhereNeeded && self.gaps.is_none();
        is_wanted && self.measurement_error_db <= 0.0
    }

    /// Whether a UE need not look at its link when earlier looks say what matters of it.
    pub(crate) fn may_leave_out_looks(&self) -> bool {
        self.sampling == Sampling::WhereNeeded
    }

    /// Base station of a cell.
    pub(crate) fn station(&self, cell: CellId) -> u32 {
        self.stations[cell.index()]
    }

    /// The cells that may be secondary ones beside a cell.
    pub(crate) fn secondaries_of(&self, cell: CellId) -> &[CellId] {
        self.secondaries
            .get(cell.index())
            .map_or(&[], Vec::as_slice)
    }

    /// Whether two cells are of one base station.
    pub(crate) fn is_one_station(&self, one: CellId, other: CellId) -> bool {
        self.station(one) == self.station(other)
    }

    /// Whether a cell with so many UEs takes one more.
    pub(crate) fn has_room(&self, load: u32) -> bool {
        self.most_ues.is_none_or(|most| load < most)
    }

    /// Whether downlink data that the source has not sent is forwarded.
    pub(crate) fn forwards(&self) -> bool {
        self.data == DataForwarding::Forwarded
    }

    /// How the network has UEs change cell.
    pub(crate) fn procedure_kind(&self) -> Procedure {
        match self.daps {
            true => Procedure::Daps,
            false => Procedure::Handover,
        }
    }

    /// Whether the source hears from the target that the UE is there, and forwards only then.
    pub(crate) fn tells_source(&self) -> bool {
        self.conditional.is_some() && self.ltm.is_none() || self.daps
    }

    /// When the core is asked to send to both, of a handover from one cell to the other; none where it does
    /// not.
    pub(crate) fn bicast_between(&self, one: CellId, other: CellId) -> Option<BicastStart> {
        match self.data {
            DataForwarding::Bicast(start) if !self.is_one_station(one, other) => Some(start),
            _ => None,
        }
    }

    /// Whether links carry messages and forwarded packets.
    pub(crate) fn has_links(&self) -> bool {
        matches!(self.signalling, Signalling::Links { .. })
    }

    /// Whether base stations of two cells speak over links.
    pub(crate) fn speak_over_links(&self, one: CellId, other: CellId) -> bool {
        self.has_links() && !self.is_one_station(one, other)
    }

    /// One way between two base stations, where it is given.
    pub(crate) fn given_delay(&self) -> Span {
        self.procedure.between_stations(self.interface)
    }

    /// One way between the base stations of two cells, where it is given.
    pub(crate) fn station_delay(&self, one: CellId, other: CellId) -> Span {
        match self.is_one_station(one, other) {
            true => Span::ZERO,
            false if self.is_utra(one) || self.is_utra(other) => {
                self.procedure.between_stations(Interface::Core)
            }
            false => self.given_delay(),
        }
    }

    /// Whether a cell is of 3G.
    pub(crate) fn is_utra(&self, cell: CellId) -> bool {
        self.utra.contains(&self.station(cell))
    }

    /// From the request to the command, where nothing holds messages up.
    pub(crate) fn usual_preparation(&self) -> Span {
        self.given_delay() * 2 + self.procedure.admission
    }

    /// Fate of downlink data at one base station while the UE comes to another; forwarding without links
    /// takes the time `given`.
    pub(crate) fn fate(&self, [from, to]: [u32; 2], given: Span) -> Fate {
        let way = match self.has_links() {
            true => Way::Links { to },
            false => Way::After(given),
        };
        match from == to || self.forwards() {
            true => Fate::Forwarded(way),
            false => Fate::Dropped,
        }
    }

    /// Fate of downlink data while the UE is commanded from one cell to the other.
    pub(crate) fn fate_between(&self, one: CellId, other: CellId) -> Fate {
        let stations = [one, other].map(|cell| self.station(cell));
        self.fate(stations, self.station_delay(one, other))
    }
}

/// Which cells a UE measures each time, and whether it looks at its link each time. The outcome is the same, to the
/// bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// Cells of which a bound does not say that no event is entered, and its link while looks before do not say that it
    /// is not out of sync.
    #[default]
    WhereNeeded,
    /// All cells, and the link each time: the reference.
    Every,
}

/// The way of a handover's messages and of forwarded packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interface {
    /// From base station to base station.
    ///
    /// Standard: TS 36.423 §8.2.1; TS 38.423 §8.2.1.
    #[default]
    Direct,
    /// By way of the core.
    ///
    /// Standard: TS 36.413 §8.4; TS 38.413 §8.4.
    Core,
}

/// Transport of messages between base stations and the core, and of forwarded packets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Signalling {
    /// Nothing: they take the times of [`ProcedureConfig`], and none is lost.
    #[default]
    Given,
    /// Links of the caller, which [`Move`](crate::access::Move) tells what to send.
    Links {
        /// Pairs of base stations between which messages and packets go by way of the core although the
        /// preparation is direct, as no link connects them.
        strangers: BTreeSet<(u32, u32)>,
    },
}

/// Fate of downlink data at the source of a handover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataForwarding {
    /// It is dropped.
    Dropped,
    /// It goes to the target.
    #[default]
    Forwarded,
    /// It is dropped, but from then on the core sends to both base stations.
    Bicast(BicastStart),
}

/// When the source asks the core to send to both base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BicastStart {
    /// When the target has answered; the command waits so long.
    Before(Span),
    /// So long after the command.
    After(Span),
}

/// Radio link monitoring, and what follows a failure.
///
/// Standard: TS 38.331 §5.3.10, §7.1.1; TS 36.331 §5.3.11, §7.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monitoring {
    /// From one evaluation of the link to the next.
    pub period: Span,
    /// SINR below which the link is out of sync.
    pub q_out: Decibel,
    /// SINR above which it is in sync.
    pub q_in: Decibel,
    /// Out-of-sync indications in a row that start T310.
    pub n310: u32,
    /// In-sync indications in a row that stop it.
    pub n311: u32,
    /// T310.
    pub t310: Span,
    /// T312, of a link in trouble whose UE reports a neighbour; none is not configured.
    pub t312: Option<Span>,
    /// T311.
    pub t311: Span,
    /// T301.
    pub t301: Span,
    /// How long a UE takes to select a cell.
    pub cell_selection: Span,
    /// T300, of a UE that was idle.
    pub t300: Span,
    /// RSRP above which a cell suits an idle UE (Qrxlevmin).
    ///
    /// Standard: TS 38.304 §5.2.3.2; TS 36.304 §5.2.3.2.
    pub q_rx_lev_min: Dbm,
}

impl Default for Monitoring {
    /// Standard: TR 36.839.
    fn default() -> Monitoring {
        let keys = Keys::default();
        Monitoring {
            period: Span::from_millis(10),
            q_out: keys.q_out,
            q_in: keys.q_in,
            n310: keys.n310,
            n311: keys.n311,
            t310: keys.t310,
            t312: None,
            t311: keys.t311,
            t301: keys.t301,
            cell_selection: keys.cell_selection_delay,
            t300: keys.t300,
            q_rx_lev_min: Dbm(keys.q_rx_lev_min),
        }
    }
}

/// Random access.
///
/// Standard: TS 38.321 §5.1; TS 36.321 §5.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessConfig {
    /// From one occasion for preambles to the next.
    pub occasion_period: Span,
    /// From the preamble to the start of the response window.
    pub response_delay: Span,
    /// ra-ResponseWindow.
    pub response_window: Span,
    /// preambleTransMax.
    pub most_preambles: u32,
    /// How many preambles of a cell are drawn, by UEs that have no dedicated one.
    ///
    /// Standard: TS 36.331 §6.3.2; TS 38.331 §6.3.2.
    pub drawn_preambles: u32,
    /// The power of preambles; the UE's full one without.
    pub ramping: Option<PowerRamping>,
    /// Longest back-off after a failed attempt.
    pub backoff: Span,
    /// From the response to Msg3.
    pub message3_delay: Span,
    /// From Msg3 to the end of contention resolution.
    pub resolution_delay: Span,
    /// Contention resolution timer.
    pub contention_timer: Span,
}

impl AccessConfig {
    /// The least time from a drawn preamble to the end of contention resolution.
    pub fn least_answer(&self) -> Span {
        self.response_delay + self.message3_delay + self.resolution_delay
    }
}

impl Default for AccessConfig {
    fn default() -> AccessConfig {
        let keys = Keys::default();
        AccessConfig {
            occasion_period: keys.preamble_period,
            response_delay: Span::from_millis(3),
            response_window: keys.response_window,
            most_preambles: keys.max_preambles,
            drawn_preambles: keys.contention_preambles,
            ramping: None,
            backoff: keys.backoff,
            message3_delay: Span::from_millis(6),
            resolution_delay: Span::from_millis(6),
            contention_timer: Span::from_millis(48),
        }
    }
}

/// Times of a handover.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcedureConfig {
    /// One way between base stations (X2, Xn).
    pub station_delay: Span,
    /// One way of signalling between a base station and the core.
    pub core_delay: Span,
    /// Admission control at the target.
    pub admission: Span,
    /// From the reception of the command to the first occasion that the UE can use: RRC processing,
    /// search and synchronisation.
    pub interruption: Span,
    /// From the reception of the command to the first block in a cell of 3G: 50 ms for RRC and 140 ms for a known cell
    /// whose timing is not known.
    ///
    /// Standard: TS 36.133 §5.3.1.1.
    pub utra_interruption: Span,
    /// From the reception of the command in a cell of 3G to the first occasion of the target that the UE can use: 50 ms
    /// for RRC and 20 ms to be in sync with a known cell.
    ///
    /// Standard: TS 25.133 §5.3.
    pub from_utra: Span,
    /// T304.
    pub t304: Span,
    /// How long the source waits for the target's answer (TX2RELOCprep), where links carry it.
    pub preparation: Span,
    /// How long the source waits for a handover to end (TX2RELOCoverall).
    pub overall: Span,
    /// How long the target waits for a lost end marker, from the first packet of the new path on.
    pub marker_timeout: Span,
    /// The most that the target keeps of what the core has sent to both; what comes then it drops.
    pub target_buffer: Bytes,
}

impl ProcedureConfig {
    /// One way between two base stations, where it is given.
    pub(crate) fn between_stations(&self, interface: Interface) -> Span {
        match interface {
            Interface::Direct => self.station_delay,
            Interface::Core => self.core_delay * 2,
        }
    }
}

impl Default for ProcedureConfig {
    /// Standard: TS 36.133 §5.1.2.1.
    fn default() -> ProcedureConfig {
        let keys = Keys::default();
        ProcedureConfig {
            station_delay: keys.station_delay,
            core_delay: keys.core_delay,
            admission: keys.admission_delay,
            interruption: keys.interruption,
            utra_interruption: keys.utra_interruption,
            from_utra: Span::from_millis(70),
            t304: keys.t304,
            preparation: keys.preparation_timeout,
            overall: keys.overall_timeout,
            marker_timeout: keys.end_marker_timeout,
            target_buffer: Bytes(u64::MAX),
        }
    }
}
