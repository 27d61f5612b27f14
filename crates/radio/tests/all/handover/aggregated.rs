//! Tests of secondary cells under mobility management: their change at handovers, and event A6.

use super::loses_only_with_the_connection;
use super::street::{Case, Outcomes, books_close, case, cell, count, mobility, rlc, run};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, Dbm, Direction, Hertz, RadioDropCause, RrcEvent, RrcRow, Span, Time};
use fadeout_radio::access::{Aggregation, CellConfig, EventKind, MeasurementEvent, Scope};
use fadeout_radio::channel::LineOfSight;
use fadeout_radio::pdcp::Delivery;
use fadeout_radio::rlc::RlcConfig;
use fadeout_testkit::Cases;

fn a6(event: &MeasurementEvent, offset: f64) -> MeasurementEvent {
    MeasurementEvent {
        kind: EventKind::A6 { offset },
        ..*event
    }
}

/// Returns a copy of a cell on another carrier, with another position and another power.
fn on_other_carrier(
    cell: &CellConfig,
    (number, shift_m, power_dbm): (u32, f64, f64),
) -> CellConfig {
    let mut site = cell.site;
    site.x += shift_m;
    CellConfig {
        site,
        carrier: Hertz(cell.carrier.0 + 40e6 * f64::from(number)),
        power: Dbm(power_dbm),
        ..cell.clone()
    }
}

/// Returns a case like that of [`case`], with one or two more cells per site. Each additional cell
/// of a site is on another carrier. The UE may use all cells of a site at once.
fn aggregated(random: &mut Stream, rlc: RlcConfig, is_nr: bool) -> Case {
    let mut case = case(random, rlc, is_nr);
    add_carriers(random, &mut case);
    case
}

/// Adds one or two cells on other carriers to each site of a case, and secondary cells to its UE.
pub(super) fn add_carriers(random: &mut Stream, case: &mut Case) {
    let sites = case.config.cells.len() as u32;
    let carriers = 1 + random.below(2) as u32;
    for number in 1..=carriers {
        for site in 0..sites {
            let own = &case.config.cells[site as usize];
            let place = (
                number,
                random.uniform_in(-60.0, 60.0),
                random.uniform_in(-5.0, 30.0),
            );
            let other = on_other_carrier(own, place);
            case.config.cells.push(other);
        }
    }
    let count = sites * (carriers + 1);
    let is_one = case.mobility.stations.iter().all(|&station| station == 7);
    case.mobility.stations = match is_one {
        true => vec![7; count as usize],
        false => (0..count).collect(),
    };
    // In the list of each primary cell, cells of the same site come first.
    let offers = |primary: u32| -> Vec<CellId> {
        let others = (0..count).filter(|other| other / sites != primary / sites);
        let mut others: Vec<u32> = others.collect();
        others.sort_by_key(|other| (other % sites != primary % sites, *other));
        others.into_iter().map(CellId).collect()
    };
    case.mobility.secondaries = (0..count).map(offers).collect();
    let event = a6(&case.mobility.events[0], random.uniform_in(-1.0, 4.0));
    case.mobility.events.push(event);
    if random.chance(0.5) {
        case.mobility.events[0].scope = Scope::SameCarrier;
    }
    let first: Vec<CellId> = (1..=carriers).map(|n| CellId(n * sites)).collect();
    let mut aggregation = Aggregation::new(&first).expect("two at most");
    aggregation.has_uplink = random.chance(0.5);
    aggregation.activation = Span::from_millis(random.below(30));
    aggregation.deactivation = random.chance(0.5).then_some(Span::from_millis(50));
    case.config.ues[0].aggregation = aggregation;
    case.keeps_blocks = true;
}

/// Returns the numbers of secondary cells added, secondary cells released, reconfigurations sent,
/// and blocks that secondary cells carried.
fn count_events(outcomes: &Outcomes) -> [usize; 4] {
    // Rows of blocks do not name the primary cell. So a block counts if its cell is a secondary
    // cell according to the earlier RRC rows.
    let mut secondary: Vec<CellId> = Vec::new();
    let mut steps = outcomes.rows.steps.iter().peekable();
    let mut carried = 0;
    for block in &outcomes.rows.blocks {
        while let Some(row) = steps.next_if(|row| row.time_s <= block.time_s) {
            match row.event {
                RrcEvent::SecondaryAdded => secondary.push(row.cell),
                RrcEvent::SecondaryReleased => secondary.retain(|cell| *cell != row.cell),
                _ => {}
            }
        }
        carried += usize::from(secondary.contains(&block.cell));
    }
    [
        count(outcomes, RrcEvent::SecondaryAdded),
        count(outcomes, RrcEvent::SecondaryReleased),
        count(outcomes, RrcEvent::ReconfigurationSent),
        carried,
    ]
}

#[test]
fn with_acknowledgments_and_forwarding_only_a_lost_connection_loses_anything() {
    let mut sums = [0; 4];
    // A case takes about 80 ms, so a usual run has only the first 20 cases.
    let cases = Cases::new(60).first(12);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.aggregated", 0);
        let is_nr = random.chance(0.5);
        let case = aggregated(&mut random, rlc(is_nr, true), is_nr);
        let outcomes = run(case, seed, Span::from_millis(2), Span::from_secs(12));
        books_close(&outcomes, seed);
        for (sum, more) in sums.iter_mut().zip(count_events(&outcomes)) {
            *sum += more;
        }
        loses_only_with_the_connection(&outcomes, seed);
    });
    let least = [500, 500, 100, 10_000];
    assert!(
        !cases.is_whole() || sums.iter().zip(least).all(|(sum, least)| *sum > least),
        "{sums:?} added, released, commanded, and blocks"
    );
}

#[test]
fn without_acknowledgments_every_loss_has_its_cause() {
    let (mut changes, mut lost) = (0, 0);
    let cases = Cases::new(40).first(9);
    cases.run(|seed| {
        let mut random = Stream::new(seed, "handover.aggregated.lossy", 0);
        let is_nr = random.chance(0.5);
        let mut case = aggregated(&mut random, rlc(is_nr, false), is_nr);
        if is_nr {
            case.config.bearers[0].pdcp.delivery = Delivery::InOrder(Some(Span::from_millis(100)));
        }
        let outcomes = run(case, seed, Span::from_millis(2), Span::from_secs(12));
        books_close(&outcomes, seed);
        changes += count_events(&outcomes)[2];
        let drops = outcomes.rows.drops.iter();
        lost += drops
            .filter(|row| row.cause == RadioDropCause::HarqFailure)
            .count();
    });
    assert!(
        !cases.is_whole() || changes > 50 && lost > 20,
        "{changes} changes, {lost} packets lost to HARQ"
    );
}

/// Returns a walk through one strong cell. Two weak cells of another carrier are at the ends of the
/// walk.
fn two_ends(is_nr: bool, offset: f64) -> Case {
    let mut random = Stream::new(1, "two ends", 0);
    let mut case = case(&mut random, rlc(is_nr, true), is_nr);
    let mut first = cell(is_nr, 200.0, 43.0);
    (first.channel.line_of_sight, first.channel.shadowing) = (LineOfSight::Clear, None);
    case.config.cells = vec![
        first.clone(),
        on_other_carrier(&first, (1, -200.0, 20.0)),
        on_other_carrier(&first, (1, 200.0, 20.0)),
    ];
    let a3 = MeasurementEvent {
        scope: Scope::SameCarrier,
        ..mobility(3).events[0]
    };
    case.mobility = mobility(3);
    case.mobility.events = vec![a3, a6(&a3, offset)];
    case.mobility.secondaries = vec![vec![CellId(1), CellId(2)]];
    case.config.ues[0].aggregation = Aggregation::new(&[CellId(1)]).expect("one");
    // The walk is so long that the UE does not turn back.
    (case.walk.speed, case.walk.length) = (20.0, 1e5);
    case.loses_markers = false;
    case.keeps_blocks = true;
    case
}

#[test]
fn a_better_cell_of_its_carrier_takes_the_place_of_a_secondary_one() {
    for (is_nr, processing) in [(false, 20), (true, 16)] {
        let outcomes = run(
            two_ends(is_nr, 3.0),
            3,
            Span::from_millis(1),
            Span::from_secs(18),
        );
        books_close(&outcomes, 3);
        assert!(outcomes.rows.handovers.is_empty() && outcomes.rows.drops.is_empty());
        let steps = &outcomes.rows.steps;
        let row_of = |event: RrcEvent| -> RrcRow {
            let mut steps = steps.iter().filter(|row| row.event == event);
            let first = *steps.next().unwrap_or_else(|| panic!("no {event:?}"));
            assert!(
                event != RrcEvent::SecondaryAdded || steps.next().is_none(),
                "once"
            );
            first
        };
        use RrcEvent::{ReconfigurationSent, ReportReceived, SecondaryAdded, SecondaryReleased};
        let (commanded, old, new) = (
            row_of(ReconfigurationSent),
            row_of(SecondaryReleased),
            row_of(SecondaryAdded),
        );
        assert_eq!(
            (commanded.cell, old.cell, new.cell),
            (CellId(2), CellId(1), CellId(2))
        );
        assert!(row_of(ReportReceived).time_s <= commanded.time_s && commanded.time_s < old.time_s);
        // The new cell must be 3 + 1 dB stronger than the old one. The UE passes the middle between
        // the cells at 10 s, so the reconfiguration is sent later.
        assert!(commanded.time_s > Time::ZERO + Span::from_secs(10));
        let answer = new.time_s.since(old.time_s);
        let ms = Span::from_millis;
        assert!(
            (ms(processing)..ms(processing + 40)).contains(&answer),
            "{answer}"
        );
        let of_cell = |cell| {
            let blocks = outcomes.rows.blocks.iter();
            let down = blocks.filter(|row| row.direction == Direction::Downlink);
            down.filter(move |row| row.cell == CellId(cell))
        };
        let last = of_cell(1).map(|row| row.time_s).max().expect("blocks");
        assert!(last <= old.time_s, "{last} {}", old.time_s);
        let first = of_cell(2).map(|row| row.time_s).min().expect("blocks");
        assert!(
            first >= new.time_s + ms(24) && first < new.time_s + ms(30),
            "{first}"
        );
        // The primary cell continues to serve the UE every few milliseconds.
        let around = old.time_s..first;
        let times = of_cell(0).map(|row| row.time_s);
        let times: Vec<Time> = times.filter(|at| around.contains(at)).collect();
        assert!(
            times.windows(2).all(|pair| pair[1].since(pair[0]) < ms(8)),
            "{times:?}"
        );
        assert!(times.len() > 10);
    }
}

#[test]
fn a_neighbour_that_is_not_offered_or_not_better_by_the_offset_changes_nothing() {
    let changes = |case: Case| {
        let outcomes = run(case, 3, Span::from_millis(5), Span::from_secs(18));
        (
            count(&outcomes, RrcEvent::ReportSent) > 0,
            count(&outcomes, RrcEvent::ReconfigurationSent),
        )
    };
    assert_eq!(changes(two_ends(true, 200.0)), (false, 0));
    let mut case = two_ends(true, 3.0);
    case.mobility.secondaries = vec![vec![CellId(1)]];
    assert_eq!(changes(case), (true, 0), "reported, and passed over");
}

#[test]
fn a_handover_releases_secondary_cells_and_the_target_adds_its_own() {
    let mut random = Stream::new(1, "two sites", 0);
    let mut case = case(&mut random, rlc(true, true), true);
    let (first, second) = (cell(true, 0.0, 30.0), cell(true, 400.0, 30.0));
    case.config.cells = vec![
        first.clone(),
        second.clone(),
        on_other_carrier(&first, (1, 0.0, 30.0)),
        on_other_carrier(&second, (1, 0.0, 30.0)),
    ];
    case.mobility = mobility(4);
    case.mobility.events[0].scope = Scope::SameCarrier;
    case.mobility.secondaries = vec![vec![CellId(2)], vec![CellId(3)]];
    case.config.ues[0].aggregation = Aggregation::new(&[CellId(2)]).expect("one");
    (case.walk.speed, case.walk.length) = (20.0, 1e5);
    case.loses_markers = false;
    case.keeps_blocks = true;
    let outcomes = run(case, 1, Span::from_millis(1), Span::from_secs(18));
    books_close(&outcomes, 1);
    let [row] = &outcomes.rows.handovers[..] else {
        panic!("{:?}", outcomes.rows.handovers);
    };
    let steps: Vec<(f64, RrcEvent, u32)> = outcomes
        .rows
        .steps
        .iter()
        .filter(|row| {
            use RrcEvent::{ReconfigurationSent, SecondaryAdded, SecondaryReleased};
            matches!(
                row.event,
                ReconfigurationSent | SecondaryAdded | SecondaryReleased
            )
        })
        .map(|row| {
            (
                row.time_s.since(Time::ZERO).as_secs_f64(),
                row.event,
                row.cell.0,
            )
        })
        .collect();
    assert_eq!(
        steps,
        [
            (row.left_s, RrcEvent::SecondaryReleased, 2),
            (row.entered_s, RrcEvent::SecondaryAdded, 3)
        ]
    );
    let blocks = outcomes.rows.blocks.iter();
    let times = blocks.filter(|row| row.cell == CellId(3));
    let first = times.map(|row| row.time_s.since(Time::ZERO).as_secs_f64());
    let first = first.fold(f64::INFINITY, f64::min);
    assert!(first >= row.entered_s + 0.024 && first < row.completed_s + 0.1);
}

#[test]
fn a_link_lives_without_its_secondary_cell() {
    let mut case = two_ends(false, 3.0);
    case.mobility.events.truncate(1);
    case.config.cells[1].power = Dbm(-100.0);
    let outcomes = run(case, 5, Span::from_millis(1), Span::from_secs(10));
    books_close(&outcomes, 5);
    assert!(outcomes.rows.handovers.is_empty() && outcomes.rows.drops.is_empty());
    assert!(outcomes.rows.blocks.iter().all(|row| row.cell == CellId(0)));
}

#[test]
fn after_a_failure_the_ue_is_told_of_secondary_cells() {
    let mut case = two_ends(true, 3.0);
    // Every cell, as primary cell, has a list of secondary cells for the UE.
    let others = [[1, 2], [0, 0], [0, 0]];
    case.mobility.secondaries = others.map(|it| it.map(CellId).to_vec()).to_vec();
    // No measurement event is configured, and the UE walks out of the cell and back. So its link
    // fails, and the UE re-establishes the connection.
    case.mobility.events.clear();
    case.config.cells[0].power = Dbm(-30.0);
    case.config.cells[0].site.x = 0.0;
    case.config.cells[1].power = Dbm(-30.0);
    case.mobility.monitoring.t310 = Span::from_millis(200);
    case.walk.speed = 60.0;
    case.walk.length = 900.0;
    let outcomes = run(case, 5, Span::from_millis(5), Span::from_secs(29));
    books_close(&outcomes, 5);
    let events: Vec<RrcEvent> = outcomes.rows.steps.iter().map(|row| row.event).collect();
    let place = |what: RrcEvent| {
        events
            .iter()
            .position(|&event| event == what)
            .unwrap_or_else(|| panic!("no {what:?}: {events:?}"))
    };
    use RrcEvent::{
        CompleteReceived, LinkFailure, ReconfigurationSent, SecondaryAdded, SecondaryReleased,
    };
    let order = [
        LinkFailure,
        SecondaryReleased,
        CompleteReceived,
        ReconfigurationSent,
        SecondaryAdded,
    ];
    assert!(order.map(place).is_sorted(), "{events:?}");
}
