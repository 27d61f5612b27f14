//! Antennas by name.

use super::entry;
use crate::antenna::array::Array;
use crate::antenna::beam::{Beam, DEFAULT_EFFICIENCY};
use crate::antenna::element::{Element, LteSector};
use crate::antenna::{Angles, Antenna};
use fadeout_core::Decibel;
use fadeout_core::registry::{Entry, Parameter, Parameters, integer, number};

const AZIMUTH: Parameter = number(
    "azimuth",
    (-180.0, 360.0, "deg"),
    "0",
    "Where it looks: counter-clockwise from east. Of an array, where its broadside looks.",
);
const ELEVATION: Parameter = number(
    "elevation",
    (-90.0, 90.0, "deg"),
    "0",
    "How far above the horizon it looks.",
);

/// Every antenna that a scenario can name.
pub static ANTENNAS: &[Entry] = &[
    entry(
        ("isotropic", "fixed"),
        "The same gain everywhere.",
        "none",
        &[number("gain", (-50.0, 60.0, "dBi"), "0", "Its gain.")],
    ),
    entry(
        ("element", "fixed"),
        "One element of an antenna panel: 8 dBi, 65 degrees wide.",
        "TR 38.901 Table 7.3-1",
        &[AZIMUTH, ELEVATION],
    ),
    entry(
        ("sector", "fixed"),
        "The three-sector antenna of the LTE studies.",
        "TR 36.814 Table A.2.1.1-2",
        &[
            AZIMUTH,
            number(
                "tilt",
                (-90.0, 90.0, "deg"),
                "15",
                "Electrical tilt below the horizon.",
            ),
            number("gain", (0.0, 30.0, "dBi"), "14", "Gain at boresight."),
        ],
    ),
    entry(
        ("beam", "steered"),
        "A Gaussian beam that is steered without steps; its gain follows from its width.",
        "main lobe of TR 38.901 Table 7.3-1; C. A. Balanis, Antenna Theory, equation 2-27",
        &[
            number(
                "width",
                (0.1, 360.0, "deg"),
                "12",
                "Half-power beamwidth in azimuth.",
            ),
            number(
                "height",
                (0.1, 360.0, "deg"),
                "12",
                "Half-power beamwidth in elevation.",
            ),
            number(
                "efficiency",
                (0.01, 1.0, ""),
                "0.7",
                "Share of the ideal directivity.",
            ),
            number(
                "side-lobe",
                (0.0, 100.0, "dB"),
                "20",
                "Side lobes below the peak.",
            ),
        ],
    ),
    entry(
        ("array", "steered"),
        "A rectangle of elements half a wavelength apart with a DFT codebook.",
        "TR 38.901 clause 7.3",
        &[
            integer("rows", (1, 256, ""), "8", "Elements above each other."),
            integer("columns", (1, 256, ""), "8", "Elements beside each other."),
            integer(
                "oversampling",
                (0, 16, ""),
                "2",
                "Beams in the codebook an element and axis; 0 steers without steps.",
            ),
            AZIMUTH,
            ELEVATION,
        ],
    ),
];

/// The antenna called `name`.
pub fn antenna(name: &str, parameters: &Parameters) -> Option<Antenna> {
    let boresight = Angles {
        azimuth_deg: parameters.number("azimuth", 0.0),
        elevation_deg: parameters.number("elevation", 0.0),
    };
    Some(match name {
        "isotropic" => Antenna::Isotropic {
            gain_dbi: parameters.number("gain", 0.0),
        },
        "element" => Antenna::Element {
            element: Element::default(),
            boresight,
        },
        "sector" => {
            let default = LteSector::default();
            Antenna::Sector {
                sector: LteSector {
                    peak_dbi: parameters.number("gain", default.peak_dbi),
                    tilt_deg: parameters.number("tilt", default.tilt_deg),
                    ..default
                },
                boresight,
            }
        }
        "beam" => {
            let (width, height) = (
                parameters.number("width", 12.0),
                parameters.number("height", 12.0),
            );
            let efficiency = parameters.number("efficiency", DEFAULT_EFFICIENCY);
            let beam = Beam::from_beamwidths(width, height, efficiency);
            Antenna::Beam(Beam {
                side_lobe: Decibel(parameters.number("side-lobe", beam.side_lobe.0)),
                ..beam
            })
        }
        "array" => {
            let default = Array::default();
            let whole = |name, default: u32| parameters.number(name, f64::from(default)) as u32;
            Antenna::Array {
                array: Array {
                    rows: whole("rows", default.rows),
                    columns: whole("columns", default.columns),
                    oversampling: whole("oversampling", default.oversampling),
                    ..default
                },
                boresight,
            }
        }
        _ => return None,
    })
}
