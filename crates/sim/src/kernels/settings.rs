//! Kernel settings that flows need at their ends, as files below `/proc/sys`.

use fadeout_core::registry::Parameters;
use fadeout_transport::tcp::{EcnMode, ReceiveWindow, TcpConfig};
use std::collections::BTreeMap;

/// Default initial send buffer of Linux (`tcp_wmem[1]`), bytes.
const FIRST_SEND_BUFFER: u64 = 16_384;

/// Default maximum send buffer of Linux (`tcp_wmem[2]`), bytes.
const LARGEST_SEND_BUFFER: u64 = 4_194_304;

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

/// Settings of a kernel that its flows need. A value that the scenario gives to a flow applies to
/// all flows of the node. Otherwise a buffer size is the largest that a flow needs. A setting that
/// no flow needs stays at the default of Linux.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelSettings {
    /// `tcp_rmem`: initial and maximum receive buffer. `None` keeps the default of Linux.
    receive: Option<[Size; 2]>,
    /// `tcp_wmem`: initial and maximum send buffer. `None` keeps the default of Linux.
    send: Option<[Size; 2]>,
    has_ecn: bool,
    /// ECN setting that the scenario gives to a flow.
    given_ecn: Option<bool>,
    /// Values of [`CONSTANTS`] by key.
    constants: BTreeMap<&'static str, u64>,
}

/// Size of a buffer of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Size {
    bytes: u64,
    /// The scenario gives the size to a flow by this key.
    given_by: Option<&'static str>,
}

impl Size {
    /// Includes the size that another flow needs.
    ///
    /// # Errors
    ///
    /// Returns the key of the other flow if the scenario gives two sizes.
    fn include(&mut self, other: Self) -> Result<(), &'static str> {
        match (self.given_by, other.given_by) {
            (Some(_), Some(key)) if self.bytes != other.bytes => return Err(key),
            (Some(_), _) => {}
            (None, Some(_)) => *self = other,
            (None, None) => self.bytes = self.bytes.max(other.bytes),
        }
        Ok(())
    }
}

impl KernelSettings {
    /// Includes the settings that a flow needs. `given` has the keys of `tcp` that the scenario
    /// gives for the flow.
    ///
    /// # Errors
    ///
    /// Returns a key for which an earlier flow gives another value.
    pub(crate) fn include(
        &mut self,
        config: &TcpConfig,
        given: &Parameters,
    ) -> Result<(), &'static str> {
        let is_given = |key: &&'static str| given.0.iter().any(|(name, _)| name == key);
        let size = |bytes, keys: &[&'static str]| Size {
            bytes,
            given_by: keys.iter().copied().find(is_given),
        };
        let window = match config.buffers.receive_window {
            ReceiveWindow::Autotuned { max_bytes } => Some(max_bytes),
            ReceiveWindow::Fixed { bytes } => Some(bytes),
            ReceiveWindow::Shared => None,
        };
        if let Some(window) = window {
            // Linux counts overhead as buffer memory. Only half of the memory is for payload.
            let first = size(config.buffers.initial_receive, &["initial-receive-buffer"]);
            let most = size(2 * window, &["receive-window", "maximum-receive-window"]);
            include(&mut self.receive, [first, most])?;
        }
        if let Some(buffer) = config.buffers.send.buffer() {
            let first = size(buffer.initial, &["initial-send-buffer"]);
            let mut most = size(buffer.maximum, &["maximum-send-buffer"]);
            let has_most = buffer.maximum < u64::MAX;
            if !has_most {
                most.bytes = LARGEST_SEND_BUFFER;
            }
            if has_most || first.given_by.is_some() {
                include(&mut self.send, [first, most])?;
            }
        }
        let has_ecn = matches!(config.acks.ecn, EcnMode::Classic | EcnMode::Dctcp);
        self.has_ecn |= has_ecn;
        if is_given(&"ecn") && *self.given_ecn.get_or_insert(has_ecn) != has_ecn {
            return Err("ecn");
        }
        for constant in &CONSTANTS {
            if is_given(&constant.key) {
                let value = (constant.value)(config);
                if *self.constants.entry(constant.key).or_insert(value) != value {
                    return Err(constant.key);
                }
            }
        }
        Ok(())
    }

    /// Includes the send buffer that a path of a multipath connection needs, bytes.
    pub(crate) fn include_path(&mut self, send_buffer: u64) {
        let needed = [FIRST_SEND_BUFFER, send_buffer].map(|bytes| Size {
            bytes,
            given_by: None,
        });
        include(&mut self.send, needed).expect("no size of a path is given by a key of `tcp`");
    }

    /// Returns the assignments for the agent. Each has a file below `/proc/sys` and its value.
    pub(crate) fn assignments(&self) -> Vec<String> {
        let memory = |name: &str, sizes: Option<[Size; 2]>| {
            sizes.map(|sizes| {
                let [first, most] = sizes.map(|size| size.bytes);
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

/// Includes the initial and the maximum size that a flow needs. Returns the errors of
/// [`Size::include`].
fn include(sizes: &mut Option<[Size; 2]>, needed: [Size; 2]) -> Result<(), &'static str> {
    let [first, most] = sizes.get_or_insert_default();
    first.include(needed[0])?;
    most.include(needed[1])
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

    /// Includes a flow with the keys, and returns all assignments.
    fn include(
        settings: &mut KernelSettings,
        given: &[(&str, Value)],
    ) -> Result<Vec<String>, &'static str> {
        let given = given
            .iter()
            .map(|(key, value)| (key.to_string(), value.clone()));
        let given = Parameters(given.collect());
        let config = TcpConfig::new("linux", &given).expect("a profile");
        settings.include(&config, &given)?;
        Ok(settings.assignments())
    }

    #[test]
    fn a_given_buffer_applies_to_all_flows_and_two_flows_may_not_give_two_sizes() {
        let receive = ("maximum-receive-window", Value::Number(500_000.0));
        let usual = "net/ipv4/tcp_rmem=4096 131072 6291456".to_owned();
        let given = "net/ipv4/tcp_rmem=4096 131072 1000000".to_owned();
        for order in [[true, false], [false, true]] {
            let mut settings = KernelSettings::default();
            for is_given in order {
                let keys: &[_] = if is_given {
                    std::slice::from_ref(&receive)
                } else {
                    &[]
                };
                include(&mut settings, keys).expect("one flow gives a size");
            }
            assert_eq!(settings.assignments()[0], given, "{order:?}");
        }
        let mut settings = KernelSettings::default();
        assert_eq!(
            include(&mut settings, &[]).expect("no size is given")[0],
            usual
        );
        for (key, one, two) in [
            ("maximum-receive-window", 500_000.0, 600_000.0),
            ("initial-receive-buffer", 50_000.0, 60_000.0),
            ("maximum-send-buffer", 40_000.0, 80_000.0),
            ("initial-send-buffer", 4_000.0, 8_000.0),
        ] {
            let mut settings = KernelSettings::default();
            include(&mut settings, &[(key, Value::Number(one))]).expect("no other flow");
            include(&mut settings, &[(key, Value::Number(one))]).expect("the same size");
            let other = include(&mut settings, &[(key, Value::Number(two))]);
            assert_eq!(other, Err(key));
        }
        let ecn = |mode: &str| ("ecn", Value::Choice(mode.into()));
        let mut settings = KernelSettings::default();
        include(&mut settings, &[ecn("classic")]).expect("no other flow");
        assert_eq!(include(&mut settings, &[ecn("off")]), Err("ecn"));
    }

    #[test]
    fn a_constant_applies_if_it_is_given_and_two_flows_may_not_give_two_values() {
        let mut settings = KernelSettings::default();
        let mut include = |given: &[(&str, Value)]| include(&mut settings, given);
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
