//! Kernel settings that flows need at their ends, as files below `/proc/sys`.

use fadeout_transport::tcp::{EcnMode, ReceiveWindow, TcpConfig};

/// Default initial send buffer of Linux (`tcp_wmem[1]`), bytes.
const FIRST_SEND_BUFFER: u64 = 16_384;

/// Buffer sizes and ECN setting of a kernel. Each value is the largest that a flow of the node
/// needs. A value that no flow needs stays at the default of Linux.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelSettings {
    /// `tcp_rmem`: initial and maximum receive buffer, bytes. `None` keeps the default of Linux.
    receive: Option<[u64; 2]>,
    /// `tcp_wmem`: initial and maximum send buffer, bytes. `None` keeps the default of Linux.
    send: Option<[u64; 2]>,
    has_ecn: bool,
}

impl KernelSettings {
    /// Raises the settings to the values that a flow needs.
    pub(crate) fn include(&mut self, config: &TcpConfig) {
        let window = match config.receive_window {
            ReceiveWindow::Autotuned { max_bytes } => Some(max_bytes),
            ReceiveWindow::Fixed { bytes } => Some(bytes),
            ReceiveWindow::Shared => None,
        };
        if let Some(window) = window {
            // Linux counts overhead as buffer memory. Only half of the memory is for payload.
            let memory = [config.initial_receive_buffer, 2 * window];
            raise(&mut self.receive, memory);
        }
        if let Some(buffer) = config.send_buffer.filter(|it| it.maximum < u64::MAX) {
            raise(&mut self.send, [buffer.initial, buffer.maximum]);
        }
        self.has_ecn |= matches!(config.ecn, EcnMode::Classic | EcnMode::Dctcp);
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
        buffers.into_iter().chain([ecn]).flatten().collect()
    }
}

fn raise(to: &mut Option<[u64; 2]>, asked: [u64; 2]) {
    let [first, most] = to.unwrap_or_default();
    *to = Some([first.max(asked[0]), most.max(asked[1])]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use fadeout_core::registry::Parameters;

    #[test]
    fn the_largest_buffers_count_and_what_nobody_asks_for_is_linuxs_own() {
        assert_eq!(KernelSettings::default().assignments(), [""; 0]);
        let mut config = TcpConfig::new("linux", &Parameters::default()).expect("a profile");
        let mut settings = KernelSettings::default();
        settings.include(&config);
        let usual = "net/ipv4/tcp_rmem=4096 131072 6291456";
        assert_eq!(settings.assignments(), [usual]);
        config.receive_window = ReceiveWindow::Fixed { bytes: 1 << 20 };
        config.send_buffer.as_mut().expect("a buffer").maximum = 1 << 22;
        config.ecn = EcnMode::Classic;
        settings.include(&config);
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
}
