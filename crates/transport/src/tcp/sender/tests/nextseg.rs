//! Comparison of RFC 6675 with a slow model, which stores segments in sets and recounts them at
//! each ACK.

use super::*;
use fadeout_core::random::Stream;
use fadeout_testkit::Cases;
use std::collections::{BTreeSet, VecDeque};

/// Variables of RFC 6675 section 2, in whole segments counted from 1.
#[derive(Debug, Default)]
struct Model {
    high_ack: u64,
    high_data: u64,
    sacked: BTreeSet<u64>,
    /// Highest retransmitted segment. It is kept beyond a recovery, because the next recovery need
    /// not repeat its retransmissions.
    high_rxt: u64,
    /// Present recovery. `None` outside recovery.
    recovery: Option<Recovery>,
    /// Number of recovery phases, and of segments sent by rule 3 and by rule 4.
    recoveries: u64,
    by_rule_3: u64,
    rescues: u64,
}

#[derive(Debug)]
struct Recovery {
    point: u64,
    rescue_rxt: u64,
}

/// Segment that NextSeg finds, and its rule.
type Found = Option<(u64, u8)>;

impl Model {
    /// Implements Update(), and the end of a recovery (section 5, step A).
    fn update(&mut self, ack: u64, ranges: &[(u64, u64)]) {
        self.high_ack = self.high_ack.max(ack);
        for &(from, to) in ranges {
            self.sacked.extend(from..=to);
        }
        self.sacked.retain(|segment| *segment > self.high_ack);
        if let Some(recovery) = &self.recovery
            && self.high_ack >= recovery.point
        {
            self.recovery = None;
        }
    }

    /// Returns true if more than two segments sent later have arrived.
    fn is_lost(&self, segment: u64) -> bool {
        !self.sacked.contains(&segment) && self.sacked.range(segment + 1..).count() >= 3
    }

    /// Returns the pipe as SetPipe() of RFC 6675 computes it.
    fn pipe(&self) -> u64 {
        let mut pipe = 0;
        for segment in self.high_ack + 1..=self.high_data {
            if !self.sacked.contains(&segment) {
                pipe += u64::from(!self.is_lost(segment)) + u64::from(segment <= self.high_rxt);
            }
        }
        pipe
    }

    /// Implements NextSeg(). New data may be sent up to `may_send`.
    fn next_seg(&self, may_send: u64) -> Found {
        let known = self.recovery.as_ref()?;
        let highest = self.sacked.last().copied().unwrap_or(0);
        let holes = |&segment: &u64| segment > self.high_rxt && !self.sacked.contains(&segment);
        let mut below = (self.high_ack + 1..highest).filter(holes);
        if let Some(lost) = below.clone().find(|segment| self.is_lost(*segment)) {
            return Some((lost, 1));
        }
        if self.high_data < may_send {
            return Some((self.high_data + 1, 2));
        }
        if let Some(hole) = below.next() {
            return Some((hole, 3));
        }
        let last = (self.high_ack + 1..=self.high_data).rev();
        let last = last.into_iter().find(|last| !self.sacked.contains(last))?;
        (self.high_ack > known.rescue_rxt).then_some((last, 4))
    }

    /// Returns the segments that are sent after an ACK, in order. They follow section 5, steps 4
    /// and C. Outside recovery they are as much new data as the window allows.
    fn send(&mut self, cwnd: u64, may_send: u64) -> Vec<u64> {
        let mut sent = Vec::new();
        let first = self.high_ack + 1;
        if self.recovery.is_none() && self.is_lost(first) {
            self.recoveries += 1;
            self.recovery = Some(Recovery {
                point: self.high_data,
                rescue_rxt: first,
            });
            if first > self.high_rxt {
                self.high_rxt = first;
                sent.push(first);
            }
        }
        let mut pipe = self.pipe();
        while pipe < cwnd {
            let found = match self.recovery {
                Some(_) => self.next_seg(may_send),
                None => (self.high_data < may_send).then_some((self.high_data + 1, 2)),
            };
            let Some((segment, rule)) = found else {
                break;
            };
            self.high_data = self.high_data.max(segment);
            if let Some(recovery) = &mut self.recovery {
                match rule {
                    1 | 3 => self.high_rxt = segment,
                    4 => recovery.rescue_rxt = recovery.point,
                    _ => {}
                }
            }
            self.by_rule_3 += u64::from(rule == 3);
            self.rescues += u64::from(rule == 4);
            sent.push(segment);
            pipe += 1;
        }
        sent
    }
}

/// Receiving end, with its received segments and its recent blocks in the order of RFC 2018 section
/// 4.
#[derive(Default)]
struct Peer {
    arrived: BTreeSet<u64>,
    next: u64,
    recent: Vec<(u64, u64)>,
}

impl Peer {
    /// Receives `segment`. Returns the acknowledgment and the ranges that it SACKs.
    fn receive(&mut self, segment: u64) -> (u64, Vec<(u64, u64)>) {
        self.arrived.insert(segment);
        while self.arrived.contains(&(self.next + 1)) {
            self.next += 1;
        }
        let arrived = |at: &u64| self.arrived.contains(at);
        let grown = |at: u64| {
            let from = (1..=at).rev().take_while(arrived).last();
            let to = (at..).take_while(arrived).last();
            Some((from?, to?))
        };
        let mut ranges: Vec<(u64, u64)> = grown(segment).into_iter().collect();
        for &(from, _) in &self.recent {
            let range = grown(from).expect("it has arrived");
            if !ranges.contains(&range) {
                ranges.push(range);
            }
        }
        ranges.retain(|(from, _)| *from > self.next);
        ranges.truncate(3);
        self.recent.clone_from(&ranges);
        (self.next, ranges)
    }
}

/// Runs a schedule of losses, late segments and lost ACKs.
fn run(seed: u64, is_verbose: bool) -> Model {
    let mut draw = Stream::new(seed, "next segment", 0);
    let data = 4 + draw.below(60);
    let window = if draw.chance(0.5) {
        4 + draw.below(30)
    } else {
        64
    };
    let loss = [0.05, 0.2, 0.4][draw.below(3) as usize];
    let (late, ack_loss) = (draw.chance(0.3), draw.chance(0.3));
    let mut b = Bench::new(&TcpConfig {
        initial_window: 2 + draw.below(30) as u32,
        ..profile("rfc")
    });
    b.peer_window = window * FULL;
    b.sender.snd_wnd = b.peer_window;
    let mut model = Model::default();
    let mut peer = Peer::default();
    let mut air = VecDeque::new();
    b.write(data);
    let mut expected = model.send(b.cwnd() as u64, data.min(window));
    for _ in 0..10_000 {
        let left = b.numbers();
        if is_verbose {
            println!("cwnd {:.1} {left:?} {:?}", b.cwnd(), model.recovery);
        }
        assert_eq!(left, expected, "{model:?}");
        assert_eq!(u64::from(b.sender.in_flight()), model.pipe(), "{model:?}");
        for segment in left {
            if !draw.chance(loss) {
                air.push_back(segment);
            }
        }
        let place = if late && draw.chance(0.2) {
            draw.below(4) as usize
        } else {
            0
        };
        let Some(segment) = air.remove(place.min(air.len().saturating_sub(1))) else {
            break; // The retransmission timer expires.
        };
        let (ack, ranges) = peer.receive(segment);
        expected = Vec::new();
        if ack_loss && draw.chance(0.2) {
            continue;
        }
        b.now += Span::from_micros(100);
        if is_verbose {
            println!("< ack {ack} {ranges:?}");
        }
        b.sack(ack, &ranges);
        model.update(ack, &ranges);
        expected = model.send(b.cwnd() as u64, data.min(ack + window));
    }
    model
}

#[test]
fn what_leaves_after_each_ack_is_what_the_rfc_says() {
    let cases = Cases::new(3000);
    let mut seen = [0; 3];
    cases.run(|seed| {
        let model = run(seed, cases.is_replay());
        seen[0] += model.recoveries;
        seen[1] += model.by_rule_3;
        seen[2] += model.rescues;
    });
    if cases.is_whole() {
        assert!(seen.iter().all(|seen| *seen > 500), "{seen:?}");
    }
}

/// Returns a sender of ten segments, of which `lost` do not arrive. Three SACKs have begun the
/// recovery, and segment 1 was retransmitted.
fn recovering(lost: &[u64]) -> Bench {
    let mut b = Bench::sent(&profile("rfc"), 10);
    let arrived: Vec<u64> = (2..=10).filter(|n| !lost.contains(n)).collect();
    for &last in &arrived[..3] {
        b.sack(0, &[(2, last)]);
    }
    assert_eq!((b.state(), b.numbers()), (RecoveryState::Recovery, vec![1]));
    for &last in &arrived[3..] {
        b.sack(0, &[(2, last)]);
    }
    b
}

#[test]
fn a_loss_at_the_end_of_the_data_waits_for_no_timer() {
    // RFC 6675 section 4, rule 4: segments 9 and 10 are lost together with 1, and no later segment
    // arrives.
    let mut b = recovering(&[1, 9, 10]);
    assert_eq!(
        b.numbers(),
        [],
        "not before more than the first repair is acknowledged"
    );
    b.ack(8);
    assert_eq!(b.numbers(), [10], "the last one goes");
    b.ack(8);
    assert_eq!(b.numbers(), [], "once in a recovery");
    // The SACK of segment 10 shows that segment 9 is missing. HighRxt is below segment 9, so rule 3
    // retransmits it.
    b.sack(8, &[(10, 10)]);
    assert_eq!(b.numbers(), [9]);
    b.ack(10);
    assert_eq!(b.state(), RecoveryState::Open);
    assert_eq!(b.sender.statistics.timeouts, 0);
    assert_eq!(b.sender.statistics.retransmitted_segments, 3);
}

#[test]
fn an_acknowledgment_of_the_first_repair_alone_rescues_nothing() {
    // Rule 4 retransmits only if HighACK is above RescueRxt, which the first repair alone does not
    // achieve.
    let mut b = recovering(&[1, 9, 10]);
    b.arrive(b.sacking(1, &[(2, 8)]));
    assert_eq!(b.numbers(), []);
    b.ack(2);
    assert_eq!(b.numbers(), [10]);
}

#[test]
fn a_rescue_counts_once_in_the_pipe() {
    // Only a retransmission by rule 3 counts both copies in the pipe, and the rescue is sent by
    // rule 4.
    let mut b = recovering(&[1, 9, 10]);
    b.ack(8);
    assert_eq!((b.numbers(), b.sender.in_flight()), (vec![10], 2));
    b.sack(8, &[(10, 10)]);
    assert_eq!((b.numbers(), b.sender.in_flight()), (vec![9], 2));
}

#[test]
fn each_recovery_has_a_rescue() {
    let mut b = recovering(&[1, 9, 10]);
    b.ack(8);
    assert_eq!(b.numbers(), [10]);
    b.ack(10);
    b.sender.window.cwnd = 20.0;
    b.write(10);
    b.left();
    for last in 12..=18 {
        b.sack(10, &[(12, last)]);
    }
    assert_eq!(b.numbers(), [11]);
    b.ack(18);
    assert_eq!(b.numbers(), [20]);
}

#[test]
fn no_rescue_goes_where_new_data_may() {
    let mut b = recovering(&[1, 9, 10]);
    b.write(1);
    b.left();
    b.ack(8);
    assert_eq!(b.numbers(), [11]);
    // Rule 2: data beyond the peer's window does not count as new data.
    let mut b = recovering(&[1, 9, 10]);
    b.sender.snd_wnd = 10 * FULL;
    b.peer_window = 2 * FULL;
    b.write(1);
    b.left();
    b.ack(8);
    assert_eq!(b.numbers(), [10]);
}

#[test]
fn linux_and_what_has_no_sack_know_no_rescue() {
    let mut b = Bench::sent(&without_probes(), 10);
    for last in 2..=8 {
        b.sack(0, &[(2, last)]);
    }
    b.ack(8);
    assert!(b.numbers().iter().all(|n| *n < 9));
    let mut b = Bench::sent(&profile("newreno"), 10);
    for _ in 0..7 {
        b.ack(0);
    }
    b.left();
    b.ack(8);
    assert_eq!(b.numbers(), [9], "a partial acknowledgment");
}

#[test]
fn a_timeout_forgets_what_was_repaired_before_it() {
    // Segments 1 and 9 are lost, and 11 is late. The first recovery also retransmits 9, by rule 3.
    let mut b = Bench::new(&profile("rfc").changed(|tcp| {
        tcp.initial_window = 11;
        tcp.recovery.frto = true;
    }));
    b.write(11);
    b.wait(100);
    b.left();
    for last in 2..=8 {
        b.sack(0, &[(2, last)]);
    }
    b.sender.window.cwnd = 8.0;
    b.sack(0, &[(10, 10), (2, 8)]);
    assert_eq!(b.numbers(), [1, 9]);
    for _ in 0..2 {
        b.sender.timer = Some((TimerKind::Rto, b.now));
        b.wait(0);
    }
    assert_eq!(b.numbers(), [1, 1]);
    // F-RTO learns from segment 11 that the timeout was spurious. In the next recovery segment 1 is
    // in flight, and 9 is not.
    b.sack(0, &[(10, 11), (2, 8)]);
    assert_eq!(b.sender.statistics.undos, 1);
    b.sack(0, &[(10, 11), (2, 8)]);
    assert_eq!(b.state(), RecoveryState::Recovery);
    assert_eq!(b.numbers(), [9]);
}
