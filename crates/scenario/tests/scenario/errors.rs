//! Tests of each class of mistake. They check the place, the message and the suggestion.

mod relations;
mod vehicles;

use super::*;
use fadeout_scenario::{Hop, Medium, toml_from_json};

/// Returns the only mistake in `text`, as the text `line:column: message` and as a value.
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

/// Returns [`LINK`] with `line` in place of the line with the same key. The line is added if
/// [`LINK`] lacks the key.
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
fn a_wrong_name_of_a_required_key_is_one_mistake() {
    for wrong in ["frequency", "carier"] {
        let rest = "bandwidth = \"20 MHz\"\nchannel.path-loss = \"uma\"\n";
        let cell = format!("[cell.base]\n{wrong} = \"2 GHz\"\n{rest}");
        let (found, error) = only(&format!("{LINK}{cell}"));
        assert_eq!(found, format!("8:1: unknown key `{wrong}`"));
        assert_eq!(error.suggestion.as_deref(), Some("`carrier`"));
    }
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
            "my.toml:2:1: unknown key `durration`",
            "my.toml:6:8: expected a rate such as \"20 Mbit/s\", \"unlimited\" or a table with \
             `steps`, `off`, `trace`, `series`, `measurement` or `radio`, found \"20 ms\", which is a time",
            "my.toml:7:9: expected a time such as \"20 ms\" or a table with `steps`, `series` or `measurement`, found the number 20 without a unit",
            "my.toml:10:6: there is no node `clinet`",
            "my.toml:11:22: unknown congestion control `cubik`",
        ]
    );
}

#[test]
fn a_wrong_unit_says_what_was_expected() {
    let error = link_mistake(
        "delay = \"20 Mbit/s\"",
        "6:9: expected a time such as \"20 ms\" or a table with `steps`, `series` or `measurement`, found \"20 Mbit/s\", which is a rate",
    );
    assert_eq!(
        error.expected.as_deref(),
        Some("one of the units ns, us, ms, s, min")
    );
    let error = link_mistake(
        "delay = \"20 msec\"",
        "6:9: expected a time such as \"20 ms\" or a table with `steps`, `series` or `measurement`, found \"20 msec\": unknown unit `msec`",
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
            "1:12: expected a time from 1 us to 1000000 s, found \"0 s\"",
        ),
        (
            "duration = \"1000001 s\"",
            "1:12: expected a time from 1 us to 1000000 s, found \"1000001 s\"",
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
            "6:9: expected a time such as \"20 ms\" or a table with `steps`, `series` or `measurement`, found \"1e400 s\", which is too large",
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
        "7:1: expected a table with `probability`, `steps`, `series`, `measurement`, \
         `gilbert-elliott` or `arrivals`",
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
    assert_eq!(found, "7:1: `delay` stands twice, first in line 6");
    let (found, _) = only(&format!("{LINK}[link.radio]\n"));
    assert_eq!(
        found,
        "7:7: the table [link.radio] stands twice, first in line 2"
    );
    let errors = refused("duration = \n[link\n");
    assert_eq!((errors[0].line, errors[0].column), (1, 12));
    assert!(errors.iter().any(|error| error.line == 2), "{errors:?}");
}

#[test]
fn names_that_refer_to_nothing_get_the_nearest() {
    let error = added_mistake(
        &FLOW.replace("client", "clinet"),
        "9:6: there is no node `clinet`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`client`"));
    assert_eq!(error.expected.as_deref(), Some("`server` or `client`"));
    let error = added_mistake(
        "[blockage.car]\nlink = \"rado\"\nschedule = { mean-clear = \"1 s\", mean-blocked = \"1 s\" }",
        "8:8: there is no link `rado`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`radio`"));
    added_mistake(
        "[probe]\ncapture = [\"srever\"]",
        "8:12: there is no node `srever`",
    );
}

#[test]
fn a_radio_capture_names_cells_and_ues() {
    let radio = "[cell.macro]\nradio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"10 MHz\"\n\
                 channel = { path-loss = \"uma\" }\n[ue.phone]\ncell = \"macro\"\n[ue.car]\ncell = \"macro\"\ncount = 2\n";
    let error = added_mistake(
        &format!("{radio}[probe]\nradio-capture = [\"macor\"]"),
        "18:18: there is no cell or UE `macor`",
    );
    assert_eq!(error.suggestion.as_deref(), Some("`macro`"));
    let error = added_mistake(
        "[probe]\nradio-capture = [\"client\"]",
        "8:18: there is no cell or UE `client`",
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
            "a node of a link, a cell, a UE or a table [node.NAME]",
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
