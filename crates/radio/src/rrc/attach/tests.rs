//! Tests of the attach procedure: its rounds and timers, and the effects of messages.

use super::*;
use crate::config::{Interface, MobilityConfig, Signalling};
use crate::rrc::effect::Effects;
use fadeout_core::UeId;
use std::collections::BTreeSet;

const CELL: CellId = CellId(1);

const NOTHING: [Effect; 0] = [];

/// A UE that attaches in [`CELL`], and its network.
struct Rig {
    attach: Attach,
    config: MobilityConfig,
    next_message: u64,
    /// True during the setup of bearers.
    is_attaching: bool,
    /// Base station to which the core sends the UE's data.
    home: u32,
}

impl Rig {
    fn new(generation: Generation, signalling: Signalling) -> Rig {
        let mut rig = Rig::idle(generation, signalling);
        rig.set_up(0, generation);
        rig
    }

    /// Returns a UE that has not selected a cell yet.
    fn idle(generation: Generation, signalling: Signalling) -> Rig {
        Rig {
            attach: Attach::new(generation),
            config: MobilityConfig {
                stations: vec![10, 11],
                interface: Interface::Direct,
                signalling,
                ..MobilityConfig::bare()
            },
            next_message: 0,
            is_attaching: false,
            home: 11,
        }
    }

    /// Lets the UE select [`CELL`] and receive RRC setup. Returns the effects.
    fn set_up(&mut self, ms: u64, generation: Generation) -> Vec<Effect> {
        self.attach.on_selected(at_ms(ms));
        self.is_attaching = true;
        self.run(ms, |attach, step| attach.on_setup(CELL, generation, step))
            .1
    }

    fn run<R>(
        &mut self,
        ms: u64,
        action: impl FnOnce(&mut Attach, &mut Step<'_>) -> R,
    ) -> (R, Vec<Effect>) {
        let (mut effects, mut held) = (Effects::new(), [0; 2]);
        let mut step = Step {
            now: at_ms(ms),
            seed: 0,
            ue: UeId(0),
            config: &self.config,
            loads: &[0; 2],
            held: &mut held,
            serving: Some(CELL),
            generation: None,
            is_connected: false,
            fetching: None,
            is_attaching: self.is_attaching,
            is_in_daps: false,
            change: None,
            home: self.home,
            next_message: &mut self.next_message,
            effects: &mut effects,
        };
        let result = action(&mut self.attach, &mut step);
        (result, effects.into())
    }

    fn answer(&mut self, ms: u64, round: Round) -> Vec<Effect> {
        self.run(ms, |attach, step| attach.on_answer(round, step)).1
    }

    fn due(&mut self, ms: u64) -> Vec<Effect> {
        self.run(ms, Attach::on_due).1
    }

    /// Returns the effects of the steps of the UE that are due.
    fn ue_due(&mut self, ms: u64) -> Vec<Effect> {
        self.run(ms, Attach::on_ue_due).1
    }

    fn fail(&mut self, ms: u64) -> Vec<Effect> {
        self.run(ms, Attach::fail).1
    }

    fn begin_attempt(&mut self, ms: u64) -> (bool, Vec<Effect>) {
        self.run(ms, Attach::begin_attempt)
    }

    /// Lets the UE receive a request.
    fn request(&mut self, ms: u64, round: Round) {
        self.run(ms, |attach, step| attach.on_request(round, step));
    }

    fn arrive(&mut self, ms: u64, number: u64) -> (bool, Vec<Effect>) {
        self.run(ms, |attach, step| attach.on_message(number, step))
    }
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn links() -> Signalling {
    Signalling::Links {
        unconnected: BTreeSet::new(),
    }
}

fn row(event: RrcEvent) -> Effect {
    Effect::Report(ReportEffect::RecordEvent(None, event))
}

/// Returns the effects of a request of the base station.
fn request(event: Option<RrcEvent>, round: Round) -> Vec<Effect> {
    let sent = [
        Effect::SendMessage(Direction::Downlink, Message::Question(round)),
        Effect::WakeDownlink,
    ];
    event.map(row).into_iter().chain(sent).collect()
}

/// Returns the effect that sends a message over links.
fn sent(number: u64, is_answer: bool, round: Round) -> Effect {
    let ends = [NetworkNode::Station(11), NetworkNode::Core];
    let [from, to] = match is_answer {
        true => ends,
        false => [ends[1], ends[0]],
    };
    Effect::Send {
        number,
        from,
        to,
        size: round.wired_size(is_answer),
    }
}

#[test]
fn the_first_answer_goes_to_the_core_which_authenticates_the_ue() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    assert_eq!(rig.answer(15, Round::Setup), [row(RrcEvent::SetupComplete)]);
    let core = rig.config.procedure.core_delay.as_millis();
    assert_eq!(rig.due(14 + core), NOTHING);
    let asked = Effect::Report(ReportEffect::RecordEvent(
        Some(CELL),
        RrcEvent::AuthenticationRequest,
    ));
    assert_eq!(rig.due(15 + core), [asked]);
    let question = request(None, Round::Authentication);
    assert_eq!(rig.due(15 + 2 * core), question);
    assert_eq!(rig.due(1000), NOTHING, "the UE's answer is awaited");
}

#[test]
fn the_base_station_activates_security_and_then_sets_up_bearers() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    let bearers = rig.answer(50, Round::Security);
    assert_eq!(bearers[0], Effect::SetHome(CELL));
    let sent = request(Some(RrcEvent::ReconfigurationSent), Round::Bearers);
    assert_eq!(bearers[1..], sent);
}

#[test]
fn a_registration_in_nr_is_accepted_before_the_session() {
    let mut rig = Rig::new(Generation::Nr, Signalling::FixedDelays);
    let accepted = request(Some(RrcEvent::RegistrationAccept), Round::Acceptance);
    assert_eq!(rig.answer(50, Round::Security), accepted);
    assert_eq!(
        rig.answer(60, Round::Acceptance),
        NOTHING,
        "the core decides"
    );
    let session = Effect::Report(ReportEffect::RecordEvent(
        Some(CELL),
        RrcEvent::SessionSetupRequest,
    ));
    assert_eq!(rig.due(1000), [session]);
}

#[test]
fn a_registered_ue_begins_with_security() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    rig.attach.on_bearers();
    rig.set_up(0, Generation::Lte);
    rig.answer(15, Round::Setup);
    let context = Effect::Report(ReportEffect::RecordEvent(
        Some(CELL),
        RrcEvent::ContextSetupRequest,
    ));
    assert_eq!(rig.due(1000), [context]);
    let command = request(Some(RrcEvent::SecurityCommand), Round::Security);
    assert_eq!(rig.due(2000), command);
}

#[test]
fn the_last_answer_completes_the_entry() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    assert_eq!(rig.answer(90, Round::Bearers), [Effect::HasEntered]);
}

#[test]
fn the_core_switches_the_path_when_it_knows_the_bearers() {
    for is_home in [true, false] {
        let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
        rig.home = if is_home { 11 } else { 10 };
        let report = |rig: &mut Rig| rig.run(90, Attach::report_bearers).0;
        assert!(!report(&mut rig), "there are no bearers yet");
        rig.attach.on_bearers();
        assert!(report(&mut rig));
        let switched: &[Effect] = match is_home {
            true => &[Effect::SwitchPath],
            false => &[],
        };
        assert_eq!(rig.due(1000), switched);
        assert!(!report(&mut rig), "the core knows");
    }
}

#[test]
fn over_links_a_message_is_repeated_until_it_arrives() {
    let mut rig = Rig::new(Generation::Lte, links());
    let setup = rig.answer(15, Round::Setup);
    assert_eq!(setup[1..], [sent(0, true, Round::Setup)]);
    assert_eq!(rig.due(1014), NOTHING);
    assert_eq!(rig.due(1015), [sent(1, true, Round::Setup)]);
    let (is_it, effects) = rig.arrive(1020, 1);
    let asked = Effect::Report(ReportEffect::RecordEvent(
        Some(CELL),
        RrcEvent::AuthenticationRequest,
    ));
    assert_eq!(effects, [asked, sent(2, false, Round::Authentication)]);
    assert!(is_it);
}

#[test]
fn a_message_that_arrives_twice_has_one_effect() {
    let mut rig = Rig::new(Generation::Lte, links());
    rig.answer(15, Round::Setup);
    rig.due(1015);
    assert!(rig.arrive(1020, 0).0);
    assert_eq!(rig.arrive(1030, 1), (false, vec![]));
    assert_eq!(rig.arrive(1040, 7), (false, vec![]), "nobody sent it");
}

#[test]
fn an_attempt_that_stops_awaits_no_message() {
    let mut rig = Rig::new(Generation::Lte, links());
    rig.answer(15, Round::Setup);
    rig.attach.stop();
    assert_eq!(rig.arrive(20, 0), (false, vec![]));
    assert_eq!(rig.due(5000), NOTHING);
    assert!(rig.attach.wake_at().is_never());
}

fn rounds(generation: Generation, is_registered: bool) -> Vec<(Round, bool)> {
    let registration = Registration {
        generation,
        is_registered,
    };
    let all = std::iter::successors(Some(Round::Setup), |round| round.next(registration));
    all.map(|round| (round, round.is_of_core(registration)))
        .collect()
}

#[test]
fn rounds_are_those_of_each_generation() {
    use Round::{Acceptance, Authentication, Bearers, NasSecurity, Security, Setup};
    let first = [(Setup, false), (Authentication, true), (NasSecurity, true)];
    let lte = [&first[..], &[(Security, true), (Bearers, false)]].concat();
    assert_eq!(rounds(Generation::Lte, false), lte);
    let rest = [(Security, true), (Acceptance, false), (Bearers, true)];
    assert_eq!(
        rounds(Generation::Nr, false),
        [&first[..], &rest[..]].concat()
    );
    let known = [(Setup, false), (Security, true), (Bearers, false)];
    for generation in [Generation::Lte, Generation::Nr] {
        assert_eq!(rounds(generation, true), known);
    }
}

/// Returns the effects of an attempt that fails at `ms`. `wait` is the time to the next attempt.
fn failure(ms: u64, had_setup: bool, wait: Span) -> Vec<Effect> {
    let left = had_setup.then_some(Effect::Ue(UeEffect::LeaveSignalling));
    let failed = [row(RrcEvent::AttachFailed)];
    let next = [
        Effect::Ue(UeEffect::Release(at_ms(ms) + wait)),
        Effect::Report(ReportEffect::FailRow(HandoverOutcome::Failed)),
    ];
    failed.into_iter().chain(left).chain(next).collect()
}

#[test]
fn the_fifth_failure_in_a_row_waits_for_longer() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    for wait in [T3411, T3411, T3411, T3411, T3402, T3411] {
        assert_eq!(rig.fail(7), failure(7, true, wait));
    }
}

#[test]
fn a_registered_ue_searches_a_cell_every_second_and_has_no_row() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    rig.attach.on_bearers();
    let next = Effect::Ue(UeEffect::Release(at_ms(9) + SEARCH_PERIOD));
    let failed = [
        row(RrcEvent::AttachFailed),
        Effect::Ue(UeEffect::LeaveSignalling),
        next,
    ];
    assert_eq!(rig.fail(9), failed);
}

#[test]
fn an_attempt_without_rrc_setup_has_no_signalling_to_leave() {
    let mut rig = Rig::idle(Generation::Nr, Signalling::FixedDelays);
    rig.begin_attempt(0);
    rig.attach.on_selected(at_ms(100));
    assert_eq!(rig.fail(500), failure(500, false, T3411));
}

#[test]
fn an_attempt_begins_once_with_its_row() {
    let mut rig = Rig::idle(Generation::Lte, Signalling::FixedDelays);
    let new = NewRow::triggered(Procedure::Attach, [CELL; 2], at_ms(20));
    let begun = [
        Effect::Report(ReportEffect::BeginRow(new)),
        Effect::Report(ReportEffect::RecordEvent(Some(CELL), RrcEvent::AttachBegun)),
    ];
    assert_eq!(rig.begin_attempt(20), (true, begun.into()));
    assert_eq!(rig.begin_attempt(120), (false, vec![]), "cell selection");
    rig.attach.on_selected(at_ms(130));
    rig.fail(500);
    assert!(rig.begin_attempt(20_000).0, "the next attempt");
}

#[test]
fn a_registered_ue_begins_no_attempt() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    rig.attach.on_bearers();
    assert_eq!(rig.begin_attempt(20), (false, vec![]));
}

#[test]
fn rrc_setup_connects_the_signalling_bearers() {
    let mut rig = Rig::idle(Generation::Lte, Signalling::FixedDelays);
    let connected = [Effect::Ue(UeEffect::ConnectSignalling(CELL))];
    assert_eq!(rig.set_up(40, Generation::Lte), connected);
    let answer = Effect::SendMessage(Direction::Uplink, Message::Answer(Round::Setup));
    assert_eq!(rig.ue_due(54), NOTHING);
    assert_eq!(rig.ue_due(55), [answer, Effect::Ue(UeEffect::WakeUplink)]);
}

#[test]
fn the_last_request_connects_the_data_bearers() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    rig.request(100, Round::Bearers);
    let answer = Effect::SendMessage(Direction::Uplink, Message::Answer(Round::Bearers));
    let done = [
        Effect::Ue(UeEffect::ConnectData),
        row(RrcEvent::Attached),
        answer,
        Effect::Ue(UeEffect::WakeUplink),
    ];
    assert_eq!(rig.ue_due(115), done);
    assert!(rig.attach.registration().is_registered);
    rig.is_attaching = false;
    assert_eq!(rig.ue_due(60_000), NOTHING, "no timer is left");
}

#[test]
fn a_request_after_the_setup_of_bearers_has_no_answer() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    rig.ue_due(15);
    rig.is_attaching = false;
    rig.request(100, Round::Bearers);
    rig.is_attaching = true;
    assert_eq!(rig.ue_due(1000), NOTHING);
}

#[test]
fn the_guard_timer_ends_an_attempt_that_has_no_answer() {
    for (is_registered, ms) in [(false, 15_000), (true, 5000)] {
        let mut rig = Rig::idle(Generation::Lte, Signalling::FixedDelays);
        if is_registered {
            rig.attach.on_bearers();
        }
        rig.set_up(0, Generation::Lte);
        rig.ue_due(15);
        assert_eq!(rig.attach.wake_at(), at_ms(ms));
        assert_eq!(rig.ue_due(ms - 1), NOTHING);
        let failed = [
            row(RrcEvent::AttachFailed),
            Effect::Ue(UeEffect::LeaveSignalling),
        ];
        assert_eq!(rig.ue_due(ms)[..2], failed);
        assert!(rig.attach.wake_at().is_never());
    }
}

#[test]
fn a_ue_answers_once_when_it_has_processed_the_request() {
    for (generation, ms) in [(Generation::Lte, 15), (Generation::Nr, 10)] {
        let mut rig = Rig::new(generation, Signalling::FixedDelays);
        rig.request(100, Round::Bearers);
        assert_eq!(rig.attach.wake_at(), at_ms(100 + ms));
        assert_eq!(rig.ue_due(99 + ms), NOTHING);
        assert_eq!(rig.ue_due(100 + ms).len(), 4);
        assert_eq!(rig.ue_due(500), NOTHING);
    }
}

#[test]
fn why_a_ue_is_not_attached_follows_its_attempts() {
    let at = Time::ZERO + Span::from_secs(9);
    let mut rig = Rig::idle(Generation::Lte, Signalling::FixedDelays);
    assert_eq!(
        rig.attach.unattached(Some(at), None),
        Some(Unattached::NotBegun(at))
    );
    rig.begin_attempt(0);
    assert_eq!(
        rig.attach.unattached(Some(at), None),
        Some(Unattached::UnderWay)
    );
    let weak = Unsuited::Weak(CellId(1), -131.0);
    assert_eq!(
        rig.attach.unattached(Some(at), Some(weak)),
        Some(Unattached::NoCell(weak))
    );
    rig.attach.on_selected(at);
    assert_eq!(
        rig.attach.unattached(None, None),
        Some(Unattached::UnderWay)
    );
    rig.fail(600);
    let failed = Unattached::Failed(1, false);
    assert_eq!(rig.attach.unattached(Some(at), None), Some(failed));
    rig.is_attaching = true;
    rig.fail(700);
    let failed = Unattached::Failed(2, true);
    assert_eq!(rig.attach.unattached(Some(at), None), Some(failed));
    rig.attach.on_bearers();
    assert_eq!(rig.attach.unattached(None, None), None);
}
