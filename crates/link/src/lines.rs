//! Lines of a user's text file, with their numbers.

/// Returns the trimmed lines with their one-based numbers. Blank lines and comments, which begin
/// with `#`, are left out.
pub(crate) fn meaningful(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, raw)| (index + 1, raw.trim_ascii()))
        .filter(|(_, line)| !line.is_empty() && line[0] != b'#')
}

/// Returns the start of a user's text, for a message.
pub(crate) fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned()
}
