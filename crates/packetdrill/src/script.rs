//! A script as data.

use crate::code::Statement;
use crate::options::Options;
use fadeout_core::{Ecn, Flags, Span};

/// A whole script.
#[derive(Debug)]
pub(crate) struct Script {
    /// `--name=value` lines: line, name, value.
    pub(crate) options: Vec<(usize, String, String)>,
    pub(crate) events: Vec<Event>,
}

/// Something that happens, or must happen.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) line: usize,
    pub(crate) when: When,
    /// When a blocking call returns, in the terms of `when`.
    pub(crate) until: Option<Span>,
    pub(crate) action: Action,
}

/// When it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Since the start of the script.
    At(Span),
    /// Since the event before it.
    After(Span),
    /// Between two times since the start.
    Between(Span, Span),
    /// Between two times since the event before it.
    Within(Span, Span),
    /// At any time.
    Whenever,
}

/// A step of a script.
#[derive(Debug)]
pub(crate) enum Action {
    /// A segment arrives.
    Inbound(PacketSpec),
    /// A segment must leave.
    Outbound(PacketSpec),
    /// The application calls the kernel.
    Call(Call),
    /// A shell command.
    Command(String),
    /// A snippet.
    Code(Vec<Statement>),
}

/// A segment as a script writes it.
#[derive(Debug, Clone)]
pub(crate) struct PacketSpec {
    /// The words of the script.
    pub(crate) text: String,
    pub(crate) ecn: Option<Ecn>,
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    pub(crate) len: u32,
    /// Zero when the script says nothing, as without the ACK flag.
    pub(crate) ack: u32,
    pub(crate) window: Option<u32>,
    /// Empty when the script says nothing of options; `None` for `<...>`.
    pub(crate) options: Option<Options>,
}

/// A system call with what it must return.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// Arguments as written.
    pub(crate) arguments: Vec<String>,
    /// Return value; `None` for `...`.
    pub(crate) returns: Option<i64>,
    /// Name of the error that goes with it.
    pub(crate) errno: Option<String>,
}
