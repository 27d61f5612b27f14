//! Tests of random schedules of losses, reordering, duplication, blockages and delays, for every
//! profile and congestion control. The byte stream must arrive once, complete and in order, and the
//! connection must end. The state of the endpoints must agree with an independent model.
//!
//! A failing schedule prints the line that repeats it, with every segment.

use crate::common::pair::{EndConfig, Pair, stream};
use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, LinkInfo, Rate, Span, Time};
use fadeout_testkit::{Adversary, Cases, Mischief};
use fadeout_transport::congestion::{CONGESTION_CONTROLS, Congestion};
use fadeout_transport::tcp::{
    AckRule, AppCommand, EcnMode, LossResponse, OutageResponse, PROFILES, Pacing, ReceiveWindow,
    TcpConfig,
};

/// Latest end of a schedule. Disturbances end after 16 s and pauses after 20 s. A timer may have
/// backed off to a minute or two, and a little data may go at one segment a round trip.
const LATEST: Time = Time::from_nanos(3_600_000_000_000);

/// A complete schedule. Its fields determine all random events.
#[derive(Clone, Copy)]
struct Schedule {
    profile: &'static str,
    congestion: &'static str,
    seed: u64,
}

impl Schedule {
    fn new(profile: &'static str, seed: u64) -> Schedule {
        let choice = stream(seed, "congestion control", 0).below(CONGESTION_CONTROLS.len() as u64);
        Schedule {
            profile,
            congestion: CONGESTION_CONTROLS[choice as usize].name,
            seed,
        }
    }

    fn run(self, is_traced: bool) -> Time {
        let mut pair = Pair::new([self.end(0), self.end(1)], is_traced);
        self.script(&mut pair);
        pair.run();
        assert!(
            pair.now() < LATEST,
            "the connection ends at {:?}",
            pair.now()
        );
        pair.now()
    }

    fn end(self, end: usize) -> EndConfig {
        let none = Parameters::default();
        let mut config = TcpConfig::new(self.profile, &none).expect("the profile exists");
        vary(&mut config, self.seed, end);
        vary_schemes(&mut config, self.seed, end);
        let congestion = Congestion::new(self.congestion, &none, stream(self.seed, "cc", end));
        let mischief = Mischief::random(&mut stream(self.seed, "mischief", end));
        EndConfig {
            config,
            congestion: congestion.expect("the congestion control exists"),
            path: Adversary::new(mischief, stream(self.seed, "path", end)),
        }
    }

    /// Schedules notices of blockages, correct and wrong ones.
    fn notices(self, pair: &mut Pair, end: usize) {
        let mut draw = stream(self.seed, "notices", end);
        let mut at = Time::ZERO;
        for _ in 0..draw.below(5) {
            at += Span::from_micros(draw.below(4_000_000));
            let lasts = Span::from_micros(1 + draw.below(2_000_000));
            if draw.chance(0.5) {
                let starts_at = at + Span::from_micros(draw.below(200_000));
                let info = LinkInfo::BlockagePredicted { starts_at, lasts };
                pair.schedule_notice(at, end, info);
            }
            pair.schedule_notice(at, end, LinkInfo::Rate(Rate::ZERO));
            pair.schedule_notice(at, end, LinkInfo::BlockageBegan);
            if draw.chance(0.8) {
                at += lasts;
                pair.schedule_notice(at, end, LinkInfo::BlockageEnded);
                let rate = Rate::from_bits_per_sec(100_000 << draw.below(12));
                pair.schedule_notice(at, end, LinkInfo::Rate(rate));
            }
        }
    }

    /// Schedules the applications' writes, pauses of reading, and closes.
    fn script(self, pair: &mut Pair) {
        for end in 0..2 {
            self.notices(pair, end);
            let mut draw = stream(self.seed, "application", end);
            let mut at = Time::ZERO;
            let most = 1 << (8 + draw.below(if end == 0 { 13 } else { 9 }));
            for _ in 0..draw.below(6) {
                pair.schedule_command(at, end, AppCommand::Write(Bytes(1 + draw.below(most))));
                at += Span::from_micros(draw.below(2_000_000));
            }
            // The listening end closes at a time of its own, or after its peer.
            if end == 0 || draw.chance(0.3) {
                // The end must not close before the connection is established.
                pair.schedule_command(at + Span::from_secs(40), end, AppCommand::Close);
            }
            if draw.chance(0.2) {
                let pause = Time::ZERO + Span::from_micros(draw.below(5_000_000));
                let length = Span::from_micros(draw.below(15_000_000));
                pair.schedule_command(pause, end, AppCommand::PauseReading);
                pair.schedule_command(pause + length, end, AppCommand::ResumeReading);
            }
        }
    }
}

/// Chooses ECN feedback and schemes for failing links. Freeze-TCP is excluded, because its receiver
/// withdraws an offered window, which the model forbids.
fn vary_schemes(config: &mut TcpConfig, seed: u64, end: usize) {
    let mut draw = stream(seed, "schemes", end);
    if draw.chance(0.3) {
        config.acks.ecn = [EcnMode::Accurate, EcnMode::Dctcp][draw.below(2) as usize];
    }
    if draw.chance(0.4) {
        config.resilience.loss = [
            LossResponse::Delayed,
            LossResponse::NcrCareful,
            LossResponse::NcrAggressive,
            LossResponse::Casablanca,
        ][draw.below(4) as usize];
    }
    config.resilience.outage = [
        OutageResponse::None,
        OutageResponse::Feedback,
        OutageResponse::Elfn,
    ][draw.below(3) as usize];
}

/// Changes some constants of a profile.
fn vary(config: &mut TcpConfig, seed: u64, end: usize) {
    let mut draw = stream(seed, "configuration", end);
    config.acks.ecn = if draw.chance(0.5) {
        EcnMode::Classic
    } else {
        EcnMode::Automatic
    };
    config.host.nagle = draw.chance(0.2);
    config.timestamps ^= draw.chance(0.2);
    if draw.chance(0.2) {
        config.mss = 88 + draw.below(9000) as u32;
    }
    if draw.chance(0.2) {
        let bytes = u64::from(config.mss) * (1 + draw.below(100)) + draw.below(1000);
        config.buffers.receive_window = ReceiveWindow::Fixed { bytes };
    }
    if draw.chance(0.1) {
        config.host.pacing = Pacing::On;
        config.host.maximum_pacing_rate = Rate::from_bits_per_sec(100_000 << draw.below(15));
    }
    if draw.chance(0.1) {
        config.initial_window = 1 + draw.below(40) as u32;
    }
    if draw.chance(0.1) {
        config.initial_ssthresh = 2.0 + draw.below(40) as f64;
    }
    if draw.chance(0.2) {
        config.acks.rule =
            [AckRule::Linux, AckRule::EverySecond, AckRule::EverySegment][draw.below(3) as usize];
    }
    if draw.chance(0.1) {
        config.timers.minimum_rto = Span::from_micros(1000 + draw.below(500_000));
    }
    if draw.chance(0.1) {
        config.recovery.duplicate_threshold = 1 + draw.below(8) as u32;
    }
    for flag in [
        &mut config.recovery.undo,
        &mut config.recovery.frto,
        &mut config.recovery.tail_loss_probe,
        &mut config.recovery.limited_transmit,
        &mut config.acks.sack_compression,
        &mut config.slow_start_after_idle,
        &mut config.host.tso_bursts,
    ] {
        *flag ^= draw.chance(0.1);
    }
}

/// Number of schedules of all profiles together.
const SCHEDULES: u64 = 20_000;

fn run_all(profile: &'static str) {
    let cases = Cases::new(SCHEDULES).among(PROFILES.len());
    cases.run(|seed| {
        let schedule = Schedule::new(profile, seed);
        if cases.is_replay() {
            println!("{profile} with {}", schedule.congestion);
        }
        let end = schedule.run(cases.is_replay());
        if cases.is_replay() {
            println!("it ends at {end:?}");
        }
    });
}

#[test]
fn the_stream_arrives_once_whole_and_in_order_with_linux() {
    run_all("linux");
}

#[test]
fn the_stream_arrives_once_whole_and_in_order_with_linux_6_18() {
    run_all("linux-6.18");
}

#[test]
fn the_stream_arrives_once_whole_and_in_order_with_the_standards() {
    run_all("rfc");
}

#[test]
fn the_stream_arrives_once_whole_and_in_order_with_newreno() {
    run_all("newreno");
}

#[test]
fn the_stream_arrives_once_whole_and_in_order_with_reno() {
    run_all("reno");
}

#[test]
fn the_stream_arrives_once_whole_and_in_order_with_tahoe() {
    run_all("tahoe");
}

#[test]
fn every_profile_has_its_schedules() {
    let names: Vec<&str> = PROFILES.iter().map(|entry| entry.name).collect();
    let expected = ["linux", "linux-6.18", "rfc", "newreno", "reno", "tahoe"];
    assert_eq!(names, expected);
}
