//! Links in one direction, sans-IO: a rate that may vary, a queue, random loss, a delay line with
//! jitter, and blockages.
//!
//! ```text
//!              on_packet                                              on_wake
//! arrival ──► loss, blockage ──► queue ──► transmitter ──► delay line ──► far end
//!              (drops)          (limit)    (rate process)  (delay, jitter)
//! ```
//!
//! The rate does not depend on the traffic. So a drop-tail queue knows on arrival when the packet
//! will leave the transmitter. A packet then needs one event, its arrival at the far end. A queue
//! with active management decides when the transmitter becomes free, which is one more event. See
//! [`Link`] and [`QueueDiscipline`].
//!
//! A radio access bearer ([`rab`]) of 2G or 3G is a link that sends blocks and retransmits broken
//! ones ([`BlockConfig`]). Its parameters follow from the name of a technology.
//!
//! The main items are rates in [`RateConfig`], delays in [`DelayConfig`], recorded capacity in
//! [`Trace`] and [`series`], outages in [`Schedule`] and [`BlockageConfig`], and loss in
//! [`LossConfig`].

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
pub use loss::{Arrivals, GilbertElliott, LossConfig, LossStep};
pub use queue::{
    BiasedConfig, CoDelConfig, DropTailConfig, DualPi2Config, DualPi2Scheduler, FqCoDelConfig,
    Limit, PieConfig, QUEUE_DISCIPLINES, QueueConfig, QueueDiscipline, RedConfig, RedParameters,
};
pub use radio_states::{RadioState, RadioStateConfig, RadioStates};
pub use rate::{OPPORTUNITY, RateConfig, RateStep, Trace};
pub use schedule::{Phase, Schedule};
pub use stats::LinkStats;
