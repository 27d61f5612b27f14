//! State of a UE in the procedures of mobility.
//!
//! Standard: TS 38.331 §5.3.5.5, §5.3.7, §7.1.1; TS 36.331 §5.3.5.4, §5.3.7, §7.3.

use super::attach::{Attach, Unsuited};
use super::beam_failure::BeamWatch;
use super::conditional::Conditions;
use super::gap_carriers::GapCarriers;
use super::level_bounds::LevelBounds;
use super::ltm::Ltm;
use super::measurement_places::MeasurementPlaces;
use super::message::RrcMessages;
use super::monitor::LinkWatch;
use super::network::Network;
use super::rates::RateReports;
use super::record::Record;
use super::secondary_cells::SecondaryCellChange;
use super::secondary_node::SecondaryNode;
use super::stage::Stage;
use super::survey::Survey;
use super::timetable::Timetable;
use crate::config::{LegId, MeasurementEvent, MobilityConfig};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Time, UeId, Wake};

/// State of a UE under mobility management.
#[derive(Debug)]
pub(crate) struct UeMobility {
    pub stage: Stage,
    pub survey: Survey,
    /// Handovers at given times.
    pub timetable: Timetable,
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
    /// L1/L2-triggered mobility. `None` if it is not configured.
    pub ltm: Option<Box<Ltm>>,
    /// Attach procedure of a UE that was idle at the start. `None` for other UEs.
    pub attach: Option<Box<Attach>>,
    /// Reason why the latest cell selection found no cell. `None` if the UE selected a cell, or if
    /// there was no cell selection.
    pub unsuited: Option<Unsuited>,
    /// Result row of the handover under way.
    pub record: Record,
    pub rates: RateReports,
    pub wake: Wake,
    pub draws: Stream,
    /// All legs that the UE ever had, each with its cell.
    pub legs: Vec<(CellId, LegId)>,
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
        if let Some(conditional) = config.conditional() {
            filtered.extend(&conditional.conditions);
            survey.conditions = Conditions::new(&conditional.conditions, period, events.1);
        }
        UeMobility {
            stage: Stage::Connected,
            survey,
            timetable: Timetable::default(),
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
            ltm: config.ltm().map(|_| Box::new(Ltm::new())),
            attach: None,
            unsuited: None,
            record: Record::new(),
            rates: RateReports::default(),
            wake: Wake::default(),
            draws,
            legs: vec![(cell, leg)],
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected | Stage::Daps(_))
    }

    /// True if the UE has a link to a cell, with bearers or during their setup.
    pub(crate) fn has_link(&self) -> bool {
        self.is_connected() || matches!(self.stage, Stage::Attaching)
    }

    /// True if a change of the UE's cell is under way, at the UE or in the network.
    pub(crate) fn is_changing_cell(&self) -> bool {
        let is_switching = self.ltm.as_ref().is_some_and(|ltm| ltm.is_switching());
        !matches!(self.stage, Stage::Connected) || is_switching || self.network.is_busy()
    }

    /// Returns the time of the next action of L1/L2-triggered mobility.
    fn switch_at(&self) -> Time {
        let has_candidates = !self.survey.conditions.is_idle();
        let ltm = self.ltm.as_ref();
        ltm.map_or(Time::NEVER, |ltm| ltm.wake_at(has_candidates))
    }

    /// Returns the time of the next action of a connected UE.
    fn connected_wake_at(&self) -> Time {
        (self.link.fails_at().min(self.survey.report_at()))
            .min(self.secondary_cell_change.answer_at())
            .min((self.secondary_node.as_ref()).map_or(Time::NEVER, |it| it.message_at()))
            .min(self.beams.as_ref().map_or(Time::NEVER, |it| it.wake_at()))
            .min(self.survey.conditions.wake_at())
            .min(self.switch_at())
    }

    /// Returns the time of the next action, except for evaluations of the link.
    pub(crate) fn wake_at(&self) -> Time {
        let of_stage = match &self.stage {
            Stage::Connected => self.connected_wake_at(),
            Stage::Daps(stage) => self.connected_wake_at().min(stage.wake_at()),
            Stage::Selecting { at, until } => (*at).min(*until),
            Stage::Entering(entry) => entry.wake_at(),
            Stage::Fetching { at, until, .. } => (*at).min(*until),
            Stage::Released { at } | Stage::Arriving { at, .. } => *at,
            Stage::Attaching => {
                let attach = self.attach.as_ref();
                let at = attach.map_or(Time::NEVER, |attach| attach.wake_at());
                self.link.fails_at().min(at)
            }
        };
        let node = self.secondary_node.as_ref();
        let attach = self.attach.as_ref();
        let rest = (self.network.wake_at().min(self.record.due_at()))
            .min(self.timetable.wake_at())
            .min(node.map_or(Time::NEVER, |node| node.wake_at()))
            .min(attach.map_or(Time::NEVER, |attach| attach.wired_at()));
        of_stage.min(self.survey.next_at()).min(rest)
    }
}
