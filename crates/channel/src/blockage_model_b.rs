//! Blockage by a rectangular screen, model B, for the direct path.
//!
//! Standard: TR 38.901 §7.6.4.2.
//!
//! The blocker is a vertical screen on the ground. Seen from above it is perpendicular to the path.
//! The diffraction terms of its four edges are added: top and bottom in the side view, both sides
//! in the top view. The losses of several screens in dB add up.
//!
//! Reflections off the blocker or the ground are not modelled. The antenna pattern is not modelled
//! either: the diffracted paths at all edges have the gain of the direct path. A narrow beam close
//! to a large blocker attenuates these paths, so its true loss is larger.

use fadeout_core::math::{atan, hypot, log10};
use fadeout_core::{Decibel, Meters};
use std::f64::consts::PI;

/// Direct path over flat ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirectPath {
    /// Carrier wavelength.
    pub wavelength: Meters,
    /// Distance from transmitter to receiver on the ground.
    pub distance: Meters,
    /// Height of the transmitting antenna.
    pub tx_height: Meters,
    /// Height of the receiving antenna.
    pub rx_height: Meters,
}

/// Screen on the ground. TR 38.901 Table 7.6.4.2-5 recommends 0.3 m by 1.7 m for a human and 4.8 m
/// by 1.4 m for a vehicle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Screen {
    /// Width of the screen.
    pub width: Meters,
    /// Height of the screen above ground.
    pub height: Meters,
    /// Distance of the screen from the transmitter along the ground. It is less than the path's
    /// length.
    pub from_tx: Meters,
    /// Lateral distance of the screen's centre line from the path, to either side.
    pub offset: Meters,
}

/// Diffraction terms and loss of one screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScreenLoss {
    /// Terms F_h1 (top) and F_h2 (bottom).
    pub vertical: [f64; 2],
    /// Terms F_w1 (side away from the offset) and F_w2 (side toward the offset).
    pub horizontal: [f64; 2],
    /// Loss `-20 log10(1 - (F_h1 + F_h2)(F_w1 + F_w2))`, never negative.
    pub loss: Decibel,
}

/// Returns the loss that `screen` adds to `path`.
pub fn screen_loss(path: &DirectPath, screen: &Screen) -> ScreenLoss {
    let (d1, d2) = (screen.from_tx.0, path.distance.0 - screen.from_tx.0);
    let edge = |across_tx: f64, across_rx: f64, direct: f64| {
        let detour = hypot(d1, across_tx) + hypot(d2, across_rx) - direct;
        // Rounding may give a slightly negative detour if the edge touches the path.
        atan(PI / 2.0 * (PI / path.wavelength.0 * detour.max(0.0)).sqrt()) / PI
    };

    let (tx, rx) = (path.tx_height.0, path.rx_height.0);
    let slant = hypot(path.distance.0, rx - tx);
    let vertical = view(
        edge(screen.height.0 - tx, screen.height.0 - rx, slant),
        edge(tx, rx, slant),
        tx + (rx - tx) * d1 / path.distance.0,
        (screen.height.0, 0.0),
    );

    let (near, far) = (
        screen.offset.0.abs() - screen.width.0 / 2.0,
        screen.offset.0.abs() + screen.width.0 / 2.0,
    );
    let flat = path.distance.0;
    let horizontal = view(
        edge(far, far, flat),
        edge(near, near, flat),
        0.0,
        (far, near),
    );

    let shadow = (vertical[0] + vertical[1]) * (horizontal[0] + horizontal[1]);
    ScreenLoss {
        vertical,
        horizontal,
        loss: Decibel(-20.0 * log10(1.0 - shadow)),
    }
}

/// Returns the diffraction terms of the two edges of one view with their signs. Both terms are
/// positive if the path crosses the screen. If the path passes outside, the term of the nearer edge
/// is negative.
fn view(upper: f64, lower: f64, path_at: f64, (upper_at, lower_at): (f64, f64)) -> [f64; 2] {
    if path_at > upper_at {
        [-upper, lower]
    } else if path_at < lower_at {
        [upper, -lower]
    } else {
        [upper, lower]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wavelength;
    use fadeout_core::Hertz;
    use proptest::prelude::*;

    struct Vector {
        heights: (f64, f64),
        distance: f64,
        screen: (f64, f64, f64, f64),
        carrier: f64,
        horizontal: [f64; 2],
        vertical: [f64; 2],
        loss: f64,
    }

    fn close(value: f64, expected: f64) -> bool {
        // The reference values have five significant digits.
        (value / expected - 1.0).abs() < 1e-4
    }

    #[test]
    fn terms_and_loss_match_reference_values() {
        // Each screen is given by its distance from the transmitter, its offset, its width and its
        // height.
        let vectors = [
            Vector {
                heights: (1.5, 1.5),
                distance: 20.0,
                screen: (10.0, 0.0, 0.3, 1.7),
                carrier: 28e9,
                horizontal: [0.28839, 0.28839],
                vertical: [0.33083, 0.47503],
                loss: 5.4299,
            },
            Vector {
                heights: (1.5, 1.5),
                distance: 20.0,
                screen: (10.0, 0.3, 0.3, 1.7),
                carrier: 28e9,
                horizontal: [0.41864, -0.28839],
                vertical: [0.33083, 0.47503],
                loss: 0.96315,
            },
            Vector {
                heights: (10.0, 1.5),
                distance: 50.0,
                screen: (49.0, 0.0, 0.3, 1.7),
                carrier: 28e9,
                horizontal: [0.39342, 0.39342],
                vertical: [0.16316, 0.4887],
                loss: 6.2477,
            },
            Vector {
                heights: (1.5, 1.5),
                distance: 40.0,
                screen: (20.0, 0.0, 4.8, 1.4),
                carrier: 28e9,
                horizontal: [0.47794, 0.47794],
                vertical: [-0.17236, 0.46484],
                loss: 2.8482,
            },
            Vector {
                heights: (1.5, 1.0),
                distance: 40.0,
                screen: (35.0, 0.0, 4.8, 1.4),
                carrier: 73e9,
                horizontal: [0.49076, 0.49076],
                vertical: [0.43655, 0.47954],
                loss: 19.928,
            },
        ];
        for vector in vectors {
            let path = DirectPath {
                wavelength: wavelength(Hertz(vector.carrier)),
                distance: Meters(vector.distance),
                tx_height: Meters(vector.heights.0),
                rx_height: Meters(vector.heights.1),
            };
            let (from_tx, offset, width, height) = vector.screen;
            let screen = Screen {
                width: Meters(width),
                height: Meters(height),
                from_tx: Meters(from_tx),
                offset: Meters(offset),
            };
            let found = screen_loss(&path, &screen);
            for n in 0..2 {
                assert!(close(found.vertical[n], vector.vertical[n]), "{found:?}");
                assert!(
                    close(found.horizontal[n], vector.horizontal[n]),
                    "{found:?}"
                );
            }
            assert!(close(found.loss.0, vector.loss), "{found:?}");
        }
    }

    #[test]
    fn an_infinitely_wide_screen_that_grazes_the_path_costs_6_decibel() {
        let path = DirectPath {
            wavelength: wavelength(Hertz(28e9)),
            distance: Meters(20.0),
            tx_height: Meters(1000.0),
            rx_height: Meters(1000.0),
        };
        let screen = Screen {
            width: Meters(1e9),
            height: Meters(1000.0),
            from_tx: Meters(10.0),
            offset: Meters(0.0),
        };
        let loss = screen_loss(&path, &screen).loss.0;
        // The far edges are at a finite distance, so their terms are 1e-3 below one half. The loss
        // is nearly that of a half plane, 6.02 dB.
        assert!((loss - 6.0206).abs() < 0.02, "{loss}");
    }

    proptest! {
        #![proptest_config(fadeout_testkit::Cases::new(2000).proptest())]

        #[test]
        fn a_loss_is_finite_and_never_a_gain(
            carrier in 1e9..100e9_f64,
            distance in 5.0..500.0_f64,
            share in 0.01..0.99_f64,
            (tx, rx) in (0.5..30.0_f64, 0.5..3.0_f64),
            (width, height, offset) in (0.1..20.0_f64, 0.1..5.0_f64, 0.0..30.0_f64),
        ) {
            let path = DirectPath {
                wavelength: wavelength(Hertz(carrier)),
                distance: Meters(distance),
                tx_height: Meters(tx),
                rx_height: Meters(rx),
            };
            let screen = Screen {
                width: Meters(width),
                height: Meters(height),
                from_tx: Meters(distance * share),
                offset: Meters(offset),
            };
            let loss = screen_loss(&path, &screen).loss.0;
            prop_assert!(loss.is_finite() && loss >= -1e-9, "{}", loss);
        }
    }
}
