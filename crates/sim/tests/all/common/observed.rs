//! Worlds with a probe of a test's own, all of one type.
//!
//! The event loop is compiled for each type of probe. Here it reports to a boxed probe, so that
//! the tests of this folder compile it once instead of once for each of their probes.

// Imports all types of rows, because `forward_rows` uses each of them.
use fadeout_core::*;
use fadeout_scenario::{Flow, Scenario};
use fadeout_sim::{BuildError, Own, World};
use std::any::Any;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A probe whose type is known at run time.
pub(crate) trait Observer: Probe + Any {}

impl<P: Probe + Any> Observer for P {}

macro_rules! forward_rows {
    ($( $( $(#[doc = $doc:literal])+ $method:ident )? => $field:ident: $row:ident; )+) => {$($(
        fn $method(&mut self, row: $row) {
            (**self).$method(row);
        }
    )?)+};
}

/// Forwards a question or a report to the boxed probe.
macro_rules! forward {
    ($( fn $name:ident(&self $(, $argument:ident: $kind:ty)*) -> bool; )+) => {$(
        fn $name(&self $(, $argument: $kind)*) -> bool {
            (**self).$name($($argument),*)
        }
    )+};
    ($( fn $name:ident(&mut self $(, $argument:ident: $kind:ty)*); )+) => {$(
        fn $name(&mut self $(, $argument: $kind)*) {
            (**self).$name($($argument),*);
        }
    )+};
}

impl Probe for Box<dyn Observer> {
    recorded_tables!(forward_rows);
    forward! {
        fn wants_congestion(&self, now: Time, flow: FlowId) -> bool;
        fn wants_queue(&self, now: Time, link: LinkId) -> bool;
        fn wants_segment(&self, now: Time, flow: FlowId, end: FlowEnd) -> bool;
        fn wants_datagram(&self, now: Time, flow: FlowId, end: FlowEnd) -> bool;
        fn wants_packets(&self) -> bool;
        fn wants_transport_blocks(&self, cell: CellId) -> bool;
        fn wants_mac_pdus(&self, cell: CellId, ue: UeId) -> bool;
        fn wants_bearer(&self, now: Time, bearer: DrbId) -> bool;
        fn wants_radio_delay(&self, bearer: DrbId) -> bool;
        fn wants_measurements(&self, ue: UeId) -> bool;
        fn wants_link(&self, link: LinkId) -> bool;
    }
    forward! {
        fn delivered(&mut self, now: Time, flow: FlowId, bytes: u64);
        fn sent(&mut self, now: Time, packet: WholePacket<'_>);
        fn quic_log(&mut self, flow: FlowId, end: FlowEnd, text: &[u8]);
        fn secrets(&mut self, secrets: &str);
        fn mac_pdu(&mut self, pdu: &MacPdu<'_>);
        fn scheduling_request(&mut self, request: SchedulingRequest);
        fn crossed(&mut self, now: Time, link: LinkId, what: Carried<'_>);
        fn received(&mut self, now: Time, packet: WholePacket<'_>);
    }
}

/// A world that reports to a probe of type `P`.
pub(crate) struct Observed<P> {
    world: World<Box<dyn Observer>>,
    probe: PhantomData<P>,
}

/// Builds the world of a scenario with a probe.
///
/// # Errors
/// Returns the errors of [`fadeout_sim::build`].
pub(crate) fn build<P: Probe + Any>(
    scenario: &Scenario,
    probe: P,
) -> Result<Observed<P>, BuildError> {
    let (congestion, policy) = (&mut |_: &Flow| None, &mut |_: &Scenario| None);
    build_with_own(scenario, probe, Own { congestion, policy })
}

/// Builds the world of a scenario with a probe and classes of the test's own.
///
/// # Errors
/// Returns the errors of [`fadeout_sim::build_with_own`].
pub(crate) fn build_with_own<P: Probe + Any>(
    scenario: &Scenario,
    probe: P,
    own: Own<'_>,
) -> Result<Observed<P>, BuildError> {
    let boxed: Box<dyn Observer> = Box::new(probe);
    Ok(Observed {
        world: fadeout_sim::build_with_own(scenario, boxed, own)?,
        probe: PhantomData,
    })
}

/// Builds the world of a scenario without a probe.
///
/// # Errors
/// Returns the errors of [`fadeout_sim::build`].
pub(crate) fn unobserved(scenario: &Scenario) -> Result<Observed<NullProbe>, BuildError> {
    build(scenario, NullProbe)
}

impl<P: Probe + Any> Observed<P> {
    /// Returns the probe.
    pub(crate) fn probe(&self) -> &P {
        let probe: &dyn Any = &**self.world.probe();
        probe
            .downcast_ref()
            .expect("the probe that the world was built with")
    }

    /// Returns the probe of a world that is over.
    pub(crate) fn into_probe(self) -> P {
        let probe: Box<dyn Any> = self.world.into_probe();
        *probe
            .downcast()
            .expect("the probe that the world was built with")
    }
}

impl<P> std::fmt::Debug for Observed<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observed")
    }
}

impl<P> Deref for Observed<P> {
    type Target = World<Box<dyn Observer>>;

    fn deref(&self) -> &Self::Target {
        &self.world
    }
}

impl<P> DerefMut for Observed<P> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.world
    }
}
