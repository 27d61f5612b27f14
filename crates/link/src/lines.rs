//! Lines of a text file that a user gave, with their numbers.

/// The lines that say something, trimmed, with their one-based numbers: blank lines and comments,
/// which begin with `#`, are left out.
pub(crate) fn meaningful(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    text.split(|&byte| byte == b'\n')
        .enumerate()
        .map(|(index, raw)| (index + 1, raw.trim_ascii()))
        .filter(|(_, line)| !line.is_empty() && line[0] != b'#')
}

/// The start of something that a user wrote, for a message.
pub(crate) fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(40)]).into_owned()
}
