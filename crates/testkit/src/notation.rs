//! Segments in the notation of packetdrill and tcpdump.

use fadeout_core::{Flags, Segment};
use std::fmt;

/// Prints a segment on one line: flags, `start:end(length)`, acknowledgment, window, options.
#[derive(Debug, Clone, Copy)]
pub struct Notation<'a>(pub &'a Segment);

impl fmt::Display for Notation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let segment = self.0;
        let end = segment.seq + u64::from(segment.len);
        write!(
            f,
            "{:?} {}:{}({})",
            segment.flags, segment.seq, end, segment.len
        )?;
        if segment.flags.has(Flags::ACK) {
            write!(f, " ack {}", segment.ack)?;
        }
        write!(f, " win {}", segment.window)?;
        if segment.mss > 0 {
            write!(f, " mss {}", segment.mss)?;
        }
        if segment.has_timestamps {
            write!(f, " ts {}/{}", segment.ts_value, segment.ts_echo)?;
        }
        for block in segment.sack.as_slice() {
            write!(f, " sack {block:?}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::SackBlock;

    #[test]
    fn a_segment_fits_on_a_line() {
        let mut segment = Segment {
            seq: 1,
            len: 1000,
            ack: 1,
            window: 65_535,
            flags: Flags::ACK | Flags::PSH,
            ..Segment::default()
        };
        segment.sack.push(SackBlock { start: 5, end: 9 });
        assert_eq!(
            Notation(&segment).to_string(),
            "P. 1:1001(1000) ack 1 win 65535 sack 5:9"
        );
    }
}
