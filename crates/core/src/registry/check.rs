//! Rules of every registry. [`registry!`](crate::registry!) makes tests of them.

use super::settings::{Watch, default_value};
use super::{Entry, Parameter, ParameterKind, Parameters, Settings, Value};
use std::collections::BTreeSet;

impl Parameters {
    /// Returns the defaults of all parameters of an entry as given values, except defaults in
    /// words.
    pub fn with_every_default(entry: &Entry) -> Parameters {
        let given = entry
            .parameters
            .iter()
            .filter_map(|parameter| Some((parameter.name.to_owned(), default_value(parameter)?)));
        Parameters(given.collect())
    }
}

/// Checks the rules of a registry. Names and aliases are unique, and so are the parameters of an
/// entry. Everything is documented, and every default is in its range.
///
/// # Panics
/// Panics if an entry breaks one of these rules. The message names the entry.
pub fn check(entries: &[Entry]) {
    let mut names = BTreeSet::new();
    for entry in entries {
        for name in entry.aliases.iter().chain([&entry.name]) {
            assert!(names.insert(*name), "`{name}` stands twice");
        }
        assert!(!entry.summary.is_empty(), "`{}` says nothing", entry.name);
        let mut keys = BTreeSet::new();
        for parameter in entry.parameters {
            let Parameter { name, doc, .. } = parameter;
            assert!(keys.insert(*name), "`{}` has `{name}` twice", entry.name);
            assert!(!doc.is_empty(), "`{name}` of `{}` says nothing", entry.name);
            check_default(entry, parameter);
        }
    }
}

fn check_default(entry: &Entry, parameter: &Parameter) {
    let Parameter { name, default, .. } = parameter;
    let Some(Value::Number(value)) = default_value(parameter) else {
        return;
    };
    let (min, max) = match parameter.kind {
        ParameterKind::Number { min, max, .. } => (min, max),
        ParameterKind::Integer { min, max, .. } => (min as f64, max as f64),
        _ => return,
    };
    assert!(
        (min..=max).contains(&value),
        "the default {default} of `{name}` of `{}` is not within {min} to {max}",
        entry.name
    );
}

/// Checks that `build` reads every parameter of the entry, with each choice or flag. Also checks
/// that an explicit default changes nothing, alone or with the others. `build` returns a
/// description of its result.
///
/// # Panics
/// Panics if an entry breaks one of these rules, or if `build` reads a parameter that the entry
/// lacks. The message names the parameter.
pub fn check_built(entry: &Entry, build: impl Fn(&Settings<'_>) -> String) {
    let watch = Watch::default();
    let watched = |given: &Parameters| build(&Settings::new(entry, given).watched(&watch));
    let plain = watched(Parameters::NONE);
    for parameter in entry.parameters {
        for value in alternatives(parameter.kind) {
            watched(&Parameters(vec![(parameter.name.to_owned(), value)]));
        }
    }
    for (index, parameter) in entry.parameters.iter().enumerate() {
        let is_in = |bits: u128| bits >> index & 1 == 1;
        let (name, key) = (entry.name, parameter.name);
        assert!(is_in(watch.reads.get()), "`{name}` ignores `{key}`");
        assert!(
            !is_in(watch.absences.get()) || parameter.depends,
            "`{name}` asks whether `{key}` is given: it is `depending`"
        );
    }
    let given = Parameters::with_every_default(entry);
    let explicit = build(&Settings::new(entry, &given));
    assert_eq!(plain, explicit, "`{}` has other defaults", entry.name);
}

/// Returns values of a parameter for which `build` may read other parameters.
fn alternatives(kind: ParameterKind) -> Vec<Value> {
    match kind {
        ParameterKind::Bool => vec![Value::Bool(false), Value::Bool(true)],
        ParameterKind::Choice(names) => names
            .iter()
            .map(|name| Value::Choice((*name).to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{flag, integer};
    use super::*;

    const PLAIN: Entry = Entry::new("plain", "", "Nothing.", "");

    #[test]
    #[should_panic(expected = "`plain` stands twice")]
    fn a_name_that_is_an_alias_of_another_is_found() {
        check(&[
            PLAIN,
            Entry::new("other", "", "Nothing.", "").with_aliases(&["plain"]),
        ]);
    }

    #[test]
    #[should_panic(expected = "the default 9 of `n` of `plain` is not within 0 to 8")]
    fn a_default_out_of_range_is_found() {
        check(&[PLAIN.with_parameters(&const { [integer("n", (0, 8, ""), "9", "N.")] })]);
    }

    const OF_TWO: Entry =
        PLAIN.with_parameters(&[flag("a", "true", "A."), flag("b", "false", "B.")]);

    const DEPENDING: Entry = PLAIN.with_parameters(&[
        flag("a", "true", "A."),
        flag("b", "false", "B.").depending(),
    ]);

    #[test]
    #[should_panic(expected = "`plain` ignores `b`")]
    fn a_parameter_that_is_not_read_is_found() {
        check_built(&OF_TWO, |settings| settings.flag("a").to_string());
    }

    #[test]
    #[should_panic(expected = "`plain` asks whether `b` is given: it is `depending`")]
    fn a_parameter_whose_absence_means_more_than_its_default_is_found() {
        check_built(&OF_TWO, |settings| {
            let b = settings.is_given("b") && settings.flag("b");
            format!("{} {b}", settings.flag("a"))
        });
    }

    #[test]
    #[should_panic(expected = "`plain` has other defaults")]
    fn a_second_default_is_found() {
        check_built(&DEPENDING, |settings| {
            let b = settings.flag("b") || !settings.is_given("b");
            format!("{} {b}", settings.flag("a"))
        });
    }
}
