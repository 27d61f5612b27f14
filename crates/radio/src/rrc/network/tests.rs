//! Tests of the network side of handover. The tests deliver the messages themselves.

use super::*;
use crate::config::Signalling;
use crate::rrc::effect::BearerStep;
use fadeout_core::random::Stream;
use fadeout_core::{HandoverOutcome, LinkInfo, UeId};
use fadeout_testkit::Cases;
use std::collections::BTreeSet;

const SOURCE: CellId = CellId(0);
const TARGET: CellId = CellId(1);

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

/// Returns a configuration with three base stations of one cell each.
fn config(interface: Interface, signalling: Signalling) -> MobilityConfig {
    MobilityConfig {
        most_ues: Some(2),
        stations: vec![10, 11, 12],
        interface,
        signalling,
        ..MobilityConfig::bare()
    }
}

fn links() -> Signalling {
    Signalling::Links {
        unconnected: BTreeSet::new(),
    }
}

/// Network side of a UE, with the inputs of its steps.
struct Rig {
    network: Network,
    config: MobilityConfig,
    loads: [u32; 3],
    held: [u32; 3],
    serving: CellId,
    is_connected: bool,
    fetching: Option<CellId>,
    next_message: u64,
}

impl Rig {
    fn new(interface: Interface, signalling: Signalling) -> Rig {
        Rig {
            network: Network::new(10),
            config: config(interface, signalling),
            loads: [0; 3],
            held: [0; 3],
            serving: SOURCE,
            is_connected: true,
            fetching: None,
            next_message: 0,
        }
    }

    /// Returns the acts of a step at `ms`.
    fn run_step(
        &mut self,
        ms: u64,
        action: impl FnOnce(&mut Network, &mut Step<'_>),
    ) -> Vec<Effect> {
        let mut acts = VecDeque::new();
        let mut step = Step {
            now: at_ms(ms),
            seed: 1,
            ue: UeId(0),
            config: &self.config,
            loads: &self.loads,
            held: &mut self.held,
            serving: Some(self.serving),
            generation: None,
            is_connected: self.is_connected,
            fetching: self.fetching,
            is_attaching: false,
            is_in_daps: false,
            change: None,
            home: self.network.home(),
            next_message: &mut self.next_message,
            effects: &mut acts,
        };
        action(&mut self.network, &mut step);
        acts.into()
    }

    fn request_handover(&mut self, ms: u64) -> Vec<Effect> {
        self.run_step(ms, |network, step| {
            network.request_handover((SOURCE, TARGET), step);
        })
    }

    fn arrive(&mut self, ms: u64, number: u64) -> Vec<Effect> {
        self.run_step(ms, |network, step| network.on_message(number, step))
    }

    fn due(&mut self, ms: u64) -> Vec<Effect> {
        let mut acts = self.run_step(ms, Network::on_source_due);
        acts.extend(self.run_step(ms, Network::on_due));
        acts
    }
}

fn send(number: u64, [from, to]: [NetworkNode; 2], size: u32) -> Effect {
    Effect::Send {
        number,
        from,
        to,
        size,
    }
}

/// Returns the effects of a handover that ends before the command.
fn ended(event: RrcEvent) -> [Effect; 4] {
    [
        Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)),
        Effect::Report(ReportEffect::RecordEvent(Some(TARGET), event)),
        Effect::CancelNodeRequest,
        Effect::Report(ReportEffect::FailRow(match event {
            RrcEvent::HandoverRefused => HandoverOutcome::Refused,
            _ => HandoverOutcome::Cancelled,
        })),
    ]
}

/// Effects of a command that the UE does not obey in time.
const RESUMED: [Effect; 7] = [
    Effect::CancelCommand,
    Effect::Report(ReportEffect::Notify(LinkInfo::BlockageEnded)),
    Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::SourceResumed)),
    Effect::Report(ReportEffect::FailRow(HandoverOutcome::Cancelled)),
    Effect::CancelNodeRequest,
    Effect::Ue(UeEffect::Bearers(BearerStep::EndDaps)),
    Effect::ResumeData,
];

const fn station(number: u32) -> NetworkNode {
    NetworkNode::Station(number)
}

#[test]
fn where_times_are_given_the_answer_comes_after_two_ways_and_admission() {
    let mut rig = Rig::new(Interface::Direct, Signalling::FixedDelays);
    assert_eq!(rig.request_handover(100), []);
    assert!(rig.network.is_busy());
    assert_eq!(rig.network.wake_at(), at_ms(100 + 5 + 10 + 5));
    assert_eq!(rig.due(119), []);
    assert_eq!(rig.due(120), [Effect::Accepted(TARGET)]);
    rig.run_step(120, |network, step| network.on_command(TARGET, step));
    assert_eq!(rig.network.wake_at(), at_ms(5120), "TX2RELOCoverall");
    assert_eq!(rig.due(5120), RESUMED);
    assert!(!rig.network.is_busy() && rig.network.wake_at().is_never());
    // A message through the core takes two hops of 5 ms. The source therefore has the answer after
    // 30 ms: 10 ms for the request, 10 ms for admission and 10 ms for the answer.
    let mut rig = Rig::new(Interface::Core, Signalling::FixedDelays);
    rig.request_handover(100);
    assert_eq!(rig.network.wake_at(), at_ms(100 + 10 + 10 + 10));
    rig.loads[TARGET.index()] = 2;
    assert_eq!(rig.due(130), ended(RrcEvent::HandoverRefused));
    assert!(!rig.network.is_busy());
}

#[test]
fn over_links_a_request_is_answered_after_admission() {
    let mut rig = Rig::new(Interface::Direct, links());
    let request = send(0, [station(10), station(11)], 600);
    assert_eq!(rig.request_handover(100), [request]);
    assert_eq!(rig.arrive(107, 0), []);
    assert_eq!(rig.network.wake_at(), at_ms(117), "admission");
    let answer = send(1, [station(11), station(10)], 300);
    assert_eq!(rig.due(117), [answer]);
    assert_eq!(rig.arrive(120, 1), [Effect::Accepted(TARGET)]);
    rig.run_step(120, |network, step| network.on_command(TARGET, step));
    let status = rig.run_step(120, |network, step| {
        network.send_status_transfer((SOURCE, TARGET), step);
    });
    assert_eq!(status, [send(2, [station(10), station(11)], 100)]);
    assert_eq!(rig.arrive(121, 1), [], "it was read already");
    assert_eq!(rig.arrive(122, 2), []);
}

#[test]
fn by_way_of_the_core_each_message_is_passed_on() {
    for (interface, unconnected) in [
        (Interface::Core, BTreeSet::new()),
        // No link connects the two base stations, so their messages go through the core.
        (Interface::Direct, BTreeSet::from([(10, 11), (11, 10)])),
    ] {
        let mut rig = Rig::new(interface, Signalling::Links { unconnected });
        let asked = rig.request_handover(100);
        assert_eq!(asked, [send(0, [station(10), NetworkNode::Core], 600)]);
        let passed = send(1, [NetworkNode::Core, station(11)], 600);
        assert_eq!(rig.arrive(105, 0), [passed]);
        assert_eq!(rig.arrive(110, 1), []);
        assert_eq!(rig.network.wake_at(), at_ms(120));
    }
}

#[test]
fn without_an_answer_the_source_stays_after_its_timer() {
    let mut rig = Rig::new(Interface::Direct, links());
    rig.request_handover(100);
    assert_eq!(rig.network.wake_at(), at_ms(1100), "TX2RELOCprep");
    assert_eq!(rig.due(1100), ended(RrcEvent::PreparationExpired));
    assert!(!rig.network.is_busy());
    // The source no longer waits, so a late answer has no effect.
    assert_eq!(rig.arrive(1101, 0), []);
    assert!(rig.network.wake_at().is_never());
}

#[test]
fn a_full_target_refuses_and_one_that_nobody_waits_for_says_nothing() {
    let mut rig = Rig::new(Interface::Direct, links());
    rig.request_handover(100);
    rig.arrive(105, 0);
    rig.loads[TARGET.index()] = 2;
    assert_eq!(rig.due(115), [send(1, [station(11), station(10)], 100)]);
    assert_eq!(rig.arrive(120, 1), ended(RrcEvent::HandoverRefused));
    assert!(!rig.network.is_busy());
    rig.request_handover(200);
    rig.arrive(205, 2);
    rig.network.cancel_handover();
    assert_eq!(rig.due(215), [], "the UE has failed meanwhile");
}

#[test]
fn a_path_is_asked_for_until_the_core_answers_and_then_the_old_station_forgets() {
    let mut rig = Rig::new(Interface::Direct, links());
    rig.serving = TARGET;
    let ask =
        |network: &mut Network, step: &mut Step<'_>| network.request_path_switch(TARGET, step);
    let note = Effect::Report(ReportEffect::RecordEvent(
        Some(TARGET),
        RrcEvent::PathSwitchRequest,
    ));
    let request = |number| send(number, [station(11), NetworkNode::Core], 150);
    assert_eq!(rig.run_step(0, ask), [note, request(0)]);
    assert!(rig.network.is_busy());
    // The first path switch request is lost and repeated after 1 s. The second request arrives, but
    // its answer is lost, so the request is sent again.
    assert_eq!(rig.due(999), []);
    assert_eq!(rig.due(1000), [note, request(1)]);
    let answer = |number| send(number, [NetworkNode::Core, station(11)], 150);
    assert_eq!(rig.arrive(1005, 1), [Effect::SwitchPath, answer(2)]);
    assert_eq!(rig.network.home(), 11);
    assert_eq!(rig.due(2000), [note, request(3)]);
    assert_eq!(rig.arrive(2005, 3), [answer(4)], "it sends there already");
    let release = send(5, [station(11), station(10)], 100);
    assert_eq!(rig.arrive(2010, 4), [release]);
    assert!(!rig.network.is_busy());
    let released = Effect::Report(ReportEffect::RecordEvent(None, RrcEvent::ContextReleased));
    assert_eq!(rig.arrive(2015, 5), [released]);
}

#[test]
fn the_core_itself_tells_the_old_station_where_it_prepares() {
    let mut rig = Rig::new(Interface::Core, links());
    rig.serving = TARGET;
    rig.run_step(0, |network, step| network.request_path_switch(TARGET, step));
    let answer = send(1, [NetworkNode::Core, station(11)], 150);
    let release = send(2, [NetworkNode::Core, station(10)], 100);
    assert_eq!(rig.arrive(5, 0), [Effect::SwitchPath, answer, release]);
    assert_eq!(rig.arrive(10, 1), [], "and nobody else does");
}

#[test]
fn a_request_for_a_path_to_a_cell_that_the_ue_has_left_does_nothing() {
    let mut rig = Rig::new(Interface::Direct, links());
    rig.serving = TARGET;
    rig.run_step(0, |network, step| network.request_path_switch(TARGET, step));
    rig.is_connected = false;
    rig.network.on_link_lost();
    assert!(rig.network.wake_at().is_never());
    assert_eq!(rig.arrive(5, 0), []);
    assert_eq!(rig.network.home(), 10);
}

#[test]
fn where_times_are_given_the_core_switches_after_its_own() {
    let mut rig = Rig::new(Interface::Direct, Signalling::FixedDelays);
    rig.serving = TARGET;
    let ask =
        |network: &mut Network, step: &mut Step<'_>| network.request_path_switch(TARGET, step);
    assert_eq!(rig.run_step(0, ask), []);
    assert_eq!(rig.network.wake_at(), at_ms(5));
    assert_eq!(rig.due(5), [Effect::SwitchPath]);
    assert_eq!((rig.network.home(), rig.network.is_busy()), (11, false));
}

#[test]
fn a_context_is_fetched_from_where_the_path_leads() {
    let fetch = |network: &mut Network, step: &mut Step<'_>, cell| {
        let at = network.fetch_context(cell, step);
        (at, network.home())
    };
    let mut rig = Rig::new(Interface::Direct, Signalling::FixedDelays);
    for (cell, there) in [(SOURCE, at_ms(50)), (TARGET, at_ms(60))] {
        let delay = there.since(at_ms(50));
        let acts = rig.run_step(50, |network, step| {
            assert_eq!(fetch(network, step, cell), (there, 10));
        });
        let from = 10;
        assert_eq!(acts, [Effect::ForwardData { from, cell, delay }]);
    }
    let mut rig = Rig::new(Interface::Direct, links());
    let acts = rig.run_step(50, |network, step| {
        assert!(fetch(network, step, TARGET).0.is_never(), "T301 ends it");
    });
    let note = Effect::Report(ReportEffect::RecordEvent(
        Some(TARGET),
        RrcEvent::ContextRequest,
    ));
    assert_eq!(acts, [note, send(0, [station(11), station(10)], 150)]);
    rig.fetching = Some(TARGET);
    let (from, cell, delay) = (10, TARGET, Span::ZERO);
    let context = send(1, [station(10), station(11)], 600);
    assert_eq!(
        rig.arrive(55, 0),
        [Effect::ForwardData { from, cell, delay }, context]
    );
    rig.fetching = None;
    assert_eq!(rig.arrive(60, 1), [], "T301 has expired meanwhile");
}

#[test]
fn a_context_that_is_there_ends_the_fetching() {
    let mut rig = Rig::new(Interface::Direct, links());
    rig.run_step(50, |network, step| {
        network.fetch_context(TARGET, step);
    });
    rig.fetching = Some(TARGET);
    rig.arrive(55, 0);
    assert_eq!(rig.arrive(60, 1), [Effect::Ue(UeEffect::HasContext)]);
}

/// Returns a test bench for a handover in which the core sends to both base stations from `start`
/// on.
fn bicasting(start: BicastStart, signalling: Signalling) -> Rig {
    let mut rig = Rig::new(Interface::Direct, signalling);
    rig.config.data = DataForwarding::Bicast(start);
    rig
}

#[test]
fn the_command_waits_while_the_core_begins_to_send_to_both() {
    let before = BicastStart::Before(Span::from_millis(10));
    let mut rig = bicasting(before, Signalling::FixedDelays);
    rig.request_handover(100);
    assert_eq!(rig.due(120), [], "the core is told");
    assert_eq!(rig.network.wake_at(), at_ms(125));
    assert_eq!(rig.due(125), [Effect::StartBicast(TARGET)]);
    assert_eq!(rig.due(130), [Effect::Accepted(TARGET)]);
    rig.run_step(130, |network, step| network.on_command(TARGET, step));
    // The UE arrives in the target. The path switch ends bicast, so no timer runs afterwards.
    rig.serving = TARGET;
    rig.network.on_entered();
    rig.run_step(180, |network, step| {
        network.request_path_switch(TARGET, step);
    });
    assert_eq!(rig.due(185), [Effect::SwitchPath]);
    assert!(rig.network.wake_at().is_never());
}

#[test]
fn copies_may_begin_after_the_command_and_over_links() {
    let after = BicastStart::After(Span::from_millis(30));
    let mut rig = bicasting(after, links());
    rig.request_handover(100);
    rig.arrive(105, 0);
    rig.due(115);
    assert_eq!(rig.arrive(120, 1), [Effect::Accepted(TARGET)]);
    rig.run_step(120, |network, step| network.on_command(TARGET, step));
    assert_eq!(rig.network.wake_at(), at_ms(150));
    assert_eq!(
        rig.due(150),
        [send(2, [station(10), NetworkNode::Core], 100)]
    );
    assert_eq!(rig.arrive(155, 2), [Effect::StartBicast(TARGET)]);
    assert_eq!(rig.network.wake_at(), at_ms(5120), "TX2RELOCoverall");
    // The UE does not leave, so the source tells the core to end bicast.
    let acts = rig.due(5120);
    assert_eq!(acts[..7], RESUMED);
    assert_eq!(acts[7..], [send(3, [station(10), NetworkNode::Core], 100)]);
    // If the message to the core were lost, the core would end bicast at 5,155 ms by its own timer.
    assert_eq!(rig.network.wake_at(), at_ms(5155));
    let mut acts = rig.arrive(5125, 3);
    assert_eq!(acts.pop(), Some(Effect::EndBicast));
    assert!(rig.network.wake_at().is_never());
}

#[test]
fn a_core_that_nobody_tells_to_stop_does_so_by_its_timer() {
    let before = BicastStart::Before(Span::ZERO);
    let mut rig = bicasting(before, links());
    rig.request_handover(100);
    rig.arrive(105, 0);
    rig.due(115);
    let asked = send(2, [station(10), NetworkNode::Core], 100);
    assert_eq!(rig.arrive(120, 1), [asked, Effect::Accepted(TARGET)]);
    assert_eq!(rig.arrive(125, 2), [Effect::StartBicast(TARGET)]);
    rig.network.cancel_handover();
    assert_eq!(rig.due(5125), [Effect::EndBicast]);
    assert!(rig.network.wake_at().is_never());
}

#[test]
fn one_base_station_needs_no_copies() {
    let before = BicastStart::Before(Span::from_millis(10));
    let mut rig = bicasting(before, links());
    rig.config.stations = vec![10, 10, 12];
    rig.request_handover(100);
    assert_eq!(rig.due(110), [Effect::Accepted(TARGET)]);
    assert_eq!(rig.due(200), []);
}

#[test]
fn a_ue_that_comes_back_home_needs_no_copies_any_more() {
    let before = BicastStart::Before(Span::ZERO);
    let mut rig = bicasting(before, Signalling::FixedDelays);
    rig.request_handover(100);
    assert_eq!(rig.due(120), [Effect::Accepted(TARGET)]);
    assert_eq!(rig.due(125), [Effect::StartBicast(TARGET)]);
    rig.is_connected = false;
    rig.network.cancel_handover();
    rig.run_step(400, |network, step| {
        network.fetch_context(SOURCE, step);
    });
    assert_eq!(rig.due(405), [Effect::EndBicast]);
}

/// Random sequence of events of a UE and the network, over links that lose messages.
struct Walk {
    rig: Rig,
    random: Stream,
    now: u64,
    /// Numbers of messages that are on links.
    under_way: Vec<u64>,
    copies: bool,
}

impl Walk {
    fn follow(&mut self, acts: Vec<Effect>) {
        for act in acts {
            match act {
                Effect::Send { number, .. } if self.random.chance(0.8) => {
                    self.under_way.push(number);
                }
                Effect::Accepted(target) => {
                    let now = self.now;
                    let acts = self
                        .rig
                        .run_step(now, |network, step| network.on_command(target, step));
                    assert!(acts.is_empty(), "the UE is told by others");
                }
                Effect::StartBicast(_) => {
                    assert!(!self.copies, "it copies already");
                    self.copies = true;
                }
                Effect::EndBicast => {
                    assert!(self.copies, "it does not copy");
                    self.copies = false;
                }
                Effect::SwitchPath => self.copies = false,
                Effect::Ue(UeEffect::HasContext) => self.rig.fetching = None,
                _ => {}
            }
        }
    }

    fn run_step(&mut self, action: impl FnOnce(&mut Network, &mut Step<'_>)) {
        let acts = self.rig.run_step(self.now, action);
        self.follow(acts);
    }

    fn enter(&mut self, cell: CellId) {
        self.rig.serving = cell;
        self.rig.is_connected = true;
        self.rig.fetching = None;
        self.rig.network.on_entered();
        if !self.rig.network.is_home(&self.rig.config, cell) {
            self.run_step(|network, step| network.request_path_switch(cell, step));
        }
    }

    /// Carries out a random event.
    fn go_on(&mut self) {
        self.now += self.random.below(200);
        self.run_step(Network::on_source_due);
        self.run_step(Network::on_due);
        let cell = CellId(self.random.below(3) as u32);
        match self.random.below(8) {
            0 if self.rig.is_connected && !self.rig.network.is_busy() => {
                let source = self.rig.serving;
                if cell != source {
                    self.run_step(|network, step| network.request_handover((source, cell), step));
                }
            }
            1 if self.rig.is_connected => self.enter(cell),
            2 => {
                self.rig.is_connected = false;
                self.rig.fetching = None;
                self.rig.network.on_link_lost();
                self.rig.network.cancel_handover();
            }
            3 if !self.rig.is_connected => {
                self.run_step(|network, step| {
                    network.fetch_context(cell, step);
                });
                self.rig.fetching = Some(cell);
            }
            4 if !self.rig.is_connected => self.enter(cell),
            _ if !self.under_way.is_empty() => {
                let which = self.random.below(self.under_way.len() as u64) as usize;
                let number = self.under_way.swap_remove(which);
                self.run_step(|network, step| network.on_message(number, step));
            }
            _ => {}
        }
        let network = &self.rig.network;
        assert!(
            !network.is_busy() || !network.wake_at().is_never(),
            "{network:?} has no timer that ends it"
        );
    }
}

/// Every state of the network must end by a timer, even if links lose messages.
#[test]
fn nobody_waits_for_ever() {
    Cases::new(300).run(|seed| {
        let mut random = Stream::new(seed, "network.walk", 0);
        let interface = match random.chance(0.5) {
            true => Interface::Direct,
            false => Interface::Core,
        };
        let signalling = match random.chance(0.8) {
            true => links(),
            false => Signalling::FixedDelays,
        };
        let span = Span::from_millis(random.below(50));
        let mut rig = Rig::new(interface, signalling);
        rig.config.data = match random.below(4) {
            0 => DataForwarding::Forwarded,
            1 => DataForwarding::Dropped,
            2 => DataForwarding::Bicast(BicastStart::Before(span)),
            _ => DataForwarding::Bicast(BicastStart::After(span)),
        };
        let mut walk = Walk {
            rig,
            random,
            now: 0,
            under_way: Vec::new(),
            copies: false,
        };
        for _ in 0..200 {
            walk.go_on();
        }
        // From here on no message arrives, and the UE is served by its home base station. All
        // timers must expire without starting another timer.
        walk.rig.network.on_link_lost();
        let home = walk.rig.network.home();
        walk.enter(CellId(home - 10));
        for _ in 0..20 {
            let at = walk.rig.network.wake_at();
            if at.is_never() {
                break;
            }
            walk.now = walk.now.max(at.as_nanos().div_ceil(1_000_000));
            walk.run_step(Network::on_source_due);
            walk.run_step(Network::on_due);
        }
        let network = &walk.rig.network;
        assert!(network.wake_at().is_never(), "seed {seed}: {network:?}");
        assert!(!walk.copies, "seed {seed}: the core copies for ever");
    });
}
