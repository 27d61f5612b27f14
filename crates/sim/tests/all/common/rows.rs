//! Result rows of UEs that change cells.

use fadeout_core::{
    CellId, DropRow, HandoverOutcome, HandoverRow, MeasurementRow, Probe, RadioDropRow, RrcEvent,
    RrcRow, SecondaryChangeRow, TimeoutRow, TransportBlockRow, UeId,
};

/// Rows by table. Large tables are recorded only if a test asks for them.
#[derive(Default)]
pub(crate) struct Rows {
    pub handovers: Vec<HandoverRow>,
    pub changes: Vec<SecondaryChangeRow>,
    pub steps: Vec<RrcRow>,
    /// Packets lost by the radio.
    pub drops: Vec<RadioDropRow>,
    /// Packets dropped by links, including those of messages.
    pub link_drops: Vec<DropRow>,
    pub timeouts: usize,
    pub measured: Vec<MeasurementRow>,
    pub blocks: Vec<TransportBlockRow>,
    wants_measurements: bool,
    wants_blocks: bool,
}

impl Rows {
    /// Returns rows that include the measurements of all UEs.
    pub(crate) fn with_measurements() -> Rows {
        Rows {
            wants_measurements: true,
            ..Rows::default()
        }
    }

    /// Returns rows that include the transport blocks of all cells.
    pub(crate) fn with_blocks() -> Rows {
        Rows {
            wants_blocks: true,
            ..Rows::default()
        }
    }

    /// Returns the only change of cell, which must be successful.
    pub(crate) fn only(&self) -> &HandoverRow {
        let [row] = &self.handovers[..] else {
            panic!("one change of cell: {:?}", self.handovers);
        };
        assert_eq!(row.outcome, HandoverOutcome::Success, "{row:?}");
        row
    }

    /// Returns the number of steps of this kind.
    pub(crate) fn count(&self, event: RrcEvent) -> usize {
        self.steps.iter().filter(|row| row.event == event).count()
    }
}

impl Probe for Rows {
    fn handover(&mut self, row: HandoverRow) {
        self.handovers.push(row);
    }
    fn secondary_change(&mut self, row: SecondaryChangeRow) {
        self.changes.push(row);
    }
    fn rrc(&mut self, row: RrcRow) {
        self.steps.push(row);
    }
    fn radio_dropped(&mut self, row: RadioDropRow) {
        self.drops.push(row);
    }
    fn dropped(&mut self, row: DropRow) {
        self.link_drops.push(row);
    }
    fn timeout(&mut self, _: TimeoutRow) {
        self.timeouts += 1;
    }
    fn wants_measurements(&self, _: UeId) -> bool {
        self.wants_measurements
    }
    fn measurement(&mut self, row: MeasurementRow) {
        self.measured.push(row);
    }
    fn wants_transport_blocks(&self, _: CellId) -> bool {
        self.wants_blocks
    }
    fn transport_block(&mut self, row: TransportBlockRow) {
        self.blocks.push(row);
    }
}
