//! Cells, user equipment and obstacles between them.

use super::{EquipmentDelay, MovementTrace, Named, RrcStates, Split};
use crate::build::Builder;
use crate::keys::{
    COORDINATES, DROPS, INDOOR, LENGTH, LENGTH_OR_ZERO, MAX_UES, PENETRATION, POSITIVE_TIME, RATE,
    SITES, TIME,
};
use crate::quantity::Dimension;
use crate::read::{Content, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, key_table, nested, word_choice};
use fadeout_core::agreed::{
    BeamPrediction, LineOfSight, MOST_FADING_SUB_BANDS, MOST_RECEIVE_ANTENNAS, MOST_SECONDARY_CELLS,
};
use fadeout_core::{Dbm, Decibel, Hertz, Lattice, Meters, NodeId, Point, Rate, Span};
use serde_json::{Value, json};

const PLACE: Shape = Shape::Quantity(Dimension::Length, Range::closed(-1e6, 1e6));
const POSITION: Shape = Shape::Pair(&PLACE, &PLACE);
const HEIGHT: Shape = Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e4));
const POWER: Shape = Shape::Quantity(Dimension::Power, Range::closed(-50.0, 80.0));
const NOISE_FIGURE: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 30.0));
const FREQUENCY: Shape = Shape::Quantity(Dimension::Frequency, Range::closed(1e5, 3e11));
const SINR: Shape = Shape::Quantity(Dimension::Ratio, Range::closed(-50.0, 100.0));
const SPEED: Shape = Shape::Quantity(Dimension::Speed, Range::closed(0.0, 1000.0));

/// Presence of keys whose default value is that of the channel's beam management.
const BEAMS: Presence = Presence::OfPart("beam-management");
const CELL: Presence = Presence::OfPart("cell");
const CHANNEL: Presence = Presence::OfPart("channel");
const UE: Presence = Presence::OfPart("ue");
const LOGICAL_CHANNEL: Presence = Presence::OfPart("logical-channel");

const ANTENNA: Shape = Shape::Named {
    kind: "antenna",
    tag: "kind",
};
const MAC_SCHEDULER: Shape = Shape::Named {
    kind: "mac-scheduler",
    tag: "name",
};
const RLC: Shape = Shape::Named {
    kind: "rlc",
    tag: "mode",
};
const PDCP: Shape = Shape::Named {
    kind: "pdcp",
    tag: "name",
};

key_table! {
    /// A cell of a base station.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Cell {
        own {
            /// Name of the cell in the file.
            name: String,
            /// Node of the base station.
            node: NodeId,
            /// Position of the cell's antenna.
            position: Point,
            /// Two shifts after which the network repeats itself. None without repetition.
            repeats: Option<Lattice>,
            /// Indices of the cells that may become secondary cells of UEs in this cell.
            secondary_cells: Vec<usize>,
        }
        /// Preset of a commercial cell. It gives the radio, carrier, bandwidth, height, power,
        /// antenna and path loss that the file does not give. In the key `cell` of a deployment it
        /// gives radio, carrier and bandwidth. Default: no preset.
        "preset" = Shape::NameOf("cell-preset"), Optional;
        /// Node of the base station, which links connect. Several cells may share a node. Default:
        /// a node with the cell's name.
        "node" = Shape::Text, Optional;
        /// Cells on other carriers that may become secondary cells of UEs in this cell, under
        /// mobility management. A UE uses the first listed cell of each carrier. Event a6 replaces
        /// this cell by another cell of the carrier. Default: the cells at the same position.
        "secondary-cells" = Shape::List(&Shape::Reference), Optional;
        /// Position of the cell's antenna: east and north.
        "position" = POSITION, Default("[\"0 m\", \"0 m\"]");
        /// Sites of the cell, in place of `position`. The table then represents several cells,
        /// called NAME-SITE, one at each site. The cells have the other keys of the table.
        "sites" = SITES, Optional;
        /// Two displacements after which the network repeats itself (wrap-around). A UE receives
        /// the cell from the nearest of its wrap-around copies. Default: no repetition.
        "repeats" = Shape::Pair(&POSITION, &POSITION), Optional;
        /// Height of the cell's antenna above ground.
        "height" = HEIGHT, Default("\"10 m\"");
        /// Radio technology of the cell. It determines the frame structure, HARQ, scheduling
        /// requests and link adaptation.
        radio: Named = Shape::Named { kind: "radio", tag: "kind" }, FirstOfKind;
        /// Carrier frequency of the cell.
        carrier: Hertz = FREQUENCY, Required;
        /// Channel bandwidth of the cell.
        bandwidth: Hertz = FREQUENCY, Required;
        /// Transmit power of the cell over the whole bandwidth.
        tx_power: Dbm = POWER, CELL;
        /// Noise figure of the base station's receiver (TR 36.942).
        noise_figure: Decibel = NOISE_FIGURE, CELL;
        /// Antenna of the base station.
        antenna: Named = ANTENNA, FirstOfKind;
        /// Channel between the cell and its UEs.
        channel: Channel = Shape::Table(Channel::KEYS), Required;
        /// Delays of distributed and central unit, core network and modem that are neither in the
        /// radio nor in a link. They are added to the links that end at the node of the cell, but
        /// not to links between base stations. All cells of a node share them. Default: no delay.
        equipment_delay: Option<EquipmentDelay> = Shape::Table(EquipmentDelay::KEYS), Optional;
        /// MAC scheduler of the downlink. It chooses the UEs that each slot serves.
        mac_scheduler: Named = MAC_SCHEDULER, FirstOfKind;
        /// MAC scheduler of the uplink. It chooses the UEs that each slot serves.
        uplink_mac_scheduler: Named = MAC_SCHEDULER, FirstOfKind;
    }
}

key_table! {
    /// The channel between a cell and its UEs.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Channel {
        own {}
        /// Path loss model. It includes a line-of-sight probability and shadowing.
        path_loss: Named = Shape::Named { kind: "path-loss", tag: "model" }, Required;
        /// Rule that decides whether a UE is in line of sight.
        line_of_sight: LineOfSight = Shape::Choice(LineOfSight::WORDS), CHANNEL;
        /// True if shadowing is added to the path loss, with the deviation and correlation distance
        /// of the path loss model.
        shadowing: bool = Shape::Bool, CHANNEL;
        /// Small-scale fading. The fading `clusters` also changes the gain of beams.
        fading: String = Shape::NameOf("fading"), CHANNEL;
        /// Rician K factor in line of sight: the power of the direct path divided by the power of
        /// all other paths. The fadings `clusters` and `rician` use it. `"drawn"` draws it at the
        /// UE's position, from the distribution in TR 38.901 Table 7.5-6 (9 dB on average in UMi).
        k_factor: Option<Decibel> = Shape::AnyOf(&[
            Shape::Quantity(Dimension::Ratio, Range::closed(-60.0, 60.0)),
            Shape::Word("drawn"),
        ]), CHANNEL;
        /// RMS delay spread of the fading `clusters` and of tapped delay lines. TR 38.901 Table
        /// 7.7.3-1 calls 100 ns nominal. `"drawn"` draws it at the UE's position, from the
        /// distribution in Table 7.5-6.
        delay_spread: Option<Span> = Shape::AnyOf(&[
            Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e5)),
            Shape::Word("drawn"),
        ]), CHANNEL;
        /// Number of sub-bands for which frequency-selective fading is computed.
        sub_bands: u32 = Shape::Integer { min: 1, max: MOST_FADING_SUB_BANDS as u64 }, CHANNEL;
        /// Speed of objects around a UE. Their movement makes the fading of a UE at rest vary over
        /// time.
        environment_speed: f64 = SPEED, CHANNEL;
        /// Blockage model: people and vehicles that block the path. Default: no blockage.
        blockage: Option<Named> = Shape::Named { kind: "blockage-model", tag: "model" }, Optional;
        /// Antenna of the UEs on this carrier.
        ue_antenna: Named = ANTENNA, FirstOfKind;
        /// Number of antennas of each receiver, at the UE and at the base station. The receiver
        /// combines their signals (maximum ratio combining). Fading, noise and interference of the
        /// antennas are independent. More than one antenna is possible only with a single spatial
        /// layer.
        receive_antennas: u32 = Shape::Integer { min: 1, max: MOST_RECEIVE_ANTENNAS as u64 }, CHANNEL;
        /// Time between two beam measurements. The measurements also detect beam failures. Default:
        /// steered beams always point in the best direction.
        beam_tracking: Option<Span> = POSITIVE_TIME, Optional;
        /// Time from a beam measurement to the use of the new beam.
        beam_switching_delay: Span = TIME, BEAMS;
        /// Steering of the beams of UE and base station between two beam measurements.
        beam_prediction: BeamPrediction = Shape::Choice(BeamPrediction::WORDS), BEAMS;
        /// Loss of the received signal by blockage and misalignment above which a beam measurement
        /// fails. Three failed measurements in a row are a beam failure.
        beam_failure_threshold: Decibel =
            Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 100.0)), BEAMS;
        /// Time from a beam failure to the use of the beam that recovery has found. The UE receives
        /// nothing in this time.
        beam_recovery_delay: Span =
            Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e10)), BEAMS;
        /// Loss of the reflected path that beam recovery uses, relative to the clear direct path.
        /// Default: recovery returns to the direct path.
        reflected_path: Option<Decibel> =
            Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 100.0)), Optional;
        /// True if oxygen attenuates the signal, from 52 to 68 GHz (TR 38.901 clause 7.6.1).
        oxygen: bool = Shape::Bool, CHANNEL;
        /// Rain rate in millimetres per hour. Rain attenuates the signal (ITU-R P.838-3). 25 is
        /// heavy rain.
        rain: f64 = Shape::Number(Range::closed(0.0, 500.0)), CHANNEL;
    }
}

nested!(Channel);

key_table! {
    /// A UE: a radio interface of a node, with its bearers.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Ue {
        own {
            /// Name of the UE in the file.
            name: String,
            /// Node that the radio interface belongs to.
            node: NodeId,
            /// Serving cell at the start, an index into
            /// [`Scenario::cells`](super::Scenario::cells). None for the cell that the UE receives
            /// with the most power.
            cell: Option<usize>,
            /// Indices of the secondary cells, which carry the same bearers as the serving cell.
            secondary_cells: Vec<usize>,
            /// Index of the cell of the second leg (PSCell). None without a second leg.
            pscell: Option<usize>,
            /// Position of the UE at the start.
            position: Point,
            /// Movement of the UE after the start.
            movement: Movement,
            /// SINR of downlink and uplink that the scenario gives in place of the channel's. None
            /// if it gives none.
            sinr: Option<(Decibel, Decibel)>,
            /// Data radio bearers beside the default one. Flows use them by name.
            drbs: Vec<Drb>,
        }
        /// Node that the radio interface belongs to. A node with several radio interfaces has a UE
        /// for each. All of them start at the same position and move together. Default: a node with
        /// the UE's name.
        "node" = Shape::Text, Optional;
        /// Number of UEs and nodes to make, called NAME-0, NAME-1, …. A flow that names NAME
        /// becomes one flow for each of these UEs. Default: one UE, called NAME.
        "count" = Shape::Integer { min: 1, max: MAX_UES }, Optional;
        /// Cell that serves the UE at the start. Default: the cell that the UE receives with the
        /// most power.
        "cell" = Shape::Reference, Optional;
        /// Cells on other carriers whose downlink also carries the UE's bearers (carrier
        /// aggregation). They have the same technology as `cell`. Under mobility management the UE
        /// starts with these cells, and they may change.
        "secondary-cells" = Shape::List(&Shape::Reference), Optional;
        /// Largest number of secondary cells under mobility management. Default: the number of
        /// cells in `secondary-cells`.
        max_secondary_cells: Option<u32> =
            Shape::Integer { min: 1, max: MOST_SECONDARY_CELLS as u64 }, Optional;
        /// Second serving cell in addition to `cell`: the primary cell of the secondary cell group
        /// in dual connectivity (PSCell, TS 37.340 clause 3.1). Bearers with a `split` use both
        /// cells.
        "pscell" = Shape::Reference, Optional;
        /// Activation delay of a secondary cell: time from the arrival of the data that activates
        /// the cell to the cell's first transport block (TS 36.133 clause 7.7.2, TS 38.133 clause
        /// 8.3.2). Default: 24 ms.
        secondary_activation: Option<Span> = TIME, Optional;
        /// Time without data after which a secondary cell is deactivated (sCellDeactivationTimer).
        /// Default: never.
        secondary_deactivation: Option<Span> = POSITIVE_TIME, Optional;
        /// True if secondary cells also carry the UE's uplink. The UE then divides its power evenly
        /// among all cells. Default: false, so that `cell` alone carries the uplink.
        secondary_uplink: Option<bool> = Shape::Bool, Optional;
        /// Position of the UE at the start: east and north.
        "position" = POSITION, Default("[\"0 m\", \"0 m\"]");
        /// Radius of a disc around `position`. The start position of each UE of the table is drawn
        /// uniformly from the disc.
        "spread" = Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e6)), Optional;
        /// Area from which the start position of each UE of the table is drawn uniformly.
        "drop" = Shape::Variants(DROPS), Optional;
        /// Number of UEs per square kilometre in the area of `drop`, in place of a `count`.
        "density" = Shape::Number(Range::positive(1e12)), Optional;
        /// UEs of a `drop` that are inside buildings: their share, floors and walls. Default: all
        /// UEs are outdoors.
        "indoor" = Shape::Table(INDOOR), Optional;
        /// Speed of each UE of a `drop`. A UE moves straight on in a random direction. On a road it
        /// moves along the road in either direction.
        "speed" = SPEED, Optional;
        /// Height of the UE's antenna above ground.
        "height" = HEIGHT, Default("\"1.5 m\"");
        /// Mobility model of the UE.
        "mobility" = Shape::Named { kind: "mobility", tag: "model" }, FirstOfKind;
        /// Positions through which the UE moves in order, in place of a `mobility` model. It stays
        /// at the last position.
        "waypoints" = Shape::List(&Shape::Table(Waypoint::KEYS)), Optional;
        /// Movement trace that the UE follows, in place of a `mobility` model.
        "trace" = Shape::Variants(MovementTrace::VARIANTS), Optional;
        /// Group of vehicles, one of which carries the UE, in place of a `mobility` model. With a
        /// `count`, each UE is on a vehicle of its own. `position` and `height` of the UE are those
        /// of the vehicle's antenna.
        "vehicles" = Shape::Reference, Optional;
        /// Number of the UE's vehicle in its group. With several UEs it is the number of the first
        /// UE's vehicle. On a road the vehicles have no order. In a trace they are in the order of
        /// their names.
        "vehicle" = Shape::Integer { min: 0, max: 99_999 }, Optional;
        /// Maximum transmit power of the UE (power class 3, TS 36.101 and TS 38.101-1).
        tx_power: Dbm = POWER, UE;
        /// Noise figure of the UE's receiver (TR 36.942).
        noise_figure: Decibel = NOISE_FIGURE, UE;
        /// Penetration loss between the UE and outdoor base stations (TR 38.901 clause 7.4.3).
        /// `low-loss` and `high-loss` are walls. `single` is the model for frequencies below 6 GHz:
        /// a wall of 20 dB and the distance behind the wall. `car` is a car's body. A value in dB
        /// is the loss itself.
        penetration: Penetration = PENETRATION, Default("\"none\"");
        /// Highest modulation order of the UE's downlink. A cell with a fixed scheme ignores it.
        /// Default: no limit in addition to that of the cell.
        downlink_modulation: Modulation = Modulation::SHAPE, Default("\"256qam\"");
        /// Highest modulation order of the UE's uplink. In LTE the categories 1 to 4, 6 and 7 have
        /// 16QAM, and the categories 5 and 8 have 64QAM (TS 36.306 Table 4.1-2). A cell with a
        /// fixed scheme ignores it. Default: no limit in addition to that of the cell.
        uplink_modulation: Modulation = Modulation::SHAPE, Default("\"256qam\"");
        /// SINR of the downlink, in place of the SINR from the channel. Needs `uplink-sinr`.
        "downlink-sinr" = SINR, Optional;
        /// SINR of the uplink, in place of the SINR from the channel. Needs `downlink-sinr`.
        "uplink-sinr" = SINR, Optional;
        /// RLC mode of the UE's default bearer, with timers and buffer.
        rlc: Named = RLC, FirstOfKind;
        /// PDCP of the UE's default bearer.
        pdcp: Named = PDCP, FirstOfKind;
        /// Split of the default bearer between `cell` and `pscell`. Default: no split.
        split: Option<Split> = Shape::Table(Split::KEYS), Optional;
        /// RRC states: the connection is released after a time without data. Default: the UE is
        /// always connected.
        rrc_states: Option<RrcStates> = Shape::Table(RrcStates::KEYS), Optional;
        /// Time at which an idle UE begins to attach, under `[mobility-management]`. It selects a
        /// cell, performs random access with contention, registers, and is given its bearers.
        /// Default: the UE is connected from the start.
        attach_at: Option<Span> = TIME, Optional;
        /// Largest additional delay before a UE of a `count` begins to attach. The delay of each UE
        /// is drawn uniformly from zero to this value.
        attach_within: Option<Span> = TIME, Optional;
        /// Data radio bearers beside the default one, by name. A flow uses a bearer if its `route`
        /// names UE/NAME.
        "drb" = Shape::Map(Drb::KEYS), Optional;
    }
}

word_choice! {
    /// A modulation order.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Modulation {
        /// Two bits in each symbol.
        Qpsk = "qpsk",
        /// Four bits in each symbol.
        Qam16 = "16qam",
        /// Six bits in each symbol.
        Qam64 = "64qam",
        /// Eight bits in each symbol.
        Qam256 = "256qam",
    }
}

key_table! {
    /// A data radio bearer of a UE in addition to its default bearer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Drb {
        own {
            /// Name of the bearer in the file. Routes name it as UE/NAME.
            name: String,
        }
        /// RLC mode of the bearer, with timers and buffer.
        rlc: Named = RLC, FirstOfKind;
        /// PDCP of the bearer.
        pdcp: Named = PDCP, FirstOfKind;
        /// Split of the bearer between the UE's `cell` and `pscell`. Default: no split.
        split: Option<Split> = Shape::Table(Split::KEYS), Optional;
        /// Priority of the bearer's logical channel. Priority 1 is served first. The UE's default
        /// bearer has the default priority.
        priority: u8 = Shape::Integer { min: 1, max: 16 }, LOGICAL_CHANNEL;
        /// Prioritised bit rate of the bearer's logical channel (prioritisedBitRate). MAC first
        /// serves all channels up to this rate, in the order of priority. It then gives the
        /// remaining bytes of a transport block to the channels in the same order. Default: no
        /// limit, so a channel is given all bytes that it can use.
        prioritised_bit_rate: Option<Rate> = RATE, Optional;
        /// Time over which an unused prioritised bit rate accumulates (bucketSizeDuration).
        bucket_size_duration: Span = POSITIVE_TIME, LOGICAL_CHANNEL;
    }
}

/// Data radio bearer with its UE.
#[derive(Debug, Clone, Copy)]
pub struct Bearer<'a> {
    /// Index of the UE in [`Scenario::ues`](super::Scenario::ues).
    pub ue: usize,
    /// UE of the bearer.
    pub described: &'a Ue,
    /// Bearer beside the UE's default bearer. `None` for the default bearer.
    pub drb: Option<&'a Drb>,
}

impl Bearer<'_> {
    /// Returns the bearer's name. The default bearer has the name of its UE, all others UE/NAME.
    pub fn name(&self) -> String {
        match self.drb {
            None => self.described.name.clone(),
            Some(drb) => format!("{}/{}", self.described.name, drb.name),
        }
    }
    /// Returns the RLC mode, an entry of the catalog's kind "rlc".
    pub fn rlc(&self) -> &Named {
        self.drb.map_or(&self.described.rlc, |drb| &drb.rlc)
    }
    /// Returns the PDCP, an entry of the catalog's kind "pdcp".
    pub fn pdcp(&self) -> &Named {
        self.drb.map_or(&self.described.pdcp, |drb| &drb.pdcp)
    }
    /// Returns the split of the bearer. `None` if the bearer is not split.
    pub fn split(&self) -> Option<&Split> {
        let split = self.drb.map_or(&self.described.split, |drb| &drb.split);
        split.as_ref()
    }
}

/// Returns the bearers of UEs: first the default bearer of each UE, then all others.
pub(crate) fn bearers(ues: &[Ue]) -> impl Iterator<Item = Bearer<'_>> {
    let numbered = || ues.iter().enumerate();
    let defaults = numbered().map(|(ue, described)| Bearer {
        ue,
        described,
        drb: None,
    });
    let others = numbered().flat_map(|(ue, described)| {
        let drbs = described.drbs.iter();
        drbs.map(move |drb| Bearer {
            ue,
            described,
            drb: Some(drb),
        })
    });
    defaults.chain(others)
}

/// Penetration loss between a UE and base stations outdoors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penetration {
    /// No loss.
    None,
    /// Walls with low loss.
    LowLoss,
    /// Walls with high loss.
    HighLoss,
    /// Wall of 20 dB and the distance behind it, by the model for frequencies below 6 GHz.
    Single,
    /// Body of a car.
    Car,
    /// Fixed loss without a model.
    Loss(Decibel),
}

impl Penetration {
    const WORDS: [(&'static str, Penetration); 5] = [
        ("none", Penetration::None),
        ("low-loss", Penetration::LowLoss),
        ("high-loss", Penetration::HighLoss),
        ("single", Penetration::Single),
        ("car", Penetration::Car),
    ];
}

impl KeyValue for Penetration {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Word(word) => {
                let mut words = Penetration::WORDS.into_iter();
                words.find_map(|(known, one)| (known == word).then_some(one))
            }
            _ => Decibel::from_item(item, builder).map(Penetration::Loss),
        }
    }
    fn written(&self, shape: &Shape) -> Option<Value> {
        match self {
            Penetration::Loss(loss) => loss.written(shape),
            other => {
                let mut words = Penetration::WORDS.into_iter();
                words.find_map(|(word, one)| (one == *other).then(|| json!(word)))
            }
        }
    }
}

/// The movement of a UE.
#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// Movement by a model of the catalog's kind "mobility".
    Model(Named),
    /// Movement through a list of positions in order.
    Waypoints(Vec<Waypoint>),
    /// Movement by a trace file, which also determines the start position.
    Trace(MovementTrace),
    /// Movement with a vehicle in which the UE rides.
    Vehicle {
        /// Index of the group in [`Scenario::vehicles`](super::Scenario::vehicles).
        group: usize,
        /// Number of the vehicle in its group.
        number: u32,
    },
}

key_table! {
    /// A position through which a UE moves.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Waypoint {
        own {
            /// Position, east and north.
            place: (Meters, Meters),
        }
        /// Position through which the UE moves: east and north.
        "position" = POSITION, Required;
        /// Speed of the UE on the way to the position.
        speed: f64 = SPEED, Required;
        /// Time for which the UE stays at the position.
        pause: Span = TIME, Default("\"0 s\"");
    }
}

key_table! {
    /// A building or foliage that obstructs lines of sight.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Building {
        own {
            /// Name of the building in the file.
            name: String,
            /// South-west corner of the footprint, in metres.
            low: (f64, f64),
            /// North-east corner of the footprint, in metres.
            high: (f64, f64),
            /// Rings of walls. In each ring a wall also leads from the last point to the first.
            /// Empty for a rectangle.
            outline: Vec<Vec<(f64, f64)>>,
        }
        /// A corner of the building's footprint: east and north. The walls are parallel to the
        /// axes.
        "corner" = POSITION, Required;
        /// Corner of the footprint opposite to `corner`: east and north.
        "opposite" = POSITION, Required;
        /// Walls that replace the rectangle: the points of the outer wall, then the points of each
        /// courtyard. The rectangle is then only the bounding box of the walls.
        "outline" = Shape::List(&Shape::List(&POSITION)), Optional;
        /// Height of the roof above ground.
        height: Meters = LENGTH, Required;
        /// Height of the underside above ground, for a part of a building that stands on other
        /// parts or on pillars.
        base: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        /// True for foliage. Foliage attenuates a path by a loss for each metre within it. Its
        /// edges do not diffract.
        foliage: bool = Shape::Bool, Default("false");
        /// Path of an OpenStreetMap extract (.osm or .osm.pbf), relative to the scenario file. The
        /// command `fadeout` and the Python package replace this table by the buildings of the
        /// extract, called NAME, NAME-1, NAME-2, ….
        "file" = Shape::Text, Optional;
        /// Latitude and longitude of the point with the position 0 m, 0 m. Default: the middle of
        /// the extract.
        "origin" = COORDINATES, Optional;
        /// Path of a SUMO network (.net.xml), relative to the scenario file. Buildings of `file`
        /// then have the network's coordinates. Excludes `origin`.
        "net" = Shape::Text, Optional;
        /// Height of buildings in a `file` that have neither a height nor a number of levels.
        /// Default: 10 m.
        "default-height" = LENGTH, Optional;
        /// Height of each level of the buildings in a `file`. Default: 3 m.
        "level-height" = LENGTH, Optional;
    }
}
