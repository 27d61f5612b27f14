use super::*;
use crate::config::{Interface, MobilityConfig, Signalling};
use fadeout_core::UeId;
use std::collections::{BTreeSet, VecDeque};

const MASTER: CellId = CellId(0);
const TARGET: CellId = CellId(1);
const SECOND: CellId = CellId(2);
/// Cell of the same base station as `SECOND`.
const NEIGHBOUR: CellId = CellId(3);
const THIRD: CellId = CellId(4);

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

struct Net {
    config: MobilityConfig,
    node: SecondaryNetwork,
    held: Vec<u32>,
    loads: Vec<u32>,
    next_message: u64,
    acts: VecDeque<Effect>,
    /// Messages on links, with their arrival times.
    links: Vec<(Time, u64)>,
    /// True if links lose all further messages.
    is_lossy: bool,
    now: Time,
    /// Acts in the radio, with their times in ms.
    done: Vec<(u64, NodeAct)>,
    noted: Vec<RrcEvent>,
}

impl Net {
    fn new(has_links: bool) -> Net {
        let mut config = MobilityConfig::bare();
        config.stations = vec![0, 1, 2, 2, 4];
        config.interface = Interface::Direct;
        config.procedure.station_delay = Span::from_millis(5);
        config.procedure.admission = Span::from_millis(10);
        config.procedure.preparation = Span::from_millis(1000);
        config.procedure.overall = Span::from_millis(5000);
        if has_links {
            config.signalling = Signalling::Links {
                unconnected: BTreeSet::new(),
            };
        }
        Net {
            config,
            node: SecondaryNetwork::default(),
            held: vec![0; 5],
            loads: vec![0; 5],
            next_message: 0,
            acts: VecDeque::new(),
            links: Vec::new(),
            is_lossy: false,
            now: Time::ZERO,
            done: Vec::new(),
            noted: Vec::new(),
        }
    }

    fn run_step<R>(&mut self, action: impl FnOnce(&mut SecondaryNetwork, &mut Step<'_>) -> R) -> R {
        let mut step = Step {
            now: self.now,
            seed: 1,
            ue: UeId(0),
            config: &self.config,
            loads: &self.loads,
            held: &mut self.held,
            serving: Some(MASTER),
            generation: None,
            is_connected: true,
            fetching: None,
            is_attaching: false,
            is_in_daps: false,
            change: None,
            home: 0,
            next_message: &mut self.next_message,
            effects: &mut self.acts,
        };
        let outcome = action(&mut self.node, &mut step);
        while let Some(act) = self.acts.pop_front() {
            match act {
                Effect::Send { number, .. } if !self.is_lossy => {
                    self.links.push((self.now + Span::from_millis(7), number));
                }
                Effect::SecondaryNode(act) => {
                    let ms = self.now.since(Time::ZERO).as_nanos() / 1_000_000;
                    self.done.push((ms, act));
                }
                Effect::Report(ReportEffect::RecordEvent(_, event)) => self.noted.push(event),
                _ => {}
            }
        }
        outcome
    }

    /// Carries out all actions that are due up to `ms`.
    fn run(&mut self, ms: u64) {
        loop {
            let on_links = self.links.iter().map(|&(at, _)| at).min();
            let next = self.node.wake_at().min(on_links.unwrap_or(Time::NEVER));
            if next > at_ms(ms) {
                self.now = at_ms(ms);
                return;
            }
            self.now = self.now.max(next);
            let now = self.now;
            if let Some(place) = self.links.iter().position(|&(at, _)| at <= now) {
                let (_, number) = self.links.remove(place);
                assert!(self.run_step(|node, step| node.on_message(number, step)));
            } else {
                self.run_step(SecondaryNetwork::on_due);
            }
        }
    }

    fn orders(&self) -> Vec<(u64, Order)> {
        let orders = self.done.iter().filter_map(|&(ms, act)| match act {
            NodeAct::SendOrder { order, .. } => Some((ms, order)),
            _ => None,
        });
        orders.collect()
    }

    /// Sends the UE's answer to its last order.
    fn answer(&mut self) -> Option<Order> {
        let number = self.done.iter().rev().find_map(|&(_, act)| match act {
            NodeAct::SendOrder { number, .. } => Some(number),
            _ => None,
        });
        let number = number.expect("it was told");
        self.run_step(|node, step| node.on_answer(number, step))
    }
}

#[test]
fn a_report_adds_a_node_after_a_way_there_and_back_and_admission() {
    for (has_links, ms) in [(false, 20), (true, 24)] {
        let mut net = Net::new(has_links);
        net.run_step(|node, step| node.on_addable(SECOND, step));
        // A procedure is under way, so this second report does not begin another procedure.
        net.run_step(|node, step| node.on_addable(THIRD, step));
        net.run(100);
        assert_eq!(net.orders(), [(ms, Order::Enter(SECOND))]);
        assert_eq!(net.held[SECOND.index()], 1, "it holds room");
        assert_eq!(net.answer(), Some(Order::Enter(SECOND)));
        assert_eq!(net.node.pscell(), Some(SECOND));
        assert!(!net.node.is_busy());
        net.run(200);
        net.run_step(|node, step| node.end_reservation(SECOND, step));
        assert_eq!(net.held, [0; 5], "the UE is there");
        assert!(net.node.wake_at().is_never());
    }
}

#[test]
fn a_full_cell_refuses_and_the_next_report_asks_again() {
    let mut net = Net::new(true);
    net.config.most_ues = Some(1);
    net.loads[SECOND.index()] = 1;
    net.run_step(|node, step| node.on_addable(SECOND, step));
    net.run(100);
    assert_eq!(net.orders(), []);
    let ended = NodeAct::Failed { is_refused: true };
    assert_eq!(net.done.last(), Some(&(24, ended)));
    assert!(net.noted.contains(&RrcEvent::SecondaryRefused));
    net.loads[SECOND.index()] = 0;
    net.run_step(|node, step| node.on_addable(SECOND, step));
    net.run(200);
    assert_eq!(net.orders(), [(124, Order::Enter(SECOND))]);
}

#[test]
fn an_answer_that_does_not_come_is_awaited_for_so_long() {
    let mut net = Net::new(true);
    net.is_lossy = true;
    net.run_step(|node, step| node.on_addable(SECOND, step));
    net.run(999);
    assert!(net.node.is_busy());
    net.run(2000);
    let ended = NodeAct::Failed { is_refused: false };
    assert_eq!(net.done.last(), Some(&(1000, ended)));
    assert!(!net.node.is_busy() && net.node.wake_at().is_never());
}

#[test]
fn room_that_nobody_comes_to_is_given_back() {
    let mut net = Net::new(true);
    net.run_step(|node, step| node.on_addable(SECOND, step));
    net.run(8);
    // The acknowledgment is lost, and so is the message that ends the reservation. The reservation
    // therefore ends by its own timer.
    net.is_lossy = true;
    net.run(1001);
    assert_eq!((net.held[SECOND.index()], net.node.is_busy()), (1, false));
    net.run(10_016);
    assert_eq!(net.held[SECOND.index()], 1);
    net.run(10_017);
    assert_eq!(net.held, [0; 5]);
    assert!(net.node.wake_at().is_never());
}

#[test]
fn a_ue_that_does_not_answer_is_told_again() {
    let mut net = Net::new(false);
    net.run_step(|node, step| node.on_addable(SECOND, step));
    net.run(6000);
    let order = Order::Enter(SECOND);
    assert_eq!(net.orders(), [(20, order), (5020, order)]);
    assert_eq!(net.answer(), Some(order));
    assert_eq!(net.answer(), None, "once");
}

fn with_node(has_links: bool) -> Net {
    let mut net = Net::new(has_links);
    net.node.set_cell(Some(SECOND));
    net
}

#[test]
fn the_secondary_node_decides_about_its_cell() {
    // The better cell belongs to another base station. The report goes to the secondary node, the
    // node's decision returns, and the new cell is added after 38 ms.
    let mut net = with_node(true);
    net.run_step(|node, step| node.on_report(NodeDecision::Change(THIRD), step));
    net.run(100);
    assert_eq!(net.orders(), [(38, Order::Enter(THIRD))]);
    assert_eq!(net.answer(), Some(Order::Enter(THIRD)));
    assert_eq!(net.node.pscell(), Some(THIRD));
    // The better cell belongs to the secondary node's own base station. No request to a third base
    // station is needed, so the order follows after 14 ms.
    let mut net = with_node(true);
    net.run_step(|node, step| node.on_report(NodeDecision::Change(NEIGHBOUR), step));
    net.run(100);
    assert_eq!(net.orders(), [(14, Order::Enter(NEIGHBOUR))]);
    // The secondary node decides on its own release, so the UE receives an order to release the
    // node.
    let mut net = with_node(true);
    net.run_step(|node, step| node.on_report(NodeDecision::Release, step));
    net.run(100);
    assert_eq!(net.orders(), [(14, Order::Release)]);
    assert_eq!(net.answer(), Some(Order::Release));
    assert_eq!(net.node.cell(), None);
    // The other cell of the secondary node's base station is full, so no order follows.
    let mut net = with_node(true);
    net.config.most_ues = Some(0);
    net.run_step(|node, step| node.on_report(NodeDecision::Change(NEIGHBOUR), step));
    net.run(100);
    assert_eq!(net.orders(), []);
    assert!(net.node.wake_at().is_never());
}

#[test]
fn a_failed_leg_is_released_or_entered_again() {
    let mut net = with_node(true);
    net.run_step(|node, step| node.on_failure(FailureReaction::Release, step));
    assert_eq!(net.node.pscell(), None, "it carries nothing");
    net.run(100);
    assert_eq!(net.orders(), [(14, Order::Release)]);
    // The UE enters the failed cell again. The cell counts the UE already, so it accepts the UE
    // although no further UE is allowed.
    let mut net = with_node(true);
    net.config.most_ues = Some(0);
    net.run_step(|node, step| node.on_failure(FailureReaction::Enter(SECOND), step));
    net.run(100);
    assert_eq!(net.orders(), [(24, Order::Enter(SECOND))]);
    assert_eq!(net.held, [0; 5]);
    // The UE should enter another cell, which is full. The secondary node is therefore released.
    let mut net = with_node(true);
    net.config.most_ues = Some(0);
    net.run_step(|node, step| node.on_failure(FailureReaction::Enter(THIRD), step));
    net.run(100);
    assert_eq!(net.orders(), [(38, Order::Release)]);
    // Neither the request nor the release request is answered. The UE receives the order to release
    // nevertheless.
    let mut net = with_node(true);
    net.is_lossy = true;
    net.run_step(|node, step| node.on_failure(FailureReaction::Enter(THIRD), step));
    net.run(2500);
    assert_eq!(net.orders(), [(2000, Order::Release)]);
}

#[test]
fn what_fails_while_the_masters_cell_changes_is_mended_later() {
    let mut net = with_node(false);
    net.node.is_barred = true;
    net.run_step(|node, step| node.on_failure(FailureReaction::Release, step));
    net.run(100);
    assert_eq!(net.orders(), []);
    net.node.is_barred = false;
    net.run_step(SecondaryNetwork::on_due);
    net.run(200);
    assert_eq!(net.orders(), [(110, Order::Release)]);
}

#[test]
fn a_handover_waits_for_the_node_and_goes_without_it_when_it_says_no() {
    let mut net = with_node(true);
    net.run_step(|node, step| node.prepare_handover(TARGET, THIRD, step));
    net.run(100);
    let go_on = NodeAct::CommandHandover(TARGET);
    assert_eq!(net.done.last(), Some(&(24, go_on)));
    assert_eq!(net.node.planned(), Some(THIRD));
    net.run_step(SecondaryNetwork::on_left);
    assert_eq!(net.held[THIRD.index()], 1, "the room stays for the UE");
    assert!(!net.node.is_busy());
    // The handover is cancelled, so the reservation ends and the UE keeps its secondary node.
    let mut net = with_node(true);
    net.run_step(|node, step| node.prepare_handover(TARGET, THIRD, step));
    net.run(100);
    assert!(net.run_step(SecondaryNetwork::cancel));
    assert!(!net.run_step(SecondaryNetwork::cancel));
    net.run(200);
    assert_eq!(
        (&net.held[..], net.node.pscell()),
        (&[0; 5][..], Some(SECOND))
    );
    // The requested cell is full, or does not answer. The handover command then follows without a
    // secondary cell.
    let mut net = with_node(true);
    net.config.most_ues = Some(0);
    net.run_step(|node, step| node.prepare_handover(TARGET, THIRD, step));
    net.run(100);
    assert_eq!(net.done.last(), Some(&(24, go_on)));
    assert_eq!(net.node.planned(), None);
    let mut net = with_node(true);
    net.is_lossy = true;
    net.run_step(|node, step| node.prepare_handover(TARGET, THIRD, step));
    net.run(2000);
    assert_eq!(net.done.last(), Some(&(500, go_on)));
    // The UE does not leave in time, and no message cancels the handover. Timers end the procedure
    // and the reservation.
    let mut net = with_node(false);
    net.run_step(|node, step| node.prepare_handover(TARGET, THIRD, step));
    net.run(20_000);
    assert!(!net.node.is_busy() && net.node.wake_at().is_never());
    assert_eq!(net.held, [0; 5]);
}

#[test]
fn a_ue_that_leaves_its_master_leaves_nothing_behind() {
    let mut net = Net::new(true);
    net.run_step(|node, step| node.on_addable(SECOND, step));
    net.run(24);
    assert_eq!(net.held[SECOND.index()], 1);
    net.run_step(SecondaryNetwork::on_left);
    assert_eq!((&net.held[..], net.node.cell()), (&[0; 5][..], None));
    assert!(net.node.wake_at().is_never());
}
