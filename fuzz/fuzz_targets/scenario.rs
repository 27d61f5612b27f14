//! Checks that arbitrary text is either rejected or read as a scenario. A scenario that was read
//! can be written and read again without a difference.
//!
//! The first line is an override if it starts with `--set `.

#![no_main]

use fadeout_core::registry::{Catalog, Entry, Kind, Parameter, ParameterKind};
use fadeout_scenario::{Override, Source, parse, toml_from_json};
use libfuzzer_sys::fuzz_target;

const fn entry(name: &'static str, parameters: &'static [Parameter]) -> Entry {
    Entry {
        name,
        aliases: &[],
        family: "",
        summary: "",
        citation: "",
        parameters,
    }
}

const fn parameter(name: &'static str, kind: ParameterKind) -> Parameter {
    Parameter {
        name,
        kind,
        default: "",
        doc: "",
        depends: false,
    }
}

static CATALOG: Catalog = Catalog {
    parts: &[],
    kinds: &[
        Kind {
            name: "congestion-control",
            plural: "congestion-controls",
            entries: &[entry(
                "cubic",
                &[parameter(
                    "beta",
                    ParameterKind::Number {
                        min: 0.0,
                        max: 1.0,
                        unit: "",
                    },
                )],
            )],
        },
        Kind {
            name: "profile",
            plural: "profiles",
            entries: &[entry(
                "linux",
                &[
                    parameter("minimum-rto", ParameterKind::Span),
                    parameter("undo", ParameterKind::Bool),
                    parameter("ack", ParameterKind::Choice(&["every", "second"])),
                ],
            )],
        },
        Kind {
            name: "queue-discipline",
            plural: "queue-disciplines",
            entries: &[entry("drop-tail", &[])],
        },
        Kind {
            name: "application",
            plural: "applications",
            entries: &[
                entry("bulk", &[]),
                entry(
                    "transfer",
                    &[parameter(
                        "size",
                        ParameterKind::Integer {
                            min: 1,
                            max: 1 << 50,
                            unit: "bytes",
                        },
                    )],
                ),
            ],
        },
    ],
};

fuzz_target!(|text: &str| {
    // The folder does not exist, so no input makes the target read files.
    let source = Source {
        name: "fuzz.toml".to_owned(),
        base_dir: "/nonexistent".into(),
    };
    let first = text.lines().next().unwrap_or("");
    let overrides: Vec<Override> = first
        .strip_prefix("--set ")
        .map(Override::new)
        .into_iter()
        .collect();
    let text = if overrides.is_empty() {
        text
    } else {
        &text[first.len()..]
    };
    match parse(text, &source, &overrides, &CATALOG) {
        Ok(scenario) => {
            let resolved = toml_from_json(&scenario.to_json());
            let again = parse(&resolved, &source, &[], &CATALOG);
            assert_eq!(again.as_ref(), Ok(&scenario), "{resolved}");
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty());
            let _ = errors.to_string();
        }
    }
});
