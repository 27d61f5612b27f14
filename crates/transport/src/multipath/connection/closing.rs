//! Close of a connection: the DATA_FIN and its acknowledgment, the subflows' FINs, and the refusal
//! of paths that join too late.
//!
//! Standard: RFC 8684 §3.3.3, §3.6.

use super::{MultipathConnection, PathId, PathOutbox};
use crate::tcp::{AppCommand, AppEvent, ConnectionState};
use fadeout_core::{Flags, MptcpOption, Probe, Segment, Time};

/// Reason of a reset: an error of MPTCP (Linux `MPTCP_RST_EMPTCP`).
const MPTCP_ERROR: u8 = 1;
/// Reason of a reset: the subflow is prohibited (Linux `MPTCP_RST_EPROHIBIT`).
const PROHIBITED: u8 = 3;

impl MultipathConnection {
    /// Returns true if the application has closed and its last write is complete.
    pub(super) fn has_closed(&self) -> bool {
        self.outbound.is_finishing() && self.socket.has_written(&self.outbound)
    }

    /// Returns true if the application has closed, no path is open, and so none will ever be.
    pub(super) fn is_stranded(&self) -> bool {
        let is_open = |index| self.manager.is_open(index);
        self.is_established && self.has_closed() && !(0..self.paths.len()).any(is_open)
    }

    /// Lets segments carry the DATA_FIN once the data is handed over. With Linux's scheduler all
    /// data must be bound to paths, and an acknowledgment with the DATA_FIN is then sent on each
    /// path (`mptcp_check_send_data_fin`). With other schedulers the data must have been offered to
    /// the paths. A DATA_FIN that no data segment carries is then sent on the best path.
    pub(super) fn send_data_fin(&mut self, now: Time, out: &mut PathOutbox) {
        if !self.is_established || !self.outbound.is_finishing() {
            return;
        }
        let is_bound = self.socket.has_bound(&self.outbound);
        if is_bound && self.outbound.enable_fin() && self.socket.closes_on_all_paths() {
            self.acknowledge_on_all(now, out);
        }
        if self.outbound.owes_fin() {
            self.acknowledge_on_best(now, out);
        }
    }

    fn acknowledge_on_all(&mut self, now: Time, out: &mut PathOutbox) {
        for index in 0..self.paths.len() {
            if self.manager.is_usable(index) {
                self.acknowledge(now, index, out);
            }
        }
    }

    /// Acknowledges the DATA_FIN after `segment` was processed on path `index`. The outputs of this
    /// step begin at `from`. `was_finished`: true if the DATA_FIN was in order before. Linux then
    /// acknowledges on all paths at once (`mptcp_check_data_fin`). A DATA_FIN that arrives before
    /// the data is not acknowledged.
    pub(super) fn acknowledge_data_fin(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        (was_finished, from): (bool, usize),
        out: &mut PathOutbox,
    ) {
        if self.has_fallen_back || !self.inbound.is_finished() {
            return;
        }
        let is_bare =
            segment.len == 0 && matches!(segment.mptcp, MptcpOption::Dss(dss) if dss.data_fin);
        if was_finished || !self.socket.closes_on_all_paths() {
            if is_bare {
                self.acknowledge(now, index, out);
            }
            return;
        }
        for path in 0..self.paths.len() {
            let id = PathId(path as u8);
            let has_left = out.segments[from..].iter().any(|(on, _)| *on == id);
            if self.manager.is_usable(path) && !has_left {
                self.acknowledge(now, path, out);
            }
        }
    }

    /// Resets a path whose handshake would be completed by `segment` after the application has
    /// closed. Returns true if the path was reset (Linux `mptcp_finish_join`,
    /// `mptcp_can_accept_new_subflow`).
    ///
    /// Standard: RFC 8684 §3.6.
    pub(super) fn refuse_join(
        &mut self,
        index: usize,
        segment: &Segment,
        out: &mut PathOutbox,
    ) -> bool {
        let joins = matches!(segment.mptcp, MptcpOption::Join { .. });
        let reason = match self.paths[index].tcp.state() {
            ConnectionState::SynSent => MPTCP_ERROR,
            ConnectionState::SynReceived if !segment.flags.has(Flags::SYN) => PROHIBITED,
            _ => return false,
        };
        if !joins || segment.flags.has(Flags::RST) || !self.has_closed() {
            return false;
        }
        self.paths[index].tcp.refuse(segment, &mut self.scratch);
        for mut outgoing in self.scratch.segments.drain(..) {
            outgoing.segment.mptcp = MptcpOption::Reset { reason };
            out.segments.push((PathId(index as u8), outgoing));
        }
        self.lose_path(index);
        true
    }

    /// Runs the close: DATA_FIN, its acknowledgment, then the subflows' FINs.
    ///
    /// Standard: RFC 8684 §3.3.3.
    pub(super) fn follow_close(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        if self.is_closed || !self.is_established {
            return;
        }
        let is_done = self.outbound.is_fin_acknowledged() && self.inbound.is_finished();
        if is_done && !self.manager.is_closing() {
            self.close_subflows(now, out, probe);
        }
        let is_over = |state| {
            matches!(
                state,
                ConnectionState::Closed | ConnectionState::TimeWait | ConnectionState::Listen
            )
        };
        let mut subflows = self.paths.iter();
        if self.manager.is_closing() && subflows.all(|path| is_over(path.tcp.state())) {
            self.outbound.set_timer(Time::NEVER);
            self.report(AppEvent::Closed, out);
        }
    }

    pub(super) fn close_subflows(
        &mut self,
        now: Time,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        self.manager.close();
        for index in 0..self.paths.len() {
            if self.manager.is_open(index) {
                self.command(now, index, AppCommand::Close, out, probe);
            }
        }
    }

    /// Repeats DATA_FIN on every path, because some paths may have failed without notice. If the
    /// peer never answers, the connection is given up as in TCP.
    pub(super) fn repeat_data_fin(&mut self, now: Time, out: &mut PathOutbox) {
        if self.outbound.repeat_fin(now) {
            self.acknowledge_on_all(now, out);
            return;
        }
        for index in 0..self.paths.len() {
            self.lose_path(index);
        }
        self.report(AppEvent::Aborted, out);
    }
}
