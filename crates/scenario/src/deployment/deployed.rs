//! Deployments whose cells are in the scenario.

use super::region::Region;
use fadeout_core::math;

/// Deployment whose cells have been written into the scenario.
#[derive(Debug)]
pub(crate) struct Deployed {
    /// Name of the deployment in the file.
    pub(crate) name: String,
    /// Area in which UEs of the deployment are dropped.
    pub(crate) region: Region,
    /// Smallest distance of the deployment's UEs from its sites, metres.
    pub(crate) min_distance_m: f64,
    /// Names of the deployment's cells.
    pub(crate) cells: Vec<String>,
    /// Largest distance of a UE from the site of its cell, metres.
    pub(crate) cell_radius_m: f64,
    /// Sites of the deployment.
    pub(super) sites: Vec<Standing>,
}

/// Site with its position.
#[derive(Debug)]
pub(super) struct Standing {
    pub(super) name: String,
    pub(super) place: (f64, f64),
    pub(super) carrier_hz: f64,
}

/// Smallest distance of two sites with different positions, metres. Closer sites are an error.
const ON_ONE_ANOTHER_M: f64 = 1.0;

impl Deployed {
    /// Returns a site of this deployment and a site of `other` with the same position and carrier.
    /// Each site would receive the full power of the other as interference everywhere. `None` if
    /// there is no such pair.
    pub(super) fn collision<'a>(&'a self, other: &'a Deployed) -> Option<(&'a str, &'a str)> {
        self.sites.iter().find_map(|own| {
            let near = |site: &&Standing| {
                let (x, y) = (site.place.0 - own.place.0, site.place.1 - own.place.1);
                site.carrier_hz == own.carrier_hz && math::hypot(x, y) < ON_ONE_ANOTHER_M
            };
            let site = other.sites.iter().find(near)?;
            Some((&*own.name, &*site.name))
        })
    }
}
