//! RLC and PDCP from outside: rules of the standard step by step, and random runs against naive
//! models.

mod acknowledged;
mod aqm;
mod concatenation;
mod model;
mod random;
mod rig;
mod unacknowledged;
