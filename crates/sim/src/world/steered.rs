//! Changes of a world by the caller of a simulation between two steps.

use super::{Transport, World};
use fadeout_core::aqm::{Threshold, ThresholdError};
use fadeout_core::{CellId, Direction, DrbId, EndpointId, LinkId, Probe, Rate, UeId};
use fadeout_link::LinkError;
use fadeout_radio::access::HandoverRequest;
use fadeout_transport::tcp::Steering;

impl<P: Probe> World<P> {
    /// Changes the window or the pacing rate of a connection's end, and sends the data that the
    /// change allows.
    ///
    /// # Errors
    /// Returns the reason if the endpoint has no open connection of its own.
    pub(crate) fn steer(&mut self, id: EndpointId, steering: Steering) -> Result<(), &'static str> {
        self.show_host_queue(id);
        let now = self.now();
        match &mut self.endpoints[id].transport {
            Transport::Tcp(tcp) => {
                tcp.steer(now, steering, &mut self.outbox, &mut self.probe);
                self.after_endpoint(id);
                Ok(())
            }
            Transport::Waiting(_) => Err("the flow has not started; expected a later time"),
            Transport::Over(_) => Err("the connection is closed; expected an open connection"),
            _ => Err("the flow has no TCP connection of its own; expected TCP with one path"),
        }
    }

    /// Changes the rate of a direction of a link.
    ///
    /// # Errors
    /// Returns the errors of [`Link::set_rate`](fadeout_link::Link::set_rate).
    pub(crate) fn set_link_rate(&mut self, link: LinkId, rate: Rate) -> Result<(), LinkError> {
        let now = self.now();
        self.links.get_mut(link).set_rate(now, rate)?;
        self.links.arm(link, &mut self.agenda);
        Ok(())
    }

    /// Changes a threshold of the queue of a link's direction.
    ///
    /// # Errors
    /// Returns the errors of [`Link::set_threshold`](fadeout_link::Link::set_threshold).
    pub(crate) fn set_link_threshold(
        &mut self,
        link: LinkId,
        threshold: Threshold,
    ) -> Result<(), ThresholdError> {
        let now = self.now();
        self.links.get_mut(link).set_threshold(now, threshold)
    }

    /// Changes a threshold of the RLC buffer of a bearer's direction.
    ///
    /// # Errors
    /// Returns an error if the buffer's algorithm does not have the threshold.
    pub(crate) fn set_bearer_threshold(
        &mut self,
        (bearer, direction): (DrbId, Direction),
        threshold: Threshold,
    ) -> Result<(), ThresholdError> {
        let now = self.now();
        let radio = self.radio.as_mut().ok_or(ThresholdError::Absent)?;
        radio
            .access
            .set_threshold(now, bearer, direction, threshold)
    }

    /// Makes the serving cell of a UE prepare a handover.
    pub(crate) fn hand_over(&mut self, ue: UeId, target: CellId) -> HandoverRequest {
        let now = self.now();
        let Some(radio) = &mut self.radio else {
            return HandoverRequest::NotMeasured;
        };
        let (pool, probe) = (&mut self.pool, &mut self.probe);
        let request = radio.access.hand_over(now, (ue, target), pool, probe);
        self.follow_radio();
        request
    }

    /// Sets the factor of a UE's rate in the comparisons of the schedulers. Returns false if no
    /// scheduler compares rates.
    pub(crate) fn set_weight(&mut self, ue: UeId, weight: f64) -> bool {
        let radio = self.radio.as_mut();
        radio.is_some_and(|radio| radio.access.set_weight(ue, weight))
    }
}
