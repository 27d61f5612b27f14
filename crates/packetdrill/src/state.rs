//! Names that a snippet can read: fields of `struct tcp_info` and their constants.

use crate::buffer::Limit;
use crate::connection::Connection;
use fadeout_core::{Span, Time};
use fadeout_transport::congestion::RecoveryState;
use fadeout_transport::tcp::{ConnectionState, TcpInfo};

/// Value of `tcpi_snd_ssthresh` that means an infinite slow-start threshold in Linux.
const INFINITE: i64 = 0x7fff_ffff;

const OPTION_TIMESTAMPS: i64 = 1;
const OPTION_SACK: i64 = 2;
const OPTION_WINDOW_SCALE: i64 = 4;
const OPTION_ECN: i64 = 8;
const OPTION_SYN_DATA: i64 = 32;

/// Returns the value of the field or constant `name`. `None` for an unknown name.
pub(crate) fn value(connection: Option<&Connection>, now: Time, name: &str) -> Option<i64> {
    constant(name).or_else(|| field(connection?, now, name))
}

fn constant(name: &str) -> Option<i64> {
    Some(match name {
        "TCP_CA_Open" => 0,
        "TCP_CA_Disorder" => 1,
        "TCP_CA_CWR" => 2,
        "TCP_CA_Recovery" => 3,
        "TCP_CA_Loss" => 4,
        "TCP_ESTABLISHED" => 1,
        "TCP_SYN_SENT" => 2,
        "TCP_SYN_RECV" => 3,
        "TCP_FIN_WAIT1" => 4,
        "TCP_FIN_WAIT2" => 5,
        "TCP_TIME_WAIT" => 6,
        "TCP_CLOSE" => 7,
        "TCP_CLOSE_WAIT" => 8,
        "TCP_LAST_ACK" => 9,
        "TCP_LISTEN" => 10,
        "TCP_CLOSING" => 11,
        "TCP_INFINITE_SSTHRESH" => INFINITE,
        "TCPI_OPT_TIMESTAMPS" => OPTION_TIMESTAMPS,
        "TCPI_OPT_SACK" => OPTION_SACK,
        "TCPI_OPT_WSCALE" => OPTION_WINDOW_SCALE,
        "TCPI_OPT_ECN" => OPTION_ECN,
        "TCPI_OPT_SYN_DATA" => OPTION_SYN_DATA,
        _ => return None,
    })
}

fn field(connection: &Connection, now: Time, name: &str) -> Option<i64> {
    let info = connection.endpoint.info();
    let micros = |span: Span| span.as_micros() as i64;
    Some(match name {
        "tcpi_state" => state(connection.endpoint.state()),
        "tcpi_ca_state" => match info.ca_state {
            RecoveryState::Open => 0,
            RecoveryState::Disorder => 1,
            RecoveryState::Cwr => 2,
            RecoveryState::Recovery => 3,
            RecoveryState::Loss => 4,
        },
        "tcpi_retransmits" => i64::from(info.retransmits),
        "tcpi_probes" => i64::from(info.probes),
        "tcpi_backoff" => i64::from(info.backoff),
        "tcpi_options" => {
            let bit = |is_set: bool, bit: i64| if is_set { bit } else { 0 };
            bit(info.timestamps, OPTION_TIMESTAMPS)
                | bit(info.sack, OPTION_SACK)
                | bit(connection.first_flow().is_scaled(), OPTION_WINDOW_SCALE)
                | bit(info.ecn, OPTION_ECN)
                | bit(info.has_taken_syn_data, OPTION_SYN_DATA)
        }
        "tcpi_snd_wscale" => i64::from(connection.first_flow().scale_in()),
        "tcpi_rcv_wscale" => i64::from(connection.first_flow().scale_out()),
        "tcpi_rto" => micros(info.rto),
        "tcpi_rtt" => micros(info.rtt),
        "tcpi_rttvar" => micros(info.rttvar),
        "tcpi_min_rtt" => info.min_rtt.map_or(0xffff_ffff, micros),
        "tcpi_advmss" => i64::from(connection.advertised_mss),
        "tcpi_snd_mss" => i64::from(info.snd_mss),
        "tcpi_unacked" => i64::from(info.unacked),
        "tcpi_sacked" => i64::from(info.sacked),
        "tcpi_lost" => i64::from(info.lost),
        "tcpi_retrans" => i64::from(info.retrans),
        "tcpi_total_retrans" => info.total_retrans as i64,
        "tcpi_snd_ssthresh" if info.snd_ssthresh.is_finite() => info.snd_ssthresh as i64,
        "tcpi_snd_ssthresh" => INFINITE,
        "tcpi_snd_cwnd" => info.snd_cwnd as i64,
        "tcpi_snd_wnd" => info.snd_wnd as i64,
        "tcpi_reordering" => i64::from(info.reordering),
        "tcpi_reord_seen" => i64::from(info.reord_seen),
        "tcpi_dsack_dups" => info.dsack_dups as i64,
        // Linux counts the handshake as a delivery.
        "tcpi_delivered" => {
            let is_complete = connection.endpoint.state() != ConnectionState::SynReceived;
            info.delivered as i64 + i64::from(connection.is_established && is_complete)
        }
        "tcpi_delivered_ce" if info.accurate_ecn.is_none() => info.delivered_ce as i64,
        "tcpi_bytes_acked" => info.bytes_acked as i64,
        "tcpi_bytes_received" => (connection.read + connection.unread) as i64,
        "tcpi_notsent_bytes" => connection.unsent() as i64,
        "tcpi_data_segs_out" => info.data_segs_out as i64,
        "tcpi_last_data_recv" => now.since(connection.received_at).as_millis() as i64,
        "tcpi_last_data_sent" => now.since(connection.sent_at).as_millis() as i64,
        "tcpi_busy_time" => connection.limits.spent(now, Limit::Busy) as i64,
        "tcpi_rwnd_limited" => connection.limits.spent(now, Limit::Window) as i64,
        "tcpi_sndbuf_limited" => connection.limits.spent(now, Limit::Buffer) as i64,
        "tcpi_rcv_mss" => i64::from(info.rcv_mss),
        "tcpi_pacing_rate" => (info.pacing_rate.as_bits_per_sec() / 8) as i64,
        _ => return accurate_ecn_field(&info, name),
    })
}

/// Returns an accurate ECN counter of received packets or of packets that the peer reported. `None`
/// if the connection does not use accurate ECN, or `name` is unknown.
///
/// Standard: RFC 9768 §3.2.
fn accurate_ecn_field(info: &TcpInfo, name: &str) -> Option<i64> {
    let (received, delivered) = info.accurate_ecn?;
    Some(i64::from(match name {
        "tcpi_delivered_ce" => delivered.ce,
        "tcpi_delivered_e1_bytes" => delivered.bytes[0],
        "tcpi_delivered_ce_bytes" => delivered.bytes[1],
        "tcpi_delivered_e0_bytes" => delivered.bytes[2],
        "tcpi_received_ce" => received.ce,
        "tcpi_received_e1_bytes" => received.bytes[0],
        "tcpi_received_ce_bytes" => received.bytes[1],
        "tcpi_received_e0_bytes" => received.bytes[2],
        _ => return None,
    }))
}

fn state(state: ConnectionState) -> i64 {
    match state {
        ConnectionState::Established => 1,
        ConnectionState::SynSent => 2,
        ConnectionState::SynReceived => 3,
        ConnectionState::FinWait1 => 4,
        ConnectionState::FinWait2 => 5,
        // In Linux the socket is already closed in TIME-WAIT, because a separate object holds that
        // state.
        ConnectionState::TimeWait | ConnectionState::Closed => 7,
        ConnectionState::CloseWait => 8,
        ConnectionState::LastAck => 9,
        ConnectionState::Listen => 10,
        ConnectionState::Closing => 11,
    }
}
