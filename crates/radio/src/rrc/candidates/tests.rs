//! Tests of the choice of candidates.

use super::*;

fn reported(cell: u32) -> ReportedCell {
    ReportedCell {
        cell: CellId(cell),
        rsrp_dbm: -80.0 - f64::from(cell),
    }
}

/// Returns the candidates after a report of these cells by a UE in cell 0. Odd cells may be no
/// candidates.
fn chosen(cells: &[u32], choose: impl FnMut(&[ReportedCell]) -> Option<CellId>) -> Vec<u32> {
    let mut report = MeasurementReport::new(0, reported(0));
    cells.iter().for_each(|&cell| report.add(reported(cell)));
    let all = choose_candidates(&report, choose, |cell| cell.0 % 2 == 0);
    all.cells().iter().map(|cell| cell.0).collect()
}

fn strongest(cells: &[ReportedCell]) -> Option<CellId> {
    cells.first().map(|reported| reported.cell)
}

#[test]
fn candidates_are_in_the_order_of_the_policy() {
    assert_eq!(chosen(&[2, 4, 6], strongest), [2, 4, 6]);
    let weakest = |cells: &[ReportedCell]| cells.last().map(|reported| reported.cell);
    assert_eq!(chosen(&[2, 4, 6], weakest), [6, 4, 2]);
}

#[test]
fn a_cell_that_may_be_none_is_left_out() {
    assert_eq!(chosen(&[2, 3, 4], strongest), [2, 4]);
}

#[test]
fn a_policy_that_chooses_none_ends_the_choice() {
    let mut left = 1;
    let once = |cells: &[ReportedCell]| {
        left -= 1;
        strongest(cells).filter(|_| left >= 0)
    };
    assert_eq!(chosen(&[2, 4, 6], once), [2]);
    assert_eq!(chosen(&[2, 4], |_| None), [0; 0]);
}

#[test]
fn a_chosen_cell_without_a_report_is_the_last() {
    assert_eq!(chosen(&[2, 4], |_| Some(CellId(8))), [8]);
    assert_eq!(chosen(&[], |_| Some(CellId(8))), [8]);
}
