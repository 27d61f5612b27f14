//! The dialogue by which an idle UE gets a connection with its bearers: rounds in which the base station, or the
//! core through it, asks the UE and it answers.
//!
//! ```text
//! UE ─ RRC setup complete ─► base station ─ Initial UE Message ─► core
//!    ◄───────── authentication, security of NAS ──────────────────┤        unless it is known there
//!    ◄─ security of RRC ─ base station ◄─ Initial Context Setup ──┤
//!    ◄─ registration accepted; it asks for a session ─────────────┤        NR, unless it is known there
//!    ◄─ reconfiguration with bearers ─ base station ─ response ──►┘ path
//! ```
//!
//! [`Attach`] knows whose turn it is and when, and carries what goes over links; over the air its caller does.
//!
//! Standard: TS 23.401 §5.3.2.1; TS 23.502 §4.2.2.2.2, §4.2.3.2, §4.3.2.2.1; TS 36.331 §5.3.3, §5.3.4; TS 38.331
//! §5.3.3, §5.3.4.

use super::backhaul::{Place, Signal, Wire};
use super::network::{REPEAT, Step};
use crate::rlc::Generation;
use fadeout_core::{CellId, Span, Time};

/// How long the UE waits for its registration (T3410, T3510).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
pub(crate) const T3410: Span = Span::from_secs(15);

/// From a failure to the next attempt (T3411, T3511).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
pub(crate) const T3411: Span = Span::from_secs(10);

/// The same after [`MOST_ATTEMPTS`] of them (T3402, T3502), as it is if the network says nothing.
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
pub(crate) const T3402: Span = Span::from_secs(12 * 60);

/// Attempts after which the UE waits longer.
///
/// Standard: TS 24.301 §5.5.1.2.6; TS 24.501 §5.5.1.2.7.
pub(crate) const MOST_ATTEMPTS: u32 = 5;

/// How long a UE that is known to the core waits for its bearers (T3417; NR's T3517).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
fn service_timer(generation: Generation) -> Span {
    match generation {
        Generation::Lte => Span::from_secs(5),
        Generation::Nr => Span::from_secs(15),
    }
}

/// A question to the UE and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// RRC's setup, which comes with contention resolution. The answer has NAS's first message.
    Setup,
    Authentication,
    /// Security of NAS.
    NasSecurity,
    /// Security of RRC and of user data.
    Security,
    /// The registration is accepted; the answer asks for a PDU session.
    Acceptance,
    /// The reconfiguration with the bearers.
    Bearers,
}

/// Who the UE is to its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub generation: Generation,
    /// Whether the core knows it, with keys of NAS.
    pub is_registered: bool,
}

impl Standing {
    fn has_session_apart(self) -> bool {
        self.generation == Generation::Nr && !self.is_registered
    }
}

impl Round {
    /// The next one; none behind the last.
    pub(crate) fn next(self, standing: Standing) -> Option<Round> {
        Some(match self {
            Round::Setup if standing.is_registered => Round::Security,
            Round::Setup => Round::Authentication,
            Round::Authentication => Round::NasSecurity,
            Round::NasSecurity => Round::Security,
            Round::Security if standing.has_session_apart() => Round::Acceptance,
            Round::Security | Round::Acceptance => Round::Bearers,
            Round::Bearers => return None,
        })
    }

    /// Whether the core asks, else the base station by itself.
    pub(crate) fn is_of_core(self, standing: Standing) -> bool {
        match self {
            Round::Authentication | Round::NasSecurity | Round::Security => true,
            Round::Bearers => standing.has_session_apart(),
            Round::Setup | Round::Acceptance => false,
        }
    }

    /// From the question's reception to the answer. NAS has no limits, and takes no time here.
    ///
    /// Standard: TS 36.331 §11.2; TS 38.331 §12.
    pub(crate) fn processing(self, generation: Generation) -> Span {
        let [lte, nr] = match self {
            Round::Setup | Round::Bearers => [15, 10],
            Round::Security => [10, 5],
            Round::Authentication | Round::NasSecurity | Round::Acceptance => [0, 0],
        };
        Span::from_millis(match generation {
            Generation::Lte => lte,
            Generation::Nr => nr,
        })
    }

    /// Bytes of the question over the air, with NAS's part: usual sizes, not those of a standard.
    pub(crate) fn question_size(self) -> u32 {
        match self {
            Round::Setup | Round::Bearers => 200,
            Round::Authentication => 50,
            Round::NasSecurity => 30,
            Round::Security => 10,
            Round::Acceptance => 100,
        }
    }

    /// The same of the answer.
    pub(crate) fn answer_size(self) -> u32 {
        match self {
            Round::Setup => 120,
            Round::Authentication | Round::NasSecurity => 30,
            Round::Security | Round::Bearers => 10,
            Round::Acceptance => 80,
        }
    }

    /// Bytes of a question or an answer between base station and core, as an IP packet with SCTP's header.
    pub(crate) fn wired_size(self, is_answer: bool) -> u32 {
        match (self, is_answer) {
            (Round::Setup | Round::Acceptance, true) => 250,
            // With the UE's context, and the session's tunnel.
            (Round::Security | Round::Bearers, false) => 350,
            _ => 150,
        }
    }
}

/// Reason why a UE has selected no cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unsuited {
    /// No cell that it could measure.
    Nothing,
    /// The strongest cell has this RSRP in dBm, which is not above q-RxLevMin.
    Weak(CellId, f64),
    /// The downlink of the strongest cell is below Qin: the UE cannot read its system information.
    Unread(CellId),
}

/// Why a UE that is idle at the start is not attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unattached {
    /// It begins later.
    NotBegun(Time),
    /// It looks for a cell; the latest one did not suit.
    NoCell(Unsuited),
    /// So many attempts have failed; whether the latest one had RRC's setup.
    Failed(u32, bool),
    /// The first attempt is under way.
    UnderWay,
}

/// A UE that attaches, and that is set up in the same way when it has lost its connection.
#[derive(Debug)]
pub(crate) struct Attach {
    standing: Standing,
    /// Attempts in a row that failed.
    attempts: u32,
    /// Attempts that failed in all, and whether the latest had RRC's setup.
    failed: (u32, bool),
    /// Whether it has begun the attempt, and selects a cell.
    pub is_selecting: bool,
    cell: CellId,
    pub round: Round,
    /// When the UE answers.
    answers_at: Time,
    /// When it gives up.
    guard_at: Time,
    /// What is under way between base station and core: when it is there, or sent again over links.
    under_way: Option<(Round, bool, Time)>,
    wire: Wire,
    /// Whether the core has yet to hear of its bearers.
    is_path_awaited: bool,
}

impl Attach {
    pub(crate) fn new(generation: Generation) -> Attach {
        Attach {
            standing: Standing {
                generation,
                is_registered: false,
            },
            attempts: 0,
            failed: (0, false),
            is_selecting: false,
            cell: CellId(0),
            round: Round::Setup,
            answers_at: Time::NEVER,
            guard_at: Time::NEVER,
            under_way: None,
            wire: Wire::default(),
            is_path_awaited: false,
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        self.standing
    }

    /// The cell of the dialogue.
    pub(crate) fn cell(&self) -> CellId {
        self.cell
    }

    /// When something is to be done next, by the UE or between base station and core.
    pub(crate) fn wake_at(&self) -> Time {
        self.answers_at.min(self.guard_at).min(self.wired_at())
    }

    /// When something is to be done next between base station and core.
    pub(crate) fn wired_at(&self) -> Time {
        self.under_way.map_or(Time::NEVER, |(.., at)| at)
    }

    /// Returns why the UE is not attached, or `None` if it is. `begins_at` is the time of its next
    /// attempt, `unsuited` the result of its latest cell selection.
    pub(crate) fn unattached(
        &self,
        begins_at: Option<Time>,
        unsuited: Option<Unsuited>,
    ) -> Option<Unattached> {
        if self.standing.is_registered {
            return None;
        }
        let begins_at = begins_at.filter(|_| !self.is_selecting);
        Some(match (unsuited, self.failed, begins_at) {
            (Some(found), ..) => Unattached::NoCell(found),
            (None, (failed @ 1.., had_setup), _) => Unattached::Failed(failed, had_setup),
            (None, (0, _), Some(at)) => Unattached::NotBegun(at),
            (None, (0, _), None) => Unattached::UnderWay,
        })
    }

    /// The UE has selected a cell, and NAS begins.
    pub(crate) fn on_selected(&mut self, now: Time) {
        self.is_selecting = false;
        self.guard_at = now.saturating_add(match self.standing.is_registered {
            true => service_timer(self.standing.generation),
            false => T3410,
        });
    }

    /// The UE has RRC's setup in a cell.
    pub(crate) fn on_setup(&mut self, (cell, generation): (CellId, Generation), now: Time) {
        self.on_path();
        self.cell = cell;
        self.standing.generation = generation;
        self.on_question(Round::Setup, now);
    }

    /// The UE is asked.
    pub(crate) fn on_question(&mut self, round: Round, now: Time) {
        self.round = round;
        let takes = round.processing(self.standing.generation);
        self.answers_at = now.saturating_add(takes);
    }

    /// Whether the UE answers by now; it does once.
    pub(crate) fn answers(&mut self, now: Time) -> bool {
        let is_due = self.answers_at <= now;
        if is_due {
            self.answers_at = Time::NEVER;
        }
        is_due
    }

    /// Whether the UE has waited for too long.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.guard_at <= now
    }

    /// The UE has its bearers: it is registered.
    pub(crate) fn on_bearers(&mut self) {
        self.standing.is_registered = true;
        self.attempts = 0;
        self.guard_at = Time::NEVER;
        self.is_path_awaited = true;
    }

    /// Whether the core has yet to hear of its bearers.
    pub(crate) fn is_path_awaited(&self) -> bool {
        self.is_path_awaited
    }

    /// The core has heard of them, or of another cell, or nobody tells it any more.
    pub(crate) fn on_path(&mut self) {
        self.is_path_awaited = false;
        self.under_way = None;
        self.wire.begin_anew();
    }

    /// The attempt has failed, before RRC's setup or after it. How long the UE waits until the next one, `usual` where it
    /// is registered.
    ///
    /// Standard: TS 24.301 §5.5.1.2.6; TS 24.501 §5.5.1.2.7.
    pub(crate) fn fail(&mut self, had_setup: bool, usual: Span) -> Span {
        self.stop();
        self.failed = (self.failed.0 + 1, had_setup);
        if self.standing.is_registered {
            return usual;
        }
        self.attempts += 1;
        if self.attempts < MOST_ATTEMPTS {
            return T3411;
        }
        self.attempts = 0;
        T3402
    }

    /// Nothing of the dialogue counts any more.
    pub(crate) fn stop(&mut self) {
        self.answers_at = Time::NEVER;
        self.guard_at = Time::NEVER;
        self.on_path();
    }

    /// A question goes from the core to the base station, or an answer the other way.
    pub(crate) fn tell(&mut self, (round, is_answer): (Round, bool), step: &mut Step<'_>) {
        let station = Place::Station(step.config.station(self.cell));
        let ends = match is_answer {
            true => [station, Place::Core],
            false => [Place::Core, station],
        };
        let takes = match step.config.has_links() {
            true => {
                let signal = Signal::Attach { round, is_answer };
                self.wire.tell(signal, ends, step);
                REPEAT
            }
            false => step.config.procedure.core_delay,
        };
        self.under_way = Some((round, is_answer, step.after(takes)));
    }

    /// A message has come over links: what it is. None if nobody waits for it.
    pub(crate) fn on_message(&mut self, number: u64) -> Option<(Round, bool)> {
        let Signal::Attach { round, is_answer } = self.wire.take(number)?.signal else {
            return None;
        };
        // One that was sent again may come twice.
        self.under_way
            .take_if(|(of, is_up, _)| (*of, *is_up) == (round, is_answer))?;
        Some((round, is_answer))
    }

    /// Time has passed: what is there now. Over links it is sent again.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) -> Option<(Round, bool)> {
        let due = self.under_way.take_if(|(.., at)| *at <= step.now);
        let (round, is_answer, _) = due?;
        if step.config.has_links() {
            self.tell((round, is_answer), step);
            return None;
        }
        Some((round, is_answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(generation: Generation, is_registered: bool) -> Vec<(Round, bool)> {
        let standing = Standing {
            generation,
            is_registered,
        };
        let all = std::iter::successors(Some(Round::Setup), |round| round.next(standing));
        all.map(|round| (round, round.is_of_core(standing)))
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
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        for (generation, ms) in [(Generation::Lte, 15), (Generation::Nr, 10)] {
            let mut attach = Attach::new(generation);
            attach.on_selected(at(0));
            assert_eq!(attach.wake_at(), at(15_000));
            assert!(attach.has_expired(at(15_000)) && !attach.has_expired(at(14_999)));
            attach.on_question(Round::Bearers, at(100));
            assert_eq!(attach.wake_at(), at(100 + ms));
            assert!(!attach.answers(at(99 + ms)) && attach.answers(at(100 + ms)));
            assert!(!attach.answers(at(500)));
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
}
