//! Tests of the network side of conditional handover. The tests deliver the messages themselves.

use super::*;
use crate::config::{CellChange, MobilityConfig, Signalling};
use fadeout_core::UeId;
use std::collections::{BTreeSet, VecDeque};

const SOURCE: CellId = CellId(0);

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn cells(all: &[u32]) -> Vec<CellId> {
    all.iter().copied().map(CellId).collect()
}

fn config(signalling: Signalling) -> MobilityConfig {
    MobilityConfig {
        most_ues: Some(2),
        stations: vec![10, 11, 12, 13, 14],
        signalling,
        change: CellChange::Conditional(ConditionalConfig {
            conditions: Vec::new(),
            most_candidates: 2,
            hold: Span::from_millis(2000),
            recovers: true,
            forwards_early: false,
            commanding: Vec::new(),
        }),
        ..MobilityConfig::bare()
    }
}

struct Stations {
    candidacy: Candidacy,
    config: MobilityConfig,
    loads: [u32; 5],
    held: [u32; 5],
    serving: CellId,
    next_message: u64,
}

impl Stations {
    fn new(signalling: Signalling) -> Stations {
        Stations {
            candidacy: Candidacy::new(),
            config: config(signalling),
            loads: [0; 5],
            held: [0; 5],
            serving: SOURCE,
            next_message: 0,
        }
    }

    fn over_links() -> Stations {
        let unconnected = BTreeSet::new();
        Stations::new(Signalling::Links { unconnected })
    }

    /// Returns the acts of a step at `ms`, without records of events.
    fn run_step(
        &mut self,
        ms: u64,
        action: impl FnOnce(&mut Candidacy, &mut Step<'_>),
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
            is_connected: true,
            fetching: None,
            is_attaching: false,
            is_in_daps: false,
            change: None,
            home: 0,
            next_message: &mut self.next_message,
            effects: &mut acts,
        };
        action(&mut self.candidacy, &mut step);
        acts.retain(|act| !matches!(act, Effect::Report(ReportEffect::RecordEvent(..))));
        acts.into()
    }

    fn want(&mut self, ms: u64, wanted: &[u32]) -> Vec<Effect> {
        let config = self.config.conditional().cloned().expect("conditional");
        self.run_step(ms, |candidacy, step| {
            candidacy.request_candidates(SOURCE, &cells(wanted), &config, step);
        })
    }

    fn due(&mut self, ms: u64) -> Vec<Effect> {
        self.run_step(ms, Candidacy::on_due)
    }

    fn arrive(&mut self, ms: u64, number: u64) -> Vec<Effect> {
        self.run_step(ms, |candidacy, step| candidacy.on_message(number, step))
    }

    /// Carries out all actions that are due up to `ms`. Messages have fixed delays.
    fn until(&mut self, ms: u64) -> Vec<Effect> {
        let mut acts = Vec::new();
        while self.candidacy.wake_at() <= at_ms(ms) {
            let now = self.candidacy.wake_at().as_nanos() / 1_000_000;
            acts.extend(self.due(now));
        }
        acts
    }

    fn prepared(&self) -> Vec<CellId> {
        self.candidacy.prepared().cells().to_vec()
    }
}

fn send(number: u64, [from, to]: [u32; 2], size: u32) -> Effect {
    let [from, to] = [from, to].map(NetworkNode::Station);
    Effect::Send {
        number,
        from,
        to,
        size,
    }
}

#[test]
fn where_times_are_given_candidates_are_prepared_at_once_and_told_together() {
    let mut stations = Stations::new(Signalling::FixedDelays);
    assert_eq!(stations.want(100, &[1, 2]), []);
    // The list of candidates is sent at 120 ms: 5 ms for the request, 10 ms for admission and 5 ms
    // for the answer.
    assert_eq!(stations.until(119), []);
    assert_eq!(stations.held, [0, 1, 1, 0, 0], "from the decision on");
    assert_eq!(stations.until(120), [Effect::SendCandidates]);
    assert_eq!(stations.prepared(), cells(&[1, 2]));
    assert_eq!(stations.candidacy.asked_at(CellId(2)), Some(at_ms(100)));
    assert_eq!(stations.candidacy.list_sent_at(), Some(at_ms(120)));
    // The maximum number of candidates is reached. New candidate 3 replaces candidate 1, the oldest
    // one that is not requested again.
    assert_eq!(stations.want(200, &[2, 3]), []);
    assert_eq!(stations.until(205), []);
    assert_eq!(
        stations.held,
        [0, 0, 1, 0, 0],
        "the cancelled one has heard of it"
    );
    assert_eq!(stations.until(220), [Effect::SendCandidates]);
    assert_eq!(stations.prepared(), cells(&[2, 3]));
    assert_eq!(stations.want(300, &[3, 2]), [], "nothing new");
}

#[test]
fn a_full_candidate_refuses_and_rooms_that_are_held_count() {
    let mut stations = Stations::new(Signalling::FixedDelays);
    stations.held[1] = 1;
    stations.loads[1] = 1;
    stations.want(100, &[1, 2]);
    assert_eq!(stations.until(200), [Effect::SendCandidates]);
    assert_eq!(stations.prepared(), cells(&[2]));
    assert_eq!(stations.held, [0, 1, 1, 0, 0]);
}

#[test]
fn a_candidate_gives_room_back_after_its_time_and_says_so() {
    let mut stations = Stations::new(Signalling::FixedDelays);
    stations.want(0, &[1]);
    stations.until(1000);
    stations.want(1000, &[1, 2]);
    stations.until(1100);
    // The reservation begins at 15 ms and lasts for 2 s, so it ends at 2,015 ms.
    assert_eq!(stations.until(2014), []);
    assert!(stations.candidacy.has_reservation(CellId(1)));
    assert_eq!(stations.until(2015), []);
    assert!(!stations.candidacy.has_reservation(CellId(1)));
    assert_eq!(
        stations.until(2020),
        [Effect::SendCandidates],
        "the source has heard"
    );
    assert_eq!(stations.prepared(), cells(&[2]));
    stations.until(10_000);
    assert_eq!((stations.held, stations.prepared()), ([0; 5], vec![]));
    assert!(stations.candidacy.wake_at().is_never());
}

#[test]
fn over_links_the_target_tells_the_source_which_forwards_and_cancels_the_others() {
    let mut stations = Stations::over_links();
    let requests = [send(0, [10, 11], 600), send(1, [10, 12], 600)];
    assert_eq!(stations.want(0, &[1, 2]), requests);
    assert_eq!(
        [stations.arrive(5, 0), stations.arrive(6, 1)],
        [vec![], vec![]]
    );
    assert_eq!(stations.due(15), [send(2, [11, 10], 300)]);
    assert_eq!(stations.arrive(20, 2), [], "one is still to answer");
    assert_eq!(stations.due(16), [send(3, [12, 10], 300)]);
    assert_eq!(stations.arrive(21, 3), [Effect::SendCandidates]);
    // The UE enters the second candidate. The first notification to the source is lost, so the
    // candidate repeats the notification at 1,500 ms.
    stations.serving = CellId(2);
    let executed = stations.run_step(500, |candidacy, step| {
        candidacy.on_executed(CellId(2), step);
    });
    assert_eq!(executed, [send(4, [12, 10], 100)]);
    assert_eq!(stations.held, [0, 1, 0, 0, 0], "room is the UE's");
    assert!(stations.candidacy.is_finishing());
    assert_eq!(stations.due(1500), [send(5, [12, 10], 100)]);
    let (from, cell, delay) = (10, CellId(2), Span::ZERO);
    let followed = [
        send(6, [10, 11], 100),
        Effect::ForwardData { from, cell, delay },
        Effect::ResumeData,
        send(7, [10, 12], 100),
    ];
    assert_eq!(stations.arrive(1505, 5), followed);
    assert_eq!(stations.arrive(1510, 6), []);
    assert_eq!(stations.held, [0; 5], "the other one gives its room back");
    // The source's answer is lost, so the target notifies the source again. The source then only
    // repeats its answer.
    assert_eq!(stations.due(2500), [send(8, [12, 10], 100)]);
    assert_eq!(stations.arrive(2505, 8), [send(9, [10, 12], 100)]);
    assert!(stations.candidacy.is_finishing());
    assert_eq!(stations.arrive(2510, 9), []);
    assert!(!stations.candidacy.is_finishing());
    assert!(stations.candidacy.wake_at().is_never());
}

#[test]
fn without_an_answer_the_source_cancels_and_a_late_answer_is_cancelled_too() {
    let mut stations = Stations::over_links();
    stations.want(0, &[1]);
    stations.arrive(5, 0);
    let answer = stations.due(15);
    assert_eq!(answer, [send(1, [11, 10], 300)]);
    // The timer TX2RELOCprep expires, and the cancellation is lost. The late answer makes the
    // source cancel the candidate again.
    assert_eq!(stations.due(1000), [send(2, [10, 11], 100)]);
    assert_eq!(stations.prepared(), []);
    assert_eq!(stations.arrive(1001, 1), [send(3, [10, 11], 100)]);
    assert_eq!(stations.held, [0, 1, 0, 0, 0]);
    assert_eq!(stations.arrive(1006, 3), []);
    assert_eq!(stations.held, [0; 5]);
}

#[test]
fn of_a_ue_that_is_gone_elsewhere_all_candidates_are_cancelled() {
    let mut stations = Stations::new(Signalling::FixedDelays);
    stations.want(0, &[1, 2]);
    stations.until(100);
    assert_eq!(stations.run_step(100, Candidacy::cancel_all), []);
    assert_eq!(stations.held, [0, 1, 1, 0, 0], "they have not heard of it");
    assert_eq!(stations.until(105), []);
    assert_eq!((stations.held, stations.prepared()), ([0; 5], vec![]));
    // The UE enters cell 3 and loses its link before the source has answered. The target then does
    // not repeat its notification.
    stations.want(200, &[3]);
    stations.until(300);
    stations.serving = CellId(3);
    stations.run_step(400, |candidacy, step| {
        candidacy.on_executed(CellId(3), step);
    });
    stations.candidacy.on_link_lost();
    assert_eq!(stations.until(10_000), [], "the source moves nothing");
}

#[test]
fn between_cells_of_one_station_data_is_there_at_once() {
    let mut stations = Stations::new(Signalling::FixedDelays);
    stations.config.stations = vec![10; 5];
    stations.want(0, &[1]);
    assert_eq!(stations.until(9), []);
    assert_eq!(
        stations.until(10),
        [Effect::SendCandidates],
        "after admission"
    );
    stations.serving = CellId(1);
    stations.run_step(50, |candidacy, step| candidacy.on_executed(CellId(1), step));
    let (from, cell, delay) = (10, CellId(1), Span::ZERO);
    assert_eq!(
        stations.due(50),
        [
            Effect::ForwardData { from, cell, delay },
            Effect::ResumeData
        ]
    );
    assert!(stations.candidacy.wake_at().is_never());
}

#[test]
fn a_switch_by_mac_keeps_what_is_prepared_and_room_in_the_cell_that_was_left() {
    let mut stations = Stations::new(Signalling::FixedDelays);
    stations.config.stations = vec![10; 5];
    let _ = stations.want(100, &[1, 2]);
    assert_eq!(
        stations.until(110),
        [Effect::SendCandidates],
        "admission alone"
    );
    assert_eq!(stations.held, [0, 1, 1, 0, 0]);
    stations.serving = CellId(1);
    let follow = |stations: &mut Stations, ms, ends: [u32; 2], lacks_candidates| {
        stations.run_step(ms, |candidacy, step| {
            candidacy.on_switched(ends.map(CellId), lacks_candidates, step);
        })
    };
    assert_eq!(
        follow(&mut stations, 200, [0, 1], false),
        [],
        "RRC says nothing"
    );
    assert_eq!(stations.held, [1, 0, 1, 0, 0]);
    assert_eq!(stations.prepared(), cells(&[2, 0]));
    // The UE returns without having received the latest list of candidates, so the list is sent
    // again.
    stations.serving = CellId(0);
    assert_eq!(
        follow(&mut stations, 300, [1, 0], true),
        [Effect::SendCandidates]
    );
    assert_eq!(stations.held, [0, 1, 1, 0, 0]);
    // The reservation of cell 2 began at 110 ms. It ends after 2 s although the serving cell has
    // changed twice. Afterwards all candidates are cancelled.
    let acts = stations.until(2110);
    assert_eq!(acts, [Effect::SendCandidates], "cell 2 gives its room back");
    assert_eq!(stations.prepared(), cells(&[1]));
    let _ = stations.run_step(2200, |candidacy, step| candidacy.cancel_all(step));
    let _ = stations.until(2200);
    assert_eq!(stations.held, [0; 5]);
}

#[test]
fn candidates_of_other_base_stations_hear_once_of_the_copies_that_come() {
    let mut stations = Stations::over_links();
    stations.config.stations = vec![10, 11, 10, 13, 14];
    if let CellChange::Conditional(conditional) = &mut stations.config.change {
        conditional.forwards_early = true;
    }
    // Only cell 1 gets a request over a link, because cell 2 belongs to the source's base station.
    assert_eq!(stations.want(0, &[1, 2]), [send(0, [10, 11], 600)]);
    let _ = stations.arrive(1, 0);
    let answered = stations.until(11);
    assert_eq!(
        answered,
        [send(1, [11, 10], 300)],
        "cell 2 has answered at once"
    );
    let acts = stations.arrive(12, 1);
    assert_eq!(acts, [send(2, [10, 11], 100), Effect::SendCandidates]);
    // Candidate 3 replaces candidate 1. Only candidate 3 receives the notice that copies will
    // follow.
    let asked = stations.want(100, &[2, 3]);
    assert_eq!(asked.len(), 2, "a cancel and a request: {asked:?}");
    let _ = stations.arrive(101, 4);
    let _ = stations.until(111);
    let acts = stations.arrive(112, 5);
    assert_eq!(acts, [send(6, [10, 13], 100), Effect::SendCandidates]);
}

#[test]
fn the_list_is_sent_to_a_connected_ue_and_copies_only_if_configured() {
    for forwards_early in [false, true] {
        let mut stations = Stations::new(Signalling::FixedDelays);
        if let CellChange::Conditional(config) = &mut stations.config.change {
            config.forwards_early = forwards_early;
        }
        stations.want(100, &[1, 2]);
        stations.until(200);
        let sent = stations.run_step(200, |candidacy, step| candidacy.configure(step));
        let mut all = Candidates::NONE;
        [1, 2].iter().for_each(|&cell| all.add(CellId(cell)));
        let copies = Effect::Ue(UeEffect::Bearers(BearerStep::CopyEarly(all)));
        let list = Effect::SendMessage(Direction::Downlink, Message::Candidates(all));
        assert_eq!(sent.contains(&copies), forwards_early);
        assert_eq!(sent.last(), Some(&list));
        let unconnected = stations.run_step(200, |candidacy, step| {
            step.is_connected = false;
            candidacy.configure(step);
        });
        assert_eq!(unconnected, []);
    }
}
