//! Tests of links against closed forms, and tests that links do not depend on certain quantities.

use fadeout_channel::antenna::{Angles, Antenna, Array, BeamManagement, Mounted};
use fadeout_channel::blockage::{Blockage, Crossing, Crowd, FourState, ModelA, Periodic, TwoState};
use fadeout_channel::fading::{FADING_MODELS, Fading, TdlProfile};
use fadeout_channel::path_loss::{Condition, Ends, FreeSpace, Nyu28, PATH_LOSS_MODELS, PathLoss};
use fadeout_channel::{
    ChannelConfig, Environment, LineOfSight, LinkChannel, LinkEnds, LinkKey, State,
};
use fadeout_core::math::to_db;
use fadeout_core::{Hertz, Kinematics, Point, Span, Time, Vector};
use fadeout_testkit::Cases;

mod fading;

/// Returns a channel at 3 GHz in which only fading varies.
fn only_fading(fading: Fading) -> ChannelConfig {
    ChannelConfig {
        carrier: Hertz(3e9),
        path_loss: PathLoss::FreeSpace(FreeSpace),
        line_of_sight: LineOfSight::Clear,
        shadowing: None,
        los_fading: fading,
        nlos_fading: fading,
        draws_k_factor: false,
        draws_delay_spread: false,
        environment_speed: 0.0,
        ..ChannelConfig::default()
    }
}

fn link(config: &ChannelConfig, seed: u64, ue: u32) -> LinkChannel {
    let environment = Environment::new(config.clone(), seed).expect("a valid channel");
    environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue,
    })
}

fn mast() -> Kinematics {
    Kinematics::at_rest(Point::new(0.0, 0.0, 10.0))
}

/// Returns ends with a UE that passes the mast on a straight line at 10 m/s.
fn walker(t: Time) -> LinkEnds {
    let x = 10.0 * t.as_secs_f64();
    LinkEnds::new(
        mast(),
        Kinematics {
            position: Point::new(x, 100.0, 1.5),
            velocity: Vector::new(10.0, 0.0, 0.0),
        },
    )
}

fn secs(t: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(t)
}

/// Returns the allowed deviation of a mean over `links`. `bias` is the known deviation of the
/// model. `chance` is the random error with `usual` links. It decreases with the square root of
/// their number.
fn allowed(bias: f64, chance: f64, links: Cases, usual: u64) -> f64 {
    bias + chance * (usual as f64 / links.count() as f64).sqrt()
}

#[test]
fn doppler_follows_the_speed_and_a_ue_that_stops_keeps_its_fade() {
    let mut link = link(&only_fading(Fading::Rayleigh), 1, 0);
    let stopped = |t: Time| {
        let travelled = t.as_secs_f64().min(1.0) * 10.0;
        let speed = if t < secs(1.0) { 10.0 } else { 0.0 };
        LinkEnds::new(
            mast(),
            Kinematics {
                position: Point::new(travelled, 100.0, 1.5),
                velocity: Vector::new(speed, 0.0, 0.0),
            },
        )
    };
    let mut gain = |t: f64| {
        link.large_scale_db(secs(t), &stopped(secs(t)));
        link.fading_flat(secs(t))
    };
    let (moving, later) = (gain(0.5), gain(0.51));
    let (at_rest, still) = (gain(1.0), gain(60.0));
    assert!((moving - later).abs() > 0.01);
    assert!((at_rest - still).abs() < 1e-6, "{at_rest} {still}");
}

#[test]
fn path_loss_medians_and_states_are_those_of_the_formulas() {
    let config = ChannelConfig {
        carrier: Hertz(28e9),
        path_loss: PathLoss::Nyu28(Nyu28),
        ..ChannelConfig::default()
    };
    for distance in [50.0, 100.0, 170.0] {
        let ends = LinkEnds::new(mast(), Kinematics::at_rest(Point::new(distance, 0.0, 10.0)));
        let geometry = Ends::new(ends.base.position, ends.ue.position, config.carrier);
        let probabilities = config.path_loss.state_probabilities(&geometry);
        let (mut los, mut outage, mut gains) = (0_u32, 0_u32, Vec::new());
        let cases = Cases::new(2000);
        cases.run(|seed| {
            let mut link = link(&config, seed, 0);
            link.large_scale_db(Time::ZERO, &ends);
            match link.large_scale().state {
                State::Los => los += 1,
                State::Outage => outage += 1,
                State::Nlos => gains.push(-link.large_scale().gain_db),
            }
        });
        let count = cases.count() as f64;
        let share = |n: u32| f64::from(n) / count;
        // The limit is four standard errors of a share, whose standard deviation is at most a half.
        // The lattice lowers the variance of the field by up to 2.6 %, which changes a share by
        // 0.003. Only very many draws show this change.
        let error = f64::max(2.0 / count.sqrt(), 0.01);
        assert!((share(los) - probabilities.los).abs() < error);
        assert!((share(outage) - probabilities.outage).abs() < error);
        gains.sort_by(f64::total_cmp);
        let median = gains[gains.len() / 2];
        let expected = config.path_loss.loss_db(&geometry, Condition::Nlos);
        // The standard deviation is 8.7 dB over some 1,000 draws, so one standard error of the
        // median is 0.34 dB. The lattice adds a tenth to it.
        let error = allowed(0.1, 1.6, cases, 2000);
        assert!((median - expected).abs() < error, "{median} {expected}");
    }
}

fn everything() -> ChannelConfig {
    let array = |rows, columns| {
        Antenna::Array(Mounted {
            pattern: Array {
                rows,
                columns,
                ..Array::default()
            },
            boresight: Angles {
                azimuth_deg: 45.0,
                elevation_deg: 0.0,
            },
        })
    };
    ChannelConfig {
        carrier: Hertz(60e9),
        blockages: vec![
            Blockage::FourState(FourState::for_beamwidth(15.0)),
            Blockage::ModelA(ModelA::default()),
            Blockage::Crossing(Crossing::default()),
            Blockage::Crowd(Crowd::default()),
        ],
        base_antenna: array(8, 8),
        ue_antenna: array(2, 4),
        beams: Some(BeamManagement::default()),
        has_oxygen: true,
        rain_mm_per_h: 25.0,
        los_fading: Fading::Tdl {
            profile: TdlProfile::D,
            delay_spread: Span::from_nanos(30),
        },
        ..ChannelConfig::default()
    }
}

#[test]
fn a_link_is_the_same_however_often_it_is_asked() {
    same_however_often_it_is_asked(&everything());
    same_however_often_it_is_asked(&ChannelConfig {
        line_of_sight: LineOfSight::Soft,
        draws_k_factor: true,
        draws_delay_spread: true,
        nlos_fading: Fading::Tdl {
            profile: TdlProfile::A,
            delay_spread: Span::ZERO,
        },
        ..everything()
    });
}

fn same_however_often_it_is_asked(config: &ChannelConfig) {
    let (mut often, mut seldom) = (link(config, 3, 7), link(config, 3, 7));
    let mut states = [0_u32; 3];
    for ms in 0..20_000_u64 {
        let now = Time::ZERO + Span::from_millis(ms);
        let gain = often.large_scale_db(now, &walker(now));
        if ms % 170 == 0 {
            assert_eq!(seldom.large_scale_db(now, &walker(now)), gain, "{ms} ms");
            let later = now + Span::from_micros(125);
            assert_eq!(seldom.fading_flat(later), often.fading_flat(later));
            states[often.large_scale().state as usize] += 1;
        }
    }
    assert!(states[0] > 0 && states[1] > 0, "{states:?}");
}

#[test]
fn adding_a_ue_or_a_cell_changes_no_other_link() {
    let alone = Environment::new(everything(), 9).expect("a valid channel");
    let crowded = Environment::new(everything(), 9).expect("a valid channel");
    let key = |cell, ue| LinkKey { site: 0, cell, ue };
    for other in 0..5 {
        crowded.link(LinkKey {
            site: other,
            ..key(other, other)
        });
    }
    let (mut a, mut b) = (alone.link(key(1, 3)), crowded.link(key(1, 3)));
    for ms in (0..2000).step_by(50) {
        let now = Time::ZERO + Span::from_millis(ms);
        let ends = walker(now);
        assert_eq!(a.large_scale_db(now, &ends), b.large_scale_db(now, &ends));
        assert_eq!(a.fading_flat(now), b.fading_flat(now));
    }
}

#[test]
fn every_model_is_finite_at_every_distance_and_height() {
    for entry in PATH_LOSS_MODELS {
        let path_loss = PathLoss::new(entry.name, &Default::default()).expect(entry.name);
        for carrier in [0.7e9, 3.5e9, 28e9, 100e9] {
            for line_of_sight in [LineOfSight::Drawn, LineOfSight::Obstructed] {
                let config = ChannelConfig {
                    carrier: Hertz(carrier),
                    path_loss,
                    line_of_sight,
                    ..everything()
                };
                let mut link = link(&config, 1, 0);
                let mut now = Time::ZERO;
                for distance in [0.0, 1e-9, 0.5, 10.0, 18.0, 1e3, 1e5, 1e7] {
                    for (base, ue) in [(0.0, 0.0), (10.0, 1.5), (10.0, 10.0), (500.0, 40.0)] {
                        now += Span::from_millis(7);
                        let ends = LinkEnds::new(
                            Kinematics::at_rest(Point::new(0.0, 0.0, base)),
                            Kinematics::at_rest(Point::new(distance, 0.0, ue)),
                        );
                        let gain = link.large_scale_db(now, &ends);
                        assert!(gain.is_finite() && gain <= 0.0, "{} {ends:?}", entry.name);
                        let fading = link.fading_flat(now);
                        assert!(fading.is_finite() && fading >= 0.0);
                    }
                }
            }
        }
    }
}

#[test]
fn a_stale_beam_costs_more_the_faster_the_ue_passes() {
    let config = ChannelConfig {
        line_of_sight: LineOfSight::Clear,
        shadowing: None,
        blockages: Vec::new(),
        base_antenna: Antenna::Array(Mounted {
            pattern: Array {
                rows: 1,
                columns: 64,
                oversampling: 0,
                ..Array::default()
            },
            boresight: Angles {
                azimuth_deg: 90.0,
                elevation_deg: 0.0,
            },
        }),
        beams: Some(BeamManagement {
            failure: None,
            ..BeamManagement::default()
        }),
        ..everything()
    };
    let worst = |speed: f64| {
        let mut link = link(&config, 1, 0);
        let mut lowest = f64::INFINITY;
        for ms in 1000..1040 {
            let now = Time::ZERO + Span::from_millis(ms);
            let ue = Kinematics {
                position: Point::new(speed * (now.as_secs_f64() - 1.02), 20.0, 10.0),
                velocity: Vector::new(speed, 0.0, 0.0),
            };
            link.large_scale_db(now, &LinkEnds::new(mast(), ue));
            lowest = lowest.min(link.large_scale().base_gain_dbi);
        }
        // The default element has 5 dBi, which is 10 lg pi.
        let peak = to_db(64.0) + to_db(std::f64::consts::PI);
        peak - lowest
    };
    // The beam is 1.6 degrees wide and 24 ms old. At 30 m/s and a distance of 20 m its error is two
    // degrees, so its gain falls by more than 10 dB.
    assert!(worst(1.0) < 0.2, "{}", worst(1.0));
    assert!(worst(30.0) > 10.0, "{}", worst(30.0));
}

#[test]
fn values_out_of_range_are_named() {
    let error = |change: fn(&mut ChannelConfig)| {
        let mut config = everything();
        change(&mut config);
        Environment::new(config, 1)
            .expect_err("out of range")
            .to_string()
    };
    assert_eq!(
        error(|config| config.carrier = Hertz(28.0)),
        "carrier is 28; expected 100000000 to 150000000000 Hz"
    );
    assert_eq!(
        error(|config| config.sub_bands = 0),
        "number of sub-bands is 0; expected 1 to 64"
    );
    assert!(error(|config| config.rain_mm_per_h = f64::NAN).starts_with("rain is NaN"));
    assert!(
        error(
            |config| config.blockages = vec![Blockage::Periodic(Periodic {
                period: Span::ZERO,
                ..Periodic::default()
            })]
        )
        .starts_with("blockage period is 0")
    );
    assert!(
        error(|config| config.blockages = vec![Blockage::TwoState(TwoState::default()); 5])
            .starts_with("number of blockages is 5")
    );
}

#[test]
fn every_listed_name_has_a_model() {
    for entry in FADING_MODELS {
        assert!(Fading::from_name(entry.name, 9.0, Span::from_nanos(100)).is_some());
    }
    assert!(Fading::from_name("nakagami", 9.0, Span::ZERO).is_none());
}

/// Returns a UE at rest, `x` metres east of the origin.
fn there(x: f64) -> Kinematics {
    Kinematics::at_rest(Point::new(x, 0.0, 1.5))
}

#[test]
fn the_powers_at_several_antennas_add_up() {
    let moments = |antennas: u32, fading: Fading| {
        let config = ChannelConfig {
            line_of_sight: LineOfSight::Obstructed,
            nlos_fading: fading,
            receive_antennas: antennas,
            ..ChannelConfig::default()
        };
        let (mut sum, mut square, mut low) = (0.0, 0.0, 0.0);
        let count = Cases::new(20_000).count() as u32;
        let environment = Environment::new(config, 1).expect("a valid channel");
        for ue in 0..count {
            let mut link = environment.link(LinkKey {
                site: 0,
                cell: 0,
                ue,
            });
            link.large_scale_db(Time::ZERO, &LinkEnds::new(mast(), there(100.0)));
            let gain = link.fading_flat(Time::ZERO);
            sum += gain;
            square += gain * gain;
            low += f64::from(u8::from(gain < 0.2));
        }
        let count = f64::from(count);
        let mean = sum / count;
        (mean, square / count - mean * mean, low / count)
    };
    for (antennas, share_below) in [(1, 0.181_27), (2, 0.017_523), (4, 5.684e-5)] {
        let n = f64::from(antennas);
        // The sum of n exponential powers has the mean n and the variance n. The probability of
        // values below x is 1 - exp(-x) times the sum of x^k / k! over k < n. A sum of 16 waves has
        // a variance of 15/16 and rarer deep fades.
        let (mean, variance, low) = moments(antennas, Fading::Rayleigh);
        let error = 4.0 * (n / Cases::new(20_000).count() as f64).sqrt();
        assert!((mean - n).abs() < error, "{antennas}: mean {mean}");
        assert!(
            (variance / n - 15.0 / 16.0).abs() < 0.08,
            "{antennas}: variance {variance}"
        );
        assert!(
            (low - share_below).abs() < 0.1 * share_below + 1e-3,
            "{antennas}: {low}"
        );
    }
    let (mean, variance, _) = moments(2, Fading::None);
    assert_eq!((mean, variance), (2.0, 0.0));
}

#[test]
fn an_antenna_more_changes_nothing_at_the_first() {
    let config = |antennas| ChannelConfig {
        line_of_sight: LineOfSight::Obstructed,
        nlos_fading: Fading::Tdl {
            profile: TdlProfile::A,
            delay_spread: Span::from_nanos(100),
        },
        receive_antennas: antennas,
        ..ChannelConfig::default()
    };
    let gains = |antennas| {
        let mut link = link(&config(antennas), 3, 0);
        link.large_scale_db(Time::ZERO, &LinkEnds::new(mast(), there(100.0)));
        let mut gains = [0.0; 16];
        link.fading(Time::ZERO + Span::from_millis(7), &mut gains);
        gains
    };
    let (one, two, three) = (gains(1), gains(2), gains(3));
    for band in 0..16 {
        assert!(two[band] > one[band] && three[band] > two[band]);
    }
    // The fading of the second antenna differs from that of the first.
    assert!((two[0] - 2.0 * one[0]).abs() > 1e-3);
}

#[test]
fn a_link_that_stays_is_what_a_new_look_would_find() {
    let sector = Antenna::new("sector", fadeout_core::registry::Parameters::NONE);
    let config = ChannelConfig {
        base_antenna: sector.expect("an antenna"),
        nlos_fading: Fading::Rayleigh,
        ..ChannelConfig::default()
    };
    let second = |s| Time::ZERO + Span::from_secs(s);
    for seed in 0..20 {
        let mut still = link(&config, seed, 0);
        for s in 0..5 {
            // The beams point at another UE in each evaluation, and the result equals that of a new
            // link.
            let mut ends = LinkEnds::new(mast(), there(100.0));
            ends.base_beam_at = Some(Point::new(s as f64, 7.0, 1.5));
            ends.ue_beam_at = Some(Point::new(0.0, s as f64, 1.5));
            let found = still.large_scale_db(second(s), &ends);
            let mut fresh = link(&config, seed, 0);
            assert_eq!(found, fresh.large_scale_db(second(s), &ends));
            let later = second(s) + Span::from_millis(3);
            assert_eq!(still.fading_flat(later), fresh.fading_flat(later));
        }
        // After the UE has moved, the link is evaluated again, and the result equals that of a new
        // link.
        let mut fresh = link(&config, seed, 0);
        let there = LinkEnds::new(mast(), there(140.0));
        assert_eq!(
            still.large_scale_db(second(9), &there),
            fresh.large_scale_db(second(9), &there)
        );
    }
}
