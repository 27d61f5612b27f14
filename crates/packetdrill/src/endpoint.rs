//! Endpoint under test: a TCP endpoint, or a Multipath TCP connection with a TCP endpoint for each
//! path.

use fadeout_core::{Ecn, NullProbe, Segment, Time};
use fadeout_transport::multipath::{MultipathConnection, PathId, PathOutbox};
use fadeout_transport::tcp::{
    AppCommand, AppEvent, ConnectionState, Outbox, SocketOption, TcpEndpoint, TcpInfo,
};

/// Endpoint under test.
#[derive(Debug)]
pub(crate) enum Endpoint {
    Tcp(Box<TcpEndpoint>),
    Multipath(Box<MultipathEnd>),
}

/// Multipath TCP connection with the state of its socket.
#[derive(Debug)]
pub(crate) struct MultipathEnd {
    connection: MultipathConnection,
    is_established: bool,
    /// True if the application closed the sending direction.
    is_closing: bool,
    peer_closed: bool,
    is_over: bool,
}

impl Endpoint {
    pub(crate) fn tcp(endpoint: TcpEndpoint) -> Endpoint {
        Endpoint::Tcp(Box::new(endpoint))
    }

    pub(crate) fn multipath(connection: MultipathConnection) -> Endpoint {
        Endpoint::Multipath(Box::new(MultipathEnd {
            connection,
            is_established: false,
            is_closing: false,
            peer_closed: false,
            is_over: false,
        }))
    }

    pub(crate) fn is_multipath(&self) -> bool {
        matches!(self, Endpoint::Multipath(_))
    }

    /// Processes a command of the application.
    pub(crate) fn on_app(&mut self, now: Time, command: AppCommand, out: &mut PathOutbox) {
        match self {
            Endpoint::Tcp(tcp) => step(out, |out| tcp.on_app(now, command, out, &mut NullProbe)),
            Endpoint::Multipath(end) => {
                end.is_closing |= command == AppCommand::Close;
                (end.connection).on_app(now, command, out, &mut NullProbe);
                end.follow(out);
            }
        }
    }

    /// Processes a segment that arrives on `path`.
    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        path: usize,
        segment: &Segment,
        ecn: Ecn,
        out: &mut PathOutbox,
    ) {
        match self {
            Endpoint::Tcp(tcp) => step(out, |out| {
                tcp.on_segment(now, segment, ecn, out, &mut NullProbe);
            }),
            Endpoint::Multipath(end) => {
                let path = PathId(path as u8);
                (end.connection).on_segment(now, path, segment, ecn, out, &mut NullProbe);
                end.follow(out);
            }
        }
    }

    /// Processes the expiry of a timer.
    pub(crate) fn on_wake(&mut self, now: Time, out: &mut PathOutbox) {
        match self {
            Endpoint::Tcp(tcp) => step(out, |out| tcp.on_wake(now, out, &mut NullProbe)),
            Endpoint::Multipath(end) => {
                end.connection.on_wake(now, out, &mut NullProbe);
                end.follow(out);
            }
        }
    }

    /// Returns the time at which the next timer expires.
    pub(crate) fn wake_at(&self) -> Time {
        match self {
            Endpoint::Tcp(tcp) => tcp.wake_at(),
            Endpoint::Multipath(end) => end.connection.wake_at(),
        }
    }

    /// Returns the state of the socket.
    pub(crate) fn state(&self) -> ConnectionState {
        match self {
            Endpoint::Tcp(tcp) => tcp.state(),
            Endpoint::Multipath(end) => end.state(),
        }
    }

    /// Returns the state of the subflow of `path`.
    pub(crate) fn path_state(&self, path: usize) -> ConnectionState {
        self.subflow(path).state()
    }

    /// Returns the state of the first subflow for `tcp_info`.
    pub(crate) fn info(&self) -> TcpInfo {
        self.subflow(0).info()
    }

    /// Returns the number of bytes that the peer acknowledged.
    pub(crate) fn acked_bytes(&self) -> u64 {
        match self {
            Endpoint::Tcp(tcp) => tcp.acked_bytes(),
            Endpoint::Multipath(end) => end.connection.acked_bytes(),
        }
    }

    /// Returns the number of bytes that the peer acknowledged on `path`.
    pub(crate) fn acked_on(&self, path: usize) -> u64 {
        self.subflow(path).acked_bytes()
    }

    /// Returns the number of bytes that arrived in order on `path`. `None` for plain TCP, which
    /// counts bytes for the socket only.
    pub(crate) fn arrived_on(&self, path: usize) -> Option<u64> {
        match self {
            Endpoint::Tcp(_) => None,
            Endpoint::Multipath(end) => {
                let statistics = end.connection.statistics(PathId(path as u8));
                Some(statistics.arrived_bytes)
            }
        }
    }

    /// Returns the number of bytes that were never sent. The application wrote `written` bytes.
    pub(crate) fn unsent_bytes(&self, written: u64) -> u64 {
        match self {
            Endpoint::Tcp(tcp) => tcp.info().notsent_bytes,
            Endpoint::Multipath(end) => {
                let sent = |path| end.connection.statistics(path).sent_bytes;
                let sent: u64 = end.connection.path_ids().map(sent).sum();
                written.saturating_sub(sent)
            }
        }
    }

    /// Sets a socket option. Subflows of a connection keep the options with which they were opened.
    pub(crate) fn set(&mut self, now: Time, option: SocketOption) {
        match self {
            Endpoint::Tcp(tcp) => tcp.set(now, option),
            Endpoint::Multipath(_) => {}
        }
    }

    fn subflow(&self, path: usize) -> &TcpEndpoint {
        match self {
            Endpoint::Tcp(tcp) => tcp,
            Endpoint::Multipath(end) => end.connection.subflow(PathId(path as u8)),
        }
    }
}

impl MultipathEnd {
    /// Updates the state of the socket from the events of a step.
    fn follow(&mut self, out: &PathOutbox) {
        for event in &out.events {
            match event {
                AppEvent::Established => self.is_established = true,
                AppEvent::PeerClosed => self.peer_closed = true,
                AppEvent::Aborted | AppEvent::Closed => self.is_over = true,
                AppEvent::AllAcknowledged => {}
            }
        }
    }

    fn state(&self) -> ConnectionState {
        if self.is_over {
            return ConnectionState::Closed;
        }
        if !self.is_established {
            return self.connection.subflow(PathId(0)).state();
        }
        match (self.is_closing, self.peer_closed) {
            (false, false) => ConnectionState::Established,
            (false, true) => ConnectionState::CloseWait,
            (true, false) => ConnectionState::FinWait1,
            (true, true) => ConnectionState::LastAck,
        }
    }
}

/// Runs a step of a TCP endpoint. Its outputs get the number of the only path.
fn step(out: &mut PathOutbox, act: impl FnOnce(&mut Outbox)) {
    let mut own = Outbox::default();
    act(&mut own);
    let segments = own.segments.drain(..);
    out.segments
        .extend(segments.map(|outgoing| (PathId(0), outgoing)));
    out.events.append(&mut own.events);
    out.delivered_bytes += own.delivered_bytes;
}
