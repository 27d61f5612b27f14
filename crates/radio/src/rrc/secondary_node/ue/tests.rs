//! Tests of a UE's secondary node: orders, entries, failures and handovers, and their effects.

use super::*;
use crate::config::{MeasurementEvent, MobilityConfig, SecondaryNodeConfig};
use crate::phy::frame::Frame;
use crate::rlc::Generation;
use crate::rrc::effect::Effects;
use crate::rrc::random_access::CellAccess;
use crate::rrc::random_access::tests::fdd;
use crate::rrc::record::Change;
use crate::rrc::secondary_node::SecondaryNetwork;
use crate::rrc::survey::Survey;
use fadeout_core::Span;

const MASTER: CellId = CellId(0);
const TARGET: CellId = CellId(1);
const SECOND: CellId = CellId(2);
const NOTHING: [Effect; 0] = [];

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn row(cell: CellId, event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(Some(cell), event))
}

fn sent(direction: Direction, message: NodeMessage) -> Effect {
    Effect::SendMessage(direction, Message::Node(message))
}

const ENTER: LegStep = LegStep::Enter {
    cell: SECOND,
    ready_at: Time::ZERO,
};

/// A UE in the cell [`MASTER`], and its secondary node.
struct Rig {
    node: SecondaryNode,
    config: MobilityConfig,
    frame: Frame,
    is_connected: bool,
    change: Option<Change>,
    held: [u32; 3],
}

impl Rig {
    /// Returns a UE without a secondary node.
    fn new(after_failure: SecondaryAfterFailure, at_handover: SecondaryAtHandover) -> Rig {
        let survey = || {
            let events: &[MeasurementEvent] = &[];
            Survey::new((events, 3), Time::NEVER, Span::from_millis(200))
        };
        Rig {
            node: SecondaryNode {
                config: SecondaryNodeConfig {
                    addition_events: Vec::new(),
                    pscell_events: Vec::new(),
                    at_handover,
                    after_failure,
                    t304: Span::from_millis(300),
                },
                addition_survey: survey(),
                pscell_survey: survey(),
                generation: Generation::Nr,
                network: SecondaryNetwork::default(),
                leg_state: ScgState::Alone,
                answer: None,
                last_order: 0,
                record: None,
                without_leg_since: None,
            },
            config: MobilityConfig {
                stations: vec![0, 1, 2],
                ..MobilityConfig::bare()
            },
            frame: fdd(),
            is_connected: true,
            change: None,
            held: [0; 3],
        }
    }

    /// Returns a UE with a secondary node in the cell [`SECOND`].
    fn serving() -> Rig {
        let mut rig = Rig::new(SecondaryAfterFailure::Release, SecondaryAtHandover::Keep);
        rig.node.network.set_cell(Some(SECOND));
        rig.node.leg_state = ScgState::Serving;
        rig
    }

    fn alone() -> Rig {
        let mut rig = Rig::serving();
        rig.node.network.set_cell(None);
        rig.node.leg_state = ScgState::Alone;
        rig
    }

    /// Returns a UE that enters the cell [`SECOND`] from 0 ms on.
    fn entering() -> Rig {
        let mut rig = Rig::alone();
        let access = rig.access();
        rig.node.on_access_begun(SECOND, access, Time::ZERO);
        rig
    }

    fn access(&self) -> RandomAccess {
        let in_cell = CellAccess {
            config: &self.config.access,
            frame: &self.frame,
        };
        RandomAccess::new(in_cell, Time::ZERO, true)
    }

    fn run<R>(
        &mut self,
        ms: u64,
        action: impl FnOnce(&mut SecondaryNode, &mut Step<'_>) -> R,
    ) -> (R, Vec<Effect>) {
        let mut effects = Effects::new();
        let mut step = Step {
            now: at_ms(ms),
            seed: 1,
            ue: UeId(0),
            config: &self.config,
            loads: &[0; 3],
            held: &mut self.held,
            serving: Some(MASTER),
            generation: Some(Generation::Nr),
            is_connected: self.is_connected,
            fetching: None,
            is_attaching: false,
            is_in_daps: false,
            change: self.change,
            home: 0,
            next_message: &mut 0,
            effects: &mut effects,
        };
        let result = action(&mut self.node, &mut step);
        (result, effects.into())
    }

    fn receive(&mut self, ms: u64, message: NodeMessage) -> Vec<Effect> {
        self.run(ms, |node, step| node.on_message(message, step)).1
    }

    fn order(&mut self, ms: u64, order: Order, number: u32) -> Vec<Effect> {
        self.receive(ms, NodeMessage::Order { order, number })
    }
}

#[test]
fn an_order_makes_the_ue_leave_its_cell_and_enter_another() {
    let mut rig = Rig::alone();
    let ready_at = at_ms(100) + rig.config.procedure.interruption;
    let cell = SECOND;
    let obeyed = [
        row(SECOND, RrcEvent::SecondaryCommand),
        Effect::Ue(UeEffect::SecondaryLeg(LegStep::Leave { enters: true })),
        Effect::Ue(UeEffect::SecondaryLeg(LegStep::Enter { cell, ready_at })),
    ];
    assert_eq!(rig.order(100, Order::Enter(SECOND), 1), obeyed);
    let mut again = Rig::entering();
    let effects = again.order(100, Order::Enter(SECOND), 1);
    assert_eq!(
        effects[1],
        Effect::Ue(UeEffect::LeaveLeg(SECOND)),
        "the entry ends"
    );
}

#[test]
fn an_order_to_release_leaves_the_ue_alone() {
    let mut rig = Rig::serving();
    let obeyed = [
        row(SECOND, RrcEvent::SecondaryCommand),
        Effect::Ue(UeEffect::SecondaryLeg(LegStep::Leave { enters: false })),
    ];
    assert_eq!(rig.order(100, Order::Release, 1), obeyed);
    assert!(matches!(rig.node.leg_state, ScgState::Alone));
}

#[test]
fn a_repeated_order_is_answered_and_not_carried_out_again() {
    let mut rig = Rig::alone();
    rig.order(100, Order::Enter(SECOND), 7);
    assert_eq!(rig.order(200, Order::Enter(SECOND), 7), NOTHING);
    let due = |rig: &mut Rig, ms| rig.run(ms, |node, step| node.send_messages(&[], step)).1;
    assert_eq!(due(&mut rig, 215), NOTHING);
    let answer = sent(Direction::Uplink, NodeMessage::Answer(7));
    assert_eq!(due(&mut rig, 216), [answer]);
    assert_eq!(due(&mut rig, 300), NOTHING);
}

#[test]
fn a_ue_without_a_connection_obeys_no_order_and_sends_nothing() {
    let mut rig = Rig::alone();
    rig.is_connected = false;
    assert_eq!(rig.order(100, Order::Enter(SECOND), 1), NOTHING);
    rig.node.answer = Some((at_ms(100), 1));
    let effects = rig.run(200, |node, step| node.send_messages(&[], step)).1;
    assert_eq!(effects, NOTHING);
}

#[test]
fn after_t304_the_ue_reports_the_failure() {
    let mut rig = Rig::entering();
    assert_eq!(rig.run(299, SecondaryNode::on_access_due).1, NOTHING);
    let failed = [
        Effect::Ue(UeEffect::LeaveLeg(SECOND)),
        row(SECOND, RrcEvent::AccessFailure),
        row(SECOND, RrcEvent::SecondaryFailed),
        Effect::Report(ReportEffect::EndNodeRow(HandoverOutcome::Failed)),
        sent(Direction::Uplink, NodeMessage::AccessFailed(SECOND)),
    ];
    let expired = rig.run(300, SecondaryNode::on_access_due);
    assert_eq!(expired, (false, failed.into()));
    assert!(matches!(rig.node.leg_state, ScgState::Lost));
}

#[test]
fn a_step_of_random_access_is_due_at_its_time() {
    let mut rig = Rig::entering();
    let ms = rig.access().wake_at().since(Time::ZERO).as_millis();
    assert!(rig.run(ms, SecondaryNode::on_access_due).0);
    let mut alone = Rig::alone();
    assert!(!alone.run(ms, SecondaryNode::on_access_due).0);
}

#[test]
fn the_end_of_random_access_opens_the_leg() {
    let mut rig = Rig::entering();
    rig.node.without_leg_since = Some(at_ms(5));
    let access = rig.access();
    let effects = rig.run(20, |node, step| {
        node.on_access_step(access, Progress::Done, step);
    });
    let entered = NodeRowTime::Entered {
        silent_since: Some(at_ms(5)),
    };
    let open = LegStep::Open {
        cell: SECOND,
        is_confirmed: true,
    };
    let opened = [
        row(SECOND, RrcEvent::AccessDone),
        Effect::Report(ReportEffect::StampNodeRow(entered)),
        Effect::Ue(UeEffect::SecondaryLeg(open)),
        row(SECOND, RrcEvent::SecondaryAdded),
        Effect::Report(ReportEffect::EndNodeRow(HandoverOutcome::Success)),
        Effect::Ue(UeEffect::SecondaryLeg(LegStep::SendData)),
    ];
    assert_eq!(effects.1, opened);
    assert!(matches!(rig.node.leg_state, ScgState::Serving));
}

#[test]
fn a_handover_without_a_planned_cell_ends_the_secondary_node() {
    for (is_done, cause) in [
        (false, SecondaryCause::Handover),
        (true, SecondaryCause::Failure),
    ] {
        let mut rig = Rig::serving();
        rig.change = Some(Change {
            procedure: Procedure::Handover,
            source: MASTER,
            is_done,
        });
        let effects = rig.run(100, SecondaryNode::on_master_left).1;
        assert_eq!(
            effects[0],
            Effect::Ue(UeEffect::SecondaryLeg(LegStep::Release))
        );
        let begun = effects.iter().find_map(|effect| match effect {
            Effect::Report(ReportEffect::BeginNodeRow(row)) => {
                Some((row.kind, row.cause, row.source))
            }
            _ => None,
        });
        let released = (SecondaryChange::Release, cause, SECOND);
        assert_eq!(begun, Some(released));
        assert!(rig.node.network.cell().is_none());
        let again = rig.run(100, SecondaryNode::on_master_left).1;
        let cancelled = Effect::Report(ReportEffect::EndNodeRow(HandoverOutcome::Cancelled));
        assert_eq!(again[1..], [cancelled], "it had none");
    }
}

#[test]
fn a_handover_request_names_the_cell_that_the_configuration_says() {
    use SecondaryAtHandover::{Keep, Release, Strongest};
    for (at_handover, is_requested, is_usable) in [
        (Release, false, true),
        (Keep, true, true),
        (Keep, false, false),
        (Strongest, true, true),
    ] {
        let mut rig = Rig::serving();
        rig.node.config.at_handover = at_handover;
        let strongest = Some(SECOND);
        let (requested, effects) = rig.run(100, |node, step| {
            node.request_for_handover(TARGET, strongest, |_| is_usable, step)
        });
        assert_eq!(requested, is_requested, "{at_handover:?}");
        assert_eq!(effects.is_empty(), !is_requested);
        assert_eq!(rig.node.network.is_busy(), is_requested);
    }
}

#[test]
fn a_request_that_is_cancelled_ends_its_row() {
    let mut rig = Rig::serving();
    assert_eq!(rig.run(100, SecondaryNode::cancel_request).1, NOTHING);
    rig.run(100, |node, step| {
        node.request_for_handover(TARGET, None, |_| true, step)
    });
    let ended = [Effect::Report(ReportEffect::EndNodeRow(
        HandoverOutcome::Cancelled,
    ))];
    assert_eq!(rig.run(100, SecondaryNode::cancel_request).1, ended);
}

#[test]
fn the_commanded_cell_is_entered_after_the_master_s_or_dropped() {
    let mut rig = Rig::alone();
    assert_eq!(rig.run(0, SecondaryNode::enter_commanded).1, NOTHING);
    rig.node.leg_state = ScgState::Waiting(SECOND);
    let entered = rig.run(0, SecondaryNode::enter_commanded).1;
    assert_eq!(entered, [Effect::Ue(UeEffect::SecondaryLeg(ENTER))]);
    assert_eq!(rig.node.network.cell(), Some(SECOND));
    rig.node.leg_state = ScgState::Waiting(SECOND);
    let dropped = rig.run(0, SecondaryNode::drop_commanded).1;
    assert_eq!(
        dropped,
        [Effect::Report(ReportEffect::EndNodeRow(
            HandoverOutcome::Failed
        ))]
    );
    assert!(matches!(rig.node.leg_state, ScgState::Alone));
}

#[test]
fn after_a_failure_the_network_releases_or_enters_as_configured() {
    use SecondaryAfterFailure::{Release, Restore, Strongest};
    for (after_failure, strongest, target) in [
        (Release, Some(TARGET), None),
        (Restore, Some(TARGET), Some(SECOND)),
        (Strongest, Some(TARGET), Some(TARGET)),
        (Strongest, None, Some(SECOND)),
    ] {
        let mut rig = Rig::serving();
        rig.node.config.after_failure = after_failure;
        let effects = rig.run(100, |node, step| {
            node.on_leg_failed(at_ms(90), strongest, step);
        });
        let reason = RequestReason::Change(SecondaryCause::Failure);
        let begun = Effect::SecondaryNode(NodeAct::BeginChange { target, reason });
        assert!(effects.1.contains(&begun), "{after_failure:?}: {effects:?}");
    }
}

#[test]
fn an_order_of_the_network_is_sent_and_holds_the_bearers() {
    let mut rig = Rig::alone();
    let (order, number) = (Order::Enter(SECOND), 3);
    let act = NodeAct::SendOrder { order, number };
    let ordered = [
        row(SECOND, RrcEvent::ReconfigurationSent),
        Effect::Report(ReportEffect::StampNodeRow(NodeRowTime::Commanded)),
        Effect::Ue(UeEffect::SecondaryLeg(LegStep::Hold)),
        sent(Direction::Downlink, NodeMessage::Order { order, number }),
        Effect::Ue(UeEffect::SecondaryLeg(LegStep::SendData)),
    ];
    assert_eq!(rig.run(0, |node, step| node.on_act(act, step)).1, ordered);
    let command = NodeAct::CommandHandover(TARGET);
    let sent = rig.run(0, |node, step| node.on_act(command, step)).1;
    assert_eq!(sent, [Effect::CommandUe(TARGET)]);
}
