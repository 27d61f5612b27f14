//! Tests of accepted and refused settings of cells and UEs.

use super::*;
use fadeout_core::registry::Parameters;
use fadeout_core::{Dbm, Decibel, NodeId, Point, Span};
use fadeout_scenario::{ExecutionCondition, Medium, Movement};

/// Scenario with a server, a base station and a cell, to which tests add UEs.
const CELL: &str = r#"duration = "10 s"
[link.core]
from = "server"
to = "macro"
rate = "10 Gbit/s"
delay = "1 ms"
[cell.macro]
carrier = "2 GHz"
bandwidth = "20 MHz"
channel = { path-loss = "umi" }
"#;

fn only(text: &str) -> String {
    let errors = refused(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].message.clone()
}

#[test]
fn a_ue_of_which_nothing_is_said_names_no_cell_and_stands_at_its_origin() {
    let text = format!("{CELL}[ue.phone]\n[flow.bulk]\nfrom = \"server\"\nto = \"phone\"\n");
    let scenario = accepted(&text);
    assert_eq!(scenario.ues[0].cell, None);
    assert_eq!(scenario.ues[0].position, Point::new(0.0, 0.0, 1.5));
}

#[test]
fn a_key_of_a_part_of_a_layer_has_the_default_of_the_catalog() {
    let scenario = accepted(&format!("{CELL}[ue.phone]\n"));
    let channel = &scenario.cells[0].channel;
    assert_eq!(channel.beam_switching_delay, Span::from_millis(7));
    // In the channel crate this parameter is a plain number. The catalog contains its unit.
    assert_eq!(channel.beam_failure_threshold, Decibel(10.0));
    let schema = fadeout_scenario::schema(&catalog::CATALOG);
    let cell = &schema["properties"]["cell"]["additionalProperties"]["properties"];
    let keys = &cell["channel"]["properties"];
    assert_eq!(keys["beam-switching-delay"]["default"], "7 ms");
    assert_eq!(keys["beam-failure-threshold"]["default"], "10 dB");
}

/// Returns a UE in `macro` with the secondary cells `cells`. Each other cell has its own carrier,
/// and there is one cell for each mistake under test.
fn aggregated(cells: &str) -> String {
    let cell = |name: &str, radio: &str, carrier: &str| {
        format!(
            "[cell.{name}]\nnode = \"macro\"\nradio = \"{radio}\"\ncarrier = \"{carrier}\"\n\
             bandwidth = \"20 MHz\"\nchannel = {{ path-loss = \"umi\" }}\n"
        )
    };
    let others = [
        cell("second", "lte", "1.8 GHz"),
        cell("third", "lte", "2.6 GHz"),
        cell("same", "lte", "2 GHz"),
        cell("other", "nr", "3.5 GHz"),
    ];
    let first = CELL.replace("carrier", "radio = \"lte\"\ncarrier");
    format!("{first}{}[ue.phone]\n{cells}\n", others.concat())
}

#[test]
fn secondary_cells_are_on_carriers_of_their_own_and_of_one_technology() {
    let aggregated_with =
        |cells: &str| aggregated(&format!("cell = \"macro\"\nsecondary-cells = {cells}"));
    let scenario = accepted(&aggregated_with("[\"third\", \"second\"]"));
    assert_eq!(scenario.ues[0].secondary_cells, [2, 1]);
    for (cells, message) in [
        ("[\"second\", \"second\"]", "`second` is named twice"),
        ("[\"macro\"]", "`macro` is named twice"),
        ("[\"other\"]", "`other` is of another technology"),
        (
            "[\"same\"]",
            "`same` has the carrier of another cell of the UE",
        ),
    ] {
        assert_eq!(only(&aggregated_with(cells)), message);
    }
    let unknown = refused(&aggregated_with("[\"secnd\"]"));
    assert_eq!(unknown[0].suggestion.as_deref(), Some("`second`"));
    let text = aggregated("secondary-cells = [\"second\"]");
    assert_eq!(only(&text), "`secondary-cells` of a UE that names no cell");
    let text = aggregated("cell = \"macro\"\nsecondary-activation = \"9 ms\"");
    assert_eq!(
        only(&text),
        "`secondary-activation` without `secondary-cells`"
    );
    let text = aggregated("cell = \"macro\"\nsecondary-uplink = true");
    assert_eq!(only(&text), "`secondary-uplink` without `secondary-cells`");
    let scenario = accepted(&aggregated_with("[\"third\"]\nsecondary-uplink = true"));
    assert_eq!(scenario.ues[0].secondary_uplink, Some(true));
}

#[test]
fn cells_offer_secondary_ones_under_mobility_management() {
    let offering = |cells: &str, ue: &str| {
        let list = format!("secondary-cells = {cells}\n[cell.second]");
        let text = aggregated(ue).replacen("[cell.second]", &list, 1);
        format!("{text}[mobility-management]\n")
    };
    let named = "cell = \"macro\"\nsecondary-cells = [\"third\"]";
    let scenario = accepted(&offering("[\"third\", \"second\"]", named));
    assert_eq!(scenario.cells[0].secondary_cells, [2, 1]);
    assert!(scenario.cells[1].secondary_cells.is_empty());
    assert_eq!(scenario.ues[0].max_secondary_cells, None);
    let any = "max-secondary-cells = 2\nsecondary-uplink = true";
    let scenario = accepted(&offering("[\"third\"]", any));
    assert_eq!(scenario.ues[0].max_secondary_cells, Some(2));
    for (cells, message) in [
        ("[\"second\", \"second\"]", "`second` is named twice"),
        ("[\"macro\"]", "`macro` is named twice"),
        ("[\"other\"]", "`other` is of another technology"),
        ("[\"same\"]", "`same` has the carrier of this cell"),
    ] {
        assert_eq!(only(&offering(cells, any)), message);
    }
    let unknown = refused(&offering("[\"secnd\"]", any));
    assert_eq!(unknown[0].suggestion.as_deref(), Some("`second`"));
    let alone = |text: String| text.replace("[mobility-management]\n", "");
    assert_eq!(
        only(&alone(offering("[\"third\"]", named))),
        "`secondary-cells` of a cell without mobility management, where no UE gets them"
    );
    assert_eq!(
        only(&aggregated(any)),
        "`max-secondary-cells` of a UE without mobility management"
    );
    let few =
        "cell = \"macro\"\nsecondary-cells = [\"third\", \"second\"]\nmax-secondary-cells = 1";
    assert_eq!(
        only(&offering("[\"third\"]", few)),
        "2 secondary cells, more than `max-secondary-cells`"
    );
}

#[test]
fn measurement_gaps_are_those_of_the_list() {
    let scenario_with = |keys: &str| format!("{CELL}[ue.phone]\n[mobility-management]\n{keys}\n");
    let scenario = accepted(&scenario_with(
        "measurement-gap-period = \"20 ms\"\nmeasurement-gap-length = \"3.5 ms\"",
    ));
    let mobility = scenario.mobility.expect("it is on");
    assert_eq!(mobility.measurement_gap_period, Some(Span::from_millis(20)));
    assert_eq!(
        mobility.measurement_gap_length,
        Some(Span::from_micros(3500))
    );
    let refused = |keys: &str| {
        let mistakes = refused(&scenario_with(keys));
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        (mistakes[0].message.clone(), mistakes[0].expected.clone())
    };
    let (message, expected) = refused("measurement-gap-period = \"50 ms\"");
    assert_eq!(
        message,
        "`measurement-gap-period` has a value that the standard does not allow"
    );
    let expected = format!("{expected:?}");
    assert!(
        expected.contains("the nearest is \\\"40 ms\\\""),
        "{expected}"
    );
    let long = "measurement-gap-period = \"40 ms\"\nmeasurement-gap-length = \"5 ms\"";
    let (message, expected) = refused(long);
    assert_eq!(
        message,
        "`measurement-gap-length` has a value that the standard does not allow"
    );
    let expected = format!("{expected:?}");
    assert!(
        expected.contains("the nearest is \\\"5.5 ms\\\""),
        "{expected}"
    );
    let (message, _) = refused("measurement-gap-offset = \"3 ms\"");
    assert_eq!(
        message,
        "this key needs measurement gaps, but there are none"
    );
    for offset in ["40 ms", "0.5 ms"] {
        let keys =
            format!("measurement-gap-period = \"40 ms\"\nmeasurement-gap-offset = \"{offset}\"");
        let (message, _) = refused(&keys);
        assert_eq!(
            message,
            "the offset of a measurement gap is not in whole milliseconds, or not within its period"
        );
    }
}

#[test]
fn parameters_need_no_name_where_there_is_one_of_the_kind() {
    let text = format!("{CELL}[ue.phone]\npdcp = {{}}\n");
    assert_eq!(accepted(&text).ues[0].pdcp.name, "nr");
    let text = format!("{CELL}[ue.phone]\nrlc = {{}}\n");
    assert_eq!(only(&text), "missing key `mode`");
}

/// Returns the queue management of a UE's RLC: its name and its parameters.
fn aqm(line: &str, overrides: &[&str]) -> (String, Vec<String>) {
    let text = format!("{CELL}[ue.phone]\n{line}\n");
    let scenario = read(&text, overrides).unwrap_or_else(|errors| panic!("{errors}"));
    // A parameter with its default value is not stored.
    let given = scenario.ues[0].rlc.parameters.named("aqm");
    let (name, given) = given.unwrap_or(("drop-tail", Parameters::NONE));
    let given = given
        .0
        .iter()
        .map(|(key, value)| format!("{key} {value:?}"));
    (name.to_owned(), given.collect())
}

#[test]
fn a_parameter_may_be_a_name_with_parameters_of_its_own() {
    let plain = "rlc = { mode = \"am\", aqm = \"codel\" }";
    assert_eq!(aqm(plain, &[]), ("codel".to_owned(), vec![]));
    let alias = "rlc = { mode = \"am\", aqm = \"fifo\" }";
    assert_eq!(aqm(alias, &[]).0, "drop-tail");
    let codel_with = |target: &str| {
        (
            "codel".to_owned(),
            vec![format!("target Span({target} ms)")],
        )
    };
    let table = "rlc = { mode = \"am\", aqm = { name = \"codel\", target = \"7 ms\" } }";
    assert_eq!(aqm(table, &[]), codel_with("7"));
    // An override can also add a parameter to a plain name.
    assert_eq!(
        aqm(plain, &["ue.phone.rlc.aqm.target=9 ms"]),
        codel_with("9")
    );
    assert_eq!(aqm("rlc = \"am\"", &["ue.phone.rlc.aqm=codel"]).0, "codel");
}

#[test]
fn mistakes_inside_a_parameter_are_found() {
    for (aqm, message) in [
        ("\"codle\"", "unknown aqm `codle`"),
        (
            "{ name = \"codel\", targt = \"5 ms\" }",
            "unknown parameter of `codel`, `targt`",
        ),
        ("{ target = \"5 ms\" }", "missing key `name`"),
        (
            "3",
            "expected the name of an aqm, or a table with `name`, found the number 3",
        ),
        (
            "{ name = \"codel\", target = 5 }",
            "expected a time such as \"20 ms\", found the number 5 without a unit",
        ),
    ] {
        let text = format!("{CELL}[ue.phone]\nrlc = {{ mode = \"am\", aqm = {aqm} }}\n");
        assert_eq!(only(&text), message);
    }
}

#[test]
fn a_route_takes_a_bearer_of_each_ue_of_a_group() {
    let text = format!(
        "{CELL}[ue.phone]\ncount = 2\n[ue.phone.drb.voice]\nrlc = \"um\"\npriority = 1\n\
         [flow.up]\nfrom = \"phone\"\nto = \"server\"\nroute = [\"phone/voice\", \"core\"]\n"
    );
    let scenario = accepted(&text);
    let names: Vec<String> = scenario.bearers().map(|bearer| bearer.name()).collect();
    let expected = ["phone-0", "phone-1", "phone-0/voice", "phone-1/voice"];
    assert_eq!(names, expected);
    let first_hop = |flow: usize| scenario.flows[flow].route.as_ref().expect("a route")[0];
    // The two default bearers come before the other bearers in the list.
    let media = [first_hop(0).medium, first_hop(1).medium];
    assert_eq!(media, [Medium::RadioBearer(2), Medium::RadioBearer(3)]);
    let again = accepted(&fadeout_scenario::toml_from_json(&scenario.to_json()));
    assert_eq!(again.ues, scenario.ues);
    assert_eq!(again.flows, scenario.flows);
    let unknown = text.replace("phone/voice", "phone/vice");
    let error = &refused(&unknown)[0];
    assert_eq!(error.message, "there is no link `phone/vice`");
}

#[test]
fn a_count_of_ues_makes_nodes_and_flows_for_each() {
    let text = format!(
        "{CELL}[ue.phone]\ncount = 3\nspread = \"100 m\"\n\
         [flow.up]\nfrom = \"phone\"\nto = \"server\"\n"
    );
    let scenario = accepted(&text);
    let ues: Vec<&str> = scenario.ues.iter().map(|ue| ue.name.as_str()).collect();
    assert_eq!(ues, ["phone-0", "phone-1", "phone-2"]);
    let flows: Vec<(&str, NodeId)> = scenario
        .flows
        .iter()
        .map(|flow| (flow.name.as_str(), flow.from))
        .collect();
    for (number, (name, from)) in flows.into_iter().enumerate() {
        assert_eq!(name, format!("up-{number}"));
        assert_eq!(from, scenario.ues[number].node);
    }
    let center = Point::new(0.0, 0.0, 1.5);
    for ue in &scenario.ues {
        assert!(ue.position.distance_to(center) <= 100.0);
        assert!(ue.position != scenario.ues[0].position || ue.name == "phone-0");
        assert!(matches!(&ue.movement, Movement::Model(model) if model.name == "static"));
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (rest, message) in [
        ("[ue.phone]\ncell = \"marco\"", "there is no cell `marco`"),
        (
            "[ue.phone]\nnode = \"macro\"",
            "the node of `phone` is that of its own base station",
        ),
        (
            "[ue.phone]\nnode = \"mine\"\ncount = 2",
            "both `node` and `count`",
        ),
        (
            "[ue.a]\nnode = \"phone\"\n[ue.b]\nnode = \"phone\"\nheight = \"2 m\"",
            "`a` and `b` are interfaces of one node, but start or move differently",
        ),
        (
            "[ue.core]",
            "a link or RAB and a UE have the same name `core`",
        ),
        (
            "[building.mall]\ncorner = [\"0 m\", \"0 m\"]\nopposite = [\"0 m\", \"5 m\"]\n\
             height = \"5 m\"",
            "the corners of a building do not span a rectangle",
        ),
        (
            "[ue.phone]\ntrace = { file = \"trace.down\", format = \"ns-2\", id = \"0\" }\n\
             waypoints = [{ position = [\"0 m\", \"0 m\"], speed = \"1 m/s\" }]",
            "both `waypoints` and `trace`",
        ),
        (
            "[ue.a]\ncount = 2\n[ue.b]\ncount = 2\n[flow.x]\nfrom = \"a\"\nto = \"b\"",
            "a group of UEs at both ends",
        ),
    ] {
        assert_eq!(only(&format!("{CELL}{rest}\n")), message);
    }
    let lonely = "duration = \"1 s\"\n[ue.phone]\n";
    assert_eq!(only(lonely), "a UE without a cell");
}

#[test]
fn a_step_of_preambles_power_needs_a_power_to_begin_with() {
    let scenario_with = |keys: &str| format!("{CELL}[ue.phone]\n[mobility-management]\n{keys}\n");
    let step = "power-ramping-step = \"4 dB\"";
    assert_eq!(
        only(&scenario_with(step)),
        "`power-ramping-step` without `preamble-target-power`"
    );
    let both = format!("{step}\npreamble-target-power = \"-104 dBm\"");
    let mobility = accepted(&scenario_with(&both)).mobility.expect("it is on");
    assert_eq!(mobility.power_ramping_step, Some(Decibel(4.0)));
    assert_eq!(mobility.preamble_target_power, Some(Dbm(-104.0)));
}

#[test]
fn a_90th_percentile_of_the_admission_is_not_below_its_positive_median() {
    let scenario_with = |keys: &str| format!("{CELL}[ue.phone]\n[mobility-management]\n{keys}\n");
    let p90 = "admission-delay-p90 = \"9 ms\"";
    assert_eq!(
        only(&scenario_with(p90)),
        "`admission-delay-p90` is shorter than the median `admission-delay`",
        "the default median is 10 ms"
    );
    assert_eq!(
        only(&scenario_with(&format!("admission-delay = \"0 s\"\n{p90}"))),
        "`admission-delay-p90` with a median `admission-delay` of zero"
    );
    let both = format!("admission-delay = \"9 ms\"\n{p90}");
    let mobility = accepted(&scenario_with(&both)).mobility.expect("it is on");
    assert_eq!(mobility.admission_delay_p90, Some(Span::from_millis(9)));
}

#[test]
fn keys_of_beam_failure_stand_together_with_values_of_their_lists() {
    let scenario_with = |keys: &str| format!("{CELL}[ue.phone]\n[mobility-management]\n{keys}\n");
    let all = "beam-failure-instance-max-count = 8\nbeam-failure-detection-timer = 2\n\
               rsrp-threshold-ssb = \"-110 dBm\"\nbeam-failure-recovery-timer = \"150 ms\"";
    let mobility = accepted(&scenario_with(all)).mobility.expect("it is on");
    assert_eq!(mobility.beam_failure_instance_max_count, Some(8));
    assert_eq!(mobility.beam_failure_detection_timer, Some(2));
    let timer = mobility.beam_failure_recovery_timer;
    assert_eq!(timer, Some(Span::from_millis(150)));
    let none = accepted(&scenario_with("")).mobility.expect("it is on");
    assert_eq!(none.beam_failure_instance_max_count, None);
    for (keys, message, expected) in [
        (
            all.replace("count = 8", "count = 9"),
            "`beam-failure-instance-max-count` has a value that the standard does not allow",
            "the nearest is 8",
        ),
        (
            all.replace("timer = 2", "timer = 7"),
            "`beam-failure-detection-timer` has a value that the standard does not allow",
            "the nearest is 6",
        ),
        (
            all.replace("150 ms", "50 ms"),
            "`beam-failure-recovery-timer` has a value that the standard does not allow",
            "the nearest is \\\"40 ms\\\"",
        ),
        (
            "beam-failure-instance-max-count = 3".to_owned(),
            "`beam-failure-instance-max-count` without `beam-failure-detection-timer`",
            "such as 3",
        ),
        (
            "rsrp-threshold-ssb = \"-110 dBm\"".to_owned(),
            "`rsrp-threshold-ssb` without `beam-failure-instance-max-count`",
            "such as 3",
        ),
        (
            all.replace("rsrp-threshold-ssb = \"-110 dBm\"\n", ""),
            "`beam-failure-recovery-timer` without `rsrp-threshold-ssb`",
            "-110 dBm",
        ),
    ] {
        let mistakes = refused(&scenario_with(&keys));
        let [mistake] = &mistakes[..] else {
            panic!("{keys}: {mistakes:?}");
        };
        assert_eq!(mistake.message, message);
        let alternatives = format!("{:?}", mistake.expected);
        assert!(alternatives.contains(expected), "{alternatives}");
    }
}

#[test]
fn what_does_not_fit_a_ue_that_is_idle_at_the_start_is_refused() {
    let scenario_with = |keys: &str| format!("{CELL}[ue.phone]\n{keys}\n[mobility-management]\n");
    let scenario = accepted(&scenario_with(
        "attach-at = \"2 s\"\nattach-within = \"1 s\"",
    ));
    let ue = &scenario.ues[0];
    assert_eq!(
        (ue.attach_at, ue.attach_within),
        (Some(Span::from_secs(2)), Some(Span::from_secs(1)))
    );
    let idle = |keys: &str| scenario_with(&format!("attach-at = \"2 s\"\n{keys}"));
    for key in [
        "cell = \"macro\"",
        "secondary-cells = [\"macro\"]",
        "pscell = \"macro\"",
        "split = {}",
        "downlink-sinr = \"20 dB\"\nuplink-sinr = \"10 dB\"",
        "rrc-states = {}",
    ] {
        let name = key.split(' ').next().expect("a key");
        let message = format!("`{name}` of a UE that is idle at the start (`attach-at`)");
        assert_eq!(only(&idle(key)), message);
    }
    let unmanaged = format!("{CELL}[ue.phone]\nattach-at = \"2 s\"\n");
    assert_eq!(
        only(&unmanaged),
        "`attach-at` of a UE without mobility management"
    );
    assert_eq!(
        only(&scenario_with("attach-within = \"1 s\"")),
        "`attach-within` of a UE that is connected from the start"
    );
    // Only the wrong time is reported as a mistake, and not the key that depends on it.
    let negative = only(&scenario_with(
        "attach-at = \"-1 s\"\nattach-within = \"1 s\"",
    ));
    assert!(negative.contains("found \"-1 s\""), "{negative}");
}

#[test]
fn what_does_not_fit_conditional_handovers_is_refused() {
    let scenario_with = |keys: &str| format!("{CELL}[ue.phone]\n[mobility-management]\n{keys}\n");
    let conditional = |keys: &str| scenario_with(&format!("procedure = \"conditional\"\n{keys}"));
    let list = "conditions = [{ kind = \"a3\" }, { kind = \"a4\", threshold = \"-95 dBm\" }]\n";
    let scenario = accepted(&conditional(list));
    let mobility = scenario.mobility.expect("it is on");
    assert_eq!(mobility.conditions.map(|all| all.len()), Some(2));
    // Without conditions, a condition a3 with the defaults of the table is used.
    let usual = accepted(&conditional("conditions = [{ kind = \"a3\" }]"));
    let usual = usual.mobility.and_then(|it| it.conditions);
    assert_eq!(usual, Some(vec![ExecutionCondition::USUAL]));
    accepted(&conditional(""));
    for (key, text) in [
        ("max-candidates", "max-candidates = 3"),
        ("candidate-timeout", "candidate-timeout = \"3 s\""),
        ("conditional-recovery", "conditional-recovery = true"),
        ("conditions", "conditions = [{ kind = \"a3\" }]"),
    ] {
        let expected = "this key has an effect only with `procedure = \"conditional\"`";
        assert_eq!(only(&scenario_with(text)), expected, "{key}");
    }
    for (keys, message) in [
        (
            "conditions = [{ kind = \"a3\" }, { kind = \"a3\" }, { kind = \"a3\" }]",
            "more than two conditions of a handover",
        ),
        (
            "conditions = [{ kind = \"a5\", threshold = \"-95 dBm\" }]",
            "condition a5 lacks a threshold",
        ),
        (
            &format!("{list}preparation = \"s1\""),
            "conditional handovers by way of the core network",
        ),
        (
            &format!("{list}data = \"bicasting\"\ncore = \"server\""),
            "bicasting with conditional handovers, whose time the network does not know",
        ),
        (
            &format!("{list}events = [{{ kind = \"b1\", threshold = \"-95 dBm\" }}]"),
            "candidates of another generation: a conditional reconfiguration contains the target's own RRC message \
             (TS 38.331 clause 6.3.2)",
        ),
    ] {
        assert_eq!(only(&conditional(keys)), message, "{keys}");
    }
    let wrong = conditional("conditions = [{ kind = \"a6\" }]");
    assert_eq!(refused(&wrong).len(), 1);
}

#[test]
fn what_does_not_fit_a_source_that_serves_on_is_refused() {
    let daps = |keys: &str| {
        let table = "[ue.phone]\n[mobility-management]\nprocedure = \"daps\"";
        format!("{CELL}{table}\n{keys}\n")
    };
    accepted(&daps(""));
    for (keys, message) in [
        (
            "data = \"none\"",
            "in a DAPS handover the source forwards copies to the target",
        ),
        (
            "preparation = \"n2\"",
            "DAPS handovers by way of the core network",
        ),
        (
            "events = [{ kind = \"b1\", threshold = \"-95 dBm\" }]",
            "events b1 and b2 with DAPS, whose source and target are both NR cells",
        ),
        (
            "max-candidates = 3",
            "this key has an effect only with `procedure = \"conditional\"`",
        ),
    ] {
        assert_eq!(only(&daps(keys)), message, "{keys}");
    }
}

#[test]
fn levels_of_3g_stand_in_the_events_that_have_them() {
    let scenario_with = |event: &str| {
        let head = "duration = \"1 s\"\n[cell.macro]\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
                    channel = { path-loss = \"umi\" }\n[ue.phone]\n[flow.up]\nfrom = \"phone\"\nto = \"macro\"\n";
        format!("{head}[mobility-management]\nevents = [{{ {event} }}]\n")
    };
    for event in [
        "kind = \"b1\", threshold-rscp = \"-100 dBm\"",
        "kind = \"b2\", serving-threshold = \"-100 dBm\", threshold-rscp = \"-95 dBm\"",
        "kind = \"3a\", serving-threshold-rscp = \"-100 dBm\", threshold = \"-95 dBm\"",
    ] {
        let mobility = accepted(&scenario_with(event)).mobility.expect("a table");
        assert_eq!(mobility.events[0].is_to_utra(), !event.contains("3a"));
    }
    for (event, message) in [
        ("kind = \"b1\"", "event b1 lacks a threshold"),
        (
            "kind = \"3a\", threshold = \"-95 dBm\"",
            "event 3a lacks a threshold",
        ),
        (
            "kind = \"a4\", threshold-rscp = \"-95 dBm\"",
            "a threshold for 3G cells in an event without one",
        ),
        (
            "kind = \"b1\", threshold = \"-95 dBm\", threshold-rscp = \"-95 dBm\"",
            "an event with a threshold for 3G cells and one for other cells",
        ),
        (
            "kind = \"a5\", threshold = \"-95 dBm\", serving-threshold = \"-95 dBm\", serving-threshold-rscp = \"-95 dBm\"",
            "a threshold for 3G cells in an event without one",
        ),
    ] {
        assert_eq!(only(&scenario_with(event)), message, "{event}");
    }
    let near = refused(&scenario_with(
        "kind = \"b1\", threshold-rspc = \"-95 dBm\"",
    ));
    let named = |it: &ScenarioError| it.suggestion.as_deref() == Some("`threshold-rscp`");
    assert!(near.iter().any(named), "{near:?}");
}
