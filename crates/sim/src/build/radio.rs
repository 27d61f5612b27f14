//! Cells, UEs, and the buildings and vehicles around them.

mod part;
mod track;

pub(super) use part::part;

use super::{BuildError, all, channel_file, dual, outdoors, vehicles};
use crate::radio::Radio;
use fadeout_core::random::Stream;
use fadeout_core::{CellId, DrbId, Rate, Span, Time, UeId};
use fadeout_mobility::{Obstacle, Places, Rectangle};
use fadeout_radio::access::{
    AccessConfig, Aggregation, AirInterface, BearerConfig, CarrierLegs, CellConfig, FixedSinr,
    HighestModulation, LegChoice, RadioAccess, RadioConfig, RadioError, Serving, SplitConfig,
    StatesConfig, UeConfig, establish_as,
};
use fadeout_radio::antenna::{Antenna, BeamFailure, BeamManagement};
use fadeout_radio::channel::blockage::Blockage;
use fadeout_radio::channel::fading::Fading;
use fadeout_radio::channel::path_loss::PathLoss;
use fadeout_radio::channel::penetration::Penetration;
use fadeout_radio::channel::{ChannelConfig, Shadowing};
use fadeout_radio::mac::{LogicalChannel, MacSchedulerKind};
use fadeout_radio::pdcp::{Delivery, Pdcp};
use fadeout_radio::phy::mutual_information::Modulation;
use fadeout_radio::rlc::{Generation, RlcConfig, RlcMode};
use fadeout_radio::technology;
use fadeout_radio::user_plane::{DesiredBuffer, FlowControlConfig};
use fadeout_radio::wire::Form;
use fadeout_record::{RadioChannel, RadioChannelForm, RadioInfo};
use fadeout_scenario::{
    self as scenario, Duplication, LegChoice as Choice, Movement, Named, Scenario, SplitPath,
};

/// Builds the radio access of a scenario. `None` without cells.
pub(super) fn build(scenario: &Scenario) -> Result<Option<Radio>, BuildError> {
    if scenario.cells.is_empty() {
        channel_file::refuse_without_cells(scenario)?;
        return Ok(None);
    }
    let (config, places) = surroundings(scenario)?;
    let generations: Vec<Generation> = config.cells.iter().map(generation).collect();
    let named = |error| named_error(scenario, &error);
    let recorded = channel_file::recorded(scenario)?;
    let access = RadioAccess::with_recordings(config, &recorded, scenario.seed).map_err(named)?;
    let mut radio = Radio::new(access, places);
    establish(scenario, &generations, &mut radio)?;
    Ok(Some(radio))
}

/// Adds the bearers whose UEs are in the radio access.
fn establish(
    scenario: &Scenario,
    generations: &[Generation],
    radio: &mut Radio,
) -> Result<(), BuildError> {
    // RLC and PDCP depend on the technology of the serving cell. Some UEs have a serving cell only
    // after they have attached.
    for (number, described) in (0..).map(DrbId).zip(scenario.bearers()) {
        let Some(ue) = radio.local_ue(UeId(described.ue as u32)) else {
            continue;
        };
        let refuse = |reason| BuildError::Ue {
            ue: described.name(),
            reason,
        };
        let serving = radio.access.serving_cell(ue);
        let serving = serving.ok_or_else(|| refuse("it finds no cell".to_owned()))?;
        let first = generations[serving.index()];
        let second = described.described.pscell.map(|cell| generations[cell]);
        let second = dual::generation_of(scenario, (first, second)).map_err(refuse)?;
        let bearer = bearer(&described, (first, second), &scenario.cells).map_err(refuse)?;
        let bearer = BearerConfig { ue, ..bearer };
        if let Some(numbers) = &mut radio.numbers {
            numbers.add_bearer(number);
        }
        let id = establish_as(&mut radio.access, number, bearer)
            .map_err(|error| refuse(error.reason()))?;
        let changes = described
            .split()
            .map_or(&[][..], |split| &split.duplication_changes);
        if scenario.mobility.is_some() && !changes.is_empty() {
            return Err(refuse(
                "`duplication-changes` under mobility management, where the cells of legs change; \
                 expected no such key"
                    .to_owned(),
            ));
        }
        for change in changes {
            let cells = change.legs.iter();
            let cells: Vec<CellId> = cells
                .filter_map(|it| cell_of(it, &scenario.cells))
                .collect();
            radio.access.duplicate_over(id, change.at, &cells);
        }
    }
    Ok(())
}

/// Returns the configuration of cells and UEs without their bearers, and the positions of all
/// nodes.
pub(crate) fn surroundings(scenario: &Scenario) -> Result<(RadioConfig, Places), BuildError> {
    let ues: Vec<UeId> = (0..scenario.ues.len() as u32).map(UeId).collect();
    surroundings_of(scenario, &ues)
}

/// Returns the configuration of all cells and of the UEs `ues`, and the positions of all nodes.
fn surroundings_of(scenario: &Scenario, ues: &[UeId]) -> Result<(RadioConfig, Places), BuildError> {
    let mut config = RadioConfig {
        cells: all(scenario.cells.iter().map(cell))?,
        ..RadioConfig::default()
    };
    outdoors::check(scenario)?;
    let mut places = around(scenario)?;
    config.ues = all(ues.iter().map(|&id| {
        let described = &scenario.ues[id.index()];
        put_ue(scenario, described, &mut places)?;
        Ok(UeConfig {
            attaches_at: attaches_at(described, scenario.seed, id.0.into()),
            takes_secondary: dual::takes_secondary(scenario, described),
            ..ue(described)
        })
    }))?;
    Ok((config, places))
}

/// Returns the time at which an initially idle UE begins to attach. `None` if the UE is attached at
/// the start.
fn attaches_at(described: &scenario::Ue, seed: u64, number: u64) -> Option<Time> {
    let within = described.attach_within.unwrap_or_default().as_nanos();
    let later = match within {
        0 => 0,
        _ => Stream::new(seed, "radio.attach", number).below(within),
    };
    let at = Time::ZERO.saturating_add(described.attach_at?);
    Some(at.saturating_add(Span::from_nanos(later)))
}

/// Returns the buildings and vehicles between the nodes.
pub(super) fn around(scenario: &Scenario) -> Result<Places, BuildError> {
    let mut places = Places::default();
    buildings(scenario, &mut places);
    vehicles::add(scenario, &mut places)?;
    Ok(places)
}

/// Adds the buildings to the surroundings.
fn buildings(scenario: &Scenario, places: &mut Places) {
    for building in &scenario.buildings {
        if !building.outline.is_empty() {
            let (base, height) = (building.base.0, building.height.0);
            for wall in Obstacle::walls(&building.outline, base, height) {
                places.build(wall);
            }
            continue;
        }
        let (low, high) = (building.low, building.high);
        let obstacle = Obstacle {
            base: building.base.0,
            ..Obstacle::building(Rectangle { low, high }, building.height.0)
        };
        if building.foliage {
            places.plant(obstacle);
        } else {
            places.build(obstacle);
        }
    }
}

/// Adds the track of a UE to the positions of the nodes.
pub(super) fn put_ue(
    scenario: &Scenario,
    described: &scenario::Ue,
    places: &mut Places,
) -> Result<(), BuildError> {
    if let Movement::Vehicle { group, number } = described.movement {
        return vehicles::ride(scenario, described, (group, number as usize), places);
    }
    let random = Stream::new(scenario.seed, "mobility", u64::from(described.node.0));
    let track =
        track::build(described, scenario.duration, random).map_err(|reason| BuildError::Ue {
            ue: described.name.clone(),
            reason,
        })?;
    places.put(described.node, track);
    Ok(())
}

/// Returns the serving cell of each UE. `None` if no cell serves it.
pub(super) fn serving(radio: Option<&Radio>, scenario: &Scenario) -> Vec<Option<CellId>> {
    let cell = |ue| radio?.access.serving_cell(UeId(ue));
    (0..scenario.ues.len() as u32).map(cell).collect()
}

/// Returns the names and numbers that captures of the radio need.
pub(super) fn info(scenario: &Scenario, radio: Option<&Radio>) -> RadioInfo {
    let Some(radio) = radio.filter(|_| !scenario.probe.radio_capture.is_empty()) else {
        return RadioInfo::default();
    };
    let channels = radio.access.formats().map(|channel| RadioChannel {
        is_nr: channel.generation == Generation::Nr,
        lcid: channel.lcid,
        drb: channel.drb(),
        form: match channel.rlc {
            Form::Tm => RadioChannelForm::Transparent,
            Form::Um(bits) => RadioChannelForm::Unacknowledged(bits),
            Form::Am(bits) => RadioChannelForm::Acknowledged(bits),
        },
        pdcp_sn_bits: channel.pdcp.sn_bits,
    });
    RadioInfo {
        cell_nodes: scenario.cells.iter().map(|cell| cell.node).collect(),
        ue_nodes: scenario.ues.iter().map(|ue| ue.node).collect(),
        channels: channels.collect(),
    }
}

/// Converts an error of the radio access. The name of the cell, UE or bearer replaces its number.
pub(crate) fn named_error(scenario: &Scenario, error: &RadioError) -> BuildError {
    let reason = error.reason();
    match error {
        RadioError::Phy { cell, .. }
        | RadioError::Channel { cell, .. }
        | RadioError::Cell { cell, .. } => BuildError::Cell {
            cell: scenario.cells[*cell].name.clone(),
            reason,
        },
        RadioError::Ue { ue, .. } => BuildError::Ue {
            ue: scenario.ues[*ue].name.clone(),
            reason,
        },
        RadioError::Parameter { bearer, .. } | RadioError::Bearer { bearer, .. } => {
            BuildError::Ue {
                ue: scenario
                    .bearers()
                    .nth(*bearer)
                    .map_or_else(String::new, |bearer| bearer.name()),
                reason,
            }
        }
        RadioError::NoUe { .. } | RadioError::NoLeg { .. } => {
            unreachable!("bearers are made of UEs and their legs: {error}")
        }
    }
}

fn unknown(kind: &str, named: &Named) -> String {
    format!("there is no {kind} \"{}\"", named.name)
}

/// Returns the configuration of a cell for the radio access.
pub(super) fn cell(described: &scenario::Cell) -> Result<CellConfig, BuildError> {
    cell_config(described).map_err(|reason| BuildError::Cell {
        cell: described.name.clone(),
        reason,
    })
}

fn cell_config(described: &scenario::Cell) -> Result<CellConfig, String> {
    let Named { name, parameters } = &described.radio;
    let carrier = technology::Carrier {
        site: described.position,
        carrier: described.carrier,
        bandwidth: described.bandwidth,
    };
    let radio = technology::Radio::new(name, parameters);
    let radio = radio.ok_or_else(|| unknown("radio", &described.radio))?;
    let cell = radio.cell(&carrier)?;
    let scheduler = |given: &Named| {
        MacSchedulerKind::new(&given.name, &given.parameters)
            .ok_or_else(|| unknown("scheduler", given))
    };
    Ok(CellConfig {
        repeats: described.repeats,
        power: described.tx_power,
        noise_figure: described.noise_figure,
        downlink_scheduler: scheduler(&described.mac_scheduler)?,
        uplink_scheduler: scheduler(&described.uplink_mac_scheduler)?,
        channel: channel(described)?,
        ..cell
    })
}

fn generation(cell: &CellConfig) -> Generation {
    match cell.air {
        AirInterface::Lte { .. } => Generation::Lte,
        AirInterface::Nr { .. } => Generation::Nr,
    }
}

/// Bounds of a bearer's rate that do not depend on its channel.
pub(crate) struct Bounds {
    /// Peak rate of the serving cell.
    pub(crate) peak: Rate,
    /// Transmission time interval of LTE. `None` for NR.
    pub(crate) tti: Option<Span>,
    pub(crate) rlc: RlcConfig,
    /// Reordering timer of a split bearer's receiver. `None` if the receiver waits without limit.
    pub(crate) split_reordering: Option<Span>,
}

/// Returns the bounds of a bearer in a cell. `None` if one of them cannot be built.
pub(super) fn bounds(described: &scenario::Cell, bearer: &scenario::Bearer<'_>) -> Option<Bounds> {
    let cell = cell(described).ok()?;
    let Named { name, parameters } = bearer.rlc();
    let tti = match cell.air {
        AirInterface::Lte { tti } => Some(tti),
        AirInterface::Nr { .. } => None,
    };
    Some(Bounds {
        peak: cell.peak_rate(),
        tti,
        rlc: RlcMode::new(name, parameters, generation(&cell))?.config(),
        split_reordering: {
            let Named { name, parameters } = bearer.pdcp();
            match Pdcp::new(name, parameters, Generation::Nr)?
                .config()
                .delivery
            {
                Delivery::InOrder(waits) | Delivery::OutOfOrder(waits) => waits,
                Delivery::FromRlc => None,
            }
        },
    })
}

fn channel(cell: &scenario::Cell) -> Result<ChannelConfig, String> {
    let described = &cell.channel;
    let antenna = |given: &Named| {
        Antenna::new(&given.name, &given.parameters).ok_or_else(|| unknown("antenna", given))
    };
    let path_loss = &described.path_loss;
    // The fading model ignores this zero if the K factor is drawn at random.
    let k_db = described.k_factor.map_or(0.0, |k| k.0);
    let delay_spread = described.delay_spread.unwrap_or_default();
    let name = &described.fading;
    let fading = Fading::from_name(name, k_db, delay_spread)
        .ok_or_else(|| format!("there is no fading \"{name}\""))?;
    let blockages = described.blockage.iter().map(|given| {
        Blockage::new(&given.name, &given.parameters)
            .ok_or_else(|| unknown("blockage model", given))
    });
    Ok(ChannelConfig {
        carrier: cell.carrier,
        bandwidth: cell.bandwidth,
        sub_bands: described.sub_bands as usize,
        path_loss: PathLoss::new(&path_loss.name, &path_loss.parameters)
            .ok_or_else(|| unknown("path loss", path_loss))?,
        line_of_sight: described.line_of_sight,
        shadowing: described.shadowing.then(Shadowing::default),
        los_fading: fading,
        nlos_fading: fading,
        draws_k_factor: described.k_factor.is_none(),
        draws_delay_spread: described.delay_spread.is_none(),
        environment_speed: described.environment_speed,
        blockages: blockages.collect::<Result<_, _>>()?,
        base_antenna: antenna(&cell.antenna)?,
        ue_antenna: antenna(&described.ue_antenna)?,
        receive_antennas: described.receive_antennas,
        beams: described
            .beam_tracking
            .map(|tracking_period| BeamManagement {
                tracking_period,
                switching_delay: described.beam_switching_delay,
                prediction: described.beam_prediction,
                failure: Some(BeamFailure {
                    threshold_db: described.beam_failure_threshold.0,
                    recovery_delay: described.beam_recovery_delay,
                    reflection_loss_db: described.reflected_path.map(|loss| loss.0),
                    ..BeamFailure::default()
                }),
                ..BeamManagement::default()
            }),
        has_oxygen: described.oxygen,
        rain_mm_per_h: described.rain,
        ..ChannelConfig::default()
    })
}

/// Returns the configuration of a UE for the radio access.
pub(super) fn ue(described: &scenario::Ue) -> UeConfig {
    UeConfig {
        serving: match described.cell {
            Some(cell) => Serving::Cell(CellId(cell as u32)),
            None => Serving::Strongest,
        },
        pscell: described.pscell.map(|cell| CellId(cell as u32)),
        aggregation: aggregation(described),
        power: described.tx_power,
        noise_figure: described.noise_figure,
        penetration: match described.penetration {
            scenario::Penetration::None => Penetration::None,
            scenario::Penetration::LowLoss => Penetration::LowLoss,
            scenario::Penetration::HighLoss => Penetration::HighLoss,
            scenario::Penetration::Single => Penetration::Single,
            scenario::Penetration::Car => Penetration::Car,
            scenario::Penetration::Loss(loss) => Penetration::Fixed(loss),
        },
        modulation: HighestModulation {
            downlink: modulation(described.downlink_modulation),
            uplink: modulation(described.uplink_modulation),
        },
        fixed_sinr: described
            .sinr
            .map(|(downlink, uplink)| FixedSinr { downlink, uplink }),
        states: described.rrc_states.as_ref().map(states),
        ..UeConfig::new(described.node)
    }
}

fn modulation(described: scenario::Modulation) -> Modulation {
    match described {
        scenario::Modulation::Qpsk => Modulation::Qpsk,
        scenario::Modulation::Qam16 => Modulation::Qam16,
        scenario::Modulation::Qam64 => Modulation::Qam64,
        scenario::Modulation::Qam256 => Modulation::Qam256,
    }
}

fn states(described: &scenario::RrcStates) -> StatesConfig {
    StatesConfig {
        inactivity: described.inactivity,
        released_to: described.state,
        cycle_frames: described.paging_cycle,
        paging_frames: described.paging_frames,
        access: AccessConfig {
            occasion_period: described.preamble_period,
            ..AccessConfig::default()
        },
        message_delay: described.message_delay,
        setup_processing: described.setup_delay,
        security_processing: described.security_delay,
        reconfiguration_processing: described.reconfiguration_delay,
        core_delay: described.core_delay,
    }
}

fn aggregation(described: &scenario::Ue) -> Aggregation {
    let cells = described.secondary_cells.iter();
    let cells: Vec<CellId> = cells.map(|&cell| CellId(cell as u32)).collect();
    // The scenario reader limits the number of secondary cells, so the error cannot occur here.
    let mut aggregation = Aggregation::new(&cells).unwrap_or(Aggregation::NONE);
    if let Some(takes) = described.secondary_activation {
        aggregation.activation = takes;
    }
    if let Some(most) = described.max_secondary_cells {
        aggregation.most = most as u8;
    }
    aggregation.deactivation = described.secondary_deactivation;
    aggregation.has_uplink = described.secondary_uplink.unwrap_or(false);
    aggregation
}

fn bearer(
    described: &scenario::Bearer<'_>,
    (generation, second): (Generation, Option<Generation>),
    cells: &[scenario::Cell],
) -> Result<BearerConfig, String> {
    let (rlc, pdcp) = (described.rlc(), described.pdcp());
    let split = described.split();
    let of_rlc = |generation| {
        RlcMode::new(&rlc.name, &rlc.parameters, generation)
            .map(RlcMode::config)
            .ok_or_else(|| unknown("RLC mode", rlc))
    };
    // Split bearers use the PDCP of NR with any legs (TS 37.340 clause 4.2.2).
    let of_pdcp = if split.is_some() {
        Generation::Nr
    } else {
        generation
    };
    let pdcp = Pdcp::new(&pdcp.name, &pdcp.parameters, of_pdcp)
        .ok_or_else(|| unknown("PDCP", pdcp))?
        .config();
    let split = split.map(|split| {
        let carriers: Vec<CellId> = split
            .carriers
            .iter()
            .filter_map(|it| cell_of(it, cells))
            .collect();
        // The scenario reader limits the number of carriers, so the error cannot occur here.
        let carriers = CarrierLegs::new(&carriers).unwrap_or(CarrierLegs::NONE);
        Ok::<_, String>(SplitConfig {
            leg: second.map(|_| 1),
            carriers,
            rlc: of_rlc(second.unwrap_or(generation))?,
            pdcp_sn_bits: pdcp.sn_bits,
            primary: u8::from(split.primary_path == SplitPath::Secondary),
            thresholds: [
                Some(split.downlink_threshold),
                split.ul_data_split_threshold,
            ],
            choice: match split.leg_choice {
                Choice::ExpectedDelay => LegChoice::ExpectedDelay,
                Choice::Demand => LegChoice::Demand,
                Choice::Turns => LegChoice::Turns,
            },
            duplicates: match split.duplication {
                None => [false; 2],
                Some(Duplication::Downlink) => [true, false],
                Some(Duplication::Uplink) => [false, true],
                Some(Duplication::Both) => [true; 2],
            },
            flow_control: flow_control(split),
        })
    });
    let channel = described
        .drb
        .map_or_else(LogicalChannel::default, |drb| LogicalChannel {
            priority: drb.priority,
            prioritised_bit_rate: drb.prioritised_bit_rate,
            bucket_size_duration: drb.bucket_size_duration,
        });
    Ok(BearerConfig {
        ue: UeId(described.ue as u32),
        leg: 0,
        channel,
        rlc: of_rlc(generation)?,
        pdcp,
        split: split.transpose()?,
    })
}

/// Returns the cell with a name. `None` if there is none.
fn cell_of(name: &str, cells: &[scenario::Cell]) -> Option<CellId> {
    let position = cells.iter().position(|cell| cell.name == name)?;
    Some(CellId(position as u32))
}

pub(super) fn flow_control(split: &scenario::Split) -> FlowControlConfig {
    FlowControlConfig {
        desired: match split.desired_buffer {
            Some(bytes) => DesiredBuffer::Fixed(bytes),
            None => DesiredBuffer::Lasting(split.buffer_time, split.least_buffer),
        },
        status_period: split.status_period,
        poll_after: split.poll_after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rlc_is_of_the_generation_of_the_cell_that_a_ue_finds() {
        let cell = |name: &str, radio: &str, x: &str| {
            format!(
                "[cell.{name}]\nradio = \"{radio}\"\ncarrier = \"2 GHz\"\n\
                 bandwidth = \"20 MHz\"\nposition = [\"{x}\", \"0 m\"]\n\
                 channel = {{ path-loss = \"free-space\" }}\n\
                 [link.to-{name}]\nfrom = \"server\"\nto = \"{name}\"\nrate = \"1 Gbit/s\"\n\
                 delay = \"1 ms\"\n"
            )
        };
        let cells = [cell("old", "lte", "0 m"), cell("new", "nr", "1 km")].concat();
        for (x, expected) in [("100 m", Generation::Lte), ("900 m", Generation::Nr)] {
            let text = format!(
                "duration = \"1 s\"\n{cells}[ue.phone]\nposition = [\"{x}\", \"0 m\"]\n\
                 [flow.bulk]\nfrom = \"server\"\nto = \"phone\"\n"
            );
            let source = scenario::Source {
                name: "test".to_owned(),
                base_dir: ".".into(),
            };
            let parsed = scenario::parse(&text, &source, &[], crate::catalog());
            let scenario = parsed.unwrap_or_else(|error| panic!("{error}"));
            let radio = build(&scenario).unwrap_or_else(|error| panic!("{error}"));
            let radio = radio.expect("there are cells");
            let generations = radio.access.formats().map(|format| format.generation);
            assert!(generations.eq([expected]), "{x}");
        }
    }
}
