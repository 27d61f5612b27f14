//! Names of the values that can be observed or set.

use super::ObserveError;
use super::rows::{FlowCounts, InterfaceCounts, LinkCounts};
use fadeout_core::table::{Column, ColumnKind, Row, Table};
use fadeout_core::{BearerRow, CongestionRow, MeasurementRow, QueueRow, TransportBlockRow};
use fadeout_record::BlockSums;
use fadeout_scenario::nearest;

/// Kinds of parts with the tables whose columns can be observed.
const KINDS: [(&str, &[Table]); 6] = [
    ("flow", &[CongestionRow::TABLE, FlowCounts::TABLE]),
    ("link", &[QueueRow::TABLE, LinkCounts::TABLE]),
    ("bearer", &[BearerRow::TABLE]),
    (
        "ue",
        &[
            TransportBlockRow::TABLE,
            InterfaceCounts::TABLE,
            BlockSums::TABLE,
        ],
    ),
    ("cell", &[BlockSums::TABLE]),
    ("measurement", &[MeasurementRow::TABLE]),
];

/// Value that can be set between two steps.
#[derive(Debug, PartialEq)]
pub struct Settable {
    /// Kind of the part: `flow`, `link`, `bearer` or `ue`.
    pub kind: &'static str,
    /// Name of the value.
    pub name: &'static str,
    /// Unit, or an empty string.
    pub unit: &'static str,
    /// Smallest and largest finite value.
    pub range: [f64; 2],
    /// True if the value may be infinite.
    pub may_be_infinite: bool,
    /// Meaning of the value.
    pub doc: &'static str,
}

/// Every value that can be set.
pub const SETTABLES: &[Settable] = &[
    Settable {
        kind: "flow",
        name: "cwnd_segments",
        unit: "segments",
        range: [1.0, 1e7],
        may_be_infinite: false,
        doc: "Congestion window. The congestion control continues from it.",
    },
    Settable {
        kind: "flow",
        name: "held_cwnd_segments",
        unit: "segments",
        range: [1.0, 1e7],
        may_be_infinite: false,
        doc: "Congestion window that neither ACKs nor losses change. It replaces the congestion \
              control for the rest of the connection. Loss recovery continues.",
    },
    Settable {
        kind: "flow",
        name: "ssthresh_segments",
        unit: "segments",
        range: [2.0, 1e7],
        may_be_infinite: true,
        doc: "Slow-start threshold. The congestion control continues from it.",
    },
    Settable {
        kind: "flow",
        name: "pacing_rate_mbps",
        unit: "Mbit/s",
        range: [0.001, 1e6],
        may_be_infinite: true,
        doc: "Pacing rate of the payload. It replaces the rate of the profile or congestion \
              control until an infinite value ends this.",
    },
    Settable {
        kind: "link",
        name: "rate_mbps",
        unit: "Mbit/s",
        range: [0.001, 1e6],
        may_be_infinite: false,
        doc: "Rate of the direction. Packets in the queue leave at the new rate. The link needs a \
              constant rate and no blockage.",
    },
    Settable {
        kind: "link",
        name: "aqm_target_s",
        unit: "s",
        range: [1e-6, 100.0],
        may_be_infinite: false,
        doc: "Target delay of the queue's discipline: the `target` of `codel`, `fq-codel`, \
              `pie` or `dualpi2`. The state of the algorithm stays.",
    },
    Settable {
        kind: "link",
        name: "aqm_threshold_s",
        unit: "s",
        range: [1e-6, 100.0],
        may_be_infinite: false,
        doc: "Delay from which on the low-latency queue of `dualpi2` marks packets \
              (`l4s-min-threshold`).",
    },
    Settable {
        kind: "link",
        name: "aqm_min_threshold_packets",
        unit: "packets",
        range: [0.0, 1e6],
        may_be_infinite: false,
        doc: "Average queue length below which `red` drops no packet (`min-threshold`). It \
              is smaller than the maximum threshold.",
    },
    Settable {
        kind: "link",
        name: "aqm_max_threshold_packets",
        unit: "packets",
        range: [0.0, 1e6],
        may_be_infinite: false,
        doc: "Average queue length at which the drop probability of `red` has its maximum \
              (`max-threshold`).",
    },
    Settable {
        kind: "bearer",
        name: "aqm_target_s",
        unit: "s",
        range: [1e-6, 100.0],
        may_be_infinite: false,
        doc: "Target delay of the RLC buffer's `aqm`: the `target` of `codel` or `pie`. The \
              state of the algorithm stays.",
    },
    Settable {
        kind: "bearer",
        name: "aqm_threshold_s",
        unit: "s",
        range: [1e-6, 100.0],
        may_be_infinite: false,
        doc: "Delay from which on the RLC buffer's `ecn-step` marks packets (`threshold`).",
    },
    Settable {
        kind: "ue",
        name: "cell",
        unit: "",
        range: [0.0, 1e6],
        may_be_infinite: false,
        doc: "Target of a handover: name or number of a cell. The serving cell prepares the \
              handover now, as after a measurement report. Has no effect during a change of cell.",
    },
    Settable {
        kind: "ue",
        name: "weight",
        unit: "",
        range: [1e-6, 1e6],
        may_be_infinite: false,
        doc: "Factor of the UE's rate in the comparisons of the MAC schedulers, in both \
              directions. The scheduler `round-robin` compares no rates.",
    },
];

/// Value that can be observed.
#[derive(Debug, Clone, Copy)]
pub struct Observable {
    /// Kind of the part, such as `flow`.
    pub kind: &'static str,
    /// Table of results with the column. Empty if only observations have the value.
    pub table: &'static str,
    /// Name, unit and meaning.
    pub column: &'static Column,
}

/// Returns every value that can be observed.
pub fn observables() -> impl Iterator<Item = Observable> {
    KINDS.iter().flat_map(|&(kind, tables)| {
        tables.iter().flat_map(move |table| {
            let columns = table.columns.iter().filter(|column| is_value(column));
            let name = if is_recorded(table) { table.name } else { "" };
            columns.map(move |column| Observable {
                kind,
                table: name,
                column,
            })
        })
    })
}

/// True if a table is one of the results.
fn is_recorded(table: &Table) -> bool {
    let tables = fadeout_record::TABLES.iter();
    tables.map(|it| it.name).any(|name| name == table.name)
}

/// True if a column is a number that describes the part at the time of the observation.
fn is_value(column: &Column) -> bool {
    use ColumnKind::{Bool, F64, U32, U64};
    matches!(column.kind, F64 | U32 | U64 | Bool) && column.name != "time_s"
}

/// A name in its three parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split<'a> {
    pub(crate) whole: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) column: &'a str,
}

impl<'a> Split<'a> {
    /// Splits a name. The name of the subject may have points.
    ///
    /// # Errors
    /// Returns [`ObserveError::Unknown`] if the name has fewer than three parts, or an unknown
    /// kind.
    pub(crate) fn new(whole: &'a str) -> Result<Split<'a>, ObserveError> {
        let kinds = || KINDS.iter().map(|&(kind, _)| kind);
        let parts = whole.split_once('.');
        let parts = parts.and_then(|(kind, rest)| Some((kind, rest.rsplit_once('.')?)));
        let (kind, (subject, column)) = parts.ok_or_else(|| ObserveError::Unknown {
            name: whole.to_owned(),
            what: "kind, name and column",
            given: whole.to_owned(),
            expected: "KIND.NAME.COLUMN, such as \"flow.download.srtt_s\"".to_owned(),
        })?;
        let split = Split {
            whole,
            kind,
            subject,
            column,
        };
        match kinds().any(|known| known == kind) {
            true => Ok(split),
            false => Err(split.unknown("kind", kind, kinds())),
        }
    }

    /// Returns the error for an unknown part of the name.
    pub(crate) fn unknown<'n>(
        &self,
        what: &'static str,
        given: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> ObserveError {
        let near = nearest(given, names.clone()).map(|name| format!("\"{name}\""));
        let expected = near.unwrap_or_else(|| {
            let some: Vec<&str> = names.clone().take(MOST_NAMES).collect();
            let more = if names.count() > MOST_NAMES {
                " and others"
            } else {
                ""
            };
            match some.is_empty() {
                true => format!("a scenario with a {}", self.kind),
                false => format!("one of {}{more}", some.join(", ")),
            }
        });
        ObserveError::Unknown {
            name: self.whole.to_owned(),
            what,
            given: given.to_owned(),
            expected,
        }
    }

    /// Returns the error for a subject that does not have the value.
    pub(crate) fn absent(&self, reason: &str, expected: &str) -> ObserveError {
        ObserveError::Absent {
            name: self.whole.to_owned(),
            reason: reason.to_owned(),
            expected: expected.to_owned(),
        }
    }
}

/// Number of names that an error lists.
const MOST_NAMES: usize = 24;

/// Returns the index of the table with a name's column, and the index of the column.
///
/// # Errors
/// Returns [`ObserveError::Unknown`] if the kind has no such column.
pub(crate) fn column_of(split: &Split<'_>) -> Result<(usize, usize), ObserveError> {
    let tables = KINDS.iter().find(|(kind, _)| *kind == split.kind);
    let tables = tables.map_or(&[][..], |(_, tables)| tables);
    for (table, of) in tables.iter().enumerate() {
        let mut columns = of.columns.iter();
        let found = columns.position(|it| is_value(it) && it.name == split.column);
        if let Some(column) = found {
            return Ok((table, column));
        }
    }
    let columns = tables.iter().flat_map(|table| table.columns);
    let columns = columns.filter(|it| is_value(it)).map(|it| it.name);
    Err(split.unknown("column", split.column, columns))
}

/// Returns the description of a value that can be set.
///
/// # Errors
/// Returns [`ObserveError::Unknown`] if the value cannot be set.
pub(crate) fn settable_of(split: &Split<'_>) -> Result<&'static Settable, ObserveError> {
    let of_kind = SETTABLES.iter().filter(|it| it.kind == split.kind);
    let mut found = of_kind.clone().filter(|it| it.name == split.column);
    found.next().ok_or_else(|| {
        let names = of_kind.map(|it| it.name);
        match names.clone().next() {
            Some(_) => split.unknown("value to set", split.column, names),
            None => {
                let kinds = SETTABLES.iter().map(|it| it.kind);
                split.unknown("kind with a value to set", split.kind, kinds)
            }
        }
    })
}

/// Returns the number of the part with the name `given`. `names` has the names of all parts in the
/// order of their numbers, and `noun` is the kind of the parts, for errors.
///
/// # Errors
/// Returns [`ObserveError::Unknown`] if no part has the name.
pub(crate) fn find(
    split: &Split<'_>,
    noun: &'static str,
    given: &str,
    names: &[&str],
) -> Result<u32, ObserveError> {
    let found = names.iter().position(|&name| name == given);
    let found = found.map(|number| number as u32);
    found.ok_or_else(|| split.unknown(noun, given, names.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_kind_has_two_columns_of_one_name() {
        let mut seen = BTreeSet::new();
        for it in observables() {
            assert!(
                seen.insert((it.kind, it.column.name)),
                "{}.{}",
                it.kind,
                it.column.name
            );
        }
    }

    #[test]
    fn a_counter_has_the_unit_of_the_summary_column_with_its_name() {
        let summaries = fadeout_core::SUMMARY_TABLES.iter();
        let columns: Vec<_> = summaries.flat_map(|table| table.columns).collect();
        for it in observables().filter(|it| it.table.is_empty()) {
            let same = columns
                .iter()
                .filter(|column| column.name == it.column.name);
            for column in same {
                assert_eq!(column.unit, it.column.unit, "{}", column.name);
            }
        }
    }

    #[test]
    fn a_subject_may_have_points_in_its_name() {
        let split = Split::new("link.a.b/reverse.delay_s").expect("three parts");
        assert_eq!((split.subject, split.column), ("a.b/reverse", "delay_s"));
    }

    #[test]
    fn an_unknown_part_gives_the_nearest_name() {
        let kind = Split::new("flwo.download.srtt_s").expect_err("no such kind");
        assert!(kind.to_string().contains("expected \"flow\""), "{kind}");
        let split = Split::new("flow.download.srt_s").expect("three parts");
        let column = column_of(&split).expect_err("no such column").to_string();
        assert!(column.contains("expected \"srtt_s\""), "{column}");
        let few = Split::new("srtt_s").expect_err("one part").to_string();
        assert!(few.contains("KIND.NAME.COLUMN"), "{few}");
        let split = Split::new("flow.download.srtt_s").expect("three parts");
        let set = settable_of(&split).expect_err("not settable").to_string();
        assert!(set.contains("cwnd_segments"), "{set}");
    }
}
