//! The advertised window: constant, or grown to twice what the application reads in a round
//! trip (Linux `tcp_rcv_space_adjust`, `tcp_grow_window`).
//!
//! Linux accounts for the memory of a segment, not its payload; here the buffer is counted in
//! payload, as if the ratio of the two were known (the kernel since 6.6 measures it).

use crate::tcp::config::{ReceiveWindow, TcpConfig};
use fadeout_core::{Span, Time};

/// Window of a SYN under autotuning: 64 kB in whole segments (Linux
/// `tcp_select_initial_window`).
const INITIAL_WINDOW: u64 = 65_535;
/// Largest window that a scale of 14 expresses.
///
/// Standard: RFC 7323 §2.3.
const LARGEST_WINDOW: u64 = 65_535 << 14;

#[derive(Debug)]
pub(crate) struct AdvertisedWindow {
    is_autotuned: bool,
    /// Window scale shift (RFC 7323 section 2).
    scale: u8,
    maximum: u64,
    /// Size of the buffer, in payload.
    buffer: u64,
    /// What is offered of it (Linux `rcv_ssthresh`).
    threshold: u64,
    /// First sequence number beyond what was ever offered: the right edge never moves back.
    right_edge: u64,
    /// Bytes that the application reads in a round trip.
    space: u64,
    copied: u64,
    measured_from: Time,
    rtt: Option<Span>,
    last_echo: u32,
    /// Without timestamps: when the window that ends at this sequence number was offered.
    round: (u64, Time),
}

impl AdvertisedWindow {
    pub(crate) fn new(config: &TcpConfig) -> AdvertisedWindow {
        let mss = u64::from(config.mss);
        let (is_autotuned, maximum, initial) = match config.receive_window {
            ReceiveWindow::Autotuned { max_bytes } => (
                true,
                max_bytes,
                (INITIAL_WINDOW - INITIAL_WINDOW % mss).max(mss),
            ),
            ReceiveWindow::Fixed { bytes } => (false, bytes, bytes),
            // Wide open: the connection's window bounds the data. The round-trip time is measured.
            ReceiveWindow::Shared => (true, LARGEST_WINDOW, LARGEST_WINDOW),
        };
        let maximum = maximum.min(LARGEST_WINDOW);
        let initial = initial.min(maximum);
        AdvertisedWindow {
            is_autotuned,
            scale: scale_of(if is_autotuned { 2 * maximum } else { maximum }),
            maximum,
            buffer: initial.max(INITIAL_WINDOW.min(maximum)),
            threshold: initial,
            right_edge: 0,
            space: initial.min(10 * u64::from(config.effective_mss())),
            copied: 0,
            measured_from: Time::ZERO,
            rtt: None,
            last_echo: 0,
            round: (0, Time::ZERO),
        }
    }

    /// The window field of a SYN, which is never scaled.
    pub(crate) fn initial(&self) -> u64 {
        self.threshold.min(65_535)
    }

    /// The smallest scale that can express the largest window; with autotuning the largest
    /// buffer, as Linux counts it: twice the window.
    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    /// The peer knows no window scaling: no more than 16 bits can be said.
    pub(super) fn forgo_scaling(&mut self) {
        self.scale = 0;
        self.maximum = self.maximum.min(65_535);
        self.buffer = self.buffer.min(65_535);
        self.threshold = self.threshold.min(65_535);
    }

    /// What was offered and is not used up, seen from RCV.NXT `next`.
    pub(crate) fn offered(&self, next: u64) -> u64 {
        self.right_edge
            .saturating_sub(next)
            .max(if self.right_edge == 0 {
                self.threshold
            } else {
                0
            })
    }

    /// The window that could be offered with `held` bytes in the buffer.
    pub(crate) fn preview(&self, held: u64) -> u64 {
        let free = self.buffer.saturating_sub(held).min(self.threshold);
        free >> self.scale << self.scale
    }

    /// The window of a segment that leaves now.
    pub(crate) fn advertise(&mut self, next: u64, held: u64) -> u64 {
        self.right_edge = self.right_edge.max(next + self.preview(held));
        let window = self.right_edge - next;
        // Only multiples of the scale can be said, and never more than was meant.
        window >> self.scale << self.scale
    }

    /// A full-sized segment was received in order: offer more of the buffer.
    pub(crate) fn grow(&mut self, mss: u32, held: u64) {
        let room = self
            .buffer
            .saturating_sub(held)
            .saturating_sub(self.threshold);
        self.threshold += room.min(2 * u64::from(mss));
    }

    /// The application read `bytes`. Once a round trip the buffer is set to twice what was read
    /// in it, and more while that grows, so that slow start is never held back.
    pub(crate) fn on_read(&mut self, now: Time, bytes: u64, mss: u32) {
        if !self.is_autotuned {
            return;
        }
        self.copied += bytes;
        let Some(rtt) = self.rtt else { return };
        if now.since(self.measured_from) < rtt {
            return;
        }
        if self.copied > self.space {
            let wanted = autotuned_buffer(self.copied, self.space, mss);
            self.buffer = self.buffer.max(wanted.min(self.maximum));
            self.space = self.copied;
        }
        self.copied = 0;
        self.measured_from = now;
    }

    /// Round-trip time at the receiver, from a full segment's timestamp echo (Linux
    /// `tcp_rcv_rtt_measure_ts`).
    pub(crate) fn measure_rtt(&mut self, now: Time, echo: u32) {
        if !self.is_autotuned || echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let millis = (now.as_millis() as u32).wrapping_sub(echo).max(1);
        let sample = Span::from_millis(u64::from(millis));
        self.rtt = Some(match self.rtt {
            Some(rtt) => rtt - rtt / 8 + sample / 8,
            None => sample,
        });
    }

    /// The receiver's round-trip time; `None` before the first sample.
    pub(crate) fn rtt(&self) -> Option<Span> {
        self.rtt
    }

    /// Takes a round-trip time measured elsewhere.
    pub(crate) fn set_rtt(&mut self, rtt: Option<Span>) {
        self.rtt = rtt;
    }

    /// Round-trip time at the receiver without timestamps: a whole window takes at least one to
    /// arrive, so the shortest time counts (Linux `tcp_rcv_rtt_measure`).
    pub(crate) fn measure_round(&mut self, now: Time, next: u64) {
        if !self.is_autotuned || next < self.round.0 {
            return;
        }
        if self.round.0 > 0 {
            let sample = now.since(self.round.1);
            self.rtt = Some(self.rtt.map_or(sample, |rtt| rtt.min(sample)));
        }
        self.round = (next + self.offered(next), now);
    }

    /// The receiver's round-trip time, bounded by the sender half's where that is known.
    pub(crate) fn rtt_or(&self, srtt: Span) -> Span {
        match (self.rtt, srtt.is_zero()) {
            (Some(rtt), false) => rtt.min(srtt),
            (Some(rtt), true) => rtt,
            (None, _) => srtt,
        }
    }
}

/// The smallest window scale that can express `largest` bytes, at most 14.
fn scale_of(largest: u64) -> u8 {
    (0..14)
        .find(|&scale| 65_535_u64 << scale >= largest)
        .unwrap_or(14)
}

/// Buffer for `copied` bytes read in a round trip, after `space` in the one before.
fn autotuned_buffer(copied: u64, space: u64, mss: u32) -> u64 {
    let window = 2 * copied + 16 * u64::from(mss);
    let grow = u128::from(window) * u128::from(copied - space) / u128::from(space.max(1));
    window.saturating_add(2 * u64::try_from(grow).unwrap_or(u64::MAX / 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_follows_a_doubling_sender() {
        // Reference vector AUTOTUNE-1.
        assert_eq!(autotuned_buffer(40_000, 20_000, 1448), 309_504);
    }

    #[test]
    fn the_right_edge_never_moves_back() {
        let config = TcpConfig {
            receive_window: ReceiveWindow::Fixed { bytes: 10_000 },
            ..TcpConfig::linux()
        };
        let mut window = AdvertisedWindow::new(&config);
        assert_eq!(window.advertise(1, 0), 10_000);
        assert_eq!(window.advertise(1001, 9_000), 9_000);
        assert_eq!(window.scale(), 0);
    }

    #[test]
    fn without_timestamps_a_window_takes_a_round_trip() {
        let mut window = AdvertisedWindow::new(&TcpConfig::linux());
        window.advertise(1, 0);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        window.measure_round(at(0), 1);
        window.measure_round(at(30), 30_000);
        assert_eq!(window.rtt, None);
        window.measure_round(at(50), 1 + 64_240);
        assert_eq!(window.rtt, Some(Span::from_millis(50)));
    }

    #[test]
    fn the_scale_is_the_smallest_that_expresses_the_largest_window() {
        let scale = |bytes| {
            AdvertisedWindow::new(&TcpConfig {
                receive_window: ReceiveWindow::Autotuned { max_bytes: bytes },
                ..TcpConfig::linux()
            })
            .scale()
        };
        assert_eq!((scale(65_535), scale(3 << 20), scale(1 << 30)), (1, 7, 14));
    }
}
