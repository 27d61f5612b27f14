//! Links: their rates, queues, losses and blockages.

use super::BuildError;
use super::blockage::blockage;
use super::equipment;
use crate::utra;
use fadeout_core::{Decibel, LinkId, Rate, Span, Time};
use fadeout_link as link;
use fadeout_radio::LinkBudget;
use fadeout_radio::phy::mcs::McsTable;
use fadeout_radio::phy::rate::{NrMcs, RateModel};
use fadeout_scenario::{self as scenario, Medium, Scenario};

pub(super) fn build_link(
    scenario: &Scenario,
    (index, is_reverse): (usize, bool),
    of_source: Option<scenario::QueueLimit>,
    (id, name): (LinkId, &str),
) -> Result<link::Link, BuildError> {
    let described = &scenario.links[index];
    let mut direction = match is_reverse {
        true => described.reverse.clone(),
        false => described.forward.clone(),
    };
    // The forward direction leads to the phone, and the limit applies to the direction towards the
    // phone.
    if let Some(limit) = of_source.filter(|_| !is_reverse) {
        direction.queue.limit = limit;
    }
    let refuse = |reason: String| BuildError::Link {
        link: name.to_owned(),
        reason,
    };
    let own = config(&direction).map_err(&refuse)?;
    let equipment = equipment::delay(scenario, described, is_reverse);
    let config = link::LinkConfig {
        delay: own.delay.clone().plus(equipment),
        blockage: blockage(scenario, Medium::Link(index), is_reverse)?,
        yields: yields(scenario, Medium::Link(index)),
        ..own
    };
    link::Link::new(id, config, scenario.seed).map_err(|error| refuse(error.to_string()))
}

/// Returns the configuration of a link direction. Blockages and handovers are not included.
pub(super) fn config(direction: &scenario::LinkDirection) -> Result<link::LinkConfig, String> {
    let (rate, mean) = rate(&direction.rate)?;
    Ok(link::LinkConfig {
        rate,
        blocks: None,
        delay: delay(&direction.delay)?,
        jitter: direction.jitter,
        keeps_order: direction.keeps_order,
        changes: direction.changes,
        framing: direction.framing,
        queue: queue(&direction.queue, mean)?,
        loss: loss(direction.loss.as_ref())?,
        blockage: None,
        yields: false,
    })
}

/// True if a phone's handover leaves or enters the link or the 2G or 3G bearer.
pub(super) fn yields(scenario: &Scenario, medium: Medium) -> bool {
    let mut handovers = scenario.handovers.iter();
    handovers.any(|handover| [handover.from, handover.to].contains(&medium))
        || utra::is_of_cell(scenario, medium)
}

/// Returns the rate process of a link, and the long-term mean of the rate.
pub(super) fn rate(model: &scenario::RateModel) -> Result<(link::RateConfig, Rate), String> {
    use scenario::RateModel as M;
    Ok(match model {
        M::Constant(rate) => (link::RateConfig::Constant(*rate), *rate),
        M::Steps {
            steps,
            repeat_every,
        } => {
            let steps = steps.iter().map(|&(at, rate)| link::RateStep {
                at: at.since(Time::ZERO),
                rate,
            });
            stepped(steps.collect(), *repeat_every)
        }
        M::Series {
            series,
            repeat_every,
        } => {
            let steps = link::series::rates(&series.bytes)
                .map_err(|error| format!("{}: {error}", series.path))?;
            stepped(steps, *repeat_every)
        }
        M::OnOff { rate, off } => {
            let schedule = schedule(off);
            (
                link::RateConfig::OnOff {
                    on: *rate,
                    off: Rate::ZERO,
                    schedule,
                },
                *rate,
            )
        }
        M::Trace { trace, repeat } => {
            let parsed = link::Trace::parse(&trace.bytes)
                .map_err(|error| format!("{}: {error}", trace.path))?;
            let mean = parsed.mean_rate();
            let played = if *repeat { parsed } else { parsed.once() };
            (link::RateConfig::Trace(played), mean)
        }
        M::Measurement { .. } => unreachable!("the scenario refuses a measurement"),
        M::Radio { radio: described } => {
            let rate = radio_rate(described, Decibel(0.0))?;
            (link::RateConfig::Constant(rate), rate)
        }
    })
}

/// Returns a rate process with constant steps, and the long-term mean of the rate.
fn stepped(steps: Vec<link::RateStep>, repeat_every: Option<Span>) -> (link::RateConfig, Rate) {
    let mean = mean_of_steps(&steps, repeat_every);
    let config = link::RateConfig::Steps {
        steps,
        repeat_every,
    };
    (config, mean)
}

fn mean_of_steps(steps: &[link::RateStep], repeat_every: Option<Span>) -> Rate {
    let Some(period) = repeat_every else {
        let rates = steps.iter().map(|step| step.rate);
        return rates.max().unwrap_or(Rate::ZERO);
    };
    let ends = steps.iter().skip(1).map(|step| step.at).chain([period]);
    let bits: f64 = steps
        .iter()
        .zip(ends)
        .map(|(step, end)| {
            step.rate.as_bits_per_sec() as f64 * end.saturating_sub(step.at).as_secs_f64()
        })
        .sum();
    Rate::from_bits_per_sec((bits / period.as_secs_f64()) as u64)
}

fn delay(model: &scenario::DelayModel) -> Result<link::DelayConfig, String> {
    use scenario::DelayModel as M;
    Ok(match model {
        M::Constant(delay) => link::DelayConfig::Constant(*delay),
        M::Steps {
            steps,
            repeat_every,
        } => link::DelayConfig::Steps {
            steps: steps
                .iter()
                .map(|&(at, delay)| link::DelayStep {
                    at: at.since(Time::ZERO),
                    delay,
                })
                .collect(),
            repeat_every: *repeat_every,
        },
        M::Series {
            series,
            repeat_every,
        } => link::DelayConfig::Steps {
            steps: link::series::delays(&series.bytes)
                .map_err(|error| format!("{}: {error}", series.path))?,
            repeat_every: *repeat_every,
        },
        M::Measurement { .. } => unreachable!("the scenario refuses a measurement"),
    })
}

/// Returns the longest delay of a direction over time. Zero if the delay cannot be built.
pub(crate) fn longest_delay(direction: &scenario::LinkDirection) -> Span {
    delay(&direction.delay).map_or(Span::ZERO, |config| config.longest())
}

/// Returns the shortest delay of a direction over time. Zero if the delay cannot be built.
pub(super) fn shortest_delay(direction: &scenario::LinkDirection) -> Span {
    delay(&direction.delay).map_or(Span::ZERO, |config| config.shortest())
}

pub(super) fn budget(described: &scenario::Radio) -> LinkBudget {
    LinkBudget {
        carrier: described.carrier,
        bandwidth: described.bandwidth,
        tx_power: described.tx_power,
        tx_hpbw_deg: described.tx_beamwidth_deg,
        rx_hpbw_deg: described.rx_beamwidth_deg,
        distance: described.distance,
        tx_height: described.tx_height,
        rx_height: described.rx_height,
        elevation_hpbw_deg: described.elevation_beamwidth_deg,
        antenna_efficiency: described.antenna_efficiency,
        noise_figure: described.noise_figure,
        layers: described.layers,
        overhead: described.overhead,
        adaptation: RateModel::NrMcs(NrMcs {
            table: match described.mcs_table {
                scenario::McsTable::Qam64 => McsTable::Qam64,
                scenario::McsTable::Qam256 => McsTable::Qam256,
                scenario::McsTable::Qam64LowSe => McsTable::Qam64LowSe,
            },
            gap: described.implementation_loss,
            ..NrMcs::default()
        }),
    }
}

/// Returns the rate of a radio link with an additional loss.
pub(super) fn radio_rate(described: &scenario::Radio, loss: Decibel) -> Result<Rate, String> {
    let state = budget(described)
        .attenuated(loss)
        .map_err(|error| error.to_string())?;
    if loss.0 == 0.0 && state.rate.is_zero() {
        return Err(format!(
            "the link budget gives an SNR of {:.1} dB, too little for any data; \
             expected more power, a shorter distance or narrower beams",
            state.snr.0
        ));
    }
    Ok(capped(state.rate, described))
}

pub(super) fn capped(rate: Rate, described: &scenario::Radio) -> Rate {
    described.max_rate.map_or(rate, |most| rate.min(most))
}

fn queue(queue: &scenario::Queue, rate: Rate) -> Result<link::QueueConfig, String> {
    Ok(link::QueueConfig {
        limit: limit(queue.limit, rate),
        counts_delay_line: queue.counts_delay_line,
        discipline: discipline(&queue.discipline, rate)?,
    })
}

/// Returns the limit of a queue at a link with the mean rate `rate`.
pub(super) fn limit(limit: scenario::QueueLimit, rate: Rate) -> Option<link::Limit> {
    match limit {
        scenario::QueueLimit::Packets(packets) => Some(link::Limit::Packets(
            u32::try_from(packets).unwrap_or(u32::MAX),
        )),
        scenario::QueueLimit::Bytes(bytes) => Some(link::Limit::Bytes(bytes)),
        scenario::QueueLimit::Time(_) if rate.is_unlimited() => None,
        scenario::QueueLimit::Time(span) => {
            let bytes = rate.as_bytes_per_sec_f64() * span.as_secs_f64();
            // The limit is at least one full packet, because a smaller queue would drop every full
            // packet.
            Some(link::Limit::Bytes(fadeout_core::Bytes(
                (bytes as u64).max(1500),
            )))
        }
    }
}

pub(super) fn discipline(
    named: &scenario::Named,
    rate: Rate,
) -> Result<link::QueueDiscipline, String> {
    let scenario::Named { name, parameters } = named;
    link::QueueDiscipline::new(name, parameters, rate)
        .ok_or_else(|| format!("there is no queue discipline \"{name}\""))
}

pub(super) fn loss(loss: Option<&scenario::Loss>) -> Result<link::LossConfig, String> {
    use scenario::{Loss as M, LostArrivals};
    Ok(match loss {
        None => link::LossConfig::None,
        Some(&M::Independent { probability }) => link::LossConfig::Independent { probability },
        Some(M::Steps {
            steps,
            repeat_every,
        }) => link::LossConfig::Steps {
            steps: steps
                .iter()
                .map(|&(at, probability)| link::LossStep {
                    at: at.since(Time::ZERO),
                    probability,
                })
                .collect(),
            repeat_every: *repeat_every,
        },
        Some(M::Series {
            series,
            repeat_every,
        }) => link::LossConfig::Steps {
            steps: link::series::losses(&series.bytes)
                .map_err(|error| format!("{}: {error}", series.path))?,
            repeat_every: *repeat_every,
        },
        Some(M::Measurement { .. }) => unreachable!("the scenario refuses a measurement"),
        Some(M::GilbertElliott { states }) => {
            link::LossConfig::GilbertElliott(link::GilbertElliott {
                good_to_bad: states.to_bad,
                bad_to_good: states.to_good,
                loss_good: states.loss_good,
                loss_bad: states.loss_bad,
            })
        }
        Some(M::Arrivals { arrivals }) => link::LossConfig::Arrivals(match arrivals {
            LostArrivals::Listed(ordinals) => {
                link::Arrivals::new(ordinals.as_slice()).map_err(|error| error.to_string())?
            }
            LostArrivals::OfFile(file) => link::Arrivals::parse(&file.bytes)
                .map_err(|error| format!("{}: {error}", file.path))?,
        }),
    })
}

pub(super) fn schedule(schedule: &scenario::Schedule) -> link::Schedule {
    match schedule {
        scenario::Schedule::Periodic {
            period,
            duration,
            phase,
        } => link::Schedule::Periodic {
            period: *period,
            duration: *duration,
            phase: match phase {
                scenario::Phase::Fixed(at) => link::Phase::Fixed(*at),
                scenario::Phase::Random => link::Phase::Random,
            },
        },
        scenario::Schedule::Scripted { intervals } => link::Schedule::Scripted(intervals.clone()),
        scenario::Schedule::Exponential {
            mean_clear,
            mean_blocked,
        } => link::Schedule::Exponential {
            mean_gap: *mean_clear,
            mean_length: *mean_blocked,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_repeats_unless_the_scenario_says_otherwise() {
        let bytes = b"2\n5\n";
        let expected = link::Trace::parse(bytes).expect("a trace");
        for (repeat, expected) in [(true, expected.clone()), (false, expected.once())] {
            let trace = scenario::File {
                path: "cell.down".to_owned(),
                bytes: bytes.as_slice().into(),
            };
            let (config, _) = rate(&scenario::RateModel::Trace { trace, repeat }).expect("a rate");
            assert_eq!(config, link::RateConfig::Trace(expected));
        }
    }
}
