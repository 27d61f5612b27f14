//! MAC control elements that a base station sends.

use fadeout_core::DrbId;

/// Control element that activates PDCP duplication of a bearer on some of the bearer's legs. A
/// bearer with two legs uses Duplication Activation/Deactivation. A bearer with more legs uses
/// Duplication RLC Activation/Deactivation.
///
/// Standard: TS 38.321 §5.10, §6.1.3.11, §6.1.3.32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DuplicationControl {
    pub bearer: DrbId,
    /// Activated legs, one bit for each leg number.
    pub legs: u8,
    pub has_many_legs: bool,
}

impl DuplicationControl {
    /// Returns the bytes of the control element and its subheader. The control element for more
    /// than two legs has an extended LCID.
    pub(crate) fn size(&self) -> u32 {
        match self.has_many_legs {
            true => 3,
            false => 2,
        }
    }
}
