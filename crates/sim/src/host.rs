//! Hosts: the path of received segments from the modem or network card to TCP, and the queue in
//! front of the network device.

use fadeout_core::{Bytes, Ecn, EndpointId, PacketId, Rate, Segment, Span, Time, Wake};
use fadeout_scenario::Node;
use fadeout_transport::tcp::{Coalesced, HostQueue};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Segment for TCP, or several merged segments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arrived {
    /// Segment that is not merged, with the ECN field of its packet.
    Single(Segment, Ecn),
    /// Segments that were merged.
    Merged(Coalesced),
}

impl Arrived {
    fn segment(&self) -> &Segment {
        match self {
            Arrived::Single(segment, _) => segment,
            Arrived::Merged(merged) => merged.segment(),
        }
    }
}

/// Merged segment that waits for more segments.
#[derive(Debug)]
struct Held {
    to: EndpointId,
    merged: Coalesced,
    until: Time,
}

/// Path of received TCP segments in one host: receive offload, then the processor. The processor
/// has a rate and a delay. The order of segments of a connection does not change.
#[derive(Debug)]
pub(crate) struct ReceivePath {
    /// Time for which receive offload holds a segment. `None` without receive offload.
    hold: Option<Span>,
    rate: Option<Rate>,
    delay: Span,
    held: VecDeque<Held>,
    /// Time at which the processor has processed all segments so far.
    busy_until: Time,
    /// Processed segments with the times at which TCP receives them.
    ready: VecDeque<(Time, EndpointId, Arrived)>,
    pub(crate) wake: Wake,
}

impl ReceivePath {
    /// Returns the path of a node. `None` if TCP receives each packet at its arrival.
    pub(crate) fn of_node(node: &Node) -> Option<ReceivePath> {
        node.has_receive_path().then(|| ReceivePath {
            hold: node.receive_offload.then_some(node.receive_hold),
            rate: node.receive_rate,
            delay: node.receive_delay,
            held: VecDeque::new(),
            busy_until: Time::ZERO,
            ready: VecDeque::new(),
            wake: Wake::default(),
        })
    }

    /// Processes the arrival of a segment for an endpoint.
    pub(crate) fn on_segment(&mut self, now: Time, to: EndpointId, segment: &Segment, ecn: Ecn) {
        let begun = self.hold.and_then(|hold| {
            let begun = Coalesced::begin(segment, ecn)?;
            Some((begun, now.saturating_add(hold)))
        });
        let place = self.held.iter().position(|held| held.to == to);
        let Some((merged, until)) = begun else {
            self.release(now, place);
            return self.process(now, to, Arrived::Single(*segment, ecn));
        };
        if let Some(place) = place
            && self.held[place].merged.append(segment, ecn)
        {
            if self.held[place].merged.is_complete() {
                self.release(now, Some(place));
            }
            return;
        }
        self.release(now, place);
        if merged.is_complete() {
            self.process(now, to, Arrived::Merged(merged));
        } else {
            self.held.push_back(Held { to, merged, until });
        }
    }

    /// Passes a held segment to the processor.
    fn release(&mut self, now: Time, place: Option<usize>) {
        if let Some(Held { to, merged, .. }) = place.and_then(|place| self.held.remove(place)) {
            self.process(now, to, Arrived::Merged(merged));
        }
    }

    /// Lets the processor process a segment after all earlier segments.
    fn process(&mut self, now: Time, to: EndpointId, arrived: Arrived) {
        let size = Bytes(arrived.segment().wire_len().into());
        let work = self.rate.map_or(Span::ZERO, |rate| rate.time_to_send(size));
        self.busy_until = self.busy_until.max(now).saturating_add(work);
        let at = self.busy_until.saturating_add(self.delay);
        debug_assert!(
            self.ready.back().is_none_or(|(last, ..)| *last <= at),
            "a segment overtakes another in the host"
        );
        self.ready.push_back((at, to, arrived));
    }

    /// Passes the segments that receive offload has held long enough to the processor. Returns the
    /// next segment for TCP. `None` if none is due.
    pub(crate) fn next_due(&mut self, now: Time) -> Option<(EndpointId, Arrived)> {
        while self.held.front().is_some_and(|held| held.until <= now) {
            self.release(now, Some(0));
        }
        let (at, ..) = self.ready.front()?;
        if *at > now {
            return None;
        }
        self.ready.pop_front().map(|(_, to, arrived)| (to, arrived))
    }

    /// Returns the time of the next change. [`Time::NEVER`] if no segment is in the host.
    pub(crate) fn wake_at(&self) -> Time {
        let held = self.held.front().map_or(Time::NEVER, |held| held.until);
        let ready = self.ready.front().map_or(Time::NEVER, |(at, ..)| *at);
        held.min(ready)
    }
}

/// Queue of a host in front of its network device. The device takes packets as long as the first
/// hop of their route holds less than a given number of bytes.
#[derive(Debug)]
pub(crate) struct SendQueue {
    /// Largest number of packets.
    limit: u64,
    device: Bytes,
    /// True if TCP has about a millisecond of data in the queue at most.
    is_small: bool,
    waiting: VecDeque<QueuedPacket>,
    /// Bytes in the queue by sending endpoint. Endpoints without packets have no entry.
    own: BTreeMap<EndpointId, u64>,
    /// Endpoints that found the queue full.
    refused: BTreeSet<EndpointId>,
    /// Endpoints whose packets have left the queue since the last call of `take_released`.
    released: BTreeSet<EndpointId>,
    /// True while packets leave the queue. Packets that then enter it wait for their turn.
    pub(crate) is_serving: bool,
    pub(crate) wake: Wake,
}

/// Packet in a host's queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueuedPacket {
    pub(crate) id: PacketId,
    from: EndpointId,
    size: u64,
}

impl SendQueue {
    /// Returns the queue of a node. `None` if its packets enter the first hop at once.
    pub(crate) fn of_node(node: &Node) -> Option<SendQueue> {
        Some(SendQueue {
            limit: node.queued_packets()?.max(1),
            device: node.device_queue?,
            is_small: node.small_queues,
            waiting: VecDeque::new(),
            own: BTreeMap::new(),
            refused: BTreeSet::new(),
            released: BTreeSet::new(),
            is_serving: false,
            wake: Wake::default(),
        })
    }

    /// Returns the state of the queue for an endpoint, before a step of the endpoint.
    pub(crate) fn state_for(&mut self, endpoint: EndpointId) -> HostQueue {
        if self.is_full() {
            self.refused.insert(endpoint);
        }
        HostQueue {
            own: self.own.get(&endpoint).copied().unwrap_or(0),
            free: self.free(),
            is_small: self.is_small,
        }
    }

    /// Returns the number of packets that the queue still accepts.
    fn free(&self) -> u64 {
        self.limit.saturating_sub(self.waiting.len() as u64)
    }

    /// True if the queue accepts no more datagrams.
    pub(crate) fn is_full(&self) -> bool {
        self.free() == 0
    }

    /// Appends a packet of `size` bytes from an endpoint.
    pub(crate) fn push(&mut self, id: PacketId, from: EndpointId, size: u64) {
        self.waiting.push_back(QueuedPacket { id, from, size });
        *self.own.entry(from).or_default() += size;
    }

    /// Returns the first packet. `None` if the queue is empty.
    pub(crate) fn front(&self) -> Option<PacketId> {
        self.waiting.front().map(|packet| packet.id)
    }

    /// True if the device takes a packet while its first hop holds `held` bytes.
    pub(crate) fn has_room(&self, held: Bytes) -> bool {
        held < self.device
    }

    /// Removes the first packet.
    pub(crate) fn pop(&mut self) {
        let Some(QueuedPacket { from, size, .. }) = self.waiting.pop_front() else {
            return;
        };
        if let Some(own) = self.own.get_mut(&from) {
            debug_assert!(*own >= size, "more bytes leave the host than entered it");
            *own -= size;
            if *own == 0 {
                self.own.remove(&from);
            }
        }
        self.released.insert(from);
    }

    /// Returns the endpoints that may send after packets have left the queue, in the order of their
    /// numbers. Empty if no packet has left it.
    pub(crate) fn take_released(&mut self) -> BTreeSet<EndpointId> {
        if self.released.is_empty() {
            return BTreeSet::new();
        }
        let mut released = std::mem::take(&mut self.released);
        released.append(&mut self.refused);
        released
    }
}

/// The hosts with a receive path or a queue of their own.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    paths: Vec<ReceivePath>,
    queues: Vec<SendQueue>,
    /// Index of the receive path of each endpoint. `None` if TCP receives each packet at its
    /// arrival.
    path_of: Vec<Option<u32>>,
    /// Index of the queue of each endpoint. `None` if its packets enter the first hop at once.
    queue_of: Vec<Option<u32>>,
}

impl Hosts {
    /// Adds the receive path and the queue of a node. Returns their indices.
    pub(crate) fn add_node(&mut self, node: &Node) -> HostParts {
        let path = ReceivePath::of_node(node).map(|path| {
            self.paths.push(path);
            self.paths.len() as u32 - 1
        });
        let queue = SendQueue::of_node(node).map(|queue| {
            self.queues.push(queue);
            self.queues.len() as u32 - 1
        });
        HostParts { path, queue }
    }

    /// Adds the next endpoint. `node` has the indices of its node's receive path and queue. Only
    /// TCP uses a receive path.
    pub(crate) fn add_endpoint(&mut self, node: HostParts, is_tcp: bool) {
        self.path_of.push(node.path.filter(|_| is_tcp));
        self.queue_of.push(node.queue);
    }

    /// Returns the number of the receive path of an endpoint. `None` if TCP receives each packet at
    /// its arrival.
    #[inline]
    pub(crate) fn path_of(&self, endpoint: EndpointId) -> Option<u32> {
        self.path_of[endpoint.index()]
    }

    /// Returns the number of the queue of an endpoint. `None` if its packets enter the first hop at
    /// once.
    #[inline]
    pub(crate) fn queue_of(&self, endpoint: EndpointId) -> Option<u32> {
        self.queue_of[endpoint.index()]
    }

    /// Returns a receive path.
    pub(crate) fn path(&mut self, path: u32) -> &mut ReceivePath {
        &mut self.paths[path as usize]
    }

    /// Returns a queue.
    pub(crate) fn queue(&mut self, queue: u32) -> &mut SendQueue {
        &mut self.queues[queue as usize]
    }

    /// Returns the number of queues.
    pub(crate) fn queues(&self) -> u32 {
        self.queues.len() as u32
    }

    /// True if packets wait in a queue.
    pub(crate) fn is_waiting(&self, queue: u32) -> bool {
        !self.queues[queue as usize].waiting.is_empty()
    }

    /// Returns the number of packets in all queues.
    pub(crate) fn packets(&self) -> usize {
        self.queues.iter().map(|queue| queue.waiting.len()).sum()
    }
}

/// Indices of a node's receive path and queue. `None` if the node does not have them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HostParts {
    path: Option<u32>,
    queue: Option<u32>,
}
