//! Which paths there are: when each opens, joins, is announced, changes its priority and goes, and what
//! the peer has yet to be told of it.
//!
//! Standard: RFC 8684 §3.1, §3.2, §3.3.8, §3.4.

#[cfg(test)]
mod tests;

use crate::multipath::{PathConfig, PathId};
use fadeout_core::{MptcpOption, Span, Time};

/// How far a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not opened.
    Idle,
    /// MP_CAPABLE or MP_JOIN is on its way.
    Opening,
    /// MP_JOIN was answered; data waits for the fourth packet (RFC 8684 section 3.2).
    Confirming,
    /// Carries data.
    Usable,
    /// Gave up, was reset or removed.
    Gone,
}

/// How a path starts when its time comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// It opens.
    Open,
    /// MP_JOIN's third packet goes again.
    Confirm,
    /// It has gone as often as it may: the peer does not hear this path.
    GiveUp,
}

#[derive(Debug)]
struct Managed {
    config: PathConfig,
    stage: Stage,
    /// When to open it, or to confirm again; [`Time::NEVER`] while the connection does not know.
    join_at: Time,
    /// The handshake's last packet, with its option, has left.
    has_confirmed: bool,
    /// How often MP_JOIN's third packet was repeated.
    confirmations: u32,
    /// When to announce it; again until the echo.
    announce_at: Time,
    /// The peer announced it and has yet to hear so.
    owes_echo: bool,
    /// Number of the next of the configured changes of priority.
    next_change: usize,
    /// The peer has yet to be told of the last.
    tells_priority: bool,
}

impl Managed {
    /// When its priority changes next.
    fn changes_at(&self) -> Time {
        let changes = &self.config.backup_changes;
        changes
            .get(self.next_change)
            .copied()
            .unwrap_or(Time::NEVER)
    }
}

/// The paths of a connection, by their numbers.
#[derive(Debug)]
pub(super) struct PathManager {
    paths: Vec<Managed>,
    is_opener: bool,
    /// The peer has sent something behind its SYN.
    is_confirmed: bool,
    is_closing: bool,
    join_delay: Span,
    /// How often MP_JOIN's third packet is repeated.
    most_confirmations: u32,
    /// A path whose removal the peer has yet to be told.
    to_remove: Option<PathId>,
    /// A path whose existence the peer has yet to be told.
    to_announce: Option<PathId>,
}

impl PathManager {
    pub(super) fn new(
        paths: impl IntoIterator<Item = PathConfig>,
        join_delay: Span,
        most_confirmations: u32,
    ) -> PathManager {
        let managed = |config| Managed {
            config,
            stage: Stage::Idle,
            join_at: Time::NEVER,
            has_confirmed: false,
            confirmations: 0,
            announce_at: Time::NEVER,
            owes_echo: false,
            next_change: 0,
            tells_priority: false,
        };
        PathManager {
            paths: paths.into_iter().map(managed).collect(),
            is_opener: false,
            is_confirmed: false,
            is_closing: false,
            join_delay,
            most_confirmations,
            to_remove: None,
            to_announce: None,
        }
    }

    /// This end opens the connection.
    pub(super) fn be_opener(&mut self) {
        self.is_opener = true;
    }

    pub(super) fn is_opener(&self) -> bool {
        self.is_opener
    }

    /// The other end opens it, on any path.
    pub(super) fn listen(&mut self) {
        for path in &mut self.paths {
            path.stage = Stage::Opening;
        }
    }

    /// MP_CAPABLE or MP_JOIN leaves on a path.
    pub(super) fn open(&mut self, index: usize) {
        self.paths[index].stage = Stage::Opening;
        self.paths[index].join_at = Time::NEVER;
    }

    /// The subflows close: no path comes any more.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
        for path in &mut self.paths {
            path.join_at = Time::NEVER;
            path.announce_at = Time::NEVER;
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing
    }

    /// Whether a path carries data.
    #[inline]
    pub(super) fn is_usable(&self, index: usize) -> bool {
        self.paths[index].stage == Stage::Usable
    }

    /// Whether a path carries data, or is the first one, on its way to do so.
    pub(super) fn may_carry(&self, index: usize) -> bool {
        let stage = self.paths[index].stage;
        let is_opening = index == 0 && stage == Stage::Opening && self.is_opener;
        stage == Stage::Usable || is_opening
    }

    /// Whether a path has a socket: who opened it from its SYN on, the other once it is complete.
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

    /// Whether further paths of an established connection may join.
    pub(super) fn may_join(&self) -> bool {
        self.is_confirmed || !self.is_opener
    }

    /// Whether a path was opened and did not go.
    pub(super) fn is_open(&self, index: usize) -> bool {
        !matches!(self.paths[index].stage, Stage::Gone | Stage::Idle)
    }

    pub(super) fn is_backup(&self, index: usize) -> bool {
        self.paths[index].config.backup
    }

    pub(super) fn set_backup(&mut self, index: usize, is_backup: bool) {
        self.paths[index].config.backup = is_backup;
    }

    /// When something of a path is due.
    pub(super) fn wake_at(&self, index: usize) -> Time {
        let path = &self.paths[index];
        let mut at = path.join_at.min(path.announce_at);
        if !self.is_closing {
            at = at.min(path.changes_at());
            if self.is_open(index) {
                at = at.min(path.config.until);
            }
        }
        at
    }

    /// Whether a path opens or confirms now; after a confirmation the caller says when to repeat it.
    ///
    /// Standard: RFC 8684 §3.2.
    pub(super) fn due_join(&mut self, now: Time, index: usize) -> Option<Join> {
        let path = &mut self.paths[index];
        if path.join_at > now {
            return None;
        }
        if path.stage == Stage::Confirming {
            if path.confirmations >= self.most_confirmations {
                return Some(Join::GiveUp);
            }
            path.has_confirmed = false;
            return Some(Join::Confirm);
        }
        self.open(index);
        Some(Join::Open)
    }

    /// MP_JOIN's third packet is repeated until it is answered, or was as often as data would be.
    pub(super) fn confirm_again(&mut self, index: usize, at: Time) {
        let path = &mut self.paths[index];
        path.confirmations += 1;
        path.join_at = at;
    }

    /// Whether a path becomes a backup now, or a regular path again, and the peer must be told.
    ///
    /// Standard: RFC 8684 §3.3.8.
    pub(super) fn due_priority(&mut self, now: Time, index: usize) -> bool {
        let path = &mut self.paths[index];
        let was = path.config.backup;
        while path.changes_at() <= now {
            path.next_change += 1;
            path.config.backup = !path.config.backup;
        }
        // Before the path joins its MP_JOIN says it.
        let is_told = path.config.backup != was && path.stage == Stage::Usable;
        path.tells_priority |= is_told;
        is_told
    }

    /// Whether a path is announced now, and again each timeout until the peer has heard: the longest of
    /// those that carry data, `rto` being a path's.
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
        let usable = (0..self.paths.len()).filter(|&other| self.is_usable(other));
        let wait = usable.map(rto).max();
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

    /// Whether the time of a path that is open is over.
    pub(super) fn is_over(&self, now: Time, index: usize) -> bool {
        self.paths[index].config.until <= now && !self.is_closing && self.is_open(index)
    }

    /// A path goes. Returns whether it had not gone before.
    pub(super) fn lose(&mut self, index: usize) -> bool {
        let path = &mut self.paths[index];
        let was = std::mem::replace(&mut path.stage, Stage::Gone);
        path.join_at = Time::NEVER;
        path.announce_at = Time::NEVER;
        was != Stage::Gone
    }

    /// The opening end tells the other of a path that went. Returns whether it has to.
    ///
    /// Standard: RFC 8684 §3.4.2.
    pub(super) fn tell_removal(&mut self, index: usize) -> bool {
        if self.is_opener {
            self.to_remove = Some(PathId(index as u8));
        }
        self.is_opener
    }

    /// The peer announced a path, or heard our announcement. Returns whether it must hear so.
    pub(super) fn on_announcement(&mut self, now: Time, index: usize, is_echo: bool) -> bool {
        let Some(path) = self.paths.get_mut(index) else {
            return false;
        };
        if is_echo {
            path.announce_at = Time::NEVER;
            return false;
        }
        if self.is_opener && path.stage == Stage::Idle && path.join_at.is_never() {
            path.join_at = now + self.join_delay;
        }
        path.owes_echo = true;
        true
    }

    /// A segment behind the SYNs came on a path that is established; it had MP_JOIN, or not. Returns
    /// whether it is acknowledged at once. The opener's first one lets the others join: before it, the peer
    /// may not have had the key of MP_CAPABLE's third packet (Linux `check_fully_established`).
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
                // The fourth packet of MP_JOIN: the opener may send data now.
                index > 0
            }
            _ => false,
        }
    }

    /// The first path is established: the others are announced.
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
        let earliest = now + self.join_delay;
        for path in &mut self.paths[1..] {
            if !path.config.announced {
                path.join_at = earliest.max(path.config.from);
            }
        }
    }

    /// The peer answered MP_JOIN; its third packet is repeated at `again_at`.
    pub(super) fn on_join_answered(&mut self, index: usize, again_at: Time) {
        self.paths[index].stage = Stage::Confirming;
        self.paths[index].join_at = again_at;
    }

    /// The option of a SYN on a path, and of what completes its handshake.
    pub(super) fn handshake(&self, index: usize) -> MptcpOption {
        if index == 0 {
            MptcpOption::Capable
        } else {
            MptcpOption::Join {
                backup: self.is_backup(index),
            }
        }
    }

    /// Option of an acknowledgment without data that leaves on a path, in place of its data sequence
    /// signal.
    pub(super) fn signal(&mut self, index: usize) -> Option<MptcpOption> {
        let handshake = self.handshake(index);
        let is_opener = self.is_opener;
        let path = &mut self.paths[index];
        if is_opener && !path.has_confirmed {
            path.has_confirmed = true;
            return Some(handshake);
        }
        if std::mem::take(&mut path.tells_priority) {
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
