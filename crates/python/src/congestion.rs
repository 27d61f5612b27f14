//! Users' congestion controls that are written in Python.

mod views;

pub(crate) use views::parameters;
pub(crate) use views::{PyAck, PyEvent, PyLinkInfo, PyRateSample, PySent, PyWindow};

use crate::own::{FirstException, Makers, Raised};
use fadeout_core::{LinkInfo, Rate, Span, Time};
use fadeout_scenario::Flow;
use fadeout_sim::congestion::{
    AckSample, Congestion, CongestionControl, CongestionEvent, Custom, EcnFeedback, SentSample,
    Window,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The user's congestion controls by name.
#[derive(Debug)]
pub(crate) struct OwnControls {
    makers: Makers,
    failure: Arc<FirstException>,
}

impl OwnControls {
    pub(crate) fn new(makers: Makers, failure: Arc<FirstException>) -> OwnControls {
        OwnControls { makers, failure }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.makers.names()
    }

    pub(crate) fn take_refusal(&mut self) -> Option<PyErr> {
        self.makers.refused.take()
    }

    /// Returns a sentence for each name that none of `flows` uses.
    pub(crate) fn unused(&self, flows: &[Flow]) -> Vec<String> {
        let is_used = |name: &str| {
            let mut named = flows
                .iter()
                .filter_map(|flow| flow.congestion_control.as_ref());
            named.any(|named| named.name == name)
        };
        let unused = self.names().into_iter().filter(|name| !is_used(name));
        let sentences = unused.map(|name| {
            format!(
                "no flow uses the congestion control '{name}'; \
                 expected a flow with congestion-control = \"{name}\""
            )
        });
        sentences.collect()
    }

    /// Returns a new instance for an end of `flow`. `None` if the flow uses a built-in congestion
    /// control, or if the instance could not be created.
    pub(crate) fn choose(&mut self, flow: &Flow) -> Option<Congestion> {
        let named = flow.congestion_control.as_ref()?;
        let maker = self.makers.find(&named.name)?;
        let made = Python::attach(|py| {
            let parameters = views::parameters(py, &named.parameters)?;
            let methods = maker.bind(py).call1((parameters,))?.cast_into::<PyDict>()?;
            Adapter::new(&methods, flow.name.clone(), Arc::clone(&self.failure))
        });
        match made {
            Ok(adapter) => Some(Congestion::Custom(Custom(Box::new(adapter)))),
            Err(error) => {
                self.makers.refused = Some(error);
                None
            }
        }
    }
}

/// A method of a user's class.
#[derive(Debug, Clone, Copy)]
enum Method {
    Ack,
    Congestion,
    Established,
    Recovered,
    Spurious,
    IdleRestart,
    LinkInfo,
    Sent,
}

impl Method {
    /// Names of the methods in the order of their declaration.
    const NAMES: [&'static str; 8] = [
        "on_ack",
        "on_congestion",
        "on_established",
        "on_recovered",
        "on_spurious",
        "on_idle_restart",
        "on_link_info",
        "on_sent",
    ];
}

/// An instance of a user's class.
#[derive(Debug)]
struct Adapter {
    /// Python methods, indexed by [`Method`]. `None` if the class does not define the method.
    methods: [Option<Py<PyAny>>; Method::NAMES.len()],
    class: String,
    flow: String,
    /// Window object for Python, which is reused for the whole life of the sender.
    shown: Py<PyWindow>,
    controls_window: bool,
    ecn: EcnFeedback,
    pacing_rate: Option<Rate>,
    failure: Arc<FirstException>,
}

impl Adapter {
    fn new(
        given: &Bound<'_, PyDict>,
        flow: String,
        failure: Arc<FirstException>,
    ) -> PyResult<Adapter> {
        let mut methods = [const { None }; Method::NAMES.len()];
        for (method, name) in methods.iter_mut().zip(Method::NAMES) {
            *method = given.get_item(name)?.map(Bound::unbind);
        }
        let required = |name: &str| given.as_any().get_item(name);
        let ecn: String = required("ecn")?.extract()?;
        Ok(Adapter {
            methods,
            class: required("class")?.extract()?,
            flow,
            shown: Py::new(given.py(), PyWindow::default())?,
            controls_window: required("controls_window")?.extract()?,
            ecn: match ecn.as_str() {
                "classic" => EcnFeedback::Classic,
                "dctcp" => EcnFeedback::Dctcp,
                "accurate" => EcnFeedback::Accurate,
                _ => EcnFeedback::None,
            },
            pacing_rate: None,
            failure,
        })
    }

    /// Returns the method if it can be called. `None` if the class does not define it.
    #[inline]
    fn method(&self, method: Method) -> Option<&Py<PyAny>> {
        let called = self.methods[method as usize].as_ref()?;
        (!self.failure.has_raised()).then_some(called)
    }

    /// Calls `method` with the window and the event `about`.
    fn call<A>(&mut self, method: Method, window: &mut Window, now: Time, about: A)
    where
        A: for<'py> IntoPyObject<'py>,
    {
        let Some(called) = self.method(method) else {
            return;
        };
        let outcome = Python::attach(|py| {
            let shown = self.shown.bind(py);
            shown.try_borrow_mut()?.show(window, now, self.pacing_rate);
            called.call1(py, (shown, about))?;
            let seen = shown.try_borrow()?;
            window.cwnd = seen.cwnd;
            window.ssthresh = seen.ssthresh;
            Ok(seen.pacing_rate)
        });
        match outcome {
            Ok(rate) => self.pacing_rate = rate,
            Err(error) => self.fail(method, now, error),
        }
    }

    #[cold]
    fn fail(&self, method: Method, now: Time, error: PyErr) {
        let whose = format!("flow \"{}\": {}.", self.flow, self.class);
        let (of, name) = (
            ("congestion-control", whose.as_str()),
            Method::NAMES[method as usize],
        );
        self.failure.keep(Raised::in_method(of, name, now, error));
    }
}

impl CongestionControl for Adapter {
    fn on_established(&mut self, window: &mut Window, now: Time, srtt: Option<Span>) {
        let srtt = srtt.map(Span::as_secs_f64);
        self.call(Method::Established, window, now, srtt);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &AckSample) {
        self.call(Method::Ack, window, ack.now, PyAck(*ack));
    }

    fn on_congestion(&mut self, window: &mut Window, event: &CongestionEvent) {
        self.call(Method::Congestion, window, event.now, PyEvent(*event));
    }

    fn on_recovered(&mut self, window: &mut Window, now: Time) {
        self.call(Method::Recovered, window, now, now.as_secs_f64());
    }

    fn on_spurious(&mut self, window: &mut Window, prior: &Window, now: Time) {
        if self.method(Method::Spurious).is_some() {
            let prior = PyWindow::from_window(prior, now);
            return self.call(Method::Spurious, window, now, prior);
        }
        window.cwnd = window.cwnd.max(prior.cwnd);
        window.ssthresh = window.ssthresh.max(prior.ssthresh);
    }

    fn on_idle_restart(&mut self, window: &mut Window, now: Time, idle: Span) {
        self.call(Method::IdleRestart, window, now, idle.as_secs_f64());
    }

    fn on_sent(&mut self, window: &mut Window, sent: &SentSample) {
        self.call(Method::Sent, window, sent.now, PySent(*sent));
    }

    fn needs_ecn(&self) -> EcnFeedback {
        self.ecn
    }

    fn on_link_info(&mut self, window: &mut Window, now: Time, info: &LinkInfo) {
        self.call(Method::LinkInfo, window, now, PyLinkInfo(*info));
    }

    fn controls_window(&self) -> bool {
        self.controls_window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }
}
