//! Opening, joining, failure and removal of paths.

use super::manager::Join;
use super::outbound::Expiry;
use super::path::{PathsView, rto_of};
use super::{MultipathConnection, PathOutbox};
use crate::tcp::{AppCommand, AppEvent, ConnectionState};
use fadeout_core::{Flags, MptcpOption, Probe, Segment, Time};

impl MultipathConnection {
    /// Runs the due actions of a path: opening, a change of priority, an announcement, or removal.
    pub(super) fn move_path(
        &mut self,
        now: Time,
        index: usize,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        if self.has_closed() {
            self.manager.forgo_join(index);
        }
        match self.manager.due_join(now, index) {
            Some(Join::Open) => self.command(now, index, AppCommand::Connect, out, probe),
            Some(Join::Confirm) => {
                self.acknowledge(now, index, out);
                let again_at = self.paths[index].tcp.sender().join_repeats_at(now);
                self.manager.confirm_again(index, again_at);
            }
            Some(Join::GiveUp) => {
                self.lose_path(index);
                self.give_up_if_over(out);
            }
            None => {}
        }
        if self.manager.due_priority(now, index, rto_of(&self.paths)) {
            self.acknowledge(now, index, out);
        }
        if (self.manager).due_announcement(now, index, rto_of(&self.paths)) {
            self.acknowledge_on_best(now, out);
        }
        if self.manager.is_over(now, index) {
            self.lose_path(index);
            self.give_up_if_over(out);
            if (self.manager).schedule_removal(now, index, rto_of(&self.paths)) {
                self.acknowledge_on_best(now, out);
            }
        }
        if self.manager.due_removal(now, index, rto_of(&self.paths)) {
            self.acknowledge_on_best(now, out);
        }
    }

    /// Ends the connection after the peer ended it by `segment` on path `index`. The other subflows
    /// are reset. The subflow of an acknowledgment is reset, too (Linux `mptcp_check_fastclose`). A
    /// segment that the subflow does not accept has no effect.
    ///
    /// Standard: RFC 8684 §3.5.
    pub(super) fn on_fast_close(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        let next = self.paths[index].view().rcv_nxt;
        let is_reset = segment.flags.has(Flags::RST);
        if segment.seq < next || (is_reset && segment.seq != next) {
            return;
        }
        if is_reset {
            self.lose_path(index);
        }
        for path in 0..self.paths.len() {
            if self.manager.is_usable(path) {
                self.command(now, path, AppCommand::Abort, out, probe);
            }
            self.lose_path(path);
        }
        self.outbound.set_timer(Time::NEVER);
        self.report(AppEvent::Aborted, out);
    }

    /// Gives the connection up after the loss of a path, if no path is left. Also gives it up if no
    /// other path may join yet, or if none may join any more because the application has closed.
    fn give_up_if_over(&mut self, out: &mut PathOutbox) {
        let others_may_join = self.is_established && self.manager.may_join();
        if !others_may_join || self.is_stranded() || self.manager.are_all_gone() {
            self.report(AppEvent::Aborted, out);
        }
    }

    /// Removes a path that cannot be used any more. Other paths carry its undelivered data.
    pub(super) fn lose_path(&mut self, index: usize) {
        if !self.manager.lose(index) {
            return;
        }
        let una = self.outbound.una();
        let path = &mut self.paths[index];
        self.socket.drop_path(index, una, &path.mappings);
        path.tcp.vanish();
    }

    /// Advances the handshake of a path after a segment was processed.
    pub(super) fn follow_handshake(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        out: &mut PathOutbox,
    ) {
        let state = self.paths[index].tcp.state();
        if state != ConnectionState::Established || segment.flags.has(Flags::SYN) {
            return;
        }
        let has_join = matches!(segment.mptcp, MptcpOption::Join { .. });
        if self.manager.on_segment(now, index, has_join) {
            self.acknowledge(now, index, out);
        }
    }

    /// Processes an event of a subflow.
    pub(super) fn on_subflow_event(
        &mut self,
        now: Time,
        index: usize,
        event: AppEvent,
        out: &mut PathOutbox,
    ) {
        match event {
            AppEvent::Established if index == 0 => {
                self.is_established = true;
                self.inbound.on_established(now);
                self.report(event, out);
                self.manager.on_established(now);
            }
            AppEvent::Established if self.manager.is_opener() => {
                let again_at = self.paths[index].tcp.sender().join_repeats_at(now);
                self.manager.on_join_answered(index, again_at);
            }
            AppEvent::Aborted => {
                self.lose_path(index);
                self.give_up_if_over(out);
            }
            AppEvent::Established
            | AppEvent::AllAcknowledged
            | AppEvent::PeerClosed
            | AppEvent::Closed => {}
        }
    }

    /// Handles an expiry of the connection's timer. Repeats DATA_FIN, or retransmits the head of
    /// the line on an idle path.
    pub(super) fn on_data_timer(&mut self, now: Time, out: &mut PathOutbox) {
        match self.outbound.on_timer() {
            Expiry::Progress => {}
            Expiry::FinOutstanding => self.repeat_data_fin(now, out),
            Expiry::Stalled => {
                let view = PathsView {
                    paths: &self.paths,
                    manager: &self.manager,
                };
                if let Some(at) = self.socket.on_stalled(now, &self.outbound, &view) {
                    self.outbound.set_timer(at);
                }
            }
        }
    }
}
