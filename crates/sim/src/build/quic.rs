//! Configuration of flows over QUIC.

use super::BuildError;
use fadeout_core::registry::Parameters;
use fadeout_quic::{QuicConfig, QuicConfigError, QuicPaths};
use fadeout_scenario as scenario;
use fadeout_transport::quic::{QuicControl, QuicSettings};

/// Congestion control of a flow that names none.
pub(crate) const DEFAULT_CONTROL: &str = "cubic";

/// Properties of a flow that QUIC does not support.
pub(super) struct Unsupported {
    /// True if the application sends datagrams.
    pub(super) has_datagrams: bool,
    /// True if an end is at a Linux kernel.
    pub(super) has_kernel: bool,
    /// True if the user wrote the congestion control.
    pub(super) has_own_control: bool,
}

/// Returns the configuration of a flow over QUIC.
pub(super) fn config(
    flow: &scenario::Flow,
    settings: QuicSettings,
    unsupported: &Unsupported,
    paths: QuicPaths,
    scenario: &scenario::Scenario,
) -> Result<QuicConfig, BuildError> {
    let refused = |key, reason| BuildError::Quic {
        flow: flow.name.clone(),
        key,
        reason,
    };
    if unsupported.has_datagrams {
        let reason = format!(
            "the application `{}` sends datagrams, and QUIC carries streams here; expected another \
             `application`, or no `transport`",
            flow.application.name
        );
        return Err(refused("application", reason));
    }
    if unsupported.has_kernel {
        let reason = "a Linux kernel has no QUIC; expected no `transport`, or nodes without \
                      `kernel`";
        return Err(refused("transport", reason.to_owned()));
    }
    if settings.control != QuicControl::Flow && flow.congestion_control.is_some() {
        let reason = format!(
            "the transport has the congestion control `{}`, and the flow has another; expected one \
             of the two",
            settings.control.name()
        );
        return Err(refused("congestion-control", reason));
    }
    if unsupported.has_own_control {
        let reason = "the congestion control is your own, and QUIC has only those of fadeout and \
                      of its stack; expected one of them, or no `transport`";
        return Err(refused("congestion-control", reason.to_owned()));
    }
    let (name, given) = match &flow.congestion_control {
        Some(named) => (named.name.as_str(), &named.parameters),
        None => (DEFAULT_CONTROL, Parameters::NONE),
    };
    let config = QuicConfig::new(settings, (name, given), paths, scenario.seed);
    let config = config.map_err(|error| {
        let why = match error {
            QuicConfigError::Unknown => "it is not one of fadeout's",
            QuicConfigError::Refused(why) => why,
            QuicConfigError::NoTls => {
                let reason = "`crypto = \"tls\"` in a build for WebAssembly, which has no TLS; \
                              expected `null`";
                return refused("crypto", reason.to_owned());
            }
            QuicConfigError::ZeroRtt => {
                let reason = "`zero-rtt` with `crypto = \"tls\"`, which has no earlier session to \
                              resume; expected one of the two";
                return refused("zero-rtt", reason.to_owned());
            }
            QuicConfigError::Short(key) => {
                return refused(key, format!("`{key}` is too short; expected at least 1 ms"));
            }
        };
        let reason =
            format!("`{name}` does not run over QUIC, because {why}; expected another one");
        refused("congestion-control", reason)
    })?;
    Ok(match scenario.probe.qlog {
        true => config.with_log(),
        false => config,
    })
}
