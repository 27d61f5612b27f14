//! Payload bytes of packets. Copies of a packet share the bytes.

/// Entry of the table, valid until its last holder releases it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PayloadId(u32);

/// Bytes with the number of their holders.
#[derive(Debug, Default)]
struct Entry {
    bytes: Vec<u8>,
    holders: u32,
}

/// Table of payload bytes. An entry has one holder for each packet with the bytes. The memory of an
/// entry is freed when its last holder releases it.
#[derive(Debug, Default)]
pub struct Payloads {
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Number of bytes of all entries, with [`Payloads::OVERHEAD`] for each.
    held: u64,
}

impl Payloads {
    /// Bytes that count for an entry in addition to its payload. They stand for the memory of the
    /// packet and of the entry itself.
    pub const OVERHEAD: u64 = 64;

    /// Adds an entry with one holder.
    pub(crate) fn insert(&mut self, bytes: Vec<u8>) -> PayloadId {
        self.held += bytes.len() as u64 + Payloads::OVERHEAD;
        let entry = Entry { bytes, holders: 1 };
        match self.free.pop() {
            Some(id) => {
                self.entries[id as usize] = entry;
                PayloadId(id)
            }
            None => {
                self.entries.push(entry);
                let id = u32::try_from(self.entries.len() - 1);
                PayloadId(id.expect("fewer than 2^32 payloads are held"))
            }
        }
    }

    /// Adds a holder to an entry.
    pub(crate) fn share(&mut self, id: PayloadId) {
        self.entry(id).holders += 1;
    }

    /// Removes a holder from an entry.
    pub(crate) fn release(&mut self, id: PayloadId) {
        let entry = self.entry(id);
        entry.holders -= 1;
        if entry.holders == 0 {
            self.remove(id);
        }
    }

    /// Removes a holder from an entry and returns the bytes. The bytes are copied only if the entry
    /// has other holders.
    pub fn take(&mut self, id: PayloadId) -> Vec<u8> {
        let entry = self.entry(id);
        entry.holders -= 1;
        match entry.holders {
            0 => self.remove(id),
            _ => entry.bytes.clone(),
        }
    }

    /// Returns the bytes of an entry.
    pub(crate) fn bytes(&self, id: PayloadId) -> &[u8] {
        &self.entries[id.0 as usize].bytes
    }

    /// Returns the number of bytes of all entries, with [`Payloads::OVERHEAD`] for each. Shared
    /// bytes count once.
    pub fn held(&self) -> u64 {
        self.held
    }

    fn entry(&mut self, id: PayloadId) -> &mut Entry {
        let entry = &mut self.entries[id.0 as usize];
        debug_assert!(entry.holders > 0, "a payload without holders is used");
        entry
    }

    fn remove(&mut self, id: PayloadId) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.entries[id.0 as usize].bytes);
        self.free.push(id.0);
        self.held -= bytes.len() as u64 + Payloads::OVERHEAD;
        debug_assert!(
            self.free.len() < self.entries.len() || self.held == 0,
            "payload bytes are counted that no entry has"
        );
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_bytes_are_freed_with_their_last_holder() {
        let mut payloads = Payloads::default();
        let id = payloads.insert(vec![7; 1000]);
        payloads.share(id);
        payloads.share(id);
        assert_eq!(payloads.held(), 1000 + Payloads::OVERHEAD);
        payloads.release(id);
        assert_eq!(payloads.take(id), vec![7; 1000]);
        assert_eq!(payloads.held(), 1000 + Payloads::OVERHEAD);
        assert_eq!(payloads.take(id), vec![7; 1000]);
        assert_eq!(payloads.held(), 0);
        assert_eq!(payloads.insert(Vec::new()), id, "the entry is used again");
    }

    #[test]
    fn the_last_holder_gets_the_bytes_without_a_copy() {
        let mut payloads = Payloads::default();
        let given = vec![1, 2, 3];
        let place = given.as_ptr();
        let id = payloads.insert(given);
        let taken = payloads.take(id);
        assert_eq!(taken.as_ptr(), place);
    }
}
