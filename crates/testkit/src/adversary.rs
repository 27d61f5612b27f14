//! A path that loses, delays, duplicates, reorders and marks packets, controlled by a seed.

use fadeout_core::random::Stream;
use fadeout_core::{Bytes, Rate, Span, Time};

/// A time in which no packet passes.
#[derive(Debug, Clone, Copy)]
pub struct Blockage {
    /// First instant of the blockage.
    pub start: Time,
    /// First instant after the blockage.
    pub end: Time,
    /// True if packets wait for the end of the blockage, false if they are lost.
    pub is_held: bool,
}

/// Disturbances on a path: loss, duplication, reordering and others.
#[derive(Debug, Clone)]
pub struct Mischief {
    /// Delay of every packet.
    pub delay: Span,
    /// Rate of the path.
    pub rate: Rate,
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplication: f64,
    /// Probability that a packet is delayed beyond later ones, by up to `lateness`.
    pub reordering: f64,
    /// Longest extra delay of a reordered or duplicated packet.
    pub lateness: Span,
    /// Probability that a packet gets a congestion mark.
    pub marking: f64,
    /// Bit n is set if packet n is lost. It tests handshakes and short transfers.
    pub lost_early: u64,
    /// Times in which no packet passes.
    pub blockages: Vec<Blockage>,
    /// Time after which the path only delays packets. A sender that gives up after some timeouts
    /// can finish only if the path works in the end.
    pub ends_at: Time,
}

impl Mischief {
    /// Returns a path that only delays packets.
    pub fn none(delay: Span) -> Mischief {
        Mischief {
            delay,
            rate: Rate::UNLIMITED,
            loss: 0.0,
            duplication: 0.0,
            reordering: 0.0,
            lateness: Span::ZERO,
            marking: 0.0,
            lost_early: 0,
            blockages: Vec::new(),
            ends_at: Time::ZERO,
        }
    }

    /// Returns random disturbances. Each kind is absent with probability one half, and mild more
    /// often than strong. They last at most 16 s.
    pub fn random(stream: &mut Stream) -> Mischief {
        let seldom = |stream: &mut Stream, most: f64| {
            if stream.chance(0.5) {
                0.0
            } else {
                most * stream.uniform() * stream.uniform()
            }
        };
        let delay = Span::from_micros(10 + log_uniform(stream, 6, 18));
        let ends_at = Time::ZERO + Span::from_micros(stream.below(16_000_000));
        let rate = if stream.chance(0.5) {
            Rate::UNLIMITED
        } else {
            Rate::from_bits_per_sec(100_000 << stream.below(13))
        };
        let lost_early = if stream.chance(0.5) {
            0
        } else {
            stream.bits() & stream.bits() & stream.bits()
        };
        let mut blockages = Vec::new();
        while blockages.len() < 4 && stream.chance(0.4) {
            let start = Time::ZERO + Span::from_micros(log_uniform(stream, 12, 24));
            let length = Span::from_micros(1 + log_uniform(stream, 12, 23));
            let end = (start + length).min(ends_at);
            blockages.push(Blockage {
                start,
                end,
                is_held: stream.chance(0.5),
            });
        }
        Mischief {
            delay,
            rate,
            loss: seldom(stream, 0.5),
            duplication: seldom(stream, 0.5),
            reordering: seldom(stream, 0.8),
            lateness: Span::from_micros(1 + log_uniform(stream, 4, 20)),
            marking: seldom(stream, 0.5),
            lost_early,
            blockages,
            ends_at,
        }
    }
}

/// Arrival times of the copies of a packet: none, one or two.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals {
    /// Arrival of the first and of the second copy. `None` if there is no such copy.
    pub at: [Option<Time>; 2],
    /// True if the packet gets a congestion mark, if it can be marked.
    pub is_marked: bool,
}

/// One direction of a path with the disturbances of [`Mischief`].
#[derive(Debug, Clone)]
pub struct Adversary {
    mischief: Mischief,
    stream: Stream,
    free_at: Time,
    packets: u32,
}

impl Adversary {
    /// Creates a path with random numbers from `stream`.
    pub fn new(mischief: Mischief, stream: Stream) -> Adversary {
        Adversary {
            mischief,
            stream,
            free_at: Time::ZERO,
            packets: 0,
        }
    }

    /// Returns the arrivals of a packet of `size` that enters the path at `now`.
    pub fn pass(&mut self, now: Time, size: Bytes) -> Arrivals {
        let mischief = &self.mischief;
        let is_lost_early = self.packets < 64 && mischief.lost_early >> self.packets & 1 == 1;
        self.packets += 1;
        self.free_at = self.free_at.max(now) + mischief.rate.time_to_send(size);
        let mut arrival = self.free_at + mischief.delay;
        let mut arrivals = Arrivals {
            at: [None; 2],
            is_marked: false,
        };
        if now < mischief.ends_at {
            if is_lost_early || self.stream.chance(mischief.loss) {
                return arrivals;
            }
            for blockage in &mischief.blockages {
                if blockage.start <= arrival && arrival < blockage.end {
                    if !blockage.is_held {
                        return arrivals;
                    }
                    arrival = blockage.end;
                }
            }
            arrivals.is_marked = self.stream.chance(mischief.marking);
            if self.stream.chance(mischief.duplication) {
                arrivals.at[1] = Some(arrival + late(&mut self.stream, mischief.lateness));
            }
            if self.stream.chance(mischief.reordering) {
                arrival += late(&mut self.stream, mischief.lateness);
            }
        }
        arrivals.at[0] = Some(arrival);
        arrivals
    }
}

/// Returns a number below 2^n for an n drawn from `low..high`, so that every order of magnitude is
/// equally likely.
fn log_uniform(stream: &mut Stream, low: u64, high: u64) -> u64 {
    let exponent = low + stream.below(high - low);
    stream.below(1 << exponent)
}

fn late(stream: &mut Stream, most: Span) -> Span {
    Span::from_nanos(stream.below(most.as_nanos().max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_at_ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_path_without_mischief_only_delays() {
        let mischief = Mischief::none(Span::from_millis(10));
        let mut path = Adversary::new(mischief, Stream::new(1, "path", 0));
        let arrivals = path.pass(time_at_ms(5), Bytes(1500));
        assert_eq!(
            (arrivals.at, arrivals.is_marked),
            ([Some(time_at_ms(15)), None], false)
        );
    }

    #[test]
    fn a_blockage_holds_or_loses_and_then_the_path_works() {
        let mut mischief = Mischief::none(Span::ZERO);
        mischief.ends_at = time_at_ms(100);
        for is_held in [true, false] {
            mischief.blockages = vec![Blockage {
                start: time_at_ms(10),
                end: time_at_ms(20),
                is_held,
            }];
            let mut path = Adversary::new(mischief.clone(), Stream::new(1, "path", 0));
            let held = is_held.then(|| time_at_ms(20));
            assert_eq!(path.pass(time_at_ms(12), Bytes(40)).at[0], held);
            assert_eq!(
                path.pass(time_at_ms(20), Bytes(40)).at[0],
                Some(time_at_ms(20))
            );
        }
    }
}
