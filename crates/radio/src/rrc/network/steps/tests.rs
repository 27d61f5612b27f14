//! Tests of the steps of base stations in a handover: events and their effects.

use super::*;
use crate::config::{CellChange, ConditionalConfig, Fate, MobilityConfig, Route};
use crate::rrc::effect::Effects;
use crate::rrc::record::Change;
use fadeout_core::{Span, Time, UeId};

const SOURCE: CellId = CellId(0);
const TARGET: CellId = CellId(1);
const NOTHING: [Effect; 0] = [];

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn conditional() -> CellChange {
    CellChange::Conditional(ConditionalConfig {
        conditions: Vec::new(),
        most_candidates: 2,
        hold: Span::MAX,
        recovers: true,
        forwards_early: false,
        commanding: Vec::new(),
    })
}

/// Base stations of two cells, and a UE in the first cell.
struct Rig {
    network: Network,
    config: MobilityConfig,
    serving: CellId,
    is_connected: bool,
    is_in_daps: bool,
    change: Option<Change>,
    held: [u32; 2],
}

impl Rig {
    fn new(change: CellChange) -> Rig {
        Rig {
            network: Network::new(10),
            config: MobilityConfig {
                stations: vec![10, 11],
                change,
                ..MobilityConfig::bare()
            },
            serving: SOURCE,
            is_connected: true,
            is_in_daps: false,
            change: None,
            held: [0; 2],
        }
    }

    /// Returns a UE that has entered [`TARGET`] by a procedure.
    fn entered(change: CellChange, procedure: Procedure) -> Rig {
        Rig {
            serving: TARGET,
            change: Some(Change {
                procedure,
                source: SOURCE,
                is_done: false,
            }),
            ..Rig::new(change)
        }
    }

    fn run(&mut self, ms: u64, action: impl FnOnce(&mut Network, &mut Step<'_>)) -> Vec<Effect> {
        let mut effects = Effects::new();
        let mut step = Step {
            now: at_ms(ms),
            seed: 1,
            ue: UeId(0),
            config: &self.config,
            loads: &[0; 2],
            held: &mut self.held,
            serving: Some(self.serving),
            generation: None,
            is_connected: self.is_connected,
            fetching: None,
            is_attaching: false,
            is_in_daps: self.is_in_daps,
            change: self.change,
            home: self.network.home(),
            next_message: &mut 0,
            effects: &mut effects,
        };
        action(&mut self.network, &mut step);
        effects.into()
    }

    fn prepare(&mut self) -> Vec<Effect> {
        self.run(100, |network, step| network.prepare([SOURCE, TARGET], step))
    }

    fn complete(&mut self) -> Vec<Effect> {
        self.run(200, |network, step| network.on_complete(false, step))
    }
}

fn row(event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(None, event))
}

/// Returns the first effects of a complete message.
fn completed() -> [Effect; 4] {
    [
        row(RrcEvent::CompleteReceived),
        Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)),
        Effect::Report(ReportEffect::ReportRate),
        Effect::Report(ReportEffect::StampRow(RowTime::Completed)),
    ]
}

#[test]
fn a_handover_begins_with_its_row_and_predicts_the_interruption() {
    let mut rig = Rig::new(CellChange::Handover);
    let new = NewRow::triggered(Procedure::Handover, [SOURCE, TARGET], at_ms(100));
    let config = &rig.config;
    let predicted = LinkInfo::BlockagePredicted {
        starts_at: at_ms(100) + config.usual_preparation(),
        lasts: config.procedure.interruption + config.access.predicted_duration(),
    };
    let begun = [
        Effect::Report(ReportEffect::BeginRow(new)),
        Effect::Report(ReportEffect::RecordEvent(
            Some(TARGET),
            RrcEvent::HandoverRequest,
        )),
        Effect::Report(ReportEffect::Notify(predicted)),
    ];
    assert_eq!(rig.prepare(), begun);
    assert!(rig.network.is_preparing());
}

#[test]
fn with_daps_no_interruption_is_predicted() {
    let mut rig = Rig::new(CellChange::Daps);
    let new = NewRow::triggered(Procedure::Daps, [SOURCE, TARGET], at_ms(100));
    let request = Effect::Report(ReportEffect::RecordEvent(
        Some(TARGET),
        RrcEvent::HandoverRequest,
    ));
    assert_eq!(
        rig.prepare(),
        [Effect::Report(ReportEffect::BeginRow(new)), request]
    );
}

#[test]
fn the_command_goes_before_the_data() {
    let mut rig = Rig::new(CellChange::Handover);
    let command = Message::Command(TARGET);
    let sent = [
        Effect::Report(ReportEffect::StampRow(RowTime::Commanded)),
        Effect::Report(ReportEffect::RecordEvent(
            Some(TARGET),
            RrcEvent::CommandSent,
        )),
        Effect::SendMessage(Direction::Downlink, command),
        Effect::RecallUtraPackets,
        Effect::PassData(TARGET),
    ];
    let effects = rig.run(100, |network, step| network.command(TARGET, step));
    assert_eq!(effects, sent);
    assert_eq!(rig.network.wake_at(), at_ms(5100), "TX2RELOCoverall");
}

#[test]
fn the_source_stops_its_downlink_and_forwards_the_data() {
    let mut rig = Rig::new(CellChange::Handover);
    let effects = rig.run(100, |network, step| network.pass_data(TARGET, step));
    let route = Route::FixedDelay(rig.config.station_delay(SOURCE, TARGET));
    let stopped = Effect::Ue(UeEffect::StopDownlink(Fate::Forwarded(route)));
    assert_eq!(effects, [Effect::EndEarlyCopies, stopped]);
}

#[test]
fn with_daps_the_source_sends_copies_and_continues() {
    let mut rig = Rig::new(CellChange::Daps);
    let effects = rig.run(100, |network, step| network.pass_data(TARGET, step));
    let copies = BearerStep::BeginDaps {
        source: SOURCE,
        target: TARGET,
    };
    assert_eq!(effects, [Effect::Ue(UeEffect::Bearers(copies))]);
}

#[test]
fn a_ue_that_does_not_leave_is_served_by_the_source_again() {
    let mut rig = Rig::new(CellChange::Handover);
    rig.run(100, |network, step| network.command(TARGET, step));
    let resumed = [
        Effect::CancelCommand,
        Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)),
        row(RrcEvent::SourceResumed),
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Cancelled)),
        Effect::CancelNodeRequest,
        Effect::Ue(UeEffect::Bearers(BearerStep::EndDaps)),
        Effect::ResumeData,
    ];
    assert_eq!(rig.run(5100, Network::on_source_due), resumed);
    assert!(!rig.network.is_preparing());
}

#[test]
fn the_timer_of_the_departure_has_no_effect_on_a_ue_that_has_left() {
    for (is_connected, is_in_daps) in [(false, false), (true, true)] {
        let mut rig = Rig::new(CellChange::Daps);
        rig.run(100, |network, step| network.command(TARGET, step));
        (rig.is_connected, rig.is_in_daps) = (is_connected, is_in_daps);
        assert_eq!(rig.run(5100, Network::on_source_due), NOTHING);
    }
}

#[test]
fn a_ue_that_falls_back_ends_the_copies() {
    let mut rig = Rig::new(CellChange::Daps);
    rig.run(100, |network, step| network.command(TARGET, step));
    let ended = [
        row(RrcEvent::SourceResumed),
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Failed)),
        Effect::Ue(UeEffect::Bearers(BearerStep::EndDaps)),
    ];
    assert_eq!(rig.run(200, Network::on_fallen_back), ended);
    assert!(!rig.network.is_preparing());
}

#[test]
fn the_departure_for_a_candidate_cancels_a_commanded_handover() {
    let mut rig = Rig::new(conditional());
    let departs = |network: &mut Network, step: &mut Step<'_>| {
        network.on_departure(TARGET, step);
    };
    let begun = |effect: &Effect| matches!(effect, Effect::Report(ReportEffect::BeginRow(new)) if new.procedure == Procedure::Conditional);
    let alone = rig.run(300, departs);
    assert!(alone.len() == 1 && begun(&alone[0]), "{alone:?}");
    rig.prepare();
    let cancelled = rig.run(300, departs);
    assert_eq!(
        cancelled[0],
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Cancelled))
    );
    assert!(begun(&cancelled[1]) && !rig.network.is_preparing());
}

#[test]
fn after_a_handover_the_target_sends_and_requests_the_path() {
    let mut rig = Rig::entered(CellChange::Handover, Procedure::Handover);
    let effects = rig.complete();
    assert_eq!(effects[..4], completed());
    let rest = [Effect::ResumeData, Effect::OfferSecondaryCells];
    assert_eq!(effects[4..], rest);
    assert_eq!(
        rig.network.wake_at(),
        at_ms(200) + rig.config.procedure.core_delay
    );
}

#[test]
fn within_a_base_station_no_path_is_switched() {
    let mut rig = Rig::entered(CellChange::Handover, Procedure::Handover);
    rig.config.stations = vec![10, 10];
    assert_eq!(rig.complete()[5], Effect::ReportBearers);
    assert!(rig.network.wake_at().is_never());
}

#[test]
fn in_a_candidate_downlink_data_waits_for_the_source() {
    let mut rig = Rig::entered(conditional(), Procedure::Conditional);
    let effects = rig.complete();
    assert!(effects.contains(&Effect::Ue(UeEffect::Bearers(BearerStep::CompleteEarly))));
    assert!(effects.contains(&Effect::SendDownlinkData));
    assert!(!effects.contains(&Effect::ResumeData), "{effects:?}");
    assert!(rig.network.candidacy.is_finishing());
}

#[test]
fn in_a_cell_that_is_no_candidate_it_does_not_wait() {
    let mut rig = Rig::entered(conditional(), Procedure::Reestablishment);
    assert_eq!(rig.complete()[4], Effect::ResumeData);
    assert!(!rig.network.candidacy.is_finishing());
}

#[test]
fn with_daps_the_target_informs_the_source_and_nobody_else() {
    let mut rig = Rig::entered(CellChange::Daps, Procedure::Daps);
    rig.is_in_daps = true;
    let effects = rig.complete();
    let ended = Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded));
    assert!(!effects.contains(&ended), "there was no interruption");
    assert!(effects.contains(&Effect::Ue(UeEffect::Bearers(BearerStep::CompleteDaps))));
    assert!(!effects.contains(&Effect::ResumeData));
    assert!(rig.network.candidacy.is_finishing());
}
