//! Runner of a script in virtual time. Each event runs at its time, and each sent segment is
//! compared with the expected one.

use crate::addresses::{Direction, Names};
use crate::code::Statement;
use crate::compare::{self, Clock};
use crate::connection::Flow;
use crate::evaluate::{Scope, Value};
use crate::fast_open::Cache;
use crate::host::{Host, START, Sent};
use crate::mptcp_wire::Outlook;
use crate::options::Options;
use crate::packet::Seen;
use crate::problem::Problem;
use crate::readiness;
use crate::script::{Action, Call, Event, PacketSpec, Script, When};
use crate::sockets::{Returned, Sockets};
use crate::state;
use fadeout_core::{Flags, MptcpOption, Span, Time};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Longest wait for an event whose time is `*`.
const PATIENCE: Span = Span::from_secs(600);

/// Delay added to events for which the script waits. No real host is exact to the nanosecond, so a
/// script that says "after 1 ms" may need slightly more than 1 ms.
const LATENESS: Span = Span::from_micros(1);

/// System call that has not returned yet.
struct Blocked {
    call: Call,
    /// Time at which the timeout of the call expires.
    due: Time,
    line: usize,
    /// Time at which the script expects the call to return.
    until: Time,
}

/// Script that is running.
pub(crate) struct Runner<'a> {
    script: &'a Script,
    pub(crate) host: Host,
    pub(crate) sockets: Sockets,
    pub(crate) clock: Clock,
    pub(crate) names: Names,
    blocked: Option<Blocked>,
    variables: BTreeMap<String, Value>,
    pub(crate) output: Vec<String>,
    /// Number of segments, calls and snippets that matched the script.
    pub(crate) checks: usize,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(script: &'a Script) -> Runner<'a> {
        Runner {
            script,
            host: Host::new(),
            sockets: Sockets::default(),
            clock: Clock::default(),
            names: Names::default(),
            blocked: None,
            variables: BTreeMap::new(),
            output: Vec::new(),
            checks: 0,
        }
    }

    pub(crate) fn run(&mut self) -> Result<(), Problem> {
        let script = self.script;
        for (line, name, value) in &script.options {
            self.host.settings.option(*line, name, value)?;
        }
        self.suit_window_scale();
        for event in &script.events {
            self.event(event)?;
            if self.host.is_exhausted {
                let message = "the script makes the endpoint send or wait without end";
                return Err(Problem::invalid(event.line, message));
            }
        }
        let last = script.events.last().map_or(1, |event| event.line);
        self.finish_blocked(last)
    }

    /// Sets the receive buffer so that the window scale equals that of the script's SYN. A script
    /// that sets no receive buffer was written for the buffer of its author's host.
    fn suit_window_scale(&mut self) {
        let mut expected = None;
        for event in &self.script.events {
            match &event.action {
                Action::Command(text)
                    if text.contains("defaults.sh") || text.contains("tcp_rmem") =>
                {
                    return;
                }
                Action::Outbound(spec) if spec.flags.has(Flags::SYN) => {
                    let options = spec.options.as_ref();
                    expected = expected.or(options.and_then(Options::window_scale));
                }
                _ => {}
            }
        }
        if let Some(scale) = expected {
            self.host.settings.suit_window_scale(scale);
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), Problem> {
        let base = self.host.now;
        let (from, to) = bounds(event.when, base);
        if let Action::Outbound(spec) = &event.action {
            return self.outbound(event, spec, from, to);
        }
        if event.when == When::Whenever {
            let message = "`*` as a time is for outbound packets";
            return Err(Problem::invalid(event.line, message));
        }
        let tolerance = self.host.settings.tolerance;
        if from + tolerance < base {
            let message = format!(
                "the event is at {}, but it is {} already",
                seconds(from),
                seconds(base)
            );
            return Err(Problem::invalid(event.line, message));
        }
        let waits = from > base;
        self.advance(if waits { from + LATENESS } else { from })?;
        match &event.action {
            Action::Inbound(spec) => self.inbound(event.line, spec)?,
            Action::Call(call) => {
                self.finish_blocked(event.line)?;
                if self.host.now > from + tolerance {
                    let text = format!("`{}` starts late: the call before it blocked", call.name);
                    let problem = Problem::failed(event.line, text);
                    return Err(problem.between(seconds(from), seconds(self.host.now)));
                }
                let until = event.until.map(|until| match event.when {
                    When::At(_) => START + until,
                    _ => base + until,
                });
                self.call(event.line, call, until)?;
            }
            Action::Command(text) => self.command(event.line, text)?,
            Action::Code(statements) => self.run_code(statements)?,
            Action::Outbound(_) => {}
        }
        self.poll_blocked()
    }

    /// Applies a shell command, which may change settings or sleep.
    fn command(&mut self, line: usize, text: &str) -> Result<(), Problem> {
        let slept = self.host.settings.command(line, text)?;
        if std::mem::take(&mut self.host.settings.is_forgetful) {
            self.host.cache = Cache::default();
        }
        if Host::congestion(&self.host.settings.congestion).is_none() {
            let name = &self.host.settings.congestion;
            let message = format!("the congestion control `{name}` is not supported");
            return Err(Problem::unsupported(line, message));
        }
        self.advance(self.host.now + slept)
    }

    /// Runs the statements of a code block, most of which check the state of the connection.
    fn run_code(&mut self, statements: &[Statement]) -> Result<(), Problem> {
        let connection = self.host.connection.as_ref();
        let now = self.host.now;
        let state = |name: &str| state::value(connection, now, name);
        let mut scope = Scope {
            is_connected: self.sockets.has_connection(),
            state: &state,
            variables: &mut self.variables,
            output: &mut self.output,
        };
        scope.run(statements)?;
        self.checks += statements.len();
        Ok(())
    }

    /// Advances the clock to `to`.
    fn advance(&mut self, to: Time) -> Result<(), Problem> {
        while self.advance_to_event(to)? {}
        Ok(())
    }

    /// Advances the clock to the next event, but at most to `limit`. The timeout of a blocked call
    /// is an event too. Returns true if there was an event.
    fn advance_to_event(&mut self, limit: Time) -> Result<bool, Problem> {
        let due = self.blocked.as_ref().map_or(Time::NEVER, |one| one.due);
        let is_due = due <= limit && self.host.wake_at() > due;
        let happened = self.host.advance_to_timer(if is_due { due } else { limit });
        if happened || is_due {
            self.poll_blocked()?;
        }
        Ok(happened || is_due)
    }

    // System calls.

    fn call(&mut self, line: usize, call: &Call, until: Option<Time>) -> Result<(), Problem> {
        let now = self.host.now;
        let due = readiness::timeout(call).map_or(Time::NEVER, |span| now.saturating_add(span));
        let is_due = now >= due;
        let returned = self.sockets.perform(&mut self.host, call, line, is_due)?;
        if returned == Returned::Blocked {
            let Some(until) = until else {
                let message = format!("`{}` would block for ever", call.name);
                let expected = expected_return(call);
                return Err(Problem::failed(line, message).between(expected, "it blocks"));
            };
            self.blocked = Some(Blocked {
                call: call.clone(),
                due,
                line,
                until,
            });
            return Ok(());
        }
        self.checks += 1;
        check_return(line, call, returned)
    }

    /// Performs a blocked call again. Returns an error if the call returns at a time that the
    /// script does not allow.
    fn poll_blocked(&mut self) -> Result<(), Problem> {
        let Some(blocked) = self.blocked.take() else {
            return Ok(());
        };
        let is_due = self.host.now >= blocked.due;
        let returned = self
            .sockets
            .perform(&mut self.host, &blocked.call, blocked.line, is_due)?;
        if returned == Returned::Blocked {
            self.blocked = Some(blocked);
            return Ok(());
        }
        let Blocked {
            call, line, until, ..
        } = blocked;
        check_return(line, &call, returned)?;
        self.checks += 1;
        let now = self.host.now;
        let tolerance = self.host.settings.tolerance;
        if now > until + tolerance || now + tolerance < until {
            let message = format!("`{}` returned at the wrong time", call.name);
            return Err(Problem::failed(line, message).between(seconds(until), seconds(now)));
        }
        Ok(())
    }

    /// Runs the simulation until the blocked call returns, because the next call must follow it.
    fn finish_blocked(&mut self, line: usize) -> Result<(), Problem> {
        while let Some(until) = self.blocked.as_ref().map(|blocked| blocked.until) {
            if self.advance_to_event(until + self.host.settings.tolerance)? {
                continue;
            }
            let Some(blocked) = &self.blocked else { break };
            let text = format!("`{}` still blocks at line {line}", blocked.call.name);
            let problem = Problem::failed(blocked.line, text);
            return Err(problem.between(expected_return(&blocked.call), "it blocks"));
        }
        Ok(())
    }

    // Sent segments.

    fn outbound(
        &mut self,
        event: &Event,
        spec: &PacketSpec,
        from: Time,
        to: Time,
    ) -> Result<(), Problem> {
        let tolerance = self.tolerance(event);
        let latest = to + tolerance;
        loop {
            self.skip_unknown_joins(spec);
            if !self.host.wire.is_empty() || !self.advance_to_event(latest)? {
                break;
            }
        }
        let Some(sent) = self.next_sent(spec) else {
            let text = format!("no segment left until {}", seconds(latest));
            return Err(Problem::failed(event.line, text).between(&spec.text, "nothing"));
        };
        self.follow_syn(spec, &sent);
        let seen = self.seen(&sent);
        let actual = seen.render();
        if let Some(text) = self.other_subflow(spec, &sent) {
            return Err(Problem::failed(event.line, text).between(&spec.text, actual));
        }
        let memory = (&mut self.clock, &mut self.names);
        if let Some(difference) = compare::difference(spec, &sent, &seen, memory, &self.host) {
            let text = format!("the segment differs: {difference}");
            return Err(Problem::failed(event.line, text).between(&spec.text, actual));
        }
        if sent.at > latest || sent.at + tolerance < from {
            let text = format!(
                "the segment left at {}, expected {}",
                seconds(sent.at),
                if from == to {
                    format!("at {}", seconds(to))
                } else {
                    format!("between {} and {}", seconds(from), seconds(to))
                }
            );
            return Err(Problem::failed(event.line, text).between(&spec.text, actual));
        }
        self.checks += 1;
        Ok(())
    }

    /// Discards the SYNs of subflows that the script does not contain. Another segment is expected.
    fn skip_unknown_joins(&mut self, spec: &PacketSpec) {
        if spec.flags.has(Flags::SYN) {
            return;
        }
        let Some(connection) = &self.host.connection else {
            return;
        };
        let flows = &connection.flows;
        self.host.wire.retain(|sent| flows[sent.path].is_known);
    }

    /// Records the sequence number that the script gives a sent SYN. The SYN of a further subflow
    /// makes this subflow the newest.
    fn follow_syn(&mut self, spec: &PacketSpec, sent: &Sent) {
        let are_syns = spec.flags.has(Flags::SYN) && sent.segment.flags.has(Flags::SYN);
        let Some(connection) = self.host.connection.as_mut().filter(|_| are_syns) else {
            return;
        };
        let flow = &mut connection.flows[sent.path];
        flow.local_isn = spec.seq;
        if !flow.is_known && self.names.fits(spec, Direction::Outbound, flow) {
            flow.is_known = true;
            connection.newest = sent.path;
        }
    }

    /// Returns a text if the segment left on another subflow than the script expects. Gives the new
    /// names of the script the addresses of the subflow.
    fn other_subflow(&mut self, spec: &PacketSpec, sent: &Sent) -> Option<String> {
        let connection = self.host.connection.as_ref()?;
        let path = (self.names).path_of(connection, spec, Direction::Outbound);
        let flow = &connection.flows[sent.path];
        let is_right = path.unwrap_or(connection.newest) == sent.path && flow.is_known;
        if is_right {
            self.names.learn_of(spec, Direction::Outbound, flow);
            return None;
        }
        let ends = |path: usize| {
            let flow = &connection.flows[path];
            let text =
                |address: Option<IpAddr>| address.map_or("?".to_owned(), |it| it.to_string());
            format!("{} > {}", text(flow.local), text(flow.remote))
        };
        let expected = path.map_or("an unknown subflow".to_owned(), ends);
        let actual = ends(sent.path);
        Some(format!(
            "the segment differs: subflow {expected} expected, {actual} sent"
        ))
    }

    /// Returns the time tolerance of an event. The tolerance grows with the wait before the event,
    /// because kernels round their timers.
    fn tolerance(&self, event: &Event) -> Span {
        let waited = match event.when {
            When::After(span) | When::Within(_, span) => span,
            When::At(span) | When::Between(_, span) => (START + span).since(self.host.now),
            When::Whenever => Span::ZERO,
        };
        self.host.settings.tolerance.max(waited / 32)
    }

    /// Returns the next sent segment. If the script expects more payload, segments sent at the same
    /// time are joined, as segmentation offload would do.
    fn next_sent(&mut self, spec: &PacketSpec) -> Option<Sent> {
        let mut sent = self.host.wire.pop_front()?;
        if sent.segment.len == 0 {
            return Some(sent);
        }
        while sent.segment.len < spec.len
            && let Some(next) = self.host.wire.front()
        {
            let follows = next.at == sent.at
                && next.path == sent.path
                && next.segment.len > 0
                && next.segment.seq == sent.segment.end_seq()
                && next.segment.ack == sent.segment.ack
                && sent.segment.len + next.segment.len <= spec.len;
            if !follows {
                break;
            }
            sent.segment.len += next.segment.len;
            sent.segment.flags = Flags(sent.segment.flags.0 & !Flags::PSH.0) | next.segment.flags;
            self.host.wire.pop_front();
        }
        let goes_on = |next: &Sent| {
            next.at == sent.at
                && next.path == sent.path
                && next.segment.len > 0
                && next.segment.seq == sent.segment.end_seq()
        };
        sent.is_cut = self.host.wire.front().is_some_and(goes_on);
        Some(sent)
    }

    fn seen(&self, sent: &Sent) -> Seen {
        let connection = self.host.connection.as_ref();
        let flow = connection.map(|connection| &connection.flows[sent.path]);
        let segment = sent.segment;
        let is_syn = segment.flags.has(Flags::SYN);
        let isn = |of: fn(&Flow) -> u32| flow.filter(|_| is_syn).map_or(0, of);
        let scale = flow.filter(|_| !is_syn).map_or(0, Flow::scale_out);
        let announced = match (segment.mptcp, connection) {
            (MptcpOption::AddAddress { path, is_echo }, Some(connection)) => {
                let flow = connection.flows.get(usize::from(path));
                flow.and_then(|flow| if is_echo { flow.remote } else { flow.local })
            }
            _ => None,
        };
        Seen {
            segment,
            ecn: sent.ecn,
            seq: (segment.seq as u32).wrapping_add(isn(|flow| flow.local_isn)),
            ack: if segment.flags.has(Flags::ACK) {
                (segment.ack as u32).wrapping_add(isn(|flow| flow.remote_isn))
            } else {
                0
            },
            window: (segment.window >> scale).min(65_535) as u32,
            ts_value: self.clock.scripted(segment.ts_value),
            cookie: sent.cookie,
            outlook: Outlook {
                maps_by_capable: sent.maps_by_capable,
                announced,
            },
        }
    }
}

fn check_return(line: usize, call: &Call, returned: Returned) -> Result<(), Problem> {
    let is_right = match (returned, call.returns) {
        (Returned::Number(_), None) => true,
        (Returned::Number(number), Some(wanted)) => number == wanted,
        (Returned::Error(error), wanted) => {
            wanted == Some(-1)
                && call
                    .errno
                    .as_deref()
                    .is_none_or(|name| is_same_error(name, error))
        }
        (Returned::Blocked, _) => false,
    };
    if is_right {
        return Ok(());
    }
    let actual = match returned {
        Returned::Number(number) => number.to_string(),
        Returned::Error(error) => format!("-1 {error}"),
        Returned::Blocked => "it blocks".to_owned(),
    };
    let message = format!("`{}` returns something else", call.name);
    Err(Problem::failed(line, message).between(expected_return(call), actual))
}

fn is_same_error(a: &str, b: &str) -> bool {
    let one = |name| {
        if name == "EWOULDBLOCK" {
            "EAGAIN"
        } else {
            name
        }
    };
    one(a) == one(b)
}

fn expected_return(call: &Call) -> String {
    match (call.returns, &call.errno) {
        (None, _) => "...".to_owned(),
        (Some(number), Some(error)) => format!("{number} {error}"),
        (Some(number), None) => number.to_string(),
    }
}

/// Returns the earliest and the latest time of an event. `base` is the time of the event before.
fn bounds(when: When, base: Time) -> (Time, Time) {
    match when {
        When::At(at) => (START + at, START + at),
        When::After(after) => (base + after, base + after),
        When::Between(from, to) => (START + from, START + to),
        When::Within(from, to) => (base + from, base + to),
        When::Whenever => (Time::ZERO, base + PATIENCE),
    }
}

/// Formats a time of the script's clock in seconds.
fn seconds(at: Time) -> String {
    format!("{:.6} s", at.since(START).as_secs_f64())
}
