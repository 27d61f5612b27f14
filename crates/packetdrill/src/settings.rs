//! Settings that a script makes with `--options`, `sysctl` assignments and a few other commands.

use crate::fast_open;
use crate::path_management::PathManagement;
use crate::problem::Problem;
use fadeout_core::{Rate, Segment, Span};
use fadeout_transport::tcp::{
    AccurateEcn, LossRecovery, Pacing, ReceiveWindow, SocketKind, TcpConfig,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Use of ECN (`tcp_ecn`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EcnMode {
    Never,
    Always,
    /// The host uses classic ECN only if the peer requests it. This is Linux's default.
    WhenAsked,
    /// The host requests and accepts accurate ECN.
    Accurate,
    /// The host accepts accurate ECN, and requests classic ECN (RFC 3168).
    AccurateOrClassic,
    /// The host uses accurate ECN only if the peer requests it.
    AccurateWhenAsked,
}

/// Settings of the host for new sockets.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: TcpConfig,
    pub(crate) congestion: String,
    pub(crate) ecn: EcnMode,
    pub(crate) accurate_ecn: AccurateEcn,
    /// Largest number of SYNs of a connection attempt.
    pub(crate) syns: u32,
    /// Largest number of SYN-ACKs that answer a SYN.
    pub(crate) syn_acks: u32,
    /// Largest time by which an event may be early or late.
    pub(crate) tolerance: Span,
    /// Length of a tick of the timestamp clock. `None` if timestamps are not checked.
    pub(crate) timestamp_tick: Option<Span>,
    /// Initial and largest memory of a send buffer, in bytes (`tcp_wmem`).
    pub(crate) send_buffer: (u64, u64),
    /// Number of unsent bytes from which a write must wait (`tcp_notsent_lowat`).
    pub(crate) low_water: u64,
    /// Bits of `tcp_fastopen`.
    pub(crate) fast_open: u32,
    /// Key of the Fast Open cookies (`tcp_fastopen_key`).
    pub(crate) fast_open_key: [u8; 16],
    pub(crate) local_ip: IpAddr,
    pub(crate) remote_ip: IpAddr,
    /// True if a passive connection keeps its state in the SYN-ACK only (`tcp_syncookies` of 2).
    pub(crate) has_syn_cookies: bool,
    /// True if the values remembered of the peer must be cleared (`ip tcp_metrics flush`).
    pub(crate) is_forgetful: bool,
    /// Path manager of Multipath TCP.
    pub(crate) paths: PathManagement,
    mtu: u32,
    ip_header: u32,
}

/// Options that control the real packetdrill tool and do not affect the endpoint.
const OF_THE_TOOL: [&str; 18] = [
    "local_linux_sockaddr",
    "gateway_ip",
    "netmask_ip",
    "bind_port",
    "connect_port",
    "verbose",
    "v",
    "dry_run",
    "speed",
    "mss",
    "send_omit_free",
    "tcp_ts_ecr_scaled",
    "persistent_tun_dev",
    "init_scripts",
    "code",
    "tolerance_percent",
    "wire_server",
    "wire_client",
];
const IPV4_HEADER: u32 = 20;
const IPV6_HEADER: u32 = 40;
const TCP_HEADER: u32 = 20;
/// Default addresses of packetdrill, for scripts that set none.
const LOCAL_IPV4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1));
const REMOTE_IPV4: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const LOCAL_IPV6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd3d, 0x0a0b, 0x17d6, 0, 0, 0, 0, 1));
const REMOTE_IPV6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xfd3d, 0xfa7b, 0xd17d, 0, 0, 0, 0, 1));
/// Value of `tcp_notsent_lowat` that means no limit.
const UNLIMITED: u64 = u32::MAX as u64;

impl Settings {
    /// Returns the default settings of Linux 6.12.
    pub(crate) fn linux() -> Settings {
        let config = TcpConfig::linux().changed(|tcp| {
            tcp.host.nagle = true;
            tcp.timers.wheel = false;
            // Scripts check the buffer of the socket, so the model's buffer is off.
            tcp.buffers.send = SocketKind::Unbounded;
        });
        Settings {
            config,
            congestion: "cubic".to_owned(),
            ecn: EcnMode::WhenAsked,
            accurate_ecn: AccurateEcn {
                sends_option: true,
                validates: true,
            },
            syns: 7,
            syn_acks: 6,
            tolerance: Span::from_micros(4_000),
            timestamp_tick: None,
            send_buffer: (16 << 10, 4 << 20),
            low_water: UNLIMITED,
            fast_open: 1,
            fast_open_key: [0; 16],
            local_ip: LOCAL_IPV4,
            remote_ip: REMOTE_IPV4,
            has_syn_cookies: false,
            is_forgetful: false,
            paths: PathManagement::default(),
            mtu: 1500,
            ip_header: IPV4_HEADER,
        }
    }

    /// Applies the usual `defaults.sh` of packetdrill's own test scripts.
    pub(crate) fn customary(&mut self) {
        self.ecn = EcnMode::Never;
        self.congestion = "cubic".to_owned();
        self.syns = 6;
        self.send_buffer = (256 << 10, 4 << 20);
        self.low_water = UNLIMITED;
        self.is_forgetful = true;
        if let Some(key) = fast_open::key("a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4") {
            self.fast_open_key = key;
        }
        let config = &mut self.config;
        config.slow_start_after_idle = false;
        config.buffers.receive_window = ReceiveWindow::Autotuned {
            max_bytes: (15 << 20) / 2,
        };
        config.buffers.initial_receive = 540_000;
        config.timestamps = true;
        config.recovery.method = LossRecovery::Rack;
        config.recovery.tail_loss_probe = true;
        config.recovery.frto = true;
        config.recovery.duplicate_threshold = 3;
        config.host.burst_window_divisor = 3;
        config.host.pacing = Pacing::Automatic;
    }

    /// Sets the largest receive buffer that leads to the window scale `scale`.
    pub(crate) fn suit_window_scale(&mut self, scale: u8) {
        self.config.buffers.receive_window = ReceiveWindow::Autotuned {
            max_bytes: (65_535 << scale.min(14)) / 2,
        };
    }

    /// Applies the option `--name=value`.
    pub(crate) fn option(&mut self, line: usize, name: &str, value: &str) -> Result<(), Problem> {
        let number = || {
            let text = format!("`--{name}` takes a whole number, not `{value}`");
            let parsed = value.parse::<u32>();
            parsed.map_err(|_| Problem::invalid(line, text))
        };
        let not_supported = |what: &str| {
            let message = format!("`--{name}={value}` is not supported{what}");
            Err(Problem::unsupported(line, message))
        };
        match name {
            "tolerance_usecs" => self.tolerance = Span::from_micros(u64::from(number()?)),
            "tcp_ts_tick_usecs" => {
                let tick = number()?;
                if tick != 0 && tick != 1000 {
                    return not_supported(": a tick is 1000 us");
                }
                self.timestamp_tick = (tick != 0).then(|| Span::from_micros(u64::from(tick)));
            }
            "mtu" => {
                let mtu = number()?;
                let wrong = |expected| Problem::invalid(line, format!("`--mtu={mtu}`: {expected}"));
                self.set_mtu(mtu).map_err(wrong)?;
            }
            "ip_version" => self.set_ip_version(line, value)?,
            "local_ip" => self.local_ip = address(line, name, value)?,
            "remote_ip" => self.remote_ip = address(line, name, value)?,
            _ if OF_THE_TOOL.contains(&name) => {}
            // The symbols have already been replaced before parsing.
            "define" => {}
            "strict_segments" | "so_filename" | "so_flags" | "non_fatal" => {
                return not_supported("");
            }
            _ => {
                let message = format!("there is no option `--{name}`");
                return Err(Problem::invalid(line, message));
            }
        }
        Ok(())
    }

    fn set_ip_version(&mut self, line: usize, value: &str) -> Result<(), Problem> {
        self.ip_header = match value {
            "ipv4" | "ipv4-mapped-ipv6" => IPV4_HEADER,
            "ipv6" => {
                (self.local_ip, self.remote_ip) = (LOCAL_IPV6, REMOTE_IPV6);
                IPV6_HEADER
            }
            _ => {
                let message = "`--ip_version` is `ipv4`, `ipv4-mapped-ipv6` or `ipv6`";
                return Err(Problem::invalid(line, message));
            }
        };
        self.config.mss = self.mtu - self.ip_header - TCP_HEADER;
        Ok(())
    }

    /// Reduces a SYN to the values in a SYN cookie: one of four MSS values, and the other options
    /// only with timestamps (Linux `cookie_v4_init_sequence`, `cookie_v6_init_sequence`).
    pub(crate) fn keep_in_cookie(&self, syn: &mut Segment) {
        if !self.has_syn_cookies {
            return;
        }
        let sizes = if self.ip_header == IPV6_HEADER {
            [1220, 1420, 1440, 8940]
        } else {
            [536, 1300, 1440, 1460]
        };
        let known = sizes.iter().rev().find(|size| **size <= syn.mss);
        syn.mss = *known.unwrap_or(&sizes[0]);
        if !syn.has_timestamps {
            syn.sack_permitted = false;
            syn.window_scale = None;
        }
    }

    pub(crate) fn set_mtu(&mut self, mtu: u32) -> Result<(), &'static str> {
        if !(128..=65_535).contains(&mtu) {
            return Err("expected 128 to 65535 bytes");
        }
        self.mtu = mtu;
        self.config.mss = mtu - self.ip_header - TCP_HEADER;
        Ok(())
    }

    /// Applies an assignment `net.ipv4.name=value` or `/proc/sys/net/ipv4/name=value`. Returns an
    /// error for a setting that is not supported but might affect the connection.
    pub(crate) fn assignment(&mut self, text: &str) -> Result<(), String> {
        let Some((path, value)) = text.split_once('=') else {
            return Ok(()); // The command only reads the setting.
        };
        let name = path.rsplit(['.', '/']).next().unwrap_or(path).trim();
        let value = value.trim();
        if self.written_out(name, value)? || is_without_effect(name, value) {
            return Ok(());
        }
        let not_here = || format!("the setting `{name}` of `{value}`");
        let number: u32 = value.parse().map_err(|_| not_here())?;
        if self.limit(name, number) || self.switch(name, number) {
            Ok(())
        } else {
            Err(not_here())
        }
    }

    /// Applies a setting whose value is not a plain number. Returns false for another `name`.
    fn written_out(&mut self, name: &str, value: &str) -> Result<bool, String> {
        match name {
            "tcp_congestion_control" => value.clone_into(&mut self.congestion),
            "tcp_fastopen_key" => {
                let key = fast_open::key(value);
                let wrong = || format!("`{name}` of `{value}` (it takes four words)");
                self.fast_open_key = key.ok_or_else(wrong)?;
            }
            "tcp_fastopen_cookies" => self.is_forgetful = true,
            "tcp_fastopen" => {
                let bits = match value.strip_prefix("0x") {
                    Some(digits) => u32::from_str_radix(digits, 16),
                    None => value.parse(),
                };
                self.fast_open = bits.map_err(|_| format!("`{name}` of `{value}`"))?;
            }
            "tcp_rmem" | "tcp_wmem" => {
                let sizes = value.split_whitespace().map(str::parse::<u64>);
                let sizes: Result<Vec<u64>, _> = sizes.collect();
                let Ok([_, first, largest]) = sizes.as_deref() else {
                    return Err(format!("`{name}` of `{value}` (it takes three sizes)"));
                };
                if name == "tcp_wmem" {
                    self.send_buffer = (*first, *largest);
                } else {
                    self.config.buffers.initial_receive = (*first).clamp(2_304, 1 << 30);
                    self.config.buffers.receive_window = ReceiveWindow::Autotuned {
                        max_bytes: (largest / 2).clamp(1_000, 1 << 30),
                    };
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Applies a setting that is a count, a size or a time. Returns false for another `name`.
    fn limit(&mut self, name: &str, number: u32) -> bool {
        let config = &mut self.config;
        match name {
            "tcp_min_tso_segs" => config.host.minimum_burst = number.clamp(1, 64),
            "tcp_tso_win_divisor" => config.host.burst_window_divisor = number.max(1),
            "tcp_reordering" => config.recovery.duplicate_threshold = number.clamp(1, 300),
            "tcp_rto_max_ms" => {
                config.timers.maximum_rto =
                    Span::from_millis(u64::from(number.clamp(1_000, 120_000)));
            }
            "tcp_rto_min_us" => {
                config.timers.minimum_rto = Span::from_micros(u64::from(number.max(1_000)));
            }
            "tcp_notsent_lowat" => self.low_water = u64::from(number),
            "tcp_retries2" => config.timers.maximum_retries = number.clamp(1, 100),
            "tcp_syn_retries" => self.syns = number.min(20) + 1,
            "tcp_syn_linear_timeouts" => config.timers.linear_syn_timeouts = number.min(20),
            "tcp_synack_retries" => self.syn_acks = number.min(20) + 1,
            _ => return false,
        }
        true
    }

    /// Applies a setting that selects or switches an algorithm. Returns false if `name` is not such
    /// a setting or does not allow `number`.
    fn switch(&mut self, name: &str, number: u32) -> bool {
        let is_on = number != 0;
        let config = &mut self.config;
        match name {
            "tcp_ecn" => match ecn_mode(number) {
                Some(mode) => self.ecn = mode,
                None => return false,
            },
            "tcp_ecn_option" => self.accurate_ecn.sends_option = is_on,
            "tcp_ecn_fallback" => self.accurate_ecn.validates = is_on,
            "tcp_sack" if is_on && config.recovery.method.uses_sack() => {}
            "tcp_sack" if is_on => config.recovery.method = LossRecovery::Rack,
            "tcp_sack" => config.recovery.method = LossRecovery::NewReno,
            "tcp_recovery" if config.recovery.method.uses_sack() => {
                config.recovery.method = if number & 1 != 0 {
                    LossRecovery::Rack
                } else {
                    LossRecovery::Sack
                };
            }
            "tcp_recovery" => {}
            "tcp_timestamps" => config.timestamps = is_on,
            "tcp_window_scaling" => config.buffers.window_scaling = is_on,
            "tcp_early_retrans" => config.recovery.tail_loss_probe = number >= 3,
            "tcp_frto" => config.recovery.frto = is_on,
            "tcp_slow_start_after_idle" => config.slow_start_after_idle = is_on,
            "tcp_syncookies" if number > 0 => self.has_syn_cookies = number == 2,
            "tcp_comp_sack_nr" | "tcp_comp_sack_delay_ns" if !is_on => {
                config.acks.sack_compression = false;
            }
            _ => return false,
        }
        true
    }
}

/// Parses the address of an option such as `--local_ip=192.0.2.1/24`.
fn address(line: usize, name: &str, value: &str) -> Result<IpAddr, Problem> {
    let address = value.split('/').next().and_then(|text| text.parse().ok());
    let message = || format!("`--{name}` takes an IP address, not `{value}`");
    address.ok_or_else(|| Problem::invalid(line, message()))
}

/// Returns the ECN mode for a value of Linux's `net.ipv4.tcp_ecn`. `None` for an unknown value.
fn ecn_mode(number: u32) -> Option<EcnMode> {
    Some(match number {
        0 => EcnMode::Never,
        1 => EcnMode::Always,
        2 => EcnMode::WhenAsked,
        3 => EcnMode::Accurate,
        4 => EcnMode::AccurateOrClassic,
        5 => EcnMode::AccurateWhenAsked,
        _ => return None,
    })
}

/// Returns true if this value of a kernel setting does not affect the script of one TCP connection.
fn is_without_effect(name: &str, value: &str) -> bool {
    match name {
        // These settings concern the whole host's memory, other protocols or other connections.
        "tcp_mem"
        | "tcp_no_metrics_save"
        | "wmem_max"
        | "rmem_max"
        | "somaxconn"
        | "tcp_max_syn_backlog"
        | "tcp_tw_reuse"
        | "tcp_early_demux"
        | "default_qdisc"
        | "optmem_max"
        | "enabled"
        | "tcp_fin_timeout"
        | "tcp_limit_output_bytes"
        | "tcp_pacing_ss_ratio"
        | "tcp_pacing_ca_ratio"
        | "tcp_autocorking"
        | "tcp_invalid_ratelimit"
        | "tcp_challenge_ack_limit" => true,
        "tcp_fastopen_blackhole_timeout_sec" => true,
        "tcp_fack" | "tcp_mtu_probing" | "tcp_workaround_signed_windows" => value == "0",
        "tcp_dsack" => value == "1",
        // This runner sends the AccECN option on every segment.
        "tcp_ecn_option_beacon" => true,
        "tcp_adv_win_scale" => value == "1",
        "tcp_app_win" => value == "31",
        _ => false,
    }
}

/// Returns the rate for `SO_MAX_PACING_RATE`, which is given in bytes per second.
pub(crate) fn pacing_rate(bytes_per_sec: i64) -> Rate {
    match u64::try_from(bytes_per_sec) {
        Ok(bytes) if bytes < u64::from(u32::MAX) => Rate::from_bits_per_sec(bytes * 8),
        _ => Rate::UNLIMITED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::ProblemKind;

    #[test]
    fn assignments_reach_the_configuration() {
        let mut settings = Settings::linux();
        let slept = settings.command(
            1,
            "../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=0 net.ipv4.tcp_frto=0\n\
             ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\\n \
             /proc/sys/net/ipv4/tcp_min_tso_segs=10\n\
             sysctl -q net.ipv4.tcp_rmem=\"4096 87380 $((8*1024*1024))\"\n\
             ip link set dev tun0 mtu 9000; sleep 0.5",
        );
        assert_eq!(slept, Ok(Span::from_millis(500)));
        let config = &settings.config;
        assert_eq!(config.recovery.method, LossRecovery::NewReno);
        assert!(!config.recovery.frto && config.slow_start_after_idle);
        assert_eq!((config.host.minimum_burst, config.mss), (10, 8960));
        assert_eq!(
            config.buffers.receive_window,
            ReceiveWindow::Autotuned { max_bytes: 4 << 20 }
        );
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (command, word) in [
            ("sysctl -q net.ipv4.tcp_thin=1", "tcp_thin"),
            (
                "sysctl -q net.ipv4.tcp_shrink_window=1",
                "tcp_shrink_window",
            ),
            ("sysctl -q net.ipv4.tcp_ecn=6", "tcp_ecn"),
            ("frobnicate now", "frobnicate now"),
            ("nstat | grep -q x", "pipe"),
            (
                "tc qdisc add dev tun0 root pfifo limit 0",
                "loss in the host",
            ),
            (
                "ip route change 1.2.3.4 dev tun0 advmss 600 mtu 1500",
                "advmss",
            ),
            ("ip route change 1.2.3.4 dev tun0 quickack 1", "quickack"),
        ] {
            let problem = Settings::linux().command(7, command).expect_err(command);
            assert_eq!(problem.kind, ProblemKind::Unsupported, "{command}");
            assert!(problem.message.contains(word), "{}", problem.message);
        }
        let problem = Settings::linux().command(7, "false").expect_err("it fails");
        assert_eq!(problem.kind, ProblemKind::Failed);
    }

    #[test]
    fn an_ipv6_header_takes_twenty_bytes_more() {
        let mut settings = Settings::linux();
        assert_eq!(settings.option(1, "mtu", "1520"), Ok(()));
        assert_eq!(settings.option(1, "ip_version", "ipv6"), Ok(()));
        assert_eq!(settings.config.mss, 1460);
        let unknown = settings.option(1, "mtuu", "1520").expect_err("unknown");
        assert_eq!(unknown.kind, ProblemKind::Invalid);
    }
}
