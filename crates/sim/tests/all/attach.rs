//! Tests of UEs that are idle at the start, from the scenario file to result rows.

use crate::common::rows::Rows;
use crate::common::{parse, run_with};
use fadeout_core::{HandoverOutcome, Procedure, RadioDropCause, RadioDropRow, RrcEvent};
use fadeout_record::Destination;
use fadeout_sim::{Control, Simulation, advice};

/// Returns a scenario with UEs between two cells and a server behind the core.
fn scenario(radio: &str, ues: &str, flows: &str) -> String {
    let link = |name: &str, from: &str, to: &str, delay: &str| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Gbit/s\"\ndelay = \"{delay}\"\n"
        )
    };
    let cell = |name: &str, x: &str| {
        format!(
            "[cell.{name}]\nradio = \"{radio}\"\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
             position = [\"{x}\", \"0 m\"]\ntx-power = \"40 dBm\"\n\
             channel = {{ path-loss = \"uma\", line-of-sight = \"obstructed\" }}\n"
        )
    };
    [
        "duration = \"8 s\"\nseed = 3\n",
        &link("internet", "server", "core", "10 ms"),
        &link("s1-west", "core", "west", "5 ms"),
        &link("s1-east", "core", "east", "5 ms"),
        &cell("west", "0 m"),
        &cell("east", "500 m"),
        ues,
        flows,
        "[mobility-management]\nsignalling = \"links\"\npreparation = \"s1\"\ncore = \"core\"\n",
    ]
    .concat()
}

fn run(text: &str) -> (Rows, u64) {
    run_with(&parse(text, ".".into(), &[]), Rows::default())
}

fn times(rows: &Rows, event: RrcEvent) -> Vec<f64> {
    let steps = rows.steps.iter().filter(|row| row.event == event);
    steps.map(|row| row.time_s.as_secs_f64()).collect()
}

const PHONE: &str = "[ue.phone]\nposition = [\"60 m\", \"40 m\"]\nattach-at = \"1 s\"\n";

/// Link S1 has a delay of 5 ms and a rate of 1 Gbit/s towards the base station. A message of 150
/// bytes takes 1.2 us more than the delay, and a message of 350 bytes 2.8 us more. The direction
/// towards the core has no rate limit.
#[test]
fn messages_take_the_times_of_the_links() {
    let flow = "[flow.up]\nfrom = \"phone\"\nto = \"server\"\n";
    for radio in ["lte", "nr"] {
        let (rows, delivered) = run(&scenario(radio, PHONE, flow));
        assert!(delivered > 1000, "{delivered}");
        let first = |event| times(&rows, event).first().copied().unwrap_or(f64::NAN);
        let took = |one, other| first(other) - first(one);
        let near = |span: f64, expected: f64| {
            assert!((span - expected).abs() < 1e-9, "{radio}: {span} {expected}");
        };
        near(
            took(RrcEvent::SetupComplete, RrcEvent::AuthenticationRequest),
            0.005,
        );
        near(
            took(RrcEvent::ContextSetupRequest, RrcEvent::SecurityCommand),
            0.005_002_8,
        );
        near(
            took(RrcEvent::CompleteReceived, RrcEvent::PathSwitched),
            0.005,
        );
        if radio == "nr" {
            near(
                took(RrcEvent::SessionSetupRequest, RrcEvent::ReconfigurationSent),
                0.005_002_8,
            );
        }
        let [row] = &rows.handovers[..] else {
            panic!("{:?}", rows.handovers);
        };
        let is_well = row.outcome == HandoverOutcome::Success;
        assert!(row.procedure == Procedure::Attach && is_well, "{row:?}");
        near(row.triggered_s, 1.0);
        near(row.switched_s, first(RrcEvent::PathSwitched));
        // Packets that the UE sent before its bearer existed waited for the bearer, so no packet
        // was dropped.
        assert!(rows.drops.is_empty(), "{:?}", rows.drops[0]);
    }
}

#[test]
fn the_core_drops_what_comes_for_a_ue_that_has_not_attached() {
    let stream =
        "application = { kind = \"packet-stream\", size = \"972 B\", rate = \"1 Mbit/s\" }";
    let flow = format!("[flow.down]\nfrom = \"server\"\nto = \"phone\"\n{stream}\n");
    let (rows, delivered) = run(&scenario("lte", PHONE, &flow));
    let switched = times(&rows, RrcEvent::PathSwitched)[0];
    let is_of_core = |row: &RadioDropRow| row.cause == RadioDropCause::NotAttached;
    assert!(rows.drops.iter().all(is_of_core));
    // The server sends 128.6 packets a second, 10 ms from the core. Packets that reached the core
    // before the path existed were lost.
    let expected = (switched - 0.010) * 1e6 / 8.0 / 972.0;
    assert!(
        (rows.drops.len() as f64 - expected).abs() < 2.0,
        "{expected}"
    );
    let last = rows.drops.last().expect("some").time_s.as_secs_f64();
    assert!(last < switched && switched - last < 0.01);
    let all = 8.0 * 1e6 / 8.0 / 972.0;
    let missing = all - delivered as f64 - rows.drops.len() as f64;
    assert!((0.0..8.0).contains(&missing), "{missing}");
}

#[test]
fn a_crowd_that_attaches_at_once_is_served_and_the_same_each_time() {
    let ues = "[ue.phone]\ncount = 30\nposition = [\"60 m\", \"40 m\"]\nspread = \"30 m\"\nattach-at = \"1 s\"\n";
    let flow = "[flow.up]\nfrom = \"phone\"\nto = \"server\"\napplication = { kind = \"transfer\", size = \"20 kB\" }\n";
    let text = scenario("lte", ues, flow);
    let (rows, delivered) = run(&text);
    assert_eq!(times(&rows, RrcEvent::Attached).len(), 30);
    assert!(!times(&rows, RrcEvent::ContentionLost).is_empty());
    assert_eq!(delivered % 30, 0, "each whole: {delivered}");
    let (again, _) = run(&text);
    assert_eq!(rows.steps, again.steps);
    // UEs that attach at different times have fewer collisions in random access than UEs that
    // attach at once.
    let (apart, _) = run(&text.replace(
        "attach-at = \"1 s\"",
        "attach-at = \"1 s\"\nattach-within = \"4 s\"",
    ));
    assert_eq!(times(&apart, RrcEvent::Attached).len(), 30);
    let begun = times(&apart, RrcEvent::AttachBegun);
    let (first, last) = (begun[0], begun[29]);
    assert!(
        (1.0..2.0).contains(&first) && (4.0..5.0).contains(&last),
        "{first} {last}"
    );
    let lost = |rows: &Rows| times(rows, RrcEvent::ContentionLost).len();
    assert!(lost(&apart) < lost(&rows));
}

const UP: &str = "[flow.up]\nfrom = \"phone\"\nto = \"server\"\n";

/// Returns the warnings before the run, and the warnings at its end.
fn remarks(ues: &str, overrides: &[&str]) -> (Vec<String>, Vec<String>) {
    let flow = match ues.contains("count") {
        true => UP.replace("\"phone\"", "\"phone-0\""),
        false => UP.to_owned(),
    };
    let scenario = parse(&scenario("lte", ues, &flow), ".".into(), overrides);
    // Warnings about missing neighbours and small buffers are left out.
    let mut before = advice(&scenario);
    before.retain(|what| what.contains("attach"));
    let simulation = Simulation::new(scenario, Destination::Nowhere).expect("it is right");
    let results = simulation.run(|_| Control::Continue);
    (before, results.expect("it runs").remarks)
}

#[test]
fn ues_that_never_attach_are_named_with_the_reason() {
    assert_eq!(remarks(PHONE, &[]), (Vec::new(), Vec::new()));
    let none: Vec<String> = Vec::new();
    let one = |found: &(Vec<String>, Vec<String>), parts: [&str; 2]| {
        let (before, after) = found;
        assert!(before.is_empty(), "{before:?}");
        let [remark] = &after[..] else {
            panic!("{after:?}");
        };
        let has = |part: &&str| remark.contains(*part);
        assert!(parts.iter().all(has), "{remark}");
    };
    let phone = "UE \"phone\": not attached by the end of the run: ";
    let weak = remarks(PHONE, &["mobility-management.q-rx-lev-min=\"-40 dBm\""]);
    one(&weak, [phone, "is not above `q-rx-lev-min` of -40 dBm"]);
    assert!(weak.1[0].contains("the strongest, \"west\", has an RSRP of -"));
    let unread = remarks(PHONE, &["mobility-management.q-in=\"50 dB\""]);
    one(
        &unread,
        [
            phone,
            "the strongest, \"west\", whose downlink is below `q-in`",
        ],
    );
    // Neither the core's request nor a retransmission arrives, so T3410 expires after 15 s.
    let lost = remarks(
        PHONE,
        &["link.s1-west.loss={ probability = 1 }", "duration=\"20 s\""],
    );
    one(
        &lost,
        [phone, "1 attempt failed, the latest after the RRC setup"],
    );
    // The run ends after 8 s, before the UE has attached.
    let late = PHONE.replace("1 s", "7.9 s");
    one(
        &remarks(&late, &[]),
        [phone, "the first attempt is under way"],
    );
    // Thirty UEs begin to attach within 14 s, and the run covers only half of this time.
    let many = PHONE.replace(
        "at = \"1 s\"",
        "at = \"1 s\"\nattach-within = \"14 s\"\ncount = 30",
    );
    let (before, after) = remarks(&many, &[]);
    assert_eq!(before, none);
    let begins = after
        .iter()
        .find(|what| what.contains("it begins to attach at"));
    let begins = begins.expect("some begin later");
    assert!(
        begins.contains("(`attach-within`)") && begins.contains(" more: "),
        "{begins}"
    );
}

#[test]
fn what_lets_no_ue_attach_is_said_before_the_run() {
    let (before, after) = remarks(&PHONE.replace("1 s", "8 s"), &[]);
    let late = "UE \"phone\": `attach-at` of 8 s is not before the end of the run at 8 s, so the UE never connects";
    assert_eq!((before, after), (vec![late.to_owned()], Vec::new()), "once");
    // 15 ms is the sum of 3, 6 and 6 ms from the preamble to the RRC setup.
    let (before, after) = remarks(PHONE, &["mobility-management.t300=\"15 ms\""]);
    assert!(
        before[0].contains("`t300` of 15 ms expires before the RRC setup can arrive, 15 ms"),
        "{before:?}"
    );
    assert!(
        after[0].contains("1 attempt failed, the latest in random access, by `t300`"),
        "{after:?}"
    );
    // With a wait of up to 10 ms for an occasion, 26 ms is the shortest T300 that suffices.
    let enough = remarks(PHONE, &["mobility-management.t300=\"26 ms\""]);
    assert_eq!(enough, (Vec::new(), Vec::new()));
}

/// The attached UEs have handovers by all procedures.
#[test]
fn whoever_has_attached_is_handed_over_as_any_other() {
    let ues = "[ue.phone]\nposition = [\"60 m\", \"40 m\"]\nattach-at = \"1 s\"\n\
               mobility = { model = \"line\", x-speed = 60 }\n";
    let flows = "[flow.down]\nfrom = \"server\"\nto = \"phone\"\n[flow.up]\nfrom = \"phone\"\nto = \"server\"\n";
    for (radio, procedure, kind) in [
        ("lte", "plain", Procedure::Handover),
        ("nr", "conditional", Procedure::Conditional),
        ("nr", "daps", Procedure::Daps),
    ] {
        let text = scenario(radio, ues, flows).replace(
            "preparation = \"s1\"\n",
            &format!("procedure = \"{procedure}\"\n"),
        ) + "[link.x2]\nfrom = \"west\"\nto = \"east\"\nrate = \"1 Gbit/s\"\ndelay = \"5 ms\"\n\
               reverse = { rate = \"1 Gbit/s\" }\n";
        let (rows, delivered) = run(&text);
        let kinds: Vec<Procedure> = rows.handovers.iter().map(|row| row.procedure).collect();
        assert_eq!(kinds.first(), Some(&Procedure::Attach), "{procedure}");
        assert!(kinds.contains(&kind), "{procedure}: {kinds:?}");
        assert!(delivered > 1000, "{procedure}: {delivered}");
    }
}
