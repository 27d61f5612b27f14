//! Data types of a parsed script.

use crate::code::Statement;
use crate::options::Options;
use fadeout_core::{Ecn, Flags, Span};

/// Script.
#[derive(Debug)]
pub(crate) struct Script {
    /// Options `--name=value`, each with its line, name and value.
    pub(crate) options: Vec<(usize, String, String)>,
    pub(crate) events: Vec<Event>,
}

/// Event that the script causes or expects.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) line: usize,
    pub(crate) when: When,
    /// Time at which a blocking call returns. The reference is that of `when`.
    pub(crate) until: Option<Span>,
    pub(crate) action: Action,
}

/// Time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Time since the start of the script.
    At(Span),
    /// Time since the previous event.
    After(Span),
    /// Two times since the start, between which the event happens.
    Between(Span, Span),
    /// Two times since the previous event, between which the event happens.
    Within(Span, Span),
    /// Any time.
    Whenever,
}

/// Action of an event.
#[derive(Debug)]
pub(crate) enum Action {
    /// Arriving segment.
    Inbound(PacketSpec),
    /// Segment that the endpoint must send.
    Outbound(PacketSpec),
    /// System call of the application.
    Call(Call),
    /// Shell command.
    Command(String),
    /// Snippet.
    Code(Vec<Statement>),
}

/// Segment of a script.
#[derive(Debug, Clone)]
pub(crate) struct PacketSpec {
    /// Text of the segment in the script.
    pub(crate) text: String,
    pub(crate) ecn: Option<Ecn>,
    /// Name of the source address. `None` if the script gives none.
    pub(crate) from: Option<String>,
    /// Name of the destination address. `None` if the script gives none.
    pub(crate) to: Option<String>,
    pub(crate) flags: Flags,
    pub(crate) seq: u32,
    pub(crate) len: u32,
    /// Acknowledgment number. Zero if the script gives none, as for a segment without the ACK flag.
    pub(crate) ack: u32,
    pub(crate) window: Option<u32>,
    /// TCP options. Empty if the script gives none. `None` for `<...>`, which stands for any
    /// options.
    pub(crate) options: Option<Options>,
}

/// System call with its expected result.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// Arguments as texts of the script.
    pub(crate) arguments: Vec<String>,
    /// Expected return value. `None` for `...`, which stands for any number.
    pub(crate) returns: Option<i64>,
    /// Name of the expected error. `None` if the script names no error.
    pub(crate) errno: Option<String>,
}
