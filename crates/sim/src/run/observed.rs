//! Observations and settings of a run by name.

use super::{Simulation, end_of};
use crate::directory::direction_of;
use crate::observe::{
    self, Observation, ObserveError, Setting, Split, Subject, Target, column_of, settable_of,
};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::table::{Row, number_in};
use fadeout_core::{CellId, Direction, DrbId, EndpointId, FlowId, LinkId, Rate, Span, UeId};
use fadeout_radio::access::HandoverRequest;
use fadeout_transport::tcp::Steering;

impl Simulation {
    /// Looks up the name of a value, which is `KIND.NAME.COLUMN`. A UE, a bearer or a cell without
    /// `/uplink` is its downlink.
    ///
    /// # Errors
    /// Returns an [`ObserveError`] with the nearest valid name if there is no such value.
    pub fn observation(&mut self, name: &str) -> Result<Observation, ObserveError> {
        let split = Split::new(name)?;
        let subject = self.subject(&split)?;
        let (table, column) = column_of(&split)?;
        self.check_flow(&split, subject, table)?;
        let is_of_blocks = matches!(subject, Subject::Ue(..) | Subject::Cell(..));
        if is_of_blocks || matches!(subject, Subject::Measurement(..)) {
            let (ues, cells) = (self.scenario.ues.len(), self.scenario.cells.len());
            self.world.probe_mut().observe_radio(ues, cells);
        }
        Ok(Observation {
            subject,
            table,
            column,
        })
    }

    /// Returns the present value of an observation. NaN if the value does not exist yet, such as
    /// the SINR before the first transport block.
    pub fn observe(&mut self, observation: Observation) -> f64 {
        let Observation {
            subject,
            table,
            column,
        } = observation;
        let latest = self.world.probe().latest();
        match (subject, table) {
            (Subject::Flow(flow, sender), 0) => {
                number_in(&self.world.congestion_row(flow, sender), column)
            }
            (Subject::Flow(flow, sender), _) => {
                number_in(&self.world.flow_counts(flow, sender), column)
            }
            (Subject::Link(link), 0) => number_in(&self.world.queue_row(link), column),
            (Subject::Link(link), _) => number_in(&self.world.link_counts(link), column),
            (Subject::Bearer(bearer, direction), _) => {
                value(self.world.bearer_row(bearer, direction).as_ref(), column)
            }
            (Subject::Ue(ue, direction), 0) => {
                value(latest.and_then(|it| it.block(ue, direction)), column)
            }
            (Subject::Ue(ue, direction), 1) => {
                value(self.world.interface_counts(ue, direction).as_ref(), column)
            }
            (Subject::Ue(ue, direction), _) => {
                value(latest.map(|it| it.of_ue(ue, direction)), column)
            }
            (Subject::Cell(cell, direction), _) => {
                value(latest.map(|it| it.of_cell(cell, direction)), column)
            }
            (Subject::Measurement(ue, cell), _) => {
                value(latest.and_then(|it| it.measurement(ue, cell)), column)
            }
        }
    }

    /// Returns the names of the UEs and of the cells, in the order of their numbers.
    pub fn radio_names(&self) -> [Vec<String>; 2] {
        let ues = self.scenario.ues.iter().map(|ue| ue.name.clone());
        let cells = self.scenario.cells.iter().map(|cell| cell.name.clone());
        [ues.collect(), cells.collect()]
    }

    /// Looks up the name of a value that can be set, which is `KIND.NAME.VALUE`.
    ///
    /// # Errors
    /// Returns an [`ObserveError`] with the nearest valid name if there is no such value.
    pub fn setting(&self, name: &str) -> Result<Setting, ObserveError> {
        let split = Split::new(name)?;
        let settable = settable_of(&split)?;
        let target = match split.kind {
            "flow" => self.flow_target(&split)?,
            "link" => match (self.link(&split)?, split.column) {
                (link, "rate_mbps") => Target::LinkRate(link),
                (link, _) => Target::LinkThreshold(link),
            },
            "bearer" => {
                let (name, direction) = directed(split.subject);
                Target::BearerThreshold(self.bearer(&split, name)?, direction)
            }
            _ => {
                let ue = self.ue(&split, split.subject)?;
                match split.column {
                    "weight" => Target::Weight(ue),
                    _ => Target::ServingCell(ue),
                }
            }
        };
        Ok(Setting { target, settable })
    }

    /// Sets a value. `name` is the name of the setting, for errors.
    ///
    /// # Errors
    /// - [`ObserveError::OutOfRange`] if the value is not valid.
    /// - [`ObserveError::Refused`] if the run cannot change the value now, or has ended.
    ///
    /// Nothing has changed then.
    pub fn set(&mut self, setting: Setting, name: &str, value: f64) -> Result<(), ObserveError> {
        check_range(setting, name, value)?;
        let refused = |reason: String| ObserveError::Refused {
            name: name.to_owned(),
            reason,
        };
        if self.now() >= end_of(&self.scenario) {
            return Err(refused(
                "the run has ended; expected an earlier time".to_owned(),
            ));
        }
        let finite = value.is_finite().then_some(value);
        match setting.target {
            Target::Window(end) => self.steer(end, Steering::Window(value)),
            Target::HeldWindow(end) => self.steer(end, Steering::HeldWindow(value)),
            Target::Threshold(end) => self.steer(end, Steering::Threshold(value)),
            Target::PacingRate(end) => self.steer(end, Steering::Pacing(finite.map(rate_of))),
            Target::LinkRate(link) => {
                let set = self.world.set_link_rate(link, rate_of(value));
                set.map_err(|error| error.to_string())
            }
            Target::LinkThreshold(link) => {
                let threshold = threshold_of(setting.settable.name, value);
                let set = self.world.set_link_threshold(link, threshold);
                set.map_err(|error| threshold_refused(setting, error))
            }
            Target::BearerThreshold(bearer, direction) => {
                let threshold = threshold_of(setting.settable.name, value);
                let end = (bearer, direction);
                let set = self.world.set_bearer_threshold(end, threshold);
                set.map_err(|error| threshold_refused(setting, error))
            }
            Target::ServingCell(ue) => self.hand_over(ue, value),
            Target::Weight(ue) => match self.world.set_weight(ue, value) {
                true => Ok(()),
                false => Err("the scheduler `round-robin` compares no rates; expected \
                              `proportional-fair` or `max-ci`"
                    .to_owned()),
            },
        }
        .map_err(refused)
    }

    /// Returns the number of a cell.
    ///
    /// # Errors
    /// Returns an [`ObserveError`] with the nearest valid name if there is no such cell.
    pub fn cell_number(&self, name: &str, cell: &str) -> Result<u32, ObserveError> {
        self.cell(&Split::new(name)?, cell).map(|cell| cell.0)
    }

    fn steer(&mut self, end: EndpointId, steering: Steering) -> Result<(), String> {
        self.world.steer(end, steering).map_err(str::to_owned)
    }

    fn hand_over(&mut self, ue: UeId, cell: f64) -> Result<(), String> {
        let cells = self.scenario.cells.len();
        if cell.fract() != 0.0 || cell >= cells as f64 {
            return Err(format!(
                "there is no cell number {cell}; expected a whole number below {cells}"
            ));
        }
        match self.world.hand_over(ue, CellId(cell as u32)) {
            HandoverRequest::Begun | HandoverRequest::Ignored => Ok(()),
            HandoverRequest::NotConnected => {
                Err("the UE is not connected; expected a connected UE".to_owned())
            }
            HandoverRequest::NotMeasured => Err(
                "the UE does not measure this cell; expected [mobility-management], and a cell \
                 of the UE's generation"
                    .to_owned(),
            ),
        }
    }

    fn subject(&self, split: &Split<'_>) -> Result<Subject, ObserveError> {
        let (name, direction) = directed(split.subject);
        Ok(match split.kind {
            "flow" => {
                let (flow, sender) = self.flow(split)?;
                Subject::Flow(flow, sender)
            }
            "link" => Subject::Link(self.link(split)?),
            "bearer" => Subject::Bearer(self.bearer(split, name)?, direction),
            "ue" => Subject::Ue(self.ue(split, name)?, direction),
            "cell" => Subject::Cell(self.cell(split, name)?, direction),
            _ => {
                let pair = split.subject.split_once('/');
                let (ue, cell) = pair.unwrap_or((split.subject, ""));
                Subject::Measurement(self.ue(split, ue)?, self.cell(split, cell)?)
            }
        })
    }

    fn bearer(&self, split: &Split<'_>, name: &str) -> Result<DrbId, ObserveError> {
        let directory = self.world.machines().directory;
        let names: Vec<&str> = directory.bearer_names().collect();
        Ok(DrbId(observe::find(split, "bearer", name, &names)?))
    }

    fn ue(&self, split: &Split<'_>, name: &str) -> Result<UeId, ObserveError> {
        let names: Vec<&str> = self.scenario.ues.iter().map(|it| &*it.name).collect();
        Ok(UeId(observe::find(split, "ue", name, &names)?))
    }

    fn cell(&self, split: &Split<'_>, name: &str) -> Result<CellId, ObserveError> {
        let names: Vec<&str> = self.scenario.cells.iter().map(|it| &*it.name).collect();
        Ok(CellId(observe::find(split, "cell", name, &names)?))
    }

    /// Returns a flow or path, and its data sender.
    pub(super) fn flow(&self, split: &Split<'_>) -> Result<(FlowId, EndpointId), ObserveError> {
        let directory = self.world.machines().directory;
        let infos: Vec<String> = directory.flow_infos().map(|info| info.name).collect();
        let names: Vec<&str> = infos.iter().map(String::as_str).collect();
        let flow = FlowId(observe::find(split, "flow", split.subject, &names)?);
        let entry = directory.flow(flow).expect("its name is known");
        Ok((flow, entry.sender))
    }

    fn link(&self, split: &Split<'_>) -> Result<LinkId, ObserveError> {
        let directory = self.world.machines().directory;
        let names: Vec<&str> = directory.link_names().collect();
        Ok(LinkId(observe::find(split, "link", split.subject, &names)?))
    }

    fn flow_target(&self, split: &Split<'_>) -> Result<Target, ObserveError> {
        let (flow, sender) = self.flow(split)?;
        let directory = self.world.machines().directory;
        let entry = directory.flow(flow).expect("its name is known");
        let is_path = flow.index() >= self.scenario.flows.len();
        if entry.is_multipath() || is_path || !self.world.is_tcp(sender) {
            return Err(split.absent(
                "the flow has no TCP connection of its own",
                "a flow of TCP with one path",
            ));
        }
        Ok(match split.column {
            "cwnd_segments" => Target::Window(sender),
            "held_cwnd_segments" => Target::HeldWindow(sender),
            "ssthresh_segments" => Target::Threshold(sender),
            _ => Target::PacingRate(sender),
        })
    }

    /// Checks that a flow has the values of a table. Every flow has delivered bytes.
    fn check_flow(
        &self,
        split: &Split<'_>,
        subject: Subject,
        table: usize,
    ) -> Result<(), ObserveError> {
        let Subject::Flow(flow, sender) = subject else {
            return Ok(());
        };
        let directory = self.world.machines().directory;
        let entry = directory.flow(flow).expect("its name is known");
        if !self.world.is_tcp(sender) && split.column != "delivered_bytes" {
            return Err(split.absent(
                "the flow has no TCP connection in the simulation",
                "a flow of TCP, or `delivered_bytes`",
            ));
        }
        if table == 0 && entry.is_multipath() {
            let path = format!("one of its paths, such as \"{}/0\"", split.subject);
            return Err(split.absent("the flow has several paths", &path));
        }
        Ok(())
    }
}

/// Returns a column of a row as a number. NaN without a row.
fn value<R: Row>(row: Option<&R>, column: usize) -> f64 {
    row.map_or(f64::NAN, |row| number_in(row, column))
}

/// Returns a rate in Mbit/s as a rate.
fn rate_of(mbps: f64) -> Rate {
    Rate::from_bits_per_sec((mbps * 1e6).round() as u64)
}

/// Returns the threshold that a setting with this name changes.
fn threshold_of(name: &str, value: f64) -> Threshold {
    match name {
        "aqm_target_s" => Threshold::Target(Span::from_secs_f64(value)),
        "aqm_threshold_s" => Threshold::Marking(Span::from_secs_f64(value)),
        "aqm_min_threshold_packets" => Threshold::Minimum(value),
        _ => Threshold::Maximum(value),
    }
}

/// Returns the reason why a threshold does not change, with the algorithms that have it.
fn threshold_refused(setting: Setting, error: ThresholdError) -> String {
    let settable = setting.settable;
    let algorithms = match (settable.kind, settable.name) {
        ("link", "aqm_target_s") => "`codel`, `fq-codel`, `pie` or `dualpi2`",
        ("link", "aqm_threshold_s") => "`dualpi2`",
        ("bearer", "aqm_target_s") => "`codel` or `pie`",
        ("bearer", _) => "`ecn-step`",
        _ => "`red`",
    };
    match error {
        ThresholdError::OutOfRange(error) => error.to_string(),
        ThresholdError::Absent => {
            format!("its queue management has no such threshold; expected {algorithms}")
        }
    }
}

/// Splits the direction off a name. Without a direction, the name is that of the downlink.
fn directed(name: &str) -> (&str, Direction) {
    for direction in [Direction::Downlink, Direction::Uplink] {
        if let Some(bare) = name.strip_suffix(&direction_of("", direction)) {
            return (bare, direction);
        }
    }
    (name, Direction::Downlink)
}

fn check_range(setting: Setting, name: &str, value: f64) -> Result<(), ObserveError> {
    let settable = setting.settable;
    let [least, most] = settable.range;
    let is_infinite = settable.may_be_infinite && value == f64::INFINITY;
    if is_infinite || (least..=most).contains(&value) {
        return Ok(());
    }
    let or_infinite = if settable.may_be_infinite {
        ", or infinity"
    } else {
        ""
    };
    let unit = settable.unit;
    let space = if unit.is_empty() { "" } else { " " };
    Err(ObserveError::OutOfRange {
        name: name.to_owned(),
        value,
        expected: format!("a number from {least} to {most}{space}{unit}{or_infinite}"),
    })
}
