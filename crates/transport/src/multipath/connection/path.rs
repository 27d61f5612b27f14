//! One path: its subflow, and which data its sequence numbers carry.

use crate::multipath::{PathConfig, PathId};
use crate::tcp::{SubflowView, TcpEndpoint};
use fadeout_core::Time;
use std::collections::VecDeque;

/// Subflow sequence numbers and the data sequence numbers that they carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mapping {
    /// First subflow sequence number.
    pub(super) seq: u64,
    /// Its data sequence number.
    pub(super) data_seq: u64,
    /// Bytes.
    pub(super) len: u64,
}

impl Mapping {
    pub(super) fn end(&self) -> u64 {
        self.seq + self.len
    }
    pub(super) fn data_end(&self) -> u64 {
        self.data_seq + self.len
    }
}

/// A range of data sequence numbers that waits on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) start: u64,
    pub(super) end: u64,
    /// It was bound to a path before.
    pub(super) is_again: bool,
}

/// How far the path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not opened.
    Idle,
    /// MP_CAPABLE or MP_JOIN is on its way.
    Opening,
    /// MP_JOIN was answered; data waits for the fourth packet (RFC 8684 section 3.2).
    Confirming,
    /// Carries data.
    Usable,
    /// Gave up, was reset or removed.
    Gone,
}

/// What a path carried.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PathStatistics {
    /// Bytes of new data sent.
    pub sent_bytes: u64,
    /// Bytes that another path had sent before.
    pub reinjected_bytes: u64,
    /// Bytes that reached the receiver in subflow order.
    pub arrived_bytes: u64,
    /// Times its window was halved because it held the others up.
    pub penalties: u64,
}

#[derive(Debug)]
pub(super) struct Path {
    pub(super) id: PathId,
    pub(super) tcp: TcpEndpoint,
    pub(super) config: PathConfig,
    pub(super) stage: Stage,
    /// When to open it; [`Time::NEVER`] while the connection does not know.
    pub(super) join_at: Time,
    /// What was sent and is not acknowledged on the subflow, in order.
    pub(super) sent: VecDeque<Mapping>,
    /// What arrived and is not in order on the subflow, in order.
    pub(super) held: VecDeque<Mapping>,
    /// Its timer ran out and its data was handed to others.
    pub(super) is_stranded: bool,
    pub(super) timeouts_in_a_row: u32,
    /// The handshake's last packet, with its option, has left.
    pub(super) has_confirmed: bool,
    /// Next data sequence number of a redundant scheduler.
    pub(super) cursor: u64,
    /// Data below was retransmitted opportunistically on this path.
    pub(super) opportunistic_up_to: u64,
    pub(super) penalised_at: Time,
    /// When to announce it; again until the echo.
    pub(super) announce_at: Time,
    /// The peer announced it and has yet to hear so.
    pub(super) owes_echo: bool,
    /// Number of the next of the configured changes of priority.
    pub(super) next_change: usize,
    /// The peer has yet to be told of the last.
    pub(super) tells_priority: bool,
    /// Data bound to the path that has not left.
    pub(super) waiting: VecDeque<Waiting>,
    /// Bytes of it.
    pub(super) waiting_bytes: u64,
    /// Memory for what waits or is not acknowledged, bytes.
    pub(super) send_buffer: u64,
    /// Average pacing rate, bits per second.
    pub(super) pace: u64,
    /// When the last segment arrived on it.
    pub(super) heard_at: Time,
    /// That, when the connection's timer first expired.
    pub(super) heard_then: Time,
    /// Expiries of the connection's timer since, with nothing heard.
    pub(super) silent_expiries: u32,
    /// Left out until it is heard.
    pub(super) is_stale: bool,
    pub(super) statistics: PathStatistics,
}

impl Path {
    pub(super) fn new(id: PathId, tcp: TcpEndpoint, config: PathConfig) -> Path {
        Path {
            id,
            tcp,
            config,
            stage: Stage::Idle,
            join_at: Time::NEVER,
            sent: VecDeque::new(),
            held: VecDeque::new(),
            is_stranded: false,
            timeouts_in_a_row: 0,
            has_confirmed: false,
            cursor: 0,
            opportunistic_up_to: 0,
            penalised_at: Time::ZERO,
            announce_at: Time::NEVER,
            owes_echo: false,
            next_change: 0,
            tells_priority: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            send_buffer: 0,
            pace: 0,
            heard_at: Time::ZERO,
            heard_then: Time::ZERO,
            silent_expiries: 0,
            is_stale: false,
            statistics: PathStatistics::default(),
        }
    }

    /// When its priority changes next.
    pub(super) fn changes_at(&self) -> Time {
        let changes = &self.config.backup_changes;
        changes
            .get(self.next_change)
            .copied()
            .unwrap_or(Time::NEVER)
    }

    pub(super) fn view(&self) -> SubflowView {
        self.tcp.subflow_view()
    }

    /// The data sequence number of a byte sent on the subflow.
    pub(super) fn data_seq_of(&self, seq: u64) -> Option<u64> {
        let after = self.sent.partition_point(|mapping| mapping.seq <= seq);
        let mapping = self.sent.get(after.checked_sub(1)?)?;
        (seq < mapping.end()).then(|| mapping.data_seq + (seq - mapping.seq))
    }

    /// The mapping that carries a data sequence number and is not acknowledged.
    pub(super) fn mapping_of(&self, data_seq: u64) -> Option<Mapping> {
        let carries =
            |mapping: &&Mapping| mapping.data_seq <= data_seq && data_seq < mapping.data_end();
        self.sent.iter().find(carries).copied()
    }

    /// Forgets what the subflow acknowledged.
    pub(super) fn forget_acknowledged(&mut self, snd_una: u64) {
        while self
            .sent
            .front()
            .is_some_and(|front| front.end() <= snd_una)
        {
            self.sent.pop_front();
        }
    }

    /// Keeps a mapping that arrived until the subflow has it in order.
    pub(super) fn hold(&mut self, mapping: Mapping, rcv_nxt: u64) {
        if mapping.end() <= rcv_nxt {
            return;
        }
        let at = self.held.partition_point(|known| known.seq < mapping.seq);
        if self
            .held
            .get(at)
            .is_none_or(|known| known.seq != mapping.seq)
        {
            self.held.insert(at, mapping);
        }
    }
}
