//! Names of nodes, links and flows as parts of file names.

/// Returns the name at `index` without characters that file names cannot have. The index is added
/// if another name would give the same file name.
pub(super) fn file_stem(names: &[String], index: usize) -> String {
    let plain = |name: &str| -> String {
        name.chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .take(100)
            .collect()
    };
    let own = plain(&names[index]);
    // Some file systems do not distinguish upper and lower case.
    let twins = names
        .iter()
        .filter(|name| plain(name).eq_ignore_ascii_case(&own))
        .count();
    if twins > 1 || own.is_empty() {
        format!("{own}-{index}")
    } else {
        own
    }
}
