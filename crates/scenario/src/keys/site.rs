//! Keys of the sites of a cell. The sites are replaced by cells before the cells are read.

use crate::quantity::Dimension;
use crate::shape::Presence::{Optional, Required};
use crate::shape::{Key, Range, Shape, key};

const PLACE: Shape = Shape::Quantity(Dimension::Length, Range::closed(-1e6, 1e6));
const POSITION: Shape = Shape::Pair(&PLACE, &PLACE);
const HEIGHT: Shape = Shape::Quantity(Dimension::Length, Range::closed(0.0, 1e4));
const AZIMUTH: Shape = Shape::Number(Range::closed(-180.0, 360.0));

/// Keys of a site.
pub(crate) static SITE: &[Key] = &[
    key(
        "name",
        Shape::Text,
        Required,
        "Name of the site. Its cell is called CELL-NAME, after the cell of the table.",
    ),
    key(
        "position",
        POSITION,
        Required,
        "Position of the cell's antenna: east and north.",
    ),
    key(
        "height",
        HEIGHT,
        Optional,
        "Height of the cell's antenna above ground. Default: the `height` of the table.",
    ),
    key(
        "azimuth",
        AZIMUTH,
        Optional,
        "Direction of the cell's antenna in degrees, counter-clockwise from east. Default: that \
         of the table's `antenna`.",
    ),
];

/// Keys of sites that are in a measured table.
static MEASURED: &[Key] = &[key(
    "measurement",
    Shape::Text,
    Required,
    "Name of a table `[measurement]` with a row for each site. Its columns are positions, and \
     maybe names, heights and azimuths. Azimuths in the file are clockwise from north, as on a \
     compass. Latitudes and longitudes need `origin` or `net`.",
)];

/// Shape of the key `sites` of a cell.
pub(crate) const SITES: Shape =
    Shape::AnyOf(&[Shape::List(&Shape::Table(SITE)), Shape::Table(MEASURED)]);
