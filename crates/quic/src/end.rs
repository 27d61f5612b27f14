//! An end of a QUIC connection.

use crate::clock::Clock;
use crate::clocks::Instant;
use crate::config::{Outputs, QuicConfig};
use crate::paths::{Paths, address, path_of};
use crate::statistics::{PathStatistics, QuicStatistics, Sending};
use crate::streams::{Outgoing, read};
use crate::tls;
use bytes::{Bytes, BytesMut};
use fadeout_core::random::Stream;
use fadeout_core::{Ecn, EndpointId, Time};
use fadeout_transport::tcp::{AppCommand, AppEvent};
use noq_proto::{
    Connection, ConnectionError, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint, Event,
    FourTuple, StreamEvent, Transmit, VarInt,
};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};

/// Name of the server in the handshake.
const SERVER_NAME: &str = "server";

/// A datagram that an end sends.
#[derive(Debug)]
pub struct QuicDatagram {
    /// Index of the path.
    pub path: usize,
    /// Payload of UDP.
    pub bytes: Vec<u8>,
    /// ECN field of the IP packet.
    pub ecn: Ecn,
}

/// Outputs of one step of an end. Each step begins with an empty outbox.
#[derive(Debug, Default)]
pub struct QuicOutbox {
    /// Datagrams in order of transmission.
    pub datagrams: Vec<QuicDatagram>,
    /// Events in the order in which they happened.
    pub events: Vec<AppEvent>,
    /// Bytes that arrived in order on their streams in this step.
    pub delivered_bytes: u64,
    /// Events of the connection in the format qlog. Empty if they are not wanted.
    pub log: Vec<u8>,
    /// Keys of TLS that were agreed in this step, in the format of `SSLKEYLOGFILE`.
    pub secrets: String,
}

/// The QUIC stack's part of an end.
struct Machine {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
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
/// [`AppCommand::Close`] are acknowledged, the end closes the connection. The client opens and
/// closes the further paths of a connection, and the server follows.
#[derive(Debug)]
pub struct QuicEnd {
    config: Arc<QuicConfig>,
    id: EndpointId,
    clock: Clock,
    /// State of the stack. `None` before the start and after the end of the connection.
    machine: Option<Box<Machine>>,
    outgoing: Outgoing,
    paths: Paths,
    statistics: QuicStatistics,
    outputs: Outputs,
    /// Random numbers of TLS. `None` without real encryption.
    random: Option<Stream>,
    /// True if the connection was closed or given up.
    is_over: bool,
}

impl QuicEnd {
    /// Returns an end without a connection.
    pub fn new(config: Arc<QuicConfig>, id: EndpointId) -> QuicEnd {
        QuicEnd {
            outgoing: Outgoing::new(config.settings().streams),
            paths: Paths::new(&config),
            random: config.tls_random(id),
            config,
            outputs: Outputs::default(),
            id,
            clock: Clock::new(),
            machine: None,
            statistics: QuicStatistics::default(),
            is_over: false,
        }
    }

    /// Returns the counters of the end.
    pub fn statistics(&self) -> &QuicStatistics {
        &self.statistics
    }

    /// True if a path carries datagrams at this time. Other datagrams are lost at the ends.
    pub fn is_usable(&self, now: Time, path: usize) -> bool {
        self.paths.is_usable(now, path)
    }

    /// Returns the number of paths.
    pub fn path_count(&self) -> usize {
        self.paths.len()
    }

    /// Returns the counters of a path.
    pub fn path_statistics(&self, path: usize) -> &PathStatistics {
        self.paths.statistics(path)
    }

    /// Returns the sums of the counters over all paths.
    pub fn total(&self) -> PathStatistics {
        self.paths.total()
    }

    /// Returns the state of the sending direction on a path.
    pub fn sending(&self, path: usize) -> &Sending {
        self.paths.sending(path)
    }

    /// Returns the time of the next timer. [`Time::NEVER`] if no timer is armed.
    pub fn wake_at(&self) -> Time {
        let machine = self.machine.as_ref();
        let Some((_, connection)) = machine.and_then(|it| it.connection.as_ref()) else {
            return Time::NEVER;
        };
        let timeout = connection.poll_timeout();
        let timeout = timeout.map_or(Time::NEVER, |at| self.clock.time(at));
        timeout.min(self.paths.due_at())
    }

    /// Carries out a command of the application. Commands after the end of the connection have no
    /// effect, and neither have commands to read, because an end reads at once.
    pub fn on_app(&mut self, now: Time, command: AppCommand, out: &mut QuicOutbox) {
        if !self.is_over {
            self.lending(|end| end.command(now, command, out));
        }
    }

    /// Runs a step with the random numbers of TLS.
    fn lending(&mut self, step: impl FnOnce(&mut Self)) {
        match self.random.take() {
            None => step(self),
            Some(random) => {
                let ((), random) = tls::lend(random, || step(self));
                self.random = Some(random);
            }
        }
    }

    fn command(&mut self, now: Time, command: AppCommand, out: &mut QuicOutbox) {
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

    /// Processes a datagram with its payload and ECN field, which arrived on a path.
    pub fn on_datagram(
        &mut self,
        now: Time,
        path: usize,
        (payload, ecn): (&[u8], Ecn),
        out: &mut QuicOutbox,
    ) {
        self.lending(|end| end.receive(now, path, (payload, ecn), out));
    }

    fn receive(
        &mut self,
        now: Time,
        path: usize,
        (payload, ecn): (&[u8], Ecn),
        out: &mut QuicOutbox,
    ) {
        let Some(machine) = self.machine.as_deref_mut() else {
            return;
        };
        if !self.paths.is_usable(now, path) {
            return;
        }
        let at = self.clock.instant(now);
        let from = address(path, !self.statistics.is_client);
        let path = FourTuple::new(from, None);
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
                        self.outputs.built.clear();
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
        self.lending(|end| end.wake(now, out));
    }

    fn wake(&mut self, now: Time, out: &mut QuicOutbox) {
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
        self.paths.begin(now, is_client, &self.outputs.built);
        let (config, clock) = (&self.config, self.clock);
        let server = (!is_client).then(|| Arc::new(config.server(self.id, clock, &self.outputs)));
        let mut endpoint = Endpoint::new(Arc::new(config.endpoint(self.id)), server, true);
        let connection = is_client.then(|| {
            let client = config.client(self.id, clock, &self.outputs);
            let server = address(0, false);
            let opened = endpoint.connect(clock.instant(now), client, server, SERVER_NAME);
            opened.expect("the address and the version are valid")
        });
        self.machine = Some(Box::new(Machine {
            endpoint,
            connection,
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
            let mut is_busy = self.take_events(now, out);
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
            is_busy |= self.paths.step(now, at, connection);
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
        // Datagrams of a path that is not usable are lost at the end that sends them.
        out.datagrams
            .retain(|it| self.paths.is_usable(now, it.path));
        self.outputs.take(out);
        let connection = self.machine.as_ref().and_then(|it| it.connection.as_ref());
        if connection.is_some_and(|(_, connection)| connection.is_drained()) {
            self.machine = None;
        }
    }

    /// Processes the stack's events. Returns true if there were any.
    fn take_events(&mut self, now: Time, out: &mut QuicOutbox) -> bool {
        let machine = self.machine.as_deref_mut();
        let Some((_, connection)) = machine.and_then(|it| it.connection.as_mut()) else {
            return false;
        };
        let mut is_busy = false;
        while let Some(event) = connection.poll() {
            is_busy = true;
            match event {
                Event::Connected => out.events.push(AppEvent::Established),
                Event::HandshakeConfirmed => self.paths.on_confirmed(now, connection),
                Event::Path(event) => self.paths.on_event(event, connection),
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
        self.statistics.streams = self.outgoing.opened();
        self.statistics.open_streams = self.outgoing.unfinished();
        let machine = self.machine.as_deref_mut();
        if let Some((_, connection)) = machine.and_then(|it| it.connection.as_mut()) {
            self.paths.observe(now, connection);
        }
    }
}

impl Outputs {
    /// Moves the texts of a step into the outbox.
    fn take(&self, out: &mut QuicOutbox) {
        out.log = self.log.take();
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        out.secrets = std::mem::take(&mut *secrets);
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

/// Returns the datagram that the stack wrote into a buffer.
fn datagram(transmit: &Transmit, buffer: &[u8]) -> QuicDatagram {
    let ecn = match transmit.ecn {
        None => Ecn::NotEct,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    };
    QuicDatagram {
        path: path_of(transmit.destination),
        bytes: buffer[..transmit.size].to_vec(),
        ecn,
    }
}
