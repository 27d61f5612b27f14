//! Access to parameters, with the defaults of their registry entry.

use super::{Entry, Parameter, ParameterKind, Parameters, Value};
use crate::{Bytes, Decibel, Hertz, Rate, Span};
use std::cell::Cell;

/// Parameters that a scenario has given for one entry. Other parameters have the entry's defaults.
///
/// The scenario reader rejects values out of range with a message. A caller that bypasses it gets
/// the nearest allowed value, so no model ever sees a number that it cannot work with.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    name: &'static str,
    parameters: &'static [Parameter],
    given: &'a Parameters,
    watch: Option<&'a Watch>,
}

/// Record of the queries of settings, with a bit for each parameter in the entry's order.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Bit mask of the parameters that were read.
    pub(super) reads: Cell<u128>,
    /// Bit mask of the parameters whose absence had an effect.
    pub(super) absences: Cell<u128>,
}

impl<'a> Settings<'a> {
    /// Returns the parameters `given` for `entry`.
    pub fn new(entry: &Entry, given: &'a Parameters) -> Self {
        Settings {
            name: entry.name,
            parameters: entry.parameters,
            given,
            watch: None,
        }
    }

    /// Returns the parameters `given` for a list of parameters that is no entry.
    pub fn from_list(parameters: &'static [Parameter], given: &'a Parameters) -> Self {
        Settings {
            name: "",
            parameters,
            given,
            watch: None,
        }
    }

    /// Returns settings that record each read in `watch`.
    pub(super) fn watched(self, watch: &'a Watch) -> Self {
        Settings {
            watch: Some(watch),
            ..self
        }
    }

    /// Returns the name of the registry entry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn parameter(&self, name: &str) -> &'static Parameter {
        &self.parameters[self.index(name)]
    }

    fn index(&self, name: &str) -> usize {
        let position = self
            .parameters
            .iter()
            .position(|parameter| parameter.name == name);
        let index = position.unwrap_or_else(|| panic!("`{}` has no parameter `{name}`", self.name));
        if let Some(Watch { reads, .. }) = self.watch {
            reads.set(reads.get() | 1 << index);
        }
        index
    }

    fn default(&self, parameter: &Parameter) -> Value {
        default_value(parameter).unwrap_or_else(|| {
            let Parameter { name, default, .. } = parameter;
            panic!(
                "`{}`: the default {default:?} of `{name}` is no value",
                self.name
            )
        })
    }

    /// Returns true if the scenario gave a value for `name`.
    pub fn is_given(&self, name: &str) -> bool {
        let index = self.index(name);
        if let Some(Watch { absences, .. }) = self.watch {
            absences.set(absences.get() | 1 << index);
        }
        self.given.find(name).is_some()
    }

    /// Returns the value of the parameter called `name`.
    ///
    /// # Panics
    /// Panics if the entry has no such parameter, or if its default is not of that type. The tests
    /// of every [`registry!`](crate::registry!) find such an entry.
    pub fn get<T: FromSetting>(&self, name: &str) -> T {
        T::from_setting(self, name)
    }

    /// Returns the number called `name`.
    ///
    /// # Panics
    /// Panics as [`Settings::get`] does.
    pub fn number(&self, name: &str) -> f64 {
        let parameter = self.parameter(name);
        let (min, max) = match parameter.kind {
            ParameterKind::Number { min, max, .. } => (min, max),
            ParameterKind::Integer { min, max, .. } => (min as f64, max as f64),
            _ => panic!("`{name}` of `{}` is no number", self.name),
        };
        let value = match self.given.find(name) {
            Some(Value::Number(number)) => *number,
            _ => match self.default(parameter) {
                Value::Number(number) => number,
                _ => min,
            },
        };
        // `max` comes before `min`, so that NaN becomes the lower end.
        value.max(min).min(max)
    }

    /// Returns the whole number called `name`.
    ///
    /// # Panics
    /// Panics as [`Settings::get`] does.
    pub fn integer(&self, name: &str) -> u32 {
        self.number(name) as u32
    }

    /// Returns the flag called `name`.
    ///
    /// # Panics
    /// Panics as [`Settings::get`] does.
    pub fn flag(&self, name: &str) -> bool {
        let default = self.parameter(name).default == "true";
        self.given.flag(name, default)
    }

    /// Returns the time called `name`.
    ///
    /// # Panics
    /// Panics as [`Settings::get`] does.
    pub fn span(&self, name: &str) -> Span {
        let parameter = self.parameter(name);
        match (self.given.find(name), parameter.kind) {
            (Some(Value::Span(span)), _) => *span,
            (_, ParameterKind::Span) => match self.default(parameter) {
                Value::Span(span) => span,
                _ => Span::ZERO,
            },
            _ => panic!("`{name}` of `{}` is no length of time", self.name),
        }
    }

    /// Returns the choice called `name`.
    ///
    /// # Panics
    /// Panics as [`Settings::get`] does.
    pub fn choice(&self, name: &str) -> &'a str {
        let parameter = self.parameter(name);
        let chosen = self.given.choice(name, parameter.default);
        match parameter.kind {
            ParameterKind::Choice(names) if names.contains(&chosen) => chosen,
            _ => parameter.default,
        }
    }

    /// Returns the entry given for `name` and its parameters. The default entry has no given
    /// parameters.
    ///
    /// # Panics
    /// Panics as [`Settings::get`] does.
    pub fn named(&self, name: &str) -> (&'a str, &'a Parameters) {
        let parameter = self.parameter(name);
        let default = (parameter.default, Parameters::NONE);
        self.given.named(name).unwrap_or(default)
    }
}

/// Type of a field in [`parameters!`](crate::parameters!).
pub trait FromSetting: Sized {
    /// True if the omission of a parameter may differ from its default.
    const DEPENDS: bool = false;

    /// Returns the value of the parameter called `name`.
    fn from_setting(settings: &Settings<'_>, name: &str) -> Self;
}

macro_rules! from_setting {
    ($($type:ty: |$settings:ident, $name:ident| $read:expr;)*) => {$(
        impl FromSetting for $type {
            fn from_setting($settings: &Settings<'_>, $name: &str) -> Self {
                $read
            }
        }
    )*};
}

from_setting! {
    f64: |settings, name| settings.number(name);
    // An `as` cast from float to integer saturates, but the ranges of parameters stay below the
    // limits of the type.
    u8: |settings, name| settings.number(name) as u8;
    u32: |settings, name| settings.number(name) as u32;
    u64: |settings, name| settings.number(name) as u64;
    bool: |settings, name| settings.flag(name);
    Span: |settings, name| settings.span(name);
    String: |settings, name| settings.choice(name).to_owned();
    Bytes: |settings, name| Bytes(settings.number(name) as u64);
    Rate: |settings, name| Rate::from_bits_per_sec(settings.number(name) as u64);
    Decibel: |settings, name| Decibel(settings.number(name));
    Hertz: |settings, name| Hertz(settings.number(name));
}

/// Given value, or `None` if the parameter is omitted. It serves a default that depends on other
/// values and is documented in words.
impl<T: FromSetting> FromSetting for Option<T> {
    const DEPENDS: bool = true;

    fn from_setting(settings: &Settings<'_>, name: &str) -> Self {
        settings.is_given(name).then(|| settings.get(name))
    }
}

/// Returns the default of a parameter as a value. `None` if the default is in words.
pub(super) fn default_value(parameter: &Parameter) -> Option<Value> {
    let text = parameter.default;
    Some(match parameter.kind {
        ParameterKind::Number { .. } | ParameterKind::Integer { .. } => {
            Value::Number(parse_number(text)?)
        }
        ParameterKind::Bool => Value::Bool(text.parse().ok()?),
        ParameterKind::Span => Value::Span(parse_span(text)?),
        ParameterKind::Choice(names) if names.contains(&text) => Value::Choice(text.to_owned()),
        ParameterKind::Choice(_) => return None,
        ParameterKind::Named(_) => Value::Named(text.to_owned(), Parameters::default()),
    })
}

/// Returns the time of "20 ms", "1.5 s", "40 us", as defaults and choices are written. `None` for
/// any other text.
pub fn parse_span(text: &str) -> Option<Span> {
    let (number, unit) = text.split_once(' ')?;
    let scale = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Some(Span::from_secs_f64(number.parse::<f64>().ok()? * scale))
}

/// Reads numbers such as "0.5", "10 MB", "1 Mbit/s". `None` for any other text.
fn parse_number(text: &str) -> Option<f64> {
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let scale = match unit {
        "" | "B" | "bit/s" => 1.0,
        "kB" | "kbit/s" => 1e3,
        "MB" | "Mbit/s" => 1e6,
        "GB" | "Gbit/s" => 1e9,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * scale)
}

#[cfg(test)]
mod tests {
    use super::super::{choice, flag, integer, number, span};
    use super::*;

    static LIST: [Parameter; 6] = [
        number("gain", (0.5, 2.0, ""), "1", ""),
        integer("size", (1, 100_000, "bytes"), "2 kB", ""),
        span("pause", "40 us", ""),
        flag("ecn", "true", ""),
        choice("phase", &["fixed", "random"], "random", ""),
        integer("numerology", (0, 6, ""), "by carrier", ""),
    ];

    #[test]
    fn what_is_not_given_has_the_declared_default() {
        let settings = Settings::from_list(&LIST, Parameters::NONE);
        assert_eq!(settings.get::<f64>("gain"), 1.0);
        assert_eq!(settings.get::<Bytes>("size"), Bytes(2000));
        assert_eq!(settings.get::<Span>("pause"), Span::from_micros(40));
        assert!(settings.get::<bool>("ecn"));
        assert_eq!(settings.choice("phase"), "random");
        assert_eq!(settings.get::<Option<u8>>("numerology"), None);
    }

    #[test]
    fn a_number_out_of_range_is_the_nearest_within_it() {
        for (given, read) in [(9.0, 2.0), (-9.0, 0.5), (f64::NAN, 0.5)] {
            let given = Parameters(vec![("gain".to_owned(), Value::Number(given))]);
            assert_eq!(Settings::from_list(&LIST, &given).number("gain"), read);
        }
    }

    #[test]
    #[should_panic(expected = "has no parameter `gian`")]
    fn a_name_that_the_entry_lacks_is_a_mistake_in_the_program() {
        Settings::from_list(&LIST, Parameters::NONE).number("gian");
    }

    #[test]
    #[should_panic(expected = "the default \"by carrier\" of `numerology` is no value")]
    fn a_default_in_words_can_only_be_read_as_an_option() {
        Settings::from_list(&LIST, Parameters::NONE).get::<u8>("numerology");
    }
}
