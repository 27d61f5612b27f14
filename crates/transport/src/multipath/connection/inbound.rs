//! Data that arrives: it is put in order across paths, into the receive buffer that all share.
//!
//! Standard: RFC 8684 §3.3.

use crate::multipath::MAX_PATHS;
use crate::tcp::receiver::packets::{Held, Kind, MOST_FRAGMENTS, Packets};
use crate::tcp::receiver::reassembly::Reassembly;
use crate::tcp::receiver::window::{self, AdvertisedWindow};
use crate::tcp::{PacketMemory, ReceiveWindow, TcpConfig};
use fadeout_core::{MptcpOption, Span, Time};

/// Smallest payload that lets the window grow, as in `tcp_grow_window`.
const GROWS_FROM: u32 = 128;

/// Round-trip times at the end of a round of the receive buffer (Linux
/// `mptcp_rcv_space_adjust`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Round {
    /// Round-trip time of the slowest.
    pub(super) slowest: Option<Span>,
    /// All carried data.
    pub(super) all_carried: bool,
    /// Which subflows there are, a bit for each: their buffers grow.
    pub(super) present: u32,
}

/// Result of inserting data that arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Delivered {
    /// Bytes for the application.
    pub(super) bytes: u64,
    /// The peer's DATA_FIN is in order.
    pub(super) fin: bool,
}

/// What reading did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HasRead {
    /// Nothing is left, where it was something.
    pub(super) leaves_nothing: bool,
    /// Twice as much is free as was last offered, on whatever path.
    pub(super) makes_room: bool,
}

/// What a subflow offers of the connection's buffer, by its own socket in Linux.
#[derive(Debug, Clone, Copy, Default)]
struct Subflow {
    /// The most that it offers: that grows with what arrives on it (`rcv_ssthresh`).
    limit: u64,
    /// The window that it last offered (`rcv_wnd`).
    offered: u64,
    /// Payload of the largest segment that came on it.
    largest: u32,
    /// Its buffer, which grows with the connection's while it is there (`sk_rcvbuf`), and the window
    /// that this allowed when it grew (`window_clamp`).
    memory: u64,
    clamp: u64,
}

/// The receiving half of a connection.
#[derive(Debug)]
pub(super) struct Inbound {
    reassembly: Reassembly,
    window: AdvertisedWindow,
    /// What this end says in its SYN (Linux `advmss`, before the options of a segment are taken off).
    mss: u32,
    subflows: [Subflow; MAX_PATHS],
    /// The window that was last offered, on whatever path (`old_wspace`).
    last_offered: u64,
    /// As Linux has it, and not the papers' stack.
    is_linux: bool,
    /// Data below was counted for the application.
    counted_up_to: u64,
    fin_at: Option<u64>,
    is_finished: bool,
    is_reading: bool,
    unread: u64,
    /// Bytes that the application reads once the segment that brought them is acknowledged.
    fresh: u64,
    packet_memory: PacketMemory,
    /// The packets in which data lies that is behind a gap or not read.
    packets: Packets,
    /// Where what is in order ends, but for what the last segments put in order (Linux does that last,
    /// `__mptcp_ofo_queue`).
    packed_to: u64,
    /// In the papers' stack the segment that came last is in the buffer when it is acknowledged.
    is_fresh: bool,
}

impl Inbound {
    /// `is_linux`: as Linux has it, and not the papers' stack.
    pub(super) fn new(config: &TcpConfig, is_linux: bool) -> Inbound {
        let mut reassembly = Reassembly::default();
        reassembly.begin(1);
        let mut config = config.clone();
        let option = MptcpOption::MAPPING_LEN;
        let packet_memory = config.packet_memory.beside_less(option);
        config.multipath = false;
        let mss = config.effective_mss();
        let mut most_memory = None;
        if let ReceiveWindow::Autotuned { max_bytes } = &mut config.receive_window
            && is_linux
        {
            // The largest buffer is so much memory, of which the option takes a share.
            let share = window::share_of(mss, config.packet_memory.alone);
            let less = window::share_of(mss.saturating_sub(option), packet_memory.alone);
            most_memory = Some(*max_bytes * window::WHOLE / share);
            *max_bytes = *max_bytes * less / share;
        }
        config.packet_memory = packet_memory;
        let mut window = AdvertisedWindow::new(&config);
        // While a path has carried nothing a half of it is payload, and a window for more is not had.
        if let Some(memory) = most_memory {
            window.limit_memory(memory);
        }
        // What the SYN says counts from here.
        window.begin(1, None);
        Inbound {
            reassembly,
            subflows: [Subflow {
                limit: window.limit(),
                memory: window.memory(),
                clamp: u64::MAX,
                ..Subflow::default()
            }; MAX_PATHS],
            last_offered: window.limit(),
            is_linux,
            window,
            mss: config.mss,
            counted_up_to: 1,
            fin_at: None,
            is_finished: false,
            is_reading: true,
            unread: 0,
            fresh: 0,
            packet_memory: config.packet_memory,
            packets: Packets::new(config.packet_memory),
            packed_to: 1,
            is_fresh: false,
        }
    }

    /// Asserts the relations that hold after each event.
    #[inline]
    pub(super) fn assert_invariants(&self) {
        let next = self.reassembly.next();
        debug_assert!(
            self.counted_up_to <= next,
            "the application was given data beyond DATA_ACK {next}"
        );
        debug_assert!(
            self.packed_to <= next,
            "packets in order reach beyond DATA_ACK {next}"
        );
        debug_assert!(
            self.unread + self.fresh <= next,
            "more waits for the reader than came"
        );
        debug_assert!(
            self.is_linux || self.fresh == 0,
            "the papers' stack reads at once"
        );
        debug_assert!(
            !self.is_finished || self.fin_at.is_some(),
            "the stream ended without a DATA_FIN"
        );
        self.packets.assert_invariants();
    }

    /// The peer's SYN is answered, by an end whose full segments have `mss` bytes without the option.
    pub(super) fn answer(&mut self, mss: u32) {
        self.window.begin(1, Some(mss));
        self.set_limits();
    }

    /// The first subflow is established.
    pub(super) fn on_established(&mut self, now: Time) {
        self.window.on_established(now, self.mss);
        self.set_limits();
    }

    fn set_limits(&mut self) {
        for subflow in &mut self.subflows {
            subflow.limit = self.window.limit();
        }
    }

    /// A segment of `len` bytes that was not there came on a subflow, in order on it or not.
    /// What the connection holds is no longer in the subflow's buffer, whose room this asks for: `held` is there.
    /// Returns whether the subflow offers more.
    pub(super) fn grow(&mut self, path: usize, len: u32, advertised_mss: u32, held: Held) -> bool {
        if len < GROWS_FROM {
            return false;
        }
        let held = if self.window.counts_memory() {
            held
        } else {
            Held::Payload(0)
        };
        // A subflow's own share of payload is known as soon as it has carried something.
        let own = &mut self.subflows[path];
        if len > own.largest {
            own.largest = len;
            own.clamp = self.window.in_payload(own.memory, len);
        }
        self.window.set_limit(own.limit);
        let (lengths, room) = ((own.largest, len), (own.memory, own.clamp));
        let grows = (self.window).grow_with_segments(lengths, advertised_mss, held, room);
        own.limit = self.window.limit();
        grows
    }

    /// Whether the application has nothing left to read once data from `start` to `end` is there, having read some.
    pub(super) fn is_drained_by(&self, start: u64, end: u64) -> bool {
        let next = self.reassembly.next();
        let is_next = start <= next && next < end;
        is_next && self.is_reading && self.unread == 0 && self.reassembly.is_whole_with(end)
    }

    /// Whether data that ends at `end` is there already, all of it, and `path` could offer less than it last did (Linux).
    pub(super) fn has_all_of(&mut self, path: usize, end: u64, mss: u32) -> bool {
        if !self.is_linux || end > self.reassembly.next() {
            return false;
        }
        self.offers_less(path, self.held(mss), mss)
    }

    /// Whether `path` could offer less than it last did while nobody has read data from `start` to `end`, of which `bytes` are
    /// put in order on it (Linux).
    pub(super) fn is_crowded_by(
        &mut self,
        path: usize,
        (start, end): (u64, u64),
        bytes: u64,
        mss: u32,
    ) -> bool {
        let next = self.reassembly.next();
        if !self.is_linux || start > next || end <= next {
            return false;
        }
        let Held::Memory(held) = self.held(mss) else {
            return false;
        };
        self.offers_less(path, Held::Memory(held + self.memory_of(bytes, mss)), mss)
    }

    /// Whether `path` could offer less than it last did with `held` in the buffer.
    fn offers_less(&mut self, path: usize, held: Held, mss: u32) -> bool {
        self.window.set_limit(self.subflows[path].limit);
        self.window.preview(held, mss) < self.subflows[path].offered
    }

    /// Memory of `bytes` in order, in segments of `mss`.
    fn memory_of(&self, bytes: u64, mss: u32) -> u64 {
        let PacketMemory { alone, joined } = self.packet_memory;
        let segments = bytes.div_ceil(mss.into());
        bytes + segments * joined + segments.div_ceil(MOST_FRAGMENTS) * (alone - joined)
    }

    /// Whether less than half of the buffer is free, the peer sending segments of `mss`.
    pub(super) fn is_tight(&self, mss: u32) -> bool {
        self.window.is_tight(self.held(mss))
    }

    /// Next data sequence number expected, the DATA_ACK.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// Bytes in the buffer: out of order, or not read.
    pub(super) fn buffered(&self) -> u64 {
        self.reassembly.buffered() + self.unread
    }

    /// Whether the peer's DATA_FIN came in order.
    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// What of the buffer is taken, the peer sending segments of `mss`.
    fn held(&self, mss: u32) -> Held {
        if !self.window.counts_memory() {
            return Held::Payload(self.buffered());
        }
        let mut held = self.packets.memory();
        if self.is_fresh {
            held += self.memory_of(mss.into(), mss);
        }
        Held::Memory(held)
    }

    /// The peer's DATA_FIN has the number `at`.
    pub(super) fn on_data_fin(&mut self, at: u64) {
        self.fin_at = Some(at);
    }

    /// A segment of data from `start` to `end` is in order on its subflow, whose whole ones have `mss` bytes.
    pub(super) fn insert(&mut self, start: u64, end: u64, mss: u32) {
        self.reassembly.insert(start, end);
        // A short segment takes the memory of a whole one.
        let kind = Kind {
            lacking: (start + u64::from(mss)).saturating_sub(end),
            ..Kind::default()
        };
        if start > self.packed_to {
            self.packets.insert(start, end, kind);
        } else if end > self.packed_to {
            self.packets.push(self.packed_to, end, kind);
            self.packed_to = end;
        }
    }

    /// Hands on what was inserted; the last piece of it came on a subflow with segments of `mss`.
    /// `measure` looks at the subflows.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> Round,
    ) -> Delivered {
        let arrived = self.reassembly.next() - self.counted_up_to;
        self.packets.put_in_order(self.packed_to);
        self.packed_to = self.reassembly.next();
        let mut delivered = Delivered::default();
        self.is_fresh = !self.is_linux && self.is_reading && arrived > 0;
        if self.is_reading {
            if self.is_linux {
                self.fresh += arrived;
            } else {
                self.on_read(now, arrived, mss, measure);
            }
            delivered.bytes = arrived;
        } else {
            self.unread += arrived;
        }
        let next = self.reassembly.next();
        if self.fin_at == Some(next) {
            self.reassembly.insert(next, next + 1);
            self.is_finished = true;
            delivered.fin = true;
        }
        self.counted_up_to = self.reassembly.next();
        delivered
    }

    /// The application reads what has arrived, once that is acknowledged: so the buffer grows after the acknowledgment.
    pub(super) fn read_fresh(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> Round,
    ) -> Option<HasRead> {
        let bytes = std::mem::take(&mut self.fresh);
        self.on_read(now, bytes, mss, measure);
        self.is_fresh = false;
        (bytes > 0).then(|| HasRead {
            leaves_nothing: self.buffered() == 0,
            makes_room: self.window.has_twice(self.last_offered, self.held(mss)),
        })
    }

    /// The application read `bytes`. A round trip is that of the slowest subflow, looked up when the
    /// one before it would be over.
    fn on_read(&mut self, now: Time, bytes: u64, mss: u32, measure: impl FnOnce() -> Round) {
        if bytes == 0 {
            return;
        }
        let mut present = 0;
        if self.window.is_round_over(now) {
            let round = measure();
            present = round.present;
            self.window.set_rtt(round.slowest);
            // The share of payload is the least of the subflows', and a half on one that carried none.
            if round.all_carried {
                self.window.measure_share(mss);
            } else {
                self.window.forget_share();
            }
        }
        self.packets.read(bytes);
        let said = mss + MptcpOption::MAPPING_LEN;
        let before = self.window.memory();
        self.window.on_read(now, bytes, bytes, said);
        if self.window.memory() > before {
            let there = |(index, _): &(usize, _)| present & 1 << index != 0;
            for (_, own) in self.subflows.iter_mut().enumerate().filter(there) {
                own.memory = self.window.memory();
                own.clamp = self.window.clamp();
            }
        }
    }

    /// The application stops reading.
    pub(super) fn pause(&mut self) {
        self.is_reading = false;
    }

    /// The application reads again. Returns what waited for it, and whether the window opens by so
    /// much that the peer is told.
    pub(super) fn resume(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> Round,
    ) -> (u64, bool) {
        self.is_reading = true;
        let unread = std::mem::take(&mut self.unread);
        if unread == 0 {
            return (0, false);
        }
        let before = self.window.offered(self.reassembly.next());
        let widest = self.subflows.iter().map(|own| own.limit).max();
        self.window.set_limit(widest.unwrap_or_default());
        self.on_read(now, unread, mss, measure);
        let after = self.window.preview(self.reassembly.buffered(), mss);
        // RFC 9293 section 3.8.6.2.2, at the level of the connection.
        (unread, after >= before + u64::from(mss).min(after / 2))
    }

    /// Window and scale of a SYN. What it offers stays offered.
    ///
    /// Standard: RFC 8684 §3.3.4; RFC 9293 §3.8.6.
    pub(super) fn syn_window(&self) -> (u64, u8) {
        (self.window.initial(), self.window.scale())
    }

    /// The window that a segment offers which leaves now on a subflow with segments of `mss`. What another
    /// one offered stays offered.
    pub(super) fn advertise(&mut self, path: usize, mss: u32) -> u64 {
        let held = self.held(mss);
        self.window.set_limit(self.subflows[path].limit);
        let next = self.reassembly.next();
        if self.is_linux {
            let window = self.window.advertise_shared(next, held, mss);
            self.subflows[path].offered = self.window.last();
            self.last_offered = self.window.last();
            window
        } else {
            self.window.advertise(next, held, mss)
        }
    }
}

#[cfg(test)]
mod tests;
