//! Search for the valid name that is most similar to an invalid name, or has the same meaning.

/// Names that other simulators and standards use, each with the key of the same meaning. If several
/// keys fit, the first one that the table has is suggested.
const SYNONYMS: &[(&str, &str)] = &[
    ("gnb", "cell"),
    ("enb", "cell"),
    ("enodeb", "cell"),
    ("gnodeb", "cell"),
    ("base-station", "cell"),
    ("frequency", "carrier"),
    ("carrier-frequency", "carrier"),
    ("cc", "congestion-control"),
    ("congestion", "congestion-control"),
    ("size", "application"),
    ("size", "limit"),
    ("speed", "rate"),
    ("bandwidth", "rate"),
    ("bitrate", "rate"),
    ("latency", "delay"),
    ("buffer", "queue"),
];

/// Returns the key that `given` most likely means, by its meaning or its spelling. `None` if no key
/// of `names` is similar enough.
pub(crate) fn nearest_key(given: &str, names: &[&str]) -> Option<String> {
    let lower = given.to_lowercase().replace('_', "-");
    SYNONYMS
        .iter()
        .find(|(synonym, key)| *synonym == lower && names.contains(key))
        .map(|(_, key)| (*key).to_owned())
        .or_else(|| nearest(given, names.iter().copied()))
}

/// Returns the name that `given` most likely means. `None` if no name is similar enough.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // A long name is not a typing mistake, and the time for an edit distance grows with the square
    // of its length.
    const LONGEST: usize = 64;
    const MOST: usize = 1000;
    if given.len() > LONGEST {
        return None;
    }
    let lower = given.to_lowercase().replace('_', "-");
    names
        .into_iter()
        .take(MOST)
        .filter(|name| name.len() <= LONGEST)
        .map(|name| {
            (
                strsim::damerau_levenshtein(&lower, &name.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, name)| *distance <= 1 + name.len().min(given.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synonym_finds_the_key_that_has_its_meaning() {
        let link = ["from", "rate", "delay", "queue"];
        assert_eq!(nearest_key("speed", &link).as_deref(), Some("rate"));
        assert_eq!(nearest_key("dealy", &link).as_deref(), Some("delay"));
        assert_eq!(nearest_key("frequency", &link), None);
        let cell = ["carrier", "bandwidth"];
        assert_eq!(nearest_key("Frequency", &cell).as_deref(), Some("carrier"));
        let flow = ["application", "congestion-control"];
        assert_eq!(nearest_key("size", &flow).as_deref(), Some("application"));
        assert_eq!(
            nearest_key("cc", &flow).as_deref(),
            Some("congestion-control")
        );
        assert_eq!(nearest_key("size", &["limit"]).as_deref(), Some("limit"));
        assert_eq!(nearest_key("gNB", &["cell", "ue"]).as_deref(), Some("cell"));
    }

    #[test]
    fn a_typing_mistake_finds_its_name() {
        let names = ["cubic", "newreno", "delay"];
        assert_eq!(nearest("cubik", names).as_deref(), Some("cubic"));
        assert_eq!(
            nearest("New_Reno", ["new-reno"]).as_deref(),
            Some("new-reno")
        );
        assert_eq!(nearest("dealy", names).as_deref(), Some("delay"));
        assert_eq!(nearest("bbr", names), None);
        assert_eq!(nearest(&"x".repeat(100_000), names), None);
    }
}
