//! MAC control elements that a base station sends.

use fadeout_core::DrbId;

/// Says for which legs of a bearer the UE duplicates: Duplication Activation/Deactivation, or Duplication RLC
/// Activation/Deactivation of a bearer with more than two legs.
///
/// Standard: TS 38.321 §5.10, §6.1.3.11, §6.1.3.32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DuplicationControl {
    pub bearer: DrbId,
    /// A bit for each number of a leg.
    pub legs: u8,
    pub has_many_legs: bool,
}

impl DuplicationControl {
    /// Bytes with its subheader: the second form has an extended LCID.
    pub(crate) fn size(&self) -> u32 {
        match self.has_many_legs {
            true => 3,
            false => 2,
        }
    }
}
