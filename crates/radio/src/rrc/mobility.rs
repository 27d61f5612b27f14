//! Where a UE stands in the procedures of mobility, and the timers of each.
//!
//! Every stage but [`Stage::Connected`] has a timer that ends it; while connected, radio link
//! monitoring and RLC do.
//!
//! Standard: TS 38.331 §5.3.5.5, §5.3.7, §7.1.1; TS 36.331 §5.3.5.4, §5.3.7, §7.3.

use super::attach::{Attach, Round, Unsuited};
use super::beam_failure::BeamWatch;
use super::conditional::{Candidates, Conditions};
use super::daps::Dual;
use super::gate::Gate;
use super::granted::Entry;
use super::ltm::Ltm;
use super::monitor::LinkWatch;
use super::network::Network;
use super::policy::ReportedCell;
use super::record::Record;
use super::secondary_node::{NodeMessage, SecondaryNode};
use super::survey::Survey;
use super::trail::Trail;
use super::turns::Turns;
use crate::config::{Aggregation, LegId, MeasurementEvent, MobilityConfig};
use crate::rlc::Generation;
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Procedure, Span, Time, UeId, Wake};

/// A UE under mobility management.
#[derive(Debug)]
pub(crate) struct UeMobility {
    pub stage: Stage,
    pub survey: Survey,
    /// None where every cell is measured each time.
    pub trail: Option<Trail>,
    /// Which neighbours it need not look at.
    pub gate: Gate,
    /// What it measures in gaps; none where it has none.
    pub turns: Option<Turns>,
    pub link: LinkWatch,
    /// Its beams, where failure of them is looked for.
    pub beams: Option<Box<BeamWatch>>,
    pub network: Network,
    pub letters: Letters,
    pub secondaries: Secondaries,
    /// Its secondary node, or who may become that; none where nobody manages one.
    pub secondary_node: Option<Box<SecondaryNode>>,
    /// The second cell, while there is one.
    pub dual: Option<Dual>,
    /// L1/L2-triggered mobility, where there is some.
    pub ltm: Option<Box<Ltm>>,
    /// Its way from idle, where it was that at the start.
    pub attach: Option<Box<Attach>>,
    /// Result of the latest cell selection. `None` if the UE selected a cell, or never had to.
    pub unsuited: Option<Unsuited>,
    /// The change of cell under way.
    pub record: Record,
    /// The rate that flows were told last, in bit/s; none where none asks.
    pub told_rate: Option<f64>,
    pub wake: Wake,
    pub draws: Stream,
    /// The legs that it ever had, by cell.
    pub legs: Vec<(CellId, LegId)>,
}

/// The stage that a UE is at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    /// It is in a cell.
    Connected,
    /// It looks for a cell, next at the first time, until the second (T311).
    Selecting { at: Time, until: Time },
    /// It enters a cell on this leg until T304 or T301 expires.
    Entering {
        leg: LegId,
        access: Entry,
        until: Time,
        procedure: Procedure,
    },
    /// It enters a cell of 3G, in which it is at this time.
    Arriving { leg: LegId, at: Time },
    /// The cell fetches its context, which is there at the first time, or when links have carried it;
    /// T301 runs until the second.
    Fetching { leg: LegId, at: Time, until: Time },
    /// It has no connection, and looks for a cell next at this time.
    Released { at: Time },
    /// It has RRC's setup in a cell, on this leg, and gets its bearers by and by; T3410 or the link ends that.
    Attaching { leg: LegId },
}

/// The most cells of a report: maxCellReport.
///
/// Standard: TS 38.331 §6.4; TS 36.331 §6.4.
const MOST_REPORTED: usize = 8;

/// Content of a measurement report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    /// The number of its event.
    pub event: u16,
    pub serving: ReportedCell,
    count: u8,
    cells: [ReportedCell; MOST_REPORTED],
}

impl Measured {
    pub(crate) fn new(event: u16, serving: ReportedCell) -> Measured {
        Measured {
            event,
            serving,
            count: 0,
            cells: [serving; MOST_REPORTED],
        }
    }

    /// A cell is among those reported, if fewer than eight are stronger. Of equals the first comes first.
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

    /// The cells, the strongest first.
    pub(crate) fn cells(&self) -> &[ReportedCell] {
        &self.cells[..usize::from(self.count)]
    }
}

/// A message of RRC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Message {
    /// MeasurementReport.
    Report(Measured),
    /// RRCReconfiguration with reconfigurationWithSync.
    Command(CellId),
    /// RRCReconfigurationComplete.
    Complete,
    /// RRCReconfiguration with these secondary cells instead of those that there are (sCellToAddModList,
    /// sCellToReleaseList).
    Secondaries(Aggregation),
    /// RRCReconfigurationComplete that answers it.
    SecondariesReady,
    /// RRCReconfiguration with conditionalReconfiguration: these candidates instead of those that there are.
    Candidates(Candidates),
    /// RRCReconfigurationComplete that answers it.
    CandidatesReady,
    /// FailureInformation: the UE could not enter the target, and stays (failureType dapsFailure).
    AccessFailed,
    /// RRCReconfiguration with daps-SourceRelease.
    ReleaseSource,
    /// One about the secondary node.
    Node(NodeMessage),
    /// LTM Cell Switch Command, a control element of MAC.
    Switch(CellId),
    /// A question to a UE that attaches: DLInformationTransfer, SecurityModeCommand, RRCReconfiguration.
    Question(Round),
    /// Its answer.
    Answer(Round),
}

impl Message {
    /// Bytes with ASN.1 and without PDCP's header: usual sizes, not those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            Message::Report(_) => 40,
            Message::Command(_) => 200,
            Message::Complete | Message::SecondariesReady | Message::CandidatesReady => 40,
            // Each with the configuration of its cell.
            Message::Candidates(all) => 60 + 160 * all.cells().len() as u32,
            Message::Secondaries(_) => 100,
            Message::AccessFailed => 20,
            // As PDCP, RLC and MAC add 5 bytes; with a timing advance and TCI states, without preambles.
            Message::Switch(_) => 5,
            Message::ReleaseSource => 40,
            Message::Node(message) => message.size(),
            Message::Question(round) => round.question_size(),
            Message::Answer(round) => round.answer_size(),
        }
    }
}

/// A change of secondary cells.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Secondaries {
    /// The cells that the base station has told the UE of, until it has the answer.
    told: Option<Aggregation>,
    /// When the UE has done it and answers.
    answer_at: Option<Time>,
}

/// From the reception of a reconfiguration with secondary cells to the UE's answer.
///
/// Standard: TS 36.331 §11.2; TS 38.331 §12.
pub(crate) fn secondary_processing(generation: Generation) -> Span {
    match generation {
        Generation::Lte => Span::from_millis(20),
        Generation::Nr => Span::from_millis(16),
    }
}

impl Secondaries {
    /// Whether the base station waits for an answer.
    pub(crate) fn is_changing(&self) -> bool {
        self.told.is_some()
    }

    /// The base station tells the UE of these.
    pub(crate) fn tell(&mut self, cells: Aggregation) {
        self.told = Some(cells);
    }

    /// The UE has heard of them.
    pub(crate) fn on_heard(&mut self, now: Time, generation: Generation) {
        self.answer_at = Some(now.saturating_add(secondary_processing(generation)));
    }

    /// Whether the UE answers by now; it does once.
    pub(crate) fn answers(&mut self, now: Time) -> bool {
        self.answer_at.take_if(|at| *at <= now).is_some()
    }

    /// The base station has the answer: what it told.
    pub(crate) fn on_answer(&mut self) -> Option<Aggregation> {
        self.told.take()
    }

    /// When the UE answers.
    fn answer_at(&self) -> Time {
        self.answer_at.unwrap_or(Time::NEVER)
    }
}

/// Messages of RRC that are under way, or lost, by number.
#[derive(Debug, Default)]
pub(crate) struct Letters(Vec<(u64, Message)>);

impl Letters {
    /// A message sets out.
    pub(crate) fn post(&mut self, number: u64, message: Message) {
        self.0.push((number, message));
    }

    /// A message is there. None when it means nothing any more.
    pub(crate) fn take(&mut self, number: u64) -> Option<Message> {
        let place = self.0.iter().position(|&(known, _)| known == number)?;
        Some(self.0.remove(place).1)
    }

    /// A command that is still to come is void.
    pub(crate) fn void_command(&mut self) {
        let is_command =
            |message: &Message| matches!(message, Message::Command(_) | Message::Switch(_));
        self.0.retain(|(_, message)| !is_command(message));
    }

    /// Whether the UE is still to hear of candidates.
    pub(crate) fn have_candidates(&self) -> bool {
        let mut all = self.0.iter();
        all.any(|(_, message)| matches!(message, Message::Candidates(_)))
    }

    /// The link that they were sent over is left.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl UeMobility {
    /// A UE on a leg in a cell, where `cells` are measured.
    pub(crate) fn new(
        (ue, cell, leg): (UeId, CellId, LegId),
        config: &MobilityConfig,
        events: (&[MeasurementEvent], usize),
        seed: u64,
    ) -> UeMobility {
        let mut draws = Stream::new(seed, "radio.mobility", u64::from(ue.0));
        let period = config.measurement_period;
        // Not all UEs measure at the same time.
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
            trail: config
                .may_bound()
                .then(|| Trail::new(&filtered, period))
                .flatten(),
            gate: Gate::new(),
            turns: None,
            link: LinkWatch::new(
                Time::ZERO.saturating_add(config.monitoring.period),
                &config.monitoring,
            ),
            beams: config.beam_failure.map(|_| Box::new(BeamWatch::new())),
            network: Network::new(config.station(cell)),
            letters: Letters::default(),
            secondaries: Secondaries::default(),
            secondary_node: None,
            dual: None,
            ltm: config.ltm.map(|_| Box::new(Ltm::new())),
            attach: None,
            unsuited: None,
            record: Record::new(),
            told_rate: None,
            wake: Wake::default(),
            draws,
            legs: vec![(cell, leg)],
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected)
    }

    /// Whether it has a link to a cell, with bearers or on its way to them.
    pub(crate) fn has_link(&self) -> bool {
        matches!(self.stage, Stage::Connected | Stage::Attaching { .. })
    }

    /// When L1/L2-triggered mobility has something to do.
    fn switch_at(&self) -> Time {
        let has_candidates = !self.survey.conditions.is_idle();
        let ltm = self.ltm.as_ref();
        ltm.map_or(Time::NEVER, |ltm| ltm.wake_at(has_candidates))
    }

    /// When something is to be done next, but for looks at the link.
    pub(crate) fn wake_at(&self) -> Time {
        let of_stage = match &self.stage {
            Stage::Connected => self
                .link
                .fails_at()
                .min(self.survey.report_at())
                .min(self.secondaries.answer_at())
                .min(self.dual.as_ref().map_or(Time::NEVER, Dual::wake_at))
                .min((self.secondary_node.as_ref()).map_or(Time::NEVER, |it| it.speaks_at()))
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
    fn a_message_is_read_once_and_a_void_command_never() {
        let mut letters = Letters::default();
        letters.post(1, Message::Command(CellId(2)));
        letters.post(2, Message::Complete);
        letters.void_command();
        assert_eq!(letters.take(1), None);
        assert_eq!(letters.take(2), Some(Message::Complete));
        assert_eq!(letters.take(2), None);
        letters.post(3, Message::Complete);
        letters.clear();
        assert_eq!(letters.take(3), None);
    }

    #[test]
    fn a_ue_answers_once_after_the_processing_of_its_generation() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        for (generation, ms) in [(Generation::Lte, 20), (Generation::Nr, 16)] {
            let mut secondaries = Secondaries::default();
            assert!(!secondaries.answers(at(1000)) && secondaries.answer_at().is_never());
            secondaries.tell(Aggregation::NONE);
            secondaries.on_heard(at(100), generation);
            assert_eq!(secondaries.answer_at(), at(100 + ms));
            assert!(!secondaries.answers(at(99 + ms)) && secondaries.is_changing());
            assert!(secondaries.answers(at(100 + ms)) && !secondaries.answers(at(500)));
            assert_eq!(secondaries.on_answer(), Some(Aggregation::NONE));
            assert!(!secondaries.is_changing());
        }
    }

    #[test]
    fn a_report_has_the_eight_strongest_cells_in_order() {
        let cell = |cell, rsrp_dbm| ReportedCell {
            cell: CellId(cell),
            rsrp_dbm,
        };
        let mut report = Measured::new(0, cell(99, -100.0));
        for number in 0..20 {
            report.add(cell(number, -90.0 - f64::from(number * 7 % 20)));
        }
        let levels: Vec<f64> = report.cells().iter().map(|it| it.rsrp_dbm).collect();
        assert_eq!(
            levels,
            (0..8).map(|n| -90.0 - f64::from(n)).collect::<Vec<_>>()
        );
        let mut equal = Measured::new(0, cell(99, -100.0));
        (0..3).for_each(|number| equal.add(cell(number, -80.0)));
        let order: Vec<u32> = equal.cells().iter().map(|it| it.cell.0).collect();
        assert_eq!(order, [0, 1, 2]);
    }
}
