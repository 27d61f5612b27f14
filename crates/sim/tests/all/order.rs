//! Tests that the rows of every table are in the order of time.

use crate::common::build;
use crate::common::{end, examples, name, parse, read};
use fadeout_core::table::{Row, number_in};
use fadeout_core::{
    BbrRow, BearerRow, BlockageRow, CellId, CongestionRow, DatagramRow, DrbId, DropRow, FlowEnd,
    FlowEventRow, FlowId, HandoverRow, LinkHandoverRow, LinkId, MeasurementRow, Probe, QueueRow,
    QuicRow, RadioDelayRow, RadioDropRow, RetransmitRow, RrcRow, SecondaryChangeRow, SegmentRow,
    Span, Time, TimeoutRow, TransportBlockRow, UeId, recorded_tables,
};
use fadeout_scenario::Scenario;
use std::collections::BTreeMap;

/// Compares the `time_s` of each row with the row before it in its table. Asks for all rows.
#[derive(Default)]
struct Order {
    latest: BTreeMap<&'static str, f64>,
    wrong: Vec<String>,
}

impl Order {
    fn see<R: Row>(&mut self, row: &R) {
        // Blockages are known before the run, and their rows come first. A transport block is
        // reported when it is decoded, but has the time of its transmission. The recorder sorts
        // these rows.
        if R::TABLE.columns[0].name != "time_s" || R::TABLE.name == "transport_blocks" {
            return;
        }
        let at = number_in(row, 0);
        let table = R::TABLE.name;
        let latest = self.latest.insert(table, at).unwrap_or(0.0);
        if at < latest && self.wrong.len() < 10 {
            self.wrong
                .push(format!("{table}: a row at {at} s comes after {latest} s"));
        }
    }
}

macro_rules! see_rows {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $table:ident: $row:ident; )+) => {$($(
        fn $method(&mut self, row: $row) {
            self.see(&row);
        }
    )?)+};
}

impl Probe for Order {
    recorded_tables!(see_rows);

    fn wants_congestion(&self, _: Time, _: FlowId) -> bool {
        true
    }
    fn wants_queue(&self, _: Time, _: LinkId) -> bool {
        true
    }
    fn wants_segment(&self, _: Time, _: FlowId, _: FlowEnd) -> bool {
        true
    }
    fn wants_datagram(&self, _: Time, _: FlowId, _: FlowEnd) -> bool {
        true
    }
    fn wants_transport_blocks(&self, _: CellId) -> bool {
        true
    }
    fn wants_bearer(&self, _: Time, _: DrbId) -> bool {
        true
    }
    fn wants_radio_delay(&self, _: DrbId) -> bool {
        true
    }
    fn wants_measurements(&self, _: UeId) -> bool {
        true
    }
}

/// Runs a scenario for `length` at most, and returns the rows out of order.
fn disorder(scenario: &Scenario, length: Span) -> Vec<String> {
    let mut world = build(scenario, Order::default()).expect("a checked scenario makes a world");
    let until = end(scenario).min(Time::ZERO + length);
    while world.run(until, u64::MAX) {}
    let order = world.into_probe();
    order.wrong
}

#[test]
fn every_table_of_every_example_is_in_the_order_of_time() {
    let mut wrong = Vec::new();
    for path in examples() {
        let found = disorder(&read(&path, &[]), Span::from_secs(3));
        wrong.extend(found.iter().map(|it| format!("{}: {it}", name(&path))));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_a_small_buffer_drops_is_in_the_order_of_time() {
    let text = include_str!("../../../../scenarios/city-download.toml");
    let small = [
        "worlds=\"one\"",
        "ue.walker.rlc={ mode = \"am\", buffer = \"20 kB\" }",
    ];
    let scenario = parse(text, ".".into(), &small);
    let wrong = disorder(&scenario, Span::from_secs(1));
    assert!(wrong.is_empty(), "{wrong:#?}");
}
