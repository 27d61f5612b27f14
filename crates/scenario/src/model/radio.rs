//! Cells, user equipment and what stands between them.

use super::{File, Named, RrcStates, Split};
use crate::build::Builder;
use crate::keys::{
    DROPS, INDOOR, LENGTH, LENGTH_OR_ZERO, MAX_UES, PENETRATION, POSITIVE_TIME, RATE, TIME,
};
use crate::quantity::Dimension;
use crate::read::{Content, Item};
use crate::shape::Presence::{Default, FirstOfKind, Optional, Required};
use crate::shape::{Presence, Range, Shape};
use crate::table::{KeyValue, nested, table, words};
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

/// The defaults of beam management are the channel's.
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

table! {
    /// One cell of a base station.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Cell {
        own {
            /// Its name in the file.
            name: String,
            /// The base station's node.
            node: NodeId,
            /// Where its antenna stands.
            position: Point,
            /// Shifts after which the network repeats itself.
            repeats: Option<Lattice>,
            /// Cells that may be secondary ones beside it, by index.
            secondary_cells: Vec<usize>,
        }
        /// Node of the base station, to which links lead; the cell's own name without it. Several
        /// cells may share a node.
        "node" = Shape::Text, Optional;
        /// Cells on other carriers that may be secondary ones of UEs in this one, under mobility management: the first of
        /// each carrier is added, others take its place by event a6. Without it those at its place.
        "secondary-cells" = Shape::List(&Shape::Reference), Optional;
        /// Where its antenna stands: east and north.
        "position" = POSITION, Default("[\"0 m\", \"0 m\"]");
        /// Two shifts after which the network repeats itself (wrap-around): a UE hears the image of the
        /// cell that is nearest to it.
        "repeats" = Shape::Pair(&POSITION, &POSITION), Optional;
        /// Height of its antenna above ground.
        "height" = HEIGHT, Default("\"10 m\"");
        /// The radio technology, with frame structure, HARQ, scheduling requests and link
        /// adaptation.
        radio: Named = Shape::Named { kind: "radio", tag: "kind" }, FirstOfKind;
        /// Carrier frequency.
        carrier: Hertz = FREQUENCY, Required;
        /// Channel bandwidth.
        bandwidth: Hertz = FREQUENCY, Required;
        /// Transmit power over the whole bandwidth.
        tx_power: Dbm = POWER, CELL;
        /// Noise figure of the base station's receiver (TR 36.942).
        noise_figure: Decibel = NOISE_FIGURE, CELL;
        /// Antenna of the base station.
        antenna: Named = ANTENNA, FirstOfKind;
        /// The channel between the cell and its UEs.
        channel: Channel = Shape::Table(Channel::KEYS), Required;
        /// Which UE the downlink serves next.
        mac_scheduler: Named = MAC_SCHEDULER, FirstOfKind;
        /// Which UE the uplink serves next.
        uplink_mac_scheduler: Named = MAC_SCHEDULER, FirstOfKind;
    }
}

table! {
    /// The channel between a cell and its UEs.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Channel {
        own {}
        /// Path loss, with its own probabilities of line of sight and its own shadowing.
        path_loss: Named = Shape::Named { kind: "path-loss", tag: "model" }, Required;
        /// How it is decided whether a UE is in line of sight.
        line_of_sight: LineOfSight = Shape::Choice(LineOfSight::WORDS), CHANNEL;
        /// Whether the loss varies around its median, with the model's deviation and correlation.
        shadowing: bool = Shape::Bool, CHANNEL;
        /// Small-scale fading. That of clusters bears on the gain of beams too.
        fading: String = Shape::NameOf("fading"), CHANNEL;
        /// Power of the direct path over that of all others, in line of sight, of clusters and Rician
        /// fading; "drawn" takes it from the place, by the path loss's law in TR 38.901 Table 7.5-6
        /// (9 dB in the mean for UMi).
        k_factor: Option<Decibel> = Shape::AnyOf(&[
            Shape::Quantity(Dimension::Ratio, Range::closed(-60.0, 60.0)),
            Shape::Word("drawn"),
        ]), CHANNEL;
        /// RMS delay spread of clusters and tapped delay lines (100 ns is nominal in TR 38.901 Table
        /// 7.7.3-1); "drawn" takes it from the place, by the path loss's law in Table 7.5-6.
        delay_spread: Option<Span> = Shape::AnyOf(&[
            Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e5)),
            Shape::Word("drawn"),
        ]), CHANNEL;
        /// Sub-bands in which wideband fading is sampled.
        sub_bands: u32 = Shape::Integer { min: 1, max: MOST_FADING_SUB_BANDS as u64 }, CHANNEL;
        /// Speed of what moves around a UE; it makes the channel of a UE that stands still change.
        environment_speed: f64 = SPEED, CHANNEL;
        /// A model of blockage by people and vehicles; nothing stands in the way without it.
        blockage: Option<Named> = Shape::Named { kind: "blockage-model", tag: "model" }, Optional;
        /// Antenna of the UEs on this carrier.
        ue_antenna: Named = ANTENNA, FirstOfKind;
        /// Antennas of each receiver, the UE's and the base station's, whose signals are combined (maximum ratio
        /// combining): they fade on their own, and noise and interference at them have nothing to do with each
        /// other. With one spatial layer only.
        receive_antennas: u32 = Shape::Integer { min: 1, max: MOST_RECEIVE_ANTENNAS as u64 }, CHANNEL;
        /// From one beam measurement to the next, with recovery from beam failure; without it
        /// steered beams always point right.
        beam_tracking: Option<Span> = POSITIVE_TIME, Optional;
        /// From a beam measurement to the use of the new beam.
        beam_switching_delay: Span = TIME, BEAMS;
        /// How beams of both ends are steered between two measurements.
        beam_prediction: BeamPrediction = Shape::Choice(BeamPrediction::WORDS), BEAMS;
        /// Loss of what is received, by blockage and misalignment, above which a beam measurement has
        /// failed; three in a row are a beam failure.
        beam_failure_threshold: Decibel =
            Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 100.0)), BEAMS;
        /// From a beam failure to the use of the beam found instead; nothing is received
        /// meanwhile.
        beam_recovery_delay: Span =
            Shape::Quantity(Dimension::Time, Range::closed(0.0, 1e10)), BEAMS;
        /// Loss, against the clear direct path, of a reflected path that recovery finds; without it
        /// recovery comes back to the direct path.
        reflected_path: Option<Decibel> =
            Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 100.0)), Optional;
        /// Whether oxygen absorbs, which it does from 52 to 68 GHz (TR 38.901 clause 7.6.1).
        oxygen: bool = Shape::Bool, CHANNEL;
        /// Rain in millimetres an hour (ITU-R P.838-3); 25 is heavy.
        rain: f64 = Shape::Number(Range::closed(0.0, 500.0)), CHANNEL;
    }
}

nested!(Channel);

table! {
    /// A radio interface of a node with its bearer.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Ue {
        own {
            /// Its name: as in the file, or with `-0`, `-1`, … when the file gives a `count`.
            name: String,
            /// The node whose interface it is.
            node: NodeId,
            /// The serving cell, an index into [`Scenario::cells`](super::Scenario::cells);
            /// without it the one received strongest at the start.
            cell: Option<usize>,
            /// Secondary cells, which carry the same bearers, by index.
            secondary_cells: Vec<usize>,
            /// The cell of its second leg (PSCell), by index.
            pscell: Option<usize>,
            /// Where it starts.
            position: Point,
            /// How it goes on.
            movement: Movement,
            /// A given SINR instead of the channel's: downlink and uplink.
            sinr: Option<(Decibel, Decibel)>,
            /// Further bearers, which flows take that name them.
            drbs: Vec<Drb>,
        }
        /// Node whose interface it is; the UE's own name without it. A node with several radio
        /// interfaces has a UE for each, which all start and move alike.
        "node" = Shape::Text, Optional;
        /// This many UEs and nodes, called NAME-0, NAME-1, … instead of one. A flow that names NAME
        /// becomes a flow for each.
        "count" = Shape::Integer { min: 1, max: MAX_UES }, Optional;
        /// Cell that serves it; without it the one received strongest at the start.
        "cell" = Shape::Reference, Optional;
        /// Cells on other carriers, of the technology of `cell`, whose downlink carries its bearers too (carrier
        /// aggregation). Under mobility management those that it begins with.
        "secondary-cells" = Shape::List(&Shape::Reference), Optional;
        /// Most secondary cells that it has under mobility management, of those that its cell offers; without it as many as
        /// `secondary-cells` names.
        max_secondary_cells: Option<u32> =
            Shape::Integer { min: 1, max: MOST_SECONDARY_CELLS as u64 }, Optional;
        /// Cell of another base station, or of the same, that serves it beside `cell`: the primary cell of the
        /// secondary cell group of dual connectivity (PSCell, TS 37.340 clause 3.1). Bearers with a `split` use both.
        "pscell" = Shape::Reference, Optional;
        /// From the data that a secondary cell is activated for to the first block that it can carry (TS 36.133
        /// clause 7.7.2, TS 38.133 clause 8.3.2); 24 ms without it.
        secondary_activation: Option<Span> = TIME, Optional;
        /// Time without data after which a secondary cell is deactivated (sCellDeactivationTimer); never without
        /// it.
        secondary_deactivation: Option<Span> = POSITIVE_TIME, Optional;
        /// Whether secondary cells carry its uplink too. It divides its power evenly among all of them then. Without
        /// it the uplink is that of `cell` alone.
        secondary_uplink: Option<bool> = Shape::Bool, Optional;
        /// Where it starts: east and north.
        "position" = POSITION, Default("[\"0 m\", \"0 m\"]");
        /// Each starts at a place drawn uniformly from the disc of this radius around `position`.
        "spread" = Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e6)), Optional;
        /// Each starts at a place drawn uniformly from this area.
        "drop" = Shape::Variants(DROPS), Optional;
        /// This many UEs on a square kilometre of the area of `drop`, instead of a `count`.
        "density" = Shape::Number(Range::positive(1e12)), Optional;
        /// Which of those in `drop` are in buildings; outdoors all without it.
        "indoor" = Shape::Table(INDOOR), Optional;
        /// Each of those in `drop` goes straight on at this speed, in a direction drawn for it, or along
        /// the road, either way.
        "speed" = SPEED, Optional;
        /// Height of its antenna above ground.
        "height" = HEIGHT, Default("\"1.5 m\"");
        /// How it moves.
        "mobility" = Shape::Named { kind: "mobility", tag: "model" }, FirstOfKind;
        /// Places it passes in turn, instead of a `mobility` model; it rests at the last.
        "waypoints" = Shape::List(&Shape::Table(Waypoint::KEYS)), Optional;
        /// A movement trace it follows, instead of a `mobility` model.
        "trace" = Shape::Table(MovementTrace::KEYS), Optional;
        /// A group of vehicles on which it is, instead of a `mobility` model: with a `count` one on each of
        /// as many vehicles. `position` and `height` are then those of the vehicle's antenna.
        "vehicles" = Shape::Reference, Optional;
        /// Number of the vehicle in its group, or of the first of several. In a group on a road the first
        /// few are any; those of a trace are in the order of their names.
        "vehicle" = Shape::Integer { min: 0, max: 99_999 }, Optional;
        /// Most power it transmits (power class 3, TS 36.101 and 38.101-1).
        tx_power: Dbm = POWER, UE;
        /// Noise figure of its receiver (TR 36.942).
        noise_figure: Decibel = NOISE_FIGURE, UE;
        /// What stands between it and base stations outdoors (TR 38.901 clause 7.4.3): walls of low or
        /// high loss, the `single` wall of 20 dB with the way behind it of the model below 6 GHz, a car,
        /// or this loss.
        penetration: Penetration = PENETRATION, Default("\"none\"");
        /// A given SINR of the downlink, with `uplink-sinr`, instead of what the channel makes.
        "downlink-sinr" = SINR, Optional;
        /// A given SINR of the uplink.
        "uplink-sinr" = SINR, Optional;
        /// RLC mode of its bearer, with timers and buffer.
        rlc: Named = RLC, FirstOfKind;
        /// PDCP of its bearer.
        pdcp: Named = PDCP, FirstOfKind;
        /// Splits its bearer between `cell` and `pscell`.
        split: Option<Split> = Shape::Table(Split::KEYS), Optional;
        /// Makes it idle or inactive when nothing comes for long; without the key it is always connected.
        rrc_states: Option<RrcStates> = Shape::Table(RrcStates::KEYS), Optional;
        /// It is idle at the start and begins to attach then, with `[mobility-management]`: it selects a cell, contends
        /// for it, and gets its bearers after the messages of registration and security. Without the key it is connected
        /// from the start.
        attach_at: Option<Span> = TIME, Optional;
        /// Each of these UEs begins so much later, drawn uniformly up to this.
        attach_within: Option<Span> = TIME, Optional;
        /// Data radio bearers beside the default one, by name. A flow takes one if its `route`
        /// names UE/NAME.
        "drb" = Shape::Map(Drb::KEYS), Optional;
    }
}

table! {
    /// A data radio bearer beside a UE's default one.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Drb {
        own {
            /// Its name in the file; routes name it as UE/NAME.
            name: String,
        }
        /// RLC mode, with timers and buffer.
        rlc: Named = RLC, FirstOfKind;
        /// Its PDCP.
        pdcp: Named = PDCP, FirstOfKind;
        /// Splits it between the UE's `cell` and `pscell`.
        split: Option<Split> = Shape::Table(Split::KEYS), Optional;
        /// Priority of its logical channel: 1 is served first. The default bearer has the default.
        priority: u8 = Shape::Integer { min: 1, max: 16 }, LOGICAL_CHANNEL;
        /// Rate up to which each channel is served before the rest goes to the higher priorities
        /// (prioritisedBitRate); without it a channel takes all it can in its turn.
        prioritised_bit_rate: Option<Rate> = RATE, Optional;
        /// How long an unused prioritised rate adds up (bucketSizeDuration).
        bucket_size_duration: Span = POSITIVE_TIME, LOGICAL_CHANNEL;
    }
}

/// A data radio bearer with the UE that has it.
#[derive(Debug, Clone, Copy)]
pub struct Bearer<'a> {
    /// The UE, an index into [`Scenario::ues`](super::Scenario::ues).
    pub ue: usize,
    /// The UE itself.
    pub described: &'a Ue,
    /// Which of its further bearers; none for the default one.
    pub drb: Option<&'a Drb>,
}

impl Bearer<'_> {
    /// Its name: its UE's, or UE/NAME.
    pub fn name(&self) -> String {
        match self.drb {
            None => self.described.name.clone(),
            Some(drb) => format!("{}/{}", self.described.name, drb.name),
        }
    }
    /// Its RLC mode; of the catalog's kind "rlc".
    pub fn rlc(&self) -> &Named {
        self.drb.map_or(&self.described.rlc, |drb| &drb.rlc)
    }
    /// Its PDCP; of the catalog's kind "pdcp".
    pub fn pdcp(&self) -> &Named {
        self.drb.map_or(&self.described.pdcp, |drb| &drb.pdcp)
    }
    /// How it is split, if it is.
    pub fn split(&self) -> Option<&Split> {
        let split = self.drb.map_or(&self.described.split, |drb| &drb.split);
        split.as_ref()
    }
}

/// The bearers of UEs: the default one of each, then the further ones.
pub(crate) fn bearers(ues: &[Ue]) -> impl Iterator<Item = Bearer<'_>> {
    let numbered = || ues.iter().enumerate();
    let defaults = numbered().map(|(ue, described)| Bearer {
        ue,
        described,
        drb: None,
    });
    let further = numbered().flat_map(|(ue, described)| {
        let drbs = described.drbs.iter();
        drbs.map(move |drb| Bearer {
            ue,
            described,
            drb: Some(drb),
        })
    });
    defaults.chain(further)
}

/// Penetration loss between a UE and base stations outdoors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penetration {
    /// Nothing.
    None,
    /// Walls of low loss.
    LowLoss,
    /// Walls of high loss.
    HighLoss,
    /// The wall of 20 dB of the model below 6 GHz, and the way behind it.
    Single,
    /// A car.
    Car,
    /// This loss.
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
    fn of(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        match item.content {
            Content::Word(word) => {
                let mut words = Penetration::WORDS.into_iter();
                words.find_map(|(known, one)| (known == word).then_some(one))
            }
            _ => Decibel::of(item, builder).map(Penetration::Loss),
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

/// How a UE moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// By a model; of the catalog's kind "mobility".
    Model(Named),
    /// Past these places in turn.
    Waypoints(Vec<Waypoint>),
    /// As a trace file says, from where it says.
    Trace(MovementTrace),
    /// On a vehicle: of this group, an index into
    /// [`Scenario::vehicles`](super::Scenario::vehicles), the one of this number.
    Vehicle {
        /// The group.
        group: usize,
        /// The vehicle in it.
        number: u32,
    },
}

table! {
    /// A place to pass.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Waypoint {
        own {
            /// East and north.
            place: (Meters, Meters),
        }
        /// The place: east and north.
        "position" = POSITION, Required;
        /// Speed on the way to it.
        speed: f64 = SPEED, Required;
        /// How long to stay there.
        pause: Span = TIME, Default("\"0 s\"");
    }
}

table! {
    /// One node of a movement trace; `mobility` parses the file.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MovementTrace {
        own {}
        /// The trace file, relative to the scenario file.
        file: File =
            Shape::File("a movement trace, relative to the scenario file"), Required;
        /// Its format.
        format: MovementFormat = MovementFormat::SHAPE, Required;
        /// Number of the node or id of the vehicle in the file.
        id: String = Shape::Text, Required;
    }
}

words! {
    /// Format of a movement trace.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum MovementFormat {
        /// Commands of ns-2's `setdest`.
        Ns2 = "ns-2",
        /// Floating car data of SUMO, written by --fcd-output.
        SumoFcd = "sumo-fcd",
        /// The same as a table, which SUMO writes to a file that ends in .csv.
        SumoCsv = "sumo-csv",
        /// Movements of BonnMotion, unpacked.
        BonnMotion = "bonnmotion",
        /// A SUMO configuration, of vehicles: SUMO is run, and what it wrote is kept.
        Sumo = "sumo",
        /// Floating car data of SUMO in Parquet, of vehicles.
        SumoParquet = "sumo-parquet",
    }
}

table! {
    /// A building that cuts lines of sight.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Building {
        own {
            /// Its name in the file.
            name: String,
            /// South-west corner of its footprint, in metres.
            low: (f64, f64),
            /// North-east corner.
            high: (f64, f64),
            /// Rings of its walls, each closed from its last place to its first; none of a rectangle.
            outline: Vec<Vec<(f64, f64)>>,
        }
        /// A corner of its footprint: east and north. Walls stand along the axes.
        "corner" = POSITION, Required;
        /// The corner opposite.
        "opposite" = POSITION, Required;
        /// Its walls in place of those of the rectangle, which is then only around it: the places of its outer
        /// wall, and of those of its courtyards.
        "outline" = Shape::List(&Shape::List(&POSITION)), Optional;
        /// Height of its roof.
        height: Meters = LENGTH, Required;
        /// Height of its underside above ground, of a part that stands on others or on pillars.
        base: Meters = LENGTH_OR_ZERO, Default("\"0 m\"");
        /// Whether it is foliage: what a line loses within it counts by the metre, and its edges not at all.
        foliage: bool = Shape::Bool, Default("false");
        /// An OpenStreetMap extract (.osm, or .osm.pbf), relative to the scenario file, whose buildings
        /// `fadeout` and its Python package put in place of this table: NAME, NAME-1, NAME-2, …
        "file" = Shape::Text, Optional;
        /// Latitude and longitude that are at 0 m, 0 m; without it the middle of the extract.
        "origin" = Shape::Pair(&DEGREES, &DEGREES), Optional;
        /// Height of buildings of a file that have neither a height nor levels.
        "default-height" = LENGTH, Optional;
        /// Height of a level of buildings of a file.
        "level-height" = LENGTH, Optional;
    }
}

const DEGREES: Shape = Shape::Number(Range::closed(-180.0, 180.0));
