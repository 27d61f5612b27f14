//! Deployments: tables that represent many cells. This module contains their names, their
//! parameters and the positions of their sites. [`crate::build`] builds the cells.

mod deployed;
mod expand;
mod hexagon;
mod region;
mod registry;
mod roadside;

pub(crate) use deployed::Deployed;
pub(crate) use expand::{expand, put};
pub(crate) use region::Region;
pub(crate) use registry::stream_of;
pub use registry::{DEPLOYMENTS, Deployment};
