//! What a script configures: `--options`, `sysctl` assignments and a few other commands.

use crate::problem::Problem;
use fadeout_core::{Rate, Span};
use fadeout_transport::tcp::{LossRecovery, Pacing, ReceiveWindow, TcpConfig};

/// Whether ECN is negotiated (`tcp_ecn`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EcnMode {
    Never,
    Always,
    /// Only when the peer asks: Linux's default.
    WhenAsked,
}

/// The configuration that a new socket starts from.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: TcpConfig,
    pub(crate) congestion: String,
    pub(crate) ecn: EcnMode,
    /// SYNs and SYN-ACKs sent at most.
    pub(crate) syns: u32,
    pub(crate) syn_acks: u32,
    /// Events may be this late or early.
    pub(crate) tolerance: Span,
    /// Length of a timestamp tick, if it is to be checked.
    pub(crate) timestamp_tick: Option<Span>,
}

impl Settings {
    /// Linux 6.12 without any assignment.
    pub(crate) fn linux() -> Settings {
        let config = TcpConfig {
            nagle: true,
            ..TcpConfig::linux()
        };
        Settings {
            config,
            congestion: "cubic".to_owned(),
            ecn: EcnMode::WhenAsked,
            syns: 7,
            syn_acks: 6,
            tolerance: Span::from_micros(4_000),
            timestamp_tick: None,
        }
    }

    /// The customary `defaults.sh` of packetdrill's own tests.
    fn customary(&mut self) {
        self.ecn = EcnMode::Never;
        self.congestion = "cubic".to_owned();
        self.syns = 6;
        let config = &mut self.config;
        config.slow_start_after_idle = false;
        config.receive_window = ReceiveWindow::Autotuned {
            max_bytes: (15 << 20) / 2,
        };
        config.timestamps = true;
        config.recovery = LossRecovery::Rack;
        config.tail_loss_probe = true;
        config.frto = true;
        config.duplicate_threshold = 3;
        config.burst_window_divisor = 3;
        config.pacing = Pacing::Automatic;
    }

    /// Takes the largest receive buffer whose window scale is `scale`.
    pub(crate) fn suit_window_scale(&mut self, scale: u8) {
        self.config.receive_window = ReceiveWindow::Autotuned {
            max_bytes: (65_535 << scale.min(14)) / 2,
        };
    }

    /// Takes `--name=value`. Returns a warning when it has no effect that it might have.
    pub(crate) fn option(
        &mut self,
        line: usize,
        name: &str,
        value: &str,
    ) -> Result<Option<String>, Problem> {
        let number = || {
            value.parse::<u32>().map_err(|_| {
                Problem::invalid(
                    line,
                    format!("`--{name}` takes a whole number, not `{value}`"),
                )
            })
        };
        match name {
            "tolerance_usecs" => self.tolerance = Span::from_micros(u64::from(number()?)),
            "tcp_ts_tick_usecs" => {
                let tick = number()?;
                if tick != 0 && tick != 1000 {
                    let message = format!("timestamp ticks of {tick} us are not supported");
                    return Err(Problem::unsupported(line, message));
                }
                self.timestamp_tick = (tick != 0).then(|| Span::from_micros(u64::from(tick)));
            }
            "mtu" => {
                let mtu = number()?;
                if !(128..=65_535).contains(&mtu) {
                    let message = format!("an MTU is 128 to 65535 bytes, not {mtu}");
                    return Err(Problem::invalid(line, message));
                }
                self.config.mss = mtu - 40;
            }
            "ip_version" if value == "ipv4" => {}
            "ip_version" => {
                return Err(Problem::unsupported(
                    line,
                    format!("`--{name}={value}` (IPv6) is not supported"),
                ));
            }
            "define" | "D" => {
                return Err(Problem::unsupported(line, "`--define` is not supported"));
            }
            "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port"
            | "connect_port" | "verbose" | "v" | "dry_run" | "speed" | "mss" | "send_omit_free"
            | "persistent_tun_dev" | "init_scripts" | "code" | "tolerance_percent" => {}
            _ => return Ok(Some(format!("`--{name}` has no effect here"))),
        }
        Ok(None)
    }

    /// Runs what this runner knows of a shell command. Returns the time it sleeps, and a warning
    /// for each part that it does not know.
    pub(crate) fn command(&mut self, text: &str) -> (Span, Vec<String>) {
        let mut warnings = Vec::new();
        let mut slept = Span::ZERO;
        let joined = text.replace("\\\n", " ");
        for command in joined.split(['\n', ';']).flat_map(|line| line.split("&&")) {
            let command = command.split(" #").next().unwrap_or("").trim();
            if command.is_empty() || command.starts_with('#') {
                continue;
            }
            let words = words(command);
            let program = words.first().map(String::as_str).unwrap_or("");
            let base = program.rsplit('/').next().unwrap_or("");
            match base {
                "defaults.sh" => self.customary(),
                "sysctl" | "set_sysctls.py" => {
                    for word in words[1..].iter().filter(|word| !word.starts_with('-')) {
                        if let Some(warning) = self.assignment(word) {
                            warnings.push(warning);
                        }
                    }
                }
                "tc" => self.queue_discipline(&words, &mut warnings),
                "sleep" => {
                    let secs: f64 = words.get(1).and_then(|w| w.parse().ok()).unwrap_or(0.0);
                    slept = Span::from_secs_f64(secs.clamp(0.0, 1000.0));
                }
                "ip" if words.iter().any(|word| word == "route") => {
                    self.route(&words, &mut warnings);
                }
                "ip" if words.iter().any(|word| word == "tcp_metrics") => {}
                "ethtool" | "nstat" | "ss" | "netstat" | "cat" | "echo" | "true" | "python"
                | "rm" | "ulimit" => {}
                _ if base.starts_with("sysctl_restore") => {}
                _ => warnings.push(format!("the command `{command}` has no effect here")),
            }
        }
        (slept, warnings)
    }

    fn queue_discipline(&mut self, words: &[String], warnings: &mut Vec<String>) {
        let has = |word: &str| words.iter().any(|one| one == word);
        if has("fq") {
            self.config.pacing = Pacing::On;
        } else if has("limit") || has("netem") {
            warnings.push("a queueing discipline that loses packets has no effect here".to_owned());
        } else if has("pfifo") || has("pfifo_fast") || has("noqueue") || has("fq_codel") {
            self.config.pacing = Pacing::Automatic;
        }
    }

    fn route(&mut self, words: &[String], warnings: &mut Vec<String>) {
        let after = |name: &str| {
            let at = words.iter().position(|word| word == name)?;
            words.get(at + 1)
        };
        if let Some(window) = after("initcwnd").and_then(|w| w.parse().ok()) {
            self.config.initial_window = u32::clamp(window, 1, 10_000);
        }
        if let Some(text) = after("rto_min") {
            let millis = text.trim_end_matches("ms").parse::<u64>();
            match millis {
                Ok(millis) if text.ends_with("ms") => {
                    self.config.minimum_rto = Span::from_millis(millis.clamp(1, 120_000));
                }
                _ => warnings.push(format!("`rto_min {text}` is not understood: use `200ms`")),
            }
        }
        if after("quickack").is_some() || after("features").is_some() || after("mtu").is_some() {
            warnings.push("of a route only initcwnd and rto_min have an effect here".to_owned());
        }
    }

    /// Takes `net.ipv4.name=value` or `/proc/sys/net/ipv4/name=value`. Returns a warning when it
    /// has no effect that it might have.
    fn assignment(&mut self, text: &str) -> Option<String> {
        let (path, value) = text.split_once('=')?;
        let name = path.rsplit(['.', '/']).next().unwrap_or(path).trim();
        let value = value.trim();
        let parsed = value.parse::<u32>().ok();
        let number = parsed.unwrap_or(0);
        let is_on = number != 0;
        let config = &mut self.config;
        match name {
            "tcp_congestion_control" => value.clone_into(&mut self.congestion),
            "tcp_rmem" => {
                let sizes: Vec<u64> = value
                    .split_whitespace()
                    .filter_map(|n| n.parse().ok())
                    .collect();
                let [_, _, largest] = sizes.as_slice() else {
                    return Some(format!("`{name}` takes three sizes, not `{value}`"));
                };
                config.receive_window = ReceiveWindow::Autotuned {
                    max_bytes: (largest / 2).clamp(1_000, 1 << 30),
                };
                return None;
            }
            "tcp_wmem"
            | "tcp_mem"
            | "tcp_no_metrics_save"
            | "tcp_autocorking"
            | "tcp_dsack"
            | "tcp_fack"
            | "tcp_fastopen"
            | "tcp_fastopen_key"
            | "tcp_syncookies"
            | "tcp_notsent_lowat"
            | "tcp_limit_output_bytes"
            | "tcp_invalid_ratelimit"
            | "tcp_pacing_ss_ratio"
            | "tcp_pacing_ca_ratio"
            | "tcp_adv_win_scale"
            | "tcp_app_win"
            | "tcp_fin_timeout"
            | "tcp_tw_reuse"
            | "tcp_ecn_fallback"
            | "wmem_max"
            | "rmem_max"
            | "tcp_challenge_ack_limit"
            | "tcp_mtu_probing"
            | "tcp_workaround_signed_windows"
            | "somaxconn"
            | "tcp_max_syn_backlog"
            | "enabled"
            | "tcp_early_demux"
            | "default_qdisc"
            | "optmem_max" => return None,
            _ if parsed.is_none() => {
                return Some(format!("`{name}` takes a whole number, not `{value}`"));
            }
            "tcp_ecn" => {
                self.ecn = match number {
                    0 => EcnMode::Never,
                    1 => EcnMode::Always,
                    2 => EcnMode::WhenAsked,
                    _ => {
                        return Some(
                            "accurate ECN (`tcp_ecn` above 2) is not supported".to_owned(),
                        );
                    }
                }
            }
            "tcp_sack" if is_on => {
                if !config.recovery.uses_sack() {
                    config.recovery = LossRecovery::Rack;
                }
            }
            "tcp_sack" => config.recovery = LossRecovery::NewReno,
            "tcp_recovery" if config.recovery.uses_sack() => {
                config.recovery = if number & 1 != 0 {
                    LossRecovery::Rack
                } else {
                    LossRecovery::Sack
                };
            }
            "tcp_recovery" => {}
            "tcp_timestamps" => config.timestamps = is_on,
            "tcp_window_scaling" => config.window_scaling = is_on,
            "tcp_early_retrans" => config.tail_loss_probe = number >= 3,
            "tcp_frto" => config.frto = is_on,
            "tcp_slow_start_after_idle" => config.slow_start_after_idle = is_on,
            "tcp_min_tso_segs" => config.minimum_burst = number.clamp(1, 64),
            "tcp_tso_win_divisor" => config.burst_window_divisor = number.max(1),
            "tcp_reordering" => config.duplicate_threshold = number.clamp(1, 300),
            "tcp_retries2" => config.maximum_retries = number.clamp(1, 100),
            "tcp_syn_retries" => self.syns = number.min(20) + 1,
            "tcp_synack_retries" => self.syn_acks = number.min(20) + 1,
            "tcp_rto_min_us" => {
                config.minimum_rto = Span::from_micros(u64::from(number.max(1_000)));
            }
            "tcp_comp_sack_nr" | "tcp_comp_sack_delay_ns" if !is_on => {
                config.sack_compression = false;
            }
            "tcp_comp_sack_nr" | "tcp_comp_sack_delay_ns" => {
                return Some(format!("of `{name}` only 0 has an effect here"));
            }
            _ => return Some(format!("`{name}` has no effect here")),
        }
        None
    }
}

/// The rate that `SO_MAX_PACING_RATE` names, bytes per second.
pub(crate) fn pacing_rate(bytes_per_sec: i64) -> Rate {
    match u64::try_from(bytes_per_sec) {
        Ok(bytes) if bytes < u64::from(u32::MAX) => Rate::from_bits_per_sec(bytes * 8),
        _ => Rate::UNLIMITED,
    }
}

/// The words of a command; quotes keep spaces together.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, _) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_reach_the_configuration() {
        let mut settings = Settings::linux();
        let (_, warnings) = settings.command(
            "../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=0 net.ipv4.tcp_frto=0\n\
             ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\\n \
             /proc/sys/net/ipv4/tcp_min_tso_segs=10\n\
             sysctl -q net.ipv4.tcp_rmem=\"4096 87380 8388608\"",
        );
        assert!(warnings.is_empty(), "{warnings:?}");
        let config = &settings.config;
        assert_eq!(config.recovery, LossRecovery::NewReno);
        assert!(!config.frto && config.slow_start_after_idle);
        assert_eq!(config.minimum_burst, 10);
        assert_eq!(
            config.receive_window,
            ReceiveWindow::Autotuned { max_bytes: 4 << 20 }
        );
    }

    #[test]
    fn what_is_not_known_is_a_warning_that_names_it() {
        let mut settings = Settings::linux();
        let (_, warnings) = settings.command("sysctl -q net.ipv4.tcp_thin=1\nfrobnicate now");
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("tcp_thin") && warnings[1].contains("frobnicate now"));
    }
}
