//! Split virtqueues, as the device handles them.
//!
//! A ring lies in the guest's memory, and the guest may write anything there. So indices, chains
//! and lengths are checked when they are read.
//!
//! Standard: VIRTIO 1.2 §2.7.

use crate::Fault;
use crate::memory::Memory;

const HAS_NEXT: u16 = 1;
const IS_WRITABLE: u16 = 2;
const IS_INDIRECT: u16 = 4;
/// Flag of the used ring: the device needs no notification of new buffers.
const NO_NOTIFY: u16 = 1;
/// Flag of the available ring: the guest needs no interrupt for used buffers.
const NO_INTERRUPT: u16 = 1;
/// Largest size of a ring in the standard.
const MAX_SIZE: u32 = 32768;

/// A part of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Guest address of the part.
    pub at: u64,
    /// Length of the part in bytes.
    pub len: u32,
    /// True if the device writes this part. Otherwise the device reads it.
    pub is_writable: bool,
}

/// A ring in the guest's memory.
#[derive(Debug, Default)]
pub struct Ring {
    size: u16,
    descriptors: u64,
    available: u64,
    used: u64,
    next_available: u16,
    /// Index of available descriptors in the guest at the last check.
    seen_available: u16,
    next_used: u16,
}

impl Ring {
    /// Sets the number of descriptors.
    ///
    /// # Errors
    /// Returns a [`Fault`] unless the size is a power of two up to 32768.
    pub fn set_size(&mut self, size: u32) -> Result<(), Fault> {
        if !size.is_power_of_two() || size > MAX_SIZE {
            return Err(Fault("a ring whose size is not a power of two up to 32768"));
        }
        self.size = size as u16;
        Ok(())
    }

    /// Sets the index of the first entry.
    pub fn set_base(&mut self, base: u16) {
        self.next_available = base;
        self.seen_available = base;
        self.next_used = base;
    }

    /// Returns the index of the next entry.
    pub fn base(&self) -> u16 {
        self.next_available
    }

    /// Sets the addresses of the three tables.
    pub fn set_addresses(&mut self, descriptors: u64, available: u64, used: u64) {
        (self.descriptors, self.available, self.used) = (descriptors, available, used);
    }

    /// True if the ring has a size and addresses.
    pub fn is_ready(&self) -> bool {
        self.size > 0 && self.used != 0
    }

    /// Tells the guest to send no notifications, because the device checks the ring whenever the
    /// guest is idle.
    ///
    /// # Errors
    /// Returns a [`Fault`] if the ring is not in the guest's memory.
    pub fn silence(&self, memory: &impl Memory) -> Result<(), Fault> {
        memory.write(self.used, &NO_NOTIFY.to_le_bytes())
    }

    /// Returns true if the guest needs an interrupt for used buffers.
    ///
    /// # Errors
    /// Returns the errors of [`Ring::silence`].
    pub fn wants_interrupt(&self, memory: &impl Memory) -> Result<bool, Fault> {
        Ok(u16_at(memory, self.available)? & NO_INTERRUPT == 0)
    }

    /// Takes the next buffer, and stores its parts in `parts`. `None` if no buffer is available.
    ///
    /// # Errors
    /// Returns a [`Fault`] for an invalid ring.
    pub fn next_buffer(
        &mut self,
        memory: &impl Memory,
        parts: &mut Vec<Part>,
    ) -> Result<Option<u16>, Fault> {
        if !self.is_ready() {
            return Ok(None);
        }
        if self.next_available == self.seen_available {
            self.seen_available = u16_at(memory, place(self.available, 2)?)?;
        }
        let waiting = self.seen_available.wrapping_sub(self.next_available);
        if waiting == 0 {
            return Ok(None);
        }
        if waiting > self.size {
            return Err(Fault("more buffers than the ring has room for"));
        }
        let slot = u64::from(self.next_available & (self.size - 1));
        let head = u16_at(memory, place(self.available, 4 + 2 * slot)?)?;
        self.chain(memory, head, parts)?;
        self.next_available = self.next_available.wrapping_add(1);
        Ok(Some(head))
    }

    /// Stores the parts of the buffer that begins at descriptor `head`.
    fn chain(&self, memory: &impl Memory, head: u16, parts: &mut Vec<Part>) -> Result<(), Fault> {
        parts.clear();
        let mut next = head;
        // A circular chain would have more parts than the ring has descriptors.
        for _ in 0..self.size {
            if next >= self.size {
                return Err(Fault("a descriptor beyond the ring"));
            }
            let mut bytes = [0; 16];
            memory.read(place(self.descriptors, 16 * u64::from(next))?, &mut bytes)?;
            let at = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
            let len = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
            let flags = u16::from_le_bytes([bytes[12], bytes[13]]);
            next = u16::from_le_bytes([bytes[14], bytes[15]]);
            if flags & IS_INDIRECT != 0 {
                return Err(Fault("an indirect descriptor, which was not agreed on"));
            }
            let is_writable = flags & IS_WRITABLE != 0;
            if !is_writable && parts.last().is_some_and(|last| last.is_writable) {
                return Err(Fault("a part to read after a part to write"));
            }
            parts.push(Part {
                at,
                len,
                is_writable,
            });
            if flags & HAS_NEXT == 0 {
                return Ok(());
            }
        }
        Err(Fault("a chain of descriptors in a circle"))
    }

    /// Returns a buffer to the guest, of which the device wrote `written` bytes.
    ///
    /// # Errors
    /// Returns a [`Fault`] if the ring is not in the guest's memory.
    pub fn give_back(
        &mut self,
        memory: &impl Memory,
        head: u16,
        written: u32,
    ) -> Result<(), Fault> {
        let slot = u64::from(self.next_used & (self.size - 1));
        let mut element = [0; 8];
        element[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        element[4..].copy_from_slice(&written.to_le_bytes());
        memory.write(place(self.used, 4 + 8 * slot)?, &element)?;
        self.next_used = self.next_used.wrapping_add(1);
        Ok(())
    }

    /// Publishes the returned buffers to the guest.
    ///
    /// # Errors
    /// Returns the errors of [`Ring::give_back`].
    pub fn publish(&self, memory: &impl Memory) -> Result<(), Fault> {
        memory.write(place(self.used, 2)?, &self.next_used.to_le_bytes())
    }
}

/// Reads all parts that the device reads, up to `limit` bytes.
///
/// # Errors
/// Returns a [`Fault`] for more bytes, or for parts outside the guest's memory.
pub fn gather(
    memory: &impl Memory,
    parts: &[Part],
    limit: usize,
    into: &mut Vec<u8>,
) -> Result<(), Fault> {
    into.clear();
    for part in parts.iter().filter(|part| !part.is_writable) {
        let start = into.len();
        let len = part.len as usize;
        if len > limit - start {
            return Err(Fault("a frame that is too long"));
        }
        into.resize(start + len, 0);
        memory.read(part.at, &mut into[start..])?;
    }
    Ok(())
}

/// Writes `from` to the parts that the device writes. Returns the number of bytes. `None` if the
/// parts are too small.
///
/// # Errors
/// Returns a [`Fault`] for parts outside the guest's memory.
pub fn scatter(
    memory: &impl Memory,
    parts: &[Part],
    mut from: &[u8],
) -> Result<Option<u32>, Fault> {
    let whole = from.len() as u32;
    for part in parts.iter().filter(|part| part.is_writable) {
        let (now, rest) = from.split_at(from.len().min(part.len as usize));
        if !now.is_empty() {
            memory.write(part.at, now)?;
        }
        from = rest;
    }
    Ok(from.is_empty().then_some(whole))
}

fn place(base: u64, offset: u64) -> Result<u64, Fault> {
    base.checked_add(offset)
        .ok_or(Fault("a ring beyond all memory"))
}

fn u16_at(memory: &impl Memory, at: u64) -> Result<u16, Fault> {
    let mut bytes = [0; 2];
    memory.read(at, &mut bytes)?;
    Ok(u16::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Region, Regions};
    use std::cell::RefCell;

    type Filled = Regions<RefCell<Vec<u8>>>;

    const DESCRIPTORS: u64 = 0;
    const AVAILABLE: u64 = 0x100;
    const USED: u64 = 0x200;

    fn memory() -> Filled {
        Regions(vec![Region {
            address: 0,
            len: 4096,
            offset: 0,
            backing: RefCell::new(vec![0; 4096]),
        }])
    }

    fn ring() -> Ring {
        let mut ring = Ring::default();
        ring.set_size(4).expect("a power of two");
        ring.set_addresses(DESCRIPTORS, AVAILABLE, USED);
        ring
    }

    fn describe(memory: &impl Memory, n: u64, at: u64, len: u32, flags: u16, next: u16) {
        let mut bytes = at.to_le_bytes().to_vec();
        bytes.extend(len.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        memory.write(DESCRIPTORS + 16 * n, &bytes).expect("inside");
    }

    fn offer(memory: &impl Memory, slot: u64, head: u16, index: u16) {
        let at = AVAILABLE + 4 + 2 * slot;
        memory.write(at, &head.to_le_bytes()).expect("inside");
        memory
            .write(AVAILABLE + 2, &index.to_le_bytes())
            .expect("inside");
    }

    #[test]
    fn a_chain_is_read_written_and_given_back() {
        let (memory, mut ring, mut parts) = (memory(), ring(), Vec::new());
        memory.write(0x400, b"head").expect("inside");
        describe(&memory, 2, 0x400, 4, HAS_NEXT, 1);
        describe(&memory, 1, 0x500, 8, IS_WRITABLE, 0);
        assert_eq!(ring.next_buffer(&memory, &mut parts), Ok(None));
        offer(&memory, 0, 2, 1);
        assert_eq!(ring.next_buffer(&memory, &mut parts), Ok(Some(2)));
        let mut read = Vec::new();
        gather(&memory, &parts, 100, &mut read).expect("inside");
        assert_eq!(read, b"head");
        assert_eq!(scatter(&memory, &parts, b"12345678"), Ok(Some(8)));
        assert_eq!(scatter(&memory, &parts, b"123456789"), Ok(None));
        ring.give_back(&memory, 2, 8).expect("inside");
        ring.publish(&memory).expect("inside");
        let mut used = [0; 12];
        memory.read(USED, &mut used).expect("inside");
        assert_eq!(used, [0, 0, 1, 0, 2, 0, 0, 0, 8, 0, 0, 0]);
        assert_eq!(ring.next_buffer(&memory, &mut parts), Ok(None));
    }

    #[test]
    fn what_a_ring_must_not_hold_is_a_fault() {
        let mut parts = Vec::new();
        let mut fails = |prepare: &dyn Fn(&Filled)| {
            let (memory, mut ring) = (memory(), ring());
            offer(&memory, 0, 0, 1);
            prepare(&memory);
            ring.next_buffer(&memory, &mut parts)
                .expect_err("a fault")
                .0
        };
        assert!(fails(&|m| offer(m, 0, 4, 1)).contains("beyond the ring"));
        assert!(fails(&|m| offer(m, 0, 0, 5)).contains("room"));
        assert!(fails(&|m| describe(m, 0, 0, 1, HAS_NEXT, 0)).contains("circle"));
        assert!(fails(&|m| describe(m, 0, 0, 1, IS_INDIRECT, 0)).contains("indirect"));
        let order = |m: &Filled| {
            describe(m, 0, 0, 1, IS_WRITABLE | HAS_NEXT, 1);
            describe(m, 1, 0, 1, 0, 0);
        };
        assert!(fails(&order).contains("to read after"));
    }

    #[test]
    fn a_frame_longer_than_any_is_a_fault_and_a_ring_out_of_memory_too() {
        let (memory, mut parts) = (memory(), Vec::new());
        let part = |len| Part {
            at: 0,
            len,
            is_writable: false,
        };
        let mut into = Vec::new();
        assert!(gather(&memory, &[part(u32::MAX)], 1 << 17, &mut into).is_err());
        let twice = [part(1000), part(1000)];
        assert!(gather(&memory, &twice, 1999, &mut into).is_err());
        let mut ring = ring();
        ring.set_addresses(0, u64::MAX - 1, 1);
        assert!(ring.next_buffer(&memory, &mut parts).is_err());
        assert!(ring.set_size(3).is_err() && ring.set_size(0).is_err());
        assert!(ring.set_size(65536).is_err());
    }
}
