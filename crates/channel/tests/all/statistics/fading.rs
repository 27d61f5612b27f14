//! Tests of fading over positions, time and frequency against closed forms.

use super::{allowed, link, only_fading, secs, walker};
use fadeout_channel::ChannelConfig;
use fadeout_channel::fading::{Fading, TdlProfile, statistics};
use fadeout_core::math::j0;
use fadeout_core::{Hertz, Span, Time};
use fadeout_testkit::Cases;
use std::f64::consts::TAU;

const WAVELENGTH: f64 = 3.0e8 / 3.0e9;

/// Calls `with` for each link, with `count` gains at instants that are `step` apart.
fn each_trace(
    (config, links): (&ChannelConfig, Cases),
    (step, count): (f64, usize),
    mut with: impl FnMut(&[f64]),
) {
    let mut gains = vec![0.0; count];
    links.run(|seed| {
        let mut link = link(config, 1, seed as u32);
        link.large_scale_db(Time::ZERO, &walker(Time::ZERO));
        for (n, gain) in gains.iter_mut().enumerate() {
            *gain = link.fading_flat(secs(n as f64 * step));
        }
        with(&gains);
    });
}

#[test]
fn a_moving_ue_sees_clarkes_correlation_of_power() {
    let doppler = 10.0 / WAVELENGTH;
    let step = 0.1 / doppler;
    let (lags, mut products) = ([0_usize, 1, 2, 3, 4, 6, 8], [0.0; 7]);
    let (links, length) = (Cases::new(400), 400);
    let config = only_fading(Fading::Rayleigh);
    each_trace((&config, links), (step, length), |trace| {
        for (product, lag) in products.iter_mut().zip(lags) {
            let pairs = trace.iter().zip(&trace[lag..]);
            let sum: f64 = pairs.map(|(a, b)| (a - 1.0) * (b - 1.0)).sum();
            *product += sum / (length - lag) as f64;
        }
    });
    for (product, lag) in products.into_iter().zip(lags) {
        let amplitude = j0(TAU * 0.1 * lag as f64);
        let found = product / links.count() as f64;
        // The power of a sum of 16 waves has a variance of 1 - 1/16. 400 links of 40 wavelengths
        // estimate it to about 2 %.
        let expected = amplitude * amplitude;
        let error = allowed(1.0 / 16.0, 0.03, links, 400);
        assert!(
            (found - expected).abs() < error,
            "{lag}: {found} {expected}"
        );
    }
}

#[test]
fn fades_are_as_frequent_and_as_long_as_rice_says() {
    let doppler = 10.0 / WAVELENGTH;
    let step = 0.002 / doppler;
    let (links, count) = (Cases::new(60), 20_000);
    let ratios = [0.05, 0.1, 0.3, 1.0];
    let (mut crossings, mut below) = ([0_u64; 4], [0_u64; 4]);
    let config = only_fading(Fading::Rayleigh);
    each_trace((&config, links), (step, count), |trace| {
        for (n, ratio) in ratios.into_iter().enumerate() {
            let falls = |pair: &&[f64]| pair[0] >= ratio && pair[1] < ratio;
            crossings[n] += trace.windows(2).filter(falls).count() as u64;
            below[n] += trace.iter().filter(|gain| **gain < ratio).count() as u64;
        }
    });
    for ((ratio, crossings), below) in ratios.into_iter().zip(crossings).zip(below) {
        let time = links.count() as f64 * count as f64 * step;
        let rate = crossings as f64 / time;
        let duration = below as f64 * step / crossings as f64;
        // In 24 s at 100 Hz there are over 1,200 crossings of each level, in 60 links of 40
        // wavelengths. The distribution of 16 waves deviates by 3 %, and the distribution of its
        // deepest fades by 4 %.
        let error = allowed(0.04, 0.06, links, 60);
        let expected = statistics::rayleigh_crossings(doppler, ratio);
        assert!(
            (rate / expected - 1.0).abs() < error,
            "{ratio}: {rate} {expected}"
        );
        let expected = statistics::rayleigh_fade_duration(doppler, ratio);
        assert!(
            (duration / expected - 1.0).abs() < error,
            "{ratio}: {duration} {expected}"
        );
    }
}

#[test]
fn gains_follow_the_rician_law() {
    for k_db in [0.0, 9.0] {
        let config = only_fading(Fading::Rician { k_db });
        let links = Cases::new(4000);
        let (mut sum, mut count) = (0.0, 0);
        let ratios = [0.2, 0.5, 1.0, 1.5];
        let mut below = [0_u64; 4];
        each_trace((&config, links), (0.037, 25), |trace| {
            sum += trace.iter().sum::<f64>();
            count += trace.len();
            for (below, ratio) in below.iter_mut().zip(ratios) {
                *below += trace.iter().filter(|gain| **gain < ratio).count() as u64;
            }
        });
        let mean = sum / count as f64;
        // The 100 000 gains have a variance of at most 0.75, and are correlated within a link.
        let error = allowed(0.0, 0.02, links, 4000);
        assert!((mean - 1.0).abs() < error, "{mean}");
        for (below, ratio) in below.into_iter().zip(ratios) {
            let below = below as f64 / count as f64;
            let expected = statistics::rician_outage(fadeout_core::math::from_db(k_db), ratio);
            // The scattered part of the channel is a sum of 16 waves.
            let error = allowed(0.004, 0.006, links, 4000);
            assert!(
                (below - expected).abs() < error,
                "{k_db} {ratio}: {below} {expected}"
            );
        }
    }
}

#[test]
fn deep_fades_of_sixteen_waves_are_as_rare_as_of_many() {
    let (links, length) = (Cases::new(8000), 50);
    let ratios = [0.01, 0.1, 1.0];
    let mut below = [0_u64; 3];
    let config = only_fading(Fading::Rayleigh);
    each_trace((&config, links), (0.037, length), |trace| {
        for (below, ratio) in below.iter_mut().zip(ratios) {
            *below += trace.iter().filter(|gain| **gain < ratio).count() as u64;
        }
    });
    for (below, ratio) in below.into_iter().zip(ratios) {
        let gains = links.count() * length as u64;
        let expected = statistics::rayleigh_outage(ratio) * gains as f64;
        // There are 4 000 of the deepest fades, so the random error is 1.6 %. The distribution of
        // 16 waves deviates by 3 %.
        let error = allowed(0.03, 0.03, links, 8000);
        assert!(
            (below as f64 / expected - 1.0).abs() < error,
            "{ratio}: {below} {expected}"
        );
    }
}

#[test]
fn a_wideband_channel_is_as_flat_as_its_delay_spread_allows() {
    let config = ChannelConfig {
        bandwidth: Hertz(20e6),
        sub_bands: 64,
        ..only_fading(Fading::Tdl {
            profile: TdlProfile::C,
            delay_spread: Span::from_nanos(300),
        })
    };
    let taps = TdlProfile::C.taps();
    let total: f64 = taps.iter().map(|tap| tap.power).sum();
    // The correlation of the gain over a frequency offset is the transform of the delay profile.
    let expected = |offset: f64| {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for tap in &taps {
            let angle = TAU * offset * tap.delay * 300e-9;
            real += tap.power / total * fadeout_core::math::cos(angle);
            imaginary += tap.power / total * fadeout_core::math::sin(angle);
        }
        real * real + imaginary * imaginary
    };
    let mut gains = [0.0_f32; 64];
    let (mut mean, mut products, mut count) = (0.0, [0.0; 4], 0);
    let lags = [0_usize, 1, 3, 10];
    let links = Cases::new(3000);
    links.run(|seed| {
        let mut link = link(&config, 1, seed as u32);
        link.large_scale_db(Time::ZERO, &walker(Time::ZERO));
        link.fading(Time::ZERO, &mut gains);
        let flat = f64::from(gains.iter().sum::<f32>()) / 64.0;
        assert!((link.fading_flat(Time::ZERO) - flat).abs() < 1e-5);
        for n in 0..50 {
            mean += f64::from(gains[n]);
            count += 1;
            for (product, lag) in products.iter_mut().zip(lags) {
                *product += f64::from((gains[n] - 1.0) * (gains[n + lag] - 1.0));
            }
        }
    });
    let count = f64::from(count);
    let error = allowed(0.0, 0.03, links, 3000);
    assert!((mean / count - 1.0).abs() < error, "{}", mean / count);
    for (product, lag) in products.iter().zip(lags) {
        let (found, expected) = (product / count, expected(20e6 / 64.0 * lag as f64));
        // There are 3 000 links of about ten coherence bandwidths. Taps of eight waves have a
        // slightly smaller spread than Gaussian ones.
        let error = allowed(0.03, 0.04, links, 3000);
        assert!(
            (found - expected).abs() < error,
            "{lag}: {found} {expected}"
        );
    }
}
