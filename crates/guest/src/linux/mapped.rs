//! Memory that is shared with a guest.

use crate::memory::Backing;
use std::fs::File;
use std::io;
use vm_memory::{Bytes, FileOffset, MmapRegion, VolatileMemory};

/// A completely mapped file. A system call for each index and descriptor of a ring would cost more
/// than TCP does.
///
/// Software inside a guest cannot shorten the file. The guest's process could, which would end the
/// simulator by a signal. But it is a process of the same user, who could do this anyway.
#[derive(Debug)]
pub(super) struct Mapped(MmapRegion);

impl Mapped {
    /// Maps the whole file.
    pub(super) fn whole(file: File) -> io::Result<Mapped> {
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let region = MmapRegion::from_file(FileOffset::new(file, 0), len);
        Ok(Mapped(region.map_err(io::Error::other)?))
    }
}

impl Backing for Mapped {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> bool {
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        self.0.as_volatile_slice().read_slice(into, at).is_ok()
    }
    fn write_at(&self, offset: u64, from: &[u8]) -> bool {
        let at = usize::try_from(offset).unwrap_or(usize::MAX);
        self.0.as_volatile_slice().write_slice(from, at).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::super::socket::anonymous;
    use super::*;

    #[test]
    fn what_is_written_is_in_the_file_and_beyond_its_end_there_is_nothing() {
        let file = anonymous("test", &[7; 5000]).expect("a file");
        let seen = file.try_clone().expect("a second handle");
        let mapped = Mapped::whole(file).expect("a mapping");
        assert!(mapped.write_at(4998, b"ab"));
        let mut read = [0; 3];
        std::os::unix::fs::FileExt::read_exact_at(&seen, &mut read, 4997).expect("inside");
        assert_eq!(&read, b"\x07ab");
        assert!(mapped.read_at(4997, &mut read) && &read == b"\x07ab");
        assert!(!mapped.read_at(4998, &mut read) && !mapped.write_at(u64::MAX, b"a"));
    }
}
