//! The send queues of Linux's stack: data is bound to a subflow as soon as it is written, and waits
//! there for the subflow's window (net/mptcp/protocol.c, Linux 6.12).
//!
//! - The socket takes data until its send buffer is full; what holds it is what the peer has not
//!   acknowledged *in order*. The buffer is the sum of the subflows'. A full one is filled again
//!   once a third is free.
//! - What was taken is bound at once, in bursts, to the path whose queue drains soonest. Where that
//!   path's own buffer is full, nothing is bound.
//! - So a path that stops holds up what waits behind its data: the others run dry once the send
//!   buffer is full of it. After five expiries of the connection's timer without a segment on the
//!   path, everything not acknowledged is bound anew, and the path left out until it is heard.

use super::MultipathConnection;
use super::path::{Path, Stage, Waiting};
use crate::multipath::scheduler::linux::{BURST, Queue, soonest_drained};
use fadeout_core::{Span, Time};

/// What a segment of 1460 bytes takes of a send buffer, bytes: the power of two that holds it with
/// headers and bookkeeping, and the `sk_buff` (`tcp_sndbuf_expand`, x86-64).
const SEGMENT_MEMORY: u64 = 4096 + 256;
/// Windows that a send buffer holds (`tcp_sndbuf_expand`).
const WINDOWS: u64 = 2;
/// Least send buffer of a connection beside its subflows', bytes (`tcp_wmem[0]`).
const SMALLEST_BUFFER: u64 = 4096;
/// Expiries of the connection's timer without a segment after which a path is stale: more than
/// `net.mptcp.stale_loss_cnt`, which is 4.
const STALE_EXPIRIES: u32 = 5;
/// A path that takes over for a stale one was itself silent for fewer expiries than this.
const LIVELY_EXPIRIES: u32 = 3;
/// A fragment of the write queue, bytes: what a page of 32 KiB has room for beside the fragment's own
/// bookkeeping. The connection's timer sends again what is left of one.
const FRAGMENT: u64 = 32_728;
/// The connection's timer when no subflow's runs (`TCP_RTO_MIN`).
pub(super) const SHORTEST_TIMER: Span = Span::from_millis(200);

/// Send queues of a connection.
#[derive(Debug)]
pub(super) struct SendQueues {
    /// Most that a subflow's send buffer grows to, bytes (`tcp_wmem[2]`).
    pub(super) maximum: u64,
    /// First data sequence number that the socket has not taken.
    pub(super) taken: u64,
    /// Next data sequence number to be bound.
    pub(super) bound: u64,
    /// First data sequence number that never was.
    pub(super) unbound: u64,
    /// The buffer was full: the application waits for a third of it.
    pub(super) is_waiting: bool,
    /// How long the connection's timer runs. It is measured when a path is sought for data, and stays
    /// while the peer's window is full.
    pub(super) timer: Span,
}

impl Path {
    /// What waits on the path or is not acknowledged.
    fn queue(&self) -> Queue {
        let view = self.view();
        Queue {
            bytes: view.snd_nxt - view.snd_una + self.waiting_bytes,
            pace: self.pace,
        }
    }

    /// Puts data behind what waits.
    fn wait(&mut self, data: Waiting) {
        self.waiting_bytes += data.end - data.start;
        match self.waiting.back_mut() {
            Some(last) if last.end == data.start && last.is_again == data.is_again => {
                last.end = data.end;
            }
            _ => self.waiting.push_back(data),
        }
    }

    /// `bytes` of what waits first have left.
    pub(super) fn leave(&mut self, bytes: u64) {
        self.waiting_bytes -= bytes;
        if let Some(first) = self.waiting.front_mut() {
            first.start += bytes;
            if first.start >= first.end {
                self.waiting.pop_front();
            }
        }
    }

    /// Grows the send buffer to two windows.
    fn grow_buffer(&mut self, maximum: u64) {
        let window = self.tcp.window().cwnd.max(10.0) as u64;
        let wanted = (WINDOWS * window * SEGMENT_MEMORY).min(maximum);
        self.send_buffer = self.send_buffer.max(wanted);
    }

    /// Whether it may get new data.
    fn is_active(&self) -> bool {
        self.stage == Stage::Usable && !self.is_stale
    }
}

/// As long as the longest of the timers of subflows that are heard (`mptcp_timeout_from_subflow`).
fn longest_timer(paths: &[Path], now: Time) -> Span {
    let heard = paths.iter().filter(|path| path.is_active());
    let timers = heard
        .filter(|path| path.silent_expiries == 0)
        .filter_map(|path| path.view().timer_at)
        .map(|at| at.since(now));
    timers
        .max()
        .filter(|span| !span.is_zero())
        .unwrap_or(SHORTEST_TIMER)
}

impl MultipathConnection {
    /// After a segment on path `index`: its send buffer grows where the buffer, not the window,
    /// holds the path back; and a stale path is stale no more.
    pub(super) fn on_heard(&mut self, now: Time, index: usize) {
        let path = &mut self.paths[index];
        path.heard_at = now;
        if path.is_stale {
            path.is_stale = false;
            path.silent_expiries = 0;
        }
        let Some(queues) = &self.queues else { return };
        if path.stage != Stage::Usable {
            return;
        }
        let has_room = path.view().in_flight < path.tcp.window().cwnd as u32;
        if path.send_buffer == 0 || queues.is_waiting && has_room {
            path.grow_buffer(queues.maximum);
        }
    }

    /// Takes what the application wrote as far as the buffer goes, and binds it to paths.
    pub(super) fn fill_queues(&mut self, now: Time) {
        let Some(queues) = &mut self.queues else {
            return;
        };
        let paths = self.paths.iter().filter(|path| path.stage == Stage::Usable);
        let buffer = SMALLEST_BUFFER + paths.map(|path| path.send_buffer).sum::<u64>();
        let held = queues.taken - self.data_una.min(queues.taken);
        if !queues.is_waiting || 3 * held <= 2 * buffer {
            let room = buffer.saturating_sub(held);
            queues.is_waiting = room < self.data_end - queues.taken;
            queues.taken += room.min(self.data_end - queues.taken);
        }
        queues.bound = queues.bound.max(self.data_una.min(queues.taken));
        while self.bind_burst(now) {}
    }

    /// Binds a burst to the path whose queue drains soonest; false when there is nothing to bind or
    /// no place for it.
    fn bind_burst(&mut self, now: Time) -> bool {
        let Some(queues) = &mut self.queues else {
            return false;
        };
        let left = queues.taken - queues.bound;
        if left == 0 {
            return false;
        }
        if self.window_end > queues.bound {
            queues.timer = longest_timer(&self.paths, now);
        }
        let is_regular = |path: &Path| path.is_active() && !path.config.backup;
        let backups = !self.paths.iter().any(is_regular);
        let candidates = self.paths.iter().enumerate().filter_map(|(index, path)| {
            let may = path.is_active() && path.config.backup == backups;
            may.then(|| (index, path.queue()))
        });
        let Some(index) = soonest_drained(candidates) else {
            return false;
        };
        let path = &mut self.paths[index];
        let queue = path.queue();
        if queue.bytes >= path.send_buffer {
            return false;
        }
        let mss = u64::from(path.tcp.window().mss);
        let room = self.window_end.saturating_sub(queues.bound);
        let mut burst = left.min(BURST);
        if room < burst {
            burst = room - room % mss;
            if burst == 0 && queues.bound == self.data_una && path.waiting.is_empty() {
                // Nothing is outstanding: the subflow probes the closed window.
                burst = mss.min(left);
            }
        }
        if burst == 0 {
            return false;
        }
        let is_again = queues.bound < queues.unbound;
        if is_again {
            burst = burst.min(queues.unbound - queues.bound);
        }
        let rate = path.view().pacing_rate.as_bits_per_sec();
        if path.pace == 0 {
            path.pace = rate;
        }
        path.pace = path.queue().averaged(rate, burst);
        path.wait(Waiting {
            start: queues.bound,
            end: queues.bound + burst,
            is_again,
        });
        queues.bound += burst;
        queues.unbound = queues.unbound.max(queues.bound);
        true
    }

    /// Everything not acknowledged is bound anew (`__mptcp_retransmit_pending_data`).
    pub(super) fn bind_anew(&mut self) {
        if let Some(queues) = &mut self.queues {
            queues.bound = self.data_una.min(queues.taken);
        }
    }

    /// The connection's timer expired: counts silent expiries, and sends the head of the line on a
    /// path that has nothing to do (`__mptcp_retrans`).
    pub(super) fn on_queues_timer(&mut self, now: Time) {
        let mut idle = None;
        let mut idle_backup = None;
        let mut least_silent = u32::MAX;
        for index in 0..self.paths.len() {
            let path = &mut self.paths[index];
            if path.stage != Stage::Usable {
                continue;
            }
            if path.queue().bytes == 0 {
                let pick = if path.config.backup {
                    &mut idle_backup
                } else {
                    &mut idle
                };
                pick.get_or_insert(index);
                continue;
            }
            if path.silent_expiries == 0 {
                path.silent_expiries = 1;
                path.heard_then = path.heard_at;
            } else if path.heard_then == path.heard_at {
                path.silent_expiries += 1;
                self.give_up_if_silent(index);
            } else {
                path.silent_expiries = 0;
            }
            least_silent = least_silent.min(self.paths[index].silent_expiries);
        }
        let pick = idle.or(idle_backup.filter(|_| least_silent > 1));
        if let Some(queues) = &mut self.queues {
            // It runs again for as long as before; a path is sought, and the time measured, after that.
            if self.paths.iter().any(|path| path.stage == Stage::Usable) {
                self.data_timer_at = now + queues.timer;
            }
            if queues.taken > queues.bound {
                queues.timer = longest_timer(&self.paths, now);
            }
        }
        // Data sequence numbers of data begin at 1.
        let fragment = (self.data_una - 1) / FRAGMENT * FRAGMENT + 1;
        let end = self.data_nxt.min(fragment + FRAGMENT);
        if let Some(pick) = pick
            && end > self.data_una
        {
            self.paths[pick].wait(Waiting {
                start: self.data_una,
                end,
                is_again: true,
            });
        }
    }

    /// A path that stayed silent too long is left out while another one works.
    fn give_up_if_silent(&mut self, index: usize) {
        let path = &self.paths[index];
        if path.is_stale || path.silent_expiries < STALE_EXPIRIES {
            return;
        }
        let takes_over = |(other, path): (usize, &Path)| {
            other != index && path.is_active() && path.silent_expiries < LIVELY_EXPIRIES
        };
        if self.paths.iter().enumerate().any(takes_over) {
            self.paths[index].is_stale = true;
            self.bind_anew();
        }
    }
}
