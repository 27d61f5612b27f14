//! Configuration of mobility management: measurements and reports of UEs, and the network's
//! reactions.

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
    /// Configured measurement events, in order.
    pub events: Vec<MeasurementEvent>,
    /// Time between two measurements of a UE.
    pub measurement_period: Span,
    /// Standard deviation of the error of a measurement, in dB.
    pub measurement_error_db: f64,
    /// Choice of the cells that a UE measures each time.
    pub sampling: Sampling,
    /// Measurement gaps, in which UEs measure carriers other than those of their serving cells.
    /// `None` if UEs have an additional receiver and need no gaps.
    pub gaps: Option<MeasurementGaps>,
    /// Radio link monitoring.
    pub monitoring: Monitoring,
    /// Beam failure detection and recovery in NR cells. `None` if UEs detect no beam failure.
    pub beam_failure: Option<BeamMonitoring>,
    /// Parameters of random access in the target cell.
    pub access: AccessConfig,
    /// Times of the handover procedure.
    pub procedure: ProcedureConfig,
    /// Treatment of downlink data at the source.
    pub data: DataForwarding,
    /// Procedure by which UEs change their cell.
    pub change: CellChange,
    /// Handover without random access, for commanded handovers between suitable cells. `None` if
    /// every handover uses random access.
    pub rach_less: Option<RachLess>,
    /// Maximum number of UEs in a cell. A cell with that many UEs refuses handovers. `None` if no
    /// handover is refused.
    pub most_ues: Option<u32>,
    /// Possible secondary cells of each primary cell. A UE that enters a primary cell gets the
    /// first secondary cell of each carrier. After event A6 a secondary cell is replaced. Primary
    /// cells beyond the end of the list have no secondary cells.
    pub secondaries: Vec<Vec<CellId>>,
    /// Rules for secondary nodes. `None` if the network adds no secondary nodes, and a UE loses its
    /// secondary node when it first changes the master's cell.
    pub secondary_node: Option<SecondaryNodeConfig>,
    /// Base station number of each cell. A handover between cells with equal numbers needs no path
    /// switch.
    pub stations: Vec<u32>,
    /// Numbers of the 3G base stations. Messages between a 3G base station and other base stations
    /// go through the core.
    pub utra: BTreeSet<u32>,
    /// Route of handover messages and of forwarded packets.
    pub interface: Interface,
    /// Transport of handover messages and of forwarded packets, over simulated links or with fixed
    /// delays.
    pub signalling: Signalling,
}

/// Procedure by which UEs change their cell. A UE uses one procedure.
#[derive(Debug, Clone, PartialEq)]
pub enum CellChange {
    /// Handover that the network commands.
    Handover,
    /// Commanded handover in which the source continues to serve a UE while the UE enters the
    /// target (dual active protocol stack, DAPS).
    ///
    /// Standard: TS 38.300 §9.2.3.2.
    Daps,
    /// Conditional handover: UEs move to prepared candidates. The configuration may leave some
    /// handovers to the network.
    Conditional(ConditionalConfig),
    /// L1/L2-triggered mobility (LTM): MAC switches UEs among prepared candidates, which have no
    /// execution conditions.
    Ltm(ConditionalConfig, LtmConfig),
}

fadeout_core::parameters! {
    /// Default parameters of mobility management, with the names of the scenario's keys.
    struct MobilityKeys {
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

/// Treatment of downlink data that the source has not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The source keeps the data until it knows the UE's new cell.
    Kept,
    /// The source forwards the data.
    Forwarded(Route),
    /// The source drops the data.
    Dropped,
}

/// Route of forwarded packets from one base station to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// Forwarding takes this time.
    FixedDelay(Span),
    /// Links of the caller carry the packets to this base station.
    Links { to: u32 },
}

impl MobilityConfig {
    /// Parameters that a scenario may give as keys of its mobility management.
    pub const PARAMETERS: &'static [Parameter] = MobilityKeys::PARAMETERS;

    /// Returns a configuration for tests, without events and base stations.
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
            change: CellChange::Handover,
            rach_less: None,
            most_ues: None,
            secondaries: Vec::new(),
            secondary_node: None,
            stations: Vec::new(),
            utra: BTreeSet::new(),
            interface: Interface::Direct,
            signalling: Signalling::FixedDelays,
        }
    }

    /// True if a bound of a cell's level may replace a measurement. Bounds are not allowed with
    /// measurement errors, because errors are unbounded and are drawn in the order of the
    /// measurements.
    pub(crate) fn may_bound(&self) -> bool {
        let is_wanted = self.sampling == Sampling::WhereNeeded && self.gaps.is_none();
        is_wanted && self.measurement_error_db <= 0.0
    }

    /// True if a UE may skip an evaluation of its link when earlier evaluations determine the
    /// result.
    pub(crate) fn may_skip_evaluations(&self) -> bool {
        self.sampling == Sampling::WhereNeeded
    }

    /// Returns the base station of a cell.
    pub(crate) fn station(&self, cell: CellId) -> u32 {
        self.stations[cell.index()]
    }

    /// Returns the possible secondary cells of a primary cell.
    pub(crate) fn secondaries_of(&self, cell: CellId) -> &[CellId] {
        self.secondaries
            .get(cell.index())
            .map_or(&[], Vec::as_slice)
    }

    /// True if two cells belong to one base station.
    pub(crate) fn is_one_station(&self, one: CellId, other: CellId) -> bool {
        self.station(one) == self.station(other)
    }

    /// True if a cell with `load` UEs accepts another UE.
    pub(crate) fn has_room(&self, load: u32) -> bool {
        self.most_ues.is_none_or(|most| load < most)
    }

    /// True if downlink data that the source has not sent is forwarded.
    pub(crate) fn forwards(&self) -> bool {
        self.data == DataForwarding::Forwarded
    }

    /// Returns the kind of handover that the network commands.
    pub(crate) fn procedure_kind(&self) -> Procedure {
        match self.is_daps() {
            true => Procedure::Daps,
            false => Procedure::Handover,
        }
    }

    /// True if the target notifies the source of the UE's arrival, and the source forwards data
    /// only then.
    pub(crate) fn notifies_source(&self) -> bool {
        matches!(self.change, CellChange::Daps | CellChange::Conditional(_))
    }

    /// True if the source continues to serve a UE while the UE enters the target.
    pub(crate) fn is_daps(&self) -> bool {
        matches!(self.change, CellChange::Daps)
    }

    /// Returns the configuration of candidate cells. `None` if no cells are prepared before a UE
    /// needs them.
    pub(crate) fn conditional(&self) -> Option<&ConditionalConfig> {
        match &self.change {
            CellChange::Conditional(candidates) | CellChange::Ltm(candidates, _) => {
                Some(candidates)
            }
            CellChange::Handover | CellChange::Daps => None,
        }
    }

    /// Returns the configuration of L1/L2-triggered mobility. `None` if MAC switches no cells.
    pub(crate) fn ltm(&self) -> Option<&LtmConfig> {
        match &self.change {
            CellChange::Ltm(_, ltm) => Some(ltm),
            _ => None,
        }
    }

    /// Returns when the source requests bicast from the core in a handover between two cells.
    /// `None` if the handover does not use bicast.
    pub(crate) fn bicast_between(&self, one: CellId, other: CellId) -> Option<BicastStart> {
        match self.data {
            DataForwarding::Bicast(start) if !self.is_one_station(one, other) => Some(start),
            _ => None,
        }
    }

    /// True if simulated links carry messages and forwarded packets.
    pub(crate) fn has_links(&self) -> bool {
        matches!(self.signalling, Signalling::Links { .. })
    }

    /// True if the base stations of two cells exchange messages over simulated links.
    pub(crate) fn exchange_over_links(&self, one: CellId, other: CellId) -> bool {
        self.has_links() && !self.is_one_station(one, other)
    }

    /// Returns the fixed one-way delay between two base stations. Used if no simulated links carry
    /// the messages.
    pub(crate) fn fixed_delay(&self) -> Span {
        self.procedure.between_stations(self.interface)
    }

    /// Returns the fixed one-way delay between the base stations of two cells. Used if no simulated
    /// links carry the messages.
    pub(crate) fn station_delay(&self, one: CellId, other: CellId) -> Span {
        match self.is_one_station(one, other) {
            true => Span::ZERO,
            false if self.is_utra(one) || self.is_utra(other) => {
                self.procedure.between_stations(Interface::Core)
            }
            false => self.fixed_delay(),
        }
    }

    /// True if a cell is a 3G cell.
    pub(crate) fn is_utra(&self, cell: CellId) -> bool {
        self.utra.contains(&self.station(cell))
    }

    /// Returns the time from the handover request to the command if no message is delayed and the
    /// admission takes its median time.
    pub(crate) fn usual_preparation(&self) -> Span {
        self.fixed_delay() * 2 + self.procedure.admission
    }

    /// Returns the treatment of downlink data at base station `from` while the UE moves to base
    /// station `to`. `delay` is the forwarding time if no simulated links carry the data.
    pub(crate) fn fate(&self, [from, to]: [u32; 2], delay: Span) -> Fate {
        let route = match self.has_links() {
            true => Route::Links { to },
            false => Route::FixedDelay(delay),
        };
        match from == to || self.forwards() {
            true => Fate::Forwarded(route),
            false => Fate::Dropped,
        }
    }

    /// Returns the treatment of downlink data after the UE was commanded from one cell to another.
    pub(crate) fn fate_between(&self, one: CellId, other: CellId) -> Fate {
        let stations = [one, other].map(|cell| self.station(cell));
        self.fate(stations, self.station_delay(one, other))
    }
}

/// Rule for the cells and links that a UE measures each time. Both rules give bit-identical
/// results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampling {
    /// A UE measures a cell only if its level may enter an event, according to the bound of the
    /// level. The UE evaluates its link only if the link may be out of sync, according to earlier
    /// evaluations.
    #[default]
    WhereNeeded,
    /// A UE measures all cells and its link each time. Tests compare `WhereNeeded` with this rule.
    Every,
}

/// Route of handover messages and of forwarded packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interface {
    /// Direct interface between base stations.
    ///
    /// Standard: TS 36.423 §8.2.1; TS 38.423 §8.2.1.
    #[default]
    Direct,
    /// Route through the core network.
    ///
    /// Standard: TS 36.413 §8.4; TS 38.413 §8.4.
    Core,
}

/// Transport of messages between base stations and the core, and of forwarded packets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Signalling {
    /// No simulated links: messages take the times of [`ProcedureConfig`], and none is lost.
    #[default]
    FixedDelays,
    /// Simulated links of the caller carry the messages. The caller receives the messages to send
    /// as [`Move`](crate::access::Move).
    Links {
        /// Pairs of base stations without a link between them. Their messages and packets go
        /// through the core even if the preparation is direct.
        unconnected: BTreeSet<(u32, u32)>,
    },
}

/// Treatment of downlink data at the source of a handover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataForwarding {
    /// The source drops the data.
    Dropped,
    /// The source forwards the data to the target.
    #[default]
    Forwarded,
    /// The source drops the data. The core sends data to both base stations for a time (bicast).
    Bicast(BicastStart),
}

/// Time at which the source requests bicast: the core then sends data to both base stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BicastStart {
    /// Bicast is requested when the target has accepted the UE. The handover command follows after
    /// this time.
    Before(Span),
    /// Bicast is requested this time after the handover command.
    After(Span),
}

/// Radio link monitoring, and the procedures after a failure.
///
/// Standard: TS 38.331 §5.3.10, §7.1.1; TS 36.331 §5.3.11, §7.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Monitoring {
    /// Time between two evaluations of the link.
    pub period: Span,
    /// SINR below which the link is out of sync.
    pub q_out: Decibel,
    /// SINR above which the link is in sync.
    pub q_in: Decibel,
    /// Number of consecutive out-of-sync indications that start T310 (N310).
    pub n310: u32,
    /// Number of consecutive in-sync indications that stop T310 (N311).
    pub n311: u32,
    /// T310: time from the start of the link problem to the link failure.
    pub t310: Span,
    /// T312: time from a measurement report during a link problem to the link failure. `None` if
    /// T312 is not configured.
    pub t312: Option<Span>,
    /// T311: time limit for the search for a cell after a failure.
    pub t311: Span,
    /// T301: time limit for the re-establishment.
    pub t301: Span,
    /// Time that a UE takes to select a cell.
    pub cell_selection: Span,
    /// T300: time limit for the connection setup of an idle UE.
    pub t300: Span,
    /// RSRP above which a cell is suitable for an idle UE (Qrxlevmin).
    ///
    /// Standard: TS 38.304 §5.2.3.2; TS 36.304 §5.2.3.2.
    pub q_rx_lev_min: Dbm,
}

impl Default for Monitoring {
    /// Standard: TR 36.839.
    fn default() -> Monitoring {
        let keys = MobilityKeys::default();
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

/// Parameters of random access.
///
/// Standard: TS 38.321 §5.1; TS 36.321 §5.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessConfig {
    /// Time between two random access occasions.
    pub occasion_period: Span,
    /// Time from the preamble to the start of the response window.
    pub response_delay: Span,
    /// Length of the response window (ra-ResponseWindow).
    pub response_window: Span,
    /// Maximum number of preambles of one random access procedure (preambleTransMax).
    pub most_preambles: u32,
    /// Number of contention preambles of a cell. UEs without a dedicated preamble draw one of these
    /// preambles.
    ///
    /// Standard: TS 36.331 §6.3.2; TS 38.331 §6.3.2.
    pub drawn_preambles: u32,
    /// Power ramping of preambles. `None` if UEs send preambles with full power.
    pub ramping: Option<PowerRamping>,
    /// Longest back-off after a failed attempt.
    pub backoff: Span,
    /// Time from the random access response to Msg3.
    pub message3_delay: Span,
    /// Time from Msg3 to the end of contention resolution.
    pub resolution_delay: Span,
    /// Contention resolution timer.
    pub contention_timer: Span,
}

impl AccessConfig {
    /// Returns the shortest time from a contention preamble to the end of contention resolution.
    pub fn least_answer(&self) -> Span {
        self.response_delay + self.message3_delay + self.resolution_delay
    }

    /// Returns the predicted time of random access with a dedicated preamble. It is the longest
    /// wait for an occasion, and the delay of the response.
    pub(crate) fn predicted_duration(&self) -> Span {
        self.occasion_period + self.response_delay
    }
}

impl Default for AccessConfig {
    fn default() -> AccessConfig {
        let keys = MobilityKeys::default();
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

/// Times of the handover procedure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcedureConfig {
    /// One-way delay between base stations (X2, Xn).
    pub station_delay: Span,
    /// One-way delay of signalling between a base station and the core.
    pub core_delay: Span,
    /// Duration of the admission control at the target. The median if `admission_p90` is given.
    pub admission: Span,
    /// 90th percentile of the duration of the admission control. `None` if each admission takes
    /// the same time.
    pub admission_p90: Option<Span>,
    /// Time from the reception of the command to the first random access occasion that the UE can
    /// use. The time covers RRC processing, cell search and synchronisation.
    pub interruption: Span,
    /// Time from the reception of the command to the first block in a 3G cell. The default is 50 ms
    /// for RRC and 140 ms for a known cell with unknown timing.
    ///
    /// Standard: TS 36.133 §5.3.1.1.
    pub utra_interruption: Span,
    /// Time from the reception of the command in a 3G cell to the first random access occasion in
    /// the target that the UE can use. The default is 50 ms for RRC and 20 ms to synchronise with a
    /// known cell.
    ///
    /// Standard: TS 25.133 §5.3.
    pub from_utra: Span,
    /// T304: time limit for entering the target.
    pub t304: Span,
    /// Time for which the source waits for the target's answer (TX2RELOCprep). Used only if
    /// simulated links carry the answer.
    pub preparation: Span,
    /// Time for which the source waits for a handover to end (TX2RELOCoverall).
    pub overall: Span,
    /// Time for which the target waits for an end marker that may be lost. The wait starts with the
    /// first packet of the new path.
    pub marker_timeout: Span,
    /// Buffer of the target for data that the core sends to both base stations. The target drops
    /// data that does not fit.
    pub target_buffer: Bytes,
}

impl ProcedureConfig {
    /// Returns the fixed one-way delay between two base stations. Used if no simulated links carry
    /// the messages.
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
        let keys = MobilityKeys::default();
        ProcedureConfig {
            station_delay: keys.station_delay,
            core_delay: keys.core_delay,
            admission: keys.admission_delay,
            admission_p90: None,
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
