//! Tests of a bearer between two cells. Base station 1 is the source, and 2 is the target. The
//! tests carry the transport blocks.

use super::*;
use crate::bearer::transfer::TransferCounts;
use crate::config::{Fate, Route};

const SOURCE: u32 = 1;
const TARGET: u32 = 2;
/// Time for which a target waits for end markers.
const PATIENCE: Span = Span::from_millis(100);
const DELAYED: Fate = Fate::Forwarded(Route::FixedDelay(Span::from_millis(5)));
const OVER_LINKS: Fate = Fate::Forwarded(Route::Links { to: TARGET });

impl Rig {
    fn managed(config: BearerConfig) -> Rig {
        let mut rig = Rig::new(config);
        rig.drb.mobile().manage();
        rig
    }

    fn stop(&mut self, fate: Fate) {
        self.with_drb(|drb, env, storage| drb.mobile().stop((SOURCE, SOURCE), fate, env, storage));
    }

    fn detach(&mut self) {
        self.with_drb(|drb, env, storage| drb.mobile().detach((SOURCE, false), env, storage));
    }

    /// Moves the UE into the target, and sends all waiting data in one transport block.
    fn resume(&mut self) {
        self.resume_at(TARGET);
    }

    fn resume_at(&mut self, station: u32) {
        self.with_drb(|drb, env, storage| drb.mobile().resume(station, env, storage));
        self.carry_all();
    }

    fn carry_all(&mut self) {
        self.with_drb(Drb::drain_inlet);
        let block = self.block(0, DOWN, 100_000);
        self.arrive(0, DOWN, &block);
    }

    /// Sends a downlink packet to a base station while the bearer is between two cells.
    fn reach(&mut self, station: u32) -> PacketId {
        let packet = self.pool.insert(Packet {
            segment: Segment {
                len: 1000,
                ..Segment::default()
            },
            ..Packet::default()
        });
        self.with_drb(|drb, env, storage| {
            drb.mobile()
                .on_downlink_packet((station, PATIENCE), packet, env, storage);
        });
        packet
    }

    fn on_forwarded(&mut self, station: u32, packet: PacketId) {
        self.with_drb(|drb, env, storage| drb.mobile().on_forwarded(station, packet, env, storage));
    }

    /// Returns the packets forwarded since the last call, with their sending and receiving base
    /// stations.
    fn sent_away(&mut self) -> Vec<(PacketId, u32, u32)> {
        let away = self.storage.forwarded.drain(..);
        away.map(|one| (one.packet, one.from, one.to)).collect()
    }

    fn counts(&self) -> TransferCounts {
        self.drb.transfers().report().1
    }
}

fn counts(numbered: u64, fresh: u64, lost: u64) -> TransferCounts {
    TransferCounts {
        numbered,
        fresh,
        lost,
        ..TransferCounts::default()
    }
}

fn acknowledged() -> BearerConfig {
    BearerConfig::nr(UeId(0))
}

#[test]
fn a_bearer_at_rest_is_not_travelling_and_nothing_of_a_journey_moves_it() {
    let mut rig = Rig::managed(acknowledged());
    rig.resume_at(TARGET);
    rig.drb.mobile().on_end_marker(millis(1));
    rig.drb.mobile().on_guard(millis(1));
    assert!(!rig.drb.transfers().is_between_cells());
    assert!(rig.drb.transfers().guard_at().is_never());
    assert_eq!(rig.drb.transfers().report(), ([None; 2], counts(0, 0, 0)));
}

#[test]
fn what_was_not_sent_goes_along_in_order_with_its_count() {
    let mut rig = Rig::managed(acknowledged());
    let sent: Vec<PacketId> = (0..3).map(|_| rig.put(DOWN, 1000).0).collect();
    rig.stop(DELAYED);
    assert!(rig.drb.transfers().is_between_cells());
    // The source does not send the three packets, because the UE is about to leave.
    assert_eq!(rig.drb.backlog(rig.now, 0, DOWN).total(), 0);
    rig.detach();
    rig.resume();
    assert_eq!(rig.out, sent);
    assert_eq!(rig.counts(), counts(3, 0, 0));
    assert!(rig.drb.ledger(DOWN).is_empty());
}

#[test]
fn what_was_sent_is_sent_again_unless_the_ue_has_it() {
    let mut rig = Rig::managed(acknowledged());
    let sent: Vec<PacketId> = (0..2).map(|_| rig.put(DOWN, 1000).0).collect();
    let both = rig.block(0, DOWN, 3000);
    assert_eq!(rig.drb.backlog(rig.now, 0, DOWN).new, 0);
    // The first packet arrives, but the status report that confirms it does not.
    let pdus = (&both, 0..1);
    rig.with_drb(|drb, env, storage| drb.on_pdus((0, DOWN), pdus, &TIMES, env, storage));
    assert_eq!(rig.out, sent[..1]);
    rig.stop(DELAYED);
    rig.detach();
    rig.resume();
    assert_eq!(rig.out, sent);
    assert_eq!(rig.counts(), counts(1, 0, 0));
}

#[test]
fn without_acknowledgements_what_was_under_way_is_lost_and_the_rest_is_numbered_anew() {
    let mut rig = Rig::managed(unacknowledged());
    let sent: Vec<PacketId> = (0..3).map(|_| rig.put(DOWN, 1000).0).collect();
    // The block contains the first packet and a part of the second packet. Both are lost.
    rig.block(0, DOWN, 1_500);
    rig.stop(DELAYED);
    rig.detach();
    assert_eq!(rig.causes(), [RadioDropCause::Handover; 2]);
    rig.resume();
    assert_eq!(rig.out, sent[2..]);
    assert_eq!(rig.counts(), counts(1, 0, 2));
}

#[test]
fn a_source_that_forwards_nothing_drops_what_it_has_and_what_comes_later() {
    let mut rig = Rig::managed(acknowledged());
    rig.put(DOWN, 1000);
    rig.stop(Fate::Dropped);
    rig.reach(SOURCE);
    rig.detach();
    rig.resume();
    assert!(rig.out.is_empty());
    assert_eq!(rig.causes(), [RadioDropCause::Handover; 2]);
    assert_eq!(rig.counts(), counts(0, 0, 2));
    assert!(rig.drb.ledger(DOWN).is_empty());
}

#[test]
fn what_came_over_the_new_path_waits_for_nothing_where_nothing_is_forwarded() {
    let mut rig = Rig::managed(acknowledged());
    rig.stop(Fate::Dropped);
    rig.detach();
    let early = rig.reach(TARGET);
    rig.drb.mobile().on_path_switch(rig.now, 1, PATIENCE);
    rig.resume();
    rig.carry_all();
    assert_eq!(rig.out, [early], "it came before the UE");
    let late = rig.reach(TARGET);
    rig.carry_all();
    assert_eq!(rig.out, [early, late]);
    // Packets that arrive at the source now are lost. The change of cell lasts until the end marker
    // arrives.
    rig.reach(SOURCE);
    assert_eq!(rig.counts(), counts(0, 0, 1));
    assert!(rig.drb.transfers().is_between_cells());
    rig.drb.mobile().on_end_marker(rig.now);
    assert!(!rig.drb.transfers().is_between_cells());
    assert_eq!(rig.out, [early, late]);
}

#[test]
fn what_came_over_the_new_path_waits_for_the_end_marker() {
    let mut rig = Rig::managed(acknowledged());
    rig.stop(DELAYED);
    rig.detach();
    let direct = rig.reach(TARGET);
    let forwarded = rig.reach(SOURCE);
    assert_eq!(rig.drb.transfers().guard_at(), Time::ZERO + PATIENCE);
    rig.drb.mobile().on_path_switch(rig.now, 1, PATIENCE);
    rig.now = millis(5);
    rig.resume();
    assert_eq!(rig.out, [forwarded]);
    assert!(rig.drb.transfers().is_between_cells());
    rig.drb.mobile().on_end_marker(rig.now);
    assert!(!rig.drb.transfers().is_between_cells());
    rig.carry_all();
    assert_eq!(rig.out, [forwarded, direct]);
    assert_eq!(rig.counts(), counts(0, 1, 0));
}

#[test]
fn an_end_marker_that_is_lost_is_waited_for_no_longer_than_its_guard() {
    let mut rig = Rig::managed(acknowledged());
    rig.stop(DELAYED);
    rig.detach();
    let direct = rig.reach(TARGET);
    rig.drb.mobile().on_path_switch(rig.now, 1, PATIENCE);
    rig.resume();
    let guard_at = rig.drb.transfers().guard_at();
    rig.drb.mobile().on_guard(guard_at - Span::from_nanos(1));
    assert!(rig.drb.transfers().is_between_cells());
    rig.now = guard_at;
    rig.drb.mobile().on_guard(guard_at);
    assert!(!rig.drb.transfers().is_between_cells());
    rig.carry_all();
    assert_eq!(rig.out, [direct]);
}

#[test]
fn forwarding_takes_its_time_from_the_arrival_at_the_source() {
    let mut rig = Rig::managed(acknowledged());
    rig.stop(DELAYED);
    rig.detach();
    rig.now = millis(10);
    rig.resume_at(SOURCE);
    rig.now = millis(20);
    rig.reach(SOURCE);
    assert_eq!(rig.drb.inlet_at(0), Some(millis(25)));
}

#[test]
fn links_carry_what_has_a_count_first_and_only_once_the_ue_has_left() {
    let mut rig = Rig::managed(acknowledged());
    let (numbered, _) = rig.put(DOWN, 1000);
    rig.stop(OVER_LINKS);
    let fresh = rig.reach(SOURCE);
    assert!(rig.sent_away().is_empty());
    rig.detach();
    let expected = [(numbered, SOURCE, TARGET), (fresh, SOURCE, TARGET)];
    assert_eq!(rig.sent_away(), expected);
    let later = rig.reach(SOURCE);
    assert_eq!(rig.sent_away(), [(later, SOURCE, TARGET)]);
    rig.on_forwarded(TARGET, numbered);
    rig.on_forwarded(TARGET, fresh);
    rig.resume();
    rig.on_forwarded(TARGET, later);
    rig.carry_all();
    assert_eq!(rig.out, [numbered, fresh, later]);
    assert_eq!(rig.counts(), counts(1, 2, 0));
}

#[test]
fn a_packet_at_a_station_that_the_ue_does_not_come_to_goes_on_from_there() {
    let mut rig = Rig::managed(acknowledged());
    let (packet, _) = rig.put(DOWN, 1000);
    rig.stop(OVER_LINKS);
    rig.detach();
    rig.sent_away();
    let elsewhere = Fate::Forwarded(Route::Links { to: 3 });
    rig.with_drb(|drb, env, storage| drb.mobile().redirect(elsewhere, env, storage));
    rig.on_forwarded(TARGET, packet);
    assert_eq!(rig.sent_away(), [(packet, TARGET, 3)]);
    rig.on_forwarded(3, packet);
    rig.resume();
    assert_eq!(rig.out, [packet]);
}

#[test]
fn a_packet_that_nobody_sent_away_is_lost_even_with_the_id_of_one_that_was() {
    let mut rig = Rig::managed(acknowledged());
    let (packet, _) = rig.put(DOWN, 1000);
    rig.stop(OVER_LINKS);
    rig.detach();
    // A link dropped the packet, and the pool gave its id to another packet.
    let mut other = rig.pool.remove(packet);
    other.segment.seq = 77;
    assert_eq!(rig.pool.insert(other), packet);
    rig.on_forwarded(TARGET, packet);
    assert_eq!(rig.causes(), [RadioDropCause::Handover]);
    assert_eq!(rig.counts().lost, 1);
}

#[test]
fn what_links_drop_of_forwarded_packets_is_lost_and_what_is_under_way_is_not() {
    let mut rig = Rig::managed(acknowledged());
    rig.stop(OVER_LINKS);
    rig.detach();
    // The queue of the link accepts 1,000 packets of the burst.
    let burst: Vec<PacketId> = (0..1319).map(|_| rig.reach(SOURCE)).collect();
    let (taken, dropped) = burst.split_at(1000);
    dropped.iter().for_each(|&packet| rig.pool.free(packet));
    rig.on_forwarded(TARGET, taken[0]);
    rig.with_drb(|drb, env, _| drb.mobile().count_dropped(env.pool));
    assert_eq!(rig.counts(), counts(0, 1319, 319));
    // Dropped packets are counted once only. The remaining packets arrive.
    rig.with_drb(|drb, env, _| drb.mobile().count_dropped(env.pool));
    taken[1..]
        .iter()
        .for_each(|&packet| rig.on_forwarded(TARGET, packet));
    assert_eq!(rig.counts(), counts(0, 1319, 319));
}

#[test]
fn the_gap_of_a_direction_is_from_its_last_packet_to_the_first_in_the_target() {
    let mut rig = Rig::managed(acknowledged());
    rig.now = millis(3);
    rig.put(DOWN, 1000);
    rig.carry_all();
    rig.now = millis(10);
    rig.put(DOWN, 1000);
    rig.stop(DELAYED);
    rig.detach();
    assert_eq!(rig.drb.transfers().report().0, [None, None]);
    rig.now = millis(40);
    rig.resume();
    let gap = Some(Span::from_millis(37));
    assert_eq!(rig.drb.transfers().report().0, [gap, None]);
}

impl Rig {
    fn expect_copies(&mut self, most: u64) {
        let stations = (TARGET, SOURCE);
        self.with_drb(|drb, env, storage| {
            drb.mobile()
                .expect_copies(stations, Bytes(most), env, storage);
        });
    }

    /// Returns a packet that the core sends to both base stations at `sent_ms`.
    fn bicast(&mut self, sent_ms: u64) -> Packet {
        Packet {
            sent_at: millis(sent_ms),
            segment: Segment {
                len: 1000,
                ..Segment::default()
            },
            ..Packet::default()
        }
    }

    /// Sends a packet to the source base station, which hands it to the bearer.
    fn at_source(&mut self, packet: Packet) -> PacketId {
        let id = self.pool.insert(packet);
        self.with_drb(|drb, env, storage| {
            drb.mobile().record_original(id, env);
            drb.accept_packet(env.now, DOWN, id, env, storage)
        });
        id
    }

    fn at_station(&mut self, station: u32, packet: Packet) -> PacketId {
        let id = self.pool.insert(packet);
        assert!(self.drb.transfers().handles_packets_at(station));
        self.with_drb(|drb, env, storage| {
            drb.mobile()
                .on_downlink_packet((station, PATIENCE), id, env, storage);
        });
        id
    }
}

/// The source sends one packet before it stops. A second packet waits at the source, and a third
/// one arrives later. The source drops both. The target sends its copies of all three packets.
/// LTE's PDCP does not wait for the COUNT of the second packet.
#[test]
fn what_the_core_sends_to_both_waits_at_the_target_and_is_doubled_or_replaces_what_is_dropped() {
    let mut rig = Rig::managed(BearerConfig::lte(UeId(0)));
    rig.expect_copies(u64::MAX);
    assert!(!rig.drb.transfers().is_between_cells());
    assert!(!rig.drb.transfers().handles_packets_at(SOURCE));
    let packets = [1, 2, 3].map(|ms| rig.bicast(ms));
    let sent = rig.at_source(packets[0]);
    let copies = [
        rig.at_station(TARGET, packets[0]),
        rig.at_station(TARGET, packets[1]),
    ];
    let block = rig.block(0, DOWN, 3000);
    rig.arrive(0, DOWN, &block);
    assert_eq!(rig.out, [sent]);
    rig.at_source(packets[1]);
    rig.stop(Fate::Dropped);
    rig.at_station(SOURCE, packets[2]);
    assert_eq!(rig.counts().lost, 1, "there is no copy of the third yet");
    let last = rig.at_station(TARGET, packets[2]);
    rig.detach();
    rig.resume();
    assert_eq!(rig.out, [sent, copies[0], copies[1], last]);
    let found = rig.counts();
    assert_eq!((found.bicast, found.doubled, found.lost), (3, 1, 0));
    // The next packet is sent at once. No end marker has arrived yet.
    let next = rig.bicast(4);
    let next = rig.at_station(TARGET, next);
    rig.carry_all();
    assert_eq!(rig.out.last(), Some(&next));
    rig.drb.mobile().on_path_switch(millis(9), 1, PATIENCE);
    rig.drb.mobile().on_end_marker(millis(9));
    assert!(!rig.drb.transfers().is_between_cells());
    assert!(
        !rig.drb.transfers().handles_packets_at(TARGET),
        "it is at home there"
    );
    assert!(rig.drb.ledger(DOWN).is_empty());
}

#[test]
fn a_target_keeps_no_more_than_its_buffer() {
    let mut rig = Rig::managed(acknowledged());
    // Each packet has 1,000 bytes with its headers, so the target's buffer of 2,500 bytes stores
    // two.
    rig.expect_copies(2500);
    let packets = [1, 2, 3].map(|ms| rig.bicast(ms));
    let kept = [0, 1].map(|n: usize| rig.at_station(TARGET, packets[n]));
    let before = rig.pool.len();
    rig.at_station(TARGET, packets[2]);
    assert_eq!(rig.pool.len(), before, "it is dropped");
    rig.stop(Fate::Dropped);
    rig.detach();
    for packet in packets {
        rig.at_station(SOURCE, packet);
    }
    rig.resume();
    assert_eq!(rig.out, kept);
    let found = rig.counts();
    assert_eq!((found.bicast, found.doubled, found.lost), (2, 0, 1));
}

#[test]
fn copies_at_a_station_that_the_ue_does_not_come_to_are_dropped() {
    let mut rig = Rig::managed(acknowledged());
    rig.expect_copies(u64::MAX);
    let packet = rig.bicast(1);
    let sent = rig.at_source(packet);
    rig.at_station(TARGET, packet);
    rig.stop(Fate::Kept);
    rig.detach();
    rig.with_drb(|drb, env, storage| {
        let back = Fate::Forwarded(Route::FixedDelay(Span::ZERO));
        drb.mobile().stop((SOURCE, SOURCE), back, env, storage);
    });
    rig.resume_at(SOURCE);
    assert_eq!(rig.out, [sent]);
    let found = rig.counts();
    assert_eq!((found.bicast, found.doubled, found.lost), (0, 0, 0));
    let late = rig.bicast(2);
    rig.at_station(TARGET, late);
    rig.with_drb(|drb, env, storage| drb.mobile().end_copies(env, storage));
    assert_eq!(rig.pool.len(), 1, "what the UE has");
}
