//! Socket options of `setsockopt` and `getsockopt`.

use crate::connection::Connection;
use crate::fast_open;
use crate::host::Host;
use crate::problem::Problem;
use crate::settings::{self, Settings};
use crate::sockets::{Kind, Request, Returned, Socket, Sockets, integer};
use fadeout_core::{Bytes, Span};
use fadeout_transport::tcp::{AppCommand, ReceiveWindow, SocketOption};

/// Options that do not affect scripts of one connection.
const WITHOUT_EFFECT: [&str; 10] = [
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "IP_MTU_DISCOVER",
    "IP_FREEBIND",
    "IP_TOS",
    "SO_PRIORITY",
    "SO_MARK",
    "SO_BINDTODEVICE",
    "IP_BIND_ADDRESS_NO_PORT",
    "SO_INCOMING_CPU",
];

const DONE: Returned = Returned::Number(0);
const INVALID: Returned = Returned::Error("EINVAL");

/// Socket option that a script sets: its name, and its value as a text and as a number.
struct Wanted<'a> {
    name: &'a str,
    value: &'a str,
    number: Option<i64>,
}

impl Wanted<'_> {
    fn is_on(&self) -> bool {
        self.number.is_some_and(|number| number != 0)
    }

    /// Sets a Fast Open option. Returns `None` if `name` is not such an option.
    fn of_fast_open(&self, socket: &mut Socket, settings: &Settings) -> Option<Returned> {
        let fast_open = &mut socket.extras.fast_open;
        match self.name {
            "TCP_FASTOPEN" => fast_open.queue = self.number.unwrap_or(0).clamp(0, 4_096) as u32,
            "TCP_FASTOPEN_CONNECT" if !fast_open::is_client(settings) => {
                return Some(Returned::Error("EOPNOTSUPP"));
            }
            "TCP_FASTOPEN_CONNECT" => fast_open.defers = self.is_on(),
            "TCP_FASTOPEN_NO_COOKIE" => fast_open.needs_none = self.is_on(),
            "TCP_FASTOPEN_KEY" => {
                let bytes = escaped(self.value.trim_matches('"'));
                match bytes.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()) {
                    Some(key) => fast_open.key = Some(key),
                    None => return Some(INVALID),
                }
            }
            _ => return None,
        }
        Some(DONE)
    }

    /// Sets an option of the send buffer. Returns `None` if `name` is not such an option.
    fn of_send_buffer(
        &self,
        socket: &mut Socket,
        connection: Option<&mut Connection>,
        machine_low_water: u64,
    ) -> Option<Returned> {
        match self.name {
            "SO_SNDBUF" | "SO_SNDBUFFORCE" => {
                let bytes = self.number.unwrap_or(0).clamp(0, 1 << 29) as u64;
                socket.extras.send_buffer = Some(bytes);
                if let Some(connection) = connection {
                    connection.buffer.fix(bytes);
                }
            }
            "TCP_NOTSENT_LOWAT" => {
                let Some(bytes) = self.number.and_then(|number| u32::try_from(number).ok()) else {
                    return Some(INVALID);
                };
                socket.extras.low_water = bytes;
                if let Some(connection) = connection {
                    let limit = low_water(bytes, machine_low_water);
                    connection.buffer.set_low_water(limit);
                }
            }
            _ => return None,
        }
        Some(DONE)
    }

    /// Sets an option that only matters before the socket connects. Returns `None` if `name` is not
    /// such an option.
    fn of_fresh_socket(&self, socket: &mut Socket) -> Option<Returned> {
        match (self.name, self.number) {
            ("TCP_MAXSEG", Some(mss @ 88..=32_767)) => {
                socket.asked_mss = Some(mss as u32);
                socket.config.mss = socket.config.mss.min(mss as u32);
            }
            ("TCP_MAXSEG", _) => return Some(INVALID),
            ("SO_RCVBUF" | "SO_RCVBUFFORCE", number) => {
                // Linux doubles the number and advertises half of the result, so the window equals
                // the number.
                let bytes = number.unwrap_or(0).clamp(2_304, 1 << 29) as u64;
                socket.config.buffers.receive_window = ReceiveWindow::Fixed { bytes };
            }
            ("SO_MAX_PACING_RATE", number) => {
                socket.config.host.maximum_pacing_rate =
                    settings::pacing_rate(number.unwrap_or(-1));
            }
            _ => return None,
        }
        Some(DONE)
    }

    /// Stores an endpoint option in the socket, and returns the change to apply to the endpoint.
    /// `None` if `name` is not such an option.
    fn of_endpoint(&self, socket: &mut Socket) -> Option<Result<SocketOption, Returned>> {
        Some(Ok(match self.name {
            "TCP_NODELAY" => {
                socket.config.host.nagle = !self.is_on();
                SocketOption::NoDelay(self.is_on())
            }
            "TCP_CORK" => {
                socket.is_corked = self.is_on();
                SocketOption::Cork(self.is_on())
            }
            "TCP_SYNCNT" => {
                let Some(count @ 1..=127) = self.number else {
                    return Some(Err(INVALID));
                };
                let syns = count as u32 + 1;
                socket.extras.syns = Some(syns);
                SocketOption::SynCount(syns)
            }
            "TCP_USER_TIMEOUT" => {
                let Some(millis) = self.number.and_then(|number| u32::try_from(number).ok()) else {
                    return Some(Err(INVALID));
                };
                let limit = (millis > 0).then(|| Span::from_millis(u64::from(millis)));
                socket.config.timers.user_timeout = limit;
                SocketOption::UserTimeout(limit)
            }
            "TCP_QUICKACK" => SocketOption::QuickAck(self.is_on()),
            "TCP_CONGESTION" => {
                let wanted = self.value.trim_matches(['[', ']', '"', ' ']);
                let Some(congestion) = Host::congestion(wanted) else {
                    return Some(Err(Returned::Error("ENOENT")));
                };
                wanted.clone_into(&mut socket.congestion);
                SocketOption::Congestion(Box::new(congestion))
            }
            _ => return None,
        }))
    }
}

impl Sockets {
    pub(crate) fn set_option(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
    ) -> Result<Returned, Problem> {
        let (name, value) = (request.text(2)?, request.text(3)?);
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(DONE);
        }
        let number = integer(value.trim_matches(['[', ']', ' ']));
        let wanted = Wanted {
            name,
            value,
            number,
        };
        let socket = self
            .open
            .get_mut(&fd)
            .expect("the socket was looked up before");
        let is_connected = socket.kind == Kind::Connected;
        if let Some(option) = wanted.of_endpoint(socket) {
            return match option {
                Ok(option) if is_connected => apply(host, request, option),
                Ok(_) => Ok(DONE),
                Err(returned) => Ok(returned),
            };
        }
        let connection = host.connection.as_mut().filter(|_| is_connected);
        let low_water = host.settings.low_water;
        if let Some(returned) = wanted.of_send_buffer(socket, connection, low_water) {
            return Ok(returned);
        }
        if let Some(returned) = wanted.of_fast_open(socket, &host.settings) {
            return Ok(returned);
        }
        if let Some(returned) = wanted.of_fresh_socket(socket) {
            if is_connected && returned == DONE {
                return Err(request.unsupported(&format!("`{name}` once connected")));
            }
            return Ok(returned);
        }
        match name {
            // Keepalive probes start after two idle hours, which no script reaches. Without a
            // connection this option has no effect.
            "SO_KEEPALIVE" if !is_connected => {}
            "TCP_KEEPIDLE" | "TCP_KEEPINTVL" | "TCP_KEEPCNT" if socket.waits_for_data => {}
            "TCP_RTO_MAX_MS" if !is_connected => match number {
                Some(millis @ 1_000..=120_000) => {
                    socket.config.timers.maximum_rto = Span::from_millis(millis as u64);
                }
                _ => return Ok(INVALID),
            },
            "TCP_INQ" => socket.reports_unread = wanted.is_on(),
            "SO_LINGER" => {
                let digits = value.replace(|c: char| !c.is_ascii_digit(), " ");
                let numbers: Vec<&str> = digits.split_whitespace().collect();
                socket.resets = matches!(numbers.as_slice(), ["1", "0"]);
            }
            _ => return Err(request.unsupported(&format!("the socket option `{name}`"))),
        }
        Ok(DONE)
    }

    /// Compares the value of an option with the one that the script expects: `getsockopt(4,
    /// SOL_TCP, NAME, [value], [4])`.
    pub(crate) fn option(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
    ) -> Result<Returned, Problem> {
        let name = request.text(2)?;
        let expected = request.text(3)?.trim_matches(['[', ']', ' ']);
        let socket = &self.open[&fd];
        let connection = host
            .connection
            .as_mut()
            .filter(|_| socket.kind == Kind::Connected);
        let actual = match name {
            "SO_ERROR" => {
                let error = connection.and_then(|connection| connection.error.take());
                let names = (error.unwrap_or("0"), expected);
                // A script may give the number of the error instead of its name.
                if names.0 == "0" || integer(names.1).is_none() {
                    names.0.to_owned()
                } else {
                    error_number(names.0).to_string()
                }
            }
            "SO_SNDBUF" => match connection {
                Some(connection) => connection.buffer.limit().to_string(),
                None => {
                    let fixed = socket.extras.send_buffer.map(|bytes| 2 * bytes);
                    fixed.unwrap_or(host.settings.send_buffer.0).to_string()
                }
            },
            "TCP_NOTSENT_LOWAT" => socket.extras.low_water.to_string(),
            "TCP_NODELAY" => i32::from(!socket.config.host.nagle).to_string(),
            "TCP_CORK" => i32::from(socket.is_corked).to_string(),
            "TCP_CONGESTION" => format!("\"{}\"", socket.congestion),
            "TCP_MAXSEG" => match connection {
                Some(connection) => connection.endpoint.info().snd_mss.to_string(),
                // Without a connection, the value is that of the application or Linux's
                // `TCP_MSS_DEFAULT`.
                None => socket.asked_mss.unwrap_or(536).to_string(),
            },
            _ => return Err(request.unsupported(&format!("reading the socket option `{name}`"))),
        };
        let is_same = expected.trim_matches('"') == actual.trim_matches('"')
            || integer(expected).is_some_and(|number| number.to_string() == actual);
        if expected != "..." && !is_same {
            let message = format!("`{name}` is not what the script expects");
            return Err(Problem::failed(request.line, message).between(expected, actual));
        }
        Ok(Returned::Number(0))
    }
}

/// Applies an option to the endpoint of a connected socket.
fn apply(
    host: &mut Host,
    request: &Request<'_>,
    option: SocketOption,
) -> Result<Returned, Problem> {
    let Some(connection) = &mut host.connection else {
        return Ok(DONE);
    };
    if connection.endpoint.is_multipath() {
        let name = request.text(2)?;
        let what = format!("`{name}` on a connected socket of Multipath TCP");
        return Err(request.unsupported(&what));
    }
    let may_send = matches!(option, SocketOption::NoDelay(_) | SocketOption::Cork(_));
    connection.endpoint.set(host.now, option);
    if may_send {
        host.command(AppCommand::Write(Bytes(0)));
    }
    Ok(DONE)
}

/// Returns the limit of unsent bytes in effect: the socket's limit, or the host's if the socket's
/// is zero.
pub(crate) fn low_water(of_socket: u32, of_machine: u64) -> u64 {
    match of_socket {
        0 => of_machine,
        bytes => u64::from(bytes),
    }
}

/// Parses escaped bytes such as `\\xf7\\x63`. `None` if an escape is invalid.
fn escaped(text: &str) -> Option<Vec<u8>> {
    let pairs = text.split("\\x").skip(1);
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).ok())
        .collect()
}

/// Returns the error number of Linux for the name of an error.
fn error_number(name: &str) -> u32 {
    match name {
        "ECONNABORTED" => 103,
        "ECONNRESET" => 104,
        "ETIMEDOUT" => 110,
        "ECONNREFUSED" => 111,
        _ => 0,
    }
}
