//! Tests of single rules of a leg. Each case would fail if a similar rule were implemented instead.

use super::*;
use crate::config::technology::{Carrier, Radio};
use crate::phy::mcs::McsTable;
use crate::phy::sub_band::BandSet;
use crate::wire::BufferStatus;
use fadeout_core::registry::{Parameters, Value};

fn block(bytes: u32) -> Block {
    Block {
        shape: shape(bytes),
        cqi: 7,
    }
}

#[test]
fn a_leg_is_its_own_primary_unless_it_is_beside_one() {
    let mut leg = leg(&plan(lte())).leg;
    leg.config.id = LegId(3);
    assert_eq!(leg.primary(), LegId(3));
    assert!(leg.carriers.carry(DOWN) && !leg.carriers.carry(UP));
    leg.carriers.add(LegId(4), false);
    assert!(!leg.carriers.carry(UP));
    leg.carriers.add(LegId(5), true);
    assert!(leg.carriers.carry(UP));
    assert_eq!(leg.carriers.scells(), [LegId(4), LegId(5)]);
    leg.carriers = Carriers::for_secondary(LegId(1), &Aggregation::NONE);
    assert_eq!(leg.primary(), LegId(1));
}

#[test]
fn a_look_tells_what_the_one_before_found() {
    let mut leg = leg(&plan(lte()));
    assert!(
        leg.on_evaluation(false),
        "nothing was heard before the first"
    );
    assert!(!leg.on_evaluation(true));
    assert!(leg.on_evaluation(true));
}

#[test]
fn a_block_that_is_sent_again_takes_its_slot_and_lies_where_it_is_put() {
    let plan = plan(failing(1.0));
    let mut leg = leg(&plan);
    let (first, _) = exchange(&mut leg, &plan, 0);
    let (second, _) = exchange(&mut leg, &plan, 1);
    assert!(!leg.down.is_idle());
    leg.down.resume(first, 12);
    assert_eq!(leg.down.repetition(12, 12), None, "the slot is taken");
    assert_eq!(leg.down.repetition(12, 13), Some((second, shape(500))));
    let mut bands = BandSet::default();
    bands.insert(2);
    leg.down.set_bands(first, bands);
    assert_eq!(leg.down.block(first).shape.bands, bands);
}

#[test]
fn a_leg_that_is_left_knows_nothing_any_more() {
    let plan = plan(failing(1.0));
    let mut leg = leg(&plan);
    leg.channels.add(DrbId(0), &BearerConfig::lte(UeId(0)));
    exchange(&mut leg, &plan, 0);
    leg.downlink_scheme(&plan, 20, |_, _, _| (9, 0));
    leg.on_evaluation(false);
    leg.up.is_stalled = true;
    let mut unsent = [Vec::new(), Vec::new()];
    leg.reset(&mut unsent);
    assert_eq!(unsent.map(|contents| contents.len()), [1, 0]);
    assert_eq!(leg.channels.bearers().count(), 0);
    assert!(leg.down.is_idle() && !leg.up.is_stalled);
    assert_eq!(leg.down.outer_loop.offset_db(), 0.0);
    assert!(leg.on_evaluation(true), "as before the first look");
    let asked = leg.downlink_scheme(&plan, 20, |_, _, _| (3, 0));
    assert_eq!(
        asked.map(|(_, cqi)| cqi),
        Some(3),
        "the report is not known"
    );
}

#[test]
fn what_is_left_to_do_is_for_a_slot_to_come() {
    let plan = plan(failing(1.0));
    let mut leg = leg(&plan);
    exchange(&mut leg, &plan, 0);
    // The block may be retransmitted from slot 8 on. After slot 30 the next slot is 31, and after
    // slot 3 the next slot is 8.
    assert_eq!(leg.downlink_ready(&plan, 30, (0, None), false), 31);
    assert_eq!(leg.downlink_ready(&plan, 3, (0, None), false), 8);
    // A block as large as the waiting data stays empty only if an RLC window is stalled, so the leg
    // waits until slot 8. A smaller block is followed by the next slot.
    assert_eq!(leg.ready_after_nothing(5, 1000, 1000), 8);
    assert_eq!(leg.ready_after_nothing(5, 999, 1000), 6);
}

#[test]
fn the_uplink_is_looked_at_when_a_process_a_repetition_or_the_range_says() {
    let plan = plan(CellConfig {
        harq: CellHarqConfig {
            uplink_processes: 1,
            ..CellHarqConfig::with_processes(8)
        },
        ..failing(1.0)
    });
    let mut leg = leg(&plan);
    let ready = |leg: &mut Alone, slot, is_out_of_range| {
        let requests = &leg.requests;
        leg.leg.uplink_ready(requests, &plan, slot, is_out_of_range)
    };
    assert_eq!(ready(&mut leg, 20, false), NO_SLOT, "nothing is wanted");
    assert_eq!(ready(&mut leg, 20, true), 20 + 40, "LTE has slots of 1 ms");
    leg.request(&plan, Time::ZERO);
    assert_eq!(ready(&mut leg, 20, false), 21);
    assert!(leg.may_be_granted(20, 24));
    assert_eq!(leg.free_uplink(20), Some(0));
    leg.grant(&plan, 0, block(256), 24);
    assert_eq!(leg.free_uplink(21), None);
    leg.requests.known = 500;
    assert_eq!(ready(&mut leg, 20, false), NO_SLOT);
    assert!(leg.up.is_stalled, "the only process is busy");
    leg.on_filled(&plan, millis(24), 0, (Some(content()), 500));
    leg.send_uplink(&plan, (0, 24), 5.0);
    leg.decode(&plan, (UP, 0), 0.0, &mut NullProbe);
    let again_from = leg.up.harq.process(0).again_from();
    assert_eq!(ready(&mut leg, 25, false), again_from);
    assert_eq!(ready(&mut leg, again_from + 9, false), again_from + 10);
    // The transport block failed, so the uplink resumes with its retransmission, even if no other
    // data waits.
    leg.requests.known = 0;
    let resumes = leg.uplink_resumes(&leg.requests, &plan, 0);
    assert_eq!(resumes, Some(again_from));
}

#[test]
fn nothing_resumes_where_nothing_is_wanted() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    leg.grant(&plan, 0, block(256), 20);
    leg.on_filled(&plan, millis(20), 0, (Some(content()), 0));
    leg.send_uplink(&plan, (0, 20), 5.0);
    leg.decode(&plan, (UP, 0), 0.0, &mut NullProbe);
    assert_eq!(leg.uplink_resumes(&leg.requests, &plan, 0), None);
}

#[test]
fn a_ue_is_heard_by_its_request_its_grant_or_its_report() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    assert!(!leg.requests.is_heard() && !leg.requests.is_known());
    leg.grant(&plan, 0, block(256), 20);
    assert!(leg.requests.is_heard(), "granted, though it did not ask");
    assert_eq!(leg.requests.on_repeat(&plan, millis(1000)), Repeat::No);
    leg.on_filled(&plan, millis(20), 0, (Some(content()), 700));
    assert!(leg.requests.is_heard(), "it reports 700 bytes");
    assert!(!leg.requests.is_known(), "which nobody has read yet");
    leg.send_uplink(&plan, (0, 20), 5.0);
    leg.on_report(0);
    assert!(leg.requests.is_known());
    // The UE skips a grant, which shows that no data waits. The earlier report is then obsolete.
    leg.grant(&plan, 1, block(256), 21);
    leg.leg.skip_grant(&mut leg.requests, 1, 21);
    leg.on_report(0);
    assert!(!leg.requests.is_known());
}

#[test]
fn a_ue_with_bytes_left_asks_again_later_and_one_without_does_not() {
    let plan = plan(lte());
    let after = plan.config.requests.repeat_after;
    for (left, expected) in [(500, millis(50) + after), (0, millis(10) + after)] {
        let mut leg = leg(&plan);
        leg.requests = UplinkRequests::new(UeId(0), 0, &plan, 1);
        leg.request(&plan, millis(9));
        let first = leg.requests.arm_repeat().expect("armed");
        assert!(first.0 > millis(9) + after && first.0 <= millis(19) + after);
        leg.grant(&plan, 0, block(256), 50);
        leg.on_filled(&plan, millis(50), 0, (Some(content()), left));
        assert!(!leg.requests.fire_repeat(first.1 + 1), "of another time");
        assert!(leg.requests.fire_repeat(first.1));
        let (at, _) = leg.requests.arm_repeat().expect("armed anew");
        match left {
            0 => assert_eq!(at, first.0, "{expected:?}"),
            _ => assert_eq!(at, expected),
        }
    }
}

#[test]
fn what_a_reset_forgets_is_what_was_under_way() {
    let plan = plan(CellConfig {
        configured_grant: Some(ConfiguredGrant {
            period: 8,
            units: 3,
            scheme: 4,
        }),
        ..failing(0.0)
    });
    let mut requests = UplinkRequests::new(UeId(13), 0, &plan, 1);
    assert_eq!(requests.occasion(), 5, "13 in a period of 8");
    requests.keep_occasions();
    let mut leg = leg(&plan);
    leg.requests = requests;
    leg.request(&plan, millis(3));
    leg.grant(&plan, 0, block(300), 20);
    let armed = leg.requests.arm_repeat();
    leg.requests.reset();
    assert!(
        leg.requests.has_occasions(),
        "its occasions are kept for it"
    );
    assert_eq!((leg.requests.sent(), leg.requests.occasion()), (1, 5));
    assert_eq!(
        leg.requests.arm_repeat(),
        None,
        "it still asks again when it would have"
    );
    assert!(leg.requests.fire_repeat(armed.expect("armed").1));
    // Grants from before the reset are not subtracted from the bytes of a later report.
    leg.grant(&plan, 1, block(200), 30);
    leg.on_filled(&plan, millis(30), 1, (Some(content()), 1000));
    leg.send_uplink(&plan, (1, 30), 5.0);
    leg.on_report(1);
    assert_eq!(leg.requests.known, leg.requests.status().reported(1000));
    // The block with this report was sent before the reset, so its report is ignored.
    leg.requests.reset();
    leg.on_report(1);
    assert!(!leg.requests.is_known());
    leg.requests.leave();
    assert!(!leg.requests.has_occasions());
}

#[test]
fn a_ue_with_uplink_in_several_cells_reports_in_ltes_extended_form() {
    let lte = plan(lte());
    let mut requests = UplinkRequests::new(UeId(0), 0, &lte, 1);
    assert_eq!(requests.status(), BufferStatus::Lte);
    requests.aggregate();
    assert_eq!(requests.status(), BufferStatus::LteExtended);
    let nr = CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 51).expect("a cell");
    let nr = plan(nr);
    let mut requests = UplinkRequests::new(UeId(0), 0, &nr, 1);
    let before = requests.status();
    requests.aggregate();
    assert_eq!(requests.status(), before);
}

#[test]
fn an_occasion_has_the_resources_of_its_grant() {
    let grant = ConfiguredGrant {
        period: 8,
        units: 3,
        scheme: 4,
    };
    let plan_of = |adaptation| {
        plan(CellConfig {
            configured_grant: Some(grant),
            adaptation,
            ..lte()
        })
    };
    let shape_of = |plan: &CellPlan| {
        let mut leg = leg(plan);
        leg.requests.keep_occasions();
        leg.use_configured_grant(plan, Time::ZERO, 0).expect("free");
        leg.up.block(0).shape
    };
    let plan = plan_of(lte().adaptation);
    let shape = shape_of(&plan);
    assert_eq!((shape.scheme, shape.symbols, shape.units), (4, 14, 3));
    assert_eq!(shape.bytes, plan.up.bytes(14, 4, 3));
    // With a fixed scheme, blocks of configured grants use the scheme that the cell gives. Scheme
    // 12 is six positions after scheme 6.
    let fixed = |index| Adaptation::FixedScheme {
        index,
        table: McsTable::Qam64,
    };
    let (low, high) = (shape_of(&plan_of(fixed(6))), shape_of(&plan_of(fixed(12))));
    assert!(
        low.scheme >= 2 && high.scheme == low.scheme + 6,
        "{low:?} {high:?}"
    );
    assert!(high.bytes > low.bytes);
}

#[test]
fn a_request_of_tdd_is_in_a_slot_with_uplink() {
    let key = |name: &str, value: Value| (name.to_owned(), value);
    let given = Parameters(vec![
        key("duplex", Value::Choice("DDDSU".to_owned())),
        key("sr-period", Value::Number(1.0)),
    ]);
    let carrier = Carrier {
        site: Point::default(),
        carrier: Hertz(3.5e9),
        bandwidth: Hertz(20e6),
    };
    let cell = Radio::new("nr", &given).expect("its name").cell(&carrier);
    let plan = plan(cell.expect("a cell"));
    for slot in 0..20 {
        let request = leg(&plan).request(&plan, plan.frame.start_of(slot));
        // The request is sent in the last of five slots, or in the special slot before it,
        // whichever is next.
        assert!(request.slot >= slot && request.slot < slot + 5, "{slot}");
        assert!([3, 4].contains(&(request.slot % 5)), "{slot}");
        let least = plan.config.timing.feedback_symbols.clamp(1, 2);
        assert!(plan.frame.format(request.slot).uplink >= least);
        let earlier = (slot..request.slot).all(|slot| plan.frame.format(slot).uplink < least);
        assert!(earlier, "{slot}: there was one before");
    }
}

#[test]
fn the_scheme_of_a_part_of_the_band_is_that_of_the_mean_efficiency_there() {
    let plan = plan(lte());
    let mut leg = leg(&plan);
    leg.downlink_scheme(&plan, 20, |_, _, bands| {
        bands[..3].copy_from_slice(&[12, 5, 9]);
        (9, 0)
    });
    let adaptation = plan.down.adaptation().expect("schemes are chosen");
    let over = |leg: &Leg, units: &[u8]| leg.scheme_over(&plan, units).expect("in range");
    for (units, cqi) in [([3, 0, 0], 12), ([0, 1, 0], 5), ([0, 0, 2], 9)] {
        let (scheme, found) = over(&leg, &units);
        assert_eq!(found, cqi, "one sub-band is what it reports");
        let mcs = adaptation.scheme(cqi, 0.0).expect("in range");
        assert_eq!(usize::from(scheme), plan.down.position(&mcs, 0));
    }
    let efficiency = |cqi| adaptation.efficiency_of_cqi(cqi);
    let mean = (3.0 * efficiency(12) + efficiency(5)) / 4.0;
    let (expected, _) = adaptation.report_of_efficiency(mean).expect("in range");
    let (mixed, cqi) = over(&leg, &[3, 1, 0]);
    assert_eq!(cqi, expected);
    assert!(cqi > 5 && cqi < 12);
    // Failures lower the outer loop's offset, and thus the scheme for sub-bands, as for the whole
    // band.
    for _ in 0..8 {
        leg.down
            .outer_loop
            .on_feedback(&OuterLoopConfig::default(), false);
    }
    assert!(over(&leg, &[3, 1, 0]).0 < mixed);
    assert_eq!(leg.sub_band_cqi()[..3], [12, 5, 9]);
}

#[test]
fn contents_are_kept_apart_and_used_again() {
    let mut contents = Contents::new(1000);
    let (one, other) = (contents.claim(), contents.claim());
    contents.content_mut(one).bearers.push((DrbId(3), 1));
    contents.content_mut(one).block.pdus.push(Pdu::default());
    assert_eq!(contents.content(one).bearers, [(DrbId(3), 1)]);
    assert!(contents.content(other).bearers.is_empty());
    let taken = contents.take_content(one);
    assert_eq!(taken.block.pdus.len(), 1);
    assert!(contents.content(one).bearers.is_empty());
    contents.put_back(one, taken);
    // The content that was freed last is claimed next. It is empty.
    assert_eq!(contents.claim(), one);
    assert!(contents.content(one).bearers.is_empty());
    assert!(contents.content(one).block.pdus.is_empty());
}

#[test]
fn only_bearers_with_something_in_a_block_are_named_in_it_and_rates_are_charged() {
    let plan = plan(lte());
    let mut leg = leg(&plan);
    let limited = |priority| BearerConfig {
        channel: LogicalChannel {
            priority,
            prioritised_bit_rate: Some(Rate::from_bits_per_sec(800_000)),
            bucket_size_duration: Span::from_millis(100),
        },
        ..BearerConfig::lte(UeId(0))
    };
    leg.channels.add(DrbId(0), &limited(3));
    assert_eq!(leg.channels.bearer(1), None);
    leg.channels.add(DrbId(1), &limited(9));
    let mut queues = Waiting(vec![(0, 0), (0, 1000)]);
    let mut content = Content::default();
    leg.channels
        .fill(millis(50), DOWN, 600, &mut content, &mut queues);
    assert!(
        content
            .bearers
            .iter()
            .all(|&(bearer, _)| bearer == DrbId(1))
    );
    // After 50 ms bearer 0 may send 5000 bytes. Bearer 1 may send 4400 bytes, because it has sent
    // 600. Bearer 0 is more urgent and also gets the remaining 600 bytes of the block.
    let mut queues = Waiting(vec![(0, 20_000), (0, 20_000)]);
    let mut content = Content::default();
    leg.channels
        .fill(millis(50), DOWN, 10_000, &mut content, &mut queues);
    assert_eq!(queues.0, [(0, 20_000 - 5600), (0, 20_000 - 4400)]);
}

#[test]
fn a_ue_that_falls_asleep_is_not_sent_to_in_the_slot_after_its_last() {
    let plan = plan(CellConfig {
        drx: Some(DrxConfig {
            cycle: Span::from_millis(40),
            on_duration: Span::from_millis(4),
            inactivity: Span::from_millis(10),
        }),
        ..failing(0.0)
    });
    let mut leg = leg(&plan);
    leg.drx_offset = Span::from_millis(7);
    assert!(leg.may_send_new(&plan, 10) && !leg.may_send_new(&plan, 11));
    assert_eq!(leg.downlink_ready(&plan, 10, (100, None), false), 47);
    assert_eq!(leg.downlink_ready(&plan, 8, (100, None), false), 9);
}

#[test]
fn whether_a_block_arrives_is_by_its_sinr_and_by_what_came_before_of_it() {
    let plan = plan(lte());
    let tried = |sinrs: &[f64]| {
        let arrives = |nth: &u64| {
            let mut leg = Alone::new(leg(&plan).config, *nth, &plan, 1);
            let block = (shape(500), 7);
            let process = leg.start_downlink(&plan, (millis(0), 0), block, content());
            let process = process.expect("it is free");
            let last = sinrs.len() - 1;
            sinrs.iter().enumerate().all(|(round, &sinr_db)| {
                if round > 0 {
                    leg.down.resume(process, 8 * round as u64);
                }
                leg.down
                    .sent(process, 8 * round as u64, 8 * round as u64 + 8);
                let decoding = leg.decode(&plan, (DOWN, process), sinr_db, &mut NullProbe);
                decoding.is_some_and(|decoding| decoding.is_ok == (round == last))
            })
        };
        (0..40).filter(arrives).count()
    };
    assert_eq!(tried(&[30.0]), 40);
    assert_eq!(tried(&[-30.0]), 0);
    // Finds the highest SINR at which a single transmission always fails. Two combined
    // transmissions with this SINR always succeed.
    let alone = (-200..200).map(|tenth| f64::from(tenth) / 10.0);
    let too_little = alone.take_while(|&sinr_db| tried(&[sinr_db]) == 0).last();
    let too_little = too_little.expect("the lowest is too little");
    assert_eq!(tried(&[too_little, too_little]), 40, "{too_little} dB");
}

#[test]
fn layers_share_the_power_of_a_ue() {
    let cqi = |uplink_layers, sinr_db| {
        let plan = plan(CellConfig {
            uplink_layers,
            rank: crate::config::Rank::Fixed,
            ..lte()
        });
        let mut air = Uplink {
            sinr_db,
            blocks: 50,
        };
        let choice = leg(&plan).uplink_choice(&plan, 20, (14, 17, 1_000_000), &mut air);
        choice.expect("in range").cqi
    };
    let half = fadeout_core::math::to_db(2.0);
    assert_eq!(cqi(2, 20.0 + half), cqi(1, 20.0));
    assert!(cqi(2, 20.0) < cqi(1, 20.0));
}

#[test]
fn an_opportunity_without_uplink_is_followed_by_the_next_one() {
    let given = Parameters(vec![(
        "duplex".to_owned(),
        Value::Choice("DDDSU".to_owned()),
    )]);
    let carrier = Carrier {
        site: Point::default(),
        carrier: Hertz(3.5e9),
        bandwidth: Hertz(20e6),
    };
    let cell = Radio::new("nr", &given).expect("its name").cell(&carrier);
    let mut cell = cell.expect("a cell");
    cell.requests.period = 4;
    cell.requests.offset = Some(0);
    let plan = plan(cell);
    // Every fourth slot is an opportunity. Every fifth slot is an uplink slot, so only the
    // opportunities 4, 24 and 44 can be used. The request after slot 9 is sent in slot 24.
    assert_eq!(leg(&plan).request(&plan, plan.frame.start_of(9)).slot, 24);
    assert_eq!(
        leg(&plan).request(&plan, plan.frame.start_of(25)).slot % 4,
        0
    );
}
