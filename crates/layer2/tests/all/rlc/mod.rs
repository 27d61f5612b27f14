//! Tests of RLC and PDCP through their public interface: rules of the standard step by step, and
//! random runs against simple models.

mod acknowledged;
mod aqm;
mod concatenation;
mod model;
mod random;
mod rig;
mod unacknowledged;
