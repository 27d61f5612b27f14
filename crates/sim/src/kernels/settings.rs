//! Kernel settings that flows need at their ends, as files below `/proc/sys`.

use fadeout_core::registry::Parameters;
use fadeout_transport::tcp::{EcnMode, ReceiveWindow, TcpConfig};
use std::collections::BTreeMap;

/// Default initial send buffer of Linux (`tcp_wmem[1]`), bytes.
const FIRST_SEND_BUFFER: u64 = 16_384;

/// Keys of `tcp` that become buffer sizes or the ECN setting of a kernel.
const MERGED_KEYS: [&str; 6] = [
    "receive-window",
    "maximum-receive-window",
    "initial-receive-buffer",
    "initial-send-buffer",
    "maximum-send-buffer",
    "ecn",
];

/// Key of `tcp` that is a constant of a kernel.
struct Constant {
    key: &'static str,
    /// File below `/proc/sys/net/ipv4`.
    file: &'static str,
    /// Value of the file.
    value: fn(&TcpConfig) -> u64,
}

const CONSTANTS: [Constant; 8] = [
    Constant {
        key: "minimum-rto",
        file: "tcp_rto_min_us",
        value: |config| (config.timers.minimum_rto.as_nanos() / 1_000).max(1),
    },
    Constant {
        key: "timestamps",
        file: "tcp_timestamps",
        value: |config| config.timestamps.into(),
    },
    Constant {
        key: "slow-start-after-idle",
        file: "tcp_slow_start_after_idle",
        value: |config| config.slow_start_after_idle.into(),
    },
    Constant {
        key: "frto",
        file: "tcp_frto",
        value: |config| 2 * u64::from(config.recovery.frto),
    },
    Constant {
        key: "tail-loss-probe",
        file: "tcp_early_retrans",
        value: |config| 3 * u64::from(config.recovery.tail_loss_probe),
    },
    Constant {
        key: "sack-compression",
        file: "tcp_comp_sack_nr",
        value: |config| 44 * u64::from(config.acks.sack_compression),
    },
    Constant {
        key: "maximum-retries",
        file: "tcp_retries2",
        value: |config| config.timers.maximum_retries.into(),
    },
    Constant {
        key: "linear-syn-timeouts",
        file: "tcp_syn_linear_timeouts",
        value: |config| config.timers.linear_syn_timeouts.into(),
    },
];

/// Returns the keys of `tcp` that apply to a kernel. Other keys have no effect on it.
pub fn kernel_tcp_keys() -> impl Iterator<Item = &'static str> {
    let constants = CONSTANTS.iter().map(|constant| constant.key);
    MERGED_KEYS.into_iter().chain(constants)
}

/// Settings of a kernel that its flows need. A buffer size is the largest that a flow of the node
/// needs. A setting that no flow needs stays at the default of Linux.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelSettings {
    /// `tcp_rmem`: initial and maximum receive buffer, bytes. `None` keeps the default of Linux.
    receive: Option<[u64; 2]>,
    /// `tcp_wmem`: initial and maximum send buffer, bytes. `None` keeps the default of Linux.
    send: Option<[u64; 2]>,
    has_ecn: bool,
    /// Values of [`CONSTANTS`] by key.
    constants: BTreeMap<&'static str, u64>,
}

impl KernelSettings {
    /// Raises the settings to the values that a flow needs. `given` has the keys of `tcp` that the
    /// scenario gives for the flow.
    ///
    /// # Errors
    ///
    /// Returns the key of a constant for which an earlier flow gives another value.
    pub(crate) fn include(
        &mut self,
        config: &TcpConfig,
        given: &Parameters,
    ) -> Result<(), &'static str> {
        let window = match config.buffers.receive_window {
            ReceiveWindow::Autotuned { max_bytes } => Some(max_bytes),
            ReceiveWindow::Fixed { bytes } => Some(bytes),
            ReceiveWindow::Shared => None,
        };
        if let Some(window) = window {
            // Linux counts overhead as buffer memory. Only half of the memory is for payload.
            let memory = [config.buffers.initial_receive, 2 * window];
            raise(&mut self.receive, memory);
        }
        if let Some(buffer) = config
            .buffers
            .send
            .buffer()
            .filter(|it| it.maximum < u64::MAX)
        {
            raise(&mut self.send, [buffer.initial, buffer.maximum]);
        }
        self.has_ecn |= matches!(config.acks.ecn, EcnMode::Classic | EcnMode::Dctcp);
        for constant in &CONSTANTS {
            if given.0.iter().any(|(key, _)| key == constant.key) {
                let value = (constant.value)(config);
                if *self.constants.entry(constant.key).or_insert(value) != value {
                    return Err(constant.key);
                }
            }
        }
        Ok(())
    }

    /// Raises the settings to the largest send buffer that a path of a multipath connection needs.
    pub(crate) fn include_path(&mut self, send_buffer: u64) {
        let first = self.send.map_or(FIRST_SEND_BUFFER, |[first, _]| first);
        raise(&mut self.send, [first, send_buffer]);
    }

    /// Returns the assignments for the agent. Each has a file below `/proc/sys` and its value.
    pub(crate) fn assignments(&self) -> Vec<String> {
        let memory = |name: &str, sizes: Option<[u64; 2]>| {
            sizes.map(|[first, most]| {
                // Linux rejects values that do not fit into an `int`.
                let most = most.min(i32::MAX as u64);
                format!("net/ipv4/{name}=4096 {} {most}", first.min(most))
            })
        };
        let ecn = self.has_ecn.then(|| "net/ipv4/tcp_ecn=1".to_owned());
        let buffers = [
            memory("tcp_rmem", self.receive),
            memory("tcp_wmem", self.send),
        ];
        let constants = CONSTANTS.iter().map(|constant| {
            let value = self.constants.get(constant.key)?;
            Some(format!("net/ipv4/{}={value}", constant.file))
        });
        let all = buffers.into_iter().chain([ecn]).chain(constants);
        all.flatten().collect()
    }
}

fn raise(to: &mut Option<[u64; 2]>, asked: [u64; 2]) {
    let [first, most] = to.unwrap_or_default();
    *to = Some([first.max(asked[0]), most.max(asked[1])]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::Span;
    use fadeout_core::registry::Value;
    use fadeout_transport::tcp::SocketKind;

    #[test]
    fn the_largest_buffers_count_and_what_nobody_asks_for_is_linuxs_own() {
        assert_eq!(KernelSettings::default().assignments(), [""; 0]);
        let mut config = TcpConfig::new("linux", &Parameters::default()).expect("a profile");
        let mut settings = KernelSettings::default();
        settings
            .include(&config, Parameters::NONE)
            .expect("no constant differs");
        let usual = "net/ipv4/tcp_rmem=4096 131072 6291456";
        assert_eq!(settings.assignments(), [usual]);
        config.buffers.receive_window = ReceiveWindow::Fixed { bytes: 1 << 20 };
        let mut buffer = config.buffers.send.buffer().expect("a buffer");
        buffer.maximum = 1 << 22;
        config.buffers.send = SocketKind::Linux(buffer);
        config.acks.ecn = EcnMode::Classic;
        settings
            .include(&config, Parameters::NONE)
            .expect("no constant differs");
        let buffer = "net/ipv4/tcp_wmem=4096 16384 4194304";
        let all = [usual, buffer, "net/ipv4/tcp_ecn=1"];
        assert_eq!(settings.assignments(), all);
        settings.include_path(1 << 23);
        let longer = "net/ipv4/tcp_wmem=4096 16384 8388608";
        assert_eq!(
            settings.assignments(),
            [usual, longer, "net/ipv4/tcp_ecn=1"]
        );
        let mut path_alone = KernelSettings::default();
        path_alone.include_path(1 << 23);
        assert_eq!(path_alone.assignments(), [longer]);
    }

    #[test]
    fn a_constant_applies_if_it_is_given_and_two_flows_may_not_give_two_values() {
        let mut settings = KernelSettings::default();
        let mut include = |given: &[(&str, Value)]| {
            let given = given
                .iter()
                .map(|(key, value)| (key.to_string(), value.clone()));
            let given = Parameters(given.collect());
            let config = TcpConfig::new("linux", &given).expect("a profile");
            settings.include(&config, &given)?;
            Ok::<_, &'static str>(settings.assignments())
        };
        let rto = ("minimum-rto", Value::Span(Span::from_millis(300)));
        let probe = ("tail-loss-probe", Value::Bool(false));
        let all = include(&[rto, probe]).expect("no other flow");
        let constants = [
            "net/ipv4/tcp_rto_min_us=300000",
            "net/ipv4/tcp_early_retrans=0",
        ];
        assert_eq!(all[1..], constants);
        // A flow without the keys shares the kernel.
        assert_eq!(include(&[]), Ok(all));
        let other = ("minimum-rto", Value::Span(Span::from_millis(400)));
        assert_eq!(include(&[other]), Err("minimum-rto"));
    }

    #[test]
    fn every_key_is_one_of_tcp() {
        let mut profiles = fadeout_transport::tcp::PROFILES.iter();
        let linux = profiles.find(|entry| entry.name == "linux");
        let parameters = linux.expect("a profile").parameters;
        for key in kernel_tcp_keys() {
            assert!(parameters.iter().any(|it| it.name == key), "{key}");
        }
    }
}
