//! An end of a QUIC connection.

use crate::clock::{Clock, span};
use crate::config::QuicConfig;
use crate::estimator::Estimator;
use crate::observer::{Shared, seen};
use crate::streams::{Outgoing, read};
use bytes::{Bytes, BytesMut};
use fadeout_core::{Ecn, EndpointId, Span, Time};
use fadeout_transport::tcp::{AppCommand, AppEvent};
use noq_proto::{
    Connection, ConnectionError, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event,
    FourTuple, PathId, StreamEvent, Transmit, VarInt,
};
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

/// Addresses of the client and the server, as the QUIC stack knows them. A connection has one path,
/// so that all connections may have the same addresses.
const ADDRESSES: [([u8; 4], u16); 2] = [([10, 0, 0, 1], 49_152), ([10, 0, 0, 2], 443)];

/// Name of the server in the handshake.
const SERVER_NAME: &str = "server";

/// Outputs of one step of an end. Each step begins with an empty outbox.
#[derive(Debug, Default)]
pub struct QuicOutbox {
    /// Payloads of datagrams in order of transmission, each with the ECN field of its IP packet.
    pub datagrams: Vec<(Vec<u8>, Ecn)>,
    /// Events in the order in which they happened.
    pub events: Vec<AppEvent>,
    /// Bytes that arrived in order on their streams in this step.
    pub delivered_bytes: u64,
}

/// State of an end's sending direction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sending {
    /// Slow-start threshold, bytes. `None` before the first congestion event, or if the congestion
    /// control has no threshold.
    pub ssthresh_bytes: Option<u64>,
    /// Bytes in flight after the last ACK.
    pub in_flight_bytes: u64,
    /// Bytes of acknowledged packets.
    pub acked_bytes: u64,
    /// Smoothed round-trip time. Zero before the first sample.
    pub srtt: Span,
    /// Latest round-trip time sample. Zero before the first.
    pub rtt: Span,
    /// Probe timeout of application data without backoff (RFC 9002 section 6.2.1).
    pub probe_timeout: Span,
    /// Pacing rate that the congestion control sets, bytes per second. `None` if the stack paces by
    /// the window.
    pub pacing_bytes_per_s: Option<u64>,
    /// Number of open streams whose data are not all acknowledged.
    pub streams: u64,
}

/// Counters of an end, for the summary of a run.
#[derive(Debug, Clone, Default)]
pub struct QuicStatistics {
    /// QUIC packets sent. A datagram may contain several packets of the handshake.
    pub sent_packets: u64,
    /// Bytes of sent packets that elicit an ACK, without headers of UDP and IP.
    pub sent_bytes: u64,
    /// Packets declared lost.
    pub lost_packets: u64,
    /// Bytes of lost packets.
    pub lost_bytes: u64,
    /// Number of losses and marks to which the congestion control could respond.
    pub congestion_events: u64,
    /// Number of times that all packets declared lost arrived after all.
    pub spurious_events: u64,
    /// Streams that the end has opened.
    pub streams: u64,
    /// Largest payload of UDP that the path carries, as far as the end knows, bytes.
    pub mtu_bytes: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Largest congestion window, in datagrams of the largest size at that time.
    pub max_cwnd_datagrams: f64,
    /// Smallest round-trip time sample. `None` without a sample.
    pub min_rtt: Option<Span>,
    /// Sum of all round-trip time samples, seconds.
    pub rtt_sum_s: f64,
    /// Number of round-trip time samples.
    pub rtt_samples: u64,
    /// Integral of the smoothed round-trip time over time, s².
    pub srtt_integral: f64,
    /// Time over which the smoothed round-trip time is integrated, seconds.
    pub srtt_time_s: f64,
    /// Reason for which the connection was given up. `None` if it was not.
    pub failure: Option<String>,
    /// True if this end opened the connection.
    pub is_client: bool,
}

impl QuicStatistics {
    /// Returns a number of bytes in datagrams of the largest size.
    pub fn datagrams(&self, bytes: u64) -> f64 {
        bytes as f64 / self.mtu_bytes.max(1) as f64
    }
}

/// The QUIC stack's part of an end.
struct Machine {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    seen: Shared,
    estimator: Estimator,
    /// Time of the last step.
    stepped_at: Time,
    buffer: Vec<u8>,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine").finish_non_exhaustive()
    }
}

/// End of a QUIC connection, without clock or I/O. Datagrams, timers and commands arrive through
/// `on_*`, and actions leave through the [`QuicOutbox`]. [`QuicEnd::wake_at`] returns the time to
/// call [`QuicEnd::on_wake`].
///
/// An end sends on unidirectional streams that it opens. When all data before a
/// [`AppCommand::Close`] are acknowledged, the end closes the connection.
#[derive(Debug)]
pub struct QuicEnd {
    config: Arc<QuicConfig>,
    id: EndpointId,
    clock: Clock,
    /// State of the stack. `None` before the start and after the end of the connection.
    machine: Option<Box<Machine>>,
    outgoing: Outgoing,
    sending: Sending,
    statistics: QuicStatistics,
    /// True if the connection was closed or given up.
    is_over: bool,
}

impl QuicEnd {
    /// Returns an end without a connection.
    pub fn new(config: Arc<QuicConfig>, id: EndpointId) -> QuicEnd {
        QuicEnd {
            outgoing: Outgoing::new(config.settings().streams),
            config,
            id,
            clock: Clock::new(),
            machine: None,
            sending: Sending::default(),
            statistics: QuicStatistics::default(),
            is_over: false,
        }
    }

    /// Returns the counters of the end.
    pub fn statistics(&self) -> &QuicStatistics {
        &self.statistics
    }

    /// Returns the state of the sending direction.
    pub fn sending(&self) -> &Sending {
        &self.sending
    }

    /// Returns the time of the next timer. [`Time::NEVER`] if no timer is armed.
    pub fn wake_at(&self) -> Time {
        let machine = self.machine.as_ref();
        let connection = machine.and_then(|it| it.connection.as_ref());
        let timeout = connection.and_then(|(_, connection)| connection.poll_timeout());
        timeout.map_or(Time::NEVER, |at| self.clock.time(at))
    }

    /// Carries out a command of the application. Commands after the end of the connection have no
    /// effect, and neither have commands to read, because an end reads at once.
    pub fn on_app(&mut self, now: Time, command: AppCommand, out: &mut QuicOutbox) {
        if self.is_over {
            return;
        }
        match command {
            AppCommand::Listen => self.begin(now, false),
            AppCommand::Connect => self.begin(now, true),
            AppCommand::Write(bytes) => self.outgoing.write(bytes.0),
            AppCommand::WriteForever => self.outgoing.write(u64::MAX),
            AppCommand::Close => self.outgoing.close(),
            AppCommand::Abort => self.close(now, VarInt::from_u32(1)),
            AppCommand::PauseReading | AppCommand::ResumeReading | AppCommand::Read(_) => {}
        }
        self.step(now, out);
    }

    /// Processes the payload of a datagram that arrived with an ECN field.
    pub fn on_datagram(&mut self, now: Time, payload: &[u8], ecn: Ecn, out: &mut QuicOutbox) {
        let Some(machine) = self.machine.as_deref_mut() else {
            return;
        };
        let at = self.clock.instant(now);
        let from = ADDRESSES[usize::from(self.statistics.is_client)];
        let path = FourTuple::new(SocketAddr::from(from), None);
        let ecn = EcnCodepoint::from_bits(ecn as u8);
        let (data, buffer) = (BytesMut::from(payload), &mut machine.buffer);
        buffer.clear();
        match machine.endpoint.handle(at, path, ecn, data, buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut machine.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if machine.connection.is_none() => {
                match machine.endpoint.accept(incoming, at, buffer, None) {
                    Ok(accepted) => machine.connection = Some(accepted),
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            out.datagrams.push(datagram(&transmit, buffer));
                        }
                    }
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => machine.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                out.datagrams.push(datagram(&transmit, buffer));
            }
            None => {}
        }
        self.step(now, out);
    }

    /// Processes the timers that are due.
    pub fn on_wake(&mut self, now: Time, out: &mut QuicOutbox) {
        let at = self.clock.instant(now);
        if let Some(machine) = self.machine.as_deref_mut()
            && let Some((_, connection)) = &mut machine.connection
            && connection.poll_timeout().is_some_and(|due| due <= at)
        {
            connection.handle_timeout(at);
        }
        self.step(now, out);
    }

    /// Begins to open a connection, or to wait for one.
    fn begin(&mut self, now: Time, is_client: bool) {
        if self.machine.is_some() {
            return;
        }
        self.statistics.is_client = is_client;
        let shared = Shared::default();
        let (config, clock) = (&self.config, self.clock);
        let server = (!is_client).then(|| Arc::new(config.server(self.id, clock, &shared)));
        let mut endpoint = Endpoint::new(Arc::new(config.endpoint(self.id)), server, true);
        let connection = is_client.then(|| {
            let client = config.client(self.id, clock, &shared);
            let address = SocketAddr::from(ADDRESSES[1]);
            let opened = endpoint.connect(clock.instant(now), client, address, SERVER_NAME);
            opened.expect("the address and the version are valid")
        });
        self.machine = Some(Box::new(Machine {
            endpoint,
            connection,
            seen: shared,
            estimator: Estimator::new(config.initial_rtt()),
            stepped_at: now,
            buffer: Vec::new(),
        }));
    }

    /// Closes the connection with an error code of the application.
    fn close(&mut self, now: Time, code: VarInt) {
        let at = self.clock.instant(now);
        if let Some(machine) = self.machine.as_deref_mut()
            && let Some((_, connection)) = &mut machine.connection
        {
            connection.close(at, code, Bytes::new());
        }
        self.is_over = true;
    }

    /// Exchanges data, events and datagrams with the stack until there are no more.
    fn step(&mut self, now: Time, out: &mut QuicOutbox) {
        let at = self.clock.instant(now);
        loop {
            let mut is_busy = self.take_events(out);
            let Some(machine) = self.machine.as_deref_mut() else {
                return;
            };
            let Some((handle, connection)) = &mut machine.connection else {
                return;
            };
            if !self.is_over {
                let may_send = !connection.is_handshaking() || connection.has_0rtt();
                is_busy |= may_send && self.outgoing.push(connection);
                if self.outgoing.is_complete() && !connection.is_handshaking() {
                    connection.close(at, VarInt::from_u32(0), Bytes::new());
                    self.is_over = true;
                    out.events.push(AppEvent::Closed);
                }
            }
            is_busy |= take_datagrams(connection, at, &mut machine.buffer, out);
            while let Some(event) = connection.poll_endpoint_events() {
                is_busy = true;
                if let Some(event) = machine.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
            }
            if !is_busy {
                break;
            }
        }
        self.observe(now);
        let connection = self.machine.as_ref().and_then(|it| it.connection.as_ref());
        if connection.is_some_and(|(_, connection)| connection.is_drained()) {
            self.machine = None;
        }
    }

    /// Processes the stack's events. Returns true if there were any.
    fn take_events(&mut self, out: &mut QuicOutbox) -> bool {
        let machine = self.machine.as_deref_mut();
        let Some((_, connection)) = machine.and_then(|it| it.connection.as_mut()) else {
            return false;
        };
        let mut is_busy = false;
        while let Some(event) = connection.poll() {
            is_busy = true;
            match event {
                Event::Connected => out.events.push(AppEvent::Established),
                Event::ConnectionLost { reason } => {
                    self.is_over = true;
                    match reason {
                        ConnectionError::ApplicationClosed(_) => {
                            out.events.push(AppEvent::PeerClosed);
                            out.events.push(AppEvent::Closed);
                        }
                        reason => {
                            self.statistics.failure = Some(reason.to_string());
                            out.events.push(AppEvent::Aborted);
                        }
                    }
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(id) = connection.streams().accept(dir) {
                        out.delivered_bytes += read(connection, id);
                    }
                }
                Event::Stream(StreamEvent::Readable { id }) => {
                    out.delivered_bytes += read(connection, id);
                }
                Event::Stream(StreamEvent::Finished { .. }) => self.outgoing.on_finished(),
                _ => {}
            }
        }
        is_busy
    }

    /// Updates the counters and the state of the sending direction.
    fn observe(&mut self, now: Time) {
        let Some(machine) = self.machine.as_deref_mut() else {
            return;
        };
        let Some((_, connection)) = &mut machine.connection else {
            return;
        };
        let statistics = &mut self.statistics;
        statistics.streams = self.outgoing.opened();
        let Some(path) = connection.path_stats(PathId::ZERO) else {
            return;
        };
        let seen = seen(&machine.seen);
        let elapsed_s = now.since(machine.stepped_at).as_secs_f64();
        machine.stepped_at = now;
        if statistics.rtt_samples > 0 {
            let smoothed_s = machine.estimator.smoothed().as_secs_f64();
            statistics.srtt_integral += smoothed_s * elapsed_s;
            statistics.srtt_time_s += elapsed_s;
        }
        if seen.samples > statistics.rtt_samples {
            machine.estimator.on_sample(span(path.rtt));
        }
        statistics.sent_packets = path.sent_packets;
        statistics.sent_bytes = path.sent_bytes;
        statistics.lost_packets = path.lost_packets;
        statistics.lost_bytes = path.lost_bytes;
        statistics.congestion_events = path.congestion_events;
        statistics.spurious_events = path.spurious_congestion_events;
        statistics.mtu_bytes = u64::from(path.current_mtu);
        statistics.cwnd_bytes = path.cwnd;
        let cwnd_datagrams = statistics.datagrams(path.cwnd);
        statistics.max_cwnd_datagrams = statistics.max_cwnd_datagrams.max(cwnd_datagrams);
        statistics.min_rtt = seen.smallest;
        statistics.rtt_sum_s = seen.sum_s;
        statistics.rtt_samples = seen.samples;
        let metrics = connection
            .congestion_state(PathId::ZERO)
            .map(|it| it.metrics());
        let metrics = metrics.unwrap_or_default();
        self.sending = Sending {
            ssthresh_bytes: metrics.ssthresh.filter(|&it| it < u64::MAX),
            in_flight_bytes: seen.in_flight_bytes,
            acked_bytes: seen.acked_bytes,
            srtt: machine.estimator.smoothed(),
            rtt: seen.latest,
            probe_timeout: machine.estimator.probe_timeout(),
            pacing_bytes_per_s: metrics.pacing_rate,
            streams: self.outgoing.unfinished(),
        };
    }
}

/// Takes the datagrams that the stack may send now. Returns true if there were any.
fn take_datagrams(
    connection: &mut Connection,
    now: Instant,
    buffer: &mut Vec<u8>,
    out: &mut QuicOutbox,
) -> bool {
    let before = out.datagrams.len();
    loop {
        buffer.clear();
        let Some(transmit) = connection.poll_transmit(now, NonZeroUsize::MIN, buffer) else {
            return out.datagrams.len() > before;
        };
        debug_assert!(
            transmit.segment_size.is_none(),
            "each datagram leaves by itself"
        );
        out.datagrams.push(datagram(&transmit, buffer));
    }
}

/// Returns the payload and the ECN field of a datagram that the stack wrote into a buffer.
fn datagram(transmit: &Transmit, buffer: &[u8]) -> (Vec<u8>, Ecn) {
    let ecn = match transmit.ecn {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    };
    (buffer[..transmit.size].to_vec(), ecn)
}
