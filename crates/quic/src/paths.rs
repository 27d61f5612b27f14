//! Paths of a connection: when they open and end, and their counters.
//!
//! The stack numbers its paths anew each time that one opens. A path of the scenario is therefore
//! one path of the stack after another. Addresses show the path of the scenario.

use crate::clock::span;
use crate::clocks::Instant;
use crate::config::QuicConfig;
use crate::estimator::Estimator;
use crate::observer::{Controllers, Seen, Shared, seen};
use crate::statistics::{PathStatistics, Sending};
use fadeout_core::{Span, Time};
use fadeout_transport::multipath::PathConfig;
use noq_proto::{
    Connection, FourTuple, PathAbandonReason, PathEvent, PathId, PathStats, PathStatus, VarInt,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Port of the client on each path.
const CLIENT_PORT: u16 = 49_152;
/// Port of the server on each path.
const SERVER_PORT: u16 = 443;

/// Returns the address of an end on a path, as the stack knows it. Two connections never meet, so
/// that all connections may have the same addresses.
pub(crate) fn address(path: usize, is_client: bool) -> SocketAddr {
    let (host, port) = match is_client {
        true => (1, CLIENT_PORT),
        false => (2, SERVER_PORT),
    };
    SocketAddr::from(([10, 0, path as u8, host], port))
}

/// Returns the path of an address.
pub(crate) fn path_of(address: SocketAddr) -> usize {
    match address {
        SocketAddr::V4(address) => usize::from(address.ip().octets()[2]),
        SocketAddr::V6(_) => unreachable!("all addresses are of IPv4"),
    }
}

/// Error code of a path that the client closes because its time is over.
const ENDED: VarInt = VarInt::from_u32(0);

/// Error code of a path that an end gives up because nothing arrives on it.
const SILENT: VarInt = VarInt::from_u32(1);

/// Number of probe timeouts for which a path may be silent.
const SILENT_PROBE_TIMEOUTS: u64 = 3;

/// True if an end gave up a path because nothing arrived on it.
fn is_failure(reason: &PathAbandonReason) -> bool {
    match reason {
        PathAbandonReason::ApplicationClosed { error_code }
        | PathAbandonReason::RemoteAbandoned { error_code } => *error_code != ENDED,
        _ => true,
    }
}

fn status(is_backup: bool) -> PathStatus {
    match is_backup {
        true => PathStatus::Backup,
        false => PathStatus::Available,
    }
}

/// Path of a connection at one end.
#[derive(Debug)]
struct Path {
    config: PathConfig,
    /// Present path of the stack. `None` while the path is not open.
    id: Option<PathId>,
    /// True if the peer has answered on the present path of the stack.
    is_established: bool,
    /// True if the path carries data only while no regular path works.
    is_backup: bool,
    /// Number of the next change of `is_backup`.
    next_change: usize,
    /// True after the path has ended for good.
    has_ended: bool,
    /// Counters of paths of the stack that are over.
    earlier: PathStatistics,
    statistics: PathStatistics,
    sending: Sending,
}

impl Path {
    fn new(config: PathConfig) -> Path {
        Path {
            id: None,
            is_established: false,
            is_backup: config.backup,
            config,
            next_change: 0,
            has_ended: false,
            earlier: PathStatistics::default(),
            statistics: PathStatistics::default(),
            sending: Sending::default(),
        }
    }

    /// Opens the path under a new number. Without a free number it stays closed.
    fn open(&mut self, index: usize, at: Instant, connection: &mut Connection) {
        let tuple = FourTuple::new(address(index, false), None);
        if let Ok(id) = connection.open_path(tuple, status(self.is_backup), at) {
            self.id = Some(id);
        }
    }

    fn is_usable(&self, now: Time) -> bool {
        self.config.from <= now && now < self.config.until
    }
}

/// Path of the stack.
#[derive(Debug)]
struct Known {
    /// Index of the path in the scenario.
    path: usize,
    shared: Shared,
    estimator: Estimator,
    /// Number of samples that the estimator has processed.
    samples: u64,
    /// Number of datagrams sent at the last check of quiet paths.
    sent_datagrams: u64,
    /// Number of datagrams received until the last step.
    received_datagrams: u64,
    /// Time of the last step that had received a datagram.
    received_at: Time,
    /// Integral of the smoothed round-trip time, s², and its length, seconds.
    srtt_integral: f64,
    srtt_time_s: f64,
}

/// Paths of a connection at one end.
#[derive(Debug)]
pub(crate) struct Paths {
    list: Vec<Path>,
    known: BTreeMap<PathId, Known>,
    /// Controllers that the stack has built, and whose paths are not known yet.
    built: Controllers,
    initial_rtt: Span,
    join_delay: Span,
    /// Longest time in which the end sends nothing on a path.
    longest_quiet: Span,
    /// Time without a packet after which an end gives up a path.
    path_timeout: Span,
    /// Time of the next check of quiet paths. [`Time::NEVER`] before the handshake is confirmed.
    check_at: Time,
    is_client: bool,
    /// Time at which the handshake was confirmed. `None` before.
    confirmed_at: Option<Time>,
    /// Time of the last step.
    stepped_at: Time,
}

impl Paths {
    pub(crate) fn new(config: &QuicConfig) -> Paths {
        Paths {
            list: config.paths().iter().cloned().map(Path::new).collect(),
            known: BTreeMap::new(),
            built: Controllers::default(),
            initial_rtt: config.initial_rtt(),
            join_delay: config.join_delay(),
            longest_quiet: config.longest_quiet(),
            path_timeout: config.path_timeout(),
            check_at: Time::NEVER,
            is_client: false,
            confirmed_at: None,
            stepped_at: Time::ZERO,
        }
    }

    /// Records the role of the end, and the list to which the stack adds its controllers.
    pub(crate) fn begin(&mut self, now: Time, is_client: bool, built: &Controllers) {
        self.is_client = is_client;
        self.stepped_at = now;
        self.built = built.clone();
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn statistics(&self, path: usize) -> &PathStatistics {
        &self.list[path].statistics
    }

    pub(crate) fn sending(&self, path: usize) -> &Sending {
        &self.list[path].sending
    }

    /// Returns the sums over all paths.
    pub(crate) fn total(&self) -> PathStatistics {
        let none = PathStatistics::default();
        let paths = self.list.iter().map(|path| &path.statistics);
        paths.fold(none, |sum, path| sum.plus(path))
    }

    /// True if the path carries datagrams at this time. Other datagrams are lost.
    pub(crate) fn is_usable(&self, now: Time, path: usize) -> bool {
        self.list[path].is_usable(now)
    }

    /// Returns the time of the next change that needs a step. [`Time::NEVER`] if there is none.
    pub(crate) fn due_at(&self) -> Time {
        let silent = self.established().map(|(_, known)| self.silent_at(known));
        let silent = silent.filter(|&at| at > self.stepped_at).min();
        let check_at = silent.map_or(self.check_at, |at| at.min(self.check_at));
        if !self.is_client {
            return check_at;
        }
        let times = self.list.iter().flat_map(|path| {
            let open_at = match path.id {
                None => self.open_at(path),
                Some(_) => None,
            };
            let change_at = path.config.backup_changes.get(path.next_change).copied();
            let until = (!path.has_ended).then_some(path.config.until);
            [open_at, change_at, until]
        });
        let later = times.flatten().filter(|&at| at > self.stepped_at);
        later.min().unwrap_or(Time::NEVER).min(check_at)
    }

    /// Returns the time from which the client may open a path. `None` before the handshake is
    /// confirmed.
    fn open_at(&self, path: &Path) -> Option<Time> {
        let joined_at = self.confirmed_at?.saturating_add(self.join_delay);
        Some(joined_at.max(path.config.from))
    }

    /// Records that the handshake is confirmed. Only then may an end have several paths, because
    /// the stack cannot give up the first path before.
    ///
    /// Standard: RFC 9001 §4.1.2.
    pub(crate) fn on_confirmed(&mut self, now: Time, connection: &mut Connection) {
        self.confirmed_at = Some(now);
        if connection.is_multipath_negotiated() {
            self.list[0].is_established = true;
            self.check_at = now.saturating_add(self.longest_quiet);
            self.set_status(0, connection);
        }
    }

    /// Processes an event of a path of the stack.
    pub(crate) fn on_event(&mut self, event: PathEvent, connection: &mut Connection) {
        match event {
            PathEvent::Established { id, .. } => {
                if let Some(path) = self.list.iter_mut().find(|path| path.id == Some(id)) {
                    path.is_established = true;
                }
            }
            PathEvent::Abandoned { id, reason, .. } => {
                if let Some(path) = self.list.iter_mut().find(|path| path.id == Some(id)) {
                    path.id = None;
                    path.is_established = false;
                    path.earlier.failures += u64::from(is_failure(&reason));
                }
            }
            PathEvent::Discarded { id, path_stats, .. } => {
                if let Some(known) = self.known.remove(&id) {
                    let path = &mut self.list[known.path];
                    path.earlier = path
                        .earlier
                        .plus(&known.counted(&path_stats, &seen(&known.shared)));
                }
            }
            // The client decides about paths, and the server follows.
            PathEvent::RemoteStatus { id, status, .. } if !self.is_client => {
                if let Some(known) = self.known.get(&id) {
                    self.list[known.path].is_backup = status == PathStatus::Backup;
                    let _ = connection.set_path_status(id, status);
                }
            }
            _ => {}
        }
    }

    /// Returns the established paths.
    fn established(&self) -> impl Iterator<Item = (PathId, &Known)> {
        let ids = self.list.iter().filter(|path| path.is_established);
        ids.filter_map(|path| Some((path.id?, self.known.get(&path.id?)?)))
    }

    /// Returns the time from which a path is silent if no further datagram arrives on it.
    fn silent_at(&self, known: &Known) -> Time {
        let probes = known.estimator.probe_timeout() * SILENT_PROBE_TIMEOUTS;
        known
            .received_at
            .saturating_add(self.path_timeout.max(probes))
    }

    /// Gives up the paths that are silent while datagrams arrive on another path. Returns true if
    /// there were any.
    ///
    /// The timeouts of the stack are not used. They give up paths during an outage of all paths,
    /// too, and the two ends may then give up different paths. Neither end can inform the other,
    /// and data of these paths are never repeated.
    fn give_up_silent(&mut self, now: Time, at: Instant, connection: &mut Connection) -> bool {
        for (&id, known) in &mut self.known {
            let received = connection.path_stats(id).map(|it| it.udp_rx.datagrams);
            let received = received.unwrap_or(known.received_datagrams);
            if received > known.received_datagrams {
                known.received_datagrams = received;
                known.received_at = now;
            }
        }
        let silent: Vec<PathId> = self
            .established()
            .filter(|(_, known)| self.silent_at(known) <= now)
            .map(|(id, _)| id)
            .collect();
        // The peer sends a datagram on each path at least after each longest quiet time. During an
        // outage of all paths, the last datagrams differ by less than this time.
        let recent = self.longest_quiet * 3 / 2;
        let is_heard = |known: &Known| known.received_at.saturating_add(recent) > now;
        let is_other_heard = self.established().any(|(_, known)| is_heard(known));
        for &id in silent.iter().filter(|_| is_other_heard) {
            // The stack refuses to close a path that has just ended.
            let _ = connection.close_path(at, id, SILENT);
        }
        is_other_heard && !silent.is_empty()
    }

    /// Opens and closes the paths whose time has come, and changes their status. Returns true if
    /// paths were closed.
    pub(crate) fn step(&mut self, now: Time, at: Instant, connection: &mut Connection) -> bool {
        self.find_new(now, connection);
        if !connection.is_multipath_negotiated() || connection.is_closed() {
            self.check_at = Time::NEVER;
            return false;
        }
        let mut has_closed = self.give_up_silent(now, at, connection);
        if self.check_at <= now {
            self.check_at = now.saturating_add(self.longest_quiet);
            self.wake_quiet(connection);
        }
        if !self.is_client {
            return has_closed;
        }
        for index in 0..self.list.len() {
            let open_at = self.open_at(&self.list[index]);
            let path = &mut self.list[index];
            let changes = path.config.backup_changes.iter().skip(path.next_change);
            let due = changes.take_while(|&&at| at <= now).count();
            path.next_change += due;
            if due % 2 == 1 {
                path.is_backup = !path.is_backup;
                self.set_status(index, connection);
            }
            let established = self.established().map(|(id, _)| id);
            let is_last = established.eq(self.list[index].id);
            let path = &mut self.list[index];
            if path.config.until <= now {
                if let Some(id) = path.id
                    && !path.has_ended
                    && !is_last
                {
                    // The stack refuses to close the last open path, too. The connection then waits
                    // for its idle timeout.
                    has_closed |= connection.close_path(at, id, ENDED).is_ok();
                }
                path.has_ended = true;
                continue;
            }
            if path.id.is_none() && open_at.is_some_and(|open_at| open_at <= now) {
                path.open(index, at, connection);
            }
        }
        self.find_new(now, connection);
        has_closed
    }

    /// Sends a packet on each path on which nothing was sent since the last check.
    ///
    /// The stack's own keep-alive is not enough. The stack sends the ACKs of all paths on the first
    /// path that has room. So an end may receive nothing on a path that it uses.
    fn wake_quiet(&mut self, connection: &mut Connection) {
        for (&id, known) in &mut self.known {
            let Some(stack) = connection.path_stats(id) else {
                continue;
            };
            let sent = stack.udp_tx.datagrams;
            let is_quiet = sent <= known.sent_datagrams && self.list[known.path].id == Some(id);
            if is_quiet {
                // A path that has just ended needs no packet.
                let _ = connection.ping_path(id);
            }
            // The packet that is sent now does not count as one at the next check.
            known.sent_datagrams = sent + u64::from(is_quiet);
        }
    }

    fn set_status(&mut self, index: usize, connection: &mut Connection) {
        let path = &self.list[index];
        if let Some(id) = path.id {
            // Without the extension there is a single path, which needs no status.
            let _ = connection.set_path_status(id, status(path.is_backup));
        }
    }

    /// Finds the paths that the stack has opened since the last call.
    fn find_new(&mut self, now: Time, connection: &mut Connection) {
        while let Some(shared) = self.built.take_oldest() {
            let ids = connection.paths().into_iter();
            let mut new = ids.filter(|id| !self.known.contains_key(id));
            let Some(id) = new.next() else {
                continue;
            };
            let remote = connection.network_path(id).map(|tuple| tuple.remote());
            let path = remote.map_or(0, path_of);
            let known = Known {
                path,
                shared,
                estimator: Estimator::new(self.initial_rtt),
                samples: 0,
                sent_datagrams: 0,
                received_datagrams: 0,
                received_at: now,
                srtt_integral: 0.0,
                srtt_time_s: 0.0,
            };
            self.known.insert(id, known);
            self.list[path].id = Some(id);
            self.list[path].is_established = false;
            if !self.is_client && self.list.len() > 1 {
                // The server knows the scenario. So it never sends data on a new backup path.
                self.set_status(path, connection);
            }
        }
    }

    /// Updates the counters and the state of the sending direction.
    pub(crate) fn observe(&mut self, now: Time, connection: &mut Connection) {
        let elapsed_s = now.since(self.stepped_at).as_secs_f64();
        self.stepped_at = now;
        for path in &mut self.list {
            path.statistics = path.earlier;
        }
        for (&id, known) in &mut self.known {
            let Some(stack) = connection.path_stats(id) else {
                continue;
            };
            let seen = seen(&known.shared);
            known.on_step(elapsed_s, &stack, &seen);
            let path = &mut self.list[known.path];
            path.statistics = path.statistics.plus(&known.counted(&stack, &seen));
            if path.id != Some(id) {
                continue;
            }
            let control = connection.congestion_state(id).map(|it| it.metrics());
            let control = control.unwrap_or_default();
            let max_cwnd_datagrams = path.sending.max_cwnd_datagrams;
            path.sending = Sending {
                cwnd_bytes: stack.cwnd,
                max_cwnd_datagrams,
                mtu_bytes: u64::from(stack.current_mtu),
                ssthresh_bytes: control.ssthresh.filter(|&it| it < u64::MAX),
                in_flight_bytes: seen.in_flight_bytes,
                srtt: known.estimator.smoothed(),
                rtt: seen.latest,
                probe_timeout: known.estimator.probe_timeout(),
                pacing_bytes_per_s: control.pacing_rate,
            };
            let cwnd_datagrams = path.sending.datagrams(stack.cwnd);
            path.sending.max_cwnd_datagrams = max_cwnd_datagrams.max(cwnd_datagrams);
        }
    }
}

impl Known {
    fn on_step(&mut self, elapsed_s: f64, stack: &PathStats, seen: &Seen) {
        if self.samples > 0 {
            self.srtt_integral += self.estimator.smoothed().as_secs_f64() * elapsed_s;
            self.srtt_time_s += elapsed_s;
        }
        if seen.samples > self.samples {
            self.estimator.on_sample(span(stack.rtt));
            self.samples = seen.samples;
        }
    }

    fn counted(&self, stack: &PathStats, seen: &Seen) -> PathStatistics {
        PathStatistics {
            sent_packets: stack.sent_packets,
            sent_bytes: stack.sent_bytes,
            acked_bytes: seen.acked_bytes,
            received_bytes: stack.udp_rx.bytes,
            lost_packets: stack.lost_packets,
            lost_bytes: stack.lost_bytes,
            congestion_events: stack.congestion_events,
            spurious_events: stack.spurious_congestion_events,
            failures: 0,
            min_rtt: seen.smallest,
            rtt_sum_s: seen.sum_s,
            rtt_samples: seen.samples,
            srtt_integral: self.srtt_integral,
            srtt_time_s: self.srtt_time_s,
        }
    }
}
