//! The results of a run: tables in Parquet or Arrow IPC, packet captures in pcapng, and the folder
//! that holds them.
//!
//! A [`Recorder`] is a [`Probe`](fadeout_core::Probe). The recorder buffers rows and converts some
//! thousands at a time to columns. So a long run that writes to a folder needs no more memory than
//! a short one. No other crate uses arrow.

mod capture;
mod columns;
mod config;
mod error;
mod folder;
mod kept;
mod latest;
mod manifest;
mod parquet;
mod part;
mod place;
mod recorder;
mod sampler;
mod save;
mod summary;
mod summed;
mod table;
mod throughput;

pub use capture::address_of;
pub use config::{
    Destination, EndpointInfo, FlowInfo, RadioChannel, RadioChannelForm, RadioInfo, RecorderConfig,
    SubflowInfo,
};
pub use error::RecordError;
pub use folder::RunFolder;
pub use latest::{BlockSums, Latest};
pub use manifest::{RunInfo, tables_json};
pub use part::{Merger, PartNumbers, PartRecorder};
pub use recorder::{Recorded, Recorder, TABLES};
pub use save::{Saved, save};
pub use summary::{Document, Summary, stream_of_rows};
pub use summed::SummedUp;
