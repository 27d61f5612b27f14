//! Receive buffer that all paths share. Data from all paths is put in order here.
//!
//! Standard: RFC 8684 §3.3.

mod model;

pub(super) use model::ReceiveModel;

use crate::multipath::MAX_PATHS;
use crate::tcp::receiver::growth::Read;
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
pub(super) struct BufferRound {
    /// Round-trip time of the slowest subflow. `None` if none is known.
    pub(super) slowest: Option<Span>,
    /// True if every subflow has carried data.
    pub(super) all_carried: bool,
    /// Bit mask of the existing subflows, whose buffers grow.
    pub(super) present: u32,
}

/// Result of inserting received data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Delivered {
    /// Bytes for the application.
    pub(super) bytes: u64,
    /// True if the peer's DATA_FIN is in order.
    pub(super) fin: bool,
}

/// Result of a read by the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HasRead {
    /// True if the read left a buffer empty that contained data.
    pub(super) leaves_nothing: bool,
    /// True if the free space is at least twice the window last offered on any path.
    pub(super) makes_room: bool,
}

/// State of the window that a subflow offers from the connection's buffer. In Linux each subflow
/// has a socket of its own.
#[derive(Debug, Clone, Copy, Default)]
struct Subflow {
    /// Largest window that the subflow offers, which grows with the data on it (`rcv_ssthresh`).
    limit: u64,
    /// Window that the subflow last offered (`rcv_wnd`).
    offered: u64,
    /// Payload of the largest segment received on the subflow.
    largest: u32,
    /// Buffer of the subflow, which grows with the connection's buffer (`sk_rcvbuf`), and the
    /// window that it allowed when it grew (`window_clamp`).
    memory: u64,
    clamp: u64,
}

/// Receiving half of a connection.
#[derive(Debug)]
pub(super) struct Inbound {
    reassembly: Reassembly,
    window: AdvertisedWindow,
    /// MSS in this end's SYN (Linux `advmss`, before the options of a segment are subtracted).
    mss: u32,
    subflows: [Subflow; MAX_PATHS],
    /// Window last offered on any path (`old_wspace`).
    last_offered: u64,
    model: ReceiveModel,
    /// Sequence number up to which data was counted for the application.
    counted_up_to: u64,
    fin_at: Option<u64>,
    is_finished: bool,
    is_reading: bool,
    unread: u64,
    /// Number of bytes that the application reads once their segment is acknowledged.
    fresh: u64,
    packet_memory: PacketMemory,
    /// Packets whose data is behind a gap or unread.
    packets: Packets,
    /// End of the in-order data in the packets. Data behind a filled gap is added later, because
    /// Linux merges the out-of-order queue last (`__mptcp_ofo_queue`).
    packed_to: u64,
    /// True if the last segment still occupies the buffer when it is acknowledged. Always false for
    /// Linux's stack.
    is_fresh: bool,
}

impl Inbound {
    /// Returns an empty receiving half.
    pub(super) fn new(config: &TcpConfig, model: ReceiveModel) -> Inbound {
        let mut reassembly = Reassembly::default();
        reassembly.begin(1);
        let mut config = config.clone();
        let option = MptcpOption::MAPPING_LEN;
        let packet_memory = config.buffers.packet_memory.with_option(option);
        config.multipath = false;
        let mss = config.effective_mss();
        let mut most_memory = None;
        if let ReceiveWindow::Autotuned { max_bytes } = &mut config.buffers.receive_window
            && model.counts_option()
        {
            // The largest buffer is an amount of memory. The MPTCP option reduces the share of
            // payload in it.
            let share = window::share_of(mss, config.buffers.packet_memory.alone);
            let less = window::share_of(mss.saturating_sub(option), packet_memory.alone);
            most_memory = Some(*max_bytes * window::WHOLE / share);
            *max_bytes = *max_bytes * less / share;
        }
        config.buffers.packet_memory = packet_memory;
        let mut window = AdvertisedWindow::new(&config);
        // While a path has carried no data, half of the memory counts as payload. Without this
        // limit the buffer would allow a larger window.
        if let Some(memory) = most_memory {
            window.limit_memory(memory);
        }
        // The window in the SYN counts from data sequence number 1.
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
            model,
            window,
            mss: config.mss,
            counted_up_to: 1,
            fin_at: None,
            is_finished: false,
            is_reading: true,
            unread: 0,
            fresh: 0,
            packet_memory: config.buffers.packet_memory,
            packets: Packets::new(config.buffers.packet_memory),
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
            self.model.reads_after_ack() || self.fresh == 0,
            "data that is read at once waits for its acknowledgment"
        );
        debug_assert!(
            !self.is_finished || self.fin_at.is_some(),
            "the stream ended without a DATA_FIN"
        );
        self.packets.assert_invariants();
    }

    /// Opens the window when this end answers the peer's SYN. A full segment has `mss` bytes
    /// without the option.
    pub(super) fn answer(&mut self, mss: u32) {
        self.window.begin(1, Some(mss));
        self.set_limits();
    }

    /// Begins the measurements once the first subflow is established.
    pub(super) fn on_established(&mut self, now: Time) {
        self.window.on_established(now, self.mss);
        self.set_limits();
    }

    fn set_limits(&mut self) {
        for subflow in &mut self.subflows {
            subflow.limit = self.window.limit();
        }
    }

    /// Grows the window that a subflow offers after `len` bytes of new data arrived on it, in order
    /// or not. The data came in packets of `size` bytes. `held` is the content of the connection's
    /// buffer, which does not occupy the subflow's buffer. Returns true if the subflow offers a
    /// larger window.
    pub(super) fn grow(
        &mut self,
        path: usize,
        size: u32,
        len: u32,
        advertised_mss: u32,
        held: Held,
    ) -> bool {
        if len < GROWS_FROM {
            return false;
        }
        let held = if self.window.counts_memory() {
            held
        } else {
            Held::Payload(0)
        };
        // The payload share of a subflow is measured with its first data.
        let own = &mut self.subflows[path];
        if size > own.largest {
            own.largest = size;
            own.clamp = self.window.in_payload(own.memory, size);
        }
        self.window.set_limit(own.limit);
        let (lengths, room) = ((own.largest, len), (own.memory, own.clamp));
        let grows = (self.window).grow_with_segments(lengths, advertised_mss, held, room);
        own.limit = self.window.limit();
        grows
    }

    /// Returns true if the application will have nothing more to read after the data from `start`
    /// to `end`. The data must be in order, and the application must read at once.
    pub(super) fn is_drained_by(&self, start: u64, end: u64) -> bool {
        let next = self.reassembly.next();
        let is_next = start <= next && next < end;
        is_next && self.is_reading && self.unread == 0 && self.reassembly.is_whole_with(end)
    }

    /// Returns true if all data up to `end` had already been received and the window of `path`
    /// would shrink.
    pub(super) fn has_all_of(&mut self, path: usize, end: u64, mss: u32) -> bool {
        if !self.model.reports_shrinking() || end > self.reassembly.next() {
            return false;
        }
        self.offers_less(path, self.held(mss), mss)
    }

    /// Returns true if the window of `path` would shrink while the data from `start` to `end` is
    /// unread (Linux). This data makes `bytes` readable.
    pub(super) fn is_crowded_by(
        &mut self,
        path: usize,
        (start, end): (u64, u64),
        bytes: u64,
        mss: u32,
    ) -> bool {
        let next = self.reassembly.next();
        if !self.model.reports_shrinking() || start > next || end <= next {
            return false;
        }
        let Held::Memory(held) = self.held(mss) else {
            return false;
        };
        self.offers_less(path, Held::Memory(held + self.memory_of(bytes, mss)), mss)
    }

    /// Returns true if the window of `path` with the content `held` in the buffer would be smaller
    /// than the window last offered.
    fn offers_less(&mut self, path: usize, held: Held, mss: u32) -> bool {
        self.window.set_limit(self.subflows[path].limit);
        self.window.preview(held, mss) < self.subflows[path].offered
    }

    /// Returns the memory that `bytes` of in-order data occupy in segments of `mss`.
    fn memory_of(&self, bytes: u64, mss: u32) -> u64 {
        let PacketMemory { alone, joined } = self.packet_memory;
        let segments = bytes.div_ceil(mss.into());
        bytes + segments * joined + segments.div_ceil(MOST_FRAGMENTS) * (alone - joined)
    }

    /// Returns true if less than half of the buffer is free, for a peer that sends segments of
    /// `mss`.
    pub(super) fn is_tight(&self, mss: u32) -> bool {
        self.window.is_tight(self.held(mss))
    }

    /// Returns the next data sequence number expected, the DATA_ACK.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.reassembly.next()
    }

    /// Returns the number of bytes in the buffer, out of order or unread.
    pub(super) fn buffered(&self) -> u64 {
        self.reassembly.buffered() + self.unread
    }

    /// Returns true if data has arrived in order.
    #[inline]
    pub(super) fn has_received(&self) -> bool {
        self.reassembly.next() > 1
    }

    /// Returns true if the peer's DATA_FIN arrived in order.
    pub(super) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns the occupied part of the buffer, for a peer that sends segments of `mss`.
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

    /// Records that the peer's DATA_FIN has the number `at`.
    pub(super) fn on_data_fin(&mut self, at: u64) {
        self.fin_at = Some(at);
    }

    /// Inserts data from `start` to `end`, which is in order on its subflow. A full segment of the
    /// subflow has `mss` bytes.
    pub(super) fn insert(&mut self, start: u64, end: u64, mss: u32) {
        self.reassembly.insert(start, end);
        // A short segment occupies as much memory as a full one.
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

    /// Delivers the inserted data, the last of which came on a subflow with segments of `mss`.
    /// `measure` returns the state of the subflows.
    pub(super) fn deliver(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> BufferRound,
    ) -> Delivered {
        let next = self.reassembly.next();
        let arrived = next - self.counted_up_to;
        if arrived == 0 && self.fin_at != Some(next) {
            self.is_fresh = false;
            return Delivered::default();
        }
        self.packets.put_in_order(self.packed_to);
        self.packed_to = next;
        let mut delivered = Delivered::default();
        self.is_fresh = !self.model.reads_after_ack() && self.is_reading && arrived > 0;
        if self.is_reading {
            if self.model.reads_after_ack() {
                self.fresh += arrived;
            } else {
                self.on_read(now, arrived, mss, measure);
            }
            delivered.bytes = arrived;
        } else {
            self.unread += arrived;
        }
        if self.fin_at == Some(next) {
            self.reassembly.insert(next, next + 1);
            self.is_finished = true;
            delivered.fin = true;
        }
        self.counted_up_to = self.reassembly.next();
        delivered
    }

    /// Lets the application read the data that has been acknowledged. So the buffer grows only
    /// after the acknowledgment. `None` if there was nothing to read.
    pub(super) fn read_fresh(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> BufferRound,
    ) -> Option<HasRead> {
        self.is_fresh = false;
        let bytes = std::mem::take(&mut self.fresh);
        if bytes == 0 {
            return None;
        }
        self.on_read(now, bytes, mss, measure);
        Some(HasRead {
            leaves_nothing: self.buffered() == 0,
            makes_room: self.window.has_twice(self.last_offered, self.held(mss)),
        })
    }

    /// Records that the application read `bytes`. A round of the buffer lasts a round trip of the
    /// slowest subflow, which is measured at the end of each round.
    fn on_read(&mut self, now: Time, bytes: u64, mss: u32, measure: impl FnOnce() -> BufferRound) {
        if bytes == 0 {
            return;
        }
        let mut present = 0;
        if self.window.is_round_over(now) {
            let round = measure();
            present = round.present;
            self.window.set_rtt(round.slowest);
            // Linux uses the smallest payload share of the subflows, or a half if a subflow carried
            // no data (`mptcp_rcv_space_adjust`).
            if round.all_carried {
                self.window.measure_share(mss);
            } else {
                self.window.forget_share();
            }
        }
        self.packets.read(bytes);
        let mapped_mss = mss + MptcpOption::MAPPING_LEN;
        let before = self.window.memory();
        let read = Read {
            bytes,
            first: bytes,
            beyond: self.reassembly.reach(),
        };
        self.window.on_read(now, read, mapped_mss);
        if self.window.memory() > before {
            let there = |(index, _): &(usize, _)| present & 1 << index != 0;
            for (_, own) in self.subflows.iter_mut().enumerate().filter(there) {
                own.memory = self.window.memory();
                own.clamp = self.window.clamp();
            }
        }
    }

    /// Records that the application stops reading.
    pub(super) fn pause(&mut self) {
        self.is_reading = false;
    }

    /// Lets the application read again. Returns the number of bytes that waited, and true if the
    /// window grows enough for a window update.
    pub(super) fn resume(
        &mut self,
        now: Time,
        mss: u32,
        measure: impl FnOnce() -> BufferRound,
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

    /// Returns the window and the window scale of a SYN. A window that was offered is not
    /// withdrawn.
    ///
    /// Standard: RFC 8684 §3.3.4; RFC 9293 §3.8.6.
    pub(super) fn syn_window(&self) -> (u64, u8) {
        (self.window.initial(), self.window.scale())
    }

    /// Returns the window of a segment that is sent now on a subflow with segments of `mss`. The
    /// window is never smaller than one offered on another subflow.
    pub(super) fn advertise(&mut self, path: usize, mss: u32) -> u64 {
        let held = self.held(mss);
        self.window.set_limit(self.subflows[path].limit);
        let next = self.reassembly.next();
        if self.model.has_subflow_windows() {
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
