//! From SNR to rate: mutual information, block errors, modulation and coding.

pub mod bler;
pub mod mcs;
pub mod mutual_information;
pub mod rate;
