//! Tests of accepted and refused settings of 2G and 3G radio access bearers.

use super::*;
use examples::EVERYTHING;
use fadeout_core::{Bytes, Rate, Span};
use fadeout_scenario::{Hop, Loss, Medium, QueueLimit, RateModel};

/// Scenario with a server, a base station and a phone behind a bearer, to which tests add tables.
const RAB: &str = r#"duration = "10 s"
[link.core]
from = "server"
to = "node-b"
rate = "1 Gbit/s"
delay = "1 ms"
[rab.third]
from = "node-b"
to = "phone"
technology = "hspa"
"#;

#[test]
fn a_hop_says_whether_it_is_a_link_a_bearer_or_one_of_a_ue() {
    let text = format!(
        "{RAB}[cell.macro]\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
         channel = {{ path-loss = \"umi\" }}\n[ue.lte]\nnode = \"phone\"\n\
         [link.x2]\nfrom = \"server\"\nto = \"macro\"\nrate = \"1 Gbit/s\"\n\
         delay = \"1 ms\"\n[flow.both]\nfrom = \"server\"\nto = \"phone\"\n\
         multipath = {{ paths = [[\"x2\", \"lte\"], [\"core\", \"third\"]] }}\n"
    );
    let scenario = accepted(&text);
    let multipath = scenario.flows[0].multipath.as_ref().expect("given");
    let hops: Vec<_> = multipath.paths.iter().map(|path| &path.hops[..]).collect();
    let forward = |medium| Hop {
        medium,
        is_reverse: false,
    };
    let lte = [Medium::Link(1), Medium::RadioBearer(0)].map(forward);
    let third = [Medium::Link(0), Medium::Rab(0)].map(forward);
    assert_eq!(hops, [&lte[..], &third[..]]);
    assert_eq!(scenario.medium_name(Medium::Link(1)), "x2");
    assert_eq!(scenario.medium_name(Medium::Rab(0)), "third");
    assert_eq!(scenario.medium_name(Medium::RadioBearer(0)), "lte");
}

#[test]
fn a_bearer_has_what_the_file_says_of_it_and_the_rest_is_the_technology_s() {
    let scenario = accepted(EVERYTHING);
    let bearer = |name| {
        let mut bearers = scenario.rabs.iter();
        bearers.find(|one| one.name == name).expect("a bearer")
    };
    let third = bearer("third");
    assert_eq!(third.technology.name, "hspa");
    assert_eq!(third.technology.parameters.number("sinr", 0.0), 3.0);
    assert!(matches!(third.downlink.rate, Some(RateModel::Steps { .. })));
    assert_eq!(
        third.downlink.queue.limit,
        Some(QueueLimit::Bytes(Bytes(100_000)))
    );
    assert_eq!(
        third.downlink.loss,
        Some(Loss::Independent { probability: 0.001 })
    );
    let slow = RateModel::Constant(Rate::from_bits_per_sec(64_000));
    assert_eq!(third.uplink.rate, Some(slow));
    assert_eq!(
        third.uplink.queue.limit,
        Some(QueueLimit::Time(Span::from_secs(1)))
    );
    let recorded = bearer("recorded");
    assert_eq!(
        (&recorded.uplink.rate, recorded.uplink.queue.limit),
        (&None, None)
    );
    assert_eq!(recorded.uplink.queue.discipline.name, "drop-tail");
    let tunnel = scenario.blockages.iter().find(|one| one.name == "tunnel");
    let hit = tunnel.expect("a blockage").medium;
    assert_eq!(scenario.medium_name(hit), "third");
}

#[test]
fn mistakes_are_named() {
    for (from, to, message) in [
        (
            "\"hspa\"",
            "\"hspda\"",
            "unknown radio access bearer `hspda`",
        ),
        (
            "\"hspa\"",
            "{ name = \"hspa\", snir = 3 }",
            "unknown parameter of `hspa`, `snir`",
        ),
        ("technology = \"hspa\"\n", "", "missing key `technology`"),
        (
            "to = \"phone\"",
            "to = \"node-b\"",
            "`third` connects a node with itself",
        ),
        (
            "[rab.third]",
            "[rab.core]",
            "a link and a RAB have the same name `core`",
        ),
    ] {
        let errors = refused(&RAB.replace(from, to));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].message, message);
    }
    let errors = refused(&RAB.replace("\"hspa\"", "\"hspda\""));
    assert_eq!(errors[0].suggestion.as_deref(), Some("`hspa`"));
    for (added, message) in [
        (
            "downlink = { rate = \"0 bit/s\" }",
            "expected a rate greater than 0 and at most 10 Tbit/s, found \"0 bit/s\"",
        ),
        (
            "uplink = { rate = { steps = [[\"0 s\", \"0 bit/s\"]] } }",
            "the rate is never above zero",
        ),
        (
            "[blockage.wall]\nlink = \"third\"\nschedule = { intervals = [[\"1 s\", \"2 s\"]] }\n\
             depth = { loss = \"20 dB\" }",
            "a blockage by loss or geometry of a radio access bearer, which has no link budget",
        ),
    ] {
        let errors = refused(&format!("{RAB}{added}\n"));
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0].message, message);
    }
    // The rate of a bearer cannot come from a link budget, so this is a mistake.
    let budget = "downlink = { rate = { radio = { carrier = \"38 GHz\" } } }";
    let errors = refused(&format!("{RAB}{budget}\n"));
    assert!(
        errors[0].message.contains("`steps`, `off` or `trace`"),
        "{errors:?}"
    );
}

#[test]
fn a_limit_in_round_trips_is_that_of_a_link_and_more_than_nothing() {
    let leaving = |from: &str, to: &str, limit: &str| {
        format!(
            "{RAB}[link.far]\nfrom = \"enb\"\nto = \"phone\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
             [link.x]\nfrom = \"node-b\"\nto = \"enb\"\nrate = \"1 Mbit/s\"\ndelay = \"0 s\"\n\
             [flow.down]\nfrom = \"server\"\nto = \"phone\"\n\
             [handover.away]\nfrom = \"{from}\"\nto = \"{to}\"\nat = \"1 s\"\nsource-limit = {limit}\n"
        )
    };
    let scenario = accepted(&leaving("far", "third", "1.5"));
    assert_eq!(scenario.handovers[0].source_limit, Some(1.5));
    let mistakes = refused(&leaving("third", "far", "1.5"));
    let (message, expected) = (&mistakes[0].message, format!("{:?}", mistakes[0].expected));
    assert_eq!(message, "a limit in round trips for a radio access bearer");
    assert!(expected.contains("`limit` of the [rab]"), "{expected}");
    for limit in ["0", "-1", "2e6", "\"1 s\""] {
        let mistakes = refused(&leaving("far", "third", limit));
        let named = mistakes
            .iter()
            .any(|it| format!("{it:?}").contains("source-limit"));
        assert!(named, "{limit}: {mistakes:?}");
    }
}
