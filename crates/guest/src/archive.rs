//! The initial file system of a guest: an archive with one program and its folders.

/// Returns a `newc` archive, which Linux unpacks at boot. Its first program is `init`.
pub fn with_init(init: &[u8]) -> Vec<u8> {
    let mut archive = Vec::with_capacity(init.len() + 4096);
    for folder in ["dev", "proc", "sys", "host", "tmp"] {
        put(&mut archive, folder, 0o040_755, &[]);
    }
    put(&mut archive, "init", 0o100_755, init);
    put(&mut archive, "TRAILER!!!", 0, &[]);
    archive
}

fn put(archive: &mut Vec<u8>, name: &str, mode: u32, content: &[u8]) {
    let number = (archive.len() + 1) as u32;
    let fields = [
        number,
        mode,
        0,
        0,
        1,
        0,
        content.len() as u32,
        0,
        0,
        0,
        0,
        name.len() as u32 + 1,
        0,
    ];
    archive.extend_from_slice(b"070701");
    for field in fields {
        archive.extend_from_slice(format!("{field:08x}").as_bytes());
    }
    archive.extend_from_slice(name.as_bytes());
    archive.push(0);
    pad(archive);
    archive.extend_from_slice(content);
    pad(archive);
}

fn pad(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_begins_at_a_multiple_of_four_and_the_program_is_in_it() {
        let archive = with_init(b"#!program");
        let position_of = |text: &[u8]| archive.windows(text.len()).position(|part| part == text);
        assert_eq!(position_of(b"#!program").expect("the program") % 4, 0);
        assert_eq!(archive.len() % 4, 0);
        let heads = archive.windows(6).filter(|part| part == b"070701").count();
        assert_eq!(heads, 7);
    }
}
