//! Names that a scenario may use, with their parameters and sources.
//!
//! Each sibling crate lists its algorithms, and `sim` assembles the lists. The scenario reader
//! checks names and parameters against them. `fadeout list`, the JSON Schema and the docs print
//! them, so a name exists in one place.
//!
//! # Adding to a registry
//!
//! An algorithm or model is a file. [`parameters!`](crate::parameters!) declares the keys that a
//! scenario may set: kind, range, unit, default and documentation, once. [`Registered`] gives its
//! [`Entry`] and its constructor. A line in the set's [`registry!`](crate::registry!) makes the
//! enum's variant, the constructor by name, and the list of entries. It also makes the dispatch of
//! methods and the tests that all entries share. An entry that lacks one of these does not compile.
//!
//! ```
//! use fadeout_core::Span;
//! use fadeout_core::registry::{Entry, Parameters, Registered, Settings, Value, integer, span};
//!
//! // tide.rs: a model and its parameters.
//! fadeout_core::parameters! {
//!     /// A tide.
//!     #[derive(Debug, Clone, Copy, PartialEq)]
//!     pub struct Tide {
//!         /// From one high water to the next.
//!         pub period: Span = span("44712 s"),
//!         /// Height of high water; the key in a scenario is `height`.
//!         pub height_cm as "height": u32 = integer((0, 2_000, "cm"), "150"),
//!     }
//! }
//!
//! impl Registered<u64> for Tide {
//!     const ENTRY: Entry = Entry::new("tide", "periodic", "Rises and falls.", "Laplace 1776")
//!         .with_aliases(&["moon"])
//!         .with_parameters(Tide::PARAMETERS);
//!
//!     fn from_settings(settings: &Settings<'_>, _seed: u64) -> Self {
//!         Tide::read(settings)
//!     }
//! }
//!
//! // The same model under another name, with another default.
//! const SPRING_TIDE: Entry = Entry::new("spring-tide", "periodic", "At new moon.", "Laplace 1776")
//!     .with_parameters(&Tide::with_defaults(&[("height", "220")]));
//!
//! impl Tide {
//!     fn highest(&self) -> u32 {
//!         self.height_cm
//!     }
//! }
//!
//! // mod.rs: the closed set. Every constructor takes a seed; the tests use 1.
//! fadeout_core::registry! {
//!     /// Everything that moves water.
//!     pub static WATERS;
//!     /// What moves water.
//!     #[derive(Debug, Clone, PartialEq)]
//!     pub enum Water(seed: u64 = 1) {
//!         Tide(Tide),
//!         SpringTide(Tide) = SPRING_TIDE,
//!     }
//!     macro waters;
//! }
//!
//! impl Water {
//!     fn highest(&self) -> u32 {
//!         waters!(self, water => water.highest())
//!     }
//! }
//!
//! let none = Parameters::default();
//! let highest = |name, given| Water::new(name, given, 7).map(|water: Water| water.highest());
//! assert_eq!(highest("moon", &none), Some(150));
//! assert_eq!(highest("spring-tide", &none), Some(220));
//! assert_eq!(highest("tsunami", &none), None);
//! let given = Parameters(vec![("height".to_owned(), Value::Number(90.0))]);
//! assert_eq!(highest("spring-tide", &given), Some(90));
//! assert_eq!(WATERS[0].parameters[0].doc, "From one high water to the next.");
//! ```

mod check;
mod closed_set;
mod parameters;
mod settings;

pub use check::{check, check_built};
pub use parameters::{is_same, join, join_from, kebab, kebab_str, with_defaults};
pub use settings::{FromSetting, Settings, parse_span};

/// Algorithm or model that a scenario can name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Canonical name, lower case with hyphens.
    pub name: &'static str,
    /// Other names of the entry.
    pub aliases: &'static [&'static str],
    /// Group of the entry in lists.
    pub family: &'static str,
    /// Description in one sentence.
    pub summary: &'static str,
    /// RFC and section, paper, or kernel file.
    pub citation: &'static str,
    /// Parameters of the entry.
    pub parameters: &'static [Parameter],
}

impl Entry {
    /// Returns an entry without aliases and parameters.
    pub const fn new(
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

    /// Returns the entry with these aliases.
    #[must_use]
    pub const fn with_aliases(self, aliases: &'static [&'static str]) -> Entry {
        Entry { aliases, ..self }
    }

    /// Returns the entry with these parameters.
    #[must_use]
    pub const fn with_parameters(self, parameters: &'static [Parameter]) -> Entry {
        Entry { parameters, ..self }
    }
}

/// Type that a scenario can name. Its constructor takes a `Context` in addition to the parameters,
/// such as a random stream.
pub trait Registered<Context = ()>: Sized {
    /// Name, description and parameters of the type, and the reference to the literature.
    const ENTRY: Entry;

    /// Returns the value that the parameters describe.
    fn from_settings(settings: &Settings<'_>, context: Context) -> Self;
}

/// A boxed large type of a closed set, so that smaller values do not need its memory.
impl<Context, T: Registered<Context>> Registered<Context> for Box<T> {
    const ENTRY: Entry = T::ENTRY;

    fn from_settings(settings: &Settings<'_>, context: Context) -> Self {
        Box::new(T::from_settings(settings, context))
    }
}

/// Parameter of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Key in the scenario.
    pub name: &'static str,
    /// Type and range.
    pub kind: ParameterKind,
    /// Default as written in a scenario.
    pub default: &'static str,
    /// Effect of the parameter, and the reason for its default.
    pub doc: &'static str,
    /// True if the value of an omitted parameter depends on other parameters or on the context, so
    /// that `default` does not apply.
    pub depends: bool,
}

impl Parameter {
    /// Returns the parameter with [`Parameter::depends`] set to true.
    #[must_use]
    pub const fn depending(self) -> Parameter {
        Parameter {
            depends: true,
            ..self
        }
    }

    /// Returns true if `value` means the same as an omitted parameter.
    pub fn is_default(&self, value: &Value) -> bool {
        !self.depends && settings::default_value(self).as_ref() == Some(value)
    }
}

/// Type and range of a parameter's value.
#[derive(Debug, Clone, Copy)]
pub enum ParameterKind {
    /// Number within `min..=max`, in `unit` (empty for a plain number).
    Number {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
        /// Unit for documentation, for example "segments".
        unit: &'static str,
    },
    /// Whole number within `min..=max`.
    Integer {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
        /// Unit for documentation.
        unit: &'static str,
    },
    /// True or false.
    Bool,
    /// Time such as "20 ms".
    Span,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Name of an entry of this kind, or a table with the name under [`NAME`] and the entry's
    /// parameters.
    Named(&'static str),
}

/// Key that holds the name if a parameter is a table ([`ParameterKind::Named`]).
pub const NAME: &str = "name";

/// Returns a parameter that is a number within `min..=max`, in `unit`.
pub const fn number(
    name: &'static str,
    (min, max, unit): (f64, f64, &'static str),
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Number { min, max, unit },
        default,
        doc,
        depends: false,
    }
}

/// Returns a parameter that is a whole number within `min..=max`, in `unit`.
pub const fn integer(
    name: &'static str,
    (min, max, unit): (u64, u64, &'static str),
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Integer { min, max, unit },
        default,
        doc,
        depends: false,
    }
}

/// Returns a parameter that is true or false.
pub const fn flag(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Bool,
        default,
        doc,
        depends: false,
    }
}

/// Returns a parameter that is a time.
pub const fn span(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Span,
        default,
        doc,
        depends: false,
    }
}

/// Returns a parameter that is one of `names`.
pub const fn choice(
    name: &'static str,
    names: &'static [&'static str],
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Choice(names),
        default,
        doc,
        depends: false,
    }
}

/// Returns a parameter that is an entry of `kind` with its parameters.
pub const fn named(
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind: ParameterKind::Named(kind),
        default,
        doc,
        depends: false,
    }
}

/// Value of a parameter in a checked scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Number or integer.
    Number(f64),
    /// True or false.
    Bool(bool),
    /// Time.
    Span(crate::Span),
    /// The chosen name.
    Choice(String),
    /// Name of an entry, and its parameters.
    Named(String, Parameters),
}

/// Parameters that a scenario has given. Other parameters keep their defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters(pub Vec<(String, Value)>);

impl Parameters {
    /// Empty list of given parameters.
    pub const NONE: &'static Parameters = &Parameters(Vec::new());

    fn find(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }
    /// Returns the number given for `name`, or `default`.
    pub fn number(&self, name: &str, default: f64) -> f64 {
        match self.find(name) {
            Some(Value::Number(number)) => *number,
            _ => default,
        }
    }
    /// Returns the flag given for `name`, or `default`.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        match self.find(name) {
            Some(Value::Bool(flag)) => *flag,
            _ => default,
        }
    }
    /// Returns the time given for `name`, or `default`.
    pub fn span(&self, name: &str, default: crate::Span) -> crate::Span {
        match self.find(name) {
            Some(Value::Span(span)) => *span,
            _ => default,
        }
    }
    /// Returns the choice given for `name`, or `default`.
    pub fn choice<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        match self.find(name) {
            Some(Value::Choice(choice)) => choice,
            _ => default,
        }
    }
    /// Returns the entry given for `name` with its parameters. `None` if none is given.
    pub fn named(&self, name: &str) -> Option<(&str, &Parameters)> {
        match self.find(name) {
            Some(Value::Named(name, parameters)) => Some((name, parameters)),
            _ => None,
        }
    }
}

/// Error for a parameter out of its range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutOfRange {
    /// Name of the parameter.
    pub name: &'static str,
    /// Value of the parameter.
    pub value: String,
    /// Valid range.
    pub expected: String,
}

impl std::fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OutOfRange {
            name,
            value,
            expected,
        } = self;
        write!(f, "{name} is {value}; expected {expected}")
    }
}

impl std::error::Error for OutOfRange {}

/// Checks a value against a range.
///
/// # Errors
/// Returns an error with the ends of the range if `value` is outside.
pub fn in_range<T: Copy + PartialOrd + std::fmt::Display>(
    name: &'static str,
    value: T,
    range: impl std::ops::RangeBounds<T>,
) -> Result<(), OutOfRange> {
    use std::ops::Bound;
    if range.contains(&value) {
        return Ok(());
    }
    let bound = |bound: Bound<&T>, closed: &str, open: &str| match bound {
        Bound::Included(end) => Some(format!("{closed} {end}")),
        Bound::Excluded(end) => Some(format!("{open} {end}")),
        Bound::Unbounded => None,
    };
    let low = bound(range.start_bound(), "at least", "more than");
    let high = bound(range.end_bound(), "at most", "less than");
    let expected: Vec<String> = low.into_iter().chain(high).collect();
    Err(OutOfRange {
        name,
        value: value.to_string(),
        expected: expected.join(" and "),
    })
}

/// Kind of item that a scenario names, with all valid names.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Singular, as in the scenario's key: "congestion-control".
    pub name: &'static str,
    /// Plural, as in `fadeout list`: "congestion-controls".
    pub plural: &'static str,
    /// Entries that can be named.
    pub entries: &'static [Entry],
}

/// Parameters of a part of a layer that has no name in a scenario. Keys of a table take their
/// defaults from them.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Name that keys use for the part: "beam-management".
    pub name: &'static str,
    /// Parameters, with the names of the keys.
    pub parameters: &'static [Parameter],
}

/// All kinds, assembled by `sim` from the other crates.
#[derive(Debug, Clone, Copy)]
pub struct Catalog {
    /// Kinds of items.
    pub kinds: &'static [Kind],
    /// Parts of layers that keys take defaults from.
    pub parts: &'static [Part],
}

impl Catalog {
    /// Returns the entries of the kind called `name` (singular). Empty if there is no such kind.
    pub fn entries(&self, name: &str) -> &'static [Entry] {
        self.kinds
            .iter()
            .find(|kind| kind.name == name)
            .map_or(&[], |kind| kind.entries)
    }

    /// Returns the default of the parameter `name` of a part, with its unit. `None` if there is
    /// none.
    pub fn default_of(&self, part: &str, name: &str) -> Option<String> {
        let part = self.parts.iter().find(|known| known.name == part)?;
        let mut parameters = part.parameters.iter();
        let parameter = parameters.find(|parameter| parameter.name == name)?;
        Some(match parameter.kind {
            ParameterKind::Number { unit, .. } | ParameterKind::Integer { unit, .. }
                if !unit.is_empty() && settings::default_value(parameter).is_some() =>
            {
                format!("{} {unit}", parameter.default)
            }
            _ => parameter.default.to_owned(),
        })
    }
}

/// Finds `name` among the names and aliases of the entries. `None` if it is not there.
pub fn find<'a>(entries: &'a [Entry], name: &str) -> Option<&'a Entry> {
    entries
        .iter()
        .find(|entry| entry.name == name || entry.aliases.contains(&name))
}
