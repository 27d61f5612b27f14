//! Where a UE stands in the procedures of mobility, and the timers of each.
//!
//! Every stage but [`Stage::Connected`] has a timer that ends it; while connected, radio link
//! monitoring and RLC do.
//!
//! Standard: TS 38.331 §5.3.5.5, §5.3.7, §7.1.1; TS 36.331 §5.3.5.4, §5.3.7, §7.3.

use super::backhaul::Wire;
use super::measure::EventState;
use super::monitor::{LinkMonitor, Quality};
use super::policy::ReportedCell;
use super::random_access::RandomAccess;
use crate::config::{LegId, MeasurementEvent, MobilityConfig};
use fadeout_core::random::Stream;
use fadeout_core::{CellId, HandoverRow, Procedure, Span, Time, UeId, Wake};

/// A UE under mobility management.
#[derive(Debug)]
pub(crate) struct UeMobility {
    pub stage: Stage,
    /// The source's part of a handover.
    pub preparation: Preparation,
    pub events: Vec<EventState>,
    pub quality: Quality,
    pub monitor: LinkMonitor,
    pub next_sample_at: Time,
    /// How long before the next sample the last one is.
    pub sample_period: Span,
    pub next_evaluation_at: Time,
    /// When the target decides about the UE, and the cell.
    pub admission: Option<(CellId, Time)>,
    /// When the core switches the path, or is asked again.
    pub switch_at: Time,
    pub wake: Wake,
    pub draws: Stream,
    /// Base station that the core's path leads to.
    pub home: u32,
    /// The legs that it ever had, by cell.
    pub legs: Vec<(CellId, LegId)>,
    /// Messages under way, by number.
    pub messages: Vec<(u64, Message)>,
    /// Those between base stations and the core.
    pub wire: Wire,
    /// The change of cell under way, and when its row is complete.
    pub row: Option<HandoverRow>,
    pub row_at: Time,
}

/// The stage that a UE is at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stage {
    /// It is in a cell.
    Connected,
    /// It looks for a cell, next at the first time, until the second (T311).
    Selecting { at: Time, until: Time },
    /// It enters a cell on this leg until T304 or T301 expires.
    Entering {
        leg: LegId,
        access: RandomAccess,
        until: Time,
        procedure: Procedure,
    },
    /// The cell fetches its context, which is there at the first time, or when links have carried it;
    /// T301 runs until the second.
    Fetching { leg: LegId, at: Time, until: Time },
    /// It has no connection, and looks for a cell next at this time.
    Released { at: Time },
}

/// The step of a handover's preparation that its source waits for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Preparation {
    /// No handover is under way.
    Idle,
    /// The target's answer: at this time, or over links until then.
    Requested { target: CellId, at: Time },
    /// The UE's leaving, until this time.
    Commanded { until: Time },
}

/// The most cells of a report: maxCellReport.
///
/// Standard: TS 38.331 §6.4; TS 36.331 §6.4.
const MOST_REPORTED: usize = 8;

/// What a measurement report says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    /// The number of its event.
    pub event: u16,
    pub serving: ReportedCell,
    count: u8,
    cells: [ReportedCell; MOST_REPORTED],
}

impl Measured {
    pub(crate) fn new(event: u16, serving: ReportedCell) -> Measured {
        Measured {
            event,
            serving,
            count: 0,
            cells: [serving; MOST_REPORTED],
        }
    }

    /// A cell is among those reported, if fewer than eight are stronger. Of equals the first comes first.
    pub(crate) fn add(&mut self, cell: ReportedCell) {
        let stronger = |other: &&ReportedCell| other.rsrp_dbm >= cell.rsrp_dbm;
        let place = self.cells().iter().take_while(stronger).count();
        if place == MOST_REPORTED {
            return;
        }
        let last = usize::from(self.count).min(MOST_REPORTED - 1);
        self.cells.copy_within(place..last, place + 1);
        self.cells[place] = cell;
        self.count = last as u8 + 1;
    }

    /// The cells, the strongest first.
    pub(crate) fn cells(&self) -> &[ReportedCell] {
        &self.cells[..usize::from(self.count)]
    }
}

/// A message of RRC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Message {
    /// MeasurementReport.
    Report(Measured),
    /// RRCReconfiguration with reconfigurationWithSync.
    Command(CellId),
    /// RRCReconfigurationComplete.
    Complete,
}

impl Message {
    /// Bytes with ASN.1 and without PDCP's header: usual sizes, not those of a standard.
    pub(crate) fn size(self) -> u32 {
        match self {
            Message::Report(_) => 40,
            Message::Command(_) => 200,
            Message::Complete => 40,
        }
    }
}

impl UeMobility {
    /// A UE on a leg in a cell, where `cells` are measured.
    pub(crate) fn new(
        (ue, cell, leg): (UeId, CellId, LegId),
        config: &MobilityConfig,
        (events, cells): (&[MeasurementEvent], usize),
        seed: u64,
    ) -> UeMobility {
        let mut draws = Stream::new(seed, "radio.mobility", u64::from(ue.0));
        let period = config.measurement_period;
        let first = Span::from_nanos(draws.below(period.as_nanos()));
        let event = |&event| EventState::new(event, period, cells);
        UeMobility {
            stage: Stage::Connected,
            preparation: Preparation::Idle,
            events: events.iter().map(event).collect(),
            quality: Quality::new(),
            monitor: LinkMonitor::new(),
            next_sample_at: Time::ZERO.saturating_add(first),
            sample_period: period,
            next_evaluation_at: Time::ZERO.saturating_add(config.monitoring.period),
            admission: None,
            switch_at: Time::NEVER,
            wake: Wake::default(),
            draws,
            home: config.stations[cell.index()],
            legs: vec![(cell, leg)],
            messages: Vec::new(),
            wire: Wire::default(),
            row: None,
            row_at: Time::NEVER,
        }
    }

    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.stage, Stage::Connected)
    }

    /// When something is to be done next.
    pub(crate) fn wake_at(&self) -> Time {
        let of_stage = match &self.stage {
            Stage::Connected => {
                let reports = self.events.iter().map(EventState::wake_at).min();
                let reports = reports.unwrap_or(Time::NEVER);
                self.monitor.wake_at().min(reports)
            }
            Stage::Selecting { at, until } => (*at).min(*until),
            Stage::Entering { access, until, .. } => access.wake_at().min(*until),
            Stage::Fetching { at, until, .. } => (*at).min(*until),
            Stage::Released { at } => *at,
        };
        let of_source = match self.preparation {
            Preparation::Idle => Time::NEVER,
            Preparation::Requested { at, .. } => at,
            Preparation::Commanded { until } => until,
        };
        let regular = self.next_sample_at.min(self.next_evaluation_at);
        let admission = self.admission.map_or(Time::NEVER, |(_, at)| at);
        let rest = self.switch_at.min(self.row_at).min(admission);
        of_stage.min(of_source).min(regular).min(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_eight_strongest_cells_in_order() {
        let cell = |cell, rsrp_dbm| ReportedCell {
            cell: CellId(cell),
            rsrp_dbm,
        };
        let mut report = Measured::new(0, cell(99, -100.0));
        for number in 0..20 {
            report.add(cell(number, -90.0 - f64::from(number * 7 % 20)));
        }
        let levels: Vec<f64> = report.cells().iter().map(|it| it.rsrp_dbm).collect();
        assert_eq!(
            levels,
            (0..8).map(|n| -90.0 - f64::from(n)).collect::<Vec<_>>()
        );
        let mut equal = Measured::new(0, cell(99, -100.0));
        (0..3).for_each(|number| equal.add(cell(number, -80.0)));
        let order: Vec<u32> = equal.cells().iter().map(|it| it.cell.0).collect();
        assert_eq!(order, [0, 1, 2]);
    }
}
