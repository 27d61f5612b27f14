//! Tests of a handover with DAPS at the UE: events and their effects.

use super::*;
use crate::config::{CellChange, MobilityConfig};
use crate::phy::frame::Frame;
use crate::rrc::granted::EntryAccess;
use crate::rrc::random_access::tests::fdd;
use crate::rrc::random_access::{CellAccess, Progress, RandomAccess};
use crate::rrc::stage::Entry;
use fadeout_core::{HandoverOutcome, Procedure, Span, Time};

const SOURCE: CellId = CellId(0);
const TARGET: CellId = CellId(1);
const NOTHING: [Effect; 0] = [];

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn row(cell: CellId, event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(Some(cell), event))
}

fn access<'a>(config: &'a MobilityConfig, frame: &'a Frame) -> CellAccess<'a> {
    CellAccess {
        config: &config.access,
        frame,
    }
}

/// Returns the entry of a UE into [`TARGET`], until 400 ms.
fn entry() -> Entry {
    let config = MobilityConfig::bare();
    let access = RandomAccess::new(access(&config, &fdd()), Time::ZERO, true);
    Entry {
        cell: TARGET,
        access: EntryAccess::Random(access),
        until: at_ms(400),
        procedure: Procedure::Daps,
    }
}

fn entering() -> Stage {
    Stage::Daps(DapsStage::Entering(entry()))
}

fn in_both() -> Stage {
    Stage::Daps(DapsStage::Both { source: SOURCE })
}

/// Runs `action` for a UE whose serving cell is `serving`. Returns its result and the effects.
fn run<R>(
    stage: &mut Stage,
    (ms, serving): (u64, CellId),
    action: impl FnOnce(&mut Stage, &Seen<'_>, &mut Effects) -> R,
) -> (R, Vec<Effect>) {
    let (frame, mut effects) = (fdd(), Effects::new());
    let config = MobilityConfig {
        change: CellChange::Daps,
        ..MobilityConfig::bare()
    };
    let seen = Seen {
        serving: Some(serving),
        entering: Some(access(&config, &frame)),
        ..Seen::connected(&config, at_ms(ms))
    };
    let result = action(stage, &seen, &mut effects);
    (result, effects.into())
}

fn due(stage: &mut Stage, ms: u64) -> (Option<DueAction>, Vec<Effect>) {
    run(stage, (ms, SOURCE), Stage::on_daps_due)
}

/// Returns the effects of `action`, which needs no view.
fn effects_of(action: impl FnOnce(&mut Effects)) -> Vec<Effect> {
    let mut effects = Effects::new();
    action(&mut effects);
    effects.into()
}

#[test]
fn random_access_runs_while_the_source_serves_the_ue() {
    let mut stage = entering();
    let ms = entry().wake_at().since(Time::ZERO).as_millis();
    assert_eq!(due(&mut stage, ms), (Some(DueAction::StepOfAccess), vec![]));
    assert_eq!(stage, entering());
    assert_eq!(due(&mut Stage::Connected, 500), (None, vec![]));
}

#[test]
fn after_t304_the_ue_stays_in_the_source_and_reports() {
    let mut stage = entering();
    let fallen_back = [
        row(TARGET, RrcEvent::AccessFailure),
        Effect::Ue(UeEffect::LeaveLeg(TARGET)),
        Effect::SendMessage(Direction::Uplink, Message::AccessFailed),
    ];
    assert_eq!(due(&mut stage, 400), (None, fallen_back.into()));
    assert_eq!(stage, Stage::Connected);
    assert_eq!(due(&mut stage, 401), (None, vec![]));
}

#[test]
fn the_end_of_random_access_moves_the_uplink_to_the_target() {
    let mut stage = entering();
    let (_, effects) = run(&mut stage, (20, SOURCE), |stage, seen, effects| {
        stage.on_access_step(entry().access, Progress::Done, seen, effects);
    });
    let moved = [
        row(TARGET, RrcEvent::AccessDone),
        Effect::Ue(UeEffect::EnterDapsTarget(TARGET)),
    ];
    assert_eq!(effects, moved);
}

#[test]
fn after_too_many_preambles_random_access_starts_again() {
    let mut stage = entering();
    let (_, effects) = run(&mut stage, (111, SOURCE), |stage, seen, effects| {
        stage.on_access_step(entry().access, Progress::Problem, seen, effects);
    });
    assert_eq!(effects, NOTHING);
    let config = MobilityConfig::bare();
    let again = RandomAccess::new(access(&config, &fdd()), at_ms(111), true);
    let access = stage.entry().expect("an entry").access;
    assert_eq!(access, EntryAccess::Random(again));
}

#[test]
fn the_failure_of_the_source_makes_it_a_handover_without_source() {
    let mut stage = entering();
    let (_, effects) = run(&mut stage, (50, SOURCE), Stage::on_link_failure);
    let left = [
        Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::LinkFailure)),
        Effect::Report(ReportEffect::CountLinkFailure),
        Effect::Ue(UeEffect::StopDownlink(Fate::Kept)),
        Effect::Ue(UeEffect::Detach(None)),
        Effect::Ue(UeEffect::Bearers(BearerStep::DapsSourceFailed)),
    ];
    assert_eq!(effects, left);
    assert_eq!(stage, Stage::Entering(entry()));
}

#[test]
fn the_failure_of_the_target_releases_both_cells() {
    let mut stage = in_both();
    let (_, effects) = run(&mut stage, (50, TARGET), Stage::on_link_failure);
    let left = [
        row(SOURCE, RrcEvent::SourceReleased),
        Effect::Ue(UeEffect::LeaveLeg(SOURCE)),
        Effect::Ue(UeEffect::Bearers(BearerStep::DapsTargetFailed)),
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Failed)),
    ];
    assert_eq!(effects[2..6], left);
    assert!(matches!(stage, Stage::Selecting { .. }));
}

#[test]
fn the_notice_of_the_target_ends_the_numbering_of_the_source() {
    let mut is_in_both = false;
    let fate = Fate::Dropped;
    let known = effects_of(|effects| is_in_both = in_both().on_target_entered(fate, effects));
    let ended = [
        Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::HandoverSuccess)),
        Effect::Ue(UeEffect::Bearers(BearerStep::EndDapsNumbering(fate))),
    ];
    assert_eq!((is_in_both, &known[..]), (true, &ended[..]));
    for stage in [Stage::Connected, entering()] {
        let nothing = effects_of(|effects| is_in_both = stage.on_target_entered(fate, effects));
        assert_eq!((is_in_both, nothing), (false, vec![]), "one cell");
    }
}

#[test]
fn the_release_is_commanded_after_the_status_of_the_source() {
    let release = Effect::SendMessage(Direction::Downlink, Message::ReleaseSource);
    assert_eq!(
        effects_of(|effects| in_both().on_status(effects)),
        [release]
    );
    let alone = effects_of(|effects| Stage::Connected.on_status(effects));
    assert_eq!(alone, NOTHING);
}

#[test]
fn the_source_is_released_once() {
    let mut stage = in_both();
    let released = [
        row(SOURCE, RrcEvent::SourceReleased),
        Effect::Ue(UeEffect::LeaveLeg(SOURCE)),
        Effect::Ue(UeEffect::Bearers(BearerStep::ReleaseDaps)),
    ];
    assert_eq!(
        effects_of(|effects| stage.release_source(effects)),
        released
    );
    assert_eq!(stage, Stage::Connected);
    assert_eq!(effects_of(|effects| stage.release_source(effects)), NOTHING);
}

#[test]
fn a_failed_leg_to_the_source_only_releases_the_source() {
    let mut stage = in_both();
    let released = effects_of(|effects| stage.on_leg_failure(SOURCE, effects));
    assert_eq!(released.len(), 3, "{released:?}");
    assert_eq!(stage, Stage::Connected);
    for (mut stage, cell) in [(in_both(), TARGET), (entering(), SOURCE)] {
        let failed = effects_of(|effects| stage.on_leg_failure(cell, effects));
        assert_eq!(failed, [Effect::Ue(UeEffect::FailLink)]);
    }
}

#[test]
fn a_command_to_release_the_source_during_the_entry_has_no_effect() {
    let mut stage = entering();
    assert_eq!(effects_of(|effects| stage.release_source(effects)), NOTHING);
    assert_eq!(stage, entering());
}
