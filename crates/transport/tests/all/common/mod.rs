//! Common parts of the endpoint tests: an independent model, two endpoints over an adversarial
//! path, and a peer played by hand.

#![allow(dead_code, reason = "each test file uses a part")]

pub(crate) mod model;
pub(crate) mod pair;
pub(crate) mod script;
