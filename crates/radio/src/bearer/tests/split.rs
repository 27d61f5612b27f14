//! Tests of a bearer on two legs. The tests carry the frames between the base stations or lose
//! them.

use super::*;
use crate::bearer::{Frame, FrameKind, split};
use crate::config::{CarrierLegs, LEG_NUMBERS, LegChoice, SplitConfig};
use crate::pdcp::Delivery;
use crate::user_plane::{DesiredBuffer, FlowControlConfig};
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;
use std::collections::BTreeSet;

pub(super) fn config() -> BearerConfig {
    BearerConfig {
        split: Some(SplitConfig {
            leg: Some(1),
            carriers: CarrierLegs::NONE,
            choice: LegChoice::Demand,
            rlc: RlcConfig::NR_AM,
            pdcp_sn_bits: 18,
            primary: 0,
            thresholds: [Some(Bytes(0)), None],
            duplicates: [false; 2],
            flow_control: FlowControlConfig {
                desired: DesiredBuffer::Fixed(Bytes(5000)),
                ..FlowControlConfig::USUAL
            },
        }),
        pdcp: PdcpConfig {
            delivery: Delivery::InOrder(None),
            ..PdcpConfig::NR
        },
        ..BearerConfig::nr(UeId(0))
    }
}

impl Rig {
    pub(super) fn frames(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.storage.frames)
    }

    /// Delivers frames to the base stations that receive them.
    pub(super) fn carry(&mut self, frames: &[Frame]) {
        for &Frame { kind, number, .. } in frames {
            self.with_drb(|drb, env, storage| {
                let mut bearer = split(drb).expect("it is split");
                match kind {
                    FrameKind::Downlink => bearer.on_frame(env.now, number, false),
                    FrameKind::Failure | FrameKind::Copy => {}
                    FrameKind::Discard => bearer.on_discard(env.now, number),
                    FrameKind::Poll => bearer.on_frame(env.now, number, true),
                    FrameKind::Status => {
                        bearer.on_status(env.now, number, storage);
                        bearer.feed(env, storage);
                    }
                    FrameKind::Uplink => {
                        bearer.on_uplink(number, storage);
                        drb.on_sdus((1, UP), env, storage);
                        return;
                    }
                }
                bearer.drain(env.now);
            });
        }
    }

    pub(super) fn frames_after_wake(&mut self) -> Vec<Frame> {
        self.with_drb(|drb, env, storage| {
            let mut bearer = split(drb).expect("it is split");
            bearer.on_wake(env.now, storage);
        });
        self.frames()
    }

    pub(super) fn fill(&mut self, count: usize) -> Vec<PacketId> {
        let packets = (0..count).map(|_| self.put(DOWN, 960).0).collect();
        self.with_drb(|drb, env, storage| {
            split(drb).expect("it is split").feed(env, storage);
        });
        packets
    }
}

#[test]
fn the_other_base_station_gets_what_it_has_asked_for_and_no_more() {
    let mut rig = Rig::new(config());
    rig.fill(10);
    assert!(rig.frames().is_empty(), "nothing was asked for");
    let first = rig.frames_after_wake();
    assert_eq!(first.len(), 1);
    rig.carry(&first);
    let sent = rig.frames();
    // The PDUs have 1,003 bytes each, so the desired buffer size allows four PDUs.
    assert_eq!(sent.len(), 4);
    rig.carry(&sent);
    assert!(rig.drb.backlog(rig.now, 1, DOWN).total() > 4000);
    // The first leg sends the remaining packets when its cell grants resources. A grant of 3,100
    // bytes carries three packets and a part of a fourth.
    let block = rig.block(0, DOWN, 3100);
    assert_eq!(block.pdus.len(), 4, "three, and a piece of one");
    assert!(rig.drb.backlog(rig.now, 0, DOWN).total() > 2900);
}

#[test]
fn packets_of_both_legs_leave_in_order_behind_one_pdcp() {
    let mut rig = Rig::new(config());
    let first = rig.frames_after_wake();
    rig.carry(&first);
    let packets = rig.fill(6);
    let sent = rig.frames();
    rig.carry(&sent);
    let local = rig.block(0, DOWN, 5000);
    rig.arrive(0, DOWN, &local);
    assert!(rig.out.is_empty(), "the first four are on the other leg");
    let secondary = rig.block(1, DOWN, 5000);
    rig.arrive(1, DOWN, &secondary);
    assert_eq!(rig.out, packets);
    assert!(rig.drb.ledger(DOWN).is_empty());
}

#[test]
fn a_frame_that_a_link_lost_is_told_and_sent_again() {
    let mut rig = Rig::new(config());
    let first = rig.frames_after_wake();
    rig.carry(&first);
    let packets = rig.fill(4);
    let mut sent = rig.frames();
    sent.remove(1);
    rig.carry(&sent);
    let secondary = rig.block(1, DOWN, 5000);
    rig.arrive(1, DOWN, &secondary);
    assert_eq!(rig.out, packets[..1]);
    rig.now = millis(10);
    let frames = rig.frames_after_wake();
    assert_eq!(frames.len(), 1);
    rig.carry(&frames);
    let again = rig.frames();
    assert_eq!(again.len(), 1, "it goes where there is room");
    rig.carry(&again);
    let secondary = rig.block(1, DOWN, 5000);
    rig.arrive(1, DOWN, &secondary);
    assert_eq!(rig.out, packets);
}

#[test]
fn a_poll_finds_the_loss_of_the_last_frame() {
    let mut rig = Rig::new(config());
    let first = rig.frames_after_wake();
    rig.carry(&first);
    let packets = rig.fill(1);
    assert_eq!(rig.frames().len(), 1, "the link drops it");
    rig.now = millis(100);
    let poll = rig.frames_after_wake();
    assert_eq!(poll[0].kind, FrameKind::Poll);
    rig.carry(&poll);
    let frames = rig.frames_after_wake();
    rig.carry(&frames);
    let again = rig.frames();
    rig.carry(&again);
    let secondary = rig.block(1, DOWN, 5000);
    rig.arrive(1, DOWN, &secondary);
    assert_eq!(rig.out, packets);
}

#[test]
fn what_a_failed_leg_had_goes_over_the_other_one_under_its_number() {
    for leg in [0, 1] {
        let mut rig = Rig::new(config());
        let first = rig.frames_after_wake();
        rig.carry(&first);
        let packets = rig.fill(8);
        let sent = rig.frames();
        rig.carry(&sent);
        // One packet on each leg has arrived, but no status has reached the sender.
        let local = rig.block(0, DOWN, 1100);
        rig.arrive(0, DOWN, &local);
        let secondary = rig.block(1, DOWN, 1100);
        rig.arrive(1, DOWN, &secondary);
        let until = millis(50);
        rig.with_drb(|drb, env, storage| drb.reestablish((leg, until), env, storage));
        rig.now = millis(20);
        for _ in 0..8 {
            let frames = rig.frames_after_wake();
            rig.carry(&frames);
            let sent = rig.frames();
            rig.carry(&sent);
            let block = rig.block(1 - leg, DOWN, 20_000);
            rig.arrive(1 - leg, DOWN, &block);
            rig.now += Span::from_millis(6);
            let up = rig.block(1 - leg, UP, 1000);
            rig.arrive(1 - leg, UP, &up);
        }
        assert_eq!(rig.out, packets, "leg {leg} failed");
        assert!(rig.drops.0.is_empty());
        assert!(rig.drb.ledger(DOWN).is_empty());
    }
}

#[test]
fn without_acknowledgments_what_a_failed_leg_had_is_lost_and_the_rest_goes_on() {
    let mut rig = Rig::new(BearerConfig {
        rlc: RlcConfig::NR_UM,
        split: config().split.map(|split| SplitConfig {
            rlc: RlcConfig::NR_UM,
            ..split
        }),
        ..config()
    });
    let first = rig.frames_after_wake();
    rig.carry(&first);
    let packets = rig.fill(6);
    let sent = rig.frames();
    rig.carry(&sent);
    rig.with_drb(|drb, env, storage| drb.reestablish((1, millis(50)), env, storage));
    assert_eq!(rig.causes(), [RadioDropCause::LinkFailure; 4]);
    let local = rig.block(0, DOWN, 5000);
    rig.arrive(0, DOWN, &local);
    assert!(rig.out.is_empty(), "their numbers are waited for");
    assert_eq!(packets.len(), 6);
}

#[test]
fn uplink_data_below_the_threshold_is_the_primary_paths() {
    for (threshold, primary) in [(3000, 0), (3000, 1)] {
        let mut rig = Rig::new(BearerConfig {
            split: config().split.map(|split| SplitConfig {
                thresholds: [None, Some(Bytes(threshold))],
                primary,
                ..split
            }),
            ..config()
        });
        rig.put(UP, 960);
        rig.put(UP, 960);
        let waits = |rig: &Rig, leg| rig.drb.backlog(rig.now, leg, UP).total();
        assert!(waits(&rig, primary) >= 2006);
        assert_eq!(waits(&rig, 1 - primary), 0);
        assert!(rig.block(1 - primary, UP, 5000).pdus.is_empty());
        rig.put(UP, 960);
        assert_eq!(waits(&rig, primary), waits(&rig, 1 - primary));
        assert!(!rig.block(1 - primary, UP, 1100).pdus.is_empty());
        // The waiting data is below the threshold again. So the other leg can only send the data
        // that its RLC already has.
        assert_eq!(
            waits(&rig, 1 - primary),
            rig.drb.legs.get(1 - primary).ends[1]
                .rlc
                .backlog(rig.now)
                .total()
        );
    }
}

#[test]
fn uplink_pdus_of_the_other_base_station_come_to_pdcp_over_links() {
    let mut rig = Rig::new(BearerConfig {
        split: config().split.map(|split| SplitConfig {
            thresholds: [None, Some(Bytes(0))],
            ..split
        }),
        ..config()
    });
    let packets: Vec<_> = (0..3).map(|_| rig.put(UP, 960).0).collect();
    let secondary = rig.block(1, UP, 2018);
    let local = rig.block(0, UP, 5000);
    rig.arrive(0, UP, &local);
    rig.arrive(1, UP, &secondary);
    assert!(rig.out.is_empty());
    let frames = rig.frames();
    assert_eq!(frames.len(), 2);
    rig.carry(&frames);
    assert_eq!(rig.out, packets);
}

#[test]
fn a_bearer_has_rlc_on_its_two_legs_and_no_other() {
    let mut rig = Rig::new(config());
    assert!(rig.drb.on_connected(1, LegId(8), ROOMS) && rig.drb.on_connected(0, LegId(3), ROOMS));
    assert!(!rig.drb.on_connected(2, LegId(9), ROOMS));
    assert_eq!(rig.drb.leg(), Some(LegId(3)));
    assert!(rig.drb.legs().eq([LegId(3), LegId(8)]));
}

/// Run of a bearer over links and legs that lose data and fail at random times.
pub(super) struct Walk {
    pub rig: Rig,
    /// Frames on links by direction, with their arrival times.
    under_way: [Vec<(Time, Frame)>; 2],
    pub put: [Vec<PacketId>; 2],
    pub out: [Vec<PacketId>; 2],
    down_until: [Time; LEG_NUMBERS],
    most_outstanding: u64,
    /// Number of lost packets whose ids the test has assigned to placeholder packets.
    kept: usize,
    /// Packets whose last part arrived over a leg, by leg and direction. `cannot_come` lists the
    /// packets that can no longer arrive over a leg.
    pub came: [[BTreeSet<PacketId>; 2]; LEG_NUMBERS],
    pub cannot_come: [[BTreeSet<PacketId>; 2]; LEG_NUMBERS],
    /// True if the walk changes the legs with activated duplication at random times.
    pub changes: bool,
}

impl Walk {
    pub(super) fn new(rig: Rig) -> Walk {
        Walk {
            rig,
            under_way: Default::default(),
            put: Default::default(),
            out: Default::default(),
            down_until: [Time::ZERO; LEG_NUMBERS],
            most_outstanding: 0,
            kept: 0,
            came: Default::default(),
            cannot_come: Default::default(),
            changes: false,
        }
    }

    /// Returns the numbers of the bearer's legs.
    pub(super) fn legs(&self) -> Vec<u8> {
        self.rig.drb.legs.iter().map(|leg| leg.number).collect()
    }

    fn note_parts(
        &mut self,
        (leg, direction): (u8, Direction),
        block: &TransportBlock,
        is_lost: bool,
    ) {
        let (leg, direction) = (usize::from(leg), direction.index());
        for part in block.pdus.iter().flat_map(|pdu| block.data_parts(pdu)) {
            if is_lost {
                self.cannot_come[leg][direction].insert(part.sdu.packet);
            } else if part.is_last() {
                self.came[leg][direction].insert(part.sdu.packet);
            }
        }
    }

    /// Asserts that the outstanding bytes do not exceed the desired buffer size. After a reduction
    /// of that size, the earlier number of bytes may remain outstanding.
    fn check_window(&mut self) {
        let bearer = split(&mut self.rig.drb).expect("it is split");
        let (outstanding, desired) = bearer.window();
        // A single packet of 1,600 bytes may exceed the desired buffer size.
        let most = desired.max(self.most_outstanding).max(1600);
        assert!(outstanding <= most, "{outstanding} of {desired}");
        self.most_outstanding = outstanding;
    }

    /// Delivers the frames whose link delay has passed.
    fn deliver_frames(&mut self) {
        let now = self.rig.now;
        for index in [0, 1] {
            let ready = self.under_way[index]
                .iter()
                .take_while(|(at, _)| *at <= now);
            let count = ready.count();
            let frames: Vec<Frame> = self.under_way[index]
                .drain(..count)
                .map(|it| it.1)
                .collect();
            for frame in frames {
                self.rig.carry(&[frame]);
                self.check_window();
            }
        }
    }

    pub(super) fn advance(
        &mut self,
        draws: &mut Stream,
        (loss, delay): (u64, Span),
        is_calm: bool,
    ) {
        let now = self.rig.now;
        let legs = self.legs();
        if !is_calm {
            for _ in 0..draws.below(6) {
                let direction = if draws.below(3) == 0 { UP } else { DOWN };
                let len = 60 + draws.below(1400) as u32;
                let (packet, is_taken) = self.rig.put(direction, len);
                if is_taken {
                    self.put[direction.index()].push(packet);
                    for leg in legs.iter().copied().map(usize::from) {
                        if now < self.down_until[leg] || self.changes {
                            self.cannot_come[leg][direction.index()].insert(packet);
                        }
                    }
                }
            }
        }
        if !is_calm && draws.below(60) == 0 {
            let leg = legs[draws.below(legs.len() as u64) as usize];
            let until = now + Span::from_millis(draws.below(30));
            self.down_until[usize::from(leg)] = until;
            for direction in [0, 1] {
                let packets = self.put[direction].iter().copied();
                self.cannot_come[usize::from(leg)][direction].extend(packets);
            }
            self.rig
                .with_drb(|drb, env, storage| drb.reestablish((leg, until), env, storage));
        }
        if self.changes && !is_calm && draws.below(20) == 0 {
            let active = draws.below(1 << LEG_NUMBERS) as u8;
            let direction = if draws.below(2) == 0 { UP } else { DOWN };
            self.rig.with_drb(|drb, env, _| {
                let mut bearer = split(drb).expect("it is split");
                for leg in 0..LEG_NUMBERS as u8 {
                    bearer.activate((leg, direction), active & 1 << leg != 0, env.now);
                }
            });
        }
        for leg in legs {
            if now < self.down_until[usize::from(leg)] {
                continue;
            }
            for direction in [DOWN, UP] {
                let block = self
                    .rig
                    .block(leg, direction, 200 + draws.below(4000) as u32);
                let is_lost = draws.below(100) < loss;
                self.note_parts((leg, direction), &block, is_lost);
                if !is_lost {
                    self.rig.arrive(leg, direction, &block);
                } else {
                    let pdus = (&block, 0..block.pdus.len());
                    self.rig.with_drb(|drb, env, storage| {
                        drb.on_harq_failure((leg, direction), pdus, env, storage);
                    });
                }
            }
        }
        self.rig.with_drb(|drb, env, storage| {
            for direction in [DOWN, UP] {
                drb.on_timer(direction, env, storage);
            }
            let mut bearer = split(drb).expect("it is split");
            bearer.feed(env, storage);
            bearer.on_wake(env.now, storage);
        });
        self.check_window();
        for frame in self.rig.frames() {
            let is_back = matches!(frame.kind, FrameKind::Status | FrameKind::Uplink);
            // An uplink PDU that a link loses is not sent again, so the test loses no such frame.
            let may_be_lost = frame.kind != FrameKind::Uplink;
            if !may_be_lost || draws.below(100) >= loss {
                self.under_way[usize::from(is_back)].push((now + delay, frame));
            }
        }
        self.deliver_frames();
        for packet in self.rig.out.drain(..) {
            let is_up = self.put[1].contains(&packet);
            self.out[usize::from(is_up)].push(packet);
        }
        // The test identifies packets by id, so placeholder packets keep the ids of lost packets
        // occupied.
        while self.kept < self.rig.drops.0.len() {
            self.rig.pool.insert(Packet::default());
            self.kept += 1;
        }
        self.rig.now += Span::from_millis(1);
    }
}

#[test]
fn over_legs_that_fail_at_any_moment_each_packet_leaves_once_and_in_order() {
    Cases::new(150).run(|seed| {
        let mut draws = Stream::new(seed, "split", 0);
        let modes = [
            (RlcConfig::NR_AM, RlcConfig::NR_AM),
            (RlcConfig::LTE_AM, RlcConfig::NR_AM),
            (RlcConfig::NR_AM, RlcConfig::LTE_AM),
        ];
        let (local, secondary) = modes[draws.below(3) as usize];
        let own = config();
        let mut rig = Rig::new(BearerConfig {
            rlc: local,
            split: own.split.map(|split| SplitConfig {
                rlc: secondary,
                primary: draws.below(2) as u8,
                thresholds: [0, 1].map(|_| Some(Bytes(draws.below(4) * 3000))),
                choice: [
                    LegChoice::Demand,
                    LegChoice::ExpectedDelay,
                    LegChoice::Turns,
                ][draws.below(3) as usize],
                flow_control: FlowControlConfig {
                    desired: match draws.below(2) {
                        0 => DesiredBuffer::Fixed(Bytes(1000 + draws.below(40_000))),
                        _ => DesiredBuffer::Lasting(Span::from_millis(30), Bytes(5000)),
                    },
                    ..FlowControlConfig::USUAL
                },
                ..split
            }),
            ..own
        });
        rig.now = millis(1);
        let mut walk = Walk::new(rig);
        let links = (draws.below(8), Span::from_millis(draws.below(12)));
        for _ in 0..400 {
            walk.advance(&mut draws, links, false);
        }
        for _ in 0..3000 {
            walk.advance(&mut draws, (0, links.1), true);
        }
        for direction in [DOWN, UP] {
            let index = direction.index();
            let mut pairs = walk.put[index].iter().zip(&walk.out[index]);
            assert_eq!(pairs.find(|(put, out)| put != out), None, "{direction:?}");
            assert_eq!(
                walk.out[index].len(),
                walk.put[index].len(),
                "{direction:?}"
            );
        }
        assert!(walk.rig.drops.0.is_empty());
        for direction in [DOWN, UP] {
            assert!(walk.rig.drb.ledger(direction).is_empty());
        }
    });
}

/// Sends a pair of packets every `apart` milliseconds, one on each leg. The leg of the first packet
/// takes `behind` milliseconds longer. Returns the delay of each packet in milliseconds, or `None`
/// if the packet was not delivered.
fn pairs(behind: u64, apart: u64) -> Vec<Option<u64>> {
    let mut rig = Rig::new(BearerConfig {
        rlc: RlcConfig::NR_UM,
        pdcp: PdcpConfig {
            delivery: Delivery::InOrder(Some(Span::from_millis(20))),
            ..PdcpConfig::NR
        },
        split: config().split.map(|split| SplitConfig {
            rlc: RlcConfig::NR_UM,
            thresholds: [Some(Bytes(1000)), None],
            flow_control: FlowControlConfig {
                desired: DesiredBuffer::Fixed(Bytes(100_000)),
                ..split.flow_control
            },
            ..split
        }),
        ..config()
    });
    let first = rig.frames_after_wake();
    rig.carry(&first);
    let (mut packets, mut left, mut secondary) = (Vec::new(), Vec::new(), Vec::new());
    for ms in 0..200 {
        rig.now = millis(ms);
        if ms % apart == 0 && ms < 100 {
            packets.extend(rig.fill(1).into_iter().map(|packet| (packet, ms)));
            let frames = rig.frames();
            assert_eq!(frames.len(), 1);
            secondary.push((ms + behind, frames));
            // The waiting data is below the threshold, so only the primary leg may carry this
            // packet.
            let (packet, _) = rig.put(DOWN, 100);
            packets.push((packet, ms));
            let block = rig.block(0, DOWN, 2000);
            rig.arrive(0, DOWN, &block);
        }
        rig.with_drb(|drb, env, storage| drb.on_timer(UP, env, storage));
        while secondary.first().is_some_and(|(at, _)| *at <= ms) {
            let (_, frames) = secondary.remove(0);
            rig.carry(&frames);
            let block = rig.block(1, DOWN, 2000);
            rig.arrive(1, DOWN, &block);
        }
        let frames = rig.frames_after_wake();
        rig.carry(&frames);
        left.extend(rig.out.drain(..).map(|packet| (packet, ms)));
    }
    let left_at = |packet| left.iter().find(|it| it.0 == packet).map(|it| it.1);
    let took = packets
        .iter()
        .map(|&(packet, sent)| left_at(packet).map(|at| at - sent));
    took.collect()
}

#[test]
fn a_packet_waits_for_those_before_it_on_the_slower_leg_and_no_longer_than_t_reordering() {
    for behind in [1, 7, 19] {
        for apart in [1, 4, 10] {
            let took = pairs(behind, apart);
            assert!(
                took.iter().all(|&it| it == Some(behind)),
                "{behind}, {apart}: {took:?}"
            );
        }
    }
    // The first packet of each pair is 21 ms late, longer than t-Reordering of 20 ms. PDCP gives up
    // the first packet and delivers the second one when the timer expires.
    let took = pairs(21, 50);
    assert_eq!(took, [None, Some(20), None, Some(20)]);
}
