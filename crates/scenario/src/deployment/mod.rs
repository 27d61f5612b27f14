//! Deployments and sites: tables that represent many cells. This module contains the names of
//! deployments, their parameters and the positions of their sites. [`crate::build`] builds the
//! cells.

mod deployed;
mod expand;
mod hexagon;
mod region;
mod registry;
mod roadside;
mod sites;

pub(crate) use deployed::Deployed;
pub(crate) use expand::{expand, put};
pub(crate) use region::Region;
pub(crate) use registry::stream_of;
pub use registry::{DEPLOYMENTS, Deployment};
pub(crate) use sites::expand as expand_sites;
