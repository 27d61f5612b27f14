//! Ports: datagrams that Python sends and receives.

use crate::errors::PortError;
use fadeout_core::Ecn;
use fadeout_sim::{Arrival, PortEnd, PortError as Refusal, Simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// End of a flow with the transport `port`. `fadeout.PortEnd` is its public interface.
#[pyclass(module = "fadeout._native", name = "PortEnd", frozen)]
pub(crate) struct PyPortEnd {
    pub(crate) end: PortEnd,
    /// Name of the node.
    #[pyo3(get)]
    node: String,
    /// IP address and UDP port of the end, as in captures.
    #[pyo3(get)]
    address: (String, u16),
    /// Payload of the largest datagram that the end may send, bytes.
    #[pyo3(get)]
    largest_bytes: u64,
}

/// Datagram that has arrived at an end of a port.
#[pyclass(module = "fadeout", name = "Arrival", frozen)]
pub(crate) struct PyArrival {
    bytes: Py<PyBytes>,
    /// ECN field of the IP header. The value 3 is a mark of congestion.
    #[pyo3(get)]
    ecn: u8,
    /// Time of the arrival, seconds.
    #[pyo3(get)]
    time_s: f64,
    /// Time at which the other end sent the datagram, seconds.
    #[pyo3(get)]
    sent_s: f64,
}

#[pymethods]
impl PyArrival {
    /// Payload, as the other end sent it.
    #[getter]
    fn bytes(&self, py: Python<'_>) -> Py<PyBytes> {
        self.bytes.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let size = self.bytes.bind(py).len()?;
        Ok(format!(
            "Arrival({size} bytes, time_s={}, sent_s={}, ecn={})",
            self.time_s, self.sent_s, self.ecn
        ))
    }
}

impl PyArrival {
    pub(crate) fn new(py: Python<'_>, arrival: &Arrival) -> PyArrival {
        PyArrival {
            bytes: PyBytes::new(py, &arrival.bytes).unbind(),
            ecn: arrival.ecn as u8,
            time_s: arrival.arrived_at.as_secs_f64(),
            sent_s: arrival.sent_at.as_secs_f64(),
        }
    }
}

/// Returns the two ends of a flow, first the one at its node `from`.
pub(crate) fn ends_of(simulation: &Simulation, flow: &str) -> PyResult<(PyPortEnd, PyPortEnd)> {
    let [sender, receiver] = simulation.port(flow).map_err(|refusal| raised(&refusal))?;
    let end = |end| {
        let address = simulation.address(end)?;
        Ok(PyPortEnd {
            end,
            node: address.node,
            address: (address.ip.to_string(), address.udp_port),
            largest_bytes: simulation.largest_payload(end)?.0,
        })
    };
    let ends = end(sender).and_then(|sender| Ok((sender, end(receiver)?)));
    ends.map_err(|refusal| raised(&refusal))
}

/// Sends a datagram from an end, at the present time.
pub(crate) fn send(
    simulation: &mut Simulation,
    end: &PyPortEnd,
    bytes: &[u8],
    ecn: u8,
) -> PyResult<()> {
    let Some(ecn) = Ecn::from_bits(ecn) else {
        return Err(PyValueError::new_err(format!(
            "ecn is {ecn}; expected 0 (not ECT), 1 (ECT(1)), 2 (ECT(0)) or 3 (CE)"
        )));
    };
    let sent = simulation.send(end.end, bytes.to_vec(), ecn);
    sent.map_err(|refusal| raised(&refusal))
}

/// Returns the exception for a refusal. A mistake of the caller is a `ValueError`.
fn raised(refusal: &Refusal) -> PyErr {
    match refusal {
        Refusal::Full { .. } | Refusal::Ended { .. } => PortError::new_err(refusal.to_string()),
        Refusal::NoFlow { .. }
        | Refusal::NoPort { .. }
        | Refusal::Foreign
        | Refusal::TooLarge { .. } => PyValueError::new_err(refusal.to_string()),
    }
}
