//! What base stations and the core do about one UE: the source asks the target, the target decides, the
//! core switches the path, a cell after a failure fetches the context.
//!
//! [`Network`] is told of messages and of time, and says what follows in [`Act`]s. It knows no radio, no
//! bearer and no link: whoever carries out its acts does.
//!
//! Standard: TS 36.423 §8.2; TS 36.413 §8.4; TS 38.423 §8.2; TS 38.413 §8.4.

use super::backhaul::{Place, Signal, Wire};
use crate::config::{Interface, MobilityConfig, Signalling};
use fadeout_core::{CellId, RrcEvent, Span, Time};
use std::collections::VecDeque;

/// When the core is asked again for a path whose first request was lost: SCTP's least time to a
/// retransmission.
///
/// Standard: RFC 9260 §16.
const REPEAT: Span = Span::from_secs(1);

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
    wire: Wire,
}

/// The step of a handover's preparation that its source waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preparation {
    /// No handover is under way.
    Idle,
    /// The target's answer: at this time, or over links until then.
    Requested { target: CellId, at: Time },
    /// The UE's leaving, until this time.
    Commanded { until: Time },
}

/// What follows from a step of the network.
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
    /// The core sends to this base station from now on.
    SwitchPath,
    /// The base station that had the UE sends its data to that of this cell, which takes so long where it
    /// is given.
    MoveData { cell: CellId, given: Span },
    /// The cell has the UE's context.
    HasContext,
    /// Something happened that has a row: about this cell, or about the serving one.
    Note(Option<CellId>, RrcEvent),
}

/// A step: what it is told, and where it says what follows.
pub(crate) struct Step<'a> {
    pub now: Time,
    pub config: &'a MobilityConfig,
    /// UEs in each cell.
    pub loads: &'a [u32],
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
    fn after(&self, span: Span) -> Time {
        self.now.saturating_add(span)
    }

    fn place_of(&self, cell: CellId) -> Place {
        Place::Station(self.config.station(cell))
    }

    fn has_room(&self, target: CellId) -> bool {
        self.config.has_room(self.loads[target.index()])
    }

    fn act(&mut self, act: Act) {
        self.acts.push_back(act);
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
            wire: Wire::default(),
        }
    }

    /// Base station that the core's path leads to.
    pub(crate) fn home(&self) -> u32 {
        self.home
    }

    /// Base station of the UE's cell, or of the last one.
    pub(crate) fn station(&self, config: &MobilityConfig, serving: Option<CellId>) -> u32 {
        serving.map_or(self.home, |cell| config.station(cell))
    }

    /// Whether a handover or a switch of the path is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.preparation != Preparation::Idle || !self.switch_at.is_never()
    }

    /// When something is to be done next.
    pub(crate) fn wake_at(&self) -> Time {
        let of_source = match self.preparation {
            Preparation::Idle => Time::NEVER,
            Preparation::Requested { at, .. } => at,
            Preparation::Commanded { until } => until,
        };
        let admission = self.admission.map_or(Time::NEVER, |(_, at)| at);
        of_source.min(admission).min(self.switch_at)
    }

    /// The link to the UE is lost: the target does not ask for a path any more.
    pub(crate) fn on_link_lost(&mut self) {
        self.switch_at = Time::NEVER;
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

    /// The source tells the UE to leave, and waits for that.
    pub(crate) fn on_command(&mut self, step: &Step<'_>) {
        let until = step.after(step.config.procedure.overall);
        self.preparation = Preparation::Commanded { until };
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
                    step.act(match step.has_room(target) {
                        true => Act::Accepted(target),
                        false => Act::Refused(target),
                    });
                }
            }
            Preparation::Commanded { until } if until <= step.now => {
                self.preparation = Preparation::Idle;
                step.act(Act::GivenUp);
            }
            _ => {}
        }
    }

    /// The target may have decided, and the core be due.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
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
        let is_home = step.config.station(cell) == self.home;
        if step.config.has_links() && !is_home {
            step.act(Act::Note(Some(cell), RrcEvent::ContextRequest));
            let ends = [step.place_of(cell), Place::Station(self.home)];
            self.tell(Signal::ContextRequest, ends, step);
            return Time::NEVER;
        }
        let given = match is_home {
            true => Span::ZERO,
            false => step.config.given_delay() * 2,
        };
        step.act(Act::MoveData { cell, given });
        step.after(given)
    }

    /// A message has come over links.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) {
        let Some(wired) = self.wire.take(number) else {
            return;
        };
        if wired.next != wired.to {
            // The core passes it on.
            return self.post(wired.signal, wired.next, [wired.to; 2], step);
        }
        match wired.signal {
            Signal::Request(target) | Signal::Acknowledge(target) | Signal::Refuse(target)
                if self.asked() != Some(target) => {}
            Signal::Request(target) => {
                self.admission = Some((target, step.after(step.config.procedure.admission)));
            }
            Signal::Acknowledge(target) => step.act(Act::Accepted(target)),
            Signal::Refuse(target) => {
                self.preparation = Preparation::Idle;
                step.act(Act::Refused(target));
            }
            // PDCP's numbers are the same entity's here.
            Signal::StatusTransfer => {}
            Signal::PathSwitch(cell) => self.on_path_switch_request(cell, step),
            Signal::PathSwitched => self.on_path_switched(step),
            Signal::Release => step.act(Act::Note(None, RrcEvent::ContextReleased)),
            Signal::ContextRequest => {
                if let Some(cell) = step.fetching {
                    let given = Span::ZERO;
                    step.act(Act::MoveData { cell, given });
                    let ends = [wired.to, step.place_of(cell)];
                    self.tell(Signal::Context, ends, step);
                }
            }
            Signal::Context if step.fetching.is_some() => step.act(Act::HasContext),
            Signal::Context => {}
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
            Preparation::Idle | Preparation::Commanded { .. } => None,
        }
    }

    /// Sends a message from base station to base station, or to or from the core.
    fn tell(&mut self, signal: Signal, [from, to]: [Place; 2], step: &mut Step<'_>) {
        let Signalling::Links { strangers } = &step.config.signalling else {
            return;
        };
        let next = match (from, to) {
            (Place::Station(one), Place::Station(other))
                if step.config.interface == Interface::Core
                    || strangers.contains(&(one, other)) =>
            {
                Place::Core
            }
            _ => to,
        };
        self.post(signal, from, [next, to], step);
    }

    fn post(&mut self, signal: Signal, from: Place, way: [Place; 2], step: &mut Step<'_>) {
        let number = *step.next_message;
        *step.next_message += 1;
        self.wire.send(number, signal, way);
        let ([to, _], size) = (way, signal.size());
        step.act(Act::Send {
            number,
            from,
            to,
            size,
        });
    }
}

#[cfg(test)]
mod tests;
