//! Tests of parameters that depend on the position: soft LOS states, K factors and delay spreads.

use fadeout_channel::antenna::{Angles, Antenna, LteSector, Mounted};
use fadeout_channel::fading::{Fading, TdlProfile};
use fadeout_channel::path_loss::{
    CloseIn, Condition, FreeSpace, HetnetMacro, HetnetPico, LteMacro, PathLoss, UrbanMacro,
    UrbanMicro,
};
use fadeout_channel::{
    ChannelConfig, CommonShadowing, Environment, LineOfSight, LinkChannel, LinkEnds, LinkKey,
    Shadowing, State, SurroundingsCache, large_scale,
};
use fadeout_core::math::{cos, exp, pow, sin};
use fadeout_core::random::Stream;
use fadeout_core::{Hertz, Kinematics, Point, Span, Time};
use fadeout_testkit::Cases;
use std::f64::consts::TAU;

fn link(config: &ChannelConfig, seed: u64) -> LinkChannel {
    let environment = Environment::new(config.clone(), seed).expect("a valid channel");
    environment.link(LinkKey {
        site: 0,
        cell: 0,
        ue: 0,
    })
}

/// Returns ends with a UE at rest on a street that passes the mast at 20 m.
fn ends_at(x: f64) -> LinkEnds {
    LinkEnds::new(
        Kinematics::at_rest(Point::new(0.0, 0.0, 10.0)),
        Kinematics::at_rest(Point::new(x, 20.0, 1.5)),
    )
}

fn street(line_of_sight: LineOfSight) -> ChannelConfig {
    ChannelConfig {
        carrier: Hertz(28e9),
        path_loss: PathLoss::UrbanMicro(UrbanMicro),
        line_of_sight,
        shadowing: None,
        ..ChannelConfig::default()
    }
}

#[test]
fn soft_states_pass_within_metres_and_are_the_drawn_ones_elsewhere() {
    let (mut soft, mut drawn) = (
        link(&street(LineOfSight::Soft), 4),
        link(&street(LineOfSight::Drawn), 4),
    );
    let (mut steepest, mut steepest_drawn) = (0.0_f64, 0.0_f64);
    let (mut before, mut flips, mut near) = (None, 0, 0);
    let count = 40_000;
    for step in 0..count {
        let x = 20.0 + f64::from(step) * 0.005;
        let now = Time::ZERO + Span::from_millis(step as u64);
        let ends = ends_at(x);
        let gains = (
            soft.large_scale_db(now, &ends),
            drawn.large_scale_db(now, &ends),
        );
        let (a, b) = (soft.large_scale(), drawn.large_scale());
        assert_eq!(a.state, b.state);
        assert!((gains.0 - gains.1 - a.transition_db).abs() < 1e-9);
        near += u32::from(a.transition_db.abs() > 0.5);
        if let Some((gain, drawn_gain, state)) = before {
            let (one, other): (f64, f64) = (gains.0 - gain, gains.1 - drawn_gain);
            steepest = steepest.max(one.abs());
            steepest_drawn = steepest_drawn.max(other.abs());
            flips += u32::from(state != a.state);
        }
        before = Some((gains.0, gains.1, a.state));
    }
    assert!(flips >= 2, "{flips}");
    // The positions are 5 mm apart. The drawn state changes the gain by more than 10 dB at once,
    // and the soft state changes it gradually.
    assert!(steepest_drawn > 10.0, "{steepest_drawn}");
    assert!(steepest < 1.0, "{steepest}");
    println!("{steepest} {steepest_drawn} {flips} {near}");
}

#[test]
fn the_power_of_a_transition_is_that_of_both_conditions_together() {
    // Objects around the UE move, so fading changes over time.
    let config = ChannelConfig {
        environment_speed: 10.0,
        los_fading: Fading::Rician { k_db: 3.0 },
        nlos_fading: Fading::Tdl {
            profile: TdlProfile::B,
            delay_spread: Span::from_nanos(100),
        },
        ..street(LineOfSight::Soft)
    };
    let mut means = Vec::new();
    let cases = Cases::new(200);
    cases.run(|seed| {
        let mut link = link(&config, seed);
        for step in 0..400 {
            let x = 20.0 + step as f64 * 0.25;
            let now = Time::ZERO + Span::from_secs(step);
            link.large_scale_db(now, &ends_at(x));
            if link.large_scale().transition_db.abs() < 3.0 {
                continue;
            }
            // Close to the border, LOS and NLOS each have a share of the power.
            assert_eq!(link.sub_bands(), Some(16));
            let (mut sum, count) = (0.0, 4000);
            for n in 0..count {
                let later = now + Span::from_micros(n * 250);
                sum += link.fading_flat(later);
            }
            means.push(sum / count as f64);
            // All positions of a link share its waves. Only one position of each link is used, so
            // that the means are independent.
            return;
        }
    });
    // Nine of ten links have such a position.
    let n = means.len() as f64;
    assert!(!cases.is_whole() || n > 100.0, "{n}");
    let mean = means.iter().sum::<f64>() / n;
    let deviation = (means.iter().map(|m| (m - mean) * (m - mean)).sum::<f64>() / (n - 1.0)).sqrt();
    if !cases.is_replay() {
        // Waves with a Doppler shift of up to 930 Hz average out within the second. Pairs of nearly
        // equal shifts beat more slowly. The deviation is 0.008 to 0.012 over thousands of links.
        assert!(deviation < 0.03, "{deviation}");
        assert!((mean - 1.0).abs() < 5.0 * deviation / n.sqrt(), "{mean}");
    }
}

#[test]
fn drawn_k_factors_and_delay_spreads_have_the_tables_law() {
    let tdl = |profile| Fading::Tdl {
        profile,
        delay_spread: Span::ZERO,
    };
    let config = |is_los, fading| ChannelConfig {
        line_of_sight: match is_los {
            true => LineOfSight::Clear,
            false => LineOfSight::Obstructed,
        },
        los_fading: fading,
        nlos_fading: fading,
        draws_k_factor: true,
        draws_delay_spread: true,
        ..street(LineOfSight::Drawn)
    };
    let rician = config(true, Fading::Rician { k_db: 0.0 });
    let spread = |condition| {
        large_scale::delay_spread_lg(&PathLoss::UrbanMicro(UrbanMicro), condition, 28.0)
    };
    for (config, law) in [
        (
            rician,
            large_scale::k_factor_db(&PathLoss::UrbanMicro(UrbanMicro)),
        ),
        (config(true, tdl(TdlProfile::D)), spread(Condition::Los)),
        (config(false, tdl(TdlProfile::A)), spread(Condition::Nlos)),
    ] {
        let value = |link: &mut LinkChannel, x: f64| {
            link.large_scale_db(Time::ZERO, &ends_at(x));
            let parts = link.large_scale();
            let drawn = parts.k_factor_db.or(parts.delay_spread_lg);
            drawn.expect("a drawn value")
        };
        let (mut sum, mut square, mut product) = (0.0, 0.0, 0.0);
        let cases = Cases::new(4000);
        cases.run(|seed| {
            let mut link = link(&config, seed);
            let here = value(&mut link, 100.0) - law.mean;
            let there = value(&mut link, 100.0 + law.distance_m) - law.mean;
            sum += here;
            square += here * here;
            product += here * there;
        });
        let count = cases.count() as f64;
        let variance = law.deviation * law.deviation;
        // The limits are four standard errors of a mean and of a variance. The lattice also lowers
        // the variance by up to 2.6 %.
        let error = 4.0 / count.sqrt();
        assert!((sum / count).abs() < error * law.deviation, "{law:?}");
        let off = square / count / variance - 1.0;
        assert!(off.abs() < error * 2.0_f64.sqrt() + 0.026, "{law:?}: {off}");
        let correlation = product / count / variance;
        assert!(
            (correlation - exp(-1.0)).abs() < 1.07 * error + 0.022,
            "{law:?}: {correlation}"
        );
    }
}

#[test]
fn a_drawn_spread_changes_the_band_and_nothing_else() {
    // Two sub-bands far apart have equal fading if the delay spread is short, and different fading
    // if it is long.
    let config = ChannelConfig {
        line_of_sight: LineOfSight::Obstructed,
        nlos_fading: Fading::Tdl {
            profile: TdlProfile::A,
            delay_spread: Span::ZERO,
        },
        draws_delay_spread: true,
        bandwidth: Hertz(20e6),
        ..street(LineOfSight::Drawn)
    };
    let mut sums = [(0.0_f64, 0_u32); 2];
    Cases::new(3000).run(|seed| {
        let mut link = link(&config, seed);
        link.large_scale_db(Time::ZERO, &ends_at(80.0));
        assert_eq!(link.large_scale().state, State::Nlos);
        let spread_lg = link.large_scale().delay_spread_lg.expect("drawn");
        let spread = pow(10.0, spread_lg);
        let mut gains = [0.0_f32; 16];
        link.fading(Time::ZERO, &mut gains);
        let product = f64::from(gains[0] - 1.0) * f64::from(gains[15] - 1.0);
        let half = usize::from(spread > 70e-9);
        sums[half].0 += product;
        sums[half].1 += 1;
    });
    let [short, long] = sums.map(|(sum, count)| sum / f64::from(count));
    assert!(short > 0.4 && long < 0.2, "{short} {long}");
    assert!(sums.iter().all(|&(_, count)| count > 500), "{sums:?}");
}

#[test]
fn sectors_that_share_their_sites_maps_see_what_each_would_alone() {
    let config_with = |minimum_loss_db| ChannelConfig {
        shadowing: Some(Shadowing::default()),
        minimum_loss_db,
        ..street(LineOfSight::Soft)
    };
    let first = Environment::new(config_with(60.0), 7).expect("a valid channel");
    let second = Environment::sharing_maps(config_with(70.0), 7, [&first].into_iter())
        .expect("a valid channel");
    let alone = Environment::new(config_with(70.0), 7).expect("a valid channel");
    let key = |cell| LinkKey {
        site: 3,
        cell,
        ue: 1,
    };
    let (mut other, mut shared) = (first.link(key(9)), second.link(key(10)));
    let mut own = alone.link(key(10));
    for n in 0..200_u32 {
        let (now, ends) = (Time::ZERO, ends_at(f64::from(n * n % 211) - 80.0));
        other.large_scale_db(now, &ends);
        let found = shared.large_scale_db(now, &ends);
        assert_eq!(found, own.large_scale_db(now, &ends));
        assert_eq!(shared.fading_flat(now), own.fading_flat(now));
    }
}

#[test]
fn antennas_of_a_mast_that_find_the_way_together_find_what_each_would_alone() {
    let config_with = |azimuth_deg, path_loss| ChannelConfig {
        shadowing: Some(Shadowing::default()),
        path_loss,
        base_antenna: Antenna::Sector(Mounted {
            pattern: LteSector::default(),
            boresight: Angles {
                azimuth_deg,
                elevation_deg: 0.0,
            },
        }),
        ..street(LineOfSight::Soft)
    };
    for path_loss in [
        PathLoss::UrbanMicro(UrbanMicro),
        PathLoss::UrbanMacro(UrbanMacro),
        PathLoss::LteMacro(LteMacro),
    ] {
        let mut environments: Vec<Environment> = Vec::new();
        for azimuth in [0.0, 120.0, 240.0] {
            let made =
                Environment::sharing_maps(config_with(azimuth, path_loss), 7, environments.iter());
            environments.push(made.expect("a valid channel"));
        }
        // There are two masts of three cells. The UE may be so high that its environment height is
        // drawn.
        let links = || -> Vec<LinkChannel> {
            let keys = (0..6_u32).map(|cell| LinkKey {
                site: cell / 3,
                cell,
                ue: 1,
            });
            keys.map(|key| environments[key.cell as usize % 3].link(key))
                .collect()
        };
        let (mut together, mut alone) = (links(), links());
        for n in 0..300_u32 {
            let mut cache = SurroundingsCache::default();
            let place = f64::from(n * n % 211) - 80.0;
            let height = if n % 3 == 0 { 20.0 } else { 1.5 };
            for (number, (one, own)) in together.iter_mut().zip(&mut alone).enumerate() {
                let mut ends = ends_at(place);
                ends.base.position.x = 90.0 * (number / 3) as f64;
                ends.ue.position.z = height;
                let now = Time::ZERO + Span::from_millis(n.into());
                let found = one.cached_large_scale_db(now, &ends, &mut cache);
                let expected = own.large_scale_db(now, &ends);
                assert_eq!(found.to_bits(), expected.to_bits(), "{path_loss:?} {n}");
                assert_eq!(one.large_scale(), own.large_scale());
                assert_eq!(one.fading_flat(now), own.fading_flat(now));
            }
        }
    }
}

/// Compares three links: a reduced link, a link that becomes a full link later, and a link that is
/// a full link from the start. Their mean gains are equal.
#[test]
fn a_link_that_stands_aside_is_the_whole_one_without_its_fading() {
    let clusters = ChannelConfig::default();
    let rays = ChannelConfig {
        los_fading: Fading::Rician { k_db: 9.0 },
        nlos_fading: Fading::Rayleigh,
        draws_k_factor: true,
        ..clusters.clone()
    };
    for (path_loss, line_of_sight, of_fading) in [
        (PathLoss::LteMacro(LteMacro), LineOfSight::Drawn, &rays),
        (PathLoss::UrbanMicro(UrbanMicro), LineOfSight::Drawn, &rays),
        (
            PathLoss::UrbanMicro(UrbanMicro),
            LineOfSight::Drawn,
            &clusters,
        ),
        // This configuration has no reduced form, so every link is a full link.
        (PathLoss::UrbanMicro(UrbanMicro), LineOfSight::Soft, &rays),
    ] {
        let config = ChannelConfig {
            path_loss,
            shadowing: Some(Shadowing::default()),
            los_fading: of_fading.los_fading,
            nlos_fading: of_fading.nlos_fading,
            draws_k_factor: of_fading.draws_k_factor,
            draws_delay_spread: of_fading.draws_delay_spread,
            ..street(line_of_sight)
        };
        let environment = Environment::new(config.clone(), 11).expect("a valid channel");
        let key = LinkKey {
            site: 2,
            cell: 4,
            ue: 6,
        };
        let mut full = environment.link(key);
        let mut reduced = environment.reduced_link(key, config.penetration);
        let mut near = environment.reduced_link(key, config.penetration);
        for n in 0..200_u32 {
            let now = Time::ZERO + Span::from_millis(u64::from(10 * n));
            let mut ends = ends_at(f64::from(n / 3 * 7 % 211) - 80.0);
            ends.ue.velocity.x = 3.0;
            let expected = full.large_scale_db(now, &ends);
            assert_eq!(reduced.large_scale_db(now, &ends), expected);
            assert_eq!(near.large_scale_db(now, &ends), expected);
            assert_eq!(reduced.last_db(), full.last_db());
            if n >= 100 {
                near.make_full();
                let later = now + Span::from_millis(3);
                assert_eq!(near.fading_flat(later), full.fading_flat(later));
                assert_eq!(near.large_scale(), full.large_scale());
            }
        }
    }
}

/// The bounds of the gain are valid at every position of the walk, and they are close enough to be
/// useful. The losses have a known slope.
#[test]
fn a_gain_is_within_its_bounds_at_another_place() {
    let sector = Antenna::Sector(Mounted {
        pattern: LteSector::default(),
        boresight: Angles {
            azimuth_deg: 30.0,
            elevation_deg: 0.0,
        },
    });
    let given = |is_los| match is_los {
        true => LineOfSight::Clear,
        false => LineOfSight::Obstructed,
    };
    for (number, (path_loss, line_of_sight)) in [
        (PathLoss::LteMacro(LteMacro), LineOfSight::Drawn),
        (PathLoss::FreeSpace(FreeSpace), LineOfSight::Drawn),
        (PathLoss::CloseIn(CloseIn::default()), given(false)),
        (PathLoss::HetnetMacro(HetnetMacro), given(true)),
        (PathLoss::HetnetPico(HetnetPico), given(false)),
    ]
    .into_iter()
    .enumerate()
    {
        let config = ChannelConfig {
            carrier: Hertz(2e9),
            shadowing: Some(Shadowing {
                sigma_db: Some(8.0),
                ..Shadowing::default()
            }),
            path_loss,
            base_antenna: sector,
            los_fading: Fading::None,
            nlos_fading: Fading::None,
            ..street(line_of_sight)
        };
        let (mut halves_db, mut tightest) = ((0.0, 0), 0.0_f64);
        let cases = Cases::new(2000).among(5);
        cases.run(|seed| {
            let mut link = link(&config, seed);
            let mut draw = Stream::new(seed, "walk", number as u64);
            let (mut x, mut y) = (draw.uniform_in(-300.0, 300.0), 30.0);
            for n in 0..12_u32 {
                let distance = draw.uniform_in(0.0, if n % 10 == 0 { 40.0 } else { 1.0 });
                let toward = draw.uniform_in(0.0, TAU);
                x = (x + distance * cos(toward)).clamp(-600.0, 600.0);
                y = (y + distance * sin(toward)).clamp(-600.0, 600.0);
                let mut ends = ends_at(x);
                ends.base.position.z = 32.0;
                ends.ue.position.y = y;
                let common = &mut CommonShadowing::default();
                let place = ends.ue.position;
                let shadowing_db = link.shadowing_db(place, common);
                let smooth = link.smooth(f64::INFINITY);
                let found = link.large_scale_db(Time::ZERO, &ends);
                assert!(n > 0 || smooth.is_none(), "nothing was found yet");
                let bounds = smooth.and_then(|it| it.bounds_db(place, shadowing_db));
                let Some([least, most]) = bounds else {
                    continue;
                };
                let is_within = least <= found && found <= most;
                assert!(is_within, "{path_loss:?} {n}: {least} {found} {most}");
                let (middle, half) = ((least + most) / 2.0, (most - least) / 2.0);
                tightest = tightest.max((found - middle).abs() / half);
                if distance < 1.0 {
                    halves_db = (halves_db.0 + half, halves_db.1 + 1);
                }
            }
        });
        let mean_db = halves_db.0 / f64::from(halves_db.1);
        assert!(!cases.is_whole() || tightest > 0.5, "{tightest}");
        assert!(!cases.is_whole() || halves_db.1 > 2000, "{halves_db:?}");
        // With shadowing of 8 dB, the map's error contributes about 2 dB to the distance of the
        // bounds. The slopes of losses and antennas near a mast contribute the remainder.
        assert!(mean_db < 6.0, "{mean_db}");
    }
    // If the LOS state may change, the gain has no bounds.
    let mut free = link(&street(LineOfSight::Drawn), 5);
    free.large_scale_db(Time::ZERO, &ends_at(50.0));
    assert_eq!(free.smooth(f64::INFINITY), None);
}
