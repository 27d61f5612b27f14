//! Data of ports: their ends, the datagrams that arrived, and the reasons of refusals.

use fadeout_core::{Datagram, Ecn, EndpointId, FlowEnd, FlowId, PayloadId, Time};
use fadeout_transport::port::PortLimits;
use fadeout_transport::udp::UdpEndpoint;
use std::collections::VecDeque;

/// End of a flow whose bytes come from and go to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortEnd(pub(crate) EndpointId);

/// Datagram that has reached an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// Payload, as the other end sent it.
    pub bytes: Vec<u8>,
    /// ECN field of the IP header. Queues on the path may have set [`Ecn::Ce`].
    pub ecn: Ecn,
    /// Time at which the other end sent the datagram.
    pub sent_at: Time,
    /// Time at which the datagram arrived.
    pub arrived_at: Time,
}

/// Reasons why a flow has no port, or why a port does not send.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// The scenario has no flow of this name.
    #[error("there is no flow \"{name}\"; expected {expected}")]
    NoFlow {
        /// Name that no flow has.
        name: String,
        /// Name of a flow with a port.
        expected: String,
    },
    /// The transport of the flow is no port.
    #[error(
        "flow \"{flow}\" has no port; expected `transport = \"port\"` in the scenario's \
         `[flow.{flow}]`"
    )]
    NoPort {
        /// Name of the flow.
        flow: String,
    },
    /// The end belongs to another simulation.
    #[error("the end belongs to no port of this simulation; expected one that its `port` returned")]
    Foreign,
    /// The datagram does not fit into an IP packet of the path.
    #[error(
        "a datagram of {size} bytes is larger than the {most} bytes that an IP packet of the flow \
         carries, and IP packets are not fragmented; expected a smaller datagram, or a larger \
         `mtu` of the flow's `transport`"
    )]
    TooLarge {
        /// Size of the payload, bytes.
        size: u64,
        /// Size of the largest payload, bytes.
        most: u64,
    },
    /// Too many bytes are in flight or not fetched.
    #[error(
        "{held} bytes are in flight or wait for their receiver, and the flow's `transport` allows \
         {most}; expected a receiver that fetches arrivals, fewer datagrams, or a larger `memory`"
    )]
    Full {
        /// Number of bytes that are in flight or not fetched.
        held: u64,
        /// Largest number of bytes.
        most: u64,
    },
    /// The run has reached its end.
    #[error(
        "the run ended at {} s, so that a datagram can no longer leave; expected a longer \
         `duration`, or no datagram at the end",
        .at.as_secs_f64()
    )]
    Ended {
        /// End of the run.
        at: Time,
    },
}

/// State of an end of a flow with a port.
#[derive(Debug)]
pub(crate) struct PortState {
    pub(super) udp: UdpEndpoint,
    pub(super) limits: PortLimits,
    /// Datagrams that the caller has not fetched.
    pub(super) arrived: VecDeque<Waiting>,
    /// Number and sending time of the last datagram that the caller fetched. `None` before the
    /// first.
    last_fetched: Option<(u64, Time)>,
}

/// Datagram that the caller has not fetched.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Number of the datagram among those of its sender.
    pub(super) number: u64,
    pub(super) payload: PayloadId,
    pub(super) ecn: Ecn,
    pub(super) sent_at: Time,
    pub(super) arrived_at: Time,
}

impl PortState {
    pub(crate) fn new(flow: FlowId, end: FlowEnd, limits: PortLimits) -> PortState {
        PortState {
            udp: UdpEndpoint::new(flow, end),
            limits,
            arrived: VecDeque::new(),
            last_fetched: None,
        }
    }

    /// Returns the next datagram of the end, with `len` bytes, as it is sent now. The datagram can
    /// only answer one that the caller has fetched, because several may arrive in one event.
    pub(super) fn next_datagram(&mut self, now: Time, len: u32) -> Datagram {
        let datagram = self.udp.send(now, len);
        Datagram {
            answers: datagram.answers.and(self.last_fetched),
            ..datagram
        }
    }

    /// Returns the next datagram for the caller. `None` if no datagram waits.
    pub(super) fn fetch(&mut self) -> Option<Waiting> {
        let waiting = self.arrived.pop_front()?;
        self.last_fetched = Some((waiting.number, waiting.sent_at));
        Some(waiting)
    }

    /// Refuses a datagram of `size` bytes that the end may not send. `held` is the number of bytes
    /// that are in flight or not fetched.
    pub(super) fn check(&self, size: u64, held: u64) -> Result<(), PortError> {
        let (largest, most) = (self.limits.largest_payload().0, self.limits.memory.0);
        if size > largest {
            let most = largest;
            return Err(PortError::TooLarge { size, most });
        }
        if held.saturating_add(size) > most {
            return Err(PortError::Full { held, most });
        }
        Ok(())
    }
}
