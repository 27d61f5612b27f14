//! Each class of mistake: its place, its words and what it suggests.

use super::*;
use fadeout_scenario::{Hop, Medium, toml_from_json};

/// The only mistake of `text`, as `line:column: message`.
#[track_caller]
pub(crate) fn only(text: &str) -> (String, ScenarioError) {
    let errors = refused(text);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    let error = errors[0].clone();
    assert_eq!(error.file, "my.toml");
    (
        format!("{}:{}: {}", error.line, error.column, error.message),
        error,
    )
}

/// [`LINK`] with `line` in place of its line that starts with the same key; added if there is none.
pub(crate) fn link_with(line: &str) -> String {
    let key = line.split(' ').next().expect("a key");
    let mut is_replaced = false;
    let mut text: String = LINK
        .lines()
        .map(|old| {
            let is_same = old.split(' ').next() == Some(key);
            is_replaced |= is_same;
            format!("{}\n", if is_same { line } else { old })
        })
        .collect();
    if !is_replaced {
        text += &format!("{line}\n");
    }
    text
}

#[track_caller]
fn link_mistake(line: &str, expected: &str) -> ScenarioError {
    let (found, error) = only(&link_with(line));
    assert_eq!(found, expected);
    error
}

#[track_caller]
fn added_mistake(added: &str, expected: &str) -> ScenarioError {
    let (found, error) = only(&format!("{LINK}{added}\n"));
    assert_eq!(found, expected);
    error
}

#[test]
fn an_error_reads_like_a_compiler_s() {
    let error = link_mistake("dealy = \"1 ms\"", "7:1: unknown key `dealy`");
    assert_eq!(
        error.render(),
        "error: unknown key `dealy`\n --> my.toml:7:1\n  |\n7 | dealy = \"1 ms\"\n  | ^^^^^\n  \
         = help: did you mean `delay`?\n  = expected `from`, `to`, `rate`, `delay`, `jitter`, `keeps-order`, \
         `changes`, \
         `framing`, `queue`, `loss` or `reverse`"
    );
    assert_eq!(error.to_string(), "my.toml:7:1: unknown key `dealy`");
}

#[test]
fn values_of_one_table_that_break_their_order_are_told_together() {
    let late = "rate = { steps = [[\"1 s\", \"1 Mbit/s\"]] }";
    let text = format!("{}\nloss = {{ arrivals = [2, 1] }}\n", link_with(late));
    let messages = refused(&text).into_iter().map(|error| error.message);
    assert_eq!(
        messages.collect::<Vec<_>>(),
        ["the first step starts late", "1 comes after 2"]
    );
}

#[test]
fn several_mistakes_come_at_once_sorted_by_place() {
    let text = r#"
durration = "10 s"
[link.radio]
from = "server"
to = "client"
rate = "20 ms"
delay = 20
[flow.bulk]
from = "server"
to = "clinet"
congestion-control = "cubik"
"#;
    let found: Vec<String> = refused(text).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "my.toml:1:1: missing key `duration`",
            "my.toml:2:1: unknown key `durration`",
            "my.toml:6:8: expected a rate such as \"20 Mbit/s\", \"unlimited\" or a table with \
             `steps`, `off`, `trace`, `series` or `radio`, found \"20 ms\", which is a time",
            "my.toml:7:9: expected a time such as \"20 ms\" or a table with `steps` or `series`, found the number 20 without a unit",
            "my.toml:10:6: no node is called `clinet`",
            "my.toml:11:22: unknown congestion control `cubik`",
        ]
    );
}

#[test]
fn a_wrong_unit_says_what_was_expected() {
    let error = link_mistake(
        "delay = \"20 Mbit/s\"",
        "6:9: expected a time such as \"20 ms\" or a table with `steps` or `series`, found \"20 Mbit/s\", which is a rate",
    );
    assert_eq!(
        error.expected.as_deref(),
        Some("a time such as \"20 ms\" or a table with `steps` or `series`")
    );
    let error = link_mistake(
        "delay = \"20 msec\"",
        "6:9: expected a time such as \"20 ms\" or a table with `steps` or `series`, found \"20 msec\": unknown unit `msec`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("\"20 ms\""));
    let (_, error) = only(&link_with("rate = \"20 Mbps\""));
    assert_eq!(error.suggestion.as_deref(), Some("\"20 Mbit/s\""));
    let (_, error) = only(&link_with("rate = \"unlimted\""));
    assert_eq!(error.suggestion.as_deref(), Some("\"unlimited\""));
}

#[test]
fn a_number_without_a_unit_gets_the_units() {
    for bare in ["delay = 20", "delay = \"20\"", "delay = 2.5"] {
        let (found, error) = only(&link_with(bare));
        assert!(found.ends_with("without a unit"), "{found}");
        assert_eq!(
            error.expected.as_deref(),
            Some("a string of a number and a unit: ns, us, ms, s, min")
        );
    }
}

#[test]
fn values_out_of_range_are_refused() {
    for (line, expected) in [
        (
            "rate = \"0 bit/s\"",
            "5:8: expected a rate greater than 0 and at most 10 Tbit/s, found \"0 bit/s\"",
        ),
        (
            "rate = \"-1 Mbit/s\"",
            "5:8: expected a rate greater than 0 and at most 10 Tbit/s, found \"-1 Mbit/s\"",
        ),
        (
            "rate = \"11 Tbit/s\"",
            "5:8: expected a rate greater than 0 and at most 10 Tbit/s, found \"11 Tbit/s\"",
        ),
        (
            "duration = \"0 s\"",
            "1:12: expected a time greater than 0 and at most 1000000 s, found \"0 s\"",
        ),
        (
            "duration = \"1000001 s\"",
            "1:12: expected a time greater than 0 and at most 1000000 s, found \"1000001 s\"",
        ),
        (
            "queue = { limit = \"2 TB\" }",
            "7:19: expected a size greater than 0 and at most 1 TB, found \"2 TB\"",
        ),
        (
            "loss = { probability = 1.5 }",
            "7:24: expected a number from 0 to 1, found the number 1.5",
        ),
        (
            "loss = { probability = -0.1 }",
            "7:24: expected a number from 0 to 1, found the number -0.1",
        ),
        (
            "loss = { probability = nan }",
            "7:24: expected a number from 0 to 1, found the number NaN",
        ),
        (
            "loss = { probability = inf }",
            "7:24: expected a number from 0 to 1, found the number inf",
        ),
        (
            "delay = \"1e400 s\"",
            "6:9: expected a time such as \"20 ms\" or a table with `steps` or `series`, found \"1e400 s\", which is too large",
        ),
        (
            "jitter = \"inf s\"",
            "7:10: expected a time such as \"20 ms\", found \"inf s\"",
        ),
    ] {
        link_mistake(line, expected);
    }
    let (found, _) = only(&format!("seed = -1\n{LINK}"));
    assert_eq!(
        found,
        "1:8: expected a whole number from 0 to 9223372036854775807, found the number -1"
    );
    let (found, _) = only(&format!(
        "seed = 99999999999999999999999999999999999999999\n{LINK}"
    ));
    assert_eq!(found, "1:8: expected a whole number, found the number inf");
}

#[test]
fn values_of_another_kind_are_refused() {
    link_mistake("from = 3", "3:8: expected a name, found the number 3");
    link_mistake(
        "queue = \"2000 packets\"",
        "7:9: expected a table with `limit`, `counts-delay-line` or `discipline`, found \"2000 packets\"",
    );
    link_mistake("from = \"a b\"", "3:8: `a b` is not a name");
    link_mistake(
        "queue = { counts-delay-line = 1 }",
        "7:31: expected true or false, found the number 1",
    );
    let (found, _) = only("duration = \"10 s\"\nlink = 3\n");
    assert_eq!(found, "2:8: expected named tables, found the number 3");
    let (found, _) = only("duration = \"10 s\"\n[link]\nfrom = \"a\"\n");
    assert_eq!(found, "3:1: `from` needs a name in front");
    let (found, _) = only("duration = \"10 s\"\n[[link]]\nfrom = \"a\"\n");
    assert_eq!(found, "2:1: expected named tables, found a list");
    let (found, _) = only("duration = 2026-11-21\n");
    assert!(
        found.starts_with("1:12: expected a time such as \"20 ms\", found a date"),
        "{found}"
    );
}

#[test]
fn tables_say_which_sorts_there_are() {
    let error = link_mistake(
        "loss = { probabilty = 0.1 }",
        "7:1: expected a table with `probability`, `gilbert-elliott` or `arrivals`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`probability`"));
    link_mistake(
        "loss = { gilbert-elliott = { to-bad = 0.1 } }",
        "7:10: missing key `to-good`",
    );
}

#[test]
fn text_that_is_no_toml_is_refused_with_its_place() {
    let (found, _) = only(&format!("{LINK}delay = \"20 ms\"\n"));
    assert_eq!(found, "7:1: duplicate key");
    let (found, _) = only(&format!("{LINK}[link.radio]\n"));
    assert_eq!(found, "7:7: duplicate key");
    let errors = refused("duration = \n[link\n");
    assert_eq!((errors[0].line, errors[0].column), (1, 12));
    assert!(errors.iter().any(|error| error.line == 2), "{errors:?}");
}

#[test]
fn names_that_refer_to_nothing_get_the_nearest() {
    let error = added_mistake(
        &FLOW.replace("client", "clinet"),
        "9:6: no node is called `clinet`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`client`"));
    assert_eq!(error.expected.as_deref(), Some("`server` or `client`"));
    let error = added_mistake(
        "[blockage.car]\nlink = \"rado\"\nschedule = { mean-clear = \"1 s\", mean-blocked = \"1 s\" }",
        "8:8: no link is called `rado`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`radio`"));
    added_mistake(
        "[probe]\ncapture = [\"srever\"]",
        "8:12: no node is called `srever`",
    );
}

#[test]
fn a_radio_capture_names_cells_and_ues() {
    let radio = "[cell.macro]\nradio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
                 channel = { path-loss = \"uma\" }\n[ue.phone]\ncell = \"macro\"\n[ue.car]\ncell = \"macro\"\ncount = 2\n";
    let error = added_mistake(
        &format!("{radio}[probe]\nradio-capture = [\"macor\"]"),
        "18:18: no cell or UE is called `macor`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`macro`"));
    let error = added_mistake(
        "[probe]\nradio-capture = [\"client\"]",
        "8:18: no cell or UE is called `client`",
    );
    assert_eq!(error.suggestion, None);
}

#[test]
fn names_outside_the_catalog_get_the_nearest() {
    for (line, message, suggestion) in [
        (
            "congestion-control = \"cubik\"",
            "10:22: unknown congestion control `cubik`",
            Some("`cubic`"),
        ),
        (
            "congestion-control = { name = \"bbr\" }",
            "10:31: unknown congestion control `bbr`",
            None,
        ),
        (
            "profile = \"linus\"",
            "10:11: unknown profile `linus`",
            Some("`linux`"),
        ),
        (
            "application = { kind = \"bulky\" }",
            "10:24: unknown application `bulky`",
            Some("`bulk`"),
        ),
        (
            "application = { size = \"1 MB\" }",
            "10:1: missing key `kind`",
            None,
        ),
        (
            "congestion-control = { name = \"cubic\", betta = 0.5 }",
            "10:40: unknown parameter of `cubic`, `betta`",
            Some("`beta`"),
        ),
        (
            "congestion-control = { name = \"cubic\", beta = 2 }",
            "10:47: expected a number from 0.1 to 0.9, found the number 2",
            None,
        ),
        (
            "application = { kind = \"transfer\", size = \"1 s\" }",
            "10:43: expected a size such as \"500 kB\", found \"1 s\"",
            None,
        ),
        (
            "tcp = { minimum-rto = 200 }",
            "10:23: expected a time such as \"20 ms\", found the number 200 without a unit",
            None,
        ),
        (
            "tcp = { undo = \"no\" }",
            "10:16: expected true or false, found \"no\"",
            None,
        ),
        (
            "tcp = { initial-window = 1.5 }",
            "10:26: expected a whole number, found the number 1.5",
            None,
        ),
        (
            "tcp = { ack = \"evry\" }",
            "10:15: expected `every` or `second`, found \"evry\"",
            Some("\"every\""),
        ),
        (
            "tcp = { rto = 1 }\nprofile = \"newreno\"",
            "10:9: unknown parameter of `newreno`, `rto`",
            None,
        ),
    ] {
        let (found, error) = only(&format!("{LINK}{FLOW}{line}\n"));
        assert_eq!(found, message);
        assert_eq!(error.suggestion.as_deref(), suggestion, "{line}");
    }
    let text = link_with("queue = { discipline = \"drop-tial\" }");
    assert_eq!(only(&text).1.suggestion.as_deref(), Some("`drop-tail`"));
}

#[test]
fn flows_need_two_nodes_and_a_way_between() {
    added_mistake(
        &FLOW.replace("client", "server"),
        "9:6: `bulk` starts and ends at the same node",
    );
    let island = "[link.far]\nfrom = \"x\"\nto = \"y\"\nrate = \"unlimited\"\ndelay = \"0 s\"\n";
    added_mistake(
        &format!("{island}{}", FLOW.replace("client", "y")),
        "14:6: no links lead from `server` to `y`",
    );
    added_mistake(
        &format!("[node.z]\n{}", FLOW.replace("client", "z")),
        "10:6: no links lead from `server` to `z`",
    );
    link_mistake(
        "to = \"server\"",
        "4:6: `radio` connects a node with itself",
    );
}

#[test]
fn names_of_counted_flows_do_not_collide() {
    let text = format!("{FLOW}count = 2\n{}", FLOW.replace("bulk", "bulk-1"));
    added_mistake(&text, "11:7: two flows are called `bulk-1`");
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
            "9:26: expected a list, each item a pair [a time such as \"20 ms\", a time such as \"20 ms\"], found a list",
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
        "11:9: a blockage by loss needs a `radio` rate, which `radio` has not in its forward direction",
    );
    let radio = "rate = { radio = { carrier = \"38 GHz\", bandwidth = \"400 MHz\", tx-power = \"23 dBm\", tx-beamwidth = \"12 deg\", rx-beamwidth = \"30 deg\", distance = \"1 m\" } }";
    let geometry = "{ blocker-width = \"4.8 m\", blocker-height = \"1.4 m\", blocker-distance = [\"0.5 m\", \"1 m\"] }";
    let text = format!(
        "{}[blockage.car]\nlink = \"radio\"\n{schedule}\ndepth = {{ geometry = {geometry} }}\n",
        link_with(radio)
    );
    assert_eq!(
        only(&text).0,
        "10:9: the blocker does not stand between transmitter and receiver"
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
        "11:14: a `hold-limit` without packets that are held",
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
        ("route = [\"secnd\"]", "no link is called `secnd`"),
        (
            "route = [\"radio\", \"second\"]",
            "the path ends at `server`",
        ),
        (
            "route = [\"radio\"]\nmultipath = { paths = [[\"radio\"]] }",
            "a `route` beside `multipath`",
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
        ("paths = [[\"radoi\"]]", "no link is called `radoi`"),
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
            "the path goes away before it comes up",
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
fn a_renamed_key_is_an_error_that_names_the_new_one() {
    for (new, old) in [
        ("[rab.third]", "[bearer.third]"),
        ("\nmac-scheduler", "\nscheduler"),
        ("uplink-mac-scheduler", "uplink-scheduler"),
        ("path-scheduler", "scheduler"),
    ] {
        let name = |key: &str| {
            key.trim()
                .trim_matches(['[', ']'])
                .split('.')
                .next()
                .map(str::to_owned)
        };
        let (new_name, old_name) = (name(new).expect("a key"), name(old).expect("a key"));
        let errors = refused(&examples::EVERYTHING.replace(new, old));
        let message = format!("`{old_name}` is called `{new_name}` now");
        let error = errors.iter().find(|error| error.message == message);
        let error = error.unwrap_or_else(|| panic!("{message}: {errors:?}"));
        assert_eq!(
            error.expected.as_deref(),
            Some(format!("`{new_name}`").as_str())
        );
    }
}

#[test]
fn a_wrong_unit_is_told_the_right_ones() {
    for rate in ["10 parsecs", "10 ms"] {
        let (_, error) = only(&link_with(&format!("rate = \"{rate}\"")));
        let expected = "one of the units bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s";
        assert_eq!(error.expected.as_deref(), Some(expected), "{rate}");
        assert!(error.render().contains(expected));
    }
}

#[test]
fn a_cell_with_a_mistake_leaves_its_ues_without_one() {
    let text = "duration = \"1 s\"\n[cell.b]\nradio = \"lte\"\ncarrier = \"2 parsecs\"\n\
                bandwidth = \"20 MHz\"\nchannel = { path-loss = \"uma\" }\n[ue.phone]\n";
    let (found, _) = only(text);
    assert!(found.starts_with("4:11: expected a frequency"), "{found}");
}

#[test]
fn a_name_where_nothing_has_one_says_what_would_have() {
    for (text, expected) in [
        (
            "duration = \"1 s\"\n[flow.x]\nfrom = \"a\"\nto = \"b\"\n",
            "a node that a link, a cell, a UE or a [node.NAME] has",
        ),
        (
            "duration = \"1 s\"\n[blockage.x]\nlink = \"a\"\n\
             schedule = { period = \"1 s\", duration = \"0.1 s\" }\n",
            "a table [link.NAME]",
        ),
    ] {
        let error = refused(text)[0].clone();
        assert_eq!(error.expected.as_deref(), Some(expected));
    }
}
