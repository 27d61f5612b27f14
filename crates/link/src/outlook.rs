//! Known future of a link: its rate over time, including blockages. Cross-layer notices to
//! transports are made from it.

use crate::link::Link;
use crate::rate::Pieces;
use crate::transmitter::Transmitter;
use fadeout_core::{Rate, Span, Time};

/// Length of the windows over which a trace's capacity is averaged.
const TRACE_WINDOW: Span = Span::from_millis(100);

impl Link {
    /// Returns the rate from each instant on, up to `until`. A change within `resolution` of the
    /// last change replaces the last change. Must be called before the link carries packets. A
    /// total blockage has a rate of zero, with any effect on packets. A trace has its capacity in
    /// each 100 ms, regardless of blockages.
    pub fn rate_changes(&self, until: Time, resolution: Span) -> Vec<(Time, Rate)> {
        let mut changes = Changes {
            list: Vec::new(),
            resolution,
        };
        match &self.transmitter {
            Transmitter::Fluid(fluid) => {
                let mut pieces = fluid.pieces().under(self.blockages());
                changes.follow(&mut pieces, until);
            }
            Transmitter::Blocks(blocks) => {
                let mut pieces = blocks.pieces().under(self.blockages());
                changes.follow(&mut pieces, until);
            }
            Transmitter::Opportunities(opportunities) => {
                let mut from = Time::ZERO;
                while from < until {
                    let to = from.saturating_add(TRACE_WINDOW);
                    changes.push(from, opportunities.rate_between(from, to));
                    from = to;
                }
            }
        }
        changes.list
    }

    /// Returns the total blockages that begin before `until`. Adjacent ones are joined.
    pub fn outages(&self, until: Time) -> Vec<(Time, Time)> {
        let mut outages: Vec<(Time, Time)> = Vec::new();
        for blockage in self.blockages() {
            if blockage.start >= until || !blockage.rate.is_zero() {
                continue;
            }
            match outages.last_mut() {
                Some(last) if last.1 == blockage.start => last.1 = blockage.end,
                _ => outages.push((blockage.start, blockage.end)),
            }
        }
        outages
    }
}

struct Changes {
    list: Vec<(Time, Rate)>,
    resolution: Span,
}

impl Changes {
    fn push(&mut self, at: Time, rate: Rate) {
        match self.list.last_mut() {
            Some(last) if last.1 == rate => {}
            Some(last) if at.since(last.0) < self.resolution => last.1 = rate,
            _ => self.list.push((at, rate)),
        }
    }

    fn follow(&mut self, pieces: &mut Pieces, until: Time) {
        let mut at = Time::ZERO;
        while at < until {
            let piece = pieces.piece_at(at);
            self.push(at, piece.rate);
            at = piece.until;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        BlockageConfig, BlockageEffect, BlockageInterval, Link, LinkConfig, RateConfig, Trace,
    };
    use fadeout_core::{LinkId, Rate, Span, Time};

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn mbps(mbps: u64) -> Rate {
        Rate::from_bits_per_sec(mbps * 1_000_000)
    }

    fn blocked(effect: BlockageEffect) -> Link {
        let interval = |start, end, rate| BlockageInterval {
            start: ms(start),
            end: ms(end),
            rate,
            loss_db: 0.0,
        };
        let config = LinkConfig {
            rate: RateConfig::Constant(mbps(10)),
            blockage: Some(BlockageConfig {
                effect,
                intervals: vec![
                    interval(100, 200, Rate::ZERO),
                    interval(300, 400, mbps(2)),
                    interval(900, 1000, Rate::ZERO),
                ],
            }),
            ..LinkConfig::default()
        };
        Link::new(LinkId(0), config, 1).expect("a valid link")
    }

    #[test]
    fn a_blockage_is_a_rate_of_zero_whether_it_holds_or_loses() {
        for effect in [BlockageEffect::Held { limit: None }, BlockageEffect::Lost] {
            let link = blocked(effect);
            let expected = [
                (ms(0), mbps(10)),
                (ms(100), Rate::ZERO),
                (ms(200), mbps(10)),
                (ms(300), mbps(2)),
                (ms(400), mbps(10)),
            ];
            assert_eq!(link.rate_changes(ms(800), Span::from_millis(1)), expected);
            assert_eq!(link.outages(ms(800)), [(ms(100), ms(200))]);
        }
    }

    #[test]
    fn a_trace_gives_the_capacity_of_each_window() {
        // The trace has one opportunity in each of the first 99 milliseconds, and the last one at
        // 200 ms.
        let mut text: String = (1..=99).map(|ms| format!("{ms}\n")).collect();
        text += "200\n";
        let config = LinkConfig {
            rate: RateConfig::Trace(Trace::parse(text.as_bytes()).expect("a valid trace")),
            ..LinkConfig::default()
        };
        let link = Link::new(LinkId(0), config, 1).expect("a valid link");
        let changes = link.rate_changes(ms(200), Span::from_millis(1));
        // There are 99 packets of 1500 bytes in 100 ms, then one.
        let expected = [
            (ms(0), Rate::from_bits_per_sec(11_880_000)),
            (ms(100), Rate::from_bits_per_sec(120_000)),
        ];
        assert_eq!(changes, expected);
    }
}
