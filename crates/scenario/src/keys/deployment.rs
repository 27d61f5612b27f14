//! Keys of deployments and of dropped UEs. The builder reads these keys itself and converts them to
//! cells and positions.

use super::limits::{LENGTH, LENGTH_OR_ZERO, PROBABILITY};
use crate::model::{Cell, Channel};
use crate::quantity::Dimension;
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Key, Presence, Range, Shape, Variant, key};

const PLACE: Shape = Shape::Quantity(Dimension::Length, Range::closed(-1e6, 1e6));
const POSITION: Shape = Shape::Pair(&PLACE, &PLACE);

/// Returns keys as optional keys of another table, without those in `left_out`.
const fn parts<const N: usize>(keys: &[Key], left_out: &[&str]) -> [Key; N] {
    let mut all = [Key::NONE; N];
    let (mut index, mut filled) = (0, 0);
    while index < keys.len() {
        let (mut other, mut is_left_out) = (0, false);
        while other < left_out.len() {
            if fadeout_core::registry::is_same(keys[index].name, left_out[other]) {
                is_left_out = true;
            }
            other += 1;
        }
        if !is_left_out {
            all[filled] = Key {
                presence: Presence::Optional,
                ..keys[index]
            };
            filled += 1;
        }
        index += 1;
    }
    all
}

static CHANNEL: &[Key] = &parts::<{ Channel::KEYS.len() }>(Channel::KEYS, &[]);

/// Keys of a cell that a deployment sets itself, so that users cannot give them.
const OF_CELLS_ALONE: &[&str] = &["node", "position", "sites", "repeats", "channel"];
const OF_CELLS: [Key; Cell::KEYS.len() - OF_CELLS_ALONE.len()] = parts(Cell::KEYS, OF_CELLS_ALONE);
static CELL: &[Key] = &crate::shape::join::<{ OF_CELLS.len() + 1 }>(&[
    &OF_CELLS,
    &[key(
        "channel",
        Shape::Table(CHANNEL),
        Optional,
        "Channel between a cell and its UEs.",
    )],
]);

/// Keys of a table `[deployment.NAME]`, a layout of sites.
pub(crate) static DEPLOYMENT: &[Key] = &[
    key(
        "layout",
        Shape::Named {
            kind: "deployment",
            tag: "kind",
        },
        Required,
        "Layout of the sites, with the properties of their cells. The cells are called \
         NAME-SITE-SECTOR, counted from 0, or NAME-SITE if a site has one cell.",
    ),
    key(
        "position",
        POSITION,
        Default("[\"0 m\", \"0 m\"]"),
        "Position of the layout's centre: east and north.",
    ),
    key(
        "wrap-around",
        Shape::Bool,
        Default("true"),
        "True if a hexagonal layout of 7 or 19 sites repeats itself on all sides, so that no cell \
         is at an edge. Other layouts never repeat.",
    ),
    key(
        "nodes",
        Shape::Choice(&[
            (
                "shared",
                "One node for all base stations, with the name of the deployment.",
            ),
            ("site", "A node for each site, called NAME-SITE."),
        ]),
        Default("\"shared\""),
        "Nodes of the base stations, which links connect.",
    ),
    key(
        "cell",
        Shape::Table(CELL),
        Optional,
        "Keys of all cells whose values replace those of the layout. A table \
         `[cell.NAME-SITE-SECTOR]` changes a single cell.",
    ),
];

/// Areas in which UEs can be dropped.
pub(crate) static DROPS: &[Variant] = &[
    Variant {
        key: "radius",
        doc: "A disc around a point.",
        keys: &[
            key("radius", LENGTH, Required, "Radius of the disc."),
            key(
                "center",
                POSITION,
                Default("[\"0 m\", \"0 m\"]"),
                "Centre of the disc: east and north.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "corner",
        doc: "A rectangle given by two corners.",
        keys: &[
            key(
                "corner",
                POSITION,
                Required,
                "A corner of the rectangle: east and north. The sides lie along the axes.",
            ),
            key(
                "opposite",
                POSITION,
                Required,
                "Corner of the rectangle opposite to `corner`: \
                east and north.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "polygon",
        doc: "A polygon given by its corners.",
        keys: &[
            key(
                "polygon",
                Shape::List(&POSITION),
                Required,
                "Corners of the polygon in order, at least three. The sides do not cross.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "road",
        doc: "A road given by points along it.",
        keys: &[
            key(
                "road",
                Shape::List(&POSITION),
                Required,
                "Points along the middle of the road in order, at least two.",
            ),
            key(
                "width",
                LENGTH_OR_ZERO,
                Default("\"0 m\""),
                "Width of the road. A `density` refers to the length of the road times this width.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "building",
        doc: "A building of the scenario.",
        keys: &[key(
            "building",
            Shape::Reference,
            Required,
            "Building in which the UEs start. Its floors are 3 m high, and each UE draws its \
             floor. All UEs are indoors, unless `indoor` gives a share.",
        )],
    },
    Variant {
        key: "cell",
        doc: "The area of a cell: all points to which its site is the nearest site and the \
              direction of its sector is the nearest direction.",
        keys: &[
            key(
                "cell",
                Shape::Reference,
                Required,
                "Cell in whose area the UEs start.",
            ),
            key(
                "within",
                LENGTH,
                Optional,
                "Largest distance of a UE from the site. Default: for a cell of a deployment, the \
                 distance of the hexagon's corner. Required for other cells.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "deployment",
        doc: "The whole area of a deployment.",
        keys: &[
            key(
                "deployment",
                Shape::Reference,
                Required,
                "Deployment in whose area the UEs start: the hexagons of its sites, its office, or \
                 its streets.",
            ),
            MIN_DISTANCE,
        ],
    },
];

const MIN_DISTANCE: Key = key(
    "min-distance",
    LENGTH_OR_ZERO,
    Optional,
    "Smallest distance on the ground between a UE and any cell. Default: the minimum distance of \
     the deployment's layout, or zero without a deployment.",
);

/// Keys for the UEs of a drop that are inside buildings.
pub(crate) static INDOOR: &[Key] = &[
    key(
        "share",
        PROBABILITY,
        Default("0.8"),
        "Share of the UEs that are indoors.",
    ),
    key(
        "floors",
        Shape::Pair(
            &Shape::Integer { min: 1, max: 200 },
            &Shape::Integer { min: 1, max: 200 },
        ),
        Default("[4, 8]"),
        "Smallest and largest number of floors of a building, each of 3 m. Each UE draws the \
         number of its building's floors, and then its own floor (TR 36.873 Table 6-1). [1, 1] \
         leaves `height` unchanged.",
    ),
    key(
        "penetration",
        PENETRATION,
        Default("\"low-loss\""),
        "Penetration loss between the indoor UEs and the base stations.",
    ),
    key(
        "high-loss-share",
        PROBABILITY,
        Default("0"),
        "Share of the indoor UEs whose walls have the high penetration loss in place of \
         `penetration`.",
    ),
];

/// Shape of a penetration loss between a UE and outdoor base stations.
pub(crate) const PENETRATION: Shape = Shape::AnyOf(&[
    Shape::Word("none"),
    Shape::Word("low-loss"),
    Shape::Word("high-loss"),
    Shape::Word("single"),
    Shape::Word("car"),
    Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 200.0)),
]);
