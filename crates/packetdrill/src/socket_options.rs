//! Socket options: `setsockopt` and `getsockopt`.

use crate::fast_open;
use crate::host::Host;
use crate::problem::Problem;
use crate::settings;
use crate::sockets::{Kind, Request, Returned, Sockets, integer};
use fadeout_core::{Bytes, Span};
use fadeout_transport::tcp::{AppCommand, ReceiveWindow, SocketOption};

impl Sockets {
    pub(crate) fn set_option(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
    ) -> Result<Returned, Problem> {
        let name = request.text(2)?.to_owned();
        let value = request.text(3)?.to_owned();
        let number = integer(value.trim_matches(['[', ']', ' ']));
        let is_on = number.is_some_and(|number| number != 0);
        let is_connected = self.open[&fd].kind == Kind::Connected;
        let socket = self
            .open
            .get_mut(&fd)
            .expect("the socket was looked up before");
        let connection = host.connection.as_mut().filter(|_| is_connected);
        match name.as_str() {
            "SO_REUSEADDR"
            | "SO_REUSEPORT"
            | "IP_MTU_DISCOVER"
            | "IP_FREEBIND"
            | "IP_TOS"
            | "SO_PRIORITY"
            | "SO_MARK"
            | "SO_BINDTODEVICE"
            | "IP_BIND_ADDRESS_NO_PORT"
            | "SO_INCOMING_CPU" => {}
            "TCP_NODELAY" => {
                socket.config.nagle = !is_on;
                if let Some(connection) = connection {
                    connection
                        .endpoint
                        .set(host.now, SocketOption::NoDelay(is_on));
                    host.command(AppCommand::Write(Bytes(0)));
                }
            }
            "TCP_CORK" => {
                socket.is_corked = is_on;
                if let Some(connection) = connection {
                    connection.endpoint.set(host.now, SocketOption::Cork(is_on));
                    host.command(AppCommand::Write(Bytes(0)));
                }
            }
            "SO_SNDBUF" | "SO_SNDBUFFORCE" => {
                let bytes = number.unwrap_or(0).clamp(0, 1 << 29) as u64;
                socket.extras.send_buffer = Some(bytes);
                if let Some(connection) = connection {
                    connection.buffer.fix(bytes);
                }
            }
            "TCP_NOTSENT_LOWAT" => {
                let Some(bytes) = number.and_then(|number| u32::try_from(number).ok()) else {
                    return Ok(Returned::Error("EINVAL"));
                };
                socket.extras.low_water = bytes;
                if let Some(connection) = connection {
                    let limit = low_water(bytes, host.settings.low_water);
                    connection.buffer.set_low_water(limit);
                }
            }
            "TCP_FASTOPEN" => {
                socket.extras.fast_open.queue = number.unwrap_or(0).clamp(0, 4_096) as u32;
            }
            "TCP_FASTOPEN_CONNECT" if !fast_open::is_client(&host.settings) => {
                return Ok(Returned::Error("EOPNOTSUPP"));
            }
            "TCP_FASTOPEN_CONNECT" => socket.extras.fast_open.defers = is_on,
            "TCP_FASTOPEN_NO_COOKIE" => socket.extras.fast_open.needs_none = is_on,
            "TCP_FASTOPEN_KEY" => {
                let bytes = escaped(value.trim_matches('"'));
                let Some(key) = bytes.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()) else {
                    return Ok(Returned::Error("EINVAL"));
                };
                socket.extras.fast_open.key = Some(key);
            }
            "TCP_SYNCNT" => match number {
                Some(count @ 1..=127) => {
                    let syns = count as u32 + 1;
                    socket.extras.syns = Some(syns);
                    if let Some(connection) = connection {
                        connection
                            .endpoint
                            .set(host.now, SocketOption::SynCount(syns));
                    }
                }
                _ => return Ok(Returned::Error("EINVAL")),
            },
            // It begins after two hours, which no script waits; without a connection nothing has to
            // be kept alive.
            "SO_KEEPALIVE" if !is_connected => {}
            "TCP_KEEPIDLE" | "TCP_KEEPINTVL" | "TCP_KEEPCNT" if socket.waits_for_data => {}
            "TCP_USER_TIMEOUT" => {
                let Some(millis) = number.and_then(|number| u32::try_from(number).ok()) else {
                    return Ok(Returned::Error("EINVAL"));
                };
                let limit = (millis > 0).then(|| Span::from_millis(u64::from(millis)));
                socket.config.user_timeout = limit;
                if let Some(connection) = connection {
                    connection
                        .endpoint
                        .set(host.now, SocketOption::UserTimeout(limit));
                }
            }
            "TCP_RTO_MAX_MS" if !is_connected => match number {
                Some(millis @ 1_000..=120_000) => {
                    socket.config.maximum_rto = Span::from_millis(millis as u64);
                }
                _ => return Ok(Returned::Error("EINVAL")),
            },
            "TCP_INQ" => socket.tells_unread = is_on,
            "TCP_QUICKACK" => {
                if let Some(connection) = connection {
                    connection
                        .endpoint
                        .set(host.now, SocketOption::QuickAck(is_on));
                }
            }
            "TCP_CONGESTION" => {
                let wanted = value.trim_matches(['[', ']', '"', ' ']);
                let Some(congestion) = Host::congestion(wanted) else {
                    return Ok(Returned::Error("ENOENT"));
                };
                wanted.clone_into(&mut socket.congestion);
                if let Some(connection) = connection {
                    connection
                        .endpoint
                        .set(host.now, SocketOption::Congestion(Box::new(congestion)));
                }
            }
            "TCP_MAXSEG" => match number {
                Some(mss @ 88..=32_767) => {
                    socket.asked_mss = Some(mss as u32);
                    socket.config.mss = socket.config.mss.min(mss as u32);
                    if is_connected {
                        return Err(request.unsupported(&format!("`{name}` once connected")));
                    }
                }
                _ => return Ok(Returned::Error("EINVAL")),
            },
            "SO_RCVBUF" | "SO_RCVBUFFORCE" => {
                // Linux doubles the number and offers half of that as window.
                let bytes = number.unwrap_or(0).clamp(2_304, 1 << 29) as u64;
                socket.config.receive_window = ReceiveWindow::Fixed { bytes };
                if is_connected {
                    return Err(request.unsupported(&format!("`{name}` once connected")));
                }
            }
            "SO_MAX_PACING_RATE" => {
                socket.config.maximum_pacing_rate = settings::pacing_rate(number.unwrap_or(-1));
                if is_connected {
                    return Err(request.unsupported(&format!("`{name}` once connected")));
                }
            }
            "SO_LINGER" => {
                let digits = value.replace(|c: char| !c.is_ascii_digit(), " ");
                let numbers: Vec<&str> = digits.split_whitespace().collect();
                socket.resets = matches!(numbers.as_slice(), ["1", "0"]);
            }
            _ => return Err(request.unsupported(&format!("the socket option `{name}`"))),
        }
        Ok(Returned::Number(0))
    }

    /// Checks what the script expects of an option: `getsockopt(4, SOL_TCP, NAME, [value], [4])`.
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
                // The script may write the number of the error.
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
            "TCP_NODELAY" => i32::from(!socket.config.nagle).to_string(),
            "TCP_CORK" => i32::from(socket.is_corked).to_string(),
            "TCP_CONGESTION" => format!("\"{}\"", socket.congestion),
            "TCP_MAXSEG" => match connection {
                Some(connection) => connection.endpoint.info().snd_mss.to_string(),
                // What the application asked for, or Linux's `TCP_MSS_DEFAULT`.
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

/// The limit on unsent bytes: the socket's, or else the machine's.
pub(crate) fn low_water(of_socket: u32, of_machine: u64) -> u64 {
    match of_socket {
        0 => of_machine,
        bytes => u64::from(bytes),
    }
}

/// The bytes of `\\xf7\\x63`.
fn escaped(text: &str) -> Option<Vec<u8>> {
    let pairs = text.split("\\x").skip(1);
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).ok())
        .collect()
}

/// Linux's number of an error.
fn error_number(name: &str) -> u32 {
    match name {
        "ECONNABORTED" => 103,
        "ECONNRESET" => 104,
        "ETIMEDOUT" => 110,
        "ECONNREFUSED" => 111,
        _ => 0,
    }
}
