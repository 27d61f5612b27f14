//! Antenna patterns.

pub mod beam;
