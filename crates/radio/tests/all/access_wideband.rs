//! Tests of link adaptation over a frequency-selective channel.

use crate::common::Rig;
use fadeout_core::{Dbm, Direction, Hertz, NodeId, Point, Span, UeId};
use fadeout_radio::access::{
    Adaptation, BearerConfig, CellConfig, RadioConfig, ReportedAdaptation, UeConfig,
};
use fadeout_radio::channel::ChannelConfig;
use fadeout_radio::channel::fading::{Fading, TdlProfile};
use fadeout_radio::channel::path_loss::{FreeSpace, PathLoss};
use fadeout_radio::phy::effective_sinr::EffectiveSinr;
use fadeout_radio::phy::link_adaptation::OuterLoopConfig;
use fadeout_radio::rlc::RlcConfig;
use fadeout_testkit::Cases;

/// Returns the share of first transmissions that fail in each direction. Twenty UEs at rest have
/// nearly constant channels, and the outer loop is off.
fn first_errors(fading: Fading, method: EffectiveSinr) -> [f64; 2] {
    let (mut failed, mut sent) = ([0_u32; 2], [0_u32; 2]);
    // A single run has some tens of thousands of blocks, so few runs suffice.
    Cases::new(4000).among(1000).run(|seed| {
        let cell = CellConfig {
            adaptation: Adaptation::Reports(ReportedAdaptation {
                outer_loop: OuterLoopConfig::OFF,
                ..ReportedAdaptation::every(Span::from_millis(5), Span::from_millis(2))
            }),
            channel: ChannelConfig {
                path_loss: PathLoss::FreeSpace(FreeSpace),
                shadowing: None,
                los_fading: fading,
                environment_speed: 0.01,
                ..ChannelConfig::default()
            },
            effective_sinr: method,
            power: Dbm(17.0),
            ..CellConfig::nr(Point::default(), Hertz(3.5e9), 1, 106).expect("a cell")
        };
        let ues = 20;
        let config = RadioConfig {
            cells: vec![cell],
            ues: (0..ues)
                .map(|ue| UeConfig {
                    power: Dbm(10.0),
                    ..UeConfig::new(NodeId(ue))
                })
                .collect(),
            bearers: (0..ues)
                .map(|ue| BearerConfig {
                    rlc: RlcConfig::NR_UM,
                    ..BearerConfig::nr(UeId(ue))
                })
                .collect(),
        };
        let place = |ue: u32| Point::new(100.0 + 20.0 * f64::from(ue), 0.0, 0.0);
        let mut rig = Rig::with_places(config, seed, (0..ues).map(place).collect());
        for _ in 0..40 {
            for ue in 0..ues {
                for _ in 0..6 {
                    rig.send_packet(ue, Direction::Downlink, 1500, 0);
                    rig.send_packet(ue, Direction::Uplink, 1500, 0);
                }
            }
            rig.run_for(Span::from_millis(25));
        }
        for block in rig.rows.blocks.iter().filter(|block| block.round == 0) {
            sent[block.direction.index()] += 1;
            failed[block.direction.index()] += u32::from(!block.is_ok);
        }
    });
    [0, 1].map(|n| f64::from(failed[n]) / f64::from(sent[n]))
}

#[test]
fn without_an_outer_loop_first_transmissions_keep_the_target_over_a_selective_band() {
    let selective = Fading::Tdl {
        profile: TdlProfile::A,
        delay_spread: Span::from_nanos(1000),
    };
    for (fading, method) in [
        (Fading::Rayleigh, EffectiveSinr::Miesm),
        (selective, EffectiveSinr::Miesm),
        (selective, EffectiveSinr::Eesm),
    ] {
        for errors in first_errors(fading, method) {
            // The target error rate is 10 % at the SINR threshold of a CQI. The SINR is up to 2 dB
            // above the threshold, so 2 to 4 % of the blocks fail, as on a flat channel. If UEs
            // reported the mean SINR of the band, 83 to 89 % of the blocks would fail.
            assert!(
                errors > 0.01 && errors < 0.06,
                "{fading:?} {method:?}: {errors}"
            );
        }
    }
}
