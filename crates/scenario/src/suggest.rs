//! Search for the valid name that is most similar to an invalid one.

/// Returns the name that `given` most likely means. `None` if none is similar enough.
pub fn nearest<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    // A long name is no typing mistake, and the edit distance takes time quadratic in the length.
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
