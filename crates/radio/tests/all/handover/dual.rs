//! Tests of random walks of a UE with two legs. The master node's cell changes, and the secondary
//! leg is released.

use super::street::{Case, Outcomes, cell, count};
use super::{any_case, loses_only_with_the_connection, walk, walk_in_any_order};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, CellId, Direction, HandoverOutcome, Hertz, RrcEvent, Span};
use fadeout_radio::access::{
    BearerConfig, CarrierLegs, DataForwarding, LegChoice, LegCounters, SplitConfig,
};
use fadeout_radio::pdcp::{Delivery, PdcpConfig};
use fadeout_radio::rlc::RlcConfig;
use fadeout_radio::user_plane::FlowControlConfig;
use fadeout_testkit::Cases;

/// Returns a case whose UE has two legs at the start: the first cell, and an NR cell on another
/// carrier. Its bearer is split.
fn two_legs(random: &mut Stream) -> Case {
    let is_nr = random.chance(0.5);
    let rlc = super::street::rlc(is_nr, true);
    let mut case = any_case((random, 0.5), rlc, is_nr);
    let second = case.config.cells.len() as u32;
    let mut small = cell(
        true,
        random.uniform_in(0.0, 100.0),
        random.uniform_in(-60.0, 20.0),
    );
    small.carrier = Hertz(2.6e9);
    case.config.cells.push(small);
    case.mobility.stations.push(second);
    let ue = &mut case.config.ues[0];
    ue.pscell = Some(CellId(second));
    split(random, &mut case, (RlcConfig::NR_AM, LegChoice::Demand));
    case
}

/// Splits the bearer of a case, in acknowledged mode, over two legs. `far` is the RLC configuration
/// of the secondary leg. In some cases PDCP duplicates packets.
pub(super) fn split(random: &mut Stream, case: &mut Case, (far, choice): (RlcConfig, LegChoice)) {
    let pdcp = PdcpConfig {
        delivery: Delivery::InOrder(None),
        ..PdcpConfig::NR
    };
    let primary = u8::from(random.chance(0.5));
    let thresholds = [0, 1].map(|_| {
        random
            .chance(0.8)
            .then(|| Bytes([0, 400, 3200][random.below(3) as usize]))
    });
    if case.links.0.is_zero() {
        case.links.0 = Span::from_millis(random.below(20));
    }
    case.config.bearers[0] = BearerConfig {
        pdcp,
        split: Some(SplitConfig {
            leg: Some(1),
            carriers: CarrierLegs::NONE,
            choice,
            rlc: RlcConfig {
                buffer: Bytes(100_000_000),
                ..far
            },
            pdcp_sn_bits: pdcp.sn_bits,
            primary,
            thresholds,
            duplicates: [0, 1].map(|_| random.chance(0.4)),
            flow_control: FlowControlConfig::USUAL,
        }),
        ..case.config.bearers[0]
    };
}

/// Sums of the leg counters over all runs.
#[derive(Debug, Default)]
pub(super) struct CopyCounts {
    /// Runs in which PDCP duplicated in either direction.
    runs: u32,
    copies: u64,
    discarded: u64,
    useless: u64,
}

impl CopyCounts {
    /// Adds the counters of a run. Asserts that PDCP received no more PDUs than were given to the
    /// legs. Without duplication, no PDU goes over two legs and none is discarded.
    pub(super) fn add(&mut self, outcomes: &Outcomes, duplicates: [bool; 2], seed: u64) {
        self.runs += u32::from(duplicates.contains(&true));
        for direction in [Direction::Downlink, Direction::Uplink] {
            let legs = &outcomes.legs[direction.index()];
            if legs.is_empty() {
                continue;
            }
            let sum = |of: fn(&LegCounters) -> u64| legs.iter().map(of).sum::<u64>();
            let arrivals = outcomes.arrivals.iter();
            let arrived = arrivals.filter(|&&it| outcomes.put[it as usize] == direction);
            let (useless, given) = (sum(|leg| leg.useless), sum(|leg| leg.packets));
            let came = arrived.count() as u64 + useless;
            assert!(came <= given, "seed {seed}: {came} of {given} came");
            let (copies, discarded) = (sum(|leg| leg.copies), sum(|leg| leg.discarded));
            if !duplicates[direction.index()] {
                assert_eq!((copies, discarded), (0, 0), "seed {seed}");
                continue;
            }
            self.copies += copies;
            self.discarded += discarded;
            self.useless += useless;
        }
    }

    /// Returns true if enough PDUs were copied, received twice, and discarded by a leg because the
    /// other leg had delivered them.
    pub(super) fn is_rich(&self) -> bool {
        self.runs > 10 && self.copies > 10_000 && self.discarded > 100 && self.useless > 1000
    }
}

/// Returns for each direction whether the bearer of a case duplicates.
pub(super) fn duplicates(case: &Case) -> [bool; 2] {
    let split = case.config.bearers[0].split;
    split.map_or([false; 2], |split| split.duplicates)
}

#[test]
fn only_a_lost_connection_loses_anything_and_the_secondary_leg_goes_with_the_first_change() {
    let (mut well, mut released, mut ordered, mut failures) = (0, 0, 0, 0);
    // The counters of released legs are not included.
    let mut copied = CopyCounts::default();
    // A case takes about 60 ms, so a usual run has only the first 25 cases.
    let cases = Cases::new(80).first(14);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.dual", 0);
        let case = two_legs(&mut random);
        let doubled = duplicates(&case);
        let (outcomes, is_ordered) = walk(case, seed);
        copied.add(&outcomes, doubled, seed);
        ordered += u32::from(is_ordered);
        let goes = count(&outcomes, RrcEvent::SecondaryReleased);
        assert!(goes <= 1, "seed {seed}: it goes once");
        released += goes;
        failures += count(&outcomes, RrcEvent::SecondaryFailed);
        let rows = outcomes.rows.handovers.iter();
        let left = rows.filter(|row| row.outcome == HandoverOutcome::Success);
        let left = left.count();
        assert!(
            left == 0 || goes == 1,
            "seed {seed}: it goes with the first change"
        );
        well += left;
        loses_only_with_the_connection(&outcomes, seed);
    });
    assert!(
        !cases.is_whole()
            || well > 100 && released > 40 && ordered > 10 && failures > 5 && copied.runs > 20,
        "{well} well, {released} released, {failures} failures, {ordered} runs in order, {copied:?}"
    );
}

#[test]
fn without_forwarding_every_loss_has_its_cause() {
    let mut lost = 0;
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.dual-lossy", 0);
        let mut case = two_legs(&mut random);
        case.mobility.data = DataForwarding::Dropped;
        case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        let outcomes = walk_in_any_order(case, seed);
        lost += outcomes.rows.drops.len();
    });
    assert!(!cases.is_whole() || lost > 100, "{lost} packets lost");
}
