//! Reading an algorithm's parameters, with the defaults of its registry entry.

use fadeout_core::registry::{Entry, Parameter, ParameterKind, Parameters, integer};
use fadeout_core::{Span, Time};

/// The parameters a scenario gave for one entry; what it left out has the entry's default.
///
/// The scenario reader rejects values out of range with a message. A caller that bypasses it gets
/// the nearest allowed value, so no algorithm ever sees one that it cannot work with.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    entry: &'static Entry,
    given: &'a Parameters,
}

impl<'a> Settings<'a> {
    /// The parameters `given` for `entry`.
    pub fn new(entry: &'static Entry, given: &'a Parameters) -> Self {
        Settings { entry, given }
    }

    fn parameter(&self, name: &str) -> &'static Parameter {
        let found = self
            .entry
            .parameters
            .iter()
            .find(|parameter| parameter.name == name);
        found.unwrap_or_else(|| panic!("{} has no parameter `{name}`", self.entry.name))
    }

    /// Whether the scenario gave a value for `name`.
    pub fn is_given(&self, name: &str) -> bool {
        self.given.0.iter().any(|(key, _)| key == name)
    }

    /// The number called `name`.
    pub fn number(&self, name: &str) -> f64 {
        let parameter = self.parameter(name);
        let default = parameter.default.parse().unwrap_or(0.0);
        let value = self.given.number(name, default);
        let (min, max) = match parameter.kind {
            ParameterKind::Number { min, max, .. } => (min, max),
            ParameterKind::Integer { min, max, .. } => (min as f64, max as f64),
            _ => (default, default),
        };
        // `max` before `min`: not-a-number becomes the lower end.
        value.max(min).min(max)
    }

    /// The whole number called `name`.
    pub fn integer(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// The flag called `name`.
    pub fn flag(&self, name: &str) -> bool {
        self.given
            .flag(name, self.parameter(name).default == "true")
    }

    /// The length of time called `name`.
    pub fn span(&self, name: &str) -> Span {
        let default = parse_span(self.parameter(name).default).unwrap_or(Span::ZERO);
        self.given.span(name, default).min(LONGEST)
    }

    /// The choice called `name`.
    pub fn choice(&self, name: &str) -> &'a str {
        let parameter = self.parameter(name);
        let chosen = self.given.choice(name, parameter.default);
        match parameter.kind {
            ParameterKind::Choice(names) if names.contains(&chosen) => chosen,
            _ => parameter.default,
        }
    }
}

/// No algorithm's constant is longer: sums with a [`Time`] then cannot overflow.
const LONGEST: Span = Span::from_secs(1_000_000);
const _: () = assert!(LONGEST.as_nanos() < Time::NEVER.as_nanos() / 1_000);

/// Reads "20 ms", "1.5 s", "40 us".
pub(super) fn parse_span(text: &str) -> Option<Span> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Some(Span::from_secs_f64(number.parse::<f64>().ok()? * scale))
}

/// The kernel's timer frequency, for the algorithms that measure time in jiffies.
pub(super) const HZ: Parameter = integer(
    "hz",
    (100, 1000, "ticks per second"),
    "1000",
    "Timer frequency of the kernel (CONFIG_HZ), in which the algorithm measures time. Kernels \
     are built with 100, 250, 300 or 1000.",
);
