//! Tests of the SINR for ten percent block errors, against published values and a bound for all
//! codes.

use fadeout_core::math::{erfc, from_db, log2};
use fadeout_core::{Direction, Span};
use fadeout_phy::code_block::{ChannelCode, TransportCode};
use fadeout_phy::lte::{LteAllocation, LteElements, rates};
use fadeout_phy::mcs::{Mcs, McsTable};
use fadeout_phy::mutual_information::Modulation;
use std::f64::consts::{LOG2_E, SQRT_2};

/// Returns the least error rate of any code of `bits` bits in `symbols` complex symbols at this SNR
/// with Gaussian noise. It is the normal approximation to the converse, with the dispersion of the
/// complex channel. The third term, half the logarithm of the length, is that of the converse too.
///
/// The source is Y. Polyanskiy, H. V. Poor, S. Verdu, IEEE Trans. Inf. Theory 56, 2010, theorem 54
/// and equation 296.
fn least_error(bits: f64, symbols: f64, snr: f64) -> f64 {
    let capacity = log2(1.0 + snr);
    let dispersion = snr * (snr + 2.0) / ((snr + 1.0) * (snr + 1.0)) * LOG2_E * LOG2_E;
    let margin = symbols * capacity - bits + 0.5 * log2(symbols);
    0.5 * erfc(margin / (symbols * dispersion).sqrt() / SQRT_2)
}

/// Returns the least SINR in dB for 10 % errors.
fn bound_db(bits: f64, symbols: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 60.0);
    while high - low > 1e-6 {
        let middle = (low + high) / 2.0;
        if least_error(bits, symbols, from_db(middle)) > 0.1 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

fn model_db(code: ChannelCode, mcs: &Mcs, bits: f64) -> f64 {
    TransportCode::single(code, code.gap(), mcs.modulation, mcs.code_rate, bits).sinr_for(0.1)
}

/// Returns the distance of the model above the bound, dB.
fn above_the_bound_db(code: ChannelCode, mcs: &Mcs, bits: f64) -> f64 {
    let symbols = bits / (mcs.code_rate * f64::from(mcs.modulation.bits()));
    model_db(code, mcs, bits) - bound_db(bits, symbols)
}

/// Returns the schemes of LTE on fifty resource blocks, with their code rates there.
fn lte() -> Vec<Mcs> {
    let allocation = LteAllocation {
        resource_blocks: 50,
        layers: 1,
        tti: Span::from_millis(1),
    };
    rates(Direction::Downlink, &allocation, LteElements::default())
}

#[test]
fn no_scheme_needs_less_than_the_finite_blocklength_bound() {
    let nr = [McsTable::Qam64, McsTable::Qam256, McsTable::Qam64LowSe];
    let nr = nr.iter().flat_map(|table| table.rows());
    let all = nr
        .map(|mcs| (ChannelCode::Ldpc, *mcs))
        .chain(lte().into_iter().map(|mcs| (ChannelCode::Turbo, mcs)));
    let mut count = 0;
    for (code, mcs) in all {
        for bits in [100.0, 500.0, 2000.0, 6144.0] {
            let above_db = above_the_bound_db(code, &mcs, bits);
            // The distance is at least the code's own gap, because capacity with a constellation is
            // below that with Gaussian signals. It is 1.01 to 2.84 dB with LDPC, and 1.54 to 3.36
            // dB with the turbo code.
            assert!(
                above_db >= code.gap().0,
                "{code:?} {mcs:?} {bits}: {above_db}"
            );
            assert!(above_db < 3.5, "{code:?} {mcs:?} {bits}: {above_db}");
            count += 1;
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn every_scheme_is_within_a_decibel_of_published_link_level_curves() {
    let mut rows = 0;
    for line in include_str!("../ldpc_awgn.csv").lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let table = match fields[0] {
            "NR_5.1.3.1-1" => McsTable::Qam64,
            "NR_5.1.3.1-2" => McsTable::Qam256,
            _ => continue,
        };
        let mcs = table.rows()[fields[1].parse::<usize>().expect("an index")];
        for (field, bits) in [(fields[2], 500.0), (fields[3], 2000.0)] {
            let published: f64 = field.parse().expect("an SINR");
            let difference = model_db(ChannelCode::Ldpc, &mcs, bits) - published;
            // The largest difference is 0.36 dB, for a block of 2000 bits. Its published SINR is
            // 0.16 dB above that of 500 bits, because the published values scatter.
            assert!(difference.abs() < 0.5, "{line} {bits}: {difference}");
            rows += 1;
        }
    }
    assert_eq!(rows, 102);
}

/// Returns the differences of the model from the published SINRs of the turbo code. Each entry:
/// bits of a symbol, code rate, bits of a block, difference in dB.
fn turbo_differences() -> Vec<(u32, f64, f64, f64)> {
    let mut found = Vec::new();
    for line in include_str!("../turbo_awgn.csv").lines() {
        let fields: Vec<&str> = line.split(',').collect();
        let (Some(Ok(bits_of_symbol)), [_, rate, sinrs @ ..]) =
            (fields.first().map(|field| field.parse()), &fields[..])
        else {
            continue;
        };
        let modulation = Modulation::from_bits(bits_of_symbol).expect("a modulation");
        let rate: f64 = rate.parse().expect("a code rate");
        for (field, bits) in sinrs.iter().zip([512.0, 1024.0, 2560.0, 6144.0]) {
            if let Ok(published) = field.parse::<f64>() {
                let code = ChannelCode::Turbo;
                let code = TransportCode::single(code, code.gap(), modulation, rate, bits);
                found.push((bits_of_symbol, rate, bits, code.sinr_for(0.1) - published));
            }
        }
    }
    found
}

#[test]
fn lte_is_within_a_decibel_of_published_link_level_curves() {
    let differences = turbo_differences();
    assert_eq!(differences.len(), 97);
    for (bits, mean) in [(2, 0.32), (4, 0.35), (6, 0.46)] {
        let of = differences.iter().filter(|row| row.0 == bits);
        let (count, sum) = of.fold((0, 0.0), |(n, sum), row| (n + 1, sum + row.3));
        let found = sum / f64::from(count);
        assert!((found - mean).abs() < 0.02, "{bits} bits: {found}");
    }
    for (bits, rate, block, difference) in differences {
        // The model has the same gap of 1.5 dB for all blocks. In simulations, long blocks at high
        // rates are closer to the bound. The three differences beyond 1 dB are 64QAM from rate 0.85
        // on with 6144 bits: 1.00, 1.01 and 1.04 dB.
        let is_known = bits == 6 && rate >= 0.85 && block == 6144.0;
        let most = if is_known { 1.05 } else { 0.9 };
        assert!(
            (-0.2..most).contains(&difference),
            "{bits} bits, {rate}, {block}: {difference}"
        );
    }
}
