//! Suggestions for unknown names.

/// Largest number of characters in which a suggestion differs from the given name.
const FARTHEST: usize = 3;

/// Returns ` (nearest: NAME)` for the name that is most similar to `given`. Empty if no name is
/// similar.
pub(crate) fn nearest(given: &str, names: &[&str]) -> String {
    let ranked = names.iter().map(|name| (distance(given, name), name));
    let best = ranked.min_by_key(|(distance, _)| *distance);
    let similar = best.filter(|(distance, _)| *distance <= FARTHEST && *distance < given.len());
    similar.map_or_else(String::new, |(_, name)| format!(" (nearest: `{name}`)"))
}

/// Returns the number of changed, missing and added bytes between two names.
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, byte) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, against) in other.bytes().enumerate() {
            let changed = diagonal + usize::from(byte != against);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_similar_name_is_suggested_and_no_other() {
        let names = ["mpcapable", "mp_join_syn", "dss"];
        assert_eq!(nearest("mp_capable", &names), " (nearest: `mpcapable`)");
        assert_eq!(nearest("mp_join_sin", &names), " (nearest: `mp_join_syn`)");
        assert_eq!(nearest("zzzzzzzzzzz", &names), "");
        assert_eq!(nearest("", &names), "");
    }
}
