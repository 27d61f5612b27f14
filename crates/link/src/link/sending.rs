//! Choice of a link's transmitter, and the allowed combinations of rates, blocks and blockages.

use crate::blockage::Blockages;
use crate::blocks::Blocks;
use crate::rate::{Pieces, Process, SLOWEST};
use crate::streams::Streams;
use crate::transmitter::{Fluid, Opportunities, Transmitter};
use crate::{BlockConfig, BlockageEffect, BlockageInterval, LinkError, RateConfig};

/// Checks that packets can keep the rate of their arrival. This requires a defined rate that later
/// changes do not affect.
pub(super) fn check_for_arrivals(
    rate: &RateConfig,
    blocks: Option<BlockConfig>,
    slowing: &[BlockageInterval],
) -> Result<(), LinkError> {
    let refuse = |found, expected| Err(LinkError::ForArrivals(found, expected));
    let has_zero = match rate {
        RateConfig::Constant(_) => false,
        RateConfig::Steps { steps, .. } => steps.iter().any(|step| step.rate.is_zero()),
        RateConfig::OnOff { on, off, .. } => on.is_zero() || off.is_zero(),
        RateConfig::Trace(_) => {
            return refuse("the opportunities of a trace", "a rate");
        }
    };
    if has_zero {
        refuse("a rate of zero at times", "rates above zero")
    } else if blocks.is_some() {
        refuse("blocks", "a rate without blocks")
    } else if !slowing.is_empty() {
        refuse(
            "blockages that slow it or hold packets",
            "blockages that lose packets or drop arrivals",
        )
    } else {
        Ok(())
    }
}

/// Returns the blockages that affect the transmitter. These are all if packets are held, and only
/// the partial ones otherwise.
pub(super) fn slowing(
    blockages: &Blockages,
    effect: Option<BlockageEffect>,
) -> Vec<BlockageInterval> {
    let holds = matches!(effect, Some(BlockageEffect::Held { .. }));
    blockages
        .all()
        .iter()
        .copied()
        .filter(|b| holds || !b.rate.is_zero())
        .collect()
}

/// Returns the transmitter of a link, slowed by the blockages `slowing`.
pub(super) fn transmitter(
    (rate, blocks): (&RateConfig, Option<BlockConfig>),
    slowing: Vec<BlockageInterval>,
    streams: Streams,
    blockages: &Blockages,
) -> Result<Transmitter, LinkError> {
    let process = match rate {
        RateConfig::Constant(rate) => Process::constant(*rate)?,
        RateConfig::Steps {
            steps,
            repeat_every,
        } => Process::steps(steps, *repeat_every)?,
        RateConfig::OnOff { on, off, schedule } => Process::on_off((*on, *off), schedule, streams)?,
        RateConfig::Trace(trace) => {
            if let Some(partial) = blockages.all().iter().find(|b| !b.rate.is_zero()) {
                return Err(LinkError::SlowedTrace(partial.rate));
            }
            let opportunities = Opportunities::new(trace.clone(), slowing);
            return Ok(Transmitter::Opportunities(opportunities));
        }
    };
    if let (RateConfig::Constant(rate), Some(_)) = (rate, blocks)
        && *rate < SLOWEST
    {
        return Err(LinkError::RateTooSmall(*rate));
    }
    let pieces = Pieces::new(process, slowing);
    Ok(match blocks {
        Some(blocks) => {
            let blocks = Blocks::new(blocks, pieces, streams)?;
            Transmitter::Blocks(Box::new(blocks))
        }
        None => Transmitter::Fluid(Fluid::new(pieces)),
    })
}
