//! Tests of reports and scheduling by sub-band over a frequency-selective channel.

use crate::common::Rig;
use fadeout_core::random::Stream;
use fadeout_core::{Dbm, Direction, Hertz, NodeId, Point, Span, UeId, math};
use fadeout_radio::access::{
    Adaptation, BearerConfig, CellConfig, RadioConfig, ReportedAdaptation, UeConfig,
};
use fadeout_radio::channel::ChannelConfig;
use fadeout_radio::channel::fading::{Fading, TdlProfile};
use fadeout_radio::channel::path_loss::{FreeSpace, PathLoss};
use fadeout_radio::rlc::RlcConfig;
use fadeout_testkit::Cases;

const UES: u32 = 8;

/// Result of a downlink run with equal UEs around a cell and full buffers.
struct Run {
    /// Bytes of new blocks that arrived.
    carried: f64,
    /// Share of first transmissions that failed.
    failed: f64,
    /// Mean SINR in dB of the transmissions.
    sinr_db: f64,
}

fn run(fading: Fading, power: Dbm, sub_band: Option<u32>, seed: u64) -> Run {
    let cell = CellConfig {
        adaptation: Adaptation::Reports(ReportedAdaptation::every(
            Span::from_millis(5),
            Span::from_millis(2),
        )),
        cqi_sub_band: sub_band,
        channel: ChannelConfig {
            path_loss: PathLoss::FreeSpace(FreeSpace),
            shadowing: None,
            los_fading: fading,
            environment_speed: 0.05,
            ..ChannelConfig::default()
        },
        power,
        ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell")
    };
    let config = RadioConfig {
        cells: vec![cell],
        ues: (0..UES).map(|ue| UeConfig::new(NodeId(ue))).collect(),
        bearers: (0..UES)
            .map(|ue| BearerConfig {
                rlc: RlcConfig::NR_UM,
                ..BearerConfig::nr(UeId(ue))
            })
            .collect(),
    };
    let place = |ue: u32| Point::new(300.0 + f64::from(ue), 0.0, 0.0);
    let mut rig = Rig::with_places(config, seed, (0..UES).map(place).collect());
    for _ in 0..400 {
        for ue in 0..UES {
            for _ in 0..12 {
                rig.send_packet(ue, Direction::Downlink, 1500, 0);
            }
        }
        rig.run_for(Span::from_millis(5));
    }
    let blocks = || {
        rig.rows
            .blocks
            .iter()
            .filter(|one| one.direction == Direction::Downlink)
    };
    let first = || blocks().filter(|one| one.round == 0);
    let arrived = blocks().filter(|block| block.is_ok);
    Run {
        carried: arrived.map(|block| f64::from(block.size_bytes)).sum(),
        failed: first().filter(|block| !block.is_ok).count() as f64 / first().count() as f64,
        sinr_db: first().map(|block| block.sinr_db).sum::<f64>() / first().count() as f64,
    }
}

/// Returns an upper bound of the gain by sub-band scheduling with Rayleigh fading. Each sub-band
/// goes to the best of eight UEs. A resource element carries log2(1 + SNR) bits, up to the highest
/// MCS.
fn oracle(mean: f64) -> f64 {
    let mut random = Stream::new(3, "oracle", 0);
    let bits = |snr: f64| math::log2(1.0 + snr).min(5.55);
    let (mut best, mut any) = (0.0, 0.0);
    for _ in 0..100_000 {
        let draws: Vec<f64> = (0..UES).map(|_| random.exponential(mean)).collect();
        best += bits(draws.iter().copied().fold(0.0, f64::max));
        any += bits(draws[0]);
    }
    best / any
}

fn selective() -> Fading {
    Fading::Tdl {
        profile: TdlProfile::A,
        delay_spread: Span::from_nanos(100),
    }
}

#[test]
fn sub_bands_carry_more_over_a_selective_band_and_never_more_than_an_oracle() {
    for (power_dbm, least) in [(4.0, 1.5), (14.0, 1.3)] {
        let (mut whole, mut parts, mut sinr_db) = (0.0, 0.0, 0.0);
        let cases = Cases::new(2000).among(1000);
        cases.run(|seed| {
            let power = Dbm(power_dbm);
            let one = run(selective(), power, None, seed);
            let other = run(selective(), power, Some(8), seed);
            whole += one.carried;
            parts += other.carried;
            sinr_db += one.sinr_db / cases.count() as f64;
            // The outer loop achieves its target error rate of 10 % with and without sub-bands.
            assert!((other.failed - 0.1).abs() < 0.02, "{}", other.failed);
        });
        let (gain, most) = (parts / whole, oracle(math::from_db(sinr_db)));
        // The gain is below the bound for three reasons. Sub-bands of 2.88 MHz are not flat.
        // Reported differences are limited to two steps. Reports are 2 to 7 ms old. The measured
        // gains are 1.73 (bound 2.19) and 1.47 (bound 1.70).
        assert!(gain > least && gain < most, "{gain}, oracle {most}");
    }
}

#[test]
fn on_a_flat_channel_sub_bands_carry_what_the_whole_band_does() {
    for fading in [Fading::None, Fading::Rayleigh] {
        let one = run(fading, Dbm(14.0), None, 1);
        let other = run(fading, Dbm(14.0), Some(16), 1);
        // The runs allocate slots to different UEs, so different blocks fail by chance.
        let ratio = other.carried / one.carried;
        assert!((ratio - 1.0).abs() < 0.03, "{fading:?}: {ratio}");
    }
}
