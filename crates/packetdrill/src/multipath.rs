//! Multipath TCP connections of the host, configured as in Linux.

use fadeout_core::registry::Parameters;
use fadeout_core::{Bytes, FlowEnd, FlowId, Span};
use fadeout_transport::congestion::Congestion;
use fadeout_transport::multipath::{
    MultipathConfig, MultipathConnection, PathConfig, PathSchedulerKind, Subflow,
};
use fadeout_transport::tcp::TcpConfig;

/// Scheduler of Linux.
const SCHEDULER: &str = "linux";

/// Returns a connection with `paths` paths. The passive end announces all paths but the first.
/// `congestion` returns the congestion control of a subflow.
pub(crate) fn connection(
    tcp: TcpConfig,
    congestion: impl Fn() -> Congestion,
    paths: usize,
    maximum_send_buffer: Bytes,
) -> MultipathConnection {
    let path_scheduler = PathSchedulerKind::new(SCHEDULER, &Parameters::default())
        .expect("the scheduler of Linux exists");
    let config = MultipathConfig {
        tcp,
        path_scheduler,
        join_delay: Span::ZERO,
        signal_repeats: 0,
        opportunistic_retransmission: false,
        penalisation: false,
        maximum_send_buffer,
    };
    let subflow = |index: usize| Subflow {
        flow: FlowId(0),
        congestion: congestion(),
        config: PathConfig {
            announced: index > 0,
            ..PathConfig::default()
        },
    };
    MultipathConnection::new(config, FlowEnd::Sender, (0..paths).map(subflow))
}
