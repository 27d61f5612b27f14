//! User plane of the radio access: cells, legs, bearers and the air, and the packets and transport
//! blocks between them. No file of this folder uses a file of `access/` outside the folder.
//! [`Service`](service::Service) returns failures of legs to its caller.

pub(super) mod capture;
pub(super) mod changes;
pub(super) mod connect;
pub(super) mod counters;
pub(super) mod duplication;
pub(super) mod event;
pub(super) mod failures;
pub(super) mod moves;
pub(super) mod pass_on;
pub(super) mod reception;
pub(super) mod recording;
pub(super) mod secondary;
pub(super) mod service;
pub(super) mod serving;
pub(super) mod split;
pub(super) mod stack;
pub(super) mod states;
