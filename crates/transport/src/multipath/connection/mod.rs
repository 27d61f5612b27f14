//! One end of a multipath connection.
//!
//! - [`path`]: one path and its mappings
//! - [`send`]: which data goes where, reinjection, opportunistic retransmission
//! - [`queue`]: data that waits on a path ahead of its window, as in Linux
//! - [`receive`]: mappings and DATA_ACKs that arrive, the shared receive buffer
//! - [`paths`]: paths that come, go, fail and return

mod path;
mod paths;
mod queue;
mod receive;
mod send;
#[cfg(test)]
mod tests;

pub use path::PathStatistics;

use super::config::{MultipathConfig, PathConfig};
use super::outbox::PathOutbox;
use super::reinjection::Reinjection;
use super::{MAX_PATHS, PathId, PathScheduler};
use crate::congestion::Congestion;
use crate::tcp::receiver::reassembly::Reassembly;
use crate::tcp::receiver::window::AdvertisedWindow;
use crate::tcp::{AppCommand, AppEvent, Outbox, TcpEndpoint};
use fadeout_core::{Ecn, FlowEnd, FlowId, MptcpOption, Probe, Segment, Time};
use path::{Path, Stage};
use queue::SendQueues;

/// Data that the application writes without end.
const ENDLESS: u64 = u64::MAX / 4;

/// One end of a Multipath TCP connection, without clock or I/O. The first path opens it with
/// MP_CAPABLE; the opening end joins the others.
#[derive(Debug)]
pub struct MultipathConnection {
    config: MultipathConfig,
    paths: Vec<Path>,
    is_opener: bool,
    is_coupled: bool,

    /// First data sequence number not acknowledged (DATA_ACK received).
    data_una: u64,
    /// Next data sequence number to be sent for the first time.
    data_nxt: u64,
    /// Right edge of what the application has written.
    data_end: u64,
    /// First data sequence number beyond the peer's window.
    window_end: u64,
    reinjection: Reinjection,
    /// Where data waits ahead of the subflows' windows.
    queues: Option<SendQueues>,
    fin_queued: bool,
    fin_sent: bool,
    /// How often DATA_FIN was said again.
    fin_repeats: u32,
    /// When data that is not acknowledged is looked at again.
    data_timer_at: Time,
    /// What was acknowledged when that timer was set.
    data_una_then: u64,

    inbound: Reassembly,
    window: AdvertisedWindow,
    peer_fin_at: Option<u64>,
    peer_has_closed: bool,
    is_reading: bool,
    unread: u64,

    is_established: bool,
    is_closing: bool,
    is_closed: bool,
    /// Resets carry MP_FASTCLOSE.
    is_aborting: bool,
    /// Outputs of a subflow, before they become the connection's.
    scratch: Outbox,
    /// A path whose removal the peer has yet to be told.
    to_remove: Option<PathId>,
    /// A path whose existence the peer has yet to be told.
    to_announce: Option<PathId>,
}

/// One path of a new connection.
#[derive(Debug)]
pub struct Subflow {
    /// Flow that its rows carry.
    pub flow: FlowId,
    /// Its congestion control.
    pub congestion: Congestion,
    /// Backup flag, and when it comes and goes.
    pub config: PathConfig,
}

impl MultipathConnection {
    /// A closed connection over `subflows`, the first of which opens it, at this `end` of its flow.
    ///
    /// # Panics
    /// With no subflow or more than [`MAX_PATHS`]: the scenario reader refuses both.
    pub fn new(
        config: MultipathConfig,
        end: FlowEnd,
        subflows: impl IntoIterator<Item = Subflow>,
    ) -> MultipathConnection {
        let tcp = config.subflow();
        let mut is_coupled = false;
        let paths: Vec<Path> = subflows
            .into_iter()
            .enumerate()
            .map(|(index, subflow)| {
                is_coupled |= matches!(subflow.congestion, Congestion::Coupled(_));
                let endpoint = TcpEndpoint::new(&tcp, subflow.flow, subflow.congestion).at(end);
                Path::new(PathId(index as u8), endpoint, subflow.config)
            })
            .collect();
        assert!(
            (1..=MAX_PATHS).contains(&paths.len()),
            "a connection has one to {MAX_PATHS} paths"
        );
        // Over one path nothing waits: it is TCP.
        let queues = (config.scheduler.is_upstream() && paths.len() > 1).then_some(SendQueues {
            maximum: config.maximum_send_buffer.0,
            taken: 1,
            bound: 1,
            unbound: 1,
            is_waiting: false,
            timer: queue::SHORTEST_TIMER,
        });
        let mut inbound = Reassembly::default();
        inbound.begin(1);
        MultipathConnection {
            window: AdvertisedWindow::new(&config.tcp),
            config,
            paths,
            is_opener: false,
            is_coupled,
            data_una: 1,
            data_nxt: 1,
            data_end: 1,
            window_end: 1,
            reinjection: Reinjection::default(),
            queues,
            fin_queued: false,
            fin_sent: false,
            fin_repeats: 0,
            data_timer_at: Time::NEVER,
            data_una_then: 1,
            inbound,
            peer_fin_at: None,
            peer_has_closed: false,
            is_reading: true,
            unread: 0,
            is_established: false,
            is_closing: false,
            is_closed: false,
            is_aborting: false,
            scratch: Outbox::default(),
            to_remove: None,
            to_announce: None,
        }
    }

    /// Takes a command of the application.
    pub fn on_app(
        &mut self,
        now: Time,
        command: AppCommand,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        match command {
            AppCommand::Listen => {
                for index in 0..self.paths.len() {
                    self.paths[index].stage = Stage::Opening;
                    self.command(now, index, AppCommand::Listen, out, probe);
                }
            }
            AppCommand::Connect => {
                self.is_opener = true;
                self.open(now, 0, out, probe);
            }
            AppCommand::Write(bytes) => self.data_end = self.data_end.saturating_add(bytes.0),
            AppCommand::WriteForever => self.data_end = self.data_end.saturating_add(ENDLESS),
            AppCommand::Close => {
                self.fin_queued = true;
                if !self.is_established && !self.is_opener {
                    self.close_subflows(now, out, probe);
                }
            }
            AppCommand::PauseReading => self.is_reading = false,
            AppCommand::ResumeReading => self.resume_reading(now, out),
            // A connection of several paths reads all or nothing.
            AppCommand::Read(_) => {}
            AppCommand::Abort => {
                // RFC 8684 section 3.5, option R: resets on every subflow.
                self.is_aborting = true;
                for index in 0..self.paths.len() {
                    self.command(now, index, AppCommand::Abort, out, probe);
                }
            }
        }
        self.send(now, out, probe);
    }

    /// Takes a segment that arrived on `path` in an IP packet that carried `ecn`.
    pub fn on_segment(
        &mut self,
        now: Time,
        path: PathId,
        segment: &Segment,
        ecn: Ecn,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        let index = path.index();
        if self.paths[index].stage == Stage::Gone {
            return;
        }
        self.take_option(index, segment, out);
        if self.paths[index].stage == Stage::Gone {
            return;
        }
        self.step(now, index, out, probe, |tcp, scratch, probe| {
            tcp.on_segment(now, segment, ecn, scratch, probe);
        });
        self.follow_handshake(now, index, segment, out);
        self.on_heard(now, index);
        if let MptcpOption::AddAddress { path, is_echo } = segment.mptcp {
            self.on_announcement(now, index, usize::from(path), is_echo, out);
        }
        if segment.len == 0 && matches!(segment.mptcp, MptcpOption::Dss(dss) if dss.data_fin) {
            self.acknowledge(now, index, out);
        }
        self.follow_close(now, out, probe);
        self.send(now, out, probe);
    }

    /// A wake-up; stale ones do nothing.
    pub fn on_wake(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        for index in 0..self.paths.len() {
            if self.paths[index].tcp.wake_at() <= now {
                self.step(now, index, out, probe, |tcp, scratch, probe| {
                    tcp.on_wake(now, scratch, probe);
                });
            }
            self.move_path(now, index, out, probe);
        }
        if self.data_timer_at <= now {
            self.on_data_timer(now, out);
        }
        self.follow_close(now, out, probe);
        self.send(now, out, probe);
    }

    /// When the connection next wants [`MultipathConnection::on_wake`]; [`Time::NEVER`] when only
    /// a segment or a command can change anything.
    pub fn wake_at(&self) -> Time {
        let paths = self.paths.iter().map(|path| {
            let goes_at = if matches!(path.stage, Stage::Gone | Stage::Idle) || self.is_closing {
                Time::NEVER
            } else {
                path.config.until
            };
            let changes_at = if goes_at.is_never() && self.is_closing {
                Time::NEVER
            } else {
                path.changes_at()
            };
            path.tcp
                .wake_at()
                .min(path.join_at)
                .min(path.announce_at)
                .min(goes_at)
                .min(changes_at)
        });
        paths.min().unwrap_or(Time::NEVER).min(self.data_timer_at)
    }

    /// The subflow of a path.
    pub fn subflow(&self, path: PathId) -> &TcpEndpoint {
        &self.paths[path.index()].tcp
    }
    /// What a path carried.
    pub fn statistics(&self, path: PathId) -> PathStatistics {
        self.paths[path.index()].statistics
    }
    /// Number of paths.
    pub fn path_count(&self) -> usize {
        self.paths.len()
    }
    /// Data that the peer acknowledged (DATA_ACK), bytes.
    pub fn acked_bytes(&self) -> u64 {
        self.data_una - 1
    }
    /// Bytes in the receive buffer: out of order, or not read.
    pub fn buffered(&self) -> u64 {
        self.inbound.buffered() + self.unread
    }

    /// Passes a command to a subflow.
    fn command(
        &mut self,
        now: Time,
        index: usize,
        command: AppCommand,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        self.step(now, index, out, probe, |tcp, scratch, probe| {
            tcp.on_app(now, command, scratch, probe);
        });
    }

    fn report(&mut self, event: AppEvent, out: &mut PathOutbox) {
        if matches!(event, AppEvent::Closed | AppEvent::Aborted) {
            if self.is_closed {
                return;
            }
            self.is_closed = true;
        }
        out.events.push(event);
    }
}
