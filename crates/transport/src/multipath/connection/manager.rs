//! Path manager. It opens, joins, announces, prioritises and removes paths, and stores the signals
//! for the peer that have not left.
//!
//! Standard: RFC 8684 §3.1, §3.2, §3.3.8, §3.4.

#[cfg(test)]
mod tests;

use super::repeats::Repeats;
use crate::multipath::{MultipathConfig, PathConfig, PathId};
use fadeout_core::{MptcpOption, Span, Time};

/// State of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The path was not opened yet.
    Idle,
    /// MP_CAPABLE or MP_JOIN was sent and not answered.
    Opening,
    /// MP_JOIN was answered. Data waits for the fourth packet (RFC 8684 section 3.2).
    Confirming,
    /// The path can carry data.
    Usable,
    /// The path was given up, reset or removed.
    Gone,
}

/// Action on a path that is due to open or to confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// Open the path with MP_CAPABLE or MP_JOIN.
    Open,
    /// Repeat the third packet of the MP_JOIN handshake.
    Confirm,
    /// Give the path up, because the third packet went unanswered as often as it may be sent.
    GiveUp,
}

#[derive(Debug)]
struct Managed {
    config: PathConfig,
    stage: Stage,
    /// Time to open the path or to repeat the confirmation. [`Time::NEVER`] if the path is not due.
    join_at: Time,
    /// True if the last packet of the handshake was sent with its MPTCP option.
    has_confirmed: bool,
    /// Number of repeats of MP_JOIN's third packet.
    confirmations: u32,
    /// Time of the next announcement of the path. Announcements are repeated until the peer's echo.
    announce_at: Time,
    /// True if the peer announced the path and this end has not sent the echo.
    owes_echo: bool,
    /// Index of the next configured change of priority.
    next_change: usize,
    /// True if the last change of priority has not been sent to the peer.
    owes_priority: bool,
    /// Repeats of the last change of priority.
    priority_repeats: Repeats,
    /// Repeats of the path's removal.
    removal_repeats: Repeats,
}

impl Managed {
    /// Returns the time of the next change of priority.
    fn changes_at(&self) -> Time {
        let changes = &self.config.backup_changes;
        changes
            .get(self.next_change)
            .copied()
            .unwrap_or(Time::NEVER)
    }
}

/// Limits of the path manager.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Time from the first segment of the peer to the first MP_JOIN.
    pub(super) join_delay: Span,
    /// Largest number of repeats of MP_JOIN's third packet.
    pub(super) most_confirmations: u32,
    /// Number of repeats of each MP_PRIO and each REMOVE_ADDR.
    pub(super) signal_repeats: u32,
}

impl Limits {
    pub(super) fn of(config: &MultipathConfig) -> Limits {
        Limits {
            join_delay: config.join_delay,
            most_confirmations: config.tcp.timers.maximum_retries,
            signal_repeats: config.signal_repeats,
        }
    }
}

/// Path manager of a connection. The paths are indexed by their numbers.
#[derive(Debug)]
pub(super) struct PathManager {
    paths: Vec<Managed>,
    is_opener: bool,
    /// True once the peer has sent a segment after its SYN.
    is_confirmed: bool,
    is_closing: bool,
    limits: Limits,
    /// Path whose removal has not been sent to the peer. `None` if there is none.
    to_remove: Option<PathId>,
    /// Path whose announcement has not been sent to the peer. `None` if there is none.
    to_announce: Option<PathId>,
}

impl PathManager {
    pub(super) fn new(paths: impl IntoIterator<Item = PathConfig>, limits: Limits) -> PathManager {
        let managed = |config| Managed {
            config,
            stage: Stage::Idle,
            join_at: Time::NEVER,
            has_confirmed: false,
            confirmations: 0,
            announce_at: Time::NEVER,
            owes_echo: false,
            next_change: 0,
            owes_priority: false,
            priority_repeats: Repeats::NONE,
            removal_repeats: Repeats::NONE,
        };
        PathManager {
            paths: paths.into_iter().map(managed).collect(),
            is_opener: false,
            is_confirmed: false,
            is_closing: false,
            limits,
            to_remove: None,
            to_announce: None,
        }
    }

    /// Marks this end as the opener of the connection.
    pub(super) fn be_opener(&mut self) {
        self.is_opener = true;
    }

    pub(super) fn is_opener(&self) -> bool {
        self.is_opener
    }

    /// Waits for the other end to open the connection, on any path.
    pub(super) fn listen(&mut self) {
        for path in &mut self.paths {
            path.stage = Stage::Opening;
        }
    }

    /// Records that MP_CAPABLE or MP_JOIN is sent on a path.
    pub(super) fn open(&mut self, index: usize) {
        self.paths[index].stage = Stage::Opening;
        self.paths[index].join_at = Time::NEVER;
    }

    /// Records that the connection closes. From then on no path is opened or announced.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        for path in &mut self.paths {
            path.join_at = Time::NEVER;
            path.announce_at = Time::NEVER;
            path.priority_repeats = Repeats::NONE;
            path.removal_repeats = Repeats::NONE;
        }
    }

    /// Records that a path is never opened. Does nothing if the path has been opened.
    pub(super) fn forgo_join(&mut self, index: usize) {
        let path = &mut self.paths[index];
        if path.stage == Stage::Idle {
            path.join_at = Time::NEVER;
        }
    }

    /// Records that the connection has one path only. No other path joins or is announced.
    pub(super) fn stay_alone(&mut self) {
        self.is_confirmed = true;
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Returns true if a path carries data.
    #[inline]
    pub(super) fn is_usable(&self, index: usize) -> bool {
        self.paths[index].stage == Stage::Usable
    }

    /// Returns true if a path carries data, or is the first path while it opens.
    pub(super) fn may_carry(&self, index: usize) -> bool {
        let stage = self.paths[index].stage;
        let is_opening = index == 0 && stage == Stage::Opening && self.is_opener;
        stage == Stage::Usable || is_opening
    }

    /// Returns true if a path has a socket. At the opening end the socket exists from the SYN on.
    /// At the other end it exists once the handshake is complete.
    pub(super) fn is_there(&self, index: usize) -> bool {
        match self.paths[index].stage {
            Stage::Idle | Stage::Gone => false,
            Stage::Opening | Stage::Confirming => self.is_opener,
            Stage::Usable => true,
        }
    }

    pub(super) fn is_gone(&self, index: usize) -> bool {
        self.paths[index].stage == Stage::Gone
    }

    pub(super) fn are_all_gone(&self) -> bool {
        self.paths.iter().all(|path| path.stage == Stage::Gone)
    }

    /// Returns true if additional paths of an established connection may join.
    pub(super) fn may_join(&self) -> bool {
        self.is_confirmed || !self.is_opener
    }

    /// Returns true if a path was opened and is not gone.
    pub(super) fn is_open(&self, index: usize) -> bool {
        !matches!(self.paths[index].stage, Stage::Gone | Stage::Idle)
    }

    pub(super) fn is_backup(&self, index: usize) -> bool {
        self.paths[index].config.backup
    }

    pub(super) fn set_backup(&mut self, index: usize, is_backup: bool) {
        self.paths[index].config.backup = is_backup;
    }

    /// Returns the time of the next action on a path.
    pub(super) fn wake_at(&self, index: usize) -> Time {
        let path = &self.paths[index];
        let repeats_at = (path.priority_repeats.at()).min(path.removal_repeats.at());
        let mut at = path.join_at.min(path.announce_at).min(repeats_at);
        if !self.is_closing {
            at = at.min(path.changes_at());
            if self.is_open(index) {
                at = at.min(path.config.until);
            }
        }
        at
    }

    /// Returns the action if a path opens or confirms now. `None` if neither is due. After a
    /// confirmation the caller sets the time of the next one.
    ///
    /// Standard: RFC 8684 §3.2.
    pub(super) fn due_join(&mut self, now: Time, index: usize) -> Option<Join> {
        let path = &mut self.paths[index];
        if path.join_at > now {
            return None;
        }
        if path.stage == Stage::Confirming {
            if path.confirmations >= self.limits.most_confirmations {
                return Some(Join::GiveUp);
            }
            path.has_confirmed = false;
            return Some(Join::Confirm);
        }
        self.open(index);
        Some(Join::Open)
    }

    /// Schedules the next repeat of MP_JOIN's third packet. Repeats end with the answer, or after
    /// as many repeats as a data segment would have.
    pub(super) fn confirm_again(&mut self, index: usize, at: Time) {
        let path = &mut self.paths[index];
        path.confirmations += 1;
        path.join_at = at;
    }

    /// Returns true if a path changes between backup and regular now, or if this signal is repeated
    /// now. `rto` returns the timeout of a path. MP_PRIO has no echo, so the peer may not learn of
    /// a change whose signals are all lost.
    ///
    /// Standard: RFC 8684 §3.3.8.
    pub(super) fn due_priority(
        &mut self,
        now: Time,
        index: usize,
        rto: impl Fn(usize) -> Span,
    ) -> bool {
        let path = &mut self.paths[index];
        let was = path.config.backup;
        while path.changes_at() <= now {
            path.next_change += 1;
            path.config.backup = !path.config.backup;
        }
        // Before the path has joined, the MP_JOIN itself carries the priority.
        let changes = path.config.backup != was && path.stage == Stage::Usable;
        let mut repeats = path.priority_repeats;
        let interval = || self.longest_rto(rto);
        let is_due = if changes {
            repeats = Repeats::begin(now, interval(), self.limits.signal_repeats);
            true
        } else {
            repeats.take_due(now, interval)
        };
        let path = &mut self.paths[index];
        path.priority_repeats = repeats;
        path.owes_priority |= is_due;
        is_due
    }

    /// Returns the longest retransmission timeout of the paths that carry data. `None` if no path
    /// does. `rto` returns the timeout of a path.
    pub(super) fn longest_rto(&self, rto: impl Fn(usize) -> Span) -> Option<Span> {
        let usable = (0..self.paths.len()).filter(|&path| self.is_usable(path));
        usable.map(rto).max()
    }

    /// Returns true if a path is announced now. The announcement is repeated until the peer's echo.
    /// The interval is the longest retransmission timeout of the paths that carry data. `rto`
    /// returns the timeout of a path.
    ///
    /// Standard: RFC 8684 §3.4.1.
    pub(super) fn due_announcement(
        &mut self,
        now: Time,
        index: usize,
        rto: impl Fn(usize) -> Span,
    ) -> bool {
        if self.paths[index].announce_at > now {
            return false;
        }
        let wait = self.longest_rto(rto);
        let path = &mut self.paths[index];
        let is_needless = self.is_closing || path.stage != Stage::Opening;
        path.announce_at = match wait {
            Some(wait) if !is_needless => now.saturating_add(wait),
            _ => Time::NEVER,
        };
        if !is_needless {
            self.to_announce = Some(PathId(index as u8));
        }
        !is_needless
    }

    /// Returns true if an open path has reached its configured end.
    pub(super) fn is_over(&self, now: Time, index: usize) -> bool {
        self.paths[index].config.until <= now && !self.is_closing && self.is_open(index)
    }

    /// Removes a path. Returns true if the path was not gone before.
    pub(super) fn lose(&mut self, index: usize) -> bool {
        let path = &mut self.paths[index];
        let was = std::mem::replace(&mut path.stage, Stage::Gone);
        path.join_at = Time::NEVER;
        path.announce_at = Time::NEVER;
        path.priority_repeats = Repeats::NONE;
        was != Stage::Gone
    }

    /// Schedules the signal that a path is removed, which only the opening end sends. Returns true
    /// if it is sent. REMOVE_ADDR has no echo. `rto` returns the timeout of a path, after which the
    /// signal is repeated.
    ///
    /// Standard: RFC 8684 §3.4.2.
    pub(super) fn schedule_removal(
        &mut self,
        now: Time,
        index: usize,
        rto: impl Fn(usize) -> Span,
    ) -> bool {
        if self.is_opener {
            self.to_remove = Some(PathId(index as u8));
            let repeats = self.limits.signal_repeats;
            let interval = self.longest_rto(rto);
            self.paths[index].removal_repeats = Repeats::begin(now, interval, repeats);
        }
        self.is_opener
    }

    /// Returns true if the signal that a path was removed is repeated now.
    pub(super) fn due_removal(
        &mut self,
        now: Time,
        index: usize,
        rto: impl Fn(usize) -> Span,
    ) -> bool {
        let mut repeats = self.paths[index].removal_repeats;
        let is_due = repeats.take_due(now, || self.longest_rto(rto));
        self.paths[index].removal_repeats = repeats;
        if is_due {
            self.to_remove = Some(PathId(index as u8));
        }
        is_due
    }

    /// Records that the peer announced a path or echoed this end's announcement. Returns true if an
    /// echo must be sent.
    pub(super) fn on_announcement(&mut self, now: Time, index: usize, is_echo: bool) -> bool {
        let Some(path) = self.paths.get_mut(index) else {
            return false;
        };
        if is_echo {
            path.announce_at = Time::NEVER;
            return false;
        }
        if self.is_opener && path.stage == Stage::Idle && path.join_at.is_never() {
            path.join_at = now + self.limits.join_delay;
        }
        path.owes_echo = true;
        true
    }

    /// Records a segment after the SYNs on an established path. `has_join`: true if it carried
    /// MP_JOIN. Returns true if the segment is acknowledged at once. The opener's first such
    /// segment lets the other paths join. Before this segment the peer may not have received the
    /// key in MP_CAPABLE's third packet (Linux `check_fully_established`).
    ///
    /// Standard: RFC 8684 §3.1, §3.2.
    pub(super) fn on_segment(&mut self, now: Time, index: usize, has_join: bool) -> bool {
        if self.is_opener && !self.is_confirmed {
            self.is_confirmed = true;
            self.join_others(now);
        }
        let path = &mut self.paths[index];
        match path.stage {
            Stage::Confirming => {
                path.stage = Stage::Usable;
                path.join_at = Time::NEVER;
                false
            }
            Stage::Usable => has_join,
            Stage::Opening if !self.is_opener => {
                path.stage = Stage::Usable;
                // The segment is the fourth packet of MP_JOIN. The opener may now send data on the
                // path.
                index > 0
            }
            _ => false,
        }
    }

    /// Records that the first path is established. The other paths are then announced.
    pub(super) fn on_established(&mut self, now: Time) {
        if self.is_opener {
            self.paths[0].stage = Stage::Usable;
            return;
        }
        for path in &mut self.paths[1..] {
            if path.config.announced {
                path.announce_at = now.max(path.config.from);
            }
        }
    }

    fn join_others(&mut self, now: Time) {
        let earliest = now + self.limits.join_delay;
        for path in &mut self.paths[1..] {
            if !path.config.announced {
                path.join_at = earliest.max(path.config.from);
            }
        }
    }

    /// Records that the peer answered MP_JOIN. The third packet is repeated at `again_at`.
    pub(super) fn on_join_answered(&mut self, index: usize, again_at: Time) {
        self.paths[index].stage = Stage::Confirming;
        self.paths[index].join_at = again_at;
    }

    /// Returns the option of a SYN on a path, and of the packet that completes its handshake.
    pub(super) fn handshake(&self, index: usize) -> MptcpOption {
        if index == 0 {
            MptcpOption::Capable
        } else {
            MptcpOption::Join {
                backup: self.is_backup(index),
            }
        }
    }

    /// Returns the option of an acknowledgment without data that is sent on a path. The option
    /// replaces the data sequence signal. `None` if there is nothing to signal.
    pub(super) fn signal(&mut self, index: usize) -> Option<MptcpOption> {
        let handshake = self.handshake(index);
        let is_opener = self.is_opener;
        let path = &mut self.paths[index];
        if is_opener && !path.has_confirmed {
            path.has_confirmed = true;
            return Some(handshake);
        }
        if std::mem::take(&mut path.owes_priority) {
            let backup = path.config.backup;
            return Some(MptcpOption::Priority { backup });
        }
        let announced = |path: u8, is_echo| MptcpOption::AddAddress { path, is_echo };
        if let Some(owes) = self.paths.iter().position(|path| path.owes_echo) {
            self.paths[owes].owes_echo = false;
            return Some(announced(owes as u8, true));
        }
        if let Some(new) = self.to_announce.take() {
            return Some(announced(new.0, false));
        }
        let gone = self.to_remove.take()?;
        Some(MptcpOption::RemoveAddress { path: gone.0 })
    }
}
