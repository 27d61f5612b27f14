//! Paths that open, join, fail, return and go; and the close of the whole.

use super::path::Stage;
use super::{MultipathConnection, PathOutbox};
use crate::multipath::PathId;
use crate::multipath::reinjection::Stranded;
use crate::tcp::{AppCommand, AppEvent, ConnectionState};
use fadeout_core::{Flags, MptcpOption, Probe, Segment, Time};

/// Most data that the connection's timer sends again at once, bytes: about what a stack gives a
/// subflow in one piece.
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
        self.change_priority(now, index, out);
        if self.paths[index].announce_at <= now {
            self.announce(now, index, out);
        }
        let stage = self.paths[index].stage;
        let is_over = self.paths[index].config.until <= now;
        if is_over && !self.is_closing && !matches!(stage, Stage::Gone | Stage::Idle) {
            self.lose_path(index);
            self.give_up_if_over(out);
            if self.is_opener {
                self.to_remove = Some(PathId(index as u8));
                self.acknowledge_on_best(now, out);
            }
        }
    }

    /// A path whose priority changes now becomes a backup, or a regular path again, and the peer is
    /// told.
    ///
    /// Standard: RFC 8684 §3.3.8.
    fn change_priority(&mut self, now: Time, index: usize, out: &mut PathOutbox) {
        let path = &mut self.paths[index];
        let was = path.config.backup;
        while path.changes_at() <= now {
            path.next_change += 1;
            path.config.backup = !path.config.backup;
        }
        // Before the path joins its MP_JOIN says it.
        if path.config.backup != was && path.stage == Stage::Usable {
            path.tells_priority = true;
            self.acknowledge(now, index, out);
        }
    }

    /// Tells the opening end of a path, and again each timeout until it has heard.
    ///
    /// Standard: RFC 8684 §3.4.1.
    fn announce(&mut self, now: Time, index: usize, out: &mut PathOutbox) {
        let usable = self.paths.iter().filter(|path| path.stage == Stage::Usable);
        let wait = usable.map(|path| path.view().rto).max();
        let is_needless = self.is_closing || self.paths[index].stage != Stage::Opening;
        self.paths[index].announce_at = match wait {
            Some(wait) if !is_needless => now.saturating_add(wait),
            _ => Time::NEVER,
        };
        if !is_needless {
            self.to_announce = Some(PathId(index as u8));
            self.acknowledge_on_best(now, out);
        }
    }

    /// The peer announced path `path`, or heard our announcement.
    pub(super) fn on_announcement(
        &mut self,
        now: Time,
        index: usize,
        path: usize,
        is_echo: bool,
        out: &mut PathOutbox,
    ) {
        let Some(announced) = self.paths.get_mut(path) else {
            return;
        };
        if is_echo {
            announced.announce_at = Time::NEVER;
            return;
        }
        if self.is_opener && announced.stage == Stage::Idle && announced.join_at.is_never() {
            announced.join_at = now + self.config.join_delay;
        }
        announced.owes_echo = true;
        self.acknowledge(now, index, out);
    }

    /// The peer ended the whole connection.
    ///
    /// Standard: RFC 8684 §3.5.
    pub(super) fn on_fast_close(&mut self, out: &mut PathOutbox) {
        for index in 0..self.paths.len() {
            self.lose_path(index);
        }
        self.data_timer_at = Time::NEVER;
        self.report(AppEvent::Aborted, out);
    }

    /// A path was lost: without any, or before the connection was opened, which no other path may
    /// join, nothing is left of it.
    fn give_up_if_over(&mut self, out: &mut PathOutbox) {
        if !self.is_established || self.paths.iter().all(|path| path.stage == Stage::Gone) {
            self.report(AppEvent::Aborted, out);
        }
    }

    /// A path is of no use any more: others carry what it had not delivered.
    pub(super) fn lose_path(&mut self, index: usize) {
        if self.paths[index].stage != Stage::Gone {
            if self.queues.is_some() {
                self.paths[index].waiting.clear();
                self.paths[index].waiting_bytes = 0;
                self.bind_anew();
            } else {
                self.strand(index);
            }
            self.paths[index].stage = Stage::Gone;
            self.paths[index].join_at = Time::NEVER;
            self.paths[index].announce_at = Time::NEVER;
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
        if self.queues.is_some() {
            return;
        }
        let view = self.paths[index].view();
        let path = &mut self.paths[index];
        let was = std::mem::replace(&mut path.timeouts_in_a_row, view.timeouts_in_a_row);
        if view.timeouts_in_a_row > was && !path.is_stranded {
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
                let mss = self.paths[0].tcp.window().mss;
                self.window.on_established(now, mss);
                self.report(event, out);
                if self.is_opener {
                    self.paths[0].stage = Stage::Usable;
                    let earliest = now + self.config.join_delay;
                    for path in &mut self.paths[1..] {
                        if !path.config.announced {
                            path.join_at = earliest.max(path.config.from);
                        }
                    }
                } else {
                    for path in &mut self.paths[1..] {
                        if path.config.announced {
                            path.announce_at = now.max(path.config.from);
                        }
                    }
                }
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

    /// The close: DATA_FIN, its acknowledgment, then the subflows' FINs.
    ///
    /// Standard: RFC 8684 §3.3.3.
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
            self.paths[index].announce_at = Time::NEVER;
            if !matches!(self.paths[index].stage, Stage::Gone | Stage::Idle) {
                self.command(now, index, AppCommand::Close, out, probe);
            }
        }
    }

    /// Says DATA_FIN again on every path, as one may have lost the peer without a word, and doubles
    /// the wait (Linux `mptcp_set_datafin_timeout`). A peer that stays silent is given up as in TCP.
    fn repeat_data_fin(&mut self, now: Time, out: &mut PathOutbox) {
        let tcp = &self.config.tcp;
        if self.fin_repeats >= tcp.maximum_retries {
            for index in 0..self.paths.len() {
                self.lose_path(index);
            }
            self.report(AppEvent::Aborted, out);
            return;
        }
        self.fin_repeats += 1;
        let longest = tcp.maximum_rto.max(tcp.minimum_rto);
        let wait = (1..self.fin_repeats).fold(tcp.minimum_rto, |wait, _| (wait * 2).min(longest));
        self.data_timer_at = now.saturating_add(wait);
        for index in 0..self.paths.len() {
            if self.paths[index].stage == Stage::Usable {
                self.acknowledge(now, index, out);
            }
        }
    }

    /// Data stayed unacknowledged for a timeout: says DATA_FIN again, or sends the head of the
    /// line on a path that has nothing to do.
    pub(super) fn on_data_timer(&mut self, now: Time, out: &mut PathOutbox) {
        self.data_timer_at = Time::NEVER;
        if self.data_una != self.data_una_then {
            return;
        }
        if self.fin_sent && self.data_una == self.data_end {
            self.repeat_data_fin(now, out);
            return;
        }
        if self.queues.is_some() {
            self.on_queues_timer(now);
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
