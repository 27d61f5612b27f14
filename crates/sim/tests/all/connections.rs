//! Tests of a run's remarks about connections that were never answered or that were given up.

use crate::common::parse;
use fadeout_record::Destination;
use fadeout_sim::{Control, Simulation};

/// Returns two links between `a` and `b`, with these loss probabilities in both directions, and a
/// run of this length.
fn scenario(duration: &str, losses: [&str; 2], flows: &str) -> String {
    let link = |name: &str, [there, back]: [&str; 2]| {
        format!(
            "[link.{name}]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n\
             loss = {{ probability = {there} }}\nreverse = {{ loss = {{ probability = {back} }} }}\n"
        )
    };
    [
        &format!("duration = \"{duration}\"\n"),
        &link("one", losses),
        &link("two", ["0", "0"]),
        flows,
    ]
    .concat()
}

const TCP: &str = "[flow.file]\nfrom = \"a\"\nto = \"b\"\nroute = [\"one\"]\n";

/// Returns the remarks at the end of a run.
fn remarks(text: &str) -> Vec<String> {
    let scenario = parse(text, ".".into(), &[]);
    let simulation = Simulation::new(scenario, Destination::Nowhere).expect("it is right");
    let results = simulation.run(|_| Control::Continue).expect("it runs");
    results.remarks
}

#[test]
fn a_connection_that_nothing_answers_is_told_with_its_syns() {
    // In Linux the first four timeouts are one second each (tcp_syn_linear_timeouts). Each of the
    // six further timeouts is twice as long as the one before (tcp_syn_retries).
    let given_up = remarks(&scenario("200 s", ["1", "0"], TCP));
    assert_eq!(
        given_up,
        [
            "flow \"file\": never connected: no answer to 11 SYNs from 0.000 to 68.096 s; the connection was given up"
        ]
    );
    let under_way = remarks(&scenario("2 s", ["1", "0"], TCP));
    assert_eq!(
        under_way,
        ["flow \"file\": never connected: no answer to 2 SYNs from 0.000 to 1.024 s"]
    );
    // If the run ends before any answer can arrive, there is no remark.
    assert!(remarks(&scenario("10 ms", ["0", "0"], TCP)).is_empty());
    assert!(remarks(&scenario("2 s", ["0", "0"], TCP)).is_empty());
}

#[test]
fn a_way_back_that_is_lost_is_told_apart() {
    let [remark] = &remarks(&scenario("2 s", ["0", "1"], TCP))[..] else {
        panic!("one remark");
    };
    assert!(
        remark.ends_with("s; the other end received it, but its answer was lost"),
        "{remark}"
    );
}

#[test]
fn many_connections_are_told_in_one_sentence() {
    let many = TCP.replace("route", "count = 5\nroute");
    let [remark] = &remarks(&scenario("2 s", ["1", "0"], &many))[..] else {
        panic!("one remark");
    };
    assert!(
        remark.starts_with(
            "flows \"file-0\", \"file-1\" and 3 more: never connected, of the first: no answer to 2 SYNs"
        ),
        "{remark}"
    );
}

#[test]
fn a_first_path_that_goes_before_an_answer_takes_the_connection_along() {
    let paths = "[flow.file]\nfrom = \"a\"\nto = \"b\"\nmultipath = { paths = [{ links = [\"one\"], \
                 until = \"3 s\" }, [\"two\"]] }\n";
    let gone = remarks(&scenario("9 s", ["1", "0"], paths));
    assert_eq!(
        gone,
        [
            "flow \"file\": never connected: no answer to 3 SYNs from 0.000 to 2.048 s on its first path, which all others need; the connection was given up"
        ]
    );
}

#[test]
fn a_connection_that_is_given_up_later_is_told_with_what_arrived() {
    // From one second on no packet passes. Linux gives up after R2 of RFC 1122, some 15 minutes.
    let cut = "[blockage.cut]\nlink = \"one\"\nschedule = { period = \"3000 s\", duration = \"2999 s\", \
               phase = \"1 s\" }\neffect = \"dropped-on-arrival\"\n";
    let [remark] = &remarks(&scenario("1500 s", ["0", "0"], &[TCP, cut].concat()))[..] else {
        panic!("one remark");
    };
    assert!(
        remark.starts_with("flow \"file\": the connection was given up at ")
            && remark.ends_with(" B had arrived"),
        "{remark}"
    );
}

/// Returns a phone in an LTE cell with these SINRs, and a flow.
fn in_cell([downlink_db, uplink_db]: [f64; 2], flow: &str) -> String {
    format!(
        "duration = \"4 s\"\n[link.core]\nfrom = \"server\"\nto = \"macro\"\nrate = \"1 Gbit/s\"\ndelay = \"10 ms\"\n\
         [cell.macro]\nradio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\nchannel = {{ path-loss = \"uma\" }}\n\
         [ue.phone]\ndownlink-sinr = \"{downlink_db} dB\"\nuplink-sinr = \"{uplink_db} dB\"\n[flow.file]\n{flow}"
    )
}

#[test]
fn a_ue_that_is_out_of_range_is_named_as_the_cause() {
    let (up, down) = (
        "from = \"phone\"\nto = \"server\"\n",
        "from = \"server\"\nto = \"phone\"\n",
    );
    let of_up = "in the uplink: its SINR is -12.0 dB with all its power in one resource block, and the lowest CQI takes -";
    let of_down = "in the downlink: its SINR is -12.0 dB, and the lowest CQI takes -";
    // Depending on the case, either the SYN itself is lost or the answer to it.
    for (sinrs, flow, part) in [
        ([20.0, -12.0], up, of_up),
        ([-12.0, 20.0], up, of_down),
        ([-12.0, 20.0], down, of_down),
        ([20.0, -12.0], down, of_up),
    ] {
        let [remark] = &remarks(&in_cell(sinrs, flow))[..] else {
            panic!("one remark");
        };
        let cause = format!("UE \"phone\" is out of range of cell \"macro\" {part}");
        assert!(
            remark.starts_with("flow \"file\": never connected: no answer to ")
                && remark.contains(&cause),
            "{remark}"
        );
    }
    assert!(remarks(&in_cell([20.0, 20.0], up)).is_empty());
}
