//! What base stations and the core tell each other about a UE: after given times, or over links of the
//! caller.

use super::managed::{Managed, note_cell};
use super::mobility::Move;
use crate::bearer::{Fate, Way};
use crate::config::{DataForwarding, Env, Interface, Signalling};
use crate::rrc::backhaul::{Place, Signal};
use crate::rrc::mobility::{Preparation, Stage};
use fadeout_core::{CellId, HandoverOutcome, LinkInfo, Probe, RrcEvent, Span, Time};

/// When the core is asked again for a path whose first request was lost: SCTP's least time to a
/// retransmission.
///
/// Standard: RFC 9260 §16.
const REPEAT: Span = Span::from_secs(1);

/// What base stations and the core do about a UE.
pub(super) struct Network<'a, 'm> {
    of: &'a mut Managed<'m>,
}

impl<'m> Managed<'m> {
    /// The network's part.
    pub(super) fn network(&mut self) -> Network<'_, 'm> {
        Network { of: self }
    }
}

impl Network<'_, '_> {
    /// Base station of the UE's cell, or of the last one.
    pub(super) fn station(&self) -> u32 {
        let cell = self.of.service.stack.serving_cell(self.of.ue);
        cell.map_or(self.of.state.home, |cell| {
            self.of.config.stations[cell.index()]
        })
    }

    /// Those are told who ask about the UE's link.
    pub(super) fn inform(&mut self, info: LinkInfo) {
        let ue = self.of.ue;
        self.of.moves.push(Move::Told { ue, info });
    }

    /// Whether downlink data that the source has not sent is forwarded.
    fn forwards(&self) -> bool {
        self.of.config.data == DataForwarding::Forwarded
    }

    fn has_links(&self) -> bool {
        matches!(self.of.config.signalling, Signalling::Links { .. })
    }

    /// One way between the base stations of two cells, where it is given.
    fn station_delay(&self, one: CellId, other: CellId) -> Span {
        match self.of.is_one_station(one, other) {
            true => Span::ZERO,
            false => self.given_delay(),
        }
    }

    fn given_delay(&self) -> Span {
        let config = self.of.config;
        config.procedure.between_stations(config.interface)
    }

    /// What becomes of downlink data at one base station while the UE comes to another: where the time of
    /// forwarding is given, it is this.
    fn fate(&self, from: u32, to: u32, given: Span) -> Fate {
        let way = match self.has_links() {
            true => Way::Links { to },
            false => Way::After(given),
        };
        match from == to || self.forwards() {
            true => Fate::Forwarded(way),
            false => Fate::Dropped,
        }
    }

    /// What becomes of it while the UE is commanded from one cell to the other.
    pub(super) fn fate_between(&self, one: CellId, other: CellId) -> Fate {
        let stations = [one, other].map(|cell| self.of.config.stations[cell.index()]);
        self.fate(stations[0], stations[1], self.station_delay(one, other))
    }

    /// Whether base stations of two cells speak over links.
    fn speak_over_links(&self, one: CellId, other: CellId) -> bool {
        self.has_links() && !self.of.is_one_station(one, other)
    }

    /// Sends a message from base station to base station, or to or from the core.
    fn tell(&mut self, signal: Signal, from: Place, to: Place) {
        let Signalling::Links { strangers } = &self.of.config.signalling else {
            return;
        };
        let next = match (from, to) {
            (Place::Station(one), Place::Station(other))
                if self.of.config.interface == Interface::Core
                    || strangers.contains(&(one, other)) =>
            {
                Place::Core
            }
            _ => to,
        };
        self.post(signal, from, [next, to]);
    }

    fn post(&mut self, signal: Signal, from: Place, way: [Place; 2]) {
        let number = *self.of.next_message;
        *self.of.next_message += 1;
        self.of.state.wire.send(number, signal, way);
        let [to, _] = way;
        self.of.moves.push(Move::Message {
            ue: self.of.ue,
            number,
            from,
            to,
            size: signal.size(),
        });
    }

    /// The source asks the target. When the answer is there, or is given up.
    pub(super) fn ask_target(
        &mut self,
        (source, target): (CellId, CellId),
        env: &Env<'_, impl Probe>,
    ) -> Time {
        let procedure = &self.of.config.procedure;
        if !self.speak_over_links(source, target) {
            let there_and_back = self.station_delay(source, target) * 2;
            return env.now.saturating_add(there_and_back + procedure.admission);
        }
        let until = env.now.saturating_add(procedure.preparation);
        let stations = [source, target].map(|cell| self.of.config.stations[cell.index()]);
        let [from, to] = stations.map(Place::Station);
        self.of.state.wire.begin_anew();
        self.tell(Signal::Request(target), from, to);
        until
    }

    /// From the request to the command, where nothing holds messages up.
    pub(super) fn usual_preparation(&self) -> Span {
        self.given_delay() * 2 + self.of.config.procedure.admission
    }

    /// The source tells the target of the sequence numbers ahead of what it forwards.
    ///
    /// Standard: TS 36.423 §8.2.2; TS 38.423 §8.2.2.
    pub(super) fn transfer_status(&mut self, (source, target): (CellId, CellId)) {
        if self.speak_over_links(source, target) && self.forwards() {
            let stations = [source, target].map(|cell| self.of.config.stations[cell.index()]);
            let [from, to] = stations.map(Place::Station);
            self.tell(Signal::StatusTransfer, from, to);
        }
    }

    /// The answer of the target is due.
    pub(super) fn on_answer_due(&mut self, target: CellId, env: &mut Env<'_, impl Probe>) {
        let Some(source) = self.of.service.stack.serving_cell(self.of.ue) else {
            return;
        };
        if !self.speak_over_links(source, target) {
            return match self.of.has_room(target) {
                true => self.of.command(target, env),
                false => self.of.on_refusal(target, env),
            };
        }
        self.of.state.preparation = Preparation::Idle;
        self.of.state.wire.begin_anew();
        self.inform(LinkInfo::BlockageEnded);
        note_cell((self.of.ue, target), RrcEvent::PreparationExpired, env);
        self.of.fail_row(HandoverOutcome::Cancelled, env);
    }

    /// The target has a request, and decides.
    pub(super) fn admit(&mut self, target: CellId) {
        if !matches!(self.of.state.preparation, Preparation::Requested { target: of, .. } if of == target)
        {
            return;
        }
        let answer = match self.of.has_room(target) {
            true => Signal::Acknowledge(target),
            false => Signal::Refuse(target),
        };
        let from = Place::Station(self.of.config.stations[target.index()]);
        self.tell(answer, from, Place::Station(self.station()));
    }

    /// The UE is in a cell of another base station than the core sends to.
    pub(super) fn ask_core(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let after = match self.has_links() {
            false => self.of.config.procedure.core_delay,
            true => {
                note_cell((self.of.ue, cell), RrcEvent::PathSwitchRequest, env);
                let from = Place::Station(self.of.config.stations[cell.index()]);
                self.tell(Signal::PathSwitch(cell), from, Place::Core);
                REPEAT
            }
        };
        self.of.state.switch_at = env.now.saturating_add(after);
    }

    /// The core switches the path, or has not answered.
    pub(super) fn on_switch_due(&mut self, env: &mut Env<'_, impl Probe>) {
        self.of.state.switch_at = Time::NEVER;
        match self.of.service.stack.serving_cell(self.of.ue) {
            Some(cell) if self.has_links() => self.ask_core(cell, env),
            _ => self.of.switch_path(env),
        }
    }

    /// The cell that a UE has come to after a failure fetches its context. When it has it, where that is
    /// given.
    pub(super) fn fetch_context(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) -> Time {
        let station = self.of.config.stations[cell.index()];
        let home = self.of.state.home;
        if self.has_links() && station != home {
            note_cell((self.of.ue, cell), RrcEvent::ContextRequest, env);
            let [from, to] = [station, home].map(Place::Station);
            self.tell(Signal::ContextRequest, from, to);
            return Time::NEVER;
        }
        let fetch = match station == home {
            true => Span::ZERO,
            false => self.given_delay() * 2,
        };
        self.move_data(cell, fetch, env);
        env.now.saturating_add(fetch)
    }

    /// The base station that had the UE sends its data to `cell`.
    fn move_data(&mut self, cell: CellId, given: Span, env: &mut Env<'_, impl Probe>) {
        let to = self.of.config.stations[cell.index()];
        let fate = self.fate(self.of.state.home, to, given);
        self.of.stop(fate, env);
    }

    /// A message has come over links.
    pub(super) fn on_wired(&mut self, number: u64, env: &mut Env<'_, impl Probe>) {
        let Some(wired) = self.of.state.wire.take(number) else {
            return;
        };
        if wired.next != wired.to {
            // The core passes it on.
            return self.post(wired.signal, wired.next, [wired.to; 2]);
        }
        let asked = match self.of.state.preparation {
            Preparation::Requested { target, .. } => Some(target),
            Preparation::Idle | Preparation::Commanded { .. } => None,
        };
        let is_asked = |target| asked == Some(target);
        match wired.signal {
            Signal::Request(target) if is_asked(target) => {
                let admission = self.of.config.procedure.admission;
                self.of.state.admission = Some((target, env.now.saturating_add(admission)));
            }
            Signal::Acknowledge(target) if is_asked(target) => self.of.command(target, env),
            Signal::Refuse(target) if is_asked(target) => self.of.on_refusal(target, env),
            // PDCP's numbers are the same entity's here.
            Signal::StatusTransfer => {}
            Signal::Request(_) | Signal::Acknowledge(_) | Signal::Refuse(_) => {}
            Signal::PathSwitch(cell) => self.on_path_switch_request(cell, env),
            Signal::PathSwitched => self.on_path_switched(),
            Signal::Release => self.of.note(RrcEvent::ContextReleased, env),
            Signal::ContextRequest => {
                if let Stage::Fetching { leg, .. } = self.of.state.stage {
                    let cell = self.of.service.stack.legs[leg.index()].config.cell;
                    self.move_data(cell, Span::ZERO, env);
                    let to = self.of.config.stations[cell.index()];
                    self.tell(Signal::Context, wired.to, Place::Station(to));
                }
            }
            Signal::Context => {
                if let Stage::Fetching { leg, .. } = self.of.state.stage {
                    self.of.note(RrcEvent::Reestablished, env);
                    self.of.enter(leg, env);
                }
            }
        }
    }

    /// The core knows where the UE is.
    fn on_path_switch_request(&mut self, cell: CellId, env: &mut Env<'_, impl Probe>) {
        let station = self.of.config.stations[cell.index()];
        if !self.of.state.is_connected() || self.station() != station {
            return;
        }
        let left = self.of.state.home;
        if left != station {
            self.of.switch_path(env);
        }
        self.tell(Signal::PathSwitched, Place::Core, Place::Station(station));
        if self.of.config.interface == Interface::Core && left != station {
            self.tell(Signal::Release, Place::Core, Place::Station(left));
        }
    }

    /// The target knows that the core has switched the path.
    fn on_path_switched(&mut self) {
        self.of.state.switch_at = Time::NEVER;
        let left = self.of.state.row.as_ref().map(|row| row.source);
        if let Some(left) = left.filter(|_| self.of.config.interface == Interface::Direct) {
            let [from, to] = [self.station(), self.of.config.stations[left.index()]];
            if from != to {
                self.tell(Signal::Release, Place::Station(from), Place::Station(to));
            }
        }
    }
}
