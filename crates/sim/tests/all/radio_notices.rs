//! Tests of flows whose ends get notices when their radio bearer is blocked.

use crate::common::build;
use crate::common::unobserved;
use crate::common::{end, parse};
use fadeout_core::{EndpointId, Probe, Span, Time, TimeoutRow, WholePacket};

/// The phone is blocked for half a second in every two seconds, from two seconds on.
const PERIOD: Span = Span::from_secs(2);
const LASTS: Span = Span::from_millis(500);
/// Signalling delay of notices and predictions.
const DELAY: Span = Span::from_millis(10);
const AHEAD: Span = Span::from_millis(100);

const SENDER: EndpointId = EndpointId(0);

fn scenario(tcp: &str, info: &str) -> String {
    format!(
        "duration = \"10 s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"10 Gbit/s\"\ndelay = \"5 ms\"\n\
         [cell.base]\nradio = \"nr\"\ncarrier = \"28 GHz\"\nbandwidth = \"100 MHz\"\n\
         channel = {{ path-loss = \"umi\", line-of-sight = \"clear\", shadowing = false, \
         fading = \"none\", blockage = {{ model = \"periodic\", first = \"2 s\", \
         period = \"2 s\", duration = \"500 ms\", loss = 80 }} }}\n\
         [ue.phone]\nposition = [\"50 m\", \"0 m\"]\n\
         [flow.bulk]\nfrom = \"server\"\nto = \"phone\"\ntcp = {{ {tcp} }}\n{info}\n"
    )
}

/// Times at which the receiver's window closed and opened, and the number of timeouts.
#[derive(Debug, Default)]
struct Watch {
    shut_at: Vec<Time>,
    opened_at: Vec<Time>,
    timeouts: usize,
}

impl Probe for Watch {
    fn wants_packets(&self) -> bool {
        true
    }
    fn sent(&mut self, now: Time, packet: WholePacket<'_>) {
        if packet.to != SENDER {
            return;
        }
        let is_shut = self.shut_at.len() > self.opened_at.len();
        match (is_shut, packet.segment.window == 0) {
            (false, true) => self.shut_at.push(now),
            (true, false) => self.opened_at.push(now),
            _ => {}
        }
    }
    fn timeout(&mut self, _row: TimeoutRow) {
        self.timeouts += 1;
    }
}

fn watched(text: &str) -> Watch {
    let scenario = parse(text, ".".into(), &[]);
    let mut world = build(&scenario, Watch::default()).expect("a world");
    while world.run(end(&scenario), u64::MAX) {}
    world.into_probe()
}

#[test]
fn freeze_tcp_shuts_its_window_before_each_blockage_of_its_cell() {
    let notices = |by: &str| {
        let info = format!(
            "link-info = {{ link = \"{by}\", delay = \"10 ms\", prediction = \"100 ms\" }}"
        );
        watched(&scenario("outage-response = \"freeze\"", &info))
    };
    let watch = notices("phone");
    let starts = (1..5).map(|n| Time::ZERO + PERIOD * n);
    assert_eq!(watch.shut_at.len(), 4, "{watch:?}");
    for (start, (shut_at, opened_at)) in starts.zip(watch.shut_at.iter().zip(&watch.opened_at)) {
        let notified_at = start.saturating_sub(AHEAD).saturating_add(DELAY);
        assert!(
            (notified_at..start).contains(shut_at),
            "{shut_at:?} for {start:?}"
        );
        assert_eq!(
            *opened_at,
            start.saturating_add(LASTS).saturating_add(DELAY)
        );
    }
    // The cell that serves the phone is the same source of notices.
    let by_cell = notices("base");
    assert_eq!(by_cell.shut_at, watch.shut_at);
    // A sender without notices has timeouts, and its receiver's window stays open.
    let plain = watched(&scenario("", ""));
    assert!(plain.shut_at.is_empty(), "{plain:?}");
    assert!(
        plain.timeouts > watch.timeouts,
        "{} {}",
        plain.timeouts,
        watch.timeouts
    );
}

#[test]
fn lost_notices_leave_an_end_as_it_would_be_without_them() {
    let notices = |loss: f64| {
        let info = format!(
            "link-info = {{ link = \"phone\", delay = \"10 ms\", prediction = \"100 ms\", loss = {loss} }}"
        );
        let text = scenario("outage-response = \"freeze\"", &info);
        watched(&text.replace("duration = \"10 s\"", "duration = \"30 s\""))
    };
    let (all, half, none) = (notices(0.0), notices(0.5), notices(1.0));
    let long = scenario("", "").replace("duration = \"10 s\"", "duration = \"30 s\"");
    assert_eq!(all.shut_at.len(), 14);
    assert!(none.shut_at.is_empty(), "{none:?}");
    assert_eq!(none.timeouts, watched(&long).timeouts);
    assert!(all.timeouts < half.timeouts, "{all:?} {half:?}");
    // Notices that are not lost arrive at their usual times. A window stays closed if the notice of
    // its opening is lost.
    assert!((1..14).contains(&half.shut_at.len()), "{half:?}");
    assert!(half.shut_at.iter().all(|at| all.shut_at.contains(at)));
    assert!(half.opened_at.iter().all(|at| all.opened_at.contains(at)));
}

#[test]
fn a_cell_that_does_not_serve_the_flow_tells_it_nothing() {
    let other = "[cell.other]\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
                 channel = { path-loss = \"umi\" }\n";
    let info = "link-info = { link = \"other\" }\n";
    let text = scenario("", info).replace("[ue.phone]\n", "[ue.phone]\ncell = \"base\"\n") + other;
    let error = unobserved(&parse(&text, ".".into(), &[])).map(|_| ());
    let message = error
        .expect_err("the phone is served by the other cell")
        .to_string();
    assert!(
        message.contains("\"other\", which its data does not cross"),
        "{message}"
    );
}

#[test]
fn a_ue_with_a_given_sinr_has_nothing_to_tell() {
    let given = "[ue.phone]\ndownlink-sinr = \"20 dB\"\nuplink-sinr = \"20 dB\"\n";
    let info = "link-info = { link = \"phone\" }\n";
    let text = scenario("", info).replace("[ue.phone]\n", given);
    let error = unobserved(&parse(&text, ".".into(), &[])).map(|_| ());
    let message = error.expect_err("nothing blocks it").to_string();
    assert!(
        message.contains("expected a UE without `downlink-sinr`"),
        "{message}"
    );
}

#[test]
fn each_ue_of_a_group_tells_its_own_flow() {
    let text = scenario(
        "outage-response = \"freeze\"",
        "link-info = { link = \"phone\", prediction = \"100 ms\" }",
    );
    let text = text.replace("[ue.phone]\n", "[ue.phone]\ncount = 2\n");
    let scenario = parse(&text, ".".into(), &[]);
    let notified = scenario.flows.iter().map(|flow| {
        let info = flow.link_info.expect("every flow is told");
        scenario.source_name(info.source)
    });
    assert_eq!(notified.collect::<Vec<_>>(), ["phone-0", "phone-1"]);
    unobserved(&scenario).expect("a world");
}
