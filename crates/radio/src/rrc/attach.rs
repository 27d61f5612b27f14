//! Attach procedure, by which an idle UE gets a connection with bearers. The procedure consists of
//! rounds. In each round the base station, or the core through it, sends a message and the UE
//! answers.
//!
//! ```text
//! UE ─ RRC setup complete ─► base station ─ Initial UE Message ─► core
//!    ◄───────── authentication, security of NAS ──────────────────┤   unless registered
//!    ◄─ security of RRC ─ base station ◄─ Initial Context Setup ──┤
//!    ◄─ registration accepted, request of a session ──────────────┤   NR, unless registered
//!    ◄─ reconfiguration with bearers ─ base station ─ response ──►┘ path
//! ```
//!
//! [`Attach`] contains the state and the timers, and sends messages over links. The caller sends
//! the messages of the radio interface.
//!
//! Standard: TS 23.401 §5.3.2.1; TS 23.502 §4.2.2.2.2, §4.2.3.2, §4.3.2.2.1; TS 36.331 §5.3.3,
//! §5.3.4; TS 38.331 §5.3.3, §5.3.4.

use super::backhaul::{NetworkMessages, NetworkNode, NetworkSignal};
use super::network::{REPEAT, Step};
use crate::rlc::Generation;
use fadeout_core::{CellId, Span, Time};

/// Time that the UE waits for its registration (T3410, T3510).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
pub(crate) const T3410: Span = Span::from_secs(15);

/// Time from a failed attempt to the next (T3411, T3511).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
pub(crate) const T3411: Span = Span::from_secs(10);

/// Time to the next attempt after [`MOST_ATTEMPTS`] failures (T3402, T3502). The value is the
/// default for networks that give no value.
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
pub(crate) const T3402: Span = Span::from_secs(12 * 60);

/// Number of failed attempts after which the UE waits longer.
///
/// Standard: TS 24.301 §5.5.1.2.6; TS 24.501 §5.5.1.2.7.
pub(crate) const MOST_ATTEMPTS: u32 = 5;

/// Returns the time that a registered UE waits for its bearers (T3417, or T3517 in NR).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
fn service_timer(generation: Generation) -> Span {
    match generation {
        Generation::Lte => Span::from_secs(5),
        Generation::Nr => Span::from_secs(15),
    }
}

/// Round of the attach procedure: a message to the UE and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// RRC setup. The message is sent with contention resolution, and the answer contains the first
    /// NAS message.
    Setup,
    Authentication,
    /// Security activation of NAS.
    NasSecurity,
    /// Security activation of RRC and of user data.
    Security,
    /// Acceptance of the registration. The answer requests a PDU session.
    Acceptance,
    /// Reconfiguration with the bearers.
    Bearers,
}

/// Registration status of a UE in its network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Registration {
    pub generation: Generation,
    /// True if the core knows the UE and has NAS keys for it.
    pub is_registered: bool,
}

impl Registration {
    fn requests_session(self) -> bool {
        self.generation == Generation::Nr && !self.is_registered
    }
}

impl Round {
    /// Returns the next round. `None` after the last.
    pub(crate) fn next(self, registration: Registration) -> Option<Round> {
        Some(match self {
            Round::Setup if registration.is_registered => Round::Security,
            Round::Setup => Round::Authentication,
            Round::Authentication => Round::NasSecurity,
            Round::NasSecurity => Round::Security,
            Round::Security if registration.requests_session() => Round::Acceptance,
            Round::Security | Round::Acceptance => Round::Bearers,
            Round::Bearers => return None,
        })
    }

    /// True if the core starts the round, and false if the base station starts it.
    pub(crate) fn is_of_core(self, registration: Registration) -> bool {
        match self {
            Round::Authentication | Round::NasSecurity | Round::Security => true,
            Round::Bearers => registration.requests_session(),
            Round::Setup | Round::Acceptance => false,
        }
    }

    /// Returns the processing time from the message to the UE's answer. NAS messages have no
    /// specified limit, so their processing takes no time here.
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

    /// Returns the size in bytes of the message over the air, including NAS. Sizes are typical
    /// values, not those of a standard.
    pub(crate) fn question_size(self) -> u32 {
        match self {
            Round::Setup | Round::Bearers => 200,
            Round::Authentication => 50,
            Round::NasSecurity => 30,
            Round::Security => 10,
            Round::Acceptance => 100,
        }
    }

    /// Returns the size in bytes of the UE's answer over the air, including NAS. Sizes are typical
    /// values.
    pub(crate) fn answer_size(self) -> u32 {
        match self {
            Round::Setup => 120,
            Round::Authentication | Round::NasSecurity => 30,
            Round::Security | Round::Bearers => 10,
            Round::Acceptance => 80,
        }
    }

    /// Returns the size in bytes of the message or answer between base station and core, as an IP
    /// packet with SCTP header.
    pub(crate) fn wired_size(self, is_answer: bool) -> u32 {
        match (self, is_answer) {
            (Round::Setup | Round::Acceptance, true) => 250,
            // These messages contain the UE's context or the session's tunnel.
            (Round::Security | Round::Bearers, false) => 350,
            _ => 150,
        }
    }
}

/// Reason why a UE has selected no cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unsuited {
    /// The UE received no cell.
    Nothing,
    /// The strongest cell has this RSRP in dBm, which is not above q-RxLevMin.
    Weak(CellId, f64),
    /// The downlink of this cell, the strongest, is below Qin. The UE cannot read the system
    /// information there.
    Unread(CellId),
}

/// Reason why a UE that is idle at the start is not attached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unattached {
    /// The UE begins to attach at this time.
    NotBegun(Time),
    /// The latest cell selection found no suitable cell.
    NoCell(Unsuited),
    /// This number of attempts failed. The flag is true if the latest attempt reached RRC setup.
    Failed(u32, bool),
    /// The first attempt is under way.
    UnderWay,
}

/// State of a UE's attach procedure. After the loss of its connection the UE uses the same
/// procedure.
#[derive(Debug)]
pub(crate) struct Attach {
    registration: Registration,
    /// Number of consecutive failed attempts.
    attempts: u32,
    /// Number of all failed attempts, and true if the latest failed attempt reached RRC setup.
    failed: (u32, bool),
    /// True if the UE has begun the attempt and is selecting a cell.
    pub is_selecting: bool,
    cell: CellId,
    pub round: Round,
    /// Time of the UE's answer.
    answers_at: Time,
    /// Time at which the UE gives up the attempt.
    guard_at: Time,
    /// Message or answer under way between base station and core, with its arrival time. If
    /// simulated links carry the message, the time is that of its repetition.
    under_way: Option<(Round, bool, Time)>,
    wire: NetworkMessages,
    /// True until the core knows that the UE's bearers are set up.
    is_path_awaited: bool,
}

impl Attach {
    pub(crate) fn new(generation: Generation) -> Attach {
        Attach {
            registration: Registration {
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
            wire: NetworkMessages::default(),
            is_path_awaited: false,
        }
    }

    pub(crate) fn registration(&self) -> Registration {
        self.registration
    }

    /// Returns the cell in which the UE attaches.
    pub(crate) fn cell(&self) -> CellId {
        self.cell
    }

    /// Returns the time of the next action of the UE, the base station or the core.
    pub(crate) fn wake_at(&self) -> Time {
        self.answers_at.min(self.guard_at).min(self.wired_at())
    }

    /// Returns the time at which the message under way between base station and core is due.
    pub(crate) fn wired_at(&self) -> Time {
        self.under_way.map_or(Time::NEVER, |(.., at)| at)
    }

    /// Returns why the UE is not attached, or `None` if the UE is attached. `begins_at` is the time
    /// of the UE's next attempt. `unsuited` is the result of its latest cell selection.
    pub(crate) fn unattached(
        &self,
        begins_at: Option<Time>,
        unsuited: Option<Unsuited>,
    ) -> Option<Unattached> {
        if self.registration.is_registered {
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

    /// Starts the guard timer of NAS, because the UE has selected a cell.
    pub(crate) fn on_selected(&mut self, now: Time) {
        self.is_selecting = false;
        self.guard_at = now.saturating_add(match self.registration.is_registered {
            true => service_timer(self.registration.generation),
            false => T3410,
        });
    }

    /// Records that the UE has received RRC setup in a cell.
    pub(crate) fn on_setup(&mut self, (cell, generation): (CellId, Generation), now: Time) {
        self.on_path();
        self.cell = cell;
        self.registration.generation = generation;
        self.on_question(Round::Setup, now);
    }

    /// Records that the UE has received a message. Its answer follows after the processing time.
    pub(crate) fn on_question(&mut self, round: Round, now: Time) {
        self.round = round;
        let takes = round.processing(self.registration.generation);
        self.answers_at = now.saturating_add(takes);
    }

    /// Returns true once, when the UE's answer is due.
    pub(crate) fn is_answer_due(&mut self, now: Time) -> bool {
        let is_due = self.answers_at <= now;
        if is_due {
            self.answers_at = Time::NEVER;
        }
        is_due
    }

    /// True if the guard timer of the attempt has expired.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.guard_at <= now
    }

    /// Records that the UE has its bearers and is registered.
    pub(crate) fn on_bearers(&mut self) {
        self.registration.is_registered = true;
        self.attempts = 0;
        self.guard_at = Time::NEVER;
        self.is_path_awaited = true;
    }

    /// True until the core knows that the UE's bearers are set up.
    pub(crate) fn is_path_awaited(&self) -> bool {
        self.is_path_awaited
    }

    /// Ends the exchange of messages with the core. The core knows the UE's bearers or its new
    /// cell, or will not be informed any more.
    pub(crate) fn on_path(&mut self) {
        self.is_path_awaited = false;
        self.under_way = None;
        self.wire.cancel_all();
    }

    /// Records that an attempt has failed. `had_setup` is true if the attempt reached RRC setup.
    /// Returns the time to the next attempt, which is `usual` for a registered UE.
    ///
    /// Standard: TS 24.301 §5.5.1.2.6; TS 24.501 §5.5.1.2.7.
    pub(crate) fn fail(&mut self, had_setup: bool, usual: Span) -> Span {
        self.stop();
        self.failed = (self.failed.0 + 1, had_setup);
        if self.registration.is_registered {
            return usual;
        }
        self.attempts += 1;
        if self.attempts < MOST_ATTEMPTS {
            return T3411;
        }
        self.attempts = 0;
        T3402
    }

    /// Stops the exchange of messages and all its timers.
    pub(crate) fn stop(&mut self) {
        self.answers_at = Time::NEVER;
        self.guard_at = Time::NEVER;
        self.on_path();
    }

    /// Sends a message from the core to the base station, or an answer from the base station to the
    /// core.
    pub(crate) fn send(&mut self, (round, is_answer): (Round, bool), step: &mut Step<'_>) {
        let station = NetworkNode::Station(step.config.station(self.cell));
        let ends = match is_answer {
            true => [station, NetworkNode::Core],
            false => [NetworkNode::Core, station],
        };
        let takes = match step.config.has_links() {
            true => {
                let signal = NetworkSignal::Attach { round, is_answer };
                self.wire.send_between(signal, ends, step);
                REPEAT
            }
            false => step.config.procedure.core_delay,
        };
        self.under_way = Some((round, is_answer, step.after(takes)));
    }

    /// Returns the round of a message that arrived over links, and true if it is an answer. `None`
    /// if the message is not awaited.
    pub(crate) fn on_message(&mut self, number: u64) -> Option<(Round, bool)> {
        let NetworkSignal::Attach { round, is_answer } = self.wire.take_arrived(number)?.signal
        else {
            return None;
        };
        // A message that was repeated may arrive twice, so only the awaited round is accepted.
        self.under_way
            .take_if(|(of, is_up, _)| (*of, *is_up) == (round, is_answer))?;
        Some((round, is_answer))
    }

    /// Returns the round of a message that has arrived by now, and true if it is an answer. If
    /// simulated links carry messages, a due message is repeated instead and `None` is returned.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) -> Option<(Round, bool)> {
        let due = self.under_way.take_if(|(.., at)| *at <= step.now);
        let (round, is_answer, _) = due?;
        if step.config.has_links() {
            self.send((round, is_answer), step);
            return None;
        }
        Some((round, is_answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(
                attach.has_expired(time_at_ms(15_000)) && !attach.has_expired(time_at_ms(14_999))
            );
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
}
