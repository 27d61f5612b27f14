//! Tests of the leg that a split bearer chooses for a downlink packet.

use super::split::config;
use super::*;
use crate::bearer::{FrameKind, carried, split};
use crate::config::{LegChoice, SplitConfig};
use crate::user_plane::{DesiredBuffer, FlowControlConfig};

/// Returns a test bench whose secondary node has requested enough data.
fn rig(choice: LegChoice) -> Rig {
    let own = config();
    let mut rig = Rig::new(BearerConfig {
        split: own.split.map(|split| SplitConfig {
            choice,
            flow_control: FlowControlConfig {
                desired: DesiredBuffer::Fixed(Bytes(50_000)),
                ..split.flow_control
            },
            ..split
        }),
        ..own
    });
    let first = rig.frames_after_wake();
    rig.carry(&first);
    rig
}

/// Returns the number of downlink PDUs that were sent to the secondary node.
fn sent(rig: &mut Rig) -> usize {
    let frames = rig.frames();
    let pdus = frames.iter().filter(|it| it.kind == FrameKind::Downlink);
    pdus.count()
}

#[test]
fn what_the_other_base_station_asks_for_it_gets_on_demand() {
    let mut rig = rig(LegChoice::Demand);
    rig.fill(10);
    assert_eq!(sent(&mut rig), 10);
}

#[test]
fn by_turns_each_leg_gets_as_many_bytes() {
    let mut rig = rig(LegChoice::Turns);
    for _ in 0..20 {
        rig.fill(1);
        rig.block(0, DOWN, 600);
    }
    let given = carried(&rig.drb, DOWN).expect("it is split");
    let [local, secondary] = [0, 1].map(|leg| given[leg].packets);
    assert!(secondary.abs_diff(10) <= 1, "{secondary}");
    assert!(local <= 10, "the rest waits: {local}");
}

#[test]
fn a_packet_takes_the_leg_over_which_less_is_before_it() {
    let mut rig = rig(LegChoice::ExpectedDelay);
    rig.fill(1);
    assert_eq!(sent(&mut rig), 0, "there is no way that is shorter");
    for _ in 0..5 {
        // While both legs have carried the same number of bytes, the next packet goes to the first
        // leg.
        rig.fill(1);
        assert_eq!(sent(&mut rig), 1);
        rig.fill(1);
        assert_eq!(sent(&mut rig), 0);
    }
}

/// The first leg serves 3,000 bytes per millisecond. The secondary leg serves 500 bytes per
/// millisecond, and its delivery status reports that rate.
#[test]
fn a_leg_gets_what_its_cell_serves() {
    let mut rig = rig(LegChoice::ExpectedDelay);
    for ms in 0..400 {
        rig.now = millis(ms);
        let frames = rig.frames_after_wake();
        rig.carry(&frames);
        rig.fill(4);
        let frames = rig.frames();
        rig.carry(&frames);
        for (leg, bytes) in [(0, 3000), (1, 500)] {
            let block = rig.block(leg, DOWN, bytes);
            rig.arrive(leg, DOWN, &block);
            let status = rig.block(leg, UP, 200);
            rig.arrive(leg, UP, &status);
        }
    }
    let given = carried(&rig.drb, DOWN).expect("it is split");
    let (local, secondary) = (given[0].bytes as f64, given[1].bytes as f64);
    // The bearer gets 4,012 bytes per millisecond, so both legs are busy. The first leg gets about
    // six times the bytes of the secondary leg, as its rate is six times as high.
    assert!(
        (5.0..7.0).contains(&(local / secondary)),
        "{local} to {secondary}"
    );
}

#[test]
fn what_has_waited_for_longer_than_the_other_way_takes_goes_over_it() {
    let mut rig = rig(LegChoice::ExpectedDelay);
    rig.fill(1);
    assert_eq!(sent(&mut rig), 0);
    // No cell has granted resources for the packet. While no rate is known, 1,003 bytes take one
    // millisecond, so the delays are compared again after that time.
    let armed = rig.with_drb(|drb, env, _| split(drb).expect("it is split").arm(env.now));
    let (at, _) = armed.expect("it is looked at again");
    assert!((millis(1)..millis(2)).contains(&at), "{at:?}");
    rig.now = at + Span::from_millis(1);
    rig.fill(0);
    assert_eq!(sent(&mut rig), 1);
}
