//! System calls: their effects on the connection and their results.

use crate::connection::Connection;
use crate::fast_open::{self, Cookie};
use crate::host::{Extras, Host, Opening};
use crate::problem::Problem;
use crate::readiness::{self, Epolls, Events, Ready};
use crate::script::Call;
use fadeout_transport::tcp::{AppCommand, ConnectionState, SocketOption, TcpConfig};
use std::collections::{BTreeMap, BTreeSet};

/// Result of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returned {
    Number(i64),
    Error(&'static str),
    /// The call blocks and has no result yet.
    Blocked,
}

/// Open socket.
#[derive(Debug, Clone)]
pub(crate) struct Socket {
    pub(crate) kind: Kind,
    pub(crate) is_nonblocking: bool,
    pub(crate) config: TcpConfig,
    pub(crate) congestion: String,
    /// True for a socket of Multipath TCP (`IPPROTO_MPTCP`).
    pub(crate) is_multipath: bool,
    /// True if closing the socket resets the connection (`SO_LINGER` with a time of zero).
    pub(crate) resets: bool,
    pub(crate) is_corked: bool,
    /// True if the application ended reading (`SHUT_RD`).
    pub(crate) is_shut: bool,
    /// MSS that the application set (`TCP_MAXSEG`), in bytes. `None` if the application set none.
    pub(crate) asked_mss: Option<u32>,
    pub(crate) extras: Extras,
    /// True if received messages report the number of unread bytes (`TCP_INQ`).
    pub(crate) reports_unread: bool,
    /// Number of bytes that a blocked write has written so far. `None` if no write is blocked.
    pub(crate) writing: Option<u64>,
    /// True if the connection is opened by the first write.
    pub(crate) waits_for_data: bool,
}

impl Socket {
    /// Opens the connection. With Fast Open, the SYN may carry `fast` bytes, of which the
    /// application has already written `written`.
    pub(crate) fn begin(
        &mut self,
        host: &mut Host,
        fast: Option<u32>,
        cookie: Option<Cookie>,
        written: u64,
    ) {
        self.kind = Kind::Connected;
        host.open(&Opening {
            config: &self.config,
            extras: &self.extras,
            congestion: &self.congestion,
            is_passive: false,
            is_multipath: self.is_multipath,
            fast,
            cookie,
            written,
        });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Fresh,
    Listening,
    Connected,
}

/// Sockets of the host.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    pub(crate) open: BTreeMap<i64, Socket>,
    epolls: Epolls,
    files: BTreeSet<i64>,
    /// Total number of bytes that the script wrote.
    pub(crate) written: u64,
}

/// System call that is performed, with its line.
pub(crate) struct Request<'a> {
    pub(crate) line: usize,
    pub(crate) call: &'a Call,
}

impl Request<'_> {
    pub(crate) fn text(&self, index: usize) -> Result<&str, Problem> {
        self.call
            .arguments
            .get(index)
            .map(String::as_str)
            .ok_or_else(|| {
                let message = format!(
                    "`{}` takes at least {} arguments",
                    self.call.name,
                    index + 1
                );
                Problem::invalid(self.line, message)
            })
    }

    pub(crate) fn number(&self, index: usize) -> Result<i64, Problem> {
        let text = self.text(index)?;
        integer(text).ok_or_else(|| {
            let message = format!("`{}`: `{text}` must be a whole number", self.call.name);
            Problem::invalid(self.line, message)
        })
    }

    pub(crate) fn unsupported(&self, what: &str) -> Problem {
        Problem::unsupported(self.line, format!("{what} is not supported"))
    }

    /// Returns true if `name` is one of the names in an argument such as `A|B|C`.
    pub(crate) fn has(&self, index: usize, name: &str) -> bool {
        let argument = self.call.arguments.get(index);
        argument.is_some_and(|text| text.split('|').any(|one| one.trim() == name))
    }
}

impl Sockets {
    /// Returns the listening socket. `None` if no socket listens.
    pub(crate) fn listener(&self) -> Option<&Socket> {
        self.open.values().find(|one| one.kind == Kind::Listening)
    }

    /// Returns true if an open socket exists whose `tcp_info` can be read.
    pub(crate) fn has_connection(&self) -> bool {
        self.open.values().any(|one| one.kind == Kind::Connected)
    }

    /// Performs `call`. `is_due` is true if the timeout of the call has expired.
    pub(crate) fn perform(
        &mut self,
        host: &mut Host,
        call: &Call,
        line: usize,
        is_due: bool,
    ) -> Result<Returned, Problem> {
        let request = Request { line, call };
        match call.name.as_str() {
            "socket" => return self.socket(host, &request),
            "epoll_create" | "epoll_create1" => {
                let fd = self.free_descriptor(&request);
                self.epolls.open(fd);
                return Ok(Returned::Number(fd));
            }
            "open" => {
                let fd = self.free_descriptor(&request);
                self.files.insert(fd);
                return Ok(Returned::Number(fd));
            }
            "epoll_ctl" | "epoll_wait" | "poll" => return self.wait(host, &request, is_due),
            _ => {}
        }
        if let Some(what) = refused(&call.name) {
            return Err(Problem::unsupported(line, what));
        }
        let fd = request.number(0)?;
        if call.name == "close" && (self.epolls.close(fd) || self.files.remove(&fd)) {
            return Ok(Returned::Number(0));
        }
        if !self.open.contains_key(&fd) {
            return Ok(Returned::Error("EBADF"));
        }
        match call.name.as_str() {
            "bind" => Ok(Returned::Number(0)),
            "listen" => {
                let backlog = request.number(1)?.clamp(0, 4_096) as u32;
                let socket = self.socket_mut(fd);
                socket.kind = Kind::Listening;
                host.listens_anew = true;
                let wishes = &mut socket.extras.fast_open;
                wishes.queue = fast_open::queue_on_listen(&host.settings, wishes.queue, backlog);
                Ok(Returned::Number(0))
            }
            "accept" | "accept4" => Ok(self.accept(host, &request, fd)),
            "connect" => self.connect(host, fd),
            "read" | "recv" | "recvfrom" | "readv" | "recvmsg" => self.read(host, &request, fd),
            "sendfile" if !self.files.contains(&request.number(1)?) => Ok(Returned::Error("EBADF")),
            "sendfile" | "write" | "send" | "sendto" | "writev" | "sendmsg" => {
                self.write(host, &request, fd)
            }
            "shutdown" => self.shutdown(host, &request, fd),
            "close" => {
                self.close(host, fd);
                Ok(Returned::Number(0))
            }
            "fcntl" => Ok(self.fcntl(&request, fd)),
            "ioctl" => ioctl(host, &request),
            "setsockopt" => self.set_option(host, &request, fd),
            "getsockopt" => self.option(host, &request, fd),
            name => Err(request.unsupported(&format!("the call `{name}`"))),
        }
    }

    pub(crate) fn socket_mut(&mut self, fd: i64) -> &mut Socket {
        self.open
            .get_mut(&fd)
            .expect("the socket was looked up before")
    }

    fn socket(&mut self, host: &Host, request: &Request<'_>) -> Result<Returned, Problem> {
        for (index, name, what) in [
            (1, "SOCK_DGRAM", "UDP"),
            (1, "SOCK_RAW", "a raw socket"),
            (2, "IPPROTO_UDP", "UDP"),
            (2, "IPPROTO_SCTP", "SCTP"),
        ] {
            if request.has(index, name) {
                return Err(request.unsupported(what));
            }
        }
        let socket = Socket {
            kind: Kind::Fresh,
            is_nonblocking: request.has(1, "SOCK_NONBLOCK"),
            config: host.settings.config.clone(),
            congestion: host.settings.congestion.clone(),
            is_multipath: request.has(2, "IPPROTO_MPTCP"),
            resets: false,
            is_corked: false,
            is_shut: false,
            asked_mss: None,
            extras: Extras::default(),
            reports_unread: false,
            writing: None,
            waits_for_data: false,
        };
        Ok(self.insert(request, socket))
    }

    /// Adds a socket under the descriptor of the script, or under the lowest free descriptor.
    fn insert(&mut self, request: &Request<'_>, socket: Socket) -> Returned {
        let fd = self.free_descriptor(request);
        self.open.insert(fd, socket);
        Returned::Number(fd)
    }

    fn free_descriptor(&self, request: &Request<'_>) -> i64 {
        let is_free = |fd: &i64| !self.is_open(*fd);
        // The descriptors of a script serve as names. If a descriptor is already in use, the new
        // socket replaces the old one.
        let wanted = request.call.returns.filter(|fd| *fd >= 0);
        wanted.unwrap_or_else(|| (3..).find(is_free).unwrap_or(3))
    }

    fn is_open(&self, fd: i64) -> bool {
        self.open.contains_key(&fd) || self.epolls.has(fd) || self.files.contains(&fd)
    }

    /// Performs a `poll` or `epoll_wait` call.
    fn wait(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        is_due: bool,
    ) -> Result<Returned, Problem> {
        let Request { line, call } = *request;
        if let Some(connection) = &mut host.connection
            && !connection.buffer.is_writable(&connection.progress())
        {
            connection.buffer.miss();
        }
        let host = &*host;
        let Sockets { open, epolls, .. } = self;
        let ready = |fd: i64| open.get(&fd).map(|socket| readiness_of(host, socket));
        let answer = match call.name.as_str() {
            "epoll_ctl" => epolls.control(line, call, |fd| open.contains_key(&fd)),
            "epoll_wait" => epolls.wait(line, call, is_due, ready),
            _ => readiness::poll(line, call, is_due, ready),
        };
        Ok(match answer? {
            Some(Ok(number)) => Returned::Number(number),
            Some(Err(error)) => Returned::Error(error),
            None => Returned::Blocked,
        })
    }

    fn accept(&mut self, host: &mut Host, request: &Request<'_>, fd: i64) -> Returned {
        let listener = &self.open[&fd];
        if listener.kind != Kind::Listening {
            return Returned::Error("EINVAL");
        }
        if !host.may_accept {
            return wait(listener);
        }
        host.may_accept = false;
        let accepted = Socket {
            kind: Kind::Connected,
            is_nonblocking: request.has(3, "SOCK_NONBLOCK"),
            ..listener.clone()
        };
        self.insert(request, accepted)
    }

    fn connect(&mut self, host: &mut Host, fd: i64) -> Result<Returned, Problem> {
        let socket = self.socket_mut(fd);
        if socket.kind == Kind::Listening {
            return Ok(Returned::Error("EISCONN"));
        }
        let is_new = socket.kind == Kind::Fresh;
        if is_new {
            let wishes = &socket.extras.fast_open;
            let plan = host.cache.plan(&host.settings, wishes, socket.config.mss);
            if socket.waits_for_data {
                return Ok(Returned::Error("EISCONN"));
            }
            if wishes.defers && plan.room.is_some() {
                socket.waits_for_data = true;
                return Ok(Returned::Number(0));
            }
            let cookie = plan.option.filter(|_| wishes.defers);
            socket.begin(host, cookie.map(|_| 0), cookie, 0);
        }
        let Some(connection) = &mut host.connection else {
            return Ok(Returned::Error("EINVAL"));
        };
        if let Some(error) = connection.error.take() {
            return Ok(Returned::Error(error));
        }
        Ok(
            match (connection.is_established, is_new, socket.is_nonblocking) {
                (true, true, _) => Returned::Number(0),
                // A blocked `connect` has completed, or the socket was already connected.
                (true, false, false) => Returned::Number(0),
                (true, false, true) => Returned::Error("EISCONN"),
                (false, true, true) => Returned::Error("EINPROGRESS"),
                (false, false, true) => Returned::Error("EALREADY"),
                (false, _, false) => Returned::Blocked,
            },
        )
    }

    fn shutdown(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
    ) -> Result<Returned, Problem> {
        let (reads, writes) = match request.text(1)? {
            "SHUT_RD" => (true, false),
            "SHUT_WR" => (false, true),
            "SHUT_RDWR" => (true, true),
            _ => return Ok(Returned::Error("EINVAL")),
        };
        let socket = self.socket_mut(fd);
        let now = host.now;
        let Some(connection) = connected(host, socket) else {
            return Ok(Returned::Error("ENOTCONN"));
        };
        if connection.endpoint.state() == ConnectionState::Closed {
            return Ok(Returned::Error("ENOTCONN"));
        }
        socket.is_shut |= reads;
        if writes {
            connection.endpoint.set(now, SocketOption::Cork(false));
            host.command(AppCommand::Close);
        }
        Ok(Returned::Number(0))
    }

    fn close(&mut self, host: &mut Host, fd: i64) {
        let Some(socket) = self.open.remove(&fd) else {
            return;
        };
        self.epolls.close(fd);
        let Some(connection) = &mut host.connection else {
            return;
        };
        if socket.kind == Kind::Listening && std::mem::take(&mut host.may_accept) {
            // After the listener is closed, no call can accept the waiting connection.
            connection.is_released = true;
            host.command(AppCommand::Abort);
            return;
        }
        if socket.kind != Kind::Connected {
            return;
        }
        connection.is_released = true;
        let now = host.now;
        connection.endpoint.set(now, SocketOption::Cork(false));
        // Closing discards unread data. A reset reports the loss to the peer (RFC 2525 section
        // 2.17).
        let is_over = connection.endpoint.state() == ConnectionState::Closed;
        let aborts = (connection.unread > 0 || socket.resets) && !is_over;
        host.command(if aborts {
            AppCommand::Abort
        } else {
            AppCommand::Close
        });
    }

    fn fcntl(&mut self, request: &Request<'_>, fd: i64) -> Returned {
        const READ_WRITE: i64 = 2;
        const NONBLOCKING: i64 = 0o4000;
        let socket = self.socket_mut(fd);
        if request.has(1, "F_SETFL") {
            socket.is_nonblocking = request.has(2, "O_NONBLOCK");
            return Returned::Number(0);
        }
        if request.has(1, "F_GETFL") {
            let extra = if socket.is_nonblocking {
                NONBLOCKING
            } else {
                0
            };
            return Returned::Number(READ_WRITE | extra);
        }
        Returned::Error("EINVAL")
    }
}

pub(crate) fn wait(socket: &Socket) -> Returned {
    if socket.is_nonblocking {
        Returned::Error("EAGAIN")
    } else {
        Returned::Blocked
    }
}

/// Returns the readiness of a socket.
fn readiness_of(host: &Host, socket: &Socket) -> Ready {
    let idle = |events| Ready {
        events,
        arrived: 0,
        openings: 0,
    };
    let connection = match (socket.kind, &host.connection) {
        (Kind::Listening, _) if host.may_accept => return idle(Events::IN),
        (Kind::Listening, _) => return idle(Events::NONE),
        (Kind::Connected, Some(connection)) => connection,
        (Kind::Fresh, _) if socket.waits_for_data => return idle(Events::OUT),
        _ => return idle(Events::OUT.union(Events::HANG_UP)),
    };
    let state = connection.endpoint.state();
    let is_broken = connection.error.is_some() || state == ConnectionState::Closed;
    let may_send = matches!(
        state,
        ConnectionState::Established | ConnectionState::CloseWait
    );
    let mut events = Events::NONE;
    if !connection.is_established && !is_broken {
        return idle(events);
    }
    if connection.unread > 0 {
        events = events.union(Events::IN);
    }
    if connection.peer_closed || is_broken {
        events = events.union(Events::IN).union(Events::PEER_HANG_UP);
    }
    if (connection.peer_closed && !may_send) || is_broken {
        events = events.union(Events::HANG_UP);
    }
    if connection.error.is_some() {
        events = events.union(Events::ERROR);
    }
    // The socket is also writable after the end of sending, because a write then fails at once.
    if !may_send || is_broken || connection.buffer.is_writable(&connection.progress()) {
        events = events.union(Events::OUT);
    }
    Ready {
        events,
        openings: connection.buffer.openings(),
        arrived: connection.read + connection.unread,
    }
}

pub(crate) fn connected<'a>(host: &'a mut Host, socket: &Socket) -> Option<&'a mut Connection> {
    host.connection
        .as_mut()
        .filter(|_| socket.kind == Kind::Connected)
}

fn ioctl(host: &mut Host, request: &Request<'_>) -> Result<Returned, Problem> {
    let name = request.text(1)?;
    let connection = host.connection.as_ref();
    let actual = match name {
        "SIOCINQ" | "FIONREAD" => connection.map_or(0, |connection| connection.unread),
        "SIOCOUTQ" | "TIOCOUTQ" => connection.map_or(0, |connection| {
            let acked = connection.endpoint.acked_bytes();
            connection.written.saturating_sub(acked)
        }),
        "SIOCOUTQNSD" => connection.map_or(0, Connection::unsent),
        _ => return Err(request.unsupported(&format!("the ioctl `{name}`"))),
    };
    let expected = request.text(2)?.trim_matches(['[', ']', ' ']);
    if expected != "..." && integer(expected) != Some(actual as i64) {
        let message = format!("`{name}` is not what the script expects");
        return Err(Problem::failed(request.line, message).between(expected, actual.to_string()));
    }
    Ok(Returned::Number(0))
}

/// Returns an explanation if the call is known but not supported.
fn refused(name: &str) -> Option<&'static str> {
    Some(match name {
        "sendmmsg" | "recvmmsg" => "mmsg calls are not supported",
        "epoll_pwait" => "epoll_pwait is not supported",
        "ppoll" => "ppoll is not supported",
        "select" | "pselect" => "select is not supported",
        "splice" | "pipe" => "splice is not supported",
        "mmap" | "munmap" => "zero-copy receive is not supported",
        "cap_set" | "eventfd" => "this call is not supported",
        _ if name.starts_with("sctp_") => "SCTP is not supported",
        _ => return None,
    })
}

/// Parses a decimal, octal or hexadecimal whole number.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).ok();
    }
    text.parse().ok()
}
