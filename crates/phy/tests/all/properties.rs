//! Tests of properties of the physical layer for random inputs.

use fadeout_core::{Decibel, Span, Time};
use fadeout_phy::code_block::{ChannelCode, TransportBlock, TransportCode};
use fadeout_phy::frame::{Duplex, Frame, SpecialSlot, TddPattern};
use fadeout_phy::harq::{Combining, HarqConfig, HarqSoft};
use fadeout_phy::lte::LteAllocation;
use fadeout_phy::mutual_information::Modulation;
use fadeout_phy::numerology::{CyclicPrefix, Numerology};
use fadeout_phy::tbs::nr_transport_block;
use fadeout_phy::timing::{NrTimingConfig, Timing};
use proptest::prelude::*;

fn modulation() -> impl Strategy<Value = Modulation> {
    prop::sample::select(vec![
        Modulation::Qpsk,
        Modulation::Qam16,
        Modulation::Qam64,
        Modulation::Qam256,
    ])
}

// The code rates are at most 0.94, with all CRCs included. A device need not decode rates above
// 0.95 (TS 38.214 clause 5.1.3).
fn code() -> impl Strategy<Value = TransportCode> {
    let ldpc_or_turbo = prop::sample::select(vec![ChannelCode::Ldpc, ChannelCode::Turbo]);
    (ldpc_or_turbo, modulation(), 3_u32..160_000, 0.02_f64..0.93).prop_map(
        |(code, modulation, bytes, rate)| {
            let payload = bytes * 8;
            TransportCode::new(&TransportBlock {
                code,
                gap: code.gap(),
                modulation,
                payload,
                elements: f64::from(payload + 24) / (rate * f64::from(modulation.bits())),
            })
        },
    )
}

fn combining() -> impl Strategy<Value = Combining> {
    prop::sample::select(vec![
        Combining::None,
        Combining::Chase,
        Combining::IncrementalRedundancy,
    ])
}

proptest! {
    #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

    #[test]
    fn error_rates_are_probabilities_that_fall_with_the_signal(
        code in code(),
        sinr_db in -45.0_f64..50.0,
        more_db in 0.0_f64..5.0,
    ) {
        let (low, high) = (code.error_rate(sinr_db), code.error_rate(sinr_db + more_db));
        prop_assert!((0.0..=1.0).contains(&low));
        // The margin covers rounding near an error rate of one.
        prop_assert!(high <= low + 1e-9, "{low} then {high}");
    }

    #[test]
    fn every_transmission_helps_or_does_no_harm(
        code in code(),
        combining in combining(),
        receptions in prop::collection::vec((-20.0_f64..30.0, 0.05_f64..2.0), 1..20),
    ) {
        let config = HarqConfig { combining, fixed: None };
        let mut soft = HarqSoft::new(&code, &config);
        let mut before = 1.0;
        for (sinr_db, share) in receptions {
            soft.add_symbols(sinr_db, code.modulation, code.symbols * share);
            let after = soft.error_rate();
            prop_assert!((0.0..=before).contains(&after));
            prop_assert!((0.0..=1.0).contains(&soft.conditional_error_rate()));
            before = after;
        }
    }

    #[test]
    fn block_sizes_never_break(
        elements in any::<u32>(),
        modulation in modulation(),
        rate in 0.0_f64..1.0,
        layers in 0_u32..9,
        blocks in any::<u32>(),
        index in any::<u32>(),
    ) {
        nr_transport_block(elements, modulation, rate, layers, 1.0);
        let lte = LteAllocation { resource_blocks: blocks, layers, tti: Span::from_micros(500) };
        prop_assert!(lte.transport_block(index).is_multiple_of(8));
    }

    #[test]
    fn feedback_and_data_wait_for_processing_and_for_their_direction(
        mu in 0_u8..4,
        pattern in "D[DSU]{0,8}U",
        slot in 0_u64..100,
        end in 1_u8..=14,
        k1 in 0_u32..8,
        least in 1_u8..=14,
    ) {
        let numerology = Numerology::new(mu, CyclicPrefix::Normal).expect("0 to 3");
        let tdd = TddPattern::new(&pattern, SpecialSlot::default(), 14).expect("a D and a U");
        let frame = Frame::nr(numerology, Duplex::Tdd(tdd)).expect("a frame");
        let config = NrTimingConfig { k1, ..NrTimingConfig::default() };
        let timing = Timing::nr(numerology, &config).expect("valid values");

        let slot = frame.downlink_from(slot, 1);
        let down = timing.downlink(&frame, slot, end);
        prop_assert!(down.data_slot >= slot && frame.format(down.data_slot).downlink > 0);
        let feedback_symbols = timing.feedback_symbols;
        prop_assert!(frame.format(down.feedback_slot).uplink >= feedback_symbols);
        let feedback_start = frame.symbol_start(down.feedback_slot, 14 - feedback_symbols);
        prop_assert!(feedback_start >= down.data_end_at + timing.user_feedback);
        prop_assert!(down.feedback_slot >= down.data_slot + u64::from(k1));
        prop_assert!(frame.start_of(down.repetition_slot) >= down.feedback_at);

        let up = timing.uplink(&frame, slot, least);
        let symbols = frame.format(up.data_slot).uplink;
        prop_assert!(symbols >= least);
        let granted_at = frame.symbol_start(slot, timing.control_symbols);
        let start = frame.symbol_start(up.data_slot, 14 - symbols);
        prop_assert!(start >= granted_at + timing.user_preparation);
        // The wait is at most two periods plus the processing times.
        let bound = frame.slot() * 2 * (pattern.len() as u64 + 1) + Span::from_millis(10);
        prop_assert!(down.feedback_at.since(down.data_end_at) <= bound);
        prop_assert!(up.data_end_at.since(granted_at) <= bound);
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error(text in ".{0,40}", down in 0_u8..20, up in 0_u8..20) {
        let special = SpecialSlot { downlink: down, guard: 2, uplink: up };
        if let Ok(pattern) = TddPattern::new(&text, special, 14) {
            let frame = Frame::lte(Span::from_millis(1), Duplex::Tdd(pattern)).expect("a frame");
            prop_assert!(frame.slot_at(Time::from_nanos(999_999)) == 0);
        }
    }
}

#[test]
fn no_gap_is_worth_a_code_that_beats_the_bound() {
    // With gap 0 the model is the normal approximation, so 10 % errors need more SINR than
    // capacity.
    let code = TransportCode::single(
        ChannelCode::Ldpc,
        Decibel(0.0),
        Modulation::Qam64,
        0.5,
        8448.0,
    );
    let bound = Modulation::Qam64.snr_of_capacity(3.0);
    let needed = fadeout_core::math::from_db(code.sinr_for(0.1));
    assert!(
        needed > bound && needed < bound * 1.1,
        "{needed} beside {bound}"
    );
}
