//! Deployments: tables that stand for many cells, with their names, their parameters and where their
//! sites are. [`crate::build`] makes the cells of them.

mod expand;
mod hexagon;
mod region;
mod registry;
mod roadside;

pub(crate) use expand::{Deployed, expand};
pub(crate) use region::Region;
pub(crate) use registry::stream_of;
pub use registry::{DEPLOYMENTS, Deployment};
