//! The disciplines behind one interface.

use super::biased::Biased;
use super::codel::CoDel;
use super::dual_pi2::DualPi2;
use super::fq_codel::FqCoDel;
use super::pie::Pie;
use super::red::Red;
use super::{
    CoDelConfig, DualPi2Config, FqCoDelConfig, Limit, PieConfig, QUEUE_DISCIPLINES, Queued,
    RedConfig,
};
use crate::LinkError;
use fadeout_core::random::Stream;
use fadeout_core::registry::{Parameters, find};
use fadeout_core::{Ecn, PacketId, PacketPool, Rate, Time};

/// Which packets a queue drops or marks, and the order in which they leave.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum QueueDiscipline {
    /// First in, first out, up to the limit.
    #[default]
    DropTail,
    /// First in, first out; expendable packets are dropped first.
    Biased,
    /// Random early detection.
    Red(RedConfig),
    /// Controlled delay.
    CoDel(CoDelConfig),
    /// Controlled delay in a queue for each flow.
    FqCoDel(FqCoDelConfig),
    /// Proportional integral controller, enhanced.
    Pie(PieConfig),
    /// Coupled queues for classic and scalable traffic.
    DualPi2(DualPi2Config),
}

impl QueueDiscipline {
    /// The discipline called `name` in [`QUEUE_DISCIPLINES`] or by an alias, with the parameters
    /// given; `None` when there is none of that name. `rate` is the link's mean rate: RED takes
    /// the time of a typical packet from it.
    pub fn new(name: &str, given: &Parameters, rate: Rate) -> Option<QueueDiscipline> {
        Some(match find(QUEUE_DISCIPLINES, name)?.name {
            "drop-tail" => QueueDiscipline::DropTail,
            "biased" => QueueDiscipline::Biased,
            "red" => QueueDiscipline::Red(RedConfig::new(given, rate)),
            "codel" => QueueDiscipline::CoDel(CoDelConfig::new(given)),
            "fq-codel" => QueueDiscipline::FqCoDel(FqCoDelConfig::new(given)),
            "pie" => QueueDiscipline::Pie(PieConfig::new(given)),
            "dualpi2" => QueueDiscipline::DualPi2(DualPi2Config::new(given)),
            _ => return None,
        })
    }
}

/// What a discipline does to packets besides keeping and releasing them.
#[derive(Debug)]
pub(crate) struct Outcome<'a> {
    pub(crate) pool: &'a mut PacketPool,
    /// Chosen for dropping; the link frees and counts them.
    pub(crate) dropped: &'a mut Vec<PacketId>,
    /// Counts marks.
    pub(crate) marked: &'a mut u64,
}

impl Outcome<'_> {
    pub(crate) fn ecn(&self, packet: PacketId) -> Ecn {
        self.pool[packet].ecn
    }

    /// Sets Congestion Experienced. False when the packet is not ECN-capable.
    pub(crate) fn mark(&mut self, packet: PacketId) -> bool {
        self.pool[packet].ecn.mark(self.marked)
    }

    pub(crate) fn drop(&mut self, packet: PacketId) {
        self.dropped.push(packet);
    }
}

/// A queue that decides more than its limit does.
#[derive(Debug)]
pub(crate) enum Discipline {
    Biased(Biased),
    Red(Red),
    CoDel(CoDel),
    FqCoDel(FqCoDel),
    Pie(Pie),
    DualPi2(DualPi2),
}

macro_rules! each {
    ($of:expr, $queue:ident => $do:expr) => {
        match $of {
            Discipline::Biased($queue) => $do,
            Discipline::Red($queue) => $do,
            Discipline::CoDel($queue) => $do,
            Discipline::FqCoDel($queue) => $do,
            Discipline::Pie($queue) => $do,
            Discipline::DualPi2($queue) => $do,
        }
    };
}

impl Discipline {
    /// The discipline of `config` in a queue with this limit; `None` for drop-tail, which keeps no
    /// packets here.
    pub(crate) fn new(
        config: QueueDiscipline,
        limit: Option<Limit>,
        stream: Stream,
    ) -> Result<Option<Discipline>, LinkError> {
        Ok(Some(match config {
            QueueDiscipline::DropTail => return Ok(None),
            QueueDiscipline::Biased => Discipline::Biased(Biased::default()),
            QueueDiscipline::Red(config) => Discipline::Red(Red::new(config, stream)?),
            QueueDiscipline::CoDel(config) => Discipline::CoDel(CoDel::new(config)?),
            QueueDiscipline::FqCoDel(config) => Discipline::FqCoDel(FqCoDel::new(config, stream)?),
            QueueDiscipline::Pie(config) => Discipline::Pie(Pie::new(config, limit, stream)?),
            QueueDiscipline::DualPi2(config) => Discipline::DualPi2(DualPi2::new(config)?),
        }))
    }

    /// Takes a packet that fits the limit, at its arrival. False when it is to be dropped.
    pub(crate) fn enqueue(&mut self, arrival: Queued, outcome: &mut Outcome<'_>) -> bool {
        match self {
            Discipline::Red(red) => red.enqueue(arrival, outcome),
            Discipline::Pie(pie) => pie.enqueue(arrival, outcome),
            Discipline::CoDel(codel) => {
                codel.enqueue(arrival);
                true
            }
            Discipline::Biased(biased) => {
                biased.enqueue(arrival, outcome);
                true
            }
            Discipline::FqCoDel(fq) => {
                fq.enqueue(arrival, outcome);
                true
            }
            Discipline::DualPi2(dual) => {
                dual.enqueue(arrival, outcome);
                true
            }
        }
    }

    /// The next packet for the transmitter, which is free at `now`; `None` when nothing is left,
    /// be it that the rest was dropped.
    pub(crate) fn dequeue(&mut self, now: Time, outcome: &mut Outcome<'_>) -> Option<Queued> {
        each!(self, queue => queue.dequeue(now, outcome))
    }

    /// Whether an arrival that does not fit is taken all the same, and what waits makes room.
    pub(crate) fn makes_room(&self) -> bool {
        matches!(self, Discipline::FqCoDel(_) | Discipline::Biased(_))
    }

    /// Drops some of what waits. False when nothing is left, or when it is the arrival that is
    /// dropped under this discipline.
    pub(crate) fn make_room(&mut self, dropped: &mut Vec<PacketId>) -> bool {
        match self {
            Discipline::FqCoDel(fq) => fq.drop_from_longest(dropped),
            Discipline::Biased(biased) => biased.make_room(dropped),
            _ => false,
        }
    }

    /// Packets that wait.
    #[inline]
    pub(crate) fn packets(&self) -> u64 {
        each!(self, queue => queue.packets())
    }

    /// Bytes that wait.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        each!(self, queue => queue.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Span;
    use fadeout_core::registry::{Parameter, ParameterKind, Value};

    /// Every parameter of an entry, given as its default is written.
    fn written(parameters: &[Parameter]) -> Parameters {
        let number = |text: &str| text.parse().expect("a number");
        let value = |parameter: &Parameter| match parameter.kind {
            ParameterKind::Number { .. } | ParameterKind::Integer { .. } => {
                Value::Number(number(parameter.default))
            }
            ParameterKind::Bool => Value::Bool(parameter.default == "true"),
            ParameterKind::Choice(_) => Value::Choice(parameter.default.to_owned()),
            ParameterKind::Named(_) => {
                Value::Named(parameter.default.to_owned(), Parameters::default())
            }
            ParameterKind::Span => {
                let (count, unit) = parameter.default.split_once(' ').expect("a unit");
                let micros = if unit == "ms" { 1_000.0 } else { 1.0 };
                Value::Span(Span::from_nanos((number(count) * micros * 1_000.0) as u64))
            }
        };
        Parameters(
            parameters
                .iter()
                .map(|parameter| (parameter.name.to_owned(), value(parameter)))
                .collect(),
        )
    }

    #[test]
    fn the_registry_states_the_defaults_that_hold() {
        let rate = Rate::from_bits_per_sec(10_000_000);
        for entry in QUEUE_DISCIPLINES {
            let default = QueueDiscipline::new(entry.name, &Parameters::default(), rate);
            let stated = QueueDiscipline::new(entry.name, &written(entry.parameters), rate);
            assert!(default.is_some(), "{}", entry.name);
            assert_eq!(default, stated);
            let stream = Stream::new(1, "link.aqm", 0);
            let built = Discipline::new(default.unwrap_or_default(), None, stream);
            assert!(built.is_ok(), "{}", entry.name);
        }
    }

    #[test]
    fn an_unknown_name_is_no_discipline() {
        assert!(QueueDiscipline::new("cake", &Parameters::default(), Rate::ZERO).is_none());
    }
}
