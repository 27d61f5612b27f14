//! Endpoint of a multipath connection. The endpoint passes segments, timers and commands between
//! the subflows and the state machines below, which do not depend on each other.
//!
//! - [`manager`]: existing paths, and their signals
//! - [`outbound`]: outgoing data, independent of the paths that carry it
//! - [`allocator`]: choice of data and path at departure
//! - [`queues`]: data that waits ahead of the subflows' windows, as in Linux
//! - [`socket`]: use of one of the two, and the time at which data is accepted
//! - [`inbound`]: received data, and the receive buffer that all paths share
//! - [`closing`]: the close of the connection
//! - [`fallback`]: plain TCP with a peer that does not use Multipath TCP
//! - [`path`]: one path's subflow and its mappings

mod allocator;
mod closing;
mod fallback;
mod inbound;
mod manager;
mod outbound;
mod path;
mod paths;
mod queues;
mod receive;
mod repeats;
mod send;
mod socket;
#[cfg(test)]
mod tests;

pub use path::PathStatistics;

use super::config::{MultipathConfig, PathConfig};
use super::outbox::PathOutbox;
use super::{MAX_PATHS, PathId};
use crate::congestion::Congestion;
use crate::tcp::endpoint::receiver_of;
use crate::tcp::receiver::shared;
use crate::tcp::{AppCommand, AppEvent, Coalesced, HostQueue, Outbox, TcpEndpoint};
use fadeout_core::{Ecn, FlowEnd, FlowId, MptcpOption, Probe, Segment, Time};
use inbound::{Inbound, ReceiveModel};
use manager::{Limits, PathManager};
use outbound::{ENDLESS, Outbound};
use path::Path;
use socket::ConnectionSocket;
use std::sync::Arc;

/// Endpoint of a Multipath TCP connection, without clock or I/O. The first path opens it with
/// MP_CAPABLE. The opening end then joins the other paths.
#[derive(Debug)]
pub struct MultipathConnection {
    paths: Vec<Path>,
    manager: PathManager,
    outbound: Outbound,
    inbound: Inbound,
    socket: ConnectionSocket,
    /// True if a send buffer has grown in this step, so that the writer may continue.
    has_grown: bool,
    is_coupled: bool,
    /// True if the last data carries the DATA_FIN even if the application closes before the
    /// connection is established.
    fin_with_data: bool,
    is_established: bool,
    is_closed: bool,
    /// True if the connection continues as plain TCP.
    has_fallen_back: bool,
    /// True if the resets of the subflows carry MP_FASTCLOSE.
    is_aborting: bool,
    /// Outputs of a subflow, before they are converted to outputs of the connection.
    scratch: Outbox,
}

/// One path of a new connection.
#[derive(Debug)]
pub struct Subflow {
    /// Identifier of the flow in the subflow's result rows.
    pub flow: FlowId,
    /// Congestion control of the subflow.
    pub congestion: Congestion,
    /// Backup flag, and the times of its changes.
    pub config: PathConfig,
}

impl MultipathConnection {
    /// Returns a closed connection over `subflows`, at this `end` of its flow. The first subflow
    /// opens it.
    ///
    /// # Panics
    /// With no subflow or more than [`MAX_PATHS`]: the scenario reader refuses both.
    pub fn new(
        config: MultipathConfig,
        end: FlowEnd,
        subflows: impl IntoIterator<Item = Subflow>,
    ) -> MultipathConnection {
        let tcp = Arc::new(config.subflow());
        let mut is_coupled = false;
        let (paths, configs): (Vec<Path>, Vec<PathConfig>) = subflows
            .into_iter()
            .enumerate()
            .map(|(index, subflow)| {
                is_coupled |= matches!(subflow.congestion, Congestion::Coupled(_));
                let endpoint =
                    TcpEndpoint::sharing(&tcp, subflow.flow, subflow.congestion).with_end(end);
                (Path::new(PathId(index as u8), endpoint), subflow.config)
            })
            .unzip();
        let count = paths.len();
        assert!(
            (1..=MAX_PATHS).contains(&count),
            "a connection has one to {MAX_PATHS} paths"
        );
        let limits = Limits::of(&config);
        let model = ReceiveModel::new(&config.path_scheduler);
        let common = config.tcp.clone();
        let socket = ConnectionSocket::new(config, count);
        let fin_with_data = common.host.fin_with_data;
        MultipathConnection {
            paths,
            manager: PathManager::new(configs, limits),
            outbound: Outbound::new(&common, socket.binds_ahead() && !fin_with_data),
            fin_with_data,
            inbound: Inbound::new(&common, model),
            socket,
            has_grown: false,
            is_coupled,
            is_established: false,
            is_closed: false,
            has_fallen_back: false,
            is_aborting: false,
            scratch: Outbox::default(),
        }
    }

    /// Processes a command of the application.
    pub fn on_app(
        &mut self,
        now: Time,
        command: AppCommand,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        match command {
            AppCommand::Listen => {
                self.manager.listen();
                let mss = self.paths[0].advertised_mss();
                self.inbound.answer(mss);
                for index in 0..self.paths.len() {
                    self.command(now, index, AppCommand::Listen, out, probe);
                }
            }
            AppCommand::Connect => {
                self.manager.be_opener();
                self.manager.open(0);
                self.command(now, 0, AppCommand::Connect, out, probe);
            }
            AppCommand::Write(bytes) => self.outbound.write(bytes.0),
            AppCommand::WriteForever => self.outbound.write(ENDLESS),
            AppCommand::Close => {
                self.outbound.finish();
                if self.fin_with_data {
                    self.outbound.enable_fin();
                }
                if !self.is_established && !self.manager.is_opener() {
                    self.close_subflows(now, out, probe);
                } else if self.is_stranded() {
                    self.report(AppEvent::Aborted, out);
                }
            }
            AppCommand::PauseReading => self.inbound.pause(),
            AppCommand::ResumeReading => self.resume_reading(now, out),
            // Reads of a given size are ignored. A connection with several paths reads all
            // available data or none.
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
        self.assert_invariants();
    }

    /// Processes a segment that arrived on `path` in an IP packet that carried `ecn`.
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
        if self.manager.is_gone(index) {
            return;
        }
        if self.refuse_join(index, segment, out) {
            self.send(now, out, probe);
            return;
        }
        self.fall_back_if_plain(index, segment);
        let signalled = self.signalled(segment);
        let segment = signalled.as_ref().unwrap_or(segment);
        let step = (self.inbound.is_finished(), out.segments.len());
        self.take_option(now, index, segment, out, probe);
        if self.manager.is_gone(index) {
            return;
        }
        let binds_ahead = self.socket.binds_ahead();
        self.run_subflow(now, index, out, probe, |tcp, scratch, probe| {
            tcp.sender_mut().bind_first(binds_ahead);
            tcp.on_segment(now, segment, ecn, scratch, probe);
            tcp.sender_mut().bind_first(false);
        });
        receive::take_data_ack(self, index, segment);
        self.follow_handshake(now, index, segment, out);
        send::bind_and_push(self, now, index, segment, out, probe);
        if let MptcpOption::AddAddress { path, is_echo } = segment.mptcp
            && (self.manager).on_announcement(now, usize::from(path), is_echo)
        {
            self.acknowledge(now, index, out);
        }
        self.acknowledge_data_fin(now, index, segment, step, out);
        self.follow_close(now, out, probe);
        self.send(now, out, probe);
        self.assert_invariants();
    }

    /// Returns the numbers of the paths, in order.
    pub fn path_ids(&self) -> impl Iterator<Item = PathId> + use<> {
        (0..self.paths.len() as u8).map(PathId)
    }

    /// Records the state of the queue in front of the host's network device, for a path.
    pub fn set_host_queue(&mut self, path: PathId, queue: HostQueue) {
        self.paths[path.index()].tcp.set_host_queue(queue);
    }

    /// Sends the data of a path that waited for the host's queue, after packets have left it.
    pub fn on_host_queue(
        &mut self,
        now: Time,
        path: PathId,
        queue: HostQueue,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        let index = path.index();
        self.run_subflow(now, index, out, probe, |tcp, scratch, probe| {
            tcp.on_host_queue(now, queue, scratch, probe);
        });
        send::push_behind(self, now, index, out, probe);
        self.send(now, out, probe);
        self.assert_invariants();
    }

    /// Processes segments of a path that were merged into one.
    pub fn on_coalesced(
        &mut self,
        now: Time,
        path: PathId,
        merged: &Coalesced,
        out: &mut PathOutbox,
        probe: &mut impl Probe,
    ) {
        let (segment, parts, ecn) = (merged.segment(), merged.parts(), merged.ecn());
        let index = path.index();
        shared::set_parts(receiver_of(&mut self.paths[index].tcp), Some(parts));
        self.on_segment(now, path, segment, ecn, out, probe);
        shared::set_parts(receiver_of(&mut self.paths[index].tcp), None);
    }

    /// Processes a wake-up. A stale wake-up has no effect.
    pub fn on_wake(&mut self, now: Time, out: &mut PathOutbox, probe: &mut impl Probe) {
        for index in 0..self.paths.len() {
            if self.paths[index].tcp.wake_at() <= now {
                self.run_subflow(now, index, out, probe, |tcp, scratch, probe| {
                    tcp.on_wake(now, scratch, probe);
                });
                send::push_behind(self, now, index, out, probe);
            }
            self.move_path(now, index, out, probe);
        }
        if self.outbound.wake_at() <= now {
            self.on_data_timer(now, out);
        }
        self.follow_close(now, out, probe);
        self.send(now, out, probe);
        self.assert_invariants();
    }

    /// Asserts the relations that hold after each event.
    fn assert_invariants(&self) {
        self.outbound.assert_invariants();
        self.inbound.assert_invariants();
        self.socket.assert_invariants();
        debug_assert!(
            self.scratch.segments.is_empty() && self.scratch.events.is_empty(),
            "an output of a subflow is lost"
        );
    }

    /// Returns the time of the next call of [`MultipathConnection::on_wake`]. [`Time::NEVER`] if
    /// only a segment or a command can change the state.
    pub fn wake_at(&self) -> Time {
        let paths = self.paths.iter().enumerate().map(|(index, path)| {
            let managed = self.manager.wake_at(index);
            path.tcp.wake_at().min(managed)
        });
        let subflows = paths.min().unwrap_or(Time::NEVER);
        subflows.min(self.outbound.wake_at())
    }

    /// Returns the subflow of a path.
    pub fn subflow(&self, path: PathId) -> &TcpEndpoint {
        &self.paths[path.index()].tcp
    }
    /// Returns the TCP endpoints of all paths, in order.
    pub fn subflows(&self) -> impl Iterator<Item = &TcpEndpoint> {
        self.paths.iter().map(|path| &path.tcp)
    }
    /// Returns the counters of a path.
    pub fn statistics(&self, path: PathId) -> PathStatistics {
        self.paths[path.index()].statistics
    }
    /// Returns the number of paths.
    pub fn path_count(&self) -> usize {
        self.paths.len()
    }
    /// Returns the number of bytes that the peer acknowledged (DATA_ACK).
    pub fn acked_bytes(&self) -> u64 {
        self.outbound.una() - 1
    }
    /// Returns the number of bytes in the receive buffer, out of order or unread.
    pub fn buffered(&self) -> u64 {
        self.inbound.buffered()
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
        self.run_subflow(now, index, out, probe, |tcp, scratch, probe| {
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
