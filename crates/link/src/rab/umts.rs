//! UMTS of Release 99: dedicated channels of fixed rate with RLC retransmission only.

use super::{Common, Configures, RabConfig, RadioStates, without_harq};
use crate::{LinkConfig, LinkError};
use fadeout_core::registry::{Entry, Registered, Settings, choice};
use fadeout_core::{Rate, Span};

fadeout_core::choices! {
    /// Rate of a reference bearer, kbit/s.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum DchRate {
        Of64 = "64 kbit/s",
        Of128 = "128 kbit/s",
        Of384 = "384 kbit/s",
    }
}

impl DchRate {
    /// Returns the rate in kbit/s and the interval in milliseconds.
    fn kbps_and_ms(self) -> (u64, u64) {
        match self {
            DchRate::Of64 => (64, 20),
            DchRate::Of128 => (128, 20),
            DchRate::Of384 => (384, 10),
        }
    }
}

fadeout_core::parameters! {
    /// UMTS with its parameters.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) struct Umts {
        /// Rate of the downlink's DCH, RLC headers excluded. A block lasts 10 ms at 384 kbit/s, and
        /// 20 ms at lower rates.
        downlink_rate: DchRate = choice(DchRate::NAMES, "384 kbit/s"),
        /// Rate of the uplink's DCH, RLC headers excluded.
        uplink_rate: DchRate = choice(DchRate::NAMES, "64 kbit/s"),
        common: Common = group(&[
            ("delay", "60 ms"),
            ("rlc-error", "0.01"),
            ("rlc-delay", "100 ms"),
        ]),
        states: RadioStates = group(),
    }
}

impl Registered for Umts {
    const ENTRY: Entry = Entry::new(
        "umts",
        "3G",
        "UMTS of Release 99: a dedicated channel (DCH) of fixed rate.",
        "TS 34.108 clause 6.10 (reference bearers); TS 25.322",
    )
    .with_aliases(&["r99", "dch"])
    .with_parameters(Umts::PARAMETERS);

    fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
        Umts::read(settings)
    }
}

impl Configures for Umts {
    fn configured(&self) -> Result<RabConfig, LinkError> {
        Ok(RabConfig {
            downlink: channel(&self.common, self.downlink_rate),
            uplink: channel(&self.common, self.uplink_rate),
            states: self.states.config(),
        })
    }
}

fn channel(common: &Common, rate: DchRate) -> LinkConfig {
    let (kbps, interval) = rate.kbps_and_ms();
    common.direction(
        Rate::from_bits_per_sec(kbps * 1000),
        without_harq(Span::from_millis(interval)),
    )
}
