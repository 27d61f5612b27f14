//! Changes to the state of UEs. A cell keeps the downlink demand of a UE that has not changed.

use fadeout_core::UeId;

/// Number of changes of each UE. A change is an event, a packet or a transport block of the UE. It
/// may change any leg or bearer of this UE, but none of another UE.
#[derive(Debug)]
pub(crate) struct Changes(Vec<u32>);

impl Changes {
    pub(crate) fn new(ues: usize) -> Changes {
        Changes(vec![0; ues])
    }

    /// Returns the number of changes of a UE.
    #[inline]
    pub(crate) fn of(&self, ue: UeId) -> u32 {
        self.0[ue.index()]
    }

    /// Records a change of a UE.
    #[inline]
    pub(crate) fn record(&mut self, ue: UeId) {
        let count = &mut self.0[ue.index()];
        *count = count.wrapping_add(1);
    }
}
