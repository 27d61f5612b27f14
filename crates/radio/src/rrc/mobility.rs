//! State of a UE in the procedures of mobility, with the timers of each procedure.
//!
//! [`Stage::Connected`] ends with a handover command or a link failure. Every other stage ends by a
//! timer.
//!
//! Standard: TS 38.331 §5.3.5.5, §5.3.7, §7.1.1; TS 36.331 §5.3.5.4, §5.3.7, §7.3.

use super::attach::{Attach, Round, Unsuited};
use super::beam_failure::BeamWatch;
use super::conditional::{Candidates, Conditions};
use super::daps::DapsStage;
use super::gap_carriers::GapCarriers;
use super::granted::EntryAccess;
use super::level_bounds::LevelBounds;
use super::ltm::Ltm;
use super::measurement_places::MeasurementPlaces;
use super::monitor::LinkWatch;
use super::network::Network;
use super::policy::ReportedCell;
use super::record::Record;
use super::secondary_node::{NodeMessage, SecondaryNode};
use super::survey::Survey;
use crate::config::{Aggregation, LegId, MeasurementEvent, MobilityConfig};
use crate::rlc::Generation;
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Procedure, Span, Time, UeId, Wake};

/// State of a UE under mobility management.
#[derive(Debug)]
pub(crate) struct UeMobility {
    pub stage: Stage,
    pub survey: Survey,
    /// Positions of the UE's latest measurements. `None` if every cell is measured each time.
    pub places: Option<MeasurementPlaces>,
    /// Bounds that show which neighbours need no measurement.
    pub level_bounds: LevelBounds,
    /// Order of the carriers that the UE measures in gaps. `None` if the UE has no measurement
    /// gaps.
    pub gap_carriers: Option<GapCarriers>,
    pub link: LinkWatch,
    /// Beam failure detection. `None` if it is not configured.
    pub beams: Option<Box<BeamWatch>>,
    pub network: Network,
    pub messages: RrcMessages,
    pub secondary_cell_change: SecondaryCellChange,
    /// State of the procedures about the UE's secondary node. `None` if the network does not add
    /// and release secondary nodes.
    pub secondary_node: Option<Box<SecondaryNode>>,
    /// State of a handover with DAPS. `None` outside such a handover.
    pub daps: Option<DapsStage>,
    /// L1/L2-triggered mobility. `None` if it is not configured.
    pub ltm: Option<Box<Ltm>>,
    /// Attach procedure of a UE that was idle at the start. `None` for other UEs.
    pub attach: Option<Box<Attach>>,
    /// Reason why the latest cell selection found no cell. `None` if the UE selected a cell, or if
    /// there was no cell selection.
    pub unsuited: Option<Unsuited>,
    /// Result row of the handover under way.
    pub record: Record,
    /// Data rate in bit/s that was last reported to flows. `None` if no flow uses the rate.
    pub reported_rate: Option<f64>,
    pub wake: Wake,
    pub draws: Stream,
    /// All legs that the UE ever had, each with its cell.
    pub legs: Vec<(CellId, LegId)>,
}

/// Stage of a UE in the procedures of mobility.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    /// Connected: the UE is in a cell.
    Connected,
    /// The UE selects a cell after a link failure. The next attempt is at `at`, and T311 expires at
    /// `until`.
    Selecting { at: Time, until: Time },
    /// The UE enters a cell on this leg, until T304 or T301 expires.
    Entering {
        leg: LegId,
        access: EntryAccess,
        until: Time,
        procedure: Procedure,
    },
    /// The UE enters a 3G cell. The entry ends at this time.
    Arriving { leg: LegId, at: Time },
    /// The cell that the UE selected after a link failure waits for the UE's context. With fixed
    /// delays the context arrives at `at`. T301 expires at `until`.
    Fetching { leg: LegId, at: Time, until: Time },
    /// The UE is idle without a connection. The next cell selection is at this time.
    Released { at: Time },
    /// The UE's bearers are being set up, after RRC setup in a cell on this leg. T3410 or a link
    /// failure ends this stage.
    Attaching { leg: LegId },
}

/// Maximum number of cells in a measurement report (maxCellReport).
///
/// Standard: TS 38.331 §6.4; TS 36.331 §6.4.
const MOST_REPORTED: usize = 8;

/// Content of a measurement report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeasurementReport {
    /// Number of the measurement event.
    pub event: u16,
    pub serving: ReportedCell,
    count: u8,
    cells: [ReportedCell; MOST_REPORTED],
}

impl MeasurementReport {
    pub(crate) fn new(event: u16, serving: ReportedCell) -> MeasurementReport {
        MeasurementReport {
            event,
            serving,
            count: 0,
            cells: [serving; MOST_REPORTED],
        }
    }

    /// Adds a cell to the report, unless eight reported cells are at least as strong. Cells of
    /// equal level keep their order.
    pub(crate) fn add(&mut self, cell: ReportedCell) {
        let stronger = |other: &&ReportedCell| other.rsrp_dbm >= cell.rsrp_dbm;
        let place = self.cells().iter().take_while(stronger).count();
        if place == MOST_REPORTED {
            return;
        }
        let last = usize::from(self.count).min(MOST_REPORTED - 1);
        self.cells.copy_within(place..last, place + 1);
        self.cells[place] = cell;
        self.count = last as u8 + 1;
    }

    /// Returns the reported cells, the strongest first.
    pub(crate) fn cells(&self) -> &[ReportedCell] {
        &self.cells[..usize::from(self.count)]
    }
}

/// RRC message, or MAC control element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Message {
    /// MeasurementReport.
    Report(MeasurementReport),
    /// RRCReconfiguration with reconfigurationWithSync.
    Command(CellId),
    /// RRCReconfigurationComplete.
    Complete,
    /// RRCReconfiguration that replaces the secondary cells (sCellToAddModList,
    /// sCellToReleaseList).
    Secondaries(Aggregation),
    /// RRCReconfigurationComplete that confirms new secondary cells.
    SecondariesReady,
    /// RRCReconfiguration that replaces the candidates (conditionalReconfiguration).
    Candidates(Candidates),
    /// RRCReconfigurationComplete that confirms new candidates.
    CandidatesReady,
    /// FailureInformation (failureType dapsFailure): the UE could not enter the target and stays in
    /// the source.
    AccessFailed,
    /// RRCReconfiguration with daps-SourceRelease.
    ReleaseSource,
    /// Message about the secondary node.
    Node(NodeMessage),
    /// LTM Cell Switch Command, which is a MAC control element.
    Switch(CellId),
    /// Message to a UE that attaches: DLInformationTransfer, SecurityModeCommand or
    /// RRCReconfiguration.
    Question(Round),
    /// Answer of an attaching UE to [`Message::Question`].
    Answer(Round),
}

impl Message {
    /// Returns the size in bytes with ASN.1 and without PDCP's header. Sizes are typical values,
    /// not those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            Message::Report(_) => 40,
            Message::Command(_) => 200,
            Message::Complete | Message::SecondariesReady | Message::CandidatesReady => 40,
            // The message contains a cell configuration for each candidate.
            Message::Candidates(all) => 60 + 160 * all.cells().len() as u32,
            Message::Secondaries(_) => 100,
            Message::AccessFailed => 20,
            // The headers of PDCP, RLC and MAC add 5 bytes. The command contains a timing advance
            // and TCI states, but no preambles.
            Message::Switch(_) => 5,
            Message::ReleaseSource => 40,
            Message::Node(message) => message.size(),
            Message::Question(round) => round.question_size(),
            Message::Answer(round) => round.answer_size(),
        }
    }
}

/// State of a change of secondary cells.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SecondaryCellChange {
    /// Secondary cells that the base station has sent to the UE. `None` if no answer is awaited.
    sent: Option<Aggregation>,
    /// Time of the UE's answer, after its processing.
    answer_at: Option<Time>,
}

/// Returns the processing time from a reconfiguration with secondary cells to the UE's answer.
///
/// Standard: TS 36.331 §11.2; TS 38.331 §12.
pub(crate) fn secondary_processing(generation: Generation) -> Span {
    match generation {
        Generation::Lte => Span::from_millis(20),
        Generation::Nr => Span::from_millis(16),
    }
}

impl SecondaryCellChange {
    /// True if the base station waits for an answer.
    pub(crate) fn is_changing(&self) -> bool {
        self.sent.is_some()
    }

    /// Records that the base station sends these secondary cells to the UE.
    pub(crate) fn on_sent(&mut self, cells: Aggregation) {
        self.sent = Some(cells);
    }

    /// Records that the UE has received the reconfiguration. Its answer follows after the
    /// processing time.
    pub(crate) fn on_received(&mut self, now: Time, generation: Generation) {
        self.answer_at = Some(now.saturating_add(secondary_processing(generation)));
    }

    /// Returns true once, when the UE's answer is due.
    pub(crate) fn is_answer_due(&mut self, now: Time) -> bool {
        self.answer_at.take_if(|at| *at <= now).is_some()
    }

    /// Returns the secondary cells that the received answer confirms. `None` if no change was under
    /// way.
    pub(crate) fn on_answer(&mut self) -> Option<Aggregation> {
        self.sent.take()
    }

    /// Returns the time of the UE's answer.
    fn answer_at(&self) -> Time {
        self.answer_at.unwrap_or(Time::NEVER)
    }
}

/// RRC messages that are being transmitted or are lost, by number.
#[derive(Debug, Default)]
pub(crate) struct RrcMessages(Vec<(u64, Message)>);

impl RrcMessages {
    /// Stores a message that is being transmitted.
    pub(crate) fn add(&mut self, number: u64, message: Message) {
        self.0.push((number, message));
    }

    /// Removes and returns a message that has arrived. `None` if the message was cancelled.
    pub(crate) fn take_arrived(&mut self, number: u64) -> Option<Message> {
        let place = self.0.iter().position(|&(known, _)| known == number)?;
        Some(self.0.remove(place).1)
    }

    /// Cancels handover commands that have not arrived.
    pub(crate) fn cancel_command(&mut self) {
        let is_command =
            |message: &Message| matches!(message, Message::Command(_) | Message::Switch(_));
        self.0.retain(|(_, message)| !is_command(message));
    }

    /// True if a message with candidates has not arrived.
    pub(crate) fn has_candidates(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|(_, message)| matches!(message, Message::Candidates(_)))
    }

    /// Cancels all messages, because the UE leaves the link that carries them.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl UeMobility {
    /// Returns the state of a UE on a leg in a cell. `events` contains the measurement events and
    /// the number of measured cells.
    pub(crate) fn new(
        (ue, cell, leg): (UeId, CellId, LegId),
        config: &MobilityConfig,
        events: (&[MeasurementEvent], usize),
        seed: u64,
    ) -> UeMobility {
        let mut draws = Stream::new(seed, "radio.mobility", u64::from(ue.0));
        let period = config.measurement_period;
        // The time of the first measurement is random, so that UEs do not all measure at the same
        // time.
        let mut first = Time::from_nanos(draws.below(period.as_nanos()));
        if let Some(gaps) = &config.gaps {
            first = gaps.middle_from(ue, first);
        }
        let mut survey = Survey::new(events, first, period);
        let mut filtered = events.0.to_vec();
        if let Some(conditional) = &config.conditional {
            filtered.extend(&conditional.conditions);
            survey.conditions = Conditions::new(&conditional.conditions, period, events.1);
        }
        UeMobility {
            stage: Stage::Connected,
            survey,
            places: config
                .may_bound()
                .then(|| MeasurementPlaces::new(&filtered, period))
                .flatten(),
            level_bounds: LevelBounds::new(),
            gap_carriers: None,
            link: LinkWatch::new(
                Time::ZERO.saturating_add(config.monitoring.period),
                &config.monitoring,
            ),
            beams: config.beam_failure.map(|_| Box::new(BeamWatch::new())),
            network: Network::new(config.station(cell)),
            messages: RrcMessages::default(),
            secondary_cell_change: SecondaryCellChange::default(),
            secondary_node: None,
            daps: None,
            ltm: config.ltm.map(|_| Box::new(Ltm::new())),
            attach: None,
            unsuited: None,
            record: Record::new(),
            reported_rate: None,
            wake: Wake::default(),
            draws,
            legs: vec![(cell, leg)],
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected)
    }

    /// True if the UE has a link to a cell, with bearers or during their setup.
    pub(crate) fn has_link(&self) -> bool {
        matches!(self.stage, Stage::Connected | Stage::Attaching { .. })
    }

    /// Returns the time of the next action of L1/L2-triggered mobility.
    fn switch_at(&self) -> Time {
        let has_candidates = !self.survey.conditions.is_idle();
        let ltm = self.ltm.as_ref();
        ltm.map_or(Time::NEVER, |ltm| ltm.wake_at(has_candidates))
    }

    /// Returns the time of the next action, except for evaluations of the link.
    pub(crate) fn wake_at(&self) -> Time {
        let of_stage = match &self.stage {
            Stage::Connected => self
                .link
                .fails_at()
                .min(self.survey.report_at())
                .min(self.secondary_cell_change.answer_at())
                .min(self.daps.as_ref().map_or(Time::NEVER, DapsStage::wake_at))
                .min((self.secondary_node.as_ref()).map_or(Time::NEVER, |it| it.message_at()))
                .min(self.beams.as_ref().map_or(Time::NEVER, |it| it.wake_at()))
                .min(self.survey.conditions.wake_at())
                .min(self.switch_at()),
            Stage::Selecting { at, until } => (*at).min(*until),
            Stage::Entering { access, until, .. } => access.wake_at().min(*until),
            Stage::Fetching { at, until, .. } => (*at).min(*until),
            Stage::Released { at } | Stage::Arriving { at, .. } => *at,
            Stage::Attaching { .. } => {
                let attach = self.attach.as_ref();
                let at = attach.map_or(Time::NEVER, |attach| attach.wake_at());
                self.link.fails_at().min(at)
            }
        };
        let node = self.secondary_node.as_ref();
        let attach = self.attach.as_ref();
        let rest = (self.network.wake_at().min(self.record.due_at()))
            .min(node.map_or(Time::NEVER, |node| node.wake_at()))
            .min(attach.map_or(Time::NEVER, |attach| attach.wired_at()));
        of_stage.min(self.survey.next_at()).min(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_once_and_a_cancelled_command_never() {
        let mut messages = RrcMessages::default();
        messages.add(1, Message::Command(CellId(2)));
        messages.add(2, Message::Complete);
        messages.cancel_command();
        assert_eq!(messages.take_arrived(1), None);
        assert_eq!(messages.take_arrived(2), Some(Message::Complete));
        assert_eq!(messages.take_arrived(2), None);
        messages.add(3, Message::Complete);
        messages.clear();
        assert_eq!(messages.take_arrived(3), None);
    }

    #[test]
    fn a_ue_answers_once_after_the_processing_of_its_generation() {
        let time_at_ms = |ms| Time::ZERO + Span::from_millis(ms);
        for (generation, ms) in [(Generation::Lte, 20), (Generation::Nr, 16)] {
            let mut change = SecondaryCellChange::default();
            assert!(!change.is_answer_due(time_at_ms(1000)) && change.answer_at().is_never());
            change.on_sent(Aggregation::NONE);
            change.on_received(time_at_ms(100), generation);
            assert_eq!(change.answer_at(), time_at_ms(100 + ms));
            assert!(!change.is_answer_due(time_at_ms(99 + ms)) && change.is_changing());
            assert!(
                change.is_answer_due(time_at_ms(100 + ms))
                    && !change.is_answer_due(time_at_ms(500))
            );
            assert_eq!(change.on_answer(), Some(Aggregation::NONE));
            assert!(!change.is_changing());
        }
    }

    #[test]
    fn a_report_has_the_eight_strongest_cells_in_order() {
        let cell = |cell, rsrp_dbm| ReportedCell {
            cell: CellId(cell),
            rsrp_dbm,
        };
        let mut report = MeasurementReport::new(0, cell(99, -100.0));
        for number in 0..20 {
            report.add(cell(number, -90.0 - f64::from(number * 7 % 20)));
        }
        let levels: Vec<f64> = report.cells().iter().map(|it| it.rsrp_dbm).collect();
        assert_eq!(
            levels,
            (0..8).map(|n| -90.0 - f64::from(n)).collect::<Vec<_>>()
        );
        let mut equal = MeasurementReport::new(0, cell(99, -100.0));
        (0..3).for_each(|number| equal.add(cell(number, -80.0)));
        let order: Vec<u32> = equal.cells().iter().map(|it| it.cell.0).collect();
        assert_eq!(order, [0, 1, 2]);
    }
}
