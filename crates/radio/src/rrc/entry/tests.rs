//! Tests of a UE's handover commands, link failures, cell selections and entries into cells.

use super::*;
use crate::config::{CellChange, MobilityConfig};
use crate::phy::frame::Frame;
use crate::rrc::granted::GrantedAccess;
use crate::rrc::random_access::CellAccess;
use crate::rrc::random_access::tests::fdd;
use crate::rrc::record::Change;
use fadeout_core::{Span, Time};

const SOURCE: CellId = CellId(0);
const TARGET: CellId = CellId(1);
const NOTHING: [Effect; 0] = [];

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn row(cell: CellId, event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(Some(cell), event))
}

/// Returns the effect that begins a row after the loss of the link to [`SOURCE`].
fn failure_row(procedure: Procedure, ms: u64) -> Effect {
    Effect::Report(ReportEffect::BeginRow(NewRow {
        left_at: Some(at_ms(ms)),
        ..NewRow::triggered(procedure, [SOURCE; 2], at_ms(ms))
    }))
}

/// A UE whose serving or last cell is [`SOURCE`].
struct Rig {
    stage: Stage,
    config: MobilityConfig,
    frame: Frame,
    change: Option<Change>,
    may_attach: bool,
}

impl Rig {
    fn new(stage: Stage) -> Rig {
        Rig {
            stage,
            config: MobilityConfig {
                stations: vec![10, 11],
                ..MobilityConfig::bare()
            },
            frame: fdd(),
            change: None,
            may_attach: false,
        }
    }

    /// Returns a UE that enters [`TARGET`] from 0 ms until `until_ms`.
    fn entering(procedure: Procedure, until_ms: u64) -> Rig {
        let mut rig = Rig::new(Stage::Connected);
        let access = RandomAccess::new(rig.access(), Time::ZERO, false);
        rig.stage = Stage::Entering(Entry {
            cell: TARGET,
            access: EntryAccess::Random(access),
            until: at_ms(until_ms),
            procedure,
        });
        rig
    }

    fn access(&self) -> CellAccess<'_> {
        CellAccess {
            config: &self.config.access,
            frame: &self.frame,
        }
    }

    fn run<R>(
        &mut self,
        ms: u64,
        action: impl FnOnce(&mut Stage, &Seen<'_>, &mut Effects) -> R,
    ) -> (R, Vec<Effect>) {
        let (mut stage, mut effects) = (self.stage, Effects::new());
        let seen = Seen {
            is_connected: matches!(stage, Stage::Connected | Stage::Daps(_)),
            entering: stage.entry().map(|_| self.access()),
            change: self.change,
            may_attach: self.may_attach,
            ..Seen::connected(&self.config, at_ms(ms))
        };
        let result = action(&mut stage, &seen, &mut effects);
        self.stage = stage;
        (result, effects.into())
    }

    fn command(&mut self, ms: u64) -> Vec<Effect> {
        self.run(ms, |stage, seen, effects| {
            stage.on_command(TARGET, seen, effects);
        })
        .1
    }

    fn fail(&mut self, ms: u64) -> Vec<Effect> {
        self.run(ms, Stage::on_link_failure).1
    }

    fn due(&mut self, ms: u64) -> (Option<DueAction>, Vec<Effect>) {
        self.run(ms, Stage::on_due)
    }

    fn select(&mut self, ms: u64, found: Option<CellId>, procedure: Procedure) -> Vec<Effect> {
        self.run(ms, |stage, seen, effects| {
            stage.on_selection(found, procedure, seen, effects);
        })
        .1
    }

    /// Returns the effects of a step of access with this result.
    fn step(&mut self, ms: u64, progress: Progress) -> Vec<Effect> {
        let access = self.stage.entry().expect("an entry").access;
        self.run(ms, |stage, seen, effects| {
            stage.on_access_step(access, progress, seen, effects);
        })
        .1
    }
}

/// Returns the effects of a UE that has lost its connection.
fn lost(ms: u64) -> Vec<Effect> {
    vec![
        Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::Released)),
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Failed)),
        Effect::CancelHandover,
        Effect::Ue(UeEffect::StopAttach),
        Effect::Ue(UeEffect::DropCandidates),
        Effect::Ue(UeEffect::Bearers(BearerStep::Release)),
        Effect::Ue(UeEffect::StopDownlink(Fate::Dropped)),
        failure_row(Procedure::Setup, ms),
    ]
}

/// Returns the effects of a UE that selects a cell after a failure.
fn reselected(ms: u64) -> [Effect; 3] {
    [
        Effect::CancelHandover,
        Effect::DropCommandedNode,
        failure_row(Procedure::Reestablishment, ms),
    ]
}

#[test]
fn a_command_makes_the_ue_leave_and_enter_the_target() {
    let mut rig = Rig::new(Stage::Connected);
    let times = &rig.config.procedure;
    let start = EntryStart {
        cell: TARGET,
        procedure: Procedure::Handover,
        ready_at: at_ms(100) + times.interruption,
        until: at_ms(100) + times.t304,
        method: EntryMethod::Configured(SOURCE),
    };
    let left = [
        row(TARGET, RrcEvent::CommandReceived),
        Effect::Ue(UeEffect::Detach(Some(TARGET))),
        Effect::Ue(UeEffect::StartEntry(start)),
    ];
    assert_eq!(rig.command(100), left);
}

#[test]
fn a_command_to_a_3g_cell_has_no_random_access() {
    let mut rig = Rig::new(Stage::Connected);
    rig.config.utra.insert(11);
    assert_eq!(
        rig.command(100)[2..],
        [Effect::Ue(UeEffect::ArriveInUtra(TARGET))]
    );
}

#[test]
fn a_ue_without_a_connection_obeys_no_command() {
    let mut rig = Rig::entering(Procedure::Handover, 1000);
    assert_eq!(rig.command(100), NOTHING);
}

#[test]
fn after_a_link_failure_the_ue_leaves_its_cell_and_selects_one() {
    let mut rig = Rig::new(Stage::Connected);
    let failed = [
        Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::LinkFailure)),
        Effect::Report(ReportEffect::CountLinkFailure),
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Failed)),
        Effect::StopPathSwitch,
        Effect::Ue(UeEffect::StopDownlink(Fate::Kept)),
        Effect::Ue(UeEffect::Detach(None)),
    ];
    let effects = rig.fail(50);
    assert_eq!(effects[..6], failed);
    assert_eq!(effects[6..], reselected(50));
    let monitoring = &rig.config.monitoring;
    let (at, until) = (monitoring.cell_selection, monitoring.t311);
    let selecting = Stage::Selecting {
        at: at_ms(50) + at,
        until: at_ms(50) + until,
    };
    assert_eq!(rig.stage, selecting);
}

#[test]
fn the_row_of_a_finished_handover_does_not_fail_with_the_link() {
    let mut rig = Rig::new(Stage::Connected);
    rig.change = Some(Change {
        procedure: Procedure::Handover,
        source: TARGET,
        is_done: true,
    });
    let fails = |effect: &Effect| matches!(effect, Effect::Report(ReportEffect::FailRow(_)));
    assert!(!rig.fail(50).iter().any(fails));
    rig = Rig::new(Stage::Connected);
    assert!(rig.fail(50).iter().any(fails));
}

#[test]
fn a_link_fails_once() {
    let mut rig = Rig::new(Stage::Connected);
    rig.fail(50);
    assert_eq!(rig.fail(50), NOTHING);
    let mut rig = Rig::new(Stage::Attaching);
    assert_eq!(rig.fail(50), [Effect::Ue(UeEffect::FailAttach)]);
}

#[test]
fn cell_selection_is_repeated_until_t311_expires() {
    let (at, until) = (at_ms(100), at_ms(1000));
    let mut rig = Rig::new(Stage::Selecting { at, until });
    assert_eq!(rig.due(99), (None, vec![]));
    let (due, _) = rig.due(100);
    assert_eq!(due, Some(DueAction::SelectCell));
    assert_eq!(rig.select(100, None, Procedure::Reestablishment), NOTHING);
    let again = at_ms(100) + rig.config.monitoring.cell_selection;
    assert_eq!(rig.stage, Stage::Selecting { at: again, until });
    assert_eq!(rig.due(1000), (None, lost(1000)));
    let at = at_ms(1000) + SEARCH_PERIOD;
    assert_eq!(rig.stage, Stage::Released { at });
}

#[test]
fn a_selected_cell_is_entered_by_its_procedure() {
    let times = MobilityConfig::bare();
    let (monitoring, procedure) = (times.monitoring, times.procedure);
    for (way, may_attach, ready_after, timer) in [
        (
            Procedure::Reestablishment,
            true,
            Span::ZERO,
            monitoring.t301,
        ),
        (Procedure::Setup, false, Span::ZERO, monitoring.t301),
        (Procedure::Setup, true, Span::ZERO, monitoring.t300),
        (Procedure::Attach, true, Span::ZERO, monitoring.t300),
        (
            Procedure::Recovery,
            false,
            procedure.interruption,
            procedure.t304,
        ),
    ] {
        let mut rig = Rig::new(Stage::Released { at: at_ms(7) });
        rig.may_attach = may_attach;
        let mut effects = rig.select(7, Some(TARGET), way);
        let start = EntryStart {
            cell: TARGET,
            procedure: way,
            ready_at: at_ms(7) + ready_after,
            until: at_ms(7) + timer,
            method: EntryMethod::Random,
        };
        assert_eq!(
            effects.pop(),
            Some(Effect::Ue(UeEffect::StartEntry(start))),
            "{way:?}"
        );
        let leaves = Effect::Ue(UeEffect::Bearers(BearerStep::LeaveForCandidate(TARGET)));
        assert_eq!(effects.contains(&leaves), way == Procedure::Recovery);
        let selected = [
            row(TARGET, RrcEvent::CellSelected),
            Effect::Report(ReportEffect::RetargetRow(TARGET, way)),
        ];
        assert_eq!(effects[..2], selected);
    }
}

#[test]
fn an_idle_ue_searches_again_after_the_time_of_its_procedure() {
    let selection = MobilityConfig::bare().monitoring.cell_selection;
    for (procedure, wait) in [
        (Procedure::Attach, selection),
        (Procedure::Setup, SEARCH_PERIOD),
    ] {
        let mut rig = Rig::new(Stage::Released { at: at_ms(20) });
        assert_eq!(rig.due(20).0, Some(DueAction::SearchCell));
        rig.select(20, None, procedure);
        assert_eq!(
            rig.stage,
            Stage::Released {
                at: at_ms(20) + wait
            }
        );
    }
}

#[test]
fn a_handover_whose_timer_expires_ends_in_cell_selection() {
    use Procedure::{Conditional, Daps, Handover, Ltm, Recovery};
    for procedure in [Handover, Conditional, Daps, Ltm, Recovery] {
        let mut rig = Rig::entering(procedure, 400);
        let (due, effects) = rig.due(400);
        let failed = [
            row(TARGET, RrcEvent::AccessFailure),
            Effect::Ue(UeEffect::LeaveLeg(TARGET)),
            Effect::Report(ReportEffect::FailRow(HandoverOutcome::Failed)),
        ];
        assert_eq!((due, &effects[..3]), (None, &failed[..]));
        assert_eq!(effects[3..], reselected(400));
        assert!(matches!(rig.stage, Stage::Selecting { .. }));
    }
}

#[test]
fn other_entries_end_in_idle_when_their_timer_expires() {
    let left = [
        row(TARGET, RrcEvent::AccessFailure),
        Effect::Ue(UeEffect::LeaveLeg(TARGET)),
    ];
    let mut rig = Rig::entering(Procedure::Reestablishment, 400);
    let effects = rig.due(400).1;
    assert_eq!((&effects[..2], &effects[2..]), (&left[..], &lost(400)[..]));
    let mut rig = Rig::entering(Procedure::Setup, 400);
    assert_eq!(rig.due(400).1, left);
    let at = at_ms(400) + SEARCH_PERIOD;
    assert_eq!(rig.stage, Stage::Released { at });
    let mut rig = Rig::entering(Procedure::Attach, 400);
    rig.may_attach = true;
    assert_eq!(rig.due(400).1[2..], [Effect::Ue(UeEffect::FailAttach)]);
}

#[test]
fn a_step_of_access_is_due_at_its_time() {
    let mut rig = Rig::entering(Procedure::Handover, 400);
    let first = rig.stage.entry().expect("an entry").access.wake_at();
    let ms = first.since(Time::ZERO).as_millis();
    assert_eq!(rig.due(ms), (Some(DueAction::StepOfAccess), vec![]));
    assert_eq!(rig.step(ms, Progress::Running), NOTHING);
}

#[test]
fn after_too_many_preambles_random_access_starts_again() {
    for (procedure, is_free) in [
        (Procedure::Handover, true),
        (Procedure::Reestablishment, false),
    ] {
        let mut rig = Rig::entering(procedure, 400);
        assert_eq!(rig.step(111, Progress::Problem), NOTHING);
        let again = RandomAccess::new(rig.access(), at_ms(111), is_free);
        let entry = rig.stage.entry().expect("an entry");
        assert_eq!(entry.access, EntryAccess::Random(again));
        assert_eq!(entry.until, at_ms(400), "the timer continues");
    }
}

#[test]
fn an_entry_into_a_prepared_cell_brings_the_commanded_cells() {
    let mut rig = Rig::entering(Procedure::Handover, 400);
    let entered = [
        row(TARGET, RrcEvent::AccessDone),
        Effect::Ue(UeEffect::EnterCell(TARGET)),
        Effect::Ue(UeEffect::SendComplete),
        Effect::Ue(UeEffect::AddCommandedCells),
        Effect::Ue(UeEffect::EnterCommandedNode),
    ];
    assert_eq!(rig.step(20, Progress::Done), entered);
    let mut rig = Rig::entering(Procedure::Setup, 400);
    assert_eq!(rig.step(20, Progress::Done), entered[..3]);
}

#[test]
fn without_random_access_the_cell_has_the_complete_message_at_once() {
    let mut rig = Rig::entering(Procedure::Handover, 400);
    let grant = (crate::config::FirstGrant::ON_PDCCH, None);
    let access = GrantedAccess::new(grant, Time::ZERO, &rig.frame);
    let access = EntryAccess::Granted(access);
    let (_, effects) = rig.run(20, |stage, seen, effects| {
        stage.on_access_step(access, Progress::Done, seen, effects);
    });
    assert!(!effects.contains(&Effect::Ue(UeEffect::SendComplete)));
    let known = [Effect::HasEntered, Effect::Ue(UeEffect::WakeUplink)];
    assert_eq!(effects[effects.len() - 2..], known);
}

#[test]
fn reestablishment_fetches_the_context_before_the_ue_is_connected() {
    let mut rig = Rig::entering(Procedure::Reestablishment, 400);
    let until = at_ms(400);
    let fetch = Effect::Ue(UeEffect::FetchContext {
        cell: TARGET,
        until,
    });
    let done = row(TARGET, RrcEvent::AccessDone);
    assert_eq!(rig.step(20, Progress::Done), [done, fetch]);
    rig.stage = Stage::Fetching {
        cell: TARGET,
        at: at_ms(30),
        until,
    };
    let entered = [
        Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::Reestablished)),
        Effect::Ue(UeEffect::EnterCell(TARGET)),
        Effect::Ue(UeEffect::SendComplete),
    ];
    assert_eq!(rig.due(30), (None, entered.into()));
}

#[test]
fn a_context_that_does_not_come_ends_the_connection() {
    let mut rig = Rig::new(Stage::Fetching {
        cell: TARGET,
        at: Time::NEVER,
        until: at_ms(400),
    });
    let effects = rig.due(400).1;
    let left = [
        Effect::Ue(UeEffect::LeaveLeg(TARGET)),
        Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::AccessFailure)),
    ];
    assert_eq!((&effects[..2], &effects[2..]), (&left[..], &lost(400)[..]));
}

#[test]
fn an_idle_ue_that_attaches_gets_its_bearers_by_rrc_setup() {
    for procedure in [Procedure::Attach, Procedure::Setup] {
        let mut rig = Rig::entering(procedure, 400);
        rig.may_attach = true;
        let done = row(TARGET, RrcEvent::AccessDone);
        assert_eq!(
            rig.step(20, Progress::Done),
            [done, Effect::Ue(UeEffect::SetUp(TARGET))]
        );
    }
}

#[test]
fn with_daps_the_ue_stays_in_the_source_after_the_command() {
    let mut rig = Rig::new(Stage::Connected);
    rig.config.change = CellChange::Daps;
    let effects = rig.command(100);
    let daps = |effect: &Effect| match effect {
        Effect::Ue(UeEffect::StartEntry(start)) => Some((start.procedure, start.method)),
        _ => None,
    };
    let method = EntryMethod::Random;
    assert_eq!(daps(&effects[1]), Some((Procedure::Daps, method)));
    assert_eq!(effects.len(), 2, "it does not leave: {effects:?}");
}
