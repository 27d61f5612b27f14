//! Advertised window. It is constant, or grows to twice the data that the application reads in a
//! round trip (Linux `tcp_rcv_space_adjust`, `tcp_grow_window`, `__tcp_select_window`).
//!
//! Linux counts the memory of a segment, not its payload. The share of payload is assumed to be a
//! half until the first full segment is measured (`scaling_ratio`).

mod round_trip;
#[cfg(test)]
mod tests;

use super::growth::{self, Read, Reading};
use super::packets::Held;
use crate::tcp::config::{AckRule, BufferGrowth, ReceiveWindow, TcpConfig};
use fadeout_core::{Span, Time};

/// Largest window in a SYN, whose window field is never scaled.
///
/// Standard: RFC 7323 §2.2.
const LARGEST_UNSCALED: u64 = 65_535;
/// Largest window that the largest scale, 14, can express.
///
/// Standard: RFC 7323 §2.3.
const LARGEST_WINDOW: u64 = 65_535 << 14;
/// Denominator of the payload share (`TCP_RMEM_TO_WIN_SCALE`).
pub(crate) const WHOLE: u64 = 256;
/// Initial payload share (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_SHARE: u64 = WHOLE / 2;
/// Assumed number of segments that the application reads in the first round trip (`TCP_INIT_CWND`).
const FIRST_ROUND_SEGMENTS: u64 = 10;

/// Returns the payload's share of the memory, in 256ths, for packets of `len` bytes with an
/// overhead of `overhead` bytes each (Linux `scaling_ratio`).
pub(crate) fn share_of(len: u32, overhead: u64) -> u64 {
    let len = u64::from(len);
    (len * WHOLE / (len + overhead)).max(1)
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdvertisedWindow {
    is_autotuned: bool,
    /// True if windows are rounded as in Linux.
    rounds: bool,
    /// True if the multipath connection owns the window. The limits of this subflow's window are
    /// then as large as possible.
    is_shared: bool,
    /// True if received data is charged by memory. False if it is charged by payload.
    counts_memory: bool,
    /// Window scale shift (RFC 7323 section 2).
    scale: u8,
    maximum: u64,
    /// Size of the buffer in memory (`sk_rcvbuf`).
    memory: u64,
    /// Upper limit of `memory`.
    most_memory: u64,
    /// Share of payload in the memory, in 256ths.
    share: u64,
    /// Overhead of a packet in memory, bytes.
    overhead: u64,
    /// Size of the buffer in bytes of payload.
    buffer: u64,
    /// Size of the buffer in payload when the buffer last grew, with the payload share at that time
    /// (Linux `window_clamp`).
    clamp: u64,
    /// Upper limit of the advertised window (Linux `rcv_ssthresh`).
    threshold: u64,
    /// Window offered last (Linux `rcv_wnd`).
    last: u64,
    /// First sequence number beyond every window offered. The right edge never moves back.
    right_edge: u64,
    growth_rule: BufferGrowth,
    /// Number of bytes that the application reads in a round trip.
    space: u64,
    copied: u64,
    measured_from: Time,
    rtt: Option<Span>,
    last_echo: u32,
    /// End of an offered window as a sequence number, and the time of the offer. A round trip ends
    /// when this number is received.
    round: (u64, Time),
}

impl AdvertisedWindow {
    pub(crate) fn new(config: &TcpConfig) -> AdvertisedWindow {
        let (is_autotuned, maximum, buffer) = match config.buffers.receive_window {
            ReceiveWindow::Autotuned { max_bytes } => {
                let half = config.buffers.initial_receive * FIRST_SHARE / WHOLE;
                (true, max_bytes, half)
            }
            ReceiveWindow::Fixed { bytes } => (false, bytes, bytes),
            // The limits are as large as possible, because the connection's window limits the data.
            // The round-trip time is still measured.
            ReceiveWindow::Shared => (true, LARGEST_WINDOW, LARGEST_WINDOW),
        };
        let maximum = maximum.min(LARGEST_WINDOW);
        let buffer = buffer.min(maximum);
        let rounds = config.acks.rule == AckRule::Linux;
        let is_shared = config.buffers.receive_window == ReceiveWindow::Shared;
        let mut window = AdvertisedWindow {
            is_autotuned,
            rounds,
            is_shared,
            counts_memory: is_autotuned && rounds && !is_shared,
            scale: scale_of(if is_autotuned { 2 * maximum } else { maximum }),
            maximum,
            memory: buffer * WHOLE / FIRST_SHARE,
            most_memory: u64::MAX,
            share: FIRST_SHARE,
            overhead: config.buffers.packet_memory.alone,
            buffer,
            clamp: LARGEST_WINDOW,
            threshold: buffer,
            last: buffer,
            right_edge: 0,
            space: 0,
            copied: 0,
            measured_from: Time::ZERO,
            rtt: None,
            last_echo: 0,
            round: (0, Time::ZERO),
            growth_rule: config.buffers.receive_growth,
        };
        window.offer_whole_segments(config.mss);
        window.space = window
            .threshold
            .min(FIRST_ROUND_SEGMENTS * u64::from(config.effective_mss()));
        window
    }

    /// Rounds the window of a SYN to whole segments of `mss` (Linux `tcp_select_initial_window`).
    fn offer_whole_segments(&mut self, mss: u32) {
        if self.is_shared {
            return;
        }
        let mss = u64::from(mss);
        let whole = if self.rounds && self.buffer > mss {
            self.buffer / mss * mss
        } else {
            self.buffer
        };
        if self.is_autotuned {
            self.threshold = whole.min(LARGEST_UNSCALED);
        }
        self.last = whole.min(LARGEST_UNSCALED);
    }

    /// Starts the window with the peer's SYN, after which RCV.NXT is `next`. `answer_mss` is the
    /// payload of a full segment in this end's SYN-ACK. `None` if no SYN-ACK is sent. The window in
    /// this end's SYN counts from `next`.
    pub(crate) fn begin(&mut self, next: u64, answer_mss: Option<u32>) {
        if let Some(mss) = answer_mss {
            self.offer_whole_segments(mss);
        }
        self.right_edge = next + self.last;
    }

    /// Completes the handshake. Room for one segment is subtracted from the offered window (Linux
    /// `tcp_init_buffer_space`).
    pub(crate) fn on_established(&mut self, now: Time, mss: u32) {
        let mss = u64::from(mss);
        self.measured_from = now;
        if self.is_autotuned && self.rounds && self.buffer > 2 * mss {
            self.threshold = self.threshold.min((self.buffer - mss).max(2 * mss));
        }
        self.space = self
            .threshold
            .min(self.last)
            .min(FIRST_ROUND_SEGMENTS * mss);
    }

    /// Returns the window field of a SYN, which is never scaled.
    pub(crate) fn initial(&self) -> u64 {
        self.last.min(LARGEST_UNSCALED)
    }

    /// Returns the smallest scale that can express the largest window. With autotuning Linux uses
    /// the largest buffer, which is twice the window.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// Limits the window to 16 bits, because the peer does not support window scaling.
    pub(super) fn forgo_scaling(&mut self) {
        self.scale = 0;
        self.maximum = self.maximum.min(LARGEST_UNSCALED);
        self.buffer = self.buffer.min(LARGEST_UNSCALED);
        self.threshold = self.threshold.min(LARGEST_UNSCALED);
    }

    /// Returns the part of the advertised window beyond RCV.NXT, which is `next`.
    pub(crate) fn offered(&self, next: u64) -> u64 {
        self.right_edge
            .saturating_sub(next)
            .max(if self.right_edge == 0 { self.last } else { 0 })
    }

    /// Returns the window last offered.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Returns true if received data is charged by memory, because its payload share is known.
    #[inline]
    pub(crate) fn counts_memory(&self) -> bool {
        self.counts_memory
    }

    /// Returns the free space of the buffer if it contains `held` (Linux `tcp_space`).
    #[inline]
    fn free(&self, held: Held) -> u64 {
        match held {
            Held::Payload(bytes) => self.buffer.saturating_sub(bytes),
            Held::Memory(bytes) => {
                (self.memory.saturating_sub(bytes) * self.share / WHOLE).min(self.buffer)
            }
        }
    }

    /// Returns true if less than half of the buffer is free if it contains `held`. Linux then ends
    /// quick ACKs.
    pub(crate) fn is_tight(&self, held: impl Into<Held>) -> bool {
        self.free(held.into()) < self.buffer / 2
    }

    /// Returns the window that could be offered if the buffer contains `held`. The peer sends
    /// segments of `mss` (Linux `__tcp_select_window`).
    pub(crate) fn preview(&self, held: impl Into<Held>, mss: u32) -> u64 {
        let mut free = self.free(held.into());
        if !self.rounds {
            return free.min(self.threshold) >> self.scale << self.scale;
        }
        let mss = u64::from(mss).min(self.buffer);
        if free < self.buffer / 2 {
            // The free space may become the window, so it is rounded down and never up.
            free = free >> self.scale << self.scale;
            if free < self.buffer / 16 || free < mss {
                return 0;
            }
        }
        free = free.min(self.threshold);
        if self.scale > 0 {
            return free.next_multiple_of(1 << self.scale);
        }
        if self.last + mss <= free || self.last > free {
            free / mss * mss
        } else if mss == self.buffer && free > self.last + self.buffer / 2 {
            free
        } else {
            self.last
        }
    }

    /// Returns true if a window of twice `offered` could be offered if the buffer contains `held`.
    /// The peer sends segments of `mss` (Linux `__tcp_cleanup_rbuf`).
    #[inline]
    pub(crate) fn doubles(&self, offered: u64, held: Held, mss: u32) -> bool {
        // The window is at most this large. If twice `offered` is more, the window need not be
        // computed.
        let most = self.threshold.next_multiple_of(1 << self.scale);
        if 2 * offered > most.min(self.clamp) {
            return false;
        }
        let window = self.preview(held, mss);
        window > 0 && window >= 2 * offered
    }

    /// Returns true if twice `offered` bytes are free if the buffer contains `held` (Linux
    /// `mptcp_cleanup_rbuf`).
    pub(crate) fn has_twice(&self, offered: u64, held: Held) -> bool {
        let free = self.free(held);
        free > 0 && free >= 2 * offered
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        debug_assert!(self.scale <= 14, "a window scale of {}", self.scale);
        debug_assert!(
            (1..=WHOLE).contains(&self.share),
            "{} of {WHOLE} parts of memory are payload",
            self.share
        );
        debug_assert!(
            self.buffer <= self.maximum,
            "the buffer grew beyond its maximum"
        );
        debug_assert!(
            self.maximum <= LARGEST_WINDOW,
            "no scale expresses the largest window"
        );
        debug_assert!(
            self.rtt.is_none_or(|rtt| rtt < Span::MAX),
            "the receiver's round-trip time has no end"
        );
    }

    /// Asserts that the window field can express `window`.
    ///
    /// Standard: RFC 7323 §2.3.
    #[inline]
    fn assert_expressible(&self, window: u64) {
        debug_assert!(
            window <= LARGEST_UNSCALED << self.scale,
            "a window of {window} bytes does not fit 16 bits with scale {}",
            self.scale
        );
        debug_assert!(
            window.trailing_zeros() >= u32::from(self.scale) || window == 0,
            "a window of {window} bytes is no multiple of the scale {}",
            self.scale
        );
    }

    /// Returns the window of a segment that is sent now.
    pub(crate) fn advertise(&mut self, next: u64, held: impl Into<Held>, mss: u32) -> u64 {
        let current = self.right_edge.saturating_sub(next);
        let window = self.preview(held, mss);
        if !self.rounds {
            self.right_edge = next + current.max(window);
            self.last = current.max(window);
            // The window field expresses only multiples of the scale. Rounding down never offers
            // more than intended.
            return self.last >> self.scale << self.scale;
        }
        self.last = if window < current {
            current.next_multiple_of(1 << self.scale)
        } else {
            window
        };
        debug_assert!(
            next + self.last >= self.right_edge,
            "the right edge of the window moved back"
        );
        self.right_edge = next + self.last;
        let advertised = self.last.min(LARGEST_UNSCALED << self.scale);
        self.assert_expressible(advertised);
        advertised
    }

    /// Returns the window of a segment that is sent now on a Linux subflow. A window below the
    /// offer of another subflow is raised to that offer, and then rounded down to the scale
    /// (`mptcp_set_rwin`). The right edge belongs to the connection, so the subflow's window may
    /// shrink.
    pub(crate) fn advertise_shared(&mut self, next: u64, held: Held, mss: u32) -> u64 {
        let window = self.preview(held, mss);
        self.right_edge = self.right_edge.max(next + window);
        self.last = self.right_edge - next;
        let advertised = self.last.min(LARGEST_UNSCALED << self.scale) >> self.scale << self.scale;
        self.assert_expressible(advertised);
        advertised
    }

    /// Measures the payload share with a segment of `len` bytes, the largest so far.
    pub(crate) fn measure_share(&mut self, len: u32) {
        if !self.counts_memory() {
            return;
        }
        self.set_share(share_of(len, self.overhead));
    }

    /// Resets the payload share to its initial value.
    pub(crate) fn forget_share(&mut self) {
        if self.counts_memory() {
            self.set_share(FIRST_SHARE);
        }
    }

    fn set_share(&mut self, share: u64) {
        self.share = share;
        self.buffer = (self.memory * share / WHOLE).min(self.maximum);
    }

    /// Returns the largest window that is offered.
    pub(crate) fn limit(&self) -> u64 {
        self.threshold
    }

    /// Sets the largest window that is offered.
    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.threshold = limit;
    }

    /// Grows the offered window after `len` bytes were received. `held` is the content of the
    /// buffer. Returns true if the window grew.
    pub(crate) fn grow(&mut self, len: u32, mss: u32, held: impl Into<Held>) -> bool {
        let cost = u64::from(len) + self.overhead;
        let free = self.free(held.into());
        self.grow_at(free, cost, u64::from(len), (mss, mss))
    }

    /// Grows the offered window for a segment that uses `cost` bytes of memory while `free` bytes
    /// are free. `sizes` are the advertised and the received segment size.
    fn grow_at(&mut self, free: u64, cost: u64, len: u64, sizes: (u32, u32)) -> bool {
        let room = free.saturating_sub(self.threshold);
        if room == 0 {
            return false;
        }
        let step = self.growth(cost, len, sizes);
        self.threshold += room.min(step);
        step > 0
    }

    /// Grows the offered window for a segment of `len` bytes on a subflow. The subflow's largest
    /// segments have `largest` bytes. A short segment uses as much memory as a segment of that
    /// size. The subflow has a buffer of `memory` bytes and offers at most `clamp`.
    pub(crate) fn grow_with_segments(
        &mut self,
        (largest, len): (u32, u32),
        mss: u32,
        held: Held,
        (memory, clamp): (u64, u64),
    ) -> bool {
        let (share, of_all) = (self.share, self.memory);
        if self.counts_memory {
            self.memory = memory;
            self.measure_share(largest);
        }
        let cost = u64::from(largest) + self.overhead;
        let free = self.free(held).min(clamp);
        let grows = self.grow_at(free, cost, u64::from(len), (mss, largest));
        if self.counts_memory {
            self.memory = of_all;
            self.set_share(share);
        }
        grows
    }

    /// Limits the buffer to `memory` bytes at any payload share.
    pub(crate) fn limit_memory(&mut self, memory: u64) {
        self.most_memory = memory;
    }

    /// Returns the size of the buffer in memory.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// Returns the window that a buffer of `memory` allows with segments of `len` bytes. The window
    /// is unlimited if data is charged by payload.
    pub(crate) fn in_payload(&self, memory: u64, len: u32) -> u64 {
        match self.counts_memory {
            true => memory * share_of(len, self.overhead) / WHOLE,
            false => u64::MAX,
        }
    }

    /// Returns the window that the buffer allowed when it last grew.
    pub(crate) fn clamp(&self) -> u64 {
        self.clamp
    }

    /// Returns the growth of the window for a segment of `len` bytes that uses `cost` bytes of
    /// memory. Small segments use much memory for little payload, so the limit of growth is lower
    /// for them. The growth is based on the received size, not on the advertised size (Linux
    /// `__tcp_grow_window`).
    fn growth(&self, cost: u64, len: u64, (advertised, arriving): (u32, u32)) -> u64 {
        let mut cost = cost * self.share / WHOLE;
        if !self.rounds || cost <= len {
            return 2 * u64::from(advertised).max(len);
        }
        let mut bound = self.maximum / 2;
        cost /= 2;
        while self.threshold <= bound {
            if cost <= len {
                return 2 * u64::from(arriving).max(len);
            }
            cost /= 2;
            bound /= 2;
        }
        0
    }

    /// Returns true if a round trip has passed since the last measurement of the buffer, or if the
    /// round-trip time is unknown.
    pub(crate) fn is_round_over(&self, now: Time) -> bool {
        self.rtt
            .is_none_or(|rtt| now.since(self.measured_from) >= rtt)
    }

    /// Records that the application read data. Once a round trip the buffer is set to twice the
    /// bytes read in the round trip. While the reads grow, the buffer is set even larger, so that
    /// it never limits slow start.
    #[inline]
    pub(crate) fn on_read(&mut self, now: Time, read: Read, mss: u32) {
        let Read {
            bytes,
            first,
            beyond,
        } = read;
        if !self.is_autotuned || bytes == 0 {
            return;
        }
        if self.rtt.is_none() || !self.is_round_over(now) {
            self.copied += bytes;
            return;
        }
        // The first packet ends the round trip. The other packets belong to the next round trip and
        // are subtracted here (Linux `tcp_rcv_space_adjust`).
        let behind = bytes - first;
        let copied = (self.copied + first).saturating_sub(behind);
        if copied > self.space {
            self.enlarge(growth::buffer(
                self.growth_rule,
                Reading {
                    copied,
                    before: self.space,
                    mss,
                    beyond,
                },
            ));
            self.space = copied;
        }
        self.copied = behind;
        self.measured_from = now;
    }

    /// Enlarges the buffer to `wanted` bytes of payload, or to its maximum.
    fn enlarge(&mut self, wanted: u64) {
        if wanted > self.buffer {
            let wanted = wanted.min(self.maximum) * WHOLE / self.share;
            self.memory = self.memory.max(wanted.min(self.most_memory));
            self.buffer = (self.memory * self.share / WHOLE).min(self.maximum);
            self.clamp = self.buffer;
        }
    }

    /// Enlarges the buffer for data behind a gap that ends `beyond` bytes above RCV.NXT. Only the
    /// growth of Linux 6.18 does so.
    pub(crate) fn on_gap(&mut self, beyond: u64) {
        if self.is_autotuned && self.growth_rule == BufferGrowth::Linux618 {
            self.enlarge(2 * self.space + beyond);
        }
    }
}

/// Returns the smallest window scale that can express `largest` bytes, at most 14.
fn scale_of(largest: u64) -> u8 {
    (0..14)
        .find(|&scale| 65_535_u64 << scale >= largest)
        .unwrap_or(14)
}
