//! Profiles: whole stacks by name, so that older studies can be repeated with their own stack.

use super::config::{
    AckConfig, AckRule, BufferConfig, BufferGrowth, EcnMode, HostConfig, LossRecovery,
    NewRenoVariant, Pacing, PacketMemory, ReceiveWindow, RecoverGuard, RecoveryConfig,
    ResilienceConfig, RtoRule, SendBufferConfig, SendBufferRule, SocketKind, TcpConfig,
    TimerConfig,
};
use fadeout_core::registry::{
    Entry, Parameter, Registered, Settings, choice, flag, integer, span, with_defaults,
};
use fadeout_core::{Rate, Span};

fadeout_core::parameters! {
    /// The constants that a scenario's `tcp = { … }` may override, in every profile. The defaults
    /// are those of the standards; [`PROFILES`] has the others.
    #[derive(Debug, Clone, PartialEq)]
    struct Constants {
        /// Smallest retransmission timeout. With the `rto-rule` "linux" it is the lower bound of
        /// the variance term, so that the timeout exceeds SRTT by at least this time. With
        /// "rfc6298" it is the lower bound of the timeout. With "fixed" it is the timeout.
        minimum_rto: Span = span("1 s"),
        /// Largest retransmission timeout (RFC 6298 rule 2.5).
        maximum_rto: Span = span("60 s"),
        /// Retransmission timeout before the first RTT sample (RFC 6298 rule 2.1).
        initial_rto: Span = span("1 s"),
        /// Rule for the retransmission timeout.
        rto_rule: RtoRule = choice(RtoRule::NAMES, "rfc6298"),
        /// Granularity to which timeouts are rounded up (1/HZ in Linux).
        timer_tick: Span = span("1 ms"),
        /// True if timers expire at ticks, as in Linux's timer wheel. A timer expires at the tick
        /// after its time. A timer of at least 63 ticks expires at a multiple of 8 ticks. A timer
        /// of at least 504 ticks expires at a multiple of 64 ticks, and so on. If false, timers
        /// expire at their exact time.
        timer_wheel: bool = flag("false"),
        /// Initial congestion window (RFC 6928).
        initial_window: u32 = integer((1, 10_000, "segments"), "10"),
        /// Initial slow-start threshold.
        initial_ssthresh: Option<f64> = integer((2, 100_000_000, "segments"), "unlimited"),
        /// Number of duplicate ACKs that begin a fast retransmit (RFC 5681, RFC 6675).
        duplicate_threshold: u32 = integer((1, 300, "segments"), "3"),
        /// Maximum segment size in the MSS option. With timestamps the payload is 12 bytes smaller.
        mss: u32 = integer((88, 65_000, "bytes"), "1460"),
        /// True if both ends use the timestamps option (RFC 7323).
        timestamps: bool = flag("true"),
        /// True if the sender undoes spurious window reductions, which it detects by timestamps and
        /// DSACK (RFC 3522, 3708).
        undo: bool = flag("false"),
        /// True if F-RTO detects spurious timeouts (RFC 5682).
        frto: bool = flag("false"),
        /// True if tail loss probes are sent (RFC 8985 section 7).
        tail_loss_probe: bool = flag("false"),
        /// True if recovery uses proportional rate reduction (RFC 6937). It needs SACK.
        prr: bool = flag("false"),
        /// Restart of the retransmission timer in a NewReno recovery: by the first partial
        /// acknowledgment only, or by each partial acknowledgment (RFC 3782 section 4).
        newreno_variant: NewRenoVariant = choice(NewRenoVariant::NAMES, "impatient"),
        /// Duplicate ACKs that may cause a fast retransmit without SACK. They are the ACKs above
        /// `recover` (RFC 6582), the ACKs at or above `recover` (ns-3), or all (RFC 5681).
        /// `recover` is the end of the data sent before the last fast retransmit or timeout.
        recover_guard: RecoverGuard = choice(RecoverGuard::NAMES, "above"),
        /// True if limited transmit is used (RFC 3042).
        limited_transmit: bool = flag("true"),
        /// True if the congestion window shrinks after an idle time (RFC 2861).
        slow_start_after_idle: bool = flag("true"),
        /// Rule for delayed ACKs.
        ack_rule: AckRule = choice(AckRule::NAMES, "every-second"),
        /// Longest time for which an ACK is delayed. With the `ack-rule` "linux" it is the smallest
        /// value of this limit.
        delayed_ack: Span = span("200 ms"),
        /// True if ACKs of out-of-order data are thinned (tcp_comp_sack of Linux).
        sack_compression: bool = flag("false"),
        /// Size of the receive window if the window is fixed.
        receive_window: Option<u64> = integer((1_000, 1 << 30, "bytes"), "16777216"),
        /// Limit of the autotuned receive window. If no `receive-window` is given, this key enables
        /// autotuning.
        maximum_receive_window: Option<u64> = integer((65_535, 1 << 30, "bytes"), "none"),
        /// Initial memory of the receive buffer with autotuning (tcp_rmem[1]). Payload may use half
        /// of this memory, and about 0.6 of it after the first full segment.
        initial_receive_buffer: u64 = integer((4_096, 1 << 30, "bytes"), "131072"),
        /// Growth of the receive buffer with autotuning. Linux 6.12 adds room for 16 segments to
        /// twice the data of a round trip. Linux 6.18 adds the data behind gaps instead, so the
        /// window of a fast flow grows later.
        receive_buffer_growth: BufferGrowth = choice(BufferGrowth::NAMES, "linux-6.12"),
        /// Memory of the receive buffer that a packet needs in addition to its payload, with
        /// autotuning. It contains the packet's descriptor and the unused part of the network
        /// device's buffer.
        packet_memory: u64 = integer((256, 65_536, "bytes"), "896"),
        /// Memory of the receive buffer that a packet needs in addition to its payload if it is
        /// merged with the previous packet. It is 0 if software segmentation produced the packets.
        /// If a network device produced the packets, it is the unused part of the device's buffer.
        /// It is at most `packet-memory`.
        joined_packet_memory: u64 = integer((0, 65_536, "bytes"), "0"),
        /// Rule for the amount of data that the socket accepts in a write. With "linux" the
        /// application waits for free memory in the send buffer.
        send_buffer: SendBufferRule = choice(SendBufferRule::NAMES, "unbounded"),
        /// Memory of the send buffer until the handshake is complete (tcp_wmem[1]). After the
        /// handshake the send buffer has the size of two congestion windows, or of three with BBR.
        initial_send_buffer: u64 = integer((4_096, 1 << 30, "bytes"), "16384"),
        /// Limit of the growth of the send buffer (tcp_wmem[2], 4194304 on most systems).
        maximum_send_buffer: Option<u64> = integer((4_608, 1 << 40, "bytes"), "unlimited"),
        /// Memory for headers in each buffer fragment of the send buffer (MAX_TCP_HEADER). It
        /// depends on the kernel's configuration: 320 with wireless networks, down to 192 without
        /// them. A segment of 1460 bytes lets the buffer grow by 4352 bytes if this value is at
        /// least 269. With a smaller value the buffer grows by 2304 bytes.
        header_memory: u64 = integer((128, 4_096, "bytes"), "320"),
        /// Memory for headers in a newly allocated buffer fragment (SKB_SMALL_HEAD_HEADROOM).
        /// Kernels of 2026 round this value up, to 384 with wireless networks and to 256 without
        /// them. Default: the value of `header-memory`.
        head_memory: Option<u64> = integer((128, 4_096, "bytes"), "as header-memory"),
        /// ECN feedback of the receiver: the echo of RFC 3168, DCTCP's echo of each segment's mark
        /// (RFC 8257), or accurate counts (RFC 9768). `automatic` means the feedback that the
        /// congestion control needs, or none.
        ecn: EcnMode = choice(EcnMode::NAMES, "automatic"),
        /// Schemes for links that fail or lose.
        resilience: ResilienceConfig = group(),
        /// True if Nagle's algorithm is used.
        nagle: bool = flag("false"),
        /// True if an application writes and closes in one call. If the application does so before
        /// the connection is established, its last data segment carries the FIN (in Multipath TCP
        /// the DATA_FIN). False: the application first writes and then closes, as programs do. If
        /// the windows let all data leave, the FIN has a segment of its own.
        fin_with_data: bool = flag("false"),
        /// True if the connecting end opens the connection by TCP Fast Open (RFC 7413). Its first
        /// SYN carries data that the application writes at the start. Both ends know the cookie
        /// of an earlier connection. A repeated SYN carries neither data nor cookie.
        fast_open: bool = flag("false"),
        /// Pacing: rule for the spacing of segments in time.
        pacing: Pacing = choice(Pacing::NAMES, "automatic"),
        /// True if segments are sent in bursts of the size of segmentation offload (TSO autosizing
        /// of Linux).
        tso_bursts: bool = flag("false"),
        /// Number of timeouts of a SYN before the timeout is first doubled
        /// (tcp_syn_linear_timeouts).
        linear_syn_timeouts: u32 = integer((0, 100, "timeouts"), "0"),
        /// Number of consecutive timeouts after which the sender gives up the connection
        /// (tcp_retries2).
        maximum_retries: u32 = integer((1, 100, "timeouts"), "15"),
    }
}

/// Linux's values that differ from the standards'. The largest receive window is half of
/// tcp_rmem[2].
const LINUX: &[Parameter] = &Constants::with_defaults(&[
    ("minimum-rto", "200 ms"),
    ("maximum-rto", "120 s"),
    ("rto-rule", "linux"),
    ("timer-wheel", "true"),
    ("undo", "true"),
    ("frto", "true"),
    ("tail-loss-probe", "true"),
    ("prr", "true"),
    ("ack-rule", "linux"),
    ("delayed-ack", "40 ms"),
    ("sack-compression", "true"),
    ("receive-window", "autotuned"),
    ("maximum-receive-window", "3145728"),
    ("tso-bursts", "true"),
    ("send-buffer", "linux"),
    ("linear-syn-timeouts", "4"),
]);

/// Values of `LINUX` with the receive buffer of Linux 6.18: its growth, and tcp_rmem[2] of 32 MiB.
const LINUX_6_18: &[Parameter] = &with_defaults::<{ LINUX.len() }>(
    LINUX,
    &[
        ("maximum-receive-window", "16777216"),
        ("receive-buffer-growth", "linux-6.18"),
    ],
);

/// Values of TCP stacks before SACK.
const CLASSIC: &[Parameter] =
    &Constants::with_defaults(&[("timestamps", "false"), ("initial-window", "3")]);

/// Values of `CLASSIC` without the additions of RFC 6582.
const RENO: &[Parameter] =
    &with_defaults::<{ CLASSIC.len() }>(CLASSIC, &[("recover-guard", "none")]);

fadeout_core::registry! {
    /// Profiles that a scenario may name.
    pub static PROFILES;

    /// A TCP stack with the constants that a scenario overrides.
    #[derive(Debug, Clone, PartialEq)]
    pub(super) enum Profile {
        Linux(Linux),
        LinuxSixEighteen(LinuxSixEighteen),
        Rfc(Rfc),
        NewReno(NewReno),
        Reno(Reno),
        Tahoe(Tahoe),
    }
    macro stacks;
}

impl Profile {
    pub(super) fn config(self) -> TcpConfig {
        stacks!(self, stack => stack.0)
    }
}

/// Declares a profile with its loss recovery and its entry.
macro_rules! profile {
    ($(#[$doc:meta])+ $name:ident, $recovery:expr, $entry:expr) => {
        $(#[$doc])+
        #[derive(Debug, Clone, PartialEq)]
        pub(super) struct $name(TcpConfig);

        impl Registered for $name {
            const ENTRY: Entry = $entry;

            fn from_settings(settings: &Settings<'_>, (): ()) -> Self {
                $name(configured($recovery, settings))
            }
        }
    };
}

profile!(
    /// The profile with the behaviour of Linux 6.12.
    Linux,
    LossRecovery::Rack,
    Entry::new(
        "linux",
        "profile",
        "Linux 6.12: SACK, RACK-TLP, PRR, F-RTO, undo, a timeout of SRTT + 200 ms or more, and \
         quick ACKs.",
        "Linux net/ipv4/tcp_*.c; RFC 8985, 6937, 5682, 6298",
    )
    .with_aliases(&["linux-6.12"])
    .with_parameters(LINUX)
);
profile!(
    /// The profile with the receive buffer of Linux 6.18.
    LinuxSixEighteen,
    LossRecovery::Rack,
    Entry::new(
        "linux-6.18",
        "profile",
        "Linux 6.18: as `linux`, with its receive buffer, which grows later and up to 32 MiB.",
        "Linux 6.18 net/ipv4/tcp_input.c (tcp_rcvbuf_grow)",
    )
    .with_parameters(LINUX_6_18)
);
profile!(
    /// The profile with the standards and SACK.
    Rfc,
    LossRecovery::Sack,
    Entry::new(
        "rfc",
        "profile",
        "The standards without Linux's additions: SACK recovery, and a minimum timeout of 1 s.",
        "RFC 6675, 5681, 6298, 3042",
    )
    .with_aliases(&["rfc6675", "sack"])
    .with_parameters(Constants::PARAMETERS)
);
profile!(
    /// The profile with NewReno.
    NewReno,
    LossRecovery::NewReno,
    Entry::new(
        "newreno",
        "profile",
        "NewReno without SACK: partial ACKs keep recovery going.",
        "RFC 6582, 5681, 6298",
    )
    .with_parameters(CLASSIC)
);
profile!(
    /// The profile with Reno.
    Reno,
    LossRecovery::Reno,
    Entry::new(
        "reno",
        "profile",
        "Reno without SACK: the first new ACK ends fast recovery.",
        "RFC 5681, 6298",
    )
    .with_parameters(RENO)
);
profile!(
    /// The profile with Tahoe.
    Tahoe,
    LossRecovery::Tahoe,
    Entry::new(
        "tahoe",
        "profile",
        "Tahoe without SACK and fast recovery: slow start after every loss.",
        "Jacobson, Congestion Avoidance and Control, SIGCOMM 1988",
    )
    .with_parameters(CLASSIC)
);

fn receive_window(given: &Constants, settings: &Settings<'_>, is_autotuned: bool) -> ReceiveWindow {
    match (given.receive_window, given.maximum_receive_window) {
        (Some(bytes), _) => ReceiveWindow::Fixed { bytes },
        (None, Some(max_bytes)) => ReceiveWindow::Autotuned { max_bytes },
        (None, None) if is_autotuned => ReceiveWindow::Autotuned {
            max_bytes: settings.get("maximum-receive-window"),
        },
        (None, None) => ReceiveWindow::Fixed {
            bytes: settings.get("receive-window"),
        },
    }
}

/// Returns the configuration of a stack with the loss recovery `recovery`. Its constants are those
/// of the profile and the scenario's overrides.
fn configured(recovery: LossRecovery, settings: &Settings<'_>) -> TcpConfig {
    let is_linux = recovery == LossRecovery::Rack;
    let given = Constants::read(settings);
    // The probe interval is at least a millisecond. A shorter one would give no more information,
    // and an interval of zero would stop simulated time.
    let probe_interval = given.resilience.probe_interval.max(Span::from_millis(1));
    TcpConfig {
        mss: given.mss,
        timestamps: given.timestamps,
        multipath: false,
        initial_window: given.initial_window,
        initial_ssthresh: given.initial_ssthresh.unwrap_or(f64::INFINITY),
        slow_start_after_idle: given.slow_start_after_idle,
        recovery: RecoveryConfig {
            method: recovery,
            newreno_variant: given.newreno_variant,
            recover_guard: given.recover_guard,
            duplicate_threshold: given.duplicate_threshold,
            prr: given.prr,
            limited_transmit: given.limited_transmit,
            tail_loss_probe: given.tail_loss_probe,
            frto: given.frto,
            undo: given.undo,
        },
        timers: timers(&given, is_linux),
        acks: AckConfig {
            rule: given.ack_rule,
            delay: given.delayed_ack,
            sack_compression: given.sack_compression,
            ecn: given.ecn,
            accurate_ecn: None,
        },
        buffers: buffers(&given, receive_window(&given, settings, is_linux)),
        host: HostConfig {
            nagle: given.nagle,
            fin_with_data: given.fin_with_data,
            fast_open: given.fast_open,
            pacing: given.pacing,
            maximum_pacing_rate: Rate::UNLIMITED,
            tso_bursts: given.tso_bursts,
            minimum_burst: 2,
            burst_window_divisor: 3,
        },
        resilience: ResilienceConfig {
            probe_interval,
            ..given.resilience
        },
    }
}

fn timers(given: &Constants, is_linux: bool) -> TimerConfig {
    TimerConfig {
        rto_rule: given.rto_rule,
        minimum_rto: given.minimum_rto,
        maximum_rto: given.maximum_rto.max(given.minimum_rto),
        initial_rto: given.initial_rto,
        tick: given.timer_tick,
        wheel: given.timer_wheel,
        maximum_retries: given.maximum_retries,
        maximum_syns: 7,
        maximum_syn_acks: if is_linux { 6 } else { 7 },
        linear_syn_timeouts: given.linear_syn_timeouts,
        forgiven_syns: u32::from(is_linux),
        user_timeout: None,
    }
}

fn buffers(given: &Constants, receive_window: ReceiveWindow) -> BufferConfig {
    BufferConfig {
        window_scaling: true,
        receive_window,
        initial_receive: given.initial_receive_buffer,
        receive_growth: given.receive_buffer_growth,
        packet_memory: PacketMemory {
            alone: given.packet_memory,
            joined: given.joined_packet_memory.min(given.packet_memory),
        },
        send: match given.send_buffer {
            SendBufferRule::Unbounded => SocketKind::Unbounded,
            SendBufferRule::Linux => SocketKind::Linux(SendBufferConfig {
                initial: given.initial_send_buffer,
                maximum: given.maximum_send_buffer.unwrap_or(u64::MAX),
                header: given.header_memory,
                head: given.head_memory.unwrap_or(given.header_memory),
            }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::{Parameters, Value};

    #[test]
    fn an_unknown_name_is_no_profile() {
        assert!(TcpConfig::new("linus", Parameters::NONE).is_none());
    }

    fn config_with(profile: &str, name: &str, value: Value) -> TcpConfig {
        let given = Parameters(vec![(name.to_owned(), value)]);
        TcpConfig::new(profile, &given).expect("the profile exists")
    }

    #[test]
    fn an_override_changes_one_constant_alone() {
        let value = Value::Span(Span::from_millis(300));
        assert_eq!(
            config_with("linux", "minimum-rto", value),
            TcpConfig::linux().changed(|tcp| tcp.timers.minimum_rto = Span::from_millis(300))
        );
    }

    #[test]
    fn a_full_segment_has_room_for_its_options() {
        let payload = |timestamps, multipath| {
            let config = TcpConfig {
                mss: 1_460,
                timestamps,
                multipath,
                ..TcpConfig::linux()
            };
            config.effective_mss()
        };
        assert_eq!(
            (payload(false, false), payload(true, false)),
            (1_460, 1_448)
        );
        assert_eq!((payload(false, true), payload(true, true)), (1_436, 1_424));
    }

    #[test]
    fn a_send_buffer_and_the_interval_of_probes_are_what_was_asked_for() {
        assert!(TcpConfig::linux().buffers.send.buffer().is_some());
        assert!(
            config_with("linux", "send-buffer", Value::Choice("unbounded".into()))
                .buffers
                .send
                .buffer()
                .is_none()
        );
        assert!(
            config_with("rfc", "send-buffer", Value::Choice("linux".into()))
                .buffers
                .send
                .buffer()
                .is_some()
        );
        let rfc = TcpConfig::new("rfc", Parameters::NONE).expect("a profile");
        assert!(rfc.buffers.send.buffer().is_none());
        // The interval is at least a millisecond.
        for (asked, found) in [
            (Span::from_micros(10), Span::from_millis(1)),
            (Span::from_secs(5), Span::from_secs(5)),
        ] {
            let config = config_with("linux", "elfn-probe-interval", Value::Span(asked));
            assert_eq!(config.resilience.probe_interval, found);
        }
    }

    #[test]
    fn a_window_is_fixed_or_autotuned_as_the_override_says() {
        let bytes = Value::Number(100_000.0);
        for profile in ["linux", "rfc"] {
            let fixed = config_with(profile, "receive-window", bytes.clone());
            let bytes = 100_000;
            assert_eq!(fixed.buffers.receive_window, ReceiveWindow::Fixed { bytes });
            let autotuned = config_with(profile, "maximum-receive-window", Value::Number(1e5));
            let max_bytes = 100_000;
            assert_eq!(
                autotuned.buffers.receive_window,
                ReceiveWindow::Autotuned { max_bytes }
            );
        }
    }
}
