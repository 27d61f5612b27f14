//! The keys of deployments, and of UEs that are dropped. The builder reads them by hand: they become
//! cells and places.

use super::{LENGTH, LENGTH_OR_ZERO, key};
use crate::model::{Cell, Channel};
use crate::quantity::Dimension;
use crate::shape::Presence::{Default, Optional, Required};
use crate::shape::{Key, Presence, Range, Shape, Variant};

const PLACE: Shape = Shape::Quantity(Dimension::Length, Range::closed(-1e6, 1e6));
const POSITION: Shape = Shape::Pair(&PLACE, &PLACE);

/// The keys that may be left out where they are parts of something, without those in `left_out`.
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

/// A deployment says these itself.
const OF_CELLS_ALONE: &[&str] = &["node", "position", "repeats", "channel"];
const OF_CELLS: [Key; Cell::KEYS.len() - OF_CELLS_ALONE.len()] = parts(Cell::KEYS, OF_CELLS_ALONE);
static CELL: &[Key] = &crate::shape::join::<{ OF_CELLS.len() + 1 }>(&[
    &OF_CELLS,
    &[key(
        "channel",
        Shape::Table(CHANNEL),
        Optional,
        "The channel between a cell and its UEs.",
    )],
]);

/// A layout of sites, as a table `[deployment.NAME]`.
pub(crate) static DEPLOYMENT: &[Key] = &[
    key(
        "layout",
        Shape::Named {
            kind: "deployment",
            tag: "kind",
        },
        Required,
        "Where the sites are, and what their cells are like. It becomes cells that are called \
         NAME-SITE-SECTOR, counted from 0, or NAME-SITE where a site has one.",
    ),
    key(
        "position",
        POSITION,
        Default("[\"0 m\", \"0 m\"]"),
        "Where its centre is: east and north.",
    ),
    key(
        "wrap-around",
        Shape::Bool,
        Default("true"),
        "Whether a hexagonal layout of 7 or 19 sites repeats itself on all sides, so that none of its \
         cells is at an edge. The others never do.",
    ),
    key(
        "nodes",
        Shape::Choice(&[
            ("shared", "One node for all, called like the deployment."),
            ("site", "A node for each site, called NAME-SITE."),
        ]),
        Default("\"shared\""),
        "Nodes of the base stations, to which links lead.",
    ),
    key(
        "cell",
        Shape::Table(CELL),
        Optional,
        "Keys of its cells that are to be other than those of the layout. A table `[cell.NAME-SITE-SECTOR]` \
         has what is of one cell alone.",
    ),
];

/// An area for UEs to be dropped in.
pub(crate) static DROPS: &[Variant] = &[
    Variant {
        key: "radius",
        doc: "A disc.",
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
        doc: "A rectangle.",
        keys: &[
            key(
                "corner",
                POSITION,
                Required,
                "A corner of the rectangle: east and north. Its sides lie along the axes.",
            ),
            key("opposite", POSITION, Required, "The corner opposite."),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "polygon",
        doc: "A polygon.",
        keys: &[
            key(
                "polygon",
                Shape::List(&POSITION),
                Required,
                "Corners of the polygon in turn, at least three; its sides do not cross.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "road",
        doc: "A road.",
        keys: &[
            key(
                "road",
                Shape::List(&POSITION),
                Required,
                "Places that the road leads through, at least two.",
            ),
            key(
                "width",
                LENGTH_OR_ZERO,
                Default("\"0 m\""),
                "Width of the road. A density on a road is of this area.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "building",
        doc: "A building.",
        keys: &[key(
            "building",
            Shape::Reference,
            Required,
            "The building. All are indoors, on any of its floors of 3 m, unless `indoor` says another thing.",
        )],
    },
    Variant {
        key: "cell",
        doc: "A cell: the places to which no other site is nearer and no sector of the site looks more.",
        keys: &[
            key("cell", Shape::Reference, Required, "The cell."),
            key(
                "within",
                LENGTH,
                Optional,
                "Farthest from the site; of a cell of a deployment the corner of its hexagon without it.",
            ),
            MIN_DISTANCE,
        ],
    },
    Variant {
        key: "deployment",
        doc: "A whole deployment.",
        keys: &[
            key(
                "deployment",
                Shape::Reference,
                Required,
                "The deployment: the hexagons of its sites, its office, or its streets.",
            ),
            MIN_DISTANCE,
        ],
    },
];

const MIN_DISTANCE: Key = key(
    "min-distance",
    LENGTH_OR_ZERO,
    Optional,
    "Least distance on the ground from every cell; without it that of the case in a deployment and its \
     cells, and none elsewhere.",
);

/// Those of the UEs that are dropped which are in buildings.
pub(crate) static INDOOR: &[Key] = &[
    key(
        "share",
        super::PROBABILITY,
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
        "Fewest and most floors of 3 m that a building has; each UE draws its building's number of floors, and \
         of those its own (TR 36.873 Table 6-1). [1, 1] leaves `height` as it is.",
    ),
    key(
        "penetration",
        PENETRATION,
        Default("\"low-loss\""),
        "What stands between them and the base stations.",
    ),
    key(
        "high-loss-share",
        super::PROBABILITY,
        Default("0"),
        "This share of them is behind walls of high loss instead.",
    ),
];

/// Penetration loss between a UE and base stations outdoors.
pub(crate) const PENETRATION: Shape = Shape::AnyOf(&[
    Shape::Word("none"),
    Shape::Word("low-loss"),
    Shape::Word("high-loss"),
    Shape::Word("single"),
    Shape::Word("car"),
    Shape::Quantity(Dimension::Ratio, Range::closed(0.0, 200.0)),
]);
