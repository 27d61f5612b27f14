//! Profiles: whole stacks by name, so that older studies can be repeated with what they used.

use super::config::{
    AckRule, EcnMode, LossRecovery, LossResponse, NewRenoVariant, OutageResponse, Pacing,
    ReceiveWindow, ResilienceConfig, RtoRule, TcpConfig,
};
use fadeout_core::registry::{Entry, Parameter, Parameters, choice, flag, integer, number, span};
use fadeout_core::{Rate, Span};

const MINIMUM_RTO_MAX: &str = "Smallest retransmission timeout. With rto-rule = \"linux\" it \
    bounds the variance term, so the timeout stays this much above SRTT; with \"rfc6298\" it \
    bounds the sum; with \"fixed\" it is the timeout.";

/// The constants that a scenario's `tcp = { … }` may override, in every profile.
pub const PARAMETERS: &[Parameter] = &[
    span("minimum-rto", "by profile: 200 ms or 1 s", MINIMUM_RTO_MAX),
    span(
        "maximum-rto",
        "by profile: 120 s or 60 s",
        "Largest timeout (RFC 6298 rule 2.5).",
    ),
    span(
        "initial-rto",
        "1 s",
        "Timeout before the first RTT sample (RFC 6298 rule 2.1).",
    ),
    choice(
        "rto-rule",
        &["linux", "rfc6298", "fixed"],
        "by profile",
        "How the timeout is computed.",
    ),
    span(
        "timer-tick",
        "1 ms",
        "Granularity that timeouts round up to (1/HZ in Linux).",
    ),
    flag(
        "timer-wheel",
        "by profile",
        "Timers fire at ticks: at the one after their own, from 63 ticks on at every 8th, from 504 \
         at every 64th, and so on (Linux's timer wheel). Otherwise exactly.",
    ),
    integer(
        "initial-window",
        (1, 10_000, "segments"),
        "by profile: 10 (RFC 6928) or 3",
        "IW.",
    ),
    integer(
        "initial-ssthresh",
        (2, 100_000_000, "segments"),
        "unlimited",
        "First slow-start threshold.",
    ),
    integer(
        "duplicate-threshold",
        (1, 300, "segments"),
        "3",
        "DupThresh (RFC 5681, RFC 6675).",
    ),
    integer(
        "mss",
        (88, 65_000, "bytes"),
        "1460",
        "MSS option; timestamps take 12 bytes of it.",
    ),
    flag("timestamps", "by profile", "Timestamps option (RFC 7323)."),
    flag(
        "undo",
        "by profile",
        "Undo of spurious reductions by timestamps and DSACK (RFC 3522, 3708).",
    ),
    flag(
        "frto",
        "by profile",
        "Detection of spurious timeouts (RFC 5682).",
    ),
    flag("tail-loss-probe", "by profile", "TLP (RFC 8985 section 7)."),
    flag(
        "prr",
        "by profile",
        "Proportional rate reduction (RFC 6937); needs SACK.",
    ),
    choice(
        "newreno-variant",
        &["impatient", "slow-but-steady"],
        "impatient",
        "NewReno: the retransmission timer is restarted by the first partial acknowledgment of a \
         recovery, or by each (RFC 6582 section 4).",
    ),
    flag("limited-transmit", "true", "Limited transmit (RFC 3042)."),
    flag(
        "slow-start-after-idle",
        "by profile",
        "Window shrinks after idle (RFC 2861).",
    ),
    choice(
        "ack-rule",
        &["linux", "every-second", "every-segment"],
        "by profile",
        "Delayed ACKs.",
    ),
    span(
        "delayed-ack",
        "by profile: 40 ms or 200 ms",
        "Delayed-ACK timer; the shortest with ack-rule = \"linux\".",
    ),
    flag(
        "sack-compression",
        "by profile",
        "Thins ACKs of out-of-order data (Linux tcp_comp_sack).",
    ),
    integer(
        "receive-window",
        (1_000, 1 << 30, "bytes"),
        "autotuned",
        "A fixed receive window.",
    ),
    integer(
        "maximum-receive-window",
        (65_535, 1 << 30, "bytes"),
        "by profile: 3 MiB (half of tcp_rmem[2])",
        "Limit of autotuning.",
    ),
    integer(
        "initial-receive-buffer",
        (4_096, 1 << 30, "bytes"),
        "131072 (tcp_rmem[1])",
        "Memory of the receive buffer at first, under autotuning; a half of it, and after the first \
         full segment about 0.6 of it, holds payload.",
    ),
    choice(
        "ecn",
        &["automatic", "off", "classic", "dctcp", "accurate"],
        "automatic",
        "ECN feedback: RFC 3168's echo, DCTCP's echo of each segment's mark (RFC 8257), or \
         accurate counts (RFC 9768). Automatic is what the congestion control needs, and off for \
         one that needs none.",
    ),
    choice(
        "loss-response",
        &[
            "standard",
            "dcr",
            "ncr-careful",
            "ncr-aggressive",
            "casablanca",
        ],
        "standard",
        "What is done about an indication of loss: TCP-DCR waits for the link layer, NCR (RFC 4653) \
         counts duplicates up to a share of the window, TCP-Casablanca spares the window where \
         the receiver knows the radio's losses from a biased queue's.",
    ),
    number(
        "dcr-delay",
        (0.0, 100.0, "round-trip times"),
        "1",
        "TCP-DCR: how long the response waits, in smoothed round-trip times; the paper's choice.",
    ),
    integer(
        "casablanca-period",
        (2, 1_000, "segments"),
        "5",
        "TCP-Casablanca: one segment of this many is expendable. The paper leaves the pattern \
         open; with fewer than one in ten a queue finds none to drop.",
    ),
    choice(
        "outage-response",
        &["none", "feedback", "elfn", "freeze"],
        "none",
        "What is done about an outage that link-info tells of: TCP-Feedback snoozes, ELFN probes, \
         Freeze-TCP's receiver closes its window ahead of it.",
    ),
    span(
        "feedback-timeout",
        "5 s",
        "TCP-Feedback: longest snooze without word of a new route. The paper leaves it open; it \
         must exceed the longest outage.",
    ),
    span(
        "elfn-probe-interval",
        "2 s",
        "ELFN: distance between two probes, the paper's for a radio of 2 Mbit/s; outages shorter \
         than it cost the whole interval.",
    ),
    number(
        "freeze-lead",
        (0.0, 100.0, "round-trip times"),
        "1",
        "Freeze-TCP: how long before an outage the window closes; the paper finds one round trip \
         best.",
    ),
    flag("nagle", "false", "Nagle's algorithm."),
    choice(
        "pacing",
        &["automatic", "on"],
        "automatic",
        "Spacing of segments.",
    ),
    flag(
        "tso-bursts",
        "by profile",
        "Sends gather to offload-sized bursts (Linux TSO autosizing).",
    ),
    integer(
        "linear-syn-timeouts",
        (0, 100, "timeouts"),
        "by profile: 4 or 0",
        "Timeouts of a SYN before the first that doubles (tcp_syn_linear_timeouts).",
    ),
    integer(
        "maximum-retries",
        (1, 100, "timeouts"),
        "15",
        "Timeouts in a row before giving up (tcp_retries2).",
    ),
];

const fn profile(
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    citation: &'static str,
) -> Entry {
    Entry {
        name,
        aliases,
        family: "profile",
        summary,
        citation,
        parameters: PARAMETERS,
    }
}

/// The profiles a scenario may name.
pub static PROFILES: &[Entry] = &[
    profile(
        "linux",
        &[],
        "Linux 6.12: SACK, RACK-TLP, PRR, F-RTO, undo, srtt + 200 ms timeout, quick ACKs.",
        "Linux net/ipv4/tcp_*.c; RFC 8985, 6937, 5682, 6298",
    ),
    profile(
        "rfc",
        &["rfc6675", "sack"],
        "The standards without Linux's additions: SACK recovery, 1 s minimum timeout.",
        "RFC 6675, 5681, 6298, 3042",
    ),
    profile(
        "newreno",
        &[],
        "No SACK; partial ACKs keep recovery going.",
        "RFC 6582, 5681, 6298",
    ),
    profile(
        "reno",
        &[],
        "No SACK; the first new ACK ends fast recovery.",
        "RFC 5681, 6298",
    ),
    profile(
        "tahoe",
        &[],
        "No SACK, no fast recovery: slow start after every loss.",
        "Jacobson, Congestion Avoidance and Control, SIGCOMM 1988",
    ),
];

/// The constants of profile `name`.
pub(super) fn preset(name: &str) -> Option<TcpConfig> {
    let rfc = TcpConfig {
        recovery: LossRecovery::Sack,
        newreno_variant: NewRenoVariant::Impatient,
        mss: 1460,
        timestamps: true,
        duplicate_threshold: 3,
        prr: false,
        limited_transmit: true,
        tail_loss_probe: false,
        frto: false,
        undo: false,
        rto_rule: RtoRule::Rfc6298,
        minimum_rto: Span::from_secs(1),
        maximum_rto: Span::from_secs(60),
        initial_rto: Span::from_secs(1),
        timer_tick: Span::from_millis(1),
        timer_wheel: false,
        initial_window: 10,
        initial_ssthresh: f64::INFINITY,
        slow_start_after_idle: true,
        ack_rule: AckRule::EverySecond,
        delayed_ack: Span::from_millis(200),
        sack_compression: false,
        window_scaling: true,
        receive_window: ReceiveWindow::Fixed { bytes: 16 << 20 },
        initial_receive_buffer: 131_072,
        ecn: EcnMode::Automatic,
        accurate_ecn: None,
        resilience: ResilienceConfig {
            loss: LossResponse::Standard,
            outage: OutageResponse::None,
            loss_delay_rtts: 1.0,
            expendable_every: 5,
            route_timeout: Span::from_secs(5),
            probe_interval: Span::from_secs(2),
            freeze_lead_rtts: 1.0,
        },
        nagle: false,
        pacing: Pacing::Automatic,
        maximum_pacing_rate: Rate::UNLIMITED,
        tso_bursts: false,
        multipath: false,
        minimum_burst: 2,
        burst_window_divisor: 3,
        maximum_retries: 15,
        maximum_syns: 7,
        maximum_syn_acks: 7,
        linear_syn_timeouts: 0,
        forgiven_syns: 0,
        user_timeout: None,
    };
    let classic = |recovery| TcpConfig {
        recovery,
        timestamps: false,
        initial_window: 3,
        limited_transmit: true,
        ..rfc.clone()
    };
    Some(match profile_name(name)? {
        "linux" => TcpConfig {
            recovery: LossRecovery::Rack,
            prr: true,
            tail_loss_probe: true,
            frto: true,
            undo: true,
            rto_rule: RtoRule::Linux,
            timer_wheel: true,
            minimum_rto: Span::from_millis(200),
            maximum_rto: Span::from_secs(120),
            ack_rule: AckRule::Linux,
            delayed_ack: Span::from_millis(40),
            sack_compression: true,
            receive_window: ReceiveWindow::Autotuned { max_bytes: 3 << 20 },
            tso_bursts: true,
            maximum_syn_acks: 6,
            linear_syn_timeouts: 4,
            forgiven_syns: 1,
            ..rfc
        },
        "rfc" => rfc,
        "newreno" => classic(LossRecovery::NewReno),
        "reno" => classic(LossRecovery::Reno),
        _ => classic(LossRecovery::Tahoe),
    })
}

fn profile_name(name: &str) -> Option<&'static str> {
    fadeout_core::registry::find(PROFILES, name).map(|entry| entry.name)
}

/// Applies a scenario's overrides, already checked against [`PARAMETERS`].
pub(super) fn apply(config: &mut TcpConfig, given: &Parameters) {
    config.minimum_rto = given.span("minimum-rto", config.minimum_rto);
    config.maximum_rto = given
        .span("maximum-rto", config.maximum_rto)
        .max(config.minimum_rto);
    config.initial_rto = given.span("initial-rto", config.initial_rto);
    config.rto_rule = match given.choice("rto-rule", "") {
        "linux" => RtoRule::Linux,
        "rfc6298" => RtoRule::Rfc6298,
        "fixed" => RtoRule::Fixed,
        _ => config.rto_rule,
    };
    config.timer_tick = given.span("timer-tick", config.timer_tick);
    config.timer_wheel = given.flag("timer-wheel", config.timer_wheel);
    let integer = |name, default: u32| given.number(name, f64::from(default)) as u32;
    config.initial_window = integer("initial-window", config.initial_window);
    config.initial_ssthresh = given.number("initial-ssthresh", config.initial_ssthresh);
    config.duplicate_threshold = integer("duplicate-threshold", config.duplicate_threshold);
    config.mss = integer("mss", config.mss);
    config.timestamps = given.flag("timestamps", config.timestamps);
    config.undo = given.flag("undo", config.undo);
    config.frto = given.flag("frto", config.frto);
    config.tail_loss_probe = given.flag("tail-loss-probe", config.tail_loss_probe);
    config.prr = given.flag("prr", config.prr);
    config.limited_transmit = given.flag("limited-transmit", config.limited_transmit);
    config.slow_start_after_idle =
        given.flag("slow-start-after-idle", config.slow_start_after_idle);
    config.newreno_variant = match given.choice("newreno-variant", "") {
        "impatient" => NewRenoVariant::Impatient,
        "slow-but-steady" => NewRenoVariant::SlowButSteady,
        _ => config.newreno_variant,
    };
    config.linear_syn_timeouts = integer("linear-syn-timeouts", config.linear_syn_timeouts);
    config.ack_rule = match given.choice("ack-rule", "") {
        "linux" => AckRule::Linux,
        "every-second" => AckRule::EverySecond,
        "every-segment" => AckRule::EverySegment,
        _ => config.ack_rule,
    };
    config.delayed_ack = given.span("delayed-ack", config.delayed_ack);
    config.sack_compression = given.flag("sack-compression", config.sack_compression);
    let memory = config.initial_receive_buffer as f64;
    config.initial_receive_buffer = given.number("initial-receive-buffer", memory) as u64;
    let fixed = given.number("receive-window", 0.0) as u64;
    let maximum = given.number("maximum-receive-window", 0.0) as u64;
    if fixed > 0 {
        config.receive_window = ReceiveWindow::Fixed { bytes: fixed };
    } else if maximum > 0 {
        config.receive_window = ReceiveWindow::Autotuned { max_bytes: maximum };
    }
    config.ecn = match given.choice("ecn", "") {
        "automatic" => EcnMode::Automatic,
        "off" => EcnMode::Off,
        "classic" => EcnMode::Classic,
        "dctcp" => EcnMode::Dctcp,
        "accurate" => EcnMode::Accurate,
        _ => config.ecn,
    };
    apply_resilience(&mut config.resilience, given);
    config.nagle = given.flag("nagle", config.nagle);
    if given.choice("pacing", "") == "on" {
        config.pacing = Pacing::On;
    }
    config.tso_bursts = given.flag("tso-bursts", config.tso_bursts);
    config.maximum_retries = integer("maximum-retries", config.maximum_retries);
}

fn apply_resilience(config: &mut ResilienceConfig, given: &Parameters) {
    config.loss = match given.choice("loss-response", "") {
        "standard" => LossResponse::Standard,
        "dcr" => LossResponse::Delayed,
        "ncr-careful" => LossResponse::NcrCareful,
        "ncr-aggressive" => LossResponse::NcrAggressive,
        "casablanca" => LossResponse::Casablanca,
        _ => config.loss,
    };
    config.outage = match given.choice("outage-response", "") {
        "none" => OutageResponse::None,
        "feedback" => OutageResponse::Feedback,
        "elfn" => OutageResponse::Elfn,
        "freeze" => OutageResponse::Freeze,
        _ => config.outage,
    };
    config.loss_delay_rtts = given.number("dcr-delay", config.loss_delay_rtts);
    let every = f64::from(config.expendable_every);
    config.expendable_every = given.number("casablanca-period", every) as u32;
    config.route_timeout = given.span("feedback-timeout", config.route_timeout);
    // A probe every millisecond is as good as one each instant, and time goes on.
    config.probe_interval = given
        .span("elfn-probe-interval", config.probe_interval)
        .max(Span::from_millis(1));
    config.freeze_lead_rtts = given.number("freeze-lead", config.freeze_lead_rtts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Value;

    #[test]
    fn every_profile_has_a_preset() {
        assert!(PROFILES.iter().all(|entry| preset(entry.name).is_some()));
        assert!(preset("linus").is_none());
    }

    #[test]
    fn an_override_changes_one_constant_alone() {
        let given = Parameters(vec![(
            "minimum-rto".to_owned(),
            Value::Span(Span::from_millis(300)),
        )]);
        let config = TcpConfig::new("linux", &given).expect("the profile exists");
        assert_eq!(
            config,
            TcpConfig {
                minimum_rto: Span::from_millis(300),
                ..TcpConfig::linux()
            }
        );
    }
}
