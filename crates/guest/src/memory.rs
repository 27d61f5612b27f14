//! The memory of a guest, as its devices access it.

use crate::Fault;

/// Memory at guest addresses.
pub trait Memory {
    /// Reads memory from address `at` into `into`.
    ///
    /// # Errors
    /// Returns a [`Fault`] if a part of it is not memory of the guest.
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault>;
    /// Writes `from` to address `at`.
    ///
    /// # Errors
    /// Returns the errors of [`Memory::read`].
    fn write(&self, at: u64, from: &[u8]) -> Result<(), Fault>;
}

/// A file or buffer that contains the bytes of a region.
pub trait Backing {
    /// Reads from `offset` into `into`. Returns false if this is not possible.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> bool;
    /// Writes `from` to `offset`. Returns false if this is not possible.
    fn write_at(&self, offset: u64, from: &[u8]) -> bool;
}

impl Backing for std::cell::RefCell<Vec<u8>> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> bool {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let bytes = self.borrow();
        let end = start.saturating_add(into.len());
        let Some(from) = bytes.get(start..end) else {
            return false;
        };
        into.copy_from_slice(from);
        true
    }
    fn write_at(&self, offset: u64, from: &[u8]) -> bool {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut bytes = self.borrow_mut();
        let end = start.saturating_add(from.len());
        let Some(into) = bytes.get_mut(start..end) else {
            return false;
        };
        into.copy_from_slice(from);
        true
    }
}

/// A range of guest addresses, with the position of its bytes.
#[derive(Debug)]
pub struct Region<B> {
    /// First guest address of the region.
    pub address: u64,
    /// Length of the region in bytes.
    pub len: u64,
    /// Position of the first byte in the backing.
    pub offset: u64,
    /// File or buffer with the bytes.
    pub backing: B,
}

/// All memory regions of a guest.
#[derive(Debug)]
pub struct Regions<B>(pub Vec<Region<B>>);

impl<B> Default for Regions<B> {
    fn default() -> Self {
        Regions(Vec::new())
    }
}

impl<B> Regions<B> {
    /// Returns the region that contains `len` bytes at address `at`, and their position in its
    /// backing.
    fn find(&self, at: u64, len: usize) -> Result<(&Region<B>, u64), Fault> {
        let len = len as u64;
        self.0
            .iter()
            .find_map(|region| {
                let into = at.checked_sub(region.address)?;
                let end = into.checked_add(len)?;
                let offset = region.offset.checked_add(into)?;
                (end <= region.len).then_some((region, offset))
            })
            .ok_or(Fault("an address beyond the guest's memory"))
    }
}

impl<B: Backing> Memory for Regions<B> {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), Fault> {
        let (region, offset) = self.find(at, into.len())?;
        match region.backing.read_at(offset, into) {
            true => Ok(()),
            false => Err(Fault("the guest's memory cannot be read")),
        }
    }
    fn write(&self, at: u64, from: &[u8]) -> Result<(), Fault> {
        let (region, offset) = self.find(at, from.len())?;
        match region.backing.write_at(offset, from) {
            true => Ok(()),
            false => Err(Fault("the guest's memory cannot be written")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn what_is_not_all_inside_a_region_is_a_fault() {
        let region = |address| Region {
            address,
            len: 16,
            offset: 4,
            backing: RefCell::new(vec![0; 20]),
        };
        let memory = Regions(vec![region(0x1000), region(0x1010)]);
        assert!(memory.write(0x1008, &[7; 8]).is_ok());
        assert!(
            memory.write(0x1009, &[7; 8]).is_err(),
            "over the edge of a region"
        );
        assert!(memory.read(0xfff, &mut [0]).is_err());
        assert!(memory.read(u64::MAX, &mut [0; 2]).is_err());
        let mut read = [0; 8];
        memory.read(0x1008, &mut read).expect("inside");
        assert_eq!(read, [7; 8]);
        let short = Regions(vec![Region {
            address: 0,
            len: u64::MAX,
            offset: 0,
            backing: RefCell::new(vec![0; 4]),
        }]);
        assert!(
            short.read(2, &mut [0; 4]).is_err(),
            "the backing is shorter than said"
        );
    }
}
