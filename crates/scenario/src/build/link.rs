//! Links with their two directions.

use super::*;
use crate::table::KeyValue;
use std::sync::Arc;

/// Largest file that a scenario names.
const MAX_TRACE: u64 = 256 << 20;
/// Most interruptions of one link in a run, on average.
const MOST_CYCLES: u64 = 500_000;

/// Steps with their starts, and after how long they repeat.
type Stepped<T> = (Vec<(Time, T)>, Option<Span>);

impl Builder<'_, '_> {
    pub(super) fn link(&mut self, name: &str, fields: &Fields) -> Option<Link> {
        let ends = self.ends(name, fields);
        let delay = fields.item("delay").and_then(|item| self.delay(item));
        let forward = self.direction(fields, delay.clone());
        let reverse = fields.fields("reverse").and_then(|reverse| {
            let own = match reverse.item("delay") {
                Some(item) => self.delay(item),
                None => delay,
            };
            self.direction(reverse, own)
        });
        let (from, to) = ends?;
        Some(Link {
            name: name.to_owned(),
            from,
            to,
            forward: forward?,
            reverse: reverse?,
        })
    }

    /// The nodes at both ends, which are now connected.
    pub(super) fn ends(&mut self, name: &str, fields: &Fields) -> Option<(NodeId, NodeId)> {
        let (from, to) = (self.end(fields, "from"), self.end(fields, "to"));
        let (from, to) = (from?, to?);
        if from == to {
            let message = format!("`{name}` connects a node with itself");
            self.mistake(fields.place_of("to"), message, "two different nodes");
        }
        self.nodes.connect(from, to);
        Some((from, to))
    }

    /// The node at one end; a link declares the nodes it names.
    pub(super) fn end(&mut self, fields: &Fields, key: &str) -> Option<NodeId> {
        let name = fields.text(key)?;
        if !is_name(name) {
            let message = format!("`{}` is not a name", shortened(name));
            let expected = "1 to 64 letters, digits, hyphens and underscores";
            self.mistake(fields.place_of(key), message, expected);
            return None;
        }
        Some(self.nodes.add(name))
    }

    fn direction(&mut self, fields: &Fields, delay: Option<DelayModel>) -> Option<LinkDirection> {
        let rate = fields.item("rate").and_then(|item| self.rate(item));
        let queue = fields
            .fields("queue")
            .and_then(|queue| self.queue(queue, rate.as_ref()));
        let loss = match fields.fields("loss") {
            Some(loss) => self.loss(loss),
            None => Some(Loss::None),
        };
        Some(LinkDirection {
            rate: rate?,
            delay: delay?,
            jitter: fields.span("jitter")?,
            keeps_order: fields.flag("keeps-order")?,
            changes: Changes::read(fields.item("changes"))?,
            framing: fields.bytes("framing")?,
            queue: queue?,
            loss: loss?,
        })
    }

    fn queue(&mut self, fields: &Fields, rate: Option<&RateModel>) -> Option<Queue> {
        let item = fields.item("limit")?;
        let limit = item.queue_limit()?;
        let unlimited = RateModel::Constant(Rate::UNLIMITED);
        if matches!(limit, QueueLimit::Time(_)) && rate == Some(&unlimited) {
            let message = "a queue limit in time needs a link with a rate";
            self.mistake(
                item.place,
                message,
                "packets or bytes, for an unlimited rate",
            );
            return None;
        }
        Some(Queue {
            limit,
            counts_delay_line: fields.flag("counts-delay-line")?,
            discipline: fields.named("discipline")?,
        })
    }

    pub(super) fn rate(&mut self, item: &Item) -> Option<RateModel> {
        let Content::Fields(fields) = &item.content else {
            return item.rate().map(RateModel::Constant);
        };
        match fields.variant {
            "steps" => self.steps(fields),
            "off" => {
                let off = fields.fields("off").and_then(|off| self.schedule(off));
                Some(RateModel::OnOff {
                    rate: fields.rate("rate")?,
                    off: off?,
                })
            }
            "trace" => self.trace(fields),
            "series" => self.series(fields).map(RateModel::Series),
            _ => Radio::read(fields.fields("radio")?, ()).map(RateModel::Radio),
        }
    }

    fn delay(&mut self, item: &Item) -> Option<DelayModel> {
        let Content::Fields(fields) = &item.content else {
            return item.span().map(DelayModel::Constant);
        };
        if fields.variant == "series" {
            return self.series(fields).map(DelayModel::Series);
        }
        let (steps, repeat_every) = self.steps_of(fields, Item::span)?;
        Some(DelayModel::Steps {
            steps,
            repeat_every,
        })
    }

    fn steps(&mut self, fields: &Fields) -> Option<RateModel> {
        let (steps, repeat_every) = self.steps_of(fields, Item::rate)?;
        if steps.iter().all(|(_, rate)| rate.is_zero()) {
            let message = "the rate is never above zero";
            self.mistake(
                fields.place_of("steps"),
                message,
                "at least one rate above zero",
            );
        }
        Some(RateModel::Steps {
            steps,
            repeat_every,
        })
    }

    /// The steps of a table with their values, and after how long they repeat.
    fn steps_of<T>(
        &mut self,
        fields: &Fields,
        value: impl Fn(&Item) -> Option<T>,
    ) -> Option<Stepped<T>> {
        let mut steps: Vec<(Time, T)> = Vec::new();
        for item in fields.list("steps") {
            let (at, given) = item.pair()?;
            let (start, given) = (at.time()?, value(given)?);
            match steps.last() {
                None if start != Time::ZERO => {
                    self.mistake(at.place, "the first step starts late", "\"0 s\"");
                    return None;
                }
                Some((before, _)) if start <= *before => {
                    let message = format!("this step does not start after the one at {before}");
                    self.mistake(at.place, message, "starts that increase");
                    return None;
                }
                _ => steps.push((start, given)),
            }
        }
        let (last, _) = steps.last()?;
        let repeat_every = fields.span("repeat-every");
        if repeat_every.is_some_and(|every| Time::ZERO + every <= *last) {
            let message = format!("the steps repeat before the last one starts, at {last}");
            self.mistake(
                fields.place_of("repeat-every"),
                message,
                "a time after the last start",
            );
        }
        Some((steps, repeat_every))
    }

    fn series(&mut self, fields: &Fields) -> Option<Series> {
        let path = fields.text("series")?;
        let expected = "a table of times with rates or delays, relative to the scenario file";
        let bytes = self.file(path, fields.place_of("series"), expected)?;
        Some(Series {
            path: path.to_owned(),
            bytes,
            repeat_every: fields.span("repeat-every"),
        })
    }

    fn trace(&mut self, fields: &Fields) -> Option<RateModel> {
        let path = fields.text("trace")?;
        let expected = "a mahimahi trace, relative to the scenario file";
        let bytes = self.file(path, fields.place_of("trace"), expected)?;
        Some(RateModel::Trace(Trace {
            path: path.to_owned(),
            bytes,
            repeat: fields.flag("repeat")?,
        }))
    }

    /// The bytes of the file that `place` names, read once.
    pub(super) fn file(&mut self, path: &str, place: Place, expected: &str) -> Option<Arc<[u8]>> {
        if let Some(bytes) = self.files.get(path) {
            return Some(bytes.clone());
        }
        let full = self.base_dir.join(path);
        match read_bounded(&full) {
            Ok(bytes) => {
                let bytes: Arc<[u8]> = bytes.into();
                self.files.insert(path.to_owned(), bytes.clone());
                Some(bytes)
            }
            Err(error) => {
                let shown = full.display();
                let message = format!("cannot read the file `{shown}`: {error}");
                self.mistake(place, message, expected);
                None
            }
        }
    }

    pub(super) fn loss(&mut self, fields: &Fields) -> Option<Loss> {
        match fields.variant {
            "probability" => Some(Loss::Independent {
                probability: fields.number("probability")?,
            }),
            "arrivals" => self.lost_arrivals(fields.item("arrivals")?),
            _ => {
                let states = fields.fields("gilbert-elliott")?;
                Some(Loss::GilbertElliott {
                    to_bad: states.number("to-bad")?,
                    to_good: states.number("to-good")?,
                    loss_good: states.number("loss-good")?,
                    loss_bad: states.number("loss-bad")?,
                })
            }
        }
    }

    fn lost_arrivals(&mut self, item: &Item) -> Option<Loss> {
        if let Content::Text(path) = &item.content {
            let expected = "a file with an ordinal a line, relative to the scenario file";
            return Some(Loss::ArrivalsOf {
                path: path.clone(),
                bytes: self.file(path, item.place, expected)?,
            });
        }
        let Content::List(items) = &item.content else {
            return None;
        };
        let mut ordinals: Vec<u64> = Vec::with_capacity(items.len());
        for item in items {
            let Content::Integer(ordinal) = item.content else {
                return None;
            };
            if let Some(before) = ordinals.last().filter(|before| ordinal <= **before) {
                let message = format!("{ordinal} comes after {before}");
                self.mistake(item.place, message, "ordinals that increase");
                return None;
            }
            ordinals.push(ordinal);
        }
        Some(Loss::Arrivals(ordinals))
    }

    /// When a link is off or blocked.
    pub(super) fn schedule(&mut self, fields: &Fields) -> Option<Schedule> {
        let schedule = self.schedule_alone(fields)?;
        let cycle = match &schedule {
            Schedule::Periodic { period, .. } => *period,
            Schedule::Exponential {
                mean_clear,
                mean_blocked,
            } => *mean_clear + *mean_blocked,
            Schedule::Scripted(_) => return Some(schedule),
        };
        if cycle.saturating_mul(MOST_CYCLES) < self.duration {
            let message = format!("more than {MOST_CYCLES} interruptions within the duration");
            self.mistake(
                fields.place,
                message,
                "a longer period, or a shorter duration of the run",
            );
        }
        Some(schedule)
    }

    fn schedule_alone(&mut self, fields: &Fields) -> Option<Schedule> {
        match fields.variant {
            "period" => {
                let (period, duration) = (fields.span("period")?, fields.span("duration")?);
                if duration >= period {
                    let message = format!("{duration} is not less than the period of {period}");
                    let expected = format!("a duration below {period}");
                    self.mistake(fields.place_of("duration"), message, &expected);
                    return None;
                }
                let phase = match fields.item("phase") {
                    None => Phase::Fixed(period - duration),
                    Some(item) => item.span().map_or(Phase::Random, Phase::Fixed),
                };
                if matches!(phase, Phase::Fixed(phase) if phase >= period) {
                    let message = format!("the phase is not less than the period of {period}");
                    let expected = format!("a phase below {period}");
                    self.mistake(fields.place_of("phase"), message, &expected);
                    return None;
                }
                Some(Schedule::Periodic {
                    period,
                    duration,
                    phase,
                })
            }
            "intervals" => self.intervals(fields).map(Schedule::Scripted),
            _ => Some(Schedule::Exponential {
                mean_clear: fields.span("mean-clear")?,
                mean_blocked: fields.span("mean-blocked")?,
            }),
        }
    }

    fn intervals(&mut self, fields: &Fields) -> Option<Vec<(Time, Time)>> {
        let mut intervals: Vec<(Time, Time)> = Vec::new();
        for item in fields.list("intervals") {
            let (start_item, end_item) = item.pair()?;
            let (start, end) = (start_item.time()?, end_item.time()?);
            if end <= start {
                let message = format!("the interval ends at {end}, not after its start at {start}");
                self.mistake(
                    end_item.place,
                    message,
                    "[start, end] with start before end",
                );
                return None;
            }
            if let Some((_, before)) = intervals.last().filter(|(_, before)| start <= *before) {
                let message = format!("the interval starts before the last one ended, at {before}");
                self.mistake(start_item.place, message, "intervals in order and disjoint");
                return None;
            }
            intervals.push((start, end));
        }
        (!intervals.is_empty()).then_some(intervals)
    }
}

impl Item {
    pub(super) fn queue_limit(&self) -> Option<QueueLimit> {
        Some(match self.content {
            Content::Quantity(Dimension::Packets, packets) => QueueLimit::Packets(packets as u64),
            Content::Quantity(Dimension::Size, bytes) => QueueLimit::Bytes(Bytes(bytes as u64)),
            _ => QueueLimit::Time(self.span()?),
        })
    }
}

/// The bytes of a regular file of bearable size.
fn read_bounded(path: &Path) -> std::io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    if !about.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if about.len() > MAX_TRACE {
        return Err(std::io::Error::other("it is larger than 256 MiB"));
    }
    std::fs::read(path)
}
