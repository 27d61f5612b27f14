//! Paths that open, join, fail, return and go; and the close of the whole.

use super::path::Stage;
use super::{MultipathConnection, PathOutbox};
use crate::multipath::PathId;
use crate::multipath::reinjection::Stranded;
use crate::tcp::{AppCommand, AppEvent, ConnectionState};
use fadeout_core::{Flags, MptcpOption, Probe, Segment, Time};

/// Timeouts in a row after which Linux calls a subflow stale (`net.mptcp.stale_loss_cnt`).
pub(super) const STALE_TIMEOUTS: u32 = 4;
/// Most data that the connection's timer sends again at once, bytes (Linux retransmits one
/// fragment of the write queue at a time, at most this large).
const DATA_TIMER_BYTES: u64 = 65_428;

impl MultipathConnection {
    /// Sends MP_CAPABLE or MP_JOIN on a path.
    pub(super) fn open(
        &mut self,
        now: Time,
        index: usize,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        self.paths[index].stage = Stage::Opening;
        self.paths[index].join_at = Time::NEVER;
        self.command(now, index, AppCommand::Connect, out, probe);
    }

    /// Opens a path whose time has come, and takes leave of one whose time is over.
    pub(super) fn move_path(
        &mut self,
        now: Time,
        index: usize,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        if self.paths[index].join_at <= now {
            if self.paths[index].stage == Stage::Confirming {
                // RFC 8684 section 3.2: MP_JOIN's third packet is repeated until it is answered.
                self.paths[index].has_confirmed = false;
                self.acknowledge(now, index, out);
                let wait = self.paths[index].view().rto;
                self.paths[index].join_at = now.saturating_add(wait);
            } else {
                self.open(now, index, out, probe);
            }
        }
        let stage = self.paths[index].stage;
        let is_over = self.paths[index].config.until <= now;
        if is_over && !self.is_closing && !matches!(stage, Stage::Gone | Stage::Idle) {
            self.lose_path(index);
            if self.is_opener {
                self.to_remove = Some(PathId(index as u8));
                self.acknowledge_on_best(now, out);
            }
        }
    }

    /// A path is of no use any more: others carry what it had not delivered.
    pub(super) fn lose_path(&mut self, index: usize) {
        if self.paths[index].stage != Stage::Gone {
            self.strand(index);
            self.paths[index].stage = Stage::Gone;
            self.paths[index].join_at = Time::NEVER;
            self.paths[index].tcp.vanish();
        }
    }

    /// Hands what path `index` has outstanding to the others.
    pub(super) fn strand(&mut self, index: usize) {
        let path = &self.paths[index];
        for mapping in &path.sent {
            if mapping.data_end() > self.data_una {
                self.reinjection.add(Stranded {
                    start: mapping.data_seq,
                    end: mapping.data_end(),
                    from: path.id,
                });
            }
        }
        self.paths[index].is_stranded = true;
    }

    /// Notes timeouts of a subflow and its return.
    pub(super) fn follow_timeouts(&mut self, index: usize) {
        let view = self.paths[index].view();
        let patience = if self.config.scheduler.is_upstream() {
            STALE_TIMEOUTS
        } else {
            1
        };
        let path = &mut self.paths[index];
        let was = std::mem::replace(&mut path.timeouts_in_a_row, view.timeouts_in_a_row);
        if view.timeouts_in_a_row > was && view.timeouts_in_a_row >= patience && !path.is_stranded {
            self.strand(index);
        } else if view.timeouts_in_a_row == 0 && path.is_stranded && path.stage != Stage::Gone {
            path.is_stranded = false;
            let id = path.id;
            self.reinjection.forget(id);
        }
    }

    /// What a segment that was just processed means for the path's handshake.
    pub(super) fn follow_handshake(
        &mut self,
        now: Time,
        index: usize,
        segment: &Segment,
        out: &mut PathOutbox,
    ) {
        let path = &mut self.paths[index];
        if path.tcp.state() != ConnectionState::Established || segment.flags.has(Flags::SYN) {
            return;
        }
        match path.stage {
            Stage::Confirming => {
                path.stage = Stage::Usable;
                path.join_at = Time::NEVER;
            }
            Stage::Usable if matches!(segment.mptcp, MptcpOption::Join { .. }) => {
                self.acknowledge(now, index, out);
            }
            Stage::Opening if !self.is_opener => {
                path.stage = Stage::Usable;
                if index > 0 {
                    // The fourth packet of MP_JOIN: the opener may send data now.
                    self.acknowledge(now, index, out);
                }
            }
            _ => {}
        }
    }

    /// A subflow reported an event.
    pub(super) fn on_subflow_event(
        &mut self,
        now: Time,
        index: usize,
        event: AppEvent,
        out: &mut PathOutbox,
    ) {
        match event {
            AppEvent::Established if self.is_opener && index > 0 => {
                let wait = self.paths[index].view().rto;
                let path = &mut self.paths[index];
                path.stage = Stage::Confirming;
                path.join_at = now.saturating_add(wait);
            }
            AppEvent::Established if index == 0 => {
                self.is_established = true;
                self.report(event, out);
                if self.is_opener {
                    self.paths[0].stage = Stage::Usable;
                    let earliest = now + self.config.join_delay;
                    for path in &mut self.paths[1..] {
                        path.join_at = earliest.max(path.config.from);
                    }
                }
            }
            AppEvent::Aborted => {
                self.lose_path(index);
                if self.paths.iter().all(|path| path.stage == Stage::Gone) {
                    self.report(AppEvent::Aborted, out);
                }
            }
            AppEvent::Established
            | AppEvent::AllAcknowledged
            | AppEvent::PeerClosed
            | AppEvent::Closed => {}
        }
    }

    /// The close: DATA_FIN, its acknowledgment, then the subflows' FINs (RFC 8684 section 3.3.3).
    pub(super) fn follow_close(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        if self.is_closed || !self.is_established {
            return;
        }
        let fin_is_acked = self.fin_sent && self.data_una > self.data_end;
        if fin_is_acked && self.peer_has_closed && !self.is_closing {
            self.close_subflows(now, out, probe);
        }
        let is_done = |state| {
            matches!(
                state,
                ConnectionState::Closed | ConnectionState::TimeWait | ConnectionState::Listen
            )
        };
        if self.is_closing && self.paths.iter().all(|path| is_done(path.tcp.state())) {
            self.data_timer_at = Time::NEVER;
            self.report(AppEvent::Closed, out);
        }
    }

    pub(super) fn close_subflows(
        &mut self,
        now: Time,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        self.is_closing = true;
        for index in 0..self.paths.len() {
            self.paths[index].join_at = Time::NEVER;
            if !matches!(self.paths[index].stage, Stage::Gone | Stage::Idle) {
                self.command(now, index, AppCommand::Close, out, probe);
            }
        }
    }

    /// Data stayed unacknowledged for a timeout: says DATA_FIN again, or sends the head of the
    /// line on a path that has nothing to do (Linux `__mptcp_retrans`).
    pub(super) fn on_data_timer(&mut self, now: Time, out: &mut PathOutbox) {
        self.data_timer_at = Time::NEVER;
        if self.data_una != self.data_una_then {
            return;
        }
        if self.fin_sent && self.data_una == self.data_end {
            self.acknowledge_on_best(now, out);
            return;
        }
        let is_idle = |path: &super::Path| {
            path.stage == Stage::Usable && path.sent.is_empty() && !path.is_stranded
        };
        if !self.paths.iter().any(is_idle) {
            return;
        }
        let una = self.data_una;
        let holder = self
            .paths
            .iter()
            .find(|path| path.mapping_of(una).is_some());
        let Some(holder) = holder else { return };
        let mut end = una;
        for mapping in &holder.sent {
            if mapping.data_seq <= end && mapping.data_end() > end && end < una + DATA_TIMER_BYTES {
                end = mapping.data_end();
            }
        }
        self.reinjection.add(Stranded {
            start: una,
            end,
            from: holder.id,
        });
    }
}
