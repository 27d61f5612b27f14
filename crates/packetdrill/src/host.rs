//! Host under test, with its connection, its clock and its sent segments.

use crate::buffer::{Limits, SendBuffer};
use crate::connection::{Connection, Flow};
use crate::endpoint::Endpoint;
use crate::fast_open::{Cache, Cookie, Wishes};
use crate::multipath;
use crate::settings::{EcnMode, Settings};
use crate::socket_options::low_water;
use fadeout_core::random::Stream;
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, Ecn, Flags, FlowId, MptcpOption, Segment, Time};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::multipath::{PathId, PathOutbox};
use fadeout_transport::tcp::{
    self, AppCommand, AppEvent, ConnectionState, Outgoing, SocketOption, TcpConfig, TcpEndpoint,
};
use std::collections::VecDeque;

/// Simulated time at which a script begins. It is so late that no earlier time is negative.
pub(crate) const START: Time = Time::from_nanos(10_000_000_000);
/// Largest number of segments that a script may make the host send.
const MOST_SEGMENTS: usize = 500_000;
/// Largest number of timers that may expire in a script.
const MOST_WAKES: usize = 200_000;

/// Segment sent by the host.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) at: Time,
    /// Number of the path.
    pub(crate) path: usize,
    pub(crate) segment: Segment,
    pub(crate) ecn: Ecn,
    /// True if data of the same burst follows this segment.
    pub(crate) is_cut: bool,
    /// Fast Open option of the segment.
    pub(crate) cookie: Option<Cookie>,
    /// True if Linux maps the data of the segment by MP_CAPABLE, and not by a data sequence signal.
    pub(crate) maps_by_capable: bool,
}

/// Socket settings that apply to its connection but are not part of the endpoint's configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extras {
    /// Value of `SO_SNDBUF` in bytes. `None` if the socket did not set the option.
    pub(crate) send_buffer: Option<u64>,
    /// Value of `TCP_NOTSENT_LOWAT` in bytes. Zero if the value of the host applies.
    pub(crate) low_water: u32,
    /// Largest number of SYNs (`TCP_SYNCNT`). `None` if the value of the host applies.
    pub(crate) syns: Option<u32>,
    pub(crate) fast_open: Wishes,
}

/// Parameters of a new connection.
#[derive(Debug)]
pub(crate) struct Opening<'a> {
    pub(crate) config: &'a TcpConfig,
    pub(crate) extras: &'a Extras,
    /// Name of the congestion control.
    pub(crate) congestion: &'a str,
    pub(crate) is_passive: bool,
    /// True for a connection of Multipath TCP.
    pub(crate) is_multipath: bool,
    /// Number of payload bytes that a Fast Open SYN may carry. `None` without Fast Open.
    pub(crate) fast: Option<u32>,
    /// Fast Open option in the first SYN or SYN-ACK.
    pub(crate) cookie: Option<Cookie>,
    /// Number of bytes already written to the socket.
    pub(crate) written: u64,
}

/// Host under test.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) now: Time,
    pub(crate) settings: Settings,
    /// Newest connection, or the connection that still listens.
    pub(crate) connection: Option<Connection>,
    /// Segments that the host sent and that the script has not checked yet.
    pub(crate) wire: VecDeque<Sent>,
    /// Values that the host remembers of its peer, for Fast Open.
    pub(crate) cache: Cache,
    /// True if a socket began to listen after the connection was opened. The next SYN then goes to
    /// that socket.
    pub(crate) listens_anew: bool,
    /// True if a connection that the peer established waits for `accept`.
    pub(crate) may_accept: bool,
    /// True if the script has exceeded a limit of segments or timers.
    pub(crate) is_exhausted: bool,
    out: PathOutbox,
    sent: usize,
    wakes: usize,
}

impl Host {
    pub(crate) fn new() -> Host {
        Host {
            now: START,
            settings: Settings::linux(),
            connection: None,
            wire: VecDeque::new(),
            cache: Cache::default(),
            listens_anew: false,
            may_accept: false,
            is_exhausted: false,
            out: PathOutbox::default(),
            sent: 0,
            wakes: 0,
        }
    }

    /// Opens a connection to the peer, or listens for a connection from the peer.
    pub(crate) fn open(&mut self, opening: &Opening<'_>) {
        // The script does not expect segments of an earlier connection, so they are discarded.
        self.wire.clear();
        self.may_accept = false;
        self.listens_anew &= !opening.is_passive;
        let endpoint = self.endpoint(opening);
        let extras = opening.extras;
        let low_water = low_water(extras.low_water, self.settings.low_water);
        let mut buffer = SendBuffer::new(self.settings.send_buffer, low_water);
        if let Some(bytes) = extras.send_buffer {
            buffer.fix(bytes);
        }
        let is_passive = opening.is_passive;
        self.connection = Some(Connection {
            flows: self.flows(opening),
            newest: 0,
            is_confirmed: false,
            buffer,
            limits: Limits::default(),
            received_at: self.now,
            sent_at: self.now,
            endpoint,
            unread: 0,
            read: 0,
            written: 0,
            peer_closed: false,
            is_established: false,
            is_early: is_passive && opening.fast.is_some(),
            is_released: false,
            error: None,
            is_passive,
            cookie: opening.cookie,
            asked: opening.cookie,
            is_fast: opening.fast.is_some(),
            syns: 0,
            advertised_mss: opening.config.mss,
        });
        if !opening.is_multipath {
            self.command(AppCommand::PauseReading);
        }
        if opening.written > 0 {
            self.command(AppCommand::Write(Bytes(opening.written)));
        }
        self.command(if is_passive {
            AppCommand::Listen
        } else {
            AppCommand::Connect
        });
    }

    /// Returns the endpoint of a new connection.
    fn endpoint(&self, opening: &Opening<'_>) -> Endpoint {
        let is_passive = opening.is_passive;
        let mut config = opening.config.clone();
        let new_congestion = || {
            Host::congestion(opening.congestion)
                .expect("names of congestion controls are checked when they are set")
        };
        let congestion = new_congestion();
        // Linux always requests ECN with DCTCP.
        config.acks.ecn = if matches!(congestion, Congestion::Dctcp(_)) {
            tcp::EcnMode::Automatic
        } else {
            ecn_of(self.settings.ecn, is_passive)
        };
        let is_accurate = config.acks.ecn == tcp::EcnMode::Accurate;
        config.acks.accurate_ecn = is_accurate.then_some(self.settings.accurate_ecn);
        config.timers.maximum_syns = self.settings.syns;
        config.timers.maximum_syn_acks = self.settings.syn_acks;
        let syns = opening.extras.syns.filter(|_| !is_passive);
        if opening.is_multipath {
            config.timers.maximum_syns = syns.unwrap_or(config.timers.maximum_syns);
            let paths = self.settings.paths.path_count(is_passive);
            let buffer = Bytes(self.settings.send_buffer.1);
            let connection = multipath::connection(config, new_congestion, paths, buffer);
            return Endpoint::multipath(connection);
        }
        let mut endpoint = TcpEndpoint::new(&config, FlowId(0), congestion);
        if let Some(syns) = syns {
            endpoint.set(self.now, SocketOption::SynCount(syns));
        }
        if let Some(room) = opening.fast {
            endpoint.set(self.now, SocketOption::FastOpen(room));
        }
        Endpoint::tcp(endpoint)
    }

    /// Returns the subflows of a new connection with the addresses that are known.
    fn flows(&self, opening: &Opening<'_>) -> Vec<Flow> {
        let settings = &self.settings;
        let first = Flow {
            local: Some(settings.local_ip),
            remote: Some(settings.remote_ip),
            is_known: true,
            ..Flow::default()
        };
        let mut flows = vec![first];
        if opening.is_multipath {
            let count = settings.paths.path_count(opening.is_passive);
            flows.extend((1..count).map(|path| Flow {
                local: if opening.is_passive {
                    settings.paths.announced.get(path - 1).copied()
                } else {
                    Some(settings.local_ip)
                },
                ..Flow::default()
            }));
        }
        flows
    }

    /// Returns the congestion control called `name`.
    pub(crate) fn congestion(name: &str) -> Option<Congestion> {
        Congestion::new(
            name,
            &Parameters::default(),
            Stream::new(1, "packetdrill", 0),
        )
    }

    pub(crate) fn command(&mut self, command: AppCommand) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        if let AppCommand::Write(Bytes(bytes)) = command {
            connection.written += bytes;
        }
        connection.endpoint.on_app(self.now, command, &mut self.out);
        self.collect("ECONNABORTED");
    }

    /// Processes a received segment whose sequence numbers are already those of the endpoint.
    pub(crate) fn receive(
        &mut self,
        path: usize,
        segment: &Segment,
        ecn: Ecn,
        cookie: Option<Cookie>,
    ) {
        let Some(connection) = &mut self.connection else {
            self.refuse(path, segment);
            return;
        };
        let state = connection.endpoint.path_state(path);
        let is_multipath = connection.endpoint.is_multipath();
        if is_multipath && state == ConnectionState::Closed {
            self.refuse(path, segment);
            return;
        }
        let is_beyond =
            !is_multipath && segment.len > 0 && segment.end_seq() > connection.received();
        if state == ConnectionState::Closed || (connection.is_released && is_beyond) {
            // A closed connection answers with a reset (RFC 9293 section 3.10.7.1). So does a
            // socket that was closed before new data arrived (RFC 2525 section 2.17).
            connection.is_released = true;
            if state != ConnectionState::Closed {
                self.command(AppCommand::Abort);
                self.wire.pop_back();
            }
            self.refuse(path, segment);
            return;
        }
        if segment.flags.has(Flags::SYN) {
            connection.flows[path].peer_scale = segment.window_scale;
        }
        if segment.len > 0 {
            connection.received_at = self.now;
        }
        connection
            .endpoint
            .on_segment(self.now, path, segment, ecn, &mut self.out);
        let error = match state {
            ConnectionState::SynSent => "ECONNREFUSED",
            _ => "ECONNRESET",
        };
        let is_open = !matches!(
            connection.endpoint.state(),
            ConnectionState::SynSent | ConnectionState::SynReceived | ConnectionState::Closed
        );
        if state == ConnectionState::SynSent && is_open && connection.is_fast {
            // Without the MSS option, the peer's MSS is the default of 536 bytes (RFC 9293 section
            // 3.7.1).
            let mss = if segment.mss == 0 { 536 } else { segment.mss };
            let was_lost = connection.syns > 1;
            self.cache
                .learn(u32::from(mss), cookie, connection.asked, was_lost);
        }
        self.collect(error);
        if let Some(connection) = &mut self.connection
            && state == ConnectionState::Listen
            && connection.is_early
        {
            connection.is_established = true;
            self.may_accept = true;
        }
    }

    /// Answers a segment that belongs to no connection with a reset.
    ///
    /// Standard: RFC 9293 §3.10.7.1.
    pub(crate) fn refuse(&mut self, path: usize, segment: &Segment) {
        self.refuse_with(path, segment, MptcpOption::None);
    }

    /// Answers a segment with a reset that carries `option`.
    pub(crate) fn refuse_with(&mut self, path: usize, segment: &Segment, option: MptcpOption) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        let has_ack = segment.flags.has(Flags::ACK);
        let answer = Segment {
            seq: if has_ack { segment.ack } else { 0 },
            ack: if has_ack { 0 } else { segment.end_seq() },
            flags: if has_ack {
                Flags::RST
            } else {
                Flags::RST | Flags::ACK
            },
            mptcp: option,
            ..Segment::default()
        };
        self.wire.push_back(Sent {
            at: self.now,
            path,
            segment: answer,
            ecn: Ecn::NotEct,
            is_cut: false,
            cookie: None,
            maps_by_capable: false,
        });
    }

    /// Returns the time at which the next timer of the endpoint expires.
    pub(crate) fn wake_at(&self) -> Time {
        let connection = self.connection.as_ref();
        connection.map_or(Time::NEVER, |connection| connection.endpoint.wake_at())
    }

    /// Advances the clock to the next timer, but at most to `limit`. Returns true if a timer
    /// expired.
    pub(crate) fn advance_to_timer(&mut self, limit: Time) -> bool {
        let at = self.wake_at().max(self.now);
        if at > limit || self.is_exhausted {
            self.now = self.now.max(limit);
            return false;
        }
        self.now = at;
        self.wakes += 1;
        self.is_exhausted |= self.wakes > MOST_WAKES;
        if let Some(connection) = &mut self.connection {
            connection.endpoint.on_wake(self.now, &mut self.out);
        }
        self.collect("ETIMEDOUT");
        true
    }

    /// Processes the segments and events that the endpoint has produced. `error` is the error to
    /// report if the connection broke.
    fn collect(&mut self, error: &'static str) {
        let Some(connection) = &mut self.connection else {
            return;
        };
        for (path, outgoing) in &self.out.segments {
            let path = path.index();
            let segment = outgoing.segment;
            let mut cookie = None;
            if segment.flags.has(Flags::SYN) {
                connection.flows[path].own_scale = segment.window_scale;
                connection.syns += 1;
                cookie = connection.cookie.take();
            }
            if segment.len > 0 {
                connection.sent_at = self.now;
            }
            self.wire.push_back(Sent {
                at: self.now,
                path,
                segment,
                ecn: outgoing.ecn,
                is_cut: false,
                cookie,
                maps_by_capable: connection.maps_by_capable(path, &segment),
            });
        }
        self.sent += self.out.segments.len();
        self.is_exhausted |= self.sent > MOST_SEGMENTS;
        connection.unread += self.out.delivered_bytes;
        for event in &self.out.events {
            match event {
                AppEvent::Established => {
                    connection.is_established = true;
                    connection.received_at = self.now;
                    let progress = connection.progress();
                    connection.buffer.on_established(&progress);
                    self.may_accept |= connection.is_passive && !connection.is_early;
                }
                AppEvent::PeerClosed => connection.peer_closed = true,
                AppEvent::Aborted => connection.error = Some(error),
                AppEvent::AllAcknowledged | AppEvent::Closed => {}
            }
        }
        connection.follow(self.now, last_burst(&self.out.segments));
        self.out.clear();
    }
}

/// Returns the number of segments in the latest sent burst. The last segment of a burst carries
/// PSH.
fn last_burst(segments: &[(PathId, Outgoing)]) -> u64 {
    let pushes = |(_, one): &(PathId, Outgoing)| one.segment.flags.has(Flags::PSH);
    match segments.split_last() {
        None => 0,
        Some((last, _)) if !pushes(last) => 1,
        Some((_, before)) => 1 + before.iter().rev().take_while(|one| !pushes(one)).count() as u64,
    }
}

/// Returns the endpoint's ECN mode under the host's setting. A passive connection may accept ECN
/// that an active connection does not request.
fn ecn_of(mode: EcnMode, is_passive: bool) -> tcp::EcnMode {
    match mode {
        EcnMode::Always => tcp::EcnMode::Classic,
        EcnMode::Accurate => tcp::EcnMode::Accurate,
        EcnMode::AccurateOrClassic | EcnMode::AccurateWhenAsked if is_passive => {
            tcp::EcnMode::Accurate
        }
        EcnMode::AccurateOrClassic => tcp::EcnMode::Classic,
        EcnMode::WhenAsked if is_passive => tcp::EcnMode::Classic,
        EcnMode::AccurateWhenAsked | EcnMode::WhenAsked | EcnMode::Never => tcp::EcnMode::Off,
    }
}
