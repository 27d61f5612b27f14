//! Send queues of Linux's stack (net/mptcp/protocol.c, Linux 6.12). Written data is bound to a
//! subflow at once and waits in the subflow's queue until the subflow's window has room.
//!
//! - The socket accepts data until its send buffer is full. Data stays in the buffer until the peer
//!   acknowledges it *in order*. The buffer is the sum of the subflows' buffers. A full buffer is
//!   filled again once a third is free.
//! - Accepted data is bound at once, in bursts, to the path with the queue that drains soonest.
//!   Nothing is bound while that path's own buffer is full.
//! - So a stopped path blocks the data queued after its own. Once that data fills the send buffer,
//!   the other paths have no data to send. After five expiries of the connection's timer without a
//!   segment on the path, all unacknowledged data is bound anew. The path then gets no data until a
//!   segment arrives on it.

#[cfg(test)]
mod tests;
mod written;

use super::outbound::Outbound;
use super::path::Paths;
use crate::multipath::scheduler::linux::{BURST, Queue, soonest_drained};
use crate::tcp::socket::memory::memory_overhead;
use crate::tcp::timer::TimerClock;
use crate::tcp::{SendBufferConfig, TcpConfig};
use fadeout_core::{Span, Time};
use std::collections::VecDeque;
use written::Written;

/// Smallest send buffer of a connection in addition to its subflows', bytes (`tcp_wmem[0]`).
const SMALLEST_BUFFER: u64 = 4096;
/// Expiries of the connection's timer without a segment after which a path is stale. Linux wants
/// more than `net.mptcp.stale_loss_cnt`, which is 4.
const STALE_EXPIRIES: u32 = 5;
/// Number of silent expiries from which a path cannot replace a stale path.
const LIVELY_EXPIRIES: u32 = 3;
/// Duration of the connection's timer when no subflow's timer runs (`TCP_RTO_MIN`).
const SHORTEST_TIMER: Span = Span::from_millis(200);

/// Range of data sequence numbers that waits on a path. The range is one sk_buff with one mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) start: u64,
    pub(super) end: u64,
    /// True if the range was bound to a path before.
    pub(super) is_again: bool,
    /// True if a part of the range was sent with the mapping of the whole range. No data can be
    /// appended to the range then (`mptcp_skb_can_collapse_to`).
    pub(super) is_mapped: bool,
}

/// Data that waits on one path.
#[derive(Debug, Default)]
struct PathQueue {
    /// Data bound to the path and not sent.
    waiting: VecDeque<Waiting>,
    /// Number of bytes in `waiting`.
    bytes: u64,
    /// True if data was bound to the path since the path last tried to send.
    is_fed: bool,
    /// Limit of memory for waiting and unacknowledged data, bytes.
    send_buffer: u64,
    /// Part of the connection's buffer, bytes (`cached_sndbuf`). It follows `send_buffer` only when
    /// the connection's buffer is summed up.
    counted: u64,
    /// Average pacing rate, bits per second.
    pace: u64,
    /// Time at which the last segment arrived on the path.
    heard_at: Time,
    /// Value of `heard_at` when silent expiries were first counted.
    heard_then: Time,
    /// Expiries of the connection's timer since `heard_then` without a segment on the path.
    silent_expiries: u32,
    /// True if the path gets no data until a segment arrives on it.
    is_stale: bool,
    /// Connection-level window for the data bound to the path since the path last acted.
    window: u64,
}

impl PathQueue {
    /// Asserts that the byte count equals the sum over the waiting ranges. Checks the sum only for
    /// short queues.
    fn assert_conserved(&self) {
        debug_assert!(
            self.waiting.len() > 16
                || self.bytes == self.waiting.iter().map(|each| each.end - each.start).sum(),
            "{} bytes wait, and the pieces have others",
            self.bytes
        );
        debug_assert!(
            self.waiting.is_empty() == (self.bytes == 0),
            "bytes wait in no piece"
        );
    }

    /// Returns the number of bytes from `start` on that can be appended to the last range, whose
    /// limit is `most` bytes.
    fn room_of_last(&self, start: u64, is_again: bool, most: u64) -> u64 {
        let last = self.waiting.back();
        let last =
            last.filter(|last| last.end == start && last.is_again == is_again && !last.is_mapped);
        last.map_or(0, |last| most.saturating_sub(last.end - last.start))
    }

    /// Appends data to the queue, in ranges of at most `most` bytes.
    fn wait(&mut self, mut data: Waiting, most: u64) {
        self.bytes += data.end - data.start;
        self.is_fed = true;
        let room = self.room_of_last(data.start, data.is_again, most);
        if let Some(last) = self.waiting.back_mut() {
            let taken = room.min(data.end - data.start);
            last.end += taken;
            data.start += taken;
        }
        while data.start < data.end {
            let end = data.end.min(data.start + most.max(1));
            self.waiting.push_back(Waiting { end, ..data });
            data.start = end;
        }
        self.assert_conserved();
    }

    /// Removes `bytes` that were sent from the head of the queue.
    fn leave(&mut self, bytes: u64) {
        debug_assert!(
            (self.waiting.front()).is_none_or(|first| first.start + bytes <= first.end),
            "{bytes} bytes leave at once, more than the first piece has"
        );
        self.bytes -= bytes;
        if let Some(first) = self.waiting.front_mut() {
            first.start += bytes;
            first.is_mapped |= bytes > 0;
            if first.start >= first.end {
                self.waiting.pop_front();
            }
        }
        self.assert_conserved();
    }
}

/// Result of one step of filling the send buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    /// A burst was bound to this path.
    Bound(usize),
    /// The data of one write is bound as far as possible. Another write may follow.
    Call,
    /// All data is written, or all buffers are full.
    Whole,
}

/// Send queues of a connection.
#[derive(Debug)]
pub(super) struct SendQueues {
    paths: Vec<PathQueue>,
    /// Configuration of the send buffer of one subflow.
    of_subflow: SendBufferConfig,
    /// True if Nagle's rule is on. A nearly full window is then filled to the byte, because Nagle's
    /// rule delays a short segment. If false, only whole segments are bound, because each ACK would
    /// else release a very short segment.
    to_the_byte: bool,
    written: Written,
    /// Number of paths that have been opened.
    opened: usize,
    /// True while the data of one write is being bound.
    is_in_call: bool,
    calls_follow: bool,
    /// Next data sequence number to be bound.
    bound: u64,
    is_anew: bool,
    /// First data sequence number that was never bound.
    unbound: u64,
    clock: TimerClock,
    /// Duration of the connection's timer. Updated when a path is chosen for data, and unchanged
    /// while the peer's window is full.
    timer: Span,
}

impl SendQueues {
    /// Returns empty queues for `paths` paths. `of_subflow` configures the send buffer of each
    /// subflow.
    pub(super) fn new(
        paths: usize,
        of_subflow: SendBufferConfig,
        config: &TcpConfig,
    ) -> SendQueues {
        SendQueues {
            clock: TimerClock::new(config),
            paths: (0..paths).map(|_| PathQueue::default()).collect(),
            of_subflow,
            to_the_byte: config.host.nagle,
            written: Written::default(),
            opened: 0,
            is_in_call: false,
            calls_follow: false,
            bound: 1,
            is_anew: false,
            unbound: 1,
            timer: SHORTEST_TIMER,
        }
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(
            self.bound <= self.unbound,
            "data is bound beyond what ever was"
        );
        debug_assert!(
            self.unbound <= self.written.taken(),
            "data is bound that the socket has not taken"
        );
        debug_assert!(!self.timer.is_zero(), "the connection's timer never runs");
        debug_assert!(
            (self.paths.iter()).all(
                |path| path.send_buffer <= self.of_subflow.maximum.max(self.of_subflow.initial)
            ),
            "a send buffer grew beyond its maximum"
        );
        debug_assert!(
            (self.paths.iter()).all(|path| path.heard_then <= path.heard_at),
            "a path was last heard before it was heard first"
        );
        self.written.assert_invariants();
    }

    /// Returns true if the writer waits for free space in the buffer.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.written.is_waiting()
    }

    /// Returns true if the socket has accepted all data up to `end`.
    pub(super) fn has_taken(&self, end: u64) -> bool {
        self.written.taken() == end
    }

    /// Returns true if all data up to `end` is bound to paths.
    pub(super) fn has_bound(&self, end: u64) -> bool {
        self.has_taken(end) && self.bound == end
    }

    /// Returns the duration of the connection's timer.
    pub(super) fn timer(&self) -> Span {
        self.timer
    }

    /// Returns the expiry time of the connection's timer if it is set at `now` for `span`.
    pub(super) fn fires_at(&self, now: Time, span: Span) -> Time {
        self.clock.fires_at(now, span)
    }

    /// Returns the first waiting range of a path. `None` if the queue is empty.
    pub(super) fn first(&self, index: usize) -> Option<Waiting> {
        self.paths[index].waiting.front().copied()
    }

    /// Returns the number of bytes that wait on a path.
    pub(super) fn bytes(&self, index: usize) -> u64 {
        self.paths[index].bytes
    }

    /// Removes `bytes` that were sent from the head of a path's queue.
    pub(super) fn leave(&mut self, index: usize, bytes: u64) {
        self.paths[index].leave(bytes);
    }

    /// Returns true if more data was bound to a path since the last call.
    pub(super) fn take_fed(&mut self, index: usize) -> bool {
        std::mem::take(&mut self.paths[index].is_fed)
    }

    /// Returns true if a path may get new data.
    fn is_active(&self, index: usize, paths: &impl Paths) -> bool {
        paths.is_usable(index) && !self.paths[index].is_stale
    }

    /// Returns the scheduler's view of a path: its waiting and unacknowledged data.
    fn queue(&self, index: usize, paths: &impl Paths) -> Queue {
        let view = paths.view(index);
        let queue = &self.paths[index];
        let pieces = u64::from(view.pieces) + queue.waiting.len() as u64;
        Queue {
            memory: view.snd_nxt - view.snd_una
                + queue.bytes
                + pieces * memory_overhead(self.of_subflow.head),
            pace: queue.pace,
        }
    }

    /// Returns the connection-level window for the data bound to path `index` since the last call.
    pub(super) fn take_window(&mut self, index: usize) -> u64 {
        std::mem::take(&mut self.paths[index].window)
    }

    /// Returns the longest timer of the subflows that are not silent
    /// (`mptcp_timeout_from_subflow`).
    fn longest_timer(&self, now: Time, paths: &impl Paths) -> Span {
        let timers = (0..self.paths.len())
            .filter(|&index| self.is_active(index, paths))
            .filter(|&index| self.paths[index].silent_expiries == 0)
            .filter_map(|index| paths.view(index).timer_at)
            .map(|at| self.clock.runs_from(now, at));
        timers
            .max()
            .filter(|span| !span.is_zero())
            .unwrap_or(SHORTEST_TIMER)
    }

    /// Records that a segment arrived on path `index`. The path is no longer stale, and gets a send
    /// buffer once its handshake is complete.
    pub(super) fn on_heard(&mut self, now: Time, index: usize, paths: &impl Paths) {
        let queue = &mut self.paths[index];
        queue.heard_at = now;
        if queue.is_stale {
            queue.is_stale = false;
            queue.silent_expiries = 0;
        }
        if queue.send_buffer == 0 && paths.view(index).may_send {
            // Linux adds an accepted path that joins to the connection before it enlarges the
            // path's buffer (`subflow_syn_recv_sock`, `tcp_init_transfer`). The path counts with
            // its initial buffer until the connection's buffer is summed up again.
            let is_added_first = index > 0 && !paths.is_opener();
            if is_added_first {
                self.sum_up(paths);
            }
            self.grow(index, paths);
            if !is_added_first {
                self.sum_up(paths);
            }
        }
    }

    /// Handles an acknowledgment on path `index` while the writer waits. If the path's window has
    /// free space, the buffer limits the path and grows. The connection's buffer then follows the
    /// buffers of its paths. Returns true if the connection's buffer has grown (Linux
    /// `tcp_check_space`, `subflow_write_space`).
    pub(super) fn on_space(&mut self, index: usize, has_room: bool, paths: &impl Paths) -> bool {
        if !self.written.is_waiting() || !paths.is_usable(index) {
            return false;
        }
        if has_room {
            self.grow(index, paths);
        }
        let path = &self.paths[index];
        let follows = path.counted != path.send_buffer;
        if follows {
            self.sum_up(paths);
        }
        follows
    }

    /// Enlarges the buffer of a path for its window.
    fn grow(&mut self, index: usize, paths: &impl Paths) {
        let SendBufferConfig {
            header, maximum, ..
        } = self.of_subflow;
        let wanted = paths.wanted_buffer(index, header).min(maximum);
        let buffer = &mut self.paths[index].send_buffer;
        *buffer = wanted.max(*buffer);
    }

    /// Sums up the connection's buffer from those of all subflows (`__mptcp_sync_sndbuf`). A
    /// subflow counts from its SYN on, and an accepted one once its handshake is complete.
    fn sum_up(&mut self, paths: &impl Paths) {
        for (index, queue) in self.paths.iter_mut().enumerate() {
            let view = paths.view(index);
            let is_there = view.may_send || paths.is_opener() && view.snd_nxt > 0;
            queue.counted = match is_there && !paths.is_gone(index) {
                true if queue.send_buffer == 0 => self.of_subflow.initial,
                true => queue.send_buffer,
                false => 0,
            };
        }
    }

    /// Returns the memory limit of the connection's socket, the sum over its subflows.
    fn buffer(&self, paths: &impl Paths) -> u64 {
        let remaining = (0..self.paths.len()).filter(|&index| !paths.is_gone(index));
        SMALLEST_BUFFER
            + remaining
                .map(|index| self.paths[index].counted)
                .sum::<u64>()
    }

    /// Removes the queue of a path that is gone. All unacknowledged data is bound to paths again.
    pub(super) fn drop_path(&mut self, index: usize, una: u64) {
        self.paths[index].waiting.clear();
        self.paths[index].bytes = 0;
        self.bind_anew(una);
    }

    /// Marks all unacknowledged data to be bound again (`__mptcp_retransmit_pending_data`).
    fn bind_anew(&mut self, una: u64) {
        self.is_anew = true;
        self.bound = una.min(self.written.taken());
    }

    /// Binds accepted data to paths, up to the peer's window.
    pub(super) fn bind(&mut self, now: Time, data: &Outbound, paths: &impl Paths) {
        self.bound = self.bound.max(data.una().min(self.written.taken()));
        while self.bind_burst(now, data, paths).is_some() {}
    }

    /// Accepts data that the application writes, one write at a time, until the buffer is full.
    /// Each call binds one burst of the data to a path.
    pub(super) fn fill(&mut self, now: Time, data: &Outbound, paths: &impl Paths) -> Filled {
        if data.is_unused() && !self.is_anew {
            return Filled::Whole;
        }
        let una = data.una().min(self.written.taken());
        self.bound = self.bound.max(una);
        if !self.is_in_call {
            let buffer = self.buffer(paths);
            let open = (0..self.paths.len()).filter(|&index| paths.view(index).may_send);
            let opened = open.count();
            if opened > self.opened {
                // A subflow that changes its state wakes all writers of the connection's socket
                // (`subflow_state_change`).
                self.written.wake(una, buffer);
            }
            self.opened = opened;
            let writes =
                self.written.on_acknowledged(una, buffer) && self.written.taken() < data.end();
            if writes {
                let is_open = self.bound < self.written.taken();
                self.calls_follow = self.written.write(una, data.end(), buffer, is_open);
            }
            // Accepted data is bound only when a write continues or an acknowledgment arrives. A
            // path's buffer that grows does not bind data by itself.
            if !std::mem::take(&mut self.is_anew) && !writes {
                return Filled::Whole;
            }
            self.is_in_call = true;
        }
        if let Some(index) = self.bind_burst(now, data, paths) {
            return Filled::Bound(index);
        }
        self.is_in_call = false;
        match std::mem::take(&mut self.calls_follow) {
            true => Filled::Call,
            false => Filled::Whole,
        }
    }

    /// Binds a burst to the path whose queue drains soonest, and returns this path. `None` if there
    /// is no data or no free space.
    fn bind_burst(&mut self, now: Time, data: &Outbound, paths: &impl Paths) -> Option<usize> {
        let left = self.written.taken() - self.bound;
        if left == 0 {
            return None;
        }
        if data.window_end() > self.bound {
            self.timer = self.longest_timer(now, paths);
        }
        let active = (0..self.paths.len()).filter(|&index| self.is_active(index, paths));
        let backups = active.clone().all(|index| paths.is_backup(index));
        let candidates = active
            .filter(|&index| paths.is_backup(index) == backups)
            .map(|index| (index, self.queue(index, paths)));
        let index = soonest_drained(candidates)?;
        let mut queue = self.queue(index, paths);
        let path = &self.paths[index];
        let path_room = path.send_buffer.saturating_sub(queue.memory);
        if path_room == 0 {
            return None;
        }
        let mss = u64::from(paths.window(index).mss);
        let room = data.window_end().saturating_sub(self.bound);
        let mut end = self.bound + room.min(left);
        if room < left && !self.to_the_byte {
            end -= room % mss;
        }
        if end == self.bound && self.bound == data.una() && path.waiting.is_empty() {
            // If nothing is outstanding, the subflow probes the closed window with one segment.
            end += mss.min(left);
        }
        let is_again = self.bound < self.unbound;
        if is_again {
            end = end.min(self.unbound);
        }
        let piece = paths.view(index).piece;
        let open = path.room_of_last(self.bound, is_again, piece);
        let head = memory_overhead(self.of_subflow.head);
        let burst = self.burst(end, path_room, |bytes| {
            bytes + bytes.saturating_sub(open).div_ceil(piece.max(1)) * head
        });
        if burst == 0 {
            return None;
        }
        let rate = paths.view(index).pacing_rate.as_bits_per_sec();
        if queue.pace == 0 {
            queue.pace = rate;
        }
        let path = &mut self.paths[index];
        path.pace = queue.averaged(rate, BURST.min(room.max(burst)));
        path.window = path.window.max(room);
        let data = Waiting {
            start: self.bound,
            end: self.bound + burst,
            is_again,
            is_mapped: false,
        };
        path.wait(data, piece);
        self.bound += burst;
        self.unbound = self.unbound.max(self.bound);
        Some(index)
    }

    /// Returns the size of the next burst in bytes, which ends at or before `end`. A burst consists
    /// of whole fragments. Fragments are added until the burst is long enough or their `memory`
    /// exceeds the free space on the path.
    fn burst(&self, end: u64, path_room: u64, memory: impl Fn(u64) -> u64) -> u64 {
        let most = end - self.bound;
        let fragments = self.written.ends_beyond(self.bound);
        fragments
            .map(|end| (end - self.bound).min(most))
            .find(|&bytes| bytes >= BURST.min(most) || memory(bytes) >= path_room)
            .unwrap_or_default()
    }

    /// Handles an expiry of the connection's timer. Counts silent expiries, and retransmits the
    /// head of the line on a path with an empty queue (`__mptcp_retrans`). Returns the next
    /// duration of the timer. `None` if no path is usable.
    pub(super) fn on_timer(
        &mut self,
        now: Time,
        data: &Outbound,
        paths: &impl Paths,
    ) -> Option<Span> {
        let mut idle = None;
        let mut idle_backup = None;
        let mut least_silent = u32::MAX;
        let mut any_usable = false;
        for index in 0..self.paths.len() {
            if !paths.is_usable(index) {
                continue;
            }
            any_usable = true;
            if self.queue(index, paths).memory == 0 {
                let pick = if paths.is_backup(index) {
                    &mut idle_backup
                } else {
                    &mut idle
                };
                pick.get_or_insert(index);
                continue;
            }
            let path = &mut self.paths[index];
            if path.silent_expiries == 0 {
                path.silent_expiries = 1;
                path.heard_then = path.heard_at;
            } else if path.heard_then == path.heard_at {
                path.silent_expiries += 1;
                self.give_up_if_silent(index, data.una(), paths);
            } else {
                path.silent_expiries = 0;
            }
            least_silent = least_silent.min(self.paths[index].silent_expiries);
        }
        let pick = idle.or(idle_backup.filter(|_| least_silent > 1));
        // The timer restarts with its old duration. The duration is updated only when a path is
        // chosen after that.
        let again = any_usable.then_some(self.timer);
        if self.written.taken() > self.bound {
            self.timer = self.longest_timer(now, paths);
        }
        let una = data.una();
        let first = self.written.ends_beyond(una).next();
        let end = self.unbound.min(first.unwrap_or(una));
        if let Some(pick) = pick
            && end > una
        {
            let data = Waiting {
                start: una,
                end,
                is_again: true,
                is_mapped: false,
            };
            self.paths[pick].wait(data, paths.view(pick).piece);
        }
        again
    }

    /// Marks a path as stale if it was silent too long while another path works.
    fn give_up_if_silent(&mut self, index: usize, una: u64, paths: &impl Paths) {
        let path = &self.paths[index];
        if path.is_stale || path.silent_expiries < STALE_EXPIRIES {
            return;
        }
        let takes_over = |other: usize| {
            other != index
                && self.is_active(other, paths)
                && self.paths[other].silent_expiries < LIVELY_EXPIRIES
        };
        if (0..self.paths.len()).any(takes_over) {
            self.paths[index].is_stale = true;
            self.bind_anew(una);
        }
    }
}
