//! Tests of L1/L2-triggered mobility and of handover without random access. Times are compared with
//! the sums of their parts in the clauses.

use crate::common::rows::Rows;
use crate::common::unobserved;
use crate::common::{parse, run_with};
use fadeout_core::{HandoverOutcome, Procedure, RrcEvent};
use fadeout_scenario::{Override, Source};

/// Channels without random parts, so that there is one change of cell.
const SMOOTH: &str =
    "cell.channel={ path-loss = \"uma\", shadowing = false, line-of-sight = \"clear\" }";

/// Runs the example `ltm` with these overrides.
fn run(overrides: &[&str]) -> Rows {
    let text = include_str!("../../../../scenarios/ltm.toml");
    let overrides = [&[SMOOTH], overrides].concat();
    run_with(&parse(text, ".".into(), &overrides), Rows::default()).0
}

/// Returns the times of a step, in seconds.
fn times(rows: &Rows, event: RrcEvent) -> Vec<f64> {
    let steps = rows.steps.iter().filter(|step| step.event == event);
    steps.map(|step| step.time_s.as_secs_f64()).collect()
}

/// Returns the first multiple of `period` at or after `at`, in seconds.
fn occasion(at: f64, period: f64) -> f64 {
    ((at / period) - 1e-9).ceil() * period
}

#[test]
fn with_random_access_the_switch_takes_what_its_parts_sum_up_to() {
    let rows = run(&["mobility-management.early-synchronisation=\"none\""]);
    let row = rows.only();
    assert_eq!(row.procedure, Procedure::Ltm);
    let command = times(&rows, RrcEvent::CommandReceived);
    // The UE acknowledges the command within 4 ms and leaves 3 ms later. The sum is T_cmd.
    let t_cmd = row.left_s - command[0];
    assert!((0.003..0.007).contains(&t_cmd), "{t_cmd} s");
    // Processing takes 10 and 20 ms, and the target's synchronisation signals 22 ms. The next
    // occasion follows within 10 ms, and the response 3 ms later.
    let preamble = occasion(row.left_s + 0.052, 0.010);
    assert!((row.entered_s - preamble - 0.003).abs() < 1e-6, "{row:?}");
    assert_eq!(
        (row.preambles, times(&rows, RrcEvent::TimingAcquired).len()),
        (1, 0)
    );
    // TS 38.133 clause 6.3.1.2 has a limit of 79 ms with an occasion every 20 ms. With an occasion
    // every 10 ms the limit is 69 ms. The response comes 3 ms after this time.
    let whole = row.entered_s - command[0] - 0.003;
    assert!(whole <= 0.069 + 1e-6, "{whole} s");
    assert!(rows.drops.is_empty() && row.lost_packets == 0);
}

#[test]
fn with_early_synchronisation_there_is_no_random_access() {
    let rows = run(&[]);
    let row = rows.only();
    assert_eq!((row.procedure, row.preambles), (Procedure::Ltm, 0));
    // The ordered preamble is sent from the source cell, long before the UE leaves.
    let acquired = times(&rows, RrcEvent::TimingAcquired);
    assert!(!acquired.is_empty() && acquired.iter().all(|&at| at < row.left_s));
    // Processing takes 30 ms, and a grant comes every 5 ms.
    let grant = occasion(row.left_s + 0.030, 0.005);
    let uplink = times(&rows, RrcEvent::FirstUplink)[0];
    assert!(
        (0.0..0.005).contains(&(uplink - grant)),
        "{uplink} after {grant}"
    );
    assert!((row.completed_s - uplink).abs() < 1e-9);
    assert!((0.0..0.005).contains(&(row.entered_s - uplink)), "{row:?}");
    assert!(rows.drops.is_empty() && row.lost_packets == 0);
    // The default processing time of 30 ms becomes 10 ms, which saves 20 ms.
    let fast = run(&["mobility-management.switch-processing=\"10 ms\""]);
    let saved = row.entered_s - row.left_s - (fast.only().entered_s - fast.only().left_s);
    assert!((saved - 0.020).abs() < 0.005, "{saved} s");
}

#[test]
fn a_preamble_is_sent_after_its_order_and_timing_is_found_then() {
    // The candidates are prepared long after the first report was due.
    let rows = run(&["cell.west.antenna.azimuth=0", "duration=\"2 s\""]);
    let times_of = |event| times(&rows, event);
    let received = times_of(RrcEvent::CandidatesReceived);
    let [sent, acquired] = [RrcEvent::PreambleSent, RrcEvent::TimingAcquired].map(times_of);
    assert!(!sent.is_empty(), "{:?}", rows.steps);
    assert_eq!(sent, acquired);
    // An occasion comes at least 4 ms after the order.
    assert!(
        sent[0] >= received[0] + 0.004,
        "{sent:?} after {received:?}"
    );
}

#[test]
fn candidates_stay_prepared_and_the_phone_is_switched_back_without_rrc() {
    let rows = run(&[
        "ue.phone={ position = [\"-170 m\", \"60 m\"], waypoints = [{ position = [\"170 m\", \"60 m\"], speed = \"34 m/s\" }, { position = \
         [\"-170 m\", \"60 m\"], speed = \"34 m/s\" }] }",
    ]);
    let switches: Vec<_> = (rows.handovers.iter())
        .map(|row| (row.procedure, row.source.0, row.target.0, row.outcome))
        .collect();
    let well = HandoverOutcome::Success;
    assert_eq!(
        switches,
        [(Procedure::Ltm, 0, 1, well), (Procedure::Ltm, 1, 0, well)]
    );
    assert_eq!(times(&rows, RrcEvent::CandidatesSent).len(), 1, "once");
}

/// A plain handover between the same sectors.
const PLAIN: &str = "mobility-management={ procedure = \"plain\"";

#[test]
fn a_handover_without_random_access_ends_with_the_first_uplink_data() {
    let plain = run(&[&format!("{PLAIN} }}")]);
    let access = plain.only();
    assert!(access.preambles > 0);
    let rows_with = |more: &str| run(&[&format!("{PLAIN}, {more} }}")]);
    let rows = rows_with("rach-less = \"source\"");
    let row = rows.only();
    assert_eq!((row.procedure, row.preambles), (Procedure::Handover, 0));
    // Both runs are identical until the UE leaves.
    assert_eq!(
        (row.triggered_s, row.left_s),
        (access.triggered_s, access.left_s)
    );
    // The interruption is 35 ms as usual. A grant comes every 5 ms, and data follows it.
    let grant = occasion(row.left_s + 0.035, 0.005);
    let uplink = times(&rows, RrcEvent::FirstUplink)[0];
    assert!(
        (0.0..0.005).contains(&(uplink - grant)),
        "{uplink} after {grant}"
    );
    // With preallocated resources the UE sends at the occasion itself.
    let rows = rows_with("rach-less = \"source\", rach-less-grant-interval = \"10 ms\"");
    let row = rows.only();
    let uplink = times(&rows, RrcEvent::FirstUplink)[0];
    assert!((uplink - occasion(row.left_s + 0.035, 0.010)).abs() < 1e-9);
    assert!(rows.drops.is_empty());
}

#[test]
fn data_that_come_later_than_a_cyclic_prefix_are_not_heard() {
    // A cyclic prefix of 1.17 us at 60 kHz is 176 m of the path there and back.
    let rows_at = |y: u32| {
        let position = format!("ue.phone.position=[\"-170 m\", \"{y} m\"]");
        let wide = "cell.radio={ kind = \"nr\", numerology = 2 }";
        run(&[
            &format!("{PLAIN}, rach-less = \"zero\" }}"),
            &position,
            wide,
        ])
    };
    assert_eq!(rows_at(100).only().preambles, 0);
    let far = rows_at(200);
    let mut handovers = (far.handovers.iter()).filter(|row| row.procedure == Procedure::Handover);
    let first = handovers.next().expect("it tries");
    assert_eq!(first.outcome, HandoverOutcome::Failed, "{first:?}");
    assert!(
        times(&far, RrcEvent::FirstUplink).len() > 10,
        "again and again"
    );
}

/// Returns the error for a scenario with these overrides.
fn refused(overrides: &[&str]) -> String {
    let text = include_str!("../../../../scenarios/ltm.toml");
    let source = Source {
        name: "ltm.toml".to_owned(),
        base_dir: ".".into(),
    };
    let overrides: Vec<Override> = overrides.iter().map(|text| Override::new(*text)).collect();
    match fadeout_scenario::parse(text, &source, &overrides, fadeout_sim::catalog()) {
        Err(errors) => errors.to_string(),
        Ok(scenario) => match unobserved(&scenario) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it is taken"),
        },
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let other = refused(&["cell.east.node=\"core\""]);
    assert!(
        other.contains("another base station") && other.contains("one `node`"),
        "{other}"
    );
    let lte = refused(&["cell.east.radio=\"lte\"", "cell.west.radio=\"lte\""]);
    assert!(lte.contains("a cell of LTE"), "{lte}");
    let data = refused(&["mobility-management.data=\"none\""]);
    assert!(data.contains("forwarding"), "{data}");
    let stray = refused(&["mobility-management={ switch-reports = 3 }"]);
    assert!(stray.contains("procedure = \"ltm\""), "{stray}");
    let both = refused(&["mobility-management.rach-less=\"zero\""]);
    assert!(both.contains("early-synchronisation"), "{both}");
    let grant = refused(&["mobility-management={ rach-less-grant-interval = \"5 ms\" }"]);
    assert!(grant.contains("`rach-less`"), "{grant}");
    let apart = refused(&[
        "mobility-management={ rach-less = \"source\" }",
        "cell.east.position=[\"10 m\", \"0 m\"]",
    ]);
    assert!(
        apart.contains("stands where it does") && apart.contains("zero"),
        "{apart}"
    );
    let nodes = refused(&[
        "mobility-management={ rach-less = \"zero\" }",
        "cell.east.node=\"core\"",
    ]);
    assert!(nodes.contains("one `node`"), "{nodes}");
    let recovery = refused(&["mobility-management.conditional-recovery=false"]);
    assert!(recovery.contains("conditional"), "{recovery}");
}
