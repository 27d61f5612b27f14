//! Python objects of a congestion control: windows, ACKs and events. Times are in seconds, windows
//! and counts in segments, and rates in Mbit/s.

use fadeout_core::registry::{Parameters, Value};
use fadeout_core::{LinkInfo, Rate, Span, Time};
use fadeout_sim::congestion::{
    AckSample, CongestionEvent, CongestionKind, RateSample, SentSample, Window,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Largest pacing rate, Mbit/s. It is also the largest rate of a scenario.
const MAX_RATE_MBPS: f64 = 1e7;

/// The congestion window, which the TCP stack and the congestion control share.
#[pyclass(name = "Window", module = "fadeout.congestion")]
#[derive(Debug, Default)]
pub(crate) struct PyWindow {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) pacing_rate: Option<Rate>,
    mss: u32,
    now: Time,
}

impl PyWindow {
    pub(crate) fn from_window(window: &Window, now: Time) -> PyWindow {
        let mut shown = PyWindow::default();
        shown.show(window, now, None);
        shown
    }

    pub(crate) fn show(&mut self, window: &Window, now: Time, pacing_rate: Option<Rate>) {
        *self = PyWindow {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            pacing_rate,
            mss: window.mss,
            now,
        };
    }
}

/// Converts `given` to a number. The error names the attribute and the expected values.
fn number(given: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyResult<f64> {
    given.extract().map_err(|_| {
        let kind = given.get_type().qualname();
        let kind = kind.map_or_else(|_| "something else".to_owned(), |kind| kind.to_string());
        PyTypeError::new_err(format!("{name} = {kind}; expected {expected}"))
    })
}

#[pymethods]
impl PyWindow {
    #[getter]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, cwnd: &Bound<'_, PyAny>) -> PyResult<()> {
        const EXPECTED: &str = "a number of segments from 1 to 10,000,000";
        let cwnd = number(cwnd, "cwnd", EXPECTED)?;
        if !(1.0..=Window::LARGEST).contains(&cwnd) {
            let message = format!("cwnd = {cwnd}; expected {EXPECTED}");
            return Err(PyValueError::new_err(message));
        }
        self.cwnd = cwnd;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, ssthresh: &Bound<'_, PyAny>) -> PyResult<()> {
        const EXPECTED: &str = "a number of segments from 1 to 10,000,000; math.inf for none";
        let ssthresh = number(ssthresh, "ssthresh", EXPECTED)?;
        if !(1.0..=Window::LARGEST).contains(&ssthresh) && ssthresh != f64::INFINITY {
            let message = format!("ssthresh = {ssthresh}; expected {EXPECTED}");
            return Err(PyValueError::new_err(message));
        }
        self.ssthresh = ssthresh;
        Ok(())
    }

    #[getter]
    fn pacing_rate_mbps(&self) -> Option<f64> {
        self.pacing_rate.map(mbps)
    }

    #[setter]
    fn set_pacing_rate_mbps(&mut self, rate: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        const EXPECTED: &str = "Mbit/s above 0 and up to 10,000,000, or None";
        self.pacing_rate = match rate {
            None => None,
            Some(rate) => {
                let rate = number(rate, "pacing_rate_mbps", EXPECTED)?;
                // A rate below half a bit per second is rounded to zero, which would stop the
                // sender forever.
                if !(1e-6..=MAX_RATE_MBPS).contains(&rate) {
                    let message = format!("pacing_rate_mbps = {rate}; expected {EXPECTED}");
                    return Err(PyValueError::new_err(message));
                }
                Some(Rate::from_bits_per_sec((rate * 1e6) as u64))
            }
        };
        Ok(())
    }

    #[getter]
    fn mss_bytes(&self) -> u32 {
        self.mss
    }

    #[getter]
    fn time_s(&self) -> f64 {
        self.now.as_secs_f64()
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    fn __repr__(&self) -> String {
        format!(
            "<Window of {} segments, ssthresh {}, at {} s>",
            self.cwnd,
            self.ssthresh,
            self.now.as_secs_f64()
        )
    }
}

/// An ACK, after loss detection and recovery.
#[pyclass(frozen, name = "Ack", module = "fadeout.congestion")]
#[derive(Debug)]
pub(crate) struct PyAck(pub(crate) AckSample);

#[pymethods]
impl PyAck {
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    #[getter]
    fn acked(&self) -> u32 {
        self.0.acked
    }
    #[getter]
    fn delivered_now(&self) -> u32 {
        self.0.delivered_now
    }
    #[getter]
    fn delivered_ce_now(&self) -> u32 {
        self.0.delivered_ce_now
    }
    #[getter]
    fn lost_now(&self) -> u32 {
        self.0.lost_now
    }
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Span::as_secs_f64)
    }
    #[getter]
    fn srtt_s(&self) -> Option<f64> {
        (self.0.srtt > Span::ZERO).then(|| self.0.srtt.as_secs_f64())
    }
    #[getter]
    fn min_rtt_s(&self) -> Option<f64> {
        (self.0.min_rtt < Span::MAX).then(|| self.0.min_rtt.as_secs_f64())
    }
    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }
    #[getter]
    fn prior_in_flight(&self) -> u32 {
        self.0.prior_in_flight
    }
    #[getter]
    fn snd_una_bytes(&self) -> u64 {
        self.0.snd_una
    }
    #[getter]
    fn snd_nxt_bytes(&self) -> u64 {
        self.0.snd_nxt
    }
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }
    #[getter]
    fn rate(&self) -> PyRateSample {
        PyRateSample(self.0.rate)
    }
    #[getter]
    fn is_cwnd_limited(&self) -> bool {
        self.0.is_cwnd_limited
    }
    #[getter]
    fn may_grow(&self) -> bool {
        self.0.may_grow
    }
    #[getter]
    fn is_growth_due(&self) -> bool {
        self.0.is_growth_due()
    }
    #[getter]
    fn ece(&self) -> bool {
        self.0.ece
    }
    #[getter]
    fn is_paced(&self) -> bool {
        self.0.is_paced
    }
    #[getter]
    fn pacing_rate_mbps(&self) -> Option<f64> {
        let rate = self.0.pacing_rate;
        (!rate.is_unlimited()).then(|| mbps(rate))
    }
    #[getter]
    fn state(&self) -> &'static str {
        self.0.state.name()
    }
}

/// A delivery-rate sample.
#[pyclass(frozen, name = "RateSample", module = "fadeout.congestion")]
#[derive(Debug)]
pub(crate) struct PyRateSample(RateSample);

#[pymethods]
impl PyRateSample {
    #[getter]
    fn segments_per_s(&self) -> Option<f64> {
        self.0.segments_per_sec()
    }
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered
    }
    #[getter]
    fn interval_s(&self) -> Option<f64> {
        self.0.interval.map(Span::as_secs_f64)
    }
    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered
    }
    #[getter]
    fn is_app_limited(&self) -> bool {
        self.0.is_app_limited
    }
    #[getter]
    fn tx_in_flight(&self) -> u32 {
        self.0.tx_in_flight
    }
    #[getter]
    fn lost(&self) -> u32 {
        self.0.lost
    }
    #[getter]
    fn delivered_ce(&self) -> u32 {
        self.0.delivered_ce
    }
}

/// A detection of congestion.
#[pyclass(frozen, name = "CongestionEvent", module = "fadeout.congestion")]
#[derive(Debug)]
pub(crate) struct PyEvent(pub(crate) CongestionEvent);

#[pymethods]
impl PyEvent {
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.kind {
            CongestionKind::FastRecovery => "loss",
            CongestionKind::Rto => "timeout",
            CongestionKind::Ecn => "ecn",
            CongestionKind::Local => "local",
        }
    }
    #[getter]
    fn flight_size(&self) -> u32 {
        self.0.flight_size
    }
    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }
    #[getter]
    fn snd_una_bytes(&self) -> u64 {
        self.0.snd_una
    }
    #[getter]
    fn snd_nxt_bytes(&self) -> u64 {
        self.0.snd_nxt
    }
}

/// A sent data segment.
#[pyclass(frozen, name = "Sent", module = "fadeout.congestion")]
#[derive(Debug)]
pub(crate) struct PySent(pub(crate) SentSample);

#[pymethods]
impl PySent {
    #[getter]
    fn time_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }
    #[getter]
    fn seq_bytes(&self) -> u64 {
        self.0.seq
    }
    #[getter]
    fn length_bytes(&self) -> u32 {
        self.0.len
    }
    #[getter]
    fn in_flight(&self) -> u32 {
        self.0.in_flight
    }
    #[getter]
    fn is_retransmission(&self) -> bool {
        self.0.is_retransmission
    }
}

/// A notice of a link on the path.
#[pyclass(frozen, name = "LinkInfo", module = "fadeout.congestion")]
#[derive(Debug)]
pub(crate) struct PyLinkInfo(pub(crate) LinkInfo);

#[pymethods]
impl PyLinkInfo {
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            LinkInfo::Rate(_) => "rate",
            LinkInfo::BlockagePredicted { .. } => "blockage-predicted",
            LinkInfo::BlockageBegan => "blockage-began",
            LinkInfo::BlockageEnded => "blockage-ended",
        }
    }
    #[getter]
    fn rate_mbps(&self) -> Option<f64> {
        match self.0 {
            LinkInfo::Rate(rate) if !rate.is_unlimited() => Some(mbps(rate)),
            _ => None,
        }
    }
    #[getter]
    fn starts_at_s(&self) -> Option<f64> {
        match self.0 {
            LinkInfo::BlockagePredicted { starts_at, .. } => Some(starts_at.as_secs_f64()),
            _ => None,
        }
    }
    #[getter]
    fn lasts_s(&self) -> Option<f64> {
        match self.0 {
            LinkInfo::BlockagePredicted { lasts, .. } => Some(lasts.as_secs_f64()),
            _ => None,
        }
    }
}

fn mbps(rate: Rate) -> f64 {
    rate.as_bits_per_sec() as f64 / 1e6
}

/// Returns the parameters of a scenario as Python keywords. A whole number becomes an int.
pub(crate) fn parameters<'py>(py: Python<'py>, given: &Parameters) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    for (key, value) in &given.0 {
        match value {
            // Whole numbers below this limit are exact in both types.
            Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                keywords.set_item(key, *number as i64)?;
            }
            Value::Number(number) => keywords.set_item(key, number)?,
            Value::Bool(flag) => keywords.set_item(key, flag)?,
            Value::Span(span) => keywords.set_item(key, span.as_secs_f64())?,
            // The simulator resolves the name, and its parameters are not passed to Python.
            Value::Choice(text) | Value::Named(text, _) => keywords.set_item(key, text)?,
        }
    }
    Ok(keywords)
}
