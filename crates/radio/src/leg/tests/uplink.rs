//! Tests of a UE's uplink access, and of the base station's knowledge of the UE's buffer.

use super::*;
use crate::config::MeasurementGaps;
use crate::phy::frame::Duplex;
use crate::phy::lte_tdd::LteTdd;
use crate::phy::timing::Timing;

#[test]
fn a_ue_asks_at_its_opportunity_and_again_when_nobody_answers() {
    let plan = plan(CellConfig {
        requests: RequestConfig {
            offset: Some(3),
            prohibit: Span::from_millis(15),
            ..RequestConfig::every(10)
        },
        ..lte()
    });
    let mut leg = leg(&plan);
    assert!(!leg.requests.is_heard());
    let request = leg.request(&plan, millis(5));
    // The UE sends its request in slot 13. The base station answers at least three slots after the
    // end of that slot, so in slot 17.
    assert_eq!((request.slot, request.answered_from), (13, 17));
    assert!(leg.requests.is_heard());
    assert_eq!(leg.uplink_wanted(&plan), 256, "the first grant");
    let (at, generation) = leg.requests.arm_repeat().expect("it will ask again");
    assert_eq!(at, millis(113));
    assert!(leg.requests.fire_repeat(generation));
    assert_eq!(leg.requests.on_repeat(&plan, millis(100)), Repeat::Later);
    assert_eq!(leg.requests.on_repeat(&plan, at), Repeat::Ask);
    assert_eq!(leg.request(&plan, at).slot, 113);
    // sr-ProhibitTimer runs past the next opportunity in slot 123, so the UE uses slot 133.
    assert_eq!(leg.request(&plan, at).slot, 133);
    assert_eq!(leg.requests.sent(), 3);
    // A MAC reset stops sr-ProhibitTimer (TS 38.321 clause 5.12), so the UE may use slot 113 again.
    leg.requests.reset();
    assert_eq!(leg.request(&plan, at).slot, 113);
}

#[test]
fn a_request_that_is_not_needed_any_more_is_not_sent_and_starts_no_timer() {
    let plan = plan(CellConfig {
        requests: RequestConfig {
            offset: Some(3),
            prohibit: Span::from_millis(15),
            ..RequestConfig::every(10)
        },
        ..lte()
    });
    let mut leg = leg(&plan);
    let block = Block {
        shape: shape(256),
        cqi: 7,
    };
    // The request waits for slot 13. A grant for slot 10 carries all waiting data, so no request is
    // sent.
    assert_eq!(leg.request(&plan, millis(5)).slot, 13);
    leg.grant(&plan, 0, block, 10);
    let requested_at = leg.on_filled(&plan, millis(10), 0, (Some(content()), 0));
    assert_eq!((requested_at, leg.requests.sent()), (None, 0));
    assert_eq!(leg.request(&plan, millis(11)).slot, 13);
    // This request is sent in slot 13, so sr-ProhibitTimer runs until 28 ms. The next request is
    // sent at the opportunity in slot 33.
    leg.grant(&plan, 1, block, 17);
    let requested_at = leg.on_filled(&plan, millis(17), 1, (Some(content()), 0));
    assert_eq!((requested_at, leg.requests.sent()), (Some(millis(13)), 1));
    assert_eq!(leg.request(&plan, millis(18)).slot, 33);
}

#[test]
fn gaps_that_take_every_opportunity_delay_a_request_by_one_of_them() {
    // The TDD pattern is DSUUDDSUUD. Subframe 2 of every second frame is an opportunity. All
    // opportunities lie in measurement gaps of 6 ms.
    let tdd = LteTdd::new(1).expect("0 to 6");
    let plan = plan(CellConfig {
        duplex: Duplex::Tdd(tdd.pattern(7).expect("0 to 10")),
        timing: Timing::lte_tdd(tdd),
        requests: RequestConfig {
            offset: Some(2),
            ..RequestConfig::every(20)
        },
        ..lte()
    });
    let mut leg = leg(&plan);
    assert_eq!(leg.request(&plan, millis(3)).slot, 22);
    leg.requests.reset();
    let gaps = MeasurementGaps {
        period: Span::from_millis(20),
        length: Span::from_millis(6),
        offset: Some(Span::from_millis(1)),
    };
    let gaps = Gaps::new(&gaps, UeId(0), (plan.frame.slot(), false));
    leg.gaps = Some(Box::new(gaps));
    // The gap ends with subframe 26. LTE does not send in the subframe after a gap, so the request
    // is sent in subframe 28.
    assert_eq!(leg.request(&plan, millis(3)).slot, 28);
}

#[test]
fn a_ue_that_asked_often_in_vain_gives_the_link_up_and_a_grant_that_helps_starts_afresh() {
    let plan = plan(lte());
    for (takes, is_over) in [(None, true), (Some(content()), false)] {
        let mut leg = leg(&plan);
        let mut at = Time::ZERO;
        for asked in 1..=plan.config.requests.most {
            leg.request(&plan, at);
            if asked == 10 {
                // A grant of a transport block of 2 bytes, which has no space for data, does not
                // answer the request.
                leg.grant(
                    &plan,
                    0,
                    Block {
                        shape: shape(2),
                        cqi: 1,
                    },
                    900,
                );
                // The block is filled after the request was sent.
                let filled_at = at + Span::from_millis(50);
                leg.on_filled(&plan, filled_at, 0, (takes, 500));
            }
            at += Span::from_millis(200);
        }
        let expected = if is_over { Repeat::GiveUp } else { Repeat::Ask };
        assert_eq!(leg.requests.on_repeat(&plan, at), expected);
        leg.requests.reset();
        assert_eq!(leg.requests.on_repeat(&plan, at), Repeat::Ask);
    }
}

#[test]
fn a_report_tells_what_is_left_less_what_was_granted_since() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    leg.request(&plan, Time::ZERO);
    let block = |bytes| Block {
        shape: shape(bytes),
        cqi: 7,
    };
    leg.grant(&plan, 0, block(256), 20);
    assert!(!leg.may_be_granted(12, 20), "one block in a slot");
    assert_eq!(leg.uplink_wanted(&plan), 0, "answered");
    // The UE has 1000 bytes left. It reports the upper end of the range that contains 1000, which
    // is 1132.
    let requested_at = leg.on_filled(&plan, millis(20), 0, (None, 1000));
    assert!(requested_at.is_some());
    let decoded_at = leg.send_uplink(&plan, (0, 20), 5.0);
    assert_eq!(decoded_at, Time::from_nanos(22_500_000));
    leg.grant(&plan, 1, block(132), 21);
    let decoding = leg.decode(&plan, (UP, 0), 0.0, &mut NullProbe);
    assert!(decoding.is_some_and(|decoding| decoding.is_new));
    leg.on_report(0);
    // The base station grants the reported bytes that it has not granted yet, plus two bytes for
    // the next report.
    assert_eq!(leg.uplink_wanted(&plan), 1000 + 2);
    assert_eq!(leg.uplink_resumes(&leg.requests, &plan, 0), Some(24));
    // The UE has no data for the second grant and skips it. The base station learns that no data
    // waits.
    leg.on_filled(&plan, millis(21), 1, (None, 0));
    leg.leg.skip_grant(&mut leg.requests, 1, 21);
    assert_eq!(leg.uplink_wanted(&plan), 0);
    assert!(!leg.requests.is_heard());
}

#[test]
fn a_report_knows_of_the_grants_that_are_yet_to_come_in_whichever_order_they_were_given() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    let block = |bytes| Block {
        shape: shape(bytes),
        cqi: 7,
    };
    // The first grant is for a later slot of another cell. The second grant is used first, so its
    // report does not cover the 500 bytes of the first grant.
    leg.grant(&plan, 0, block(500), 24);
    leg.grant(&plan, 1, block(300), 20);
    leg.on_filled(&plan, millis(20), 1, (None, 1000));
    leg.send_uplink(&plan, (1, 20), 5.0);
    leg.on_report(1);
    let reported = BufferStatus::Lte.reported(1000);
    assert_eq!(leg.uplink_wanted(&plan), reported - 500 + 2);
    // The block of the first grant is sent last, so it contains the latest report.
    leg.on_filled(&plan, millis(24), 0, (None, 0));
    leg.send_uplink(&plan, (0, 24), 5.0);
    leg.on_report(0);
    assert_eq!(leg.uplink_wanted(&plan), 0);
}

#[test]
fn a_ue_that_asks_is_answered_by_its_primary_cell() {
    let plan = plan(failing(0.0));
    let mut leg = leg(&plan);
    let mut secondary = Leg::new(leg.config, (leg.config.ue, 1), &plan, 1);
    secondary.carriers = Carriers::for_secondary(LegId(0), &Aggregation::NONE);
    leg.request(&plan, Time::ZERO);
    assert_eq!(leg.uplink_wanted(&plan), 256);
    assert_eq!(secondary.uplink_wanted(&leg.requests, &plan), 0);
    leg.requests.known = 1000;
    let wanted = secondary.uplink_wanted(&leg.requests, &plan);
    assert_eq!(wanted, leg.uplink_wanted(&plan));
}

/// Gives a leg with a bearer of `mode` a transport block of 372 bytes. The block returns with
/// `content` while `left` bytes wait. A second block is granted before the report is read.
fn answered(plan: &CellPlan, mode: RlcConfig, content: Option<ContentId>, left: u64) -> Alone {
    answered_in(plan, 372, mode, content, left)
}

/// Does the same as [`answered`], with transport blocks of `bytes`.
fn answered_in(
    plan: &CellPlan,
    bytes: u32,
    mode: RlcConfig,
    content: Option<ContentId>,
    left: u64,
) -> Alone {
    let mut leg = leg(plan);
    let bearer = BearerConfig {
        rlc: mode,
        ..BearerConfig::lte(UeId(0))
    };
    leg.channels.add(DrbId(0), &bearer);
    leg.request(plan, Time::ZERO);
    let block = |bytes| Block {
        shape: shape(bytes),
        cqi: 7,
    };
    leg.grant(plan, 0, block(bytes), 20);
    leg.on_filled(plan, millis(20), 0, (content, left));
    leg.send_uplink(plan, (0, 20), 5.0);
    leg.grant(plan, 1, block(bytes), 21);
    let decoding = leg.decode(plan, (UP, 0), 0.0, &mut NullProbe);
    assert!(decoding.is_some_and(|decoding| decoding.is_new));
    leg.on_report(0);
    leg
}

#[test]
fn a_block_that_was_too_small_for_what_is_not_cut_is_followed_by_a_larger_one() {
    let plan = plan(failing(0.0));
    let wanted = |mode, content, left| answered(&plan, mode, content, left).uplink_wanted(&plan);
    // The UE reports 493 bytes. The base station has granted 372 bytes since that report.
    let reported = BufferStatus::Lte.reported(493);
    assert_eq!(wanted(RlcConfig::LTE_AM, None, 493), reported - 372 + 2);
    assert_eq!(
        wanted(RlcConfig::TM, Some(content()), 493),
        reported - 372 + 2
    );
    // The second block is no larger than the block that returned empty. So the base station must
    // grant all reported bytes.
    assert_eq!(wanted(RlcConfig::TM, None, 493), reported + 2);
    // A grant must be larger than the block that was too small.
    assert_eq!(wanted(RlcConfig::TM, None, 300), 372 + 1);
}

#[test]
fn a_block_that_headers_fill_is_followed_by_a_larger_one() {
    // Ten bytes wait. A block of 9 bytes returned empty, so the next grant must be larger. With
    // blocks of 4 bytes, the second grant counts towards the reported bytes.
    let plan = plan(failing(0.0));
    let leg = |bytes, left| answered_in(&plan, bytes, RlcConfig::LTE_UM, None, left);
    assert_eq!(leg(9, 10).uplink_wanted(&plan), 9 + 1);
    assert_eq!(leg(4, 10).uplink_wanted(&plan), 10 - 4 + 2);
    assert!(leg(16, 10).requests.is_unfit(16) && !leg(16, 10).requests.is_unfit(17));
    // Nothing is recorded if no data waits, or if a block of 17 bytes is empty. A block of 17 bytes
    // has space for headers and data, so its size is not the cause.
    assert!(!leg(4, 0).requests.is_unfit(1) && !leg(17, 10).requests.is_unfit(1));
}

#[test]
fn what_came_back_empty_is_tried_again_once_data_came_or_nothing_larger_can_be_had() {
    let plan = plan(failing(0.0));
    let mut leg = answered(&plan, RlcConfig::TM, None, 493);
    assert!(leg.requests.is_unfit(372) && !leg.requests.is_unfit(373));
    leg.on_filled(&plan, millis(21), 1, (Some(content()), 493));
    leg.send_uplink(&plan, (1, 21), 5.0);
    leg.decode(&plan, (UP, 1), 0.0, &mut NullProbe);
    leg.on_report(1);
    assert!(!leg.requests.is_unfit(372));
    leg = answered(&plan, RlcConfig::TM, None, 493);
    leg.requests.forget_unfit();
    assert!(!leg.requests.is_unfit(1));
}

#[test]
fn the_largest_block_that_a_ue_can_be_granted_is_what_its_power_suffices_for() {
    let plan = plan(lte());
    let leg = leg(&plan);
    let most = |blocks| {
        let air = Uplink {
            sinr_db: 20.0,
            blocks,
        };
        leg.most_uplink_bytes(&plan, 9, &air)
    };
    // A unit has three resource blocks. With power for 7 resource blocks, the UE can use 2 units.
    assert_eq!(most(7), plan.up.bytes(14, 9, 2));
    assert_eq!(most(50), plan.up.bytes(14, 9, 17));
}

#[test]
fn a_configured_grant_needs_no_request() {
    let plan = plan(CellConfig {
        configured_grant: Some(ConfiguredGrant {
            period: 8,
            units: 3,
            scheme: 4,
        }),
        ..lte()
    });
    let mut leg = leg(&plan);
    leg.requests.occasion = 5;
    assert_eq!(leg.use_configured_grant(&plan, millis(6), 0), None);
    leg.requests.keep_occasions();
    assert_eq!(leg.use_configured_grant(&plan, millis(6), 0), Some((13, 0)));
    assert_eq!(leg.up.block(0).shape.units, 3);
    assert_eq!(
        leg.use_configured_grant(&plan, millis(6), 14),
        Some((21, 1))
    );
}
