//! Latest rows of the radio, for the caller of a simulation.

use fadeout_core::{CellId, Direction, MeasurementRow, TransportBlockRow, UeId, table};

table! {
    /// Transport blocks of a UE or of a cell in one direction. The sums begin when the caller of
    /// the simulation first names one of them.
    pub struct BlockSums = "block_sums" {
        /// Transport blocks since the first observation, HARQ retransmissions included.
        block_count: u64, "";
        /// Resource blocks of all transport blocks since the first observation.
        n_prb_sum: u64, "PRB";
        /// Size of all transport blocks since the first observation, HARQ retransmissions
        /// included.
        size_bytes_sum: u64, "bytes";
        /// Transport blocks since the first observation that were not decoded.
        failed_block_count: u64, "";
    }
}

impl BlockSums {
    const ZERO: BlockSums = BlockSums {
        block_count: 0,
        n_prb_sum: 0,
        size_bytes_sum: 0,
        failed_block_count: 0,
    };

    fn add(&mut self, block: &TransportBlockRow) {
        self.block_count += 1;
        self.n_prb_sum += u64::from(block.n_prb);
        self.size_bytes_sum += u64::from(block.size_bytes);
        self.failed_block_count += u64::from(!block.is_ok);
    }
}

/// Latest transport block of each UE, latest measurement of each cell by each UE, and sums of
/// transport blocks.
#[derive(Debug)]
pub struct Latest {
    /// Latest block of each UE in each direction.
    blocks: Vec<[Option<TransportBlockRow>; 2]>,
    of_ues: Vec<[BlockSums; 2]>,
    of_cells: Vec<[BlockSums; 2]>,
    /// Latest measurements of each UE, by cell.
    measurements: Vec<Box<[Option<MeasurementRow>]>>,
}

impl Latest {
    pub(crate) fn new(ues: usize, cells: usize) -> Latest {
        Latest {
            blocks: vec![[None; 2]; ues],
            of_ues: vec![[BlockSums::ZERO; 2]; ues],
            of_cells: vec![[BlockSums::ZERO; 2]; cells],
            measurements: vec![vec![None; cells].into_boxed_slice(); ues],
        }
    }

    /// Returns the latest transport block of a UE. `None` before the first block.
    pub fn block(&self, ue: UeId, direction: Direction) -> Option<&TransportBlockRow> {
        self.blocks[ue.index()][direction.index()].as_ref()
    }

    /// Returns the sums of a UE's transport blocks.
    pub fn of_ue(&self, ue: UeId, direction: Direction) -> &BlockSums {
        &self.of_ues[ue.index()][direction.index()]
    }

    /// Returns the sums of a cell's transport blocks.
    pub fn of_cell(&self, cell: CellId, direction: Direction) -> &BlockSums {
        &self.of_cells[cell.index()][direction.index()]
    }

    /// Returns the latest measurement of a cell by a UE. `None` before the first measurement.
    pub fn measurement(&self, ue: UeId, cell: CellId) -> Option<&MeasurementRow> {
        self.measurements[ue.index()][cell.index()].as_ref()
    }

    #[inline]
    pub(crate) fn on_block(&mut self, block: &TransportBlockRow) {
        let direction = block.direction.index();
        self.blocks[block.ue.index()][direction] = Some(*block);
        self.of_ues[block.ue.index()][direction].add(block);
        self.of_cells[block.cell.index()][direction].add(block);
    }

    #[inline]
    pub(crate) fn on_measurement(&mut self, row: &MeasurementRow) {
        self.measurements[row.ue.index()][row.cell.index()] = Some(*row);
    }
}
