use super::*;
use crate::bler::LDPC_GAP;
use crate::effective_sinr::EffectiveSinr;
use crate::lte::{self, LteAllocation, LteElements};
use crate::mcs::McsTable;
use fadeout_core::Direction;
use fadeout_core::math::{from_db, to_db};
use fadeout_core::random::Stream;
use std::cell::Cell;

fn config(schemes: McsTable) -> LinkAdaptationConfig {
    LinkAdaptationConfig {
        cqi_table: CqiTable::Qam64,
        schemes: schemes.rows().to_vec(),
        lower_order: Vec::new(),
        code: ChannelCode::Ldpc,
        gap: LDPC_GAP,
        target_error: 0.1,
        block_bits: 1000.0,
        blocks: 1,
        fixed: None,
    }
}

fn adaptation(schemes: McsTable) -> LinkAdaptation {
    LinkAdaptation::new(&config(schemes)).expect("valid values")
}

#[test]
fn each_report_leads_to_the_scheme_of_its_efficiency() {
    let adaptation = adaptation(McsTable::Qam64);
    let scheme = |cqi| adaptation.scheme(cqi, 0.0).map(|mcs| mcs.index);
    let found: Vec<u32> = (1..16).filter_map(scheme).collect();
    assert_eq!(
        found,
        [0, 0, 2, 4, 6, 8, 11, 13, 15, 18, 20, 22, 24, 26, 28]
    );
    assert_eq!(scheme(0), None);
    assert_eq!(scheme(200), Some(28));
}

#[test]
fn reports_change_where_the_error_model_says() {
    // SINR for 10 % errors of 1000 bits by quadrature, which the model approximates by fits. The
    // first three rates are below that of the mother code, 1/5.
    let reference = [
        -7.87, -6.00, -3.93, -1.55, 0.62, 2.59, 4.34, 6.23, 8.22, 9.86, 11.85, 13.75, 15.82, 17.94,
        19.83,
    ];
    let adaptation = adaptation(McsTable::Qam64);
    for (index, at) in reference.into_iter().enumerate() {
        let cqi = index as u8 + 1;
        assert!((adaptation.sinr_of_cqi(cqi) - at).abs() < 0.05, "CQI {cqi}");
        assert_eq!(adaptation.cqi(at + 0.05), cqi);
        assert_eq!(adaptation.cqi(at - 0.05), cqi - 1);
    }
    assert_eq!(adaptation.cqi(f64::NEG_INFINITY), 0);
    assert_eq!(adaptation.cqi(f64::INFINITY), 15);
}

#[test]
fn a_wideband_report_is_the_highest_that_keeps_the_target_at_its_own_effective_sinr() {
    let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
        cqi_table: CqiTable::Qam256,
        schemes: McsTable::Qam256.rows().to_vec(),
        ..config(McsTable::Qam256)
    })
    .expect("valid values");
    let rows = CqiTable::Qam256.rows();
    let mut stream = Stream::new(1, "test.wideband", 0);
    let (mut evaluations, mut below_mean) = (0_u32, 0_u32);
    let trials = 4000;
    for trial in 0..trials {
        let method = [EffectiveSinr::Miesm, EffectiveSinr::Eesm][trial % 2];
        let mean = from_db(stream.uniform_in(-12.0, 40.0));
        // Sub-bands have Rayleigh fading, which is very weak in some trials.
        let spread = stream.uniform();
        let gains: Vec<f32> = (0..16)
            .map(|_| (1.0 - spread + spread * stream.exponential(1.0)) as f32)
            .collect();
        let band = gains.iter().sum::<f32>() / 16.0;
        let mean_db = to_db(mean * f64::from(band));
        let asked = Cell::new(0);
        let effective_db = |scheme: &Mcs| {
            asked.set(asked.get() + 1);
            to_db(method.effective(scheme, mean, &gains))
        };
        let found = adaptation.wideband_quality(mean_db, effective_db).cqi;
        evaluations += asked.take();
        let all = (1..=15_u8).rev();
        let keeps =
            |&cqi: &u8| effective_db(&rows[usize::from(cqi) - 1]) >= adaptation.sinr_of_cqi(cqi);
        assert_eq!(found, { all }.find(keeps).unwrap_or(0), "trial {trial}");
        below_mean += u32::from(found < adaptation.cqi(mean_db));
    }
    // The effective SINR often lowers the CQI, and the search evaluates about two schemes per
    // trial.
    assert!(below_mean > 500, "{below_mean}");
    assert!(evaluations < 2 * trials as u32, "{evaluations}");
}

#[test]
fn a_stricter_target_or_more_code_blocks_need_more_signal() {
    let base = adaptation(McsTable::Qam64).sinr_of_cqi(9);
    let sinr_with = |config: LinkAdaptationConfig| {
        let adaptation = LinkAdaptation::new(&config).expect("valid values");
        adaptation.sinr_of_cqi(9)
    };
    let strict = sinr_with(LinkAdaptationConfig {
        target_error: 1e-5,
        ..config(McsTable::Qam64)
    });
    let many = sinr_with(LinkAdaptationConfig {
        blocks: 18,
        ..config(McsTable::Qam64)
    });
    assert!(
        strict > base + 0.3 && many > base + 0.1,
        "{base} {strict} {many}"
    );
}

#[test]
fn lte_schemes_follow_the_signal_from_the_lowest_to_the_highest() {
    let allocation = LteAllocation {
        resource_blocks: 50,
        layers: 1,
        tti: Span::from_millis(1),
    };
    let elements = LteElements::default();
    let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
        schemes: lte::rates(Direction::Downlink, &allocation, elements),
        code: ChannelCode::Turbo,
        gap: ChannelCode::Turbo.gap(),
        block_bits: 6144.0,
        ..config(McsTable::Qam64)
    })
    .expect("valid values");
    let found: Vec<u32> = (-10..30)
        .map(|db| {
            adaptation
                .scheme_for_sinr(Modulation::Qam256, f64::from(db))
                .index
        })
        .collect();
    assert!(found.is_sorted(), "{found:?}");
    assert_eq!((found[0], found[39]), (0, 28));
}

#[test]
fn the_best_scheme_is_the_one_that_a_look_at_all_finds() {
    let allocation = LteAllocation {
        resource_blocks: 50,
        layers: 1,
        tti: Span::from_millis(1),
    };
    let elements = LteElements::default();
    for schemes in [
        McsTable::Qam64.rows().to_vec(),
        McsTable::Qam256.rows().to_vec(),
        lte::rates(Direction::Downlink, &allocation, elements),
        lte::rates(Direction::Uplink, &allocation, elements),
    ] {
        let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
            schemes,
            ..config(McsTable::Qam64)
        })
        .expect("valid values");
        for step in -200..700 {
            let sinr_db = f64::from(step) / 20.0;
            let mut best = adaptation.schemes[0];
            for (scheme, &at) in adaptation.schemes.iter().zip(&adaptation.scheme_sinr_db) {
                if at <= sinr_db && scheme.efficiency > best.efficiency {
                    best = *scheme;
                }
            }
            assert_eq!(
                adaptation.scheme_for_sinr(Modulation::Qam256, sinr_db),
                best,
                "{sinr_db} dB"
            );
        }
    }
}

#[test]
fn a_fixed_scheme_ignores_the_report() {
    let fixed = |index| LinkAdaptationConfig {
        fixed: Some(index),
        ..config(McsTable::Qam64)
    };
    let adaptation = LinkAdaptation::new(&fixed(16)).expect("valid values");
    for cqi in [0, 3, 15] {
        assert_eq!(adaptation.scheme(cqi, -3.0).map(|mcs| mcs.index), Some(16));
    }
    let error = LinkAdaptation::new(&fixed(29)).expect_err("reserved");
    assert!(error.to_string().starts_with("fixed MCS is 29"), "{error}");
}

#[test]
fn an_error_costs_nine_successes_and_the_range_holds() {
    let (config, mut outer) = (OuterLoopConfig::default(), OuterLoop::default());
    outer.on_feedback(&config, false);
    assert_eq!(outer.offset_db(), -0.5);
    for _ in 0..9 {
        assert!(outer.offset_db() < -0.04);
        outer.on_feedback(&config, true);
    }
    // The steps of 0.5 / 9 dB cancel, except for rounding.
    assert!(outer.offset_db().abs() < 1e-12, "{}", outer.offset_db());
    for (is_ack, end) in [(false, -10.0), (true, 10.0)] {
        for _ in 0..400 {
            outer.on_feedback(&config, is_ack);
        }
        assert_eq!(outer.offset_db(), end);
    }
}

#[test]
fn the_outer_loop_settles_at_its_target() {
    // The reports are 2 dB too high, which the outer loop must correct.
    let (adaptation, loop_config) = (adaptation(McsTable::Qam64), OuterLoopConfig::default());
    let mut outer = OuterLoop::default();
    let mut stream = Stream::new(1, "test.errors", 0);
    let sinr = 12.0;
    let mut errors = 0;
    let (warm_up, blocks) = (2_000, 40_000);
    for block in 0..warm_up + blocks {
        let cqi = adaptation.cqi(sinr + 2.0);
        let scheme = adaptation.scheme(cqi, outer.offset_db()).expect("in range");
        let code = TransportCode::single(
            ChannelCode::Ldpc,
            LDPC_GAP,
            scheme.modulation,
            scheme.code_rate,
            1000.0,
        );
        let is_ack = stream.uniform() >= code.error_rate(sinr);
        outer.on_feedback(&loop_config, is_ack);
        errors += u32::from(block >= warm_up && !is_ack);
    }
    let rate = f64::from(errors) / f64::from(blocks);
    // The sum of all steps is at most the range, 20 dB, which allows an error of 20 / (40,000 x
    // 0.556).
    assert!((rate - 0.1).abs() < 0.001, "{rate}");
    assert!(outer.offset_db() < 0.0);
}

#[test]
fn a_report_is_as_old_as_its_period_and_delay_make_it() {
    let millis = |n| Time::ZERO + Span::from_millis(n);
    let reporting = CsiReporting {
        period: Span::from_millis(5),
        offset: Span::from_millis(2),
        delay: Span::from_millis(4),
    };
    for (at, measured) in [
        (0, None),
        (5, None),
        (6, Some(2)),
        (10, Some(2)),
        (11, Some(7)),
        (1006, Some(1002)),
    ] {
        assert_eq!(
            reporting.measured_at(millis(at)),
            measured.map(millis),
            "{at} ms"
        );
    }
    let at_once = CsiReporting {
        period: Span::ZERO,
        offset: Span::ZERO,
        delay: Span::ZERO,
    };
    assert_eq!(at_once.measured_at(millis(3)), Some(millis(3)));
}

#[test]
fn values_without_meaning_are_errors() {
    let broken = [
        LinkAdaptationConfig {
            target_error: 1.0,
            ..config(McsTable::Qam64)
        },
        LinkAdaptationConfig {
            block_bits: f64::NAN,
            ..config(McsTable::Qam64)
        },
        LinkAdaptationConfig {
            blocks: 0,
            ..config(McsTable::Qam64)
        },
        LinkAdaptationConfig {
            schemes: Vec::new(),
            ..config(McsTable::Qam64)
        },
    ];
    for config in broken {
        assert!(LinkAdaptation::new(&config).is_err(), "{config:?}");
    }
    let outer = OuterLoopConfig {
        step_down_db: -1.0,
        ..OuterLoopConfig::default()
    };
    assert!(outer.validate().is_err());
    assert!(OuterLoopConfig::OFF.validate().is_ok());
}

#[test]
fn a_limited_modulation_order_takes_the_best_scheme_up_to_it() {
    let full = LteAllocation {
        resource_blocks: 25,
        layers: 1,
        tti: fadeout_core::Span::from_millis(1),
    };
    let elements = LteElements { per_block: 144 };
    let lower_order = lte::lower_order_rates(Direction::Uplink, &full, elements);
    let adaptation = LinkAdaptation::new(&LinkAdaptationConfig {
        schemes: lte::rates(Direction::Uplink, &full, elements),
        lower_order: lower_order.clone(),
        code: ChannelCode::Turbo,
        ..config(McsTable::Qam64)
    })
    .expect("valid parameters");
    let most = |limit| adaptation.scheme_for_sinr(limit, 60.0);
    assert_eq!(most(Modulation::Qam256), most(Modulation::Qam64));
    assert_eq!(most(Modulation::Qam64).index, 28);
    assert_eq!(Some(&most(Modulation::Qam16)), lower_order.last());
    assert_eq!(most(Modulation::Qpsk).index, 10);
    for sinr_db in -15..40 {
        let sinr_db = f64::from(sinr_db);
        let of = |limit| adaptation.scheme_for_sinr(limit, sinr_db);
        assert!(of(Modulation::Qam16).modulation <= Modulation::Qam16);
        assert!(of(Modulation::Qam16).efficiency <= of(Modulation::Qam64).efficiency);
        // Where 16QAM is chosen without a limit, the limit changes nothing.
        if of(Modulation::Qam256).modulation <= Modulation::Qam16 {
            assert_eq!(of(Modulation::Qam16), of(Modulation::Qam256), "{sinr_db}");
        }
    }
}
