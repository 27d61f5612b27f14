//! Tests that mistakes found by a layer name their position in the scenario's text.

use crate::common::unobserved;
use fadeout_scenario::{ScenarioErrors, Source};
use fadeout_sim::{BuildError, Worlds, catalog};

fn refused(text: &str) -> (BuildError, ScenarioErrors) {
    let source = Source {
        name: "case.toml".to_owned(),
        base_dir: ".".into(),
    };
    let scenario = fadeout_scenario::parse(text, &source, &[], catalog())
        .unwrap_or_else(|errors| panic!("the reader refuses {text}\n{errors}"));
    let built = match scenario.worlds {
        fadeout_scenario::Worlds::One => unobserved(&scenario).map(drop),
        fadeout_scenario::Worlds::ByCarrier => Worlds::unobserved(&scenario).map(drop),
    };
    let error = built.expect_err(text);
    let found = fadeout_scenario::locate(text, &source, &[], catalog(), &error.findings());
    (error, found)
}

const LINK: &str = "duration = \"1 s\"\n[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";
const FLOW: &str = "[flow.f]\nfrom = \"x\"\nto = \"y\"\n";
const RADIO: &str = "duration = \"1 s\"\n[link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"1 Gbit/s\"\n\
    delay = \"5 ms\"\n[cell.base]\nradio = \"nr\"\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\n\
    channel = { path-loss = \"uma\" }\n[ue.phone]\nposition = [\"50 m\", \"0 m\"]\n";

/// A scenario that a layer refuses: the text, a part of the message, and the beginning of the wrong
/// line.
type Case = (String, &'static str, &'static str);

fn link(more: &str) -> String {
    format!("{LINK}{more}")
}

fn radio(more: &str) -> String {
    format!("{RADIO}{more}")
}

fn cases_of_the_radio() -> Vec<Case> {
    let down = "[flow.f]\nfrom = \"server\"\nto = \"phone\"\n";
    let changed = |from: &str, to: &str, more: &str| {
        assert!(RADIO.contains(from), "{from}");
        RADIO.replace(from, to) + more
    };
    vec![
        (
            changed("\"20 MHz\"", "\"17 MHz\"", down),
            "17 MHz",
            "[cell.base]",
        ),
        (
            radio("rlc = { mode = \"um\", t-reassembly = \"33 ms\" }\n"),
            "t-Reassembly",
            "rlc = ",
        ),
        (
            radio("rrc-states = {}\n[mobility-management]\n"),
            "`rrc-states`",
            "rrc-states = ",
        ),
        (
            radio(&format!(
                "{down}application = {{ kind = \"full-buffer\", size = 65507 }}\n"
            )),
            "65535 B",
            "application = ",
        ),
        (
            changed("duration", "worlds = \"by-carrier\"\nduration", down),
            "worlds: ",
            "worlds = ",
        ),
    ]
}

fn cases_of_hosts() -> Vec<Case> {
    let fast = "tcp = { fast-open = true }\n";
    let kernels = "[node.x]\nkernel = \"6.12\"\n[node.y]\nkernel = \"6.12\"\n";
    let paths = "multipath = { paths = [[\"a\"], [\"a\"]] }\n";
    vec![
        (
            link(&format!("{FLOW}[node.other]\nreceive-offload = true\n")),
            "no TCP flow begins or ends at this node",
            "receive-offload = true",
        ),
        (
            link(&format!(
                "{FLOW}application = \"packet-stream\"\n[node.y]\nreceive-delay = \"1 ms\"\n"
            )),
            "no TCP flow begins or ends at this node",
            "receive-delay",
        ),
        (
            link(&format!("{FLOW}{fast}{paths}")),
            "together with Multipath TCP",
            "tcp = { fast-open",
        ),
        (
            link(&format!("{FLOW}{fast}{kernels}")),
            "the program in a kernel connects before it writes",
            "tcp = { fast-open",
        ),
    ]
}

fn cases_of_links_and_flows() -> Vec<Case> {
    vec![
        (
            link(&format!("{FLOW}link-info = {{ link = \"phone\" }}\n{}", &RADIO[RADIO.find("[link.core]").unwrap_or(0)..])),
            "does not cross",
            "link-info = ",
        ),
        (
            link(&format!("{FLOW}application = \"packet-stream\"\ncongestion-control = \"cubic\"\n")),
            "UDP datagrams",
            "congestion-control = ",
        ),
        (
            link(&format!("{FLOW}tcp = {{ outage-response = \"freeze\" }}\n")),
            "never told of an outage",
            "tcp = ",
        ),
        (
            link(&format!("{FLOW}[node.x]\ncommand = \"true\"\n")),
            "`command` needs a `kernel`",
            "command = ",
        ),
        (
            link(&format!("{FLOW}link-info = {{ link = \"a\", rates = true }}\n")),
            "`link-info.rates`",
            "link-info = ",
        ),
        (
            "duration = \"1 s\"\n[rab.third]\nfrom = \"x\"\nto = \"y\"\ntechnology = { name = \"hspa\", category = 11 }\n[flow.f]\nfrom = \"x\"\nto = \"y\"\n".to_owned(),
            "category is 11",
            "technology = ",
        ),
        (
            link(&format!("{FLOW}[blockage.b]\nlink = \"a\"\nschedule = {{ intervals = [[\"0.1 s\", \"0.2 s\"]] }}\n[blockage.c]\nlink = \"a\"\nschedule = {{ intervals = [[\"0.5 s\", \"0.6 s\"]] }}\neffect = \"lost\"\n")),
            "a different effect",
            "[blockage.c]",
        ),
    ]
}

#[test]
fn every_refusal_of_a_layer_is_at_its_line() {
    let mut wrong = Vec::new();
    let cases = [
        cases_of_the_radio(),
        cases_of_links_and_flows(),
        cases_of_hosts(),
    ];
    for (text, message, line) in cases.concat() {
        let (error, found) = refused(&text);
        let one = &found.errors[0];
        let at = text.lines().nth(one.line - 1).unwrap_or("");
        if !error.to_string().contains(message) || !at.starts_with(line) {
            wrong.push(format!(
                "{error} at {}:{}: {at:?}, not {line:?}",
                one.line, one.column
            ));
        }
        assert_eq!(found.errors.len(), error.findings().len());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn mistakes_in_several_tables_are_told_at_once() {
    let text = RADIO.replace("\"20 MHz\"", "\"17 MHz\"")
        + "[cell.other]\nradio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"19 MHz\"\nchannel = { path-loss = \"uma\" }\n";
    let (error, found) = refused(&text);
    assert_eq!(found.errors.len(), 2, "{error}");
    assert!(found.errors[0].message.contains("17 MHz"), "{found}");
    assert!(found.errors[1].message.contains("19 MHz"), "{found}");
    assert!(found.errors[0].line < found.errors[1].line);
}
