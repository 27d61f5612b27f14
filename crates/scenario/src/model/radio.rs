//! Cells, user equipment and what stands between them.

use super::Named;
use fadeout_core::{Dbm, Decibel, Hertz, Meters, NodeId, Point, Rate, Span};
use std::sync::Arc;

/// One cell of a base station.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its name in the file.
    pub name: String,
    /// The base station's node.
    pub node: NodeId,
    /// Where its antenna stands.
    pub position: Point,
    /// LTE or NR with their parameters; of the catalog's kind "radio".
    pub radio: Named,
    /// Carrier frequency.
    pub carrier: Hertz,
    /// Channel bandwidth.
    pub bandwidth: Hertz,
    /// Transmit power over the whole bandwidth.
    pub tx_power: Dbm,
    /// Noise figure of its receiver.
    pub noise_figure: Decibel,
    /// Its antenna; of the catalog's kind "antenna".
    pub antenna: Named,
    /// The channel to its UEs.
    pub channel: Channel,
    /// Who is sent to next; of the catalog's kind "mac-scheduler".
    pub mac_scheduler: Named,
    /// Who may send next; of the catalog's kind "mac-scheduler".
    pub uplink_mac_scheduler: Named,
}

/// What happens to the signal between a cell and its UEs.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// Path loss; of the catalog's kind "path-loss".
    pub path_loss: Named,
    /// How line of sight is decided.
    pub line_of_sight: LineOfSight,
    /// Whether there is shadowing.
    pub shadowing: bool,
    /// Small-scale fading, of the catalog's kind "fading"; without it Rician in line of sight and
    /// Rayleigh out of it.
    pub fading: Option<String>,
    /// K factor of Rician fading; none when it is drawn with the place.
    pub k_factor: Option<Decibel>,
    /// RMS delay spread of tapped delay lines; none when it is drawn with the place.
    pub delay_spread: Option<Span>,
    /// Sub-bands of wideband fading.
    pub sub_bands: u32,
    /// Speed of what moves around a UE, in metres per second.
    pub environment_speed: f64,
    /// Blockage, of the catalog's kind "blockage-model".
    pub blockage: Option<Named>,
    /// Antenna of the UEs; of the catalog's kind "antenna".
    pub ue_antenna: Named,
    /// Period of beam measurements; without it beams always point right.
    pub beam_tracking: Option<Span>,
    /// From a beam measurement to its use.
    pub beam_switching_delay: Span,
    /// Loss above which a beam measurement has failed.
    pub beam_failure_threshold: Decibel,
    /// From a beam failure to the use of the beam found instead.
    pub beam_recovery_delay: Span,
    /// Loss of the reflected path that recovery finds; without it there is none.
    pub reflected_path: Option<Decibel>,
    /// Whether oxygen absorbs.
    pub oxygen: bool,
    /// Rain in millimetres an hour.
    pub rain: f64,
}

/// How it is decided whether a UE is in line of sight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOfSight {
    /// By the path-loss model's probabilities.
    Drawn,
    /// The same, with soft passages.
    Soft,
    /// Always.
    Clear,
    /// Never.
    Obstructed,
    /// By the buildings.
    Geometry,
}

/// A radio interface of a node with its bearer.
#[derive(Debug, Clone, PartialEq)]
pub struct Ue {
    /// Its name: as in the file, or with `-0`, `-1`, … when the file gives a `count`.
    pub name: String,
    /// The node whose interface it is.
    pub node: NodeId,
    /// The serving cell, an index into [`Scenario::cells`](super::Scenario::cells); without it
    /// the one received strongest at the start.
    pub cell: Option<usize>,
    /// Where it starts.
    pub position: Point,
    /// How it goes on.
    pub movement: Movement,
    /// Most power it transmits.
    pub tx_power: Dbm,
    /// Noise figure of its receiver.
    pub noise_figure: Decibel,
    /// A given SINR instead of the channel's: downlink and uplink.
    pub sinr: Option<(Decibel, Decibel)>,
    /// RLC mode of its bearer with its timers and buffer; of the catalog's kind "rlc".
    pub rlc: Named,
    /// PDCP of its bearer; of the catalog's kind "pdcp".
    pub pdcp: Named,
    /// Further bearers, which flows take that name them.
    pub drbs: Vec<Drb>,
}

/// A data radio bearer beside a UE's default one.
#[derive(Debug, Clone, PartialEq)]
pub struct Drb {
    /// Its name in the file; routes name it as UE/NAME.
    pub name: String,
    /// RLC mode with its timers and buffer; of the catalog's kind "rlc".
    pub rlc: Named,
    /// PDCP; of the catalog's kind "pdcp".
    pub pdcp: Named,
    /// Priority of its logical channel, 1 (first) to 16; the default bearer's is 8.
    pub priority: u8,
    /// Rate up to which it comes before the rest of channels of a higher priority
    /// (prioritisedBitRate); without it it takes all it can in its turn.
    pub prioritised_bit_rate: Option<Rate>,
    /// How long an unused prioritised rate adds up (bucketSizeDuration).
    pub bucket_size_duration: Span,
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
    /// What it is called: as its UE, or UE/NAME.
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

/// How a UE moves.
#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// By a model; of the catalog's kind "mobility".
    Model(Named),
    /// Past these places in turn.
    Waypoints(Vec<Waypoint>),
    /// As a trace file says, from where it says.
    Trace(MovementTrace),
}

/// A place to pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waypoint {
    /// East and north.
    pub place: (Meters, Meters),
    /// Speed on the way to it, in metres per second.
    pub speed: f64,
    /// How long to stay.
    pub pause: Span,
}

/// One node of a movement trace; `mobility` parses the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementTrace {
    /// Path as the scenario writes it.
    pub path: String,
    /// The file's bytes.
    pub bytes: Arc<[u8]>,
    /// Its format.
    pub format: MovementFormat,
    /// Name of the node or vehicle in the file.
    pub id: String,
}

/// Format of a movement trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovementFormat {
    /// ns-2's `setdest`.
    Ns2,
    /// SUMO's floating car data.
    SumoFcd,
}

/// A building that cuts lines of sight.
#[derive(Debug, Clone, PartialEq)]
pub struct Building {
    /// Its name in the file.
    pub name: String,
    /// South-west corner of its footprint, in metres.
    pub low: (f64, f64),
    /// North-east corner.
    pub high: (f64, f64),
    /// Height of its roof.
    pub height: Meters,
}
