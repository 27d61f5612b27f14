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
//! [`Attach`] contains the state and the timers, and decides about the messages of the base station
//! and the core.
//!
//! Standard: TS 23.401 §5.3.2.1; TS 23.502 §4.2.2.2.2, §4.2.3.2, §4.3.2.2.1; TS 36.331 §5.3.3,
//! §5.3.4; TS 38.331 §5.3.3, §5.3.4.

use super::backhaul::{NetworkMessages, NetworkNode, NetworkSignal};
use super::effect::{Effect, REPEAT, ReportEffect, Step, UeEffect};
use super::message::Message;
use super::record::NewRow;
use super::round::{Registration, Round};
use crate::rlc::Generation;
use fadeout_core::{CellId, Direction, HandoverOutcome, Procedure, RrcEvent, Span, Time};

/// Time that the UE waits for its registration (T3410, T3510).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
const T3410: Span = Span::from_secs(15);

/// Time from a failed attempt to the next (T3411, T3511).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
const T3411: Span = Span::from_secs(10);

/// Time to the next attempt after [`MOST_ATTEMPTS`] failures (T3402, T3502). The value is the
/// default for networks that give no value.
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
const T3402: Span = Span::from_secs(12 * 60);

/// Number of failed attempts after which the UE waits longer.
///
/// Standard: TS 24.301 §5.5.1.2.6; TS 24.501 §5.5.1.2.7.
const MOST_ATTEMPTS: u32 = 5;

/// Interval between two cell searches of a UE without connection.
pub(crate) const SEARCH_PERIOD: Span = Span::from_millis(1000);

/// Returns the time that a registered UE waits for its bearers (T3417, or T3517 in NR).
///
/// Standard: TS 24.301 §10.2; TS 24.501 §10.2.
fn service_timer(generation: Generation) -> Span {
    match generation {
        Generation::Lte => Span::from_secs(5),
        Generation::Nr => Span::from_secs(15),
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
    is_selecting: bool,
    cell: CellId,
    round: Round,
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

    /// Begins an attempt, unless the UE is registered or has begun the attempt before. Returns true
    /// if the attempt begins. Cell selection follows later.
    pub(crate) fn begin_attempt(&mut self, step: &mut Step<'_>) -> bool {
        let begins = !self.registration.is_registered && !self.is_selecting;
        self.is_selecting |= begins;
        if let Some(cell) = step.serving.filter(|_| begins) {
            let row = NewRow::triggered(Procedure::Attach, [cell; 2], step.now);
            step.push(ReportEffect::BeginRow(row));
            step.push(ReportEffect::RecordEvent(Some(cell), RrcEvent::AttachBegun));
        }
        begins
    }

    /// Starts the guard timer of NAS, because the UE has selected a cell.
    pub(crate) fn on_selected(&mut self, now: Time) {
        self.is_selecting = false;
        self.guard_at = now.saturating_add(match self.registration.is_registered {
            true => service_timer(self.registration.generation),
            false => T3410,
        });
    }

    /// Handles the end of contention resolution in a cell, which carries the RRC setup message.
    pub(crate) fn on_setup(&mut self, cell: CellId, generation: Generation, step: &mut Step<'_>) {
        self.on_path();
        self.cell = cell;
        self.registration.generation = generation;
        self.on_question(Round::Setup, step.now);
        step.push(UeEffect::ConnectSignalling(cell));
    }

    /// Handles a request of the network at the UE, if its bearers are still being set up.
    pub(crate) fn on_request(&mut self, round: Round, step: &Step<'_>) {
        if step.is_attaching {
            self.on_question(round, step.now);
        }
    }

    /// Records that the UE has received a message. Its answer follows after the processing time.
    fn on_question(&mut self, round: Round, now: Time) {
        self.round = round;
        let takes = round.processing(self.registration.generation);
        self.answers_at = now.saturating_add(takes);
    }

    /// Runs the steps of the UE that are due during the setup of its bearers.
    pub(crate) fn on_ue_due(&mut self, step: &mut Step<'_>) {
        if !step.is_attaching {
            return;
        }
        if self.guard_at <= step.now {
            return self.fail(step);
        }
        if self.answers_at <= step.now {
            self.answers_at = Time::NEVER;
            if self.round == Round::Bearers {
                self.on_bearers();
                step.push(UeEffect::ConnectData);
                step.push(ReportEffect::RecordEvent(None, RrcEvent::Attached));
            }
            let answer = Message::Answer(self.round);
            step.push(Effect::SendMessage(Direction::Uplink, answer));
            step.push(UeEffect::WakeUplink);
        }
    }

    /// Records that the UE has its bearers and is registered.
    fn on_bearers(&mut self) {
        self.registration.is_registered = true;
        self.attempts = 0;
        self.guard_at = Time::NEVER;
        self.is_path_awaited = true;
    }

    /// Handles the UE's answer at the base station.
    pub(crate) fn on_answer(&mut self, round: Round, step: &mut Step<'_>) {
        if round == Round::Setup {
            step.push(ReportEffect::RecordEvent(None, RrcEvent::SetupComplete));
        }
        match round.next(self.registration) {
            None => step.push(Effect::HasEntered),
            Some(next) if next.is_of_core(self.registration) => self.send((round, true), step),
            Some(next) => self.request(next, step),
        }
    }

    /// Sends a request of the base station or the core to the UE.
    fn request(&mut self, round: Round, step: &mut Step<'_>) {
        let event = match round {
            Round::Security => Some(RrcEvent::SecurityCommand),
            Round::Acceptance => Some(RrcEvent::RegistrationAccept),
            Round::Bearers => {
                step.push(Effect::SetHome(self.cell));
                Some(RrcEvent::ReconfigurationSent)
            }
            Round::Setup | Round::Authentication | Round::NasSecurity => None,
        };
        if let Some(event) = event {
            step.push(ReportEffect::RecordEvent(None, event));
        }
        let request = Message::Question(round);
        step.push(Effect::SendMessage(Direction::Downlink, request));
        step.push(Effect::WakeDownlink);
    }

    /// Handles a message between the base station and the core at its destination.
    fn on_arrived(&mut self, (round, is_answer): (Round, bool), step: &mut Step<'_>) {
        if !is_answer {
            return self.request(round, step);
        }
        let Some(next) = round.next(self.registration) else {
            self.on_path();
            // If the UE is now at another base station, that base station has already requested the
            // path switch.
            if step.is_home(self.cell) {
                step.push(Effect::SwitchPath);
            }
            return;
        };
        let event = match next {
            Round::Authentication => RrcEvent::AuthenticationRequest,
            Round::NasSecurity => RrcEvent::NasSecurityCommand,
            Round::Security => RrcEvent::ContextSetupRequest,
            _ => RrcEvent::SessionSetupRequest,
        };
        step.push(ReportEffect::RecordEvent(Some(self.cell), event));
        self.send((next, false), step);
    }

    /// Reports to the core that the UE has completed the last RRC procedure, which sets up its
    /// bearers. Returns false if the core does not wait for this report.
    pub(crate) fn report_bearers(&mut self, step: &mut Step<'_>) -> bool {
        if self.is_path_awaited {
            self.send((Round::Bearers, true), step);
        }
        self.is_path_awaited
    }

    /// Ends the exchange of messages with the core. The core knows the UE's bearers or its new
    /// cell, or will not be informed any more.
    fn on_path(&mut self) {
        self.is_path_awaited = false;
        self.under_way = None;
        self.wire.cancel_all();
    }

    /// Ends the attempt, because T300 or T3410 has expired or the link failed before bearers
    /// existed. The UE is idle until the next attempt.
    ///
    /// Standard: TS 24.301 §5.5.1.2.6; TS 24.501 §5.5.1.2.7.
    pub(crate) fn fail(&mut self, step: &mut Step<'_>) {
        self.stop();
        self.failed = (self.failed.0 + 1, step.is_attaching);
        step.push(ReportEffect::RecordEvent(None, RrcEvent::AttachFailed));
        if step.is_attaching {
            step.push(UeEffect::LeaveSignalling);
        }
        if self.registration.is_registered {
            return step.push(UeEffect::Release(step.after(SEARCH_PERIOD)));
        }
        self.attempts += 1;
        let wait = match self.attempts < MOST_ATTEMPTS {
            true => T3411,
            false => {
                self.attempts = 0;
                T3402
            }
        };
        step.push(UeEffect::Release(step.after(wait)));
        step.push(ReportEffect::FailRow(HandoverOutcome::Failed));
    }

    /// Stops the exchange of messages and all its timers.
    pub(crate) fn stop(&mut self) {
        self.answers_at = Time::NEVER;
        self.guard_at = Time::NEVER;
        self.on_path();
    }

    /// Sends a message from the core to the base station, or an answer from the base station to the
    /// core.
    fn send(&mut self, (round, is_answer): (Round, bool), step: &mut Step<'_>) {
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

    /// Handles a message that links have carried. Returns true if the message belongs to this
    /// procedure.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) -> bool {
        let arrived = self.wire.take_arrived(number).map(|message| message.signal);
        let Some(NetworkSignal::Attach { round, is_answer }) = arrived else {
            return false;
        };
        // A message that was repeated may arrive twice, so only the awaited round is accepted.
        let is_it = |(of, is_up, _): &mut (Round, bool, Time)| (*of, *is_up) == (round, is_answer);
        let is_awaited = self.under_way.take_if(is_it).is_some();
        if is_awaited {
            self.on_arrived((round, is_answer), step);
        }
        is_awaited
    }

    /// Handles a message whose fixed delay has passed. If simulated links carry messages, a due
    /// message is repeated instead.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
        let due = self.under_way.take_if(|(.., at)| *at <= step.now);
        match due {
            None => {}
            Some((round, is_answer, _)) if step.config.has_links() => {
                self.send((round, is_answer), step);
            }
            Some((round, is_answer, _)) => self.on_arrived((round, is_answer), step),
        }
    }
}

#[cfg(test)]
mod tests;
