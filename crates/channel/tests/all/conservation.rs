//! Tests that no antenna radiates more power than it is fed. The integral of a pattern's gain over
//! the sphere is at most 4 pi. No array has more gain than its aperture allows.

use fadeout_channel::antenna::beam::{Beam, BeamParameters};
use fadeout_channel::antenna::{Angles, Array, Element, ElementKind, LteSector, Pattern};
use fadeout_core::math::{asin, cos, from_db, to_db};
use std::f64::consts::PI;

/// Returns the integral of the gain over the sphere divided by 4 pi, in rings of half a degree, for
/// a beam toward `beam`.
fn radiated(pattern: &impl Pattern, beam: Angles) -> f64 {
    let steps = 360_u32;
    let step = 180.0 / f64::from(steps);
    let mut sum = 0.0;
    for row in 0..steps {
        let elevation_deg = -90.0 + (f64::from(row) + 0.5) * step;
        let area = cos(elevation_deg.to_radians()) * step.to_radians() * step.to_radians();
        for column in 0..2 * steps {
            let azimuth_deg = -180.0 + (f64::from(column) + 0.5) * step;
            let toward = Angles {
                azimuth_deg,
                elevation_deg,
            };
            sum += from_db(pattern.gain_dbi(toward, beam)) * area;
        }
    }
    sum / (4.0 * PI)
}

const AHEAD: Angles = Angles {
    azimuth_deg: 0.0,
    elevation_deg: 0.0,
};

fn array(rows: u32, columns: u32, kind: ElementKind, spacing: f64) -> Array {
    Array {
        rows,
        columns,
        element: Element::new(kind, spacing),
        spacing,
        oversampling: 0,
    }
}

/// Returns beam directions within 60 degrees of broadside.
fn steered() -> impl Iterator<Item = Angles> {
    [(0.0, 0.0), (20.0, 0.0), (-45.0, 10.0), (60.0, -30.0)]
        .into_iter()
        .map(|(azimuth_deg, elevation_deg)| Angles {
            azimuth_deg,
            elevation_deg,
        })
}

#[test]
fn single_elements_radiate_at_most_what_they_are_fed() {
    for kind in ElementKind::NAMES {
        let element = Element::new(ElementKind::from_name(kind).expect("its own name"), 0.5);
        let share = radiated(&element, AHEAD);
        assert!(share <= 1.0 + 1e-4, "{kind}: {share}");
    }
}

#[test]
fn the_element_of_its_cell_has_hannans_efficiency() {
    // The share is pi / 4 at half a wavelength. The gain behind the element is a thousandth of the
    // peak.
    let share = radiated(&Element::new(ElementKind::Aperture, 0.5), AHEAD);
    let behind = from_db(to_db(PI) - 30.0) / 2.0;
    assert!((share - PI / 4.0 - behind).abs() < 1e-3, "{share}");
}

#[test]
fn arrays_radiate_at_most_what_they_are_fed_wherever_their_beam_points() {
    // For the cosine element, the integral over visible directions equals that over a square of
    // direction cosines, which is exactly 4 pi. The limits of the other elements include the
    // rounded gains of tables. Neighbouring isotropic elements couple, which the pattern of a
    // single element does not include. So a beam 64 degrees off broadside radiates 1.6 dB too much.
    for (kind, spacing, most) in [
        (ElementKind::Aperture, 0.5, 1.005),
        (ElementKind::Handheld, 0.5, 1.01),
        (ElementKind::Isotropic, 0.5, 1.46),
        (ElementKind::Tr38901, 0.71, 1.01),
    ] {
        for (rows, columns) in [(8, 8), (4, 4), (2, 4)] {
            for beam in steered() {
                let share = radiated(&array(rows, columns, kind, spacing), beam);
                let name = kind.name();
                assert!(share <= most, "{name} {rows}x{columns} {beam:?}: {share}");
            }
        }
    }
}

#[test]
fn the_calibrations_convention_radiates_twice_what_it_is_fed() {
    let share = radiated(&array(8, 8, ElementKind::Calibration, 0.5), AHEAD);
    assert!((1.8..2.2).contains(&share), "{share}");
}

#[test]
fn no_array_has_more_gain_than_its_aperture() {
    for (rows, columns) in [(8, 8), (16, 16), (2, 4)] {
        for spacing in [0.4, 0.5, 0.71, 1.0] {
            let aperture_dbi = to_db(4.0 * PI * f64::from(rows * columns) * spacing * spacing);
            let peak = array(rows, columns, ElementKind::Aperture, spacing).peak_dbi();
            assert!(peak <= aperture_dbi + 1e-9, "{peak} in {aperture_dbi}");
        }
    }
    // The array has 64 cells of half a wavelength, so its gain is 10 lg(64 pi).
    let peak = array(8, 8, ElementKind::Aperture, 0.5).peak_dbi();
    assert!((peak - 23.03).abs() < 0.01, "{peak}");
}

#[test]
fn an_element_that_does_not_fit_its_cell_is_an_error_that_says_what_would() {
    let error = array(8, 8, ElementKind::Tr38901, 0.5)
        .check()
        .expect_err("8 dBi in a cell of 5 dBi")
        .to_string();
    assert!(error.contains("0.71 wavelengths"), "{error}");
    assert!(error.contains("tr38901-calibration"), "{error}");
    for (kind, spacing) in [
        (ElementKind::Tr38901, 0.71),
        (ElementKind::Calibration, 0.5),
        (ElementKind::Handheld, 0.5),
        (ElementKind::Isotropic, 0.3),
    ] {
        array(8, 8, kind, spacing).check().expect("it fits");
    }
}

#[test]
fn beams_and_sectors_radiate_at_most_what_they_are_fed() {
    for width_deg in [5.0, 12.0, 30.0, 90.0] {
        for efficiency in [0.3, 0.7, 0.87] {
            let beam = Beam::new(&BeamParameters {
                width_deg,
                height_deg: width_deg,
                efficiency,
                ..BeamParameters::default()
            });
            // The main lobe ends at the level of the side lobes, so both overlap by less than that
            // level.
            let share = radiated(&beam, AHEAD);
            assert!(share <= 1.01, "{width_deg} {efficiency}: {share}");
        }
    }
    let share = radiated(&LteSector::default(), AHEAD);
    assert!(share <= 1.0, "{share}");
}

#[test]
fn a_codebook_of_wide_spacing_covers_every_direction() {
    // Grating lobes repeat the beams, so the loss is at most the scalloping loss.
    for spacing in [0.4, 0.5, 0.71, 1.0] {
        let mut wide = array(1, 8, ElementKind::Isotropic, spacing);
        wide.oversampling = 2;
        for step in -900..=900 {
            let azimuth_deg = asin(f64::from(step) / 900.0).to_degrees();
            let toward = Angles {
                azimuth_deg,
                elevation_deg: 0.0,
            };
            let loss = wide.peak_dbi() - wide.gain_dbi(toward, toward);
            assert!(loss < 0.93, "{spacing} {azimuth_deg}: {loss}");
        }
    }
}
