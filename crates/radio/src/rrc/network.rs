//! Mobility of one UE in base stations and the core: the source asks the target, the target decides, the core
//! switches the path, a cell after a failure fetches the context.
//!
//! [`Network`] is told of messages and of time, and says what follows in [`Act`]s. It knows no radio, no
//! bearer and no link: whoever carries out its acts does.
//!
//! Standard: TS 36.423 §8.2; TS 36.413 §8.4; TS 38.423 §8.2; TS 38.413 §8.4.

mod wire;

use super::backhaul::{Place, Signal, Wire};
use super::candidacy::Candidacy;
use super::secondary_node::NodeAct;
use crate::config::{BicastStart, DataForwarding, Interface, MobilityConfig};
use fadeout_core::{CellId, RrcEvent, Span, Time};
use std::collections::VecDeque;

/// When the core is asked again for a path whose first request was lost: SCTP's least time to a
/// retransmission.
///
/// Standard: RFC 9260 §16.
pub(crate) const REPEAT: Span = Span::from_secs(1);

/// The network's part of a UE's mobility.
#[derive(Debug)]
pub(crate) struct Network {
    /// Base station that the core's path leads to.
    home: u32,
    /// The one that it led to before, until that is told to forget the UE.
    left: Option<u32>,
    preparation: Preparation,
    /// When the target decides about the UE, and the cell.
    admission: Option<(CellId, Time)>,
    /// When the core switches the path, or is asked again.
    switch_at: Time,
    bicast: Bicast,
    wire: Wire,
    /// Of conditional handovers.
    pub(crate) candidacy: Candidacy,
}

/// The step of a handover's preparation that its source waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preparation {
    /// No handover is under way.
    Idle,
    /// The target's answer: at this time, or over links until then.
    Requested { target: CellId, at: Time },
    /// The command, while the core sends to both.
    Doubling { target: CellId, at: Time },
    /// The UE's leaving, until this time.
    Commanded { until: Time },
}

/// Bicast from the core to a second base station.
#[derive(Debug)]
struct Bicast {
    /// When the source asks for it, and the cell.
    ask_at: Option<(CellId, Time)>,
    /// Orders on their way to the core where times are given: to this cell, or to none.
    orders: VecDeque<(Time, Option<CellId>)>,
    /// Until when the core does, unless the path is switched before.
    until: Option<Time>,
}

/// An action that follows from a step of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// A message sets out.
    Send {
        number: u64,
        from: Place,
        to: Place,
        size: u32,
    },
    /// The source knows that the target takes the UE.
    Accepted(CellId),
    /// The source knows that it does not.
    Refused(CellId),
    /// The source waits no longer for an answer.
    Expired(CellId),
    /// The source waits no longer for the UE to leave.
    GivenUp,
    /// The core sends to the base station of this cell too from now on.
    Copy(CellId),
    /// It sends to one alone.
    EndCopies,
    /// The core sends to this base station from now on.
    SwitchPath,
    /// Base station `from`, which had the UE, sends its data to that of this cell. It takes so long
    /// where times are given. The core may have switched the path before.
    MoveData {
        from: u32,
        cell: CellId,
        given: Span,
    },
    /// The cell has the UE's context.
    HasContext,
    /// The source tells the UE of its candidates.
    Configure,
    /// The target has what the source forwards, or is about to.
    ResumeData,
    /// It has the source's answer.
    HasStatus,
    /// Something follows about the secondary node.
    SecondaryNode(NodeAct),
    /// Something happened that has a row: about this cell, or about the serving one.
    Note(Option<CellId>, RrcEvent),
}

/// A step: what it is told, and where it says what follows.
pub(crate) struct Step<'a> {
    pub now: Time,
    pub config: &'a MobilityConfig,
    /// UEs in each cell.
    pub loads: &'a [u32],
    /// UEs that each cell holds room for.
    pub held: &'a mut [u32],
    /// Cell of the UE, or the last one.
    pub serving: Option<CellId>,
    pub is_connected: bool,
    /// The cell that waits for its context.
    pub fetching: Option<CellId>,
    /// Number of the next message.
    pub next_message: &'a mut u64,
    pub acts: &'a mut VecDeque<Act>,
}

impl Step<'_> {
    pub(crate) fn after(&self, span: Span) -> Time {
        self.now.saturating_add(span)
    }

    fn place_of(&self, cell: CellId) -> Place {
        Place::Station(self.config.station(cell))
    }

    /// When the core is asked to send to the UE's cell and to `target`.
    fn bicast_to(&self, target: CellId) -> Option<BicastStart> {
        self.config.bicast_between(self.serving?, target)
    }

    pub(crate) fn has_room(&self, target: CellId) -> bool {
        let place = target.index();
        self.config.has_room(self.loads[place] + self.held[place])
    }

    pub(crate) fn act(&mut self, act: Act) {
        self.acts.push_back(act);
    }
}

impl Bicast {
    fn new() -> Bicast {
        Bicast {
            ask_at: None,
            orders: VecDeque::new(),
            until: None,
        }
    }

    fn wake_at(&self) -> Time {
        let ask_at = self.ask_at.map(|(_, at)| at);
        let order_at = self.orders.front().map(|&(at, _)| at);
        let times = [ask_at, order_at, self.until];
        times.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// The next order that is with the core by now.
    fn take_order(&mut self, now: Time) -> Option<(Time, Option<CellId>)> {
        let is_there = self.orders.front().is_some_and(|&(at, _)| at <= now);
        is_there.then(|| self.orders.pop_front()).flatten()
    }
}

impl Network {
    /// The core sends to base station `home`.
    pub(crate) fn new(home: u32) -> Network {
        Network {
            home,
            left: None,
            preparation: Preparation::Idle,
            admission: None,
            switch_at: Time::NEVER,
            bicast: Bicast::new(),
            wire: Wire::default(),
            candidacy: Candidacy::new(),
        }
    }

    /// Base station that the core's path leads to.
    pub(crate) fn home(&self) -> u32 {
        self.home
    }

    /// Base station `home` has the context of a UE that was idle.
    pub(crate) fn settle(&mut self, home: u32) {
        (self.home, self.left) = (home, None);
    }

    /// Whether that is the base station of a cell.
    pub(crate) fn is_home(&self, config: &MobilityConfig, cell: CellId) -> bool {
        config.station(cell) == self.home
    }

    /// Base station of the UE's cell, or of the last one.
    pub(crate) fn station(&self, config: &MobilityConfig, serving: Option<CellId>) -> u32 {
        serving.map_or(self.home, |cell| config.station(cell))
    }

    /// Whether a handover or a switch of the path is under way.
    pub(crate) fn is_busy(&self) -> bool {
        let is_under_way = self.preparation != Preparation::Idle || !self.switch_at.is_never();
        is_under_way || self.candidacy.is_finishing()
    }

    /// Whether a handover is being prepared, or the UE commanded.
    pub(crate) fn is_preparing(&self) -> bool {
        self.preparation != Preparation::Idle
    }

    /// When something is to be done next.
    pub(crate) fn wake_at(&self) -> Time {
        let of_source = match self.preparation {
            Preparation::Idle => Time::NEVER,
            Preparation::Requested { at, .. } | Preparation::Doubling { at, .. } => at,
            Preparation::Commanded { until } => until,
        };
        let admission = self.admission.map_or(Time::NEVER, |(_, at)| at);
        of_source
            .min(admission)
            .min(self.switch_at)
            .min(self.bicast.wake_at())
            .min(self.candidacy.wake_at())
    }

    /// The link to the UE is lost: the target does not ask for a path any more.
    pub(crate) fn on_link_lost(&mut self) {
        self.switch_at = Time::NEVER;
        self.candidacy.on_link_lost();
    }

    /// Another procedure begins: what was under way means nothing any more.
    pub(crate) fn begin_anew(&mut self) {
        self.preparation = Preparation::Idle;
        self.wire.begin_anew();
    }

    /// The UE is in a cell.
    pub(crate) fn on_entered(&mut self) {
        self.preparation = Preparation::Idle;
    }

    /// The source asks the target.
    pub(crate) fn ask_target(&mut self, (source, target): (CellId, CellId), step: &mut Step<'_>) {
        let procedure = &step.config.procedure;
        let at = if step.config.speak_over_links(source, target) {
            self.wire.begin_anew();
            let ends = [source, target].map(|cell| step.place_of(cell));
            self.tell(Signal::Request(target), ends, step);
            step.after(procedure.preparation)
        } else {
            let there_and_back = step.config.station_delay(source, target) * 2;
            step.after(there_and_back + procedure.admission)
        };
        self.preparation = Preparation::Requested { target, at };
    }

    /// The source knows that the target takes the UE: it commands the UE to leave, or has the core send to
    /// both before.
    fn on_accepted(&mut self, target: CellId, step: &mut Step<'_>) {
        match step.bicast_to(target) {
            Some(BicastStart::Before(span)) => {
                self.ask_for_copies(target, step);
                let at = step.after(span);
                self.preparation = Preparation::Doubling { target, at };
                self.on_source_due(step);
            }
            _ => step.act(Act::Accepted(target)),
        }
    }

    /// The source tells the UE to leave for `target`, and waits for that.
    pub(crate) fn on_command(&mut self, target: CellId, step: &Step<'_>) {
        let until = step.after(step.config.procedure.overall);
        self.preparation = Preparation::Commanded { until };
        if let Some(BicastStart::After(span)) = step.bicast_to(target) {
            self.bicast.ask_at = Some((target, step.after(span)));
        }
    }

    /// The source asks the core to send to both.
    fn ask_for_copies(&mut self, target: CellId, step: &mut Step<'_>) {
        let source = self.station(step.config, step.serving);
        match step.config.has_links() {
            true => {
                let ends = [Place::Station(source), Place::Core];
                self.tell(Signal::Bicast(target), ends, step);
            }
            false => {
                let at = step.after(step.config.procedure.core_delay);
                self.bicast.orders.push_back((at, Some(target)));
            }
        }
    }

    /// The source, where the UE stays, tells the core to send to it alone.
    fn refuse_copies(&mut self, step: &mut Step<'_>) {
        self.bicast.ask_at = None;
        if !matches!(step.config.data, DataForwarding::Bicast(_)) {
            return;
        }
        match step.config.has_links() {
            true => {
                let ends = [Place::Station(self.home), Place::Core];
                self.tell(Signal::BicastEnd, ends, step);
            }
            false => {
                let at = step.after(step.config.procedure.core_delay);
                self.bicast.orders.push_back((at, None));
            }
        }
    }

    /// The core is told to send to a cell too, or to none.
    fn on_order(&mut self, target: Option<CellId>, step: &mut Step<'_>) {
        let target = target.filter(|&cell| step.config.station(cell) != self.home);
        if self.bicast.until.is_some() {
            self.bicast.until = None;
            step.act(Act::EndCopies);
        }
        if let Some(target) = target {
            self.bicast.until = Some(step.after(step.config.procedure.overall));
            step.act(Act::Copy(target));
        }
    }

    /// The source tells the target of the sequence numbers ahead of what it forwards.
    ///
    /// Standard: TS 36.423 §8.2.2; TS 38.423 §8.2.2.
    pub(crate) fn transfer_status(
        &mut self,
        (source, target): (CellId, CellId),
        step: &mut Step<'_>,
    ) {
        if step.config.speak_over_links(source, target) && step.config.forwards() {
            let ends = [source, target].map(|cell| step.place_of(cell));
            self.tell(Signal::StatusTransfer, ends, step);
        }
    }

    /// The source may have waited long enough, for an answer or for the UE to leave.
    pub(crate) fn on_source_due(&mut self, step: &mut Step<'_>) {
        match self.preparation {
            Preparation::Requested { target, at } if at <= step.now => {
                let Some(source) = step.serving else {
                    return self.begin_anew();
                };
                if step.config.speak_over_links(source, target) {
                    self.begin_anew();
                    step.act(Act::Expired(target));
                } else {
                    self.preparation = Preparation::Idle;
                    match step.has_room(target) {
                        true => self.on_accepted(target, step),
                        false => step.act(Act::Refused(target)),
                    }
                }
            }
            Preparation::Doubling { target, at } if at <= step.now => {
                self.preparation = Preparation::Idle;
                step.act(Act::Accepted(target));
            }
            Preparation::Commanded { until } if until <= step.now => {
                self.preparation = Preparation::Idle;
                step.act(Act::GivenUp);
                self.refuse_copies(step);
            }
            _ => {}
        }
    }

    /// The target may have decided, and the core be due.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
        self.on_bicast_due(step);
        self.candidacy.on_due(step);
        if let Some((target, at)) = self.admission
            && at <= step.now
        {
            self.admission = None;
            self.admit(target, step);
        }
        if self.switch_at <= step.now {
            self.switch_at = Time::NEVER;
            match step.serving {
                Some(cell) if step.config.has_links() => self.ask_core(cell, step),
                Some(cell) => self.switch(cell, step),
                None => {}
            }
        }
    }

    /// The source may have to ask for copies, and the core to begin or to end them.
    fn on_bicast_due(&mut self, step: &mut Step<'_>) {
        if let Some((target, _)) = self.bicast.ask_at.take_if(|(_, at)| *at <= step.now) {
            self.ask_for_copies(target, step);
        }
        while let Some((_, order)) = self.bicast.take_order(step.now) {
            self.on_order(order, step);
        }
        if self.bicast.until.is_some_and(|at| at <= step.now) {
            self.on_order(None, step);
        }
    }

    /// The target has a request, and decides.
    fn admit(&mut self, target: CellId, step: &mut Step<'_>) {
        if self.asked() != Some(target) {
            return;
        }
        let answer = match step.has_room(target) {
            true => Signal::Acknowledge(target),
            false => Signal::Refuse(target),
        };
        let source = Place::Station(self.station(step.config, step.serving));
        self.tell(answer, [step.place_of(target), source], step);
    }

    /// The UE is in a cell of another base station than the core sends to.
    pub(crate) fn ask_core(&mut self, cell: CellId, step: &mut Step<'_>) {
        let after = match step.config.has_links() {
            false => step.config.procedure.core_delay,
            true => {
                step.act(Act::Note(Some(cell), RrcEvent::PathSwitchRequest));
                let ends = [step.place_of(cell), Place::Core];
                self.tell(Signal::PathSwitch(cell), ends, step);
                REPEAT
            }
        };
        self.switch_at = step.after(after);
    }

    /// The cell that a UE has come to after a failure fetches its context. When it has it, where that is
    /// given.
    pub(crate) fn fetch_context(&mut self, cell: CellId, step: &mut Step<'_>) -> Time {
        let is_home = self.is_home(step.config, cell);
        if step.config.has_links() && !is_home {
            step.act(Act::Note(Some(cell), RrcEvent::ContextRequest));
            let ends = [step.place_of(cell), Place::Station(self.home)];
            self.tell(Signal::ContextRequest, ends, step);
            return Time::NEVER;
        }
        if is_home {
            self.refuse_copies(step);
        }
        let given = match is_home {
            true => Span::ZERO,
            false => step.config.given_delay() * 2,
        };
        let from = self.home;
        step.act(Act::MoveData { from, cell, given });
        step.after(given)
    }

    /// A message has come over links.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) {
        let Some(wired) = self.wire.take(number) else {
            return self.candidacy.on_message(number, step);
        };
        if wired.next != wired.to {
            // The core passes it on.
            let way = [wired.to; 2];
            return self.wire.post(wired.signal, wired.next, way, step);
        }
        match wired.signal {
            Signal::Request(target) | Signal::Acknowledge(target) | Signal::Refuse(target)
                if self.asked() != Some(target) => {}
            Signal::Request(target) => {
                self.admission = Some((target, step.after(step.config.procedure.admission)));
            }
            Signal::Acknowledge(target) => self.on_accepted(target, step),
            Signal::Refuse(target) => {
                self.preparation = Preparation::Idle;
                step.act(Act::Refused(target));
            }
            // PDCP's numbers are the same entity's here.
            Signal::StatusTransfer => {}
            Signal::Bicast(target) => self.on_order(Some(target), step),
            Signal::BicastEnd => self.on_order(None, step),
            Signal::PathSwitch(cell) => self.on_path_switch_request(cell, step),
            Signal::PathSwitched => self.on_path_switched(step),
            Signal::Release => step.act(Act::Note(None, RrcEvent::ContextReleased)),
            Signal::ContextRequest => {
                if let Some(cell) = step.fetching {
                    let (from, given) = (self.home, Span::ZERO);
                    step.act(Act::MoveData { from, cell, given });
                    let ends = [wired.to, step.place_of(cell)];
                    self.tell(Signal::Context, ends, step);
                }
            }
            Signal::Context if step.fetching.is_some() => step.act(Act::HasContext),
            Signal::Context
            | Signal::EarlyStatus
            | Signal::Cancel { .. }
            | Signal::Withdraw { .. }
            | Signal::Success(_)
            | Signal::Attach { .. } => {}
        }
    }

    /// The core knows where the UE is.
    fn on_path_switch_request(&mut self, cell: CellId, step: &mut Step<'_>) {
        let station = step.config.station(cell);
        if !step.is_connected || self.station(step.config, step.serving) != station {
            return;
        }
        let before = self.home;
        if before != station {
            self.switch(cell, step);
        }
        let to = Place::Station(station);
        self.tell(Signal::PathSwitched, [Place::Core, to], step);
        if step.config.interface == Interface::Core
            && let Some(left) = self.left.take()
        {
            let ends = [Place::Core, Place::Station(left)];
            self.tell(Signal::Release, ends, step);
        }
    }

    /// The core sends to the base station of `cell` from now on.
    fn switch(&mut self, cell: CellId, step: &mut Step<'_>) {
        let station = step.config.station(cell);
        if self.home != station {
            self.left = Some(self.home);
        }
        self.home = station;
        self.bicast = Bicast::new();
        step.act(Act::SwitchPath);
    }

    /// The target knows that the core has switched the path.
    fn on_path_switched(&mut self, step: &mut Step<'_>) {
        self.switch_at = Time::NEVER;
        let station = self.station(step.config, step.serving);
        if let Some(left) = self.left.take()
            && left != station
        {
            let ends = [station, left].map(Place::Station);
            self.tell(Signal::Release, ends, step);
        }
    }

    /// The target that was asked and has not answered.
    fn asked(&self) -> Option<CellId> {
        match self.preparation {
            Preparation::Requested { target, .. } => Some(target),
            _ => None,
        }
    }

    fn tell(&mut self, signal: Signal, ends: [Place; 2], step: &mut Step<'_>) {
        self.wire.tell(signal, ends, step);
    }
}

#[cfg(test)]
mod tests;
