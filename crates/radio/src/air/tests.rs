//! Tests of the air without cells' schedulers. The tests decide which cell serves a UE and who
//! sends.

use super::*;
use crate::channel::ChannelConfig;
use crate::channel::fading::Fading;
use crate::channel::path_loss::{FreeSpace, PathLoss};
use crate::channel::recorded::Interpolation;
use crate::config::UplinkPower;
use crate::plan::Measurement;
use fadeout_core::math::from_db;
use fadeout_core::{Decibel, Hertz, Kinematics, NodeId, Vector};

/// One UE at `x`, moving along the line of sites at `speed`.
struct MovingUe {
    x: f64,
    speed: f64,
    /// Instants for which the UE's position was requested.
    asked: Vec<Time>,
}

impl Motion for MovingUe {
    fn kinematics_at(&mut self, _node: NodeId, time: Time) -> Kinematics {
        let last = self.asked.last().copied().unwrap_or_default();
        assert!(time >= last, "motion does not go back");
        self.asked.push(time);
        Kinematics {
            position: Point::new(self.x + self.speed * time.as_secs_f64(), 0.0, 0.0),
            velocity: Vector::new(self.speed, 0.0, 0.0),
        }
    }
}

fn ue_at(x: f64) -> MovingUe {
    MovingUe {
        x,
        speed: 0.0,
        asked: Vec::new(),
    }
}

fn free_space() -> ChannelConfig {
    ChannelConfig {
        path_loss: PathLoss::FreeSpace(FreeSpace),
        shadowing: None,
        los_fading: Fading::None,
        nlos_fading: Fading::None,
        ..ChannelConfig::default()
    }
}

fn lte(x: f64, carrier: f64) -> CellConfig {
    CellConfig {
        channel: free_space(),
        ..CellConfig::lte(Point::new(x, 0.0, 0.0), Hertz(carrier), 50)
    }
}

fn two_cells() -> [CellConfig; 2] {
    [lte(0.0, 2e9), lte(1000.0, 2e9)]
}

const UE: UeId = UeId(0);
const LEG: LegId = LegId(0);

/// Returns the air with one UE, which the cell with number `cell` serves.
fn served_by(cells: &[CellConfig], cell: u32) -> Air {
    let mut air = Air::new(cells, &[UeConfig::new(NodeId(0))], &[], 1).expect("cells");
    air.connect(LEG, UE, CellId(cell)).expect("a leg");
    air
}

fn scheme() -> LayeredScheme<'static> {
    LayeredScheme {
        mcs: &crate::phy::mcs::McsTable::Qam64.rows()[0],
        layers: 1,
    }
}

fn downlink_at(air: &mut Air, x: f64, slot: u64) -> f64 {
    let now = air.cells[0].frame.start_of(slot);
    air.refresh(LEG, now, &mut ue_at(x));
    air.downlink_sinr_db(LEG, slot, (scheme(), Extent::Whole))
}

#[test]
fn a_cell_that_sends_disturbs_in_the_slot_in_which_it_does() {
    let mut air = served_by(&two_cells(), 1);
    // The signal is 46 dBm minus a free-space loss of 88.01 dB over 300 m. The noise over 9 MHz
    // with a noise figure of 9 dB is -95.46 dBm. The SNR of 53 dB is limited to 30 dB, the largest
    // SINR of a receiver.
    let alone = downlink_at(&mut air, 700.0, 0);
    assert_eq!(alone, 30.0);
    air.on_downlink_sent(CellId(0), 500, 0.5);
    let disturbed = downlink_at(&mut air, 700.0, 500);
    // The noise is negligible. The SINR is 20 log10(700 / 300) dB plus 3 dB, because the interferer
    // uses half of the band.
    assert!((disturbed - (7.36 + 3.01)).abs() < 0.01, "{disturbed}");
    assert_eq!(downlink_at(&mut air, 700.0, 501), alone);
    // The serving cell's own transmissions do not interfere with its UE, so the SINR is unchanged.
    air.on_downlink_sent(CellId(1), 502, 1.0);
    assert_eq!(downlink_at(&mut air, 700.0, 502), alone);
}

#[test]
fn cells_are_measured_by_their_power_and_given_sinrs_by_distance() {
    let mut cells = two_cells();
    let measure = |cells: &[CellConfig], ue: UeConfig, x: f64| {
        let mut found = Vec::new();
        let mut air = Air::new(cells, &[ue], &[], 1).expect("cells");
        let report = |cell: CellId, value| found.push((cell.0, value));
        air.measure_cells(UE, Time::ZERO, &mut ue_at(x), report);
        found
    };
    let ue = UeConfig::new(NodeId(0));
    let found = measure(&cells, ue, 700.0);
    // The levels are 46 dBm - 95.37 dB over 700 m, and 46 dBm - 88.01 dB over 300 m.
    for ((cell, power), expected) in found.into_iter().zip([(0, -49.37), (1, -42.01)]) {
        assert_eq!(cell, expected.0);
        assert!((power - expected.1).abs() < 0.01, "{power}");
    }
    cells[0].power.0 += 10.0;
    let found = measure(&cells, ue, 700.0);
    assert!(found[0].1 > found[1].1, "{found:?}");
    let given = UeConfig {
        fixed_sinr: Some(FixedSinr {
            downlink: Decibel(3.0),
            uplink: Decibel(4.0),
        }),
        ..ue
    };
    assert_eq!(measure(&cells, given, 700.0), [(0, -700.0), (1, -300.0)]);
}

#[test]
fn at_the_cells_own_place_the_signal_is_finite() {
    let mut air = served_by(&two_cells(), 0);
    assert_eq!(downlink_at(&mut air, 0.0, 0), 30.0);
    // At a distance of zero, the loss is the free-space loss over one metre at 2 GHz.
    let gain_db = air.channels[0].gain_db;
    assert!((gain_db + 38.47).abs() < 0.01, "{gain_db}");
}

#[test]
fn far_away_the_noise_decides() {
    let mut air = served_by(&two_cells(), 0);
    let sinr = downlink_at(&mut air, -200_000.0, 0);
    // The SINR is 46 dBm, minus a free-space loss of 144.49 dB over 200 km, minus noise of -95.46
    // dBm.
    assert!((sinr - (46.0 - 144.49 + 95.46)).abs() < 0.01, "{sinr}");
}

#[test]
fn uplink_power_follows_its_control() {
    let mut air = served_by(&two_cells(), 0);
    downlink_at(&mut air, 100.0, 0);
    // The power per resource block is -84 dBm + 0.8 x 78.47 dB = -21.2 dBm. The UE's maximum power
    // therefore suffices for all 50 resource blocks.
    let power = air.block_power_dbm(LEG, 50);
    assert!((power - (-84.0 + 0.8 * 78.468)).abs() < 0.01, "{power}");
    assert_eq!(air.affordable_blocks(LEG, 50), 50);
    // At 20 km the power per resource block is -84 dBm + 0.8 x 124.49 dB = 15.6 dBm. The UE's
    // maximum power of 23 dBm suffices for 5 resource blocks.
    downlink_at(&mut air, 20_000.0, 200);
    assert_eq!(air.affordable_blocks(LEG, 50), 5);
    let mut cells = two_cells();
    cells[0].uplink_power = UplinkPower::Maximum;
    let mut air = served_by(&cells, 0);
    downlink_at(&mut air, 20_000.0, 0);
    let power = air.block_power_dbm(LEG, 3);
    assert!((power - (23.0 - to_db(3.0))).abs() < 1e-9, "{power}");
    let spread = air.spread_db(LEG, 50);
    assert!((spread + to_db(50.0)).abs() < 1e-9, "{spread}");
    assert_eq!(air.affordable_blocks(LEG, 50), 50);
}

#[test]
fn what_a_ue_sends_is_heard_in_the_other_cell_and_lowers_its_sinr() {
    let ues = [UeConfig::new(NodeId(0)), UeConfig::new(NodeId(1))];
    let mut air = Air::new(&two_cells(), &ues, &[], 1).expect("cells");
    let other = LegId(1);
    air.connect(LEG, UE, CellId(0)).expect("a leg");
    air.connect(other, UeId(1), CellId(1)).expect("a leg");
    for leg in [LEG, other] {
        air.refresh(leg, Time::ZERO, &mut ue_at(100.0));
    }
    let alone = air.uplink_sinr_db(other, (7, scheme()), -20.0);
    air.on_uplink_sent(LEG, 7, 6.0, 0.25);
    // The other cell receives 6 dBm, minus a free-space loss of 97.55 dB over 900 m, minus 6.02 dB
    // for a quarter of the band.
    let heard = to_db(air.uplinks.received.value_at(CellId(1), 7));
    assert!((heard - (6.0 - 97.55 - 6.02)).abs() < 0.01, "{heard}");
    assert_eq!(air.uplinks.received.value_at(CellId(0), 7), 0.0);
    let disturbed = air.uplink_sinr_db(other, (7, scheme()), -20.0);
    // The signal is -20 dBm - 97.55 dB and the interference is -97.57 dBm, so the SINR is -20 dB.
    assert!((disturbed - -20.0).abs() < 0.1, "{disturbed}");
    assert!(alone > disturbed + 10.0, "{alone}");
}

#[test]
fn what_a_ue_has_sent_to_its_source_does_not_count_against_it_in_its_target() {
    let (target, other) = (LegId(1), LegId(2));
    // Returns the uplink SINR in cell 1 of two UEs. The first UE enters cell 1 from cell 0 after
    // 300 slots. The second UE is in cell 1 all the time.
    let found = |sends: bool, changes_cells: bool, other_dbm: Option<f64>| {
        let ues = [UeConfig::new(NodeId(0)), UeConfig::new(NodeId(1))];
        let mut air = Air::new(&two_cells(), &ues, &[], 1).expect("cells");
        if changes_cells {
            air.prepare_measurements(UE, &[CellId(0), CellId(1)])
                .expect("paths");
        }
        air.connect(LEG, UE, CellId(0)).expect("a leg");
        air.connect(target, UE, CellId(1)).expect("a leg");
        air.connect(other, UeId(1), CellId(1)).expect("a leg");
        air.stop_using(target);
        for leg in [LEG, other] {
            air.refresh(leg, Time::ZERO, &mut ue_at(900.0));
        }
        for slot in 0..300 {
            if sends {
                air.on_uplink_sent(LEG, slot, 6.0, 0.25);
            }
            if let Some(power_dbm) = other_dbm {
                air.uplinks
                    .received
                    .add(CellId(1), slot, from_db(power_dbm));
            }
        }
        air.stop_using(LEG);
        air.use_again(target);
        let now = air.cells[0].frame.start_of(300);
        air.refresh(target, now, &mut ue_at(900.0));
        [target, other].map(|leg| air.quality_db(leg, now)[1])
    };
    let alone = found(false, true, None);
    let [own, others] = found(true, true, None);
    assert_eq!(own, alone[0], "to the bit, where nobody else sends");
    // Cell 1 received the first UE at 6 dBm - 77.54 dB - 6.02 dB, about 40 dB above the noise. So
    // the SINR of the second UE falls by more than 30 dB.
    assert!(others < alone[1] - 30.0, "{others} {alone:?}");
    // If mobility management does not change the UE's cell, the UE's own earlier transmissions stay
    // in the mean and lower its SINR.
    assert!(found(true, false, None)[0] < alone[0] - 30.0);
    // Interference from other UEs stays in the mean. It lowers the SINR equally with and without
    // the UE's own transmissions.
    let [with, _] = found(true, true, Some(-110.0));
    let [without, _] = found(false, true, Some(-110.0));
    assert!((with - without).abs() < 1e-9, "{with} {without}");
    assert!(without < alone[0] - 3.0, "{without} {alone:?}");
}

#[test]
fn legs_on_two_carriers_have_their_own_signal_and_do_not_disturb_each_other() {
    let cells = [
        lte(0.0, 2e9),
        CellConfig {
            channel: free_space(),
            ..CellConfig::nr(Point::new(1000.0, 0.0, 0.0), Hertz(3.5e9), 1, 51).expect("a cell")
        },
        lte(2000.0, 2e9),
    ];
    let mut air = served_by(&cells, 0);
    let nr = LegId(1);
    air.connect(nr, UE, CellId(1)).expect("a second leg");
    // At 100 km the SINR is below the largest SINR of a receiver, so the SINR is not limited.
    let mut motion = ue_at(-100_000.0);
    for leg in [LEG, nr] {
        air.refresh(leg, Time::ZERO, &mut motion);
    }
    let sinr =
        |air: &Air| [LEG, nr].map(|leg| air.downlink_sinr_db(leg, 0, (scheme(), Extent::Whole)));
    let alone = sinr(&air);
    // The NR cell has the same power and is 1 % further away. Its path loss is 4.86 dB higher, due
    // to its frequency. Its noise over 18.36 MHz is 3.10 dB higher.
    let difference = alone[0] - alone[1];
    assert!(
        (difference - (4.86 + 3.10 + 0.09)).abs() < 0.02,
        "{difference}"
    );
    air.on_downlink_sent(CellId(1), 0, 1.0);
    assert_eq!(sinr(&air), alone, "another carrier");
    air.on_downlink_sent(CellId(2), 0, 1.0);
    let disturbed = sinr(&air);
    assert!(disturbed[0] < alone[0] && disturbed[1] == alone[1]);
}

#[test]
fn two_legs_on_one_carrier_each_look_at_their_own_path() {
    let mut air = served_by(&two_cells(), 0);
    let second = LegId(1);
    air.connect(second, UE, CellId(1)).expect("a second leg");
    let mut motion = MovingUe {
        speed: 100.0,
        ..ue_at(500.0)
    };
    for leg in [LEG, second] {
        air.refresh(leg, Time::ZERO, &mut motion);
    }
    let before = air.gains[1];
    // A millisecond later the first leg evaluates its own path only, so the gains of other paths do
    // not change.
    let now = Time::ZERO + Span::from_millis(1);
    air.refresh(LEG, now, &mut motion);
    assert_eq!(air.gains[1], before);
    air.refresh(second, now, &mut motion);
    assert!(air.gains[1] > before, "it comes nearer");
    // The cell of the second leg interferes with the first leg at equal power, so the SINR is 0 dB.
    air.on_downlink_sent(CellId(1), 1, 1.0);
    let sinr_db = air.downlink_sinr_db(LEG, 1, (scheme(), Extent::Whole));
    assert!(sinr_db.abs() < 0.01, "{sinr_db}");
}

#[test]
fn legs_with_grids_of_their_own_never_ask_motion_to_go_back() {
    let mut cells = [lte(0.0, 2e9), lte(1000.0, 3e9)];
    cells[0].gain_period = Span::from_millis(10);
    let mut air = served_by(&cells, 0);
    let second = LegId(1);
    air.connect(second, UE, CellId(1)).expect("a second leg");
    let mut motion = MovingUe {
        speed: 1000.0,
        ..ue_at(100.0)
    };
    let now = Time::ZERO + Span::from_millis(15);
    air.refresh(second, now, &mut motion);
    air.refresh(LEG, now, &mut motion);
    // The gains of the first leg are evaluated every 10 ms. At 10 ms the UE was at 110 m, where the
    // loss is 79.30 dB. The position at 10 ms is extrapolated, so motion is not queried for it.
    assert_eq!(motion.asked, [Time::ZERO, now]);
    let gain_db = air.channels[0].gain_db;
    assert!((gain_db + 79.30).abs() < 0.01, "{gain_db}");
}

fn series(first: f64) -> Series {
    let later = Time::ZERO + Span::from_secs(1);
    let rows = [(Time::ZERO, first), (later, first - 10.0)];
    Series::new(rows, Span::ZERO, Interpolation::Linear).expect("two rows")
}

fn recorded(cell: u32, quantity: Quantity) -> RecordedPath {
    RecordedPath {
        ue: UE,
        cell: CellId(cell),
        quantity,
        has_fading: false,
    }
}

#[test]
fn a_recorded_gain_replaces_the_channel_and_where_asked_its_fading() {
    let mut cells = two_cells();
    cells[1].channel.los_fading = Fading::Rayleigh;
    let ues = [UeConfig::new(NodeId(0))];
    for has_fading in [false, true] {
        let recorded = [RecordedPath {
            has_fading,
            ..recorded(1, Quantity::Gain(series(-120.0)))
        }];
        let mut air = Air::new(&cells, &ues, &recorded, 1).expect("cells");
        air.connect(LEG, UE, CellId(1)).expect("a leg");
        // The recording begins at -120 dB and falls by 10 dB per thousand slots. The SINR is 46 dBm
        // - 120 dB over noise of -95.46 dBm at first.
        let errors = (0..900_u64).map(|slot| {
            let expected = 21.46 - 0.01 * slot as f64;
            downlink_at(&mut air, 900.0, slot) - expected
        });
        let most = errors.fold(0.0, |most: f64, one| most.max(one.abs()));
        assert_eq!(most > 1.0, has_fading, "{most}");
        assert!(has_fading || most < 0.01, "{most}");
    }
}

#[test]
fn a_recorded_gain_disturbs_as_a_modelled_one_does() {
    let ues = [UeConfig::new(NodeId(0))];
    // The serving cell's loss is 88.01 dB over 300 m, by its path loss model. The interfering
    // cell's gain is read from a recording, so the SINR is the difference of the two.
    let recorded = [recorded(0, Quantity::Gain(series(-95.0)))];
    let mut air = Air::new(&two_cells(), &ues, &recorded, 1).expect("cells");
    air.connect(LEG, UE, CellId(1)).expect("a leg");
    downlink_at(&mut air, 700.0, 0);
    air.on_downlink_sent(CellId(0), 0, 1.0);
    let disturbed = downlink_at(&mut air, 700.0, 0);
    assert!((disturbed - (95.0 - 88.01)).abs() < 0.01, "{disturbed}");
}

#[test]
fn a_recorded_sinr_is_what_is_received_in_either_direction() {
    let quantity = |first| Quantity::Sinr {
        downlink: series(first),
        uplink: series(first - 7.0),
    };
    let ues = [UeConfig::new(NodeId(0))];
    let both = [recorded(0, quantity(12.0)), recorded(1, quantity(15.0))];
    let mut air = Air::new(&two_cells(), &ues, &both, 1).expect("cells");
    let mut best = Vec::new();
    air.measure_cells(UE, Time::ZERO, &mut ue_at(0.0), |cell, value| {
        best.push((cell, value));
    });
    assert_eq!(best, [(CellId(0), 12.0), (CellId(1), 15.0)]);
    air.connect(LEG, UE, CellId(1)).expect("a leg");
    // A recorded SINR already includes interference, so the transmission of the other cell does not
    // change it.
    air.on_downlink_sent(CellId(0), 500, 1.0);
    assert_eq!(downlink_at(&mut air, 700.0, 500), 10.0);
    assert_eq!(air.uplink_sinr_db(LEG, (500, scheme()), -20.0), 3.0);
    let mut measurement = Measurement::UNKNOWN;
    air.measure_uplink(LEG, 500, &mut measurement);
    assert!(measurement.is_given && measurement.sinr_db == 3.0);
}

/// Motion of a UE with two pauses. Both pauses are at the same position.
struct RestingUe {
    /// True if vehicles may pass. A stored gain must then not be reused.
    has_vehicles: bool,
}

impl Motion for RestingUe {
    fn kinematics_at(&mut self, _node: NodeId, time: Time) -> Kinematics {
        let (x, speed) = match time.as_secs_f64() {
            t if t < 1.0 => (300.0, 0.0),
            t if t < 2.0 => (300.0 + 40.0 * (t - 1.0), 40.0),
            t if t < 3.0 => (340.0 - 40.0 * (t - 2.0), -40.0),
            _ => (300.0, 0.0),
        };
        Kinematics {
            position: Point::new(x, 20.0, 1.5),
            velocity: Vector::new(speed, 0.0, 0.0),
        }
    }
    fn has_vehicles(&self) -> bool {
        self.has_vehicles
    }
}

#[test]
fn a_gain_that_is_kept_while_a_ue_rests_is_the_one_that_would_be_found() {
    let cells = [0.0, 1000.0].map(|x| CellConfig {
        channel: ChannelConfig {
            los_fading: Fading::Rayleigh,
            nlos_fading: Fading::Rayleigh,
            ..ChannelConfig::default()
        },
        ..CellConfig::lte(Point::new(x, 0.0, 25.0), Hertz(2e9), 50)
    });
    let run = |has_vehicles| {
        let mut air = served_by(&cells, 0);
        let mut motion = RestingUe { has_vehicles };
        let mut found = Vec::new();
        for slot in 0..4000 {
            let now = air.cells[0].frame.start_of(slot);
            air.refresh(LEG, now, &mut motion);
            if slot % 40 == 7 {
                air.measure_levels(UE, now, &mut motion, |_, level| found.push(level));
            }
            air.on_downlink_sent(CellId(1), slot, 0.5);
            found.push(air.downlink_sinr_db(LEG, slot, (scheme(), Extent::Whole)));
        }
        found
    };
    let (kept, evaluated) = (run(false), run(true));
    assert_eq!(kept, evaluated);
    assert!(kept.iter().any(|level| *level != kept[0]));
}
