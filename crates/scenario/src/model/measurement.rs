//! Tables of measurements, such as logs of drive tests.
//!
//! The Python package reads the tables and puts plain files in their place. This crate only checks
//! the keys.

use crate::build::Builder;
use crate::keys::{COORDINATES, POSITIVE_TIME};
use crate::quantity::Dimension;
use crate::read::{Fields, Item};
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Range, Shape};
use crate::table::{KeyValue, key_table, list, nested, optional_list, word_choice};
use fadeout_core::agreed::Interpolation;
use fadeout_core::{Dbm, Span};
use serde_json::{Value, json};

const POWER: Shape = Shape::Quantity(Dimension::Power, Range::closed(-150.0, 150.0));
const NAMES: Shape = Shape::List(&Shape::Pair(&Shape::Text, &Shape::Text));

key_table! {
    /// A table of measurements over time, such as the log of a drive test. Rates and delays of
    /// links, channels and movements name the table. All of them then have the same time.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Measurement {
        own {
            /// Name of the measurement in the scenario.
            name: String,
        }
        check = Measurement::with_one_grid;
        /// Path of the table, relative to the scenario file: CSV with commas, semicolons or tabs,
        /// such a file compressed by gzip, or Parquet.
        file: String = Shape::Text, Required;
        /// Name of a preset, or path of a preset's TOML file. A preset gives the keys of this table
        /// for a known format of log. Default: the preset that the column names identify.
        preset: Option<String> = Shape::Text, Optional;
        /// Column of each quantity. Default: the column whose name is that of the quantity.
        columns: MeasuredQuantities = Shape::Table(MeasuredQuantities::KEYS), Default("{}");
        /// Unit of each quantity. Default: the unit in the name of the column, such as `rate_kbps`
        /// or `RATE(MBit/s)`.
        units: MeasuredQuantities = Shape::Table(MeasuredQuantities::KEYS), Default("{}");
        /// Texts that mean a missing value. Rows without a value are left out. Default: an empty
        /// text, `-`, `NaN`, `NA`, `N/A`, `null`, `None`, `?` and 2147483647.
        missing: Vec<String> = Shape::List(&Shape::Text), Optional;
        /// Format of the times: `s`, `ms`, `us` or `ns`, `iso`, or a format with `%Y`, `%m`, `%d`,
        /// `%H`, `%M`, `%S` and `%f`. Default: the unit in the name of the column, or the format
        /// that fits all rows.
        time: Option<String> = Shape::Text, Optional;
        /// Time zone of dates without a zone, such as `Europe/Helsinki`. Only changes of daylight
        /// saving time within the table depend on it.
        zone: String = Shape::Text, Default("\"UTC\"");
        /// Time in the table at which the run starts: `first`, a time such as "30 s", or a date.
        /// Default: `first` for dates and seconds since 1970, else "0 s".
        start: Option<String> = Shape::Text, Optional;
        /// Value before the first row and after the last. Default: `refuse` for channels, `hold`
        /// for others.
        outside: Option<Beyond> = Beyond::SHAPE, Optional;
        /// Value of several rows with the same time.
        duplicates: Duplicates = Duplicates::SHAPE, Default("\"refuse\"");
        /// Treatment of rows whose time is earlier than that of the row before.
        order: RowOrder = RowOrder::SHAPE, Default("\"refuse\"");
        /// Value between two rows. Rates and delays always have that of the earlier row.
        interpolate: Interpolation =
            Shape::Choice(Interpolation::WORDS), Default("\"linear\"");
        /// Longest time between two rows during the run.
        maximum_gap: Span = POSITIVE_TIME, Default("\"1 min\"");
        /// Latitude and longitude of the point with the position 0 m, 0 m. Default: the first
        /// position of the table.
        origin: Option<(f64, f64)> = COORDINATES, Optional;
        /// Path of a SUMO network (.net.xml), relative to the scenario file. The table's latitudes
        /// and longitudes become the network's coordinates. Not together with `origin`.
        net: Option<String> = Shape::Text, Optional;
        /// Power of a resource element of the reference signal at the base station. A received
        /// power (`rsrp`) becomes a gain with it.
        reference_power: Option<Dbm> = POWER, Optional;
        /// Pairs of a cell's name in the table and its name in the scenario. Rows of other cells
        /// are left out. Default: names are the same.
        cells: Vec<(String, String)> = NAMES, Optional;
    }
}

impl Measurement {
    /// Checks that the coordinates have one origin.
    fn with_one_grid(self, fields: &Fields, builder: &mut Builder<'_, '_>) -> Option<Self> {
        if self.net.is_some() && self.origin.is_some() {
            let message = "an `origin` with a `net`, which gives the origin";
            let expected = "one of `net` and `origin`";
            builder.mistake(fields.place_of("origin"), message, expected);
            return None;
        }
        Some(self)
    }
}

key_table! {
    /// Text for each quantity of a measurement: its column or its unit.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct MeasuredQuantities {
        own {}
        /// Time of the row.
        time: Option<String> = Shape::Text, Optional;
        /// Rate towards the phone.
        rate: Option<String> = Shape::Text, Optional;
        /// Rate from the phone.
        uplink_rate: Option<String> = Shape::Text, Optional;
        /// One-way delay.
        delay: Option<String> = Shape::Text, Optional;
        /// Round-trip time.
        round_trip: Option<String> = Shape::Text, Optional;
        /// Share of lost packets.
        loss: Option<String> = Shape::Text, Optional;
        /// Data of a TCP flow that was sent, acknowledged or delivered, for `fadeout fit`.
        data: Option<String> = Shape::Text, Optional;
        /// Congestion window of a TCP flow, for `fadeout fit`.
        window: Option<String> = Shape::Text, Optional;
        /// Number of retransmitted segments of a TCP flow, for `fadeout fit`.
        retransmissions: Option<String> = Shape::Text, Optional;
        /// Ratio of received to transmitted power in dB, including the gains of both antennas.
        gain: Option<String> = Shape::Text, Optional;
        /// Name of a site, for `sites` of a cell.
        site: Option<String> = Shape::Text, Optional;
        /// Height of a cell's antenna above ground, for `sites` of a cell.
        height: Option<String> = Shape::Text, Optional;
        /// Direction of a cell's antenna, clockwise from north, for `sites` of a cell.
        azimuth: Option<String> = Shape::Text, Optional;
        /// SINR of the downlink.
        sinr: Option<String> = Shape::Text, Optional;
        /// SINR of the uplink.
        uplink_sinr: Option<String> = Shape::Text, Optional;
        /// Received power of the reference signal.
        rsrp: Option<String> = Shape::Text, Optional;
        /// Name of the UE.
        ue: Option<String> = Shape::Text, Optional;
        /// Name of the cell to which the values of the row belong.
        cell: Option<String> = Shape::Text, Optional;
        /// Position towards east.
        x: Option<String> = Shape::Text, Optional;
        /// Position towards north.
        y: Option<String> = Shape::Text, Optional;
        /// Latitude in degrees (WGS 84).
        latitude: Option<String> = Shape::Text, Optional;
        /// Longitude in degrees (WGS 84).
        longitude: Option<String> = Shape::Text, Optional;
        /// Speed of the UE, which `fadeout inspect` compares with the positions.
        speed: Option<String> = Shape::Text, Optional;
    }
}

nested!(MeasuredQuantities);

word_choice! {
    /// The value of a measurement before its first row and after its last.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Beyond {
        /// The value of the nearest row.
        Hold = "hold",
        /// The rows again, from the first. The last row is valid as long as the row before it.
        Repeat = "repeat",
        /// No service after the last row: a rate of zero. Only for rates.
        End = "end",
        /// An error: the rows must cover the run.
        Refuse = "refuse",
    }
}

word_choice! {
    /// The value of several rows of a measurement with the same time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Duplicates {
        /// The value of the first of the rows.
        First = "first",
        /// The value of the last of the rows.
        Last = "last",
        /// The mean of the rows.
        Mean = "mean",
        /// An error.
        Refuse = "refuse",
    }
}

word_choice! {
    /// The treatment of rows of a measurement that are not in the order of time.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RowOrder {
        /// An error.
        Refuse = "refuse",
        /// The rows are sorted by time.
        Sort = "sort",
    }
}

/// List of pairs of names. The key is optional.
impl KeyValue for Vec<(String, String)> {
    fn from_item(item: &Item, builder: &mut Builder<'_, '_>) -> Option<Self> {
        list(item, builder)
    }
    fn read(fields: &Fields, name: &str, builder: &mut Builder<'_, '_>) -> Option<Self> {
        optional_list(fields, name, builder)
    }
    fn written(&self, _: &Shape) -> Option<Value> {
        (!self.is_empty()).then(|| json!(self))
    }
}

/// Records the mistake of an input that is a measurement. The Python package puts a file in its
/// place before this crate reads the scenario.
pub(super) fn refuse_measurement(fields: &Fields, builder: &mut Builder<'_, '_>) {
    let message = "a measurement, which the Rust library cannot read";
    let expected = "a run by `fadeout` or its Python package, which read the table";
    builder.mistake(fields.place_of("measurement"), message, expected);
}
