//! Mobility management of UEs: measurements, procedures, and the decisions of base stations.

mod beam_failure;
mod bearer_steps;
mod carriers;
mod cell_entry;
mod daps;
mod entry;
mod gaps;
mod handover;
mod link_evaluation;
mod ltm;
pub(super) mod managed;
mod measure;
pub(super) mod mobility;
mod network_effects;
mod rach_less;
mod random_access;
mod rates;
pub(super) mod scg;
pub(super) mod start;
mod utra;
