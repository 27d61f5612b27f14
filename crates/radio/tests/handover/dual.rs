//! Walks of a UE with two legs: its master changes cell, and the secondary one goes with it.

use super::street::{Case, books_close_in, case, cell, run};
use super::{case_over_links, may_reorder};
use fadeout_core::random::Stream;
use fadeout_core::{Bytes, CellId, HandoverOutcome, Hertz, RrcEvent, Span};
use fadeout_radio::access::{BearerConfig, CarrierLegs, DataForwarding, LegChoice, SplitConfig};
use fadeout_radio::pdcp::{Delivery, PdcpConfig};
use fadeout_radio::rlc::RlcConfig;
use fadeout_radio::user_plane::FlowControlConfig;
use fadeout_testkit::Cases;

/// A case whose UE begins in the first cell and in a further one of NR on a carrier of its own, with a split bearer.
fn two_legs(random: &mut Stream) -> Case {
    let is_nr = random.chance(0.5);
    let rlc = super::street::rlc(is_nr, true);
    let mut case = match random.chance(0.5) {
        true => case_over_links(random, rlc, is_nr),
        false => case(random, rlc, is_nr),
    };
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
    let pdcp = PdcpConfig {
        delivery: Delivery::InOrder(None),
        ..PdcpConfig::NR
    };
    case.config.bearers[0] = BearerConfig {
        pdcp,
        split: Some(SplitConfig {
            leg: Some(1),
            carriers: CarrierLegs::NONE,
            choice: LegChoice::Demand,
            rlc: RlcConfig {
                buffer: Bytes(100_000_000),
                ..RlcConfig::NR_AM
            },
            pdcp_sn_bits: pdcp.sn_bits,
            primary: u8::from(random.chance(0.5)),
            thresholds: [0, 1].map(|_| {
                random
                    .chance(0.8)
                    .then(|| Bytes([0, 400, 3200][random.below(3) as usize]))
            }),
            duplicates: [false; 2],
            flow_control: FlowControlConfig::USUAL,
        }),
        ..case.config.bearers[0]
    };
    if case.links.0.is_zero() {
        case.links.0 = Span::from_millis(random.below(20));
    }
    case
}

#[test]
fn only_a_lost_connection_loses_anything_and_the_secondary_leg_goes_with_the_first_change() {
    let (mut well, mut released, mut ordered, mut failures) = (0, 0, 0, 0);
    // A case costs some 60 ms.
    let cases = Cases::new(80);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.dual", 0);
        let case = two_legs(&mut random);
        let loses_markers = case.loses_markers;
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        let is_ordered = !may_reorder(&outcomes, loses_markers);
        books_close_in((&outcomes, is_ordered), seed);
        ordered += u32::from(is_ordered);
        let count = |event| {
            let steps = outcomes.rows.steps.iter();
            steps.filter(|row| row.event == event).count()
        };
        let goes = count(RrcEvent::SecondaryReleased);
        assert!(goes <= 1, "seed {seed}: it goes once");
        released += goes;
        failures += count(RrcEvent::SecondaryFailed);
        let rows = outcomes.rows.handovers.iter();
        let left = rows.filter(|row| row.outcome == HandoverOutcome::Success);
        let left = left.count();
        assert!(
            left == 0 || goes == 1,
            "seed {seed}: it goes with the first change"
        );
        well += left;
        if count(RrcEvent::Released) == 0 {
            let drops = &outcomes.rows.drops;
            assert!(drops.is_empty(), "seed {seed}: {:?}", drops[0]);
        }
    });
    assert!(
        !cases.is_whole() || well > 100 && released > 40 && ordered > 10 && failures > 5,
        "{well} well, {released} released, {failures} failures, {ordered} runs in order"
    );
}

#[test]
fn without_forwarding_every_loss_has_its_cause() {
    let mut lost = 0;
    let cases = Cases::new(40);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.dual-lossy", 0);
        let mut case = two_legs(&mut random);
        case.mobility.data = DataForwarding::Dropped;
        case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        case.links.1 = random.uniform_in(0.0, 0.3);
        case.loses_forwarded = random.uniform_in(0.0, 0.3);
        let outcomes = run(case, seed, Span::from_millis(3), Span::from_secs(12));
        books_close_in((&outcomes, false), seed);
        lost += outcomes.rows.drops.len();
    });
    assert!(!cases.is_whole() || lost > 100, "{lost} packets lost");
}
