//! Tests of a run in several worlds: the same bits on any number of threads, and each flow, link
//! and UE as in one world.

use crate::common::build;
use crate::common::parse;
use crate::common::unobserved;
use fadeout_record::{Destination, Recorded};
use fadeout_scenario::Scenario;
use fadeout_sim::{
    BuildError, Control, DividedSimulation, RunResults, Simulation, Worlds, summary,
};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Returns this number of carriers, each with two cells, three UEs and a link to the server. Rates
/// and delays differ, so that packets of two carriers never reach the server at the same
/// nanosecond.
fn networks(count: usize) -> String {
    let mut text = "duration = \"2 s\"\nworlds = \"by-carrier\"\n".to_owned();
    for n in 0..count {
        let carrier = 2.0 + 0.1 * n as f64;
        let (rate, delay) = (300_000_007 + 10_000_019 * n, 7_000_003 + 1_000_033 * n);
        write!(
            text,
            "[link.core-{n}]\nfrom = \"server\"\nto = \"net-{n}\"\nrate = \"{rate} bit/s\"\ndelay = \"{delay} ns\"\n"
        )
        .expect("text grows");
        for side in 0..2 {
            write!(
                text,
                "[cell.c{n}-{side}]\nnode = \"net-{n}\"\nposition = [\"{} m\", \"{} m\"]\nheight = \"25 m\"\n\
                 radio = \"lte\"\ncarrier = \"{carrier} GHz\"\nbandwidth = \"10 MHz\"\n\
                 channel = {{ path-loss = \"uma\", fading = \"rayleigh\" }}\n",
                600 * side,
                1500 * n
            )
            .expect("text grows");
        }
        write!(
            text,
            "[ue.u{n}]\ncount = 3\nposition = [\"300 m\", \"{} m\"]\nspread = \"250 m\"\nmobility = \"random-waypoint\"\n",
            1500 * n
        )
        .expect("text grows");
    }
    text
}

/// Returns networks with traffic of every kind that can be divided, and with all effects of links.
fn busy() -> String {
    networks(3)
        + "[flow.bulk]\nfrom = \"server\"\nto = \"u0\"\n\
           [flow.up]\nfrom = \"u1\"\nto = \"server\"\ncongestion-control = \"bbr\"\n\
           [flow.page]\nfrom = \"server\"\nto = \"u1-0\"\napplication = \"web\"\nstart = \"100 ms\"\ncount = 3\n\
           [flow.files]\nfrom = \"server\"\nto = \"u2-0\"\napplication = \"transfer\"\n\
           arrivals = { rate = 20.0, size = \"30 kB\", distribution = \"exponential\" }\n\
           [flow.burst]\nfrom = \"server\"\nto = \"u2-1\"\napplication = \"on-off\"\n\
           [flow.ping]\nfrom = \"u0-0\"\nto = \"server\"\napplication = \"echo\"\n\
           [flow.voice]\nfrom = \"server\"\nto = \"u2\"\napplication = { kind = \"packet-stream\", rate = \"300 kbit/s\" }\n\
           [flow.across]\nfrom = \"u0-1\"\nto = \"u1-1\"\napplication = { kind = \"transfer\", size = \"200 kB\" }\n\
           [flow.beside]\nfrom = \"u0-1\"\nto = \"u0-2\"\napplication = \"request-response\"\n\
           [flow.late]\nfrom = \"server\"\nto = \"u0-0\"\nstart = \"10 s\"\n\
           [blockage.cut]\nlink = \"core-1\"\nschedule = { intervals = [[\"500 ms\", \"650 ms\"], \
           [\"1200 ms\", \"1210 ms\"]] }\n"
}

/// Returns the networks of [`busy`] with a phone that has two paths, one of them not over a cell.
fn multipath() -> String {
    busy()
        + "[link.wifi]\nfrom = \"server\"\nto = \"dual\"\nrate = \"20000003 bit/s\"\ndelay = \"8000777 ns\"\n\
           [ue.dual]\ncell = \"c2-0\"\nposition = [\"100 m\", \"3000 m\"]\n\
           [flow.both]\nfrom = \"server\"\nto = \"dual\"\n\
           multipath = { paths = [[\"core-2\", \"dual\"], [\"wifi\"]] }\n"
}

fn scenario(text: &str, overrides: &[&str]) -> Scenario {
    parse(text, PathBuf::from("."), overrides)
}

fn on_threads(text: &str, threads: usize, overrides: &[&str]) -> RunResults {
    let scenario = scenario(text, overrides);
    let run = DividedSimulation::with_congestion(scenario, Destination::Memory, &mut |_| None);
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    run.run(threads, |_| Control::Continue).expect("a run")
}

fn in_one_world(text: &str, overrides: &[&str]) -> RunResults {
    let overrides: Vec<&str> = overrides
        .iter()
        .copied()
        .chain(["worlds=\"one\""])
        .collect();
    let run = Simulation::new(scenario(text, &overrides), Destination::Memory).expect("a world");
    run.run(|_| Control::Continue).expect("a run")
}

/// Settings that record everything.
const ALL: &[&str] = &[
    "probe.congestion=\"every-ack\"",
    "probe.queue=\"every-packet\"",
    "probe.datagrams=\"every-packet\"",
    "probe.bearers=\"every-packet\"",
    "probe.transport-blocks=true",
    "probe.radio-delay=true",
];

/// Returns the summary without the values of the whole trajectory.
fn of_machines(recorded: &Recorded) -> Value {
    let mut summary: Value = serde_json::from_str(&recorded.summary).expect("it is JSON");
    for key in ["events", "fingerprint"] {
        assert!(summary[key].take() != Value::Null, "{key}");
    }
    summary
}

/// Asserts that two runs recorded the same tables.
fn assert_same_tables(one: &Recorded, other: &Recorded, what: &str) {
    assert_same_tables_but(&[], one, other, what);
}

/// Asserts that two runs recorded the same tables. Rows of some tables may be in another order.
fn assert_same_tables_but(tables: &[&str], one: &Recorded, other: &Recorded, what: &str) {
    let names = |of: &Recorded| of.tables.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    assert_eq!(names(one), names(other), "{what}");
    for ((name, table), (_, of_other)) in one.tables.iter().zip(&other.tables) {
        let is_same = match tables.contains(name) {
            true => table.len() == of_other.len(),
            false => table == of_other,
        };
        assert!(is_same, "{what}: table {name} differs");
    }
}

#[test]
fn a_run_has_the_same_bits_on_one_thread_and_on_several() {
    let one = on_threads(&busy(), 1, ALL);
    assert!(one.is_complete && one.packets > 10_000, "{}", one.packets);
    for threads in [2, 3, 4, 9] {
        let other = on_threads(&busy(), threads, ALL);
        assert_eq!(other.fingerprint, one.fingerprint, "{threads} threads");
        assert_eq!(other.recorded.summary, one.recorded.summary);
        assert_eq!(other.recorded.manifest, one.recorded.manifest);
        assert_same_tables(
            &other.recorded,
            &one.recorded,
            &format!("{threads} threads"),
        );
    }
}

#[test]
fn each_flow_link_and_ue_fares_as_in_one_world() {
    let divided = on_threads(&busy(), 2, ALL);
    let whole = in_one_world(&busy(), ALL);
    assert_eq!(divided.packets, whole.packets);
    assert_eq!(of_machines(&divided.recorded), of_machines(&whole.recorded));
    assert_same_tables(&divided.recorded, &whole.recorded, "divided and whole");
}

#[test]
fn a_phone_with_paths_from_two_worlds_fares_as_in_one() {
    let one = on_threads(&multipath(), 1, &[]);
    let other = on_threads(&multipath(), 3, &[]);
    assert_eq!(other.fingerprint, one.fingerprint);
    assert_same_tables(&other.recorded, &one.recorded, "on three threads");
    let whole = in_one_world(&multipath(), &[]);
    assert_eq!(of_machines(&one.recorded), of_machines(&whole.recorded));
    // Rows of two worlds at one nanosecond may be in another order, so these tables are compared
    // without their order.
    assert_same_tables_but(
        &["queues", "bearers"],
        &one.recorded,
        &whole.recorded,
        "two paths",
    );
}

#[test]
fn carriers_on_the_same_sites_share_their_shadows_as_in_one_world() {
    // UEs without a named cell use the strongest cell of all carriers.
    let same = |text: String| {
        (1..3).fold(text, |text, n| {
            text.replace(&format!("\"{} m\"", 1500 * n), "\"0 m\"")
        })
    };
    let text = same(busy());
    let divided = on_threads(&text, 2, ALL);
    let whole = in_one_world(&text, ALL);
    assert_eq!(of_machines(&divided.recorded), of_machines(&whole.recorded));
    assert_same_tables(&divided.recorded, &whole.recorded, "on the same sites");
}

#[test]
fn what_links_and_queues_do_on_the_way_between_worlds_they_do_as_in_one() {
    for setting in [
        "link.core-1.queue={ limit = \"50 packets\", discipline = \"codel\" }",
        "link.core-1.queue={ limit = \"100 packets\", discipline = \"fq-codel\" }",
        "link.core-0.jitter=\"3 ms\"",
        "link.core-2.loss={ probability = 0.02 }",
        "blockage.cut.effect=\"lost\"",
        "blockage.cut.effect=\"dropped-on-arrival\"",
    ] {
        let overrides = [setting, "link.core-1.rate=\"12345678 bit/s\""];
        let divided = on_threads(&busy(), 2, &overrides);
        let whole = in_one_world(&busy(), &overrides);
        assert_eq!(
            of_machines(&divided.recorded),
            of_machines(&whole.recorded),
            "{setting}"
        );
        assert_same_tables(&divided.recorded, &whole.recorded, setting);
    }
}

#[test]
fn what_the_radio_draws_and_counts_it_does_as_in_one_world() {
    let lte = "cell.radio=\"lte\"";
    for settings in [
        [lte, "ue.rlc={ mode = \"am\", aqm = \"pie\" }"],
        [lte, "ue.rlc={ mode = \"um\", buffer = \"60 kB\" }"],
        [lte, "ue.rrc-states={ inactivity = \"200 ms\" }"],
        [
            lte,
            "ue.pdcp={ name = \"standard\", header-compression = \"rohc\" }",
        ],
        ["cell.radio=\"nr\"", "cell.bandwidth=\"20 MHz\""],
    ] {
        let divided = on_threads(&busy(), 2, &settings);
        let whole = in_one_world(&busy(), &settings);
        assert_eq!(
            of_machines(&divided.recorded),
            of_machines(&whole.recorded),
            "{settings:?}"
        );
        // Rows of two worlds at one nanosecond, such as the beginning of a slot, may be in another
        // order. So this table is compared without its order.
        let but = ["radio_drops"];
        assert_same_tables_but(&but, &divided.recorded, &whole.recorded, settings[1]);
    }
}

/// Returns identical networks, with packets that arrive exactly at the borders of windows.
fn alike() -> String {
    let mut text = "duration = \"1 s\"\nworlds = \"by-carrier\"\n".to_owned();
    for n in 0..3 {
        write!(
            text,
            "[link.core-{n}]\nfrom = \"server\"\nto = \"net-{n}\"\nrate = \"unlimited\"\ndelay = \"10 ms\"\n\
             [cell.c{n}]\nnode = \"net-{n}\"\nradio = \"lte\"\ncarrier = \"{} GHz\"\nbandwidth = \"10 MHz\"\n\
             channel = {{ path-loss = \"free-space\" }}\n\
             [ue.u{n}]\ncell = \"c{n}\"\nposition = [\"100 m\", \"0 m\"]\n",
            n + 1
        )
        .expect("text grows");
    }
    for n in 0..2 {
        for (start, name) in ["0 s", "10 ms", "9999999 ns", "1 s"]
            .iter()
            .zip(["a", "b", "c", "d"])
        {
            write!(
                text,
                "[flow.down-{n}-{name}]\nfrom = \"server\"\nto = \"u{n}\"\nstart = \"{start}\"\n\
                 application = {{ kind = \"packet-stream\", rate = \"800 bit/s\", size = \"1 B\" }}\n\
                 [flow.ping-{n}-{name}]\nfrom = \"server\"\nto = \"u{n}\"\nstart = \"{start}\"\n\
                 application = {{ kind = \"echo\", period = \"10 ms\" }}\n\
                 [flow.file-{n}-{name}]\nfrom = \"u{n}\"\nto = \"u{}\"\nstart = \"{start}\"\n\
                 application = {{ kind = \"transfer\", size = \"1 B\" }}\n",
                1 - n
            )
            .expect("text grows");
        }
    }
    text
}

#[test]
fn packets_at_the_borders_of_windows_arrive_once_on_any_number_of_threads() {
    let one = on_threads(&alike(), 1, ALL);
    // The third network has no traffic. The results must still be the same for 2 and 4 threads.
    for threads in [2, 4] {
        let other = on_threads(&alike(), threads, ALL);
        assert_eq!(other.fingerprint, one.fingerprint, "{threads} threads");
        assert_same_tables(&other.recorded, &one.recorded, "on other threads");
    }
    let whole = in_one_world(&alike(), ALL);
    assert_eq!(one.packets, whole.packets);
    let scenario = scenario(&alike(), &[]);
    let mut worlds = Worlds::unobserved(&scenario).expect("it can be divided");
    assert_eq!((worlds.count(), worlds.lookahead().as_millis()), (4, 10));
    worlds.run(2);
    let summed = summary(&scenario, &worlds.into_world());
    let flows = summed["flows"].as_array().expect("a list");
    assert_eq!(flows.len(), 24);
    for flow in flows {
        let is_late = flow["start_s"] == 1.0;
        let delivered = flow["delivered_bytes"].as_u64().expect("a number");
        assert_eq!(delivered == 0, is_late, "{}", flow["flow"]);
    }
}

#[test]
fn a_link_that_is_blocked_for_ever_and_a_run_within_a_window_come_to_an_end() {
    let blocked = alike()
        + "[blockage.all]\nlink = \"core-0\"\nschedule = { intervals = [[\"0 s\", \"2 s\"]] }\n";
    let short = ["duration=\"3 ms\""];
    for (text, overrides) in [(blocked, &[][..]), (alike(), &short[..])] {
        let one = on_threads(&text, 1, overrides);
        let other = on_threads(&text, 4, overrides);
        assert!(one.is_complete && other.is_complete);
        assert_eq!(other.fingerprint, one.fingerprint);
        assert_same_tables(&other.recorded, &one.recorded, "on other threads");
        assert_eq!(one.packets, in_one_world(&text, overrides).packets);
    }
}

#[test]
fn a_run_that_is_stopped_is_written_as_far_as_it_came() {
    let long = scenario(&busy(), &["duration=\"20 s\""]);
    let run = DividedSimulation::with_congestion(long, Destination::Memory, &mut |_| None);
    let mut asked = 0;
    let stopped = run.expect("worlds").run(2, |progress| {
        asked += 1;
        assert!(progress.events > 0 && progress.now.as_secs_f64() < 20.0);
        Control::Stop
    });
    let stopped = stopped.expect("a run");
    assert!(!stopped.is_complete && asked == 1);
    let summary: Value = serde_json::from_str(&stopped.recorded.summary).expect("it is JSON");
    let duration_s = summary["duration_s"].as_f64().expect("a number");
    assert!(duration_s > 0.0 && duration_s < 20.0, "{duration_s}");
}

/// Returns the error for a scenario that cannot be divided.
fn refusal(text: &str, overrides: &[&str]) -> String {
    match Worlds::unobserved(&scenario(text, overrides)) {
        Ok(_) => panic!("it was divided: {overrides:?}\n{text}"),
        Err(error) => {
            assert!(matches!(error, BuildError::Undivided(_)), "{error}");
            error.to_string()
        }
    }
}

#[test]
fn a_scenario_of_one_piece_is_refused_with_the_key_that_keeps_it_together() {
    let managed = "[mobility-management]\nevents = [{ kind = \"a3\" }]\n";
    let side = "[link.side]\nfrom = \"net-0\"\nto = \"net-1\"\nrate = \"1 Gbit/s\"\ndelay = \"0 s\"\n\
                [link.other]\nfrom = \"net-2\"\nto = \"net-1\"\nrate = \"1 Gbit/s\"\ndelay = \"0 s\"\n";
    for (added, expected) in [
        (managed, "`mobility-management` moves UEs"),
        (side, "link \"side\" joins two worlds"),
    ] {
        let found = refusal(&(busy() + added), &[]);
        assert!(
            found.starts_with("worlds: ") && found.contains(expected),
            "{found}"
        );
    }
    let full = "flow.bulk.application=\"full-buffer\"";
    let asks = "flow.bulk.application=\"request-response\"";
    for (overrides, expected) in [
        (&["link.delay=\"0 s\""][..], "has no delay or counts"),
        (
            &["link.queue={ limit = \"9 packets\", counts-delay-line = true }"],
            "counts its delay line",
        ),
        (
            &["flow.bulk.link-info={ link = \"core-0\" }"],
            "`flow.bulk-0.link-info` tells",
        ),
        (&["probe.capture=[\"server\"]"], "`probe.capture` writes"),
        (
            &["probe.link-capture=[\"core-0\"]"],
            "`probe.link-capture` writes",
        ),
        (
            &["probe.radio-capture=[\"c0-0\"]"],
            "`probe.radio-capture` writes",
        ),
        (
            &[
                "cell.c1-0.node=\"net-0\"",
                "cell.c1-1.node=\"net-0\"",
                "cell.c2-0.node=\"net-0\"",
                "cell.c2-1.node=\"net-0\"",
            ],
            "shares node \"net-0\" with a cell of another carrier",
        ),
        (
            &[full],
            "flow \"bulk-0\": application \"full-buffer\" is one program at both ends",
        ),
        (
            &[asks],
            "flow \"bulk-0\": application \"request-response\" is one program at both ends",
        ),
    ] {
        let found = refusal(&busy(), overrides);
        assert!(
            found.starts_with("worlds: ") && found.contains(expected),
            "{overrides:?}: {found}"
        );
        assert!(found.contains("expected"), "{found}");
    }
    let found = refusal(&networks(1), &[]);
    assert!(
        found.contains("all cells are on one carrier, 2 GHz"),
        "{found}"
    );
    let wired = "duration = \"1 s\"\nworlds = \"by-carrier\"\n[link.path]\nfrom = \"a\"\nto = \"b\"\n\
                 rate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n[flow.bulk]\nfrom = \"a\"\nto = \"b\"\n";
    assert!(refusal(wired, &[]).contains("the scenario has no cells"));
}

#[test]
fn a_congestion_control_of_the_users_own_is_refused_and_so_is_one_world_of_a_divided_scenario() {
    let own = DividedSimulation::with_congestion(
        scenario(&busy(), &[]),
        Destination::Nowhere,
        &mut |flow| {
            let random = fadeout_core::random::Stream::new(1, "test", 0);
            let parameters = fadeout_core::registry::Parameters::NONE;
            let named = flow.name == "up-1";
            named.then(|| {
                fadeout_sim::congestion::Congestion::new("newreno", parameters, random)
                    .expect("it is known")
            })
        },
    );
    let refused = own.expect_err("it is the user's").to_string();
    assert!(
        refused.contains("flow \"up-1\" has a user-written congestion control"),
        "{refused}"
    );
    let scenario = scenario(&busy(), &[]);
    let one = unobserved(&scenario)
        .expect_err("it is divided")
        .to_string();
    assert!(one.starts_with("worlds: a run of one world"), "{one}");
    assert!(build(&scenario, fadeout_core::NullProbe).is_err());
}
