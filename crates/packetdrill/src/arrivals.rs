//! Received segments: the script's segments with the numbers and options of the endpoint.

use crate::addresses::{Direction, Names, ends};
use crate::connection::Connection;
use crate::fast_open;
use crate::host::Opening;
use crate::mptcp_options::{Announced, Multipath, Token};
use crate::mptcp_wire::{self, Arrival};
use crate::options::Options;
use crate::problem::Problem;
use crate::runner::Runner;
use crate::script::PacketSpec;
use fadeout_core::{Ecn, Flags, MptcpOption, Segment};
use fadeout_transport::tcp::ConnectionState;
use std::net::IpAddr;

/// Reason of a reset: an error of MPTCP.
///
/// Standard: RFC 8684 §3.6.
const MPTCP_ERROR: u8 = 1;

impl Runner<'_> {
    /// Passes a segment of the script to the host.
    pub(crate) fn inbound(&mut self, line: usize, spec: &PacketSpec) -> Result<(), Problem> {
        let is_syn = spec.flags.has(Flags::SYN);
        let is_first = is_syn && !spec.flags.has(Flags::ACK);
        let option = |is_wanted: fn(&&Multipath) -> bool| {
            let options = spec.options.as_ref().filter(|_| is_first)?;
            options.multipath().find(is_wanted)
        };
        let join = option(|one| matches!(one, Multipath::JoinSyn { .. }));
        if let Some(Multipath::JoinSyn { token, .. }) = join {
            return self.join(line, spec, token);
        }
        let options = spec.options.as_ref().filter(|_| is_syn);
        let cookie = options.and_then(Options::fast_open);
        let state = self
            .host
            .connection
            .as_ref()
            .map_or(ConnectionState::Closed, |connection| {
                connection.endpoint.state()
            });
        let is_over = self.host.listens_anew
            || matches!(state, ConnectionState::Closed | ConnectionState::TimeWait);
        if is_first
            && is_over
            && let Some(listener) = self.sockets.listener()
        {
            let settings = &self.host.settings;
            let wishes = &listener.extras.fast_open;
            let verdict = fast_open::judge(settings, wishes, cookie, spec.len > 0);
            // A SYN without a valid MP_CAPABLE opens a TCP connection (RFC 8684 section 3.1).
            let is_capable = option(|one| one.is_valid_capable()).is_some();
            self.host.open(&Opening {
                config: &listener.config,
                extras: &listener.extras,
                congestion: &listener.congestion,
                is_passive: true,
                is_multipath: listener.is_multipath && is_capable,
                fast: verdict.is_accepted.then_some(0),
                cookie: verdict.answer,
                written: 0,
            });
        }
        let path = self.inbound_path(spec, is_first);
        let segments = self.segments(line, path, spec)?;
        for mut segment in segments {
            if is_first && state != ConnectionState::SynSent {
                self.host.settings.keep_in_cookie(&mut segment);
            }
            let ecn = spec.ecn.unwrap_or(Ecn::NotEct);
            self.host.receive(path, &segment, ecn, cookie);
        }
        Ok(())
    }

    /// Returns the path on which a segment of the script arrives.
    fn inbound_path(&mut self, spec: &PacketSpec, is_first: bool) -> usize {
        let Some(connection) = &mut self.host.connection else {
            return 0;
        };
        let path = if is_first {
            0
        } else {
            let path = (self.names).path_of(connection, spec, Direction::Inbound);
            path.unwrap_or(connection.newest)
        };
        let flow = &mut connection.flows[path];
        if spec.flags.has(Flags::SYN) {
            flow.remote_isn = spec.seq;
        }
        self.names.learn_of(spec, Direction::Inbound, flow);
        path
    }

    /// Passes the SYN of a further subflow to the host, which refuses a wrong token.
    ///
    /// Standard: RFC 8684 §3.2.
    fn join(&mut self, line: usize, spec: &PacketSpec, token: &Token) -> Result<(), Problem> {
        let path = self.joined_path(spec, token);
        let segments = self.segments(line, path.unwrap_or(0), spec)?;
        for segment in segments {
            match path {
                Some(path) => self.host.receive(path, &segment, Ecn::NotEct, None),
                None => {
                    let reset = MptcpOption::Reset {
                        reason: MPTCP_ERROR,
                    };
                    self.host.refuse_with(0, &segment, reset);
                }
            }
        }
        Ok(())
    }

    /// Returns the path that a SYN joins. `None` if the token is wrong or no path waits.
    fn joined_path(&mut self, spec: &PacketSpec, token: &Token) -> Option<usize> {
        let first = self.host.settings.remote_ip;
        let connection = self.host.connection.as_mut()?;
        let is_right = match token {
            Token::Auto => true,
            Token::Hash(key) => key == own_key(connection),
            Token::Number(_) => false,
        };
        if !is_right || !connection.endpoint.is_multipath() {
            return None;
        }
        let (local, remote) = ends(spec, Direction::Inbound);
        let local = local.and_then(|name| self.names.find(name));
        let waits = |path: &usize| connection.endpoint.path_state(*path) == ConnectionState::Listen;
        let is_there = |path: &usize| local.is_some() && connection.flows[*path].local == local;
        let waiting = || (0..connection.flows.len()).filter(waits);
        let path = waiting().find(is_there).or_else(|| waiting().next())?;
        let flow = &mut connection.flows[path];
        flow.remote = Some(match remote {
            Some(name) => self.names.find_or_create(name, first),
            None => first,
        });
        flow.local = local.or(flow.local);
        flow.remote_isn = spec.seq;
        flow.is_known = true;
        connection.newest = path;
        Some(path)
    }

    /// Returns the segment of the script with the endpoint's numbers and options. A second
    /// Multipath TCP option is on a second segment, because the endpoint's segments carry one.
    fn segments(
        &mut self,
        line: usize,
        path: usize,
        spec: &PacketSpec,
    ) -> Result<Vec<Segment>, Problem> {
        let mut segment = self.segment(path, spec);
        let Some(connection) = &mut self.host.connection else {
            return Ok(vec![segment]);
        };
        let options = spec
            .options
            .as_ref()
            .filter(|_| connection.endpoint.is_multipath());
        let Some(options) = options else {
            return Ok(vec![segment]);
        };
        let arrival = Arrival {
            data_una: 1 + connection.endpoint.acked_bytes(),
            data_next: connection.received(),
            own_key: own_key(connection),
        };
        let (names, first) = (&mut self.names, self.host.settings.remote_ip);
        let is_opener = !connection.is_passive;
        let flows = &mut connection.flows;
        let path_of = |announced: &Announced| {
            let address = address_of(announced, names, first);
            if announced.is_echo {
                let is_here = |flow: &crate::connection::Flow| flow.local == Some(address);
                return flows.iter().position(is_here).map(|path| path as u8);
            }
            let known = flows.iter().position(|flow| flow.remote == Some(address));
            let free = || {
                flows
                    .iter()
                    .position(|flow| flow.remote.is_none() && is_opener)
            };
            let path = known.or_else(free)?;
            flows[path].remote = Some(address);
            Some(path as u8)
        };
        let list = mptcp_wire::received(options, &segment, arrival, path_of);
        let list =
            list.map_err(|what| Problem::unsupported(line, format!("{what} is not supported")))?;
        let mut rest = list.into_iter();
        segment.mptcp = rest.next().unwrap_or_default();
        connection.is_confirmed |= matches!(segment.mptcp, MptcpOption::Dss(_));
        let mut segments = vec![segment];
        segments.extend(rest.map(|mptcp| Segment {
            seq: segment.end_seq(),
            len: 0,
            flags: Flags(segment.flags.0 & Flags::ACK.0),
            mptcp,
            ..segment
        }));
        Ok(segments)
    }

    /// Returns the segment of the script with the endpoint's sequence numbers.
    fn segment(&self, path: usize, spec: &PacketSpec) -> Segment {
        let connection = self.host.connection.as_ref();
        let flow = connection.map(|connection| &connection.flows[path]);
        let local = flow.map_or(0, |flow| flow.local_isn);
        // The endpoint's sequence numbers have 64 bits and do not wrap. The script
        // means the number nearest to `reference` whose low 32 bits match.
        let near = |number: u32, isn: u32, reference: u64| {
            let offset = number.wrapping_sub(isn).wrapping_sub(reference as u32) as i32;
            reference.saturating_add_signed(i64::from(offset))
        };
        let received = connection.map_or(0, |connection| {
            let arrived = connection.endpoint.arrived_on(path);
            arrived.map_or(connection.received(), |arrived| 1 + arrived)
        });
        let written = connection.map_or(0, |connection| 1 + connection.endpoint.acked_on(path));
        let is_syn = spec.flags.has(Flags::SYN);
        // After the SYNs, the numbers of a script are relative to the initial sequence numbers.
        let local = if is_syn { local } else { 0 };
        let seq = if is_syn {
            0
        } else {
            near(spec.seq, 0, received)
        };
        let mut segment = Segment {
            seq,
            ack: if spec.flags.has(Flags::ACK) {
                near(spec.ack, local, written)
            } else {
                0
            },
            len: spec.len,
            flags: spec.flags,
            ..Segment::default()
        };
        let scale = flow.map_or(0, |flow| flow.scale_in());
        let window = u64::from(spec.window.unwrap_or(0));
        segment.window = if is_syn { window } else { window << scale };
        if let Some(options) = &spec.options {
            options.fill(&mut segment, |seq| near(seq, local, written));
            segment.ts_echo = self.clock.live(segment.ts_echo);
        }
        segment
    }
}

/// Returns the name that scripts give this end's key: that of the client or of the server.
fn own_key(connection: &Connection) -> &'static str {
    if connection.is_passive {
        "skey"
    } else {
        "ckey"
    }
}

/// Returns the address in a received ADD_ADDR. A new name is a new address of the peer.
fn address_of(announced: &Announced, names: &mut Names, first: IpAddr) -> IpAddr {
    match announced.address {
        Some(address) => {
            names.learn(&announced.name, address);
            address
        }
        None => names.find_or_create(&announced.name, first),
    }
}
