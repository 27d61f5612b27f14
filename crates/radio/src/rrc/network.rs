//! Mobility procedures of base stations and the core for one UE. The source requests a handover,
//! and the target accepts or refuses it. The core switches the path. After a failure, the new cell
//! fetches the UE's context.
//!
//! [`Network`] receives messages and times, and returns its decisions as [`Effect`]s. [`Network`]
//! does not use the radio, bearers or links. The executor carries out the effects.
//!
//! Standard: TS 36.423 §8.2; TS 36.413 §8.4; TS 38.423 §8.2; TS 38.413 §8.4.

mod steps;
mod wire;

use super::backhaul::{NetworkMessages, NetworkNode, NetworkSignal};
use super::candidacy::Candidacy;
use super::effect::{Effect, REPEAT, ReportEffect, Step, UeEffect};
use crate::config::{BicastStart, DataForwarding, Interface, MobilityConfig};
use fadeout_core::{CellId, RrcEvent, Span, Time};
use std::collections::VecDeque;

/// Network side of a UE's mobility.
#[derive(Debug)]
pub(crate) struct Network {
    /// Base station to which the core sends the UE's data.
    home: u32,
    /// Base station to which the core sent data before. `None` after that base station was asked to
    /// release the UE's context.
    left: Option<u32>,
    preparation: Preparation,
    /// Target cell that decides about the handover request, and the time of the decision.
    admission: Option<(CellId, Time)>,
    /// Time at which the core switches the path, or at which the path switch request is repeated.
    switch_at: Time,
    bicast: Bicast,
    wire: NetworkMessages,
    /// State of conditional handovers.
    pub(crate) candidacy: Candidacy,
}

/// State of a handover at the source: the next step that the source waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Preparation {
    /// No handover is under way.
    Idle,
    /// The source waits for the target's answer. With fixed delays the answer arrives at `at`. Over
    /// simulated links the source waits until `at`.
    Requested { target: CellId, at: Time },
    /// The source will send the handover command at this time. The core already sends data to both
    /// base stations.
    Bicasting { target: CellId, at: Time },
    /// The source waits for the departure of the UE, until this time.
    Commanded { until: Time },
}

/// State of bicast, in which the core sends a UE's data to two base stations.
#[derive(Debug)]
struct Bicast {
    /// Target cell and time of the source's request to the core. `None` if no request is planned.
    request_at: Option<(CellId, Time)>,
    /// Requests that travel to the core with a fixed delay: arrival time and target cell. A request
    /// with `None` instead of a cell ends bicast.
    requests: VecDeque<(Time, Option<CellId>)>,
    /// Time at which bicast ends, unless the path is switched before. `None` without bicast.
    until: Option<Time>,
}

impl Bicast {
    fn new() -> Bicast {
        Bicast {
            request_at: None,
            requests: VecDeque::new(),
            until: None,
        }
    }

    fn wake_at(&self) -> Time {
        let request_at = self.request_at.map(|(_, at)| at);
        let arrives_at = self.requests.front().map(|&(at, _)| at);
        let times = [request_at, arrives_at, self.until];
        times.into_iter().flatten().min().unwrap_or(Time::NEVER)
    }

    /// Removes and returns the next request that has reached the core by now. `None` if there is
    /// none.
    fn take_request(&mut self, now: Time) -> Option<(Time, Option<CellId>)> {
        let is_there = self.requests.front().is_some_and(|&(at, _)| at <= now);
        is_there.then(|| self.requests.pop_front()).flatten()
    }
}

impl Network {
    /// Returns the state of a UE whose data the core sends to base station `home`.
    pub(crate) fn new(home: u32) -> Network {
        Network {
            home,
            left: None,
            preparation: Preparation::Idle,
            admission: None,
            switch_at: Time::NEVER,
            bicast: Bicast::new(),
            wire: NetworkMessages::default(),
            candidacy: Candidacy::new(),
        }
    }

    /// Returns the base station to which the core sends the UE's data.
    pub(crate) fn home(&self) -> u32 {
        self.home
    }

    /// Records that base station `home` has the context of a UE that was idle.
    pub(crate) fn set_home(&mut self, home: u32) {
        (self.home, self.left) = (home, None);
    }

    /// True if the core sends the UE's data to the base station of this cell.
    pub(crate) fn is_home(&self, config: &MobilityConfig, cell: CellId) -> bool {
        config.station(cell) == self.home
    }

    /// Returns the base station of the UE's serving cell. Without a serving cell the function
    /// returns the base station to which the core sends the UE's data.
    pub(crate) fn station(&self, config: &MobilityConfig, serving: Option<CellId>) -> u32 {
        serving.map_or(self.home, |cell| config.station(cell))
    }

    /// True if a handover or a path switch is under way.
    pub(crate) fn is_busy(&self) -> bool {
        let is_under_way = self.preparation != Preparation::Idle || !self.switch_at.is_never();
        is_under_way || self.candidacy.is_finishing()
    }

    /// True if a handover is being prepared, or if a handover command was sent to the UE.
    pub(crate) fn is_preparing(&self) -> bool {
        self.preparation != Preparation::Idle
    }

    /// Returns the time of the next action.
    pub(crate) fn wake_at(&self) -> Time {
        let of_source = match self.preparation {
            Preparation::Idle => Time::NEVER,
            Preparation::Requested { at, .. } | Preparation::Bicasting { at, .. } => at,
            Preparation::Commanded { until } => until,
        };
        let admission = self.admission.map_or(Time::NEVER, |(_, at)| at);
        of_source
            .min(admission)
            .min(self.switch_at)
            .min(self.bicast.wake_at())
            .min(self.candidacy.wake_at())
    }

    /// Cancels the path switch request of the target, because the link to the UE is lost.
    pub(crate) fn on_link_lost(&mut self) {
        self.switch_at = Time::NEVER;
        self.candidacy.on_link_lost();
    }

    /// Cancels the handover under way, because another procedure begins.
    pub(crate) fn cancel_handover(&mut self) {
        self.preparation = Preparation::Idle;
        self.wire.cancel_all();
    }

    /// Ends the preparation, because the UE is in a cell.
    pub(crate) fn on_entered(&mut self) {
        self.preparation = Preparation::Idle;
    }

    /// Sends the handover request of the source to the target.
    fn request_handover(&mut self, (source, target): (CellId, CellId), step: &mut Step<'_>) {
        let procedure = &step.config.procedure;
        let at = if step.config.exchange_over_links(source, target) {
            self.wire.cancel_all();
            let ends = [source, target].map(|cell| step.node_of(cell));
            self.send(NetworkSignal::Request(target), ends, step);
            step.after(procedure.preparation)
        } else {
            let there_and_back = step.config.station_delay(source, target) * 2;
            step.after(there_and_back + step.admission(target))
        };
        self.preparation = Preparation::Requested { target, at };
    }

    /// Handles the target's acceptance at the source. The source commands the UE, or requests
    /// bicast before the command.
    fn on_accepted(&mut self, target: CellId, step: &mut Step<'_>) {
        match step.bicast_to(target) {
            Some(BicastStart::Before(span)) => {
                self.request_bicast(target, step);
                let at = step.after(span);
                self.preparation = Preparation::Bicasting { target, at };
                self.on_source_due(step);
            }
            _ => step.push(Effect::Accepted(target)),
        }
    }

    /// Records that the source commands the UE to `target`, and starts the wait for its departure.
    fn on_command(&mut self, target: CellId, step: &Step<'_>) {
        let until = step.after(step.config.procedure.overall);
        self.preparation = Preparation::Commanded { until };
        if let Some(BicastStart::After(span)) = step.bicast_to(target) {
            self.bicast.request_at = Some((target, step.after(span)));
        }
    }

    /// Requests bicast to `target` from the core.
    fn request_bicast(&mut self, target: CellId, step: &mut Step<'_>) {
        let source = self.station(step.config, step.serving);
        match step.config.has_links() {
            true => {
                let ends = [NetworkNode::Station(source), NetworkNode::Core];
                self.send(NetworkSignal::Bicast(target), ends, step);
            }
            false => {
                let at = step.after(step.config.procedure.core_delay);
                self.bicast.requests.push_back((at, Some(target)));
            }
        }
    }

    /// Requests the end of bicast from the core, because the UE stays in the source.
    fn request_bicast_end(&mut self, step: &mut Step<'_>) {
        self.bicast.request_at = None;
        if !matches!(step.config.data, DataForwarding::Bicast(_)) {
            return;
        }
        match step.config.has_links() {
            true => {
                let ends = [NetworkNode::Station(self.home), NetworkNode::Core];
                self.send(NetworkSignal::BicastEnd, ends, step);
            }
            false => {
                let at = step.after(step.config.procedure.core_delay);
                self.bicast.requests.push_back((at, None));
            }
        }
    }

    /// Handles a bicast request at the core. Starts bicast to `target`, or ends bicast if `target`
    /// is `None`.
    fn on_bicast_request(&mut self, target: Option<CellId>, step: &mut Step<'_>) {
        let target = target.filter(|&cell| step.config.station(cell) != self.home);
        if self.bicast.until.is_some() {
            self.bicast.until = None;
            step.push(Effect::EndBicast);
        }
        if let Some(target) = target {
            self.bicast.until = Some(step.after(step.config.procedure.overall));
            step.push(Effect::StartBicast(target));
        }
    }

    /// Sends the status transfer with the sequence numbers from the source to the target, before
    /// the forwarded data.
    ///
    /// Standard: TS 36.423 §8.2.2; TS 38.423 §8.2.2.
    fn send_status_transfer(&mut self, (source, target): (CellId, CellId), step: &mut Step<'_>) {
        if step.config.exchange_over_links(source, target) && step.config.forwards() {
            let ends = [source, target].map(|cell| step.node_of(cell));
            self.send(NetworkSignal::StatusTransfer, ends, step);
        }
    }

    /// Handles an expired timer of the source. The source waited for the target's answer or for the
    /// UE's departure.
    pub(crate) fn on_source_due(&mut self, step: &mut Step<'_>) {
        match self.preparation {
            Preparation::Requested { target, at } if at <= step.now => {
                let Some(source) = step.serving else {
                    return self.cancel_handover();
                };
                if step.config.exchange_over_links(source, target) {
                    self.cancel_handover();
                    Network::end_preparation(target, RrcEvent::PreparationExpired, step);
                } else {
                    self.preparation = Preparation::Idle;
                    match step.has_room(target) {
                        true => self.on_accepted(target, step),
                        false => {
                            Network::end_preparation(target, RrcEvent::HandoverRefused, step);
                        }
                    }
                }
            }
            Preparation::Bicasting { target, at } if at <= step.now => {
                self.preparation = Preparation::Idle;
                step.push(Effect::Accepted(target));
            }
            Preparation::Commanded { until } if until <= step.now => {
                self.preparation = Preparation::Idle;
                Network::cancel_command(step);
                self.request_bicast_end(step);
            }
            _ => {}
        }
    }

    /// Carries out the decision of the target and the actions of the core that are due.
    pub(crate) fn on_due(&mut self, step: &mut Step<'_>) {
        self.on_bicast_due(step);
        self.candidacy.on_due(step);
        if let Some((target, at)) = self.admission
            && at <= step.now
        {
            self.admission = None;
            self.decide_admission(target, step);
        }
        if self.switch_at <= step.now {
            self.switch_at = Time::NEVER;
            match step.serving {
                Some(cell) if step.config.has_links() => self.request_path_switch(cell, step),
                Some(cell) => self.switch(cell, step),
                None => {}
            }
        }
    }

    /// Sends the source's bicast request if it is due. Starts or ends bicast at the core if that is
    /// due.
    fn on_bicast_due(&mut self, step: &mut Step<'_>) {
        if let Some((target, _)) = self.bicast.request_at.take_if(|(_, at)| *at <= step.now) {
            self.request_bicast(target, step);
        }
        while let Some((_, request)) = self.bicast.take_request(step.now) {
            self.on_bicast_request(request, step);
        }
        if self.bicast.until.is_some_and(|at| at <= step.now) {
            self.on_bicast_request(None, step);
        }
    }

    /// Handles the decision of the target about a handover request.
    fn decide_admission(&mut self, target: CellId, step: &mut Step<'_>) {
        if self.requested_target() != Some(target) {
            return;
        }
        let answer = match step.has_room(target) {
            true => NetworkSignal::Acknowledge(target),
            false => NetworkSignal::Refuse(target),
        };
        let source = NetworkNode::Station(self.station(step.config, step.serving));
        self.send(answer, [step.node_of(target), source], step);
    }

    /// Requests a path switch from the core, which still sends the UE's data to another base
    /// station.
    fn request_path_switch(&mut self, cell: CellId, step: &mut Step<'_>) {
        let after = match step.config.has_links() {
            false => step.config.procedure.core_delay,
            true => {
                step.push(ReportEffect::RecordEvent(
                    Some(cell),
                    RrcEvent::PathSwitchRequest,
                ));
                let ends = [step.node_of(cell), NetworkNode::Core];
                self.send(NetworkSignal::PathSwitch(cell), ends, step);
                REPEAT
            }
        };
        self.switch_at = step.after(after);
    }

    /// Fetches the UE's context after a failure, for the cell that the UE selected. Returns the
    /// time at which the context arrives, or [`Time::NEVER`] if simulated links carry the context.
    pub(crate) fn fetch_context(&mut self, cell: CellId, step: &mut Step<'_>) -> Time {
        let is_home = self.is_home(step.config, cell);
        if step.config.has_links() && !is_home {
            step.push(ReportEffect::RecordEvent(
                Some(cell),
                RrcEvent::ContextRequest,
            ));
            let ends = [step.node_of(cell), NetworkNode::Station(self.home)];
            self.send(NetworkSignal::ContextRequest, ends, step);
            return Time::NEVER;
        }
        if is_home {
            self.request_bicast_end(step);
        }
        let delay = match is_home {
            true => Span::ZERO,
            false => step.config.fixed_delay() * 2,
        };
        let from = self.home;
        step.push(Effect::ForwardData { from, cell, delay });
        step.after(delay)
    }

    /// Handles a message that has arrived over links.
    pub(crate) fn on_message(&mut self, number: u64, step: &mut Step<'_>) {
        let Some(message) = self.wire.take_arrived(number) else {
            return self.candidacy.on_message(number, step);
        };
        if message.next != message.to {
            // The message has reached the core, which forwards it to its destination.
            let route = [message.to; 2];
            return self
                .wire
                .send_hop(message.signal, message.next, route, step);
        }
        match message.signal {
            NetworkSignal::Request(target)
            | NetworkSignal::Acknowledge(target)
            | NetworkSignal::Refuse(target)
                if self.requested_target() != Some(target) => {}
            NetworkSignal::Request(target) => {
                self.admission = Some((target, step.after(step.admission(target))));
            }
            NetworkSignal::Acknowledge(target) => self.on_accepted(target, step),
            NetworkSignal::Refuse(target) => {
                self.preparation = Preparation::Idle;
                Network::end_preparation(target, RrcEvent::HandoverRefused, step);
            }
            // The simulator uses the same PDCP entity in both cells, so no sequence numbers need to
            // be copied.
            NetworkSignal::StatusTransfer => {}
            NetworkSignal::Bicast(target) => self.on_bicast_request(Some(target), step),
            NetworkSignal::BicastEnd => self.on_bicast_request(None, step),
            NetworkSignal::PathSwitch(cell) => self.on_path_switch_request(cell, step),
            NetworkSignal::PathSwitched => self.on_path_switched(step),
            NetworkSignal::Release => {
                step.push(ReportEffect::RecordEvent(None, RrcEvent::ContextReleased));
            }
            NetworkSignal::ContextRequest => {
                if let Some(cell) = step.fetching {
                    let (from, delay) = (self.home, Span::ZERO);
                    step.push(Effect::ForwardData { from, cell, delay });
                    let ends = [message.to, step.node_of(cell)];
                    self.send(NetworkSignal::Context, ends, step);
                }
            }
            NetworkSignal::Context if step.fetching.is_some() => step.push(UeEffect::HasContext),
            NetworkSignal::Context
            | NetworkSignal::EarlyStatus
            | NetworkSignal::Cancel { .. }
            | NetworkSignal::Withdraw { .. }
            | NetworkSignal::Success(_)
            | NetworkSignal::Attach { .. } => {}
        }
    }

    /// Handles a path switch request at the core.
    fn on_path_switch_request(&mut self, cell: CellId, step: &mut Step<'_>) {
        let station = step.config.station(cell);
        if !step.is_connected || self.station(step.config, step.serving) != station {
            return;
        }
        let before = self.home;
        if before != station {
            self.switch(cell, step);
        }
        let to = NetworkNode::Station(station);
        self.send(NetworkSignal::PathSwitched, [NetworkNode::Core, to], step);
        if step.config.interface == Interface::Core
            && let Some(left) = self.left.take()
        {
            let ends = [NetworkNode::Core, NetworkNode::Station(left)];
            self.send(NetworkSignal::Release, ends, step);
        }
    }

    /// Switches the core's path to the base station of `cell`.
    fn switch(&mut self, cell: CellId, step: &mut Step<'_>) {
        let station = step.config.station(cell);
        if self.home != station {
            self.left = Some(self.home);
        }
        self.home = station;
        self.bicast = Bicast::new();
        step.push(Effect::SwitchPath);
    }

    /// Handles the path switch acknowledgment at the target.
    fn on_path_switched(&mut self, step: &mut Step<'_>) {
        self.switch_at = Time::NEVER;
        let station = self.station(step.config, step.serving);
        if let Some(left) = self.left.take()
            && left != station
        {
            let ends = [station, left].map(NetworkNode::Station);
            self.send(NetworkSignal::Release, ends, step);
        }
    }

    /// Returns the target whose answer is awaited. `None` if there is none.
    fn requested_target(&self) -> Option<CellId> {
        match self.preparation {
            Preparation::Requested { target, .. } => Some(target),
            _ => None,
        }
    }

    fn send(&mut self, signal: NetworkSignal, ends: [NetworkNode; 2], step: &mut Step<'_>) {
        self.wire.send_between(signal, ends, step);
    }
}

#[cfg(test)]
mod tests;
