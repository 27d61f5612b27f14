//! The path-loss models a scenario may name.

use fadeout_core::registry::{Entry, number};

const fn entry(
    name: &'static str,
    family: &'static str,
    summary: &'static str,
    citation: &'static str,
) -> Entry {
    Entry {
        name,
        aliases: &[],
        family,
        summary,
        citation,
        parameters: &[],
    }
}

/// Every path-loss model.
pub const PATH_LOSS_MODELS: &[Entry] = &[
    entry(
        "free-space",
        "physics",
        "Free space between isotropic antennas; always in sight, no shadowing.",
        "Friis 1946; ITU-R P.525-4 equation 3",
    ),
    Entry {
        parameters: &[
            number(
                "los-exponent",
                (1.0, 6.0, ""),
                "1.98",
                "Path-loss exponent in LOS: a street canyon's.",
            ),
            number(
                "nlos-exponent",
                (1.0, 6.0, ""),
                "3.19",
                "Path-loss exponent in NLOS: a street canyon's.",
            ),
            number(
                "los-sigma",
                (0.0, 20.0, "dB"),
                "3.1",
                "Standard deviation of the shadowing in LOS.",
            ),
            number(
                "nlos-sigma",
                (0.0, 20.0, "dB"),
                "8.2",
                "Standard deviation of the shadowing in NLOS.",
            ),
        ],
        ..entry(
            "close-in",
            "measurement",
            "Free space up to 1 m, then a path-loss exponent.",
            "Sun et al., IEEE TVT 65(5), 2016",
        )
    },
    entry(
        "uma",
        "3gpp-nr",
        "Urban macro cell, 0.5 to 100 GHz.",
        "TR 38.901 Table 7.4.1-1",
    ),
    entry(
        "umi",
        "3gpp-nr",
        "Urban micro cell in a street canyon, 0.5 to 100 GHz.",
        "TR 38.901 Table 7.4.1-1",
    ),
    Entry {
        parameters: &[
            number(
                "building-height",
                (5.0, 50.0, "m"),
                "5",
                "Average height of buildings.",
            ),
            number(
                "street-width",
                (5.0, 50.0, "m"),
                "20",
                "Average width of streets.",
            ),
        ],
        ..entry(
            "rma",
            "3gpp-nr",
            "Rural macro cell, 0.5 to 30 GHz.",
            "TR 38.901 Table 7.4.1-1",
        )
    },
    entry(
        "inh-mixed",
        "3gpp-nr",
        "Indoor hotspot in a mixed office.",
        "TR 38.901 Tables 7.4.1-1 and 7.4.2-1",
    ),
    entry(
        "inh-open",
        "3gpp-nr",
        "Indoor hotspot in an open office.",
        "TR 38.901 Tables 7.4.1-1 and 7.4.2-1",
    ),
    entry(
        "lte-macro",
        "3gpp-lte",
        "Macro cell at 2 GHz or 900 MHz without a LOS state.",
        "TR 36.942 clause 4.5.2; TR 36.814 Table A.2.1.1-2",
    ),
    entry(
        "hetnet-macro",
        "3gpp-lte",
        "Macro cell of the heterogeneous-network studies, 2 GHz.",
        "TR 36.814 Table A.2.1.1.2-3",
    ),
    entry(
        "hetnet-pico",
        "3gpp-lte",
        "Pico cell of the heterogeneous-network studies, 2 GHz.",
        "TR 36.814 Table A.2.1.1.2-3",
    ),
    entry(
        "3d-uma",
        "3gpp-lte",
        "Urban macro cell of the three-dimensional LTE model, 2 to 6 GHz.",
        "TR 36.873 Table 7.2-1",
    ),
    entry(
        "3d-umi",
        "3gpp-lte",
        "Urban micro cell of the three-dimensional LTE model, 2 to 6 GHz.",
        "TR 36.873 Table 7.2-1",
    ),
    entry(
        "nyu-28",
        "measurement",
        "28 GHz in New York, with an outage state.",
        "Akdeniz et al., IEEE JSAC 32(6), 2014, Table I",
    ),
    entry(
        "nyu-73",
        "measurement",
        "73 GHz in New York, with an outage state.",
        "Akdeniz et al., IEEE JSAC 32(6), 2014, Table I",
    ),
    entry(
        "v2x-urban",
        "3gpp-v2x",
        "Between vehicles in a city.",
        "TR 37.885 clause 6.2.1",
    ),
    entry(
        "v2x-highway",
        "3gpp-v2x",
        "Between vehicles on a highway.",
        "TR 37.885 clause 6.2.1",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::PathLoss;
    use fadeout_core::registry::Parameters;

    #[test]
    fn every_listed_model_can_be_built() {
        for entry in PATH_LOSS_MODELS {
            assert!(PathLoss::from_name(entry.name, &Parameters::default()).is_some());
        }
        assert!(PathLoss::from_name("uma-typo", &Parameters::default()).is_none());
    }
}
