//! Writer of bit fields, the most significant bit first.

/// Writer that appends bit fields to a header. Complete bytes are written at once.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a mut Vec<u8>,
    pending: u64,
    count: u32,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a mut Vec<u8>) -> Bits<'a> {
        Bits {
            bytes,
            pending: 0,
            count: 0,
        }
    }

    /// Appends a field of `width` bits, at most 32.
    pub(super) fn put(&mut self, value: u32, width: u32) -> &mut Self {
        debug_assert!(
            width == 32 || value >> width == 0,
            "{value} does not fit into {width} bits"
        );
        self.pending = self.pending << width | u64::from(value);
        self.count += width;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.pending >> self.count) as u8);
            self.pending &= (1 << self.count) - 1;
        }
        self
    }

    /// Appends a field of one bit.
    pub(super) fn flag(&mut self, is_set: bool) -> &mut Self {
        self.put(u32::from(is_set), 1)
    }

    /// Appends zeros up to the end of a byte.
    pub(super) fn pad(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_follow_each_other_without_gaps() {
        let mut bytes = vec![7];
        let mut bits = Bits::new(&mut bytes);
        bits.flag(true).put(0b01, 2).put(0x1_2345, 17).put(3, 2);
        bits.pad();
        // The fields have the bits 1 01 1 0010 0011 0100 0101 11, and 00 is padding.
        assert_eq!(bytes, [7, 0b1011_0010, 0b0011_0100, 0b0101_1100]);
    }

    #[test]
    fn a_field_may_have_32_bits() {
        let mut bytes = Vec::new();
        Bits::new(&mut bytes).put(1, 4).put(u32::MAX, 32).put(0, 4);
        assert_eq!(bytes, [0x1f, 0xff, 0xff, 0xff, 0xf0]);
    }
}
