//! System calls that read or write data (Linux `tcp_recvmsg`, `tcp_sendmsg`).

use crate::connection::Connection;
use crate::fast_open;
use crate::host::Host;
use crate::problem::Problem;
use crate::sockets::{Kind, Request, Returned, Socket, Sockets, connected, wait};
use fadeout_core::Bytes;
use fadeout_transport::tcp::{AppCommand, ConnectionState, SocketOption};

/// Largest total number of bytes that a script may write.
const MOST_WRITTEN: u64 = 16 << 20;

impl Sockets {
    pub(crate) fn read(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
    ) -> Result<Returned, Problem> {
        let socket = &self.open[&fd];
        let flags_at = if request.call.name == "recvmsg" { 2 } else { 3 };
        for name in ["MSG_ERRQUEUE", "MSG_ZEROCOPY", "MSG_OOB"] {
            if request.has(flags_at, name) {
                return Err(request.unsupported(name));
            }
        }
        let wanted = match request.call.name.as_str() {
            "readv" => vector_length(request.text(1)?),
            "recvmsg" => message_length(request.text(1)?),
            _ => request.number(2)?,
        };
        let wanted = u64::try_from(wanted).unwrap_or(0);
        if socket.waits_for_data {
            return Ok(wait(socket));
        }
        let Some(connection) = connected(host, socket) else {
            return Ok(Returned::Error("ENOTCONN"));
        };
        if connection.unread == 0 && wanted > 0 {
            if let Some(error) = connection.error.take() {
                return Ok(Returned::Error(error));
            }
            let is_over = connection.peer_closed
                || socket.is_shut
                || connection.endpoint.state() == ConnectionState::Closed;
            if is_over {
                return Ok(Returned::Number(0));
            }
            if request.has(flags_at, "MSG_DONTWAIT") {
                return Ok(Returned::Error("EAGAIN"));
            }
            return Ok(wait(socket));
        }
        let taken = wanted.min(connection.unread);
        if taken > 0 && request.text(1)? == "NULL" {
            return Ok(Returned::Error("EFAULT"));
        }
        if request.has(flags_at, "MSG_WAITALL") && taken < wanted && !connection.peer_closed {
            return Ok(wait(socket));
        }
        if !request.has(flags_at, "MSG_PEEK") {
            connection.unread -= taken;
            connection.read += taken;
            host.command(AppCommand::Read(Bytes(taken)));
        }
        if socket.reports_unread && request.call.name == "recvmsg" {
            check_unread(host, request)?;
        }
        Ok(Returned::Number(taken as i64))
    }

    pub(crate) fn write(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
    ) -> Result<Returned, Problem> {
        let flags_at = if request.call.name == "sendmsg" { 2 } else { 3 };
        check_flags(request, flags_at, self.open[&fd].is_multipath)?;
        let bytes = bytes_to_write(request)?;
        let is_fast = request.has(flags_at, "MSG_FASTOPEN")
            || request.has(flags_at, "0x20000000")
            || self.open[&fd].waits_for_data;
        if is_fast && self.open[&fd].kind == Kind::Fresh {
            return self.open_fast(host, request, fd, bytes, flags_at);
        }
        let socket = self.open[&fd].clone();
        let now = host.now;
        let Some(connection) = connected(host, &socket) else {
            return Ok(Returned::Error("EPIPE"));
        };
        if let Some(refusal) = refusal(connection, &socket, is_fast) {
            return Ok(refusal);
        }
        if bytes > 0 && request.text(1)? == "NULL" && request.call.name != "sendfile" {
            return Ok(Returned::Error("EFAULT"));
        }
        let before = socket.writing;
        if before.is_some() && connection.buffer.lacks_room() {
            return Ok(Returned::Blocked);
        }
        let before = before.unwrap_or(0);
        let progress = connection.progress();
        let taken = connection
            .buffer
            .accept_write(&progress, bytes - before.min(bytes));
        self.written += taken;
        if self.written > MOST_WRITTEN {
            let message = format!("a script writes at most {MOST_WRITTEN} bytes in all");
            return Err(Problem::invalid(request.line, message));
        }
        let more = request.has(flags_at, "MSG_MORE");
        let corks = socket.is_corked || more;
        connection.endpoint.set(now, SocketOption::Cork(corks));
        connection.endpoint.set(now, SocketOption::More(more));
        if request.has(flags_at, "MSG_EOR") && taken > 0 {
            let record = SocketOption::EndRecordAfter(Bytes(taken));
            connection.endpoint.set(now, record);
        }
        if taken > 0 || bytes == 0 {
            host.command(AppCommand::Write(Bytes(taken)));
        }
        // `MSG_MORE` applies to this call only, so the next ACK may cause the data to be sent.
        if let Some(connection) = connected(host, &socket) {
            connection
                .endpoint
                .set(now, SocketOption::Cork(socket.is_corked));
        }
        let done = before + taken;
        let may_wait = !socket.is_nonblocking && !request.has(flags_at, "MSG_DONTWAIT");
        let blocks = done < bytes && may_wait;
        self.socket_mut(fd).writing = blocks.then_some(done);
        Ok(match done {
            _ if blocks => Returned::Blocked,
            0 if bytes > 0 => Returned::Error("EAGAIN"),
            done => Returned::Number(done as i64),
        })
    }

    /// Opens the connection with the first written data, or requests a Fast Open cookie (Linux
    /// `tcp_sendmsg_fastopen`).
    fn open_fast(
        &mut self,
        host: &mut Host,
        request: &Request<'_>,
        fd: i64,
        bytes: u64,
        flags_at: usize,
    ) -> Result<Returned, Problem> {
        let has_no_address = request
            .call
            .arguments
            .iter()
            .any(|text| text == "AF_UNSPEC");
        if !fast_open::is_client(&host.settings) || has_no_address {
            return Ok(Returned::Error("EOPNOTSUPP"));
        }
        let may_wait = !self.open[&fd].is_nonblocking && !request.has(flags_at, "MSG_DONTWAIT");
        let socket = self.socket_mut(fd);
        let wishes = &socket.extras.fast_open;
        let plan = host.cache.plan(&host.settings, wishes, socket.config.mss);
        let room = plan.room.unwrap_or(0);
        let early = u64::from(room).min(bytes);
        let written = if may_wait { bytes } else { early };
        if written > 0 && request.text(1)? == "NULL" {
            return Ok(Returned::Error("EFAULT"));
        }
        socket.waits_for_data = false;
        socket.begin(host, Some(room), plan.option, written);
        self.written += written;
        if may_wait {
            self.socket_mut(fd).writing = Some(bytes);
            return Ok(Returned::Blocked);
        }
        Ok(match early {
            0 => Returned::Error("EINPROGRESS"),
            early => Returned::Number(early as i64),
        })
    }
}

/// Checks the number of unread bytes in the control message `TCP_CM_INQ`. If no data is unread, the
/// end of the peer's data counts as one byte.
fn check_unread(host: &Host, request: &Request<'_>) -> Result<(), Problem> {
    let text = request.text(1)?;
    let Some((_, control)) = text.split_once("TCP_CM_INQ") else {
        return Ok(());
    };
    let data = control
        .split_once("cmsg_data=")
        .map_or("", |(_, data)| data);
    let digits = data.split(|c: char| !c.is_ascii_digit()).next();
    let expected: Option<u64> = digits.and_then(|digits| digits.parse().ok());
    let connection = host.connection.as_ref();
    let actual = connection.map_or(0, |connection| match connection.unread {
        0 => u64::from(connection.peer_closed),
        unread => unread,
    });
    match expected {
        Some(expected) if expected != actual => {
            let message = "`TCP_CM_INQ` is not what the script expects";
            let problem = Problem::failed(request.line, message);
            Err(problem.between(expected.to_string(), actual.to_string()))
        }
        _ => Ok(()),
    }
}

/// Returns the total length of an I/O vector such as `[{..., 1000}, {..., 500}]`.
fn vector_length(text: &str) -> i64 {
    text.split("...")
        .skip(1)
        .filter_map(|part| {
            let digits = part.trim_start().strip_prefix(',')?.trim_start();
            let end = digits
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(digits.len());
            digits[..end].parse::<i64>().ok()
        })
        .fold(0, i64::saturating_add)
}

/// Returns the payload length of a message such as `{msg_name(...)=..., msg_iov(1)=[{..., 5000}],
/// msg_flags=0}`.
fn message_length(text: &str) -> i64 {
    let vector = text.split_once("msg_iov").map_or("", |(_, rest)| rest);
    let vector = vector.split_once(']').map_or(vector, |(vector, _)| vector);
    vector_length(vector)
}

/// Returns the number of bytes that a call such as `write` or `sendmsg` asks to write.
fn bytes_to_write(request: &Request<'_>) -> Result<u64, Problem> {
    let bytes = match request.call.name.as_str() {
        "sendfile" => request.number(3)?,
        "writev" => vector_length(request.text(1)?),
        "sendmsg" => message_length(request.text(1)?),
        _ => request.number(2)?,
    };
    Ok(u64::try_from(bytes).unwrap_or(0))
}

/// Returns an error that names a flag of a write that is not supported.
fn check_flags(request: &Request<'_>, at: usize, is_multipath: bool) -> Result<(), Problem> {
    for name in ["MSG_ZEROCOPY", "MSG_OOB"] {
        if request.has(at, name) {
            return Err(request.unsupported(name));
        }
    }
    for name in ["MSG_MORE", "MSG_EOR", "MSG_FASTOPEN"] {
        if is_multipath && request.has(at, name) {
            let what = format!("{name} on a socket of Multipath TCP");
            return Err(request.unsupported(&what));
        }
    }
    Ok(())
}

/// Returns the result of a write that the connection cannot accept now. `None` if it can. A
/// connection refuses data if it failed, is closed for writing or is not established.
fn refusal(connection: &mut Connection, socket: &Socket, is_fast: bool) -> Option<Returned> {
    if let Some(error) = connection.error.take() {
        return Some(Returned::Error(error));
    }
    let is_open = matches!(
        connection.endpoint.state(),
        ConnectionState::Established
            | ConnectionState::CloseWait
            | ConnectionState::SynSent
            | ConnectionState::SynReceived
    );
    if !is_open {
        Some(Returned::Error("EPIPE"))
    } else if connection.is_established {
        None
    } else if is_fast && socket.is_nonblocking {
        Some(Returned::Error("EALREADY"))
    } else {
        Some(wait(socket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_add_up() {
        assert_eq!(vector_length("[{..., 1000}, {..., 500}]"), 1500);
        let message = "{msg_name(...)=..., msg_iov(2)=[{..., 10}, {...,20}], msg_flags=0}";
        assert_eq!(message_length(message), 30);
        assert_eq!(vector_length("nonsense"), 0);
    }
}
