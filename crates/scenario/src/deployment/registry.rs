//! Registry of the deployments that a scenario can name.

use super::hexagon;
use super::region::Region;
use fadeout_core::data::cell;
use fadeout_core::random::{Stream, fnv_1a};
use fadeout_core::registry::{Entry, Registered, Settings, choice, integer, number};
use fadeout_core::{Lattice, math};

const CASES: &str = include_str!("../../data/deployments.csv");

/// Values for the cells of a deployment, from `data/deployments.csv`, in the notation of a
/// scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) height: &'static str,
    pub(crate) carrier: &'static str,
    pub(crate) bandwidth: &'static str,
    pub(crate) tx_power: &'static str,
    pub(crate) path_loss: &'static str,
    pub(crate) antenna: &'static str,
    pub(crate) tilt: &'static str,
    pub(crate) min_distance: &'static str,
    /// Source of the line-of-sight state. Empty for the default. Set if obstacles between UE and
    /// cell determine the state.
    pub(crate) line_of_sight: &'static str,
    /// Gain of antennas without direction, dBi. Empty if the case has no such antennas.
    pub(crate) omni_gain: &'static str,
}

impl Case {
    pub(super) const fn from_row(row: &str) -> Case {
        Case {
            height: cell(CASES, row, 2),
            carrier: cell(CASES, row, 3),
            bandwidth: cell(CASES, row, 4),
            tx_power: cell(CASES, row, 5),
            path_loss: cell(CASES, row, 6),
            antenna: cell(CASES, row, 7),
            tilt: cell(CASES, row, 8),
            min_distance: cell(CASES, row, 9),
            line_of_sight: cell(CASES, row, 10),
            omni_gain: cell(CASES, row, 11),
        }
    }
}

/// Position with one or more antennas.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Site {
    /// Position east and north of the deployment's centre, metres.
    pub(crate) place: (f64, f64),
    /// Directions of the sectors, degrees counter-clockwise from east. `None` for a sector whose
    /// antenna has no direction.
    pub(crate) sectors: Vec<Option<f64>>,
    /// Parameters of the site's cells.
    pub(crate) case: Case,
    /// Text between the deployment's name and the site's number, such as `pico-`.
    pub(crate) prefix: &'static str,
}

/// Sites, area and buildings of a deployment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) sites: Vec<Site>,
    /// Area in which UEs of the whole layout are dropped.
    pub(crate) region: Region,
    /// Two shifts after which the layout repeats itself. `None` if it cannot repeat.
    pub(crate) lattice: Option<Lattice>,
    /// Largest distance of a UE from the site of its cell, metres.
    pub(crate) cell_radius_m: f64,
    /// South-west and north-east corners of buildings, metres.
    pub(crate) buildings: Vec<[f64; 4]>,
    pub(crate) building_height_m: f64,
}

fadeout_core::choices! {
    /// The number of sites of a hexagonal layout.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SiteCount {
        /// A single site.
        One = "1",
        /// A site with one ring around it.
        Seven = "7",
        /// A site with two rings around it.
        Nineteen = "19",
    }
}

impl SiteCount {
    fn rings(self) -> u32 {
        match self {
            SiteCount::One => 0,
            SiteCount::Seven => 1,
            SiteCount::Nineteen => 2,
        }
    }
}

fadeout_core::choices! {
    /// The number of sectors of a site.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SectorCount {
        /// A single cell, whose antenna has no direction.
        One = "1",
        /// Three sectors, 120 degrees apart.
        Three = "3",
    }
}

fadeout_core::parameters! {
    /// Sites on a hexagonal grid.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Grid {
        /// Number of sites: one site, or a site with one or two rings of sites around it.
        sites: SiteCount = choice(SiteCount::NAMES, "19"),
        /// Number of sectors of each site. A single sector has an omnidirectional antenna.
        sectors: SectorCount = choice(SectorCount::NAMES, "3"),
        /// Distance between neighbouring sites. Each site has a neighbour to its east.
        inter_site_distance: f64 = number((1.0, 100_000.0, "m"), "500"),
        /// Direction of each site's first sector, counter-clockwise from east.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "30"),
    }
}

fn sectors(count: SectorCount, azimuth_deg: f64) -> Vec<Option<f64>> {
    match count {
        SectorCount::One => vec![None],
        SectorCount::Three => (0..3)
            .map(|sector| {
                let azimuth = azimuth_deg + 120.0 * f64::from(sector);
                Some((azimuth + 180.0).rem_euclid(360.0) - 180.0)
            })
            .collect(),
    }
}

impl Grid {
    fn plan(&self, case: Case) -> Plan {
        let distance_m = self.inter_site_distance;
        let places = hexagon::sites(self.sites.rings(), distance_m);
        let site = |&place: &(f64, f64)| Site {
            place,
            sectors: sectors(self.sectors, self.azimuth),
            case,
            prefix: "",
        };
        Plan {
            sites: places.iter().map(site).collect(),
            lattice: hexagon::lattice(self.sites.rings(), distance_m),
            region: Region::hexagons(places, distance_m),
            cell_radius_m: distance_m / 3_f64.sqrt(),
            buildings: Vec::new(),
            building_height_m: 0.0,
        }
    }
}

/// Hexagonal grid of sites with the values of one case.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hexagonal {
    grid: Grid,
    case: Case,
}

macro_rules! hexagonal {
    ($($(#[doc = $doc:literal])+ $name:ident = $row:literal, $aliases:expr, $citation:literal;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $name(Hexagonal);

        impl Registered for $name {
            const ENTRY: Entry = Entry::new(
                $row,
                "hexagonal",
                fadeout_core::table::trim(concat!($($doc),+)),
                $citation,
            )
            .with_aliases($aliases)
            .with_parameters(&Grid::with_defaults(&[
                ("inter-site-distance", cell(CASES, $row, 1).split_at(cell(CASES, $row, 1).len() - 2).0),
            ]));

            fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
                $name(Hexagonal { grid: Grid::read(settings), case: Case::from_row($row) })
            }
        }

        impl Layout for $name {
            fn plan(&self, _: u64, _: &str) -> Plan {
                self.0.grid.plan(self.0.case)
            }
        }
    )*};
}

hexagonal! {
    /// Urban macro cells among buildings, 500 m apart.
    Uma = "uma", &["urban-macro"], "TR 38.901 Table 7.2-1, Table 7.8-1";
    /// Urban micro cells below the roofs of street canyons, 200 m apart.
    Umi = "umi", &["urban-micro"], "TR 38.901 Table 7.2-1, Table 7.8-1";
    /// Rural macro cells, 1732 m apart.
    Rma = "rma", &["rural-macro"], "TR 38.901 Table 7.2-3";
    /// Macro cells 500 m apart, limited by interference.
    Macro500 = "macro-500", &["case-1"], "TR 36.814 Table A.2.1.1-1 case 1";
    /// Macro cells 1732 m apart, limited by noise.
    Macro1732 = "macro-1732", &["case-3"], "TR 36.814 Table A.2.1.1-1 case 3";
    /// Urban macro cells for the three-dimensional LTE channel model.
    Uma3d = "3d-uma", &[], "TR 36.873 Table 6-1, Table 8.2-1";
    /// Urban micro cells for the three-dimensional LTE channel model.
    Umi3d = "3d-umi", &[], "TR 36.873 Table 6-1, Table 8.2-1";
}

fadeout_core::parameters! {
    /// Macro cells on a hexagonal grid, with pico cells among them.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Hetnet {
        grid: Grid = group(),
        /// Number of pico cells in each macro sector. Their positions are drawn from the sector.
        picos: u32 = integer((0, 10, ""), "4"),
        /// Smallest distance of a pico cell from a macro site.
        pico_site_distance: f64 = number((0.0, 10_000.0, "m"), "75"),
        /// Smallest distance between two pico cells.
        pico_distance: f64 = number((0.0, 10_000.0, "m"), "40"),
    }
}

impl Registered for Hetnet {
    const ENTRY: Entry = Entry::new(
        "hetnet",
        "heterogeneous",
        "Macro cells 500 m apart, with pico cells of 30 dBm on the same carrier.",
        "TR 36.839 Table A.1-1; TR 36.814 Table A.2.1.1.2-3",
    )
    .with_parameters(Hetnet::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Hetnet::read(settings)
    }
}

/// Maximum number of positions tried for a pico cell. The cell is left out if none is valid.
const TRIES: u32 = 10_000;

impl Layout for Hetnet {
    fn plan(&self, seed: u64, name: &str) -> Plan {
        let mut plan = self.grid.plan(Case::from_row("hetnet"));
        let radius_m = plan.cell_radius_m;
        let mut picos: Vec<(f64, f64)> = Vec::new();
        for (number, site) in plan.sites.iter().enumerate() {
            for sector in 0..site.sectors.len() {
                let entity = stream_of(name) ^ (number as u64) << 8 ^ sector as u64;
                let mut random = Stream::new(seed, "deployment.pico", entity);
                for _ in 0..self.picos {
                    let place = (0..TRIES).find_map(|_| {
                        let offset = hexagon::draw(radius_m, &mut random);
                        let is_far = math::hypot(offset.0, offset.1) >= self.pico_site_distance;
                        let of_sector = nearest_sector(&site.sectors, offset) == sector;
                        let at = (site.place.0 + offset.0, site.place.1 + offset.1);
                        let is_apart = |other: &(f64, f64)| {
                            math::hypot(at.0 - other.0, at.1 - other.1) >= self.pico_distance
                        };
                        (is_far && of_sector && picos.iter().all(is_apart)).then_some(at)
                    });
                    picos.extend(place);
                }
            }
        }
        plan.sites.extend(picos.into_iter().map(|place| Site {
            place,
            sectors: vec![None],
            case: Case::from_row("pico"),
            prefix: "pico-",
        }));
        plan
    }
}

/// Returns the sector whose direction is nearest to the direction from the site to `(x, y)`.
pub(crate) fn nearest_sector(sectors: &[Option<f64>], (x, y): (f64, f64)) -> usize {
    let azimuth_deg = math::atan2(y, x).to_degrees();
    let off = |sector: &Option<f64>| {
        let turns = (azimuth_deg - sector.unwrap_or(azimuth_deg)) / 360.0;
        (turns - turns.round()).abs()
    };
    let offs = sectors.iter().map(off).enumerate();
    let least = offs.reduce(|least, one| if one.1 < least.1 { one } else { least });
    least.map_or(0, |(sector, _)| sector)
}

/// Returns the number of the random streams of a named table. Other tables then do not change the
/// values drawn for this table.
pub(crate) fn stream_of(name: &str) -> u64 {
    fnv_1a(name.bytes())
}

fadeout_core::parameters! {
    /// Two rows of six sites below the ceiling of an open office.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct IndoorHotspot {
        /// Number of sectors of each site. A single sector has an omnidirectional antenna.
        sectors: SectorCount = choice(SectorCount::NAMES, "3"),
        /// Direction of each site's first sector, counter-clockwise from east.
        azimuth: f64 = number((-180.0, 360.0, "deg"), "30"),
    }
}

impl Registered for IndoorHotspot {
    const ENTRY: Entry = Entry::new(
        "inh",
        "indoor",
        "An open office of 120 m x 50 m, with 12 sites on the ceiling, 20 m apart.",
        "TR 38.901 Table 7.2-2, Table 7.8-1",
    )
    .with_aliases(&["indoor-hotspot"])
    .with_parameters(IndoorHotspot::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        IndoorHotspot::read(settings)
    }
}

impl Layout for IndoorHotspot {
    fn plan(&self, _: u64, _: &str) -> Plan {
        let site = |number: u32| Site {
            place: (
                20.0 * f64::from(number % 6) - 50.0,
                20.0 * f64::from(number / 6) - 10.0,
            ),
            sectors: sectors(self.sectors, self.azimuth),
            case: Case::from_row("inh"),
            prefix: "",
        };
        Plan {
            sites: (0..12).map(site).collect(),
            region: Region::rectangle((-60.0, -25.0), (60.0, 25.0)),
            lattice: None,
            cell_radius_m: 25.0,
            buildings: Vec::new(),
            building_height_m: 0.0,
        }
    }
}

fadeout_core::parameters! {
    /// Blocks of buildings with streets between them, and cells at every other crossing.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Manhattan {
        /// Number of blocks from west to east.
        columns: u32 = integer((1, 30, ""), "4"),
        /// Number of blocks from south to north.
        rows: u32 = integer((1, 30, ""), "4"),
        /// Length of a block's side.
        block: f64 = number((1.0, 1000.0, "m"), "200"),
        /// Width of a street.
        street: f64 = number((1.0, 200.0, "m"), "30"),
        /// Height of the buildings' roofs.
        roof: f64 = number((1.0, 500.0, "m"), "20"),
    }
}

impl Registered for Manhattan {
    const ENTRY: Entry = Entry::new(
        "manhattan",
        "streets",
        "A grid of streets 30 m wide around square blocks of 200 m. Buildings obstruct lines of \
         sight. Micro cells stand at every second crossing.",
        "UMTS 30.03 (TR 101 112) clause B.1.4.1.2",
    )
    .with_parameters(Manhattan::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Manhattan::read(settings)
    }
}

impl Layout for Manhattan {
    fn plan(&self, _: u64, _: &str) -> Plan {
        let pitch = self.block + self.street;
        let (columns, rows) = (self.columns, self.rows);
        let along = |number: u32, of: u32| pitch * (f64::from(number) - 0.5 * f64::from(of));
        let crossings = (0..=rows).flat_map(|row| (0..=columns).map(move |column| (column, row)));
        let sites = crossings
            .filter(|(column, row)| (column + row) % 2 == 0)
            .map(|(column, row)| Site {
                place: (along(column, columns), along(row, rows)),
                sectors: vec![None],
                case: Case::from_row("manhattan"),
                prefix: "",
            });
        let mut buildings = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = (along(column, columns), along(row, rows));
                let (low, high) = (0.5 * self.street, pitch - 0.5 * self.street);
                buildings.push([x + low, y + low, x + high, y + high]);
            }
        }
        let half = |of: u32| 0.5 * (pitch * f64::from(of) + self.street);
        let outside = Region::rectangle((-half(columns), -half(rows)), (half(columns), half(rows)));
        Plan {
            sites: sites.collect(),
            region: outside.without(buildings.clone()),
            lattice: None,
            cell_radius_m: pitch * 2_f64.sqrt(),
            buildings,
            building_height_m: self.roof,
        }
    }
}

/// Deployment that computes a plan from its parameters.
pub(crate) trait Layout {
    /// Returns the sites, the area and the buildings. Random positions depend only on the seed and
    /// the deployment's name.
    fn plan(&self, seed: u64, name: &str) -> Plan;
}

fadeout_core::registry! {
    /// Every deployment that a scenario can name.
    pub static DEPLOYMENTS;

    /// A deployment with its parameters.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum Deployment {
        Uma(Uma),
        Umi(Umi),
        Rma(Rma),
        IndoorHotspot(IndoorHotspot),
        Macro500(Macro500),
        Macro1732(Macro1732),
        Hetnet(Hetnet),
        Uma3d(Uma3d),
        Umi3d(Umi3d),
        Manhattan(Manhattan),
        Roadside(super::roadside::Roadside),
        Quarter(super::roadside::Quarter),
    }
    macro deployments;
}

impl Deployment {
    /// Returns the deployment's plan, as [`Layout::plan`] does.
    pub(crate) fn plan(&self, seed: u64, name: &str) -> Plan {
        deployments!(self, deployment => deployment.plan(seed, name))
    }
}
