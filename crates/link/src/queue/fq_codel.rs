//! Flow queue CoDel: a queue with CoDel for each flow. Queues are served in turns, and sparse flows
//! go first.
//!
//! Standard: RFC 8290.

use super::codel::Source;
use super::discipline::{ManagedQueue, Start};
use super::fifo::Queued;
use super::{Effects, Limit};
use crate::LinkError;
use fadeout_core::aqm::codel::{CoDel, CoDelConfig};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::random::Stream;
use fadeout_core::registry::{Entry, Registered, Settings, in_range, integer};
use fadeout_core::{PacketId, Rate, Time};

/// Largest number of packets dropped at once when the limit is exceeded.
///
/// Standard: RFC 8290 §4.1.
const DROP_BATCH: u64 = 64;

fadeout_core::parameters! {
    /// Parameters of FQ-CoDel.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct FqCoDelConfig {
        /// Number of queues. A hash assigns each flow to a queue (RFC 8290 section 5.2.5).
        pub flows: u32 = integer((1, 65_535, "queues"), "1024"),
        /// Number of bytes that a queue may send in its turn (RFC 8290 section 5.2.4).
        pub quantum: u32 = integer((256, 1_000_000, "bytes"), "1514"),
        /// CoDel of each queue.
        pub codel: CoDelConfig = group(),
    }
}

impl Registered<Rate> for FqCoDelConfig {
    const ENTRY: Entry = Entry::new(
        "fq-codel",
        "active",
        "FQ-CoDel. Each flow has a queue with CoDel. The queues send in turn, and queues of sparse \
         flows are served first.",
        "RFC 8290",
    )
    .with_aliases(&["fq_codel"])
    .with_parameters(FqCoDelConfig::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, _: Rate) -> Self {
        FqCoDelConfig::read(settings)
    }
}

impl Start for FqCoDelConfig {
    type Queue = FqCoDel;

    fn start(self, _: Option<Limit>, stream: Stream) -> Result<Option<FqCoDel>, LinkError> {
        FqCoDel::new(self, stream).map(Some)
    }
}

/// Index that stands for no packet or no queue.
const NONE: u32 = u32::MAX;

/// Packet in a queue, or a free entry.
#[derive(Debug, Clone, Copy)]
struct Place {
    queued: Queued,
    next: u32,
}

/// All packets as linked lists of their queues, in recycled entries.
#[derive(Debug)]
struct Places {
    all: Vec<Place>,
    free: u32,
}

impl Places {
    fn insert(&mut self, queued: Queued) -> u32 {
        let place = Place { queued, next: NONE };
        if self.free == NONE {
            self.all.push(place);
            return self.all.len() as u32 - 1;
        }
        let index = self.free;
        self.free = self.all[index as usize].next;
        self.all[index as usize] = place;
        index
    }

    fn remove(&mut self, index: u32) -> Place {
        let place = self.all[index as usize];
        self.all[index as usize].next = self.free;
        self.free = index;
        place
    }
}

/// Queue of one flow, with its position in the schedule.
#[derive(Debug, Clone)]
struct Flow {
    head: u32,
    tail: u32,
    packets: u32,
    /// Bytes that the queue may still send in this turn. Negative if it has sent more.
    deficit: i64,
    /// Next queue in the same list.
    next: u32,
    is_scheduled: bool,
}

/// Totals over all waiting packets.
#[derive(Debug, Default)]
struct Total {
    packets: u64,
    bytes: u64,
}

/// Queue of a flow, with the totals that change when a packet leaves it.
struct FlowSource<'a> {
    flow: &'a mut Flow,
    bytes: &'a mut u64,
    places: &'a mut Places,
    total: &'a mut Total,
}

impl Source for FlowSource<'_> {
    fn front(&self) -> Option<&Queued> {
        let head = self.places.all.get(self.flow.head as usize)?;
        Some(&head.queued)
    }

    fn pop(&mut self) -> Option<Queued> {
        if self.flow.head == NONE {
            return None;
        }
        let Place { queued, next } = self.places.remove(self.flow.head);
        self.flow.head = next;
        self.flow.packets -= 1;
        *self.bytes -= u64::from(queued.size);
        self.total.packets -= 1;
        self.total.bytes -= u64::from(queued.size);
        debug_assert!(
            (self.flow.head == NONE) == (self.flow.packets == 0),
            "a queue counts packets that it does not have"
        );
        debug_assert!(
            self.flow.packets > 0 || *self.bytes == 0,
            "bytes wait in no packet"
        );
        Some(queued)
    }

    fn bytes(&self) -> u64 {
        *self.bytes
    }
}

/// List of queues in the order of their turns.
#[derive(Debug, Clone, Copy)]
struct Turns {
    head: u32,
    tail: u32,
}

impl Turns {
    const EMPTY: Turns = Turns {
        head: NONE,
        tail: NONE,
    };

    fn push(&mut self, index: u32, flows: &mut [Flow]) {
        flows[index as usize].next = NONE;
        if self.head == NONE {
            self.head = index;
        } else {
            flows[self.tail as usize].next = index;
        }
        self.tail = index;
    }

    fn pop(&mut self, flows: &[Flow]) {
        self.head = flows[self.head as usize].next;
    }
}

/// Queues of all flows, with CoDel and DRR++.
///
/// Standard: RFC 8290 §4.
#[derive(Debug)]
pub(crate) struct FqCoDel {
    config: FqCoDelConfig,
    /// Salt of the hash, which differs between links and seeds.
    salt: u64,
    flows: Vec<Flow>,
    laws: Vec<CoDel>,
    /// Bytes of each queue, stored close together because overflow searches for the longest queue.
    bytes: Vec<u64>,
    places: Places,
    new: Turns,
    old: Turns,
    total: Total,
}

impl FqCoDel {
    pub(crate) fn new(config: FqCoDelConfig, mut stream: Stream) -> Result<Self, LinkError> {
        config.codel.check()?;
        in_range("flows", config.flows, 1..=65_535)?;
        in_range("quantum", config.quantum, 256..=1_000_000)?;
        let flow = Flow {
            head: NONE,
            tail: NONE,
            packets: 0,
            deficit: 0,
            next: NONE,
            is_scheduled: false,
        };
        let flows = config.flows as usize;
        Ok(FqCoDel {
            config,
            salt: stream.bits(),
            flows: vec![flow; flows],
            laws: vec![CoDel::default(); flows],
            bytes: vec![0; flows],
            places: Places {
                all: Vec::new(),
                free: NONE,
            },
            new: Turns::EMPTY,
            old: Turns::EMPTY,
            total: Total::default(),
        })
    }

    /// Returns the queue of a packet. All packets in one direction of a connection share a queue.
    fn hash(&self, packet: PacketId, effects: &Effects<'_>) -> u32 {
        let packet = &effects.pool[packet];
        let key = u64::from(packet.flow.0) << 32 | u64::from(packet.to.0);
        let mut hash = (key ^ self.salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash ^= hash >> 32;
        hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
        hash ^= hash >> 32;
        ((u64::from(hash as u32) * u64::from(self.config.flows)) >> 32) as u32
    }
}

impl ManagedQueue for FqCoDel {
    fn enqueue(&mut self, arrival: Queued, effects: &mut Effects<'_>) -> bool {
        let index = self.hash(arrival.packet, effects);
        let place = self.places.insert(arrival);
        let flow = &mut self.flows[index as usize];
        if flow.head == NONE {
            flow.head = place;
        } else {
            self.places.all[flow.tail as usize].next = place;
        }
        flow.tail = place;
        flow.packets += 1;
        self.bytes[index as usize] += u64::from(arrival.size);
        self.total.packets += 1;
        self.total.bytes += u64::from(arrival.size);
        debug_assert!(
            self.total.bytes >= self.bytes[index as usize],
            "a queue has more bytes than all of them"
        );
        debug_assert!(
            flow.is_scheduled || flow.packets == 1,
            "a queue with packets has no turn"
        );
        if !flow.is_scheduled {
            flow.is_scheduled = true;
            flow.deficit = i64::from(self.config.quantum);
            self.new.push(index, &mut self.flows);
        }
        true
    }

    fn dequeue(&mut self, now: Time, effects: &mut Effects<'_>) -> Option<Queued> {
        loop {
            let is_new = self.new.head != NONE;
            let turns = if is_new { &mut self.new } else { &mut self.old };
            let index = turns.head;
            if index == NONE {
                return None;
            }
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += i64::from(self.config.quantum);
                turns.pop(&self.flows);
                self.old.push(index, &mut self.flows);
                continue;
            }
            let mut source = FlowSource {
                flow,
                bytes: &mut self.bytes[index as usize],
                places: &mut self.places,
                total: &mut self.total,
            };
            let law = &mut self.laws[index as usize];
            if let Some(packet) = source.dequeue(law, &self.config.codel, now, effects) {
                debug_assert!(
                    (1..=i64::from(self.config.quantum)).contains(&source.flow.deficit),
                    "a turn with a deficit of {}",
                    source.flow.deficit
                );
                source.flow.deficit -= i64::from(packet.size);
                return Some(packet);
            }
            // A new queue that becomes empty goes to the end of the old queues. Otherwise it could
            // return as a new queue at once, and starve the old ones.
            debug_assert!(
                self.flows[index as usize].packets == 0,
                "a queue with packets loses its turn"
            );
            turns.pop(&self.flows);
            if is_new {
                self.old.push(index, &mut self.flows);
            } else {
                self.flows[index as usize].is_scheduled = false;
            }
        }
    }

    fn makes_room(&self) -> bool {
        true
    }

    /// Drops half of the longest queue in bytes from its head, at most [`DROP_BATCH`] packets.
    /// Returns false if all queues are empty.
    fn make_room(&mut self, dropped: &mut Vec<PacketId>) -> bool {
        let mut longest = 0;
        for (index, bytes) in self.bytes.iter().enumerate() {
            if *bytes > self.bytes[longest] {
                longest = index;
            }
        }
        let flow = &mut self.flows[longest];
        let half = u64::from(flow.packets).div_ceil(2).min(DROP_BATCH);
        let mut source = FlowSource {
            flow,
            bytes: &mut self.bytes[longest],
            places: &mut self.places,
            total: &mut self.total,
        };
        for _ in 0..half {
            if let Some(queued) = source.pop() {
                dropped.push(queued.packet);
            }
        }
        half > 0
    }

    fn set_threshold(&mut self, _: Time, threshold: Threshold) -> Result<(), ThresholdError> {
        self.config.codel.set_threshold(threshold)
    }

    fn packets(&self) -> u64 {
        self.total.packets
    }

    fn bytes(&self) -> u64 {
        self.total.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{Rig, ms, us};
    use super::*;
    use fadeout_core::Ecn;

    fn fq(config: FqCoDelConfig) -> FqCoDel {
        FqCoDel::new(config, Stream::new(1, "link.aqm", 0)).expect("valid")
    }

    fn add(fq: &mut FqCoDel, rig: &mut Rig, at: Time, size: u32, flow: u32) {
        let arrival = rig.packet(at, size, Ecn::NotEct, flow);
        fq.enqueue(arrival, &mut rig.effects());
    }

    /// Returns flow and size of the next packet.
    fn next(fq: &mut FqCoDel, rig: &mut Rig, now: Time) -> Option<(u32, u32)> {
        let queued = fq.dequeue(now, &mut rig.effects())?;
        Some((rig.pool[queued.packet].flow.0, queued.size))
    }

    #[test]
    fn flows_share_by_bytes_whatever_their_packets() {
        let mut fq = fq(FqCoDelConfig::default());
        let mut rig = Rig::default();
        for _ in 0..1_000 {
            add(&mut fq, &mut rig, ms(0), 1500, 1);
        }
        for _ in 0..10_000 {
            add(&mut fq, &mut rig, ms(0), 150, 2);
        }
        let mut sent = [0; 3];
        for _ in 0..2_000 {
            let (flow, size) = next(&mut fq, &mut rig, ms(1)).expect("a backlog");
            sent[flow as usize] += size;
        }
        // The bytes sent by two flows differ by at most a quantum and a packet.
        assert!(sent[1].abs_diff(sent[2]) <= 1514 + 1500, "{sent:?}");
    }

    #[test]
    fn a_sparse_flow_goes_ahead_of_the_backlog() {
        let mut fq = fq(FqCoDelConfig::default());
        let mut rig = Rig::default();
        for flow in 1..=3 {
            for _ in 0..200 {
                add(&mut fq, &mut rig, ms(0), 1500, flow);
            }
        }
        // After six packets each bulk flow has had one turn. So the bulk flows are old, and a new
        // flow goes ahead of them.
        for _ in 0..6 {
            next(&mut fq, &mut rig, us(1));
        }
        for round in 0..50 {
            add(&mut fq, &mut rig, us(round + 2), 100, 9);
            assert_eq!(next(&mut fq, &mut rig, us(round + 2)), Some((9, 100)));
            for _ in 0..4 {
                next(&mut fq, &mut rig, us(round + 2));
            }
        }
    }

    #[test]
    fn a_flow_that_empties_its_queue_waits_a_round_before_it_is_new_again() {
        let mut fq = fq(FqCoDelConfig::default());
        let mut rig = Rig::default();
        for _ in 0..10 {
            add(&mut fq, &mut rig, ms(0), 1500, 1);
        }
        // Flow 1 uses up its turn as a new flow and becomes an old flow.
        next(&mut fq, &mut rig, us(1));
        next(&mut fq, &mut rig, us(1));
        add(&mut fq, &mut rig, us(2), 100, 2);
        assert_eq!(next(&mut fq, &mut rig, us(2)), Some((2, 100)));
        // Flow 2 is found empty and moves after flow 1. A packet that arrives at once does not make
        // it new again.
        assert_eq!(next(&mut fq, &mut rig, us(3)), Some((1, 1500)));
        add(&mut fq, &mut rig, us(3), 100, 2);
        assert_eq!(fq.new.head, NONE);
    }

    #[test]
    fn the_longest_queue_loses_half_from_its_head_at_most_64() {
        for (packets, lost) in [(10, 5), (9, 5), (200, 64)] {
            let mut fq = fq(FqCoDelConfig::default());
            let mut rig = Rig::default();
            for _ in 0..packets {
                add(&mut fq, &mut rig, ms(0), 1500, 1);
            }
            for _ in 0..5 {
                add(&mut fq, &mut rig, ms(0), 1500, 2);
            }
            let mut dropped = Vec::new();
            assert!(fq.make_room(&mut dropped));
            let flows: Vec<u32> = dropped.iter().map(|id| rig.pool[*id].flow.0).collect();
            assert_eq!(flows, vec![1; lost]);
            assert_eq!(fq.packets(), packets + 5 - lost as u64);
            assert_eq!(fq.bytes(), fq.packets() * 1500);
        }
    }

    #[test]
    fn each_queue_has_a_codel_of_its_own() {
        let mut fq = fq(FqCoDelConfig::default());
        let mut rig = Rig::default();
        // Flow 1 always has a backlog, so only its packets are dropped. Flow 2 sends a packet each
        // millisecond and never waits.
        for n in 0..3_000_u64 {
            while fq.packets() < 50 {
                add(&mut fq, &mut rig, ms(n), 1500, 1);
            }
            add(&mut fq, &mut rig, ms(n), 100, 2);
            let mut sent = [0; 3];
            for _ in 0..2 {
                let (flow, _) = next(&mut fq, &mut rig, ms(n)).expect("a backlog");
                sent[flow as usize] += 1;
            }
        }
        assert!(rig.dropped.len() > 20);
        assert!(rig.dropped.iter().all(|id| rig.pool[*id].flow.0 == 1));
    }

    #[test]
    fn places_are_recycled() {
        let mut fq = fq(FqCoDelConfig::default());
        let mut rig = Rig::default();
        for n in 0..1_000 {
            add(&mut fq, &mut rig, ms(n), 1500, n as u32);
            next(&mut fq, &mut rig, ms(n));
        }
        assert_eq!(fq.places.all.len(), 1);
        assert_eq!((fq.packets(), fq.bytes()), (0, 0));
        assert_eq!(next(&mut fq, &mut rig, ms(1_000)), None);
        assert!(fq.flows.iter().all(|flow| !flow.is_scheduled));
    }

    #[test]
    fn flows_spread_over_the_queues_evenly() {
        let fq = fq(FqCoDelConfig::default());
        let mut rig = Rig::default();
        let mut counts = vec![0_u32; 1024];
        for flow in 0..102_400 {
            let queued = rig.packet(ms(0), 100, Ecn::NotEct, flow);
            let index = fq.hash(queued.packet, &rig.effects());
            counts[index as usize] += 1;
        }
        // The sum has a chi-squared distribution with 1023 degrees of freedom: mean 1023, standard
        // deviation 45.
        let chi: f64 = counts
            .iter()
            .map(|n| {
                let far = f64::from(*n) - 100.0;
                far * far / 100.0
            })
            .sum();
        assert!((chi - 1023.0).abs() < 5.0 * 45.0, "{chi}");
    }

    #[test]
    fn no_queue_at_all_is_an_error() {
        let config = FqCoDelConfig {
            flows: 0,
            ..FqCoDelConfig::default()
        };
        let error = FqCoDel::new(config, Stream::new(1, "link.aqm", 0)).map(|_| ());
        let message = error.expect_err("no queues").to_string();
        assert_eq!(message, "flows is 0; expected at least 1 and at most 65535");
    }
}
