//! The names that a scenario may use for radios, antennas, blockages, RLC modes with their queue
//! management, and PDCP, with their parameters, and what each name builds.
//!
//! A constructor takes a name of its list; any other name gives `None`. A parameter that is not
//! given keeps the default of the config it goes into.

mod antenna;
mod blockage;
mod cell;
mod layer2;

pub use antenna::{ANTENNAS, antenna};
pub use blockage::{BLOCKAGES, blockage};
pub use cell::{Carrier, RADIOS, cell};
pub use layer2::{AQMS, PDCPS, RLC_MODES, aqm, pdcp, rlc};

use fadeout_core::registry::{Entry, Parameter};

const fn entry(
    (name, family): (&'static str, &'static str),
    summary: &'static str,
    citation: &'static str,
    parameters: &'static [Parameter],
) -> Entry {
    Entry {
        name,
        aliases: &[],
        family,
        summary,
        citation,
        parameters,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CellConfig;
    use crate::rlc::Generation;
    use fadeout_core::registry::{Entry, Parameters, Value};
    use fadeout_core::{Hertz, Point};

    fn none() -> Parameters {
        Parameters::default()
    }

    /// The default that each parameter's documentation names, given explicitly, changes nothing.
    fn with_every_default(entry: &Entry) -> Parameters {
        use fadeout_core::registry::ParameterKind as Kind;
        let value = |parameter: &Parameter| {
            let text = parameter.default;
            Some(match parameter.kind {
                Kind::Number { .. } | Kind::Integer { .. } => Value::Number(text.parse().ok()?),
                Kind::Bool => Value::Bool(text.parse().ok()?),
                Kind::Choice(_) => Value::Choice(text.to_owned()),
                Kind::Named(_) => Value::Named(text.to_owned(), none()),
                Kind::Span => {
                    let (number, unit) = text.split_once(' ')?;
                    let nanos = match unit {
                        "us" => 1e3,
                        "ms" => 1e6,
                        _ => 1e9,
                    };
                    let number: f64 = number.parse().ok()?;
                    Value::Span(fadeout_core::Span::from_nanos((number * nanos) as u64))
                }
            })
        };
        let given = entry
            .parameters
            .iter()
            .filter_map(|parameter| Some((parameter.name.to_owned(), value(parameter)?)));
        Parameters(given.collect())
    }

    #[test]
    fn every_name_builds_and_its_documented_defaults_are_its_defaults() {
        for entry in ANTENNAS {
            let built = antenna(entry.name, &none());
            assert!(built.is_some(), "{}", entry.name);
            assert_eq!(built, antenna(entry.name, &with_every_default(entry)));
        }
        for entry in BLOCKAGES {
            let built = blockage(entry.name, &none());
            assert!(built.is_some(), "{}", entry.name);
            assert_eq!(built, blockage(entry.name, &with_every_default(entry)));
        }
        for entry in AQMS {
            let built = aqm(entry.name, &none());
            assert!(built.is_some(), "{}", entry.name);
            assert_eq!(built, aqm(entry.name, &with_every_default(entry)));
        }
        for generation in [Generation::Lte, Generation::Nr] {
            for entry in RLC_MODES {
                assert!(rlc(entry.name, &none(), generation).is_some());
            }
            for entry in PDCPS {
                assert!(pdcp(entry.name, &none(), generation).is_some());
            }
        }
    }

    #[test]
    fn every_radio_builds_a_cell() {
        let carrier = |carrier, bandwidth| Carrier {
            site: Point::new(0.0, 0.0, 10.0),
            carrier: Hertz(carrier),
            bandwidth: Hertz(bandwidth),
        };
        let lte = cell("lte", &none(), &carrier(2e9, 20e6))
            .expect("a name")
            .expect("a cell");
        assert_eq!(
            lte,
            CellConfig::lte(Point::new(0.0, 0.0, 10.0), Hertz(2e9), 100)
        );
        let nr = cell("nr", &none(), &carrier(28e9, 400e6))
            .expect("a name")
            .expect("a cell");
        assert_eq!(nr.resource_blocks, 264);
        let error = cell("nr", &none(), &carrier(28e9, 1e9))
            .expect("a name")
            .expect_err("no row");
        assert!(error.contains("there are"), "{error}");
        for (entry, at) in RADIOS
            .iter()
            .zip([carrier(28e9, 400e6), carrier(2e9, 20e6)])
        {
            let plain = cell(entry.name, &none(), &at).expect("a name");
            let given = cell(entry.name, &with_every_default(entry), &at).expect("a name");
            assert_eq!(plain, given, "{}", entry.name);
        }
    }
}
