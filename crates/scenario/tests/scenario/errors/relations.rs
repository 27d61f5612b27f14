//! Tests of mistakes that concern several values: inconsistent names, orders and routes.

use super::*;

#[test]
fn flows_need_two_nodes_and_a_way_between() {
    added_mistake(
        &FLOW.replace("client", "server"),
        "9:6: `bulk` starts and ends at the same node",
    );
    let island = "[link.far]\nfrom = \"x\"\nto = \"y\"\nrate = \"unlimited\"\ndelay = \"0 s\"\n";
    added_mistake(
        &format!("{island}{}", FLOW.replace("client", "y")),
        "14:6: no route leads from `server` to `y`",
    );
    added_mistake(
        &format!("[node.z]\n{}", FLOW.replace("client", "z")),
        "10:6: no route leads from `server` to `z`",
    );
    link_mistake(
        "to = \"server\"",
        "4:6: `radio` connects a node with itself",
    );
}

#[test]
fn names_of_counted_flows_do_not_collide() {
    let text = format!("{FLOW}count = 2\n{}", FLOW.replace("bulk", "bulk-1"));
    added_mistake(&text, "11:7: two flows have the name `bulk-1`");
    added_mistake(
        &format!("{FLOW}start-spacing = \"1 s\""),
        "10:17: a `start-spacing` without a `count`",
    );
}

#[test]
fn schedules_are_consistent() {
    let blockage =
        |schedule: &str| format!("[blockage.car]\nlink = \"radio\"\nschedule = {schedule}");
    for (schedule, expected) in [
        (
            "{ period = \"5 s\", duration = \"5 s\" }",
            "9:41: 5 s is not less than the period of 5 s",
        ),
        (
            "{ period = \"5 s\", duration = \"1 s\", phase = \"5 s\" }",
            "9:56: the phase is not less than the period of 5 s",
        ),
        ("{ period = \"5 s\" }", "9:1: missing key `duration`"),
        (
            "{ intervals = [[\"2 s\", \"1 s\"]] }",
            "9:35: the interval ends at 1 s, not after its start at 2 s",
        ),
        (
            "{ intervals = [[\"1 s\", \"3 s\"], [\"2 s\", \"4 s\"]] }",
            "9:44: the interval starts before the last one ended, at 3 s",
        ),
        (
            "{ intervals = [] }",
            "9:26: expected a list, each item a pair [a time such as \"20 ms\", a time such as \"20 ms\"], found an empty list",
        ),
        (
            "{ period = \"10 us\", duration = \"1 us\" }",
            "9:43: expected a time from 10 us to 1000000 s, found \"1 us\"",
        ),
        (
            "{ phase = \"5 s\" }",
            "9:1: expected a table with `period`, `intervals` or `mean-clear`",
        ),
    ] {
        added_mistake(&blockage(schedule), expected);
    }
    let text = format!(
        "{LINK}{}\n",
        blockage("{ period = \"20 us\", duration = \"10 us\" }")
    );
    let errors = read(&text, &["duration=100 s"])
        .expect_err("refused")
        .errors;
    assert_eq!(
        errors[0].message,
        "more than 500000 interruptions within the duration"
    );
}

#[test]
fn steps_increase_from_zero() {
    for (steps, expected) in [
        (
            "[[\"1 s\", \"1 Mbit/s\"]]",
            "5:20: the first step starts late",
        ),
        (
            "[[\"0 s\", \"1 Mbit/s\"], [\"0 s\", \"2 Mbit/s\"]]",
            "5:41: this step does not start after the one at 0 s",
        ),
        (
            "[[\"0 s\", \"0 Mbit/s\"]]",
            "5:18: the rate is never above zero",
        ),
        (
            "[[\"0 s\", \"1 Mbit/s\"], [\"2 s\", \"2 Mbit/s\"]], repeat-every = \"2 s\"",
            "5:77: the steps repeat before the last one starts, at 2 s",
        ),
        (
            "[\"0 s\", \"1 Mbit/s\"]",
            "5:19: expected a pair [a time such as \"20 ms\", a rate such as \"20 Mbit/s\"], found \"0 s\"",
        ),
    ] {
        let text = link_with(&format!("rate = {{ steps = {steps} }}"));
        let first = &refused(&text)[0];
        assert_eq!(
            format!("{}:{}: {}", first.line, first.column, first.message),
            expected
        );
    }
}

#[test]
fn loss_and_geometry_need_a_link_budget() {
    let schedule = "schedule = { period = \"5 s\", duration = \"1 s\" }";
    let text = format!(
        "[blockage.car]\nlink = \"radio\"\ndirection = \"forward\"\n{schedule}\ndepth = {{ loss = \"20 dB\" }}"
    );
    added_mistake(
        &text,
        "11:9: a blockage by loss needs a `radio` rate, which `radio` lacks in its forward direction",
    );
    let radio = "rate = { radio = { carrier = \"38 GHz\", bandwidth = \"400 MHz\", tx-power = \"23 dBm\", tx-beamwidth = \"12 deg\", rx-beamwidth = \"30 deg\", distance = \"1 m\" } }";
    let geometry = "{ blocker-width = \"4.8 m\", blocker-height = \"1.4 m\", blocker-distance = [\"0.5 m\", \"1 m\"] }";
    let text = format!(
        "{}[blockage.car]\nlink = \"radio\"\n{schedule}\ndepth = {{ geometry = {geometry} }}\n",
        link_with(radio)
    );
    assert_eq!(
        only(&text).0,
        "10:9: the blocker is not between transmitter and receiver"
    );
    let text = text.replace("[\"0.5 m\", \"1 m\"]", "[\"1 m\", \"0.5 m\"]");
    assert_eq!(
        only(&text).0,
        "10:94: the nearest distance is beyond the farthest"
    );
}

#[test]
fn a_hold_limit_needs_packets_that_are_held() {
    added_mistake(
        "[blockage.car]\nlink = \"radio\"\nschedule = { mean-clear = \"1 s\", mean-blocked = \"1 s\" }\neffect = \"lost\"\nhold-limit = \"1 MB\"",
        "11:14: a `hold-limit`, but the effect is not \"held\"",
    );
}

#[test]
fn a_limit_in_time_needs_a_rate() {
    let text = link_with("rate = \"unlimited\"") + "queue = { limit = \"50 ms\" }\n";
    assert_eq!(
        only(&text).0,
        "7:19: a queue limit in time needs a link with a rate"
    );
}

#[test]
fn a_trace_file_that_cannot_be_read_is_named() {
    let (found, _) = only(&link_with("rate = { trace = \"missing.down\" }"));
    assert!(found.starts_with("5:18: cannot read the file `"), "{found}");
    assert!(found.contains("missing.down`: "), "{found}");
    let (found, _) = only(&link_with("rate = { trace = \".\" }"));
    assert!(found.ends_with("it is not a regular file"), "{found}");
}

#[test]
fn a_route_leads_from_sender_to_receiver() {
    let second = "[link.second]\nfrom = \"client\"\nto = \"server\"\nrate = \"1 Mbit/s\"\n\
                  delay = \"1 ms\"\n";
    let flow = |rest: &str| format!("{LINK}{second}{FLOW}{rest}\n");
    let scenario = accepted(&flow("route = [\"second\"]"));
    let hop = Hop {
        medium: Medium::Link(1),
        is_reverse: true,
    };
    assert_eq!(scenario.flows[0].route, Some(vec![hop]));
    let again = toml_from_json(&scenario.to_json());
    assert_eq!(accepted(&again).flows, scenario.flows);
    for (rest, message) in [
        ("route = [\"secnd\"]", "there is no link `secnd`"),
        (
            "route = [\"radio\", \"second\"]",
            "the path ends at `server`",
        ),
        (
            "route = [\"radio\"]\nmultipath = { paths = [[\"radio\"]] }",
            "both `route` and `multipath`",
        ),
    ] {
        let errors = refused(&flow(rest));
        assert!(
            errors.iter().any(|error| error.message == message),
            "{rest}: {errors:?}"
        );
    }
}

#[test]
fn paths_lead_from_sender_to_receiver() {
    let multipath = |rest: &str| {
        format!(
            "{LINK}[link.second]\nfrom = \"server\"\nto = \"client\"\nrate = \"1 Mbit/s\"\n\
             delay = \"1 ms\"\n{FLOW}multipath = {{ {rest} }}\n"
        )
    };
    accepted(&multipath(
        "paths = [[\"radio\"], [\"second\"]], coupling = \"lia\"",
    ));
    for (rest, message) in [
        ("paths = [[\"radoi\"]]", "there is no link `radoi`"),
        (
            "paths = [[\"radio\", \"second\"]]",
            "the path ends at `server`",
        ),
        (
            "paths = [[\"radio\"]], coupling = \"lia\"",
            "coupling `lia` on a single path",
        ),
        (
            "paths = [[\"radio\"]], path-scheduler = \"minrtt\"",
            "unknown path scheduler `minrtt`",
        ),
        (
            "paths = [[\"radio\"]], coupling = \"lai\"",
            "unknown coupling `lai`",
        ),
        (
            "paths = [{ links = [\"radio\"], from = \"2 s\", until = \"1 s\" }]",
            "the path fails before it becomes usable",
        ),
    ] {
        let errors = refused(&multipath(rest));
        assert!(
            errors.iter().any(|error| error.message == message),
            "{rest}: {errors:?}"
        );
    }
}

#[test]
fn a_handover_is_from_one_link_to_another_that_ends_at_the_same_phone() {
    let handover = |from: &str, to: &str, rest: &str| {
        let far =
            "[link.far]\nfrom = \"rnc\"\nto = \"client\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n";
        format!("{far}[handover.there]\nfrom = \"{from}\"\nto = \"{to}\"\nat = \"1 s\"\n{rest}")
    };
    for (from, to, rest, expected) in [
        (
            "radio",
            "radio",
            "",
            "14:6: a handover from a link to itself",
        ),
        ("radoi", "far", "", "13:8: there is no link `radoi`"),
        (
            "radio",
            "far",
            "bicast-before = \"10 ms\"",
            "16:17: a start time of bicasting, but no bicasting",
        ),
        (
            "radio",
            "far",
            "data = \"bicasting\"\nbicast-before = \"1 ms\"\nbicast-after = \"1 ms\"",
            "18:16: bicasting has two start times",
        ),
        (
            "radio",
            "far",
            "data = \"bicasting\"\nsignalling = \"links\"\nbicast-after = \"1 ms\"",
            "18:16: a start time of bicasting with `signalling = \"links\"`",
        ),
        (
            "radio",
            "far",
            "signalling = \"links\"\npath-switch = \"1 ms\"",
            "17:15: a time of the path switch with `signalling = \"links\"`",
        ),
        (
            "radio",
            "far",
            "data = \"none\"\nforwarding-route = [\"radio\", \"far\"]",
            "17:20: a route of forwarded packets, but no forwarding",
        ),
        (
            "radio",
            "far",
            "forwarding-route = [\"far\"]",
            "16:21: link `far` does not start at `server`",
        ),
    ] {
        added_mistake(&handover(from, to, rest), expected);
    }
    let elsewhere = "[link.far]\nfrom = \"server\"\nto = \"other\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
         [handover.there]\nfrom = \"radio\"\nto = \"far\"\nat = \"1 s\"";
    added_mistake(
        elsewhere,
        "14:6: it ends at `other`, not at the phone `client`",
    );
}
