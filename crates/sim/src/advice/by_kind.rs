//! Sentences about several UEs, cells or flows of one kind.

/// Returns one sentence for each group of named UEs or flows that `kind` maps to the same value. A
/// sentence consists of the group's names and the text that `describe` returns for the first
/// member.
pub(super) fn by_kind<'a, T, K: PartialEq>(
    what: &str,
    all: impl Iterator<Item = (&'a str, T)>,
    kind: impl Fn(&T) -> K,
    describe: impl Fn(&T, &str) -> String,
) -> Vec<String> {
    let mut groups: Vec<(T, Vec<&str>)> = Vec::new();
    for (name, one) in all {
        match groups.iter_mut().find(|(of, _)| kind(of) == kind(&one)) {
            Some((_, names)) => names.push(name),
            None => groups.push((one, vec![name])),
        }
    }
    let sentence = |(one, names): &(T, Vec<&str>)| {
        let first = match names.len() {
            1 => "",
            _ => ", of the first",
        };
        format!("{}: {}", subject(what, names), describe(one, first))
    };
    groups.iter().map(sentence).collect()
}

/// Returns the items of a list as a sentence has them: "a, b and c".
pub(super) fn enumeration(items: &[String]) -> String {
    match items {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => items.concat(),
    }
}

/// Returns the subject of a sentence about UEs or flows: the first names, and the number of names
/// left out.
pub(super) fn subject(what: &str, names: &[&str]) -> String {
    match names {
        [one] => format!("{what} \"{one}\""),
        [one, other] => format!("{what}s \"{one}\" and \"{other}\""),
        [first, second, rest @ ..] => {
            format!("{what}s \"{first}\", \"{second}\" and {} more", rest.len())
        }
        [] => format!("no {what}"),
    }
}
