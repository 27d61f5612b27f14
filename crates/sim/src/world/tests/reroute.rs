//! Tests of routes that change during a run.

use super::*;
use crate::world::RouteError;
use fadeout_core::{CellId, Direction, DrbId, NodeId, RouteId, UeId};

#[test]
fn a_new_route_is_for_what_is_sent_from_now_on() {
    let mut world = world(ROUTER);
    let before = under_way(&mut world, 0);
    let detour = [0, 4, 6].map(|link| Hop::Link(LinkId(link)));
    assert_eq!(world.reroute(BULK, &detour), Ok(()));
    // A packet in the network keeps the route that it started on.
    world.forward(before);
    assert_eq!((inside(&world, 2), inside(&world, 4)), (1, 0));
    let after = under_way(&mut world, 0);
    world.forward(after);
    assert_eq!((inside(&world, 2), inside(&world, 4)), (1, 1));
    // The receiver answers over the same hops.
    let back = world.endpoints[RECEIVER].route;
    let expected = [7, 5, 1].map(|link| Hop::Link(LinkId(link)));
    assert_eq!(world.routes.hops(back), expected);
}

#[test]
fn a_rerouted_flow_goes_on_and_both_ways_take_the_detour() {
    let mut world = world(ROUTER);
    world.run(ms(1_000), u64::MAX);
    let detour = [0, 4, 6].map(|link| Hop::Link(LinkId(link)));
    world.reroute(BULK, &detour).expect("a way from end to end");
    world.run(ms(1_200), u64::MAX);
    let delivered = world.machines().flows[0].delivered;
    let direct = packets_in(&world, 2);
    world.run(ms(3_000), u64::MAX);
    // At 12 Mbit/s, 1.8 s carry 2.7 MB, of which 1448 of 1500 bytes are payload. At least 2 MB must
    // arrive, because the change of routes reorders packets and causes a recovery.
    assert!(world.machines().flows[0].delivered > delivered + 2_000_000);
    let stats = |link| packets_in(&world, link);
    assert_eq!(stats(2), direct);
    assert!(
        stats(6) > 1_000 && stats(7) > 500,
        "{} {}",
        stats(6),
        stats(7)
    );
}

#[test]
fn a_way_that_leads_elsewhere_is_refused_and_changes_nothing() {
    let mut world = world(ROUTER);
    let links = |ids: &[u32]| -> Vec<Hop> {
        let hops = ids.iter().map(|&id| Hop::Link(LinkId(id)));
        hops.collect()
    };
    let bulk = || "bulk".to_owned();
    let gap = |position| RouteError::Gap {
        flow: bulk(),
        position,
    };
    let length = |hops| RouteError::Length { flow: bulk(), hops };
    for (hops, error) in [
        (links(&[]), length(0)),
        (links(&[0; 256]), length(256)),
        (links(&[0, 3]), gap(1)),
        (links(&[0, 99]), gap(1)),
        (links(&[0, 4]), RouteError::Astray(bulk())),
        (
            vec![Hop::Bearer {
                bearer: DrbId(0),
                direction: Direction::Downlink,
            }],
            gap(0),
        ),
    ] {
        assert_eq!(world.reroute(BULK, &hops), Err(error));
    }
    assert_eq!(
        world.reroute(FlowId(1), &links(&[0])),
        Err(RouteError::NoFlow(1))
    );
    assert_eq!(world.endpoints[SENDER].route, RouteId(0));
    let mut paths = self::world(TWO_PATHS);
    let whole = paths.reroute(FlowId(0), &links(&[0]));
    assert_eq!(whole, Err(RouteError::SeveralPaths("both".to_owned())));
    // A path has a flow number of its own, so its route can be changed by this number.
    assert_eq!(paths.reroute(FlowId(2), &links(&[0])), Ok(()));
}

#[test]
fn a_link_between_base_stations_is_a_hop_like_others() {
    let mut world = world(TWO_CELLS);
    let bearer = Hop::Bearer {
        bearer: DrbId(0),
        direction: Direction::Downlink,
    };
    let route = world.endpoints[SENDER].route;
    assert_eq!(world.routes.hops(route), [Hop::Link(LinkId(4)), bearer]);
    let forwarded = [Hop::Link(LinkId(0)), Hop::Link(LinkId(2)), bearer];
    assert_eq!(world.reroute(BULK, &forwarded), Ok(()));
    world.run(ms(500), u64::MAX);
    let stats = |link| packets_in(&world, link);
    assert!(stats(2) > 100, "{}", stats(2));
    assert_eq!(stats(4), 0);
    // The link S1 does not lead to the cell that serves the phone, so the route has a gap.
    let past = world.reroute(BULK, &[Hop::Link(LinkId(0)), bearer]);
    let flow = "bulk".to_owned();
    assert_eq!(past, Err(RouteError::Gap { flow, position: 1 }));
    let serving = world
        .machines()
        .radio
        .and_then(|radio| radio.serving_cell(UeId(0)));
    assert_eq!(serving, Some(CellId(1)));
    assert_eq!(world.machines().directory.endpoints()[0].node, NodeId(0));
}
