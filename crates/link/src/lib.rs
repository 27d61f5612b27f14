//! One-directional links, sans-IO: a rate that may vary, a queue, random loss, a delay line with
//! jitter, and blockages.
//!
//! ```text
//!              on_packet                                              on_wake
//! arrival ──► loss, blockage ──► queue ──► transmitter ──► delay line ──► far end
//!              (drops)          (limit)    (rate process)  (delay, jitter)
//! ```
//!
//! The rate process does not depend on the traffic, so a drop-tail queue knows on arrival when
//! the packet will have left the transmitter. A packet therefore costs one event: its arrival at
//! the far end. A queue under active management decides when the transmitter falls free, which
//! is one more event. See [`Link`] and [`QueueDiscipline`].
//!
//! A [`rab`] of 2G or 3G is a link that sends in blocks and repeats broken ones ([`BlockConfig`]).
//! Its parameters follow from a technology by name.
//!
//! Main items: rates in [`RateConfig`], delays in [`DelayConfig`], recorded capacity in [`Trace`]
//! and [`series`], outages in [`Schedule`] and [`BlockageConfig`], loss in [`LossConfig`].

mod blockage;
mod blocks;
mod delay;
mod error;
mod jitter;
mod lines;
mod link;
mod loss;
mod managed;
mod outlook;
mod queue;
pub mod rab;
mod radio_states;
mod rate;
pub mod schedule;
pub mod series;
mod stats;
mod steps;
mod streams;
mod transit;
mod transmission;
mod transmitter;

pub use blockage::{BlockageConfig, BlockageEffect, BlockageInterval};
pub use blocks::BlockConfig;
pub use delay::{Changes, DelayConfig, DelayStep};
pub use error::{LinkError, OrdinalsError, SeriesError, TraceError};
pub use link::{Link, LinkConfig};
pub use loss::{Arrivals, GilbertElliott, LossConfig};
pub use queue::{
    BiasedConfig, CoDelConfig, DropTailConfig, DualPi2Config, DualPi2Scheduler, FqCoDelConfig,
    Limit, PieConfig, QUEUE_DISCIPLINES, QueueConfig, QueueDiscipline, RedConfig, RedParameters,
};
pub use radio_states::{RadioState, RadioStateConfig, RadioStates};
pub use rate::{OPPORTUNITY, RateConfig, RateStep, Trace};
pub use schedule::{Phase, Schedule};
pub use stats::LinkStats;
