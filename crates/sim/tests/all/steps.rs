//! Tests of a simulation that runs in steps or is stopped.

use crate::common::parse;
use fadeout_core::{Span, Time};
use fadeout_record::Destination;
use fadeout_sim::{Control, Simulation};

fn simulation_of(text: &str) -> Simulation {
    let scenario = parse(text, ".".into(), &[]);
    Simulation::new(scenario, Destination::Memory).expect("a checked scenario")
}

/// Returns a transfer that completes before the end of the run.
fn simulation() -> Simulation {
    let text = "duration = \"4 s\"\n[link.path]\nfrom = \"a\"\nto = \"b\"\n\
                rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n[flow.file]\nfrom = \"a\"\n\
                to = \"b\"\napplication = { kind = \"transfer\", size = \"1 MB\" }\n";
    simulation_of(text)
}

#[test]
fn a_run_that_only_fills_bins_can_be_stopped() {
    // The link drops every packet, and the next SYN is sent one second later.
    let mut run = simulation_of(
        "duration = \"1000 s\"\nprobe.throughput = \"1 us\"\n[link.path]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nloss = { probability = 1 }\n[flow.file]\nfrom = \"a\"\n\
         to = \"b\"\n",
    );
    let mut calls = 0;
    run.advance_unless(
        Time::NEVER,
        || false,
        |_| {
            calls += 1;
            match calls {
                3 => Control::Stop,
                _ => Control::Continue,
            }
        },
    );
    assert_eq!(run.now(), Time::ZERO + Span::from_millis(150));
    assert!(!run.finish().expect("a run").is_complete);
}

#[test]
fn a_run_in_steps_is_the_same_run() {
    let at_once = simulation().run(|_| Control::Continue).expect("a run");
    let mut in_steps = simulation();
    let end = Time::ZERO + Span::from_secs(4);
    while let Some(at) = in_steps.next_at().filter(|&at| at <= end) {
        in_steps.advance(at);
        assert_eq!(in_steps.now(), at);
    }
    in_steps.advance(Time::NEVER);
    let in_steps = in_steps.finish().expect("a run");
    assert!(at_once.is_complete && in_steps.is_complete);
    assert_eq!(in_steps.fingerprint, at_once.fingerprint);
    assert_eq!(in_steps.recorded.summary, at_once.recorded.summary);
    assert_eq!(in_steps.recorded.tables, at_once.recorded.tables);
}

#[test]
fn a_step_into_the_past_does_nothing_and_none_goes_beyond_the_end() {
    let mut run = simulation();
    let second = Time::ZERO + Span::from_secs(1);
    run.advance(second);
    let before = run.progress();
    run.advance(Time::ZERO);
    assert_eq!((run.now(), run.progress().events), (second, before.events));
    run.advance(Time::NEVER);
    assert_eq!(run.now(), Time::ZERO + Span::from_secs(4));
}

#[test]
fn a_run_that_ends_early_is_not_complete() {
    let mut early = simulation();
    early.advance(Time::ZERO + Span::from_millis(100));
    assert!(!early.finish().expect("a run").is_complete);
    let stopped = simulation().run(|_| Control::Stop).expect("a run");
    // The whole run fits into the first interval between calls, so it reaches its end.
    assert!(stopped.is_complete);
}
