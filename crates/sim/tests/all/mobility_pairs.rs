//! Tests of each pair of mobility features in a scenario. A pair is refused with its position. A
//! phone with an allowed pair changes its cell, and loses no packet without a cause.

use crate::common::rows::Rows;
use crate::common::{errors_of, parse, run_with, unobserved};
use fadeout_core::{RadioDropCause, RrcEvent};
use fadeout_scenario::Source;
use fadeout_sim::catalog;

/// Parts of a scenario that a feature adds.
#[derive(Clone, Copy)]
struct Feature {
    name: &'static str,
    /// Lines of the table of the phone.
    phone: &'static str,
    /// Lines of the table of mobility management.
    management: &'static str,
    /// Further tables.
    tables: &'static str,
    /// True if one base station has all cells.
    has_one_station: bool,
}

const CONDITION: &str = "conditions = [{ kind = \"a3\", offset = \"1 dB\", filter = 0, \
                         time-to-trigger = \"40 ms\" }]\n";

/// A second cell of each site, which may be a secondary cell.
const SECOND: &str = "[cell.second]\nnode = \"west\"\nposition = [\"0 m\", \"0 m\"]\nradio = \"nr\"\n\
                      carrier = \"4.7 GHz\"\nbandwidth = \"20 MHz\"\n\
                      channel = { path-loss = \"umi\" }\n";

/// A cell of a secondary node.
const SMALL: &str = "[link.to-small]\nfrom = \"west\"\nto = \"small\"\nrate = \"1 Gbit/s\"\n\
                     delay = \"2 ms\"\n\
                     [cell.small]\nposition = [\"60 m\", \"10 m\"]\nradio = \"nr\"\n\
                     carrier = \"4.7 GHz\"\nbandwidth = \"20 MHz\"\n\
                     channel = { path-loss = \"umi\" }\n";

fn features() -> Vec<Feature> {
    let of = |name, phone, management, tables| Feature {
        name,
        phone,
        management,
        tables,
        has_one_station: false,
    };
    let conditional = ["procedure = \"conditional\"\n", CONDITION].concat();
    let conditional: &'static str = conditional.leak();
    let node = [
        SMALL,
        "[mobility-management.secondary-node]\nevents = [{ kind = \"a4\", threshold = \"-105 dBm\" }, \
         { kind = \"a2\", threshold = \"-115 dBm\" }]\n",
    ];
    let node: &'static str = node.concat().leak();
    vec![
        of("conditional", "", conditional, ""),
        of("daps", "", "procedure = \"daps\"\n", ""),
        Feature {
            has_one_station: true,
            ..of("ltm", "", "procedure = \"ltm\"\n", "")
        },
        Feature {
            has_one_station: true,
            ..of("rach-less", "", "rach-less = \"zero\"\n", "")
        },
        of("gaps", "", "measurement-gap-period = \"40 ms\"\n", SECOND),
        of(
            "beam-failure",
            "",
            "beam-failure-instance-max-count = 4\nbeam-failure-detection-timer = 3\n",
            "",
        ),
        of("bicasting", "", "data = \"bicasting\"\n", ""),
        of("links", "", "signalling = \"links\"\n", ""),
        of("attach", "attach-at = \"100 ms\"\n", "", ""),
        of(
            "rrc-states",
            "rrc-states = { inactivity = \"80 ms\" }\n",
            "",
            "",
        ),
        of("unacknowledged", "rlc = { mode = \"um\" }\n", "", ""),
        of(
            "aggregation",
            "secondary-cells = [\"second\"]\n",
            "",
            SECOND,
        ),
        of(
            "carrier-duplication",
            "secondary-cells = [\"second\"]\nsecondary-uplink = true\n\
             split = { duplication = \"both\", carriers = [\"second\"] }\n",
            "",
            SECOND,
        ),
        of("dual", "pscell = \"small\"\nsplit = {}\n", "", SMALL),
        of(
            "duplication",
            "pscell = \"small\"\nsplit = { duplication = \"both\" }\n",
            "",
            SMALL,
        ),
        of("secondary-node", "split = {}\n", "", node),
    ]
}

/// Returns the keys of some lines.
fn keys(lines: &str) -> impl Iterator<Item = &str> {
    lines.lines().filter_map(|line| line.split(" = ").next())
}

/// Returns the scenario of two features. `None` if both set one key, so that no file has both.
fn scenario(one: Feature, other: Feature) -> Option<String> {
    let shares = |one: &str, other: &str| keys(one).any(|key| keys(other).any(|it| it == key));
    if shares(one.phone, other.phone) || shares(one.management, other.management) {
        return None;
    }
    let has_one_station = one.has_one_station || other.has_one_station;
    let east = if has_one_station { "west" } else { "east" };
    let cell = |name: &str, node: &str, x: u32| {
        format!(
            "[cell.{name}]\nnode = \"{node}\"\nposition = [\"{x} m\", \"0 m\"]\nradio = \"nr\"\n\
             carrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\nchannel = {{ path-loss = \"umi\" }}\n"
        )
    };
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Gbit/s\"\n\
             delay = \"2 ms\"\n"
        )
    };
    let begins = match one.name == "attach" || other.name == "attach" {
        true => "",
        false => "cell = \"west\"\n",
    };
    let tables = match one.tables.starts_with(other.tables) {
        true => one.tables.to_owned(),
        false => match other.tables.starts_with(one.tables) {
            true => other.tables.to_owned(),
            // Two small cells on one carrier would be one too many, so the second has another.
            false => {
                let other = other.tables.replace("4.7 GHz", "2.6 GHz");
                format!("{}{other}", one.tables)
            }
        },
    };
    let mut links = link("core-west", "core", "west");
    if !has_one_station {
        links += &link("core-east", "core", "east");
        links += &link("between", "west", "east");
        if tables.contains("[cell.small]") {
            links += &link("small-east", "east", "small");
        }
    }
    Some(
        [
            "duration = \"2 s\"\n".to_owned(),
            links,
            cell("west", "west", 0),
            cell("east", east, 120),
            format!(
                "[ue.phone]\n{begins}position = [\"40 m\", \"20 m\"]\n\
                 mobility = {{ model = \"line\", x-speed = 40 }}\n{}{}",
                one.phone, other.phone
            ),
            format!(
                "[mobility-management]\ncore = \"core\"\nmeasurement-period = \"40 ms\"\n\
                 events = [{{ kind = \"a3\", offset = \"-3 dB\", time-to-trigger = \"0 ms\", \
                 filter = 0 }}]\n{}{}",
                one.management, other.management
            ),
            tables,
            "[flow.down]\nfrom = \"core\"\nto = \"phone\"\napplication = { kind = \"packet-stream\", \
             size = \"800 B\", rate = \"1 Mbit/s\" }\n"
                .to_owned(),
        ]
        .concat(),
    )
}

/// Returns the errors of a scenario. `None` if it makes a world.
fn refusal(text: &str) -> Option<String> {
    let source = Source {
        name: "test".to_owned(),
        base_dir: ".".into(),
    };
    let read = fadeout_scenario::parse(text, &source, &[], catalog());
    let is_refused = read.map_or(true, |scenario| unobserved(&scenario).is_err());
    is_refused.then(|| errors_of(text))
}

/// Returns all pairs of features that a file may have, with their scenarios.
fn pairs() -> impl Iterator<Item = ([Feature; 2], String)> {
    let all = features();
    let count = all.len();
    let pairs = (0..count).flat_map(move |one| (one + 1..count).map(move |other| [one, other]));
    pairs.filter_map(move |pair| {
        let [one, other] = pair.map(|place| all[place]);
        Some(([one, other], scenario(one, other)?))
    })
}

/// Pairs that a scenario may not have.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "conditional",
        &[
            "rach-less",
            "bicasting",
            "dual",
            "duplication",
            "secondary-node",
        ],
    ),
    (
        "daps",
        &[
            "rach-less",
            "bicasting",
            "aggregation",
            "dual",
            "duplication",
            "secondary-node",
        ],
    ),
    (
        "ltm",
        &[
            "rach-less",
            "bicasting",
            "dual",
            "duplication",
            "secondary-node",
        ],
    ),
    ("rach-less", &["secondary-node"]),
    ("gaps", &["dual", "duplication", "secondary-node"]),
    (
        "attach",
        &["aggregation", "dual", "duplication", "secondary-node"],
    ),
    ("unacknowledged", &["dual", "duplication", "secondary-node"]),
    ("aggregation", &["secondary-node"]),
];

/// Features that no scenario may have together with mobility management.
const ALONE: [&str; 2] = ["rrc-states", "carrier-duplication"];

fn is_refused(pair: [Feature; 2]) -> bool {
    let [one, other] = pair.map(|feature| feature.name);
    if ALONE.contains(&one) || ALONE.contains(&other) {
        return true;
    }
    let mut refused = REFUSED.iter();
    refused.any(|(name, others)| {
        *name == one && others.contains(&other) || *name == other && others.contains(&one)
    })
}

/// Returns true if a message has a position, and the position is not that of the phone's motion.
fn has_position(message: &str, text: &str) -> bool {
    let place = message.split("test:").nth(1).unwrap_or_default();
    let line = place.split(':').next().and_then(|line| line.parse().ok());
    let found = line.and_then(|line: usize| text.lines().nth(line - 1));
    found.is_some_and(|line| !line.starts_with("mobility = "))
}

#[test]
fn each_refused_pair_has_a_position_and_each_other_pair_makes_a_world() {
    let mut wrong = Vec::new();
    for (pair, text) in pairs() {
        let names = pair.map(|feature| feature.name);
        match (is_refused(pair), refusal(&text)) {
            (false, None) => {}
            (true, Some(message)) if has_position(&message, &text) => {}
            (_, message) => wrong.push(format!("{names:?}: {message:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_allowed_pair_loses_a_packet_without_a_cause() {
    let mut handovers = 0;
    for (pair, text) in pairs().filter(|(pair, _)| !is_refused(*pair)) {
        let names = pair.map(|feature| feature.name);
        let (rows, delivered) = run_with(&parse(&text, ".".into(), &[]), Rows::default());
        assert!(delivered > 100, "{names:?}: {delivered} packets arrived");
        handovers += rows.handovers.len();
        let has = |name| names.contains(&name);
        let unknown = rows.drops.iter().find(|row| match row.cause {
            RadioDropCause::NotAttached => !has("attach"),
            _ if rows.count(RrcEvent::Released) > 0 => false,
            RadioDropCause::Handover => !has("bicasting") && !has("unacknowledged"),
            _ => !has("unacknowledged"),
        });
        assert_eq!(unknown, None, "{names:?}");
    }
    assert!(handovers > 50, "{handovers} changes of cell");
}
