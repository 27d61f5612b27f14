//! Tests of the channel and the antennas against reference values.

use fadeout_channel::antenna::beam::{Beam, BeamParameters};
use fadeout_channel::antenna::management::{exhaustive_search, pair_sweep, staleness_seconds};
use fadeout_channel::antenna::shapes::{ReferenceAntenna, cone_gain, sector_gain};
use fadeout_channel::antenna::{
    Angles, Array, BeamFailure, BeamManagement, Element, ElementKind, array,
};
use fadeout_channel::blockage::{Crowd, FourState, NonSelfBlocker, TwoState};
use fadeout_channel::blockage_model_b::{DirectPath, Screen, screen_loss};
use fadeout_channel::fading::{TdlProfile, statistics};
use fadeout_channel::path_loss::vehicle::blocking_vehicle;
use fadeout_channel::path_loss::{
    CloseIn, Condition, Ends, HetnetMacro, IndoorMixed, LteMacro, Nyu28, Nyu73, PathLoss,
    PathLossModel as _, RuralMacro, UrbanMacro, UrbanMicro, UrbanMicro3d, VehicleHighway,
    VehicleUrban, free_space, nyu, tr38901,
};
use fadeout_channel::{atmosphere, knife_edge, noise, penetration, shadowing, wavelength};
use fadeout_core::math::{asin, from_db, hypot, sin, to_db};
use fadeout_core::{Decibel, Hertz, Meters, Point, Span};
use fadeout_testkit::vectors;
use std::f64::consts::PI;

#[test]
fn every_quantity_matches_its_reference_value() {
    // The reference values have four to six significant digits.
    let count = vectors::check(include_str!("../vectors.csv"), evaluate, |_| 1.2e-4);
    assert_eq!(count, 115);
}

fn ends(ground_m: f64, ue_height_m: f64, base_height_m: f64, carrier_ghz: f64) -> Ends {
    Ends {
        ground_m,
        slant_m: hypot(ground_m, base_height_m - ue_height_m),
        base_height_m,
        ue_height_m,
        carrier_ghz,
        environment_height_m: 1.0,
    }
}

/// Returns ends at the same height and at a distance in space.
fn level(distance_m: f64, carrier_ghz: f64) -> Ends {
    ends(distance_m, 1.5, 1.5, carrier_ghz)
}

fn both(model: PathLoss, ends: &Ends) -> [f64; 2] {
    [Condition::Los, Condition::Nlos].map(|condition| model.loss_db(ends, condition))
}

fn evaluate(quantity: &str, inputs: &[f64]) -> Vec<f64> {
    propagation(quantity, inputs)
        .or_else(|| fading(quantity, inputs))
        .or_else(|| blockage(quantity, inputs))
        .or_else(|| antennas(quantity, inputs))
        .unwrap_or_else(|| panic!("no quantity `{quantity}` of {} inputs", inputs.len()))
}

fn propagation(quantity: &str, inputs: &[f64]) -> Option<Vec<f64>> {
    Some(match (quantity, inputs) {
        ("free_space", &[d, f]) => vec![free_space(Meters(d), Hertz(f * 1e9)).0],
        ("umi", &[d, ue, base, f]) => {
            let ends = ends(d, ue, base, f);
            let losses = both(PathLoss::UrbanMicro(UrbanMicro), &ends);
            [&[tr38901::umi_breakpoint_m(&ends)], &losses[..]].concat()
        }
        ("uma", &[d, ue, base, f]) => {
            let ends = ends(d, ue, base, f);
            let losses = both(PathLoss::UrbanMacro(UrbanMacro), &ends);
            [&[tr38901::uma_breakpoint_m(&ends)], &losses[..]].concat()
        }
        ("rma", &[d, ue, base, f]) => {
            let (ends, rural) = (ends(d, ue, base, f), RuralMacro::default());
            let losses = both(PathLoss::RuralMacro(rural), &ends);
            [&[rural.breakpoint_m(&ends)], &losses[..]].concat()
        }
        ("rma_los_h7_w25", &[x, y, base, ue, f]) => {
            let rural = RuralMacro {
                building_height_m: 7.0,
                street_width_m: 25.0,
            };
            let (mast, phone) = (Point::new(0.0, 0.0, base), Point::new(x, y, ue));
            let ends = Ends::new(mast, phone, Hertz(f * 1e9));
            vec![rural.loss_db(&ends, Condition::Los)]
        }
        ("inh", &[d, f]) => both(PathLoss::IndoorMixed(IndoorMixed), &level(d, f)).to_vec(),
        ("umi_los_probability", &[d]) => vec![tr38901::umi_los_probability(d)],
        ("uma_los_probability", &[d, ue]) => vec![tr38901::uma_los_probability(d, ue)],
        ("rma_los_probability", &[d]) => vec![tr38901::rma_los_probability(d)],
        ("inh_mixed_los_probability", &[d]) => vec![tr38901::inh_mixed_los_probability(d)],
        ("inh_open_los_probability", &[d]) => vec![tr38901::inh_open_los_probability(d)],
        ("nyu_states_out_los_nlos", &[d]) => {
            let (los, outage) = nyu::state_probabilities(d);
            vec![outage, los, 1.0 - los - outage]
        }
        ("nyu_28", &[d]) => both(PathLoss::Nyu28(Nyu28), &level(d, 28.0)).to_vec(),
        ("nyu_73", &[d]) => both(PathLoss::Nyu73(Nyu73), &level(d, 73.0)).to_vec(),
        ("nyu_73_other_fit", &[d]) => vec![nyu::NLOS_73_OTHER.loss_db(&level(d, 73.0))],
        ("lte_macro", &[d]) => {
            vec![PathLoss::LteMacro(LteMacro).loss_db(&level(d, 2.0), Condition::Nlos)]
        }
        ("hetnet_macro", &[d]) => {
            let ends = level(d, 2.0);
            let probability = PathLoss::HetnetMacro(HetnetMacro)
                .state_probabilities(&ends)
                .los;
            [
                &both(PathLoss::HetnetMacro(HetnetMacro), &ends)[..],
                &[probability],
            ]
            .concat()
        }
        ("umi_3d_nlos", &[d, ue, f]) => {
            let ends = ends(d, ue, ue, f);
            vec![PathLoss::UrbanMicro3d(UrbanMicro3d).loss_db(&ends, Condition::Nlos)]
        }
        ("close_in", &[d, f, exponent]) => {
            let model = PathLoss::CloseIn(CloseIn {
                los_exponent: exponent,
                ..CloseIn::default()
            });
            vec![model.loss_db(&level(d, f), Condition::Los)]
        }
        ("noise_hz_nf", &[bandwidth, figure]) => {
            vec![noise::power(Hertz(bandwidth), Decibel(figure)).0]
        }
        ("shadowing_correlation", &[moved, distance]) => {
            vec![shadowing::correlation(moved, distance)]
        }
        ("shadowing_step", &[last, sigma, normal, moved, distance]) => {
            let correlation = shadowing::correlation(moved, distance);
            vec![shadowing::next_db(last, sigma, correlation, normal)]
        }
        ("oxygen", &[f, d]) => vec![atmosphere::oxygen_db_per_km(f) * d / 1000.0],
        ("rain_coefficients", &[f]) => {
            let rain = atmosphere::Rain::for_carrier(f);
            vec![
                rain.k_vertical,
                rain.alpha_vertical,
                rain.k_horizontal,
                rain.alpha_horizontal,
            ]
        }
        ("rain_vertical_mm_per_h_km", &[f, rate, km]) => {
            vec![atmosphere::Rain::for_carrier(f).vertical_db_per_km(rate) * km]
        }
        ("outer_walls", &[f]) => {
            vec![
                penetration::low_loss_wall_db(f),
                penetration::high_loss_wall_db(f),
            ]
        }
        ("v2x_urban_los_nlos_highway", &[d, f]) => {
            let ends = level(d, f);
            let highway = PathLoss::VehicleHighway(VehicleHighway).loss_db(&ends, Condition::Los);
            [
                &both(PathLoss::VehicleUrban(VehicleUrban), &ends)[..],
                &[highway],
            ]
            .concat()
        }
        _ => return None,
    })
}

fn fading(quantity: &str, inputs: &[f64]) -> Option<Vec<f64>> {
    let doppler = |kmh: f64, ghz: f64| statistics::max_doppler_hz(kmh / 3.6, ghz * 1e9);
    Some(match (quantity, inputs) {
        ("max_doppler_kmh", &[v, f]) => vec![doppler(v, f)],
        ("coherence_time_kmh", &[v, f]) => vec![statistics::coherence_time(doppler(v, f))],
        ("half_coherence_time_kmh", &[v, f]) => {
            vec![statistics::half_coherence_time(doppler(v, f))]
        }
        ("doppler_correlation", &[hz, tau]) => vec![statistics::correlation(hz, tau)],
        ("rayleigh_outage", &[ratio]) => vec![statistics::rayleigh_outage(ratio)],
        ("rayleigh_crossings_and_duration", &[hz, ratio]) => vec![
            statistics::rayleigh_crossings(hz, ratio),
            statistics::rayleigh_fade_duration(hz, ratio),
        ],
        ("rician_outage_k_db", &[k_db, ratio]) => {
            vec![statistics::rician_outage(from_db(k_db), ratio)]
        }
        ("wideband_variance_and_shape", &[spread, bandwidth]) => {
            let variance = statistics::wideband_variance(spread, bandwidth);
            vec![variance, 1.0 / variance]
        }
        ("two_state_packets", &[margin, product]) => {
            let packets = statistics::TwoStatePackets::new(margin, product);
            vec![packets.error, packets.bad_to_good, packets.good_to_bad]
        }
        ("tdl_power_mean_rms", &[number]) => {
            let profile = match number as u32 {
                1 => TdlProfile::A,
                3 => TdlProfile::C,
                _ => TdlProfile::D,
            };
            let taps = profile.taps();
            let moment = |order: u32| {
                let weighted = taps
                    .iter()
                    .map(|tap| (0..order).fold(tap.power, |product, _| product * tap.delay));
                weighted.sum::<f64>()
            };
            let power = moment(0);
            let mean = moment(1) / power;
            vec![power, mean, (moment(2) / power - mean * mean).sqrt()]
        }
        _ => return None,
    })
}

fn blockage(quantity: &str, inputs: &[f64]) -> Option<Vec<f64>> {
    Some(match (quantity, inputs) {
        ("model_b", &[tx, rx, distance, from_tx, offset, width, height, f]) => {
            let path = DirectPath {
                wavelength: wavelength(Hertz(f * 1e9)),
                distance: Meters(distance),
                tx_height: Meters(tx),
                rx_height: Meters(rx),
            };
            let screen = Screen {
                width: Meters(width),
                height: Meters(height),
                from_tx: Meters(from_tx),
                offset: Meters(offset),
            };
            let found = screen_loss(&path, &screen);
            [&found.horizontal[..], &found.vertical[..], &[found.loss.0]].concat()
        }
        ("model_a", &[azimuth, zenith, phi, width, theta, height, distance, f]) => {
            let blocker = NonSelfBlocker {
                azimuth_deg: phi,
                zenith_deg: theta,
                width_deg: width,
                height_deg: height,
                distance_m: distance,
            };
            let wavelength_m = wavelength(Hertz(f * 1e9)).0;
            vec![blocker.loss_db(azimuth, zenith, wavelength_m)]
        }
        ("knife_edge", &[v]) => vec![knife_edge::loss(v).0, knife_edge::exact_loss(v).0],
        ("fresnel_v_and_loss", &[height, d1, d2, f]) => {
            let wavelength = wavelength(Hertz(f * 1e9));
            let (height, d1, d2) = (Meters(height), Meters(d1), Meters(d2));
            let v = knife_edge::diffraction_parameter(height, d1, d2, wavelength);
            vec![v, knife_edge::loss(v).0]
        }
        ("four_state", &[hpbw]) => {
            let model = FourState::for_beamwidth(hpbw);
            let shares = model.shares();
            let rates = [model.shadow_rate, model.rise_rate];
            [
                &rates[..],
                &[model.cycle(), shares[0], shares[2], model.depth_db],
            ]
            .concat()
        }
        ("blocking_vehicle_both_below", &[d]) => {
            let law = blocking_vehicle(d, (0.75, 0.75), 1.6).expect("a vehicle in the way");
            vec![law.mu, law.sigma]
        }
        ("blocking_vehicle_between", &[d]) => {
            let law = blocking_vehicle(d, (3.0, 0.75), 1.6).expect("a vehicle in the way");
            vec![law.mu, law.sigma]
        }
        ("crowd", &[density, speed, height_m, ue, base, mean_blocked, r]) => {
            let crowd = Crowd {
                density,
                speed,
                height_m,
                mean_blocked: Span::from_secs_f64(mean_blocked),
                ..Crowd::default()
            };
            let arrivals = crowd.arrivals_per_metre(base, ue);
            vec![arrivals, arrivals * r, crowd.blocked_share(arrivals, r)]
        }
        ("two_state_blocked_share", &[blocked, clear]) => {
            let model = TwoState {
                mean_blocked: Span::from_secs_f64(blocked),
                mean_clear: Span::from_secs_f64(clear),
                ..TwoState::default()
            };
            vec![model.blocked_share()]
        }
        _ => return None,
    })
}

fn antennas(quantity: &str, inputs: &[f64]) -> Option<Vec<f64>> {
    let sine = |degrees: f64| sin(degrees * PI / 180.0);
    Some(match (quantity, inputs) {
        ("element_azimuth_zenith", &[azimuth_deg, zenith_deg]) => {
            let direction = Angles {
                azimuth_deg,
                elevation_deg: 90.0 - zenith_deg,
            };
            vec![Element::default().gain_dbi(direction)]
        }
        ("row_hpbw", &[n, steered]) => vec![array::row_hpbw_deg(n as u32, 0.5, steered)],
        ("row_gain", &[n, angle, steered]) => {
            vec![to_db(array::row_gain(
                n as u32,
                0.5,
                sine(angle),
                sine(steered),
            ))]
        }
        ("array_peak", &[rows, columns]) => {
            let array = Array {
                rows: rows as u32,
                columns: columns as u32,
                element: Element::new(ElementKind::Calibration, 0.5),
                ..Array::default()
            };
            vec![array.peak_dbi()]
        }
        ("codebook_half_bin_loss", &[n]) => {
            vec![to_db(n) - to_db(array::row_gain(n as u32, 0.5, 1.0 / n, 0.0))]
        }
        ("gaussian_misalignment", &[hpbw, offset]) => {
            let beam = Beam::new(&BeamParameters {
                width_deg: hpbw,
                height_deg: hpbw,
                efficiency: 0.7,
                ..BeamParameters::default()
            });
            vec![beam.peak.0 - beam.gain(offset, 0.0).0]
        }
        ("cone_and_sector", &[hpbw]) => {
            vec![to_db(cone_gain(hpbw)), to_db(sector_gain(hpbw, 0.0))]
        }
        ("reference_antenna", &[hpbw_deg]) => {
            let antenna = ReferenceAntenna { hpbw_deg };
            vec![
                antenna.peak_dbi(),
                antenna.side_lobe_dbi(),
                antenna.main_lobe_deg(),
            ]
        }
        ("sector_with_side_lobe", &[hpbw, side]) => vec![to_db(sector_gain(hpbw, side))],
        ("exhaustive_search", &[beams, period]) => {
            let time = exhaustive_search(beams as u64, Span::from_secs_f64(period));
            vec![time.as_secs_f64()]
        }
        ("pair_sweep", &[base, ue, measurement, parallel]) => {
            let measurement = Span::from_secs_f64(measurement);
            let time = pair_sweep(base as u64, ue as u64, measurement, parallel as u64);
            vec![time.as_secs_f64()]
        }
        ("codebook_angles", &[beams]) => {
            let beams = beams as u32;
            let angle = |beam| asin(array::codebook_sine(beam, beams)) * 180.0 / PI;
            (0..beams).map(angle).collect()
        }
        ("staleness", &[hpbw, d, v]) => vec![staleness_seconds(hpbw, d, v)],
        ("beam_failure_detection", &[count, period]) => {
            let management = BeamManagement {
                tracking_period: Span::from_secs_f64(period),
                failure: Some(BeamFailure {
                    count: count as u32,
                    ..BeamFailure::default()
                }),
                ..BeamManagement::default()
            };
            vec![
                management
                    .detection_time()
                    .expect("a failure monitor")
                    .as_secs_f64(),
            ]
        }
        _ => return None,
    })
}
