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
}

impl Rig {
    fn new(generation: Generation, signalling: Signalling) -> Rig {
        let mut attach = Attach::new(generation);
        attach.on_selected(Time::ZERO);
        attach.on_setup((CELL, generation), Time::ZERO);
        Rig {
            attach,
            config: MobilityConfig {
                stations: vec![10, 11],
                interface: Interface::Direct,
                signalling,
                ..MobilityConfig::bare()
            },
            next_message: 0,
        }
    }

    fn run<R>(
        &mut self,
        ms: u64,
        action: impl FnOnce(&mut Attach, &mut Step<'_>) -> R,
    ) -> (R, Vec<Effect>) {
        let (mut effects, mut held) = (Effects::new(), [0; 2]);
        let mut step = Step {
            now: Time::ZERO + Span::from_millis(ms),
            seed: 0,
            ue: UeId(0),
            config: &self.config,
            loads: &[0; 2],
            held: &mut held,
            serving: Some(CELL),
            is_connected: false,
            fetching: None,
            next_message: &mut self.next_message,
            effects: &mut effects,
        };
        let result = action(&mut self.attach, &mut step);
        (result, effects.into())
    }

    fn answer(&mut self, ms: u64, round: Round) -> Vec<Effect> {
        self.run(ms, |attach, step| attach.on_answer(round, step)).1
    }

    fn due(&mut self, ms: u64, is_home: bool) -> Vec<Effect> {
        self.run(ms, |attach, step| attach.on_due(is_home, step)).1
    }

    fn arrive(&mut self, ms: u64, number: u64) -> (bool, Vec<Effect>) {
        self.run(ms, |attach, step| attach.on_message(number, true, step))
    }
}

fn links() -> Signalling {
    Signalling::Links {
        unconnected: BTreeSet::new(),
    }
}

fn row(event: RrcEvent) -> Effect {
    Effect::RecordEvent(None, event)
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
    assert_eq!(rig.due(14 + core, true), NOTHING);
    let asked = Effect::RecordEvent(Some(CELL), RrcEvent::AuthenticationRequest);
    assert_eq!(rig.due(15 + core, true), [asked]);
    let question = request(None, Round::Authentication);
    assert_eq!(rig.due(15 + 2 * core, true), question);
    assert_eq!(rig.due(1000, true), NOTHING, "the UE's answer is awaited");
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
    let session = Effect::RecordEvent(Some(CELL), RrcEvent::SessionSetupRequest);
    assert_eq!(rig.due(1000, true), [session]);
}

#[test]
fn a_registered_ue_begins_with_security() {
    let mut rig = Rig::new(Generation::Lte, Signalling::FixedDelays);
    rig.attach.on_bearers();
    rig.attach.on_setup((CELL, Generation::Lte), Time::ZERO);
    rig.answer(15, Round::Setup);
    let context = Effect::RecordEvent(Some(CELL), RrcEvent::ContextSetupRequest);
    assert_eq!(rig.due(1000, true), [context]);
    let command = request(Some(RrcEvent::SecurityCommand), Round::Security);
    assert_eq!(rig.due(2000, true), command);
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
        let report = |rig: &mut Rig| rig.run(90, |attach, step| attach.report_bearers(step)).0;
        assert!(!report(&mut rig), "there are no bearers yet");
        rig.attach.on_bearers();
        assert!(report(&mut rig));
        let switched: &[Effect] = match is_home {
            true => &[Effect::SwitchPath],
            false => &[],
        };
        assert_eq!(rig.due(1000, is_home), switched);
        assert!(!report(&mut rig), "the core knows");
    }
}

#[test]
fn over_links_a_message_is_repeated_until_it_arrives() {
    let mut rig = Rig::new(Generation::Lte, links());
    let setup = rig.answer(15, Round::Setup);
    assert_eq!(setup[1..], [sent(0, true, Round::Setup)]);
    assert_eq!(rig.due(1014, true), NOTHING);
    assert_eq!(rig.due(1015, true), [sent(1, true, Round::Setup)]);
    let (is_it, effects) = rig.arrive(1020, 1);
    let asked = Effect::RecordEvent(Some(CELL), RrcEvent::AuthenticationRequest);
    assert_eq!(effects, [asked, sent(2, false, Round::Authentication)]);
    assert!(is_it);
}

#[test]
fn a_message_that_arrives_twice_has_one_effect() {
    let mut rig = Rig::new(Generation::Lte, links());
    rig.answer(15, Round::Setup);
    rig.due(1015, true);
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
    assert_eq!(rig.due(5000, true), NOTHING);
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

#[test]
fn the_fifth_failure_in_a_row_waits_for_longer() {
    let usual = Span::from_secs(1);
    let mut attach = Attach::new(Generation::Lte);
    let waits: Vec<Span> = (0..6).map(|_| attach.fail(true, usual)).collect();
    assert_eq!(waits, [T3411, T3411, T3411, T3411, T3402, T3411]);
    attach.on_bearers();
    assert_eq!(attach.fail(true, usual), usual, "it is registered");
}

#[test]
fn a_ue_answers_once_when_it_has_processed_the_question() {
    let time_at_ms = |ms| Time::ZERO + Span::from_millis(ms);
    for (generation, ms) in [(Generation::Lte, 15), (Generation::Nr, 10)] {
        let mut attach = Attach::new(generation);
        attach.on_selected(time_at_ms(0));
        assert_eq!(attach.wake_at(), time_at_ms(15_000));
        assert!(attach.has_expired(time_at_ms(15_000)) && !attach.has_expired(time_at_ms(14_999)));
        attach.on_question(Round::Bearers, time_at_ms(100));
        assert_eq!(attach.wake_at(), time_at_ms(100 + ms));
        assert!(
            !attach.is_answer_due(time_at_ms(99 + ms))
                && attach.is_answer_due(time_at_ms(100 + ms))
        );
        assert!(!attach.is_answer_due(time_at_ms(500)));
    }
}

#[test]
fn why_a_ue_is_not_attached_follows_its_attempts() {
    let at = Time::ZERO + Span::from_secs(9);
    let mut attach = Attach::new(Generation::Lte);
    assert_eq!(
        attach.unattached(Some(at), None),
        Some(Unattached::NotBegun(at))
    );
    attach.is_selecting = true;
    assert_eq!(
        attach.unattached(Some(at), None),
        Some(Unattached::UnderWay)
    );
    let weak = Unsuited::Weak(CellId(1), -131.0);
    assert_eq!(
        attach.unattached(Some(at), Some(weak)),
        Some(Unattached::NoCell(weak))
    );
    attach.on_selected(at);
    assert_eq!(attach.unattached(None, None), Some(Unattached::UnderWay));
    attach.fail(false, T3411);
    let failed = Unattached::Failed(1, false);
    assert_eq!(attach.unattached(Some(at), None), Some(failed));
    attach.fail(true, T3411);
    let failed = Unattached::Failed(2, true);
    assert_eq!(attach.unattached(Some(at), None), Some(failed));
    attach.on_bearers();
    assert_eq!(attach.unattached(None, None), None);
}
