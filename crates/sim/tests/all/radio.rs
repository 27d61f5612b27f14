//! Tests of whole scenarios over cells, from a server through a base station to user equipment and
//! back.

use crate::common::unobserved;
use crate::common::{end, parse, run_to, world};
use serde_json::Value;

/// Returns a server, a core link and a cell. Tests add UEs and flows.
fn scenario(cell: &str, rest: &str) -> String {
    format!(
        "duration = \"2 s\"\n\
         [link.core]\nfrom = \"server\"\nto = \"base\"\nrate = \"10 Gbit/s\"\ndelay = \"5 ms\"\n\
         [cell.base]\n{cell}\n{rest}\n"
    )
}

const LTE: &str = "radio = \"lte\"\ncarrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\n\
                   channel = { path-loss = \"uma\" }";
const NR: &str = "radio = \"nr\"\ncarrier = \"28 GHz\"\nbandwidth = \"400 MHz\"\n\
                  channel = { path-loss = \"umi\" }";
const DOWNLOAD: &str = "[flow.bulk]\nfrom = \"server\"\nto = \"phone\"\n";

fn summary(text: &str, overrides: &[&str]) -> Value {
    let scenario = parse(text, ".".into(), overrides);
    let mut world = world(&scenario);
    run_to(&mut world, end(&scenario));
    fadeout_sim::summary(&scenario, &world)
}

fn refused(text: &str) -> String {
    let scenario = parse(text, ".".into(), &[]);
    unobserved(&scenario)
        .err()
        .unwrap_or_else(|| panic!("accepted:\n{text}"))
        .to_string()
}

/// Returns the goodput of the flow with this number, Mbit/s.
fn goodput(summary: &Value, flow: usize) -> f64 {
    summary["flows"][flow]["goodput_mbps"]
        .as_f64()
        .expect("a rate")
}

/// A vehicle is in front of the phone from 1 to 1.5 s. The power is low, so no signal passes
/// through the vehicle.
#[test]
fn behind_a_passing_vehicle_a_reflected_path_goes_on() {
    let run = |channel: &str| {
        let channel = format!(
            "channel = {{ path-loss = \"umi\", line-of-sight = \"clear\", shadowing = false, \
             fading = \"none\", ue-antenna = {{ kind = \"beam\", width = 30, height = 30 }}, \
             beam-tracking = \"20 ms\", {channel} }}"
        );
        let cell = format!(
            "radio = \"nr\"\ncarrier = \"38 GHz\"\nbandwidth = \"400 MHz\"\nheight = \"5 m\"\n\
             tx-power = \"0 dBm\"\nantenna = {{ kind = \"beam\" }}\n{channel}"
        );
        let ue = "[ue.phone]\nposition = [\"50 m\", \"0 m\"]\nheight = \"1 m\"\n\
                  rlc = { mode = \"am\", buffer = \"20 MB\" }\n";
        let text = scenario(&cell, &format!("{ue}{DOWNLOAD}"));
        goodput(&summary(&text, &["duration=3 s"]), 0)
    };
    let vehicle = "blockage = { model = \"passing\", phase = \"fixed\", first = \"1 s\", \
                   duration = \"500 ms\", nearest = 0.5, farthest = 0.5 }";
    let (clear, blocked) = (run("oxygen = true"), run(vehicle));
    let reflected = run(&format!("{vehicle}, reflected-path = \"8 dB\""));
    // The vehicle is there for a sixth of the time, and TCP needs time to grow again.
    assert!(
        blocked < clear * 0.9 && blocked > clear * 0.6,
        "{blocked} of {clear} Mbit/s"
    );
    // The reflected path is found after at most 80 ms, and 8 dB cost less than half of the rate.
    assert!(
        reflected > blocked && reflected < clear,
        "{reflected} of {blocked} and {clear} Mbit/s"
    );
}

#[test]
fn a_given_sinr_gives_the_rate_of_its_blocks() {
    // MCS 28 with 100 resource blocks carries 75,376 bits a millisecond (TS 36.213 Table
    // 7.1.7.2.1-1).
    let cell = "radio = { kind = \"lte\", adaptation = \"fixed-mcs\", mcs = 28 }\n\
                carrier = \"2 GHz\"\nbandwidth = \"20 MHz\"\nchannel = { path-loss = \"uma\" }";
    // The buffer is larger than any window, so no packet is lost. A loss at the end would keep
    // arrived data from being delivered.
    let ue = "[ue.phone]\ndownlink-sinr = \"40 dB\"\nuplink-sinr = \"40 dB\"\n\
              rlc = { mode = \"am\", buffer = \"20 MB\" }\n";
    let text = scenario(cell, &format!("{ue}{DOWNLOAD}"));
    let rate = goodput(&summary(&text, &["duration=10 s"]), 0);
    // Payload is 1448 of 1500 bytes. RLC, MAC and PDCP headers take about 0.3 %, and slow start
    // takes the first 0.2 s.
    let most = 75.376 * 1448.0 / 1500.0;
    assert!(rate < most && rate > 0.97 * most, "{rate} of {most} Mbit/s");
}

/// Payload rate of the highest 64QAM scheme in every symbol of 264 resource blocks at 120 kHz,
/// Mbit/s. The scheme has 948/1024 of 6 bits (TS 38.214 table 5.1.3.1-1), and a millisecond has 8
/// slots.
const NR_SYMBOLS: f64 = 6.0 * 948.0 / 1024.0 * (264 * 12 * 14 * 8) as f64 / 1e3 * PAYLOAD;
/// Payload rate of MCS 28 with 100 resource blocks and one transport block a millisecond, Mbit/s
/// (TS 36.213 table 7.1.7.2.1-1).
const LTE_BLOCKS: f64 = 75.376 * PAYLOAD;
/// Payload share of a packet of 1500 bytes.
const PAYLOAD: f64 = 1448.0 / 1500.0;

#[test]
fn both_generations_and_directions_carry_what_their_resources_hold() {
    let upload = "[flow.bulk]\nfrom = \"phone\"\nto = \"server\"\n";
    for (cell, flow, (least, most)) in [
        // Slow start takes 0.2 of 5 s, and RLC, MAC and PDCP headers take 0.3 %.
        (LTE, DOWNLOAD, (0.955 * LTE_BLOCKS, LTE_BLOCKS)),
        // A round trip with request and grant is up to twice as long, and so is slow start.
        (LTE, upload, (0.917 * LTE_BLOCKS, LTE_BLOCKS)),
        // One direction is served at a time. At worst each data slot needs a slot for the
        // acknowledgments of TCP and RLC. One control symbol in each direction leaves 12 of 14.
        (NR, DOWNLOAD, (NR_SYMBOLS / 2.0, NR_SYMBOLS * 12.0 / 14.0)),
        // The grant takes a slot too, and so do acknowledgments. The downlink of acknowledgments
        // gets only the symbols that it needs (`flexible-division`). One of 14 symbols is control.
        (NR, upload, (NR_SYMBOLS / 4.0, NR_SYMBOLS * 12.0 / 14.0)),
    ] {
        let ue = "[ue.phone]\ndownlink-sinr = \"40 dB\"\nuplink-sinr = \"40 dB\"\n\
                  rlc = { mode = \"am\", buffer = \"20 MB\" }\n";
        let text = scenario(cell, &format!("{ue}{flow}"));
        let rate = goodput(&summary(&text, &["duration=5 s"]), 0);
        assert!(
            (least..most).contains(&rate),
            "{cell}\n{flow}{rate} of {least} to {most} Mbit/s"
        );
    }
}

#[test]
fn soft_states_and_values_of_the_place_reach_the_channel() {
    let cell = "radio = \"nr\"\ncarrier = \"28 GHz\"\nbandwidth = \"400 MHz\"\n\
                channel = { path-loss = \"umi\" }";
    let ue = "[ue.phone]\nposition = [\"60 m\", \"0 m\"]\n\
              mobility = { model = \"line\", y-speed = 10 }\n";
    let text = scenario(cell, &format!("{ue}{DOWNLOAD}"));
    let run = |fading: &str, given: &[&str]| {
        let fading = format!("cell.base.channel.fading={fading}");
        let overrides: Vec<&str> = [fading.as_str()]
            .into_iter()
            .chain(given.iter().copied())
            .collect();
        goodput(&summary(&text, &overrides), 0)
    };
    for (fading, given) in [
        ("rician", "cell.base.channel.k-factor=9 dB"),
        ("clusters", "cell.base.channel.k-factor=9 dB"),
        ("tdl-a", "cell.base.channel.delay-spread=100 ns"),
        ("clusters", "cell.base.channel.delay-spread=100 ns"),
        ("tdl-a", "cell.base.channel.line-of-sight=soft"),
    ] {
        let (plain, changed) = (run(fading, &[]), run(fading, &[given]));
        assert!(changed > 1.0, "{fading}, {given}: {changed} Mbit/s");
        assert_ne!(plain, changed, "{fading}, {given} changes nothing");
    }
}

#[test]
fn an_idle_crowd_costs_nothing() {
    let idle = "[ue.crowd]\ncount = 1000\nspread = \"300 m\"\n[ue.phone]\n\
                position = [\"50 m\", \"0 m\"]\n[flow.one]\nfrom = \"server\"\nto = \"phone\"\n\
                application = { kind = \"transfer\", size = \"1 kB\" }\n";
    let summary = summary(&scenario(LTE, idle), &[]);
    let events = summary["events"].as_u64().expect("a count");
    assert!(events < 200, "{events} events");
}

#[test]
fn a_node_with_two_radio_interfaces_uses_both() {}

/// Returns the rates of two uploads of a phone, Mbit/s. The first is on a bearer of its own, the
/// second on the default bearer.
fn two_bearers(default: &str) -> [f64; 2] {
    let rest = format!(
        "[ue.phone]\ncell = \"base\"\nposition = [\"50 m\", \"0 m\"]\n\
         [ue.phone.drb.first]\npriority = 1\nprioritised-bit-rate = \"1 Mbit/s\"\n\
         [ue.phone.drb.last]\npriority = 16\n{default}\n\
         [flow.first]\nfrom = \"phone\"\nto = \"server\"\nroute = [\"phone/first\", \"core\"]\n\
         [flow.last]\nfrom = \"phone\"\nto = \"server\"\nroute = [\"phone/last\", \"core\"]\n"
    );
    let summary = summary(&scenario(LTE, &rest), &["cell.base.channel.fading=none"]);
    [goodput(&summary, 0), goodput(&summary, 1)]
}

#[test]
fn the_bearer_of_the_higher_priority_leaves_the_other_its_prioritised_rate() {
    // The second bearer's share is 3 Mbit/s of RLC bytes, of which headers take 4 %. It also gets
    // resources that the first bearer leaves unused at its start.
    let [first, last] = two_bearers("prioritised-bit-rate = \"3 Mbit/s\"");
    assert!((2.8..4.5).contains(&last), "{last}");
    assert!(first > 5.0 * last, "{first} and {last}");
    let [_, starved] = two_bearers("prioritised-bit-rate = \"8 kbit/s\"");
    assert!(starved < 0.6, "{starved}");
}

#[test]
fn the_strongest_cell_serves_a_ue_that_names_none() {
    // The node of the far cell has no link to the server, so only the near cell can carry the flow.
    let far = "[cell.far]\nposition = [\"5000 m\", \"0 m\"]\nradio = \"lte\"\ncarrier = \"2 GHz\"\n\
               bandwidth = \"20 MHz\"\nchannel = { path-loss = \"uma\" }\n\
               [ue.phone]\nposition = [\"100 m\", \"0 m\"]\n";
    let summary = summary(&scenario(LTE, &format!("{far}{DOWNLOAD}")), &[]);
    assert!(goodput(&summary, 0) > 1.0);
    let away = refused(&scenario(
        LTE,
        &format!("{}{DOWNLOAD}", far.replace("100 m", "4900 m")),
    ));
    assert_eq!(away, "flow \"bulk\": no links connect its ends");
}

#[test]
fn an_rlc_buffer_below_the_bandwidth_delay_product_is_pointed_out() {
    let advice = |buffer: &str| {
        let ue = format!("[ue.phone]\nrlc = {{ mode = \"am\", buffer = \"{buffer}\" }}\n");
        let text = scenario(LTE, &format!("{ue}{DOWNLOAD}"));
        fadeout_sim::advice(&parse(&text, ".".into(), &[]))
    };
    // The product of 80 Mbit/s (TS 38.306) and 10 ms of links in both directions is 100 kB. A
    // buffer of 200 kB is larger, so there is no warning.
    assert_eq!(advice("200 kB"), Vec::<String>::new());
    let sentences = advice("10 kB");
    assert_eq!(sentences.len(), 1);
    assert!(
        sentences[0].starts_with("UE \"phone\": the RLC buffer of 10 kB is below the 100 kB"),
        "{sentences:?}"
    );
}

#[test]
fn a_period_that_a_duplex_pattern_stretches_is_pointed_out_with_what_is_left() {
    let advice = |keys: &str| {
        let cell = format!(
            "radio = {{ kind = \"nr\", {keys} }}\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\n\
             channel = {{ path-loss = \"uma\" }}"
        );
        let text = scenario(&cell, &format!("[ue.phone]\n{DOWNLOAD}"));
        fadeout_sim::advice(&parse(&text, ".".into(), &[]))
    };
    let pattern = |keys: &str| advice(&format!("duplex = \"DDDSU\"{keys}"));
    let none = Vec::<String>::new();
    for fitting in ["", ", sr-period = 10", ", configured-grant-period = 5"] {
        assert_eq!(pattern(fitting), none, "{fitting}");
    }
    assert_eq!(advice("sr-period = 8"), none, "FDD");
    assert_eq!(
        pattern(", sr-period = 8"),
        [
            "cell \"base\": some occasions of `radio.sr-period` = 8 fall into downlink slots of the pattern of 5 \
             slots, so that one with uplink symbols comes every 20 slots (10 ms) on average. 10, 20, 40, 80 and 160 \
             fit"
        ]
    );
    let sentences = pattern(", sr-period = 4, configured-grant-period = 1");
    let count = |key: &str| sentences.iter().filter(|it| it.contains(key)).count();
    assert_eq!(
        (sentences.len(), count("sr-period"), count("grant-period")),
        (2, 1, 1)
    );
}

#[test]
fn a_bearer_that_cuts_no_packet_is_pointed_out() {
    for (mode, count) in [("um", 0), ("tm", 1)] {
        let ue = format!("[ue.phone]\nrlc = {{ mode = \"{mode}\", buffer = \"200 kB\" }}\n");
        let text = scenario(LTE, &format!("{ue}{DOWNLOAD}"));
        let sentences = fadeout_sim::advice(&parse(&text, ".".into(), &[]));
        let named = sentences
            .iter()
            .filter(|it| it.contains("does not segment packets"));
        assert_eq!((named.count(), sentences.len()), (count, count), "{mode}");
    }
}

#[test]
fn data_that_nothing_slows_down_the_other_way_is_named() {
    let advice = |more: &str, from: &str, to: &str| {
        let text = format!(
            "duration = \"2 s\"\n[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n{more}\n\
             [link.b]\nfrom = \"y\"\nto = \"z\"\nrate = \"unlimited\"\ndelay = \"1 ms\"\n\
             [flow.f]\nfrom = \"{from}\"\nto = \"{to}\"\n[flow.g]\nfrom = \"{from}\"\nto = \"{to}\"\n"
        );
        fadeout_sim::advice(&parse(&text, ".".into(), &[]))
    };
    let sentences = advice("", "z", "x");
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    assert!(
        sentences[0].starts_with("link \"a\": the data of flow \"f\""),
        "{sentences:?}"
    );
    assert_eq!(advice("", "x", "z"), Vec::<String>::new());
    let limited = "reverse.rate = \"10 Mbit/s\"";
    assert_eq!(advice(limited, "z", "x"), Vec::<String>::new());
}

#[test]
fn a_scenario_in_which_nothing_can_pass_is_named() {
    let advice = |rate: &str, limit: &str, flow: &str| {
        let text = format!(
            "duration = \"2 s\"\n[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"{rate}\"\n\
             delay = \"1 ms\"\nqueue.limit = \"{limit}\"\n{flow}"
        );
        fadeout_sim::advice(&parse(&text, ".".into(), &[]))
    };
    let flow = "[flow.f]\nfrom = \"x\"\nto = \"y\"\n";
    assert_eq!(
        advice("10 Mbit/s", "10 packets", flow),
        Vec::<String>::new()
    );
    for (rate, limit, flow, expected) in [
        ("10 Mbit/s", "10 packets", "", "no flow"),
        ("10 Mbit/s", "1 B", flow, "cannot hold a full packet"),
        ("1 bit/s", "10 packets", flow, "longer than the run"),
    ] {
        let sentences = advice(rate, limit, flow);
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        assert!(sentences[0].contains(expected), "{sentences:?}");
    }
}

#[test]
fn advice_on_a_ue_that_names_no_cell_is_about_the_one_it_hears_best() {
    let advice = |position: &str| {
        let rest = format!(
            "[cell.far]\nradio = \"lte\"\ncarrier = \"2.1 GHz\"\nbandwidth = \"5 MHz\"\n\
             position = [\"2 km\", \"0 m\"]\nchannel = {{ path-loss = \"uma\" }}\n\
             [link.backhaul]\nfrom = \"server\"\nto = \"far\"\nrate = \"10 Gbit/s\"\n\
             delay = \"5 ms\"\n[ue.phone]\nposition = [\"{position}\", \"0 m\"]\n\
             rlc = {{ mode = \"am\", buffer = \"50 kB\" }}\n{DOWNLOAD}"
        );
        fadeout_sim::advice(&parse(&scenario(LTE, &rest), ".".into(), &[]))
    };
    // The buffer of 50 kB is too small for the 20 MHz cell, which needs 100 kB as above. The other
    // cell with 5 MHz needs a quarter of this, so there is no warning.
    assert_eq!(advice("10 m").len(), 1);
    assert_eq!(advice("1990 m"), Vec::<String>::new());
}

#[test]
fn an_rlc_window_shorter_than_t_status_prohibit_is_named() {
    let advice = |tti: &str, rlc: &str| {
        let cell = LTE.replace("\"lte\"", &format!("{{ kind = \"lte\", tti = \"{tti}\" }}"));
        let ue = format!("[ue.phone]\nrlc = {rlc}\n");
        let text = scenario(&cell, &format!("{ue}{DOWNLOAD}"));
        fadeout_sim::advice(&parse(&text, ".".into(), &[]))
    };
    // The window of 512 PDUs, one in each TTI, is full after 51 ms. Status reports come only every
    // 60 ms, so there is a warning.
    let sentences = advice("0.1 ms", "\"am\"");
    assert_eq!(sentences.len(), 1, "{sentences:?}");
    assert!(
        sentences[0].starts_with(
            "UE \"phone\": RLC's window of 512 PDUs lasts 51 ms at the peak rate of the cell, but t-StatusProhibit allows acknowledgements only every 60 ms"
        ),
        "{sentences:?}"
    );
    let shorter = "{ mode = \"am\", t-status-prohibit = \"50 ms\" }";
    for (tti, rlc) in [
        ("0.1 ms", shorter),
        ("0.1 ms", "\"um\""),
        ("1 ms", "\"am\""),
    ] {
        assert_eq!(advice(tti, rlc), Vec::<String>::new(), "{tti} {rlc}");
    }
}

#[test]
fn a_short_queue_of_the_senders_interface_is_pointed_out() {
    let advice = |limit: &str| {
        let text = scenario(LTE, &format!("[ue.phone]\n{DOWNLOAD}"));
        let set = format!("link.core.queue.limit={limit}");
        fadeout_sim::advice(&parse(&text, ".".into(), &[&set]))
    };
    // As above, 100 kB may wait for acknowledgments. A queue of 67 packets, which are 100.5 kB, is
    // long enough.
    assert_eq!(advice("67 packets"), Vec::<String>::new());
    let sentences = advice("66 packets");
    assert_eq!(sentences.len(), 1);
    let expected = "link \"core\": the queue of 66 packets in front of it is below the 100 kB";
    assert!(sentences[0].starts_with(expected), "{sentences:?}");
}

#[test]
fn hard_places_end_a_run_in_order() {
    // The UE is at the antenna itself, under the antenna, and out of range.
    for (position, height) in [("0 m", "10 m"), ("0 m", "1.5 m"), ("900 km", "1.5 m")] {
        let ue =
            format!("[ue.phone]\nposition = [\"{position}\", \"0 m\"]\nheight = \"{height}\"\n");
        for cell in [LTE, NR] {
            let summary = summary(&scenario(cell, &format!("{ue}{DOWNLOAD}")), &[]);
            let is_near = position == "0 m";
            assert_eq!(goodput(&summary, 0) > 1.0, is_near, "{position}");
            let events = summary["events"].as_u64().expect("a count");
            assert!(is_near || events < 1000, "{events} events");
        }
    }
}

#[test]
fn what_no_cell_can_be_is_refused_by_name() {
    let phone = format!("[ue.phone]\n{DOWNLOAD}");
    let odd = scenario(&LTE.replace("20 MHz", "17 MHz"), &phone);
    let error = refused(&odd);
    assert!(
        error.starts_with("cell \"base\": no LTE channel of 17 MHz") && error.contains("20 MHz"),
        "{error}"
    );
    let period = "radio = { kind = \"lte\", sr-period = 7 }";
    let error = refused(&scenario(&LTE.replace("radio = \"lte\"", period), &phone));
    assert!(
        error.starts_with("cell \"base\": ") && error.contains('5'),
        "{error}"
    );
    let zero = "[ue.phone]\nrlc = { mode = \"am\", t-reassembly = \"33 ms\" }\n";
    let error = refused(&scenario(LTE, &format!("{zero}{DOWNLOAD}")));
    assert_eq!(
        error,
        "UE \"phone\": t-Reordering is 33 ms; the nearest allowed value is 35 ms"
    );
}

#[test]
fn a_ue_that_names_no_cell_may_find_one_of_either_generation() {
    let small = "[cell.small]\nradio = \"nr\"\ncarrier = \"3.5 GHz\"\nbandwidth = \"20 MHz\"\n\
                 channel = { path-loss = \"umi\", line-of-sight = \"clear\" }\n\
                 position = [\"2 km\", \"0 m\"]\n\
                 [link.backhaul]\nfrom = \"server\"\nto = \"small\"\nrate = \"1 Gbit/s\"\n\
                 delay = \"1 ms\"\n";
    for (position, cell) in [("100 m", "base"), ("1.95 km", "small")] {
        let phone = format!("[ue.phone]\nposition = [\"{position}\", \"0 m\"]\n{DOWNLOAD}");
        let text = scenario(LTE, &format!("{small}{phone}"));
        let summary = summary(&text, &[]);
        assert_eq!(summary["interfaces"][0]["cell"], cell);
        assert!(goodput(&summary, 0) > 5.0, "{position}");
    }
}

#[test]
fn what_no_radio_can_do_is_refused_with_what_it_could() {
    let phone = "[ue.phone]\nposition = [\"50 m\", \"0 m\"]\n";
    let refusal_of =
        |cell: &str, phone: &str| refused(&scenario(cell, &format!("{phone}{DOWNLOAD}")));
    let radio_with = |radio: &str| {
        NR.replace(
            "radio = \"nr\"",
            &format!("radio = {{ kind = \"nr\", {radio} }}"),
        )
    };
    let array = format!(
        "{NR}\nantenna = {{ kind = \"array\", rows = 8, columns = 8, element = \"tr38901\" }}"
    );
    let odd_band = NR.replace("400 MHz", "333 MHz");
    let fdd = NR
        .replace("28 GHz", "3.5 GHz")
        .replace("400 MHz", "100 MHz");
    let fdd = fdd.replace(
        "radio = \"nr\"",
        "radio = { kind = \"nr\", cross-link-interference = true }",
    );
    for (cell, parts) in [
        (array, &["spacing", "at least 0.71 wavelengths", "5.0"][..]),
        (
            radio_with("layers = 8"),
            &["layers", "two for each element"],
        ),
        (
            radio_with("resource-blocks = 1000"),
            &["resource-blocks", "264"],
        ),
        (odd_band, &["333 MHz", "400 MHz", "resource-blocks"]),
        (fdd, &["cross-link-interference", "FDD"]),
    ] {
        let cell = match parts[0] {
            // A UE antenna with one element allows two layers at most.
            "layers" => cell.replace(
                "channel = {",
                "channel = { ue-antenna = { kind = \"element\" },",
            ),
            _ => cell,
        };
        let error = refusal_of(&cell, phone);
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
