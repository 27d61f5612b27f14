//! Changes to the state of UEs. A cell keeps the downlink demand of a UE that has not changed.

use fadeout_core::UeId;

/// Number of changes of each UE. A change is an event, a packet or a transport block of the UE. It
/// may change any leg or bearer of this UE, but none of another UE.
#[derive(Debug)]
pub(crate) struct Changes {
    of_ue: Vec<u32>,
    /// Changes that may concern all UEs.
    of_all: u32,
}

impl Changes {
    pub(crate) fn new(ues: usize) -> Changes {
        Changes {
            of_ue: vec![0; ues],
            of_all: 0,
        }
    }

    /// Returns the number of changes of a UE.
    #[inline]
    pub(crate) fn of(&self, ue: UeId) -> u32 {
        self.of_ue[ue.index()].wrapping_add(self.of_all)
    }

    /// Records a change of a UE.
    #[inline]
    pub(crate) fn record(&mut self, ue: UeId) {
        let count = &mut self.of_ue[ue.index()];
        *count = count.wrapping_add(1);
    }

    /// Records a change that may concern all UEs.
    pub(crate) fn record_all(&mut self) {
        self.of_all = self.of_all.wrapping_add(1);
    }
}
