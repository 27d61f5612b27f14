//! All integration tests of this crate. They form one binary, so that shared code is compiled and
//! linked once.

mod access_aggregation;
mod access_allocations;
mod access_cross_link;
mod access_goodput;
mod access_legs;
mod access_properties;
mod access_sub_bands;
mod access_tdd;
mod access_timing;
mod access_wideband;
mod common;
mod handover;
